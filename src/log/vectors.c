/* SPDX-License-Identifier: MIT
 *
 * Vectors of passages as side rows. */
#include "log/vectors.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h> /* qsort */

#include "base/encode.h"
#include "base/varint.h"
#include "base/vector.h"
#include "log/engine_impl.h"

#define BLOCK_PREFIX RT_VECTORS_PREFIX ".s"
#define PART_PREFIX  RT_VECTORS_PREFIX ".b"

enum {
	VERSION = 2,
	BLOCK = 256,       /* passages of a block */
	PART_SIZE = 1900,  /* bytes of a part; SQLite stores a longer row in separate pages */
	PART_MOST = 32,    /* passages of a part, where each is small */
	PART_OF_LARGE = 8, /* where one is larger than PART_SIZE */
	PASSAGE_SIZE = 16,
	NAME_ROOM = 40
};

typedef struct header {
	rt_str model; /* in the scope */
	uint64_t dimensions, mark, count;
} header;

static rt_rows
row_named(uint64_t project, const char *name)
{
	return rt_rows_named(RT_STORE_SIDE, project, rt_str_of(name));
}

static void
put_name(char name[NAME_ROOM], const char *prefix, uint64_t number)
{
	(void)snprintf(name, NAME_ROOM, "%s%011llx", prefix, (unsigned long long)number);
}

static void
put_u64(char *to, uint64_t number, size_t size)
{
	for (size_t i = 0; i < size; i++)
		to[i] = (char)(number >> 8 * i);
}

static uint64_t
get_u64(const char *from, size_t size)
{
	uint64_t number = 0;

	for (size_t i = 0; i < size; i++)
		number |= (uint64_t)(unsigned char)from[i] << 8 * i;
	return number;
}

static uint64_t
block_number(rt_str name)
{
	uint64_t number = 0;

	for (size_t i = sizeof(BLOCK_PREFIX) - 1; i < name.size; i++)
		number = number << 4 | ((unsigned)rt_hex_digit(name.ptr[i]) & 15);
	return number;
}

/* ---- rows ---- */

/* False: it is missing, or the scope has failed. */
static bool
read_row(rt_store *store, uint64_t project, rt_scope *s, const char *name, rt_buf *out)
{
	rt_status st = rt_ok(s) ? rt_store_get(store, row_named(project, name), out, NULL, &s->error) : s->status;

	if (st != RT_NOT_FOUND)
		rt_scope_note(s, st);
	return st == RT_OK;
}

static void
write_row(rt_store *store, uint64_t project, rt_scope *s, const char *name, rt_str data)
{
	RT_TRY(s, store->ops->write(store, row_named(project, name), data, &s->error));
}

/* A header of another version reads as an empty one. */
static header
read_header(rt_store *store, uint64_t project, rt_scope *s)
{
	rt_buf *row = rt_scope_buf(s);
	header h = {0};

	if (!read_row(store, project, s, RT_VECTORS_PREFIX, row))
		return h;
	rt_byte_reader r = rt_byte_reader_of(rt_buf_str(row));

	if (rt_read_varint(&r) != VERSION)
		return h;
	h.model = rt_scope_copy(s, rt_read_str(&r));
	h.dimensions = rt_read_varint(&r);
	h.mark = rt_read_varint(&r);
	h.count = rt_read_varint(&r);
	if (!r.ok || h.dimensions > RT_VECTOR_MAX || (h.dimensions == 0 && h.count > 0))
		return (header){0};
	return h;
}

static void
write_header(rt_store *store, uint64_t project, rt_scope *s, const header *h)
{
	rt_buf *row = rt_scope_buf(s);

	rt_buf_add_varint(row, VERSION);
	rt_buf_add_sized(row, h->model);
	rt_buf_add_varint(row, h->dimensions);
	rt_buf_add_varint(row, h->mark);
	rt_buf_add_varint(row, h->count);
	write_row(store, project, s, RT_VECTORS_PREFIX, rt_scope_str(s, row));
}

static size_t
block_item(const header *h)
{
	return PASSAGE_SIZE + rt_vector_signs_size((size_t)h->dimensions);
}

/* How many passages are in a part: a divisor of BLOCK. */
static size_t
part_of(const header *h)
{
	size_t size = rt_vector_bytes_size((size_t)h->dimensions), count = PART_MOST;

	while (count > 1 && count * size > PART_SIZE)
		count /= 2;
	return count * size > PART_SIZE ? PART_OF_LARGE : count;
}

/* ---- state ---- */

static void
read_state(rt_engine *engine, rt_scope *s, rt_str model, header *h, rt_vectors_state *out)
{
	rt_store *store = engine->store;

	*out = (rt_vectors_state){0};
	*h = read_header(store, engine->project, s);
	RT_TRY(s, rt_engine_head(engine, RT_STORE_BODIES, &out->head, &s->error));
	/* Last: a store with locks for each project has that of this one now, so no purge follows. */
	RT_TRY(s, store->ops->epoch(store, &out->epoch, &s->error));
	if (!rt_ok(s) || !rt_str_eq(h->model, model) || h->mark > out->head)
		return; /* the end of the bodies may be lost, and their numbers may be used again */
	out->mark = h->mark;
	out->count = h->count;
	out->dimensions = (size_t)h->dimensions;
}

rt_status
rt_vectors_state_read(rt_engine *engine, rt_str model, rt_vectors_state *out, rt_error *err)
{
	rt_scope s;
	header h;

	rt_scope_init(&s, engine->alloc);
	read_state(engine, &s, model, &h, out);
	return rt_scope_end(&s, err);
}

/* ---- adding ---- */

typedef struct adding {
	rt_engine *engine;
	rt_scope *s;
	header h; /* as it will be */
	rt_buf *passages, *signs, *bytes; /* of the last block and part */
} adding;

/* Reads the last block and part, unless they are full. */
static void
begin_adding(adding *a)
{
	rt_store *store = a->engine->store;
	size_t in_block = a->h.count % BLOCK, in_part = a->h.count % part_of(&a->h);
	char name[NAME_ROOM];

	a->passages = rt_scope_buf(a->s);
	a->signs = rt_scope_buf(a->s);
	a->bytes = rt_scope_buf(a->s);
	put_name(name, BLOCK_PREFIX, a->h.count / BLOCK);
	if (in_block > 0 && read_row(store, a->engine->project, a->s, name, a->passages) &&
	    a->passages->size == in_block * block_item(&a->h)) {
		rt_buf_add(a->signs, a->passages->ptr + in_block * PASSAGE_SIZE,
			   a->passages->size - in_block * PASSAGE_SIZE);
		a->passages->size = in_block * PASSAGE_SIZE;
	}
	put_name(name, PART_PREFIX, a->h.count / part_of(&a->h));
	if (in_part > 0)
		(void)read_row(store, a->engine->project, a->s, name, a->bytes);
	if (rt_ok(a->s) && (a->passages->size != in_block * PASSAGE_SIZE ||
			    a->bytes->size != in_part * rt_vector_bytes_size((size_t)a->h.dimensions))) {
		/* A row is missing: leave a gap. */
		a->h.count = (a->h.count / BLOCK + 1) * BLOCK;
		rt_buf_clear(a->passages);
		rt_buf_clear(a->signs);
		rt_buf_clear(a->bytes);
	}
}

/* Write the part and the block that end with the last passage. */
static void
write_part(adding *a)
{
	char name[NAME_ROOM];

	put_name(name, PART_PREFIX, (a->h.count - 1) / part_of(&a->h));
	write_row(a->engine->store, a->engine->project, a->s, name, rt_scope_str(a->s, a->bytes));
}

static void
write_block(adding *a)
{
	char name[NAME_ROOM];
	size_t size = a->passages->size;

	rt_buf_add_str(a->passages, rt_scope_str(a->s, a->signs));
	put_name(name, BLOCK_PREFIX, (a->h.count - 1) / BLOCK);
	write_row(a->engine->store, a->engine->project, a->s, name, rt_scope_str(a->s, a->passages));
	a->passages->size = size;
}

static void
add_passage(adding *a, const rt_passage *p)
{
	char bytes[PASSAGE_SIZE];

	put_u64(bytes, p->body, 8);
	put_u64(bytes + 8, p->entry, 4);
	put_u64(bytes + 12, p->at, 4);
	rt_buf_add(a->passages, bytes, sizeof(bytes));
	rt_vector_add_signs(a->signs, p->vector, (size_t)a->h.dimensions);
	rt_vector_add_bytes(a->bytes, p->vector, (size_t)a->h.dimensions);
	a->h.count++;
	if (a->h.count % part_of(&a->h) == 0) {
		write_part(a);
		rt_buf_clear(a->bytes);
	}
	if (a->h.count % BLOCK == 0) {
		write_block(a);
		rt_buf_clear(a->passages);
		rt_buf_clear(a->signs);
	}
}

static void
check_state(rt_scope *s, const rt_vectors_state *now, const rt_vectors_state *before)
{
	if (rt_ok(s) && (now->epoch != before->epoch || now->mark != before->mark))
		rt_scope_fail(s, RT_CONFLICT, "the store was changed while texts were being embedded");
}

static void
add_all(rt_engine *engine, rt_scope *s, const rt_vectors_batch *b)
{
	adding a = {.engine = engine, .s = s};
	rt_vectors_state now;

	read_state(engine, s, b->model, &a.h, &now);
	check_state(s, &now, &b->after);
	if (!rt_ok(s))
		return;
	if (now.mark == 0 || (b->count > 0 && now.count > 0 && now.dimensions != b->dimensions)) {
		rt_vectors_drop(engine->store, engine->project, s);
		a.h = (header){.model = b->model};
		if (now.mark > 0) { /* the texts before need vectors with these dimensions, too */
			write_header(engine->store, engine->project, s, &a.h);
			return;
		}
	}
	if (b->count > 0) {
		a.h.dimensions = b->dimensions;
		begin_adding(&a);
		for (size_t i = 0; rt_ok(s) && i < b->count; i++)
			add_passage(&a, &b->passages[i]);
		if (a.h.count % part_of(&a.h) != 0)
			write_part(&a);
		if (a.h.count % BLOCK != 0)
			write_block(&a);
	}
	a.h.mark = b->mark;
	write_header(engine->store, engine->project, s, &a.h);
}

rt_status
rt_vectors_add(rt_engine *engine, const rt_vectors_batch *batch, rt_error *err)
{
	rt_scope s;

	RT_ASSERT(batch->dimensions <= RT_VECTOR_MAX);
	rt_scope_init(&s, engine->alloc);
	RT_TRY(&s, rt_engine_may_write(engine, &s.error));
	if (RT_TRY(&s, engine->store->ops->begin(engine->store, &s.error)) == RT_OK) {
		add_all(engine, &s, batch);
		rt_store_end(engine->store, &s);
	}
	return rt_scope_end(&s, err);
}

/* ---- finding ---- */

typedef struct candidate {
	uint64_t number; /* of the passage: its block, and its place there */
	uint64_t body;
	uint32_t entry, at;
	unsigned distance;
	float similarity;
} candidate;

typedef struct finding {
	const header *h;
	size_t signs_size;
	const char *signs; /* of the vector */
	candidate *items;  /* with room for twice `most` */
	size_t count, most;
	unsigned below;    /* passages that are farther away are not among them */
	bool is_cut;
	uint32_t *histogram;
} finding;

/* Keeps the nearest: at least `most`, unless many are at the same distance. */
static void
cut(finding *f)
{
	size_t kept = 0, sum = 0;
	unsigned last = 0;

	memset(f->histogram, 0, (f->signs_size * 8 + 1) * sizeof(*f->histogram));
	for (size_t i = 0; i < f->count; i++)
		f->histogram[f->items[i].distance]++;
	while (sum + f->histogram[last] <= f->most)
		sum += f->histogram[last++];
	for (size_t i = 0; i < f->count; i++)
		if (f->items[i].distance < last || (f->items[i].distance == last && sum++ < f->most))
			f->items[kept++] = f->items[i];
	f->count = kept;
	f->below = last;
	f->is_cut = true;
}

static bool
compare_block(void *ctx, const rt_store_row *row)
{
	finding *f = ctx;
	size_t count = row->data.size / block_item(f->h);
	const char *signs = row->data.ptr + count * PASSAGE_SIZE;
	uint64_t block = block_number(row->name);

	for (size_t i = 0; i < count && i < BLOCK; i++) {
		unsigned distance = rt_vector_distance(f->signs, signs + i * f->signs_size, f->signs_size);
		const char *passage = row->data.ptr + i * PASSAGE_SIZE;

		if (distance >= f->below || get_u64(passage, 8) == 0)
			continue;
		f->items[f->count++] = (candidate){.number = block * BLOCK + i,
						   .body = get_u64(passage, 8),
						   .entry = (uint32_t)get_u64(passage + 8, 4),
						   .at = (uint32_t)get_u64(passage + 12, 4),
						   .distance = distance};
		if (f->count == 2 * f->most)
			cut(f);
	}
	return true;
}

static int
by_number(const void *a, const void *b)
{
	const candidate *x = a, *y = b;

	return (x->number > y->number) - (x->number < y->number);
}

static int
by_body(const void *a, const void *b)
{
	const rt_neighbour *x = a, *y = b;

	return x->body != y->body ? (x->body > y->body) - (x->body < y->body)
				  : (x->similarity < y->similarity) - (x->similarity > y->similarity);
}

static int
by_similarity(const void *a, const void *b)
{
	const rt_neighbour *x = a, *y = b;

	return x->similarity != y->similarity ? (x->similarity < y->similarity ? 1 : -1)
					      : (x->body < y->body) - (x->body > y->body);
}

/* Compares the bytes of the candidates, which are in ascending order. */
static void
compare_bytes(rt_engine *engine, rt_scope *s, finding *f, const float *vector, rt_neighbours *out)
{
	size_t size = rt_vector_bytes_size((size_t)f->h->dimensions), in_part = part_of(f->h);
	uint64_t part = UINT64_MAX;
	char name[NAME_ROOM];
	rt_buf *row = rt_scope_buf(s);

	for (size_t i = 0; rt_ok(s) && i < f->count; i++) {
		const candidate *c = &f->items[i];

		if (c->number / in_part != part) {
			part = c->number / in_part;
			put_name(name, PART_PREFIX, part);
			rt_buf_clear(row);
			(void)read_row(engine->store, engine->project, s, name, row);
		}
		if (row->size < (c->number % in_part + 1) * size)
			continue;
		out->items[out->count++] = (rt_neighbour){
			c->body, c->entry, c->at,
			rt_vector_similarity(vector, row->ptr + c->number % in_part * size, (size_t)f->h->dimensions)};
	}
}

/* The best passage of each body, the best body first. */
static void
sort_nears(rt_neighbours *n)
{
	size_t kept = 0;

	if (n->count > 1)
		qsort(n->items, n->count, sizeof(*n->items), by_body);
	for (size_t i = 0; i < n->count; i++)
		if (i == 0 || n->items[i].body != n->items[kept - 1].body)
			n->items[kept++] = n->items[i];
	n->count = kept;
	if (n->count > 1)
		qsort(n->items, n->count, sizeof(*n->items), by_similarity);
}

rt_neighbours
rt_vectors_find(rt_engine *engine, rt_scope *s, rt_str model, const float *vector, size_t dimensions, size_t most)
{
	rt_store *store = engine->store;
	header h = read_header(store, engine->project, s);
	finding f = {.h = &h,
		     .signs_size = rt_vector_signs_size(dimensions),
		     .most = most < h.count ? most : (size_t)h.count,
		     .below = UINT_MAX};
	rt_neighbours out = {.is_all = true};

	if (!rt_ok(s) || h.count == 0 || h.dimensions != dimensions || !rt_str_eq(h.model, model))
		return out;
	rt_buf *signs = rt_scope_buf(s);

	rt_vector_add_signs(signs, vector, dimensions);
	f.signs = rt_scope_str(s, signs).ptr;
	f.items = rt_scope_array(s, 2 * f.most, sizeof(*f.items));
	f.histogram = rt_scope_array(s, f.signs_size * 8 + 1, sizeof(*f.histogram));
	RT_TRY(s, store->ops->read(store, rt_rows_prefixed(engine->project, RT_STR(BLOCK_PREFIX)), compare_block,
				   &f, &s->error));
	if (!rt_ok(s) || f.count == 0)
		return out;
	if (f.count > f.most)
		cut(&f);
	out.is_all = !f.is_cut;
	qsort(f.items, f.count, sizeof(*f.items), by_number);
	out.items = rt_scope_array(s, f.count, sizeof(*out.items));
	compare_bytes(engine, s, &f, vector, &out);
	sort_nears(&out);
	return rt_ok(s) ? out : (rt_neighbours){.is_all = true};
}

/* ---- removing ---- */

static bool
note_name(void *ctx, const rt_store_row *row)
{
	rt_buf *names = ctx; /* each with a NUL */

	rt_buf_add_str(names, row->name);
	rt_buf_add_byte(names, '\0');
	return names->status == RT_OK;
}

void
rt_vectors_drop(rt_store *store, uint64_t project, rt_scope *s)
{
	rt_buf *names = rt_scope_buf(s);

	RT_TRY(s, store->ops->read(store, rt_rows_prefixed(project, RT_STR(RT_VECTORS_PREFIX)), note_name, names,
				   &s->error));
	rt_str all = rt_scope_str(s, names);
	for (size_t at = 0; rt_ok(s) && at < all.size; at += strlen(all.ptr + at) + 1)
		write_row(store, project, s, all.ptr + at, RT_STR(""));
}

typedef struct purging {
	rt_store *store;
	uint64_t project;
	rt_scope *s;
	const header *h;
	const uint64_t *bodies;
	size_t body_count;
	rt_buf *numbers; /* of passages, each 8 bytes */
} purging;

static int
number_order(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static bool
find_passages(void *ctx, const rt_store_row *row)
{
	purging *p = ctx;
	uint64_t block = block_number(row->name);
	size_t count = row->data.size / block_item(p->h);

	for (size_t i = 0; i < count; i++) {
		uint64_t body = get_u64(row->data.ptr + i * PASSAGE_SIZE, 8), number = block * BLOCK + i;

		if (body != 0 && bsearch(&body, p->bodies, p->body_count, sizeof(body), number_order) != NULL)
			rt_buf_add(p->numbers, &number, sizeof(number));
	}
	return p->numbers->status == RT_OK;
}

/* Overwrites bytes of a row with zeros. */
static void
blank(const purging *p, rt_buf *row, size_t at, size_t size)
{
	if (at + size <= row->size)
		memset(row->ptr + at, 0, size);
	else
		rt_scope_fail_advise(p->s, RT_CORRUPT, "run retake repair", "the vectors of %s are damaged",
				     p->store->place);
}

static void
purge_passage(const purging *p, uint64_t number)
{
	size_t item = block_item(p->h), size = rt_vector_bytes_size((size_t)p->h->dimensions), at = number % BLOCK;
	size_t in_part = part_of(p->h);
	rt_buf *row = rt_scope_buf(p->s);
	char name[NAME_ROOM];

	put_name(name, BLOCK_PREFIX, number / BLOCK);
	if (read_row(p->store, p->project, p->s, name, row)) {
		blank(p, row, at * PASSAGE_SIZE, PASSAGE_SIZE);
		blank(p, row, row->size / item * PASSAGE_SIZE + at * (item - PASSAGE_SIZE), item - PASSAGE_SIZE);
		write_row(p->store, p->project, p->s, name, rt_buf_str(row));
	}
	rt_buf_clear(row);
	put_name(name, PART_PREFIX, number / in_part);
	if (read_row(p->store, p->project, p->s, name, row)) {
		blank(p, row, number % in_part * size, size);
		write_row(p->store, p->project, p->s, name, rt_buf_str(row));
	}
	rt_buf_deinit(row);
}

void
rt_vectors_purge(rt_store *store, uint64_t project, rt_scope *s, const uint64_t *bodies, size_t count)
{
	rt_status st = rt_ok(s) ? rt_store_get(store, row_named(project, RT_VECTORS_PREFIX), NULL, NULL, &s->error)
				: s->status;
	header h;

	if (st == RT_NOT_FOUND || count == 0)
		return;
	rt_scope_note(s, st);
	h = read_header(store, project, s);
	if (h.count == 0) { /* none, or those of a later version */
		rt_vectors_drop(store, project, s);
		return;
	}
	purging p = {store, project, s, &h, bodies, count, rt_scope_buf(s)};

	RT_TRY(s, store->ops->read(store, rt_rows_prefixed(project, RT_STR(BLOCK_PREFIX)), find_passages, &p,
				   &s->error));
	rt_str numbers = rt_scope_str(s, p.numbers);
	for (size_t at = 0; rt_ok(s) && at < numbers.size; at += sizeof(uint64_t)) {
		uint64_t number;

		memcpy(&number, numbers.ptr + at, sizeof(number));
		purge_passage(&p, number);
	}
}
