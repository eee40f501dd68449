/* SPDX-License-Identifier: MIT
 *
 * context: what a model would be sent now, and what it was sent last. */
#include "cli/counting.h"
#include "chat/last_request.h"
#include "llm/provider.h"
#include "view/view.h"

#include <stdio.h>

/* A value with line breaks and indentation, for people. */
static void
add_pretty(rt_buf *out, rt_str json)
{
	size_t i, depth = 0, j;
	bool in_string = false, escaped = false;

	for (i = 0; i < json.size; i++) {
		char c = json.ptr[i];

		if (in_string) {
			rt_buf_add_byte(out, c);
			if (escaped)
				escaped = false;
			else if (c == '\\')
				escaped = true;
			else if (c == '"')
				in_string = false;
			continue;
		}
		if ((c == '}' || c == ']') && i > 0 && json.ptr[i - 1] != '{' &&
		    json.ptr[i - 1] != '[') {
			rt_buf_add_byte(out, '\n');
			for (j = 1; j < depth; j++)
				rt_buf_add_c(out, "  ");
		}
		if (c == '}' || c == ']')
			depth--;
		rt_buf_add_byte(out, c);
		if (c == '"')
			in_string = true;
		if (c == ':')
			rt_buf_add_byte(out, ' ');
		if (c == '{' || c == '[')
			depth++;
		if (((c == '{' || c == '[') && i + 1 < json.size && json.ptr[i + 1] != '}' &&
		     json.ptr[i + 1] != ']') ||
		    c == ',') {
			rt_buf_add_byte(out, '\n');
			for (j = 0; j < depth; j++)
				rt_buf_add_c(out, "  ");
		}
	}
	rt_buf_add_byte(out, '\n');
}

/* What would surprise in the request. says_model: that it names none does not, or it does. */
static rt_status
note_limits(rt_cli *cli, bool says_model)
{
	const rt_disc *disc = NULL;
	const rt_take *take = NULL;
	size_t at = 0, count = 0;
	rt_old_view view;
	rt_status st = rt_old_disc(cli, &disc);

	if (st == RT_OK)
		st = rt_old_take(cli, &take);
	if (st == RT_OK)
		at = count = rt_seq_count(take->slots);
	if (st == RT_OK && take->number == disc->active)
		st = rt_disc_head_at(cli->session.value, disc, &at, &cli->error);
	if (st != RT_OK)
		return st;
	if (at == 0 && count > 0)
		rt_cli_note(cli, "the head is before the first of %zu entr%s, so none is in the "
				 "request; to the end: retake go :-1",
			    count, RT_CLI_IES(count));
	else if (at < count)
		rt_cli_note(cli, "the request ends at the head, :%zu of %zu; to the end: retake go :-1",
			    at, count);
	if (says_model)
		return st;
	rt_old_view_init(cli, &view);
	st = rt_old_view_read(cli, &view,
			      rt_view_settings(cli->session.engine, cli->session.value,
					       cli->session.place.disc, &view.buf, &cli->error));
	if (st == RT_OK &&
	    rt_json_str(rt_json_get(rt_json_get(view.root, "settings"), "model")).size == 0)
		rt_cli_note(cli, "the request names no model; to set one: retake set model "
				 "PROVIDER/NAME");
	rt_old_view_deinit(&view);
	return st;
}

/* Built for a model, and counted: --provider alone is the one thing that needs no model. */
static rt_status
build_counted(rt_cli_counting *counting, rt_buf *json)
{
	rt_status st = rt_cli_counting_choose(counting);

	if (st == RT_OK)
		st = rt_cli_counting_build(counting, json);
	if (st == RT_OK)
		rt_cli_counting_note(counting);
	return st;
}

static rt_status
build_request(rt_cli *cli, rt_cli_counting *counting, rt_buf *json)
{
	const char *name = rt_cli_flag_value(cli, "provider");
	const rt_provider *provider = NULL;
	rt_context_options options = {.unsent = &counting->unsent};
	rt_status st;

	if (name == NULL || rt_cli_has(cli, "tokens") || rt_cli_has(cli, "model") ||
	    rt_cli_has(cli, "budget"))
		return build_counted(counting, json);
	st = rt_cli_counting_provider(cli, name, &provider);
	if (st == RT_OK)
		st = rt_view_context(cli->session.engine, cli->session.value, cli->session.place,
				     provider, &options, json, &cli->error);
	if (st == RT_OK)
		rt_cli_counting_note(counting);
	return st;
}

static void
print_request(rt_cli *cli, rt_str json)
{
	rt_buf pretty;

	rt_buf_init(&pretty, cli->alloc, RT_BUF_UNLIMITED);
	add_pretty(&pretty, json);
	if (!rt_cli_has(cli, "no-pager"))
		rt_term_page(&cli->out);
	rt_term_json(&cli->out, rt_buf_str(&pretty));
	rt_buf_deinit(&pretty);
}

/* ---- what was sent last (T6) ---- */

/* "sent 2026-11-22 05:44 to openai/gpt-4o, right after step 12, up to k3f9" */
static void
add_when(rt_cli *cli, yyjson_val *record, rt_buf *out)
{
	rt_str at = rt_json_str(rt_json_get(record, "at"));
	rt_str upto = rt_json_str(rt_json_get(record, "upto"));
	rt_str service = rt_json_str(rt_json_get(record, "service"));
	uint64_t seq = 0;
	rt_moment moment;

	(void)cli;
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
}

static rt_status
show_sent(rt_cli *cli, yyjson_val *record, const rt_provider *provider)
{
	rt_last_request sent;
	rt_buf when;
	rt_status st = rt_last_request_build(cli->session.engine, record, provider, NULL, NULL,
					     &sent, &cli->error);

	rt_buf_init(&when, cli->alloc, RT_BUF_UNLIMITED);
	add_when(cli, record, &when);
	if (st == RT_OK && !cli->quiet)
		rt_cli_note(cli, "%.*s", RT_STR_ARG(rt_buf_str(&when)));
	if (st == RT_OK && !sent.is_same)
		rt_cli_note(cli, RT_CLI_NOT_EXACT);
	if (st == RT_OK && (cli->json || (!cli->out.is_tty && !rt_cli_has(cli, "pretty"))))
		st = rt_old_print_json(cli, rt_buf_str(&sent.body));
	else if (st == RT_OK)
		print_request(cli, rt_buf_str(&sent.body));
	rt_buf_deinit(&when);
	rt_last_request_deinit(&sent);
	return st;
}

static void
say_entry(rt_cli *cli, yyjson_val *entry)
{
	rt_str change = rt_json_str(rt_json_get(entry, "change"));
	rt_str id = rt_json_str(rt_json_get(entry, "id"));
	rt_buf where;

	rt_buf_init(&where, cli->alloc, RT_BUF_UNLIMITED);
	rt_term_style(&cli->out, rt_str_is(change, "new")    ? RT_STYLE_GREEN
				 : rt_str_is(change, "gone") ? RT_STYLE_RED
							     : RT_STYLE_YELLOW);
	rt_term_f(&cli->out, "%-8.*s", RT_STR_ARG(change));
	rt_term_style(&cli->out, RT_STYLE_NONE);
	if (rt_str_is(change, "gone"))
		rt_buf_add_f(&where, "%.*s (%.*s)", RT_STR_ARG(id),
			     RT_STR_ARG(rt_json_str(rt_json_get(entry, "role"))));
	else
		rt_old_add_where(cli, id.ptr, &where);
	rt_term_line(&cli->out, rt_buf_str(&where));
	rt_term_c(&cli->out, "\n");
	rt_buf_deinit(&where);
}

static void
say_changes(rt_cli *cli, yyjson_val *changes)
{
	yyjson_val *item, *settings = rt_json_get(changes, "settings");
	size_t i, max;
	rt_buf when;

	rt_buf_init(&when, cli->alloc, RT_BUF_UNLIMITED);
	add_when(cli, changes, &when);
	rt_term_c(&cli->out, "Since what was ");
	rt_term_line(&cli->out, rt_buf_str(&when));
	rt_term_c(&cli->out, ":\n");
	rt_buf_deinit(&when);
	if (!yyjson_is_true(rt_json_get(changes, "exact")))
		rt_cli_note(cli, "what was sent cannot be built again to the byte");
	yyjson_arr_foreach(rt_json_get(changes, "entries"), i, max, item)
		say_entry(cli, item);
	if (yyjson_is_true(rt_json_get(changes, "moved")))
		rt_term_c(&cli->out, "moved   entries stand in another order\n");
	if (yyjson_is_true(rt_json_get(changes, "prompt")))
		rt_term_c(&cli->out, "edited  the working prompt\n");
	yyjson_arr_foreach(settings, i, max, item)
	{
		rt_term_c(&cli->out, "set     ");
		rt_term_line(&cli->out, rt_json_str(item));
		rt_term_c(&cli->out, "\n");
	}
	if (yyjson_is_true(rt_json_get(changes, "same")))
		rt_term_c(&cli->out, "The same would be sent again, to the byte.\n");
}

static rt_status
run_sent(rt_cli *cli)
{
	const rt_provider *provider = NULL;
	rt_json_doc *doc = NULL;
	rt_old_view view;
	rt_buf row;
	rt_status st;

	if (rt_cli_has(cli, "tokens") || rt_cli_has(cli, "model") || rt_cli_has(cli, "budget") ||
	    rt_cli_has(cli, "provider") || rt_cli_has(cli, "at-op"))
		return rt_old_fail(cli, RT_USAGE,
				   "--sent and --changed are about what was sent; leave out what says "
				   "how to build another request");
	rt_buf_init(&row, cli->alloc, RT_BUF_UNLIMITED);
	rt_old_view_init(cli, &view);
	st = rt_engine_last_request(cli->session.engine, cli->session.place.disc, &row,
				    &cli->error);
	if (st == RT_NOT_FOUND)
		rt_old_hint(cli, st, "What would be sent now: retake context");
	if (st == RT_OK)
		st = rt_json_read(cli->alloc, rt_buf_str(&row), &doc, &cli->error);
	if (st == RT_OK)
		provider = rt_provider_named(
			rt_json_str(rt_json_get(rt_json_root(doc), "provider")));
	if (st == RT_OK && rt_cli_has(cli, "sent")) {
		st = show_sent(cli, rt_json_root(doc), provider);
	} else if (st == RT_OK) {
		st = rt_view_last_request_changes(cli->session.engine, cli->session.value,
						  cli->session.place, rt_json_root(doc), provider,
						  &view.buf, &cli->error);
		if (st == RT_OK && cli->json)
			st = rt_old_print_json(cli, rt_buf_str(&view.buf));
		else if ((st = rt_old_view_read(cli, &view, st)) == RT_OK)
			say_changes(cli, view.root);
	}
	rt_json_free(doc);
	rt_buf_deinit(&row);
	rt_old_view_deinit(&view);
	return st;
}

static rt_status
run_context(rt_cli *cli)
{
	bool tokens = rt_cli_has(cli, "tokens"), model = rt_cli_has(cli, "model");
	rt_cli_counting counting;
	rt_buf json;
	rt_status st = rt_old_open(cli, RT_SESSION_LOOK);

	if (st == RT_OK && (rt_cli_has(cli, "sent") || rt_cli_has(cli, "changed")))
		return run_sent(cli);
	if (st != RT_OK)
		return st;
	rt_buf_init(&json, cli->alloc, RT_BUF_UNLIMITED);
	rt_cli_counting_init(&counting, cli);
	st = build_request(cli, &counting, &json);
	if (st == RT_OK)
		st = rt_old_buf(cli, &json);
	/* The tour shows the request, and only that. */
	if (st == RT_OK && !cli->out.kept)
		st = note_limits(cli, tokens || model || counting.is_known);
	if (st == RT_OK && tokens)
		st = rt_cli_counting_print(&counting);
	else if (st == RT_OK && (cli->json || (!cli->out.is_tty && !rt_cli_has(cli, "pretty"))))
		st = rt_old_print_json(cli, rt_buf_str(&json));
	else if (st == RT_OK)
		print_request(cli, rt_buf_str(&json));
	rt_buf_deinit(&json);
	rt_cli_counting_deinit(&counting);
	return st;
}

static const rt_flag context_flags[] = {
	{"provider", 0, "NAME", RT_ARG_PROVIDER,
	 "openai, anthropic, ollama, gemini or one of config.toml; default: the model's"},
	{"model", 'm', "MODEL", RT_ARG_TEXT, "for whom; default: as ask chooses"},
	{"budget", 0, "TOKENS", RT_ARG_TEXT,
	 "leave the oldest entries out beyond so many; 0: as if it were not there"},
	{"tokens", 0, NULL, RT_ARG_TEXT, "not the request, but what each entry of it costs"},
	{"sent", 0, NULL, RT_ARG_TEXT, "what was sent last from this discussion, built again"},
	{"changed", 0, NULL, RT_ARG_TEXT,
	 "what has changed since: what would be sent otherwise now"},
	{"pretty", 0, NULL, RT_ARG_TEXT, "on several lines, as on a terminal"},
	{NULL, 0, NULL, RT_ARG_TEXT, NULL},
};

const rt_command rt_cli_context = {
	.name = "context",
	.group = RT_COMMANDS_LOOKING,
	.traits = RT_COMMAND_AT_OP,
	.usage = "[--provider NAME] [-m MODEL] [--budget TOKENS]\n"
		 "--tokens [-m MODEL] [--budget TOKENS]\n--sent\n--changed",
	.summary = "print the exact request that a model would be sent",
	.about =
		"The body is built from the entries as they are now: edits are in it, muted entries are "
		"not. Nothing is sent, and no key is needed.\n\n"
		"It is the body that ask would send: for the model of -m, else of the setting model, of "
		"RETAKE_MODEL or of config.toml. --provider shows the form that a provider takes, whatever "
		"the model is; so does a request without any model, in the form of OpenAI.\n\n"
		"Tokens are counted to the letter for models of OpenAI, whose encodings are published, "
		"and estimated for others; the last line of --tokens says which.\n\n"
		"Each discussion remembers what it was last sent with, by reference: --sent builds it "
		"again from the conversation as it was then, also where the reply never came.",
	.examples = "retake context --provider anthropic\n"
		    "retake context --tokens -m openai/gpt-4o --budget 8000\n"
		    "retake context --provider openai --json > request.json\n"
		    "retake context --changed",
	.flags = context_flags,
	.run_status = run_context,
};
