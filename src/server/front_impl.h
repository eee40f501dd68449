/* SPDX-License-Identifier: MIT
 *
 * Internals of the front:
 *
 *   front.c          libmicrohttpd; listening, opening, closing
 *   front_request.c  libmicrohttpd's callbacks: connections, requests, answers
 *   front_wait.c     everything that waits: workers, streams, late connections
 *
 * A connection (rt_conn) lives as long as its socket; an exchange (rt_http_exchange) is one request and
 * its answer:
 *
 *   NEW ── headers ──> BODY ── its end ──┬─ quick ───────────────────────────────> answered
 *    │                  │                └─ else ──> WORKING ── a worker ──> DONE ─> answered
 *    └── not admitted, too large, … ─────> answered       (the connection is suspended)
 *
 * An answer with a stream continues in a rt_front_stream, which suspends the connection while there
 * is nothing to send. */
#ifndef RT_SERVER_FRONT_IMPL_H
#define RT_SERVER_FRONT_IMPL_H

#include <microhttpd.h>
#include <pthread.h>
#include <stdatomic.h>

#include "app/input_host.h"
#include "base/clock_host.h"
#include "server/front.h"

/* libmicrohttpd is loaded when a server starts: it brings a dozen libraries with it, and no other
 * command needs them (docs/decisions/0013). The functions have its own types. */
typedef struct rt_mhd {
	struct MHD_Daemon *(*start_daemon)(unsigned int flags, uint16_t port,
					   MHD_AcceptPolicyCallback apc, void *apc_cls,
					   MHD_AccessHandlerCallback dh, void *dh_cls, ...);
	__typeof__(&MHD_stop_daemon) stop_daemon;
	__typeof__(&MHD_get_connection_values_n) get_connection_values_n;
	const union MHD_ConnectionInfo *(*get_connection_info)(struct MHD_Connection *connection,
							       enum MHD_ConnectionInfoType what,
							       ...);
	__typeof__(&MHD_suspend_connection) suspend_connection;
	__typeof__(&MHD_resume_connection) resume_connection;
	__typeof__(&MHD_create_response_from_buffer) create_response_from_buffer;
	__typeof__(&MHD_create_response_from_callback) create_response_from_callback;
	__typeof__(&MHD_add_response_header) add_response_header;
	__typeof__(&MHD_queue_response) queue_response;
	__typeof__(&MHD_destroy_response) destroy_response;
} rt_mhd;

enum { RT_FRONT_DAEMONS = 3 /* IPv4, IPv6, Unix */ };

/* A member of a list, and the first member of its struct. */
typedef struct rt_front_link {
	struct rt_front_link *before, *after;
} rt_front_link;

typedef struct rt_conn {
	rt_front_link link;
	struct rt_front *front;
	int fd;
	int64_t until_ms; /* when it is late; 0: never */
	bool is_late;
	bool is_local;    /* came over the Unix socket from the same user */
	bool is_foreign;  /* from another user: not answered */
} rt_conn;

typedef struct rt_front_stream {
	rt_front_link link;
	struct rt_front *front;
	struct MHD_Connection *connection;
	rt_web_stream *inner;
	pthread_mutex_t lock;
	bool is_woken;  /* since read was called last */
	bool is_asleep; /* the connection is suspended */
} rt_front_stream;

typedef enum rt_exchange_state {
	RT_EXCHANGE_NEW,     /* the request line has been read */
	RT_EXCHANGE_BODY,    /* the headers have been read; the body arrives */
	RT_EXCHANGE_WORKING, /* a worker has it, or will get it */
	RT_EXCHANGE_DONE     /* the answer is about to be sent */
} rt_exchange_state;

typedef struct rt_http_exchange {
	struct rt_front *front;
	struct MHD_Connection *connection;
	rt_conn *conn;        /* NULL: not known */
	rt_exchange_state state;
	rt_arena *arena;
	rt_web_request request;
	rt_buf headers;       /* rt_web_field after rt_web_field */
	rt_web_plan plan;
	rt_web_answer answer;
	int64_t began_us;
	rt_buf body;
	int spool;                     /* file of a body that is too large for memory; -1: none */
	size_t spooled;                /* bytes in it; of a body that is too large: read in total */
	rt_file_input file;            /* the spooled body, for handlers that read it as a file */
	void *mapped;                  /* the same in memory, for the others */
	unsigned fault;                /* status to answer at the end of the body; 0: none */
	struct rt_http_exchange *next; /* in the workers' queue */
} rt_http_exchange;

typedef struct rt_front_work {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	rt_http_exchange *first, *last;
	unsigned threads, idle, queued;
	bool is_ending;
} rt_front_work;

struct rt_front {
	rt_front_options options;
	const rt_alloc *alloc;
	const rt_mhd *mhd;
	struct MHD_Daemon *daemons[RT_FRONT_DAEMONS];
	int listening[RT_FRONT_DAEMONS];
	bool is_unix[RT_FRONT_DAEMONS];
	size_t daemon_count;
	unsigned port;
	char *socket_path; /* to be removed at the end; or NULL */
	rt_front_work work;
	_Atomic uint64_t requests;
	_Atomic bool is_closing;

	pthread_mutex_t lock; /* guards what follows */
	rt_front_link *conns, *streams;
	unsigned conn_count, stream_count;
	uint64_t late;
	pthread_t timer;
	pthread_cond_t timer_changed;
	bool has_timer;
};

/* ---- front_request.c: callbacks of libmicrohttpd ---- */

void *rt_front_on_line(void *front, const char *uri, struct MHD_Connection *connection);
enum MHD_Result rt_front_on_request(void *front, struct MHD_Connection *connection,
				    const char *url, const char *method, const char *version,
				    const char *data, size_t *size, void **exchange);
void rt_front_on_completed(void *front, struct MHD_Connection *connection, void **exchange,
			   enum MHD_RequestTerminationCode how);
void rt_front_on_connection(void *front, struct MHD_Connection *connection, void **conn,
			    enum MHD_ConnectionNotificationCode what);

/* ---- front_wait.c ---- */

/* With the lock of the front. */
void rt_front_link_add(rt_front_link **first, rt_front_link *link);
void rt_front_link_remove(rt_front_link **first, rt_front_link *link);

/* The connection is late unless something happens within ms; 0: no limit. */
void rt_conn_expect(rt_conn *conn, int64_t ms);

/* The lock of the front, the timer's condition, and the workers' queue. False: no memory. */
bool rt_front_wait_init(rt_front *front);
void rt_front_wait_deinit(rt_front *front);
bool rt_front_start_timer(rt_front *front);
/* Queues the exchange for a worker. False: no worker, or the front is closing. */
bool rt_front_work_add(rt_http_exchange *exchange);
/* Waits until all workers are done; nothing more is accepted. */
void rt_front_work_end(rt_front *front);

/* A response that reads the stream; NULL: no memory (the stream is closed then). */
struct MHD_Response *rt_front_stream_response(rt_http_exchange *exchange, rt_web_stream *stream);
void rt_front_streams_wake(rt_front *front);

#endif
