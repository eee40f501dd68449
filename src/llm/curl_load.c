/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE

#include "llm/curl_load.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static rt_curl functions;
static rt_status loaded;
static rt_error why;

/* A member of functions and the name of its symbol. */
static const struct {
	const char *name;
	void *member;
} symbols[] = {
#define SYMBOL(name) {"curl_" #name, &functions.name},
	RT_CURL_FUNCTIONS(SYMBOL)
#undef SYMBOL
};

/* Debian's three builds of it, and the name elsewhere. reason: why not the first. */
static void *
open_library(char *reason, size_t size)
{
	static const char *const names[] = {"libcurl.so.4", "libcurl-gnutls.so.4",
					    "libcurl-nss.so.4", "libcurl.so"};
	void *library = NULL;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && library == NULL; i++) {
		library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
		if (library == NULL && i == 0)
			(void)snprintf(reason, size, "%s", dlerror());
	}
	return library;
}

static void
load(void)
{
	char reason[256] = "";
	void *library = open_library(reason, sizeof(reason));

	if (library == NULL) {
		loaded = rt_fail(&why, RT_IO,
				 "libcurl cannot be loaded (%s); requests to models need it: "
				 "install it (Debian: libcurl4), or use a built-in model",
				 reason);
		return;
	}
	for (size_t i = 0; i < sizeof(symbols) / sizeof(symbols[0]); i++) {
		void *address = dlsym(library, symbols[i].name);

		if (address == NULL) {
			loaded = rt_fail(&why, RT_IO, "libcurl has no function %s: it is too old",
					 symbols[i].name);
			return;
		}
		/* POSIX lets a data pointer hold a function's, but C has no cast for it. */
		memcpy(symbols[i].member, &address, sizeof(address));
	}
	if (functions.global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
		loaded = rt_fail(&why, RT_IO, "libcurl does not start");
}

rt_status
rt_curl_load(const rt_curl **out, rt_error *err)
{
	(void)pthread_once(&once, load);
	*out = &functions;
	return loaded == RT_OK ? RT_OK : rt_fail(err, loaded, "%s", why.text);
}
