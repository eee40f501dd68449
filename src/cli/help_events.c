/* SPDX-License-Identifier: MIT
 *
 * The events of hooks, explained from their table. */
#include "cli/help.h"
#include "hooks/event.h"

/* What a hook may say to an event, in words. */
static const char *
may(const rt_hook_event *event)
{
	if (!(event->traits & RT_HOOK_BEFORE))
		return "tells only";
	if (event->traits & RT_HOOK_SUMMARIZES)
		return event->replaces[0] != 0 ? "deny, replace, sum up" : "deny, sum up";
	return event->replaces[0] != 0 ? "deny, replace" : "deny";
}

static void
add_members(rt_cli *cli, const char *members)
{
	if (members[0] != 0)
		rt_term_indented(&cli->out, rt_str_of(members), 4);
}

static void
explain(rt_cli *cli, const rt_hook_event *event)
{
	rt_term *out = &cli->out;

	rt_term_c(out, "\n");
	rt_term_style(out, RT_STYLE_BOLD);
	rt_term_c(out, event->name);
	rt_term_style(out, RT_STYLE_NONE);
	if (event->alias != NULL)
		rt_term_f(out, " (%s)", event->alias);
	rt_term_f(out, ": %s\n", event->when);
	rt_term_f(out, "  %s%s%s%s   match: %s\n", may(event), event->replaces[0] != 0 ? " (" : "",
		  event->replaces, event->replaces[0] != 0 ? ")" : "", event->subject);
	add_members(cli, event->members);
}

static void
add_members_json(rt_buf *out, const char *members)
{
	rt_buf_add_byte(out, '{');
	while (*members != 0) {
		size_t size = strcspn(members, "\n"), key = strcspn(members, ":");

		RT_ASSERT(key + 2 < size);
		rt_json_add_key_str(out, rt_str_at(members, key));
		rt_json_add_string(out, rt_str_at(members + key + 2, size - key - 2));
		members += size + (members[size] == '\n');
	}
	rt_buf_add_byte(out, '}');
}

static void
add_words_json(rt_buf *out, const char *words)
{
	rt_buf_add_byte(out, '[');
	while (*words != 0) {
		size_t size = strcspn(words, " ");

		rt_json_add_comma(out);
		rt_json_add_string(out, rt_str_at(words, size));
		words += size + (words[size] == ' ');
	}
	rt_buf_add_byte(out, ']');
}

static rt_status
print_json(rt_cli *cli)
{
	const rt_hook_event *event;
	rt_status st;
	rt_buf out;

	rt_buf_init(&out, cli->alloc, RT_BUF_UNLIMITED);
	rt_buf_add_c(&out, "{\"members\":");
	add_members_json(&out, rt_hook_common_members);
	rt_buf_add_c(&out, ",\"events\":[");
	for (event = rt_hook_events; event->name != NULL; event++) {
		rt_json_add_comma(&out);
		rt_buf_add_f(&out, "{\"name\":\"%s\"", event->name);
		if (event->alias != NULL)
			rt_buf_add_f(&out, ",\"alias\":\"%s\"", event->alias);
		rt_buf_add_c(&out, ",\"when\":");
		rt_json_add_string(&out, rt_str_of(event->when));
		rt_buf_add_f(&out, ",\"deny\":%s,\"summary\":%s,\"replace\":",
			     (event->traits & RT_HOOK_BEFORE) ? "true" : "false",
			     (event->traits & RT_HOOK_SUMMARIZES) ? "true" : "false");
		add_words_json(&out, event->replaces);
		rt_buf_add_c(&out, ",\"match\":");
		add_words_json(&out, event->subject);
		rt_buf_add_c(&out, ",\"members\":");
		add_members_json(&out, event->members);
		rt_buf_add_c(&out, ",\"sample\":{");
		rt_buf_add_c(&out, event->sample);
		rt_buf_add_c(&out, "}}");
	}
	rt_buf_add_c(&out, "]}");
	st = rt_old_buf(cli, &out);
	if (st == RT_OK)
		st = rt_old_print_json(cli, rt_buf_str(&out));
	rt_buf_deinit(&out);
	return st;
}

rt_status
rt_cli_help_events(rt_cli *cli)
{
	const rt_hook_event *event;

	if (cli->json)
		return print_json(cli);
	if (!rt_cli_has(cli, "no-pager"))
		rt_term_page(&cli->out);
	rt_term_style(&cli->out, RT_STYLE_BOLD);
	rt_term_c(&cli->out, "Events");
	rt_term_style(&cli->out, RT_STYLE_NONE);
	rt_term_c(&cli->out, "\nA hook reads one JSON object: {\"v\":1,\"event\":\"…\",\"id\":\"…\"} "
			     "and, with every event,\n");
	add_members(cli, rt_hook_common_members);
	rt_term_c(&cli->out, "It says nothing, or {\"decision\":\"allow|deny|replace\"} with "
			     "\"reason\", \"note\", \"patch\".\n");
	for (event = rt_hook_events; event->name != NULL; event++)
		explain(cli, event);
	return RT_OK;
}

void
rt_cli_manpage_events(rt_buf *out)
{
	const rt_hook_event *event;

	rt_buf_add_c(out, ".SH EVENTS\nWhat hooks are told of. "
			  "More of each: \\fBretake help events\\fR\n");
	for (event = rt_hook_events; event->name != NULL; event++) {
		rt_buf_add_f(out, ".TP\n\\fB%s\\fR", event->name);
		if (event->alias != NULL)
			rt_buf_add_f(out, " (%s)", event->alias);
		rt_buf_add_f(out, "\n%s (%s)\n", event->when, may(event));
	}
}
