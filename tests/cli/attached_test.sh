#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Attachments of entries: stored once, sent in each provider's format, exported, undone, purged.
. "$(dirname "$0")/lib.sh"

blobs() { # number of files in the store
	"$python" - "$db" <<'EOF'
import sqlite3, sys
print(sqlite3.connect(sys.argv[1]).execute("select count(*) from side where cast(name as text) like 'blob/%'").fetchone()[0])
EOF
}
sent() { # sent PROVIDER: the request
	r context -q --provider "$1"
}

cd "$work" || exit 1
printf '%%PDF-1.4 a secret plan' >paper.pdf
printf '\211PNG\r\n\032\n rest' >shot.png
printf 'one line\n' >note.txt
printf 'a\000b' >raw.bin
: >empty.txt

# --- stored and shown ---
code 'add' 0 r add --attach paper.pdf --attach note.txt --attach shot.png 'What is this?'
code 'show' 0 r show
has 'show names them' '(file paper.pdf, application/pdf, 22 bytes; file note.txt, text/plain, 9 bytes; image shot.png, image/png, 13 bytes)' "$out"
is 'types' '["text", "file", "file", "image"]' "$(r show --json :1 | json '[b["type"] for b in d["content"]]')"
is 'three files are stored' 3 "$(blobs)"
code 'add the same file' 0 r add --attach note.txt 'Again.'
is 'one file is stored once' 3 "$(blobs)"
code 'edit' 0 r edit :1 'What is that?'
has 'an edit keeps them' 'file paper.pdf' "$(r show)"
code 'fsck' 0 r fsck

# --- sent in each provider's format ---
pdf=$(base64 -w0 paper.pdf)
has 'OpenAI' '{"type":"file","file":{"filename":"paper.pdf","file_data":"data:application/pdf;base64,'"$pdf"'"}}' "$(sent openai)"
has 'Anthropic' '{"type":"document","title":"paper.pdf","source":{"type":"base64","media_type":"application/pdf","data":"'"$pdf"'"}}' "$(sent anthropic)"
has 'Gemini' '{"inlineData":{"mimeType":"application/pdf","data":"'"$pdf"'"}}' "$(sent gemini)"
has 'Ollama: a placeholder' '[file paper.pdf]' "$(sent ollama)"
for provider in openai anthropic gemini ollama; do
	has "$provider: a text is a fenced block" 'File `note.txt`:\n\n```\none line\n```' "$(sent $provider)"
	has "$provider: the image" "$(base64 -w0 shot.png)" "$(sent $provider)"
done
code 'what is not sent' 0 r context --provider ollama
has 'is reported' 'file' "$err"

# --- exported and imported ---
code 'canonical' 0 r export --format canonical
printf '%s\n' "$out" >all.json
has 'the bytes are in the export' "$pdf" "$out"
hasnt 'no reference to the store' 'sha256' "$out"
RETAKE_DB=$work/other.db "$RETAKE" import -q all.json
is 'the same after import' "$(cat all.json)" "$(RETAKE_DB=$work/other.db "$RETAKE" export --format canonical)"
is 'the same request' "$(sent anthropic)" "$(RETAKE_DB=$work/other.db "$RETAKE" context -q --provider anthropic)"
code 'openai' 0 r export --format openai
has 'OpenAI has the file' '"file_data":"data:application/pdf;base64,'"$pdf" "$out"

# --- undone ---
is 'before' 2 "$(r show --json | json 'd["count"]')"
r undo -q 3
is 'undo removes the entry' 0 "$(r show --json | json 'd["count"]')"
r redo -q 3
has 'redo restores it with its files' 'file paper.pdf' "$(r show)"

# --- purged ---
code 'purge of an entry' 0 r purge --yes :1
has 'says so' '2 attached files removed' "$out"
is 'a file of another entry stays' 1 "$(blobs)"
hasnt 'nothing is left of it' 'secret plan' "$(cat "$db" "$db"-wal 2>/dev/null | tr -d '\000')"
code 'purge of a text' 0 r purge --yes --text 'one line'
has 'says so, too' '1 attached file removed' "$out"
is 'none is left' 0 "$(blobs)"
has 'the request says so' '[purged]' "$(sent openai)"
code 'export of a purged file' 0 r export --format canonical
has 'and the export' '"purged":true' "$out"
code 'fsck after purge' 0 r fsck

# --- unused and missing files ---
drop() { # drop NAME…: side rows of the store
	"$python" - "$db" "$1" <<'EOF'
import sqlite3, sys
store = sqlite3.connect(sys.argv[1])
store.execute("delete from side where cast(name as text) like ? || '%'", (sys.argv[2],))
store.commit()
EOF
}
printf 'used' >used.txt
printf 'unused' >unused.txt
r add -q --id used --attach used.txt x
code 'an entry that cannot be added' 1 r add --id used --attach unused.txt x
code 'its file may be used yet' 0 r fsck
hasnt 'and is not reported' 'file-unused' "$out"
drop blob-new/
code 'a week later' 0 r fsck
has 'it is' 'file-unused' "$out"
code 'repair' 0 r repair
has 'removes it' 'Removed 1 file that nothing referred to.' "$out"
is 'and keeps the other' 1 "$(blobs)"
drop blob/
code 'a missing file' 1 r fsck
has 'is reported' 'file-missing' "$out"
is 'repair gives it up' '[1, 0]' "$(r repair --json | json '[d["files_lost"], d["files_removed"]]')"
code 'nothing is left to report' 0 r fsck

# --- errors change nothing, and create no store ---
db=$work/none.db
code 'a missing file' 3 r add --attach gone.pdf x
code 'an empty file' 2 r add --attach empty.txt x
has 'is named' 'empty.txt is empty' "$err"
code 'not an image' 2 r ask --image note.txt x
code 'a file without a question' 2 r ask --send --attach note.txt
dd if=/dev/zero of=large.bin bs=1M count=33 2>/dev/null
code 'too large' 1 r add --attach large.bin x
has 'the limit is named' '32 MiB' "$err"
is 'no store' no "$(test -e "$db" && echo yes || echo no)"
code 'a file that no model reads' 1 r ask -m builtin/echo --attach raw.bin x
has 'says why' 'raw.bin cannot be sent: it is neither text nor a PDF' "$err"
code 'a PDF that the provider does not accept' 1 r ask -m builtin/text --attach paper.pdf x
has 'says what to do' 'attach the text of the file instead, or choose another model' "$err"
is 'the question was not added' 0 "$(r show --json | json 'd["count"]')"
code 'a text goes to any model' 0 r ask -m builtin/echo --attach note.txt x

# --- in a chat ---
printf '/attach note.txt\nfirst\nsecond\n/attach gone.pdf\n' | r chat -m builtin/echo >chat.out 2>chat.err
is 'a missing file' 3 $?
has 'it lists the attachments' 'attached: note.txt, text/plain, 9 bytes' "$(cat chat.err)"
is 'to the next message only' '["x", ["text", "file"], "first", ["text", "file"], "second", ["text"]]' "$(r show --json | json \
	'[x for e in d["entries"] if e["role"] == "User" for b in [e["content"]] for x in ((b, ["text"]) if isinstance(b, str) else (b[0]["text"], [p["type"] for p in b]))]')"
finish
