/* SPDX-License-Identifier: MIT
 *
 * Hooks for one run of the program: opened with the session, asked and told by the engine
 * (ops/action.h), what they want people to know said on standard error. */
#define _POSIX_C_SOURCE 200809L

#include <stdlib.h>
#include <unistd.h>

#include "cli/cli.h"
#include "hooks/hooks.h"
#include "llm/models_host.h"

enum { FOLDER_ROOM = 4096 };

rt_status
rt_cli_config(rt_cli *cli, const rt_config **out)
{
	rt_status st = RT_OK;

	if (cli->config == NULL)
		st = rt_config_load(cli->alloc, rt_str_of(NULL), &cli->config, &cli->error);
	*out = cli->config;
	return st == RT_OK ? st : rt_cli_hint(cli, st, "What may stand in it: retake help config");
}

/* The definitions of config.toml as it is now. */
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
rt_cli_hooks_open(rt_cli *cli, rt_str definitions, const char *project, rt_hooks **out,
		  rt_error *err)
{
	rt_hooks_options options = {
		.alloc = cli->alloc, .env = cli->env, .definitions = definitions};
	char work[FOLDER_ROOM];
	rt_buf user, state, path;
	rt_status st;

	*out = NULL;
	rt_buf_init(&path, cli->alloc, FOLDER_ROOM);
	rt_buf_init(&user, cli->alloc, FOLDER_ROOM);
	rt_buf_init(&state, cli->alloc, FOLDER_ROOM);
	st = rt_host_config_dir(&user, err);
	rt_buf_add_c(&user, "/hooks");
	if (st == RT_OK)
		st = rt_host_state_dir(&state, err);
	if (st == RT_OK && (user.status != RT_OK || state.status != RT_OK))
		st = rt_fail(err, RT_NOMEM, "out of memory");
	options.user_folder = user.ptr;
	options.state_folder = state.ptr;
	options.work_folder = getcwd(work, sizeof(work));
	options.store = rt_cli_flag_value(cli, "db");
	options.project = project != NULL ? project : rt_cli_flag_value(cli, "project");
	if (st == RT_OK)
		st = rt_config_path(&path, err);
	options.config_path = path.ptr;
	options.define = define;
	if (st == RT_OK)
		st = rt_hooks_open(&options, out, err);
	rt_buf_deinit(&path);
	rt_buf_deinit(&user);
	rt_buf_deinit(&state);
	return st;
}

/* What of the work of others is a hook's: history says which. */
rt_str
rt_cli_by(rt_buf *room)
{
	const char *name = getenv(RT_HOOK_NAME_VARIABLE);

	if (name == NULL || *name == 0 || rt_utf8_valid_size(rt_str_of(name)) != strlen(name))
		return RT_STR("cli");
	rt_buf_add_f(room, "hook:%s", name);
	return room->status == RT_OK ? rt_buf_str(room) : RT_STR("cli");
}

/* ---- the gate ---- */

static bool
gate_wants(rt_hooks *hooks, const char *event)
{
	rt_hooks *inner = ((rt_cli_gate *)hooks)->inner;

	return inner->ops->wants(inner, event);
}

static void
gate_renew(rt_hooks *hooks)
{
	rt_hooks_renew(((rt_cli_gate *)hooks)->inner);
}

static rt_status
gate_fire(rt_hooks *hooks, const char *event, rt_str members, rt_str subject, rt_stop_fn stop,
	  void *stop_ctx, rt_hook_answer *out, rt_error *err)
{
	rt_hooks *inner = ((rt_cli_gate *)hooks)->inner;
	rt_status st;

	rt_host_hold(true);
	st = inner->ops->fire(inner, event, members, subject, stop, stop_ctx, out, err);
	rt_host_hold(false);
	/* it came when the hook had ended already */
	if (st == RT_OK && stop != NULL && stop(stop_ctx))
		st = rt_fail(err, RT_INTERRUPTED, "stopped");
	return st;
}

static void
gate_close(rt_hooks *hooks)
{
	rt_cli_gate *gate = (rt_cli_gate *)hooks;

	if (gate->inner != NULL)
		gate->inner->ops->close(gate->inner);
	gate->inner = NULL;
}

static rt_status
open_gate(rt_cli *cli, rt_str definitions)
{
	static const rt_hooks_ops ops = {gate_close, gate_wants, gate_fire, gate_renew};
	rt_status st = rt_cli_hooks_open(cli, definitions, NULL, &cli->gate.inner, &cli->error);

	cli->gate.hooks.ops = &ops;
	if (st == RT_OK)
		cli->hooks = &cli->gate.hooks;
	return st;
}

/* ---- hearing ---- */

rt_status
rt_cli_hear(rt_cli *cli, rt_cli_mode mode)
{
	const rt_config *config = NULL;
	rt_status st;

	if (cli->hooks_off)
		return RT_OK;
	st = rt_cli_config(cli, &config);
	if (st == RT_OK)
		st = open_gate(cli, config->hooks);
	if (st != RT_OK && st != RT_NOMEM && mode != RT_CLI_CHANGE) {
		/* Looking is possible whatever stands in a file; changing without somebody who
		 * wants to be asked is not. */
		rt_cli_note(cli, "no hooks are told: %s", cli->error.text);
		cli->hint[0] = 0;
		return RT_OK;
	}
	if (st != RT_OK)
		return rt_cli_hint(cli, st,
				   "Nothing is changed until it can be read: hooks that want to "
				   "be asked may stand there. What may: retake help config");
	cli->is_session = !cli->is_scratch;
	if (cli->is_session) {
		rt_action_session_open(cli->engine, rt_cli_hooks_begin(cli));
		rt_cli_hooks_end(cli);
	}
	return RT_OK;
}

static bool
is_interrupted(void *ctx)
{
	(void)ctx;
	return rt_host_interrupted();
}

const rt_apply_context *
rt_cli_hooks_begin(rt_cli *cli)
{
	rt_buf_init(&cli->hook_notes, cli->alloc, RT_BUF_UNLIMITED);
	cli->act = (rt_apply_context){
		.hooks = cli->hooks, .stop = is_interrupted, .notes = &cli->hook_notes};
	return &cli->act;
}

void
rt_cli_say_lines(rt_cli *cli, rt_str lines)
{
	while (lines.size > 0) {
		size_t end = rt_str_find(lines, RT_STR("\n"), 0);

		if (end == SIZE_MAX)
			end = lines.size;
		if (end > 0)
			rt_cli_note(cli, "%.*s", (int)end, lines.ptr);
		end += end < lines.size;
		lines.ptr += end;
		lines.size -= end;
	}
}

void
rt_cli_hooks_end(rt_cli *cli)
{
	rt_cli_say_lines(cli, rt_buf_str(&cli->hook_notes));
	rt_buf_deinit(&cli->hook_notes);
}

void
rt_cli_close_hooks(rt_cli *cli)
{
	if (cli->is_session && cli->engine != NULL) {
		rt_term_flush(&cli->out); /* nobody waits for what is there */
		rt_action_session_close(cli->engine, rt_cli_hooks_begin(cli));
		rt_cli_hooks_end(cli);
	}
	cli->is_session = false;
	if (cli->hooks != NULL)
		cli->hooks->ops->close(cli->hooks);
	cli->hooks = NULL;
	rt_config_free(cli->config);
	cli->config = NULL;
}
