"""
parlai_q2 scores how well a response is supported by its knowledge, and reranks a
chatbot's candidate replies by that score.

    >>> from parlai_q2 import Example, load_scorer
    >>> scorer = load_scorer('precision')
    >>> example = Example(knowledge='It opened in 1969.', response='in 1969')
    >>> scorer.score([example])[0].label
    'consistent'
"""

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from parlai_q2.version import __version__

if TYPE_CHECKING:
    from parlai_q2.claims import (
        Claim,
        Comparison,
        Evidence,
        Label,
        Mistake,
        MistakeKind,
        Score,
        Stance,
        Status,
    )
    from parlai_q2.errors import (
        ConfigError,
        DocumentError,
        InputError,
        MissingPackageError,
        ModelError,
        ModelNotFoundError,
        Q2Error,
        RecordError,
        ServerError,
        TaskDataError,
        UnknownNameError,
        WorkerError,
    )
    from parlai_q2.presets import load_preset
    from parlai_q2.rerank import Candidate, Pool, Ranking, Reason, Reranker, Rule
    from parlai_q2.scorers import Scorer, load_scorer, release_models, scorer_names
    from parlai_q2.signature import Signature
    from parlai_q2.turns import Example, Passage, Source, Span, Turn

# In a checkout, the folders agents, tasks and zoo are beside this one, not in it.
_CHECKOUT = Path(__file__).resolve().parent.parent
if (_CHECKOUT / 'setup.py').is_file():
    __path__.append(str(_CHECKOUT))

# Maps each public name to its module. Modules are imported on first use, to keep
# "import parlai_q2" fast.
_PUBLIC = {
    'Candidate': 'rerank',
    'Claim': 'claims',
    'Comparison': 'claims',
    'ConfigError': 'errors',
    'DocumentError': 'errors',
    'Evidence': 'claims',
    'Example': 'turns',
    'InputError': 'errors',
    'Label': 'claims',
    'Mistake': 'claims',
    'MistakeKind': 'claims',
    'MissingPackageError': 'errors',
    'ModelError': 'errors',
    'ModelNotFoundError': 'errors',
    'Passage': 'turns',
    'Pool': 'rerank',
    'Q2Error': 'errors',
    'Ranking': 'rerank',
    'Reason': 'rerank',
    'RecordError': 'errors',
    'Reranker': 'rerank',
    'Rule': 'rerank',
    'Score': 'claims',
    'Scorer': 'scorers',
    'ServerError': 'errors',
    'Signature': 'signature',
    'Source': 'turns',
    'Span': 'turns',
    'Stance': 'claims',
    'Status': 'claims',
    'TaskDataError': 'errors',
    'Turn': 'turns',
    'UnknownNameError': 'errors',
    'WorkerError': 'errors',
    'load_preset': 'presets',
    'load_scorer': 'scorers',
    'release_models': 'scorers',
    'scorer_names': 'scorers',
}

__all__ = [
    'Candidate',
    'Claim',
    'Comparison',
    'ConfigError',
    'DocumentError',
    'Evidence',
    'Example',
    'InputError',
    'Label',
    'MissingPackageError',
    'Mistake',
    'MistakeKind',
    'ModelError',
    'ModelNotFoundError',
    'Passage',
    'Pool',
    'Q2Error',
    'Ranking',
    'Reason',
    'RecordError',
    'Reranker',
    'Rule',
    'Score',
    'Scorer',
    'ServerError',
    'Signature',
    'Source',
    'Span',
    'Stance',
    'Status',
    'TaskDataError',
    'Turn',
    'UnknownNameError',
    'WorkerError',
    '__version__',
    'load_preset',
    'load_scorer',
    'release_models',
    'scorer_names',
]


def __getattr__(name: str) -> Any:
    if name in _PUBLIC:
        return getattr(import_module(f'parlai_q2.{_PUBLIC[name]}'), name)
    raise AttributeError(f'module {__name__!r} has no attribute {name!r}')


def __dir__() -> list[str]:
    return sorted(__all__)
