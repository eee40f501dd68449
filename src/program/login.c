/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE

#include "program/login.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "server/browser.h"
#include "server/guard.h"
#include "server/token_host.h"

enum { ANSWER_SIZE = 16384, PATIENCE_S = 10 };

/* The server given by the flags. */
typedef struct target {
	rt_cli *cli;
	const char *socket; /* NULL: use address */
	const char *state_folder;
	unsigned port;
	struct sockaddr_storage address;
	socklen_t address_size;
	char host[RT_GUARD_HOST_ROOM]; /* in the form of the header Host; also for messages */
	const char *store;             /* the path of the store that it must serve; NULL: any */
	const char *usual;             /* the path of the default store if store is NULL, or NULL */
} target;

/* In messages: "127.0.0.1:9000", or the socket's path. */
static const char *
name_of(const target *t)
{
	return t->socket != NULL ? t->socket : t->host;
}

/* The next step if it is not the intended server. */
static void
hint(const target *t)
{
	rt_cli_hint(t->cli, "Start one: retake serve   Or name another: retake serve --login "
			    "--port PORT");
}

static void
fail_no_server(const target *t)
{
	hint(t);
	rt_cli_fail(t->cli, RT_NOT_FOUND, "no server listens on %s", name_of(t));
}

static void
fail_not_ours(const target *t)
{
	hint(t);
	rt_cli_fail(t->cli, RT_REFUSED, "the program listening on %s belongs to another user", name_of(t));
}

static void
fail_not_retake(const target *t)
{
	hint(t);
	rt_cli_fail(t->cli, RT_REFUSED, "the program listening on %s is not Retake", name_of(t));
}

/* ---- which one ---- */

static void
choose_address(target *t, unsigned default_port)
{
	rt_cli *cli = t->cli;
	struct sockaddr_in *four = (struct sockaddr_in *)&t->address;
	struct sockaddr_in6 *six = (struct sockaddr_in6 *)&t->address;
	const char *listen = rt_cli_flag_value(cli, "listen");
	uint64_t port = rt_cli_flag_number(cli, "port", "a port", default_port);

	if (port == 0 || port > 65535)
		rt_cli_fail(cli, RT_USAGE,
			    "the port of a running server must be between 1 and 65535");
	t->port = (unsigned)port;
	if (listen == NULL || strcmp(listen, "0.0.0.0") == 0)
		listen = "127.0.0.1";
	else if (strcmp(listen, "::") == 0)
		listen = "::1";
	if (inet_pton(AF_INET, listen, &four->sin_addr) == 1) {
		four->sin_family = AF_INET;
		four->sin_port = htons((uint16_t)port);
		t->address_size = sizeof(*four);
		(void)snprintf(t->host, sizeof(t->host), "%.45s:%u", listen, t->port);
	} else if (inet_pton(AF_INET6, listen, &six->sin6_addr) == 1) {
		six->sin6_family = AF_INET6;
		six->sin6_port = htons((uint16_t)port);
		t->address_size = sizeof(*six);
		(void)snprintf(t->host, sizeof(t->host), "[%.45s]:%u", listen, t->port);
	} else {
		rt_cli_fail(cli, RT_USAGE, "--listen takes a numeric address, not %s", listen);
	}
}

/* The store of --db or RETAKE_DB, in the form that a server reports; else the default one. */
static void
choose_store(target *t)
{
	rt_cli *cli = t->cli;
	const char *file;
	char *path;

	if (!rt_cli_find_store(cli))
		return;
	file = rt_session_file(&cli->session);
	path = file != NULL ? realpath(file, NULL) : strdup(rt_session_shown(&cli->session));
	if (!cli->session.path_named) {
		rt_scope_defer(&cli->s, free, path);
		t->usual = path != NULL ? path : rt_session_shown(&cli->session);
		return;
	}
	if (path == NULL) {
		rt_cli_hint(cli, "Start one: retake serve");
		rt_cli_fail(cli, RT_NOT_FOUND, "cannot find the store %s: %s",
			    rt_session_shown(&cli->session), strerror(errno));
	}
	rt_scope_defer(&cli->s, free, path);
	t->store = path;
}

/* ---- connecting ---- */

static void
connect_socket(target *t, int fd)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	struct ucred peer;
	socklen_t size = sizeof(peer);

	if (strlen(t->socket) >= sizeof(address.sun_path)) {
		rt_cli_fail(t->cli, RT_USAGE, "the path of the socket is too long: %s", t->socket);
		return;
	}
	memcpy(address.sun_path, t->socket, strlen(t->socket) + 1);
	if (connect(fd, (struct sockaddr *)&address, sizeof(address)) != 0)
		fail_no_server(t);
	/* In a folder that others can write to, another user may listen. */
	else if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0 ||
		 peer.uid != geteuid())
		fail_not_ours(t);
}

/* Is the port used by processes of this user only? A table of the system has the owner of every
 * socket: " 0: 0100007F:2327 00000000:0000 0A … UID …". */
static bool
is_ours_in(const char *table, unsigned port, bool *found)
{
	enum { LISTENING = 0x0A };
	FILE *file = fopen(table, "re");
	bool ours = true;
	char line[512];

	while (file != NULL && fgets(line, sizeof(line), file) != NULL) {
		unsigned local, state;
		unsigned long uid;

		if (sscanf(line,
			   " %*u: %*[0-9A-Fa-f]:%x %*[0-9A-Fa-f]:%*x %x %*x:%*x %*x:%*x %*x %lu",
			   &local, &state, &uid) != 3 ||
		    local != port || state != LISTENING)
			continue;
		*found = true;
		ours = ours && uid == geteuid();
	}
	if (file != NULL)
		(void)fclose(file);
	return ours;
}

/* Is the other end this machine? Then both ends have the same address, or the loopback's. */
static bool
is_local(const target *t, int fd)
{
	struct sockaddr_storage here;
	socklen_t size = sizeof(here);
	const struct sockaddr_in *four = (const struct sockaddr_in *)&t->address;
	const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)&t->address;

	if (getsockname(fd, (struct sockaddr *)&here, &size) != 0 ||
	    here.ss_family != t->address.ss_family)
		return false;
	if (here.ss_family == AF_INET)
		return ntohl(four->sin_addr.s_addr) >> 24 == IN_LOOPBACKNET ||
		       ((const struct sockaddr_in *)&here)->sin_addr.s_addr ==
			       four->sin_addr.s_addr;
	return IN6_IS_ADDR_LOOPBACK(&six->sin6_addr) ||
	       memcmp(&((const struct sockaddr_in6 *)&here)->sin6_addr, &six->sin6_addr,
		      sizeof(six->sin6_addr)) == 0;
}

static void
connect_port(target *t, int fd)
{
	bool found = false, ours;

	if (connect(fd, (struct sockaddr *)&t->address, t->address_size) != 0) {
		fail_no_server(t);
		return;
	}
	/* The token is for this machine only; the table below lists only its sockets. */
	if (!is_local(t, fd)) {
		rt_cli_fail(t->cli, RT_REFUSED, "%s is not an address of this machine", t->host);
		return;
	}
	/* After connecting, so that it is the process that was reached. */
	ours = is_ours_in("/proc/net/tcp", t->port, &found);
	ours = is_ours_in("/proc/net/tcp6", t->port, &found) && ours;
	if (found && !ours) {
		fail_not_ours(t);
	} else if (!found) {
		hint(t);
		rt_cli_fail(t->cli, RT_REFUSED, "cannot determine the owner of the server on %s",
			    t->host);
	}
}

/* ---- asking ---- */

/* For the project given by -p, if it exists there. */
static rt_buf *
write_request(target *t)
{
	rt_cli *cli = t->cli;
	rt_scope *s = &cli->s;
	const char *project = rt_cli_flag_value(cli, "project");
	rt_buf *json = rt_scope_buf(s), *out = rt_scope_buf(s);
	const char *file = rt_cli_flag_value(cli, "token-file");
	char token[RT_TOKEN_ROOM];

	rt_json_open(json, NULL, '{');
	if (project != NULL)
		rt_json_put_c(json, "project", project);
	if (rt_cli_flag_value(cli, "user") != NULL)
		rt_json_put_c(json, "user", rt_cli_flag_value(cli, "user"));
	if (t->store != NULL)
		rt_json_put_c(json, "store", t->store);
	rt_json_close(json, '}');
	rt_buf_add_f(out,
		     "POST /retake/v1/codes HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n"
		     "Content-Type: application/json\r\nContent-Length: %zu\r\n",
		     t->socket != NULL ? "localhost" : t->host, json->size);
	if (t->socket == NULL &&
	    RT_TRY(s, file != NULL ? rt_token_read(file, token, &s->error)
				   : rt_token_load(cli->alloc, cli->env, t->state_folder, false, token,
						   &s->error)) == RT_OK)
		rt_buf_add_f(out, "Authorization: Bearer %s\r\n", token);
	rt_buf_add_c(out, "\r\n");
	rt_buf_add_str(out, rt_scope_str(s, json));
	(void)rt_scope_str(s, out);
	return out;
}

/* It answered without a code. */
static void
fail_refused(target *t, rt_str answer, rt_str body)
{
	rt_cli *cli = t->cli;
	rt_json_doc *doc = NULL;
	rt_str detail = {NULL, 0}, kind = {NULL, 0};

	if (rt_str_starts(answer, RT_STR("HTTP/1.1 401"))) {
		hint(t);
		rt_cli_fail(cli, RT_REFUSED,
			    "the server on %s rejected the token in %s/token: it was started "
			    "with another state directory",
			    name_of(t), t->state_folder);
		return;
	}
	if (rt_json_read(cli->alloc, body, &doc, NULL) == RT_OK) {
		detail = rt_json_str(rt_json_get(rt_json_root(doc), "detail"));
		kind = rt_json_str(rt_json_get(rt_json_root(doc), "type"));
	}
	detail.size = rt_utf8_cut(detail, 300);
	if (rt_str_is(kind, "urn:retake:problem:other-store")) {
		rt_cli_hint(cli, "Name the server that does: retake serve --login --port PORT   "
				 "Or start one: retake serve");
		rt_cli_fail(cli, RT_REFUSED, "the server on %s does not serve %s: %.*s", name_of(t),
			    t->store, RT_STR_ARG(detail));
	} else if (kind.size == 0) {
		fail_not_retake(t);
	} else {
		bool is_missing = rt_str_is(kind, "urn:retake:problem:not-found");

		hint(t);
		if (is_missing)
			rt_cli_hint(cli, "Projects: retake projects");
		rt_cli_fail(cli, is_missing ? RT_NOT_FOUND : RT_REFUSED,
			    "the server on %s returned no link: %.*s", name_of(t), RT_STR_ARG(detail));
	}
	rt_json_free(doc);
}

/* Sends the request. The body of the answer. */
static rt_str
exchange(target *t, int fd)
{
	rt_scope *s = &t->cli->s;
	struct timeval patience = {.tv_sec = PATIENCE_S};
	char *answer = rt_scope_get(s, ANSWER_SIZE);
	size_t size = 0, end;
	ssize_t got = 1;
	rt_buf *request;

	(void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	(void)setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	if (t->socket != NULL)
		connect_socket(t, fd);
	else
		connect_port(t, fd);
	request = rt_ok(s) ? write_request(t) : NULL;
	if (rt_ok(s) &&
	    send(fd, request->ptr, request->size, MSG_NOSIGNAL) != (ssize_t)request->size)
		got = -1;
	if (request != NULL && request->size > 0) /* the token is in it */
		memset(request->ptr, 0, request->size);
	if (!rt_ok(s))
		return rt_str_of(NULL);
	while (got > 0 && size < ANSWER_SIZE) {
		got = read(fd, answer + size, ANSWER_SIZE - size);
		size += got > 0 ? (size_t)got : 0;
	}

	rt_str all = rt_str_at(answer, size);

	end = rt_str_find(all, RT_STR("\r\n\r\n"), 0);
	end = end == SIZE_MAX ? size : end + 4;
	if (!rt_str_starts(all, RT_STR("HTTP/1.1 201")))
		fail_refused(t, all, rt_str_at(answer + end, size - end));
	return rt_str_at(answer + end, size - end);
}

static rt_str
ask(target *t)
{
	int fd = socket(t->socket != NULL ? AF_UNIX : t->address.ss_family,
			SOCK_STREAM | SOCK_CLOEXEC, 0);
	rt_str body;

	if (fd < 0) {
		rt_cli_fail(t->cli, RT_IO, "cannot create a socket: %s", strerror(errno));
		return rt_str_of(NULL);
	}
	body = exchange(t, fd);
	(void)close(fd);
	return body;
}

/* ---- all ---- */

static void
print_link(target *t, rt_str body)
{
	rt_cli *cli = t->cli;
	rt_scope *s = &cli->s;
	rt_buf *json = rt_scope_buf(s);
	yyjson_val *root = rt_json_parse(s, body);
	rt_str url = rt_json_str(rt_json_get(root, "url"));
	rt_str store = rt_json_str(rt_json_get(root, "store"));

	if (!rt_ok(s) && s->status != RT_NOMEM)
		rt_cli_recover(cli, NULL);
	if (url.size == 0) {
		fail_not_retake(t);
	} else if (t->store != NULL &&
		   !rt_str_is(store, t->store)) {
		hint(t);
		rt_cli_fail(cli, RT_REFUSED,
			    "the server on %s runs another version of Retake, which does not "
			    "report its store; restart it",
			    name_of(t));
	}
	if (!rt_ok(s))
		return;
	if (cli->json) {
		rt_buf_add_str(json, body);
		rt_cli_print_json(cli, json);
	} else {
		rt_term_text(&cli->out, url);
		rt_term_c(&cli->out, "\n");
		rt_cli_note(cli,
			    "open it in a browser on this machine; it works once, for " RT_CODE_LIFE);
	}
	if (t->usual != NULL && store.size > 0 && !rt_str_is(store, t->usual))
		rt_cli_note(cli, "this server serves another store (%.*s), not the default one", RT_STR_ARG(store));
	if (yyjson_is_true(rt_json_get(root, "replaced")))
		rt_cli_note(cli,
			    "too many unused links: the oldest is no longer valid");
}

void
rt_login(rt_cli *cli, const char *socket, const char *state_folder, unsigned default_port)
{
	target t = {.cli = cli, .socket = socket, .state_folder = state_folder};
	bool by_port = rt_cli_has(cli, "port") || rt_cli_has(cli, "listen") ||
		       rt_cli_has(cli, "no-socket");
	rt_str body = {NULL, 0};

	if (by_port && rt_cli_has(cli, "socket"))
		rt_cli_fail(cli, RT_USAGE,
			    "--login needs --socket or --port, not both");
	if (by_port) {
		t.socket = NULL;
		choose_address(&t, default_port);
	}
	choose_store(&t);
	if (rt_ok(&cli->s))
		body = ask(&t);
	if (rt_ok(&cli->s))
		print_link(&t, body);
}
