/* SPDX-License-Identifier: MIT
 *
 * Segments of the search index: which texts contain which words.
 *
 * A segment covers texts with consecutive numbers. Its words are terms of 32 bits, so it contains no text:
 *
 *	bit  31     26     21     16     11          0
 *	     | b[0] | b[1] | b[2] | b[3] | hash      |   a word: the low bits of its first bytes, 0 where it
 *	                                                 is shorter, and a hash of the whole word
 *	     | 11111| pair            | 0            |   two adjacent words: one of PAIRS, by their hashes
 *
 * All words with the same beginning are therefore adjacent terms. Two words may share a term, so that texts
 * which are found have to be read. For each term there is a list of the texts (by their index in the segment)
 * that contain it. Sorted by term, the lists are cut into parts:
 *
 *	part   { term - the term before, size, size bytes of list } …    varints; before the first: the term
 *	                                                                 whose high bits are the part's number
 *	list   the first index, then each index - the one before - 1
 *
 * Memory: 16 bytes for each term of each text. One thread at a time. */
#ifndef RT_STORE_SEGMENT_H
#define RT_STORE_SEGMENT_H

#include "base/text.h"

enum {
	RT_PART_BITS = 23,   /* of a part's number: the high bits of a term. Terms that share them are in one part */
	RT_PART_SIZE = 3980, /* bytes, about: two fit on a page */
	RT_PART_LAST = (1 << RT_PART_BITS) - 32 /* the last number of a part */
};

/* ---- terms ---- */

/* The term of a token with this hash (rt_hash, seed 0). */
uint32_t rt_term_of(rt_str token, uint64_t hash);
/* The terms of all tokens that begin like this one: from the result up to *out_last. */
uint32_t rt_term_prefix(rt_str token, uint32_t *out_last);
/* The term of two adjacent words with these hashes. */
uint32_t rt_term_pair(uint64_t first, uint64_t second);
static inline uint32_t
rt_term_part(uint32_t term)
{
	return term >> (32 - RT_PART_BITS);
}

/* ---- segments ---- */

typedef struct rt_segment_text {
	uint64_t number, entry;
} rt_segment_text;

typedef struct rt_segment_seen rt_segment_seen;

/* A segment in memory. After a failure (status) nothing is added. */
typedef struct rt_segment {
	const rt_alloc *alloc;
	rt_segment_text *texts; /* in ascending order after rt_segment_sort */
	size_t text_count, text_room;
	uint64_t *postings; /* term << 32 | index of the text */
	size_t count, room, compact_at;
	rt_segment_seen *seen; /* of the text that is being added */
	rt_status status;
} rt_segment;

void rt_segment_init(rt_segment *s, const rt_alloc *alloc);
void rt_segment_deinit(rt_segment *s);
/* Adds a text; of texts with one number the last counts. */
void rt_segment_add(rt_segment *s, uint64_t number, uint64_t entry, rt_str text);
/* Adds the texts of another one (not those where keep is false; NULL: all). */
void rt_segment_join(rt_segment *s, const rt_segment *other, const bool *keep);
/* Sorts texts and postings, each once. */
void rt_segment_sort(rt_segment *s);
/* The parts of a sorted segment. fn returns false: stop. */
void rt_segment_parts(const rt_segment *s, rt_buf *scratch,
		      bool (*fn)(void *ctx, uint32_t number, rt_str bytes), void *ctx);
/* Numbers and entries of a sorted segment, usually of a few bytes:
 *
 *	{ texts, number - the number before, entry - the entry before, folded } …    runs with the same differences */
void rt_segment_write_texts(const rt_segment *s, rt_buf *out);

/* Reading: false: malformed, or out of memory (status). Texts first, then the parts in their order. */
RT_CHECKED bool rt_segment_read_texts(rt_segment *s, rt_str bytes, size_t count);
RT_CHECKED bool rt_segment_read_part(rt_segment *s, uint32_t number, rt_str bytes);
/* Sets the bits of the texts (below count) that have a term from first to last. false: malformed. */
RT_CHECKED bool rt_part_find(uint32_t number, rt_str bytes, uint32_t first, uint32_t last, uint64_t *bits,
			     size_t count);

#endif
