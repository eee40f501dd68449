#!/bin/sh
# SPDX-License-Identifier: MIT
#
# export --redact on the command line: keys in every place that can contain text, and the bytes of
# every format. None of the keys is real.
. "$(dirname "$0")/lib.sh"

ant=sk-ant-api03-Zx8Qw2Lm4Nb6Vc0Kj9Hg7Fd5Sa3Po1Iu-AA
gh=ghp_Zx8Qw2Lm4Nb6Vc0Kj9Hg7Fd5Sa3Po1IuZx8Q
mine=local-key-without-a-look
needles='Zx8Qw2Lm4Nb6Vc0K|hunter2x|local-key-without|/home/alice|/Users/bob|WlpaeDhRdzJM'

mkdir -p "$XDG_CONFIG_HOME/retake" "$work/keys"
printf '%s\n' "$mine" >"$work/keys/local"
chmod 600 "$work/keys/local"
cat >"$XDG_CONFIG_HOME/retake/config.toml" <<END
[provider.local]
kind = "openai"
url = "http://127.0.0.1:9/v1"
key_file = "$work/keys/local"
END

r new "notes of $gh" >/dev/null 2>&1
r -q add -r User "my key is $ant, and git log is in /home/alice/src"
r -q add -r "AI $gh" "see postgres://me:hunter2x@db/x, and use $mine"
r -q label :2 "by $gh"
r -q branch :2 "take $gh"
r -q add -r User "curl -H 'Authorization: Bearer Zx8Qw2Lm4Nb6Vc0Kj9Hg'"
r -q prompt set "the key: $ant"
r -q set project_system_prompt "you have $ant, in /Users/bob/x"
r -q roles add "Role $gh"
printf '{"op":"entry.append","role":"AI","content":[{"type":"toolCall","id":"c1","name":"bash","arguments":{"command":"curl -u x:y","env":{"PASSWORD":"hunter2x","note":"%s"},"deep":"{\\"k\\":\\"%s\\"}"}}]}\n' "$ant" "$gh" |
	r -q apply >/dev/null
printf '{"op":"entry.append","role":"Tool","content":"%s"}\n' \
	"$(printf 'user data ZZZx8Qw2Lm4Nb6 %s end' "$ant" | base64 -w0)" | r -q apply >/dev/null
r -q add -r User 'commit aec25b3f0d3c1b2a49586776655443322110ffee, max_tokens: 4096'
before=$(r export --format canonical)
planted=$(printf '%s' "$before" | grep -oE "$needles" | wc -l)
is 'they are planted' yes "$([ "$planted" -gt 15 ] && echo yes || echo "$planted")"

for format in canonical html toml markdown openai pi; do
	for more in '' --all --lossless '--all --lossless'; do
		# shellcheck disable=SC2086
		code "$format $more" 0 r export --format $format $more --redact
		has "$format $more says so" 'redacted: ' "$err"
		has "$format $more marks them" '[redacted: ' "$out"
		is "$format $more: none is left" '' "$(printf '%s' "$out" | grep -oE "$needles" | sort -u | tr '\n' ' ')"
	done
done
code 'the store stays as it was' 0 r export --format canonical
is 'the store stays as it was' "$before" "$out"
for take in main; do
	code 'one discussion' 0 r export --format html -d main --redact
	is 'none of another one' '' "$(printf '%s' "$out" | grep -oE "$needles" | sort -u)"
done
code 'a past state' 0 r export --format canonical --redact --at-op 4
is 'none of the past' '' "$(printf '%s' "$out" | grep -oE "$needles" | sort -u)"

# --- text that is not a secret stays ---
code 'hashes stay' 0 r export --format markdown --redact
has 'hashes stay' 'aec25b3f0d3c1b2a49586776655443322110ffee, max_tokens: 4096' "$out"

# --- preview ---
code 'a preview' 0 r export --format html --redact -n
has 'with kinds' 'api key ' "$out"
has 'and counts' 'Would be: ' "$out"
has 'a key of the configuration' 'configured key' "$out"
is 'that shows none of them' '' "$(printf '%s' "$out" | grep -oE "$needles" | sort -u)"
hasnt 'and writes nothing' '<html' "$out"
is 'as JSON' true "$(r export --format html --redact -n --json | json 'd["entries"] >= 4 and d["kinds"]["api key"] > 3 and len(d["items"]) == d["places"]')"
code 'to a file' 0 r export -o "$work/plain.md"
has 'a file with secrets says so' 'possible secrets; to replace them: ' "$err"
code 'redacted, to a file' 0 r export -o "$work/hidden.md" --redact
hasnt 'a redacted one does not' 'possible secret' "$err"
code 'for --redact alone' 2 r export --format html --emails
code 'for --redact alone' 2 r export --format html -n
r -q add -r User 'write to alice@example.org'
has 'addresses stay' alice@example.org "$(r export --format html --redact 2>/dev/null)"
hasnt 'unless they are named' alice@example.org "$(r export --format html --redact --emails 2>/dev/null)"

# --- an imported export is another discussion, and is marked as redacted ---
for format in html canonical pi; do
	code "$format out" 0 r export --format $format --all --lossless -d "$(r ls --json | json '[x["id"] for x in d if x["active"]][0]')" --redact -o "$work/red.$format" --force
	code "$format in again" 0 r import "$work/red.$format"
	hasnt "$format is not known" 'nothing new' "$out"
	has "$format is new" '1 discussion' "$out"
done
is 'other formats do not say so' '' "$(grep -oE "$needles" "$work/red.html" "$work/red.canonical" "$work/red.pi" | sort -u)"
r new other >/dev/null 2>&1
code 'a preview of nothing' 0 r export --format markdown --redact -n
is 'promises no more than it can' 'There is: nothing that looks like a secret.' "$out"
"$RETAKE" --db "$work/new.db" import "$work/red.canonical" >/dev/null
has 'it says that it was redacted' '"redacted":{"entries":' "$(cat "$work/red.canonical")"
has 'a page, too' 'Redacted: ' "$(cat "$work/red.html")"
# its own exports are no longer marked: new keys may have been added
"$RETAKE" --db "$work/new.db" -q add -r User "now $ant" >/dev/null
for format in canonical html toml openai pi; do
	code "$format, not redacted" 0 "$RETAKE" --db "$work/new.db" export --format $format --all --lossless
	hasnt "$format: does not say that it was" '"redacted":' "$out"
	hasnt "$format: nor to people" 'Redacted: ' "$out"
done
code 'redacted again' 0 "$RETAKE" --db "$work/new.db" export --format canonical --redact
has 'it reports the current redactions' '"redacted":{"entries":1,' "$out"
code 'sound' 0 "$RETAKE" --db "$work/new.db" fsck

# --- hooks run first; their output is redacted ---
cat >"$work/hook" <<'END'
#!/bin/sh
cat >/dev/null
exit 2
END
chmod 700 "$work/hook"
printf '[[hook]]\nevent = "export.before"\nrun = ["%s"]\n' "$work/hook" >>"$XDG_CONFIG_HOME/retake/config.toml"
code 'a hook that says no' 8 r export --format html --redact
is 'and nothing goes out' '' "$out"

finish
