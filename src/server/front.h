/* SPDX-License-Identifier: MIT
 *
 * Front: the sockets. Takes requests with libmicrohttpd, hands them to a site (web.h), sends
 * its answers, with the headers that every answer has.
 *
 *   loops      each serves many connections; what a site calls quick is answered there
 *   workers    up to RT_FRONT_WORKERS threads for what may wait; the connection sleeps
 *              meanwhile
 *   timer      ends connections that are late with their headers, their body, or with reading
 *              their answer. libmicrohttpd's own limit begins anew with every byte, so a
 *              client that sends one now and then would stay for ever
 *
 * What libmicrohttpd does before anybody of ours sees a request is in docs/security.md.
 *
 * Threads: open and close from one; the rest is its own. */
#ifndef RT_SERVER_FRONT_H
#define RT_SERVER_FRONT_H

#include "server/web.h"

typedef struct rt_front rt_front;

enum {
	RT_FRONT_WORKERS = 64,
	RT_FRONT_CONNECTIONS = 4096,
	RT_FRONT_HEADERS_MS = 10000,  /* from the first byte that may come to the last header */
	RT_FRONT_BODY_IDLE_MS = 30000,/* between two pieces of a body */
	RT_FRONT_IDLE_MS = 60000,     /* a connection on which nothing is asked, and one that
	                               * takes nothing of its answer */
	RT_FRONT_SLOW_BYTES_S = 4096, /* who takes or sends less than that in a second, after the
	                               * first minute, is let go */
	RT_FRONT_MEMORY = 52 * 1024   /* of a connection, for headers and what is sent; only what
	                               * is used of it is there */
};

typedef struct rt_front_options {
	const rt_alloc *alloc;
	rt_web_site site;
	const char *address; /* to listen on; NULL: 127.0.0.1 and, where there is one, ::1 (taken by
	                      * somebody else: RT_BUSY) */
	unsigned port;       /* 0: a free one */
	const char *socket;  /* path of a Unix socket, or NULL. Whoever can open it is let in as the
	                      * same user, and nobody else: 0600, and the peer is looked at */
	const char *spool;   /* folder for bodies that are too large for memory */
	unsigned loops;      /* 0: one for each processor, 4 at most */
	unsigned connections;/* of each listener; 0: RT_FRONT_CONNECTIONS; fewer where not so many
	                      * files may be open */
	unsigned headers_ms, body_idle_ms, idle_ms; /* 0: as above */
} rt_front_options;

/* Listen: from here on the port is ours, and clients wait. RT_BUSY: somebody listens there
 * already. RT_IO. */
RT_CHECKED rt_status rt_front_open(const rt_front_options *options, rt_front **out,
				   rt_error *err);
/* Take requests. RT_IO. */
RT_CHECKED rt_status rt_front_start(rt_front *front, rt_error *err);
/* Takes nothing new, ends streams, waits for what is being answered. */
void rt_front_close(rt_front *front);
unsigned rt_front_port(const rt_front *front);

typedef struct rt_front_counts {
	unsigned connections, workers, streams; /* now */
	uint64_t requests, late;                /* ever; late: ended by the timer */
} rt_front_counts;
void rt_front_count(rt_front *front, rt_front_counts *out);

#endif
