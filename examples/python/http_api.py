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

    seen = set()
    arrived = queue.Queue()
    lock = threading.Lock()

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        key = self.headers["Idempotency-Key"]
        with self.lock:
            if key not in self.seen:
                self.seen.add(key)
                self.arrived.put((key, body.decode()))
        self.send_response(204)  # 2xx ends the run well; 5xx, 408 and 429 are tried again
        self.end_headers()

    def log_message(self, *_):
        """Say nothing about single requests."""


def main():
    hook = ThreadingHTTPServer(("127.0.0.1", 0), Hook)
    threading.Thread(target=hook.serve_forever, daemon=True).start()

    # A slash in a name may be written as it is; %2F is always right.
    path = "/api/v1/jobs/" + urllib.parse.quote("examples/python-http", safe="")
    ask("PUT", path, {
        "schedule": "@every 500ms",
        "max_runs": 3,
        "target": {"kind": "http", "url": f"http://127.0.0.1:{hook.server_port}/hook"},
        "payload": {"from": "python-http"},
    })
    for _ in range(3):
        key, body = Hook.arrived.get(timeout=15)
        print("run", key, body)
    ask("DELETE", path)
    hook.shutdown()


if __name__ == "__main__":
    main()
