/* SPDX-License-Identifier: MIT
 *
 * A reply in flight: a side row of its project, which is a JSON object:
 *
 *   {"v":1,
 *    "owner":"…",                 the process that receives it
 *    "run":"r3-9f3a6c",           the name that it has there (app/run.h), if it has one
 *    "started":…,"written":…,     microseconds since 1970
 *    "request":{"op":"entry.reply",…,"partial":true,"flight":"reply/…"}}
 *
 * request contains the reply so far; a process that finds the row of one that has ended applies it.
 * That deletes the row in the same transaction (commit.c). */
#ifndef RT_CHAT_INFLIGHT_H
#define RT_CHAT_INFLIGHT_H

#include "ops/action.h"
#include "log/engine_impl.h"
#include "chat/send.h"

enum {
	RT_INFLIGHT_EVERY_US = 250 * 1000, /* how old the row may be while bytes arrive */
};

/* Where a reply belongs. Views are borrowed. */
typedef struct rt_inflight {
	rt_engine *engine;
	char name[48];           /* of the side row */
	rt_str owner;
	rt_str run;              /* or empty */
	rt_place_ids place;
	char after[132];         /* empty: the take's beginning, unless into */
	char into[132];          /* empty: a separate reply */
	bool fork;
	rt_str role;
	rt_str model;            /* "openai/gpt-4o" */
	rt_str service;          /* as in rt_model */
	const rt_price *price;   /* of the model, or NULL */
	bool cache_apart;        /* as in rt_provider */
	const rt_apply_context *apply; /* of the entry; or NULL */
	int64_t started_us, written_us;
	size_t written_size;     /* of the reply when the row was written */
	bool taken;              /* another process has deleted the row and kept or discarded
	                          * its content. Nothing more is written */
	const rt_reply *reply;
	rt_str prompt;           /* of the finished reply; ptr NULL: it changes none */
} rt_inflight;

/* Gives it a name and writes its row for the first time. */
RT_CHECKED rt_status rt_inflight_begin(rt_inflight *inflight, rt_error *err);
/* Writes the row if it is due and there is more to write. A row that contained a part of the reply
 * is never created again: taken is set, RT_CONFLICT. */
RT_CHECKED rt_status rt_inflight_write(rt_inflight *inflight, bool now, rt_error *err);
/* The entry that the reply answers no longer exists: writes all of it into its row, without an
 * owner. RT_CONFLICT: taken. */
RT_CHECKED rt_status rt_inflight_strand(rt_inflight *inflight, rt_error *err);
/* Deletes the row: nothing is kept. */
RT_CHECKED rt_status rt_inflight_drop(rt_inflight *inflight, rt_error *err);
/* Keeps the finished reply as an entry. RT_CONFLICT: taken; it is not kept twice. */
rt_status rt_inflight_keep(rt_inflight *inflight, bool partial, rt_result *result);

#endif
