/* SPDX-License-Identifier: MIT
 *
 * Scope: the memory, the resources and the first failure of one piece of work (an operation,
 * a request, a command, a frame).
 *
 * Functions that are handed a scope return values, not statuses. The first failure is kept in
 * the scope; after it every function returns immediately and changes nothing, so a sequence of
 * steps needs only one check, at the end:
 *
 *	rt_scope s;
 *
 *	rt_scope_init(&s, alloc);
 *	rt_buf *text = rt_scope_buf(&s);
 *	RT_TRY(&s, read_entry(engine, number, text, &s.error));
 *	RT_TRY(&s, write_entry(engine, rt_scope_str(&s, text), &s.error));
 *	return rt_scope_end(&s, err);
 *
 * One thread at a time. Nothing that is reference-counted may point into a scope's memory. */
#ifndef RT_BASE_SCOPE_H
#define RT_BASE_SCOPE_H

#include "base/text.h"

typedef struct rt_scope_item rt_scope_item;

typedef struct rt_scope {
	const rt_alloc *alloc;
	rt_arena *arena;      /* NULL until the first allocation */
	rt_scope_item *items; /* to be closed, newest first */
	rt_status status;     /* the first failure; RT_OK: none */
	rt_error error;       /* its message, where status is not RT_OK */
	rt_buf failed;        /* returned for a buffer after a failure; accepts nothing */
} rt_scope;

/* Cannot fail; allocates nothing. alloc must outlive the scope. */
void rt_scope_init(rt_scope *scope, const rt_alloc *alloc);
/* Closes registered resources, newest first, and frees the memory. */
void rt_scope_deinit(rt_scope *scope);
/* The same; returns the status, with the message copied to err (may be NULL) on failure. */
RT_CHECKED rt_status rt_scope_end(rt_scope *scope, rt_error *err);
/* As rt_scope_init, after rt_scope_deinit's work, but keeps one block of memory. */
void rt_scope_reset(rt_scope *scope);

/* Evaluate an expression of type rt_status unless the scope has failed, and keep its failure.
 * The expression should pass &scope->error on. Yields the scope's status. */
#define RT_TRY(scope, expression) \
	((scope)->status == RT_OK ? rt_scope_note((scope), (expression)) : (scope)->status)

static inline bool
rt_ok(const rt_scope *scope)
{
	return scope->status == RT_OK;
}
/* Keeps a status whose message, if any, is in scope->error already. Returns scope->status. */
rt_status rt_scope_note(rt_scope *scope, rt_status status);
/* Keeps the failure of another scope, with its message. Returns scope->status. */
rt_status rt_scope_adopt(rt_scope *scope, const rt_scope *other);
/* The same; ends the other scope in any case. */
rt_status rt_scope_join(rt_scope *scope, rt_scope *other);
/* Fails the scope with a message, unless it has failed before. Returns scope->status. */
rt_status rt_scope_fail(rt_scope *scope, rt_status status, const char *format, ...) RT_PRINTF(3, 4);
/* The same with advice; see rt_fail_advise. */
rt_status rt_scope_fail_advise(rt_scope *scope, rt_status status, const char *advice,
			       const char *format, ...) RT_PRINTF(4, 5);
rt_status rt_scope_fail_v(rt_scope *scope, rt_status status, const char *advice, const char *format,
			  va_list args) RT_PRINTF(4, 0);
/* The same with the message and the advice of another failure. */
rt_status rt_scope_fail_as(rt_scope *scope, rt_status status, const rt_error *err);
/* The same for "out of memory". */
rt_status rt_scope_nomem(rt_scope *scope);

/* Zeroed memory that lives as long as the scope. NULL once the scope has failed. */
void *rt_scope_get(rt_scope *scope, size_t size);
/* The same for count items. */
void *rt_scope_array(rt_scope *scope, size_t count, size_t size);
/* An array with capacity for one more item of size bytes after its count items: items itself, or a
 * copy twice as large; the old memory stays with the scope. NULL once the scope has failed. */
void *rt_scope_grow(rt_scope *scope, void *items, size_t count, size_t *capacity, size_t size);
/* The scope's arena, for functions that allocate in one. NULL once the scope has failed. */
rt_arena *rt_scope_arena(rt_scope *scope);
/* A copy with a NUL after it; an empty view with ptr NULL once the scope has failed. */
rt_str rt_scope_copy(rt_scope *scope, rt_str s);
/* An empty buffer that is freed with the scope. Never NULL: once the scope has failed it is one
 * that accepts nothing. */
rt_buf *rt_scope_buf(rt_scope *scope);
/* The text of a buffer, where all of it was added; fails the scope with the buffer's status
 * otherwise. The view is borrowed from the buffer. */
rt_str rt_scope_str(rt_scope *scope, const rt_buf *buf);
/* close(item) is called when the scope ends; also at once when the scope has failed or there is
 * no memory to remember it, so the scope owns item in any case. NULL is ignored. */
void rt_scope_defer(rt_scope *scope, void (*close)(void *item), void *item);

#endif
