#!/bin/sh
# SPDX-License-Identifier: MIT
#
# A log that was continued by a newer version: the known part is shown with a notice about the
# rest; nothing is written.
. "$(dirname "$0")/lib.sh"

fresh
shown=$(contents)
json_before=$(r show --json)
export_before=$(r export --format canonical)

# Row 5, with effects of version 3, in the store's format (base/hash.c).
"$python" - "$db" <<'PY'
import sqlite3, sys
MASK = (1 << 64) - 1
K1, K2, K3 = 0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9

def rotate(x, by):
    return (x << by | x >> (64 - by)) & MASK

def lane(total, word):
    return rotate((total + word * K2) & MASK, 31) * K1 & MASK

def mix(x):
    x ^= x >> 32
    x = x * 0x9E3779B97F4A7C15 & MASK
    x ^= x >> 29
    x = x * 0xBF58476D1CE4E5B9 & MASK
    return x ^ x >> 32

def load(data, at):
    return int.from_bytes(data[at:at + 8], "little")

def digest(data, seed):
    total, at = (seed + K3 + len(data)) & MASK, 0
    if len(data) >= 32:
        lanes = [(seed + K1 + K2) & MASK, (seed + K2) & MASK, seed, (seed - K1) & MASK]
        while len(data) - at >= 32:
            lanes = [lane(x, load(data, at + 8 * i)) for i, x in enumerate(lanes)]
            at += 32
        total = (total + sum(map(rotate, lanes, (1, 7, 12, 18)))) & MASK
        for x in lanes:
            total = ((total ^ lane(0, x)) * K1 + K3) & MASK
    while len(data) - at >= 8:
        total = (rotate(total ^ lane(0, load(data, at)), 27) * K1 + K3) & MASK
        at += 8
    for byte in data[at:]:
        total = rotate(total ^ (byte * K3 & MASK), 11) * K1 & MASK
    return mix(total)

def row_sum(key, step, at, data):
    seed = mix(key ^ 3 << 56) ^ mix((digest(step, at) + 1) & MASK)
    return digest(data, seed)

def signed(x):
    return x - (1 << 64) if x >> 63 else x

store = sqlite3.connect(sys.argv[1])
for key, step, at, total, data in store.execute("SELECT key, step, at, sum, data FROM log"):
    assert signed(row_sum(key, step, at, data)) == total, "base/hash.c has changed"
data = b'{"v":3,"op":"entry.dance","by":"cli","d":1,"p":[[1,4]],"fx":[["z",1]]}'
store.execute("INSERT INTO log(key, step, at, sum, data) VALUES(?, ?, ?, ?, ?)",
              (key + 1, step, at, signed(row_sum(key + 1, step, at, data)), data))
store.commit()
store.close()
PY
is 'the row is written' 0 $?
bytes=$(cat "$db" | cksum)

code 'show' 0 r show
has 'shows the known part' 'four' "$out"
has 'and reports the rest' 'newer steps are not shown' "$err"
has 'and by which version' 'version 3' "$err"
is 'once' 1 "$(printf '%s\n' "$err" | grep -c 'newer steps')"
code 'show -q' 0 r -q show
is 'says nothing' '' "$err"
code 'show --json' 0 r show --json
is 'standard output is unchanged' "$json_before" "$out"
has 'standard error says it' 'newer steps' "$err"
is 'contents' "$shown" "$(contents 2>/dev/null)"
code 'export' 0 r export --format canonical
is 'the export contains the known part' "$export_before" "$out"
code 'history' 0 r history
code 'search' 0 r search two
code 'tree' 0 r tree
code 'projects' 0 r projects

code 'add' 1 r add five
has 'names the version' 'version 3' "$err"
has 'and the row' 'row 5' "$err"
has 'and what to do' 'newer Retake' "$err"
code 'undo' 1 r undo
code 'undo --json' 1 r undo --json
has 'the code' '"too_new"' "$out$err"
code 'import' 1 r import "$root/README.md"
code 'repair' 1 r repair
has 'repair leaves it alone' 'version 3' "$err"
code 'checkpoint' 1 r checkpoint
code 'step 5' 1 r show --at-op 5
has 'step 5 is of a newer version' 'version 3' "$err"
code 'step 3' 0 r show --at-op 3

code 'fsck' 1 r fsck --json
is 'one finding' '["log-row-too-new"]' "$(printf '%s' "$out" | json '[f["id"] for f in d["findings"]]')"
is 'the bytes are the same' "$bytes" "$(cat "$db" | cksum)"

# --- another project of the store is not affected ---
code 'another project' 0 r -p other add hello
hasnt 'without a notice' 'newer' "$err"
finish
