/* SPDX-License-Identifier: MIT
 *
 * Fsck: a corruption for each finding, and none where all is well. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "log/checkpoint.h"
#include "log/engine_testing.h"
#include "log/folder_testing.h"
#include "log/fsck.h"
#include "log/index.h"
#include "store/store_memory.h"
#include "store/store_sqlite.h"

typedef struct fixture {
	rt_store *store;
	rt_engine *engine;
	uint64_t project;
	rt_buf found; /* ids of findings, a line each */
	char folder[64];
} fixture;

static void
open_engine(fixture *f)
{
	rt_engine_options options = {.env = &env, .create = true};
	rt_error err = {0};

	if (rt_engine_open(&options, f->store, &f->engine, &err) != RT_OK)
		fail_msg("%s", err.text);
	f->project = rt_engine_project_number(f->engine);
}

static void
reopen(fixture *f)
{
	rt_engine_close(f->engine);
	open_engine(f);
}

static int
set_up(void **state)
{
	rt_store_sqlite_options file = {.create = true};
	fixture *f = test_calloc(1, sizeof(*f));
	char path[96];

	if (strcmp(*state, "memory") == 0) {
		assert_int_equal(rt_store_memory_open(rt_alloc_libc(), &env, &f->store, NULL), RT_OK);
	} else {
		assert_true(test_folder(f->folder, sizeof(f->folder), "fsck_test"));
		snprintf(path, sizeof(path), "%s/a.db", f->folder);
		assert_int_equal(rt_store_sqlite_open(rt_alloc_libc(), &env, path, &file, &f->store,
						      NULL), RT_OK);
	}
	open_engine(f);
	rt_buf_init(&f->found, rt_alloc_libc(), RT_BUF_UNLIMITED);
	*state = f;
	return 0;
}

static int
tear_down(void **state)
{
	static const char *const names[] = {"a.db", "a.db-wal", "a.db-shm"};
	fixture *f = *state;
	char path[96];

	rt_buf_deinit(&f->found);
	rt_engine_close(f->engine);
	f->store->ops->close(f->store);
	for (size_t i = 0; f->folder[0] != '\0' && i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", f->folder, names[i]);
		(void)unlink(path);
	}
	if (f->folder[0] != '\0')
		(void)rmdir(f->folder);
	test_free(f);
	return 0;
}

static rt_status
try_apply(fixture *f, const char *json)
{
	rt_result result;
	rt_status st = rt_engine_apply_text(f->engine, rt_str_of(json), RT_STR(""), RT_STR(""), &result);

	rt_result_deinit(&result);
	return st;
}

static void
apply(fixture *f, const char *json)
{
	if (try_apply(f, json) != RT_OK)
		fail_msg("%s", json);
}

static bool
collect(void *ctx, const rt_finding *finding)
{
	fixture *f = ctx;

	rt_buf_add_c(&f->found, finding->severity);
	rt_buf_add_byte(&f->found, ' ');
	rt_buf_add_c(&f->found, finding->id);
	rt_buf_add_byte(&f->found, '\n');
	if (getenv("SHOW") != NULL)
		print_message("%s %s: %s\n", finding->severity, finding->id, finding->text);
	return true;
}

static const char *
fsck(fixture *f)
{
	rt_error err = {0};

	rt_buf_clear(&f->found);
	rt_buf_add_c(&f->found, "");
	if (rt_engine_fsck(f->engine, collect, f, &err) != RT_OK)
		fail_msg("%s", err.text);
	return f->found.ptr != NULL ? f->found.ptr : "";
}

/* Expects this finding; there may be others, since one fault can have several symptoms. */
static void
finds(fixture *f, const char *finding)
{
	if (strstr(fsck(f), finding) == NULL)
		fail_msg("no \"%s\" among:\n%s", finding, f->found.ptr);
}

/* ---- corruptions ---- */

typedef struct row_copy {
	rt_buf data;
} row_copy;

static bool
copy_row(void *ctx, const rt_store_row *row)
{
	rt_buf_add_str(ctx, row->data);
	return false;
}

/* Replace a piece of a log row by another. */
static void
change_row(fixture *f, uint64_t seq, const char *from, const char *to)
{
	rt_buf row, changed;
	size_t at;

	rt_buf_init(&row, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_buf_init(&changed, rt_alloc_libc(), RT_BUF_UNLIMITED);
	assert_int_equal(f->store->ops->read(f->store, rt_rows_one(RT_STORE_LOG, f->project, seq),
					     copy_row, &row, NULL),
			 RT_OK);
	at = rt_str_find(rt_buf_str(&row), rt_str_of(from), 0);
	if (at == SIZE_MAX)
		fail_msg("\"%s\" is not in %s", from, row.ptr);
	rt_buf_add(&changed, row.ptr, at);
	rt_buf_add_c(&changed, to);
	rt_buf_add(&changed, row.ptr + at + strlen(from), row.size - at - strlen(from));
	assert_int_equal(f->store->ops->begin(f->store, NULL), RT_OK);
	assert_int_equal(f->store->ops->write(f->store, rt_rows_one(RT_STORE_LOG, f->project, seq),
					      rt_buf_str(&changed), NULL),
			 RT_OK);
	assert_int_equal(f->store->ops->commit(f->store, NULL), RT_OK);
	rt_buf_deinit(&row);
	rt_buf_deinit(&changed);
}

/* A row as a faulty writer would add it; bodies may be none. The effects name the current
 * step of d1 by "CUR". */
static void
add_row(fixture *f, const char *effects, const rt_store_row *bodies, size_t body_count)
{
	rt_store_row row;
	uint64_t head;
	char data[1024];

	memset(&row, 0, sizeof(row));
	assert_int_equal(f->store->ops->head(f->store, RT_STORE_LOG, f->project, &head, NULL),
			 RT_OK);
	snprintf(data, sizeof(data),
		 "{\"v\":1,\"op\":\"entry.append\",\"by\":\"test\",\"d\":1,\"p\":[[1,%d]],\"fx\":[%s]}",
		 (int)head, effects);
	row.data = rt_str_of(data);
	env_random(&env_state, row.step, sizeof(row.step));
	assert_int_equal(f->store->ops->begin(f->store, NULL), RT_OK);
	assert_int_equal(f->store->ops->append(f->store, f->project, head, &row, 1, bodies, body_count,
					       NULL, NULL), RT_OK);
	assert_int_equal(f->store->ops->commit(f->store, NULL), RT_OK);
	assert_int_equal(rt_engine_refresh(f->engine, NULL), RT_OK);
}

/* Three entries: rows 1 to 3, bodies 1 to 3. */
static void
three(fixture *f)
{
	apply(f, "{\"op\":\"entry.append\",\"id\":\"a\",\"content\":\"one\"}");
	apply(f, "{\"op\":\"entry.append\",\"content\":\"two\"}");
	apply(f, "{\"op\":\"entry.append\",\"content\":\"three\"}");
	assert_string_equal(fsck(f), "");
}

/* ---- no false alarm ---- */

/* without: a word that no step may contain. */
static void
random_step(fixture *f, const char *without)
{
	static const char *const lines[] = {
		"{\"op\":\"entry.append\",\"content\":\"some text\"}",
		"{\"op\":\"entry.append\",\"role\":\"AI\",\"content\":\"a longer text \\u00e9\",\"usage\":{\"n\":1}}",
		"{\"op\":\"entry.append\",\"content\":[{\"type\":\"text\",\"text\":\"blocks\"}]}",
		"{\"op\":\"entry.insert\",\"before\":\":1\",\"role\":\"System\",\"content\":\"in front\"}",
		"{\"op\":\"entry.edit\",\"entry\":\":2\",\"content\":\"edited\"}",
		"{\"op\":\"entry.edit\",\"entry\":\":-1\",\"content\":\"edited\",\"everywhere\":true}",
		"{\"op\":\"entry.role\",\"entry\":\":1\",\"role\":\"Critic\"}",
		"{\"op\":\"entry.delete\",\"entry\":\":2\"}",
		"{\"op\":\"entry.delete\",\"from\":\":1\",\"to\":\":2\"}",
		"{\"op\":\"entry.move\",\"entry\":\":1\",\"after\":\":-1\"}",
		"{\"op\":\"entry.mute\",\"entry\":\":1\",\"muted\":true}",
		"{\"op\":\"entry.view\",\"all\":true,\"collapsed\":true}",
		"{\"op\":\"entry.split\",\"entry\":\":1\",\"at\":2}",
		"{\"op\":\"entry.merge\",\"entry\":\":1\"}",
		"{\"op\":\"take.branch\",\"at\":\":1\"}",
		"{\"op\":\"take.switch\",\"take\":\"t1\"}",
		"{\"op\":\"take.rename\",\"take\":\"t1\",\"name\":\"renamed\"}",
		"{\"op\":\"take.truncate\",\"pairs\":1}",
		"{\"op\":\"take.graft\",\"entries\":[\":1\"],\"from\":\"t1\",\"after\":\":1\"}",
		"{\"op\":\"head.move\",\"entry\":\":1\"}",
		"{\"op\":\"label.set\",\"entry\":\":1\",\"label\":\"here\"}",
		"{\"op\":\"prompt.update\",\"text\":\"a prompt\"}",
		"{\"op\":\"prompt.notify\"}",
		"{\"op\":\"setting.set\",\"key\":\"model\",\"value\":\"m\"}",
		"{\"op\":\"setting.set\",\"key\":\"draft\",\"value\":{\"a\":[1]}}",
		"{\"op\":\"discussion.extract\",\"entry\":\":1\"}",
		"{\"op\":\"discussion.switch\",\"discussion\":\"d1\"}",
		"{\"op\":\"take.promote\",\"take\":\"t2\",\"name\":\"promoted\"}",
		"{\"op\":\"take.delete\",\"take\":\"t2\"}",
		"{\"op\":\"undo\",\"count\":2}",
		"{\"op\":\"undo\"}",
		"{\"op\":\"redo\"}",
		"{\"op\":\"jump\",\"to\":3}",
		"{\"op\":\"revert\",\"seq\":2}",
		"{\"op\":\"purge\",\"entry\":\":2\"}",
		"{\"op\":\"purge\",\"text\":\"longer\"}",
		"{\"op\":\"project.reset\"}",
	};

	const char *line = lines[next_random(&env_state) % (sizeof(lines) / sizeof(lines[0]))];

	if (strstr(line, without) == NULL)
		(void)try_apply(f, line); /* may be refused */
}

static void
random_steps(fixture *f, const char *without)
{
	print_message("seed %llu\n", (unsigned long long)env_state);
	assert_string_equal(fsck(f), "");
	for (int i = 0; i < 300; i++) {
		random_step(f, without);
		if (next_random(&env_state) % 40 == 0)
			assert_int_equal(rt_engine_checkpoint(f->engine, NULL), RT_OK);
		if (next_random(&env_state) % 60 == 0)
			reopen(f);
		if (next_random(&env_state) % 30 == 0)
			assert_int_equal(rt_engine_index(f->engine, NULL), RT_OK);
		if (i % 20 == 0)
			assert_string_equal(fsck(f), "");
	}
	assert_string_equal(fsck(f), "");
}

static void
is_quiet_on_good_stores(void **state)
{
	random_steps(*state, "graft");
}

static void
is_quiet_on_grafts(void **state)
{
	random_steps(*state, "purge");
}

static bool
first_only(void *ctx, const rt_finding *finding)
{
	int *count = ctx;

	(void)finding;
	(*count)++;
	return false;
}

static void
stops_when_told(void **state)
{
	fixture *f = *state;
	int count = 0;

	three(f);
	change_row(f, 1, "\"v\":1", "\"v\":x");
	change_row(f, 2, "\"v\":1", "\"v\":x");
	assert_int_equal(rt_engine_fsck(f->engine, first_only, &count, NULL), RT_OK);
	assert_int_equal(count, 1);
}

/* ---- the log ---- */

static void
log_rows(void **state)
{
	fixture *f = *state;

	three(f);
	change_row(f, 2, "\"v\":1", "\"v\":x");
	finds(f, "error log-row-unreadable\n");
	finds(f, "error log-unreplayable\n");
	change_row(f, 2, "\"v\":x", "\"v\":99");
	finds(f, "error log-row-too-new\n");
	change_row(f, 2, "\"v\":99", "\"v\":1");
	assert_string_equal(fsck(f), "");
	change_row(f, 2, "entry.append", "entry.invent");
	assert_string_equal(fsck(f), "note log-op-unknown\n");
}

/* An id that is too long must not overflow any buffer. */
static void
long_id(void **state)
{
	fixture *f = *state;
	char id[2 * RT_ID_MAX], with[2 * RT_ID_MAX + 8];

	three(f);
	memset(id, 'x', sizeof(id) - 1);
	id[sizeof(id) - 1] = '\0';
	snprintf(with, sizeof(with), "\"%s\"", id);
	apply(f, "{\"op\":\"entry.append\",\"content\":\"x\",\"id\":\"mine\"}");
	change_row(f, 4, "\"mine\"", with);
	finds(f, "error log-row-unreadable\n");
}

static const rt_store_ops *whole_ops;
static uint64_t hidden_row, hidden_body;

typedef struct filter {
	uint64_t hidden;
	rt_store_row_fn fn;
	void *ctx;
} filter;

static bool
pass_row(void *ctx, const rt_store_row *row)
{
	filter *p = ctx;

	return row->number == p->hidden || p->fn(p->ctx, row);
}

static rt_status
read_with_a_hole(rt_store *store, rt_rows rows, rt_store_row_fn fn, void *ctx, rt_error *err)
{
	filter p = {.hidden = rows.table == RT_STORE_LOG ? hidden_row : hidden_body,
		    .fn = fn,
		    .ctx = ctx};
	bool is_range = rows.numbers == NULL && rows.first != rows.last;

	if (rows.table != RT_STORE_LOG && (rows.table != RT_STORE_BODIES || !is_range))
		return whole_ops->read(store, rows, fn, ctx, err);
	return whole_ops->read(store, rows, pass_row, &p, err);
}

static void
gaps(void **state)
{
	fixture *f = *state;
	rt_store_ops holed;

	three(f);
	whole_ops = f->store->ops;
	holed = *whole_ops;
	holed.read = read_with_a_hole;
	f->store->ops = &holed;
	hidden_row = 2;
	finds(f, "error log-gap\n");
	hidden_row = 3;
	finds(f, "error log-gap\n");
	hidden_row = 0;
	hidden_body = 2;
	assert_string_equal(fsck(f), "error body-missing\n");
	hidden_body = 0;
	assert_string_equal(fsck(f), "");
	f->store->ops = whole_ops;
}

static void
history(void **state)
{
	fixture *f = *state;

	three(f);
	change_row(f, 3, "\"p\":[[1,2]]", "\"p\":[[1,7]]");
	finds(f, "error history-parent\n");
	change_row(f, 3, "\"p\":[[1,7]]", "\"p\":[[1,2]]");
	apply(f, "{\"op\":\"undo\"}");
	apply(f, "{\"op\":\"undo\"}");
	apply(f, "{\"op\":\"redo\"}");
	assert_string_equal(fsck(f), "");
	change_row(f, 4, "\"m\":[[3", "\"m\":[[4");
	finds(f, "error history-move\n");
	change_row(f, 4, "\"m\":[[4", "\"m\":[[3");
	change_row(f, 5, "\"r\":[[1,4,0]]", "\"r\":[[1,2,0]]");
	finds(f, "error history-redo\n");
	change_row(f, 5, "\"r\":[[1,2,0]]", "\"r\":[[1,4,0]]");
	assert_string_equal(fsck(f), "");
}

/* ---- bodies ---- */

static void
bodies(void **state)
{
	fixture *f = *state;
	rt_store_row lone = {.number = 4, .entry = 1, .data = RT_STR("Tlone")};
	rt_store_row pair[] = {{.number = 4, .entry = 4, .data = RT_STR("Tnobody's")},
			       {.number = 5, .entry = 4, .data = RT_STR("Tfour")}};
	rt_store_row other = {.number = 6, .entry = 1, .data = RT_STR("Tsix")};

	three(f);
	assert_int_equal(f->store->ops->begin(f->store, NULL), RT_OK);
	assert_int_equal(f->store->ops->write(f->store, rt_rows_one(RT_STORE_BODIES, f->project, 2),
					      RT_STR("?"), NULL),
			 RT_OK);
	assert_int_equal(f->store->ops->commit(f->store, NULL), RT_OK);
	assert_string_equal(fsck(f), "error body-unreadable\n");
	assert_int_equal(f->store->ops->begin(f->store, NULL), RT_OK);
	assert_int_equal(f->store->ops->write(f->store, rt_rows_one(RT_STORE_BODIES, f->project, 2),
					      RT_STR("Ttwelve"), NULL),
			 RT_OK);
	assert_int_equal(f->store->ops->commit(f->store, NULL), RT_OK);
	assert_string_equal(fsck(f), "warning body-size-differs\n");
	assert_int_equal(f->store->ops->begin(f->store, NULL), RT_OK);
	assert_int_equal(f->store->ops->write(f->store, rt_rows_one(RT_STORE_BODIES, f->project, 2),
					      RT_STR("Ttwo"), NULL),
			 RT_OK);
	assert_int_equal(f->store->ops->commit(f->store, NULL), RT_OK);
	assert_string_equal(fsck(f), "");
	/* a body that no row names, with a lower number than one that a row names */
	add_row(f, "[\"s\",1,1,3,[],[[4,5,4,0,\"User\",\"\",0]]]", pair, 2);
	assert_string_equal(fsck(f), "warning body-orphan\n");
	add_row(f, "[\"s\",1,1,4,[],[[5,6,3,0,\"User\",\"\",0]]]", &other, 1);
	assert_string_equal(fsck(f), "warning body-entry-differs\nwarning body-orphan\n");
	add_row(f, "[\"s\",1,1,5,[],[[6,9,3,0,\"User\",\"\",0]]]", NULL, 0);
	finds(f, "error body-missing\n");
	lone.number = 12;
	add_row(f, "[\"f\",1,0,\"note\",0,null,1]", &lone, 1);
	finds(f, "warning body-ahead\n");
}

/* ---- values ---- */

static void
values(void **state)
{
	fixture *f = *state;
	rt_store_row body = {.number = 4, .entry = 4, .data = RT_STR("Tfour")};

	three(f);
	add_row(f, "[\"s\",1,1,3,[],[[4,4,4,0,\"User\",\"\",0,\"a\"]]]", &body, 1);
	assert_string_equal(fsck(f), "error id-duplicate\n");
	add_row(f, "[\"f\",1,0,\"label\",77,null,\"on nothing\"]", NULL, 0);
	finds(f, "warning label-dangling\n");
	add_row(f, "[\"f\",1,0,\"head\",0,null,77]", NULL, 0);
	finds(f, "error head-missing\n");
	finds(f, "error value-broken\n");
	add_row(f, "[\"n\",1,2,0,1,1,\"main\",\"\",\"\"]", NULL, 0);
	finds(f, "warning name-duplicate\n");
	add_row(f, "[\"f\",1,1,\"present\",0,true,null]", NULL, 0);
	finds(f, "error active-missing\n");
}

static void
active_discussion(void **state)
{
	fixture *f = *state;

	three(f);
	change_row(f, 3, "\"p\":[[1,2]],\"fx\":[", "\"p\":[[1,2],[0,0]],\"fx\":["
		   "[\"f\",0,1,\"present\",0,true,null],");
	reopen(f);
	finds(f, "error active-missing\n");
}

/* ---- checkpoints, memory, index ---- */

static bool
any_node(void *ctx, const rt_store_row *row)
{
	*(uint64_t *)ctx = row->number;
	return true;
}

static void
checkpoints(void **state)
{
	fixture *f = *state;
	uint64_t node = 0, seq = 0;
	rt_buf root;

	three(f);
	assert_int_equal(rt_engine_checkpoint(f->engine, NULL), RT_OK);
	assert_string_equal(fsck(f), "");
	change_row(f, 1, "\"User\"", "\"Usor\"");
	assert_string_equal(fsck(f), "error memory-differs\nerror checkpoint-differs\n");
	change_row(f, 1, "\"Usor\"", "\"User\"");
	assert_string_equal(fsck(f), "");

	rt_buf_init(&root, rt_alloc_libc(), RT_BUF_UNLIMITED);
	assert_int_equal(
		rt_store_get(f->store, rt_rows_all(RT_STORE_ROOT, f->project), &root, &seq, NULL),
		RT_OK);
	assert_int_equal(f->store->ops->begin(f->store, NULL), RT_OK);
	assert_int_equal(f->store->ops->write(f->store, rt_rows_one(RT_STORE_ROOT, f->project, 99),
					      rt_buf_str(&root), NULL),
			 RT_OK);
	assert_int_equal(f->store->ops->commit(f->store, NULL), RT_OK);
	finds(f, "warning checkpoint-ahead\n");
	assert_int_equal(f->store->ops->begin(f->store, NULL), RT_OK);
	assert_int_equal(f->store->ops->write(f->store, rt_rows_one(RT_STORE_ROOT, f->project, seq),
					      RT_STR("\005junk"), NULL),
			 RT_OK);
	assert_int_equal(f->store->ops->commit(f->store, NULL), RT_OK);
	finds(f, "warning checkpoint-unreadable\n");
	assert_int_equal(f->store->ops->begin(f->store, NULL), RT_OK);
	assert_int_equal(f->store->ops->write(f->store, rt_rows_one(RT_STORE_ROOT, f->project, seq),
					      rt_buf_str(&root), NULL),
			 RT_OK);
	assert_int_equal(f->store->ops->commit(f->store, NULL), RT_OK);
	assert_string_equal(fsck(f), "");
	rt_buf_deinit(&root);

	assert_int_equal(f->store->ops->read(f->store, rt_rows_numbers(RT_STORE_NODES, f->project),
					     any_node, &node, NULL),
			 RT_OK);
	assert_int_equal(f->store->ops->begin(f->store, NULL), RT_OK);
	assert_int_equal(
		f->store->ops->drop(f->store, rt_rows_one(RT_STORE_NODES, f->project, node), NULL),
		RT_OK);
	assert_int_equal(f->store->ops->commit(f->store, NULL), RT_OK);
	finds(f, "warning checkpoint-unreadable\n");
	/* it changed nothing: the next checkpoint is as valid as any */
	apply(f, "{\"op\":\"entry.append\",\"content\":\"four\"}");
	assert_int_equal(rt_engine_rebuild(f->engine, NULL), RT_OK);
	assert_string_equal(fsck(f), "");
}

static void
end_of_the_log(void **state)
{
	fixture *f = *state;
	const rt_store_ops *ops = f->store->ops;

	three(f);
	apply(f, "{\"op\":\"label.set\",\"entry\":\":1\",\"label\":\"end\"}");
	assert_string_equal(fsck(f), "");
	/* an earlier version wrote rows, or made the store */
	assert_int_equal(ops->write(f->store,
				    rt_rows_named(RT_STORE_SIDE, f->project, RT_STR("log-head")),
				    RT_STR("1"), NULL),
			 RT_OK);
	reopen(f);
	assert_string_equal(fsck(f), "");
	assert_int_equal(ops->write(f->store,
				    rt_rows_named(RT_STORE_SIDE, f->project, RT_STR("log-head")),
				    rt_str_at(NULL, 0), NULL),
			 RT_OK);
	reopen(f);
	assert_string_equal(fsck(f), "");
	/* the log has lost rows */
	assert_int_equal(ops->write(f->store,
				    rt_rows_named(RT_STORE_SIDE, f->project, RT_STR("log-head")),
				    RT_STR("9"), NULL),
			 RT_OK);
	assert_string_equal(fsck(f), "error log-cut\n");
}

static void
search_index(void **state)
{
	fixture *f = *state;

	three(f);
	assert_int_equal(f->store->ops->begin(f->store, NULL), RT_OK);
	assert_int_equal(f->store->ops->index_add(f->store, f->project, 99, 0, RT_STR(""), NULL), RT_OK);
	assert_int_equal(f->store->ops->commit(f->store, NULL), RT_OK);
	finds(f, "warning index-ahead\n");
}

static void
search_index_lost(void **state)
{
	fixture *f = *state;
	uint64_t head;

	three(f);
	apply(f, "{\"op\":\"entry.append\",\"content\":\"\u00c4pfel & (pears), plums\\nx\"}");
	apply(f, "{\"op\":\"entry.append\",\"content\":\"?!\"}");
	assert_int_equal(rt_engine_index(f->engine, NULL), RT_OK);
	assert_string_equal(fsck(f), "");
	/* the mark says that everything is indexed, but nothing is */
	assert_int_equal(f->store->ops->head(f->store, RT_STORE_BODIES, f->project, &head, NULL),
			 RT_OK);
	assert_int_equal(f->store->ops->begin(f->store, NULL), RT_OK);
	assert_int_equal(f->store->ops->drop(f->store, rt_rows_all(RT_STORE_INDEX, 0), NULL),
			 RT_OK);
	assert_int_equal(f->store->ops->index_add(f->store, f->project, head, 0, RT_STR(""), NULL),
			 RT_OK);
	assert_int_equal(f->store->ops->commit(f->store, NULL), RT_OK);
	finds(f, "warning index-lost\n");
}

#define ON(name, kind) \
	{#name " (" kind ")", name, set_up, tear_down, (void *)(uintptr_t)kind}
#define BOTH(name) ON(name, "memory"), ON(name, "sqlite")

int
main(void)
{
	const struct CMUnitTest tests[] = {
		BOTH(is_quiet_on_good_stores),
		BOTH(is_quiet_on_grafts),
		BOTH(stops_when_told),
		BOTH(log_rows),
		BOTH(long_id),
		BOTH(gaps),
		BOTH(history),
		BOTH(bodies),
		BOTH(values),
		BOTH(active_discussion),
		BOTH(checkpoints),
		BOTH(end_of_the_log),
		BOTH(search_index),
		BOTH(search_index_lost),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
