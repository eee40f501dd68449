/* SPDX-License-Identifier: MIT
 *
 * Browsers: those signed in with a code, and the project of each.
 *
 *   code      64 bits, valid once and for RT_CODE_S; anyone with the token can make one
 *   cookie    256 random bits, new at each sign-in, which prevents session fixation.
 *             Its name contains the port, since cookies are not bound to ports
 *   project   the only one that it may open: the one for which the code was made, or with isolation
 *             "browser-" and 12 characters, made on the first request; empty: all
 *
 * Only the SHA-256 of codes and cookies is stored, in side rows of the served project:
 *
 *   code/<64 hex digits>      {"v":1,"number":3,"project":"","until":…,"user":7}
 *   browser/<64 hex digits>   {"v":1,"project":"browser-9f3a6c01b2d4","made":…,"seen":…,"user":7}
 *
 * so a browser finds its project after a restart of the server, and any server on the same store
 * accepts its code and its cookie. It is forgotten after 90 days without a visit, and by signing
 * out: immediately by this server, after RT_BROWSERS_FRESH_MS by others; the project stays.
 *
 * Threads: locks itself, and never while the store is written: the front's loops identify
 * browsers. */
#ifndef RT_SERVER_BROWSER_H
#define RT_SERVER_BROWSER_H

#include "server/project_pool.h"
#include "server/token_host.h"

typedef struct rt_browsers rt_browsers;

#define RT_CODE_LIFE "10 minutes" /* RT_CODE_S in words */

enum {
	RT_CODE_ROOM = 17,
	RT_CODE_S = 600,
	RT_CODES_MAX = 256,    /* waiting at a time; then the oldest is dropped */
	RT_BROWSER_DAYS = 90,
	RT_BROWSERS_MAX = 10000,
	RT_BROWSERS_FRESH_MS = 500, /* until other servers notice a change */
	RT_BROWSER_ROOM = RT_TOKEN_ROOM, /* hash of a cookie */
	RT_BROWSER_PROJECT_ROOM = 256
};

/* home: the project whose side rows contain them. isolate: each browser gets a separate project;
 * else its project stays empty: it may open every project, and begins with home. */
RT_CHECKED rt_status rt_browsers_open(const rt_alloc *alloc, const rt_env *env,
				      rt_open_project *home, bool isolate, rt_browsers **out,
				      rt_error *err);
void rt_browsers_close(rt_browsers *browsers);

/* Makes a code. user: id of the one that the browser acts for, with accounts; else 0. project: the only
 * one that the browser may open; empty: a new one with isolate, else every project. *out_replaced (may be
 * NULL): RT_CODES_MAX were waiting, and the oldest is no longer valid. RT_LIMIT: the project's name
 * is too long. */
RT_CHECKED rt_status rt_browsers_code(rt_browsers *browsers, uint64_t user, rt_str project, char out[RT_CODE_ROOM],
				      bool *out_replaced, rt_error *err);
/* Exchanges a code for a cookie's value. RT_CREDENTIALS: it is unknown, used, expired or
 * replaced. After any other failure (RT_LIMIT: RT_BROWSERS_MAX are signed in) it is still valid. */
RT_CHECKED rt_status rt_browsers_enter(rt_browsers *browsers, rt_str code,
				       char out_cookie[RT_TOKEN_ROOM], rt_error *err);
/* The browser of a cookie; false: unknown. out_project: the only one that it may open; empty:
 * every project. out_user (may be NULL): id of its user; 0: none. Never waits for
 * the disk: rt_browsers_tend writes when it was last seen. */
bool rt_browsers_find(rt_browsers *browsers, rt_str cookie, char out_hash[RT_BROWSER_ROOM],
		      char out_project[RT_BROWSER_PROJECT_ROOM], uint64_t *out_user);
/* Reads the rows again, for changes by other servers, unless that was begun after since_us, by the
 * clock of the env. Waits for the store. RT_NOMEM, or a failure of the store: everything is as
 * before. */
RT_CHECKED rt_status rt_browsers_refresh(rt_browsers *browsers, int64_t since_us, rt_error *err);
/* Is the browser still signed in? */
bool rt_browsers_is_in(rt_browsers *browsers, rt_str hash);
/* Writes what rt_browsers_find has noted, if anything, removes browsers that have expired, and
 * refreshes. Called now and then. */
void rt_browsers_tend(rt_browsers *browsers);
/* Logs out. */
RT_CHECKED rt_status rt_browsers_leave(rt_browsers *browsers, rt_str hash, rt_error *err);
/* A stream that ends when the browser has signed out. Owns inner; without memory inner is closed
 * and the result NULL. */
rt_web_stream *rt_browsers_guard_stream(rt_browsers *browsers, rt_str hash, rt_web_stream *inner);

#endif
