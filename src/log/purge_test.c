/* SPDX-License-Identifier: MIT
 *
 * Purge: which content it removes from conversations, which it leaves unchanged, and that no byte
 * of a secret stays in the files. */
#include "log/purge_testing.h"

/* ---- purge of an entry ---- */

static void
an_entry_becomes_a_hole(void **state)
{
	fixture *f = *state;
	rt_result result;

	apply(f, "{\"op\":\"entry.append\",\"id\":\"a\",\"content\":\"one\"}");
	apply(f, "{\"op\":\"entry.append\",\"id\":\"b\",\"content\":\"the " SECRET "\",\"note\":\"x " SECRET "\"}");
	apply(f, "{\"op\":\"take.branch\",\"at\":\"b\"}");
	apply(f, "{\"op\":\"entry.edit\",\"entry\":\"b\",\"content\":\"changed " SECRET "\"}");
	apply(f, "{\"op\":\"entry.append\",\"id\":\"c\",\"content\":\"three\"}");
	apply(f, "{\"op\":\"take.promote\",\"take\":\"main_take_1\",\"name\":\"copy\"}");
	assert_int_equal(rt_engine_index(f->engine, NULL), RT_OK);
	assert_true(store_holds(f, SECRET));
	assert_int_equal(try_apply(f, "{\"op\":\"purge\",\"entry\":\"b\"}", &result), RT_OK);
	assert_int_equal(result.count, 2);
	assert_string_equal(result.entry, "b");
	assert_false(result.unchanged);
	assert_non_null(strstr(result.note->ptr, "backups"));
	rt_result_deinit(&result);
	assert_false(store_holds(f, SECRET));
	assert_false(files_hold(f, SECRET));
	assert_true(shows(f, "{\"id\":\"b\",\"role\":\"User\",\"kind\":\"message\",\"content\":\"\""));
	assert_true(shows(f, "\"purged\":true"));
	assert_true(shows(f, "\"content\":\"three\""));
	is_sound(f);
	/* undo works, and restores no text */
	apply(f, "{\"op\":\"undo\",\"count\":4}");
	assert_true(shows(f, "\"purged\":true"));
	apply(f, "{\"op\":\"redo\",\"count\":4}");
	/* nothing is left to purge the second time */
	assert_int_equal(try_apply(f, "{\"op\":\"purge\",\"entry\":\"b\"}", &result), RT_OK);
	assert_true(result.unchanged);
	rt_result_deinit(&result);
	is_sound(f);
}

static void
an_entry_that_is_in_no_take(void **state)
{
	fixture *f = *state;
	rt_result result;

	apply(f, "{\"op\":\"entry.append\",\"id\":\"a\",\"content\":\"one\"}");
	apply(f, "{\"op\":\"entry.append\",\"id\":\"b\",\"content\":\"the " SECRET "\"}");
	apply(f, "{\"op\":\"entry.delete\",\"entry\":\"b\"}");
	apply(f, "{\"op\":\"purge\",\"entry\":\"b\"}");
	assert_false(store_holds(f, SECRET));
	apply(f, "{\"op\":\"undo\"}");
	assert_true(shows(f, "\"purged\":true"));
	assert_int_equal(try_apply(f, "{\"op\":\"purge\",\"entry\":\"nobody\"}", &result), RT_NOT_FOUND);
	rt_result_deinit(&result);
	is_sound(f);
}

static void
says_who_else_has_the_words(void **state)
{
	fixture *f = *state;
	rt_result result;

	apply(f, "{\"op\":\"entry.append\",\"id\":\"a\",\"content\":\"left \"}");
	apply(f, "{\"op\":\"entry.append\",\"id\":\"b\",\"content\":\"the " SECRET "\"}");
	apply(f, "{\"op\":\"entry.merge\",\"entry\":\"a\"}");
	assert_int_equal(try_apply(f, "{\"op\":\"purge\",\"entry\":\"b\"}", &result), RT_OK);
	assert_non_null(strstr(result.note->ptr, "1 other text still contains the same words"));
	rt_result_deinit(&result);
	assert_true(store_holds(f, SECRET));
	apply(f, "{\"op\":\"purge\",\"text\":\"" SECRET "\"}");
	assert_false(store_holds(f, SECRET));
}

static void
needs_exactly_one_target(void **state)
{
	fixture *f = *state;
	static const char *const bad[] = {
		"{\"op\":\"purge\"}", "{\"op\":\"purge\",\"text\":\"\"}",
		"{\"op\":\"purge\",\"text\":\"x\",\"entry\":\":1\"}", "{\"op\":\"purge\",\"text\":7}"};
	rt_result result;

	apply(f, "{\"op\":\"entry.append\",\"content\":\"one\"}");
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(try_apply(f, bad[i], &result), RT_USAGE);
		rt_result_deinit(&result);
	}
	assert_int_equal(try_apply(f, "{\"op\":\"purge\",\"text\":\"not there\"}", &result), RT_OK);
	assert_true(result.unchanged);
	assert_int_equal(result.seq, 1);
	rt_result_deinit(&result);
}

/* ---- the files ---- */

static void
a_backup_made_after_is_clean(void **state)
{
	fixture *f = *state;
	char path[96];
	rt_error err = {0};

	everywhere(f);
	assert_true(files_hold(f, SECRET));
	apply(f, "{\"op\":\"purge\",\"text\":\"" SECRET "\"}");
	assert_false(files_hold(f, SECRET));
	path_of(f, "b.db", path);
	if (f->store->ops->backup(f->store, path, &err) != RT_OK)
		fail_msg("%s", err.text);
	assert_false(file_holds(f, "b.db", SECRET));
	rt_engine_close(f->engine);
	f->store->ops->close(f->store);
	assert_false(files_hold(f, SECRET));
	open_store(f, "b.db");
	open_engine(f);
	assert_false(shows(f, SECRET));
	is_sound(f);
}

/* A second process has the old value in memory. */
static void
another_process_does_not_bring_it_back(void **state)
{
	fixture *f = *state, other = {0};

	everywhere(f);
	apply(f, "{\"op\":\"entry.append\",\"content\":\"not in the checkpoint yet\"}");
	memcpy(other.folder, f->folder, sizeof(other.folder));
	rt_buf_init(&other.out, rt_alloc_libc(), RT_BUF_UNLIMITED);
	open_store(&other, "a.db");
	open_engine(&other);
	assert_true(shows(&other, SECRET));
	apply(f, "{\"op\":\"purge\",\"text\":\"" SECRET "\"}");
	if (rt_engine_checkpoint(other.engine, NULL) != RT_OK)
		print_message("# the other process kept no checkpoint\n");
	rt_engine_close(other.engine);
	open_engine(&other);
	assert_false(shows(&other, SECRET));
	apply(&other, "{\"op\":\"entry.append\",\"content\":\"from the other one\"}");
	assert_int_equal(rt_engine_checkpoint(other.engine, NULL), RT_OK);
	rt_engine_close(other.engine);
	other.store->ops->close(other.store);
	rt_buf_deinit(&other.out);
	assert_int_equal(rt_engine_refresh(f->engine, NULL), RT_OK);
	assert_true(shows(f, "from the other one"));
	assert_false(store_holds(f, SECRET));
	assert_false(files_hold(f, SECRET));
	is_sound(f);
}

/* ---- too little memory ---- */

/* Fails from the allocation on that left counts down to; 0: never. */
static void *
short_resize(void *ctx, void *ptr, size_t size)
{
	long *left = ctx;

	if (*left == 1)
		return NULL;
	*left -= *left > 1;
	return rt_resize(rt_alloc_libc(), ptr, size);
}

static void
short_release(void *ctx, void *ptr)
{
	(void)ctx;
	rt_free(rt_alloc_libc(), ptr);
}

static bool
count_secret(void *ctx, const rt_store_row *row)
{
	*(int *)ctx += rt_str_find(row->data, RT_STR(SECRET), 0) != SIZE_MAX;
	return true;
}

/* Some bodies would be blank and others not, without a row that says so. */
static void
memory_that_ends_leaves_all_bodies_alone(void **state)
{
	fixture *f = *state;
	long left = 0, n;
	rt_alloc scarce = {short_resize, short_release, &left};
	rt_engine_options options = {.env = &env, .alloc = &scarce};
	rt_status st = RT_NOMEM;
	rt_result result;
	uint64_t head, now, project = rt_engine_project_number(f->engine);

	apply(f, "{\"op\":\"entry.append\",\"content\":\"one " SECRET "\"}");
	apply(f, "{\"op\":\"entry.append\",\"content\":\"two " SECRET "\"}");
	apply(f, "{\"op\":\"entry.append\",\"content\":\"three " SECRET "\"}");
	assert_int_equal(f->store->ops->head(f->store, RT_STORE_LOG, project, &head, NULL), RT_OK);
	rt_engine_close(f->engine);
	assert_int_equal(rt_engine_open(&options, f->store, &f->engine, NULL), RT_OK);
	for (n = 1; st != RT_OK; n++) {
		int count = 0;

		left = n;
		st = try_apply(f, "{\"op\":\"purge\",\"text\":\"" SECRET "\"}", &result);
		left = 0;
		rt_result_deinit(&result);
		if (st == RT_OK)
			break;
		assert_int_equal(st, RT_NOMEM);
		assert_int_equal(f->store->ops->head(f->store, RT_STORE_LOG, project, &now, NULL),
				 RT_OK);
		assert_int_equal(now, head);
		assert_int_equal(f->store->ops->read(
					 f->store,
					 rt_rows_between(RT_STORE_BODIES, project, 1, UINT32_MAX),
					 count_secret, &count, NULL),
				 RT_OK);
		assert_int_equal(count, 3);
	}
	assert_true(n > 20);
	assert_false(store_holds(f, SECRET));
	is_sound(f);
	rt_engine_close(f->engine);
	open_engine(f);
}

/* The words are spread over two blocks, so the body has to be read to find them. */
static void
memory_that_ends_finds_no_less(void **state)
{
	long left = 0, n;
	rt_alloc scarce = {short_resize, short_release, &left};
	rt_str body = RT_STR("J{\"content\":[{\"type\":\"text\",\"text\":\"one\"},"
			     "{\"type\":\"text\",\"text\":\"two\"}]}");
	bool found = false;

	(void)state;
	for (n = 1; !found; n++) {
		rt_scope s;

		rt_scope_init(&s, &scarce);
		left = n;
		rt_needle needle = rt_needle_of(&s, RT_STR("one\ntwo"));
		found = rt_needle_in_body(&needle, body);
		left = 0;
		assert_true(found || s.status == RT_NOMEM);
		rt_scope_deinit(&s);
		assert_true(n < 100);
	}
}

/* ---- the parts ---- */

static bool
in(const char *text, const char *bytes)
{
	rt_scope s;

	rt_scope_init(&s, rt_alloc_libc());
	rt_needle needle = rt_needle_of(&s, rt_str_of(text));
	bool found = rt_needle_in_body(&needle, rt_str_of(bytes));
	assert_true(rt_ok(&s));
	rt_scope_deinit(&s);
	return found;
}

static void
finds_a_text_in_bodies(void **state)
{
	(void)state;
	assert_true(in("secret", "Ta secret"));
	assert_true(in("secret", "Ta \\u0073ecret"));
	assert_false(in("secret", "TSecret"));
	assert_false(in("secret", "X"));
	assert_true(in("secret", "J{\"content\":\"a\",\"k\":{\"secret\":1}}"));
	assert_true(in("secret", "J{\"content\":\"a\",\"k\":\"{\\\"b\\\":\\\"\\\\u0073ecret\\\"}\"}"));
	assert_true(in("secret", "P{\"type\":\"message\",\"message\":{\"content\":\"secret\"}}"));
	assert_true(in("secret", "P{\"broken\":\"secret"));
	assert_true(in("secret", "Thex 736563726574"));
	assert_true(in("12345", "J{\"content\":\"\",\"n\":12345}"));
	assert_false(in("2345", "J{\"content\":\"\",\"n\":12345}"));
	assert_false(in("content", "J{\"content\":\"\",\"type\":1}"));
	assert_true(in("content", "J{\"content\":\"content\",\"type\":1}"));
	assert_true(in("\"n\":1", "J{\"content\":\"\",\"n\":12345}"));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_a_text_in_bodies),
		cmocka_unit_test(memory_that_ends_finds_no_less),
		BOTH(an_entry_becomes_a_hole),
		BOTH(an_entry_that_is_in_no_take),
		BOTH(says_who_else_has_the_words),
		BOTH(needs_exactly_one_target),
		BOTH(memory_that_ends_leaves_all_bodies_alone),
		ON(a_backup_made_after_is_clean, "sqlite"),
		ON(another_process_does_not_bring_it_back, "sqlite"),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
