"""Ranking by words, and by nearness to a question."""

import time

import pytest

from parlai_q2.errors import InputError, UnknownNameError
from parlai_q2.retrieve.ranking import (
    LITERAL_BONUS,
    MAX_WORDS,
    Bm25,
    Nearness,
    literal_shares,
)
from parlai_q2.retrieve.retriever import Hit
from parlai_q2.retrieve.search import make_query
from parlai_q2.retrieve.store import Document, Store
from parlai_q2.retrieve.words import split_words
from parlai_q2.turns import Passage, Source


def stored(*texts, language='english'):
    store = Store(language=language)
    passages = [t if isinstance(t, Passage) else Passage(t) for t in texts]
    store.add(Document('d'), passages)
    store.commit()
    return store


def first(query, *texts, **options):
    hits = Bm25(stored(*texts, **options)).search([query], 5)[0]
    return hits[0].passage.text if hits else None


def test_scores_are_those_of_the_formula():
    # Worked out by hand: two passages of three and one word, k1 = 1.2, b = 0.75;
    # idf = ln(1 + (2 - 1 + 0.5) / (1 + 0.5)) = ln 2; the mean length is 2. Tantivy
    # multiplies by k1 + 1.
    (hits,) = Bm25(stored('pump hose valve', 'tap')).search(['pump'], 5)[0]
    expected = 0.6931472 * 2.2 / (1 + 1.2 * (0.25 + 0.75 * 3 / 2))
    assert hits.score == pytest.approx(expected, rel=1e-5)


HOSE = Passage('They bend.', 'Hoses', Source('a.md', 'Hoses > Summer', 'line 3'))
NAMED = Passage('It hums.', source=Source('docs/garden_pump.md'))


@pytest.mark.parametrize(
    'query, found, other',
    [
        # Words of conversation count less.
        (
            'Hello! I would love to talk about Leighton.',
            'Leighton painted frescoes.',
            '"Hello, I love you" is a song.',
        ),
        # What is named as in code is no word of conversation.
        ('What does /why show?', 'The command /why explains.', 'This shows pumps.'),
        ('Why does it show?', 'This shows pumps.', 'The command /why explains.'),
        # Titles, headings and names of files are searched.
        ('hoses', HOSE, 'Pumps are blue.'),
        ('summer', HOSE, 'Pumps are blue.'),
        ('the pump', NAMED, 'Hoses are blue.'),
        # Accents, case and endings do not matter.
        ('CAFES', 'Un café.', 'Un thé.'),
        ('pumping', 'Pumps hum.', 'Taps drip.'),
        # Scripts without spaces are searched.
        ('東京タワー', '東京タワーは高い。', '大阪城は古い。'),
        # Long words are searched, also where a letter has several bytes.
        ('высокопревосходительство', 'Высокопревосходительство ест.', 'Он ест.'),
    ],
)
def test_ranks_the_best_passage_first(query, found, other):
    assert first(query, other, found) == getattr(found, 'text', found)


def test_words_are_stemmed_in_their_language():
    assert first('насосы', 'Насос синий.', 'Кран.', language='russian') == (
        'Насос синий.'
    )


def test_batched_search_equals_one_by_one():
    search = Bm25(stored('Pumps hum.', 'Hoses bend.', 'Taps drip.'))
    queries = ['pumps', '', 'hoses drip', '🙂', '\0', 'x' * 10_000]
    assert search.search(queries, 2) == [search.search([q], 2)[0] for q in queries]
    assert search.search([], 2) == []


def test_equal_passages_are_ordered_by_file():
    store = Store()
    for first_key, file in enumerate('ba'):
        passage = Passage('Pumps hum.', source=Source(file))
        store.add(Document(file, first=first_key), [passage])
    store.commit()
    assert [hit.key for hit in store.hits([(0, 0.5), (1, 0.5)])] == [1, 0]


def test_long_queries_keep_the_rarest_words():
    common = ' '.join(f'word{n}x' for n in range(2 * MAX_WORDS))
    search = Bm25(stored(common, common, 'rarity'))
    unknown = common.replace('word', 'error')
    weights = search.weights(f'{unknown} {common} rarity')
    assert len(weights) == MAX_WORDS
    assert 'rariti' in weights


def test_rejects_queries_that_are_no_list_of_texts():
    search = Bm25(stored('Pumps hum.'))
    for queries, k in (('pump', 1), ([None], 1), (['pump'], 0)):
        with pytest.raises(InputError):
            search.search(queries, k)


def test_an_unknown_language_is_named():
    with pytest.raises(UnknownNameError, match="Did you mean 'german'"):
        split_words('x', 'germann')


def test_a_store_that_is_open_writes_nothing_by_itself(tmp_path):
    """A folder can be removed or moved while another store of it is still held."""
    store = Store(tmp_path)
    store.add(Document('a.txt'), [Passage('Bees have five eyes.')])
    store.finish()
    lock, meta = tmp_path / '.tantivy-meta.lock', tmp_path / 'meta.json'
    lock.unlink(missing_ok=True)
    # As another's commit changes it, which the library would look for twice a second.
    meta.write_bytes(meta.read_bytes().replace(b'"opstamp":', b'"opstamp": '))
    time.sleep(1.2)
    assert not lock.exists()
    assert list(store.documents()) == ['a.txt']


def test_names_are_carried_on_from_before_the_last_two_turns_and_said_once():
    turns = ['I read Ursula Le Guin.', 'She met Philip Dick.', 'And Philip Dick?']
    assert make_query(turns, 'names') == '\n'.join([*turns[1:], 'Ursula Le Guin'])
    # From four turns and no more.
    long = ['I saw Ann Lee.', *['So.'] * 4, 'Yes?', 'Who?']
    assert make_query(long, 'names') == 'Yes?\nWho?'
    assert make_query(long[1:], 'two') == 'Yes?\nWho?'
    # Neither "I'm" nor the first word of a turn is a name.
    assert make_query(["well I'm off", 'Nice day', *long[-2:]]) == 'Yes?\nWho?'


TEXTS = ('We repair bicycles on weekdays.', 'Dogs are welcome.', 'The pool is warm.')
HITS = [Hit(Passage(text), 1.0, n) for n, text in enumerate(TEXTS)]


def test_paraphrases_are_nearer():
    near = Nearness().measure('Can I bring my puppy?', HITS)
    assert max(near) == near[1]
    # Of two that are as near by their vectors, what was found better by words.
    best = [HITS[1]._replace(score=2.0), HITS[1]]
    better, worse = Nearness().measure('Can I bring my puppy?', best)
    assert better - worse == pytest.approx(0.15)
    assert Nearness().measure('Anything?', []) == []


def test_passages_with_a_questions_literals_are_nearer():
    texts = (
        '--wide makes it broad.',
        '--wide-open is another.',
        'Much is wide.',
        'Up.',
    )
    hits = [Hit(Passage(text), 1.0, n) for n, text in enumerate(texts)]
    question = 'What does --wide do?'
    near, plain = (
        Nearness().measure(query, hits) for query in (question, 'What does wide do?')
    )
    assert near[0] == max(near)
    gained = [a - b for a, b in zip(near, plain, strict=True)]
    assert gained[0] - max(gained[1:]) == pytest.approx(LITERAL_BONUS, abs=0.05)
    # What most have, as the project's name, tells nothing.
    shares = literal_shares(question, [texts[0], texts[0], 'Up.'])
    assert shares == [0.0, 0.0, 0.0]
