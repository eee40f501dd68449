/* SPDX-License-Identifier: MIT
 *
 * Fires an event: runs each matching hook in turn, evaluates its response, and passes the event
 * with the changes so far to the next one.
 *
 *   exit 0, or a line   its response counts (response.h)
 *   exit 2              deny; standard error is the reason
 *   anything else       a warning, and the action continues; "required": RT_DENIED
 */
#define _GNU_SOURCE

#include <stdarg.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "base/clock_host.h"
#include "base/encode.h"
#include "hooks/hooks_impl.h"
#include "hooks/record_host.h"
#include "hooks/response.h"

enum { ID_SIZE = 16 /* digits of an event's id */, OUTCOME_ROOM = 160 };

/* One event. After a failure of the scope no further hook is run. */
typedef struct dispatch {
	rt_hook_registry *registry;
	rt_hook_set *set;
	const rt_hook_event *event;
	const rt_str *subject; /* NULL: every matcher matches */
	rt_stop_fn stop;
	void *stop_ctx;
	rt_hook_trace_fn trace; /* NULL: a real event */
	void *trace_ctx;
	rt_hook_answer *answer;
	rt_scope scope;
	char id[ID_SIZE + 1];
	rt_buf *members;         /* as changed by the hooks so far, without braces */
	rt_buf *input;           /* of the current hook: one line */
	rt_buf *output, *errors; /* its output */
} dispatch;

/* One run of a hook. */
typedef struct run {
	const rt_hook *hook;
	rt_hook_state *state;
	rt_process_result result;
	bool ran, answered;         /* answered: output is its response */
	char outcome[OUTCOME_ROOM]; /* in words; empty: not in PATH */
	char hex[RT_SHA256_HEX_ROOM];
} run;

/* ---- notes ---- */

static void
add_note(rt_buf *notes, const rt_hook *hook, const char *prefix, rt_str text)
{
	rt_buf_add_str(notes, hook->name);
	rt_buf_add_f(notes, ": %s", prefix);
	rt_hook_add_message(notes, text);
	rt_buf_add_byte(notes, '\n');
}

/* The hook was not run, or not understood: a warning, or RT_DENIED if it is required. errors: its
 * standard error, or empty. */
static void
fail_hook(dispatch *d, const rt_hook *hook, const char *what, rt_str errors)
{
	rt_buf *notes = &d->answer->notes;

	if (hook->required) {
		rt_scope_fail(&d->scope, RT_DENIED, "the hook %.*s is required: %s",
			      (int)rt_utf8_cut(hook->name, 120), hook->name.ptr, what);
		return;
	}
	rt_buf_add_str(notes, hook->name);
	rt_buf_add_f(notes, ": warning: %s", what);
	errors = rt_str_trim(errors);
	if (errors.size > 0) {
		rt_buf_add_c(notes, "; output: ");
		rt_hook_add_message(notes, errors);
	}
	rt_buf_add_byte(notes, '\n');
}

static void RT_PRINTF(2, 3)
set_outcome(run *r, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	(void)vsnprintf(r->outcome, sizeof(r->outcome), format, args);
	va_end(args);
}

static void
describe_outcome(run *r)
{
	const rt_process_result *end = &r->result;
	const char *name;

	switch (end->outcome) {
	case RT_PROCESS_EXITED: set_outcome(r, "it exited with status %d", end->code); break;
	case RT_PROCESS_SIGNALLED:
		name = sigabbrev_np(end->code);
		set_outcome(r, "it was terminated by signal %d (%s)", end->code, name ? name : "?");
		break;
	case RT_PROCESS_TIMED_OUT:
		set_outcome(r, "it exceeded the timeout of %lld ms and was stopped",
			    (long long)r->hook->timeout_ms);
		break;
	case RT_PROCESS_STOPPED: set_outcome(r, "it was stopped"); break;
	case RT_PROCESS_TOO_MUCH:
		set_outcome(r, "it wrote more than %d bytes%s and was stopped", RT_PROCESS_OUT_MAX,
			    end->code == 2 ? " to standard error" : "");
		break;
	case RT_PROCESS_NOT_STARTED:
		name = strerrordesc_np(end->code);
		set_outcome(r, "it could not be run: %s", name ? name : "?");
		break;
	case RT_PROCESS_LOST: set_outcome(r, "its exit status is unknown"); break;
	case RT_PROCESS_ANSWERED: set_outcome(r, "it answered"); break;
	}
}

/* ---- the event as JSON ---- */

static yyjson_val *
parse_members(rt_scope *s, rt_str members)
{
	rt_buf *text = rt_scope_buf(s);

	rt_buf_add_byte(text, '{');
	rt_buf_add_str(text, members);
	rt_buf_add_byte(text, '}');
	return rt_json_parse(s, rt_scope_str(s, text));
}

/* Members in our own formatting: the given ones may span lines. */
static void
set_members(dispatch *d, rt_str members)
{
	rt_str work_folder = d->registry->work_folder;
	rt_scope *s = &d->scope;
	yyjson_val *root = parse_members(s, members);

	if (!rt_ok(s)) {
		if (s->status != RT_NOMEM) {
			rt_error why = s->error;

			s->status = rt_fail(&s->error, s->status, "the members of %s: %s",
					    d->event->name, why.text);
		}
		return;
	}
	/* The engine has no notion of folders. */
	if (work_folder.size > 0 && rt_json_get(root, "cwd") == NULL) {
		rt_buf *folder = rt_scope_buf(s);

		rt_utf8_repair(folder, work_folder);
		rt_json_put_str(d->members, "cwd", rt_scope_str(s, folder));
	}
	for (rt_json_iter it = rt_json_members(root); rt_json_next(&it);) {
		if (rt_str_is(it.key, "v") || rt_str_is(it.key, "event") || rt_str_is(it.key, "id"))
			continue;
		rt_json_add_key_str(d->members, it.key);
		rt_json_add_value(d->members, it.value);
	}
	(void)rt_scope_str(s, d->members);
}

static void
make_input(dispatch *d, const rt_hook *hook)
{
	rt_buf *input = d->input;

	rt_buf_clear(input);
	rt_json_open(input, NULL, '{');
	rt_json_put_u64(input, "v", 1);
	rt_json_put_str(input, "event", hook->event_name);
	rt_json_put_c(input, "id", d->id);
	if (d->members->size > 0)
		rt_buf_add_byte(input, ',');
	rt_buf_add_str(input, rt_buf_str(d->members));
	rt_json_close(input, '}');
	rt_buf_add_byte(input, '\n');
	(void)rt_scope_str(&d->scope, input);
}

/* ---- running a program ---- */

/* Reserves a slot for a background program; RT_HOOKS_JOBS_MAX: stopped while all were in use. */
static size_t
reserve_job(dispatch *d)
{
	rt_hook_registry *registry = d->registry;

	for (;;) {
		size_t slot = 0;

		pthread_mutex_lock(&registry->lock);
		while (slot < RT_HOOKS_JOBS_MAX && registry->job_sets[slot] != NULL)
			slot++;
		if (slot < RT_HOOKS_JOBS_MAX) {
			registry->job_sets[slot] = d->set;
			atomic_fetch_add(&d->set->refs, 1);
		}
		pthread_mutex_unlock(&registry->lock);
		if (slot < RT_HOOKS_JOBS_MAX || (d->stop != NULL && d->stop(d->stop_ctx)))
			return slot;
		/* Too many at once: waits for one to end. */
		rt_hooks_reap(registry, &d->answer->notes);
		(void)usleep(RT_PROCESS_TICK_MS * 1000);
	}
}

static void
run_in_background(dispatch *d, run *r, const rt_process_program *program)
{
	rt_hook_registry *registry = d->registry;
	size_t slot = reserve_job(d);
	rt_process_job job;

	if (slot == RT_HOOKS_JOBS_MAX) {
		rt_scope_fail(&d->scope, RT_INTERRUPTED, "stopped");
		return;
	}
	rt_process_start_job(program, rt_buf_str(d->input), r->hook->timeout_ms, &job, &r->result);
	describe_outcome(r);
	pthread_mutex_lock(&registry->lock);
	registry->jobs[slot] = job;
	registry->job_hooks[slot] = r->hook;
	if (job.pid == 0)
		registry->job_sets[slot] = NULL;
	pthread_mutex_unlock(&registry->lock);
	if (job.pid == 0) {
		rt_hook_set_unref(d->set);
		fail_hook(d, r->hook, r->outcome, rt_str_of(NULL));
		return;
	}
	r->ran = true;
	set_outcome(r, "it is asynchronous");
}

/* Waits for other events that use the coprocess. RT_BUSY: no time is left; RT_INTERRUPTED. */
static rt_status
lock_state(dispatch *d, rt_hook_state *state, int64_t deadline)
{
	static const struct timespec tick = {0, RT_PROCESS_TICK_MS * 1000000 / 5};

	while (pthread_mutex_trylock(&state->lock) != 0) {
		if (d->stop != NULL && d->stop(d->stop_ctx))
			return RT_INTERRUPTED;
		if (rt_clock_ms() >= deadline)
			return RT_BUSY;
		(void)nanosleep(&tick, NULL);
	}
	return RT_OK;
}

/* True if the response has this event's id. */
static bool
has_id(dispatch *d)
{
	rt_scope s;
	bool ok;

	rt_scope_init(&s, d->registry->alloc);
	ok = rt_str_is(rt_json_str(rt_json_get(rt_json_parse(&s, rt_buf_str(d->output)), "id")),
		       d->id);
	rt_scope_deinit(&s);
	return ok;
}

/* The files from which the coprocess is started: the program, and files among its arguments. */
static void
watch_program(dispatch *d, rt_hook_state *state, const rt_process_program *program)
{
	rt_scope_reset(&state->scope);
	state->files = (rt_hook_snapshot){.items = NULL};
	if (program->path != NULL)
		rt_hook_snapshot_add(&state->files, &state->scope, program->path);
	for (size_t i = 1; program->argv[0] != NULL && program->argv[i] != NULL; i++)
		if (program->argv[i][0] == '/')
			rt_hook_snapshot_add(&state->files, &state->scope, program->argv[i]);
	RT_TRY(&d->scope, state->scope.status);
}

/* One request to the coprocess, which is started if necessary. Returns a violation of the protocol
 * in words, or NULL; the result is in r. */
static const char *
ask_coprocess(dispatch *d, run *r, const rt_process_program *program, int64_t deadline)
{
	rt_coprocess *process = r->state->process;
	bool early = false;

	if (!rt_coprocess_is_running(process))
		watch_program(d, r->state, program);
	if (!rt_ok(&d->scope))
		return NULL;
	rt_coprocess_start(process, program, &r->result);
	if (r->result.outcome == RT_PROCESS_NOT_STARTED)
		return NULL;
	r->ran = true;
	RT_TRY(&d->scope, rt_coprocess_request(process, rt_buf_str(d->input), deadline, d->stop,
					       d->stop_ctx, d->output, d->errors, &r->result,
					       &early));
	if (!rt_ok(&d->scope))
		return NULL;
	if (early)
		return "it wrote output before an event was sent";
	if (r->result.outcome == RT_PROCESS_EXITED || r->result.outcome == RT_PROCESS_SIGNALLED)
		return "it exited without an answer";
	if (r->result.outcome != RT_PROCESS_ANSWERED)
		return NULL;
	if (!has_id(d))
		return "its answer does not contain the id of the event";
	r->answered = true;
	return NULL;
}

/* A coprocess that violates the protocol is restarted once. */
static void
run_coprocess(dispatch *d, run *r, const rt_process_program *program)
{
	int64_t start = rt_clock_ms(), deadline = start + r->hook->timeout_ms;
	rt_status st = lock_state(d, r->state, deadline);
	rt_hook_state *state = r->state;
	const char *what = NULL;
	bool again = true;

	if (st != RT_OK) {
		r->result.outcome = st == RT_BUSY ? RT_PROCESS_TIMED_OUT : RT_PROCESS_STOPPED;
		describe_outcome(r);
		return;
	}
	if (state->process == NULL)
		state->process = rt_coprocess_new(d->registry->alloc);
	if (state->process == NULL)
		rt_scope_nomem(&d->scope);
	else if (rt_coprocess_is_running(state->process) && rt_hook_snapshot_differs(&state->files))
		rt_coprocess_kill(state->process); /* the program was replaced */
	for (int tries = 0; again && rt_ok(&d->scope); tries++) {
		what = ask_coprocess(d, r, program, deadline);
		if (what == NULL)
			break;
		if (rt_coprocess_is_running(state->process))
			rt_coprocess_kill(state->process);
		again = tries == 0 && rt_clock_ms() < deadline;
		rt_buf_add_str(&d->answer->notes, r->hook->name);
		rt_buf_add_f(&d->answer->notes, ": warning: %s%s\n", what,
			     again ? "; it will be restarted" : "");
	}
	pthread_mutex_unlock(&state->lock);
	r->result.ms = rt_clock_ms() - start;
	describe_outcome(r);
	if (what != NULL)
		set_outcome(r, "%s", what);
}

/* Run the program as the hook is configured. If the scope is still fine, r has the result. */
static void
run_program(dispatch *d, run *r, const rt_trust_program *file)
{
	const rt_hook_registry *registry = d->registry;
	const rt_hook *hook = r->hook;
	rt_scope *s = &d->scope;
	size_t count = registry->environment_count;
	char **argv = rt_scope_array(s, hook->arg_count + 1, sizeof(*argv));
	char **environment = rt_scope_array(s, count + 2, sizeof(*environment));
	rt_buf *found = rt_scope_buf(s), *name = rt_scope_buf(s);
	rt_process_program program = {.argv = argv,
				      .envp = environment,
				      .folder = registry->work_folder.ptr,
				      .fd = file->fd,
				      .is_script = file->is_script};

	rt_buf_add_c(name, RT_HOOK_NAME_VARIABLE "=");
	rt_buf_add_str(name, hook->name);
	(void)rt_scope_str(s, name);
	if (!rt_ok(s))
		return;
	for (size_t i = 0; i < hook->arg_count; i++)
		argv[i] = (char *)(uintptr_t)hook->args[i].ptr; /* execve does not write to them */
	memcpy(environment, registry->environment, count * sizeof(*environment));
	environment[count] = name->ptr;
	if (file->fd < 0) {
		rt_status st = RT_OK;

		program.path = argv[0];
		if (argv[0][0] != '/') {
			st = rt_process_find(argv[0], registry->path, found);
			program.path = found->ptr;
		}
		if (st == RT_NOT_FOUND) {
			fail_hook(d, hook, "there is no such program in PATH", rt_str_of(NULL));
			return;
		}
		(void)rt_scope_note(s, st);
	}
	if (!rt_ok(s))
		return;
	if (hook->is_async) {
		run_in_background(d, r, &program);
	} else if (hook->persistent) {
		run_coprocess(d, r, &program);
	} else {
		RT_TRY(s, rt_process_run(&program, rt_buf_str(d->input), hook->timeout_ms, d->stop,
					 d->stop_ctx, d->output, d->errors, &r->result));
		r->ran = rt_ok(s) && r->result.outcome != RT_PROCESS_NOT_STARTED;
		r->answered = r->ran && r->result.outcome == RT_PROCESS_EXITED &&
			      r->result.code == 0;
		describe_outcome(r);
	}
}

void
rt_hooks_reap(rt_hook_registry *registry, rt_buf *notes)
{
	rt_process_job jobs[RT_HOOKS_JOBS_MAX];

	/* A program past its deadline is ended, which may take seconds: not with the lock. */
	pthread_mutex_lock(&registry->lock);
	memcpy(jobs, registry->jobs, sizeof(jobs));
	memset(registry->jobs, 0, sizeof(registry->jobs));
	pthread_mutex_unlock(&registry->lock);
	for (size_t i = 0; i < RT_HOOKS_JOBS_MAX; i++) {
		rt_hook_set *unused = NULL;
		run r = {0};
		bool is_over;

		if (jobs[i].pid == 0)
			continue;
		r.hook = registry->job_hooks[i]; /* stays as long as the slot is in use */
		is_over = rt_process_poll_job(&jobs[i], &r.result);
		if (is_over && notes != NULL &&
		    (r.result.outcome != RT_PROCESS_EXITED || r.result.code != 0)) {
			describe_outcome(&r);
			add_note(notes, r.hook, "warning: it is asynchronous, and ",
				 rt_str_of(r.outcome));
		}
		pthread_mutex_lock(&registry->lock);
		if (is_over) {
			unused = registry->job_sets[i];
			registry->job_sets[i] = NULL;
		} else {
			registry->jobs[i] = jobs[i];
		}
		pthread_mutex_unlock(&registry->lock);
		rt_hook_set_unref(unused);
	}
}

/* ---- evaluating responses ---- */

static void
set_by(dispatch *d, const rt_hook *hook)
{
	rt_buf_clear(&d->answer->by);
	rt_buf_add_str(&d->answer->by, hook->name);
}

static void
deny(dispatch *d, const rt_hook *hook, rt_str reason, bool is_quiet)
{
	rt_hook_answer *answer = d->answer;

	if (!(d->event->traits & RT_HOOK_BEFORE)) {
		add_note(&answer->notes, hook, "it refused, but the change can no longer be stopped: ",
			 reason);
		return;
	}
	answer->decision = RT_HOOK_DENY;
	rt_buf_clear(&answer->reason);
	rt_hook_add_message(&answer->reason, reason);
	if (answer->reason.size == 0 && !is_quiet)
		rt_buf_add_c(&answer->reason, "it gave no reason");
	set_by(d, hook);
}

static void
apply_patch(dispatch *d, rt_scope *s, yyjson_val *patch)
{
	yyjson_val *before = parse_members(s, rt_buf_str(d->members));
	rt_buf *after = rt_scope_buf(s);
	rt_str merged;

	if (before == NULL)
		return;
	rt_hook_merge(after, before, patch);
	merged = rt_scope_str(s, after);
	rt_buf_clear(d->members);
	if (merged.size > 2)
		rt_buf_add(d->members, merged.ptr + 1, merged.size - 2);
	(void)rt_scope_str(s, d->members);
}

static void
evaluate_response(dispatch *d, const run *r)
{
	rt_hook_answer *answer = d->answer;
	rt_hook_response response;
	rt_scope s;

	rt_scope_init(&s, d->registry->alloc);
	rt_hook_response_read(&s, rt_buf_str(d->output), d->event, &response);
	if (!rt_ok(&s) && s.status != RT_NOMEM) {
		rt_buf *what = rt_scope_buf(&d->scope);

		rt_buf_add_c(what, "its answer is invalid: ");
		rt_utf8_repair(what, rt_str_of(s.error.text));
		if (rt_scope_str(&d->scope, what).ptr != NULL)
			fail_hook(d, r->hook, what->ptr, rt_buf_str(d->errors));
		rt_scope_deinit(&s);
		return;
	}
	if (rt_ok(&s) && response.note.size > 0)
		add_note(&answer->notes, r->hook, "", response.note);
	if (rt_ok(&s) && response.decision == RT_HOOK_DENY) {
		deny(d, r->hook, response.reason, response.is_quiet);
	} else if (rt_ok(&s)) {
		if (response.patch != NULL) {
			apply_patch(d, &s, response.patch);
			answer->decision = RT_HOOK_REPLACE;
			set_by(d, r->hook);
		}
		if (response.summary != NULL) {
			rt_buf_clear(&answer->summary);
			rt_json_add_value(&answer->summary, response.summary);
			set_by(d, r->hook);
		}
		if (response.reason.size > 0)
			add_note(&answer->notes, r->hook, "", response.reason);
	}
	(void)rt_scope_join(&d->scope, &s);
}

static void
evaluate(dispatch *d, const run *r)
{
	const rt_process_result *end = &r->result;

	if (r->hook->is_async)
		return; /* it has no response, and a failure to start was reported */
	if (r->answered)
		evaluate_response(d, r);
	else if (end->outcome == RT_PROCESS_STOPPED && d->stop != NULL && d->stop(d->stop_ctx))
		rt_scope_fail(&d->scope, RT_INTERRUPTED, "stopped");
	else if (end->outcome == RT_PROCESS_EXITED && end->code == 2 && !r->hook->persistent)
		deny(d, r->hook, rt_buf_str(d->errors), false);
	else
		fail_hook(d, r->hook, r->outcome, rt_buf_str(d->errors));
}

/* ---- one hook ---- */

static void
add_run(dispatch *d, const run *r)
{
	static const char *const words[] = {
		[RT_PROCESS_EXITED] = "exit",          [RT_PROCESS_SIGNALLED] = "signal",
		[RT_PROCESS_TIMED_OUT] = "timeout",    [RT_PROCESS_STOPPED] = "stopped",
		[RT_PROCESS_TOO_MUCH] = "too_much",    [RT_PROCESS_NOT_STARTED] = "not_started",
		[RT_PROCESS_LOST] = "lost",            [RT_PROCESS_ANSWERED] = "answered"};
	rt_buf *runs = &d->answer->runs;

	if (runs->size == 0)
		rt_json_open(runs, NULL, '[');
	rt_json_open(runs, NULL, '{');
	rt_json_put_str(runs, "hook", r->hook->name);
	rt_json_put_c(runs, "end",
		      r->hook->is_async && r->ran ? "async" : words[r->result.outcome]);
	rt_json_put_i64(runs, "code", r->result.code);
	rt_json_put_i64(runs, "ms", r->result.ms);
	if (r->hex[0] != 0)
		rt_json_put_c(runs, "sha256", r->hex);
	rt_json_close(runs, '}');
}

/* why_not: it was not run; or NULL. */
static void
trace(dispatch *d, const run *r, const char *why_not)
{
	rt_hook_trace t = {.name = r->hook->name, .ran = r->ran, .result = r->result};

	if (d->trace == NULL)
		return;
	t.outcome = rt_str_of(why_not != NULL ? why_not : r->outcome);
	if (why_not == NULL) {
		t.in = rt_buf_str(d->input);
		t.out = rt_buf_str(d->output);
		t.err = rt_buf_str(d->errors);
	}
	d->trace(d->trace_ctx, &t);
}

/* Why the hook must not be run, in words that live as long as s; NULL: it may, unless s has failed
 * with RT_NOMEM. */
static const char *
check_permission(dispatch *d, run *r, rt_scope *s, rt_trust_program *file)
{
	const rt_hook_registry *registry = d->registry;
	const rt_hook *hook = r->hook;
	const char *state;

	if (registry->depth >= RT_HOOK_DEPTH_MAX)
		return "it was not run: hooks are nested too deeply (RETAKE_HOOK_DEPTH)";
	if (hook->broken.size > 0)
		return hook->broken.ptr;
	if (hook->source != RT_HOOK_FROM_PROJECT)
		return NULL;
	state = rt_trust_state(s, registry->state_folder, registry->work_folder, hook->path, true,
			       file);
	if (state == NULL)
		return s->status == RT_NOMEM ? NULL : s->error.text;
	if (strcmp(state, "new") == 0)
		return "it was not run because it is not trusted. Review it, then: retake hooks "
		       "trust";
	if (strcmp(state, "changed") == 0)
		return "it was not run because it has changed since it was trusted. Review it, "
		       "then: retake hooks trust";
	memcpy(r->hex, file->hex, sizeof(r->hex));
	return NULL;
}

static void
run_hook(dispatch *d, const rt_hook *hook, rt_hook_state *state)
{
	rt_trust_program file = {.fd = -1};
	run r = {.hook = hook, .state = state};
	const char *why_not;
	rt_scope s;

	rt_buf_clear(d->output);
	rt_buf_clear(d->errors);
	rt_scope_init(&s, d->registry->alloc);
	why_not = check_permission(d, &r, &s, &file);
	if (why_not != NULL) {
		trace(d, &r, why_not);
		/* Reported once, not at every event. */
		if (hook->required || !atomic_exchange(&state->is_reported, true))
			fail_hook(d, hook, why_not, rt_str_of(NULL));
	} else if (!rt_ok(&s)) {
		rt_scope_nomem(&d->scope);
	} else if (!(hook->once && atomic_exchange(&state->has_run, true))) {
		make_input(d, hook);
		run_program(d, &r, &file);
		if (rt_ok(&d->scope)) {
			trace(d, &r,
			      r.outcome[0] == 0 ? "there is no such program in PATH" : NULL);
			add_run(d, &r);
			if (r.outcome[0] != 0)
				evaluate(d, &r);
		}
	}
	if (file.fd >= 0)
		close(file.fd);
	rt_scope_deinit(&s);
}

/* ---- one event ---- */

/* If hooks could not be reloaded, events that could be denied are. */
static void
begin(dispatch *d)
{
	rt_hook_registry *registry = d->registry;
	bool is_stale;
	rt_error why;

	d->set = rt_hook_set_current(registry);
	pthread_mutex_lock(&registry->lock);
	is_stale = registry->is_stale;
	why = registry->load_error;
	rt_buf_add_str(&d->answer->notes, rt_buf_str(&registry->warnings));
	rt_buf_clear(&registry->warnings);
	pthread_mutex_unlock(&registry->lock);
	if (is_stale && (d->event->traits & RT_HOOK_BEFORE) != 0)
		rt_scope_fail(&d->scope, RT_DENIED,
			      "%s. Until the hooks can be read, changes that a hook could deny are refused",
			      why.text);
}

static rt_str
sample(dispatch *d)
{
	rt_buf *text = rt_scope_buf(&d->scope);

	rt_buf_add_c(text, rt_hook_common_sample);
	if (d->event->sample[0] != 0)
		rt_buf_add_f(text, ",%s", d->event->sample);
	return rt_scope_str(&d->scope, text);
}

/* The answer's patch: the replaceable members, complete. */
static void
make_patch(dispatch *d)
{
	yyjson_val *root = parse_members(&d->scope, rt_buf_str(d->members));
	rt_buf *patch = &d->answer->patch;

	if (root == NULL)
		return;
	rt_buf_add_byte(patch, '{');
	for (rt_json_iter it = rt_json_members(root); rt_json_next(&it);) {
		if (rt_hook_event_replaces(d->event, it.key)) {
			rt_json_add_key_str(patch, it.key);
			rt_json_add_value(patch, it.value);
		}
	}
	rt_buf_add_byte(patch, '}');
}

static void
write_record(dispatch *d)
{
	rt_hook_registry *registry = d->registry;
	rt_error why;

	if (d->trace != NULL || registry->state_folder == NULL ||
	    rt_record_hooks(registry->alloc, registry->env, registry->state_folder, d->event->name,
			    d->id, d->answer, &why) == RT_OK ||
	    atomic_exchange(&registry->is_record_error_reported, true))
		return;
	rt_utf8_repair(&d->answer->notes, rt_str_of(why.text));
	rt_buf_add_byte(&d->answer->notes, '\n');
}

static bool
is_out_of_memory(const rt_hook_answer *answer)
{
	const rt_buf *const all[] = {&answer->reason, &answer->patch, &answer->summary,
				     &answer->by,     &answer->notes, &answer->runs};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (all[i]->status == RT_NOMEM)
			return true;
	return false;
}

/* members empty: the event's sample, of a test. */
static rt_status
fire(dispatch *d, const char *event, rt_str members, rt_error *err)
{
	rt_hook_registry *registry = d->registry;
	unsigned char random[ID_SIZE / 2];
	rt_scope *s = &d->scope;
	const rt_hook_list *list;

	d->event = rt_hook_event_find(rt_str_of(event));
	if (d->event == NULL)
		return rt_fail(err, RT_USAGE, "there is no event \"%.80s\"", event);
	rt_scope_init(s, registry->alloc);
	d->members = rt_scope_buf(s);
	d->input = rt_scope_buf(s);
	d->output = rt_scope_buf(s);
	d->errors = rt_scope_buf(s);
	rt_hook_answer_clear(d->answer);
	registry->env->random(registry->env->ctx, random, sizeof(random));
	rt_hex(random, sizeof(random), d->id);
	rt_hooks_reap(registry, &d->answer->notes);
	begin(d);
	list = &d->set->list;
	if (members.size == 0 && d->trace != NULL)
		members = sample(d);
	if (rt_ok(s) && list->count > 0)
		set_members(d, members);
	for (size_t i = 0; i < list->count; i++) {
		const rt_hook *hook = &list->items[i];

		if (!rt_ok(s) || d->answer->decision == RT_HOOK_DENY)
			break;
		if (hook->event != d->event || hook->off ||
		    (d->subject != NULL && !rt_hook_matches(hook->match, *d->subject)))
			continue;
		if (d->stop != NULL && d->stop(d->stop_ctx))
			rt_scope_fail(s, RT_INTERRUPTED, "stopped");
		else
			run_hook(d, hook, d->set->states[i]);
	}
	if (rt_ok(s) && d->answer->decision == RT_HOOK_REPLACE)
		make_patch(d);
	if (d->answer->runs.size > 0)
		rt_json_close(&d->answer->runs, ']');
	write_record(d);
	if (is_out_of_memory(d->answer))
		rt_scope_nomem(s);
	rt_hook_set_unref(d->set);
	return rt_scope_end(s, err);
}

rt_status
rt_hooks_fire(rt_hooks *hooks, const char *event, rt_str members, rt_str subject, rt_stop_fn stop,
	      void *stop_ctx, rt_hook_answer *out, rt_error *err)
{
	dispatch d = {.registry = (rt_hook_registry *)hooks,
		      .subject = &subject,
		      .stop = stop,
		      .stop_ctx = stop_ctx,
		      .answer = out};

	return fire(&d, event, members, err);
}

rt_status
rt_hooks_test(rt_hooks *hooks, const char *event, rt_str members, const rt_str *subject,
	      rt_stop_fn stop, void *stop_ctx, rt_hook_trace_fn fn, void *ctx, rt_hook_answer *out,
	      rt_error *err)
{
	dispatch d = {.registry = (rt_hook_registry *)hooks,
		      .subject = subject,
		      .stop = stop,
		      .stop_ctx = stop_ctx,
		      .trace = fn,
		      .trace_ctx = ctx,
		      .answer = out};

	return fire(&d, event, members, err);
}
