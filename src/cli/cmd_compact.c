/* SPDX-License-Identifier: MIT
 *
 * compact, compress, merge-take: entries replaced by a model's summary. */
#include "cli/model_session.h"

static void
say_done(rt_cli *cli, const rt_summary_result *r, const char *what)
{
	rt_term *err = &cli->err;
	const char *retake = rt_cli_retake(cli);

	rt_term_style(err, RT_STYLE_DIM);
	rt_term_f(err,
		  "%s %zu entr%s into %s: about %zu tokens are sent now, instead of %zu. step "
		  "%llu - undo: %s undo",
		  what, r->entries, RT_CLI_IES(r->entries), r->entry, r->tokens_after,
		  r->tokens_before, (unsigned long long)r->seq, retake);
	rt_term_style(err, RT_STYLE_NONE);
	rt_term_c(err, "\n");
	rt_term_flush(err);
}

static void
print_json(rt_cli *cli, const rt_summary_result *r)
{
	rt_buf *json = rt_scope_buf(&cli->s);

	rt_json_open(json, NULL, '{');
	if (r->entry[0] != 0) {
		rt_json_put_c(json, "entry", r->entry);
		rt_json_put_u64(json, "seq", r->seq);
	}
	if (r->first_kept[0] != 0)
		rt_json_put_c(json, "first_kept", r->first_kept);
	rt_json_put_u64(json, "entries", r->entries);
	rt_json_put_u64(json, "tokens_before", r->tokens_before);
	rt_json_put_u64(json, "tokens_after", r->tokens_after);
	if (r->from_hook)
		rt_json_put_bool(json, "from_hook", true);
	rt_json_close(json, '}');
	rt_cli_print_json(cli, json);
}

static void
say_plan(rt_cli *cli, const rt_summary_result *r)
{
	rt_term_f(&cli->out, "Would summarise %zu entr%s", r->entries, RT_CLI_IES(r->entries));
	if (r->first_kept[0] != 0)
		rt_term_f(&cli->out, ", up to the one before %s", r->first_kept);
	rt_term_f(&cli->out, "; about %zu of %zu tokens would remain.\n", r->tokens_after,
		  r->tokens_before);
}

/* Opens the store and the model, and fills in the place and the request. NULL: the command has failed. */
static rt_cli_model_session *
begin(rt_cli *cli, rt_str *out_discussion, rt_str *out_take, rt_send_with *out_with)
{
	rt_cli_open(cli, RT_SESSION_CHANGE);

	rt_cli_model_session *session = rt_cli_model_session_open(cli, true);

	if (session == NULL)
		return NULL;
	*out_discussion = rt_session_discussion(&cli->session);
	*out_take = rt_session_take(&cli->session);
	*out_with = rt_cli_model_session_with(session);
	return session;
}

/* Ends the session and prints the result or the plan. */
static void
finish(rt_cli_model_session *session, rt_summary_result *r, const char *what, bool dry_run)
{
	rt_cli *cli = session->cli;

	rt_cli_model_session_end(session, r->note);
	cli->changed = r->seq != 0;
	if (rt_ok(&cli->s) && cli->json)
		print_json(cli, r);
	else if (rt_ok(&cli->s) && dry_run)
		say_plan(cli, r);
	else if (rt_ok(&cli->s) && !cli->quiet)
		say_done(cli, r, what);
	rt_summary_result_deinit(r);
}

static void
run_compact(rt_cli *cli)
{
	const char *range = rt_cli_word(cli, 0);
	uint64_t keep = rt_cli_flag_number(cli, "keep", "number of tokens", 0);
	rt_compact_options options = {
		.dry_run = rt_cli_has(cli, "dry-run"),
		/* For the engine 0 is the default; to keep nothing means the last entry only. */
		.keep_tokens = rt_cli_has(cli, "keep") && keep == 0 ? 1 : (size_t)keep,
		.instructions = rt_str_of(rt_cli_flag_value(cli, "instructions")),
	};
	rt_summary_result result;

	rt_cli_model_session *session =
		begin(cli, &options.discussion, &options.take, &options.with);

	if (session != NULL && range != NULL) {
		rt_cli_span span = rt_cli_range(cli, range);

		options.from = rt_str_of(rt_cli_id_at(cli, span.first));
		options.to = rt_str_of(rt_cli_id_at(cli, span.last));
	}
	if (!rt_ok(&cli->s))
		return;
	RT_TRY(&cli->s, rt_engine_compact(cli->session.engine, &options, &result, &cli->s.error));
	if (cli->s.status == RT_REFUSED && range == NULL)
		rt_cli_hint(cli, "To keep fewer tokens at the end: retake compact --keep TOKENS   Tokens "
				 "per entry: retake context --tokens");
	finish(session, &result, "Compacted", options.dry_run);
}

static const rt_flag compact_flags[] = {
	{"keep", 0, "TOKENS", RT_ARG_TEXT, "number of tokens to keep at the end; default: 20000"},
	{"instructions", 0, "TEXT", RT_ARG_TEXT, "instructions for the summary"},
	{"model", 'm', "MODEL", RT_ARG_MODEL, "model for the summary; default: the model setting"},
	{"dry-run", 'n', NULL, RT_ARG_TEXT, "print only the planned changes"},
	{NULL, 0, NULL, RT_ARG_TEXT, NULL},
};

const rt_command rt_cli_compact = {
	.name = "compact",
	.group = RT_COMMANDS_ASKING,
	.traits = RT_COMMAND_DRY_RUN,
	.max_words = 1,
	.usage = "[FROM..TO]",
	.summary = "send a summary instead of the first entries or of a given range",
	.about =
		"A model writes the summary; it becomes an entry, which can be edited and "
		"undone. The summarised entries stay in place. A tool call is never separated "
		"from its result. If the model fails, nothing is changed.",
	.examples = "retake compact\nretake compact :4..:20 --instructions \"keep the numbers\"\n"
		    "retake compact --keep 4000 -n",
	.ops = "entry.append",
	.flags = compact_flags,
	.kinds = {RT_ARG_ENTRY},
	.run = run_compact,
};

static void
run_compress(rt_cli *cli)
{
	rt_compress_options options = {
		.instructions = rt_str_of(rt_cli_flag_value(cli, "instructions"))};
	rt_summary_result result;

	rt_cli_model_session *session =
		begin(cli, &options.discussion, &options.take, &options.with);

	if (session == NULL)
		return;
	RT_TRY(&cli->s, rt_engine_compress(cli->session.engine, &options, &result, &cli->s.error));
	finish(session, &result, "Compressed", false);
}

static const rt_flag compress_flags[] = {
	{"instructions", 0, "TEXT", RT_ARG_TEXT, "instructions for the summary"},
	{"model", 'm', "MODEL", RT_ARG_MODEL, "model for the summary; default: the model setting"},
	{NULL, 0, NULL, RT_ARG_TEXT, NULL},
};

const rt_command rt_cli_compress = {
	.name = "compress",
	.group = RT_COMMANDS_ASKING,
	.usage = "",
	.summary = "replace the take with a summary",
	.about = "This is one step: undo restores everything. To keep the entries and only send "
		 "less: retake compact.",
	.examples = "retake compress",
	.ops = "take.clear entry.append",
	.flags = compress_flags,
	.run = run_compress,
};

/* --- merge-take --- */

static void
say_merged(rt_cli *cli, const rt_summary_result *r, const char *from)
{
	rt_term *err = &cli->err;

	rt_term_style(err, RT_STYLE_DIM);
	rt_term_f(err, "Summarised %zu entr%s of the take \"", r->entries, RT_CLI_IES(r->entries));
	rt_term_line(err, rt_str_of(from));
	rt_term_f(err, "\" in %s.   step %llu - undo: %s undo\n", rt_cli_where(cli, r->entry),
		  (unsigned long long)r->seq, rt_cli_retake(cli));
	rt_term_style(err, RT_STYLE_NONE);
	rt_term_flush(err);
}

static void
run_merge_take(rt_cli *cli)
{
	const char *from = rt_cli_word(cli, 0);
	rt_merge_take_options options = {
		.from = rt_str_of(from),
		.instructions = rt_str_of(rt_cli_flag_value(cli, "instructions"))};
	rt_summary_result result;

	rt_cli_model_session *session =
		begin(cli, &options.discussion, &options.take, &options.with);

	if (session == NULL)
		return;
	if (RT_TRY(&cli->s, rt_engine_merge_take(cli->session.engine, &options, &result,
						 &cli->s.error)) == RT_NOT_FOUND)
		rt_cli_hint(cli, "Takes: retake takes");
	rt_cli_model_session_end(session, result.note);
	cli->changed = result.seq != 0;
	if (rt_ok(&cli->s) && cli->json)
		print_json(cli, &result);
	else if (rt_ok(&cli->s) && !cli->quiet && rt_cli_look(cli))
		say_merged(cli, &result, from);
	rt_summary_result_deinit(&result);
}

const rt_command rt_cli_merge_take = {
	.name = "merge-take",
	.group = RT_COMMANDS_BRANCHING,
	.min_words = 1,
	.max_words = 1,
	.usage = "TAKE",
	.summary = "add a summary of another take's conclusions",
	.about = "A model summarises the entries of TAKE after the point where it diverges from this take. "
		 "The summary becomes an entry at the head, which names the entries it was made from. It "
		 "is one step; nothing else in the two takes changes.",
	.examples = "retake merge-take sqlite\nretake merge-take main_take_2 --instructions \"only the "
		    "numbers\"",
	.ops = "entry.append",
	.flags = compress_flags,
	.kinds = {RT_ARG_TAKE},
	.run = run_merge_take,
};
