/* SPDX-License-Identifier: MIT
 *
 * A child and its pipes: what the files hooks_process*.c share. */
#ifndef RT_HOOKS_PROCESS_IMPL_H
#define RT_HOOKS_PROCESS_IMPL_H

#include "hooks/hooks_process.h"

typedef struct rt_child {
	pid_t pid;     /* 0: none; also that of its group. Not reaped as long as it is here, so
	                  that neither number can belong to somebody else */
	int watch;     /* pidfd; -1: the kernel has none, or its end was seen */
	int in;        /* we write; -1: closed. All four */
	int out, err;  /* we read */
	size_t err_size; /* bytes of standard error so far, also those that were dropped */
	int started;   /* where it says what kept it from being executed */
	bool over;     /* it has ended, and waits to be reaped */
	bool lost;     /* somebody else reaped it */
	int exec_errno; /* it could not be executed; 0: it was, or we do not know yet */
	int64_t start_ms;
} rt_child;

/* stdin_fd: the child's standard input (stays ours); -1: a pipe. quiet: output is dropped.
 * Returns 0 or an errno. */
int rt_child_start(rt_child *child, const rt_process_program *program, int stdin_fd, bool quiet);
/* Wait up to wait_ms for something to happen and move bytes: from *input, which shrinks (and
 * when it is empty and close_input is set, the pipe is closed), to out and err. Past a limit
 * out's status says so; what err cannot take is dropped. */
void rt_child_step(rt_child *child, rt_str *input, bool close_input, rt_buf *out, rt_buf *err,
		   int wait_ms);
/* Has it written more than is taken? On which descriptor; 0: it has not. */
int rt_child_floods(const rt_child *child, const rt_buf *out);
/* Has it ended? Does not reap. */
void rt_child_look(rt_child *child);
/* End the whole group (gently: TERM first), reap, close. how and code of *end are filled when
 * reaped and how was RT_PROCESS_EXITED. */
void rt_child_end(rt_child *child, bool gently, rt_process_end *end);

#endif
