"""
Chooses among candidate replies by how well each is grounded in the knowledge, and how
well it answers its turn.

Nothing here needs ParlAI, and nothing loads torch before a scorer with a model scores.
"""

from parlai_q2.rerank.candidate import Candidate, Pool
from parlai_q2.rerank.choice import Reason, RerankBy, Rule
from parlai_q2.rerank.ranking import Ranking
from parlai_q2.rerank.reranker import Reranker

__all__ = ['Candidate', 'Pool', 'Ranking', 'Reason', 'RerankBy', 'Reranker', 'Rule']
