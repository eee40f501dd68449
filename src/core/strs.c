/* SPDX-License-Identifier: MIT
 *
 * Chunks of 256 strings. A chunk as bytes: 'S', then for each string its size (varint)
 * and bytes. A root: count, then for each chunk the number of its node (0: none).
 *
 * Chunk pointers are in two levels of fixed arrays, so they never move during a read. Nor does the
 * index: when it is full, a larger one is added, and the old ones are kept until the table is
 * freed, because readers may be using them (together they are about as large as the newest). A
 * number is added to the index after its string. Every checkpoint rewrites the last chunk if it has
 * grown, so its previous node may be gone when a reader tries to load it. By then the chunk is in
 * memory, so a reader that cannot load the node looks there again. */
#include "core/strs.h"

#include "base/hash.h"
#include "base/varint.h"

enum { CHUNK = 256, LEVEL = 1024, COUNT_BITS = 9 };
#define NODE_MAX (UINT64_MAX >> COUNT_BITS)

typedef struct chunk {
	_Atomic(char *) bytes[CHUNK]; /* size_t size, then the characters */
	char *loaded;                 /* one allocation with those loaded from the store */
	size_t loaded_count;
} chunk;

typedef struct row {
	_Atomic(chunk *) chunks[LEVEL];
	/* Node number and strings in it, as stored_of packs them: readers read it while a
	 * checkpoint changes both. 0: not stored. */
	_Atomic uint64_t stored[LEVEL];
	uint64_t pending[LEVEL]; /* node numbers in the transaction under way */
	uint32_t pending_count[LEVEL];
} row;

/* Numbers by hash, open addressing. */
typedef struct index {
	struct index *smaller;  /* the one before */
	size_t room, used;      /* used: only for the writer once the index is published */
	_Atomic uint32_t at[];  /* 0: none */
} index;

struct rt_strs {
	const rt_alloc *alloc;
	const rt_seq_source *source;
	_Atomic uint32_t count;
	_Atomic(row *) rows[LEVEL];
	_Atomic(index *) index; /* NULL until needed */
};

rt_status
rt_strs_new(const rt_alloc *alloc, const rt_seq_source *source, rt_strs **out_strs)
{
	rt_strs *strs = rt_new0(alloc, sizeof(*strs));

	if (strs == NULL)
		return RT_NOMEM;
	strs->alloc = alloc;
	strs->source = source;
	*out_strs = strs;
	return RT_OK;
}

static void
chunk_free(const rt_alloc *alloc, chunk *c)
{
	size_t i;

	if (c == NULL)
		return;
	for (i = c->loaded_count; i < CHUNK; i++)
		rt_free(alloc, atomic_load(&c->bytes[i]));
	rt_free(alloc, c->loaded);
	rt_free(alloc, c);
}

void
rt_strs_free(rt_strs *strs)
{
	index *x, *smaller;
	size_t i, j;

	if (strs == NULL)
		return;
	for (i = 0; i < LEVEL; i++) {
		row *r = atomic_load(&strs->rows[i]);

		for (j = 0; r != NULL && j < LEVEL; j++)
			chunk_free(strs->alloc, atomic_load(&r->chunks[j]));
		rt_free(strs->alloc, r);
	}
	for (x = atomic_load(&strs->index); x != NULL; x = smaller) {
		smaller = x->smaller;
		rt_free(strs->alloc, x);
	}
	rt_free(strs->alloc, strs);
}

uint32_t
rt_strs_count(const rt_strs *strs)
{
	return atomic_load_explicit(&((rt_strs *)(uintptr_t)strs)->count, memory_order_acquire);
}

static uint64_t
stored_of(uint64_t node, uint32_t count)
{
	RT_ASSERT(node <= NODE_MAX && count <= CHUNK);
	return node << COUNT_BITS | count;
}

static uint64_t
node_of(uint64_t stored)
{
	return stored >> COUNT_BITS;
}

static uint32_t
count_of(uint64_t stored)
{
	return (uint32_t)(stored & ((1 << COUNT_BITS) - 1));
}

/* The size of a string in the form that a chunk stores. */
static size_t
room_for(size_t size)
{
	return sizeof(size_t) + size + 1;
}

static void
bytes_put(char *bytes, rt_str s)
{
	memcpy(bytes, &s.size, sizeof(size_t));
	if (s.size > 0)
		memcpy(bytes + sizeof(size_t), s.ptr, s.size);
	bytes[sizeof(size_t) + s.size] = '\0';
}

/* Allocates a string in the form that a chunk stores. */
static char *
bytes_new(const rt_alloc *alloc, rt_str s)
{
	char *bytes = rt_new(alloc, room_for(s.size));

	if (bytes != NULL)
		bytes_put(bytes, s);
	return bytes;
}

static rt_status
chunk_load(rt_strs *strs, row *r, size_t at, chunk **out, rt_error *err)
{
	uint64_t stored = atomic_load_explicit(&r->stored[at], memory_order_acquire);
	rt_buf bytes;
	rt_byte_reader reader;
	chunk *c = NULL, *expected = NULL;
	uint32_t i;
	char *to;
	rt_status st;

	rt_buf_init(&bytes, strs->alloc, RT_BUF_UNLIMITED);
	st = strs->source->read(strs->source->ctx, node_of(stored), &bytes, err);
	if (st == RT_OK && bytes.status == RT_OK)
		c = rt_new0(strs->alloc, sizeof(*c));
	if (c != NULL) /* bytes contains every string of the chunk, and possibly more */
		c->loaded = rt_new(strs->alloc, bytes.size + CHUNK * room_for(0));
	if (st == RT_OK && (c == NULL || c->loaded == NULL))
		st = rt_fail(err, RT_NOMEM, "out of memory while loading names");
	if (st != RT_OK)
		goto done;
	reader = rt_byte_reader_of(rt_buf_str(&bytes));
	if (rt_read_byte(&reader) != 'S')
		reader.ok = false;
	c->loaded_count = count_of(stored);
	to = c->loaded;
	for (i = 0; reader.ok && i < count_of(stored); i++) {
		rt_str s = rt_read_str(&reader);

		if (!reader.ok)
			break;
		bytes_put(to, s);
		atomic_store_explicit(&c->bytes[i], to, memory_order_relaxed);
		to += room_for(s.size);
	}
	if (!reader.ok) {
		st = rt_fail(err, RT_CORRUPT, "names in node %llu cannot be read",
			     (unsigned long long)node_of(stored));
		goto done;
	}
	if (atomic_compare_exchange_strong(&r->chunks[at], &expected, c)) {
		*out = c;
		c = NULL;
	} else {
		*out = expected;
	}
done:
	chunk_free(strs->alloc, c);
	rt_buf_deinit(&bytes);
	if (st != RT_OK && st != RT_NOMEM && expected == NULL) { /* has the chunk been rewritten in
								  * the meantime? */
		expected = atomic_load_explicit(&r->chunks[at], memory_order_acquire);
		if (expected != NULL) {
			*out = expected;
			st = RT_OK;
		}
	}
	return st;
}

rt_status
rt_strs_get(const rt_strs *strs, uint32_t number, rt_str *out, rt_error *err)
{
	rt_strs *mine = (rt_strs *)(uintptr_t)strs;
	uint32_t at = number - 1;
	row *r;
	chunk *c;
	char *bytes;

	RT_ASSERT(number >= 1 && number <= rt_strs_count(strs));
	r = atomic_load_explicit(&mine->rows[at / CHUNK / LEVEL], memory_order_acquire);
	c = atomic_load_explicit(&r->chunks[at / CHUNK % LEVEL], memory_order_acquire);
	if (c == NULL) {
		rt_status st = chunk_load(mine, r, at / CHUNK % LEVEL, &c, err);

		if (st != RT_OK)
			return st;
	}
	bytes = atomic_load_explicit(&c->bytes[at % CHUNK], memory_order_acquire);
	memcpy(&out->size, bytes, sizeof(size_t));
	out->ptr = bytes + sizeof(size_t);
	return RT_OK;
}

static void
index_put(index *x, uint64_t hash, uint32_t number)
{
	size_t mask = x->room - 1, at = (size_t)hash & mask;

	while (atomic_load_explicit(&x->at[at], memory_order_relaxed) != 0)
		at = (at + 1) & mask;
	atomic_store_explicit(&x->at[at], number, memory_order_release);
	x->used++;
}

/* Builds an index of all strings, with room for as many again, to replace this one (NULL: there is
 * none). Several readers may build the first one at once: the first to finish wins. Nothing can
 * have been added in the meantime, because the writer builds the index too before it adds. */
static rt_status
index_make(rt_strs *strs, index *smaller, index **out, rt_error *err)
{
	uint32_t count = rt_strs_count(strs), i;
	size_t room = 64;
	index *x, *expected = smaller;

	while (room < ((size_t)count + 1) * 4)
		room *= 2;
	x = rt_new0(strs->alloc, sizeof(*x) + room * sizeof(x->at[0]));
	if (x == NULL)
		return rt_fail(err, RT_NOMEM, "out of memory");
	x->room = room;
	x->smaller = smaller;
	for (i = 1; i <= count; i++) {
		rt_str s;
		rt_status st = rt_strs_get(strs, i, &s, err);

		if (st != RT_OK) {
			rt_free(strs->alloc, x);
			return st;
		}
		index_put(x, rt_hash(s.ptr, s.size, 0), i);
	}
	if (atomic_compare_exchange_strong(&strs->index, &expected, x)) {
		*out = x;
	} else {
		rt_free(strs->alloc, x);
		*out = expected;
	}
	return RT_OK;
}

/* For the writer: an index with room for one more. */
static rt_status
index_for_more(rt_strs *strs, index **out, rt_error *err)
{
	rt_status st = RT_OK;

	*out = atomic_load(&strs->index);
	if (*out == NULL)
		st = index_make(strs, NULL, out, err);
	if (st == RT_OK && (*out)->used * 2 + 2 > (*out)->room)
		st = index_make(strs, *out, out, err);
	return st;
}

static rt_status
find_hashed(const rt_strs *strs, rt_str s, uint64_t hash, uint32_t *out_number, rt_error *err)
{
	rt_strs *mine = (rt_strs *)(uintptr_t)strs;
	uint32_t number;
	index *x;
	size_t at;
	rt_status st = RT_OK;

	*out_number = 0;
	if (rt_strs_count(strs) == 0)
		return RT_OK;
	x = atomic_load_explicit(&mine->index, memory_order_acquire);
	if (x == NULL)
		st = index_make(mine, NULL, &x, err);
	if (st != RT_OK)
		return st;
	at = (size_t)hash & (x->room - 1);
	while ((number = atomic_load_explicit(&x->at[at], memory_order_acquire)) != 0) {
		rt_str other;

		st = rt_strs_get(strs, number, &other, err);
		if (st != RT_OK)
			return st;
		if (rt_str_eq(s, other)) {
			*out_number = number;
			break;
		}
		at = (at + 1) & (x->room - 1);
	}
	return RT_OK;
}

rt_status
rt_strs_find(const rt_strs *strs, rt_str s, uint32_t *out_number, rt_error *err)
{
	return find_hashed(strs, s, rt_hash(s.ptr, s.size, 0), out_number, err);
}

rt_status
rt_strs_intern(rt_strs *strs, rt_str s, uint32_t *out_number, rt_error *err)
{
	uint32_t at = rt_strs_count(strs);
	row *r;
	chunk *c;
	char *bytes;
	index *x;
	uint64_t hash = rt_hash(s.ptr, s.size, 0);
	rt_status st = find_hashed(strs, s, hash, out_number, err);

	if (st != RT_OK || *out_number != 0)
		return st;
	st = index_for_more(strs, &x, err);
	if (st != RT_OK)
		return st;
	if (at / CHUNK / LEVEL >= LEVEL)
		return rt_fail(err, RT_LIMIT, "too many names");
	r = atomic_load(&strs->rows[at / CHUNK / LEVEL]);
	if (r == NULL) {
		r = rt_new0(strs->alloc, sizeof(*r));
		if (r == NULL)
			return rt_fail(err, RT_NOMEM, "out of memory");
		atomic_store_explicit(&strs->rows[at / CHUNK / LEVEL], r, memory_order_release);
	}
	c = atomic_load(&r->chunks[at / CHUNK % LEVEL]);
	if (c == NULL && atomic_load(&r->stored[at / CHUNK % LEVEL]) != 0) {
		st = chunk_load(strs, r, at / CHUNK % LEVEL, &c, err);
		if (st != RT_OK)
			return st;
	}
	if (c == NULL) {
		c = rt_new0(strs->alloc, sizeof(*c));
		if (c == NULL)
			return rt_fail(err, RT_NOMEM, "out of memory");
		atomic_store_explicit(&r->chunks[at / CHUNK % LEVEL], c, memory_order_release);
	}
	bytes = bytes_new(strs->alloc, s);
	if (bytes == NULL)
		return rt_fail(err, RT_NOMEM, "out of memory");
	atomic_store_explicit(&c->bytes[at % CHUNK], bytes, memory_order_release);
	atomic_store_explicit(&strs->count, at + 1, memory_order_release);
	index_put(x, hash, at + 1);
	*out_number = at + 1;
	return RT_OK;
}

rt_status
rt_strs_store(rt_strs *strs, const rt_seq_writer *writer, rt_buf *out_root, rt_error *err)
{
	uint32_t count = rt_strs_count(strs), from;
	rt_buf bytes;
	rt_status st = RT_OK;

	rt_buf_init(&bytes, strs->alloc, RT_BUF_UNLIMITED);
	rt_buf_add_varint(out_root, count);
	for (from = 0; st == RT_OK && from < count; from += CHUNK) {
		row *r = atomic_load(&strs->rows[from / CHUNK / LEVEL]);
		size_t at = from / CHUNK % LEVEL;
		uint64_t stored = atomic_load(&r->stored[at]);
		uint32_t here = count - from < CHUNK ? count - from : CHUNK, i;

		if (stored == 0 || count_of(stored) != here) {
			rt_buf_clear(&bytes);
			rt_buf_add_byte(&bytes, 'S');
			for (i = 0; st == RT_OK && i < here; i++) {
				rt_str s;

				st = rt_strs_get(strs, from + i + 1, &s, err);
				if (st == RT_OK)
					rt_buf_add_sized(&bytes, s);
			}
			if (st == RT_OK && bytes.status != RT_OK)
				st = rt_fail(err, bytes.status, "out of memory");
			if (st == RT_OK)
				st = writer->write(writer->ctx, rt_buf_str(&bytes), &r->pending[at],
						   err);
			r->pending_count[at] = here;
		}
		rt_buf_add_varint(out_root, r->pending[at] != 0 ? r->pending[at] : node_of(stored));
	}
	rt_buf_deinit(&bytes);
	if (st == RT_OK && out_root->status != RT_OK)
		st = rt_fail(err, out_root->status, "out of memory");
	return st;
}

void
rt_strs_stored(rt_strs *strs, bool durable)
{
	size_t i, j;

	for (i = 0; i < LEVEL; i++) {
		row *r = atomic_load(&strs->rows[i]);

		if (r == NULL)
			break;
		for (j = 0; j < LEVEL; j++) {
			if (r->pending[j] != 0 && durable)
				atomic_store_explicit(&r->stored[j],
						      stored_of(r->pending[j], r->pending_count[j]),
						      memory_order_release);
			r->pending[j] = 0;
		}
	}
}

rt_status
rt_strs_open(const rt_alloc *alloc, const rt_seq_source *source, rt_str root, rt_strs **out_strs,
	     rt_error *err)
{
	rt_byte_reader reader = rt_byte_reader_of(root);
	uint64_t count = rt_read_varint(&reader), from;
	rt_strs *strs = NULL;
	rt_status st = rt_strs_new(alloc, source, &strs);

	if (st != RT_OK)
		return rt_fail(err, st, "out of memory");
	if (count > (uint64_t)CHUNK * LEVEL * LEVEL)
		reader.ok = false;
	for (from = 0; reader.ok && from < count; from += CHUNK) {
		row *r = atomic_load(&strs->rows[from / CHUNK / LEVEL]);
		size_t at = (size_t)(from / CHUNK % LEVEL);
		uint64_t node;

		if (r == NULL) {
			r = rt_new0(alloc, sizeof(*r));
			if (r == NULL) {
				rt_strs_free(strs);
				return rt_fail(err, RT_NOMEM, "out of memory");
			}
			atomic_store(&strs->rows[from / CHUNK / LEVEL], r);
		}
		node = rt_read_varint(&reader);
		if (node == 0 || node > NODE_MAX)
			reader.ok = false;
		else
			atomic_store(&r->stored[at],
				     stored_of(node, (uint32_t)(count - from < CHUNK ? count - from
										      : CHUNK)));
	}
	if (!reader.ok || reader.at != reader.end) {
		rt_strs_free(strs);
		return rt_fail(err, RT_CORRUPT, "the checkpoint's names cannot be read");
	}
	atomic_store(&strs->count, (uint32_t)count);
	*out_strs = strs;
	return RT_OK;
}

rt_status
rt_strs_numbers(const rt_strs *strs, bool (*fn)(void *ctx, uint64_t number), void *ctx)
{
	rt_strs *mine = (rt_strs *)(uintptr_t)strs;
	size_t i, j;

	for (i = 0; i < LEVEL; i++) {
		row *r = atomic_load(&mine->rows[i]);

		for (j = 0; r != NULL && j < LEVEL; j++)
			if (atomic_load(&r->stored[j]) != 0)
				(void)fn(ctx, node_of(atomic_load(&r->stored[j])));
	}
	return RT_OK;
}
