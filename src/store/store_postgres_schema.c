/* SPDX-License-Identifier: MIT
 *
 * The schema of the PostgreSQL store, and creating it. docs/postgresql.md describes every table. */
#include "store/store_postgres_impl.h"

#include "base/words.h"

#include <stdio.h> /* snprintf */
#include <stdlib.h>
#include <string.h>

static const char tables[] =
	"DO $$ BEGIN IF to_regnamespace('retake') IS NULL THEN CREATE SCHEMA retake; END IF; END $$;"
	"CREATE TABLE retake.store(id bigint PRIMARY KEY CHECK (id = 1), format bigint NOT NULL,"
	" min_reader bigint NOT NULL, min_writer bigint NOT NULL, written_by text NOT NULL,"
	" epoch bigint NOT NULL);"
	"CREATE TABLE retake.project(id bigint PRIMARY KEY, hash bigint NOT NULL,"
	" sum bigint NOT NULL, name bytea NOT NULL, seq bigint NOT NULL DEFAULT 0,"
	" body bigint NOT NULL DEFAULT 0, mark bigint NOT NULL DEFAULT 0,"
	" fence bigint NOT NULL DEFAULT 0) WITH (fillfactor = 30);"
	"CREATE INDEX project_hash ON retake.project(hash);"
	"CREATE TABLE retake.log(project bigint, seq bigint, step bytea NOT NULL,"
	" at bigint NOT NULL, sum bigint NOT NULL, data bytea NOT NULL, PRIMARY KEY(project, seq));"
	"CREATE TABLE retake.body(project bigint, number bigint, entry bigint NOT NULL,"
	" sum bigint NOT NULL, data bytea NOT NULL, PRIMARY KEY(project, number));"
	"CREATE TABLE retake.node(project bigint, number bigint, sum bigint NOT NULL,"
	" data bytea NOT NULL, PRIMARY KEY(project, number));"
	"CREATE TABLE retake.root(project bigint PRIMARY KEY, seq bigint NOT NULL,"
	" sum bigint NOT NULL, data bytea NOT NULL);"
	"CREATE TABLE retake.side(project bigint, name bytea, sum bigint NOT NULL,"
	" data bytea NOT NULL, PRIMARY KEY(project, name));"
	"CREATE TABLE retake.found(project bigint, number bigint, part bigint,"
	" entry bigint NOT NULL, words tsvector NOT NULL, PRIMARY KEY(project, number, part));"
	"CREATE INDEX found_words ON retake.found USING gin(words);"
	"CREATE INDEX found_parts ON retake.found(project, number) WHERE part > 0;";

static const char lock_function[] =
	/* Locks a project, or for 0 the list of projects, until the end of the transaction. */
	"CREATE FUNCTION retake.lock(p bigint, wait bigint, bump bigint, OUT seq bigint,"
	" OUT body bigint, OUT mark bigint, OUT fence bigint, OUT epoch bigint)"
	" LANGUAGE plpgsql AS $$ BEGIN"
	" PERFORM set_config('lock_timeout', wait::text, true);"
	" IF p = 0 THEN PERFORM 1 FROM retake.store FOR UPDATE;"
	" ELSIF bump > 0 THEN UPDATE retake.project t SET fence = t.fence + 1 WHERE t.id = p"
	" RETURNING t.seq, t.body, t.mark, t.fence INTO seq, body, mark, fence;"
	" ELSE SELECT t.seq, t.body, t.mark, t.fence INTO seq, body, mark, fence"
	" FROM retake.project t WHERE t.id = p FOR UPDATE; END IF;"
	" SELECT s.epoch INTO epoch FROM retake.store s; END $$;";

/* The kinds of changes in the arrays of retake.write are those of rt_pg_change. It changes nothing
 * and returns false unless the log and the bodies end where the caller expects. */
static const char write_function[] =
	"CREATE OR REPLACE FUNCTION retake.write(p bigint, wait bigint, old_seq bigint, old_body bigint,"
	" old_fence bigint, old_epoch bigint, new_seq bigint, new_body bigint,"
	" kinds bigint[], numbers bigint[], extras bigint[], sums bigint[], names bytea[],"
	" datas bytea[]) RETURNS bigint LANGUAGE plpgsql AS $$ DECLARE c record; BEGIN"
	" PERFORM set_config('lock_timeout', wait::text, true);"
	" IF p > 0 AND old_fence < 0 THEN PERFORM 1 FROM retake.project t WHERE t.id = p FOR UPDATE;"
	" IF NOT FOUND THEN RETURN 0; END IF;"
	" ELSIF p > 0 THEN UPDATE retake.project t SET seq = new_seq, body = new_body WHERE t.id = p"
	" AND t.seq = old_seq AND t.body = old_body AND t.fence = old_fence;"
	" IF NOT FOUND THEN RETURN 0; END IF; END IF;"
	/* After the lock: a purge changes the epoch and not the numbers. */
	" IF old_epoch <> 0 AND old_epoch <> (SELECT epoch FROM retake.store) THEN"
	" RAISE EXCEPTION 'the epoch has changed' USING ERRCODE = 'RT001'; END IF;"
	" FOR c IN SELECT * FROM unnest(kinds, numbers, extras, sums, names, datas)"
	" AS u(kind, n, extra, sum, name, data) LOOP CASE c.kind"
	" WHEN 1 THEN INSERT INTO retake.log VALUES(p, c.n, c.name, c.extra, c.sum, c.data);"
	" WHEN 2 THEN INSERT INTO retake.body VALUES(p, c.n, c.extra, c.sum, c.data);"
	" WHEN 3 THEN INSERT INTO retake.node VALUES(p, c.n, c.sum, c.data) ON CONFLICT"
	" (project, number) DO UPDATE SET sum = excluded.sum, data = excluded.data;"
	" WHEN 4 THEN DELETE FROM retake.node t WHERE t.project = p AND t.number BETWEEN c.n AND"
	" c.extra;"
	" WHEN 5 THEN INSERT INTO retake.root VALUES(p, c.n, c.sum, c.data) ON CONFLICT (project)"
	" DO UPDATE SET seq = excluded.seq, sum = excluded.sum, data = excluded.data;"
	" WHEN 6 THEN DELETE FROM retake.root t WHERE t.project = p;"
	" DELETE FROM retake.node t WHERE t.project = p;"
	" WHEN 7 THEN INSERT INTO retake.side VALUES(p, c.name, c.sum, c.data) ON CONFLICT"
	" (project, name) DO UPDATE SET sum = excluded.sum, data = excluded.data;"
	" WHEN 8 THEN DELETE FROM retake.side t WHERE t.project = p AND t.name = c.name;"
	" IF NOT FOUND AND EXISTS(SELECT FROM retake.side t WHERE t.project = p AND t.name = c.name) THEN"
	" RAISE insufficient_privilege; END IF;"
	" WHEN 9 THEN UPDATE retake.log t SET sum = c.sum, data = c.data WHERE t.project = p AND"
	" t.seq = c.n; IF NOT FOUND THEN RAISE insufficient_privilege; END IF;"
	" WHEN 10 THEN UPDATE retake.body t SET sum = c.sum, data = c.data WHERE t.project = p AND"
	" t.number = c.n; IF NOT FOUND THEN RAISE insufficient_privilege; END IF;"
	/* data: the words of a part of a text, each after a blank; extra: its entry; sum: its part. */
	" WHEN 11 THEN INSERT INTO retake.found VALUES(p, c.n, c.sum, c.extra, array_to_tsvector("
	"string_to_array(substr(convert_from(c.data, 'UTF8'), 2), ' ')));"
	" WHEN 12 THEN UPDATE retake.project t SET mark = c.n WHERE t.id = p AND t.mark < c.n;"
	" WHEN 13 THEN DELETE FROM retake.found t WHERE t.project = p AND t.number BETWEEN c.n AND"
	" c.extra;"
	" WHEN 14 THEN DELETE FROM retake.found; UPDATE retake.project SET mark = 0;"
	" WHEN 15 THEN UPDATE retake.store SET epoch = c.n;"
	" WHEN 16 THEN INSERT INTO retake.project(id, hash, sum, name) VALUES(c.n, c.extra, c.sum,"
	" c.data);"
	" WHEN 17 THEN UPDATE retake.project t SET fence = c.n WHERE t.id = p;"
	" END CASE; END LOOP; RETURN 1; END $$;";

/* --- examining --- */

/* Why row-level security does not apply to the role of a connection; 0: it applies. */
#define BYPASS \
	"CASE WHEN row_security_active('retake.log') THEN 0 WHEN NOT (SELECT relrowsecurity FROM pg_class" \
	" WHERE oid = 'retake.log'::regclass) THEN 1 ELSE (SELECT CASE WHEN rolsuper THEN 2 WHEN rolbypassrls" \
	" THEN 3 ELSE 4 END FROM pg_roles WHERE rolname = current_user) END::bigint"

static const char *const bypasses[] = {
	NULL,
	"the tables have no policies yet: run retake store upgrade",
	"it is a superuser",
	"it has BYPASSRLS",
	"it has the rights of the owner of the tables",
};

typedef enum found_state {
	STATE_NONE, /* there is no schema "retake" */
	STATE_OURS,
	STATE_FOREIGN /* a schema "retake" of another program */
} found_state;

typedef struct schema {
	rt_store_gates gates;
	uint64_t format, index_rules; /* 0: the format has no such column */
} schema;

static found_state
examine(rt_pg_call *call, schema *out)
{
	rt_pg_query q = rt_pg_query_of(
		"SELECT to_regclass('retake.store') IS NOT NULL AND to_regclass('retake.log') IS"
		" NOT NULL, to_regnamespace('retake') IS NOT NULL AND EXISTS(SELECT 1 FROM pg_class"
		" WHERE relnamespace = to_regnamespace('retake'))");
	PGresult *rows = rt_pg_rows(call, &q);
	found_state state = STATE_NONE;

	if (rows != NULL && rt_pg_bool(call, rows, 0, 0))
		state = STATE_OURS;
	else if (rows != NULL && rt_pg_bool(call, rows, 0, 1))
		state = STATE_FOREIGN;
	rt_pg_clear(call, rows);
	if (state != STATE_OURS)
		return state;
	q = rt_pg_query_of("SELECT s.min_reader, s.min_writer, s.written_by, s.format, coalesce((to_jsonb(s)->>"
			   "'index_rules')::bigint, 0), " BYPASS ", pg_backend_pid()::bigint FROM retake.store s");
	rows = rt_pg_rows(call, &q);
	if (rows != NULL && call->store->pq->ntuples(rows) == 1) {
		rt_str by = rt_pg_bytes(call, rows, 0, 2);

		out->gates.reader = rt_pg_u64(call, rows, 0, 0);
		out->gates.writer = rt_pg_u64(call, rows, 0, 1);
		out->format = rt_pg_u64(call, rows, 0, 3);
		out->index_rules = rt_pg_u64(call, rows, 0, 4);
		uint64_t bypass = rt_pg_u64(call, rows, 0, 5);

		call->store->has_policies = bypass == 0;
		if (bypass < sizeof(bypasses) / sizeof(bypasses[0]))
			call->store->base.bypass = bypasses[bypass];
		/* A pooler has its own numbers. */
		if (rt_pg_u64(call, rows, 0, 6) != (uint64_t)call->store->pq->backendPID(call->conn->pg))
			call->store->has_no_names = true;
		(void)snprintf(out->gates.written_by, sizeof(out->gates.written_by), "%.*s",
			       RT_STR_ARG(by));
	} else if (rt_ok(&call->scope)) {
		rt_scope_fail(&call->scope, RT_CORRUPT,
			      "%s is damaged: the row of retake.store is"
			      " missing",
			      call->store->place);
	}
	rt_pg_clear(call, rows);
	return state;
}

/* --- creating and upgrading --- */

/* The changes of each format, all in one transaction. Programs of format 1 can use format 2. */
static void
add_format_1(rt_buf *sql, const rt_pg_store *s)
{
	uint64_t epoch = 0;

	while ((int64_t)epoch == 0)
		s->env.random(s->env.ctx, &epoch, sizeof(epoch));
	rt_buf_add_f(sql, "%s%s%s INSERT INTO retake.store VALUES(1, 1, 1, 1, '%s', %lld);", tables, lock_function,
		     write_function, RT_VERSION, (long long)(int64_t)epoch);
}

static void
add_format_2(rt_buf *sql, bool is_new)
{
	rt_buf_add_f(sql, "ALTER TABLE retake.store ADD COLUMN index_rules bigint NOT NULL DEFAULT %s;",
		     is_new ? RT_WORDS_VERSION : "1");
	if (!is_new) /* a row that may not be changed is an error */
		rt_buf_add_c(sql, write_function);
	rt_pg_add_security(sql);
	rt_buf_add_f(sql, "UPDATE retake.store SET format = 2, written_by = '%s';", RT_VERSION);
}

/* The SQL from a format (0: nothing exists) to RT_PG_FORMAT. */
static rt_str
script_from(rt_pg_call *call, uint64_t format)
{
	rt_buf *sql = rt_scope_buf(&call->scope);

	rt_buf_add_c(sql, "BEGIN;");
	if (format < 1)
		add_format_1(sql, call->store);
	else /* another program may do the same */
		rt_buf_add_f(sql, "SELECT 1 / count(*) FROM (SELECT FROM retake.store WHERE format = %llu FOR UPDATE) AS unchanged;",
			     (unsigned long long)format);
	add_format_2(sql, format < 1);
	rt_buf_add_c(sql, "COMMIT");
	return rt_scope_str(&call->scope, sql);
}

/* Another process may create it at the same time: one of the two fails. */
static void
create(rt_pg_call *call)
{
	rt_str sql = script_from(call, 0);

	if (rt_ok(&call->scope))
		rt_pg_script(call, sql.ptr, "creating its tables");
	if (call->scope.status == RT_REFUSED) {
		char text[sizeof(call->conn->failure.text)];

		memcpy(text, call->conn->failure.text, sizeof(text));
		rt_scope_reset(&call->scope);
		rt_scope_fail_advise(&call->scope, RT_REFUSED,
				     "run retake store init",
				     "%s: no permission to create its tables (%s); a role that has CREATE on the database "
				     "has to create them",
				     call->store->place, text);
	}
}

/* An index made with other rules for words is filled again by the next search. */
static void
check_index(rt_pg_call *call, const schema *found)
{
	uint64_t rules = strtoull(RT_WORDS_VERSION, NULL, 10);
	rt_buf *sql = rt_scope_buf(&call->scope);

	if (!rt_ok(&call->scope) || call->store->options.read_only || found->format < 2 || found->index_rules >= rules)
		return;
	rt_buf_add_f(sql,
		     "BEGIN; SET LOCAL lock_timeout = 2000; SELECT set_config('retake.level', '9', true);"
		     " DELETE FROM retake.found; UPDATE retake.project SET mark = 0 WHERE mark > 0;"
		     " UPDATE retake.store SET index_rules = %llu; COMMIT",
		     (unsigned long long)rules);
	(void)rt_scope_str(&call->scope, sql);
	if (rt_ok(&call->scope))
		rt_pg_script(call, sql->ptr, "replacing its index");
}

static void
check_database(rt_pg_call *call)
{
	const rt_pg_store *s = call->store;
	const char *encoding = s->pq->parameterStatus(call->conn->pg, "server_encoding");
	int version = s->pq->serverVersion(call->conn->pg);

	if (version < 140000)
		rt_scope_fail(&call->scope, RT_REFUSED,
			      "the server of %s is PostgreSQL %d; version 14 or later is required",
			      s->place, version / 10000);
	if (encoding == NULL ||
	    (strcmp(encoding, "UTF8") != 0 && strcmp(encoding, "SQL_ASCII") != 0))
		rt_scope_fail(&call->scope, RT_REFUSED,
			      "the database %s has the encoding %.20s; create it with: CREATE "
			      "DATABASE … ENCODING 'UTF8' TEMPLATE template0",
			      s->place, encoding == NULL ? "" : encoding);
}

void
rt_pg_find_schema(rt_pg_call *call)
{
	const rt_pg_store *s = call->store;
	schema found = {0};
	found_state state;

	if (rt_ok(&call->scope))
		check_database(call);
	state = examine(call, &found);
	if (rt_ok(&call->scope) && state == STATE_NONE && s->options.create &&
	    !s->options.read_only) {
		rt_error why;

		create(call);
		why = call->scope.error;
		if (!rt_ok(&call->scope)) { /* another process may have been faster */
			rt_status st = call->scope.status;

			rt_scope_reset(&call->scope);
			state = examine(call, &found);
			if (rt_ok(&call->scope) && state != STATE_OURS)
				rt_scope_fail_as(&call->scope, st, &why);
		} else {
			state = examine(call, &found);
		}
	}
	if (!rt_ok(&call->scope))
		return;
	if (state == STATE_NONE)
		rt_scope_fail(&call->scope, RT_NOT_FOUND, "there is no store in the database %s",
			      s->place);
	else if (state == STATE_FOREIGN)
		rt_scope_fail(&call->scope, RT_NOT_OURS,
			      "the database %s has a schema \"retake\" that is not a Retake store",
			      s->place);
	else
		rt_store_check_gates(&call->scope, &found.gates, RT_PG_FORMAT, s->place,
				     s->options.read_only);
	check_index(call, &found);
}

/* --- retake store --- */

void
rt_pg_prepare(rt_pg_call *call, bool is_new, bool is_dry, rt_buf *out_sql, bool *out_changed)
{
	const rt_pg_store *s = call->store;
	rt_str sql = rt_str_at(NULL, 0);
	schema found = {0};
	found_state state;

	if (rt_ok(&call->scope))
		check_database(call);
	state = examine(call, &found);
	if (!rt_ok(&call->scope))
		return;
	if (state == STATE_FOREIGN)
		rt_scope_fail(&call->scope, RT_NOT_OURS, "the database %s has a schema \"retake\" that is not a Retake store",
			      s->place);
	else if (state == STATE_NONE && !is_new)
		rt_scope_fail_advise(&call->scope, RT_NOT_FOUND, "run retake store init",
				     "there is no store in the database %s", s->place);
	else if (state == STATE_OURS && found.format > RT_PG_FORMAT)
		rt_scope_fail(&call->scope, RT_TOO_NEW,
			      "the tables of %s were made by a newer version (%s, format %llu); this version supports format %d",
			      s->place, found.gates.written_by, (unsigned long long)found.format, RT_PG_FORMAT);
	else if (state == STATE_OURS && found.format < RT_PG_FORMAT && is_new)
		rt_scope_fail_advise(&call->scope, RT_REFUSED, "run retake store upgrade",
				     "a store of format %llu already exists in %s", (unsigned long long)found.format, s->place);
	if (!rt_ok(&call->scope) || (state == STATE_OURS && found.format == RT_PG_FORMAT))
		return;
	sql = script_from(call, found.format);
	*out_changed = true;
	if (is_dry && rt_ok(&call->scope))
		rt_buf_add_str(out_sql, sql);
	else if (rt_ok(&call->scope))
		rt_pg_script(call, sql.ptr, is_new ? "creating its tables" : "changing its tables");
}
