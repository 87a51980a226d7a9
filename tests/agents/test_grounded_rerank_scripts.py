"""ParlAI's own commands with the reranking agent."""

import builtins
import json

import pytest
from parlai.core.metrics import dict_report
from parlai.core.script import superscript_main
from parlai.scripts.eval_model import EvalModel
from parlai.scripts.interactive import Interactive
from parlai.scripts.self_chat import SelfChat
from parlai.scripts.train_model import TrainModel

from tests.agents.rerank_toys import AGENT, TASK, TOY, trained_generator


def evaluate(**options):
    defaults = {
        'model': AGENT,
        'model_file': trained_generator(),
        'task': TASK,
        'choose': TOY,
        'datatype': 'valid',
    }
    return dict_report(EvalModel.main(**{**defaults, **options}))


def logged(path):
    lines = path.with_suffix('.jsonl').read_text(encoding='utf-8').splitlines()
    turns = [turn for line in lines for turn in json.loads(line)['dialog']]
    return {message['text']: reply for message, reply in turns}


def test_eval_model_reports_the_metrics_and_logs_the_evidence(tmp_path):
    report = evaluate(world_logs=str(tmp_path / 'one'), rerank_by='score')
    replies = logged(tmp_path / 'one')
    assert report['exs'] == len(replies) == 10
    # Three of the ten turns have no knowledge.
    assert report['rerank/unverifiable'] == pytest.approx(0.3)
    scored = [r['rerank'] for r in replies.values() if r['rerank_knowledge']]
    assert len(scored) == 7
    chosen = [rows[0]['score'] for rows in scored]
    first = [row['score'] for rows in scored for row in rows if row['first']]
    assert report['rerank/chosen'] == pytest.approx(sum(chosen) / 7)
    assert report['rerank/first'] == pytest.approx(sum(first) / 7)
    assert report['rerank/gain'] == pytest.approx((sum(chosen) - sum(first)) / 7)
    assert report['rerank/oracle'] == pytest.approx(report['rerank/chosen'])
    assert report['rerank/scorer_ms'] > 0
    assert report['ppl'] > 1
    assert 'gen_n_toks' in report


def test_a_trained_agent_reloads_with_its_model_file_alone(tmp_path):
    model_file = str(tmp_path / 'model')
    TrainModel.main(
        model=AGENT,
        generator='transformer/generator',
        model_file=model_file,
        task=TASK,
        choose='overlap',
        candidate_strategies='beam:2,nucleus:2',
        guards=False,
        n_positions=64,
        n_layers=1,
        n_heads=1,
        embedding_size=16,
        ffn_size=16,
        dict_tokenizer='space',
        label_truncate=8,
        lr_scheduler='fixed',
        num_epochs=1,
        batchsize=4,
        skip_generation=True,
    )
    with open(f'{model_file}.opt') as f:
        saved = json.load(f)
    assert (saved['model'], saved['generator']) == (AGENT, 'transformer/generator')
    arguments = ['eval_model', '-mf', model_file, '-t', TASK, '-bs', '3']
    report = superscript_main([*arguments, '--skip-generation', 'false'])
    assert 0 < dict_report(report)['rerank/distinct'] <= 4


def chat(monkeypatch, capsys, lines, **options):
    """What a chat prints after each line that is typed."""
    typed = iter(lines)
    printed = []

    def read(prompt=''):
        printed.append(capsys.readouterr().out)
        line = next(typed, None)
        if line is None:
            raise EOFError
        return line

    monkeypatch.setattr(builtins, 'input', read)
    Interactive.main(
        model=AGENT,
        model_file=trained_generator(),
        choose='overlap',
        skip_generation=False,
        **options,
    )
    return printed[1:]


def test_a_chat_with_commands(monkeypatch, capsys):
    lines = [
        '/why',
        '1 2 3 4',
        '/knowledge 4 3 2',
        '1 2 3 4',
        '/why',
        '/candidates',
        '/help',
        '/nonsense',
    ]
    output = chat(monkeypatch, capsys, lines)
    assert '[GroundedRerank]: Nothing has been said yet.' in output[0]
    assert '1 2 3 4' in output[1]
    assert 'Replies will stick to this: 4 3 2' in output[2]
    assert '[GroundedRerank]' in output[3]
    assert 'Chosen for: best ' in output[4]
    assert '4 3 2' in output[4]
    assert 'CHOSEN' in output[5]
    assert 'beam' in output[5]
    assert '/candidates' in output[6]
    assert 'Type /help.' in output[7]


def test_a_chat_log_has_the_evidence(monkeypatch, capsys, tmp_path):
    log = tmp_path / 'chat'
    chat(monkeypatch, capsys, ['/knowledge 1', '1 2', '[EXIT]'], outfile=str(log))
    (line,) = log.with_suffix('.jsonl').read_text(encoding='utf-8').splitlines()
    replies = [turn[1] for turn in json.loads(line)['dialog']]
    assert replies[-1]['rerank_knowledge'] == '1'
    # Who reads the log tells by it that a command is no turn.
    assert [r.get('rerank_command') for r in replies] == ['knowledge', None]


def test_self_chat(tmp_path):
    knowledge = tmp_path / 'k.txt'
    knowledge.write_text('1 2 3', encoding='utf-8')
    log = tmp_path / 'chat'
    SelfChat.main(
        model=AGENT,
        model_file=trained_generator(),
        choose='overlap',
        knowledge_file=str(knowledge),
        skip_generation=False,
        selfchat_max_turns=3,
        display_examples=False,
        outfile=str(log),
    )
    (line,) = log.with_suffix('.jsonl').read_text(encoding='utf-8').splitlines()
    turns = [message for turn in json.loads(line)['dialog'] for message in turn]
    assert sum(bool(message.get('rerank')) for message in turns) >= 2
