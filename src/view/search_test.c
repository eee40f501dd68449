/* SPDX-License-Identifier: MIT
 *
 * Searching: the syntax of queries, the use of the index, and that only visible texts are found. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "log/engine_testing.h"
#include "log/folder_testing.h"
#include "log/index.h"
#include "view/search.h"
#include "view/search_impl.h"
#include "store/store_memory.h"
#include "store/store_sqlite.h"

typedef struct fixture {
	rt_store *store;
	rt_engine *engine;
	rt_buf out;
	char folder[64]; /* empty: a store in memory */
} fixture;

/* *state: the kind of store. */
static int
set_up(void **state)
{
	rt_store_sqlite_options file = {.create = true};
	fixture *f = test_calloc(1, sizeof(*f));
	rt_engine_options options = {.env = &env, .create = true};
	char path[96];

	if (strcmp(*state, "memory") == 0) {
		assert_int_equal(rt_store_memory_open(rt_alloc_libc(), &env, &f->store, NULL), RT_OK);
	} else {
		assert_true(test_folder(f->folder, sizeof(f->folder), "search_test"));
		snprintf(path, sizeof(path), "%s/a.db", f->folder);
		assert_int_equal(rt_store_sqlite_open(rt_alloc_libc(), &env, path, &file, &f->store,
						      NULL), RT_OK);
	}
	assert_int_equal(rt_engine_open(&options, f->store, &f->engine, NULL), RT_OK);
	rt_buf_init(&f->out, rt_alloc_libc(), RT_BUF_UNLIMITED);
	*state = f;
	return 0;
}

static int
tear_down(void **state)
{
	fixture *f = *state;

	rt_buf_deinit(&f->out);
	rt_engine_close(f->engine);
	f->store->ops->close(f->store);
	if (f->folder[0] != '\0') {
		static const char *const names[] = {"a.db", "a.db-wal", "a.db-shm"};
		char path[96];

		for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
			snprintf(path, sizeof(path), "%s/%s", f->folder, names[i]);
			(void)unlink(path);
		}
		(void)rmdir(f->folder);
	}
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

static const char *
search_in(fixture *f, const char *query, uint32_t disc, const char *role, size_t limit)
{
	const rt_project *project = rt_engine_value(f->engine);
	rt_error err = {0};

	rt_buf_clear(&f->out);
	if (rt_view_search(f->engine, project,
			   &(rt_search){.query = rt_str_of(query),
					.disc = disc,
					.role = rt_str_of(role),
					.limit = limit},
			   &f->out, &err) != RT_OK)
		fail_msg("%s: %s", query, err.text);
	rt_object_unref(project);
	return f->out.ptr;
}

static void
refuses(fixture *f, const char *query, const char *words)
{
	const rt_project *project = rt_engine_value(f->engine);
	rt_error err = {0};

	rt_buf_clear(&f->out);
	assert_int_equal(rt_view_search(f->engine, project, &(rt_search){.query = rt_str_of(query)},
					&f->out, &err),
			 RT_USAGE);
	assert_non_null(strstr(err.text, words));
	rt_object_unref(project);
}

static int
char_order(const void *a, const void *b)
{
	return *(const char *)a - *(const char *)b;
}

/* The ids of the hits (one letter each) in alphabetical order, each followed by a blank: the
 * ranking is up to the store. */
static const char *
ids_of(fixture *f, const char *query)
{
	static char ids[64];
	char letters[32];
	rt_json_doc *doc;
	yyjson_val *hit;
	size_t i, max;

	(void)search_in(f, query, 0, "", 0);
	assert_int_equal(rt_json_read(rt_alloc_libc(), rt_buf_str(&f->out), &doc, NULL), RT_OK);
	yyjson_arr_foreach(rt_json_root(doc), i, max, hit)
	{
		assert_true(i < sizeof(letters));
		letters[i] = yyjson_get_str(rt_json_get(hit, "id"))[0];
	}
	qsort(letters, max, 1, char_order);
	for (i = 0; i < max; i++) {
		ids[2 * i] = letters[i];
		ids[2 * i + 1] = ' ';
	}
	ids[2 * max] = '\0';
	rt_json_free(doc);
	return ids;
}

static void
animals(fixture *f)
{
	apply(f, "{\"op\":\"entry.append\",\"id\":\"a\",\"content\":\"A tabby cat with a hat\"}");
	apply(f, "{\"op\":\"entry.append\",\"id\":\"b\",\"role\":\"AI\",\"content\":\"The hat of the cat\"}");
	apply(f, "{\"op\":\"entry.append\",\"id\":\"c\",\"role\":\"AI\",\"content\":\"A dog, no Katze\"}");
	apply(f, "{\"op\":\"entry.append\",\"id\":\"d\",\"role\":\"Vendor API\",\"content\":\"un caf\\u00e9 => 100%\"}");
}

static void
finds_what_a_query_says(void **state)
{
	fixture *f = *state;

	animals(f);
	assert_string_equal(ids_of(f, "cat"), "a b ");
	assert_string_equal(ids_of(f, "CAT tabby"), "a ");
	assert_string_equal(ids_of(f, "cat hat"), "a b ");
	assert_string_equal(ids_of(f, "\"hat of\""), "b ");
	assert_string_equal(ids_of(f, "\"cat of\""), "");
	assert_string_equal(ids_of(f, "cat -tabby"), "b ");
	assert_string_equal(ids_of(f, "cat !tabby"), "b ");
	assert_string_equal(ids_of(f, "cat -\"of the cat\""), "a ");
	assert_string_equal(ids_of(f, "tab"), "a "); /* the last word may be a beginning */
	assert_string_equal(ids_of(f, "tab cat"), "");
	assert_string_equal(ids_of(f, "role:ai cat"), "b ");
	assert_string_equal(ids_of(f, "role:\"vendor api\""), "d ");
	assert_string_equal(ids_of(f, "role:AI -cat"), "c ");
	assert_string_equal(ids_of(f, "-cat"), "c d ");
	assert_string_equal(ids_of(f, "=>"), "d ");
	assert_string_equal(ids_of(f, "100%"), "d ");
	assert_string_equal(ids_of(f, ""), "");
	assert_string_equal(ids_of(f, "  \"\" "), "");
	assert_string_equal(ids_of(f, "nothing"), "");
	apply(f, "{\"op\":\"entry.append\",\"id\":\"f\",\"content\":\"o\uFB03ce ＡＢＣ１\"}");
	assert_string_equal(ids_of(f, "office abc1"), "f ");
	assert_string_equal(ids_of(f, "\"office abc1\""), "f ");
	assert_string_equal(ids_of(f, "of abc1"), "");
	assert_string_equal(ids_of(f, "off* abc1"), "f ");
	assert_string_equal(ids_of(f, "o\uFB03ce ＡＢＣ１"), "f ");
	assert_string_equal(ids_of(f, "-office dog"), "c ");
	apply(f, "{\"op\":\"entry.append\",\"id\":\"e\",\"content\":\"An old cat\","
		 "\"ts\":\"2019-05-06T07:08:09Z\"}");
	assert_string_equal(ids_of(f, "cat before:2020-01-01"), "e ");
	assert_string_equal(ids_of(f, "after:2019-05-06 before:2019-05-07"), "e ");
	assert_string_equal(ids_of(f, "after:2019-05-06T07:08:09Z before:2020-01-01"), "e ");
	assert_string_equal(ids_of(f, "before:2019-05-06T07:08:09Z"), "");
	assert_string_equal(ids_of(f, "cat AFTER:2020-01-01"), "a b ");
	/* relative to the clock, 2023-11-14 here */
	assert_string_equal(ids_of(f, "cat after:\"last week\""), "a b ");
	assert_string_equal(ids_of(f, "after:last week cat"), "a b ");
	assert_string_equal(ids_of(f, "cat after:1d before:2100"), "a b ");
	assert_string_equal(ids_of(f, "cat before:yesterday"), "e ");
	refuses(f, "cat after:tomorrow", "\"tomorrow\" is not a date");
	refuses(f, "Before:2019-13-01 cat", "\"2019-13-01\" is not a date");
	assert_string_equal(ids_of(f, "cat \"after:tomorrow\""), "");
	assert_string_equal(ids_of(f, "cat after:"), "");
}

static void
finds_what_an_expression_says(void **state)
{
	fixture *f = *state;

	animals(f);
	assert_string_equal(ids_of(f, "tab* cat"), "a ");
	assert_string_equal(ids_of(f, "ta* ha*"), "a ");
	assert_string_equal(ids_of(f, "NEAR(hat cat, 1)"), "");
	assert_string_equal(ids_of(f, "NEAR(cat hat, 2)"), "a b ");
	assert_string_equal(ids_of(f, "NEAR(tabby hat, 2)"), "");
	assert_string_equal(ids_of(f, "NEAR(tabby hat)"), "a ");
	assert_string_equal(ids_of(f, "cat -NEAR(tabby hat)"), "b ");
	assert_string_equal(ids_of(f, "NEAR(cat)"), "a b ");
	assert_string_equal(ids_of(f, "NEAR(cat"), ""); /* a text */
	assert_string_equal(ids_of(f, "/c.t\\b/"), "a b ");
	assert_string_equal(ids_of(f, "/^THE hat/"), "b ");
	assert_string_equal(ids_of(f, "hat -/^the/"), "a ");
	assert_string_equal(ids_of(f, "/[0-9]{3}%$/"), "d ");
	/* letters that need not be there */
	assert_string_equal(ids_of(f, "/caTs*/"), "a b ");
	assert_string_equal(ids_of(f, "/cats?/"), "a b ");
	assert_string_equal(ids_of(f, "/cats{0,2}/"), "a b ");
	assert_string_equal(ids_of(f, "/(dog|cat)/"), "a b c ");
	assert_string_equal(ids_of(f, "/dogs|cat/"), "a b ");
	assert_string_equal(ids_of(f, "/[bc]at+/"), "a b ");
	assert_string_equal(ids_of(f, "/ca\\x?t/"), "a b ");
	assert_string_equal(ids_of(f, "/tab+y|nothing/"), "a ");
	assert_string_equal(ids_of(f, "/usr/bin/"), "");
	assert_string_equal(ids_of(f, "\"/c.t/\""), "");
	apply(f, "{\"op\":\"entry.append\",\"id\":\"e\",\"content\":\"first line\\nlast words\"}");
	assert_string_equal(ids_of(f, "/^last/"), "e ");
	assert_string_equal(ids_of(f, "/line$/"), "e ");
	assert_string_equal(ids_of(f, "/line.last/"), "");
	refuses(f, "/(/", "is invalid");
	refuses(f, "/(a{100}){100}/", "repeats too often");
	refuses(f, "/(a)\\1/", "refers to a group");
}

static void
filters(void **state)
{
	fixture *f = *state;

	animals(f);
	apply(f, "{\"op\":\"entry.edit\",\"entry\":\"a\",\"content\":\"A tabby lion with a hat\"}");
	apply(f, "{\"op\":\"label.set\",\"entry\":\"b\",\"label\":\"Best so far\"}");
	apply(f, "{\"op\":\"entry.append\",\"id\":\"e\",\"role\":\"AI\",\"model\":\"openai/gpt-x\",\"content\":\"cats\"}");
	apply(f, "{\"op\":\"discussion.new\",\"name\":\"Zoo\"}");
	apply(f, "{\"op\":\"setting.set\",\"key\":\"tags\",\"value\":[\"work/db\"],\"of\":\"discussion\"}");
	apply(f, "{\"op\":\"entry.append\",\"id\":\"z\",\"content\":\"A lion\"}");
	assert_string_equal(ids_of(f, "lion"), "a z ");
	assert_string_equal(ids_of(f, "lion in:zoo"), "z ");
	assert_string_equal(ids_of(f, "lion tag:work"), "z ");
	assert_string_equal(ids_of(f, "lion tag:work/db"), "z ");
	assert_string_equal(ids_of(f, "lion tag:home"), "");
	assert_string_equal(ids_of(f, "in:zoo"), "z ");
	assert_string_equal(ids_of(f, "lion edited:yes"), "a ");
	assert_string_equal(ids_of(f, "lion edited:no"), "z ");
	assert_string_equal(ids_of(f, "label:best"), "b ");
	assert_string_equal(ids_of(f, "model:gpt"), "e ");
	refuses(f, "lion edited:maybe", "yes or no");
	assert_string_equal(ids_of(f, "lion program:retake"), "a z ");
	assert_string_equal(ids_of(f, "lion program:codex"), "");
	/* the past */
	assert_string_equal(ids_of(f, "tabby cat"), "");
	assert_string_equal(ids_of(f, "tabby cat past:yes"), "a ");
	assert_non_null(strstr(search_in(f, "tabby cat past:yes", 0, "", 0), "\"at\":1,"));
	assert_non_null(strstr(f->out.ptr, "\"past\":true"));
	assert_null(strstr(search_in(f, "tabby past:yes", 1, "", 1), "\"past\""));
	apply(f, "{\"op\":\"entry.delete\",\"entry\":\"z\"}");
	assert_string_equal(ids_of(f, "lion in:zoo"), "");
	assert_non_null(strstr(search_in(f, "lion in:zoo past:yes", 0, "", 0), "\"take\":\"\",\"id\":\"z\""));
	assert_non_null(strstr(f->out.ptr, "\"at\":0,"));
}

/* Nothing else tells that a filter was misspelt; addresses and names of programs are no filters. */
static void
names_filters(void **state)
{
	fixture *f = *state;

	animals(f);
	apply(f, "{\"op\":\"entry.append\",\"id\":\"e\",\"content\":\"std::vector at http://x.org/a foo:bar\"}");
	assert_string_equal(ids_of(f, "std::vector"), "e ");
	assert_string_equal(ids_of(f, "http://x.org"), "e ");
	assert_string_equal(ids_of(f, "foo:bar"), "e ");
	assert_string_equal(ids_of(f, "std::list"), "");
	assert_string_equal(ids_of(f, "https://y.org"), "");
	assert_string_equal(ids_of(f, "8:15"), "");
	assert_string_equal(ids_of(f, "cat \"rolle:AI\""), "");
	assert_string_equal(ids_of(f, "cat -rolle:AI"), "a b ");
	refuses(f, "cat rolle:AI", "there is no filter \"rolle\", and no text contains it; filters by date: after:7d, before:2026-11-25; "
			      "other filters: role: ");
	refuses(f, "cat rolle:AI", " program:");
}

static void
looks_into_tool_calls(void **state)
{
	fixture *f = *state;

	apply(f, "{\"op\":\"entry.append\",\"id\":\"a\",\"role\":\"AI\",\"content\":[{\"type\":\"text\",\"text\":\"Let me look.\"},"
		 "{\"type\":\"tool_use\",\"id\":\"toolu_identifier\",\"name\":\"bash\",\"input\":{\"command\":\"grep -rn mutex src\"}}]}");
	apply(f, "{\"op\":\"entry.append\",\"id\":\"b\",\"role\":\"AI\",\"content\":\"\",\"tool_calls\":[{\"id\":\"x\",\"function\":{\"name\":\"read_file\",\"arguments\":\"{\\\"path\\\":\\\"mutex.c\\\"}\"}}]}");
	assert_string_equal(ids_of(f, "mutex"), "a b ");
	assert_string_equal(ids_of(f, "grep mutex"), "a ");
	assert_string_equal(ids_of(f, "\"read file\""), "b ");
	assert_string_equal(ids_of(f, "identifier"), "");
}

/* The text with more of the words comes first, of equal ones the newer. */
static void
ranks(void **state)
{
	fixture *f = *state;
	const char *first, *second, *third;

	apply(f, "{\"op\":\"entry.append\",\"id\":\"a\",\"content\":\"fox fox fox\"}");
	apply(f, "{\"op\":\"entry.append\",\"id\":\"b\",\"content\":\"one fox here\"}");
	apply(f, "{\"op\":\"entry.append\",\"id\":\"c\",\"content\":\"one fox there\"}");
	(void)search_in(f, "fox", 0, "", 0);
	first = strstr(f->out.ptr, "\"id\":\"a\"");
	second = strstr(f->out.ptr, "\"id\":\"c\"");
	third = strstr(f->out.ptr, "\"id\":\"b\"");
	assert_true(first != NULL && first < second && second < third);
}

static void
says_where_and_shows_a_snippet(void **state)
{
	fixture *f = *state;

	animals(f);
	assert_string_equal(search_in(f, "hat tab", 0, "", 0),
			    "[{\"discussion\":\"main\",\"take\":\"main\",\"id\":\"a\",\"role\":\"User\","
			    "\"at\":1,\"ts\":\"2023-11-14T22:13:20Z\",\"snippet\":\"A tabby cat with a hat\",\"marks\":[[2,3],[19,3]]}]");
	assert_string_equal(search_in(f, "dog", 0, "ai", 0),
			    "[{\"discussion\":\"main\",\"take\":\"main\",\"id\":\"c\",\"role\":\"AI\","
			    "\"at\":3,\"ts\":\"2023-11-14T22:13:20Z\",\"snippet\":\"A dog, no Katze\",\"marks\":[[2,3]]}]");
	assert_string_equal(search_in(f, "dog", 0, "User", 0), "[]");
}

static void
cuts_a_snippet_at_characters(void **state)
{
	rt_query q = rt_query_parse(RT_STR("needle"), 0, NULL);
	rt_buf text, out;

	(void)state;
	rt_buf_init(&text, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_buf_init(&out, rt_alloc_libc(), RT_BUF_UNLIMITED);
	for (int i = 0; i < 100; i++)
		rt_buf_add_c(&text, "ä");
	rt_buf_add_c(&text, " needle\n\001");
	for (int i = 0; i < 100; i++)
		rt_buf_add_c(&text, "é");
	rt_query_add_snippet(&out, &q, rt_buf_str(&text));
	assert_int_equal(rt_utf8_valid_size(rt_buf_str(&out)), out.size);
	/* 120 characters, two marks, two dots */
	assert_int_equal(rt_utf8_count(rt_buf_str(&out)), 120 + 2 + 2);
	assert_non_null(strstr(out.ptr, "ä \001needle\002  é"));
	rt_buf_deinit(&text);
	rt_buf_deinit(&out);
}

static void
cuts_a_snippet_between_words(void **state)
{
	rt_query q = rt_query_parse(RT_STR("needle"), 0, NULL);
	rt_buf text, out;

	(void)state;
	rt_buf_init(&text, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_buf_init(&out, rt_alloc_libc(), RT_BUF_UNLIMITED);
	for (int i = 0; i < 20; i++)
		rt_buf_add_c(&text, "haystack ");
	rt_buf_add_c(&text, "needle");
	for (int i = 0; i < 20; i++)
		rt_buf_add_c(&text, " meadow");
	rt_query_add_snippet(&out, &q, rt_buf_str(&text));
	assert_string_equal(out.ptr, "…haystack haystack haystack haystack \001needle\002"
				     " meadow meadow meadow meadow meadow meadow meadow meadow meadow meadow…");
	rt_buf_deinit(&text);
	rt_buf_deinit(&out);
}

static void
finds_only_what_is_shown_now(void **state)
{
	fixture *f = *state;

	animals(f);
	assert_string_equal(ids_of(f, "tabby"), "a ");
	apply(f, "{\"op\":\"entry.edit\",\"entry\":\"a\",\"content\":\"A red cat\"}");
	assert_string_equal(ids_of(f, "tabby"), "");
	assert_string_equal(ids_of(f, "red"), "a ");
	apply(f, "{\"op\":\"undo\"}");
	assert_string_equal(ids_of(f, "tabby"), "a ");
	apply(f, "{\"op\":\"entry.delete\",\"entry\":\"a\"}");
	assert_string_equal(ids_of(f, "tabby"), "");
	apply(f, "{\"op\":\"undo\"}");
	/* another take keeps the old text */
	apply(f, "{\"op\":\"take.branch\",\"at\":\"b\"}");
	apply(f, "{\"op\":\"entry.edit\",\"entry\":\"a\",\"content\":\"A red cat\"}");
	assert_non_null(strstr(search_in(f, "tabby", 0, "", 0), "\"take\":\"main\""));
	assert_non_null(strstr(search_in(f, "red", 0, "", 0), "\"take\":\"main_take_1\""));
	apply(f, "{\"op\":\"take.delete\",\"take\":\"main\"}");
	assert_string_equal(ids_of(f, "tabby"), "");
}

static void
looks_in_one_discussion_or_all(void **state)
{
	fixture *f = *state;

	animals(f);
	apply(f, "{\"op\":\"discussion.new\",\"name\":\"two\"}");
	apply(f, "{\"op\":\"entry.append\",\"id\":\"x\",\"content\":\"another cat\"}");
	assert_string_equal(ids_of(f, "cat"), "a b x ");
	assert_null(strstr(search_in(f, "cat", 1, "", 0), "another"));
	assert_non_null(strstr(search_in(f, "cat", 2, "", 0), "another"));
	assert_null(strstr(search_in(f, "cat", 2, "", 0), "tabby"));
	apply(f, "{\"op\":\"discussion.extract\",\"entry\":\"b\",\"discussion\":\"main\",\"name\":\"copy\"}");
	assert_string_equal(ids_of(f, "tabby"), "a a "); /* in main and in its copy */
	apply(f, "{\"op\":\"discussion.delete\",\"discussion\":\"main\"}");
	assert_string_equal(ids_of(f, "tabby"), "a ");
	assert_int_equal(strncmp(search_in(f, "cat", 0, "", 1), "[{", 2), 0);
	assert_null(strstr(f->out.ptr, "},{"));
}

static void
finds_scripts_without_spaces(void **state)
{
	fixture *f = *state;

	apply(f, "{\"op\":\"entry.append\",\"id\":\"z\",\"content\":\"\\u6211\\u559c\\u6b22\\u732b\\u548c\\u72d7\"}");
	apply(f, "{\"op\":\"entry.append\",\"id\":\"k\",\"content\":\"\\u041f\\u0440\\u0438\\u0432\\u0435\\u0442\"}");
	assert_string_equal(ids_of(f, "猫"), "z ");
	assert_string_equal(ids_of(f, "喜欢 狗"), "z ");
	assert_string_equal(ids_of(f, "привет"), "k ");
	assert_string_equal(ids_of(f, "鸟"), "");
}

static void
reads_what_is_not_indexed(void **state)
{
	fixture *f = *state;
	rt_engine_options options = {.env = &env, .read_only = true};
	rt_engine *reader;
	const rt_project *project;
	uint64_t mark;

	animals(f);
	assert_int_equal(rt_engine_open(&options, f->store, &reader, NULL), RT_OK);
	project = rt_engine_value(reader);
	assert_int_equal(rt_view_search(reader, project, &(rt_search){.query = RT_STR("cat -tabby")},
					&f->out, NULL), RT_OK);
	assert_non_null(strstr(f->out.ptr, "\"id\":\"b\""));
	assert_null(strstr(f->out.ptr, "\"id\":\"a\""));
	assert_int_equal(rt_engine_index(reader, NULL), RT_READ_ONLY);
	assert_int_equal(f->store->ops->head(f->store, RT_STORE_INDEX,
					     rt_engine_project_number(reader), &mark, NULL),
			 RT_OK);
	assert_int_equal(mark, 0);
	rt_object_unref(project);
	rt_engine_close(reader);
}

static void
folds_accents(void **state)
{
	fixture *f = *state;

	animals(f);
	assert_string_equal(ids_of(f, "cafe"), "d ");
	assert_non_null(strstr(f->out.ptr, "café"));
	assert_non_null(strstr(f->out.ptr, ",4]]"));
}

enum { MANY = 4500 };

/* Adds this many entries, one after the other. */
static void
append_many(fixture *f)
{
	rt_json_doc *doc;
	yyjson_val *request;
	yyjson_val **requests = test_calloc(MANY, sizeof(*requests));
	rt_result *results = test_calloc(MANY, sizeof(*results));
	size_t i, max;
	rt_buf lines;

	rt_buf_init(&lines, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_buf_add_byte(&lines, '[');
	for (i = 0; i < MANY; i++)
		rt_buf_add_f(&lines, "%s{\"op\":\"entry.append\",\"content\":\"%s number%zu\"}",
			     i > 0 ? "," : "", i % 7 == 0 ? "" : "some", i);
	rt_buf_add_byte(&lines, ']');
	assert_int_equal(rt_json_read(rt_alloc_libc(), rt_buf_str(&lines), &doc, NULL), RT_OK);
	yyjson_arr_foreach(rt_json_root(doc), i, max, request)
	{
		requests[i] = request;
	}
	assert_int_equal(rt_engine_apply_json(f->engine, requests, MANY, true, RT_STR(""), RT_STR(""),
					 results), RT_OK);
	for (i = 0; i < MANY; i++)
		rt_result_deinit(&results[i]);
	rt_json_free(doc);
	rt_buf_deinit(&lines);
	test_free(requests);
	test_free(results);
}

static uint64_t
index_mark(fixture *f)
{
	uint64_t mark = 0;

	assert_int_equal(f->store->ops->head(f->store, RT_STORE_INDEX,
					     rt_engine_project_number(f->engine), &mark, NULL),
			 RT_OK);
	return mark;
}

static void
indexes_in_batches(void **state)
{
	fixture *f = *state;
	uint64_t head;

	append_many(f);
	assert_int_equal(rt_engine_index(f->engine, NULL), RT_OK);
	assert_int_equal(f->store->ops->head(f->store, RT_STORE_BODIES,
					     rt_engine_project_number(f->engine), &head, NULL),
			 RT_OK);
	assert_int_equal(index_mark(f), head);
	assert_non_null(strstr(search_in(f, "number4499", 0, "", 0), "\"at\":4500"));
}

enum { HITS_MAX = 1000 };

/* The observer of a search. */
typedef struct watch {
	size_t asked, stop_at; /* 0: never */
	size_t told;
	unsigned percent;
	size_t hits;
	const char *first[HITS_MAX]; /* texts of the hits */
} watch;

static bool
watch_stop(void *ctx)
{
	watch *w = ctx;

	return ++w->asked == w->stop_at;
}

static void
watch_progress(void *ctx, unsigned percent, rt_hits found)
{
	watch *w = ctx;

	assert_true(percent >= w->percent && percent <= 100 && found.count >= w->hits);
	for (size_t i = 0; i < w->hits; i++) /* those of before are the first ones */
		assert_ptr_equal(found.items[i].snippet.ptr, w->first[i]);
	for (size_t i = w->hits; i < found.count; i++)
		w->first[i] = found.items[i].snippet.ptr;
	w->told++;
	w->percent = percent;
	w->hits = found.count;
}

/* The final number of hits. */
static size_t
watched_search(fixture *f, const char *query, watch *w)
{
	const rt_project *project = rt_engine_value(f->engine);
	rt_search options = {.query = rt_str_of(query), .limit = HITS_MAX, .stop = watch_stop,
			     .progress = watch_progress, .ctx = w};
	rt_scope s;
	rt_view view = {&s, f->engine, project, {0, 0}};

	rt_scope_init(&s, rt_alloc_libc());
	rt_hits hits = rt_search_run(&view, &options);
	assert_true(hits.count >= w->hits);
	assert_int_equal(rt_scope_end(&s, NULL), RT_OK);
	rt_object_unref(project);
	return hits.count;
}

static void
says_how_far_it_is_and_can_be_stopped(void **state)
{
	fixture *f = *state;
	watch none = {.stop_at = 1}, soon = {.stop_at = 2}, hits = {.stop_at = 40}, all = {.asked = 0};
	size_t part;

	append_many(f);
	assert_int_equal(watched_search(f, "some", &none), 0);
	assert_int_equal(index_mark(f), 0);
	assert_int_equal(watched_search(f, "some", &soon), 0);
	assert_true(index_mark(f) > 0 && index_mark(f) < MANY);
	assert_int_equal(watched_search(f, "some", &all), HITS_MAX);
	assert_true(all.told > 2 && all.percent >= 80 && all.hits > 0);
	part = watched_search(f, "some", &hits); /* in the middle of the matches */
	assert_true(part > 10 && part < HITS_MAX);
	/* texts that are not indexed, one by one */
	hits = (watch){.stop_at = 4};
	watched_search(f, "role:user", &hits);
	assert_int_equal(hits.asked, 4);
	all = (watch){.asked = 0};
	watched_search(f, "role:user", &all);
	assert_true(all.asked > 100 && all.percent >= 10);
}

#define ON(name, kind) \
	{#name " (" kind ")", name, set_up, tear_down, (void *)(uintptr_t)kind}
#define BOTH(name) ON(name, "memory"), ON(name, "sqlite")

static size_t
put_utf8(char *out, unsigned c)
{
	if (c < 0x80) {
		out[0] = (char)c;
		return 1;
	}
	out[0] = (char)(0xC0 | c >> 6);
	out[1] = (char)(0x80 | (c & 0x3F));
	return 2;
}

/* The ids of the hits in order; every hit has a mark. */
static void
hits_of(rt_engine *engine, const char *query, rt_buf *out)
{
	const rt_project *project = rt_engine_value(engine);
	rt_json_doc *doc;
	yyjson_val *hit;
	size_t i, max, count = 0;
	uint64_t ids[512];
	rt_buf json;

	rt_buf_init(&json, rt_alloc_libc(), RT_BUF_UNLIMITED);
	assert_int_equal(rt_view_search(engine, project, &(rt_search){.query = rt_str_of(query)}, &json,
					NULL), RT_OK);
	assert_int_equal(rt_json_read(rt_alloc_libc(), rt_buf_str(&json), &doc, NULL), RT_OK);
	yyjson_arr_foreach(rt_json_root(doc), i, max, hit)
	{
		if (yyjson_arr_size(rt_json_get(hit, "marks")) == 0)
			fail_msg("%s: nothing is marked in %s", query, json.ptr);
		assert_true(count < sizeof(ids) / sizeof(ids[0]));
		ids[count++] = strtoull(yyjson_get_str(rt_json_get(hit, "id")) + 1, NULL, 16);
	}
	rt_buf_clear(out);
	for (unsigned c = 0; c < 0x600; c++) /* whatever their rank */
		for (i = 0; i < count; i++)
			if (ids[i] == c)
				rt_buf_add_f(out, "%x ", c);
	rt_json_free(doc);
	rt_buf_deinit(&json);
	rt_object_unref(project);
}

/* A letter in capitals or with an accent is found and marked, with the index and without it. */
static void
folds_as_the_index_does(void **state)
{
	static const struct {
		unsigned from, to;
	} ranges[] = {{'a', 'z'}, {0xC0, 0x17F}, {0x386, 0x3CE}, {0x400, 0x481}, {0x48A, 0x527}};
	enum { MAX = 0x600 };
	fixture *f = *state;
	rt_engine_options options = {.env = &env, .read_only = true};
	rt_engine *reader;
	char word[8], json[128];
	rt_buf *scanned = test_calloc(MAX, sizeof(*scanned));
	rt_buf found;

	for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++) {
		for (unsigned c = ranges[i].from; c <= ranges[i].to; c++) {
			/* Not letters, or not in all versions of Unicode. */
			if (c == 0xD7 || c == 0xF7 || c == 0x387 || c == 0x38B || c == 0x38D ||
			    c == 0x3A2)
				continue;
			word[0] = 'q';
			word[1 + put_utf8(word + 1, c)] = '\0';
			rt_buf_init(&scanned[c], rt_alloc_libc(), RT_BUF_UNLIMITED);
			rt_buf_add_c(&scanned[c], word);
			snprintf(json, sizeof(json), "{\"op\":\"entry.append\",\"id\":\"n%x\","
						     "\"content\":\"%s\"}", c, word);
			apply(f, json);
		}
	}
	assert_int_equal(rt_engine_open(&options, f->store, &reader, NULL), RT_OK);
	rt_buf_init(&found, rt_alloc_libc(), RT_BUF_UNLIMITED);
	for (int with_index = 0; with_index < 2; with_index++) {
		for (unsigned c = 0; c < MAX; c++) {
			if (scanned[c].alloc == NULL)
				continue;
			memset(word, 0, sizeof(word));
			word[0] = 'q';
			(void)put_utf8(word + 1, c);
			hits_of(with_index ? f->engine : reader, word, &found);
			if (with_index && !rt_str_eq(rt_buf_str(&found), rt_buf_str(&scanned[c])))
				fail_msg("%s: %s with the index, %s without", word, found.ptr,
					 scanned[c].ptr);
			rt_buf_clear(&scanned[c]);
			rt_buf_add_str(&scanned[c], rt_buf_str(&found));
		}
	}
	for (unsigned c = 0; c < MAX; c++)
		if (scanned[c].alloc != NULL)
			rt_buf_deinit(&scanned[c]);
	test_free(scanned);
	rt_buf_deinit(&found);
	rt_engine_close(reader);
}

/* ---- texts that are not indexed, and pairs of words ---- */

static uint64_t
head(fixture *f, rt_store_table table)
{
	uint64_t number = 0;

	assert_int_equal(f->store->ops->head(f->store, table, rt_engine_project_number(f->engine), &number, NULL), RT_OK);
	return number;
}

/* More than a batch: it indexes a part, and the rest is read. */
static void
a_prompt_search_reads_what_is_not_indexed(void **state)
{
	enum { TEXTS = 8, SIZE = 1 << 20 };
	fixture *f = *state;
	char *json = test_calloc(1, SIZE + 100);

	for (int i = 0; i < TEXTS; i++) {
		int size = snprintf(json, SIZE, "{\"op\":\"entry.append\",\"content\":\"needle%d ", i);

		for (; size < SIZE; size += 6)
			memcpy(json + size, "straw ", 6);
		memcpy(json + size, "\"}", 3);
		apply(f, json);
	}
	test_free(json);
	assert_non_null(strstr(search_in(f, "needle7", 0, "", 0), "\"at\":8"));
	assert_in_range(head(f, RT_STORE_INDEX), 1, TEXTS - 1);
	assert_non_null(strstr(search_in(f, "needle0", 0, "", 0), "\"at\":1"));
	bool is_idle = true;
	for (int i = 0; i < TEXTS; i++)
		assert_int_equal(rt_engine_index_step(f->engine, 1, &is_idle, NULL), RT_OK);
	assert_true(is_idle);
	assert_int_equal(head(f, RT_STORE_INDEX), head(f, RT_STORE_BODIES));
	assert_non_null(strstr(search_in(f, "\"needle7 straw\"", 0, "", 0), "\"at\":8"));
	apply(f, "{\"op\":\"entry.append\",\"content\":\"late\"}");
	assert_int_equal(rt_engine_index_step(f->engine, 2, &is_idle, NULL), RT_OK);
	assert_true(is_idle); /* too few */
	assert_int_equal(rt_engine_index_step(f->engine, 1, &is_idle, NULL), RT_OK);
	assert_false(is_idle);
	assert_int_equal(rt_engine_index_step(f->engine, 1, &is_idle, NULL), RT_OK);
	assert_true(is_idle);
}

static bool
count_hit(void *ctx, uint64_t number, uint64_t entry)
{
	(void)number;
	(void)entry;
	++*(size_t *)ctx;
	return true;
}

/* Texts that the index finds. */
static size_t
candidates_of(fixture *f, const char *query)
{
	size_t count = 0;

	assert_int_equal(f->store->ops->index_find(f->store, rt_engine_project_number(f->engine),
						   rt_str_of(query), 0, count_hit, &count, NULL), RT_OK);
	return count;
}

static void
phrases_are_found_by_pairs_of_words(void **state)
{
	fixture *f = *state;
	const char *const phrases[] = {"\"red, GREEN\"", "\"green -- bl\303\274e\"", "red-green",
				       "\"red green blue\"", "\"blue \346\274\242\345\255\227 red\""};

	apply(f, "{\"op\":\"entry.append\",\"content\":\"Red (green) blue\\u6f22\\u5b57 red\"}");
	apply(f, "{\"op\":\"entry.append\",\"content\":\"green red blue green red\"}");
	assert_int_equal(rt_engine_index(f->engine, NULL), RT_OK);
	for (size_t i = 0; i < sizeof(phrases) / sizeof(*phrases); i++)
		assert_non_null(strstr(search_in(f, phrases[i], 0, "", 0), "\"at\":1"));
	assert_int_equal(candidates_of(f, "red green"), 2);
	assert_int_equal(candidates_of(f, "\"red green\""), 1);
	assert_int_equal(candidates_of(f, "red \"green blue\" red"), 1);
	assert_int_equal(candidates_of(f, "\"red\" \"green\""), 2); /* two phrases */
	assert_int_equal(candidates_of(f, "\"green red\""), 1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		BOTH(finds_what_a_query_says),
		BOTH(finds_what_an_expression_says),
		BOTH(filters),
		BOTH(names_filters),
		BOTH(looks_into_tool_calls),
		BOTH(ranks),
		BOTH(says_where_and_shows_a_snippet),
		BOTH(a_prompt_search_reads_what_is_not_indexed),
		BOTH(phrases_are_found_by_pairs_of_words),
		cmocka_unit_test(cuts_a_snippet_at_characters),
		cmocka_unit_test(cuts_a_snippet_between_words),
		BOTH(finds_only_what_is_shown_now),
		BOTH(looks_in_one_discussion_or_all),
		BOTH(finds_scripts_without_spaces),
		BOTH(reads_what_is_not_indexed),
		BOTH(indexes_in_batches),
		BOTH(says_how_far_it_is_and_can_be_stopped),
		ON(folds_accents, "sqlite"),
		ON(folds_as_the_index_does, "sqlite"),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
