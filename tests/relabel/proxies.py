"""What stands between a browser and the server: a tunnel, and nginx."""

from __future__ import annotations

import shutil
import socket
import subprocess
import threading
import time
from contextlib import suppress

from .browser import lacking

PATIENCE = 20  # seconds


class Tunnel:
    """Passes bytes from a port of its own to another, as ``ssh -L`` does between two machines."""

    def __init__(self):
        self._to = None
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port = self._listening.getsockname()[1]
        self._open = [self._listening]
        threading.Thread(target=self._accept, daemon=True).start()

    def lead_to(self, port):
        """Say where the bytes go; it comes after the server, which is told of the port here."""
        self._to = port

    def close(self):
        for end in self._open:
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()

    def _accept(self):
        with suppress(OSError):
            while True:
                near, _ = self._listening.accept()
                self._open.append(near)
                try:
                    far = socket.create_connection(("127.0.0.1", self._to))
                except ConnectionRefusedError:
                    near.close()
                    continue
                self._open.append(far)
                for ends in ((near, far), (far, near)):
                    threading.Thread(target=_pass_on, args=ends, daemon=True).start()


def _pass_on(source, target):
    with suppress(OSError):
        while some := source.recv(65536):
            target.sendall(some)
        target.shutdown(socket.SHUT_WR)


class Nginx:
    """An nginx with one server block.

    Parameters
    ----------
    folder : Path
        For its configuration and logs.
    block : str
        The directives of ``server { }``.
    port : int
        The one that it listens at.
    """

    def __init__(self, folder, block, port):
        program = shutil.which("nginx", path="/usr/sbin:/usr/local/sbin:/usr/bin:/usr/local/bin")
        if program is None:
            lacking("no nginx; apt-get install nginx-light")
        self._port = port
        folder.mkdir()
        temporary = "".join(
            f"  {name}_temp_path {folder};\n"
            for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        )
        text = (
            f"pid {folder}/pid;\nerror_log {folder}/error.log;\nevents {{}}\n"
            f"http {{\n  access_log off;\n{temporary}  server {{\n{block}\n  }}\n}}\n"
        )
        (folder / "nginx.conf").write_text(text)
        command = [program, "-p", folder, "-c", folder / "nginx.conf", "-g", "daemon off;"]
        self._process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        self._wait()

    def close(self):
        self._process.terminate()
        self._process.communicate(timeout=PATIENCE)

    def _wait(self):
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            assert self._process.poll() is None, self._process.stderr.read()
            with suppress(OSError), socket.create_connection(("127.0.0.1", self._port)):
                return
            time.sleep(0.02)
        raise AssertionError("nginx does not answer")


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as found:
        return found.getsockname()[1]


def self_signed(folder, name="localhost"):
    """Return certificate and key of a name, made on the spot."""
    program = shutil.which("openssl")
    if program is None:
        lacking("no openssl; apt-get install openssl")
    certificate, key = folder / "certificate.pem", folder / "key.pem"
    subject = ["-subj", f"/CN={name}", "-addext", f"subjectAltName=DNS:{name}"]
    command = [program, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", *subject]
    made = subprocess.run(
        [*command, "-keyout", key, "-out", certificate], capture_output=True, text=True
    )
    assert made.returncode == 0, made.stderr
    return certificate, key
