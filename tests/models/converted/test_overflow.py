"""Rows of weights that keep int8 sums within 16 bits."""

from dataclasses import replace

import numpy as np

from parlai_q2.models.converted import binary
from parlai_q2.models.converted.folder import MODEL, read_folder
from parlai_q2.models.converted.layout import ENCODER
from parlai_q2.models.converted.overflow import most_of_neighbours, within_16_bits
from parlai_q2.models.references import resolve
from tests.models.converted.sums import of_ones

PLACE = 'pooler_dense/weight'


def kept(rows, scale=1.0, dtype=np.int8):
    """The weights, as they are multiplied, and their scales."""
    given = of_ones()
    model = binary.read(given.files[MODEL])
    arrays = {**model.arrays, PLACE: np.array(rows, dtype)}
    scales = np.full(len(rows), scale, np.float32)
    if dtype == np.int8:
        arrays[f'{PLACE}_scale'] = scales
    else:
        del arrays[f'{PLACE}_scale']
    written = binary.write(replace(model, arrays=arrays))
    made = within_16_bits(replace(given, files={**given.files, MODEL: written}))
    found = binary.read(made.files[MODEL])
    return found[PLACE], found[f'{PLACE}_scale']


def test_what_neighbours_add_up_to():
    rows = np.array([[100, 27, -3, -4], [100, -100, 1, 2], [-90, -60, 0, 0], [0] * 4])
    rows = rows.astype(np.int8)
    assert most_of_neighbours(rows).tolist() == [127, 100, 150, 1]
    assert most_of_neighbours(rows[:, :3]).tolist() == [127, 100, 150, 1]


def test_rows_that_keep_within_stay_as_they_are():
    rows = [[100, 27, -60, -67], [127, -127, 1, -1]]
    found, scale = kept(rows, 50.0)
    assert found.tolist() == rows
    assert scale.tolist() == [50.0, 50.0]


def test_other_rows_are_scaled_down_each_by_itself():
    found, scale = kept([[127, 127, 2, 0], [-80, -70, 5, 100], [1, 2, 3, 4]], 2.0)
    # 127 / 254 = .5; 127 / 150 = .8467: 67.7, 59.3, 4.2, 84.7
    assert found.tolist() == [[64, 64, 1, 0], [-68, -59, 4, 85], [1, 2, 3, 4]]
    np.testing.assert_allclose(scale, [1.0, 2 * 127 / 150, 2.0], rtol=1e-6)


def test_weights_in_fp32_become_int8():
    found, scale = kept([[0.5, -0.25, 0.0, 0.125], [0.0] * 4], dtype=np.float32)
    assert found.tolist() == [[127, -64, 0, 32], [0] * 4]
    np.testing.assert_allclose(found[0] / scale[0], [0.5, -0.25, 0, 0.125], atol=2e-3)


def test_the_detector_keeps_within_and_loses_less_than_a_step():
    before = read_folder(resolve('shipped:q2_mini/consistency'), ENCODER)
    old = binary.read(before.files[MODEL])
    new = binary.read(within_16_bits(before).files[MODEL])
    for name, weight in new.arrays.items():
        if not name.endswith('/weight') or '/embeddings' in name:
            continue
        assert most_of_neighbours(weight).max() <= 128
        step = 1 / new[f'{name}_scale']
        was = old[name] / old[f'{name}_scale'][:, None]
        gap = np.abs(weight * step[:, None] - was)
        assert (gap <= 0.5 * step[:, None] * (1 + 1e-4)).all()
