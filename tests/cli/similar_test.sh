#!/bin/sh
# SPDX-License-Identifier: MIT
#
# search --similar: by meaning, with a server of embeddings (tests/llm/embed_server.py).
. "$(dirname "$0")/lib.sh"

log=$work/requests
mkfifo "$work/in"
"$python" "$root/tests/llm/embed_server.py" "$log" <"$work/in" >"$work/port" &
exec 9>"$work/in" # the server ends with this script
until [ -s "$work/port" ]; do sleep 0.05; done
port=$(cat "$work/port")
config=$XDG_CONFIG_HOME/retake/config.toml
mkdir -p "$XDG_CONFIG_HOME/retake"

configure() { # configure MODEL
	cat >"$config" <<-EOS
		embedding_model = "local/$1"
		[provider.local]
		kind = "openai"
		url = "http://127.0.0.1:$port/v1"
		key_env = "EMBED_KEY"
	EOS
}
found() { # the ids of the results, the best first
	r search --similar --json "$@" | json '" ".join(h["id"] for h in d)'
}
requests() {
	if [ -e "$log" ]; then wc -l <"$log" | tr -d ' '; else echo 0; fi
}
sent() { # sent EXPR over d, the list of requests
	"$python" -c 'import json, sys
print(json.dumps([json.loads(line) for line in open(sys.argv[1])]))' "$log" | json "$1"
}
EMBED_KEY=secret-embed-key
export EMBED_KEY

apply '{"op":"entry.append","role":"User","id":"cat","content":"The kitten chases a mouse.","ts":"2026-01-01T00:00:00Z"}' \
	'{"op":"entry.append","role":"AI","id":"sql","content":"SQLite keeps a journal beside each table.","ts":"2026-02-01T00:00:00Z"}' \
	'{"op":"entry.append","role":"User","id":"bread","content":"Bake the dough in a hot oven.","ts":"2026-03-01T00:00:00Z"}' \
	'{"op":"entry.append","role":"AI","id":"moon","content":"The lander reached the moon.","ts":"2026-04-01T00:00:00Z"}' >/dev/null

# Without a model.
code 'no model' 1 r search --similar feline
has 'no model' 'requires an embedding_model in config.toml' "$err"
has 'no model: what to write' 'Add embedding_model = "PROVIDER/MODEL"' "$err"
echo 'embedding_model = "anthropic/x"' >"$config"
code 'a provider without embeddings' 1 r search --similar feline
has 'a provider without embeddings' 'Anthropic does not offer embeddings' "$err"
echo 'embedding_model = "nowhere/x"' >"$config"
code 'an unknown provider' 3 r search --similar feline
code 'words do not need it' 0 r search kitten
is 'nothing was sent' 0 "$(requests)"

# No word in common.
configure 64
is 'by meaning' cat "$(found feline purr | cut -d' ' -f1)"
is 'another subject' sql "$(found index, store | cut -d' ' -f1)"
is 'all texts are ranked' 4 "$(found index store | wc -w | tr -d ' ')"
is 'a number of results' sql "$(found index store -l 1)"
is 'each text is sent once' 1 "$(sent 'sum("The lander reached the moon." in q["input"] for q in d)')"
is 'the path' '/v1/embeddings' "$(sent 'd[0]["path"]')"
is 'the key' 'Bearer secret-embed-key' "$(sent 'd[0]["key"]')"
is 'a similarity' True "$(r search --similar --json whiskers | json 'str(0.9 < d[0]["similarity"] <= 1)')"
is 'words have none' False "$(r search --json kitten | json 'str("similarity" in d[0])')"

# Filters, phrases, exclusions and expressions.
is 'role' moon "$(found 'feline role:AI' | tr ' ' '\n' | grep -v sql)"
is 'the flag for roles' 'moon' "$(found feline purr -r AI | tr ' ' '\n' | grep moon)"
is 'times' 'moon bread' "$(found 'rocket after:2026-02-15')"
is 'a phrase' bread "$(found 'feline "hot oven"')"
is 'an exclusion' bread "$(found 'yeast -kitten' -l 1)"
hasnt 'an exclusion' cat "$(found 'yeast -kitten')"
is 'an expression' moon "$(found 'yeast /reach(ed|es)/')"
is 'the words of the request' 'yeast' "$(sent 'd[-1]["input"][0]')"
code 'no words' 2 r search --similar 'role:AI "hot oven"'
has 'no words' 'requires words' "$err"
r -d other add "The space rocket on its orbit." -q 2>/dev/null || { r new other -q && r -d other add "The space rocket on its orbit." -q; }
is 'one discussion' moon "$(found launch -d main -l 1)"
is 'a discussion by name' 1 "$(found 'launch in:other' | wc -w | tr -d ' ')"

# An entry with the words is first, although others are more similar; each entry is found once.
once() { # are all entries of the results different?
	r search --similar --json "$@" | json 'str(len(d) == len({(h["discussion"], h["id"]) for h in d}))'
}
r -d other add 'A chunky lander of the sqlite table, the index and the journal.' -q
words=$(r -d other show --json :-1 | json 'd["id"]')
is 'words and meaning' "$words" "$(found chunky lander -l 1)"
is 'words and meaning: the words are marked' '["chunky", "lander"]' \
	"$(r search --similar --json chunky lander -l 1 | json '[d[0]["snippet"][a:a+n] for a, n in d[0]["marks"]]')"
is 'words and meaning: a similarity' True "$(r search --similar --json chunky lander -l 1 | json 'str("similarity" in d[0])')"
is 'then what is similar' moon "$(found chunky lander -d main | cut -d' ' -f1)"
is 'each entry once' True "$(once chunky lander)"
r -d other add 'A zebra.' -q
code 'a text that was not sent' 0 r --read-only search --similar --json zebra
is 'a text that was not sent' 'A zebra. False' "$(echo "$out" | json 'd[0]["snippet"] + " " + str("similarity" in d[0])')"
hasnt 'filters apply to the words' "$words" "$(found chunky lander role:AI)"
r -d other undo 2 -q

# Edits, undo, deletion.
r -d main edit cat "An essay on flour." -q
is 'an edited text' cat "$(found crust -l 3 | tr ' ' '\n' | grep cat)"
is 'the old text' 0.5 "$(r search --similar --json whiskers | json 'str(max(0.5, *(h["similarity"] for h in d)))')"
is 'the old text, on request' cat "$(found 'whiskers past:yes' -l 1)"
is 'each entry once, whatever its version' True "$(once 'kitten past:yes')"
r -d main undo -q
is 'undo' cat "$(found whiskers -l 1)"
n=$(requests)
r -d main redo -q
r -d main undo -q
is 'undo sends nothing' cat "$(found whiskers -l 1)"
is 'undo sends nothing' "$((n + 1))" "$(requests)"
r -d main delete moon -q
hasnt 'a deleted entry' moon "$(found lander)"
r -d main undo -q
r -d main mute moon -q
is 'a muted entry' moon "$(found lander -l 2 | tr ' ' '\n' | grep moon)"

# A long text is found by its best passage.
"$python" -c 'words = " ".join(f"w{i}" for i in range(400))[:1490]
print(words + "\n\nThe yeast in the crust.\n\n" + words)' | r -d main add -r AI - -q
is 'a passage' True "$(r search --similar --json 'yeast crust' | json 'str(any("yeast" in h["snippet"] for h in d))')"
is 'passages are short' True "$(sent 'str(max(len(t) for q in d for t in q["input"]) <= 1500)')"

# On a terminal and with index.
out=$(r search --similar lander -l 2)
has 'for people' 'The *lander* reached the moon.' "$out"
i=0
while [ $i -lt 300 ]; do
	echo '{"op":"entry.append","role":"User","content":"Note '$i' on the table."}'
	i=$((i + 1))
done | r apply >/dev/null
code 'many new texts' 0 r search --similar lander
has 'many new texts' 'texts are not searched yet. To embed them: retake' "$err"
code index 0 r index
has index 'for search by meaning' "$out"
code 'all are embedded' 0 r search --similar lander
is 'all are embedded' '' "$err"
code 'read only' 0 r --read-only search --similar lander

code 'doctor' 0 r doctor
has 'doctor' 'all texts are sent to this model' "$out"

# Purge.
vector_of_moon() { # is the vector in the store's files? Its bytes are in the first part.
	"$python" - "$db" "$work/vector" <<-'EOS'
		import glob, os, sqlite3, sys
		if not os.path.exists(sys.argv[2]):
		    row = sqlite3.connect(sys.argv[1]).execute(
		        "SELECT data FROM side WHERE name = CAST('#vectors.b00000000000' AS BLOB)").fetchone()[0]
		    open(sys.argv[2], "wb").write(row[3 * 68 + 4:4 * 68])
		wanted = open(sys.argv[2], "rb").read()
		assert len(wanted) == 64
		print(any(wanted in open(name, "rb").read() for name in glob.glob(sys.argv[1] + "*")))
	EOS
}
is 'the vector is stored' True "$(vector_of_moon)"
r -d main purge moon --yes -q >/dev/null
is 'purge erases the vector' False "$(vector_of_moon)"
hasnt 'purged' moon "$(found lander)"
code 'fsck' 0 r fsck

# Another model or other dimensions start again.
configure 96
is 'other dimensions' cat "$(found feline whiskers -l 1)"
code 'other dimensions' 0 r index
is 'the new model' '96' "$(sent 'd[-1]["model"]')"
is 'all again' cat "$(found feline whiskers -l 1)"

# A server that fails.
configure 96-down
n=$(requests)
code 'a server that fails' 7 r search --similar feline
has 'a server that fails' 'the model is loading' "$err"
hasnt 'no key in messages' secret-embed-key "$err"
code 'words do not need it' 0 r search kitten
configure 96-few
code 'too few vectors' 7 r search --similar feline
has 'too few vectors' 'did not return' "$err"
configure 32-refuse
r -d main add "A poison table." -q
code 'a refused text is left out' 0 r index
is 'the others are found' cat "$(found feline whiskers -l 1)"
configure 32-short
code 'texts that are too long are cut' 0 r index
is 'texts that are too long are cut' cat "$(found feline whiskers -l 1)"

finish
