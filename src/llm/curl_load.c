/* SPDX-License-Identifier: MIT */
#include "llm/curl_load.h"

#include "base/shared_library_host.h"

static rt_curl functions;

static const rt_shared_function table[] = {
#define FUNCTION(name) {"curl_" #name, &functions.name},
	RT_CURL_FUNCTIONS(FUNCTION)
#undef FUNCTION
};

static rt_status
start(rt_error *err)
{
	return functions.global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK
		       ? RT_OK
		       : rt_fail(err, RT_IO, "libcurl could not be started");
}

rt_status
rt_curl_load(const rt_curl **out, rt_error *err)
{
	static rt_shared_library library = {
		.name = "libcurl",
		.version = "7.85",
		.need = "requests to models require this library; install it (Debian: libcurl4), or use a built-in model",
		/* Debian's three builds of it, and the name elsewhere. */
		.files = {"libcurl.so.4", "libcurl-gnutls.so.4", "libcurl-nss.so.4", "libcurl.so"},
		.functions = table,
		.function_count = sizeof(table) / sizeof(table[0]),
		.start = start,
		.lock = PTHREAD_MUTEX_INITIALIZER,
	};

	*out = &functions;
	return rt_shared_library_load(&library, err);
}
