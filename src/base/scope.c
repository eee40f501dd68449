/* SPDX-License-Identifier: MIT
 *
 * An arena for the memory, and a list in it of resources to close. */
#include "base/scope.h"

struct rt_scope_item {
	rt_scope_item *next;
	void (*close)(void *item);
	void *item;
};

void
rt_scope_init(rt_scope *scope, const rt_alloc *alloc)
{
	/* Not memset: every operation has several scopes, and most of one is the message's buffer. */
	scope->alloc = alloc;
	scope->arena = NULL;
	scope->items = NULL;
	scope->status = RT_OK;
	scope->error.status = RT_OK;
	scope->error.at = scope->error.line = 0;
	scope->error.has_at = 0;
	scope->error.advice = NULL;
	scope->error.text[0] = '\0';
	scope->failed = (rt_buf){0};
}

static void
close_items(rt_scope *scope)
{
	while (scope->items != NULL) {
		rt_scope_item *item = scope->items;

		scope->items = item->next;
		item->close(item->item);
	}
}

void
rt_scope_deinit(rt_scope *scope)
{
	close_items(scope);
	rt_arena_free(scope->arena);
	scope->arena = NULL;
}

rt_status
rt_scope_end(rt_scope *scope, rt_error *err)
{
	rt_scope_deinit(scope);
	if (scope->status != RT_OK && err != NULL) {
		*err = scope->error;
		err->status = scope->status;
	}
	return scope->status;
}

void
rt_scope_reset(rt_scope *scope)
{
	rt_arena *arena = scope->arena;

	close_items(scope);
	if (arena != NULL)
		rt_arena_reset(arena);
	rt_scope_init(scope, scope->alloc);
	scope->arena = arena;
}

/* ---- failures ---- */

rt_status
rt_scope_note(rt_scope *scope, rt_status status)
{
	if (scope->status == RT_OK)
		scope->status = status;
	/* No message, or that of a call whose arguments failed the scope before it ran. */
	if (scope->status != RT_OK && scope->error.status != scope->status)
		(void)rt_fail(&scope->error, scope->status, "%s",
			      scope->status == RT_NOMEM ? "out of memory"
							: rt_status_word(scope->status));
	return scope->status;
}

rt_status
rt_scope_adopt(rt_scope *scope, const rt_scope *other)
{
	if (scope->status == RT_OK && other->status != RT_OK)
		scope->error = other->error;
	return rt_scope_note(scope, other->status);
}

rt_status
rt_scope_join(rt_scope *scope, rt_scope *other)
{
	(void)rt_scope_adopt(scope, other);
	rt_scope_deinit(other);
	return scope->status;
}

rt_status
rt_scope_fail_v(rt_scope *scope, rt_status status, const char *advice, const char *format,
		va_list args)
{
	if (scope->status == RT_OK)
		scope->status = rt_fail_v(&scope->error, status, advice, format, args);
	return scope->status;
}

rt_status
rt_scope_fail(rt_scope *scope, rt_status status, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	(void)rt_scope_fail_v(scope, status, NULL, format, args);
	va_end(args);
	return scope->status;
}

rt_status
rt_scope_fail_advise(rt_scope *scope, rt_status status, const char *advice, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	(void)rt_scope_fail_v(scope, status, advice, format, args);
	va_end(args);
	return scope->status;
}

rt_status
rt_scope_fail_as(rt_scope *scope, rt_status status, const rt_error *err)
{
	if (scope->status != RT_OK)
		return scope->status;
	scope->error = *err;
	scope->error.status = status;
	return scope->status = status;
}

rt_status
rt_scope_nomem(rt_scope *scope)
{
	return rt_scope_fail(scope, RT_NOMEM, "out of memory");
}

/* ---- memory ---- */

rt_arena *
rt_scope_arena(rt_scope *scope)
{
	if (scope->status != RT_OK)
		return NULL;
	if (scope->arena == NULL)
		scope->arena = rt_arena_new(scope->alloc);
	if (scope->arena == NULL)
		(void)rt_scope_nomem(scope);
	return scope->arena;
}

void *
rt_scope_get(rt_scope *scope, size_t size)
{
	rt_arena *arena = rt_scope_arena(scope);
	void *ptr = NULL;

	if (arena == NULL)
		return NULL;
	ptr = rt_arena_get(arena, size > 0 ? size : 1);
	if (ptr == NULL)
		(void)rt_scope_nomem(scope);
	else
		memset(ptr, 0, size);
	return ptr;
}

void *
rt_scope_array(rt_scope *scope, size_t count, size_t size)
{
	if (size > 0 && count > SIZE_MAX / size) {
		(void)rt_scope_nomem(scope);
		return NULL;
	}
	return rt_scope_get(scope, count * size);
}

void *
rt_scope_grow(rt_scope *scope, void *items, size_t count, size_t *capacity, size_t size)
{
	size_t larger = *capacity > 0 ? *capacity * 2 : 4;
	void *copy;

	if (count < *capacity)
		return rt_ok(scope) ? items : NULL;
	copy = rt_scope_array(scope, larger, size);
	if (copy == NULL)
		return NULL;
	if (count > 0)
		memcpy(copy, items, count * size);
	*capacity = larger;
	return copy;
}

rt_str
rt_scope_copy(rt_scope *scope, rt_str s)
{
	char *ptr = s.size < SIZE_MAX ? rt_scope_get(scope, s.size + 1) : NULL;

	if (ptr == NULL)
		return (rt_str){NULL, 0};
	if (s.size > 0)
		memcpy(ptr, s.ptr, s.size);
	return (rt_str){ptr, s.size};
}

/* ---- buffers and other resources ---- */

static void
close_buf(void *item)
{
	rt_buf_deinit(item);
}

rt_buf *
rt_scope_buf(rt_scope *scope)
{
	rt_buf *buf = rt_scope_get(scope, sizeof(*buf));

	if (buf == NULL) {
		rt_buf_init(&scope->failed, scope->alloc, 0);
		scope->failed.status = scope->status;
		return &scope->failed;
	}
	rt_buf_init(buf, scope->alloc, RT_BUF_UNLIMITED);
	rt_scope_defer(scope, close_buf, buf);
	return rt_ok(scope) ? buf : rt_scope_buf(scope);
}

rt_str
rt_scope_str(rt_scope *scope, const rt_buf *buf)
{
	if (buf->status != RT_OK)
		(void)rt_scope_note(scope, buf->status);
	return rt_ok(scope) ? rt_buf_str(buf) : (rt_str){NULL, 0};
}

void
rt_scope_defer(rt_scope *scope, void (*release)(void *item), void *item)
{
	rt_scope_item *entry;

	if (item == NULL)
		return;
	entry = rt_scope_get(scope, sizeof(*entry));
	if (entry == NULL) {
		release(item);
		return;
	}
	entry->close = release;
	entry->item = item;
	entry->next = scope->items;
	scope->items = entry;
}
