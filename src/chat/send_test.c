/* SPDX-License-Identifier: MIT
 *
 * Sending: two steps for a question and its reply, regardless of other changes. */
#include "chat/send_script_testing.h"
#include "llm/provider.h"

/* ---- two steps ---- */

static void
a_question_and_its_reply_are_two_steps(void **state)
{
	world *w = *state;
	uint64_t before = world_seq(w);

	play(w, "{\"text\":\"Hello\"}\n{\"usage\":{\"input_tokens\":3,\"output_tokens\":1}}");
	assert_int_equal(world_ask(w, "Hi"), RT_OK);
	assert_string_equal(world_shown(w), "User: Hi\nAI: Hello\n");
	assert_int_equal(world_seq(w), before + 2);
	assert_int_equal(w->result.question_seq, before + 1);
	assert_int_equal(w->result.seq, before + 2);
	assert_false(w->result.partial);
	assert_int_equal(w->result.stop, RT_STOP_END);
	assert_int_equal(w->result.usage.input, 3);
	world_has(w, w->result.entry, "\"stop_reason\":\"stop\"");
	world_has(w, w->result.entry, "\"provider\":\"builtin\",\"model\":\"play\"");
	world_lacks(w, w->result.entry, "flight");
	assert_int_equal(world_flights(w), 0);
	world_apply(w, "{\"op\":\"undo\"}");
	assert_string_equal(world_shown(w), "User: Hi\n");
	world_apply(w, "{\"op\":\"undo\"}");
	assert_string_equal(world_shown(w), "");
	world_apply(w, "{\"op\":\"redo\",\"count\":2}");
	assert_string_equal(world_shown(w), "User: Hi\nAI: Hello\n");
}

/* The question and the reply have the requester of the call. */
static void
rows_say_who_sent(void **state)
{
	world *w = *state;
	rt_send_options options = {.how = RT_SEND_ASK, .text = RT_STR("Hi")};
	const rt_project *value;
	rt_buf history;
	size_t first;

	play(w, "{\"text\":\"Hello\"}");
	options.with = world_with(w);
	options.with.by = RT_STR("web:ada");
	assert_int_equal(world_send_options(w, options), RT_OK);
	rt_buf_init(&history, rt_alloc_libc(), RT_BUF_UNLIMITED);
	value = rt_engine_value(w->engine);
	assert_int_equal(rt_view_history(w->engine, value, 0, 0, 2, &history, NULL), RT_OK);
	first = rt_str_find(rt_buf_str(&history), RT_STR("\"by\":\"web:ada\""), 0);
	assert_int_not_equal(first, SIZE_MAX);
	assert_int_not_equal(rt_str_find(rt_buf_str(&history), RT_STR("\"by\":\"web:ada\""),
					 first + 1), SIZE_MAX);
	rt_object_unref(value);
	rt_buf_deinit(&history);
}

static void
what_is_there_can_be_answered(void **state)
{
	world *w = *state;

	play(w, "{\"text\":\"Hello\"}");
	assert_int_equal(world_send_options(w, (rt_send_options){.how = RT_SEND_ASK}), RT_REFUSED);
	assert_int_equal(world_again(w, RT_SEND_AGAIN, ""), RT_REFUSED);
	assert_int_equal(world_again(w, RT_SEND_CONTINUE, ""), RT_REFUSED);
	world_add(w, "q", "User", "Hi");
	assert_int_equal(world_again(w, RT_SEND_CONTINUE, "q"), RT_REFUSED);
	assert_int_equal(world_again(w, RT_SEND_CONTINUE, ""), RT_REFUSED);
	/* a question without an answer gets it in its place, named or not */
	assert_int_equal(world_again(w, RT_SEND_AGAIN, ""), RT_OK);
	assert_string_equal(world_shown(w), "User: Hi\nAI: Hello\n");
	assert_string_equal(w->result.take, "");
	world_apply(w, "{\"op\":\"undo\"}");
	assert_int_equal(world_again(w, RT_SEND_AGAIN, "q"), RT_OK);
	assert_string_equal(world_shown(w), "User: Hi\nAI: Hello\n");
	assert_string_equal(w->result.take, "");
	world_apply(w, "{\"op\":\"undo\"}");
	assert_int_equal(world_send_options(w, (rt_send_options){.how = RT_SEND_ASK}), RT_OK);
	assert_string_equal(world_shown(w), "User: Hi\nAI: Hello\n");
	assert_string_equal(w->result.question, "");
	/* from an entry in the middle: a new take */
	assert_int_equal(
		world_send_options(w, (rt_send_options){.at = RT_STR("q"),
							.text = RT_STR("Hm"),
							.role = RT_STR("user"),
							.reply_role = RT_STR("assistant")}),
		RT_OK);
	assert_string_equal(world_shown(w), "User: Hi\nuser: Hm\nassistant: Hello\n");
	assert_string_equal(w->result.take, "main_take_1");
	assert_string_equal(world_take(w, "main"), "User: Hi\nAI: Hello\n");
	assert_int_equal(world_send_options(w, (rt_send_options){.at = RT_STR("nobody"),
								 .text = RT_STR("Hm")}),
			 RT_NOT_FOUND);
}

/* ---- meanwhile ---- */

static void
others_append(world *w)
{
	if (w->waits == 1) {
		world_add(w, "later", "User", "later");
		world_add(w, "last", "AI", "last");
	}
}

static void
a_reply_stands_behind_its_question(void **state)
{
	world *w = *state;

	play(w, SLOW);
	w->meanwhile = others_append;
	assert_int_equal(world_ask(w, "Hi"), RT_OK);
	assert_string_equal(world_shown(w), "User: Hi\nAI: Good day!\nUser: later\nAI: last\n");
	world_apply(w, "{\"op\":\"undo\"}");
	assert_string_equal(world_shown(w), "User: Hi\nUser: later\nAI: last\n");
}

/* The same if the question existed before. */
static void
a_reply_stands_behind_what_it_answers(void **state)
{
	world *w = *state;

	play(w, SLOW);
	world_add(w, "q", "User", "Hi");
	w->meanwhile = others_append;
	assert_int_equal(world_send_options(w, (rt_send_options){.how = RT_SEND_ASK}), RT_OK);
	assert_string_equal(world_shown(w), "User: Hi\nAI: Good day!\nUser: later\nAI: last\n");
}

static void
undo_once(world *w)
{
	if (w->waits == 2)
		world_apply(w, "{\"op\":\"undo\"}");
}

static void
what_is_answered_goes_away(void **state)
{
	world *w = *state;

	play(w, "{\"text\":\"Go\"}\n{\"wait_ms\":60000}\n{\"text\":\"od\"}");
	w->meanwhile = undo_once;
	assert_int_equal(world_ask(w, "Hi"), RT_CONFLICT);
	assert_true(w->waits > 2 && w->waits < 100); /* a minute is 1200 waits */
	assert_string_equal(world_shown(w), "");
	assert_string_equal(w->result.entry, "");
	assert_int_equal(world_flights(w), 1); /* the received part is set aside */
	/* also when nothing had come so far */
	play(w, "{\"wait_ms\":60000}\n{\"text\":\"od\"}");
	assert_int_equal(world_ask(w, "Hi"), RT_CONFLICT);
	assert_true(w->waits < 100);
	assert_int_equal(world_flights(w), 1);
	/* too late to be noticed while it arrives */
	play(w, "{\"text\":\"Go\"}\n{\"wait_ms\":100}");
	assert_int_equal(world_ask(w, "Hi"), RT_CONFLICT);
	assert_string_equal(world_shown(w), "");
	assert_int_equal(world_flights(w), 2);
	/* with the take that contains the question */
	w->meanwhile = NULL;
	play(w, "{\"text\":\"Hello\"}");
	assert_int_equal(world_ask(w, "Hi"), RT_OK);
	play(w, "{\"text\":\"Go\"}\n{\"wait_ms\":60000}\n{\"text\":\"od\"}");
	w->meanwhile = undo_once;
	assert_int_equal(
		world_send_options(w, (rt_send_options){.at = RT_STR(":1"), .text = RT_STR("Hm")}),
		RT_CONFLICT);
	assert_true(w->waits < 100);
	assert_string_equal(world_shown(w), "User: Hi\nAI: Hello\n");
	assert_int_equal(world_flights(w), 3);
}

static void
delete_the_take(world *w)
{
	if (w->waits == 2)
		world_apply(w, "{\"op\":\"take.delete\",\"take\":\"main_take_1\"}");
}

static void
the_take_is_deleted(void **state)
{
	world *w = *state;

	world_add(w, "q", "User", "Hi");
	world_add(w, "r", "AI", "Hello");
	play(w, "{\"text\":\"Go\"}\n{\"wait_ms\":60000}\n{\"text\":\"od\"}");
	w->meanwhile = delete_the_take;
	assert_int_equal(
		world_send_options(w, (rt_send_options){.at = RT_STR("q"), .text = RT_STR("Hm")}),
		RT_CONFLICT);
	assert_true(w->waits < 100);
	assert_int_equal(world_flights(w), 1);
}

/* ---- again ---- */

static void
again_makes_a_sibling(void **state)
{
	world *w = *state;
	size_t i;
	char take[40];

	play(w, "{\"text\":\"one\"}");
	assert_int_equal(world_ask(w, "Hi"), RT_OK);
	for (i = 1; i <= 3; i++) {
		rt_send_options options = {.how = RT_SEND_AGAIN, .take = RT_STR("main")};

		play(w, i == 1   ? "{\"text\":\"two\"}"
			: i == 2 ? "{\"text\":\"three\"}"
				 : "{\"text\":\"four\"}");
		assert_int_equal(world_send_options(w, options), RT_OK);
		snprintf(take, sizeof(take), "main_take_%zu", i);
		assert_string_equal(w->result.take, take);
		assert_string_equal(world_shown(w), i == 1   ? "User: Hi\nAI: two\n"
						    : i == 2 ? "User: Hi\nAI: three\n"
							     : "User: Hi\nAI: four\n");
	}
	assert_string_equal(world_take(w, "main"), "User: Hi\nAI: one\n");
	world_apply(w, "{\"op\":\"undo\"}");
	assert_string_equal(world_shown(w), "User: Hi\nAI: three\n");
	/* to the entry that it answers; and an entry without a reply gets its first */
	assert_int_equal(world_again(w, RT_SEND_AGAIN, ":1"), RT_OK);
	assert_string_equal(world_shown(w), "User: Hi\nAI: four\n");
	world_add(w, "q", "User", "And?");
	assert_int_equal(world_again(w, RT_SEND_AGAIN, "q"), RT_OK);
	assert_string_equal(world_shown(w), "User: Hi\nAI: four\nUser: And?\nAI: four\n");
	assert_int_equal(world_again(w, RT_SEND_AGAIN, "nobody"), RT_NOT_FOUND);
}

/* ---- continue ---- */

static void
continue_extends_in_place(void **state)
{
	world *w = *state;
	char first[140];

	play(w, "{\"thinking\":\"hm\"}\n{\"text\":\"One, \"}\n{\"stop\":\"length\"}");
	assert_int_equal(world_ask(w, "Count"), RT_OK);
	memcpy(first, w->result.entry, sizeof(w->result.entry));
	world_apply(w, "{\"op\":\"entry.append\",\"role\":\"User\",\"content\":\"later\"}");
	play(w, "{\"thinking\":\"well\"}\n{\"text\":\"two.\"}");
	assert_int_equal(world_again(w, RT_SEND_CONTINUE, first), RT_OK);
	assert_string_equal(w->result.entry, first);
	assert_string_equal(world_shown(w), "User: Count\nAI: One, two.\nUser: later\n");
	world_has(w, first, "\"stop_reason\":\"stop\"");
	world_has(w, first, "\"thinking_segments\":[{\"text\":\"hm\"},{\"text\":\"well\"}]");
	assert_int_equal(world_count(w->out.ptr, "stop_reason"), 1);
	world_apply(w, "{\"op\":\"undo\"}");
	assert_string_equal(world_shown(w), "User: Count\nAI: One, \nUser: later\n");
	world_has(w, first, "\"stop_reason\":\"length\"");
	world_has(w, first, "\"thinking_segments\":[{\"text\":\"hm\"}]");
	/* the other fields of the entry stay */
	world_apply(w, "{\"op\":\"entry.append\",\"id\":\"x\",\"role\":\"AI\",\"content\":\"A\","
		       "\"mood\":\"good\","
		       "\"partial\":true,\"error\":\"oops\"}");
	assert_int_equal(world_again(w, RT_SEND_CONTINUE, "x"), RT_OK);
	assert_string_equal(world_shown(w), "User: Count\nAI: One, \nUser: later\nAI: Atwo.\n");
	world_has(w, "x", "\"mood\":\"good\"");
	world_lacks(w, "x", "partial");
	world_lacks(w, "x", "oops");
}

static void
edit_meanwhile(world *w)
{
	if (w->waits == 2) {
		world_apply(w, "{\"op\":\"entry.edit\",\"entry\":\":2\",\"content\":\"Uno, \"}");
		world_apply(w, "{\"op\":\"take.branch\",\"at\":\":1\"}");
	}
}

/* An edit of the continued reply is not lost, whichever entry is in view meanwhile. */
static void
continue_goes_on_from_an_edit(void **state)
{
	world *w = *state;

	play(w, "{\"text\":\"One, \"}\n{\"cut\":true}");
	assert_int_equal(world_ask(w, "Count"), RT_UPSTREAM);
	play(w, "{\"text\":\"two\"}\n{\"wait_ms\":2000}\n{\"text\":\".\"}");
	w->meanwhile = edit_meanwhile;
	assert_int_equal(world_again(w, RT_SEND_CONTINUE, ""), RT_OK);
	assert_string_equal(world_take(w, "main"), "User: Count\nAI: Uno, two.\n");
	assert_string_equal(world_shown(w), "User: Count\n");
}

/* A continued reply may call tools, and one that has called may continue. */
static void
continue_keeps_calls(void **state)
{
	world *w = *state;

	play(w, "{\"text\":\"I look\"}\n{\"cut\":true}");
	assert_int_equal(world_ask(w, "Look"), RT_UPSTREAM);
	play(w, "{\"text\":\" here.\"}\n{\"call\":{\"id\":\"c1\",\"name\":\"read\","
		"\"arguments\":{\"a\":1}}}");
	assert_int_equal(world_again(w, RT_SEND_CONTINUE, ""), RT_OK);
	assert_string_equal(world_shown(w),
			    "User: Look\nAI: [{\"type\":\"text\",\"text\":\"I look here.\"},"
			    "{\"type\":\"toolCall\","
			    "\"id\":\"c1\",\"name\":\"read\",\"arguments\":{\"a\":1}}]\n");
	play(w, "{\"text\":\"And so on.\"}");
	assert_int_equal(world_again(w, RT_SEND_CONTINUE, ""), RT_OK);
	assert_string_equal(world_shown(w),
			    "User: Look\nAI: [{\"type\":\"text\",\"text\":\"I look here.\"},"
			    "{\"type\":\"toolCall\","
			    "\"id\":\"c1\",\"name\":\"read\",\"arguments\":{\"a\":1}},"
			    "{\"type\":\"text\",\"text\":\"And so on.\"}]\n");
}

/* A blank at the end that is not sent (Anthropic refuses it) is neither doubled nor lost,
 * whether the model begins with it or not. */
static void
continue_behind_a_blank(void **state)
{
	static const say pieces[][2] = {
		{{SAY_TEXT, " ", 0, NULL, NULL}, {SAY_TEXT, "42", 0, NULL, NULL}},
		{{SAY_TEXT, "4", 0, NULL, NULL}, {SAY_TEXT, "2", 0, NULL, NULL}}};
	static const char *const providers[] = {"anthropic", "openai"};
	world *w = *state;
	size_t i, k;
	rt_buf body;

	rt_buf_init(&body, rt_alloc_libc(), RT_BUF_UNLIMITED);
	for (i = 0; i < 2; i++) {
		for (k = 0; k < 2; k++) {
			rt_send_options options = {.how = RT_SEND_CONTINUE};
			sayer s;

			world_apply(w, "{\"op\":\"take.clear\",\"all\":true}");
			world_apply(
				w,
				"{\"op\":\"entry.append\",\"role\":\"User\",\"content\":\"hi\"}");
			world_apply(w, "{\"op\":\"entry.append\",\"role\":\"AI\",\"content\":"
				       "\"The answer is \"}");
			sayer_init(&s, w, rt_provider_named(rt_str_of(providers[i])), pieces[k], 2);
			s.body = &body;
			options.with = world_with(w);
			options.with.model = &s.model;
			assert_int_equal(world_send_options(w, options), RT_OK);
			assert_non_null(strstr(body.ptr, i == 0 ? "\"The answer is\""
								: "\"The answer is \""));
			/* the earlier text is repeated: there it is the model's own */
			assert_string_equal(world_shown(w),
					    i == 1 && k == 0 ? "User: hi\nAI: The answer is  42\n"
							     : "User: hi\nAI: The answer is 42\n");
		}
	}
	rt_buf_deinit(&body);
}

/* ---- ends ---- */

static void
stopped_by_the_person(void **state)
{
	world *w = *state;

	play(w, SLOW);
	w->stop_at = 3;
	assert_int_equal(world_ask(w, "Hi"), RT_INTERRUPTED);
	assert_true(w->result.partial);
	assert_int_equal(w->result.stop, RT_STOP_USER);
	assert_string_equal(world_shown(w), "User: Hi\n*AI: Good \n");
	world_has(w, w->result.entry, "\"stop_reason\":\"stopped\"");
	assert_int_equal(world_flights(w), 0);
	w->stop_at = 0;
	play(w, "{\"text\":\"night\"}");
	assert_int_equal(world_again(w, RT_SEND_CONTINUE, ""), RT_OK);
	assert_string_equal(world_shown(w), "User: Hi\nAI: Good night\n");
	/* before any text */
	w->stop_at = 1;
	play(w, "{\"wait_ms\":500}\n{\"text\":\"late\"}");
	assert_int_equal(world_ask(w, "Hm"), RT_INTERRUPTED);
	assert_string_equal(world_shown(w), "User: Hi\nAI: Good night\nUser: Hm\n");
	assert_string_equal(w->result.entry, "");
	assert_true(w->result.question[0] != '\0');
	assert_int_equal(world_flights(w), 0);
}

static void
what_goes_wrong_upstream(void **state)
{
	world *w = *state;

	play(w, "{\"text\":\"so f\"}\n{\"wait_ms\":400}\n{\"cut\":true}");
	assert_int_equal(world_ask(w, "1"), RT_UPSTREAM);
	world_has(w, w->result.entry, "\"stop_reason\":\"cut\"");
	world_has(w, w->result.entry, "\"partial\":true");
	play(w, "{\"text\":\"wel\"}\n{\"error\":{\"message\":\"overloaded\"}}");
	assert_int_equal(world_ask(w, "2"), RT_UPSTREAM);
	assert_non_null(strstr(w->err.text, "overloaded"));
	world_has(w, w->result.entry, "\"stop_reason\":\"error\"");
	world_has(w, w->result.entry, "\"error\":\"overloaded\"");
	assert_string_equal(world_shown(w), "User: 1\n*AI: so f\nUser: 2\n*AI: wel\n");
	/* nothing arrived: the question stays, and nothing else */
	play(w, "{\"error\":{\"status\":401,\"message\":\"bad key\"}}");
	assert_int_equal(world_ask(w, "3"), RT_CREDENTIALS);
	assert_string_equal(w->result.entry, "");
	play(w, "{\"error\":{\"status\":500,\"message\":\"oops\"}}");
	assert_int_equal(world_ask(w, "4"), RT_UPSTREAM);
	play(w, "{\"wait_ms\":100}");
	assert_int_equal(world_ask(w, "5"), RT_UPSTREAM);
	assert_string_equal(w->err.text, "the model returned an empty reply");
	play(w, "{\"stop\":\"filtered\"}");
	assert_int_equal(world_ask(w, "6"), RT_UPSTREAM);
	assert_non_null(strstr(w->err.text, "withheld the reply"));
	play(w, "{\"thinking\":\"\"}\n{\"stop\":\"length\"}");
	assert_int_equal(world_ask(w, "7"), RT_UPSTREAM);
	assert_non_null(strstr(w->err.text, "token limit"));
	assert_string_equal(world_shown(w),
			    "User: 1\n*AI: so f\nUser: 2\n*AI: wel\nUser: 3\nUser: 4\nUser: 5\n"
			    "User: 6\nUser: 7\n");
	assert_int_equal(world_flights(w), 0);
}

static bool
has_failed(world *w, const char *entry)
{
	const rt_project *value = rt_engine_value(w->engine);
	const rt_disc *disc = NULL;
	bool has = rt_project_disc(value, value->active, &disc, NULL) == RT_OK &&
		   rt_disc_has_failure(disc, rt_str_of(entry));

	rt_object_unref(value);
	return has;
}

/* It keeps the error, is not sent with the next question, and is answered in place later. */
static void
a_failed_question(void **state)
{
	rt_send_options again = {.how = RT_SEND_AGAIN};
	char failed[132];
	world *w = *state;
	uint64_t before = world_seq(w);

	play(w, "{\"error\":{\"status\":401,\"message\":\"bad key\"}}");
	assert_int_equal(world_ask(w, "first"), RT_CREDENTIALS);
	memcpy(failed, w->result.question, sizeof(failed));
	assert_int_equal(w->result.failure_seq, before + 2);
	assert_true(has_failed(w, failed));
	world_has(w, failed, "\"failure\":{\"code\":\"credentials\",\"detail\":\"bad key");
	/* the same failure again is not a step */
	assert_int_equal(world_send_options(w, again), RT_CREDENTIALS);
	assert_int_equal(world_seq(w), before + 2);
	/* the next question is sent without it */
	w->model->ops->close(w->model);
	assert_int_equal(rt_builtin_open(rt_alloc_libc(),
					 &(rt_builtin_options){.name = RT_STR("echo")}, &w->model,
					 NULL), RT_OK);
	assert_int_equal(world_ask(w, "second"), RT_OK);
	world_has(w, w->result.entry, "1 message");
	assert_true(has_failed(w, failed));
	/* a reply ends it, and undo restores it */
	again.at = rt_str_of(failed);
	assert_int_equal(world_send_options(w, again), RT_OK);
	assert_false(has_failed(w, failed));
	world_apply(w, "{\"op\":\"undo\"}");
	assert_true(has_failed(w, failed));
	world_apply(w, "{\"op\":\"entry.fail\",\"entry\":\":1\",\"failure\":null}");
	assert_false(has_failed(w, failed));
	/* stopped by the user before the first word: it is marked, and not sent with the next one */
	play(w, "{\"wait_ms\":300}\n{\"wait_ms\":300}");
	w->waits = 0;
	w->stop_at = 1;
	assert_int_equal(world_ask(w, "third"), RT_INTERRUPTED);
	assert_true(has_failed(w, w->result.question));
	world_has(w, w->result.question,
		  "\"failure\":{\"code\":\"interrupted\",\"detail\":\"stopped before the reply began\"");
	/* with a part of the reply it is answered */
	play(w, "{\"text\":\"a part\"}\n{\"wait_ms\":300}\n{\"wait_ms\":300}");
	w->waits = 0;
	w->stop_at = 1;
	assert_int_equal(world_ask(w, "fourth"), RT_INTERRUPTED);
	assert_false(has_failed(w, w->result.question));
}

/* ---- the clock is set back ---- */

static void
set_back_and_undo(world *w)
{
	if (w->waits == 1)
		w->now_us -= (int64_t)24 * 3600 * 1000000;
	if (w->waits == 3)
		world_apply(w, "{\"op\":\"undo\"}");
}

static void
what_is_answered_is_looked_for_by_any_clock(void **state)
{
	world *w = *state;

	play(w, "{\"text\":\"Go\"}\n{\"wait_ms\":60000}\n{\"text\":\"od\"}");
	w->meanwhile = set_back_and_undo;
	assert_int_equal(world_ask(w, "Hi"), RT_CONFLICT);
	assert_true(w->waits < 100); /* a minute is 1200 waits */
}

/* ---- an edit is in the next request ---- */

static void
an_edited_reply_is_what_the_next_request_carries(void **state)
{
	world *w = *state;
	rt_context_options options = {.stream = true};
	rt_buf body;
	size_t i;

	play(w, "{\"text\":\"Paris is in Spain.\"}\n{\"next\":true}\n{\"text\":\"Yes.\"}");
	assert_int_equal(world_ask(w, "Where is Paris?"), RT_OK);
	assert_int_equal(world_ask(w, "Sure?"), RT_OK);
	world_apply(w,
		    "{\"op\":\"entry.edit\",\"entry\":\":2\",\"content\":\"Paris is in France.\"}");
	rt_buf_init(&body, rt_alloc_libc(), RT_BUF_UNLIMITED);
	for (i = 0; rt_providers[i] != NULL; i++) {
		const rt_project *value = rt_engine_value(w->engine);

		rt_buf_clear(&body);
		assert_int_equal(rt_view_context(w->engine, value, (rt_place){0, 0},
						 rt_providers[i], &options, &body, NULL),
				 RT_OK);
		rt_object_unref(value);
		rt_buf_add_byte(&body, '\0');
		assert_non_null(strstr(body.ptr, "Paris is in France."));
		assert_null(strstr(body.ptr, "Spain"));
		assert_non_null(strstr(body.ptr, "Sure?"));
	}
	rt_buf_deinit(&body);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_WORLD(a_question_and_its_reply_are_two_steps),
		WITH_WORLD(what_is_answered_is_looked_for_by_any_clock),
		WITH_WORLD(rows_say_who_sent),
		WITH_WORLD(what_is_there_can_be_answered),
		WITH_WORLD(a_reply_stands_behind_its_question),
		WITH_WORLD(a_reply_stands_behind_what_it_answers),
		WITH_WORLD(what_is_answered_goes_away),
		WITH_WORLD(the_take_is_deleted),
		WITH_WORLD(again_makes_a_sibling),
		WITH_WORLD(continue_extends_in_place),
		WITH_WORLD(continue_goes_on_from_an_edit),
		WITH_WORLD(continue_keeps_calls),
		WITH_WORLD(continue_behind_a_blank),
		WITH_WORLD(stopped_by_the_person),
		WITH_WORLD(what_goes_wrong_upstream),
		WITH_WORLD(a_failed_question),
		WITH_WORLD(an_edited_reply_is_what_the_next_request_carries),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
