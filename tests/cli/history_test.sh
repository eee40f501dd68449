#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Messages of changes, undo and redo, and reading past states.
. "$(dirname "$0")/lib.sh"

fresh
id=$(r show :2 --json | json 'd["id"]')
is 'edit' "Edited entry $id (AI, 2 of 4); 2 later entries kept.   step 5 - undo: retake --db $db undo" "$(r edit :2 TWO)"
is 'edit the last' 'Edited entry' "$(r edit :-1 FOUR | cut -c1-12)"
has 'undo' "Undid step 6: edited entry " "$(r undo)"
is 'undone' 'one|TWO|three|four' "$(contents)"
has 'redo' 'Redid step 6: edited entry ' "$(r redo)"
is 'redone' 'one|TWO|three|FOUR' "$(contents)"
said=$(r undo 99)
has 'undo as far as it goes' 'Undid 6 steps, back to the beginning.' "$said"
has 'it says that fewer steps exist' '6 of 99 steps: there are no more steps to undo.' "$said"
is 'nothing is left' '' "$(contents)"
code 'nothing to undo' 1 r undo
has 'redo all' '6 of 99 steps: there are no more steps to redo.' "$(r redo 99)"
is 'in JSON, too' '6 of 7 steps: there are no more steps to undo.' "$(r undo 7 --json | json 'd["note"]')"
r -q redo 6
has 'a count that may be a step' "If you meant only step 8: retake --db $db redo 6, then retake --db $db revert 8" "$(r undo 8)"
has 'none is missing' 'Redid 6 steps' "$(r redo 6)"
is 'all is back' 'one|TWO|three|FOUR' "$(contents)"

# --- drafts ---
fresh
r -q edit :1 ONE
has 'a draft is reverted by its number' 'undo: retake --db '"$db"' revert 6' "$(r set draft 'unsent words')"
hasnt 'the history does not list it' 'draft' "$(r history)"
has 'the step below is the current one' 'ONE  <- now' "$(r history)"
has 'unless requested' 'set draft to "unsent words"  <- now' "$(r history --drafts)"
has 'undo passes over it' 'Undid step 5: edited entry ' "$(r undo)"
is 'and reverts the edit' 'one|two|three|four' "$(contents)"
is 'the draft is kept' 'unsent words' "$(r settings draft)"
has 'status: the step below' 'Step        4' "$(r status)"
has 'redo' 'Redid step 5: edited entry ' "$(r redo)"
is 'it redoes the edit' 'ONE|two|three|four' "$(contents)"
is 'and keeps the draft, too' 'unsent words' "$(r settings draft)"
has 'several' 'Undid 2 steps, back to the state right after step 3' "$(r undo 2)"
is 'several are undone' 'one|two|three' "$(contents)"
is 'with the draft' 'unsent words' "$(r settings draft)"
has 'revert' 'Reverted' "$(r revert 6)"

# --- history show: the part of a long line that differs ---
long=$(seq -s ' ' 1 200)
r -q edit :1 "$long end"
r -q edit :1 "$long END"
shown=$(r history show "$(r history --json | json 'd[0]["seq"]')")
has 'the text before' ' end' "$shown"
has 'the text after' ' END' "$shown"
has 'what is before it is left out' '…97 198 199' "$shown"
hasnt 'not from the beginning' ' 1 2 3' "$shown"
r -q edit :1 "START $long END"
has 'a difference at the beginning' 'START 1 2 3' "$(r history show "$(r history --json | json 'd[0]["seq"]')")"
r -q prompt set "$long end"
r -q prompt set "$long END"
has 'a setting' 'END"' "$(r history show "$(r history --json | json 'd[0]["seq"]')")"
fresh
r -q edit :2 TWO
r -q edit :-1 FOUR
r -q undo 6
r -q redo 6

# --- a draft does not discard redo ---
r -q undo 2
r -q set draft 'half a thought'
is 'a draft after undo' 'half a thought' "$(r settings draft)"
r -q redo
is 'undone steps are restored' 'one|TWO|three|four' "$(contents)"
r -q redo
is 'to the end' 'one|TWO|three|FOUR' "$(contents)"
is 'with the draft' 'half a thought' "$(r settings draft)"
is 'it is in the history' 1 "$(r history --json | json 'sum(not s["undone"] and s.get("setting") == "draft" for s in d)')"
echo '{"op":"undo"}' | r -q apply > /dev/null
is 'for programs it is a step like any other' null "$(r settings --json | json 'd["settings"].get("draft")')"
has 'the store is whole' 'Clean' "$(r fsck)"
fresh
r -q edit :2 TWO
r -q edit :-1 FOUR

# --- the past ---
before=$(r export --format canonical)
is '--at-step' 'one|two|three|four' "$(contents --at-step 4)"
is '--at-op of the beginning' '' "$(contents --at-op 0)"
is '--at-op of an early step' 'one|two' "$(contents --at-op 2)"
has '--at-op for people' 'right after step 2' "$(r show --at-op 2)"
is '--at-op of one entry' two "$(r show :2 --json --at-op 5 | json 'd["content"]' | sed s/TWO/two/)"
is 'tree --at-op' 3 "$(r tree --json --at-op 3 | json 'len(d)')"
is 'export --at-op' 1 "$(r export --format canonical --at-op 1 | json 'len(d["discussions"][0]["takes"][0]["entries"])')"
is 'reading changed nothing' "$before" "$(r export --format canonical)"

r -q jump 2
is 'jump' 'one|two' "$(contents)"
is 'skipped steps are still listed' 6 "$(r history --json | json 'len(d)')"
r -q add aside
is 'another future' 'one|two|aside' "$(contents)"
r -q jump 6
is 'the first future is still there' 'one|TWO|three|FOUR' "$(contents)"

fresh
r -q edit :1 ONE
r -q edit :2 TWO
r -q revert 5
is 'revert' 'one|TWO|three|four' "$(contents)"
r -q edit :2 again
code 'revert of a later change' 1 r revert 6
code 'history show' 0 r history show 6
has 'before' '- AI' "$out"
has 'after' 'TWO' "$out"

# --- a jump restores the state that --at-op shows: discussions and settings together ---
fresh
r -q add five
r -q add six
r -q set model openai/foo
r -q add seven
same_as() { # same_as N: the current state is the one of --at-op N
	is "state right after step $1" "$(r show --json --at-op "$1"; r settings --json --at-op "$1"; r tree --json --at-op "$1")" \
		"$(r show --json; r settings --json; r tree --json)"
}
now_row='" ".join(str(x["seq"]) for x in d if x["current"]) + ": " + " ".join(str(x["seq"]) for x in d if x["undone"])'
r -q jump 3
same_as 3
is 'history after a jump back' '3: 8 7 6 5 4' "$(r history --json | json "$now_row")"
has 'a jump to a step of the settings' 'right after step 7' "$(r jump 7)"
same_as 7
is 'it has the entries of that time' 'one|two|three|four|five|six' "$(contents)"
is 'history after it' '7: 8' "$(r history --json | json "$now_row")"
r -q -d main jump 8
same_as 8
r -q new other
r -q add elsewhere
r -q jump 8
is 'discussions started later are gone' '["main"]' "$(r ls --json | json '[x["name"] for x in d]')"
has 'back leads to another discussion, too' 'Now in discussion "other".' "$(r jump 13)"
is 'and to what it held' elsewhere "$(contents)"
r -q jump 3 --scope discussion
is 'a scope leaves the rest' openai/foo "$(r settings model)"
has 'a scope is said: the discussion' 'Restored the discussion to the state right after step 1.' \
	"$(r -d main jump 1 --scope discussion)"
has 'the project' 'Restored the settings and the list of discussions right after step 7.' \
	"$(r jump 3 -q --scope project; r jump 7 --scope project)"
has 'to 0, of the project' 'Restored the settings and the list of discussions before the first step.' \
	"$(r jump 0 --scope project)"
has 'to 0: the discussion alone' 'Restored the discussion to the state before its first step.' "$(r jump 0)"
code 'a row that is yet to come' 3 r jump 99
code 'an unknown scope' 2 r jump 3 --scope all

# --- a jump leaves other discussions unchanged ---
fresh
r -q new other
r -q add elsewhere
r -q use main
r -q add five
r -q -d other add more
r -q set model openai/foo
r -q jump 7
same_as 7
is 'the discussion in view goes back' 'one|two|three|four' "$(contents)"
is 'another one does not' 'elsewhere|more' "$(contents -d other)"
before=$(r export --format canonical)
said=$(r -d other jump 6)
same_as 6
eval "$RETAKE $(printf '%s' "$said" | sed -n 's/.*to return: retake //p')" >/dev/null
is 'the way back that is offered restores what the jump changed' "$before" "$(r export --format canonical)"
r -q -d other jump 6 --scope discussion
has 'a jump to a step of another discussion takes it along' 'Discussion "other" also changed.' "$(r jump 9)"
is 'to that step' 'elsewhere|more' "$(contents -d other)"

# --- the suggested undo reverts that change, in whichever discussion ---
fresh
r -q new 'Z z'
r -q add elsewhere
offered() { # offered ARGS…: the undo command in the output reverts exactly this change
	before=$(r export --format canonical)
	said=$(r "$@")
	undo=$(printf '%s' "$said" | sed -n 's/.*undo: retake //p' | head -n 1)
	hasnt "$* changes something" "$before" "$(r export --format canonical)"
	eval "$RETAKE $undo" >/dev/null
	is "the undo that $* offers" "$before" "$(r export --format canonical)"
}
has 'revert in another discussion says where' 'This changed discussion "main".' "$(r revert 1)"
r -q -d main undo
offered revert 1
r -q use main
offered revert 6
offered -d 'Z z' edit :1 changed
offered -d 'Z z' branch :1
offered -d 'Z z' prompt set p
offered -d 'Z z' set temperature 1
offered -d 'Z z' set model openai/m
offered -d 'Z z' rename Y
offered -d 'Z z' rm 'Z z'
offered -d 'Z z' extract :1
r -q use 'Z z'
offered -d main go :1
offered -d main rm main

# --- with -d, undo leaves the project's steps ---
fresh
r -q new side
r -q add beside
r -q new third
r -q -d side undo
code 'no project step with -d' 1 r -d side undo
has 'it says how' 'retake --db' "$err"
has 'the scope that reaches them' 'undo --scope project' "$err"
is 'the other discussion is kept' 'main side third' "$(r ls --json | json '" ".join(sorted(x["name"] for x in d))')"
code 'with the scope' 0 r -d side undo --scope project
is 'the newest project step' 'main side' "$(r ls --json | json '" ".join(sorted(x["name"] for x in d))')"
code 'redo with -d' 0 r -d side redo --scope project

# --- status and history name the same step ---
fresh
r -q undo 2
marked=$(r history | awk '/<- now/ { print $1 }')
is 'the step of status' "$marked" "$(r status | awk '/^Step/ { print $2 }')"
is 'in JSON' "$marked" "$(r status --json | json 'd["current"]')"

# --- revisions ---
fresh
r -q edit :1 uno
r -q edit :1 eins
is 'revisions' 'one|uno|eins' "$(r revisions :1 --json | json '"|".join(x["content"] for x in d)')"
code 'revisions for people' 0 r revisions :1
has 'revisions for people' 'Version 3' "$out"
code 'restore a revision' 0 r revisions :1 --restore 1
is 'restored' one "$(r show :1 --raw)"
r -q undo
is 'undo of that' eins "$(r show :1 --raw)"

# --- each kind of change says what it did and can be undone ---
fresh
base=$(r export --format canonical)
changes() { # changes WORDS ARGS…
	words=$1
	shift
	said=$(r "$@" 2>&1)
	has "$*" "$words" "$said"
	has "$* says how to undo" 'undo' "$said"
	r -q undo
	is "$* can be undone" "$base" "$(r export --format canonical)"
}
changes 'Added entry' add five
changes 'Inserted entry' insert --before :1 zero
changes 'Edited entry' edit :1 x
changes 'new take' edit :3 x --as-take
changes 'new take' edit :1 x --as-take
changes 'Replaced "o" with "0" 3 times' edit --replace o 0
changes 'Changed the role' role :1 System
changes 'Deleted entry' delete :1
changes 'Deleted 2 entries' delete :2..:3
changes 'Deleted 2 entries after' delete --after :2
changes 'Moved entry' move :4 --before :1
changes 'Muted entry' mute :1
changes 'Muted 3 entries' mute :1..:3
changes 'Split' split :3 2
changes 'Split' split :3 --before-text ree
changes 'Merged' merge :1
changes 'Now in the new take "main_take_1"' branch :2
changes 'Now in the new take "named"' branch :2 named
changes 'The head is at entry' go :2
changes 'before the first entry' go --start
changes 'Labelled entry' label :1 l
changes 'Cleared the take' clear
changes 'Kept the last 2 entries' truncate 1
changes 'now called' takes rename t
changes 'new discussion' new d
changes 'now called' rename d
changes 'Changed the working prompt' prompt set text
changes 'Set temperature to 0.5' set temperature 0.5
changes 'Added the role' roles add Critic
changes 'Removed the role' roles rm AI
changes 'Added 2 items to files; there is no a.c' files add files a.c b.c
changes 'track' track t
changes 'Saved the preset' preset save p
changes 'Reset the project' reset
changes 'new discussion' extract :2

# --- graft, promote, takes ---
fresh
r -q branch :2 side
r -q add -r AI 'from the side'
r -q takes switch main
code 'graft' 0 r graft "$(r --take side show :3 --json | json 'd["id"]')" --from side --after :1
is 'grafted' 'one|from the side|two|three|four' "$(contents)"
code 'promote' 0 r promote side own
is 'promoted' '["main", "own"]' "$(r ls --json | json '[x["name"] for x in d]')"
code 'rm' 0 r rm own
is 'removed' '["main"]' "$(r ls --json | json '[x["name"] for x in d]')"
r -q undo
is 'back' '["main", "own"]' "$(r ls --json | json '[x["name"] for x in d]')"
code 'settings' 0 r set model ollama/qwen3:8b
is 'a setting' 'ollama/qwen3:8b' "$(r settings model)"
r -q set numbers 1.10
is 'digits stay' '1.10' "$(r settings numbers)"
r -q set --string word 17
is 'a text' '"17"' "$(r settings word --json)"

# --- purge ---
fresh
r -q edit :1 'the key is sk-secret-123'
r -q edit :1 'no key'
code 'purge' 0 r purge --text sk-secret-123 --yes
has 'purge says that it stays' 'cannot be undone' "$out"
is 'not in the past' 0 "$(r show --at-op 5 | grep -c sk-secret-123)"
is 'not in the file' 0 "$(cat "$db" "$db"-wal 2>/dev/null | grep -c sk-secret-123)"
is 'the rest is there' 'no key|two|three|four' "$(contents)"

finish
