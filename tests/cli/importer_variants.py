#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Variants of the files of other programs: older and newer versions, missing members, unknown types, other encodings,
truncated files, and files that are not conversations.

    importer_variants.py RETAKE FOLDER

Writes them to FOLDER, imports all with one command (--dry-run) and compares format, discussions, entries, takes and
empty conversations (None: any). Prints a line for each difference, then "N passed, N failed"."""
import io
import json
import os
import subprocess
import sys
import zipfile

RETAKE, FOLDER = sys.argv[1:]
J = json.dumps
cases = []


def JN(value):
    return json.dumps(value, ensure_ascii=False)


def L(records):
    return "".join(JN(record) + "\n" for record in records)


def case(name, data, form, discussions, entries, **facts):
    path = os.path.join(FOLDER, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as out:
        out.write(data if isinstance(data, bytes) else data.encode())
    cases.append((path, form, {"discussions": discussions, "entries": entries, **facts}))


def chatgpt(id, nodes, **kw):
    return {"title": kw.pop("title", "T"), "create_time": 1.5, "update_time": 2.5, "mapping": nodes,
        "conversation_id": id, "id": id, **kw}


def node(id, parent, children, role=None, content=None, **m):
    return {"id": id, "parent": parent, "children": children, "message": None if role is None else {"id": id,
        "author": {"role": role, "name": None, "metadata": {}}, "content": content if isinstance(content,
        dict) else {"content_type": "text", "parts": [content]}, "create_time": None,
        "status": "finished_successfully", "weight": 1.0, "metadata": {}, "recipient": "all", **m}}


base = {"r": node("r", None, ["a"]), "a": node("a", "r", ["b"], "user", "Привет, 世界"), "b": node("b", "a", [],
    "assistant", "ответ")}
case("chatgpt/plain.json", JN([chatgpt("c1", base, current_node="b")]), "chatgpt", 1, 2)
case("chatgpt/bom.json", b"\xef\xbb\xbf" + JN([chatgpt("c1", base, current_node="b")]).encode(), "chatgpt", 1, 2)
case("chatgpt/utf16.json", JN([chatgpt("c1", base, current_node="b")]).encode("utf-16"), "chatgpt", 1, 2)
case("chatgpt/utf16be.json", b"\xfe\xff" + JN([chatgpt("c1", base, current_node="b")]).encode("utf-16-be"), "chatgpt",
    1, 2)
case("chatgpt/crlf.json", json.dumps([chatgpt("c1", base, current_node="b")], indent=2).replace("\n", "\r\n"),
    "chatgpt", 1, 2)
case("chatgpt/single.json", J(chatgpt("c1", base)), "chatgpt", 1, 2)
case("chatgpt/wrapped.json", J({"conversations": [chatgpt("c1", base)]}), "chatgpt", 1, 2)
odd = {"r": node("r", None, ["a", "z"]), "a": node("a", "r", ["b"], "user", {"content_type": "multimodal_text",
    "parts": [{"content_type": "image_asset_pointer", "asset_pointer": "file-service://f", "width": 1, "height": 1,
    "size_bytes": 2}, "see", None, ""]}), "b": node("b", "a", ["t"], "assistant", {"content_type": "code",
    "language": "python", "text": "1+1"}, recipient="python"), "t": node("t", "b", ["u"], "tool",
    {"content_type": "execution_output", "text": "2"}), "u": node("u", "t", [], "assistant",
    {"content_type": "brand_new", "payload": 5}), "z": node("z", "gone", [], "user", {"content_type": "text",
    "parts": []}), "y": {"id": "y", "message": {"author": {"role": "critic"}, "content": None}}}
case("chatgpt/odd.json", J([chatgpt("c2", odd, current_node="nope", title=None), {"title": "x",
    "conversation_id": "q", "mapping": None}, chatgpt("c3", {"r": node("r", None, [])})]), "chatgpt", 1, 6, empty=1)
case("chatgpt/trunc.json", J([chatgpt("c1", base), chatgpt("c2", base)])[:-200], "chatgpt", 1, 2)
case("chatgpt/titlelast.json", J([{"mapping": base, "moderation_results": [], "title": "t", "current_node": "b",
    "id": "c1"}]), "chatgpt", 1, 2)
packed = io.BytesIO()
archive = zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED)
archive.writestr("Export 2026/chat.html", "<html>")
archive.writestr("Export 2026/data/conversations-000.json", J([chatgpt("c1", base)]))
archive.writestr("Export 2026/data/conversations-001.json", J([chatgpt("c2", base)]))
archive.writestr("Export 2026/user.json", '{"id":"u"}')
archive.writestr("__MACOSX/._x.json", b"\x00\x05\x16\x07")
archive.close()
case("chatgpt/sub.zip", packed.getvalue(), "zip", 2, 4)


def claude_message(u, session, t, **k):
    return {"uuid": u, "text": t, "content": k.pop("content", [{"type": "text", "text": t}]), "sender": session,
        "created_at": "2025-01-01T00:00:00.123456Z", "updated_at": "2025-01-01T00:00:00Z", "attachments": [],
        "files": [], **k}


def claude(id, ms, **k):
    return {"uuid": id, "name": "N", "created_at": "2025-01-01T00:00:00Z", "updated_at": "2025-01-02T00:00:00Z",
        "account": {"uuid": "a"}, "chat_messages": ms, **k}


case("claude_ai/plain.json", JN([claude("k1", [claude_message("1", "human", "سؤال"), claude_message("2", "assistant",
    "جواب")]), claude("k2", [])]), "claude-ai", 1, 2, empty=1)
case("claude_ai/tools.json", J([claude("k1", [claude_message("1", "human", "q",
    parent_message_uuid="00000000-0000-4000-8000-000000000000"), claude_message("2", "assistant", "",
    parent_message_uuid="1", content=[{"type": "thinking", "thinking": "hm"}, {"type": "tool_use",
    "name": "artifacts", "input": {"command": "create"}}, {"type": "tool_result", "name": "artifacts",
    "content": [{"type": "text", "text": "bad"}], "is_error": True}, {"type": "mystery", "x": 1}, {"type": "text",
    "text": "done"}]), claude_message("3", "assistant", "b", parent_message_uuid="1")], current_leaf_message_uuid="3",
    summary="")]), "claude-ai", 1, 3, takes=2)
case("claude_ai/textonly.json", J([{"uuid": "k", "name": "", "chat_messages": [{"uuid": "1", "sender": "human",
    "text": "q"}, {"uuid": "2", "sender": "assistant", "text": "a"}]}]), "claude-ai", 1, 2)
case("claude_ai/nullcontent.json", J([claude("k", [claude_message("1", "human", "q", content=None),
    claude_message("2", "assistant", None, content=None), {"uuid": "3", "sender": "human"}])]), "claude-ai", 1, 3)
case("claude_ai/single.json", J(claude("k1", [claude_message("1", "human", "q")])), "claude-ai", 1, 1)
case("claude_ai/lines.jsonl", J(claude("k1", [claude_message("1", "human", "q")])) + "\r\n" + J(claude("k2",
    [claude_message("4", "human", "q")])) + "\r\n" + J(claude("k3", [claude_message("5", "human", "q")]))[:60],
    "claude-ai", 2, 2)
case("claude_ai/nomessages.json", J([claude("k1", []), claude("k2", [])]), "claude-ai", 0, 0, empty=2)
case("claude_ai/late.json", J([{"uuid": "k", "name": "N", "summary": "s" * 70000,
    "created_at": "2025-01-01T00:00:00Z", "account": {"uuid": "a"}, "chat_messages": [claude_message("1", "human",
    "q")]}]), "claude-ai", 1, 1)


def code_record(t, u, p, msg, **k):
    return {"parentUuid": p, "isSidechain": False, "userType": "external", "cwd": "/w", "sessionId": "s",
        "version": "2.1.0", "gitBranch": "", "type": t, "message": msg, "uuid": u,
        "timestamp": "2026-01-01T00:00:00.000Z", **k}


def user_message(t):
    return {"role": "user", "content": t}


def assistant_message(t, i="m"):
    return {"id": i, "type": "message", "role": "assistant", "model": "c", "content": t if isinstance(t,
        list) else [{"type": "text", "text": t}], "usage": {"input_tokens": 1, "output_tokens": 1}}


session = [{"type": "file-history-snapshot", "messageId": "x", "snapshot": {}}, code_record("user", "1", None,
    user_message("q")), code_record("assistant", "2", "1", assistant_message([{"type": "tool_use", "id": "t",
    "name": "Bash", "input": {"command": "x"}}])), code_record("user", "3", "2", user_message([{"type": "tool_result",
    "tool_use_id": "t", "content": "fail", "is_error": True}]), toolUseResult="Error: x"), code_record("assistant",
    "4", "3", assistant_message("done", "m2"))]
case("claude_code/tools.jsonl", L(session), "claude-code", 1, None)
case("claude_code/crlf.jsonl", L(session).replace("\n", "\r\n"), "claude-code", 1, None)
case("claude_code/bom.jsonl", b"\xef\xbb\xbf" + L(session).encode(), "claude-code", 1, None)
case("claude_code/trunc.jsonl", L(session) + L(session)[:80], "claude-code", 1, None)
case("claude_code/onlyunknown.jsonl", L([{"type": "mode", "sessionId": "s", "mode": "x"}, code_record("user", "1",
    None, user_message("hallo")), {"type": "queue-operation", "operation": "enqueue",
    "timestamp": "2026-01-01T00:00:00Z", "sessionId": "s"}, code_record("shiny-new", "2", "1", None)]), "claude-code",
    1, None)
case("claude_code/branches.jsonl", L([code_record("user", "1", None, user_message("q")), code_record("assistant", "2",
    "1", assistant_message("a")), code_record("user", "3", None, user_message("other root")), code_record("assistant",
    "4", "3", assistant_message("b", "m2")), code_record("user", "5", "1", user_message([{"type": "image",
    "source": {"type": "base64", "media_type": "image/png", "data": "aGk="}}, {"type": "text", "text": "see"}]))]),
    "claude-code", 1, None)
case("claude_code/loglines.json", J({"loglines": [{"type": "user", "message": user_message("q"),
    "timestamp": "2026-01-01T00:00:00Z"}, {"type": "assistant", "message": assistant_message("a"),
    "timestamp": "2026-01-01T00:00:00Z"}]}), "claude-code", 1, None)
case("claude_code/summaryonly.jsonl", L([{"type": "summary", "summary": "Old talk", "leafUuid": "zz"}]),
    "claude-code", None, None)
case("claude_code/nullmsg.jsonl", L([code_record("user", "1", None, user_message(None)), code_record("assistant", "2",
    "1", assistant_message([])), code_record("user", "3", "2", user_message("x"))]), "claude-code", 1, None)


def codex_line(t, p):
    return {"timestamp": "2026-01-01T00:00:00.000Z", "type": t, "payload": p}


codex_head = codex_line("session_meta", {"id": "0199", "timestamp": "2026-01-01T00:00:00Z", "cwd": "/w",
    "originator": "codex_cli_rs", "cli_version": "0.60.0"})


def codex_message(r, t):
    return codex_line("response_item", {"type": "message", "role": r,
        "content": [{"type": "input_text" if r != "assistant" else "output_text", "text": t}]})


case("codex/plain.jsonl", L([codex_head, codex_message("user", "质问"), codex_line("response_item",
    {"type": "reasoning", "summary": [], "encrypted_content": "x"}), codex_line("response_item",
    {"type": "function_call", "name": "shell", "arguments": "{bad", "call_id": "c"}), codex_line("response_item",
    {"type": "function_call_output", "call_id": "c", "output": {"content": "err", "success": False}}),
    codex_line("response_item", {"type": "ghost_snapshot"}), codex_line("event_msg", {"type": "token_count",
    "info": None}), codex_line("mystery", {"a": 1}), codex_message("assistant", "回答")]), "codex", 1, None)
case("codex/legacy.jsonl", L([{"id": "0199", "timestamp": "2025-05-01T00:00:00.000Z", "instructions": None,
    "git": {}}, {"record_type": "state"}, {"type": "message", "id": None, "role": "user",
    "content": [{"type": "input_text", "text": "q"}]}, {"type": "message", "role": "assistant",
    "content": [{"type": "output_text", "text": "a"}]}, {"type": "reasoning", "id": "r", "summary": []},
    {"type": "function_call", "id": "f", "name": "shell", "arguments": "{}", "call_id": "c"},
    {"type": "local_shell_call", "status": "completed", "action": {"type": "exec"}}]), "codex", 1, None)
case("codex/events.jsonl", L([codex_head, codex_line("event_msg", {"type": "user_message", "message": "q",
    "images": []}), codex_line("event_msg", {"type": "agent_message", "message": "a"})]), "codex", 1, 2)
case("codex/metaonly.jsonl", L([codex_head]), "codex", 0, 0, empty=1)
case("codex/crlf_trunc.jsonl", (L([codex_head, codex_message("user", "q"), codex_message("assistant",
    "a")]) + L([codex_message("user", "zz")])[:50]).replace("\n", "\r\n"), "codex", 1, 2)
case("codex/rollback.jsonl", L([codex_head, codex_message("user", "q"), codex_message("assistant", "a"),
    codex_message("user", "q2"), codex_message("assistant", "a2"), codex_line("event_msg",
    {"type": "thread_rolled_back", "num_turns": 1}), codex_message("user", "q3")]), "codex", 1, 5, takes=2)
case("codex/nometa.jsonl", L([codex_message("user", "q"), codex_message("assistant", "a")]), "codex", 1, 2)


def gemini_message(id, t, c, **k):
    return {"id": id, "timestamp": "2026-01-01T00:00:00.000Z", "type": t, "content": c, **k}


gemini = {"sessionId": "gs", "projectHash": "h", "startTime": "2026-01-01T00:00:00.000Z",
    "lastUpdated": "2026-01-01T00:00:00.000Z", "messages": [gemini_message("1", "user", "q"), gemini_message("2",
    "gemini", "", thoughts=[{"subject": "s", "description": "d"}], toolCalls=[{"id": "t", "name": "ls", "args": {},
    "result": [{"functionResponse": {"id": "t", "name": "ls", "response": {"error": "no"}}}], "status": "error"}],
    tokens={"input": 1, "output": 1}), gemini_message("3", "info", "note"), gemini_message("4", "gemini",
    [{"text": "part"}]), gemini_message("5", "user", None)]}
case("gemini_cli/old.json", J(gemini), "gemini-cli", 1, None)
case("gemini_cli/old_indent_crlf.json", json.dumps(gemini, indent=2).replace("\n", "\r\n"), "gemini-cli", 1, None)
gemini_head = {k: v for k, v in gemini.items() if k != "messages"}
case("gemini_cli/new.jsonl", L([gemini_head, gemini_message("1", "user", [{"text": "q"}]), gemini_message("2",
    "gemini", "a"), gemini_message("2", "gemini", "ab"), gemini_message("3", "user", "q3"), {"$rewindTo": "3"},
    {"$set": {"lastUpdated": "2026-01-01T00:01:00.000Z"}}, gemini_message("4", "user", "q4"), {"$what": 1}]),
    "gemini-cli", 1, 4, takes=2)
case("gemini_cli/empty.json", J({**gemini, "messages": []}), "gemini-cli", 0, 0, empty=1)
case("gemini_cli/trunc.jsonl", L([gemini_head, gemini_message("1", "user", "q")]) + '{"id":"2","timesta',
    "gemini-cli", 1, 1)


def webui_message(id, p, r, c, **k):
    return {"id": id, "parentId": p, "childrenIds": k.pop("ch", []), "role": r, "content": c, "timestamp": k.pop("ts",
        1760000000), **k}


webui = {"id": "w", "user_id": "u", "title": "T", "chat": {"title": "T", "models": ["m"],
    "history": {"currentId": "b", "messages": {"a": webui_message("a", None, "user", "q"), "b": webui_message("b",
    "a", "assistant", "x", model="m"), "c": webui_message("c", "a", "assistant", "y", ts=1760000000123)}}},
    "updated_at": 1760000000, "created_at": 1760000000, "archived": False}
case("open_webui/rows.json", J([webui]), "open-webui", 1, 3, takes=2)
case("open_webui/bare.json", J(webui["chat"]), "open-webui", 1, 3, takes=2)
case("open_webui/strts.json", J([{**webui, "chat": {"history": {"messages": {"a": webui_message("a", None, "user",
    "q", ts="1760000000"), "b": webui_message("b", "a", "assistant", None, ts=None, error={"content": "boom"})},
    "currentId": None}}}]), "open-webui", 1, 2)
case("open_webui/list.json", J([{**webui, "chat": {"messages": [webui_message("a", None, "user", "q"),
    webui_message("b", "a", "assistant", "x")]}}]), "open-webui", 1, 2)
case("open_webui/emptychat.json", J([{**webui, "chat": {"history": {"messages": {}, "currentId": None}}}, webui]),
    "open-webui", 1, 3, empty=1)
case("open_webui/single.json", J({**webui}), "open-webui", 1, 3)
case("open_webui/damage.json", J([{**webui, "chat": {"history": {"currentId": "zz",
    "messages": {"a": {"childrenIds": ["b"], "parentId": None}, "b": webui_message("b", "a", "assistant", "x"),
    "c": webui_message("c", "d", "user", "l"), "d": webui_message("d", "c", "user", "l2"), "e": None}}}}]),
    "open-webui", 1, 4)


def libre_message(id, p, u, t, **k):
    return {"messageId": id, "parentMessageId": p, "conversationId": "l", "isCreatedByUser": u,
        "sender": "User" if u else "GPT", "text": t, "createdAt": "2026-01-01T00:00:00.000Z", **k}


ROOT = "00000000-0000-0000-0000-000000000000"
libre = {"conversationId": "l", "endpoint": "openAI", "title": "T", "exportAt": "10:00:00 GMT+0000", "branches": True,
    "recursive": False, "options": {"model": "m"}, "messages": [libre_message("1", ROOT, True, "q"),
    libre_message("2", "1", False, "a"), libre_message("3", "1", False, "b", error=True), libre_message("4", ROOT,
    True, "q'")]}
case("librechat/flat.json", J(libre), "librechat", 1, 4, takes=3)
case("librechat/tree.json", J({**{k: v for k, v in libre.items() if k != "messages"}, "recursive": True,
    "messagesTree": [libre_message("1", ROOT, True, "q", children=[libre_message("2", "1", False, "",
    content=[{"type": "think", "think": "hm"}, {"type": "tool_call", "tool_call": {"id": "t", "name": "n",
    "args": "{}", "output": "err"}}, {"type": "text", "text": "a"}], children=[])])]}), "librechat", 1, 2)
case("librechat/nulltext.json", J({**libre, "messages": [libre_message("1", None, True, None), libre_message("2", "1",
    False, None, content=[{"type": "text", "text": {"value": "v"}}])]}), "librechat", 1, 2)
case("librechat/indent_crlf.json", json.dumps(libre, indent=2).replace("\n", "\r\n"), "librechat", 1, 4)
case("librechat/empty.json", J({**libre, "messages": []}), "librechat", 0, 0, empty=1)
tavern_head = {"user_name": "You", "character_name": "A", "create_date": "2025-1-1",
    "chat_metadata": {"integrity": "i"}}


def tavern_message(u, m, **k):
    return {"name": "You" if u else "A", "is_user": u, "is_system": False, "send_date": "June 19, 2023 2:20pm",
        "mes": m, "extra": {}, **k}


case("sillytavern/plain.jsonl", L([tavern_head, tavern_message(False, "Hi", swipes=["Hi", "Ho"], swipe_id=0),
    tavern_message(True, "q"), tavern_message(False, "a", send_date=1760000000000)]).rstrip("\n"), "sillytavern", 1,
    4)
case("sillytavern/unused.jsonl", L([{"user_name": "unused", "character_name": "unused", "chat_metadata": {}},
    tavern_message(True, "q")]), "sillytavern", 1, 1)
case("sillytavern/badswipe.jsonl", L([tavern_head, tavern_message(False, "Hi", swipes=["x", {"message": "y"}, None],
    swipe_id=9)]), "sillytavern", 1, None)
case("sillytavern/headeronly.jsonl", L([tavern_head]), "sillytavern", 0, 0, empty=1)
case("sillytavern/group.jsonl", L([tavern_message(True, "q"), tavern_message(False, "a", original_avatar="A.png")]),
    "sillytavern", 1, 2)
opencode = {"info": {"id": "ses_1", "projectID": "p", "directory": "/w", "title": "T", "version": "1.0",
    "time": {"created": 1760000000000, "updated": 1760000000000}}, "messages": [{"info": {"id": "msg_1",
    "sessionID": "ses_1", "role": "user", "time": {"created": 1760000000000}}, "parts": [{"id": "p1", "type": "text",
    "text": "q"}]}, {"info": {"id": "msg_2", "sessionID": "ses_1", "role": "assistant", "parentID": "msg_1",
    "time": {"created": 1760000000001}, "modelID": "m", "providerID": "x"}, "parts": [{"id": "p0",
    "type": "step-start"}, {"id": "p2", "type": "tool", "callID": "c", "tool": "bash", "state": {"status": "error",
    "input": {"c": 1}, "error": "boom"}}, {"id": "p3", "type": "hologram", "x": 1}, {"id": "p4", "type": "text",
    "text": "a"}]}]}
case("opencode/export.json", J(opencode), "opencode", 1, 2)
case("opencode/empty.json", J({**opencode, "messages": []}), "opencode", 0, 0, empty=1)
case("opencode/nullparts.json", J({**opencode, "messages": [{"info": opencode["messages"][0]["info"], "parts": None},
    {"info": opencode["messages"][1]["info"]}]}), "opencode", 1, 2)
pi_head = {"type": "session", "version": 3, "id": "p1", "timestamp": "2026-01-01T00:00:00.000Z", "cwd": "/w"}


def pi_message(id, p, m):
    return {"type": "message", "id": id, "parentId": p, "timestamp": "2026-01-01T00:00:00.000Z", "message": m}


case("pi/v3.jsonl", L([pi_head, pi_message("a", "" or None, {"role": "user", "content": "q"}), pi_message("b", "a",
    {"role": "assistant", "content": [{"type": "thinking", "thinking": "h"}, {"type": "toolCall", "id": "t",
    "name": "bash", "arguments": {}}]}), pi_message("c", "b", {"role": "toolResult", "toolCallId": "t",
    "toolName": "bash", "content": [{"type": "text", "text": "no"}], "isError": True}), {"type": "newkind", "id": "d",
    "parentId": "c", "timestamp": "2026-01-01T00:00:00.000Z"}, pi_message("e", "a", {"role": "assistant",
    "content": []})]), "pi", 1, None)
case("pi/v1.jsonl", L([{"type": "session", "id": "p1", "timestamp": "2026-01-01T00:00:00.000Z", "cwd": "/w",
    "provider": "x", "modelId": "y"}, {"type": "message", "timestamp": "2026-01-01T00:00:00.000Z",
    "message": {"role": "user", "content": "q"}}]), "pi", 1, 1)
case("pi/crlf_trunc.jsonl", (L([pi_head, pi_message("a", None, {"role": "user",
    "content": "q"})]) + '{"type":"mess').replace("\n", "\r\n"), "pi", 1, 1)
case("pi/headeronly.jsonl", L([pi_head]), "pi", None, None)
openai = {"messages": [{"role": "system", "content": "s"}, {"role": "user", "content": [{"type": "text", "text": "q"},
    {"type": "image_url", "image_url": {"url": "data:image/png;base64,aGk="}}]}, {"role": "assistant",
    "content": None, "tool_calls": [{"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}]},
    {"role": "tool", "tool_call_id": "c", "content": "x"}]}
case("openai/lines.jsonl", L([openai, openai]), "openai", 2, 8)
case("openai/bare.json", J(openai["messages"]), "openai", 1, 4)
case("openai/bom_crlf.jsonl", b"\xef\xbb\xbf" + L([openai]).replace("\n", "\r\n").encode(), "openai", 1, 4)
case("openai/batch.jsonl", L([{"custom_id": "1", "method": "POST", "url": "/v1/chat/completions",
    "body": {"model": "m", **openai}}]), "openai", 1, 4)
case("openai/prefs.jsonl", L([{"input": {"messages": [{"role": "user", "content": "q"}]},
    "preferred_output": [{"role": "assistant", "content": "a"}], "non_preferred_output": [{"role": "assistant",
    "content": "b"}]}]), "openai", 1, 3, takes=2)
case("openai/utf16.jsonl", L([openai]).encode("utf-16"), "openai", 1, 4)
case("sharegpt/lines.jsonl", L([{"id": "1", "conversations": [{"from": "human", "value": "q"}, {"from": "gpt",
    "value": "a"}]}, {"id": "2", "conversations": []}]), "sharegpt", 1, 2, empty=1)
case("sharegpt/prefs.json", J([{"conversations": [{"from": "human", "value": "q"}], "chosen": {"from": "gpt",
    "value": "a"}, "rejected": {"from": "gpt", "value": "b"}}]), "sharegpt", 1, 3, takes=2)
case("sharegpt/items.json", J([{"id": "x", "items": [{"from": "human", "value": "q"}, {"from": "gpt",
    "value": "a"}]}]), "sharegpt", 1, 2)
case("sharegpt/null.json", J([{"system": "s", "tools": "[]", "conversations": [{"from": "human", "value": None},
    {"from": "function_call", "value": "{}"}, {"from": "observation", "value": "x"}, {"from": "gpt",
    "value": "a"}]}]), "sharegpt", 1, None)
case("sharegpt/singleobj.json", J({"conversations": [{"from": "user", "value": "q"}, {"from": "assistant",
    "value": "a"}]}), "sharegpt", 1, 2)


def oasst_node(id, r, t, rep=[], **k):
    return {"message_id": id, "role": r, "text": t, "lang": "de", "replies": rep, **k}


case("oasst/tree.jsonl", L([{"message_tree_id": "a", "tree_state": "ready_for_export", "prompt": oasst_node("a",
    "prompter", "q", [oasst_node("b", "assistant", "x", rank=1), oasst_node("c", "assistant", "y", rank=0,
    deleted=True)])}]), "oasst", 1, 3, takes=2)
case("oasst/flat.jsonl", L([{"message_id": "b", "parent_id": "a", "message_tree_id": "a", "role": "assistant",
    "text": "x"}, {"message_id": "a", "parent_id": None, "message_tree_id": "a", "role": "prompter", "text": "q"},
    {"message_id": "c", "parent_id": "gone", "message_tree_id": "z", "role": "assistant", "text": "orphan"}]),
    "oasst", 2, 3)
case("oasst/array.json", J([{"message_tree_id": "a", "tree_state": "x", "prompt": oasst_node("a", "prompter", "q")}]),
    "oasst", 1, 1)
case("grok/dates.json", J({"conversations": [{"conversation": {"id": "k", "title": "T",
    "create_time": "2025-01-01T00:00:00Z"}, "responses": [{"response": {"_id": "1", "message": "q", "sender": "human",
    "create_time": {"$date": {"$numberLong": "1760000000000"}}}}, {"response": {"_id": "2", "parent_response_id": "1",
    "message": "a", "sender": "ASSISTANT", "create_time": 1760000000}}]}], "projects": []}), "grok", 1, 2)
case("grok/empty.json", J({"conversations": [{"conversation": {"id": "k"}, "responses": []}]}), "grok", 0, 0, empty=1)
studio = {"runSettings": {"model": "m"}, "systemInstruction": {}, "chunkedPrompt": {"chunks": [{"role": "user",
    "text": "q"}, {"role": "model", "text": "hm", "isThought": True}, {"role": "model", "text": "a",
    "finishReason": "STOP"}, {"driveImage": {"id": "i"}, "role": "user"}, {"role": "model", "errorMessage": "boom"}],
    "pendingInputs": [{"text": "draft", "role": "user"}]}}
case("ai_studio/plain", J(studio), "ai-studio", 1, None)
case("ai_studio/crlf.json", json.dumps(studio, indent=2).replace("\n", "\r\n"), "ai-studio", 1, None)
case("ai_studio/late.json", J({"runSettings": {"model": "m"}, "systemInstruction": {"text": "x" * 70000},
    "chunkedPrompt": {"chunks": [{"role": "user", "text": "q"}]}}), "ai-studio", 1, 1)
case("ai_studio/noset.json", J({"chunkedPrompt": {"chunks": [{"role": "user", "text": "q"}]}}), "ai-studio", 1, 1)
case("chatbotui/v4.json", J({"version": 4, "history": [{"id": "1", "name": "N", "messages": [{"role": "user",
    "content": "q"}, {"role": "assistant", "content": "a"}], "model": {"id": "m"}, "prompt": "p", "temperature": 1,
    "folderId": None}, {"id": "2", "name": "E", "messages": []}], "folders": [], "prompts": []}), "chatbotui", 1,
    None, empty=1)
case("cursor/agent.jsonl", L([{"role": "user", "message": {"content": [{"type": "text",
    "text": "<user_query>\nq\n</user_query>"}]}}, {"role": "assistant", "message": {"content": [{"type": "text",
    "text": "a"}, {"type": "tool_use", "name": "x", "input": {}}]}}]), "cursor", 1, 2)
case("cursor/crlf.jsonl", L([{"role": "user", "message": {"content": "q"}}, {"role": "assistant",
    "message": {"content": "a"}}]).replace("\n", "\r\n"), "cursor", 1, 2)
case("aider/a.aider.chat.history.md",
    "\n# aider chat started at 2026-01-01 10:00:00\r\n\r\n> Aider v1\r\n\r\n#### Frage\r\n\r\nAntwort\r\n", "aider",
    1, 3)
case("aider/bom.md", b"\xef\xbb\xbf" + "# aider chat started at 2026-01-01 10:00:00\n\n#### q\n\na\n".encode(),
    "aider", 1, 2)
case("other/lobechat.json", J({"exportType": "singleSession", "state": {"sessions": [{"id": "s",
    "meta": {"title": "T"}}], "topics": [], "messages": [{"id": "m", "role": "user", "content": "q", "sessionId": "s",
    "createdAt": 1}, {"id": "n", "role": "assistant", "content": "a", "sessionId": "s", "parentId": "m",
    "createdAt": 2}]}, "version": 7}), None, None, None)
case("other/takeout.json", J([{"header": "Gemini Apps", "title": "Prompted x", "time": "2026-01-01T00:00:00Z",
    "products": ["Gemini Apps"]}]), None, None, None)
case("other/package.json", J({"name": "x", "version": "1.0.0", "dependencies": {}}), None, None, None)
case("other/notebook.ipynb", J({"cells": [{"cell_type": "code", "source": ["x"], "outputs": [], "metadata": {}}],
    "metadata": {}, "nbformat": 4}), None, None, None)
case("other/geo.json", J({"type": "FeatureCollection", "features": [{"type": "Feature", "properties": {},
    "geometry": None}]}), None, None, None)
case("other/slack.json", J([{"type": "message", "user": "U", "text": "hi", "ts": "1.0"}]), None, None, None)
case("other/events.jsonl", L([{"timestamp": "2026-01-01T00:00:00Z", "type": "click", "payload": {"x": 1}}] * 3), None,
    None, None)
case("other/users.json", J([{"uuid": "a", "full_name": "N", "email_address": "e"}]), None, None, None)
case("other/projects.json", J([{"uuid": "a", "name": "P", "description": "", "prompt_template": "", "created_at": "x",
    "docs": []}]), None, None, None)
case("other/memories.json", J([{"conversations_memory": "x", "account_uuid": "a"}]), None, None, None)
case("other/shared_conversations.json", J([{"id": "a", "conversation_id": "b", "title": "t", "is_anonymous": True}]),
    None, None, None)
case("other/message_feedback.json", J([{"id": "a", "conversation_id": "b", "rating": "thumbs_up", "content": "{}"}]),
    None, None, None)

done = subprocess.run([RETAKE, "import", "--dry-run", "--json", *(path for path, _, _ in cases)], capture_output=True,
                      text=True, check=False)
failed = 0
for (path, form, facts), got in zip(cases, json.loads(done.stdout)["files"], strict=True):
    wrong = []
    found = None if "error" in got else got["format"]
    if found != form:
        wrong.append(f"format {found} instead of {form}")
    elif form is not None:
        wrong += [f"{key} {got[key]} instead of {wanted}" for key, wanted in facts.items()
                  if wanted is not None and got[key] != wanted]
    if wrong:
        failed += 1
        print("FAILED:", os.path.relpath(path, FOLDER) + ":", "; ".join(wrong), got.get("error", {}).get("message", ""))
print(f"{len(cases) - failed} passed, {failed} failed")
sys.exit(failed > 0)
