/* SPDX-License-Identifier: MIT
 *
 * Tokens: the ends of pieces, merging, the encodings of models; with ranks small enough to follow
 * by hand. tests/llm/tokens_test.sh compares the real ranks with another program. */
#define _GNU_SOURCE

#include "log/folder_testing.h"
#include "llm/llm_testing.h"
#include "llm/tokens_host.h"

#include <stdio.h>
#include <stdlib.h>

/* a b c ab bc abc aa aaaa user */
#define RANKS "YQ== 0\nYg== 1\nYw== 2\nYWI= 3\nYmM= 4\nYWJj 5\nYWE= 6\nYWFhYQ== 7\ndXNlcg== 8\n"

static const rt_token_encoding *
encoding(rt_token_cut cut)
{
	return rt_token_encoding_named(cut == RT_TOKEN_CUT_CL100K ? RT_STR("cl100k_base")
								  : RT_STR("o200k_base"));
}

static rt_tokens *
small(const rt_alloc *alloc)
{
	rt_tokens *tokens = NULL;

	assert_int_equal(
		rt_tokens_new(alloc, encoding(RT_TOKEN_CUT_O200K), RT_STR(RANKS), &tokens, NULL),
		RT_OK);
	rt_tokens_check(tokens);
	return tokens;
}

static size_t
count(const rt_tokens *tokens, const char *text)
{
	size_t out = SIZE_MAX;

	assert_int_equal(rt_tokens_count(tokens, rt_str_of(text), &out), RT_OK);
	return out;
}

/* ---- pieces ---- */

/* The pieces of text, with "|" between them, are expected. */
static void
cut_as(rt_token_cut cut, const char *expected)
{
	rt_buf text, pieces;
	size_t at, end;
	const char *p;

	rt_buf_init(&text, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_buf_init(&pieces, rt_alloc_libc(), RT_BUF_UNLIMITED);
	for (p = expected; *p != 0; p++)
		if (*p != '|')
			rt_buf_add_byte(&text, *p);
	for (at = 0; at < text.size; at = end) {
		end = rt_token_piece_end(cut, rt_buf_str(&text), at);
		assert_true(end > at && end <= text.size);
		if (at > 0)
			rt_buf_add_byte(&pieces, '|');
		rt_buf_add(&pieces, text.ptr + at, end - at);
	}
	told_same(&pieces, expected, "cut", (size_t)cut);
	rt_buf_deinit(&text);
	rt_buf_deinit(&pieces);
}

static void
both_cut_as(const char *expected)
{
	cut_as(RT_TOKEN_CUT_CL100K, expected);
	cut_as(RT_TOKEN_CUT_O200K, expected);
}

static void
pieces_of_both(void **state)
{
	(void)state;
	both_cut_as("Hello| world|!");
	both_cut_as("a|123|456|7|b");
	both_cut_as(" x");
	both_cut_as(" | two");
	both_cut_as("\n| x");
	both_cut_as(" \n|\t|\tx");
	both_cut_as("\r\n\r\n|a");
	both_cut_as("(x|)!=|y| //\n|z");
	both_cut_as("  ");
	both_cut_as("\xC2\xA0|\xC2\xA0"
		    "a"); /* blanks that do not break */
	both_cut_as("\xC2\x85\xC2\x85|\xC2\x85"
		    "a"); /* white space to Unicode */
	both_cut_as("\xEF\xBB\xBF"
		    "a");                        /* U+FEFF is not */
	both_cut_as("a| \xFF\xC3(\xED\xA0\x80"); /* a byte that is not UTF-8 is a sign */
}

static void
pieces_of_cl100k(void **state)
{
	const rt_token_cut cut = RT_TOKEN_CUT_CL100K;

	(void)state;
	cut_as(cut, "don|'t");
	cut_as(cut, "DON|'T| we|'Ve| '|s|'ll|a"); /* none after a blank */
	cut_as(cut, "'s|sh");
	cut_as(cut, "'\xC5\xBF|x"); /* the long s */
	cut_as(cut, "'lab");
	cut_as(cut, "JSONParser");
	cut_as(cut, "e|\xCC\x81"
		    "x");
	cut_as(cut, "x|\n  "); /* all white space to the end */
	cut_as(cut, "//\n|/");
	cut_as(cut, "\xE6\x97\xA5\xE6\x9C\xAC"
		    "ABC");
}

static void
pieces_of_o200k(void **state)
{
	const rt_token_cut cut = RT_TOKEN_CUT_O200K;

	(void)state;
	cut_as(cut, "don't");
	cut_as(cut, "DON'T| we'Ve|'d'll|a"); /* an apostrophe may lead a word */
	cut_as(cut, "JSONParser");
	cut_as(cut, "json|Parser|XML");
	cut_as(cut, "e\xCC\x81"
		    "x");
	cut_as(cut, "x|\n|  ");
	cut_as(cut, "//\n/|a");
	cut_as(cut, "\xE6\x97\xA5\xE6\x9C\xAC|ABC"); /* letters without case, then capitals */
	cut_as(cut, "\xCC\x81|ABC");
	cut_as(cut, "!\xCC\x81|ABC");
}

/* ---- counting ---- */

static void
counts(void **state)
{
	rt_tokens *t = small(rt_alloc_libc());

	(void)state;
	assert_int_equal(rt_tokens_known(t), 9);
	assert_int_equal(count(t, ""), 0);
	assert_int_equal(count(t, "a"), 1);
	assert_int_equal(count(t, "abc"), 1);
	assert_int_equal(count(t, "abcb"), 2);    /* abc b */
	assert_int_equal(count(t, "bcab"), 2);    /* ab first, then bc */
	assert_int_equal(count(t, "aaaaaaa"), 3); /* aaaa aa a */
	assert_int_equal(count(t, "ab ab"), 3);   /* ab, then a blank and ab */
	assert_int_equal(count(t, "xyz"), 3);     /* bytes without a rank count as well */
	rt_tokens_free(t);
}

/* The simplest possible merging. */
static size_t
count_plainly(const char *text, size_t size)
{
	static const char *const by_rank[] = {"ab", "bc", "abc", "aa", "aaaa"};
	size_t ends[512], parts = size, rank, i;
	bool merged = true;

	for (i = 0; i < size; i++)
		ends[i] = i + 1;
	while (merged) {
		merged = false;
		for (rank = 0; rank < 5 && !merged; rank++) {
			for (i = 0; i + 1 < parts && !merged; i++) {
				size_t from = i == 0 ? 0 : ends[i - 1];

				merged = rt_str_is(rt_str_at(text + from, ends[i + 1] - from),
						   by_rank[rank]);
				if (merged)
					memmove(&ends[i], &ends[i + 1],
						(--parts - i) * sizeof(*ends));
			}
		}
	}
	return parts;
}

static void
counts_as_plainly(void **state)
{
	rt_tokens *t = small(rt_alloc_libc());
	uint64_t seed = 4711;
	char text[401];
	size_t size, i, got;
	int round;

	(void)state;
	for (round = 0; round < 2000; round++) {
		seed = seed * 6364136223846793005u + 1442695040888963407u;
		size = 1 + (seed >> 33) % (round % 4 == 0 ? 400 : 40);
		for (i = 0; i < size; i++) {
			seed = seed * 6364136223846793005u + 1442695040888963407u;
			text[i] = "aaabbc"[(seed >> 33) % 6];
		}
		assert_int_equal(rt_tokens_count(t, rt_str_at(text, size), &got), RT_OK);
		if (got !=
		    (rt_str_is(rt_str_at(text, size), "abc") ? 1 : count_plainly(text, size)))
			fail_msg("round %d: %.*s: %zu", round, (int)size, text, got);
	}
	rt_tokens_free(t);
}

static void
long_pieces(void **state)
{
	enum { SIZE = 1 << 20 };
	rt_tokens *t = small(rt_alloc_libc());
	char *text = malloc(SIZE);
	size_t got;

	(void)state;
	assert_non_null(text);
	memset(text, 'a', SIZE);
	assert_int_equal(rt_tokens_count(t, rt_str_at(text, SIZE), &got), RT_OK);
	assert_int_equal(got, SIZE / 4);
	memset(text, ' ', SIZE);
	assert_int_equal(rt_tokens_count(t, rt_str_at(text, SIZE), &got), RT_OK);
	assert_int_equal(got, SIZE);
	free(text);
	rt_tokens_free(t);
}

/* ---- chats ---- */

static void
requests(void **state)
{
	static const char body[] = "{\"messages\":[{\"role\":\"user\",\"content\":\"abc ab\"}]}";
	rt_tokens *t = small(rt_alloc_libc());
	size_t got = 0;
	bool whole = false;

	(void)state;
	assert_int_equal(
		rt_tokens_count_message(t, RT_STR("user"), RT_STR(""), RT_STR("abc"), &got), RT_OK);
	assert_int_equal(got, 3 + 1 + 1);
	assert_int_equal(
		rt_tokens_count_message(t, RT_STR("user"), RT_STR("ab"), RT_STR("abc"), &got),
		RT_OK);
	assert_int_equal(got, 3 + 1 + 1 + 1 + 1);
	assert_int_equal(rt_tokens_count_request(t, rt_str_of(body), &got, &whole, NULL), RT_OK);
	assert_int_equal(got, 3 + 1 + 3 + 3);
	assert_true(whole);
	assert_int_equal(rt_tokens_count_request(
				 t, RT_STR("{\"messages\":[{\"role\":\"user\",\"content\":[]}]}"),
				 &got, &whole, NULL),
			 RT_OK);
	assert_false(whole);
	assert_int_equal(rt_tokens_count_request(t, RT_STR("{}"), &got, &whole, NULL), RT_CORRUPT);
	rt_tokens_free(t);
}

static void
models(void **state)
{
	static const struct {
		const char *model, *name; /* NULL: not known */
	} rows[] = {
		{"gpt-4o", "o200k_base"},
		{"gpt-4o-mini-2024-07-18", "o200k_base"},
		{"gpt-4.1-nano", "o200k_base"},
		{"o1", "o200k_base"},
		{"o3-mini", "o200k_base"},
		{"o4-mini", "o200k_base"},
		{"gpt-5", "o200k_base"},
		{"gpt-5.1-codex", "o200k_base"},
		{"chatgpt-4o-latest", "o200k_base"},
		{"gpt-oss:20b", "o200k_base"},
		{"gpt-4", "cl100k_base"},
		{"gpt-4-turbo", "cl100k_base"},
		{"gpt-3.5-turbo", "cl100k_base"},
		{"openai/gpt-4o", "o200k_base"},
		{"a/openai/gpt-4", "cl100k_base"},
		{"ft:gpt-4o:us::1", "o200k_base"},
		{"claude-sonnet-4", NULL},
		{"llama3.2", NULL},
		{"o100", NULL},
		{"gpt-4x", NULL},
		{"gpt-6", NULL},
		{"", NULL},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const rt_token_encoding *e = rt_token_encoding_of(rt_str_of(rows[i].model));

		if ((e == NULL) != (rows[i].name == NULL) ||
		    (e != NULL && strcmp(e->name, rows[i].name) != 0))
			fail_msg("%s: %s", rows[i].model, e == NULL ? "not known" : e->name);
	}
	assert_null(rt_token_encoding_named(RT_STR("p50k_base")));
}

/* ---- rank data ---- */

static void
refused(void **state)
{
	static const struct {
		const char *data;
		rt_status status;
		unsigned line;
	} rows[] = {
		{"YQ==", RT_CORRUPT, 1},
		{"YQ== 0\n\n", RT_CORRUPT, 2},
		{"YQ== 0\nYQ= 1\n", RT_CORRUPT, 2},
		{"YQ== x\n", RT_CORRUPT, 1},
		{"YQ== 1\nYQ== 2\n", RT_CORRUPT, 2},
		{"==== 1\n", RT_CORRUPT, 1},
		{" 1\n", RT_CORRUPT, 1},
		{"YQ== 1048576\n", RT_LIMIT, 1},
		{"YQ== 12345678\n", RT_CORRUPT, 1},
		{"Y*== 1\n", RT_CORRUPT, 1},
	};
	rt_tokens *tokens = NULL;
	rt_error err;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		rt_status st = rt_tokens_new(rt_alloc_libc(), encoding(RT_TOKEN_CUT_CL100K),
					     rt_str_of(rows[i].data), &tokens, &err);

		if (st != rows[i].status || err.line != rows[i].line)
			fail_msg("row %zu: %s, %s", i, rt_status_word(st), err.text);
		assert_null(tokens);
	}
	assert_int_equal(rt_tokens_new(rt_alloc_libc(), encoding(RT_TOKEN_CUT_CL100K), RT_STR(""),
				       &tokens, NULL),
			 RT_OK);
	assert_int_equal(count(tokens, "abc"), 3);
	rt_tokens_free(tokens);
}

static void
no_memory(void **state)
{
	failing f = {.left = 0};
	rt_alloc alloc = {failing_resize, failing_release, &f};
	rt_tokens *tokens = NULL;
	char text[300];
	size_t got = 7;

	(void)state;
	assert_int_equal(
		rt_tokens_new(&alloc, encoding(RT_TOKEN_CUT_O200K), RT_STR(RANKS), &tokens, NULL),
		RT_NOMEM);
	assert_null(tokens);
	f.left = 1;
	tokens = small(&alloc);
	memset(text, 'a', sizeof(text));
	assert_int_equal(rt_tokens_count(tokens, rt_str_at(text, sizeof(text)), &got), RT_NOMEM);
	assert_int_equal(got, 7);
	assert_int_equal(rt_tokens_count(tokens, rt_str_at(text, 100), &got), RT_OK);
	assert_int_equal(got, 25);
	rt_tokens_free(tokens);
	assert_int_equal(f.live, 0);
}

/* A missing file, and one that differs from the published one, are not failures. */
static void
files(void **state)
{
	char dir[64], path[128];
	rt_tokens *tokens = NULL;
	rt_buf warnings;
	FILE *file;

	(void)state;
	rt_buf_init(&warnings, rt_alloc_libc(), RT_BUF_UNLIMITED);
	assert_true(test_folder(dir, sizeof(dir), "retake_tokens"));
	setenv("RETAKE_TOKENS", dir, 1);
	assert_int_equal(rt_tokens_load(rt_alloc_libc(), encoding(RT_TOKEN_CUT_O200K), &tokens,
					&warnings, NULL),
			 RT_OK);
	assert_null(tokens);
	assert_int_equal(warnings.size, 0);
	snprintf(path, sizeof(path), "%s/o200k_base.tiktoken", dir);
	file = fopen(path, "w");
	assert_non_null(file);
	fputs(RANKS, file);
	fclose(file);
	assert_int_equal(rt_tokens_load(rt_alloc_libc(), encoding(RT_TOKEN_CUT_O200K), &tokens,
					&warnings, NULL),
			 RT_OK);
	assert_null(tokens);
	assert_true(rt_str_find(rt_buf_str(&warnings), RT_STR("differs from the published file"), 0) != SIZE_MAX);
	remove(path);
	remove(dir);
	rt_buf_deinit(&warnings);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pieces_of_both),
		cmocka_unit_test(pieces_of_cl100k),
		cmocka_unit_test(pieces_of_o200k),
		cmocka_unit_test(counts),
		cmocka_unit_test(counts_as_plainly),
		cmocka_unit_test(long_pieces),
		cmocka_unit_test(requests),
		cmocka_unit_test(models),
		cmocka_unit_test(refused),
		cmocka_unit_test(no_memory),
		cmocka_unit_test(files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
