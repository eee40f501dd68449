#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Tracks: discussions that are bound to the same name are listed and filtered together, and toggled
# between.
. "$(dirname "$0")/lib.sh"

names() { # flags of ls
	r ls --json "$@" | json '" ".join(x["name"] for x in d)'
}
here() {
	r status --json | json 'd["discussion"]'
}

r -q add hi
code 'no track' 0 r tracks
has 'no track' 'No discussion is bound to a track' "$out"
is 'no track, JSON' '[]' "$(r tracks --json)"
code 'nowhere to go' 3 r track --toggle
has 'nowhere to go' 'no discussion is bound to a track' "$err"
r -q new parser
r -q track night
r -q add one
r -q add two
r -q new lexer
r -q track night
r -q add three
r -q new docs
r -q track 'day shift'
r -q new notes
r -q add note
is 'tracks: counts' 'day shift 1 0, night 2 3' \
	"$(r tracks --json | json '", ".join("%s %d %d" % (t["name"], t["discussions"], t["entries"]) for t in d)')"
has 'tracks: for people' 'night       2 discussions, 3 entries' "$(r tracks)"
is 'ls --track' 'parser lexer' "$(names --track night)"
is 'ls --track with a query' lexer "$(names --track night lex)"
is 'ls of no track' 'main notes' "$(names --track '')"
has 'ls with two filters' 'No discussion is bound to the track "x" and has the tag "y".' "$(r ls --track x --tag y)"
has 'ls with a filter and a query' 'No archived discussion has the tag "y" and matches "zz".' "$(r ls --archived --tag y zz)"
is 'ls of archived ones' 'No discussion is archived.' "$(r ls --archived)"
has 'ls of an unknown track' 'No discussion is bound to the track "x".' "$(r ls --track x)"
has 'ls of an unknown track, with a name' 'bound to the track "x" and matches "y".' "$(r ls --track x y)"
is 'ls --json has the track' night "$(r ls --json | json '[x["track"] for x in d if x["name"] == "parser"][0]')"
has 'ls shows it' 'track night' "$(r ls)"

# --- between the discussion of a track and that of the project ---
r -q track --toggle night
is 'to the one of the track that was changed last' lexer "$(here)"
is 'the star' true "$(r tracks --json | json '[t["active"] for t in d if t["name"] == "night"][0]' | tr TF tf)"
r -q track --toggle
is 'and back to the project' notes "$(here)"
r -q undo
is 'undo: where one was' lexer "$(here)"
r -q redo
r -q track --toggle 'day shift'
is 'to another track' docs "$(here)"
r -q track --toggle night
is 'from a track to another' lexer "$(here)"
r -q track --toggle night
is 'from it, back' notes "$(here)"
code 'an unknown track' 3 r track --toggle x
has 'an unknown track' 'no discussion is bound to the track "x"' "$err"
is 'nothing happened' notes "$(here)"
code 'both' 2 r track --toggle --clear

# --- back to the previous discussion, whichever was changed last ---
r -q use main
r -q track --toggle night
r -q track --toggle
is 'back to the discussion that was left' main "$(here)"
r -q track --toggle 'day shift'
r -q track --toggle night
r -q track --toggle
is 'over two tracks' main "$(here)"
r -q use notes

# --- the same as an operation, for every client ---
toggle() {
	printf '%s\n' "$1" | r apply - --json >/dev/null 2>&1
}
code 'track.toggle: to a track' 0 toggle '{"op":"track.toggle","track":"day shift"}'
is 'track.toggle: to a track' docs "$(here)"
code 'track.toggle: back' 0 toggle '{"op":"track.toggle"}'
is 'track.toggle: back' notes "$(here)"
has 'track.toggle: unknown' 'no discussion is bound to the track' \
	"$(printf '%s\n' '{"op":"track.toggle","track":"x"}' | r apply - --json 2>&1)"

# --- unbound again ---
r -q use docs
r -q track ''
is 'an unbound track is gone' night "$(r tracks --json | json '" ".join(t["name"] for t in d)')"
r -q rm lexer
is 'a deleted discussion does not count' 1 "$(r tracks --json | json 'd[0]["discussions"]')"

# --- every discussion is bound to a track ---
db=$work/bound.db
r -q add hi
r -q track one
code 'one discussion, bound' 3 r track --toggle
has 'one discussion, bound' 'there is no discussion to return to' "$err"
r -q new b
r -q track two
r -q track --toggle one
is 'from one to the other' main "$(here)"
r -q track --toggle
is 'and back' b "$(here)"
r -q use main
r -q track --clear
r -q track --toggle
is 'to the only one of a track' b "$(here)"
r -q track one
r -q -d main track one
r -q track --toggle
is 'from the only one of a track, back' main "$(here)"

# --- with a TOML file ---
r export --format toml >"$work/a.toml"
db=$work/copy.db
r -q import "$work/a.toml"
is 'TOML: the tracks' 'one 2' "$(r tracks --json | json '" ".join("%s %d" % (t["name"], t["discussions"]) for t in d)')"
r export --format toml >"$work/b.toml"
is 'TOML: there and back' '' "$(diff "$work/a.toml" "$work/b.toml")"

finish
