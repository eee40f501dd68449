/* SPDX-License-Identifier: MIT
 *
 * serve: the store's projects over HTTP, until it is stopped. */
#define _GNU_SOURCE

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/cli.h"
#include "program/login.h"
#include "program/serve_sign_in.h"
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
	rt_str state;       /* folder */
	const char *socket; /* path */
	rt_comms *comms;
	const rt_config *config;
	const char *store_path; /* NULL: in memory */
	rt_buf *owner;
	rt_file_options files; /* below --files */
	unsigned drain_s;      /* time limit for replies in flight after the first interrupt */
	pid_t opener;          /* of the browser, until it has ended; 0: none */
} serving;

/* ---- the socket for local programs ---- */

/* $XDG_RUNTIME_DIR/retake/sock, else one in a private folder below that of temporary files. */
static const char *
usual_socket(rt_cli *cli)
{
	const char *runtime = getenv("XDG_RUNTIME_DIR");
	rt_buf *out = rt_scope_buf(&cli->s);
	struct stat info;
	char usual[64];

	/* A shell without the variable connects to the server of one that has it, too. */
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
	return rt_scope_str(&cli->s, out).ptr;
}

/* Creates its folder, for this user alone; the folder of a given path must exist. */
static void
make_socket_folder(serving *sv)
{
	rt_scope *s = &sv->cli->s;
	const char *slash = strrchr(sv->socket, '/');

	if (rt_cli_flag_value(sv->cli, "socket") != NULL || slash == NULL)
		return;

	rt_str folder = rt_scope_copy(s, rt_str_at(sv->socket, (size_t)(slash - sv->socket)));

	RT_TRY(s, rt_private_folder(s->alloc, folder.ptr, &s->error));
}

/* ---- callbacks of the server ---- */

static rt_status
open_hooks(void *ctx, rt_str project, rt_hooks **out, rt_error *err)
{
	serving *sv = ctx;
	const rt_text *name = rt_text_new(sv->cli->alloc, project);
	rt_status st = RT_NOMEM;

	if (name != NULL)
		st = rt_session_hooks_new(&sv->cli->session, sv->config->hooks, name->ptr, out, err);
	rt_text_unref(name);
	if (st == RT_OK && rt_hooks_warnings(*out).size > 0)
		rt_session_note_lines(&sv->cli->session, rt_hooks_warnings(*out));
	return st;
}

/* The name of a project by its number. */
typedef struct naming {
	uint64_t project;
	rt_buf *name;
} naming;

static bool
find_name(void *ctx, const rt_store_row *row)
{
	naming *n = ctx;

	if (row->number != n->project)
		return true;
	rt_buf_add_str(n->name, row->data);
	return false;
}

/* Called from the server's threads, so not in the command's scope. Only the lines of the project:
 * the client that may change it need not have access to the others. A failure of one place does not
 * prevent purging the other. */
static rt_status
purged(void *ctx, uint64_t project, rt_str text, rt_error *err)
{
	serving *sv = ctx;
	rt_store *store = sv->cli->session.store;
	rt_comms_whose whose = {rt_str_of(sv->store_path), project};
	rt_status logged, typed = RT_OK;
	rt_error why, other;
	size_t count;
	rt_scope s;

	rt_scope_init(&s, sv->cli->alloc);
	naming n = {.project = project, .name = rt_scope_buf(&s)};
	logged = rt_comms_purge(s.alloc, sv->state, &whose, text, &count, &why);
	RT_TRY(&s, store->ops->read(store, rt_rows_all(RT_STORE_PROJECTS, 0), find_name, &n,
				    &s.error));
	rt_input_history_key written = {sv->state, rt_str_of(sv->store_path),
					rt_scope_str(&s, n.name)};
	if (rt_ok(&s))
		typed = rt_input_history_purge(s.alloc, &written, text, &count, &other);
	if (logged != RT_OK)
		RT_TRY(&s, rt_fail(&s.error, logged, "the request log: %.200s", why.text));
	if (typed != RT_OK)
		RT_TRY(&s, rt_fail(&s.error, typed, "the input history: %.200s", other.text));
	return rt_scope_end(&s, err);
}

/* ---- serving ---- */

/* A whole number of a flag, within limits. */
static unsigned
number_of(rt_cli *cli, const char *flag, const char *what, uint64_t absent, uint64_t max)
{
	uint64_t number = rt_cli_flag_number(cli, flag, what, absent);

	if (number > max)
		rt_cli_fail(cli, RT_USAGE, "%s must be at most %llu", what, (unsigned long long)max);
	return (unsigned)number;
}

static void
write_port(rt_cli *cli, const rt_server *server)
{
	const char *path = rt_cli_flag_value(cli, "port-file");
	char text[16];
	int size;

	if (path == NULL || server == NULL)
		return;
	size = snprintf(text, sizeof(text), "%u\n", rt_server_port(server));
	rt_cli_write_file(cli, path, rt_str_at(text, (size_t)size), RT_FILES_REPLACE);
}

static void
ready_json(serving *sv, rt_server *server, bool has_socket)
{
	rt_cli *cli = sv->cli;
	rt_buf *url = rt_scope_buf(&cli->s), *json = rt_scope_buf(&cli->s);

	rt_buf_add_f(url, "http://%s", rt_server_place(server));
	rt_json_open(json, NULL, '{');
	rt_json_put_str(json, "url", rt_buf_str(url));
	rt_json_put_u64(json, "port", rt_server_port(server));
	rt_json_put_c(json, "socket", has_socket ? sv->socket : NULL);
	rt_json_close(json, '}');
	rt_cli_print_json(cli, json);
	rt_term_flush(&cli->out);
}

static void
say_ready(serving *sv, rt_server *server, bool has_socket)
{
	rt_cli *cli = sv->cli;
	rt_term *out = &cli->out;
	const char *listen = rt_cli_flag_value(cli, "listen");
	const char *token_file = rt_cli_flag_value(cli, "token-file");
	const char *place = rt_server_place(server);
	rt_buf *login = rt_scope_buf(&cli->s);
	char code[RT_CODE_ROOM];

	rt_cli_say_made(cli);
	if (cli->json) {
		ready_json(sv, server, has_socket);
		return;
	}
	rt_term_f(out, "listening on http://%s\n", place);
	if (!cli->quiet) {
		rt_server_add_login(server, login);
		if (rt_cli_has(cli, "accounts"))
			rt_cli_advise(cli, "browser    one-time link for a user: %.*s --user NAME   users: retake user\n",
				      RT_STR_ARG(rt_buf_str(login)));
		else if (rt_server_code(server, rt_str_at(NULL, 0), code, NULL, NULL) != RT_OK)
			return; /* without a project the name cannot be too long */
		else
			rt_cli_advise(cli,
			      "browser    http://%s/?code=%s   (one-time link, valid for " RT_CODE_LIFE
			      "; "
			      "for another: %.*s)\n",
			      place, code, RT_STR_ARG(rt_buf_str(login)));
		if (token_file != NULL)
			rt_term_f(out, "programs   Authorization: Bearer, with the token in %s\n",
				  token_file);
		else
			rt_term_f(out, "programs   Authorization: Bearer, with the token in %.*s/token\n",
				  RT_STR_ARG(sv->state));
		if (has_socket)
			rt_term_f(out, "           or without it on the socket %s\n", sv->socket);
		rt_term_c(out, rt_cli_has(cli, "accounts") ? "projects   those that the user is a member of\n"
			       : rt_cli_has(cli, "isolate")
				       ? "projects   each browser has its own\n"
				       : "projects   browsers open the same projects as the command "
					 "line; --isolate: each has its own\n");
	}
	rt_term_flush(out);
	if (listen != NULL)
		rt_cli_note(
			cli,
			"listening on %s: anyone who can reach it and has the token has full "
			"access, and connections are not encrypted",
			listen);
}

/* Opens the page in $BROWSER, if that is the name of one program, else with xdg-open, which
 * supports its other forms. It gets a separate link: the printed one stays valid. */
static void
open_browser(serving *sv, rt_server *server)
{
	rt_cli *cli = sv->cli;
	const char *named = getenv("BROWSER");
	bool is_plain = named != NULL && *named != '\0' && strpbrk(named, ": %") == NULL;
	char program[4096], url[RT_GUARD_HOST_ROOM + 64], code[RT_CODE_ROOM];
	char *argv[] = {program, url, NULL};
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	sigset_t none, pipe;
	int failed;

	if (!rt_cli_has(cli, "open") || rt_cli_has(cli, "accounts") ||
	    rt_server_code(server, rt_str_at(NULL, 0), code, NULL, NULL) != RT_OK)
		return;
	(void)snprintf(program, sizeof(program), "%s", is_plain ? named : "xdg-open");
	(void)snprintf(url, sizeof(url), "http://%s/?code=%s", rt_server_place(server), code);
	failed = posix_spawn_file_actions_init(&actions);
	if (failed == 0 && (failed = posix_spawnattr_init(&attributes)) != 0)
		(void)posix_spawn_file_actions_destroy(&actions);
	if (failed == 0) {
		sigemptyset(&none);
		sigemptyset(&pipe);
		sigaddset(&pipe, SIGPIPE);
		(void)posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
		(void)posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
		(void)posix_spawn_file_actions_adddup2(&actions, 1, 2);
		/* Ctrl+C ends the server, and not a browser that it has started. */
		(void)posix_spawnattr_setpgroup(&attributes, 0);
		(void)posix_spawnattr_setsigdefault(&attributes, &pipe);
		(void)posix_spawnattr_setsigmask(&attributes, &none);
		(void)posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP |
								    POSIX_SPAWN_SETSIGDEF |
								    POSIX_SPAWN_SETSIGMASK);
		failed = posix_spawnp(&sv->opener, program, &actions, &attributes, argv, environ);
		(void)posix_spawnattr_destroy(&attributes);
		(void)posix_spawn_file_actions_destroy(&actions);
	}
	if (failed != 0) {
		sv->opener = 0;
		rt_cli_note(cli, "cannot start %s: %s; open the printed link yourself", program,
			    strerror(failed));
	}
}

/* The C library keeps arenas for each thread, up to eight times as many as there are processors;
 * memory that many workers freed one after the other would then be kept many times. */
static void
limit_arenas(void)
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
	rt_buf *socket;
	rt_scope outer;

	if (cli->s.error.about != RT_ABOUT_SOCKET) {
		rt_cli_hint(cli,
			    "Use another port: retake serve --port 0   Sign-in link, if that "
			    "server serves this store: retake serve --login --port %u%s%s",
			    front->port, front->address != NULL ? " --listen " : "",
			    front->address != NULL ? front->address : "");
		return;
	}
	rt_cli_begin_part(cli, &outer);
	socket = rt_scope_buf(&cli->s);
	rt_args_add_quoted(socket, front->socket);
	rt_cli_hint(cli,
		    "Without a socket: retake serve --no-socket   Sign-in link, if that server "
		    "serves this store: retake serve --login --socket %.*s",
		    RT_STR_ARG(rt_buf_str(socket)));
	(void)rt_cli_end_part(cli, &outer, NULL);
}

static void
free_path(void *path)
{
	free(path);
}

/* The directories of --files. Clients cannot name a file elsewhere. */
static void
find_files(serving *sv)
{
	rt_cli *cli = sv->cli;
	rt_scope *s = &cli->s;
	const rt_args *args = &cli->args;
	rt_str *roots = rt_scope_array(s, args->given_count, sizeof(*roots));

	sv->files = (rt_file_options){
		.roots = roots,
		.where = RT_STR("the directories of retake serve --files"),
		.no_root = RT_STR("cannot be sent: this server was started without --files DIR"),
		.path = getenv("PATH")};
	for (size_t i = 0; rt_ok(s) && i < args->given_count; i++) {
		const char *given = args->given[i].value;
		struct stat info;

		if (strcmp(args->given[i].flag->name, "files") != 0)
			continue;
		char *root = realpath(given, NULL);
		rt_scope_defer(s, free_path, root);
		if (root == NULL || stat(root, &info) != 0 || !S_ISDIR(info.st_mode))
			rt_cli_fail(cli, RT_NOT_FOUND, "--files %s is not a directory", given);
		else
			roots[sv->files.root_count++] = rt_str_of(root);
	}
}

/* NULL: the command has failed. *has_socket: it has one, too. */
static rt_server *
open_server(serving *sv, bool *has_socket)
{
	rt_cli *cli = sv->cli;
	rt_scope *s = &cli->s;
	bool is_usual = !rt_cli_has(cli, "socket") && !rt_cli_has(cli, "no-socket");
	rt_server_options options = {
		.pool = {.alloc = cli->alloc,
			 .env = cli->env,
			 .store = cli->session.store,
			 .hooks_open = open_hooks,
			 .hooks_ctx = sv,
			 .config = sv->config,
			 .comms = sv->comms,
			 .project = rt_session_project(&cli->session),
			 .owner = rt_buf_str(sv->owner),
			 .store_path = rt_str_of(sv->store_path),
			 .files = &sv->files,
			 .model = rt_str_of(getenv("RETAKE_MODEL")),
			 .purged = purged,
			 .purged_ctx = sv,
			 .lives = rt_host_owner_lives},
		.front = {.address = rt_cli_flag_value(cli, "listen"),
			  .socket = rt_cli_has(cli, "no-socket") ? NULL : sv->socket,
			  .spool = sv->state.ptr,
			  .port = number_of(cli, "port", "a port", PORT, 65535),
			  .connections = number_of(cli, "connections",
						   "the number of connections", 0, 1000000),
			  .headers_ms = number_of(cli, "headers-ms", "the time for headers", 0,
						  3600000),
			  .body_idle_ms = number_of(cli, "body-idle-ms", "the time for a body", 0,
						    3600000),
			  .idle_ms = number_of(cli, "idle-ms", "the time of an idle connection", 0,
					       3600000)},
		.state_folder = sv->state.ptr,
		.new_token = rt_cli_has(cli, "new-token"),
		.token_file = rt_cli_flag_value(cli, "token-file"),
		.isolate = rt_cli_has(cli, "isolate"),
		.accounts = rt_cli_has(cli, "accounts"),
		.require_match = rt_cli_has(cli, "require-if-match"),
		.hosts = rt_serve_hosts(cli),
		.sign_in = rt_serve_sign_in(cli),
		.usual_socket = is_usual,
		.access_log = rt_cli_flag_value(cli, "access-log")};
	rt_server *server = NULL;

	if (rt_ok(s) && options.front.socket != NULL)
		make_socket_folder(sv);
	RT_TRY(s, rt_server_open(&options, &server, &s->error));
	/* The usual socket may belong to another server: this one works without. */
	if (s->status == RT_BUSY && is_usual && s->error.about == RT_ABOUT_SOCKET) {
		rt_cli_recover(cli, NULL);
		rt_cli_note(cli, "another server is using the socket %s; this one runs without a "
				 "socket", sv->socket);
		options.front.socket = NULL;
		options.usual_socket = false;
		RT_TRY(s, rt_server_open(&options, &server, &s->error));
	}
	if (s->status == RT_BUSY)
		hint_busy(cli, &options.front);
	*has_socket = options.front.socket != NULL;
	return server;
}

static void
close_comms(void *item)
{
	rt_comms_close(item);
}

/* After the first interrupt. A load balancer needs a moment to notice that this server is not ready
 * any more; then it ends as soon as no reply is in flight, at the latest after the time given. A second
 * interrupt ends it at once. */
static void
drain(serving *sv, rt_server *server)
{
	enum { NOTICE_MS = 2000 };
	rt_cli *cli = sv->cli;
	unsigned limit_ms = 1000 * sv->drain_s;
	struct timespec pause = {.tv_nsec = RT_FEED_TICK_MS * 1000000L};

	if (!rt_ok(&cli->s) || limit_ms == 0)
		return;
	rt_host_again();
	rt_server_drain(server);
	rt_cli_note(cli, "shutting down when no reply is in flight, after %u s at the latest", limit_ms / 1000);
	for (unsigned ms = 0; ms < limit_ms && !rt_host_interrupted(); ms += RT_FEED_TICK_MS) {
		if (ms >= NOTICE_MS && rt_server_is_idle(server))
			break;
		(void)nanosleep(&pause, NULL);
		rt_server_tick(server);
	}
}

/* The accounts work, but the database does not check them again. */
static void
warn_bypass(rt_cli *cli)
{
	const char *why = rt_ok(&cli->s) ? cli->session.store->bypass : NULL;

	if (why != NULL && rt_cli_has(cli, "accounts"))
		rt_cli_note(cli, "row-level security does not apply to the database role of this server (%s), so only "
				 "the server checks rights; see the section on roles in docs/postgresql.md", why);
}

static void
serve(serving *sv)
{
	rt_cli *cli = sv->cli;
	rt_scope *s = &cli->s;
	const char *port_file = rt_cli_flag_value(cli, "port-file");
	struct timespec pause = {.tv_nsec = RT_FEED_TICK_MS * 1000000L};
	rt_server *server = NULL;
	bool has_socket = false;
	char *path;

	rt_cli_open_store(cli, RT_SESSION_CHANGE);
	warn_bypass(cli);
	sv->config = rt_cli_config(cli);
	RT_TRY(s, rt_comms_open(cli->alloc, cli->env, sv->state, sv->config->comms_texts, &sv->comms,
				&s->error));
	rt_scope_defer(s, close_comms, sv->comms);
	sv->owner = rt_scope_buf(s);
	rt_host_add_owner(sv->owner);
	(void)rt_scope_str(s, sv->owner);
	if (!rt_ok(s))
		return;
	path = rt_session_store_path(&cli->session);
	rt_scope_defer(s, free, path);
	sv->store_path = path;
	find_files(sv);
	sv->drain_s = number_of(cli, "drain", "the number of seconds", 0, 86400);
	limit_arenas();
	cli->memory.wipes = true; /* purged texts must not stay in freed memory */
	server = open_server(sv, &has_socket);
	if (rt_ok(s))
		write_port(cli, server);
	if (rt_ok(s))
		say_ready(sv, server, has_socket);
	if (rt_ok(s))
		open_browser(sv, server);
	while (rt_ok(s) && !rt_host_interrupted()) {
		(void)nanosleep(&pause, NULL);
		rt_server_tick(server);
		if (sv->opener > 0 && waitpid(sv->opener, NULL, WNOHANG) == sv->opener)
			sv->opener = 0;
	}
	drain(sv, server);
	rt_server_close(server);
	if (port_file != NULL && server != NULL)
		(void)unlink(port_file);
}

static void
print(rt_cli *cli, void (*write)(const rt_route *, rt_buf *))
{
	rt_buf *text = rt_scope_buf(&cli->s);

	write(rt_routes, text);
	rt_term_json(&cli->out, rt_scope_str(&cli->s, text));
}

static void
run_serve(rt_cli *cli)
{
	rt_scope *s = &cli->s;
	const char *socket = rt_cli_flag_value(cli, "socket");
	rt_buf *state = rt_scope_buf(s);
	serving sv = {.cli = cli};

	if (rt_cli_has(cli, "isolate") && rt_cli_has(cli, "shared"))
		rt_cli_fail(cli, RT_USAGE, "give --isolate or --shared, not both");
	if (rt_cli_has(cli, "isolate") && rt_cli_has(cli, "accounts"))
		rt_cli_fail(cli, RT_USAGE, "give --isolate or --accounts, not both");
	if (rt_cli_has(cli, "new-token") && rt_cli_has(cli, "token-file"))
		rt_cli_fail(cli, RT_USAGE, "give --new-token or --token-file, not both");
	if (rt_cli_has(cli, "print-openapi")) {
		print(cli, rt_openapi_write);
		return;
	}
	if (rt_cli_has(cli, "print-docs")) {
		print(cli, rt_api_docs_write);
		return;
	}
	RT_TRY(s, rt_host_state_dir(state, &s->error));
	sv.state = rt_scope_str(s, state);
	sv.socket = socket != NULL ? socket : usual_socket(cli);
	if (!rt_ok(s))
		return;
	if (rt_cli_has(cli, "login")) {
		rt_login(cli, sv.socket, sv.state.ptr, PORT);
		return;
	}
	rt_host_hold(true); /* an orderly end */
	serve(&sv);
	rt_host_hold(false);
}

static const rt_flag serve_flags[] = {
	{"port", 0, "PORT", RT_ARG_TEXT, "port to listen on; default: 8999; 0: any free port"},
	{"login", 0, NULL, RT_ARG_TEXT,
	 "print a one-time sign-in link for the running server at --port or --socket, if it "
	 "serves the store of --db; with -p, for that project"},
	{"open", 0, NULL, RT_ARG_TEXT, "open the page in a browser: $BROWSER, else the system "
				       "default"},
	{"isolate", 0, NULL, RT_ARG_TEXT,
	 "give each browser a separate project, for a server that several people use"},
	{"accounts", 0, NULL, RT_ARG_TEXT, "users with roles in projects: see docs/accounts.md and retake user"},
	{"user", 0, "NAME", RT_ARG_TEXT, "with --login, for a server with --accounts: the user to sign in"},
	{"public-url", 0, "URL", RT_ARG_TEXT,
	 "with --accounts: address at which browsers reach the server, for sign-in; also added to --host"},
	{"oidc", 0, "ISSUER", RT_ARG_TEXT, "with --accounts: sign in with this OpenID Connect service"},
	{"oidc-client", 0, "ID", RT_ARG_TEXT, "client id of this server at the service"},
	{"oidc-secret-file", 0, "FILE", RT_ARG_FILE, "file with the client's secret; default: RETAKE_OIDC_SECRET"},
	{"oidc-name", 0, "NAME", RT_ARG_TEXT, "name of the service on the sign-in page; default: its host"},
	{"oidc-create", 0, NULL, RT_ARG_TEXT,
	 "create a user for anyone who signs in with the service; default: only known users and invited people"},
	{"proxy-user", 0, "HEADER", RT_ARG_TEXT,
	 "with --accounts: a proxy signs users in and sends their name in this header"},
	{"proxy-sign-out", 0, "URL", RT_ARG_TEXT, "with --proxy-user: address at which its users sign out"},
	{"proxy-secret-file", 0, "FILE", RT_ARG_FILE,
	 "file with the secret that the proxy sends in " RT_PROXY_SECRET "; default: RETAKE_PROXY_SECRET"},
	{"shared", 0, NULL, RT_ARG_TEXT, "browsers open the same projects as the command line; "
					 "this is the default"},
	{"socket", 0, "PATH", RT_ARG_FILE,
	 "Unix socket for programs of the same user, without a token"},
	{"no-socket", 0, NULL, RT_ARG_TEXT, "do not create a Unix socket"},
	{"files", 0, "DIR", RT_ARG_DIR,
	 "allow discussions to send files below DIR; repeatable; default: no files"},
	{"new-token", 0, NULL, RT_ARG_TEXT, "create a new token; the old one becomes invalid"},
	{"token-file", 0, "FILE", RT_ARG_FILE,
	 "use the token in FILE, for several servers on one store; default: a token of this user"},
	{"require-if-match", 0, NULL, RT_ARG_TEXT,
	 "refuse changes without a precondition (If-Match)"},
	{"listen", 0, "ADDRESS", RT_ARG_TEXT,
	 "listen on this address instead of localhost, without encryption"},
	{"host", 0, "NAMES", RT_ARG_TEXT,
	 "additional host names of the server, separated by commas"},
	{"connections", 0, "N", RT_ARG_TEXT, "maximum number of simultaneous connections; default: "
					     "4096"},
	{"access-log", 0, "FILE", RT_ARG_FILE,
	 "append a JSON line for each request, without its content; \"-\": standard error"},
	{"drain", 0, "SECONDS", RT_ARG_TEXT,
	 "when interrupted, report not ready and wait up to SECONDS for replies in flight; default: 0"},
	{"port-file", 0, "FILE", RT_ARG_FILE, "write the port to this file when listening"},
	/* For tests of late clients (front.h). */
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
	.usage = "[--port PORT] [--open] [--isolate] [--files DIR]…\n"
		 "--login [--port PORT | --socket PATH]",
	.summary = "serve the store to programs and browsers over HTTP",
	.about =
		"Everything the command line does is also available over HTTP: see docs/api.md and "
		"GET /retake/v1/openapi.json; GET /retake/v1/events streams events. Requests need "
		"the token (the path of its file is printed at startup), the socket, or a cookie "
		"from a sign-in link. Other programs can use the same store at the same time. Stop "
		"it with Ctrl+C: partial replies are kept.",
	.examples =
		"retake serve --open\nretake serve --isolate\nretake serve --login\nretake --db work.db serve --login --port 9000\nretake -p notes serve --login",
	.flags = serve_flags,
	.kinds = {RT_ARG_TEXT},
	.run = run_serve,
};
