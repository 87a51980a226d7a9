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
        return [list(map(self.hit, retriever.invoke(query)[:k])) for query in queries]

    def hit(self, document):
        source = Source(document.metadata['source'])
        return Hit(Passage(document.page_content, source=source), 1.0)


class LlamaIndex:
    def search(self, queries, k):
        return [list(map(self.hit, retriever.retrieve(query)[:k])) for query in queries]

    def hit(self, node):
        source = Source(node.metadata['file_name'])
        return Hit(Passage(node.text, source=source), node.score)
