"""
Recognises by its words what a turn asks for (a question, yes or no, a way to do
something), and what claims nothing: a reply that declines to answer, an offer of help,
a greeting.
"""

import re
import unicodedata
from functools import lru_cache

from parlai_q2.text.normalize import composed
from parlai_q2.text.overlap import rouge_words

_AUXILIARIES = frozenset(
    'is are was were do does did can could may might shall should will would has have '
    'am must'.split()
)
_WH_WORDS = frozenset('what which who whom whose when where why how'.split())
# "what's", which many type as "whats".
_CONTRACTED = re.compile(r"(what|who|when|where|why|how)(?:['’]?s|['’](?:re|d|ll))")
# "Isn't it open", but not "don't worry".
_NEGATED_QUESTION = re.compile(
    rf"(?:{'|'.join(sorted(_AUXILIARIES))}|ca|wo) ?n['’]?t "
    r'(?:(?:i|you|we|he|she|it|there|th\w+)\b|.*\?)'
)
# What a question may begin with; "so do I" is none, nor "yes, when I was young".
_BEFORE_QUESTION = re.compile(
    r'(?:(?:and|but|or|(?:so|yes|yeah|no)(?=.*\?|\W+(?:wh\w+|how)(?: \w+)? '
    rf'(?:{"|".join(sorted(_AUXILIARIES))}) (?:i|you|we|they|it|the|there|this|that)\b)'
    r'|ok|okay|well|oh|ah|hey|hi|hello|then|also|please|sorry|right|great|thanks'
    r'|thank you|excuse me)\b[\s,:–-]*)+',
    re.I,
)
# "How nice!", "What a pity!"
_EXCLAMATION = re.compile(
    r'(?:(?:oh|ah|wow|well)\W+)?(?:how (?!much|many|far|long|often|old)\w+'
    r'|what an? [^?]*)!',
    re.I,
)
# A verb before its subject, behind words that may be misspelt: "wen can i come".
_INVERTED = re.compile(
    r'(?!(?:so|neither|nor|never|only)\b)'
    r"(?:(?!(?:i|you|we|they|it|that|this|who)\b)[\w']+ ){1,3}"
    r'(?:can|could|do|does|did|should|will|would|may|must|is|are)'
    r' (?:i|we|you|u|they)\b',
    re.I,
)
# "Price please", but not "yes please".
_POLITE = re.compile(r"(?P<thing>[\w' -]+?),? (?:please|pls|plz)\W*", re.I)
_NO_THINGS = frozenset('yes yeah yep no nope sure do that it one'.split())
# Requests are answered like questions.
_REQUEST = re.compile(
    r'\W*(please\s+)?(tell|explain|describe|give|show|list|name|summari[sz]e)\b', re.I
)
# "Could you tell me about the pool", but not "Tell me more" or "Give me a minute".
_TO_BE_TOLD = re.compile(
    r'(?:^\W*|[,;:]\s*|\b(?:hello|hi|hey|and|so|ok|okay|then|well|now)\s+)'
    r'(?:please )?(?:(?:can|could|would|will) you )?(?:please )?'
    r'(?:(?:tell|show|give) (?:me|us)'
    r' (?:(?:some|more|something|details|information|in|at|on|for|from|to) )*'
    r'(?:about(?! it\b)|the|all|your|what|which|who|where|when|why|how|if|whether)\b'
    r'|(?:explain|describe|list|name|summari[sz]e)'
    r' (?:all|any|every|how|me|the|what|which|why|your)\b)',
    re.I,
)
_HOW_OR_WHY = re.compile(
    r'\W*(why|how\s+(do|does|did|can|could|should|would|to|is|are)\b)'
)
# A longer reply says more than that it has no answer.
MAX_DECLINE_LENGTH = 200
_WORD = re.compile(r"[a-z]+(?:['’][a-z]+)?")
_LETTER_OR_DIGIT = re.compile(r'[^\W_]')
_SENTENCE_END = re.compile(r'[.!?]\s')

# Where a clause ends, and another may begin that claims something.
_CLAUSE_END = re.compile(
    r'\s*[.,;:!?()–—]+\s*|\s-+\s|\s+(?=(?:but|so|because|though|although)\s)'
    r'|\s+(?=and (?:i|we|you|he|she|it|no|th\w+|my|his|her|its|our)\s)'
)
_NEGATION = re.compile(
    r"\b(do|does|did|ca|could|wo|would|is|are|was|were|have|has|had) ?n ?'? ?t\b"
)
_CLITIC = re.compile(r" ?' ?(m|ve|s|d|re|ll)\b")
# What a clause may begin with and claims nothing.
_LEAD_IN = re.compile(
    r"(?:(?:(?:i'm|i am|so|very|really) )*(?:sorry|afraid)|and|but|so|because|though"
    r'|although|well|unfortunately|regrettably|sadly|actually|honestly|to be honest'
    r"|you know|(?:that's an? )?(?:good|great) question|i must admit|at least(?= not))"
    r'(?: that)?(?: |$)'
)
# A text that a reply may be taken from.
_TEXT = (
    r'(?:texts?|passages?|articles?|documents?|docs|pages?|wiki|ads?'
    r'|leaflets?|lists?|notes?|notices?|manuals?|guides?|handbook|brochure|rules|recipe'
    r'|menu|summary|catalogue|programme|description|abstracts?|sources?|information'
    r'|info|context|data|table|reports?|timetable|rota|agreement|memo|letter'
    r'|(?:web)?sites?|(?:what|anything|things) (?:i|we))\b'
)
_NOT = r"(?:\w+n't|not|cannot|unable to)"
_IS_NOT = r"(?:(?:is|are|was|were)n't|(?:'s|'re|is|are|was|were|^) ?not)"
_ADVERBS = r'(?: (?:\w+ly|quite|so|too|very|even|yet|been?|able to|going to|want to))*'
# A decline says what the speaker, or the text, does not know or say.
_DECLINES = re.compile(
    '|'.join(
        (
            # "I really don't know", "not sure", "I couldn't find any".
            r"(?:^|\b(?:i|we))(?:'\w+| (?:am|are|do|did|have|had|\w+ly|just|rather))*"
            rf' ?{_NOT}{_ADVERBS} (?:know|sure|certain|aware|say|tell|told|answer|find'
            r'|guess|heard|come across|confirm (?:that|it|whether|if)'
            r'|see \w+ mentioned)\b',
            # "I could not find anything about it"; "find damage" is something else.
            r'\b(?:i|we) (?:can|could) not find (?:anything|any (?:information|details'
            r'|mention)) (?:about|on|of|regarding)\b',
            # "I'm not able to help with that"; "help with luggage" is something else.
            rf"(?:^|\b(?:i|we))(?:'\w+| (?:am|are))? ?{_NOT}{_ADVERBS} (?:help|assist)"
            r'(?: you)?(?: (?:with|on) (?:that|this|it|your \w+))?(?: here| there)?$',
            r'\b(?:i|we) lack (?:information|details|that|this|the)\b'
            r'|\bbeyond what (?:i|we) (?:can|know)\b'
            r"|\b(?:i|we)(?:'d| would| will|'ll)? (?:need|have) to (?:check|ask)\b"
            r'|\b(?:i|we) only have (?:information|details|data) (?:on|about)\b',
            # "I have no information on it"; an information desk is something else.
            rf'(?:^|\b(?:i|we|there)\b.*)\b(?:no|{_NOT}.* (?:any|an?|the|that|enough))'
            r' (?:\w+ )?(?:information|info|details?|data|figures?|numbers|explanation'
            r'|mention|word|answer|access)'
            r'(?= (?:on|about|of|for|in|as|to|wh\w+|how|here|there|at all)\b|$)',
            r'(?:^|\b(?:i|we)\b.*)\bno (?:idea|clue)\b',
            # "That information isn't available to me", "no information is available".
            rf'\b(?:information|info|answer) {_IS_NOT} available(?: to \w+| here)?$'
            r'|\bno (?:\w+ )?(?:information|info|details|data) (?:\w+ ){0,4}?'
            r'(?:is|are) available(?: (?:about|on|for|here)\b|$)'
            r"|\b(?:i|we) (?:don't|do not) have (?:that|such)"
            r' (?:information|info|details|data)\b'
            r"|\b(?:i|we) (?:don't|do not) have (?:(?:information|info|details|data"
            r'|anything) (?:on|about|regarding)|access to (?:that|this|it|such))\b',
            # "My information doesn't include that".
            r'\b(?:information|documents?|docs|data|context|sources?|knowledge)'
            r"(?: (?:i|we) have)? (?:do|does|did)(?:n't| not)"
            r' (?:include|contain|cover)\b',
            r'^nothing (?:about|on that|to say|(?:i have|here) (?:says|tells))\b'
            r"|\b(?:i|we)\b.* nothing (?:on|about)\b|^there(?:'s| is) nothing about\b",
            # "The leaflet I have doesn't mention it", "it isn't in my notes".
            rf'(?:^it|^they|\b{_TEXT}(?: \S+){{0,3}}?) (?:do|does|did)(?:n.t| not)'
            r'(?: \w+ly)? (?:say|mention|state|specify|tell|explain|describe)\b',
            rf'\b{_TEXT}.* (?:(?:says?|gives?|has|have|contains?) (?:nothing|no)'
            r"|(?:doesn't|don't|does not|do not) (?:give|list|name|cover|compare))\b",
            rf'{_IS_NOT} (?:in|on|part of|among)(?: \w+){{0,3}}? {_TEXT}'
            rf'|{_IS_NOT} (?:covered|contained|included) in (?:\w+ )?(?:what (?:i|we)'
            r'|information|documents?|texts?|sources?|context|data|notes)\b'
            rf'|^nothing in (?:\w+ ){{0,2}}{_TEXT}'
            rf"|^there(?:'s| is| are) (?:no|nothing) .* in(?: \w+){{0,2}}? {_TEXT}",
            # "Its age isn't mentioned", "nothing is said about it".
            rf"(?:{_IS_NOT}|\b(?:no|nothing)(?:'s|(?: \S+){{0,4}}? (?:is|are|was|were)|"
            r" \w+'s))(?: \w+ly)? "
            r'(?:mentioned|stated|said|specified|(?:given|described|recorded'
            r'|explained|named|listed|known|written) (?:here|anywhere|to me))\b',
            rf'{_IS_NOT} something (?:that )?i\b',
        )
    )
)
# What every decline has.
_DENIAL = re.compile(
    r'no|n.t|unable to|lack|beyond|(?:need|have) to (?:check|ask)|only have'
)
# What may stand beside that: whom to ask, what the speaker knows instead.
_BESIDE_DECLINES = re.compile(
    '|'.join(
        (
            r'(?:how|whether|if|which|who|what|where|why)\b',
            r"(?:(?:please|maybe|perhaps|just|simply|do|why not|you'd|i'd|best|better"
            r'|(?:you|one) (?:can|could|may|might|should)|also|always|want to) )*'
            r'(?:ask|call|ring|check|contact|consult|find|look|reach|try|visit|write)\b',
            r"(?:i|we)(?:'d| would)? (?:recommend|suggest|advise)"
            r' (?:ask|call|contact|check|you (?:ask|call|contact|check))\w*\b',
            r'(?:\S+ ){1,4}(?:will|would|can|could|should|may|might)'
            r'(?: (?:gladly|certainly|surely|be (?:able|glad|happy|pleased) to))*'
            r'(?: (?:assist|help|know|tell))?(?: you)?(?: with \S+| more)?$',
            r'as an? (?:\w+ )*(?:ai|assistant|bot|chatbot|model)$',
            r'my (?:knowledge|information) is limited\b',
            r"i(?:'ve| have| can)? only (?:know|read|have|see)\b"
            r'(?! (?:that|it|s?he|they)\b)',
            rf"i(?:'\w+| have)?(?: seen)? ?(?:{_NOT}|never|no|nothing)\b",
            r"(?:that's )?all i (?:know|have)$",
            rf'.* {_NOT} (?:given|described|recorded|explained|named|listed|known)$',
            r'(?:only|just) .* (?:mentioned|described|known)\b',
            r'(?:only|just) (?:how|what|who|where|why|which|about)\b',
        )
    )
)
# Greetings and exclamations. No yes and no, which answer questions of fact, nor "sure".
_GREETINGS = frozenset(
    (
        'ah aha aw aww awesome bye cheers congrats congratulations cool day evening '
        'excellent fantastic fine good goodbye gosh great ha haha hahaha hello hey hi '
        'hiya hmm hm indeed interesting lol lovely mm mmm morning nice night oh ok '
        'okay omg oops ouch perfect please pleasure phew right sorry super sweet '
        'thank thanks thx ugh uh uhm um welcome well wonderful wow yay again all and '
        'everyone afternoon guys much so there to too very you your'
    ).split()
)

_PERIOD = (
    r'(?:day|morning|afternoon|evening|night|weekend|week|time|trip|stay|visit|one)'
)
# What people ask each other in passing, and no text tells.
_WELLBEING = (
    r"(?:how (?:are (?:you|things)(?: (?:doing|going))?|do you do)|what's up"
    r"|how(?:'s| is) (?:it going|(?:everything|your day)(?: going)?))"
    r'(?: (?:today|so far))?'
)
_ASKS_HOW_ONE_IS = re.compile(_WELLBEING)
# Offers of help, thanks and wishes.
_COURTESIES = re.compile(
    '|'.join(
        (
            r'(?:how|what) (?:can|may|could) (?:i|we) (?:help|assist|do for)(?: you)?'
            r'(?: with)?(?: today| now)?',
            r'(?:can|could|may|shall|should) (?:i|we)'
            r' (?:help|assist|connect you|transfer you|put you through)\b.{0,60}',
            r'(?:is there|do you need) (?:anything|something) (?:else|more)\b.{0,60}',
            r'what (?:else )?would you like to know',
            _WELLBEING,
            r'(?:(?:just )?let me know|just ask)(?: me)?'
            r'(?: (?:if|when|what|which|how|about|any\w*)\b.{0,60})?',
            r"(?:please )?(?:feel free|(?:do not|don't) hesitate) to"
            r' (?:ask|contact|reach out|get in touch|write|call)\b[^\d@/]{0,60}',
            r'if you (?:have|need|want)(?: any| some)?(?: other| further| more)?'
            r' (?:questions?|help|information|details|anything)\b[^\d@/]{0,40}',
            r'(?:please )?(?:ask|call|contact) us',
            r'(?:please )?(?:ask|call|contact|visit) (?:us|our|the)(?: \w+){0,3}'
            r' for (?:any |further |more )(?:details|help|information|questions)',
            r"(?:(?:i'm|i am|(?:i|we)(?:'d| would|'ll| will) be|we're|we are|always) )?"
            r'(?:here|happy|glad|pleased) to (?:help|assist)(?: you)?'
            r'(?: (?:with that|at any time|any time|further))?',
            r'(?:i|we)(?: \w+ly)? apologi[sz]e(?: for (?:that|(?:any|the|this) \w+))?'
            r'|(?:my|our)(?: \w+)? apologies(?: for (?:any|the|this) \w+)?'
            # Behind "sorry".
            r'|about that|for (?:any|that|the|this)(?: \w+)?',
            r'we look forward to (?:your \w+|\w+ing (?:from )?you\b[^\d@/]{0,30})',
            r'(?:best|kind|warm) (?:regards|wishes)|your (?:\w+ ){0,3}(?:staff|team)'
            r'|yours (?:sincerely|truly|faithfully)',
            r'(?:i )?hope (?:this|that|it) helps(?: you)?',
            r'(?:i )?hope you (?:feel|get|are|have|had|enjoy|enjoyed)(?: \w+){0,4}',
            rf'(?:have|enjoy|wish you) (?:an?|the|your) (?:\w+ ){{0,2}}{_PERIOD}'
            r'|enjoy (?:the|your) (?:snow|meal|food|ride|walk|show|game|film|view)',
            r'(?:see|talk to|speak to) you(?: (?:tomorrow|soon|later|then|again))*',
            r'(?:(?:many|ok|okay|oh|great|perfect) )*(?:thanks|thank you|thx)'
            r'(?: (?:very|so) much| a lot| again)*'
            r'(?: for (?:all )?(?:your|the|asking|helping)(?: \w+){0,2})?',
            r"you(?:'re| are) (?:very |most )?welcome|no (?:problem|worries|trouble)"
            r'(?: at all)?',
            r"don't mention it|my pleasure|(?:one|just a) (?:moment|second),? please",
            r"that(?:'s| is| was)?(?: (?:very|really|so|super))*"
            r' (?:helps|helped|helpful)(?: me)?(?: (?:a lot|very much))?',
            r"you(?:'ve| have) been (?:(?:very|really|so|super|such) )*"
            r'(?:helpful|kind|an? (?:great|big|real) help)',
            r"(?:that's|that is|that was) all (?:i|we) (?:need|needed|wanted)"
            r'(?: to know)?',
            r'get well soon|take care|(?:good|best of) luck(?: (?!that )\w+){0,5}'
            r'|any ?time(?: you like)?|(?:it )?(?:sounds?|looks?) (?:fun|great|lovely)',
            r"i'm (?:fine|good|well|great)|(?:nice|pleased) to (?:meet|see) you",
        )
    )
)
# A question about the listener, who is in no text; a fact may stand behind the rest.
_ASKS_LISTENER = re.compile(
    r'(?:(?:what|which|who|where|when|why|how)(?: \w+){0,2} )?'
    r'(?:do|did|are|were|have|would|will|can|could) you\b'
    r'(?!.*\b(?:know|knew|believe|hear|heard|aware|realis\w+|realiz\w+|that|who|which)\b)'
    r'(?: \S+){0,9}'
)


def is_question(text: str) -> bool:
    """
    Whether a turn asks something; small talk does not.

    >>> is_question('How long is the warranty?'), is_question('Thanks, that helps!')
    (True, False)
    >>> is_question('Whats the price')
    True
    """
    last = _last_sentence(text)
    begins_as_question = _first_word(last) in _AUXILIARIES | _WH_WORDS
    exclaims = _EXCLAMATION.fullmatch(last) or only_greets(last)
    may_ask = '?' in text or (begins_as_question and not exclaims)
    return may_ask and not is_small_talk(text)


def wants_answer(text: str) -> bool:
    """
    Whether a turn is a question or a request for information.

    >>> wants_answer('Tell me about the museum.'), wants_answer('I like museums.')
    (True, False)
    >>> wants_answer('opening hours pls'), wants_answer('Yes please!')
    (True, False)
    """
    if is_question(text) or _REQUEST.match(text):
        return True
    last = _last_sentence(text)
    if _INVERTED.match(last) and not is_small_talk(text):
        return True
    polite = _POLITE.fullmatch(last)
    words = rouge_words(polite['thing']) if polite else []
    return not (_GREETINGS | _NO_THINGS).issuperset(words)


def asks_to_be_told(text: str) -> bool:
    """
    Whether a turn ends with a request to be told something.

    >>> asks_to_be_told('Hi! Tell me about your pool.'), asks_to_be_told('Tell me more')
    (True, False)
    """
    return _TO_BE_TOLD.search(_last_sentence(text)) is not None


def is_yes_no_question(text: str) -> bool:
    """Whether a turn ends with a question that may be answered by yes or no."""
    last = _last_sentence(text)
    clauses = last.split(', ') if last.endswith('?') else [last]
    for clause in clauses:
        first = _first_word(clause)
        if first in _AUXILIARIES or first in _WH_WORDS:
            return first in _AUXILIARIES
    return False


def asks_how_or_why(text: str) -> bool:
    """
    Whether a turn ends with a question about how something is done, or why: a passage
    answers it, a short span does not.

    >>> asks_how_or_why('How do I return it?'), asks_how_or_why('How long is it?')
    (True, False)
    """
    return _HOW_OR_WHY.match(_last_sentence(text).lower()) is not None


def only_declines(text: str) -> bool:
    """Whether a reply says that it has no answer, and claims nothing beside it."""
    if len(text) > MAX_DECLINE_LENGTH or any(map(str.isdigit, text)):
        return False
    if not any(map(_is_decline, _split_clauses(text))):
        return False
    clauses = [c for c in _split_clauses(text) if not _is_courtesy(c)]
    declines = list(map(_is_decline, clauses))
    return any(declines) and all(
        is_decline or _BESIDE_DECLINES.match(clause)
        for clause, is_decline in zip(clauses, declines, strict=True)
    )


def only_greets(text: str) -> bool:
    """Whether a text greets, thanks, wishes or offers help, and claims nothing."""
    if not _LETTER_OR_DIGIT.search(composed(text)):
        # An emoji, which is a symbol (So); but not a text in another script.
        is_symbol = [unicodedata.category(character) == 'So' for character in text]
        return any(is_symbol) and not any(map(str.isalnum, text))
    return all(map(_is_courtesy, _split_clauses(text)))


def is_small_talk(turn: str) -> bool:
    """
    Whether a turn only greets, thanks, wishes or asks how one is.

    >>> is_small_talk('Hi, how are you?'), is_small_talk('How are you paid?')
    (True, False)
    >>> is_small_talk('Is there anything else to pay?')
    False
    """
    if not only_greets(turn):
        return False
    if '?' not in turn:
        return True
    others = [c for c in _split_clauses(turn) if not _is_greeting(c)]
    return bool(others) and all(map(_ASKS_HOW_ONE_IS.fullmatch, others))


def only_asks_listener(sentence: str) -> bool:
    """Whether a sentence asks the listener about themselves, and claims nothing."""
    if not sentence.rstrip().endswith('?') or any(map(str.isdigit, sentence)):
        return False
    return all(
        _is_courtesy(clause) or _ASKS_LISTENER.fullmatch(clause)
        for clause in _split_clauses(sentence)
    )


# The choice asks for the same replies several times.
@lru_cache(maxsize=1024)
def _is_decline(clause: str) -> bool:
    return bool(_DENIAL.search(clause) and _DECLINES.search(clause))


def _is_courtesy(clause: str) -> bool:
    return _is_greeting(clause) or _COURTESIES.fullmatch(clause) is not None


def _is_greeting(clause: str) -> bool:
    return _GREETINGS.issuperset(rouge_words(clause))


def _last_sentence(text: str) -> str:
    sentences = [part for part in _SENTENCE_END.split(text.strip()) if part.strip()]
    return sentences[-1] if sentences else ''


def _first_word(sentence: str) -> str:
    """
    The first word behind a lead-in, in lower case; "is" for "isn't" or "can't", "what"
    for "what's".
    """
    lead_in = _BEFORE_QUESTION.match(sentence)
    text = sentence[lead_in.end() if lead_in else 0 :].lower()
    if _NEGATED_QUESTION.match(text):
        return 'is'
    word = _WORD.search(text)
    if not word:
        return ''
    contracted = _CONTRACTED.fullmatch(word[0])
    return contracted[1] if contracted else word[0]


# Several functions split the same text, one after the other.
@lru_cache(maxsize=256)
def _split_clauses(text: str) -> tuple[str, ...]:
    """
    The clauses of a text in lower case, without beginnings that claim nothing: ("i
    don't know", "it's far") of "Sorry, I do n't know, and it's far."
    """
    text = ' '.join(composed(text).lower().replace('’', "'").split())
    text = _CLITIC.sub(r"'\1", _NEGATION.sub(r"\1n't", text))
    clauses = []
    for clause in _CLAUSE_END.split(text):
        while match := _LEAD_IN.match(clause):
            clause = clause[match.end() :]
        if clause:
            clauses.append(clause)
    return tuple(clauses)
