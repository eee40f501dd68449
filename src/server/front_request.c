/* SPDX-License-Identifier: MIT
 *
 * One request: libmicrohttpd calls rt_front_on_line with its unchanged target, then
 * rt_front_on_request after the headers, for each piece of the body, and at its end; again when a
 * worker has the answer; and rt_front_on_completed at the end. */
#define _GNU_SOURCE

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "server/front_impl.h"

enum {
	IN_MEMORY = 1 << 20, /* larger bodies go to a file, if allowed */
	OVER = 1 << 20       /* of a body that is too large, read so that the client reads the
			      * answer */
};

/* Headers of every response. The server's own page replaces the policy. */
static const char *const always[][2] = {
	{"X-Content-Type-Options", "nosniff"},
	{"X-Frame-Options", "DENY"},
	{"Referrer-Policy", "no-referrer"},
	{"Cross-Origin-Opener-Policy", "same-origin"},
	{"Cross-Origin-Resource-Policy", "same-origin"},
	{"Permissions-Policy",
	 "camera=(), geolocation=(), microphone=(), payment=(), usb=(), interest-cohort=()"},
	{"Content-Security-Policy",
	 "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"},
	{"Cache-Control", "no-store"},
};

/* ---- connections ---- */

static bool
is_same_user(int fd)
{
	struct ucred peer;
	socklen_t size = sizeof(peer);

	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
	       (peer.uid == geteuid() || peer.uid == 0);
}

static rt_conn *
open_conn(rt_front *front, int fd)
{
	rt_conn *conn = rt_new0(front->alloc, sizeof(*conn));
	struct sockaddr_storage own;
	socklen_t size = sizeof(own);

	if (conn == NULL)
		return NULL;
	conn->front = front;
	conn->fd = fd;
	if (getsockname(fd, (struct sockaddr *)&own, &size) == 0 && own.ss_family == AF_UNIX) {
		conn->is_local = is_same_user(fd);
		conn->is_foreign = !conn->is_local;
	}
	conn->until_ms = rt_clock_ms() + front->options.headers_ms;
	pthread_mutex_lock(&front->lock);
	rt_front_link_add(&front->conns, &conn->link);
	front->conn_count++;
	pthread_mutex_unlock(&front->lock);
	return conn;
}

void
rt_front_on_connection(void *ctx, struct MHD_Connection *connection, void **socket_ctx,
		       enum MHD_ConnectionNotificationCode what)
{
	rt_front *front = ctx;
	rt_conn *conn = *socket_ctx;

	if (what == MHD_CONNECTION_NOTIFY_STARTED) {
		const union MHD_ConnectionInfo *info = front->mhd->get_connection_info(
			connection, MHD_CONNECTION_INFO_CONNECTION_FD);

		*socket_ctx = info != NULL ? open_conn(front, info->connect_fd) : NULL;
		return;
	}
	if (conn == NULL)
		return;
	pthread_mutex_lock(&front->lock);
	rt_front_link_remove(&front->conns, &conn->link);
	front->conn_count--;
	pthread_mutex_unlock(&front->lock);
	*socket_ctx = NULL;
	rt_free(front->alloc, conn);
}

/* ---- an exchange ---- */

/* Frees everything that a stream does not need. */
static void
free_request(rt_http_exchange *x)
{
	rt_buf_deinit(&x->body);
	rt_buf_deinit(&x->answer.body);
	rt_buf_deinit(&x->headers);
	rt_arena_free(x->arena);
	x->arena = NULL;
	memset(&x->request, 0, sizeof(x->request));
}

static void
exchange_free(rt_http_exchange *x)
{
	if (x->mapped != NULL)
		(void)munmap(x->mapped, x->spooled);
	if (x->spool >= 0)
		(void)close(x->spool);
	free_request(x);
	rt_free(x->front->alloc, x);
}

static rt_http_exchange *
exchange_new(rt_front *front, struct MHD_Connection *connection, const char *target)
{
	const union MHD_ConnectionInfo *info = front->mhd->get_connection_info(
		connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
	rt_http_exchange *x = rt_new0(front->alloc, sizeof(*x));
	size_t size = strlen(target);

	if (x == NULL)
		return NULL;
	x->front = front;
	x->connection = connection;
	x->conn = info != NULL ? info->socket_context : NULL;
	x->spool = -1;
	rt_buf_init(&x->headers, front->alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&x->body, front->alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&x->answer.body, front->alloc, RT_BUF_UNLIMITED);
	x->arena = rt_arena_new(front->alloc);
	char *copy = x->arena != NULL ? rt_arena_get(x->arena, size + 1) : NULL;
	if (copy == NULL) {
		exchange_free(x);
		return NULL;
	}
	memcpy(copy, target, size + 1);
	rt_str all = rt_str_at(copy, size);
	size_t question = rt_str_find(all, RT_STR("?"), 0);
	x->request = (rt_web_request){
		.target = all, .path = all, .alloc = front->alloc, .arena = x->arena};
	if (question != SIZE_MAX) {
		x->request.path.size = question;
		x->request.query = rt_str_at(copy + question + 1, size - question - 1);
	}
	return x;
}

void *
rt_front_on_line(void *ctx, const char *uri, struct MHD_Connection *connection)
{
	rt_front *front = ctx;
	rt_http_exchange *x = exchange_new(front, connection, uri);

	if (x != NULL)
		rt_conn_expect(x->conn, front->options.headers_ms);
	return x;
}

void
rt_front_on_completed(void *ctx, struct MHD_Connection *connection, void **exchange,
		      enum MHD_RequestTerminationCode how)
{
	rt_front *front = ctx;
	rt_http_exchange *x = *exchange;

	(void)connection;
	(void)how;
	*exchange = NULL;
	if (x == NULL)
		return;
	if (x->answer.stream != NULL) /* was never sent */
		x->answer.stream->ops->close(x->answer.stream);
	rt_conn_expect(x->conn, front->options.idle_ms);
	exchange_free(x);
}

/* ---- the answer ---- */

static struct MHD_Response *
make_response(rt_http_exchange *x)
{
	rt_web_stream *stream = x->answer.stream;

	x->answer.stream = NULL;
	if (stream != NULL)
		return rt_front_stream_response(x, stream);
	return x->front->mhd->create_response_from_buffer(
		x->answer.body.size, x->answer.body.ptr, MHD_RESPMEM_PERSISTENT);
}

static bool
has_header(const rt_web_answer *answer, const char *name)
{
	for (size_t i = 0; i < answer->header_count; i++)
		if (rt_str_eq_nocase(answer->headers[i].name, rt_str_of(name)))
			return true;
	return false;
}

static void
add_headers(const rt_http_exchange *x, struct MHD_Response *response)
{
	const rt_web_answer *answer = &x->answer;
	const rt_mhd *mhd = x->front->mhd;

	for (size_t i = 0; i < sizeof(always) / sizeof(always[0]); i++)
		if (!has_header(answer, always[i][0]))
			(void)mhd->add_response_header(response, always[i][0], always[i][1]);
	if (answer->type != NULL)
		(void)mhd->add_response_header(response, "Content-Type", answer->type);
	for (size_t i = 0; i < answer->header_count; i++)
		(void)mhd->add_response_header(response, answer->headers[i].name.ptr,
					       answer->headers[i].value.ptr);
	if (x->request.id != NULL)
		(void)mhd->add_response_header(response, "X-Request-Id", x->request.id);
	if (answer->close || x->front->is_closing)
		(void)mhd->add_response_header(response, "Connection", "close");
}

/* The body stays ours until the request is completed. */
static enum MHD_Result
send_answer(rt_http_exchange *x)
{
	rt_front *front = x->front;
	rt_web_answer *answer = &x->answer;
	bool is_stream = answer->stream != NULL;
	int64_t patience_ms = front->options.idle_ms +
			      (int64_t)(answer->body.size / RT_FRONT_SLOW_BYTES_S) * 1000;

	if (!is_stream && answer->body.status != RT_OK) {
		rt_buf_clear(&answer->body);
		answer->status = 503;
		answer->type = NULL;
		answer->header_count = 0;
	}
	rt_conn_expect(x->conn, is_stream ? 0 : patience_ms);
	struct MHD_Response *response = make_response(x);
	if (response == NULL)
		return MHD_NO;
	add_headers(x, response);
	enum MHD_Result result = front->mhd->queue_response(
		x->connection, answer->status != 0 ? answer->status : 500, response);
	front->mhd->destroy_response(response);
	front->options.site.answered(front->options.site.ctx, &x->request, answer,
				     x->began_us > 0 ? rt_clock_ns() / 1000 - x->began_us : 0);
	if (is_stream) /* it may take days */
		free_request(x);
	return result;
}

static enum MHD_Result
refuse(rt_http_exchange *x, unsigned status)
{
	const rt_web_site *site = &x->front->options.site;

	rt_buf_clear(&x->answer.body);
	x->answer.header_count = 0;
	site->refuse(site->ctx, &x->request, status, &x->answer);
	x->answer.close = true;
	return send_answer(x);
}

/* ---- the headers ---- */

static enum MHD_Result
add_header(void *ctx, enum MHD_ValueKind kind, const char *key, size_t key_size,
	   const char *value, size_t value_size)
{
	rt_http_exchange *x = ctx;
	rt_web_field field = {rt_str_at(key, key_size), rt_str_at(value, value_size)};

	(void)kind;
	rt_buf_add(&x->headers, &field, sizeof(field));
	return x->headers.status == RT_OK ? MHD_YES : MHD_NO;
}

static rt_web_method
method_of(const char *name)
{
	static const struct {
		const char *name;
		rt_web_method method;
	} known[] = {{"GET", RT_WEB_GET},     {"HEAD", RT_WEB_GET},    {"POST", RT_WEB_POST},
		     {"PUT", RT_WEB_PUT},     {"PATCH", RT_WEB_PATCH}, {"DELETE", RT_WEB_DELETE}};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (strcmp(name, known[i].name) == 0)
			return known[i].method;
	return RT_WEB_OTHER;
}

static enum MHD_Result
on_headers(rt_http_exchange *x, const char *method, const char *version)
{
	rt_front *front = x->front;
	const rt_web_site *site = &front->options.site;
	size_t size = strlen(method);
	char *copy = rt_arena_get(x->arena, size + 1);

	if (copy == NULL)
		return MHD_NO;
	memcpy(copy, method, size + 1);
	front->requests++;
	x->state = RT_EXCHANGE_BODY;
	x->began_us = rt_clock_ns() / 1000;
	x->request.method = method_of(method);
	x->request.method_name = rt_str_at(copy, size);
	x->request.version = rt_str_of(version);
	x->request.is_local = x->conn != NULL && x->conn->is_local;
	(void)front->mhd->get_connection_values_n(x->connection, MHD_HEADER_KIND, add_header, x);
	x->request.headers = (const rt_web_field *)(const void *)x->headers.ptr;
	x->request.header_count = x->headers.size / sizeof(rt_web_field);
	if (x->headers.status != RT_OK || (x->conn != NULL && x->conn->is_foreign))
		return MHD_NO;
	rt_str length = rt_web_header(&x->request, "Content-Length");
	if (!site->admit(site->ctx, &x->request, &x->plan, &x->answer)) {
		/* Unread bytes of this request must not count as the next one. */
		if ((length.ptr != NULL && !rt_str_is(length, "0")) ||
		    rt_web_header(&x->request, "Transfer-Encoding").ptr != NULL)
			x->answer.close = true;
		return send_answer(x);
	}
	if (length.size > 0 && strtoull(length.ptr, NULL, 10) > x->plan.body_max)
		return refuse(x, 413);
	rt_conn_expect(x->conn, front->options.body_idle_ms);
	return MHD_YES;
}

/* ---- the body ---- */

static bool
spool(rt_http_exchange *x, const char *data, size_t size)
{
	while (size > 0) {
		ssize_t written = write(x->spool, data, size);

		if (written <= 0)
			return false;
		data += written;
		size -= (size_t)written;
		x->spooled += (size_t)written;
	}
	return true;
}

/* Continues in a file; false: it cannot be created or written. */
static bool
begin_spool(rt_http_exchange *x)
{
	const char *folder = x->front->options.spool;
	bool is_spooled = false;

	if (folder != NULL && (x->spool = rt_file_unnamed(folder)) >= 0)
		is_spooled = spool(x, x->body.ptr, x->body.size);
	rt_buf_deinit(&x->body);
	rt_buf_init(&x->body, x->front->alloc, RT_BUF_UNLIMITED);
	return is_spooled;
}

/* Time limit for the next piece, for a body at the minimum rate. */
static int64_t
body_patience_ms(const rt_http_exchange *x, size_t so_far)
{
	int64_t idle_ms = x->front->options.body_idle_ms;
	int64_t rest_ms = x->began_us / 1000 + 2 * idle_ms +
			  (int64_t)(so_far / RT_FRONT_SLOW_BYTES_S) * 1000 - rt_clock_ms();

	return rest_ms < 1 ? 1 : rest_ms < idle_ms ? rest_ms : idle_ms;
}

static enum MHD_Result
on_body(rt_http_exchange *x, const char *data, size_t size)
{
	size_t so_far = x->spool >= 0 ? x->spooled : x->body.size;

	rt_conn_expect(x->conn, body_patience_ms(x, so_far + size));
	if (x->fault == 413 || size > x->plan.body_max - so_far) {
		if (x->fault != 413)
			x->plan.body_max = so_far;
		x->fault = 413;
		x->spooled += size;
		return x->spooled > x->plan.body_max + OVER ? MHD_NO : MHD_YES;
	}
	if (x->spool < 0 && so_far + size > IN_MEMORY && x->plan.body_max > 8 * IN_MEMORY &&
	    !begin_spool(x))
		x->fault = 503;
	if (x->fault != 0)
		return MHD_YES;
	if (x->spool < 0)
		rt_buf_add(&x->body, data, size);
	else if (!spool(x, data, size))
		x->fault = 503;
	return MHD_YES;
}

/* Passes the body to the request. */
static void
finish_body(rt_http_exchange *x)
{
	x->request.body = rt_buf_str(&x->body);
	if (x->body.status != RT_OK) {
		x->fault = 503;
	} else if (x->spool >= 0 && x->plan.as_file) {
		rt_file_input_spooled(&x->file, x->spool, x->spooled);
		x->request.file = &x->file.in;
	} else if (x->spool >= 0 && x->spooled > 0) {
		x->mapped = mmap(NULL, x->spooled, PROT_READ, MAP_PRIVATE, x->spool, 0);
		if (x->mapped == MAP_FAILED) {
			x->mapped = NULL;
			x->fault = 503;
		}
		x->request.body = rt_str_at(x->mapped, x->spooled);
	}
}

static enum MHD_Result
on_body_end(rt_http_exchange *x)
{
	rt_front *front = x->front;
	const rt_web_site *site = &front->options.site;

	rt_conn_expect(x->conn, 0);
	/* Headers after the body: readers that know them and others would see two requests. */
	if (front->mhd->get_connection_values_n(x->connection, MHD_FOOTER_KIND, NULL, NULL) > 0)
		return refuse(x, 400);
	if (x->fault == 0)
		finish_body(x);
	if (x->fault != 0)
		return refuse(x, x->fault);
	if (x->plan.quick) {
		site->handle(site->ctx, &x->request, &x->answer);
		return send_answer(x);
	}
	x->state = RT_EXCHANGE_WORKING;
	front->mhd->suspend_connection(x->connection);
	if (rt_front_work_add(x))
		return MHD_YES;
	front->mhd->resume_connection(x->connection);
	return refuse(x, 503);
}

enum MHD_Result
rt_front_on_request(void *ctx, struct MHD_Connection *connection, const char *url,
		    const char *method, const char *version, const char *data, size_t *size,
		    void **exchange)
{
	rt_http_exchange *x = *exchange;
	size_t given = *size;

	(void)ctx;
	(void)connection;
	(void)url;
	if (x == NULL)
		return MHD_NO; /* there was no memory for it */
	if (x->state == RT_EXCHANGE_NEW)
		return on_headers(x, method, version);
	if (given > 0) {
		*size = 0;
		return on_body(x, data, given);
	}
	if (x->state == RT_EXCHANGE_BODY)
		return on_body_end(x);
	rt_conn_expect(x->conn, 0);
	return send_answer(x);
}
