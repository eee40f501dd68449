/* SPDX-License-Identifier: MIT
 *
 * The tokenizer of the full-text index, for FTS5. */
#include "base/words.h"
#include "store/store_sqlite_impl.h"

static int
create_tokenizer(void *ctx, const char **args, int count, Fts5Tokenizer **out)
{
	(void)args;
	(void)count;
	*out = ctx;
	return SQLITE_OK;
}

static void
delete_tokenizer(Fts5Tokenizer *tokenizer)
{
	(void)tokenizer;
}

static int
tokenize(Fts5Tokenizer *tokenizer, void *ctx, int flags, const char *text, int size,
	 int (*token)(void *ctx, int flags, const char *text, int size, int from, int to))
{
	rt_str rest = rt_str_at(text, size > 0 ? (size_t)size : 0);
	int rc = SQLITE_OK;
	rt_token t;

	(void)tokenizer;
	if ((flags & FTS5_TOKENIZE_QUERY) != 0) /* already a token: see add_match */
		return size > 0 ? token(ctx, 0, text, size, 0, size) : SQLITE_OK;
	for (size_t at = 0; rc == SQLITE_OK && rt_token_next(rest, &at, &t);)
		rc = token(ctx, 0, t.text, (int)t.size, (int)t.from, (int)t.to);
	return rc;
}

int
rt_sqlite_words_register(sqlite3 *db)
{
	static fts5_tokenizer retake = {create_tokenizer, delete_tokenizer, tokenize};
	static char any; /* create_tokenizer must return something */
	sqlite3_stmt *stmt = NULL;
	fts5_api *api = NULL;
	int rc = sqlite3_prepare_v2(db, "SELECT fts5(?1)", -1, &stmt, NULL);

	if (rc == SQLITE_OK)
		rc = sqlite3_bind_pointer(stmt, 1, (void *)&api, "fts5_api_ptr", NULL);
	if (rc == SQLITE_OK)
		(void)sqlite3_step(stmt);
	if (rc == SQLITE_OK)
		rc = sqlite3_finalize(stmt);
	else
		(void)sqlite3_finalize(stmt);
	if (rc != SQLITE_OK)
		return rc;
	return api == NULL ? SQLITE_NOMEM /* the function does not report errors */
			   : api->xCreateTokenizer(api, "retake", &any, &retake, NULL);
}
