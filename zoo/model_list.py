"""
The models that ship, in the form of ParlAI's own model list (parlai/zoo/model_list.py).

ParlAI reads only its own list; this one serves our documentation and anything that
wants to know what there is. ``path`` is a model reference, as every ``--hf-model``
option and every preset takes it.
"""

MINI = 'shipped:q2_mini'

model_list = [
    {
        'title': 'Q2 mini: question generation',
        'id': 'q2_mini',
        'path': f'{MINI}/question_generation',
        'agent': 'parlai_q2.agents.hf_seq2seq.hf_seq2seq:HfSeq2seqAgent',
        'task': 'parlai_q2.tasks.grounded_sample.agents',
        'description': (
            'A flan-t5-small (77M) that asks for a span of a response: '
            '"answer: <span>  context: <response>" in, a question out.'
        ),
        'example': 'parlai_q2 score --infile pairs.jsonl --outfile scores.jsonl '
        '--scorer q2',
        'result': 'See zoo/q2_mini/README.md for the measured quality of the '
        'whole metric.',
    },
    {
        'title': 'Q2 mini: question answering',
        'id': 'q2_mini',
        'path': f'{MINI}/question_answering',
        'agent': None,
        'task': None,
        'description': (
            'A gte-small (33M) trained for extractive question answering with '
            '"no answer", on short, lower-cased sentences.'
        ),
        'example': 'parlai_q2 score --infile pairs.jsonl --outfile scores.jsonl '
        '--scorer q2',
        'result': 'See zoo/q2_mini/README.md.',
    },
    {
        'title': 'Q2 mini: consistency',
        'id': 'q2_mini',
        'path': f'{MINI}/consistency',
        'agent': 'parlai_q2.agents.consistency.consistency:ConsistencyAgent',
        'task': 'parlai_q2.tasks.grounded_sample.agents:ClassificationTeacher',
        'description': (
            'A gte-small (33M) with four classes: entailed, unsupported, contradicted, '
            'generic. Serves as the NLI model of Q2 and as the detector.'
        ),
        'example': (
            'parlai eval_model -m '
            'parlai_q2.agents.consistency.consistency:ConsistencyAgent -t '
            'parlai_q2.tasks.grounded_sample.agents:ClassificationTeacher'
        ),
        'result': 'See docs/agents/consistency.md and zoo/q2_mini/README.md.',
    },
    {
        'title': 'Q2 mini: grounded replies',
        'id': 'q2_mini',
        'path': f'{MINI}/reply',
        'agent': 'parlai_q2.agents.hf_seq2seq.hf_seq2seq:HfSeq2seqAgent',
        'task': 'parlai_q2.tasks.grounded_sample.agents',
        'description': (
            'A rank-32 adapter on the question-generation weights that replies to a '
            'turn with a knowledge sentence.'
        ),
        'example': (
            'parlai interactive -m '
            'parlai_q2.agents.hf_seq2seq.hf_seq2seq:HfSeq2seqAgent'
        ),
        'result': 'See zoo/q2_mini/README.md.',
    },
]
