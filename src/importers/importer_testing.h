/* SPDX-License-Identifier: MIT
 *
 * For the tests of importers: checks that apply to all of them, and assertions about an outline. */
#ifndef RT_IMPORTERS_IMPORTER_TESTING_H
#define RT_IMPORTERS_IMPORTER_TESTING_H

#include "base/budget.h"
#include "formats/formats.h"
#include "formats/formats_random.h"
#include "formats/walk_testing.h"
#include "importers/graph.h"

static inline rt_status
importer_count(void *ctx, const rt_outlines *batch, rt_error *err)
{
	size_t *nodes = ctx;

	(void)err;
	for (size_t i = 0; i < batch->count; i++)
		*nodes += batch->items[i].node_count + 1;
	return RT_OK;
}

/* Any amount of memory gives the same result or RT_NOMEM, and nothing leaks. */
static inline void
check_importer_memory(const rt_format *format, rt_str text, size_t wanted, size_t step)
{
	rt_status st = RT_NOMEM;

	for (size_t limit = 0; st != RT_OK; limit += step) {
		walk_source source = {.bytes = text, .step = 1 + limit % 97};
		rt_input in = walk_input(&source);
		rt_budget budget;
		size_t nodes = 0;

		rt_budget_init(&budget, rt_alloc_libc(), limit);
		st = rt_format_stream(format, &budget.alloc, &in, importer_count, &nodes, NULL, NULL);
		assert_int_equal(st, atomic_load(&budget.refused) ? RT_NOMEM : RT_OK);
		assert_int_equal(budget.held, 0);
		if (st == RT_OK)
			assert_int_equal(nodes, wanted);
	}
}

/* Reads damaged bytes: conversations (true), or a clear refusal. */
static inline bool
read_damaged(const rt_format *format, rt_str bytes)
{
	rt_outlines o;
	rt_error err;
	rt_status st = format->read(rt_alloc_libc(), bytes, &o, NULL, &err);

	if (st == RT_OK) {
		rt_outlines_deinit(&o);
		return true;
	}
	assert_true(st == RT_USAGE || st == RT_LIMIT);
	assert_true(err.text[0] != '\0');
	return false;
}

static inline const rt_format *
detect(rt_str bytes)
{
	rt_input in = rt_input_of(&bytes);
	const rt_format *format;
	rt_str head;
	rt_scope s;

	rt_scope_init(&s, rt_alloc_libc());
	format = rt_format_detect(&s, &in, &head);
	assert_int_equal(rt_scope_end(&s, NULL), RT_OK);
	return format;
}

/* Reads bytes, which must be recognised, and checks the rest. The caller frees *out. */
static inline void
import_bytes(const rt_format *format, rt_str bytes, rt_outlines *out, rt_report *report)
{
	rt_error err = {.text = ""};
	size_t nodes = 0;
	rt_outlines again;
	rt_buf written, rewritten;

	rt_report_init(report, rt_alloc_libc());
	if (detect(bytes) != format)
		fail_msg("taken for %s: %.*s", detect(bytes) == NULL ? "nothing" : detect(bytes)->name,
			 bytes.size < 100 ? (int)bytes.size : 100, bytes.ptr);
	if (format->read(rt_alloc_libc(), bytes, out, report, &err) != RT_OK)
		fail_msg("%s: %s", format->name, err.text);
	(void)importer_count(&nodes, out, NULL);
	check_importer_memory(format, bytes, nodes, format->examine != NULL ? 4999 : 256);
	check_round_trip(&rt_format_canonical, out, NULL, &written);
	assert_int_equal(format->read(rt_alloc_libc(), bytes, &again, NULL, NULL), RT_OK);
	check_round_trip(&rt_format_canonical, &again, NULL, &rewritten);
	assert_true(rt_str_eq(rt_buf_str(&written), rt_buf_str(&rewritten)));
	rt_buf_deinit(&written);
	rt_buf_deinit(&rewritten);
	for (size_t i = 0; format->write != NULL && i < out->count; i++) {
		rt_outlines one = {.items = &out->items[i], .count = 1};

		check_round_trip(format, &one, NULL, &written);
		rt_buf_deinit(&written);
	}
	rt_outlines_deinit(&again);
}

static inline void
import_text(const rt_format *format, const char *text, rt_outlines *out, rt_report *report)
{
	import_bytes(format, rt_str_of(text), out, report);
}

static inline void
import_done(rt_outlines *outlines, rt_report *report)
{
	rt_outlines_deinit(outlines);
	rt_report_deinit(report);
}

/* "0 user text | 1 assistant text …" with the parent's index for each node, and its kind instead of a
 * missing role; contents that are not text as JSON. */
static inline void
assert_nodes(const rt_outline *o, const char *wanted)
{
	rt_buf text, stored;

	rt_buf_init(&text, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_buf_init(&stored, rt_alloc_libc(), RT_BUF_UNLIMITED);
	for (size_t i = 0; i < o->node_count; i++) {
		const rt_node *n = &o->nodes[i];
		rt_body body;

		rt_buf_clear(&stored);
		rt_buf_add_byte(&stored, n->body_format);
		rt_buf_add_str(&stored, n->body);
		assert_int_equal(rt_body_read(rt_alloc_libc(), rt_buf_str(&stored), &body, NULL),
				 RT_OK);
		rt_buf_add_f(&text, "%s%d %.*s ", i == 0 ? "" : " | ", (int)n->parent,
			     RT_STR_ARG(n->role.size > 0 ? n->role : n->kind));
		if (body.content_json != NULL)
			rt_json_add_value(&text, body.content_json);
		else
			rt_buf_add_str(&text, body.content);
		rt_body_deinit(&body);
	}
	if (!rt_str_is(rt_buf_str(&text), wanted))
		fail_msg("nodes are\n%.*s\nshould be\n%s", RT_STR_ARG(rt_buf_str(&text)), wanted);
	rt_buf_deinit(&text);
	rt_buf_deinit(&stored);
}

/* A further field of a node, as JSON. */
static inline void
assert_field(const rt_outline *o, size_t node, const char *name, const char *wanted)
{
	const rt_node *n = &o->nodes[node];
	rt_buf text, stored;
	rt_body body;
	yyjson_val *value;

	rt_buf_init(&text, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_buf_init(&stored, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_buf_add_byte(&stored, n->body_format);
	rt_buf_add_str(&stored, n->body);
	assert_int_equal(rt_body_read(rt_alloc_libc(), rt_buf_str(&stored), &body, NULL), RT_OK);
	value = rt_body_field(&body, name);
	if (value == NULL)
		rt_buf_add_c(&text, "none");
	else
		rt_json_add_value(&text, value);
	if (!rt_str_is(rt_buf_str(&text), wanted))
		fail_msg("%s of node %zu is %.*s, should be %s", name, node,
			 RT_STR_ARG(rt_buf_str(&text)), wanted);
	rt_body_deinit(&body);
	rt_buf_deinit(&text);
	rt_buf_deinit(&stored);
}

/* A field of the discussion, as JSON. */
static inline void
assert_disc_field(const rt_outline *o, const char *name, const char *wanted)
{
	rt_str json = RT_STR("none");

	for (size_t i = 0; i < o->field_count; i++)
		if (rt_str_is(o->fields[i].name, name))
			json = o->fields[i].json;
	if (!rt_str_is(json, wanted))
		fail_msg("%s is %.*s, should be %s", name, RT_STR_ARG(json), wanted);
}

#endif
