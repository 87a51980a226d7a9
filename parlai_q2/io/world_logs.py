"""
Reads turns from ParlAI logs of an evaluation (``--world-logs``) or a chat
(``--outfile``).

A turn is a message from the task or a person and the model's reply. Commands for the
reranking agent, such as ``/why``, are not turns: the agent marks its answers to them,
and readers of the log leave out both and report their number.
"""

from collections.abc import Iterator, Sequence

from parlai_q2.io.knowledge import find_knowledge, find_passages
from parlai_q2.json_values import JsonMapping, JsonObject
from parlai_q2.text.messages import is_message, reply_text
from parlai_q2.turns import as_field

# The field of a reply that answers a command; its value is the command's name.
COMMAND = 'rerank_command'
# The warning about commands that were skipped.
COMMANDS_SKIPPED = 'Skipped {} chat commands such as /why, which are not turns.'
# The field with the knowledge that the reranking agent judged a reply by.
RERANK_KNOWLEDGE = 'rerank_knowledge'
# Fields that pass through to a record: evidence and, of the response that people
# judged, their judgement.
FROM_MODEL = (
    'q2_evidence',
    'rerank',
    RERANK_KNOWLEDGE,
    'rerank_turn',
    'rerank_signature',
)
FROM_TEACHER = ('q2_label',)


def read_text(message: JsonMapping) -> str:
    """The text of a message that people see; empty if it is missing or null."""
    text = message.get('text')
    if isinstance(text, str) or is_message(text):
        return reply_text(text)
    return '' if text is None else str(text)


def logged_message(question: JsonMapping, reply: JsonMapping) -> JsonObject:
    """
    Copy the first message of a turn. If it has no knowledge, because a person or a file
    gave it, the copy gets the knowledge that the model's reply was judged by.
    """
    if reply.get(RERANK_KNOWLEDGE) and not find_knowledge(question):
        return {**question, 'knowledge': reply[RERANK_KNOWLEDGE]}
    return dict(question)


def _judgements(question: JsonMapping) -> JsonObject:
    return {name: question[name] for name in FROM_TEACHER if name in question}


def _is_judged(question: JsonMapping, reply: str) -> bool:
    """Whether a task's human label is that of a reply, and not of the task's own."""
    labels = question.get('labels') or question.get('eval_labels')
    first = labels[0] if isinstance(labels, Sequence) and labels else None
    judged = question.get('response') or first
    return judged is None or str(judged).split() == reply.split()


def without_commands(messages: Sequence[JsonObject]) -> list[JsonObject]:
    """The messages of a log, without commands and the answers to them."""
    after = [*messages[1:], {}]
    return [
        message
        for message, next_one in zip(messages, after)
        if COMMAND not in message and COMMAND not in next_one
    ]


def read_dialog(dialog: Sequence[object]) -> Iterator[tuple[int, JsonObject | None]]:
    """
    The turns of a line's ``dialog`` as records, each with its index; None for a
    command. Items that are not a pair of messages are skipped.
    """
    history: list[str] = []
    for place, parley in enumerate(dialog):
        acts = parley if isinstance(parley, list) else []
        messages = [message for message in acts if isinstance(message, dict)]
        if len(messages) < 2:
            continue
        question, reply = messages[:2]
        if COMMAND in reply:
            yield place, None
            continue
        response = read_text(reply)
        history.append(read_text(question))
        yield (
            place,
            {
                'knowledge': as_field(find_passages(logged_message(question, reply))),
                'response': response,
                'history': list(history),
                **{k: reply[k] for k in FROM_MODEL if k in reply},
                **(_judgements(question) if _is_judged(question, response) else {}),
                **({'id': question['turn_id']} if 'turn_id' in question else {}),
            },
        )
        history.append(response)
