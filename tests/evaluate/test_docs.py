"""
The page on meta-evaluation tells of options and files that there are.
"""

import re
from pathlib import Path

import parlai_q2.evaluate as meta_eval
from parlai_q2.scripts.meta_eval import MetaEvalScript

PAGE = Path(meta_eval.__file__).parents[2] / 'docs' / 'meta_eval.md'
TEXT = PAGE.read_text(encoding='utf-8')


def test_every_option_that_is_told_of_is_there():
    known = MetaEvalScript.setup_args()._option_string_actions
    told = set(re.findall(r'`(--[a-z-]+)', TEXT))
    assert told and told <= set(known)


def test_the_links_lead_somewhere():
    links = re.findall(r'\]\((?!http)([^)#]+)\)', TEXT)
    assert links and [k for k in links if not (PAGE.parent / k).exists()] == []
