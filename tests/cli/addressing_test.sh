#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Addresses of entries, ranges, takes and discussions (C5, C6, C29).
. "$(dirname "$0")/lib.sh"

rm -f "$db"
apply '{"op":"entry.append","id":"alpha","content":"a"}' \
	'{"op":"entry.append","id":"alphabet","content":"b"}' \
	'{"op":"entry.append","id":"beta","content":"c"}' \
	'{"op":"entry.append","id":"with..dots","content":"d"}' \
	'{"op":"entry.append","id":"last","content":"e"}' \
	'{"op":"label.set","entry":"beta","label":"alp"}' >/dev/null

text() {
	r show "$1" --json 2>/dev/null | json 'd["content"]' 2>/dev/null
}
is 'id' a "$(text alpha)"
is 'an id that begins another' a "$(text alpha)"
is 'prefix' b "$(text alphab)"
is 'label before prefix' c "$(text alp)"
is 'short prefix' c "$(text b)"
is 'position' b "$(text :2)"
is 'last' e "$(text :-1)"
is 'one before the last' d "$(text :-2)"
is 'head' e "$(text @)"
is 'before the head' d "$(text @-)"
is 'further before the head' b "$(text @-3)"
is 'dots in an id' d "$(text with..dots)"
code 'ambiguous prefix' 6 r show alph
code 'no such prefix' 3 r show gamma

run() {
	r show "$1" --json | json '"".join(e["content"] for e in d["entries"])'
}
is 'a run' bcd "$(run :2..:4)"
is 'a run of ids' bcd "$(run alphabet..with..dots)"
is 'to the end' de "$(run :4..)"
is 'from the beginning' ab "$(run ..:2)"
is 'around the head' de "$(run @-..@)"
code 'backwards' 2 r show :4..:2

# the head moves, and "@" with it
r -q go beta
is 'moved head' c "$(text @)"
is 'before the moved head' b "$(text @-)"
r -q go --start
code 'no head' 3 r show @
code 'nothing before no head' 3 r show @-
r -q go :-1

# another take
r -q branch :2 second
r -q add -r User 'x'
code 'an entry of another take: edit' 3 r edit beta y
has 'the take that contains it is named' 'main' "$err"
code 'an entry of another take: show' 0 r show beta
code 'an entry of another take: label' 0 r label beta here
code 'an entry of another take: go' 0 r go beta
is 'going there makes its take active' main "$(r show --json | json 'd["take"]')"
is '--take looks elsewhere' 'a|b|x' "$(contents --take second)"
is 'and changes nothing' main "$(r show --json | json 'd["take"]')"
code '--take changes elsewhere' 0 r --take second edit :3 z
is '--take changed elsewhere' 'a|b|z' "$(contents --take second)"
is 'not here' 'a|b|c|d|e' "$(contents)"
id=$(r takes --json | json 'd[1]["id"]')
is 'a take by id' 'a|b|z' "$(contents --take "$id")"

# another discussion
r -q go :-1
r -q new other
r -q add 'over there'
is '-d looks elsewhere' 'a|b|c|d|e' "$(contents -d main)"
code '-d changes elsewhere' 0 r -d main add f
has 'the hint says where' '-d main undo' "$out"
is '-d changed elsewhere' 'a|b|c|d|e|f' "$(contents -d main)"
is 'the active one stays' other "$(r status --json | json 'd["discussion"]')"
id=$(r ls --json | json 'd[0]["id"]')
is 'a discussion by id' 'a|b|c|d|e|f' "$(contents -d "$id")"
code 'flags before the verb' 0 "$RETAKE" --db "$db" -d main --json show
code 'flags after the verb' 0 "$RETAKE" show -dmain --db="$db" --json
is 'the same' 'a|b|c|d|e|f' "$(printf '%s' "$out" | json '"|".join(e["content"] for e in d["entries"])')"

# a few digits may begin an id, but look like a position
rm -f "$db" "$db"-*
apply '{"op":"entry.append","id":"a1","content":"a"}' '{"op":"entry.append","id":"2xyz","content":"b"}' \
	'{"op":"entry.append","id":"1abc","content":"c"}' '{"op":"entry.append","id":"9abc","content":"d"}' >/dev/null
code 'digits: an id, or the first entry?' 6 r delete 1
has 'digits: both are named' 'The position: :1   The entry: 1abc' "$err"
is 'digits: nothing is deleted' 'a|b|c|d' "$(contents)"
is 'digits: show' 6 "$(r show 1 >/dev/null 2>&1; echo $?)"
is 'digits: no such position' d "$(text 9)"
is 'digits and letters' c "$(text 1a)"
r -q add --id 3 x
is 'digits: a whole id' x "$(text 3)"

# The ids of one discussion and take are the names of others (C29).
rm -f "$db" "$db"-*
r -q add a
r -q new d1
r -q use main
r -q ask -m builtin/echo x
is 'named like an id: asked here' 'a|x|You said: "x"' "$(contents | head -n 1)"
is 'named like an id: one reply' '3 0' "$(r show --json | json 'len(d["entries"])') $(r -d d1 show --json | json 'len(d["entries"])')"
r -q branch :1 t1
r -q takes switch main
r -q again -m builtin/echo
is 'named like an id: another reply' 'a|x|You said: "x"' "$(contents | head -n 1)"
is 'named like an id: the other take is as before' a "$(contents --take t1)"
r -q takes switch main
r -q compact -m builtin/echo :1..:2
is 'named like an id: compacted here' 1 "$(r show --json | json 'sum(e.get("kind") == "compaction" for e in d["entries"])')"
is 'named like an id: the other take is still as before' a "$(contents --take t1)"

# --- long ids ---
db=$work/long.db
apply '{"op":"entry.append","id":"6ba7b810-9dad-11d1-80b4-00c04fd430c8","content":"one"}' \
	'{"op":"entry.append","id":"6ba7b810-9dae-11d1-80b4-00c04fd430c8","content":"two"}' \
	'{"op":"entry.append","id":"msg_01XFDUDYJgAACzvnptvVoYEL","content":"three"}' \
	'{"op":"entry.append","id":"msg_01XFDUDY","content":"four"}' \
	'{"op":"label.set","entry":"msg_01XFDUDYJgAACzvnptvVoYEL","label":"here"}' >/dev/null
is 'lists: the beginnings of ids' '6ba7b810-9dad 6ba7b810-9dae msg_01XFDUDYJ msg_01XFDUDY' \
	"$(r tree | sed 's/^[^6m]*\([^ ]*\).*/\1/' | tr '\n' ' ' | sed 's/ $//')"
is 'they are addresses' one "$(text 6ba7b810-9dad)"
is 'they are addresses' three "$(text msg_01XFDUDYJ)"
has 'search' '  6ba7b810-9dae  ' "$(r search two)"
has 'labels' 'here  msg_01XFDUDYJ  three' "$(r label)"
has 'show has the whole id' '  6ba7b810-9dad-11d1-80b4-00c04fd430c8  ' "$(r show)"
is 'JSON has the whole id' '6ba7b810-9dad-11d1-80b4-00c04fd430c8' "$(r tree --json | json 'd[0]["id"]')"
apply '{"op":"entry.append","id":"f47ac10b-58cc-4372-a567-0e02b2c3d479","content":"five"}' >/dev/null
has 'at least eight characters' '  f47ac10b  ' "$(r tree)"
r new other -q
code 'a beginning in another discussion' 3 r show f47ac10b
has 'a beginning in another discussion' 'It is in discussion "main"' "$err"

finish
