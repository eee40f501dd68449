/* SPDX-License-Identifier: MIT
 *
 * Internals of the feed:
 *
 *   feed.c          the feed, its streams, waking them, the tick
 *   feed_stream.c   one stream: its next bytes
 *   feed_source.c   events: rows of the log, the newest kept for all streams; replies that other
 *                   processes receive
 *
 * Locks, none of them taken while another of this list is held, but for gate:
 *
 *   gate       read: a stream is read; written: the runs change, or the feed ends
 *   list       the streams; held while they are woken
 *   rows, inflight   of the two sources */
#ifndef RT_SERVER_FEED_IMPL_H
#define RT_SERVER_FEED_IMPL_H

#include <pthread.h>
#include <stdatomic.h>

#include "server/feed.h"
#include "server/run_json.h"
#include "view/view.h"

enum {
	RT_FEED_ROWS = 256, /* kept */
	RT_FEED_ROWS_BYTES = 1 << 20,
	RT_FEED_INFLIGHT_MAX = 64,
	RT_FEED_PASS_MAX = 1024, /* rows left out before an id is sent */
	RT_FEED_BATCH = 64 << 10 /* bytes that one read prepares, about */
};

/* ---- rows ---- */

/* A row as an event. */
typedef struct rt_feed_row {
	uint64_t seq;        /* 0: none */
	const rt_text *text;
	rt_change_discs discs;
} rt_feed_row;

typedef struct rt_feed_rows {
	pthread_mutex_t lock;
	uint64_t epoch;      /* the history of these rows */
	rt_feed_row at[RT_FEED_ROWS]; /* by seq modulo their number */
	uint64_t low;        /* no row below it is kept */
	size_t bytes;
} rt_feed_rows;

void rt_feed_rows_init(rt_feed_rows *rows);
void rt_feed_rows_deinit(rt_feed_rows *rows);
/* A row of this history, project being its newest value; out->text is the caller's to unref. A row
 * that can never be read becomes a "whole" event. RT_NOMEM, RT_IO, RT_BUSY …: it cannot be read
 * now. */
RT_CHECKED rt_status rt_feed_rows_get(rt_feed_rows *rows, rt_engine *engine, uint64_t epoch,
				      const rt_project *project, uint64_t seq, rt_feed_row *out,
				      rt_error *err);

/* ---- replies of other processes ---- */

typedef struct rt_feed_inflight {
	char name[64];       /* of the side row; of a run of another server: its name */
	uint32_t disc;       /* 0: not known */
	uint64_t stamp;      /* of the last event */
	uint64_t seq;        /* a stream must have this row before the event; 0: none */
	uint64_t version;    /* number of its last change, among those of all */
	bool is_over, is_seen;
	const rt_text *event;
} rt_feed_inflight;

typedef struct rt_feed_inflight_list {
	pthread_mutex_t lock;
	rt_feed_inflight at[RT_FEED_INFLIGHT_MAX];
	size_t count;
	uint64_t version;
	int64_t looked_us, took_us;
} rt_feed_inflight_list;

void rt_feed_inflight_init(rt_feed_inflight_list *inflight);
void rt_feed_inflight_deinit(rt_feed_inflight_list *inflight);
void rt_feed_inflight_forget(rt_feed_inflight_list *inflight);
/* Reads the store, if it is time. True: there were changes. runs (or NULL) knows our own. */
bool rt_feed_inflight_poll(rt_feed_inflight_list *inflight, rt_engine *engine, const rt_env *env,
			   struct rt_runs *runs);
/* Is there a reply that has not ended, as far as is known? */
bool rt_feed_inflight_is_waiting(rt_feed_inflight_list *inflight);
/* Appends changes since *seen, until out has about room bytes, skipping replies that had ended by
 * version base and other discussions than disc (0: any). seq: the last row of the stream. False: no
 * more. */
bool rt_feed_inflight_events(rt_feed_inflight_list *inflight, uint64_t base, uint32_t disc,
			     uint64_t seq, uint64_t *seen, size_t room, rt_buf *out);

/* ---- streams ---- */

typedef struct rt_feed_stream_at {
	rt_web_stream base; /* first: the front's handle */
	rt_feed *feed;
	struct rt_feed_stream_at *next, *before; /* under the feed's list lock */
	atomic_bool is_waiting; /* the last read found nothing */
	/* of the thread that reads: */
	uint64_t epoch, seq;    /* the last row that was sent */
	uint32_t disc;          /* 0: all */
	size_t passed;          /* rows left out since an id was sent */
	bool has_begun;         /* hello was sent */
	bool is_newer_told;
	bool is_of_one;         /* rt_feed_stream_of_one */
	unsigned beat;
	rt_buf pending;         /* to be sent, from pending_at on */
	size_t pending_at;
	rt_run_cursor *runs;
	bool inflight_begun;
	uint64_t inflight_base, inflight_seen;
} rt_feed_stream_at;

struct rt_feed {
	rt_engine *engine;
	const rt_env *env;
	const rt_alloc *alloc;
	const rt_text *project;
	atomic_size_t refs;      /* the owner's, and one of each stream */
	pthread_rwlock_t gate;
	struct rt_runs *runs;    /* under gate, with the next */
	bool is_over;
	pthread_mutex_t list;
	rt_feed_stream_at *first;
	size_t count;
	atomic_uint beat;
	pthread_mutex_t tick;   /* guards the rest */
	int64_t beat_us;
	uint64_t seen_epoch, seen_seq;
	bool seen_newer;
	rt_feed_rows rows;
	rt_feed_inflight_list inflight;
};

/* For rt_web_stream_ops. */
size_t rt_feed_stream_read(rt_web_stream *stream, char *out, size_t room, bool *out_ended);
/* "000000009f3a6c01.42" */
void rt_feed_add_id(rt_buf *out, uint64_t epoch, uint64_t seq);

#endif
