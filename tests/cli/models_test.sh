#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Names of models and providers: one that nobody knows is not asked.
. "$(dirname "$0")/lib.sh"

cat >"$work/server.py" <<'END'
import http.server, json, sys

class Server(http.server.BaseHTTPRequestHandler):
    def answer(self, status, kind, body):
        with open(sys.argv[1] + "/asked", "a") as file:
            file.write(self.command + " " + self.path + "\n")
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        names = ["small", "large", "dated-2024-01-01"]
        found = self.path == "/v1/models"
        self.answer(200 if found else 404, "application/json",
                    json.dumps({"data": [{"id": name} for name in names]} if found else {}).encode())

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        part = {"choices": [{"index": 0, "delta": {"content": "Fine."}, "finish_reason": "stop"}],
                "usage": {"prompt_tokens": 1000, "completion_tokens": 100, "prompt_tokens_details": {"cached_tokens": 400}}}
        self.answer(200, "text/event-stream", f"data: {json.dumps(part)}\n\ndata: [DONE]\n\n".encode())

    def log_message(self, *_):
        pass

server = http.server.HTTPServer(("127.0.0.1", 0), Server)
with open(sys.argv[1] + "/port.new", "w") as file:
    file.write(str(server.server_port))
import os
os.rename(sys.argv[1] + "/port.new", sys.argv[1] + "/port")
server.serve_forever()
END
"$python" "$work/server.py" "$work" &
server=$!
trap 'kill $server 2>/dev/null; rm -rf "$work"' EXIT
while [ ! -f "$work/port" ]; do sleep 0.05; done
port=$(cat "$work/port")
mkdir -p "$XDG_CONFIG_HOME/retake"
cat >"$XDG_CONFIG_HOME/retake/config.toml" <<END
model = "mock/small"
[provider.mock]
kind = "openai"
url = "http://127.0.0.1:$port/v1"
models = ["hidden"]
[provider.silent]
kind = "openai"
url = "http://127.0.0.1:$port/silent"
END
asked() { # how often, and nothing from here on
	count=$(cat "$work/asked" 2>/dev/null | grep -c "$1")
	rm -f "$work/asked"
	echo "$count"
}
listed() {
	asked 'GET /v1/models'
}

# --- providers ---
code 'an unknown provider' 3 r models nope
has 'an unknown provider: which there are' 'there is no provider "nope"; available: mock, silent, openai' "$err"
code 'nearly a provider' 3 r models moc
has 'nearly a provider' 'did you mean mock?' "$err"
is 'nobody was asked' 0 "$(listed)"
code 'a provider' 0 r models mock
has 'a provider' 'mock/large' "$out"
is 'its server was asked' 1 "$(listed)"

# --- models ---
code 'the one of the configuration' 0 r ask one
is 'the one of the configuration: no list' 0 "$(listed)"
code 'unknown' 3 r ask -m gpt-4o two
has 'unknown: what there is' 'mock has no model gpt-4o; it has small, large, dated-2024-01-01' "$err"
is 'unknown: only a list' 1 "$(asked .)"
is 'unknown: no question is added' 2 "$(r show --json | json 'len(d["entries"])')"
code 'nearly' 3 r ask -m mock/larg two
has 'nearly' 'mock has no model larg (did you mean large?)' "$err"
code 'no provider in front' 3 r ask -m nope/foo two
has 'no provider in front' 'there is no provider "nope"' "$err"
rm -f "$work/asked"
code 'listed' 0 r ask -m large two
is 'listed: known from before' 0 "$(listed)"
rm -rf "$XDG_STATE_HOME"
code 'listed' 0 r ask -m large three
is 'listed: asked once' 1 "$(listed)"
code 'listed, again' 0 r ask -m mock/large four
is 'listed: not again' 0 "$(listed)"
code 'without its date' 0 r ask -m dated five
code 'named in the configuration' 0 r ask -m hidden six
is 'none of them needs a list' '' "$(cat "$work/asked" | grep GET)"
code 'no list' 0 r ask -m silent/foo seven
has 'no list: said' 'cannot check whether silent has a model foo' "$err"
code 'no list, answered before' 0 r ask -m silent/foo eight
is 'no list, answered before' '' "$(printf '%s' "$err" | grep cannot)"
printf 'not json' >"$XDG_STATE_HOME/retake/models.json"
code 'what is kept is damaged' 0 r ask -m large nine

# --- settings ---
code 'set: unknown' 3 r set model foo
has 'set: unknown' 'mock has no model foo' "$err"
has 'set: unknown: the way to allow it' 'add it to models of its provider in config.toml' "$err"
code 'set: nothing was set' 3 r settings model
code 'set: nearly' 3 r set model mock/larg
has 'set: nearly' 'did you mean large?' "$err"
code 'set: no provider' 3 r set model nope/foo
has 'set: no provider' 'there is no provider "nope"' "$err"
code 'set: named in the configuration' 0 r set model hidden
code 'set: known' 0 r set model large
hasnt 'set: known' 'no model' "$err"

# --- prices ---
cat >>"$XDG_CONFIG_HOME/retake/config.toml" <<END
[prices]
"mock/small" = { input = 2, output = 10, cached = 0.5 }
END
code 'cost' 0 r ask -m mock/small priced --json
is 'cost: of 1000 in, 400 of them cached, and 100 out' 0.0024 "$(printf '%s' "$out" | json 'd["reply"]["cost"]')"
has 'cost: shown' 'cost: 0.0024' "$(r show -v)"
code 'no price' 0 r ask -m mock/large unpriced --json
is 'no price: no cost' null "$(printf '%s' "$out" | json 'd["reply"].get("cost")')"

# --- completion ---
code 'completion of -m: the providers and what is cached' 0 r complete -- ask -m mo
is 'completion of -m' 'mock/hidden mock/small mock/large mock/dated-2024-01-01' "$(printf '%s' "$out" | tr '\n' ' ' | sed 's/ $//')"
code 'completion of set model' 0 r complete -- set model mock/l
is 'completion of set model' 'mock/large' "$out"
code 'completion of another value' 0 r complete -- set temperature mock/l
is 'completion of another value' '' "$out"
rm -rf "$XDG_STATE_HOME"
rm -f "$work/asked"
code 'completion without a cache' 0 r complete -- again -m mock/s
is 'completion without a cache' 'mock/small' "$out"
is 'completion without a cache: one list' 1 "$(listed)"
kill $server
wait $server 2>/dev/null
code 'set: nobody there' 0 r set model other
has 'set: nobody there: said' 'cannot check whether mock has a model other' "$err"
finish
