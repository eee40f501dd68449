/* SPDX-License-Identifier: MIT
 *
 * The library from outside: the contract of its headers. Only running out of memory needs access
 * that other programs do not have. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <sqlite3.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "log/folder_testing.h"
#include "library/library_impl.h"
#include "llm/system_host.h"

enum { THREADS = 4, APPENDS = 50 };

#define APPEND "{\"op\":\"entry.append\",\"id\":\"%s\",\"ts\":0,\"content\":\"%s\"}"

typedef struct fixture {
	retake_store *store;
	retake_project *project;
	retake_error error;
	retake_text text;
} fixture;

static void
open_fixture(fixture *f, const char *path)
{
	retake_store_options store = RETAKE_STORE_OPTIONS_INIT;
	retake_project_options project = RETAKE_PROJECT_OPTIONS_INIT;

	memset(f, 0, sizeof(*f));
	store.create = 1;
	project.create = 1;
	assert_int_equal(retake_store_open(path, &store, &f->store, &f->error), RETAKE_OK);
	assert_int_equal(retake_project_open(f->store, NULL, &project, &f->project, &f->error),
			 RETAKE_OK);
}

static void
close_fixture(fixture *f)
{
	retake_text_free(&f->text);
	retake_project_close(f->project);
	retake_store_close(f->store);
}

/* The status, and the results in f->text. */
static retake_status
apply(fixture *f, const char *json)
{
	retake_text_free(&f->text);
	return retake_apply(f->project, json, RETAKE_CSTR, NULL, &f->text, &f->error);
}

static void
done(fixture *f, const char *json)
{
	if (apply(f, json) != RETAKE_OK)
		fail_msg("%s: %s", json, f->error.text);
}

/* The text that was read contains the part (or not); then it is freed. */
static void
holds(fixture *f, retake_status st, const char *part)
{
	if (st != RETAKE_OK)
		fail_msg("%s", f->error.text);
	assert_int_equal(strlen(f->text.ptr), f->text.size);
	if (strstr(f->text.ptr, part) == NULL)
		fail_msg("no %s in %s", part, f->text.ptr);
	retake_text_free(&f->text);
}

static void
fails(fixture *f, retake_status st, retake_status wanted, const char *part)
{
	assert_int_equal(st, wanted);
	assert_int_equal(f->error.status, wanted);
	if (strstr(f->error.text, part) == NULL)
		fail_msg("no %s in %s", part, f->error.text);
}

static uint64_t
seq_of(retake_project *project)
{
	uint64_t seq = 0;

	assert_int_equal(retake_project_seq(project, &seq, NULL), RETAKE_OK);
	return seq;
}

/* ---- examples ---- */

/* Days in a query are those of the local time, as on the command line. */
static void
test_search_days(void **state)
{
	time_t now = time(NULL), there;
	long ahead = 86400 - (long)(now % 86400) + 1800; /* it is half an hour past midnight there */
	char zone[32], query[40];
	struct tm day;
	fixture f;

	(void)state;
	if (ahead > 86400)
		ahead = 86400;
	there = now + ahead;
	(void)gmtime_r(&there, &day);
	snprintf(zone, sizeof(zone), "LOC-%02ld:%02ld", ahead / 3600, ahead / 60 % 60);
	(void)strftime(query, sizeof(query), "one after:%Y-%m-%d", &day);
	open_fixture(&f, ":memory:");
	assert_int_equal(apply(&f, "{\"op\":\"entry.append\",\"id\":\"n\",\"content\":\"one\"}"), RETAKE_OK);
	retake_text_free(&f.text);
	assert_int_equal(setenv("TZ", zone, 1), 0);
	tzset();
	holds(&f, retake_search(f.project, NULL, query, NULL, &f.text, &f.error), "\"n\"");
	assert_int_equal(setenv("TZ", "UTC", 1), 0);
	tzset();
	holds(&f, retake_search(f.project, NULL, query, NULL, &f.text, &f.error), "[]");
	close_fixture(&f);
}

static void
test_version_and_words(void **state)
{
	char text[32];

	(void)state;
	assert_string_equal(retake_version(), RETAKE_VERSION);
	snprintf(text, sizeof(text), "%d.%d.%d", RETAKE_VERSION_MAJOR, RETAKE_VERSION_MINOR,
		 RETAKE_VERSION_PATCH);
	assert_string_equal(text, RETAKE_VERSION);
	assert_string_equal(retake_status_word(RETAKE_NOT_FOUND), "not_found");
	assert_string_equal(retake_status_word((retake_status)1000), "failed");
	assert_int_equal(retake_status_exit_code(RETAKE_OK), 0);
	assert_int_equal(retake_status_exit_code(RETAKE_CONFLICT), 5);
	retake_text_free(NULL);
	retake_store_close(NULL);
	retake_project_close(NULL);
}

static void
test_apply_and_look(void **state)
{
	retake_window window = RETAKE_WINDOW_INIT;
	retake_place place = RETAKE_PLACE_INIT;
	retake_history_options some = RETAKE_HISTORY_OPTIONS_INIT;
	retake_search_options limit = RETAKE_SEARCH_OPTIONS_INIT;
	fixture f;

	(void)state;
	open_fixture(&f, ":memory:");
	done(&f,
	     "[{\"op\":\"entry.append\",\"id\":\"q\",\"ts\":0,\"content\":\"w\\u00e9ll one\"},"
	     "{\"op\":\"entry.append\",\"id\":\"a\",\"ts\":0,\"role\":\"AI\","
	     "\"content\":\"two\"}]");
	assert_string_equal(f.text.ptr,
			    "[{\"seq\":1,\"entry\":\"q\"},{\"seq\":2,\"entry\":\"a\"}]");
	done(&f, "{\"op\":\"entry.edit\",\"entry\":\"a\",\"content\":\"three\"}");
	done(&f, "[]");
	assert_string_equal(f.text.ptr, "[]");
	retake_text_free(&f.text);
	done(&f, "{\"op\":\"take.branch\",\"at\":\"q\",\"name\":\"other\"}");
	assert_int_equal(seq_of(f.project), 4);
	retake_text_free(&f.text);

	holds(&f, retake_show(f.project, NULL, NULL, &f.text, &f.error), "\"count\":1");
	place.take = "main";
	holds(&f, retake_show(f.project, &place, NULL, &f.text, &f.error), "\"content\":\"three\"");
	window.from = 1;
	holds(&f, retake_show(f.project, &place, &window, &f.text, &f.error),
	      "\"entries\":[{\"id\":\"a\"");
	window.role = "assistant"; /* the same role, in other words */
	window.from = 0;
	holds(&f, retake_show(f.project, &place, &window, &f.text, &f.error), "\"id\":\"a\"");
	holds(&f, retake_entry(f.project, &place, ":-1", &f.text, &f.error), "three");
	holds(&f, retake_tree(f.project, NULL, &f.text, &f.error), "\"parent\":\"q\"");
	holds(&f, retake_takes(f.project, NULL, &f.text, &f.error), "\"name\":\"other\"");
	holds(&f, retake_discussions(f.project, NULL, &f.text, &f.error), "\"name\":\"main\"");
	holds(&f, retake_history(f.project, NULL, NULL, &f.text, &f.error), "[{\"seq\":4,");
	some.before = 4;
	some.limit = 1;
	holds(&f, retake_history(f.project, NULL, &some, &f.text, &f.error), "[{\"seq\":3,");
	holds(&f, retake_step(f.project, 3, &f.text, &f.error), "\"op\":\"entry.edit\"");
	holds(&f, retake_revisions(f.project, &place, "a", &f.text, &f.error), "\"two\"");
	holds(&f, retake_settings(f.project, NULL, &f.text, &f.error), "\"prompt\"");
	holds(&f, retake_diff(f.project, &place, "other", &f.text, &f.error), "\"common\":1");
	holds(&f, retake_search(f.project, NULL, "one", NULL, &f.text, &f.error),
	      "\"snippet\":\"w\xc3\xa9ll one\",\"marks\":[[5,3]]");
	limit.role = "AI";
	limit.limit = 1;
	holds(&f, retake_search(f.project, &place, "one", &limit, &f.text, &f.error), "[]");
	holds(&f, retake_search(f.project, &place, "thr", &limit, &f.text, &f.error), "\"at\":2");
	assert_int_equal(retake_project_index(f.project, &f.error), RETAKE_OK);
	assert_int_equal(retake_project_refresh(f.project, &f.error), RETAKE_OK);
	assert_int_equal(retake_project_newer(f.project, &f.error), RETAKE_OK);
	close_fixture(&f);
}

static void
test_past(void **state)
{
	retake_place place = RETAKE_PLACE_INIT;
	fixture f;

	(void)state;
	open_fixture(&f, ":memory:");
	done(&f, "[{\"op\":\"entry.append\",\"id\":\"a\",\"content\":\"one\"},"
		 "{\"op\":\"entry.edit\",\"entry\":\"a\",\"content\":\"two\"},"
		 "{\"op\":\"discussion.new\",\"name\":\"later\"}]");
	retake_text_free(&f.text);
	place.at_seq = 1;
	holds(&f, retake_entry(f.project, &place, "a", &f.text, &f.error), "\"one\"");
	holds(&f, retake_settings(f.project, &place, &f.text, &f.error), "\"main\"");
	holds(&f, retake_revisions(f.project, &place, "a", &f.text, &f.error), "\"one\"");
	holds(&f, retake_history(f.project, &place, NULL, &f.text, &f.error), "[{\"seq\":1,");
	holds(&f, retake_context(f.project, &place, NULL, &f.text, &f.error), "\"one\"");
	place.at_seq = RETAKE_SEQ_FIRST;
	holds(&f, retake_show(f.project, &place, NULL, &f.text, &f.error), "\"count\":0");
	place.discussion = "later";
	fails(&f, retake_show(f.project, &place, NULL, &f.text, &f.error), RETAKE_NOT_FOUND,
	      "later");
	place.at_seq = 3;
	holds(&f, retake_show(f.project, &place, NULL, &f.text, &f.error), "\"later\"");
	place.at_seq = 4;
	fails(&f, retake_show(f.project, &place, NULL, &f.text, &f.error), RETAKE_NOT_FOUND, "4");
	close_fixture(&f);
}

static void
test_context(void **state)
{
	retake_context_options options = RETAKE_CONTEXT_OPTIONS_INIT;
	fixture f;

	(void)state;
	open_fixture(&f, ":memory:");
	done(&f, "[{\"op\":\"entry.append\",\"content\":\"a question of some length\"},"
		 "{\"op\":\"entry.append\",\"content\":\"hi\"}]");
	retake_text_free(&f.text);
	options.provider = "anthropic";
	options.model = "some-model";
	options.stream = 1;
	holds(&f, retake_context(f.project, NULL, &options, &f.text, &f.error), "\"stream\":true");
	holds(&f, retake_context(f.project, NULL, &options, &f.text, &f.error), "some-model");
	holds(&f, retake_context(f.project, NULL, &options, &f.text, &f.error), "question");
	options.budget_tokens = 8;
	assert_int_equal(retake_context(f.project, NULL, &options, &f.text, &f.error), RETAKE_OK);
	assert_null(strstr(f.text.ptr, "question"));
	options.provider = "nobody";
	fails(&f, retake_context(f.project, NULL, &options, &f.text, &f.error), RETAKE_USAGE,
	      "openai");
	close_fixture(&f);
}

static void
test_exchange(void **state)
{
	retake_import_options in = RETAKE_IMPORT_OPTIONS_INIT;
	retake_export_options out = RETAKE_EXPORT_OPTIONS_INIT;
	retake_place place = RETAKE_PLACE_INIT;
	retake_text file = RETAKE_TEXT_INIT;
	fixture f, g;

	(void)state;
	open_fixture(&f, ":memory:");
	open_fixture(&g, ":memory:");
	done(&f,
	     "[{\"op\":\"entry.append\",\"content\":\"one\"},"
	     "{\"op\":\"take.branch\",\"at\":\"@\"}]");
	out.whole = out.lossless = 1;
	assert_int_equal(retake_export(f.project, NULL, "pi", &out, &file, &f.error), RETAKE_OK);
	in.dry_run = 1;
	in.name = "brought";
	holds(&g, retake_import(g.project, file.ptr, file.size, &in, &g.text, &g.error),
	      "{\"format\":\"pi\",\"discussions\":1,\"entries\":");
	assert_int_equal(seq_of(g.project), 0);
	in.dry_run = 0;
	in.format = "pi";
	holds(&g, retake_import(g.project, file.ptr, file.size, &in, &g.text, &g.error),
	      "\"discussion\":\"brought\"");
	holds(&g, retake_import(g.project, file.ptr, file.size, &in, &g.text, &g.error),
	      "\"entries\":0,");
	retake_text_free(&file);
	holds(&g, retake_export(g.project, NULL, "canonical", NULL, &g.text, &g.error),
	      "\"name\":\"brought\"");
	/* settings of the project, which no discussion has */
	holds(&g, retake_export(g.project, NULL, "config-toml", NULL, &g.text, &g.error),
	      "disc_roles = [");
	place.discussion = "brought";
	place.take = "t1";
	holds(&g, retake_export(g.project, &place, "markdown", NULL, &g.text, &g.error), "one");
	fails(&g, retake_export(g.project, NULL, "word", NULL, &g.text, &g.error), RETAKE_USAGE,
	      "word");
	in.format = NULL;
	fails(&g, retake_import(g.project, "", 0, &in, &g.text, &g.error), RETAKE_USAGE, "empty");
	fails(&g, retake_import(g.project, "\x01\x02", 2, &in, &g.text, &g.error), RETAKE_USAGE,
	      "unrecognised type");
	close_fixture(&f);
	close_fixture(&g);
}

/* ---- failures ---- */

static void
test_apply_failures(void **state)
{
	retake_apply_options options = RETAKE_APPLY_OPTIONS_INIT;
	retake_text before = RETAKE_TEXT_INIT;
	fixture f;

	(void)state;
	open_fixture(&f, ":memory:");
	/* each separately: the valid ones are executed, and the first failure is reported */
	fails(&f,
	      apply(&f, "[{\"op\":\"entry.append\",\"id\":\"a\",\"content\":\"x\"},7,{},"
			"{\"op\":\"entry.delete\",\"entry\":\"zzz\"},"
			"{\"op\":\"entry.append\",\"id\":\"b\",\"content\":\"y\"}]"),
	      RETAKE_USAGE, "op");
	assert_non_null(strstr(f.text.ptr, "[{\"seq\":1,\"entry\":\"a\"},{\"error\":"));
	assert_non_null(strstr(f.text.ptr, "\"code\":\"not_found\""));
	assert_non_null(strstr(f.text.ptr, "{\"seq\":2,\"entry\":\"b\"}]"));
	/* all or nothing */
	options.atomic = 1;
	retake_text_free(&f.text);
	fails(&f,
	      retake_apply(f.project,
			   "[{\"op\":\"entry.append\",\"content\":\"x\"},"
			   "{\"op\":\"entry.delete\",\"entry\":\"zzz\"}]",
			   RETAKE_CSTR, &options, &f.text, &f.error),
	      RETAKE_NOT_FOUND, "zzz");
	assert_non_null(strstr(f.text.ptr, "[{\"error\":"));
	assert_int_equal(seq_of(f.project), 2);
	/* not JSON: nothing was tried, the text stays */
	before = f.text;
	fails(&f, retake_apply(f.project, "[1,", 3, NULL, &f.text, &f.error), RETAKE_USAGE, "");
	assert_int_equal(f.error.has_at, 1);
	assert_ptr_equal(f.text.ptr, before.ptr);
	retake_text_free(&f.text);
	fails(&f, retake_apply(f.project, "", 0, NULL, &f.text, &f.error), RETAKE_USAGE, "");
	/* the size counts, not a NUL */
	assert_int_equal(
		retake_apply(f.project, "{\"op\":\"undo\"}garbage", 13, NULL, &f.text, NULL),
		RETAKE_OK);
	/* where */
	options.atomic = 0;
	options.take = "nowhere";
	retake_text_free(&f.text);
	fails(&f,
	      retake_apply(f.project, "{\"op\":\"entry.append\",\"content\":\"x\"}", RETAKE_CSTR,
			   &options, &f.text, &f.error),
	      RETAKE_NOT_FOUND, "nowhere");
	close_fixture(&f);
}

static void
test_nulls(void **state)
{
	retake_store_options options = RETAKE_STORE_OPTIONS_INIT;
	retake_store *store = NULL;
	retake_project *project = NULL;
	uint64_t seq = 0;
	fixture f;

	(void)state;
	open_fixture(&f, ":memory:");
	fails(&f, retake_store_open(NULL, NULL, &store, &f.error), RETAKE_USAGE, "path");
	fails(&f, retake_store_open("", NULL, &store, &f.error), RETAKE_USAGE, "empty");
	fails(&f, retake_store_open(":memory:", NULL, NULL, &f.error), RETAKE_USAGE, "output parameter");
	options.size = 0;
	fails(&f, retake_store_open(":memory:", &options, &store, &f.error), RETAKE_USAGE, "size");
	assert_null(store);
	fails(&f, retake_store_projects(NULL, &f.text, &f.error), RETAKE_USAGE, "store");
	fails(&f, retake_store_projects(f.store, NULL, &f.error), RETAKE_USAGE, "output parameter");
	fails(&f, retake_store_backup(f.store, NULL, &f.error), RETAKE_USAGE, "path");
	fails(&f, retake_store_check(NULL, &f.text, &f.error), RETAKE_USAGE, "store");
	fails(&f, retake_project_open(NULL, NULL, NULL, &project, &f.error), RETAKE_USAGE, "store");
	fails(&f, retake_project_open(f.store, "\xff", NULL, &project, &f.error), RETAKE_USAGE,
	      "UTF-8");
	fails(&f, retake_project_open(f.store, "none", NULL, &project, &f.error), RETAKE_NOT_FOUND,
	      "none");
	assert_null(project);
	fails(&f, retake_project_seq(NULL, &seq, &f.error), RETAKE_USAGE, "project");
	fails(&f, retake_project_seq(f.project, NULL, &f.error), RETAKE_USAGE, "output parameter");
	fails(&f, retake_project_refresh(NULL, &f.error), RETAKE_USAGE, "project");
	fails(&f, retake_project_index(NULL, &f.error), RETAKE_USAGE, "project");
	fails(&f, retake_project_newer(NULL, &f.error), RETAKE_USAGE, "project");
	fails(&f, retake_apply(f.project, NULL, RETAKE_CSTR, NULL, &f.text, &f.error), RETAKE_USAGE,
	      "request");
	fails(&f, retake_apply(f.project, "[]", 2, NULL, NULL, &f.error), RETAKE_USAGE, "output parameter");
	fails(&f, retake_apply(NULL, "[]", 2, NULL, &f.text, &f.error), RETAKE_USAGE, "project");
	fails(&f, retake_show(NULL, NULL, NULL, &f.text, &f.error), RETAKE_USAGE, "project");
	fails(&f, retake_show(f.project, NULL, NULL, NULL, &f.error), RETAKE_USAGE, "output parameter");
	fails(&f, retake_entry(f.project, NULL, NULL, &f.text, &f.error), RETAKE_USAGE, "entry");
	fails(&f, retake_diff(f.project, NULL, NULL, &f.text, &f.error), RETAKE_USAGE, "take");
	fails(&f, retake_search(f.project, NULL, NULL, NULL, &f.text, &f.error), RETAKE_USAGE,
	      "query");
	fails(&f, retake_export(f.project, NULL, NULL, NULL, &f.text, &f.error), RETAKE_USAGE,
	      "format");
	fails(&f, retake_import(f.project, NULL, 3, NULL, &f.text, &f.error), RETAKE_USAGE, "file");
	assert_int_equal(retake_show(f.project, NULL, NULL, NULL, NULL), RETAKE_USAGE);
	assert_null(f.text.ptr);
	close_fixture(&f);
}

/* A caller of a later version has a larger struct, and one of its new fields set or not. */
static void
test_options_grow(void **state)
{
	struct {
		retake_window now;
		uint64_t later;
	} window = {RETAKE_WINDOW_INIT, 0};
	fixture f;

	(void)state;
	open_fixture(&f, ":memory:");
	window.now.size = sizeof(window);
	holds(&f, retake_show(f.project, NULL, &window.now, &f.text, &f.error), "\"count\":0");
	window.later = 1;
	fails(&f, retake_show(f.project, NULL, &window.now, &f.text, &f.error), RETAKE_USAGE,
	      "does not have");
	window.now.size = (size_t)-1;
	fails(&f, retake_show(f.project, NULL, &window.now, &f.text, &f.error), RETAKE_USAGE,
	      "size");
	close_fixture(&f);
}

/* ---- files ---- */

typedef struct folder {
	char dir[64];
	char path[96];
	char copy[96];
} folder;

static void
folder_make(folder *f)
{
	assert_true(test_folder(f->dir, sizeof(f->dir), "retake-library"));
	snprintf(f->path, sizeof(f->path), "%s/a.db", f->dir);
	snprintf(f->copy, sizeof(f->copy), "%s/b.db", f->dir);
}

static void
folder_drop(const folder *f)
{
	(void)unlink(f->path);
	(void)unlink(f->copy);
	assert_int_equal(rmdir(f->dir), 0); /* no other file was left there */
}

static void
test_two_handles(void **state)
{
	retake_store_options look = RETAKE_STORE_OPTIONS_INIT;
	retake_store *store = NULL;
	retake_project *project = NULL;
	folder dir;
	fixture f, g;

	(void)state;
	folder_make(&dir);
	memset(&g, 0, sizeof(g));
	fails(&g, retake_store_open(dir.path, NULL, &store, &g.error), RETAKE_NOT_FOUND, "a.db");
	open_fixture(&f, dir.path);
	open_fixture(&g, dir.path);
	done(&f, "{\"op\":\"entry.append\",\"id\":\"a\",\"content\":\"one\"}");
	/* reading does not load new rows by itself; a change does */
	assert_int_equal(seq_of(g.project), 0);
	assert_int_equal(retake_project_refresh(g.project, &g.error), RETAKE_OK);
	assert_int_equal(seq_of(g.project), 1);
	done(&g, "{\"op\":\"entry.append\",\"id\":\"b\",\"content\":\"two\"}");
	done(&f, "{\"op\":\"entry.append\",\"id\":\"c\",\"content\":\"three\"}");
	assert_string_equal(f.text.ptr, "[{\"seq\":3,\"entry\":\"c\"}]");
	retake_text_free(&f.text);
	/* a third one that only reads */
	look.read_only = 1;
	assert_int_equal(retake_store_open(dir.path, &look, &store, NULL), RETAKE_OK);
	assert_int_equal(retake_project_open(store, "", NULL, &project, NULL), RETAKE_OK);
	fails(&f, retake_apply(project, "{\"op\":\"undo\"}", RETAKE_CSTR, NULL, &f.text, &f.error),
	      RETAKE_READ_ONLY, "read-only");
	retake_text_free(&f.text);
	holds(&f, retake_show(project, NULL, NULL, &f.text, &f.error), "\"count\":3");
	holds(&f, retake_search(project, NULL, "three", NULL, &f.text, &f.error), "\"c\"");
	/* in whatever order */
	retake_store_close(store);
	holds(&f, retake_show(project, NULL, NULL, &f.text, &f.error), "\"count\":3");
	retake_project_close(project);
	close_fixture(&f);
	close_fixture(&g);
	folder_drop(&dir);
}

static void
test_care(void **state)
{
	retake_project_options create = RETAKE_PROJECT_OPTIONS_INIT;
	retake_project *other = NULL;
	retake_store *store = NULL;
	folder dir;
	fixture f;

	(void)state;
	folder_make(&dir);
	open_fixture(&f, dir.path);
	create.create = 1;
	create.by = "me";
	assert_int_equal(retake_project_open(f.store, "b\"b", &create, &other, &f.error),
			 RETAKE_OK);
	assert_int_equal(retake_apply(other, "{\"op\":\"entry.append\",\"content\":\"x\"}",
				      RETAKE_CSTR, NULL, &f.text, &f.error),
			 RETAKE_OK);
	retake_text_free(&f.text);
	holds(&f, retake_history(other, NULL, NULL, &f.text, &f.error), "\"by\":\"me\"");
	retake_project_close(other);
	holds(&f, retake_store_projects(f.store, &f.text, &f.error), "\"b\\\"b\"");
	holds(&f, retake_store_check(f.store, &f.text, &f.error), "{\"clean\":true,\"findings\":[");
	assert_int_equal(retake_store_backup(f.store, dir.copy, &f.error), RETAKE_OK);
	fails(&f, retake_store_backup(f.store, dir.copy, &f.error), RETAKE_REFUSED, "b.db");
	assert_int_equal(retake_store_open(dir.copy, NULL, &store, &f.error), RETAKE_OK);
	holds(&f, retake_store_projects(store, &f.text, &f.error), "default");
	retake_store_close(store);
	close_fixture(&f);
	folder_drop(&dir);
}

static size_t
times(const char *text, const char *part)
{
	size_t count = 0;

	for (; (text = strstr(text, part)) != NULL; text++)
		count++;
	return count;
}

/* The same damage in two projects is reported for each. */
static void
test_check_of_two_projects(void **state)
{
	retake_project_options create = RETAKE_PROJECT_OPTIONS_INIT;
	retake_project *other = NULL;
	sqlite3 *db = NULL;
	folder dir;
	fixture f;

	(void)state;
	folder_make(&dir);
	open_fixture(&f, dir.path);
	create.create = 1;
	assert_int_equal(retake_project_open(f.store, "other", &create, &other, &f.error), RETAKE_OK);
	assert_int_equal(apply(&f, "{\"op\":\"entry.append\",\"content\":\"x\"}"), RETAKE_OK);
	retake_text_free(&f.text);
	assert_int_equal(retake_apply(other, "{\"op\":\"entry.append\",\"content\":\"x\"}",
				      RETAKE_CSTR, NULL, &f.text, &f.error),
			 RETAKE_OK);
	retake_project_close(other);
	close_fixture(&f);
	assert_int_equal(sqlite3_open(dir.path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, "DELETE FROM body", NULL, NULL, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_close(db), SQLITE_OK);
	memset(&f, 0, sizeof(f));
	assert_int_equal(retake_store_open(dir.path, NULL, &f.store, &f.error), RETAKE_OK);
	assert_int_equal(retake_store_check(f.store, &f.text, &f.error), RETAKE_OK);
	assert_true(times(f.text.ptr, "\"project\":\"default\"") > 0);
	assert_int_equal(times(f.text.ptr, "\"project\":\"default\""),
			 times(f.text.ptr, "\"project\":\"other\""));
	close_fixture(&f);
	folder_drop(&dir);
}

/* ---- threads ---- */

typedef struct writer {
	retake_project *project;
	pthread_t thread;
	int number;
	int done; /* acknowledged with its own result */
} writer;

static void *
write_on(void *ctx)
{
	writer *w = ctx;
	char json[160], wanted[40];
	int i;

	for (i = 0; i < APPENDS; i++) {
		retake_text text = RETAKE_TEXT_INIT;
		retake_status st;
		char id[24];

		snprintf(id, sizeof(id), "w%d-%d", w->number, i);
		snprintf(json, sizeof(json), APPEND, id, id);
		snprintf(wanted, sizeof(wanted), "\"entry\":\"%s\"", id);
		st = retake_apply(w->project, json, RETAKE_CSTR, NULL, &text, NULL);
		w->done += st == RETAKE_OK && strstr(text.ptr, wanted) != NULL;
		retake_text_free(&text);
		st = retake_show(w->project, NULL, NULL, &text, NULL);
		w->done -= st != RETAKE_OK || strstr(text.ptr, id) == NULL;
		retake_text_free(&text);
	}
	return NULL;
}

static void
write_at_once(fixture *f, fixture *second)
{
	writer writers[THREADS];
	char count[32];
	int i;

	for (i = 0; i < THREADS; i++) {
		writers[i] = (writer){.project = i % 2 == 0 ? f->project : second->project,
				      .number = i};
		assert_int_equal(pthread_create(&writers[i].thread, NULL, write_on, &writers[i]),
				 0);
	}
	for (i = 0; i < THREADS; i++) {
		assert_int_equal(pthread_join(writers[i].thread, NULL), 0);
		assert_int_equal(writers[i].done, APPENDS);
	}
	assert_int_equal(retake_project_refresh(f->project, &f->error), RETAKE_OK);
	assert_int_equal(seq_of(f->project), THREADS * APPENDS);
	snprintf(count, sizeof(count), "\"count\":%d", THREADS * APPENDS);
	holds(f, retake_show(f->project, NULL, NULL, &f->text, &f->error), count);
}

static void
test_threads(void **state)
{
	folder dir;
	fixture f, g;

	(void)state;
	open_fixture(&f, ":memory:");
	write_at_once(&f, &f);
	close_fixture(&f);
	folder_make(&dir);
	open_fixture(&f, dir.path);
	open_fixture(&g, dir.path);
	write_at_once(&f, &g);
	close_fixture(&f);
	close_fixture(&g);
	folder_drop(&dir);
}

/* ---- torture ---- */

typedef struct failing {
	long left; /* allocations until one fails; -1: never */
	long live;
} failing;

static void *
failing_resize(void *ctx, void *ptr, size_t size)
{
	failing *f = ctx;
	void *got;

	if (f->left == 0)
		return NULL;
	if (f->left > 0)
		f->left--;
	got = rt_resize(rt_alloc_libc(), ptr, size);
	f->live += got != NULL && ptr == NULL;
	return got;
}

static void
failing_release(void *ctx, void *ptr)
{
	failing *f = ctx;

	f->live -= ptr != NULL;
	rt_free(rt_alloc_libc(), ptr);
}

/* A complete use: opened, changed, read. Returns the first failure. */
static retake_status
live_once(const rt_alloc *alloc)
{
	retake_project_options create = RETAKE_PROJECT_OPTIONS_INIT;
	retake_text text = RETAKE_TEXT_INIT;
	retake_project *project = NULL;
	retake_store *store = NULL;
	retake_status st = rt_library_store_open(alloc, rt_system_env(), ":memory:", NULL, &store,
						 NULL);

	create.create = 1;
	if (st == RETAKE_OK)
		st = retake_project_open(store, NULL, &create, &project, NULL);
	if (st == RETAKE_OK)
		st = retake_apply(project,
				  "[{\"op\":\"entry.append\",\"id\":\"a\",\"content\":\"one\"},"
				  "{\"op\":\"take.branch\",\"at\":\"a\"}]",
				  RETAKE_CSTR, NULL, &text, NULL);
	retake_text_free(&text);
	if (st == RETAKE_OK)
		st = retake_tree(project, NULL, &text, NULL);
	retake_text_free(&text);
	if (st == RETAKE_OK)
		st = retake_search(project, NULL, "one", NULL, &text, NULL);
	retake_text_free(&text);
	if (st == RETAKE_OK)
		st = retake_export(project, NULL, "canonical", NULL, &text, NULL);
	retake_text_free(&text);
	if (st == RETAKE_OK)
		st = retake_store_check(store, &text, NULL);
	retake_text_free(&text);
	retake_project_close(project);
	retake_store_close(store);
	return st;
}

static void
test_torture(void **state)
{
	failing f = {-1, 0};
	rt_alloc alloc = {failing_resize, failing_release, &f};
	retake_status st = RETAKE_NOMEM;
	long n;

	(void)state;
	assert_int_equal(live_once(&alloc), RETAKE_OK);
	assert_int_equal(f.live, 0);
	for (n = 0; st != RETAKE_OK || f.left == 0; n++) {
		f.left = n;
		st = live_once(&alloc);
		if (st != RETAKE_OK && st != RETAKE_NOMEM)
			fail_msg("allocation %ld failed: %s", n, retake_status_word(st));
		if (f.live != 0)
			fail_msg("allocation %ld failed: %ld blocks leak", n, f.live);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_search_days), cmocka_unit_test(test_version_and_words),
		cmocka_unit_test(test_apply_and_look),
		cmocka_unit_test(test_past),
		cmocka_unit_test(test_context),
		cmocka_unit_test(test_exchange),
		cmocka_unit_test(test_apply_failures),
		cmocka_unit_test(test_nulls),
		cmocka_unit_test(test_options_grow),
		cmocka_unit_test(test_two_handles),
		cmocka_unit_test(test_care),
		cmocka_unit_test(test_check_of_two_projects),
		cmocka_unit_test(test_threads),
		cmocka_unit_test(test_torture),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
