/* SPDX-License-Identifier: MIT
 *
 * Purge: which content it removes from conversations, which it leaves unchanged, and that no byte
 * of a secret stays in the files. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "log/checkpoint.h"
#include "log/engine_testing.h"
#include "log/folder_testing.h"
#include "log/fsck.h"
#include "log/index.h"
#include "log/purge_impl.h"
#include "store/store_memory.h"
#include "store/store_sqlite.h"
#include "view/view.h"

#define SECRET "tok-9f8e7d6c5b4a"

typedef struct fixture {
	rt_store *store;
	rt_engine *engine;
	rt_buf out;
	char folder[64]; /* empty: a store in memory */
} fixture;

static void
open_engine(fixture *f)
{
	rt_engine_options options = {.env = &env, .create = true};
	rt_error err = {0};

	if (rt_engine_open(&options, f->store, &f->engine, &err) != RT_OK)
		fail_msg("%s", err.text);
}

static void
path_of(const fixture *f, const char *name, char path[96])
{
	snprintf(path, 96, "%s/%s", f->folder, name);
}

static void
open_store(fixture *f, const char *name)
{
	rt_store_sqlite_options file = {.create = true};
	rt_error err = {0};
	char path[96];

	path_of(f, name, path);
	if (rt_store_sqlite_open(rt_alloc_libc(), &env, path, &file, &f->store, &err) != RT_OK)
		fail_msg("%s", err.text);
}

/* *state: the kind of store. */
static int
set_up(void **state)
{
	fixture *f = test_calloc(1, sizeof(*f));

	if (strcmp(*state, "memory") == 0) {
		assert_int_equal(rt_store_memory_open(rt_alloc_libc(), &env, &f->store, NULL), RT_OK);
	} else {
		assert_true(test_folder(f->folder, sizeof(f->folder), "purge_test"));
		open_store(f, "a.db");
	}
	open_engine(f);
	rt_buf_init(&f->out, rt_alloc_libc(), RT_BUF_UNLIMITED);
	*state = f;
	return 0;
}

static int
tear_down(void **state)
{
	static const char *const names[] = {"a.db", "a.db-wal", "a.db-shm", "b.db", "b.db-wal",
					    "b.db-shm"};
	fixture *f = *state;
	char path[96];

	rt_buf_deinit(&f->out);
	rt_engine_close(f->engine);
	f->store->ops->close(f->store);
	for (size_t i = 0; f->folder[0] != '\0' && i < sizeof(names) / sizeof(names[0]); i++) {
		path_of(f, names[i], path);
		(void)unlink(path);
	}
	if (f->folder[0] != '\0')
		(void)rmdir(f->folder);
	test_free(f);
	return 0;
}

static void
apply(fixture *f, const char *json)
{
	rt_result result;

	if (rt_engine_apply_text(f->engine, rt_str_of(json), RT_STR(""), RT_STR(""), &result) != RT_OK)
		fail_msg("%s: %s", json, result.error.text);
	rt_result_deinit(&result);
}

static rt_status
try_apply(fixture *f, const char *json, rt_result *result)
{
	return rt_engine_apply_text(f->engine, rt_str_of(json), RT_STR(""), RT_STR(""), result);
}

/* The active take and the settings as JSON. */
static const char *
show(fixture *f)
{
	const rt_project *project = rt_engine_value(f->engine);
	rt_place place = {0, 0};
	rt_error err = {0};

	rt_buf_clear(&f->out);
	if (rt_view_show(f->engine, project, place, NULL, &f->out, &err) != RT_OK ||
	    rt_view_settings(f->engine, project, 0, &f->out, &err) != RT_OK ||
	    rt_view_takes(f->engine, project, 0, true, &f->out, &err) != RT_OK ||
	    rt_view_discussions(f->engine, project, true, (rt_str){NULL, 0}, &f->out, &err) != RT_OK ||
	    rt_view_history(f->engine, project, 0, 0, 0, &f->out, &err) != RT_OK)
		fail_msg("%s", err.text);
	rt_object_unref(project);
	return f->out.ptr;
}

static bool
shows(fixture *f, const char *text)
{
	return strstr(show(f), text) != NULL;
}

/* ---- all rows of a store ---- */

static bool
copy_log(void *ctx, const rt_store_row *row)
{
	rt_buf_add_str(ctx, row->data);
	rt_buf_add_byte(ctx, '\n');
	return true;
}

static bool
copy_body(void *ctx, const rt_store_row *row)
{
	rt_buf_add_str(ctx, row->data);
	rt_buf_add_byte(ctx, '\n');
	return true;
}

static bool
copy_side(void *ctx, const rt_store_row *row)
{
	rt_buf_add_str(ctx, row->name);
	rt_buf_add_str(ctx, row->data);
	return true;
}

static bool
copy_node_number(void *ctx, const rt_store_row *row)
{
	rt_buf_add(ctx, &row->number, sizeof(row->number));
	return true;
}

static bool
copy_number(void *ctx, uint64_t number, uint64_t entry)
{
	rt_buf *numbers = ctx;

	(void)entry;
	rt_buf_add(numbers, &number, sizeof(number));
	return true;
}

/* Everything that can be read from the store. */
static bool
store_holds(fixture *f, const char *text)
{
	const rt_store_ops *ops = f->store->ops;
	uint64_t project = rt_engine_project_number(f->engine), number;
	rt_buf all, nodes;
	bool found = false;
	size_t hits;

	rt_buf_init(&all, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_buf_init(&nodes, rt_alloc_libc(), RT_BUF_UNLIMITED);
	assert_int_equal(ops->read(f->store, rt_rows_between(RT_STORE_LOG, project, 1, UINT32_MAX),
				   copy_log, &all, NULL),
			 RT_OK);
	assert_int_equal(ops->read(f->store,
				   rt_rows_between(RT_STORE_BODIES, project, 1, UINT32_MAX),
				   copy_body, &all, NULL),
			 RT_OK);
	assert_int_equal(
		ops->read(f->store, rt_rows_all(RT_STORE_SIDE, project), copy_side, &all, NULL),
		RT_OK);
	assert_int_equal(ops->read(f->store, rt_rows_numbers(RT_STORE_NODES, project),
				   copy_node_number, &nodes, NULL),
			 RT_OK);
	for (size_t i = 0; i < nodes.size; i += sizeof(number)) {
		memcpy(&number, nodes.ptr + i, sizeof(number));
		assert_int_equal(rt_store_get(f->store,
					      rt_rows_one(RT_STORE_NODES, project, number), &all,
					      NULL, NULL),
				 RT_OK);
	}
	if (rt_store_get(f->store, rt_rows_all(RT_STORE_ROOT, project), &all, NULL, NULL) != RT_OK)
		assert_int_equal(all.status, RT_OK); /* no checkpoint yet */
	found = rt_str_find(rt_buf_str(&all), rt_str_of(text), 0) != SIZE_MAX;
	nodes.size = 0;
	assert_int_equal(ops->index_find(f->store, project, rt_str_of(text), 0,
					 copy_number, &nodes, NULL), RT_OK);
	hits = nodes.size / sizeof(number);
	rt_buf_deinit(&all);
	rt_buf_deinit(&nodes);
	return found || hits > 0;
}

/* The bytes of the files, ignoring case, because the index folds it. */
static bool
file_holds(fixture *f, const char *name, const char *text)
{
	char path[96], *bytes;
	size_t size = strlen(text), room, i, j;
	bool found = false;
	FILE *file;
	struct stat about;

	path_of(f, name, path);
	file = fopen(path, "rb");
	if (file == NULL)
		return false;
	assert_int_equal(fstat(fileno(file), &about), 0);
	room = (size_t)about.st_size;
	bytes = test_malloc(room + 1);
	assert_int_equal(fread(bytes, 1, room, file), room);
	fclose(file);
	for (i = 0; !found && i + size <= room; i++) {
		for (j = 0; j < size && (bytes[i + j] | 32) == (text[j] | 32); j++)
			;
		found = j == size;
	}
	test_free(bytes);
	return found;
}

static bool
files_hold(fixture *f, const char *text)
{
	return file_holds(f, "a.db", text) || file_holds(f, "a.db-wal", text) ||
	       file_holds(f, "a.db-shm", text);
}

/* ---- the value follows from the remaining rows ---- */

static bool
print_finding(void *ctx, const rt_finding *finding)
{
	int *count = ctx;

	print_message("%s: %s\n", finding->id, finding->text);
	(*count)++;
	return true;
}

static void
is_sound(fixture *f)
{
	int count = 0;

	assert_int_equal(rt_engine_fsck(f->engine, print_finding, &count, NULL), RT_OK);
	assert_int_equal(count, 0);
}

/* ---- purge of an entry ---- */

static void
an_entry_becomes_a_hole(void **state)
{
	fixture *f = *state;
	rt_result result;

	apply(f, "{\"op\":\"entry.append\",\"id\":\"a\",\"content\":\"one\"}");
	apply(f, "{\"op\":\"entry.append\",\"id\":\"b\",\"content\":\"the " SECRET "\",\"note\":\"x " SECRET "\"}");
	apply(f, "{\"op\":\"take.branch\",\"at\":\"b\"}");
	apply(f, "{\"op\":\"entry.edit\",\"entry\":\"b\",\"content\":\"changed " SECRET "\"}");
	apply(f, "{\"op\":\"entry.append\",\"id\":\"c\",\"content\":\"three\"}");
	apply(f, "{\"op\":\"take.promote\",\"take\":\"main_take_1\",\"name\":\"copy\"}");
	assert_int_equal(rt_engine_index(f->engine, NULL), RT_OK);
	assert_true(store_holds(f, SECRET));
	assert_int_equal(try_apply(f, "{\"op\":\"purge\",\"entry\":\"b\"}", &result), RT_OK);
	assert_int_equal(result.count, 2);
	assert_string_equal(result.entry, "b");
	assert_false(result.unchanged);
	assert_non_null(strstr(result.note->ptr, "backups"));
	rt_result_deinit(&result);
	assert_false(store_holds(f, SECRET));
	assert_false(files_hold(f, SECRET));
	assert_true(shows(f, "{\"id\":\"b\",\"role\":\"User\",\"kind\":\"message\",\"content\":\"\""));
	assert_true(shows(f, "\"purged\":true"));
	assert_true(shows(f, "\"content\":\"three\""));
	is_sound(f);
	/* undo works, and restores no text */
	apply(f, "{\"op\":\"undo\",\"count\":4}");
	assert_true(shows(f, "\"purged\":true"));
	apply(f, "{\"op\":\"redo\",\"count\":4}");
	/* nothing is left to purge the second time */
	assert_int_equal(try_apply(f, "{\"op\":\"purge\",\"entry\":\"b\"}", &result), RT_OK);
	assert_true(result.unchanged);
	rt_result_deinit(&result);
	is_sound(f);
}

static void
an_entry_that_is_in_no_take(void **state)
{
	fixture *f = *state;
	rt_result result;

	apply(f, "{\"op\":\"entry.append\",\"id\":\"a\",\"content\":\"one\"}");
	apply(f, "{\"op\":\"entry.append\",\"id\":\"b\",\"content\":\"the " SECRET "\"}");
	apply(f, "{\"op\":\"entry.delete\",\"entry\":\"b\"}");
	apply(f, "{\"op\":\"purge\",\"entry\":\"b\"}");
	assert_false(store_holds(f, SECRET));
	apply(f, "{\"op\":\"undo\"}");
	assert_true(shows(f, "\"purged\":true"));
	assert_int_equal(try_apply(f, "{\"op\":\"purge\",\"entry\":\"nobody\"}", &result), RT_NOT_FOUND);
	rt_result_deinit(&result);
	is_sound(f);
}

static void
says_who_else_has_the_words(void **state)
{
	fixture *f = *state;
	rt_result result;

	apply(f, "{\"op\":\"entry.append\",\"id\":\"a\",\"content\":\"left \"}");
	apply(f, "{\"op\":\"entry.append\",\"id\":\"b\",\"content\":\"the " SECRET "\"}");
	apply(f, "{\"op\":\"entry.merge\",\"entry\":\"a\"}");
	assert_int_equal(try_apply(f, "{\"op\":\"purge\",\"entry\":\"b\"}", &result), RT_OK);
	assert_non_null(strstr(result.note->ptr, "1 other text still contains the same words"));
	rt_result_deinit(&result);
	assert_true(store_holds(f, SECRET));
	apply(f, "{\"op\":\"purge\",\"text\":\"" SECRET "\"}");
	assert_false(store_holds(f, SECRET));
}

static void
needs_exactly_one_target(void **state)
{
	fixture *f = *state;
	static const char *const bad[] = {
		"{\"op\":\"purge\"}", "{\"op\":\"purge\",\"text\":\"\"}",
		"{\"op\":\"purge\",\"text\":\"x\",\"entry\":\":1\"}", "{\"op\":\"purge\",\"text\":7}"};
	rt_result result;

	apply(f, "{\"op\":\"entry.append\",\"content\":\"one\"}");
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(try_apply(f, bad[i], &result), RT_USAGE);
		rt_result_deinit(&result);
	}
	assert_int_equal(try_apply(f, "{\"op\":\"purge\",\"text\":\"not there\"}", &result), RT_OK);
	assert_true(result.unchanged);
	assert_int_equal(result.seq, 1);
	rt_result_deinit(&result);
}

/* ---- purge of a text ---- */

/* A project with the secret in every place that takes a text. */
static void
everywhere(fixture *f)
{
	static const char *const lines[] = {
		"{\"op\":\"entry.append\",\"id\":\"a\",\"content\":\"plain\"}",
		"{\"op\":\"entry.append\",\"id\":\"b\",\"content\":\"x " SECRET " y\"}",
		"{\"op\":\"entry.append\",\"id\":\"" SECRET "\",\"content\":\"an id\"}",
		"{\"op\":\"entry.append\",\"id\":\"id-" SECRET "\",\"content\":\"another id\"}",
		"{\"op\":\"entry.append\",\"role\":\"r " SECRET "\",\"content\":\"a role\"}",
		"{\"op\":\"entry.append\",\"role\":\"AI\",\"kind\":\"k-" SECRET "\",\"content\":\"a kind\"}",
		"{\"op\":\"entry.append\",\"content\":\"fields\",\"extra\":{\"deep\":[\"" SECRET "\"]}}",
		"{\"op\":\"entry.append\",\"content\":\"keys\",\"extra\":{\"" SECRET "\":1}}",
		"{\"op\":\"entry.append\",\"content\":\"nested\",\"extra\":\"{\\\"a\\\":\\\"" SECRET "\\\"}\"}",
		"{\"op\":\"entry.append\",\"content\":\"escaped \\\\u0074\\\\u006fk-9f8e7d6c5b4a\"}",
		"{\"op\":\"entry.append\",\"content\":[{\"type\":\"text\",\"text\":\"blocks " SECRET "\"}]}",
		"{\"op\":\"entry.edit\",\"entry\":\"a\",\"content\":\"" SECRET "\",\"why\":\"because " SECRET "\"}",
		"{\"op\":\"entry.edit\",\"entry\":\"a\",\"content\":\"clean\"}",
		"{\"op\":\"entry.delete\",\"entry\":\"b\"}",
		"{\"op\":\"label.set\",\"entry\":\"a\",\"label\":\"label " SECRET "\"}",
		"{\"op\":\"prompt.update\",\"text\":\"prompt " SECRET "\"}",
		"{\"op\":\"prompt.notify\"}",
		"{\"op\":\"setting.set\",\"key\":\"project_system_prompt\",\"value\":\"be " SECRET "\"}",
		"{\"op\":\"setting.set\",\"key\":\"k" SECRET "\",\"value\":{\"" SECRET "\":[1,\"" SECRET "\"]}}",
		"{\"op\":\"setting.set\",\"key\":\"draft\",\"value\":\"draft " SECRET "\"}",
		"{\"op\":\"files.set\",\"which\":\"files\",\"items\":[\"/home/" SECRET "\",\"/tmp\"]}",
		"{\"op\":\"preset.save\",\"name\":\"preset " SECRET "\"}",
		"{\"op\":\"role.add\",\"role\":\"r " SECRET "\"}",
		"{\"op\":\"track.set\",\"track\":\"" SECRET "\"}",
		"{\"op\":\"take.branch\",\"at\":\"a\",\"name\":\"take " SECRET "\"}",
		"{\"op\":\"take.branch\",\"at\":\"a\",\"name\":\"tack " SECRET "\"}",
		"{\"op\":\"entry.append\",\"id\":\"last\",\"content\":\"in the branch\"}",
		"{\"op\":\"discussion.new\",\"name\":\"disc " SECRET "\"}",
		"{\"op\":\"discussion.rename\",\"discussion\":\"disc " SECRET "\",\"name\":\"" SECRET " too\"}",
		"{\"op\":\"discussion.switch\",\"discussion\":\"main\"}",
		"{\"op\":\"undo\"}",
		"{\"op\":\"redo\"}",
	};

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		apply(f, lines[i]);
	assert_int_equal(f->store->ops->write(f->store,
					      rt_rows_named(RT_STORE_SIDE,
							    rt_engine_project_number(f->engine),
							    RT_STR("draft:1")),
					      RT_STR("half " SECRET), NULL),
			 RT_OK);
	assert_int_equal(f->store->ops->write(f->store,
					      rt_rows_named(RT_STORE_SIDE,
							    rt_engine_project_number(f->engine),
							    RT_STR("draft:2")),
					      RT_STR("clean"), NULL),
			 RT_OK);
	assert_int_equal(rt_engine_index(f->engine, NULL), RT_OK);
	assert_int_equal(rt_engine_checkpoint(f->engine, NULL), RT_OK);
}

static rt_status
hear(void *ctx, rt_str text, rt_error *err)
{
	rt_buf *heard = ctx;

	(void)err;
	rt_buf_add_str(heard, text);
	rt_buf_add_byte(heard, '|');
	return RT_OK;
}

#define FIRST_TEXTS                                                                                \
	"as it is now, a good deal later than that|as it was at the very first, and before|"

/* Programs that keep texts elsewhere are notified of the purged texts: of an entry, all that it
 * ever had. */
static void
others_are_told(void **state)
{
	fixture *f = *state;
	rt_buf heard;
	rt_engine_options options = {.env = &env, .create = true, .purged = hear,
				     .purged_ctx = &heard};
	rt_result result;

	rt_buf_init(&heard, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_engine_close(f->engine);
	assert_int_equal(rt_engine_open(&options, f->store, &f->engine, NULL), RT_OK);
	apply(f, "{\"op\":\"entry.append\",\"content\":\"as it was at the very first, and before\"}");
	apply(f, "{\"op\":\"entry.edit\",\"entry\":\":1\",\"content\":\"please continue\"}");
	apply(f, "{\"op\":\"entry.edit\",\"entry\":\":1\",\"content\":\"as it is now, a good deal later than that\"}");
	apply(f, "{\"op\":\"entry.append\",\"content\":\"another's text\"}");
	assert_int_equal(try_apply(f, "{\"op\":\"purge\",\"entry\":\":9\"}", &result), RT_NOT_FOUND);
	rt_result_deinit(&result);
	assert_int_equal(heard.size, 0);
	apply(f, "{\"op\":\"purge\",\"entry\":\":1\"}");
	assert_true(rt_str_is(rt_buf_str(&heard), FIRST_TEXTS FIRST_TEXTS)); /* before and after */
	rt_buf_clear(&heard);
	apply(f, "{\"op\":\"purge\",\"text\":\"other\"}");
	assert_true(rt_str_is(rt_buf_str(&heard), "other|"));
	rt_buf_deinit(&heard);
}

static rt_status
cannot_purge(void *ctx, rt_str text, rt_error *err)
{
	(void)ctx;
	(void)text;
	return rt_fail(err, RT_IO, "the request log: it is a folder");
}

/* A copy that remains elsewhere fails the purge, with a message; the store is purged, and other
 * requests are not affected. */
static void
a_copy_that_is_left_is_reported(void **state)
{
	static const char purge[] = "{\"op\":\"purge\",\"text\":\"" SECRET "\"}";
	fixture *f = *state;
	rt_engine_options options = {.env = &env, .create = true, .purged = cannot_purge};
	rt_result result;

	rt_engine_close(f->engine);
	assert_int_equal(rt_engine_open(&options, f->store, &f->engine, NULL), RT_OK);
	for (size_t i = 0; i < 2; i++) {
		apply(f, "{\"op\":\"entry.append\",\"content\":\"a long text with the " SECRET "\"}");
		assert_int_equal(try_apply(f, i == 0 ? purge : "{\"op\":\"purge\",\"entry\":\":2\"}",
					   &result), RT_IO);
		assert_non_null(strstr(result.error.text, "copies elsewhere may still contain it "
							  "(the request log: it is a folder)"));
		rt_result_deinit(&result);
		assert_false(shows(f, SECRET));
	}
	assert_int_equal(try_apply(f, purge, &result), RT_IO); /* again, although the store does not
								* contain it any more */
	rt_result_deinit(&result);
}

static rt_status
no_commit(rt_store *store, rt_error *err)
{
	(void)store;
	return rt_fail(err, RT_IO, "no space left");
}

/* A purge that is interrupted before its commit: others have been notified, the entry still has its
 * texts, and the same purge finds them when it is repeated. */
static void
an_interrupted_purge_is_repeated(void **state)
{
	static const char text[] = "a text of which nothing may be left anywhere";
	static const char purge[] = "{\"op\":\"purge\",\"entry\":\":1\"}";
	fixture *f = *state;
	const rt_store_ops *ops = f->store->ops;
	rt_store_ops failing = *ops;
	rt_buf heard;
	rt_engine_options options = {.env = &env, .create = true, .purged = hear,
				     .purged_ctx = &heard};
	rt_result result;

	failing.commit = no_commit;
	rt_buf_init(&heard, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_engine_close(f->engine);
	assert_int_equal(rt_engine_open(&options, f->store, &f->engine, NULL), RT_OK);
	apply(f, "{\"op\":\"entry.append\",\"content\":\"a text of which nothing may be left anywhere\"}");
	f->store->ops = &failing;
	assert_int_equal(try_apply(f, purge, &result), RT_IO);
	rt_result_deinit(&result);
	f->store->ops = ops;
	assert_non_null(strstr(heard.ptr, text));
	assert_true(shows(f, text));
	rt_buf_clear(&heard);
	assert_int_equal(try_apply(f, purge, &result), RT_OK);
	assert_false(result.unchanged);
	rt_result_deinit(&result);
	assert_non_null(strstr(heard.ptr, text));
	assert_false(shows(f, text));
	rt_buf_deinit(&heard);
}

/* The name of a project stays, and the note mentions it, also when nothing else contains the
 * text. */
static void
the_name_of_a_project(void **state)
{
	static const char words[] = "the name of the project contains";
	fixture *f = *state;
	rt_engine_options options = {.env = &env, .create = true, .project = RT_STR("p-" SECRET)};
	rt_result result;

	apply(f, "{\"op\":\"entry.append\",\"content\":\"the " SECRET "\"}");
	rt_engine_close(f->engine);
	assert_int_equal(rt_engine_open(&options, f->store, &f->engine, NULL), RT_OK);
	apply(f, "{\"op\":\"entry.append\",\"content\":\"the " SECRET "\"}");
	assert_int_equal(try_apply(f, "{\"op\":\"purge\",\"text\":\"" SECRET "\"}", &result), RT_OK);
	assert_false(result.unchanged);
	assert_non_null(strstr(result.note->ptr, words));
	rt_result_deinit(&result);
	assert_int_equal(try_apply(f, "{\"op\":\"purge\",\"text\":\"" SECRET "\"}", &result), RT_OK);
	assert_true(result.unchanged);
	assert_non_null(strstr(result.note->ptr, words));
	rt_result_deinit(&result);
	/* the name of another project is not affected */
	rt_engine_close(f->engine);
	open_engine(f);
	assert_int_equal(try_apply(f, "{\"op\":\"purge\",\"text\":\"" SECRET "\"}", &result), RT_OK);
	assert_false(result.unchanged);
	assert_null(strstr(result.note->ptr, words));
	rt_result_deinit(&result);
}

static void
a_text_is_gone_from_everywhere(void **state)
{
	fixture *f = *state;
	rt_result result;

	everywhere(f);
	assert_true(store_holds(f, SECRET));
	assert_true(shows(f, SECRET));
	assert_int_equal(try_apply(f, "{\"op\":\"purge\",\"text\":\"" SECRET "\"}", &result), RT_OK);
	assert_false(result.unchanged);
	assert_non_null(strstr(result.note->ptr, "1 draft deleted"));
	rt_result_deinit(&result);
	assert_false(store_holds(f, SECRET));
	assert_false(shows(f, SECRET));
	assert_false(files_hold(f, SECRET));
	assert_false(files_hold(f, "9f8e7d6c5b4a"));
	is_sound(f);

	/* everything that is not a secret is unchanged */
	assert_true(shows(f, "\"content\":\"clean\""));
	assert_true(shows(f, "\"content\":\"in the branch\""));
	apply(f, "{\"op\":\"entry.append\",\"content\":\"life goes on\"}");
	apply(f, "{\"op\":\"take.switch\",\"take\":\"main\"}");
	assert_true(shows(f, "\"content\":\"an id\""));
	assert_true(shows(f, "\"content\":\"a role\""));
	assert_true(shows(f, "\"content\":\"a kind\""));

	/* every past state can be read, without the secret */
	for (uint64_t seq = 0; seq <= 30; seq++) {
		const rt_project *past;
		rt_place place = {1, 0};
		rt_status st = rt_engine_value_at(f->engine, seq, &past, NULL);

		assert_int_equal(st, RT_OK);
		rt_buf_clear(&f->out);
		assert_int_equal(rt_view_show(f->engine, past, place, NULL, &f->out, NULL), RT_OK);
		assert_null(strstr(f->out.ptr, SECRET));
		rt_object_unref(past);
	}
	apply(f, "{\"op\":\"undo\",\"count\":100}");
	apply(f, "{\"op\":\"redo\",\"count\":100}");
	is_sound(f);

	/* and it stays that way after a restart */
	rt_engine_close(f->engine);
	open_engine(f);
	assert_false(shows(f, SECRET));
	is_sound(f);
	assert_int_equal(try_apply(f, "{\"op\":\"purge\",\"text\":\"" SECRET "\"}", &result), RT_OK);
	assert_true(result.unchanged);
	rt_result_deinit(&result);
}

/* Two names and two ids are still different. */
static void
masks_differ(void **state)
{
	fixture *f = *state;
	rt_result result;

	everywhere(f);
	apply(f, "{\"op\":\"purge\",\"text\":\"" SECRET "\"}");
	assert_true(shows(f, "\"XXXXXXXXXXXXXXXXXXXXX\""));
	assert_true(shows(f, "\"XXXXXXXXXXXXXXXXXXXX1\""));
	apply(f, "{\"op\":\"take.switch\",\"take\":\"XXXXXXXXXXXXXXXXXXXX1\"}");
	/* a later purge uses other masks: three of this size are in use */
	apply(f, "{\"op\":\"take.rename\",\"take\":\"main\",\"name\":\"another secret: hide!\"}");
	apply(f, "{\"op\":\"purge\",\"text\":\"another secret\"}");
	assert_int_equal(try_apply(f, "{\"op\":\"take.switch\",\"take\":\"XXXXXXXXXXXXXXXXXXXX3\"}",
				   &result), RT_OK);
	rt_result_deinit(&result);
	is_sound(f);
}

static void
words_of_ours_stay(void **state)
{
	fixture *f = *state;

	apply(f, "{\"op\":\"entry.append\",\"content\":\"the content of the User\"}");
	apply(f, "{\"op\":\"entry.append\",\"role\":\"AI\",\"content\":\"fine\",\"more\":{\"type\":\"x\"}}");
	apply(f, "{\"op\":\"setting.set\",\"key\":\"model\",\"value\":\"gpt\"}");
	apply(f, "{\"op\":\"purge\",\"text\":\"User\"}");
	apply(f, "{\"op\":\"purge\",\"text\":\"content\"}");
	apply(f, "{\"op\":\"purge\",\"text\":\"model\"}");
	assert_true(shows(f, "\"role\":\"User\",\"kind\":\"message\",\"content\":\"\""));
	assert_true(shows(f, "\"content\":\"fine\""));
	assert_true(shows(f, "\"gpt\""));
	is_sound(f);
}

/* The text of a mask, and one letter. */
static void
odd_texts(void **state)
{
	fixture *f = *state;

	everywhere(f);
	apply(f, "{\"op\":\"take.rename\",\"take\":\"main\",\"name\":\"XX\"}");
	apply(f, "{\"op\":\"purge\",\"text\":\"X\"}");
	apply(f, "{\"op\":\"purge\",\"text\":\"1\"}");
	apply(f, "{\"op\":\"purge\",\"text\":\"\\\"\"}");
	apply(f, "{\"op\":\"purge\",\"text\":\"\\u0000\"}");
	apply(f, "{\"op\":\"purge\",\"text\":\"a\"}");
	apply(f, "{\"op\":\"entry.append\",\"content\":\"\\u00e9\\ud83d\\ude00 \\\\ud83d\\\\ude00\"}");
	apply(f, "{\"op\":\"purge\",\"text\":\"\\ud83d\\ude00\"}");
	assert_false(shows(f, "\xF0\x9F\x98\x80"));
	is_sound(f);
}

static void
a_secret_with_signs(void **state)
{
	fixture *f = *state;

	apply(f, "{\"op\":\"entry.append\",\"content\":\"pw: \\\"a\\\\b\\n\\u00fc\\\" end\"}");
	apply(f, "{\"op\":\"entry.append\",\"content\":\"x\",\"more\":[\"a\\\\b\\n\\u00fc\"]}");
	apply(f, "{\"op\":\"entry.append\",\"content\":[{\"text\":\"a\\\\b\"},{\"text\":\"\\u00fc\"}]}");
	apply(f, "{\"op\":\"prompt.update\",\"text\":\"a\\\\b\\n\\u00fc\"}");
	apply(f, "{\"op\":\"setting.set\",\"key\":\"n\",\"value\":[4111111111111111,8192]}");
	apply(f, "{\"op\":\"purge\",\"text\":\"a\\\\b\\n\\u00fc\"}");
	apply(f, "{\"op\":\"purge\",\"text\":\"4111111111111111\"}");
	assert_false(shows(f, "\xC3\xBC"));
	assert_false(store_holds(f, "4111111111111111"));
	assert_true(shows(f, "[0,8192]"));
	is_sound(f);
}

/* ---- the files ---- */

static void
a_backup_made_after_is_clean(void **state)
{
	fixture *f = *state;
	char path[96];
	rt_error err = {0};

	everywhere(f);
	assert_true(files_hold(f, SECRET));
	apply(f, "{\"op\":\"purge\",\"text\":\"" SECRET "\"}");
	assert_false(files_hold(f, SECRET));
	path_of(f, "b.db", path);
	if (f->store->ops->backup(f->store, path, &err) != RT_OK)
		fail_msg("%s", err.text);
	assert_false(file_holds(f, "b.db", SECRET));
	rt_engine_close(f->engine);
	f->store->ops->close(f->store);
	assert_false(files_hold(f, SECRET));
	open_store(f, "b.db");
	open_engine(f);
	assert_false(shows(f, SECRET));
	is_sound(f);
}

/* A second process has the old value in memory. */
static void
another_process_does_not_bring_it_back(void **state)
{
	fixture *f = *state, other = {0};

	everywhere(f);
	apply(f, "{\"op\":\"entry.append\",\"content\":\"not in the checkpoint yet\"}");
	memcpy(other.folder, f->folder, sizeof(other.folder));
	rt_buf_init(&other.out, rt_alloc_libc(), RT_BUF_UNLIMITED);
	open_store(&other, "a.db");
	open_engine(&other);
	assert_true(shows(&other, SECRET));
	apply(f, "{\"op\":\"purge\",\"text\":\"" SECRET "\"}");
	if (rt_engine_checkpoint(other.engine, NULL) != RT_OK)
		print_message("# the other process kept no checkpoint\n");
	rt_engine_close(other.engine);
	open_engine(&other);
	assert_false(shows(&other, SECRET));
	apply(&other, "{\"op\":\"entry.append\",\"content\":\"from the other one\"}");
	assert_int_equal(rt_engine_checkpoint(other.engine, NULL), RT_OK);
	rt_engine_close(other.engine);
	other.store->ops->close(other.store);
	rt_buf_deinit(&other.out);
	assert_int_equal(rt_engine_refresh(f->engine, NULL), RT_OK);
	assert_true(shows(f, "from the other one"));
	assert_false(store_holds(f, SECRET));
	assert_false(files_hold(f, SECRET));
	is_sound(f);
}

/* ---- too little memory ---- */

/* Fails from the allocation on that left counts down to; 0: never. */
static void *
short_resize(void *ctx, void *ptr, size_t size)
{
	long *left = ctx;

	if (*left == 1)
		return NULL;
	*left -= *left > 1;
	return rt_resize(rt_alloc_libc(), ptr, size);
}

static void
short_release(void *ctx, void *ptr)
{
	(void)ctx;
	rt_free(rt_alloc_libc(), ptr);
}

static bool
count_secret(void *ctx, const rt_store_row *row)
{
	*(int *)ctx += rt_str_find(row->data, RT_STR(SECRET), 0) != SIZE_MAX;
	return true;
}

/* Some bodies would be blank and others not, without a row that says so. */
static void
memory_that_ends_leaves_all_bodies_alone(void **state)
{
	fixture *f = *state;
	long left = 0, n;
	rt_alloc scarce = {short_resize, short_release, &left};
	rt_engine_options options = {.env = &env, .alloc = &scarce};
	rt_status st = RT_NOMEM;
	rt_result result;
	uint64_t head, now, project = rt_engine_project_number(f->engine);

	apply(f, "{\"op\":\"entry.append\",\"content\":\"one " SECRET "\"}");
	apply(f, "{\"op\":\"entry.append\",\"content\":\"two " SECRET "\"}");
	apply(f, "{\"op\":\"entry.append\",\"content\":\"three " SECRET "\"}");
	assert_int_equal(f->store->ops->head(f->store, RT_STORE_LOG, project, &head, NULL), RT_OK);
	rt_engine_close(f->engine);
	assert_int_equal(rt_engine_open(&options, f->store, &f->engine, NULL), RT_OK);
	for (n = 1; st != RT_OK; n++) {
		int count = 0;

		left = n;
		st = try_apply(f, "{\"op\":\"purge\",\"text\":\"" SECRET "\"}", &result);
		left = 0;
		rt_result_deinit(&result);
		if (st == RT_OK)
			break;
		assert_int_equal(st, RT_NOMEM);
		assert_int_equal(f->store->ops->head(f->store, RT_STORE_LOG, project, &now, NULL),
				 RT_OK);
		assert_int_equal(now, head);
		assert_int_equal(f->store->ops->read(
					 f->store,
					 rt_rows_between(RT_STORE_BODIES, project, 1, UINT32_MAX),
					 count_secret, &count, NULL),
				 RT_OK);
		assert_int_equal(count, 3);
	}
	assert_true(n > 20);
	assert_false(store_holds(f, SECRET));
	is_sound(f);
	rt_engine_close(f->engine);
	open_engine(f);
}

/* The words are spread over two blocks, so the body has to be read to find them. */
static void
memory_that_ends_finds_no_less(void **state)
{
	long left = 0, n;
	rt_alloc scarce = {short_resize, short_release, &left};
	rt_str body = RT_STR("J{\"content\":[{\"type\":\"text\",\"text\":\"one\"},"
			     "{\"type\":\"text\",\"text\":\"two\"}]}");
	bool found = false;

	(void)state;
	for (n = 1; !found; n++) {
		rt_scope s;

		rt_scope_init(&s, &scarce);
		left = n;
		rt_needle needle = rt_needle_of(&s, RT_STR("one\ntwo"));
		found = rt_needle_in_body(&needle, body);
		left = 0;
		assert_true(found || s.status == RT_NOMEM);
		rt_scope_deinit(&s);
		assert_true(n < 100);
	}
}

/* ---- the parts ---- */

static bool
in(const char *text, const char *bytes)
{
	rt_scope s;

	rt_scope_init(&s, rt_alloc_libc());
	rt_needle needle = rt_needle_of(&s, rt_str_of(text));
	bool found = rt_needle_in_body(&needle, rt_str_of(bytes));
	assert_true(rt_ok(&s));
	rt_scope_deinit(&s);
	return found;
}

static void
finds_a_text_in_bodies(void **state)
{
	(void)state;
	assert_true(in("secret", "Ta secret"));
	assert_true(in("secret", "Ta \\u0073ecret"));
	assert_false(in("secret", "TSecret"));
	assert_false(in("secret", "X"));
	assert_true(in("secret", "J{\"content\":\"a\",\"k\":{\"secret\":1}}"));
	assert_true(in("secret", "J{\"content\":\"a\",\"k\":\"{\\\"b\\\":\\\"\\\\u0073ecret\\\"}\"}"));
	assert_true(in("secret", "P{\"type\":\"message\",\"message\":{\"content\":\"secret\"}}"));
	assert_true(in("secret", "P{\"broken\":\"secret"));
	assert_true(in("secret", "Thex 736563726574"));
	assert_true(in("12345", "J{\"content\":\"\",\"n\":12345}"));
	assert_false(in("2345", "J{\"content\":\"\",\"n\":12345}"));
	assert_false(in("content", "J{\"content\":\"\",\"type\":1}"));
	assert_true(in("content", "J{\"content\":\"content\",\"type\":1}"));
	assert_true(in("\"n\":1", "J{\"content\":\"\",\"n\":12345}"));
}

#define ON(name, kind) \
	{#name " (" kind ")", name, set_up, tear_down, (void *)(uintptr_t)kind}
#define BOTH(name) ON(name, "memory"), ON(name, "sqlite")

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_a_text_in_bodies),
		cmocka_unit_test(memory_that_ends_finds_no_less),
		BOTH(an_entry_becomes_a_hole),
		BOTH(an_entry_that_is_in_no_take),
		BOTH(says_who_else_has_the_words),
		BOTH(needs_exactly_one_target),
		BOTH(others_are_told),
		BOTH(a_copy_that_is_left_is_reported),
		BOTH(an_interrupted_purge_is_repeated),
		BOTH(the_name_of_a_project),
		BOTH(a_text_is_gone_from_everywhere),
		BOTH(masks_differ),
		BOTH(words_of_ours_stay),
		BOTH(odd_texts),
		BOTH(a_secret_with_signs),
		BOTH(memory_that_ends_leaves_all_bodies_alone),
		ON(a_backup_made_after_is_clean, "sqlite"),
		ON(another_process_does_not_bring_it_back, "sqlite"),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
