#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Names of models and providers: an unknown one is not asked.
. "$(dirname "$0")/lib.sh"

cat >"$work/server.py" <<'END'
import http.server, json, sys, threading

together = threading.Event() # set when the large model is asked

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
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if body["model"] in ("dated-2024-01-01", "hidden"):
            return self.answer(400, "application/json", b'{"error":{"message":"it is broken"}}')
        if body["model"] == "large":
            together.set()
        elif "together" in body["messages"][-1]["content"]:
            together.wait(20)
        part = {"choices": [{"index": 0, "delta": {"content": "Fine."}, "finish_reason": "stop"}],
                "usage": {"prompt_tokens": 1000, "completion_tokens": 100, "prompt_tokens_details": {"cached_tokens": 400}}}
        self.answer(200, "text/event-stream", f"data: {json.dumps(part)}\n\ndata: [DONE]\n\n".encode())

    def log_message(self, *_):
        pass

server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server)
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
asked() { # number of requests since the last call
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
is 'no server was asked' 0 "$(listed)"
code 'a provider' 0 r models mock
has 'a provider' 'mock/large' "$out"
is 'its server was asked' 1 "$(listed)"

# --- models ---
code 'the one of the configuration' 0 r ask one
is 'the one of the configuration: no list' 0 "$(listed)"
code 'unknown' 3 r ask -m gpt-4o two
has 'unknown: the existing models' 'mock has no model gpt-4o; it has small, large, dated-2024-01-01' "$err"
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
code 'named in the configuration' 7 r ask -m hidden six
is 'none of them needs a list' '' "$(cat "$work/asked" | grep GET)"
code 'no list' 0 r ask -m silent/foo seven
has 'no list: said' 'cannot check whether silent has a model foo' "$err"
code 'no list, answered before' 0 r ask -m silent/foo eight
is 'no list, answered before' '' "$(printf '%s' "$err" | grep cannot)"
printf 'not json' >"$XDG_STATE_HOME/retake/models.json"
code 'what is kept is damaged' 0 r ask -m large nine

# What another program has stored in the meantime stays.
is 'two programs at once' 2 "$("$python" - "$XDG_STATE_HOME/retake" "$RETAKE" --db "$db" ask -m large ten <<'PY'
import fcntl, json, os, subprocess, sys, time
folder = sys.argv[1]
for name in os.listdir(folder):
    if name.startswith("models.json"):
        os.unlink(os.path.join(folder, name))
lock = os.open(folder, os.O_RDONLY)
fcntl.flock(lock, fcntl.LOCK_EX)
process = subprocess.Popen(sys.argv[2:], stdout=subprocess.DEVNULL)
time.sleep(1)
with open(folder + "/models.json", "w", encoding="utf-8") as file:
    file.write('{"v":1,"servers":{"other http://x":{"at":"2026-01-01T00:00:00Z","models":["a"],"answered":[]}}}')
os.close(lock)
process.wait()
with open(folder + "/models.json", encoding="utf-8") as file:
    print(len(json.load(file)["servers"]))
PY
)"

# --- settings ---
code 'set: unknown' 3 r set model foo
has 'set: unknown' 'mock has no model foo' "$err"
has 'set: unknown: the way to allow it' 'add it to the models list of its provider in config.toml' "$err"
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

# --- several at once ---
r new several >/dev/null
code 'several' 0 r ask -m mock/small -m mock/large together --json
is 'several: a reply of each' 'Fine. Fine.' "$(printf '%s' "$out" | json '" ".join(m["reply"]["content"] for m in d)')"
is 'several: one continues the take, one has a new take' 'False True' "$(printf '%s' "$out" | json '" ".join(str("take" in m) for m in sorted(d, key=lambda m: m["seq"]))')"
is 'several: the reply of the model that was named first is active' 'mock/small 2' "$(r show --json | json 'd["entries"][-1]["model"] + " " + str(d["count"])')"
is 'several: takes name the models' 'large small' "$(r takes | grep -o 'large\|small' | sort | tr '\n' ' ' | sed 's/ $//')"
is 'several: the tree names the models' 'large small' "$(r tree | grep -o 'mock/[a-z]*) ' | tr -d ') ' | sed 's,.*/,,' | sort | tr '\n' ' ' | sed 's/ $//')"
has 'several: diff names the models' '/small)' "$(r diff | grep '^+ ')"
is 'several: two takes' 2 "$(r takes --json | json 'len(d)')"
has 'several: one line of the history' '  got 2 replies: mock/' "$(r history)"
last=$(r history --json | json 'd[0]["seq"]')
for row in $((last - 1)) $last; do
	code "several: revert of row $row" 0 r revert "$row"
	is "several: row $row stands for all" '1 1' "$(r takes --json | json 'str(len(d)) + " " + str(d[0]["entries"])')"
	has "several: row $row is one step of the history" "reverted step $last: got 2 replies: mock/" "$(r history)"
	code "several: undo of the revert of row $row" 0 r undo
done
code 'several: one undo' 0 r undo
is 'several: no reply is left' '1 1' "$(r takes --json | json 'str(len(d)) + " " + str(d[0]["entries"])')"
code 'several: one redo' 0 r redo
is 'several: all are back' '2 2' "$(r takes --json | json '" ".join(str(t["entries"]) for t in d)')"
r new elsewhere >/dev/null
r add hello >/dev/null
code 'several: of another discussion' 0 r -d several ask -m mock/small -m mock/large 'not here' --json
hasnt 'several: no step of this discussion' 'got reply' "$(r history)"
code 'several: undo here' 0 r undo
is 'several: undo here leaves the replies there' 3 "$(r -d several takes --json | json 'len(d)')"
code 'several: undo there' 0 r -d several undo 2
is 'several: undo there' '2 2' "$(r takes -d several --json | json '" ".join(str(t["entries"]) for t in d)')"
code 'several: back' 0 r use several
code 'again with several' 0 r again -m mock/small -m mock/large --json
is 'again with several: two more takes' 4 "$(r takes --json | json 'len(d)')"
code 'one fails' 7 r ask -m mock/dated-2024-01-01 -m mock/small one
has 'one fails: it is named' 'dated-2024-01-01: ' "$err"
has 'one fails: the other has replied' 'Fine.' "$out"
is 'one fails: the question has no failure' false "$(r show --json | json 'any("failure" in e for e in d["entries"])')"
code 'all fail' 7 r ask -m mock/dated-2024-01-01 -m mock/hidden all
has 'all fail' 'no model replied' "$err"
is 'all fail: the question keeps it' true "$(r show --json | json '"failure" in d["entries"][-1]')"
steps=$(r status --json | json 'd["step"]')
code 'named twice' 2 r ask -m mock/small -m small twice
has 'named twice' 'is named twice' "$err"
code 'several, one unknown' 3 r ask -m mock/small -m mock/larg two
has 'several, one unknown' 'did you mean large?' "$err"
is 'nothing was changed' "$steps" "$(r status --json | json 'd["step"]')"

# --- templates ---
code 'no templates' 0 r template
has 'no templates' 'No templates' "$out"
code 'save a template' 0 r template save review 'Review {{file}} as {{ who }}, not {{}} or {{a b}}.'
code 'a template' 0 r template review
has 'a template' 'Review {{file}}' "$out"
code 'a name with a space' 2 r template save 'a b' text
code 'without values' 2 r ask --template review
has 'without values' 'needs a value for file, who' "$err"
code 'no such variable' 2 r ask --template review --var colour=red
has 'no such variable' 'has no variable "colour"' "$err"
code 'no such template' 3 r ask --template nothing
code 'a template is used' 0 r ask -m mock/small --template review --var file=a.c --var 'who={{file}}' 'Be brief.'
is 'its variables are filled in once' 'Review a.c as {{file}}, not {{}} or {{a b}}.

Be brief.' "$(r show --json | json 'd["entries"][-2]["content"]')"
has 'it is exported' 'template.review' "$(r export --format canonical)"
code 'delete it' 0 r template delete review
code 'it is gone' 3 r template review
code 'undo' 0 r undo
code 'it is back' 0 r template review

# --- usage ---
r new counted >/dev/null
is 'usage: none' 0 "$(r status --json | json 'd["usage"]["replies"]')"
r ask -m mock/small priced >/dev/null 2>&1
has 'usage: with a price' '1,000 tokens in, 100 out, cost 0.0024' "$(r status)"
r branch :1 >/dev/null
r ask -m mock/large unpriced >/dev/null 2>&1
is 'usage: each reply once, with those without a price' '2 2000 200 0.0024 1' "$(r status --json | json '"{replies} {input_tokens} {output_tokens} {cost:.4f} {without_price}".format(**d["usage"])')"
is 'usage: of the project' true "$(r status --json | json 'd["project_usage"]["replies"] > 5')"
has 'usage: said so' 'excluding 1 reply with an unknown price' "$(r status)"
r use main >/dev/null

# --- completion ---
code 'completion of -m: providers and cached models' 0 r complete -- ask -m mo
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
code 'set: the server cannot be reached' 0 r set model other
has 'set: this is reported' 'cannot check whether mock has a model other' "$err"
finish
