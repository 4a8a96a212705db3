"""A server of files on loopback that answers ranges, as stores of rasters do, and fails on request.

It is a process of its own: GDAL may wait for it while no other thread of Python can run. Faults
are: "stall" (nothing after the head), "early" (half of what was promised), "long" (more
is promised than is there), "no ranges" (whole files), "error" (500), "gone" (404), "slow" (50 ms a
request).
"""

from __future__ import annotations

import re
import subprocess
import sys
import time
from contextlib import contextmanager
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.request import urlopen


class _Handler(SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_HEAD(self):
        self._answer(with_body=False)

    def do_GET(self):
        self._answer(with_body=True)

    def _answer(self, *, with_body):
        server = self.server
        if self.path.startswith("/fault="):
            server.fault = self.path.partition("=")[2].replace("_", " ")
            self.send_response(204)
            self.end_headers()
            return
        file = Path(server.folder, self.path.partition("?")[0].lstrip("/"))
        fault = server.fault
        if fault == "slow":
            time.sleep(0.05)
        if fault in ("error", "gone") or not file.is_file():
            self.send_error(500 if fault == "error" else 404)
            return
        content = file.read_bytes()
        size = len(content)
        told = 2 * size if fault == "long" else size
        asked = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
        if asked and fault != "no ranges":
            first = int(asked[1])
            last = min(int(asked[2] or told - 1), told - 1)
            if first >= size:
                self.send_response(416)
                self.send_header("Content-Length", "0")
                self.end_headers()
                return
            self.send_response(206)
            self.send_header("Content-Range", f"bytes {first}-{last}/{told}")
            content, told = content[first : last + 1], last - first + 1
        else:
            self.send_response(200)
        self.send_header("Accept-Ranges", "none" if fault == "no ranges" else "bytes")
        self.send_header("Content-Length", str(told))
        self.end_headers()
        if not with_body:
            return
        if fault == "stall":
            time.sleep(60)
        self.wfile.write(content[: len(content) // 2] if fault == "early" else content)
        if fault in ("early", "long", "stall"):
            self.close_connection = True

    def log_message(self, *_):
        pass


class Served:
    """A folder that is served; ``fault`` can be set."""

    def __init__(self, folder, port):
        self.folder = folder
        self.address = f"http://127.0.0.1:{port}"

    def __setattr__(self, name, value):
        if name == "fault":
            urlopen(f"{self.address}/fault={(value or '').replace(' ', '_')}").close()
        else:
            super().__setattr__(name, value)


@contextmanager
def served(folder):
    """Yield a server of a folder."""
    with subprocess.Popen(
        [sys.executable, __file__, folder], stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            yield Served(folder, int(process.stdout.readline()))
        finally:
            process.kill()


if __name__ == "__main__":
    own = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    own.daemon_threads = True
    own.folder, own.fault = Path(sys.argv[1]), ""
    print(own.server_port, flush=True)
    own.serve_forever()
