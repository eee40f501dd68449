/* SPDX-License-Identifier: MIT
 *
 * The interface from a request to its answer: every route, with and without memory; answers, files
 * and models. */
#define _POSIX_C_SOURCE 200809L

#include "core/op_testing.h"
#include "server/api_testing.h"

/* ---- every route ---- */

/* The requests of each route, after tell() and the preparation; then the status. The route of an
 * operation without a row gets its required fields (core/op_testing.h). */
typedef struct trial {
	const char *name, *before, *target, *body;
	unsigned status;
} trial;

static const trial trials[] = {
	{"info", NULL, "/info", NULL, 200},
	{"health", NULL, "/health", NULL, 200},
	{"account.show", NULL, "/account", NULL, 200},
	{"openapi", NULL, "/openapi.json", NULL, 200},
	{"model.list", NULL, "/models?provider=builtin", NULL, 200},
	{"project.list", NULL, "/projects", NULL, 200},
	{"project.new", NULL, "/projects", "{\"name\":\"play\"}", 201},
	{"discussion.list", NULL, "/discussions", NULL, 200},
	{"discussion.show", NULL, "/discussions/d1", NULL, 200},
	{"discussion.delete", "{\"op\":\"discussion.new\",\"name\":\"x\"}", "/discussions/x", NULL,
	 200},
	{"discussion.switch", "{\"op\":\"discussion.new\",\"name\":\"x\"}",
	 "/discussions/d1/switch", NULL, 200},
	{"discussion.tree", NULL, "/discussions/d1/tree", NULL, 200},
	{"entry.list", NULL, "/discussions/d1/entries?tags", NULL, 200},
	{"entry.append", NULL, "/discussions/d1/entries", "{\"content\":\"five\"}", 201},
	{"entry.insert", NULL, "/discussions/d1/entries/insert",
	 "{\"after\":\"a\",\"content\":\"x\"}", 201},
	{"entry.reply", NULL, "/discussions/d1/entries/reply",
	 "{\"after\":\"d\",\"content\":\"x\"}", 201},
	{"entry.read", NULL, "/discussions/d1/entries/read", "{\"ids\":[\"a\"]}", 200},
	{"render", NULL, "/render", "{\"texts\":[\"*a*\"]}", 200},
	{"entry.delete_run", NULL, "/discussions/d1/entries/delete",
	 "{\"from\":\"a\",\"to\":\"c\"}", 200},
	{"entry.view_all", NULL, "/discussions/d1/entries/view",
	 "{\"all\":true,\"collapsed\":true}", 200},
	{"entry.show", NULL, "/discussions/d1/entries/a", NULL, 200},
	{"entry.patch", NULL, "/discussions/d1/entries/a", "{\"content\":\"x\"}", 200},
	{"entry.revisions", NULL, "/discussions/d1/entries/a/revisions", NULL, 200},
	{"entry.move", NULL, "/discussions/d1/entries/a/move", "{\"after\":\"c\"}", 200},
	{"entry.fail", NULL, "/discussions/d1/entries/a/failure",
	 "{\"failure\":{\"code\":\"c\",\"detail\":\"d\"}}", 200},
	{"entry.view", NULL, "/discussions/d1/entries/a/view", "{\"collapsed\":true}", 200},
	{"take.list", NULL, "/discussions/d1/takes", NULL, 200},
	{"take.forks", NULL, "/discussions/d1/forks", NULL, 200},
	{"take.delete", "{\"op\":\"take.branch\",\"at\":\"b\"}", "/discussions/d1/takes/t2", NULL,
	 200},
	{"take.switch", "{\"op\":\"take.branch\",\"at\":\"b\"}", "/discussions/d1/takes/t1/switch",
	 NULL, 200},
	{"take.promote", "{\"op\":\"take.branch\",\"at\":\"b\"}",
	 "/discussions/d1/takes/t2/promote", "{\"name\":\"own\"}", 201},
	{"take.graft", "{\"op\":\"take.branch\",\"at\":\"b\"}", "/discussions/d1/takes/t2/graft",
	 "{\"entries\":[\"d\"],\"from\":\"t1\",\"after\":\"b\"}", 200},
	{"take.diff", "{\"op\":\"take.branch\",\"at\":\"b\"}", "/discussions/d1/takes/t1/diff/t2",
	 NULL, 200},
	{"label.list", NULL, "/discussions/d1/labels", NULL, 200},
	{"label.delete", NULL, "/discussions/d1/labels/start", NULL, 200},
	{"prompt.show", NULL, "/discussions/d1/prompt", NULL, 200},
	{"prompt.notify", "{\"op\":\"prompt.update\",\"text\":\"x\"}",
	 "/discussions/d1/prompt/notify", NULL, 200},
	{"setting.list", NULL, "/settings", NULL, 200},
	{"setting.delete", NULL, "/settings/model", NULL, 200},
	{"setting.of_discussion", NULL, "/discussions/d1/settings", NULL, 200},
	{"setting.delete_here", NULL, "/discussions/d1/settings/colour", NULL, 200},
	{"role.list", NULL, "/roles", NULL, 200},
	{"role.remove", "{\"op\":\"role.add\",\"role\":\"R\"}", "/roles/R", NULL, 200},
	{"files.list", NULL, "/discussions/d1/files", NULL, 200},
	{"files.names", NULL, "/files?search=a", NULL, 200},
	{"files.set", NULL, "/discussions/d1/files/files", "{\"items\":[\"a.c\"]}", 200},
	{"discussion.tracks", NULL, "/tracks", NULL, 200},
	{"files.symbols", NULL, "/discussions/d1/symbols?prefix=a", NULL, 200},
	{"files.symbol", NULL, "/discussions/d1/symbols/a", NULL, 404},
	{"track.toggle",
	 "{\"op\":\"track.set\",\"track\":\"docs\"},{\"op\":\"discussion.new\",\"name\":\"y\"}",
	 "/tracks/toggle", "{\"track\":\"docs\"}", 200},
	{"discussion.usage", NULL, "/discussions/d1/usage", NULL, 200},
	{"preset.list", NULL, "/discussions/d1/presets", NULL, 200},
	{"preset.load", "{\"op\":\"preset.save\",\"name\":\"mine\"}",
	 "/discussions/d1/presets/mine/load", NULL, 200},
	{"preset.delete", "{\"op\":\"preset.save\",\"name\":\"mine\"}",
	 "/discussions/d1/presets/mine", NULL, 200},
	{"history.list", NULL, "/history", NULL, 200},
	{"history.show", NULL, "/history/1", NULL, 200},
	{"revert", "{\"op\":\"entry.edit\",\"entry\":\"a\",\"content\":\"x\"}", "/history/2/revert",
	 NULL, 200},
	{"history.of_discussion", NULL, "/discussions/d1/history", NULL, 200},
	{"redo_anywhere", "{\"op\":\"undo\"}", "/redo", NULL, 200},
	{"redo", "{\"op\":\"undo\"}", "/discussions/d1/redo", NULL, 200},
	{"purge", NULL, "/purge", "{\"text\":\"four words\"}", 200},
	{"purge.entry", NULL, "/discussions/d1/purge", "{\"entry\":\"a\"}", 200},
	{"op", NULL, "/ops/entry.mute", "{\"entry\":\"a\"}", 200},
	{"batch", NULL, "/batch", "{\"ops\":[{\"op\":\"entry.append\",\"content\":\"x\"}]}", 200},
	{"batch.here", NULL, "/discussions/d1/batch",
	 "{\"ops\":[{\"op\":\"entry.mute\",\"entry\":\"a\"}]}", 200},
	{"advice", NULL, "/discussions/d1/advice",
	 "{\"ops\":[{\"op\":\"entry.delete\",\"entry\":\"b\"}]}", 200},
	{"search", NULL, "/search?q=words", NULL, 200},
	{"stats", NULL, "/stats?by=model&since=2026-01-01", NULL, 200},
	{"context", NULL, "/discussions/d1/context?provider=anthropic", NULL, 200},
	{"context.sent", NULL, "/discussions/d1/sent", NULL, 404},
	{"run.list", NULL, "/runs", NULL, 200},
	{"run.start", NULL, "/discussions/d1/runs", "{\"how\":\"ask\",\"text\":\"hello\"}", 202},
	{"run.show", NULL, "/runs/r99", NULL, 404},
	{"run.stop", NULL, "/runs/r99", NULL, 404},
	{"events", NULL, "/events", NULL, 200},
	{"events.here", NULL, "/discussions/d1/events", NULL, 200},
	{"attachment.new", NULL, "/attachments?name=a.txt", "{\"any\":\"bytes\"}", 201},
	{"attachment.show", NULL,
	 "/attachments/0000000000000000000000000000000000000000000000000000000000000000", NULL, 404},
	{"export", NULL, "/export", NULL, 200},
	{"export.discussion", NULL, "/discussions/d1/export?format=markdown", NULL, 200},
	{"import", NULL, "/import?dry_run",
	 "{\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]}", 200},
};

/* These need a server around them; they are tested with it. */
static bool
is_of_server(const char *name)
{
	static const char *const names[] = {"server.", "code.", "logout", "user.", "team.", "member.", "token.", "link.", "invite.", "quota.", "audit."};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strncmp(name, names[i], strlen(names[i])) == 0)
			return true;
	return false;
}

/* A fixture with the story, ready for requests. */
static fixture *
set_up_trial(void **own, const char *request)
{
	char before[200];
	fixture *f;

	set_up(own);
	f = *own;
	tell(f);
	if (request != NULL) {
		snprintf(before, sizeof(before), "{\"ops\":[%s],\"atomic\":false}", request);
		expect(f, 200, "POST", D "/batch", before);
		assert_int_equal(number_at(f, "failed"), UINT64_MAX);
	}
	return f;
}

static const char *
method_name(rt_web_method method)
{
	static const char *const names[] = {"", "GET", "POST", "PUT", "PATCH", "DELETE"};

	return names[method];
}

/* The path of an operation, with the things of tell() in place of its parameters. */
static void
add_target(rt_buf *out, const char *path)
{
	static const struct {
		const char *param, *value;
	} things[] = {{"{discussion}", "d1"}, {"{take}", "t1"}, {"{entry}", "a"}, {"{at}", "a"}};

	while (*path != '\0') {
		size_t size = strcspn(path, "{"), i;

		rt_buf_add(out, path, size);
		path += size;
		if (*path == '\0')
			return;
		for (i = 0; i < sizeof(things) / sizeof(things[0]); i++)
			if (strncmp(path, things[i].param, strlen(things[i].param)) == 0)
				break;
		rt_buf_add_c(out, i < sizeof(things) / sizeof(things[0]) ? things[i].value : "x");
		path += strcspn(path, "}") + 1;
	}
}

/* Calls it with the request of every route. */
static void
try_routes(void (*fn)(const rt_route *route, const trial *one, void *ctx), void *ctx)
{
	rt_buf target, body;

	rt_buf_init(&target, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_buf_init(&body, rt_alloc_libc(), RT_BUF_UNLIMITED);
	for (const rt_route *route = rt_routes; route->path != NULL; route++) {
		trial one = {.name = NULL};

		if (is_of_server(route->name) || (route->flags & RT_ROUTE_ROOT) != 0)
			continue;
		for (size_t i = 0; i < sizeof(trials) / sizeof(trials[0]); i++)
			if (strcmp(trials[i].name, route->name) == 0)
				one = trials[i];
		if (one.name == NULL && route->op < 0)
			fail_msg("there is no row for %s", route->name);
		if (one.name == NULL) {
			const rt_op *op = &rt_ops[route->op];

			rt_buf_clear(&target);
			add_target(&target, route->path);
			rt_buf_clear(&body);
			rt_buf_add_c(&body, "{");
			rt_op_add_required(&body, op, "a", route->path);
			rt_buf_add_c(&body, "}");
			one = (trial){.name = route->name, .target = target.ptr, .body = body.ptr,
				      .status = (op->flags & RT_OP_MAKES) != 0 ? 201 : 200};
		}
		fn(route, &one, ctx);
	}
	rt_buf_deinit(&body);
	rt_buf_deinit(&target);
}

static void
try_route(const rt_route *route, const trial *one, void *ctx)
{
	char target[200];
	fixture *f;
	void *own;

	(void)ctx;
	f = set_up_trial(&own, one->before);
	snprintf(target, sizeof(target), V1 "%s", one->target);
	expect(f, one->status, method_name(route->method), target, one->body);
	/* the intended route, and not another one */
	if (route->op >= 0)
		assert_non_null(rt_json_get(f->root, "seq"));
	tear_down(&own);
}

static void
test_every_route(void **state)
{
	(void)state;
	try_routes(try_route, NULL);
}

/* ---- replaced nodes ---- */

/* Another process has written a checkpoint, and the nodes from which this value would be loaded no
 * longer exist. */
static void
test_looks_again(void **state)
{
	static const char *const looks[] = {V1 "/discussions/main/entries", V1 "/search?q=word",
					    V1 "/discussions/main/tree", V1 "/export"};
	fixture *f = *state;
	rt_store *store = f->store;
	uint64_t project;
	size_t i;
	int k;

	for (k = 0; k < 300; k++)
		expect(f, 201, "POST", V1 "/discussions/main/entries", "{\"content\":\"a word\"}");
	for (i = 0; i < sizeof(looks) / sizeof(looks[0]); i++) {
		rt_project_pool_close(f->pool);
		open_pool(f);
		assert_int_equal(rt_store_get(store,
					      rt_rows_named(RT_STORE_PROJECTS, 0, RT_STR("work")),
					      NULL, &project, NULL),
				 RT_OK);
		assert_int_equal(store->ops->begin(store, NULL), RT_OK);
		assert_int_equal(store->ops->drop(store, rt_rows_all(RT_STORE_ROOT, project), NULL),
				 RT_OK);
		assert_int_equal(store->ops->commit(store, NULL), RT_OK);
		expect(f, 200, "GET", looks[i], NULL);
		/* so that a checkpoint is written again */
		expect(f, 201, "POST", V1 "/discussions/main/entries", "{\"content\":\"one\"}");
	}
}

/* ---- without memory ---- */

static size_t left; /* allocations until one fails; SIZE_MAX: none does */

static void *
failing_resize(void *ctx, void *ptr, size_t size)
{
	(void)ctx;
	if (left != SIZE_MAX && left-- == 0) {
		left = SIZE_MAX; /* that one, and no other */
		return NULL;
	}
	return realloc(ptr, size);
}

static void
failing_release(void *ctx, void *ptr)
{
	(void)ctx;
	free(ptr);
}

/* Each allocation of each request fails once: the answer is complete, or 503; all memory is freed
 * (checked by the sanitizer). */
static void
try_without_memory(const rt_route *route, const trial *one, void *ctx)
{
	static const rt_alloc failing = {failing_resize, failing_release, NULL};
	size_t *refused = ctx;
	char target[200];
	bool is_over = false;

	snprintf(target, sizeof(target), V1 "%s", one->target);
	for (size_t n = 0; !is_over; n++) {
		fixture *f;
		unsigned status;
		void *own;

		f = set_up_trial(&own, one->before);
		forget(f);
		f->alloc = &failing;
		f->is_short = true;
		with(f, "Idempotency-Key", "k");
		left = n;
		status = ask(f, method_name(route->method), target, one->body);
		is_over = left != SIZE_MAX;
		left = SIZE_MAX;
		*refused += status == 503;
		if (status != 503 && status != one->status)
			fail_msg("%s without memory %zu: %u", one->name, n, status);
		if (status < 400 && f->answer.body.status != RT_OK)
			fail_msg("%s without memory %zu: half an answer", one->name, n);
		tear_down(&own);
	}
}

static void
test_no_memory(void **state)
{
	size_t refused = 0;

	(void)state;
	try_routes(try_without_memory, &refused);
	assert_true(refused > rt_route_count);
}

/* The same for the Hook API's fields, which are read from many places. */
static void
test_hook_state_without_memory(void **state)
{
	static const rt_alloc failing = {failing_resize, failing_release, NULL};
	static const char *const targets[] = {"/api/state", "/api/session",
					      "/api/state/app_debug_info"};
	size_t refused = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(targets) / sizeof(targets[0]); i++) {
		bool is_over = false;

		for (size_t n = 0; !is_over; n++) {
			fixture *f;
			unsigned status;
			void *own;

			f = set_up_trial(&own, NULL);
			forget(f);
			f->alloc = &failing;
			f->is_short = true;
			left = n;
			status = ask(f, "GET", targets[i], NULL);
			is_over = left != SIZE_MAX;
			left = SIZE_MAX;
			refused += status == 503;
			if (status != 503 && status != 200)
				fail_msg("%s without memory %zu: %u", targets[i], n, status);
			if (status == 200 && f->answer.body.status != RT_OK)
				fail_msg("%s without memory %zu: half an answer", targets[i], n);
			tear_down(&own);
		}
	}
	assert_true(refused > sizeof(targets) / sizeof(targets[0]));
}

/* ---- answers ---- */

/* The last entries are the last, also if more are requested than allowed at once. */
static void
test_last(void **state)
{
	enum { COUNT = 2003 };
	fixture *f = *state;
	yyjson_val *entries;
	uint64_t from;
	rt_buf body;
	int i;

	rt_buf_init(&body, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_buf_add_c(&body, "{\"ops\":[");
	for (i = 1; i <= COUNT; i++)
		rt_buf_add_f(&body, "%s{\"op\":\"entry.append\",\"content\":\"%d\"}",
			     i > 1 ? "," : "", i);
	rt_buf_add_c(&body, "]}");
	expect(f, 200, "POST", D "/batch", body.ptr);
	rt_buf_deinit(&body);
	expect(f, 200, "GET", D "/entries?last=2002", NULL);
	entries = rt_json_get(f->root, "entries");
	assert_int_equal(yyjson_arr_size(entries), 2000);
	assert_true(rt_json_u64(rt_json_get(f->root, "from"), &from));
	assert_int_equal(from, 3);
	assert_true(rt_str_is(rt_json_str(rt_json_get(yyjson_arr_get_last(entries), "content")),
			      "2003"));
	assert_true(yyjson_is_null(rt_json_get(f->root, "next")));
}

/* Texts as blocks: those in requests, and beside the contents of entries. */
static void
test_blocks(void **state)
{
	fixture *f = *state;
	yyjson_val *entry, *blocks;
	uint64_t stable;
	size_t i;

	expect(f, 200, "POST", V1 "/render",
	       "{\"texts\":[\"# h\\n\\n[x](javascript:y)\",\"\",\"<b>\"]}");
	blocks = rt_json_get(f->root, "blocks");
	assert_int_equal(yyjson_arr_size(blocks), 3);
	assert_int_equal(yyjson_arr_size(yyjson_arr_get(blocks, 0)), 2);
	assert_int_equal(yyjson_arr_size(yyjson_arr_get(blocks, 1)), 0);
	entry = yyjson_arr_get_last(yyjson_arr_get(blocks, 0));
	assert_true(rt_str_is(rt_json_str(yyjson_arr_get_first(rt_json_get(entry, "c"))),
			      "x (javascript:y)"));
	/* The finished part of a text that is still being written. */
	expect(f, 200, "POST", V1 "/render", "{\"texts\":[\"# h\\n\\n*a\",\"\",\"[a\\n\\nb\"]}");
	blocks = rt_json_get(f->root, "stable");
	assert_int_equal(yyjson_arr_size(blocks), 3);
	for (i = 0; i < 3; i++) {
		assert_true(rt_json_u64(yyjson_arr_get(blocks, i), &stable));
		assert_int_equal(stable, i == 0 ? 4 : 0);
	}
	expect(f, 400, "POST", V1 "/render", "{\"texts\":\"a\"}");
	expect(f, 400, "POST", V1 "/render", "{\"texts\":[7]}");
	expect(f, 201, "POST", D "/entries",
	       "{\"role\":\"Me\",\"content\":\"*a*\",\"id\":\"one\"}");
	expect(f, 201, "POST", D "/entries",
	       "{\"role\":\"AI\",\"id\":\"two\",\"content\":[{\"type\":\"image\"},"
	       "{\"type\":\"text\",\"text\":\"b\"}]}");
	expect(f, 200, "GET", D "/entries/one?blocks=1", NULL);
	blocks = rt_json_get(f->root, "blocks");
	assert_true(rt_str_is(rt_json_str(rt_json_get(yyjson_arr_get_first(blocks), "t")), "p"));
	expect(f, 200, "GET", D "/entries/one", NULL);
	assert_null(rt_json_get(f->root, "blocks"));
	expect(f, 400, "GET", D "/entries/one?blocks=perhaps", NULL);
	expect(f, 200, "GET", D "/entries?blocks=1", NULL);
	assert_non_null(rt_json_get(f->root, "seq"));
	entry = yyjson_arr_get_last(rt_json_get(f->root, "entries"));
	blocks = rt_json_get(entry, "blocks");
	assert_int_equal(yyjson_arr_size(blocks), 2);
	assert_true(yyjson_is_null(yyjson_arr_get(blocks, 0)));
	assert_int_equal(yyjson_arr_size(yyjson_arr_get(blocks, 1)), 1);
	expect(f, 200, "POST", D "/entries/read?blocks=1", "{\"ids\":[\"one\"]}");
	entry = yyjson_arr_get_first(rt_json_get(f->root, "entries"));
	assert_int_equal(yyjson_arr_size(rt_json_get(entry, "blocks")), 1);
	/* thinking in a text of the model is a block; the text is unchanged */
	expect(f, 201, "POST", D "/entries",
	       "{\"role\":\"AI\",\"id\":\"three\",\"content\":\"a <think>b</think> c\"}");
	expect(f, 200, "GET", D "/entries/three?blocks=1", NULL);
	assert_true(rt_str_is(rt_json_str(rt_json_get(f->root, "content")), "a <think>b</think> c"));
	blocks = rt_json_get(f->root, "blocks");
	assert_int_equal(yyjson_arr_size(blocks), 3);
	entry = yyjson_arr_get(blocks, 1);
	assert_true(rt_str_is(rt_json_str(rt_json_get(entry, "t")), "thinking"));
	expect(f, 201, "POST", D "/entries",
	       "{\"role\":\"User\",\"id\":\"four\",\"content\":\"a <think>b</think> c\"}");
	expect(f, 200, "GET", D "/entries/four?blocks=1", NULL);
	assert_int_equal(yyjson_arr_size(rt_json_get(f->root, "blocks")), 1);
}

static void
test_change_answer(void **state)
{
	fixture *f = *state;
	yyjson_val *op;
	char path[100];

	tell(f);
	with(f, "Retake-By", "agent.7");
	expect(f, 201, "POST", D "/entries", "{\"id\":\"e\",\"content\":\"five\"}");
	assert_true(rt_str_is(text_at(f, "entry"), "e"));
	assert_true(rt_str_is(header_of(f, "Location"), V1 "/discussions/d1/entries/e"));
	op = rt_json_get(f->root, "op");
	assert_true(rt_str_is(rt_json_str(rt_json_get(op, "op")), "entry.append"));
	assert_true(rt_str_is(rt_json_str(rt_json_get(op, "by")), "http:agent.7"));
	snprintf(path, sizeof(path), "%.*s",
		 RT_STR_ARG(rt_json_str(rt_json_get(rt_json_get(op, "undo"), "path"))));
	/* undo records the author, as the change did */
	expect(f, 200, "GET", D "/history?limit=1", NULL);
	assert_true(rt_str_is(
		rt_json_str(rt_json_get(yyjson_arr_get_first(rt_json_get(f->root, "steps")), "by")),
		"http:agent.7"));
	expect(f, 200, "POST", path, NULL);
	expect(f, 404, "GET", D "/entries/e", NULL);
	/* undo reports how to redo */
	expect(f, 200, "POST", D "/undo", "{\"count\":2}");
	op = rt_json_get(rt_json_get(f->root, "op"), "undo");
	assert_true(rt_str_is(rt_json_str(rt_json_get(op, "path")), V1 "/discussions/d1/redo"));
	expect(f, 200, "POST", D "/redo", "{\"count\":2}");
	/* a change in a discussion that is not in view: its undo names it */
	expect(f, 201, "POST", V1 "/discussions", "{\"name\":\"apart\"}");
	expect(f, 200, "PUT", D "/entries/a/content", "{\"content\":\"x\"}");
	snprintf(path, sizeof(path), V1 "/history/%llu/revert", (unsigned long long)number_at(f, "seq"));
	expect(f, 200, "POST", path, NULL);
	assert_true(rt_str_is(text_at(f, "note"), "This changed discussion \"main\"."));
	op = rt_json_get(rt_json_get(f->root, "op"), "undo");
	assert_true(rt_str_is(rt_json_str(rt_json_get(op, "path")), V1 "/discussions/d1/undo"));
	assert_content(f, D "/entries/a", "one");
	expect(f, 200, "POST", D "/undo", NULL);
	assert_content(f, D "/entries/a", "x");
	/* so already */
	expect(f, 200, "PUT", D "/entries/a/content", "{\"content\":\"x\"}");
	assert_true(yyjson_is_true(rt_json_get(f->root, "unchanged")));
	assert_null(rt_json_get(f->root, "op"));
	with(f, "Retake-By", "a b");
	expect(f, 400, "PUT", D "/entries/a/content", "{\"content\":\"y\"}");
	assert_content(f, D "/entries/a", "x");
}

static void
test_refused(void **state)
{
	fixture *f = *state;

	tell(f);
	assert_int_equal(ask(f, "GET", V1 "/nothing", NULL), 404);
	assert_int_equal(ask(f, "PUT", D, NULL), 405);
	assert_int_equal(ask(f, "GET", V1 "/discussions/%2", NULL), 400);
	expect(f, 404, "GET", V1 "/discussions/nowhere", NULL);
	expect(f, 404, "GET", D "/entries/zz", NULL);
	expect(f, 404, "GET", D "/entries?take=nowhere", NULL);
	expect(f, 400, "GET", D "/entries?from=x", NULL);
	expect(f, 400, "GET", D "/entries?from=-1", NULL);
	expect(f, 400, "GET", D "/entries?from=99999999999999999999", NULL);
	expect(f, 400, "GET", D "/entries?take=%zz", NULL);
	expect(f, 400, "GET", D "/entries?take=%ff", NULL);
	expect(f, 400, "GET", V1 "/discussions?all=maybe", NULL);
	expect(f, 400, "POST", D "/entries", "{\"content\":");
	assert_true(rt_str_starts(text_at(f, "detail"), RT_STR("the body: ")));
	expect(f, 400, "POST", D "/entries", "[]");
	expect(f, 400, "POST", D "/entries", "{\"content\":7}");
	expect(f, 400, "PUT", D "/entries/a/content", NULL);
	expect(f, 400, "PATCH", D "/entries/a", "{}");
	expect(f, 400, "PATCH", D "/entries/a", "{\"content\":\"x\",\"mode\":\"sideways\"}");
	expect(f, 400, "PATCH", D "/entries/a", "{\"content\":\"x\",\"everywhere\":1}");
	/* the body must not contradict the path */
	expect(f, 400, "PUT", D "/entries/a/content", "{\"entry\":\"b\",\"content\":\"x\"}");
	expect(f, 400, "POST", D "/entries", "{\"discussion\":\"d2\",\"content\":\"x\"}");
	expect(f, 400, "POST", V1 "/history/one/revert", NULL);
	expect(f, 400, "GET", V1 "/history/one", NULL);
	expect(f, 404, "GET", V1 "/history/99", NULL);
	expect(f, 404, "POST", V1 "/ops/entry.apend", NULL);
	assert_true(rt_str_is(text_at(f, "hint"), "did you mean entry.append?"));
	expect(f, 404, "DELETE", D "/labels/nobody", NULL);
	expect(f, 409, "POST", D "/redo", NULL);
	assert_true(rt_str_is(text_at(f, "code"), "refused"));
	expect(f, 409, "POST", V1 "/projects", "{\"name\":\"work\"}");
	expect(f, 400, "GET", V1 "/search?q=", NULL);
	expect(f, 400, "GET", V1 "/search?q=after:soon", NULL);
	assert_non_null(strstr(f->answer.body.ptr, "\\\"soon\\\" is not a date"));
	expect(f, 400, "GET", V1 "/export?format=nothing", NULL);
	expect(f, 400, "POST", V1 "/import", "neither this nor that \001");
	expect(f, 400, "POST", V1 "/import?format=nothing", "{}");
	expect(f, 404, "GET", D "/context?provider=nobody", NULL);
	expect(f, 400, "POST", D "/runs", "{\"how\":\"dance\"}");
	expect(f, 400, "POST", V1 "/batch", "{\"ops\":[]}");
	expect(f, 400, "POST", V1 "/batch", "{\"ops\":[7]}");
	expect(f, 400, "POST", V1 "/batch", "{\"ops\":[{\"op\":\"undo\"}],\"atomic\":7}");
	assert_int_equal(head_seq(f), 1); /* the story alone */
}

static void *
create_project(void *ctx)
{
	fixture *f = ctx;

	return rt_project_pool_create(f->pool, RT_STR("at once"), NULL) == RT_OK ? f : NULL;
}

/* If several clients create a project at the same time, one succeeds. */
static void
test_created_once(void **state)
{
	enum { CLIENTS = 8 };
	fixture *f = *state;
	pthread_t threads[CLIENTS];
	size_t created = 0;
	void *result;

	for (size_t i = 0; i < CLIENTS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, create_project, f), 0);
	for (size_t i = 0; i < CLIENTS; i++) {
		assert_int_equal(pthread_join(threads[i], &result), 0);
		created += result != NULL;
	}
	assert_int_equal(created, 1);
	expect(f, 409, "POST", V1 "/projects", "{\"name\":\"at once\"}");
}

/* ---- files, models ---- */

static void
test_files(void **state)
{
	fixture *f = *state;
	char *all;

	tell(f);
	expect(f, 200, "GET", V1 "/export", NULL);
	assert_string_equal(f->answer.type, "application/json");
	all = strdup(f->answer.body.ptr);
	expect(f, 201, "POST", V1 "/projects", "{\"name\":\"copy\"}");
	assert_int_equal(
		rt_project_pool_project(f->pool, RT_STR("copy"), false, &f->open_project, NULL),
		RT_OK);
	with(f, "Idempotency-Key", "k");
	expect(f, 200, "POST", V1 "/import", all);
	assert_int_equal(number_at(f, "entries"), 4);
	assert_true(rt_str_is(text_at(f, "format"), "canonical"));
	with(f, "Idempotency-Key", "k");
	expect(f, 200, "POST", V1 "/import", all);
	assert_int_equal(number_at(f, "entries"), 4);
	assert_true(rt_str_is(header_of(f, "Idempotency-Replayed"), "true"));
	free(all);
	expect(f, 200, "POST", V1 "/import?name=chat&format=openai",
	       "{\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]}");
	assert_true(rt_str_is(text_at(f, "discussion"), "chat"));
	expect(f, 200, "GET", V1 "/discussions/chat/export?format=openai", NULL);
	assert_non_null(strstr(f->answer.body.ptr, "\"hi\""));
	expect(f, 200, "GET", V1 "/discussions/chat/export?format=markdown", NULL);
	assert_string_equal(f->answer.type, "text/markdown; charset=utf-8");
	assert_non_null(strstr(f->answer.body.ptr, "hi"));
	assert_header(f, "Content-Disposition", "attachment; filename=\"chat.md\"");
	expect(f, 404, "GET", V1 "/discussions/chat/export?format=markdown&at_op=0", NULL);
	expect(f, 200, "GET", V1 "/export?format=canonical&at_op=0", NULL);
	assert_null(strstr(f->answer.body.ptr, "hi"));
	/* Without a chosen name, the file is named after the title. */
	expect(f, 200, "GET", V1 "/discussions/main/export?format=html", NULL);
	assert_header(f, "Content-Disposition", "attachment; filename=\"one.html\"");
	expect(f, 200, "POST", V1 "/import?name=keys&format=openai",
	       "{\"messages\":[{\"role\":\"user\",\"content\":"
	       "\"sk-ant-Zx8Qw2Lm4Nb6Vc0Kj9Hg7, a@example.org\"}]}");
	expect(f, 200, "GET", V1 "/discussions/keys/export?format=markdown&redact=1", NULL);
	assert_null(strstr(f->answer.body.ptr, "Zx8Qw2Lm"));
	assert_non_null(strstr(f->answer.body.ptr, "[redacted: api key], a@example.org"));
	assert_header(f, "Content-Disposition", "attachment; filename=\"retake.md\"");
	expect(f, 200, "GET", V1 "/discussions/keys/export?format=html&redact=1&emails=1", NULL);
	assert_null(strstr(f->answer.body.ptr, "Zx8Qw2Lm"));
	assert_null(strstr(f->answer.body.ptr, "a@example.org"));
	expect(f, 200, "GET", V1 "/discussions/keys/export?format=html&redact=1&dry_run=1", NULL);
	assert_int_equal(number_at(f, "entries"), 1);
	assert_int_equal(number_at(f, "places"), 1);
	assert_null(strstr(f->answer.body.ptr, "Zx8Qw2Lm"));
	/* Formats for one discussion contain all of them on request. */
	expect(f, 200, "GET", V1 "/export?format=openai", NULL);
	assert_null(strstr(f->answer.body.ptr, "\"hi\""));
	expect(f, 200, "GET", V1 "/export?format=openai&all_discussions=1", NULL);
	assert_non_null(strstr(f->answer.body.ptr, "sk-ant"));
	assert_non_null(strstr(f->answer.body.ptr, "\"hi\""));
	expect(f, 200, "GET", V1 "/export?format=csv&all_discussions=1", NULL);
	assert_header(f, "Content-Disposition", "attachment; filename=\"retake.csv\"");
	expect(f, 400, "GET", V1 "/export?format=csv&all_discussions=1&discussion=keys", NULL);
	expect(f, 400, "GET", V1 "/export?format=pi&all_discussions=1", NULL);
	expect(f, 400, "GET", V1 "/export?format=html&dry_run=1", NULL);
	expect(f, 400, "GET", V1 "/export?format=html&emails=1", NULL);
	/* A name is only the name of a file, whatever it contains. */
	expect(f, 200, "POST", V1 "/ops/discussion.rename",
	       "{\"discussion\":\"chat\",\"name\":\"../br\\u00e9\\u202ead\\r\\n\\\"x; y\"}");
	expect(f, 200, "GET", V1 "/discussions/d2/export?format=markdown", NULL);
	assert_header(f, "Content-Disposition",
		      "attachment; filename=\"___br___ad___x_-y.md\"; "
		      "filename*=UTF-8''___br%C3%A9_ad___x_-y.md");
}

static void
test_context(void **state)
{
	fixture *f = *state;
	yyjson_val *body;

	tell(f);
	expect(f, 200, "PUT", D "/prompt", "{\"text\":\"be brief\"}");
	expect(f, 200, "POST", D "/entries/b/mute", NULL);
	expect(f, 200, "GET", D "/context?provider=openai&model=m", NULL);
	body = rt_json_get(f->root, "body");
	assert_true(yyjson_is_arr(rt_json_get(body, "messages")));
	assert_int_equal(yyjson_arr_size(rt_json_get(f->root, "entries")), 3);
	assert_true(number_at(f, "tokens") > 0);
	assert_true(rt_str_is(text_at(f, "provider"), "openai"));
	assert_true(rt_str_is(text_at(f, "model"), "m"));
	expect(f, 200, "GET", D "/context", NULL); /* as configured in the pool */
	assert_true(rt_str_is(text_at(f, "service"), "builtin"));
	assert_true(rt_str_is(text_at(f, "model"), "echo"));
}

static bool
is_at(fixture *f, const char *key)
{
	return yyjson_is_true(rt_json_get(f->root, key));
}

static void
wait_for_run(fixture *f)
{
	char target[100];

	snprintf(target, sizeof(target), V1 "/runs/%.*s", RT_STR_ARG(text_at(f, "run")));
	do
		expect(f, 200, "GET", target, NULL);
	while (rt_str_is(text_at(f, "state"), "running"));
	assert_true(rt_str_is(text_at(f, "state"), "done"));
}

/* A sent request stays the same, whatever is done to the conversation afterwards. */
static void
test_sent(void **state)
{
	fixture *f = *state;
	yyjson_val *messages, *entries;
	size_t count;

	tell(f);
	expect(f, 404, "GET", D "/sent", NULL);
	expect(f, 202, "POST", D "/runs", "{\"text\":\"which words?\"}");
	wait_for_run(f);
	expect(f, 200, "GET", D "/sent", NULL);
	assert_true(is_at(f, "exact"));
	assert_true(rt_str_is(text_at(f, "model"), "echo"));
	assert_true(rt_str_is(text_at(f, "take"), "t1"));
	assert_true(text_at(f, "at").size > 10);
	messages = rt_json_get(rt_json_get(f->root, "body"), "messages");
	count = yyjson_arr_size(messages);
	assert_true(rt_str_is(rt_json_str(rt_json_get(yyjson_arr_get_last(messages), "content")),
			      "which words?"));
	entries = rt_json_get(f->root, "entries"); /* the reply */
	assert_int_equal(yyjson_arr_size(entries), 1);
	assert_true(rt_str_is(rt_json_str(rt_json_get(yyjson_arr_get_first(entries), "change")),
			      "new"));
	assert_false(is_at(f, "same"));
	expect(f, 200, "PATCH", D "/entries/a", "{\"content\":\"rewritten\"}");
	expect(f, 200, "DELETE", D "/entries/b", NULL);
	expect(f, 200, "PUT", D "/prompt", "{\"text\":\"be brief\"}");
	expect(f, 200, "GET", D "/sent", NULL);
	assert_true(is_at(f, "exact"));
	assert_true(is_at(f, "prompt"));
	messages = rt_json_get(rt_json_get(f->root, "body"), "messages");
	assert_int_equal(yyjson_arr_size(messages), count);
	assert_null(strstr(f->answer.body.ptr, "rewritten"));
	assert_non_null(strstr(f->answer.body.ptr, "\"change\":\"gone\",\"id\":\"b\""));
	assert_non_null(strstr(f->answer.body.ptr, "\"change\":\"edited\",\"id\":\"a\""));
	/* from a take that ends before it */
	expect(f, 201, "POST", D "/takes", "{\"at\":\"a\",\"name\":\"short\"}");
	expect(f, 200, "GET", D "/sent?take=short", NULL);
	assert_true(rt_str_is(text_at(f, "take"), "t1"));
	assert_non_null(strstr(f->answer.body.ptr, "\"change\":\"gone\",\"id\":\"d\""));
	/* a purged text is in no past request either */
	expect(f, 200, "POST", V1 "/purge", "{\"text\":\"which words\"}");
	expect(f, 200, "GET", D "/sent", NULL);
	assert_false(is_at(f, "exact"));
	assert_null(strstr(f->answer.body.ptr, "which words"));
	expect(f, 404, "GET", D "/sent?take=nowhere", NULL);
}

static void
test_run(void **state)
{
	fixture *f = *state;
	char run[64], target[100];

	with(f, "Idempotency-Key", "k");
	expect(f, 202, "POST", D "/runs", "{\"text\":\"hello\"}");
	snprintf(run, sizeof(run), "%.*s", RT_STR_ARG(text_at(f, "run")));
	snprintf(target, sizeof(target), V1 "/runs/%s", run);
	assert_true(rt_str_is(header_of(f, "Location"), target));
	/* the same request is not executed again */
	with(f, "Idempotency-Key", "k");
	expect(f, 202, "POST", D "/runs", "{\"text\":\"hello\"}");
	assert_true(rt_str_is(text_at(f, "run"), run));
	assert_true(rt_str_is(header_of(f, "Location"), target));
	expect(f, 200, "GET", V1 "/runs", NULL);
	assert_int_equal(yyjson_arr_size(f->root), 1);
	expect(f, 200, "DELETE", target, NULL);
	expect(f, 200, "GET", target, NULL);
	assert_true(rt_str_is(text_at(f, "run"), run));
}

static bool
copy_name(void *ctx, const rt_store_row *row)
{
	rt_buf *out = ctx;

	if (rt_str_starts(row->name, RT_STR(RT_IDEMPOTENCY_PREFIX)))
		rt_buf_add_str(out, row->name);
	return true;
}

/* Reserved, and then the server died: it is unknown whether the model was called. */
static void
test_run_begun(void **state)
{
	fixture *f = *state;
	uint64_t project = rt_engine_project_number(f->open_project->engine);
	rt_web_field key = {RT_STR_INIT("Idempotency-Key"), RT_STR_INIT("k")};
	rt_web_request request = {.method_name = RT_STR("POST"),
				  .path = RT_STR(D "/runs"),
				  .headers = &key,
				  .header_count = 1,
				  .body = RT_STR("{\"text\":\"hello\"}")};
	rt_principal principal = {.kind = RT_PRINCIPAL_TOKEN};
	rt_error err;
	rt_buf names;
	rt_scope s;

	rt_scope_init(&s, rt_alloc_libc());
	rt_idempotency idem = rt_idempotency_read_key(&s, &request, &principal,
						      f->open_project->engine, clock_us);
	assert_int_equal(rt_idempotency_reserve(&s, &idem).state, RT_IDEMPOTENCY_NEW);
	assert_int_equal(rt_idempotency_reserve(&s, &idem).state, RT_IDEMPOTENCY_BEGUN);
	with(f, "Idempotency-Key", "k");
	expect(f, 409, "POST", D "/runs", "{\"text\":\"hello\"}");
	assert_true(rt_str_is(text_at(f, "code"), "idempotency_key_begun"));
	with(f, "Idempotency-Key", "k");
	expect(f, 422, "POST", D "/runs", "{\"text\":\"another\"}");
	expect(f, 200, "GET", V1 "/runs", NULL);
	assert_int_equal(yyjson_arr_size(f->root), 0);
	rt_idempotency_drop(&s, &idem);
	assert_int_equal(s.status, RT_OK);
	/* a failed request is not reserved any more */
	with(f, "Idempotency-Key", "k");
	expect(f, 404, "POST", D "/runs", "{\"how\":\"again\",\"at\":\"nobody\"}");
	rt_buf_init(&names, rt_alloc_libc(), RT_BUF_UNLIMITED);
	assert_int_equal(f->store->ops->read(f->store, rt_rows_all(RT_STORE_SIDE, project),
					     copy_name, &names, &err),
			 RT_OK);
	assert_int_equal(names.size, 0);
	rt_buf_deinit(&names);
	rt_scope_deinit(&s);
}

static void
test_events(void **state)
{
	fixture *f = *state;

	tell(f);
	expect(f, 200, "GET", V1 "/events", NULL);
	assert_string_equal(f->answer.type, "text/event-stream");
	assert_non_null(f->answer.stream);
	with(f, "Last-Event-ID", "nonsense");
	expect(f, 400, "GET", V1 "/events", NULL);
	expect(f, 404, "GET", V1 "/events?discussion=nowhere", NULL);
	expect(f, 400, "GET", D "/events?last_event_id=nonsense", NULL);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_route),
		cmocka_unit_test(test_no_memory),
		cmocka_unit_test(test_hook_state_without_memory),
		TEST(test_last),
		TEST(test_blocks),
		TEST(test_change_answer),
		TEST(test_refused),
		TEST(test_looks_again),
		TEST(test_created_once),
		TEST(test_files),
		TEST(test_context),
		TEST(test_sent),
		TEST(test_run),
		TEST(test_run_begun),
		TEST(test_events),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
