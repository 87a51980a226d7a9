"""Numbers as people see them."""


def fixed(value: float, digits: int = 2) -> str:
    """
    A number with some decimals, without the sign of a zero.

    >>> fixed(-0.004), fixed(-0.04)
    ('0.00', '-0.04')
    """
    return f'{round(float(value), digits) + 0.0:.{digits}f}'


def percent(share: float, digits: int = 1) -> str:
    """
    A share in percent.

    >>> percent(0.5), percent(0.5, 0)
    ('50.0 %', '50 %')
    """
    return f'{fixed(100 * share, digits)} %'
