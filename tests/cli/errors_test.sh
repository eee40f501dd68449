#!/bin/sh
# SPDX-License-Identifier: MIT
#
# About sixty invalid commands. Each message begins with "retake: ", names the problem, and is
# followed by a line with a command that helps.
. "$(dirname "$0")/lib.sh"

# wrong PART ARGS…: fails, names PART, and suggests what to type next.
wrong() {
	part=$1
	shift
	r "$@" >"$work/out" 2>"$work/err" </dev/null
	status=$?
	err=$(cat "$work/err")
	if [ "$status" = 0 ]; then
		fail "wrong but accepted: $*" "$(cat "$work/out")"
		return
	fi
	case $err in
	"retake: "*"$part"*) ;;
	*)
		fail "\"$part\" is not named: $*" "$err"
		return
		;;
	esac
	# The lines after the first contain the next step: a command, a flag, or an instruction.
	rest=$(sed 1d "$work/err")
	case $rest in
	*retake* | *--* | *"Create "* | *"Put "* | *"Give "* | *"Choose "* | *"Make "* | *"Nothing was changed"* | *"Until then"*) pass ;;
	*) fail "no next step: $*" "$err" ;;
	esac
}

fresh
r label :1 start >/dev/null
r label :2 twice >/dev/null
r label :3 twice >/dev/null
r branch :2 other >/dev/null
r takes switch main >/dev/null

wrong frobnicate frobnicate
wrong shwo shwo
wrong "no model is set" "why is the sky blue"
wrong --nonsense show --nonsense
wrong --jsn show --jsn
wrong -Z show -Z
wrong -1 go -1
wrong "--db" show --db
wrong "takes no value" show --json=yes
wrong zzzz show zzzz
wrong zzzz edit zzzz text
wrong :99 edit :99 text
wrong :0 show :0
wrong :-99 show :-99
wrong '"x"' show x..y
wrong :3..:1 show :3..:1
wrong @-9 show @-9
wrong twice go twice
wrong other go other
wrong 4 edit 4 text
wrong edit edit
wrong word edit :1 two words
wrong text edit :1
wrong nowhere.txt edit :1 -f nowhere.txt
wrong "both" edit :1 text -f nowhere.txt
wrong --replace edit --replace only-one
wrong zebra edit --replace zebra lion
wrong nothing edit --replace '' x
wrong --all edit --all :3
wrong --name edit :1 x --name y
wrong combined edit :1 x --as-take --everywhere
wrong --before insert text
wrong --before insert --before :1 --after :2 text
wrong zzzz insert --before zzzz text
wrong role role :1
wrong zzzz role zzzz System
wrong ENTRY delete
wrong zzzz delete zzzz
wrong "no entry after" delete --after :4
wrong --before move :1
wrong zzzz move :1 --before zzzz
wrong number split :1
wrong half split :1 half
wrong characters split :1 999
wrong elephant split :1 --before-text elephant
wrong merge merge :4
wrong --collapse view :1
wrong view view --collapse
wrong zzzz branch zzzz
wrong other branch :1 other
wrong go go
wrong label label :1
wrong pairs truncate some
wrong --from graft :1 --before :2
wrong nowhere graft :1 --from nowhere --before :2
wrong main promote main
wrong nowhere takes switch nowhere
wrong nowhere takes rm nowhere
wrong sideways takes sideways
wrong nowhere diff nowhere
wrong nowhere use nowhere
wrong main new main
wrong nowhere rename nowhere x
wrong nowhere rm nowhere --yes
wrong main rm main
wrong main rm main --yes
wrong several undo several
wrong redo redo
wrong soon jump soon
wrong 999 jump 999
wrong 999 revert 999
wrong sideways history sideways
wrong 999 history show 999
wrong 999 show --at-op 999
wrong --at-step edit :1 x --at-op 1
wrong "earlier state" roles add x --at-op 1
wrong --text purge
wrong --yes purge :1
wrong 9 revisions :1 --restore 9
wrong prompt prompt set
wrong sideways prompt sideways
wrong set set temperature
wrong colour settings colour
wrong sideways roles sideways
wrong Nobody roles rm Nobody
wrong sideways files sideways
wrong list files set everything
wrong nowhere preset load nowhere
wrong nowhere.json import nowhere.json
wrong nonsense import --format nonsense "$root/Makefile"
wrong Makefile import "$root/Makefile"
wrong --format export
wrong "cannot tell the format of talk.pdf" export -o talk.pdf
wrong nonsense export --format nonsense
wrong nowhere.jsonl apply nowhere.jsonl
wrong "already exists" backup "$db"
wrong "the directory for $work/nowhere/talk.md" export -o "$work/nowhere/talk.md"
is 'a directory is not an entry' '' "$(grep Entries "$work/err")"
wrong nowhere.db restore nowhere.db --yes
wrong tcsh completion tcsh
wrong sideways help sideways
wrong nowhere -d nowhere show
wrong nowhere --take nowhere show
wrong nowhere -p nowhere show
wrong soon show --at-op soon
wrong 'temperature must be a number' set temperature banana
wrong '--string' set model 5
wrong 'cannot be reached' --db postgres://u:p@127.0.0.1:1/d show

# invalid commands change nothing
is 'nothing was changed' 'one|two|three|four' "$(contents)"
is 'no step was made' 'take.switch' "$(r history --json | json 'd[0]["op"]')"

# did you mean
r shwo 2>"$work/err"
has 'did you mean' "retake --db $db show" "$(cat "$work/err")"
r show --jsn 2>"$work/err"
has 'did you mean a flag' '--json' "$(cat "$work/err")"

r set temperatur 0.7 >"$work/out" 2>"$work/err"
has 'did you mean a setting' 'mean temperature' "$(cat "$work/out" "$work/err")"

# control characters in a name are not printed
r edit "$(printf 'x\033]0;title\007')" y 2>"$work/err"
hasnt 'no escape in messages' "$(printf '\033')" "$(cat "$work/err")"

finish
