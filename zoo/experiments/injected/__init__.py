"""
An experiment: does filtering training data make a generator make up less?

    python -m parlai_q2.zoo.experiments.injected --data reply.jsonl.xz --outdir out

A known part of a training set is given made-up names and numbers; one generator is
trained on all of it, on what a scorer keeps of it, with control tokens, and on the part
that was left alone. docs/experiment_filtering.md has the design and what came out.
"""
