"""What the commands say of their engine's options, and of what it lost."""

import pytest

from parlai_q2.cli.commands import run_command
from parlai_q2.errors import ConfigError, MissingPackageError
from parlai_q2.filtering.judge import Policy, decide_batches, group_episodes
from parlai_q2.filtering.label_scoring import LabelJob, score_batches
from parlai_q2.runs.file_run import LocalEngine
from parlai_q2.runs.score_job import ScoreJob
from tests.files import read_lines
from tests.runs.toys import K, ToyScorer, maker, write_records
from tests.scoring import score_file

ROLE = {'score': '--measure', 'rerank': '--choose'}


@pytest.mark.parametrize(
    'option, message',
    [
        (['--ray-actors', '2'], '--ray-actors has no effect without --engine ray'),
        (['--ray-cpus', '2'], '--ray-cpus has no effect'),
        (['--engine', 'ray', '--ray-actors', '0'], 'must be at least 1'),
        (['--engine', 'ray', '--ray-cpus', '0'], 'not both 0'),
        (['--engine', 'ray', '--ray-address', 'ray://head:10001'], 'host:port'),
        (['--engine', 'ray', '--ray-address', '127.0.0.1:1'], 'ray start --head'),
        (['--chunk-size', '0'], '--chunk-size must be at least 1'),
    ],
)
@pytest.mark.parametrize('command', ['score', 'rerank'])
def test_an_option_that_does_not_work_says_what_does(
    tmp_path, command, option, message
):
    infile = write_records(tmp_path / 'in.jsonl', ['x'])
    files = ['--infile', str(infile), '--outfile', str(tmp_path / 'out.jsonl')]
    with pytest.raises(ConfigError, match=message):
        run_command(command, *files, ROLE[command], 'precision', *option)


def test_without_ray_the_extra_is_named(tmp_path, without_package):
    without_package('ray')
    infile = write_records(tmp_path / 'in.jsonl', ['x'])
    files = ['--infile', str(infile), '--outfile', str(tmp_path / 'out.jsonl')]
    with pytest.raises(MissingPackageError, match=r'pip install "parlai_q2\[ray\]"'):
        run_command('score', *files, '--measure', 'precision', '--engine', 'ray')


class Losing(LocalEngine):
    """An engine whose processes die of some items, as actors of Ray do."""

    def __init__(self, job):
        super().__init__(job)
        self._job, self._work = job, job.load().process

    def run(self, chunks):
        for key, items in chunks:
            yield key, [self._of(item) for item in items]

    def _of(self, item):
        if 'die always' in str(item):
            return self._job.report_lost(item, 'a process died of it 3 times')
        return self._work([item])[0]


def responses():
    texts = [f'shop {n}' for n in range(20)]
    texts[9] = 'die always'
    return texts


def test_a_lost_record_has_an_error_in_its_place(tmp_path):
    infile, outfile = tmp_path / 'in.jsonl', tmp_path / 'out.jsonl'
    write_records(infile, responses())
    engine = Losing(ScoreJob(maker(tmp_path)))
    scorer = ToyScorer(tmp_path)
    summary = score_file(infile, outfile, scorer, engine=engine, chunk_size=8)
    lines = read_lines(outfile)
    assert [line['id'] for line in lines] == list(range(20))
    assert [n for n, line in enumerate(lines) if 'error' in line] == [9]
    assert 'in.jsonl, line 10: could not be done: a process died' in lines[9]['error']
    assert (summary['records'], summary['bad']) == (20, 1)


def test_a_lost_label_is_dropped(tmp_path):
    turns = [{'text': '', 'knowledge': K, 'labels': [text]} for text in responses()]
    problems = []
    engine = Losing(LabelJob(maker(tmp_path)))
    batches = group_episodes(([turn] for turn in turns), chunk=8)
    scored = score_batches(batches, engine, None, problems.append)
    judged = list(decide_batches(scored, Policy()))
    lost = [n for n, (turn,) in enumerate(judged) if turn.labels[0].score is None]
    assert lost == [9]
    assert 'episode 10, turn 1 could not be scored: a process died' in problems[0]
