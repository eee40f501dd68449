/* SPDX-License-Identifier: MIT
 *
 * Rights on a server with accounts: every operation and route has one, docs/accounts.md lists them, and
 * examples. access_random_test.c compares random requests with a model. */
#include "server/access_testing.h"

/* ---- tables ---- */

/* A new operation or route without a right is never allowed; this finds it. */
static void
every_row_has_a_right(void **state)
{
	(void)state;
	for (size_t i = 0; i < RT_OP_COUNT; i++)
		if (rt_ops[i].right < RT_RIGHT_COMMENT || rt_ops[i].right > RT_RIGHT_MANAGE)
			fail_msg("%s has no right in core/op.def", rt_ops[i].name);
	for (const rt_route *const *table = rt_all_routes; *table != NULL; table++)
		for (const rt_route *route = *table; route->path != NULL; route++) {
			bool is_of_project = (route->flags & RT_ROUTE_NO_PROJECT) == 0;

			if (route->right == RT_RIGHT_NONE)
				fail_msg("%s has no right", route->name);
			if ((rt_right_role(route->right) != RT_ROLE_NONE) != is_of_project)
				fail_msg("%s: the right does not fit a route %s a project", route->name,
					 is_of_project ? "of" : "without");
			if ((route->flags & RT_ROUTE_CHANGES) != 0 && route->right == RT_RIGHT_READ)
				fail_msg("%s changes something with the right to read", route->name);
		}
	for (int kind = RT_ACCOUNT_NOBODY; kind <= RT_ACCOUNT_LINK; kind++)
		assert_int_equal(rt_authorize(NULL, &(rt_account){.kind = (rt_account_kind)kind}, RT_RIGHT_NONE,
					      (rt_target){1, 1}, 0),
				 RT_VERDICT_FORBIDDEN);
}

/* docs/accounts.md lists each operation in the row of its right. */
static void
documents_are_right(void **state)
{
	static char text[65536];
	FILE *file = fopen("docs/accounts.md", "r");
	size_t size;

	(void)state;
	assert_non_null(file);
	size = fread(text, 1, sizeof(text) - 1, file);
	(void)fclose(file);
	for (size_t i = 0; i < RT_OP_COUNT; i++) {
		char row[64], name[64];
		size_t begin, end;

		(void)snprintf(row, sizeof(row), "\n| %s |", rt_right_names[rt_ops[i].right]);
		(void)snprintf(name, sizeof(name), "`%s`", rt_ops[i].name);
		begin = rt_str_find(rt_str_at(text, size), rt_str_of(row), 0);
		assert_true(begin != SIZE_MAX);
		end = rt_str_find(rt_str_at(text, size), RT_STR("\n"), begin + 1);
		if (rt_str_find(rt_str_at(text + begin, end - begin), rt_str_of(name), 0) == SIZE_MAX)
			fail_msg("%s is not in the row%s of docs/accounts.md", rt_ops[i].name, row);
	}
	for (int right = RT_RIGHT_READ; right <= RT_RIGHT_MANAGE; right++) {
		char row[96];

		(void)snprintf(row, sizeof(row), "\n| %s | %s | %s |", rt_right_names[right],
			       rt_role_names[rt_right_role((rt_right)right)],
			       rt_token_scope_names[rt_right_scope((rt_right)right)]);
		if (rt_str_find(rt_str_at(text, size), rt_str_of(row), 0) == SIZE_MAX)
			fail_msg("docs/accounts.md has no row %s", row);
	}
}

/* ---- examples ---- */

static void
as(world *w, const char *secret)
{
	assert_true(rt_access_identify(w->f->directory, rt_str_of(secret), &w->f->account));
}

/* The history names the user, and no client can claim to be another one. */
static void
author_is_the_user(void **state)
{
	world *w = *state;
	char secret[RT_SECRET_ROOM];

	add(w, "ann", RT_ROLE_EDITOR, secret);
	as(w, secret);
	with(w->f, "Retake-By", "bob");
	expect(w->f, 201, "POST", D "/entries", "{\"content\":\"mine\"}");
	expect(w->f, 200, "GET", D "/history?limit=1", NULL);
	assert_true(rt_str_is(rt_json_str(rt_json_get(yyjson_arr_get(rt_json_get(w->f->root, "steps"), 0), "by")),
			      "ann:bob"));
}

/* Two users do not share answers that are stored for retries. */
static void
keys_are_of_a_user(void **state)
{
	world *w = *state;
	char ann[RT_SECRET_ROOM], bob[RT_SECRET_ROOM];

	add(w, "ann", RT_ROLE_EDITOR, ann);
	add(w, "bob", RT_ROLE_EDITOR, bob);
	for (int i = 0; i < 2; i++) {
		as(w, i == 0 ? ann : bob);
		with(w->f, "Idempotency-Key", "k1");
		expect(w->f, 201, "POST", D "/entries", "{\"content\":\"same\"}");
		assert_true(header_of(w->f, "Idempotency-Replayed").size == 0);
	}
}

/* A user creates projects below its name, and owns them. */
static void
users_own_their_projects(void **state)
{
	world *w = *state;
	char ann[RT_SECRET_ROOM], bob[RT_SECRET_ROOM];

	add(w, "ann", RT_ROLE_NONE, ann);
	add(w, "bob", RT_ROLE_NONE, bob);
	as(w, ann);
	expect(w->f, 400, "POST", V1 "/projects", "{\"name\":\"p1\"}"); /* not 409: it cannot be seen */
	expect(w->f, 400, "POST", V1 "/projects", "{\"name\":\"bob/x\"}");
	expect(w->f, 400, "POST", V1 "/projects", "{\"name\":\"ann/\"}");
	expect(w->f, 201, "POST", V1 "/projects", "{\"name\":\"ann/notes\"}");
	w->f->project = "ann/notes";
	expect(w->f, 200, "POST", V1 "/purge", "{\"text\":\"nothing\"}");
	as(w, bob);
	expect(w->f, 404, "GET", V1 "/discussions", NULL);
}

/* The events of the link: rows without contents, and none about the other discussion. */
static void
only_its_rows(world *w, const char *link, const char *owner)
{
	static const char *const targets[] = {V1 "/discussions/d1/entries", V1 "/discussions/d2/entries"};
	char room[8192];
	rt_web_stream *stream;
	bool has_ended = false;
	size_t size;

	as(w, link);
	expect(w->f, 200, "GET", V1 "/events", NULL);
	stream = w->f->answer.stream;
	w->f->answer.stream = NULL;
	(void)stream->ops->read(stream, room, sizeof(room), &has_ended);
	as(w, owner);
	for (size_t i = 0; i < 2; i++) {
		expect(w->f, 201, "POST", targets[i], "{\"content\":\"secret words\"}");
		size = stream->ops->read(stream, room, sizeof(room), &has_ended);
		rt_str got = rt_str_at(room, size);
		assert_int_equal(rt_str_find(got, RT_STR("event: op"), 0) != SIZE_MAX, i == 1);
		assert_true(rt_str_find(got, RT_STR("splices"), 0) == SIZE_MAX);
		assert_true(rt_str_find(got, RT_STR("ann"), 0) == SIZE_MAX);
	}
	stream->ops->close(stream);
}

/* A discussion that is named like the id of another is not read with the link of that one. */
static void
link_of_a_discussion(void **state)
{
	world *w = *state;
	char ann[RT_SECRET_ROOM], link[RT_SECRET_ROOM];
	rt_scope s;

	add(w, "ann", RT_ROLE_OWNER, ann);
	as(w, ann);
	expect(w->f, 201, "POST", V1 "/discussions", "{\"name\":\"second\"}");
	rt_accounts a = begin(w, &s);
	(void)rt_accounts_link_new(&a, w->m->project_id[1], 2, 0, link);
	end(&s);
	as(w, link);
	expect(w->f, 200, "GET", V1 "/discussions/d2/entries", NULL);
	expect(w->f, 404, "GET", V1 "/discussions/d1/entries", NULL);
	expect(w->f, 404, "GET", V1 "/discussions/second/entries", NULL);
	expect(w->f, 404, "GET", V1 "/discussions/d2/entries?at_op=1", NULL);
	expect(w->f, 404, "GET", V1 "/discussions/d2/export", NULL);
	expect(w->f, 404, "GET", V1 "/search?q=one", NULL);
	expect(w->f, 404, "GET", V1 "/discussions/d2/events", NULL);
	expect(w->f, 200, "GET", V1 "/discussions?at_op=0&all", NULL);
	assert_int_equal(yyjson_arr_size(w->f->root), 1);
	assert_true(rt_str_is(rt_json_str(rt_json_get(yyjson_arr_get(w->f->root, 0), "id")), "d2"));
	only_its_rows(w, link, ann);
	as(w, ann);
	expect(w->f, 200, "PATCH", V1 "/discussions/d1", "{\"name\":\"d2\"}");
	as(w, link);
	expect(w->f, 404, "GET", V1 "/discussions/d2/entries", NULL);
}

/* Events end when the membership ends. */
static void
events_end(void **state)
{
	world *w = *state;
	char ann[RT_SECRET_ROOM], room[4096];
	bool has_ended = false;
	rt_scope s;

	add(w, "ann", RT_ROLE_READER, ann);
	as(w, ann);
	expect(w->f, 200, "GET", V1 "/events", NULL);
	assert_true(w->f->answer.stream->ops->read(w->f->answer.stream, room, sizeof(room), &has_ended) > 0);
	assert_false(has_ended);
	rt_accounts a = begin(w, &s);
	rt_accounts_member_set(&a, w->m->project_id[1], RT_STR("p1"), RT_STR("ann"), RT_ROLE_NONE);
	end(&s);
	assert_int_equal(w->f->answer.stream->ops->read(w->f->answer.stream, room, sizeof(room), &has_ended), 0);
	assert_true(has_ended);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_row_has_a_right), cmocka_unit_test(documents_are_right), WORLD(author_is_the_user),
		WORLD(keys_are_of_a_user),		 WORLD(users_own_their_projects),
		WORLD(link_of_a_discussion),		 WORLD(events_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
