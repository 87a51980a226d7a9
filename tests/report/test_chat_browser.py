"""The chat in a real browser: what a person types, sees, clicks and hears."""

import threading

import pytest

from tests.report.chats import Scripted, ask, served
from tests.report.contrast import faint
from tests.report.samples import HOSTILE

LAST = '.turn:last-child'
IS_READY = "!document.getElementById('send').disabled"
FAILED = 'Failed to load resource'  # what the browser says of any error's status


@pytest.fixture(scope='module')
def chat():
    with served(Scripted()) as server:
        yield server


@pytest.fixture
def opened(browser, chat):
    chat.host.conversation = Scripted()
    open_page(browser, chat)
    yield browser
    assert [c for c in browser.complaints() if FAILED not in c] == []


def open_page(browser, chat, **size):
    browser.prefer('light')
    browser.goto(chat.url, **size)
    browser.wait_for(IS_READY)


def say(browser, text):
    browser.js("document.getElementById('message').focus()")
    browser.type(text)
    browser.press('Enter')
    browser.wait_for(IS_READY)


def know(browser, text):
    browser.js("document.getElementById('knowledge').value = ''")
    browser.js("document.getElementById('knowledge').focus()")
    browser.type(text)


def test_a_reply_has_its_spans_marked_and_its_score(opened):
    say(opened, 'Who is she?')
    assert 'Who is she?' in opened.text(f'{LAST} .said')
    marks = "[...document.querySelectorAll('.reply > .text mark')]"
    assert opened.js(f'{marks}.map(m => [m.firstChild.data, m.classList[0]])') == [
        ['Madonna', 'supported'],
        ['1985', 'contradicted'],
    ]
    verdict = opened.text(f'{LAST} .verdict')
    for word in ('0.50', 'consistent', 'reranked +0.17', 'highest score'):
        assert word in verdict
    assert opened.js("document.getElementById('message').value") == ''
    assert opened.js('document.activeElement.id') == 'message'


def test_a_click_on_a_span_shows_its_evidence(opened):
    say(opened, 'Who is she?')
    assert opened.count('.evidence') == 0
    opened.click('.reply > .text mark.contradicted')
    assert opened.count('.evidence') == opened.count('tr.picked') == 1
    assert 'When was Madonna born?' in opened.text('tr.picked')
    assert opened.js("document.activeElement.classList.contains('picked')")
    marks = (
        "[...document.querySelectorAll('.passage mark')].map(m => m.firstChild.data)"
    )
    assert opened.js(marks) == ['Madonna', 'August 16, 1958']
    assert opened.texts('.facts') == [
        'The score is the mean over the questions. Further figures: one 1.000',
        'q2|preset:mini|version:0.1.0',
    ]


def test_each_candidate_shows_its_evidence(opened):
    say(opened, 'Who is she?')
    opened.click('.reply details:last-child summary')
    opened.wait_for("document.querySelector('.candidates')")
    chosen, first = opened.texts('.candidates > tbody > tr:not([hidden])')
    for word in ('1 chosen', '0.50', 'consistent', '-1.25', 'delayedbeam'):
        assert word in chosen
    for word in ('2 first', '0.33', 'inconsistent', '-0.5', 'beam, nucleus', 'Canada'):
        assert word in first
    opened.click('.candidates tr:nth-child(3) .toggle')
    assert opened.count('.of-candidate:not([hidden])') == 1
    assert 'Where was Madonna born?' in opened.text('.of-candidate:not([hidden])')
    opened.click('.candidates tr:nth-child(1) mark.contradicted')
    assert 'When was Madonna born?' in opened.text('tr.picked')
    opened.press('Escape')
    assert opened.count('.of-candidate:not([hidden])') == 1


def test_a_screen_reader_hears_replies_problems_and_fields(opened):
    say(opened, 'Who is she?')
    say(opened, 'fail')
    tree = opened.call('Accessibility.getFullAXTree')['nodes']
    events = {
        (node['role']['value'], node.get('name', {}).get('value'))
        for node in tree
        if 'role' in node
    }
    assert {
        ('log', 'Turns'),
        ('textbox', 'Message'),
        ('textbox', 'Knowledge that replies must stick to'),
        ('button', 'Send'),
        ('button', 'New conversation'),
        ('heading', 'You'),
        ('heading', 'Scripted <b>'),
        ('alert', ''),
    } <= events
    mark = "document.querySelector('.reply mark.contradicted')"
    assert opened.js(f'{mark}.title') == 'contradicted: When was Madonna born? ' + (
        '(contradiction)'
    )


def test_the_command_fills_the_field(opened, chat):
    know(opened, 'old')
    say(opened, '/knowledge typed in the chat')
    assert opened.js("document.getElementById('knowledge').value") == (
        'typed in the chat'
    )
    assert opened.count(f'{LAST}.told') == 1
    assert opened.count(f'{LAST} details, {LAST} .verdict') == 0


def test_hostile_text_is_read_not_run(opened):
    know(opened, HOSTILE.replace('\ud800', ''))
    say(opened, 'hostile')
    say(opened, '<img src=x onerror="document.title=1"> \u202e reversed "')
    assert '<img src=x onerror="document.title=1">' in opened.text(f'{LAST} .said')
    assert '\\u202e' in opened.text(f'{LAST} .said')
    for fold in ('', ':last-child'):
        details = f'.turn:first-child details{fold}'
        opened.click(f'{details} summary')
        # It is filled a little later, which moves what is below it.
        opened.wait_for(f"document.querySelector('{details} .detail')")
    opened.click('.candidates .toggle')
    page_text = opened.text('.turn')
    assert page_text.count('<script>document.title="taken"</script>') > 5
    assert '\\x00 \\x1b[31m' in page_text
    assert '{{data}} ${x}' in page_text
    assert 'مرحبا שלום' in page_text
    assert '\U0001f468\u200d\U0001f469' in page_text
    assert opened.js('document.title') == 'Chat with Scripted <b>'
    assert opened.count('#turns script, #turns img, h1 b') == 0


def test_a_reply_says_which_document_it_is_from(opened):
    say(opened, 'documents')
    page_text = opened.text(f'{LAST} .sources')
    assert page_text.startswith('From: ')
    assert page_text.endswith('.md, Life (line 4)')
    assert opened.count(f'{LAST} .sources *') == 0
    say(opened, 'abstain')
    assert opened.count(f'{LAST} .sources') == 0


def test_no_empty_reply_is_shown_where_nothing_was_found(opened):
    say(opened, 'nothing')
    page_text = opened.text(LAST)
    assert "I'm not sure about that." in page_text
    assert 'nothing that was found' in page_text
    assert '(empty)' not in page_text
    assert 'candidate' not in page_text


def test_a_failure_is_told_and_what_was_typed_stays(opened):
    say(opened, 'fail')
    assert opened.text('#problem').startswith('RuntimeError: the model is broken <scr')
    assert opened.js("document.getElementById('message').value") == 'fail'
    assert opened.count('.turn') == 0
    opened.js("document.getElementById('message').value = ''")
    say(opened, 'Who is she?')
    assert opened.count('.turn') == 1
    assert opened.count('#problem[hidden]') == 1


def test_a_new_conversation_keeps_the_field_and_tells_it_again(opened, chat):
    know(opened, 'A passage.')
    say(opened, 'one')
    opened.click('#reset')
    opened.wait_for(f"{IS_READY} && !document.querySelector('.turn')")
    assert chat.host.conversation.turns == []
    assert chat.host.conversation.knowledge == ''
    assert opened.js("document.getElementById('knowledge').value") == 'A passage.'
    say(opened, 'two')
    assert chat.host.conversation.knowledge == 'A passage.'


def test_a_page_that_missed_a_reset_shows_the_new_conversation(opened, chat):
    know(opened, 'A passage.')
    say(opened, 'one')
    ask(chat, 'POST', '/reset', {})
    say(opened, 'two')
    assert 'send your message again' in opened.text('#problem')
    assert opened.count('.turn') == 0
    fields = '["knowledge", "message"].map(id => document.getElementById(id).value)'
    assert opened.js(fields) == ['', 'two']
    opened.press('Enter')
    opened.wait_for(f"{IS_READY} && document.querySelector('.turn')")
    assert opened.text(f'{LAST} .said').endswith('two')


def test_the_page_of_a_proxy_in_place_of_an_answer_is_named(opened):
    opened.js("window.fetch = async () => new Response('<html>', {status: 504})")
    say(opened, 'Who is she?')
    assert opened.text('#problem') == 'The server answered 504.'


def test_words_that_were_marked_after_the_reply_are_shown(opened, chat):
    go_on, evidence = threading.Event(), chat.host.conversation.evidence

    def slow(number):
        assert go_on.wait(20)
        return evidence(number)

    chat.host.conversation.evidence = slow
    say(opened, 'explain later')
    opened.js(f"document.querySelector('{LAST} summary').focus()")
    go_on.set()
    opened.wait_for(f"document.querySelector('{LAST} mark') !== null")
    assert opened.text(f'{LAST} mark') == '1985'
    assert opened.js(f"document.querySelector('{LAST} mark').title") == (
        'not in the knowledge'
    )
    assert opened.count('.looking') == 0
    assert opened.js('document.activeElement.innerText') == 'Evidence'
    opened.click(f'{LAST} mark')
    assert 'not in the knowledge' in opened.text('tr.picked')


def test_a_page_tells_how_long_it_has_waited_also_when_it_is_reloaded(opened, chat):
    go_on = threading.Event()
    interact = chat.host.conversation.interact

    def slow(text, knowledge):
        assert go_on.wait(20)
        return interact(text, knowledge)

    chat.host.conversation.interact = slow
    opened.js("document.getElementById('message').focus()")
    opened.type('Who is she?')
    opened.press('Enter')
    has_waited = (
        '/^Waiting … [1-9]\\d* s$/'
        ".test(document.querySelector('.waiting .reply')?.innerText)"
    )
    opened.wait_for(has_waited)
    assert opened.text('.waiting .said').endswith('Who is she?')
    opened.call('Page.reload')
    opened.wait_for(f"{has_waited} && !document.querySelector('.waiting .said')")
    go_on.set()
    opened.wait_for(IS_READY)
    assert opened.count('.waiting') == 0
    assert opened.count('.turn') == 1


def test_the_token_is_taken_off_the_address_and_kept_by_the_tab(opened, chat):
    assert opened.js('location.href') == chat.access.url
    say(opened, 'Who is she?')
    opened.call('Page.reload')
    opened.wait_for("document.querySelector('.turn')")


def test_a_page_without_the_token_says_what_to_open(browser, chat):
    browser.goto('about:blank')
    browser.js("document.title = 'left'")
    browser.goto(chat.access.url)
    browser.js('sessionStorage.clear()')
    browser.goto(chat.access.url)
    browser.wait_for("!document.getElementById('problem').hidden")
    assert 'Open the whole address' in browser.text('#problem')
    assert browser.count('.turn') == 0


def test_all_of_it_can_be_done_with_the_keyboard(opened):
    say(opened, 'Who is she?')
    opened.js("document.getElementById('reset').focus()")
    reached = []
    for _ in range(7):
        opened.press('Tab')
        reached.append(
            opened.js('(e => e.id || e.className || e.tagName)(document.activeElement)')
        )
    assert reached[0] == 'knowledge'
    assert reached[-1] == 'send'
    assert reached[-2] == 'message'
    # Two marks, evidence and candidates lie between.
    assert reached.count('SUMMARY') == 2
    opened.js("document.querySelector('.reply mark.contradicted').focus()")
    style = 'getComputedStyle(document.activeElement).outlineStyle'
    opened.press('Enter')
    assert opened.count('tr.picked') == 1
    assert opened.js(style) == 'solid'
    opened.press('Escape')
    assert opened.count('details[open]') == 0
    assert opened.js('document.activeElement.innerText') == 'Evidence'
    assert opened.js(style) == 'solid'


@pytest.mark.parametrize('scheme', ['light', 'dark'])
def test_every_text_and_field_stands_out_from_what_is_behind_it(opened, scheme):
    opened.prefer(scheme)
    assert faint(opened) == []
    say(opened, 'Who is she?')
    # What opens moves the rest of the page: the next click waits for it.
    for count, details in enumerate(('details', 'details:last-child')):
        opened.click(f'{LAST} {details} summary')
        opened.wait_for(f"document.querySelectorAll('.detail').length > {count}")
    assert faint(opened) == []


@pytest.mark.parametrize('width', [320, 768])
def test_nothing_is_cut_off_on_a_narrow_screen(opened, chat, width):
    open_page(opened, chat, width=width, height=640)
    say(opened, 'Who is she?')
    opened.click(f'{LAST} details:last-child summary')
    opened.wait_for("document.querySelector('.candidates')")
    assert opened.js('document.documentElement.scrollWidth') <= width
    send = "document.getElementById('send').getBoundingClientRect()"
    assert opened.js(f'{send}.right') <= width
    assert opened.js(f'{send}.bottom') <= 640
