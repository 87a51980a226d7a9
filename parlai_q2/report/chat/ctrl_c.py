"""
Ends a process soon after Ctrl-C, even while a model's native code runs. Python itself
raises KeyboardInterrupt only when that code has returned, which may take a minute.
"""

import os
import signal
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

# What a shell gives a command that Ctrl-C ended.
EXIT_CODE = 128 + signal.SIGINT


@contextmanager
def end_within(seconds: float) -> Iterator[None]:
    """
    If Ctrl-C comes within this block and has not ended it after that time, end the
    process. Outside of the main thread, which alone hears signals, do nothing.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    reader, writer = socket.socketpair()
    writer.setblocking(False)
    before = signal.set_wakeup_fd(writer.fileno(), warn_on_full_buffer=False)
    has_ended = threading.Event()
    watcher = threading.Thread(
        target=_watch, args=[reader, has_ended, seconds], daemon=True
    )
    watcher.start()
    try:
        yield
    finally:
        has_ended.set()
        signal.set_wakeup_fd(before)
        writer.close()
        watcher.join()
        reader.close()


def _watch(reader: socket.socket, has_ended: threading.Event, seconds: float) -> None:
    while number := reader.recv(1):
        if number[0] == signal.SIGINT and not has_ended.wait(seconds):
            sys.stderr.write('Ended in the middle of a reply.\n')
            sys.stderr.flush()
            os._exit(EXIT_CODE)
