"""A table of choosing among several responses to one turn."""

from parlai_q2.evaluate.evaluation import Evaluation
from parlai_q2.evaluate.pools import HALLUCINATION, Choices, choices, pools_of
from parlai_q2.evaluate.tables import Cell, Column, Rows, Table

ALL = 'all'
SIZES = (2, 4, 8, 16)
RANDOM, ORACLE = 'random', 'best possible'


def choices_table(evaluation: Evaluation) -> Table | None:
    """
    The share of wrong choices by corpus and scorer, over all responses of each pool;
    and among 2, 4, 8 and 16 of them, over all corpora.
    """
    pools = pools_of(evaluation.annotated.responses)
    corpora = sorted({pool.corpus for pool in pools if pool.corpus})
    parts: dict[tuple[str, str], tuple[list, int | None]] = {}
    if len(corpora) > 1:
        for corpus in corpora:
            members = [pool for pool in pools if pool.corpus == corpus]
            parts[corpus, ALL] = members, None
    name = corpora[0] if len(corpora) == 1 else ALL
    parts[name, ALL] = pools, None
    parts.update({(name, str(n)): (pools, n) for n in SIZES})
    rows = Rows('corpus', 'of', 'chooser')
    for (corpus, size), (members, n) in parts.items():
        first = True
        for measure in evaluation.measures:
            result = choices(measure, members, n, evaluation.rounds, evaluation.seed)
            if result is None:
                continue
            if first:
                for chooser, rate in ((RANDOM, result.random), (ORACLE, result.oracle)):
                    counted: dict[str, Cell] = {}
                    if chooser == RANDOM:
                        counted = {'pools': result.pools, 'mixed': result.mixed}
                    rows.ours(corpus, size, chooser, wrong=rate, **counted)
                first = False
            rows.ours(corpus, size, measure.name, **_cells(result))
    made_up = any(HALLUCINATION in r.more for r in evaluation.annotated.responses)
    return rows.table(
        evaluation,
        'choices',
        'Choosing among responses to one turn',
        [
            Column('pools', 'pools'),
            Column('mixed', 'mixed'),
            Column('wrong', 'wrong'),
            Column('change', 'minus random'),
            Column('avoided', 'avoided'),
        ],
        notes=[
            'Wrong: the share of pools where the response with the highest score '
            + (
                'is one that most annotators say makes something up; only verifiable '
                'responses.'
                if made_up
                else 'is inconsistent; chit-chat is not wrong.'
            )
            + ' Of: among how many responses, each subset of a pool equally likely; '
            'pools with fewer are left out. Mixed: pools with wrong responses and '
            'others.',
            'Avoided: of what a random choice gets wrong and the best possible one '
            'would not, the share that the score avoids.',
            'Brackets: 95 % bootstrap interval; passages of knowledge are drawn, each '
            'with all its pools.',
            *evaluation.notes_on_fit(),
        ],
    )


def _cells(result: Choices) -> dict[str, Cell]:
    return {'wrong': result.chosen, 'change': result.change, 'avoided': result.avoided}
