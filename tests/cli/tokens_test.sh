#!/bin/sh
# SPDX-License-Identifier: MIT
#
# context --tokens, --budget and -m: the size of a request, and what does not fit.
. "$(dirname "$0")/lib.sh"
unset RETAKE_MODEL RETAKE_TOKENS XDG_CONFIG_HOME 2>/dev/null || true

fresh
plain=$(r context --json 2>/dev/null)

# --- estimated: no model, an unknown model, or missing rank files ---
code 'no model' 0 r context --tokens
has 'the first entry' ':1' "$out"
has 'its role' 'User' "$out"
has 'the total' 'about 21 tokens (estimated; no model is set)' "$out"
is 'no request is printed' '' "$(echo "$out" | grep messages)"
has 'another maker' 'for claude-x (estimated)' "$(r context --tokens -m anthropic/claude-x)"
code 'no ranks' 0 env RETAKE_TOKENS=/nowhere/at/all "$RETAKE" --db "$db" context --tokens -m gpt-4o
has 'no ranks: an estimate' 'about 21 tokens for gpt-4o (estimated)' "$out"
has 'no ranks: said' 'the token encoding o200k_base is not installed' "$err"
code 'no ranks, quiet' 0 env RETAKE_TOKENS=/nowhere/at/all "$RETAKE" -q --db "$db" context --tokens -m gpt-4o
is 'no ranks, quiet: not said' '' "$err"
code 'an unknown model' 3 r context --tokens -m nobody
has 'an unknown model: what to do' 'retake --db' "$err"
code 'a budget of words' 2 r context --budget much
is 'JSON' '{"exact": false, "encoding": null, "files": [], "file_problems": [], "tokens": 21, "left_out": 0}' \
	"$(r context --tokens --json | json '{k: d[k] for k in d if k != "entries"}')"
is 'JSON: entries' '["at", "id", "left_out", "tokens"] [1, 2, 3, 4]' \
	"$(r context --tokens --json | json 'json.dumps(sorted(d["entries"][0])) + " " + json.dumps([e["at"] for e in d["entries"]])')"

# --- a budget: the oldest entries are dropped, and this is reported ---
code 'a budget' 0 r context --budget 12
hasnt 'a budget: the first is out' '"one"' "$out"
has 'a budget: the last is in' '"four"' "$out"
has 'a budget: said' '2 entries do not fit into 12 tokens and are left out: :1..:2' "$err"
code 'a budget in the table' 0 r context --tokens --budget 17
is 'a budget in the table: one' 1 "$(echo "$out" | grep -c 'left out')"
has 'a budget: one' '1 entry does not fit into 17 tokens and is left out: :1' "$err"
code 'too small' 0 r context --budget 1
has 'too small: the newest stays' '"four"' "$out"
has 'too small: said' 'exceeds the budget' "$err"
is 'JSON: left out' '[true, true, false, false] 2' \
	"$(r context --tokens --json --budget 12 2>/dev/null | json 'json.dumps([e["left_out"] for e in d["entries"]]) + " " + str(d["left_out"])')"
code 'enough' 0 r context --budget 1000
is 'enough: the same request' "$plain" "$out"

# --- the model of the request ---
is 'the request names the model' 'gpt-4o' "$(r context -m openai/gpt-4o | json 'd["model"]')"
has 'its provider writes it' 'max_tokens' "$(r context -m anthropic/claude-x)"
is 'the setting' 'for gpt-4' "$(r -q set model openai/gpt-4 && r context --tokens 2>/dev/null | grep -o 'for gpt-4')"
r -q undo
is 'the plain request is as it was' "$plain" "$(r context --json 2>/dev/null)"

# --- the request is the one that ask sends, wherever the model is set ---
claude=$(r context -m anthropic/claude-x)
has 'as sent: a stream' '"stream":true' "$claude"
is 'from RETAKE_MODEL' "$claude" "$(RETAKE_MODEL=anthropic/claude-x r context)"
r -q set model anthropic/claude-x
code 'from the setting' 0 r context
is 'from the setting: the same' "$claude" "$out"
is 'from the setting: nothing is amiss' '' "$err"
hasnt 'an explicit provider: no stream' 'stream' "$(r context --provider openai)"
r -q undo
mkdir -p "$HOME/.config/retake"
printf 'model = "near/m1"\n[provider.near]\nkind = "anthropic"\nurl = "http://127.0.0.1:9/v1"\ncontext_tokens = 12\n' \
	>"$HOME/.config/retake/config.toml"
code 'from config.toml' 0 r context
has 'from config.toml: the model' '"model":"m1"' "$out"
has 'from config.toml: its form' '"max_tokens"' "$out"
has 'from config.toml: its budget' '2 entries do not fit into 12 tokens' "$err"
hasnt 'from config.toml: a model is named' 'names no model' "$err"
is 'a provider of config.toml' "$(r context --provider anthropic 2>/dev/null)" "$(r context --provider near 2>/dev/null)"
code 'no such provider' 2 r context --provider nowhere
rm -r "$HOME/.config/retake"
r -q set model builtin/echo
r -q ask 'and five?' >/dev/null 2>&1
r context --sent --json >"$work/sent" 2>/dev/null
r -q go :5 >/dev/null
is 'byte for byte the sent request' "$(cat "$work/sent")" "$(r context --json 2>/dev/null)"
has 'it is the whole of it' 'and five?' "$(cat "$work/sent")"
fresh
apply '{"op":"setting.set","key":"model","value":"nobody/knows"}' >/dev/null
has 'an unknown provider: as before' '"model":"nobody/knows"' "$(r context 2>/dev/null)"
r -q undo
code 'no model' 0 r context
has 'no model: what to do' 'set model PROVIDER/NAME' "$(r context 2>&1 >/dev/null)"

# --- exact, if the rank files exist ---
if [ "$(r context --tokens --json -m gpt-4o | json 'd["encoding"]')" = o200k_base ]; then
	has 'exact' '23 tokens for gpt-4o (exact, o200k_base)' "$(r context --tokens -m gpt-4o)"
	is 'exact: JSON' '[true, "cl100k_base", [5, 5, 5, 5], 23]' "$(r context --tokens --json -m openai/gpt-4 |
		json '[d["exact"], d["encoding"], [e["tokens"] for e in d["entries"]], d["tokens"]]')"
	r -q set base_system_prompt 'Be brief.'
	r -q set project_system_prompt 'And kind.'
	r -q prompt set 'A "haiku"'
	has 'exact with prompts' 'exact, o200k_base' "$(r context --tokens -m gpt-4o)"
	has 'prompts are a row' 'prompts' "$(r context --tokens -m gpt-4o)"
	hasnt 'not for others' 'exact' "$(r context --tokens -m ollama/gpt-oss:20b)"
	code 'an exact budget' 0 r context --tokens -m gpt-4o --budget 46
	has 'an exact budget: fits' 'exact' "$out"
	# The request matches `context`: the same count decides which entries are dropped. The estimate for
	# this text is half of its real size.
	r -q add -r User "$(printf '%0.s1 2 3 4 5 6 7 8 9 ' 1 2 3 4 5 6 7 8)"
	r -q add -r AI 'short'
	mkdir -p "$HOME/.config/retake"
	printf '[provider.near]\nkind = "openai"\nurl = "http://169.254.1.1/v1"\n' >"$HOME/.config/retake/config.toml"
	for budget in 100 150 200 250 300; do
		r -q ask -m near/gpt-4o --budget $budget 'Well?' 2>/dev/null # the request fails
		is "ask leaves out what context does: $budget" \
			"$(r context --tokens --json -m near/gpt-4o --budget $budget 2>/dev/null | json 'd["left_out"]')" \
			"$(cat "$(ls -t "$XDG_STATE_HOME"/retake/comms/*.jsonl | head -n 1)" | grep '"what":"request"' | tail -n 1 | json 'd["left_out"]')"
		r -q undo
	done
else
	echo 'the token ranks are not there: exact counts are not tried'
fi

finish
