/* SPDX-License-Identifier: MIT
 *
 * A program that is asked once: with somebody waiting for it, or with nobody. */
#define _GNU_SOURCE

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include "hooks/hooks_process_impl.h"

/* Anything more to be said? Its pipes are at their end, or somebody else holds them and the
 * grace is over. */
static bool
is_quiet(const rt_child *child, int64_t *gone_ms, int64_t now)
{
	if (child->out < 0 && child->err < 0)
		return true;
	if (*gone_ms < 0)
		*gone_ms = now;
	return now - *gone_ms >= RT_PROCESS_GRACE_MS;
}

rt_status
rt_process_run(const rt_process_program *program, rt_str input, int64_t timeout_ms, rt_stop_fn stop,
	       void *stop_ctx, rt_buf *out, rt_buf *err, rt_process_end *end)
{
	int64_t deadline, gone_ms = -1, now, left;
	rt_status st = RT_OK;
	rt_child child;

	rt_buf_clear(out);
	rt_buf_clear(err);
	out->limit = RT_PROCESS_OUT_MAX;
	err->limit = RT_PROCESS_ERR_MAX;
	memset(end, 0, sizeof(*end));
	end->how = RT_PROCESS_EXITED;
	deadline = rt_process_now_ms() + timeout_ms;
	end->code = rt_child_start(&child, program, -1, false);
	if (end->code != 0) {
		end->how = RT_PROCESS_NOT_STARTED;
		return RT_OK;
	}
	for (;;) {
		left = deadline - rt_process_now_ms();
		rt_child_step(&child, &input, true, out, err,
			      child.over                  ? RT_PROCESS_GRACE_MS / 10
			      : left < 0                  ? 0
			      : left < RT_PROCESS_TICK_MS ? (int)left
							  : RT_PROCESS_TICK_MS);
		now = rt_process_now_ms();
		if (out->status == RT_NOMEM || err->status == RT_NOMEM) {
			st = RT_NOMEM;
			break;
		}
		if (child.exec_errno != 0) {
			end->how = RT_PROCESS_NOT_STARTED;
			end->code = child.exec_errno;
			break;
		}
		end->code = rt_child_floods(&child, out);
		if (end->code != 0) {
			end->how = RT_PROCESS_TOO_MUCH;
			break;
		}
		/* The two pipes are read in any order: its end may be seen before its last words. */
		if (child.over && is_quiet(&child, &gone_ms, now))
			break;
		if (stop != NULL && stop(stop_ctx)) {
			end->how = RT_PROCESS_STOPPED;
			break;
		}
		if (!child.over && now >= deadline) {
			end->how = RT_PROCESS_TIMED_OUT;
			break;
		}
	}
	rt_child_end(&child, true, end);
	return st;
}

/* --- nobody waits --- */

/* The input as a file in memory: nobody is there to feed a pipe. */
static int
input_file(rt_str input)
{
	int low = memfd_create("retake-event", MFD_CLOEXEC), fd;
	size_t at = 0;

	fd = low < 0 ? -1 : fcntl(low, F_DUPFD_CLOEXEC, RT_PROCESS_FD_MIN);
	if (low >= 0)
		close(low);
	while (fd >= 0 && at < input.size) {
		ssize_t wrote = write(fd, input.ptr + at, input.size - at);

		if (wrote < 0 && errno == EINTR)
			continue;
		if (wrote <= 0) {
			close(fd);
			return -1;
		}
		at += (size_t)wrote;
	}
	if (fd >= 0)
		(void)lseek(fd, 0, SEEK_SET);
	return fd;
}

void
rt_process_start_later(const rt_process_program *program, rt_str input, int64_t timeout_ms,
		       rt_process_later *later, rt_process_end *end)
{
	rt_str nothing = {NULL, 0};
	int fd = input_file(input);
	rt_child child;

	memset(later, 0, sizeof(*later));
	memset(end, 0, sizeof(*end));
	end->how = RT_PROCESS_EXITED;
	if (fd < 0)
		end->code = errno == 0 ? EIO : errno;
	else
		end->code = rt_child_start(&child, program, fd, true);
	if (fd >= 0)
		close(fd);
	if (end->code != 0) {
		end->how = RT_PROCESS_NOT_STARTED;
		return;
	}
	/* A moment, to hear whether it can be executed at all. */
	while (child.started >= 0 && rt_process_now_ms() - child.start_ms < RT_PROCESS_GRACE_MS)
		rt_child_step(&child, &nothing, true, NULL, NULL, RT_PROCESS_GRACE_MS / 10);
	if (child.exec_errno != 0) {
		end->how = RT_PROCESS_NOT_STARTED;
		end->code = child.exec_errno;
		rt_child_end(&child, false, end);
		return;
	}
	if (child.started >= 0)
		close(child.started);
	if (child.watch >= 0)
		close(child.watch);
	later->pid = child.pid;
	later->start_ms = child.start_ms;
	later->deadline_ms = child.start_ms + timeout_ms;
}

bool
rt_process_is_over(rt_process_later *later, rt_process_end *end)
{
	bool late = rt_process_now_ms() >= later->deadline_ms;
	rt_child child;

	memset(end, 0, sizeof(*end));
	end->how = RT_PROCESS_EXITED;
	if (later->pid == 0)
		return true;
	memset(&child, 0, sizeof(child));
	child.pid = later->pid;
	child.start_ms = later->start_ms;
	child.watch = child.in = child.out = child.err = child.started = -1;
	rt_child_look(&child);
	if (!child.over && !late)
		return false;
	if (!child.over)
		end->how = RT_PROCESS_TIMED_OUT;
	rt_child_end(&child, true, end);
	later->pid = 0;
	return true;
}
