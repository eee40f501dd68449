/* SPDX-License-Identifier: MIT
 *
 * Idem: answers that are kept so that a request that is sent twice is done once (the header
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
#ifndef RT_SERVER_IDEM_H
#define RT_SERVER_IDEM_H

#include "base/sha256.h"
#include "log/engine.h"
#include "server/web.h"
#include "server/who.h"

#define RT_IDEM_PREFIX "idem/"

enum { RT_IDEM_KEY_MAX = 200, RT_IDEM_ROW_ROOM = 8 + RT_SHA256_HEX_ROOM };
#define RT_IDEM_KEPT_US (24 * 60 * 60 * (int64_t)1000000)

/* A request that has a key. Zero: it has none. */
typedef struct rt_idem {
	char row[RT_IDEM_ROW_ROOM];       /* name of the side row; empty: no key */
	char request[RT_SHA256_HEX_ROOM]; /* what was asked */
	int64_t now_us;
} rt_idem;

/* An answer that was kept. init, then deinit in any case. */
typedef struct rt_idem_kept {
	unsigned status; /* 0: begun, and not answered yet */
	uint64_t seq;
	rt_buf body, location, etag;
	bool is_other; /* it is the answer to another request with this key */
} rt_idem_kept;

void rt_idem_kept_init(rt_idem_kept *kept, const rt_alloc *alloc);
void rt_idem_kept_deinit(rt_idem_kept *kept);

/* From the headers. RT_USAGE: the key is not 1 to 200 visible ASCII characters. */
RT_CHECKED rt_status rt_idem_begin(const rt_web_request *request, const rt_who *who, int64_t now_us,
				   rt_idem *out, rt_error *err);
/* RT_NOT_FOUND: there is none, or it is too old. Within a transaction (of the calling thread)
 * it is what will stand. */
RT_CHECKED rt_status rt_idem_look(const rt_idem *idem, rt_store *store, uint64_t project,
				  rt_idem_kept *kept, rt_error *err);
/* An answer to be kept. */
typedef struct rt_idem_answer {
	unsigned status;
	uint64_t seq;
	rt_str body, location, etag; /* the last two may be empty */
} rt_idem_answer;
/* Within a transaction it is part of it; else it is one of its own. */
RT_CHECKED rt_status rt_idem_keep(const rt_idem *idem, const rt_alloc *alloc, rt_store *store,
				  uint64_t project, const rt_idem_answer *answer, rt_error *err);
/* Before something is begun. RT_CONFLICT: there is an answer, in kept, or it was begun. */
RT_CHECKED rt_status rt_idem_reserve(const rt_idem *idem, rt_store *store, uint64_t project,
				     rt_idem_kept *kept, rt_error *err);
/* It came to nothing: it may be begun again. */
RT_CHECKED rt_status rt_idem_drop(const rt_idem *idem, rt_store *store, uint64_t project,
				  rt_error *err);
/* Forget what was kept for longer than a day; the server calls this now and then. *out_count
 * (or NULL): how many. */
RT_CHECKED rt_status rt_idem_sweep(rt_engine *engine, int64_t now_us, size_t *out_count,
				   rt_error *err);

#endif
