/* SPDX-License-Identifier: MIT
 *
 * Feed: what happens in a project, as server-sent events (the WHATWG HTML standard, section
 * 9.2).
 *
 *   id: 9f3a6c01.42                     epoch and number of the log's row
 *   event: op
 *   data: {"seq":42,"op":"entry.edit",…}            see rt_view_change
 *
 *   event: run.delta                    no id: a piece of a reply in flight
 *   data: {"run":"r3","offset":120,"text":"…"}
 *
 * Rows are read from the log, each client at its own place in it, so a client that does not
 * read costs nothing but its place, and one that comes back with Last-Event-ID goes on where
 * it was. What another process writes arrives the same way: the pulse looks at the log's
 * head. A reply in flight is a text that grows (run.h); a client has a place in that, too, and
 * one that comes later is sent run.snapshot.
 *
 *   hello     first of all: {"seq":…,"epoch":…,"project":…}; id is where the stream begins
 *   op        a row of the log
 *   reset     the history is another one now (restore, purge): fetch everything anew; id is
 *             where the stream goes on
 *   run.started, run.snapshot, run.delta, run.ended       see run.h
 *   a line ": " every 15 s, so that both ends notice a dead connection
 *
 * Threads: locks itself. */
#ifndef RT_SERVER_FEED_H
#define RT_SERVER_FEED_H

#include "engine/send.h"
#include "server/web.h"

typedef struct rt_feed rt_feed;
struct rt_runs;

enum {
	RT_FEED_PULSE_MS = 50,          /* other processes' changes are so late at most */
	RT_FEED_HEARTBEAT_MS = 15000,
	RT_FEED_RETRY_MS = 2000         /* told to clients */
};

RT_CHECKED rt_status rt_feed_new(rt_engine *engine, const rt_env *env, rt_feed **out,
				 rt_error *err);
/* Every stream ends. */
void rt_feed_free(rt_feed *feed);
void rt_feed_set_runs(rt_feed *feed, struct rt_runs *runs);

/* A new stream. last_id: what the client has seen last ("Last-Event-ID"), or empty: from now
 * on. disc (0: all) leaves out rows that touch no such document. RT_USAGE: last_id is none.
 * RT_LIMIT: too many streams. */
RT_CHECKED rt_status rt_feed_stream(rt_feed *feed, rt_str last_id, uint32_t disc,
				    rt_web_stream **out, rt_error *err);
size_t rt_feed_stream_count(rt_feed *feed);

/* Something may have changed: look, and wake who waits. Cheap. After a change of our own, and
 * when a run has more. */
void rt_feed_changed(rt_feed *feed);
/* Called every RT_FEED_PULSE_MS: other processes' changes, heartbeats. */
void rt_feed_pulse(rt_feed *feed);

#endif
