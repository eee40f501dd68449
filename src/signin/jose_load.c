/* SPDX-License-Identifier: MIT */
#include "signin/jose_load.h"

#include "base/shared_library_host.h"

static rt_jose functions;

static const rt_shared_function table[] = {
#define FUNCTION(name) {"cjose_" #name, &functions.name},
	RT_JOSE_FUNCTIONS(FUNCTION)
#undef FUNCTION
};

rt_status
rt_jose_load(const rt_jose **out, rt_error *err)
{
	static rt_shared_library library = {
		.name = "libcjose",
		.version = "0.6.2",
		.need = "sign-in with OpenID Connect requires this library; install it (Debian: libcjose0)",
		.files = {"libcjose.so.0"},
		.functions = table,
		.function_count = sizeof(table) / sizeof(table[0]),
		.lock = PTHREAD_MUTEX_INITIALIZER,
	};

	*out = &functions;
	return rt_shared_library_load(&library, err);
}
