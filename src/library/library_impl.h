/* SPDX-License-Identifier: MIT
 *
 * Library: what the files behind include/retake/ share. Each public function checks what it
 * was handed, calls the engine, and gives back text that the caller can free; nothing is
 * decided here. */
#ifndef RT_LIBRARY_LIBRARY_IMPL_H
#define RT_LIBRARY_LIBRARY_IMPL_H

#include "ops/action.h"
#include "retake/retake.h"

/* Counted, so that a store may be closed before its projects. */
struct retake_store {
	_Atomic uint32_t refs; /* the caller's, and one for each open project */
	const rt_alloc *alloc;
	const rt_env *env;
	rt_store *store;
};

struct retake_project {
	retake_store *store; /* a reference */
	rt_engine *engine;
};

/* The system's clock and random numbers (library_host.c). */
const rt_env *rt_library_env(void);

/* retake_store_open with another world: tests let memory run out. Texts that are handed out
 * come from the C library all the same, since they outlive the store. */
RT_CHECKED rt_status rt_library_store_open(const rt_alloc *alloc, const rt_env *env,
					   const char *path, const retake_store_options *options,
					   retake_store **out_store, rt_error *err);

retake_store *rt_library_store_ref(retake_store *store);

/* ---- what comes in ---- */

/* A name or a query; NULL: empty. RT_USAGE: not UTF-8; what names it in the message. */
RT_CHECKED rt_status rt_library_str(const char *text, const char *what, rt_str *out,
				    rt_error *err);
/* Text of which the size may be RETAKE_CSTR. RT_USAGE: ptr is NULL, but for none. */
RT_CHECKED rt_status rt_library_bytes(const char *ptr, size_t size, const char *what, rt_str *out,
				      rt_error *err);
/* The caller's options (NULL: the defaults) into ours, whatever version it was compiled with.
 * first: the size of the struct in the first version. RT_USAGE: no such size, or something is
 * asked for that this version does not know. */
RT_CHECKED rt_status rt_library_options(const void *given, size_t first, void *into, size_t size,
					const char *what, rt_error *err);
/* RT_USAGE when it is NULL. */
RT_CHECKED rt_status rt_library_given(const void *ptr, const char *what, rt_error *err);

/* ---- what goes out ---- */

/* A buffer for rt_library_give. */
void rt_library_buf_init(rt_buf *buf);
/* Hands the bytes over where st is RT_OK and all of them are there; releases buf. */
RT_CHECKED rt_status rt_library_give(rt_buf *buf, rt_status st, retake_text *out, rt_error *err);
/* The status as the caller knows it; error (may be NULL) is filled in where it is a failure. */
retake_status rt_library_end(rt_status st, const rt_error *err, retake_error *error);

/* ---- a look ---- */

typedef struct rt_library_look {
	rt_engine *engine;
	const rt_project *value; /* a reference */
	retake_place from;
	rt_place place;
	rt_buf buf;
	rt_error error;
} rt_library_look;

/* The value and the place in it. Always to be followed by rt_library_look_end. */
RT_CHECKED rt_status rt_library_look_begin(rt_library_look *look, retake_project *project,
					   const retake_place *place, const retake_text *out);
/* Gives look->buf to the caller where st is RT_OK. */
retake_status rt_library_look_end(rt_library_look *look, rt_status st, retake_text *out,
				  retake_error *error);

#endif
