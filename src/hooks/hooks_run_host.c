/* SPDX-License-Identifier: MIT
 *
 * One hook's program, run: waited for, not waited for, or one that stays. */
#define _GNU_SOURCE

#include <time.h>
#include <unistd.h>

#include "hooks/hooks_fire_impl.h"

void
rt_hook_put_ended(rt_hook_run *r)
{
	const rt_process_end *end = &r->end;
	rt_buf words;

	rt_buf_init(&words, rt_alloc_libc(), RT_HOOK_ENDED_ROOM - 1);
	switch (end->how) {
	case RT_PROCESS_EXITED: rt_buf_add_f(&words, "it exited with %d", end->code); break;
	case RT_PROCESS_SIGNALLED:
		rt_buf_add_f(&words, "it was ended by signal %d (%s)", end->code,
			     sigabbrev_np(end->code) == NULL ? "?" : sigabbrev_np(end->code));
		break;
	case RT_PROCESS_TIMED_OUT:
		rt_buf_add_f(&words, "it took longer than %lld ms and was ended",
			     (long long)r->hook->timeout_ms);
		break;
	case RT_PROCESS_STOPPED: rt_buf_add_c(&words, "it was stopped"); break;
	case RT_PROCESS_TOO_MUCH:
		rt_buf_add_f(&words, "it wrote more than %d bytes%s and was ended",
			     RT_PROCESS_OUT_MAX, end->code == 2 ? " to standard error" : "");
		break;
	case RT_PROCESS_NOT_STARTED:
		rt_buf_add_f(&words, "it could not be run: %s",
			     strerrordesc_np(end->code) == NULL ? "?" : strerrordesc_np(end->code));
		break;
	case RT_PROCESS_LOST: rt_buf_add_c(&words, "how it ended is not known"); break;
	case RT_PROCESS_ANSWERED: rt_buf_add_c(&words, "it answered"); break;
	}
	memset(r->ended, 0, sizeof(r->ended));
	if (words.size > 0)
		memcpy(r->ended, words.ptr, words.size);
	rt_buf_deinit(&words);
}

static rt_status
run_later(rt_firing *f, rt_hook_run *r, const rt_process_program *program)
{
	rt_hooks_all *all = f->all;
	rt_process_later later;
	rt_status st = RT_OK;
	size_t i;

	rt_process_start_later(program, rt_buf_str(&f->line), r->hook->timeout_ms, &later, &r->end);
	rt_hook_put_ended(r);
	if (later.pid == 0)
		return rt_hook_failed(f, r->hook, r->ended, rt_str_of(NULL));
	r->ran = true;
	memcpy(r->ended, "nobody waits for it", sizeof("nobody waits for it"));
	for (;;) {
		pthread_mutex_lock(&all->lock);
		for (i = 0; i < RT_HOOKS_LATER_MAX && all->later[i].pid != 0;)
			i++;
		if (i < RT_HOOKS_LATER_MAX) {
			all->later[i] = later;
			all->later_of[i] = (size_t)(r->hook - f->set->list.items);
			all->later_set[i] = f->set;
			atomic_fetch_add(&f->set->refs, 1);
		}
		pthread_mutex_unlock(&all->lock);
		if (i < RT_HOOKS_LATER_MAX)
			return st;
		/* Too many at once: this one is waited for after all. */
		rt_hooks_reap(all, &f->out->notes);
		(void)usleep(RT_PROCESS_TICK_MS * 1000);
	}
}

static rt_status
wait_for_lines(rt_firing *f, rt_hook_run *r, int64_t deadline)
{
	static const struct timespec tick = {0, RT_PROCESS_TICK_MS * 1000000 / 5};

	while (pthread_mutex_trylock(&r->state->lock) != 0) {
		if (f->stop != NULL && f->stop(f->stop_ctx))
			return RT_INTERRUPTED;
		if (rt_process_now_ms() >= deadline)
			return RT_BUSY;
		(void)nanosleep(&tick, NULL);
	}
	return RT_OK;
}

/* Is it a line with this event's id? */
static bool
has_id(rt_firing *f)
{
	rt_json_doc *doc = NULL;
	bool ok;

	if (rt_json_read(f->all->alloc, rt_buf_str(&f->said), &doc, NULL) != RT_OK)
		return false;
	ok = rt_str_is(rt_json_str(rt_json_get(rt_json_root(doc), "id")), f->id);
	rt_json_free(doc);
	return ok;
}

/* What it was started from: the program, and files among its arguments. */
static rt_status
watch_program(rt_hook_state *state, const rt_process_program *program)
{
	rt_status st = RT_OK;
	size_t i;

	rt_hook_watch_deinit(&state->program);
	if (program->path != NULL)
		st = rt_hook_watch_add(&state->program, program->path);
	for (i = 1; st == RT_OK && program->argv[0] != NULL && program->argv[i] != NULL; i++)
		if (program->argv[i][0] == '/')
			st = rt_hook_watch_add(&state->program, program->argv[i]);
	return st;
}

/* Ask one that stays, starting it anew once where it does not answer as it should. */
static rt_status
run_lines(rt_firing *f, rt_hook_run *r, const rt_process_program *program)
{
	int64_t start = rt_process_now_ms(), deadline = start + r->hook->timeout_ms;
	rt_status st = wait_for_lines(f, r, deadline);
	rt_hook_state *state = r->state;
	const char *what = NULL;
	bool early = false, fresh, again;
	int tries;

	if (st != RT_OK) {
		r->end.how = st == RT_BUSY ? RT_PROCESS_TIMED_OUT : RT_PROCESS_STOPPED;
		rt_hook_put_ended(r);
		return RT_OK;
	}
	if (state->lines == NULL)
		state->lines = rt_lines_new(f->all->alloc);
	if (state->lines == NULL)
		st = RT_NOMEM;
	/* One that was changed since is another one. */
	if (st == RT_OK && rt_lines_is_running(state->lines) &&
	    rt_hook_watch_differs(&state->program))
		rt_lines_kill(state->lines);
	for (tries = 0; st == RT_OK && tries < 2; tries++) {
		fresh = !rt_lines_is_running(state->lines);
		if (fresh)
			st = watch_program(state, program);
		if (st != RT_OK)
			break;
		rt_lines_start(state->lines, program, &r->end);
		if (r->end.how == RT_PROCESS_NOT_STARTED)
			break;
		r->ran = true;
		st = rt_lines_ask(state->lines, rt_buf_str(&f->line), deadline, f->stop, f->stop_ctx,
				  &f->said, &f->complaint, &r->end, &early);
		if (st != RT_OK)
			break;
		what = NULL;
		if (early)
			what = "it wrote without being asked";
		else if (r->end.how == RT_PROCESS_ANSWERED && !has_id(f))
			what = "its answer does not have the event's id";
		else if (r->end.how == RT_PROCESS_EXITED || r->end.how == RT_PROCESS_SIGNALLED)
			what = "it ended without an answer";
		r->answered = r->end.how == RT_PROCESS_ANSWERED && what == NULL;
		if (what == NULL)
			break;
		if (rt_lines_is_running(state->lines))
			rt_lines_kill(state->lines);
		/* A time that is up, too much, or a person's stop: no second try. */
		again = tries == 0 && rt_process_now_ms() < deadline;
		rt_buf_add_str(&f->out->notes, rt_text_str(r->hook->name));
		rt_buf_add_f(&f->out->notes, ": warning: %s%s\n", what,
			     again ? (fresh ? "; it is started again" : "; it is started anew") : "");
		if (!again)
			break;
	}
	pthread_mutex_unlock(&state->lock);
	r->end.ms = rt_process_now_ms() - start;
	rt_hook_put_ended(r);
	if (what != NULL && !r->answered) {
		rt_buf words;

		rt_buf_init(&words, rt_alloc_libc(), RT_HOOK_ENDED_ROOM - 1);
		rt_buf_add_c(&words, what);
		memset(r->ended, 0, sizeof(r->ended));
		memcpy(r->ended, words.ptr == NULL ? "" : words.ptr, words.size);
		rt_buf_deinit(&words);
	}
	return st;
}

/* The environment of all hooks, and this one's name. *out is to be freed; *name to be ended. */
static rt_status
make_environment(const rt_hooks_all *all, const rt_hook *hook, rt_buf *name, char ***out)
{
	char **list = rt_new_array(all->alloc, all->environment_count + 2, sizeof(*list));

	rt_buf_add_c(name, RT_HOOK_NAME_VARIABLE "=");
	rt_buf_add_str(name, rt_text_str(hook->name));
	rt_buf_add_byte(name, '\0');
	if (list == NULL || name->status != RT_OK) {
		rt_free(all->alloc, list);
		return RT_NOMEM;
	}
	memcpy(list, all->envp, all->environment_count * sizeof(*list));
	list[all->environment_count] = name->ptr;
	list[all->environment_count + 1] = NULL;
	*out = list;
	return RT_OK;
}

rt_status
rt_hook_run_program(rt_firing *f, rt_hook_run *r, const rt_trust_file *file)
{
	const rt_hook *hook = r->hook;
	char *argv[RT_HOOK_WORDS_COUNT_MAX + 1];
	rt_process_program program;
	char **environment = NULL;
	rt_status st;
	rt_buf found, name;
	size_t i;

	memset(&program, 0, sizeof(program));
	rt_buf_init(&found, f->all->alloc, 65536);
	rt_buf_init(&name, f->all->alloc, 65536);
	st = make_environment(f->all, hook, &name, &environment);
	for (i = 0; i < hook->word_count; i++)
		argv[i] = (char *)(uintptr_t)hook->words[i]->ptr; /* execve writes nothing */
	argv[i] = NULL;
	program.argv = argv;
	program.envp = environment;
	program.folder = f->all->work_folder.size > 0 ? f->all->work_folder.ptr : NULL;
	program.fd = -1;
	if (file->fd >= 0) {
		program.fd = file->fd;
		program.is_script = file->is_script;
	} else {
		program.path = argv[0];
		if (st == RT_OK && argv[0][0] != '/') {
			st = rt_process_find(argv[0], f->all->search.ptr, &found);
			program.path = found.ptr;
		}
	}
	if (st == RT_NOT_FOUND)
		st = rt_hook_failed(f, hook, "there is no such program in PATH", rt_str_of(NULL));
	else if (st == RT_OK && hook->is_async)
		st = run_later(f, r, &program);
	else if (st == RT_OK && hook->persistent)
		st = run_lines(f, r, &program);
	else if (st == RT_OK) {
		st = rt_process_run(&program, rt_buf_str(&f->line), hook->timeout_ms, f->stop,
				    f->stop_ctx, &f->said, &f->complaint, &r->end);
		r->ran = st == RT_OK && r->end.how != RT_PROCESS_NOT_STARTED;
		r->answered = r->ran && r->end.how == RT_PROCESS_EXITED && r->end.code == 0;
		rt_hook_put_ended(r);
	}
	rt_buf_deinit(&found);
	rt_buf_deinit(&name);
	rt_free(f->all->alloc, environment);
	return st;
}

void
rt_hooks_reap(rt_hooks_all *all, rt_buf *notes)
{
	rt_hook_set *over[RT_HOOKS_LATER_MAX];
	size_t i, count = 0;

	pthread_mutex_lock(&all->lock);
	for (i = 0; i < RT_HOOKS_LATER_MAX; i++) {
		rt_hook_run r;

		if (all->later[i].pid == 0)
			continue;
		memset(&r, 0, sizeof(r));
		r.hook = &all->later_set[i]->list.items[all->later_of[i]];
		if (!rt_process_is_over(&all->later[i], &r.end))
			continue;
		over[count++] = all->later_set[i];
		all->later_set[i] = NULL;
		if (notes == NULL || (r.end.how == RT_PROCESS_EXITED && r.end.code == 0))
			continue;
		rt_hook_put_ended(&r);
		rt_hook_note(notes, r.hook, "warning: nobody waited for it, and ", rt_str_of(r.ended));
	}
	pthread_mutex_unlock(&all->lock);
	while (count > 0)
		rt_hook_set_unref(over[--count]);
}
