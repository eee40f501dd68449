# SPDX-License-Identifier: MIT
"""What is written and not sent is back after the program is gone, however it went."""
import time

from screen import Count, needs_tmux


def comes_back(count, place, how):
    with place.open() as t:
        t.wait("Nothing has been said")
        t.type("half a thought, " + how)
        t.wait("half a thought, " + how)
        if how == "kill":
            for _ in range(200):          # kept when nobody typed for a moment
                if any(open(path, encoding="utf-8").read().endswith(how) for path in place.drafts()):
                    break
                time.sleep(0.05)
            place.kill(9)
        elif how == "hangup":
            place.kill(1)
        else:
            place.kill(15)
        t.wait("ended")
    with place.open() as t:
        t.wait("half a thought, " + how, "What you were writing here is back")
        count.check(how, True)
        t.key("Enter")
        t.wait("You said: ")
        t.key("C-d")
        t.wait("ended 0")
    count.equal(how + ": nothing is kept of what was sent", list(place.drafts()), [])
    count.equal(how + ": it was sent", place.texts()[0], ("User", "half a thought, " + how))


def kill(count, place):
    comes_back(count, place, "kill")


def hangup(count, place):
    comes_back(count, place, "hangup")


def terminated(count, place):
    comes_back(count, place, "terminated")


def each_its_own(count, place):
    with place.open() as t:
        t.wait("Nothing has been said")
        t.type("/new other")
        t.key("Enter")
        t.wait("other")
        t.type("of the other one")
        t.key("C-c")
        t.wait("Enter send")
        t.key("C-d")
        t.wait("ended 0")
    count.equal("nothing is left of what was taken away", list(place.drafts()), [])


if __name__ == "__main__":
    needs_tmux()
    tally = Count()
    for part in (kill, hangup, terminated, each_its_own):
        tally.part(part)
    tally.end()
