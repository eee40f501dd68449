/* SPDX-License-Identifier: MIT
 *
 * Concurrent changes: between the frame that the user saw and the action, another program changes
 * the same entry. Nothing is overwritten without a question. */
#define _GNU_SOURCE

#include "tui/pending.h"
#include "tui/tui_testing.h"
#include "tui/verb.h"

static void
assert_text(desk *d, size_t at, const char *expected)
{
	rt_work_entry e;

	assert_int_equal(rt_work_entry_at(&d->tui.work, at, &e, NULL), RT_OK);
	if (!rt_str_is(rt_buf_str(&e.text), expected))
		fail_msg("entry %zu is \"%s\" and not \"%s\"", at + 1, e.text.ptr, expected);
	rt_work_entry_deinit(&e);
}

static void
begin(desk *d)
{
	desk_open(d, 90, 30);
	desk_add(d, "User", "one");
	desk_add(d, "AI", "two");
	desk_add(d, "User", "three");
	desk_press(d, "alt+up");
}

/* The last entry is being edited, and another program changes it. */
static void
begin_edit(desk *d)
{
	begin(d);
	desk_press(d, "alt+e");
	desk_type(d, " mine");
	desk_others(d, "{\"op\":\"entry.edit\",\"entry\":\":3\",\"content\":\"theirs\"}");
	desk_press(d, "enter");
	assert_shows(d, "User, entry 3 was changed after you opened it, by web");
	assert_text(d, 2, "theirs");
}

static void
an_edit(void **state)
{
	desk d;

	(void)state;
	begin_edit(&d);
	desk_press(&d, "s");
	assert_shows(&d, "Their version, with your changes");
	assert_shows(&d, "three mine");
	desk_press(&d, "escape");
	assert_shows(&d, "was changed after you opened it");
	desk_press(&d, "o");
	assert_text(&d, 2, "three mine");
	assert_int_equal(d.tui.work.take_count, 1);
	desk_close(&d);

	begin_edit(&d);
	desk_press(&d, "b");
	assert_int_equal(d.tui.work.take_count, 2);
	assert_text(&d, 2, "three mine");
	assert_int_equal(rt_work_look_at(&d.tui.work, 1, 1, NULL), RT_OK);
	assert_text(&d, 2, "theirs");
	desk_close(&d);

	begin_edit(&d);
	desk_press(&d, "escape"); /* as "discard" */
	assert_text(&d, 2, "theirs");
	desk_press(&d, "escape up");
	assert_shows(&d, "> three mine");
	desk_close(&d);
}

/* While the question is open it is changed again: the question is asked again. */
static void
once_more(void **state)
{
	desk d;

	(void)state;
	begin_edit(&d);
	desk_press(&d, "s"); /* the reader is above the question */
	desk_others(&d, "{\"op\":\"entry.delete\",\"entry\":\":3\"}");
	desk_press(&d, "escape o");
	assert_shows(&d, "It no longer exists; nothing changed.  Your text was kept");
	assert_int_equal(rt_work_count(&d.tui.work), 2);
	assert_text(&d, 1, "two");
	desk_press(&d, "escape up");
	assert_shows(&d, "> three mine");
	desk_close(&d);

	begin_edit(&d);
	desk_others(&d, "{\"op\":\"entry.delete\",\"entry\":\":3\"}");
	assert_int_equal(rt_tui_tend(&d.tui), RT_OK);
	desk_press(&d, "s");
	assert_shows(&d, "It no longer exists; nothing changed.  Your text was kept");
	desk_close(&d);
}

/* While the question is open it is edited again: a text that was not shown is not overwritten. */
static void
edited_once_more(void **state)
{
	desk d;

	(void)state;
	begin_edit(&d);
	desk_others(&d, "{\"op\":\"entry.edit\",\"entry\":\":3\",\"content\":\"theirs again\"}");
	assert_int_equal(rt_tui_tend(&d.tui), RT_OK); /* as a frame does */
	desk_press(&d, "o");
	assert_text(&d, 2, "theirs again");
	assert_shows(&d, "was changed after you opened it");
	desk_press(&d, "s");
	assert_shows(&d, "theirs again");
	desk_others(&d, "{\"op\":\"entry.edit\",\"entry\":\":3\",\"content\":\"and again\"}");
	desk_press(&d, "escape o");
	assert_text(&d, 2, "and again");
	desk_press(&d, "o");
	assert_text(&d, 2, "three mine");
	desk_close(&d);
}

/* Another take is active by now: the entry is edited in the take where it was seen. */
static void
another_take(void **state)
{
	bool is_seen;
	desk d;

	(void)state;
	for (is_seen = false;; is_seen = true) {
		begin(&d);
		desk_others(&d, "{\"op\":\"take.branch\",\"at\":\":3\",\"name\":\"other\"}");
		desk_others(&d, "{\"op\":\"entry.edit\",\"entry\":\":3\",\"content\":\"theirs\"}");
		desk_others(&d, "{\"op\":\"take.switch\",\"take\":\"t1\"}");
		assert_int_equal(rt_tui_tend(&d.tui), RT_OK);
		desk_press(&d, "alt+e");
		desk_type(&d, " mine");
		desk_others(&d, "{\"op\":\"take.switch\",\"take\":\"other\"}");
		if (is_seen)
			assert_int_equal(rt_tui_tend(&d.tui), RT_OK);
		desk_press(&d, "enter");
		assert_int_equal(rt_work_look_at(&d.tui.work, 1, 2, NULL), RT_OK);
		assert_text(&d, 2, "theirs");
		assert_int_equal(rt_work_look_at(&d.tui.work, 1, 1, NULL), RT_OK);
		assert_text(&d, 2, "three mine");
		desk_close(&d);
		if (is_seen)
			break;
	}
}

/* Another take becomes active while the change is pending: the new entry goes beside its neighbour
 * in the take that the user saw. */
static void
beside_an_entry_of_another_take(void **state)
{
	static const struct {
		const char *keys;
		size_t in_first, in_other; /* entries */
	} tries[] = {{"alt+a", 4, 3}, {"alt+i", 4, 3}};
	desk d;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(tries) / sizeof(tries[0]); i++) {
		begin(&d);
		desk_others(&d, "{\"op\":\"take.branch\",\"at\":\":3\",\"name\":\"other\"}");
		desk_others(&d, "{\"op\":\"take.switch\",\"take\":\"t1\"}");
		assert_int_equal(rt_tui_tend(&d.tui), RT_OK);
		desk_press(&d, tries[i].keys);
		desk_type(&d, "mine");
		desk_others(&d, "{\"op\":\"take.switch\",\"take\":\"other\"}");
		desk_press(&d, "enter");
		assert_int_equal(rt_work_look_at(&d.tui.work, 1, 2, NULL), RT_OK);
		assert_int_equal(rt_work_count(&d.tui.work), tries[i].in_other);
		assert_int_equal(rt_work_look_at(&d.tui.work, 1, 1, NULL), RT_OK);
		assert_int_equal(rt_work_count(&d.tui.work), tries[i].in_first);
		desk_close(&d);
	}
	/* and a branch starts from the take that was seen */
	begin(&d);
	desk_others(&d, "{\"op\":\"take.branch\",\"at\":\":3\",\"name\":\"other\"}");
	desk_others(&d, "{\"op\":\"entry.edit\",\"entry\":\":3\",\"content\":\"theirs\"}");
	desk_others(&d, "{\"op\":\"take.switch\",\"take\":\"t1\"}");
	assert_int_equal(rt_tui_tend(&d.tui), RT_OK);
	desk_press(&d, "alt+b");
	desk_type(&d, "mine");
	desk_others(&d, "{\"op\":\"take.switch\",\"take\":\"other\"}");
	desk_press(&d, "enter");
	assert_int_equal(d.tui.work.take_count, 3);
	assert_text(&d, 2, "three");
	desk_close(&d);

	begin(&d);
	desk_others(&d, "{\"op\":\"take.branch\",\"at\":\":3\",\"name\":\"other\"}");
	desk_others(&d, "{\"op\":\"entry.edit\",\"entry\":\":1\",\"content\":\"theirs\"}");
	desk_others(&d, "{\"op\":\"take.switch\",\"take\":\"t1\"}");
	assert_int_equal(rt_tui_tend(&d.tui), RT_OK);
	desk_press(&d, "alt+t");
	desk_type(&d, " mine");
	desk_others(&d, "{\"op\":\"take.switch\",\"take\":\"other\"}");
	desk_press(&d, "enter");
	assert_int_equal(d.tui.work.take_count, 3);
	assert_text(&d, 0, "one");
	assert_text(&d, 2, "three mine");
	desk_close(&d);
}

static void
key(desk *d, rt_key key)
{
	const rt_event event = {.kind = RT_EVENT_KEY, .key = key};

	assert_int_equal(rt_tui_on_event(&d->tui, &event), RT_OK);
}

/* Keys typed before the question was shown are not an answer to it. */
static void
typed_ahead(void **state)
{
	desk d;

	(void)state;
	begin(&d);
	desk_press(&d, "alt+e");
	desk_type(&d, " mine");
	desk_others(&d, "{\"op\":\"entry.edit\",\"entry\":\":3\",\"content\":\"theirs\"}");
	key(&d, (rt_key){RT_KEY_ENTER, 0});
	key(&d, (rt_key){'o', 0});
	key(&d, (rt_key){RT_KEY_ENTER, 0});
	assert_int_equal(rt_tui_tend(&d.tui), RT_OK);
	assert_text(&d, 2, "theirs");
	assert_shows(&d, "was changed after you opened it, by web");
	assert_shows(&d, "The keys typed after it (2 keys) were discarded");
	key(&d, (rt_key){'o', 0});
	assert_text(&d, 2, "three mine");
	desk_close(&d);
}

/* A terminal with too few rows for the notice: the question can be answered anyway. */
static void
a_low_terminal(void **state)
{
	desk d;

	(void)state;
	begin(&d);
	desk_size(&d, 90, 4);
	desk_press(&d, "alt+e");
	desk_type(&d, " mine");
	desk_others(&d, "{\"op\":\"entry.edit\",\"entry\":\":3\",\"content\":\"theirs\"}");
	key(&d, (rt_key){RT_KEY_ENTER, 0});
	assert_int_equal(rt_tui_tend(&d.tui), RT_OK);
	rt_tui_draw(&d.tui);
	key(&d, (rt_key){'o', 0});
	assert_int_equal(rt_tui_tend(&d.tui), RT_OK);
	assert_text(&d, 2, "three mine");
	desk_close(&d);
}

/* The edited entry was deleted: there is nothing to decide, and the text is kept. */
static void
it_is_gone(void **state)
{
	desk d;

	(void)state;
	begin(&d);
	desk_press(&d, "alt+e");
	desk_type(&d, " mine");
	desk_others(&d, "{\"op\":\"entry.delete\",\"entry\":\":3\"}");
	desk_press(&d, "enter");
	assert_shows(&d, "Your text was kept");
	assert_int_equal(rt_work_count(&d.tui.work), 2);
	desk_press(&d, "escape up");
	assert_shows(&d, "> three mine");
	desk_close(&d);
}

/* Changes by others to something else are not conflicts. */
static void
something_else(void **state)
{
	desk d;

	(void)state;
	begin(&d);
	desk_press(&d, "alt+e");
	desk_type(&d, " mine");
	desk_others(&d, "{\"op\":\"entry.edit\",\"entry\":\":1\",\"content\":\"theirs\"}");
	desk_press(&d, "enter");
	assert_text(&d, 0, "theirs");
	assert_text(&d, 2, "three mine");
	desk_close(&d);
}

/* Marked rows, one of which changes right before the action, so that no frame showed it. */
static void
rows(void **state)
{
	desk d;

	(void)state;
	begin(&d);
	desk_press(&d, "up up shift+down");
	desk_others(&d, "{\"op\":\"entry.role\",\"entry\":\":2\",\"role\":\"System\"}");
	assert_int_equal(rt_tui_act(&d.tui, RT_ACT_DELETE), RT_OK);
	assert_int_equal(rt_tui_tend(&d.tui), RT_OK);
	assert_shows(&d, "Another program or window changed 1 of these 2 entries");
	assert_int_equal(rt_work_count(&d.tui.work), 3);
	desk_press(&d, "s");
	assert_shows(&d, "The version you saw, with their changes");
	assert_shows(&d, "Its text is unchanged, but its role");
	desk_press(&d, "escape n");
	assert_int_equal(rt_work_count(&d.tui.work), 3);
	desk_close(&d);

	/* One of them was deleted: the other is changed anyway. */
	begin(&d);
	desk_press(&d, "up up shift+down");
	desk_others(&d, "{\"op\":\"entry.delete\",\"entry\":\":2\"}");
	assert_int_equal(rt_tui_act(&d.tui, RT_ACT_MUTE), RT_OK);
	assert_int_equal(rt_tui_tend(&d.tui), RT_OK);
	assert_shows(&d, "Another program or window changed 1 of these 2 entries");
	desk_press(&d, "y");
	assert_int_equal(rt_work_count(&d.tui.work), 2);
	assert_shows(&d, "User (muted)");
	desk_close(&d);
}

/* A row of another take: its text is that of that take. */
static void
a_row_of_another_take(void **state)
{
	const uint32_t third = 3;
	bool used;
	desk d;

	(void)state;
	begin(&d);
	desk_others(&d, "{\"op\":\"take.branch\",\"at\":\":3\",\"name\":\"other\"}");
	desk_others(&d, "{\"op\":\"entry.edit\",\"entry\":\":3\",\"content\":\"theirs\"}");
	desk_others(&d, "{\"op\":\"take.switch\",\"take\":\"t1\"}");
	assert_int_equal(rt_tui_tend(&d.tui), RT_OK);
	desk_others(&d, "{\"op\":\"entry.edit\",\"entry\":\":3\",\"take\":\"t2\",\"content\":\"later\"}");
	d.tui.work.seen_take = 2; /* as the tree does */
	assert_int_equal(rt_verb_act(&d.tui, RT_ACT_DELETE, &third, 1, &used), RT_OK);
	d.tui.work.seen_take = 0;
	assert_shows(&d, "Another program or window changed the entry");
	desk_press(&d, "s");
	assert_shows(&d, "The version you saw, with their changes");
	assert_shows(&d, "theirs");
	assert_shows(&d, "later");
	assert_false(desk_shows(&d, "three"));
	desk_close(&d);
}

/* "D": further entries were added after it. */
static void
below(void **state)
{
	desk d;

	(void)state;
	begin(&d);
	desk_press(&d, "up");
	desk_others(&d, "{\"op\":\"entry.append\",\"role\":\"User\",\"content\":\"four\"}");
	assert_int_equal(rt_tui_act(&d.tui, RT_ACT_DELETE_BELOW), RT_OK);
	assert_int_equal(rt_tui_tend(&d.tui), RT_OK);
	assert_shows(&d, "Another program or window changed the entries after it");
	assert_int_equal(rt_work_count(&d.tui.work), 4);
	desk_press(&d, "y");
	assert_int_equal(rt_work_count(&d.tui.work), 1);
	desk_close(&d);
}

/* A question's rows are those from the time of the question. */
static void
a_role(void **state)
{
	desk d;

	(void)state;
	begin(&d);
	desk_press(&d, "alt+m");
	desk_others(&d, "{\"op\":\"label.set\",\"entry\":\":3\",\"label\":\"theirs\"}");
	desk_type(&d, "mine");
	desk_press(&d, "enter");
	assert_shows(&d, "Another program or window changed the entry");
	desk_press(&d, "y");
	assert_shows(&d, "#mine");
	desk_close(&d);
}

/* Undo reverts the announced step, or asks. */
static void
undo(void **state)
{
	desk d;

	(void)state;
	begin(&d);
	desk_press(&d, "alt+d");
	assert_int_equal(rt_work_count(&d.tui.work), 2);
	desk_others(&d, "{\"op\":\"entry.append\",\"role\":\"User\",\"content\":\"theirs\"}");
	assert_int_equal(rt_tui_tend(&d.tui), RT_OK);
	desk_press(&d, "alt+u");
	assert_shows(&d, "Undo the change by web: added entry: theirs?");
	assert_int_equal(rt_work_count(&d.tui.work), 3);
	desk_press(&d, "y");
	assert_int_equal(rt_work_count(&d.tui.work), 2);
	desk_press(&d, "alt+u"); /* the present newest step */
	assert_text(&d, 2, "three");
	desk_others(&d, "{\"op\":\"entry.edit\",\"entry\":\":1\",\"content\":\"theirs\"}");
	assert_int_equal(rt_tui_act(&d.tui, RT_ACT_REDO), RT_OK);
	assert_notice(&d, "Nothing to redo: another program or window made changes in the meantime");
	assert_int_equal(d.tui.pane_count, 1);
	assert_int_equal(rt_work_count(&d.tui.work), 3);
	desk_close(&d);
}

/* Redo right after another program has undone a step, and before that is shown. */
static void
redo_of_others(void **state)
{
	desk d;

	(void)state;
	begin(&d);
	desk_others(&d, "{\"op\":\"undo\"}");
	assert_int_equal(rt_tui_act(&d.tui, RT_ACT_REDO), RT_OK);
	assert_shows(&d, "Another program or window made changes in the meantime.");
	assert_shows(&d, "Redo the last undone step?");
	assert_int_equal(rt_work_count(&d.tui.work), 2);
	desk_press(&d, "n");
	assert_notice(&d, "Nothing was changed");
	assert_int_equal(rt_work_count(&d.tui.work), 2);
	assert_int_equal(rt_tui_act(&d.tui, RT_ACT_REDO), RT_OK); /* the state that is shown now */
	assert_text(&d, 2, "three");
	desk_others(&d, "{\"op\":\"undo\"}");
	assert_int_equal(rt_tui_act(&d.tui, RT_ACT_REDO), RT_OK);
	desk_press(&d, "y");
	assert_text(&d, 2, "three");
	desk_close(&d);
}

/* A notice names the key for undo or redo only while that reverts what the notice reports. */
static void
ways_back_of_others(void **state)
{
	desk d;

	(void)state;
	begin(&d);
	desk_press(&d, "alt+d");
	assert_shows(&d, "undo: Alt+U");
	desk_others(&d, "{\"op\":\"undo\"}");
	assert_int_equal(rt_tui_tend(&d.tui), RT_OK);
	assert_notice(&d, "Step 4 was undone by another program or window");
	desk_others(&d, "{\"op\":\"redo\"}");
	assert_int_equal(rt_tui_tend(&d.tui), RT_OK);
	assert_int_equal(rt_tui_act(&d.tui, RT_ACT_UNDO), RT_OK);
	assert_shows(&d, "redo: ");
	desk_others(&d, "{\"op\":\"redo\"}");
	assert_int_equal(rt_tui_tend(&d.tui), RT_OK);
	assert_shows(&d, "   step 4\n");
	assert_false(desk_shows(&d, "redo: "));
	desk_press(&d, "alt+u");
	assert_shows(&d, "redo: ");
	desk_others(&d, "{\"op\":\"setting.set\",\"key\":\"draft\",\"value\":\"x\"}");
	assert_int_equal(rt_tui_tend(&d.tui), RT_OK);
	assert_shows(&d, "redo: ");
	desk_press(&d, "alt+r alt+up alt+m x enter");
	assert_shows(&d, "undo: Alt+U");
	desk_others(&d, "{\"op\":\"entry.append\",\"role\":\"User\",\"content\":\"theirs\"}");
	assert_int_equal(rt_tui_tend(&d.tui), RT_OK);
	assert_shows(&d, "Labelled");
	assert_false(desk_shows(&d, "undo: Alt+U"));
	desk_close(&d);
}

/* The step named by the question is undone, or the question is asked again. */
static void
undo_of_what_was_asked(void **state)
{
	desk d;

	(void)state;
	begin(&d);
	desk_press(&d, "alt+d");
	desk_others(&d, "{\"op\":\"entry.append\",\"role\":\"User\",\"content\":\"theirs\"}");
	assert_int_equal(rt_tui_tend(&d.tui), RT_OK);
	desk_press(&d, "alt+u");
	assert_shows(&d, "Undo the change by web: ");
	desk_others(&d, "{\"op\":\"entry.edit\",\"entry\":\":1\",\"content\":\"another\"}");
	assert_int_equal(rt_tui_tend(&d.tui), RT_OK); /* as a frame does */
	desk_press(&d, "y");
	assert_text(&d, 0, "another");
	assert_shows(&d, "Undo the change by web: ");
	desk_press(&d, "y");
	assert_text(&d, 0, "one");
	assert_int_equal(rt_work_count(&d.tui.work), 3);
	desk_close(&d);
}

static void
prompt(void **state)
{
	bool used;
	desk d;

	(void)state;
	begin(&d);
	assert_int_equal(rt_verb_act(&d.tui, RT_ACT_PROMPT, NULL, 0, &used), RT_OK);
	desk_type(&d, "mine");
	desk_others(&d, "{\"op\":\"prompt.update\",\"text\":\"theirs\"}");
	desk_press(&d, "enter");
	assert_shows(&d, "Another program or window changed the working prompt");
	desk_press(&d, "d");
	assert_shows(&d, "Their version was kept.  Your text was kept");
	desk_close(&d);
}

static rt_status
told(rt_tui *tui, void *ctx, rt_status st, rt_work_said *said, const rt_error *err)
{
	rt_request undo_one = {.op = RT_OP_UNDO};
	rt_pending_change_options how = {
		.requests = &undo_one, .count = 1, .done = told, .ctx = ctx};
	rt_status *got = ctx;

	(void)said;
	(void)err;
	*got = st;
	return st == RT_USAGE ? rt_pending_change_start(tui, &how) : RT_OK;
}

/* A failure is reported once, and another change may begin then. */
static void
failures(void **state)
{
	rt_status got = RT_CORRUPT;
	rt_pending_change_options how = {.done = told, .ctx = &got};
	desk d;

	(void)state;
	begin(&d);
	assert_int_equal(rt_pending_change_start(&d.tui, &how), RT_OK);
	assert_int_equal(got, RT_OK); /* of the undo that began when it had failed */
	assert_int_equal(rt_work_count(&d.tui.work), 2);
	assert_null(d.tui.pending);
	desk_close(&d);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_edit),   cmocka_unit_test(once_more),
		cmocka_unit_test(edited_once_more),
		cmocka_unit_test(another_take), cmocka_unit_test(beside_an_entry_of_another_take),
		cmocka_unit_test(typed_ahead),
		cmocka_unit_test(a_low_terminal), cmocka_unit_test(it_is_gone), cmocka_unit_test(something_else),
		cmocka_unit_test(rows),      cmocka_unit_test(a_row_of_another_take),
		cmocka_unit_test(below),
		cmocka_unit_test(a_role),    cmocka_unit_test(undo),
		cmocka_unit_test(undo_of_what_was_asked), cmocka_unit_test(redo_of_others),
		cmocka_unit_test(ways_back_of_others),
		cmocka_unit_test(prompt),    cmocka_unit_test(failures),
	};

	return cmocka_run_group_tests_name("verb_conflict", tests, NULL, NULL);
}
