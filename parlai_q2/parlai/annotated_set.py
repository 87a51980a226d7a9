"""
Teachers for annotated sets in which several systems answered the same context.

They have the three views of :mod:`parlai_q2.parlai.annotated_task`, with these
differences:

- the dialogue view shows each context once, and omits the fields that belong to the
  annotated response, since the model that replies is another one;
- the classification view can ask for the labels as they were published, where they
  differ from ours: ``--published-labels true``;
- knowledge without a title is shown without Wizard of Wikipedia's marker.
"""

from typing import Mapping, Optional, Sequence

from parlai.core.message import Message
from parlai.core.opt import Opt
from parlai.core.params import ParlaiParser

from parlai_q2.evaluate.sets import AnnotatedResponse, narrowed, spelt_out
from parlai_q2.parlai.annotated_task import (
    CLASSIFICATION,
    DIALOGUE,
    AnnotatedTaskTeacher,
)
from parlai_q2.parlai.task_strings import task_arguments

# Fields that every dialogue view omits.
OF_THE_RESPONSE = ('response', 'q2_label')


class AnnotatedSetTeacher(AnnotatedTaskTeacher):
    """
    Shows an annotated set in the view of its subclass.

    A subclass sets ``classes`` and the attributes below, implements :meth:`read_turns`
    and has a view.
    """

    # Words that select a part of the set, before those of the task string.
    words: tuple[str, ...] = ()
    # What words can select, e.g. a corpus, and the words for it.
    groups: Mapping[str, Sequence[str]] = {}
    # Further words, in lower case, and the words of the groups that they stand for.
    aliases: Mapping[str, Sequence[str]] = {}
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
        if cls.view == CLASSIFICATION and cls.published_field:
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

    def read_turns(self, opt: Opt, words: Sequence[str]) -> list[AnnotatedResponse]:
        """Read the turns that the words of a task string select."""
        raise NotImplementedError

    def load_turns(self, opt: Opt) -> list[AnnotatedResponse]:
        words = spelt_out(task_arguments(opt.get('task', '')), self.aliases)
        words = narrowed(type(self).__name__, self.words, words, self.groups)
        turns = self.read_turns(opt, words)
        return distinct_contexts(turns) if self.view == DIALOGUE else turns

    def message(self, turn: AnnotatedResponse) -> Message:
        message = super().message(turn)
        if not turn.topic:
            message.force_set('knowledge', '\n'.join(turn.passage or (turn.knowledge,)))
        if self.view == DIALOGUE:
            for name in (*OF_THE_RESPONSE, *turn.more):
                if name not in self.context_fields:
                    message.pop(name, None)
        elif self.view == CLASSIFICATION and self._as_published:
            message.force_set('labels', [turn.more[self.published_field]])
            message.force_set('label_candidates', list(self.published_classes))
        return message


def distinct_contexts(turns: Sequence[AnnotatedResponse]) -> list[AnnotatedResponse]:
    """
    One turn for each context, in order of the contexts' first occurrence.

    :param turns: the turns; those of one context have the same text, topic and
        knowledge.
    :return: for each context, the first turn that has a human reply, else the first.
    """
    found: dict[tuple[str, str, str], AnnotatedResponse] = {}
    for turn in turns:
        context = (turn.text, turn.topic, turn.knowledge)
        kept = found.get(context)
        if kept is None or (turn.gold and not kept.gold):
            found[context] = turn
    return list(found.values())
