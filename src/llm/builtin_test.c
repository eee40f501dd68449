/* SPDX-License-Identifier: MIT
 *
 * The built-in models: the same request, the same reply. */
#include "llm/builtin.h"
#include "llm/llm_testing.h"

typedef struct asking {
	rt_buf pieces, notices;
	size_t waited_ms, longest_ms, ticks, stop_after; /* stops; SIZE_MAX: never */
} asking;

static void
piece(void *ctx, rt_reply_block_kind kind, size_t block, rt_str added)
{
	asking *a = ctx;

	(void)kind;
	(void)block;
	rt_buf_add_f(&a->pieces, "%.*s|", RT_STR_ARG(added));
}

static void
wait_ms(void *ctx, unsigned ms)
{
	asking *a = ctx;

	a->waited_ms += ms;
	a->longest_ms = ms > a->longest_ms ? ms : a->longest_ms;
}

static bool
stop(void *ctx)
{
	asking *a = ctx;

	return a->stop_after != SIZE_MAX && a->stop_after-- == 0;
}

static void
notice(void *ctx, const rt_notice *said)
{
	const char *words = said->words;
	rt_buf_add_c(&((asking *)ctx)->notices, words);
}

static void
tick(void *ctx)
{
	((asking *)ctx)->ticks++;
}

static void
asking_init(asking *a)
{
	memset(a, 0, sizeof(*a));
	rt_buf_init(&a->pieces, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_buf_init(&a->notices, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_buf_add_c(&a->pieces, "");
	rt_buf_add_c(&a->notices, "");
	a->stop_after = SIZE_MAX;
}

static void
asking_deinit(asking *a)
{
	rt_buf_deinit(&a->pieces);
	rt_buf_deinit(&a->notices);
}

/* Ask, into "STATUS CONTENT FIELDS" and the error's words. */
static void
ask_with(const rt_alloc *alloc, asking *a, const char *name, const char *script, const char *body,
	 rt_buf *out)
{
	rt_builtin_options options = {rt_str_of(name), rt_str_of(script), 3, wait_ms, a};
	rt_ask ask = {.body = rt_str_of(body), .stream = true, .stop = stop, .notice = notice, .tick = tick, .ctx = a};
	rt_model *model = NULL;
	rt_error err = {0};
	rt_reply reply;
	rt_status st = rt_builtin_open(alloc, &options, &model, &err);

	rt_reply_init(&reply, alloc, piece, a);
	if (st == RT_OK)
		st = model->ops->ask(model, &ask, &reply, &err);
	rt_reply_finish(&reply);
	rt_buf_clear(out);
	rt_buf_add_c(out, rt_status_word(st != RT_OK ? st : reply.status));
	rt_buf_add_byte(out, ' ');
	rt_reply_add_content(&reply, out);
	rt_reply_add_fields(&reply, out);
	if (st != RT_OK)
		rt_buf_add_f(out, " %s", err.text);
	rt_reply_deinit(&reply);
	if (model != NULL)
		model->ops->close(model);
}

static void
answers(const char *name, const char *script, const char *body, const char *expected)
{
	asking a;
	rt_buf out;

	asking_init(&a);
	rt_buf_init(&out, rt_alloc_libc(), RT_BUF_UNLIMITED);
	ask_with(rt_alloc_libc(), &a, name, script, body, &out);
	told_same(&out, expected, "answer", 0);
	rt_buf_deinit(&out);
	asking_deinit(&a);
}

#define HELLO "{\"messages\":[{\"role\":\"system\",\"content\":\"Be brief.\"},{\"role\":\"user\",\"content\":\"Hello\\n there\"}]}"
#define LATER "{\"messages\":[{\"role\":\"user\",\"content\":\"a\"},{\"role\":\"assistant\",\"content\":\"b\"},{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"c\"}]}]}"
#define PLAY(reply) "\"provider\":\"builtin\",\"model\":\"play\"" reply

static void
echo(void **state)
{
	(void)state;
	answers("builtin/echo", "", HELLO,
		"ok \"You said: \\\"Hello there\\\"\\n\\nThat makes 2 messages. I am the built-in model and only "
		"repeat; for answers, choose another model.\","
		"\"provider\":\"builtin\",\"model\":\"echo\",\"stop_reason\":\"stop\","
		"\"usage\":{\"input_tokens\":24,\"output_tokens\":31}");
	answers("", "", "{\"messages\":[]}",
		"ok \"Hello. I am the built-in model: I need no network, and I know nothing. Say something, and "
		"I will repeat it.\",\"provider\":\"builtin\",\"model\":\"echo\",\"stop_reason\":\"stop\","
		"\"usage\":{\"input_tokens\":4,\"output_tokens\":27}");
	answers("nobody", "", HELLO,
		"not_found \"\" no built-in model \"nobody\"; available: echo, summary, text and play:FILE");
	answers("echo", "", "", "usage \"\",\"provider\":\"builtin\",\"model\":\"echo\" not valid JSON at byte 0: the text is empty");
}

#define PNG_2X3 "iVBORw0KGgoAAAANSUhEUgAAAAIAAAADCAIAAAA="
#define LOOK(parts) "{\"messages\":[{\"role\":\"user\",\"content\":[" parts "]}]}"
#define IMAGE(url)  "{\"type\":\"image_url\",\"image_url\":{\"url\":\"" url "\"}}"

static void
begins(const char *body, const char *expected)
{
	asking a;
	rt_buf out;

	asking_init(&a);
	rt_buf_init(&out, rt_alloc_libc(), RT_BUF_UNLIMITED);
	ask_with(rt_alloc_libc(), &a, "echo", "", body, &out);
	if (!rt_str_starts(rt_buf_str(&out), rt_str_of(expected)))
		fail_msg("%s", out.ptr);
	rt_buf_deinit(&out);
	asking_deinit(&a);
}

static void
images(void **state)
{
	(void)state;
	begins(LOOK("{\"type\":\"text\",\"text\":\"See\"}," IMAGE("data:image/png;base64," PNG_2X3)),
	       "ok \"You said: \\\"See\\\"\\n\\nI received an image (PNG, 2 × 3, 29 bytes).\\n\\nThat makes 1 ");
	begins(LOOK(IMAGE("data:image/gif;base64,R0lGODlhBAAFAA==") "," IMAGE("https://example.org/a.png")),
	       "ok \"I received an image (GIF, 4 × 5, 10 bytes), an image (https://example.org/a.png).");
	begins(LOOK(IMAGE("data:image/jpeg;base64,/9j/4AAEAAD/wAALCAAGAAcBAREA")),
	       "ok \"I received an image (JPEG, 7 × 6, 21 bytes).");
	begins(LOOK(IMAGE("data:image/jpeg;base64,/9j/4P//")), "ok \"I received an image (JPEG, 6 bytes).");
	begins(LOOK("{\"type\":\"file\",\"file\":{\"filename\":\"a.pdf\",\"file_data\":\"data:application/pdf;base64,AAAA\"}}"),
	       "ok \"I received a file (a.pdf, 3 bytes).");
}

static void
in_pieces(void **state)
{
	asking a;
	rt_buf out;

	(void)state;
	asking_init(&a);
	rt_buf_init(&out, rt_alloc_libc(), RT_BUF_UNLIMITED);
	ask_with(rt_alloc_libc(), &a, "echo", "", HELLO, &out);
	assert_true(rt_str_starts(rt_buf_str(&a.pieces), RT_STR("You said: ")));
	assert_true(a.waited_ms >= 9 && a.waited_ms % 3 == 0);
	assert_int_equal(a.ticks, a.waited_ms / 3);
	/* stopped: the received text stays */
	a.stop_after = 2;
	ask_with(rt_alloc_libc(), &a, "echo", "", HELLO, &out);
	assert_true(rt_str_starts(rt_buf_str(&out), RT_STR("interrupted \"You said: ")));
	assert_non_null(strstr(out.ptr, "\"stop_reason\":\"stopped\""));
	assert_null(strstr(out.ptr, "another model"));
	rt_buf_deinit(&out);
	asking_deinit(&a);
}

static void
summary(void **state)
{
	rt_buf body, out;
	asking a;
	int i;

	(void)state;
	answers("summary", "", LATER,
		"ok \"Summary of 3 messages:\\n- user: a\\n- assistant: b\\n- user: c\","
		"\"provider\":\"builtin\",\"model\":\"summary\",\"stop_reason\":\"stop\","
		"\"usage\":{\"input_tokens\":34,\"output_tokens\":15}");
	answers("echo", "",
		"{\"messages\":[{\"role\":\"user\",\"content\":\"one two three four five six seven eight nine\"},"
		"{\"role\":\"user\",\"content\":\"Please Summarize this.\"}]}",
		"ok \"Summary of 2 messages:\\n- user: one two three four five six seven eight ...\\n"
		"- user: Please Summarize this.\","
		"\"provider\":\"builtin\",\"model\":\"echo\",\"stop_reason\":\"stop\","
		"\"usage\":{\"input_tokens\":35,\"output_tokens\":27}");
	/* the request of a compaction contains a text */
	answers("summary", "",
		"{\"messages\":[{\"role\":\"system\",\"content\":\"You write summaries.\"},{\"role\":\"user\",\"content\":\""
		"<conversation>\\n[User]: Which database? It is for a desktop.\\nAnd quickly!\\n\\n"
		"[AI]: SQLite, with a log. We decided on WAL in `src/db.c` (see https://sqlite.org/wal.html), "
		"instead of a server. Shall we?\\n\\nIt has [one]: file.\\n\\n"
		"[summary of earlier entries]: # Goal\\n- a store. Let's keep /etc/retake/conf and src/db.c\\n\\n"
		"[User]: And undo?\\n</conversation>\\n\\nSum up the conversation above.\"}]}",
		"ok \"An extract of 4 messages, made without a model.\\n\\nSaid:\\n"
		"- User: Which database?\\n- AI: SQLite, with a log.\\n- summary of earlier entries: Goal\\n"
		"- User: And undo?\\n\\n"
		"Decisions:\\n- We decided on WAL in `src/db.c` (see https://sqlite.org/wal.html), instead of a server.\\n"
		"- Let's keep /etc/retake/conf and src/db.c\\n\\n"
		"Files: src/db.c, /etc/retake/conf\\n\\nLast asked: And undo?\","
		"\"provider\":\"builtin\",\"model\":\"summary\",\"stop_reason\":\"stop\","
		"\"usage\":{\"input_tokens\":121,\"output_tokens\":90}");
	/* an empty text, and a text of one word without an end */
	answers("summary", "", "{\"messages\":[{\"role\":\"user\",\"content\":\"<conversation>\\n\\n</conversation>\"}]}",
		"ok \"An extract of 0 messages, made without a model.\\n\\nSaid:\","
		"\"provider\":\"builtin\",\"model\":\"summary\",\"stop_reason\":\"stop\","
		"\"usage\":{\"input_tokens\":19,\"output_tokens\":14}");
	asking_init(&a);
	rt_buf_init(&out, rt_alloc_libc(), RT_BUF_UNLIMITED);
	/* paragraphs are on one line, with a blank between them; a flag keeps its dashes */
	ask_with(rt_alloc_libc(), &a, "summary", "",
		 "{\"messages\":[{\"role\":\"user\",\"content\":\"say \\\"hello\\\"\\n\\nThat\"}]}", &out);
	assert_non_null(strstr(out.ptr, "- user: say \\\"hello\\\" That"));
	rt_buf_clear(&out);
	ask_with(rt_alloc_libc(), &a, "summary", "",
		 "{\"messages\":[{\"role\":\"user\",\"content\":\"<conversation>\\n[AI]: - **first**\\n\\n"
		 "[User]: --bogus is\\n\\nunknown\\n</conversation>\"}]}", &out);
	assert_non_null(strstr(out.ptr, "- AI: **first**\\n- User: --bogus is\\n"));
	assert_non_null(strstr(out.ptr, "Last asked: --bogus is unknown\""));
	rt_buf_clear(&out);
	/* a long conversation has a short summary */
	rt_buf_init(&body, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_buf_add_c(&body, "{\"messages\":[");
	for (i = 0; i < 100; i++)
		rt_buf_add_f(&body, "%s{\"role\":\"user\",\"content\":\"m%d\"}", i > 0 ? "," : "", i);
	rt_buf_add_c(&body, "]}");
	ask_with(rt_alloc_libc(), &a, "summary", "", body.ptr, &out);
	assert_non_null(strstr(out.ptr, "- user: m19\\n- (60 more)\\n- user: m80\\n"));
	rt_buf_deinit(&body);
	rt_buf_deinit(&out);
	asking_deinit(&a);
}

static const char script[] =
	"{\"thinking\":\"hm\"}\n{\"text\":\"One \"}\n\n{\"text\":\"two.\"}\n{\"usage\":{\"input_tokens\":7,\"output_tokens\":2}}\n"
	"{\"stop\":\"length\"}\n{\"next\":true}\n"
	"{\"call\":{\"id\":\"c1\",\"name\":\"read\",\"arguments\":{\"path\":\"a\"}}}\n{\"wait_ms\":120}\n";

static void
play(void **state)
{
	asking a;
	rt_buf out;

	(void)state;
	answers("play", script, HELLO,
		"ok \"One two.\"," PLAY(",\"stop_reason\":\"length\",\"usage\":{\"input_tokens\":7,\"output_tokens\":2},"
					"\"thinking_segments\":[{\"text\":\"hm\"}]"));
	answers("play", script, LATER,
		"ok [{\"type\":\"toolCall\",\"id\":\"c1\",\"name\":\"read\",\"arguments\":{\"path\":\"a\"}}],"
		PLAY(",\"stop_reason\":\"tool_calls\",\"usage\":{\"input_tokens\":34,\"output_tokens\":5}"));
	/* counted around */
	answers("play", script,
		"{\"messages\":[{\"role\":\"assistant\"},{\"role\":\"assistant\"}]}",
		"ok \"One two.\"," PLAY(",\"stop_reason\":\"length\",\"usage\":{\"input_tokens\":7,\"output_tokens\":2},"
					"\"thinking_segments\":[{\"text\":\"hm\"}]"));
	/* 120 ms are three waits, and can be stopped between them */
	asking_init(&a);
	rt_buf_init(&out, rt_alloc_libc(), RT_BUF_UNLIMITED);
	ask_with(rt_alloc_libc(), &a, "play:x.jsonl", script, LATER, &out);
	assert_int_equal(a.waited_ms, 120);
	assert_int_equal(a.longest_ms, 50);
	assert_int_equal(a.ticks, 3);
	a.waited_ms = 0;
	a.stop_after = 3;
	ask_with(rt_alloc_libc(), &a, "play", script, LATER, &out);
	assert_true(rt_str_starts(rt_buf_str(&out), RT_STR("interrupted ")));
	assert_int_equal(a.waited_ms, 100);
	rt_buf_deinit(&out);
	asking_deinit(&a);
}

static void
what_goes_wrong(void **state)
{
	asking a;
	rt_buf out;

	(void)state;
	answers("play", "{\"text\":\"so f\"}\n{\"cut\":true}\n{\"text\":\"never\"}", HELLO,
		"upstream \"so f\"," PLAY(",\"stop_reason\":\"cut\"") " the connection was cut");
	answers("play", "{\"error\":{\"status\":401,\"message\":\"bad key\"}}", HELLO,
		"credentials \"\"," PLAY("") " bad key (401)");
	answers("play", "{\"error\":{\"status\":500,\"message\":\"oops\"}}", HELLO,
		"upstream \"\"," PLAY("") " oops (500)");
	answers("play", "{\"text\":\"a\"}\n{\"error\":{\"message\":\"overloaded\"}}", HELLO,
		"upstream \"a\"," PLAY(",\"stop_reason\":\"error\",\"error\":\"overloaded\"") " overloaded");
	/* tried again */
	asking_init(&a);
	rt_buf_init(&out, rt_alloc_libc(), RT_BUF_UNLIMITED);
	ask_with(rt_alloc_libc(), &a, "play",
		 "{\"error\":{\"status\":429,\"message\":\"slow down\",\"retry_after\":2}}\n{\"text\":\"Hi\"}", HELLO, &out);
	assert_true(rt_str_starts(rt_buf_str(&out), RT_STR("ok \"Hi\"")));
	assert_string_equal(a.notices.ptr, "trying again in 2 s: slow down");
	assert_int_equal(a.waited_ms, 2000);
	rt_buf_deinit(&out);
	asking_deinit(&a);
}

static void
scripts_that_are_wrong(void **state)
{
	(void)state;
	answers("play", "{\"text\":\"a\"}\n\n{\"say\":\"b\"}", HELLO, "usage \"\" line 3 of the script: no such step");
	answers("play", "{\"text\":7}", HELLO, "usage \"\" line 1 of the script: invalid value for text");
	answers("play", "{\"stop\":\"never\"}", HELLO, "usage \"\" line 1 of the script: invalid value for stop");
	answers("play", "{\"wait_ms\":999999999999}", HELLO, "usage \"\" line 1 of the script: invalid value for wait_ms");
	answers("play", "[]", HELLO, "usage \"\" line 1 of the script: no such step");
	/* a summary without words is a reply without words */
	answers("play", "", HELLO,
		"ok \"\"," PLAY(",\"stop_reason\":\"stop\",\"usage\":{\"input_tokens\":24,\"output_tokens\":0}"));
}

static void
no_memory(void **state)
{
	static const char *const names[] = {"echo", "summary", "play"};
	failing f = {0};
	rt_alloc alloc = {failing_resize, failing_release, &f};
	long count, n;
	rt_buf out;
	size_t i;
	asking a;

	(void)state;
	asking_init(&a);
	rt_buf_init(&out, rt_alloc_libc(), RT_BUF_UNLIMITED);
	for (i = 0; i < 3; i++) {
		f.left = 1000000;
		ask_with(&alloc, &a, names[i], script, LATER, &out);
		count = 1000000 - f.left;
		for (n = 0; n < count; n++) {
			f.left = n;
			ask_with(&alloc, &a, names[i], script, LATER, &out);
			if (out.status == RT_OK && !rt_str_starts(rt_buf_str(&out), RT_STR("out_of_memory")))
				fail_msg("%s %ld of %ld: %s", names[i], n, count, out.ptr);
			assert_int_equal(f.live, 0);
		}
	}
	rt_buf_deinit(&out);
	asking_deinit(&a);
}

static void
as_a_provider(void **state)
{
	(void)state;
	assert_ptr_equal(rt_provider_named(RT_STR("builtin")), &rt_provider_builtin);
	assert_null(rt_provider_builtin.url);
	headers_are(&rt_provider_builtin, "k", "");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(echo),
		cmocka_unit_test(images),
		cmocka_unit_test(in_pieces),
		cmocka_unit_test(summary),
		cmocka_unit_test(play),
		cmocka_unit_test(what_goes_wrong),
		cmocka_unit_test(scripts_that_are_wrong),
		cmocka_unit_test(no_memory),
		cmocka_unit_test(as_a_provider),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
