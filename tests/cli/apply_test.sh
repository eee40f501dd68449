#!/bin/sh
# SPDX-License-Identifier: MIT
#
# apply: one result per line, in order, as soon as it is durable (C20, C26, C27, C28, C2a, C3).
. "$(dirname "$0")/lib.sh"

line() { # line N: that line of the last output
	printf '%s\n' "$out" | sed -n "$1p"
}
key() { # key N EXPR
	line "$1" | json "$2"
}

# --- input format ---
rm -f "$db"
printf '{"op":"entry.append","content":"a"}\r\n\n   \r\n{"op":"entry.append","content":"b"}' >"$work/in"
out=$(r apply "$work/in")
is 'status' 0 "$?"
is 'no result for blank lines; a last line without end counts' 2 "$(printf '%s\n' "$out" | wc -l | tr -d ' ')"
is 'carriage returns are line ends' 'a|b' "$(contents)"
is 'seq rises by one' '1 2' "$(key 1 'd["seq"]') $(key 2 'd["seq"]')"
is 'the result names the entry' "$(r show --json | json 'd["entries"][1]["id"]')" "$(key 2 'd["entry"]')"
out=$(r apply - <"$work/in")
is 'from standard input' 2 "$(printf '%s\n' "$out" | wc -l | tr -d ' ')"
out=$(: | r apply)
is 'nothing in, nothing out' '0 ' "$? $out"
out=$(printf '\n\n' | r apply)
is 'only blank lines' '0 ' "$? $out"

# --- invalid lines ---
fresh
apply 'this is no JSON' '[1]' '"text"' '{}' '{"op":7}' '{"op":"nonsense"}' \
	'{"op":"entry.append","content":7}' '{"op":"entry.edit","entry":"zzzz","content":"x"}' \
	'{"op":"undo","count":0}' '{"op":"take.delete","take":"main"}' '{"op":"redo"}' \
	'{"op":"entry.append","content":"good"}'
is 'some failed' 1 "$?"
for i in 1 2 3 4 5 6 7 9; do
	is "line $i is usage" usage "$(key $i 'd["error"]["code"]')"
done
is 'not found' not_found "$(key 8 'd["error"]["code"]')"
is 'refused' refused "$(key 10 'd["error"]["code"]')"
is 'nothing to redo' refused "$(key 11 'd["error"]["code"]')"
is 'the remaining lines are applied' 5 "$(key 12 'd["seq"]')"
is 'and is there' 'one|two|three|four|good' "$(contents)"
has 'a message names the thing' 'zzzz' "$(key 8 'd["error"]["message"]')"
apply '{"op":"entry.append","content":"\ud800"}'
is 'a lone surrogate' usage "$(key 1 'd["error"]["code"]')"
printf '{"op":"entry.append","content":"\377"}\n' >"$work/in"
out=$(r apply "$work/in")
is 'not UTF-8' usage "$(key 1 'd["error"]["code"]')"
"$python" -c 'print("{\"op\":\"entry.append\",\"content\":" + "[" * 2000 + "]" * 2000 + "}")' >"$work/in"
out=$(r apply "$work/in")
is 'too deep' usage "$(key 1 'd["error"]["code"]')"
is 'nothing came of it' 'one|two|three|four|good' "$(contents)"
apply '{"op":"entry.apend"}'
has 'did you mean' 'entry.append' "$(key 1 'd["error"]["message"]')"

# --- unchanged, extra keys ---
fresh
apply '{"op":"entry.edit","entry":":1","content":"one"}' '{"op":"take.switch","take":"main"}' \
	'{"op":"prompt.notify"}' '{"op":"entry.append","content":"x"}'
is 'the same text' 'true 4' "$(key 1 'd["unchanged"]') $(key 1 'd["seq"]')"
is 'the same take' true "$(key 2 'd["unchanged"]')"
is 'nothing to tell' true "$(key 3 'd["unchanged"]')"
is 'what changes nothing takes no number' 5 "$(key 4 'd["seq"]')"
apply '{"op":"take.branch","at":":2"}' '{"op":"entry.append","content":"y"}' \
	'{"op":"head.move","entry":":1"}' '{"op":"entry.append","content":"z"}' '{"op":"undo","count":2}' \
	'{"op":"redo","count":99}' '{"op":"discussion.new","name":"d2"}'
is 'branch names the take' main_take_1 "$(key 1 'd["take"]')"
is 'an append that begins a take names it' main_take_2 "$(key 4 'd["take"]')"
is 'undo says how many' 2 "$(key 5 'd["steps"]')"
is 'redo does as many as there are' 2 "$(key 6 'd["steps"]')"
is 'discussion.new names it' d2 "$(key 7 'd["discussion"]')"

# --- fields of operations ---
rm -f "$db"
apply '{"op":"entry.append","content":"a","id":"mine","ts":"2020-01-02T03:04:05Z","usage":{"in":12345678901234567890123},"note":[1.10]}'
out=$(r show --json)
has 'unknown fields stay, with every digit' '12345678901234567890123' "$out"
has 'and every zero' '1.10' "$out"
has 'the time is kept' '2020-01-02T03:04:05Z' "$out"
apply '{"op":"entry.append","content":"b","id":"mine"}'
is 'an id is used once' refused "$(key 1 'd["error"]["code"]')"
apply '{"op":"entry.append","content":"\u0000\r\n\u202e \ud83d\ude80"}'
is 'any text' '"\u0000\r\n\u202e \ud83d\ude80"' "$(r show :2 --json | "$python" -c 'import json,sys; print(json.dumps(json.load(sys.stdin)["content"]))')"
apply '{"op":"discussion.new","name":"other"}' '{"op":"entry.append","content":"there","discussion":"main"}'
is 'an operation may say where' 3 "$(r -d main show --json | json 'd["count"]')"
printf '{"op":"entry.append","content":"here"}\n' | r -d main apply >/dev/null
is '-d says where for all' 4 "$(r -d main show --json | json 'd["count"]')"

# --- atomic ---
fresh
printf '%s\n' '{"op":"entry.append","content":"five"}' '{"op":"entry.edit","entry":":5","content":"FIVE"}' \
	'{"op":"entry.delete","entry":":1"}' >"$work/in"
out=$(r apply --atomic "$work/in")
is 'atomic' 0 "$?"
is 'one result a line' 3 "$(printf '%s\n' "$out" | wc -l | tr -d ' ')"
is 'later lines see earlier ones' 'two|three|four|FIVE' "$(contents)"
is 'one step' 5 "$(r history --json | json 'd[0]["seq"]')"
r -q undo
is 'one undo' 'one|two|three|four' "$(contents)"
printf '%s\n' '{"op":"entry.append","content":"x"}' 'nonsense' '{"op":"entry.append","content":"y"}' >"$work/in"
out=$(r apply --atomic "$work/in")
is 'atomic with a bad line' 1 "$?"
is 'every result is an error' 3 "$(printf '%s\n' "$out" | grep -c '"error"')"
is 'the bad line is usage' usage "$(key 2 'd["error"]["code"]')"
is 'nothing is applied' 'one|two|three|four' "$(contents)"
printf '%s\n' '{"op":"entry.append","content":"x"}' '{"op":"entry.delete","entry":"zzzz"}' >"$work/in"
out=$(r apply --atomic "$work/in")
is 'atomic with an operation that fails' '1 2' "$? $(printf '%s\n' "$out" | grep -c '"error"')"
is 'the one that failed says why' not_found "$(key 2 'd["error"]["code"]')"
for op in '{"op":"undo"}' '{"op":"redo"}' '{"op":"jump","to":0}' '{"op":"purge","entry":":1"}'; do
	printf '%s\n' '{"op":"entry.append","content":"x"}' "$op" >"$work/in"
	out=$(r apply --atomic "$work/in")
	is "atomic with $op" '1 2' "$? $(printf '%s\n' "$out" | grep -c '"error"')"
done
is 'still nothing is applied' 'one|two|three|four' "$(contents)"

# --- each result is printed at once, while the input is open ---
rm -f "$db"
"$python" - "$RETAKE" "$db" >"$work/out" 2>&1 <<'PY'
import json, select, subprocess, sys
p = subprocess.Popen([sys.argv[1], "--db", sys.argv[2], "apply"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
for i in range(20):
    p.stdin.write(b'{"op":"entry.append","content":"%d"}\n' % i)
    p.stdin.flush()
    ready, _, _ = select.select([p.stdout], [], [], 120)
    assert ready, "no answer"
    assert json.loads(p.stdout.readline())["seq"] == i + 1
    # and the result is visible to other processes
    out = subprocess.run([sys.argv[1], "--db", sys.argv[2], "show", "--json"], capture_output=True).stdout
    assert json.loads(out)["count"] == i + 1
p.stdin.write(b'{"op":"entry.append","content":"half')
p.stdin.flush()
ready, _, _ = select.select([p.stdout], [], [], 0.3)
assert not ready, "an answer to half a line"
p.stdin.write(b'"}\n')
p.stdin.close()
assert json.loads(p.stdout.readline())["seq"] == 21
assert p.wait() == 0
print("fine")
PY
is 'line by line' fine "$(cat "$work/out")"

# --- many lines, long lines ---
rm -f "$db"
"$python" -c 'for i in range(3000): print("{\"op\":\"entry.append\",\"content\":\"%d\"}" % i)' >"$work/in"
out=$(r apply "$work/in" | tail -n 1)
is 'many lines' 3000 "$(key 1 'd["seq"]')"
"$python" -c 'print("{\"op\":\"entry.append\",\"content\":\"" + "x" * 9000000 + "\"}")' >"$work/in"
out=$(r apply "$work/in")
is 'a long line' 3001 "$(key 1 'd["seq"]')"
is 'is whole' 9000000 "$(r show :-1 --raw | wc -c | tr -d ' ')"

# --- interrupted ---
fresh
"$python" - "$RETAKE" "$db" >"$work/out" 2>&1 <<'PY'
import json, signal, subprocess, sys, time
# a background job inherits ignored interrupts, and the program respects that
p = subprocess.Popen([sys.argv[1], "--db", sys.argv[2], "apply"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                     stderr=subprocess.DEVNULL,
                     preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
p.stdin.write(b'{"op":"entry.append","content":"five"}\n')
p.stdin.flush()
assert json.loads(p.stdout.readline())["seq"] == 5
p.send_signal(signal.SIGINT)
assert p.wait(30) == 130, p.returncode
# the results are not read
p = subprocess.Popen([sys.argv[1], "--db", sys.argv[2], "apply"], stdin=subprocess.PIPE,
                     stdout=subprocess.PIPE, stderr=subprocess.PIPE)
p.stdout.close()
try:
    for i in range(20000):
        p.stdin.write(b'{"op":"entry.append","content":"lost"}\n')
    p.stdin.close()
except BrokenPipeError:
    pass
p.wait(30)
assert p.returncode in (1, 141), p.returncode
assert p.stderr.read() == b"", "not quiet"
print("fine")
PY
is 'interrupts and closed pipes' fine "$(cat "$work/out")"

# --- changes in one step that cancel out are not a step ---
db=$work/back.db
apply '{"op":"entry.append","id":"a","content":"A"}' >/dev/null
printf '%s\n' '{"op":"entry.role","entry":"a","role":"X"}' '{"op":"entry.role","entry":"a","role":"User"}' \
	>"$work/back"
code 'there and back' 0 r apply --atomic "$work/back"
is 'both are unchanged' 2 "$(echo "$out" | grep -c '"unchanged":true')"
is 'and no step' 1 "$(r history --json | json 'len(d)')"

finish
