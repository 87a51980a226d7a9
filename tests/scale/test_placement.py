"""Devices and threads of workers, worked out by hand."""

import pytest

from parlai_q2.errors import ConfigError
from parlai_q2.models import device
from parlai_q2.scale.placement import Place, places


@pytest.fixture
def four_gpus(monkeypatch):
    monkeypatch.setattr(device, 'count_gpus', lambda: 4)


@pytest.mark.parametrize(
    'workers, cores, expected',
    [
        (None, 8, [Place(None, 8)]),  # this process, with all cores
        (2, 8, [Place(None, 4)] * 2),
        (3, 8, [Place(None, 2)] * 3),  # 8 / 3, rounded down
        (16, 8, [Place(None, 1)] * 16),  # at least one
    ],
)
def test_cores_are_shared_out(workers, cores, expected):
    assert places(workers, None, cores) == expected


@pytest.mark.parametrize(
    'workers, devices, expected',
    [
        (None, 'cuda:0,cuda:2', ['cuda:0', 'cuda:2']),
        (None, 'all', ['cuda:0', 'cuda:1', 'cuda:2', 'cuda:3']),
        (3, 'cuda:0,cuda:1', ['cuda:0', 'cuda:1', 'cuda:0']),  # in turn
        (None, 'cuda:1, cuda:1', ['cuda:1', 'cuda:1']),  # two workers on one GPU
        (2, 'cpu', ['cpu', 'cpu']),
    ],
)
def test_devices_are_given_in_turn(four_gpus, workers, devices, expected):
    assert [place.device for place in places(workers, devices, 8)] == expected


@pytest.mark.parametrize(
    'workers, devices, message',
    [
        (0, None, 'at least 1'),
        (1, 'cuda:0,cuda:1', 'without work'),
        (None, 'cuda:4', 'cuda:0, cuda:1, cuda:2, cuda:3'),
        (None, 'gpu0', 'no device'),
        (None, 'cuda:0,cpu', 'mixes cpu and cuda'),
        (None, 'cuda:0,all', 'no device'),
    ],
)
def test_what_does_not_go_together_is_an_error(four_gpus, workers, devices, message):
    with pytest.raises(ConfigError, match=message):
        places(workers, devices, 8)


def test_all_gpus_where_there_is_none(monkeypatch):
    monkeypatch.setattr(device, 'count_gpus', lambda: 0)
    with pytest.raises(ConfigError, match='none is seen'):
        places(None, 'all')
    with pytest.raises(ConfigError, match='seen: none'):
        places(None, 'cuda:0')
