/* SPDX-License-Identifier: MIT
 *
 * context: the next request to a model, and the last one. */
#include "cli/counting.h"
#include "chat/last_request.h"
#include "llm/provider.h"
#include "view/view.h"

#include <stdio.h>

static void
add_line_end(rt_buf *out, size_t depth)
{
	rt_buf_add_byte(out, '\n');
	for (size_t i = 0; i < depth; i++)
		rt_buf_add_c(out, "  ");
}

/* JSON with line breaks and indentation, for people. */
static void
add_pretty(rt_buf *out, rt_str json)
{
	size_t depth = 0;
	bool in_string = false, is_escaped = false;

	for (size_t i = 0; i < json.size; i++) {
		char c = json.ptr[i], next = i + 1 < json.size ? json.ptr[i + 1] : 0;

		if (in_string) {
			rt_buf_add_byte(out, c);
			in_string = is_escaped || c != '"';
			is_escaped = !is_escaped && c == '\\';
			continue;
		}
		if (c == '}' || c == ']') {
			depth--;
			if (i > 0 && json.ptr[i - 1] != '{' && json.ptr[i - 1] != '[')
				add_line_end(out, depth);
		}
		rt_buf_add_byte(out, c);
		in_string = c == '"';
		if (c == ':')
			rt_buf_add_byte(out, ' ');
		depth += c == '{' || c == '[';
		if (c == ',' || ((c == '{' || c == '[') && next != 0 && next != '}' && next != ']'))
			add_line_end(out, depth);
	}
	rt_buf_add_byte(out, '\n');
}

/* Notes on surprising parts of the request. says_model: the model is printed elsewhere. */
static void
note_limits(rt_cli *cli, bool says_model)
{
	rt_scope *s = &cli->s;
	const rt_disc *disc = rt_cli_disc(cli);
	const rt_take *take = rt_cli_take(cli);
	size_t count = rt_cli_count(cli), at = count;
	rt_buf *json = rt_scope_buf(s);

	if (take != NULL && take->number == disc->active)
		RT_TRY(s, rt_disc_head_at(cli->session.value, disc, &at, &s->error));
	if (!rt_ok(s))
		return;
	if (at == 0 && count > 0)
		rt_cli_note(cli, "the head is before the first of %zu entr%s, so the request "
				 "contains none; go to the end: retake go :-1",
			    count, RT_CLI_IES(count));
	else if (at < count)
		rt_cli_note(cli, "the request ends at the head, :%zu of %zu; go to the end: "
				 "retake go :-1",
			    at, count);
	if (says_model)
		return;
	RT_TRY(s, rt_view_settings(cli->session.engine, cli->session.value, cli->session.place.disc,
				   json, &s->error));
	yyjson_val *settings = rt_json_get(rt_json_parse(s, rt_scope_str(s, json)), "settings");

	if (rt_ok(s) && rt_json_str(rt_json_get(settings, "model")).size == 0)
		rt_cli_note(cli, "the request names no model; to set one: retake set model "
				 "PROVIDER/NAME");
}

static void
print_request(rt_cli *cli, const rt_buf *json)
{
	rt_buf *pretty = rt_scope_buf(&cli->s);

	if (cli->json || (!cli->out.is_tty && !rt_cli_has(cli, "pretty"))) {
		rt_cli_print_json(cli, json);
		return;
	}
	add_pretty(pretty, rt_scope_str(&cli->s, json));
	if (!rt_cli_has(cli, "no-pager"))
		rt_term_page(&cli->out);
	rt_term_json(&cli->out, rt_scope_str(&cli->s, pretty));
}

/* ---- the last request (T6) ---- */

/* "sent 2026-11-22 05:44 to openai/gpt-4o, right after step 12, up to k3f9" */
static rt_str
describe_record(rt_cli *cli, yyjson_val *record)
{
	rt_buf *out = rt_scope_buf(&cli->s);
	rt_str at = rt_json_str(rt_json_get(record, "at"));
	rt_str upto = rt_json_str(rt_json_get(record, "upto"));
	rt_str service = rt_json_str(rt_json_get(record, "service"));
	uint64_t seq = 0;
	rt_moment moment;

	rt_buf_add_c(out, "sent ");
	if (rt_moment_parse(at, &moment))
		rt_host_add_local_time(out, moment.us, false);
	else
		rt_buf_add_str(out, at);
	if (service.size == 0) /* of an older version */
		service = rt_json_str(rt_json_get(record, "provider"));
	rt_buf_add_f(out, " to %.*s/%.*s", RT_STR_ARG(service),
		     RT_STR_ARG(rt_json_str(rt_json_get(record, "model"))));
	if (rt_json_u64(rt_json_get(record, "seq"), &seq))
		rt_buf_add_f(out, ", right after step %llu", (unsigned long long)seq);
	if (upto.size > 0)
		rt_buf_add_f(out, ", up to %.*s", RT_STR_ARG(upto));
	return rt_scope_str(&cli->s, out);
}

static void
show_sent(rt_cli *cli, yyjson_val *record, const rt_provider *provider)
{
	rt_scope *s = &cli->s;
	rt_last_request sent;

	RT_TRY(s, rt_last_request_build(cli->session.engine, record, provider, NULL, NULL, &sent,
					&s->error));
	if (rt_ok(s)) {
		rt_cli_note(cli, "%.*s", RT_STR_ARG(describe_record(cli, record)));
		if (!sent.is_same)
			rt_cli_note(cli, RT_CLI_NOT_EXACT);
		print_request(cli, &sent.body);
	}
	rt_last_request_deinit(&sent);
}

static void
say_entry(rt_cli *cli, yyjson_val *entry)
{
	rt_str change = rt_json_str(rt_json_get(entry, "change"));
	rt_str id = rt_json_str(rt_json_get(entry, "id"));
	bool is_gone = rt_str_is(change, "gone");

	rt_term_style(&cli->out, rt_str_is(change, "new") ? RT_STYLE_GREEN
				 : is_gone		  ? RT_STYLE_RED
							  : RT_STYLE_YELLOW);
	rt_term_f(&cli->out, "%-8.*s", RT_STR_ARG(change));
	rt_term_style(&cli->out, RT_STYLE_NONE);
	rt_term_line(&cli->out, is_gone ? id : rt_str_of(rt_cli_where(cli, id.ptr)));
	if (is_gone) {
		rt_term_c(&cli->out, " (");
		rt_term_line(&cli->out, rt_json_str(rt_json_get(entry, "role")));
		rt_term_c(&cli->out, ")");
	}
	rt_term_c(&cli->out, "\n");
}

static void
say_changes(rt_cli *cli, yyjson_val *changes)
{
	rt_term *out = &cli->out;
	yyjson_val *item;
	size_t i, max;

	if (!rt_ok(&cli->s))
		return;
	rt_term_c(out, "Changes since the last request: ");
	rt_term_line(out, describe_record(cli, changes));
	rt_term_c(out, ":\n");
	if (!yyjson_is_true(rt_json_get(changes, "exact")))
		rt_cli_note(cli, "the request cannot be rebuilt byte for byte");
	yyjson_arr_foreach(rt_json_get(changes, "entries"), i, max, item)
		say_entry(cli, item);
	if (yyjson_is_true(rt_json_get(changes, "moved")))
		rt_term_c(out, "moved   the order of entries changed\n");
	if (yyjson_is_true(rt_json_get(changes, "prompt")))
		rt_term_c(out, "edited  the working prompt\n");
	yyjson_arr_foreach(rt_json_get(changes, "files"), i, max, item) {
		rt_term_f(out, "%-8.*s", RT_STR_ARG(rt_json_str(rt_json_get(item, "change"))));
		rt_term_c(out, "file ");
		rt_term_line(out, rt_json_str(rt_json_get(item, "name")));
		rt_term_c(out, "\n");
	}
	yyjson_arr_foreach(rt_json_get(changes, "settings"), i, max, item) {
		rt_term_c(out, "set     ");
		rt_term_line(out, rt_json_str(item));
		rt_term_c(out, "\n");
	}
	if (yyjson_is_true(rt_json_get(changes, "same")))
		rt_term_c(out, "The same request would be sent again, byte for byte.\n");
}

static void
run_sent(rt_cli *cli)
{
	static const char *const others[] = {"tokens", "model", "budget", "provider", "at-step"};
	rt_scope *s = &cli->s;
	rt_buf *row = rt_scope_buf(s), *json = rt_scope_buf(s);

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (rt_cli_has(cli, others[i]))
			rt_cli_fail(cli, RT_USAGE,
				    "--sent and --changed show the last request; they cannot "
				    "be combined with flags for the next one");
	RT_TRY(s, rt_engine_last_request(cli->session.engine, cli->session.place.disc, row,
					 &s->error));
	if (s->status == RT_NOT_FOUND)
		rt_cli_hint(cli, "The next request: retake context");

	yyjson_val *record = rt_json_parse(s, rt_scope_str(s, row));
	const rt_provider *provider =
		rt_provider_for(rt_provider_named(rt_json_str(rt_json_get(record, "provider"))),
				rt_json_str(rt_json_get(record, "model")));

	if (!rt_ok(s))
		return;
	if (rt_cli_has(cli, "sent")) {
		show_sent(cli, record, provider);
		return;
	}
	rt_next_request now = rt_cli_next_request(cli);

	rt_cli_counting_read_files(cli, &now);
	RT_TRY(s, rt_view_last_request_changes(cli->session.engine, cli->session.value,
					       cli->session.place, record, provider, &now.files,
					       json, &s->error));
	if (cli->json)
		rt_cli_print_json(cli, json);
	else
		say_changes(cli, rt_json_parse(s, rt_scope_str(s, json)));
}

static void
run_context(rt_cli *cli)
{
	rt_scope *s = &cli->s;
	bool tokens = rt_cli_has(cli, "tokens"), model = rt_cli_has(cli, "model");
	const char *provider = rt_cli_flag_value(cli, "provider");

	if (!rt_cli_open(cli, RT_SESSION_LOOK))
		return;
	if (rt_cli_has(cli, "sent") || rt_cli_has(cli, "changed")) {
		run_sent(cli);
		return;
	}

	rt_next_request next = rt_cli_next_request(cli);

	/* Only --provider alone needs no model. */
	if (provider == NULL || tokens || model || rt_cli_has(cli, "budget"))
		rt_cli_counting_choose(cli, &next);
	rt_cli_counting_read_files(cli, &next);
	rt_attach_check(s, next.file_set);
	if (provider != NULL && next.counter == NULL && rt_ok(s))
		rt_cli_counting_choose_provider(cli, &next);
	rt_cli_counting_build(cli, &next);
	if (s->status == RT_REFUSED && next.file_set->problem_count > 0)
		rt_cli_hint(cli, "All files: retake files show   Without files: --no-files");
	rt_cli_counting_note(cli, &next);
	/* The tour shows only the request. */
	if (rt_ok(s) && !cli->out.kept)
		note_limits(cli, tokens || model || next.is_known);
	if (!rt_ok(s))
		return;
	if (tokens)
		rt_cli_counting_print(cli, &next);
	else
		print_request(cli, next.body);
}

static const rt_flag context_flags[] = {
	{"provider", 0, "NAME", RT_ARG_PROVIDER,
	 RT_PROVIDER_SERVERS " or one from config.toml; default: that of the model"},
	{"model", 'm', "MODEL", RT_ARG_MODEL, "the model, as PROVIDER/NAME; default: the one that "
					      "ask would use"},
	{"budget", 0, "TOKENS", RT_ARG_TEXT,
	 "maximum number of tokens; the oldest entries are left out. 0: no limit"},
	{"no-files", 0, NULL, RT_ARG_TEXT, "do not send the files of the discussion"},
	{"tokens", 0, NULL, RT_ARG_TEXT, "print the tokens of each entry instead of the request"},
	{"sent", 0, NULL, RT_ARG_TEXT, "rebuild the last request of this discussion"},
	{"changed", 0, NULL, RT_ARG_TEXT,
	 "show the changes since the last request"},
	{"pretty", 0, NULL, RT_ARG_TEXT, "pretty-print the JSON, as on a terminal"},
	{NULL, 0, NULL, RT_ARG_TEXT, NULL},
};

const rt_command rt_cli_context = {
	.name = "context",
	.group = RT_COMMANDS_LOOKING,
	.traits = RT_COMMAND_AT_STEP,
	.usage = "[--provider NAME] [-m MODEL] [--budget TOKENS]\n"
		 "--tokens [-m MODEL] [--budget TOKENS]\n--sent\n--changed",
	.summary = "print the exact request for the model",
	.about =
		"The body is built from the current entries: it includes edits and leaves out "
		"muted entries. The files of the discussion (retake files) come before the "
		"entries. Nothing is sent, and no API key is needed. This is the body that ask "
		"would send, for the model given with -m or taken from the model setting, "
		"RETAKE_MODEL or config.toml, in this order. --provider shows the format of a "
		"provider for any model; without a model, the format of OpenAI is shown. Token "
		"counts are exact for models of OpenAI, whose encodings are published, and "
		"estimates for others; the last line of --tokens says which. Each discussion "
		"stores its last request as references: --sent rebuilds it from the conversation "
		"at that time, even if there was no reply.",
	.examples = "retake context --provider anthropic\n"
		    "retake context --tokens -m openai/gpt-4o --budget 8000\n"
		    "retake context --provider openai --json > request.json\n"
		    "retake context --changed",
	.flags = context_flags,
	.run = run_context,
};
