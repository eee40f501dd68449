#!/bin/sh
# SPDX-License-Identifier: MIT
#
# One vocabulary of roles: aliases, and the labels of imported roles. Stored roles are unchanged.
. "$(dirname "$0")/lib.sh"

stored() { # the stored roles of the entries
	r show --json | json '" ".join(each["role"] for each in d["entries"])'
}

r -q add -r human one
r -q add -r assistant two
r -q add -r MODEL three
r -q add -r system four
r -q add -r Critic five
is 'aliases of add' 'User AI AI System Critic' "$(stored)"
code 'alias of role' 0 r role :5 ai
has 'alias of role' '(AI, 5 of 5)' "$out"
r -q insert --before :1 -r model zero
is 'alias of insert' 'AI User AI AI System AI' "$(stored)"
r -q ask -m builtin/echo -r human 'a question'
is 'alias of ask' 'User' "$(r show :7 --json | json 'd["role"]')"
code 'filter' 0 r show -r assistant
is 'filter: AI, and questions' 7 "$(printf '%s\n' "$out" | grep -c '^:')"

hasnt 'filter: no other role' Critic "$out"
shown() { # the roles of entries that pass a filter
	r show --json -r "$1" | json '" ".join(each["role"] for each in d["entries"])'
}
for word in AI ai assistant model; do
	is "filter by $word: JSON" 'AI User AI AI AI User AI' "$(shown $word | sed 's/System //')"
done
is 'filter: questions alone' 'User User' "$(shown human)"
r -q add -r human 'imported'
printf '%s\n' '{"op":"entry.role","entry":"@","role":"assistant"}' | r -q apply >/dev/null
is 'filter: the label of a role, not its spelling' 'User User assistant' \
	"$(shown AI | sed 's/AI //g')"
r -q undo 2

# --- a role of the project is not treated as an alias ---
r -q roles add assistant
r -q add -r assistant eight
is 'a role of the project' assistant "$(r show @ --json | json 'd["role"]')"
has 'a role of the project: its label' 'assistant  ' "$(r show @)"
r -q undo 2
r -q roles rm AI
r -q add -r assistant nine
is 'no role to mean' assistant "$(r show @ --json | json 'd["role"]')"
r -q undo 2

# --- imports ---
cat >"$work/session.jsonl" <<'END'
{"type":"session","version":3,"id":"s1","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/tmp"}
{"type":"message","id":"a1","parentId":null,"timestamp":"2026-01-01T00:00:01.000Z","message":{"role":"user","content":"hi","timestamp":1767225601000}}
{"type":"message","id":"a2","parentId":"a1","timestamp":"2026-01-01T00:00:02.000Z","message":{"role":"assistant","content":[{"type":"text","text":"hello"}],"timestamp":1767225602000}}
END
code 'import' 0 r import "$work/session.jsonl"
is 'import: data' 'user assistant' "$(stored)"
has 'import: label of a question' ':1  User  ' "$(r show)"
has 'import: label of a reply' ':2  AI  ' "$(r show)"
has 'import: tree' 'AI    a2' "$(r tree)"
has 'import: search' '  AI' "$(r search hello)"
is 'import: search by alias' 1 "$(r search hello -r model | grep -c '  AI')"
r export --format pi -o "$work/again.jsonl" >/dev/null 2>&1
printf '%s\n' '{"op":"entry.append","role":"toolResult","toolCallId":"c1","toolName":"read","content":"**found** it"}' | r -q apply - >/dev/null
has 'a tool: label' ':3  Tool  ' "$(r show)"
is 'a tool: data' toolResult "$(r show @ --json | json 'd["role"]')"
is 'a tool: search by alias' 1 "$(r search found role:tool --json | json 'len(d)')"
r -q undo
r -q add -r AI 'a **bold wombat** and `code`'
is 'search: a snippet without Markdown' '    a bold *wombat* and code' "$(r -q search wombat | tail -1)"
is 'search: the JSON has the text' 'a **bold wombat** and `code`' "$(r search wombat --json | json 'd[0]["snippet"]')"
r -q undo
cmp -s "$work/session.jsonl" "$work/again.jsonl" || fail 'import: the same bytes again'

# --- a misspelt role ---
code 'a misspelt alias' 2 r add -r assitant x
has 'the role that is meant' 'has no role "assitant"; did you mean assistant?' "$err"
has 'and how to use it anyway' 'roles add "assitant"' "$err"
code 'a misspelt role of the list' 2 r role :1 Usr
r -q roles add Usr
code 'a role that was added' 0 r add -r Usr x
code 'a role like no other' 0 r add -r Moderator x
finish
