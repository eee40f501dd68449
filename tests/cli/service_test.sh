#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Which server receives a request, and which checks come first: several providers of one kind,
# replay --send, hooks around every request, hooks after a stopped reply.
. "$(dirname "$0")/lib.sh"

mkdir -p "$XDG_CONFIG_HOME/retake"
config=$XDG_CONFIG_HOME/retake/config.toml
hooks=$XDG_CONFIG_HOME/retake/hooks

# Two servers in the style of OpenAI that record their requests. They end with their standard input.
cat >"$work/server.py" <<'X'
import http.server, sys, threading
STREAM = (b'data: {"model":"m","choices":[{"index":0,"delta":{"content":"Fine."}}]}\n\n'
          b'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n')
class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        with open(self.server.log, "ab") as log:
            log.write(body + b"\n")
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Content-Length", str(len(STREAM)))
        self.end_headers()
        self.wfile.write(STREAM)
    def log_message(self, *words):
        pass
ports = []
for log in sys.argv[1:]:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.log = log
    threading.Thread(target=server.serve_forever, daemon=True).start()
    ports.append(str(server.server_address[1]))
print(*ports, flush=True)
sys.stdin.read()
X
mkfifo "$work/end"
"$python" "$work/server.py" "$work/a" "$work/b" <"$work/end" >"$work/ports" &
exec 9>"$work/end"
tries=0
until [ -s "$work/ports" ] || [ $tries -ge 1200 ]; do
	tries=$((tries + 1))
	sleep 0.05
done
read -r a b <"$work/ports"
heard() { # heard LOG: number of requests
	if [ -f "$1" ]; then wc -l <"$1" | tr -d ' '; else echo 0; fi
}
configure() { # configure NAME PORT: a provider of that name; openai uses the other server
	printf '[provider.%s]\nkind = "openai"\nurl = "http://127.0.0.1:%s/v1"\n' "$1" "$2" >"$config"
	printf '[provider.openai]\nurl = "http://127.0.0.1:%s/v1"\n' "$b" >>"$config"
}

configure local "$a"
code "a server of one's own answers" 0 r ask -m local/m "A secret?"
entry=$(r show --json | json 'd["entries"][1]["id"]')
has "the reply says whose it is" '"service":"local"' "$(r show --json)"
has "context --sent too" "to local/m" "$(r context --sent 2>&1 >/dev/null)"

# Sends it again: to the same server only.
code "replay --send" 0 r replay "$entry" --send
is "its answer is shown" "Fine." "$out"
is "the same server is asked" "2 0" "$(heard "$work/a") $(heard "$work/b")"
is "for the same" 1 "$(sort -u "$work/a" | wc -l | tr -d ' ')"
record=$(cat "$XDG_STATE_HOME"/retake/comms/*)
is "it leaves two lines in the record" 2 "$(printf '%s\n' "$record" | grep -c '"for":"replay"')"
is "with the request" 2 "$(printf '%s\n' "$record" | grep -c "A secret?")"
code "and it can be found after that" 0 r replay "$entry"
configure other "$a"
code "the provider is gone" 3 r replay "$entry" --send
configure local "$b"
code "its name means another server now" 1 r replay "$entry" --send
has "that is said" "http://127.0.0.1:$a when this was sent; now it is http://127.0.0.1:$b" "$err"
is "nothing was sent" "2 0" "$(heard "$work/a") $(heard "$work/b")"
code "unless one says so" 0 r replay "$entry" --send -m local/m
is "it was sent there" "2 1" "$(heard "$work/a") $(heard "$work/b")"
configure local "$a"
out=$(printf '/model local/other\n/quit\n' | r chat -m openai/m 2>&1)
has "chat says who answers" "Now using local/other" "$out"

# A hook that denies is asked before every request; one that changes requests changes each.
mkdir -p "$hooks/request.before" "$hooks/request.after" "$hooks/reply.after"
printf '#!/bin/sh\ncat >>"%s"\nexit 2\n' "$work/asked" >"$hooks/request.before/10-x"
printf '#!/bin/sh\ncat >>"%s"\n' "$work/told" >"$hooks/request.after/10-x"
printf '#!/bin/sh\ncat >>"%s"\n' "$work/kept" >"$hooks/reply.after/10-x"
chmod +x "$hooks"/*/10-x
r add "One more." -q
steps=$(r log --json | json 'len(d)')
for c in "ask --send" "replay $entry --send" "compact --keep 0" compress "go :1 --summary"; do
	set -- $c
	word=$1
	shift
	code "$c is refused" 8 r "$word" "$@" $(case $word in replay) ;; *) echo "-m local/m" ;; esac)
done
is "nothing was sent" "2 1" "$(heard "$work/a") $(heard "$work/b")"
# ask --send keeps the reason at the question that it could not send (C68)
is "and nothing else changed" "$((steps + 1))" "$(r log --json | json 'len(d)')"
is "each was asked about" 5 "$(grep -c '"event":"request.before"' "$work/asked")"
is "with its reason" "reply replay summary summary summary" \
	"$("$python" -c 'import json, sys
print(*[json.loads(line)["reason"] for line in open(sys.argv[1])])' "$work/asked")"
is "and its configured name" 5 "$(grep -c '"provider":"openai","service":"local"' "$work/asked")"
cat >"$hooks/request.before/10-x" <<'X'
#!/bin/sh
cat >/dev/null
echo '{"decision":"replace","patch":{"body":{"model":"m","messages":[],"stream":true,"by":"hook"}}}'
X
code "replay --send with another body" 0 r replay "$entry" --send
has "it equals the sent request" '"by":"hook"' "$(tail -n 1 "$work/a")"
has "its end is told" '"reason":"replay"' "$(cat "$work/told")"
code "compact with another body" 0 r compact -m local/m --keep 0
has "it equals the sent request" '"by":"hook"' "$(tail -n 1 "$work/a")"
has "its end is told" '"reason":"summary"' "$(cat "$work/told")"
r undo -q
code "ask with another body" 0 r ask -m local/m "And?"
code "what the hook made of it is in the log" 0 r replay "$(r show --json | json 'd["entries"][-1]["id"]')"
has "byte for byte" '"by":"hook"' "$out"
hasnt "so nothing is said" "a hook changed it" "$err"
sed -i 's/,"body":.*/}/; s/"texts":.*/"x":1}/' "$XDG_STATE_HOME"/retake/comms/*.jsonl
code "without texts in the log it is built again" 0 r replay "$(r show --json | json 'd["entries"][-1]["id"]')"
has "a hook may be why it differs" "a hook changed it" "$err"
rm "$hooks/request.before/10-x"
exec 9>&-

# Stopped during the reply: hooks receive the partial reply like any other.
rm -f "$work/kept" "$work/told"
printf '%s\n' '{"text":"Forty "}' '{"wait_ms":600000}' '{"text":"two"}' >"$work/slow"
"$RETAKE" --db "$db" ask -m "builtin/play:$work/slow" "Slowly?" >"$work/reply" 2>&1 </dev/null &
asking=$!
tries=0
until r show --json | grep -q '"bytes":6' || [ $tries -ge 1200 ]; do
	tries=$((tries + 1))
	sleep 0.05
done

# From another PID namespace of the same machine the process is recognised as alive, too.
if unshare -Urpf --mount-proc true 2>/dev/null; then
	has "in another container it still arrives" '"state":"arriving"' \
		"$(unshare -Urpf --mount-proc "$RETAKE" --db "$db" show --json)"
	has "and is not kept" '"state":"arriving"' "$(r show --json)"
fi
kill -TERM "$asking"
wait "$asking"
has "what had arrived is kept" '"partial":true' "$(r show --json)"
has "reply.after is run" 'Forty' "$(cat "$work/kept")"
has "and request.after" '"status":"interrupted"' "$(cat "$work/told")"

finish
