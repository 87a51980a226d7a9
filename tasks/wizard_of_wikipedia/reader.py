"""
Reads the files of Wizard of Wikipedia (Dinan et al. 2019, arXiv 1811.01241) as ParlAI
downloads them.
"""

from dataclasses import dataclass
from pathlib import Path

from parlai_q2.errors import RecordError
from parlai_q2.io.data_sets import read_list
from parlai_q2.io.knowledge import TOKEN_NOCHOSEN
from parlai_q2.json_values import JsonObject

# The folds, named as their files are.
TRAIN = 'train'
SPLITS = ('random_split', 'topic_split')
FOLDS = (TRAIN, *(f'{fold}_{split}' for fold in ('valid', 'test') for split in SPLITS))

WIZARD = 'Wizard'


@dataclass(frozen=True)
class WizardTurn:
    """
    An utterance of one person; the wizard is shown knowledge, and the utterance may be
    based on the sentence ``checked`` of an article.
    """

    text: str
    wizard: bool
    checked: str | None = None
    title: str = ''


@dataclass(frozen=True)
class WizardConversation:
    """
    A conversation, with its place in the file from 0, about one topic, with the first
    sentences of its article.
    """

    episode: int
    topic: str
    passage: tuple[str, ...]
    turns: tuple[WizardTurn, ...]

    @property
    def replies(self) -> list[int]:
        """
        Return the indices of the wizard's turns that are based on a sentence and that
        ParlAI's own teacher shows: all but the last turn of a conversation that the
        wizard opened.
        """
        turns = self.turns
        if turns and turns[0].wizard:
            places = range(0, 2 * ((len(turns) - 1) // 2), 2)
        else:
            places = range(1, len(turns), 2)
        return [i for i in places if turns[i].wizard and turns[i].checked]


def read_wizard_conversations(path: Path) -> list[WizardConversation]:
    """
    Read the conversations of a file such as ``train.json``; a RecordError, with the
    conversation's number, if the file is another, empty or cut short.
    """
    conversations = read_list(
        path, 'conversation', 'Wizard of Wikipedia', _conversation
    )
    if not conversations:
        raise RecordError(str(path), 1, 'there is no conversation')
    return conversations


def _conversation(fields: JsonObject, number: int) -> WizardConversation:
    return WizardConversation(
        number - 1,
        fields['chosen_topic'],
        tuple(fields['chosen_topic_passage']),
        tuple(_turn(entry) for entry in fields['dialog']),
    )


def _turn(entry: JsonObject) -> WizardTurn:
    wizard = WIZARD in entry['speaker']
    checked, title = _checked(entry) if wizard else (None, '')
    return WizardTurn(entry['text'].strip(), wizard, checked, title)


def _checked(entry: JsonObject) -> tuple[str | None, str]:
    sentences = entry.get('checked_sentence') or {}
    # A dict with one entry: {'self_Vermont_Syrup_0': 'Vermont syrup is ...'}.
    key, sentence = next(iter(sentences.items()), (TOKEN_NOCHOSEN, TOKEN_NOCHOSEN))
    if sentence == TOKEN_NOCHOSEN or not sentence.strip():
        return None, ''
    passages = entry.get('checked_passage') or {}
    title = next(iter(passages.values()), TOKEN_NOCHOSEN)
    if title == TOKEN_NOCHOSEN:
        title = ' '.join(key.split('_')[1:-1])
    return sentence.strip(), title
