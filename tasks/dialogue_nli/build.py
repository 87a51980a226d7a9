"""
Downloads Dialogue NLI (Welleck et al. 2019) through ParlAI's own task ``dialogue_nli``,
one archive of 390 MB. Both tasks read it from ``<datapath>/dialogue_nli``, where you
can place its files by hand. Their pairs are counted on reading.
"""

from pathlib import Path

from parlai_q2.errors import TaskDataError

HOME = 'https://wellecks.com/dialogue_nli/'
# The folders to look in: those of the archive, and that for files placed by hand.
FOLDERS = ('dnli/dialogue_nli', 'dialogue_nli', '')


def build(datapath: str, name: str) -> Path:
    """The path of a file of the archive; a TaskDataError when it cannot be fetched."""
    from parlai.tasks.dialogue_nli.build import build as build_dialogue_nli

    folder = Path(datapath, 'dialogue_nli')
    paths = [folder / inner / name for inner in FOLDERS]
    if not any(path.is_file() for path in paths):
        try:
            build_dialogue_nli({'datapath': datapath})
            if not any(path.is_file() for path in paths):
                raise FileNotFoundError(f'{name} is not in {folder}')
        except Exception as e:
            # ParlAI lets all errors of its network library through.
            raise TaskDataError(
                f'Could not get Dialogue NLI ({e}). Without a network, fetch its '
                f'archive elsewhere from {HOME}, unpack it and place {name} in '
                f'{folder}. Then run the command again.'
            ) from e
    return next(path for path in paths if path.is_file())
