#!/bin/sh
# SPDX-License-Identifier: MIT
#
# ask, again, compact, go, replay, models: with the built-in model.
. "$(dirname "$0")/lib.sh"

holds() { # holds WORDS FILE TITLE
	if grep -qF -- "$1" "$2"; then pass; else fail "$3: no \"$1\"" "$(cat "$2")"; fi
}

# Without a model: hints what to do.
r ask "Hello?" >"$work/out" 2>"$work/err" </dev/null
[ $? = 4 ] && pass || fail "no model is 4" "$(cat "$work/err")"
holds "no model is set" "$work/err" "no model"
# Every command that needs a model lists the providers it found.
for c in "ask Hello" chat again compact compress "merge-take main" "go :1 --summary"; do
	r add "for $c" -q
	OPENAI_API_KEY=x GEMINI_API_KEY=y "$RETAKE" --db "$db" $c >"$work/out" 2>"$work/err" </dev/null
	[ $? = 4 ] && pass || fail "$c without a model is 4" "$(cat "$work/err")"
	holds "OPENAI_API_KEY, GEMINI_API_KEY" "$work/err" "$c says what was found"
	holds "models gemini" "$work/err" "$c says where the models are listed"
	holds "set model " "$work/err" "$c says how to choose one"
	grep -qF "=x" "$work/err" && fail "$c shows a key" "" || pass
done
r undo 7 -q
r set model builtin/echo >/dev/null

r "Is anybody there?" >"$work/out" 2>"$work/err" </dev/null
[ $? = 0 ] && pass || fail "several words are a question" "$(cat "$work/err")"
holds 'You said: "Is anybody there?"' "$work/out" "the reply is on standard output"
holds "undo: retake" "$work/err" "how to undo is on standard error"
r -m builtin/echo "Is it there, too?" >"$work/out" 2>"$work/err" </dev/null
[ $? = 0 ] && pass || fail "flags of ask before the question" "$(cat "$work/err")"
holds 'You said: "Is it there, too?"' "$work/out" "flags of ask before the question"
r undo 2 -q
r -m builtin/echo word >"$work/out" 2>"$work/err" </dev/null
[ $? = 2 ] && pass || fail "one word is not a question, with a flag either" "$(cat "$work/err")"
r ask -m builtin/echo -m builtin/nothing hi >"$work/out" 2>"$work/err" </dev/null
holds "Models: retake" "$work/err" "an unknown model: where the models are listed"
printf 'piped text' | r ask "about this" --json >"$work/out" 2>"$work/err"
holds '"question":' "$work/out" "ask --json"
r show --json >"$work/out"
holds 'piped text\n\nabout this' "$work/out" "what is piped in stands in front"

# The reply is one step, the question another.
r undo >/dev/null
r show --json >"$work/out"
holds '"count":3' "$work/out" "undo takes the reply alone"
r redo >/dev/null

r again -n 3 -q </dev/null
r takes --json >"$work/out"
n=$(grep -o '"name"' "$work/out" | wc -l)
[ "$n" = 4 ] && pass || fail "three more takes" "$(cat "$work/out")"

# The recorded request equals the reconstructed one.
r replay @ >"$work/out" 2>"$work/err"
holds 'about this' "$work/out" "replay"
[ -s "$work/err" ] && fail "replay is to the byte" "$(cat "$work/err")" || pass
# Each discussion has a separate record of its last request.
r context --sent >"$work/out" 2>"$work/err"
holds 'about this' "$work/out" "context --sent"
holds 'to builtin/echo, right after step' "$work/err" "and when, and to whom"
r edit :1 "changed since" >/dev/null
r context --changed >"$work/out"
holds 'edited  ' "$work/out" "context --changed"
r undo >/dev/null
r context --changed --json >"$work/out"
holds '"exact":true' "$work/out" "context --changed --json"
r export --format toml >"$work/out"
holds 'sent_markdown = ' "$work/out" "the TOML export carries it"
r context --sent --budget 5 >"$work/out" 2>"$work/err"
[ $? = 2 ] && pass || fail "--sent takes nothing that builds another request" "$(cat "$work/err")"

code "compact --keep 0: all but the last" 0 r compact --keep 0 -n
r compact --keep 10 --json >"$work/out" 2>"$work/err" </dev/null
holds '"first_kept"' "$work/out" "compact"
r context --json >"$work/out" 2>/dev/null
holds '<summary>' "$work/out" "the summary is sent"
r undo >/dev/null
r context --json >"$work/out" 2>/dev/null
holds 'Is anybody there?' "$work/out" "undo brings the entries back"

# Automatic compaction at a threshold: reported with the way to undo it, and undone separately.
r new threshold >/dev/null
for i in 1 2 3 4 5 6; do
	r add "$i ..................................................................." >/dev/null
done
r set compact_auto true >/dev/null
r ask -m builtin/summary --budget 160 "And now?" >"$work/out" 2>"$work/err" </dev/null
holds "Compacted" "$work/err" "a compaction on the threshold is said"
back=$(sed -n 's/.*undo: retake .* \(revert [0-9]*\)$/\1/p' "$work/err")
[ -n "$back" ] && pass || fail "with the way back" "$(cat "$work/err")"
grep -qF "Compacted" "$work/out" && fail "standard output is the reply's alone" "" || pass
r show --json >"$work/out"
holds '"kind":"compaction"' "$work/out" "it is an entry"
r $back >/dev/null
r show --json >"$work/out"
grep -qF '"kind":"compaction"' "$work/out" && fail "revert takes it out" "" || pass
holds 'And now?' "$work/out" "and nothing else"
r again -m builtin/summary --budget 160 --json >"$work/out" 2>"$work/err" </dev/null
holds '"compaction":{"entry":' "$work/out" "again makes room too"
r again -m builtin/summary --budget 20 >"$work/out" 2>"$work/err" </dev/null
holds 'left out without a summary' "$work/err" "what cannot be summed up is left out, and said"
r set compact_auto null >/dev/null
r use main >/dev/null

r go :1 --json >"$work/out"
holds '"seq"' "$work/out" "go"
r go :1 >"$work/out"
holds "Already at this point." "$work/out" "go where one is"
r go --summary -q -- :-1 </dev/null 2>"$work/err"
[ $? = 0 ] && pass || fail "go --summary" "$(cat "$work/err")"

# An edit of an earlier entry is part of the next request.
r edit :2 "corrected by hand" >/dev/null
for p in $(providers); do
	r context --provider $p --json >"$work/out" 2>/dev/null
	holds "corrected by hand" "$work/out" "context for $p"
done

# Scripted replies: stop reasons, a cut, an error, a rejected key.
printf '%s\n' '{"text":"first part"}' '{"cut":true}' >"$work/cut"
r ask -m "builtin/play:$work/cut" "go on" >"$work/out" 2>"$work/err" </dev/null
[ $? = 7 ] && pass || fail "a cut connection is 7" "$(cat "$work/err")"
holds "again --continue" "$work/err" "how to go on"
r show --json >"$work/out"
holds '"partial":true' "$work/out" "what had arrived is kept"
printf '%s\n' '{"error":{"status":401,"message":"who are you"}}' >"$work/no"
r ask -m "builtin/play:$work/no" "again" >"$work/out" 2>"$work/err" </dev/null
[ $? = 4 ] && pass || fail "401 is 4" "$(cat "$work/err")"
holds "who are you" "$work/err" "in the server's words"

# A hook changes the question, another denies it.
mkdir -p "$XDG_CONFIG_HOME/retake/hooks/entry.before_add"
hook="$XDG_CONFIG_HOME/retake/hooks/entry.before_add/10-x"
cat >"$hook" <<'H'
#!/bin/sh
cat >/dev/null
echo '{"decision":"replace","patch":{"op":{"op":"entry.append","role":"User","content":"by a hook"}}}'
H
chmod +x "$hook"
r ask -q "mine" </dev/null >/dev/null 2>&1
r show --json >"$work/out"
holds '"by a hook"' "$work/out" "a hook's question"
printf '#!/bin/sh\ncat >/dev/null\necho "not today" >&2\nexit 2\n' >"$hook"
r ask "mine" >"$work/out" 2>"$work/err" </dev/null
[ $? = 8 ] && pass || fail "refused by a hook is 8" "$(cat "$work/err")"
holds "not today" "$work/err" "the hook's reason"
rm -r "$XDG_CONFIG_HOME/retake/hooks"

# Changes with side effects announce them first.
r role :2 User >"$work/out" 2>"$work/err"
holds "same role" "$work/err" "two of the same speaker"

# Continuing a reply does not add one, and the history says so.
r ask -m builtin/echo "one more" >/dev/null 2>&1
code "continue" 0 r again --continue -m builtin/echo
has "continue: says so" "Continued reply" "$err"
has "continue: in the history" "continued reply" "$(r history -n 1 2>&1 || r history | head -n 1)"
r undo >/dev/null
has "a new one is got" "got reply" "$(r history | grep 'now')"

# Images: a file's bytes become part of the conversation, and are sent in each provider's format.
printf '\211PNG\r\n\032\nbytes' >"$work/a.png"
printf 'GIF89a..' >"$work/no-name"
mkdir -p "$XDG_CONFIG_HOME/retake"
printf '[provider.%s]\nkind = "%s"\nurl = "http://169.254.1.1/v1"\n' near openai far gemini her ollama \
	>"$XDG_CONFIG_HOME/retake/config.toml" # the request fails: the question stays
count=$(r show --json | json 'len(d["entries"])')
code "an image that is none" 2 r ask -m near/m --image "$work/out" "What is this?"
has "an image that is none: says so" "is not a PNG, JPEG, GIF or WebP" "$err"
code "an image that is not there" 3 r ask -m near/m --image "$work/none.png" "What is this?"
code "an image without a question" 2 r ask -m near/m --send --image "$work/a.png"
code "a model takes none" 1 r ask -m builtin/text --image "$work/a.png" "What is this?"
has "a model takes none: says so" "builtin/text does not accept images" "$err"
for name in far her; do
	code "$name takes no address" 1 r ask -m $name/m --image https://example.org/a.png "What is this?"
	has "$name takes no address: says so" "image URLs" "$err"
done
r add --attach "$work/a.png" "What is this?" >/dev/null
code "a question that was added with an image" 1 r ask -m builtin/text --send
has "a question that was added with an image: says so" "builtin/text does not accept images" "$err"
code "again, too" 1 r again -m builtin/text :-1
is "the question keeps no failure" false "$(r show --json | json '"failure" in d["entries"][-1]')"
code "an image of an earlier entry" 0 r ask -m builtin/text "And now?"
has "an image of an earlier entry: reported" "image" "$err"
is "an image of an earlier entry is not sent" 0 "$(r context --sent | grep -c base64)"
has "a placeholder is sent instead" "[image]" "$(r context --sent)"
r undo 2 -q
has "echo receives it" "I received an image (PNG, 13 bytes)" "$(r ask -m builtin/echo --send)"
r undo 2 -q
is "nothing of it is kept" "$count" "$(r show --json | json 'len(d["entries"])')"
code "an image" 1 r ask -m near/m --image "$work/a.png" --image "$work/no-name" --image https://example.org/a.png "What is this?"
is "an image is kept" '["text", "image", "image", "image_url"]' \
	"$(r show --json | json '[b["type"] for b in d["entries"][-1]["content"]]')"
has "an image is shown as one" "(image a.png, image/png, 13 bytes; image no-name, image/gif, 8 bytes; an image)" "$(r show)"
has "openai" '{"type":"text","text":"What is this?"},{"type":"image_url","image_url":{"url":"data:image/png;base64,iVBORw0KGgpieXRlcw=="}},{"type":"image_url","image_url":{"url":"data:image/gif;base64,R0lGODlhLi4="}},{"type":"image_url","image_url":{"url":"https://example.org/a.png"}}' \
	"$(r context --provider openai)"
has "anthropic" '{"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw0KGgpieXRlcw=="}}' "$(r context --provider anthropic)"
has "anthropic, an address" '{"type":"image","source":{"type":"url","url":"https://example.org/a.png"}}' "$(r context --provider anthropic)"
has "gemini" '{"inlineData":{"mimeType":"image/png","data":"iVBORw0KGgpieXRlcw=="}}' "$(r context --provider gemini)"
has "gemini, an address is said" '{"text":"[image]"}' "$(r context --provider gemini)"
has "ollama" '"images":["iVBORw0KGgpieXRlcw==","R0lGODlhLi4="]' "$(r context --provider ollama)"
rm "$XDG_CONFIG_HOME/retake/config.toml"
r undo >/dev/null

# chat
printf 'one\n/undo\n/help\n/nonsense\ntwo\\\nlines\n/quit\n' | r chat >"$work/out" 2>"$work/err"
[ $? = 0 ] && pass || fail "chat" "$(cat "$work/err")"
holds 'You said: "two' "$work/out" "chat answers"

# A failed question stays, and "again" answers it, not the one before.
OPENAI_BASE_URL=http://127.0.0.1:9/v1 OPENAI_API_KEY=k \
	r ask --json -m openai/x "the kept one" >"$work/out" 2>"$work/err" </dev/null
[ $? = 7 ] && pass || fail "nobody answers is 7" "$(cat "$work/err")"
holds '"question":"' "$work/out" "the kept question is named"
r takes --json >"$work/before"
r again >"$work/out" 2>"$work/err" </dev/null
holds 'You said: "the kept one"' "$work/out" "again answers what was kept"
r takes --json >"$work/after"
[ "$(grep -o '"name"' "$work/before" | wc -l)" = "$(grep -o '"name"' "$work/after" | wc -l)" ] &&
	pass || fail "no take was made for it" "$(cat "$work/after")"
first=$(r show --json | grep -o '"id":"[^"]*"' | head -n 1 | cut -d '"' -f 4)
r ask --send --at "$first" >"$work/out" 2>"$work/err" </dev/null
holds "in the new take" "$work/err" "ask --send --at"

# If standard input stays open, the program says that it is reading it.
mkfifo "$work/open"
rm "$work/err"
r ask "and now?" <"$work/open" >"$work/out" 2>"$work/err" &
exec 9>"$work/open"
tries=0
until grep -qs "reading standard input" "$work/err" || [ $tries -ge 1200 ]; do
	tries=$((tries + 1))
	sleep 0.05
done
exec 9>&-
wait
holds "reading standard input" "$work/err" "an input that nobody closes"

# Another store has the same ids and record numbers, but its own requests.
(cd "$work" && mkdir -p a b && for place in a b; do
	(cd "$place" && "$RETAKE" --db s.db ask -q -m builtin/echo "said in $place" </dev/null 2>/dev/null)
done)
for place in a b; do
	(cd "$work/$place" && "$RETAKE" --db s.db replay @) >"$work/out" 2>"$work/err"
	holds "said in $place" "$work/out" "replay in $place"
	[ -s "$work/err" ] && fail "replay in $place is to the byte" "$(cat "$work/err")" || pass
done
(cd "$work/a" && "$RETAKE" --db n.db add -q hi 2>/dev/null
	"$RETAKE" --db n.db add -q -r AI ho && "$RETAKE" --db n.db replay @) >"$work/out" 2>"$work/err"
[ $? = 3 ] && pass || fail "nothing was asked there" "$(cat "$work/out" "$work/err")"

# If libcurl cannot be loaded, this is reported, and the question stays.
mkdir "$work/junk"
for name in libcurl.so.4 libcurl-gnutls.so.4 libcurl-nss.so.4 libcurl.so; do
	echo junk >"$work/junk/$name"
done
LD_LIBRARY_PATH=$work/junk OPENAI_BASE_URL=http://127.0.0.1:9/v1 OPENAI_API_KEY=k \
	r ask -m openai/x "no library" >"$work/out" 2>"$work/err" </dev/null
[ $? = 7 ] && pass || fail "no libcurl is 7" "$(cat "$work/err")"
holds "install it (Debian: libcurl4)" "$work/err" "no libcurl"
LD_LIBRARY_PATH=$work/junk r ask -q "without the net" </dev/null >"$work/out" 2>"$work/err"
[ $? = 0 ] && pass || fail "a built-in model needs no libcurl" "$(cat "$work/err")"

# An unterminated line is not lost, and errors are reported once.
printf 'one\000more\n' | r chat >"$work/out" 2>"$work/err"
holds 'more' "$work/out" "a NUL ends no line"
printf '\377\n' | r chat >"$work/out" 2>"$work/err"
holds "not valid UTF-8 (at byte 1)" "$work/err" "not UTF-8"
printf '/again 3\n' | r chat >"$work/out" 2>"$work/err"
[ "$(grep -c "takes no number" "$work/err")" = 1 ] && pass ||
	fail "one mistake, said once" "$(cat "$work/err")"

# auto_add_history off: the exchange has a separate take, and is in no later request.
r set auto_add_history false -q
r show --json >"$work/before"
r ask "An aside" >"$work/out" 2>"$work/err"
holds 'You said: "An aside"' "$work/out" "an exchange that is not added is shown"
holds "auto_add_history is off" "$work/err" "it says that it is not added"
r show --json >"$work/out"
cmp -s "$work/before" "$work/out" && pass || fail "the take and its head stay" "$(cat "$work/out")"
r ask "Another" >"$work/out" 2>"$work/err"
r context --json >"$work/out"
grep -qF "An aside" "$work/out" && fail "it is not sent later" "$(cat "$work/out")" || pass
$(sed -n 's/.*continue it: retake/r/p' "$work/err") >"$work/out" 2>&1
r show >"$work/out"
holds "Another" "$work/out" "and how to go on with it is true"
r -q new fresh
r ask "First" >"$work/out" 2>"$work/err"
r show --json >"$work/out"
holds '"count":0' "$work/out" "also where the take is empty"
r set auto_add_history true -q
r ask "Second" >"$work/out" 2>"$work/err"
r show --json >"$work/out"
holds '"count":2' "$work/out" "true adds it again"

r models --json >"$work/out"
holds '"provider":"ollama"' "$work/out" "models"
r models builtin >"$work/out"
holds "builtin/echo" "$work/out" "models of a provider"
# --- tokens and model of a reply ---
printf '%s\n' '{"text":"Counted."}' '{"wait_ms":60}' '{"usage":{"input_tokens":1204,"output_tokens":310,"cache_read_input_tokens":1000}}' >"$work/counted"
r ask -m "builtin/play:$work/counted" "how many?" >/dev/null 2>"$work/err" </dev/null
holds "1,204 tokens in, 310 out" "$work/err" "ask: tokens"
r show -v @ >"$work/out"
holds "usage: 1,204 tokens in, 310 out, 1,000 from the cache" "$work/out" "show -v: tokens in words"
holds "    model: builtin/play:" "$work/out" "show -v: the model"
holds "1,000 from the cache   duration: " "$work/out" "show -v: how long it took"
is "show --json: how long it took" true "$(r show --json @ | json '60 <= d["duration_ms"] < 60000')"
r show --json @ >"$work/out"
holds '"usage":{"input_tokens":1204,"output_tokens":310,"cache_read_input_tokens":1000}' "$work/out" "show --json: tokens"
holds '"model":"play' "$work/out" "show --json: the model"
printf '%s\n' '{"op":"entry.append","role":"AI","content":"x","usage":{"own":7}}' \
	'{"op":"entry.append","role":"AI","content":"y","usage":{"input":7,"output":1000,"cacheRead":0}}' | r apply >/dev/null
r show -v @ >"$work/out"
holds "usage: 7 tokens in, 1,000 out" "$work/out" "show -v: the names of pi"
hasnt "show -v: no duration of a reply that was not received" "duration" "$(cat "$work/out")"
for took in "999=999 ms" "2450=2.4 s" "48900=48 s" "185000=3 min 5 s"; do
	printf '%s\n' "{\"op\":\"entry.append\",\"role\":\"AI\",\"content\":\"z\",\"duration_ms\":${took%%=*}}" | r apply >/dev/null
	has "show -v: ${took#*=}" "    duration: ${took#*=}" "$(r show -v @)"
	r -q undo
done
hasnt "no cache, no word of it" "cache" "$(cat "$work/out")"
r show -v :-2 >"$work/out"
holds 'usage: {"own":7}' "$work/out" "show -v: names that are not known"

# --- the conclusions of another take ---
db=$work/merge.db
r set model builtin/echo -q
r add -q "Which store?"
r add -q "PostgreSQL is what we know."
r go -q :1
r add -q "Is SQLite enough?"
r add -q -r AI "SQLite is enough: one writer."
r takes switch main -q
r merge-take main_take_1 --json >"$work/out" 2>"$work/err" </dev/null
holds '"entries":2' "$work/out" "merge-take --json"
r show --json >"$work/out"
holds '"kind":"branch_summary"' "$work/out" "merge-take: an entry"
holds 'one writer' "$work/out" "merge-take: what was concluded"
holds '"from_take":"main_take_1"' "$work/out" "merge-take: its source"
holds '"count":3' "$work/out" "merge-take: one entry"
r undo -q
r show --json >"$work/out"
holds '"count":2' "$work/out" "merge-take: one step"
r merge-take t2 >"$work/out" 2>"$work/err" </dev/null
holds 'Summarised 2 entries of the take "t2" in ' "$work/err" "merge-take: for people"
code "merge-take: itself" 1 r merge-take main
has "merge-take: itself" "cannot be merged into itself" "$err"
code "merge-take: unknown" 3 r merge-take nowhere
has "merge-take: unknown" "Takes: retake " "$err"

# --- takes are named by the words in which they differ ---
db=$work/named.db
r set model builtin/echo -q
r add -q "Which store?"
r add -q "We should use PostgreSQL for this"
r go -q :1
r add -q "We should use SQLite for this"
is "titles of takes" '["…PostgreSQL for this", "…SQLite for this"]' "$(r takes --json | json '[t["title"] for t in d]')"
r takes rename main_take_1 small -q
is "a chosen name counts" '["…PostgreSQL for this", null]' "$(r takes --json | json '[t.get("title") for t in d]')"
r ask --send >/dev/null 2>&1 </dev/null
r again >/dev/null 2>&1 </dev/null
is "again: another reply, no more" '[null, null, "t2"]' "$(r takes --json | json '[t.get("another_reply") for t in sorted(d, key=lambda t: t["id"])]')"
r add -q "Go on"
is "which becomes a separate take" '[null, null, null]' "$(r takes --json | json '[t.get("another_reply") for t in d]')"

# --- titles ---
db=$work/titles.db
mkdir -p "$XDG_CONFIG_HOME/retake"
echo 'title_model = "builtin/summary"' >"$XDG_CONFIG_HOME/retake/config.toml"
r ask -m builtin/echo "Why is the sky blue?" >"$work/out" 2>"$work/err" </dev/null
holds 'Title: ' "$work/err" "title_model: the title is said"
[ "$(r ls --json | json 'd[0]["title"]')" = "$(sed -n 's/^Title: //p' "$work/err")" ] && pass || fail "title_model: it is listed" "$(r ls)"
r ask -m builtin/echo "And the sea?" >"$work/out" 2>"$work/err" </dev/null
hasnt "title_model: once" 'Title: ' "$(cat "$work/err")"
r -q new mine
r ask -m builtin/echo "Named" >"$work/out" 2>"$work/err" </dev/null
hasnt "title_model: a chosen name stays" 'Title: ' "$(cat "$work/err")"
echo 'title_model = "builtin/nothing"' >"$XDG_CONFIG_HOME/retake/config.toml"
r -q new
code "title_model: an unknown one does no harm" 0 r ask -m builtin/echo "Here?"
has "title_model: an unknown one is noted" 'cannot generate a title' "$err"
rm "$XDG_CONFIG_HOME/retake/config.toml"
r fsck >/dev/null 2>&1 && pass || fail "fsck" ""
finish
