/* SPDX-License-Identifier: MIT
 *
 * Process: runs a program of the user with limits on its time and output.
 *
 *   process.c      a child process: start, move bytes, end, reap
 *   process_run.c  the three ways to use one: wait for its output; in the background; as a
 *                  coprocess that answers a line with a line
 *
 * No shell. The child has its own process group, no descriptors but 0, 1, 2 (and 3 for a script
 * executed from memory, see trust.h), exactly the environment that it is given, default signal
 * actions and an empty signal mask. Whatever it does (hang; write too much; keep our pipes open in
 * children; stop itself), it is ended at its deadline, with its whole group. Only what leaves the
 * group by setsid() survives, without our pipes.
 *
 * No function blocks longer than documented. No state of the calling process is changed: not
 * SIGPIPE, not SIGCHLD, not the working folder. One thread at a time per child; different children
 * in different threads are fine. */
#ifndef RT_HOOKS_PROCESS_H
#define RT_HOOKS_PROCESS_H

#include <sys/types.h>

#include "base/text.h"
#include "base/env.h"

enum {
	RT_PROCESS_OUT_MAX = 1 << 20,  /* bytes of standard output, and of standard error, after
					* which the child is ended */
	RT_PROCESS_ERR_MAX = 64 << 10, /* bytes of standard error that are kept */
	RT_PROCESS_GRACE_MS = 100,     /* between TERM and KILL; for pipes held open by others */
	RT_PROCESS_TICK_MS = 50,       /* longest time between two calls of stop */
	RT_PROCESS_FD_MIN = 10         /* our descriptors, above those of the child */
};

/* The program to run. All borrowed. */
typedef struct rt_process_program {
	const char *path;   /* absolute; NULL: execute fd */
	int fd;             /* or -1 */
	bool is_script;     /* fd is a script */
	char *const *argv;  /* NULL-terminated */
	char *const *envp;  /* the complete environment, NULL-terminated */
	const char *folder; /* working folder; NULL: ours */
	size_t out_max;     /* of rt_process_run: limit of its output; 0: RT_PROCESS_OUT_MAX */
} rt_process_program;

typedef enum rt_process_outcome {
	RT_PROCESS_EXITED,      /* code: the exit status */
	RT_PROCESS_SIGNALLED,   /* code: the signal */
	RT_PROCESS_TIMED_OUT,
	RT_PROCESS_STOPPED,     /* by stop */
	RT_PROCESS_TOO_MUCH,    /* output; code: the descriptor, 1 or 2 */
	RT_PROCESS_NOT_STARTED, /* code: errno */
	RT_PROCESS_LOST,        /* reaped by another part of the program */
	RT_PROCESS_ANSWERED     /* coprocesses only */
} rt_process_outcome;

typedef struct rt_process_result {
	rt_process_outcome outcome;
	int code;
	int64_t ms; /* run time */
} rt_process_result;

/* Is it a file that this user may execute? */
bool rt_process_is_program(const char *path);
/* Look up a program in a PATH, of which relative folders are skipped. RT_NOT_FOUND. */
RT_CHECKED rt_status rt_process_find(const char *name, const char *path, rt_buf *out);

/* Run a program with input as its standard input until it ends, its time is up or stop (may be
 * NULL) returns true. out and err are cleared and limited. Returns within timeout_ms and the grace
 * periods. RT_NOMEM. */
RT_CHECKED rt_status rt_process_run(const rt_process_program *program, rt_str input,
				    int64_t timeout_ms, rt_stop_fn stop, void *stop_ctx,
				    rt_buf *out, rt_buf *err, rt_process_result *result);

/* ---- in the background ---- */

typedef struct rt_process_job {
	pid_t pid; /* 0: ended */
	int64_t start_ms, deadline_ms;
} rt_process_job;

/* Start a program with input as a file; its output is discarded. job->pid is 0, and result is set,
 * if it could not be started. */
void rt_process_start_job(const rt_process_program *program, rt_str input, int64_t timeout_ms,
			  rt_process_job *job, rt_process_result *result);
/* True once it has ended; ends it past its deadline. Waits for nothing else. */
bool rt_process_poll_job(rt_process_job *job, rt_process_result *result);

/* ---- coprocesses ---- */

typedef struct rt_coprocess rt_coprocess;

/* Not started yet. NULL: no memory. */
rt_coprocess *rt_coprocess_new(const rt_alloc *alloc);
bool rt_coprocess_is_running(const rt_coprocess *coprocess);
/* Start it unless it runs. A failed execve is reported by the first request. */
void rt_coprocess_start(rt_coprocess *coprocess, const rt_process_program *program,
			rt_process_result *result);
/* Send a line (ending with LF, its only one) and wait for one line, which is returned without its
 * LF: RT_PROCESS_ANSWERED. Any other outcome: the process was ended. *out_early: it was ended
 * because it had written before the request. RT_NOMEM. */
RT_CHECKED rt_status rt_coprocess_request(rt_coprocess *coprocess, rt_str line,
					  int64_t deadline_ms, rt_stop_fn stop, void *stop_ctx,
					  rt_buf *out, rt_buf *err, rt_process_result *result,
					  bool *out_early);
/* End it and its group now. */
void rt_coprocess_kill(rt_coprocess *coprocess);
/* Close its input, give it a second to exit, then end it; and free. NULL is fine. */
void rt_coprocess_close(rt_coprocess *coprocess);

#endif
