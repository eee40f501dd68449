/* SPDX-License-Identifier: MIT
 *
 * The tokenizer of earlier full-text indexes, which were tables of FTS5: it has to exist for such a table to be
 * dropped. It finds no words. */
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

typedef int (*token_fn)(void *ctx, int flags, const char *text, int size, int from, int to);

static int
tokenize(Fts5Tokenizer *tokenizer, void *ctx, int flags, const char *text, int size, token_fn token)
{
	(void)tokenizer;
	(void)ctx;
	(void)flags;
	(void)text;
	(void)size;
	(void)token;
	return SQLITE_OK;
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
