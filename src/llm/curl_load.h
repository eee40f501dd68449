/* SPDX-License-Identifier: MIT
 *
 * libcurl, loaded when a request is about to be made: it depends on thirty libraries, and loading
 * them takes longer than most commands take in all (docs/decisions/0013). The functions have
 * libcurl's own types and documentation (curl.se/libcurl/c).
 *
 * Threads: any. */
#ifndef RT_LLM_CURL_LOAD_H
#define RT_LLM_CURL_LOAD_H

#include <curl/curl.h>
#include <stdbool.h>

#include "base/status.h"

#define RT_CURL_FUNCTIONS(X) \
	X(global_init) \
	X(slist_append) \
	X(slist_free_all) \
	X(easy_init) \
	X(easy_cleanup) \
	X(easy_setopt) \
	X(easy_getinfo) \
	X(easy_strerror) \
	X(multi_init) \
	X(multi_cleanup) \
	X(multi_add_handle) \
	X(multi_remove_handle) \
	X(multi_perform) \
	X(multi_poll) \
	X(multi_info_read)

typedef struct rt_curl {
#define RT_CURL_MEMBER(name) __typeof__(&curl_##name) name;
	RT_CURL_FUNCTIONS(RT_CURL_MEMBER)
#undef RT_CURL_MEMBER
} rt_curl;

/* Loads and starts it the first time; it stays until the program ends. RT_IO: it is not
 * installed, lacks a function, or does not start; later calls return the same. */
RT_CHECKED rt_status rt_curl_load(const rt_curl **out, rt_error *err);

#endif
