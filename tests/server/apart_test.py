#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Isolation of browser projects: a purge in one leaves runs and the request log of other
projects unchanged, a model that the configuration names differently reads no file, and names
of other projects' objects are not revealed."""
import glob
import json
import os
import sys

from client import Place, Server, Tally

TEXTS = ("hello", "builtin", "echo", "1", "request", ":", "n")


def record(place):
    """The lines of the request log, oldest first."""
    lines = []
    for name in sorted(glob.glob(place.folder + "/state/retake/comms/*")):
        with open(name, encoding="utf-8") as file:
            lines += file.read().splitlines()
    return lines


def run(client, model="builtin/echo"):
    answer = client.post("/discussions/main/runs", {"text": "hello there", "model": model})
    while answer.status < 300 and answer.json["state"] == "running":
        answer = client.get("/runs/" + answer.json["run"])
    return answer


def purges(tally, place, owner, browser):
    name = run(owner).json["run"]
    before = record(place)
    browser.post("/discussions/main/entries", {"content": "hello builtin echo 1 request : n"})
    for text in TEXTS:
        tally.equal("a browser purges " + text, browser.post("/purge", {"text": text}).status, 200)
    tally.equal("the record of the owner is as it was", record(place), before)
    tally.equal("and so is the run", owner.get("/runs/" + name).status, 200)
    run(owner)
    tally.equal("two more lines are written", len(record(place)), len(before) + 2)
    for text in TEXTS:
        tally.equal("the owner purges " + text, owner.post("/purge", {"text": text}).status, 200)
    after = [json.loads(line) for line in record(place)]
    tally.equal("every line is there", len(after), len(before) + 2)
    tally.check("their texts are purged", all(line["v"] == 1 for line in after) and
                after[0]["model"] == "[purged]", after[0])
    tally.equal("and the run", owner.get("/runs/" + name).status, 404)
    run(owner)
    tally.equal("later requests are logged", len(record(place)), len(before) + 4)


def a_log_that_cannot_be_purged(tally, place, owner):
    folder = place.folder + "/state/retake/comms/20990101T000000Z-0123456789abcdef.jsonl"
    os.makedirs(folder)
    answer = owner.post("/purge", {"text": "hello"})
    tally.check("a purge that leaves copies is an error", answer.status >= 500 and
                "0123456789abcdef" in repr(answer.body), answer)
    os.rmdir(folder)
    tally.equal("which can be corrected", owner.post("/purge", {"text": "hello"}).status, 200)


def files(tally, place, owner, browser):
    path = place.folder + "/played.jsonl"
    with open(path, "w", encoding="utf-8") as file:
        file.write('{"text":"out of a file"}\n')
    for model in ("builtin/play:" + path, "mine/play:" + path, "play:" + path):
        answer = browser.post("/discussions/main/runs", {"text": "?", "model": model})
        tally.equal("no file for a browser: " + model, answer.status, 409, answer)
    tally.equal("a program may", run(owner, "mine/play:" + path).json["state"], "done")
    # A path that a browser stored in a setting is not opened for the owner either.
    name = browser.get("/info").json["project"]
    for model in ("builtin/play:" + path, "mine/play:" + path):
        browser.put("/settings/model", {"value": model})
        tally.equal("nor for the browser by the setting", browser.post(
            "/discussions/main/runs", {"text": "?"}).status, 409)
        done = place.run("ask", "hi", project=name)
        tally.equal("the owner's command refuses " + model, done.returncode, 1, done.stderr)
        tally.check("and says where to name it", b"-m " + model.encode() in done.stderr, done.stderr)
        tally.check("no text of the file is in the project",
                    "out of a file" not in json.dumps(browser.get("/discussions/main/entries").json))
        done = place.run("ask", "-m", model, "hi", project=name)
        tally.equal("with -m it is played", done.returncode, 0, done.stderr)
        tally.equal("undone", place.run("undo", project=name).returncode, 0)
    for setting in ("builtin/play:" + path, "mine/play:" + path):
        owner.put("/settings/model", {"value": setting})
        tally.equal("nor for a program by the setting", owner.post(
            "/discussions/main/runs", {"text": "?"}).status, 409)
    owner.request("DELETE", "/retake/v1/settings/model")
    tally.equal("no file by the name of a provider", browser.get(
        "/models?provider=builtin%2Fplay:" + path + "%00").status // 100, 4)


def main():
    tally = Tally()
    with Place() as place:
        os.makedirs(place.folder + "/config/retake")
        with open(place.folder + "/config/retake/config.toml", "w", encoding="utf-8") as file:
            file.write('model = "builtin/echo"\n[provider.mine]\nkind = "builtin"\n')
        with Server(place, "--isolate") as server:
            owner, browser = server.client(), server.browser()
            info = browser.get("/info").json
            tally.equal("a browser only learns of its own project", info["default_project"],
                        info["project"])
            tally.equal("a program does", owner.get("/info").json["default_project"], "default")
            tally.equal("and of the configuration file", (owner.get("/info").json["config_file"], info.get("config_file")),
                        (place.folder + "/config/retake/config.toml", None))
            purges(tally, place, owner, browser)
            files(tally, place, owner, browser)
            a_log_that_cannot_be_purged(tally, place, owner)
    return tally.end()


if __name__ == "__main__":
    sys.exit(main())
