/* SPDX-License-Identifier: MIT
 *
 * The inside of the front:
 *
 *   front.c          listening, opening, closing
 *   front_request.c  what libmicrohttpd calls: a request put together, its answer sent
 *   front_stream.c   streams
 *   front_work.c     workers
 *   front_timer.c    connections that are late
 *
 * A connection (rt_conn) lives as long as its socket; an exchange (rt_exchange) is one request
 * and its answer. */
#ifndef RT_SERVER_FRONT_IMPL_H
#define RT_SERVER_FRONT_IMPL_H

#include <pthread.h>
#include <stdatomic.h>

#include "app/input_host.h"
#include "server/front.h"
#include "server/mhd_load.h"

enum { RT_FRONT_DAEMONS = 3 /* IPv4, IPv6, Unix */ };

typedef struct rt_conn {
	struct rt_front *front;
	int fd;
	int64_t until_ms;     /* when it is late; 0: it is not being waited for */
	bool is_late;
	bool may_not_be_local;/* came over the Unix socket from another user */
	bool is_local;
	struct rt_conn *before, *after;
} rt_conn;

typedef struct rt_front_stream {
	struct rt_front *front;
	struct MHD_Connection *connection;
	rt_web_stream *inner;
	pthread_mutex_t lock;
	bool pending;   /* woken since read was called last */
	bool is_asleep; /* the connection is suspended */
	struct rt_front_stream *before, *after;
} rt_front_stream;

typedef struct rt_exchange {
	struct rt_front *front;
	struct MHD_Connection *connection;
	rt_conn *conn;
	rt_arena *arena;
	rt_web_request request;
	rt_web_field *headers;
	size_t header_room;
	rt_web_plan plan;
	rt_web_answer answer;
	rt_buf body;
	int spool;            /* file of a body that is too large for memory; -1: none */
	size_t spooled;
	rt_file_input file;   /* the same, for who reads it as a file */
	void *mapped;
	int64_t began_ms;
	bool is_admitted, is_done, too_large, spool_failed, out_of_memory;
	struct rt_exchange *next; /* in the workers' queue */
} rt_exchange;

typedef struct rt_work {
	pthread_mutex_t lock;
	pthread_cond_t moved;
	rt_exchange *first, *last;
	unsigned threads, idle, queued;
	bool is_ending;
} rt_work;

struct rt_front {
	rt_front_options options;
	const rt_alloc *alloc;
	const rt_mhd *mhd;
	struct MHD_Daemon *daemons[RT_FRONT_DAEMONS];
	int listening[RT_FRONT_DAEMONS];
	bool is_unix[RT_FRONT_DAEMONS];
	size_t daemon_count;
	unsigned port;
	char *socket_path; /* ours to remove; or NULL */
	rt_work work;

	pthread_mutex_t lock; /* guards what follows */
	rt_conn *conns;
	rt_front_stream *streams;
	unsigned conn_count, stream_count;
	uint64_t late;
	_Atomic uint64_t requests;
	_Atomic bool is_closing;
	pthread_t timer;
	pthread_cond_t timer_moved;
	bool has_timer;
};

int64_t rt_front_now_ms(void);
/* One whose waits are measured by that clock, which nobody sets back. */
bool rt_front_cond_init(pthread_cond_t *cond);
/* The connection is late unless something happens before that many ms; 0: it is not. */
void rt_conn_expect(rt_conn *conn, int64_t ms);
void *rt_front_timer(void *front); /* a thread */

bool rt_work_init(rt_work *work);
/* false: nobody can do it, or it has ended. */
bool rt_work_add(rt_front *front, rt_exchange *exchange);
/* Waits until everything is done; from here on nothing more is taken. The loops go on asking
 * until they are stopped. */
void rt_front_work_end(rt_front *front);
/* When nobody asks any more. */
void rt_work_deinit(rt_work *work);

/* The callbacks of libmicrohttpd. */
void *rt_front_on_line(void *front, const char *uri, struct MHD_Connection *connection);
enum MHD_Result rt_front_on_request(void *front, struct MHD_Connection *connection,
				    const char *url, const char *method, const char *version,
				    const char *data, size_t *size, void **exchange);
void rt_front_on_completed(void *front, struct MHD_Connection *connection, void **exchange,
			   enum MHD_RequestTerminationCode how);
void rt_front_on_connection(void *front, struct MHD_Connection *connection, void **conn,
			    enum MHD_ConnectionNotificationCode what);

/* A response that reads the stream; NULL: no memory (the stream is closed then). */
struct MHD_Response *rt_front_stream_response(rt_exchange *exchange, rt_web_stream *stream);
void rt_front_streams_wake(rt_front *front);

#endif
