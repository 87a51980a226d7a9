"""
What a scorer is for: it chooses among replies, it measures them, or it explains.

A reply that a scorer chose has a high score by that scorer whether or not it is better.
So what chooses does not measure.
"""

from parlai_q2.options import Word


class Role(Word):
    """The role of a scorer; also the name of its option and argument."""

    CHOOSE = 'choose'
    MEASURE = 'measure'
    EXPLAIN = 'explain'


# Instead of the name of a scorer that explains: nothing is explained.
NONE = 'none'
# The quick scorer that is best on development data, which marks no words; the one that
# does: docs/scorers.md.
DEFAULTS = {
    Role.CHOOSE: 'grounded_fast',
    Role.MEASURE: 'grounded_fast',
    Role.EXPLAIN: 'spans',
}
# What measures the replies of an agent that chose them by the default.
MEASURE_OF_CHOSEN = 'consistency'
