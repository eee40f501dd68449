/* SPDX-License-Identifier: MIT
 *
 * The C library's allocator as an rt_alloc, and the arena: a chain of blocks, each twice as large
 * as the one before it up to a limit. */
#include "base/alloc.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* The first block, with its header, has a size that allocators handle fast. */
enum { ARENA_FIRST = 960, ARENA_LARGEST = 1 << 20 };

static void *
libc_resize(void *ctx, void *ptr, size_t size)
{
	(void)ctx;
	return realloc(ptr, size);
}

static void
libc_release(void *ctx, void *ptr)
{
	(void)ctx;
	free(ptr);
}

static const rt_alloc libc_alloc = {libc_resize, libc_release, NULL};

const rt_alloc *
rt_alloc_libc(void)
{
	return &libc_alloc;
}

void *
rt_new(const rt_alloc *alloc, size_t size)
{
	return alloc->resize(alloc->ctx, NULL, size);
}

void *
rt_new0(const rt_alloc *alloc, size_t size)
{
	void *ptr = rt_new(alloc, size);

	if (ptr != NULL)
		memset(ptr, 0, size);
	return ptr;
}

void *
rt_new_array(const rt_alloc *alloc, size_t count, size_t size)
{
	if (size != 0 && count > SIZE_MAX / size)
		return NULL;
	return rt_new(alloc, count * size > 0 ? count * size : 1);
}

void *
rt_resize(const rt_alloc *alloc, void *ptr, size_t size)
{
	return alloc->resize(alloc->ctx, ptr, size);
}

void
rt_free(const rt_alloc *alloc, void *ptr)
{
	if (ptr != NULL)
		alloc->release(alloc->ctx, ptr);
}

void *
rt_array_add(const rt_alloc *alloc, void *items, size_t *count, size_t *capacity, size_t size)
{
	char *array;

	memcpy(&array, items, sizeof(array));
	if (*count == *capacity) {
		size_t wanted = *capacity < 16 ? 16 : *capacity + *capacity / 2;
		char *grown = wanted > SIZE_MAX / size ? NULL
						       : rt_resize(alloc, array, wanted * size);

		if (grown == NULL)
			return NULL;
		array = grown;
		*capacity = wanted;
		memcpy(items, &array, sizeof(array));
	}
	return array + (*count)++ * size;
}

typedef struct block {
	struct block *before; /* the block that was filled earlier */
	size_t size;          /* bytes after this header */
	size_t used;
	_Alignas(max_align_t) unsigned char bytes[];
} block;

struct rt_arena {
	const rt_alloc *alloc;
	block *last; /* the one being filled */
};

rt_arena *
rt_arena_new(const rt_alloc *alloc)
{
	rt_arena *arena = rt_new(alloc, sizeof(*arena));

	if (arena == NULL)
		return NULL;
	arena->alloc = alloc;
	arena->last = NULL;
	return arena;
}

static block *
block_new(rt_arena *arena, size_t need)
{
	size_t size = arena->last == NULL ? ARENA_FIRST : arena->last->size * 2;
	block *b;

	if (size > ARENA_LARGEST)
		size = ARENA_LARGEST;
	if (size < need)
		size = need;
	if (size > SIZE_MAX - sizeof(block))
		return NULL;
	b = rt_new(arena->alloc, sizeof(block) + size);
	if (b == NULL)
		return NULL;
	b->before = arena->last;
	b->size = size;
	b->used = 0;
	return b;
}

void *
rt_arena_get(rt_arena *arena, size_t size)
{
	const size_t align = _Alignof(max_align_t);
	block *b = arena->last;
	void *ptr;

	if (size > SIZE_MAX - align)
		return NULL;
	size = (size + align - 1) / align * align;
	if (b == NULL || b->size - b->used < size) {
		b = block_new(arena, size);
		if (b == NULL)
			return NULL;
		arena->last = b;
	}
	ptr = b->bytes + b->used;
	b->used += size;
	return ptr;
}

void
rt_arena_reset(rt_arena *arena)
{
	block *kept = NULL;

	while (arena->last != NULL) {
		block *b = arena->last;

		arena->last = b->before;
		/* The newest, unless it was made for one large item. */
		if (kept == NULL && b->size <= ARENA_LARGEST)
			kept = b;
		else
			rt_free(arena->alloc, b);
	}
	if (kept != NULL) {
		kept->before = NULL;
		kept->used = 0;
	}
	arena->last = kept;
}

void
rt_arena_free(rt_arena *arena)
{
	if (arena == NULL)
		return;
	while (arena->last != NULL) {
		block *gone = arena->last;

		arena->last = gone->before;
		rt_free(arena->alloc, gone);
	}
	rt_free(arena->alloc, arena);
}
