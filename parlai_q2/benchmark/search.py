"""
Times the ways to search for questions, on the same prompts in one run: our own search,
the model's ``generate`` and, where it is installed, CTranslate2.
"""

from collections.abc import Sequence
from functools import partial
from importlib.util import find_spec
from typing import Any

from parlai_q2.benchmark.clock import timed
from parlai_q2.models.device import is_cpu
from parlai_q2.models.question_generation import AUTO, CTRANSLATE2, GENERATE
from parlai_q2.q2.ask import context_of
from parlai_q2.scorers.q2 import Q2Scorer


def measure_search(scorer: Q2Scorer, responses: Sequence[str]) -> dict[str, Any]:
    """
    Time the searches.

    :param scorer: Q2, with a question generator that offers these searches.
    :param responses: B texts.
    :return: each search's seconds a span, the number of spans, for how many spans
        ``generate`` found other questions than our search, and for how many CTranslate2
        found another first question.
    """
    words = scorer.q2_settings.max_context_words
    spans = scorer.models.find_spans(responses)
    prompts = [
        (span.text, context_of(response, span, words))
        for response, of_response in zip(responses, spans, strict=True)
        for span in of_response
    ]
    prompts = list(dict.fromkeys(prompts))
    generator: Any = scorer.models.generator
    searches = [AUTO, GENERATE]
    if find_spec('ctranslate2') and is_cpu(generator.device):
        searches.append(CTRANSLATE2)
    found: dict[str, Any] = {'spans': len(prompts)}
    questions = {}
    for name in searches:
        search = generator.with_search(name)
        search.generate(prompts[:2])
        seconds, questions[name] = timed(partial(search.generate, prompts))
        found[name] = seconds / max(1, len(prompts))
    beside = zip(questions[AUTO], questions[GENERATE], strict=True)
    found['differ'] = sum(a != b for a, b in beside)
    if CTRANSLATE2 in questions:
        beside = zip(questions[AUTO], questions[CTRANSLATE2], strict=True)
        found['differ_in_first'] = sum(a[0] != b[0] for a, b in beside)
    return found
