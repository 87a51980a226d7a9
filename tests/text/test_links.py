"""Links in Markdown and HTML: a target that the knowledge lacks is a mistake."""

import time

import pytest

from parlai_q2 import Example, load_scorer
from parlai_q2.text.links import find_links
from parlai_q2.text.prepare import prepare, prepare_passage

PAGE = (
    'You can return items within 30 days. See [our returns page]'
    '(https://www.shop.com/returns/), [call us](tel:0800555123) or write to '
    '<a class="x" href="mailto:help@shop.com">our team</a>. Prices are [here](/prices).'
)


def test_the_targets_of_pages_are_found_with_what_they_show():
    assert find_links(PAGE)['shop.com/returns'] == 'our returns page'
    assert find_links('No [1] link (here).') == {}


@pytest.mark.parametrize(
    'text, read',
    [
        ('[our shop](https://a.org/shop)', 'our shop (https://a.org/shop)'),
        ('<a href="https://a.org">our shop</a>', 'our shop (https://a.org)'),
        ('[www.a.org](https://a.org)', 'www.a.org'),
        ('[call us](tel:0800555123)', 'call us (0800555123)'),
        ('[here](/prices), [below](#two)', 'here, below'),
        (
            'It is red [1](https://a.org), [source](https://b.org).',
            'It is red 1, source.',
        ),
        ('![a photo](https://a.org/1.png)', 'a photo'),
    ],
)
def test_a_reply_shows_where_its_links_lead(text, read):
    assert prepare(text).text == read


def test_knowledge_shows_contacts_and_no_pages():
    text = prepare_passage(PAGE).text
    assert 'See our returns page, call us (0800555123)' in text
    assert 'our team (help@shop.com)' in text


@pytest.mark.parametrize(
    'reply, is_right',
    [
        ('See [our returns page](https://shop.com/returns).', True),
        ('See [our returns page](https://shop.com/refunds).', False),
        ('See https://shop.com/returns for returns.', True),
        ('Call us at 0800 555 123.', True),
        ('[Call us](tel:0800999999).', False),
        ('Write to help@shop.com.', True),
    ],
)
def test_a_target_is_right_or_wrong(reply, is_right):
    (score,) = load_scorer('grounded_fast').score([Example(PAGE, reply)])
    assert (score.value > 0.5) is is_right


def test_many_brackets_take_no_time():
    start = time.perf_counter()
    for text in ('[' * 50_000, '[a](' * 20_000, '<a href=' * 20_000, '<a ' * 40_000):
        prepare(text)
        find_links(text)
    assert time.perf_counter() - start < 5
