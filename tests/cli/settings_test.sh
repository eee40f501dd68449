#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The effect of each setting of `retake settings --all`: a function effect_KEY that fails if the
# setting has no effect. A setting without such a function fails.
. "$(dirname "$0")/lib.sh"

body() { # the next request of ask
	r context --json -m builtin/echo 2>/dev/null
}
in_body() { # in_body VALUE PART: only after setting VALUE does the request contain PART
	hasnt "$key: not before" "$2" "$(body)"
	r -q set "$key" "$1"
	has "$key: in the request" "$2" "$(body)"
}
long_take() { # six entries that do not fit into --budget 160
	for i in 1 2 3 4 5 6; do
		r -q add "$i ..................................................................."
	done
}
compacted() { # compacted BUDGET: ids of the entries that an automatic compaction keeps
	r ask -q -m builtin/summary --budget "$1" 'And now?' >/dev/null 2>&1
	r show --json | json 'sum(e.get("kind") == "compaction" for e in d["entries"])'
}

effect_model() {
	has 'model: not before' 'names no model' "$(r context --json 2>&1)"
	r -q set model builtin/echo
	has 'model: it is asked' 'You said: "hello"' "$(r ask hello 2>&1)"
	has 'model: of the project' 'builtin/echo (default of the project)' "$(r models)"
	r -q set model --here builtin/summary
	has 'model: of this discussion' 'builtin/summary (of this discussion)' "$(r models)"
	is 'model: said in JSON' model "$(r settings --json | json 'd["own"][0]')"
	r -q new other
	has 'model: another discussion' 'builtin/echo (default of the project)' "$(r models)"
	r -q undo 2
	has 'model: undone' 'builtin/echo (default of the project)' "$(r models)"
	code 'model: others belong to the project' 2 r set undo_capacity --here 5
	# a preset contains the model and its parameters
	r -q set temperature 0.5
	r -q set model --here builtin/summary
	r -q preset save careful
	r -q set temperature 1
	r -q set model --here builtin/echo
	r -q preset load careful
	is 'preset: temperature' 0.5 "$(r settings temperature)"
	has 'preset: model' 'builtin/summary (of this discussion)' "$(r models)"
}
effect_temperature() { in_body 0.25 '"temperature":0.25'; }
effect_top_p() { in_body 0.5 '"top_p":0.5'; }
effect_reasoning_effort() { # each provider has another format
	r -q set reasoning_effort high
	form() { r context --provider "$1" -m "$1/x" --json; }
	is 'reasoning_effort: openai' high "$(form openai | json 'd["reasoning_effort"]')"
	r -q set temperature 0.5
	is 'reasoning_effort: anthropic' "{'type': 'enabled', 'budget_tokens': 32768} 40960 None" \
		"$(form anthropic | json 'str(d["thinking"]) + " " + str(d["max_tokens"]) + " " + str(d.get("temperature"))')"
	is 'reasoning_effort: gemini' 32768 "$(form gemini | json 'd["generationConfig"]["thinkingConfig"]["thinkingBudget"]')"
	is 'reasoning_effort: ollama' high "$(form ollama | json 'd["think"]')"
	r -q set reasoning_effort none
	is 'reasoning_effort: ollama, none' false "$(form ollama | json 'd["think"]')"
	is 'reasoning_effort: anthropic, none' 0.5 "$(form anthropic | json 'd["temperature"] if "thinking" not in d else "thinks"')"
	code 'reasoning_effort: another word' 2 r set reasoning_effort much
}
effect_max_tokens() { in_body 77 '"max_tokens":77'; }
effect_base_system_prompt() { in_body 'first words' 'first words'; }
effect_global_system_prompt() { in_body 'second words' 'second words'; }
effect_project_system_prompt() { in_body 'third words' 'third words'; }
effect_use_default_base_prompt() {
	r -q prompt set 'a cat'
	before=$(body | json 'len(d["messages"])')
	r -q set use_default_base_prompt false
	is 'use_default_base_prompt: one message less' $((before - 1)) "$(body | json 'len(d["messages"])')"
}
effect_role_map() {
	r -q add --role Critic 'No.'
	in_body '{"Critic":"system"}' '{"role":"system","content":"No."}'
}
effect_auto_add_history() {
	r -q set auto_add_history false
	r -q ask -m builtin/echo aside >/dev/null 2>&1
	is 'auto_add_history: the take stays' 1 "$(r show --json | json 'len(d["entries"])')"
	is 'auto_add_history: another take' 2 "$(r takes --json | json 'len(d)')"
}
effect_edit_notices() {
	r -q prompt set 'a cat'
	r -q prompt set 'a dog'
	has 'edit_notices: by default' 'edited prompt' "$(r ask -q -m builtin/echo x >/dev/null 2>&1; r show)"
	r -q set edit_notices none
	r -q prompt set 'a bird'
	hasnt 'edit_notices: none' 'a bird' "$(r ask -q -m builtin/echo x >/dev/null 2>&1; r show)"
}
effect_prompt_updates() {
	before=$(body)
	r -q set prompt_updates block
	has 'prompt_updates: the model is told how' 'prompt' "$(body)"
	hasnt 'prompt_updates: not before' 'prompt' "$before"
}
effect_symbols_sent() {
	printf 'int answer_of(int x)\n{\n\treturn 42;\n}\n' >"$work/symbols.c"
	cd "$work" || exit 1
	r -q files set context_files symbols.c
	r -q add 'See @answer_of'
	if ctags --list-features 2>/dev/null | grep -q '^sandbox '; then
		in_body true 'symbols.c#answer_of'
	else
		echo 'settings_test: symbols_sent is not tested without ctags' >&2
	fi
}
effect_compact_auto() {
	long_take
	is 'compact_auto: not before' 0 "$(compacted 160)"
	r -q undo 2
	r -q set compact_auto true
	is 'compact_auto: a compaction' 1 "$(compacted 160)"
}
effect_compact_reserve_tokens() {
	long_take
	r -q set compact_auto true
	r -q set compact_reserve_tokens 0
	is 'compact_reserve_tokens: it fits' 0 "$(compacted 220)"
	r -q undo 2
	r -q set compact_reserve_tokens 100
	is 'compact_reserve_tokens: no room for a reply' 1 "$(compacted 220)"
}
effect_compact_keep_tokens() {
	long_take
	r -q set compact_auto true
	r -q set compact_keep_tokens 1
	compacted 160 >/dev/null
	short=$(body | wc -c)
	r -q undo 3
	r -q set compact_keep_tokens 70
	compacted 160 >/dev/null
	[ "$(body | wc -c)" -gt "$short" ] && pass || fail 'compact_keep_tokens: more is kept'
}
effect_undo_capacity() {
	r -q add two
	r -q add three
	r -q set undo_capacity 1
	r -q undo 5
	is 'undo_capacity: one step' 3 "$(r show --json | json 'len(d["entries"])')"
}
effect_draft() { # the text of the input field
	r -q set draft 'not sent yet'
	got=$(PYTHONPATH=$root/tests/server "$python" - "$work" "$(basename "$db")" <<'E'
import sys
from client import Place, Server

with Server(Place(sys.argv[1], sys.argv[2])) as server:
    print(server.client().request("GET", "/api/state/ai_input").json["value"])
E
)
	is 'draft: in the input line' 'not sent yet' "$got"
}

effect_title() { # shown instead of a generated name
	r -q add hi
	is 'title: the first words' hi "$(r ls --json | json 'd[0]["title"]')"
	r -q set title 'Greetings, mostly'
	has 'title: in the list' 'Greetings, mostly' "$(r ls)"
	r -q undo
	is 'title: undone' hi "$(r ls --json | json 'd[0]["title"]')"
	r -q set title 'Greetings, mostly'
	r -q rename talks
	is 'title: a chosen name counts' null "$(r ls --json | json 'd[0].get("title")')"
	code 'title: of one discussion' 2 r set title x --for-all
}
effect_pinned() {
	r -q new second
	r -q pin
	is 'pinned: first' 'second main' "$(r ls --json | json '" ".join(x["name"] for x in d)')"
	has 'pinned: shown' pinned "$(r ls)"
	r -q pin --off
	is 'pinned: no longer' 'main second' "$(r ls --json | json '" ".join(x["name"] for x in d)')"
	code 'pinned: unknown discussion' 3 r pin nowhere
}
effect_archived() {
	r -q new old
	r -q use main
	r -q archive old
	hasnt 'archived: left out' old "$(r ls)"
	is 'archived: asked for' old "$(r ls --archived --json | json '" ".join(x["name"] for x in d)')"
	has 'archived: --all' archived "$(r ls --all)"
	has 'archived: can be opened' old "$(r use old 2>&1)"
	has 'archived: the active one is listed' '* old' "$(r ls)"
	r -q archive --off
	r -q use main
	has 'archived: no longer' old "$(r ls)"
}
effect_tags() {
	r -q tag work/db urgent
	is 'tags: in JSON' '["work/db", "urgent"]' "$(r ls --json | json 'd[0]["tags"]')"
	has 'tags: in the list' '#work/db  #urgent' "$(r ls)"
	has 'tags: within' main "$(r ls --tag work)"
	hasnt 'tags: not by a part of a word' main "$(r ls --tag wor)"
	has 'tags: by query' main "$(r ls urg)"
	hasnt 'tags: without any' main "$(r ls --tag '')"
	r export --format toml >"$work/tags.toml"
	r export --format canonical >"$work/tags.json"
	r -q tag --remove urgent
	is 'tags: removed' work/db "$(r tag)"
	r -q tag --remove work/db
	has 'tags: none' 'has no tags' "$(r tag)"
	r -q undo
	is 'tags: undone' '["work/db"]' "$(r tag --json)"
	for form in toml json; do
		db=$work/tags_$form.db
		r -q import "$work/tags.$form"
		is "tags: kept by $form" '["work/db", "urgent"]' \
			"$(r ls --json | json '[x for x in d if "tags" in x][0]["tags"]')"
	done
	code 'tags: not a list' 2 r set tags 5
}

for key in $(r settings --all --json | json '" ".join(each["key"] for each in d)'); do
	db=$work/$key.db
	r -q add hi
	if type "effect_$key" >/dev/null 2>&1; then
		"effect_$key"
	else
		fail "$key: no test of its effect"
	fi
done

# --- a list of files is not a setting ---
db=$work/lists.db
r -q add hi
code 'a list of files' 2 r set context_files '["a.c"]'
has 'a list of files: why' 'is a list of files, not a setting' "$err"
has 'a list of files: how' 'files set context_files FILE' "$err"
is 'a list of files: nothing is stored' '{}' "$(r settings --json | json 'd["settings"]' | tr "'" '"')"

# --- what a change does not do is said ---
db=$work/said.db
r -q add hi
r -q set model --here builtin/summary
code 'own value' 0 r set model builtin/echo
has 'own value: it is named' 'this discussion has its own value, "builtin/summary"' "$err"
has 'own value: how to remove it' "retake --db $db set model --unset --here" "$err"
code 'own value: unset' 0 r set model --unset
has 'own value: unset' 'this discussion has its own value' "$err"
code 'own value: as named' 0 r set model --unset --here
is 'own value: as named' '' "$err"
code 'no own value' 0 r set model builtin/echo
is 'no own value' '' "$err"
code 'the system prompt' 2 r set system 'Be terse.'
has 'the system prompt' 'did you mean project_system_prompt?' "$err"
is 'nothing was set' null "$(r settings --json | json 'd["settings"].get("system")')"
code 'a text is quoted' 0 r set project_system_prompt 'Be terse.'
has 'a text is quoted' 'Set project_system_prompt to "Be terse.".' "$out"
code 'an unknown key' 0 r set colour red
has 'an unknown key' 'there is no setting "colour"; the value is stored for other programs' "$err"
code 'a key with a dot' 0 r set my.colour red
is 'a key with a dot' '' "$err"

finish
