#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A run with clear_draft clears the draft in the step that adds the question (C61)."""
import sys
import time

from client import WAIT_S, Place, Server, Tally


def ask(client, **members):
    run = client.post("/discussions/main/runs", {"how": "ask", "model": "builtin/echo", **members}).json
    end = time.monotonic() + WAIT_S
    while run.get("state") == "running" and time.monotonic() < end:
        time.sleep(0.05)
        run = client.get("/runs/" + run["run"]).json
    return run


def draft(client):
    return client.get("/discussions/main/settings").json["settings"].get("draft")


def texts(client):
    return [entry["content"] for entry in client.get("/discussions/main/entries").json["entries"]]


def main():
    tally = Tally()
    with Place() as place, Server(place) as server:
        client = server.client()
        client.post("/ops/setting.set", {"key": "draft", "value": "first?"})
        ask(client, text="another one")
        tally.equal("without it, the draft stays", draft(client), "first?")
        tally.equal("it runs", ask(client, text="first?", clear_draft=True).get("state"), "done")
        tally.equal("the draft is cleared", draft(client), None)
        tally.equal("the question is there", texts(client)[2], "first?")
        client.post("/ops/undo", {"count": 2})
        tally.equal("undo of the reply and the question", len(texts(client)), 2)
        tally.equal("brings the draft back", draft(client), "first?")
        client.post("/ops/redo", {"count": 2})
        tally.equal("redo clears it again", draft(client), None)
        client.post("/ops/setting.set", {"key": "auto_add_history", "value": False})
        client.post("/ops/setting.set", {"key": "draft", "value": "aside?"})
        aside = ask(client, text="aside?", clear_draft=True)
        tally.check("aside: the note names the take", "to continue this exchange, switch to its take, " in aside.get("note", ""), aside)
        tally.equal("aside: the draft is cleared", draft(client), None)
        answer = client.post("/discussions/main/runs", {"text": "x", "clear_draft": "yes"})
        tally.equal("another type is refused", answer.status, 400, answer)
    return tally.end()


if __name__ == "__main__":
    sys.exit(main())
