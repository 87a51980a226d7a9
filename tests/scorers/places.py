"""Claims and their evidence stand in the texts where they say."""


def check_places(score, example):
    for claim in score.claims:
        span = claim.span
        assert example.response[span.start : span.end] == span.text
        for evidence in claim.evidence:
            text, span = example.knowledge[evidence.passage].text, evidence.span
            assert text[span.start : span.end] == span.text
