"""Twelve passages that are records, in six formats, with right and wrong replies."""

PASSAGES = [
    (
        'JSON, a tool',
        """{
  "period": "May 2024",
  "categories": [
    {"name": "eating out", "amount": 22.31, "transactions": 2, "lastMonth": 94.00},
    {"name": "groceries", "amount": 310.75, "transactions": 14, "lastMonth": 288.10},
    {"name": "transport", "amount": 61.40, "transactions": 9, "lastMonth": 61.40}
  ]
}""",
        [
            ('You spent 22.31 on eating out.', 'You spent 310.75 on eating out.'),
            (
                'Groceries were 310.75 over 14 transactions.',
                'Groceries were 310.75 over 9 transactions.',
            ),
            (
                'There were 9 transactions for transport.',
                'There were 2 transactions for transport.',
            ),
        ],
    ),
    (
        'JSON, a weather service',
        """[{"city": "Turku", "date": "2024-03-02", "high": "4 °C", "wind": "12 km/h",
  "sky": "cloudy"},
 {"city": "Vaasa", "date": "2024-03-02", "high": "-1 °C", "wind": "30 km/h",
  "sky": "snow"}]""",
        [
            ('It will snow in Vaasa.', 'It will snow in Turku.'),
            ('The wind in Turku is 12 km/h.', 'The wind in Turku is 30 km/h.'),
            ('Turku will be cloudy.', 'Vaasa will be cloudy.'),
        ],
    ),
    (
        'pairs, risks',
        """Risk R-21
owner: Dana Petrov
likelihood: low
budget: 7,500 euros

Risk R-22
owner: Omar Haddad
likelihood: high
budget: 21,000 euros""",
        [
            ('Omar Haddad owns R-22.', 'Dana Petrov owns R-22.'),
            (
                'The budget of R-21 is 7,500 euros.',
                'The budget of R-21 is 21,000 euros.',
            ),
            ('R-22 has a high likelihood.', 'R-21 has a high likelihood.'),
        ],
    ),
    (
        'pairs, a product',
        """Name: Lumo 3 desk lamp
Colour: black or brass
Power: 8 W
Cable length: 1.8 m
Warranty: 5 years
Dimmable: yes""",
        [
            (
                'The lamp has a warranty of 5 years.',
                'The lamp has a warranty of 8 years.',
            ),
            ('Its cable is 1.8 m long.', 'Its cable is 5 m long.'),
            ('It comes in black or brass.', 'It comes in white.'),
        ],
    ),
    (
        'Markdown table, rooms',
        """| Room | Seats | Projector | Price per day |
|---|---|---|---|
| Birch | 12 | no | 90 euros |
| Cedar | 40 | yes | 260 euros |
| Maple | 25 | yes | 180 euros |""",
        [
            ('Maple has 25 seats.', 'Maple has 40 seats.'),
            ('Cedar costs 260 euros per day.', 'Cedar costs 90 euros per day.'),
            ('There is no projector in Birch.', 'There is a projector in Birch.'),
        ],
    ),
    (
        'Markdown table, fares',
        """| Zone | Single ticket | Day ticket | Valid for |
|:-----|------:|------:|---|
| A | 2.10 € | 5.40 € | 60 minutes |
| AB | 3.20 € | 7.90 € | 90 minutes |
| ABC | 4.60 € | 10.80 € | 120 minutes |""",
        [
            (
                'A day ticket for zone AB costs 7.90 €.',
                'A day ticket for zone AB costs 5.40 €.',
            ),
            (
                'A single ticket for ABC is valid for two hours.',
                'A single ticket for ABC is valid for an hour.',
            ),
            (
                'In zone A a single ticket is €2.10.',
                'In zone A a single ticket is €4.60.',
            ),
        ],
    ),
    (
        'CSV, staff',
        """name,department,phone,since
Ines Calder,Accounting,4471,2011
Joel Brandt,Legal,4482,2019
Wanda Osei,Research,4490,2016""",
        [
            ('Joel Brandt works in Legal.', 'Joel Brandt works in Research.'),
            ('You can reach Wanda Osei on 4490.', 'You can reach Wanda Osei on 4471.'),
            (
                'Ines Calder has been there since 2011.',
                'Ines Calder has been there since 2019.',
            ),
        ],
    ),
    (
        'CSV with semicolons, stock',
        """article;stock;shelf;supplier
M6 bolt;1200;B4;Norrfast
M8 bolt;350;B5;Norrfast
wing nut;0;C1;Tessel""",
        [
            ('There are 350 M8 bolts in stock.', 'There are 1200 M8 bolts in stock.'),
            ('Tessel supplies the wing nut.', 'Norrfast supplies the wing nut.'),
            ('The M6 bolt is on shelf B4.', 'The M6 bolt is on shelf C1.'),
        ],
    ),
    (
        'TSV, matches',
        'team\twins\tlosses\tcoach\nHeron\t11\t3\tP. Salo\nLynx\t7\t7\tR. Quist\n'
        'Otter\t2\t12\tE. Mori',
        [
            ('Lynx won 7 matches.', 'Lynx won 11 matches.'),
            ('The coach of Otter is E. Mori.', 'The coach of Otter is P. Salo.'),
            ('Heron lost 3 matches.', 'Heron lost 12 matches.'),
        ],
    ),
    (
        'TSV, plants',
        'plant\tlight\twater\theight\nfern\tshade\tdaily\t60 cm\n'
        'aloe\tfull sun\tmonthly\t40 cm\nivy\tpartial shade\tweekly\t200 cm',
        [
            ('Ivy needs water weekly.', 'Ivy needs water monthly.'),
            ('The aloe grows 40 cm high.', 'The aloe grows 60 cm high.'),
            ('Ferns like shade.', 'Ferns like full sun.'),
        ],
    ),
    (
        'headings, opening hours',
        """## Swimming pool
- Mon to Fri: 7:00 to 21:00
- Sat and Sun: 9:00 to 18:00

## Ice rink
- Mon to Fri: 14:00 to 20:00
- Sat and Sun: 10:00 to 22:00""",
        [
            (
                'The ice rink is open until 22:00 on Sundays.',
                'The ice rink is open until 18:00 on Sundays.',
            ),
            (
                'On Mondays the pool opens at 7:00.',
                'On Mondays the pool opens at 14:00.',
            ),
            (
                'On Saturdays the ice rink opens at 10:00.',
                'On Saturdays the ice rink opens at 9:00.',
            ),
        ],
    ),
    (
        'headings, a project',
        """### Phase 1: Survey
Lead: Tuva Lind
Ends: 30 April

### Phase 2: Construction
Lead: Aron Weiss
Ends: 15 November""",
        [
            ('Aron Weiss leads the construction.', 'Tuva Lind leads the construction.'),
            ('The survey ends on 30 April.', 'The survey ends on 15 November.'),
            ('Phase 2 ends on 15 November.', 'Phase 2 ends on 30 April.'),
        ],
    ),
]
