#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""While another program holds the store's write lock, a browser that signs in has to wait, but
no other client does: neither other browsers nor connections of the same event loop."""
import sqlite3
import sys
import threading

from client import Client, Place, Server, Tally, quote


def main():
    tally = Tally()
    with Place() as place, Server(place) as server:
        one, browser = server.client(), server.browser()
        tally.equal("a browser", browser.get("/discussions").status, 200)
        code = one.post("/codes").json["code"]
        store = sqlite3.connect(place.db, isolation_level=None)
        store.execute("BEGIN IMMEDIATE")
        let_in = []
        login = threading.Thread(target=lambda: let_in.append(
            Client(server, {}).request("GET", "/?code=" + quote(code)).status))
        before = one.get("/server").json["requests"]
        login.start()
        own = 1
        while one.get("/server").json["requests"] <= before + own:  # our own request counts, too
            own += 1
        for _ in range(20):
            tally.equal("is answered", browser.get("/discussions").status, 200)
            browser.close()
        tally.check("while another one waits", login.is_alive() and not let_in, let_in)
        store.execute("ROLLBACK")
        store.close()
        login.join()
        tally.equal("which is signed in then", let_in, [303])
    return tally.end()


if __name__ == "__main__":
    sys.exit(main())
