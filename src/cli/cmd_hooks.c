/* SPDX-License-Identifier: MIT
 *
 * hooks: programs of the person's own that are told what happens: which there are, which of
 * a work folder are trusted, and what they would say. */
#include "hooks/hooks.h"

#include <stdio.h>

#include "cli/model_session.h"

enum { SHOWN_MAX = 4000 /* bytes of what a hook wrote, for people */ };

/* With the definitions of the configuration. */
static rt_status
open_hooks(rt_cli *cli, rt_hooks **out)
{
	const rt_config *config = NULL;
	rt_status st = rt_old_config(cli, &config);

	*out = NULL;
	return st == RT_OK
		       ? rt_session_hooks_new(&cli->session, config->hooks, NULL, out, &cli->error)
		       : st;
}

/* Bytes of anybody's as a JSON text. */
static void
add_bytes(rt_cli *cli, rt_buf *json, const char *key, rt_str bytes)
{
	rt_buf text;

	rt_buf_init(&text, cli->alloc, RT_BUF_UNLIMITED);
	rt_utf8_repair(&text, bytes);
	rt_json_add_key(json, key);
	rt_json_add_string(json, rt_buf_str(&text));
	if (text.status != RT_OK)
		json->status = text.status;
	rt_buf_deinit(&text);
}

/* --- list, trust, untrust --- */

typedef struct listing {
	rt_cli *cli;
	size_t count, waiting; /* waiting: to be trusted */
	const char *did;       /* "Trusted", or NULL: a list */
	rt_buf json;
} listing;

static void
add_words(rt_buf *out, const rt_hook_info *info)
{
	size_t i;

	for (i = 0; i < info->hook->arg_count; i++) {
		if (i > 0)
			rt_buf_add_byte(out, ' ');
		rt_args_add_quoted(out, info->hook->args[i].ptr);
	}
}

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
		add_bytes(cli, json, "match", hook->match);
	if (info->why.size > 0)
		add_bytes(cli, json, "why", info->why);
	if (info->hash.size > 0)
		add_bytes(cli, json, "sha256", info->hash);
	rt_json_close(json, '}');
}

static bool
show_hook(void *ctx, const rt_hook_info *info)
{
	listing *l = ctx;
	rt_term *out = &l->cli->out;
	rt_buf words;

	l->count++;
	l->waiting += strcmp(info->state, "new") == 0 || strcmp(info->state, "changed") == 0;
	json_hook(l->cli, &l->json, info);
	if (l->cli->json || l->cli->quiet)
		return true;
	if (l->did != NULL) {
		rt_term_f(out, "%s ", l->did);
		rt_term_line(out, info->hook->name);
		if (info->runs)
			rt_term_f(out, " with the hash %.16s…", info->hash.ptr);
		rt_term_c(out, "\n");
		return true;
	}
	rt_buf_init(&words, l->cli->alloc, RT_BUF_UNLIMITED);
	add_words(&words, info);
	rt_term_style(out, info->runs ? RT_STYLE_GREEN : RT_STYLE_YELLOW);
	rt_term_f(out, "%-8s", info->state);
	rt_term_style(out, RT_STYLE_NONE);
	rt_term_f(out, "%-8s", rt_hook_source_words[info->hook->source]);
	rt_term_line(out, info->hook->event_name);
	rt_term_c(out, "  ");
	rt_term_line(out, info->hook->name);
	rt_term_c(out, "\n        ");
	rt_term_line(out, info->why.size > 0 ? info->why : rt_buf_str(&words));
	rt_term_c(out, "\n");
	rt_buf_deinit(&words);
	return true;
}

static rt_status
print_listing(listing *l, const rt_hooks *hooks)
{
	rt_str warnings = rt_hooks_warnings(hooks);
	rt_buf json;
	rt_status st;

	rt_buf_init(&json, l->cli->alloc, RT_BUF_UNLIMITED);
	rt_buf_add_c(&json, "{\"hooks\":[");
	rt_buf_add_str(&json, rt_buf_str(&l->json));
	rt_buf_add_byte(&json, ']');
	add_bytes(l->cli, &json, "warnings", warnings);
	rt_buf_add_byte(&json, '}');
	st = rt_old_buf(l->cli, &l->json);
	if (st == RT_OK)
		st = rt_old_buf(l->cli, &json);
	if (st == RT_OK)
		st = rt_old_print_json(l->cli, rt_buf_str(&json));
	rt_buf_deinit(&json);
	return st;
}

static rt_status
list(rt_cli *cli, rt_hooks *hooks)
{
	listing l = {.cli = cli};
	rt_status st;

	rt_buf_init(&l.json, cli->alloc, RT_BUF_UNLIMITED);
	st = rt_hooks_list(hooks, show_hook, &l, &cli->error);
	if (st == RT_OK && cli->json)
		st = print_listing(&l, hooks);
	else if (st == RT_OK && l.count == 0)
		rt_cli_advise(cli, "There are no hooks. What they can be told of: "
				   "retake help events\n");
	else if (st == RT_OK && l.waiting > 0)
		rt_cli_advise(cli, "%zu not run until you have looked at %s and said: "
				   "retake hooks trust\n",
			      l.waiting, l.waiting == 1 ? "it" : "them");
	rt_buf_deinit(&l.json);
	return st;
}

static rt_status
change_trust(rt_cli *cli, rt_hooks *hooks, bool trust)
{
	listing l = {.cli = cli, .did = trust ? "Trusted" : "Not trusted any more:"};
	rt_status st = RT_OK;
	size_t i;

	if (!trust && rt_cli_word(cli, 1) == NULL)
		return rt_old_fail(cli, RT_USAGE, "hooks untrust needs to know which: a NAME");
	rt_buf_init(&l.json, cli->alloc, RT_BUF_UNLIMITED);
	for (i = 1; st == RT_OK && (i == 1 || rt_cli_word(cli, i) != NULL); i++)
		st = rt_hooks_trust(hooks, rt_str_of(rt_cli_word(cli, i)), trust, show_hook, &l,
				    &cli->error);
	if (st == RT_NOT_FOUND)
		rt_old_hint(cli, st, "Which there are: retake hooks");
	if (st == RT_OK && cli->json)
		st = print_listing(&l, hooks);
	rt_buf_deinit(&l.json);
	return st;
}

/* --- test --- */

typedef struct trial {
	rt_cli *cli;
	size_t count;
	rt_buf json;
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
		rt_term_f(&cli->out, "    (%zu bytes more)\n", bytes.size - size);
}

static void
show_trace(void *ctx, const rt_hook_trace *trace)
{
	trial *t = ctx;
	rt_cli *cli = t->cli;

	t->count++;
	rt_json_add_comma(&t->json);
	rt_buf_add_c(&t->json, "{\"hook\":");
	rt_json_add_string(&t->json, trace->name);
	rt_buf_add_f(&t->json, ",\"ran\":%s,\"ms\":%lld", trace->ran ? "true" : "false",
		     (long long)trace->result.ms);
	if (trace->ran && trace->result.outcome == RT_PROCESS_EXITED)
		rt_buf_add_f(&t->json, ",\"exit\":%d", trace->result.code);
	if (trace->ran && trace->result.outcome == RT_PROCESS_SIGNALLED)
		rt_buf_add_f(&t->json, ",\"signal\":%d", trace->result.code);
	add_bytes(cli, &t->json, "ended", trace->outcome);
	add_bytes(cli, &t->json, "in", trace->in);
	add_bytes(cli, &t->json, "out", trace->out);
	add_bytes(cli, &t->json, "err", trace->err);
	rt_buf_add_byte(&t->json, '}');
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

static rt_status
print_trial(trial *t, const rt_hook_answer *answer)
{
	static const char *const words[] = {"allow", "deny", "replace"};
	rt_cli *cli = t->cli;
	rt_status st = rt_old_buf(cli, &t->json);
	rt_buf json;

	if (st == RT_OK && !cli->json) {
		if (t->count == 0) {
			rt_term_c(&cli->out, "No hook is asked.\n");
			return RT_OK;
		}
		rt_term_f(&cli->out, "Together: %s\n", words[answer->decision]);
		show_part(cli, "reason:", rt_buf_str(&answer->reason));
		show_part(cli, "patch:", rt_buf_str(&answer->patch));
		show_part(cli, "summary:", rt_buf_str(&answer->summary));
		show_part(cli, "notes:", rt_buf_str(&answer->notes));
	}
	if (st != RT_OK || !cli->json)
		return st;
	rt_buf_init(&json, cli->alloc, RT_BUF_UNLIMITED);
	rt_buf_add_f(&json, "{\"decision\":\"%s\"", words[answer->decision]);
	add_bytes(cli, &json, "reason", rt_buf_str(&answer->reason));
	add_bytes(cli, &json, "by", rt_buf_str(&answer->by));
	add_bytes(cli, &json, "notes", rt_buf_str(&answer->notes));
	rt_json_add_key(&json, "patch");
	rt_buf_add_c(&json, answer->patch.size > 0 ? answer->patch.ptr : "null");
	rt_json_add_key(&json, "summary");
	rt_buf_add_c(&json, answer->summary.size > 0 ? answer->summary.ptr : "null");
	rt_buf_add_c(&json, ",\"hooks\":[");
	rt_buf_add_str(&json, rt_buf_str(&t->json));
	rt_buf_add_c(&json, "]}");
	st = rt_old_buf(cli, &json);
	if (st == RT_OK)
		st = rt_old_print_json(cli, rt_buf_str(&json));
	rt_buf_deinit(&json);
	return st;
}

/* What is in the braces of the file's object. */
static rt_status
read_members(rt_cli *cli, const char *path, rt_buf *out)
{
	rt_json_doc *doc = NULL;
	rt_status st;
	rt_buf text;

	rt_buf_init(&text, cli->alloc, RT_BUF_UNLIMITED);
	st = rt_old_read_file(cli, path, &text);
	if (st == RT_OK)
		st = rt_json_read(cli->alloc, rt_buf_str(&text), &doc, &cli->error);
	if (st == RT_OK && !yyjson_is_obj(rt_json_root(doc)))
		st = rt_old_fail(cli, RT_USAGE, "%s is no JSON object", path);
	if (st == RT_OK) {
		rt_buf_clear(&text);
		rt_json_add_value(&text, rt_json_root(doc));
		if (text.status == RT_OK)
			rt_buf_add(out, text.ptr + 1, text.size - 2);
		st = rt_old_buf(cli, text.status == RT_OK ? out : &text);
	}
	rt_json_free(doc);
	rt_buf_deinit(&text);
	return st;
}

static bool
is_interrupted(void *ctx)
{
	(void)ctx;
	return rt_host_interrupted();
}

static rt_status
test_hooks(rt_cli *cli, rt_hooks *hooks)
{
	const char *event = rt_cli_word(cli, 1), *path = rt_cli_word(cli, 2);
	const char *match = rt_cli_flag_value(cli, "subject");
	rt_str subject = rt_str_of(match);
	trial t = {.cli = cli};
	rt_hook_answer answer;
	rt_status st = RT_OK;
	rt_buf members;

	if (event == NULL)
		return rt_old_fail(cli, RT_USAGE, "hooks test needs to know which EVENT");
	if (rt_hook_event_find(rt_str_of(event)) == NULL) {
		const char *nearest = rt_hook_event_nearest(rt_str_of(event));

		rt_old_hint(cli, RT_NOT_FOUND, "%s%s%sAll events: retake help events",
			    nearest == NULL ? "" : "Did you mean ", nearest == NULL ? "" : nearest,
			    nearest == NULL ? "" : "?   ");
		return rt_old_fail(cli, RT_NOT_FOUND, "there is no event \"%.60s\"", event);
	}
	rt_buf_init(&members, cli->alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&t.json, cli->alloc, RT_BUF_UNLIMITED);
	rt_hook_answer_init(&answer, cli->alloc);
	if (path != NULL)
		st = read_members(cli, path, &members);
	if (st == RT_OK) {
		rt_host_hold(true); /* Ctrl+C ends the hook, not only us */
		st = rt_hooks_test(hooks, event, rt_buf_str(&members),
				   match == NULL ? NULL : &subject, is_interrupted, NULL,
				   show_trace, &t, &answer, &cli->error);
		rt_host_hold(false);
	}
	if (st == RT_OK)
		st = print_trial(&t, &answer);
	rt_hook_answer_deinit(&answer);
	rt_buf_deinit(&t.json);
	rt_buf_deinit(&members);
	return st;
}

static rt_status
run_hooks(rt_cli *cli)
{
	const char *verb = rt_cli_word(cli, 0);
	rt_hooks *hooks = NULL;
	rt_status st;

	if (verb != NULL && strcmp(verb, "list") != 0 && strcmp(verb, "trust") != 0 &&
	    strcmp(verb, "untrust") != 0 && strcmp(verb, "test") != 0)
		return rt_old_fail(cli, RT_USAGE,
				   "hooks can list, trust, untrust and test, not \"%.40s\"", verb);
	st = open_hooks(cli, &hooks);
	if (st != RT_OK)
		return st;
	if (!cli->json)
		rt_session_note_lines(&cli->session, rt_hooks_warnings(hooks));
	if (verb == NULL || strcmp(verb, "list") == 0)
		st = list(cli, hooks);
	else if (strcmp(verb, "test") == 0)
		st = test_hooks(cli, hooks);
	else
		st = change_trust(cli, hooks, strcmp(verb, "trust") == 0);
	hooks->ops->close(hooks);
	return st;
}

static const rt_flag hooks_flags[] = {
	{"subject", 0, "WORDS", RT_ARG_TEXT,
	 "of test: what match looks at, such as \"role=user\"; without it every hook of the event "
	 "is asked"},
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
	.summary = "list, trust and try the programs that are told what happens",
	.about =
		"Hooks are programs of yours in ~/.config/retake/hooks/EVENT/NN-name, and a project's in "
		".retake/hooks/EVENT/NN-name of the folder you work in. The latter are run only after "
		"you have trusted them, and only as long as not a byte of them changes.\n\n"
		"test asks the hooks of an event with a sample, or with the JSON object in FILE, and says "
		"what went in, what came out, how it ended and how long that took. Nothing else happens.\n\n"
		"What the events are: retake help events",
	.examples = "retake hooks\nretake hooks trust\nretake hooks test entry.before_add",
	.flags = hooks_flags,
	.kinds = {RT_ARG_TEXT, RT_ARG_TEXT, RT_ARG_FILE},
	.run_status = run_hooks,
};
