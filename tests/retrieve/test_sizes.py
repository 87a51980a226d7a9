"""The command that times indexes, on a small one."""

import json

from parlai_q2.retrieve.sizes import main


def test_an_index_is_timed_and_drawn_with_what_was_measured_before(tmp_path, capsys):
    text, before = tmp_path / 'text.txt', tmp_path / 'before.jsonl'
    text.write_text('Pumps hum all day. Hoses bend where they must. Otters swim.')
    main([str(text), '--sizes', '30'])
    (line,) = capsys.readouterr().out.splitlines()
    row = json.loads(line)
    assert row['passages'] == 30 and row['serve_peak_mb'] > 10
    assert 0 < row['search_ms'] <= row['search_ms_95'] and row['open_s'] > 0
    more = json.dumps({**row, 'passages': 300})
    before.write_text(f'{line}\n{more}\n')
    main(['--sizes', '', '--measured', str(before), '--outdir', str(tmp_path / 'out')])
    drawn = (tmp_path / 'out' / 'sizes.svg').read_text()
    assert all(word in drawn for word in ('opening', 'median', 'disk', 'passages'))
