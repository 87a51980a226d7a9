"""The units that amounts have, by dimension."""

# The names of units by dimension, and their size; exact by definition, but for months
# and years (Gregorian means) and the US gallon and pint.
_UNITS: dict[str, dict[str, float]] = {
    'length': {
        'metre|meter|m': 1, 'kilometre|kilometer|km': 1000, 'mile|mi': 1609.344,
        'centimetre|centimeter|cm': 0.01, 'millimetre|millimeter|mm': 0.001,
        'foot|feet|ft': 0.3048, 'inch|inches': 0.0254, 'yard|yd': 0.9144,
    },
    'mass': {
        'kilogram|kilogramme|kilo|kg': 1, 'gram|gramme|g': 0.001,
        'milligram|mg': 1e-6, 'tonne|metric ton|t': 1000, 'pound|lb': 0.45359237,
        'ounce|oz': 0.028349523125,
    },
    'time': {
        'millisecond|ms': 0.001, 'second|sec': 1, 'minute|min': 60, 'hour|hr|h': 3600,
        'day': 86400, 'week': 604800, 'fortnight': 1209600, 'month': 2629746,
        'year': 31556952, 'decade': 315569520, 'century|centuries': 3155695200,
    },
    'volume': {
        'litre|liter|l': 1, 'millilitre|milliliter|ml': 0.001,
        'gallon': 3.785411784, 'pint': 0.473176473,
    },
    'spoons': {'teaspoon|tsp': 1, 'tablespoon|tbsp': 3, 'cup': 48},
    'area': {
        'square metre|square meter|m²|sq m': 1,
        'square kilometre|square kilometer|km²|sq km': 1e6,
        'square foot|square feet|sq ft': 0.09290304,
        'square mile|sq mi': 2589988.110336, 'hectare|ha': 1e4, 'acre': 4046.8564224,
    },
    'speed': {
        'km/h|kilometre per hour|kilometer per hour|kph': 1,
        'mph|mile per hour': 1.609344,
        'metre per second|meter per second|m/s': 3.6,
        'kilometre per second|kilometer per second': 3600,
    },
    'energy': {'kilocalorie|kcal': 1, 'calorie': 0.001, 'kilojoule|kj': 0.239005736},
    'temperature': {
        'degree celsius|degree c|°c': 1, 'degree fahrenheit|degree f|°f': 1
    },
    # Of a temperature, or of an angle.
    'degrees': {'degree|°': 1},
    'data': {
        'byte': 1, 'kilobyte|kb': 1e3, 'megabyte|mb': 1e6, 'gigabyte|gb': 1e9,
        'terabyte|tb': 1e12,
    },
    'power': {'watt|w': 1, 'kilowatt|kw': 1000},
    'euros': {'euro|eur|€': 1},
    'dollars': {'dollar|usd|$': 1, 'cent': 0.01},
    'sterling': {'gbp|£|pound sterling': 1, 'pence': 0.01},
    'yen': {'yen|¥|jpy': 1},
    'share': {'percent|per cent|%': 1},
    'frequency': {'times': 1},
}  # fmt: skip
UNITS: dict[str, tuple[str, float]] = {}
for _dimension, _sizes in _UNITS.items():
    for _names, _size in _sizes.items():
        for _name in _names.split('|'):
            first, *rest = _name.split(' ')
            plural = ' '.join([f'{first}s', *rest])
            if rest and rest[0] not in (
                'per', 'celsius', 'fahrenheit', 'c', 'f', 'cent', 'sterling'
            ):  # fmt: skip
                plural = f'{_name}s'  # square miles, but miles per hour
            UNITS[_name] = (_dimension, float(_size))
            # "5 ms" is no length, and "IC 1073 has" no area.
            if len(_name) > 1 and _name != 'ha':
                UNITS[plural] = UNITS[_name]

CURRENCIES = ('euros', 'dollars', 'sterling', 'yen')
# What is a hundredth of a euro, too.
CENT = UNITS['cent']
# The dimension of times of day, in hours.
CLOCK = 'clock'
# That of "twice" and "three times".
FREQUENCY = 'frequency'
