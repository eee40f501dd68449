/* SPDX-License-Identifier: MIT
 *
 * Fixture of the tests of screens: the whole terminal UI without a terminal, on a store in memory,
 * with a stopped clock. Input is names of keys, output is screens as text. */
#ifndef RT_TUI_TUI_TESTING_H
#define RT_TUI_TUI_TESTING_H

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

#include "codec/request_json.h"
#include "log/engine_testing.h"
#include "program/commands.h"
#include "tui/pane.h"

typedef struct desk {
	rt_session session;
	rt_tui tui;
} desk;

static inline void
desk_size(desk *d, int columns, int rows)
{
	assert_int_equal(rt_canvas_resize(&d->tui.canvas, columns, rows), RT_OK);
}

/* path: of the store; ":memory:" for one that no other program can open. */
static inline void
desk_open_at(desk *d, char *path, int columns, int rows)
{
	rt_tui_options options = {.session = &d->session, .commands = rt_commands};
	rt_error err = {0};

	memset(d, 0, sizeof(*d));
	/* No configuration, keys or hooks of the user; the same time zone everywhere. */
	setenv("XDG_CONFIG_HOME", "/nonexistent", 1);
	setenv("XDG_DATA_HOME", "/nonexistent", 1);
	setenv("XDG_STATE_HOME", "/nonexistent", 1);
	setenv("TZ", "UTC", 1);
	unsetenv("RETAKE_DB");
	unsetenv("RETAKE_PROJECT");
	unsetenv("RETAKE_MODEL");
	env_state = 11;
	rt_session_init(&d->session, rt_alloc_libc(), &env);
	d->session.given.db = path;
	d->session.command = "tui";
	d->session.hooks_off = true;
	if (rt_session_open(&d->session, RT_SESSION_CHANGE, &err) != RT_OK)
		fail_msg("%s", err.text);
	if (rt_tui_init(&d->tui, &options, &err) != RT_OK)
		fail_msg("%s", err.text);
	desk_size(d, columns, rows);
}

static inline void
desk_open(desk *d, int columns, int rows)
{
	static char memory[] = ":memory:";

	desk_open_at(d, memory, columns, rows);
}

static inline void
desk_close(desk *d)
{
	rt_tui_deinit(&d->tui);
	rt_session_deinit(&d->session);
}

/* Executes requests on this thread, as one step. said and err may be NULL. */
static inline rt_status
work_apply(rt_work *work, const rt_request *requests, size_t count, rt_work_said *said,
	   rt_error *err)
{
	rt_work_job job;
	rt_error own;
	rt_status st;

	if (err == NULL)
		err = &own;
	st = rt_work_job_init(&job, work, requests, count, NULL, err);
	if (st == RT_OK) {
		job.with.hooks = work->session->gate.inner;
		rt_work_job_run(&job);
		st = rt_work_job_end(&job, work, said, err);
	}
	rt_work_job_deinit(&job);
	return st;
}

/* The same with an array of requests as JSON. */
static inline rt_status
work_apply_json(rt_work *work, const char *json, rt_work_said *said, rt_error *err)
{
	rt_scope s;
	rt_request *requests;
	yyjson_val *root, *request, **values;
	size_t i, count;

	rt_scope_init(&s, rt_alloc_libc());
	root = rt_json_parse(&s, rt_str_of(json));
	values = rt_scope_array(&s, yyjson_arr_size(root) + 1, sizeof(*values));
	yyjson_arr_foreach(root, i, count, request)
		values[i] = request;
	count = yyjson_arr_size(root);
	requests = rt_requests_read(&s, values, count);
	RT_TRY(&s, work_apply(work, requests, count, said, &s.error));
	return rt_scope_end(&s, err);
}

/* Requests as JSON, each a step. */
static inline void
desk_do(desk *d, const char *requests)
{
	rt_error err = {0};

	if (work_apply_json(&d->tui.work, requests, NULL, &err) != RT_OK)
		fail_msg("%s: %s", requests, err.text);
	assert_int_equal(rt_tui_tend(&d->tui), RT_OK);
}

/* Another program, on the same engine: the screen does not know before it refreshes. */
static inline void
desk_others(desk *d, const char *request)
{
	rt_apply_context with = {.by = RT_STR("web")};
	rt_error err = {0};
	rt_json_doc *doc = NULL;
	yyjson_val *root;
	rt_result result = {0};

	if (rt_json_read(rt_alloc_libc(), rt_str_of(request), &doc, &err) != RT_OK)
		fail_msg("%s", err.text);
	root = rt_json_root(doc);
	if (rt_apply_json(d->tui.work.engine, &with, &root, 1, false, RT_STR(""), RT_STR(""),
			  &result) != RT_OK)
		fail_msg("%s: %s", request, result.error.text);
	rt_result_deinit(&result);
	rt_json_free(doc);
}

static inline void
desk_add(desk *d, const char *role, const char *text)
{
	rt_request r = {.op = RT_OP_ENTRY_APPEND,
			.role = rt_str_of(role),
			.content.text = rt_str_of(text)};
	rt_error err = {0};

	if (work_apply(&d->tui.work, &r, 1, NULL, &err) != RT_OK)
		fail_msg("%s", err.text);
	assert_int_equal(rt_tui_tend(&d->tui), RT_OK);
}

/* Four entries with distinct texts. */
static inline void
desk_open_four(desk *d)
{
	desk_open(d, 80, 24);
	desk_add(d, "User", "one, of France");
	desk_add(d, "AI", "two");
	desk_add(d, "User", "three");
	desk_add(d, "AI", "four");
}

/* Wait until the reply has ended. */
static inline void
desk_finish_run(desk *d)
{
	while (rt_work_is_running(&d->tui.work)) {
		assert_int_equal(rt_tui_tend(&d->tui), RT_OK);
		(void)sched_yield();
	}
}

/* "down down enter": keys by their words, and their effects. */
static inline void
desk_press(desk *d, const char *words)
{
	while (*words != 0) {
		size_t size = strcspn(words, " ");
		rt_error err = {0};
		rt_key key;

		if (rt_key_read(rt_str_at(words, size), &key, &err) != RT_OK)
			fail_msg("%.*s: %s", (int)size, words, err.text);
		assert_int_equal(rt_tui_key(&d->tui, key), RT_OK);
		assert_int_equal(rt_tui_tend(&d->tui), RT_OK);
		words += size;
		words += strspn(words, " ");
	}
}

/* ASCII, letter by letter. */
static inline void
desk_type(desk *d, const char *text)
{
	for (; *text != 0; text++)
		assert_int_equal(rt_tui_key(&d->tui, (rt_key){(unsigned char)*text, 0}), RT_OK);
	assert_int_equal(rt_tui_tend(&d->tui), RT_OK);
}

/* The next frame, drawn once; the caller's, by rt_buf_deinit. */
static inline rt_buf
desk_frame(desk *d)
{
	rt_buf screen;

	rt_buf_init(&screen, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_tui_draw(&d->tui);
	rt_canvas_add_text(&d->tui.canvas, &screen);
	assert_int_equal(screen.status, RT_OK);
	return screen;
}

/* The screen, for the caller to rt_buf_deinit. Drawn twice: the first drawing determines the space
 * for background work. */
static inline rt_buf
desk_screen(desk *d)
{
	rt_tui_draw(&d->tui);
	assert_int_equal(rt_tui_tend(&d->tui), RT_OK);
	return desk_frame(d);
}

static inline void
assert_screen(desk *d, const char *expected)
{
	rt_buf screen = desk_screen(d);

	if (!rt_str_is(rt_buf_str(&screen), expected))
		fail_msg("the screen is\n%s\nand not\n%s", screen.ptr, expected);
	rt_buf_deinit(&screen);
}

static inline bool
desk_shows(desk *d, const char *part)
{
	rt_buf screen = desk_screen(d);
	bool is_there = rt_str_find(rt_buf_str(&screen), rt_str_of(part), 0) != SIZE_MAX;

	rt_buf_deinit(&screen);
	return is_there;
}

static inline void
assert_shows(desk *d, const char *part)
{
	rt_buf screen = desk_screen(d);

	if (rt_str_find(rt_buf_str(&screen), rt_str_of(part), 0) == SIZE_MAX)
		fail_msg("the screen is\n%s\nwithout\n%s", screen.ptr, part);
	rt_buf_deinit(&screen);
}

/* A text for tests that it stays in its place on the screen: no controls, nothing that reverses
 * rows. */
static inline void
assert_tame(desk *d, const char *part)
{
	rt_buf screen = desk_screen(d);
	size_t i;

	for (i = 0; i < screen.size; i++)
		if (((unsigned char)screen.ptr[i] < 32 && screen.ptr[i] != '\n') || screen.ptr[i] == 127)
			fail_msg("a control: %d", screen.ptr[i]);
	assert_int_equal(rt_str_find(rt_buf_str(&screen), RT_STR("\xe2\x80\xae"), 0), SIZE_MAX);
	if (rt_str_find(rt_buf_str(&screen), rt_str_of(part), 0) == SIZE_MAX)
		fail_msg("the screen is\n%s\nwithout\n%s", screen.ptr, part);
	rt_buf_deinit(&screen);
}

/* Drawn at its largest and smallest, after these keys: nothing is drawn outside the canvas. */
static inline void
assert_fits(desk *d, const char *words)
{
	static const int sizes[][2] = {{300, 100}, {1, 1}, {2, 3},   {9, 4},  {20, 5},
				       {46, 17},   {99, 17}, {100, 3}};
	size_t i;

	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		rt_buf screen;

		desk_size(d, sizes[i][0], sizes[i][1]);
		desk_press(d, words);
		screen = desk_screen(d);
		rt_buf_deinit(&screen);
	}
}

static inline void
assert_notice(desk *d, const char *expected)
{
	if (!rt_str_is(rt_buf_str(&d->tui.notice), expected))
		fail_msg("it says \"%s\" and not \"%s\"",
			 d->tui.notice.ptr == NULL ? "" : d->tui.notice.ptr, expected);
}

#endif
