"""A small WordNet of our own in files that NLTK reads like the real ones."""

from pathlib import Path

# By part of speech: each synset's words, its hypernym by a word, and its antonym.
SYNSETS = {
    'noun': [
        (['animal'], '', ''),
        (['fish'], 'animal', ''),
        (['dog', 'hound'], 'animal', ''),
        (['cat'], 'animal', ''),
        (['city'], '', ''),
        (['start', 'beginning'], '', 'end'),
        (['end'], '', 'start'),
    ],
    'verb': [(['win'], '', 'lose'), (['lose'], '', 'win')],
    'adj': [(['old'], '', 'new'), (['new'], '', 'old'), (['large', 'big'], '', '')],
    'adv': [(['often'], '', 'rarely'), (['rarely'], '', 'often')],
}
LETTERS = {'noun': 'n', 'verb': 'v', 'adj': 'a', 'adv': 'r'}
HEADER = '  1 WordNet 3.0 Copyright of nobody: written for tests.\n'


def write_wordnet(folder: Path) -> Path:
    """Write ``corpora/wordnet``; return the folder, for ``NLTK_DATA``."""
    place = folder / 'corpora' / 'wordnet'
    place.mkdir(parents=True)
    for part, synsets in SYNSETS.items():
        offsets: dict[str, int] = {}
        for _ in range(
            2
        ):  # offsets are of one width, so the second pass has them right
            text, at = HEADER, len(HEADER)
            for words, above, opposite in synsets:
                offsets[words[0]] = at
                line = _line(part, words, above, opposite, synsets, offsets, at)
                text, at = text + line, at + len(line)
        (place / f'data.{part}').write_text(text)
        index = ''.join(
            f'{word} {LETTERS[part]} 1 0 1 0 {offsets[words[0]]:08d}  \n'
            for word, words in sorted((w, ws) for ws, *_ in synsets for w in ws)
        )
        (place / f'index.{part}').write_text(HEADER + index)
        (place / f'{part}.exc').write_text('')
    lexnames = ''.join(f'{n:02d}\tnoun.any\t1\n' for n in range(45))
    (place / 'lexnames').write_text(lexnames)
    for name in ('index.sense', 'cntlist.rev'):
        (place / name).write_text('')
    return folder


def _line(part, words, above, opposite, synsets, offsets, at) -> str:
    letter = LETTERS[part]
    pointers = []
    if above:
        pointers.append(f'@ {offsets.get(above, 0):08d} {letter} 0000')
    for below, parent, _ in synsets:
        if parent == words[0]:
            pointers.append(f'~ {offsets.get(below[0], 0):08d} {letter} 0000')
    if opposite:
        pointers.append(f'! {offsets.get(opposite, 0):08d} {letter} 0101')
    entry = ' '.join(f'{word} 0' for word in words)
    frames = ' 01 + 02 00' if part == 'verb' else ''
    links = ' '.join([f'{len(pointers):03d}', *pointers])
    file = {'noun': '03', 'verb': '29', 'adj': '00', 'adv': '02'}[part]
    return (
        f'{at:08d} {file} {letter} {len(words):02x} {entry} {links}{frames} | a gloss\n'
    )
