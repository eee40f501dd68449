#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Stats: entries, tokens and cost by day, model, program, discussion and project; the calendar on a
# terminal.
. "$(dirname "$0")/lib.sh"

rows() { # flags of stats: "key entries in/out, …"
	r stats --json "$@" | json '", ".join("%s %d %d/%d" % (row[d["by"]], row["entries"], row["usage"]["input_tokens"], row["usage"]["output_tokens"]) for row in d["rows"])'
}

code 'no store' 0 r stats
is 'no store' 'No entries yet.' "$out"
is 'no store, by project' '[]' "$(r stats --by project --json | json 'd["rows"]')"
is 'no store was created' no "$(test -e "$db" && echo yes || echo no)"

mkdir "$work/in"
cat >"$work/in/a.jsonl" <<'X'
{"type":"user","uuid":"u1","parentUuid":null,"sessionId":"s1","timestamp":"2026-03-02T09:00:00.000Z","message":{"role":"user","content":"How many?"}}
{"type":"assistant","uuid":"u2","parentUuid":"u1","sessionId":"s1","timestamp":"2026-03-02T23:30:00.000Z","message":{"id":"m1","role":"assistant","model":"model-a","content":[{"type":"text","text":"Three."}],"usage":{"input_tokens":20,"output_tokens":4}}}
X
code 'import' 0 r import "$work/in"
apply '{"op":"discussion.new","name":"own"}' \
	'{"op":"entry.append","content":"q","ts":"2026-03-20T10:00:00Z"}' \
	'{"op":"entry.append","role":"AI","content":"a","ts":"2026-03-20T10:01:00Z","model":"model-b","usage":{"input_tokens":7,"output_tokens":2},"cost":0.5}' \
	'{"op":"entry.append","role":"AI","content":"b","ts":"2026-03-21T10:01:00Z","model":"model-b","usage":{"input_tokens":1,"output_tokens":1}}' >/dev/null
r -q -p other add hi
r -q -p other apply >/dev/null <<'X'
{"op":"entry.append","content":"a","ts":"2026-02-10T10:00:00Z"}
{"op":"entry.append","content":"b","ts":"2026-02-28T23:30:00Z"}
X
is 'by month, local' '2026-02 1 0/0, 2026-03 1 0/0' "$(TZ=XXX-2 rows -p other --until 2026-03-31 --by month)"

is 'by day' '2026-03-02 2 20/4, 2026-03-20 2 7/2, 2026-03-21 1 1/1' "$(rows)"
is 'days are local' '2026-03-02 1 0/0, 2026-03-03 1 20/4, 2026-03-20 2 7/2, 2026-03-21 1 1/1' "$(TZ=XXX-2 rows --by day)"
is 'since' '2026-03-20 2 7/2, 2026-03-21 1 1/1' "$(rows --since 2026-03-20)"
is 'until includes its day' '2026-03-02 2 20/4, 2026-03-20 2 7/2' "$(rows --until 2026-03-20)"
is 'by week' '2026-03-02 2 20/4, 2026-03-16 3 8/3' "$(rows --by week)"
is 'by month' '2026-03 5 28/7' "$(rows --by month)"
has 'by month, in words' '2026-03        5 entries' "$(r stats --by month)"
is 'by model' 'model-b 2 8/3, model-a 1 20/4, None 2 0/0' "$(rows --by model)"
is 'by program' 'retake 3 8/3, claude-code 2 20/4' "$(rows --by program)"
is 'by discussion' 'own 3 8/3, How many? 2 20/4' "$(rows --by discussion)"
is 'one discussion' 'model-b 2 8/3, None 1 0/0' "$(rows --by model -d own)"
is 'by project' 'default 5 28/7, other 3 0/0' "$(rows --by project)"
is 'the total' '5 3 28 7 0.5 2' "$(r stats --json | json '"%d %d %d %d %s %d" % (d["entries"], d["usage"]["replies"], d["usage"]["input_tokens"], d["usage"]["output_tokens"], d["usage"]["cost"], d["usage"]["without_price"])')"
is 'a past state' '2026-03-02 2 20/4' "$(rows --at-op "$(r history -d "How many?" --json | json 'd[0]["seq"]')")"
is 'a search in a program' '1 0 1' "$(for query in 'three program:Claude' 'three program:codex' 'b program:retake'; do r search "$query" --json | json 'len(d)'; done | xargs)"
code 'in words' 0 r stats --by model
has 'in words' 'model-b                2 entries  8 tokens in, 3 out, cost 0.50' "$out"
has 'in words: the total' 'total                  5 entries  28 tokens in, 7 out' "$out"
hasnt 'in words: nothing was undone' 'received, with' "$out"

# A longer version of an imported file, under another id, has the same reply in another entry.
sed 's/"sessionId":"s1"/"sessionId":"s2"/; s/"uuid":"u/"uuid":"v/; s/"parentUuid":"u/"parentUuid":"v/' "$work/in/a.jsonl" >"$work/copy.jsonl"
code 'the same replies again' 0 r -p copies import "$work/in/a.jsonl"
code 'the same replies again' 0 r -p copies import "$work/copy.jsonl"
totals='"%d %d/%d" % (d["entries"], d["usage"]["input_tokens"], d["usage"]["output_tokens"])'
is 'the same replies again: counted once' '4 20/4' "$(r -p copies stats --json | json "$totals")"
r -q -p copies undo
r -q -p copies undo
is 'imports that were undone' '0 0/0' "$(r -p copies stats --json | json "$totals")"
is 'imports that were undone were received' '1 20/4' "$(r -p copies stats --json | json '"%d %d/%d" % tuple(d["received"][k] for k in ("replies", "input_tokens", "output_tokens"))')"
has 'received, in words' 'received, including undone and deleted replies: 20 tokens in, 4 out' "$(r -p copies stats)"

code 'not on a terminal: a table' 0 r stats
has 'not on a terminal: a table' '2026-03-20        2 entries' "$out"
hasnt 'not on a terminal: no calendar' 'Mo Tu' "$out"
code 'nothing in this time' 0 r stats --since 2027-01-01
is 'nothing in this time' 'No entries in this period.' "$out"
code 'not a date' 2 r stats --since yesterday
has 'not a date' '--since needs a date, not "yesterday"' "$err"
code 'a time' 2 r stats --until 2026-03-20T10:00
code 'unknown' 2 r stats --by colour
has 'unknown' 'Known: day, week, month, model, program, discussion, project' "$err"
code 'a step of all projects' 2 r stats --by project --at-op 1

# --- on a terminal ---
if "$python" -c 'import pty; pty.openpty()' 2>/dev/null; then
	tty() {
		TERM=xterm NO_COLOR=1 "$python" -c 'import os, pty, sys
out = b""
def read(fd):
    global out
    data = os.read(fd, 65536)
    out += data
    return b""
pty.spawn(sys.argv[1:], read)
sys.stdout.buffer.write(out.replace(b"\r\n", b"\n"))' "$RETAKE" --db "$db" "$@" </dev/null
	}
	out=$(tty stats)
	has 'calendar: the days' '            Mo Tu We Th Fr Sa Su' "$out"
	has 'calendar: a week' '2026-03-02  ██ ·  ·  ·  ·  ·  ·          2 entries  20 tokens in, 4 out' "$out"
	has 'calendar: weeks without entries' '
…
2026-03-16  ·  ·  ·  ·  ██ ▒▒ ·          3 entries' "$out"
	has 'calendar: the total' 'total                                    5 entries' "$out"
	has 'calendar: ASCII' '2026-03-16  .  .  .  .  ## ++ .' "$(LC_ALL=C tty stats)"
	hasnt '--by on a terminal' 'Mo Tu' "$(tty stats --by day)"
fi

finish
