#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The tour works without network, key and model, is quick and repeatable, and leaves a store to
# experiment with.
. "$(dirname "$0")/lib.sh"

took() { # took COMMAND…: time in milliseconds
	begin=$(date +%s%N)
	"$@" >"$work/took" 2>&1
	echo $((($(date +%s%N) - begin) / 1000000))
}
code 'demo' 0 "$RETAKE" demo
ms=$(took "$RETAKE" demo "$work/timed")
tries=1
while [ "$ms" -ge 1000 ] && [ $tries -lt 20 ]; do # retries on a busy machine
	sleep 1
	tries=$((tries + 1))
	ms=$(took "$RETAKE" demo "$work/timed$tries")
done
is 'within a second' yes "$([ "$ms" -lt 1000 ] && echo yes || echo "$ms ms")"
tour=$XDG_DATA_HOME/retake/retake-demo.db
is 'the store' yes "$([ -f "$tour" ] && echo yes)"
for words in '$ retake tree' '$ retake edit' '$ retake context' '$ retake undo' '$ retake redo' '--at-step' \
	'$ retake history' 'export RETAKE_DB=' 'A girl of seven'; do
	has 'shown' "$words" "$out"
done
hasnt 'no error' 'retake: ' "$out$err"
hasnt 'no colour' "$(printf '\033')" "$out"
is 'the user has no store yet' no "$([ -e "$XDG_DATA_HOME/retake/retake.db" ] && echo yes || echo no)"
is 'four takes' 4 "$("$RETAKE" --db "$tour" takes --json | json 'len(d)')"
is 'sound' true "$("$RETAKE" --db "$tour" fsck --json | json 'd["clean"]')"

# every command that it shows has the same result when it is typed
printf '%s\n' "$out" | sed -n 's/^\$ //p' >"$work/commands"
is 'commands' yes "$([ "$(wc -l <"$work/commands")" -ge 9 ] && echo yes)"
code 'back to the story' 0 "$RETAKE" --db "$tour" jump 1
while IFS= read -r command; do
	code "$command" 0 env RETAKE_DB="$tour" PATH="$(dirname "$RETAKE"):$PATH" sh -c "$command"
done <"$work/commands"

# again, in the same place: nothing is lost
steps=$("$RETAKE" --db "$tour" status --json | json 'd["step"]')
code 'again' 0 "$RETAKE" demo
has 'the same tour' '$ retake tree' "$out"
is 'what was there is still in the history' yes "$([ "$("$RETAKE" --db "$tour" status --json | json 'd["step"]')" -gt "$steps" ] && echo yes)"
is 'the story starts again' 'lighthouse lighthouse_take_1 rescue comedy' "$("$RETAKE" --db "$tour" takes --json | json '" ".join(t["name"] for t in d)')"

code 'in a folder' 0 "$RETAKE" demo "$work/tour"
is 'in a folder' yes "$([ -f "$work/tour/demo.db" ] && echo yes)"
code 'as JSON' 0 "$RETAKE" demo "$work/tour2" --json
is 'as JSON' true "$(printf '%s' "$out" | json 'len(d["steps"]) >= 9 and all(s["command"].startswith("retake ") for s in d["steps"])')"
fresh
code 'not in a store of the user' 1 r demo
is 'which is unchanged' 'one|two|three|four' "$(contents)"

finish
