/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE

#include "store/pq_load.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static rt_pq functions;
static rt_status loaded;
static rt_error why;

/* A member of functions and the name of its symbol. */
static const struct {
	const char *name;
	void *member;
} symbols[] = {
#define SYMBOL(name) {"PQ" #name, &functions.name},
	RT_PQ_FUNCTIONS(SYMBOL)
#undef SYMBOL
};

static void
load(void)
{
	void *library = dlopen("libpq.so.5", RTLD_NOW | RTLD_LOCAL);

	if (library == NULL) {
		loaded = rt_fail(&why, RT_IO,
				 "libpq cannot be loaded (%.200s); a store in PostgreSQL needs it: "
				 "install it (Debian: libpq5)",
				 dlerror());
		return;
	}
	for (size_t i = 0; i < sizeof(symbols) / sizeof(symbols[0]); i++) {
		void *address = dlsym(library, symbols[i].name);

		if (address == NULL) {
			loaded = rt_fail(
				&why, RT_IO,
				"libpq has no function %s: version 14 or later is required",
				symbols[i].name);
			return;
		}
		/* POSIX lets a data pointer hold a function's, but C has no cast for it. */
		memcpy(symbols[i].member, &address, sizeof(address));
	}
	if (functions.isthreadsafe() == 0)
		loaded = rt_fail(&why, RT_IO, "libpq was built without support for threads");
}

rt_status
rt_pq_load(const rt_pq **out, rt_error *err)
{
	(void)pthread_once(&once, load);
	*out = &functions;
	return loaded == RT_OK ? RT_OK : rt_fail(err, loaded, "%s", why.text);
}
