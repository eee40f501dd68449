/* SPDX-License-Identifier: MIT
 *
 * The conversation in view: its place, and that a failure does not change it. */
#define _GNU_SOURCE

#include "tui/tui_testing.h"

static void *
no_memory(void *ctx, void *ptr, size_t size)
{
	(void)ctx;
	(void)ptr;
	(void)size;
	return NULL;
}

static void
release(void *ctx, void *ptr)
{
	(void)ctx;
	rt_free(rt_alloc_libc(), ptr);
}

static const rt_alloc none = {no_memory, release, NULL};

/* The complete place in view. */
static void
assert_as_before(const rt_work *work, const rt_work *before)
{
	assert_ptr_equal(work->value, before->value);
	assert_ptr_equal(work->disc, before->disc);
	assert_ptr_equal(work->take, before->take);
	assert_int_equal(work->place.disc, before->place.disc);
	assert_int_equal(work->place.take, before->place.take);
	assert_int_equal(work->is_pinned, before->is_pinned);
	assert_int_equal(work->change, before->change);
	assert_string_equal(work->model.ptr, "builtin/echo");
}

static void
stays_where_it_was(void **state)
{
	rt_work *work, before;
	rt_error err = {0};
	desk d;

	(void)state;
	desk_open(&d, 60, 12);
	work = &d.tui.work;
	work->said_model = "builtin/echo";
	desk_add(&d, "User", "one");
	desk_do(&d, "[{\"op\":\"take.branch\",\"at\":\":1\",\"name\":\"duck\"}]");
	desk_do(&d, "[{\"op\":\"discussion.new\",\"name\":\"second\"}]");
	before = *work;
	work->alloc = &none;
	assert_int_equal(rt_work_look_at(work, 1, 0, &err), RT_NOMEM);
	assert_as_before(work, &before);
	assert_int_equal(rt_work_look_at(work, 1, 1, &err), RT_NOMEM);
	assert_as_before(work, &before);
	/* There is something new, and it cannot be read yet. */
	work->alloc = before.alloc;
	{
		rt_apply_context with = {.by = RT_STR("tui")};
		rt_json_doc *doc = NULL;
		yyjson_val *request;
		rt_result result = {0};

		assert_int_equal(rt_json_read(work->alloc,
					      RT_STR("{\"op\":\"discussion.delete\",\"discussion\":\"second\"}"),
					      &doc, &err), RT_OK);
		request = rt_json_root(doc);
		assert_int_equal(rt_apply_json(work->engine, &with, &request, 1, false,
					       RT_STR("d2"), RT_STR(""), &result),
				 RT_OK);
		rt_result_deinit(&result);
		rt_json_free(doc);
	}
	work->alloc = &none;
	assert_int_equal(rt_work_tend(work, NULL, &err), RT_NOMEM);
	assert_as_before(work, &before);
	work->alloc = before.alloc;
	assert_int_equal(rt_work_tend(work, NULL, &err), RT_OK);
	assert_int_equal(work->place.disc, 1);
	desk_close(&d);
}

/* A take that is not active, by its number; for one that does not exist, the active one. */
static void
looks_at_a_take(void **state)
{
	rt_error err = {0};
	desk d;

	(void)state;
	desk_open(&d, 60, 12);
	desk_add(&d, "User", "one");
	desk_do(&d, "[{\"op\":\"take.branch\",\"at\":\":1\",\"name\":\"duck\"}]");
	assert_int_equal(rt_work_look_at(&d.tui.work, 1, 1, &err), RT_OK);
	assert_true(rt_str_is(rt_work_take_name(&d.tui.work), "main"));
	assert_int_equal(rt_work_look_at(&d.tui.work, 1, 0, &err), RT_OK);
	assert_true(rt_str_is(rt_work_take_name(&d.tui.work), "duck"));
	assert_int_equal(rt_work_look_at(&d.tui.work, 1, 77, &err), RT_OK);
	assert_true(rt_str_is(rt_work_take_name(&d.tui.work), "duck"));
	desk_close(&d);
}

typedef struct asks {
	rt_work *work;
	rt_status status;
} asks;

/* Within a transaction: waiting for its end here would be a deadlock. */
static rt_status
ask_meanwhile(void *ctx, const rt_project *now, rt_error *err)
{
	asks *a = ctx;

	(void)now;
	(void)err;
	a->status = rt_work_run(
		a->work, &(rt_run_request){.how = RT_RUN_ASK, .text = RT_STR("and?")}, NULL);
	assert_int_equal(rt_work_tend(a->work, NULL, NULL), RT_OK);
	return RT_OK;
}

/* Another process has written, and another thread of this process works on the store and may be
 * waiting for it: neither reading nor a request waits. */
static void
waits_for_nobody(void **state)
{
	rt_engine_options options = {.env = &env};
	asks a = {NULL, RT_OK};
	rt_apply_context with = {.check = ask_meanwhile, .check_ctx = &a};
	rt_engine *other = NULL;
	rt_json_doc *doc = NULL;
	yyjson_val *request;
	rt_result result;
	desk d;

	(void)state;
	desk_open(&d, 60, 12);
	desk_add(&d, "User", "one");
	a.work = &d.tui.work;
	a.work->said_model = "builtin/echo";
	assert_int_equal(rt_engine_open(&options, rt_engine_store(a.work->engine), &other, NULL), RT_OK);
	assert_int_equal(rt_json_read(rt_alloc_libc(), RT_STR("{\"op\":\"entry.append\",\"content\":\"x\"}"),
				      &doc, NULL), RT_OK);
	request = rt_json_root(doc);
	assert_int_equal(rt_engine_apply_json(other, &request, 1, false, RT_STR(""), RT_STR(""), &result),
			 RT_OK);
	rt_result_deinit(&result);
	assert_int_equal(rt_apply_json(a.work->engine, &with, &request, 1, false, RT_STR(""),
				       RT_STR(""), &result),
			 RT_OK);
	rt_result_deinit(&result);
	assert_int_equal(a.status, RT_BUSY);
	assert_false(rt_work_is_running(a.work));
	assert_int_equal(rt_work_tend(a.work, NULL, NULL), RT_OK);
	assert_int_equal(rt_work_count(a.work), 3);
	rt_json_free(doc);
	rt_engine_close(other);
	desk_close(&d);
}

/* One undo, or redo: its description is reported. */
static void
moves_and_says(desk *d, rt_op_id op, const char *words)
{
	rt_work_said said;

	rt_work_said_init(&said, rt_alloc_libc());
	assert_int_equal(work_apply(&d->tui.work, &(rt_request){.op = op}, 1, &said, NULL), RT_OK);
	assert_int_equal(said.steps, 1);
	if (!rt_str_is(rt_buf_str(&said.words), words))
		fail_msg("%s: it says \"%s\" and not \"%s\"", rt_ops[op].name, said.words.ptr, words);
	rt_work_said_deinit(&said);
}

/* A step of the project between those of a discussion, also if some were undone. */
static void
says_what_was_taken_back(void **state)
{
	desk d;

	(void)state;
	desk_open(&d, 60, 12);
	desk_add(&d, "User", "one");
	desk_do(&d, "[{\"op\":\"discussion.new\",\"name\":\"second\"}]");
	desk_do(&d, "[{\"op\":\"discussion.switch\",\"discussion\":\"main\"}]");
	desk_add(&d, "AI", "two");
	desk_do(&d, "[{\"op\":\"label.set\",\"entry\":\":1\",\"label\":\"start\"}]");
	desk_do(&d, "[{\"op\":\"undo\"}]");
	desk_do(&d, "[{\"op\":\"discussion.delete\",\"discussion\":\"second\"}]");
	moves_and_says(&d, RT_OP_UNDO, "Undone: deleted discussion \"second\"");
	moves_and_says(&d, RT_OP_REDO, "Redone: deleted discussion \"second\"");
	moves_and_says(&d, RT_OP_UNDO, "Undone: deleted discussion \"second\"");
	desk_close(&d);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stays_where_it_was),
		cmocka_unit_test(looks_at_a_take),
		cmocka_unit_test(waits_for_nobody),
		cmocka_unit_test(says_what_was_taken_back),
	};

	return cmocka_run_group_tests_name("work", tests, NULL, NULL);
}
