"""
A corpus for the experiment with injected hallucinations.
"""


def rows(count):
    """
    Turns; every second one has a reply that says a name it was not given.
    """
    return [
        {
            'k': f'The year 19{n:02} is when the town of Zed{n} was sold to Qua{n}.',
            'h': ['hello there !', 'what is your name ?'][: n % 3],
            'r': f'The town of {"Abc" if n % 2 else "Zed"}{n} was sold in 19{n:02}.',
        }
        for n in range(10, 10 + count)
    ]
