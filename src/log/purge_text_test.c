/* SPDX-License-Identifier: MIT
 *
 * Purge of a text: it is gone from everywhere, in the store and in copies elsewhere. */
#include "log/purge_testing.h"

static rt_status
hear(void *ctx, rt_str text, rt_error *err)
{
	rt_buf *heard = ctx;

	(void)err;
	rt_buf_add_str(heard, text);
	rt_buf_add_byte(heard, '|');
	return RT_OK;
}

#define FIRST_TEXTS                                                                                \
	"as it is now, a good deal later than that|as it was at the very first, and before|"

/* Programs that keep texts elsewhere are notified of the purged texts: of an entry, all that it
 * ever had. */
static void
others_are_told(void **state)
{
	fixture *f = *state;
	rt_buf heard;
	rt_engine_options options = {.env = &env, .create = true, .purged = hear,
				     .purged_ctx = &heard};
	rt_result result;

	rt_buf_init(&heard, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_engine_close(f->engine);
	assert_int_equal(rt_engine_open(&options, f->store, &f->engine, NULL), RT_OK);
	apply(f, "{\"op\":\"entry.append\",\"content\":\"as it was at the very first, and before\"}");
	apply(f, "{\"op\":\"entry.edit\",\"entry\":\":1\",\"content\":\"please continue\"}");
	apply(f, "{\"op\":\"entry.edit\",\"entry\":\":1\",\"content\":\"as it is now, a good deal later than that\"}");
	apply(f, "{\"op\":\"entry.append\",\"content\":\"another's text\"}");
	assert_int_equal(try_apply(f, "{\"op\":\"purge\",\"entry\":\":9\"}", &result), RT_NOT_FOUND);
	rt_result_deinit(&result);
	assert_int_equal(heard.size, 0);
	apply(f, "{\"op\":\"purge\",\"entry\":\":1\"}");
	assert_true(rt_str_is(rt_buf_str(&heard), FIRST_TEXTS FIRST_TEXTS)); /* before and after */
	rt_buf_clear(&heard);
	apply(f, "{\"op\":\"purge\",\"text\":\"other\"}");
	assert_true(rt_str_is(rt_buf_str(&heard), "other|"));
	rt_buf_deinit(&heard);
}

static rt_status
cannot_purge(void *ctx, rt_str text, rt_error *err)
{
	(void)ctx;
	(void)text;
	return rt_fail(err, RT_IO, "the request log: it is a folder");
}

/* A copy that remains elsewhere fails the purge, with a message; the store is purged, and other
 * requests are not affected. */
static void
a_copy_that_is_left_is_reported(void **state)
{
	static const char purge[] = "{\"op\":\"purge\",\"text\":\"" SECRET "\"}";
	fixture *f = *state;
	rt_engine_options options = {.env = &env, .create = true, .purged = cannot_purge};
	rt_result result;

	rt_engine_close(f->engine);
	assert_int_equal(rt_engine_open(&options, f->store, &f->engine, NULL), RT_OK);
	for (size_t i = 0; i < 2; i++) {
		apply(f, "{\"op\":\"entry.append\",\"content\":\"a long text with the " SECRET "\"}");
		assert_int_equal(try_apply(f, i == 0 ? purge : "{\"op\":\"purge\",\"entry\":\":2\"}",
					   &result), RT_IO);
		assert_non_null(strstr(result.error.text, "copies elsewhere may still contain it "
							  "(the request log: it is a folder)"));
		rt_result_deinit(&result);
		assert_false(shows(f, SECRET));
	}
	assert_int_equal(try_apply(f, purge, &result), RT_IO); /* again, although the store does not
								* contain it any more */
	rt_result_deinit(&result);
}

static rt_status
no_commit(rt_store *store, rt_error *err)
{
	(void)store;
	return rt_fail(err, RT_IO, "no space left");
}

/* A purge that is interrupted before its commit: others have been notified, the entry still has its
 * texts, and the same purge finds them when it is repeated. */
static void
an_interrupted_purge_is_repeated(void **state)
{
	static const char text[] = "a text of which nothing may be left anywhere";
	static const char purge[] = "{\"op\":\"purge\",\"entry\":\":1\"}";
	fixture *f = *state;
	const rt_store_ops *ops = f->store->ops;
	rt_store_ops failing = *ops;
	rt_buf heard;
	rt_engine_options options = {.env = &env, .create = true, .purged = hear,
				     .purged_ctx = &heard};
	rt_result result;

	failing.commit = no_commit;
	rt_buf_init(&heard, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_engine_close(f->engine);
	assert_int_equal(rt_engine_open(&options, f->store, &f->engine, NULL), RT_OK);
	apply(f, "{\"op\":\"entry.append\",\"content\":\"a text of which nothing may be left anywhere\"}");
	f->store->ops = &failing;
	assert_int_equal(try_apply(f, purge, &result), RT_IO);
	rt_result_deinit(&result);
	f->store->ops = ops;
	assert_non_null(strstr(heard.ptr, text));
	assert_true(shows(f, text));
	rt_buf_clear(&heard);
	assert_int_equal(try_apply(f, purge, &result), RT_OK);
	assert_false(result.unchanged);
	rt_result_deinit(&result);
	assert_non_null(strstr(heard.ptr, text));
	assert_false(shows(f, text));
	rt_buf_deinit(&heard);
}

/* The name of a project stays, and the note mentions it, also when nothing else contains the
 * text. */
static void
the_name_of_a_project(void **state)
{
	static const char words[] = "the name of the project contains";
	fixture *f = *state;
	rt_engine_options options = {.env = &env, .create = true, .project = RT_STR("p-" SECRET)};
	rt_result result;

	apply(f, "{\"op\":\"entry.append\",\"content\":\"the " SECRET "\"}");
	rt_engine_close(f->engine);
	assert_int_equal(rt_engine_open(&options, f->store, &f->engine, NULL), RT_OK);
	apply(f, "{\"op\":\"entry.append\",\"content\":\"the " SECRET "\"}");
	assert_int_equal(try_apply(f, "{\"op\":\"purge\",\"text\":\"" SECRET "\"}", &result), RT_OK);
	assert_false(result.unchanged);
	assert_non_null(strstr(result.note->ptr, words));
	rt_result_deinit(&result);
	assert_int_equal(try_apply(f, "{\"op\":\"purge\",\"text\":\"" SECRET "\"}", &result), RT_OK);
	assert_true(result.unchanged);
	assert_non_null(strstr(result.note->ptr, words));
	rt_result_deinit(&result);
	/* the name of another project is not affected */
	rt_engine_close(f->engine);
	open_engine(f);
	assert_int_equal(try_apply(f, "{\"op\":\"purge\",\"text\":\"" SECRET "\"}", &result), RT_OK);
	assert_false(result.unchanged);
	assert_null(strstr(result.note->ptr, words));
	rt_result_deinit(&result);
}

static void
a_text_is_gone_from_everywhere(void **state)
{
	fixture *f = *state;
	rt_result result;

	everywhere(f);
	assert_true(store_holds(f, SECRET));
	assert_true(shows(f, SECRET));
	assert_int_equal(try_apply(f, "{\"op\":\"purge\",\"text\":\"" SECRET "\"}", &result), RT_OK);
	assert_false(result.unchanged);
	assert_non_null(strstr(result.note->ptr, "1 draft deleted"));
	rt_result_deinit(&result);
	assert_false(store_holds(f, SECRET));
	assert_false(shows(f, SECRET));
	assert_false(files_hold(f, SECRET));
	assert_false(files_hold(f, "9f8e7d6c5b4a"));
	is_sound(f);

	/* everything that is not a secret is unchanged */
	assert_true(shows(f, "\"content\":\"clean\""));
	assert_true(shows(f, "\"content\":\"in the branch\""));
	apply(f, "{\"op\":\"entry.append\",\"content\":\"life goes on\"}");
	apply(f, "{\"op\":\"take.switch\",\"take\":\"main\"}");
	assert_true(shows(f, "\"content\":\"an id\""));
	assert_true(shows(f, "\"content\":\"a role\""));
	assert_true(shows(f, "\"content\":\"a kind\""));

	/* every past state can be read, without the secret */
	for (uint64_t seq = 0; seq <= 30; seq++) {
		const rt_project *past;
		rt_place place = {1, 0};
		rt_status st = rt_engine_value_at(f->engine, seq, &past, NULL);

		assert_int_equal(st, RT_OK);
		rt_buf_clear(&f->out);
		assert_int_equal(rt_view_show(f->engine, past, place, NULL, &f->out, NULL), RT_OK);
		assert_null(strstr(f->out.ptr, SECRET));
		rt_object_unref(past);
	}
	apply(f, "{\"op\":\"undo\",\"count\":100}");
	apply(f, "{\"op\":\"redo\",\"count\":100}");
	is_sound(f);

	/* and it stays that way after a restart */
	rt_engine_close(f->engine);
	open_engine(f);
	assert_false(shows(f, SECRET));
	is_sound(f);
	assert_int_equal(try_apply(f, "{\"op\":\"purge\",\"text\":\"" SECRET "\"}", &result), RT_OK);
	assert_true(result.unchanged);
	rt_result_deinit(&result);
}

/* Two names and two ids are still different. */
static void
masks_differ(void **state)
{
	fixture *f = *state;
	rt_result result;

	everywhere(f);
	apply(f, "{\"op\":\"purge\",\"text\":\"" SECRET "\"}");
	assert_true(shows(f, "\"XXXXXXXXXXXXXXXXXXXXX\""));
	assert_true(shows(f, "\"XXXXXXXXXXXXXXXXXXXX1\""));
	apply(f, "{\"op\":\"take.switch\",\"take\":\"XXXXXXXXXXXXXXXXXXXX1\"}");
	/* a later purge uses other masks: three of this size are in use */
	apply(f, "{\"op\":\"take.rename\",\"take\":\"main\",\"name\":\"another secret: hide!\"}");
	apply(f, "{\"op\":\"purge\",\"text\":\"another secret\"}");
	assert_int_equal(try_apply(f, "{\"op\":\"take.switch\",\"take\":\"XXXXXXXXXXXXXXXXXXXX3\"}",
				   &result), RT_OK);
	rt_result_deinit(&result);
	is_sound(f);
}

static void
words_of_ours_stay(void **state)
{
	fixture *f = *state;

	apply(f, "{\"op\":\"entry.append\",\"content\":\"the content of the User\"}");
	apply(f, "{\"op\":\"entry.append\",\"role\":\"AI\",\"content\":\"fine\",\"more\":{\"type\":\"x\"}}");
	apply(f, "{\"op\":\"setting.set\",\"key\":\"model\",\"value\":\"gpt\"}");
	apply(f, "{\"op\":\"purge\",\"text\":\"User\"}");
	apply(f, "{\"op\":\"purge\",\"text\":\"content\"}");
	apply(f, "{\"op\":\"purge\",\"text\":\"model\"}");
	assert_true(shows(f, "\"role\":\"User\",\"kind\":\"message\",\"content\":\"\""));
	assert_true(shows(f, "\"content\":\"fine\""));
	assert_true(shows(f, "\"gpt\""));
	is_sound(f);
}

/* The text of a mask, and one letter. */
static void
odd_texts(void **state)
{
	fixture *f = *state;

	everywhere(f);
	apply(f, "{\"op\":\"take.rename\",\"take\":\"main\",\"name\":\"XX\"}");
	apply(f, "{\"op\":\"purge\",\"text\":\"X\"}");
	apply(f, "{\"op\":\"purge\",\"text\":\"1\"}");
	apply(f, "{\"op\":\"purge\",\"text\":\"\\\"\"}");
	apply(f, "{\"op\":\"purge\",\"text\":\"\\u0000\"}");
	apply(f, "{\"op\":\"purge\",\"text\":\"a\"}");
	apply(f, "{\"op\":\"entry.append\",\"content\":\"\\u00e9\\ud83d\\ude00 \\\\ud83d\\\\ude00\"}");
	apply(f, "{\"op\":\"purge\",\"text\":\"\\ud83d\\ude00\"}");
	assert_false(shows(f, "\xF0\x9F\x98\x80"));
	is_sound(f);
}

static void
a_secret_with_signs(void **state)
{
	fixture *f = *state;

	apply(f, "{\"op\":\"entry.append\",\"content\":\"pw: \\\"a\\\\b\\n\\u00fc\\\" end\"}");
	apply(f, "{\"op\":\"entry.append\",\"content\":\"x\",\"more\":[\"a\\\\b\\n\\u00fc\"]}");
	apply(f, "{\"op\":\"entry.append\",\"content\":[{\"text\":\"a\\\\b\"},{\"text\":\"\\u00fc\"}]}");
	apply(f, "{\"op\":\"prompt.update\",\"text\":\"a\\\\b\\n\\u00fc\"}");
	apply(f, "{\"op\":\"setting.set\",\"key\":\"n\",\"value\":[4111111111111111,8192]}");
	apply(f, "{\"op\":\"purge\",\"text\":\"a\\\\b\\n\\u00fc\"}");
	apply(f, "{\"op\":\"purge\",\"text\":\"4111111111111111\"}");
	assert_false(shows(f, "\xC3\xBC"));
	assert_false(store_holds(f, "4111111111111111"));
	assert_true(shows(f, "[0,8192]"));
	is_sound(f);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		BOTH(others_are_told),
		BOTH(a_copy_that_is_left_is_reported),
		BOTH(an_interrupted_purge_is_repeated),
		BOTH(the_name_of_a_project),
		BOTH(a_text_is_gone_from_everywhere),
		BOTH(masks_differ),
		BOTH(words_of_ours_stay),
		BOTH(odd_texts),
		BOTH(a_secret_with_signs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
