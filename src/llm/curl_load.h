/* SPDX-License-Identifier: MIT
 *
 * libcurl, loaded when a request is about to be made: it brings thirty libraries with it,
 * and loading them takes longer than most commands take in all (docs/decisions/0013). The
 * functions have libcurl's own types and documentation (curl.se/libcurl/c).
 *
 * Threads: any. */
#ifndef RT_LLM_CURL_LOAD_H
#define RT_LLM_CURL_LOAD_H

#include <curl/curl.h>
#include <stdbool.h>

#include "base/status.h"

typedef struct rt_curl {
	__typeof__(&curl_global_init) global_init;
	__typeof__(&curl_slist_append) slist_append;
	__typeof__(&curl_slist_free_all) slist_free_all;
	__typeof__(&curl_easy_init) easy_init;
	__typeof__(&curl_easy_cleanup) easy_cleanup;
	CURLcode (*easy_setopt)(CURL *easy, CURLoption option, ...);
	CURLcode (*easy_getinfo)(CURL *easy, CURLINFO info, ...);
	__typeof__(&curl_easy_strerror) easy_strerror;
	__typeof__(&curl_multi_init) multi_init;
	__typeof__(&curl_multi_cleanup) multi_cleanup;
	__typeof__(&curl_multi_add_handle) multi_add_handle;
	__typeof__(&curl_multi_remove_handle) multi_remove_handle;
	__typeof__(&curl_multi_perform) multi_perform;
	__typeof__(&curl_multi_poll) multi_poll;
	__typeof__(&curl_multi_info_read) multi_info_read;
} rt_curl;

/* Loads and starts it the first time; it stays until the program ends. RT_IO: it is not on
 * this machine, lacks a function, or does not start; asked again, the answer is the same. */
RT_CHECKED rt_status rt_curl_load(const rt_curl **out, rt_error *err);

#endif
