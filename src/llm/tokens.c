/* SPDX-License-Identifier: MIT
 *
 * Ranks in a hash table, and counting with it. Everything is one allocation:
 *
 *   rt_tokens │ slots, a power of two, at most half of them full │ the tokens' bytes
 *
 * A slot is one number, so that most misses are decided by a single word:
 *
 *   bit 0  offset of the bytes (24) │ 24  size (8) │ 32  rank (20) │ 52  tag (12)
 *
 * 0 is an empty slot, since no token is empty. The tag is the upper end of the hash; the lower
 * end is the slot, with linear probing.
 *
 * Short pieces are merged in an array on the stack, with a search for the lowest rank each time.
 * That would be quadratic for long ones (a line of signs, a text without blanks): they get a
 * list of parts, and a heap of pairs by rank and position. A pair from the heap counts only
 * while its part still has that rank. */
#include "llm/tokens.h"

#include "base/hash.h"

enum {
	OFFSET_BITS = 24,
	SIZE_BITS = 8,
	RANK_BITS = 20,
	SIZE_AT = OFFSET_BITS,
	RANK_AT = SIZE_AT + SIZE_BITS,
	TAG_AT = RANK_AT + RANK_BITS,
	SLOTS_MIN = 16,
	HEAP_WAYS = 4,  /* children of a pair: half the levels of two, in one line of the cache */
	BATCH = 16,     /* lines that are read together */
	SHORT_MAX = 128 /* bytes of a piece that is merged on the stack */
};

#define NO_RANK UINT32_MAX
#define PIECE_MAX ((size_t)1 << 30)

struct rt_tokens {
	const rt_alloc *alloc;
	const rt_token_encoding *encoding;
	size_t known;      /* full slots */
	size_t mask;       /* number of slots - 1 */
	size_t bytes_size; /* in use */
	size_t longest;    /* bytes of the longest token */
	char *bytes;       /* after the slots */
	uint64_t slots[];
};

/* ---- slots ---- */

/* Tokens are short: nearly all are hashed by two loads, which may overlap. */
static uint64_t
hash_of(const char *ptr, size_t size)
{
	const unsigned char *p = (const unsigned char *)ptr;
	uint64_t a, b = 0;
	uint32_t half;

	if (size > 16)
		return rt_hash(ptr, size, 0);
	if (size >= 8) {
		memcpy(&a, p, 8);
		memcpy(&b, p + size - 8, 8);
	} else if (size >= 4) {
		memcpy(&half, p, 4);
		a = half;
		memcpy(&half, p + size - 4, 4);
		b = half;
	} else {
		a = (uint64_t)p[0] << 16 | (uint64_t)p[size / 2] << 8 | p[size - 1];
	}
	return rt_hash_u64(rt_hash_u64(a ^ (uint64_t)size << 56) + b);
}

static size_t
slot_offset(uint64_t slot)
{
	return slot & (((uint64_t)1 << OFFSET_BITS) - 1);
}

static size_t
slot_size(uint64_t slot)
{
	return (slot >> SIZE_AT) & ((1u << SIZE_BITS) - 1);
}

static uint32_t
slot_rank(uint64_t slot)
{
	return (slot >> RANK_AT) & ((1u << RANK_BITS) - 1);
}

/* The slot of the token, or the empty one where it would be. */
static size_t
find(const rt_tokens *t, const char *ptr, size_t size, uint64_t hash)
{
	uint64_t want = hash >> TAG_AT << TAG_AT | (uint64_t)size << SIZE_AT;
	uint64_t rank_and_offset = ((((uint64_t)1 << RANK_BITS) - 1) << RANK_AT) |
				   (((uint64_t)1 << OFFSET_BITS) - 1);
	size_t at = hash & t->mask;

	while (t->slots[at] != 0) {
		if ((t->slots[at] & ~rank_and_offset) == want &&
		    memcmp(t->bytes + slot_offset(t->slots[at]), ptr, size) == 0)
			break;
		at = (at + 1) & t->mask;
	}
	return at;
}

static uint32_t
rank_of(const rt_tokens *t, const char *ptr, size_t size)
{
	uint64_t slot;

	if (size > t->longest)
		return NO_RANK;
	slot = t->slots[find(t, ptr, size, hash_of(ptr, size))];
	return slot == 0 ? NO_RANK : slot_rank(slot);
}

/* ---- reading ---- */

/* A token that is not in the table yet. */
typedef struct entry {
	uint64_t hash;
	uint64_t slot;
	uint64_t line;
} entry;

typedef struct reader {
	rt_tokens *t;
	rt_str rest;               /* of the data */
	uint64_t line;             /* number of the last one */
	unsigned char values[256]; /* of base64 digits; 64: none */
	rt_status status;
	rt_error *err;
} reader;

static void
fail_line(reader *r, rt_status status, uint64_t line, const char *words)
{
	r->status = rt_fail(r->err, status, "line %llu of the token ranks: %s",
			    (unsigned long long)line, words);
	if (r->err != NULL)
		r->err->line = line;
}

static void
make_values(unsigned char values[256])
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	memset(values, 64, 256);
	for (unsigned char i = 0; i < 64; i++)
		values[(unsigned char)digits[i]] = i;
}

/* Padded base64 into at most size / 4 * 3 bytes; SIZE_MAX: invalid. */
static size_t
decode(const unsigned char values[256], rt_str digits, char *out)
{
	size_t count = 0, padding = 0;

	if (digits.size == 0 || digits.size % 4 != 0)
		return SIZE_MAX;
	while (padding < 2 && digits.ptr[digits.size - 1 - padding] == '=')
		padding++;
	for (size_t i = 0; i < digits.size; i += 4) {
		size_t real = i + 4 < digits.size ? 4 : 4 - padding;
		uint32_t bits = 0;

		for (size_t k = 0; k < 4; k++) {
			unsigned value = k < real ? values[(unsigned char)digits.ptr[i + k]] : 0;

			if (value > 63)
				return SIZE_MAX;
			bits = bits << 6 | value;
		}
		for (size_t k = 0; k + 1 < real; k++)
			out[count++] = (char)(bits >> (16 - 8 * k) & 0xFF);
	}
	return count;
}

/* A decimal number of up to seven digits; UINT32_MAX: invalid. */
static uint32_t
number_of(rt_str digits)
{
	uint32_t number = 0;

	if (digits.size == 0 || digits.size > 7)
		return UINT32_MAX;
	for (size_t i = 0; i < digits.size; i++) {
		if (digits.ptr[i] < '0' || digits.ptr[i] > '9')
			return UINT32_MAX;
		number = number * 10 + (uint32_t)(digits.ptr[i] - '0');
	}
	return number;
}

/* Reads a line, and meanwhile fetches its slot into the cache. */
static void
read_entry(reader *r, rt_str line, entry *out)
{
	rt_tokens *t = r->t;
	const char *blank = memchr(line.ptr, ' ', line.size);
	size_t digits = blank == NULL ? line.size : (size_t)(blank - line.ptr), size;
	char *bytes = t->bytes + t->bytes_size;
	uint32_t rank;

	out->line = ++r->line;
	if (blank == NULL) {
		fail_line(r, RT_CORRUPT, out->line, "no rank");
		return;
	}
	size = decode(r->values, rt_str_at(line.ptr, digits), bytes);
	rank = number_of(rt_str_at(blank + 1, line.size - digits - 1));
	if (size == SIZE_MAX)
		fail_line(r, RT_CORRUPT, out->line, "the token is not base64");
	else if (rank == UINT32_MAX)
		fail_line(r, RT_CORRUPT, out->line, "the rank is not a number");
	else if (rank > RT_TOKEN_RANK_MAX || size > RT_TOKEN_SIZE_MAX ||
		 t->bytes_size + size > RT_TOKENS_BYTES_MAX)
		fail_line(r, RT_LIMIT, out->line, "the rank is too large");
	if (r->status != RT_OK)
		return;
	out->hash = hash_of(bytes, size);
	out->slot = out->hash >> TAG_AT << TAG_AT | (uint64_t)rank << RANK_AT |
		    (uint64_t)size << SIZE_AT | t->bytes_size;
	__builtin_prefetch(&t->slots[out->hash & t->mask], 1);
	t->bytes_size += size;
	t->longest = size > t->longest ? size : t->longest;
}

static void
add_entry(reader *r, const entry *e)
{
	rt_tokens *t = r->t;
	size_t at = find(t, t->bytes + slot_offset(e->slot), slot_size(e->slot), e->hash);

	if (t->slots[at] != 0) {
		fail_line(r, RT_CORRUPT, e->line, "the token appears twice");
		return;
	}
	t->slots[at] = e->slot;
	t->known++;
}

/* In batches: slots are far apart, and fetching them one by one would be most of the time. */
static void
read_lines(reader *r)
{
	entry batch[BATCH];
	size_t count = BATCH;
	rt_str line;

	while (r->status == RT_OK && count == BATCH) {
		for (count = 0; r->status == RT_OK && count < BATCH && rt_str_split(&r->rest, '\n', &line);
		     count++)
			read_entry(r, line, &batch[count]);
		for (size_t i = 0; r->status == RT_OK && i < count; i++)
			add_entry(r, &batch[i]);
	}
}

rt_status
rt_tokens_new(const rt_alloc *alloc, const rt_token_encoding *encoding, rt_str data,
	      rt_tokens **out, rt_error *err)
{
	reader r = {.rest = data, .err = err};
	size_t count = 0, slots = SLOTS_MIN;
	rt_str rest = data, line;
	rt_tokens *t;

	if (data.size > (size_t)RT_TOKENS_BYTES_MAX * 2)
		return rt_fail(err, RT_LIMIT, "there are too many token ranks");
	while (rt_str_split(&rest, '\n', &line))
		count++;
	while (slots < count * 2)
		slots *= 2;
	/* decoded base64 has three quarters of the bytes at most */
	t = rt_new(alloc, sizeof(*t) + slots * sizeof(*t->slots) + data.size + 1);
	if (t == NULL)
		return rt_fail(err, RT_NOMEM, "out of memory for token ranks");
	*t = (rt_tokens){.alloc = alloc, .encoding = encoding, .mask = slots - 1};
	memset(t->slots, 0, slots * sizeof(*t->slots));
	t->bytes = (char *)(t->slots + slots);
	make_values(r.values);
	r.t = t;
	read_lines(&r);
	if (r.status == RT_OK)
		*out = t;
	else
		rt_free(alloc, t);
	return r.status;
}

void
rt_tokens_free(rt_tokens *tokens)
{
	if (tokens != NULL)
		rt_free(tokens->alloc, tokens);
}

const rt_token_encoding *
rt_tokens_encoding(const rt_tokens *tokens)
{
	return tokens->encoding;
}

const rt_alloc *
rt_tokens_alloc(const rt_tokens *tokens)
{
	return tokens->alloc;
}

size_t
rt_tokens_known(const rt_tokens *tokens)
{
	return tokens->known;
}

void
rt_tokens_check(const rt_tokens *tokens)
{
	size_t full = 0;

	RT_ASSERT(tokens->known * 2 <= tokens->mask + 1);
	for (size_t i = 0; i <= tokens->mask; i++) {
		uint64_t slot = tokens->slots[i];
		const char *bytes = tokens->bytes + slot_offset(slot);
		size_t size = slot_size(slot);

		if (slot == 0)
			continue;
		full++;
		RT_ASSERT(size > 0 && size <= tokens->longest);
		RT_ASSERT(slot_offset(slot) + size <= tokens->bytes_size);
		RT_ASSERT(find(tokens, bytes, size, hash_of(bytes, size)) == i);
	}
	RT_ASSERT(full == tokens->known);
}

/* ---- merging short pieces ---- */

/* The first byte of a part, and the rank of it joined with the next one. */
typedef struct part {
	uint32_t from;
	uint32_t rank;
} part;

/* The rank of parts [at] and [at + 1] joined; parts[count] is the end. */
static uint32_t
pair_rank(const rt_tokens *t, rt_str piece, const part *parts, size_t count, size_t at)
{
	if (at + 2 > count)
		return NO_RANK;
	return rank_of(t, piece.ptr + parts[at].from, parts[at + 2].from - parts[at].from);
}

static size_t
count_short(const rt_tokens *t, rt_str piece)
{
	part parts[SHORT_MAX + 1];
	size_t count = piece.size;

	for (size_t i = 0; i <= count; i++)
		parts[i] = (part){(uint32_t)i, NO_RANK};
	for (size_t i = 0; i + 1 < count; i++)
		parts[i].rank = rank_of(t, piece.ptr + i, 2);
	for (;;) {
		size_t best = 0;

		for (size_t i = 1; i < count; i++)
			if (parts[i].rank < parts[best].rank)
				best = i;
		if (parts[best].rank == NO_RANK)
			return count;
		memmove(&parts[best + 1], &parts[best + 2], (count - best - 1) * sizeof(*parts));
		count--;
		parts[best].rank = pair_rank(t, piece, parts, count, best);
		if (best > 0)
			parts[best - 1].rank = pair_rank(t, piece, parts, count, best - 1);
	}
}

/* ---- merging long pieces ---- */

/* Parts by their first byte. next[from] is the end of the part; rank[from] that of it joined with
 * the next one, NO_RANK also where no part begins any more. */
typedef struct merging {
	const rt_tokens *tokens;
	rt_str piece;
	uint64_t *heap; /* rank << 32 | first byte; the lowest is first */
	size_t heap_count;
	uint32_t *next, *prev, *rank;
} merging;

static void
heap_add(merging *m, uint64_t pair)
{
	size_t at = m->heap_count++;

	while (at > 0) {
		size_t parent = (at - 1) / HEAP_WAYS;

		if (m->heap[parent] <= pair)
			break;
		m->heap[at] = m->heap[parent];
		at = parent;
	}
	m->heap[at] = pair;
}

static uint64_t
heap_pop(merging *m)
{
	uint64_t top = m->heap[0], last = m->heap[--m->heap_count];
	size_t at = 0;

	for (;;) {
		size_t child = at * HEAP_WAYS + 1, least = child, end = child + HEAP_WAYS;

		if (child >= m->heap_count)
			break;
		if (end > m->heap_count)
			end = m->heap_count;
		while (++child < end)
			if (m->heap[child] < m->heap[least])
				least = child;
		if (m->heap[least] >= last)
			break;
		m->heap[at] = m->heap[least];
		at = least;
	}
	m->heap[at] = last;
	return top;
}

/* Rank the pair at from again. */
static void
rank_pair(merging *m, uint32_t from)
{
	uint32_t second = m->next[from], rank = NO_RANK;

	if (second < m->piece.size)
		rank = rank_of(m->tokens, m->piece.ptr + from, m->next[second] - from);
	m->rank[from] = rank;
	if (rank != NO_RANK)
		heap_add(m, (uint64_t)rank << 32 | from);
}

static size_t
merge(merging *m)
{
	uint32_t size = (uint32_t)m->piece.size;
	size_t count = size;

	for (uint32_t from = 0; from < size; from++) {
		m->next[from] = from + 1;
		m->prev[from] = from - 1; /* not used of the first */
	}
	for (uint32_t from = 0; from < size; from++)
		rank_pair(m, from);
	while (m->heap_count > 0) {
		uint64_t pair = heap_pop(m);
		uint32_t from = (uint32_t)pair, second = m->next[from];

		if (m->rank[from] != (uint32_t)(pair >> 32))
			continue; /* merged since */
		m->next[from] = m->next[second];
		if (m->next[from] < size)
			m->prev[m->next[from]] = from;
		m->rank[second] = NO_RANK;
		count--;
		rank_pair(m, from);
		if (from > 0)
			rank_pair(m, m->prev[from]);
	}
	return count;
}

/* The heap has at most the first pairs and, for each merge, two in place of one. */
static rt_status
count_long(const rt_tokens *t, rt_str piece, size_t *out)
{
	merging m = {.tokens = t, .piece = piece};
	size_t size = piece.size;

	if (size > PIECE_MAX)
		return RT_LIMIT;
	m.heap = rt_new(t->alloc, size * (2 * sizeof(*m.heap) + 3 * sizeof(*m.next)));
	if (m.heap == NULL)
		return RT_NOMEM;
	m.next = (uint32_t *)(m.heap + 2 * size);
	m.prev = m.next + size;
	m.rank = m.prev + size;
	*out = merge(&m);
	rt_free(t->alloc, m.heap);
	return RT_OK;
}

/* ---- counting ---- */

rt_status
rt_tokens_count(const rt_tokens *tokens, rt_str text, size_t *out)
{
	size_t count = 0;

	for (size_t at = 0, end; at < text.size; at = end) {
		size_t piece_count = 1;
		rt_str piece;

		end = rt_token_piece_end(tokens->encoding->cut, text, at);
		piece = rt_str_at(text.ptr + at, end - at);
		if (piece.size > 1 && rank_of(tokens, piece.ptr, piece.size) == NO_RANK) {
			rt_status st = RT_OK;

			if (piece.size <= SHORT_MAX)
				piece_count = count_short(tokens, piece);
			else
				st = count_long(tokens, piece, &piece_count);
			if (st != RT_OK)
				return st;
		}
		count += piece_count;
	}
	*out = count;
	return RT_OK;
}
