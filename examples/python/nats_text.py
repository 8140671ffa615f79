"""Registers a job over NATS and receives its runs, with the standard library alone.

NATS is a protocol of text lines, so few lines of Python are enough to speak it. A program for production takes the
client for NATS in Python, nats-py, which reconnects and knows TLS; its request() and subscribe() take the same subjects
and bodies as ask() and subscribe() here.
"""

import collections
import json
import os
import secrets
import socket
import urllib.parse


class Connection:
    """A connection to a NATS server, for one thread."""

    def __init__(self, url):
        address = urllib.parse.urlsplit(url)
        self.socket = socket.create_connection((address.hostname, address.port or 4222), timeout=15)
        self.file = self.socket.makefile("rb")
        self.file.readline()  # INFO, what the server is
        self.send(b"CONNECT " + json.dumps({"verbose": False, "pedantic": False, "headers": True, "no_responders": True}).encode())
        self.waiting = collections.deque()
        self.inbox = "_INBOX." + secrets.token_hex(11)
        self.subscribe(self.inbox, 1)

    def send(self, line):
        self.socket.sendall(line + b"\r\n")

    def subscribe(self, subject, number, group=""):
        self.send(f"SUB {subject} {group} {number}".encode())

    def ask(self, verb, body, expected=None):
        """Return the reply of a verb: a request to carillon.v1.<tenant>.<verb> with one JSON object.

        A refusal ends the program, unless its code is the one expected.
        """
        text = json.dumps(body).encode()
        self.send(f"PUB carillon.v1.default.{verb} {self.inbox} {len(text)}".encode() + b"\r\n" + text)
        while True:
            number, headers, reply = message = self.receive()
            if number != 1:
                self.waiting.append(message)  # a run that came before the reply
                continue
            if not reply:
                raise SystemExit("no server answers: " + headers.get("", "").strip())
            reply = json.loads(reply)
            error = reply.get("error")
            if error and error["code"] != expected:
                raise SystemExit(f"{error['code']}: {error['message']}")
            return reply

    def receive(self):
        """Return the number of the subscription, the headers and the body of the next message."""
        while line := self.file.readline():
            word, *rest = line.split()
            if word == b"PING":
                self.send(b"PONG")
            elif word == b"-ERR":
                raise SystemExit(line.decode().strip())
            elif word in (b"MSG", b"HMSG"):
                size = int(rest[-1])
                head = int(rest[-2]) if word == b"HMSG" else 0
                text = self.file.read(size + 2)[:size]
                return int(rest[1]), parse(text[:head]), text[head:]
        raise SystemExit("the server has closed the connection")

    def next(self):
        """Return the next message of a subscription other than that of replies."""
        return self.waiting.popleft() if self.waiting else self.receive()

    def close(self):
        self.socket.close()


def parse(head):
    """Return the headers of a message; the first line, with the version and perhaps a status, has the name ""."""
    first, *lines = head.decode().split("\r\n")
    return {"": first} | {name: value.strip() for name, _, value in (line.partition(":") for line in lines if line)}


def main():
    nats = Connection(os.environ.get("CARILLON_SERVER", "nats://127.0.0.1:4222"))
    # Workers of one queue group share the runs.
    nats.subscribe("examples.python", 2, "workers")
    # A put without "paused" resumes a job that an operator has paused, so this one keeps the pause. If the job
    # was paused or resumed between the two requests, "if_version" refuses the put; 0 means that there is no such job.
    name = "examples/python-nats"
    had = nats.ask("jobs.get", {"name": name}, expected="not_found").get("job", {})
    job = nats.ask("jobs.put", {
        "name": name,
        "schedule": "@every 500ms",
        "target": {"kind": "nats", "subject": "examples.python"},
        "payload": {"from": "python-nats"},
        "paused": had.get("paused", False),
        "if_version": had.get("version", 0),
    })["job"]
    if job["paused"]:
        raise SystemExit(f"{name} is paused and has no runs until it is resumed")
    print(f"{name} is on disk, next run {job['next_run_at']}")
    for _ in range(3):
        _, headers, body = nats.next()
        # The run id is the same for each attempt of a run: the key by which to do the work once.
        print("run", headers.get("Carillon-Run-Id"), body.decode())
    nats.ask("jobs.delete", {"name": name})
    nats.close()


if __name__ == "__main__":
    main()
