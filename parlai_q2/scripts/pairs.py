"""
``parlai_q2 pairs``: writes preferred and rejected replies from ranked candidates, for
training from preferences (DPO).
"""

from parlai_q2.cli import log
from parlai_q2.cli.parser import given_files
from parlai_q2.errors import ConfigError, InputError
from parlai_q2.io.write import AGAIN, as_write_error, whole_file, writable
from parlai_q2.json_values import write_json
from parlai_q2.models.prompts import REPLY, Prompt
from parlai_q2.options import OptionParser, Options, line_ends
from parlai_q2.runs.preferences import DEFAULT_MARGIN, read_pairs


def add_options(parser: OptionParser) -> None:
    group = parser.add_argument_group('Pairs of replies')
    group.add_argument(
        '--infile',
        help='the output of parlai_q2 rerank, a file or a folder, or a log of '
        'the reranking agent (--world-logs)',
    )
    group.add_argument('--outfile', help='JSON lines file to write')
    group.add_argument(
        '--margin',
        type=float,
        default=DEFAULT_MARGIN,
        help='the least difference between the two scores of a pair, in (0, 1]',
    )
    group.add_argument(
        '--prompt-template',
        default=REPLY,
        help="the generator's prompt: a format string with {history} and "
        '{knowledge}, or reply for the prompt of the shipped reply model',
    )


def run(opt: Options) -> dict[str, int]:
    """Write the pairs of the file that options name; return the counts."""
    infile, outfile = given_files(opt)
    outfile = writable(outfile, infile)
    margin = opt['margin']
    if not 0 < margin <= 1:
        raise ConfigError(f'--margin is {margin}; it must be in (0, 1].')
    prompt = Prompt(line_ends(opt['prompt_template']))
    pairs, turns = 0, 0
    problems = log.Problems('No pair')
    with (
        as_write_error(outfile, AGAIN),
        whole_file(outfile) as unfinished,
        open(unfinished, 'w', encoding='utf-8') as stream,
    ):
        for record in read_pairs(infile, prompt, margin):
            if record.error is not None:
                problems.add(record.error)
                continue
            turns += 1
            if record.parsed is not None:
                pairs += 1
                stream.write(write_json(record.parsed) + '\n')
        if not turns:
            raise InputError(f'{infile} has no ranked turns. Run: parlai_q2 rerank')
    log.info(f'Wrote {outfile}: {pairs} pairs from {turns} turns.')
    return {'turns': turns, 'pairs': pairs, 'bad': problems.count}
