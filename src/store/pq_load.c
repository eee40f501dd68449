/* SPDX-License-Identifier: MIT */
#include "store/pq_load.h"

#include "base/shared_library_host.h"

static rt_pq functions;

static const rt_shared_function table[] = {
#define FUNCTION(name) {"PQ" #name, &functions.name},
	RT_PQ_FUNCTIONS(FUNCTION)
#undef FUNCTION
};

static rt_status
start(rt_error *err)
{
	return functions.isthreadsafe() != 0
		       ? RT_OK
		       : rt_fail(err, RT_IO, "libpq was built without support for threads");
}

rt_status
rt_pq_load(const rt_pq **out, rt_error *err)
{
	static rt_shared_library library = {
		.name = "libpq",
		.version = "14",
		.need = "a PostgreSQL store requires this library; install it (Debian: libpq5)",
		.files = {"libpq.so.5"},
		.functions = table,
		.function_count = sizeof(table) / sizeof(table[0]),
		.start = start,
		.lock = PTHREAD_MUTEX_INITIALIZER,
	};

	*out = &functions;
	return rt_shared_library_load(&library, err);
}
