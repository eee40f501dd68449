/* SPDX-License-Identifier: MIT
 *
 * Postings are collected unsorted and sorted by term at the end, in three passes of eleven bits: much cheaper
 * than to look for each word in a table. */
#include "store/store_segment.h"

#include <stdlib.h> /* qsort */

#include "base/hash.h"
#include "base/varint.h"
#include "base/words.h"

enum {
	HEAD = 4,        /* bytes of a word in its term */
	HASH_BITS = 12,  /* of the whole word */
	PAIRS = 8192,
	PAIR_SHIFT = 14,
	SEEN = 4096,     /* terms of a text that are known to be there: a filter, not exact */
	COMPACT = 1 << 21 /* postings; then repeated ones are removed */
};

#define PAIR_FIRST 0xF8000000u

struct rt_segment_seen {
	uint64_t words[SEEN];  /* 1 + a posting */
	uint32_t pairs[PAIRS]; /* 1 + the index of the last text with it */
};

/* ---- terms ---- */

static uint32_t
head_of(rt_str token)
{
	uint32_t head = 0;

	for (size_t i = 0; i < HEAD; i++)
		head = head << 5 | (i < token.size ? (unsigned char)token.ptr[i] & 31u : 0);
	if (head >> 15 == 31) /* those of pairs */
		head -= 1u << 15;
	return head << HASH_BITS;
}

uint32_t
rt_term_of(rt_str token, uint64_t hash)
{
	return head_of(token) | (uint32_t)(hash >> (64 - HASH_BITS));
}

uint32_t
rt_term_prefix(rt_str token, uint32_t *out_last)
{
	uint32_t first = head_of(token);
	size_t known = token.size < HEAD ? token.size : HEAD;

	*out_last = first | (uint32_t)((1u << (HASH_BITS + 5 * (HEAD - known))) - 1);
	return first;
}

uint32_t
rt_term_pair(uint64_t first, uint64_t second)
{
	return PAIR_FIRST | (uint32_t)(rt_hash_u64(first + 31 * second) % PAIRS) << PAIR_SHIFT;
}

/* ---- collecting ---- */

void
rt_segment_init(rt_segment *s, const rt_alloc *alloc)
{
	*s = (rt_segment){.alloc = alloc, .compact_at = COMPACT};
}

void
rt_segment_deinit(rt_segment *s)
{
	rt_free(s->alloc, s->texts);
	rt_free(s->alloc, s->postings);
	rt_free(s->alloc, s->seen);
	rt_segment_init(s, s->alloc);
}

/* Space for more items of an array; NULL: out of memory. */
static void *
grow(rt_segment *s, void *items, size_t count, size_t more, size_t *room, size_t size)
{
	size_t larger = *room > 0 ? *room : 64;
	void *resized;

	if (s->status != RT_OK)
		return NULL;
	if (more <= *room - count)
		return items;
	while (larger < count + more)
		larger *= 2;
	resized = rt_resize(s->alloc, items, larger * size);
	if (resized == NULL)
		s->status = RT_NOMEM;
	else
		*room = larger;
	return resized;
}

static bool
has_room(rt_segment *s, size_t more)
{
	uint64_t *postings = grow(s, s->postings, s->count, more, &s->room, sizeof(*postings));

	if (postings != NULL)
		s->postings = postings;
	return postings != NULL;
}

static void
add_text(rt_segment *s, uint64_t number, uint64_t entry)
{
	rt_segment_text *texts = grow(s, s->texts, s->text_count, 1, &s->text_room, sizeof(*texts));

	if (texts == NULL)
		return;
	s->texts = texts;
	s->texts[s->text_count++] = (rt_segment_text){number, entry};
}

/* By term; stable, so the texts of each stay in their order. Repeated postings are removed. */
static void
sort_postings(rt_segment *s)
{
	enum { BITS = 11, VALUES = 1 << BITS, PASSES = 3 };
	uint64_t *from = s->postings, *to;
	size_t (*starts)[VALUES], kept = 0;

	if (s->count < 2 || s->status != RT_OK)
		return;
	to = rt_new_array(s->alloc, s->room, sizeof(*to));
	starts = rt_new0(s->alloc, PASSES * sizeof(*starts));
	if (to == NULL || starts == NULL) {
		rt_free(s->alloc, to);
		rt_free(s->alloc, starts);
		s->status = RT_NOMEM;
		return;
	}
	for (size_t i = 0; i < s->count; i++)
		for (int pass = 0; pass < PASSES; pass++)
			starts[pass][from[i] >> (32 + pass * BITS) & (VALUES - 1)]++;
	for (int pass = 0; pass < PASSES; pass++) {
		uint64_t *swapped = from;
		size_t at = 0;

		for (size_t v = 0; v < VALUES; v++) {
			size_t count = starts[pass][v];

			starts[pass][v] = at;
			at += count;
		}
		for (size_t i = 0; i < s->count; i++)
			to[starts[pass][from[i] >> (32 + pass * BITS) & (VALUES - 1)]++] = from[i];
		from = to;
		to = swapped;
	}
	for (size_t i = 0; i < s->count; i++)
		if (kept == 0 || from[kept - 1] != from[i])
			from[kept++] = from[i];
	s->postings = from;
	s->count = kept;
	rt_free(s->alloc, to);
	rt_free(s->alloc, starts);
}

static void
add_posting(rt_segment *s, uint64_t posting)
{
	if (s->count == s->room && s->count >= s->compact_at) { /* a huge text repeats its words */
		sort_postings(s);
		s->compact_at = s->count * 2 > COMPACT ? s->count * 2 : COMPACT;
	}
	if (s->count == s->room && !has_room(s, 1))
		return;
	s->postings[s->count++] = posting;
}

void
rt_segment_add(rt_segment *s, uint64_t number, uint64_t entry, rt_str text)
{
	uint32_t index = (uint32_t)s->text_count;
	uint64_t before = 0; /* the hash of the word right before; 0: none */
	rt_token t;

	add_text(s, number, entry);
	if (s->seen == NULL && s->status == RT_OK)
		s->seen = rt_new0(s->alloc, sizeof(*s->seen));
	if (s->seen == NULL)
		s->status = RT_NOMEM;
	for (size_t at = 0; s->status == RT_OK && rt_token_next(text, &at, &t);) {
		uint64_t hash = rt_hash(t.text, t.size, 0);
		uint64_t posting = (uint64_t)rt_term_of(rt_str_at(t.text, t.size), hash) << 32 | index;
		uint64_t *seen = &s->seen->words[hash % SEEN];

		if (*seen != posting + 1) {
			*seen = posting + 1;
			add_posting(s, posting);
		}
		if (before != 0 && !t.is_dense) {
			uint32_t term = rt_term_pair(before, hash);
			uint32_t *last = &s->seen->pairs[term >> PAIR_SHIFT & (PAIRS - 1)];

			if (*last != index + 1) {
				*last = index + 1;
				add_posting(s, (uint64_t)term << 32 | index);
			}
		}
		before = t.is_dense ? 0 : hash;
	}
}

void
rt_segment_join(rt_segment *s, const rt_segment *other, const bool *keep)
{
	uint32_t *moved = rt_new_array(s->alloc, other->text_count + 1, sizeof(*moved));

	if (moved == NULL)
		s->status = RT_NOMEM;
	for (size_t i = 0; i < other->text_count && s->status == RT_OK; i++) {
		moved[i] = UINT32_MAX;
		if (keep != NULL && !keep[i])
			continue;
		moved[i] = (uint32_t)s->text_count;
		add_text(s, other->texts[i].number, other->texts[i].entry);
	}
	for (size_t i = 0, room = has_room(s, other->count) ? other->count : 0; i < room; i++) {
		uint32_t to = moved[other->postings[i] & UINT32_MAX];

		if (to != UINT32_MAX)
			s->postings[s->count++] = (other->postings[i] >> 32 << 32) | to;
	}
	rt_free(s->alloc, moved);
}

/* ---- sorting ---- */

typedef struct numbered {
	uint64_t number;
	size_t index;
} numbered;

static int
by_number(const void *a, const void *b)
{
	const numbered *x = a, *y = b;

	if (x->number != y->number)
		return x->number < y->number ? -1 : 1;
	return (x->index > y->index) - (x->index < y->index);
}

static int
by_posting(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* Puts texts that were added out of order, or twice, in their place. */
static void
sort_texts(rt_segment *s)
{
	numbered *order = rt_new_array(s->alloc, s->text_count, sizeof(*order));
	rt_segment_text *texts = rt_new_array(s->alloc, s->text_room, sizeof(*texts));
	uint32_t *moved = rt_new_array(s->alloc, s->text_count, sizeof(*moved));
	size_t kept = 0, postings = 0;

	if (order == NULL || texts == NULL || moved == NULL) {
		s->status = RT_NOMEM;
		rt_free(s->alloc, texts);
		goto end;
	}
	for (size_t i = 0; i < s->text_count; i++)
		order[i] = (numbered){s->texts[i].number, i};
	qsort(order, s->text_count, sizeof(*order), by_number);
	for (size_t i = 0; i < s->text_count; i++) {
		bool is_last = i + 1 == s->text_count || order[i + 1].number != order[i].number;

		moved[order[i].index] = is_last ? (uint32_t)kept : UINT32_MAX;
		if (is_last)
			texts[kept++] = s->texts[order[i].index];
	}
	for (size_t i = 0; i < s->count; i++) {
		uint32_t to = moved[s->postings[i] & UINT32_MAX];

		if (to != UINT32_MAX)
			s->postings[postings++] = (s->postings[i] >> 32 << 32) | to;
	}
	s->count = postings;
	if (postings > 0)
		qsort(s->postings, postings, sizeof(*s->postings), by_posting);
	rt_free(s->alloc, s->texts);
	s->texts = texts;
	s->text_count = kept;
end:
	rt_free(s->alloc, order);
	rt_free(s->alloc, moved);
}

void
rt_segment_sort(rt_segment *s)
{
	bool is_sorted = true;

	for (size_t i = 1; i < s->text_count; i++)
		is_sorted = is_sorted && s->texts[i - 1].number < s->texts[i].number;
	if (!is_sorted && s->status == RT_OK)
		sort_texts(s);
	sort_postings(s);
}

/* ---- writing ---- */

/* A varint at p; returns the end of it. */
static unsigned char *
put(unsigned char *p, uint64_t number)
{
	for (; number >= 0x80; number >>= 7)
		*p++ = (unsigned char)(number | 0x80);
	*p++ = (unsigned char)number;
	return p;
}

/* The list of the term at *at, which is advanced past it, in list. */
static void
write_list(const rt_segment *s, size_t *at, rt_buf *list)
{
	uint32_t term = (uint32_t)(s->postings[*at] >> 32), next = 0;
	unsigned char bytes[10];

	rt_buf_clear(list);
	for (; *at < s->count && (uint32_t)(s->postings[*at] >> 32) == term; ++*at) {
		uint32_t index = (uint32_t)s->postings[*at];

		if (index - next < 0x80)
			rt_buf_add_byte(list, (char)(index - next));
		else
			rt_buf_add(list, bytes, (size_t)(put(bytes, index - next) - bytes));
		next = index + 1;
	}
}

void
rt_segment_parts(const rt_segment *s, rt_buf *part, bool (*fn)(void *ctx, uint32_t number, rt_str bytes),
		 void *ctx)
{
	uint32_t number = 0, before = 0;
	bool more = true;
	rt_buf list;

	rt_buf_init(&list, s->alloc, RT_BUF_UNLIMITED);
	rt_buf_clear(part);
	for (size_t at = 0; more && at < s->count;) {
		uint32_t term = (uint32_t)(s->postings[at] >> 32);
		unsigned char bytes[20], *p = bytes;

		write_list(s, &at, &list);
		if (part->size > 0 && part->size + list.size + 8 > RT_PART_SIZE &&
		    rt_term_part(term) != rt_term_part(before)) {
			more = fn(ctx, number, rt_buf_str(part));
			rt_buf_clear(part);
		}
		if (part->size == 0) {
			number = rt_term_part(term);
			before = number << (32 - RT_PART_BITS);
		}
		p = put(put(p, term - before), list.size);
		rt_buf_add(part, bytes, (size_t)(p - bytes));
		rt_buf_add_str(part, rt_buf_str(&list));
		before = term;
		if (list.status != RT_OK)
			part->status = list.status;
		more = more && part->status == RT_OK;
	}
	if (more && part->size > 0)
		(void)fn(ctx, number, rt_buf_str(part));
	rt_buf_deinit(&list);
}

static rt_segment_text
step_to(const rt_segment_text *from, const rt_segment_text *to)
{
	return (rt_segment_text){to->number - from->number, to->entry - from->entry};
}

void
rt_segment_write_texts(const rt_segment *s, rt_buf *out)
{
	rt_segment_text before = {0, 0}, step, next;
	size_t run = 0;

	for (size_t i = 0; i < s->text_count; i += run) {
		step = step_to(&before, &s->texts[i]);
		before = s->texts[i];
		for (run = 1; i + run < s->text_count; run++) {
			next = step_to(&before, &s->texts[i + run]);
			if (next.number != step.number || next.entry != step.entry)
				break;
			before = s->texts[i + run];
		}
		rt_buf_add_varint(out, run);
		rt_buf_add_varint(out, step.number);
		rt_buf_add_varint(out, rt_fold((int64_t)step.entry));
	}
}

/* ---- reading ---- */

bool
rt_segment_read_texts(rt_segment *s, rt_str bytes, size_t count)
{
	rt_segment_text *texts = grow(s, s->texts, s->text_count, count, &s->text_room, sizeof(*texts));
	rt_segment_text text = {0, 0}, step;
	rt_byte_reader r = rt_byte_reader_of(bytes);
	uint64_t run;

	if (s->status != RT_OK)
		return false;
	s->texts = texts;
	for (; count > 0; count -= run) {
		run = rt_read_varint(&r);
		step.number = rt_read_varint(&r);
		step.entry = (uint64_t)rt_unfold(rt_read_varint(&r));
		if (!r.ok || run == 0 || run > count || step.number == 0)
			return false;
		for (size_t i = 0; i < run; i++) {
			text.number += step.number;
			text.entry += step.entry;
			texts[s->text_count++] = text;
		}
	}
	return r.at == r.end;
}

/* The varint at *at, which is advanced; false: malformed. */
static inline bool
get(const unsigned char **at, const unsigned char *end, uint64_t *out)
{
	uint64_t number = 0;

	for (unsigned shift = 0; *at < end && shift < 42; shift += 7) {
		unsigned char byte = *(*at)++;

		number |= (uint64_t)(byte & 0x7F) << shift;
		if (byte < 0x80) {
			*out = number;
			return true;
		}
	}
	return false;
}

/* The next term of a part and its list. */
static inline bool
next_list(const unsigned char **at, const unsigned char *end, uint64_t *term, rt_str *out_list)
{
	uint64_t more, size;

	if (!get(at, end, &more) || !get(at, end, &size) || size > (size_t)(end - *at))
		return false;
	*term += more;
	*out_list = rt_str_at((const char *)*at, size);
	*at += size;
	return *term <= UINT32_MAX;
}

bool
rt_segment_read_part(rt_segment *s, uint32_t number, rt_str bytes)
{
	const unsigned char *at = (const unsigned char *)bytes.ptr, *end = at + bytes.size;
	uint64_t term = (uint64_t)number << (32 - RT_PART_BITS);
	rt_str list;

	while (at < end) {
		const unsigned char *p;
		uint64_t index = 0, more;

		if (!next_list(&at, end, &term, &list) || !has_room(s, list.size))
			return false;
		for (p = at - list.size; p < at; index++) {
			if (!get(&p, at, &more) || (index += more) >= s->text_count)
				return false;
			s->postings[s->count++] = term << 32 | index;
		}
	}
	return true;
}

bool
rt_part_find(uint32_t number, rt_str bytes, uint32_t first, uint32_t last, uint64_t *bits, size_t count)
{
	const unsigned char *at = (const unsigned char *)bytes.ptr, *end = at + bytes.size;
	uint64_t term = (uint64_t)number << (32 - RT_PART_BITS);
	rt_str list;

	while (at < end) {
		const unsigned char *p;
		uint64_t index = 0, more;

		if (!next_list(&at, end, &term, &list))
			return false;
		if (term > last)
			break;
		for (p = at - list.size; term >= first && p < at; index++) {
			if (!get(&p, at, &more) || (index += more) >= count)
				return false;
			bits[index / 64] |= (uint64_t)1 << index % 64;
		}
	}
	return true;
}
