/* SPDX-License-Identifier: MIT
 *
 * The events of hooks, explained from their table. */
#include "cli/help.h"
#include "hooks/event.h"

/* Description of the possible answers to an event. */
static const char *
may(const rt_hook_event *event)
{
	if (!(event->traits & RT_HOOK_BEFORE))
		return "notification only";
	if (event->traits & RT_HOOK_SUMMARIZES)
		return event->replaces[0] != 0 ? "deny, replace, summarise" : "deny, summarise";
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

/* Lines of "name: text". */
static void
put_members(rt_buf *out, const char *members)
{
	rt_str rest = rt_str_of(members), line;

	rt_json_open(out, "members", '{');
	while (rt_str_split(&rest, '\n', &line)) {
		size_t key = rt_str_find(line, RT_STR(":"), 0);

		RT_ASSERT(key + 2 < line.size);
		rt_json_add_key_str(out, rt_str_at(line.ptr, key));
		rt_json_add_string(out, rt_str_skip(line, key + 2));
	}
	rt_json_close(out, '}');
}

static void
print_json(rt_cli *cli)
{
	rt_buf *out = rt_scope_buf(&cli->s);

	rt_json_open(out, NULL, '{');
	put_members(out, rt_hook_common_members);
	rt_json_open(out, "events", '[');
	for (const rt_hook_event *e = rt_hook_events; e->name != NULL; e++) {
		rt_json_open(out, NULL, '{');
		rt_json_put_c(out, "name", e->name);
		if (e->alias != NULL)
			rt_json_put_c(out, "alias", e->alias);
		rt_json_put_c(out, "when", e->when);
		rt_json_put_bool(out, "deny", (e->traits & RT_HOOK_BEFORE) != 0);
		rt_json_put_bool(out, "summary", (e->traits & RT_HOOK_SUMMARIZES) != 0);
		rt_cli_put_words(out, "replace", e->replaces);
		rt_cli_put_words(out, "match", e->subject);
		put_members(out, e->members);
		rt_json_open(out, "sample", '{');
		rt_buf_add_c(out, e->sample);
		rt_json_close(out, '}');
		rt_json_close(out, '}');
	}
	rt_json_close(out, ']');
	rt_json_close(out, '}');
	rt_cli_print_json(cli, out);
}

void
rt_cli_help_events(rt_cli *cli)
{
	if (cli->json) {
		print_json(cli);
		return;
	}
	if (!rt_cli_has(cli, "no-pager"))
		rt_term_page(&cli->out);
	rt_term_style(&cli->out, RT_STYLE_BOLD);
	rt_term_c(&cli->out, "Events");
	rt_term_style(&cli->out, RT_STYLE_NONE);
	rt_term_c(&cli->out, "\nA hook reads one JSON object: {\"v\":1,\"event\":\"…\",\"id\":\"…\"} "
			     "and, with every event,\n");
	add_members(cli, rt_hook_common_members);
	rt_term_c(&cli->out, "It prints nothing, or {\"decision\":\"allow|deny|replace\"} with "
			     "\"reason\", \"note\", \"patch\".\n");
	for (const rt_hook_event *e = rt_hook_events; e->name != NULL; e++)
		explain(cli, e);
}

void
rt_cli_manpage_events(rt_buf *out)
{
	const rt_hook_event *event;

	rt_buf_add_c(out, ".SH EVENTS\nEvents that hooks can handle. Details: \\fBretake help "
			  "events\\fR\n");
	for (event = rt_hook_events; event->name != NULL; event++) {
		rt_buf_add_f(out, ".TP\n\\fB%s\\fR", event->name);
		if (event->alias != NULL)
			rt_buf_add_f(out, " (%s)", event->alias);
		rt_buf_add_f(out, "\n%s (%s)\n", event->when, may(event));
	}
}
