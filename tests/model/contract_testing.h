/* SPDX-License-Identifier: MIT
 *
 * Fixture of the contract tests: a store in memory, requests and expectations as text, written
 * with ' for ", since no text here contains an apostrophe. */
#ifndef RT_MODEL_CONTRACT_TESTING_H
#define RT_MODEL_CONTRACT_TESTING_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "codec/json.h"
#include "log/engine.h"
#include "formats/formats.h"
#include "ops/export.h"
#include "store/store_memory.h"
#include "view/view.h"

typedef struct fixture {
	rt_env env;
	uint64_t chance;
	rt_store *store;
	rt_engine *engine;
	rt_result result; /* of the last request */
	rt_buf out;       /* of the last view */
	char line[4096];
} fixture;

static inline int64_t
now_us(void *ctx)
{
	(void)ctx;
	return 1770091506000000; /* 2026-02-03T04:05:06Z */
}

static inline void
random_bytes(void *ctx, void *to, size_t size)
{
	fixture *f = ctx;
	size_t i;

	for (i = 0; i < size; i++) {
		f->chance = f->chance * 6364136223846793005u + 1442695040888963407u;
		((unsigned char *)to)[i] = (unsigned char)(f->chance >> 33);
	}
}

static inline int
setup(void **state)
{
	fixture *f = calloc(1, sizeof(*f));
	rt_engine_options o = {.alloc = rt_alloc_libc(), .by = RT_STR("test"), .create = true};
	rt_error err;

	if (f == NULL)
		return -1;
	f->env = (rt_env){now_us, random_bytes, f};
	f->chance = 7;
	o.env = &f->env;
	rt_buf_init(&f->out, rt_alloc_libc(), RT_BUF_UNLIMITED);
	*state = f;
	if (rt_store_memory_open(rt_alloc_libc(), &f->env, &f->store, &err) != RT_OK ||
	    rt_engine_open(&o, f->store, &f->engine, &err) != RT_OK) {
		print_error("%s\n", err.text);
		return -1;
	}
	return 0;
}

static inline int
teardown(void **state)
{
	fixture *f = *state;

	rt_result_deinit(&f->result);
	rt_engine_close(f->engine);
	f->store->ops->close(f->store);
	rt_buf_deinit(&f->out);
	free(f);
	return 0;
}

/* Replaces ' by ". */
static inline rt_str
unquoted(fixture *f, const char *text)
{
	size_t i;

	assert_true(strlen(text) < sizeof(f->line));
	for (i = 0; text[i] != '\0'; i++)
		f->line[i] = text[i] == '\'' ? '"' : text[i];
	f->line[i] = '\0';
	return rt_str_at(f->line, i);
}

static inline rt_status
run_raw(fixture *f, rt_str line)
{
	rt_status st;

	rt_result_deinit(&f->result);
	memset(&f->result, 0, sizeof(f->result));
	st = rt_engine_apply_text(f->engine, line, RT_STR(""), RT_STR(""), &f->result);
	assert_int_equal(st, f->result.status);
	return st;
}

static inline void
check_status(fixture *f, const char *text, rt_status expected, const char *file, int line)
{
	rt_status st = run_raw(f, unquoted(f, text));

	if (st == expected)
		return;
	print_error("%s: %s (%s), not %s\n", text, rt_status_word(st),
		    st == RT_OK ? "" : f->result.error.text, rt_status_word(expected));
	_fail(file, line);
}

/* A request with this result. */
#define GIVES(word, text) check_status(f, text, RT_##word, __FILE__, __LINE__)
#define DONE(text)                                                                                 \
	do {                                                                                       \
		GIVES(OK, text);                                                                   \
		if (f->result.unchanged)                                                           \
			print_error("%s: unchanged\n", text);                                      \
		assert_false(f->result.unchanged);                                                 \
	} while (0)
#define UNCHANGED(text)                                                                            \
	do {                                                                                       \
		GIVES(OK, text);                                                                   \
		if (!f->result.unchanged)                                                          \
			print_error("%s: changed\n", text);                                        \
		assert_true(f->result.unchanged);                                                  \
	} while (0)

/* ---- views ---- */

typedef enum view { SHOW, TREE, TAKES, DISCUSSIONS, HISTORY } view;

static inline rt_json_doc *
look_at(fixture *f, view what)
{
	const rt_project *value = rt_engine_value(f->engine);
	rt_place here = {0, 0};
	rt_window all = {0};
	rt_json_doc *doc = NULL;
	rt_error err = {0};
	rt_status st = RT_OK;

	rt_buf_clear(&f->out);
	switch (what) {
	case SHOW: st = rt_view_show(f->engine, value, here, &all, &f->out, &err); break;
	case TREE: st = rt_view_tree(f->engine, value, 0, &f->out, &err); break;
	case TAKES: st = rt_view_takes(f->engine, value, 0, false, &f->out, &err); break;
	case DISCUSSIONS: st = rt_view_discussions(f->engine, value, false, (rt_str){NULL, 0},
						    &f->out, &err); break;
	case HISTORY: st = rt_view_history(f->engine, value, 0, 0, 0, &f->out, &err); break;
	}
	if (st != RT_OK)
		print_error("%s\n", err.text);
	assert_int_equal(st, RT_OK);
	rt_object_unref(value);
	assert_int_equal(rt_json_read(rt_alloc_libc(), rt_buf_str(&f->out), &doc, &err), RT_OK);
	return doc;
}

/* The items' members of that name, separated by spaces; - for false, null and absent. */
static inline void
join(yyjson_val *items, const char *member, rt_buf *out)
{
	size_t i, max;
	yyjson_val *item;

	rt_buf_clear(out);
	yyjson_arr_foreach(items, i, max, item)
	{
		yyjson_val *value = rt_json_get(item, member);

		if (i > 0)
			rt_buf_add_byte(out, ' ');
		if (yyjson_is_str(value))
			rt_buf_add_str(out, rt_json_str(value));
		else if (value == NULL || yyjson_is_null(value) || yyjson_is_false(value))
			rt_buf_add_byte(out, '-');
		else
			rt_json_add_value(out, value);
	}
	rt_buf_add_byte(out, '\0');
}

static inline void
check_joined(fixture *f, view what, const char *member, const char *expected, const char *file,
	     int line)
{
	rt_json_doc *doc = look_at(f, what);
	rt_buf out;
	bool same;

	rt_buf_init(&out, rt_alloc_libc(), RT_BUF_UNLIMITED);
	join(what == SHOW ? rt_json_get(rt_json_root(doc), "entries") : rt_json_root(doc), member, &out);
	same = strcmp(out.ptr, expected) == 0;
	if (!same)
		print_error("%s: \"%s\", not \"%s\"\n", member, out.ptr, expected);
	rt_json_free(doc);
	rt_buf_deinit(&out);
	if (!same)
		_fail(file, line);
}

#define IDS(expected) check_joined(f, SHOW, "id", expected, __FILE__, __LINE__)
#define CONTENTS(expected) check_joined(f, SHOW, "content", expected, __FILE__, __LINE__)
#define ROLES(expected) check_joined(f, SHOW, "role", expected, __FILE__, __LINE__)
#define TAKES_ARE(expected) check_joined(f, TAKES, "name", expected, __FILE__, __LINE__)
#define DISCUSSIONS_ARE(expected) check_joined(f, DISCUSSIONS, "name", expected, __FILE__, __LINE__)
#define COLUMN(what, member, expected) check_joined(f, what, member, expected, __FILE__, __LINE__)

/* A member of show, or of its entry `at` (>= 0), as JSON text; "-" if absent. */
static inline void
check_member(fixture *f, int at, const char *member, const char *expected, const char *file, int line)
{
	rt_json_doc *doc = look_at(f, SHOW);
	yyjson_val *value = rt_json_root(doc);
	rt_buf out;
	bool same;

	rt_buf_init(&out, rt_alloc_libc(), RT_BUF_UNLIMITED);
	if (at >= 0)
		value = yyjson_arr_get(rt_json_get(value, "entries"), (size_t)at);
	value = rt_json_get(value, member);
	if (value == NULL)
		rt_buf_add_c(&out, "-");
	else
		rt_json_add_value(&out, value);
	same = rt_str_eq(rt_buf_str(&out), unquoted(f, expected));
	if (!same)
		print_error("%s: %s, not %s\n", member, out.ptr, f->line);
	rt_buf_deinit(&out);
	rt_json_free(doc);
	if (!same)
		_fail(file, line);
}

#define SHOWS(member, expected) check_member(f, -1, member, expected, __FILE__, __LINE__)
#define ENTRY_HAS(at, member, expected) check_member(f, at, member, expected, __FILE__, __LINE__)

enum { WHOLE = -1 };

/* The canonical export; the caller frees it. disc: WHOLE, 0 for the project without the contents
 * of discussions, or the number of a discussion (its name is the project's). */
static inline char *
canonical_of(fixture *f, const rt_project *value, int disc)
{
	const rt_format *format = rt_format_find(RT_STR("canonical"));
	rt_export_options how = {.whole = disc <= 0, .lossless = true};
	rt_outlines outlines;
	rt_error err = {0};
	rt_status st;
	char *text;
	size_t i;

	assert_non_null(format);
	rt_outlines_init(&outlines);
	rt_buf_clear(&f->out);
	st = rt_engine_export(f->engine, value, (rt_place){disc > 0 ? (uint32_t)disc : 0, 0},
			      disc <= 0, &outlines, &err);
	for (i = 0; st == RT_OK && disc != WHOLE && i < outlines.count; i++) {
		if (disc == 0)
			outlines.items[i] = (rt_outline){.name = outlines.items[i].name};
		else
			outlines.items[i].name = RT_STR("");
	}
	outlines.has_active = outlines.has_active && disc <= 0;
	if (st == RT_OK)
		st = format->write(rt_alloc_libc(), &outlines, &how, &f->out, &err);
	if (st != RT_OK)
		print_error("%s\n", err.text);
	assert_int_equal(st, RT_OK);
	rt_outlines_deinit(&outlines);
	text = malloc(f->out.size + 1);
	assert_non_null(text);
	memcpy(text, f->out.ptr, f->out.size);
	text[f->out.size] = '\0';
	return text;
}

static inline char *
canonical(fixture *f)
{
	const rt_project *value = rt_engine_value(f->engine);
	char *text = canonical_of(f, value, WHOLE);

	rt_object_unref(value);
	return text;
}

static inline void
check_canonical(fixture *f, const char *part, bool wanted, const char *file, int line)
{
	char *text = canonical(f);
	bool found = strstr(text, unquoted(f, part).ptr) != NULL;

	if (found != wanted)
		print_error("%s is %s in %s\n", f->line, found ? "" : "not", text);
	free(text);
	if (found != wanted)
		_fail(file, line);
}

#define EXPORT_HAS(part) check_canonical(f, part, true, __FILE__, __LINE__)
#define EXPORT_LACKS(part) check_canonical(f, part, false, __FILE__, __LINE__)

/* Three entries a, b, c: User, AI, User. */
static inline void
three(fixture *f)
{
	DONE("{'op':'entry.append','id':'aa','role':'User','content':'one','ts':'2026-01-01'}");
	DONE("{'op':'entry.append','id':'bb','role':'AI','content':'two'}");
	DONE("{'op':'entry.append','id':'cc','role':'User','content':'three'}");
}

static inline rt_status
run_atomic(fixture *f, const char *const *texts, size_t count, rt_result *results)
{
	rt_json_doc *docs[80];
	yyjson_val *requests[80] = {NULL};
	rt_status st;
	size_t i;

	for (i = 0; i < count; i++) {
		assert_int_equal(rt_json_read(rt_alloc_libc(), unquoted(f, texts[i]), &docs[i], NULL),
				 RT_OK);
		requests[i] = rt_json_root(docs[i]);
	}
	memset(results, 0, count * sizeof(*results));
	st = rt_engine_apply_json(f->engine, requests, count, true, RT_STR(""), RT_STR(""), results);
	for (i = 0; i < count; i++)
		rt_json_free(docs[i]);
	return st;
}

/* Applies all texts as one step. */
static inline void
one_step(fixture *f, const char *const *texts, size_t count)
{
	rt_result results[80];
	rt_status st = run_atomic(f, texts, count, results);
	size_t i;

	if (st != RT_OK)
		print_error("%s\n", results[0].error.text);
	for (i = 0; i < count; i++)
		rt_result_deinit(&results[i]);
	assert_int_equal(st, RT_OK);
}

#define ROW(name)                                                                                  \
	static void name(void **state);                                                            \
	static void name(void **state)
#define F fixture *f = *state

#endif
