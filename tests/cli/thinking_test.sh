#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Thinking between tags in the model's texts, from any source: stored verbatim, folded in the
# display, and never sent. Replies that change the working prompt.
. "$(dirname "$0")/lib.sh"

new() {
	rm -f "$db" "$db"-*
}
play() { # play TEXT-AS-JSON…: asks a model that replies with this
	: >"$work/play.jsonl"
	for piece; do
		printf '{"text":%s}\n' "$piece" >>"$work/play.jsonl"
	done
	code "ask: $*" 0 r ask -m "builtin/play:$work/play.jsonl" Q
}
unsent() { # unsent NAME: the thinking is sent to no provider
	for provider in $(providers); do
		code "$1: context" 0 r context --provider "$provider"
		hasnt "$1: $provider is not sent it" 'plan' "$out"
		hasnt "$1: $provider is sent no tag" 'hink' "$out"
		has "$1: $provider is sent the rest" 'outro' "$out"
	done
}

# --- a reply; the tags arrive in pieces ---
new
play '"Intro <thin"' '"king>mid pl"' '"an</thinking> outro <think>plan 2</thi"' '"nk>"'
is 'what is printed' 'Intro  outro' "$(printf '%s' "$out" | sed 's/ *$//')"
unsent 'reply'
is 'the text is as it came' 'Intro <thinking>mid plan</thinking> outro <think>plan 2</think>' "$(r show --raw :2)"
code 'show' 0 r show
has 'show: one line for it' '[thinking, 1 line; show --thinking]' "$out"
hasnt 'show: not its text' 'mid plan' "$out"
code 'show --thinking' 0 r show --thinking
has 'show: expanded' '      mid plan' "$out"
code 'search' 0 r search 'mid plan'
has 'it is found' '3zn0' "$out"
code 'edit' 0 r edit :2 'Fixed <thinking>other</thinking> outro'
code 'undo' 0 r undo
is 'undo restores the exact bytes' 'Intro <thinking>mid plan</thinking> outro <think>plan 2</think>' "$(r show --raw :2)"

# --- at the beginning it becomes a segment beside the text ---
new
play '"<antThinking>plan</antThinking>\n\noutro"'
is 'segments' "[{'text': 'plan'}] outro" "$(r show :2 --json | json 'str(d["thinking_segments"]) + " " + d["content"]')"
unsent 'beginning'

# --- written by a program, imported, in other formats ---
new
r add Q -q
printf '%s\n' '{"op":"entry.append","role":"AI","content":"<think>plan</think>\noutro"}' | r apply -q >/dev/null
unsent 'apply'
r context --tokens >"$work/long"
r undo -q
r add -r AI 'outro' -q
is 'it does not count as tokens' "$(r context --tokens | tail -1)" "$(tail -1 "$work/long")"
new
printf '%s' '{"messages":[{"role":"user","content":"Q"},{"role":"assistant","content":"<think>plan</think>\noutro"}]}' >"$work/in.json"
code 'import' 0 r import "$work/in.json"
unsent 'import'
code 'export' 0 r export --format openai
has 'export: the text as it was' '<think>plan</think>\noutro' "$out"
code 'export' 0 r export --format html
has 'the page folds it' '<summary>Thinking</summary>' "$out"

# --- not thinking: text of the user, and code ---
new
r add 'a <think>plan</think> outro' -q
code 'of the user' 0 r context
has 'the user is sent whole' '<think>plan</think>' "$out"
r add -r AI 'Write `<think>plan</think>`.' -q
code 'in code' 0 r context
has 'code is sent' '`<think>plan</think>`' "$out"

# --- replies that change the prompt ---
new
r set prompt_updates block -q
play '"Got it!\n\n```prompt\na tabby cat\n```\n"'
has 'ask says it' '+ a tabby cat' "$err"
is 'the prompt' 'a tabby cat' "$(r prompt --raw)"
is 'it is not edited' false "$(r prompt --json | json 'd["edited"]')"
code 'context' 0 r context
has 'the model is told how' 'info string' "$out"
code 'undo' 0 r undo
is 'undo reverts both' '1 ' "$(r show --json | json 'd["count"]') $(r prompt --raw)"
r redo -q
r set prompt_updates json -q
r prompt set 'a sparkly cat' -q
play '"{\"content\":\"Purple\\u00e9\",\"pro"' '"mpt\":\"a purple cat\"}"'
is 'the content is printed' 'Purpleé' "$out"
has 'the difference: before' '- a sparkly cat' "$err"
has 'the difference: after' '+ a purple cat' "$err"
is 'the entry' 'Purpleé' "$(r show --raw :-1)"
is 'no edit is pending' false "$(r prompt --json | json 'd["edited"]')"
play '"no json"'
has 'a reply in another form' 'it is kept unchanged' "$err"
is 'its text' 'no json' "$(r show --raw :-1)"
is 'the prompt stays' 'a purple cat' "$(r prompt --raw)"
for pair in openai:response_format gemini:responseSchema ollama:format; do
	code 'context' 0 r context --provider "${pair%:*}"
	has "${pair%:*} is asked for the form" "\"${pair#*:}\":" "$out"
done
r set prompt_updates off -q
play '"```prompt\nignored\n```"'
is 'off: no update' 'a purple cat' "$(r prompt --raw)"

code 'prompt --from' 0 r prompt --from :-1
has 'the text of the entry' 'ignored' "$(r prompt --raw)"
is 'by hand it is an edit' true "$(r prompt --json | json 'd["edited"]')"
code 'prompt --from and a text' 2 r prompt set x --from :1
finish
