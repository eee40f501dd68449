/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "hooks/process_impl.h"

enum { FAREWELL_MS = 1000 /* for a coprocess to exit after its input was closed */ };

static const rt_str no_input = {NULL, 0};

/* How long to wait for the child before stop and the deadline are checked again. */
static int
tick_ms(int64_t deadline_ms)
{
	int64_t left = deadline_ms - rt_clock_ms();

	return left < 0 ? 0 : left < RT_PROCESS_TICK_MS ? (int)left : RT_PROCESS_TICK_MS;
}

static void
prepare(rt_buf *out, rt_buf *err, rt_process_result *result)
{
	rt_buf_clear(out);
	rt_buf_clear(err);
	out->limit = RT_PROCESS_OUT_MAX;
	err->limit = RT_PROCESS_ERR_MAX;
	*result = (rt_process_result){.outcome = RT_PROCESS_EXITED};
}

/* True if the child could not be executed, or has written too much. */
static bool
has_failed(const rt_child *child, const rt_buf *out, rt_process_result *result)
{
	if (child->exec_errno != 0) {
		result->outcome = RT_PROCESS_NOT_STARTED;
		result->code = child->exec_errno;
		return true;
	}
	result->code = rt_child_flooded(child, out);
	if (result->code != 0)
		result->outcome = RT_PROCESS_TOO_MUCH;
	return result->code != 0;
}

/* True if the caller wants to stop, or (unless has_ended) the time is up. */
static bool
must_stop(rt_stop_fn stop, void *stop_ctx, int64_t deadline_ms, bool has_ended,
	  rt_process_result *result)
{
	bool is_stopped = stop != NULL && stop(stop_ctx);

	if (is_stopped)
		result->outcome = RT_PROCESS_STOPPED;
	else if (!has_ended && rt_clock_ms() >= deadline_ms)
		result->outcome = RT_PROCESS_TIMED_OUT;
	return result->outcome != RT_PROCESS_EXITED;
}

/* ---- waiting for the output ---- */

/* True once no more output can come: both pipes are closed, or they are held by other processes
 * and the grace period is over. *over_ms: when the child was first seen to have ended; -1: not
 * yet. */
static bool
is_drained(const rt_child *child, int64_t *over_ms)
{
	int64_t now = rt_clock_ms();

	if (child->out < 0 && child->err < 0)
		return true;
	if (*over_ms < 0)
		*over_ms = now;
	return now - *over_ms >= RT_PROCESS_GRACE_MS;
}

rt_status
rt_process_run(const rt_process_program *program, rt_str input, int64_t timeout_ms, rt_stop_fn stop,
	       void *stop_ctx, rt_buf *out, rt_buf *err, rt_process_result *result)
{
	int64_t deadline = rt_clock_ms() + timeout_ms, over_ms = -1;
	rt_status st = RT_OK;
	rt_child child;

	prepare(out, err, result);
	if (program->out_max > 0)
		out->limit = program->out_max;
	result->code = rt_child_start(&child, program, -1, false);
	if (result->code != 0) {
		result->outcome = RT_PROCESS_NOT_STARTED;
		return RT_OK;
	}
	do {
		rt_child_step(&child, &input, true, out, err,
			      child.over ? RT_PROCESS_GRACE_MS / 10 : tick_ms(deadline));
		if (out->status == RT_NOMEM || err->status == RT_NOMEM) {
			st = RT_NOMEM;
			break;
		}
		/* The end may be seen before the last output: nothing orders the descriptors. */
	} while (!has_failed(&child, out, result) &&
		 !(child.over && is_drained(&child, &over_ms)) &&
		 !must_stop(stop, stop_ctx, deadline, child.over, result));
	rt_child_end(&child, true, result);
	return st;
}

/* ---- in the background ---- */

/* The input as a file in memory, because there is no thread to feed a pipe. */
static int
open_input(rt_str input)
{
	int low = memfd_create("retake-event", MFD_CLOEXEC), fd;

	fd = low < 0 ? -1 : fcntl(low, F_DUPFD_CLOEXEC, RT_PROCESS_FD_MIN);
	if (low >= 0)
		close(low);
	while (fd >= 0 && input.size > 0) {
		ssize_t wrote = write(fd, input.ptr, input.size);

		if (wrote < 0 && errno == EINTR)
			continue;
		if (wrote <= 0) {
			close(fd);
			return -1;
		}
		input.ptr += wrote;
		input.size -= (size_t)wrote;
	}
	if (fd >= 0)
		(void)lseek(fd, 0, SEEK_SET);
	return fd;
}

void
rt_process_start_job(const rt_process_program *program, rt_str input, int64_t timeout_ms,
		     rt_process_job *job, rt_process_result *result)
{
	rt_str nothing = no_input;
	int fd = open_input(input);
	rt_child child;

	*job = (rt_process_job){.pid = 0};
	*result = (rt_process_result){.outcome = RT_PROCESS_NOT_STARTED};
	if (fd < 0)
		result->code = errno == 0 ? EIO : errno;
	else
		result->code = rt_child_start(&child, program, fd, true);
	if (fd >= 0)
		close(fd);
	if (result->code != 0)
		return;
	/* Wait a moment for the result of execve. */
	while (child.started >= 0 && rt_clock_ms() - child.start_ms < RT_PROCESS_GRACE_MS)
		rt_child_step(&child, &nothing, true, NULL, NULL, RT_PROCESS_GRACE_MS / 10);
	if (child.exec_errno != 0) {
		result->code = child.exec_errno;
		rt_child_end(&child, false, result);
		return;
	}
	result->outcome = RT_PROCESS_EXITED;
	if (child.started >= 0)
		close(child.started);
	if (child.pidfd >= 0)
		close(child.pidfd);
	*job = (rt_process_job){.pid = child.pid,
				.start_ms = child.start_ms,
				.deadline_ms = child.start_ms + timeout_ms};
}

bool
rt_process_poll_job(rt_process_job *job, rt_process_result *result)
{
	rt_child child = {.pid = job->pid, .start_ms = job->start_ms, .pidfd = -1, .in = -1,
			  .out = -1,       .err = -1,                 .started = -1};

	*result = (rt_process_result){.outcome = RT_PROCESS_EXITED};
	if (job->pid == 0)
		return true;
	rt_child_check(&child);
	if (!child.over && rt_clock_ms() < job->deadline_ms)
		return false;
	if (!child.over)
		result->outcome = RT_PROCESS_TIMED_OUT;
	rt_child_end(&child, true, result);
	job->pid = 0;
	return true;
}

/* ---- coprocesses ---- */

struct rt_coprocess {
	const rt_alloc *alloc;
	rt_child child;
	rt_buf pending; /* read, but not returned yet */
};

rt_coprocess *
rt_coprocess_new(const rt_alloc *alloc)
{
	rt_coprocess *coprocess = rt_new0(alloc, sizeof(*coprocess));

	if (coprocess != NULL) {
		coprocess->alloc = alloc;
		rt_buf_init(&coprocess->pending, alloc, RT_PROCESS_OUT_MAX);
	}
	return coprocess;
}

bool
rt_coprocess_is_running(const rt_coprocess *coprocess)
{
	return coprocess->child.pid != 0;
}

void
rt_coprocess_start(rt_coprocess *coprocess, const rt_process_program *program,
		   rt_process_result *result)
{
	*result = (rt_process_result){.outcome = RT_PROCESS_EXITED};
	if (coprocess->child.pid != 0)
		return;
	rt_buf_clear(&coprocess->pending);
	result->code = rt_child_start(&coprocess->child, program, -1, false);
	if (result->code != 0)
		result->outcome = RT_PROCESS_NOT_STARTED;
}

static void
end(rt_coprocess *coprocess, rt_process_result *result)
{
	rt_child_end(&coprocess->child, true, result);
	rt_buf_clear(&coprocess->pending);
}

void
rt_coprocess_kill(rt_coprocess *coprocess)
{
	rt_process_result result = {.outcome = RT_PROCESS_STOPPED};

	end(coprocess, &result);
}

/* Move a complete line from pending to out. LF alone ends a line. */
static bool
read_line(rt_buf *pending, rt_buf *out)
{
	const char *lf = pending->size == 0 ? NULL : memchr(pending->ptr, '\n', pending->size);
	size_t size;

	if (lf == NULL)
		return false;
	size = (size_t)(lf - pending->ptr);
	rt_buf_add(out, pending->ptr, size);
	memmove(pending->ptr, lf + 1, pending->size - size - 1);
	pending->size -= size + 1;
	pending->ptr[pending->size] = 0;
	return true;
}

/* Wait for a line, or for a reason to end the child, which goes into result. */
static rt_status
wait_for_line(rt_coprocess *coprocess, rt_str line, int64_t deadline_ms, rt_stop_fn stop,
	      void *stop_ctx, rt_buf *out, rt_buf *err, rt_process_result *result)
{
	rt_child *child = &coprocess->child;
	rt_buf *pending = &coprocess->pending;
	rt_str nothing = no_input;

	do {
		rt_child_step(child, &line, false, pending, err, tick_ms(deadline_ms));
		/* The last output may still be in the pipe. */
		if (child->over && child->out >= 0 && child->exec_errno == 0)
			rt_child_step(child, &nothing, false, pending, err, 0);
		if (read_line(pending, out)) {
			result->outcome = RT_PROCESS_ANSWERED;
			return out->status == RT_NOMEM ? RT_NOMEM : RT_OK;
		}
		if (pending->status == RT_NOMEM || err->status == RT_NOMEM)
			return RT_NOMEM;
		/* Without its output it cannot answer either. */
	} while (!has_failed(child, pending, result) && child->out >= 0 && !child->over &&
		 !must_stop(stop, stop_ctx, deadline_ms, false, result));
	if (child->out < 0)
		rt_child_check(child);
	return RT_OK;
}

rt_status
rt_coprocess_request(rt_coprocess *coprocess, rt_str line, int64_t deadline_ms, rt_stop_fn stop,
		     void *stop_ctx, rt_buf *out, rt_buf *err, rt_process_result *result,
		     bool *out_early)
{
	rt_child *child = &coprocess->child;
	int64_t start = rt_clock_ms();
	rt_str nothing = no_input;
	rt_status st = RT_OK;

	prepare(out, err, result);
	child->err_size = 0;
	rt_child_step(child, &nothing, false, &coprocess->pending, err, 0);
	*out_early = coprocess->pending.size > 0 || coprocess->pending.status != RT_OK;
	if (*out_early)
		result->outcome = RT_PROCESS_STOPPED;
	else
		st = wait_for_line(coprocess, line, deadline_ms, stop, stop_ctx, out, err, result);
	if (st != RT_OK || result->outcome != RT_PROCESS_ANSWERED)
		end(coprocess, result);
	result->ms = rt_clock_ms() - start;
	return st;
}

void
rt_coprocess_close(rt_coprocess *coprocess)
{
	rt_process_result result = {.outcome = RT_PROCESS_EXITED};
	int64_t until = rt_clock_ms() + FAREWELL_MS;
	rt_str nothing = no_input;
	rt_buf err;

	if (coprocess == NULL)
		return;
	rt_buf_init(&err, coprocess->alloc, RT_PROCESS_ERR_MAX);
	/* Read and discard its output, so that a full pipe does not block it. */
	while (coprocess->child.pid != 0 && !coprocess->child.over && rt_clock_ms() < until) {
		rt_buf_clear(&coprocess->pending);
		rt_buf_clear(&err);
		rt_child_step(&coprocess->child, &nothing, true, &coprocess->pending, &err,
			      RT_PROCESS_TICK_MS);
	}
	end(coprocess, &result);
	rt_buf_deinit(&err);
	rt_buf_deinit(&coprocess->pending);
	rt_free(coprocess->alloc, coprocess);
}
