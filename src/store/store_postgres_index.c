/* SPDX-License-Identifier: MIT
 *
 * The full-text index of the PostgreSQL store: the words of a text as a tsvector, without a copy of
 * the text, and a GIN index over them.
 *
 * A word is indexed as "PROJECT:word", so that a search reads nothing of other projects. A tsvector
 * is limited to 1 MB: the words of a long text are divided into parts. Part 0 is the first; a search
 * looks for all words in one part, and for texts with several parts for each word in any of them. */
#include "store/store_postgres_impl.h"

#include "base/words.h"

enum {
	WORDS_MAX = 64,          /* further words are ignored: a pasted page is a valid query */
	PART_BYTES = 256 * 1024, /* of words with repetitions */
	HITS_FIRST = 200
};

static void
add_word(rt_buf *buf, uint64_t project, const rt_token *t)
{
	rt_buf_add_u64(buf, project);
	rt_buf_add_byte(buf, ':');
	rt_buf_add(buf, t->text, t->size);
}

/* --- filling --- */

rt_status
rt_pg_index_add(rt_store *store, uint64_t project, uint64_t number, uint64_t entry, rt_str text,
		rt_error *err)
{
	rt_pg_call call = rt_pg_writing(store);
	rt_scope *s = &call.scope;
	rt_str none = rt_str_at(NULL, 0);
	rt_buf *words = rt_scope_buf(s);
	int64_t part = 0;
	rt_token t;

	if (rt_ok(s))
		rt_pg_insist(&call, project);
	rt_store_check_number(s, "body", number);
	rt_store_check_size(&call.scope, text.size, RT_PG_ROW_SIZE_MAX);
	if (text.size > 0 && rt_ok(s) && number <= call.conn->tx.now.mark)
		rt_pg_add(&call, RT_PG_INDEX_DROP, number, number, 0, none, none);
	for (size_t at = 0; rt_ok(s) && rt_token_next(text, &at, &t);) {
		rt_buf_add_byte(words, ' ');
		add_word(words, project, &t);
		if (words->size >= PART_BYTES) {
			rt_pg_add(&call, RT_PG_INDEX_ADD, number, entry, part++, none,
				  rt_scope_str(s, words));
			rt_buf_clear(words);
		}
	}
	if (words->size > 0)
		rt_pg_add(&call, RT_PG_INDEX_ADD, number, entry, part, none,
			  rt_scope_str(s, words));
	if (rt_ok(s) && call.conn->tx.now.mark < number) {
		rt_pg_add(&call, RT_PG_INDEX_MARK, number, 0, 0, none, none);
		call.conn->tx.now.mark = number;
	}
	return rt_pg_end(&call, err);
}

/* --- finding --- */

/* A query: the words as a tsquery with all of them, and as an array of tsqueries with one each. */
typedef struct terms {
	rt_buf *all, *each;
} terms;

static void
add_term(terms *to, uint64_t project, const rt_token *t, bool is_prefix)
{
	if (to->all->size > 0) {
		rt_buf_add_c(to->all, " & ");
		rt_buf_add_byte(to->each, ' ');
	}
	for (int i = 0; i < 2; i++) {
		rt_buf *buf = i == 0 ? to->all : to->each;

		/* tokens contain no quotes, so nothing needs escaping */
		rt_buf_add_byte(buf, '\'');
		add_word(buf, project, t);
		rt_buf_add_c(buf, is_prefix ? "':*" : "'");
	}
}

static void
find_terms(terms *to, uint64_t project, rt_str query)
{
	bool in_dense = false; /* the last token was not the last of its run */
	int count = 0;
	rt_token t;

	for (size_t at = 0; count < WORDS_MAX && rt_token_next(query, &at, &t);) {
		bool is_prefix = t.to < query.size && query.ptr[t.to] == '*';

		/* the last character of a run is in the pair before; alone it begins pairs */
		if (t.is_dense && t.is_last && in_dense) {
			in_dense = false;
			continue;
		}
		in_dense = t.is_dense && !t.is_last;
		count++;
		add_term(to, project, &t, is_prefix || (t.is_dense && t.is_last));
	}
}

/* A page of hits below a number; returns how many. */
static int
find_hits(rt_pg_call *call, uint64_t project, const terms *to, uint64_t limit, uint64_t *below,
	  bool *more, rt_hit_fn fn, void *ctx)
{
	rt_pg_query q = rt_pg_query_of(call->store->has_policies
					       ? "SELECT number, entry FROM retake.find($1, $2, $3, $4, $5)"
					       : RT_PG_FIND_SQL("$1", "$2", "$3", "$4", "$5"));
	int count = 0;
	PGresult *rows;

	q.doing = "searching the index";
	rt_pg_arg_u64(&q, project);
	rt_pg_arg_u64(&q, *below);
	rt_pg_arg_bytes(&q, rt_scope_str(&call->scope, to->all));
	rt_pg_arg_bytes(&q, rt_scope_str(&call->scope, to->each));
	rt_pg_arg_u64(&q, limit);
	rows = rt_pg_rows(call, &q);
	if (rows != NULL)
		count = call->store->pq->ntuples(rows);
	for (int i = 0; *more && i < count; i++) {
		*below = rt_pg_u64(call, rows, i, 0);
		*more = fn(ctx, *below, rt_pg_u64(call, rows, i, 1));
	}
	rt_pg_clear(call, rows);
	return count;
}

rt_status
rt_pg_index_find(rt_store *store, uint64_t project, rt_str query, uint64_t below, rt_hit_fn fn,
		 void *ctx, rt_error *err)
{
	uint64_t limit = HITS_FIRST;
	bool more = true;

	if (project == 0 || project > RT_STORE_PROJECT_MAX)
		return RT_OK;
	rt_pg_call call = rt_pg_reading(store);
	terms found = {rt_scope_buf(&call.scope), rt_scope_buf(&call.scope)};
	find_terms(&found, project, query);
	if (below == 0)
		below = RT_STORE_NUMBER_MAX + 1;
	if (rt_ok(&call.scope) && found.all->size > 0) {
		if (!call.conn->tx.is_open || rt_pg_touch(&call, project))
			rt_pg_settle(&call, RT_STORE_INDEX);
		while (more && rt_ok(&call.scope) &&
		       (uint64_t)find_hits(&call, project, &found, limit, &below, &more, fn, ctx) ==
			       limit)
			limit *= 16;
	}
	return rt_pg_end(&call, err);
}
