#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Random scripts of all operations, each sent over HTTP (by its route, by POST /ops/{op}, or in
a batch) and, with another store, through `retake apply`."""
import json
import re
import sys

from client import API, Place, Server, Tally, chance, quote, seeds

STEPS = 40
FAILED = {"type": "", "code": "any"}  # failed, for an unspecified reason
WORDS = ["alpha", "beta", "gamma", "delta", "sesame-key", "été", "日本", "🙂", "a\nb", "\"q\""]
ROLES = ["User", "AI", "System", "Critic", "Vendor API"]
SETTINGS = [("temperature", [0, 0.5, 1]), ("draft", ["", "hm", None]), ("model", ["builtin/echo", None]),
            ("undo_capacity", [3, None]), ("mine", [{"a": [1, "1.10"]}, [], None])]


class Script:
    """Generates operations that refer to the results of earlier ones."""

    def __init__(self, seed, others=()):
        """others: (name, schema) of operations that have no method here."""
        self.roll = chance(seed, "same state")
        self.others = others
        self.entries = []
        self.takes = ["main"]
        self.discussions = ["main"]
        self.labels = []
        self.presets = []
        self.seqs = [0]
        self.made = 0

    def name(self, letter):
        self.made += 1
        return f"{letter}{self.made}"

    def text(self):
        return " ".join(self.roll.choice(WORDS) for _ in range(self.roll.randrange(6)))

    def content(self):
        if self.roll.random() < 0.1:
            return [{"type": "text", "text": self.text()}, {"type": "image", "data": "AA=="}]
        return self.text()

    def entry(self):
        how = self.roll.random()
        if how < 0.1 or not self.entries:
            return self.roll.choice([":1", ":2", ":-1", ":3", "@"])
        if how < 0.14:
            return "nobody"
        if how < 0.2 and self.labels:
            return self.roll.choice(self.labels)
        return self.roll.choice(self.entries[-12:])

    def fresh(self, op):
        self.made += 1
        op.update(content=self.content(), ts=f"2026-01-01T{self.made // 60 % 24:02}:"
                                             f"{self.made % 60:02}:00Z")
        if self.roll.random() < 0.6:
            op["role"] = self.roll.choice(ROLES)
        if self.roll.random() < 0.5:
            op["id"] = self.name("e")
        if self.roll.random() < 0.2:
            op.update(usage={"input_tokens": self.roll.randrange(99)})
        if self.roll.random() < 0.1:
            op.update(muted=True, collapsed=True)
        if self.roll.random() < 0.1:
            op["kind"] = self.roll.choice(["custom", "message", "branch_summary"])
        return op

    def op(self):
        make = self.roll.choices(list(self.MAKERS), list(self.MAKERS.values()))[0]
        op = getattr(self, make)()
        own = {"discussion.new", "discussion.switch", "discussion.rename", "discussion.delete",
               "project.reset", "role.add", "role.remove"}
        if "discussion" not in op and op["op"] not in own and self.roll.random() < 0.5:
            op["discussion"] = self.roll.choice(self.discussions[-3:])
            if self.roll.random() < 0.3 and not op["op"].startswith("take.") and \
                    op["op"] not in ("undo", "redo", "jump", "revert", "purge"):
                op["take"] = self.roll.choice(self.takes[-4:])
        return op

    def append(self):
        op = self.fresh({"op": "entry.append"})
        if self.roll.random() < 0.1:
            op["prompt"] = self.text()
        return op

    def insert(self):
        return self.fresh({"op": "entry.insert",
                           self.roll.choice(["before", "after"]): self.entry()})

    def reply(self):
        if self.roll.random() < 0.3:
            return {"op": "entry.reply", "into": self.entry(), "content": self.text(),
                    "join": self.roll.random() < 0.5, "stop_reason": "stop"}
        op = self.fresh({"op": "entry.reply",
                         "after": self.entry() if self.roll.random() < 0.9 else None})
        if self.roll.random() < 0.4:
            op["fork"] = True
        return op

    def edit(self):
        op = {"op": "entry.edit", "entry": self.entry(), "content": self.content()}
        if self.roll.random() < 0.2:
            op["everywhere"] = True
        if self.roll.random() < 0.2:
            op.update(keep_blocks=True, content=self.text())
        return op

    def role(self):
        return {"op": "entry.role", "entry": self.entry(), "role": self.roll.choice(ROLES)}

    def fail(self):
        failure = self.roll.choice([{"code": "upstream", "detail": self.text()},
                                    {"code": "busy", "detail": "x", "model": "a/b"}, None,
                                    {"code": "no detail"}, "no object"])
        return {"op": "entry.fail", "entry": self.entry(), "failure": failure}

    def delete(self):
        if self.roll.random() < 0.3:
            return {"op": "entry.delete", "from": self.entry(), "to": self.entry()}
        return {"op": "entry.delete", "entry": self.entry()}

    def move(self):
        return {"op": "entry.move", "entry": self.entry(),
                self.roll.choice(["before", "after"]): self.entry()}

    def mute(self):
        return {"op": "entry.mute", "entry": self.entry(), "muted": self.roll.random() < 0.7}

    def view(self):
        op = {"op": "entry.view", "collapsed": self.roll.random() < 0.5}
        op.update({"all": True} if self.roll.random() < 0.3 else {"entry": self.entry()})
        return op

    def split(self):
        return {"op": "entry.split", "entry": self.entry(), "at": self.roll.randrange(9),
                "id": self.name("s")}

    def merge(self):
        return {"op": "entry.merge", "entry": self.entry()}

    def branch(self):
        op = {"op": "take.branch", "at": self.entry()}
        if self.roll.random() < 0.5:
            op["name"] = self.name("t")
        return op

    def take(self):
        name = self.roll.choice(self.takes[-6:])
        return self.roll.choice([
            {"op": "take.switch", "take": name}, {"op": "take.switch", "take": name},
            {"op": "take.rename", "take": name, "name": self.name("r")},
            {"op": "take.delete", "take": name},
            {"op": "take.promote", "take": name, "name": self.name("d")},
            {"op": "take.clear", "take": name},
            {"op": "take.clear", "take": name, "all": True},
            {"op": "take.truncate", "take": name, "pairs": self.roll.randrange(4)},
            {"op": "take.graft", "take": name, "from": self.roll.choice(self.takes[-6:]),
             "entries": [self.entry() for _ in range(self.roll.randrange(1, 4))],
             self.roll.choice(["before", "after"]): self.entry()}])

    def head(self):
        return {"op": "head.move", "entry": self.entry() if self.roll.random() < 0.85 else None}

    def label(self):
        name = self.roll.choice([self.name("L"), "start", None])
        if name is not None:
            self.labels.append(name)
        return {"op": "label.set", "entry": self.entry(), "label": name}

    def setting(self):
        key, values = self.roll.choice(SETTINGS)
        return {"op": "setting.set", "key": key, "value": self.roll.choice(values)}

    def roles(self):
        return {"op": self.roll.choice(["role.add", "role.remove"]),
                "role": self.roll.choice([*ROLES, " Judge ", "Nobody"])}

    def prompt(self):
        if self.roll.random() < 0.4:
            return {"op": "prompt.notify", "id": self.name("n")}
        return {"op": "prompt.update", "text": self.text()}

    def files(self):
        return {"op": "files.set", "items": [{"path": self.text()}] * self.roll.randrange(3),
                "which": self.roll.choice(["files", "context_files", "screenshots", "else"])}

    def track(self):
        return {"op": "track.set", "track": self.roll.choice(["night", None])}

    def preset(self):
        name = self.roll.choice([self.name("p"), *self.presets])
        self.presets.append(name)
        return {"op": self.roll.choice(["preset.save", "preset.save", "preset.load",
                                        "preset.delete"]), "name": name}

    def discussion(self):
        name = self.roll.choice(self.discussions[-4:])
        return self.roll.choice([
            {"op": "discussion.new", "name": self.name("d")},
            {"op": "discussion.switch", "discussion": name},
            {"op": "discussion.switch", "discussion": name},
            {"op": "discussion.rename", "discussion": name, "name": self.name("d")},
            {"op": "discussion.delete", "discussion": name},
            {"op": "discussion.extract", "entry": self.entry(), "name": self.name("d")},
            {"op": "discussion.extract", "entry": self.entry()}])

    def reset(self):
        return {"op": "project.reset"}

    def undo(self):
        op = {"op": self.roll.choice(["undo", "undo", "redo"])}
        if self.roll.random() < 0.3:
            op["count"] = self.roll.randrange(5)
        if self.roll.random() < 0.2:
            op["scope"] = self.roll.choice(["discussion", "project"])
        return op

    def jump(self):
        return {"op": "jump", "to": self.roll.choice(self.seqs)}

    def revert(self):
        return {"op": "revert", "seq": self.roll.choice(self.seqs)}

    def purge(self):
        if self.roll.random() < 0.5:
            return {"op": "purge", "text": self.roll.choice(["sesame-key", "nowhere", "beta"])}
        return {"op": "purge", "entry": self.entry()}

    def other(self):
        """An operation from its description: the required fields, and some of the others."""
        name, schema = self.roll.choice(self.others)
        op = {"op": name}
        for field, about in schema["properties"].items():
            if field in schema.get("required", []) or self.roll.random() < 0.3:
                kind = about.get("type", "object")
                op[field] = {"entry": self.entry, "string": self.text, "integer": lambda: self.roll.randrange(4),
                             "boolean": lambda: self.roll.random() < 0.5, "array": lambda: [self.text()],
                             "object": lambda: {"x": self.text()}}[
                    "entry" if field in ("entry", "before", "after", "at", "into") else
                    kind if isinstance(kind, str) else kind[0]]()
        return op

    MAKERS = {"append": 16, "insert": 6, "reply": 5, "edit": 8, "role": 3, "fail": 3, "delete": 4, "move": 4,
              "mute": 3, "view": 3, "split": 4, "merge": 3, "branch": 6, "take": 8, "head": 5,
              "label": 3, "setting": 4, "roles": 2, "prompt": 4, "files": 2, "track": 1,
              "preset": 5, "discussion": 7, "reset": 0.5, "undo": 14, "jump": 3, "revert": 3,
              "purge": 1}

    def learn(self, result):
        if not isinstance(result, dict):
            return
        for key, known in (("entry", self.entries), ("take", self.takes),
                           ("discussion", self.discussions)):
            if result.get(key) and result[key] not in known:
                known.append(result[key])
        if "seq" in result:
            self.seqs.append(result["seq"])


def routes(description):
    """Method and path of each route by its name; the main route of an operation has its name."""
    return {route["operationId"]: (method.upper(), path)
            for path, methods in description["paths"].items() for method, route in methods.items()}


def without_maker(description, operations):
    """Those that no method of Script makes, each with its schema."""
    script = Script(0)
    made = {getattr(script, make)()["op"] for make in Script.MAKERS for _ in range(200)}
    return [(name, description["components"]["schemas"]["op." + name])
            for name in operations if name not in made]


def by_route(op, roll, places):
    """Returns method, path, body; None: the operation cannot be sent by its routes."""
    fields = {key: value for key, value in op.items() if key != "op"}
    name = op["op"]
    if name == "entry.delete" and "from" in op:
        name = "entry.delete_run"
    elif name == "entry.view" and "all" in op:
        name = "entry.view_all"
    elif name == "take.branch" and roll.random() < 0.5:
        name = "entry.branch"
    elif name == "discussion.extract" and "name" not in op:
        name = "entry.extract"
    elif name in ("setting.set", "purge") and "discussion" in op:
        name = {"setting.set": "setting.set_here", "purge": "purge.entry"}[name]
    elif name in ("undo", "redo", "jump") and "discussion" not in op:
        name += "_anywhere"
    method, path = places[name]
    if ("{discussion}" in path) != ("discussion" in fields):
        return None
    query = ""
    for name in re.findall(r"{(\w+)}", path):
        value = fields.pop(name)
        if value is None or str(value) == "":
            return None
        path = path.replace("{" + name + "}", quote(str(value)))
    if "take" in fields:
        query = "?take=" + quote(fields.pop("take"))
    return method, path + query, fields


def plain(result):
    """A result in the format of apply; likewise a problem."""
    if "code" in result and "type" in result:
        return {"error": result["code"], "message": result.get("detail", "")}
    if "error" in result:
        return {"error": result["error"]["code"], "message": result["error"]["message"]}
    return {key: value for key, value in result.items() if key not in ("op", "notes")}


def ask(client, op, roll, places):
    """Sends one operation over HTTP, in one of the possible ways."""
    route = by_route(op, roll, places) if roll.random() < 0.6 else None
    if route is None:
        return client.op(op).json
    method, path, body = route
    return client.request(method, API + path, body if method != "DELETE" or body else
                          None).json


def without_notice_times(text):
    """The time of a notice is the only one that cannot be given: it is masked."""
    for at in re.findall(rb'"kind":"prompt_notice"[^{}]*?"ts":"([^"]*)"', text):
        text = text.replace(b'"ts":"' + at + b'"', b'"ts":"now"')
    return text


def run(tally, seed, client, here, project, succeeded, others, places):
    """One script: over HTTP, then the same lines through apply."""
    script = Script(seed, others)
    roll = chance(seed, "ways")
    done = []
    parts = []  # (is atomic, operations, results)
    while (count := sum(len(part[1]) for part in parts)) < STEPS + 2 * len(others):
        if count >= STEPS:
            ops = [script.other()]
            results = [ask(client, ops[0], roll, places)]
            parts.append((False, ops, results))
        elif roll.random() < 0.12:
            ops = [script.op() for _ in range(roll.randrange(1, 5))]
            atomic = roll.random() < 0.6
            answer = client.post("/batch", {"ops": ops, "atomic": atomic}).json
            if "results" in answer:
                results = answer["results"]
            elif atomic or len(ops) == 1:
                results = [answer]
            else:  # none was applied; only the first has a reason
                results = [answer] + [FAILED] * (len(ops) - 1)
            parts.append((atomic and len(ops) > 1, ops, results))
        else:
            ops = [script.op()]
            results = [ask(client, ops[0], roll, places)]
            parts.append((False, ops, results))
        for result in results:
            script.learn(result)
    pending = []
    for atomic, ops, results in [*parts, (True, [], [])]:
        if not atomic:
            pending.append((ops, results))
            continue
        lines = [op for part in pending for op in part[0]]
        wanted = [result for part in pending for result in part[1]]
        if lines:
            done += list(zip(lines, here.apply(lines, project=project), wanted))
        pending = []
        if ops:
            got = here.apply(ops, "--atomic", project=project)
            failed = [line for line in got if "error" in line]
            if failed:  # over HTTP this is one problem, for the first that failed
                told = [line for line in failed
                        if not line["error"]["message"].startswith("not applied because")]
                tally.equal(f"seed {seed}: why a batch failed", plain(results[0]),
                            plain(told[0]), ops)
            else:
                done += list(zip(ops, got, results))
    for op, got, wanted in done:
        if wanted is FAILED:
            tally.check(f"seed {seed}: {op['op']} fails", "error" in got, got)
            continue
        if "error" not in got:
            succeeded[op["op"]] = succeeded.get(op["op"], 0) + 1
        if not tally.equal(f"seed {seed}: {op['op']}", plain(wanted), plain(got), op):
            return


def main():
    tally = Tally()
    succeeded = {}
    with Place() as there, Place() as here, Server(there) as server:
        owner = server.client()
        description = owner.get("/openapi.json").json
        operations = owner.get("/info").json["operations"]
        others = without_maker(description, operations)
        for seed in seeds("SCRIPTS", 60):
            project = f"s{seed}"
            made = owner.post("/projects", {"name": project})
            if not tally.check("a project is made", made.status in (200, 201), made):
                break
            client = server.client(project)
            run(tally, seed, client, here, project, succeeded, others, routes(description))
            client.close()
            first = without_notice_times(there.canonical(project))
            second = without_notice_times(here.canonical(project))
            if not tally.check(f"seed {seed}: the same state, byte for byte", first == second):
                at = next((i for i, (a, b) in enumerate(zip(first, second)) if a != b), 0)
                print("    http ", first[max(0, at - 200):at + 200])
                print("    apply", second[max(0, at - 200):at + 200])
        for op in set(operations) - {name for name, _ in others} if len(seeds("SCRIPTS", 60)) >= 60 else []:
            tally.check(f"{op} was done", succeeded.get(op, 0) > 0)
        tally.equal("the server ends", server.stop(), 0)
    return tally.end()


if __name__ == "__main__":
    sys.exit(main())
