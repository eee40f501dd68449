/* SPDX-License-Identifier: MIT
 *
 * Alloc: the allocator interface. Every function that allocates has an allocator as a parameter,
 * so that a test can make the nth allocation fail and a server can count bytes. */
#ifndef RT_BASE_ALLOC_H
#define RT_BASE_ALLOC_H

#include <stddef.h>

/* One thread at a time unless documented otherwise; rt_alloc_libc locks itself. */
typedef struct rt_alloc {
	void *(*resize)(void *ctx, void *ptr, size_t size); /* NULL ptr: allocate; size > 0 */
	void (*release)(void *ctx, void *ptr);              /* ptr may be NULL */
	void *ctx;
} rt_alloc;

/* The C library's allocator. */
const rt_alloc *rt_alloc_libc(void);

/* size > 0. NULL: out of memory. The contents are undefined. */
void *rt_new(const rt_alloc *alloc, size_t size);
/* The same, zeroed. */
void *rt_new0(const rt_alloc *alloc, size_t size);
/* count * size with a check for overflow (NULL then). */
void *rt_new_array(const rt_alloc *alloc, size_t count, size_t size);
/* NULL: out of memory; ptr is unchanged. */
void *rt_resize(const rt_alloc *alloc, void *ptr, size_t size);
void rt_free(const rt_alloc *alloc, void *ptr);

/* Append an item to a growing array. items: the address of a pointer to *count items, NULL at
 * first. The new item is not initialised. NULL: there is no memory, and nothing has changed. */
void *rt_array_add(const rt_alloc *alloc, void *items, size_t *count, size_t *capacity, size_t size);

/* Arena: memory that is released together (a parse, a request, a frame). One thread at a time.
 * Nothing reference-counted may point into it. */
typedef struct rt_arena rt_arena;

rt_arena *rt_arena_new(const rt_alloc *alloc);
/* NULL: out of memory. Aligned for any type. */
void *rt_arena_get(rt_arena *arena, size_t size);
/* Releases all memory of the arena but keeps one block for reuse. */
void rt_arena_reset(rt_arena *arena);
void rt_arena_free(rt_arena *arena);

#endif
