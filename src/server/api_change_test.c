/* SPDX-License-Identifier: MIT
 *
 * Changes: patches, batches, preconditions, retries. */
#define _POSIX_C_SOURCE 200809L

#include "server/api_testing.h"

/* ---- entries, changed ---- */

static void
test_patch(void **state)
{
	fixture *f = *state;
	uint64_t seq;

	tell(f);
	seq = head_seq(f);
	expect(f, 200, "PATCH", D "/entries/b",
	       "{\"content\":\"zwei\",\"role\":\"System\",\"muted\":true}");
	assert_int_equal(number_at(f, "seq"), seq + 1);
	assert_true(rt_str_is(text_at(f, "entry"), "b"));
	assert_content(f, D "/entries/b", "zwei");
	assert_true(rt_str_is(text_at(f, "role"), "System"));
	assert_true(yyjson_is_true(rt_json_get(f->root, "muted")));
	expect(f, 200, "POST", D "/undo", NULL);
	assert_content(f, D "/entries/b", "two");
	assert_false(yyjson_is_true(rt_json_get(f->root, "muted")));
	/* one of them is invalid: none is executed */
	expect(f, 400, "PATCH", D "/entries/b", "{\"content\":\"zwei\",\"role\":\"\"}");
	assert_content(f, D "/entries/b", "two");
}

static void
test_patch_as_take(void **state)
{
	fixture *f = *state;
	uint64_t seq;

	tell(f);
	seq = head_seq(f);
	expect(f, 201, "PATCH", D "/entries/c",
	       "{\"content\":\"drei\",\"mode\":\"take\",\"name\":\"other\"}");
	assert_int_equal(number_at(f, "seq"), seq + 1);
	expect(f, 200, "GET", D "/entries?take=other", NULL);
	assert_int_equal(number_at(f, "count"), 3);
	assert_content(f, D "/entries/:3?take=other", "drei");
	assert_true(rt_str_is(text_at(f, "role"), "User"));
	assert_content(f, D "/entries/c?take=t1", "three");
	/* all of it, with this entry changed */
	expect(f, 201, "PATCH", D "/entries/c?take=t1",
	       "{\"content\":\"III\",\"mode\":\"take\",\"keep_after\":true,\"name\":\"whole\"}");
	expect(f, 200, "GET", D "/entries?take=whole", NULL);
	assert_int_equal(number_at(f, "count"), 4);
	assert_content(f, D "/entries/c?take=whole", "III");
	assert_content(f, D "/entries/c?take=t1", "three");
	/* the first: nothing is shared */
	expect(f, 400, "PATCH", D "/entries/a?take=t1",
	       "{\"content\":\"I\",\"mode\":\"take\",\"name\":\"x\"}");
	expect(f, 201, "PATCH", D "/entries/a?take=t1", "{\"role\":\"System\",\"mode\":\"take\"}");
	assert_content(f, D "/entries/:1", "one");
	assert_true(rt_str_is(text_at(f, "role"), "System"));
	expect(f, 200, "GET", D "/entries", NULL);
	assert_int_equal(number_at(f, "count"), 1);
	expect(f, 400, "PATCH", D "/entries/a",
	       "{\"content\":\"I\",\"mode\":\"take\",\"everywhere\":true}");
}

static void
test_batch(void **state)
{
	fixture *f = *state;
	uint64_t seq;

	tell(f);
	seq = head_seq(f);
	expect(f, 404, "POST", D "/batch",
	       "{\"ops\":[{\"op\":\"entry.delete\",\"entry\":\"a\"},{\"op\":\"entry.mute\",\"entry\":"
	       "\"nobody\"},{\"op\":\"entry.delete\",\"entry\":\"b\"}]}");
	assert_int_equal(number_at(f, "index"), 1);
	assert_int_equal(head_seq(f), seq);
	expect(f, 200, "POST", D "/batch",
	       "{\"atomic\":false,\"ops\":[{\"op\":\"entry.delete\",\"entry\":\"a\"},"
	       "{\"op\":\"entry.mute\",\"entry\":\"nobody\"},{\"op\":\"entry.delete\",\"entry\":\"b\"}]}");
	assert_int_equal(number_at(f, "failed"), 1);
	assert_int_equal(yyjson_arr_size(rt_json_get(f->root, "results")), 3);
	assert_int_equal(head_seq(f), seq + 2);
	with(f, "Idempotency-Key", "k");
	expect(f, 400, "POST", D "/batch",
	       "{\"atomic\":false,\"ops\":[{\"op\":\"undo\"},{\"op\":\"undo\"}]}");
	assert_int_equal(head_seq(f), seq + 2);
}

/* ---- conditions ---- */

static void
test_if_match(void **state)
{
	char of_a[RT_ETAG_ROOM], of_b[RT_ETAG_ROOM], of_disc[RT_ETAG_ROOM],
		of_project[RT_ETAG_ROOM];
	char list[4 * RT_ETAG_ROOM];
	fixture *f = *state;

	tell(f);
	expect(f, 200, "GET", D "/entries/a", NULL);
	memcpy(of_a, f->etag, sizeof(of_a));
	expect(f, 200, "GET", D "/entries/b", NULL);
	memcpy(of_b, f->etag, sizeof(of_b));
	expect(f, 200, "GET", D, NULL);
	memcpy(of_disc, f->etag, sizeof(of_disc));
	expect(f, 200, "GET", V1 "/settings", NULL);
	memcpy(of_project, f->etag, sizeof(of_project));
	/* another client changes b: the tag of a still matches, that of the discussion does not */
	expect(f, 200, "PUT", D "/entries/b/content", "{\"content\":\"zwei\"}");
	with(f, "If-Match", of_disc);
	expect(f, 412, "PUT", D "/entries/a/content", "{\"content\":\"eins\"}");
	assert_true(rt_str_is(text_at(f, "code"), "conflict"));
	assert_content(f, D "/entries/a", "one");
	with(f, "If-Match", of_b);
	expect(f, 412, "PUT", D "/entries/a/content", "{\"content\":\"eins\"}");
	snprintf(list, sizeof(list), "%s, W/\"x\" , %s", of_disc, of_a);
	with(f, "If-Match", list);
	expect(f, 200, "PUT", D "/entries/a/content", "{\"content\":\"eins\"}");
	assert_content(f, D "/entries/a", "eins");
	/* the answer's tag is that of the result, and valid for the next change */
	expect(f, 200, "PUT", D "/entries/a/content", "{\"content\":\"uno\"}");
	memcpy(of_a, f->etag, sizeof(of_a));
	expect(f, 200, "GET", D "/entries/a", NULL);
	assert_string_equal(f->etag, of_a);
	with(f, "If-Match", of_a);
	expect(f, 200, "DELETE", D "/entries/a", NULL);
	with(f, "If-Match", of_a);
	expect(f, 412, "DELETE", D "/entries/a", NULL);
	with(f, "If-Match", "*");
	expect(f, 412, "DELETE", D "/entries/a", NULL);
	with(f, "If-Match", "*");
	expect(f, 200, "PUT", D "/entries/b/content", "{\"content\":\"dos\"}");
	/* the project's own data are another document */
	with(f, "If-Match", of_project);
	expect(f, 200, "PUT", V1 "/settings/model", "{\"value\":\"builtin/echo\"}");
	with(f, "If-Match", of_project);
	expect(f, 412, "PUT", V1 "/settings/model", "{\"value\":\"builtin/summary\"}");
	with(f, "If-Match", "b4");
	expect(f, 400, "PUT", V1 "/settings/model", "{\"value\":\"builtin/summary\"}");
	with(f, "If-Match", "\"b4");
	expect(f, 400, "PUT", V1 "/settings/model", "{\"value\":\"builtin/summary\"}");
	with(f, "If-Match", "");
	expect(f, 400, "PUT", V1 "/settings/model", "{\"value\":\"builtin/summary\"}");
	f->needs_match = true;
	expect(f, 428, "PUT", V1 "/settings/model", "{\"value\":\"builtin/summary\"}");
	expect(f, 200, "GET", V1 "/settings", NULL);
	assert_true(rt_str_is(text_at(f, "model"), "builtin/echo"));
}

/* A model that cannot exist does not become the setting, nor does it in a batch. */
static void
test_models_exist(void **state)
{
	fixture *f = *state;

	expect(f, 404, "PUT", V1 "/settings/model", "{\"value\":\"opnai/x\"}");
	assert_non_null(strstr(text_at(f, "detail").ptr, "did you mean openai?"));
	expect(f, 404, "POST", V1 "/batch",
	       "{\"ops\":[{\"op\":\"setting.set\",\"key\":\"model\",\"value\":\"builtin/x\"}]}");
	expect(f, 200, "GET", V1 "/settings", NULL);
	assert_true(text_at(f, "model").size == 0);
	expect(f, 200, "PUT", V1 "/settings/model", "{\"value\":\"builtin/echo\"}");
	expect(f, 200, "PUT", V1 "/settings/model", "{\"value\":null}");
}

/* Undo restores the state that was read. */
static void
test_tag_after_undo(void **state)
{
	uint64_t first = 0, second = 0;
	char before[RT_ETAG_ROOM];
	fixture *f = *state;
	yyjson_val *flags;

	tell(f);
	expect(f, 200, "GET", D "/entries/a", NULL);
	memcpy(before, f->etag, sizeof(before));
	assert_null(rt_json_get(f->root, "edited"));
	expect(f, 200, "PUT", D "/entries/a/content", "{\"content\":\"x\"}");
	assert_string_not_equal(f->etag, before);
	expect(f, 200, "GET", D "/entries/a", NULL);
	assert_true(yyjson_is_true(rt_json_get(f->root, "edited")));
	expect(f, 200, "GET", D "/tree", NULL);
	assert_true(yyjson_is_true(rt_json_get(yyjson_arr_get_first(f->root), "edited")));
	assert_null(rt_json_get(yyjson_arr_get(f->root, 1), "edited"));
	expect(f, 200, "GET", D "/tree?columns=1&count=2", NULL);
	flags = rt_json_get(f->root, "flags");
	assert_true(rt_json_u64(yyjson_arr_get(flags, 0), &first));
	assert_true(rt_json_u64(yyjson_arr_get(flags, 1), &second));
	assert_int_equal(first & 32, 32);
	assert_int_equal(second & 32, 0);
	expect(f, 200, "POST", D "/undo", NULL);
	expect(f, 200, "GET", D "/entries/a", NULL);
	assert_null(rt_json_get(f->root, "edited"));
	with(f, "If-Match", before);
	expect(f, 200, "PUT", D "/entries/a/content", "{\"content\":\"y\"}");
	/* the display state is not in the tag */
	memcpy(before, f->etag, sizeof(before));
	expect(f, 200, "POST", D "/entries/a/view", "{\"collapsed\":true}");
	with(f, "If-Match", before);
	expect(f, 200, "PUT", D "/entries/a/content", "{\"content\":\"z\"}");
}

static unsigned
append_with_key(fixture *f, const char *key, const char *content)
{
	char body[100];

	snprintf(body, sizeof(body), "{\"content\":\"%s\"}", content);
	with(f, "Idempotency-Key", key);
	return ask(f, "POST", D "/entries", body);
}

static void
test_retry(void **state)
{
	fixture *f = *state;
	char first[600], etag[RT_ETAG_ROOM];
	uint64_t seq;
	size_t count = 0;
	rt_error err;

	assert_int_equal(append_with_key(f, "k1", "x"), 201);
	snprintf(first, sizeof(first), "%.*s", RT_STR_ARG(rt_buf_str(&f->answer.body)));
	assert_null(header_of(f, "Idempotency-Replayed").ptr);
	seq = number_at(f, "seq");
	memcpy(etag, f->etag, sizeof(etag));
	assert_string_not_equal(etag, "");
	assert_int_equal(append_with_key(f, "k1", "x"), 201);
	assert_string_equal(f->etag, etag);
	assert_true(rt_str_is(rt_buf_str(&f->answer.body), first));
	assert_true(rt_str_is(header_of(f, "Idempotency-Replayed"), "true"));
	assert_true(header_of(f, "Location").size > 0);
	assert_int_equal(head_seq(f), seq);
	/* another request, or another key */
	assert_int_equal(append_with_key(f, "k1", "y"), 422);
	assert_int_equal(head_seq(f), seq);
	assert_int_equal(append_with_key(f, "k2", "x"), 201);
	assert_int_equal(head_seq(f), seq + 1);
	/* another process, or this one after a crash */
	forget(f);
	rt_project_pool_close(f->pool);
	open_pool(f);
	assert_int_equal(append_with_key(f, "k1", "x"), 201);
	assert_true(rt_str_is(rt_buf_str(&f->answer.body), first));
	assert_int_equal(head_seq(f), seq + 1);
	/* a failed request may be retried */
	with(f, "Idempotency-Key", "k3");
	expect(f, 404, "DELETE", D "/entries/later", NULL);
	expect(f, 201, "POST", D "/entries", "{\"id\":\"later\",\"content\":\"x\"}");
	with(f, "Idempotency-Key", "k3");
	expect(f, 200, "DELETE", D "/entries/later", NULL);
	/* an answer without a change is kept, too */
	expect(f, 200, "PUT", V1 "/settings/colour", "{\"value\":1}");
	with(f, "Idempotency-Key", "k4");
	expect(f, 200, "PUT", V1 "/settings/colour", "{\"value\":1}");
	assert_true(yyjson_is_true(rt_json_get(f->root, "unchanged")));
	expect(f, 200, "PUT", V1 "/settings/colour", "{\"value\":2}");
	with(f, "Idempotency-Key", "k4");
	expect(f, 200, "PUT", V1 "/settings/colour", "{\"value\":1}");
	assert_true(rt_str_is(header_of(f, "Idempotency-Replayed"), "true"));
	expect(f, 200, "GET", V1 "/settings", NULL);
	assert_int_equal(number_at(f, "colour"), 2);
	/* for a day */
	seq = head_seq(f);
	clock_us += RT_IDEMPOTENCY_TTL_US;
	assert_int_equal(append_with_key(f, "k1", "x"), 201);
	assert_int_equal(head_seq(f), seq);
	assert_int_equal(rt_idempotency_sweep(f->open_project->engine, clock_us, &count, &err),
			 RT_OK);
	assert_int_equal(count, 0);
	clock_us++;
	assert_int_equal(append_with_key(f, "k1", "x"), 201);
	assert_int_equal(head_seq(f), seq + 1);
	assert_int_equal(rt_idempotency_sweep(f->open_project->engine, clock_us, &count, &err),
			 RT_OK);
	assert_int_equal(count, 3); /* k2, k3, k4 */
	assert_int_equal(append_with_key(f, "k1", "x"), 201);
	assert_int_equal(head_seq(f), seq + 1);
}

static void
test_keys(void **state)
{
	char key[RT_IDEMPOTENCY_KEY_MAX + 2];
	fixture *f = *state;

	memset(key, 'k', sizeof(key));
	key[RT_IDEMPOTENCY_KEY_MAX + 1] = '\0';
	assert_int_equal(append_with_key(f, key, "x"), 400);
	key[RT_IDEMPOTENCY_KEY_MAX] = '\0';
	assert_int_equal(append_with_key(f, key, "x"), 201);
	assert_int_equal(append_with_key(f, "", "x"), 400);
	assert_int_equal(append_with_key(f, "a b", "x"), 400);
	assert_int_equal(append_with_key(f, "\xc3\xa9", "x"), 400);
	with(f, "Idempotency-Key", "a");
	assert_int_equal(append_with_key(f, "b", "x"), 400);
	assert_int_equal(head_seq(f), 1);
}

/* A retry whose precondition does not hold any more is still the same request. */
static void
test_retry_with_condition(void **state)
{
	char seen[RT_ETAG_ROOM];
	fixture *f = *state;

	tell(f);
	expect(f, 200, "GET", D, NULL);
	memcpy(seen, f->etag, sizeof(seen));
	with(f, "If-Match", seen);
	assert_int_equal(append_with_key(f, "k", "x"), 201);
	with(f, "If-Match", seen);
	assert_int_equal(append_with_key(f, "k", "x"), 201);
	with(f, "If-Match", seen);
	assert_int_equal(append_with_key(f, "other", "x"), 412);
	expect(f, 200, "GET", D "/entries", NULL);
	assert_int_equal(number_at(f, "count"), 5);
}

/* ---- several at once ---- */

enum { CLIENTS = 6 };

typedef struct client {
	pthread_t thread;
	fixture f; /* with the whole pool */
	const char *etag, *key;
	unsigned status;
	char body[400];
} client;

static void *
append_once(void *ctx)
{
	client *c = ctx;

	if (c->etag != NULL)
		with(&c->f, "If-Match", c->etag);
	with(&c->f, "Idempotency-Key", c->key);
	c->status = ask(&c->f, "POST", D "/entries", "{\"content\":\"x\"}");
	snprintf(c->body, sizeof(c->body), "%.*s", RT_STR_ARG(rt_buf_str(&c->f.answer.body)));
	forget(&c->f);
	return NULL;
}

static void
all_at_once(fixture *f, client clients[CLIENTS])
{
	size_t i;

	for (i = 0; i < CLIENTS; i++) {
		clients[i].f.pool = f->pool;
		clients[i].f.open_project = f->open_project;
		clients[i].f.alloc = rt_alloc_libc();
		assert_int_equal(pthread_create(&clients[i].thread, NULL, append_once, &clients[i]),
				 0);
	}
	for (i = 0; i < CLIENTS; i++)
		pthread_join(clients[i].thread, NULL);
}

/* The same request from all threads at once is executed once, and all get the same answer. */
static void
test_same_key_at_once(void **state)
{
	client clients[CLIENTS];
	fixture *f = *state;
	size_t i;

	memset(clients, 0, sizeof(clients));
	for (i = 0; i < CLIENTS; i++)
		clients[i].key = "k";
	all_at_once(f, clients);
	for (i = 0; i < CLIENTS; i++) {
		assert_int_equal(clients[i].status, 201);
		assert_string_equal(clients[i].body, clients[0].body);
	}
	assert_int_equal(head_seq(f), 1);
}

/* If several clients have read the same state and change it, one succeeds. */
static void
test_same_tag_at_once(void **state)
{
	static const char *const keys[CLIENTS] = {"a", "b", "c", "d", "e", "f"};
	char etag[RT_ETAG_ROOM];
	client clients[CLIENTS];
	fixture *f = *state;
	size_t i, done = 0;

	expect(f, 200, "GET", D, NULL);
	memcpy(etag, f->etag, sizeof(etag));
	memset(clients, 0, sizeof(clients));
	for (i = 0; i < CLIENTS; i++) {
		clients[i].key = keys[i];
		clients[i].etag = etag;
	}
	all_at_once(f, clients);
	for (i = 0; i < CLIENTS; i++) {
		assert_true(clients[i].status == 201 || clients[i].status == 412);
		done += clients[i].status == 201;
	}
	assert_int_equal(done, 1);
	assert_int_equal(head_seq(f), 1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_patch),
		TEST(test_patch_as_take),
		TEST(test_batch),
		TEST(test_if_match),
		TEST(test_models_exist),
		TEST(test_tag_after_undo),
		TEST(test_retry),
		TEST(test_keys),
		TEST(test_retry_with_condition),
		TEST(test_same_key_at_once),
		TEST(test_same_tag_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
