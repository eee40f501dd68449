/* SPDX-License-Identifier: MIT
 *
 * Going elsewhere in the tree with a summary of the branch that is left (seed 4). Each is one step, or
 * nothing happens. */
#include "chat/send_testing.h"

#include "formats/formats.h"
#include "llm/llm_testing.h"
#include "store/store_memory.h"

#include "chat/summary_testing.h"

static void
the_branch_that_is_left_is_summed_up(void **state)
{
	fixture *f = *state;
	uint64_t before;
	char id[200];

	grow(f);
	before = world_seq(&f->w);
	remember(f);
	assert_int_equal(go(f, "H", true, true), RT_OK);
	was_told(
		f,
		"\"preparation\":{\"targetId\":\"H\",\"oldLeafId\":\"F\","
		"\"commonAncestorId\":\"C\","
		"\"entriesToSummarize\":[{\"id\":\"D\",\"role\":\"AI\",\"kind\":\"message\","
		"\"content\":\"text-D\"},{\"id\":\"E\",");
	was_told(f, "\"content\":\"text-F\"}],\"userWantsSummary\":true}");
	was_told(f, "\"model\":\"openai/m\"} head.before_move\n");
	not_told(f, "text-C");
	asked(f, "[AI]: text-D");
	asked(f, "[User]: text-E");
	asked(f, "[AI]: text-F");
	asked(f, "Summarize this conversation branch concisely");
	not_asked(f, "text-C");
	not_asked(f, "text-G");
	/* the summary follows the new position and is the head (C56) */
	assert_string_equal(world_shown(&f->w),
			    "User: text-A\nAI: text-B\nUser: text-C\nUser: text-G\n"
			    "AI: text-H\nSystem (branch_summary): In short.\n");
	head_is(f, f->result.entry);
	world_has(&f->w, f->result.entry, "\"from_id\":\"F\"");
	world_lacks(&f->w, f->result.entry, "from_hook");
	assert_int_equal(f->result.entries, 3);
	assert_false(f->result.from_hook);
	assert_null(f->result.editor);
	snprintf(id, sizeof(id), "\"newLeafId\":\"%s\",\"oldLeafId\":\"F\"", f->result.entry);
	was_told(f, id);
	was_told(f, "\"fromHook\":false} head.after_move\n");
	/* the left branch is unchanged; everything is one step */
	assert_string_equal(world_take(&f->w, "main"),
			    "User: text-A\nAI: text-B\nUser: text-C\nAI: text-D\n"
			    "User: text-E\nAI: text-F\n");
	assert_int_equal(world_seq(&f->w), before + 1);
	world_apply(&f->w, "{\"op\":\"undo\"}");
	is_as_remembered(f);
	head_is(f, "F");
}

static void
from_the_middle_of_a_path(void **state)
{
	fixture *f = *state;

	grow(f);
	/* the seed's second example: A → B → C → D, going to B */
	assert_int_equal(go(f, "B", true, true), RT_OK);
	was_told(f, "\"commonAncestorId\":\"B\",\"entriesToSummarize\":[{\"id\":\"C\"");
	assert_string_equal(world_shown(&f->w),
			    "User: text-A\nAI: text-B\nSystem (branch_summary): In short.\n");
	assert_string_equal(f->result.take, "main_take_2");
	/* a summary is part of the text of a later one */
	assert_int_equal(go(f, "F", false, true), RT_OK);
	asked(f, "[branch_summary]: In short.");
}

static void
a_compaction_has_summed_up_what_is_before_it(void **state)
{
	fixture *f = *state;

	grow(f);
	world_apply(&f->w,
		    "{\"op\":\"entry.insert\",\"before\":\"F\",\"id\":\"K\",\"role\":\"System\","
		    "\"kind\":\"compaction\",\"content\":\"text-K\",\"first_kept\":\"E\"}");
	assert_int_equal(go(f, "H", false, true), RT_OK);
	was_told(f, "\"entriesToSummarize\":[{\"id\":\"F\"");
	asked(f, "text-F");
	not_asked(f, "text-E");
	not_asked(f, "text-K");
	world_apply(&f->w, "{\"op\":\"undo\"}");
	/* right at the tip: there are no new entries, and no summary is written */
	world_apply(&f->w, "{\"op\":\"entry.delete\",\"entry\":\"F\"}");
	assert_int_equal(go(f, "H", false, true), RT_OK);
	assert_int_equal(f->s.asked, 0);
	assert_string_equal(f->result.entry, "");
	head_is(f, "H");
}

static void
selecting_the_head_does_nothing(void **state)
{
	fixture *f = *state;

	grow(f);
	remember(f);
	assert_int_equal(go(f, "F", true, true), RT_OK);
	assert_true(f->result.already);
	assert_int_equal(f->result.seq, 0);
	assert_int_equal(f->h.events.size, 0);
	is_as_remembered(f);
	/* also a message of the user */
	world_apply(&f->w, "{\"op\":\"head.move\",\"entry\":\"E\"}");
	assert_int_equal(go(f, "E", true, false), RT_OK);
	assert_true(f->result.already);
	assert_null(f->result.editor);
	world_apply(&f->w, "{\"op\":\"head.move\",\"entry\":null}");
	assert_int_equal(go(f, NULL, true, false), RT_OK);
	assert_true(f->result.already);
	assert_int_equal(go(f, "nobody", true, false), RT_NOT_FOUND);
	assert_false(f->result.already);
}

static void
editor_is(fixture *f, const char *text)
{
	assert_non_null(f->result.editor);
	assert_true(rt_str_is(rt_text_str(f->result.editor), text));
}

static void
what_is_selected_decides_where_the_head_goes(void **state)
{
	fixture *f = *state;

	grow(f);
	world_apply(
		&f->w,
		"{\"op\":\"entry.append\",\"id\":\"X\",\"role\":\"hook\","
		"\"kind\":\"custom_message\","
		"\"content\":\"text-X\"}");
	world_add(&f->w, "Y", "AI", "text-Y");
	/* a user's message: before it, and its text to be edited */
	assert_int_equal(go(f, "E", true, false), RT_OK);
	head_is(f, "D");
	editor_is(f, "text-E");
	was_told(f, "\"newLeafId\":\"D\",\"oldLeafId\":\"Y\"} head.after_move\n");
	assert_int_equal(f->s.asked, 0);
	assert_int_equal(go(f, "Y", true, false), RT_OK);
	head_is(f, "Y");
	assert_null(f->result.editor);
	/* a custom message too */
	assert_int_equal(go(f, "X", true, false), RT_OK);
	head_is(f, "F");
	editor_is(f, "text-X");
	/* in another take, and summarised: the selected one is in no summary */
	assert_int_equal(go(f, "G", true, true), RT_OK);
	editor_is(f, "text-G");
	assert_string_equal(world_shown(&f->w), "User: text-A\nAI: text-B\nUser: text-C\n"
						"System (branch_summary): In short.\n");
	/* the first: before everything */
	assert_int_equal(go(f, "A", true, false), RT_OK);
	head_is(f, NULL);
	editor_is(f, "text-A");
	was_told(f, "\"newLeafId\":null");
	/* without select every entry is gone to itself */
	assert_int_equal(go(f, "E", false, false), RT_OK);
	head_is(f, "E");
	assert_null(f->result.editor);
	assert_int_equal(go(f, NULL, false, false), RT_OK);
	head_is(f, NULL);
}

/* It fails in this way, nothing has changed, and no event reports a change. */
static void
stays(fixture *f, bool summarize, rt_status status, const char *words)
{
	rt_status st;

	remember(f);
	st = go(f, "H", true, summarize);
	if (st != status || strstr(f->w.err.text, words) == NULL)
		fail_msg("not %s \"%s\" but %s \"%s\"", rt_status_word(status), words,
			 rt_status_word(st), f->w.err.text);
	is_as_remembered(f);
	head_is(f, "F");
	not_told(f, " head.after_move\n");
	assert_string_equal(f->result.entry, "");
	assert_int_equal(f->result.seq, 0);
}

static void
what_fails_changes_nothing(void **state)
{
	fixture *f = *state;
	rt_navigate_options options = {.target = RT_STR("H"), .summarize = true};

	grow(f);
	f->s.status = RT_UPSTREAM;
	stays(f, true, RT_UPSTREAM, "it went wrong");
	f->s.status = RT_CREDENTIALS;
	stays(f, true, RT_CREDENTIALS, "it went wrong");
	f->s.status = RT_OK;
	f->s.stop = RT_STOP_LENGTH;
	stays(f, true, RT_UPSTREAM, "cut off at the model's limit");
	f->s.stop = RT_STOP_FILTER;
	stays(f, true, RT_UPSTREAM, "blocked the summary");
	f->s.stop = RT_STOP_CUT;
	stays(f, true, RT_UPSTREAM, "the summary is incomplete");
	f->s.stop = RT_STOP_END;
	f->said.bytes = " \n";
	stays(f, true, RT_UPSTREAM, "empty summary");
	f->s.count = 0;
	stays(f, true, RT_UPSTREAM, "empty summary");
	f->s.count = 1;
	f->said.bytes = "In short.";
	/* the user stops it */
	f->s.pieces = (const say[]){{SAY_TEXT, "In ", 0, NULL, NULL},
				    {SAY_TEXT, "short.", 0, NULL, NULL}};
	f->s.count = 2;
	f->w.stop_at = 1;
	stays(f, true, RT_INTERRUPTED, "Navigation cancelled");
	f->w.stop_at = 0;
	/* hooks deny it, whether a summary is requested or not */
	f->h.deny = "stay here";
	stays(f, true, RT_DENIED, "hook guard: stay here");
	stays(f, false, RT_DENIED, "hook guard: stay here");
	assert_int_equal(f->s.asked, 0);
	f->h.deny = NULL;
	f->h.status = RT_INTERRUPTED;
	stays(f, true, RT_INTERRUPTED, "");
	f->h.status = RT_DENIED;
	stays(f, false, RT_DENIED, "the hook went wrong");
	f->h.status = RT_OK;
	/* there is neither a model nor a hook to write it */
	options.with = with(f);
	options.with.model = NULL;
	remember(f);
	assert_int_equal(rt_engine_navigate(f->w.engine, &options, &f->result, &f->w.err),
			 RT_CREDENTIALS);
	is_as_remembered(f);
	rt_summary_result_deinit(&f->result);
	/* but a hook */
	f->h.summary = "{\"summary\":\"By hook.\"}";
	assert_int_equal(rt_engine_navigate(f->w.engine, &options, &f->result, &f->w.err), RT_OK);
	assert_true(f->result.from_hook);
	assert_non_null(strstr(world_shown(&f->w), "By hook."));
}

static void
a_hook_writes_the_summary(void **state)
{
	fixture *f = *state;

	grow(f);
	f->h.summary = "{\"summary\":\"By hook.\",\"details\":{\"model\":\"g\",\"n\":1.50}}";
	assert_int_equal(go(f, "H", true, true), RT_OK);
	assert_int_equal(f->s.asked, 0);
	assert_true(f->result.from_hook);
	world_has(&f->w, f->result.entry, "\"content\":\"By hook.\"");
	world_has(&f->w, f->result.entry, "\"details\":{\"model\":\"g\",\"n\":1.50}");
	world_has(&f->w, f->result.entry, "\"from_hook\":true,\"hook\":\"10-test\"");
	world_lacks(&f->w, f->result.entry, "\"model\":\"m\"");
	was_told(f, "\"details\":{\"model\":\"g\",\"n\":1.50}");
	was_told(f, "\"fromHook\":true} head.after_move\n");
	/* it is used only if it was requested */
	assert_int_equal(go(f, "F", true, false), RT_OK);
	was_told(f, "\"userWantsSummary\":false");
	assert_string_equal(f->result.entry, "");
	assert_false(f->result.from_hook);
	head_is(f, "F");
	not_told(f, "\"summaryEntry\":{");
	not_told(f, "\"fromHook\":true");
}

/* Given as an entry of another take: the left branch is that of the present take, also if the other
 * one ends there. */
static void
to_an_entry_as_another_take_has_it(void **state)
{
	fixture *f = *state;

	grow(f);
	world_apply(&f->w, "{\"op\":\"take.branch\",\"at\":\"H\",\"name\":\"third\"}");
	world_apply(&f->w, "{\"op\":\"entry.edit\",\"entry\":\"G\",\"content\":\"text-g\"}");
	world_apply(&f->w, "{\"op\":\"take.switch\",\"take\":\"main\"}");
	assert_int_equal(go_options(f, (rt_navigate_options){.target = RT_STR("H"),
							     .target_take = RT_STR("third"),
							     .select = true,
							     .summarize = true}),
			 RT_OK);
	asked(f, "[AI]: text-D");
	asked(f, "[AI]: text-F");
	not_asked(f, "text-G");
	not_asked(f, "text-g");
	assert_string_equal(world_shown(&f->w),
			    "User: text-A\nAI: text-B\nUser: text-C\nUser: text-g\n"
			    "AI: text-H\nSystem (branch_summary): In short.\n");
	head_is(f, f->result.entry);
	world_has(&f->w, f->result.entry, "\"from_id\":\"F\"");
	assert_int_equal(f->result.entries, 3);
	/* there is no such take */
	assert_int_equal(go_options(f, (rt_navigate_options){.target = RT_STR("H"),
							     .target_take = RT_STR("nowhere")}),
			 RT_NOT_FOUND);
}

static void
nothing_to_sum_up(void **state)
{
	fixture *f = *state;
	uint64_t before;

	grow(f);
	world_apply(&f->w, "{\"op\":\"head.move\",\"entry\":\"C\"}");
	before = world_seq(&f->w);
	assert_int_equal(go(f, "F", true, true), RT_OK); /* forward: nothing is left */
	was_told(f, "\"commonAncestorId\":\"C\",\"entriesToSummarize\":[]");
	was_told(f, "\"newLeafId\":\"F\",\"oldLeafId\":\"C\"} head.after_move\n");
	assert_int_equal(f->s.asked, 0);
	assert_string_equal(f->result.entry, "");
	head_is(f, "F");
	assert_int_equal(world_seq(&f->w), before + 1);
	/* nothing that is sent */
	world_apply(&f->w, "{\"op\":\"entry.append\",\"kind\":\"custom\",\"content\":\"state\"}");
	assert_int_equal(go(f, "F", true, true), RT_OK);
	assert_int_equal(f->s.asked, 0);
	assert_string_equal(f->result.entry, "");
}

static void
instructions_are_passed_on(void **state)
{
	fixture *f = *state;
	rt_navigate_options options = {.target = RT_STR("H"),
				       .summarize = true,
				       .instructions = RT_STR("keep the numbers")};

	grow(f);
	assert_int_equal(go_options(f, options), RT_OK);
	asked(f, "keep the numbers");
	was_told(f, "\"customInstructions\":\"keep the numbers\"");
}

#define WITH_WORLD(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_WORLD(the_branch_that_is_left_is_summed_up),
		WITH_WORLD(from_the_middle_of_a_path),
		WITH_WORLD(a_compaction_has_summed_up_what_is_before_it),
		WITH_WORLD(selecting_the_head_does_nothing),
		WITH_WORLD(what_is_selected_decides_where_the_head_goes),
		WITH_WORLD(what_fails_changes_nothing),
		WITH_WORLD(a_hook_writes_the_summary),
		WITH_WORLD(to_an_entry_as_another_take_has_it),
		WITH_WORLD(nothing_to_sum_up),
		WITH_WORLD(instructions_are_passed_on),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
