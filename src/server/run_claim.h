/* SPDX-License-Identifier: MIT
 *
 * Run claims: the runs of all servers of one store. A run belongs to the server that got its request
 * (app/run.h); its claim makes it known to the others:
 *
 *   side row  run/<name of the run>        of the project
 *   value     {"v":1,"owner":"…",          the process, in the form of rt_host_add_owner
 *              "at":1763800000000000,      microseconds since 1970: when its owner last wrote it
 *              "stops":1,                  how often other servers asked for it to be stopped
 *              "info":{…},                 the run as in run_json.h, without texts; after a purge
 *                                          without everything that can contain words of texts
 *              "texts":{…}}                once it has ended, if they are short
 *
 * The owner writes it before it reports the run to its client, then every few seconds, and at the end;
 * until then it reads now and then how often others want it stopped. The text so far is in the row
 * of the reply in flight (chat/inflight.h), which has the same name of the run.
 *
 * A run that has ended is moved to the side row ran/<name> after a while, by any server, and removed
 * after an hour. A claim that has not been written for half a minute belongs to a server that has
 * ended: any other server keeps what arrived as a partial reply and marks the run as failed.
 *
 * Threads: any. */
#ifndef RT_SERVER_RUN_CLAIM_H
#define RT_SERVER_RUN_CLAIM_H

#include "app/run.h"

enum {
	RT_CLAIMS_MAX = 2 * RT_RUNS_MAX,
	RT_CLAIM_LOOK_MS = 250,   /* between two checks of how often others want it stopped */
	RT_CLAIM_WRITE_MS = 5000, /* how old a claim of a running server may be, about */
	RT_CLAIM_DEAD_MS = 30000,
	RT_CLAIM_RECENT_MS = 5000, /* how long a run that has ended is in its first row */
	RT_CLAIM_KEPT_MS = RT_RUNS_KEPT_S * 1000,
	RT_CLAIM_TEXTS_MAX = 16 << 10
};

/* The claims of a project's runs by this server. */
typedef struct rt_run_claims rt_run_claims;

typedef struct rt_run_claims_options {
	rt_engine *engine;
	rt_runs *runs;
	const rt_alloc *alloc;
	const rt_env *env;
	rt_str owner;            /* this process */
	rt_owner_lives_fn lives; /* or NULL: all do */
} rt_run_claims_options;

/* Everything in the options must outlive the claims. */
RT_CHECKED rt_status rt_run_claims_new(const rt_run_claims_options *options, rt_run_claims **out,
				       rt_error *err);
/* Does not write anything; NULL is allowed. */
void rt_run_claims_free(rt_run_claims *claims);

/* A run has begun here. If its claim cannot be written now, the tick tries again. */
void rt_run_claims_add(rt_run_claims *claims, rt_str name);
/* Every RT_FEED_TICK_MS: writes claims that are due, stops runs on request of others. */
void rt_run_claims_tick(rt_run_claims *claims);
/* The same at once; after rt_runs_stop_all it writes how all runs ended. */
void rt_run_claims_flush(rt_run_claims *claims);
/* Now and then: claims of servers that have ended, old runs. *out_kept (or NULL): replies that
 * became entries. */
RT_CHECKED rt_status rt_run_claims_sweep(rt_run_claims *claims, size_t *out_kept, rt_error *err);

/* A run of another server, as rt_runs_show_json. RT_NOT_FOUND. */
RT_CHECKED rt_status rt_run_claims_show(rt_run_claims *claims, rt_str name, rt_buf *out,
					rt_error *err);
/* Appends the runs of other servers to an open array, without texts. */
RT_CHECKED rt_status rt_run_claims_list(rt_run_claims *claims, rt_buf *out, rt_error *err);
/* Asks its server to stop it. RT_NOT_FOUND. */
RT_CHECKED rt_status rt_run_claims_stop(rt_run_claims *claims, rt_str name, rt_error *err);

/* ---- reading ---- */

typedef struct rt_run_claim {
	struct rt_run_claim *next;
	rt_str name, owner, discussion;
	int64_t at_us;
	uint64_t stops, seq;   /* seq: of its last step; 0: none */
	bool has_ended;
	rt_str info, texts;    /* JSON; texts may be empty */
} rt_run_claim;

/* The claims in rows with this prefix; they live in the scope. Rows that cannot be decoded are
 * left out. */
rt_run_claim *rt_run_claims_read(rt_scope *scope, rt_engine *engine, const char *prefix);
/* The claim of one run; NULL: there is none. */
rt_run_claim *rt_run_claim_read(rt_scope *scope, rt_engine *engine, const char *prefix, rt_str name);

#endif
