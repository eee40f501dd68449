/* SPDX-License-Identifier: MIT
 *
 * go: the head elsewhere, with or without a summary of what is left behind. */
#include "cli/model_session.h"

/* "The head is at entry …" */
static rt_status
say_place(rt_cli *cli, const rt_summary_result *r, rt_buf *line)
{
	const rt_disc *disc = NULL;
	const rt_take *take = NULL;
	char id[RT_ID_ROOM];
	size_t at = 0, count;
	rt_status st = rt_old_disc(cli, &disc);

	if (st == RT_OK)
		st = rt_old_take(cli, &take);
	if (st == RT_OK)
		st = rt_disc_head_at(cli->session.value, disc, &at, &cli->error);
	if (st != RT_OK)
		return st;
	count = rt_seq_count(take->slots);
	if (at == 0) {
		rt_buf_add_c(line, count == 0 ? "The take is empty."
					      : "The head is before the first entry; the next one "
						"begins a new take.");
		return RT_OK;
	}
	st = rt_old_id_at(cli, at - 1, id);
	if (st != RT_OK)
		return st;
	rt_buf_add_c(line, "The head is at entry ");
	rt_old_add_where(cli, id, line);
	if (at < count)
		rt_buf_add_c(line, "; the next entry begins a new take.");
	else
		rt_buf_add_f(line, ", the end of take \"%s\".", take->name->ptr);
	if (r->entry[0] != 0)
		rt_buf_add_f(line, " It sums up %zu entr%s of the branch that was left.", r->entries,
			     RT_CLI_IES(r->entries));
	return RT_OK;
}

static rt_status
print_json(rt_cli *cli, const rt_summary_result *r)
{
	rt_buf json;
	rt_status st;

	rt_buf_init(&json, cli->alloc, RT_BUF_UNLIMITED);
	rt_buf_add_c(&json, "{\"seq\":");
	rt_buf_add_u64(&json, r->seq != 0 ? r->seq : cli->session.value->seq);
	if (r->entry[0] != 0) {
		rt_json_add_key(&json, "summary");
		rt_json_add_string(&json, rt_str_of(r->entry));
	}
	if (r->target[0] != 0) {
		rt_json_add_key(&json, "entry");
		rt_json_add_string(&json, rt_str_of(r->target));
	}
	if (r->take[0] != 0) {
		rt_json_add_key(&json, "take");
		rt_json_add_string(&json, rt_str_of(r->take));
	}
	if (r->already)
		rt_buf_add_c(&json, ",\"unchanged\":true");
	if (r->editor != NULL) {
		rt_json_add_key(&json, "editor");
		rt_json_add_string(&json, rt_text_str(r->editor));
	}
	rt_buf_add_byte(&json, '}');
	st = rt_old_print_json(cli, rt_buf_str(&json));
	rt_buf_deinit(&json);
	return st;
}

static rt_status
say(rt_cli *cli, const rt_summary_result *r)
{
	rt_buf line, retake;
	rt_status st;

	if (cli->json)
		return print_json(cli, r);
	if (cli->quiet)
		return RT_OK;
	if (r->already) {
		rt_term_c(&cli->out, "Already at this point.\n");
		return RT_OK;
	}
	rt_buf_init(&line, cli->alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&retake, cli->alloc, RT_BUF_UNLIMITED);
	rt_cli_add_retake(cli, &retake);
	st = say_place(cli, r, &line);
	if (st == RT_OK && r->seq == 0)
		rt_cli_say(cli, rt_buf_str(&line), "%s", "");
	else if (st == RT_OK)
		rt_cli_say(cli, rt_buf_str(&line), "step %llu - undo: %s undo",
			   (unsigned long long)r->seq, retake.ptr == NULL ? "" : retake.ptr);
	if (st == RT_OK && r->editor != NULL) {
		rt_term_c(&cli->out, "Its text, to be sent anew:\n");
		rt_term_indented(&cli->out, rt_text_str(r->editor), 2);
	}
	rt_buf_deinit(&line);
	rt_buf_deinit(&retake);
	return st;
}

static rt_status
run_go(rt_cli *cli)
{
	const char *address = rt_cli_word(cli, 0);
	bool start = rt_cli_has(cli, "start");
	rt_navigate_options options = {.select = rt_cli_has(cli, "select"),
				       .summarize = rt_cli_has(cli, "summary")};
	char room[RT_ID_ROOM];
	rt_summary_result result;
	rt_cli_model_session session;
	uint32_t entry;
	rt_status st;

	if (start == (address != NULL))
		return rt_old_fail(cli, RT_USAGE, "go needs an ENTRY, or --start");
	st = rt_old_open(cli, RT_SESSION_CHANGE);
	if (st == RT_OK && !start)
		st = rt_old_entry(cli, address, true, &entry);
	if (st == RT_OK && !start)
		st = rt_old_address(cli, address, room, &options.target);
	if (st != RT_OK)
		return st;
	st = rt_cli_model_session_open(cli, &session, options.summarize);
	if (st == RT_OK) {
		options.discussion = rt_session_discussion(&cli->session);
		options.take = rt_session_take(&cli->session);
		options.instructions = rt_str_of(rt_cli_flag_value(cli, "instructions"));
		session.shows = session.shows && options.summarize;
		rt_cli_model_session_with(&session, &options.with);
		st = rt_engine_navigate(cli->session.engine, &options, &result, &cli->error);
		rt_cli_model_session_end(&session, result.note);
		cli->changed = result.seq != 0;
		if (st == RT_OK)
			st = rt_old_look(cli);
		if (st == RT_OK)
			st = say(cli, &result);
		rt_summary_result_deinit(&result);
	}
	rt_cli_model_session_close(&session);
	return st;
}

static const rt_flag go_flags[] = {
	{"start", 0, NULL, RT_ARG_TEXT, "before the first entry"},
	{"summary", 's', NULL, RT_ARG_TEXT, "sum up the branch that is left, beside the new place"},
	{"instructions", 0, "TEXT", RT_ARG_TEXT, "what the summary should look out for"},
	{"select", 0, NULL, RT_ARG_TEXT, "a question: go before it and print its text"},
	{"model", 'm', "MODEL", RT_ARG_TEXT, "who writes the summary; default: the setting model"},
	{NULL, 0, NULL, RT_ARG_TEXT, NULL},
};

const rt_command rt_cli_go = {
	.name = "go",
	.group = RT_COMMANDS_BRANCHING,
	.max_words = 1,
	.usage = "ENTRY [--summary] [--select]\n--start",
	.summary = "move the head: continue from another entry",
	.about =
		"Any entry of the discussion will do, also of another take. When something follows "
		"it there, the next entry that is added starts a new take by itself.\n\n"
		"With --summary a model sums up what was said since the two paths parted (or since a "
		"compaction); the summary becomes an entry at the new place. When that fails, or Ctrl-C "
		"stops it, the head stays where it is.",
	.examples = "retake go :6\nretake go good-start\nretake go @-\n"
		    "retake go :6 --summary --instructions \"what did not work, and why\"",
	.ops = "head.move entry.append",
	.flags = go_flags,
	.kinds = {RT_ARG_ENTRY},
	.run_status = run_go,
};
