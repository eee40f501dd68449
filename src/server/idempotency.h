/* SPDX-License-Identifier: MIT
 *
 * Idempotency: answers that are kept so that a request that is sent twice is done once (the header
 * Idempotency-Key).
 *
 *   side row  idem/<hash of who asks, method, path, key>       of the project
 *   value     {"v":1,"at":1763800000000000,"request":"<hash of query and body>",
 *              "status":200,"seq":42,"location":"…","etag":"…","body":"…"}
 *
 * The row is written in the transaction of the change, so both are there or neither is, in
 * every process and after a crash. It is looked up in that transaction, too; nobody comes
 * in between. Purge finds texts in it as in any side row.
 *
 * What is no change of the project, such as a question to a model, has its row before it is
 * begun, with status 0. When that is found, it is under way, or was when the server died.
 *
 * Threads: any. */
#ifndef RT_SERVER_IDEMPOTENCY_H
#define RT_SERVER_IDEMPOTENCY_H

#include "base/sha256.h"
#include "log/engine.h"
#include "server/web.h"
#include "server/principal.h"

#define RT_IDEMPOTENCY_PREFIX "idem/"

enum { RT_IDEMPOTENCY_KEY_MAX = 200, RT_IDEMPOTENCY_ROW_ROOM = 8 + RT_SHA256_HEX_ROOM };
#define RT_IDEMPOTENCY_TTL_US (24 * 60 * 60 * (int64_t)1000000)

/* A request that has a key. Zero: it has none. */
typedef struct rt_idempotency {
	char row[RT_IDEMPOTENCY_ROW_ROOM]; /* name of the side row; empty: no key */
	char request[RT_SHA256_HEX_ROOM]; /* what was asked */
	int64_t now_us;
} rt_idempotency;

/* An answer that was kept. init, then deinit in any case. */
typedef struct rt_idempotency_record {
	unsigned status; /* 0: begun, and not answered yet */
	uint64_t seq;
	rt_buf body, location, etag;
	bool is_other; /* it is the answer to another request with this key */
} rt_idempotency_record;

void rt_idempotency_record_init(rt_idempotency_record *record, const rt_alloc *alloc);
void rt_idempotency_record_deinit(rt_idempotency_record *record);

/* From the headers. RT_USAGE: the key is not 1 to 200 visible ASCII characters. */
RT_CHECKED rt_status rt_idempotency_read_key(const rt_web_request *request,
					     const rt_principal *principal, int64_t now_us,
					     rt_idempotency *out, rt_error *err);
/* RT_NOT_FOUND: there is none, or it is too old. Within a transaction (of the calling thread)
 * it is what will stand. */
RT_CHECKED rt_status rt_idempotency_find(const rt_idempotency *idem, rt_store *store,
					 uint64_t project, rt_idempotency_record *record,
					 rt_error *err);
/* An answer to be kept. */
typedef struct rt_idempotency_response {
	unsigned status;
	uint64_t seq;
	rt_str body, location, etag; /* the last two may be empty */
} rt_idempotency_response;
/* Within a transaction it is part of it; else it is one of its own. */
RT_CHECKED rt_status rt_idempotency_save(const rt_idempotency *idem, const rt_alloc *alloc,
					 rt_store *store, uint64_t project,
					 const rt_idempotency_response *answer, rt_error *err);
/* Before something is begun. RT_CONFLICT: there is an answer, in kept, or it was begun. */
RT_CHECKED rt_status rt_idempotency_reserve(const rt_idempotency *idem, rt_store *store,
					    uint64_t project, rt_idempotency_record *record,
					    rt_error *err);
/* It came to nothing: it may be begun again. */
RT_CHECKED rt_status rt_idempotency_drop(const rt_idempotency *idem, rt_store *store,
					 uint64_t project, rt_error *err);
/* Forget what was kept for longer than a day; the server calls this now and then. *out_count
 * (or NULL): how many. */
RT_CHECKED rt_status rt_idempotency_sweep(rt_engine *engine, int64_t now_us, size_t *out_count,
					  rt_error *err);

#endif
