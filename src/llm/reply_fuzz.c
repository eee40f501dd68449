/* SPDX-License-Identifier: MIT
 *
 * Any bytes as the stream of an answer: the first line names the provider, the byte after it
 * determines how the rest is split. The result does not depend on that; it can be read at any time,
 * is UTF-8, and is JSON in the end; finishing twice is the same as finishing once. The same bytes
 * are read as a whole answer, an error and a list of models too. */
#include "llm/framing.h"
#include "llm/provider.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct reading {
	const rt_provider *provider;
	rt_reply reply;
} reading;

static void
hear(void *ctx, rt_reply_block_kind kind, size_t block, rt_str added)
{
	const reading *r = ctx;

	RT_ASSERT(block < r->reply.block_count);
	RT_ASSERT(r->reply.blocks[block].kind == kind);
	RT_ASSERT(rt_utf8_valid_size(added) == added.size);
}

static void
check_texts(const rt_reply *reply)
{
	size_t i;

	for (i = 0; i < reply->block_count; i++) {
		rt_str text = rt_buf_str(&reply->blocks[i].text);

		RT_ASSERT(rt_utf8_valid_size(text) == text.size);
	}
}

/* Everything that a run of bytes completes. */
static rt_status
read_bytes(reading *r, rt_frames *frames, rt_str bytes, bool is_last, rt_error *err)
{
	rt_status st = RT_OK;
	rt_str data;

	while (st == RT_OK && (is_last ? rt_frames_last(frames, &data)
				       : rt_frames_next(frames, &bytes, &data))) {
		st = rt_provider_read_event(r->provider, &r->reply, data, err);
		check_texts(&r->reply);
		if (is_last)
			break;
	}
	return st != RT_OK ? st : rt_frames_check(frames, err);
}

static void
add_entry(const rt_reply *reply, rt_buf *out)
{
	rt_buf_add_c(out, "{\"content\":");
	rt_reply_add_content(reply, out);
	rt_reply_add_fields(reply, out);
	rt_buf_add_byte(out, '}');
	RT_ASSERT(out->status == RT_OK);
}

/* seed 0: in one piece. */
static void
read_stream(const rt_provider *provider, rt_str stream, uint32_t seed, rt_buf *out)
{
	const rt_alloc *alloc = rt_alloc_libc();
	reading r = {.provider = provider};
	rt_json_doc *doc;
	rt_frames frames;
	rt_error err = {0};
	rt_buf again;
	size_t at, step;
	rt_status st = RT_OK;

	rt_reply_init(&r.reply, alloc, hear, &r);
	rt_frames_init(&frames, alloc, provider->framing);
	for (at = 0; st == RT_OK && at < stream.size; at += step) {
		seed = seed * 1664525u + (seed != 0 ? 1013904223u : 0);
		step = seed == 0 ? stream.size : 1 + (seed >> 24) % 23;
		if (step > stream.size - at)
			step = stream.size - at;
		st = read_bytes(&r, &frames, rt_str_at(stream.ptr + at, step), false, &err);
	}
	if (st == RT_OK)
		st = read_bytes(&r, &frames, rt_str_at(NULL, 0), true, &err);
	rt_buf_add_f(out, "%s %d %d ", rt_status_word(st), (int)r.reply.stop, (int)r.reply.ended);
	rt_reply_finish(&r.reply);
	RT_ASSERT(r.reply.status == RT_OK || r.reply.status == RT_LIMIT);
	at = out->size;
	add_entry(&r.reply, out);
	RT_ASSERT(rt_json_read(alloc, rt_str_at(out->ptr + at, out->size - at), &doc, NULL) ==
		  RT_OK);
	rt_json_free(doc);
	rt_reply_finish(&r.reply);
	rt_buf_init(&again, alloc, RT_BUF_UNLIMITED);
	add_entry(&r.reply, &again);
	RT_ASSERT(rt_str_eq(rt_buf_str(&again), rt_str_at(out->ptr + at, out->size - at)));
	rt_buf_deinit(&again);
	rt_frames_deinit(&frames);
	rt_reply_deinit(&r.reply);
}

static void
a_model(void *ctx, rt_str name, size_t context_tokens)
{
	(void)context_tokens;
	RT_ASSERT(name.size > 0);
	++*(size_t *)ctx;
}

static void
read_others(const rt_provider *provider, rt_str body)
{
	const rt_alloc *alloc = rt_alloc_libc();
	rt_error err = {0};
	size_t models = 0;
	rt_json_doc *doc;
	rt_reply reply;
	rt_buf out;

	rt_buf_init(&out, alloc, RT_BUF_UNLIMITED);
	rt_reply_init(&reply, alloc, NULL, NULL);
	(void)(rt_provider_read_whole(provider, &reply, body, &err) == RT_OK);
	rt_reply_finish(&reply);
	add_entry(&reply, &out);
	RT_ASSERT(rt_json_read(alloc, rt_buf_str(&out), &doc, NULL) == RT_OK);
	rt_json_free(doc);
	rt_reply_deinit(&reply);
	rt_buf_clear(&out);
	rt_provider_read_error(body, alloc, &out);
	RT_ASSERT(rt_utf8_valid_size(rt_buf_str(&out)) == out.size);
	rt_buf_deinit(&out);
	(void)(rt_provider_read_models(provider, body, alloc, a_model, &models, &err) == RT_OK);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const rt_provider *provider;
	rt_buf whole, cut;
	rt_str stream;
	size_t name_size = rt_str_find(rt_str_at((const char *)data, size), RT_STR("\n"), 0);
	uint32_t i;

	if (size > 100000 || name_size == SIZE_MAX || size < name_size + 2)
		return 0;
	provider = rt_provider_named(rt_str_at((const char *)data, name_size));
	if (provider == NULL)
		return 0;
	data += name_size + 1;
	size -= name_size + 1;
	stream = rt_str_at((const char *)data + 1, size - 1);
	rt_buf_init(&whole, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_buf_init(&cut, rt_alloc_libc(), RT_BUF_UNLIMITED);
	read_stream(provider, stream, 0, &whole);
	for (i = 1; i < 4; i++) {
		rt_buf_clear(&cut);
		read_stream(provider, stream, (uint32_t)data[0] * 4 + i, &cut);
		RT_ASSERT(rt_str_eq(rt_buf_str(&whole), rt_buf_str(&cut)));
	}
	rt_buf_deinit(&whole);
	rt_buf_deinit(&cut);
	read_others(provider, stream);
	return 0;
}
