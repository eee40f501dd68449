#!/bin/sh
# SPDX-License-Identifier: MIT
#
# What commands say of a change, undo and redo, and looking at the past.
. "$(dirname "$0")/lib.sh"

fresh
id=$(r show :2 --json | json 'd["id"]')
is 'edit' "Edited entry $id (AI, 2 of 4); 2 later entries kept.   step 5 - undo: retake --db $db undo" "$(r edit :2 TWO)"
is 'edit the last' 'Edited entry' "$(r edit :-1 FOUR | cut -c1-12)"
has 'undo' "Undid step 6: edited entry " "$(r undo)"
is 'undone' 'one|TWO|three|four' "$(contents)"
has 'redo' 'Redid step 6: edited entry ' "$(r redo)"
is 'redone' 'one|TWO|three|FOUR' "$(contents)"
has 'undo as far as it goes' 'Undid 6 steps, back to the beginning.' "$(r undo 99)"
is 'nothing is left' '' "$(contents)"
code 'nothing to undo' 1 r undo
has 'redo all' 'Redid 6 steps' "$(r redo 99)"
is 'all is back' 'one|TWO|three|FOUR' "$(contents)"

# --- a draft does not end redo, and is undone like any other step ---
r -q undo 2
r -q set draft 'half a thought'
is 'a draft after undo' 'half a thought' "$(r settings --json | json 'd["settings"]["draft"]')"
r -q undo
is 'is undone' null "$(r settings --json | json 'd["settings"].get("draft")')"
r -q redo
is 'and redone' 'half a thought' "$(r settings --json | json 'd["settings"]["draft"]')"
r -q redo
is 'what was undone before it comes back' 'one|TWO|three|four' "$(contents)"
is 'with the draft that there was' null "$(r settings --json | json 'd["settings"].get("draft")')"
r -q redo
is 'to the end' 'one|TWO|three|FOUR' "$(contents)"
is 'the draft is in the history' 1 "$(r history --json | json 'sum(s["undone"] and s.get("setting") == "draft" for s in d)')"
has 'the store is whole' 'Clean' "$(r fsck)"
fresh
r -q edit :2 TWO
r -q edit :-1 FOUR

# --- the past ---
before=$(r export --format canonical)
is '--at-op' 'one|two|three|four' "$(contents --at-op 4)"
is '--at-op of the beginning' '' "$(contents --at-op 0)"
is '--at-op of an early step' 'one|two' "$(contents --at-op 2)"
has '--at-op for people' 'right after step 2' "$(r show --at-op 2)"
is '--at-op of one entry' two "$(r show :2 --json --at-op 5 | json 'd["content"]' | sed s/TWO/two/)"
is 'tree --at-op' 3 "$(r tree --json --at-op 3 | json 'len(d)')"
is 'export --at-op' 1 "$(r export --format canonical --at-op 1 | json 'len(d["discussions"][0]["takes"][0]["entries"])')"
is 'looking changed nothing' "$before" "$(r export --format canonical)"

r -q jump 2
is 'jump' 'one|two' "$(contents)"
is 'what was jumped over is still listed' 6 "$(r history --json | json 'len(d)')"
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
code 'revert of what was changed again' 1 r revert 6
code 'history show' 0 r history show 6
has 'before' '- AI' "$out"
has 'after' 'TWO' "$out"

# --- revisions ---
fresh
r -q edit :1 uno
r -q edit :1 eins
is 'revisions' 'one|uno|eins' "$(r revisions :1 --json | json '"|".join(x["content"] for x in d)')"
code 'revisions for people' 0 r revisions :1
has 'revisions for people' 'Revision 3' "$out"
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
changes 'Replaced "o" by "0"' edit --replace o 0
changes 'Changed the role' role :1 System
changes 'Removed entry' delete :1
changes 'Removed 2 entries' delete :2..:3
changes 'Removed 2 entries after' delete --after :2
changes 'Moved entry' move :4 --before :1
changes 'Muted entry' mute :1
changes 'Muted 3 entries' mute :1..:3
changes 'Split' split :3 2
changes 'Split' split :3 --before-text ree
changes 'Joined' merge :1
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
changes 'Changed the list files' files add files a.c b.c
changes 'track' track t
changes 'Saved the preset' preset save p
changes 'Everything is fresh' reset
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
code 'settings' 0 r set model qwen3:8b
is 'a setting' 'qwen3:8b' "$(r settings model)"
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
