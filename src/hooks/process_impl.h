/* SPDX-License-Identifier: MIT
 *
 * A child process and its pipes. */
#ifndef RT_HOOKS_PROCESS_IMPL_H
#define RT_HOOKS_PROCESS_IMPL_H

#include "base/clock_host.h"
#include "hooks/process.h"

typedef struct rt_child {
	pid_t pid;       /* also its group; 0: none. Not reaped before rt_child_end, so that neither
			  * number can be reused */
	int pidfd;       /* -1: not supported by the kernel, or the end was seen */
	int in;          /* we write; -1: closed, as for all four */
	int out, err;    /* we read */
	int started;     /* reports why execve failed */
	size_t err_size; /* bytes of standard error so far, including discarded ones */
	bool over;       /* it has ended, and waits to be reaped */
	bool lost;       /* reaped by another part of the program */
	int exec_errno;  /* of execve; 0: it succeeded, or is not known yet */
	int64_t start_ms;
} rt_child;

/* stdin_fd: the child's standard input (not closed); -1: a pipe. quiet: output is discarded.
 * Returns 0 or an errno. */
int rt_child_start(rt_child *child, const rt_process_program *program, int stdin_fd, bool quiet);
/* Wait up to wait_ms for an event, and move bytes: from *input, which shrinks (when it is empty and
 * close_input is set, the pipe is closed), to out and err. Beyond its limit out->status is
 * RT_LIMIT; what err cannot hold is discarded. */
void rt_child_step(rt_child *child, rt_str *input, bool close_input, rt_buf *out, rt_buf *err,
		   int wait_ms);
/* The descriptor on which it has written too much; 0: none. */
int rt_child_flooded(const rt_child *child, const rt_buf *out);
/* Update over and lost. Does not reap. */
void rt_child_check(rt_child *child);
/* End the whole group (gently: TERM first), reap, close. If result->outcome is RT_PROCESS_EXITED,
 * outcome and code are replaced by those of its actual end. */
void rt_child_end(rt_child *child, bool gently, rt_process_result *result);

#endif
