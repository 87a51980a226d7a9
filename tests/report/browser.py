"""
Drives a real Chromium over its DevTools protocol: real clicks, real keys.

Needs ``chromium`` (or Chrome) on PATH and the package websocket-client, which ParlAI
brings. There is no driver to install.
"""

import base64
import ctypes
import http.client
import json
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

NAMES = ('chromium', 'chromium-browser', 'google-chrome', 'chrome')
FLAGS = (
    '--headless --no-sandbox --disable-gpu --disable-quic --no-first-run '
    '--disable-background-networking --disable-component-update --disable-sync '
    '--hide-scrollbars --remote-debugging-port=0 --disable-dev-shm-usage'
).split()
START_SECONDS = 120
WAIT_SECONDS = 60
# The rows of a table of responses that are open.
OPEN_ROWS = 'tr.below:not([hidden])'
SET_PARENT_DEATH_SIGNAL = 1  # of prctl(2)
KEYS = {'Enter': (13, '\r'), ' ': (32, ' '), 'Tab': (9, ''), 'Escape': (27, '')}


def find_browser() -> str | None:
    """The path of a browser, or None."""
    return next(filter(None, map(shutil.which, NAMES)), None)


def end_with_parent() -> None:
    """End this process when its parent does, as a worker that is killed cannot."""
    ctypes.CDLL(None).prctl(SET_PARENT_DEATH_SIGNAL, signal.SIGKILL)


class Browser:
    """
    One browser with one page.

    :param program: the browser's path.
    :param profile: an empty folder for its profile.
    """

    def __init__(self, program: str, profile: Path):
        import websocket

        self.process = subprocess.Popen(
            [program, *FLAGS, f'--user-data-dir={profile}', 'about:blank'],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            preexec_fn=end_with_parent if sys.platform == 'linux' else None,
        )
        try:
            port = _wait_for_port(profile / 'DevToolsActivePort', self.process)
            self.socket = websocket.create_connection(
                _page_address(port),
                suppress_origin=True,
                http_no_proxy=['127.0.0.1'],
                timeout=START_SECONDS,
            )
        except BaseException:
            self.process.kill()
            raise
        self.sent = 0
        self.events: list[dict[str, Any]] = []
        for domain in ('Page', 'Runtime', 'Log', 'Network'):
            self.call(f'{domain}.enable')

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        """Send one command and wait for its result; events that come first are kept."""
        self.sent += 1
        self.socket.send(
            json.dumps({'id': self.sent, 'method': method, 'params': params})
        )
        while True:
            message = json.loads(self.socket.recv())
            if message.get('id') == self.sent:
                assert 'error' not in message, message
                return message['result']
            self.events.append(message)

    def goto(self, page: Path | str, width: int = 1280, height: int = 900) -> float:
        """
        Open a file, or an address, in a window of that size.

        :return: seconds until it was loaded and drawn.
        """
        url = page if isinstance(page, str) else page.resolve().as_uri()
        # What follows the # is for the page itself, which may take it off.
        self.page = url.partition('#')[0]
        self.size(width, height)
        self.call('Page.navigate', url='about:blank')
        self.events.clear()
        start = time.monotonic()
        self.call('Page.navigate', url=url)
        script = "document.readyState + location.href.replace(/#.*/, '')"
        while self.js(script) != f'complete{self.page}':
            time.sleep(0.02)
        return time.monotonic() - start

    def size(self, width: int, height: int) -> None:
        """Set the window's size, in CSS pixels."""
        self.call(
            'Emulation.setDeviceMetricsOverride',
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )

    def prefer(self, scheme: str) -> None:
        """Prefer ``light`` or ``dark``."""
        feature = {'name': 'prefers-color-scheme', 'value': scheme}
        self.call('Emulation.setEmulatedMedia', features=[feature])

    def js(self, expression: str) -> Any:
        """The value of an expression in the page."""
        result = self.call(
            'Runtime.evaluate', expression=expression, returnByValue=True
        )
        assert 'exceptionDetails' not in result, result
        return result['result'].get('value')

    def wait_for(self, expression: str, seconds: float = WAIT_SECONDS) -> None:
        """Wait until an expression in the page is true."""
        deadline = time.monotonic() + seconds
        while not self.js(f'!!({expression})'):
            assert time.monotonic() < deadline, self.text('body')
            time.sleep(0.02)

    def choose(self, control: str, value: str) -> None:
        """Choose from a list, by its id."""
        self.js(
            f"(() => {{ const e = document.getElementById('{control}'); "
            f"e.value = '{value}'; e.dispatchEvent(new Event('change')); }})()"
        )

    def count_choices(self, *choices: tuple[str, str]) -> dict[tuple[str, str], int]:
        """How many rows match each choice from a list, made alone."""
        counts = {}
        for control, value in choices:
            before = self.js(f"document.getElementById('{control}').value")
            self.choose(control, value)
            # As in "1 to 2 of 2 (of 30 in all)".
            counts[control, value] = int(self.text('#status').split()[4])
            self.choose(control, before)
        return counts

    def text(self, selector: str) -> str:
        """What a person reads in the first such element."""
        return self.js(f'document.querySelector({json.dumps(selector)}).innerText')

    def texts(self, selector: str) -> list[str]:
        """What a person reads in each such element."""
        return self.js(
            f'[...document.querySelectorAll({json.dumps(selector)})]'
            '.map((e) => e.innerText)'
        )

    def count(self, selector: str) -> int:
        """How many such elements there are."""
        return self.js(f'document.querySelectorAll({json.dumps(selector)}).length')

    def click(self, selector: str) -> None:
        """Click in the middle of the first line of the first such element."""
        box = self.js(
            f'(() => {{ const e = document.querySelector({json.dumps(selector)}); '
            "e.scrollIntoView({block: 'center'}); const r = e.getClientRects()[0]; "
            'return [r.x + r.width / 2, r.y + r.height / 2]; })()'
        )
        for kind in ('mousePressed', 'mouseReleased'):
            self.call(
                'Input.dispatchMouseEvent',
                type=kind,
                x=box[0],
                y=box[1],
                button='left',
                clickCount=1,
            )

    def press(self, key: str) -> None:
        """Press one key of :data:`KEYS`."""
        code, text = KEYS[key]
        common = {'key': key, 'windowsVirtualKeyCode': code}
        self.call('Input.dispatchKeyEvent', type='keyDown', text=text, **common)
        self.call('Input.dispatchKeyEvent', type='keyUp', **common)

    def type(self, text: str) -> None:
        """Type a text where the focus is."""
        self.call('Input.insertText', text=text)

    def screenshot(self, path: Path) -> bytes:
        """Save what is in the window as PNG."""
        data = base64.b64decode(self.call('Page.captureScreenshot')['data'])
        path.write_bytes(data)
        return data

    def complaints(self) -> list[str]:
        """Errors in the page, policy violations, and requests to anywhere else."""
        self.js('1')
        origin = 'file:' if self.page.startswith('file:') else self.page
        problems = []
        for event in self.events:
            method, params = event.get('method'), event.get('params', {})
            if method == 'Runtime.exceptionThrown':
                problems.append(json.dumps(params['exceptionDetails']))
            elif method == 'Log.entryAdded':
                problems.append(params['entry']['text'])
            elif method == 'Network.requestWillBeSent':
                url = params['request']['url']
                if not url.startswith((origin, 'data:', 'about:')):
                    problems.append(f'asked for {url}')
            elif method == 'Page.javascriptDialogOpening':
                problems.append(f'a dialogue opened: {params.get("message")}')
        return problems

    def close(self) -> None:
        """End the browser."""
        try:
            self.call('Browser.close')
            self.process.wait(timeout=20)
        except Exception:
            self.process.kill()
            self.process.wait()
        self.socket.close()


def _wait_for_port(file: Path, process: subprocess.Popen) -> int:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        if file.exists() and file.read_text().count('\n'):
            return int(file.read_text().splitlines()[0])
        time.sleep(0.05)
    raise RuntimeError('the browser did not start')


def _page_address(port: int) -> str:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        connection = http.client.HTTPConnection('127.0.0.1', port, timeout=30)
        connection.request('GET', '/json/list')
        targets = json.loads(connection.getresponse().read())
        connection.close()
        for target in targets:
            if target['type'] == 'page':
                return target['webSocketDebuggerUrl']
        time.sleep(0.05)
    raise RuntimeError('the browser opened no page')
