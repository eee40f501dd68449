#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""GET .../context and the note of a run report which blocks of which entries are not sent."""
import sys
import time

from client import WAIT_S, Place, Server, Tally


def main():
    tally = Tally()
    with Place() as place, Server(place) as server:
        client = server.client()
        client.post("/ops/entry.append", {"id": "heard", "content": [
            {"type": "text", "text": "listen"}, {"type": "audio", "data": "QUJD"}]})
        context = client.get("/discussions/main/context?provider=anthropic").json
        tally.equal("context", context["unsent"], [
            "1 block of type audio in entry heard is not sent: a request to anthropic cannot contain it"])
        tally.check("context: the rest is sent", "listen" in str(context["body"]), context)
        run = client.post("/discussions/main/runs",
                          {"how": "ask", "text": "and now?", "model": "builtin/echo"}).json
        end = time.monotonic() + WAIT_S
        while run.get("state") == "running" and time.monotonic() < end:
            time.sleep(0.05)
            run = client.get("/runs/" + run["run"]).json
        tally.equal("a run: done", run.get("state"), "done", run)
        tally.check("a run: its note", "1 block of type audio in entry heard is not sent" in
                    run.get("note", ""), run)
        client.post("/ops/entry.append", {"kind": "whatever", "content": "IMPORTANT"})
        context = client.get("/discussions/main/context?provider=openai").json
        tally.check("an unknown kind is sent", "IMPORTANT" in str(context["body"]), context)
        answer = client.get("/models?provider=nope")
        tally.check("an unknown provider", answer.status == 404 and "available: " in
                    answer.body.decode(), answer)
    return tally.end()


if __name__ == "__main__":
    sys.exit(main())
