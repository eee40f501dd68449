/* SPDX-License-Identifier: MIT
 *
 * Random requests by random accounts, compared with a plain table of rights. RETAKE_TEST_SECONDS: for that
 * long instead of 20,000 requests; RETAKE_TEST_REQUESTS: that many. RETAKE_TEST_STORE: these in a new store
 * at that address; RETAKE_TEST_ROWS: its row-level security instead, without the decision of the server;
 * RETAKE_TEST_COMMITS: commits that several users share. */
#include "server/access_testing.h"

#include <time.h>

#include "log/identity.h"

enum { REQUESTS = 20000 };

/* ---- requests ---- */

typedef struct question {
	const char *method, *target, *body;
	int need;
	bool is_one_discussion; /* about discussion d1 only */
} question;

static const question questions[] = {
	{"GET", V1 "/health", NULL, ANY, false},
	{"GET", V1 "/openapi.json", NULL, ANY, false},
	{"GET", V1 "/discussions", NULL, READ, true},
	{"GET", V1 "/info", NULL, READ, true},
	{"GET", V1 "/events", NULL, READ, true},
	{"GET", D, NULL, READ, true},
	{"GET", D "/entries", NULL, READ, true},
	{"GET", D "/tree", NULL, READ, true},
	{"GET", D "/takes", NULL, READ, true},
	{"GET", D "/forks", NULL, READ, true},
	{"GET", D "/labels", NULL, READ, true},
	{"GET", V1 "/discussions/main/entries", NULL, READ, false},
	{"GET", D "/settings", NULL, READ, false},
	{"GET", D "/prompt", NULL, READ, false},
	{"GET", D "/history", NULL, READ, false},
	{"GET", D "/export", NULL, READ, false},
	{"GET", V1 "/export", NULL, READ, false},
	{"GET", V1 "/history", NULL, READ, false},
	{"GET", V1 "/search?q=one", NULL, READ, false},
	{"GET", V1 "/runs", NULL, READ, false},
	{"GET", V1 "/roles", NULL, READ, false},
	{"GET", "/api/session", NULL, READ, false},
	{"GET", "/api/state", NULL, READ, false},
	{"GET", "/status", NULL, READ, false},
	{"GET", V1 "/settings", NULL, READ, false},
	{"POST", D "/advice", "{\"ops\":[{\"op\":\"entry.delete\",\"entry\":\":1\"}]}", READ, false},
	{"POST", D "/entries", "{\"content\":\"a comment\"}", COMMENT, false},
	{"POST", V1 "/ops/entry.append?discussion=d1", "{\"content\":\"by name\"}", COMMENT, false},
	{"PUT", D "/labels/seen", "{\"entry\":\":1\"}", COMMENT, false},
	{"POST", D "/batch", "{\"ops\":[{\"op\":\"entry.append\",\"content\":\"x\"},"
			     "{\"op\":\"label.set\",\"entry\":\":1\",\"label\":\"b\"}]}", COMMENT, false},
	{"POST", V1 "/attachments?name=a.txt", "bytes", COMMENT, false},
	{"POST", D "/entries", "{\"content\":\"x\",\"prompt\":\"another\"}", EDIT, false},
	{"POST", D "/entries", "{\"content\":\"x\",\"kind\":\"branch_summary\"}", EDIT, false},
	{"PUT", D "/entries/:1/content", "{\"content\":\"changed\"}", EDIT, false},
	{"PATCH", D "/entries/:1", "{\"content\":\"patched\"}", EDIT, false},
	{"POST", D "/batch", "{\"ops\":[{\"op\":\"entry.append\",\"content\":\"x\"},"
			     "{\"op\":\"entry.edit\",\"entry\":\":1\",\"content\":\"y\"}]}", EDIT, false},
	{"POST", V1 "/batch", "{\"atomic\":false,\"ops\":[{\"op\":\"entry.append\",\"content\":\"x\"},"
			      "{\"op\":\"entry.mute\",\"entry\":\":1\"}]}", EDIT, false},
	{"POST", V1 "/ops/entry.role?discussion=d1", "{\"entry\":\":1\",\"role\":\"AI\"}", EDIT, false},
	{"PUT", V1 "/settings/temperature", "{\"value\":0.5}", EDIT, false},
	{"DELETE", V1 "/settings/temperature", NULL, EDIT, false},
	{"PUT", D "/prompt", "{\"text\":\"be kind\"}", EDIT, false},
	{"PUT", D "/head", "{\"entry\":\":1\"}", EDIT, false},
	{"PUT", "/api/state/temperature", "{\"value\":0.25}", EDIT, false},
	{"POST", "/api/callbacks/save_context_preset", "{\"args\":[\"mine\"]}", EDIT, false},
	{"POST", V1 "/purge", "{\"text\":\"nowhere to be found\"}", MANAGE, false},
	{"POST", V1 "/ops/purge", "{\"text\":\"nowhere to be found\"}", MANAGE, false},
	{"POST", V1 "/codes", "{\"user\":\"nobody-of-this-name\"}", SERVER, false},
	{"POST", V1 "/projects", "{\"name\":\"\"}", CREATE, false},
	{"GET", V1 "/account", NULL, ANY, false},
	{"POST", V1 "/links/open", "{}", ANY, false},
	{"GET", V1 "/members", NULL, MANAGE, false},
	{"GET", V1 "/links", NULL, MANAGE, false},
	{"GET", V1 "/users", NULL, SERVER, false},
	{"DELETE", V1 "/users/nobody-of-this-name", NULL, SERVER, false},
	{"DELETE", V1 "/users/nobody-of-this-name/identities", NULL, SERVER, false},
	{"GET", V1 "/invitations", NULL, SERVER, false},
	{"GET", V1 "/teams", NULL, SERVER, false},
	{"GET", V1 "/tokens", NULL, SELF, false},
};

enum { QUESTIONS = sizeof(questions) / sizeof(questions[0]) };

/* ---- random requests ---- */

/* Chooses an account; its answer according to the model. */
static unsigned
choose_account(world *w, const question *q, int project)
{
	model *m = w->m;
	rt_account *account = &w->f->account;
	int kind = (int)below(w, 10), at;

	*account = (rt_account){.kind = RT_ACCOUNT_NOBODY};
	if (kind < 5) {
		const model_token *token = &m->tokens[at = (int)below(w, TOKENS)];
		bool works = model_token_works(m, token);

		if (token->secret[0] == '\0')
			return 401;
		assert_int_equal(rt_access_identify(w->f->directory, rt_str_of(token->secret), account), works);
		/* The server that knew the token a moment ago has to ask again. */
		account->kind = RT_ACCOUNT_TOKEN;
		return works ? model_of_user(m, token->user, token->scope, token, q->need, project) : 401;
	}
	if (kind < 7) {
		at = (int)below(w, USERS);
		*account = (rt_account){.kind = RT_ACCOUNT_USER, .user = m->user_id[at]};
		return m->is_user[at] && !m->is_disabled[at] ? model_of_user(m, at, 3, NULL, q->need, project) : 401;
	}
	if (kind < 9) {
		const model_link *link = &m->links[at = (int)below(w, LINKS)];

		if (link->secret[0] == '\0')
			return 401;
		(void)rt_access_identify(w->f->directory, rt_str_of(link->secret), account);
		account->kind = RT_ACCOUNT_LINK;
		return model_of_link(link, q->need, project, q->is_one_discussion);
	}
	if (below(w, 2) == 0) { /* forged */
		char secret[RT_SECRET_ROOM];

		rt_secret_make(&w->f->env, RT_ITEM_TOKEN, secret);
		assert_false(rt_access_identify(w->f->directory, rt_str_of(secret), account));
		account->kind = RT_ACCOUNT_TOKEN;
	}
	return 401;
}

static void
check_answer(world *w, const question *q, unsigned expected, unsigned got, rt_str project)
{
	rt_str body = rt_buf_str(&w->f->answer.body);
	bool is_right = expected == 200 ? got != 401 && got != 403 && got < 500 &&
						  (got < 400 || q->need == CREATE || q->need == SERVER || got == 409)
					: got == expected;

	w->asked[expected]++;
	if (!is_right)
		fail_msg("%s %s in %.*s: %u, not %u: %.*s", q->method, q->target, RT_STR_ARG(project), got, expected,
			 RT_STR_ARG(body));
	if (expected == 404 && rt_str_find(body, RT_STR("no project \\\""), 0) == SIZE_MAX)
		fail_msg("%s %s: a project that is not visible is answered otherwise: %.*s", q->method, q->target,
			 RT_STR_ARG(body));
}

/* The list of projects is exactly that of the visible ones. */
static void
check_projects(world *w)
{
	static const question list = {"GET", V1 "/projects", NULL, ANY, false};
	rt_account account;
	size_t visible = 0, listed = 0;
	int user = (int)below(w, USERS);

	account = (rt_account){.kind = RT_ACCOUNT_USER, .user = w->m->user_id[user]};
	w->f->account = account;
	unsigned got = ask(w->f, list.method, list.target, NULL);
	if (!w->m->is_user[user] || w->m->is_disabled[user]) {
		assert_int_equal(got, 401);
		return;
	}
	assert_int_equal(got, 200);
	for (int i = 0; i < PROJECTS; i++) {
		bool expected = w->m->is_admin[user] || model_role(w->m, i, user) > 0, found = false;
		char room[24];

		for (rt_json_iter it = rt_json_items(w->f->root); rt_json_next(&it);)
			found = found ||
				rt_str_eq(rt_json_str(rt_json_get(it.value, "name")), project_name(room, i));
		assert_int_equal(found, expected);
		visible += expected;
	}
	for (rt_json_iter it = rt_json_items(w->f->root); rt_json_next(&it);)
		listed++;
	assert_int_equal(listed, visible);
}

static size_t
number_of(const char *name, size_t absent)
{
	const char *text = getenv(name);

	return text != NULL && *text != '\0' ? (size_t)strtoull(text, NULL, 10) : absent;
}

static void
random_requests(void **state)
{
	world *w = *state;
	size_t seconds = number_of("RETAKE_TEST_SECONDS", 0);
	size_t limit = number_of("RETAKE_TEST_REQUESTS", seconds > 0 ? SIZE_MAX : REQUESTS), i;
	time_t begun = time(NULL);

	for (int user = 0; user < USERS; user++)
		make_user(w, user);
	for (i = 0; i < (getenv("RETAKE_TEST_STORE") != NULL ? 600 : 3000); i++)
		change_something(w);
	for (i = 0; i < limit && (seconds == 0 || (size_t)(time(NULL) - begun) < seconds); i++) {
		const question *q;

		do /* fewer changes: histories would become long */
			q = &questions[below(w, QUESTIONS)];
		while (strcmp(q->method, "GET") != 0 && below(w, 3) == 0);
		int project = (int)below(w, PROJECTS + 1);
		char room[24];
		rt_str name = below(w, 50) == 0 ? RT_STR(RT_DIRECTORY_PROJECT) : project_name(room, project);

		if (name.ptr[0] == '\x01')
			project = OTHER_PROJECT;
		if (below(w, 30) == 0)
			change_something(w);
		unsigned expected = choose_account(w, q, project);
		w->f->project = name.ptr;
		unsigned got = ask(w->f, q->method, q->target, q->body);
		check_answer(w, q, expected, got, name);
		if (below(w, 50) == 0)
			check_projects(w);
	}
	printf("# %zu requests and %zu changes of accounts: %zu allowed, %zu 401, %zu 403, %zu 404\n", i, w->changes,
	       w->asked[200], w->asked[401], w->asked[403], w->asked[404]);
	assert_true(w->asked[200] > i / 20 && w->asked[401] > i / 20 && w->asked[403] > i / 70 && w->asked[404] > i / 20);
}

/* ---- the database alone ---- */

static const question reading = {"", "", NULL, READ, true}, writing = {"", "", NULL, COMMENT, false},
		      purging = {"", "", NULL, MANAGE, false};

/* Neither the real time nor that of the test is after the end of only one of its tokens and links. */
static bool
clocks_agree(int64_t until_us)
{
	int64_t real_us = (int64_t)time(NULL) * 1000000;

	return until_us == 0 || until_us < real_us - 2000000 || until_us > clock_us;
}

static bool
clocks_agree_on(const world *w, const rt_account *account)
{
	char hash[RT_SHA256_HEX_ROOM];
	int64_t until_us = 0;

	for (int i = 0; i < TOKENS; i++)
		if (rt_secret_hash(rt_str_of(w->m->tokens[i].secret), RT_ITEM_TOKEN, hash) &&
		    strcmp(hash, account->hash) == 0)
			until_us = w->m->tokens[i].until_us;
	for (int i = 0; i < LINKS; i++)
		if (rt_secret_hash(rt_str_of(w->m->links[i].secret), RT_ITEM_LINK, hash) &&
		    strcmp(hash, account->hash) == 0)
			until_us = w->m->links[i].until_us;
	return clocks_agree(until_us);
}

static bool
note_row(void *ctx, const rt_store_row *row)
{
	rt_buf *data = ctx;

	rt_buf_clear(data);
	rt_buf_add_str(data, row->data);
	return false;
}

/* Overwrites the first log row with the same bytes. */
static rt_status
purge_row(rt_store *store, uint64_t project, rt_str data, rt_error *err)
{
	rt_status st = store->ops->begin(store, err);

	if (st == RT_OK)
		st = store->ops->write(store, rt_rows_one(RT_STORE_LOG, project, 1), data, err);
	if (st == RT_OK)
		st = store->ops->commit(store, err);
	if (st != RT_OK)
		store->ops->cancel(store);
	return st;
}

/* Without rt_authorize: what the store itself refuses (row-level security of PostgreSQL). */
static void
random_rows(void **state)
{
	world *w = *state;
	size_t limit = number_of("RETAKE_TEST_REQUESTS", 3000), counts[2] = {0, 0}, skipped = 0;
	rt_store *store = w->f->store;
	rt_buf data;
	rt_error err;

	rt_buf_init(&data, rt_alloc_libc(), RT_BUF_UNLIMITED);
	for (int user = 0; user < USERS; user++)
		make_user(w, user);
	for (int i = 0; i < 600; i++)
		change_something(w);
	for (size_t i = 0; i < limit; i++) {
		const question *q = below(w, 8) == 0 ? &purging : below(w, 2) == 0 ? &writing : &reading;
		int project = (int)below(w, PROJECTS);
		uint64_t number = w->m->project_id[project];
		char identity[RT_SHA256_HEX_ROOM + 8], room[24];
		rt_status st = RT_OK;

		if (below(w, 30) == 0)
			change_something(w);
		bool is_allowed = choose_account(w, q, project) == 200;
		if (!clocks_agree_on(w, &w->f->account)) {
			skipped++;
			continue;
		}
		(void)store->ops->read(store, rt_rows_one(RT_STORE_LOG, number, 1), note_row, &data, &err);
		(void)rt_store_set_identity(rt_access_identity(&w->f->account, identity));
		if (q == &purging) {
			st = purge_row(store, number, rt_buf_str(&data), &err);
		} else if (q == &writing) {
			st = store->ops->write(store, rt_rows_named(RT_STORE_SIDE, number, RT_STR("test")),
					       RT_STR("x"), &err);
		} else {
			rt_buf_clear(&data);
			st = store->ops->read(store, rt_rows_one(RT_STORE_LOG, number, 1), note_row, &data, &err);
			st = st == RT_OK && data.size == 0 ? RT_NOT_FOUND : st;
			assert_int_equal(rt_store_get(store, rt_rows_named(RT_STORE_PROJECTS, 0, project_name(room, project)),
						      NULL, NULL, &err) == RT_OK,
					 is_allowed);
		}
		(void)rt_store_set_identity(RT_STORE_ITSELF);
		if (is_allowed ? st != RT_OK : st != RT_REFUSED && st != RT_NOT_FOUND)
			fail_msg("%s of project %d by %s: %s, %s", q == &purging ? "purge" : q == &writing ? "writing" : "reading",
				 project, identity, rt_status_word(st), st != RT_OK ? err.text : "not refused");
		counts[is_allowed]++;
	}
	rt_buf_deinit(&data);
	printf("# %zu accesses and %zu changes of accounts: %zu allowed, %zu refused; %zu were left out\n", limit, w->changes,
	       counts[1], counts[0], skipped);
	assert_true(counts[0] > limit / 4 && counts[1] > limit / 20);
}

enum { WRITERS = 8, APPENDS = 10 };

typedef struct writer {
	rt_engine *engine;
	char identity[24];
	size_t written, refused;
} writer;

static void *
write_many(void *ctx)
{
	writer *o = ctx;

	(void)rt_store_set_identity(rt_str_of(o->identity));
	for (int i = 0; i < APPENDS; i++) {
		char request[120];
		rt_result result = {0};

		(void)snprintf(request, sizeof(request), "{\"op\":\"entry.append\",\"role\":\"User\",\"content\":\"by %s\"}",
			       o->identity);
		rt_status st = rt_engine_apply_text(o->engine, rt_str_of(request), rt_str_at(NULL, 0), rt_str_at(NULL, 0),
						    &result);
		o->written += st == RT_OK;
		o->refused += st == RT_REFUSED;
		rt_result_deinit(&result);
	}
	return NULL;
}

/* Another program writes to the project, so that commits begin with a lock, and users join while they wait for it. */
static rt_store *
open_another(world *w, rt_env *from, rt_engine **engine)
{
	static uint64_t random = 8;
	rt_engine_options options = {.env = from, .project = project_name(told, 1)};
	rt_store *store;
	rt_error err;

	*from = w->f->env;
	from->ctx = &random;
	if (rt_store_open(w->f->alloc, from, getenv("RETAKE_TEST_STORE"), &(rt_store_options){0}, &store, &err) != RT_OK ||
	    rt_engine_open(&options, store, engine, &err) != RT_OK)
		fail_msg("%s", err.text);
	return store;
}

/* Users whose changes share a commit: the database refuses some of them, and the others succeed. */
static void
users_share_commits(void **state)
{
	world *w = *state;
	pthread_t threads[WRITERS], other;
	writer writers[WRITERS], another = {0};
	rt_open_project *project;
	rt_env env_of_other;
	char ann[RT_SECRET_ROOM], bob[RT_SECRET_ROOM];
	rt_error err;

	add(w, "ann", RT_ROLE_EDITOR, ann);
	add(w, "bob", RT_ROLE_READER, bob);
	rt_store *store = open_another(w, &env_of_other, &another.engine);
	const rt_roster *roster = rt_directory_roster(w->f->directory);
	assert_int_equal(pthread_create(&other, NULL, write_many, &another), 0);
	if (rt_project_pool_project(w->f->pool, project_name(told, 1), false, &project, &err) != RT_OK)
		fail_msg("%s", err.text);
	for (int i = 0; i < WRITERS; i++) {
		const rt_item *user = rt_roster_named(roster, RT_ITEM_USER, i % 4 == 3 ? RT_STR("bob") : RT_STR("ann"));

		writers[i] = (writer){.engine = project->engine};
		(void)snprintf(writers[i].identity, sizeof(writers[i].identity), "u%llu", (unsigned long long)user->id);
		assert_int_equal(pthread_create(&threads[i], NULL, write_many, &writers[i]), 0);
	}
	rt_object_unref(roster);
	for (int i = 0; i < WRITERS; i++) {
		(void)pthread_join(threads[i], NULL);
		assert_int_equal(writers[i].written, i % 4 == 3 ? 0 : APPENDS);
		assert_int_equal(writers[i].refused, i % 4 == 3 ? APPENDS : 0);
	}
	(void)pthread_join(other, NULL);
	assert_int_equal(another.written, APPENDS);
	rt_engine_close(another.engine);
	store->ops->close(store);
}

int
main(void)
{
	const char *address = getenv("RETAKE_TEST_STORE");
	const struct CMUnitTest of_requests[] = {WORLD(random_requests)}, of_rows[] = {WORLD(random_rows)},
				of_commits[] = {WORLD(users_share_commits)};

	if (address != NULL && getenv("RETAKE_TEST_COMMITS") != NULL)
		return cmocka_run_group_tests(of_commits, NULL, NULL);
	if (address != NULL && getenv("RETAKE_TEST_ROWS") != NULL)
		return cmocka_run_group_tests(of_rows, NULL, NULL);
	return cmocka_run_group_tests(of_requests, NULL, NULL);
}
