"""What the commands say of their engine's options."""

import pytest

from parlai_q2.cli.commands import run_command
from parlai_q2.errors import ConfigError, MissingPackageError
from tests.runs.toys import write_records

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
