/* SPDX-License-Identifier: MIT
 *
 * Blobs: types, blocks, storing and reading; and the collection of unreferenced ones. */
#include "log/blob.h"

#include "base/failing_testing.h"
#include "log/bare_testing.h"
#include "log/collect.h"
#include "log/engine_impl.h"
#include "store/store_memory.h"

#define PNG "\x89PNG\r\n\x1a\n rest"

static int64_t clock_us;

static int64_t
clock_now(void *ctx)
{
	(void)ctx;
	return clock_us;
}

static const rt_env moving = {clock_now, env_random, &env_state};

static int
set_up(void **state)
{
	rt_store *store;

	clock_us = 1700000000000000;
	assert_int_equal(rt_store_memory_open(rt_alloc_libc(), &moving, &store, NULL), RT_OK);
	(void)bare_set_up(state, store);
	((bare *)*state)->engine->env = &moving;
	return 0;
}

static bool
count_row(void *ctx, const rt_store_row *row)
{
	(void)row;
	++*(size_t *)ctx;
	return true;
}

static size_t
rows(bare *f, const char *prefix)
{
	size_t count = 0;

	assert_int_equal(f->store->ops->read(f->store, rt_rows_prefixed(1, rt_str_of(prefix)), count_row,
					     &count, NULL),
			 RT_OK);
	return count;
}

/* Stores a file and returns its block. */
static const char *
attach(bare *f, const char *name, const char *bytes)
{
	rt_scope s;

	rt_scope_init(&s, rt_alloc_libc());
	rt_buf_clear(&f->out);
	rt_blob_attach(&s, f->engine, rt_str_of(name), rt_str_of(bytes), &f->out);
	assert_int_equal(rt_scope_end(&s, NULL), RT_OK);
	return f->out.ptr;
}

/* An entry with a file. */
static void
add(bare *f, const char *id, const char *bytes)
{
	char json[600];

	(void)snprintf(json, sizeof(json),
		       "{\"op\":\"entry.append\",\"id\":\"%s\",\"content\":[{\"type\":\"text\",\"text\":"
		       "\"see\"},%s]}",
		       id, attach(f, "a.txt", bytes));
	bare_apply(f, json);
}

static rt_collected
collected(bare *f)
{
	rt_collected out;

	assert_int_equal(rt_engine_collect(f->engine, NULL, NULL, &out, NULL), RT_OK);
	return out;
}

typedef struct found {
	char ids[200];
} found;

static bool
note_finding(void *ctx, const rt_finding *finding)
{
	found *all = ctx;

	(void)snprintf(all->ids + strlen(all->ids), sizeof(all->ids) - strlen(all->ids), "%s ",
		       finding->id);
	return true;
}

static void
check_finds(bare *f, const char *ids)
{
	found all = {""};

	assert_int_equal(rt_engine_fsck_files(f->engine, note_finding, &all, NULL), RT_OK);
	assert_string_equal(all.ids, ids);
}

static void
types_are_found_by_the_content(void **state)
{
	static const struct {
		rt_str bytes;
		const char *type;
	} files[] = {
		{RT_STR_INIT(PNG), "image/png"},
		{RT_STR_INIT("\xff\xd8\xff\xe0"), "image/jpeg"},
		{RT_STR_INIT("GIF89a"), "image/gif"},
		{RT_STR_INIT("RIFF1234WEBP"), "image/webp"},
		{RT_STR_INIT("RIFF1234WAVE"), "text/plain"},
		{RT_STR_INIT("RIFF"), "text/plain"},
		{RT_STR_INIT("%PDF-1.4"), "application/pdf"},
		{RT_STR_INIT("caf\xc3\xa9"), "text/plain"},
		{RT_STR_INIT("caf\xe9"), "application/octet-stream"},
		{RT_STR_INIT("a\0b"), "application/octet-stream"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		assert_string_equal(rt_blob_type(files[i].bytes), files[i].type);
	assert_null(rt_blob_image_type(RT_STR("%PDF-1.4")));
	assert_string_equal(rt_blob_type(rt_str_at(NULL, 0)), "text/plain");
}

static rt_str
hash_in(const char *block)
{
	rt_json_doc *doc = NULL;

	assert_int_equal(rt_json_read(rt_alloc_libc(), rt_str_of(block), &doc, NULL), RT_OK);
	size_t size = rt_blob_of(rt_json_root(doc)).size;
	rt_json_free(doc);
	return size == 0 ? RT_STR("") : rt_str_at(strstr(block, "\"sha256\":\"") + 10, size);
}

#define HASH64 "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static void
a_block_refers_to_its_bytes(void **state)
{
	bare *f = *state;
	rt_buf out;

	rt_buf_init(&out, rt_alloc_libc(), RT_BUF_UNLIMITED);
	assert_true(rt_str_starts(rt_str_of(attach(f, "s.png", PNG)),
				  RT_STR("{\"type\":\"image\",\"mimeType\":\"image/png\",\"name\":\"s.png\","
					 "\"size\":13,\"sha256\":\"")));
	rt_str hash = hash_in(f->out.ptr);
	assert_int_equal(hash.size, 64);
	assert_int_equal(rt_blob_read(f->engine, hash, &out, NULL), RT_OK);
	assert_true(rt_str_is(rt_buf_str(&out), PNG));
	assert_int_equal(hash_in("{\"type\":\"file\",\"sha256\":\"" HASH64 "\"}").size, 64);
	assert_int_equal(hash_in("{\"type\":\"text\",\"sha256\":\"" HASH64 "\"}").size, 0);
	assert_int_equal(hash_in("{\"type\":\"file\",\"data\":\"\",\"sha256\":\"" HASH64 "\"}").size, 0);
	assert_int_equal(hash_in("{\"type\":\"file\",\"sha256\":\"../" HASH64 "\"}").size, 0);
	assert_int_equal(rt_blob_read(f->engine, RT_STR(HASH64), &out, NULL), RT_NOT_FOUND);
	assert_int_equal(rt_blob_read(f->engine, RT_STR("../x"), &out, NULL), RT_NOT_FOUND);
	rt_buf_deinit(&out);
}

static void
sizes_are_limited(void **state)
{
	bare *f = *state;
	char sha256[RT_SHA256_HEX_ROOM];
	char *large = test_calloc(1, RT_BLOB_MAX + 1);

	assert_int_equal(rt_blob_keep(f->engine, RT_STR(""), sha256, NULL), RT_USAGE);
	assert_int_equal(rt_blob_keep(f->engine, rt_str_at(large, RT_BLOB_MAX + 1), sha256, NULL), RT_LIMIT);
	assert_int_equal(rows(f, "blob"), 0);
	test_free(large);
}

static void
bytes_are_stored_once_and_expanded(void **state)
{
	bare *f = *state;
	rt_buf out, json;
	rt_scope s;

	add(f, "one", "same");
	add(f, "two", "same");
	assert_int_equal(rows(f, "blob/"), 1);
	rt_buf_init(&out, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_buf_init(&json, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_buf_add_f(&json, "[{\"type\":\"text\",\"text\":\"x\"},%s,{\"type\":\"file\",\"sha256\":\"" HASH64
			    "\"}]", attach(f, "a.txt", "same"));
	rt_scope_init(&s, rt_alloc_libc());
	rt_blob_expand(&s, f->engine, rt_json_parse(&s, rt_buf_str(&json)), &out);
	assert_int_equal(rt_scope_end(&s, NULL), RT_OK);
	assert_string_equal(rt_buf_str(&out).ptr,
			    "[{\"type\":\"text\",\"text\":\"x\"},{\"type\":\"file\",\"mimeType\":"
			    "\"text/plain\",\"name\":\"a.txt\",\"size\":4,\"data\":\"c2FtZQ==\"},"
			    "{\"type\":\"file\",\"purged\":true}]");
	rt_buf_deinit(&json);
	rt_buf_deinit(&out);
}

/* ---- collected ---- */

static void
what_no_entry_refers_to_goes_after_a_week(void **state)
{
	bare *f = *state;

	(void)attach(f, "lost.txt", "never used");
	add(f, "kept", "used");
	assert_int_equal(collected(f).removed, 0);
	check_finds(f, "");
	clock_us += RT_BLOB_NEW_US - 1;
	assert_int_equal(collected(f).removed, 0);
	clock_us += 1;
	check_finds(f, "file-unused ");
	assert_int_equal(collected(f).removed, 1);
	assert_int_equal(rows(f, "blob/"), 1);
	assert_int_equal(rows(f, "blob-new/"), 0);
	check_finds(f, "");
}

static void
storing_a_file_removes_old_ones_and_renews_itself(void **state)
{
	bare *f = *state;

	(void)attach(f, "lost.txt", "never used");
	(void)attach(f, "renewed.txt", "renewed");
	clock_us += RT_BLOB_NEW_US;
	(void)attach(f, "renewed.txt", "renewed");
	assert_int_equal(rows(f, "blob/"), 1);
	assert_int_equal(rows(f, "blob-new/"), 1);
}

static void
versions_and_undone_steps_keep_their_files(void **state)
{
	bare *f = *state;

	add(f, "edited", "first version");
	bare_apply(f, "{\"op\":\"entry.edit\",\"entry\":\"edited\",\"content\":\"second\"}");
	add(f, "undone", "of an undone step");
	bare_apply(f, "{\"op\":\"undo\"}");
	bare_add(f, "other", "User", "there is no redo now");
	(void)attach(f, "set.txt", "of a setting");
	char json[400];
	(void)snprintf(json, sizeof(json), "{\"op\":\"setting.set\",\"key\":\"mine\",\"value\":%s}",
		       f->out.ptr);
	bare_apply(f, json);
	clock_us += RT_BLOB_NEW_US;
	assert_int_equal(collected(f).removed, 0);
	assert_int_equal(rows(f, "blob/"), 3);
	check_finds(f, "");
}

static void
a_purge_leaves_a_mark(void **state)
{
	bare *f = *state;

	add(f, "text", "the secret");
	add(f, "entry", "other");
	bare_apply(f, "{\"op\":\"purge\",\"text\":\"file/\"}"); /* part of the names of rows */
	bare_apply(f, "{\"op\":\"purge\",\"text\":\"blob\"}");
	assert_int_equal(rows(f, "blob/"), 2);
	bare_apply(f, "{\"op\":\"purge\",\"text\":\"the secret\"}");
	assert_int_equal(rows(f, "blob/"), 1);
	assert_int_equal(rows(f, "purged/"), 1);
	check_finds(f, ""); /* the block remains */
	bare_apply(f, "{\"op\":\"purge\",\"entry\":\"entry\"}");
	assert_int_equal(rows(f, "blob/"), 0);
	assert_int_equal(rows(f, "blob-new/"), 0);
	assert_int_equal(collected(f).removed, 0);
	assert_int_equal(rows(f, "purged/"), 1); /* nothing refers to the other */
	add(f, "again", "the secret");
	assert_int_equal(rows(f, "blob/"), 1);
	check_finds(f, "");
}

static void
what_is_missing_is_reported_and_given_up(void **state)
{
	bare *f = *state;
	rt_error err;
	char name[80];

	add(f, "one", "bytes");
	add(f, "two", "bytes");
	(void)attach(f, "a.txt", "bytes");
	(void)snprintf(name, sizeof(name), "blob/%.*s", RT_STR_ARG(hash_in(f->out.ptr)));
	assert_int_equal(f->store->ops->write(f->store, rt_rows_named(RT_STORE_SIDE, 1, rt_str_of(name)),
					      RT_STR(""), &err),
			 RT_OK);
	check_finds(f, "file-missing ");
	assert_int_equal(collected(f).lost, 1);
	check_finds(f, "");
	(void)attach(f, "a.txt", "bytes"); /* it can be stored again */
	assert_int_equal(rows(f, "blob/"), 1);
}

/* ---- memory ---- */

static void
without_memory_nothing_is_left_half_done(void **state)
{
	bare *f = *state;
	const rt_alloc *usual = f->engine->alloc;
	bool is_collected = false;

	add(f, "kept", "used");
	(void)attach(f, "lost.txt", "never used");
	clock_us += RT_BLOB_NEW_US;
	for (long n = 0;; n++) {
		failing memory = {.left = n};
		rt_alloc alloc = {failing_resize, failing_release, &memory};
		rt_collected out;
		found all = {""};
		rt_scope s;

		rt_scope_init(&s, &alloc);
		f->engine->alloc = &alloc;
		rt_buf *block = rt_scope_buf(&s), *whole = rt_scope_buf(&s);
		RT_TRY(&s, rt_engine_fsck_files(f->engine, note_finding, &all, &s.error));
		if (rt_ok(&s))
			assert_string_equal(all.ids, is_collected ? "" : "file-unused ");
		RT_TRY(&s, rt_engine_collect(f->engine, NULL, NULL, &out, &s.error));
		is_collected = is_collected || rt_ok(&s);
		rt_buf_add_byte(block, '[');
		rt_blob_attach(&s, f->engine, RT_STR("b.txt"), RT_STR("more"), block);
		rt_buf_add_byte(block, ']');
		rt_str text = rt_scope_str(&s, block);
		if (rt_ok(&s))
			rt_blob_expand(&s, f->engine, rt_json_parse(&s, text), whole);
		bool is_whole = rt_str_find(rt_scope_str(&s, whole), RT_STR("bW9yZQ=="), 0) != SIZE_MAX;
		bool is_ok = rt_ok(&s);
		rt_status st = rt_scope_end(&s, NULL);
		f->engine->alloc = usual;

		assert_int_equal(atomic_load(&memory.live), 0);
		assert_int_equal(st, atomic_load(&memory.failed) ? RT_NOMEM : RT_OK);
		assert_int_equal(is_whole, is_ok);
		assert_true(rows(f, "blob/") >= 1);
		if (!atomic_load(&memory.failed))
			break;
	}
	assert_int_equal(rows(f, "blob/"), 2); /* used and more */
	check_finds(f, "");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, bare_tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(types_are_found_by_the_content),
		TEST(a_block_refers_to_its_bytes),
		TEST(sizes_are_limited),
		TEST(bytes_are_stored_once_and_expanded),
		TEST(what_no_entry_refers_to_goes_after_a_week),
		TEST(storing_a_file_removes_old_ones_and_renews_itself),
		TEST(versions_and_undone_steps_keep_their_files),
		TEST(a_purge_leaves_a_mark),
		TEST(what_is_missing_is_reported_and_given_up),
		TEST(without_memory_nothing_is_left_half_done),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
