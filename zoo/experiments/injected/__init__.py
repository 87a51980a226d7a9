"""
An experiment: does filtering training data make a generator make up less?

    python -m parlai_q2.zoo.experiments.injected --data reply.jsonl.xz --outdir out

Made-up names and numbers are injected into a known part of a training set. One
generator is then trained on the whole set, on what a scorer keeps of it, with control
tokens, and on the part that was left alone. docs/experiment_filtering.md describes the
design and the results.
"""
