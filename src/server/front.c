/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/shared_library_host.h"
#include "llm/system_host.h"
#include "server/front_impl.h"

enum {
	BACKLOG = 1024,
	FILES_KEPT = 256, /* for the store and other files */
	PORT_TRIES = 16,  /* of free ports, until one is free on both addresses */
	LOCK_WAIT_MS = 5000
};

/* ---- libmicrohttpd ---- */

static rt_mhd functions;

#define FUNCTION(name) {"MHD_" #name, &functions.name}

static const rt_shared_function function_table[] = {
	FUNCTION(start_daemon),
	FUNCTION(stop_daemon),
	FUNCTION(get_connection_values_n),
	FUNCTION(get_connection_info),
	FUNCTION(suspend_connection),
	FUNCTION(resume_connection),
	FUNCTION(create_response_from_buffer),
	FUNCTION(create_response_from_callback),
	FUNCTION(add_response_header),
	FUNCTION(queue_response),
	FUNCTION(destroy_response),
};

static rt_shared_library library = {
	.name = "libmicrohttpd",
	.version = "0.9.75",
	.need = "the server requires this library; install it (Debian: libmicrohttpd12)",
	.files = {"libmicrohttpd.so.12"},
	.functions = function_table,
	.function_count = sizeof(function_table) / sizeof(function_table[0]),
	.lock = PTHREAD_MUTEX_INITIALIZER,
};

/* ---- listening ---- */

static rt_status
bind_failed(rt_error *err, const char *place)
{
	if (errno == EADDRINUSE)
		return rt_fail(err, RT_BUSY, "another program already listens on %s", place);
	return rt_fail(err, RT_IO, "cannot listen on %s: %s", place, strerror(errno));
}

static void
add_listening(rt_front *front, int fd, bool is_unix)
{
	front->listening[front->daemon_count] = fd;
	front->is_unix[front->daemon_count++] = is_unix;
}

/* Listens on an address with front->port; if that is 0 it is set to a free port. */
static rt_status
listen_at(rt_front *front, const struct sockaddr *address, socklen_t size, const char *words,
	  rt_error *err)
{
	struct sockaddr_storage bound;
	socklen_t bound_size = sizeof(bound);
	char place[320];
	int on = 1;
	int fd = socket(address->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	(void)snprintf(place, sizeof(place), "%s port %u", words, front->port);
	if (fd < 0)
		return rt_fail(err, RT_IO, "cannot create a socket: %s", strerror(errno));
	(void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (address->sa_family == AF_INET6)
		(void)setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on));
	if (bind(fd, address, size) != 0 || listen(fd, BACKLOG) != 0) {
		rt_status st = bind_failed(err, place);

		(void)close(fd);
		return st;
	}
	if (front->port == 0 && getsockname(fd, (struct sockaddr *)&bound, &bound_size) == 0)
		front->port = bound.ss_family == AF_INET6
				      ? ntohs(((struct sockaddr_in6 *)&bound)->sin6_port)
				      : ntohs(((struct sockaddr_in *)&bound)->sin_port);
	add_listening(front, fd, false);
	return RT_OK;
}

static void
stop_listening(rt_front *front)
{
	while (front->daemon_count > 0)
		(void)close(front->listening[--front->daemon_count]);
}

/* Both loopback addresses. If another program has the port on ::1 it is not usable: a browser may
 * resolve localhost to that. Without IPv6 the other one is enough. */
static rt_status
listen_both(rt_front *front, rt_error *err)
{
	struct sockaddr_in four = {.sin_family = AF_INET};
	struct sockaddr_in6 six = {.sin6_family = AF_INET6};
	rt_status st;

	four.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	four.sin_port = htons((uint16_t)front->port);
	st = listen_at(front, (struct sockaddr *)&four, sizeof(four), "127.0.0.1", err);
	if (st != RT_OK)
		return st;
	six.sin6_addr = in6addr_loopback;
	six.sin6_port = htons((uint16_t)front->port);
	st = listen_at(front, (struct sockaddr *)&six, sizeof(six), "::1", err);
	return st == RT_BUSY ? RT_BUSY : RT_OK;
}

static rt_status
listen_loopback(rt_front *front, rt_error *err)
{
	int tries = front->options.port == 0 ? PORT_TRIES : 1;
	rt_status st = listen_both(front, err);

	while (st == RT_BUSY && --tries > 0) {
		stop_listening(front);
		front->port = 0;
		st = listen_both(front, err);
	}
	return st;
}

static rt_status
listen_elsewhere(rt_front *front, const char *address, rt_error *err)
{
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE | AI_NUMERICHOST};
	struct addrinfo *found = NULL;
	char port[16];
	rt_status st;

	(void)snprintf(port, sizeof(port), "%u", front->port);
	if (getaddrinfo(address, port, &hints, &found) != 0)
		return rt_fail(err, RT_USAGE, "\"%s\" is not an IP address: use digits, such as "
			       "192.168.1.5 or ::", address);
	st = listen_at(front, found->ai_addr, found->ai_addrlen, address, err);
	freeaddrinfo(found);
	return st;
}

/* Does a server accept connections on that socket? */
static bool
is_alive(const struct sockaddr_un *address)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	bool alive = fd >= 0 && connect(fd, (const struct sockaddr *)address, sizeof(*address)) == 0;

	if (fd >= 0)
		(void)close(fd);
	return alive;
}

/* With the lock of the socket's folder. */
static rt_status
bind_unix(rt_front *front, const char *path, rt_error *err)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	struct stat info;
	mode_t mask;
	int fd;
	bool is_bound;

	memcpy(address.sun_path, path, strlen(path) + 1);
	if (lstat(path, &info) == 0) {
		if (!S_ISSOCK(info.st_mode))
			return rt_fail(err, RT_REFUSED, "%s already exists and is not a socket", path);
		if (is_alive(&address))
			return rt_fail(err, RT_BUSY, "another program already listens on %s", path);
		(void)unlink(path); /* of a server that has ended */
	}
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return rt_fail(err, RT_IO, "cannot create a socket: %s", strerror(errno));
	mask = umask(0177);
	is_bound = bind(fd, (struct sockaddr *)&address, sizeof(address)) == 0;
	(void)umask(mask);
	if (!is_bound || listen(fd, BACKLOG) != 0) {
		rt_status st = bind_failed(err, path);

		(void)close(fd);
		return st;
	}
	front->socket_path = rt_new(front->alloc, strlen(path) + 1);
	if (front->socket_path != NULL)
		memcpy(front->socket_path, path, strlen(path) + 1);
	add_listening(front, fd, true);
	return RT_OK;
}

/* If several servers start at once, one of them replaces the socket of a server that has ended. */
static rt_status
listen_unix(rt_front *front, const char *path, rt_error *err)
{
	rt_status st;
	int lock;

	if (strlen(path) >= sizeof(((struct sockaddr_un *)NULL)->sun_path))
		return rt_fail(err, RT_USAGE, "the path of a socket can have at most %zu characters: %s",
			       sizeof(((struct sockaddr_un *)NULL)->sun_path) - 1, path);
	lock = rt_folder_lock(path, LOCK_WAIT_MS); /* -1: a folder that cannot be locked */
	st = bind_unix(front, path, err);
	if (lock >= 0)
		(void)close(lock);
	return st;
}

static rt_status
listen_all(rt_front *front, rt_error *err)
{
	const rt_front_options *options = &front->options;
	rt_status st = options->address == NULL ? listen_loopback(front, err)
						: listen_elsewhere(front, options->address, err);

	if (st != RT_OK || options->socket == NULL)
		return st;
	st = listen_unix(front, options->socket, err);
	if (st != RT_OK && err != NULL)
		err->about = RT_ABOUT_SOCKET;
	return st;
}

/* ---- opening and closing ---- */

/* The target is not changed: route.h decodes it, strictly. */
static size_t
keep_escapes(void *ctx, struct MHD_Connection *connection, char *s)
{
	(void)ctx;
	(void)connection;
	return strlen(s);
}

static void
say_nothing(void *ctx, const char *format, va_list arguments)
{
	(void)ctx;
	(void)format;
	(void)arguments;
}

/* Connections of each listener, within the limit of open files, which is raised as far as
 * possible. */
static unsigned
connections_of(const rt_front *front)
{
	unsigned wanted = front->options.connections != 0 ? front->options.connections
							  : RT_FRONT_CONNECTIONS;
	rlim_t needed = (rlim_t)wanted * front->daemon_count + FILES_KEPT;
	struct rlimit files;

	if (getrlimit(RLIMIT_NOFILE, &files) != 0)
		return wanted;
	if (files.rlim_cur < needed) {
		files.rlim_cur = files.rlim_max < needed ? files.rlim_max : needed;
		(void)setrlimit(RLIMIT_NOFILE, &files);
		(void)getrlimit(RLIMIT_NOFILE, &files);
	}
	if (files.rlim_cur >= needed)
		return wanted;
	needed = files.rlim_cur > 2 * FILES_KEPT ? files.rlim_cur - FILES_KEPT : files.rlim_cur / 2;
	needed /= front->daemon_count;
	return needed > 1 ? (unsigned)needed : 1;
}

static unsigned
loops_of(const rt_front_options *options)
{
	long processors = sysconf(_SC_NPROCESSORS_ONLN);

	if (options->loops != 0)
		return options->loops;
	return processors < 1 ? 1 : processors > 4 ? 4 : (unsigned)processors;
}

static rt_status
start(rt_front *front, size_t which, rt_error *err)
{
	unsigned loops = front->is_unix[which] ? 1 : loops_of(&front->options);
	unsigned flags = MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ITC |
			 MHD_USE_ERROR_LOG;
	struct MHD_OptionItem pool[] = {{MHD_OPTION_THREAD_POOL_SIZE, (intptr_t)loops, NULL},
					{MHD_OPTION_END, 0, NULL}};

	if (loops < 2)
		pool[0].option = MHD_OPTION_END;
	front->daemons[which] = front->mhd->start_daemon(
		flags, 0, NULL, NULL, rt_front_on_request, front,
		MHD_OPTION_EXTERNAL_LOGGER, say_nothing, NULL,
		MHD_OPTION_LISTEN_SOCKET, front->listening[which],
		MHD_OPTION_CONNECTION_LIMIT, connections_of(front),
		MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)RT_FRONT_MEMORY,
		MHD_OPTION_CONNECTION_TIMEOUT, (front->options.idle_ms + 999) / 1000 + 1,
		MHD_OPTION_NOTIFY_COMPLETED, rt_front_on_completed, front,
		MHD_OPTION_NOTIFY_CONNECTION, rt_front_on_connection, front,
		MHD_OPTION_URI_LOG_CALLBACK, rt_front_on_line, front,
		MHD_OPTION_UNESCAPE_CALLBACK, keep_escapes, NULL,
		MHD_OPTION_STRICT_FOR_CLIENT, 1,
		MHD_OPTION_ARRAY, pool,
		MHD_OPTION_END);
	if (front->daemons[which] == NULL)
		return rt_fail(err, RT_IO, "libmicrohttpd could not be started");
	return RT_OK;
}

rt_status
rt_front_open(const rt_front_options *options, rt_front **out, rt_error *err)
{
	rt_front *front = rt_new0(options->alloc, sizeof(*front));

	*out = NULL;
	if (front == NULL)
		return rt_fail(err, RT_NOMEM, "out of memory");
	front->options = *options;
	front->alloc = options->alloc;
	front->port = options->port;
	if (options->headers_ms == 0)
		front->options.headers_ms = RT_FRONT_HEADERS_MS;
	if (options->body_idle_ms == 0)
		front->options.body_idle_ms = RT_FRONT_BODY_IDLE_MS;
	if (options->idle_ms == 0)
		front->options.idle_ms = RT_FRONT_IDLE_MS;
	if (!rt_front_wait_init(front)) {
		rt_free(options->alloc, front);
		return rt_fail(err, RT_NOMEM, "out of memory");
	}
	front->mhd = &functions;
	rt_status st = rt_shared_library_load(&library, err);
	if (st == RT_OK)
		st = listen_all(front, err);
	if (st != RT_OK) {
		rt_front_close(front);
		return st;
	}
	*out = front;
	return RT_OK;
}

rt_status
rt_front_start(rt_front *front, rt_error *err)
{
	rt_status st = RT_OK;

	if (!rt_front_start_timer(front))
		return rt_fail(err, RT_NOMEM, "cannot start a thread");
	for (size_t i = 0; st == RT_OK && i < front->daemon_count; i++)
		st = start(front, i, err);
	return st;
}

void
rt_front_close(rt_front *front)
{
	if (front == NULL)
		return;
	pthread_mutex_lock(&front->lock);
	front->is_closing = true;
	pthread_cond_broadcast(&front->timer_changed);
	pthread_mutex_unlock(&front->lock);
	/* Requests that come until the loops end are answered with 503; none of them is suspended
	 * any more, which libmicrohttpd would not survive. Nor would it always survive
	 * MHD_quiesce_daemon: that takes the socket out of the loop's epoll set while the loop
	 * does the same. */
	rt_front_work_end(front);
	rt_front_streams_wake(front);
	for (size_t i = 0; i < front->daemon_count; i++) {
		if (front->daemons[i] != NULL)
			front->mhd->stop_daemon(front->daemons[i]); /* closes the listening socket,
								     * too */
		else
			(void)close(front->listening[i]);
	}
	if (front->has_timer)
		(void)pthread_join(front->timer, NULL);
	rt_front_wait_deinit(front);
	if (front->socket_path != NULL)
		(void)unlink(front->socket_path);
	rt_free(front->alloc, front->socket_path);
	rt_free(front->alloc, front);
}

unsigned
rt_front_port(const rt_front *front)
{
	return front->port;
}

void
rt_front_count(rt_front *front, rt_front_counts *out)
{
	memset(out, 0, sizeof(*out));
	pthread_mutex_lock(&front->lock);
	out->connections = front->conn_count;
	out->streams = front->stream_count;
	out->late = front->late;
	pthread_mutex_unlock(&front->lock);
	pthread_mutex_lock(&front->work.lock);
	out->workers = front->work.threads;
	pthread_mutex_unlock(&front->work.lock);
	out->requests = front->requests;
}
