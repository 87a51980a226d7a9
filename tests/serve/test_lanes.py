"""A request that takes long, or has many replies, does not hold up others."""

import asyncio
import threading

from parlai_q2.generate.server import ChatServer
from parlai_q2.rerank import Pool
from parlai_q2.serve import ServeSettings
from parlai_q2.serve.batches import MAX_ITEMS
from parlai_q2.serve.grounded import LONG, GroundedChat


class SlowReranker:
    """Ranks nothing, and long pools only when told to."""

    def __init__(self, is_thread_safe=True):
        self.is_thread_safe = is_thread_safe
        self.may_go_on = threading.Event()
        self.ranked = []

    def rank_batch(self, pools):
        if any(len(pool.knowledge_text) > LONG for pool in pools):
            assert self.may_go_on.wait(30)
        self.ranked.append([pool.knowledge_text[:9] for pool in pools])
        return list(pools)

    def explained(self, pools):
        return pools


def run(reranker, work):
    chat = GroundedChat(ChatServer('http://localhost:1'), reranker, ServeSettings())

    async def go():
        async with chat.open():
            reranker.ranked.clear()
            return await work(chat)

    return asyncio.run(go())


LONG_POOL, SHORT_POOL = Pool('x' * (LONG + 1), ['a']), Pool('short', ['a'])


def test_short_pools_do_not_wait_for_long_ones():
    reranker = SlowReranker()

    async def work(chat):
        long_ones = [asyncio.ensure_future(chat.rank(LONG_POOL)) for _ in range(3)]
        await asyncio.sleep(0.05)
        await asyncio.gather(*(chat.rank(SHORT_POOL) for _ in range(2)))
        assert not any(task.done() for task in long_ones)
        reranker.may_go_on.set()
        await asyncio.gather(*long_ones)

    run(reranker, work)
    assert reranker.ranked == [['short', 'short'], *[['x' * 9]] * 3]


def test_a_reranker_that_is_not_thread_safe_ranks_one_batch_at_a_time():
    reranker = SlowReranker(is_thread_safe=False)
    reranker.may_go_on.set()

    async def work(chat):
        await asyncio.gather(chat.rank(LONG_POOL), chat.rank(SHORT_POOL))

    run(reranker, work)
    assert reranker.ranked == [['x' * 9, 'short']]


def test_many_pools_of_a_request_let_others_come_between():
    reranker = SlowReranker()

    async def work(chat):
        pools = [Pool(f'{n}', ['a']) for n in range(20 * MAX_ITEMS)]
        task = asyncio.ensure_future(chat.rank_all(pools))
        await asyncio.sleep(0)
        await chat.rank(SHORT_POOL)
        done = len([pool for batch in reranker.ranked for pool in batch])
        assert done < 5 * MAX_ITEMS
        return [pool.knowledge_text for pool in await task]

    assert run(reranker, work) == [f'{n}' for n in range(20 * MAX_ITEMS)]
