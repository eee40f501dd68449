/* SPDX-License-Identifier: MIT */
#include "codec/dedup.h"

#include <string.h>

#include "base/encode.h"
#include "base/hash.h"
#include "base/sha256.h"

#define REF_OPEN "{\"$t\":\""
#define REF_CLOSE "\"}"

enum {
	RUN_MIN = 4,       /* items */
	RUN_MAX = 64,
	RUN_ENDS = 8,      /* one in this many items ends a run */
	ITEMS_MANY = 24,   /* an array of fewer is left alone */
	NAME_BYTES = RT_DEDUP_NAME_SIZE / 2,
	REF_SIZE = sizeof(REF_OPEN) - 1 + RT_DEDUP_NAME_SIZE + sizeof(REF_CLOSE) - 1,
	DEPTH_MAX = 1024   /* of arrays, objects and runs within each other */
};

/* ---- the table ---- */

struct rt_dedup_slot {
	unsigned char name[NAME_BYTES];
	bool used;
	rt_str text;
};

void
rt_dedup_init(rt_dedup *texts, const rt_alloc *alloc)
{
	*texts = (rt_dedup){.alloc = alloc};
}

void
rt_dedup_deinit(rt_dedup *texts)
{
	rt_free(texts->alloc, texts->slots);
	rt_dedup_init(texts, texts->alloc);
}

static bool
read_name(rt_str digits, unsigned char name[NAME_BYTES])
{
	if (digits.size != RT_DEDUP_NAME_SIZE)
		return false;
	for (size_t i = 0; i < NAME_BYTES; i++) {
		int byte = rt_hex_number(digits, 2 * i, 2);

		if (byte < 0)
			return false;
		name[i] = (unsigned char)byte;
	}
	return true;
}

/* The slot of a name, or the free one where it belongs. There is a free one. */
static struct rt_dedup_slot *
slot_of(const rt_dedup *texts, const unsigned char name[NAME_BYTES])
{
	uint64_t start; /* a name is a hash already */

	memcpy(&start, name, sizeof(start));
	for (size_t i = start & (texts->room - 1);; i = (i + 1) & (texts->room - 1)) {
		struct rt_dedup_slot *slot = &texts->slots[i];

		if (!slot->used || memcmp(slot->name, name, NAME_BYTES) == 0)
			return slot;
	}
}

static rt_status
make_room(rt_dedup *texts)
{
	rt_dedup larger = {.alloc = texts->alloc, .count = texts->count};

	if (texts->count * 4 < texts->room * 3)
		return RT_OK;
	larger.room = texts->room == 0 ? 64 : texts->room * 2;
	larger.slots = rt_resize(texts->alloc, NULL, larger.room * sizeof(*larger.slots));
	if (larger.slots == NULL)
		return RT_NOMEM;
	memset(larger.slots, 0, larger.room * sizeof(*larger.slots));
	for (size_t i = 0; i < texts->room; i++)
		if (texts->slots[i].used)
			*slot_of(&larger, texts->slots[i].name) = texts->slots[i];
	rt_free(texts->alloc, texts->slots);
	*texts = larger;
	return RT_OK;
}

rt_status
rt_dedup_add(rt_dedup *texts, rt_str name, rt_str text)
{
	struct rt_dedup_slot fresh = {.used = true, .text = text}, *slot;
	rt_status st;

	if (!read_name(name, fresh.name))
		return RT_OK;
	st = make_room(texts);
	if (st != RT_OK)
		return st;
	slot = slot_of(texts, fresh.name);
	texts->count += !slot->used;
	*slot = fresh;
	return RT_OK;
}

rt_status
rt_dedup_add_all(rt_dedup *texts, rt_str object)
{
	rt_status st = RT_OK;
	rt_str name, text;
	size_t at = 0;

	while (st == RT_OK && rt_dedup_next_member(object, &at, &name, &text))
		st = rt_dedup_add(texts, name, text);
	return st;
}

/* False: unknown. */
static bool
find_text(const rt_dedup *texts, rt_str name, rt_str *out_text)
{
	unsigned char bytes[NAME_BYTES];
	const struct rt_dedup_slot *slot;

	if (texts->room == 0 || !read_name(name, bytes))
		return false;
	slot = slot_of(texts, bytes);
	if (slot->used)
		*out_text = slot->text;
	return slot->used;
}

/* ---- walking over JSON ---- */

static bool
is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* The byte after the string that begins at a quote. */
static size_t
skip_string(rt_str json, size_t at)
{
	for (at++; at < json.size && json.ptr[at] != '"'; at++)
		at += json.ptr[at] == '\\';
	return at + 1 < json.size ? at + 1 : json.size;
}

/* The end of the value around at: a comma or closing bracket that does not belong to it. */
static size_t
skip_value(rt_str json, size_t at)
{
	size_t depth = 0;

	while (at < json.size) {
		char c = json.ptr[at];

		if (depth == 0 && (c == ',' || c == ']' || c == '}'))
			return at;
		depth += c == '[' || c == '{';
		depth -= c == ']' || c == '}';
		at = c == '"' ? skip_string(json, at) : at + 1;
	}
	return json.size;
}

bool
rt_dedup_next_member(rt_str object, size_t *at, rt_str *key, rt_str *value)
{
	size_t key_at, key_end, end;

	while (*at < object.size && (is_blank(object.ptr[*at]) || object.ptr[*at] == ',' ||
				     object.ptr[*at] == '{'))
		(*at)++;
	key_at = *at;
	if (key_at >= object.size || object.ptr[key_at] != '"')
		return false;
	key_end = skip_string(object, key_at);
	for (*at = key_end; *at < object.size && is_blank(object.ptr[*at]); (*at)++)
		;
	if (key_end < key_at + 2 || *at >= object.size || object.ptr[*at] != ':')
		return false;
	end = skip_value(object, *at + 1);
	if (end == object.size)
		return false;
	*key = rt_str_at(object.ptr + key_at + 1, key_end - key_at - 2);
	*value = rt_str_trim(rt_str_at(object.ptr + *at + 1, end - *at - 1));
	*at = end;
	return true;
}

/* The name in a reference at the beginning of json; false: there is none. */
static bool
read_ref(rt_str json, rt_str *out_name)
{
	unsigned char name[NAME_BYTES];

	if (json.size < REF_SIZE || !rt_str_starts(json, RT_STR(REF_OPEN)))
		return false;
	*out_name = rt_str_at(json.ptr + sizeof(REF_OPEN) - 1, RT_DEDUP_NAME_SIZE);
	return rt_str_starts(rt_str_skip(json, REF_SIZE - sizeof(REF_CLOSE) + 1),
			     RT_STR(REF_CLOSE)) &&
	       read_name(*out_name, name);
}

/* How many '$' the only key of a reference, or of one that was escaped, has; 0: it is neither. */
static size_t
escapes_of(rt_str json)
{
	size_t count = 0;

	if (!rt_str_starts(json, RT_STR("{\"$")))
		return 0;
	while (2 + count < json.size && json.ptr[2 + count] == '$')
		count++;
	return rt_str_starts(rt_str_skip(json, 2 + count), RT_STR("t\":")) ? count : 0;
}

static void
add_ref(rt_buf *out, rt_str name)
{
	rt_buf_add_c(out, REF_OPEN);
	rt_buf_add_str(out, name);
	rt_buf_add_c(out, REF_CLOSE);
}

static rt_str
name_of(rt_str text, char name[RT_SHA256_HEX_ROOM])
{
	rt_sha256 sha;

	rt_sha256_init(&sha);
	rt_sha256_add(&sha, text.ptr, text.size);
	rt_sha256_end_hex(&sha, name);
	return rt_str_at(name, RT_DEDUP_NAME_SIZE);
}

/* ---- splitting ---- */

typedef struct splitter {
	rt_scope *scope;
	rt_dedup *texts;
	rt_str json;
	size_t at;
	rt_buf *added, *out;
	rt_buf *ends; /* of the items of the arrays around `at`: their ends in out, as size_t */
	rt_buf *run, *run_ends; /* an array as it is grouped */
} splitter;

static void
add_member(rt_buf *out, rt_str name, rt_str text)
{
	if (out->size > 0 && out->ptr[out->size - 1] != '{')
		rt_buf_add_byte(out, ',');
	rt_buf_add_byte(out, '"');
	rt_buf_add_str(out, name);
	rt_buf_add_c(out, "\":");
	rt_buf_add_str(out, text);
}

/* Appends a reference to a text. */
static void
put_text(splitter *p, rt_str text, rt_buf *out)
{
	char digits[RT_SHA256_HEX_ROOM];
	rt_str name = name_of(text, digits), known;

	if (!find_text(p->texts, name, &known)) {
		RT_TRY(p->scope, rt_dedup_add(p->texts, name, rt_str_at(NULL, 0)));
		add_member(p->added, name, text);
	}
	add_ref(out, name);
}

static size_t
end_of(const rt_buf *ends, size_t index)
{
	size_t end;

	memcpy(&end, ends->ptr + index * sizeof(end), sizeof(end));
	return end;
}

static void
add_end(rt_buf *ends, size_t end)
{
	rt_buf_add(ends, &end, sizeof(end));
}

/* One round: runs of the items of out from byte `from` and item `first` on become references.
 * False: there are none. */
static bool
group_once(splitter *p, size_t from, size_t first)
{
	size_t count = p->ends->size / sizeof(size_t) - first, begin = from, item_at = from;
	size_t items = 0;
	bool found = false;

	rt_buf_clear(p->run);
	rt_buf_clear(p->run_ends);
	for (size_t i = 0; i < count; i++) {
		size_t end = end_of(p->ends, first + i);
		const char *item = p->out->ptr + item_at;

		items++;
		if (items >= RUN_MAX ||
		    (items >= RUN_MIN && rt_hash(item, end - item_at, 0) % RUN_ENDS == 0)) {
			rt_buf *text = rt_scope_buf(p->scope);

			rt_buf_add_byte(text, '[');
			rt_buf_add(text, p->out->ptr + begin, end - begin);
			rt_buf_add_byte(text, ']');
			if (rt_ok(p->scope))
				put_text(p, rt_scope_str(p->scope, text), p->run);
			rt_buf_deinit(text);
			add_end(p->run_ends, from + p->run->size);
			rt_buf_add_byte(p->run, ',');
			begin = end + 1;
			items = 0;
			found = true;
		}
		item_at = end + 1; /* after the comma */
	}
	size_t tail = from + p->run->size; /* receives the remaining items */

	for (size_t i = count - items; found && i < count; i++)
		add_end(p->run_ends, tail + end_of(p->ends, first + i) - begin);
	if (items > 0)
		rt_buf_add(p->run, p->out->ptr + begin, end_of(p->ends, first + count - 1) - begin);
	else if (p->run->size > 0)
		p->run->size--; /* the last comma */
	if (!rt_ok(p->scope) || p->run->status != RT_OK || p->run_ends->status != RT_OK)
		return false;
	if (found) {
		p->out->size = from;
		rt_buf_add_str(p->out, rt_buf_str(p->run));
		p->ends->size = first * sizeof(size_t);
		rt_buf_add_str(p->ends, rt_buf_str(p->run_ends));
	}
	return found;
}

/* The array's items are everything between its commas, white space included. */
static void
end_array(splitter *p, size_t from, size_t first)
{
	add_end(p->ends, p->out->size);
	while (rt_ok(p->scope) && p->ends->status == RT_OK && p->out->status == RT_OK &&
	       p->ends->size / sizeof(size_t) - first > ITEMS_MANY && group_once(p, from, first))
		;
	p->ends->size = first * sizeof(size_t);
}

/* Up to the end of the array or object around it, or of the whole value. */
static void
split_items(splitter *p, bool is_array, size_t depth)
{
	size_t from = p->out->size, first = p->ends->size / sizeof(size_t);
	rt_str json = p->json;

	if (depth > DEPTH_MAX) {
		(void)rt_scope_fail(p->scope, RT_LIMIT, "the value is nested too deeply");
		return;
	}
	while (p->at < json.size && rt_ok(p->scope)) {
		char c = json.ptr[p->at];

		if (c == '"') {
			size_t end = skip_string(json, p->at);
			rt_str string = rt_str_at(json.ptr + p->at, end - p->at);
			size_t next = end;

			while (next < json.size && is_blank(json.ptr[next]))
				next++;
			if (string.size < RT_DEDUP_TEXT_MIN + 2 ||
			    (next < json.size && json.ptr[next] == ':'))
				rt_buf_add_str(p->out, string); /* short, or a key */
			else
				put_text(p, string, p->out);
			p->at = end;
			continue;
		}
		if (c == ']' || c == '}')
			break;
		if (c == ',' && is_array)
			add_end(p->ends, p->out->size);
		rt_buf_add_byte(p->out, c);
		if (c == '[' || c == '{') {
			if (escapes_of(rt_str_skip(json, p->at)) > 0) {
				rt_buf_add_c(p->out, "\"$");
				p->at++; /* the quote; the key's own '$' characters follow */
				size_t end = skip_string(json, p->at);
				rt_buf_add(p->out, json.ptr + p->at + 1, end - p->at - 1);
				p->at = end - 1;
			}
			p->at++;
			split_items(p, c == '[', depth + 1);
			if (p->at < json.size)
				rt_buf_add_byte(p->out, json.ptr[p->at]);
		}
		p->at++;
	}
	if (is_array)
		end_array(p, from, first);
}

void
rt_dedup_split(rt_scope *scope, rt_dedup *texts, rt_str json, rt_buf *added, rt_buf *out)
{
	splitter p = {.scope = scope, .texts = texts, .json = json, .added = added, .out = out,
		      .ends = rt_scope_buf(scope), .run = rt_scope_buf(scope),
		      .run_ends = rt_scope_buf(scope)};

	split_items(&p, false, 0);
	RT_TRY(scope, out->status);
	RT_TRY(scope, added->status);
	RT_TRY(scope, p.ends->status);
	if (!rt_ok(scope) && scope->status == RT_NOMEM)
		(void)rt_scope_nomem(scope);
}

/* ---- joining ---- */

/* Appends split text; what references stand for is found in texts, or (rename) is their new name.
 * false: *missing is unknown, or depth is exceeded where its size is 0. */
static bool
copy_with_refs(const rt_dedup *texts, bool rename, rt_str split, rt_buf *out, size_t depth,
	       rt_str *missing)
{
	rt_str name, text;
	size_t done = 0, at = 0;

	*missing = rt_str_at(NULL, 0);
	if (depth > DEPTH_MAX)
		return false;
	while (at < split.size && out->status == RT_OK) {
		rt_str rest = rt_str_skip(split, at);

		if (split.ptr[at] == '"') {
			at = skip_string(split, at);
			continue;
		}
		if (split.ptr[at] != '{' || escapes_of(rest) == 0) {
			at++;
			continue;
		}
		rt_buf_add(out, split.ptr + done, at - done);
		done = at;
		if (!read_ref(rest, &name)) {
			if (!rename && escapes_of(rest) > 1) {
				rt_buf_add_c(out, "{\"");
				done = at + 3; /* without the first '$' */
			}
			at++;
			continue;
		}
		done = at = at + REF_SIZE;
		if (!find_text(texts, name, &text)) {
			if (!rename) {
				*missing = name;
				return false;
			}
			text = name;
		}
		if (rename)
			add_ref(out, text);
		else if (text.size < 2 || text.ptr[0] != '[')
			rt_buf_add_str(out, text);
		else if (!copy_with_refs(texts, false, rt_str_at(text.ptr + 1, text.size - 2), out,
					 depth + 1, missing))
			return false;
	}
	rt_buf_add(out, split.ptr + done, split.size - done);
	return true;
}

rt_status
rt_dedup_join(const rt_dedup *texts, rt_str split, rt_buf *out, rt_error *err)
{
	rt_str missing;

	if (copy_with_refs(texts, false, split, out, 0, &missing))
		return out->status == RT_OK	 ? RT_OK
		       : out->status == RT_NOMEM ? rt_fail(err, RT_NOMEM, "out of memory")
						 : rt_fail(err, out->status, "it is too large");
	if (missing.size > 0)
		return rt_fail(err, RT_NOT_FOUND, "the text %.*s is missing", RT_STR_ARG(missing));
	return rt_fail(err, RT_CORRUPT, "its texts contain each other");
}

/* ---- renaming ---- */

void
rt_dedup_rename_refs(rt_scope *scope, const rt_dedup *renamed, rt_str split, rt_buf *out)
{
	rt_str missing;

	if (rt_ok(scope))
		(void)copy_with_refs(renamed, true, split, out, 0, &missing);
	RT_TRY(scope, out->status);
}

void
rt_dedup_rename_texts(rt_scope *scope, rt_dedup *renamed, rt_str object, rt_buf *out)
{
	rt_str name, text;
	size_t at = 0;

	rt_buf_add_byte(out, '{');
	while (rt_ok(scope) && rt_dedup_next_member(object, &at, &name, &text)) {
		char digits[RT_SHA256_HEX_ROOM];
		rt_buf *fresh = rt_scope_buf(scope);

		rt_dedup_rename_refs(scope, renamed, text, fresh);
		rt_str now = rt_scope_str(scope, fresh), called = name_of(now, digits);
		if (rt_ok(scope) && !rt_str_eq(called, name)) {
			called = rt_scope_copy(scope, called);
			RT_TRY(scope, rt_dedup_add(renamed, rt_scope_copy(scope, name), called));
		}
		add_member(out, called, now);
		rt_buf_deinit(fresh);
	}
	rt_buf_add_byte(out, '}');
	RT_TRY(scope, out->status);
}
