/* SPDX-License-Identifier: MIT
 *
 * Idempotency: stored responses, so that a request that is sent twice is done once (the header
 * Idempotency-Key).
 *
 *   side row  idem/<hash of caller, method, path, key>       of the project
 *   value     {"v":1,"at":1763800000000000,"request":"<hash of query and body>",
 *              "status":200,"seq":42,"location":"…","etag":"…","body":"…"}
 *
 * The row is written in the transaction of the change, so both exist or neither does, in every
 * process and after a crash. It is looked up in that transaction, too. Purge finds texts in it as
 * in any side row.
 *
 * Work that is not a change of the project, such as a question to a model, has a row with status 0
 * before it begins. When that is found, the work is in progress, or was when the server ended.
 *
 * Threads: any. */
#ifndef RT_SERVER_IDEMPOTENCY_H
#define RT_SERVER_IDEMPOTENCY_H

#include "base/scope.h"
#include "base/sha256.h"
#include "log/engine.h"
#include "log/heads.h"
#include "server/web.h"

enum { RT_IDEMPOTENCY_KEY_MAX = 200, RT_IDEMPOTENCY_ROW_ROOM = 8 + RT_SHA256_HEX_ROOM };
#define RT_IDEMPOTENCY_TTL_US (24 * 60 * 60 * (int64_t)1000000)

/* A request and its key. */
typedef struct rt_idempotency {
	rt_engine *engine;
	char row[RT_IDEMPOTENCY_ROW_ROOM]; /* name of the side row; empty: no key */
	char request[RT_SHA256_HEX_ROOM]; /* hash of the request */
	int64_t now_us;
	bool is_reserved;
} rt_idempotency;

typedef enum rt_idempotency_state {
	RT_IDEMPOTENCY_NEW,   /* nothing is stored, or it is too old */
	RT_IDEMPOTENCY_BEGUN, /* begun, and not answered yet */
	RT_IDEMPOTENCY_DONE,
	RT_IDEMPOTENCY_OTHER  /* another request has this key */
} rt_idempotency_state;

/* A stored response. */
typedef struct rt_idempotency_record {
	rt_idempotency_state state;
	unsigned status;
	uint64_t seq;
	rt_str body, location, etag; /* the last two may be empty */
} rt_idempotency_record;

/* The key of a request. RT_USAGE: not 1 to 200 visible ASCII characters. */
rt_idempotency rt_idempotency_read_key(rt_scope *scope, const rt_web_request *request,
				       const rt_principal *principal, rt_engine *engine,
				       int64_t now_us);
/* The stored response; lives in the scope. Within a transaction of the calling thread it includes
 * uncommitted writes. */
rt_idempotency_record rt_idempotency_find(rt_scope *scope, const rt_idempotency *idem);
/* Stores a response, in the calling thread's transaction or a separate one. */
void rt_idempotency_save(rt_scope *scope, const rt_idempotency *idem,
			 const rt_idempotency_record *record);
/* Before work begins. NEW: the key is now reserved and must be saved or dropped; else the stored
 * response. */
rt_idempotency_record rt_idempotency_reserve(rt_scope *scope, rt_idempotency *idem);
/* Forgets the row: the request may be sent again. */
void rt_idempotency_drop(rt_scope *scope, const rt_idempotency *idem);
/* Forgets rows that are older than a day; called now and then. *out_count (or NULL): how many. */
RT_CHECKED rt_status rt_idempotency_sweep(rt_engine *engine, int64_t now_us, size_t *out_count,
					  rt_error *err);

#endif
