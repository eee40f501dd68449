/* SPDX-License-Identifier: MIT
 *
 * apply: reads operations, writes results, one JSON object a line.
 *
 * Lines that are already in the input share one commit; lines are never waited for, so a program
 * that talks to us line by line gets each answer at once. A result is written only once its change
 * is durable. Memory is bounded by the longest line, except for --atomic, which needs all lines at
 * once. */
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

typedef struct line {
	uint64_t number;
	yyjson_val *root; /* NULL: the line was bad */
	rt_error error;   /* why */
} line;

typedef struct applying {
	rt_cli *cli;
	int fd;
	rt_buf *input; /* read and not yet done */
	size_t at;     /* where the next line begins */
	size_t seen;   /* bytes that contain no line end */
	bool ended;    /* the end of the input was read */
	bool too_long; /* within a line that is skipped */
	uint64_t line;
	rt_scope batch; /* holds the lines */
	line *lines;
	size_t count, capacity;
	size_t bytes; /* of the lines in the batch */
	bool failed;  /* a request was not executed */
	bool denied;  /* none was, because a hook refused it */
} applying;

/* --- lines --- */

/* The next line of the batch; NULL: no memory, which fails the command. */
static line *
next_item(applying *a)
{
	a->lines = rt_scope_grow(&a->batch, a->lines, a->count, &a->capacity, sizeof(*a->lines));
	if (a->lines == NULL) {
		rt_scope_nomem(&a->cli->s);
		return NULL;
	}
	a->lines[a->count] = (line){.number = a->line};
	return &a->lines[a->count++];
}

static void
clear_batch(applying *a)
{
	rt_scope_reset(&a->batch);
	a->lines = NULL;
	a->count = a->capacity = a->bytes = 0;
}

static void
free_doc(void *item)
{
	rt_json_free(item);
}

static void
add_line(applying *a, rt_str text)
{
	unsigned long long number = ++a->line;
	rt_json_doc *doc = NULL;
	rt_error err;
	rt_status st;
	line *l;

	if (text.size > 0 && text.ptr[text.size - 1] == '\r')
		text.size--;
	if (rt_str_trim(text).size == 0 || (l = next_item(a)) == NULL)
		return;
	a->bytes += text.size;
	st = rt_json_read(a->cli->alloc, text, &doc, &err);
	rt_scope_defer(&a->batch, free_doc, doc);
	if (st == RT_NOMEM || !rt_ok(&a->batch)) {
		rt_scope_nomem(&a->cli->s);
	} else if (st != RT_OK) { /* it is malformed in any case */
		(void)rt_fail(&l->error, RT_USAGE, "line %llu: %s", number, err.text);
	} else if (!yyjson_is_obj(rt_json_root(doc))) {
		(void)rt_fail(&l->error, RT_USAGE, "line %llu: not a JSON object", number);
	} else if (!yyjson_is_str(rt_json_get(rt_json_root(doc), "op"))) {
		(void)rt_fail(&l->error, RT_USAGE,
			      "line %llu: \"op\" is missing; it names the operation, such as "
			      "{\"op\":\"entry.append\"}",
			      number);
	} else {
		l->root = rt_json_root(doc);
	}
}

static void
add_too_long(applying *a)
{
	line *l;

	a->line++;
	a->too_long = false;
	l = next_item(a);
	if (l != NULL)
		(void)rt_fail(&l->error, RT_USAGE, "line %llu is longer than %d MiB",
			      (unsigned long long)a->line, (int)(LINE_MAX_SIZE >> 20));
}

/* --- input --- */

static void
clear_input(applying *a)
{
	rt_buf_clear(a->input);
	a->at = a->seen = 0;
}

/* Reads once, as much as there is. */
static void
read_some(applying *a)
{
	rt_buf *input = a->input;
	char *to;
	ssize_t got;

	if (a->at > 0 && a->at == input->size) {
		clear_input(a);
	} else if (a->at > READ_SIZE) {
		memmove(input->ptr, input->ptr + a->at, input->size - a->at);
		input->size -= a->at;
		a->seen -= a->at;
		a->at = 0;
	}
	to = rt_buf_reserve(input, READ_SIZE);
	if (to == NULL) {
		rt_scope_nomem(&a->cli->s);
		return;
	}
	got = read(a->fd, to, READ_SIZE);
	if (got > 0)
		input->size += (size_t)got;
	else if (got == 0)
		a->ended = true;
	else if (errno != EINTR)
		rt_cli_fail(a->cli, RT_IO, "cannot read the input: %s", strerror(errno));
}

static bool
has_more_input(const applying *a)
{
	struct pollfd ready = {.fd = a->fd, .events = POLLIN};

	return !a->ended && poll(&ready, 1, 0) == 1;
}

/* The next complete line; the last one may lack its end. */
static bool
next_line(applying *a, rt_str *out)
{
	rt_buf *input = a->input;
	size_t left = input->size - a->seen;
	const char *end = left == 0 ? NULL : memchr(input->ptr + a->seen, '\n', left);

	if (end == NULL && (!a->ended || a->at == input->size)) {
		a->seen = input->size;
		return false;
	}
	if (end == NULL)
		end = input->ptr + input->size;
	*out = rt_str_at(input->ptr + a->at, (size_t)(end - input->ptr) - a->at);
	a->at += out->size + 1;
	if (a->at > input->size)
		a->at = input->size;
	a->seen = a->at;
	return true;
}

static bool
is_full(const applying *a)
{
	return a->count >= BATCH_LINES || a->bytes >= BATCH_SIZE;
}

static bool
is_at_end(const applying *a)
{
	return a->ended && a->at == a->input->size;
}

/* Adds the available lines to the batch. */
static void
read_lines(applying *a, bool all)
{
	const rt_scope *s = &a->cli->s;
	rt_str text;

	while (rt_ok(s) && (all || !is_full(a)) && next_line(a, &text)) {
		if (a->too_long)
			add_too_long(a);
		else
			add_line(a, text);
	}
	if (rt_ok(s) && a->at < a->input->size && a->seen == a->input->size &&
	    (a->too_long || a->input->size - a->at > LINE_MAX_SIZE)) {
		a->too_long = true;
		clear_input(a);
	}
	if (rt_ok(s) && a->too_long && is_at_end(a))
		add_too_long(a);
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
	rt_result result = {.status = error->status, .error = *error};

	print_result(a, &result);
	a->failed = true;
}

/* Executes the valid requests of the batch in one call, and prints all results in their order.
 * A signal waits until they are written. */
static void
run_batch(applying *a, bool atomic)
{
	rt_cli *cli = a->cli;
	rt_scope *s = &a->batch;
	yyjson_val **values = rt_scope_array(s, a->count, sizeof(*values));
	rt_result *results = rt_scope_array(s, a->count, sizeof(*results));
	size_t count = 0, done = 0;

	for (size_t i = 0; rt_ok(s) && i < a->count; i++)
		if (a->lines[i].root != NULL)
			values[count++] = a->lines[i].root;

	rt_request *requests = rt_requests_read(s, values, count);

	rt_host_hold(true);
	if (rt_ok(s) && count > 0) {
		rt_status st = rt_apply(cli->session.engine, rt_session_hooks_begin(&cli->session),
					requests, count, atomic,
					rt_session_discussion(&cli->session),
					rt_session_take(&cli->session), results);

		rt_session_hooks_end(&cli->session);
		a->failed = a->failed || st != RT_OK;
		a->denied = atomic && st == RT_DENIED;
	}
	for (size_t i = 0; rt_ok(s) && i < a->count; i++) {
		if (a->lines[i].root == NULL) {
			print_error(a, &a->lines[i].error);
			continue;
		}
		print_result(a, &results[done]);
		rt_result_deinit(&results[done++]);
	}
	rt_term_flush(&cli->out);
	rt_host_hold(false);
	if (!rt_ok(s))
		(void)rt_scope_adopt(&cli->s, s);
	clear_batch(a);
}

static void
run_lines(applying *a)
{
	rt_cli *cli = a->cli;

	while (rt_ok(&cli->s) && !rt_host_interrupted() && !cli->out.broken) {
		read_lines(a, false);
		if (!rt_ok(&cli->s))
			break;
		if (a->count > 0 && (is_full(a) || !has_more_input(a)))
			run_batch(a, false);
		else if (!is_at_end(a))
			read_some(a);
		else if (a->count == 0)
			break;
	}
	if (rt_host_interrupted())
		rt_cli_fail(cli, RT_INTERRUPTED, "interrupted; all operations with a result "
						 "were applied");
}

/* --- atomic --- */

/* A line of valid JSON may be an invalid request; then its own result says so. */
static bool
is_unknown(const line *l, rt_error *out)
{
	rt_str name = rt_json_str(rt_json_get(l->root, "op"));
	const char *near = rt_op_nearest(name);

	if (rt_op_named(name) != NULL)
		return false;
	(void)rt_fail(out, RT_USAGE, "unknown operation \"%.*s\"%s%s%s",
		      (int)(name.size > 80 ? 80 : name.size), name.ptr,
		      near != NULL ? "; did you mean \"" : "", near != NULL ? near : "",
		      near != NULL ? "\"" : "");
	return true;
}

/* If a line is malformed, the engine is not called at all. */
static void
refuse_all(applying *a, const line *bad)
{
	rt_error error, own;

	(void)rt_fail(&error, RT_REFUSED,
		      "nothing was applied: line %llu is invalid, and --atomic applies all lines "
		      "or none",
		      (unsigned long long)bad->number);
	for (size_t i = 0; i < a->count; i++)
		print_error(a, a->lines[i].root == NULL		? &a->lines[i].error
			       : is_unknown(&a->lines[i], &own) ? &own
								: &error);
}

static void
run_atomic(applying *a)
{
	while (rt_ok(&a->cli->s) && !a->ended) {
		read_some(a);
		read_lines(a, true);
	}
	for (size_t i = 0; rt_ok(&a->cli->s) && i < a->count; i++)
		if (a->lines[i].root == NULL) {
			refuse_all(a, &a->lines[i]);
			return;
		}
	if (rt_ok(&a->cli->s) && a->count > 0)
		run_batch(a, true);
}

static void
run_apply(rt_cli *cli)
{
	const char *path = rt_cli_word(cli, 0);
	applying a = {.cli = cli, .fd = STDIN_FILENO, .input = rt_scope_buf(&cli->s)};

	if (path != NULL && strcmp(path, "-") != 0)
		a.fd = open(path, O_RDONLY | O_CLOEXEC);
	if (a.fd < 0) {
		rt_cli_hint(cli, "One operation per line: retake help operations");
		rt_cli_fail(cli, errno == ENOENT ? RT_NOT_FOUND : RT_IO, "cannot read %s: %s",
			    path, strerror(errno));
		return;
	}
	rt_scope_init(&a.batch, cli->alloc);
	if (rt_cli_open(cli, RT_SESSION_CHANGE)) {
		cli->json_done = true;
		if (rt_cli_has(cli, "atomic"))
			run_atomic(&a);
		else
			run_lines(&a);
	}
	rt_scope_deinit(&a.batch);
	if (a.fd != STDIN_FILENO)
		close(a.fd);
	if (rt_ok(&cli->s) && (a.failed || cli->out.broken))
		cli->exit_code = a.denied ? rt_status_exit_code(RT_DENIED) : 1;
}

static const rt_flag apply_flags[] = {
	{"atomic", 0, NULL, RT_ARG_TEXT, "apply all lines as one step, or none if one fails"},
	{NULL, 0, NULL, RT_ARG_TEXT, NULL},
};

const rt_command rt_cli_apply = {
	.name = "apply",
	.group = RT_COMMANDS_FILES,
	.max_words = 1,
	.usage = "[FILE | -] [--atomic]",
	.summary = "apply operations given as JSON lines",
	.about =
		"Reads one operation per line from FILE or standard input and writes one result "
		"per line: {\"seq\":…,\"entry\":…} or {\"error\":{\"code\":…,\"message\":…}}. An "
		"invalid line changes nothing, and the following lines are applied. A result is "
		"written once its change is on disk. The exit status is 0 if all lines "
		"succeeded, 8 if a hook refused an --atomic batch, else 1. Operations: retake "
		"help operations.",
	.examples = "echo '{\"op\":\"entry.append\",\"content\":\"hi\"}' | retake apply\n"
		    "retake apply --atomic changes.jsonl",
	.flags = apply_flags,
	.kinds = {RT_ARG_FILE},
	.run = run_apply,
};
