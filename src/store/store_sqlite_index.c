/* SPDX-License-Identifier: MIT
 *
 * The full-text index of the SQLite store: FTS5 without a copy of the texts. A row's rowid is
 * its body's key; the entry is stored beside it. The watermark says up to which body the index
 * is complete; it is written in the same transaction as the rows it covers.
 */
#include "store/store_sqlite_impl.h"

#include "base/hash.h"
#include "base/words.h"

enum { WORDS_MAX = 64 /* further words are ignored: a pasted page is a valid query */ };

/* --- queries --- */

static void
add_token(rt_buf *buf, const char *text, size_t size, bool is_prefix)
{
	rt_buf_add_c(buf, buf->size == 0 ? "\"" : " \"");
	rt_buf_add(buf, text, size);
	rt_buf_add_c(buf, is_prefix ? "\"*" : "\"");
}

/* Is a quote between two positions? */
static bool
has_quote(rt_str query, size_t from, size_t to)
{
	return to > from && memchr(query.ptr + from, '"', to - from) != NULL;
}

/* Adds the query as an FTS5 expression of quoted tokens, all of which are required; nothing when it
 * has no word. Tokens contain no quotes, so nothing needs escaping. */
static void
add_match(rt_buf *buf, rt_str query)
{
	bool in_dense = false;  /* the last token was not the last of its run */
	bool in_phrase = false; /* within quotes */
	size_t end = 0;
	uint64_t before = 0; /* the hash of the last word of the phrase; 0: none */
	char pair[RT_PAIR_SIZE];
	int count = 0;
	rt_token t;

	for (size_t at = 0; count < WORDS_MAX && rt_token_next(query, &at, &t);) {
		bool is_prefix = t.to < query.size && query.ptr[t.to] == '*';
		uint64_t hash = rt_hash(t.text, t.size, 0);

		if (has_quote(query, end, t.from)) {
			for (; end < t.from; end++)
				in_phrase ^= query.ptr[end] == '"';
			before = 0;
		}
		end = t.to;
		/* the last character of a run is in the pair before; alone it begins pairs */
		if (t.is_dense && t.is_last && in_dense) {
			in_dense = false;
			continue;
		}
		in_dense = t.is_dense && !t.is_last;
		add_token(buf, t.text, t.size, is_prefix || (t.is_dense && t.is_last));
		count++;
		if (before != 0 && !t.is_dense) {
			rt_word_pair_token(rt_word_pair(before, hash), pair);
			add_token(buf, pair, sizeof(pair), false);
		}
		before = in_phrase && !t.is_dense ? hash : 0;
	}
}

/* --- the watermark --- */

/* Not the index of an earlier version? */
static bool
is_present_index(rt_sqlite_call *call)
{
	rt_sqlite_args args = {.bytes = RT_STR(RT_SQLITE_INDEX_NOW), .is_text = true};
	rt_sqlite_query q = rt_sqlite_select(call, SQL_INDEX_KIND, args);
	bool has = rt_sqlite_next(&q);

	rt_sqlite_end(&q);
	return has;
}

uint64_t
rt_sqlite_index_mark(rt_sqlite_call *call, uint64_t project)
{
	if (!is_present_index(call))
		return 0;
	rt_sqlite_query q =
		rt_sqlite_select(call, SQL_MARK_GET, (rt_sqlite_args){.key = project});
	rt_store_row row = {0};
	uint64_t key;

	if (rt_sqlite_next(&q) && rt_sqlite_row_read(q.stmt, RT_TABLE_MARK, &key, &row) != RT_OK)
		rt_scope_fail_advise(&call->scope, RT_CORRUPT, "run retake fsck",
				     "%s is damaged: the index mark of project %llu has a wrong "
				     "checksum",
				     call->store->place, (unsigned long long)project);
	rt_sqlite_end(&q);
	return row.number;
}

rt_status
rt_sqlite_index_add(rt_store *store, uint64_t project, uint64_t number, uint64_t entry, rt_str text,
		    rt_error *err)
{
	rt_sqlite_call call = rt_sqlite_writing(store, project);

	rt_store_check_number(&call.scope, "body", number);
	rt_store_check_size(&call.scope, text.size, RT_SQLITE_ROW_SIZE_MAX);
	if (rt_ok(&call.scope) && !is_present_index(&call))
		rt_sqlite_index_clear(&call);
	if (text.size > 0)
		rt_sqlite_run(&call, SQL_INDEX_ADD,
			      (rt_sqlite_args){.key = rt_row_key(project, number),
					       .last = entry,
					       .bytes = text,
					       .is_text = true});
	if (rt_sqlite_index_mark(&call, project) < number)
		rt_sqlite_row_write(&call, SQL_MARK_SET, project,
				    &(rt_store_row){.number = number});
	return rt_scope_end(&call.scope, err);
}

/* --- finding --- */

/* Hits have no order in which a later attempt could continue. So those of a reader without
 * locks are held back until the attempt has succeeded; others are passed on at once and may end
 * the search. */
typedef struct hit {
	uint64_t number, entry;
} hit;

static void
find_hits(rt_sqlite_call *call, uint64_t project, rt_str match, uint64_t below, rt_buf *held,
	  rt_hit_fn fn, void *ctx)
{
	rt_sqlite_args args = rt_sqlite_range(project, 0,
					      below > 0 ? below - 1 : RT_STORE_NUMBER_MAX);
	args.bytes = match;
	args.is_text = true;
	rt_sqlite_query q = rt_sqlite_select(call, SQL_INDEX_FIND, args);
	bool more = true;

	while (more && rt_sqlite_next(&q)) {
		hit h = {(uint64_t)sqlite3_column_int64(q.stmt, 0) & RT_STORE_NUMBER_MAX,
			 (uint64_t)sqlite3_column_int64(q.stmt, 1)};

		if (call->conn->immutable) {
			rt_buf_add(held, &h, sizeof(h));
			more = held->status == RT_OK;
		} else {
			more = fn(ctx, h.number, h.entry);
		}
	}
	rt_sqlite_end(&q);
}

rt_status
rt_sqlite_index_find(rt_store *store, uint64_t project, rt_str query, uint64_t below,
		     rt_hit_fn fn, void *ctx, rt_error *err)
{
	rt_sqlite_call call = rt_sqlite_reading(store);
	bool more = true;
	rt_scope s; /* for all attempts */
	hit h;

	if (project == 0 || project > RT_STORE_PROJECT_MAX)
		return RT_OK;
	rt_scope_init(&s, call.store->alloc);
	rt_buf *match = rt_scope_buf(&s), *held = rt_scope_buf(&s);
	add_match(match, query);
	if (match->status != RT_OK)
		rt_scope_fail(&s, match->status, "out of memory while searching");
	while (rt_ok(&s) && match->size > 0 && rt_sqlite_attempt(&call)) {
		rt_buf_clear(held);
		find_hits(&call, project, rt_buf_str(match), below, held, fn, ctx);
	}
	(void)rt_scope_join(&s, &call.scope);
	if (held->status != RT_OK)
		rt_scope_fail(&s, RT_NOMEM, "out of memory for the results");
	for (size_t at = 0; more && rt_ok(&s) && at < held->size; at += sizeof(h)) {
		memcpy(&h, held->ptr + at, sizeof(h));
		more = fn(ctx, h.number, h.entry);
	}
	return rt_scope_end(&s, err);
}

/* --- purge and repair --- */

/* FTS5 finds the row by its number; its words are removed by scrub. */
void
rt_sqlite_index_drop(rt_sqlite_call *call, uint64_t project, uint64_t number)
{
	rt_sqlite_wipe(call);
	rt_sqlite_run(call, SQL_INDEX_DROP,
		      (rt_sqlite_args){.key = rt_row_key(project, number)});
}

/* Drops the table itself: "delete-all" would read possibly damaged data. SQLite 3.53.2 leaves
 * found_content of such a table, and protects it. */
void
rt_sqlite_index_clear(rt_sqlite_call *call)
{
	(void)sqlite3_db_config(call->conn->db, SQLITE_DBCONFIG_DEFENSIVE, 0, NULL);
	rt_sqlite_exec(call,
		       "DROP TABLE IF EXISTS found; DROP TABLE IF EXISTS found_content;"
		       "DELETE FROM mark;" RT_SQLITE_INDEX_TABLE,
		       "rebuilding the index");
	(void)sqlite3_db_config(call->conn->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
}
