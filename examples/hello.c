/* SPDX-License-Identifier: MIT
 *
 * A first program with libretake: add, edit, branch, undo, read the past, search.
 *
 *   cc hello.c $(pkg-config --cflags --libs retake) -o hello */
#include <stdio.h>
#include <stdlib.h>

#include <retake/retake.h>

/* Nothing here is expected to fail, so every error ends the program. */
static void
check(retake_status status, const retake_error *error)
{
	if (status == RETAKE_OK)
		return;
	fprintf(stderr, "hello: %s: %s\n", retake_status_word(status), error->text);
	exit(retake_status_exit_code(status));
}

static void
say(const char *what, retake_text *json)
{
	printf("%s: %s\n", what, json->ptr);
	retake_text_free(json);
}

/* Requests in, results out; both are JSON. */
static void
apply(retake_project *project, const char *what, const char *requests)
{
	retake_text results = RETAKE_TEXT_INIT;
	retake_error error;

	check(retake_apply(project, requests, RETAKE_CSTR, NULL, &results, &error), &error);
	say(what, &results);
}

int
main(void)
{
	retake_store *store = NULL;
	retake_project *project = NULL;
	retake_project_options options = RETAKE_PROJECT_OPTIONS_INIT;
	retake_place past = RETAKE_PLACE_INIT;
	retake_text json = RETAKE_TEXT_INIT;
	retake_error error;

	/* With a path it would be permanent; this store disappears when it is closed. */
	check(retake_store_open(":memory:", NULL, &store, &error), &error);
	options.create = 1;
	options.by = "hello";
	check(retake_project_open(store, NULL, &options, &project, &error), &error);

	apply(project, "add",
	      "[{\"op\":\"entry.append\",\"id\":\"ask\",\"ts\":0,\"content\":\"Which database?\"},"
	      " {\"op\":\"entry.append\",\"id\":\"answer\",\"ts\":0,\"role\":\"AI\","
	      "  \"content\":\"PostgreSQL.\"}]");
	apply(project, "edit",
	      "{\"op\":\"entry.edit\",\"entry\":\"answer\",\"content\":\"SQLite: one file.\"}");

	/* Another reply to the same question: a new take; the old one is kept. */
	apply(project, "branch",
	      "[{\"op\":\"take.branch\",\"at\":\"ask\"},"
	      " {\"op\":\"entry.append\",\"id\":\"other\",\"ts\":0,\"role\":\"AI\","
	      "  \"content\":\"DuckDB.\"}]");
	check(retake_takes(project, NULL, &json, &error), &error);
	say("takes", &json);

	apply(project, "undo", "{\"op\":\"undo\",\"count\":2}");
	check(retake_entry(project, NULL, "answer", &json, &error), &error);
	say("now", &json);

	/* Reads a past state, which changes nothing. */
	past.at_seq = 2;
	check(retake_entry(project, &past, "answer", &json, &error), &error);
	say("after step 2", &json);

	check(retake_search(project, NULL, "one file", NULL, &json, &error), &error);
	say("search", &json);

	retake_project_close(project);
	retake_store_close(store);
	return 0;
}
