/* SPDX-License-Identifier: MIT
 *
 * The working prompt: kept apart from the messages, edited by the user and by the model, and never
 * lost in between (seed 3). The first ten tests have the names from the seed. */
#include "chat/send_testing.h"

#include "formats/formats.h"
#include "llm/builtin.h"
#include "llm/provider.h"
#include "store/store_memory.h"

static int
set_up(void **state)
{
	rt_builtin_options options = {.name = RT_STR("echo")};
	world *w = test_calloc(1, sizeof(*w));

	world_init(w);
	assert_int_equal(rt_store_memory_open(rt_alloc_libc(), &w->env, &w->store, NULL), RT_OK);
	world_open_engine(w, NULL);
	assert_int_equal(rt_builtin_open(rt_alloc_libc(), &options, &w->model, NULL), RT_OK);
	*state = w;
	return 0;
}

static int
tear_down(void **state)
{
	world_deinit(*state);
	test_free(*state);
	return 0;
}

/* The prompt in the form of `prompt --json`: {"text":…,"edited":…}. */
static const char *
prompt(world *w)
{
	const rt_project *value = rt_engine_value(w->engine);
	rt_json_doc *doc;
	yyjson_val *v;
	rt_buf json;

	rt_buf_init(&json, rt_alloc_libc(), RT_BUF_UNLIMITED);
	assert_int_equal(rt_view_settings(w->engine, value, 1, &json, NULL), RT_OK);
	rt_object_unref(value);
	assert_int_equal(rt_json_read(rt_alloc_libc(), rt_buf_str(&json), &doc, NULL), RT_OK);
	v = rt_json_get(rt_json_root(doc), "prompt");
	rt_buf_clear(&w->out);
	rt_json_add_value(&w->out, v);
	rt_buf_add_byte(&w->out, '\0');
	rt_json_free(doc);
	rt_buf_deinit(&json);
	return w->out.ptr;
}

static bool
is_edited(world *w)
{
	return strstr(prompt(w), "\"edited\":true") != NULL;
}

static const char *
body(world *w, const char *provider)
{
	const rt_project *value = rt_engine_value(w->engine);

	rt_buf_clear(&w->out);
	assert_int_equal(rt_view_context(w->engine, value, (rt_place){0, 0},
					 rt_provider_named(rt_str_of(provider)), NULL, &w->out,
					 NULL),
			 RT_OK);
	rt_object_unref(value);
	rt_buf_add_byte(&w->out, '\0');
	return w->out.ptr;
}

#define USER(text) "{\"op\":\"entry.append\",\"role\":\"user\",\"content\":\"" text "\"}"
#define ASSISTANT(text, prompt) \
	"{\"op\":\"entry.append\",\"role\":\"assistant\",\"content\":\"" text \
	"\",\"prompt\":\"" prompt "\"}"
#define UPDATE(text) "{\"op\":\"prompt.update\",\"text\":\"" text "\"}"
#define NONE "{\"text\":\"\",\"edited\":false}"
#define NOTIFY "{\"op\":\"prompt.notify\"}"

/* ---- the unit tests that seed 3 names ---- */

static void
adding_messages_maintains_order(void **state)
{
	world *w = *state;

	world_apply(w, USER("1"));
	world_apply(w, ASSISTANT("2", "p"));
	world_apply(w, USER("3"));
	world_apply(w, "{\"op\":\"entry.append\",\"role\":\"system\",\"content\":\"4\"}");
	world_apply(w, USER("5"));
	assert_string_equal(world_shown(w), "user: 1\nassistant: 2\nuser: 3\nsystem: 4\nuser: 5\n");
}

static void
get_history_returns_all_messages(void **state)
{
	world *w = *state;
	rt_buf expected;
	int i;

	assert_string_equal(world_shown(w), "");
	rt_buf_init(&expected, rt_alloc_libc(), RT_BUF_UNLIMITED);
	for (i = 0; i < 300; i++) {
		char json[100];

		snprintf(json, sizeof(json),
			 "{\"op\":\"entry.append\",\"role\":\"%s\",\"content\":\"%d\"}",
			 i % 2 == 0 ? "user" : "assistant", i);
		world_apply(w, json);
		rt_buf_add_f(&expected, "%s: %d\n", i % 2 == 0 ? "user" : "assistant", i);
	}
	rt_buf_add_byte(&expected, '\0');
	assert_string_equal(world_shown(w), expected.ptr);
	rt_buf_deinit(&expected);
}

static void
add_assistant_message_updates_current_prompt(void **state)
{
	world *w = *state;
	uint64_t before;

	assert_string_equal(prompt(w), NONE);
	world_apply(w, USER("I want a cat"));
	before = world_seq(w);
	world_apply(w, ASSISTANT("Here", "a cat"));
	assert_int_equal(world_seq(w), before + 1); /* message and prompt are one step */
	assert_string_equal(prompt(w), "{\"text\":\"a cat\",\"edited\":false}");
	world_apply(w, UPDATE("a dog"));
	assert_true(is_edited(w));
	world_apply(w, ASSISTANT("So", "a dog with a hat"));
	assert_string_equal(prompt(w), "{\"text\":\"a dog with a hat\",\"edited\":false}");
	world_apply(w,
		    "{\"op\":\"entry.append\",\"role\":\"assistant\",\"content\":\"no prompt\"}");
	assert_string_equal(prompt(w), "{\"text\":\"a dog with a hat\",\"edited\":false}");
	world_apply(w, "{\"op\":\"undo\",\"count\":2}");
	assert_string_equal(prompt(w), "{\"text\":\"a dog\",\"edited\":true}");
}

static void
update_prompt_sets_edited_flag_when_prompt_changes(void **state)
{
	world *w = *state;

	world_apply(w, ASSISTANT("Here", "a cat"));
	assert_false(is_edited(w));
	world_apply(w, UPDATE("a tabby cat"));
	assert_string_equal(prompt(w), "{\"text\":\"a tabby cat\",\"edited\":true}");
	/* back to the first text is an edit too (C45) */
	world_apply(w, UPDATE("a cat"));
	assert_true(is_edited(w));
	world_apply(w, "{\"op\":\"undo\",\"count\":2}");
	assert_false(is_edited(w));
}

static void
update_prompt_does_not_set_flag_when_prompt_unchanged(void **state)
{
	world *w = *state;
	uint64_t before;

	world_apply(w, ASSISTANT("Here", "a cat"));
	before = world_seq(w);
	world_apply(w, UPDATE("a cat"));
	assert_false(is_edited(w));
	assert_int_equal(world_seq(w), before);
}

static void
notify_prompt_edited_injects_system_message_with_prompt_text(void **state)
{
	world *w = *state;

	world_apply(w, ASSISTANT("Here", "a cat"));
	world_apply(w, UPDATE("a \\\"big\\\" cat"));
	world_apply(w, NOTIFY);
	assert_string_equal(world_shown(w),
			    "assistant: Here\n"
			    "system (prompt_notice): [user edited prompt to: \"a \"big\" cat\"]\n");
}

static void
notify_prompt_edited_clears_edited_flag(void **state)
{
	world *w = *state;

	world_apply(w, UPDATE("a cat"));
	assert_true(is_edited(w));
	world_apply(w, NOTIFY);
	assert_string_equal(prompt(w), "{\"text\":\"a cat\",\"edited\":false}");
}

static void
notify_prompt_edited_no_ops_if_not_edited(void **state)
{
	world *w = *state;
	uint64_t before = world_seq(w);

	world_apply(w, NOTIFY);
	assert_int_equal(world_seq(w), before);
	assert_string_equal(world_shown(w), "");
	world_apply(w, UPDATE("a cat"));
	world_apply(w, NOTIFY);
	before = world_seq(w);
	world_apply(w, NOTIFY);
	assert_int_equal(world_seq(w), before);
	assert_int_equal(world_count(world_shown(w), "user edited prompt"), 1);
}

static void
build_llm_context_includes_system_prompt_history_and_current_prompt(void **state)
{
	world *w = *state;

	world_apply(
		w,
		"{\"op\":\"setting.set\",\"key\":\"project_system_prompt\",\"value\":\"You "
		"help.\"}");
	world_apply(w, USER("I want a cat"));
	assert_string_equal(body(w, "ollama"),
			    "{\"messages\":[{\"role\":\"system\",\"content\":\"You help.\"},"
			    "{\"role\":\"user\",\"content\":\"I want a cat\"}]}");
	world_apply(w, ASSISTANT("Here", "a cat"));
	assert_string_equal(
		body(w, "ollama"),
		"{\"messages\":[{\"role\":\"system\",\"content\":\"You help.\"},"
		"{\"role\":\"user\",\"content\":\"I want a cat\"},"
		"{\"role\":\"assistant\",\"content\":\"Here\"},"
		"{\"role\":\"system\",\"content\":\"[current prompt: \\\"a cat\\\"]\"}]}");
	/* neither is stored among the messages */
	assert_string_equal(world_shown(w), "user: I want a cat\nassistant: Here\n");
}

static void
clear_resets_all_state(void **state)
{
	world *w = *state;

	world_apply(w, USER("I want a cat"));
	world_apply(w, ASSISTANT("Here", "a cat"));
	world_apply(w, UPDATE("a dog"));
	world_apply(w, "{\"op\":\"take.clear\"}"); /* only the messages */
	assert_string_equal(prompt(w), "{\"text\":\"a dog\",\"edited\":true}");
	world_apply(w, "{\"op\":\"undo\"}");
	world_apply(w, "{\"op\":\"take.clear\",\"all\":true}");
	assert_string_equal(world_shown(w), "");
	assert_string_equal(prompt(w), NONE);
	assert_string_equal(body(w, "ollama"), "{\"messages\":[]}");
	world_apply(w, "{\"op\":\"undo\"}");
	assert_string_equal(world_shown(w), "user: I want a cat\nassistant: Here\n");
	assert_string_equal(prompt(w), "{\"text\":\"a dog\",\"edited\":true}");
}

/* ---- the seed's example, byte for byte ---- */

static void
the_example_of_the_seed(void **state)
{
	world *w = *state;

	world_apply(w, "{\"op\":\"setting.set\",\"key\":\"project_system_prompt\","
		       "\"value\":\"You help users create images... (system prompt)\"}");
	world_apply(w, USER("I want a cat in a hat"));
	world_apply(
		w,
		"{\"op\":\"entry.append\",\"role\":\"assistant\",\"content\":\"A cat in a hat! "
		"Let me ask...\"}");
	world_apply(w, USER("Make it a tabby cat with a wizard hat"));
	world_apply(
		w,
		ASSISTANT(
			"Got it! Here's what I have:\\n\\nPrompt: a tabby cat wearing a wizard "
			"hat, fantasy style",
			"a tabby cat wearing a wizard hat, fantasy style"));
	world_apply(w, UPDATE("a tabby cat wearing a sparkly wizard hat, fantasy style"));
	world_apply(w, NOTIFY);
	world_apply(w, USER("Now make the background purple"));
	assert_string_equal(
		body(w, "ollama"),
		"{\"messages\":["
		"{\"role\":\"system\",\"content\":\"You help users create images... (system "
		"prompt)\"},"
		"{\"role\":\"user\",\"content\":\"I want a cat in a hat\"},"
		"{\"role\":\"assistant\",\"content\":\"A cat in a hat! Let me ask...\"},"
		"{\"role\":\"user\",\"content\":\"Make it a tabby cat with a wizard hat\"},"
		"{\"role\":\"assistant\",\"content\":\"Got it! Here's what I have:\\n\\nPrompt: "
		"a tabby cat "
		"wearing a wizard hat, fantasy style\"},"
		"{\"role\":\"system\",\"content\":\"[user edited prompt to: \\\"a tabby cat "
		"wearing a sparkly "
		"wizard hat, fantasy style\\\"]\"},"
		"{\"role\":\"user\",\"content\":\"Now make the background purple\"},"
		"{\"role\":\"system\",\"content\":\"[current prompt: \\\"a tabby cat wearing a "
		"sparkly wizard "
		"hat, fantasy style\\\"]\"}]}");
}

/* ---- further criteria ---- */

/* The prompt goes with every request, however long ago it was edited. */
static void
the_prompt_is_told_every_time(void **state)
{
	world *w = *state;
	int i;

	world_apply(w, ASSISTANT("Here", "a cat"));
	world_apply(w, UPDATE("a dog"));
	world_apply(w, NOTIFY);
	for (i = 0; i < 5; i++) {
		assert_int_equal(world_ask(w, "Go on"), RT_OK);
		assert_int_equal(world_count(body(w, "openai"), "[current prompt: \\\"a dog\\\"]"),
				 1);
		assert_int_equal(world_count(w->out.ptr, "user edited prompt"), 1);
	}
}

/* Each discussion, and so each session that has one, has a separate state. */
static void
discussions_are_isolated(void **state)
{
	world *w = *state;

	world_apply(w, USER("one"));
	world_apply(w, UPDATE("a cat"));
	world_apply(w, "{\"op\":\"discussion.new\",\"name\":\"second\"}");
	assert_string_equal(world_shown(w), "");
	assert_null(strstr(body(w, "ollama"), "a cat"));
	world_apply(w, USER("two"));
	world_apply(w, "{\"op\":\"discussion.switch\",\"discussion\":\"main\"}");
	assert_string_equal(world_shown(w), "user: one\n");
	assert_string_equal(prompt(w), "{\"text\":\"a cat\",\"edited\":true}");
}

/* ---- sending, with edit_notices ---- */

static void
notices(world *w, const char *which)
{
	char json[100];

	snprintf(json, sizeof(json),
		 "{\"op\":\"setting.set\",\"key\":\"edit_notices\",\"value\":%s}", which);
	world_apply(w, json);
}

/* A reply that is edited, and the prompt too. */
static void
begin_talk(world *w)
{
	world_apply(w, USER("I want a cat"));
	world_apply(
		w,
		"{\"op\":\"entry.reply\",\"after\":\":1\",\"role\":\"assistant\","
		"\"content\":\"Here\",\"prompt\":\"a cat\"}");
	world_apply(w, "{\"op\":\"entry.edit\",\"entry\":\":2\",\"content\":\"There\"}");
	world_apply(w, UPDATE("a dog"));
}

#define PROMPT_TOLD "system (prompt_notice): [user edited prompt to: \"a dog\"]\n"
#define REPLY_TOLD "system (prompt_notice): [user edited reply 2 to: \"There\"]\n"

static void
asked_shows(world *w, const char *expected)
{
	assert_int_equal(world_ask(w, "Q"), RT_OK);
	world_apply(w, "{\"op\":\"undo\"}"); /* the reply */
	assert_string_equal(world_shown(w), expected);
}

/* An edit by hand that is stored as entry.reply, because it changes further fields. */
static void
edits_with_fields_are_told(void **state)
{
	world *w = *state;

	notices(w, "\"all\"");
	world_apply(w, USER("I want a cat"));
	world_apply(w, "{\"op\":\"entry.reply\",\"after\":\":1\",\"role\":\"assistant\","
		       "\"content\":\"Here\"}");
	world_apply(w, "{\"op\":\"entry.reply\",\"into\":\":2\",\"by_hand\":true,"
		       "\"content\":\"Where\",\"mood\":1}");
	world_apply(w, "{\"op\":\"entry.reply\",\"into\":\":2\",\"by_hand\":true,"
		       "\"content\":\"There\",\"mood\":2}");
	asked_shows(w, "user: I want a cat\nassistant: There\n" REPLY_TOLD "User: Q\n");
	world_apply(w, "{\"op\":\"undo\"}");
	/* continued by the model, which was sent the edited text */
	world_apply(w, "{\"op\":\"entry.reply\",\"into\":\":2\",\"join\":true,"
		       "\"content\":\" it is\"}");
	asked_shows(w, "user: I want a cat\nassistant: There it is\nUser: Q\n");
}

static void
what_is_told_of_edits(void **state)
{
	world *w = *state;
	uint64_t before;

	begin_talk(w);
	asked_shows(w, "user: I want a cat\nassistant: There\n" PROMPT_TOLD "User: Q\n");
	assert_false(is_edited(w));
	world_apply(w, "{\"op\":\"undo\"}"); /* notice and question are one step */
	assert_string_equal(world_shown(w), "user: I want a cat\nassistant: There\n");
	assert_true(is_edited(w));
	notices(w, "\"prompt\"");
	asked_shows(w, "user: I want a cat\nassistant: There\n" PROMPT_TOLD "User: Q\n");
	world_apply(w, "{\"op\":\"undo\"}");
	notices(w, "\"none\"");
	before = world_seq(w);
	asked_shows(w, "user: I want a cat\nassistant: There\nUser: Q\n");
	assert_true(is_edited(w));
	assert_true(world_seq(w) > before);
	world_apply(w, "{\"op\":\"undo\"}");
	notices(w, "\"all\"");
	asked_shows(w, "user: I want a cat\nassistant: There\n" REPLY_TOLD PROMPT_TOLD "User: Q\n");
	world_apply(w, "{\"op\":\"undo\"}");
	/* unsuitable values count as unset */
	notices(w, "true");
	asked_shows(w, "user: I want a cat\nassistant: There\n" PROMPT_TOLD "User: Q\n");
}

static void
each_edit_is_told_once(void **state)
{
	world *w = *state;

	begin_talk(w);
	notices(w, "\"all\"");
	assert_int_equal(world_ask(w, "Q"), RT_OK);
	assert_int_equal(world_ask(w, "R"), RT_OK);
	assert_int_equal(world_count(world_shown(w), "user edited"), 2);
	/* also if the question has no reply */
	w->stop_at = 0;
	world_apply(w, "{\"op\":\"undo\",\"count\":3}");
	assert_int_equal(world_ask(w, "R"), RT_OK);
	assert_int_equal(world_count(world_shown(w), "user edited"), 2);
	/* the present text, and one notice for two edits */
	world_apply(w, "{\"op\":\"entry.edit\",\"entry\":\":2\",\"content\":\"X\"}");
	world_apply(w, "{\"op\":\"entry.edit\",\"entry\":\":2\",\"content\":\"Y\"}");
	assert_int_equal(world_ask(w, "S"), RT_OK);
	assert_int_equal(world_count(world_shown(w), "user edited reply 2 to: \"X\""), 0);
	assert_int_equal(world_count(world_shown(w), "user edited reply 2 to: \"Y\""), 1);
	/* no notice of an edit that was undone, nor of an edited message of the user */
	world_apply(w, "{\"op\":\"entry.edit\",\"entry\":\":2\",\"content\":\"Z\"}");
	world_apply(w, "{\"op\":\"undo\"}");
	world_apply(w, "{\"op\":\"entry.edit\",\"entry\":\":1\",\"content\":\"Z\"}");
	assert_int_equal(world_ask(w, "T"), RT_OK);
	assert_int_equal(world_count(world_shown(w), "user edited"), 3);
}

static void
what_is_not_sent_is_not_told(void **state)
{
	world *w = *state;
	rt_json_doc *doc;
	yyjson_val *requests[2];
	rt_result results[2];
	size_t i;

	world_apply(w, USER("1"));
	world_apply(w, "{\"op\":\"entry.reply\",\"after\":\":1\",\"content\":\"2\"}");
	world_apply(w, USER("3"));
	world_apply(w, "{\"op\":\"entry.reply\",\"after\":\":3\",\"content\":\"4\"}");
	notices(w, "\"all\"");
	/* several edits as one step, as an editor makes them */
	assert_int_equal(
		rt_json_read(
			rt_alloc_libc(),
			RT_STR("[{\"op\":\"entry.edit\",\"entry\":\":2\",\"content\":\"two\"},"
			       "{\"op\":\"entry.edit\",\"entry\":\":4\",\"content\":\"four\"}]"),
			&doc, NULL),
		RT_OK);
	for (i = 0; i < 2; i++)
		requests[i] = yyjson_arr_get(rt_json_root(doc), i);
	assert_int_equal(
		rt_engine_apply_json(w->engine, requests, 2, true, RT_STR(""), RT_STR(""), results),
		RT_OK);
	rt_json_free(doc);
	asked_shows(w, "user: 1\nAI: two\nuser: 3\nAI: four\n"
		       "system (prompt_notice): [user edited reply 2 to: \"two\"]\n"
		       "system (prompt_notice): [user edited reply 4 to: \"four\"]\nUser: Q\n");
	world_apply(w, "{\"op\":\"undo\"}");
	/* after the position of the question */
	assert_int_equal(
		world_send_options(w, (rt_send_options){.at = RT_STR(":2"), .text = RT_STR("Q")}),
		RT_OK);
	world_apply(w, "{\"op\":\"undo\"}");
	assert_string_equal(world_shown(w),
			    "user: 1\nAI: two\n"
			    "system (prompt_notice): [user edited reply 2 to: \"two\"]\nUser: Q\n");
	world_apply(w, "{\"op\":\"undo\"}");
	/* muted */
	world_apply(w, "{\"op\":\"entry.mute\",\"entry\":\":4\"}");
	assert_int_equal(world_ask(w, "Q"), RT_OK);
	assert_null(strstr(world_shown(w), "edited reply 4"));
	assert_non_null(strstr(world_shown(w), "edited reply 2"));
}

#define WITH_WORLD(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_WORLD(adding_messages_maintains_order),
		WITH_WORLD(get_history_returns_all_messages),
		WITH_WORLD(add_assistant_message_updates_current_prompt),
		WITH_WORLD(update_prompt_sets_edited_flag_when_prompt_changes),
		WITH_WORLD(update_prompt_does_not_set_flag_when_prompt_unchanged),
		WITH_WORLD(notify_prompt_edited_injects_system_message_with_prompt_text),
		WITH_WORLD(notify_prompt_edited_clears_edited_flag),
		WITH_WORLD(notify_prompt_edited_no_ops_if_not_edited),
		WITH_WORLD(build_llm_context_includes_system_prompt_history_and_current_prompt),
		WITH_WORLD(clear_resets_all_state),
		WITH_WORLD(the_example_of_the_seed),
		WITH_WORLD(the_prompt_is_told_every_time),
		WITH_WORLD(discussions_are_isolated),
		WITH_WORLD(edits_with_fields_are_told),
		WITH_WORLD(what_is_told_of_edits),
		WITH_WORLD(each_edit_is_told_once),
		WITH_WORLD(what_is_not_sent_is_not_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
