#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The checks of mock_test.sh: mock_checks.py ASK NODE MOCK (MOCK empty: skip that half)."""
import base64
import json
import os
import random
import shutil
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
ASK, NODE, MOCK = sys.argv[1:4]
KEY = "sk-canary/7Qx+Zr2LmV9pTtYw0aBc"
BASE = {"openai": "/v1", "anthropic": "", "ollama": "", "gemini": "/v1beta"}
PROVIDERS = list(BASE)
MOCK_LACKS = ["ollama"]   # no usage, thinking and length; fault_server.py covers them
WORDS = "Hello from the mock: wörld, 日本, 🙂."
LONG = "word " * 200
SOON_S = 60        # on a busy machine; without the fix it would take several minutes

passed = failed = skipped = 0
seen = []          # all output, for check_canary


def check(name, ok, *detail):
    global passed, failed
    if ok:
        passed += 1
        return
    failed += 1
    print("FAILED:", name)
    for line in detail:
        print("   ", json.dumps(line, ensure_ascii=False)[:600])


def body(provider, text, stream=True):
    """A request in the format of that family, with one tool."""
    said = [{"role": "user", "content": text}]
    parameters = {"type": "object", "properties": {"city": {"type": "string"}}}
    tool = {"name": "get_weather", "description": "Weather", "parameters": parameters}
    if provider == "gemini":
        return {"contents": [{"role": "user", "parts": [{"text": text}]}],
                "tools": [{"functionDeclarations": [tool]}]}
    request = {"model": "mock-1", "messages": said, "stream": stream}
    if provider == "anthropic":
        request["max_tokens"] = 1000
        request["tools"] = [{"name": tool["name"], "input_schema": parameters}]
    else:
        request["tools"] = [{"type": "function", "function": tool}]
    if provider == "openai" and stream:
        request["stream_options"] = {"include_usage": True}
    return request


def ask(provider, url, text, *options, stream=True, key=KEY, variables=()):
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(body(provider, text, stream), file)
        file.flush()
        env = {name: value for name, value in os.environ.items() if "proxy" not in name.lower()}
        env["RETAKE_TEST_KEY"] = key
        env.update(variables)
        start = time.monotonic()
        done = subprocess.run([ASK, provider, url, "mock-1", file.name,
                               f"stream={int(stream)}", *options],
                              env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300)
    text = done.stdout.decode()
    seen.append(text)
    try:
        answer = json.loads(text)
    except ValueError:
        answer = {"status": f"exit {done.returncode}", "error": text, "content": "", "notices": []}
    answer["seconds"] = time.monotonic() - start
    answer["tries"] = sum(", retry " in note for note in answer["notices"]) + 1
    return answer


def texts(answer):
    """The text of the reply, whether the content is a string or blocks."""
    content = answer["content"]
    if isinstance(content, str):
        return content
    return "".join(block.get("text", "") for block in content if block["type"] == "text")


def thinking(answer):
    segments = "".join(part.get("text", "") for part in answer.get("thinking_segments", []))
    if isinstance(answer["content"], list):
        segments += "".join(block.get("thinking", "") for block in answer["content"])
    return segments


# ---- the mock ----

def fixtures():
    def said(text, response, **more):
        return {"match": {"userMessage": text, **more.pop("match", {})}, "response": response, **more}

    made = [
        said("say hello", {"content": WORDS, "finishReason": "stop",
                           "usage": {"prompt_tokens": 11, "completion_tokens": 7,
                                     "input_tokens": 11, "output_tokens": 7}}),
        # The mock's stop reason for Gemini does not exist in Gemini's API.
        said("use the tool gemini", {"toolCalls": [{"name": "get_weather",
                                                    "arguments": {"city": "Zürich"}}],
                                     "finishReason": "stop"}),
        said("use the tool", {"toolCalls": [{"name": "get_weather",
                                             "arguments": {"city": "Zürich"}}]}),
        said("think first", {"content": "Forty-two.", "reasoning": "Six times nine?"}),
        said("too long", {"content": "and so o", "finishReason": "length"}),
        said("always limited", {"error": {"message": "Too much", "type": "rate_limit_error"},
                                "status": 429}),
        said("broken", {"error": {"message": "It broke", "type": "server_error"}, "status": 500}),
        said("forbidden", {"error": {"message": f"No such key {KEY}", "type": "auth"},
                           "status": 401}),
        said("cut it", {"content": LONG}, truncateAfterChunks=5, latency=5),
        said("slowly", {"content": "abcdefghijkl"}, latency=150),
        said("much", {"content": "0123456789abcdef" * 65536}, chunkSize=65536),
    ]
    for provider in PROVIDERS:
        made.insert(0, said(f"once limited {provider}", {"content": "at last"},
                            match={"sequenceIndex": 1}))
        made.insert(0, said(f"once limited {provider}",
                            {"error": {"message": "Too much", "type": "rate_limit_error"},
                             "status": 429}, match={"sequenceIndex": 0}))
    return {"fixtures": made}


def check_mock(provider, root):
    url = root + BASE[provider]
    for stream in (True, False):
        name = f"{provider}, {'stream' if stream else 'whole'}: "
        a = ask(provider, url, "say hello", stream=stream)
        check(name + "text", a["status"] == "ok" and texts(a) == WORDS, a)
        check(name + "stop", a["stop"] == "stop" and a.get("stop_reason") == "stop", a)
        usage = a.get("usage", {})
        check(name + "usage", provider in MOCK_LACKS or
              usage.get("input_tokens") == 11 and usage.get("output_tokens") == 7, a)
        a = ask(provider, url, f"use the tool {provider}", stream=stream)
        calls = [b for b in a["content"] if isinstance(b, dict) and b["type"] == "toolCall"]
        check(name + "tool", a["status"] == "ok" and len(calls) == 1 and calls[0]["id"] and
              calls[0]["name"] == "get_weather" and calls[0]["arguments"] == {"city": "Zürich"}, a)
        check(name + "tool stop", a["stop"] == "tool_calls", a)
        if provider in MOCK_LACKS:
            continue
        a = ask(provider, url, "think first", stream=stream)
        check(name + "thinking", thinking(a) == "Six times nine?" and texts(a) == "Forty-two.", a)
        a = ask(provider, url, "too long", stream=stream)
        check(name + "length", a["status"] == "ok" and a["stop"] == "length", a)
    a = ask(provider, url, f"once limited {provider}")
    check(provider + ": 429, then well", a["status"] == "ok" and texts(a) == "at last" and
          a["tries"] == 2, a)
    a = ask(provider, url, "always limited", "tries=2")
    check(provider + ": 429, given up", a["status"] == "upstream" and "429" in a["error"] and
          "Too much" in a["error"] and a["tries"] == 2, a)
    a = ask(provider, url, "broken", "tries=3")
    check(provider + ": 500", a["status"] == "upstream" and "It broke" in a["error"] and
          a["tries"] == 3, a)
    a = ask(provider, url, "forbidden")
    check(provider + ": 401", a["status"] == "credentials" and "[key]" in a["error"] and
          a["tries"] == 1, a)
    a = ask(provider, url, "cut it")
    check(provider + ": cut", a["status"] == "upstream" and a["stop"] == "cut" and
          LONG.startswith(texts(a)) and a["tries"] == 1, a)
    a = ask(provider, url, "slowly", "idle_ms=20000")
    check(provider + ": slow", a["status"] == "ok" and texts(a) == "abcdefghijkl" and
          a["seconds"] > 0.3, a)
    a = ask(provider, url, "slowly", "stop_ms=250")
    check(provider + ": stopped", a["status"] == "interrupted" and a["stop"] == "stopped" and
          a["seconds"] < SOON_S, a)
    a = ask(provider, url, "much", "max=300000")
    check(provider + ": too large", a["status"] == "limit" and a["stop"] == "cut", a)


def port_for_the_mock():
    """The mock needs a fixed port: one outside the range of ephemeral ports."""
    for port in random.sample(range(15000, 30000), 100):
        try:
            with socket.create_server(("127.0.0.1", port)):
                return port
        except OSError:
            continue
    raise RuntimeError("no port is free")


def run_mock():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "fixtures.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(fixtures(), file)
        port = port_for_the_mock()
        with open(os.path.join(folder, "log"), "wb") as log:
            server = subprocess.Popen([NODE, MOCK, "-h", "127.0.0.1", "-p", str(port), "-f", path,
                                       "-c", "5", "--strict", "--log-level", "warn"],
                                      stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        try:
            root = f"http://127.0.0.1:{port}"
            for _ in range(1200):
                try:
                    socket.create_connection(("127.0.0.1", port), 1).close()
                    break
                except OSError:
                    time.sleep(0.05)
            for provider in PROVIDERS:
                check_mock(provider, root)
        finally:
            server.terminate()
            server.wait(60)


# ---- the faulty server ----

# fault: (expected result, words in the error, number of tries)
FAULTS = {
    "good": ("ok", "", 1), "whole": ("ok", "", 1), "drip_split": ("ok", "", 1),
    "no_done": ("ok", "", 1), "hangs_after_done": ("ok", "", 1), "packed": ("ok", "", 1),
    "unnamed_stream": ("ok", "", 1), "same_ids": ("ok", "", 1),
    "limited": ("ok", "", 3), "soon": ("ok", "", 2), "reset_once": ("ok", "", 2),
    "always_429": ("upstream", "429 (too many requests): slow down", 5),
    "later": ("upstream", "requested a wait of 3600 s", 1), "quota": ("upstream", "quota", 1),
    "broken_500": ("upstream", "500", 5), "reset_always": ("upstream", "without a response", 5),
    "not_found": ("upstream", "404", 1),
    "redirect": ("upstream", "a redirect to http://127.0.0.1:OTHER. Redirects are not followed", 1),
    "redirect_host": ("upstream", "a redirect to http://localhost:OTHER", 1),
    "redirect_name": ("upstream", "a redirect to another address", 1),
    "echo": ("upstream", "your key [key] in", 1), "echo_percent": ("upstream", "key=[key]", 1),
    "echo_base64": ("upstream", "auth [key] [key] [key] [key]", 1),
    "echo_short": ("credentials", "provided: [key]", 1),
    "echo_text": ("credentials", "no, [key]", 1), "echo_long": ("upstream", "[key]", 1),
    "echo_stream": ("upstream", "bad key [key]", 1),
    "cut": ("upstream", "was closed before the reply was complete", 1), "cut_json": ("upstream", "", 1),
    "cut_character": ("upstream", "during the response", 1),
    "huge": ("limit", "larger than 67108864 bytes", 1),
    "huge_whole": ("limit", "larger than", 1), "huge_line": ("limit", "", 1),
    "bomb": ("limit", "larger than", 1), "bad_gzip": ("upstream", "compression", 1),
    "bad_sse": ("upstream", "", 1), "html": ("upstream", "", 1),
    "empty": ("upstream", "returned an empty response", 1),
    "endless_headers": ("limit", "headers", 1), "one_long_header": ("limit", "header", 1),
    "length_long": ("upstream", "during the response", 1), "length_short": ("upstream", "", 1),
    "garbage": ("upstream", "does not speak HTTP", 1),
}
SAID = {"good": "Hello, wörld", "whole": "whole", "drip_split": "häppchen", "no_done": "Hello",
        "hangs_after_done": "Hello", "packed": "small", "unnamed_stream": "anyway",
        "cut": "Hello", "cut_json": "Hello", "bad_sse": "Hi", "echo_stream": "Hi"}
CUT = ["cut", "cut_json", "cut_character", "huge", "huge_whole", "huge_line", "bomb", "bad_sse",
       "length_long", "length_short"]


def check_faults(port, other, tls, log):
    root = f"http://127.0.0.1:{port}/"
    for fault, (status, words, tries) in FAULTS.items():
        a = ask("openai", root + fault, "hi")
        check(f"fault {fault}", a["status"] == status and
              words.replace("OTHER", other) in a["error"] and a["tries"] == tries, a)
        if fault in SAID:
            check(f"fault {fault}: what is kept", texts(a) == SAID[fault], a)
        if fault in CUT:
            check(f"fault {fault}: cut", a["stop"] == "cut", a)
        check(f"fault {fault}: in time", a["seconds"] < SOON_S, a["seconds"])
    for stream in (True, False):
        a = ask("ollama", root + "ollama_full", "hi", stream=stream)
        check("Ollama in full", a["status"] == "ok" and texts(a) == "Hi, wörld" and
              thinking(a) == "Hmm" and a["stop"] == "length" and
              a["usage"] == {"input_tokens": 26, "output_tokens": 5}, a)
    a = ask("ollama", root + "ollama_cut", "hi")
    check("Ollama cut", a["status"] == "upstream" and a["stop"] == "cut" and texts(a) == "Hi", a)
    a = ask("openai", root + "models", "hi", "models=1")
    check("models", a["status"] == "ok" and a["models"] == ["one", "two/three"], a)
    a = ask("openai", root + "redirect", "hi", "models=1")
    check("models elsewhere", a["status"] == "upstream" and "not followed" in a["error"], a)
    a = ask("openai", root + "silent", "hi", "first_ms=300")
    check("no first byte", "did not respond" in a["error"] and a["seconds"] < SOON_S, a)
    a = ask("openai", root + "silent_inside", "hi", "idle_ms=300")
    check("silence inside", "sent nothing" in a["error"] and texts(a) == "Hello" and
          a["seconds"] < SOON_S, a)
    a = ask("openai", root + "byte_a_second", "hi", "total_ms=1500")
    check("a byte a second", "was not complete" in a["error"] and a["seconds"] < SOON_S, a)
    a = ask("openai", root + "byte_a_second", "hi", "stop_ms=700")
    check("stopped in a slow answer", a["status"] == "interrupted" and a["seconds"] < SOON_S, a)
    a = ask("openai", root + "silent", "hi", "stop_ms=300")
    check("stopped before an answer", a["status"] == "interrupted" and a["seconds"] < SOON_S, a)
    a = ask("openai", root + "soon", "hi", "stop_ms=300", "backoff_ms=60000")
    a = ask("openai", root + "always_429", "hi", "stop_ms=300", "backoff_ms=600000")
    check("stopped while it waits", a["status"] == "interrupted" and a["seconds"] < SOON_S, a)
    a = ask("openai", f"https://127.0.0.1:{tls}", "hi")
    check("garbage for TLS", a["status"] == "upstream" and "no secure connection" in a["error"], a)
    a = ask("openai", f"https://127.0.0.1:{port}", "hi", "tries=1", "first_ms=500",
            "connect_ms=1500")
    check("no TLS at all", a["status"] == "upstream" and a["seconds"] < SOON_S, a)
    a = ask("openai", "http://127.0.0.1:1", "hi", "tries=2")
    check("nothing listens", "refused" in a["error"] and a["tries"] == 2, a)
    a = ask("openai", "http://169.254.169.254/v1", "hi", "plain=1", "tries=1", "connect_ms=2000")
    check("no metadata", a["status"] == "refused" and "link-local" in a["error"], a)
    for url in ("http://[fe80::1]/v1", "http://[::ffff:169.254.169.254]/v1"):
        a = ask("openai", url, "hi", "plain=1", "tries=1", "connect_ms=2000")
        check("no metadata: " + url, a["status"] == "refused", a)
    a = ask("openai", "http://model.invalid/v1", "hi")
    check("no key in the open", a["status"] == "refused" and "unencrypted" in a["error"], a)
    a = ask("openai", "http://model.invalid/v1?api_key=sk-12345678", "hi", key="")
    check("no key of a url in the open", a["status"] == "refused" and "unencrypted" in a["error"], a)
    a = ask("openai", "file:///etc/passwd", "hi")
    check("no files", a["status"] == "usage", a)
    a = ask("openai", f"http://127.0.0.1:{port}/echo?key={KEY}", "hi")
    check("a key in the url", "http://127.0.0.1:" in a["error"], a)
    a = ask("openai", root + "header_echo", "hi", "header=x-org:org-secret-canary")
    check("a header in an error", "x-org was [key]" in a["error"], a)
    proxy = {"http_proxy": f"http://127.0.0.1:{other}", "all_proxy": f"http://127.0.0.1:{other}"}
    a = ask("openai", root + "good", "hi", variables=proxy)
    check("no proxy on the way to oneself", a["status"] == "ok", a)
    check("the other server got no request", not any(line.startswith("other") for line in open(log)))


def check_proxy(other, log):
    """For another host the usual proxy variables apply; the key is only sent to its server."""
    a = ask("openai", "http://model.invalid/v1", "hi", "plain=1", "tries=1",
            variables={"http_proxy": f"http://127.0.0.1:{other}"})
    heard = [line for line in open(log) if line.startswith("other")]
    check("a proxy", len(heard) == 1 and "http://model.invalid/v1" in heard[0], a, heard)
    a = ask("openai", "http://model.invalid/v1", "hi", "plain=1", "tries=1",
            variables={"http_proxy": f"http://127.0.0.1:{other}", "no_proxy": "model.invalid"})
    check("no_proxy", "cannot resolve the name http://model.invalid" in a["error"], a)


class Proxy:
    """Answers every request with that status, and counts requests."""

    def __init__(self, status):
        self.status, self.count = status, 0
        self.server = socket.create_server(("127.0.0.1", 0))
        self.place = f"127.0.0.1:{self.server.getsockname()[1]}"
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            connection, _ = self.server.accept()
            with connection:
                data = b""
                while b"\r\n\r\n" not in data:
                    more = connection.recv(65536)
                    if not more:
                        break
                    data += more
                self.count += 1
                if self.status:
                    connection.sendall(f"HTTP/1.1 {self.status} No\r\nContent-Length: 0\r\n"
                                       "Connection: close\r\n\r\n".encode())


def check_bad_proxies():
    """Errors of a proxy name the proxy, without its password."""
    closed = socket.socket()    # bound but not listening, so that the port stays closed
    closed.bind(("127.0.0.1", 0))
    place = f"127.0.0.1:{closed.getsockname()[1]}"
    seen_here = []

    def through(url, place, tries=2):
        name = url.split(":")[0] + "_proxy"
        a = ask("openai", url, "hi", "plain=1", f"tries={tries}", "backoff_ms=1",
                variables={name: f"http://me:proxy-canary@{place}/"})
        seen_here.append(str(a))
        return a

    for url in ("http://model.invalid/v1", "https://model.invalid/v1"):
        a = through(url, place)
        check("a closed proxy: " + url, f"the proxy {place} for" in a["error"] and
              "refused" in a["error"], a)
        proxy = Proxy(407)
        a = through(url, proxy.place, 5)
        check("a proxy that wants a password: " + url, "(407)" in a["error"] and proxy.count == 1 and
              "the proxy " in a["error"], a, proxy.count)
        proxy = Proxy(0)
        a = through(url, proxy.place)
        check("a proxy that says nothing: " + url, f"the proxy {proxy.place} for" in a["error"], a)
    proxy = Proxy(403)
    a = through("https://model.invalid/v1", proxy.place, 5)
    check("a proxy that does not let through", "refused the connection to https://model.invalid "
          "(403)" in a["error"] and proxy.count == 1, a, proxy.count)
    proxy = Proxy(503)
    a = through("https://model.invalid/v1", proxy.place)
    check("a proxy that is busy is asked again", "503" in a["error"] and proxy.count == 2, a)
    check("no password of a proxy", "proxy-canary" not in "".join(seen_here), seen_here)
    closed.close()


def check_certificates():
    """A server with an untrusted certificate: refused, unless its certificate file is
    configured."""
    global skipped
    if not shutil.which("openssl"):
        skipped += 1
        return
    with tempfile.TemporaryDirectory() as folder:
        cert, secret = os.path.join(folder, "cert.pem"), os.path.join(folder, "secret.pem")
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                        "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", secret, "-out", cert,
                        "-days", "2", "-subj", "/CN=localhost", "-addext",
                        "subjectAltName=DNS:localhost"], check=True, stderr=subprocess.DEVNULL)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(cert, secret)
        heard = []
        server = socket.create_server(("127.0.0.1", 0))

        def serve():
            while True:
                connection, _ = server.accept()
                try:
                    with context.wrap_socket(connection, server_side=True) as safe:
                        request = safe.recv(65536)
                        if not request:
                            continue
                        heard.append(request)
                        answer = b'{"choices":[{"message":{"content":"safe"},"finish_reason":"stop"}]}'
                        safe.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
                                     b"Content-Length: %d\r\n\r\n" % len(answer) + answer)
                except OSError:
                    pass

        threading.Thread(target=serve, daemon=True).start()
        port = server.getsockname()[1]
        a = ask("openai", f"https://localhost:{port}", "hi")
        check("an untrusted certificate", a["status"] == "upstream" and
              "no secure connection" in a["error"] and "certificate" in a["error"] and not heard, a)
        a = ask("openai", f"https://127.0.0.1:{port}", "hi", f"ca={cert}")
        check("another name", a["status"] == "upstream" and not heard, a)
        a = ask("openai", f"https://localhost:{port}", "hi", f"ca={cert}")
        check("a certificate that is named", a["status"] == "ok" and texts(a) == "safe", a)
        a = ask("openai", f"https://localhost:{port}", "hi", f"ca={folder}/none.pem")
        check("no such file of certificates", a["status"] == "upstream", a)


def check_canary():
    text = "".join(seen)
    forms = [KEY, urllib.parse.quote(KEY, safe=""), KEY[:12], KEY[-8:], "org-secret"]
    for pad in range(3):     # its middle in base64, at each alignment
        forms.append(base64.b64encode((" " * pad + KEY).encode()).decode()[4:20])
    for form in forms:
        check(f"no sign of {form}", form not in text)


def run_faults():
    with tempfile.TemporaryDirectory() as folder:
        log = os.path.join(folder, "log")
        server = subprocess.Popen([sys.executable, os.path.join(HERE, "fault_server.py"), log],
                                  stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        try:
            port, other, tls = server.stdout.readline().split()
            check_faults(port, other, tls, log)
            check_proxy(other, log)
        finally:
            server.stdin.close()
            server.wait(60)


run_faults()
check_bad_proxies()
check_certificates()
if MOCK:
    run_mock()
else:
    skipped += len(PROVIDERS)
check_canary()
print(f"{passed} passed, {failed} failed, {skipped} skipped")
sys.exit(1 if failed else 0)
