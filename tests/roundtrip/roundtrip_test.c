/* SPDX-License-Identifier: MIT
 *
 * Round trips through the store: a file is read, imported, exported, and the export imported and
 * exported again. An untouched pi session gives exactly the same lines; every format gives the
 * same bytes the second time; importing a file twice adds no duplicates; undoing and redoing the
 * import gives the same bytes, too. Large imports finish in reasonable time. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "log/engine.h"
#include "formats/formats.h"
#include "ops/export.h"
#include "ops/import.h"
#include "store/store_memory.h"

static int64_t clock_us;

static int64_t
now_us(void *ctx)
{
	(void)ctx;
	return clock_us += 1000;
}

static void
random_bytes(void *ctx, void *to, size_t size)
{
	(void)ctx;
	memset(to, 1, size);
}

static const rt_env env = {now_us, random_bytes, NULL};

static bool
read_file(const char *path, rt_buf *out)
{
	FILE *f = fopen(path, "rb");
	char part[65536];
	size_t got;

	rt_buf_init(out, rt_alloc_libc(), RT_BUF_UNLIMITED);
	if (f == NULL)
		return false;
	while ((got = fread(part, 1, sizeof(part), f)) > 0)
		rt_buf_add(out, part, got);
	fclose(f);
	return out->status == RT_OK;
}

typedef struct desk {
	rt_store *store;
	rt_engine *engine;
} desk;

static void
desk_open(desk *d)
{
	rt_engine_options options = {.env = &env, .create = true};
	rt_error err;

	clock_us = 0;
	assert_int_equal(rt_store_memory_open(rt_alloc_libc(), &env, &d->store, &err), RT_OK);
	assert_int_equal(rt_engine_open(&options, d->store, &d->engine, &err), RT_OK);
}

static void
desk_close(desk *d)
{
	rt_engine_close(d->engine);
	d->store->ops->close(d->store);
}

/* Imports bytes; false if the format cannot read them at all. */
static bool
import_bytes(desk *d, const rt_format *format, rt_str bytes, rt_import_result *out)
{
	rt_outlines outlines;
	rt_error err;

	rt_outlines_init(&outlines);
	if (format->read(rt_alloc_libc(), bytes, &outlines, NULL, &err) != RT_OK) {
		rt_outlines_deinit(&outlines);
		return false;
	}
	if (rt_engine_import(d->engine, &outlines, RT_STR("imported"), false, out, &err) != RT_OK)
		fail_msg("import: %s", err.text);
	rt_outlines_deinit(&outlines);
	return true;
}

static void
export_bytes(desk *d, const rt_format *format, bool whole_project, rt_buf *out)
{
	const rt_project *project = rt_engine_value(d->engine);
	rt_export_options options = {.whole = true, .lossless = true};
	rt_place place = {0, 0};
	rt_outlines outlines;
	rt_error err;

	rt_buf_init(out, rt_alloc_libc(), RT_BUF_UNLIMITED);
	if (rt_project_check(project, &err) != RT_OK)
		fail_msg("check: %s", err.text);
	if (rt_engine_export(d->engine, project, place, whole_project, &outlines, &err) != RT_OK)
		fail_msg("export: %s", err.text);
	if (format->write(rt_alloc_libc(), &outlines, &options, out, &err) != RT_OK)
		fail_msg("write: %s", err.text);
	rt_outlines_deinit(&outlines);
	rt_object_unref(project);
}

static void
undo_and_redo(desk *d)
{
	rt_result result;

	rt_engine_apply_text(d->engine, RT_STR("{\"op\":\"undo\",\"count\":1000}"),
			     rt_str_at(NULL, 0), rt_str_at(NULL, 0), &result);
	assert_int_equal(result.status, RT_OK);
	rt_result_deinit(&result);
	rt_engine_apply_text(d->engine, RT_STR("{\"op\":\"redo\",\"count\":1000}"),
			     rt_str_at(NULL, 0), rt_str_at(NULL, 0), &result);
	assert_int_equal(result.status, RT_OK);
	rt_result_deinit(&result);
}

static size_t passed, refused, failed;

/* Import, export, import, export. same_lines: the first export equals the file. */
static void
there_and_back(const char *path, const rt_format *format, bool whole_project, bool same_lines)
{
	rt_buf file, first, second, again;
	rt_import_result result, twice;
	desk a, b;

	assert_true(read_file(path, &file));
	desk_open(&a);
	if (!import_bytes(&a, format, rt_buf_str(&file), &result)) {
		refused++;
		desk_close(&a);
		rt_buf_deinit(&file);
		return;
	}
	export_bytes(&a, format, whole_project, &first);
	undo_and_redo(&a);
	export_bytes(&a, format, whole_project, &again);
	if (!rt_str_eq(rt_buf_str(&first), rt_buf_str(&again))) {
		print_error("%s: not the same after undo and redo\n", path);
		failed++;
	}
	rt_buf_deinit(&again);
	assert_true(import_bytes(&a, format, rt_buf_str(&file), &twice));
	if (twice.entries != 0 || twice.discussions != 0) {
		print_error("%s: importing twice added %zu entries\n", path, twice.entries);
		failed++;
	}
	desk_open(&b);
	assert_true(import_bytes(&b, format, rt_buf_str(&first), &result));
	export_bytes(&b, format, whole_project, &second);
	if (!rt_str_eq(rt_buf_str(&first), rt_buf_str(&second))) {
		print_error("%s: the second export differs from the first\n", path);
		failed++;
	} else if (same_lines && !rt_str_eq(rt_buf_str(&first), rt_buf_str(&file))) {
		print_error("%s: the export differs from the file\n", path);
		failed++;
	} else {
		passed++;
	}
	desk_close(&a);
	desk_close(&b);
	rt_buf_deinit(&file);
	rt_buf_deinit(&first);
	rt_buf_deinit(&second);
}

/* Does the file have version 3? Older ones are migrated, so their lines change. */
static bool
is_version_3(const char *path)
{
	rt_buf file;
	bool is;

	if (!read_file(path, &file))
		return false;
	is = rt_str_find(rt_buf_str(&file), RT_STR("\"version\":3"), 0) != SIZE_MAX ||
	     rt_str_find(rt_buf_str(&file), RT_STR("\"version\":4"), 0) != SIZE_MAX;
	rt_buf_deinit(&file);
	return is;
}

static void
each(const char *folder, const char *end, void (*fn)(const char *path))
{
	DIR *dir = opendir(folder);
	struct dirent *item;

	if (dir == NULL)
		skip();
	passed = refused = failed = 0;
	while ((item = readdir(dir)) != NULL) {
		size_t size = strlen(item->d_name), tail = strlen(end);
		char path[512];

		if (size <= tail || strcmp(item->d_name + size - tail, end) != 0)
			continue;
		snprintf(path, sizeof(path), "%s/%s", folder, item->d_name);
		fn(path);
	}
	closedir(dir);
	print_message("# %s: %zu there and back, %zu not readable\n", folder, passed, refused);
	assert_int_equal(failed, 0);
	assert_true(passed > 0);
}

static void
one_pi(const char *path)
{
	there_and_back(path, rt_format_find(RT_STR("pi")), false, is_version_3(path));
}

static void
one_openai(const char *path)
{
	there_and_back(path, rt_format_find(RT_STR("openai")), true, false);
}

static void
pi_sessions(void **state)
{
	(void)state;
	each("../shared/conformance/pi", ".jsonl", one_pi);
}

static void
pi_fixtures(void **state)
{
	(void)state;
	each("../shared/fixtures/pi", ".jsonl", one_pi);
}

static void
openai_fixtures(void **state)
{
	(void)state;
	each("../shared/fixtures/openai_messages", "l", one_openai);
}

/* A project built by operations, through every format that can contain a whole project. */
static void
a_project_of_our_own(void **state)
{
	static const char *const lines[] = {
		"{\"op\":\"entry.append\",\"role\":\"User\",\"content\":\"a\\u0000b\\r\\n\\u00e9\",\"ts\":1}",
		"{\"op\":\"entry.append\",\"role\":\"AI\",\"content\":\"x\",\"usage\":{\"n\":1.10}}",
		"{\"op\":\"entry.append\",\"content\":[{\"type\":\"text\",\"text\":\"t\"}],\"id\":\"blocks\"}",
		"{\"op\":\"take.branch\",\"at\":\":2\"}",
		"{\"op\":\"entry.append\",\"content\":\"other\",\"odd\":[1,{\"b\":2}]}",
		"{\"op\":\"entry.edit\",\"entry\":\":2\",\"content\":\"y\"}",
		"{\"op\":\"label.set\",\"entry\":\":1\",\"label\":\"start here\"}",
		"{\"op\":\"entry.mute\",\"entry\":\":1\"}",
		"{\"op\":\"entry.view\",\"entry\":\":2\",\"collapsed\":true}",
		"{\"op\":\"prompt.update\",\"text\":\"a cat\"}",
		"{\"op\":\"setting.set\",\"key\":\"temperature\",\"value\":0.70}",
		"{\"op\":\"setting.set\",\"key\":\"model\",\"value\":\"m\"}",
		"{\"op\":\"files.set\",\"which\":\"context_files\",\"items\":[\"a.c\"]}",
		"{\"op\":\"role.add\",\"role\":\"Critic\"}",
		"{\"op\":\"discussion.new\",\"name\":\"gone\"}",
		"{\"op\":\"discussion.new\",\"name\":\"second\"}",
		"{\"op\":\"entry.append\",\"role\":\"Critic\",\"content\":\"= x\\n# y\\n<!-- z -->\"}",
		"{\"op\":\"discussion.delete\",\"discussion\":\"gone\"}",
		"{\"op\":\"discussion.switch\",\"discussion\":\"main\"}",
		"{\"op\":\"head.move\",\"entry\":\":1\"}",
	};
	static const char *const names[] = {"canonical", "toml", "markdown", NULL};
	size_t i, n;

	(void)state;
	for (n = 0; names[n] != NULL; n++) {
		const rt_format *format = rt_format_find(rt_str_of(names[n]));
		rt_import_result result;
		rt_buf first, second, third;
		desk a, b;

		if (format == NULL || format->read == NULL)
			continue;
		desk_open(&a);
		for (i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
			rt_result r;

			rt_engine_apply_text(a.engine, rt_str_of(lines[i]), rt_str_at(NULL, 0),
					     rt_str_at(NULL, 0), &r);
			if (r.status != RT_OK)
				fail_msg("%s: %s", lines[i], r.error.text);
			rt_result_deinit(&r);
		}
		export_bytes(&a, format, true, &first);
		desk_open(&b);
		if (!import_bytes(&b, format, rt_buf_str(&first), &result))
			fail_msg("%s does not read what it wrote", names[n]);
		export_bytes(&b, format, true, &second);
		if (!rt_str_eq(rt_buf_str(&first), rt_buf_str(&second)))
			fail_msg("%s:\n%s\n---\n%s", names[n], first.ptr, second.ptr);
		undo_and_redo(&b);
		export_bytes(&b, format, true, &third);
		assert_true(rt_str_eq(rt_buf_str(&second), rt_buf_str(&third)));
		desk_close(&a);
		desk_close(&b);
		rt_buf_deinit(&first);
		rt_buf_deinit(&second);
		rt_buf_deinit(&third);
	}
}

static void
op(desk *d, const char *line)
{
	rt_result r;

	rt_engine_apply_text(d->engine, rt_str_of(line), rt_str_at(NULL, 0), rt_str_at(NULL, 0), &r);
	if (r.status != RT_OK)
		fail_msg("%s: %s", line, r.error.text);
	rt_result_deinit(&r);
}

/* Discussions with the same contents, or without any, are distinct: all are restored, and all
 * are recognised the second time. One that differs in anything is a new one. */
static void
equal_discussions(void **state)
{
	static const char *const names[] = {"canonical", "toml"};
	/* each makes the first store differ from the imported one, only in "b" */
	static const char *const changes[] = {
		"{\"op\":\"discussion.rename\",\"discussion\":\"b\",\"name\":\"b2\"}",
		"{\"op\":\"label.set\",\"discussion\":\"b2\",\"entry\":\":1\",\"label\":\"l\"}",
		"{\"op\":\"entry.mute\",\"discussion\":\"b2\",\"entry\":\":1\"}",
		"{\"op\":\"take.branch\",\"discussion\":\"b2\",\"at\":\":1\"}",
	};
	size_t i, n;

	(void)state;
	for (n = 0; n < sizeof(names) / sizeof(names[0]); n++) {
		const rt_format *format = rt_format_find(rt_str_of(names[n]));
		rt_import_result result;
		rt_buf first, second;
		desk a, b;

		if (format == NULL || format->read == NULL)
			continue;
		desk_open(&a);
		op(&a, "{\"op\":\"discussion.new\",\"name\":\"a\"}");
		op(&a, "{\"op\":\"entry.append\",\"role\":\"User\",\"content\":\"Hello\",\"ts\":1}");
		op(&a, "{\"op\":\"discussion.new\",\"name\":\"b\"}");
		op(&a, "{\"op\":\"entry.append\",\"role\":\"User\",\"content\":\"Hello\",\"ts\":1}");
		op(&a, "{\"op\":\"discussion.new\",\"name\":\"c\"}");
		export_bytes(&a, format, true, &first);
		desk_open(&b);
		assert_true(import_bytes(&b, format, rt_buf_str(&first), &result));
		assert_int_equal(result.discussions, 4);
		assert_int_equal(result.entries, 2);
		assert_int_equal(result.known, 0);
		export_bytes(&b, format, true, &second);
		if (!rt_str_eq(rt_buf_str(&first), rt_buf_str(&second)))
			fail_msg("%s:\n%s\n---\n%s", names[n], first.ptr, second.ptr);
		rt_buf_deinit(&second);
		assert_true(import_bytes(&b, format, rt_buf_str(&first), &result));
		assert_int_equal(result.discussions, 0);
		assert_int_equal(result.entries, 0);
		assert_int_equal(result.known, 2);
		rt_buf_deinit(&first);
		for (i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
			op(&a, changes[i]);
			export_bytes(&a, format, true, &first);
			assert_true(import_bytes(&b, format, rt_buf_str(&first), &result));
			if (result.discussions != 1)
				fail_msg("%s: %s: %zu discussions", names[n], changes[i],
					 result.discussions);
			rt_buf_deinit(&first);
		}
		desk_close(&a);
		desk_close(&b);
	}
}

/* A pi session that went through another format is recognised, too. */
static void
known_by_way_of_another_format(void **state)
{
	static const char session[] =
		"{\"type\":\"session\",\"version\":3,\"id\":\"one\","
		"\"timestamp\":\"2026-01-01T00:00:00.000Z\",\"cwd\":\"/\"}\n"
		"{\"type\":\"message\",\"id\":\"00000001\",\"parentId\":null,"
		"\"timestamp\":\"2026-01-01T00:00:00.000Z\","
		"\"message\":{\"role\":\"user\",\"content\":\"m\",\"timestamp\":1}}\n";
	const rt_format *pi = rt_format_find(RT_STR("pi")), *canonical = rt_format_find(RT_STR("canonical"));
	rt_import_result result;
	rt_buf first, second;
	desk a, b;

	(void)state;
	desk_open(&a);
	assert_true(import_bytes(&a, pi, rt_str_of(session), &result));
	export_bytes(&a, canonical, true, &first);
	desk_open(&b);
	assert_true(import_bytes(&b, canonical, rt_buf_str(&first), &result));
	assert_int_equal(result.discussions, 1);
	assert_true(import_bytes(&b, canonical, rt_buf_str(&first), &result));
	assert_int_equal(result.discussions, 0);
	assert_int_equal(result.known, 1);
	assert_true(import_bytes(&b, pi, rt_str_of(session), &result));
	assert_int_equal(result.discussions, 0);
	assert_int_equal(result.known, 1);
	export_bytes(&b, canonical, true, &second);
	assert_true(rt_str_eq(rt_buf_str(&first), rt_buf_str(&second)));
	rt_buf_deinit(&first);
	rt_buf_deinit(&second);
	desk_close(&a);
	desk_close(&b);
}

/* Enough discussions that a quadratic comparison would not finish within the test's timeout. Nothing is
 * measured, as machines differ. */
static void
many_discussions(void **state)
{
	enum { COUNT = 5000 };
	rt_import_result result;
	const rt_project *project;
	rt_buf lines;
	size_t i;
	desk d;

	(void)state;
	rt_buf_init(&lines, rt_alloc_libc(), RT_BUF_UNLIMITED);
	for (i = 0; i < COUNT; i++)
		rt_buf_add_f(&lines,
			     "{\"messages\":[{\"role\":\"user\",\"content\":\"%zu\"}]}\n", i % 3);
	desk_open(&d);
	op(&d, "{\"op\":\"discussion.new\",\"name\":\"imported_3\"}");
	assert_true(import_bytes(&d, rt_format_find(RT_STR("openai")), rt_buf_str(&lines), &result));
	assert_int_equal(result.discussions, COUNT);
	project = rt_engine_value(d.engine);
	assert_int_equal(rt_project_disc_named(project, RT_STR("imported")), 3);
	assert_int_equal(rt_project_disc_named(project, RT_STR("imported_2")), 4);
	assert_int_equal(rt_project_disc_named(project, RT_STR("imported_4")), 5);
	assert_int_equal(rt_project_disc_named(project, RT_STR("imported_5001")), COUNT + 2);
	rt_object_unref(project);
	assert_true(import_bytes(&d, rt_format_find(RT_STR("openai")), rt_buf_str(&lines), &result));
	assert_int_equal(result.discussions, 0);
	assert_int_equal(result.known, COUNT);
	desk_close(&d);
	rt_buf_deinit(&lines);
}

static void
many_takes(void **state)
{
	enum { COUNT = 50000 };
	rt_import_result result;
	const rt_project *project;
	const rt_disc *disc;
	rt_error err;
	rt_buf lines;
	size_t i, size;
	desk d;

	(void)state;
	rt_buf_init(&lines, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_buf_add_c(&lines, "{\"type\":\"session\",\"version\":3,\"id\":\"many\","
			     "\"timestamp\":\"2026-01-01T00:00:00.000Z\",\"cwd\":\"/\"}\n");
	for (i = 0; i <= COUNT; i++) {
		rt_buf_add_f(&lines, "{\"type\":\"message\",\"id\":\"%08zx\",\"parentId\":%s,", i + 1,
			     i == 0 ? "null" : "\"00000001\"");
		rt_buf_add_f(&lines, "\"timestamp\":\"2026-01-01T00:00:00.000Z\",\"message\":"
				     "{\"role\":\"user\",\"content\":\"m\",\"timestamp\":1}}\n");
	}
	size = lines.size;
	/* the same file later: one more entry after a tip, one more after the first */
	rt_buf_add_f(&lines, "{\"type\":\"message\",\"id\":\"%08x\",\"parentId\":\"%08x\","
			     "\"timestamp\":\"2026-01-01T00:00:00.000Z\",\"message\":"
			     "{\"role\":\"user\",\"content\":\"m\",\"timestamp\":1}}\n",
		     COUNT + 2, 1000);
	rt_buf_add_f(&lines, "{\"type\":\"message\",\"id\":\"%08x\",\"parentId\":\"%08x\","
			     "\"timestamp\":\"2026-01-01T00:00:00.000Z\",\"message\":"
			     "{\"role\":\"user\",\"content\":\"m\",\"timestamp\":1}}\n",
		     COUNT + 3, 1);
	desk_open(&d);
	assert_true(import_bytes(&d, rt_format_find(RT_STR("pi")), rt_str_at(lines.ptr, size), &result));
	assert_int_equal(result.takes, COUNT);
	assert_int_equal(result.entries, COUNT + 1);
	assert_true(import_bytes(&d, rt_format_find(RT_STR("pi")), rt_str_at(lines.ptr, size), &result));
	assert_int_equal(result.takes, 0);
	assert_int_equal(result.known, COUNT + 1);
	assert_true(import_bytes(&d, rt_format_find(RT_STR("pi")), rt_buf_str(&lines), &result));
	assert_int_equal(result.takes, 1);
	assert_int_equal(result.entries, 2);
	assert_int_equal(result.known, COUNT + 1);
	project = rt_engine_value(d.engine);
	assert_int_equal(rt_project_disc(project, 1, &disc, &err), RT_OK);
	assert_int_equal(rt_disc_take_named(disc, RT_STR("imported_take_1")), 2);
	assert_int_equal(rt_disc_take_named(disc, RT_STR("imported_take_50000")), COUNT + 1);
	assert_int_equal(rt_seq_count(rt_disc_take(disc, 2)->slots), 2);
	rt_object_unref(project);
	desk_close(&d);
	rt_buf_deinit(&lines);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_project_of_our_own),
		cmocka_unit_test(equal_discussions),
		cmocka_unit_test(known_by_way_of_another_format),
		cmocka_unit_test(many_discussions),
		cmocka_unit_test(many_takes),
		cmocka_unit_test(pi_sessions),
		cmocka_unit_test(pi_fixtures),
		cmocka_unit_test(openai_fixtures),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
