"""What counts as English, of sentences in 27 languages, names and titles."""

import csv
from pathlib import Path

import pytest

from parlai_q2.text.language import is_foreign
from parlai_q2.text.sentences import sentences

# Three things that a chatbot says, in 27 languages; written after the rule was.
SHEET = Path(__file__).with_name('translations.tsv').read_text('utf-8')
TRANSLATIONS = [line.split('\t')[1:] for line in SHEET.splitlines()]
ENGLISH = """
Die Hard was directed by John McTiernan.
Der Spiegel is a German magazine.
Los Angeles
Leonardo da Vinci
Ludwig Mies van der Rohe
Ho Chi Minh
Kim Jong-un
La La Land
LA LA LAND
José de San Martín
Lionel Messi, Luis Suárez, Neymar da Silva Santos Júnior
The song "Non, je ne regrette rien" is by Edith Piaf.
Real Madrid won against Bayern München in München.
Rio de Janeiro and São Paulo are cities.
Crème brûlée and a café au lait, please.
Guillermo del Toro made El laberinto del fauno.
I said "Ich weiß es nicht" to my German friend.
Château d'If, Þingvellir, Łódź
Who founded Cosa Nostra? Al Capone.
1969
Yes!
""".strip().splitlines()


def test_almost_every_sentence_in_another_language_is_told():
    missed = [t for texts in TRANSLATIONS for t in texts if not is_foreign(t)]
    assert len(TRANSLATIONS) == 27
    # Seven words of which no list has two.
    assert missed == [
        'Monu Lisu nenamaloval Leonardo da Vinci.',
        'A Mona Lisát nem Leonardo da Vinci festette.',
    ]


def test_case_and_length_make_no_difference():
    for text in ('ICH WEISS ES NICHT, ABER ICH GLAUBE ES', 'Je ne sais pas. ' * 5000):
        assert is_foreign(text)


@pytest.mark.parametrize('text', ENGLISH)
def test_names_titles_and_foreign_words_leave_a_text_english(text):
    assert not is_foreign(text)


@pytest.mark.parametrize(
    'text',
    [
        'The museum opens at nine. El museo cierra a las cinco de la tarde.',
        'Bees have five eyes.\nLas abejas viven en una colmena.',
        'It was built in 1888. Das Gebäude wurde später umgebaut und erweitert.',
    ],
)
def test_a_foreign_sentence_among_english_ones_is_found(text):
    assert any(is_foreign(sentence.text) for sentence in sentences(text))


@pytest.mark.parametrize('text', ['', ' ', '12:30', '\U0001f600', '\x00', 'ok', '?!'])
def test_what_has_no_words_is_in_no_other_language(text):
    assert not is_foreign(text)


@pytest.mark.real_data('data', 'dev', 'begin')
def test_at_most_one_in_a_thousand_responses_is_taken_for_foreign(shared):
    responses = []
    for path in sorted((shared / 'data' / 'dev' / 'begin').glob('begin_dev_*.tsv')):
        with open(path, newline='', encoding='utf-8') as lines:
            responses += [
                row['response'] for row in csv.DictReader(lines, delimiter='\t')
            ]
    assert len(responses) > 1000
    assert sum(map(is_foreign, responses)) <= len(responses) / 1000
