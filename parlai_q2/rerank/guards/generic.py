"""Detects replies that state nothing."""

from parlai_q2.claims import GENERIC_PART, Label
from parlai_q2.rerank.guards.base import Guard, ScoredReply
from parlai_q2.text.normalize import tokens

# A reply made only of these words says nothing about the world.
_EMPTY_WORDS: frozenset[str] = frozenset(
    """
    about absolutely actually ah agree all alright also always am amazing and any
    anything are arent as ask at awesome be because been bet bit but can cant care
    certain certainly come cool could course curious definitely did didnt do does doesnt
    dont enjoy ever exactly fascinating favorite feel fine for fun get glad go good got
    great guess had happy has have havent he hear heard hello help here hes
    hey hi hm hmm how i id idea if ill im indeed interested interesting is isnt it its
    ive just kind know let lets like likewise lol lot love luck make makes mate may
    maybe me mean mine more much must my myself neat never nice no nope not nothing of
    oh ok okay on or perhaps please point possible possibly pretty probably question
    quite really right said same say see seems she should so some somebody someone
    something sorry sort sound sounds such suppose sure talk tell thank thanks that
    thats their them then there theres these they theyre thing things think this those
    though thought to too totally true understand unfortunately unsure very wait was way
    we well were what whats when where which who why will wish with wonder wonderful
    would wow yeah yep yes you your youre yours
    """.split()
)


class GenericGuard(Guard):
    """
    An empty phrase gives way to every consistent reply. The scorer decides what is
    generic if it knows such replies: its score then has the part ``generic``. For other
    scorers the words of the reply decide.
    """

    name = 'generic'
    penalty = 0.5
    covered_by_relevance = True
    message = 'chit-chat that states nothing'

    def detect(self, reply: ScoredReply) -> bool:
        if reply.score.label == Label.GENERIC:
            return True
        return GENERIC_PART not in reply.score.parts and states_nothing(
            reply.example.response
        )


def states_nothing(response: str) -> bool:
    """
    Whether a reply would fit any turn, by its words: "I don't know", "That's so cool!",
    or none at all.
    """
    return all(word in _EMPTY_WORDS for word in tokens(response))
