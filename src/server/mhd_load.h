/* SPDX-License-Identifier: MIT
 *
 * libmicrohttpd, loaded when a server is about to start: it brings a dozen libraries with it,
 * and no other command needs them (docs/decisions/0013). The functions have libmicrohttpd's own
 * types and documentation (its header, microhttpd.h).
 *
 * Threads: any. */
#ifndef RT_SERVER_MHD_LOAD_H
#define RT_SERVER_MHD_LOAD_H

#include <microhttpd.h>

#include "base/status.h"

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

/* Loads it the first time; it stays until the program ends. RT_IO: it is not on this machine,
 * or lacks a function; asked again, the answer is the same. */
RT_CHECKED rt_status rt_mhd_load(const rt_mhd **out, rt_error *err);

#endif
