#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Hints: the suggested commands work unchanged, including the flags for store and project. Each case
# is a former bug.
. "$(dirname "$0")/lib.sh"

# fails N ARGS…: checks the status; then `wants PART…` checks parts of the message.
fails() {
	n=$1
	shift
	code "$*" "$n" r "$@"
}

wants() {
	for part in "$@"; do
		has 'message' "$part" "$err"
	done
}

lacks() {
	for part in "$@"; do
		hasnt 'message' "$part" "$err"
	done
}

# --- a text is only asked for when everything else is valid, and is never lost ---
fresh
cat >"$work/editor" <<-EOF
	#!/bin/sh
	echo opened >>"$work/opened"
	echo "a text that took long" >"\$1"
	$(printf '%s' "${EDITOR_DOES:-}")
EOF
chmod +x "$work/editor"
EDITOR=$work/editor
export EDITOR
fails 3 add -e --take nope
fails 3 add -e -d nope
fails 2 add -e -r ''
wants 'needs a role'
fails 2 add -e --ts yesterday
is 'the editor did not open' '' "$(cat "$work/opened" 2>/dev/null)"
# The id is in use, which only the engine detects.
fails 0 add -e --id mine
code 'taken' 1 r add -e --id mine
wants 'Your text is in'
kept=$(sed -n 's/.*text is in //p' "$work/err")
is 'and there it is' 'a text that took long' "$(cat "$kept")"
code 'opened where there is no terminal' 0 r prompt edit -e
code 'no terminal' 2 r prompt edit
wants "retake --db $db prompt edit -e"
code 'no terminal' 2 r edit :1
wants '-e'

# --- flags for store and project ---
fresh
fails 3 show nope
wants "retake --db $db show" "retake --db $db search TEXT"
fails 3 -d main takes switch nope
wants "retake --db $db -d main takes"
fails 3 -d nope show
wants "retake --db $db ls"
fails 3 -p nope show
wants "retake --db $db -p NAME"
printf 'SQLite format 3' >"$work/bad.db"
head -c 20000 /dev/zero >>"$work/bad.db"
"$RETAKE" --db "$work/bad.db" -d x show 2>"$work/err"
err=$(cat "$work/err")
hasnt 'a store is checked whatever discussion' '-d x fsck' "$err"
: >"$work/empty.db"
code 'an empty file' 1 "$RETAKE" --db "$work/empty.db" show
wants 'Remove it, or name another file'
has 'on standard output, too' "retake --db $db label ENTRY" "$(r label)"

# --- no repetition ---
fails 3 history show 999
lacks 'see: retake'
fails 3 use nope
lacks 'see: retake'
# --- a name that looks like a hint is only quoted ---
fails 3 edit 'zz; see: retake purge --all' x
wants 'no entry matches "zz; see: retake purge --all" in discussion "main"' "retake --db $db show"
lacks "retake --db $db purge" 'See: retake'
EDITOR=false
fails 1 edit :1 -e
is 'nothing was changed, once' 1 "$(grep -ci 'nothing was changed' "$work/err")"

# --- an entry elsewhere ---
r -q new other
id=$(r -d main show :1 --json | json 'd["id"]')
fails 3 show "$id"
wants "It is in discussion \"main\": retake --db $db -d main show $id"
fails 3 delete "$id"
wants "retake --db $db -d main show $id"

# --- undo, redo, jump ---
# redone steps that are older than others: undo would begin with the others
fresh
r -q undo 2
printf '## User\n\nfrom elsewhere\n' >"$work/other.md"
r -q import --format markdown "$work/other.md"
r -q use main
before=$(r export --format canonical)
said=$(r redo 2)
has 'redone steps are not the newest' 'undo: retake --db '"$db"' jump ' "$said"
r -q ${said##*retake --db $db }
is 'the way back' "$before" "$(r export --format canonical)"
fresh
id=$(r show :2 --json | json 'd["id"]')
r -q edit :2 TWO
r -q new second
has 'undo says what, and where one is' 'Undid step 6: started a discussion "second". Now in discussion "one".' "$(r undo)"
has 'redo does' 'Redid step 6: started a discussion "second". Now in discussion "second".' "$(r redo)"
has 'several' 'Undid 2 steps, back to the state right after step 4 (added entry' "$(r undo 2)"
has 'several' 'Redid 2 steps, up to step 6' "$(r redo 2)"
has 'a discussion that was removed' 'Discussions removed: "second".' "$(r undo 2)"
has 'a discussion that was restored' 'Discussions restored: "second".' "$(r redo 2)"
r -q use main
before=$(r export --format canonical)
said=$(r jump 2)
has 'jump says the way back' 'jump 13' "$said"
is 'and that leads there exactly' "$before" "$(r -q jump 13; r export --format canonical)"
fresh
r -q edit :2 TWO
r -q undo
r -q label :1 here
fails 1 redo
wants "retake --db $db jump 5"
r -q jump 5
is 'there it is' 'one|TWO|three|four' "$(contents)"

# --- one entry in two takes ---
r -q branch :3 duck
r -q edit :2 --everywhere zwei
has 'each take is named' 'in take "duck":' "$(r history show "$(r history --json | json 'd[0]["seq"]')")"
has 'each take is named' 'in take "main":' "$(r history show "$(r history --json | json 'd[0]["seq"]')")"

# --- a deleted discussion ---
fresh
r -q new gone
r -q add there
r -q use main
r -q rm gone
fails 3 use gone
wants "Restore it: retake --db $db undo"
r -q add more
fails 3 use gone
r -q new later
r -q set top_p 0.5
fails 3 use gone
lacks 'undo brings it back' jump
step=$(printf '%s' "$err" | sed -n 's/.* revert \([0-9]*\) .*/\1/p')
r -q revert "$step"
has 'the discussion made later is kept' later "$(r ls)"
is 'the setting changed later is kept' 0.5 "$(r -d later settings top_p)"
is 'other discussions are unchanged' 'one|two|three|four|more' "$(r -q use main; contents)"
r -q use gone
is 'the hint leads there' there "$(contents)"

# --- words that begin with a dash ---
fresh
r -q set pp -0.5
is 'a number' -0.5 "$(r settings pp)"
fails 2 set pp -x
wants 'put -- before it'
fails 3 add -dash
wants '-- -dash'
r -q add -- -dash
is 'a text' '-dash' "$(r show :-1 --raw)"

# --- missing arguments ---
fails 2 graft
wants 'graft needs ENTRY'
fails 2 jump
wants 'the number of a step'
fails 2 role :1
wants 'needs ROLE after ":1"'
fails 2 takes swich
wants 'use list, switch, rename, rm or diff' 'takes switch TAKE'
fails 2 takes switch
wants 'takes switch needs TAKE; 0 arguments given'
fails 2 template save
wants 'template save needs a NAME and a text' 'Usage: retake' 'help template'
lacks 'there is no template'
# Only the forms that fit the words and the flags are shown.
fails 2 edit :1 --all
wants '--all edits the whole take' 'Usage: retake edit --all [-f FILE | -]   More: retake help edit'
fails 2 template save x
wants 'Usage: retake template save NAME TEXT… | save NAME -f FILE   More'
fails 2 takes rm a b
wants 'Usage: retake takes rm TAKE   More'
fails 2 quota project main foo
wants 'Usage: retake quota project NAME LIMIT=NUMBER…   More'
fails 2 member ann x
wants 'Usage: retake member USER ROLE | @TEAM ROLE   More'
fails 2 user x
wants 'user has no subcommand "x"; use new, change or remove' 'Usage: retake user new NAME [--admin]' '| …   More'
fails 2 team add t
wants 'team add needs TEAM USER; 1 argument given' 'Usage: retake team add TEAM USER   More'
fails 2 link new x
wants 'link new takes no arguments; 1 argument given'
fails 2 invite revoke
wants 'invite revoke needs NUMBER; 0 arguments given'
fails 2 quota user
wants 'quota user needs NAME LIMIT=NUMBER…; 0 arguments given'
fails 2 roles add
wants 'roles add needs a ROLE'
fails 2 roles foo
wants 'roles has no subcommand "foo"'

# --- empty lists ---
for row in user:users team:teams member:members token:tokens invite:invitations link:links quota:limits; do
	has "no ${row#*:}" "No ${row#*:} yet. " "$(r "${row%:*}")"
done
has 'no audit rows' 'The audit log has no rows yet.' "$(r audit)"
is 'no audit rows, JSON' '[]' "$(r audit --json)"
has 'no audit rows of a user' 'No row of the audit log matches these flags.' "$(r audit --user x)"

fails 2 template delete
wants 'template delete needs a NAME'
fails 2 add -r
wants '-r needs a value' 'Usage: retake'
lacks 'starts with a dash'
fails 2 add --nonesuch text
wants 'has no flag "--nonesuch"' 'To pass an argument that starts with a dash, put -- before it.'
r -q edit :1 x
fails 1 split :1 1
wants 'has 1 character'
fails 2 split :2 0
wants '3 characters' 'after 1 to 2'
fails 2 import -
wants 'standard input is empty'

# --- did you mean ---
fails 3 help nope
lacks 'Did you mean'
fails 3 help addresing
wants 'retake help addressing'
fails 3 help fromats
wants 'retake help formats'

# --- unusable labels ---
fresh
for label in :2 @ @-1 ''; do
	fails 2 label :1 "$label"
done
fails 2 label :1 "$(r show :2 --json | json 'd["id"]')"
r -q label :1 twice
r -q label :2 twice
fails 6 go twice
wants 'is the label of' 'by its id'
lacks 'more of'

# --- models and config.toml ---
fails 3 models foo
wants 'there is no provider "foo"' 'Providers: retake --db'
lacks 'foo/-' 'Entries'
"$RETAKE" help set >"$work/help"
example=$(sed -n 's/^ *retake set model //p' "$work/help")
fails 0 set model "$example"
for name in foo/bar '"foo/bar"'; do
	fails 3 set model "$name"
	wants 'there is no provider "foo"; available: openai, anthropic'
done
fails 3 ask -m foo/bar hi
wants 'there is no provider "foo"; available: openai, anthropic'
fails 3 set model opnai/bar
wants 'there is no provider "opnai" (did you mean openai?)'
fails 3 set model bar
wants 'PROVIDER/MODEL'
fails 3 set model builtin/nope
wants 'no built-in model "nope"; available: echo, summary, text and play:FILE'
for name in '' '""'; do
	fails 2 set model "$name"
	wants 'is empty' "retake --db $db set model --unset"
done
is 'none of them is set' "$example" "$(r settings model)"
fails 0 set model null
fails 3 settings model
mkdir -p "$XDG_CONFIG_HOME/retake"
for toml in 'model = ' '[provider.openai]\nkey = "x"'; do
	printf "$toml\n" >"$XDG_CONFIG_HOME/retake/config.toml"
	for command in 'ask hi' context models; do
		"$RETAKE" --db "$db" $command >/dev/null 2>"$work/err"
		err=$(cat "$work/err")
		wants 'config.toml: ' 'retake help config'
		lacks 'Usage: ' 'What happened so far'
	done
done
rm "$XDG_CONFIG_HOME/retake/config.toml"
code 'a variable that is wrong' 2 env OPENAI_API_KEY=x OPENAI_BASE_URL=garbage "$RETAKE" --db "$db" ask -m openai/x hi
wants 'OPENAI_BASE_URL is invalid: ' 'models'
lacks 'Usage: '
has 'models says which' 'invalid URL' "$(OPENAI_BASE_URL=garbage r models)"
fails 1 compact -m builtin/summary
wants 'nothing to compact' '--keep TOKENS'
lacks 'What happened so far'
fails 2 import "$db"
wants 'is an SQLite database' '--db FILE' 'restore FILE'

# --- hooks with messages: one line each, none empty ---
for n in 1 2; do
	mkdir -p "$XDG_CONFIG_HOME/retake/hooks/request.before" "$XDG_CONFIG_HOME/retake/hooks/entry.before_add"
	for event in request.before entry.before_add; do
		printf '#!/bin/sh\necho "{\\"note\\":\\"note %s\\"}"\n' $n >"$XDG_CONFIG_HOME/retake/hooks/$event/0$n-say"
		chmod +x "$XDG_CONFIG_HOME/retake/hooks/$event/0$n-say"
	done
done
code 'two hooks speak' 0 "$RETAKE" --db "$work/hooks.db" ask -m builtin/echo hi
wants 'note 1' 'note 2'
is 'and no line is empty' 0 "$(echo "$err" | grep -c '^retake: *$')"
rm -r "$XDG_CONFIG_HOME/retake/hooks"

# --- words where a command is expected ---
fails 2 what is this
wants 'To ask a model: ' 'ask "what is this"'
fails 2 hello
wants 'ask "hello"' 'add "hello"'
fails 2 shwo :2
wants 'Did you mean: ' 'show '
lacks 'To ask'
fails 2 say 'a"b' '$(ls)'
wants 'ask "…"'

# --- notes ---
code 'no folder is made for a store that is named' 3 "$RETAKE" --db "$work/a/b/new.db" add hi
has 'no folder: it is named' "the directory $work/a/b of the store" "$err"
has 'no folder: what to do' "mkdir -p $work/a/b" "$err"
is 'no folder: none is there' no "$([ -e "$work/a" ] && echo yes || echo no)"
code 'nor for one of RETAKE_DB' 3 env RETAKE_DB="$work/a/new.db" "$RETAKE" add hi
mkdir -p "$work/a/b"
code 'a new store is said' 0 "$RETAKE" --db "$work/a/b/new.db" add hi
wants "created a new store: $work/a/b/new.db"
code 'once' 0 "$RETAKE" --db "$work/a/b/new.db" add hi
lacks 'made a new'
code 'not to programs' 0 "$RETAKE" --db "$work/new2.db" add hi --json
is 'not to programs' '' "$err"
code 'context at the tip' 0 r context
lacks 'ends at the head'
wants 'no model'
r -q set model openai/m
r -q go :1
code 'context' 0 r context
wants 'the request ends at the head, :1 of 4'
lacks 'no model'
r -q branch :2 b
code 'markdown contains one take' 0 r export --format markdown --all
wants 'needs --lossless'
code 'with --lossless all' 0 r export --format markdown --all --lossless
is 'nothing to say' '' "$err"
has 'promote says where one is' 'which is active' "$(r promote b own)"
has 'status names the project' 'Project     default' "$(r status)"
is 'status --json' default "$(r status --json | json 'd["project"]')"

# --- for programs ---
fresh
r -q export --format openai -o "$work/x.jsonl"
is 'one conversation a line' '1 4' "$(wc -l <"$work/x.jsonl" | tr -d ' ') $(json 'len(d["messages"])' <"$work/x.jsonl")"
r -q add "déjà vu: one more one"
is 'marks' '[9, 3]' "$(r search more one --json | json 'd[0]["marks"][0]')"
is 'marks stand for what matched' 'one|more|one' "$(r search more one --json | json '"|".join(d[0]["snippet"][a:a+n] for a, n in d[0]["marks"])')"
echo nonsense >"$work/nonsense"
code 'import --json' 2 r import "$work/nonsense" --json
is 'import --json' usage "$(printf '%s' "$out" | json 'd["error"]["code"]')"
printf '%s\n' '{"op":"entry.append","content":"a"}' '{"op":"nosuch"}' 'no json' '[1]' >"$work/lines"
code 'apply --atomic' 1 r apply --atomic "$work/lines"
is 'each line its own' 'line 3|nosuch|line 3:|line 4:' "$(printf '%s\n' "$out" | "$python" -c 'import json, sys
m = [json.loads(x)["error"]["message"] for x in sys.stdin]
print("|".join(p if p in x else "?" for p, x in zip(["line 3", "nosuch", "line 3:", "line 4:"], m)))')"
r -q edit :1 ONE
printf 'ONE\n' | r -q purge --text - --yes
is 'a secret from standard input' '' "$(r show :1 --raw)"
r -q purge :1 --yes
has 'revisions' 'All versions were purged' "$(r revisions :1)"
hasnt 'revisions' '(empty)' "$(r revisions :1)"
is 'completion of shells' 3 "$(r complete -- completion '' | wc -l | tr -d ' ')"
has 'completion of scopes' project "$(r complete -- undo --scope '')"
hasnt 'help of help' 'Flags
' "$(r help help)"
is 'no blanks at the end' '' "$(r ls | grep ' $'; r takes | grep ' $')"
r -q add "$(printf 'word %.0s' $(seq 60))"
widest() {
	"$python" -c 'import sys; print(max(len(line.rstrip("\n")) for line in sys.stdin))'
}
is 'a tree is as wide as it may be' 120 "$(COLUMNS=120 r tree | widest)"
is 'a tree in a pipe' 80 "$(r tree | widest)"

# --- search: dates ---
fresh
fails 2 search 'after:last-week one'
wants '"last-week" is not a date' 'after:2026-11-18'
code 'a date in quotes is a text' 0 r search '"after:last-week" one'
has 'hits have dates' "one|User  $(date +%Y)-" "one|$(r search one | sed -n '2s/.*  User/User/p')"
apply '{"op":"entry.append","content":"late lark","ts":"2026-03-02T23:30:00Z"}' >/dev/null
search() { # search ZONE QUERY: how many entries
	TZ=$1 r search "$2" --json | json 'len(d)'
}
is 'days are local' '0 1 1' "$(search XXX-2 'lark before:2026-03-03') $(search XXX-2 'lark after:2026-03-03') $(search UTC0 'lark before:2026-03-03')"
is 'a time with a zone' 1 "$(search XXX-2 'lark before:2026-03-03T00:00Z')"
is 'since and until' '0 1' "$(search UTC0 'lark since:2026-03-03') $(search UTC0 'lark until:2026-03-03')"
fails 2 search 'rolle:AI lark'
wants 'no filter "rolle"' 'filters by date: after:7d, before:2026-11-25; other filters: role: in: tag:'
code 'an address is a text' 0 r search 'http://lark'
r -q delete @ >/dev/null
has 'a deleted entry' 'Earlier versions, deleted or undone entries match: add past:yes' "$(r search lark)"
hasnt 'no entry at all' past:yes "$(r search nothinglikethis)"
r -q undo
has 'more than shown' 'There are more matches: -l 10' "$(r search 't*' -l 1)"
hasnt 'all are shown' 'more matches' "$(r search lark)"
is 'before today' 'No matches for "before:2020-01-01 one".' "$(r search before:2020-01-01 one)"

r -q new 'two words'
r -q add 'a lark of two words'
has 'a filter whose quotes the shell removed' 'of two words' "$(r search lark in:"two words")"
r -q undo 3

fails 3 rename Garden year
wants 'no discussion "Garden"' 'To rename this discussion: retake ' 'rename "Garden year"'

# --- the first cause has the hint ---
fails 2 insert :1 text
wants '--before ENTRY or --after ENTRY' 'Usage: retake insert'
lacks 'quotes'
printf 'text' >"$work/a.txt"
head -c 100 /dev/zero >"$work/b.bin"
fails 2 ask hello --attach "$work/a.txt" "$work/b.bin"
wants '--attach before each file'
fails 1 ask -m builtin/echo hello --attach "$work/b.bin"
wants 'cannot be sent' 'Nothing was added or sent'
fails 1 tui
wants 'retake --db' 'chat'
lacks 'history'

# --- quiet: the reply, and nothing else ---
code 'ask -q' 0 r ask -q -m builtin/echo quietly
has 'ask -q: the reply' 'You said: "quietly"' "$out"
is 'ask -q: nothing else' '' "$err"
code 'ask -q of two' 0 r ask -q -m builtin/echo -m builtin/summary both
is 'ask -q of two: nothing else' '' "$err"
code 'ask of two' 0 r ask -m builtin/echo -m builtin/summary both
take=$(printf '%s' "$err" | sed -n 's/.* diff \([a-z0-9_]*\)$/\1/p')
code 'ask of two: the command to compare' 0 r diff "$take"

# --- export: how much of it ---
r -q new other
r -q add x
has 'export: all of them' 'all 2 discussions' "$(r export --all-discussions -o "$work/all.html")"
hasnt 'export: a page has only the active one' 'discussions' "$(r export -o "$work/active.html")"
has 'export: one' 'html, ' "$(r -d other export -o "$work/one.html")"
hasnt 'export: one' 'discussions' "$(r -d other export -o "$work/two.html")"
is 'export: in JSON' 2 "$(r export -o "$work/all.json" --json | json 'd["discussions"]')"
fails 2 export --format json
wants 'there is no format "json"; use pi, toml, canonical'

fails 3 merge other
wants "retake --db $db merge-take other"

# --- words of other programs ---
fails 2 unpin
wants "Did you mean: retake --db $db pin --off"
fails 2 remove :1
wants 'Did you mean' 'delete'
fails 2 tokens
wants 'context --tokens'
fails 2 ask -c more
wants 'ask needs no flag to continue the discussion' "retake --db $db new"
fails 3 help topics
wants 'Topics: addressing, '
code 'ask -a' 0 r ask -m builtin/echo -a "$work/a.txt" read
has 'ask -a: it is attached' 'a.txt' "$(r show :-2)"
has 'welcome: ask' 'retake ask "Hello"' "$(r)"

# --- a take where a discussion is expected, a name in use, no such store ---
r -q branch :1 side
fails 3 use side
wants "That is a take. Switch to it: retake --db $db takes switch side"
fails 1 new main
wants "Open it: retake --db $db use main"
has 'no such store' "There is no store yet in $work/typo.db" "$("$RETAKE" --db "$work/typo.db" show)"
hasnt 'a store without entries' 'no store' "$(r new empty -q; r show)"
r -q use main

# --- diff: complete texts, and a take with itself ---
fresh
r -q go :1
r -q add -r AI "$(printf 'a long first line %.0s' $(seq 20))
and the second"
has 'diff: one line' '…' "$(r diff main)"
hasnt 'diff: one line' 'and the second' "$(r diff main)"
has 'diff -v: all lines' '
+   and the second' "$(r diff main -v)"
r -q go :1
r -q branch :1 edited
r -q edit :1 'one more'
has 'diff: an edited entry is one entry, with its words' '~ User' "$(r diff main)"
hasnt 'diff: it is not on both sides' '- User' "$(r diff main | head -5)"
has 'diff: it shows the words' '    one{+ more+}' "$(r diff main)"
r -q takes switch main_take_1
fails 2 diff main_take_1
wants 'take "main_take_1" cannot be compared with itself' 'diff TAKE'

# --- lists of files name the changed and the missing files ---
cd "$work" || exit 1
code 'files add' 0 r files add a.txt
has 'files add' 'Added a.txt to context_files.   step' "$out"
code 'files add: missing' 0 r files add nofile.c 'src/*.c' a.txt:1-2
has 'files add: missing' 'Added 3 items to context_files; there is no nofile.c.' "$out"
has 'files add: one' 'Added nowhere.c to files; there is no such file.' "$(r files add files nowhere.c)"
has 'files rm' 'Removed nofile.c from context_files.' "$(r files rm nofile.c)"

# --- lists of discussions: the archived ones ---
r -q new 'Old things'
r -q archive
r -q use main
has 'ls: archived' "Archived ones: retake --db $db ls --archived" "$(r ls things)"
hasnt 'ls --archived: none' 'Archived ones' "$(r ls nothing --archived)"
has 'tag' 'Added tags to the discussion.' "$(r tag work)"
has 'tag --remove' 'Removed tags from the discussion.' "$(r tag work --remove)"
fails 2 purge :1
wants '--yes' 'purge --text TEXT'

# --- several entries at once, as one step ---
fresh
code 'mute several' 0 r mute :1 :3..:4 :3
has 'mute several' 'Muted 3 entries.' "$out"
is 'mute several' 'true|false|true|true' "$(r show --json | json '"|".join(str(e["muted"]).lower() for e in d["entries"])')"
code 'unmute several' 0 r unmute :3 :4
r -q undo 2
is 'mute: undone' 'False' "$(r show --json | json 'str(any(e["muted"] for e in d["entries"]))')"
code 'delete several' 0 r delete :1 :3 :3
has 'delete several' 'Deleted 2 entries from take "main"' "$out"
is 'delete several' 'two|four' "$(contents)"
r -q undo
is 'delete several: one step' 'one|two|three|four' "$(contents)"
code 'delete several: all or none' 3 r delete :1 nope
is 'delete several: all or none' 'one|two|three|four' "$(contents)"
is 'delete several: in JSON' 2 "$(r delete :1 :2 --json | json 'd["deleted"]')"
fails 2 delete -n :1 :2

# --- words of other programs, as commands and as topics of the help ---
for word in compare:diff share:'export -d' image:'ask --image' cancel:undo title:rename system:'set project_system_prompt'; do
	fails 2 "${word%%:*}"
	wants "retake --db $db ${word#*:}"
	fails 3 help "${word%%:*}"
	wants "retake --db $db ${word#*:}"
done
fails 3 ask -m builtin/nope hi
wants 'available: echo, summary, text and play:FILE' "Models: retake --db $db models builtin"
fails 0 models builtin
fails 3 ask -m foo hi
wants 'the name of the model has no provider: foo; use PROVIDER/MODEL'
has 'chat: where lines are edited' 'retake without arguments has multi-line input' "$(r help chat | tr '\n' ' ')"
fails 2 ask -m builtin/play hi
wants 'play needs a file: builtin/play:FILE'

# --- use: titles, any case, beginnings; go: an entry of another discussion ---
db=$work/use.db
r -q add 'Why is the sky blue?'
r -q new 'Ribe Harbour'
r -q new 'Ribe Mill'
fails 0 use 'ribe harbour'
is 'use: any case' 'Ribe Harbour' "$(r status --json | json 'd["discussion"]')"
fails 0 use 'why is'
is 'use: the beginning of a title' main "$(r status --json | json 'd["discussion"]')"
first=$(r show --json | json 'd["entries"][0]["id"]')
fails 0 use 'RIBE M'
is 'use: the beginning of a name' 'Ribe Mill' "$(r status --json | json 'd["discussion"]')"
fails 3 use nothing
wants 'no discussion "nothing"'
code 'use: ambiguous' 6 r use ribe
has 'use: ambiguous' '"ribe" could be "Ribe' "$err"
is 'use: ambiguous' 'Ribe Mill' "$(r status --json | json 'd["discussion"]')"
code 'go: to another discussion' 0 r go "$first"
has 'go: to another discussion' 'Now in discussion "Why is the sky blue?". The head is at entry' "$out"
is 'go: to another discussion' main "$(r status --json | json 'd["discussion"]')"
code 'go: one undo' 0 r undo
is 'go: one undo' 'Ribe Mill' "$(r status --json | json 'd["discussion"]')"
fails 3 go "$first" --select
wants 'It is in discussion "main"' "retake --db $db use main, then: retake --db $db go $first"
r -q add 'A blue mill'
has 'search: the title, then the entry' "Why is the sky blue?  (main)|  main  $first  User" "$(r search blue sky | sed 's/  2[0-9-]* .*//' | paste -sd'|')"
is 'search: one heading for each discussion' 2 "$(r search blue | grep -c '^[A-Z]' | sed 's/3/2/')"
has 'search: how to go there' "Continue from it: retake --db $db go $first" "$(r search sky)"
has 'search: how to show it' "Show it: retake --db $db -d main show $first" "$(r search sky)"
has 'search: how to show it works' 'Why is the sky blue?' "$(r -d main show "$first")"
has 'search: in the active discussion' "Show it: retake --db $db show " "$(r search 'A blue mill')"
code 'go: with -d' 0 r -d main go "$first"
fails 3 go nowhere

# --- rename, rm, pin: the same lookup as use; deleted discussions; restore; standard input ---
code 'rename: the beginning' 0 r rename 'ribe h' Harbour
code 'rm: any case' 0 r rm HARBOUR
has 'rm: any case' 'Deleted discussion "Harbour"' "$out"
code 'rename: the same name' 0 r rename 'Ribe Mill' 'Ribe Mill'
has 'use: the active one' 'Nothing to do: this discussion is already active. To switch takes: retake takes switch NAME.' "$(r -q use "why is"; r use "why is")"
has 'rename: the same name' 'the discussion already has this name' "$out"
has 'ls --deleted' Harbour "$(r ls --deleted)"
hasnt 'ls --deleted' Mill "$(r ls --deleted)"
fails 3 restore Harbour
wants 'there is no file Harbour' "retake --db $db revert STEP"
"$python" -c 'import sqlite3, sys; d = sqlite3.connect(sys.argv[1]); d.execute("create table t(a)"); d.commit()' "$work/other.sqlite"
fails 2 import "$work/other.sqlite"
lacks restore
cp "$db" "$work/store.db"
fails 2 import "$work/store.db"
wants restore
printf 'hi' | "$RETAKE" --db "$db" >"$work/out" 2>"$work/err"
is 'text without a command' 2 $?
has 'text without a command' 'retake --db' "$(cat "$work/err")"
printf '## User\n\nhello\n\n## AI\n\nhi\n' >"$work/talk.md"
active=$(r status --json | json 'd["discussion"]')
r -q import --no-switch --format markdown "$work/talk.md"
is 'import --no-switch' "$active" "$(r status --json | json 'd["discussion"]')"
r -q import --format markdown --name talk2 "$work/talk.md"

# --- -d: a title, the beginning of a name or title, in any case ---
db=$work/titles.db
r -q add 'Why is the sky blue?'
r -q new 'Boat trip'
r -q add 'by sail'
code '-d: a title' 0 r -d 'why is the SKY blue?' show --raw
is '-d: a title' 'Why is the sky blue?' "$out"
code '-d: a beginning' 0 r -d boat add 'and by oar'
has '-d: a beginning' 'and by oar' "$(r -d 'Boat trip' show --raw)"
fails 3 -d 'boat trap' show
wants 'no discussion "boat trap"' 'Did you mean "Boat trip"?' "retake --db $db ls"
fails 3 use 'boat trap'
wants 'Did you mean "Boat trip"?'
code 'use says the title' 0 r use main
has 'use says the title' 'Now in discussion "Why is the sky blue?".' "$out"
has 'undo says the title' 'Now in discussion "Boat trip".' "$(r undo)"
r -q new discussion-2
r -q add 'Why is the sky blue?'
has 'the name of a title that is used twice' 'Now in discussion "Why is the sky blue?" (main).' "$(r use main)"
fails 6 -d 'why is' show
wants '"why is" could be "main", "discussion-2"'
code 'rm says the title' 0 r rm main
has 'rm says the title' 'Deleted discussion "Why is the sky blue?" (main) (still in history).' "$out"
r -q rm 'Boat trip'
r -q new 'Boat trips'
fails 3 -d 'Boat trip' add lost
fails 3 -d main show

# --- no matches, usual ranges, all of the help, built-in models ---
db=$work/small.db
r -q add hello
has 'search: nothing was imported' "retake --db $db scan" "$(r search nowhere)"
r -q import --format markdown --name other "$work/talk.md"
hasnt 'search: a conversation was imported' scan "$(r search nowhere)"
code 'an unusual temperature' 0 r set temperature 99
wants 'temperature is usually from 0 to 2'
is 'an unusual temperature is stored' 99 "$(r settings temperature)"
code 'a usual one' 0 r set temperature 1.5
is 'a usual one' '' "$err"
has 'help all' 'retake undo: ' "$("$RETAKE" help all)"
has 'help all' 'retake export: ' "$("$RETAKE" help all)"
is 'help formats: columns' '' "$("$RETAKE" help formats | grep -E '^  [a-z]' | grep -vE '^  .{12} (import, )?(import|export)')"
has 'models builtin' 'builtin/text        repeats the question' "$(r models builtin)"

# --- export: -f is --force; images in Markdown ---
fails 2 export -f markdown
wants "To choose the format: retake --db $db export --format markdown"
r -q new pictures
printf '%s\n' '{"op":"entry.append","content":[{"type":"text","text":"see \"type\":\"image\""}]}' | r -q apply >/dev/null
code 'export: no image' 0 r export --format markdown
is 'export: no image' '' "$err"
printf '%s\n' '{"op":"entry.append","content":[{"type":"image","data":"QUJD","mimeType":"image/png"}]}' | r -q apply >/dev/null
code 'export: an image' 0 r export --format markdown
wants '1 entry with images; Markdown contains only their names'
code 'export: an image, lossless' 0 r export --format markdown --lossless
is 'export: an image, lossless' '' "$err"

# --- takes that differ in the middle: entries are compared by id ---
db=$work/middle.db
for text in one two three four; do r -q add "$text"; done
r -q go :3
r -q add other
r -q delete :2
is 'diff: an entry in both is neither removed nor added' '- User two|1 entry in both:|- User four|+ User other' \
	"$(r diff main | sed -n '4,$p' | sed 's/  [a-z0-9]*  / /' | paste -sd'|')"
r -q add last
r -q go :3
r -q add more
is 'tree: an entry in both is marked' 1 "$(r tree | grep three | grep -c 'also above')"
fails 2 undelete x
wants "retake --db $db revert STEP"

# --- a range, a number of steps, a file and a format as other programs write them ---
db=$work/usual.db
for text in one two three; do r -q add "$text"; done
fails 3 delete 2-3
wants 'A range: :2..:3'
fails 2 undo -2
wants "Number of steps: retake --db $db undo 2"
is 'undo -2: nothing is undone' 3 "$(r show --json | json 'len(d["entries"])')"
fails 2 export talk2.md
wants 'To write a file: -o talk2.md'
is 'export: md' "$(r export --format markdown)" "$(r export --format md)"
is 'export: txt' "$(r export --format text)" "$(r export --format txt)"
fails 2 ask 'look at this' "$work/a.txt"
wants "unexpected argument" "To attach a file: -a $work/a.txt"
fails 2 ask "$work/a.txt" 'look at this'
wants "To attach a file: -a $work/a.txt"
fails 2 ask what is it
wants "Put the text in quotes: 'what is it'"
fails 2 edit :1 what is it
wants "Put the text in quotes: 'what is it'"
r -q go :2
r -q add other
has 'history: the name of the active take' 'switched to take "main_take_1"' "$(r history 5)"
hasnt 'history: no number of a take' 'set active' "$(r history 5)"
r -q mute :1
has 'mute: unchanged' 'Nothing to do: already muted.' "$(r mute :1)"
r -q unmute :1
has 'unmute: unchanged' 'Nothing to do: not muted.' "$(r unmute :1)"
has 'role: unchanged' 'Nothing to do: the entry already has this role.' "$(r role :1 User)"
has 'edit: unchanged' 'Nothing to do: the entry already has this text.' "$(r edit :1 one)"
r -q set temperature 1
has 'takes switch: unchanged' 'Nothing to do: the take is already active.' "$(r takes switch main_take_1)"
has 'takes rename: unchanged' 'Nothing to do: the take already has this name.' "$(r takes rename main_take_1 main_take_1)"
has 'pin --off: unchanged' 'Nothing to do: the discussion is not pinned.' "$(r pin --off)"
r -q pin
has 'pin: unchanged' 'Nothing to do: the discussion is already pinned.' "$(r pin)"
has 'archive --off: unchanged' 'Nothing to do: the discussion is not archived.' "$(r archive --off)"
r -q tag work
has 'tag: unchanged' 'Nothing to do: the discussion already has these tags.' "$(r tag work)"
has 'tag --remove: unchanged' 'Nothing to do: the discussion has none of these tags.' "$(r tag --remove home)"
r -q label :1 start
has 'label: unchanged' 'Nothing to do: the entry already has this label.' "$(r label :1 start)"
has 'truncate: unchanged' 'Nothing to do: the take has no more entries than that.' "$(r truncate 50)"
has 'set: unchanged' 'Nothing to do: the setting already has this value.' "$(r set temperature 1)"

finish
