/* SPDX-License-Identifier: MIT
 *
 * models: which there are to ask; and replay: what was sent for a reply. */
#include "cli/model_session.h"
#include "chat/last_request.h"

#include <stdio.h>

#include "llm/keys_host.h"
#include "llm/provider.h"
#include "llm/url.h"

/* ---- models ---- */

typedef struct listing {
	rt_cli *cli;
	rt_buf json;
	rt_str provider;
	size_t count;
} listing;

static void
add_model(void *ctx, rt_str name, size_t context_tokens)
{
	listing *l = ctx;

	l->count++;
	if (l->cli->json) {
		rt_json_add_comma(&l->json);
		rt_buf_add_c(&l->json, "{\"model\":");
		{
			rt_buf full;

			rt_buf_init(&full, l->cli->alloc, RT_BUF_UNLIMITED);
			rt_buf_add_str(&full, l->provider);
			rt_buf_add_byte(&full, '/');
			rt_buf_add_str(&full, name);
			rt_json_add_string(&l->json, rt_buf_str(&full));
			rt_buf_deinit(&full);
		}
		if (context_tokens > 0) {
			rt_json_add_key(&l->json, "context_tokens");
			rt_buf_add_u64(&l->json, context_tokens);
		}
		rt_buf_add_byte(&l->json, '}');
		return;
	}
	rt_term_line(&l->cli->out, l->provider);
	rt_term_c(&l->cli->out, "/");
	rt_term_line(&l->cli->out, name);
	if (context_tokens > 0)
		rt_term_f(&l->cli->out, "  (%zu tokens)", context_tokens);
	rt_term_c(&l->cli->out, "\n");
}

static bool
stopped(void *ctx)
{
	(void)ctx;
	return rt_host_interrupted();
}

/* What the server of a provider has. */
static rt_status
list_models(rt_cli *cli, const rt_config *config, const char *provider)
{
	rt_models_options options = {.alloc = cli->alloc, .env = cli->env, .config = config,
				     .tries = 2, .stop = stopped};
	listing l = {.cli = cli, .provider = rt_str_of(provider)};
	rt_model *model = NULL;
	rt_buf name, warnings;
	rt_status st = rt_models_check_provider(config, rt_str_of(provider), &cli->error);

	if (st != RT_OK)
		return rt_old_hint(cli, st,
				   "Providers: retake models   To set one up: retake help config");
	rt_buf_init(&l.json, cli->alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&name, cli->alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&warnings, cli->alloc, RT_BUF_UNLIMITED);
	if (strcmp(provider, "builtin") == 0) {
		rt_buf_add_byte(&l.json, '[');
		add_model(&l, RT_STR("echo"), 0);
		add_model(&l, RT_STR("summary"), 0);
		add_model(&l, RT_STR("play:FILE"), 0);
		st = RT_OK;
	} else {
		rt_buf_add_f(&name, "%s/-", provider); /* which of its models does not matter */
		options.name = rt_buf_str(&name);
		rt_host_hold(true);
		st = rt_models_open(&options, &model, NULL, &warnings, &cli->error);
		if (warnings.size > 0)
			rt_cli_note(cli, "%.*s", (int)rt_str_trim(rt_buf_str(&warnings)).size,
				    warnings.ptr);
		rt_buf_add_byte(&l.json, '[');
		if (st == RT_OK)
			st = rt_server_models(model, stopped, NULL, add_model, &l, &cli->error);
		rt_host_hold(false);
		if (model != NULL)
			model->ops->close(model);
	}
	rt_buf_add_byte(&l.json, ']');
	if (st == RT_OK && cli->json)
		st = rt_old_print_json(cli, rt_buf_str(&l.json));
	else if (st == RT_OK && l.count == 0)
		rt_cli_note(cli, "%s has no model; with Ollama: ollama pull NAME", provider);
	rt_buf_deinit(&l.json);
	rt_buf_deinit(&name);
	rt_buf_deinit(&warnings);
	return st;
}

/* One provider: where it is, and whether there is a key. */
static void
say_provider(listing *l, const rt_provider *kind, const rt_config_provider *config, rt_str name)
{
	rt_model_choice choice = {kind, config, name, rt_str_at("-", 1)};
	rt_cli *cli = l->cli;
	rt_buf key, said, url, warnings;
	const char *state;
	rt_error err;
	rt_status st;

	rt_buf_init(&key, cli->alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&said, cli->alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&url, cli->alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&warnings, cli->alloc, RT_BUF_UNLIMITED);
	memset(&err, 0, sizeof(err));
	st = kind->url == NULL ? RT_OK : rt_key_url(&choice, &said, &err);
	if (st == RT_OK && kind->url != NULL)
		rt_url_add_shown(&url, said.size > 0 ? rt_buf_str(&said) : rt_str_of(kind->url));
	/* a command is not run just to look */
	if (config != NULL && config->key_cmd_count > 0)
		state = "key by command";
	else if (kind->url == NULL)
		state = "always there";
	else if (st != RT_OK)
		state = "wrong url";
	else if (rt_key_find(&choice, NULL, NULL, &key, &warnings, &err) != RT_OK)
		state = "no key";
	else if (key.size > 0)
		state = "key found";
	else
		state = kind->key_env != NULL && kind->key_needed && config == NULL ? "no key"
										    : "needs no key";
	if (key.size > 0)
		memset(key.ptr, 0, key.size);
	if (cli->json) {
		rt_json_add_comma(&l->json);
		rt_buf_add_c(&l->json, "{\"provider\":");
		rt_json_add_string(&l->json, name);
		rt_json_add_key(&l->json, "kind");
		rt_json_add_string(&l->json, rt_str_of(kind->name));
		rt_json_add_key(&l->json, "url");
		rt_json_add_string(&l->json, rt_buf_str(&url));
		rt_json_add_key(&l->json, "state");
		rt_json_add_string(&l->json, rt_str_of(state));
		rt_buf_add_byte(&l->json, '}');
	} else {
		rt_term_style(&cli->out, RT_STYLE_BOLD);
		rt_term_line(&cli->out, name);
		rt_term_style(&cli->out, RT_STYLE_NONE);
		rt_term_spaces(&cli->out, name.size < 11 ? 11 - name.size : 1);
		rt_term_f(&cli->out, " %-14s ", state);
		rt_term_line(&cli->out, url.size > 0 ? rt_buf_str(&url) : rt_str_of(kind->title));
		if (strcmp(state, "no key") == 0 && kind->key_env != NULL && config == NULL)
			rt_term_f(&cli->out, "  (set %s)", kind->key_env);
		rt_term_c(&cli->out, "\n");
	}
	rt_buf_deinit(&key);
	rt_buf_deinit(&said);
	rt_buf_deinit(&url);
	rt_buf_deinit(&warnings);
}

/* The model that the project's setting names; nothing where there is no store yet. */
static rt_status
find_setting(rt_cli *cli, rt_buf *out)
{
	rt_status st = rt_old_open(cli, RT_SESSION_LOOK);

	if (st == RT_NOT_FOUND)
		return RT_OK;
	return st == RT_OK ? rt_model_session_setting(&cli->session, out, &cli->error) : st;
}

static rt_status
list_providers(rt_cli *cli, const rt_config *config)
{
	listing l = {.cli = cli};
	rt_buf chosen;
	size_t i;
	rt_status st = RT_OK;

	rt_buf_init(&l.json, cli->alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&chosen, cli->alloc, RT_BUF_UNLIMITED);
	rt_buf_add_byte(&l.json, '[');
	for (i = 0; i < config->provider_count; i++)
		say_provider(&l, config->providers[i].kind, &config->providers[i],
			     config->providers[i].name);
	for (i = 0; rt_providers[i] != NULL; i++)
		if (rt_config_provider_named(config, rt_str_of(rt_providers[i]->name)) == NULL)
			say_provider(&l, rt_providers[i], NULL, rt_str_of(rt_providers[i]->name));
	rt_buf_add_byte(&l.json, ']');
	if (cli->json)
		st = rt_old_print_json(cli, rt_buf_str(&l.json));
	else
		st = find_setting(cli, &chosen);
	if (st != RT_OK || cli->json) {
		rt_buf_clear(&chosen);
	} else if (chosen.size > 0) {
		rt_term_f(&cli->out, "\nAsked is ");
		rt_term_line(&cli->out, rt_buf_str(&chosen));
		rt_term_c(&cli->out, ", as the setting model says.\n");
	} else if (config->model.size > 0) {
		rt_term_f(&cli->out, "\nAsked is ");
		rt_term_line(&cli->out, config->model);
		rt_term_c(&cli->out, ", as the configuration says.\n");
	} else {
		rt_cli_advise(cli, "\nNone is chosen yet: retake set model PROVIDER/NAME\n");
	}
	rt_buf_deinit(&l.json);
	rt_buf_deinit(&chosen);
	return st;
}

static rt_status
run_models(rt_cli *cli)
{
	const char *provider = rt_cli_word(cli, 0);
	const rt_config *config = NULL;
	rt_status st = rt_old_config(cli, &config);

	if (st != RT_OK)
		return st;
	return provider == NULL ? list_providers(cli, config) : list_models(cli, config, provider);
}

const rt_command rt_cli_models = {
	.name = "models",
	.group = RT_COMMANDS_ASKING,
	.max_words = 1,
	.usage = "[PROVIDER]",
	.summary = "list providers, or the models that one has",
	.about =
		"Without a word: the providers, where they are, and whether a key was found (never the "
		"key itself). With one: the models that its server offers. Providers of your own stand "
		"in config.toml.",
	.examples = "retake models\nretake models ollama",
	.kinds = {RT_ARG_PROVIDER},
	.run_status = run_models,
};

/* ---- replay ---- */

/* The record of an entry's request. */
typedef struct finding {
	rt_cli *cli;
	const char *entry;
	char *store;
	rt_buf line;   /* of the request; empty: not found yet */
	rt_buf newest; /* of the file that is read: its requests so far */
} finding;

/* Of this store and this project? Ids are the same everywhere. */
static bool
is_ours(finding *f, rt_str line)
{
	rt_json_doc *doc = NULL;
	yyjson_val *root;
	uint64_t project = 0;
	bool ours;

	if (rt_json_read(f->cli->alloc, line, &doc, NULL) != RT_OK)
		return false;
	root = rt_json_root(doc);
	(void)rt_json_u64(rt_json_get(root, "project"), &project);
	ours = f->store != NULL && rt_str_is(rt_json_str(rt_json_get(root, "store")), f->store) &&
	       project == rt_engine_project_number(f->cli->session.engine);
	rt_json_free(doc);
	return ours;
}

/* Within a file a request stands before its reply, and files come newest first. So the
 * requests of a file are kept until the reply is seen. */
static bool
look_at_line(void *ctx, rt_str line)
{
	finding *f = ctx;
	rt_json_doc *doc = NULL;
	yyjson_val *root;
	rt_str what;
	bool go_on = true;

	if (rt_json_read(f->cli->alloc, line, &doc, NULL) != RT_OK)
		return true;
	root = rt_json_root(doc);
	what = rt_json_str(rt_json_get(root, "what"));
	if (rt_str_is(what, "request")) {
		rt_buf_add_str(&f->newest, line);
		rt_buf_add_byte(&f->newest, '\n');
	} else if (rt_str_is(what, "reply") &&
		   rt_str_is(rt_json_str(rt_json_get(root, "entry")), f->entry)) {
		rt_str name = rt_json_str(rt_json_get(root, "request"));
		size_t at = SIZE_MAX, from, end;
		rt_buf member; /* a replay has the name of what it repeats under another key */

		rt_buf_init(&member, f->cli->alloc, RT_BUF_UNLIMITED);
		rt_json_add_key(&member, "request");
		rt_json_add_string(&member, name);
		if (name.size > 0 && member.status == RT_OK)
			at = rt_str_find(rt_buf_str(&f->newest), rt_buf_str(&member), 0);
		rt_buf_deinit(&member);
		if (at != SIZE_MAX) {
			for (from = at; from > 0 && f->newest.ptr[from - 1] != '\n'; from--)
				;
			end = rt_str_find(rt_buf_str(&f->newest), RT_STR("\n"), at);
			go_on = !is_ours(f, rt_str_at(f->newest.ptr + from, end - from));
			rt_buf_clear(&f->line);
			if (!go_on)
				rt_buf_add_str(&f->line, rt_str_at(f->newest.ptr + from, end - from));
		}
	}
	rt_json_free(doc);
	return go_on;
}

/* Is it the server that the conversation was held with? A name that stays may mean another
 * one by now, and what is private is not to go there unasked. */
static rt_status
check_server(rt_cli *cli, yyjson_val *record, const rt_model *model)
{
	rt_str then = rt_json_str(rt_json_get(record, "server"));

	if (rt_str_eq(then, model->server))
		return RT_OK;
	rt_old_hint(cli, RT_REFUSED, "To send it there all the same: -m %.*s/%.*s",
		    RT_STR_ARG(rt_model_service(model)), RT_STR_ARG(model->name));
	return rt_old_fail(cli, RT_REFUSED, "%.*s was %.*s when this was sent, and is %.*s now",
			   RT_STR_ARG(rt_model_service(model)),
			   RT_STR_ARG(then.size > 0 ? then : RT_STR("no server")),
			   RT_STR_ARG(model->server.size > 0 ? model->server : RT_STR("no server")));
}

/* The model that was asked then, of the provider as the configuration calls it. */
static rt_status
open_same(rt_cli_model_session *session, yyjson_val *record)
{
	rt_str service = rt_json_str(rt_json_get(record, "service"));
	rt_cli *cli = session->cli;
	rt_buf name;
	rt_status st;

	if (service.size == 0) {
		rt_old_hint(cli, RT_REFUSED, "Say to whom: -m PROVIDER/NAME   Providers: retake models");
		return rt_old_fail(cli, RT_REFUSED, "an older version of Retake sent this, and did not "
				   "write down to which server");
	}
	rt_buf_init(&name, cli->alloc, RT_BUF_UNLIMITED);
	rt_buf_add_str(&name, service);
	rt_buf_add_byte(&name, '/');
	rt_buf_add_str(&name, rt_json_str(rt_json_get(record, "model")));
	st = rt_old_buf(cli, &name);
	if (st == RT_OK)
		st = rt_model_session_model(&session->m, rt_buf_str(&name), true, &session->m.model,
					    &session->cli->error);
	if (st == RT_OK && !rt_str_eq(rt_model_service(session->m.model), service))
		st = rt_old_fail(cli, RT_REFUSED, "there is no provider %.*s any more",
				 RT_STR_ARG(service));
	else if (st == RT_OK)
		st = check_server(cli, record, session->m.model);
	rt_buf_deinit(&name);
	return st;
}

/* Ask the same once more; the reply is only shown. */
static rt_status
resend(rt_cli *cli, yyjson_val *record, rt_str body)
{
	rt_resend_options options = {
		.discussion = rt_json_str(rt_json_get(record, "discussion")),
		.take = rt_json_str(rt_json_get(record, "take")),
		.body = body,
		.of = rt_json_str(rt_json_get(record, "request")),
	};
	const rt_text *note = NULL;
	rt_cli_model_session session;
	rt_status st;

	st = rt_cli_model_session_open(cli, &session, rt_cli_has(cli, "model"));
	if (st == RT_OK && session.m.model == NULL)
		st = open_same(&session, record);
	if (st == RT_OK && !rt_str_is(rt_json_str(rt_json_get(record, "provider")),
				      session.m.model->provider->name))
		st = rt_old_fail(cli, RT_USAGE,
				 "the request is one for %.*s; name a model of it with -m",
				 RT_STR_ARG(rt_json_str(rt_json_get(record, "provider"))));
	if (st == RT_OK) {
		rt_cli_model_session_with(&session, &options.with);
		st = rt_engine_resend(cli->session.engine, &options, &note, &cli->error);
		rt_cli_model_session_end(&session, note);
		rt_text_unref(note);
	}
	rt_cli_model_session_close(&session);
	return st;
}

static rt_status
run_replay(rt_cli *cli)
{
	char id[RT_ID_ROOM];
	finding f = {.cli = cli, .entry = id};
	rt_json_doc *doc = NULL;
	rt_last_request sent = {.is_same = false};
	yyjson_val *record = NULL;
	rt_buf state;
	uint32_t entry;
	rt_status st = rt_old_open(cli, RT_SESSION_LOOK);

	rt_buf_init(&state, cli->alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&sent.body, cli->alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&f.line, cli->alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&f.newest, cli->alloc, RT_BUF_UNLIMITED);
	if (st == RT_OK)
		st = rt_old_entry(cli, rt_cli_word(cli, 0), true, &entry);
	if (st == RT_OK)
		st = rt_entry_id(cli->session.value, entry, id, &cli->error);
	if (st == RT_OK)
		st = rt_host_state_dir(&state, &cli->error);
	f.store = rt_session_store_path(&cli->session);
	if (st == RT_OK)
		st = rt_comms_read(cli->alloc, rt_buf_str(&state), look_at_line, &f, &cli->error);
	if (st == RT_OK && f.line.size == 0) {
		rt_old_hint(cli, RT_NOT_FOUND, "What would be sent now: retake context");
		st = rt_old_fail(cli, RT_NOT_FOUND,
				 "there is no record of a request that %s is the reply to", id);
	}
	if (st == RT_OK)
		st = rt_json_read(cli->alloc, rt_buf_str(&f.line), &doc, &cli->error);
	record = st == RT_OK ? rt_json_root(doc) : NULL;
	if (st == RT_OK)
		st = rt_last_request_build(
			cli->session.engine, record,
			rt_provider_named(rt_json_str(rt_json_get(record, "provider"))), NULL, NULL,
			&sent, &cli->error);
	if (st == RT_OK && !sent.is_same)
		rt_cli_note(cli, "%s", RT_CLI_NOT_EXACT);
	if (st == RT_OK && rt_cli_has(cli, "send"))
		st = resend(cli, record, rt_buf_str(&sent.body));
	else if (st == RT_OK)
		st = rt_old_print_json(cli, rt_buf_str(&sent.body));
	rt_json_free(doc);
	free(f.store);
	rt_buf_deinit(&state);
	rt_last_request_deinit(&sent);
	rt_buf_deinit(&f.line);
	rt_buf_deinit(&f.newest);
	return st;
}

static const rt_flag replay_flags[] = {
	{"send", 0, NULL, RT_ARG_TEXT, "ask it once more; the reply is shown, not kept"},
	{"model", 'm', "MODEL", RT_ARG_TEXT, "with --send: whom to ask"},
	{NULL, 0, NULL, RT_ARG_TEXT, NULL},
};

const rt_command rt_cli_replay = {
	.name = "replay",
	.group = RT_COMMANDS_ASKING,
	.min_words = 1,
	.max_words = 1,
	.usage = "ENTRY [--send]",
	.summary = "print the request that a reply answered, to the byte",
	.about =
		"It is built again from the conversation as it was then, and compared with what was "
		"recorded. What has been purged since is not in it.",
	.examples = "retake replay :2\nretake replay @ --send",
	.flags = replay_flags,
	.kinds = {RT_ARG_ENTRY},
	.run_status = run_replay,
};
