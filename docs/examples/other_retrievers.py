"""
Retrievers of LangChain and LlamaIndex. Set ``retriever`` to yours, and run

    PYTHONPATH=. parlai_q2 interactive -m q2:grounded_rerank \\
        --knowledge-index other_retrievers:LangChain
"""

from parlai_q2.retrieve.retriever import Hit
from parlai_q2.turns import Passage, Source

retriever = None  # vector_store.as_retriever(), or of LlamaIndex, index.as_retriever()


class LangChain:
    def search(self, queries, k):
        return [[self.hit(d) for d in retriever.invoke(q)[:k]] for q in queries]

    def hit(self, d):
        return Hit(Passage(d.page_content, source=Source(d.metadata['source'])), 1.0)


class LlamaIndex:
    def search(self, queries, k):
        return [[self.hit(n) for n in retriever.retrieve(q)[:k]] for q in queries]

    def hit(self, n):
        return Hit(Passage(n.text, source=Source(n.metadata['file_name'])), n.score)
