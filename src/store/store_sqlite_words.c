/* SPDX-License-Identifier: MIT
 *
 * The tokenizer of the full-text index, for FTS5. */
#include "base/hash.h"
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

/* Tokens of a text that were passed on, as far as there is room: in an index without positions a token is
 * written once for each text, and finding it in the index's table costs most of the time. */
enum { SEEN = 1024 };

typedef struct seen {
	uint64_t hashes[SEEN]; /* each at its remainder; 0: none */
	unsigned char pairs[RT_PAIRS / 8];
} seen;

static bool
is_seen(seen *s, uint64_t hash)
{
	uint64_t *slot = &s->hashes[hash % SEEN];
	bool is = *slot == hash;

	*slot = hash;
	return is;
}

static bool
is_pair_seen(seen *s, unsigned pair)
{
	unsigned char bit = (unsigned char)(1u << pair % 8);
	bool is = (s->pairs[pair / 8] & bit) != 0;

	s->pairs[pair / 8] |= bit;
	return is;
}

typedef int (*token_fn)(void *ctx, int flags, const char *text, int size, int from, int to);

static int
tokenize_text(rt_str text, void *ctx, token_fn token)
{
	int rc = SQLITE_OK;
	uint64_t before = 0; /* the hash of the word right before; 0: none */
	char pair_text[RT_PAIR_SIZE];
	seen s;
	rt_token t;

	memset(&s, 0, sizeof(s));
	for (size_t at = 0; rc == SQLITE_OK && rt_token_next(text, &at, &t);) {
		uint64_t hash = rt_hash(t.text, t.size, 0);

		if (!is_seen(&s, hash))
			rc = token(ctx, 0, t.text, (int)t.size, (int)t.from, (int)t.to);
		if (rc == SQLITE_OK && before != 0 && !t.is_dense) {
			unsigned pair = rt_word_pair(before, hash);

			rt_word_pair_token(pair, pair_text);
			if (!is_pair_seen(&s, pair))
				rc = token(ctx, 0, pair_text, RT_PAIR_SIZE, (int)t.from, (int)t.to);
		}
		before = t.is_dense ? 0 : hash;
	}
	return rc;
}

static int
tokenize(Fts5Tokenizer *tokenizer, void *ctx, int flags, const char *text, int size, token_fn token)
{
	(void)tokenizer;
	if ((flags & FTS5_TOKENIZE_QUERY) != 0) /* already a token: see add_match */
		return size > 0 ? token(ctx, 0, text, size, 0, size) : SQLITE_OK;
	return tokenize_text(rt_str_at(text, size > 0 ? (size_t)size : 0), ctx, token);
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
