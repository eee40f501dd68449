#!/bin/sh
# SPDX-License-Identifier: MIT
#
# State of a take: the git commit of its last update and the time of its last change.
. "$(dirname "$0")/lib.sh"

unset GIT_DIR GIT_WORK_TREE
commit_of() { # discussion take
	r takes -d "$1" --json | json "[t.get('git_commit', '') for t in d if t['name'] == '$2'][0]"
}
updated_of() { # take
	r takes --json | json "[t['last_updated'] for t in d if t['name'] == '$1'][0]"
}

# --- git by hand: a directory with the files that git writes ---
one=1111111111111111111111111111111111111111
two=2222222222222222222222222222222222222222
three=3333333333333333333333333333333333333333
tree=$work/tree
mkdir -p "$tree/.git/refs/heads" "$tree/src"
cd "$tree/src" || exit 1
echo 'ref: refs/heads/main' >"$tree/.git/HEAD"
echo "$one" >"$tree/.git/refs/heads/main"
r -q add hi
is 'add: the commit' $one "$(commit_of main main)"
echo "$two" >"$tree/.git/refs/heads/main"
r -q edit :1 changed
is 'edit: the commit of the last update' $two "$(commit_of main main)"
is 'it is part of the step' 2 "$(r status --json | json 'd["step"]')"
r -q undo
is 'undo restores the older commit' $one "$(commit_of main main)"
r -q redo
is 'and redo the newer one' $two "$(commit_of main main)"
code 'unchanged text' 0 r edit :1 changed
echo "$three" >"$tree/.git/refs/heads/main"
code 'unchanged text' 0 r edit :1 changed
is 'what changes nothing records nothing' $two "$(commit_of main main)"
r -q branch :1 side
is 'a branch copies the commit of its source' $two "$(commit_of main side)"
r -q add -r AI there
is 'and records its own updates' $three "$(commit_of main side)"
is 'the source keeps its commit' $two "$(commit_of main main)"
r -q ask -m builtin/echo question
r -q takes switch main
is 'a switch is not an update' $two "$(commit_of main main)"
echo "$one" >"$tree/.git/refs/heads/main"
r -q ask -m builtin/echo question
is 'sending: the commit' $one "$(commit_of main main)"
r -q go :1
r -q add 'another way'
is 'a take that begins in the middle: the commit' $one "$(commit_of main main_take_1)"

# --- forms of a .git directory ---
form() { # what, expected
	r -q add "$1"
	is "git: $1" "$2" "$(r takes --json | json '[t.get("git_commit", "") for t in d if t["active"]][0]')"
}
echo $two >"$tree/.git/HEAD"
form 'detached head' $two
echo 'ref: refs/heads/packed' >"$tree/.git/HEAD"
printf '# pack-refs with: peeled\n%s refs/heads/other\n%s refs/heads/packed\n^%s\n' $one $three $two \
	>"$tree/.git/packed-refs"
form 'packed refs' $three
# more than 4 MiB of refs; the wanted one is the last
{
	seq -f "$one refs/tags/%.0f" 100000
	echo "$two refs/heads/packed"
} >"$tree/.git/packed-refs"
form 'many packed refs' $two
mkdir -p "$tree/.git/worktrees/w" "$work/linked" "$tree/.git/modules/sub" "$tree/sub/deep"
echo "gitdir: $tree/.git/worktrees/w" >"$work/linked/.git"
echo ../.. >"$tree/.git/worktrees/w/commondir"
echo 'ref: refs/heads/main' >"$tree/.git/worktrees/w/HEAD"
cd "$work/linked" || exit 1
form 'linked work tree' $one
echo 'gitdir: ../.git/modules/sub' >"$tree/sub/.git"
echo $two >"$tree/.git/modules/sub/HEAD"
cd "$tree/sub/deep" || exit 1
form 'submodule' $two
# no commit: the last one is kept, and nothing fails
cd "$tree" || exit 1
echo 'ref: refs/heads/.invalid' >"$tree/.git/HEAD"
rm "$tree/.git/packed-refs"
form 'reftable: none is found' $two
echo 'ref: refs/../../../etc/passwd' >"$tree/.git/HEAD"
form 'a name that leaves the folder' $two
: >"$tree/.git/HEAD"
form 'an empty HEAD' $two
rm "$tree/.git/HEAD"
mkfifo "$tree/.git/HEAD"
form 'a FIFO in its place' $two
rm -r "$tree/.git"
echo 'gitdir: /nowhere' >"$tree/.git"
form 'a folder that is gone' $two
cd "$work" || exit 1
form 'no work tree' $two

# --- a program that specifies it ---
apply '{"op":"entry.append","content":"x","git_commit":"abc123"}' >/dev/null
is 'apply: an explicit commit' abc123 "$(r takes --json | json '[t["git_commit"] for t in d if t["active"]][0]')"
hasnt 'it is not a field of the entry' git_commit "$(r show --json)"
apply '{"op":"entry.edit","entry":":1","content":"y","git_commit":"def456"}' \
	'{"op":"entry.edit","entry":":1","content":"z","git_commit":null}' >/dev/null
is 'null: none is recorded' def456 "$(r takes --json | json '[t["git_commit"] for t in d if t["active"]][0]')"
apply '{"op":"take.branch","at":":1","name":"mine","git_commit":"789abc"}' >/dev/null
is 'a branch with another commit' 789abc "$(commit_of main mine)"
apply '{"op":"entry.append","content":"x","git_commit":7}' >/dev/null
has 'a commit that is not a string' 'must be a string or null' "$out"

# --- the time ---
before=$(updated_of main)
other=$(updated_of side)
sleep 0.01
r -q edit :1 later --take main
[ "$(updated_of main)" \> "$before" ]; is 'an edit changes the time' 0 $?
is 'of that take alone' "$other" "$(updated_of side)"
is 'undo is a change, redo brings the time back' "$(updated_of main)" "$(r -q undo; r -q redo; updated_of main)"
has 'takes -v: time and commit' 'git 3333333333' "$(r takes -v)"
hasnt 'takes: neither' git "$(r takes)"
r export --format toml >"$work/out.toml"
is 'TOML: the time of every take' "$(r takes | wc -l)" \
	"$(grep -c '^last_updated = "20' "$work/out.toml")"
code 'what was exported' 0 "$RETAKE" --db "$work/again.db" import "$work/out.toml"
"$RETAKE" --db "$work/again.db" export --format toml >"$work/out2.toml"
is 'TOML: the same again' "$(grep last_updated "$work/out.toml")" "$(grep last_updated "$work/out2.toml")"
cat >"$work/in.toml" <<'EOF'
[discussion]
active = "old"
[discussion.discussions.old]
history = ["User: one"]
last_updated = "2020-01-02T03:04:05"
[discussion.discussions.old_take_1]
history = ["User: one", "AI: two"]
last_updated = "2021-01-02T03:04:05"
EOF
db=$work/in.db
r -q import "$work/in.toml"
r export --format toml >"$work/same.toml"
is 'imported times stay' 2 "$(grep -c '^last_updated = "202[01]-01-02T03:04:05"' "$work/same.toml")"
r -q edit :1 changed --take old
r export --format toml >"$work/changed.toml"
is 'until the take is changed' 'last_updated = "2021-01-02T03:04:05"' \
	"$(grep '^last_updated = "202[01]-' "$work/changed.toml")"
code 'fsck' 0 r fsck

# --- takes with the same base are together (also in JSON) ---
db=$work/base.db
r -q add hi
r -q takes rename main refactor
r -q branch :1
r -q branch :1 other --take refactor
r -q branch :1 --take refactor
names='refactor refactor_take_1 refactor_take_2 other'
is 'takes: grouped by base' "$names" "$(r takes | sed 's/^..\([^ ]*\).*/\1/' | tr '\n' ' ' | sed 's/ $//')"
is 'JSON: grouped by base' "$names" "$(r takes --json | json '" ".join(t["name"] for t in d)')"

# --- the lists of files ---
db=$work/files.db
lists() {
	r settings --json | json '" ".join("%s=%s" % (k, ",".join(str(x) for x in d[k])) for k in ("context_files", "files", "screenshots") if k in d)'
}
r -q add hi
r -q files set context_files a.c b.c
r -q files set screenshots s.png
r -q branch :1 other
is 'a branch begins with the lists of its source' 'context_files=a.c,b.c screenshots=s.png' "$(lists)"
r -q files set context_files c.c
r -q takes switch main
is 'switched back: the files come back' 'context_files=a.c,b.c screenshots=s.png' "$(lists)"
r -q undo
is 'undo of the switch: those of the other take' 'context_files=c.c screenshots=s.png' "$(lists)"
r -q redo
r -q files clear context_files 2>/dev/null || r -q files set context_files
r -q takes switch other
is 'and of the other' 'context_files=c.c screenshots=s.png' "$(lists)"
r -q takes switch main
is 'none is kept, too' 'screenshots=s.png' "$(lists)"
r -q go :1
r -q branch :1 third --take other
is 'a branch of another take has its lists' 'context_files=c.c screenshots=s.png' "$(lists)"
r export --format canonical >"$work/f1.json"
"$RETAKE" --db "$work/f2.db" import "$work/f1.json" >/dev/null
is 'canonical: the same again' same "$("$RETAKE" --db "$work/f2.db" export --format canonical | cmp -s - "$work/f1.json" && echo same)"
r export --format toml >"$work/f1.toml"
"$RETAKE" --db "$work/f3.db" import "$work/f1.toml" >/dev/null
is 'TOML: the same again' same "$("$RETAKE" --db "$work/f3.db" export --format toml | cmp -s - "$work/f1.toml" && echo same)"
db=$work/f3.db
r -q takes switch main
is 'imported lists are restored, too' 'screenshots=s.png' "$(lists)"
cat >"$work/slop.toml" <<'EOF'
[discussion]
active = "s"
[discussion.discussions.s]
history = ["User: one"]
context_snapshot = [{path = "a.c"}]
[discussion.discussions.s_take_1]
history = ["User: one", "AI: two"]
context_snapshot = [{path = "b.c"}]
EOF
db=$work/slop.db
r -q import "$work/slop.toml"
is 'the snapshot of the active take' "context_files={'path': 'a.c'}" "$(lists)"
r -q takes switch s_take_1
is 'the snapshot of the other take' "context_files={'path': 'b.c'}" "$(lists)"
r export --format toml >"$work/slop2.toml"
is 'TOML: each its own' 'a.c b.c' "$(sed -n 's/^context_snapshot.*"\(.\.c\)".*/\1/p' "$work/slop2.toml" | tr '\n' ' ' | sed 's/ $//')"
r -q takes switch s
r -q promote s_take_1 apart
r -q use apart
is 'promote takes the lists along' "context_files={'path': 'b.c'}" "$(lists)"
r -q use s
is 'the source keeps its own' "context_files={'path': 'a.c'}" "$(lists)"
r -q extract :1 path
is 'extract takes the lists along' "context_files={'path': 'a.c'}" "$(lists)"
code 'fsck' 0 r fsck

# --- the previous discussion and take; the nearest take ---
db=$work/previous.db
code 'no previous discussion' 3 r use -
has 'is said' 'there is no previous discussion' "$err"
r add -q one
r add -q two
code 'no other take' 3 r diff
has 'what else can be compared' ' revisions ENTRY' "$err"
r branch :1 second >/dev/null
r add -q 'only in second'
r branch :2 third >/dev/null
code 'diff without a take' 0 r diff
has 'the nearest take' '--- second' "$out"
has 'and the active one' '+++ third' "$out"
code 'the previous take' 0 r takes switch -
has 'second' 'Now in take "second"' "$out"
code 'and back' 0 r takes switch -
has 'third' 'Now in take "third"' "$out"
r new other >/dev/null
code 'the previous discussion' 0 r switch -
has 'main' 'Now in discussion "one"' "$out"
code 'use is the same' 0 r use -
has 'other' 'Now in discussion "other"' "$out"
r undo >/dev/null
has 'undone' '* main' "$(r ls | sed 's/  */ /g')"
# Another one has the id of the previous one as its name.
r new d1 >/dev/null
r new other >/dev/null
r use main >/dev/null
r use other >/dev/null
code 'the previous discussion, whose id is a name' 0 r use -
has 'main, not d1' 'Now in discussion "one"' "$out"
r takes rename third t2 >/dev/null
r takes switch second >/dev/null
r takes switch t2 >/dev/null
code 'the previous take, whose id is a name' 0 r takes switch -
has 'second, not t2' 'Now in take "second"' "$out"

finish
