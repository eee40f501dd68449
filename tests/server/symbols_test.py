#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Symbols of a discussion's files over HTTP. Needs universal-ctags; without it only the error is
tested."""
import os
import shutil
import subprocess
import sys

from client import Place, Server, Tally

SOURCE = "int other;\n\nint compute_sum(int a, int b)\n{\n\treturn a + b;\n}\n"


def has_ctags():
    if shutil.which("ctags") is None:
        return False
    features = subprocess.run(["ctags", "--list-features"], capture_output=True, text=True)
    return "\nsandbox " in features.stdout


def check_names(tally, one, folder):
    """The names of files: below the directory, without ignored ones, and no more than asked for."""
    os.mkdir(folder + "/deep")
    for name in "deep/total.c", "deep/ignored.o", ".env":
        with open(folder + "/" + name, "w", encoding="utf-8") as file:
            file.write("x\n")
    with open(folder + "/.gitignore", "w", encoding="utf-8") as file:
        file.write("*.o\n")
    os.symlink("../outside.c", folder + "/link.c")
    tally.equal("all names", one.get("/files").json, {"names": ["sum.c", "deep/total.c"], "complete": True})
    tally.equal("some of them", one.get("/files?search=TOT").json["names"], ["deep/total.c"])
    tally.equal("at most that many", one.get("/files?count=1").json, {"names": ["sum.c"], "complete": False})
    for word in "outside", "../", "/etc/", "ignored", "link":
        tally.equal(f"no {word}", one.get("/files?search=" + word).json["names"], [])


def check(tally, one):
    path = "/discussions/main/symbols"
    one.put("/discussions/main/files/context_files", {"items": ["sum.c"]})
    if not has_ctags():
        answer = one.get(path)
        tally.check("the package is named", "universal-ctags" in answer.json["message"], answer.json)
        return
    tally.equal("all", [s["name"] for s in one.get(path).json], ["compute_sum", "other"])
    found = one.get(path + "?prefix=comp").json
    tally.equal("by prefix", found, [{
        "name": "compute_sum", "kind": "function", "signature": "(int a,int b)", "path": "sum.c",
        "lines": [3, 6]}])
    tally.equal("none", one.get(path + "?prefix=nothing").json, [])
    shown = one.get(path + "/compute_sum").json
    tally.equal("the definition", [s["text"] for s in shown], [SOURCE.split("\n\n")[1]])
    tally.equal("an unknown name", one.get(path + "/comp").status, 404)
    one.put("/discussions/main/files/context_files", {"items": ["../outside.c"]})
    tally.equal("nothing outside of the directories", one.get(path).json, [])


def main():
    tally = Tally()
    with Place() as place:
        folder = place.folder + "/open"
        os.mkdir(folder)
        for name in folder + "/sum.c", place.folder + "/outside.c":
            with open(name, "w", encoding="utf-8") as file:
                file.write(SOURCE)
        with Server(place, "--files", folder) as server:
            check_names(tally, server.client(), folder)
            check(tally, server.client())
        with Server(place) as server:
            tally.equal("no directory, no names", server.client().get("/files").json, {"names": [], "complete": True})
    return tally.end()


if __name__ == "__main__":
    sys.exit(main())
