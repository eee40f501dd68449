/* SPDX-License-Identifier: MIT
 *
 * apply: operations in, results out, one JSON object a line.
 *
 * Lines that wait in the input already share one commit; nothing waits for a line that is
 * not there yet, so a program that talks to us line by line gets each answer at once.
 * Every result is written when what it reports is durable, not before. Memory is bounded
 * by the longest line, but for --atomic, which needs all lines at once. */
#define _POSIX_C_SOURCE 200809L

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <unistd.h>

#include "cli/cli.h"
#include "codec/request_json.h"
#include "core/op.h"

#define LINE_MAX_SIZE ((size_t)256 << 20)

enum { READ_SIZE = 256 * 1024, BATCH_LINES = 512, BATCH_SIZE = 1 << 20 };

typedef struct request {
	uint64_t line;
	rt_json_doc *doc; /* NULL: the line was bad */
	rt_error error;   /* why */
} request;

typedef struct applying {
	rt_cli *cli;
	int fd;
	rt_buf input;  /* read and not yet done */
	size_t at;     /* where the next line begins */
	size_t seen;   /* bytes that are known to hold no line end */
	bool ended;    /* there is no more to read */
	bool too_long; /* within a line that is passed over */
	uint64_t line;
	request *requests;
	size_t count, room;
	size_t bytes; /* of the lines in the batch */
	bool failed;  /* something was not carried out */
	bool denied;  /* nothing was, since a hook said no */
} applying;

/* --- requests --- */

static request *
next_request(applying *a)
{
	if (a->count == a->room) {
		size_t room = a->room == 0 ? 64 : a->room * 2;
		request *more = rt_resize(a->cli->alloc, a->requests, room * sizeof(*more));

		if (more == NULL)
			return NULL;
		a->requests = more;
		a->room = room;
	}
	memset(&a->requests[a->count], 0, sizeof(request));
	a->requests[a->count].line = a->line;
	return &a->requests[a->count++];
}

static void
forget_requests(applying *a)
{
	for (size_t i = 0; i < a->count; i++)
		rt_json_free(a->requests[i].doc);
	a->count = 0;
	a->bytes = 0;
}

static rt_status
add_line(applying *a, rt_str line)
{
	yyjson_val *root;
	request *r;
	rt_status st;

	a->line++;
	if (line.size > 0 && line.ptr[line.size - 1] == '\r')
		line.size--;
	if (rt_str_trim(line).size == 0)
		return RT_OK;
	r = next_request(a);
	if (r == NULL)
		return rt_old_nomem(a->cli);
	a->bytes += line.size;
	st = rt_json_read(a->cli->alloc, line, &r->doc, &r->error);
	if (st == RT_NOMEM)
		return rt_old_nomem(a->cli);
	if (st != RT_OK) {
		rt_error inner = r->error;

		/* Whatever it is, the line is bad. */
		(void)rt_fail(&r->error, RT_USAGE, "line %llu: %.400s", (unsigned long long)a->line,
			      inner.text);
		r->doc = NULL;
		return RT_OK;
	}
	root = rt_json_root(r->doc);
	if (!yyjson_is_obj(root))
		(void)rt_fail(&r->error, RT_USAGE, "line %llu: this is no JSON object",
			      (unsigned long long)a->line);
	else if (!yyjson_is_str(rt_json_get(root, "op")))
		(void)rt_fail(&r->error, RT_USAGE,
			      "line %llu: \"op\" is missing; it names the operation, "
			      "such as {\"op\":\"entry.append\"}",
			      (unsigned long long)a->line);
	else
		return RT_OK;
	rt_json_free(r->doc);
	r->doc = NULL;
	return RT_OK;
}

static rt_status
add_too_long(applying *a)
{
	request *r;

	a->line++;
	r = next_request(a);
	if (r == NULL)
		return rt_old_nomem(a->cli);
	(void)rt_fail(&r->error, RT_USAGE, "line %llu is longer than %d MiB",
		      (unsigned long long)a->line, (int)(LINE_MAX_SIZE >> 20));
	return RT_OK;
}

/* --- input --- */

/* Read once, as much as waits. */
static rt_status
read_some(applying *a)
{
	char *to;
	ssize_t got;

	if (a->at > 0 && a->at == a->input.size) {
		rt_buf_clear(&a->input);
		a->at = 0;
		a->seen = 0;
	} else if (a->at > READ_SIZE) {
		memmove(a->input.ptr, a->input.ptr + a->at, a->input.size - a->at);
		a->input.size -= a->at;
		a->seen -= a->at;
		a->at = 0;
	}
	to = rt_buf_reserve(&a->input, READ_SIZE);
	if (to == NULL)
		return rt_old_nomem(a->cli);
	got = read(a->fd, to, READ_SIZE);
	if (got > 0)
		a->input.size += (size_t)got;
	else if (got == 0)
		a->ended = true;
	else if (errno != EINTR)
		return rt_old_fail(a->cli, RT_IO, "the input cannot be read: %s", strerror(errno));
	return RT_OK;
}

static bool
more_waits(const applying *a)
{
	struct pollfd ready = {.fd = a->fd, .events = POLLIN};

	return !a->ended && poll(&ready, 1, 0) == 1;
}

/* The next line that is there whole (the last one may lack its end). */
static bool
next_line(applying *a, rt_str *out)
{
	const char *end;
	size_t left = a->input.size - a->seen;

	end = left == 0 ? NULL : memchr(a->input.ptr + a->seen, '\n', left);
	if (end == NULL && (!a->ended || a->at == a->input.size)) {
		a->seen = a->input.size;
		return false;
	}
	if (end == NULL)
		end = a->input.ptr + a->input.size;
	*out = rt_str_at(a->input.ptr + a->at, (size_t)(end - a->input.ptr) - a->at);
	a->at += out->size + 1;
	if (a->at > a->input.size)
		a->at = a->input.size;
	a->seen = a->at;
	return true;
}

/* Take what is there into the batch. */
static rt_status
read_lines(applying *a, bool all)
{
	rt_status st = RT_OK;
	rt_str line;

	while (st == RT_OK && (all || (a->count < BATCH_LINES && a->bytes < BATCH_SIZE)) &&
	       next_line(a, &line)) {
		if (!a->too_long) {
			st = add_line(a, line);
			continue;
		}
		a->too_long = false;
		st = add_too_long(a);
	}
	if (st == RT_OK && a->at < a->input.size && a->seen == a->input.size &&
	    (a->too_long || a->input.size - a->at > LINE_MAX_SIZE)) {
		a->too_long = true;
		rt_buf_clear(&a->input);
		a->at = 0;
		a->seen = 0;
	}
	if (st == RT_OK && a->too_long && a->ended && a->at == a->input.size) {
		a->too_long = false;
		st = add_too_long(a);
	}
	return st;
}

/* --- output --- */

static void
print_result(applying *a, const rt_result *result)
{
	rt_buf buf;

	rt_buf_init(&buf, a->cli->alloc, RT_BUF_UNLIMITED);
	rt_result_add_json(&buf, result);
	rt_buf_add_byte(&buf, '\n');
	rt_term_json(&a->cli->out, rt_buf_str(&buf));
	rt_buf_deinit(&buf);
}

static void
print_error(applying *a, const rt_error *error)
{
	rt_result result;

	memset(&result, 0, sizeof(result));
	result.status = error->status;
	result.error = *error;
	print_result(a, &result);
	a->failed = true;
}

/* The good requests of the batch, in one call; then all results in their order. A signal waits
 * until they are written. */
static rt_status
run_batch(applying *a, bool atomic)
{
	rt_cli *cli = a->cli;
	rt_scope s;
	size_t count = 0, done = 0;

	rt_scope_init(&s, cli->alloc);
	yyjson_val **values = rt_scope_array(&s, a->count, sizeof(*values));
	rt_result *results = rt_scope_array(&s, a->count, sizeof(*results));
	for (size_t i = 0; rt_ok(&s) && i < a->count; i++)
		if (a->requests[i].doc != NULL)
			values[count++] = rt_json_root(a->requests[i].doc);
	rt_request *requests = rt_requests_read(&s, values, count);
	rt_host_hold(true);
	if (rt_ok(&s) && count > 0) {
		rt_status st = rt_apply(cli->session.engine, rt_session_hooks_begin(&cli->session),
					requests, count, atomic,
					rt_session_discussion(&cli->session),
					rt_session_take(&cli->session), results);

		rt_session_hooks_end(&cli->session);
		a->failed = a->failed || st != RT_OK;
		a->denied = atomic && st == RT_DENIED;
	}
	for (size_t i = 0; rt_ok(&s) && i < a->count; i++) {
		if (a->requests[i].doc == NULL) {
			print_error(a, &a->requests[i].error);
			continue;
		}
		print_result(a, &results[done]);
		rt_result_deinit(&results[done++]);
	}
	rt_term_flush(&cli->out);
	rt_host_hold(false);
	forget_requests(a);
	return rt_scope_end(&s, &cli->error);
}

static rt_status
run_lines(applying *a)
{
	rt_status st = RT_OK;

	while (st == RT_OK && !rt_host_interrupted() && !a->cli->out.broken) {
		st = read_lines(a, false);
		if (st != RT_OK)
			break;
		if (a->count == BATCH_LINES || a->bytes >= BATCH_SIZE ||
		    (a->count > 0 && !more_waits(a))) {
			st = run_batch(a, false);
			continue;
		}
		if (a->ended && a->at == a->input.size) {
			if (a->count == 0)
				break;
			continue;
		}
		st = read_some(a);
	}
	if (st == RT_OK && rt_host_interrupted())
		st = rt_old_fail(a->cli, RT_INTERRUPTED, "interrupted; what was answered is done");
	return st;
}

/* --- atomic --- */

/* A line that is JSON may be wrong by itself, too, and then its own result says so. */
static bool
is_unknown(const request *r, rt_error *out)
{
	rt_str name = rt_json_str(rt_json_get(rt_json_root(r->doc), "op"));
	const char *near = rt_op_nearest(name);

	if (rt_op_named(name) != NULL)
		return false;
	(void)rt_fail(out, RT_USAGE, "unknown operation \"%.*s\"%s%s%s",
		      (int)(name.size > 80 ? 80 : name.size), name.ptr,
		      near != NULL ? "; did you mean \"" : "", near != NULL ? near : "",
		      near != NULL ? "\"" : "");
	return true;
}

/* Where a line is bad, nothing is asked of the engine. */
static void
refuse_all(applying *a, const request *bad)
{
	rt_error error, own;
	size_t i;

	(void)rt_fail(&error, RT_REFUSED,
		      "not carried out: line %llu is bad, and all lines are one "
		      "step",
		      (unsigned long long)bad->line);
	for (i = 0; i < a->count; i++)
		if (a->requests[i].doc == NULL)
			print_error(a, &a->requests[i].error);
		else
			print_error(a, is_unknown(&a->requests[i], &own) ? &own : &error);
}

static rt_status
run_atomic(applying *a)
{
	rt_status st = RT_OK;

	while (st == RT_OK && !a->ended) {
		st = read_some(a);
		if (st == RT_OK)
			st = read_lines(a, true);
	}
	for (size_t i = 0; st == RT_OK && i < a->count; i++)
		if (a->requests[i].doc == NULL) {
			refuse_all(a, &a->requests[i]);
			return RT_OK;
		}
	return st == RT_OK && a->count > 0 ? run_batch(a, true) : st;
}

static rt_status
run_apply(rt_cli *cli)
{
	const char *path = rt_cli_word(cli, 0);
	applying a = {.cli = cli, .fd = STDIN_FILENO};
	rt_status st;

	if (path != NULL && strcmp(path, "-") != 0) {
		a.fd = open(path, O_RDONLY | O_CLOEXEC);
		if (a.fd < 0) {
			st = errno == ENOENT ? RT_NOT_FOUND : RT_IO;
			rt_old_hint(cli, st, "One operation a line: retake help operations");
			return rt_old_fail(cli, st, "%s cannot be read: %s", path, strerror(errno));
		}
	}
	rt_buf_init(&a.input, cli->alloc, RT_BUF_UNLIMITED);
	st = rt_old_open(cli, RT_SESSION_CHANGE);
	if (st == RT_OK) {
		cli->json_done = true;
		st = rt_cli_has(cli, "atomic") ? run_atomic(&a) : run_lines(&a);
	}
	forget_requests(&a);
	rt_free(cli->alloc, a.requests);
	rt_buf_deinit(&a.input);
	if (a.fd != STDIN_FILENO)
		close(a.fd);
	if (st == RT_OK && (a.failed || cli->out.broken))
		cli->exit_code = a.denied ? rt_status_exit_code(RT_DENIED) : 1;
	return st;
}

static const rt_flag apply_flags[] = {
	{"atomic", 0, NULL, RT_ARG_TEXT, "all lines are one step; nothing is done when one fails"},
	{NULL, 0, NULL, RT_ARG_TEXT, NULL},
};

const rt_command rt_cli_apply = {
	.name = "apply",
	.group = RT_COMMANDS_FILES,
	.max_words = 1,
	.usage = "[FILE | -] [--atomic]",
	.summary = "carry out operations given as JSON, one a line",
	.about =
		"Reads one operation a line from FILE or standard input and writes one result a line: "
		"{\"seq\":…,\"entry\":…} or {\"error\":{\"code\":…,\"message\":…}}. A bad line changes "
		"nothing and the rest goes on. A result is written when what it reports is on disk. "
		"The exit status is 0 when all went well, else 1; 8 where a hook refused what --atomic "
		"was to do. The operations: retake help operations.",
	.examples = "echo '{\"op\":\"entry.append\",\"content\":\"hi\"}' | retake apply\n"
		    "retake apply --atomic changes.jsonl",
	.flags = apply_flags,
	.kinds = {RT_ARG_FILE},
	.run_status = run_apply,
};
