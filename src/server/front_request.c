/* SPDX-License-Identifier: MIT
 *
 * One request: libmicrohttpd calls rt_front_on_line with its target as it came, then
 * rt_front_on_request when the headers are there, with each piece of the body, and at its end;
 * once more when a worker has the answer; and rt_front_on_completed at the end of it all. */
#define _GNU_SOURCE

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "server/front_impl.h"

enum {
	IN_MEMORY = 1 << 20, /* larger bodies go to a file where they may */
	OVER = 1 << 20       /* of a body that is too large, read so that the answer is heard */
};

/* Headers of every answer. The page that the server has replaces the policy by its own. */
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

/* ---- an exchange ---- */

static void
forget_request(rt_exchange *x)
{
	rt_buf_deinit(&x->body);
	rt_buf_deinit(&x->answer.body);
	rt_free(x->front->alloc, x->headers);
	rt_arena_free(x->arena);
	x->headers = NULL;
	x->arena = NULL;
	memset(&x->request, 0, sizeof(x->request));
}

static void
exchange_free(rt_exchange *x)
{
	rt_front *front = x->front;

	if (x->mapped != NULL)
		(void)munmap(x->mapped, x->spooled);
	if (x->spool >= 0)
		(void)close(x->spool);
	forget_request(x);
	rt_free(front->alloc, x);
}

static rt_conn *
conn_of(const rt_front *front, struct MHD_Connection *connection)
{
	const union MHD_ConnectionInfo *info =
		front->mhd->get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

	return info != NULL ? info->socket_context : NULL;
}

static rt_exchange *
exchange_new(rt_front *front, struct MHD_Connection *connection, const char *target)
{
	rt_exchange *x = rt_new0(front->alloc, sizeof(*x));
	size_t size = strlen(target), question;
	char *copy;

	if (x == NULL)
		return NULL;
	x->front = front;
	x->connection = connection;
	x->spool = -1;
	rt_buf_init(&x->body, front->alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&x->answer.body, front->alloc, RT_BUF_UNLIMITED);
	x->arena = rt_arena_new(front->alloc);
	copy = x->arena != NULL ? rt_arena_get(x->arena, size + 1) : NULL;
	if (copy == NULL) {
		exchange_free(x);
		return NULL;
	}
	memcpy(copy, target, size + 1);
	x->conn = conn_of(front, connection);
	x->request.alloc = front->alloc;
	x->request.arena = x->arena;
	x->request.target = rt_str_at(copy, size);
	question = rt_str_find(x->request.target, RT_STR("?"), 0);
	if (question == SIZE_MAX) {
		x->request.path = x->request.target;
	} else {
		x->request.path = rt_str_at(copy, question);
		x->request.query = rt_str_at(copy + question + 1, size - question - 1);
	}
	return x;
}

void *
rt_front_on_line(void *ctx, const char *uri, struct MHD_Connection *connection)
{
	rt_front *front = ctx;
	rt_exchange *x = exchange_new(front, connection, uri);

	if (x != NULL)
		rt_conn_expect(x->conn, front->options.headers_ms);
	return x;
}

/* ---- the headers ---- */

static enum MHD_Result
add_header(void *ctx, enum MHD_ValueKind kind, const char *key, size_t key_size,
	   const char *value, size_t value_size)
{
	rt_exchange *x = ctx;

	(void)kind;
	if (x->request.header_count == x->header_room) {
		size_t room = x->header_room == 0 ? 16 : x->header_room * 2;
		rt_web_field *more =
			rt_resize(x->front->alloc, x->headers, room * sizeof(*x->headers));

		if (more == NULL) {
			x->out_of_memory = true;
			return MHD_NO;
		}
		x->headers = more;
		x->header_room = room;
	}
	x->headers[x->request.header_count].name = rt_str_at(key, key_size);
	x->headers[x->request.header_count++].value = rt_str_at(value, value_size);
	return MHD_YES;
}

static rt_web_method
method_of(const char *name)
{
	static const struct {
		const char *name;
		rt_web_method method;
	} known[] = {{"GET", RT_WEB_GET},     {"HEAD", RT_WEB_GET},    {"POST", RT_WEB_POST},
		     {"PUT", RT_WEB_PUT},     {"PATCH", RT_WEB_PATCH}, {"DELETE", RT_WEB_DELETE}};
	size_t i;

	for (i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (strcmp(name, known[i].name) == 0)
			return known[i].method;
	return RT_WEB_OTHER;
}

/* ---- the answer ---- */

static struct MHD_Response *
response_of(rt_exchange *x)
{
	rt_front *front = x->front;
	rt_web_stream *stream = x->answer.stream;

	x->answer.stream = NULL;
	if (stream != NULL)
		return rt_front_stream_response(x, stream);
	return front->mhd->create_response_from_buffer(x->answer.body.size, x->answer.body.ptr,
						       MHD_RESPMEM_PERSISTENT);
}

static bool
has_header(const rt_web_answer *answer, const char *name)
{
	size_t i;

	for (i = 0; i < answer->header_count; i++)
		if (rt_str_eq_nocase(answer->headers[i].name, rt_str_of(name)))
			return true;
	return false;
}

/* The body stays ours until the request is completed. */
static enum MHD_Result
send_answer(rt_exchange *x)
{
	rt_front *front = x->front;
	const rt_mhd *mhd = front->mhd;
	rt_web_answer *answer = &x->answer;
	bool is_stream = answer->stream != NULL;
	struct MHD_Response *response;
	enum MHD_Result result;
	size_t i;

	if (!is_stream && answer->body.status != RT_OK) {
		rt_buf_clear(&answer->body);
		answer->status = 503;
		answer->type = NULL;
		answer->header_count = 0;
	}
	rt_conn_expect(x->conn, is_stream ? 0
					  : front->options.idle_ms +
						    (int64_t)(answer->body.size /
							      RT_FRONT_SLOW_BYTES_S) * 1000);
	response = response_of(x);
	if (response == NULL)
		return MHD_NO;
	for (i = 0; i < sizeof(always) / sizeof(always[0]); i++)
		if (!has_header(answer, always[i][0]))
			(void)mhd->add_response_header(response, always[i][0], always[i][1]);
	if (answer->type != NULL)
		(void)mhd->add_response_header(response, "Content-Type", answer->type);
	for (i = 0; i < answer->header_count; i++)
		(void)mhd->add_response_header(response, answer->headers[i].name.ptr,
					       answer->headers[i].value.ptr);
	if (answer->close || front->is_closing)
		(void)mhd->add_response_header(response, "Connection", "close");
	result = mhd->queue_response(x->connection, answer->status != 0 ? answer->status : 500,
				     response);
	mhd->destroy_response(response);
	if (is_stream) /* it may go on for days, and needs nothing of this */
		forget_request(x);
	return result;
}

static enum MHD_Result
refuse(rt_exchange *x, unsigned status)
{
	rt_web_answer *answer = &x->answer;

	rt_buf_clear(&answer->body);
	answer->header_count = 0;
	x->front->options.site.refuse(x->front->options.site.ctx, &x->request, status, answer);
	answer->close = true;
	return send_answer(x);
}

/* ---- the body ---- */

static bool
spool(rt_exchange *x, const char *data, size_t size)
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

static bool
begin_spool(rt_exchange *x)
{
	const char *folder = x->front->options.spool;

	if (folder == NULL)
		return false;
	x->spool = rt_file_unnamed(folder);
	if (x->spool < 0)
		return false;
	return spool(x, x->body.ptr, x->body.size);
}

static enum MHD_Result
on_body_data(rt_exchange *x, const char *data, size_t size)
{
	rt_front *front = x->front;
	size_t so_far = x->spool >= 0 ? x->spooled : x->body.size;
	int64_t whole = x->began_ms + 2 * (int64_t)front->options.body_idle_ms +
			(int64_t)((so_far + size) / RT_FRONT_SLOW_BYTES_S) * 1000 - rt_front_now_ms();

	rt_conn_expect(x->conn, whole < 1 ? 1
				: whole < front->options.body_idle_ms ? whole
								      : front->options.body_idle_ms);
	if (x->too_large || size > x->plan.body_max - so_far) {
		if (!x->too_large)
			x->plan.body_max = so_far;
		x->too_large = true;
		x->spooled += size;
		return x->spooled > x->plan.body_max + OVER ? MHD_NO : MHD_YES;
	}
	if (x->spool < 0 && so_far + size > IN_MEMORY && x->plan.body_max > 8 * IN_MEMORY) {
		x->spool_failed = !begin_spool(x);
		rt_buf_deinit(&x->body);
		rt_buf_init(&x->body, front->alloc, RT_BUF_UNLIMITED);
	}
	if (x->spool_failed)
		return MHD_YES;
	if (x->spool >= 0)
		x->spool_failed = !spool(x, data, size);
	else
		rt_buf_add(&x->body, data, size);
	return MHD_YES;
}

static bool
body_is_there(rt_exchange *x)
{
	if (x->spool_failed || x->body.status != RT_OK)
		return false;
	x->request.body = rt_buf_str(&x->body);
	if (x->spool >= 0 && x->plan.as_file) {
		rt_file_input_spooled(&x->file, x->spool, x->spooled);
		x->request.file = &x->file.in;
	} else if (x->spool >= 0 && x->spooled > 0) {
		x->mapped = mmap(NULL, x->spooled, PROT_READ, MAP_PRIVATE, x->spool, 0);
		if (x->mapped == MAP_FAILED) {
			x->mapped = NULL;
			return false;
		}
		x->request.body = rt_str_at(x->mapped, x->spooled);
	}
	return true;
}

/* ---- the calls ---- */

/* The headers are there. */
static enum MHD_Result
begin(rt_exchange *x, const char *method, const char *version)
{
	rt_front *front = x->front;
	rt_str length;
	size_t name = strlen(method);
	char *copy = rt_arena_get(x->arena, name + 1);

	if (copy == NULL)
		return MHD_NO;
	memcpy(copy, method, name + 1);
	front->requests++;
	x->is_admitted = true;
	x->began_ms = rt_front_now_ms();
	x->request.method = method_of(method);
	x->request.method_name = rt_str_at(copy, name);
	x->request.version = rt_str_of(version);
	x->request.is_local = x->conn != NULL && x->conn->is_local;
	(void)front->mhd->get_connection_values_n(x->connection, MHD_HEADER_KIND, add_header, x);
	x->request.headers = x->headers;
	if (x->out_of_memory || (x->conn != NULL && x->conn->may_not_be_local))
		return MHD_NO;
	if (!front->options.site.admit(front->options.site.ctx, &x->request, &x->plan, &x->answer)) {
		length = rt_web_header(&x->request, "Content-Length");
		/* What was not read of this request must not be taken for the next one. */
		if ((length.ptr != NULL && !rt_str_is(length, "0")) ||
		    rt_web_header(&x->request, "Transfer-Encoding").ptr != NULL)
			x->answer.close = true;
		return send_answer(x);
	}
	length = rt_web_header(&x->request, "Content-Length");
	if (length.size > 0 && strtoull(length.ptr, NULL, 10) > x->plan.body_max)
		return refuse(x, 413);
	rt_conn_expect(x->conn, front->options.body_idle_ms);
	return MHD_YES;
}

/* The request is whole. */
static enum MHD_Result
answer(rt_exchange *x)
{
	rt_front *front = x->front;

	rt_conn_expect(x->conn, 0);
	if (x->is_done)
		return send_answer(x);
	/* Headers behind the body: whoever reads them and whoever does not see two requests. */
	if (front->mhd->get_connection_values_n(x->connection, MHD_FOOTER_KIND, NULL, NULL) > 0)
		return refuse(x, 400);
	if (x->too_large)
		return refuse(x, 413);
	if (!body_is_there(x))
		return refuse(x, 503);
	if (x->plan.quick) {
		front->options.site.handle(front->options.site.ctx, &x->request, &x->answer);
		return send_answer(x);
	}
	front->mhd->suspend_connection(x->connection);
	if (rt_work_add(front, x))
		return MHD_YES;
	front->mhd->resume_connection(x->connection);
	return refuse(x, 503);
}

enum MHD_Result
rt_front_on_request(void *ctx, struct MHD_Connection *connection, const char *url,
		    const char *method, const char *version, const char *data, size_t *size,
		    void **exchange)
{
	rt_exchange *x = *exchange;

	(void)ctx;
	(void)connection;
	(void)url;
	if (x == NULL)
		return MHD_NO; /* there was no memory for it */
	if (!x->is_admitted)
		return begin(x, method, version);
	if (*size > 0) {
		size_t taken = *size;

		*size = 0;
		return on_body_data(x, data, taken);
	}
	return answer(x);
}

void
rt_front_on_completed(void *ctx, struct MHD_Connection *connection, void **exchange,
		      enum MHD_RequestTerminationCode how)
{
	rt_front *front = ctx;
	rt_exchange *x = *exchange;

	(void)connection;
	(void)how;
	*exchange = NULL;
	if (x == NULL)
		return;
	if (x->answer.stream != NULL) /* it never went on its way */
		x->answer.stream->ops->close(x->answer.stream);
	rt_conn_expect(x->conn, front->options.idle_ms);
	exchange_free(x);
}

static bool
is_same_user(int fd)
{
	struct ucred peer;
	socklen_t size = sizeof(peer);

	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
	       (peer.uid == geteuid() || peer.uid == 0);
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
		struct sockaddr_storage own;
		socklen_t size = sizeof(own);

		conn = rt_new0(front->alloc, sizeof(*conn));
		*socket_ctx = conn;
		if (conn == NULL || info == NULL)
			return;
		conn->front = front;
		conn->fd = info->connect_fd;
		if (getsockname(conn->fd, (struct sockaddr *)&own, &size) == 0 &&
		    own.ss_family == AF_UNIX) {
			conn->is_local = is_same_user(conn->fd);
			conn->may_not_be_local = !conn->is_local;
		}
		conn->until_ms = rt_front_now_ms() + front->options.headers_ms;
		pthread_mutex_lock(&front->lock);
		conn->after = front->conns;
		if (conn->after != NULL)
			conn->after->before = conn;
		front->conns = conn;
		front->conn_count++;
		pthread_mutex_unlock(&front->lock);
		return;
	}
	if (conn == NULL)
		return;
	pthread_mutex_lock(&front->lock);
	if (conn->before != NULL)
		conn->before->after = conn->after;
	else
		front->conns = conn->after;
	if (conn->after != NULL)
		conn->after->before = conn->before;
	front->conn_count--;
	pthread_mutex_unlock(&front->lock);
	*socket_ctx = NULL;
	rt_free(front->alloc, conn);
}
