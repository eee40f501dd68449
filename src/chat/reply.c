/* SPDX-License-Identifier: MIT
 *
 * The blocks of a reply as they grow; reply_entry.c makes an entry of them.
 *
 * A text contains whole characters only. Up to three bytes that may begin another one are kept in
 * the block's tail:
 *
 *     arrives   E2 82 | AC 41       text   "€A"
 *     tail      E2 82 | -
 *
 * A byte that cannot be part of a character becomes U+FFFD as soon as that is known. So the text
 * depends on the bytes alone, not on how they were split. */
#include "chat/reply.h"

#define REPLACEMENT RT_STR("\xEF\xBF\xBD")

enum { LEVELS_AROUND = 16 /* of JSON around the content of an entry, at most */ };

const char *
rt_stop_word(rt_stop stop)
{
	static const char *const words[] = {
		[RT_STOP_NONE] = "",         [RT_STOP_END] = "stop",
		[RT_STOP_LENGTH] = "length", [RT_STOP_CALLS] = "tool_calls",
		[RT_STOP_FILTER] = "filtered", [RT_STOP_USER] = "stopped",
		[RT_STOP_CUT] = "cut",       [RT_STOP_ERROR] = "error",
	};

	return words[stop];
}

void
rt_reply_init(rt_reply *reply, const rt_alloc *alloc, rt_reply_fn fn, void *ctx)
{
	*reply = (rt_reply){.alloc = alloc,
			    .usage = {SIZE_MAX, SIZE_MAX, SIZE_MAX, SIZE_MAX},
			    .fn = fn,
			    .fn_ctx = ctx};
	rt_buf_init(&reply->model, alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&reply->error, alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&reply->skip, alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&reply->waiting, alloc, RT_BUF_UNLIMITED);
	reply->thinking.is_streamed = true;
}

enum { BLOCK_BUFS = 5 };

/* A buffer of a block, by number. */
static rt_buf *
block_buf(rt_reply_block *b, size_t i)
{
	rt_buf *const bufs[BLOCK_BUFS] = {&b->text, &b->id, &b->name, &b->signature, &b->raw};

	return bufs[i];
}

static void
block_deinit(rt_reply_block *b)
{
	for (size_t i = 0; i < BLOCK_BUFS; i++)
		rt_buf_deinit(block_buf(b, i));
}

void
rt_reply_deinit(rt_reply *reply)
{
	for (size_t i = 0; i < reply->block_count; i++)
		block_deinit(&reply->blocks[i]);
	rt_free(reply->alloc, reply->blocks);
	rt_buf_deinit(&reply->model);
	rt_buf_deinit(&reply->error);
	rt_buf_deinit(&reply->skip);
	rt_buf_deinit(&reply->waiting);
}

/* ---- growing ---- */

void
rt_reply_note(rt_reply *reply, rt_status status)
{
	if (reply->status == RT_OK)
		reply->status = status;
}

/* Counts size more bytes; false: too many. */
static bool
grow(rt_reply *r, size_t size)
{
	size_t max = r->size_max == 0 ? RT_REPLY_SIZE_MAX : r->size_max;

	if (r->status != RT_OK)
		return false;
	if (size > max || r->size > max - size) {
		rt_reply_note(r, RT_LIMIT);
		return false;
	}
	r->size += size;
	return true;
}

static void
put(rt_reply *r, rt_buf *to, rt_str bytes)
{
	if (!grow(r, bytes.size))
		return;
	rt_buf_add_str(to, bytes);
	rt_reply_note(r, to->status);
}

/* A complete text; bytes that are not UTF-8 are replaced. */
static void
put_repaired(rt_reply *r, rt_buf *to, rt_str text)
{
	size_t before = to->size;

	if (!grow(r, text.size))
		return;
	rt_utf8_repair(to, text);
	rt_reply_note(r, to->status);
	if (to->status == RT_OK)
		(void)grow(r, to->size - before - text.size);
}

/* A new block at a place. NULL: status says why. */
static rt_reply_block *
block_insert(rt_reply *r, size_t at, rt_reply_block_kind kind)
{
	if (r->block_count == RT_REPLY_BLOCK_MAX)
		rt_reply_note(r, RT_LIMIT);
	if (r->status != RT_OK)
		return NULL;
	if (rt_array_add(r->alloc, &r->blocks, &r->block_count, &r->block_capacity,
			 sizeof(*r->blocks)) == NULL) {
		rt_reply_note(r, RT_NOMEM);
		return NULL;
	}
	rt_reply_block *b = &r->blocks[at];

	memmove(b + 1, b, (r->block_count - 1 - at) * sizeof(*b));
	*b = (rt_reply_block){.kind = kind};
	for (size_t i = 0; i < BLOCK_BUFS; i++)
		rt_buf_init(block_buf(b, i), r->alloc, RT_BUF_UNLIMITED);
	return b;
}

static rt_reply_block *
block_add(rt_reply *r, rt_reply_block_kind kind)
{
	return block_insert(r, r->block_count, kind);
}

static rt_reply_block *
last_of(rt_reply *r, rt_reply_block_kind kind)
{
	rt_reply_block *b = r->block_count > 0 ? &r->blocks[r->block_count - 1] : NULL;

	return b != NULL && b->kind == kind ? b : NULL;
}

/* Passes on a block's text from a byte on. */
static void
report(rt_reply *r, const rt_reply_block *b, size_t from)
{
	rt_str added = b->text.size > from ? rt_str_at(b->text.ptr + from, b->text.size - from)
					   : RT_STR("");

	if (r->fn != NULL && r->status == RT_OK)
		r->fn(r->fn_ctx, b->kind, (size_t)(b - r->blocks), added);
}

void
rt_reply_copy(const rt_reply *reply, rt_reply *out)
{
	rt_reply_init(out, reply->alloc, NULL, NULL);
	out->size_max = SIZE_MAX; /* it fitted already */
	for (size_t i = 0; i < reply->block_count && out->status == RT_OK; i++) {
		rt_reply_block *from = &reply->blocks[i];
		rt_reply_block *to = block_add(out, from->kind);

		if (to == NULL)
			break;
		for (size_t k = 0; k < BLOCK_BUFS; k++)
			put(out, block_buf(to, k), rt_buf_str(block_buf(from, k)));
		to->index = from->index;
		to->tag = from->tag;
		to->closed = from->closed;
		memcpy(to->tail, from->tail, sizeof(to->tail));
		to->tail_size = from->tail_size;
	}
	put(out, &out->model, rt_buf_str(&reply->model));
	put(out, &out->error, rt_buf_str(&reply->error));
	put(out, &out->waiting, rt_buf_str(&reply->waiting));
	out->thinking = reply->thinking;
	out->keeps_tags = reply->keeps_tags;
	rt_reply_note(out, reply->status);
	out->usage = reply->usage;
	out->stop = reply->stop;
	out->provider = reply->provider;
	out->ended = reply->ended;
	out->finished = reply->finished;
}

/* ---- characters that come in pieces ---- */

/* Are these 1 to 3 bytes the beginning of a longer character, as RFC 3629 has it? */
static bool
is_beginning(const unsigned char *p, size_t size)
{
	unsigned char lead = p[0], low = 0x80, high = 0xBF;
	size_t need = lead >= 0xC2 && lead <= 0xDF   ? 2
		      : lead >= 0xE0 && lead <= 0xEF ? 3
		      : lead >= 0xF0 && lead <= 0xF4 ? 4
						     : 0;

	if (size >= need)
		return false;
	if (lead == 0xE0)
		low = 0xA0;
	if (lead == 0xED)
		high = 0x9F;
	if (lead == 0xF0)
		low = 0x90;
	if (lead == 0xF4)
		high = 0x8F;
	if (size >= 2 && (p[1] < low || p[1] > high))
		return false;
	return size < 3 || (p[2] >= 0x80 && p[2] <= 0xBF);
}

static void
tail_drop(rt_reply_block *b, size_t size)
{
	b->tail_size -= (unsigned)size;
	memmove(b->tail, b->tail + size, b->tail_size);
}

/* Moves the decided part of the tail to the text. */
static void
tail_settle(rt_reply *r, rt_reply_block *b)
{
	while (b->tail_size > 0) {
		rt_str tail = rt_str_at((const char *)b->tail, b->tail_size);
		size_t good = rt_utf8_valid_size(tail);

		if (good == 0 && is_beginning(b->tail, b->tail_size))
			return;
		put(r, &b->text, good > 0 ? rt_str_at(tail.ptr, good) : REPLACEMENT);
		tail_drop(b, good > 0 ? good : 1);
	}
}

static void
add_bytes(rt_reply *r, rt_reply_block *b, rt_str bytes)
{
	size_t before = b->text.size;

	while (bytes.size > 0 && b->tail_size > 0) {
		b->tail[b->tail_size++] = (unsigned char)bytes.ptr[0];
		bytes = rt_str_at(bytes.ptr + 1, bytes.size - 1);
		tail_settle(r, b);
	}
	while (bytes.size > 0 && r->status == RT_OK) {
		size_t good = rt_utf8_valid_size(bytes);

		put(r, &b->text, rt_str_at(bytes.ptr, good));
		bytes = rt_str_at(bytes.ptr + good, bytes.size - good);
		if (bytes.size == 0)
			break;
		if (bytes.size < 4 && is_beginning((const unsigned char *)bytes.ptr, bytes.size)) {
			memcpy(b->tail, bytes.ptr, bytes.size);
			b->tail_size = (unsigned)bytes.size;
			break;
		}
		put(r, &b->text, REPLACEMENT);
		bytes = rt_str_at(bytes.ptr + 1, bytes.size - 1);
	}
	if (b->text.size > before)
		report(r, b, before);
}

/* ---- for readers of answers ---- */

void
rt_reply_skip(rt_reply *reply, rt_str end)
{
	rt_buf_add_str(&reply->skip, end);
	rt_reply_note(reply, reply->skip.status);
}

static void
add_part(rt_reply *r, const rt_thinking_part *part)
{
	if (part->opens && r->block_count >= RT_REPLY_TAGGED_MAX)
		r->keeps_tags = true;
	bool is_thinking = part->tag > 0 && !r->keeps_tags;
	rt_reply_block_kind kind = is_thinking ? RT_REPLY_THINKING : RT_REPLY_TEXT;
	rt_reply_block *b = part->opens && is_thinking ? NULL : last_of(r, kind);

	if (b == NULL)
		b = block_add(r, kind);
	if (b == NULL)
		return;
	b->tag = is_thinking ? part->tag : 0;
	b->closed = is_thinking && part->closes;
	add_bytes(r, b, is_thinking ? part->text : part->raw);
}

static void
add_text(rt_reply *r, rt_str bytes)
{
	rt_str text = bytes;
	rt_thinking_part part;
	rt_buf joined;

	if (bytes.size == 0 || r->status != RT_OK)
		return;
	rt_buf_init(&joined, r->alloc, RT_BUF_UNLIMITED);
	if (r->waiting.size > 0) {
		rt_buf_add_str(&joined, rt_buf_str(&r->waiting));
		rt_buf_add_str(&joined, bytes);
		rt_reply_note(r, joined.status);
		text = rt_buf_str(&joined);
		rt_buf_clear(&r->waiting);
	}
	while (r->status == RT_OK && rt_thinking_next(&r->thinking, &text, &part))
		add_part(r, &part);
	rt_buf_add_str(&r->waiting, text);
	rt_reply_note(r, r->waiting.status);
	rt_buf_deinit(&joined);
}

/* Other data than text arrives, or none: held back bytes become text. */
static void
end_text(rt_reply *r)
{
	rt_str waiting = rt_buf_str(&r->waiting);
	rt_thinking_part rest = {.raw = waiting, .text = waiting, .tag = r->thinking.tag};

	if (rest.text.size > 0 && r->status == RT_OK)
		add_part(r, &rest);
	rt_buf_clear(&r->waiting);
	r->thinking = (rt_thinking){.is_streamed = true};
}

/* Bytes without the beginning that must be skipped. */
static rt_str
skip_beginning(rt_reply *r, rt_str bytes)
{
	const rt_buf *skip = &r->skip;

	for (; bytes.size > 0 && r->skipped < skip->size; bytes.ptr++, bytes.size--, r->skipped++)
		if (bytes.ptr[0] != skip->ptr[r->skipped])
			break;
	if (bytes.size == 0 || r->skipped == skip->size)
		return bytes;
	size_t at = r->skipped;

	while (at > 0 && ((unsigned char)skip->ptr[at] & 0xC0) == 0x80)
		at--; /* another character that begins with the same bytes */
	add_text(r, rt_str_at(skip->ptr + at, r->skipped - at));
	r->skipped = skip->size;
	return bytes;
}

void
rt_reply_add_text(rt_reply *reply, rt_str bytes)
{
	if (reply->skipped < reply->skip.size)
		bytes = skip_beginning(reply, bytes);
	add_text(reply, bytes);
}

/* The block that more thinking belongs to: a signed or redacted one is complete. */
static rt_reply_block *
open_thinking(rt_reply *r)
{
	end_text(r);
	rt_reply_block *b = last_of(r, RT_REPLY_THINKING);

	if (b != NULL && (b->signature.size > 0 || b->raw.size > 0 || b->tag > 0))
		b = NULL;
	return b != NULL ? b : block_add(r, RT_REPLY_THINKING);
}

void
rt_reply_add_thinking(rt_reply *reply, rt_str bytes)
{
	if (bytes.size == 0 || reply->status != RT_OK)
		return;
	rt_reply_block *b = open_thinking(reply);

	if (b != NULL)
		add_bytes(reply, b, bytes);
}

void
rt_reply_begin_thinking(rt_reply *reply)
{
	end_text(reply);
	rt_reply_block *b = last_of(reply, RT_REPLY_THINKING);

	if (b == NULL || b->tag > 0 || b->text.size > 0 || b->tail_size > 0 || b->signature.size > 0 ||
	    b->raw.size > 0)
		(void)block_add(reply, RT_REPLY_THINKING);
}

void
rt_reply_add_signature(rt_reply *reply, rt_str signature)
{
	rt_reply_block *b = NULL;

	if (signature.size == 0 || reply->status != RT_OK)
		return;
	for (size_t i = reply->block_count; b == NULL && i-- > 0;)
		if (reply->blocks[i].kind == RT_REPLY_THINKING && reply->blocks[i].tag == 0 &&
		    reply->blocks[i].raw.size == 0)
			b = &reply->blocks[i];
	if (b == NULL) {
		end_text(reply);
		b = block_add(reply, RT_REPLY_THINKING);
	}
	if (b != NULL)
		put_repaired(reply, &b->signature, signature);
}

void
rt_reply_add_redacted(rt_reply *reply, rt_str json)
{
	end_text(reply);
	rt_reply_block *b = block_add(reply, RT_REPLY_THINKING);

	if (b != NULL)
		put_repaired(reply, &b->raw, json);
}

static rt_reply_block *
call_of(const rt_reply *r, uint64_t index)
{
	for (size_t i = r->block_count; i-- > 0;)
		if (r->blocks[i].kind == RT_REPLY_CALL && r->blocks[i].index == index)
			return &r->blocks[i];
	return NULL;
}

bool
rt_reply_has_call(const rt_reply *reply, uint64_t index)
{
	return call_of(reply, index) != NULL;
}

size_t
rt_reply_call_count(const rt_reply *reply)
{
	size_t count = 0;

	for (size_t i = 0; i < reply->block_count; i++)
		count += reply->blocks[i].kind == RT_REPLY_CALL;
	return count;
}

/* Replaces a text, unless the new one is empty. */
static void
replace(rt_reply *r, rt_buf *to, rt_str text)
{
	if (text.size == 0 || r->status != RT_OK)
		return;
	r->size -= to->size;
	rt_buf_clear(to);
	put_repaired(r, to, text);
}

void
rt_reply_add_call(rt_reply *reply, uint64_t index, rt_str id, rt_str name, rt_str arguments)
{
	rt_reply_block *b = call_of(reply, index);
	bool is_new = b == NULL ||
		      (id.size > 0 && b->id.size > 0 && !rt_str_eq(id, rt_buf_str(&b->id)));

	if (is_new) {
		end_text(reply);
		b = block_add(reply, RT_REPLY_CALL);
	}
	if (b == NULL || reply->status != RT_OK)
		return;
	b->index = index;
	replace(reply, &b->id, id);
	replace(reply, &b->name, name);
	if (is_new)
		report(reply, b, 0);
	add_bytes(reply, b, arguments);
}

void
rt_reply_add_call_signature(rt_reply *reply, uint64_t index, rt_str signature)
{
	rt_reply_block *b = call_of(reply, index);

	if (b != NULL)
		put_repaired(reply, &b->signature, signature);
}

void
rt_reply_set_model(rt_reply *reply, rt_str model)
{
	replace(reply, &reply->model, model);
}

static void
set_count(size_t *to, size_t count)
{
	if (count != SIZE_MAX)
		*to = count;
}

void
rt_reply_set_usage(rt_reply *reply, const rt_usage *usage)
{
	set_count(&reply->usage.input, usage->input);
	set_count(&reply->usage.output, usage->output);
	set_count(&reply->usage.cache_read, usage->cache_read);
	set_count(&reply->usage.cache_write, usage->cache_write);
}

void
rt_reply_set_stop(rt_reply *reply, rt_stop stop)
{
	reply->stop = stop;
}

void
rt_reply_set_error(rt_reply *reply, rt_str words)
{
	replace(reply, &reply->error, words);
	reply->stop = RT_STOP_ERROR;
	reply->ended = true;
}

/* ---- finishing ---- */

/* Can this JSON text still be read when it is nested in the entry and the request? */
static bool
fits_inside(rt_reply *r, rt_str json)
{
	rt_scope s;

	if (json.size <= RT_JSON_DEPTH_MAX)
		return true; /* two brackets for each level */
	rt_scope_init(&s, r->alloc);
	rt_buf *deep = rt_scope_buf(&s);

	for (int i = 0; i < LEVELS_AROUND; i++)
		rt_buf_add_byte(deep, '[');
	rt_buf_add_str(deep, json);
	for (int i = 0; i < LEVELS_AROUND; i++)
		rt_buf_add_byte(deep, ']');
	(void)rt_json_parse(&s, rt_scope_str(&s, deep));
	rt_status st = rt_scope_end(&s, NULL);

	rt_reply_note(r, st == RT_NOMEM ? st : RT_OK);
	return st == RT_OK;
}

/* Arguments as one JSON value: the object, or a string of what arrived. */
static void
finish_arguments(rt_reply *r, rt_reply_block *b)
{
	rt_str text = rt_str_trim(rt_buf_str(&b->text));
	yyjson_val *root = NULL;
	rt_buf json;
	rt_scope s;

	rt_scope_init(&s, r->alloc);
	rt_buf_init(&json, r->alloc, RT_BUF_UNLIMITED);
	if (text.size > 0)
		root = rt_json_parse(&s, text);
	if (text.size == 0)
		rt_buf_add_c(&json, "{}");
	else if (yyjson_is_obj(root) && fits_inside(r, text))
		rt_json_add_value(&json, root);
	else
		rt_json_add_string(&json, rt_buf_str(&b->text));
	if (rt_scope_end(&s, NULL) == RT_NOMEM || json.status != RT_OK) {
		rt_reply_note(r, RT_NOMEM);
		rt_buf_deinit(&json);
		return;
	}
	rt_buf_deinit(&b->text);
	b->text = json;
}

/* Is this block part of a text: the text itself, or thinking between tags? */
static bool
is_of_text(const rt_reply *r, size_t at)
{
	return at < r->block_count &&
	       (r->blocks[at].kind == RT_REPLY_TEXT || r->blocks[at].tag > 0);
}

/* Texts, and thinking between them, become one text as it arrived. */
static void
join_text(rt_reply *r, size_t at)
{
	size_t end = at + 1;
	rt_buf raw;

	while (is_of_text(r, end))
		end++;
	if (end == at + 1 && r->blocks[at].tag == 0)
		return;
	rt_buf_init(&raw, r->alloc, RT_BUF_UNLIMITED);
	for (size_t i = at; i < end; i++) {
		const rt_reply_block *b = &r->blocks[i];

		if (b->tag > 0)
			rt_buf_add_str(&raw, rt_thinking_open(b->tag));
		rt_buf_add_str(&raw, rt_buf_str(&b->text));
		if (b->tag > 0 && b->closed)
			rt_buf_add_str(&raw, rt_thinking_close(b->tag));
	}
	rt_reply_note(r, raw.status);
	if (raw.status != RT_OK) {
		rt_buf_deinit(&raw);
		return;
	}
	for (size_t i = at + 1; i < end; i++)
		block_deinit(&r->blocks[i]);
	memmove(&r->blocks[at + 1], &r->blocks[end], (r->block_count - end) * sizeof(*r->blocks));
	r->block_count -= end - at - 1;
	rt_buf_deinit(&r->blocks[at].text);
	r->blocks[at].text = raw;
	r->blocks[at].kind = RT_REPLY_TEXT;
	r->blocks[at].tag = 0;
}

/* Removes thinking from the beginning of a text, and blanks around it; false: there is none. */
static bool
read_thinking(rt_str *text, bool cut_short, rt_str *out_inside)
{
	static const char blanks[] = " \t\r\n";
	rt_thinking t = {.is_open_end = cut_short};
	rt_str rest = *text;
	rt_thinking_part part;

	if (!rt_thinking_next(&t, &rest, &part) ||
	    (part.tag == 0 && (rt_str_trim(part.text).size > 0 ||
			       !rt_thinking_next(&t, &rest, &part))) || part.tag == 0)
		return false;
	while (rest.size > 0 && memchr(blanks, rest.ptr[0], sizeof(blanks) - 1) != NULL)
		rest = rt_str_skip(rest, 1);
	*out_inside = rt_str_trim(part.text);
	*text = rest;
	return true;
}

/* Moves thinking at the beginning of this text into blocks before it; returns how many. */
static size_t
finish_text(rt_reply *r, size_t at)
{
	bool cut_short = r->stop != RT_STOP_END && r->stop != RT_STOP_CALLS;
	rt_str inside, rest = rt_buf_str(&r->blocks[at].text);
	size_t count = 0;
	rt_buf left;

	while (r->status == RT_OK && r->block_count < RT_REPLY_TAGGED_MAX &&
	       read_thinking(&rest, cut_short, &inside)) {
		rt_reply_block *b = block_insert(r, at + count, RT_REPLY_THINKING);

		if (b == NULL)
			break;
		count++;
		rt_buf_add_str(&b->text, inside);
		rt_reply_note(r, b->text.status);
	}
	if (count == 0)
		return 0;
	rt_buf_init(&left, r->alloc, RT_BUF_UNLIMITED);
	rt_buf_add_str(&left, rest);
	if (left.status != RT_OK || r->status != RT_OK) {
		rt_reply_note(r, left.status);
		rt_buf_deinit(&left);
		return count;
	}
	rt_buf_deinit(&r->blocks[at + count].text);
	r->blocks[at + count].text = left;
	return count;
}

static void
drop_empty_blocks(rt_reply *r)
{
	size_t kept = 0;

	for (size_t i = 0; i < r->block_count; i++) {
		rt_reply_block *b = &r->blocks[i];

		if (b->kind != RT_REPLY_CALL && b->text.size == 0 && b->signature.size == 0 &&
		    b->raw.size == 0)
			block_deinit(b);
		else
			r->blocks[kept++] = *b;
	}
	r->block_count = kept;
}

void
rt_reply_finish(rt_reply *reply)
{
	size_t calls = 0;

	if (reply->finished)
		return;
	reply->finished = true;
	end_text(reply);
	for (size_t i = 0; i < reply->block_count; i++) {
		rt_reply_block *b = &reply->blocks[i];

		for (; b->tail_size > 0; tail_drop(b, 1))
			put(reply, &b->text, REPLACEMENT);
	}
	for (size_t i = 0; i < reply->block_count; i++) {
		if (is_of_text(reply, i))
			join_text(reply, i);
		rt_reply_block *b = &reply->blocks[i];

		if (b->kind == RT_REPLY_CALL) {
			calls++;
			if (b->id.size == 0)
				rt_buf_add_f(&b->id, "call_%zu", calls);
			rt_reply_note(reply, b->id.status);
			finish_arguments(reply, b);
		} else if (b->kind == RT_REPLY_TEXT) {
			i += finish_text(reply, i);
		} else if (b->raw.size > 0 && !fits_inside(reply, rt_buf_str(&b->raw))) {
			rt_buf_clear(&b->raw);
		}
	}
	drop_empty_blocks(reply);
}

void
rt_reply_set_text(rt_reply *reply, rt_str text)
{
	bool is_first = true;

	for (size_t i = 0; i < reply->block_count; i++) {
		rt_reply_block *b = &reply->blocks[i];

		if (b->kind != RT_REPLY_TEXT)
			continue;
		if (is_first)
			replace(reply, &b->text, text);
		if (!is_first || text.size == 0)
			rt_buf_clear(&b->text);
		is_first = false;
	}
	drop_empty_blocks(reply);
}
