"""The input and output files of a command."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from parlai_q2.cli import log
from parlai_q2.errors import ConfigError
from parlai_q2.signature import Signature, assumed


def given_file(opt: Mapping[str, Any], name: str, example: str = 'FILE') -> Path:
    """
    The file that an option names, e.g. ``outfile``. It is checked here because the
    parser would also refuse ``--help`` without it.

    :raises ConfigError: when the option is missing.
    """
    if not opt.get(name):
        raise ConfigError(f'--{name} is missing. Give a file: --{name} {example}')
    return Path(opt[name])


def given_files(opt: Mapping[str, Any]) -> tuple[Path, Path]:
    """``--infile`` and ``--outfile``, like :func:`given_file`."""
    return given_file(opt, 'infile'), given_file(opt, 'outfile')


def add_fields_option(group: Any) -> None:
    """Add ``--fields``, read by :func:`~parlai_q2.io.fields.read_fields`."""
    group.add_argument(
        '--fields',
        help='other names of the fields in your file, such as '
        "'knowledge=context,history=question'",
    )


def report_signature(signature: str, summary: Path | None) -> None:
    """Log the signature, and the file that has it in full, if one does."""
    parsed = Signature.from_text(signature)
    where = f', in full in {summary}' if summary else ''
    log.info(f'Signature: {parsed.short}{where}')
    log.debug(f'Signature in full: {signature}')
    prior = parsed.settings.get('prior')
    if prior and (sentence := assumed(float(prior))):
        log.info(sentence)
