/* SPDX-License-Identifier: MIT
 *
 * Sending with hooks and with the log of requests, also when a request is sent again. */
#include "chat/send_script_testing.h"
#include "llm/provider.h"

/* ---- the log of requests ---- */

typedef struct recorded {
	world *w;
	rt_buf lines;
} recorded;

static void
line(void *ctx, const rt_comms_item *item)
{
	recorded *r = ctx;
	rt_json_doc *doc;

	assert_int_equal(rt_json_read(rt_alloc_libc(), item->line, &doc, NULL), RT_OK);
	rt_json_free(doc);
	rt_buf_add_str(&r->lines, item->line);
	rt_buf_add_byte(&r->lines, '\n');
}

static void
each_request_is_recorded(void **state)
{
	world *w = *state;
	recorded r = {.w = w};
	rt_send_options options = {.text = RT_STR("sesame"), .with = {.comms = line, .ctx = &r}};

	rt_buf_init(&r.lines, rt_alloc_libc(), RT_BUF_UNLIMITED);
	play(w, "{\"text\":\"abracadabra\"}\n{\"error\":{\"message\":\"over\\\"loaded\"}}");
	options.with.model = w->model;
	assert_int_equal(world_send_options(w, options), RT_UPSTREAM);
	assert_int_equal(world_count(r.lines.ptr, "\n"), 2);
	assert_non_null(strstr(r.lines.ptr, "\"what\":\"request\""));
	assert_non_null(strstr(r.lines.ptr, "\"what\":\"reply\""));
	assert_non_null(strstr(r.lines.ptr, w->result.entry));
	/* it contains no text, so that a purge reaches every copy */
	assert_null(strstr(r.lines.ptr, "sesame"));
	assert_null(strstr(r.lines.ptr, "abracadabra"));
	rt_buf_deinit(&r.lines);
}

/* ---- hooks ---- */

typedef struct fake_hooks {
	rt_hooks hooks;
	const char *patch, *reason; /* the answer to entry.before_add */
	const char *body;           /* replaces the request's */
	const char *no_request;     /* why request.before is refused */
	size_t asked, told, answered;
	bool cannot_run;            /* an after-event was called with a stop that is already true */
	char subject[200];
	char members[200];          /* of request.after */
	world *goes;                /* to another take, as soon as there is a question */
} fake_hooks;

static bool
wants(rt_hooks *hooks, const char *event)
{
	(void)hooks;
	(void)event;
	return true;
}

static rt_status
fire(rt_hooks *hooks, const char *event, rt_str members, rt_str subject, rt_stop_fn stop, void *ctx,
     rt_hook_answer *out, rt_error *err)
{
	fake_hooks *h = (fake_hooks *)hooks;

	(void)err;
	if (strcmp(event, "request.before") == 0) {
		snprintf(h->subject, sizeof(h->subject), "%.*s", RT_STR_ARG(subject));
		if (h->no_request != NULL) {
			out->decision = RT_HOOK_DENY;
			rt_buf_add_c(&out->by, "guard");
			rt_buf_add_c(&out->reason, h->no_request);
		} else if (h->body != NULL) {
			out->decision = RT_HOOK_REPLACE;
			rt_buf_add_f(&out->patch, "{\"body\":%s}", h->body);
		}
	}
	if (strstr(event, ".after") != NULL && stop != NULL && stop(ctx))
		h->cannot_run = true;
	if (strcmp(event, "request.after") == 0) {
		h->answered++;
		snprintf(h->members, sizeof(h->members), "%.*s", RT_STR_ARG(members));
	}
	if (strcmp(event, "reply.after") == 0)
		h->told++;
	if (strcmp(event, "entry.after") == 0 && h->goes != NULL) {
		world *w = h->goes;

		h->goes = NULL;
		world_apply(w, "{\"op\":\"take.branch\",\"at\":\":1\",\"name\":\"elsewhere\"}");
	}
	if (strcmp(event, "entry.before_add") != 0)
		return RT_OK;
	h->asked++;
	if (h->reason != NULL) {
		out->decision = RT_HOOK_DENY;
		rt_buf_add_c(&out->by, "guard");
		rt_buf_add_c(&out->reason, h->reason);
	} else if (h->patch != NULL) {
		out->decision = RT_HOOK_REPLACE;
		rt_buf_add_c(&out->patch, h->patch);
		rt_buf_add_c(&out->notes, "changed it");
	}
	return RT_OK;
}

static void
hooks_may_refuse_and_change(void **state)
{
	static const rt_hooks_ops ops = {.wants = wants, .fire = fire};
	world *w = *state;
	fake_hooks h = {.hooks = {&ops}, .reason = "no secrets"};
	rt_send_options options = {.text = RT_STR("the key is 123")};
	uint64_t before = world_seq(w);

	play(w, "{\"text\":\"Hello\"}");
	options.with = world_with(w);
	options.with.hooks = &h.hooks;
	assert_int_equal(world_send_options(w, options), RT_DENIED);
	assert_string_equal(w->err.text, "hook guard: no secrets");
	assert_int_equal(world_seq(w), before);
	assert_int_equal(h.told, 0);
	h.reason = NULL;
	h.patch = "{\"op\":{\"op\":\"entry.append\",\"role\":\"User\","
		  "\"content\":\"the key is ***\"}}";
	assert_int_equal(world_send_options(w, options), RT_OK);
	assert_string_equal(world_shown(w), "User: the key is ***\nAI: Hello\n");
	assert_int_equal(h.told, 1);
	assert_string_equal(h.subject, "provider=builtin service=builtin model=play reason=reply project=default "
			    "discussion=main take=main");
	assert_non_null(w->result.note);
	assert_true(rt_str_is(rt_text_str(w->result.note), "changed it"));
}

/* Between the question and the request another take is activated. */
static void
a_question_is_answered_in_its_take(void **state)
{
	static const rt_hooks_ops ops = {.wants = wants, .fire = fire};
	world *w = *state;
	fake_hooks h = {.hooks = {&ops}, .goes = w};
	rt_send_options options = {.text = RT_STR("Hi")};

	world_add(w, "first", "User", "Before");
	play(w, "{\"text\":\"Hello\"}");
	options.with = world_with(w);
	options.with.hooks = &h.hooks;
	assert_int_equal(world_send_options(w, options), RT_OK);
	assert_null(h.goes);
	assert_string_equal(world_shown(w), "User: Before\n");
	world_apply(w, "{\"op\":\"take.switch\",\"take\":\"main\"}");
	assert_string_equal(world_shown(w), "User: Before\nUser: Hi\nAI: Hello\n");
	assert_string_equal(w->result.take, "main");
	assert_int_equal(w->result.asked_take, 1);
}

/* Ctrl-C ends the reply. The kept part is still reported, to hooks that are not stopped before they
 * have begun. */
static void
stopped_replies_are_told_too(void **state)
{
	static const rt_hooks_ops ops = {.wants = wants, .fire = fire};
	world *w = *state;
	fake_hooks h = {.hooks = {&ops}};
	rt_send_options options = {.text = RT_STR("Hi")};

	play(w, SLOW);
	w->stop_at = 2;
	options.with = world_with(w);
	options.with.hooks = &h.hooks;
	assert_int_equal(world_send_options(w, options), RT_INTERRUPTED);
	assert_string_equal(world_shown(w), "User: Hi\n*AI: Good \n");
	assert_int_equal(h.answered, 1);
	assert_int_equal(h.told, 1);
	assert_false(h.cannot_run);
	/* until the user stops again */
	w->stop_at = 2;
	options.with.insists = world_stop;
	assert_int_equal(world_send_options(w, options), RT_INTERRUPTED);
	assert_true(h.cannot_run);
}

/* A request is sent again: hooks are called, the record has it, nothing is kept. */
static void
a_request_is_sent_once_more(void **state)
{
	static const rt_hooks_ops ops = {.wants = wants, .fire = fire};
	static const say said = {SAY_TEXT, "Hello", 0, NULL, NULL};
	world *w = *state;
	fake_hooks h = {.hooks = {&ops}, .no_request = "no secrets"};
	recorded r = {.w = w};
	rt_resend_options options = {.discussion = RT_STR("d1"),
				     .take = RT_STR("t1"),
				     .body = RT_STR("{\"key\":\"hunter2\"}"),
				     .of = RT_STR("reply/1")};
	uint64_t before = world_seq(w);
	const rt_text *note;
	rt_buf asked;
	sayer s;

	rt_buf_init(&r.lines, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_buf_init(&asked, rt_alloc_libc(), RT_BUF_UNLIMITED);
	sayer_init(&s, w, rt_provider_named(RT_STR("openai")), &said, 1);
	s.model.service = RT_STR("local");
	s.model.server = RT_STR("http://127.0.0.1:8080");
	s.body = &asked;
	options.with = (rt_send_with){
		.model = &s.model, .hooks = &h.hooks, .comms = line, .ctx = &r};
	assert_int_equal(rt_engine_resend(w->engine, &options, &note, &w->err), RT_DENIED);
	assert_string_equal(w->err.text, "hook guard: no secrets");
	assert_int_equal(s.asked, 0);
	assert_int_equal(r.lines.size, 0);
	h.no_request = NULL;
	h.body = "{\"key\":\"***\"}";
	assert_int_equal(rt_engine_resend(w->engine, &options, &note, &w->err), RT_OK);
	assert_string_equal(asked.ptr, h.body);
	assert_string_equal(h.subject, "provider=openai service=local model=m reason=replay "
				       "project=default discussion=main take=main");
	assert_non_null(strstr(h.members, "\"service\":\"local\""));
	assert_non_null(strstr(h.members, "\"reason\":\"replay\",\"status\":\"ok\""));
	rt_buf_add_byte(&r.lines, '\0');
	assert_int_equal(world_count(r.lines.ptr, "\n"), 2);
	assert_int_equal(world_count(r.lines.ptr, "\"for\":\"replay\""), 2);
	assert_non_null(strstr(r.lines.ptr, "\"of\":\"reply/1\""));
	assert_non_null(strstr(r.lines.ptr, "\"server\":\"http://127.0.0.1:8080\""));
	assert_null(strstr(r.lines.ptr, "hunter2"));
	assert_int_equal(world_seq(w), before);
	assert_int_equal(world_flights(w), 0);
	rt_buf_deinit(&asked);
	rt_buf_deinit(&r.lines);
}

/* The configured name is reported, kept and recorded; the kind is stored beside it. */
static void
several_providers_of_one_kind(void **state)
{
	static const rt_hooks_ops ops = {.wants = wants, .fire = fire};
	static const say said = {SAY_TEXT, "Hello", 0, NULL, NULL};
	world *w = *state;
	fake_hooks h = {.hooks = {&ops}};
	recorded r = {.w = w};
	rt_send_options options = {.text = RT_STR("Hi")};
	sayer s;

	rt_buf_init(&r.lines, rt_alloc_libc(), RT_BUF_UNLIMITED);
	sayer_init(&s, w, rt_provider_named(RT_STR("openai")), &said, 1);
	s.model.service = RT_STR("local");
	s.model.server = RT_STR("http://127.0.0.1:8080");
	options.with = (rt_send_with){
		.model = &s.model, .hooks = &h.hooks, .comms = line, .ctx = &r};
	assert_int_equal(world_send_options(w, options), RT_OK);
	assert_non_null(strstr(h.subject, "provider=openai service=local model=m"));
	rt_buf_add_byte(&r.lines, '\0');
	assert_non_null(strstr(r.lines.ptr, "\"provider\":\"openai\",\"service\":\"local\","
					    "\"model\":\"m\","
					    "\"server\":\"http://127.0.0.1:8080\""));
	world_has(w, w->result.entry, "\"service\":\"local\"");
	rt_buf_deinit(&r.lines);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_WORLD(stopped_replies_are_told_too),
		WITH_WORLD(a_request_is_sent_once_more),
		WITH_WORLD(several_providers_of_one_kind),
		WITH_WORLD(each_request_is_recorded),
		WITH_WORLD(hooks_may_refuse_and_change),
		WITH_WORLD(a_question_is_answered_in_its_take),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
