"""The agent against llama.cpp's own server (xllamacpp), with a tiny random model."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.agents.protocol_server import Served
from tests.agents.rerank_toys import reply_to
from tests.agents.test_chat_server import RERANKING, make

gguf = pytest.importorskip('gguf')
pytest.importorskip('xllamacpp')
pytestmark = pytest.mark.slow

SPECIAL = [b'<unk>', b'<s>', b'</s>']
BYTES = [f'<0x{byte:02X}>'.encode() for byte in range(256)]
WORDS = [f'\u2581{word}'.encode() for word in 'bees have five eyes they dance'.split()]
TEMPLATE = (
    '{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}assistant:'
)
SIZE, INNER, LAYERS, HEADS = 64, 128, 2, 4


def write_model(path: Path) -> None:
    """Write a random model of Llama's form."""
    random = np.random.default_rng(0)
    words = len(SPECIAL + BYTES + WORDS)
    writer = gguf.GGUFWriter(path, 'llama')
    writer.add_context_length(512)
    writer.add_embedding_length(SIZE)
    writer.add_block_count(LAYERS)
    writer.add_feed_forward_length(INNER)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_dimension_count(SIZE // HEADS)
    writer.add_vocab_size(words)
    writer.add_tokenizer_model('llama')
    writer.add_token_list(SPECIAL + BYTES + WORDS)
    writer.add_token_scores([0.0] * 3 + [-100.0] * 256 + [-1.0] * len(WORDS))
    writer.add_token_types([2, 3, 3] + [6] * 256 + [1] * len(WORDS))
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_unk_token_id(0)
    writer.add_chat_template(TEMPLATE)
    shapes = dict.fromkeys(('token_embd', 'output'), (words, SIZE))
    shapes['output_norm'] = (SIZE,)
    for n in range(LAYERS):
        shapes |= {f'blk.{n}.{kind}_norm': (SIZE,) for kind in ('attn', 'ffn')}
        for kind in ('q', 'k', 'v', 'output'):
            shapes[f'blk.{n}.attn_{kind}'] = (SIZE, SIZE)
        shapes |= {f'blk.{n}.ffn_{kind}': (INNER, SIZE) for kind in ('gate', 'up')}
        shapes[f'blk.{n}.ffn_down'] = (SIZE, INNER)
    for name, shape in shapes.items():
        weights = np.ones(shape) if len(shape) == 1 else 0.3 * random.normal(size=shape)
        writer.add_tensor(f'{name}.weight', weights.astype(np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


# Takes the model's path; ends with its standard input.
SERVER = """
import sys
import xllamacpp
asked = xllamacpp.CommonParams()
asked.model.path, asked.port, asked.n_ctx = sys.argv[1], 0, 512
asked.cpuparams.n_threads = 1
server = xllamacpp.Server(asked)
print('at', server.listening_address, flush=True)
sys.stdin.read()
"""


@pytest.fixture(scope='module')
def llama(tmp_path_factory):
    """The running server."""
    folder = tmp_path_factory.mktemp('llama')
    write_model(folder / 'tiny.gguf')
    command = [sys.executable, '-c', SERVER, str(folder / 'tiny.gguf')]
    pipes = {'stdin': subprocess.PIPE, 'stdout': subprocess.PIPE}
    with (
        open(folder / 'log', 'wb') as log,
        subprocess.Popen(command, stderr=log, text=True, **pipes) as server,
    ):
        log_lines = (line.split() for line in server.stdout)
        address = next((words[1] for words in log_lines if words[:1] == ['at']), None)
        assert address, (folder / 'log').read_text()
        yield Served(f'{address}/v1')


def test_its_replies_are_reranked(llama):
    few = {'server_samples': 4, 'server_max_tokens': 8}
    [reply] = reply_to(make(llama, **RERANKING, **few), 'How many?', knowledge='five')
    rows = reply['rerank']
    assert 1 < len(rows) <= 4
    assert rows[0]['chosen']
    assert reply['text'] == rows[0]['text']
    assert reply['text'].strip()
    assert all(row['score'] is not None for row in rows)


def test_its_log_probabilities_count(llama):
    few = {'server_samples': 3, 'server_max_tokens': 8}
    by = {'server_logprobs': True}
    [reply] = reply_to(
        make(llama, **RERANKING, **few, **by), 'How many?', knowledge='five'
    )
    # The server may leave out those of a reply.
    means = [m for row in reply['rerank'] if (m := row['mean_logprob']) is not None]
    assert means
    assert all(-20 < mean < 0 for mean in means)
    assert len(set(means)) == len(means)
