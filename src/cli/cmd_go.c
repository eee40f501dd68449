/* SPDX-License-Identifier: MIT
 *
 * go: moves the head, with or without a summary of the branch that is left. */
#include "cli/model_session.h"

/* "The head is at entry …" */
static rt_str
describe_head(rt_cli *cli, const rt_summary_result *r)
{
	rt_buf *line = rt_scope_buf(&cli->s);
	const rt_disc *disc = rt_cli_disc(cli);
	const rt_take *take = rt_cli_take(cli);
	size_t at = 0, count;

	if (take == NULL)
		return rt_str_of(NULL);
	count = rt_seq_count(take->slots);
	RT_TRY(&cli->s, rt_disc_head_at(cli->session.value, disc, &at, &cli->s.error));
	if (at == 0) {
		rt_buf_add_c(line, count == 0 ? "The take is empty."
					      : "The head is before the first entry; the next "
						"entry starts a new take.");
		return rt_scope_str(&cli->s, line);
	}
	rt_buf_add_c(line, "The head is at entry ");
	rt_buf_add_c(line, rt_cli_where(cli, rt_cli_id_at(cli, at - 1)));
	if (at < count)
		rt_buf_add_c(line, "; the next entry starts a new take.");
	else
		rt_buf_add_f(line, ", the end of take \"%s\".", take->name->ptr);
	if (cli->session.place.disc != cli->session.value->active)
		rt_buf_add_f(line, " Discussion %s is not the active one.",
			     rt_cli_disc_title(cli, cli->session.place.disc));
	if (r->entry[0] != 0)
		rt_buf_add_f(line, " It summarises %zu entr%s of the branch you left.", r->entries,
			     RT_CLI_IES(r->entries));
	return rt_scope_str(&cli->s, line);
}

static void
print_json(rt_cli *cli, const rt_summary_result *r)
{
	rt_buf *json = rt_scope_buf(&cli->s);

	rt_json_open(json, NULL, '{');
	rt_json_put_u64(json, "seq", r->seq != 0 ? r->seq : cli->session.value->seq);
	if (r->entry[0] != 0)
		rt_json_put_c(json, "summary", r->entry);
	if (r->target[0] != 0)
		rt_json_put_c(json, "entry", r->target);
	if (r->take[0] != 0)
		rt_json_put_c(json, "take", r->take);
	if (r->already)
		rt_json_put_bool(json, "unchanged", true);
	if (r->editor != NULL)
		rt_json_put_str(json, "editor", rt_text_str(r->editor));
	rt_json_close(json, '}');
	rt_cli_print_json(cli, json);
}

static void
say(rt_cli *cli, const rt_summary_result *r)
{
	if (cli->json) {
		print_json(cli, r);
		return;
	}
	if (cli->quiet)
		return;
	if (r->already) {
		rt_term_c(&cli->out, "Already at this point.\n");
		return;
	}
	rt_str line = describe_head(cli, r);

	if (r->seq == 0)
		rt_cli_say(cli, line, "%s", "");
	else
		rt_cli_say(cli, line, "step %llu - undo: %s undo", (unsigned long long)r->seq,
			   rt_cli_retake(cli));
	if (rt_ok(&cli->s) && r->editor != NULL) {
		rt_term_c(&cli->out, "Its text, to send again:\n");
		rt_term_indented(&cli->out, rt_text_str(r->editor), 2);
	}
}

/* Switches to the discussion that has the entry and moves its head there, as one step. */
static void
go_to_discussion(rt_cli *cli, uint32_t number, const char *address)
{
	rt_scope *s = &cli->s;
	rt_str name = rt_scope_copy(s, rt_cell_name(rt_project_cell(cli->session.value, number)));
	const rt_request requests[] = {
		{.op = RT_OP_DISCUSSION_SWITCH, .target = name},
		{.op = RT_OP_HEAD_MOVE, .discussion = name, .entry = rt_str_of(address)},
	};
	const rt_result *result = rt_cli_execute(cli, requests, 2);

	if (!rt_ok(s))
		return;
	/* The head may have been there already; then only the discussion was switched. */
	rt_result done = *result;

	if (done.unchanged) {
		done.unchanged = false;
		done.seq = cli->session.value->seq;
	}
	rt_str line = describe_head(cli, &(rt_summary_result){0});

	rt_cli_say_result(cli, &done, "Now in discussion %s. %.*s", rt_cli_disc_title(cli, number),
			  RT_STR_ARG(line));
}

/* The discussion to switch to: no other one was named, and only another one has the entry; 0: none. */
static uint32_t
discussion_to_go_to(rt_cli *cli, const char *address)
{
	uint32_t entry = 0;
	rt_error ignored;

	if (rt_session_discussion(&cli->session).size > 0 || rt_session_take(&cli->session).size > 0 ||
	    rt_cli_has(cli, "summary") || rt_cli_has(cli, "select") ||
	    rt_resolve_entry(cli->session.value, cli->session.place, rt_cli_address(cli, address), true,
			     &entry, &ignored) != RT_NOT_FOUND)
		return 0;
	return rt_cli_find_elsewhere(cli, rt_str_of(address));
}

static void
run_go(rt_cli *cli)
{
	const char *address = rt_cli_word(cli, 0);
	bool start = rt_cli_has(cli, "start");
	rt_navigate_options options = {
		.select = rt_cli_has(cli, "select"),
		.summarize = rt_cli_has(cli, "summary"),
		.instructions = rt_str_of(rt_cli_flag_value(cli, "instructions")),
	};
	rt_summary_result result;

	if (start == (address != NULL))
		rt_cli_fail(cli, RT_USAGE, "go needs an ENTRY, or --start");
	if (rt_cli_open(cli, RT_SESSION_CHANGE) && !start) {
		uint32_t elsewhere = discussion_to_go_to(cli, address);

		if (elsewhere != 0) {
			go_to_discussion(cli, elsewhere, address);
			return;
		}
		rt_cli_entry(cli, address, true);
		options.target = rt_cli_address(cli, address);
	}

	rt_cli_model_session *session = rt_cli_model_session_open(cli, options.summarize);

	if (session == NULL)
		return;
	options.discussion = rt_session_discussion(&cli->session);
	options.take = rt_session_take(&cli->session);
	session->shows = session->shows && options.summarize;
	options.with = rt_cli_model_session_with(session);
	RT_TRY(&cli->s, rt_engine_navigate(cli->session.engine, &options, &result, &cli->s.error));
	rt_cli_model_session_end(session, result.note);
	cli->changed = result.seq != 0;
	if (rt_cli_look(cli))
		say(cli, &result);
	rt_summary_result_deinit(&result);
}

static const rt_flag go_flags[] = {
	{"start", 0, NULL, RT_ARG_TEXT, "before the first entry"},
	{"summary", 's', NULL, RT_ARG_TEXT, "add a summary of the branch you leave"},
	{"instructions", 0, "TEXT", RT_ARG_TEXT, "instructions for the summary"},
	{"select", 0, NULL, RT_ARG_TEXT, "if ENTRY is a question: go before it and print its text"},
	{"model", 'm', "MODEL", RT_ARG_MODEL, "model for the summary; default: the model setting"},
	{NULL, 0, NULL, RT_ARG_TEXT, NULL},
};

const rt_command rt_cli_go = {
	.name = "go",
	.group = RT_COMMANDS_BRANCHING,
	.max_words = 1,
	.usage = "ENTRY [--summary] [--select]\n--start",
	.summary = "move the head: continue from another entry",
	.about =
		"ENTRY can be any entry of the discussion, even in another take, or the id of an "
		"entry of another discussion, which becomes the active one. If other entries follow it, the next entry you add starts a new take. With --summary a "
		"model summarises the branch since the two paths diverged (or since a "
		"compaction), and the summary is added as an entry at the new position. If "
		"that fails, or Ctrl+C stops it, the head does not move.",
	.examples = "retake go :6\nretake go good-start\nretake go @-\n"
		    "retake go :6 --summary --instructions \"what did not work, and why\"",
	.ops = "head.move entry.append",
	.flags = go_flags,
	.kinds = {RT_ARG_ENTRY},
	.run = run_go,
};
