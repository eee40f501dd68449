#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The exit codes documented in ARCHITECTURE.md, and which stream messages are written to.
. "$(dirname "$0")/lib.sh"

fresh
code 'version' 0 "$RETAKE" --version
has 'version' 'retake ' "$out"
code 'no words' 0 "$RETAKE"
has 'no words' 'retake demo' "$out"
code 'help' 0 "$RETAKE" help
code 'show' 0 r show
is 'nothing on standard error' '' "$err"

code 'unknown command' 2 r frobnicate
code 'unknown flag' 2 r show --frobnicate
code 'missing word' 2 r role :1
code 'too many words' 2 r merge :1 :2
code 'bad number' 2 r undo three
code 'bad count' 2 r undo 0
has 'bad count: undo' 'N must be 1 or more' "$err"
code 'bad count' 2 r redo 0
has 'bad count: redo' 'N must be 1 or more' "$err"
code 'unknown entry' 3 r edit zzzz x
code 'unknown position' 3 r edit :99 x
code 'position 0' 3 r edit :0 x
code 'unknown take' 3 r takes switch nowhere
code 'unknown discussion' 3 r use nowhere
code 'unknown -d' 3 r -d nowhere show
code 'unknown --take' 3 r --take nowhere show
code 'unknown step' 3 r show --at-op 999
code 'unknown project' 3 r -p nowhere show
code 'no such file' 3 r import "$work/nowhere.json"
code 'no such store' 3 "$RETAKE" --db "$work/nowhere.db" fsck
code 'label one' 0 r label :1 same
code 'label two' 0 r label :2 same
code 'ambiguous label' 6 r go same
code 'refused: last take' 1 r takes rm main
code 'refused: nothing to redo' 1 r redo
code 'refused: name taken' 1 r new main
code 'not ours' 1 "$RETAKE" --db "$root/Makefile" show
code 'read-only' 1 r --read-only add x
code 'postgresql: no server' 1 "$RETAKE" --db postgresql://me:sesame@127.0.0.1:1/db show
code 'postgresql: nothing to redo either' 1 "$RETAKE" --db postgres://me:sesame@127.0.0.1:1/db redo
hasnt 'no credentials are repeated' 'sesame' "$err"
code 'needs --yes' 2 r purge :1

# help takes precedence over everything else
code '-h after the command' 0 r edit -h
has '-h after the command' 'retake edit' "$out"
code '-h before the command' 0 r -h edit
has '-h before the command' 'retake edit' "$out"
code '-h with nonsense' 0 r edit --nonsense -h
code '--help of apply' 0 r apply --help

# errors as JSON on standard output, and readable on standard error
code 'json error' 3 r edit zzzz x --json
is 'json error code' 'not_found' "$(printf '%s' "$out" | json 'd["error"]["code"]')"
has 'json error message' 'zzzz' "$(printf '%s' "$out" | json 'd["error"]["message"]')"
has 'error for people' 'retake: ' "$err"
code 'json usage error' 2 r show --frobnicate --json
is 'json usage code' 'usage' "$(printf '%s' "$out" | json 'd["error"]["code"]')"
code 'json ambiguous' 6 r go same --json
is 'json ambiguous code' 'ambiguous' "$(printf '%s' "$out" | json 'd["error"]["code"]')"

# reading creates no file
code 'show without a store' 0 "$RETAKE" --db "$work/none.db" show
is 'no file is made' 'no' "$([ -e "$work/none.db" ] && echo yes || echo no)"
code 'the default place' 0 "$RETAKE" add hello
is 'the default store' 'yes' "$([ -f "$work/data/retake/retake.db" ] && echo yes || echo no)"
is 'it is private' '600' "$(stat -c %a "$work/data/retake/retake.db")"
code 'RETAKE_DB' 0 env RETAKE_DB="$db" "$RETAKE" show
has 'RETAKE_DB' 'three' "$out"
code '--db before RETAKE_DB' 0 env RETAKE_DB="$work/none.db" "$RETAKE" --db "$db" show
has '--db before RETAKE_DB' 'three' "$out"
code 'RETAKE_PROJECT' 0 env RETAKE_PROJECT=other "$RETAKE" --db "$db" add elsewhere
code 'projects' 0 r projects --json
is 'projects' '["default", "other"]' "$(printf '%s' "$out" | json '[p["name"] for p in d]')"

# every listing command has a message if there is nothing
for command in show tree status takes ls label roles settings files track preset prompt history context save \
	'search word' 'history --all' 'takes --all' 'ls --all' 'show --role User' 'tree --labels'; do
	# shellcheck disable=SC2086
	code "without a store: $command" 0 "$RETAKE" --db "$work/none.db" $command
done

# quiet
code 'quiet' 0 r -q add x
is 'quiet says nothing' '' "$out"

finish
