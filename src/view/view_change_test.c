/* SPDX-License-Identifier: MIT
 *
 * The effects of log rows, applied by a follower that only has lists of ids: it always has the same
 * takes as the value, after any operations, undo and redo. */
#include "log/engine_testing.h"

#include <stdio.h>
#include <string.h>

#include "codec/json.h"
#include "log/requests_testing.h"
#include "store/store_memory.h"
#include "view/view.h"

enum { DISCS = 64, TAKES = 64, IDS = 400 };

/* A take as the follower knows it. body 0: only its id is known. */
typedef struct seen_entry {
	char id[RT_ID_MAX + 1];
	uint64_t body;
	uint32_t flags;
	uint16_t role;
} seen_entry;

typedef struct seen_take {
	bool present;
	size_t count;
	seen_entry entries[IDS];
} seen_take;

typedef struct seen_disc {
	bool present;
	uint32_t take_count, active, head;
	seen_take takes[TAKES];
} seen_disc;

typedef struct seen {
	uint32_t disc_count, active;
	seen_disc discs[DISCS];
	size_t wholes, moves, made, came_back, touched;
} seen;

typedef struct fixture {
	rt_store *store;
	rt_engine *engine;
	seen *seen;
} fixture;

static int
set_up(void **state)
{
	fixture *f = test_calloc(1, sizeof(*f));
	rt_engine_options options = {.env = &env, .create = true, .by = RT_STR("test")};

	assert_int_equal(rt_store_memory_open(rt_alloc_libc(), &env, &f->store, NULL), RT_OK);
	assert_int_equal(rt_engine_open(&options, f->store, &f->engine, NULL), RT_OK);
	f->seen = test_calloc(1, sizeof(*f->seen));
	*state = f;
	return 0;
}

static int
tear_down(void **state)
{
	fixture *f = *state;

	rt_engine_close(f->engine);
	f->store->ops->close(f->store);
	test_free(f->seen);
	test_free(f);
	return 0;
}

static rt_status
ask(fixture *f, rt_result *result, const char *json)
{
	return rt_engine_apply_text(f->engine, rt_str_of(json), rt_str_of(""), rt_str_of(""),
				    result);
}

static void
do_it(fixture *f, const char *json)
{
	rt_result result;

	if (ask(f, &result, json) != RT_OK)
		fail_msg("%s: %s", json, result.error.text);
	rt_result_deinit(&result);
}

/* ---- the follower ---- */

/* The number in "d3"; 0: it is missing. */
static uint32_t
number_in(yyjson_val *object, const char *key)
{
	rt_str text = rt_json_str(rt_json_get(object, key));
	uint32_t number = 0;
	size_t i;

	for (i = 1; i < text.size; i++)
		number = number * 10 + (uint32_t)(text.ptr[i] - '0');
	return number;
}

static void
splice_ids(seen_take *take, yyjson_val *splice)
{
	yyjson_val *ids = rt_json_get(splice, "insert");
	uint64_t at, gone;
	size_t count = yyjson_arr_size(ids), i;

	assert_true(rt_json_u64(rt_json_get(splice, "at"), &at));
	assert_true(rt_json_u64(rt_json_get(splice, "remove"), &gone));
	assert_true(at + gone <= take->count);
	assert_true(gone + count > 0);
	assert_true(take->count - gone + count <= IDS);
	memmove(&take->entries[at + count], &take->entries[at + gone],
		(take->count - at - gone) * sizeof(take->entries[0]));
	for (i = 0; i < count; i++) {
		rt_str id = rt_json_str(yyjson_arr_get(ids, i));

		memset(&take->entries[at + i], 0, sizeof(take->entries[0]));
		memcpy(take->entries[at + i].id, id.ptr, id.size);
	}
	take->count = take->count - gone + count;
}

static void
make_take(seen *s, uint32_t disc, uint32_t number, yyjson_val *splice)
{
	uint32_t from_disc = number_in(splice, "from_discussion");
	uint32_t from_take = number_in(splice, "from_take");
	seen_take *take = &s->discs[disc].takes[number];
	uint64_t count;

	assert_true(rt_json_u64(rt_json_get(splice, "count"), &count));
	assert_int_equal(number, s->discs[disc].take_count + 1);
	s->discs[disc].take_count = number;
	if (number == 1) {
		assert_int_equal(disc, s->disc_count + 1);
		s->disc_count = disc;
		s->discs[disc].present = true;
	}
	take->present = true;
	if (from_take != 0) {
		assert_in_range(from_disc, 1, s->disc_count);
		assert_in_range(count, 0, s->discs[from_disc].takes[from_take].count);
		memcpy(take->entries, s->discs[from_disc].takes[from_take].entries,
		       count * sizeof(take->entries[0]));
	} else {
		assert_int_equal(count, 0);
	}
	take->count = count;
	s->made += from_take != 0;
}

static void
follow(seen *s, yyjson_val *change)
{
	yyjson_val *splice;
	yyjson_arr_iter iter;

	s->moves += rt_str_is(rt_json_str(rt_json_get(change, "kind")), "move");
	assert_true(yyjson_is_arr(rt_json_get(change, "splices")));
	yyjson_arr_iter_init(rt_json_get(change, "splices"), &iter);
	while ((splice = yyjson_arr_iter_next(&iter)) != NULL) {
		uint32_t disc = number_in(splice, "discussion"), take = number_in(splice, "take");
		yyjson_val *present = rt_json_get(splice, "present");

		assert_in_range(disc, 1, DISCS - 1);
		assert_in_range(take, 0, TAKES - 1);
		if (present != NULL) {
			s->came_back += yyjson_is_true(present);
			if (take == 0)
				s->discs[disc].present = yyjson_is_true(present);
			else
				s->discs[disc].takes[take].present = yyjson_is_true(present);
		} else if (rt_json_get(splice, "count") != NULL) {
			make_take(s, disc, take, splice);
		} else {
			splice_ids(&s->discs[disc].takes[take], splice);
		}
	}
}

static bool
lists(yyjson_val *change, const char *key, const char *text)
{
	yyjson_val *item;
	yyjson_arr_iter iter;

	yyjson_arr_iter_init(rt_json_get(change, key), &iter);
	while ((item = yyjson_arr_iter_next(&iter)) != NULL)
		if (rt_str_is(rt_json_str(item), text))
			return true;
	return false;
}

/* Does the follower's state equal the value, and was every difference reported? Then the new state
 * becomes known. change NULL: everything is new. */
static void
compare_take(fixture *f, const rt_project *value, uint32_t disc, uint32_t number,
	     const rt_take *take, yyjson_val *change)
{
	seen_take *mine = &f->seen->discs[disc].takes[number];
	char id[RT_ID_MAX + 1];
	size_t i;

	if (change == NULL) {
		mine->present = take->present;
		mine->count = rt_seq_count(take->slots);
		assert_true(mine->count <= IDS);
	}
	assert_int_equal(mine->present, take->present);
	assert_int_equal(mine->count, rt_seq_count(take->slots));
	for (i = 0; i < mine->count; i++) {
		seen_entry *e = &mine->entries[i];
		rt_slot slot;

		assert_int_equal(rt_seq_get(take->slots, i, &slot, NULL), RT_OK);
		assert_int_equal(rt_entry_id(value, slot.entry, id, NULL), RT_OK);
		if (change == NULL)
			memcpy(e->id, id, sizeof(id));
		assert_string_equal(e->id, id);
		if (change != NULL && e->body != 0 &&
		    (e->body != slot.body || e->role != slot.role || e->flags != slot.flags)) {
			assert_true(lists(change, "entries", id));
			f->seen->touched++;
		}
		e->body = slot.body;
		e->role = slot.role;
		e->flags = slot.flags;
	}
}

static void
compare(fixture *f, const rt_project *value, yyjson_val *change)
{
	seen *s = f->seen;
	uint32_t d, t;
	char name[32];

	if (change == NULL)
		s->disc_count = (uint32_t)rt_project_disc_count(value);
	assert_int_equal(s->disc_count, rt_project_disc_count(value));
	if (change != NULL && s->active != value->active)
		assert_true(lists(change, "fields", "project/active"));
	s->active = value->active;
	for (d = 1; d <= s->disc_count; d++) {
		seen_disc *mine = &s->discs[d];
		const rt_disc *disc;

		assert_int_equal(rt_project_disc(value, d, &disc, NULL), RT_OK);
		if (change == NULL) {
			mine->present = rt_project_cell(value, d)->present;
			mine->take_count = (uint32_t)rt_disc_take_count(disc);
		} else if (mine->active != 0) {
			snprintf(name, sizeof(name), "d%u/active", d);
			assert_true(mine->active == disc->active || lists(change, "fields", name));
			snprintf(name, sizeof(name), "d%u/head", d);
			assert_true(mine->head == disc->head || lists(change, "fields", name));
		}
		mine->active = disc->active;
		mine->head = disc->head;
		assert_int_equal(mine->present, rt_project_cell(value, d)->present);
		assert_int_equal(mine->take_count, rt_disc_take_count(disc));
		for (t = 1; t <= mine->take_count; t++)
			compare_take(f, value, d, t, rt_disc_take(disc, t), change);
	}
}

/* Applies row seq, which produced the value. */
static void
apply_row(fixture *f, const rt_project *value, uint64_t seq)
{
	rt_json_doc *doc = NULL;
	rt_change_discs discs;
	rt_error err = {0};
	rt_buf buf;

	rt_buf_init(&buf, rt_alloc_libc(), RT_BUF_UNLIMITED);
	if (rt_view_change(f->engine, value, seq, &buf, &discs, &err) != RT_OK)
		fail_msg("row %llu: %s", (unsigned long long)seq, err.text);
	assert_int_equal(rt_json_read(rt_alloc_libc(), rt_buf_str(&buf), &doc, &err), RT_OK);
	if (yyjson_is_true(rt_json_get(rt_json_root(doc), "whole"))) {
		assert_null(rt_json_get(rt_json_root(doc), "splices"));
		f->seen->wholes++;
		compare(f, value, NULL);
	} else {
		follow(f->seen, rt_json_root(doc));
		compare(f, value, rt_json_root(doc));
	}
	rt_json_free(doc);
	rt_buf_deinit(&buf);
}

/* ---- anything at all ---- */

static void
rows_tell_what_the_value_became(void **state)
{
	fixture *f = *state;
	const rt_project *value = rt_engine_value(f->engine);
	size_t i, refused = 0;
	uint64_t seq = value->seq, chance = 5;

	compare(f, value, NULL);
	rt_object_unref(value);
	for (i = 0; i < 2500 && f->seen->disc_count < DISCS - 2; i++) {
		char json[300];
		rt_result result;

		random_request(&chance, json, sizeof(json), seq);
		refused += ask(f, &result, json) != RT_OK;
		rt_result_deinit(&result);
		value = rt_engine_value(f->engine);
		if (value->seq > seq) {
			assert_int_equal(value->seq, seq + 1);
			seq++;
			apply_row(f, value, seq);
		}
		rt_object_unref(value);
	}
	print_message("# %zu rows, %zu refused, %zu moves, %zu takes made, %zu back, %zu changed\n",
		      (size_t)seq, refused, f->seen->moves, f->seen->made, f->seen->came_back,
		      f->seen->touched);
	assert_true(seq > 300);
	assert_true(f->seen->moves > 30);
	assert_true(f->seen->made > 10);
	assert_true(f->seen->came_back > 5);
	assert_true(f->seen->touched > 20);
}

/* ---- examples ---- */

static void
assert_change(fixture *f, uint64_t seq, const char *expected)
{
	const rt_project *value = rt_engine_value(f->engine);
	rt_error err = {0};
	rt_buf buf;

	rt_buf_init(&buf, rt_alloc_libc(), RT_BUF_UNLIMITED);
	if (rt_view_change(f->engine, value, seq, &buf, NULL, &err) != RT_OK)
		fail_msg("row %llu: %s", (unsigned long long)seq, err.text);
	rt_buf_add_byte(&buf, '\0');
	assert_string_equal(buf.ptr, expected);
	rt_buf_deinit(&buf);
	rt_object_unref(value);
}

#define AT "\"at\":\"2023-11-14T22:13:20.000Z\",\"discussion\":\"d1\","

static void
a_row_as_json(void **state)
{
	fixture *f = *state;

	do_it(f, "{\"op\":\"entry.append\",\"id\":\"a\",\"content\":\"one\"}");
	do_it(f, "{\"op\":\"entry.append\",\"id\":\"b\",\"content\":\"two\"}");
	do_it(f, "{\"op\":\"entry.edit\",\"entry\":\"a\",\"content\":\"three\"}");
	do_it(f, "{\"op\":\"take.branch\",\"at\":\"a\",\"name\":\"other\"}");
	do_it(f, "{\"op\":\"undo\",\"count\":2}");
	do_it(f, "{\"op\":\"entry.view\",\"entry\":\"a\",\"collapsed\":true}");
	do_it(f, "{\"op\":\"redo\"}");
	assert_change(f, 2, "{\"seq\":2,\"kind\":\"step\",\"op\":\"entry.append\",\"by\":\"test\"," AT
			    "\"discussions\":[\"d1\"],\"splices\":[{\"discussion\":\"d1\","
			    "\"take\":\"t1\",\"at\":1,\"remove\":0,\"insert\":[\"b\"]}],"
			    "\"entries\":[],\"takes\":[\"d1/t1\"],\"fields\":[]}");
	assert_change(f, 3, "{\"seq\":3,\"kind\":\"step\",\"op\":\"entry.edit\",\"by\":\"test\"," AT
			    "\"discussions\":[\"d1\"],\"splices\":[],\"entries\":[\"a\"],"
			    "\"takes\":[\"d1/t1\"],\"fields\":[]}");
	assert_change(f, 4, "{\"seq\":4,\"kind\":\"step\",\"op\":\"take.branch\",\"by\":\"test\"," AT
			    "\"discussions\":[\"d1\"],\"splices\":[{\"discussion\":\"d1\","
			    "\"take\":\"t2\",\"from_discussion\":\"d1\",\"from_take\":\"t1\","
			    "\"count\":1}],\"entries\":[],\"takes\":[\"d1/t2\"],"
			    "\"fields\":[\"d1/active\"]}");
	assert_change(f, 5, "{\"seq\":5,\"kind\":\"move\",\"op\":\"undo\",\"by\":\"test\"," AT
			    "\"discussions\":[\"d1\"],\"splices\":[{\"discussion\":\"d1\","
			    "\"take\":\"t2\",\"present\":false}],\"entries\":[\"a\"],"
			    "\"takes\":[\"d1/t2\",\"d1/t1\"],\"fields\":[\"d1/active\"]}");
	assert_change(f, 6, "{\"seq\":6,\"kind\":\"view\",\"op\":\"entry.view\",\"by\":\"test\"," AT
			    "\"discussions\":[\"d1\"],\"splices\":[],\"entries\":[\"a\"],"
			    "\"takes\":[],\"fields\":[]}");
	assert_change(f, 7, "{\"seq\":7,\"kind\":\"move\",\"op\":\"redo\",\"by\":\"test\"," AT
			    "\"discussions\":[\"d1\"],\"splices\":[],\"entries\":[\"a\"],"
			    "\"takes\":[\"d1/t1\"],\"fields\":[]}");
}

static void
a_row_that_is_not_there_yet(void **state)
{
	fixture *f = *state;
	const rt_project *value = rt_engine_value(f->engine);
	rt_buf buf;

	rt_buf_init(&buf, rt_alloc_libc(), RT_BUF_UNLIMITED);
	assert_int_equal(rt_view_change(f->engine, value, 0, &buf, NULL, NULL), RT_NOT_FOUND);
	assert_int_equal(rt_view_change(f->engine, value, 1, &buf, NULL, NULL), RT_NOT_FOUND);
	assert_int_equal(buf.size, 0);
	rt_buf_deinit(&buf);
	rt_object_unref(value);
}

/* Are the documents these numbers, with a 0 at the end for the project? */
static void
assert_discs(fixture *f, uint64_t seq, const uint32_t *expected, size_t count)
{
	const rt_project *value = rt_engine_value(f->engine);
	rt_change_discs discs = {0};
	rt_buf buf;
	size_t i;

	rt_buf_init(&buf, rt_alloc_libc(), RT_BUF_UNLIMITED);
	assert_int_equal(rt_view_change(f->engine, value, seq, &buf, &discs, NULL), RT_OK);
	assert_int_equal(discs.count, count);
	for (i = 0; expected != NULL && i < count; i++)
		assert_int_equal(discs.at[i], expected[i]);
	rt_buf_deinit(&buf);
	rt_object_unref(value);
}

static void
documents_to_choose_by(void **state)
{
	static const uint32_t first[] = {1}, made[] = {2, 0}, project[] = {0};
	fixture *f = *state;

	do_it(f, "{\"op\":\"entry.append\",\"id\":\"a\",\"content\":\"one\"}");
	assert_discs(f, 1, first, 1);
	do_it(f, "{\"op\":\"entry.view\",\"entry\":\"a\",\"collapsed\":true}");
	assert_discs(f, 2, first, 1);
	do_it(f, "{\"op\":\"discussion.extract\",\"entry\":\"a\",\"name\":\"copy\"}");
	assert_discs(f, 3, made, 2);
	do_it(f, "{\"op\":\"role.add\",\"role\":\"Critic\"}");
	assert_discs(f, 4, project, 1);
	/* others may show the same entry */
	do_it(f, "{\"op\":\"entry.view\",\"discussion\":\"d1\",\"entry\":\"a\","
		 "\"collapsed\":false}");
	assert_discs(f, 5, NULL, RT_CHANGE_DISCS + 1);
	/* any text may have changed */
	do_it(f, "{\"op\":\"purge\",\"text\":\"one\"}");
	assert_discs(f, 6, NULL, RT_CHANGE_DISCS + 1);
	assert_change(f, 6, "{\"seq\":6,\"kind\":\"note\",\"op\":\"purge\",\"by\":\"test\","
			    "\"at\":\"2023-11-14T22:13:20.000Z\",\"discussion\":\"d2\","
			    "\"project\":true,\"whole\":true}");
}

static void
too_much_to_list(void **state)
{
	fixture *f = *state;
	char json[100];
	int i;

	/* one more than can be listed, with the splice and the take */
	for (i = 1; i <= RT_CHANGE_LIST_MAX - 1; i++) {
		snprintf(json, sizeof(json), "{\"op\":\"entry.append\",\"id\":\"e%d\",\"content\":\"\"}",
			 i);
		do_it(f, json);
	}
	do_it(f, "{\"op\":\"entry.delete\",\"from\":\":2\",\"to\":\":-1\"}");
	assert_change(f, 256, "{\"seq\":256,\"kind\":\"step\",\"op\":\"entry.delete\",\"by\":\"test\"," AT
			      "\"discussions\":[\"d1\"],\"splices\":[{\"discussion\":\"d1\","
			      "\"take\":\"t1\",\"at\":1,\"remove\":254,\"insert\":[]}],"
			      "\"entries\":[],\"takes\":[\"d1/t1\"],\"fields\":[]}");
	do_it(f, "{\"op\":\"undo\"}");
	{ /* 254 ids, their splice and their take: exactly the maximum */
		const rt_project *value = rt_engine_value(f->engine);
		rt_buf buf;

		rt_buf_init(&buf, rt_alloc_libc(), RT_BUF_UNLIMITED);
		assert_int_equal(rt_view_change(f->engine, value, 257, &buf, NULL, NULL), RT_OK);
		assert_true(rt_str_find(rt_buf_str(&buf), RT_STR("\"e255\""), 0) != SIZE_MAX);
		rt_buf_deinit(&buf);
		rt_object_unref(value);
	}
	do_it(f, "{\"op\":\"entry.append\",\"id\":\"last\",\"content\":\"\"}");
	do_it(f, "{\"op\":\"entry.delete\",\"from\":\":2\",\"to\":\":-1\"}");
	do_it(f, "{\"op\":\"undo\"}");
	assert_change(f, 260, "{\"seq\":260,\"kind\":\"move\",\"op\":\"undo\",\"by\":\"test\"," AT
			      "\"discussions\":[\"d1\"],\"whole\":true}");
	/* a long way back is not read to its end */
	do_it(f, "{\"op\":\"jump\",\"to\":0}");
	assert_change(f, 261, "{\"seq\":261,\"kind\":\"move\",\"op\":\"jump\",\"by\":\"test\"," AT
			      "\"discussions\":[\"d1\"],\"whole\":true}");
}

/* ---- no memory ---- */

typedef struct scarce {
	size_t left;
} scarce;

static void *
scarce_resize(void *ctx, void *ptr, size_t size)
{
	scarce *s = ctx;

	if (size > 0 && s->left == 0)
		return NULL;
	s->left -= size > 0;
	return rt_alloc_libc()->resize(rt_alloc_libc()->ctx, ptr, size);
}

static void
scarce_release(void *ctx, void *ptr)
{
	(void)ctx;
	rt_free(rt_alloc_libc(), ptr);
}

static void
without_memory(void **state)
{
	fixture *f = *state;
	scarce s = {SIZE_MAX};
	rt_alloc alloc = {scarce_resize, scarce_release, &s};
	rt_engine_options options = {.alloc = &alloc, .env = &env, .create = true};
	const rt_project *value;
	rt_engine *engine = NULL;
	size_t n;
	rt_status st = RT_NOMEM;
	uint64_t seq;

	do_it(f, "{\"op\":\"entry.append\",\"id\":\"a\",\"content\":\"one\"}");
	do_it(f, "{\"op\":\"take.branch\",\"at\":\"a\"}");
	do_it(f, "{\"op\":\"label.set\",\"entry\":\"a\",\"label\":\"here\"}");
	do_it(f, "{\"op\":\"undo\",\"count\":2}");
	assert_int_equal(rt_engine_open(&options, f->store, &engine, NULL), RT_OK);
	value = rt_engine_value(engine);
	for (seq = 2; seq <= 4; seq++, st = RT_NOMEM)
		for (n = 0; st == RT_NOMEM; n++) {
			rt_buf buf;

			rt_buf_init(&buf, rt_alloc_libc(), RT_BUF_UNLIMITED);
			s.left = n;
			st = rt_view_change(engine, value, seq, &buf, NULL, NULL);
			s.left = SIZE_MAX;
			assert_true(st == RT_OK || st == RT_NOMEM);
			assert_true(st == RT_OK ? n > 3 : buf.size == 0);
			rt_buf_deinit(&buf);
			assert_true(n < 200);
		}
	rt_object_unref(value);
	rt_engine_close(engine);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_row_as_json, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_row_that_is_not_there_yet, set_up, tear_down),
		cmocka_unit_test_setup_teardown(documents_to_choose_by, set_up, tear_down),
		cmocka_unit_test_setup_teardown(too_much_to_list, set_up, tear_down),
		cmocka_unit_test_setup_teardown(rows_tell_what_the_value_became, set_up, tear_down),
		cmocka_unit_test_setup_teardown(without_memory, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
