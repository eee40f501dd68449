/* SPDX-License-Identifier: MIT
 *
 * A server with accounts for tests: a world of users, teams, projects, tokens and links that changes at
 * random, and a plain model of their rights, which was written from docs/accounts.md. */
#ifndef RT_SERVER_ACCESS_TESTING_H
#define RT_SERVER_ACCESS_TESTING_H

#include "server/api_testing.h"

#include "accounts/accounts.h"

/* ---- the model: arrays, and a function that was written from docs/accounts.md ---- */

enum {
	USERS = 50,
	TEAMS = 8,
	PROJECTS = 12,
	TOKENS = 160,
	LINKS = 24,
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

static inline int
model_role(const model *m, int project, int user)
{
	int best = m->role[project][user];

	for (int team = 0; team < TEAMS; team++)
		if (m->is_in[team][user] && m->team_role[project][team] > best)
			best = m->team_role[project][team];
	return best;
}

/* What the answer to a request must be: 401, 403, 404, or 200 for "allowed". */
static inline unsigned
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

static inline unsigned
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

static inline bool
model_token_works(const model *m, const model_token *token)
{
	return token->is_there && m->is_user[token->user] && !m->is_disabled[token->user] &&
	       (token->until_us == 0 || clock_us < token->until_us);
}

/* ---- the world ---- */

typedef struct world {
	fixture *f;
	model *m;
	uint64_t random;
	size_t asked[1000], changes; /* by status */
} world;

static inline uint64_t
below(world *w, uint64_t count)
{
	return next_random(&w->random) % count;
}

static inline rt_str
name_of(char *room, const char *what, int number)
{
	(void)snprintf(room, 24, "%s%d", what, number);
	return rt_str_of(room);
}

static inline rt_str
project_name(char *room, int project)
{
	return project == 0 ? RT_STR("work") : name_of(room, "p", project);
}

static inline rt_accounts
begin(world *w, rt_scope *s)
{
	rt_scope_init(s, rt_alloc_libc());
	return (rt_accounts){.directory = w->f->directory, .scope = s, .env = &w->f->env, .by = RT_STR("machine"), .from = RT_STR("test")};
}

static inline void
end(rt_scope *s)
{
	rt_error err;

	if (rt_scope_end(s, &err) != RT_OK)
		fail_msg("%s", err.text);
}

static inline void
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

static inline void
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

static inline void
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

static inline void
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

static inline void
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

static inline void
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

static inline void
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

static inline int
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

static inline int
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

static char told[24];

/* A user with a role in p1 and a token. */
static inline void
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

#define WORLD(name) cmocka_unit_test_setup_teardown(name, set_up_world, tear_down_world)

#endif
