"""Progress where there is no terminal is a line of the log, not a bar drawn over."""

from parlai_q2.cli import counting as module
from parlai_q2.cli.counting import counting


def test_a_pipe_gets_whole_lines_and_none_twice(monkeypatch, capsys):
    said = []
    clock = iter(range(0, 1000, 6))
    monkeypatch.setattr('parlai_q2.cli.log.info', said.append)
    monkeypatch.setattr(module.time, 'monotonic', lambda: next(clock))
    with counting('grounded', 1200, 'pools', done=1000) as bar:
        for _ in range(4):
            bar.update(50)
    assert said[-1].startswith('grounded: 1,200 of 1,200 pools, ')
    assert len(said) == len(set(said)) and len(said) > 1
    assert capsys.readouterr() == ('', '')
