#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Read-only commands while another program writes with short commands, each of which creates and
# removes the write-ahead log: every read succeeds, and none is duplicated or truncated.
. "$(dirname "$0")/lib.sh"

WRITES=${WRITES:-150}
r -q add first
r label :1 start >"$work/out" 2>&1
(
	i=0
	until [ "$i" -ge "$WRITES" ] && [ -e "$work/looked" ]; do
		i=$((i + 1))
		r -q add "entry $i of many" || echo "add $i" >>"$work/refused"
	done
	echo "$i" >"$work/count"
	mv "$work/count" "$work/written"
) &
looks=0
last=0
while [ ! -e "$work/written" ]; do
	for look in 'show --json' 'tree --json' 'takes --json' 'history --json' 'search many --json' \
		'export --format canonical' 'settings --json' fsck; do
		# shellcheck disable=SC2086 # words
		code "beside a writer: $look" 0 r $look
		looks=$((looks + 1))
	done
	code 'a backup of it' 0 r backup "$work/copy-$looks.db"
	code 'which is a store' 0 "$RETAKE" --db "$work/copy-$looks.db" show --json
	now=$(printf '%s' "$out" | json 'len(d["entries"])')
	numbers=$(printf '%s' "$out" | json '[e["content"] for e in d["entries"]][1:] == ["entry %d of many" % i for i in range(1, len(d["entries"]))]')
	is 'every entry once, in order' true "$numbers"
	[ "$now" -ge "$last" ] && pass || fail 'nothing goes away again' "$last, then $now"
	last=$now
	rm -f "$work/copy-$looks.db"
	touch "$work/looked"
done
wait
is 'the writer was never refused' '' "$(cat "$work/refused" 2>/dev/null)"
is 'all is there' $(($(cat "$work/written") + 1)) "$(r show --json | json 'len(d["entries"])')"
[ "$looks" -ge 8 ] && pass || fail 'it was looked at meanwhile' "$looks times"
finish
