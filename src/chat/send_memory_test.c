/* SPDX-License-Identifier: MIT
 *
 * Sending when any allocation fails: the question and the reply are each stored or not, and the
 * received part is not lost. */
#include "chat/send_script_testing.h"
#include "base/failing_testing.h"
#include "log/checkpoint.h"

/* After any failure the question exists or not, the reply exists or not, and if not, the received
 * part is in a side row. */
static bool
send_without_memory(long left, long *out_used)
{
	failing f = {.left = -1};
	rt_alloc alloc = {failing_resize, failing_release, &f};
	const rt_project *value;
	rt_error why = {0};
	const char *shown;
	size_t kept = 0;
	world w;
	rt_status st;

	world_init(&w);
	assert_int_equal(rt_store_memory_open(rt_alloc_libc(), &w.env, &w.store, NULL), RT_OK);
	world_open_engine(&w, &alloc);
	world_add(&w, "a", "User", "Hello");
	world_add(&w, "b", "AI", "Hi");
	world_apply(&w, "{\"op\":\"setting.set\",\"key\":\"edit_notices\",\"value\":\"all\"}");
	world_apply(&w, "{\"op\":\"entry.edit\",\"entry\":\"b\",\"content\":\"Good day\"}");
	world_apply(&w, "{\"op\":\"prompt.update\",\"text\":\"a cat\"}");
	play(&w, "{\"thinking\":\"hm\"}\n{\"signature\":\"s\"}\n{\"text\":\"One \"}\n"
		 "{\"wait_ms\":300}\n"
		 "{\"text\":\"two\"}\n{\"call\":{\"id\":\"c\",\"name\":\"n\","
		 "\"arguments\":{\"x\":1}}}");
	f.left = left;
	st = world_ask(&w, "Q");
	*out_used = left - f.left;
	f.left = -1;
	if (st != RT_OK && st != RT_NOMEM)
		fail_msg("allocation %ld: %s: %s", left, rt_status_word(st), w.err.text);
	value = rt_engine_value(w.engine);
	if (rt_project_check(value, &why) != RT_OK)
		fail_msg("allocation %ld: %s", left, why.text);
	rt_object_unref(value);
	shown = world_shown(&w);
	if (st == RT_OK)
		assert_non_null(strstr(shown, "\"n\",\"arguments\":{\"x\":1}"));
	assert_true((strstr(shown, "User: Q") != NULL) == (w.result.question[0] != '\0'));
	assert_true((strstr(shown, "edited reply") != NULL) == (strstr(shown, "User: Q") != NULL));
	assert_true((strstr(shown, "current") == NULL));
	if (strstr(shown, "One ") != NULL) {
		assert_int_equal(world_flights(&w), 0);
	} else if (world_flights(&w) > 0) {
		assert_int_equal(world_flights(&w), 1);
		assert_int_equal(
			rt_engine_keep_left(w.engine, world_nobody_lives, NULL, &kept, NULL),
			RT_OK);
		assert_int_equal(world_flights(&w), 0);
		shown = world_shown(&w);
		assert_true((strstr(shown, "*AI: ") != NULL) == (kept == 1));
	}
	/* the engine is usable: its value equals that of the log */
	assert_int_equal(world_try(&w, "{\"op\":\"entry.append\",\"content\":\"more\"}"), RT_OK);
	assert_int_equal(rt_engine_rebuild(w.engine, NULL), RT_OK);
	assert_non_null(strstr(world_shown(&w), "more"));
	world_deinit(&w);
	if (f.live != 0)
		fail_msg("allocation %ld: %ld are left", left, f.live);
	return st == RT_OK;
}

/* The same for a continued reply: it has its old text, or also the added one. */
static bool
continue_without_memory(long left, long *out_used)
{
	failing f = {.left = -1};
	rt_alloc alloc = {failing_resize, failing_release, &f};
	const char *shown;
	world w;
	rt_status st;

	world_init(&w);
	assert_int_equal(rt_store_memory_open(rt_alloc_libc(), &w.env, &w.store, NULL), RT_OK);
	world_open_engine(&w, &alloc);
	world_add(&w, "q", "User", "Count");
	world_apply(&w,
		    "{\"op\":\"entry.append\",\"id\":\"r\",\"role\":\"AI\",\"content\":\"One, \","
		    "\"thinking_segments\":[{\"text\":\"hm\"}],\"partial\":true}");
	play(&w, "{\"text\":\"two\"}\n{\"wait_ms\":300}\n{\"text\":\".\"}");
	f.left = left;
	st = world_again(&w, RT_SEND_CONTINUE, "r");
	*out_used = left - f.left;
	f.left = -1;
	if (st != RT_OK && st != RT_NOMEM)
		fail_msg("allocation %ld: %s: %s", left, rt_status_word(st), w.err.text);
	assert_int_equal(rt_engine_keep_left(w.engine, world_nobody_lives, NULL, NULL, NULL),
			 RT_OK);
	shown = world_shown(&w);
	if (strcmp(shown, st == RT_OK ? "User: Count\nAI: One, two.\n"
				      : "User: Count\n*AI: One, two.\n") != 0 &&
	    (st == RT_OK || (strcmp(shown, "User: Count\n*AI: One, \n") != 0 &&
			     strcmp(shown, "User: Count\n*AI: One, two\n") != 0)))
		fail_msg("allocation %ld: %s: %s", left, rt_status_word(st), shown);
	world_has(&w, "r", "\"thinking_segments\":[{\"text\":\"hm\"}]");
	world_deinit(&w);
	if (f.live != 0)
		fail_msg("allocation %ld: %ld are left", left, f.live);
	return st == RT_OK;
}

static void
no_memory(void **state)
{
	long all, n, used;
	size_t worked = 0;

	(void)state;
	assert_true(send_without_memory(1000000, &all));
	for (n = 0; n < all; n++)
		worked += send_without_memory(n, &used);
	/* checkpoints may fail silently, and so may a side row that is written again a moment
	 * later */
	assert_true(worked < (size_t)all / 8);
	assert_true(continue_without_memory(1000000, &all));
	for (n = 0; n < all; n++)
		(void)continue_without_memory(n, &used);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
