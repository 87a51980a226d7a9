"""
What a turn of a ParlAI log says: of an evaluation (``--world-logs``) or of a chat
(``--outfile``).

A turn is a pair of messages: a task's, or a person's, and the model's reply. In a chat
a person may also type a command for the reranking agent (``/why``). That is no turn of
the dialogue: the agent marks its answer, and whoever reads the log leaves both out and
says how many there were. A text that is missing or null is none.
"""

from typing import Any, Iterator, Mapping, Optional, Sequence

from parlai_q2.files.messages import find_knowledge

# Stands in a reply that answers a command, with the command's name.
COMMAND = 'rerank_command'
# What is said of those.
LEFT_OUT = 'Skipped {} chat commands such as /why, which are not turns.'
# What the reranking agent judged a reply by.
JUDGED_BY = 'rerank_knowledge'
# Fields that pass through to a record: evidence, and a human's judgement.
FROM_MODEL = ('q2_evidence', 'rerank', JUDGED_BY, 'rerank_signature')
FROM_TEACHER = ('q2_label',)


def text_of(message: Mapping[str, Any]) -> str:
    """
    What a message says; nothing where its text is missing or null.
    """
    text = message.get('text')
    return '' if text is None else str(text)


def logged_message(asked: Mapping[str, Any], reply: Mapping[str, Any]) -> dict:
    """
    The first message of a turn, with all that is known of the turn's knowledge.

    :param asked: the message.
    :param reply: the model's. In a chat, or where a delimiter or a file gave the
        knowledge, it alone tells what the reply was judged by.
    :return: the message; where it has no knowledge, with that in ``knowledge``.
    """
    if reply.get(JUDGED_BY) and not find_knowledge(asked):
        return {**asked, 'knowledge': reply[JUDGED_BY]}
    return dict(asked)


def without_commands(messages: Sequence[dict]) -> list[dict]:
    """
    Messages of a log, one after the other, without commands and their answers.
    """
    after = [*messages[1:], {}]
    return [
        message
        for message, next_one in zip(messages, after)
        if COMMAND not in message and COMMAND not in next_one
    ]


def turns_of(dialog: Sequence[Any]) -> Iterator[tuple[int, Optional[dict[str, Any]]]]:
    """
    The turns of a conversation, as records to be scored.

    :param dialog: what a line of a log has in ``dialog``. What is no pair of messages
        is passed over.
    :return: each turn's place, from 0, and its fields; None for a command.
    """
    history: list[str] = []
    for place, parley in enumerate(dialog):
        said = parley if isinstance(parley, list) else []
        messages = [message for message in said if isinstance(message, dict)]
        if len(messages) < 2:
            continue
        asked, reply = messages[:2]
        if COMMAND in reply:
            yield place, None
            continue
        response = text_of(reply)
        history.append(text_of(asked))
        yield (
            place,
            {
                'knowledge': find_knowledge(logged_message(asked, reply)) or '',
                'response': response,
                'history': list(history),
                **{k: reply[k] for k in FROM_MODEL if k in reply},
                **{k: asked[k] for k in FROM_TEACHER if k in asked},
                **({'id': asked['turn_id']} if 'turn_id' in asked else {}),
            },
        )
        history.append(response)
