/* SPDX-License-Identifier: MIT
 *
 * For tests of formats: a seeded source of outlines with every possible content, and the round trip
 * that every format guarantees. */
#ifndef RT_FORMATS_RANDOM_H
#define RT_FORMATS_RANDOM_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/hash.h"
#include "formats/formats_build.h"
#include "formats/formats_writer.h"

static inline uint64_t
random_next(uint64_t *seed)
{
	*seed += 0x9E3779B97F4A7C15u;
	return rt_hash_u64(*seed);
}

static inline size_t
random_below(uint64_t *seed, size_t limit)
{
	return (size_t)(random_next(seed) % limit);
}

/* Text with everything that could break writers: quotes, line ends, NUL, marks of every format. */
static inline rt_str
random_text(rt_build *b, uint64_t *seed, size_t pieces_max)
{
	static const rt_str pieces[] = {
		RT_STR_INIT("word"), RT_STR_INIT(" "), RT_STR_INIT("\n"), RT_STR_INIT("\r\n"), RT_STR_INIT("\r"),
		RT_STR_INIT("\0"), RT_STR_INIT("\""), RT_STR_INIT("\"\"\""), RT_STR_INIT("'''"), RT_STR_INIT("\\"),
		RT_STR_INIT("\\n"), RT_STR_INIT("\t"), RT_STR_INIT("\x7F"), RT_STR_INIT("\x1B"), RT_STR_INIT("\xC3\xA9"),
		RT_STR_INIT("\xF0\x9F\x90\xB1"), RT_STR_INIT("\xE2\x80\xA8"), RT_STR_INIT("## User\n"),
		RT_STR_INIT("\n## AI \xC2\xB7 2026-01-01T00:00:00Z\n"), RT_STR_INIT("**User:**"), RT_STR_INIT("-->"),
		RT_STR_INIT("--!>"), RT_STR_INIT("<!-- retake: {\"bytes\":3} -->\n"), RT_STR_INIT("AI: "), RT_STR_INIT("User:"),
		RT_STR_INIT("@2026-01-01T00:00:00"), RT_STR_INIT("@"), RT_STR_INIT("# "), RT_STR_INIT("```\n"), RT_STR_INIT("~~~"),
		RT_STR_INIT("[a.b]\n"), RT_STR_INIT("null"), RT_STR_INIT("{\"a\":1}"), RT_STR_INIT("a = 1\n"), RT_STR_INIT("<thinking>"),
		RT_STR_INIT("\xEF\xBB\xBF"), RT_STR_INIT("---\n"), RT_STR_INIT("_take_2"), RT_STR_INIT("."), RT_STR_INIT("System"),
	};
	rt_buf buf;
	rt_str out;
	size_t n = random_below(seed, pieces_max + 1);

	rt_buf_init(&buf, b->alloc, RT_BUF_UNLIMITED);
	while (n-- > 0)
		rt_buf_add_str(&buf, pieces[random_below(seed, sizeof(pieces) / sizeof(*pieces))]);
	out = rt_build_copy(b, rt_buf_str(&buf));
	rt_buf_deinit(&buf);
	return out;
}

static inline void
random_json(rt_buf *buf, rt_build *b, uint64_t *seed, int depth)
{
	static const char *const scalars[] = {
		"null", "true", "false", "0", "-0", "1", "-17", "1.10", "1e5", "-2.5E+3",
		"12345678901234567890123", "9223372036854775807", "-9223372036854775808",
		"9223372036854775808", "0.1", "1e999", "1.0", "100000000000000000000.5", "\"\"",
		"\"@x\"", "[]", "{}", "{\"$toml\":\"1979-05-27\"}", "1979",
	};
	size_t n, i;

	switch (random_below(seed, depth > 0 ? 5 : 3)) {
	case 0:
	case 1:
		rt_buf_add_c(buf, scalars[random_below(seed, sizeof(scalars) / sizeof(*scalars))]);
		break;
	case 2: rt_json_add_string(buf, random_text(b, seed, 4)); break;
	case 3:
		n = random_below(seed, 4);
		rt_buf_add_byte(buf, '[');
		for (i = 0; i < n; i++) {
			rt_json_add_comma(buf);
			random_json(buf, b, seed, depth - 1);
		}
		rt_buf_add_byte(buf, ']');
		break;
	default:
		n = random_below(seed, 4);
		rt_buf_add_byte(buf, '{');
		for (i = 0; i < n; i++) {
			char key[32];

			rt_json_add_comma(buf);
			snprintf(key, sizeof(key), "%s%zu", random_below(seed, 2) ? "k" : "k \".", i);
			rt_json_add_key(buf, key);
			random_json(buf, b, seed, depth - 1);
		}
		rt_buf_add_byte(buf, '}');
		break;
	}
}

static inline size_t
random_node(rt_build *b, uint64_t *seed, rt_str id, int64_t parent)
{
	static const char *const roles[] = {"User", "AI", "System", "Vendor API", "user", "assistant",
					    "tool", "Odd: role", "", "Ro\nle"};
	static const char *const kinds[] = {"", "", "", "", "compaction", "prompt_notice", "custom",
					    "custom_message", "label", "whatever"};
	static const char *const names[] = {"usage", "thinking_segments", "tool_calls", "x y", "json:a",
					    "zz", "retake", "name", "$toml"};
	rt_node node;
	rt_buf array;
	bool is_json = random_below(seed, 6) == 0;
	size_t fields = random_below(seed, 3) == 0 ? 1 + random_below(seed, 3) : 0, i, at;

	memset(&node, 0, sizeof(node));
	rt_buf_init(&array, b->alloc, RT_BUF_UNLIMITED);
	node.id = id;
	node.parent = parent;
	node.role = rt_str_of(roles[random_below(seed, sizeof(roles) / sizeof(*roles))]);
	node.kind = rt_str_of(kinds[random_below(seed, sizeof(kinds) / sizeof(*kinds))]);
	/* a file for people has at least one visible entry */
	if (parent < 0 && (rt_str_is(node.kind, "custom") || rt_str_is(node.kind, "label")))
		node.kind = RT_STR("");
	node.muted = random_below(seed, 6) == 0;
	node.collapsed = random_below(seed, 6) == 0;
	node.read_mode = random_below(seed, 6) == 0;
	node.edited = random_below(seed, 6) == 0;
	node.has_ts = random_below(seed, 4) != 0;
	if (node.has_ts) {
		node.ts.us = (int64_t)(random_next(seed) % 4000000000000000);
		if (random_below(seed, 2))
			node.ts.us -= node.ts.us % 1000000;
		else if (random_below(seed, 3) == 0)
			node.ts.ns = (uint16_t)random_below(seed, 1000);
	}
	if (random_below(seed, 40) == 0)
		node.body_format = RT_BODY_PURGED;
	if (is_json) {
		size_t n = random_below(seed, 4);

		rt_buf_add_byte(&array, '[');
		for (i = 0; i < n; i++) {
			rt_json_add_comma(&array);
			rt_buf_add_c(&array, "{\"type\":\"text\",\"text\":");
			rt_json_add_string(&array, random_text(b, seed, 4));
			rt_buf_add_byte(&array, '}');
		}
		rt_buf_add_byte(&array, ']');
		rt_build_body_open(b, rt_buf_str(&array), true);
	} else {
		rt_build_body_open(b, random_text(b, seed, 12), false);
	}
	at = random_below(seed, 9);
	for (i = 0; i < fields; i++) { /* different names */
		const char *name = names[(at + i) % (sizeof(names) / sizeof(*names))];

		random_json(rt_build_body_field(b, rt_str_of(name)), b, seed, 3);
	}
	if (random_below(seed, 40) == 0) { /* purged, in the form of the engine */
		rt_build_body_open(b, rt_str_at(NULL, 0), false);
		rt_buf_add_c(rt_build_body_field(b, RT_STR("purged")), "true");
	}
	i = rt_build_node(b, &node);
	rt_buf_deinit(&array);
	return i;
}

/* A discussion with takes that share beginnings and have their own edits. */
static inline void
random_discussion(rt_build *b, uint64_t *seed, size_t number, size_t entries_max)
{
	enum { TAKES_MAX = 4 };
	int64_t path[TAKES_MAX][64];
	size_t counts[TAKES_MAX], takes = 1 + random_below(seed, TAKES_MAX), t, i, next_id = 0;
	rt_outline *o = rt_build_discussion(b);
	char text[64];
	rt_buf json;

	assert_true(entries_max < 60);
	assert_non_null(o);
	snprintf(text, sizeof(text), "disc %zu%s", number, random_below(seed, 3) ? "" : ".\"x\"\n");
	o->name = rt_build_copy(b, rt_str_of(text));
	for (t = 0; t < takes; t++) {
		size_t shared = 0, total;

		if (t > 0) {
			size_t from = random_below(seed, t);

			shared = random_below(seed, counts[from] + 1);
			memcpy(path[t], path[from], sizeof(path[t]));
			if (shared > 0 && random_below(seed, 3) == 0) {
				/* another revision of a shared entry */
				size_t at = random_below(seed, shared);
				rt_str id = rt_build_nodes(b)[path[t][at]].id;
				int64_t parent = at == 0 ? -1 : path[t][at - 1];

				path[t][at] = (int64_t)random_node(b, seed, id, parent);
			}
		}
		total = shared + random_below(seed, entries_max);
		if (total > 60)
			total = 60;
		for (i = shared; i < total; i++) {
			snprintf(text, sizeof(text), "e%zu.%zu", number, next_id++);
			path[t][i] = (int64_t)random_node(b, seed, rt_build_copy(b, rt_str_of(text)),
							  i == 0 ? -1 : path[t][i - 1]);
			if (random_below(seed, 8) == 0)
				rt_build_nodes(b)[path[t][i]].label = random_text(b, seed, 2);
		}
		counts[t] = total;
	}
	/* the label belongs to the entry: the same on all revisions */
	for (i = 0; i < rt_build_node_count(b); i++)
		for (t = 0; t < i; t++)
			if (rt_str_eq(rt_build_nodes(b)[i].id, rt_build_nodes(b)[t].id))
				rt_build_nodes(b)[i].label = rt_build_nodes(b)[t].label;
	for (t = 0; t < takes; t++) {
		if (t == 0)
			snprintf(text, sizeof(text), "disc %zu", number);
		else
			snprintf(text, sizeof(text), "disc %zu_take_%zu", number, t);
		rt_build_take(b, t == 0 ? o->name : rt_build_copy(b, rt_str_of(text)),
			      random_below(seed, 3) ? rt_str_at(NULL, 0) : RT_STR("0123abc"), path[t],
			      counts[t]);
	}
	o->active_take = random_below(seed, takes);
	o->has_head = true;
	i = random_below(seed, counts[o->active_take] + 1);
	if (random_below(seed, 2))
		i = counts[o->active_take];
	o->head = i == 0 ? -1 : path[o->active_take][i - 1];
	rt_buf_init(&json, b->alloc, RT_BUF_UNLIMITED);
	snprintf(text, sizeof(text), "D%zu", number);
	rt_build_field_string(b, RT_STR("id"), rt_str_of(text));
	if (random_below(seed, 2)) {
		rt_build_field_string(b, RT_STR("prompt"), random_text(b, seed, 5));
		if (random_below(seed, 2))
			rt_build_field(b, RT_STR("prompt_edited"), RT_STR("true"));
	}
	if (random_below(seed, 2)) {
		rt_build_field(b, RT_STR("setting.temperature"), RT_STR("0.5"));
		rt_build_field(b, RT_STR("setting.max_tokens"), RT_STR("100"));
		random_json(&json, b, seed, 3);
		rt_build_field(b, RT_STR("odd field"), rt_buf_str(&json));
		rt_buf_clear(&json);
	}
	if (random_below(seed, 2))
		rt_build_field(b, RT_STR("files"), RT_STR("[{\"path\":\"a.c\"},\"b\"]"));
	if (random_below(seed, 2))
		rt_build_field(b, RT_STR("screenshots"), RT_STR("[\"s.png\"]"));
	if (random_below(seed, 3) == 0)
		rt_build_field(b, RT_STR("git_commit"), RT_STR("\"0123abc\""));
	rt_buf_deinit(&json);
}

static inline void
random_project(const rt_alloc *alloc, uint64_t seed, size_t discussions, size_t entries_max,
	       rt_outlines *out)
{
	rt_build b;
	rt_buf json;
	size_t i;

	rt_build_init(&b, alloc, NULL);
	rt_buf_init(&json, alloc, RT_BUF_UNLIMITED);
	for (i = 0; i < discussions; i++)
		random_discussion(&b, &seed, i, entries_max);
	rt_build_field_in(&b, true, "", RT_STR("roles"), RT_STR("[\"User\",\"AI\",\"Odd: role\"]"));
	rt_build_field_in(&b, true, "", RT_STR("setting.model"), RT_STR("\"m\""));
	if (random_below(&seed, 2)) {
		random_json(&json, &b, &seed, 4);
		rt_build_field_in(&b, true, "", RT_STR("extra.note"), rt_buf_str(&json));
	}
	assert_int_equal(rt_build_finish(&b, out, NULL), RT_OK);
	rt_buf_deinit(&json);
	rt_build_deinit(&b);
	if (discussions > 0) {
		out->has_active = true;
		out->active = random_below(&seed, discussions);
	}
}

/* Write in; read that; write that again: the same bytes, unless the one conversation is empty and was
 * left out. The text is left in *out_text. */
static inline void
check_round_trip(const rt_format *format, const rt_outlines *in, const rt_export_options *options,
		 rt_buf *out_text)
{
	const rt_alloc *alloc = rt_alloc_libc();
	rt_outlines again;
	rt_buf second;
	rt_error err = {.text = ""};
	rt_status st;

	rt_buf_init(out_text, alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&second, alloc, RT_BUF_UNLIMITED);
	st = format->write(alloc, in, options, out_text, &err);
	if (st != RT_OK)
		fail_msg("%s: write: %s", format->name, err.text);
	st = format->read(alloc, rt_buf_str(out_text), &again, NULL, &err);
	if (st != RT_OK)
		fail_msg("%s: read: %s\n%.*s", format->name, err.text,
			 RT_STR_ARG(rt_buf_str(out_text)));
	st = format->write(alloc, &again, options, &second, &err);
	if (st != RT_OK)
		fail_msg("%s: write again: %s", format->name, err.text);
	if (again.count > 0 && !rt_str_eq(rt_buf_str(out_text), rt_buf_str(&second))) {
		size_t at = 0, from;

		while (at < out_text->size && at < second.size && out_text->ptr[at] == second.ptr[at])
			at++;
		from = at < 200 ? 0 : at - 200;
		fail_msg("%s: differs at byte %zu\n--- first\n%.400s\n--- second\n%.400s",
			 format->name, at, out_text->ptr + from, second.ptr + from);
	}
	rt_outlines_deinit(&again);
	rt_buf_deinit(&second);
}

#endif
