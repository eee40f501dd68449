/* SPDX-License-Identifier: MIT
 *
 * The conclusions of another take become an entry of this one; and titles written by a model. Each
 * is one step, or nothing happens. */
#include "chat/send_testing.h"

#include "formats/formats.h"
#include "llm/llm_testing.h"
#include "store/store_memory.h"

#include "chat/summary_testing.h"

static rt_status
merge(fixture *f, const char *from, const char *instructions)
{
	rt_merge_take_options options = {.from = rt_str_of(from),
					 .instructions = rt_str_of(instructions)};

	options.with = with(f);
	return rt_engine_merge_take(f->w.engine, &options, &f->result, &f->w.err);
}

static void
what_another_take_concluded_becomes_an_entry(void **state)
{
	fixture *f = *state;
	uint64_t before;

	grow(f);
	before = world_seq(&f->w);
	remember(f);
	assert_int_equal(merge(f, "main_take_1", "only the numbers"), RT_OK);
	asked(f, "[User]: text-G");
	asked(f, "[AI]: text-H");
	asked(f, "only the numbers");
	not_asked(f, "text-C"); /* both have it */
	not_asked(f, "text-D");
	assert_string_equal(world_shown(&f->w),
			    "User: text-A\nAI: text-B\nUser: text-C\nAI: text-D\nUser: text-E\n"
			    "AI: text-F\nSystem (branch_summary): In short.\n");
	assert_string_equal(world_take(&f->w, "main_take_1"),
			    "User: text-A\nAI: text-B\nUser: text-C\nUser: text-G\nAI: text-H\n");
	world_has(&f->w, f->result.entry, "\"from_id\":\"H\"");
	world_has(&f->w, f->result.entry, "\"first_id\":\"G\"");
	world_has(&f->w, f->result.entry, "\"from_take\":\"main_take_1\"");
	world_has(&f->w, f->result.entry, "\"instructions\":\"only the numbers\"");
	assert_int_equal(f->result.entries, 2);
	head_is(f, f->result.entry);
	was_told(f, "entry.before_add");
	assert_int_equal(world_seq(&f->w), before + 1);
	world_apply(&f->w, "{\"op\":\"undo\"}");
	is_as_remembered(f);
}

static void
a_compaction_stands_for_what_it_summarised(void **state)
{
	fixture *f = *state;

	grow(f);
	world_apply(&f->w, "{\"op\":\"entry.insert\",\"take\":\"main_take_1\",\"after\":\"G\",\"id\":\"K\","
			   "\"role\":\"System\",\"kind\":\"compaction\",\"content\":\"text-K\"}");
	assert_int_equal(merge(f, "main_take_1", NULL), RT_OK);
	asked(f, "text-K");
	asked(f, "text-H");
	not_asked(f, "text-G");
	world_has(&f->w, f->result.entry, "\"first_id\":\"K\"");
}

static void
what_cannot_be_merged_changes_nothing(void **state)
{
	fixture *f = *state;

	grow(f);
	world_apply(&f->w, "{\"op\":\"take.branch\",\"at\":\"B\",\"name\":\"short\"}");
	world_apply(&f->w, "{\"op\":\"take.switch\",\"take\":\"main\"}");
	remember(f);
	assert_int_equal(merge(f, "main", NULL), RT_REFUSED);
	assert_int_equal(merge(f, "short", NULL), RT_REFUSED);
	assert_int_equal(merge(f, "nowhere", NULL), RT_NOT_FOUND);
	assert_int_equal(f->s.asked, 0);
	f->h.no_request = "not today";
	assert_int_equal(merge(f, "main_take_1", NULL), RT_DENIED);
	f->h.no_request = NULL;
	f->said = (say){SAY_TEXT, "", 0, NULL, NULL};
	assert_int_equal(merge(f, "main_take_1", NULL), RT_UPSTREAM);
	is_as_remembered(f);
}

/* ---- titles ---- */

static rt_status
write_title(fixture *f)
{
	rt_send_with all = with(f);

	return rt_engine_write_title(f->w.engine, &all, RT_STR(""), &f->result, &f->w.err);
}

static void
title_is(fixture *f, const char *title)
{
	const rt_project *value = rt_engine_value(f->w.engine);
	rt_scope s;

	rt_scope_init(&s, rt_alloc_libc());
	rt_view view = {&s, f->w.engine, value, {0}};
	rt_str is = rt_disc_title(&view, value->active);
	if (!rt_str_is(is, title))
		fail_msg("the title is %.*s", RT_STR_ARG(is));
	rt_object_unref(value);
	rt_scope_deinit(&s);
}

static void
a_question_is_the_title_until_a_model_writes_one(void **state)
{
	fixture *f = *state;

	title_is(f, "main");
	assert_int_equal(write_title(f), RT_OK); /* there is nothing to read */
	assert_int_equal(f->s.asked, 0);
	world_add(&f->w, "q", "User",
		  "  How do we keep the migration of the storage layer from blocking writers for hours?");
	title_is(f, "How do we keep the migration of the storage layer from…");
	world_add(&f->w, "r", "AI", "In small batches.");
	remember(f);
	f->said = (say){SAY_TEXT, "**Title: \"Batches of a migration\".**", 0, NULL, NULL};
	assert_int_equal(write_title(f), RT_OK);
	asked(f, "migration of the storage");
	asked(f, "In small batches.");
	title_is(f, "Batches of a migration");
	assert_int_not_equal(f->result.seq, 0);
	/* once is enough */
	assert_int_equal(write_title(f), RT_OK);
	assert_int_equal(f->s.asked, 0);
	assert_int_equal(f->result.seq, 0);
	world_apply(&f->w, "{\"op\":\"undo\"}");
	is_as_remembered(f);
	title_is(f, "How do we keep the migration of the storage layer from…");
}

static void
a_chosen_name_is_never_replaced(void **state)
{
	fixture *f = *state;

	world_add(&f->w, "q", "User", "Hello");
	world_apply(&f->w, "{\"op\":\"discussion.rename\",\"discussion\":\"main\",\"name\":\"mine\"}");
	assert_int_equal(write_title(f), RT_OK);
	assert_int_equal(f->s.asked, 0);
	title_is(f, "mine");
	world_apply(&f->w, "{\"op\":\"discussion.rename\",\"discussion\":\"mine\",\"name\":\"discussion-12\"}");
	title_is(f, "Hello");
	world_apply(&f->w, "{\"op\":\"setting.set\",\"key\":\"title\",\"value\":\"Greeting\"}");
	assert_int_equal(write_title(f), RT_OK);
	assert_int_equal(f->s.asked, 0);
	title_is(f, "Greeting");
	world_apply(&f->w, "{\"op\":\"discussion.rename\",\"discussion\":\"discussion-12\",\"name\":\"mine\"}");
	title_is(f, "mine");
}

#define WITH_WORLD(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_WORLD(what_another_take_concluded_becomes_an_entry),
		WITH_WORLD(a_compaction_stands_for_what_it_summarised),
		WITH_WORLD(what_cannot_be_merged_changes_nothing),
		WITH_WORLD(a_question_is_the_title_until_a_model_writes_one),
		WITH_WORLD(a_chosen_name_is_never_replaced),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
