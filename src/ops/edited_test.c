/* SPDX-License-Identifier: MIT
 *
 * The mark of an entry that was edited: which operations set it, that it follows the text through
 * undo, branches and reverts, and that the log and checkpoints keep it. */
#include <stdio.h>

#include "codec/json.h"
#include "log/bare_testing.h"
#include "log/checkpoint.h"
#include "log/fsck.h"
#include "store/store_memory.h"
#include "view/view.h"

static int
set_up(void **state)
{
	rt_store *store;

	assert_int_equal(rt_store_memory_open(rt_alloc_libc(), &env, &store, NULL), RT_OK);
	return bare_set_up(state, store);
}

/* It is a step. */
static void
do_it(bare *f, const char *json)
{
	bare_apply(f, json);
	assert_false(f->unchanged);
}

static void
changes_nothing(bare *f, const char *json)
{
	bare_apply(f, json);
	assert_true(f->unchanged);
}

/* op_and_key: `jump","to` */
static void
do_with_step(bare *f, const char *op_and_key, uint64_t seq)
{
	char json[64];

	(void)snprintf(json, sizeof(json), "{\"op\":\"%s\":%llu}", op_and_key,
		       (unsigned long long)seq);
	do_it(f, json);
}

/* The active take: E for an entry that was edited, - for another. */
static const char *
marks_of(bare *f, const rt_project *value)
{
	const rt_disc *disc;
	const rt_take *take;
	size_t i;

	rt_buf_clear(&f->out);
	assert_int_equal(rt_project_disc(value, value->active, &disc, NULL), RT_OK);
	take = rt_disc_take(disc, disc->active);
	for (i = 0; i < rt_seq_count(take->slots); i++) {
		rt_slot slot;

		assert_int_equal(rt_seq_get(take->slots, i, &slot, NULL), RT_OK);
		rt_buf_add_byte(&f->out, (slot.flags & RT_SLOT_EDITED) != 0 ? 'E' : '-');
	}
	rt_buf_add_byte(&f->out, '\0');
	return f->out.ptr;
}

static const char *
marks(bare *f)
{
	const rt_project *value = rt_engine_value(f->engine);
	const char *found = marks_of(f, value);

	rt_object_unref(value);
	return found;
}

static void
add_three(bare *f)
{
	bare_add(f, "aa", "User", "one");
	bare_add(f, "bb", "User", "two");
	bare_add(f, "cc", "User", "three");
}

static void
an_edit_sets_it(void **state)
{
	bare *f = *state;

	add_three(f);
	assert_string_equal(marks(f), "---");
	changes_nothing(f, "{\"op\":\"entry.edit\",\"entry\":\"bb\",\"content\":\"two\"}");
	do_it(f, "{\"op\":\"entry.role\",\"entry\":\"aa\",\"role\":\"Tool\"}");
	do_it(f, "{\"op\":\"entry.mute\",\"entry\":\"aa\"}");
	do_it(f, "{\"op\":\"label.set\",\"entry\":\"aa\",\"label\":\"x\"}");
	do_it(f, "{\"op\":\"entry.move\",\"entry\":\"aa\",\"after\":\"cc\"}");
	assert_string_equal(marks(f), "---");
	do_it(f, "{\"op\":\"undo\"}");
	do_it(f, "{\"op\":\"entry.edit\",\"entry\":\"bb\",\"content\":\"2\"}");
	assert_string_equal(marks(f), "-E-");
	changes_nothing(f, "{\"op\":\"entry.edit\",\"entry\":\"bb\",\"content\":\"2\"}");
	/* other changes of the entry keep the mark */
	do_it(f, "{\"op\":\"entry.mute\",\"entry\":\"bb\"}");
	do_it(f, "{\"op\":\"entry.role\",\"entry\":\"bb\",\"role\":\"Tool\"}");
	do_it(f, "{\"op\":\"entry.move\",\"entry\":\"bb\",\"before\":\"aa\"}");
	assert_string_equal(marks(f), "E--");
	/* a return to the first text is another edit */
	do_it(f, "{\"op\":\"entry.edit\",\"entry\":\"bb\",\"content\":\"two\"}");
	assert_string_equal(marks(f), "E--");
	do_it(f, "{\"op\":\"entry.edit\",\"entry\":\"cc\",\"content\":[{\"type\":\"text\",\"text\":\"3\"}]}");
	assert_string_equal(marks(f), "E-E");
}

static void
it_goes_with_the_text(void **state)
{
	bare *f = *state;
	uint64_t first, second;

	add_three(f);
	do_it(f, "{\"op\":\"entry.edit\",\"entry\":\"bb\",\"content\":\"2\"}");
	first = f->seq;
	do_it(f, "{\"op\":\"entry.edit\",\"entry\":\"bb\",\"content\":\"II\"}");
	second = f->seq;
	do_it(f, "{\"op\":\"undo\"}");
	assert_string_equal(marks(f), "-E-");
	do_it(f, "{\"op\":\"undo\"}");
	assert_string_equal(marks(f), "---");
	do_it(f, "{\"op\":\"redo\"}");
	assert_string_equal(marks(f), "-E-");
	do_with_step(f, "jump\",\"to", first - 1);
	assert_string_equal(marks(f), "---");
	do_with_step(f, "jump\",\"to", second);
	assert_string_equal(marks(f), "-E-");
	/* a revert restores the body and its mark */
	do_with_step(f, "revert\",\"seq", second);
	assert_string_equal(marks(f), "-E-");
	do_it(f, "{\"op\":\"entry.mute\",\"entry\":\"aa\"}");
	do_it(f, "{\"op\":\"entry.edit\",\"entry\":\"aa\",\"content\":\"1\"}");
	assert_string_equal(marks(f), "EE-");
	do_with_step(f, "revert\",\"seq", f->seq);
	assert_string_equal(marks(f), "-E-");
}

static void
takes_have_their_own(void **state)
{
	bare *f = *state;

	add_three(f);
	do_it(f, "{\"op\":\"entry.edit\",\"entry\":\"aa\",\"content\":\"1\"}");
	do_it(f, "{\"op\":\"take.branch\",\"at\":\"bb\",\"name\":\"side\"}");
	assert_string_equal(marks(f), "E-");
	do_it(f, "{\"op\":\"entry.edit\",\"entry\":\"bb\",\"content\":\"2\"}");
	assert_string_equal(marks(f), "EE");
	do_it(f, "{\"op\":\"take.switch\",\"take\":\"main\"}");
	assert_string_equal(marks(f), "E--");
	do_it(f, "{\"op\":\"entry.edit\",\"entry\":\"bb\",\"content\":\"II\",\"everywhere\":true}");
	assert_string_equal(marks(f), "EE-");
	do_it(f, "{\"op\":\"entry.append\",\"id\":\"dd\",\"content\":\"four\"}");
	do_it(f, "{\"op\":\"entry.edit\",\"entry\":\"dd\",\"content\":\"4\"}");
	do_it(f, "{\"op\":\"take.switch\",\"take\":\"side\"}");
	do_it(f, "{\"op\":\"take.graft\",\"from\":\"main\",\"entries\":[\"dd\"],\"after\":\"bb\"}");
	assert_string_equal(marks(f), "EEE");
	/* a copy is a separate entry */
	do_it(f, "{\"op\":\"take.graft\",\"from\":\"main\",\"entries\":[\"aa\"],\"after\":\"dd\"}");
	assert_string_equal(marks(f), "EEE-");
	do_it(f, "{\"op\":\"discussion.extract\",\"entry\":\"dd\",\"name\":\"other\"}");
	assert_string_equal(marks(f), "EE");
}

static void
split_and_merge_set_it(void **state)
{
	bare *f = *state;

	add_three(f);
	do_it(f, "{\"op\":\"entry.split\",\"entry\":\"bb\",\"at\":1,\"id\":\"b2\"}");
	assert_string_equal(marks(f), "-E--");
	/* an edited text, split: the new half has no other version */
	do_it(f, "{\"op\":\"entry.split\",\"entry\":\"cc\",\"at\":3,\"id\":\"c2\"}");
	do_it(f, "{\"op\":\"entry.split\",\"entry\":\"cc\",\"at\":1,\"id\":\"c3\"}");
	assert_string_equal(marks(f), "-E-E--");
	do_it(f, "{\"op\":\"undo\",\"count\":3}");
	assert_string_equal(marks(f), "---");
	do_it(f, "{\"op\":\"entry.merge\",\"entry\":\"aa\"}");
	assert_string_equal(marks(f), "E-");
	do_it(f, "{\"op\":\"undo\"}");
	/* if nothing was added, the text is unchanged */
	do_it(f, "{\"op\":\"entry.insert\",\"id\":\"no\",\"after\":\"aa\",\"content\":\"\"}");
	do_it(f, "{\"op\":\"entry.merge\",\"entry\":\"aa\"}");
	assert_string_equal(marks(f), "---");
	do_it(f, "{\"op\":\"entry.append\",\"id\":\"dd\",\"content\":[{\"type\":\"text\",\"text\":\"4\"}]}");
	do_it(f, "{\"op\":\"entry.append\",\"id\":\"ee\",\"content\":[]}");
	do_it(f, "{\"op\":\"entry.merge\",\"entry\":\"dd\"}");
	assert_string_equal(marks(f), "----");
	do_it(f, "{\"op\":\"entry.append\",\"id\":\"ff\",\"content\":\"5\"}");
	do_it(f, "{\"op\":\"entry.merge\",\"entry\":\"dd\"}");
	assert_string_equal(marks(f), "---E");
}

/* Continuing a reply keeps its mark: edited by the user, or not. */
static void
a_reply_that_goes_on_keeps_it(void **state)
{
	bare *f = *state;

	add_three(f);
	do_it(f, "{\"op\":\"entry.reply\",\"into\":\"cc\",\"content\":\" more\",\"join\":true}");
	do_it(f, "{\"op\":\"entry.reply\",\"into\":\"bb\",\"content\":\"another\"}");
	assert_string_equal(marks(f), "---");
	do_it(f, "{\"op\":\"entry.edit\",\"entry\":\"cc\",\"content\":\"3\"}");
	do_it(f, "{\"op\":\"entry.reply\",\"into\":\"cc\",\"content\":\" more\",\"join\":true}");
	assert_string_equal(marks(f), "--E");
	/* a request that changes content and fields at once sets it itself */
	do_it(f, "{\"op\":\"entry.reply\",\"into\":\"bb\",\"content\":\"2\",\"by_hand\":true,\"x\":1}");
	assert_string_equal(marks(f), "-EE");
	assert_int_equal(bare_try(f, "{\"op\":\"entry.reply\",\"after\":\"bb\",\"content\":\"2\","
				     "\"by_hand\":true}"), RT_USAGE);
}

static void
open_again(bare *f)
{
	rt_engine_close(f->engine);
	bare_open_engine(f);
}

static bool
no_finding(void *ctx, const rt_finding *finding)
{
	(void)ctx;
	fail_msg("%s: %s", finding->id, finding->text);
	return true;
}

static void
check_store(bare *f)
{
	rt_error err = {0};

	if (rt_engine_fsck(f->engine, no_finding, NULL, &err) != RT_OK)
		fail_msg("%s", err.text);
}

static void
the_store_keeps_it(void **state)
{
	bare *f = *state;
	const rt_project *before;
	int i;

	add_three(f);
	do_it(f, "{\"op\":\"entry.edit\",\"entry\":\"bb\",\"content\":\"2\"}");
	do_it(f, "{\"op\":\"entry.mute\",\"entry\":\"bb\"}");
	check_store(f);
	open_again(f); /* from the log alone */
	assert_string_equal(marks(f), "-E-");
	assert_int_equal(rt_engine_checkpoint(f->engine, NULL), RT_OK);
	for (i = 0; i < 3; i++) { /* from the checkpoint; and from the log again */
		open_again(f);
		assert_string_equal(marks(f), "-E-");
		check_store(f);
		if (i == 1)
			assert_int_equal(rt_engine_rebuild(f->engine, NULL), RT_OK);
	}
	do_it(f, "{\"op\":\"undo\",\"count\":2}");
	assert_string_equal(marks(f), "---");
	check_store(f);
	assert_int_equal(rt_engine_value_at(f->engine, 4, &before, NULL), RT_OK);
	assert_string_equal(marks_of(f, before), "-E-");
	rt_object_unref(before);
}

/* A bit unknown to this version stays with the slot when other things change. */
static void
unknown_bits_stay(void **state)
{
	static const char row[] =
		"{\"v\":1,\"op\":\"entry.mute\",\"by\":\"new\",\"d\":1,\"p\":[[1,1]],\"fx\":[[\"s\",1,1,0,"
		"[[1,1,3,null,\"User\",\"\",0]],[[1,1,3,null,\"User\",\"\",4097]]]]}";
	bare *f = *state;
	const rt_project *value;
	const rt_disc *disc;
	rt_store_row line = {.data = rt_str_of(row), .at_us = 1};
	rt_slot slot;

	do_it(f, "{\"op\":\"entry.append\",\"id\":\"aa\",\"content\":\"one\"}");
	assert_int_equal(f->store->ops->begin(f->store, NULL), RT_OK);
	assert_int_equal(f->store->ops->append(f->store, rt_engine_project_number(f->engine), 1,
					       &line, 1, NULL, 0, NULL, NULL),
			 RT_OK);
	assert_int_equal(f->store->ops->commit(f->store, NULL), RT_OK);
	do_it(f, "{\"op\":\"entry.role\",\"entry\":\"aa\",\"role\":\"Tool\"}");
	open_again(f);
	value = rt_engine_value(f->engine);
	assert_int_equal(rt_project_disc(value, 1, &disc, NULL), RT_OK);
	assert_int_equal(rt_seq_get(rt_disc_take(disc, 1)->slots, 0, &slot, NULL), RT_OK);
	assert_int_equal(slot.flags, 4096 | RT_SLOT_MUTED | RT_SLOT_NO_TS);
	rt_object_unref(value);
	check_store(f);
}

typedef rt_status (*view_fn)(bare *f, const rt_project *value, rt_buf *out);

static rt_status
view_show(bare *f, const rt_project *value, rt_buf *out)
{
	rt_window all = {0};

	return rt_view_show(f->engine, value, (rt_place){0, 0}, &all, out, NULL);
}

static rt_status
view_tree(bare *f, const rt_project *value, rt_buf *out)
{
	return rt_view_tree(f->engine, value, 0, out, NULL);
}

static rt_status
view_columns(bare *f, const rt_project *value, rt_buf *out)
{
	rt_columns_options options = {.take = 0};

	return rt_view_columns(f->engine, value, 0, &options, out, NULL);
}

static void
view_has(bare *f, view_fn view, const char *wanted, bool has)
{
	const rt_project *value = rt_engine_value(f->engine);
	rt_buf out;

	rt_buf_init(&out, rt_alloc_libc(), RT_BUF_UNLIMITED);
	assert_int_equal(view(f, value, &out), RT_OK);
	if ((rt_str_find(rt_buf_str(&out), rt_str_of(wanted), 0) != SIZE_MAX) != has)
		fail_msg("%s is %sin %.*s", wanted, has ? "not " : "", (int)out.size, out.ptr);
	rt_buf_deinit(&out);
	rt_object_unref(value);
}

/* flags: of all entries, as columns have them. */
static void
views_have(bare *f, bool edited, const char *flags)
{
	char wanted[40];

	(void)snprintf(wanted, sizeof(wanted), "\"flags\":[%s]", flags);
	view_has(f, view_show, "\"edited\":true", edited);
	view_has(f, view_tree, "\"edited\":true", edited);
	view_has(f, view_show, "edited", edited);
	view_has(f, view_tree, "edited", edited);
	view_has(f, view_columns, wanted, true);
}

static void
views_say_it(void **state)
{
	bare *f = *state;

	add_three(f);
	views_have(f, false, "0,0,0");
	do_it(f, "{\"op\":\"entry.edit\",\"entry\":\"bb\",\"content\":\"2\"}");
	do_it(f, "{\"op\":\"entry.mute\",\"entry\":\"bb\"}");
	views_have(f, true, "0,33,0");
	do_it(f, "{\"op\":\"undo\",\"count\":2}");
	views_have(f, false, "0,0,0");
	/* a user's field of that name is kept, and appears once */
	do_it(f, "{\"op\":\"entry.append\",\"id\":\"dd\",\"content\":\"4\",\"edited\":\"noon\"}");
	do_it(f, "{\"op\":\"entry.edit\",\"entry\":\"dd\",\"content\":\"5\"}");
	view_has(f, view_show, "\"edited\":\"noon\"", true);
	view_has(f, view_show, "\"edited\":true", false);
	view_has(f, view_columns, "\"flags\":[0,0,0,40]", true);
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, bare_tear_down)
	const struct CMUnitTest tests[] = {
		TEST(an_edit_sets_it),
		TEST(it_goes_with_the_text),
		TEST(takes_have_their_own),
		TEST(split_and_merge_set_it),
		TEST(a_reply_that_goes_on_keeps_it),
		TEST(the_store_keeps_it),
		TEST(unknown_bits_stay),
		TEST(views_say_it),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
