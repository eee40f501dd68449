/* SPDX-License-Identifier: MIT
 *
 * serve: the store's projects over HTTP, until it is stopped. */
#define _GNU_SOURCE

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cli/cli.h"
#include "program/login.h"
#include "cli/model_session.h"
#include "hooks/hooks.h"
#include "server/guard.h"
#include "server/openapi.h"
#include "server/route.h"
#include "server/server.h"
#include "app/input_history_host.h"

enum { PORT = 8999 };

typedef struct serving {
	rt_cli *cli;
	rt_buf state, socket, model;
	rt_comms *comms;
	const rt_config *config;
	char *store_path;
	rt_buf owner;
} serving;

/* ---- the socket for local programs ---- */

/* $XDG_RUNTIME_DIR/retake/sock, else one in a private folder below that of temporary files. */
static rt_status
usual_socket(rt_cli *cli, rt_buf *out)
{
	const char *runtime = getenv("XDG_RUNTIME_DIR");
	struct stat info;
	char usual[64];

	/* A shell without the variable asks the server of one that has it, too. */
	(void)snprintf(usual, sizeof(usual), "/run/user/%lu", (unsigned long)geteuid());
	if (runtime == NULL && stat(usual, &info) == 0 && info.st_uid == geteuid())
		runtime = usual;
	if (runtime != NULL && *runtime == '/') {
		rt_buf_add_f(out, "%s/retake", runtime);
	} else {
		rt_host_temp_dir(out);
		rt_buf_add_f(out, "/retake-%lu", (unsigned long)geteuid());
	}
	rt_buf_add_c(out, "/sock");
	return rt_old_buf(cli, out);
}

static rt_status
find_socket(serving *s)
{
	rt_cli *cli = s->cli;
	const char *given = rt_cli_flag_value(cli, "socket");

	if (given == NULL)
		return usual_socket(cli, &s->socket);
	rt_buf_add_c(&s->socket, given);
	return rt_old_buf(cli, &s->socket);
}

/* Its folder, for ourselves alone; where it is one that was named, it has to be there. */
static rt_status
make_socket_folder(serving *s)
{
	rt_cli *cli = s->cli;
	char *slash = strrchr(s->socket.ptr, '/');
	rt_status st;

	if (rt_cli_flag_value(cli, "socket") != NULL || slash == NULL)
		return RT_OK;
	*slash = '\0';
	st = rt_private_folder(cli->alloc, s->socket.ptr, &cli->error);
	*slash = '/';
	return st;
}

/* ---- serving ---- */

static rt_status
open_hooks(void *ctx, rt_str project, rt_hooks **out, rt_error *err)
{
	serving *s = ctx;
	const rt_text *name = rt_text_new(s->cli->alloc, project);
	rt_status st = RT_NOMEM;

	if (name != NULL)
		st = rt_session_hooks_new(&s->cli->session, s->config->hooks, name->ptr, out, err);
	rt_text_unref(name);
	if (st == RT_OK && rt_hooks_warnings(*out).size > 0)
		rt_session_note_lines(&s->cli->session, rt_hooks_warnings(*out));
	return st;
}

/* The name of a project by its number. */
typedef struct naming {
	uint64_t project;
	rt_buf name;
} naming;

static bool
find_name(void *ctx, const rt_store_row *row)
{
	naming *n = ctx;

	if (row->number != n->project)
		return true;
	rt_buf_add_str(&n->name, row->data);
	return false;
}

static void
purged(void *ctx, uint64_t project, rt_str text)
{
	serving *s = ctx;
	rt_store *store = s->cli->session.store;
	rt_comms_whose whose = {rt_str_of(s->store_path), project};
	naming n = {.project = project};
	size_t count;

	(void)!rt_comms_purge(s->cli->alloc, rt_buf_str(&s->state), &whose, text, &count, NULL);
	rt_buf_init(&n.name, s->cli->alloc, RT_BUF_UNLIMITED);
	if (store->ops->read(store, rt_rows_all(RT_STORE_PROJECTS, 0), find_name, &n, NULL) ==
		    RT_OK &&
	    n.name.status == RT_OK) {
		rt_input_history_key written = {rt_buf_str(&s->state), rt_str_of(s->store_path),
						rt_buf_str(&n.name)};

		(void)!rt_input_history_purge(s->cli->alloc, &written, text, &count, NULL);
	}
	rt_buf_deinit(&n.name);
}

static bool
lives(void *ctx, rt_str owner, int64_t written_us)
{
	(void)ctx;
	return rt_host_owner_lives(owner, written_us);
}

/* A whole number of a flag, within limits. */
static rt_status
number_of(rt_cli *cli, const char *flag, const char *what, uint64_t absent, uint64_t max,
	  unsigned *out)
{
	const char *text = rt_cli_flag_value(cli, flag);
	uint64_t number = absent;
	rt_status st = text != NULL ? rt_old_number(cli, text, what, &number) : RT_OK;

	if (st == RT_OK && number > max)
		st = rt_old_fail(cli, RT_USAGE, "%s is %llu at most", what,
				 (unsigned long long)max);
	*out = (unsigned)number;
	return st;
}

static rt_status
write_port(rt_cli *cli, const rt_server *server)
{
	const char *path = rt_cli_flag_value(cli, "port-file");
	char text[16];
	int size = snprintf(text, sizeof(text), "%u\n", rt_server_port(server));

	if (path == NULL)
		return RT_OK;
	return rt_old_write_file(cli, path, rt_str_at(text, (size_t)size), RT_FILES_REPLACE);
}

static void
say_ready(serving *s, rt_server *server, bool has_socket)
{
	rt_cli *cli = s->cli;
	unsigned port = rt_server_port(server);
	const char *listen = rt_cli_flag_value(cli, "listen");
	const char *place = rt_server_place(server);
	char code[RT_CODE_ROOM], url[RT_GUARD_HOST_ROOM + 40];
	rt_buf login;

	rt_cli_say_made(cli);
	if (cli->json) {
		rt_buf line;

		rt_buf_init(&line, cli->alloc, RT_BUF_UNLIMITED);
		rt_buf_add_f(&line, "{\"url\":\"http://%s\",\"port\":%u", place, port);
		rt_buf_add_c(&line, ",\"socket\":");
		if (has_socket)
			rt_json_add_string(&line, rt_buf_str(&s->socket));
		else
			rt_buf_add_c(&line, "null");
		rt_buf_add_byte(&line, '}');
		(void)rt_old_print_json(cli, rt_buf_str(&line));
		rt_buf_deinit(&line);
		rt_term_flush(&cli->out);
		return;
	}
	rt_term_f(&cli->out, "listening on http://%s\n", place);
	if (!cli->quiet) {
		if (rt_server_code(server, rt_str_at(NULL, 0), code, NULL, &cli->error) != RT_OK)
			return; /* it has no project's name that could be too long */
		(void)snprintf(url, sizeof(url), "http://%s/?code=%s", place, code);
		rt_buf_init(&login, cli->alloc, RT_BUF_UNLIMITED);
		rt_server_add_login(server, &login);
		if (rt_old_buf(cli, &login) == RT_OK)
			rt_cli_advise(cli,
				      "browser    %s   (good once, for a minute; another: %.*s)\n",
				      url, RT_STR_ARG(rt_buf_str(&login)));
		rt_buf_deinit(&login);
		rt_term_f(&cli->out,
			  "programs   Authorization: Bearer, with the token in %s/token\n",
			  s->state.ptr);
		if (has_socket)
			rt_term_f(&cli->out, "           or without it on the socket %s\n",
				  s->socket.ptr);
		rt_term_f(
			&cli->out, "%s\n",
			rt_cli_has(cli, "shared")
				? "projects   every browser sees the same one"
				: "projects   every browser has one of its own; --shared: all see the "
				  "same");
	}
	rt_term_flush(&cli->out);
	if (listen != NULL)
		rt_cli_note(
			cli,
			"listening on %s: who can reach it and has the token can do everything, "
			"and nothing is encrypted on the way",
			listen);
}

/* The C library keeps memory apart for each thread, up to eight times as many as there are
 * processors; what many workers have had one after the other would then stay many times. */
static void
few_arenas(void)
{
#ifdef M_ARENA_MAX
	(void)mallopt(M_ARENA_MAX, 2);
#endif
}

/* The port or the socket is in use. With the flags that name the store, --login prints no link into
 * another one. */
static void
hint_busy(rt_cli *cli, const rt_front_options *front)
{
	rt_buf socket;

	rt_buf_init(&socket, cli->alloc, RT_BUF_UNLIMITED);
	if (front->socket != NULL && strstr(cli->error.text, front->socket) != NULL) {
		rt_args_add_quoted(&socket, front->socket);
		rt_old_hint(
			cli, RT_BUSY,
			"Without a socket: retake serve --no-socket   A login, if the server there "
			"has this store: retake serve --login --socket %.*s",
			RT_STR_ARG(rt_buf_str(&socket)));
	} else {
		rt_old_hint(
			cli, RT_BUSY,
			"Another port: retake serve --port 0   A login, if the server there has this "
			"store: retake serve --login --port %u%s%s",
			front->port, front->address != NULL ? " --listen " : "",
			front->address != NULL ? front->address : "");
	}
	rt_buf_deinit(&socket);
}

static rt_status
serve(serving *s)
{
	rt_cli *cli = s->cli;
	struct timespec pause = {.tv_nsec = RT_FEED_TICK_MS * 1000000L};
	rt_server_options options = {
		.pool = {.alloc = cli->alloc,
			 .env = cli->env,
			 .store = cli->session.store,
			 .hooks_open = open_hooks,
			 .hooks_ctx = s,
			 .config = s->config,
			 .comms = s->comms,
			 .project = rt_session_project(&cli->session),
			 .owner = rt_buf_str(&s->owner),
			 .store_path = rt_str_of(s->store_path),
			 .model = rt_str_of(getenv("RETAKE_MODEL")),
			 .purged = purged,
			 .purged_ctx = s,
			 .lives = lives},
		.front = {.address = rt_cli_flag_value(cli, "listen"),
			  .socket = rt_cli_has(cli, "no-socket") ? NULL : s->socket.ptr,
			  .spool = s->state.ptr},
		.state_folder = s->state.ptr,
		.new_token = rt_cli_has(cli, "new-token"),
		.shared = rt_cli_has(cli, "shared"),
		.require_match = rt_cli_has(cli, "require-if-match"),
		.hosts = rt_cli_flag_value(cli, "host"),
		.usual_socket = !rt_cli_has(cli, "socket") && !rt_cli_has(cli, "no-socket")};
	rt_server *server = NULL;
	rt_status st;

	few_arenas();
	cli->memory.wipes = true; /* what is purged is not to stay behind in free memory */
	st = number_of(cli, "port", "a port", PORT, 65535, &options.front.port);
	if (st == RT_OK)
		st = number_of(cli, "connections", "the number of connections", 0, 1000000,
			       &options.front.connections);
	if (st == RT_OK)
		st = number_of(cli, "headers-ms", "the time for headers", 0, 3600000,
			       &options.front.headers_ms);
	if (st == RT_OK)
		st = number_of(cli, "body-idle-ms", "the time for a body", 0, 3600000,
			       &options.front.body_idle_ms);
	if (st == RT_OK)
		st = number_of(cli, "idle-ms", "the time of an idle connection", 0, 3600000,
			       &options.front.idle_ms);
	if (st == RT_OK && !rt_cli_has(cli, "no-socket"))
		st = make_socket_folder(s);
	if (st == RT_OK)
		st = rt_server_open(&options, &server, &cli->error);
	/* The usual socket may be another server's: this one does without. */
	if (st == RT_BUSY && options.front.socket != NULL &&
	    rt_cli_flag_value(cli, "socket") == NULL &&
	    strstr(cli->error.text, s->socket.ptr) != NULL) {
		rt_cli_note(cli, "another server has the socket %s; this one has none",
			    s->socket.ptr);
		options.front.socket = NULL;
		options.usual_socket = false;
		st = rt_server_open(&options, &server, &cli->error);
	}
	if (st == RT_BUSY)
		hint_busy(cli, &options.front);
	if (st == RT_OK)
		st = write_port(cli, server);
	if (st == RT_OK)
		say_ready(s, server, options.front.socket != NULL);
	while (st == RT_OK && !rt_host_interrupted()) {
		(void)nanosleep(&pause, NULL);
		rt_server_tick(server);
	}
	rt_server_close(server);
	if (rt_cli_flag_value(cli, "port-file") != NULL && server != NULL)
		(void)unlink(rt_cli_flag_value(cli, "port-file"));
	return st;
}

static rt_status
prepare(serving *s)
{
	rt_cli *cli = s->cli;
	rt_status st = rt_old_open_store(cli, RT_SESSION_CHANGE);
	size_t i;

	if (st == RT_OK)
		st = rt_old_config(cli, &s->config);
	for (i = 0; st == RT_OK && i < s->config->warning_count; i++)
		rt_cli_note(cli, "config.toml: %.*s", RT_STR_ARG(s->config->warnings[i].words));
	if (st == RT_OK)
		st = rt_comms_open(cli->alloc, cli->env, rt_buf_str(&s->state), &s->comms,
				   &cli->error);
	if (st == RT_OK) {
		rt_host_add_owner(&s->owner);
		st = rt_old_buf(cli, &s->owner);
		s->store_path = realpath(cli->session.store->place, NULL);
	}
	return st;
}

static rt_status
print(rt_cli *cli, void (*write)(const rt_route *, rt_buf *))
{
	rt_buf text;
	rt_status st;

	rt_buf_init(&text, cli->alloc, RT_BUF_UNLIMITED);
	write(rt_routes, &text);
	st = rt_old_buf(cli, &text);
	if (st == RT_OK)
		rt_term_json(&cli->out, rt_buf_str(&text));
	rt_buf_deinit(&text);
	return st;
}

static rt_status
run_serve(rt_cli *cli)
{
	serving s = {.cli = cli};
	rt_status st;

	if (rt_cli_has(cli, "print-openapi"))
		return print(cli, rt_openapi_write);
	if (rt_cli_has(cli, "print-docs"))
		return print(cli, rt_api_docs_write);
	rt_buf_init(&s.state, cli->alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&s.socket, cli->alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&s.owner, cli->alloc, RT_BUF_UNLIMITED);
	st = rt_host_state_dir(&s.state, &cli->error);
	if (st == RT_OK)
		st = find_socket(&s);
	if (st == RT_OK && rt_cli_has(cli, "login")) {
		st = rt_login(cli, s.socket.ptr, s.state.ptr, PORT);
	} else if (st == RT_OK) {
		rt_host_hold(true); /* the end is orderly */
		st = prepare(&s);
		if (st == RT_OK)
			st = serve(&s);
		rt_host_hold(false);
	}
	rt_comms_close(s.comms);
	free(s.store_path);
	rt_buf_deinit(&s.owner);
	rt_buf_deinit(&s.socket);
	rt_buf_deinit(&s.state);
	return st;
}

static const rt_flag serve_flags[] = {
	{"port", 0, "PORT", RT_ARG_TEXT, "where to listen; default: 8999; 0: a free one"},
	{"login", 0, NULL, RT_ARG_TEXT,
	 "print a link that lets one browser into the server that runs: the one at --port or --socket, "
	 "and only if it serves the store of --db; with -p, into that project"},
	{"shared", 0, NULL, RT_ARG_TEXT,
	 "all browsers see the same project; otherwise each has one of its own"},
	{"socket", 0, "PATH", RT_ARG_FILE,
	 "Unix socket for programs of the same user, who need no token there"},
	{"no-socket", 0, NULL, RT_ARG_TEXT, "no such socket"},
	{"new-token", 0, NULL, RT_ARG_TEXT, "make a new token; the old one is good no longer"},
	{"require-if-match", 0, NULL, RT_ARG_TEXT,
	 "refuse changes that do not say which state they were made from"},
	{"listen", 0, "ADDRESS", RT_ARG_TEXT,
	 "listen on another address than this machine's own: think twice"},
	{"host", 0, "NAMES", RT_ARG_TEXT,
	 "further names by which the server may be asked, with commas between"},
	{"connections", 0, "N", RT_ARG_TEXT, "at a time; default: 4096"},
	{"port-file", 0, "FILE", RT_ARG_FILE, "write the port there once it listens"},
	/* For tests of what happens to those who are late (front.h). */
	{"headers-ms", 0, "MS", RT_ARG_TEXT, NULL},
	{"body-idle-ms", 0, "MS", RT_ARG_TEXT, NULL},
	{"idle-ms", 0, "MS", RT_ARG_TEXT, NULL},
	{"print-openapi", 0, NULL, RT_ARG_TEXT, NULL},
	{"print-docs", 0, NULL, RT_ARG_TEXT, NULL},
	{NULL, 0, NULL, RT_ARG_TEXT, NULL},
};

const rt_command rt_cli_serve = {
	.name = "serve",
	.group = RT_COMMANDS_FILES,
	.max_words = 0,
	.usage = "[--port PORT] [--shared]\n"
		 "--login [--port PORT | --socket PATH]",
	.summary = "let programs and browsers of this machine work with the store, over HTTP",
	.about =
		"Everything that the command line does can be done over HTTP, by a program or a browser: "
		"docs/api.md and GET /retake/v1/openapi.json list it, GET /retake/v1/events tells what "
		"happens as it happens.\n\n"
		"Nobody is let in who has neither the token (in the file that is named at the start), nor "
		"the socket, nor a cookie that a login link was traded for. Other programs may work on "
		"the same store meanwhile.\n\n"
		"Stop it with Ctrl+C: replies that arrive are kept as far as they have come.",
	.examples =
		"retake serve\nretake serve --shared\nretake serve --login\nretake --db work.db serve --login --port 9000\nretake -p notes serve --login",
	.flags = serve_flags,
	.kinds = {RT_ARG_TEXT},
	.run_status = run_serve,
};
