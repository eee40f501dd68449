/* SPDX-License-Identifier: MIT
 *
 * An event, fired: each hook in turn, its answer judged, the next one given what it made of
 * the event.
 *
 *   exit 0, or a line   its answer counts (answer.h)
 *   exit 2              deny; standard error is the reason
 *   anything else       a warning, and the action goes on; "required": RT_DENIED
 */
#define _GNU_SOURCE

#include <unistd.h>

#include "base/encode.h"
#include "hooks/hooks_fire_impl.h"
#include "hooks/record_host.h"
static rt_status
nomem(rt_error *err)
{
	return rt_fail(err, RT_NOMEM, "out of memory");
}

/* --- notes --- */

void
rt_hook_note(rt_buf *notes, const rt_hook *hook, const char *before, rt_str words)
{
	rt_buf_add_str(notes, rt_text_str(hook->name));
	rt_buf_add_f(notes, ": %s", before);
	rt_hook_add_words(notes, words);
	rt_buf_add_byte(notes, '\n');
}

rt_status
rt_hook_failed(rt_firing *f, const rt_hook *hook, const char *what, rt_str complaint)
{
	rt_buf *notes = &f->out->notes;

	if (hook->required)
		return rt_fail(f->err, RT_DENIED, "the hook %.*s is required: %s",
			       (int)rt_utf8_cut(rt_text_str(hook->name), 120), hook->name->ptr, what);
	rt_buf_add_str(notes, rt_text_str(hook->name));
	rt_buf_add_f(notes, ": warning: %s", what);
	complaint = rt_str_trim(complaint);
	if (complaint.size > 0) {
		rt_buf_add_c(notes, "; it said: ");
		rt_hook_add_words(notes, complaint);
	}
	rt_buf_add_byte(notes, '\n');
	return RT_OK;
}

/* --- what goes in --- */

static rt_status
make_line(rt_firing *f, const rt_hook *hook)
{
	rt_buf_clear(&f->line);
	rt_buf_add_c(&f->line, "{\"v\":1,\"event\":");
	rt_json_add_string(&f->line, rt_text_str(hook->event_name));
	rt_buf_add_f(&f->line, ",\"id\":\"%s\"", f->id);
	if (f->members.size > 0)
		rt_buf_add_byte(&f->line, ',');
	rt_buf_add_str(&f->line, rt_buf_str(&f->members));
	rt_buf_add_c(&f->line, "}\n");
	return f->line.status;
}

/* Members as JSON of ours: what was given may be spread over lines. */
static rt_status
take_members(rt_firing *f, rt_str members)
{
	rt_json_doc *doc = NULL;
	yyjson_val *key, *value;
	size_t i, count;
	rt_status st;
	rt_error why;
	rt_buf text;

	rt_buf_init(&text, f->all->alloc, RT_BUF_UNLIMITED);
	rt_buf_add_byte(&text, '{');
	rt_buf_add_str(&text, members);
	rt_buf_add_byte(&text, '}');
	st = text.status == RT_OK ? rt_json_read(f->all->alloc, rt_buf_str(&text), &doc, &why)
				  : RT_NOMEM;
	/* The engine knows of no folders. */
	if (st == RT_OK && f->all->work_folder.size > 0 &&
	    rt_json_get(rt_json_root(doc), "cwd") == NULL) {
		rt_buf folder;

		rt_buf_init(&folder, f->all->alloc, RT_BUF_UNLIMITED);
		rt_utf8_repair(&folder, rt_buf_str(&f->all->work_folder));
		rt_json_add_key(&f->members, "cwd");
		rt_json_add_string(&f->members, rt_buf_str(&folder));
		if (folder.status != RT_OK)
			st = RT_NOMEM;
		rt_buf_deinit(&folder);
	}
	if (st == RT_OK)
		yyjson_obj_foreach(rt_json_root(doc), i, count, key, value) {
			rt_str name = rt_json_str(key);

			if (rt_str_is(name, "v") || rt_str_is(name, "event") ||
			    rt_str_is(name, "id"))
				continue;
			if (f->members.size > 0)
				rt_buf_add_byte(&f->members, ',');
			rt_json_add_string(&f->members, name);
			rt_buf_add_byte(&f->members, ':');
			rt_json_add_value(&f->members, value);
		}
	rt_json_free(doc);
	rt_buf_deinit(&text);
	if (st == RT_NOMEM || f->members.status != RT_OK)
		return nomem(f->err);
	return st == RT_OK ? st : rt_fail(f->err, st, "the members of %s: %s", f->event->name, why.text);
}

/* --- what came out --- */

static void
name_it(rt_buf *by, const rt_hook *hook)
{
	rt_buf_clear(by);
	rt_buf_add_str(by, rt_text_str(hook->name));
}

static void
deny(rt_firing *f, const rt_hook *hook, rt_str reason)
{
	rt_hook_answer *out = f->out;

	if (!(f->event->traits & RT_HOOK_BEFORE)) {
		rt_hook_note(&out->notes, hook, "it says no, but nothing can be stopped any more: ",
			 reason);
		return;
	}
	out->decision = RT_HOOK_DENY;
	rt_buf_clear(&out->reason);
	rt_hook_add_words(&out->reason, reason);
	if (out->reason.size == 0)
		rt_buf_add_c(&out->reason, "it gave no reason");
	name_it(&out->by, hook);
}

/* The event, with the patch merged into it. */
static rt_status
merge(rt_firing *f, yyjson_val *patch)
{
	rt_json_doc *doc = NULL;
	rt_buf before, after;
	yyjson_val *key, *value;
	size_t i, count;
	rt_status st;

	rt_buf_init(&before, f->all->alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&after, f->all->alloc, RT_BUF_UNLIMITED);
	rt_buf_add_byte(&before, '{');
	rt_buf_add_str(&before, rt_buf_str(&f->members));
	rt_buf_add_byte(&before, '}');
	st = before.status == RT_OK ? rt_json_read(f->all->alloc, rt_buf_str(&before), &doc, NULL)
				    : RT_NOMEM;
	if (st == RT_OK) {
		rt_hook_merge(&after, rt_json_root(doc), patch);
		rt_buf_clear(&f->members);
		if (after.status == RT_OK)
			rt_buf_add(&f->members, after.ptr + 1, after.size - 2);
		yyjson_obj_foreach(patch, i, count, key, value)
			rt_buf_add(&f->changed, unsafe_yyjson_get_str(key),
				   unsafe_yyjson_get_len(key) + 1);
		if (after.status != RT_OK || f->members.status != RT_OK || f->changed.status != RT_OK)
			st = RT_NOMEM;
	}
	rt_json_free(doc);
	rt_buf_deinit(&before);
	rt_buf_deinit(&after);
	return st;
}

static rt_status
judge_answer(rt_firing *f, const rt_hook_run *r)
{
	rt_hook_answer *out = f->out;
	rt_hook_said said;
	rt_status st;
	rt_error why;
	rt_buf what;

	st = rt_hook_said_read(f->all->alloc, rt_buf_str(&f->said), f->event, &said, &why);
	if (st == RT_NOMEM)
		return st;
	if (st != RT_OK) {
		rt_buf_init(&what, f->all->alloc, 1024);
		rt_buf_add_c(&what, "its answer is wrong: ");
		rt_utf8_repair(&what, rt_str_of(why.text));
		st = what.status == RT_OK ? rt_hook_failed(f, r->hook, what.ptr, rt_buf_str(&f->complaint))
					  : RT_NOMEM;
		rt_buf_deinit(&what);
		return st;
	}
	if (said.note.size > 0)
		rt_hook_note(&out->notes, r->hook, "", said.note);
	if (said.decision == RT_HOOK_DENY) {
		deny(f, r->hook, said.reason);
	} else {
		if (said.patch != NULL) {
			st = merge(f, said.patch);
			out->decision = RT_HOOK_REPLACE;
			name_it(&out->by, r->hook);
		}
		if (said.summary != NULL) {
			rt_buf_clear(&out->summary);
			rt_json_add_value(&out->summary, said.summary);
			name_it(&out->by, r->hook);
		}
		if (said.reason.size > 0)
			rt_hook_note(&out->notes, r->hook, "", said.reason);
	}
	rt_json_free(said.doc);
	return st;
}

static rt_status
judge(rt_firing *f, const rt_hook_run *r)
{
	if (r->hook->is_async)
		return RT_OK; /* nobody waits, and what kept it from running was said */
	if (r->answered)
		return judge_answer(f, r);
	if (r->end.how == RT_PROCESS_STOPPED && f->stop != NULL && f->stop(f->stop_ctx))
		return rt_fail(f->err, RT_INTERRUPTED, "stopped");
	if (r->end.how == RT_PROCESS_EXITED && r->end.code == 2 && !r->hook->persistent) {
		deny(f, r->hook, rt_buf_str(&f->complaint));
		return RT_OK;
	}
	return rt_hook_failed(f, r->hook, r->ended, rt_buf_str(&f->complaint));
}

static void
add_run(rt_firing *f, const rt_hook_run *r)
{
	static const char *const words[] = {"exit",     "signal",      "timeout", "stopped",
					    "too_much", "not_started", "lost",    "answered"};
	rt_buf *runs = &f->out->runs;

	rt_buf_add_c(runs, runs->size == 0 ? "[" : ",");
	rt_buf_add_c(runs, "{\"hook\":");
	rt_json_add_string(runs, rt_text_str(r->hook->name));
	rt_buf_add_f(runs, ",\"end\":\"%s\",\"code\":%d,\"ms\":%lld",
		     r->hook->is_async && r->ran ? "async" : words[r->end.how], r->end.code,
		     (long long)r->end.ms);
	if (r->hex[0] != 0)
		rt_buf_add_f(runs, ",\"sha256\":\"%s\"", r->hex);
	rt_buf_add_byte(runs, '}');
}

static void
trace(rt_firing *f, const rt_hook_run *r, const char *instead)
{
	rt_hook_trace t;

	if (f->trace == NULL)
		return;
	memset(&t, 0, sizeof(t));
	t.name = rt_text_str(r->hook->name);
	t.ran = r->ran;
	t.end = r->end;
	t.ended = rt_str_of(instead != NULL ? instead : r->ended);
	if (instead == NULL) {
		t.in = rt_buf_str(&f->line);
		t.out = rt_buf_str(&f->said);
		t.err = rt_buf_str(&f->complaint);
	}
	f->trace(f->trace_ctx, &t);
}

/* --- one hook --- */

/* May it be run? *out_why: why not, in words; NULL: it may. */
static rt_status
may_run(rt_firing *f, rt_hook_run *r, rt_trust_file *file, const char **out_why, rt_error *why)
{
	const rt_hook *hook = r->hook;
	const char *state = NULL;
	rt_status st;

	*out_why = NULL;
	if (f->all->depth >= RT_HOOK_DEPTH_MAX)
		*out_why = "it is not run: there are hooks in hooks in hooks already "
			   "(RETAKE_HOOK_DEPTH)";
	else if (hook->broken != NULL)
		*out_why = hook->broken->ptr;
	if (*out_why != NULL || hook->source != RT_HOOK_FROM_PROJECT)
		return RT_OK;
	st = rt_hooks_check(f->all, hook, true, &state, file, why);
	if (st == RT_NOMEM)
		return st;
	if (st != RT_OK)
		*out_why = why->text;
	else if (strcmp(state, "new") == 0)
		*out_why = "it is not run: nobody has trusted it. Look at it, then: "
			   "retake hooks trust";
	else if (strcmp(state, "changed") == 0)
		*out_why = "it is not run: it has changed since it was trusted. Look at it, then: "
			   "retake hooks trust";
	else
		memcpy(r->hex, file->hex, sizeof(r->hex));
	return RT_OK;
}

static rt_status
ask(rt_firing *f, size_t index)
{
	rt_trust_file file;
	const char *why_not;
	rt_status st;
	rt_error why;
	rt_hook_run r;

	memset(&r, 0, sizeof(r));
	r.hook = &f->set->list.items[index];
	r.state = f->set->states[index];
	file.fd = -1;
	rt_buf_clear(&f->said);
	rt_buf_clear(&f->complaint);
	st = may_run(f, &r, &file, &why_not, &why);
	if (st == RT_OK && why_not != NULL) {
		trace(f, &r, why_not);
		/* Said once: it would be said at every event. */
		if (r.hook->required || !atomic_exchange(&r.state->told, true))
			st = rt_hook_failed(f, r.hook, why_not, rt_str_of(NULL));
	} else if (st == RT_OK && !(r.hook->once && atomic_exchange(&r.state->done, true))) {
		st = make_line(f, r.hook);
		if (st == RT_OK)
			st = rt_hook_run_program(f, &r, &file);
		if (st == RT_OK) {
			trace(f, &r, r.ended[0] == 0 ? "there is no such program in PATH" : NULL);
			add_run(f, &r);
			if (r.ended[0] != 0)
				st = judge(f, &r);
		}
	}
	if (file.fd >= 0)
		close(file.fd);
	return st;
}

/* What was run goes into the record; trying a hook does not. */
static void
keep_record(rt_firing *f)
{
	rt_hooks_all *all = f->all;
	rt_error why;

	if (f->trace != NULL || all->state_folder.size == 0 ||
	    rt_record_hooks(all->alloc, all->env, all->state_folder.ptr, f->event->name, f->id,
			    f->out, &why) == RT_OK ||
	    atomic_exchange(&all->record_told, true))
		return;
	rt_utf8_repair(&f->out->notes, rt_str_of(why.text));
	rt_buf_add_byte(&f->out->notes, '\n');
}

/* --- all of them --- */

static void
make_id(rt_firing *f)
{
	unsigned char raw[RT_HOOK_ID_SIZE / 2];

	f->all->env->random(f->all->env->ctx, raw, sizeof(raw));
	rt_hex(raw, sizeof(raw), f->id);
	f->id[RT_HOOK_ID_SIZE] = 0;
}

/* The members that were replaced, whole, as the patch of them all. */
static rt_status
put_patch(rt_firing *f)
{
	rt_buf *patch = &f->out->patch, text;
	rt_json_doc *doc = NULL;
	yyjson_val *key, *value;
	size_t i, count, at;
	rt_status st;

	if (f->changed.size == 0)
		return RT_OK;
	rt_buf_init(&text, f->all->alloc, RT_BUF_UNLIMITED);
	rt_buf_add_byte(&text, '{');
	rt_buf_add_str(&text, rt_buf_str(&f->members));
	rt_buf_add_byte(&text, '}');
	st = text.status == RT_OK ? rt_json_read(f->all->alloc, rt_buf_str(&text), &doc, NULL)
				  : RT_NOMEM;
	rt_buf_add_byte(patch, '{');
	if (st == RT_OK)
		yyjson_obj_foreach(rt_json_root(doc), i, count, key, value)
			for (at = 0; at < f->changed.size; at += strlen(f->changed.ptr + at) + 1)
				if (rt_str_is(rt_json_str(key), f->changed.ptr + at)) {
					rt_json_add_key_str(patch, rt_json_str(key));
					rt_json_add_value(patch, value);
					break;
				}
	rt_buf_add_byte(patch, '}');
	rt_json_free(doc);
	rt_buf_deinit(&text);
	return st;
}

static bool
short_of_memory(const rt_hook_answer *out)
{
	const rt_buf *const all[] = {&out->reason, &out->patch, &out->summary, &out->by,
				     &out->notes,  &out->runs};
	size_t i;

	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (all[i]->status == RT_NOMEM)
			return true;
	return false;
}

/* Whom to ask. Where they could not be read again, nothing happens that they might have denied. */
static rt_status
begin(rt_firing *f)
{
	rt_hooks_all *all = f->all;
	bool is_lost;
	rt_error why;

	f->set = rt_hooks_set(all);
	pthread_mutex_lock(&all->lock);
	is_lost = all->is_lost;
	why = all->why_lost;
	rt_buf_add_str(&f->out->notes, rt_buf_str(&all->unsaid));
	rt_buf_clear(&all->unsaid);
	pthread_mutex_unlock(&all->lock);
	if (is_lost && (f->event->traits & RT_HOOK_BEFORE) != 0)
		return rt_fail(f->err, RT_DENIED, "%s. Nothing is done that a hook may want to stop "
			       "until they can be read", why.text);
	return RT_OK;
}

static rt_status
fire_all(rt_firing *f, rt_str members)
{
	rt_hooks_all *all = f->all;
	rt_status st = RT_OK;
	size_t i;

	rt_buf_init(&f->members, all->alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&f->changed, all->alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&f->line, all->alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&f->said, all->alloc, RT_PROCESS_OUT_MAX);
	rt_buf_init(&f->complaint, all->alloc, RT_PROCESS_ERR_MAX);
	rt_hook_answer_clear(f->out);
	make_id(f);
	rt_hooks_reap(all, &f->out->notes);
	st = begin(f);
	if (st == RT_OK && f->set->list.count > 0)
		st = take_members(f, members);
	for (i = 0; st == RT_OK && i < f->set->list.count; i++) {
		const rt_hook *hook = &f->set->list.items[i];

		if (hook->event != f->event || hook->off ||
		    (!f->any_subject && !rt_hook_matches(rt_text_str(hook->match), f->subject)))
			continue;
		if (f->stop != NULL && f->stop(f->stop_ctx))
			st = rt_fail(f->err, RT_INTERRUPTED, "stopped");
		else
			st = ask(f, i);
		if (f->out->decision == RT_HOOK_DENY)
			break;
	}
	if (st == RT_OK && f->out->decision == RT_HOOK_REPLACE)
		st = put_patch(f);
	if (f->out->runs.size > 0)
		rt_buf_add_byte(&f->out->runs, ']');
	keep_record(f);
	if (st == RT_NOMEM || short_of_memory(f->out))
		st = nomem(f->err);
	rt_buf_deinit(&f->members);
	rt_buf_deinit(&f->changed);
	rt_buf_deinit(&f->line);
	rt_buf_deinit(&f->said);
	rt_buf_deinit(&f->complaint);
	rt_hook_set_unref(f->set);
	return st;
}

static rt_status
fire(rt_firing *f, rt_hooks *hooks, const char *event, rt_str members)
{
	f->all = (rt_hooks_all *)hooks;
	f->event = rt_hook_event_named(rt_str_of(event));
	if (f->event == NULL)
		return rt_fail(f->err, RT_USAGE, "there is no event \"%.80s\"", event);
	return fire_all(f, members);
}

rt_status
rt_hooks_fire(rt_hooks *hooks, const char *event, rt_str members, rt_str subject, rt_stop_fn stop,
	      void *stop_ctx, rt_hook_answer *out, rt_error *err)
{
	rt_firing f = {.subject = subject, .stop = stop, .stop_ctx = stop_ctx, .out = out, .err = err};

	return fire(&f, hooks, event, members);
}

rt_status
rt_hooks_test(rt_hooks *hooks, const char *event, rt_str members, const rt_str *subject,
	      rt_stop_fn stop, void *stop_ctx, rt_hook_trace_fn fn, void *ctx, rt_hook_answer *out,
	      rt_error *err)
{
	rt_firing f = {.any_subject = subject == NULL, .stop = stop, .stop_ctx = stop_ctx,
		    .trace = fn, .trace_ctx = ctx, .out = out, .err = err};
	const rt_hook_event *named = rt_hook_event_named(rt_str_of(event));
	rt_status st;
	rt_buf sample;

	if (subject != NULL)
		f.subject = *subject;
	rt_buf_init(&sample, ((rt_hooks_all *)hooks)->alloc, RT_BUF_UNLIMITED);
	if (members.size == 0 && named != NULL) {
		rt_buf_add_c(&sample, rt_hook_common_sample);
		if (named->sample[0] != 0)
			rt_buf_add_f(&sample, ",%s", named->sample);
		members = rt_buf_str(&sample);
	}
	st = sample.status == RT_OK ? fire(&f, hooks, event, members) : nomem(err);
	rt_buf_deinit(&sample);
	return st;
}
