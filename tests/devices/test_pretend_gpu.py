"""The GPU that is not there refuses what a real one refuses, and counts."""

import pytest
import torch

from tests.devices.pretend_gpu import pretend_gpu


def test_numbers_are_the_processors_and_the_place_is_the_gpus():
    with pretend_gpu():
        x = torch.arange(6.0).view(2, 3).to('cuda')
        layer = torch.nn.Linear(3, 2).to('cuda')
        out = layer(x)
        assert out.is_cuda and layer.weight.is_cuda and x[0, 1:].is_cuda
        assert torch.full((2,), 7, device='cuda:0').is_cuda
        assert torch.tensor([1, 2], device='cuda').is_cuda
        x[0] = 1
        assert x.cpu().tolist() == [[1, 1, 1], [3, 4, 5]]
        expected = x.cpu() @ layer.weight.cpu().T + layer.bias.cpu()
        assert torch.allclose(out[1].cpu(), expected[1])
    assert not torch.cuda.is_available() or torch.cuda.device_count()


@pytest.mark.parametrize(
    'mixed',
    [
        lambda gpu, cpu: gpu + cpu,
        lambda gpu, cpu: torch.cat([cpu, gpu]),
        lambda gpu, cpu: cpu[gpu.long()],
        lambda gpu, cpu: torch.nn.functional.embedding(gpu.long(), cpu[:, None]),
    ],
)
def test_two_devices_do_not_mix(mixed):
    with pretend_gpu():
        cpu = torch.arange(3.0)
        with pytest.raises(RuntimeError, match='same device'):
            mixed(cpu.to('cuda'), cpu)


def test_calls_and_waits_are_counted_and_views_are_not():
    with pretend_gpu() as counted:
        x = torch.ones(4).to('cuda')
        before = counted.calls
        y = (x * 2).view(2, 2).transpose(0, 1) + 1
        assert counted.calls == before + 2 and counted.waits == 0
        y.tolist()
        y.sum().item()
        y.cpu()
        (y > 2).nonzero()
        assert counted.waits == 4
