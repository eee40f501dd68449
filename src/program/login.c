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

#include "server/guard.h"
#include "server/token_host.h"

enum { ANSWER_ROOM = 16384, PATIENCE_S = 10 };

/* The server that was named. */
typedef struct asked {
	rt_cli *cli;
	const char *socket; /* NULL: it is asked at address */
	const char *state_folder;
	unsigned port;
	struct sockaddr_storage address;
	socklen_t address_size;
	char host[RT_GUARD_HOST_ROOM]; /* as the header Host has it; also for messages */
	char *store;                   /* the path that it has to serve; NULL: any */
} asked;

/* What is said of it: "port 9000", or the socket's path. */
static const char *
name_of(const asked *a)
{
	return a->socket != NULL ? a->socket : a->host;
}

/* What to do when it is not the one that was meant. */
static rt_status
hint(const asked *a, rt_status st)
{
	return rt_old_hint(a->cli, st,
			   "Start one: retake serve   Name another one: retake serve --login "
			   "--port PORT");
}

static rt_status
no_server(const asked *a)
{
	hint(a, RT_NOT_FOUND);
	return rt_old_fail(a->cli, RT_NOT_FOUND, "no server listens on %s", name_of(a));
}

static rt_status
not_ours(const asked *a)
{
	hint(a, RT_REFUSED);
	return rt_old_fail(a->cli, RT_REFUSED, "what listens on %s is another user's", name_of(a));
}

/* ---- which one ---- */

static rt_status
choose_address(asked *a, unsigned default_port)
{
	struct sockaddr_in *four = (struct sockaddr_in *)&a->address;
	struct sockaddr_in6 *six = (struct sockaddr_in6 *)&a->address;
	const char *listen = rt_cli_flag_value(a->cli, "listen");
	const char *text = rt_cli_flag_value(a->cli, "port");
	uint64_t port = default_port;
	rt_status st = text != NULL ? rt_old_number(a->cli, text, "a port", &port) : RT_OK;

	if (st != RT_OK)
		return st;
	if (port == 0 || port > 65535)
		return rt_old_fail(a->cli, RT_USAGE,
				   "the port of a server that runs is between 1 and "
				   "65535");
	a->port = (unsigned)port;
	if (listen == NULL || strcmp(listen, "0.0.0.0") == 0)
		listen = "127.0.0.1";
	else if (strcmp(listen, "::") == 0)
		listen = "::1";
	if (inet_pton(AF_INET, listen, &four->sin_addr) == 1) {
		four->sin_family = AF_INET;
		four->sin_port = htons((uint16_t)port);
		a->address_size = sizeof(*four);
		(void)snprintf(a->host, sizeof(a->host), "%.45s:%u", listen, a->port);
	} else if (inet_pton(AF_INET6, listen, &six->sin6_addr) == 1) {
		six->sin6_family = AF_INET6;
		six->sin6_port = htons((uint16_t)port);
		a->address_size = sizeof(*six);
		(void)snprintf(a->host, sizeof(a->host), "[%.45s]:%u", listen, a->port);
	} else {
		return rt_old_fail(a->cli, RT_USAGE, "--listen takes a numeric address, not %s",
				   listen);
	}
	return RT_OK;
}

/* The store of --db or RETAKE_DB, as a server knows it. */
static rt_status
choose_store(asked *a)
{
	rt_cli *cli = a->cli;
	rt_status st = rt_old_find_store(cli);

	if (st != RT_OK || !cli->session.path_named)
		return st;
	a->store = realpath(cli->session.path.ptr, NULL);
	if (a->store == NULL) {
		rt_old_hint(cli, RT_NOT_FOUND, "Start one: retake serve");
		st = rt_old_fail(cli, RT_NOT_FOUND, "no server can be serving %s: %s",
				 cli->session.path.ptr, strerror(errno));
	}
	return st;
}

/* ---- connecting ---- */

static rt_status
connect_socket(asked *a, int fd)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	struct ucred peer;
	socklen_t size = sizeof(peer);

	if (strlen(a->socket) >= sizeof(address.sun_path))
		return rt_old_fail(a->cli, RT_USAGE, "the path of the socket is too long: %s",
				   a->socket);
	memcpy(address.sun_path, a->socket, strlen(a->socket) + 1);
	if (connect(fd, (struct sockaddr *)&address, sizeof(address)) != 0)
		return no_server(a);
	/* In a folder that others can write to somebody else may listen. */
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0 || peer.uid != geteuid())
		return not_ours(a);
	return RT_OK;
}

/* Does a process of ours listen at that port, and nobody else's? A table of the system has the
 * owner of every socket:  "  0: 0100007F:2327 00000000:0000 0A … UID …". */
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
is_local(const asked *a, int fd)
{
	struct sockaddr_storage here;
	socklen_t size = sizeof(here);
	const struct sockaddr_in *four = (const struct sockaddr_in *)&a->address;
	const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)&a->address;

	if (getsockname(fd, (struct sockaddr *)&here, &size) != 0 ||
	    here.ss_family != a->address.ss_family)
		return false;
	if (here.ss_family == AF_INET)
		return ntohl(four->sin_addr.s_addr) >> 24 == IN_LOOPBACKNET ||
		       ((const struct sockaddr_in *)&here)->sin_addr.s_addr ==
			       four->sin_addr.s_addr;
	return IN6_IS_ADDR_LOOPBACK(&six->sin6_addr) ||
	       memcmp(&((const struct sockaddr_in6 *)&here)->sin6_addr, &six->sin6_addr,
		      sizeof(six->sin6_addr)) == 0;
}

static rt_status
connect_port(asked *a, int fd)
{
	bool found = false, ours;

	if (connect(fd, (struct sockaddr *)&a->address, a->address_size) != 0)
		return no_server(a);
	/* The token is for this machine alone; the table below knows its sockets only. */
	if (!is_local(a, fd))
		return rt_old_fail(a->cli, RT_REFUSED, "%s is not an address of this machine",
				   a->host);
	/* After connecting, so that it is the one that was reached. */
	ours = is_ours_in("/proc/net/tcp", a->port, &found);
	ours = is_ours_in("/proc/net/tcp6", a->port, &found) && ours;
	if (found && ours)
		return RT_OK;
	if (found)
		return not_ours(a);
	hint(a, RT_REFUSED);
	return rt_old_fail(a->cli, RT_REFUSED, "cannot find out whose server listens on %s",
			   a->host);
}

/* ---- asking ---- */

/* For the project that -p names, where it does. */
static rt_status
write_request(asked *a, rt_buf *out)
{
	rt_cli *cli = a->cli;
	const char *project = rt_cli_flag_value(cli, "project");
	char token[RT_TOKEN_ROOM];
	rt_buf json;
	rt_status st = RT_OK;

	rt_buf_init(&json, cli->alloc, RT_BUF_UNLIMITED);
	rt_buf_add_byte(&json, '{');
	if (project != NULL) {
		rt_json_add_key(&json, "project");
		rt_json_add_string(&json, rt_str_of(project));
	}
	if (a->store != NULL) {
		rt_json_add_key(&json, "store");
		rt_json_add_string(&json, rt_str_of(a->store));
	}
	rt_buf_add_byte(&json, '}');
	rt_buf_add_f(out,
		     "POST /retake/v1/codes HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n"
		     "Content-Type: application/json\r\nContent-Length: %zu\r\n",
		     a->socket != NULL ? "localhost" : a->host, json.size);
	if (a->socket == NULL) {
		st = rt_token_load(cli->alloc, cli->env, a->state_folder, false, token,
				   &cli->error);
		if (st == RT_OK)
			rt_buf_add_f(out, "Authorization: Bearer %s\r\n", token);
	}
	rt_buf_add_c(out, "\r\n");
	rt_buf_add_str(out, rt_buf_str(&json));
	if (st == RT_OK)
		st = rt_old_buf(cli, json.status == RT_OK ? out : &json);
	rt_buf_deinit(&json);
	return st;
}

/* It said something else than a code. */
static rt_status
say_refusal(asked *a, rt_str answer, rt_str body)
{
	rt_cli *cli = a->cli;
	rt_json_doc *doc = NULL;
	rt_str detail = rt_str_at("", 0), kind = detail;
	rt_status st;

	hint(a, RT_REFUSED);
	if (rt_str_starts(answer, RT_STR("HTTP/1.1 401")))
		return rt_old_fail(cli, RT_REFUSED,
				   "the server on %s does not take the token in "
				   "%s/token: it was started with another state folder",
				   name_of(a), a->state_folder);
	if (rt_json_read(cli->alloc, body, &doc, NULL) == RT_OK) {
		detail = rt_json_str(rt_json_get(rt_json_root(doc), "detail"));
		kind = rt_json_str(rt_json_get(rt_json_root(doc), "type"));
	}
	if (rt_str_is(kind, "urn:retake:problem:other-store")) {
		rt_old_hint(cli, RT_REFUSED,
			    "Name the one that does: retake serve --login --port PORT   "
			    "Start one: retake serve");
		st = rt_old_fail(cli, RT_REFUSED, "the server on %s does not serve %s: %.*s",
				 name_of(a), a->store, (int)rt_utf8_cut(detail, 300), detail.ptr);
	} else if (rt_str_is(kind, "urn:retake:problem:not-found")) {
		rt_old_hint(cli, RT_NOT_FOUND, "Projects: retake projects");
		st = rt_old_fail(cli, RT_NOT_FOUND, "the server on %s made no link: %.*s",
				 name_of(a), (int)rt_utf8_cut(detail, 300), detail.ptr);
	} else if (kind.size > 0) {
		st = rt_old_fail(cli, RT_REFUSED, "the server on %s made no link: %.*s", name_of(a),
				 (int)rt_utf8_cut(detail, 300), detail.ptr);
	} else {
		st = rt_old_fail(cli, RT_REFUSED, "what listens on %s is not Retake", name_of(a));
	}
	rt_json_free(doc);
	return st;
}

/* The body of its answer. */
static rt_status
ask(asked *a, rt_buf *out_body)
{
	rt_cli *cli = a->cli;
	struct timeval patience = {.tv_sec = PATIENCE_S};
	char answer[ANSWER_ROOM];
	size_t size = 0, end;
	ssize_t got = 1;
	rt_buf request;
	rt_status st;
	int fd = socket(a->socket != NULL ? AF_UNIX : a->address.ss_family,
			SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return rt_old_fail(cli, RT_IO, "cannot make a socket: %s", strerror(errno));
	rt_buf_init(&request, cli->alloc, RT_BUF_UNLIMITED);
	(void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	(void)setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	st = a->socket != NULL ? connect_socket(a, fd) : connect_port(a, fd);
	if (st == RT_OK)
		st = write_request(a, &request);
	if (st == RT_OK) {
		if (send(fd, request.ptr, request.size, MSG_NOSIGNAL) != (ssize_t)request.size)
			got = -1;
		while (got > 0 && size < sizeof(answer)) {
			got = read(fd, answer + size, sizeof(answer) - size);
			size += got > 0 ? (size_t)got : 0;
		}
		end = rt_str_find(rt_str_at(answer, size), RT_STR("\r\n\r\n"), 0);
		end = end == SIZE_MAX ? size : end + 4;
		if (rt_str_starts(rt_str_at(answer, size), RT_STR("HTTP/1.1 201")))
			rt_buf_add(out_body, answer + end, size - end);
		else
			st = say_refusal(a, rt_str_at(answer, size),
					 rt_str_at(answer + end, size - end));
	}
	if (st == RT_OK)
		st = rt_old_buf(cli, out_body);
	if (request.size > 0) /* the token is in it */
		memset(request.ptr, 0, request.size);
	rt_buf_deinit(&request);
	(void)close(fd);
	return st;
}

/* ---- all ---- */

static rt_status
print_link(asked *a, rt_str body)
{
	rt_cli *cli = a->cli;
	rt_json_doc *doc = NULL;
	rt_str url, store;
	rt_status st = rt_json_read(cli->alloc, body, &doc, NULL);

	url = rt_json_str(rt_json_get(rt_json_root(doc), "url"));
	store = rt_json_str(rt_json_get(rt_json_root(doc), "store"));
	hint(a, RT_REFUSED);
	if (st == RT_NOMEM)
		st = rt_old_fail(cli, st, "out of memory");
	else if (st != RT_OK || url.size == 0)
		st = rt_old_fail(cli, RT_REFUSED, "what listens on %s is not Retake", name_of(a));
	else if (a->store != NULL && !rt_str_is(store, a->store))
		st = rt_old_fail(cli, RT_REFUSED,
				 "the server on %s is of another version and does not "
				 "say which store it serves; restart it",
				 name_of(a));
	if (st == RT_OK && cli->json) {
		st = rt_old_print_json(cli, body);
	} else if (st == RT_OK) {
		rt_term_text(&cli->out, url);
		rt_term_c(&cli->out, "\n");
		rt_cli_note(cli,
			    "open it in a browser on this machine; it is good once, for a minute");
	}
	if (st == RT_OK && yyjson_is_true(rt_json_get(rt_json_root(doc), "replaced")))
		rt_cli_note(cli,
			    "too many links were waiting: the oldest one does not work any more");
	rt_json_free(doc);
	return st;
}

rt_status
rt_login(rt_cli *cli, const char *socket, const char *state_folder, unsigned default_port)
{
	asked a = {.cli = cli, .socket = socket, .state_folder = state_folder};
	bool by_port = rt_cli_has(cli, "port") || rt_cli_has(cli, "listen") ||
		       rt_cli_has(cli, "no-socket");
	rt_status st = RT_OK;
	rt_buf body;

	if (by_port && rt_cli_has(cli, "socket"))
		return rt_old_fail(cli, RT_USAGE,
				   "--login asks one server: name its --socket or its "
				   "--port, not both");
	if (by_port) {
		a.socket = NULL;
		st = choose_address(&a, default_port);
	}
	if (st == RT_OK)
		st = choose_store(&a);
	rt_buf_init(&body, cli->alloc, RT_BUF_UNLIMITED);
	if (st == RT_OK)
		st = ask(&a, &body);
	if (st == RT_OK)
		st = print_link(&a, rt_buf_str(&body));
	rt_buf_deinit(&body);
	free(a.store);
	return st;
}
