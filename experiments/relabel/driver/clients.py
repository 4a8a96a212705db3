"""A client that speaks the protocol of the page, without a browser."""

from __future__ import annotations

import json
import time
from itertools import count
from socket import create_connection

import numpy as np
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from diffclass_relabel.maps import unpack_frame

PATIENCE = 30  # seconds
PLANES = {"map": ["ids", "margin", "probability"], "labels": ["ids"]}


class PageClient:
    """A WebSocket as the page opens it, and the newest of each kind of message."""

    def __init__(
        self,
        gate,
        *,
        token=None,
        origin=None,
        name=None,
        host=None,
        path="/ws",
        session=None,
        **headers,
    ):
        base = host or f"127.0.0.1:{gate.port}"
        query = f"token={gate.token if token is None else token}"
        query += f"&client={name}" if name else ""
        query += f"&session={session}" if session else ""
        self.socket = connect(
            f"ws://{base}{path}?{query}",
            sock=create_connection(("127.0.0.1", gate.port)),
            origin=origin or f"http://{base}",
            additional_headers=headers,
            max_size=None,
            compression=None,
            legacy=True,
        )
        self.numbers = count(1)
        self.seen = {}
        self.frames = {}
        self.heard = []
        self.rows = self.columns = 0  # until it is greeted
        self.included = 0  # number of this client's newest operation in the state
        self.version = 0  # of the last operation that was done for this client

    def close(self):
        self.socket.close()

    def hear(self, timeout=PATIENCE):
        """Take one message in and return it: a dict, or (header, planes)."""
        message = self.socket.recv(timeout)
        if isinstance(message, bytes):
            header, planes = unpack_frame(message, self.rows * self.columns)
            if "window" in header:
                planes = self.whole(header, planes)
            self.frames[header["kind"]] = (header, planes)
            self.heard.append(header["kind"])
            return header, planes
        content = json.loads(message)
        self.heard.append(content["kind"])
        if content["kind"] == "hello":
            self.rows, self.columns = content["scene"]["rows"], content["scene"]["columns"]
            self.seen["state"] = content["state"]
        self.version = max(self.version, content.get("version", 0))
        self.included = content.get("included", self.included)
        self.seen[content["kind"]] = content["state"] if content["kind"] == "state" else content
        return content

    def whole(self, header, planes):
        """Lay a piece of a map or labels over what has arrived before; returns all of it."""
        top, left, bottom, right = header["window"]
        names = PLANES[header["kind"]]
        shape = len(names), self.rows, self.columns
        before = self.frames.get(header["kind"], (None, np.zeros(shape, np.uint8)))[1]
        whole = before.reshape(shape).copy()
        which = [names.index(name) for name in header.get("names", names)]
        whole[which, top:bottom, left:right] = planes.reshape(-1, bottom - top, right - left)
        return whole.reshape(len(names), -1)

    def hello(self):
        """Take in the greeting."""
        while "hello" not in self.seen:
            self.hear()
        return self.seen["hello"]

    def end(self, message=None):
        """Send, if anything, and hear until the server closes; returns its code, if it got here."""
        try:
            if message is not None:
                self.send(message)
            while True:
                self.hear()
        except ConnectionClosed as closed:
            return closed.rcvd and closed.rcvd.code

    def send(self, message, *, number=None):
        """Send without waiting; returns the number."""
        number = next(self.numbers) if number is None else number
        self.socket.send(json.dumps({"seq": number} | message))
        return number

    def reply(self, number):
        """Take messages in until the one with this number."""
        while True:
            content = self.hear()
            if isinstance(content, dict) and content.get("seq") == number:
                return content

    def ask(self, question, /, **fields):
        self.hello()
        return self.reply(self.send({"ask": question} | fields))

    def do(self, operation, /, **fields):
        """Send an operation, whole or its name and fields; returns the answer."""
        self.hello()
        whole = operation if isinstance(operation, dict) else {"op": operation} | fields
        return self.reply(self.send({"op": whole}))

    def settled(self):
        """Take messages in until the map is up to date: (class ids, margins, probabilities)."""
        self.hello()
        end = time.monotonic() + PATIENCE
        while (
            self.state["stale"]
            or self.state["computing"]
            or self.state["version"] < self.version
            or "map" not in self.frames
            or self.frames["map"][0]["left"]
        ):
            assert time.monotonic() < end, self.state
            self.hear()
        return self.frames["map"][1]

    def refined(self):
        """As `settled`, once no better map is to follow, such as that with sizes of classes."""
        self.settled()
        end = time.monotonic() + PATIENCE
        while not self.state["refined"]:
            assert time.monotonic() < end, self.state
            self.hear()
        return self.settled()

    @property
    def state(self):
        return self.seen["state"]

    @property
    def labels(self):
        return self.frames["labels"][1][0]
