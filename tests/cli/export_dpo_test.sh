#!/bin/sh
# SPDX-License-Identifier: MIT
#
# export --format dpo: an edited reply is a pair of the text now and the text of the model.
. "$(dirname "$0")/lib.sh"

r -q add -r System 'Be brief.' 2>/dev/null
r -q add -r User 'Which database?'
r -q add -r AI 'PostgreSQL.'
r -q add -r User 'And how do I ship it?'
r -q add -r AI 'As a service.'
is 'without an edit' '' "$(r export --format dpo)"

r -q edit :3 'MySQL.'
r -q edit :3 'SQLite, password=hunter2xyz.'
r -q edit :2 'Which database for a desktop app?'
is 'the text of the model, whatever was between; the prompt as it is now' \
	'{"prompt":[{"role":"system","content":"Be brief."},{"role":"user","content":"Which database for a desktop app?"}],"chosen":[{"role":"assistant","content":"SQLite, password=hunter2xyz."}],"rejected":[{"role":"assistant","content":"PostgreSQL."}]}' \
	"$(r export --format dpo)"
has 'redacted' 'redacted' "$(r export --format dpo --redact 2>/dev/null)"
hasnt 'redacted: both texts' 'hunter2' "$(r export --format dpo --redact 2>/dev/null)"
r -q edit :3 'PostgreSQL.'
is 'edited back' '' "$(r export --format dpo)"
r -q undo
r -q mute :3
is 'muted' '' "$(r export --format dpo)"
r -q undo

# --- takes ---
r -q go :4
r -q add -r AI 'In the program.'
r -q edit :5 'As a part of the program, token=hunter2xyz.'
is 'the active take' 2 "$(r export --format dpo | wc -l | tr -d ' ')"
is 'the other take' 1 "$(r export --format dpo --take main | wc -l | tr -d ' ')"
is 'all takes: each pair once' 2 "$(r export --format dpo --all | wc -l | tr -d ' ')"
has 'all takes: the prompt of its take' '"content":"And how do I ship it?"}],"chosen":[{"role":"assistant","content":"As a part' \
	"$(r export --format dpo --all | tail -n 1)"
r -q new Second
r -q add -r User 'Which colour?'
r -q add -r AI 'Red.'
r -q edit :2 'Blue.'
is 'all discussions' 3 "$(r export --format dpo --all-discussions | wc -l | tr -d ' ')"
is 'the active one' 1 "$(r export --format dpo | wc -l | tr -d ' ')"
r -q use main
r -q revisions :3 --restore 1
r -q edit :3 'SQLite.'
has 'restored and edited again' '"rejected":[{"role":"assistant","content":"PostgreSQL."}]' "$(r export --format dpo)"

# --- changes that are no edits of a reply ---
r -q new Parts
r -q add -r User 'Go.'
r -q add -r AI 'First sentence. Second sentence.'
r -q split :2 15
is 'split' '' "$(r export --format dpo)"
r -q merge :2
is 'split and merged' '' "$(r export --format dpo)"
r -q add -r User 'My text.'
r -q edit :3 'My second text.'
r -q role :3 AI
is 'a text of a person' '' "$(r export --format dpo)"

# --- a secret only in the earlier text ---
r -q new Secret
r -q add -r User 'Say it.'
r -q add -r AI 'It is password=hunter2xyz.'
r -q edit :2 'No.'
has 'the earlier text' 'hunter2' "$(r export --format dpo)"
hasnt 'the earlier text, redacted' 'hunter2' "$(r export --format dpo --redact 2>/dev/null)"

# --- a file ---
code 'by the name of a file' 0 r export -o "$work/pairs.dpo.jsonl"
has 'by the name of a file' '(dpo,' "$out"
code 'not imported' 2 r import "$work/pairs.dpo.jsonl" --format dpo
finish
