"""
Whether the Hugging Face hub can be reached, asked once and briefly: its client repeats
failed requests for a minute and a half.
"""

import os
import socket
import threading
from functools import lru_cache
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

TIMEOUT = 3.0  # seconds
HTTPS = 443


@lru_cache(maxsize=1)
def is_reachable() -> bool:
    """Whether the hub, or the proxy on the way to it, accepts a connection."""
    from huggingface_hub import constants

    if constants.HF_HUB_OFFLINE or os.environ.get('TRANSFORMERS_OFFLINE') == '1':
        return False
    url = urlsplit(constants.ENDPOINT)
    proxy = getproxies().get(url.scheme)
    if proxy and not proxy_bypass(url.hostname or ''):
        url = urlsplit(proxy)
    return can_connect(url.hostname or '', url.port or HTTPS)


def is_cached(name: str) -> bool:
    """Whether anything of a hub model was fetched before."""
    from huggingface_hub import constants
    from huggingface_hub.file_download import repo_folder_name

    folder = repo_folder_name(repo_id=name, repo_type='model')
    return Path(constants.HF_HUB_CACHE, folder).is_dir()


def can_connect(host: str, port: int, timeout: float = TIMEOUT) -> bool:
    """
    Whether a host accepts a connection within a time, in seconds. The time includes
    looking up its address, which has no limit of its own.
    """
    connected = threading.Event()

    def connect() -> None:
        try:
            socket.create_connection((host, port), timeout).close()
            connected.set()
        except OSError:
            pass

    thread = threading.Thread(target=connect, daemon=True)
    thread.start()
    thread.join(timeout)
    return connected.is_set()
