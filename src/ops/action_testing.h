/* SPDX-License-Identifier: MIT
 *
 * Fixture of the tests of hooks around operations: scripted hooks, and a conversation with a side
 * take. */
#ifndef RT_OPS_ACTION_TESTING_H
#define RT_OPS_ACTION_TESTING_H

#include "chat/send_testing.h"
#include "chat/action_export.h"

#include "ops/action.h"
#include "formats/formats.h"
#include "llm/llm_testing.h"
#include "store/store_memory.h"

/* ---- scripted hooks ---- */

typedef struct fake {
	rt_hooks hooks;
	world *w;
	const char *only;  /* the only subscribed event; NULL: all */
	const char *on;    /* the event that is answered … */
	const char *deny;  /* … with this reason, */
	const char *patch; /* or this patch */
	rt_status status;  /* or with this failure */
	const char *also;  /* executed during this event, as if by another program */
	rt_buf log;        /* "event {members} subject" a line */
	rt_buf notes;
	size_t asked;      /* number of calls of wants */
} fake;

static inline bool
wants(rt_hooks *hooks, const char *event)
{
	fake *f = (fake *)hooks;

	f->asked++;
	return f->only == NULL || strcmp(event, f->only) == 0;
}

static inline rt_status
fire(rt_hooks *hooks, const char *event, rt_str members, rt_str subject, rt_stop_fn stop, void *ctx,
     rt_hook_answer *out, rt_error *err)
{
	fake *f = (fake *)hooks;
	rt_json_doc *doc;
	rt_buf json;

	(void)stop;
	(void)ctx;
	rt_buf_init(&json, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_buf_add_byte(&json, '{');
	rt_buf_add_str(&json, members);
	rt_buf_add_byte(&json, '}');
	assert_int_equal(rt_json_read(rt_alloc_libc(), rt_buf_str(&json), &doc, NULL), RT_OK);
	rt_json_free(doc);
	rt_buf_add_f(&f->log, "%s ", event);
	rt_buf_add_str(&f->log, rt_buf_str(&json));
	rt_buf_add_byte(&f->log, ' ');
	rt_buf_add_str(&f->log, subject);
	rt_buf_add_byte(&f->log, '\n');
	rt_buf_deinit(&json);
	if (f->on == NULL || strcmp(event, f->on) != 0)
		return RT_OK;
	if (f->also != NULL) {
		const char *also = f->also;

		f->also = NULL; /* once */
		world_apply(f->w, also);
	}
	if (f->status != RT_OK)
		return rt_fail(err, f->status, "the hook guard is required: it went wrong");
	if (f->deny != NULL) {
		out->decision = RT_HOOK_DENY;
		rt_buf_add_c(&out->by, "guard");
		rt_buf_add_c(&out->reason, f->deny);
	} else if (f->patch != NULL) {
		out->decision = RT_HOOK_REPLACE;
		rt_buf_add_c(&out->by, "guard");
		rt_buf_add_c(&out->patch, f->patch);
		rt_buf_add_c(&out->notes, "guard: changed it");
	}
	return RT_OK;
}

/* ---- the world ---- */

typedef struct fixture {
	world w;
	fake h;
	rt_apply_context with;
	rt_error err; /* of the first that failed */
	char entry[132];
	rt_buf before;
} fixture;

/* Four entries, the head after the last; `side` branches off after b. */
static inline int
set_up(void **state)
{
	static const rt_hooks_ops ops = {.wants = wants, .fire = fire};
	fixture *f = test_calloc(1, sizeof(*f));

	world_init(&f->w);
	assert_int_equal(rt_store_memory_open(rt_alloc_libc(), &f->w.env, &f->w.store, NULL), RT_OK);
	world_open_engine(&f->w, NULL);
	f->h.hooks.ops = &ops;
	f->h.w = &f->w;
	rt_buf_init(&f->h.log, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_buf_init(&f->h.notes, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_buf_init(&f->before, rt_alloc_libc(), RT_BUF_UNLIMITED);
	f->with = (rt_apply_context){.hooks = &f->h.hooks, .notes = &f->h.notes};
	world_add(&f->w, "a", "User", "one");
	world_add(&f->w, "b", "AI", "two");
	world_apply(&f->w, "{\"op\":\"take.branch\",\"at\":\"b\",\"name\":\"side\"}");
	world_add(&f->w, "s", "User", "aside");
	world_apply(&f->w, "{\"op\":\"take.switch\",\"take\":\"main\"}");
	world_add(&f->w, "c", "User", "three");
	world_add(&f->w, "d", "AI", "four");
	*state = f;
	return 0;
}

static inline int
tear_down(void **state)
{
	fixture *f = *state;

	rt_buf_deinit(&f->h.log);
	rt_buf_deinit(&f->h.notes);
	rt_buf_deinit(&f->before);
	world_deinit(&f->w);
	test_free(f);
	return 0;
}

/* Requests as an array; the statuses of the results in out (may be NULL). */
static inline rt_status
act_on(fixture *f, const char *array, bool atomic, rt_status *out)
{
	yyjson_val *requests[8], *item;
	rt_result results[8];
	rt_json_doc *doc;
	size_t i, max, count = 0;
	rt_status st;

	rt_buf_clear(&f->h.log);
	rt_buf_clear(&f->h.notes);
	memset(&f->err, 0, sizeof(f->err));
	f->entry[0] = '\0';
	assert_int_equal(rt_json_read(rt_alloc_libc(), rt_str_of(array), &doc, NULL), RT_OK);
	yyjson_arr_foreach(rt_json_root(doc), i, max, item) requests[count++] = item;
	st = rt_apply_json(f->w.engine, &f->with, requests, count, atomic, RT_STR(""), RT_STR(""),
			  results);
	for (i = 0; i < count; i++) {
		if (out != NULL)
			out[i] = results[i].status;
		if (results[i].status != RT_OK &&
		    (f->err.status == RT_OK || strncmp(f->err.text, "not applied", 11) == 0))
			f->err = results[i].error;
		memcpy(f->entry, results[i].entry, sizeof(f->entry));
		rt_result_deinit(&results[i]);
	}
	rt_json_free(doc);
	rt_buf_add_byte(&f->h.log, '\0');
	rt_buf_add_byte(&f->h.notes, '\0');
	return st;
}

static inline rt_status
act(fixture *f, const char *request)
{
	char array[1200];

	snprintf(array, sizeof(array), "[%s]", request);
	return act_on(f, array, false, NULL);
}

static inline void
acts(fixture *f, const char *request)
{
	if (act(f, request) != RT_OK)
		fail_msg("%s: %s", request, f->err.text);
}

/* The names of the fired events, each followed by a space. */
static inline void
fired(fixture *f, const char *names)
{
	const char *at = f->h.log.ptr;
	rt_buf said;

	rt_buf_init(&said, rt_alloc_libc(), RT_BUF_UNLIMITED);
	for (; *at != '\0'; at = strchr(at, '\n') + 1)
		rt_buf_add(&said, at, strcspn(at, " ") + 1);
	rt_buf_add_byte(&said, '\0');
	assert_string_equal(said.ptr, names);
	rt_buf_deinit(&said);
}

static inline void
has_told(fixture *f, const char *part)
{
	if (strstr(f->h.log.ptr, part) == NULL)
		fail_msg("%s is not in %s", part, f->h.log.ptr);
}

static inline void
remember(fixture *f)
{
	rt_buf_deinit(&f->before);
	world_export(&f->w, &rt_format_canonical, &f->before);
}

/* Nothing has changed, and no row was written. */
static inline void
same(fixture *f, uint64_t seq)
{
	rt_buf now;

	world_export(&f->w, &rt_format_canonical, &now);
	assert_true(rt_str_eq(rt_buf_str(&now), rt_buf_str(&f->before)));
	rt_buf_deinit(&now);
	assert_int_equal(world_seq(&f->w), seq);
}

#define WITH_WORLD(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

#endif
