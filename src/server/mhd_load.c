/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE

#include "server/mhd_load.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static rt_mhd functions;
static rt_status loaded;
static rt_error why;

/* A pointer to data may hold one to a function (POSIX, dlsym), but C has no cast for it. */
static bool
find(void *library, const char *name, void *function)
{
	void *address = dlsym(library, name);

	memcpy(function, &address, sizeof(address));
	if (address == NULL)
		loaded = rt_fail(&why, RT_IO, "libmicrohttpd has no function %s: it is too old", name);
	return address != NULL;
}

static void
load(void)
{
	rt_mhd *f = &functions;
	void *library = dlopen("libmicrohttpd.so.12", RTLD_NOW | RTLD_LOCAL);

	loaded = RT_OK;
	if (library == NULL) {
		loaded = rt_fail(&why, RT_IO, "libmicrohttpd is needed to serve and cannot be loaded "
				 "(%.200s): install it (Debian: libmicrohttpd12)", dlerror());
		return;
	}
	(void)(find(library, "MHD_start_daemon", &f->start_daemon) &&
	       find(library, "MHD_stop_daemon", &f->stop_daemon) &&
	       find(library, "MHD_get_connection_values_n", &f->get_connection_values_n) &&
	       find(library, "MHD_get_connection_info", &f->get_connection_info) &&
	       find(library, "MHD_suspend_connection", &f->suspend_connection) &&
	       find(library, "MHD_resume_connection", &f->resume_connection) &&
	       find(library, "MHD_create_response_from_buffer", &f->create_response_from_buffer) &&
	       find(library, "MHD_create_response_from_callback",
		    &f->create_response_from_callback) &&
	       find(library, "MHD_add_response_header", &f->add_response_header) &&
	       find(library, "MHD_queue_response", &f->queue_response) &&
	       find(library, "MHD_destroy_response", &f->destroy_response));
}

rt_status
rt_mhd_load(const rt_mhd **out, rt_error *err)
{
	(void)pthread_once(&once, load);
	*out = &functions;
	return loaded == RT_OK ? RT_OK : rt_fail(err, loaded, "%s", why.text);
}
