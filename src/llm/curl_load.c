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

/* Debian's three builds of it, and what others call it. reason: why not the first. */
static void *
open_library(char *reason, size_t size)
{
	static const char *const names[] = {"libcurl.so.4", "libcurl-gnutls.so.4",
					    "libcurl-nss.so.4", "libcurl.so"};
	void *library = NULL;
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]) && library == NULL; i++) {
		library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
		if (library == NULL && i == 0)
			(void)snprintf(reason, size, "%s", dlerror());
	}
	return library;
}

/* A pointer to data may hold one to a function (POSIX, dlsym), but C has no cast for it. */
static bool
find(void *library, const char *name, void *function)
{
	void *address = dlsym(library, name);

	memcpy(function, &address, sizeof(address));
	if (address == NULL)
		loaded = rt_fail(&why, RT_IO, "libcurl has no function %s: it is too old", name);
	return address != NULL;
}

static void
load(void)
{
	rt_curl *f = &functions;
	char reason[256] = "";
	void *library = open_library(reason, sizeof(reason));

	loaded = RT_OK;
	if (library == NULL) {
		loaded = rt_fail(&why, RT_IO, "libcurl is needed to reach a model's server and cannot "
				 "be loaded (%s): install it (Debian: libcurl4), or use a built-in "
				 "model", reason);
		return;
	}
	if (find(library, "curl_global_init", &f->global_init) &&
	    find(library, "curl_slist_append", &f->slist_append) &&
	    find(library, "curl_slist_free_all", &f->slist_free_all) &&
	    find(library, "curl_easy_init", &f->easy_init) &&
	    find(library, "curl_easy_cleanup", &f->easy_cleanup) &&
	    find(library, "curl_easy_setopt", &f->easy_setopt) &&
	    find(library, "curl_easy_getinfo", &f->easy_getinfo) &&
	    find(library, "curl_easy_strerror", &f->easy_strerror) &&
	    find(library, "curl_multi_init", &f->multi_init) &&
	    find(library, "curl_multi_cleanup", &f->multi_cleanup) &&
	    find(library, "curl_multi_add_handle", &f->multi_add_handle) &&
	    find(library, "curl_multi_remove_handle", &f->multi_remove_handle) &&
	    find(library, "curl_multi_perform", &f->multi_perform) &&
	    find(library, "curl_multi_poll", &f->multi_poll) &&
	    find(library, "curl_multi_info_read", &f->multi_info_read) &&
	    f->global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
		loaded = rt_fail(&why, RT_IO, "libcurl does not start");
}

rt_status
rt_curl_load(const rt_curl **out, rt_error *err)
{
	(void)pthread_once(&once, load);
	*out = &functions;
	return loaded == RT_OK ? RT_OK : rt_fail(err, loaded, "%s", why.text);
}
