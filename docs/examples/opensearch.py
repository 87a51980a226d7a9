"""
A custom retriever: an index of OpenSearch, whose documents have the fields text, title
and file. In its folder, run

    PYTHONPATH=. parlai_q2 interactive -m q2:grounded_rerank \\
        --knowledge-index opensearch:OpenSearch
"""

import json
from urllib.request import Request, urlopen

from parlai_q2.errors import ServerError
from parlai_q2.retrieve.retriever import Hit
from parlai_q2.turns import Passage, Source

ADDRESS, INDEX = 'http://localhost:9200', 'passages'
KIND = {'Content-Type': 'application/x-ndjson'}


class OpenSearch:
    """Searches its documents by words."""

    def search(self, queries, k):
        lines = []
        for query in queries:
            match = {'query': query, 'fields': ['text', 'title']}
            lines += [{'index': INDEX}, {'size': k, 'query': {'multi_match': match}}]
        body = ''.join(json.dumps(line) + '\n' for line in lines).encode()
        request = Request(f'{ADDRESS}/_msearch', body, KIND)
        try:
            with urlopen(request, timeout=30) as answer:
                responses = json.load(answer)['responses']
        except OSError as e:
            raise ServerError(f'{ADDRESS}: {e}') from e
        for response in responses:
            if 'error' in response:
                raise ServerError(f'{ADDRESS}: {response["error"]["reason"]}')
        return [list(map(self.hit, r['hits']['hits'])) for r in responses]

    def hit(self, entry):
        fields = entry['_source']
        source = Source(fields.get('file', ''))
        passage = Passage(fields['text'], fields.get('title', ''), source)
        return Hit(passage, entry['_score'])
