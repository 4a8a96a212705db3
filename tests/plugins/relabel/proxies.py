"""What stands between a browser and the server: a tunnel, and nginx."""

from __future__ import annotations

import queue
import random
import shutil
import socket
import subprocess
import threading
import time
from contextlib import suppress

from .browser import lacking

PATIENCE = 20  # seconds


class Tunnel:
    """Passes bytes from a port of its own to another, as ``ssh -L`` does between two machines.

    Attributes
    ----------
    delay : float
        Seconds that bytes are on their way in each direction. It may change at any time.
    jitter : float
        They take up to this much longer, by a seeded generator, and still come in their order.
    """

    def __init__(self, *, seed=0):
        self.delay = self.jitter = 0.0
        self._random = random.Random(seed)
        self._to = None
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port = self._listening.getsockname()[1]
        self._open = [self._listening]
        threading.Thread(target=self._accept, daemon=True).start()

    def lead_to(self, port):
        """Say where the bytes go; it comes after the server, which is told of the port here.

        Returns where they went before.
        """
        before, self._to = self._to, port
        return before

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
                    on_their_way = queue.SimpleQueue()
                    for work, end in ((self._take, ends[0]), (_bring, ends[1])):
                        arguments = end, on_their_way
                        threading.Thread(target=work, args=arguments, daemon=True).start()

    def _take(self, source, on_their_way):
        """Take bytes in and say when they are due."""
        with suppress(OSError):
            while some := source.recv(65536):
                late = self.delay + self.jitter * self._random.random()
                on_their_way.put((time.monotonic() + late, some))
        on_their_way.put((0.0, b""))


def _bring(target, on_their_way):
    with suppress(OSError):
        while (due_and_some := on_their_way.get())[1]:
            due, some = due_and_some
            time.sleep(max(due - time.monotonic(), 0))
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
