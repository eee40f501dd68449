/* SPDX-License-Identifier: MIT
 *
 * Lines of the access log, and the headers that identify a request. */
#define _POSIX_C_SOURCE 200809L

#include "server/access_log_host.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/moment.h"
#include "codec/json.h"

enum { PATH_MAX_LOGGED = 200 };

struct rt_access_log {
	const rt_alloc *alloc;
	const rt_env *env;
	char *path; /* NULL: standard error */
	pthread_rwlock_t lock; /* of fd: readers write lines */
	int fd;
};

/* ---- ids ---- */

static bool
is_hex(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

void
rt_request_id(const rt_env *env, const rt_web_request *request, char out[RT_REQUEST_ID_ROOM])
{
	rt_str given = rt_web_header(request, "X-Request-Id");
	bool is_valid = given.size > 0 && given.size < RT_REQUEST_ID_ROOM;
	unsigned char bytes[8];

	for (size_t i = 0; is_valid && i < given.size; i++) {
		char c = given.ptr[i];

		is_valid = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
			   c == '-' || c == '_' || c == '.';
	}
	if (is_valid) {
		memcpy(out, given.ptr, given.size);
		out[given.size] = '\0';
		return;
	}
	env->random(env->ctx, bytes, sizeof(bytes));
	for (size_t i = 0; i < sizeof(bytes); i++)
		(void)snprintf(out + 2 * i, 3, "%02x", bytes[i]);
}

/* version "-" trace id "-" parent id "-" flags; a version after 00 may have more. */
void
rt_trace_id(const rt_web_request *request, char out[RT_TRACE_ID_ROOM])
{
	enum { TRACE = 3, PARENT = 36, FLAGS = 53, SIZE = 55 };
	rt_str h = rt_web_header(request, "traceparent");
	bool is_zero = true;

	out[0] = '\0';
	if (h.size < SIZE || (rt_str_starts(h, RT_STR("00")) && h.size != SIZE) ||
	    rt_str_starts(h, RT_STR("ff")))
		return;
	for (size_t i = 0; i < SIZE; i++) {
		bool is_dash = i == TRACE - 1 || i == PARENT - 1 || i == FLAGS - 1;

		if (is_dash ? h.ptr[i] != '-' : !is_hex(h.ptr[i]))
			return;
		if (i >= TRACE && i < PARENT - 1 && h.ptr[i] != '0')
			is_zero = false;
	}
	if (is_zero)
		return;
	memcpy(out, h.ptr + TRACE, RT_TRACE_ID_ROOM - 1);
	out[RT_TRACE_ID_ROOM - 1] = '\0';
}

/* ---- the file ---- */

static int
open_file(const char *path)
{
	return open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY, 0600);
}

rt_status
rt_access_log_open(const rt_alloc *alloc, const rt_env *env, const char *path, rt_access_log **out,
		   rt_error *err)
{
	bool is_file = strcmp(path, "-") != 0;
	size_t size = strlen(path) + 1;
	rt_access_log *log = rt_new0(alloc, sizeof(*log));

	if (log == NULL)
		return rt_fail(err, RT_NOMEM, "out of memory");
	*log = (rt_access_log){.alloc = alloc, .env = env, .fd = STDERR_FILENO};
	(void)pthread_rwlock_init(&log->lock, NULL);
	if (is_file) {
		log->path = rt_new0(alloc, size);
		log->fd = log->path != NULL ? open_file(path) : -1;
	}
	if (log->fd < 0) {
		rt_status st = log->path == NULL ? rt_fail(err, RT_NOMEM, "out of memory")
						 : rt_fail(err, RT_IO, "cannot write the log %s: %s",
							   path, strerror(errno));
		rt_access_log_close(log);
		return st;
	}
	if (is_file)
		memcpy(log->path, path, size);
	*out = log;
	return RT_OK;
}

void
rt_access_log_close(rt_access_log *log)
{
	if (log == NULL)
		return;
	if (log->path != NULL && log->fd >= 0)
		(void)close(log->fd);
	if (log->path != NULL)
		rt_free(log->alloc, log->path);
	(void)pthread_rwlock_destroy(&log->lock);
	rt_free(log->alloc, log);
}

void
rt_access_log_reopen(rt_access_log *log)
{
	struct stat ours, there;
	int fd;

	if (log->path == NULL ||
	    (fstat(log->fd, &ours) == 0 && stat(log->path, &there) == 0 &&
	     ours.st_dev == there.st_dev && ours.st_ino == there.st_ino))
		return;
	fd = open_file(log->path);
	if (fd < 0)
		return; /* continue in the old one */
	(void)pthread_rwlock_wrlock(&log->lock);
	(void)close(log->fd);
	log->fd = fd;
	(void)pthread_rwlock_unlock(&log->lock);
}

/* ---- lines ---- */

static void
put_line(const rt_env *env, const rt_access *a, rt_buf *line)
{
	rt_str path = rt_str_at(a->path.ptr, a->path.size < PATH_MAX_LOGGED ? a->path.size : PATH_MAX_LOGGED);
	char ms[32];

	rt_json_open(line, NULL, '{');
	rt_buf_add_c(line, "\"time\":\"");
	rt_moment_format_ms(line, (rt_moment){.us = env->now_us(env->ctx)});
	rt_buf_add_c(line, "\",");
	rt_json_put_c(line, "level", a->status >= 500 ? "error" : a->status >= 400 ? "warn" : "info");
	if (*a->request != '\0')
		rt_json_put_c(line, "request", a->request);
	if (*a->trace != '\0')
		rt_json_put_c(line, "trace", a->trace);
	rt_json_put_str(line, "method", a->method);
	if (a->route != NULL)
		rt_json_put_c(line, "route", a->route);
	else
		rt_json_put_str(line, "path",
				rt_utf8_valid_size(path) == path.size ? path : RT_STR("(not UTF-8)"));
	rt_json_put_u64(line, "status", a->status);
	(void)snprintf(ms, sizeof(ms), "%.3f", (double)a->us / 1000);
	rt_json_put_raw(line, "ms", rt_str_of(ms));
	rt_json_put_u64(line, "bytes", a->bytes);
	rt_json_put_c(line, "by", a->by);
	if (a->project.size > 0 && rt_utf8_valid_size(a->project) == a->project.size)
		rt_json_put_str(line, "project", a->project);
	rt_json_close(line, '}');
	rt_buf_add_byte(line, '\n');
}

void
rt_access_log_add(rt_access_log *log, const rt_access *access)
{
	rt_buf line;

	rt_buf_init(&line, log->alloc, RT_BUF_UNLIMITED);
	put_line(log->env, access, &line);
	(void)pthread_rwlock_rdlock(&log->lock);
	if (line.status == RT_OK && write(log->fd, line.ptr, line.size) < 0)
		errno = 0; /* a log that cannot be written must not stop the server */
	(void)pthread_rwlock_unlock(&log->lock);
	rt_buf_deinit(&line);
}
