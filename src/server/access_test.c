/* SPDX-License-Identifier: MIT
 *
 * Who may do what on a server with accounts: examples, and random requests by random accounts compared
 * with a plain table of rights. RETAKE_TEST_SECONDS: for that long instead of 20,000 requests;
 * RETAKE_TEST_REQUESTS: that many. RETAKE_TEST_STORE: these in a new store at that address;
 * RETAKE_TEST_ROWS: its row-level security instead, without the decision of the server;
 * RETAKE_TEST_COMMITS: commits that several users share. */
#include "server/api_testing.h"

#include <time.h>

#include "accounts/accounts.h"
#include "log/identity.h"

/* ---- the model: arrays, and a function that was written from docs/accounts.md ---- */

enum {
	USERS = 50,
	TEAMS = 8,
	PROJECTS = 12,
	TOKENS = 160,
	LINKS = 24,
	REQUESTS = 20000,
	NO_PROJECT = -1,
	OTHER_PROJECT = PROJECTS /* does not exist */
};

/* Levels of the model: not those of the implementation. */
enum { ANY, READ, COMMENT, EDIT, MANAGE, SERVER, SELF, CREATE };

typedef struct model_token {
	bool is_there;
	int user, scope; /* 1 read, 2 write, 3 admin */
	bool is_limited, may[PROJECTS];
	int64_t until_us; /* 0: none */
	uint64_t id;
	char secret[RT_SECRET_ROOM];
} model_token;

typedef struct model_link {
	bool is_there, is_one_discussion;
	int project;
	int64_t until_us;
	uint64_t id;
	char secret[RT_SECRET_ROOM];
} model_link;

typedef struct model {
	bool is_user[USERS], is_admin[USERS], is_disabled[USERS], is_in[TEAMS][USERS];
	uint64_t user_id[USERS];
	int role[PROJECTS][USERS], team_role[PROJECTS][TEAMS]; /* 0 none, 1 reader … 4 owner */
	uint64_t project_id[PROJECTS];
	model_token tokens[TOKENS];
	model_link links[LINKS];
} model;

static int
model_role(const model *m, int project, int user)
{
	int best = m->role[project][user];

	for (int team = 0; team < TEAMS; team++)
		if (m->is_in[team][user] && m->team_role[project][team] > best)
			best = m->team_role[project][team];
	return best;
}

/* What the answer to a request must be: 401, 403, 404, or 200 for "allowed". */
static unsigned
model_of_user(const model *m, int user, int scope, const model_token *token, int need, int project)
{
	bool is_boss = m->is_admin[user] && scope == 3;

	if (need == ANY)
		return 200;
	if (need == SERVER || need == SELF || need == CREATE) {
		if (token != NULL && token->is_limited)
			return 403;
		if (need == SERVER)
			return is_boss ? 200 : 403;
		return need == SELF ? (scope == 3 ? 200 : 403) : (scope >= 2 ? 200 : 403);
	}
	if (project == OTHER_PROJECT)
		return 404;
	if (token != NULL && token->is_limited && !token->may[project])
		return 404;
	if (is_boss)
		return 200;
	int role = model_role(m, project, user);
	if (role == 0)
		return 404;
	if (need == READ)
		return 200;
	if (need == COMMENT)
		return role >= 2 && scope >= 2 ? 200 : 403;
	if (need == EDIT)
		return role >= 3 && scope >= 2 ? 200 : 403;
	return role == 4 && scope == 3 ? 200 : 403;
}

static unsigned
model_of_link(const model_link *link, int need, int project, bool is_one_discussion)
{
	if (!link->is_there || (link->until_us != 0 && clock_us >= link->until_us))
		return 401;
	if (need == ANY)
		return 200;
	if (need == SERVER || need == SELF || need == CREATE)
		return 403;
	if (project != link->project)
		return 404;
	if (need != READ)
		return 403;
	return link->is_one_discussion && !is_one_discussion ? 404 : 200;
}

static bool
model_token_works(const model *m, const model_token *token)
{
	return token->is_there && m->is_user[token->user] && !m->is_disabled[token->user] &&
	       (token->until_us == 0 || clock_us < token->until_us);
}

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
	{"GET", V1 "/teams", NULL, SERVER, false},
	{"GET", V1 "/tokens", NULL, SELF, false},
};

enum { QUESTIONS = sizeof(questions) / sizeof(questions[0]) };

/* ---- the world ---- */

typedef struct world {
	fixture *f;
	model *m;
	uint64_t random;
	size_t asked[1000], changes; /* by status */
} world;

static uint64_t
below(world *w, uint64_t count)
{
	return next_random(&w->random) % count;
}

static rt_str
name_of(char *room, const char *what, int number)
{
	(void)snprintf(room, 24, "%s%d", what, number);
	return rt_str_of(room);
}

static rt_str
project_name(char *room, int project)
{
	return project == 0 ? RT_STR("work") : name_of(room, "p", project);
}

static rt_accounts
begin(world *w, rt_scope *s)
{
	rt_scope_init(s, rt_alloc_libc());
	return (rt_accounts){.directory = w->f->directory, .scope = s, .env = &w->f->env, .by = RT_STR("machine"), .from = RT_STR("test")};
}

static void
end(rt_scope *s)
{
	rt_error err;

	if (rt_scope_end(s, &err) != RT_OK)
		fail_msg("%s", err.text);
}

static void
make_user(world *w, int user)
{
	char room[24];
	rt_scope s;
	rt_accounts a = begin(w, &s);

	w->m->is_admin[user] = below(w, 20) == 0;
	w->m->is_disabled[user] = false;
	w->m->is_user[user] = true;
	w->m->user_id[user] = rt_accounts_user_new(&a, name_of(room, "user", user), w->m->is_admin[user], RT_STR(""));
	end(&s);
}

static void
remove_user(world *w, int user)
{
	model *m = w->m;
	char room[24];
	rt_scope s;
	rt_accounts a = begin(w, &s);

	(void)rt_accounts_user_remove(&a, name_of(room, "user", user));
	end(&s);
	m->is_user[user] = false;
	for (int i = 0; i < PROJECTS; i++)
		m->role[i][user] = 0;
	for (int team = 0; team < TEAMS; team++) {
		bool is_empty = true;

		m->is_in[team][user] = false;
		for (int i = 0; i < USERS; i++)
			is_empty = is_empty && !m->is_in[team][i];
		for (int i = 0; is_empty && i < PROJECTS; i++)
			m->team_role[i][team] = 0;
	}
	for (int i = 0; i < TOKENS; i++)
		m->tokens[i].is_there = m->tokens[i].is_there && m->tokens[i].user != user;
}

static void
change_team(world *w, int team, int user)
{
	model *m = w->m;
	char room[24], other[24];
	bool is_empty = true;
	rt_scope s;
	rt_accounts a = begin(w, &s);

	m->is_in[team][user] = !m->is_in[team][user];
	rt_accounts_team_set(&a, name_of(room, "team", team), name_of(other, "user", user), m->is_in[team][user]);
	end(&s);
	for (int i = 0; i < USERS; i++)
		is_empty = is_empty && !m->is_in[team][i];
	for (int i = 0; is_empty && i < PROJECTS; i++)
		m->team_role[i][team] = 0;
}

static void
change_member(world *w, int project, int user)
{
	model *m = w->m;
	int role = (int)below(w, 6), team = (int)below(w, TEAMS);
	bool is_team = below(w, 3) == 0, has_team = false;
	int *at = is_team ? &m->team_role[project][team] : &m->role[project][user];
	char room[24], other[24];
	rt_scope s;

	role = role > 4 ? 0 : role;
	for (int i = 0; i < USERS; i++)
		has_team = has_team || m->is_in[team][i];
	if ((is_team ? !has_team : !m->is_user[user]) || (role == 0 && *at == 0))
		return;
	*at = role;
	rt_accounts a = begin(w, &s);
	rt_accounts_member_set(&a, m->project_id[project], project_name(other, project),
			       is_team ? name_of(room, "@team", team) : name_of(room, "user", user), (rt_role)role);
	end(&s);
}

static void
change_token(world *w, int at, int user)
{
	model_token *token = &w->m->tokens[at];
	uint64_t projects[PROJECTS];
	char room[24];
	rt_scope s;

	if (token->is_there && below(w, 3) != 0)
		return; /* most tokens work */
	rt_accounts a = begin(w, &s);
	if (token->is_there) {
		rt_accounts_token_revoke(&a, token->id, 0);
		token->is_there = false; /* its secret is still used */
		end(&s);
		return;
	}
	*token = (model_token){.is_there = true,
			       .user = user,
			       .scope = 1 + (int)below(w, 3),
			       .is_limited = below(w, 3) == 0,
			       .until_us = below(w, 6) == 0 ? clock_us + 1000000 * (int64_t)below(w, 100) : 0};
	rt_token_options options = {.user = name_of(room, "user", user),
				    .scope = (rt_token_scope)token->scope,
				    .until_us = token->until_us,
				    .projects = projects};
	for (int i = 0; token->is_limited && i < PROJECTS; i++)
		token->may[i] = below(w, 3) == 0;
	for (int i = 0; i < PROJECTS; i++)
		if (token->may[i])
			projects[options.project_count++] = w->m->project_id[i];
	token->is_limited = options.project_count > 0;
	token->id = rt_accounts_token_new(&a, &options, token->secret);
	end(&s);
}

static void
change_link(world *w, int at)
{
	model_link *link = &w->m->links[at];
	rt_scope s;
	rt_accounts a = begin(w, &s);

	if (link->is_there) {
		rt_accounts_link_revoke(&a, link->id, 0);
		link->is_there = false;
		end(&s);
		return;
	}
	*link = (model_link){.is_there = true,
			     .is_one_discussion = below(w, 2) == 0,
			     .project = (int)below(w, PROJECTS),
			     .until_us = below(w, 3) == 0 ? clock_us + 1000000 * (int64_t)below(w, 100) : 0};
	link->id = rt_accounts_link_new(&a, w->m->project_id[link->project], link->is_one_discussion, link->until_us,
					link->secret);
	end(&s);
}

static void
change_something(world *w)
{
	model *m = w->m;
	int user = (int)below(w, USERS), what = (int)below(w, 12);
	char room[24];
	rt_scope s;

	w->changes++;
	if (what < 4) {
		change_member(w, (int)below(w, PROJECTS), user);
	} else if (what == 4 && m->is_user[user]) {
		change_team(w, (int)below(w, TEAMS), user);
	} else if (what == 5 && below(w, 8) == 0) {
		if (m->is_user[user])
			remove_user(w, user);
	} else if (what == 6) {
		if (!m->is_user[user])
			make_user(w, user);
	} else if (what == 7 && m->is_user[user] && below(w, 3) == 0) {
		m->is_disabled[user] = below(w, 6) == 0;
		m->is_admin[user] = below(w, 10) == 0;
		rt_accounts a = begin(w, &s);
		rt_accounts_user_change(&a, name_of(room, "user", user), m->is_admin[user], m->is_disabled[user]);
		end(&s);
	} else if (what == 8) {
		change_link(w, (int)below(w, LINKS));
	} else if (what == 9) {
		clock_us += 1000000 * (int64_t)below(w, 20);
	} else if (m->is_user[user]) {
		change_token(w, (int)below(w, TOKENS), user);
	}
}

static int
set_up_world(void **state)
{
	world *w = test_calloc(1, sizeof(*w));
	rt_error err;

	assert_int_equal(set_up((void **)&w->f), 0);
	w->m = test_calloc(1, sizeof(*w->m));
	w->random = 99;
	for (int i = 0; i < PROJECTS; i++) {
		rt_open_project *project;
		char room[24];

		if (rt_project_pool_project(w->f->pool, project_name(room, i), true, &project, &err) != RT_OK)
			fail_msg("%s", err.text);
		w->m->project_id[i] = rt_engine_project_number(project->engine);
	}
	if (rt_directory_open(rt_alloc_libc(), &w->f->env, w->f->store, &w->f->directory, &err) != RT_OK)
		fail_msg("%s", err.text);
	for (int i = 0; i < PROJECTS; i++) {
		char room[24];

		w->f->account = (rt_account){.kind = RT_ACCOUNT_MACHINE};
		w->f->project = project_name(room, i).ptr;
		tell(w->f);
	}
	*state = w;
	return 0;
}

static int
tear_down_world(void **state)
{
	world *w = *state;
	void *f = w->f;

	rt_directory_close(w->f->directory);
	w->f->directory = NULL;
	assert_int_equal(tear_down(&f), 0);
	test_free(w->m);
	test_free(w);
	return 0;
}

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

static char told[24];

/* A user with a role in p1 and a token. */
static void
add(world *w, const char *name, rt_role role, char secret[RT_SECRET_ROOM])
{
	rt_scope s;
	rt_accounts a = begin(w, &s);

	(void)rt_accounts_user_new(&a, rt_str_of(name), false, RT_STR(""));
	if (role != RT_ROLE_NONE)
		rt_accounts_member_set(&a, w->m->project_id[1], RT_STR("p1"), rt_str_of(name), role);
	(void)rt_accounts_token_new(&a, &(rt_token_options){.user = rt_str_of(name), .scope = RT_TOKEN_ADMIN}, secret);
	end(&s);
	w->f->project = project_name(told, 1).ptr;
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

/* Users whose changes share a commit: the database refuses some of them, and the others succeed. */
static void
users_share_commits(void **state)
{
	world *w = *state;
	pthread_t threads[WRITERS];
	writer writers[WRITERS];
	rt_open_project *project;
	char ann[RT_SECRET_ROOM], bob[RT_SECRET_ROOM];
	rt_error err;

	add(w, "ann", RT_ROLE_EDITOR, ann);
	add(w, "bob", RT_ROLE_READER, bob);
	const rt_roster *roster = rt_directory_roster(w->f->directory);
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
}

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

#define WORLD(name) cmocka_unit_test_setup_teardown(name, set_up_world, tear_down_world)

int
main(void)
{
	const char *address = getenv("RETAKE_TEST_STORE");
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_row_has_a_right), cmocka_unit_test(documents_are_right), WORLD(author_is_the_user),
		WORLD(keys_are_of_a_user),		 WORLD(users_own_their_projects),
		WORLD(link_of_a_discussion),		 WORLD(events_end),
		WORLD(random_requests),
	};

	/* Those that a store which is not empty does not disturb. */
	const struct CMUnitTest of_store[] = {WORLD(random_requests)}, of_rows[] = {WORLD(random_rows)},
				of_commits[] = {WORLD(users_share_commits)};

	if (address != NULL && getenv("RETAKE_TEST_COMMITS") != NULL)
		return cmocka_run_group_tests(of_commits, NULL, NULL);
	if (address != NULL && getenv("RETAKE_TEST_ROWS") != NULL)
		return cmocka_run_group_tests(of_rows, NULL, NULL);
	if (address != NULL)
		return cmocka_run_group_tests(of_store, NULL, NULL);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
