"""
The tasks, in the format of ParlAI's own list (``parlai/tasks/task_list.py``).

``task`` is the name that ``-t`` takes; it works wherever parlai_q2 is installed.
"""

from typing import Any

task_list: list[dict[str, Any]] = [
    {
        'id': 'Grounded-Sample',
        'display_name': 'Grounded Sample',
        'task': 'parlai_q2.tasks.grounded_sample.agents',
        'tags': ['ChitChat', 'Knowledge', 'Groundedness'],
        'description': (
            '32 short conversations about honeybees, the Moon, chess and more, each '
            'turn with its knowledge, a faithful reply, and an annotated response that '
            'is consistent with the knowledge, inconsistent with it, or generic. It '
            'ships with parlai_q2: no download.'
        ),
        'notes': (
            'AnnotatedTeacher has the annotated responses as labels, so that '
            "'-m repeat_label' replays them. ConsistentTeacher, InconsistentTeacher "
            'and GenericTeacher have one class each; ClassificationTeacher asks for '
            'the class.'
        ),
    },
    {
        'id': 'Q2-WoW',
        'display_name': 'Annotated Wizard of Wikipedia responses of the Q2 paper',
        'task': 'parlai_q2.tasks.q2_wow.agents',
        'tags': ['ChitChat', 'Knowledge', 'Groundedness'],
        'description': (
            'Responses of two systems, Dodeca and MemNet, to Wizard of Wikipedia '
            'contexts, annotated for factual consistency with their knowledge: 150 of '
            'each system and class, and 544 contexts annotated for both.'
        ),
        'links': {
            'arXiv': 'https://arxiv.org/abs/2104.08202',
            'github': 'https://github.com/orhonovich/q-squared',
        },
        'notes': (
            'The last part of the task name chooses, e.g. '
            "'parlai_q2.tasks.q2_wow.agents:AnnotatedTeacher:dodeca_inconsistent'."
        ),
    },
    {
        'id': 'Conv-FEVER',
        'display_name': 'Conv-FEVER, built from Wizard of Wikipedia',
        'task': 'parlai_q2.tasks.conv_fever.agents',
        'tags': ['ChitChat', 'Knowledge', 'Groundedness', 'Entailment'],
        'description': (
            "A corpus for training detectors: wizards' replies with the "
            'sentences they rest on, and the same replies made inconsistent by '
            'random pairing, negation and entity swap. It is built by the '
            "paper's recipe from Wizard of Wikipedia, which ParlAI downloads."
        ),
        'links': {'arXiv': 'https://arxiv.org/abs/2110.05456'},
        'notes': (
            'NegationTeacher and its like have one perturbation each. With '
            "'--conv-fever-context true' the conversation is shown too, and "
            'examples whose context was perturbed are included.'
        ),
    },
    {
        'id': 'Q2-Wizard-of-Wikipedia',
        'display_name': 'Wizard of Wikipedia with Q2',
        'task': 'parlai_q2.tasks.wizard_of_wikipedia.agents',
        'tags': ['ChitChat', 'Knowledge', 'Groundedness'],
        'description': (
            "ParlAI's own knowledge teachers of Wizard of Wikipedia, with each "
            'response scored against the knowledge of its turn.'
        ),
        'links': {'arXiv': 'https://arxiv.org/abs/1811.01241'},
    },
    {
        'id': 'Grounded-File',
        'display_name': 'Conversations with knowledge, from a file',
        'task': 'parlai_q2.tasks.grounded_file.agents',
        'tags': ['ChitChat', 'Knowledge', 'Groundedness'],
        'description': (
            'Reads what parlai_q2 filter and parlai_q2 distill write, with the '
            'knowledge of each turn where models look for it.'
        ),
        'notes': 'Give the file with --jsonfile-datapath.',
    },
    {
        'id': 'BEGIN',
        'display_name': 'BEGIN: responses annotated for attribution',
        'task': 'parlai_q2.tasks.begin.agents',
        'tags': ['ChitChat', 'Knowledge', 'Groundedness'],
        'description': (
            'Responses of four systems to Wizard of Wikipedia, CMU-DoG and '
            'Topical-Chat, annotated as fully attributable to their knowledge, not '
            'fully attributable, or generic; and the earlier release with five labels.'
        ),
        'links': {
            'arXiv': 'https://arxiv.org/abs/2105.00071',
            'github': 'https://github.com/google/BEGIN-dataset',
        },
        'notes': (
            'valid is the dev set and test the test set; there is no training set. '
            'The last part of the task name chooses, e.g. '
            "'parlai_q2.tasks.begin.agents:AnnotatedTeacher:wow:generic'. V1Teacher is "
            'the earlier release.'
        ),
    },
    {
        'id': 'Rome',
        'display_name': 'Rome was built in 1776: factual correctness',
        'task': 'parlai_q2.tasks.rome.agents',
        'tags': ['ChitChat', 'Knowledge', 'Groundedness'],
        'description': (
            'Responses of GPT-2 models to Wizard of Wikipedia contexts, with true or '
            'retrieved knowledge, judged by people: verifiable or not, how factual, '
            'and whether something is made up.'
        ),
        'links': {
            'arXiv': 'https://arxiv.org/abs/2110.05456',
            'github': (
                'https://github.com/alexa/factual-consistency-analysis-of-dialogs'
            ),
        },
        'notes': (
            "'python -m parlai_q2.tasks.rome.pools' writes the responses to the same "
            'contexts as pools for parlai_q2 rerank.'
        ),
    },
    {
        'id': 'Q2-Dialogue-NLI',
        'display_name': 'Dialogue NLI with Q2',
        'task': 'parlai_q2.tasks.dialogue_nli.agents',
        'tags': ['NLI', 'Persona', 'Groundedness'],
        'description': (
            'Pairs of an utterance and a persona sentence or another utterance, which '
            'agree, contradict each other or neither; and the verified test set. Q2 '
            'is set up as its paper does for personas.'
        ),
        'links': {
            'arXiv': 'https://arxiv.org/abs/1811.00671',
            'website': 'https://wellecks.com/dialogue_nli/',
        },
    },
    {
        'id': 'Topical-Chat-USR',
        'display_name': 'Ratings of Topical-Chat responses (USR)',
        'task': 'parlai_q2.tasks.topical_chat_usr.agents',
        'tags': ['ChitChat', 'Knowledge', 'Groundedness'],
        'description': (
            'Responses of four decodings and two people to 60 Topical-Chat contexts, '
            'rated by three annotators for their use of the knowledge and five other '
            'qualities.'
        ),
        'links': {
            'arXiv': 'https://arxiv.org/abs/2005.00456',
            'github': 'https://github.com/Shikib/usr',
        },
        'notes': 'human_score is the mean rating of the use of the knowledge.',
    },
    {
        'id': 'Pairs',
        'display_name': 'Labelled pairs of knowledge and response, from a file',
        'task': 'parlai_q2.tasks.pairs.agents',
        'tags': ['Classification', 'Groundedness'],
        'description': (
            'JSON lines, csv or tsv with knowledge, response and label, or with '
            'evidence, claim and label as FEVER and VitaminC have them.'
        ),
        'notes': (
            'Give the file with --pairs-file; {fold} in its name stands for train, '
            'valid or test. --pairs-labels gives its labels other names.'
        ),
    },
]
