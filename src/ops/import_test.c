/* SPDX-License-Identifier: MIT
 *
 * Imports in batches: intermediate states that others see, undo, cancel, the state after a crash,
 * and how much is written and kept in memory. */
#include <stdio.h>

#include "base/budget.h"
#include "base/sample_testing.h"
#include "ops/import_testing.h"
#include "store/store_memory.h"
#include "view/view.h"

static rt_import *
begin(bare *b, size_t discussions)
{
	rt_import_options options = {.discussions = discussions};
	rt_import *import = NULL;
	rt_error err = {0};

	if (rt_import_begin(b->engine, &options, &import, &err) != RT_OK)
		fail_msg("%s", err.text);
	return import;
}

static void
add(rt_import *import, const rt_outlines *batch)
{
	rt_error err = {0};

	if (rt_import_add(import, batch, &err) != RT_OK)
		fail_msg("%s", err.text);
}

static rt_import_result
end(rt_import *import)
{
	rt_import_result result = {0};
	rt_error err = {0};

	if (rt_import_end(import, &result, &err) != RT_OK)
		fail_msg("%s", err.text);
	return result;
}

/* Present discussions; *entries: in their active takes. */
static size_t
present(bare *b, size_t *entries)
{
	const rt_project *value = rt_engine_value(b->engine);
	size_t i, count = 0;
	rt_error err;

	*entries = 0;
	for (i = 1; i <= rt_project_disc_count(value); i++) {
		const rt_disc *disc;

		if (!rt_project_cell(value, (uint32_t)i)->present)
			continue;
		count++;
		assert_int_equal(rt_project_disc(value, (uint32_t)i, &disc, &err), RT_OK);
		*entries += rt_seq_count(rt_disc_active(disc)->slots);
	}
	rt_object_unref(value);
	return count;
}

static void
assert_present(bare *b, size_t count, size_t entries)
{
	size_t found;

	assert_int_equal(present(b, &found), count);
	assert_int_equal(found, entries);
}

static uint64_t
steps_of(bare *b, const char *json)
{
	rt_result result;
	uint64_t steps;

	if (rt_engine_apply_text(b->engine, rt_str_of(json), RT_STR(""), RT_STR(""), &result) != RT_OK)
		fail_msg("%s: %s", json, result.error.text);
	steps = result.steps;
	rt_result_deinit(&result);
	return steps;
}

/* ---- one step ---- */

static void
a_small_import_is_one_row(void **state)
{
	bare *b = *state;
	rt_import_result result;
	file f;

	file_init(&f);
	assert_int_equal(rt_engine_import(b->engine, small(&f, 0, 20), RT_STR("x"), false,
					  &result, NULL), RT_OK);
	assert_int_equal(result.seq, 1);
	assert_int_equal(result.discussions, 20);
	assert_string_equal(result.discussion, "x_20");
	assert_present(b, 20, 20);
	assert_int_equal(steps_of(b, "{\"op\":\"undo\"}"), 1);
	assert_present(b, 1, 0);
	assert_sound(b);
	file_deinit(&f);
}

/* The number of lines in the history of d1, and the rows of the first. */
static size_t
history_lines(bare *b, uint64_t *out_rows)
{
	const rt_project *value = rt_engine_value(b->engine);
	rt_json_doc *doc = NULL;
	yyjson_val *list;
	rt_buf buf;
	size_t count;

	rt_buf_init(&buf, rt_alloc_libc(), RT_BUF_UNLIMITED);
	assert_int_equal(rt_view_history(b->engine, value, 1, 0, 0, &buf, NULL), RT_OK);
	assert_int_equal(rt_json_read(rt_alloc_libc(), rt_buf_str(&buf), &doc, NULL), RT_OK);
	list = rt_json_root(doc);
	count = yyjson_arr_size(list);
	*out_rows = 0;
	(void)rt_json_u64(rt_json_get(yyjson_arr_get_first(list), "rows"), out_rows);
	rt_json_free(doc);
	rt_buf_deinit(&buf);
	rt_object_unref(value);
	return count;
}

static void
a_large_import_is_one_step(void **state)
{
	bare *b = *state;
	rt_import *import;
	rt_import_result result;
	uint64_t rows;
	size_t i;
	file f;

	file_init(&f);
	bare_apply(b, "{\"op\":\"entry.append\",\"role\":\"user\",\"content\":\"before\"}");
	import = begin(b, 3000);
	for (i = 0; i < 3000; i += 500)
		add(import, small(&f, i, 500));
	result = end(import);
	assert_int_equal(result.discussions, 3000);
	assert_true(result.seq > 4);
	assert_present(b, 3001, 3001);
	assert_int_equal(history_lines(b, &rows), 2);
	assert_int_equal(rows, result.seq - 1);
	assert_int_equal(steps_of(b, "{\"op\":\"undo\"}"), 1);
	assert_present(b, 1, 1);
	assert_sound(b);
	assert_int_equal(steps_of(b, "{\"op\":\"redo\"}"), 1);
	assert_present(b, 3001, 3001);
	assert_sound(b);
	/* two steps, one of which is the import */
	assert_int_equal(steps_of(b, "{\"op\":\"undo\",\"count\":2}"), 2);
	assert_present(b, 1, 0);
	assert_int_equal(steps_of(b, "{\"op\":\"redo\",\"count\":2}"), 2);
	assert_present(b, 3001, 3001);
	bare_apply(b, "{\"op\":\"setting.set\",\"key\":\"undo_capacity\",\"value\":2}");
	assert_int_equal(steps_of(b, "{\"op\":\"undo\",\"count\":5}"), 2);
	assert_present(b, 1, 1);
	assert_sound(b);
	file_deinit(&f);
}

static void
what_was_known_is_taken_back_too(void **state)
{
	bare *b = *state;
	rt_import *import;
	rt_import_result result;
	file f;

	file_init(&f);
	import = begin(b, 1);
	add(import, piece(&f, "s", 0, 10, false));
	result = end(import);
	assert_int_equal(result.entries, 10);
	assert_present(b, 1, 10);
	import = begin(b, 1); /* the same, with more than a row of it */
	add(import, piece(&f, "s", 0, 3900, false));
	result = end(import);
	assert_int_equal(result.entries, 3890);
	assert_int_equal(result.known, 10);
	assert_true(result.seq > 3);
	assert_present(b, 1, 3900);
	assert_int_equal(steps_of(b, "{\"op\":\"undo\"}"), 1);
	assert_present(b, 1, 10);
	assert_sound(b);
	assert_int_equal(steps_of(b, "{\"op\":\"redo\"}"), 1);
	assert_present(b, 1, 3900);
	assert_sound(b);
	file_deinit(&f);
}

/* If the project has a newer step, undo in the discussion reverts everything that the import added
 * there. */
static void
what_was_known_is_taken_back_alone(void **state)
{
	bare *b = *state;
	rt_import *import;
	file f;

	file_init(&f);
	import = begin(b, 1);
	add(import, piece(&f, "s", 0, 10, false));
	(void)end(import);
	import = begin(b, 1);
	add(import, piece(&f, "s", 0, 3900, false));
	assert_true(end(import).seq > 3);
	bare_apply(b, "{\"op\":\"setting.set\",\"key\":\"model\",\"value\":\"m\"}");
	assert_int_equal(steps_of(b, "{\"op\":\"undo\",\"scope\":\"discussion\"}"), 1);
	assert_present(b, 1, 10);
	assert_sound(b);
	assert_int_equal(steps_of(b, "{\"op\":\"redo\",\"scope\":\"discussion\"}"), 1);
	assert_present(b, 1, 3900);
	assert_sound(b);
	file_deinit(&f);
}

/* ---- others ---- */

/* Rows of two imports alternate: undo reverts both as one, and redo restores both as one. */
static void
two_at_once_are_one_step(void **state)
{
	bare *b = *state;
	rt_import *one, *other;
	size_t i;
	file f;

	file_init(&f);
	bare_apply(b, "{\"op\":\"entry.append\",\"role\":\"user\",\"content\":\"before\"}");
	one = begin(b, 0);
	other = begin(b, 0);
	for (i = 0; i < 4; i++) {
		add(one, small(&f, i * 700, 700));
		add(other, small(&f, 10000 + i * 700, 700));
	}
	(void)end(one);
	(void)end(other);
	assert_present(b, 5601, 5601);
	assert_int_equal(steps_of(b, "{\"op\":\"undo\"}"), 1);
	assert_present(b, 1, 1);
	assert_sound(b);
	assert_int_equal(steps_of(b, "{\"op\":\"redo\"}"), 1);
	assert_present(b, 5601, 5601);
	assert_sound(b);
	file_deinit(&f);
}

/* Cancelling one of them does not change the other. */
static void
one_of_two_is_cancelled(void **state)
{
	bare *b = *state;
	rt_import *one, *other;
	rt_error err = {0};
	size_t i;
	file f;

	file_init(&f);
	bare_apply(b, "{\"op\":\"entry.append\",\"role\":\"user\",\"content\":\"before\"}");
	one = begin(b, 0);
	other = begin(b, 0);
	for (i = 0; i < 3; i++) {
		add(other, small(&f, 10000 + i * 700, 700));
		add(one, small(&f, i * 700, 700));
	}
	rt_import_cancel(one, &err);
	assert_present(b, 2101, 2101);
	add(other, small(&f, 20000, 700));
	(void)end(other);
	assert_present(b, 2801, 2801);
	assert_sound(b);
	file_deinit(&f);
}

static void
others_write_between_batches(void **state)
{
	bare *b = *state;
	rt_engine_options options = {.env = &env};
	rt_engine *other = NULL;
	rt_import *import;
	rt_result result;
	const rt_project *value;
	size_t i;
	file f;

	file_init(&f);
	import = begin(b, 0);
	for (i = 0; i < 4; i++) {
		char request[96];

		add(import, small(&f, i * 700, 700));
		/* a name that the import would use next, by another process */
		if (other == NULL)
			assert_int_equal(rt_engine_open(&options, b->store, &other, NULL), RT_OK);
		snprintf(request, sizeof(request),
			 "{\"op\":\"discussion.new\",\"name\":\"imported_%zu\"}",
			 (i + 1) * 700 + 1 + i);
		assert_int_equal(rt_engine_apply_text(other, rt_str_of(request), RT_STR(""),
						      RT_STR(""), &result), RT_OK);
		rt_result_deinit(&result);
		bare_apply(b, "{\"op\":\"entry.append\",\"role\":\"user\",\"content\":\"mine\"}");
	}
	assert_int_equal(end(import).discussions, 2800);
	rt_engine_close(other);
	assert_present(b, 2804, 2804);
	value = rt_engine_value(b->engine);
	assert_int_not_equal(rt_project_disc_named(value, RT_STR("imported_2803")), 0);
	rt_object_unref(value);
	assert_sound(b); /* names, too */
	file_deinit(&f);
}

static void
others_write_within_a_discussion(void **state)
{
	bare *b = *state;
	rt_import *import;
	rt_import_result result;
	file f;

	file_init(&f);
	bare_apply(b, "{\"op\":\"entry.append\",\"role\":\"user\",\"content\":\"0\"}");
	import = begin(b, 1);
	add(import, piece(&f, "s", 0, 3000, true));
	assert_present(b, 1, 1); /* not yet */
	bare_apply(b, "{\"op\":\"entry.append\",\"role\":\"user\",\"content\":\"mine\"}");
	bare_apply(b, "{\"op\":\"discussion.new\",\"name\":\"long\"}");
	add(import, piece(&f, "s", 3000, 3000, true));
	assert_present(b, 2, 2);
	bare_apply(b, "{\"op\":\"entry.append\",\"role\":\"user\",\"content\":\"mine\"}");
	add(import, piece(&f, "s", 6000, 3000, false));
	result = end(import);
	assert_int_equal(result.discussions, 1);
	assert_int_equal(result.takes, 1);
	assert_int_equal(result.entries, 9000);
	assert_string_equal(result.discussion, "long_2");
	assert_present(b, 3, 9003);
	assert_sound(b);
	file_deinit(&f);
}

static void
undone_in_between(void **state)
{
	bare *b = *state;
	rt_import *import;
	rt_error err;
	file f;

	file_init(&f);
	import = begin(b, 0);
	add(import, piece(&f, "s", 0, 10, false));
	(void)end(import);
	import = begin(b, 0);
	add(import, small(&f, 0, 1000));
	add(import, piece(&f, "t", 0, 3000, true));
	(void)steps_of(b, "{\"op\":\"undo\"}");
	assert_present(b, 1, 10);
	add(import, piece(&f, "t", 3000, 3000, false)); /* not in the catalogue, as before */
	add(import, piece(&f, "s", 0, 3000, true));
	assert_present(b, 2, 9000);
	(void)steps_of(b, "{\"op\":\"undo\"}");
	assert_present(b, 1, 10);
	/* entries after one that no longer exists cannot be added */
	assert_int_equal(rt_import_add(import, piece(&f, "s", 3000, 3000, false), &err),
			 RT_CONFLICT);
	rt_import_cancel(import, NULL);
	assert_present(b, 1, 10);
	assert_sound(b);
	file_deinit(&f);
}

/* ---- conversations in pieces ---- */

static void
pieces_are_one_conversation(void **state)
{
	static const size_t sizes[] = {1, 3900, 7, 2500};
	bare *b = *state;
	rt_import *import;
	rt_import_result result;
	const rt_project *value;
	size_t pass, i, at;
	file f;

	file_init(&f);
	for (pass = 0; pass < 3; pass++) { /* the third is longer */
		import = begin(b, 1);
		for (at = i = 0; i < 4; i++) {
			size_t size = sizes[i] + (pass == 2 && i == 3 ? 100 : 0);

			add(import, piece(&f, "s", at, size, i < 3));
			at += size;
		}
		result = end(import);
		assert_int_equal(result.discussions, pass == 0);
		assert_int_equal(result.entries, pass == 0 ? 6408 : pass == 1 ? 0 : 100);
		assert_int_equal(result.known, pass == 0 ? 0 : 6408);
		assert_present(b, 1, pass == 2 ? 6508 : 6408);
	}
	value = rt_engine_value(b->engine);
	assert_int_equal(rt_project_disc_named(value, RT_STR("long")), 1); /* it keeps its number */
	rt_object_unref(value);
	assert_sound(b);
	file_deinit(&f);
}

static void
pieces_without_a_source(void **state)
{
	bare *b = *state;
	rt_import *import;
	rt_import_result result;
	size_t pass;
	file f;

	file_init(&f);
	for (pass = 0; pass < 2; pass++) {
		import = begin(b, 0);
		add(import, piece(&f, "", 0, 3000, true));
		add(import, piece(&f, "", 3000, 3000, false));
		result = end(import);
		assert_int_equal(result.discussions, pass == 0);
		assert_int_equal(result.entries, pass == 0 ? 6000 : 0);
		assert_int_equal(result.known, pass == 0 ? 0 : 6000);
		assert_present(b, 1, 6000);
	}
	assert_sound(b);
	file_deinit(&f);
}

static void
the_active_one_stays_on_request(void **state)
{
	bare *b = *state;
	rt_import_options options = {.keep_active = true};
	static const char *const sources[] = {"a", "b", "c"};
	static const uint32_t active[] = {1, 1, 3}; /* a new project has no other */
	rt_import *import;
	file f;

	file_init(&f);
	for (size_t i = 0; i < 3; i++) {
		options.keep_active = i < 2;
		assert_int_equal(rt_import_begin(b->engine, &options, &import, NULL), RT_OK);
		add(import, piece(&f, sources[i], 0, 10, false));
		assert_int_equal(end(import).discussions, 1);
		const rt_project *value = rt_engine_value(b->engine);
		assert_int_equal(value->active, active[i]);
		rt_object_unref(value);
	}
	assert_sound(b);
	file_deinit(&f);
}

/* ---- the end before the end ---- */

static void
cancelled(void **state)
{
	bare *b = *state;
	rt_import *import;
	file f;

	file_init(&f);
	bare_apply(b, "{\"op\":\"entry.append\",\"role\":\"user\",\"content\":\"0\"}");
	import = begin(b, 0);
	rt_import_cancel(import, NULL);
	import = begin(b, 0);
	add(import, small(&f, 0, 3000));
	add(import, piece(&f, "s", 0, 3000, true));
	assert_present(b, 3001, 3001);
	rt_import_cancel(import, NULL);
	assert_present(b, 1, 1);
	assert_sound(b);
	import = begin(b, 0);
	add(import, small(&f, 0, 3000));
	assert_int_equal(end(import).discussions, 3000);
	assert_present(b, 3001, 3001);
	assert_sound(b);
	rt_import_cancel(NULL, NULL);
	file_deinit(&f);
}

static bool
is_there(bare *b, const char *name)
{
	const rt_project *value = rt_engine_value(b->engine);
	bool there = rt_project_disc_named(value, rt_str_of(name)) != 0;

	rt_object_unref(value);
	return there;
}

/* Undo stops at the steps of others. */
static void
cancelled_after_a_step_of_others(void **state)
{
	bare *b = *state;
	rt_import *import;
	rt_error err;
	uint64_t rows;
	file f;

	file_init(&f);
	bare_apply(b, "{\"op\":\"entry.append\",\"role\":\"user\",\"content\":\"0\"}");
	import = begin(b, 0);
	add(import, small(&f, 0, 3000));
	bare_apply(b, "{\"op\":\"discussion.new\",\"name\":\"mine\"}");
	add(import, small(&f, 3000, 1000));
	bare_apply(b, "{\"op\":\"discussion.switch\",\"discussion\":\"imported_7\"}");
	add(import, piece(&f, "", 0, 3000, true));
	assert_present(b, 4002, 4001);
	(void)rt_fail(&err, RT_INTERRUPTED, "cancelled");
	rt_import_cancel(import, &err);
	assert_string_equal(err.text, "cancelled; its additions were removed");
	assert_present(b, 2, 1);
	assert_true(is_there(b, "mine"));
	assert_int_equal(history_lines(b, &rows) > 0, true);
	assert_sound(b);
	file_deinit(&f);
}

/* A new project has no other discussion: it gets one. */
static void
cancelled_in_a_new_project(void **state)
{
	bare *b = *state;
	rt_import *import;
	rt_error err;
	file f;

	file_init(&f);
	import = begin(b, 0);
	add(import, small(&f, 0, 10));
	bare_apply(b, "{\"op\":\"setting.set\",\"key\":\"undo_capacity\",\"value\":50}");
	(void)rt_fail(&err, RT_IO, "the disk failed");
	rt_import_cancel(import, &err);
	assert_string_equal(err.text, "the disk failed");
	assert_present(b, 1, 0);
	assert_true(is_there(b, "main"));
	assert_sound(b);
	import = begin(b, 0);
	add(import, small(&f, 0, 10));
	(void)rt_fail(&err, RT_INTERRUPTED, "cancelled");
	rt_import_cancel(import, &err);
	assert_string_equal(err.text, "cancelled; its additions were undone");
	assert_present(b, 1, 0);
	file_deinit(&f);
}

static void
what_was_added_to_older_ones_is_named(void **state)
{
	bare *b = *state;
	rt_import *import;
	rt_error err;
	file f;

	file_init(&f);
	import = begin(b, 1);
	add(import, piece(&f, "s", 0, 10, false));
	(void)end(import);
	import = begin(b, 0);
	add(import, piece(&f, "s", 0, 30, false));
	bare_apply(b, "{\"op\":\"discussion.new\",\"name\":\"mine\"}");
	add(import, small(&f, 0, 10));
	assert_present(b, 12, 40);
	(void)rt_fail(&err, RT_IO, "the disk failed");
	rt_import_cancel(import, &err);
	assert_string_equal(err.text, "the disk failed; 20 entries are kept in discussion \"long\"; "
				      "importing again adds the rest");
	assert_present(b, 2, 30);
	assert_sound(b);
	import = begin(b, 0); /* everything that can be undone is undone */
	add(import, piece(&f, "s", 0, 50, false));
	rt_import_cancel(import, &err);
	assert_present(b, 2, 30);
	assert_sound(b);
	file_deinit(&f);
}

static void
killed_in_between(void **state)
{
	bare *b = *state;
	rt_engine *killed = b->engine;
	rt_import *import;
	file f;

	file_init(&f);
	import = begin(b, 0);
	add(import, small(&f, 0, 2000));
	add(import, piece(&f, "s", 0, 3000, true));
	bare_open_engine(b); /* the state that the next process finds */
	assert_present(b, 2000, 2000);
	assert_sound(b);
	rt_engine_close(b->engine);
	b->engine = killed; /* without its end, but with its memory */
	import->group = 0;
	rt_import_cancel(import, NULL);
	rt_engine_close(b->engine);
	bare_open_engine(b);
	import = begin(b, 0);
	add(import, small(&f, 0, 3000));
	add(import, piece(&f, "s", 0, 3000, false));
	assert_int_equal(end(import).discussions, 1001);
	assert_present(b, 3001, 6000);
	assert_sound(b);
	file_deinit(&f);
}

static void
only_counted(void **state)
{
	bare *b = *state;
	rt_import_options options = {.dry_run = true};
	rt_import *import = NULL;
	rt_import_result result;
	file f;

	file_init(&f);
	assert_int_equal(rt_import_begin(b->engine, &options, &import, NULL), RT_OK);
	add(import, small(&f, 0, 3000));
	add(import, piece(&f, "s", 0, 3000, true));
	add(import, piece(&f, "s", 3000, 3000, false));
	result = end(import);
	assert_int_equal(result.discussions, 3001);
	assert_int_equal(result.entries, 9000);
	assert_int_equal(result.takes, 3001);
	assert_int_equal(result.seq, 0);
	assert_present(b, 1, 0);
	file_deinit(&f);
}

/* ---- memory and sizes ---- */

typedef struct sizes {
	size_t rows, largest;
} sizes;

static bool
see_row(void *ctx, const rt_store_row *row)
{
	sizes *s = ctx;

	s->rows++;
	s->largest = row->data.size > s->largest ? row->data.size : s->largest;
	return true;
}

static void
rows_are_short(void **state)
{
	bare *b = *state;
	rt_import *import;
	sizes s = {0, 0};
	size_t i, rounds = test_sample() > 1 ? 2 : 10;
	file f;

	file_init(&f);
	import = begin(b, 0);
	for (i = 0; i < rounds; i++)
		add(import, small(&f, i * 3000, 3000));
	for (i = 0; i < rounds; i++)
		add(import, piece(&f, "s", i * 3000, 3000, i + 1 < rounds));
	(void)end(import);
	assert_present(b, rounds * 3000 + 1, rounds * 6000);
	assert_int_equal(b->store->ops->read(b->store,
					     rt_rows_between(RT_STORE_LOG,
							     rt_engine_project_number(b->engine), 1,
							     UINT32_MAX),
					     see_row, &s, NULL),
			 RT_OK);
	assert_true(s.rows > 4 * rounds);
	assert_true(s.largest < 512 << 10);
	file_deinit(&f);
}

/* The maximum memory of an import of this many discussions. */
static size_t
peak_of(size_t count)
{
	rt_budget budget;
	rt_engine_options options = {.env = &env, .create = true};
	rt_import_options how = {.discussions = count};
	rt_store *store = NULL;
	rt_engine *engine = NULL;
	rt_import *import = NULL;
	rt_import_result result;
	size_t i;
	file f;

	file_init(&f);
	rt_budget_init(&budget, rt_alloc_libc(), SIZE_MAX);
	options.alloc = &budget.alloc;
	assert_int_equal(rt_store_memory_open(rt_alloc_libc(), &env, &store, NULL), RT_OK);
	assert_int_equal(rt_engine_open(&options, store, &engine, NULL), RT_OK);
	assert_int_equal(rt_import_begin(engine, &how, &import, NULL), RT_OK);
	for (i = 0; i < count; i += 1000)
		add(import, small(&f, i, 1000));
	result = end(import);
	assert_int_equal(result.discussions, count);
	/* afterwards: the catalogue, and little else */
	assert_true(atomic_load(&budget.held) < count * 80 + (256 << 10));
	rt_engine_close(engine);
	assert_int_equal(atomic_load(&budget.held), 0);
	store->ops->close(store);
	file_deinit(&f);
	return atomic_load(&budget.peak);
}

static void
memory_is_bounded(void **state)
{
	size_t few, many;

	(void)state;
	if (test_sample() > 1)
		skip(); /* sanitizers do not change these numbers */
	few = peak_of(10000);
	many = peak_of(60000);
	/* each further discussion costs its line of the catalogue, and its place among the names */
	assert_true(many - few < 50000 * 100);
}

static int
set_up(void **state)
{
	rt_store *store = NULL;

	assert_int_equal(rt_store_memory_open(rt_alloc_libc(), &env, &store, NULL), RT_OK);
	return bare_set_up(state, store);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, bare_tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_small_import_is_one_row),
		TEST(a_large_import_is_one_step),
		TEST(what_was_known_is_taken_back_too),
		TEST(what_was_known_is_taken_back_alone),
		TEST(two_at_once_are_one_step),
		TEST(one_of_two_is_cancelled),
		TEST(others_write_between_batches),
		TEST(others_write_within_a_discussion),
		TEST(undone_in_between),
		TEST(pieces_are_one_conversation),
		TEST(pieces_without_a_source),
		TEST(the_active_one_stays_on_request),
		TEST(cancelled),
		TEST(cancelled_after_a_step_of_others),
		TEST(cancelled_in_a_new_project),
		TEST(what_was_added_to_older_ones_is_named),
		TEST(killed_in_between),
		TEST(only_counted),
		TEST(rows_are_short),
		cmocka_unit_test(memory_is_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
