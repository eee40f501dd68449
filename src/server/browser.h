/* SPDX-License-Identifier: MIT
 *
 * Browsers: who was let in with a code, and the project that each has (feature N1).
 *
 *   code      64 bits, good once and for a minute; whoever has the token can ask for one
 *   cookie    256 random bits, made anew at each login, so nobody can be given one that
 *             somebody else knows. Its name bears the port, since cookies know no ports
 *   project   "browser-" and 12 characters, made on the first request; or one for all (shared);
 *             or the one that the code was made for
 *
 * What is kept of a cookie is its SHA-256, as a side row of the served project:
 *
 *   browser/<64 hex digits>   {"v":1,"project":"browser-9f3a6c01b2d4","made":…,"seen":…}
 *
 * so the same browser finds its project after the server was started anew (N7). It is
 * forgotten after 90 days without a visit, and at once by logging out; the project stays.
 *
 * Threads: locks itself, and never while the store is written: loops ask who somebody is. */
#ifndef RT_SERVER_BROWSER_H
#define RT_SERVER_BROWSER_H

#include "server/project_pool.h"
#include "server/token_host.h"

typedef struct rt_browsers rt_browsers;

enum {
	RT_CODE_ROOM = 17,
	RT_CODE_S = 60,
	RT_CODES_MAX = 256,    /* waiting at a time; then the oldest goes */
	RT_BROWSER_DAYS = 90,
	RT_BROWSERS_MAX = 10000,
	RT_BROWSER_ROOM = RT_TOKEN_ROOM, /* hash of a cookie */
	RT_BROWSER_PROJECT_ROOM = 256
};

/* home: the project whose side rows hold them. shared: all browsers have that project. */
RT_CHECKED rt_status rt_browsers_open(const rt_alloc *alloc, const rt_env *env,
				      rt_open_project *home, bool shared, rt_browsers **out,
				      rt_error *err);
void rt_browsers_close(rt_browsers *browsers);

/* A code to be used once. project: whose the browser is to see; empty: one of its own, or the
 * one that all share. *out_replaced (may be NULL): RT_CODES_MAX were waiting, and the oldest of
 * them is good no longer. RT_LIMIT: its name is too long. */
RT_CHECKED rt_status rt_browsers_code(rt_browsers *browsers, rt_str project, char out[RT_CODE_ROOM],
				      bool *out_replaced, rt_error *err);
/* Trade it for a cookie's value. RT_CREDENTIALS: it is none, was used, is too old, or was
 * replaced. */
RT_CHECKED rt_status rt_browsers_enter(rt_browsers *browsers, rt_str code,
				       char out_cookie[RT_TOKEN_ROOM], rt_error *err);
/* Whose cookie is that? project: empty, where all share one. false: nobody's. Waits for no
 * disk: that it was seen is written by rt_browsers_tend. */
bool rt_browsers_find(rt_browsers *browsers, rt_str cookie, char out_hash[RT_BROWSER_ROOM],
		      char out_project[RT_BROWSER_PROJECT_ROOM]);
/* Is it still let in? */
bool rt_browsers_is_in(rt_browsers *browsers, rt_str hash);
/* Write down who was here, if there is something to write. Now and then. */
void rt_browsers_tend(rt_browsers *browsers);
/* Log out. */
RT_CHECKED rt_status rt_browsers_leave(rt_browsers *browsers, rt_str hash, rt_error *err);

#endif
