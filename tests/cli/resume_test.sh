#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The programs themselves continue the sessions that export --to wrote, with edits: what they send to a
# server is compared. A program that is not installed is skipped. RETAKE_AGENTS is a directory
# with them, for example node_modules/.bin after
#     npm install @anthropic-ai/claude-code @openai/codex @google/gemini-cli opencode-ai
. "$(dirname "$0")/lib.sh"

[ -n "${RETAKE_AGENTS:-}" ] && PATH=$RETAKE_AGENTS:$PATH
unset CLAUDE_CONFIG_DIR CODEX_HOME
skipped=0
mkdir -p "$work/src"
cd "$work/src" || exit 1

# A server that keeps the last request and answers "Fine."
cat >"$work/server.py" <<'END'
import http.server, json, sys

class Handler(http.server.BaseHTTPRequestHandler):
    def log_message(self, *words):
        pass

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        events = []
        if self.path.split("?")[0].endswith("/messages"):
            message = {"id": "m", "type": "message", "role": "assistant", "model": "m", "content": [],
                       "stop_reason": None, "stop_sequence": None,
                       "usage": {"input_tokens": 1, "output_tokens": 1}}
            events = [
                {"type": "message_start", "message": message},
                {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
                {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Fine."}},
                {"type": "content_block_stop", "index": 0},
                {"type": "message_delta", "delta": {"stop_reason": "end_turn", "stop_sequence": None},
                 "usage": {"output_tokens": 1}},
                {"type": "message_stop"}]
        elif "streamGenerateContent" in self.path:
            events = [{"candidates": [{"content": {"role": "model", "parts": [{"text": "Fine."}]},
                                       "finishReason": "STOP"}],
                       "usageMetadata": {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}}]
        elif self.path.endswith("/chat/completions"):
            events = [{"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m",
                       "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]}
                      for delta, reason in [({"role": "assistant", "content": "Fine."}, None), ({}, "stop")]]
        elif self.path.endswith("/responses"):
            item = {"type": "message", "role": "assistant", "id": "i",
                    "content": [{"type": "output_text", "text": "Fine.", "annotations": []}]}
            usage = {"input_tokens": 1, "input_tokens_details": None, "output_tokens": 1,
                     "output_tokens_details": None, "total_tokens": 2}
            events = [{"type": "response.created", "response": {"id": "r"}},
                      {"type": "response.output_item.done", "output_index": 0, "item": item},
                      {"type": "response.completed", "response": {"id": "r", "usage": usage}}]
        if events:
            open(sys.argv[1], "wb").write(body)
        self.send_response(200)
        self.send_header("content-type", "text/event-stream" if events else "application/json")
        self.end_headers()
        for event in events:
            name = f"event: {event['type']}\n" if "type" in event else ""
            self.wfile.write(f"{name}data: {json.dumps(event)}\n\n".encode())
        if not events:
            self.wfile.write(b"{}")

server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
open(sys.argv[2], "w").write(str(server.server_port))
server.serve_forever()
END
python3 "$work/server.py" "$work/request" "$work/port" &
server=$!
trap 'kill $server; rm -rf "$work"' EXIT
for _ in 1 2 3 4 5 6 7 8 9 10; do [ -s "$work/port" ] || sleep 0.2; done
port=$(cat "$work/port")

# A conversation with a tool, edited afterwards.
cat >"$work/session.jsonl" <<END
{"parentUuid":null,"isSidechain":false,"userType":"external","cwd":"$work/src","sessionId":"11111111-2222-4333-8444-555555555555","version":"2.1.0","type":"user","message":{"role":"user","content":"Which colour?"},"uuid":"aaaaaaaa-2222-4333-8444-555555555551","timestamp":"2026-01-01T00:00:00.000Z"}
{"parentUuid":"aaaaaaaa-2222-4333-8444-555555555551","isSidechain":false,"userType":"external","cwd":"$work/src","sessionId":"11111111-2222-4333-8444-555555555555","version":"2.1.0","type":"assistant","message":{"id":"m1","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"I look."}],"usage":{"input_tokens":1,"output_tokens":1}},"uuid":"aaaaaaaa-2222-4333-8444-555555555552","timestamp":"2026-01-01T00:00:01.000Z"}
{"parentUuid":"aaaaaaaa-2222-4333-8444-555555555552","isSidechain":false,"userType":"external","cwd":"$work/src","sessionId":"11111111-2222-4333-8444-555555555555","version":"2.1.0","type":"assistant","message":{"id":"m1","type":"message","role":"assistant","model":"m","content":[{"type":"tool_use","id":"toolu_1","name":"Bash","input":{"command":"cat colour"}}],"usage":{"input_tokens":1,"output_tokens":1}},"uuid":"aaaaaaaa-2222-4333-8444-555555555553","timestamp":"2026-01-01T00:00:02.000Z"}
{"parentUuid":"aaaaaaaa-2222-4333-8444-555555555553","isSidechain":false,"userType":"external","cwd":"$work/src","sessionId":"11111111-2222-4333-8444-555555555555","version":"2.1.0","type":"user","message":{"role":"user","content":[{"tool_use_id":"toolu_1","type":"tool_result","content":"red"}]},"uuid":"aaaaaaaa-2222-4333-8444-555555555554","timestamp":"2026-01-01T00:00:03.000Z"}
{"parentUuid":"aaaaaaaa-2222-4333-8444-555555555554","isSidechain":false,"userType":"external","cwd":"$work/src","sessionId":"11111111-2222-4333-8444-555555555555","version":"2.1.0","type":"assistant","message":{"id":"m2","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"Red."}],"usage":{"input_tokens":1,"output_tokens":1}},"uuid":"aaaaaaaa-2222-4333-8444-555555555555","timestamp":"2026-01-01T00:00:04.000Z"}
END
r -q import "$work/session.jsonl"
r -q edit :3 'blue from Retake'
r -q edit @ 'Blue from Retake.'

check() { # check PROGRAM COMMAND…: it continues the session and sends the edited past
	program=$1
	shift
	rm -f "$work/request"
	code "$program continues" 0 "$@"
	has "$program: the reply" 'Fine.' "$out"
	sent=$(cat "$work/request")
	for words in 'Which colour?' 'I look.' 'cat colour' 'blue from Retake' 'Blue from Retake.' 'And now?'; do
		has "$program sends" "$words" "$sent"
	done
	hasnt "$program does not send the old text" 'Red.' "$sent"
}

exported() { # the id of the session for this program
	r export --to "$1" --json | json 'd["session"]'
}

if command -v claude >/dev/null; then
	ANTHROPIC_BASE_URL=http://127.0.0.1:$port
	ANTHROPIC_API_KEY=test
	CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1
	export ANTHROPIC_BASE_URL ANTHROPIC_API_KEY CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC
	check 'Claude Code' timeout 120 claude --resume "$(exported claude-code)" -p 'And now?'
else
	echo 'skipped: claude is not installed'
	skipped=$((skipped + 1))
fi
if command -v codex >/dev/null; then
	mkdir -p "$HOME/.codex"
	printf '%s\n' 'model = "m"' 'model_provider = "test"' '[model_providers.test]' 'name = "test"' \
		"base_url = \"http://127.0.0.1:$port/v1\"" 'wire_api = "responses"' >"$HOME/.codex/config.toml"
	check 'Codex' timeout 120 codex exec --skip-git-repo-check resume "$(exported codex)" 'And now?'
else
	echo 'skipped: codex is not installed'
	skipped=$((skipped + 1))
fi
if command -v gemini >/dev/null; then
	GOOGLE_GEMINI_BASE_URL=http://127.0.0.1:$port
	GEMINI_API_KEY=test
	GEMINI_CLI_TRUST_WORKSPACE=true
	export GOOGLE_GEMINI_BASE_URL GEMINI_API_KEY GEMINI_CLI_TRUST_WORKSPACE
	unset GEMINI_CLI_HOME
	mkdir -p "$HOME/.gemini"
	echo '{"security":{"auth":{"selectedType":"gemini-api-key"}},"model":{"name":"gemini-2.5-flash"}}' \
		>"$HOME/.gemini/settings.json"
	check 'Gemini CLI' timeout 120 gemini --resume "$(exported gemini)" -p 'And now?'
	# the session that the program has continued, edited, is continued again
	session=$(ls "$HOME"/.gemini/tmp/*/chats/*.jsonl | grep -v "/[0-9a-f]\{64\}/" | head -n 1)
	db=$work/own.db
	r -q import "$session"
	r -q edit @ 'Blue from Retake, again.'
	rm -f "$work/request"
	code 'Gemini CLI continues its own session' 0 timeout 120 gemini --resume "$(exported gemini)" -p 'Once more'
	has 'Gemini CLI sends the edit of its own session' 'Blue from Retake, again.' "$(cat "$work/request")"
	db=$work/test.db
else
	echo 'skipped: gemini is not installed'
	skipped=$((skipped + 1))
fi
if command -v opencode >/dev/null; then
	mkdir -p "$XDG_CONFIG_HOME/opencode"
	cat >"$XDG_CONFIG_HOME/opencode/opencode.json" <<END
{"autoupdate":false,"share":"disabled","model":"test/m","small_model":"test/m","enabled_providers":["test"],
 "provider":{"test":{"npm":"@ai-sdk/openai-compatible","models":{"m":{}},
  "options":{"baseURL":"http://127.0.0.1:$port/v1","apiKey":"test"}}}}
END
	OPENCODE_DISABLE_MODELS_FETCH=1
	export OPENCODE_DISABLE_MODELS_FETCH
	r export --to opencode --json >"$work/exported"
	session=$(json 'd["session"]' <"$work/exported")
	code 'opencode imports the session' 0 timeout 120 opencode import "$(json 'd["file"]' <"$work/exported")"
	has 'opencode imports the session: its answer' "$session" "$out$err"
	check 'opencode' timeout 120 opencode run --session "$session" --model test/m 'And now?'
	# the session that the program has continued, edited, becomes another one beside it
	timeout 120 opencode export "$session" >"$work/continued.json" 2>/dev/null
	db=$work/own.db
	r -q import "$work/continued.json"
	r -q edit @ 'Blue from Retake, again.'
	r export --to opencode --json >"$work/exported"
	timeout 120 opencode import "$(json 'd["file"]' <"$work/exported")" >/dev/null 2>&1
	rm -f "$work/request"
	code 'opencode continues its own session' 0 timeout 120 opencode run \
		--session "$(json 'd["session"]' <"$work/exported")" 'Once more'
	has 'opencode sends the edit of its own session' 'Blue from Retake, again.' "$(cat "$work/request")"
else
	echo 'skipped: opencode is not installed'
	skipped=$((skipped + 1))
fi
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
