/* SPDX-License-Identifier: MIT
 *
 * The rules of seed 4 about summaries of branches and their events. Each test is named after its
 * rule; docs/seeds.md lists them. Cases that the rules leave open are tested in summary_test.c. */
#include "chat/send_testing.h"

#include "formats/formats.h"
#include "llm/llm_testing.h"
#include "store/store_memory.h"

#include "chat/summary_testing.h"

/* ---- selecting ---- */

static void
selecting_current_active_leaf_is_a_no_op(void **state)
{
	fixture *f = *state;

	grow(f);
	remember(f);
	assert_int_equal(go(f, "F", true, true), RT_OK);
	assert_true(f->result.already);
	assert_int_equal(f->result.seq, 0);
	is_as_remembered(f);
	not_told(f, " head.");
	assert_int_equal(f->s.asked, 0);
}

static void
user_message_selected_goes_to_its_parent_and_its_text_to_the_editor(void **state)
{
	fixture *f = *state;

	grow(f);
	assert_int_equal(go(f, "E", true, false), RT_OK);
	head_is(f, "D");
	assert_true(rt_str_is(rt_text_str(f->result.editor), "text-E"));
}

static void
custom_message_selected_goes_to_its_parent_and_its_text_to_the_editor(void **state)
{
	fixture *f = *state;

	grow(f);
	world_apply(&f->w, "{\"op\":\"entry.append\",\"id\":\"X\",\"role\":\"hook\","
			   "\"kind\":\"custom_message\",\"content\":\"text-X\"}");
	world_add(&f->w, "Y", "AI", "text-Y");
	assert_int_equal(go(f, "X", true, false), RT_OK);
	head_is(f, "F");
	assert_true(rt_str_is(rt_text_str(f->result.editor), "text-X"));
}

static void
non_user_message_selected_becomes_the_leaf_and_the_editor_stays_empty(void **state)
{
	fixture *f = *state;

	grow(f);
	assert_int_equal(go(f, "D", true, false), RT_OK);
	head_is(f, "D");
	assert_null(f->result.editor);
}

static void
first_user_message_selected_goes_before_everything(void **state)
{
	fixture *f = *state;

	grow(f);
	assert_int_equal(go(f, "A", true, false), RT_OK);
	head_is(f, NULL);
	was_told(f, "\"newLeafId\":null");
}

/* ---- the summarized entries ---- */

static void
summarizes_from_old_leaf_back_to_common_ancestor(void **state)
{
	fixture *f = *state;

	grow(f);
	assert_int_equal(go(f, "H", true, true), RT_OK);
	was_told(f, "\"commonAncestorId\":\"C\"");
	asked(f, "text-D");
	asked(f, "text-E");
	asked(f, "text-F");
}

static void
stops_at_common_ancestor(void **state)
{
	fixture *f = *state;

	grow(f);
	assert_int_equal(go(f, "H", true, true), RT_OK);
	not_asked(f, "text-C");
	not_asked(f, "text-B");
	not_asked(f, "text-G");
}

static void
stops_at_compaction_node(void **state)
{
	fixture *f = *state;

	grow(f);
	world_apply(&f->w, "{\"op\":\"entry.insert\",\"before\":\"F\",\"id\":\"K\",\"role\":"
			   "\"System\",\"kind\":\"compaction\",\"content\":\"text-K\","
			   "\"first_kept\":\"E\"}");
	assert_int_equal(go(f, "H", true, true), RT_OK);
	asked(f, "text-F");
	not_asked(f, "text-E");
	not_asked(f, "text-K");
}

static void
collects_entries_in_chronological_order(void **state)
{
	fixture *f = *state;
	const char *d, *e;

	grow(f);
	assert_int_equal(go(f, "H", true, true), RT_OK);
	d = strstr(f->body.ptr, "text-D");
	e = strstr(f->body.ptr, "text-E");
	assert_true(d != NULL && e != NULL && d < e && strstr(e, "text-F") != NULL);
	was_told(f, "\"entriesToSummarize\":[{\"id\":\"D\"");
}

/* ---- writing and storing it ---- */

static void
default_summarizer_asks_the_conversation_model_with_the_seeds_prompt(void **state)
{
	fixture *f = *state;

	grow(f);
	assert_int_equal(go(f, "H", true, true), RT_OK);
	assert_int_equal(f->s.asked, 1);
	asked(f, "Summarize this conversation branch concisely");
	asked(f, "\"model\":\"m\"");
}

static void
custom_instructions_reach_the_summarizer(void **state)
{
	fixture *f = *state;

	grow(f);
	assert_int_equal(go_options(f, (rt_navigate_options){.target = RT_STR("H"),
							     .summarize = true,
							     .instructions = RT_STR("in verse")}),
			 RT_OK);
	asked(f, "in verse");
}

static void
branch_summary_entry_holds_from_id_and_summary(void **state)
{
	fixture *f = *state;

	grow(f);
	assert_int_equal(go(f, "H", true, true), RT_OK);
	head_is(f, f->result.entry);
	world_has(&f->w, f->result.entry, "\"kind\":\"branch_summary\"");
	world_has(&f->w, f->result.entry, "\"from_id\":\"F\"");
	world_has(&f->w, f->result.entry, "\"content\":\"In short.\"");
}

static void
branch_summary_entry_holds_details_of_a_hook(void **state)
{
	fixture *f = *state;

	grow(f);
	f->h.summary = "{\"summary\":\"By hook.\",\"details\":{\"n\":1}}";
	assert_int_equal(go(f, "H", true, true), RT_OK);
	world_has(&f->w, f->result.entry, "\"details\":{\"n\":1}");
}

static void
skipping_summarization_creates_no_entry(void **state)
{
	fixture *f = *state;

	grow(f);
	assert_int_equal(go(f, "H", true, false), RT_OK);
	assert_int_equal(f->s.asked, 0);
	assert_string_equal(f->result.entry, "");
	assert_null(strstr(world_shown(&f->w), "branch_summary"));
	head_is(f, "H");
}

static void
nothing_to_summarize_creates_no_entry(void **state)
{
	fixture *f = *state;

	grow(f);
	world_apply(&f->w, "{\"op\":\"head.move\",\"entry\":\"C\"}");
	assert_int_equal(go(f, "F", true, true), RT_OK);
	assert_int_equal(f->s.asked, 0);
	assert_null(strstr(world_shown(&f->w), "branch_summary"));
	head_is(f, "F");
}

/* ---- errors ---- */

/* The switch did not happen, and no event reports that it did. */
static void
is_cancelled(fixture *f, rt_status status, const char *words)
{
	assert_int_equal(go(f, "H", true, true), status);
	assert_non_null(strstr(f->w.err.text, words));
	is_as_remembered(f);
	head_is(f, "F");
}

static void
summarization_failure_cancels_the_entire_switch(void **state)
{
	fixture *f = *state;

	grow(f);
	remember(f);
	f->s.status = RT_UPSTREAM;
	is_cancelled(f, RT_UPSTREAM, "it went wrong");
}

static void
abort_during_summarization_cancels_the_entire_switch(void **state)
{
	fixture *f = *state;

	grow(f);
	remember(f);
	f->s.pieces = (const say[]){{SAY_TEXT, "In ", 0, NULL, NULL},
				    {SAY_TEXT, "short.", 0, NULL, NULL}};
	f->s.count = 2;
	f->w.stop_at = 1;
	is_cancelled(f, RT_INTERRUPTED, "Navigation cancelled");
}

static void
hook_returning_cancel_cancels_the_switch(void **state)
{
	fixture *f = *state;

	grow(f);
	remember(f);
	f->h.deny = "stay here";
	is_cancelled(f, RT_DENIED, "stay here");
	assert_int_equal(f->s.asked, 0);
}

static void
unknown_target_is_an_error(void **state)
{
	fixture *f = *state;

	grow(f);
	remember(f);
	assert_int_equal(go(f, "nobody", true, true), RT_NOT_FOUND);
	is_as_remembered(f);
	not_told(f, " head.");
}

/* ---- session_before_tree ---- */

static void
session_before_tree_carries_the_preparation(void **state)
{
	fixture *f = *state;

	grow(f);
	assert_int_equal(go(f, "H", true, true), RT_OK);
	was_told(f, "\"preparation\":{\"targetId\":\"H\",\"oldLeafId\":\"F\","
		    "\"commonAncestorId\":\"C\",\"entriesToSummarize\":[{");
	was_told(f, "\"userWantsSummary\":true}");
	was_told(f, "\"model\":\"openai/m\"} head.before_move\n");
}

static void
session_before_tree_is_fired_before_switching(void **state)
{
	fixture *f = *state;
	const char *before;

	grow(f);
	assert_int_equal(go(f, "H", true, true), RT_OK);
	before = strstr(events(f), " head.before_move\n");
	assert_non_null(before);
	assert_non_null(strstr(before, " head.after_move\n"));
}

static void
session_before_tree_says_when_no_summary_is_wanted(void **state)
{
	fixture *f = *state;

	grow(f);
	assert_int_equal(go(f, "H", true, false), RT_OK);
	was_told(f, "\"userWantsSummary\":false");
}

static void
hook_summary_skips_the_default_summarizer(void **state)
{
	fixture *f = *state;

	grow(f);
	f->h.summary = "{\"summary\":\"By hook.\"}";
	assert_int_equal(go(f, "H", true, true), RT_OK);
	assert_int_equal(f->s.asked, 0);
	world_has(&f->w, f->result.entry, "\"content\":\"By hook.\"");
}

static void
hook_summary_is_only_used_if_user_wants_summary(void **state)
{
	fixture *f = *state;

	grow(f);
	f->h.summary = "{\"summary\":\"By hook.\"}";
	assert_int_equal(go(f, "H", true, false), RT_OK);
	assert_null(strstr(world_shown(&f->w), "By hook."));
	assert_false(f->result.from_hook);
}

/* ---- session_tree ---- */

static void
session_tree_carries_new_and_old_leaf_and_the_summary_entry(void **state)
{
	fixture *f = *state;
	char part[400];

	grow(f);
	assert_int_equal(go(f, "H", true, true), RT_OK);
	snprintf(part, sizeof(part),
		 "\"newLeafId\":\"%s\",\"oldLeafId\":\"F\",\"summaryEntry\":{\"id\":\"%s\"",
		 f->result.entry, f->result.entry);
	was_told(f, part);
	was_told(f, "\"summary\":\"In short.\",\"from_id\":\"F\",\"fromId\":\"F\",");
	was_told(f, "\"type\":\"branch_summary\",\"parentId\":\"H\",\"timestamp\":\"20");
}

static void
tree_events_are_separate_from_branch_events(void **state)
{
	fixture *f = *state;

	grow(f);
	assert_int_equal(go(f, "B", false, true), RT_OK); /* the summary begins a take there */
	was_told(f, " entry.after\n");
	was_told(f, " head.after_move\n");
	not_told(f, "take.before_create");
	not_told(f, "take.created");
}

static void
branch_summary_entry_holds_why_it_was_made(void **state)
{
	fixture *f = *state;

	grow(f);
	assert_int_equal(go_options(f, (rt_navigate_options){.target = RT_STR("H"),
							     .select = true,
							     .summarize = true,
							     .instructions = RT_STR("say why")}),
			 RT_OK);
	world_has(&f->w, f->result.entry, "\"instructions\":\"say why\"");
	world_has(&f->w, f->result.entry, "\"service\":\"openai\",\"model\":\"m\"");
}

static void
session_tree_is_not_fired_if_cancelled(void **state)
{
	fixture *f = *state;

	grow(f);
	f->h.deny = "stay here";
	assert_int_equal(go(f, "H", true, true), RT_DENIED);
	not_told(f, " head.after_move\n");
	f->h.deny = NULL;
	f->s.status = RT_UPSTREAM;
	assert_int_equal(go(f, "H", true, true), RT_UPSTREAM);
	not_told(f, " head.after_move\n");
}

static void
from_hook_is_true_if_the_summary_came_from_a_hook(void **state)
{
	fixture *f = *state;

	grow(f);
	f->h.summary = "{\"summary\":\"By hook.\"}";
	assert_int_equal(go(f, "H", true, true), RT_OK);
	was_told(f, "\"fromHook\":true} head.after_move\n");
}

static void
from_hook_is_false_if_the_default_summarizer_was_used(void **state)
{
	fixture *f = *state;

	grow(f);
	assert_int_equal(go(f, "H", true, true), RT_OK);
	was_told(f, "\"fromHook\":false} head.after_move\n");
}

static void
from_hook_and_summary_entry_are_undefined_if_there_is_no_summary(void **state)
{
	fixture *f = *state;

	grow(f);
	assert_int_equal(go(f, "H", true, false), RT_OK);
	was_told(f, " head.after_move\n");
	not_told(f, "summaryEntry");
	not_told(f, "fromHook");
}

#define RULE(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		RULE(selecting_current_active_leaf_is_a_no_op),
		RULE(user_message_selected_goes_to_its_parent_and_its_text_to_the_editor),
		RULE(custom_message_selected_goes_to_its_parent_and_its_text_to_the_editor),
		RULE(non_user_message_selected_becomes_the_leaf_and_the_editor_stays_empty),
		RULE(first_user_message_selected_goes_before_everything),
		RULE(summarizes_from_old_leaf_back_to_common_ancestor),
		RULE(stops_at_common_ancestor),
		RULE(stops_at_compaction_node),
		RULE(collects_entries_in_chronological_order),
		RULE(default_summarizer_asks_the_conversation_model_with_the_seeds_prompt),
		RULE(custom_instructions_reach_the_summarizer),
		RULE(branch_summary_entry_holds_from_id_and_summary),
		RULE(branch_summary_entry_holds_details_of_a_hook),
		RULE(skipping_summarization_creates_no_entry),
		RULE(nothing_to_summarize_creates_no_entry),
		RULE(summarization_failure_cancels_the_entire_switch),
		RULE(abort_during_summarization_cancels_the_entire_switch),
		RULE(hook_returning_cancel_cancels_the_switch),
		RULE(unknown_target_is_an_error),
		RULE(session_before_tree_carries_the_preparation),
		RULE(session_before_tree_is_fired_before_switching),
		RULE(session_before_tree_says_when_no_summary_is_wanted),
		RULE(hook_summary_skips_the_default_summarizer),
		RULE(hook_summary_is_only_used_if_user_wants_summary),
		RULE(branch_summary_entry_holds_why_it_was_made),
		RULE(tree_events_are_separate_from_branch_events),
		RULE(session_tree_carries_new_and_old_leaf_and_the_summary_entry),
		RULE(session_tree_is_not_fired_if_cancelled),
		RULE(from_hook_is_true_if_the_summary_came_from_a_hook),
		RULE(from_hook_is_false_if_the_default_summarizer_was_used),
		RULE(from_hook_and_summary_entry_are_undefined_if_there_is_no_summary),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
