/* SPDX-License-Identifier: MIT
 *
 * Counts the tokens of texts, for tokens_test.sh:
 *
 *   count_tokens ENCODING <TEXTS    each text as its size in decimal, a line feed, its bytes,
 *                                   a line feed; prints one count per line
 *   count_tokens ENCODING FILE      processor time to load the ranks, and to count FILE
 *
 * The rank files are in the folder RETAKE_TOKENS. Exit status 77: there are none. */
#define _POSIX_C_SOURCE 200809L

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "llm/tokens_host.h"

static double
now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static int
count_texts(const rt_tokens *tokens)
{
	size_t size, count;
	char *text = NULL;
	bool ok = true;

	while (ok && scanf("%zu", &size) == 1 && getchar() == '\n') {
		text = malloc(size + 1);
		ok = text != NULL && fread(text, 1, size, stdin) == size &&
		     rt_tokens_count(tokens, rt_str_at(text, size), &count) == RT_OK;
		if (ok)
			printf("%zu\n", count);
		free(text);
	}
	return ok ? 0 : 1;
}

static int
measure(const rt_tokens *tokens, const char *path)
{
	FILE *file = fopen(path, "rb");
	char room[65536];
	double start, ms;
	size_t got, count = 0;
	rt_buf text;
	rt_status st;

	if (file == NULL)
		return 1;
	rt_buf_init(&text, rt_alloc_libc(), RT_BUF_UNLIMITED);
	while ((got = fread(room, 1, sizeof(room), file)) > 0)
		rt_buf_add(&text, room, got);
	fclose(file);
	start = now_ms();
	st = rt_tokens_count(tokens, rt_buf_str(&text), &count);
	ms = now_ms() - start;
	printf("%zu bytes, %zu tokens, %.1f ms, %.1f MB/s\n", text.size, count, ms,
	       (double)text.size / 1e3 / ms);
	rt_buf_deinit(&text);
	return st == RT_OK ? 0 : 1;
}

int
main(int argc, char **argv)
{
	const rt_token_encoding *encoding = argc < 2 ? NULL
						     : rt_token_encoding_named(rt_str_of(argv[1]));
	rt_tokens *tokens = NULL;
	rt_buf warnings;
	double start = now_ms();
	int code = 1;

	if (encoding == NULL)
		return 2;
	rt_buf_init(&warnings, rt_alloc_libc(), RT_BUF_UNLIMITED);
	if (rt_tokens_load(rt_alloc_libc(), encoding, &tokens, &warnings, NULL) == RT_OK)
		code = tokens == NULL ? 77 : 0;
	if (warnings.size > 0)
		fputs(warnings.ptr, stderr);
	if (code == 0 && argc > 2) {
		printf("%zu ranks in %.1f ms\n", rt_tokens_known(tokens), now_ms() - start);
		rt_tokens_check(tokens);
		code = measure(tokens, argv[2]);
	} else if (code == 0) {
		code = count_texts(tokens);
	}
	rt_tokens_free(tokens);
	rt_buf_deinit(&warnings);
	return code;
}
