#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes operations.txt: scripts of random operations, each followed by every view of the
result. The operations are determined by seeds; transcripts.py --write adds the output."""
import json
import os
import random

HERE = os.path.dirname(os.path.abspath(__file__))
SCRIPTS, LENGTH = 110, 14
WORDS = "river stone lamp paper north window quiet seven copper orchard".split()
ROLES = ["User", "AI", "System", "Judge"]


def operation(chance):
    entry = chance.choice(["@", ":1", ":2", ":3", ":-1", ":-2", "@-", "mark"])
    text = " ".join(chance.choices(WORDS, k=chance.randint(1, 4)))
    name = chance.choice(["main", "main_take_1", "side", "other", "t2"])
    choices = [
        (6, lambda: {"op": "entry.append", "role": chance.choice(ROLES), "content": text}),
        (3, lambda: {"op": "entry.edit", "entry": entry, "content": text}),
        (1, lambda: {"op": "entry.edit", "entry": entry, "content": text, "everywhere": True}),
        (2, lambda: {"op": "entry.insert", chance.choice(["before", "after"]): entry, "content": text}),
        (2, lambda: {"op": "entry.delete", "entry": entry}),
        (1, lambda: {"op": "entry.delete", "from": ":1", "to": ":2"}),
        (1, lambda: {"op": "entry.move", "entry": entry, "after": ":1"}),
        (1, lambda: {"op": "entry.role", "entry": entry, "role": chance.choice(ROLES)}),
        (1, lambda: {"op": "entry.mute", "entry": entry, "muted": chance.random() < 0.7}),
        (1, lambda: {"op": "entry.view", "entry": entry, "collapsed": True}),
        (1, lambda: {"op": "entry.split", "entry": entry, "at": chance.randint(1, 6)}),
        (1, lambda: {"op": "entry.merge", "entry": entry}),
        (1, lambda: {"op": "entry.reply", "after": entry, "content": text, "fork": True}),
        (2, lambda: {"op": "take.branch", "at": entry}),
        (1, lambda: {"op": "take.branch", "at": entry, "name": "side"}),
        (2, lambda: {"op": "take.switch", "take": name}),
        (1, lambda: {"op": "take.rename", "take": name, "name": "other"}),
        (1, lambda: {"op": "take.delete", "take": name}),
        (1, lambda: {"op": "take.promote", "take": name, "name": "big"}),
        (1, lambda: {"op": "take.truncate", "pairs": chance.randint(0, 2)}),
        (1, lambda: {"op": "take.clear"}),
        (1, lambda: {"op": "take.graft", "entries": [":1", ":2"], "from": name, "after": ":1"}),
        (2, lambda: {"op": "head.move", "entry": chance.choice([entry, None])}),
        (2, lambda: {"op": "label.set", "entry": entry, "label": "mark"}),
        (1, lambda: {"op": "setting.set", "key": "temperature", "value": chance.random() < 0.5}),
        (1, lambda: {"op": "setting.set", "key": "draft", "value": text}),
        (1, lambda: {"op": "role.add", "role": "Judge"}),
        (1, lambda: {"op": "role.remove", "role": chance.choice(ROLES)}),
        (1, lambda: {"op": "prompt.update", "text": text}),
        (1, lambda: {"op": "prompt.notify"}),
        (1, lambda: {"op": "files.set", "which": "context_files", "items": [text]}),
        (1, lambda: {"op": "preset.save", "name": "work"}),
        (1, lambda: {"op": "preset.load", "name": "work"}),
        (1, lambda: {"op": "discussion.new", "name": chance.choice(WORDS)}),
        (1, lambda: {"op": "discussion.switch", "discussion": "main"}),
        (1, lambda: {"op": "discussion.rename", "discussion": "main", "name": chance.choice(WORDS)}),
        (1, lambda: {"op": "discussion.delete", "discussion": "main"}),
        (1, lambda: {"op": "discussion.extract", "entry": entry}),
        (1, lambda: {"op": "project.reset"}),
        (4, lambda: {"op": "undo", "count": chance.randint(1, 3)}),
        (3, lambda: {"op": "redo", "count": chance.randint(1, 3)}),
        (2, lambda: {"op": "jump", "to": chance.randint(0, 14)}),
        (2, lambda: {"op": "revert", "seq": chance.randint(1, 12)}),
    ]
    return chance.choices([make for _, make in choices], [weight for weight, _ in choices])[0]()


def main():
    lines = ["Random operations, and every view of what they made: generate.py wrote them.", ""]
    for seed in range(1, SCRIPTS + 1):
        chance = random.Random(seed)
        operations = [{"op": "entry.append", "role": role, "content": " ".join(chance.choices(WORDS, k=3))}
                      for role in ROLES[:3]] + [operation(chance) for _ in range(LENGTH)]
        for at, one in enumerate(operations):
            if one["op"] in ("entry.append", "entry.insert", "entry.reply"):
                one["ts"] = f"2026-01-01T00:00:{at:02}Z" # children are listed oldest first
        lines += [f"== seed {seed}", "$ apply"]
        lines += ["> " + json.dumps(one) for one in operations]
        lines += ["$ export --format canonical", "$ tree", "$ history", "$ fsck", ""]
    with open(os.path.join(HERE, "operations.txt"), "w", encoding="utf-8") as file:
        file.write("\n".join(lines))


if __name__ == "__main__":
    main()
