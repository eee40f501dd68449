/* SPDX-License-Identifier: MIT
 *
 * Library: shared by the implementation of include/retake/. A public function checks its arguments,
 * calls the engine, and returns text that the caller can free. It contains no logic itself:
 *
 *	rt_library_call c;
 *	rt_scope *s = rt_library_begin_view(&c, project, place, out);
 *
 *	RT_TRY(s, rt_view_takes(c.engine, c.value, c.at.disc, false, &c.text, &s->error));
 *	return rt_library_end(&c, out, error);
 */
#ifndef RT_LIBRARY_LIBRARY_IMPL_H
#define RT_LIBRARY_LIBRARY_IMPL_H

#include "base/scope.h"
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

/* retake_store_open with another allocator and environment, for tests. Text that is returned to
 * callers is allocated by the C library anyway, because it outlives the store. */
retake_status rt_library_store_open(const rt_alloc *alloc, const rt_env *env, const char *path,
				    const retake_store_options *options, retake_store **out_store,
				    retake_error *error);

/* ---- one call ---- */

typedef struct rt_library_call {
	rt_scope scope; /* of the store's memory */
	rt_buf text;    /* the result, of the C library's memory */
	/* only for views: */
	rt_engine *engine;
	const rt_project *value;
	retake_place from; /* as given */
	rt_place at;
} rt_library_call;

/* Always followed by rt_library_end. Each returns the call's scope. */
rt_scope *rt_library_begin(rt_library_call *c, const rt_alloc *alloc);
/* RT_USAGE: no store, no project. */
rt_scope *rt_library_begin_store(rt_library_call *c, const retake_store *store);
rt_scope *rt_library_begin_project(rt_library_call *c, const retake_project *project);
/* The same, with the value that place means. out is checked here and used by the caller. */
rt_scope *rt_library_begin_view(rt_library_call *c, retake_project *project,
				const retake_place *place, const retake_text *out);
/* Moves the text to the caller, unless the scope has failed. */
void rt_library_give(rt_library_call *c, retake_text *out);
/* Returns the text in out (NULL: none), releases everything, and reports the failure in error (may
 * be NULL). */
retake_status rt_library_end(rt_library_call *c, retake_text *out, retake_error *error);

/* ---- arguments: `what` is named in messages ---- */

/* RT_USAGE if ptr is NULL. */
void rt_library_require(rt_scope *scope, const void *ptr, const char *what);
/* A name or a query; NULL: empty. RT_USAGE: not UTF-8. */
rt_str rt_library_str(rt_scope *scope, const char *text, const char *what);
/* Text whose size may be RETAKE_CSTR. RT_USAGE: ptr is NULL and size is not 0. */
rt_str rt_library_bytes(rt_scope *scope, const char *ptr, size_t size, const char *what);
/* Copy the caller's options (NULL: the defaults) to a zeroed internal struct. The caller may have
 * been compiled against a later version. A struct that grows needs its first size here, too.
 * RT_USAGE: its size is not set, or it asks for something unknown. */
void rt_library_options(rt_scope *scope, const void *given, void *into, size_t size,
			const char *what);

#endif
