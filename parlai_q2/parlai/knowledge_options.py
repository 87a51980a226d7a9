"""The options for knowledge that messages do not bring in their fields."""

from collections.abc import Mapping
from typing import Any

from parlai_q2.io.turn_knowledge import KnowledgeSource


def add_knowledge_options(group: Any) -> None:
    """Add ``--knowledge-delimiter`` and ``--knowledge-file``."""
    group.add_argument(
        '--knowledge-delimiter',
        type=str,
        default=None,
        help='separator between a knowledge passage and the message in a text, e.g. '
        '"\\n"; the passage applies until its episode brings another or ends',
    )
    group.add_argument(
        '--knowledge-file',
        type=str,
        default=None,
        help='a text file: the knowledge for turns that bring none',
    )


def source_from_opt(opt: Mapping[str, Any]) -> KnowledgeSource:
    """
    Where the options say that knowledge comes from.

    :raises ConfigError: when the file cannot be read or is empty.
    """
    return KnowledgeSource(opt.get('knowledge_delimiter'), opt.get('knowledge_file'))
