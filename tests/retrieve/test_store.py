"""A store of passages by itself."""

import time

from parlai_q2.retrieve.store import Document, Store
from parlai_q2.turns import Passage


def test_a_store_that_is_open_writes_nothing_by_itself(tmp_path):
    """A folder can be removed or moved while another store of it is still held."""
    store = Store(tmp_path)
    store.add(Document('a.txt', 'sum', 1, 1, 0, 0), [Passage('Bees have five eyes.')])
    store.finish()
    lock, meta = tmp_path / '.tantivy-meta.lock', tmp_path / 'meta.json'
    lock.unlink(missing_ok=True)
    # As another's commit changes it, which the library would look for twice a second.
    meta.write_bytes(meta.read_bytes().replace(b'"opstamp":', b'"opstamp": '))
    time.sleep(1.2)
    assert not lock.exists()
    assert list(store.documents()) == ['a.txt']
