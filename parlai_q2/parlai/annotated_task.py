"""
Teachers for tasks whose responses are annotated, with three views of the same turns.

- dialogue: the text is the person's message, the label is the reference reply;
- annotated: the same text, but the label is the annotated response, so that
  ``-m repeat_label`` replays the annotated system;
- classification: the text is the knowledge and the response, the label is the
  annotators' class.

A view is a mixin. List it before the class that reads a task's turns::

    class AnnotatedTeacher(AnnotatedView, BeginTeacher): ...

The first two views score a model's responses. Field names are those of Wizard of
Wikipedia, so that its models can be evaluated.
"""

import copy
from typing import Any, Iterator, Optional, Sequence

from parlai.core.message import Message
from parlai.core.metrics import SumMetric
from parlai.core.opt import Opt
from parlai.core.teachers import DialogTeacher
from parlai.utils.data import DatatypeHelper
from parlai.utils.misc import warn_once

from parlai_q2.evaluate.sets import AnnotatedResponse
from parlai_q2.io.knowledge import TOKEN_KNOWLEDGE
from parlai_q2.parlai.q2_teacher import Q2TeacherMixin

DIALOGUE, ANNOTATED, CLASSIFICATION = 'dialogue', 'annotated', 'classification'

# Retrieval baselines choose among this many labels, including the true one.
NUM_CANDIDATES = 20


class AnnotatedTaskTeacher(DialogTeacher):
    """
    Shows annotated turns in the view of its subclass.

    A subclass sets ``classes``, implements :meth:`load_turns` and has a view.
    """

    view: str = DIALOGUE
    classes: Sequence[str] = ()
    # The views whose turns all have labels.
    labelled = ('AnnotatedTeacher', 'ClassificationTeacher')

    def __init__(self, opt: Opt, shared: Optional[dict] = None):
        # Whether the last turn shown awaits an answer and has no label.
        self._unlabelled = False
        self.turns: list[AnnotatedResponse] = (
            shared['turns'] if shared else self.load_turns(opt)
        )
        if not shared:
            self._warn_without_labels(opt)
        opt = copy.deepcopy(opt)
        opt['datafile'] = DatatypeHelper.fold(opt['datatype'])
        super().__init__(opt, shared)

    def load_turns(self, opt: Opt) -> list[AnnotatedResponse]:
        """
        Read the turns that an ``opt`` asks for; the turns of a conversation are
        consecutive.
        """
        raise NotImplementedError

    def _warn_without_labels(self, opt: Opt) -> None:
        training = DatatypeHelper.is_training(opt['datatype'])
        if training and self.view == DIALOGUE and not any(t.gold for t in self.turns):
            warn_once(
                f'No turn of {opt.get("task")} has a label, so a model cannot '
                f'learn from it. {" and ".join(self.labelled)} of the same task '
                'have labels.'
            )

    def share(self) -> dict:
        shared = super().share()
        shared['turns'] = self.turns
        return shared

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
            if self.view != CLASSIFICATION and 'labels' in message:
                message['label_candidates'] = candidates_near(labels, i)
            yield message, turn.episode != episode
            episode = turn.episode

    def message(self, turn: AnnotatedResponse) -> Message:
        """The message of a turn in this view."""
        fields = common_fields(turn)
        if self.view == CLASSIFICATION:
            fields['text'] = f'{turn.knowledge}\n{turn.response}'
            fields['labels'] = [turn.label]
            fields['label_candidates'] = list(self.classes)
        elif self.view == ANNOTATED:
            fields['labels'] = [turn.response]
        elif turn.gold:
            fields['labels'] = [turn.gold]
        return Message(fields)

    # To count a stream, ParlAI writes a file beside the data; a package is read-only.
    def num_examples(self) -> int:
        return len(self.turns) if self.stream else super().num_examples()

    def num_episodes(self) -> int:
        if not self.stream:
            return super().num_episodes()
        names = [turn.episode for turn in self.turns]
        return sum(a != b for a, b in zip([None, *names], names))


class DialogueView(Q2TeacherMixin):
    """The text is the person's message, the label is the reference reply."""

    view = DIALOGUE


class AnnotatedView(Q2TeacherMixin):
    """The text is the person's message, the label is the annotated response."""

    view = ANNOTATED


class ClassificationView:
    """
    The text is the knowledge and the response, the label is the annotators' class.
    """

    view = CLASSIFICATION


def common_fields(turn: AnnotatedResponse) -> dict[str, Any]:
    """The fields of a turn that all views share, without its label."""
    passage = [
        f'{turn.topic} {TOKEN_KNOWLEDGE} {sentence}'
        for sentence in turn.passage or (turn.knowledge,)
    ]
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


def candidates_near(labels: Sequence[str], index: int) -> list[str]:
    """
    The labels of a turn and of the turns after it, in alphabetical order.

    :param labels: one label for each turn, empty where there is none. After the last
        turn comes the first.
    :param index: index of the turn.
    :return: at most :data:`NUM_CANDIDATES` distinct labels.
    """
    found: dict[str, None] = {}
    for place in range(index, index + len(labels)):
        label = labels[place % len(labels)]
        if label:
            found.setdefault(label)
        if len(found) == NUM_CANDIDATES:
            break
    return sorted(found)


def warn_of_training(opt: Opt, task: str) -> None:
    """Warn once that a task has no training turns of its own."""
    if DatatypeHelper.is_training(opt['datatype']):
        warn_once(
            f'{task} is for evaluation: train, valid and test are the same turns.'
        )
