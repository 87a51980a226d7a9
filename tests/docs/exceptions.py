"""The documented commands that are not run, each with the reason."""

import re

# Matched from a command's beginning to its end.
EXCEPTIONS = {
    r'git clone .*': 'needs a repository; what follows it is run in this one',
    r'make (demo|test|coverage|bench|lint|docs|venv)\b.*': 'builds an environment, and '
    'runs these tests',
    r'parlai train_model -o agents/hf_classifier/training/.*': 'trains for hours on '
    'FEVER; tests/agents/test_hf_classifier.py runs it on a small model',
    r'.* out/conv_fever(\.hf)?\b.*': 'is for the model whose training takes hours; '
    'tests/agents/test_hf_classifier.py does the same to a small one',
    r'pip install .*': 'changes the environment; installing is tested in '
    'tests/packaging',
    r'python -m parlai_q2\.zoo\.train\.\S+ .*': 'trains for hours on data that is '
    'not part of the project',
    r'python -m parlai_q2\.models\.converted\.convert .*': 'converts a model of your '
    'own; tests/models/converted converts tiny ones',
    r'python -m parlai_q2\.tasks\.begin\.begin_adversarial .*': 'needs WordNet, a '
    'download; tests/tasks/test_begin_adversarial.py runs it on a small one',
    r'parlai_q2 score .* --engine ray\b.*': 'starts a cluster; tests/scale/test_ray.py '
    'runs it on one',
    r'(parlai_q2 serve|UPSTREAM=\S+ serve|uvicorn|curl .*8080) ?.*': 'serves '
    'until it is stopped, or asks it; tests/serve runs what its pages show',
    r'parlai_q2 bench --parts scale .*': 'takes minutes to hours; '
    'tests/bench/test_scale.py parses it and runs a small one',
    r'parlai_q2 bench --parts candidates\b.*': 'takes half an hour; '
    'tests/bench/test_candidates.py runs a small one',
}


def reason_not_to_run(command: str) -> str | None:
    """Why a command is not run; None if it is."""
    for pattern, reason in EXCEPTIONS.items():
        if re.fullmatch(pattern, command, re.DOTALL):
            return reason
    return None
