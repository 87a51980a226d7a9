"""
Teachers of tasks whose responses are annotated. Each task has three views of the same
turns, which :func:`make_teachers` makes from the task's reader::

    DialogueTeacher, AnnotatedTeacher, ClassificationTeacher = make_teachers(
        reader, __name__
    )

Field names are those of Wizard of Wikipedia, so that its models can be evaluated.
"""

import copy
from collections.abc import Iterator, Mapping, Sequence
from types import ModuleType
from typing import Any

from parlai.core.message import Message
from parlai.core.metrics import SumMetric
from parlai.core.opt import Opt
from parlai.core.params import ParlaiParser
from parlai.core.teachers import DialogTeacher
from parlai.utils.data import DatatypeHelper
from parlai.utils.misc import warn_once
from parlai.utils.typing import TShared

from parlai_q2.evaluate.set_reader import View
from parlai_q2.evaluate.sets import AnnotatedResponse, expand_aliases, narrow_words
from parlai_q2.io.knowledge import TOKEN_KNOWLEDGE
from parlai_q2.options import plain
from parlai_q2.parlai.q2_teacher import Q2TeacherMixin
from parlai_q2.parlai.task_strings import task_arguments

# The number of labels, with the true one, among which retrieval baselines choose.
NUM_CANDIDATES = 20
VIEWS = {
    View.DIALOGUE: "The person's message is the text, the reference reply the label.",
    View.ANNOTATED: "The person's message is the text, the annotated response the "
    'label, with its class in ``q2_label``.',
    View.CLASSIFICATION: 'Knowledge and response are the text, the class is the label.',
}


class AnnotatedTaskTeacher(DialogTeacher):
    """Shows annotated turns in one view; subclasses set the attributes."""

    view: View = View.DIALOGUE
    # The classes of responses.
    classes: Sequence[str] = ()
    # The task's module with ``read_part(datapath, words)`` and ``GROUPS``: what words
    # can select, e.g. a corpus, and the words for it. It may have ``ALIASES``: further
    # words, in lower case, with their meanings.
    reader: ModuleType
    # The reader's fold for each of ParlAI's folds, a third argument of ``read_part``;
    # empty if all folds have the same turns.
    folds: Mapping[str, str] = {}
    # Fixed words that select a part of the set, before those of the task string.
    words: tuple[str, ...] = ()
    # If several systems answered one context: the fields of a turn's ``extra`` that
    # belong to the context. The dialogue view then shows each context once, without the
    # fields of the annotated response, and knowledge without a title has no Wizard of
    # Wikipedia marker.
    context_fields: tuple[str, ...] | None = None
    # The field of ``extra`` with the published label, and all published labels, where
    # they differ from ours.
    published_field: str = ''
    published_classes: Sequence[str] = ()

    @classmethod
    def add_cmdline_args(
        cls, parser: ParlaiParser, partial_opt: Opt | None = None
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

    def __init__(self, opt: Opt, shared: TShared | None = None):
        self._as_published = opt.get('published_labels', False)
        # Whether the last turn shown awaits an unlabelled answer.
        self._unlabelled = False
        self.turns: list[AnnotatedResponse] = (
            shared['turns'] if shared else self.load_turns(opt)
        )
        training = not shared and DatatypeHelper.is_training(opt['datatype'])
        dialogue = self.view == View.DIALOGUE
        if training and dialogue and not any(turn.gold for turn in self.turns):
            warn_once(
                f'No turn of {opt.get("task")} has a label, so a model cannot learn '
                'from it. AnnotatedTeacher and ClassificationTeacher of the same task '
                'have labels.'
            )
        opt = copy.deepcopy(opt)
        opt['datafile'] = DatatypeHelper.fold(opt['datatype'])
        super().__init__(opt, shared)

    def load_turns(self, opt: Opt) -> list[AnnotatedResponse]:
        """The turns that the task string selects, conversation by conversation."""
        words = task_arguments(opt.get('task', ''))
        words = expand_aliases(words, getattr(self.reader, 'ALIASES', {}))
        words = narrow_words(type(self).__name__, self.words, words, self.reader.GROUPS)
        fold = DatatypeHelper.fold(opt['datatype'])
        has_training = self.folds and self.folds['train'] != self.folds['valid']
        if DatatypeHelper.is_training(opt['datatype']) and not has_training:
            warn_once(
                f'{opt.get("task")} is for evaluation: it has no training turns, and '
                'train shows those of valid.'
            )
        folds = [self.folds[fold]] if self.folds else []
        turns = self.reader.read_part(opt['datapath'], words, *folds)
        once = self.context_fields is not None and self.view == View.DIALOGUE
        return _distinct_contexts(turns) if once else turns

    def share(self) -> TShared:
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
        labels = [message.get('labels', [''])[0] for message in messages]
        episode = None
        for index, (turn, message) in enumerate(zip(self.turns, messages)):
            if self.view != View.CLASSIFICATION and 'labels' in message:
                message['label_candidates'] = _candidates_near(labels, index)
            yield message, turn.episode != episode
            episode = turn.episode

    def message(self, turn: AnnotatedResponse) -> Message:
        """The message of a turn in this view."""
        fields = _message_fields(turn)
        if self.context_fields is not None and not turn.topic:
            fields['knowledge'] = '\n'.join(turn.passage or (turn.knowledge,))
        if self.view == View.CLASSIFICATION:
            label, classes = turn.label, self.classes
            if self._as_published:
                label = turn.extra[self.published_field]
                classes = self.published_classes
            fields['text'] = f'{turn.knowledge}\n{turn.response}'
            fields['labels'], fields['label_candidates'] = [label], list(classes)
        elif self.view == View.ANNOTATED:
            fields['labels'] = [turn.response]
        elif turn.gold:
            fields['labels'] = [turn.gold]
        if self.context_fields is not None and self.view == View.DIALOGUE:
            for name in ('response', 'q2_label', *turn.extra):
                if name not in self.context_fields:
                    fields.pop(name, None)
        return Message(plain(fields))

    # To count a stream, ParlAI writes a file beside the data; a package is read-only.
    def num_examples(self) -> int:
        return len(self.turns) if self.stream else super().num_examples()

    def num_episodes(self) -> int:
        if not self.stream:
            return int(super().num_episodes())
        names = [turn.episode for turn in self.turns]
        return sum(a != b for a, b in zip([None, *names], names))


def make_teachers(
    reader: ModuleType,
    module: str,
    folds: Mapping[str, str] | None = None,
    mixin: type = Q2TeacherMixin,
    **attributes: object,
) -> tuple[Any, Any, Any]:
    """
    Make the dialogue, the annotated and the classification teacher of a task.

    :param reader: the task's module with ``read_part``, ``GROUPS`` and ``CLASSES``.
    :param module: the name of the module that the teachers are in.
    :param folds: the reader's fold for each of ParlAI's; None if all have the same
        turns.
    :param mixin: scores a model's responses, in the two views that have responses.
    :param attributes: further attributes of :class:`AnnotatedTaskTeacher`.
    """
    attributes = {
        'reader': reader,
        'classes': reader.CLASSES,
        'folds': folds or {},
        '__module__': module,
        **attributes,
    }

    def make(view: View) -> type:
        mixins = () if view == View.CLASSIFICATION else (mixin,)
        name = f'{view.value.capitalize()}Teacher'
        described = {'view': view, '__doc__': VIEWS[view], **attributes}
        return type(name, (*mixins, AnnotatedTaskTeacher), described)

    return make(View.DIALOGUE), make(View.ANNOTATED), make(View.CLASSIFICATION)


def narrow(teacher: Any, name: str, *words: str) -> Any:
    """A teacher of the given name that shows only the part that words select."""
    return type(name, (teacher,), {'words': words, '__module__': teacher.__module__})


def _message_fields(turn: AnnotatedResponse) -> dict[str, Any]:
    """Build the fields of a turn that all views share, without its label."""
    sentences = turn.passage or (turn.knowledge,)
    marker = f'{turn.topic} {TOKEN_KNOWLEDGE} '
    return {
        # If the system opens the conversation, WoW shows it the topic.
        'text': turn.text or turn.topic,
        'chosen_topic': turn.topic,
        'title': turn.topic,
        'knowledge': '\n'.join(marker + sentence for sentence in sentences),
        'checked_sentence': turn.knowledge,
        'gold': turn.gold,
        'response': turn.response,
        'q2_label': turn.label,
        **turn.extra,
    }


def _candidates_near(labels: Sequence[str], index: int) -> list[str]:
    """Collect the distinct labels of a turn and of those after it, alphabetically."""
    candidates: dict[str, None] = {}
    for place in range(index, index + len(labels)):
        label = labels[place % len(labels)]
        if label:
            candidates.setdefault(label)
        if len(candidates) == NUM_CANDIDATES:
            break
    return sorted(candidates)


def _distinct_contexts(turns: Sequence[AnnotatedResponse]) -> list[AnnotatedResponse]:
    """For each context, the first turn with a human reply, else the first turn."""
    by_context: dict[tuple[str, str, str], AnnotatedResponse] = {}
    for turn in turns:
        context = (turn.text, turn.topic, turn.knowledge)
        first = by_context.get(context)
        if first is None or (turn.gold and not first.gold):
            by_context[context] = turn
    return list(by_context.values())
