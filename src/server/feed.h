/* SPDX-License-Identifier: MIT
 *
 * Feed: changes of a project as server-sent events (the WHATWG HTML standard, section 9.2).
 *
 *   id: 000000009f3a6c01.42             epoch and number of the log's row
 *   event: op
 *   data: {"seq":42,"op":"entry.edit",…}            see rt_view_change
 *
 *   event: run.delta                    no id: a piece of a reply in flight
 *   data: {"run":"r3","offset":120,"text":"…"}
 *
 * Rows are read from the log, each client with its own position in it, so a client that does not
 * read costs nothing but that, and one that reconnects with Last-Event-ID continues where it was.
 * Rows of other processes arrive the same way: the tick reads the log's head. A reply in
 * flight is a text that grows (run.h); a client has a position in that, too, and one that connects
 * later is sent run.snapshot.
 *
 *   hello     first of all: {"seq":…,"epoch":…,"project":…}; id is where the stream begins
 *   op        a row of the log
 *   reset     the history is another one now (restore, purge), or the client has seen rows that
 *             do not exist: fetch everything again; {"seq","epoch"}; id is where the stream
 *             continues
 *   newer     {"seq":…,"detail":…}, no id: the next row needs a newer version of the program.
 *             The client's state stays valid; no more rows come, and changes are refused, until the
 *             server is upgraded
 *   run.started, run.snapshot, run.asked, run.notice, run.delta, run.ended   see run.h. Of a run of
 *             another server (run_claim.h) only run.snapshot, with the text so far, whenever there is
 *             more, and run.ended
 *   flight    {"flight":…,"discussion","take","after" or "into","model","text"}, no id: a
 *             reply that another program on the same store receives, so far (at most the last
 *             RT_FEED_FLIGHT_MAX bytes; then "skipped" says how many come before them)
 *   flight.ended   {"flight":…}: it has ended; its result is a row
 *   a line ": " every 15 s, so that both ends notice a dead connection
 *
 * A row's id is sent with the row and never before it; for rows that a stream leaves out (disc) an
 * id alone may be sent, which browsers remember without an event. Where a row cannot be read now
 * (a full disk, no memory), the stream ends, and the client reconnects with the id of the row
 * before.
 *
 * Threads: locks itself. Streams are woken under a lock that closing a stream takes and reading it
 * does not: a front may wake, and read, under its own lock, but not close. */
#ifndef RT_SERVER_FEED_H
#define RT_SERVER_FEED_H

#include "chat/send.h"
#include "server/web.h"

typedef struct rt_feed rt_feed;
struct rt_runs;

enum {
	RT_FEED_TICK_MS = 50,          /* until changes of other processes are seen */
	RT_FEED_HEARTBEAT_MS = 15000,
	RT_FEED_RETRY_MS = 2000,        /* told to clients */
	RT_FEED_FLIGHTS_MS = 250,       /* between two polls of other processes' replies */
	RT_FEED_FLIGHT_MAX = 256 << 10, /* bytes of the text of one */
	RT_FEED_STREAMS_MAX = 4096
};

RT_CHECKED rt_status rt_feed_new(rt_engine *engine, const rt_env *env, rt_feed **out,
				 rt_error *err);
/* Ends every stream. When this returns the engine is no longer used; streams that are not closed
 * yet stay readable (they have ended). */
void rt_feed_free(rt_feed *feed);
/* Adds the events of runs; NULL: removes them (no stream reads them when this returns). */
void rt_feed_set_runs(rt_feed *feed, struct rt_runs *runs);

/* A new stream. last_id: the last id that the client has seen ("Last-Event-ID"); empty: from now
 * on. disc (0: all) leaves out rows that touch neither this document nor the project's own data,
 * and replies in other discussions. RT_USAGE: last_id is malformed. RT_LIMIT: too many streams. */
RT_CHECKED rt_status rt_feed_stream(rt_feed *feed, rt_str last_id, uint32_t disc,
				    rt_web_stream **out, rt_error *err);
/* The same, if only this document may be seen: rows have no contents ("whole"), and there are no
 * replies. */
RT_CHECKED rt_status rt_feed_stream_of_one(rt_feed *feed, rt_str last_id, uint32_t disc,
					   rt_web_stream **out, rt_error *err);
size_t rt_feed_stream_count(rt_feed *feed);

/* Something may have changed: wakes waiting streams; those that were woken and have not been read
 * since are skipped. Called after a change of our own, and when a run has more. */
void rt_feed_changed(rt_feed *feed);
/* What is known of other processes' changes. */
typedef struct rt_feed_news {
	bool has_rows;    /* of the log */
	bool has_replies; /* there are replies in flight, or runs of other servers */
} rt_feed_news;

/* Called every RT_FEED_TICK_MS: changes of other processes, heartbeats. news NULL: it asks the store. */
void rt_feed_tick(rt_feed *feed, const rt_feed_news *news);

#endif
