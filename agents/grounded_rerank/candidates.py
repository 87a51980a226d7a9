"""
Collects the candidates that the searches found, and merges duplicates.
"""

import math
from dataclasses import dataclass, replace
from typing import Any, Callable, Sequence

# What ParlAI's searches return: tokens, score, details of each token (or None).
Hypothesis = tuple[Any, Any, Any]


@dataclass(frozen=True)
class Candidate:
    """
    One reply the generator could give.

    :param text: the reply's text.
    :param strategies: the searches that found it, in the order they ran.
    :param generator_score: its score in the search that found it first: the log
        probability divided by ParlAI's length penalty. A nucleus search takes
        probabilities within its nucleus, so its scores are a little higher than a
        beam's.
    :param mean_logprob: the same log probability divided by the number of tokens.
    :param hypothesis: the search's own record of it; None for a candidate that was
        given rather than searched for.
    """

    text: str
    strategies: tuple[str, ...] = ()
    generator_score: float = 0.0
    mean_logprob: float = 0.0
    hypothesis: Any = None


def collect(
    hypotheses: Sequence[Hypothesis],
    strategy: str,
    number: int,
    to_text: Callable[[Any], str],
    length_penalty: float,
) -> list[Candidate]:
    """
    The candidates of one search for one example.

    :param hypotheses: the search's finished hypotheses, best first.
    :param strategy: the search's name.
    :param number: how many candidates were asked for; a beam often finishes more.
    :param to_text: turns tokens into text.
    :param length_penalty: ParlAI's ``--beam-length-penalty``.
    :return: at most ``number`` candidates. Tokens that cannot be turned into text are
        left out.
    """
    found: list[Candidate] = []
    for hypothesis in hypotheses:
        if len(found) == number:
            break
        tokens, score, _ = hypothesis
        try:
            text = to_text(tokens)
        except KeyError:
            # The dictionary does not know one of the tokens; ParlAI skips these as
            # well.
            continue
        mean = mean_logprob(float(score), len(tokens), length_penalty)
        found.append(Candidate(text, (strategy,), float(score), mean, hypothesis))
    return found


def mean_logprob(score: float, length: int, length_penalty: float) -> float:
    """
    The mean log probability of a token, computed from a score with ParlAI's length
    penalty.

    :param score: log probability over ((1 + length) / 6) ** length_penalty
        (``TreeSearch.get_rescored_finished``; Wu et al. 2016, section 7).
    :param length: the number of tokens, including the start token, which costs nothing.
    :param length_penalty: the exponent.
    """
    return score * math.pow((1 + length) / 6, length_penalty) / max(length - 1, 1)


def squeeze(text: str) -> str:
    """
    The text with white space collapsed, by which candidates are compared.
    """
    return ' '.join(text.split())


def merge(candidates: Sequence[Candidate]) -> list[Candidate]:
    """
    One candidate for each text, in order of first appearance, with all searches that
    found it.

    :param candidates: one example's candidates of all strategies, in the generator's
        order: by strategy, and within a strategy in the search's order.
    """
    merged: dict[str, Candidate] = {}
    for candidate in candidates:
        key = squeeze(candidate.text)
        before = merged.setdefault(key, candidate)
        if before is not candidate:
            more = [s for s in candidate.strategies if s not in before.strategies]
            merged[key] = replace(before, strategies=(*before.strategies, *more))
    return list(merged.values())
