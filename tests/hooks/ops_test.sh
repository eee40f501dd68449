#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Hooks around every operation, with real programs and the command line. Each event occurs, with the
# members listed in the help; a denial leaves the state unchanged byte for byte and exits with
# status 8; replacement operations are executed; a hook may use the same store while it runs.
. "$(dirname "$0")/../cli/lib.sh"

hooks=$XDG_CONFIG_HOME/retake/hooks
log=$work/log

hook() { # hook EVENT LINE…: a shell script
	mkdir -p "$hooks/$1"
	file=$hooks/$1/10-test
	shift
	{
		echo '#!/bin/sh'
		printf '%s\n' "$@"
	} >"$file"
	chmod +x "$file"
}

no_hooks() {
	rm -rf "$hooks" "$log"
}

# --- each event, with its members ---

events=$("$RETAKE" help events --json | json '"\n".join(e["name"] for e in d["events"])')
for event in $events; do
	hook "$event" "cat >>'$log'"
done
mkdir -p "$work/at"
cd "$work/at" || exit 1
apply '{"op":"entry.append","id":"a","content":"one"}' \
	'{"op":"entry.append","id":"b","role":"AI","content":"two"}' \
	'{"op":"entry.edit","entry":":2","content":"2"}' \
	'{"op":"entry.role","entry":"b","role":"Model"}' \
	'{"op":"take.branch","at":"a","name":"side"}' \
	'{"op":"take.switch","take":"main"}' \
	'{"op":"discussion.new","name":"other"}' \
	'{"op":"discussion.switch","discussion":"main"}' \
	'{"op":"entry.delete","entry":"b"}' \
	'{"op":"undo"}' '{"op":"redo"}'
is 'everything was done' 0 $?
r -q ask -m builtin/echo hello
r -q export --format markdown -o talk.md
r -q -d other import talk.md
r -q use main
for word in one two three; do r -q ask -m builtin/echo "$word" >/dev/null; done
r -q compact -m builtin/echo --keep 1 || r -q compact -m builtin/echo --keep 5
"$RETAKE" help events --json >"$work/events.json"
"$python" - "$work/events.json" "$log" "$work/at" >"$work/said" <<'END'
import json, sys
table = {e["name"]: e for e in json.load(open(sys.argv[1]))["events"]}
told = {}
for line in open(sys.argv[2], encoding="utf-8"):
    event = json.loads(line)
    told.setdefault(event["event"], []).append(event)
for name, about in table.items():
    if name.startswith("proxy."):
        print("yes" if name not in told else f"{name}: happened")
        continue
    wanted = set(about["members"]) | {"v", "event", "id", "session", "cwd", "via"}
    got = told.get(name, [])
    if name == "entry.before_delete":  # several entries
        wanted.discard("entries")
    if name == "head.after_move":          # without a summary
        wanted -= {"summaryEntry", "fromHook"}
    wrong = [e for e in got if set(e) != wanted
             or e["cwd"] != sys.argv[3] or e["via"] != "cli"
             or set(e["session"]) != {"project", "discussion", "take"}
             or not all(e["session"].values())]
    print("yes" if got and not wrong else f"{name}: {len(got)} times, wanted {sorted(wanted)}, got "
          + ", ".join(str(sorted(e)) for e in wrong[:1]))
END
while read -r line; do is 'event' yes "$line"; done <"$work/said"
is 'number of events' "$(echo "$events" | wc -l)" "$(wc -l <"$work/said")"
order=$("$python" -c 'import json, sys
print(" ".join(json.loads(l)["event"] for l in open(sys.argv[1])))' "$log")
has 'around one operation' 'session.open entry.before_add entry.after entry.before_add' "$order"
has 'around a question' 'entry.before_add entry.after request.before entry.after request.after reply.after session.close' \
	"$order"
has 'around an export' 'session.open export.before session.close' "$order"
# the record lists the hooks that were run, and no texts
record=$XDG_STATE_HOME/retake/hooks.jsonl
is 'each line of the record' True "$("$python" -c 'import json, sys
lines = [json.loads(l) for l in open(sys.argv[1])]
told = sum(1 for l in open(sys.argv[2]))
print(len(lines) == told and all(l["runs"][0]["end"] == "exit" and l["runs"][0]["code"] == 0
      and l["decision"] == "allow" for l in lines))' "$record" "$log")"
is 'only the owner can read it' 600 "$(stat -c %a "$record")"
hasnt 'no texts' hello "$(cat "$record")"

# completions and the tour run no hooks
no_hooks
hook session.open "cat >>'$log'"
r complete -- show '' >/dev/null
"$RETAKE" -q demo "$work/tour" >/dev/null 2>&1
is 'no hook was run' '' "$(cat "$log" 2>/dev/null)"

# --- denied ---

no_hooks
fresh
for event in entry.before_add entry.before_edit entry.before_delete entry.before_role \
	take.before_create head.before_move session.before_switch export.before import.before; do
	hook "$event" 'cat >/dev/null' 'echo "not now" >&2' 'exit 2'
done
mv "$hooks/export.before" "$work/kept-export"
r export --format canonical >"$work/before"
mv "$work/kept-export" "$hooks/export.before"
newest() {
	r history --json | json '(d["steps"] if isinstance(d, dict) else d)[0]["seq"]'
}
mark=$(newest)
code 'add' 8 r add x
has 'who said no, and why' 'hook entry.before_add/10-test: not now' "$err"
has 'where to look' 'retake --db' "$err"
code 'ask' 8 r ask -m builtin/echo x
code 'edit' 8 r edit :1 x
code 'role' 8 r role :1 X
code 'delete' 8 r delete :1
code 'a run' 8 r delete :1..:3
code 'clear' 8 r clear
code 'branch' 8 r branch :2
code 'go' 8 r go :2
code 'another discussion' 8 r new x
code 'export' 8 r export --format markdown -o "$work/no.md"
is 'no file' no "$([ -e "$work/no.md" ] && echo yes || echo no)"
code 'import' 8 r import "$work/at/talk.md"
code 'looking at what an import would do' 0 r import --dry-run "$work/at/talk.md"
code 'as JSON' 8 r add x --json
is 'its code' hook_refused "$(echo "$out" | json 'd["error"]["code"]')"
# several requests: only that one is denied; a step: all of it
apply '{"op":"label.set","entry":":1","label":"x"}' '{"op":"entry.append","content":"x"}' \
	'{"op":"label.set","entry":":1","label":null}'
is 'the remaining requests are applied' 1 $?
is 'one was refused' '["ok", "hook_refused", "ok"]' "$(echo "$out" | "$python" -c 'import json, sys
print(json.dumps([json.loads(l).get("error", {"code": "ok"})["code"] for l in sys.stdin]))')"
printf '%s\n' '{"op":"label.set","entry":":1","label":"x"}' '{"op":"entry.append","content":"x"}' \
	>"$work/two"
code 'a step is refused' 8 r apply --atomic "$work/two"
has 'why' 'hook entry.before_add/10-test: not now' "$out"
rm -r "$hooks/export.before"
r export --format canonical >"$work/after"
is 'not a byte has changed' same "$(cmp -s "$work/before" "$work/after" && echo same || echo other)"
is 'rows are those of the labels alone' $((mark + 2)) \
	"$(newest)"

# a required hook that cannot be run
no_hooks
mkdir -p "$XDG_CONFIG_HOME/retake"
cat >"$XDG_CONFIG_HOME/retake/config.toml" <<END
[[hook]]
event = "entry.before_edit"
run = ["$work/nothing-there"]
required = true
END
code 'required' 8 r edit :1 x
has 'says so' required "$err"
code 'what it does not concern' 0 r -q add five
# an invalid configuration blocks changes, but not reading
echo '[[hook' >"$XDG_CONFIG_HOME/retake/config.toml"
code 'a change' 2 r add x
has 'and why' 'because it may define hooks' "$err"
code 'reading' 0 r show
has 'is told' 'no hooks were run' "$err"
rm "$XDG_CONFIG_HOME/retake/config.toml"

# --- replaced ---

fresh
hook entry.before_add \
	"sed 's/.*\"content\":\"\\([^\"]*\\)\".*/{\"decision\":\"replace\",\"patch\":{\"op\":{\"content\":\"<\\1>\"}},\"note\":\"wrapped\"}/'"
code 'add' 0 r add new
is 'what is there' 'one|two|three|four|<new>' "$(contents)"
has 'the note' wrapped "$err"
r -q ask -m builtin/echo question >/dev/null 2>&1
has 'what was asked' '<question>' "$(contents)"
hook entry.before_edit "echo '{\"decision\":\"replace\",\"patch\":{\"op\":{\"content\":7}}}'"
code 'what it puts there is read like any other' 2 r edit :1 x
hook entry.before_edit "echo '{\"decision\":\"replace\",\"patch\":{\"op\":{\"op\":\"purge\"}}}'"
code 'and is not another operation' 2 r edit :1 x
is 'nothing was done' one "$(r show :1 --json | json 'd["content"]')"
no_hooks
hook export.before "echo '{\"decision\":\"replace\",\"patch\":{\"entries\":[{\"id\":\"'\$(sed 's/.*\"entries\":\\[{\"id\":\"\\([^\"]*\\)\".*/\\1/')'\",\"content\":\"[hidden]\"}]}}'"
is 'what is written' '[hidden]' "$(r export --format openai | json 'd["messages"][0]["content"] if "messages" in d else d[0]["content"]' 2>/dev/null)"
is 'one entry of all' 1 "$(r export --format openai | json 'len(d["messages"] if "messages" in d else d)')"

# --- a hook that works on the same store ---

no_hooks
fresh
hook entry.before_add 'cat >/dev/null' \
	"[ \"\$RETAKE_HOOK_DEPTH\" -gt 1 ] || timeout 60 '$RETAKE' -q add 'by a hook' || exit 2"
code 'there is no deadlock' 0 timeout 300 "$RETAKE" --db "$db" add 'by me'
is 'both are there' 'one|two|three|four|by a hook|by me' "$(contents)"
has 'history says whose it is' 'hook:entry.before_add/10-test' "$(r history --json)"
hook entry.before_add 'cat >/dev/null' \
	"timeout 60 '$RETAKE' -q add deeper"
code 'hooks in hooks come to an end' 0 timeout 300 "$RETAKE" --db "$db" -q add 'the first'
is 'the maximum depth' 4 "$(contents | tr '|' '\n' | grep -c deeper)"

# --- Ctrl+C ends a hook, and cancels its operation ---

no_hooks
fresh
hook entry.before_add 'cat >/dev/null' "echo \$\$ >'$work/pid'" "kill -INT \$PPID" 'exec sleep 600'
code 'stopped' 130 timeout 300 "$RETAKE" --db "$db" add x
is 'nothing was added' 'one|two|three|four' "$(contents)"
is 'the hook is gone' gone "$(kill -0 "$(cat "$work/pid")" 2>/dev/null && echo there || echo gone)"

# --- a hook that cancels without a reason prints nothing ---

no_hooks
fresh
mkdir -p "$XDG_CONFIG_HOME/retake/hooks/session_before_tree"
silent=$XDG_CONFIG_HOME/retake/hooks/session_before_tree/10-c
printf '#!/bin/sh\ncat >/dev/null\necho "{\\"cancel\\":true}"\n' >"$silent"
chmod +x "$silent"
code 'cancelled' 8 r go :1
is 'silently' '' "$out$err"
code 'programs are told' 8 r --json go :1
has 'which hook' 'session_before_tree/10-c: cancelled' "$out"
is 'and people are not' '' "$err"
printf '#!/bin/sh\ncat >/dev/null\necho "{\\"cancel\\":true,\\"reason\\":\\"stay\\"}"\n' >"$silent"
code 'cancelled with a reason' 8 r go :1
has 'which is shown' '10-c: stay' "$err"

# --- hooks of a project ---

no_hooks
fresh
mkdir -p "$work/at/.retake/hooks/entry.before_edit"
printf '#!/bin/sh\necho "of the project" >&2\nexit 2\n' >"$work/at/.retake/hooks/entry.before_edit/10-p"
chmod +x "$work/at/.retake/hooks/entry.before_edit/10-p"
code 'not before it is trusted' 0 r edit :1 x
has 'and says so' 'not trusted' "$err"
r -q hooks trust >/dev/null
code 'then' 8 r edit :1 y
has 'its hash is on record' '"sha256":"' "$(tail -n 1 "$record")"
echo '# changed' >>"$work/at/.retake/hooks/entry.before_edit/10-p"
code 'not after it has changed' 0 r edit :1 z

finish
