#!/bin/sh
# SPDX-License-Identifier: MIT
#
# export --format csv and text. Python's csv module, which is strict here, is the judge.
. "$(dirname "$0")/lib.sh"

r -q add -r User '=HYPERLINK("http://evil.example/","x")'
printf 'a, "b"\r\nc\n' | r -q add -r AI -
r -q label :2 '+1'
r -q mute :1
r -q add -r User 'plain'
r -q go :2
r -q add -r User -- '-other'
r -q edit :3 '@edited'

cat >"$work/rows.py" <<'END'
import csv, json, sys
bytes = open(sys.argv[1], "rb").read()
rows = list(csv.DictReader(bytes.decode("utf-8").splitlines(keepends=True), strict=True))
assert bytes.endswith(b"\r\n") and b"\0" not in bytes
print(json.dumps(rows))
END
column() { # column NAME: its values, as JSON
	python3 "$work/rows.py" "$work/out.csv" | json "[row[\"$1\"] for row in d]"
}

code 'csv' 0 r export -o "$work/out.csv"
is 'the columns' 'discussion,take,number,id,parent,role,kind,time,muted,edited,label,text' \
	"$(head -n 1 "$work/out.csv" | tr -d '\r')"
is 'formulas get an apostrophe, other texts are unchanged' \
	'["'"'"'=HYPERLINK(\"http://evil.example/\",\"x\")", "a, \"b\"\r\nc", "'"'"'@edited"]' "$(column text)"
is 'labels, too' '["", "'"'"'+1", ""]' "$(column label)"
is 'numbers' '["1", "2", "3"]' "$(column number)"
is 'muted' '["1", "0", "0"]' "$(column muted)"
is 'edited' '["0", "0", "1"]' "$(column edited)"
is 'parents' "$(column id | sed 's/^\[/["", /; s/, "[^"]*"\]$/]/')" "$(column parent)"
r -q export --all -f -o "$work/out.csv"
is 'all takes: each entry once' 4 "$(column id | tr ',' '\n' | sort -u | wc -l | tr -d ' ')"
is 'all takes: their names' '["main_take_1", "main_take_1", "main_take_1", "main"]' "$(column take)"
r -q new Second
r -q add -r User 'second text'
r -q export -f -o "$work/out.csv"
is 'one discussion' '["Second"]' "$(column discussion)"
r -q export --all-discussions -f -o "$work/out.csv"
is 'all discussions' '["main", "main", "main", "Second"]' "$(column discussion)"
is 'all discussions: one head' 1 "$(grep -c '^discussion,' "$work/out.csv")"
r -q export --all-discussions --all -f -o "$work/out.csv"
is 'all discussions, all takes' 5 "$(column id | tr ',' '\n' | sort -u | wc -l | tr -d ' ')"
code 'all discussions and one' 2 r export --format csv --all-discussions -d main
code 'a format of one discussion' 2 r export --format codex --all-discussions
has 'a format of one discussion' 'can contain only one conversation, not 2' "$err"
code 'pi, too' 2 r export --format pi --all-discussions
r -q use main

# --- plain text ---
is 'text' "main

User, TIME (muted):

=HYPERLINK(\"http://evil.example/\",\"x\")

AI, TIME:

$(printf 'a, "b"\r\nc')

User, TIME:

@edited" "$(r export --format text | sed 's/20[0-9-]*T[0-9:.]*Z/TIME/')"
code 'text: by the name of a file' 0 r export -o "$work/out.txt"
code 'a table is not imported' 2 r import "$work/out.csv" --format csv
has 'a table is not imported' 'can export but not import' "$err"
finish
