/* SPDX-License-Identifier: MIT
 *
 * Segments: written, read again, and searched by terms. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/hash.h"
#include "store/store_segment.h"

enum { TEXTS = 500, PARTS_MAX = 64 };

typedef struct parts {
	uint32_t numbers[PARTS_MAX];
	rt_buf bytes[PARTS_MAX];
	size_t count;
} parts;

static bool
keep_part(void *ctx, uint32_t number, rt_str bytes)
{
	parts *p = ctx;

	assert_true(p->count < PARTS_MAX && number <= RT_PART_LAST);
	assert_true(p->count == 0 || number > p->numbers[p->count - 1]);
	p->numbers[p->count] = number;
	rt_buf_init(&p->bytes[p->count], rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_buf_add_str(&p->bytes[p->count++], bytes);
	return true;
}

static void
write_parts(const rt_segment *s, parts *to)
{
	rt_buf scratch;

	*to = (parts){.count = 0};
	rt_buf_init(&scratch, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_segment_parts(s, &scratch, keep_part, to);
	assert_int_equal(scratch.status, RT_OK);
	rt_buf_deinit(&scratch);
}

static void
free_parts(parts *p)
{
	for (size_t i = 0; i < p->count; i++)
		rt_buf_deinit(&p->bytes[i]);
}

/* Texts 1 .. TEXTS, each of a few common words and two others. */
static void
fill(rt_segment *s)
{
	char text[100];

	rt_segment_init(s, rt_alloc_libc());
	for (unsigned i = 1; i <= TEXTS; i++) {
		snprintf(text, sizeof(text), "Common w%u w%u common a%u b%u", i % 3, i % 50, i * 7919u, i);
		rt_segment_add(s, i * 2 + i / 100, i, rt_str_of(text));
	}
	rt_segment_sort(s);
	assert_int_equal(s->status, RT_OK);
}

/* The number of texts with a term between two; the index of the last one is in *out. */
static size_t
find(const parts *p, uint32_t first, uint32_t last, size_t *out)
{
	uint64_t bits[TEXTS / 64 + 1] = {0};
	size_t count = 0;

	for (size_t i = 0; i < p->count; i++)
		if (p->numbers[i] <= rt_term_part(last) &&
		    (i + 1 == p->count || p->numbers[i + 1] > rt_term_part(first)))
			assert_true(rt_part_find(p->numbers[i], rt_buf_str(&p->bytes[i]), first, last, bits, TEXTS));
	for (size_t i = 0; i < TEXTS; i++)
		if ((bits[i / 64] >> i % 64 & 1) != 0) {
			count++;
			*out = i;
		}
	return count;
}

static uint32_t
term_of(const char *word)
{
	return rt_term_of(rt_str_of(word), rt_hash(word, strlen(word), 0));
}

static void
finds_texts_by_terms(void **state)
{
	uint32_t first, last, pair = rt_term_pair(rt_hash("w1", 2, 0), rt_hash("w7", 2, 0));
	rt_segment s;
	size_t at = 0;
	parts p;

	(void)state;
	fill(&s);
	write_parts(&s, &p);
	assert_true(p.count > 1);
	assert_int_equal(find(&p, term_of("common"), term_of("common"), &at), TEXTS);
	assert_int_equal(find(&p, term_of("b77"), term_of("b77"), &at), 1);
	assert_int_equal(at, 76);
	assert_int_equal(find(&p, term_of("nowhere"), term_of("nowhere"), &at), 0);
	first = rt_term_prefix(RT_STR("com"), &last);
	assert_true(first <= term_of("common") && term_of("common") <= last);
	assert_int_equal(find(&p, first, last, &at), TEXTS);
	first = rt_term_prefix(RT_STR("b"), &last);
	assert_int_equal(find(&p, first, last, &at), TEXTS);
	assert_int_equal(find(&p, pair, pair, &at), TEXTS / 150 + 1); /* 7, 157 … */
	free_parts(&p);
	rt_segment_deinit(&s);
}

static void
reads_what_it_wrote(void **state)
{
	rt_segment s, copy;
	size_t refused = 0;
	rt_buf texts;
	parts p;

	(void)state;
	fill(&s);
	write_parts(&s, &p);
	rt_buf_init(&texts, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_segment_write_texts(&s, &texts);
	rt_segment_init(&copy, rt_alloc_libc());
	assert_true(rt_segment_read_texts(&copy, rt_buf_str(&texts), TEXTS));
	for (size_t i = 0; i < p.count; i++)
		assert_true(rt_segment_read_part(&copy, p.numbers[i], rt_buf_str(&p.bytes[i])));
	assert_int_equal(copy.text_count, TEXTS);
	assert_memory_equal(copy.texts, s.texts, TEXTS * sizeof(*s.texts));
	assert_int_equal(copy.count, s.count);
	assert_memory_equal(copy.postings, s.postings, s.count * sizeof(*s.postings));
	rt_segment_deinit(&copy);
	/* Bytes that are cut or altered are refused or read as something, without harm. */
	for (size_t i = 0; i < p.bytes[0].size; i++) {
		uint64_t bits[TEXTS / 64 + 1];

		p.bytes[0].ptr[i] = (char)(p.bytes[0].ptr[i] ^ (1 << i % 8));
		refused += !rt_part_find(p.numbers[0], rt_str_at(p.bytes[0].ptr, p.bytes[0].size - i % 3), 0, UINT32_MAX,
					 bits, TEXTS);
		rt_segment_init(&copy, rt_alloc_libc());
		assert_true(rt_segment_read_texts(&copy, rt_buf_str(&texts), TEXTS));
		refused += !rt_segment_read_part(&copy, p.numbers[0], rt_buf_str(&p.bytes[0]));
		for (size_t k = 0; k < copy.count; k++)
			assert_true((uint32_t)copy.postings[k] < TEXTS);
		rt_segment_deinit(&copy);
	}
	assert_true(refused > 0);
	rt_buf_deinit(&texts);
	free_parts(&p);
	rt_segment_deinit(&s);
}

/* Texts out of order, twice, and left out; a text that is so long that its postings are sorted meanwhile. */
static void
joins_and_sorts(void **state)
{
	enum { WORDS = 2200000, SIZE = WORDS * 4 };
	bool keep[] = {true, false, true};
	char *text = malloc(SIZE + 1);
	rt_segment s, joined;

	(void)state;
	assert_non_null(text);
	for (int i = 0; i < WORDS; i++)
		snprintf(text + 4 * i, 5, "%03d ", i * 7 % 997);
	rt_segment_init(&s, rt_alloc_libc());
	rt_segment_add(&s, 5, 50, RT_STR("five"));
	rt_segment_add(&s, 3, 30, rt_str_at(text, SIZE));
	rt_segment_add(&s, 5, 51, RT_STR("again five five"));
	rt_segment_init(&joined, rt_alloc_libc());
	rt_segment_join(&joined, &s, keep);
	rt_segment_join(&joined, &s, NULL);
	rt_segment_sort(&joined);
	assert_int_equal(joined.status, RT_OK);
	assert_int_equal(joined.text_count, 2);
	assert_int_equal(joined.texts[0].number, 3);
	assert_int_equal(joined.texts[1].entry, 51);
	assert_in_range(joined.count, 997 + 4, 2 * 997 + 6); /* words and pairs */
	for (size_t i = 1; i < joined.count; i++)
		assert_true(joined.postings[i - 1] < joined.postings[i]);
	rt_segment_deinit(&s);
	rt_segment_deinit(&joined);
	free(text);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_texts_by_terms),
		cmocka_unit_test(reads_what_it_wrote),
		cmocka_unit_test(joins_and_sorts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
