import pytest

from parlai_q2.text.questions import (
    is_yes_no_question,
    only_asks_listener,
    only_declines,
    only_greets,
    wants_answer,
)


@pytest.mark.parametrize(
    'reply',
    [
        "I don't know how high it is.",
        "Sorry, I don't know.",
        "Sorry, I do n't know.",
        "How many exactly, I couldn't say.",
        "i 'm not sure , i only know a bit about its history .",
        'I’ve no idea, sorry.',
        'I could not find anything about a plug-in in our help pages.',
        "Sorry, but the rules I have don't say.",
        'The leaflet says nothing on that, please ask your doctor.',
        "Its age isn't mentioned here.",
        "I can't tell you, his time isn't given.",
        'Nothing is said about wifi. Is there anything else I can help with?',
        'There is no information on prices in my notes.',
        "That's not something I've been told.",
        "I'm not able to help with that. You could ask at the desk.",
        'Regrettably, I lack that information.',
        'I have no data on that, but our reception can help you.',
        'That information is not available to me. Please visit our website.',
        'No information is available about a gym. I apologise for that.',
        "As an AI assistant, I don't have access to that.",
        "Our website doesn't mention a gym. Our team will be happy to help you.",
        "My information doesn't include that. Shall I connect you to a colleague?",
        "That is not covered in the information I have. I'd recommend calling us.",
        "That's beyond what I can tell you, sorry about that.",
        "I'd need to check that with a colleague.",
        'I only have information about parking. Feel free to ask me anything else.',
    ],
)
def test_a_decline_says_what_the_speaker_or_the_text_does_not_know(reply):
    assert only_declines(reply)


@pytest.mark.parametrize(
    'reply, why',
    [
        ('The policy does not cover flood damage.', 'says what a policy covers'),
        ('We could not find any damage on the car.', 'says what was found'),
        ('I would not say it is far.', 'a claim in other words'),
        ("I don't know much, it is in Chile.", 'a claim behind a decline'),
        ("I'm not sure about that. It keeps five days.", 'the next sentence claims'),
        ('At noon. The oldest one I do not know.', 'the sentence before claims'),
        ("I don't know and it is closed.", 'a claim behind "and"'),
        ('Not sure, but in 1950.', 'a claim behind "but"'),
        ('The station has no information desk.', 'a desk is not information'),
        ('We have no information desk.', 'nor is it the speaker who knows nothing'),
        ("You can't answer messages on it.", 'says what the listener cannot do'),
        ("He doesn't answer her first letters.", 'somebody else does not answer'),
        ('There is nothing on Sundays.', 'nothing takes place'),
        ("I don't know, we don't open on Sundays.", 'opening is not knowing'),
        ("I don't know, the rules do not allow dogs.", 'a rule is claimed'),
        ('I hope this helps, Otto Brandt designed it', 'no decline at all'),
        ("We can't help with heavy luggage.", 'says what is not done'),
        ('We cannot confirm bookings by phone.', 'bookings are confirmed otherwise'),
        ('The list does not include drinks.', 'says what a price includes'),
        ('Flood damage is not covered in the agreement.', 'says what it covers'),
        ('No information is available in German.', 'there is some in English'),
        ('Guests have no access to the pool.', 'a rule'),
        ("I don't know. You can reach us at 0800 123.", 'a number may be wrong'),
    ],
)
def test_what_claims_something_is_no_decline(reply, why):
    assert not only_declines(reply), why


@pytest.mark.parametrize(
    'text, greets',
    [
        ('Hello! How can I help you today?', True),
        ('Good morning, what can I do for you?', True),
        ("You're welcome! Have a nice day.", True),
        ('Thank you very much for your help!', True),
        ('Oh wow, thank you so much!', True),
        ('How can I help you?', True),
        ('Perfect, thanks a lot!', True),
        ('No problem at all!', True),
        ('See you tomorrow!', True),
        ('Hope you feel better soon!', True),
        ('Great question, happy to help!', True),
        ('Let me know if you have any questions.', True),
        ('Thanks 😊', True),
        ('😊', True),
        ('Feel free to reach out!', True),
        ('We would be happy to help.', True),
        ('Best regards, your hotel team', True),
        ('We apologise for any inconvenience.', True),
        ('If you have any questions, please contact us.', True),
        ('Please contact our reception for more details.', True),
        ('We look forward to your visit!', True),
        ('Shall I connect you to a colleague?', True),
        ('You are welcome! Enjoy the snow.', True),
        ("OK, thanks a lot, you've been very helpful!", True),
        ("Great, that's all I wanted to know. Bye!", True),
        ('Enjoy the free parking.', False),
        ('It helps.', False),
        ('Please contact our support team.', False),
        ('Feel free to write to help@shop.example.', False),
        ('If you need help, the desk is open until 8.', False),
        ('Your team won.', False),
        ('About the same.', False),
        ('你好', False),
        ('Hello! We are open until 5 am and parking is free.', False),
        ('I hope this helps, Otto Brandt designed it', False),
        ('I hope you know that it is in Chile.', False),
        ('You can have it all day.', False),
        ('Tomorrow!', False),
        ('Yes, please.', False),
        ('Sure!', False),
        ('?!', False),
    ],
)
def test_what_only_greets(text, greets):
    assert only_greets(text) is greets


@pytest.mark.parametrize(
    'sentence, asks',
    [
        ('Have you ever tried it?', True),
        ('Which ones do you like best?', True),
        ('Oh, well, how long have you been playing?', True),
        ('Have you ever tried it.', False),
        ('Did you know that it opened in Leeds?', False),
        ('Did you know that it opened in 1903?', False),
        ('Would you believe they made it in Leeds?', False),
        ('Were you there in 1903?', False),
        ('It is in Leeds, do you like it?', False),
        ('Is it in Leeds?', False),
    ],
)
def test_a_question_about_the_listener_claims_nothing(sentence, asks):
    assert only_asks_listener(sentence) is asks


@pytest.mark.parametrize(
    'turn, asks_yes_no',
    [
        ('And can dogs come in?', True),
        ('Hello, is it open?', True),
        ('Hello. Can I return it?', True),
        ("And if I come at noon, isn't it closed?", True),
        ('How long?', False),
        ("Isn't it closed?", True),
        ("Ca n't I pay by card ?", True),
        ('If I come at noon, is it open?', True),
        ('So can I come?', True),
        ("And what is it, isn't it a dog?", False),
        ("Don't worry, it is open.", False),
        ("We're off to Leeds.", False),
        ('So do I.', False),
        ('And when is it open?', False),
        ('', False),
    ],
)
def test_what_may_be_answered_by_yes_or_no(turn, asks_yes_no):
    assert is_yes_no_question(turn) is asks_yes_no


@pytest.mark.parametrize(
    'turn, asks',
    [
        ('opening hours pls', True),
        ('price please', True),
        ('wen can i com for a blod test', True),
        ('phone number?', True),
        ('and how much salt', True),
        ('Whats the price', True),
        ("and what's the price", True),
        ('who’ll be there', True),
        ('hows it made', True),
        ('That is what I like', False),
        ("Woah, it's late. More please", True),
        ('Perfect, thanks a lot!', False),
        ('yes please', False),
        ('Great, please!', False),
        ('So do I.', False),
        ('Neither can I.', False),
        ('so when do you open', True),
        ('ok so how much is it', True),
        ('so when we came it was shut', False),
        ('How nice!', False),
        ('Oh, what a pity!', False),
        ('How much!', True),
        ('ok thank you, have a nice day', False),
        ('Yes, when I was young.', False),
        ('hi there, how are you?', False),
        ("Hey, how's it going?", False),
        ('How are you paid?', True),
        ('How is it?', True),
        ('Thanks. Is there anything else to pay?', True),
        ('Good?', True),
        ('Let me know about parking please', True),
        ('', False),
    ],
)
def test_a_turn_may_ask_without_the_form_of_a_question(turn, asks):
    assert wants_answer(turn) is asks
