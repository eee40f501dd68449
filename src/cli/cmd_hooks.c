/* SPDX-License-Identifier: MIT
 *
 * hooks: lists the user's hooks, trusts those of a work folder, and tests their answers. */
#include "hooks/hooks.h"

#include <stdio.h>

#include "cli/model_session.h"

enum { SHOWN_MAX = 4000 /* bytes of a hook's output, for people */ };

static void
close_hooks(void *item)
{
	rt_hooks *hooks = item;

	hooks->ops->close(hooks);
}

/* With the definitions of the configuration. */
static rt_hooks *
open_hooks(rt_cli *cli)
{
	rt_scope *s = &cli->s;
	const rt_config *config = rt_cli_config(cli);
	rt_hooks *hooks = NULL;

	if (config != NULL)
		RT_TRY(s, rt_session_hooks_new(&cli->session, config->hooks, NULL, &hooks,
					       &s->error));
	rt_scope_defer(s, close_hooks, hooks);
	return rt_ok(s) ? hooks : NULL;
}

/* --- list, trust, untrust --- */

typedef struct listing {
	rt_cli *cli;
	size_t count, waiting; /* waiting: to be trusted */
	const char *did;       /* "Trusted", or NULL: a list */
	rt_buf *json;
} listing;

static void
json_hook(rt_cli *cli, rt_buf *json, const rt_hook_info *info)
{
	const rt_hook *hook = info->hook;

	rt_json_open(json, NULL, '{');
	rt_json_put_str(json, "name", hook->name);
	rt_json_put_str(json, "event", hook->event_name);
	rt_json_put_c(json, "source", rt_hook_source_words[hook->source]);
	rt_json_put_c(json, "state", info->state);
	rt_json_open(json, "run", '[');
	for (size_t i = 0; i < hook->arg_count; i++)
		rt_json_put_str(json, NULL, hook->args[i]);
	rt_json_close(json, ']');
	rt_json_put_i64(json, "timeout_ms", hook->timeout_ms);
	rt_json_put_bool(json, "required", hook->required);
	rt_json_put_bool(json, "async", hook->is_async);
	rt_json_put_bool(json, "persistent", hook->persistent);
	rt_json_put_bool(json, "once", hook->once);
	if (hook->match.size > 0)
		rt_cli_put_bytes(cli, json, "match", hook->match);
	if (info->why.size > 0)
		rt_cli_put_bytes(cli, json, "why", info->why);
	if (info->hash.size > 0)
		rt_cli_put_bytes(cli, json, "sha256", info->hash);
	rt_json_close(json, '}');
}

static bool
show_hook(void *ctx, const rt_hook_info *info)
{
	listing *l = ctx;
	const rt_hook *hook = info->hook;
	rt_term *out = &l->cli->out;
	rt_buf *words = rt_scope_buf(&l->cli->s);

	l->count++;
	l->waiting += strcmp(info->state, "new") == 0 || strcmp(info->state, "changed") == 0;
	json_hook(l->cli, l->json, info);
	if (l->cli->json || l->cli->quiet)
		return true;
	if (l->did != NULL) {
		rt_term_f(out, "%s ", l->did);
		rt_term_line(out, hook->name);
		if (info->runs)
			rt_term_f(out, " with the hash %.16s…", info->hash.ptr);
		rt_term_c(out, "\n");
		return true;
	}
	for (size_t i = 0; i < hook->arg_count; i++) {
		rt_buf_add_c(words, i > 0 ? " " : "");
		rt_args_add_quoted(words, hook->args[i].ptr);
	}
	rt_term_style(out, info->runs ? RT_STYLE_GREEN : RT_STYLE_YELLOW);
	rt_term_f(out, "%-8s", info->state);
	rt_term_style(out, RT_STYLE_NONE);
	rt_term_f(out, "%-8s", rt_hook_source_words[hook->source]);
	rt_term_line(out, hook->event_name);
	rt_term_c(out, "  ");
	rt_term_line(out, hook->name);
	rt_term_c(out, "\n        ");
	rt_term_line(out, info->why.size > 0 ? info->why : rt_buf_str(words));
	rt_term_c(out, "\n");
	return true;
}

static listing
begin_listing(rt_cli *cli, const char *did)
{
	listing l = {.cli = cli, .did = did, .json = rt_scope_buf(&cli->s)};

	rt_json_open(l.json, NULL, '{');
	rt_json_open(l.json, "hooks", '[');
	return l;
}

static void
end_listing(listing *l, const rt_hooks *hooks)
{
	rt_json_close(l->json, ']');
	rt_cli_put_bytes(l->cli, l->json, "warnings", rt_hooks_warnings(hooks));
	rt_json_close(l->json, '}');
	if (l->cli->json)
		rt_cli_print_json(l->cli, l->json);
}

static void
list(rt_cli *cli, rt_hooks *hooks)
{
	listing l = begin_listing(cli, NULL);

	RT_TRY(&cli->s, rt_hooks_list(hooks, show_hook, &l, &cli->s.error));
	end_listing(&l, hooks);
	if (cli->json || !rt_ok(&cli->s))
		return;
	if (l.count == 0)
		rt_cli_advise(cli, "There are no hooks. Events: retake help events\n");
	else if (l.waiting > 0)
		rt_cli_advise(cli, "%zu not trusted: read %s, then run: retake hooks trust\n",
			      l.waiting, l.waiting == 1 ? "it" : "them");
}

static void
change_trust(rt_cli *cli, rt_hooks *hooks, bool trust)
{
	listing l = begin_listing(cli, trust ? "Trusted" : "No longer trusted:");

	if (!trust && rt_cli_word(cli, 1) == NULL)
		rt_cli_fail(cli, RT_USAGE, "hooks untrust needs a NAME");
	for (size_t i = 1; i == 1 || rt_cli_word(cli, i) != NULL; i++)
		RT_TRY(&cli->s, rt_hooks_trust(hooks, rt_str_of(rt_cli_word(cli, i)), trust,
					       show_hook, &l, &cli->s.error));
	if (cli->s.status == RT_NOT_FOUND)
		rt_cli_hint(cli, "Hooks: retake hooks");
	end_listing(&l, hooks);
}

/* --- test --- */

typedef struct trial {
	rt_cli *cli;
	size_t count;
	rt_buf *json;
} trial;

static void
show_part(rt_cli *cli, const char *what, rt_str bytes)
{
	size_t size = rt_utf8_cut(bytes, SHOWN_MAX);

	if (bytes.size == 0)
		return;
	rt_term_f(&cli->out, "  %s\n", what);
	rt_term_indented(&cli->out, rt_str_trim(rt_str_at(bytes.ptr, size)), 4);
	if (size < bytes.size)
		rt_term_f(&cli->out, "    (%zu more bytes)\n", bytes.size - size);
}

static void
show_trace(void *ctx, const rt_hook_trace *trace)
{
	trial *t = ctx;
	rt_cli *cli = t->cli;
	rt_buf *json = t->json;

	t->count++;
	rt_json_open(json, NULL, '{');
	rt_json_put_str(json, "hook", trace->name);
	rt_json_put_bool(json, "ran", trace->ran);
	rt_json_put_i64(json, "ms", trace->result.ms);
	if (trace->ran && trace->result.outcome == RT_PROCESS_EXITED)
		rt_json_put_i64(json, "exit", trace->result.code);
	if (trace->ran && trace->result.outcome == RT_PROCESS_SIGNALLED)
		rt_json_put_i64(json, "signal", trace->result.code);
	rt_cli_put_bytes(cli, json, "ended", trace->outcome);
	rt_cli_put_bytes(cli, json, "in", trace->in);
	rt_cli_put_bytes(cli, json, "out", trace->out);
	rt_cli_put_bytes(cli, json, "err", trace->err);
	rt_json_close(json, '}');
	if (cli->json)
		return;
	rt_term_style(&cli->out, RT_STYLE_BOLD);
	rt_term_line(&cli->out, trace->name);
	rt_term_style(&cli->out, RT_STYLE_NONE);
	rt_term_c(&cli->out, ": ");
	rt_term_line(&cli->out, trace->outcome);
	if (trace->ran)
		rt_term_f(&cli->out, ", after %lld ms", (long long)trace->result.ms);
	rt_term_c(&cli->out, "\n");
	show_part(cli, "in:", trace->in);
	show_part(cli, "out:", trace->out);
	show_part(cli, "errors:", trace->err);
	rt_term_flush(&cli->out);
}

static void
print_trial(trial *t, const rt_hook_answer *answer)
{
	static const char *const words[] = {"allow", "deny", "replace"};
	rt_cli *cli = t->cli;
	rt_str traces = rt_scope_str(&cli->s, t->json);
	rt_buf *json = rt_scope_buf(&cli->s);

	if (!rt_ok(&cli->s))
		return;
	if (!cli->json && t->count == 0) {
		rt_term_c(&cli->out, "No hook handles this event.\n");
		return;
	}
	if (!cli->json) {
		rt_term_f(&cli->out, "Combined decision: %s\n", words[answer->decision]);
		show_part(cli, "reason:", rt_buf_str(&answer->reason));
		show_part(cli, "patch:", rt_buf_str(&answer->patch));
		show_part(cli, "summary:", rt_buf_str(&answer->summary));
		show_part(cli, "notes:", rt_buf_str(&answer->notes));
		return;
	}
	rt_json_open(json, NULL, '{');
	rt_json_put_c(json, "decision", words[answer->decision]);
	rt_cli_put_bytes(cli, json, "reason", rt_buf_str(&answer->reason));
	rt_cli_put_bytes(cli, json, "by", rt_buf_str(&answer->by));
	rt_cli_put_bytes(cli, json, "notes", rt_buf_str(&answer->notes));
	rt_json_put_raw(json, "patch",
			answer->patch.size > 0 ? rt_buf_str(&answer->patch) : RT_STR("null"));
	rt_json_put_raw(json, "summary",
			answer->summary.size > 0 ? rt_buf_str(&answer->summary) : RT_STR("null"));
	rt_json_put_raw(json, "hooks", traces);
	rt_json_close(json, '}');
	rt_cli_print_json(cli, json);
}

/* The members of the object in a file, without the braces. */
static rt_str
read_members(rt_cli *cli, const char *path)
{
	yyjson_val *root = rt_json_parse(&cli->s, rt_cli_read_file(cli, path));
	rt_buf *json = rt_scope_buf(&cli->s);
	rt_str text;

	if (!yyjson_is_obj(root))
		rt_cli_fail(cli, RT_USAGE, "%s is not a JSON object", path);
	rt_json_add_value(json, root);
	text = rt_scope_str(&cli->s, json);
	return text.size < 2 ? text : rt_str_at(text.ptr + 1, text.size - 2);
}

static bool
is_interrupted(void *ctx)
{
	(void)ctx;
	return rt_host_interrupted();
}

static void
check_event(rt_cli *cli, const char *event)
{
	const char *nearest;

	if (event == NULL) {
		rt_cli_fail(cli, RT_USAGE, "hooks test needs an EVENT");
		return;
	}
	if (rt_hook_event_find(rt_str_of(event)) != NULL)
		return;
	nearest = rt_hook_event_nearest(rt_str_of(event));
	rt_cli_hint(cli, "%s%s%sAll events: retake help events",
		    nearest == NULL ? "" : "Did you mean ", nearest == NULL ? "" : nearest,
		    nearest == NULL ? "" : "?   ");
	rt_cli_fail(cli, RT_NOT_FOUND, "there is no event \"%.60s\"", event);
}

static void
test_hooks(rt_cli *cli, rt_hooks *hooks)
{
	rt_scope *s = &cli->s;
	const char *event = rt_cli_word(cli, 1), *path = rt_cli_word(cli, 2);
	const char *match = rt_cli_flag_value(cli, "subject");
	rt_str subject = rt_str_of(match), members = {NULL, 0};
	trial t = {.cli = cli, .json = rt_scope_buf(s)};
	rt_hook_answer answer;

	check_event(cli, event);
	if (path != NULL && rt_ok(s))
		members = read_members(cli, path);
	rt_hook_answer_init(&answer, cli->alloc);
	rt_json_open(t.json, NULL, '[');
	rt_host_hold(true); /* Ctrl+C ends the hook, not only this program */
	RT_TRY(s, rt_hooks_test(hooks, event, members, match == NULL ? NULL : &subject,
				is_interrupted, NULL, show_trace, &t, &answer, &s->error));
	rt_host_hold(false);
	rt_json_close(t.json, ']');
	print_trial(&t, &answer);
	rt_hook_answer_deinit(&answer);
}

static void
run_hooks(rt_cli *cli)
{
	static const char *const verbs[] = {"list", "trust", "untrust", "test", NULL};
	const char *word = rt_cli_word(cli, 0), *verb = word == NULL ? "list" : word;
	rt_hooks *hooks;

	if (!rt_str_is_one_of(rt_str_of(verb), verbs))
		rt_cli_fail(cli, RT_USAGE, "hooks has no subcommand \"%.40s\"; use list, trust, "
			    "untrust or test", verb);
	hooks = open_hooks(cli);
	if (hooks == NULL)
		return;
	if (!cli->json)
		rt_session_note_lines(&cli->session, rt_hooks_warnings(hooks));
	if (strcmp(verb, "list") == 0)
		list(cli, hooks);
	else if (strcmp(verb, "test") == 0)
		test_hooks(cli, hooks);
	else
		change_trust(cli, hooks, strcmp(verb, "trust") == 0);
}

static const rt_flag hooks_flags[] = {
	{"subject", 0, "WORDS", RT_ARG_TEXT,
	 "with test: the value for match, such as \"role=user\"; default: run every hook of the "
	 "event"},
	{NULL, 0, NULL, RT_ARG_TEXT, NULL},
};

const rt_command rt_cli_hooks = {
	.name = "hooks",
	.group = RT_COMMANDS_MAINTENANCE,
	.max_words = RT_COMMAND_WORDS_ANY,
	.usage = "[list]\n"
		 "trust [NAME…]\n"
		 "untrust NAME…\n"
		 "test EVENT [FILE]",
	.summary = "list, trust and test hooks",
	.about =
		"Hooks are your programs in ~/.config/retake/hooks/EVENT/NN-name, and the programs "
		"in .retake/hooks/EVENT/NN-name below the working directory, which run only after "
		"you have trusted them, and only until they change. test runs the hooks of an "
		"event with a sample, or with the JSON object in FILE, and prints input, output, "
		"exit status and duration; nothing else happens. Events: retake help events",
	.examples = "retake hooks\nretake hooks trust\nretake hooks test entry.before_add",
	.flags = hooks_flags,
	.kinds = {RT_ARG_TEXT, RT_ARG_TEXT, RT_ARG_FILE},
	.run = run_hooks,
};
