/* SPDX-License-Identifier: MIT
 *
 * The tree as columns equals the tree as rows, and the path of a take equals the output of show,
 * after any operations. */
#include "log/engine_testing.h"

#include <string.h>

#include "codec/json.h"
#include "log/requests_testing.h"
#include "store/store_memory.h"
#include "view/view.h"

enum { ROWS = 2000 };

typedef struct fixture {
	rt_store *store;
	rt_engine *engine;
	size_t rows, differ, labels, muted, collapsed, forks; /* that were seen */
} fixture;

static int
set_up(void **state)
{
	fixture *f = test_calloc(1, sizeof(*f));
	rt_engine_options options = {.env = &env, .create = true};

	assert_int_equal(rt_store_memory_open(rt_alloc_libc(), &env, &f->store, NULL), RT_OK);
	assert_int_equal(rt_engine_open(&options, f->store, &f->engine, NULL), RT_OK);
	*state = f;
	return 0;
}

static int
tear_down(void **state)
{
	fixture *f = *state;

	rt_engine_close(f->engine);
	f->store->ops->close(f->store);
	test_free(f);
	return 0;
}

static void
do_it(fixture *f, const char *json)
{
	rt_result result;

	if (rt_engine_apply_text(f->engine, rt_str_of(json), rt_str_of(""), rt_str_of(""),
				 &result) != RT_OK)
		fail_msg("%s: %s", json, result.error.text);
	rt_result_deinit(&result);
}

static rt_json_doc *
read(const rt_buf *buf)
{
	rt_json_doc *doc = NULL;
	rt_error err = {0};

	if (rt_json_read(rt_alloc_libc(), rt_buf_str(buf), &doc, &err) != RT_OK)
		fail_msg("%s: %.*s", err.text, (int)buf->size, buf->ptr);
	return doc;
}

static rt_json_doc *
columns(fixture *f, const rt_project *value, uint32_t disc, rt_columns_options options)
{
	rt_json_doc *doc;
	rt_error err = {0};
	rt_buf buf;

	rt_buf_init(&buf, rt_alloc_libc(), RT_BUF_UNLIMITED);
	if (rt_view_columns(f->engine, value, disc, &options, &buf, &err) != RT_OK)
		fail_msg("columns: %s", err.text);
	doc = read(&buf);
	rt_buf_deinit(&buf);
	return doc;
}

static yyjson_val *
cell(yyjson_val *all, const char *column, size_t row)
{
	return yyjson_arr_get(rt_json_get(all, column), row);
}

static int64_t
number(yyjson_val *value)
{
	int64_t n = INT64_MIN;

	assert_true(rt_json_i64(value, &n));
	return n;
}

/* The name that a row has in a column of indices. */
static rt_str
named(yyjson_val *all, const char *column, const char *list, size_t row)
{
	return rt_json_str(cell(all, list, (size_t)number(cell(all, column, row))));
}

static void
assert_str(rt_str a, rt_str b)
{
	if (!rt_str_eq(a, b))
		fail_msg("\"%.*s\" is not \"%.*s\"", RT_STR_ARG(a), RT_STR_ARG(b));
}

static void
compare_with_rows(fixture *f, const rt_project *value, uint32_t disc)
{
	rt_json_doc *doc = columns(f, value, disc, (rt_columns_options){.preview = 10}), *rows;
	yyjson_val *all = rt_json_root(doc), *row, *take, *name;
	yyjson_arr_iter each;
	static rt_str nodes[ROWS];
	static size_t held[ROWS];
	size_t i, k, max, count;
	rt_error err = {0};
	rt_buf buf;

	rt_buf_init(&buf, rt_alloc_libc(), RT_BUF_UNLIMITED);
	if (rt_view_tree_wide(f->engine, value, disc, 10, &buf, &err) != RT_OK)
		fail_msg("tree: %s", err.text);
	rows = read(&buf);
	count = yyjson_arr_size(rt_json_root(rows));
	assert_true(count <= ROWS);
	assert_int_equal(number(rt_json_get(all, "count")), count);
	assert_int_equal(number(rt_json_get(all, "seq")), value->seq);
	assert_int_equal(yyjson_arr_size(rt_json_get(all, "id")), count);
	assert_int_equal(yyjson_arr_size(rt_json_get(all, "size")), count);
	assert_int_equal(yyjson_arr_size(rt_json_get(all, "preview")), count);
	memset(held, 0, sizeof(held));
	/* every take goes from its tip to a root */
	yyjson_arr_iter_init(rt_json_get(all, "takes"), &each);
	while ((take = yyjson_arr_iter_next(&each)) != NULL) {
		char id[24];
		int64_t at;
		rt_str text = rt_json_str(rt_json_get(take, "id"));

		memcpy(id, text.ptr, text.size);
		id[text.size] = '\0';
		at = number(rt_json_get(rt_json_get(all, "tips"), id));
		for (k = 0; at >= 0; at = number(cell(all, "parent", (size_t)at)), k++) {
			bool found = false;

			held[at]++;
			yyjson_arr_foreach(rt_json_get(yyjson_arr_get(rt_json_root(rows), (size_t)at),
						       "takes"), i, max, name)
				found = found || rt_str_eq(rt_json_str(name),
							   rt_json_str(rt_json_get(take, "name")));
			assert_true(found);
		}
		assert_int_equal(number(rt_json_get(take, "entries")), k);
	}
	yyjson_arr_foreach(rt_json_root(rows), i, max, row) {
		int64_t parent = number(cell(all, "parent", i)), flags = number(cell(all, "flags", i));
		yyjson_val *label = rt_json_get(row, "label");
		char at[24];

		nodes[i] = rt_json_str(rt_json_get(row, "node"));
		assert_str(rt_json_str(cell(all, "id", i)), rt_json_str(rt_json_get(row, "id")));
		assert_str(rt_json_str(cell(all, "preview", i)),
			   rt_json_str(rt_json_get(row, "preview")));
		assert_str(named(all, "role", "roles", i), rt_json_str(rt_json_get(row, "role")));
		assert_str(named(all, "kind", "kinds", i), rt_json_str(rt_json_get(row, "kind")));
		if (parent < 0)
			assert_true(yyjson_is_null(rt_json_get(row, "parent_node")));
		else
			assert_str(rt_json_str(rt_json_get(row, "parent_node")), nodes[parent]);
		assert_int_equal(held[i], yyjson_arr_size(rt_json_get(row, "takes")));
		assert_int_equal(number(rt_json_get(all, "head")) == (int64_t)i,
				 yyjson_is_true(rt_json_get(row, "active")));
		assert_int_equal((flags & 1) != 0, yyjson_is_true(rt_json_get(row, "muted")));
		assert_int_equal((flags & 16) != 0, rt_json_get(row, "variants") != NULL);
		snprintf(at, sizeof(at), "%zu", i);
		if (yyjson_is_null(label))
			assert_null(rt_json_get(rt_json_get(all, "labels"), at));
		else
			assert_str(rt_json_str(rt_json_get(rt_json_get(all, "labels"), at)),
				   rt_json_str(label));
		f->rows++;
		f->differ += (flags & 16) != 0;
		f->muted += (flags & 1) != 0;
		f->collapsed += (flags & 2) != 0;
		f->labels += !yyjson_is_null(label);
	}
	rt_buf_deinit(&buf);
	rt_json_free(rows);
	rt_json_free(doc);
}

/* The rows from .. are those of the whole, moved. */
static void
compare_with_whole(fixture *f, const rt_project *value, uint32_t disc, uint32_t take, size_t from,
		   size_t want)
{
	static const char *const same[] = {"id", "parent", "flags", "size", "preview"};
	rt_json_doc *whole = columns(f, value, disc,
				     (rt_columns_options){.take = take, .preview = 5});
	rt_json_doc *part = columns(f, value, disc,
				    (rt_columns_options){.take = take, .preview = 5, .from = from,
							 .count = want});
	yyjson_val *a = rt_json_root(whole), *b = rt_json_root(part);
	size_t count = (size_t)number(rt_json_get(a, "count")), i, k;
	size_t given = from >= count ? 0 : count - from;
	char at[24];

	if (want != 0 && want < given)
		given = want;
	assert_int_equal(number(rt_json_get(b, "count")), count);
	assert_int_equal(number(rt_json_get(b, "from")), from);
	assert_int_equal(number(rt_json_get(b, "head")), number(rt_json_get(a, "head")));
	assert_true(yyjson_equals(rt_json_get(b, "tips"), rt_json_get(a, "tips")));
	for (k = 0; k < sizeof(same) / sizeof(same[0]); k++) {
		assert_int_equal(yyjson_arr_size(rt_json_get(b, same[k])), given);
		for (i = 0; i < given; i++)
			assert_true(yyjson_equals(cell(a, same[k], from + i), cell(b, same[k], i)));
	}
	for (i = 0; i < given; i++) {
		assert_str(named(a, "role", "roles", from + i), named(b, "role", "roles", i));
		assert_str(named(a, "kind", "kinds", from + i), named(b, "kind", "kinds", i));
	}
	for (i = 0; i < count; i++) {
		yyjson_val *label;

		snprintf(at, sizeof(at), "%zu", i);
		label = rt_json_get(rt_json_get(b, "labels"), at);
		if (i < from || i >= from + given)
			assert_null(label);
		else
			assert_str(rt_json_str(label),
				   rt_json_str(rt_json_get(rt_json_get(a, "labels"), at)));
	}
	rt_json_free(whole);
	rt_json_free(part);
}

/* The rows of a take are its entries, with the same data as in the tree. */
static void
compare_with_take(fixture *f, const rt_project *value, const rt_disc *disc, uint32_t take)
{
	rt_json_doc *doc = columns(f, value, disc->number, (rt_columns_options){.take = take});
	rt_json_doc *tree = columns(f, value, disc->number, (rt_columns_options){.take = 0});
	yyjson_val *all = rt_json_root(doc), *wide = rt_json_root(tree);
	const rt_take *t = rt_disc_take(disc, take);
	size_t count = rt_seq_count(t->slots), i;
	int64_t at = -1;
	char tip[24], id[RT_ID_MAX + 1];

	assert_null(rt_json_get(all, "preview"));
	assert_int_equal(number(rt_json_get(all, "count")), count);
	assert_int_equal(yyjson_arr_size(rt_json_get(all, "id")), count);
	snprintf(tip, sizeof(tip), "t%u", take);
	assert_int_equal(number(rt_json_get(rt_json_get(all, "tips"), tip)), (int64_t)count - 1);
	if (t->present)
		at = number(rt_json_get(rt_json_get(wide, "tips"), tip));
	for (i = count; i > 0; i--) {
		int64_t flags = number(cell(all, "flags", i - 1));
		rt_slot slot;

		assert_int_equal(rt_seq_get(t->slots, i - 1, &slot, NULL), RT_OK);
		assert_int_equal(rt_entry_id(value, slot.entry, id, NULL), RT_OK);
		assert_str(rt_json_str(cell(all, "id", i - 1)), rt_str_of(id));
		assert_int_equal(number(cell(all, "parent", i - 1)), (int64_t)i - 2);
		assert_int_equal(number(cell(all, "size", i - 1)), slot.size);
		assert_int_equal((flags & 1) != 0, (slot.flags & RT_SLOT_MUTED) != 0);
		assert_int_equal((flags & 32) != 0, (slot.flags & RT_SLOT_EDITED) != 0);
		if (!t->present)
			continue;
		assert_str(rt_json_str(cell(wide, "id", (size_t)at)), rt_str_of(id));
		/* the differences between takes; not all of them need to differ from this one */
		assert_true((flags & 16) == 0 || (number(cell(wide, "flags", (size_t)at)) & 16) != 0);
		if (rt_disc_present_count(disc) == 2)
			assert_int_equal(flags & 16, number(cell(wide, "flags", (size_t)at)) & 16);
		/* the head is at the same entry */
		assert_int_equal(number(rt_json_get(all, "head")) == (int64_t)i - 1,
				 number(rt_json_get(wide, "head")) == at);
		at = number(cell(wide, "parent", (size_t)at));
	}
	rt_json_free(doc);
	rt_json_free(tree);
}

/* Does a take (an id, or null) end at the row or below it? Rows are depth first. */
static bool
goes_through(yyjson_val *all, yyjson_val *take, size_t row)
{
	yyjson_val *parent = rt_json_get(all, "parent");
	int64_t at;

	if (!yyjson_is_str(take) || rt_json_get(rt_json_get(all, "tips"), yyjson_get_str(take)) == NULL)
		return false;
	for (at = number(rt_json_get(rt_json_get(all, "tips"), yyjson_get_str(take))); at >= 0;
	     at = number(yyjson_arr_get(parent, (size_t)at)))
		if ((size_t)at == row)
			return true;
	return false;
}

/* The forks of a take are the siblings of its path in the tree. */
static void
compare_forks(fixture *f, const rt_project *value, uint32_t disc, uint32_t take)
{
	rt_json_doc *tree = columns(f, value, disc, (rt_columns_options){.preview = 0}), *doc;
	yyjson_val *all = rt_json_root(tree), *forks, *differ, *fork;
	size_t count = yyjson_arr_size(rt_json_get(all, "id")), seen = 0, others = 0, i, k;
	static int64_t path[ROWS];
	rt_error err = {0};
	size_t depth = 0;
	char name[16];
	int64_t at;
	rt_buf buf;

	rt_buf_init(&buf, rt_alloc_libc(), RT_BUF_UNLIMITED);
	if (rt_view_forks(f->engine, value, (rt_place){disc, take}, &buf, &err) != RT_OK)
		fail_msg("forks: %s", err.text);
	doc = read(&buf);
	forks = rt_json_get(rt_json_root(doc), "forks");
	differ = rt_json_get(rt_json_root(doc), "differ");
	(void)snprintf(name, sizeof(name), "t%u", take);
	for (at = number(rt_json_get(rt_json_get(all, "tips"), name)); at >= 0;
	     at = number(cell(all, "parent", (size_t)at))) {
		assert_true(depth < ROWS);
		path[depth++] = at;
	}
	while (depth-- > 0) {
		size_t row = (size_t)path[depth], place = 0, beside = 0, before = 0, behind = 0;

		if ((number(cell(all, "flags", row)) & 16) != 0)
			assert_str(rt_json_str(yyjson_arr_get(differ, others++)),
				   rt_json_str(cell(all, "id", row)));
		for (i = 0; i < count; i++) {
			if (number(cell(all, "parent", i)) != number(cell(all, "parent", row)))
				continue;
			place += i < row;
			before = i < row ? i : before;
			if (i > row && behind == 0)
				behind = i;
			beside++;
		}
		if (beside < 2)
			continue;
		fork = yyjson_arr_get(forks, seen++);
		assert_str(rt_json_str(rt_json_get(fork, "entry")), rt_json_str(cell(all, "id", row)));
		assert_int_equal(number(rt_json_get(fork, "place")), place);
		assert_int_equal(number(rt_json_get(fork, "count")), beside);
		for (k = 0; k < 2; k++) {
			yyjson_val *to = rt_json_get(fork, k == 0 ? "previous" : "next");
			bool has = k == 0 ? place > 0 : place + 1 < beside;

			assert_int_equal(goes_through(all, to, k == 0 ? before : behind), has);
			assert_int_equal(yyjson_is_null(to), !has);
		}
	}
	assert_int_equal(seen, yyjson_arr_size(forks));
	assert_int_equal(others, yyjson_arr_size(differ));
	f->forks += seen;
	rt_json_free(doc);
	rt_json_free(tree);
	rt_buf_deinit(&buf);
}

static void
columns_say_what_rows_say(void **state)
{
	fixture *f = *state;
	uint64_t chance = 3;
	size_t i;

	for (i = 0; i < 3000; i++) {
		char json[300];
		const rt_project *value;
		const rt_disc *disc;
		rt_result result;
		uint32_t number_of_disc, k;

		value = rt_engine_value(f->engine);
		random_request(&chance, json, sizeof(json), value->seq);
		rt_object_unref(value);
		(void)rt_engine_apply_text(f->engine, rt_str_of(json), RT_STR(""), RT_STR(""),
					   &result);
		rt_result_deinit(&result);
		if (i % 5 != 0)
			continue;
		value = rt_engine_value(f->engine);
		number_of_disc = 1 + random_below(&chance, (unsigned)rt_project_disc_count(value));
		compare_with_rows(f, value, 0);
		compare_with_rows(f, value, number_of_disc);
		compare_with_whole(f, value, number_of_disc, 0, random_below(&chance, 12),
				   random_below(&chance, 6));
		assert_int_equal(rt_project_disc(value, number_of_disc, &disc, NULL), RT_OK);
		for (k = 1; k <= rt_disc_take_count(disc); k++) {
			compare_with_take(f, value, disc, k);
			if (i % 10 == 0 && rt_disc_take(disc, k)->present)
				compare_forks(f, value, number_of_disc, k);
			compare_with_whole(f, value, number_of_disc, k, random_below(&chance, 12),
					   random_below(&chance, 6));
		}
		rt_object_unref(value);
	}
	print_message("# %zu rows, %zu differ, %zu labels, %zu muted, %zu collapsed, %zu forks\n", f->rows,
		      f->differ, f->labels, f->muted, f->collapsed, f->forks);
	assert_true(f->rows > 2000);
	assert_true(f->differ > 20);
	assert_true(f->labels > 20);
	assert_true(f->muted > 20);
	assert_true(f->collapsed > 20);
	assert_true(f->forks > 20);
}

/* ---- examples ---- */

static void
columns_as_json(void **state)
{
	fixture *f = *state;
	const rt_project *value;
	rt_buf buf;

	do_it(f, "{\"op\":\"entry.append\",\"id\":\"a\",\"role\":\"User\",\"content\":\"one\\ntwo\"}");
	do_it(f, "{\"op\":\"entry.append\",\"id\":\"b\",\"role\":\"AI\",\"content\":\"three\"}");
	do_it(f, "{\"op\":\"label.set\",\"entry\":\"b\",\"label\":\"here\"}");
	do_it(f, "{\"op\":\"entry.view\",\"entry\":\"a\",\"collapsed\":true}");
	do_it(f, "{\"op\":\"take.branch\",\"at\":\"a\",\"name\":\"other\"}");
	value = rt_engine_value(f->engine);
	rt_buf_init(&buf, rt_alloc_libc(), RT_BUF_UNLIMITED);
	assert_int_equal(rt_view_columns(f->engine, value, 0,
					 &(rt_columns_options){.preview = 5}, &buf, NULL), RT_OK);
	rt_buf_add_byte(&buf, '\0');
	assert_string_equal(
		buf.ptr,
		"{\"seq\":5,\"discussion\":\"d1\",\"count\":2,\"from\":0,\"roles\":[\"User\",\"AI\"],"
		"\"kinds\":[\"message\"],\"takes\":[{\"id\":\"t1\",\"name\":\"main\",\"active\":false,"
		"\"entries\":2,\"base\":\"main\",\"last_updated\":\"2023-11-14T22:13:20.000Z\",\"title\":\"three\",\"preview\":\"three\"},"
		"{\"id\":\"t2\",\"name\":\"other\",\"active\":true,"
		"\"entries\":1,\"base\":\"other\",\"last_updated\":\"2023-11-14T22:13:20.000Z\"}],"
		"\"id\":[\"a\",\"b\"],\"parent\":[-1,0],"
		"\"role\":[0,1],\"kind\":[0,0],\"flags\":[2,0],\"size\":[7,5],"
		"\"preview\":[\"one t\",\"three\"],\"labels\":{\"1\":\"here\"},\"head\":0,"
		"\"tips\":{\"t1\":1,\"t2\":0}}");
	rt_buf_deinit(&buf);
	rt_object_unref(value);
}

static void
nothing_to_show(void **state)
{
	fixture *f = *state;
	const rt_project *value = rt_engine_value(f->engine);
	rt_columns_options none = {.take = 2};
	rt_buf buf;

	rt_buf_init(&buf, rt_alloc_libc(), RT_BUF_UNLIMITED);
	assert_int_equal(rt_view_columns(f->engine, value, 1, NULL, &buf, NULL), RT_OK);
	rt_buf_add_byte(&buf, '\0');
	assert_non_null(strstr(buf.ptr, "\"count\":0,"));
	assert_non_null(strstr(buf.ptr, "\"id\":[],\"parent\":[],"));
	assert_non_null(strstr(buf.ptr, "\"head\":-1,\"tips\":{\"t1\":-1}}"));
	rt_buf_clear(&buf);
	assert_int_equal(rt_view_columns(f->engine, value, 2, NULL, &buf, NULL), RT_NOT_FOUND);
	assert_int_equal(rt_view_columns(f->engine, value, 1, &none, &buf, NULL), RT_NOT_FOUND);
	assert_int_equal(buf.size, 0);
	rt_buf_deinit(&buf);
	rt_object_unref(value);
}

/* ---- no texts ---- */

static const rt_store_ops *whole_ops;
static size_t bodies_asked, picks;

static rt_status
count_reads(rt_store *store, rt_rows rows, rt_store_row_fn fn, void *ctx, rt_error *err)
{
	if (rows.table == RT_STORE_BODIES) {
		picks += rows.numbers != NULL;
		bodies_asked += rows.numbers == NULL;
	}
	return whole_ops->read(store, rows, fn, ctx, err);
}

static void
texts_are_read_in_runs_or_not_at_all(void **state)
{
	fixture *f = *state;
	rt_store_ops counting;
	const rt_project *value;
	int i;

	for (i = 0; i < 130; i++)
		do_it(f, "{\"op\":\"entry.append\",\"content\":\"some text\"}");
	whole_ops = f->store->ops;
	counting = *whole_ops;
	counting.read = count_reads;
	f->store->ops = &counting;
	bodies_asked = picks = 0;
	value = rt_engine_value(f->engine);
	rt_json_free(columns(f, value, 0, (rt_columns_options){.preview = 0}));
	assert_int_equal(picks, 0);
	rt_json_free(columns(f, value, 0, (rt_columns_options){.preview = 60}));
	assert_int_equal(picks, 3);
	rt_json_free(columns(f, value, 0, (rt_columns_options){.preview = 60, .from = 10, .count = 5}));
	assert_int_equal(picks, 4);
	assert_int_equal(bodies_asked, 0);
	rt_object_unref(value);
	f->store->ops = whole_ops;
}

/* ---- forks and lists in part ---- */

static void
expect_forks(fixture *f, rt_place place, const char *wanted)
{
	const rt_project *value = rt_engine_value(f->engine);
	rt_buf buf;

	rt_buf_init(&buf, rt_alloc_libc(), RT_BUF_UNLIMITED);
	assert_int_equal(rt_view_forks(f->engine, value, place, &buf, NULL), RT_OK);
	assert_string_equal(buf.ptr, wanted);
	rt_buf_deinit(&buf);
	rt_object_unref(value);
}

static void
forks_as_json(void **state)
{
	fixture *f = *state;
	const rt_project *value;
	rt_buf buf;

	rt_buf_init(&buf, rt_alloc_libc(), RT_BUF_UNLIMITED);
	do_it(f, "{\"op\":\"entry.append\",\"id\":\"a\",\"content\":\"question\"}");
	do_it(f, "{\"op\":\"entry.append\",\"id\":\"b\",\"content\":\"one\"}");
	expect_forks(f, (rt_place){0, 0},
		     "{\"seq\":2,\"discussion\":\"d1\",\"take\":\"t1\",\"forks\":[],\"differ\":[]}");
	do_it(f, "{\"op\":\"take.branch\",\"at\":\"a\"}");
	do_it(f, "{\"op\":\"entry.append\",\"id\":\"c\",\"content\":\"another\"}");
	do_it(f, "{\"op\":\"entry.edit\",\"entry\":\"a\",\"content\":\"question!\"}");
	expect_forks(f, (rt_place){0, 0},
		     "{\"seq\":5,\"discussion\":\"d1\",\"take\":\"t2\",\"forks\":[{\"entry\":\"c\","
		     "\"place\":1,\"count\":2,\"previous\":\"t1\",\"next\":null}],\"differ\":[\"a\"]}");
	value = rt_engine_value(f->engine);
	assert_int_equal(rt_view_forks(f->engine, value, (rt_place){1, 9}, &buf, NULL), RT_NOT_FOUND);
	assert_int_equal(rt_view_takes_first(f->engine, value, 0, false, 0, 2, &buf, NULL), RT_OK);
	assert_string_equal(buf.ptr, "[{\"id\":\"t2\",\"name\":\"main_take_1\",\"active\":true,"
				     "\"entries\":2,\"base\":\"main\",\"last_updated\":\"2023-11-14T22:13:20.000Z\","
				     "\"title\":\"question!\",\"preview\":\"question!\"}]");
	rt_object_unref(value);
	rt_buf_deinit(&buf);
}

/* ---- no memory ---- */

static void *
scarce_resize(void *ctx, void *ptr, size_t size)
{
	size_t *left = ctx;

	if (*left == 0)
		return NULL;
	(*left)--;
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
	size_t left = SIZE_MAX, n;
	rt_alloc alloc = {scarce_resize, scarce_release, &left};
	rt_engine_options options = {.alloc = &alloc, .env = &env};
	rt_columns_options how = {.preview = 20};
	const rt_project *value;
	rt_engine *engine = NULL;
	rt_status st;

	do_it(f, "{\"op\":\"entry.append\",\"id\":\"a\",\"content\":\"one\"}");
	do_it(f, "{\"op\":\"entry.append\",\"id\":\"b\",\"content\":\"two\"}");
	do_it(f, "{\"op\":\"label.set\",\"entry\":\"a\",\"label\":\"here\"}");
	do_it(f, "{\"op\":\"take.branch\",\"at\":\"a\"}");
	assert_int_equal(rt_engine_open(&options, f->store, &engine, NULL), RT_OK);
	value = rt_engine_value(engine);
	for (how.take = 0; how.take < 2; how.take++)
		for (st = RT_NOMEM, n = 0; st == RT_NOMEM; n++) {
			rt_buf buf;

			rt_buf_init(&buf, rt_alloc_libc(), RT_BUF_UNLIMITED);
			left = n;
			st = rt_view_columns(engine, value, 0, &how, &buf, NULL);
			left = SIZE_MAX;
			assert_true(st == RT_NOMEM || (st == RT_OK && n > 10));
			rt_buf_deinit(&buf);
			assert_true(n < 300);
		}
	for (st = RT_NOMEM, n = 0; st == RT_NOMEM; n++) {
		rt_buf buf;

		rt_buf_init(&buf, rt_alloc_libc(), RT_BUF_UNLIMITED);
		left = n;
		st = rt_view_forks(engine, value, (rt_place){0, 0}, &buf, NULL);
		left = SIZE_MAX;
		assert_true(st == RT_NOMEM || (st == RT_OK && n > 5));
		rt_buf_deinit(&buf);
		assert_true(n < 300);
	}
	rt_object_unref(value);
	rt_engine_close(engine);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(columns_as_json, set_up, tear_down),
		cmocka_unit_test_setup_teardown(forks_as_json, set_up, tear_down),
		cmocka_unit_test_setup_teardown(nothing_to_show, set_up, tear_down),
		cmocka_unit_test_setup_teardown(texts_are_read_in_runs_or_not_at_all, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(columns_say_what_rows_say, set_up, tear_down),
		cmocka_unit_test_setup_teardown(without_memory, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
