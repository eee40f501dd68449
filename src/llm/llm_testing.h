/* SPDX-License-Identifier: MIT
 *
 * For tests: a stream through its framing and its reader, whole, cut in two at every byte,
 * and byte by byte. The result must always be the same. */
#ifndef RT_LLM_LLM_TESTING_H
#define RT_LLM_LLM_TESTING_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/failing_testing.h"
#include "llm/framing.h"
#include "llm/provider.h"

typedef struct told {
	const rt_provider *provider;
	rt_reply reply;
} told;

/* Everything that a run of bytes completes. */
static inline rt_status
told_bytes(told *t, rt_frames *frames, rt_str bytes, bool is_last, rt_error *err)
{
	rt_status st = RT_OK;
	rt_str data;

	while (st == RT_OK && (is_last ? rt_frames_last(frames, &data)
				       : rt_frames_next(frames, &bytes, &data))) {
		st = rt_provider_read_event(t->provider, &t->reply, data, err);
		if (is_last)
			break;
	}
	return st != RT_OK ? st : rt_frames_check(frames, err);
}

/* Read stream in pieces: the first of size cut, the others of size step (0: the rest).
 * The result as "STATUS CONTENT FIELDS", and the error's text. */
static inline void
told_read(const rt_alloc *alloc, const rt_provider *provider, rt_str stream, size_t cut, size_t step,
	  rt_buf *out)
{
	told t = {.provider = provider};
	rt_error err = {0};
	rt_frames frames;
	size_t at, size;
	rt_status st;

	rt_reply_init(&t.reply, alloc, NULL, NULL);
	rt_frames_init(&frames, alloc, provider->framing);
	st = told_bytes(&t, &frames, rt_str_at(stream.ptr, cut), false, &err);
	for (at = cut; st == RT_OK && at < stream.size; at += size) {
		size = step == 0 || step > stream.size - at ? stream.size - at : step;
		st = told_bytes(&t, &frames, rt_str_at(stream.ptr + at, size), false, &err);
	}
	if (st == RT_OK)
		st = told_bytes(&t, &frames, rt_str_at(NULL, 0), true, &err);
	rt_reply_finish(&t.reply);
	rt_buf_clear(out);
	rt_buf_add_c(out, st == RT_OK ? rt_status_word(t.reply.status) : rt_status_word(st));
	rt_buf_add_c(out, t.reply.ended ? " " : " ... ");
	rt_reply_add_content(&t.reply, out);
	rt_reply_add_fields(&t.reply, out);
	if (st != RT_OK) {
		rt_buf_add_byte(out, ' ');
		rt_buf_add_c(out, err.text);
	}
	rt_frames_deinit(&frames);
	rt_reply_deinit(&t.reply);
}

static inline void
told_same(const rt_buf *out, const char *expected, const char *how, size_t cut)
{
	if (!rt_str_is(rt_buf_str(out), expected))
		fail_msg("%s %zu:\n  got  %.*s\n  want %s", how, cut, RT_STR_ARG(rt_buf_str(out)),
			 expected);
}

/* The stream, however it is split, becomes expected. */
static inline void
reads_as(const rt_provider *provider, const char *stream, const char *expected)
{
	rt_str bytes = rt_str_of(stream);
	rt_buf out;
	size_t cut;

	rt_buf_init(&out, rt_alloc_libc(), RT_BUF_UNLIMITED);
	told_read(rt_alloc_libc(), provider, bytes, bytes.size, 0, &out);
	told_same(&out, expected, "whole", 0);
	for (cut = 0; cut < bytes.size; cut++) {
		told_read(rt_alloc_libc(), provider, bytes, cut, 0, &out);
		told_same(&out, expected, "cut at", cut);
	}
	for (cut = 1; cut < 6; cut++) {
		told_read(rt_alloc_libc(), provider, bytes, cut, cut, &out);
		told_same(&out, expected, "pieces of", cut);
	}
	rt_buf_deinit(&out);
}

/* An answer that came as a whole. */
static inline void
whole_reads_as(const rt_provider *provider, const char *body, const char *expected)
{
	rt_error err = {0};
	rt_reply reply;
	rt_status st;
	rt_buf out;

	rt_buf_init(&out, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_reply_init(&reply, rt_alloc_libc(), NULL, NULL);
	st = rt_provider_read_whole(provider, &reply, rt_str_of(body), &err);
	rt_reply_finish(&reply);
	rt_buf_add_c(&out, rt_status_word(st));
	rt_buf_add_c(&out, reply.ended ? " " : " ... ");
	rt_reply_add_content(&reply, &out);
	rt_reply_add_fields(&reply, &out);
	if (st != RT_OK) {
		rt_buf_add_byte(&out, ' ');
		rt_buf_add_c(&out, err.text);
	}
	told_same(&out, expected, "body", 0);
	rt_reply_deinit(&reply);
	rt_buf_deinit(&out);
}

/* A provider's reason, and the word that is stored for it; NULL ends a list. */
typedef struct told_stop {
	const char *reason, *word;
} told_stop;

/* The stream before, reason, after is kept with that word. */
static inline void
stops_as(const rt_provider *provider, const char *before, const char *after, const told_stop *stops)
{
	rt_buf stream, out, word;

	rt_buf_init(&stream, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_buf_init(&out, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_buf_init(&word, rt_alloc_libc(), RT_BUF_UNLIMITED);
	for (; stops->reason != NULL; stops++) {
		rt_buf_clear(&stream);
		rt_buf_add_f(&stream, "%s%s%s", before, stops->reason, after);
		rt_buf_clear(&word);
		rt_buf_add_f(&word, "\"stop_reason\":\"%s\"", stops->word);
		told_read(rt_alloc_libc(), provider, rt_buf_str(&stream), stream.size, 0, &out);
		if (rt_str_find(rt_buf_str(&out), rt_buf_str(&word), 0) == SIZE_MAX)
			fail_msg("%s: %.*s, want %s", stops->reason, RT_STR_ARG(rt_buf_str(&out)),
				 stops->word);
	}
	rt_buf_deinit(&stream);
	rt_buf_deinit(&out);
	rt_buf_deinit(&word);
}

static inline void
error_reads_as(const rt_provider *provider, const char *body, const char *expected)
{
	rt_buf out;

	(void)provider;
	rt_buf_init(&out, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_provider_read_error(rt_str_of(body), rt_alloc_libc(), &out);
	told_same(&out, expected, "error", 0);
	rt_buf_deinit(&out);
}

static inline void
told_model(void *ctx, rt_str name, size_t context_tokens)
{
	rt_buf_add_f(ctx, "%.*s:%zu ", RT_STR_ARG(name), context_tokens);
}

static inline void
models_read_as(const rt_provider *provider, const char *body, const char *expected)
{
	rt_buf out;

	rt_buf_init(&out, rt_alloc_libc(), RT_BUF_UNLIMITED);
	assert_int_equal(rt_provider_read_models(provider, rt_str_of(body), rt_alloc_libc(),
						 told_model, &out, NULL),
			 RT_OK);
	told_same(&out, expected, "models", 0);
	rt_buf_deinit(&out);
}

static inline void
told_header(void *ctx, rt_str name, rt_str value)
{
	rt_buf_add_f(ctx, "%.*s: %.*s\n", RT_STR_ARG(name), RT_STR_ARG(value));
}

static inline void
headers_are(const rt_provider *provider, const char *key, const char *expected)
{
	rt_buf out;

	rt_buf_init(&out, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_provider_headers(provider, rt_str_of(key), told_header, &out);
	told_same(&out, expected, "headers", 0);
	rt_buf_deinit(&out);
}

static inline void
path_is(const rt_provider *provider, const char *model, bool stream, const char *expected)
{
	rt_buf out;

	rt_buf_init(&out, rt_alloc_libc(), RT_BUF_UNLIMITED);
	assert_int_equal(rt_provider_path(provider, rt_str_of(model), stream, &out, NULL), RT_OK);
	told_same(&out, expected, "path", 0);
	rt_buf_deinit(&out);
}

/* With every allocation failing once: RT_NOMEM is reported, and nothing leaks. */
static inline void
survives_no_memory(const rt_provider *provider, const char *stream)
{
	failing f = {.left = 1000000};
	rt_alloc alloc = {failing_resize, failing_release, &f};
	rt_str bytes = rt_str_of(stream);
	long count, n;
	rt_buf out;

	rt_buf_init(&out, rt_alloc_libc(), RT_BUF_UNLIMITED);
	told_read(&alloc, provider, bytes, 7, 3, &out);
	assert_true(rt_str_starts(rt_buf_str(&out), RT_STR("ok ")));
	count = 1000000 - f.left;
	for (n = 0; n < count; n++) {
		f.left = n;
		told_read(&alloc, provider, bytes, 7, 3, &out);
		if (out.status == RT_OK && !rt_str_starts(rt_buf_str(&out), RT_STR("out_of_memory")))
			fail_msg("allocation %ld of %ld failed, and nobody said so: %.*s", n, count,
				 RT_STR_ARG(rt_buf_str(&out)));
		assert_int_equal(f.live, 0);
	}
	rt_buf_deinit(&out);
}

#endif
