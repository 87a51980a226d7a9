"""What people see of a message."""

from time import process_time

import pytest

from parlai_q2.text.messages import reply_text, split_message, visible_text


@pytest.mark.parametrize(
    'message, text, thoughts',
    [
        ('Five. ', 'Five. ', ''),
        ('', '', ''),
        (None, '', ''),
        ('<think>\nTwo?\n</think>\n\nFive.', 'Five.', 'Two?'),
        ('[THINK]Two?[/THINK]Five.', 'Five.', 'Two?'),
        ('<Thinking>Two?</Thinking> Five.', 'Five.', 'Two?'),
        # The template of the model wrote the opening tag.
        ('Two?\n</think>\nFive.', 'Five.', 'Two?'),
        # It thought until its tokens were used up.
        ('<think>Two? Or', '', 'Two? Or'),
        ('<think>a</think>Hi\n<think>b</think>there', 'Hi\nthere', 'a\nb'),
        # These speak of tags.
        ('Write <think> first.', 'Write <think> first.', ''),
        ('End with `</think>` alone.', 'End with `</think>` alone.', ''),
        ({'role': 'assistant', 'content': None, 'refusal': 'No.'}, 'No.', ''),
        ({'role': 'assistant', 'content': None, 'tool_calls': [{}]}, '', ''),
        (
            {
                'role': 'assistant',
                'content': [
                    {'type': 'thinking', 'thinking': 'Two?'},
                    {'type': 'text', 'text': 'Bees have '},
                    {'type': 'text', 'text': 'five.'},
                ],
            },
            'Bees have five.',
            '',
        ),
        ({'role': 'user', 'content': [{'type': 'text', 'text': 'a'}, 'b']}, 'a\nb', ''),
        ([{'type': 'image_url', 'image_url': {}}, {'type': 'text', 'text': 7}], '', ''),
        (5, '', ''),
    ],
)
def test_a_message_has_a_text_and_thoughts(message, text, thoughts):
    assert split_message(message) == (text, thoughts)
    # What people see has nothing more to hide.
    assert visible_text(text) == text


@pytest.mark.parametrize(
    'finish_reason, text',
    [('length', 'Bees have …'), ('stop', 'Bees have'), ('', 'Bees have')],
)
def test_a_reply_that_was_cut_off_is_marked(finish_reason, text):
    assert visible_text('Bees have ', finish_reason) == text


CALL = {'role': 'assistant', 'content': None, 'tool_calls': [{'id': '1'}]}
TOOL = {'role': 'tool', 'content': '12 degrees'}


@pytest.mark.parametrize(
    'completion, text',
    [
        ('Five.', 'Five.'),
        ([], ''),
        ([CALL], ''),
        ([CALL, TOOL], ''),
        ([CALL, TOOL, {'role': 'assistant', 'content': 'Twelve.'}], 'Twelve.'),
        ({'content': 'Five.'}, 'Five.'),
        ([{'type': 'text', 'text': 'Fi'}, {'type': 'text', 'text': 've.'}], 'Five.'),
    ],
)
def test_the_reply_is_the_last_message_of_the_assistant(completion, text):
    assert reply_text(completion) == text


@pytest.mark.parametrize('text', ['<think>', '\n', ' ', 'a ', '</think>', '<thin'])
def test_long_texts_take_no_time(text):
    began = process_time()
    split_message(text * 50_000 + 'x <think>' + text * 50_000 + 'x</think>')
    assert process_time() - began < 2
