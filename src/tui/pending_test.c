/* SPDX-License-Identifier: MIT
 *
 * A change executed while another program works on the same store: keys typed for the state after
 * it are not applied to any other state. */
#define _GNU_SOURCE

#include <unistd.h>

#include "log/folder_testing.h"
#include "tui/pending.h"
#include "tui/tui_testing.h"
#include "tui/verb_impl.h"

/* A hook that runs after the change and takes long: another program writes meanwhile. */
typedef struct slow {
	rt_hooks hooks; /* first */
	desk *other;
	const char *event, *request;
	unsigned fired;
} slow;

static bool
wants(rt_hooks *hooks, const char *event)
{
	return strcmp(((slow *)hooks)->event, event) == 0;
}

static rt_status
fire(rt_hooks *hooks, const char *event, rt_str members, rt_str subject, rt_stop_fn stop,
     void *stop_ctx, rt_hook_answer *out, rt_error *err)
{
	slow *s = (slow *)hooks;

	(void)event;
	(void)members;
	(void)subject;
	(void)stop;
	(void)stop_ctx;
	rt_hook_answer_clear(out);
	s->fired++;
	return work_apply_json(&s->other->tui.work, s->request, NULL, err);
}

static const rt_hooks_ops ops = {.wants = wants, .fire = fire};

typedef struct fixture {
	char folder[80], path[120];
	desk ours, other;
	slow hooks;
} fixture;

/* Three entries, the last one selected; a key is held back until the change has ended. */
static void
begin(fixture *f, const char *event, const char *request)
{
	const rt_event key = {.kind = RT_EVENT_KEY, .key = {'d', 0}};

	assert_true(test_folder(f->folder, sizeof(f->folder), "deed_test"));
	(void)snprintf(f->path, sizeof(f->path), "%s/talk.db", f->folder);
	desk_open_at(&f->ours, f->path, 90, 20);
	desk_add(&f->ours, "User", "one");
	desk_add(&f->ours, "AI", "two");
	desk_add(&f->ours, "User", "three");
	desk_open_at(&f->other, f->path, 90, 20);
	desk_press(&f->ours, "alt+up");
	f->hooks = (slow){.hooks = {&ops}, .other = &f->other, .event = event, .request = request};
	f->ours.session.gate.inner = &f->hooks.hooks;
	assert_int_equal(rt_typeahead_add(&f->ours.tui.typeahead, &key), RT_OK);
}

static void
end(fixture *f)
{
	char command[120];

	assert_int_equal(f->hooks.fired, 1);
	f->ours.session.gate.inner = NULL;
	desk_close(&f->other);
	desk_close(&f->ours);
	(void)snprintf(command, sizeof(command), "rm -rf '%s'", f->folder);
	assert_int_equal(system(command), 0);
}

/* Before it, after it: neither is the state that the user saw while typing. */
static void
somebody_else_works_meanwhile(void **state)
{
	static const char *const events[] = {"entry.before_role", "entry.after"};
	size_t i;

	(void)state;
	for (i = 0; i < 2; i++) {
		fixture f;

		begin(&f, events[i], "[{\"op\":\"entry.delete\",\"entry\":\":2\"}]");
		assert_int_equal(rt_verb_with(&f.ours.tui, RT_ACT_ROLE, &(uint32_t){3}, 1, RT_STR("System")), RT_OK);
		assert_int_equal(f.ours.tui.typeahead.count, 0);
		assert_int_equal(rt_tui_tend(&f.ours.tui), RT_OK);
		assert_shows(&f.ours, "another program or window made changes in the meantime");
		assert_int_equal(rt_work_count(&f.ours.tui.work), 2);
		end(&f);
	}
}

/* The selected entry was deleted by others: its neighbour was not chosen, although our own change
 * came with it. */
static void
what_was_selected_is_gone(void **state)
{
	fixture f;

	(void)state;
	begin(&f, "entry.after", "[{\"op\":\"entry.delete\",\"entry\":\":3\"}]");
	assert_int_equal(rt_verb_with(&f.ours.tui, RT_ACT_ROLE, &(uint32_t){1}, 1, RT_STR("System")), RT_OK);
	assert_int_equal(rt_tui_tend(&f.ours.tui), RT_OK);
	assert_int_equal(rt_work_count(&f.ours.tui.work), 2);
	assert_int_equal(f.ours.tui.panes[0]->screen, RT_SCREEN_CHAT);
	end(&f);
}

/* A change in another discussion does not count; nor does one of folds. */
static void
something_else_is_done(void **state)
{
	fixture f;

	(void)state;
	begin(&f, "entry.after",
	      "[{\"op\":\"entry.view\",\"entry\":\":1\",\"collapsed\":true}]");
	assert_int_equal(rt_verb_with(&f.ours.tui, RT_ACT_ROLE, &(uint32_t){1}, 1, RT_STR("System")), RT_OK);
	assert_int_equal(f.ours.tui.typeahead.count, 1);
	assert_int_equal(rt_tui_tend(&f.ours.tui), RT_OK);
	assert_int_equal(f.ours.tui.typeahead.count, 1);
	end(&f);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(somebody_else_works_meanwhile),
		cmocka_unit_test(what_was_selected_is_gone),
		cmocka_unit_test(something_else_is_done),
	};

	return cmocka_run_group_tests_name("pending", tests, NULL, NULL);
}
