"""Other knowledge for a response: never its own, never of the wrong dialogue."""

from parlai_q2.evaluate.sets import AnnotatedResponse, random_dialogue, same_dialogue


def turn(dialogue, number, knowledge):
    return AnnotatedResponse(
        knowledge, f'response {dialogue}{number}', dialogue=dialogue, turn=str(number)
    )


TURNS = [
    turn('a', 1, 'one'),
    turn('a', 2, 'two'),
    turn('a', 3, 'three'),
    turn('b', 1, 'one'),
    turn('b', 2, 'one'),
    turn('c', 1, 'four'),
]


def test_the_same_dialogue_has_other_turns_with_other_knowledge():
    paired = dict((r, k) for k, r in same_dialogue(TURNS, TURNS, seed=0))
    # b has one knowledge in both turns, and c one turn.
    assert set(paired) == {'response a1', 'response a2', 'response a3'}
    assert paired['response a1'] in ('two', 'three')
    assert paired['response a2'] in ('one', 'three')


def test_two_systems_responses_to_one_turn_are_no_other_turn():
    pair = [turn('a', 1, 'one'), turn('a', 1, 'one, too')]
    assert same_dialogue(pair, pair, seed=0) == []


def test_another_dialogue_is_another_dialogue_with_other_knowledge():
    by_response = {t.response: t for t in TURNS}
    for seed in range(5):
        paired = random_dialogue(TURNS, TURNS, seed)
        assert len(paired) == len(TURNS)
        for knowledge, response in paired:
            own = by_response[response]
            others = [t.knowledge for t in TURNS if t.dialogue != own.dialogue]
            assert knowledge != own.knowledge
            assert knowledge in others


def test_the_choice_is_seeded():
    many = [turn(str(d), t, f'{d} {t}') for d in range(9) for t in range(4)]
    for choose in (same_dialogue, random_dialogue):
        assert choose(many, many, 1) == choose(many, many, 1)
        assert choose(many, many, 1) != choose(many, many, 2)
