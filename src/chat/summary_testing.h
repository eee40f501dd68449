/* SPDX-License-Identifier: MIT
 *
 * Fixture of the tests of summaries: scripted hooks, a model that summarizes, and the tree of seed
 * 4. A test includes the layers above the engine before this: formats/formats.h, llm/llm_testing.h,
 * store/store_memory.h. */
#ifndef RT_CHAT_SUMMARY_TESTING_H
#define RT_CHAT_SUMMARY_TESTING_H

#include "chat/send_testing.h"

#include "chat/summary.h"

/* ---- scripted hooks ---- */

typedef struct fake_hooks {
	rt_hooks hooks;
	const char *deny;    /* the reason */
	const char *summary; /* JSON */
	const char *no_request; /* why request.before is refused */
	const char *body;    /* replaces the request's */
	rt_status status;
	rt_buf events; /* "name {members}" a line */
} fake_hooks;

static inline bool
wants(rt_hooks *hooks, const char *event)
{
	(void)hooks;
	(void)event;
	return true;
}

static inline rt_status
fire(rt_hooks *hooks, const char *event, rt_str members, rt_str subject, rt_stop_fn stop, void *ctx,
     rt_hook_answer *out, rt_error *err)
{
	fake_hooks *h = (fake_hooks *)hooks;
	size_t from = h->events.size;
	rt_json_doc *doc;

	(void)subject;
	(void)stop;
	(void)ctx;
	rt_buf_add_byte(&h->events, '{');
	rt_buf_add_str(&h->events, members);
	rt_buf_add_byte(&h->events, '}');
	assert_int_equal(rt_json_read(rt_alloc_libc(),
				      rt_str_at(h->events.ptr + from, h->events.size - from), &doc,
				      NULL),
			 RT_OK);
	rt_json_free(doc);
	rt_buf_add_f(&h->events, " %s\n", event);
	if (strcmp(event, "request.before") == 0 && h->no_request != NULL) {
		out->decision = RT_HOOK_DENY;
		rt_buf_add_c(&out->by, "guard");
		rt_buf_add_c(&out->reason, h->no_request);
	} else if (strcmp(event, "request.before") == 0 && h->body != NULL) {
		out->decision = RT_HOOK_REPLACE;
		rt_buf_add_f(&out->patch, "{\"body\":%s}", h->body);
	}
	if (strcmp(event, "head.before_move") != 0 && strcmp(event, "compact.before") != 0)
		return RT_OK;
	if (h->status != RT_OK)
		return rt_fail(err, h->status, "the hook went wrong");
	if (h->deny != NULL) {
		out->decision = RT_HOOK_DENY;
		rt_buf_add_c(&out->by, "guard");
		rt_buf_add_c(&out->reason, h->deny);
	}
	if (h->summary != NULL) {
		rt_buf_add_c(&out->by, "10-test");
		rt_buf_add_c(&out->summary, h->summary);
	}
	return RT_OK;
}

/* ---- the world ---- */

typedef struct fixture {
	world w;
	sayer s;
	say said;
	rt_buf body; /* the model's request */
	fake_hooks h;
	rt_summary_result result;
	rt_buf before; /* everything, before an action that must change nothing */
} fixture;

static inline int
set_up(void **state)
{
	static const rt_hooks_ops ops = {.wants = wants, .fire = fire};
	fixture *f = test_calloc(1, sizeof(*f));
	world *w = &f->w;

	world_init(w);
	assert_int_equal(rt_store_memory_open(rt_alloc_libc(), &w->env, &w->store, NULL), RT_OK);
	world_open_engine(w, NULL);
	f->said = (say){SAY_TEXT, "In short.", 0, NULL, NULL};
	sayer_init(&f->s, w, rt_provider_named(RT_STR("openai")), &f->said, 1);
	rt_buf_init(&f->body, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_buf_init(&f->before, rt_alloc_libc(), RT_BUF_UNLIMITED);
	f->s.body = &f->body;
	f->h.hooks.ops = &ops;
	rt_buf_init(&f->h.events, rt_alloc_libc(), RT_BUF_UNLIMITED);
	*state = f;
	return 0;
}

static inline int
tear_down(void **state)
{
	fixture *f = *state;

	rt_summary_result_deinit(&f->result);
	rt_buf_deinit(&f->body);
	rt_buf_deinit(&f->before);
	rt_buf_deinit(&f->h.events);
	world_deinit(&f->w);
	test_free(f);
	return 0;
}

static inline rt_send_with
with(fixture *f)
{
	rt_send_with all = world_with(&f->w);

	all.model = &f->s.model;
	all.hooks = &f->h.hooks;
	rt_summary_result_deinit(&f->result);
	rt_buf_clear(&f->h.events);
	rt_buf_clear(&f->body);
	memset(&f->w.err, 0, sizeof(f->w.err));
	f->s.asked = 0;
	f->w.waits = 0;
	return all;
}

static inline rt_status
go_options(fixture *f, rt_navigate_options options)
{
	if (options.with.model == NULL)
		options.with = with(f);
	return rt_engine_navigate(f->w.engine, &options, &f->result, &f->w.err);
}

static inline rt_status
go(fixture *f, const char *target, bool select, bool summarize)
{
	return go_options(f, (rt_navigate_options){.target = target == NULL ? rt_str_at(NULL, 0)
									    : rt_str_of(target),
						   .select = select,
						   .summarize = summarize});
}

static inline rt_status
compact(fixture *f, rt_compact_options options)
{
	if (options.with.model == NULL)
		options.with = with(f);
	return rt_engine_compact(f->w.engine, &options, &f->result, &f->w.err);
}

static inline rt_status
compress(fixture *f, const char *instructions)
{
	rt_compress_options options = {.instructions = rt_str_of(instructions)};

	options.with = with(f);
	return rt_engine_compress(f->w.engine, &options, &f->result, &f->w.err);
}

/* The events that hooks received so far. */
static inline const char *
events(fixture *f)
{
	rt_buf_add_byte(&f->h.events, '\0');
	return f->h.events.ptr;
}

static inline void
was_told(fixture *f, const char *part)
{
	if (strstr(events(f), part) == NULL)
		fail_msg("%s was not told: %s", part, f->h.events.ptr);
}

static inline void
not_told(fixture *f, const char *part)
{
	if (strstr(events(f), part) != NULL)
		fail_msg("%s was told: %s", part, f->h.events.ptr);
}

static inline void
asked(fixture *f, const char *part)
{
	if (f->s.asked == 0 || strstr(f->body.ptr, part) == NULL)
		fail_msg("%s was not asked: %s", part, f->s.asked == 0 ? "" : f->body.ptr);
}

static inline void
not_asked(fixture *f, const char *part)
{
	if (f->s.asked > 0 && strstr(f->body.ptr, part) != NULL)
		fail_msg("%s was asked: %s", part, f->body.ptr);
}

static inline void
remember(fixture *f)
{
	rt_buf_deinit(&f->before);
	world_export(&f->w, &rt_format_canonical, &f->before);
}

static inline void
is_as_remembered(fixture *f)
{
	rt_buf now;

	world_export(&f->w, &rt_format_canonical, &now);
	if (!rt_str_eq(rt_buf_str(&now), rt_buf_str(&f->before)))
		fail_msg("changed:\n%.*s\n%.*s", RT_STR_ARG(rt_buf_str(&f->before)),
			 RT_STR_ARG(rt_buf_str(&now)));
	rt_buf_deinit(&now);
}

/* The entry that the head is at. */
static inline void
head_is(fixture *f, const char *id)
{
	const rt_project *value = rt_engine_value(f->w.engine);
	rt_window window = {0, 0, {NULL, 0}};
	char part[160];
	rt_buf show;

	rt_buf_init(&show, rt_alloc_libc(), RT_BUF_UNLIMITED);
	assert_int_equal(rt_view_show(f->w.engine, value, (rt_place){0, 0}, &window, &show, NULL),
			 RT_OK);
	rt_object_unref(value);
	rt_buf_add_byte(&show, '\0');
	if (id == NULL)
		snprintf(part, sizeof(part), "\"head\":null");
	else
		snprintf(part, sizeof(part), "\"head\":\"%s\"", id);
	if (strstr(show.ptr, part) == NULL)
		fail_msg("the head is not at %s: %s", id == NULL ? "the beginning" : id, show.ptr);
	rt_buf_deinit(&show);
}

/* A → B → C → D → E → F with G → H as a sibling branch of D; the head is at F. */
static inline void
grow(fixture *f)
{
	world *w = &f->w;

	world_add(w, "A", "User", "text-A");
	world_add(w, "B", "AI", "text-B");
	world_add(w, "C", "User", "text-C");
	world_add(w, "D", "AI", "text-D");
	world_add(w, "E", "User", "text-E");
	world_add(w, "F", "AI", "text-F");
	world_apply(w, "{\"op\":\"head.move\",\"entry\":\"C\"}");
	world_add(w, "G", "User", "text-G");
	world_add(w, "H", "AI", "text-H");
	world_apply(w, "{\"op\":\"head.move\",\"entry\":\"F\"}");
	head_is(f, "F");
}

#endif
