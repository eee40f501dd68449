/* SPDX-License-Identifier: MIT
 *
 * Row-level security: the second check of what an identity (log/identity.h) may read and write, made
 * by the database from the rows of the accounts alone. docs/postgresql.md describes it.
 *
 * Before each statement, in the same round trip and transaction, the store calls set_config with the
 * identity, the project of the statement, and the level that retake.level finds for them. The
 * policies compare with these settings, once for each statement. Without settings there are no rows.
 *
 * level   of an identity in a project
 * 9       the program itself
 * 4       owner with the scope admin; administrator
 * 3, 2    editor, commenter, with the scope write
 * 1       reader; share link
 * 0       nothing
 *
 * The owner of the tables passes by the policies. */
#include "store/store_postgres_impl.h"

#include "base/hash.h"
#include "log/identity.h"

/* The project of the accounts, RT_DIRECTORY_PROJECT. */
#define ACCOUNTS RT_STORE_RESERVED "accounts"

#define AS_OWNER " LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$ "
#define ITEM(name) \
	"SELECT convert_from(s.data, 'UTF8')::json INTO item FROM retake.side s WHERE s.project = d AND" \
	" s.name = convert_to(" name ", 'UTF8'); "
#define NUMBER(key) "coalesce((item->>'" key "')::bigint, 0)"

/* The level of one identity; d: the project of the accounts. */
static const char level_of[] =
	"CREATE FUNCTION retake.level_of(d bigint, kind text, rest text, p bigint) RETURNS bigint" AS_OWNER
	"DECLARE item json; uid bigint; scope bigint := 3; best bigint := 0; m record; BEGIN"
	" IF kind = 't' OR kind = 'l' THEN "
	ITEM("CASE kind WHEN 't' THEN 'token/' ELSE 'link/' END || rest")
	" IF item IS NULL OR (" NUMBER("until") " <> 0 AND " NUMBER("until") " <="
	" extract(epoch FROM clock_timestamp()) * 1000000) THEN RETURN 0; END IF;"
	" IF kind = 'l' THEN RETURN CASE WHEN " NUMBER("project") " = p THEN 1 ELSE 0 END; END IF;"
	" IF item->'list' IS NOT NULL AND NOT EXISTS(SELECT FROM json_array_elements_text(item->'list') x"
	" WHERE x::bigint = p) THEN RETURN 0; END IF;"
	" scope := " NUMBER("scope") "; uid := " NUMBER("user") ";"
	" ELSIF kind = 'u' AND rest ~ '^[0-9]{1,18}$' THEN uid := rest::bigint; ELSE RETURN 0; END IF; "
	ITEM("'user/' || uid")
	" IF item IS NULL OR " NUMBER("disabled") " <> 0 THEN RETURN 0; END IF;"
	" IF " NUMBER("admin") " <> 0 AND scope = 3 THEN best := 4; ELSE "
	ITEM("'member/' || p || '/u' || uid")
	" best := CASE WHEN item IS NULL THEN 0 ELSE " NUMBER("role") " END;"
	" FOR m IN SELECT t.data AS team, s.data AS member FROM retake.side s JOIN retake.side t ON t.project = d"
	" AND t.name = convert_to('team/' || split_part(convert_from(s.name, 'UTF8'), '/t', 2), 'UTF8')"
	" WHERE s.project = d AND s.name >= convert_to('member/' || p || '/t', 'UTF8')"
	" AND s.name < convert_to('member/' || p || '/u', 'UTF8') LOOP"
	" item := convert_from(m.team, 'UTF8')::json;"
	" IF item->'list' IS NOT NULL AND EXISTS(SELECT FROM json_array_elements_text(item->'list') x"
	" WHERE x::bigint = uid) THEN item := convert_from(m.member, 'UTF8')::json;"
	" best := greatest(best, " NUMBER("role") "); END IF; END LOOP; END IF;"
	" RETURN CASE scope WHEN 3 THEN best WHEN 2 THEN least(best, 3) WHEN 1 THEN least(best, 1) ELSE 0 END;"
	" END $$;";

/* The lowest level of several identities. */
static const char level_begin[] =
	"CREATE FUNCTION retake.level(identities text, p bigint) RETURNS bigint" AS_OWNER
	"DECLARE one text; d bigint; best bigint := 9; BEGIN"
	" IF identities = 'program' THEN RETURN 9; END IF;"
	" SELECT t.id INTO d FROM retake.project t WHERE t.hash = ";
static const char level_end[] =
	" AND t.name = convert_to(E'\\x01""accounts', 'UTF8');"
	" IF d IS NULL OR p <= 0 OR identities = '' THEN RETURN 0; END IF;"
	" FOREACH one IN ARRAY string_to_array(identities, ' ') LOOP"
	" best := least(best, retake.level_of(d, substr(one, 1, 1), substr(one, 2), p)); END LOOP;"
	" RETURN best; END $$;";

/* The index of words: its operator would not be used under a policy. */
static const char find_function[] =
	"CREATE FUNCTION retake.find(p bigint, below bigint, whole bytea, each bytea, most bigint,"
	" OUT number bigint, OUT entry bigint) RETURNS SETOF record" AS_OWNER
	"BEGIN IF coalesce(nullif(current_setting('retake.level', true), '')::bigint, 0) NOT IN (1, 2, 3, 4, 9)"
	" OR (current_setting('retake.level', true) <> '9'"
	" AND current_setting('retake.project', true) IS DISTINCT FROM p::text) THEN RETURN; END IF;"
	" RETURN QUERY " RT_PG_FIND_SQL("p", "below", "whole", "each", "most") "; END $$;";

#define LEVEL "(SELECT nullif(current_setting('retake.level', true), '')::bigint)"
#define HERE "(SELECT nullif(current_setting('retake.project', true), '')::bigint)"

/* Who may write: a change of the log or of a body is a purge. Caches and projects are written by the
 * program; a purge removes rows of caches. */
static const struct {
	const char *table, *column;
	int insert, update; /* the least level */
} tables[] = {
	{"project", "id", 9, 2},   {"log", "project", 2, 4},  {"body", "project", 2, 4},
	{"side", "project", 2, 2}, {"node", "project", 4, 4}, {"root", "project", 4, 4},
	{"found", "project", 4, 4},
};

/* before: "USING" or "WITH CHECK". */
static void
add_check(rt_buf *sql, const char *before, const char *column, int least)
{
	rt_buf_add_f(sql, " %s (" LEVEL " = 9 OR (%s = " HERE " AND " LEVEL " >= %d))", before, column, least);
}

static void
add_policies(rt_buf *sql, size_t i)
{
	const char *table = tables[i].table, *column = tables[i].column;

	rt_buf_add_f(sql, "ALTER TABLE retake.%s ENABLE ROW LEVEL SECURITY;"
			  " CREATE POLICY retake_select ON retake.%s FOR SELECT", table, table);
	add_check(sql, "USING", column, 1);
	rt_buf_add_f(sql, "; CREATE POLICY retake_insert ON retake.%s FOR INSERT", table);
	add_check(sql, "WITH CHECK", column, tables[i].insert);
	rt_buf_add_f(sql, "; CREATE POLICY retake_update ON retake.%s FOR UPDATE", table);
	add_check(sql, "USING", column, tables[i].update);
	rt_buf_add_f(sql, "; CREATE POLICY retake_delete ON retake.%s FOR DELETE", table);
	add_check(sql, "USING", column, tables[i].update);
	rt_buf_add_c(sql, ";");
}

/* The list of projects: those of the identity. */
static const char list_policy[] =
	"CREATE POLICY retake_list ON retake.project FOR SELECT USING (" HERE " = 0 AND"
	" retake.level(current_setting('retake.identity', true), id) >= 1);";

void
rt_pg_add_security(rt_buf *sql)
{
	rt_buf_add_c(sql, level_of);
	rt_buf_add_c(sql, level_begin);
	rt_buf_add_f(sql, "%lld", (long long)(int64_t)rt_hash(ACCOUNTS, sizeof(ACCOUNTS) - 1, 0));
	rt_buf_add_c(sql, level_end);
	rt_buf_add_c(sql, find_function);
	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
		add_policies(sql, i);
	rt_buf_add_c(sql, list_policy);
}

bool
rt_pg_identity_query(rt_pg_call *call, const rt_pg_query *q, rt_pg_query *out)
{
	rt_str identity = rt_store_identity();

	if (!call->store->has_policies || q->is_control)
		return false;
	*out = rt_pg_query_of("SELECT set_config('retake.identity', $1, true), set_config('retake.project',"
			      " $2::text, true), set_config('retake.level', retake.level($1, $2)::text, true)");
	out->name = RT_PG_NAME_IDENTITY;
	rt_pg_arg_text(out, identity.size > 0 ? identity : RT_STR("program"));
	rt_pg_arg_u64(out, rt_pg_query_project(q));
	return true;
}

void
rt_pg_check_visible(rt_pg_call *call, uint64_t project)
{
	if (call->store->has_policies && rt_store_identity().size > 0)
		rt_scope_fail(&call->scope, RT_REFUSED,
			      "the database refuses access to project %llu (row-level security)",
			      (unsigned long long)project);
}
