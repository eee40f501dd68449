/* SPDX-License-Identifier: MIT
 *
 * Front: the sockets. Receives requests with libmicrohttpd, passes them to a site (web.h), sends
 * its answers with the common headers.
 *
 *   loops      threads that serve many connections each; requests that a site calls quick are
 *              answered there
 *   workers    up to RT_FRONT_WORKERS threads for requests that may wait; the connection is
 *              suspended then
 *   timer      ends connections that are late with their headers, their body, or with reading
 *              their answer. libmicrohttpd's own timeout restarts with every byte, so a client
 *              that sends one now and then would never be ended
 *
 * The states of a request are in front_impl.h; what libmicrohttpd checks before it calls us, in
 * docs/security.md.
 *
 * Threads: open and close from one; the rest is its own. */
#ifndef RT_SERVER_FRONT_H
#define RT_SERVER_FRONT_H

#include "server/web.h"

typedef struct rt_front rt_front;

enum {
	RT_FRONT_WORKERS = 64,
	RT_FRONT_CONNECTIONS = 4096,
	RT_FRONT_HEADERS_MS = 10000,  /* until the last header */
	RT_FRONT_BODY_IDLE_MS = 30000,/* between two pieces of a body */
	RT_FRONT_IDLE_MS = 60000,     /* without a request, or without reading the answer */
	RT_FRONT_SLOW_BYTES_S = 4096, /* bytes per second; slower clients are disconnected after the
	                               * first minute */
	RT_FRONT_MEMORY = 52 * 1024   /* bytes of a connection, for headers and output; mapped on
				       * use */
};

typedef struct rt_front_options {
	const rt_alloc *alloc;
	rt_web_site site;
	const char *address; /* to listen on; NULL: 127.0.0.1 and, if there is IPv6, ::1 */
	unsigned port;       /* 0: a free one */
	const char *socket;  /* path of a Unix socket (0600), or NULL. It serves only processes of the
	                      * same user, by the peer's credentials */
	const char *spool;   /* folder for bodies that are too large for memory */
	unsigned loops;      /* 0: one for each processor, 4 at most */
	unsigned connections;/* of each listener; 0: RT_FRONT_CONNECTIONS; fewer where the limit of
	                      * open files is lower */
	unsigned headers_ms, body_idle_ms, idle_ms; /* 0: as above */
} rt_front_options;

/* Listens: from here on clients can connect, and wait. RT_BUSY: the port or socket is in use.
 * RT_IO. */
RT_CHECKED rt_status rt_front_open(const rt_front_options *options, rt_front **out,
				   rt_error *err);
/* Begins to answer requests. RT_IO. */
RT_CHECKED rt_status rt_front_start(rt_front *front, rt_error *err);
/* Accepts nothing new, ends streams, waits for requests that are being answered. */
void rt_front_close(rt_front *front);
unsigned rt_front_port(const rt_front *front);

typedef struct rt_front_counts {
	unsigned connections, workers, streams; /* now */
	uint64_t requests, late;                /* since the start; late: ended by the timer */
} rt_front_counts;
void rt_front_count(rt_front *front, rt_front_counts *out);

#endif
