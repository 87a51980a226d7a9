"""Small talk that stands beside a claim and changes nothing about it."""

import random
from collections.abc import Sequence

from parlai_q2.zoo.train.twins.twin import end_sentence

BEFORE = (
    """
oh i love that!|i'm so bad at it, haha.|yum, my favourite!|wow, really interesting.
my sister is a big fan.|that reminds me of my childhood.|good question!|haha, same here.
i've always been curious about it.|sorry, i'm new to this.|i used to have one.
my kids can't get enough of it.|i was there last year, it was fun.|great choice!
my dad told me about it once.|oh no, that sounds tough.|cool, tell me more some time!
i had no idea you liked that.|nice, i've been meaning to try it.|my mum grew up with it.
hi there!|thanks for asking!|i had to look it up.|i read something about it yesterday.
let me think.|honestly, it's not really my thing.|we watched it together last week.
i'm a bit jealous now!|you should give it a go.|i once met somebody who knew it all.
it always makes me happy.|hmm, i'm not sure i would dare.|i'd love to go there one day.
that's my favourite topic.|i have fond memories of it.|sounds like a lovely day!
""".replace('\n', '|')
    .strip('|')
    .split('|')
)
AFTER = (
    """
do you like it too?|isn't that cool?|what do you think?|i find that fascinating.
have you ever tried it?|i wish i had known that before.|pretty amazing, right?
i hope that helps!|so relaxing.|let me know how it goes.|makes me want to try it again.
have you been there?|i love that.|i learned that just recently.|who would have thought!
""".replace('\n', '|')
    .strip('|')
    .split('|')
)


FILE_SHARE = 0.4  # the share of this file's where there is other small talk


def add_small_talk(text: str, rng: random.Random, chatter: Sequence[str] = ()) -> str:
    """
    A text with small talk before it, after it, or on both sides.

    :param chatter: other small talk, which most texts then have.
    """
    text = end_sentence(text)
    if chatter and rng.random() > FILE_SHARE:
        remark = end_sentence(rng.choice(chatter))
        return f'{remark} {text}' if rng.random() < 0.7 else f'{text} {remark}'
    before, after = rng.choice(BEFORE), rng.choice(AFTER)
    return rng.choice(
        (
            f'{before} {text}',
            f'{before} {text}',
            f'{text} {after}',
            f'{before} {text} {after}',
        )
    )
