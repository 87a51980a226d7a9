"""The recipe of the tokens that the shipped reply model may say in any context."""

import json

from parlai_q2.models.references import shipped_folder
from parlai_q2.zoo.train.common_tokens import main
from parlai_q2.zoo.train.data import write_rows


def test_the_commonest_tokens_are_written_and_what_they_cover(tmp_path):
    rows, out = tmp_path / 'rows.jsonl.gz', tmp_path / 'common.json'
    write_rows(rows, [{'r': 'to the bees'}, {'r': 'to the wax'}, {'r': 'the honey'}])
    main(['--rows', str(rows), '--outfile', str(out), '--most', '2'])
    assert json.loads(out.read_text()) == ['▁the', '▁to']


def test_the_shipped_tokens_are_of_its_tokenizer():
    folder = shipped_folder('q2_mini/reply')
    tokens = json.loads((folder / 'common_tokens.json').read_text())
    words = json.loads(
        (shipped_folder('q2_mini/question_generation') / 'tokenizer.json').read_text()
    )
    known = {word for word, _ in words['model']['vocab']}
    assert len({*tokens}) == 6000
    # Characters that it does not know are tokens by themselves.
    assert all(len(token) == 1 for token in {*tokens} - known)
