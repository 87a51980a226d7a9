"""
Teachers for tasks whose responses are annotated, with three views of the same turns. A
view is a mixin. List it before the class that reads a task's turns::

    class AnnotatedTeacher(AnnotatedView, BeginTeacher): ...

Two of the views score a model's responses. Field names are those of Wizard of
Wikipedia, so that its models can be evaluated.
"""

import copy
from types import ModuleType
from typing import Any, Iterator, Mapping, Optional, Sequence

from parlai.core.message import Message
from parlai.core.metrics import SumMetric
from parlai.core.opt import Opt
from parlai.core.params import ParlaiParser
from parlai.core.teachers import DialogTeacher
from parlai.utils.data import DatatypeHelper
from parlai.utils.misc import warn_once

from parlai_q2.enums import plain
from parlai_q2.evaluate.find import View
from parlai_q2.evaluate.sets import AnnotatedResponse, narrowed, spelt_out
from parlai_q2.io.knowledge import TOKEN_KNOWLEDGE
from parlai_q2.parlai.q2_teacher import Q2TeacherMixin
from parlai_q2.parlai.task_strings import task_arguments

# Retrieval baselines choose among this many labels, including the true one.
NUM_CANDIDATES = 20


class DialogueView(Q2TeacherMixin):
    """The text is the person's message, the label is the reference reply."""

    view = View.DIALOGUE


class AnnotatedView(Q2TeacherMixin):
    """The text is the person's message, the label is the annotated response."""

    view = View.ANNOTATED


class ClassificationView:
    """The text is the knowledge and the response, the label is the class."""

    view = View.CLASSIFICATION


class AnnotatedTaskTeacher(DialogTeacher):
    """
    Shows annotated turns in the view of its subclass, which declares ``classes`` and
    ``reader``, and the other attributes where they differ.
    """

    view: View = View.DIALOGUE
    classes: Sequence[str] = ()
    # The task's module with ``read_part(datapath, words)`` and ``GROUPS``: what words
    # can select, e.g. a corpus, and the words for it. It may have ``ALIASES``: further
    # words, in lower case, and those that they stand for.
    reader: ModuleType
    # The reader's fold for each of ParlAI's, a third argument of ``read_part``; empty
    # where all show the same turns.
    folds: Mapping[str, str] = {}
    # Words that select a part of the set, before those of the task string.
    words: tuple[str, ...] = ()

    def __init__(self, opt: Opt, shared: Optional[dict] = None):
        # Whether the last turn shown awaits an answer and has no label.
        self._unlabelled = False
        self.turns: list[AnnotatedResponse] = (
            shared['turns'] if shared else self.load_turns(opt)
        )
        training = not shared and DatatypeHelper.is_training(opt['datatype'])
        if (
            training
            and self.view == View.DIALOGUE
            and not any(t.gold for t in self.turns)
        ):
            warn_once(
                f'No turn of {opt.get("task")} has a label, so a model cannot learn '
                'from it. AnnotatedTeacher and ClassificationTeacher of the same task '
                'have labels.'
            )
        opt = copy.deepcopy(opt)
        opt['datafile'] = DatatypeHelper.fold(opt['datatype'])
        super().__init__(opt, shared)

    def load_turns(self, opt: Opt) -> list[AnnotatedResponse]:
        """
        Read the turns that the task string selects; those of a conversation are
        consecutive.
        """
        reader, folds = self.reader, self.folds
        words = task_arguments(opt.get('task', ''))
        words = spelt_out(words, getattr(reader, 'ALIASES', {}))
        words = narrowed(type(self).__name__, self.words, words, reader.GROUPS)
        datatype = opt['datatype']
        own = folds and folds['train'] != folds['valid']
        if DatatypeHelper.is_training(datatype) and not own:
            warn_once(
                f'{opt.get("task")} is for evaluation: it has no training turns, and '
                'train shows those of valid.'
            )
        fold = [folds[DatatypeHelper.fold(datatype)]] if folds else []
        return reader.read_part(opt['datapath'], words, *fold)

    def share(self) -> dict:
        return {**super().share(), 'turns': self.turns}

    def act(self) -> Message:
        turn = super().act()
        self._unlabelled = self.lastY is None and not turn.is_padding()
        return turn

    def observe(self, observation: Message) -> Message:
        unlabelled, self._unlabelled = self._unlabelled, False
        observation = super().observe(observation)
        if unlabelled:
            # ParlAI counts only labelled turns, but some of its commands need the count
            # in every report.
            self.metrics.add('exs', SumMetric(1))
        return observation

    def setup_data(self, datafile: str) -> Iterator[tuple[Message, bool]]:
        messages = [self.message(turn) for turn in self.turns]
        labels = [m.get('labels', [''])[0] for m in messages]
        episode = None
        for i, (turn, message) in enumerate(zip(self.turns, messages)):
            if self.view != View.CLASSIFICATION and 'labels' in message:
                message['label_candidates'] = _candidates_near(labels, i)
            yield message, turn.episode != episode
            episode = turn.episode

    def message(self, turn: AnnotatedResponse) -> Message:
        """The message of a turn in this view."""
        fields = _common_fields(turn)
        if self.view == View.CLASSIFICATION:
            fields['text'] = f'{turn.knowledge}\n{turn.response}'
            fields['labels'] = [turn.label]
            fields['label_candidates'] = list(self.classes)
        elif self.view == View.ANNOTATED:
            fields['labels'] = [turn.response]
        elif turn.gold:
            fields['labels'] = [turn.gold]
        return Message(plain(fields))

    # To count a stream, ParlAI writes a file beside the data; a package is read-only.
    def num_examples(self) -> int:
        return len(self.turns) if self.stream else super().num_examples()

    def num_episodes(self) -> int:
        if not self.stream:
            return super().num_episodes()
        names = [turn.episode for turn in self.turns]
        return sum(a != b for a, b in zip([None, *names], names))


class AnnotatedSetTeacher(AnnotatedTaskTeacher):
    """
    Shows an annotated set in which several systems answered the same context. Its views
    differ in this:

    - the dialogue view shows each context once, and omits the fields that belong to the
      annotated response, since the model that replies is another one;
    - the classification view can ask for the labels as they were published, where they
      differ from ours: ``--published-labels true``;
    - knowledge without a title is shown without Wizard of Wikipedia's marker.
    """

    # Fields of a turn's ``more`` that belong to its context, not to its response.
    context_fields: tuple[str, ...] = ()
    # The field of ``more`` with the published label, and all published labels.
    published_field: str = ''
    published_classes: Sequence[str] = ()

    @classmethod
    def add_cmdline_args(
        cls, parser: ParlaiParser, partial_opt: Optional[Opt] = None
    ) -> ParlaiParser:
        """Add ``--published-labels`` to the classification view."""
        super().add_cmdline_args(parser, partial_opt)
        if cls.view == View.CLASSIFICATION and cls.published_field:
            parser.add_argument_group('Annotated set').add_argument(
                '--published-labels',
                type='bool',
                default=False,
                help='use the labels as published '
                f'({", ".join(cls.published_classes)}) instead of '
                f'{", ".join(cls.classes)}',
            )
        return parser

    def __init__(self, opt: Opt, shared: Optional[dict] = None):
        self._as_published = opt.get('published_labels', False)
        super().__init__(opt, shared)

    def load_turns(self, opt: Opt) -> list[AnnotatedResponse]:
        turns = super().load_turns(opt)
        return _distinct_contexts(turns) if self.view == View.DIALOGUE else turns

    def message(self, turn: AnnotatedResponse) -> Message:
        message = super().message(turn)
        if not turn.topic:
            message.force_set('knowledge', '\n'.join(turn.passage or (turn.knowledge,)))
        if self.view == View.DIALOGUE:
            for name in ('response', 'q2_label', *turn.more):
                if name not in self.context_fields:
                    message.pop(name, None)
        elif self.view == View.CLASSIFICATION and self._as_published:
            message.force_set('labels', [turn.more[self.published_field]])
            message.force_set('label_candidates', list(self.published_classes))
        return message


def _common_fields(turn: AnnotatedResponse) -> dict[str, Any]:
    """The fields of a turn that all views share, without its label."""
    sentences = turn.passage or (turn.knowledge,)
    passage = [f'{turn.topic} {TOKEN_KNOWLEDGE} {s}' for s in sentences]
    return {
        # If the system opens the conversation, WoW shows it the topic.
        'text': turn.text or turn.topic,
        'chosen_topic': turn.topic,
        'title': turn.topic,
        'knowledge': '\n'.join(passage),
        'checked_sentence': turn.knowledge,
        'gold': turn.gold,
        'response': turn.response,
        'q2_label': turn.label,
        **turn.more,
    }


def _candidates_near(labels: Sequence[str], index: int) -> list[str]:
    """The distinct labels of a turn and of those after it, in alphabetical order."""
    found: dict[str, None] = {}
    for place in range(index, index + len(labels)):
        label = labels[place % len(labels)]
        if label:
            found.setdefault(label)
        if len(found) == NUM_CANDIDATES:
            break
    return sorted(found)


def _distinct_contexts(turns: Sequence[AnnotatedResponse]) -> list[AnnotatedResponse]:
    """For each context, the first turn that has a human reply, else the first."""
    found: dict[tuple[str, str, str], AnnotatedResponse] = {}
    for turn in turns:
        context = (turn.text, turn.topic, turn.knowledge)
        kept = found.get(context)
        if kept is None or (turn.gold and not kept.gold):
            found[context] = turn
    return list(found.values())
