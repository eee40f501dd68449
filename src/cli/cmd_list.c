/* SPDX-License-Identifier: MIT
 *
 * ls, projects, status: what there is, and where one is. */
#include "cli/cli.h"
#include "app/screen.h"
#include "view/view.h"

#include <stdio.h>
#include <string.h>

static uint64_t
number_of(yyjson_val *object, const char *key)
{
	uint64_t number = 0;

	(void)rt_json_u64(rt_json_get(object, key), &number);
	return number;
}

static void
add_moment(rt_buf *out, yyjson_val *value)
{
	rt_moment at;

	if (rt_moment_parse(rt_json_str(value), &at))
		rt_host_add_local_time(out, at.us, false);
}

/* --- ls --- */

static bool
matches(yyjson_val *row, const char *query)
{
	rt_str name = rt_json_str(rt_json_get(row, "name"));
	size_t i, size = query == NULL ? 0 : strlen(query);

	for (i = 0; i + size <= name.size; i++)
		if (rt_str_eq_nocase(rt_str_at(name.ptr + i, size), rt_str_at(query, size)))
			return true;
	return size == 0;
}

static void
list_row(rt_cli *cli, yyjson_val *row, size_t width)
{
	rt_term *out = &cli->out;
	bool active = yyjson_is_true(rt_json_get(row, "active"));
	uint64_t entries = number_of(row, "entries"), takes = number_of(row, "takes");
	rt_str name = rt_json_str(rt_json_get(row, "name"));
	size_t used = rt_screen_width(name);
	rt_buf when;

	rt_buf_init(&when, cli->alloc, 256);
	rt_term_c(out, active ? "* " : "  ");
	rt_term_style(out, active ? RT_STYLE_BOLD : RT_STYLE_NONE);
	rt_term_line(out, name);
	rt_term_style(out, RT_STYLE_NONE);
	rt_term_spaces(out, used < width ? width - used : 0);
	rt_term_f(out, "  %4llu entr%s", (unsigned long long)entries, entries == 1 ? "y  " : "ies");
	rt_term_f(out, "  %2llu take%s", (unsigned long long)takes, RT_CLI_S(takes));
	add_moment(&when, rt_json_get(row, "updated"));
	if (takes == 1 && (when.size > 0 || rt_cli_has(cli, "all")))
		rt_term_spaces(out, 1);
	rt_term_style(out, RT_STYLE_DIM);
	if (when.size > 0)
		rt_term_f(out, "  %s", when.ptr);
	if (rt_cli_has(cli, "all")) {
		rt_term_c(out, "  ");
		rt_term_line(out, rt_json_str(rt_json_get(row, "id")));
		if (yyjson_is_false(rt_json_get(row, "present")))
			rt_term_c(out, "  (deleted)");
	}
	rt_term_style(out, RT_STYLE_NONE);
	rt_term_c(out, "\n");
	rt_buf_deinit(&when);
}

static void
list_rows(rt_cli *cli, yyjson_val *rows, const char *query)
{
	size_t i, count, width = 0, shown = 0;
	yyjson_val *row;

	yyjson_arr_foreach(rows, i, count, row) {
		size_t used = rt_screen_width(rt_json_str(rt_json_get(row, "name")));

		if (matches(row, query) && used > width)
			width = used < 40 ? used : 40;
	}
	yyjson_arr_foreach(rows, i, count, row) {
		if (!matches(row, query))
			continue;
		list_row(cli, row, width);
		shown++;
	}
	if (shown == 0)
		rt_term_f(&cli->out, "No discussion is called \"%s\".\n",
			  query == NULL ? "" : query);
}

static rt_status
run_ls(rt_cli *cli)
{
	const char *query = rt_cli_word(cli, 0);
	rt_old_view view;
	yyjson_val *row;
	size_t i, count;
	rt_buf json;
	rt_status st = rt_old_open(cli, RT_SESSION_LOOK);

	if (st != RT_OK)
		return st;
	rt_old_view_init(cli, &view);
	rt_buf_init(&json, cli->alloc, RT_BUF_UNLIMITED);
	st = rt_old_view_read(cli, &view,
			      rt_view_discussions(cli->session.engine, cli->session.value,
						  rt_cli_has(cli, "all"), &view.buf, &cli->error));
	if (st == RT_OK && cli->json) {
		rt_buf_add_byte(&json, '[');
		yyjson_arr_foreach(view.root, i, count, row) {
			if (!matches(row, query))
				continue;
			rt_json_add_comma(&json);
			rt_json_add_value(&json, row);
		}
		rt_buf_add_byte(&json, ']');
		st = rt_old_buf(cli, &json);
		if (st == RT_OK)
			st = rt_old_print_json(cli, rt_buf_str(&json));
	} else if (st == RT_OK) {
		list_rows(cli, view.root, query);
	}
	rt_buf_deinit(&json);
	rt_old_view_deinit(&view);
	return st;
}

static const rt_flag ls_flags[] = {
	{"all", 'a', NULL, RT_ARG_TEXT, "also those that were deleted or left by a reset"},
	{NULL, 0, NULL, RT_ARG_TEXT, NULL},
};

const rt_command rt_cli_ls = {
	.name = "ls",
	.alias = "list",
	.group = RT_COMMANDS_CATALOGUE,
	.traits = RT_COMMAND_AT_OP,
	.max_words = 1,
	.usage = "[QUERY] [--all]",
	.summary = "list the discussions",
	.about = "With QUERY, those with it in their name. The active one has a star.",
	.examples = "retake ls\nretake ls --json",
	.flags = ls_flags,
	.kinds = {RT_ARG_DISC},
	.run_status = run_ls,
};

/* --- projects --- */

typedef struct projects {
	rt_cli *cli;
	rt_buf json;
	uint64_t current;
} projects;

static bool
list_project(void *ctx, const rt_store_row *row)
{
	projects *p = ctx;

	rt_json_add_comma(&p->json);
	rt_buf_add_c(&p->json, "{\"name\":");
	rt_json_add_string(&p->json, row->data);
	rt_buf_add_f(&p->json, ",\"active\":%s}", row->number == p->current ? "true" : "false");
	if (!p->cli->json) {
		rt_term_c(&p->cli->out, row->number == p->current ? "* " : "  ");
		rt_term_line(&p->cli->out, row->data);
		rt_term_c(&p->cli->out, "\n");
	}
	return true;
}

static rt_status
run_projects(rt_cli *cli)
{
	projects p = {.cli = cli};
	rt_status st = rt_old_open_store(cli, RT_SESSION_LOOK);

	if (st == RT_NOT_FOUND) {
		cli->session.hint[0] = 0;
		return rt_old_hint(cli, st, "The first change makes it: retake add TEXT");
	}
	if (st != RT_OK)
		return st;
	st = rt_old_open(cli, RT_SESSION_LOOK);
	if (st == RT_OK)
		p.current = rt_engine_project_number(cli->session.engine);
	/* The project at hand need not be there for the others to be listed, nor be sound. */
	if (st != RT_OK && st != RT_NOT_FOUND && st != RT_CORRUPT && st != RT_TOO_NEW)
		return st;
	cli->session.hint[0] = 0;
	rt_buf_init(&p.json, cli->alloc, RT_BUF_UNLIMITED);
	rt_buf_add_byte(&p.json, '[');
	st = cli->session.store->ops->read(cli->session.store, rt_rows_all(RT_STORE_PROJECTS, 0), list_project, &p,
				   &cli->error);
	rt_buf_add_byte(&p.json, ']');
	if (st == RT_OK && cli->json)
		st = rt_old_print_json(cli, rt_buf_str(&p.json));
	rt_buf_deinit(&p.json);
	return st;
}

const rt_command rt_cli_projects = {
	.name = "projects",
	.group = RT_COMMANDS_CATALOGUE,
	.usage = "",
	.summary = "list the projects in the store",
	.about =
		"A project has its own discussions, settings and history. Choose one with -p NAME; "
		"the first change in a new one makes it.",
	.examples = "retake projects\nretake -p thesis add \"Where to begin?\"",
	.run_status = run_projects,
};

/* --- status --- */

static void
status_json(rt_cli *cli, const rt_disc *disc, const rt_take *take, rt_str head, rt_buf *buf)
{
	rt_buf_add_c(buf, "{\"store\":");
	rt_json_add_string(buf, rt_str_of(cli->session.store->place));
	rt_json_add_key(buf, "exists");
	rt_buf_add_c(buf, cli->session.is_scratch ? "false" : "true");
	rt_json_add_key(buf, "project");
	rt_json_add_string(buf, rt_session_project(&cli->session));
	rt_json_add_key(buf, "discussion");
	rt_json_add_string(buf, rt_cell_name(rt_project_cell(cli->session.value, disc->number)));
	rt_json_add_key(buf, "take");
	rt_json_add_string(buf, rt_text_str(take->name));
	rt_json_add_key(buf, "takes");
	rt_buf_add_u64(buf, rt_disc_present_count(disc));
	rt_json_add_key(buf, "entries");
	rt_buf_add_u64(buf, rt_seq_count(take->slots));
	rt_json_add_key(buf, "head");
	if (head.size > 0)
		rt_json_add_string(buf, head);
	else
		rt_buf_add_c(buf, "null");
	rt_json_add_key(buf, "step");
	rt_buf_add_u64(buf, cli->session.value->seq);
	rt_buf_add_byte(buf, '}');
}

static void
status_text(rt_cli *cli, const rt_disc *disc, const rt_take *take, rt_str head, size_t head_at)
{
	rt_term *out = &cli->out;
	size_t count = rt_seq_count(take->slots), takes = rt_disc_present_count(disc);

	rt_term_c(out, "Project     ");
	rt_term_line(out, rt_session_project(&cli->session));
	rt_term_c(out, "\nDiscussion  ");
	rt_term_style(out, RT_STYLE_BOLD);
	rt_term_line(out, rt_cell_name(rt_project_cell(cli->session.value, disc->number)));
	rt_term_style(out, RT_STYLE_NONE);
	rt_term_c(out, "\nTake        ");
	rt_term_line(out, rt_text_str(take->name));
	rt_term_f(out, "  (%zu take%s)\nEntries     %zu\nHead        ", takes, RT_CLI_S(takes),
		  count);
	if (head.size == 0)
		rt_term_c(out, count == 0 ? "nothing here yet" : "before the first entry");
	else
		rt_term_line(out, head);
	if (head_at < count)
		rt_term_f(out, "  :%zu of %zu; the next entry begins a new take", head_at, count);
	rt_term_f(out, "\nStep        %llu\nStore       ",
		  (unsigned long long)cli->session.value->seq);
	if (cli->session.is_scratch) {
		rt_term_line(out, rt_buf_str(&cli->session.path));
		rt_cli_advise(cli, "  (not there yet)\n\nBegin: retake add TEXT, retake import FILE "
				   "or retake demo");
	} else {
		rt_term_line(out, rt_str_of(cli->session.store->place));
	}
	rt_term_c(out, "\n");
}

static rt_status
run_status(rt_cli *cli)
{
	const rt_disc *disc = NULL;
	const rt_take *take = NULL;
	char id[RT_ID_ROOM] = "";
	size_t head_at = 0;
	rt_buf buf;
	rt_status st = rt_old_open(cli, RT_SESSION_LOOK);

	if (st == RT_OK)
		st = rt_old_disc(cli, &disc);
	if (st == RT_OK)
		st = rt_old_take(cli, &take);
	if (st != RT_OK)
		return st;
	head_at = rt_seq_count(take->slots);
	if (take->number == disc->active)
		st = rt_disc_head_at(cli->session.value, disc, &head_at, &cli->error);
	if (st == RT_OK && head_at > 0)
		st = rt_old_id_at(cli, head_at - 1, id);
	if (st != RT_OK)
		return st;
	if (!cli->json) {
		status_text(cli, disc, take, rt_str_of(id), head_at);
		return RT_OK;
	}
	rt_buf_init(&buf, cli->alloc, RT_BUF_UNLIMITED);
	status_json(cli, disc, take, rt_str_of(id), &buf);
	st = rt_old_buf(cli, &buf);
	if (st == RT_OK)
		st = rt_old_print_json(cli, rt_buf_str(&buf));
	rt_buf_deinit(&buf);
	return st;
}

const rt_command rt_cli_status = {
	.name = "status",
	.group = RT_COMMANDS_LOOKING,
	.traits = RT_COMMAND_AT_OP,
	.usage = "",
	.summary = "say where one is: project, discussion, take, head, store",
	.examples = "retake status",
	.run_status = run_status,
};
