/* SPDX-License-Identifier: MIT
 *
 * From one list to another: the result equals the wanted list, remaining entries are unchanged, and
 * one undo restores everything. */
#include "chat/send_testing.h"

#include "formats/formats.h"
#include "server/replace_list.h"
#include "store/store_memory.h"

typedef struct fixture {
	world w;
	rt_buf ops; /* the expected plan */
	rt_replace_list_counts counts;
	rt_error err;
} fixture;

static int
set_up(void **state)
{
	fixture *f = test_calloc(1, sizeof(*f));

	world_init(&f->w);
	assert_int_equal(rt_store_memory_open(rt_alloc_libc(), &f->w.env, &f->w.store, NULL),
			 RT_OK);
	world_open_engine(&f->w, NULL);
	rt_buf_init(&f->ops, rt_alloc_libc(), RT_BUF_UNLIMITED);
	*state = f;
	return 0;
}

static int
tear_down(void **state)
{
	fixture *f = *state;

	rt_buf_deinit(&f->ops);
	world_deinit(&f->w);
	test_free(f);
	return 0;
}

/* The active take in the form of show. */
static rt_json_doc *
shown(fixture *f)
{
	const rt_project *value = rt_engine_value(f->w.engine);
	rt_place place = {0, 0};
	rt_json_doc *doc;
	rt_buf json;

	rt_buf_init(&json, rt_alloc_libc(), RT_BUF_UNLIMITED);
	assert_int_equal(rt_view_show(f->w.engine, value, place, NULL, &json, NULL), RT_OK);
	rt_object_unref(value);
	assert_int_equal(rt_json_read(rt_alloc_libc(), rt_buf_str(&json), &doc, NULL), RT_OK);
	rt_buf_deinit(&json);
	return doc;
}

static yyjson_val *
entries_of(rt_json_doc *doc)
{
	return rt_json_get(rt_json_root(doc), "entries");
}

static bool
is_used(void *ctx, rt_str id)
{
	fixture *f = ctx;
	const rt_project *value = rt_engine_value(f->w.engine);
	uint32_t number = 0;

	assert_int_equal(rt_strs_find(value->ledger->ids, id, &number, NULL), RT_OK);
	if (number == 0)
		number = rt_id_number(value->ledger->salt, id);
	rt_object_unref(value);
	return number != 0;
}

static rt_status
plan(fixture *f, yyjson_val *wanted)
{
	rt_json_doc *now = shown(f);
	rt_replace_plan made;
	rt_scope s;
	rt_status st;

	rt_buf_clear(&f->ops);
	rt_scope_init(&s, rt_alloc_libc());
	made = rt_replace_list_plan(&s, entries_of(now), wanted, is_used, f);
	f->counts = made.counts;
	if (rt_ok(&s)) {
		rt_json_open(&f->ops, NULL, '[');
		for (size_t i = 0; i < made.count; i++)
			rt_request_write(&f->ops, &made.requests[i]);
		rt_json_close(&f->ops, ']');
	}
	st = rt_scope_end(&s, &f->err);
	rt_json_free(now);
	return st;
}

/* Executes the plan as one step. */
static void
carry_out(fixture *f)
{
	rt_json_doc *doc;
	yyjson_val *item, **requests;
	rt_result *results;
	size_t i, max, count;

	assert_int_equal(rt_json_read(rt_alloc_libc(), rt_buf_str(&f->ops), &doc, NULL), RT_OK);
	count = yyjson_arr_size(rt_json_root(doc));
	requests = test_calloc(count + 1, sizeof(yyjson_val *));
	results = test_calloc(count + 1, sizeof(*results));
	yyjson_arr_foreach(rt_json_root(doc), i, max, item) requests[i] = item;
	if (count > 0 && rt_engine_apply_json(f->w.engine, requests, count, true, RT_STR(""), RT_STR(""),
					 results) != RT_OK) {
		for (i = 0; i + 1 < count && strncmp(results[i].error.text, "not applied", 11) == 0;)
			i++;
		fail_msg("%s: %s", results[i].error.text, f->ops.ptr);
	}
	for (i = 0; i < count; i++)
		rt_result_deinit(&results[i]);
	test_free(requests);
	test_free(results);
	rt_json_free(doc);
}

/* The list is replaced by this one, in JSON. */
static void
replace(fixture *f, const char *json)
{
	rt_json_doc *doc;

	assert_int_equal(rt_json_read(rt_alloc_libc(), rt_str_of(json), &doc, NULL), RT_OK);
	if (plan(f, rt_json_root(doc)) != RT_OK)
		fail_msg("%s: %s", json, f->err.text);
	carry_out(f);
	rt_json_free(doc);
}

static void
plans(fixture *f, const char *json, const char *ops)
{
	rt_json_doc *doc;

	assert_int_equal(rt_json_read(rt_alloc_libc(), rt_str_of(json), &doc, NULL), RT_OK);
	if (plan(f, rt_json_root(doc)) != RT_OK)
		fail_msg("%s: %s", json, f->err.text);
	assert_string_equal(f->ops.ptr, ops);
	rt_json_free(doc);
}

static void
refuses(fixture *f, const char *json, const char *why)
{
	rt_json_doc *doc;

	assert_int_equal(rt_json_read(rt_alloc_libc(), rt_str_of(json), &doc, NULL), RT_OK);
	assert_int_equal(plan(f, rt_json_root(doc)), RT_USAGE);
	if (strstr(f->err.text, why) == NULL)
		fail_msg("%s is not in %s", why, f->err.text);
	assert_int_equal(f->ops.size, 0);
	rt_json_free(doc);
}

static void
four(fixture *f)
{
	world_add(&f->w, "a", "User", "one");
	world_add(&f->w, "b", "AI", "two");
	world_add(&f->w, "c", "User", "three");
	world_add(&f->w, "d", "AI", "four");
}

/* ---- by example ---- */

static void
what_is_the_same_is_left_alone(void **state)
{
	fixture *f = *state;

	four(f);
	plans(f,
	      "[{\"id\":\"a\"},{\"id\":\"b\",\"content\":\"two\"},{\"role\":\"User\","
	      "\"content\":\"three\"},{\"id\":\"d\",\"role\":\"AI\",\"muted\":false,\"label\":null}]",
	      "[]");
	assert_int_equal(f->counts.added + f->counts.edited + f->counts.deleted + f->counts.moved,
			 0);
}

static void
one_text_is_an_edit(void **state)
{
	fixture *f = *state;

	four(f);
	plans(f, "[{\"id\":\"a\"},{\"id\":\"b\",\"content\":\"2\"},{\"id\":\"c\"},{\"id\":\"d\"}]",
	      "[{\"op\":\"entry.edit\",\"entry\":\"b\",\"content\":\"2\"}]");
	/* a client that knows of no ids */
	plans(f,
	      "[{\"role\":\"User\",\"content\":\"one\"},{\"role\":\"AI\",\"content\":\"2\"},"
	      "{\"role\":\"User\",\"content\":\"three\"},{\"role\":\"AI\",\"content\":\"four\"}]",
	      "[{\"op\":\"entry.edit\",\"entry\":\"b\",\"content\":\"2\"}]");
	assert_int_equal(f->counts.edited, 1);
}

static void
one_that_comes_to_the_front_is_one_move(void **state)
{
	fixture *f = *state;

	four(f);
	plans(f, "[{\"id\":\"d\"},{\"id\":\"a\"},{\"id\":\"b\"},{\"id\":\"c\"}]",
	      "[{\"op\":\"entry.move\",\"entry\":\"d\",\"before\":\"a\"}]");
	plans(f, "[{\"id\":\"b\"},{\"id\":\"c\"},{\"id\":\"d\"},{\"id\":\"a\"}]",
	      "[{\"op\":\"entry.move\",\"entry\":\"a\",\"after\":\":-1\"}]");
	assert_int_equal(f->counts.moved, 1);
}

static void
runs_are_deleted_at_once(void **state)
{
	fixture *f = *state;

	four(f);
	plans(f, "[{\"id\":\"a\"},{\"role\":\"User\",\"content\":\"new\"}]",
	      "[{\"op\":\"entry.delete\",\"from\":\"b\",\"to\":\"d\"},{\"op\":\"entry.insert\","
	      "\"after\":\":-1\",\"role\":\"User\",\"content\":\"new\"}]");
	plans(f, "[]", "[{\"op\":\"entry.delete\",\"from\":\"a\",\"to\":\"d\"}]");
	assert_int_equal(f->counts.deleted, 4);
}

static void
equal_texts_stay_in_their_places(void **state)
{
	fixture *f = *state;

	world_add(&f->w, "a", "User", "ok");
	world_add(&f->w, "b", "AI", "x");
	world_add(&f->w, "c", "User", "ok");
	/* the one after x stays, not the first of the two */
	plans(f, "[{\"role\":\"AI\",\"content\":\"x\"},{\"role\":\"User\",\"content\":\"ok\"}]",
	      "[{\"op\":\"entry.delete\",\"entry\":\"a\"}]");
}

static void
fields_are_written_into_the_entry(void **state)
{
	fixture *f = *state;

	world_apply(&f->w,
		    "{\"op\":\"entry.append\",\"id\":\"a\",\"role\":\"AI\",\"content\":\"x\","
		    "\"usage\":{\"input_tokens\":3},\"partial\":true,"
		    "\"thinking_segments\":[\"hm\"]}");
	replace(f, "[{\"id\":\"a\",\"content\":\"x\",\"mark\":[1,{\"b\":2}]}]");
	world_has(&f->w, "a", "\"mark\":[1,{\"b\":2}]");
	world_has(&f->w, "a", "\"usage\":{\"input_tokens\":3}");
	world_has(&f->w, "a", "\"partial\":true");
	world_has(&f->w, "a", "\"thinking_segments\":[\"hm\"]");
	assert_int_equal(f->counts.edited, 1);
	/* a time cannot be edited: another entry */
	replace(f,
		"[{\"id\":\"a\",\"ts\":\"2020-01-01T00:00:00Z\",\"role\":\"AI\",\"content\":\"x\","
		"\"label\":\"L\"}]");
	assert_int_equal(f->counts.added, 1);
	assert_int_equal(f->counts.deleted, 1);
	world_has(&f->w, ":1", "\"ts\":\"2020-01-01T00:00:00Z\"");
	world_has(&f->w, "L", "\"label\":\"L\"");
	world_lacks(&f->w, ":1", "\"id\":\"a\"");
}

/* The mark belongs to Retake: changed text has it, also if fields changed; an entry that is sent
 * back with it is unchanged, and a client cannot set it. */
static void
what_was_edited_is_marked(void **state)
{
	fixture *f = *state;

	four(f);
	replace(f, "[{\"id\":\"a\",\"content\":\"x\",\"mark\":1},{\"id\":\"b\",\"content\":\"y\"},"
		   "{\"id\":\"c\",\"mark\":1},{\"id\":\"d\",\"edited\":true}]");
	world_has(&f->w, "a", "\"edited\":true");
	world_has(&f->w, "a", "\"mark\":1");
	world_has(&f->w, "b", "\"edited\":true");
	world_lacks(&f->w, "c", "\"edited\"");
	world_lacks(&f->w, "d", "\"edited\"");
	plans(f,
	      "[{\"id\":\"a\",\"edited\":true},{\"id\":\"b\",\"content\":\"y\"},{\"id\":\"c\"},"
	      "{\"id\":\"d\",\"edited\":true}]",
	      "[]");
	replace(f, "[{\"id\":\"new\",\"content\":\"x\",\"edited\":true}]");
	world_lacks(&f->w, "new", "\"edited\"");
}

static void
how_it_is_shown_is_no_edit(void **state)
{
	fixture *f = *state;

	four(f);
	plans(f,
	      "[{\"id\":\"a\",\"collapsed\":true},{\"id\":\"b\"},{\"id\":\"c\",\"read_mode\":false},"
	      "{\"id\":\"d\"}]",
	      "[{\"op\":\"entry.view\",\"entry\":\"a\",\"collapsed\":true}]");
	assert_int_equal(f->counts.edited, 0);
	assert_int_equal(f->counts.shown, 1);
}

static void
an_id_that_is_new_is_kept_and_an_old_one_is_not_given_twice(void **state)
{
	fixture *f = *state;

	four(f);
	replace(f, "[{\"id\":\"mine\",\"role\":\"User\",\"content\":\"x\"}]");
	world_has(&f->w, "mine", "\"content\":\"x\"");
	replace(f, "[{\"id\":\"a\",\"role\":\"User\",\"content\":\"back\"},{\"id\":\"mine\"}]");
	assert_string_equal(world_shown(&f->w), "User: back\nUser: x\n");
	world_lacks(&f->w, ":1", "\"id\":\"a\"");
}

static void
what_is_no_list_of_entries_is_refused(void **state)
{
	fixture *f = *state;

	four(f);
	refuses(f, "{}", "not an array");
	refuses(f, "[7]", "entry 1 is not an object");
	refuses(f, "[{\"id\":\"a\"},{\"id\":\"a\"}]", "entry 2: the id \"a\" appears twice");
	refuses(f, "[{\"role\":\"\"}]", "\"role\" is empty");
	refuses(f, "[{\"role\":1}]", "\"role\" must be a string");
	refuses(f, "[{\"content\":{}}]", "\"content\" must be a string or an array");
	refuses(f, "[{\"ts\":\"soon\"}]", "\"ts\" must be an ISO 8601 time");
	refuses(f, "[{\"id\":\"a\"},{\"role\":\"AI\",\"take\":\"x\"}]",
		"cannot have the name \"take\"");
}

/* ---- at random ---- */

static const char *const roles[] = {"User", "AI", "System"};
static const char *const texts[] = {"ok", "yes", "\\u00e9t\\u00e9", "a longer text", "[1]", ""};

static uint64_t
roll(fixture *f, uint64_t sides)
{
	return next_random(&f->w.chance) % sides;
}

static void
add_member(rt_buf *out, const char *key, const char *json)
{
	rt_json_add_key(out, key);
	rt_buf_add_c(out, json);
}

static void
add_random(fixture *f, rt_buf *out)
{
	rt_buf_add_f(out, "{\"role\":\"%s\",\"content\":\"%s\"", roles[roll(f, 3)],
		     texts[roll(f, 6)]);
	if (roll(f, 4) == 0)
		rt_buf_add_f(out, ",\"ts\":\"2024-05-0%uT10:00:00Z\"", (unsigned)roll(f, 3) + 1);
	if (roll(f, 5) == 0)
		rt_buf_add_f(out, ",\"mark\":{\"n\":%u}", (unsigned)roll(f, 3));
	if (roll(f, 6) == 0)
		rt_buf_add_c(out, ",\"muted\":true");
	if (roll(f, 6) == 0)
		rt_buf_add_c(out, ",\"kind\":\"custom\"");
	if (roll(f, 9) == 0)
		rt_buf_add_c(out, ",\"content\":[{\"type\":\"text\",\"text\":\"t\"}]");
	rt_buf_add_byte(out, '}');
}

/* An entry, perhaps with one member changed. */
static void
add_changed(fixture *f, yyjson_val *entry, rt_buf *out)
{
	bool with_id = roll(f, 3) > 0, with_ts = roll(f, 2) > 0, edited = roll(f, 5) == 0;
	yyjson_val *key, *value;
	size_t i, max;

	rt_buf_add_byte(out, '{');
	rt_json_foreach(entry, i, max, key, value)
	{
		rt_str name = rt_json_str(key);

		if ((rt_str_is(name, "id") && !with_id) || (rt_str_is(name, "ts") && !with_ts) ||
		    rt_str_is(name, "collapsed") || rt_str_is(name, "read_mode"))
			continue;
		if ((rt_str_is(name, "muted") || rt_str_is(name, "mark") ||
		     rt_str_is(name, "kind")) &&
		    roll(f, 4) == 0)
			continue;
		if (edited && rt_str_is(name, "content")) {
			rt_json_add_key(out, "content");
			rt_buf_add_f(out, "\"%s\"", texts[roll(f, 6)]);
			continue;
		}
		rt_json_add_key_str(out, name);
		if (rt_str_is(name, "muted") && roll(f, 6) == 0)
			rt_buf_add_c(out, yyjson_get_bool(value) ? "false" : "true");
		else
			rt_json_add_value(out, value);
	}
	if (roll(f, 8) == 0)
		add_member(out, "extra", "\"e\"");
	if (roll(f, 12) == 0)
		add_member(out, "ts", "\"2021-01-01T00:00:00Z\"");
	if (roll(f, 9) == 0)
		add_member(out, "role", "\"Critic\"");
	if (roll(f, 12) == 0)
		add_member(out, "label", "\"here\"");
	rt_buf_add_byte(out, '}');
}

static rt_json_doc *
wish(fixture *f, yyjson_val *current)
{
	size_t count = yyjson_arr_size(current), i, j;
	size_t lost = count > 20 ? 5 : roll(f, 5); /* of ten */
	size_t *order = test_calloc(count + 1, sizeof(*order));
	rt_json_doc *doc;
	rt_buf out;

	for (i = 0; i < count; i++)
		order[i] = i;
	for (i = roll(f, 4); count > 1 && i > 0; i--) { /* a few move elsewhere */
		size_t a = roll(f, count), b = roll(f, count), moved = order[a];

		memmove(order + a, order + a + 1, (count - a - 1) * sizeof(*order));
		memmove(order + b + 1, order + b, (count - 1 - b) * sizeof(*order));
		order[b] = moved;
	}
	rt_buf_init(&out, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_buf_add_byte(&out, '[');
	for (i = 0; i <= count; i++) {
		for (j = roll(f, 6) == 0 ? roll(f, 4) : 0; j > 0; j--) {
			rt_json_add_comma(&out);
			add_random(f, &out);
		}
		if (i < count && roll(f, 10) >= lost) {
			rt_json_add_comma(&out);
			add_changed(f, yyjson_arr_get(current, order[i]), &out);
		}
	}
	rt_buf_add_byte(&out, ']');
	assert_int_equal(rt_json_read(rt_alloc_libc(), rt_buf_str(&out), &doc, NULL), RT_OK);
	rt_buf_deinit(&out);
	test_free(order);
	return doc;
}

static bool
same_json(yyjson_val *a, yyjson_val *b)
{
	rt_buf x, y;
	bool same;

	rt_buf_init(&x, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_buf_init(&y, rt_alloc_libc(), RT_BUF_UNLIMITED);
	if (a != NULL)
		rt_json_add_sorted(&x, rt_alloc_libc(), a);
	if (b != NULL)
		rt_json_add_sorted(&y, rt_alloc_libc(), b);
	same = rt_str_eq(rt_buf_str(&x), rt_buf_str(&y));
	rt_buf_deinit(&x);
	rt_buf_deinit(&y);
	return same;
}

static yyjson_val *
with_id(yyjson_val *entries, rt_str id)
{
	yyjson_val *entry;
	size_t i, max;

	yyjson_arr_foreach(
		entries, i, max,
		entry) if (rt_str_eq(rt_json_str(rt_json_get(entry, "id")), id)) return entry;
	return NULL;
}

/* Every wanted member is present; an entry that stayed has all its other members, too. */
static void
reads_as_wanted(fixture *f, yyjson_val *before, yyjson_val *wanted)
{
	rt_json_doc *now = shown(f);
	yyjson_val *entry, *key, *value;
	size_t i, j, max, last;

	if (yyjson_arr_size(entries_of(now)) != yyjson_arr_size(wanted))
		fail_msg("%zu entries, not %zu: %s", yyjson_arr_size(entries_of(now)),
			 yyjson_arr_size(wanted), f->ops.ptr);
	yyjson_arr_foreach(wanted, i, max, entry)
	{
		yyjson_val *got = yyjson_arr_get(entries_of(now), i), *was;
		bool other_ts = false, other_kind = false;

		rt_json_foreach(entry, j, last, key, value)
		{
			if (rt_str_is(rt_json_str(key), "id") ||
			    rt_str_is(rt_json_str(key), "edited")) /* cannot be requested */
				continue;
			if (!same_json(rt_json_get(got, yyjson_get_str(key)),
				       rt_json_get(entry, yyjson_get_str(key))))
				fail_msg("entry %zu: \"%s\" is another: %s", i + 1,
					 yyjson_get_str(key), f->ops.ptr);
		}
		was = with_id(before, rt_json_str(rt_json_get(entry, "id")));
		if (was == NULL)
			continue;
		other_ts = rt_json_get(entry, "ts") != NULL &&
			   !same_json(rt_json_get(was, "ts"), rt_json_get(entry, "ts"));
		other_kind = rt_json_get(entry, "kind") != NULL &&
			     !same_json(rt_json_get(was, "kind"), rt_json_get(entry, "kind"));
		if (!other_ts && !other_kind) {
			assert_true(same_json(rt_json_get(got, "id"), rt_json_get(was, "id")));
			assert_true(same_json(rt_json_get(got, "ts"), rt_json_get(was, "ts")));
			assert_int_equal(yyjson_is_true(rt_json_get(got, "edited")),
					 yyjson_is_true(rt_json_get(was, "edited")) ||
						 !same_json(rt_json_get(got, "content"),
							    rt_json_get(was, "content")));
			if (rt_json_get(entry, "mark") == NULL)
				assert_true(same_json(rt_json_get(got, "mark"),
						      rt_json_get(was, "mark")));
		}
	}
	rt_json_free(now);
}

static void
any_list_becomes_any_other(void **state)
{
	fixture *f = *state;
	size_t steps = 0, round;

	for (round = 0; round < 400; round++) {
		rt_json_doc *now = shown(f), *wanted = wish(f, entries_of(now));
		uint64_t seq = world_seq(&f->w);
		rt_buf before, after;

		f->w.now_us += 1000000;
		world_export(&f->w, &rt_format_canonical, &before);
		if (plan(f, rt_json_root(wanted)) != RT_OK)
			fail_msg("round %zu: %s", round, f->err.text);
		carry_out(f);
		reads_as_wanted(f, entries_of(now), rt_json_root(wanted));
		assert_int_equal(world_seq(&f->w), seq + (f->ops.size > 2));
		if (f->ops.size > 2) {
			steps++;
			world_apply(&f->w, "{\"op\":\"undo\"}");
			world_export(&f->w, &rt_format_canonical, &after);
			if (!rt_str_eq(rt_buf_str(&before), rt_buf_str(&after)))
				fail_msg("round %zu: undo did not bring it back: %s", round,
					 f->ops.ptr);
			rt_buf_deinit(&after);
			world_apply(&f->w, "{\"op\":\"redo\"}");
		}
		rt_json_free(wanted);
		/* replaced by itself, nothing changes */
		rt_json_free(now);
		now = shown(f);
		assert_int_equal(plan(f, entries_of(now)), RT_OK);
		assert_string_equal(f->ops.ptr, "[]");
		rt_json_free(now);
		rt_buf_deinit(&before);
	}
	assert_true(steps > 300);
}

/* ---- without memory ---- */

typedef struct scarce {
	size_t left;
} scarce;

static void *
scarce_resize(void *ctx, void *ptr, size_t size)
{
	scarce *s = ctx;

	if (s->left == 0)
		return NULL;
	s->left--;
	return rt_resize(rt_alloc_libc(), ptr, size);
}

static void
scarce_release(void *ctx, void *ptr)
{
	(void)ctx;
	rt_free(rt_alloc_libc(), ptr);
}

static void
without_memory_nothing_is_written(void **state)
{
	static const char json[] =
		"[{\"id\":\"a\",\"content\":[{\"type\":\"text\",\"text\":\"u\"}]},"
		"{\"role\":\"AI\",\"content\":\"two\"},{\"id\":\"c\",\"m\":{\"x\":[1]}},"
		"{\"role\":\"AI\",\"content\":\"five\",\"label\":\"L\"}]";
	fixture *f = *state;
	scarce s = {0};
	rt_alloc alloc = {scarce_resize, scarce_release, &s};
	rt_json_doc *doc, *now;
	size_t failures = 0, n;

	four(f);
	now = shown(f);
	assert_int_equal(rt_json_read(rt_alloc_libc(), rt_str_of(json), &doc, NULL), RT_OK);
	for (n = 0;; n++) {
		rt_scope scope;
		rt_status st;

		s.left = n;
		rt_scope_init(&scope, &alloc);
		(void)rt_replace_list_plan(&scope, entries_of(now), rt_json_root(doc), NULL, NULL);
		st = rt_scope_end(&scope, &f->err);
		if (st == RT_OK)
			break;
		assert_int_equal(st, RT_NOMEM);
		failures++;
	}
	assert_true(failures > 5);
	rt_json_free(doc);
	rt_json_free(now);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(what_is_the_same_is_left_alone, set_up, tear_down),
		cmocka_unit_test_setup_teardown(one_text_is_an_edit, set_up, tear_down),
		cmocka_unit_test_setup_teardown(one_that_comes_to_the_front_is_one_move, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(runs_are_deleted_at_once, set_up, tear_down),
		cmocka_unit_test_setup_teardown(equal_texts_stay_in_their_places, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(fields_are_written_into_the_entry, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(what_was_edited_is_marked, set_up, tear_down),
		cmocka_unit_test_setup_teardown(how_it_is_shown_is_no_edit, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			an_id_that_is_new_is_kept_and_an_old_one_is_not_given_twice, set_up,
			tear_down),
		cmocka_unit_test_setup_teardown(what_is_no_list_of_entries_is_refused, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(any_list_becomes_any_other, set_up, tear_down),
		cmocka_unit_test_setup_teardown(without_memory_nothing_is_written, set_up,
						tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
