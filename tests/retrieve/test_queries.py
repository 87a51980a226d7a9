"""What is searched for, of what was said."""

from parlai_q2.retrieve.queries import query_of


def test_names_are_carried_on_from_before_the_last_two_turns_and_said_once():
    turns = ['I read Ursula Le Guin.', 'She met Philip Dick.', 'And Philip Dick?']
    assert query_of(turns, 'names') == '\n'.join([*turns[1:], 'Ursula Le Guin'])
    # From four turns and no more.
    long = ['I saw Ann Lee.', *['So.'] * 4, 'Yes?', 'Who?']
    assert query_of(long, 'names') == 'Yes?\nWho?'
    assert query_of(long[1:], 'two') == 'Yes?\nWho?'
