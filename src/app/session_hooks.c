/* SPDX-License-Identifier: MIT
 *
 * A session's configuration and hooks. The engine fires them (ops/action.h). */
#define _POSIX_C_SOURCE 200809L

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "app/session.h"
#include "hooks/hooks.h"
#include "llm/models_host.h"

enum { FOLDER_ROOM = 4096 };

/* When config.toml was changed last; 0: there is none. */
static int64_t
config_changed_ns(const rt_alloc *alloc)
{
	struct stat info = {0};
	rt_scope s;
	rt_buf *path;
	int64_t ns = 0;

	rt_scope_init(&s, alloc);
	path = rt_scope_buf(&s);
	if (RT_TRY(&s, rt_config_path(path, &s.error)) == RT_OK && rt_ok(&s) &&
	    stat(rt_scope_str(&s, path).ptr, &info) == 0)
		ns = (int64_t)info.st_mtim.tv_sec * 1000000000 + info.st_mtim.tv_nsec;
	rt_scope_deinit(&s);
	return ns;
}

bool
rt_session_config_is_outdated(const rt_session *s)
{
	return s->config != NULL && config_changed_ns(s->alloc) != s->config_changed_ns;
}

rt_status
rt_session_config(rt_session *s, const rt_config **out, rt_error *err)
{
	rt_status st = RT_OK;

	if (s->config == NULL) {
		s->config_changed_ns = config_changed_ns(s->alloc);
		st = rt_config_load(s->alloc, rt_str_of(NULL), &s->config, err);
		for (size_t i = 0; st == RT_OK && i < s->config->warning_count; i++)
			rt_session_note(s, "config.toml: %.*s",
					RT_STR_ARG(s->config->warnings[i].words));
	}
	*out = s->config;
	return st == RT_OK ? st
			   : rt_session_hint(s, st, "Its format: retake help config");
}

/* The present definitions in config.toml. */
static rt_status
define(const rt_alloc *alloc, rt_buf *out, rt_error *err)
{
	rt_config *config = NULL;
	rt_status st = rt_config_load(alloc, rt_str_of(NULL), &config, err);

	if (st == RT_OK)
		rt_buf_add_str(out, config->hooks);
	rt_config_free(config);
	return st;
}

rt_status
rt_session_hooks_new(const rt_session *session, rt_str definitions, const char *project,
		     rt_hooks **out, rt_error *err)
{
	rt_hooks_options options = {.alloc = session->alloc,
				    .env = session->env,
				    .definitions = definitions,
				    .define = define,
				    .store = session->given.db,
				    .project = project != NULL ? project : session->given.project};
	char work[FOLDER_ROOM];
	rt_scope s;

	*out = NULL;
	rt_scope_init(&s, session->alloc);
	rt_buf *user = rt_scope_buf(&s), *state = rt_scope_buf(&s), *path = rt_scope_buf(&s);
	RT_TRY(&s, rt_host_config_dir(user, &s.error));
	rt_buf_add_c(user, "/hooks");
	RT_TRY(&s, rt_host_state_dir(state, &s.error));
	RT_TRY(&s, rt_config_path(path, &s.error));
	options.user_folder = rt_scope_str(&s, user).ptr;
	options.state_folder = rt_scope_str(&s, state).ptr;
	options.config_path = rt_scope_str(&s, path).ptr;
	options.work_folder = getcwd(work, sizeof(work));
	RT_TRY(&s, rt_hooks_open(&options, out, &s.error));
	return rt_scope_end(&s, err);
}

/* The history records which hook made a change, and that a command was typed in the terminal UI. */
rt_str
rt_session_by(rt_buf *room)
{
	const char *name = getenv(RT_HOOK_NAME_VARIABLE), *program = getenv(RT_SESSION_BY_VARIABLE);

	if (name == NULL || *name == 0 || rt_utf8_valid_size(rt_str_of(name)) != strlen(name))
		return program != NULL && strcmp(program, "tui") == 0 ? RT_STR("tui") : RT_STR("cli");
	rt_buf_add_f(room, "hook:%s", name);
	return room->status == RT_OK ? rt_buf_str(room) : RT_STR("cli");
}

/* ---- the gate ---- */

static bool
gate_wants(rt_hooks *hooks, const char *event)
{
	rt_hooks *inner = ((rt_session_gate *)hooks)->inner;

	return inner->ops->wants(inner, event);
}

static void
gate_renew(rt_hooks *hooks)
{
	rt_hooks_renew(((rt_session_gate *)hooks)->inner);
}

static rt_status
gate_fire(rt_hooks *hooks, const char *event, rt_str members, rt_str subject, rt_stop_fn stop,
	  void *stop_ctx, rt_hook_answer *out, rt_error *err)
{
	rt_hooks *inner = ((rt_session_gate *)hooks)->inner;
	rt_status st;

	rt_host_hold(true);
	st = inner->ops->fire(inner, event, members, subject, stop, stop_ctx, out, err);
	rt_host_hold(false);
	/* The signal may come after the hook has ended. */
	if (st == RT_OK && stop != NULL && stop(stop_ctx))
		st = rt_fail(err, RT_INTERRUPTED, "stopped");
	return st;
}

static void
gate_close(rt_hooks *hooks)
{
	rt_session_gate *gate = (rt_session_gate *)hooks;

	if (gate->inner != NULL)
		gate->inner->ops->close(gate->inner);
	gate->inner = NULL;
}

static rt_status
open_gate(rt_session *s, rt_str definitions, rt_error *err)
{
	static const rt_hooks_ops ops = {gate_close, gate_wants, gate_fire, gate_renew};
	rt_status st = rt_session_hooks_new(s, definitions, NULL, &s->gate.inner, err);

	s->gate.hooks.ops = &ops;
	if (st == RT_OK)
		s->hooks = &s->gate.hooks;
	return st;
}

/* ---- opening and closing ---- */

rt_status
rt_session_hooks_open(rt_session *s, rt_session_mode mode, rt_error *err)
{
	const rt_config *config = NULL;
	rt_error own;
	rt_status st;

	if (s->hooks_off)
		return RT_OK;
	if (err == NULL)
		err = &own;
	st = rt_session_config(s, &config, err);
	if (st == RT_OK)
		st = open_gate(s, config->hooks, err);
	if (st != RT_OK && st != RT_NOMEM && mode != RT_SESSION_CHANGE) {
		/* Reading is possible whatever the file contains; changing requires the configured
		 * hooks. */
		rt_session_note(s, "no hooks were run: %s", err->text);
		s->hint[0] = 0;
		return RT_OK;
	}
	if (st != RT_OK)
		return rt_session_hint(
			s, st,
			"Changes are refused until it can be read, because it may define hooks. "
			"Its format: retake help config");
	s->is_session = !s->is_scratch;
	if (s->is_session) {
		rt_action_session_open(s->engine, rt_session_hooks_begin(s));
		rt_session_hooks_end(s);
	}
	return RT_OK;
}

void
rt_session_hooks_close(rt_session *s)
{
	if (s->is_session && s->engine != NULL) {
		rt_action_session_close(s->engine, rt_session_hooks_begin(s));
		rt_session_hooks_end(s);
	}
	s->is_session = false;
	if (s->hooks != NULL)
		s->hooks->ops->close(s->hooks);
	s->hooks = NULL;
	rt_config_free(s->config);
	s->config = NULL;
}

static bool
is_interrupted(void *ctx)
{
	(void)ctx;
	return rt_host_interrupted();
}

const rt_apply_context *
rt_session_hooks_begin(rt_session *s)
{
	rt_buf_init(&s->hook_notes, s->alloc, RT_BUF_UNLIMITED);
	s->act = (rt_apply_context){
		.hooks = s->hooks, .stop = is_interrupted, .notes = &s->hook_notes};
	return &s->act;
}

void
rt_session_hooks_end(rt_session *s)
{
	rt_session_note_lines(s, rt_buf_str(&s->hook_notes));
	rt_buf_deinit(&s->hook_notes);
}
