/* SPDX-License-Identifier: MIT
 *
 * A shared library that is loaded when it is first needed, because most commands never need it
 * (docs/decisions/0013). It stays loaded until the program ends. Its functions are pointers in a
 * struct of the caller and have the library's own types.
 *
 * Threads: any. */
#ifndef RT_BASE_SHARED_LIBRARY_HOST_H
#define RT_BASE_SHARED_LIBRARY_HOST_H

#include <pthread.h>
#include <stdbool.h>

#include "base/status.h"

typedef struct rt_shared_function {
	const char *name;
	void *member; /* the pointer to set */
} rt_shared_function;

typedef struct rt_shared_library {
	const char *name;     /* in messages: "libpq" */
	const char *version;  /* the lowest that has all functions */
	const char *need;     /* after "cannot be loaded": who needs it, and the next step */
	const char *files[5]; /* to be tried in this order; ended by NULL */
	const rt_shared_function *functions;
	size_t function_count;
	rt_status (*start)(rt_error *err); /* called once after loading; or NULL */

	/* The result of the first call. */
	pthread_mutex_t lock;
	bool was_tried;
	rt_status status;
	rt_error error;
} rt_shared_library;

/* RT_IO: it is not installed, lacks a function, or does not start; later calls return the same. */
RT_CHECKED rt_status rt_shared_library_load(rt_shared_library *library, rt_error *err);

#endif
