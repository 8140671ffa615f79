"""Registers a job over HTTP and receives its runs as a web hook, with the standard library alone.

The server must be allowed to call loopback addresses: carillon serve --allow-private-targets.
"""

import json
import os
import queue
import threading
import urllib.error
import urllib.parse
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SERVER = os.environ.get("CARILLON_SERVER", "http://127.0.0.1:7272")


def ask(method, path, body=None):
    """Return the reply to a request. On a server with rights, CARILLON_TOKEN has the token."""
    request = urllib.request.Request(SERVER + path, method=method)
    if body is not None:
        request.data = json.dumps(body).encode()
        request.add_header("Content-Type", "application/json")
    if token := os.environ.get("CARILLON_TOKEN"):
        request.add_header("Authorization", f"Bearer {token}")
    try:
        with urllib.request.urlopen(request, timeout=10) as reply:
            return json.load(reply)
    except urllib.error.HTTPError as refused:
        error = json.load(refused)["error"]
        raise SystemExit(f"{refused.code} {error['code']}: {error['message']}") from None


class Hook(BaseHTTPRequestHandler):
    """Receives runs. A run may arrive twice, after a crash or a lost reply, and always with the same key."""

    done = set()
    worked = queue.Queue()
    lock = threading.Lock()

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        key = self.headers["Idempotency-Key"]
        status, answer = 204, b""  # 2xx ends the run well
        try:
            with self.lock:
                if key not in self.done:
                    # The work comes first and its key second, because a key without its work would make the next attempt
                    # succeed with nothing done. A crash between the two repeats the work; where that hurts, both belong
                    # into one transaction, as in go-exactly-once.
                    self.work(key, self.headers["Carillon-Attempt"], body.decode())
                    self.done.add(key)
        except Exception as error:
            status, answer = 500, str(error).encode()  # 5xx, 408 and 429 are tried again
        self.send_response(status)
        self.end_headers()
        self.wfile.write(answer)

    def work(self, key, attempt, body):
        """Fail at the first attempt of each run, for the example."""
        if attempt == "1":
            raise RuntimeError("the first attempt fails, for the example")
        self.worked.put((key, body))

    def log_message(self, *_):
        """Say nothing about single requests."""


def main():
    hook = ThreadingHTTPServer(("127.0.0.1", 0), Hook)
    threading.Thread(target=hook.serve_forever, daemon=True).start()

    # A slash in a name may be written as it is; %2F is always right.
    path = "/api/v1/jobs/" + urllib.parse.quote("examples/python-http", safe="")
    # A put resumes a paused job; nats_text.py shows how to keep a pause.
    ask("PUT", path, {
        "schedule": "@every 500ms",
        "target": {"kind": "http", "url": f"http://127.0.0.1:{hook.server_port}/hook"},
        "payload": {"from": "python-http"},
        "retry": {"max_attempts": 5, "initial_interval": "100ms"},
    })
    for _ in range(3):
        key, body = Hook.worked.get(timeout=15)
        print("run", key, body)
    ask("DELETE", path)
    hook.shutdown()


if __name__ == "__main__":
    main()
