"""Choosers are compared on pools of responses to one passage, pool by pool."""

from parlai_q2.rerank import Reranker
from parlai_q2.zoo.train.choosers import BASE, begin_pools, table, wrong_choices
from tests.rerank.toys import ToyScorer

COLUMNS = 'model_name\tdata_source\tknowledge\tmessage\tresponse\tbegin_label'
YES, NO, CHAT = 'Fully attributable', 'Not fully attributable', 'Generic'
ROWS = {
    'wow': [('red blue', 'green', NO), ('red blue', 'red', YES), ('alone', 'x', NO)],
    'cmu': [('one two', 'three', CHAT), ('one two ', 'one three', NO)],
    'tc': [],
}


def write(folder):
    for corpus, rows in ROWS.items():
        lines = [f'gpt2\t{corpus}\t{k}\thi\t{r}\t{label}' for k, r, label in rows]
        text = '\n'.join([COLUMNS, *lines]) + '\n'
        (folder / f'begin_dev_{corpus}.tsv').write_text(text)
    return folder


def toys(copy_penalty=0.1):
    return {BASE: Reranker(ToyScorer()), 'words': Reranker('precision')}


def test_a_pool_has_the_responses_to_one_passage(tmp_path):
    pools = list(begin_pools(write(tmp_path)))
    assert [[c.text for c in one.pool.candidates] for one in pools] == [
        ['green', 'red'],
        ['three', 'one three'],
    ]
    assert pools[1].labels == ('generic', 'inconsistent')


def test_differences_are_of_the_same_pools(tmp_path):
    pools = list(begin_pools(write(tmp_path)))
    wrong = wrong_choices(toys(), pools)
    # The first is wrong in one pool, the chosen one in the other: chit-chat loses.
    assert wrong == {'first': [1.0, 0.0], BASE: [0.0, 1.0], 'words': [0.0, 1.0]}
    rows = {name: (rate.mean, by.mean) for name, rate, by in table(wrong)}
    assert rows == {'first': (0.5, 0.0), BASE: (0.5, 0.0), 'words': (0.5, 0.0)}
