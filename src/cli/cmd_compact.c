/* SPDX-License-Identifier: MIT
 *
 * compact, compress: long conversations made shorter, by a model's summary. */
#include "cli/model_session.h"

static void
say_done(rt_cli *cli, const rt_summary_result *r, const char *what)
{
	rt_buf line, next;

	rt_buf_init(&line, cli->alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&next, cli->alloc, RT_BUF_UNLIMITED);
	rt_buf_add_f(&line, "%s %zu entr%s into %s: about %zu tokens are sent now, before it were %zu.",
		     what, r->entries, RT_CLI_IES(r->entries), r->entry, r->tokens_after,
		     r->tokens_before);
	rt_cli_add_retake(cli, &next);
	rt_term_style(&cli->err, RT_STYLE_DIM);
	rt_term_text(&cli->err, rt_buf_str(&line));
	rt_term_f(&cli->err, "   step %llu - undo: %s undo", (unsigned long long)r->seq,
		  next.ptr == NULL ? "retake" : next.ptr);
	rt_term_style(&cli->err, RT_STYLE_NONE);
	rt_term_c(&cli->err, "\n");
	rt_term_flush(&cli->err);
	rt_buf_deinit(&line);
	rt_buf_deinit(&next);
}

static rt_status
print_json(rt_cli *cli, const rt_summary_result *r)
{
	rt_buf json;
	rt_status st;

	rt_buf_init(&json, cli->alloc, RT_BUF_UNLIMITED);
	rt_buf_add_byte(&json, '{');
	if (r->entry[0] != 0) {
		rt_json_add_key(&json, "entry");
		rt_json_add_string(&json, rt_str_of(r->entry));
		rt_json_add_key(&json, "seq");
		rt_buf_add_u64(&json, r->seq);
	}
	if (r->first_kept[0] != 0) {
		rt_json_add_key(&json, "first_kept");
		rt_json_add_string(&json, rt_str_of(r->first_kept));
	}
	rt_json_add_key(&json, "entries");
	rt_buf_add_u64(&json, r->entries);
	rt_json_add_key(&json, "tokens_before");
	rt_buf_add_u64(&json, r->tokens_before);
	rt_json_add_key(&json, "tokens_after");
	rt_buf_add_u64(&json, r->tokens_after);
	if (r->from_hook)
		rt_buf_add_c(&json, ",\"from_hook\":true");
	rt_buf_add_byte(&json, '}');
	st = rt_old_print_json(cli, rt_buf_str(&json));
	rt_buf_deinit(&json);
	return st;
}

/* "A..B" as two ids. */
static rt_status
read_range(rt_cli *cli, char from[RT_ID_ROOM], char to[RT_ID_ROOM])
{
	size_t first, last;
	rt_status st = rt_old_range(cli, rt_cli_word(cli, 0), &first, &last);

	if (st == RT_OK)
		st = rt_old_id_at(cli, first, from);
	if (st == RT_OK)
		st = rt_old_id_at(cli, last, to);
	return st;
}

static rt_status
run_compact(rt_cli *cli)
{
	const char *keep = rt_cli_flag_value(cli, "keep");
	rt_compact_options options = {.dry_run = rt_cli_has(cli, "dry-run")};
	char from[RT_ID_ROOM], to[RT_ID_ROOM];
	rt_summary_result result;
	rt_cli_model_session session;
	uint64_t tokens = 0;
	rt_status st = RT_OK;

	if (keep != NULL)
		st = rt_old_number(cli, keep, "how many tokens", &tokens);
	if (st == RT_OK)
		st = rt_old_open(cli, RT_SESSION_CHANGE);
	if (st != RT_OK)
		return st;
	st = rt_cli_model_session_open(cli, &session, true);
	if (st == RT_OK && rt_cli_word(cli, 0) != NULL) {
		st = read_range(cli, from, to);
		options.from = rt_str_of(from);
		options.to = rt_str_of(to);
	}
	if (st == RT_OK) {
		/* The engine's 0 is the usual number; none at all is the last entry alone. */
		options.keep_tokens = keep != NULL && tokens == 0 ? 1 : (size_t)tokens;
		options.discussion = rt_session_discussion(&cli->session);
		options.take = rt_session_take(&cli->session);
		options.instructions = rt_str_of(rt_cli_flag_value(cli, "instructions"));
		rt_cli_model_session_with(&session, &options.with);
		st = rt_engine_compact(cli->session.engine, &options, &result, &cli->error);
		rt_cli_model_session_end(&session, result.note);
		cli->changed = result.seq != 0;
		if (st == RT_REFUSED && options.from.size == 0)
			rt_old_hint(cli, st, "To keep less of the end: retake compact --keep TOKENS   "
					     "What it costs: retake context --tokens");
		if (st == RT_OK && cli->json)
			st = print_json(cli, &result);
		else if (st == RT_OK && options.dry_run && result.first_kept[0] != 0)
			rt_term_f(&cli->out, "Would sum up %zu entr%s, up to the one before %s; "
					     "about %zu of %zu tokens would stay.\n",
				  result.entries, RT_CLI_IES(result.entries), result.first_kept,
				  result.tokens_after, result.tokens_before);
		else if (st == RT_OK && options.dry_run)
			rt_term_f(&cli->out, "Would sum up %zu entr%s; about %zu of %zu tokens would "
					     "stay.\n",
				  result.entries, RT_CLI_IES(result.entries), result.tokens_after,
				  result.tokens_before);
		else if (st == RT_OK && !cli->quiet)
			say_done(cli, &result, "Compacted");
		rt_summary_result_deinit(&result);
	}
	rt_cli_model_session_close(&session);
	return st;
}

static const rt_flag compact_flags[] = {
	{"keep", 0, "TOKENS", RT_ARG_TEXT, "so much of the end is kept; default: 20000"},
	{"instructions", 0, "TEXT", RT_ARG_TEXT, "what the summary should look out for"},
	{"model", 'm', "MODEL", RT_ARG_TEXT, "who writes it; default: the setting model"},
	{"dry-run", 'n', NULL, RT_ARG_TEXT, "only say what would be done"},
	{NULL, 0, NULL, RT_ARG_TEXT, NULL},
};

const rt_command rt_cli_compact = {
	.name = "compact",
	.group = RT_COMMANDS_ASKING,
	.traits = RT_COMMAND_DRY_RUN,
	.max_words = 1,
	.usage = "[FROM..TO]",
	.summary = "send a summary instead of the beginning, or of a range",
	.about =
		"A model writes the summary; it becomes an entry, which can be edited and undone. The "
		"entries that it stands for stay where they are. A tool's call is never parted from its "
		"result. When the model fails nothing is changed.",
	.examples = "retake compact\nretake compact :4..:20 --instructions \"keep the numbers\"\n"
		    "retake compact --keep 4000 -n",
	.ops = "entry.append",
	.flags = compact_flags,
	.kinds = {RT_ARG_ENTRY},
	.run_status = run_compact,
};

/* ---- compress ---- */

static rt_status
run_compress(rt_cli *cli)
{
	rt_compress_options options = {0};
	rt_summary_result result;
	rt_cli_model_session session;
	rt_status st = rt_old_open(cli, RT_SESSION_CHANGE);

	if (st != RT_OK)
		return st;
	st = rt_cli_model_session_open(cli, &session, true);
	if (st == RT_OK) {
		options.discussion = rt_session_discussion(&cli->session);
		options.take = rt_session_take(&cli->session);
		options.instructions = rt_str_of(rt_cli_flag_value(cli, "instructions"));
		rt_cli_model_session_with(&session, &options.with);
		st = rt_engine_compress(cli->session.engine, &options, &result, &cli->error);
		rt_cli_model_session_end(&session, result.note);
		cli->changed = result.seq != 0;
		if (st == RT_OK && cli->json)
			st = print_json(cli, &result);
		else if (st == RT_OK && !cli->quiet)
			say_done(cli, &result, "Compressed");
		rt_summary_result_deinit(&result);
	}
	rt_cli_model_session_close(&session);
	return st;
}

static const rt_flag compress_flags[] = {
	{"instructions", 0, "TEXT", RT_ARG_TEXT, "what the summary should look out for"},
	{"model", 'm', "MODEL", RT_ARG_TEXT, "who writes it; default: the setting model"},
	{NULL, 0, NULL, RT_ARG_TEXT, NULL},
};

const rt_command rt_cli_compress = {
	.name = "compress",
	.group = RT_COMMANDS_ASKING,
	.usage = "",
	.summary = "replace the take by a model's summary of it",
	.about = "One step: undo brings everything back. To keep the entries in view and only send "
		 "less: retake compact.",
	.examples = "retake compress",
	.ops = "take.clear entry.append",
	.flags = compress_flags,
	.run_status = run_compress,
};
