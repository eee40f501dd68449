/* SPDX-License-Identifier: MIT
 *
 * Hooks around operations: which events an operation has, their members, and the result when a hook
 * denies or replaces it. */
#include "ops/action_testing.h"

/* ---- each event ---- */

static void
an_entry_is_added(void **state)
{
	fixture *f = *state;

	acts(f, "{\"op\":\"entry.append\",\"content\":\"five\",\"id\":\"e\"}");
	fired(f, "entry.before_add entry.after ");
	has_told(f, "\"session\":{\"project\":\"default\",\"discussion\":\"main\",\"take\":\"main\"},"
		"\"via\":\"cli\",\"op\":{\"op\":\"entry.append\",\"content\":\"five\",\"id\":\"e\"}} "
		"op=entry.append role=User kind=message project=default discussion=main "
		"take=main\n");
	has_told(f, "\"entry\":{\"id\":\"e\",\"role\":\"User\",\"kind\":\"message\",\"content\":\"five\"},"
		"\"seq\":");
	acts(f, "{\"op\":\"entry.insert\",\"after\":\":1\",\"role\":\"AI\",\"kind\":\"custom\","
		"\"content\":\"x\"}");
	fired(f, "entry.before_add entry.after ");
	has_told(f, "\"after\":\"a\""); /* the address is replaced by the id */
	has_told(f, "op=entry.insert role=AI kind=custom");
	acts(f, "{\"op\":\"take.graft\",\"entries\":[\"s\"],\"from\":\"side\",\"after\":\"b\"}");
	fired(f, "entry.before_add entry.after ");
	has_told(f, "op=take.graft role=User kind=message");
}

static void
hooks_are_told_who_asked(void **state)
{
	fixture *f = *state;

	f->with.by = RT_STR("web:ada");
	acts(f, "{\"op\":\"entry.append\",\"content\":\"five\",\"id\":\"e\"}");
	fired(f, "entry.before_add entry.after ");
	has_told(f, "entry.before_add {\"session\":{\"project\":\"default\",\"discussion\":\"main\","
		"\"take\":\"main\"},\"via\":\"web:ada\",\"op\":");
	has_told(f, "entry.after {\"session\":{\"project\":\"default\",\"discussion\":\"main\","
		"\"take\":\"main\"},\"via\":\"web:ada\",\"op\":");
}

static void
an_append_in_mid_take_makes_a_take(void **state)
{
	fixture *f = *state;

	world_apply(&f->w, "{\"op\":\"head.move\",\"entry\":\"c\"}");
	acts(f, "{\"op\":\"entry.append\",\"content\":\"else\",\"id\":\"e\"}");
	fired(f, "entry.before_add take.before_create entry.after take.created ");
	has_told(f, "take.before_create {\"session\":{\"project\":\"default\",\"discussion\":\"main\","
		"\"take\":\"main\"},\"via\":\"cli\",\"entryId\":\"c\",\"name\":\"main_take_1\"}");
	has_told(f, "\"entryId\":\"c\",\"previous\":\"main\",\"name\":\"main_take_1\"}");
}

static void
an_entry_is_changed(void **state)
{
	fixture *f = *state;

	acts(f, "{\"op\":\"entry.edit\",\"entry\":\":2\",\"content\":\"2\"}");
	fired(f, "entry.before_edit entry.after ");
	has_told(f, "\"op\":{\"op\":\"entry.edit\",\"entry\":\"b\",\"content\":\"2\"},\"entry\":{"
		"\"id\":\"b\",\"role\":\"AI\",\"kind\":\"message\",\"content\":\"two\"}} "
		"op=entry.edit role=AI kind=message");
	has_told(f, "\"entry\":{\"id\":\"b\",\"role\":\"AI\",\"kind\":\"message\",\"content\":\"2\"},"
		"\"seq\":");
	acts(f, "{\"op\":\"entry.role\",\"entry\":\"b\",\"role\":\"Model\"}");
	fired(f, "entry.before_role entry.after ");
	has_told(f, "op=entry.role role=AI kind=message");
	acts(f, "{\"op\":\"entry.split\",\"entry\":\"c\",\"at\":2,\"id\":\"c2\"}");
	fired(f, "entry.before_edit entry.after ");
	has_told(f, "\"content\":\"th\"},\"seq\":");
	acts(f, "{\"op\":\"entry.merge\",\"entry\":\"c\"}");
	fired(f, "entry.before_edit entry.after ");
	acts(f, "{\"op\":\"entry.move\",\"entry\":\"a\",\"after\":\"b\"}");
	fired(f, "entry.after ");
	acts(f, "{\"op\":\"entry.mute\",\"entry\":\"a\"}");
	fired(f, "entry.after ");
	/* no event without a change */
	acts(f, "{\"op\":\"entry.mute\",\"entry\":\"a\"}");
	fired(f, "");
	acts(f, "{\"op\":\"entry.edit\",\"entry\":\"b\",\"content\":\"2\"}");
	fired(f, "");
}

static void
entries_are_deleted(void **state)
{
	fixture *f = *state;

	acts(f, "{\"op\":\"entry.delete\",\"entry\":\"d\"}");
	fired(f, "entry.before_delete entry.after ");
	has_told(f, "\"entry\":{\"id\":\"d\",\"role\":\"AI\",\"kind\":\"message\",\"content\":\"four\"}} "
		"op=entry.delete role=AI kind=message");
	has_told(f, "\"entry\":null,\"seq\":");
	acts(f, "{\"op\":\"entry.delete\",\"from\":\"a\",\"to\":\"b\"}");
	has_told(f, "\"entries\":[{\"id\":\"a\",\"role\":\"User\",\"kind\":\"message\",\"content\":\"one\"},"
		"{\"id\":\"b\",");
	has_told(f, "op=entry.delete role=User kind=message role=AI kind=message project=default");
	acts(f, "{\"op\":\"undo\"}");
	acts(f, "{\"op\":\"take.truncate\",\"pairs\":1}");
	fired(f, "entry.before_delete entry.after ");
	has_told(f, "op=take.truncate role=");
	acts(f, "{\"op\":\"take.clear\"}");
	fired(f, "entry.before_delete entry.after ");
	has_told(f, "op=take.clear role=");
	/* there is nothing to delete */
	acts(f, "{\"op\":\"take.clear\"}");
	fired(f, "");
}

static void
takes_are_made(void **state)
{
	fixture *f = *state;

	acts(f, "{\"op\":\"take.branch\",\"at\":\":2\",\"name\":\"new\"}");
	fired(f, "take.before_create take.created ");
	has_told(f, "take.before_create {\"session\":{\"project\":\"default\",\"discussion\":\"main\","
		"\"take\":\"main\"},\"via\":\"cli\",\"entryId\":\"b\",\"name\":\"new\"}");
	has_told(f, "\"entryId\":\"b\",\"previous\":\"main\",\"name\":\"new\"}");
	acts(f, "{\"op\":\"take.promote\",\"take\":\"side\",\"name\":\"own\"}");
	fired(f, "take.before_create take.created ");
	has_told(f, "\"entryId\":\"s\",\"previous\":\"side\",\"name\":\"own\"}");
	acts(f, "{\"op\":\"discussion.extract\",\"entry\":\"d\",\"name\":\"path\"}");
	fired(f, "take.before_create take.created ");
	has_told(f, "\"entryId\":\"d\",\"previous\":\"main\",\"name\":\"path\"}");
}

static void
the_head_moves(void **state)
{
	fixture *f = *state;

	acts(f, "{\"op\":\"take.switch\",\"take\":\"side\"}");
	fired(f, "head.before_move head.after_move ");
	has_told(f, "\"preparation\":{\"targetId\":\"s\",\"oldLeafId\":\"d\",\"commonAncestorId\":\"b\","
		"\"entriesToSummarize\":[{\"id\":\"c\",\"role\":\"User\",\"kind\":\"message\","
		"\"content\":\"three\"},{\"id\":\"d\",");
	has_told(f, "\"userWantsSummary\":false},\"customInstructions\":null,"
		"\"model\":null}");
	has_told(f, "\"newLeafId\":\"s\",\"oldLeafId\":\"d\"}");
	acts(f, "{\"op\":\"head.move\",\"entry\":null}");
	has_told(f, "\"targetId\":null,\"oldLeafId\":\"s\",\"commonAncestorId\":null");
	/* there already */
	acts(f, "{\"op\":\"head.move\",\"entry\":null}");
	fired(f, "");
	/* the active take is deleted, and with it the head */
	acts(f, "{\"op\":\"take.switch\",\"take\":\"main\"}");
	acts(f, "{\"op\":\"take.delete\",\"take\":\"main\"}");
	fired(f, "head.before_move head.after_move ");
	has_told(f, "\"newLeafId\":\"s\",\"oldLeafId\":\"d\"");
}

static void
a_take_that_nobody_looks_at_is_deleted(void **state)
{
	fixture *f = *state;

	acts(f, "{\"op\":\"take.delete\",\"take\":\"side\"}");
	fired(f, "");
}

static void
a_summary_ends_what_is_left(void **state)
{
	fixture *f = *state;

	world_apply(&f->w, "{\"op\":\"entry.append\",\"kind\":\"compaction\",\"id\":\"k\","
			   "\"role\":\"System\",\"content\":\"short\"}");
	world_add(&f->w, "e", "User", "five");
	acts(f, "{\"op\":\"head.move\",\"entry\":\"a\"}");
	has_told(f, "\"entriesToSummarize\":[{\"id\":\"e\",");
}

static void
discussions_are_switched(void **state)
{
	fixture *f = *state;

	acts(f, "{\"op\":\"discussion.new\",\"name\":\"two\"}");
	fired(f, "session.before_switch session.after_switch ");
	has_told(f, "\"target\":\"two\",\"reason\":\"new\"}");
	has_told(f, "session.after_switch {\"session\":{\"project\":\"default\",\"discussion\":\"two\"");
	has_told(f, "\"previous\":\"main\",\"reason\":\"new\"}");
	acts(f, "{\"op\":\"discussion.switch\",\"discussion\":\"main\"}");
	has_told(f, "\"target\":\"main\",\"reason\":\"resume\"}");
	acts(f, "{\"op\":\"discussion.switch\",\"discussion\":\"main\"}");
	fired(f, "");
	acts(f, "{\"op\":\"discussion.delete\",\"discussion\":\"two\"}");
	fired(f, "");
	acts(f, "{\"op\":\"project.reset\"}");
	fired(f, "session.before_switch session.after_switch ");
	has_told(f, "\"target\":\"main\",\"reason\":\"new\"}");
}

static void
steps_are_undone(void **state)
{
	fixture *f = *state;
	uint64_t seq;
	char part[80], request[80];

	acts(f, "{\"op\":\"entry.role\",\"entry\":\"a\",\"role\":\"X\"}");
	acts(f, "{\"op\":\"entry.role\",\"entry\":\"b\",\"role\":\"Y\"}");
	seq = world_seq(&f->w);
	acts(f, "{\"op\":\"undo\",\"count\":2}");
	fired(f, "undo.after ");
	snprintf(part, sizeof(part), "\"steps\":[%u,%u],\"seq\":%u}", (unsigned)seq,
		 (unsigned)seq - 1, (unsigned)seq + 1);
	has_told(f, part);
	acts(f, "{\"op\":\"redo\"}");
	fired(f, "redo.after ");
	acts(f, "{\"op\":\"jump\",\"to\":0}");
	fired(f, "undo.after ");
	snprintf(request, sizeof(request), "{\"op\":\"jump\",\"to\":%u}", (unsigned)seq);
	acts(f, request);
	fired(f, "redo.after ");
	snprintf(request, sizeof(request), "{\"op\":\"revert\",\"seq\":%u}", (unsigned)seq);
	acts(f, request);
	fired(f, "undo.after ");
	snprintf(part, sizeof(part), "\"steps\":[%u],", (unsigned)seq);
	has_told(f, part);
	assert_int_equal(act(f, "{\"op\":\"revert\",\"seq\":9999}"), RT_NOT_FOUND);
	fired(f, "");
}

static void
a_session_begins_and_ends(void **state)
{
	fixture *f = *state;

	rt_buf_clear(&f->h.log);
	rt_action_session_open(f->w.engine, &f->with);
	rt_action_session_close(f->w.engine, &f->with);
	rt_buf_add_byte(&f->h.log, '\0');
	fired(f, "session.open session.close ");
	has_told(f, "\"project\":\"default\"");
	rt_action_session_open(f->w.engine, NULL);
}

static void
other_operations_have_no_events(void **state)
{
	static const char *const quiet[] = {
		"{\"op\":\"label.set\",\"entry\":\"a\",\"label\":\"x\"}",
		"{\"op\":\"setting.set\",\"key\":\"k\",\"value\":1}",
		"{\"op\":\"entry.view\",\"all\":true,\"collapsed\":true}",
		"{\"op\":\"prompt.update\",\"text\":\"p\"}",
		"{\"op\":\"take.rename\",\"take\":\"side\",\"name\":\"x\"}",
		"{\"op\":\"role.add\",\"role\":\"R\"}",
		"{\"op\":\"purge\",\"entry\":\"a\"}",
	};
	fixture *f = *state;
	size_t i;

	for (i = 0; i < sizeof(quiet) / sizeof(quiet[0]); i++) {
		acts(f, quiet[i]);
		fired(f, "");
	}
}

/* ---- a hook says no ---- */

static void
no_is_no(void **state)
{
	static const struct {
		const char *event, *request;
	} all[] = {
		{"entry.before_add", "{\"op\":\"entry.append\",\"content\":\"x\"}"},
		{"entry.before_edit", "{\"op\":\"entry.edit\",\"entry\":\"a\",\"content\":\"x\"}"},
		{"entry.before_edit", "{\"op\":\"entry.merge\",\"entry\":\"a\"}"},
		{"entry.before_role", "{\"op\":\"entry.role\",\"entry\":\"a\",\"role\":\"x\"}"},
		{"entry.before_delete", "{\"op\":\"entry.delete\",\"entry\":\"a\"}"},
		{"entry.before_delete", "{\"op\":\"take.clear\"}"},
		{"entry.before_delete", "{\"op\":\"take.truncate\",\"pairs\":1}"},
		{"take.before_create", "{\"op\":\"take.branch\",\"at\":\"a\"}"},
		{"take.before_create", "{\"op\":\"discussion.extract\",\"entry\":\"b\"}"},
		{"head.before_move", "{\"op\":\"head.move\",\"entry\":\"a\"}"},
		{"head.before_move", "{\"op\":\"take.switch\",\"take\":\"side\"}"},
		{"session.before_switch", "{\"op\":\"discussion.new\",\"name\":\"x\"}"},
		{"session.before_switch", "{\"op\":\"project.reset\"}"},
	};
	fixture *f = *state;
	uint64_t seq = world_seq(&f->w);
	char names[60];
	size_t i;

	remember(f);
	f->h.deny = "not here";
	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		f->h.on = all[i].event;
		assert_int_equal(act(f, all[i].request), RT_DENIED);
		assert_string_equal(f->err.text, "hook guard: not here");
		snprintf(names, sizeof(names), "%s ", all[i].event);
		fired(f, names);
		same(f, seq);
	}
	/* a required hook that cannot be run */
	f->h.on = "entry.before_add";
	f->h.deny = NULL;
	f->h.status = RT_DENIED;
	assert_int_equal(act(f, "{\"op\":\"entry.append\",\"content\":\"x\"}"), RT_DENIED);
	assert_string_equal(f->err.text, "the hook guard is required: it went wrong");
	f->h.status = RT_INTERRUPTED;
	assert_int_equal(act(f, "{\"op\":\"entry.append\",\"content\":\"x\"}"), RT_INTERRUPTED);
	same(f, seq);
}

/* In a batch of separate requests one is refused; in a step all are. */
static void
one_of_several_is_refused(void **state)
{
	static const char three[] = "[{\"op\":\"entry.append\",\"content\":\"x\",\"id\":\"x\"},"
				    "{\"op\":\"entry.edit\",\"entry\":\"x\",\"content\":\"y\"},"
				    "{\"op\":\"entry.append\",\"content\":\"z\",\"id\":\"z\"}]";
	fixture *f = *state;
	uint64_t seq = world_seq(&f->w);
	rt_status each[3];

	remember(f);
	f->h.on = "entry.before_edit";
	f->h.deny = "no edits";
	assert_int_equal(act_on(f, three, true, each), RT_DENIED);
	assert_string_equal(f->err.text, "hook guard: no edits");
	assert_true(each[0] == RT_DENIED && each[1] == RT_DENIED && each[2] == RT_DENIED);
	fired(f, "entry.before_add entry.before_edit ");
	/* entries that the step itself has made can be in events */
	has_told(f, "\"entry\":{\"id\":\"x\",\"role\":\"User\",\"kind\":\"message\",\"content\":\"x\"}");
	same(f, seq);
	assert_int_equal(act_on(f, three, false, each), RT_DENIED);
	assert_true(each[0] == RT_OK && each[1] == RT_DENIED && each[2] == RT_OK);
	fired(f, "entry.before_add entry.after entry.before_edit entry.before_add entry.after ");
	world_has(&f->w, "x", "\"content\":\"x\"");
	world_has(&f->w, "z", "\"content\":\"z\"");
	assert_int_equal(world_seq(&f->w), seq + 2);
}

static void
a_whole_step_is_told(void **state)
{
	fixture *f = *state;
	uint64_t seq = world_seq(&f->w);

	assert_int_equal(act_on(f,
				"[{\"op\":\"entry.append\",\"content\":\"x\",\"id\":\"x\"},"
				"{\"op\":\"entry.edit\",\"entry\":\"x\",\"content\":\"y\"},"
				"{\"op\":\"head.move\",\"entry\":\"a\"}]",
				true, NULL),
			 RT_OK);
	fired(f, "entry.before_add entry.before_edit head.before_move entry.after entry.after "
		 "head.after_move ");
	has_told(f, "\"oldLeafId\":\"x\"");
	assert_int_equal(world_seq(&f->w), seq + 1);
	/* a request that fails: no hook is notified */
	assert_int_equal(act_on(f,
				"[{\"op\":\"entry.insert\",\"after\":\"a\",\"content\":\"x\"},"
				"{\"op\":\"entry.edit\",\"entry\":\"nowhere\",\"content\":\"y\"}]",
				true, NULL),
			 RT_NOT_FOUND);
	fired(f, "entry.before_add ");
	assert_int_equal(world_seq(&f->w), seq + 1);
}

/* ---- a hook replaces the request ---- */

static void
another_in_its_place(void **state)
{
	fixture *f = *state;
	uint64_t seq;

	f->h.on = "entry.before_add";
	f->h.patch = "{\"op\":{\"op\":\"entry.append\",\"role\":\"AI\",\"content\":\"***\","
		     "\"id\":\"e\"}}";
	acts(f, "{\"op\":\"entry.append\",\"content\":\"secret\",\"id\":\"e\"}");
	assert_string_equal(f->h.notes.ptr, "guard: changed it");
	world_has(&f->w, "e", "\"content\":\"***\"");
	world_has(&f->w, "e", "\"role\":\"AI\"");
	has_told(f, "entry.after ");
	has_told(f, "op=entry.append role=AI kind=message");
	assert_null(strstr(strstr(f->h.log.ptr, "entry.after"), "secret"));
	f->h.on = "entry.before_edit";
	f->h.patch = "{\"op\":{\"op\":\"entry.edit\",\"entry\":\":1\",\"content\":\"new\"}}";
	acts(f, "{\"op\":\"entry.edit\",\"entry\":\"b\",\"content\":\"x\"}");
	world_has(&f->w, "a", "\"content\":\"new\"");
	world_has(&f->w, "b", "\"content\":\"two\"");
	/* it is read in the same way */
	seq = world_seq(&f->w);
	remember(f);
	f->h.patch = "{\"op\":{\"op\":\"entry.edit\",\"entry\":\"a\",\"content\":7}}";
	assert_int_equal(act(f, "{\"op\":\"entry.edit\",\"entry\":\"b\",\"content\":\"x\"}"), RT_USAGE);
	f->h.patch = "{\"op\":{\"op\":\"entry.edit\",\"entry\":\"nowhere\",\"content\":\"x\"}}";
	assert_int_equal(act(f, "{\"op\":\"entry.edit\",\"entry\":\"b\",\"content\":\"x\"}"),
			 RT_NOT_FOUND);
	f->h.patch = "{\"op\":{\"op\":\"purge\",\"entry\":\"a\"}}";
	assert_int_equal(act(f, "{\"op\":\"entry.edit\",\"entry\":\"b\",\"content\":\"x\"}"), RT_USAGE);
	assert_non_null(strstr(f->err.text, "hook guard replaced the operation with \"purge\""));
	f->h.patch = "{\"op\":[]}";
	assert_int_equal(act(f, "{\"op\":\"entry.edit\",\"entry\":\"b\",\"content\":\"x\"}"), RT_USAGE);
	same(f, seq);
	/* in a step, too: later requests see it */
	f->h.patch = "{\"op\":{\"op\":\"entry.edit\",\"entry\":\"b\",\"content\":\"better\"}}";
	assert_int_equal(act_on(f,
				"[{\"op\":\"entry.edit\",\"entry\":\"b\",\"content\":\"x\"},"
				"{\"op\":\"entry.role\",\"entry\":\"b\",\"role\":\"Z\"}]",
				true, NULL),
			 RT_OK);
	has_told(f, "entry.before_role {\"session\":{\"project\":\"default\",\"discussion\":\"main\","
		"\"take\":\"main\"},\"via\":\"cli\",\"op\":{\"op\":\"entry.role\",\"entry\":\"b\","
		"\"role\":\"Z\"},\"entry\":{\"id\":\"b\",\"role\":\"AI\",\"kind\":\"message\","
		"\"content\":\"better\"}}");
	world_has(&f->w, "b", "\"content\":\"better\"");
	world_has(&f->w, "b", "\"role\":\"Z\"");
}

/* ---- others work meanwhile ---- */

/* While a hook runs for ":2", ":2" becomes another entry. */
static void
what_was_asked_about_is_done(void **state)
{
	fixture *f = *state;

	f->h.on = "entry.before_delete";
	f->h.also = "{\"op\":\"entry.insert\",\"before\":\"a\",\"content\":\"zero\",\"id\":\"z\"}";
	acts(f, "{\"op\":\"entry.delete\",\"entry\":\":2\"}");
	assert_string_equal(world_shown(&f->w), "User: zero\nUser: one\nUser: three\nAI: four\n");
	/* it is deleted before the request is executed */
	f->h.on = "entry.before_edit";
	f->h.also = "{\"op\":\"entry.delete\",\"entry\":\"c\"}";
	assert_int_equal(act(f, "{\"op\":\"entry.edit\",\"entry\":\"c\",\"content\":\"x\"}"),
			 RT_NOT_FOUND);
	fired(f, "entry.before_edit ");
}

/* ---- no hook is subscribed ---- */

static void
only_what_is_wanted(void **state)
{
	fixture *f = *state;
	rt_status each[3];
	uint64_t seq = world_seq(&f->w);

	f->h.only = "entry.before_delete";
	acts(f, "{\"op\":\"entry.append\",\"content\":\"x\"}");
	fired(f, "");
	assert_int_equal(act_on(f,
				"[{\"op\":\"entry.append\",\"content\":\"x\"},"
				"{\"op\":\"entry.delete\",\"entry\":\"d\"},"
				"{\"op\":\"entry.append\",\"content\":\"y\"}]",
				false, each),
			 RT_OK);
	fired(f, "entry.before_delete ");
	assert_int_equal(world_seq(&f->w), seq + 4);
	f->h.only = "entry.after";
	acts(f, "{\"op\":\"entry.delete\",\"entry\":\"c\"}");
	fired(f, "entry.after ");
	/* an error of the engine, without an event */
	assert_int_equal(act(f, "{\"op\":\"entry.delete\",\"entry\":\"nowhere\"}"), RT_NOT_FOUND);
	fired(f, "");
	assert_int_equal(act(f, "{\"op\":\"entry.delte\"}"), RT_USAGE);
	f->h.only = "none";
	acts(f, "{\"op\":\"entry.append\",\"content\":\"x\"}");
	fired(f, "");
	f->with.hooks = NULL;
	f->h.asked = 0;
	acts(f, "{\"op\":\"entry.append\",\"content\":\"x\"}");
	assert_int_equal(f->h.asked, 0);
}

/* ---- hooks that were called already ---- */

static void
told_alone(void **state)
{
	fixture *f = *state;
	yyjson_val *request;
	rt_json_doc *doc;
	rt_result result;

	f->h.on = "entry.before_add";
	f->h.deny = "no";
	assert_int_equal(rt_json_read(rt_alloc_libc(),
				      RT_STR("{\"op\":\"entry.append\",\"content\":\"x\"}"), &doc,
				      NULL),
			 RT_OK);
	request = rt_json_root(doc);
	f->with.is_asked = true;
	assert_int_equal(rt_apply_json(f->w.engine, &f->with, &request, 1, false, RT_STR(""),
				       RT_STR(""), &result),
			 RT_OK);
	rt_buf_add_byte(&f->h.log, '\0');
	fired(f, "entry.after ");
	rt_result_deinit(&result);
	rt_json_free(doc);
}

/* ---- no memory ---- */

/* A step in which the allocation after `left` others fails. deny: its last request is refused.
 * false: it is not executed. */
static bool
step_without_memory(long left, bool deny, long *out_used)
{
	static const rt_hooks_ops ops = {.wants = wants, .fire = fire};
	failing m = {.left = -1};
	rt_alloc alloc = {failing_resize, failing_release, &m};
	rt_apply_context with;
	rt_json_doc *doc;
	yyjson_val *requests[4], *item;
	rt_result results[4];
	size_t i, max;
	uint64_t seq;
	world w;
	fake h = {.hooks = {&ops}, .w = &w, .on = "entry.before_edit"};
	rt_status st;

	world_init(&w);
	assert_int_equal(rt_store_memory_open(rt_alloc_libc(), &w.env, &w.store, NULL), RT_OK);
	world_open_engine(&w, &alloc);
	world_add(&w, "a", "User", "one");
	world_add(&w, "b", "AI", "two");
	world_apply(&w, "{\"op\":\"head.move\",\"entry\":\"a\"}");
	rt_buf_init(&h.log, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_buf_init(&h.notes, rt_alloc_libc(), RT_BUF_UNLIMITED);
	if (deny)
		h.deny = "no";
	else
		h.patch = "{\"op\":{\"op\":\"entry.edit\",\"entry\":\"a\",\"content\":\"1\"}}";
	with = (rt_apply_context){.hooks = &h.hooks, .notes = &h.notes};
	assert_int_equal(rt_json_read(rt_alloc_libc(),
				      RT_STR("[{\"op\":\"entry.append\",\"content\":\"x\"},"
					     "{\"op\":\"entry.delete\",\"entry\":\"@\"},"
					     "{\"op\":\"take.switch\",\"take\":\"main\"},"
					     "{\"op\":\"entry.edit\",\"entry\":\":1\",\"content\":\"y\"}]"),
				      &doc, NULL),
			 RT_OK);
	yyjson_arr_foreach(rt_json_root(doc), i, max, item) requests[i] = item;
	seq = world_seq(&w);
	m.left = left;
	st = rt_apply_json(w.engine, &with, requests, 4, true, RT_STR(""), RT_STR(""), results);
	*out_used = left - m.left;
	m.left = -1;
	for (i = 0; i < 4; i++) {
		if (results[i].status != st)
			fail_msg("allocation %ld: %s, but request %zu: %s", left,
				 rt_status_word(st), i, rt_status_word(results[i].status));
		rt_result_deinit(&results[i]);
	}
	if (st != RT_NOMEM && st != (deny ? RT_DENIED : RT_OK))
		fail_msg("allocation %ld: %s", left, rt_status_word(st));
	assert_int_equal(world_seq(&w), st == RT_OK ? seq + 1 : seq);
	if (st == RT_OK)
		assert_string_equal(world_shown(&w), "User: 1\nAI: two\n");
	rt_json_free(doc);
	rt_buf_deinit(&h.log);
	rt_buf_deinit(&h.notes);
	world_deinit(&w);
	if (m.live != 0)
		fail_msg("allocation %ld: %ld are left", left, m.live);
	return st == RT_OK;
}

static void
no_memory(void **state)
{
	long all, n, used;
	int deny;

	(void)state;
	for (deny = 0; deny < 2; deny++) {
		assert_int_equal(step_without_memory(1000000, deny != 0, &all), deny == 0);
		assert_true(all > 50);
		for (n = 0; n < all; n++)
			(void)step_without_memory(n, deny != 0, &used);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_WORLD(an_entry_is_added),
		WITH_WORLD(hooks_are_told_who_asked),
		WITH_WORLD(an_append_in_mid_take_makes_a_take),
		WITH_WORLD(an_entry_is_changed),
		WITH_WORLD(entries_are_deleted),
		WITH_WORLD(takes_are_made),
		WITH_WORLD(the_head_moves),
		WITH_WORLD(a_take_that_nobody_looks_at_is_deleted),
		WITH_WORLD(a_summary_ends_what_is_left),
		WITH_WORLD(discussions_are_switched),
		WITH_WORLD(steps_are_undone),
		WITH_WORLD(a_session_begins_and_ends),
		WITH_WORLD(other_operations_have_no_events),
		WITH_WORLD(no_is_no),
		WITH_WORLD(one_of_several_is_refused),
		WITH_WORLD(a_whole_step_is_told),
		WITH_WORLD(another_in_its_place),
		WITH_WORLD(what_was_asked_about_is_done),
		WITH_WORLD(only_what_is_wanted),
		WITH_WORLD(told_alone),
		cmocka_unit_test(no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
