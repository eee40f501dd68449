#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Texts from words, files, standard input and the editor; the whole take in the editor.
# The editor is a script: $1 is the file.
. "$(dirname "$0")/lib.sh"

editor() { # editor COMMANDS: a script that edits "$1"
	printf '#!/bin/sh\n%s\n' "$1" >"$work/editor"
	chmod +x "$work/editor"
	EDITOR=$work/editor
	export EDITOR
}
left() { # number of remaining temporary files
	find "$work" -maxdepth 1 -name '*.md' | wc -l | tr -d ' '
}

# --- sources of a text ---
rm -f "$db"
r -q add 'a word'
printf 'from a file\n' >"$work/file"
r -q add -f "$work/file"
printf 'two\nlines\n' | r -q add -
printf 'dos\r\n' | r -q add -
printf 'exact\n' | r -q add - --exact
r -q add ''
is 'texts' '["a word", "from a file", "two\nlines", "dos", "exact\n", ""]' "$(r show --json | json '[e["content"] for e in d["entries"]]')"
r show :3 --raw >"$work/raw"
is '--raw is exact' 'two|lines' "$(tr '\n' '|' <"$work/raw")"
printf '\377\n' >"$work/file"
code 'not UTF-8' 2 r add -f "$work/file"
has 'not UTF-8: where' 'byte 0' "$err"
code 'a text that begins with a dash' 0 r add -- -n
is 'a text that begins with a dash' '-n' "$(r show :-1 --raw)"

# --- one entry in the editor ---
fresh
editor 'printf "changed\n" >"$1"'
code 'edit' 0 r edit :2 -e
is 'edited' 'one|changed|three|four' "$(contents)"
editor 'cat "$1" >/dev/null'
code 'unchanged' 0 r edit :2 -e
has 'unchanged' 'Nothing was changed' "$out"
is 'no step' 5 "$(r status --json | json 'd["step"]')"
r -q edit :2 "$(printf 'ends here\n\nx')"
code 'line ends stay' 0 r edit :2 -e
is 'no step for line ends' 6 "$(r status --json | json 'd["step"]')"
editor 'exit 3'
code 'the editor fails' 1 r edit :2 -e
has 'the editor fails' 'status 3' "$err"
editor 'printf "half a thought\n" >"$1"; exit 1'
code 'the editor fails after writing' 1 r edit :2 -e
has 'the text is kept' 'text is kept in' "$err"
is 'one file is left' 1 "$(left)"
rm -f "$work"/*.md
editor 'printf "added\n" >"$1"'
code 'add' 0 r add -e -r AI
is 'added' 'added' "$(r show :-1 --raw)"
editor 'p=$PPID; [ "$(cat /proc/$p/comm)" = retake ] || p=$(cut -d" " -f4 /proc/$p/stat); kill -QUIT $p; sleep 0.1; printf "kept\n" >"$1"'
code 'Ctrl+\ in the editor' 0 r edit :-1 -e
is 'Ctrl+\ in the editor does not end the program' 'kept' "$(r show :-1 --raw)"
r -q edit :-1 added
editor ': >"$1"'
code 'add nothing' 2 r add -e
code 'without a terminal' 2 r edit :1
has 'without a terminal' '-f FILE' "$err"
VISUAL='sed -i s/added/visual/' EDITOR=false r edit :-1 -e >/dev/null
is 'VISUAL with arguments' visual "$(r show :-1 --raw)"
is 'no temporary files are left' 0 "$(left)"

# a conflicting change
fresh
editor "'$RETAKE' --db '$db' -q edit :2 theirs; printf 'mine\n' >\"\$1\""
code 'conflict' 5 r edit :2 -e
is 'their text stays' 'one|theirs|three|four' "$(contents)"
has 'our text is kept in a file' 'text is in' "$err"
is 'one file' 1 "$(left)"
rm -f "$work"/*.md

# --- the whole take ---
fresh
editor 'cat "$1" >/dev/null'
code 'unchanged' 0 r edit --all -e
has 'unchanged' 'Nothing was changed' "$out"
editor 'sed -i -e "s/^two$/TWO/" -e "s/^=== \(.*\) User$/=== \1 System/" "$1"'
code 'texts and roles' 0 r edit --all -e
has 'what changed' '1 edited, 2 with a new role' "$out"
is 'texts' 'one|TWO|three|four' "$(contents)"
is 'roles' 'System AI System AI' "$(r show --json | json '" ".join(e["role"] for e in d["entries"])')"
is 'one step' 5 "$(r status --json | json 'd["step"]')"
r -q undo

r show --take-file >"$work/take"
is 'unchanged by way of a file' 'Nothing was changed.' "$(r edit --all -f "$work/take")"
"$python" - "$work/take" <<'PY'
import sys
text = open(sys.argv[1]).read()
head, *frames = text.split("\n=== ")
step, a, b, c, d, end = frames
new = "+ Critic\nA new one.\n=== not a frame\n".replace("=== not", "\\=== not") + "\n"
open(sys.argv[1], "w").write("\n=== ".join([head, step, d, b.replace(" AI", "+muted AI"), new, a, end]))
PY
code 'moved, deleted, muted, added' 0 r edit --all -f "$work/take" -n
has 'dry run' 'Would change: 1 muted or unmuted, 1 added, 1 deleted, 2 moved' "$out"
is 'a dry run changes nothing' 'one|two|three|four' "$(contents)"
code 'moved, deleted, muted, added' 0 r edit --all -f "$work/take"
is 'the result' '["four", "two", "A new one.\n=== not a frame\n", "one"]' "$(r show --json | json '[e["content"] for e in d["entries"]]')"
is 'muted' '[false, true, false, false]' "$(r show --json | json '[e["muted"] for e in d["entries"]]')"
is 'JSON' '[0, 1]' "$(r show --take-file | sed 's/^four$/FOUR/;s/^one$/ONE/' | r edit --all - --json | json '[d["added"], d["edited"] - 1]')"
r -q undo 2
is 'two undos' 'one|two|three|four' "$(contents)"

# all entries new, all entries deleted
printf '=== + User\nonly\n\n=== :end\n' >"$work/take"
r -q edit --all -f "$work/take"
is 'all new' only "$(contents)"
printf '=== :end\n' >"$work/take"
r -q edit --all -f "$work/take"
is 'all gone' '' "$(contents)"
printf '=== + User\na\n\n=== + AI\nb\n\n=== :end\n' >"$work/take"
r -q edit --all -f "$work/take"
is 'from nothing' 'a|b' "$(contents)"

# errors: nothing changes; the file is kept and named
fresh
editor 'sed -i "s/^=== :end$//" "$1"'
code 'cut off' 2 r edit --all -e
has 'cut off' 'last line of the file is missing' "$err"
has 'kept' 'Your text is in' "$err"
has 'how to continue' "retake --db $db edit --all -f" "$err"
is 'nothing changed' 'one|two|three|four' "$(contents)"
is 'one file' 1 "$(left)"
file=$(find "$work" -maxdepth 1 -name '*.md')
printf '=== :end\n' >>"$file"
code 'mended' 0 r edit --all -f "$file"
rm -f "$work"/*.md
r show --take-file | sed 's/^two$/=== what is this/' >"$work/take"
code 'a bad frame' 2 r edit --all -f "$work/take"
has 'its line' 'line' "$err"

# of several changes that are one step, the message is about the one that failed
hook=$XDG_CONFIG_HOME/retake/hooks/entry.before_add/10-word
mkdir -p "${hook%/*}"
printf '#!/bin/sh\ncase $(cat) in *forbidden*) echo "{\\"decision\\":\\"deny\\",\\"reason\\":\\"not this word\\"}";; esac\n' >"$hook"
chmod +x "$hook"
r show --take-file | sed 's/^=== :end$/=== + User\nforbidden\n\n=== + User\nfine\n\n=== :end/' >"$work/take"
code 'one of several fails' 8 r edit --all -f "$work/take"
is 'one of several fails: why' 'retake: hook entry.before_add/10-word: not this word' "$(echo "$err" | head -n 1)"
rm -r "${hook%/*}"

# a conflicting change
fresh
editor "'$RETAKE' --db '$db' -q edit :2 theirs; sed -i 's/^two\$/mine/' \"\$1\""
code 'both changed one entry' 5 r edit --all -e
is 'theirs stays' 'one|theirs|three|four' "$(contents)"
has 'our text is kept in a file' 'text is in' "$err"
rm -f "$work"/*.md
editor "'$RETAKE' --db '$db' -q edit :3 theirs3; sed -i 's/^one\$/mine1/' \"\$1\""
code 'different entries' 0 r edit --all -e
is 'both are there' 'mine1|theirs|theirs3|four' "$(contents)"

# entries without text stay unchanged
apply '{"op":"entry.append","role":"User","content":[{"type":"image","source":"x"}]}'
has 'locked' '+locked User' "$(r show --take-file)"
is 'locked and unchanged' 'Nothing was changed.' "$(r show --take-file | r edit --all -)"
code 'locked and changed' 2 sh -c "'$RETAKE' --db '$db' show --take-file | sed 's/^(not plain text.*/x/' | '$RETAKE' --db '$db' edit --all -"

# --- the prompt ---
editor 'printf "A prompt.\n" >"$1"'
r -q prompt edit -e
is 'prompt' 'A prompt.' "$(r prompt --raw)"
is 'no temporary files are left' 0 "$(left)"

finish
