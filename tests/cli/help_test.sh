#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Help lists everything that exists, and generated files are up to date.
. "$(dirname "$0")/lib.sh"

for command in $("$RETAKE" help --json | json '" ".join(c["name"] for c in d["commands"])'); do
	code "help $command" 0 "$RETAKE" help "$command"
	has "help $command" "retake $command" "$out"
	has "help $command: usage" 'Usage' "$out"
	is "$command -h is the same" "$out" "$("$RETAKE" "$command" -h)"
	has "man: $command" ".SS $command" "$("$RETAKE" help --man)"
done
for topic in addressing exit-codes environment take-file events formats operations; do
	code "help $topic" 0 "$RETAKE" help "$topic"
	has "help lists $topic" "$topic" "$("$RETAKE" help)"
done
has 'operations' 'entry.append' "$("$RETAKE" help operations)"
has 'exit codes' '130' "$("$RETAKE" help exit-codes)"
code 'unknown topic' 3 "$RETAKE" help nonsense

# every operation is used by some command (undo, redo, jump, revert, purge among them)
missing=$("$RETAKE" help --json | "$python" -c '
import json, subprocess, sys
asked = {op for c in json.load(sys.stdin)["commands"] for op in c["operations"]}
ops = {o["op"] for o in json.loads(subprocess.check_output([sys.argv[1], "help", "operations", "--json"]))}
print(" ".join(sorted(ops - asked)), " ".join(sorted(asked - ops)))' "$RETAKE")
is 'commands cover the operations' ' ' "$missing"

# the examples of the help are commands that parse
"$RETAKE" help --json | "$python" -c '
import json, sys
for c in json.load(sys.stdin)["commands"]:
    assert c["summary"] and not c["summary"].endswith("."), c["name"]' && pass || fail 'summaries'

# lines are not too long
is 'help fits in 80 columns' 0 "$("$RETAKE" help | awk 'length($0) > 80' | wc -l | tr -d ' ')"

# --- commands that are easily confused explain the difference ---
for command in context ask again chat; do
	has "$command: a budget of 0" '0: no limit' "$("$RETAKE" help $command | tr -s ' \n' ' ')"
done
has 'a search for nothing' 'without words ("") finds nothing' "$("$RETAKE" help search | tr -s ' \n' ' ')"
for name in OPENAI_API_KEY OPENAI_BASE_URL ANTHROPIC_API_KEY GEMINI_API_KEY OLLAMA_HOST RETAKE_MODEL; do
	has "the variable $name" "$name" "$("$RETAKE" help environment)"
done

# --- generated files are up to date ---
generated() {
	"$RETAKE" $2 >"$work/generated"
	if cmp -s "$work/generated" "$root/$1"; then
		pass
	else
		fail "$1 is out of date: retake $2 > $1"
	fi
}
generated share/man/retake.1 'help --man'
generated share/completions/retake.bash 'completion bash'
generated share/completions/_retake 'completion zsh'
generated share/completions/retake.fish 'completion fish'
if command -v man >/dev/null 2>&1 && command -v groff >/dev/null 2>&1; then
	is 'the man page is well-formed' '' "$(LC_ALL=C.UTF-8 man --warnings -E UTF-8 -l -Tutf8 "$root/share/man/retake.1" 2>&1 >/dev/null)"
fi

# --- completions ---
fresh
r -q label :1 good-start
r -q branch :2 'side take'
r -q new other
r -q use main
complete() {
	"$RETAKE" complete -- --db "$db" "$@" | cut -f1 | tr '\n' ' '
}
has 'commands' 'show ' "$(complete '')"
is 'a prefix' 'search serve set settings ' "$(complete se | tr ' ' '\n' | grep . | sort | tr '\n' ' ')"
has 'flags' '--everywhere ' "$(complete edit --)"
has 'global flags' '--json ' "$(complete edit --)"
is 'takes' 'main side take ' "$(complete takes switch '')"
is 'discussions' 'main other ' "$(complete use '')"
is 'after -d' 'main other ' "$(complete show -d '')"
is 'after --take' 'main side take ' "$(complete show --take '')"
has 'labels' 'good-start ' "$(complete go go)"
has 'positions' ':4 ' "$(complete --take main go :)"
has 'formats' 'canonical ' "$(complete export --format '')"
is 'files' ':files ' "$(complete import '')"
has 'sub-commands' 'switch ' "$(complete takes '')"
has 'topics' 'addressing ' "$(complete help a)"
is 'silent on errors' '' "$("$RETAKE" complete -- --db /nowhere/at/all -d x go '' 2>&1 | grep -v '^@')"
if command -v bash >/dev/null 2>&1; then
	is 'in bash' 'main side\ take ' "$(bash -c '
		PATH=$1:$PATH; RETAKE_DB=$2; export RETAKE_DB
		source <("$3" completion bash)
		COMP_WORDS=("$3" takes switch ""); COMP_CWORD=3; _retake
		printf "%s " "${COMPREPLY[@]}"' sh "$(dirname "$RETAKE")" "$db" "$RETAKE")"
	is 'in bash, a position' '3 ' "$(bash -c '
		RETAKE_DB=$2; export RETAKE_DB
		source <("$3" completion bash)
		COMP_WORDS=("$3" --take main show : 3); COMP_CWORD=5; _retake
		printf "%s " "${COMPREPLY[@]}"' sh "$(dirname "$RETAKE")" "$db" "$RETAKE")"
fi
for shell in bash zsh fish; do
	command -v "$shell" >/dev/null 2>&1 || continue
	"$RETAKE" completion "$shell" >"$work/script"
	code "$shell reads its script" 0 "$shell" -n "$work/script"
done

finish
