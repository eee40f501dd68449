#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Seed 3 (a conversation manager for browsers): each test that the seed requires, under its
name. A session is a browser with a cookie; its conversation is its project."""
import sys
import threading

from client import Client, Place, Server, Tally, quote

SYSTEM = "You help users create images."


class Session:
    """The manager of the seed, implemented with HTTP requests."""

    def __init__(self, client):
        self.client = client

    def add_user_message(self, content):
        return self.client.op({"op": "entry.append", "role": "user", "content": content})

    def add_assistant_message(self, content, prompt):
        return self.client.op({"op": "entry.append", "role": "assistant", "content": content,
                               "prompt": prompt})

    def get_history(self):
        return [(entry["role"], entry["content"])
                for entry in self.client.get("/discussions/main/entries").json["entries"]]

    def prompt(self):
        return self.client.get("/discussions/main/prompt").json

    def update_prompt(self, text):
        return self.client.put("/discussions/main/prompt", {"text": text})

    def notify_prompt_edited(self):
        return self.client.post("/discussions/main/prompt/notify")

    def clear(self):
        return self.client.post("/discussions/main/takes/main/clear", {"all": True})

    def context(self):
        """The request for ollama: the messages, as (role, content)."""
        answer = self.client.get("/discussions/main/context?provider=ollama").json
        request = answer["body"]
        return [(m["role"], m["content"]) for m in request["messages"]]

    def set_system_prompt(self, text):
        self.client.put("/settings/use_default_base_prompt", {"value": False})
        self.client.put("/settings/base_system_prompt", {"value": text})


def words_of(messages):
    return "\n".join(f"[{role}] {content}" for role, content in messages)


# ---- unit tests of the manager ----

def adding_messages_maintains_order(t, server):
    s = Session(server.browser())
    for at in range(20):
        s.add_user_message(f"u{at}")
        s.add_assistant_message(f"a{at}", "p")
    wanted = [(role, f"{role[0]}{at}") for at in range(20) for role in ("user", "assistant")]
    t.equal("adding messages maintains order", s.get_history(), wanted)


def get_history_returns_all_messages(t, server):
    s = Session(server.browser())
    t.equal("GetHistory of nothing", s.get_history(), [])
    s.add_user_message("one")
    s.add_assistant_message("two", "p")
    s.client.op({"op": "entry.append", "role": "system", "content": "three"})
    t.equal("GetHistory() returns all messages", s.get_history(),
            [("user", "one"), ("assistant", "two"), ("system", "three")])


def add_assistant_message_updates_current_prompt(t, server):
    s = Session(server.browser())
    t.equal("no prompt at first", s.prompt()["text"], "")
    s.add_assistant_message("here", "a tabby cat")
    t.equal("AddAssistantMessage updates current prompt", s.prompt()["text"], "a tabby cat")
    t.equal("which is not an edit", s.prompt()["edited"], False)


def update_prompt_sets_edited_flag_when_prompt_changes(t, server):
    s = Session(server.browser())
    s.add_assistant_message("here", "a cat")
    s.update_prompt("a dog")
    t.equal("UpdatePrompt sets edited flag when prompt changes", s.prompt(),
            {**s.prompt(), "text": "a dog", "edited": True})


def update_prompt_does_not_set_flag_when_prompt_unchanged(t, server):
    s = Session(server.browser())
    s.add_assistant_message("here", "a cat")
    answer = s.update_prompt("a cat")
    t.check("it says so", answer.json.get("unchanged") is True, answer)
    t.equal("UpdatePrompt does not set flag when prompt unchanged", s.prompt()["edited"], False)


def notify_prompt_edited_injects_system_message_with_prompt_text(t, server):
    s = Session(server.browser())
    s.add_assistant_message("here", "a cat")
    s.update_prompt("a \"dog\"\nand é")
    s.notify_prompt_edited()
    t.equal("NotifyPromptEdited injects system message with prompt text", s.get_history()[-1],
            ("system", "[user edited prompt to: \"a \"dog\"\nand é\"]"))


def notify_prompt_edited_clears_edited_flag(t, server):
    s = Session(server.browser())
    s.update_prompt("a dog")
    t.equal("it is set", s.prompt()["edited"], True)
    s.notify_prompt_edited()
    t.equal("NotifyPromptEdited clears edited flag", s.prompt()["edited"], False)


def notify_prompt_edited_no_ops_if_not_edited(t, server):
    s = Session(server.browser())
    s.add_assistant_message("here", "a cat")
    seq = s.client.get("/info").json["seq"]
    answer = s.notify_prompt_edited()
    t.equal("NotifyPromptEdited no-ops if not edited", (s.get_history(), answer.status),
            ([("assistant", "here")], 200), answer)
    t.equal("and is not a step", s.client.get("/info").json["seq"], seq)
    s.update_prompt("a dog")
    s.notify_prompt_edited()
    s.notify_prompt_edited()
    t.equal("nor is a second one", len(s.get_history()), 2)


def build_llm_context_includes_system_prompt_history_and_current_prompt(t, server):
    s = Session(server.browser())
    s.set_system_prompt(SYSTEM)
    s.add_user_message("I want a cat in a hat")
    s.add_assistant_message("A cat in a hat!", "a cat wearing a hat")
    s.add_user_message("Make it purple")
    got = s.context()
    t.check("BuildLLMContext includes the system prompt first", got[0][0] == "system" and
            got[0][1].startswith(SYSTEM), got)
    text = words_of(got)
    t.check("the history in order", text.index("I want a cat") < text.index("A cat in a hat!") <
            text.index("Make it purple"), text)
    t.check("and the current prompt last", "[current prompt: \"a cat wearing a hat\"]" in got[-1][1],
            got[-1])
    t.check("the system prompt is not in the history", SYSTEM not in words_of(s.get_history()))


def clear_resets_all_state(t, server):
    s = Session(server.browser())
    s.add_user_message("one")
    s.add_assistant_message("two", "a cat")
    s.update_prompt("a dog")
    s.clear()
    t.equal("Clear resets all state", (s.get_history(), s.prompt()["text"], s.prompt()["edited"]),
            ([], "", False))


# ---- sessions ----

def session_creation(t, server):
    browser = server.browser()
    cookie = browser.headers["Cookie"]
    t.check("the cookie is of this server", cookie.startswith(f"retake_{server.port}="), cookie)
    first = Session(browser)
    t.equal("session creation: it begins empty", first.get_history(), [])
    t.equal("without a cookie there is none",
            Client(server, {}).get("/discussions/main/entries").status, 401)
    forged = Client(server, {"Cookie": cookie[:-4] + "0000"})
    t.equal("nor with an unknown cookie", forged.get("/discussions/main/entries").status, 401)
    code = server.client().post("/codes").json["code"]
    answer = Client(server, {}).request("GET", "/?code=" + quote(code))
    given = answer.headers.get("set-cookie", "")
    t.check("no script and no other site sees the cookie", "HttpOnly" in given and
            "SameSite=Strict" in given, given)
    again = Client(server, {}).request("GET", "/?code=" + quote(code))
    t.check("a code can be used once", "set-cookie" not in again.headers, again)


def session_retrieval(t, server):
    browser = server.browser()
    Session(browser).add_user_message("mine")
    same = Session(Client(server, browser.headers))
    t.equal("session retrieval: the same cookie, the same conversation", same.get_history(),
            [("user", "mine")])


def isolation_between_sessions(t, server):
    one, other = Session(server.browser()), Session(server.browser())
    one.add_user_message("only one")
    one.update_prompt("one's prompt")
    t.equal("isolation between sessions: messages", other.get_history(), [])
    t.equal("and the prompt", (other.prompt()["text"], other.prompt()["edited"]), ("", False))
    other.clear()
    t.equal("clearing one leaves the other", (len(one.get_history()), one.prompt()["text"]),
            (1, "one's prompt"))
    t.check("nothing of it is in the other's context", "only one" not in words_of(other.context()))


def thread_safety(t, server):
    session = Session(server.browser())
    failures = []

    def work(name):
        mine = Session(Client(server, session.client.headers))
        for at in range(25):
            answer = mine.add_user_message(f"{name} {at}")
            if answer.status != 201:
                failures.append(answer)
            mine.get_history()
        mine.client.close()

    threads = [threading.Thread(target=work, args=(name,)) for name in "abcdefgh"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    got = [content for _, content in session.get_history()] if not failures else []
    t.equal("thread safety: nothing fails", failures, [])
    t.equal("nothing is lost", sorted(got), sorted(f"{name} {at}" for name in "abcdefgh"
                                                   for at in range(25)))
    for name in "abcdefgh":
        t.equal("and each one's are in order", [c for c in got if c.startswith(name)],
                [f"{name} {at}" for at in range(25)])


def get_or_create_at_once(t, server):
    """Parallel first requests of a new browser get the same conversation."""
    browser = server.browser()
    seen = []

    def ask():
        mine = Client(server, browser.headers)
        mine.op({"op": "entry.append", "content": "x"})
        seen.append(mine.get("/info").json["project"])
        mine.close()

    threads = [threading.Thread(target=ask) for _ in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    t.equal("one conversation was made", len(set(seen)), 1, seen)
    t.equal("with all that was said", len(Session(browser).get_history()), 12)


# ---- integration ----

def conversation_flow(t, server):
    """The seed's example, line by line."""
    s = Session(server.browser())
    s.set_system_prompt(SYSTEM)
    s.add_user_message("I want a cat in a hat")
    s.add_assistant_message("A cat in a hat! Let me ask...", "")
    s.add_user_message("Make it a tabby cat with a wizard hat")
    s.add_assistant_message("Got it! Here's what I have:",
                            "a tabby cat wearing a wizard hat, fantasy style")
    s.update_prompt("a tabby cat wearing a sparkly wizard hat, fantasy style")
    s.notify_prompt_edited()
    s.add_user_message("Now make the background purple")
    t.equal("messages maintain order", [role for role, _ in s.get_history()],
            ["user", "assistant", "user", "assistant", "system", "user"])
    notice = "[user edited prompt to: \"a tabby cat wearing a sparkly wizard hat, fantasy style\"]"
    t.equal("edits trigger notifications", s.get_history()[4], ("system", notice))
    got = s.context()
    text = words_of(got)
    parts = [SYSTEM, "I want a cat in a hat", "A cat in a hat! Let me ask...",
             "Make it a tabby cat", "Got it! Here's what I have:", notice,
             "Now make the background purple",
             "[current prompt: \"a tabby cat wearing a sparkly wizard hat, fantasy style\"]"]
    places = [text.find(part) for part in parts]
    t.check("LLM context includes all required parts", -1 not in places, places, text)
    t.equal("in their order", places, sorted(places), text)
    s.client.post("/undo")
    s.client.post("/undo")
    t.equal("and what the seed leaves out: it can be undone", s.prompt()["edited"], True)


def multiple_sessions_remain_isolated(t, server):
    sessions = [Session(server.browser()) for _ in range(5)]
    for turn in range(4):
        for at, s in enumerate(sessions):
            s.add_user_message(f"user {at} says {turn}")
            s.add_assistant_message(f"to {at}: {turn}", f"prompt {at}.{turn}")
            if turn % 2:
                s.update_prompt(f"edited {at}.{turn}")
                s.notify_prompt_edited()
    for at, s in enumerate(sessions):
        others = [f"user {other} says" for other in range(5) if other != at] + \
            [f"edited {other}." for other in range(5) if other != at]
        text = words_of(s.get_history()) + words_of(s.context())
        t.check("multiple sessions remain isolated", not any(word in text for word in others),
                text)
        t.equal("each has its own", len(s.get_history()), 10)
        t.equal("and its prompt", s.prompt()["text"], f"edited {at}.3")


def after_a_restart(t, place):
    """Left open by the seed: sessions survive a restart of the server."""
    with Server(place, "--isolate") as server:
        browser = server.browser()
        Session(browser).add_user_message("kept")
        project = browser.get("/info").json["project"]
    done = place.run("show", "--json", project=project)
    t.check("a session is kept", b"kept" in done.stdout, done.stdout, done.stderr)


def main():
    t = Tally()
    tests = [adding_messages_maintains_order, get_history_returns_all_messages,
             add_assistant_message_updates_current_prompt,
             update_prompt_sets_edited_flag_when_prompt_changes,
             update_prompt_does_not_set_flag_when_prompt_unchanged,
             notify_prompt_edited_injects_system_message_with_prompt_text,
             notify_prompt_edited_clears_edited_flag, notify_prompt_edited_no_ops_if_not_edited,
             build_llm_context_includes_system_prompt_history_and_current_prompt,
             clear_resets_all_state, session_creation, session_retrieval,
             isolation_between_sessions, thread_safety, get_or_create_at_once, conversation_flow,
             multiple_sessions_remain_isolated]
    with Place() as place:
        with Server(place, "--isolate") as server:
            for test in tests:
                try:
                    test(t, server)
                except Exception as error:  # continue: the next tests are informative, too
                    t.check(f"{test.__name__} ends", False, repr(error))
            t.equal("the server ends", server.stop(), 0)
        after_a_restart(t, place)
    return t.end()


if __name__ == "__main__":
    sys.exit(main())
