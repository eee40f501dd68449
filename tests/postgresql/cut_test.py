# SPDX-License-Identifier: MIT
"""cut_test.py SOCKET: the network between a server and its database is cut without a notice
(tests/failures/cut.py). The server is not ready then, and ready again afterwards; changes that were
sent meanwhile are carried out once."""
import os
import signal
import socket
import subprocess
import sys
import threading
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests/server"))
from client import Place, Server, Tally  # noqa: E402


def free_port():
    with socket.socket() as wire:
        wire.bind(("127.0.0.1", 0))
        return wire.getsockname()[1]


def await_port(port):
    end = time.monotonic() + 20
    while time.monotonic() < end:
        with socket.socket() as wire:
            if wire.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise RuntimeError(f"nothing listens on port {port}")


def until(wanted, client, limit_s):
    """Whether /readyz responds with this status within the time."""
    end = time.monotonic() + limit_s
    while time.monotonic() < end:
        if client.request("GET", "/readyz").status == wanted:
            return True
        time.sleep(0.1)
    return False


def set_read_only(value):
    for text in (f"ALTER SYSTEM SET default_transaction_read_only = {value}", "SELECT pg_reload_conf()"):
        subprocess.run(["psql", "-X", "-q", "-h", os.path.dirname(sys.argv[1]), "-U", "retake", "-d", "postgres", "-c",
                        "SET default_transaction_read_only = off", "-c", text], check=True, stdout=subprocess.DEVNULL)
    time.sleep(0.5)


def demoted(tally, client):
    """The primary becomes a standby, to which a connection remains: the change may be sent again."""
    set_read_only("on")
    answer = client.post("/discussions/main/entries", {"content": "demoted"}, {"Idempotency-Key": "d"})
    tally.equal("a change meanwhile", (answer.status, answer.json["code"]), (503, "busy"), answer)
    set_read_only("off")
    tally.equal("and later", client.post("/discussions/main/entries", {"content": "demoted"}, {"Idempotency-Key": "d"}).status, 201)


def main():
    tally = Tally()
    port = free_port()
    network = subprocess.Popen([sys.executable, ROOT + "/tests/failures/cut.py", str(port), sys.argv[1]])
    try:
        await_port(port)
        with Place() as place:
            place.db = f"postgresql://retake@127.0.0.1:{port}/test"
            place.run("add", "first")
            with Server(place) as server:
                client = server.client()
                tally.check("ready", until(200, client, 10))
                network.send_signal(signal.SIGSTOP)
                probe = threading.Thread(target=lambda: server.client().request("GET", "/readyz"))
                probe.start()  # waits
                time.sleep(0.5)
                answers = []
                writer = threading.Thread(target=lambda: answers.append(server.client().post("/discussions/main/entries", {"content": "late"}, {"Idempotency-Key": "k"})))
                writer.start()
                tally.check("not ready while the database does not answer", until(503, client, 5))
                network.send_signal(signal.SIGCONT)
                tally.check("ready again", until(200, client, 30))
                probe.join()
                writer.join()
                again = client.post("/discussions/main/entries", {"content": "late"}, {"Idempotency-Key": "k"})
                tally.equal("carried out, now or before", (again.status, again.headers.get("idempotency-replayed") == "true"), (201, answers[0].status == 201), answers)
                tally.equal("once", [e["content"] for e in client.get("/discussions/main/entries").json["entries"]], ["first", "late"])
                demoted(tally, client)
    finally:
        network.send_signal(signal.SIGCONT)
        network.kill()
        network.wait()
    return tally.end()


if __name__ == "__main__":
    sys.exit(main())
