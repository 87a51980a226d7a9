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
from tests.files import read_lines


def logged(path):
    """The pairs of messages in a log."""
    conversations = read_lines(path.with_suffix('.jsonl'))
    return [turn for conversation in conversations for turn in conversation['dialog']]


def test_eval_model_reports_the_metrics_and_logs_the_evidence(tmp_path):
    report = dict_report(
        EvalModel.main(
            model=AGENT,
            model_file=trained_generator(),
            task=TASK,
            choose=TOY,
            rerank_by='score',
            datatype='valid',
            world_logs=str(tmp_path / 'one'),
        )
    )
    replies = [reply for _, reply in logged(tmp_path / 'one')]
    assert report['exs'] == len(replies) == 10
    # Three of the ten turns have no knowledge.
    assert report['rerank/unverifiable'] == pytest.approx(0.3)
    scored = [r['rerank'] for r in replies if r['rerank_knowledge']]
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


def test_a_chat_answers_commands_and_logs_the_evidence(monkeypatch, capsys, tmp_path):
    typed = iter(['/knowledge 4 3 2', '1 2 3 4', '/why', '[EXIT]'])
    monkeypatch.setattr(builtins, 'input', lambda *_: next(typed))
    log = tmp_path / 'chat'
    Interactive.main(
        model=AGENT,
        model_file=trained_generator(),
        choose='overlap',
        skip_generation=False,
        outfile=str(log),
    )
    printed = capsys.readouterr().out
    assert '[GroundedRerank]: Replies will stick to this: 4 3 2' in printed
    assert 'Chosen for: best ' in printed
    replies = [reply for _, reply in logged(log)]
    assert replies[1]['rerank_knowledge'] == '4 3 2'
    # Who reads the log tells by it that a command is no turn.
    commands = [reply.get('rerank_command') for reply in replies]
    assert commands == ['knowledge', None, 'why']


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
    (conversation,) = read_lines(log.with_suffix('.jsonl'))
    messages = [message for turn in conversation['dialog'] for message in turn]
    assert sum(bool(message.get('rerank')) for message in messages) >= 2
