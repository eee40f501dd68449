/* SPDX-License-Identifier: MIT
 *
 * Process: a program of the user, run so that it can do us no harm.
 *
 *   hooks_process.c        start, move bytes, end, reap
 *   hooks_process_run.c    one question, one answer, then it is over; or nobody waits
 *   hooks_process_lines.c  one that stays, and answers a line with a line
 *
 * No shell. The child has its own process group, no descriptor but 0, 1, 2 (and 3, where it is
 * a script that is run from memory, see trust.h), the environment that it is given and no
 * other, all signals as usual and none blocked. Whatever it does (nothing, forever; too much;
 * children that hold our pipes; stopping itself) it ends at its deadline, with everything in
 * its group. Only what leaves the group by setsid() lives on, without our pipes.
 *
 * No function here waits for longer than is said. Nothing of the process as a whole is
 * changed: not SIGPIPE, not SIGCHLD, not the working folder. One thread at a time for each
 * child; different children in different threads are fine. */
#ifndef RT_HOOKS_PROCESS_H
#define RT_HOOKS_PROCESS_H

#include <sys/types.h>

#include "base/text.h"
#include "chat/model.h"

enum {
	RT_PROCESS_OUT_MAX = 1 << 20,  /* bytes of standard output, and of standard error; beyond
					* it the child is ended */
	RT_PROCESS_ERR_MAX = 64 << 10, /* of standard error that are kept; the rest is dropped */
	RT_PROCESS_GRACE_MS = 100,     /* between TERM and KILL; for pipes that others hold open */
	RT_PROCESS_TICK_MS = 50,       /* how often stop is asked, at least */
	RT_PROCESS_FD_MIN = 10         /* our ends lie above what the child is given */
};

/* What to run. All borrowed. */
typedef struct rt_process_program {
	const char *path;   /* absolute; NULL: fd has it */
	int fd;             /* to be executed; or -1 */
	bool is_script;     /* of fd */
	char *const *argv;  /* ended by NULL */
	char *const *envp;  /* the whole environment, ended by NULL */
	const char *folder; /* to work in; NULL: where we are */
} rt_process_program;

typedef enum rt_process_how {
	RT_PROCESS_EXITED,      /* code: the exit status */
	RT_PROCESS_SIGNALLED,   /* code: the signal */
	RT_PROCESS_TIMED_OUT,
	RT_PROCESS_STOPPED,     /* stop said so */
	RT_PROCESS_TOO_MUCH,    /* output; code: on which descriptor, 1 or 2 */
	RT_PROCESS_NOT_STARTED, /* code: errno */
	RT_PROCESS_LOST,        /* somebody else reaped it */
	RT_PROCESS_ANSWERED     /* lines only: an answer is there */
} rt_process_how;

typedef struct rt_process_end {
	rt_process_how how;
	int code;
	int64_t ms; /* from start to end */
} rt_process_end;

/* Milliseconds on a clock that never goes back. */
int64_t rt_process_now_ms(void);

/* Run it, give it input, wait for its end or the deadline (now + timeout_ms). out and err are
 * cleared and limited here. Returns within timeout_ms and the graces. RT_NOMEM. */
RT_CHECKED rt_status rt_process_run(const rt_process_program *program, rt_str input,
				    int64_t timeout_ms, rt_stop_fn stop, void *stop_ctx,
				    rt_buf *out, rt_buf *err, rt_process_end *end);

/* ---- nobody waits ---- */

typedef struct rt_process_later {
	pid_t pid; /* 0: over */
	int64_t start_ms, deadline_ms;
} rt_process_later;

/* Start it with input as a file; its output is dropped. end is filled when it could not be
 * started (and later->pid is 0). */
void rt_process_start_later(const rt_process_program *program, rt_str input, int64_t timeout_ms,
			    rt_process_later *later, rt_process_end *end);
/* Is it over? Ends it where its time is up. Does not wait but for that. */
bool rt_process_is_over(rt_process_later *later, rt_process_end *end);

/* ---- one that stays ---- */

typedef struct rt_lines rt_lines;

/* NULL: no memory. Not started yet. */
rt_lines *rt_lines_new(const rt_alloc *alloc);
bool rt_lines_is_running(const rt_lines *lines);
/* Start it, where it is not running. What cannot be executed is seen with the first ask. */
void rt_lines_start(rt_lines *lines, const rt_process_program *program, rt_process_end *end);
/* Send a line (it ends with LF and has no other) and wait for one. out: the line without its
 * LF. RT_PROCESS_ANSWERED; or it was ended, for the reason in end. What it wrote before it
 * was asked is *out_early, and then it is not asked but ended. RT_NOMEM. */
RT_CHECKED rt_status rt_lines_ask(rt_lines *lines, rt_str line, int64_t deadline_ms,
				  rt_stop_fn stop, void *stop_ctx, rt_buf *out, rt_buf *err,
				  rt_process_end *end, bool *out_early);
/* End it now, with its group. */
void rt_lines_kill(rt_lines *lines);
/* Close its input, give it a second to end, then end it; and free. NULL is fine. */
void rt_lines_close(rt_lines *lines);

/* ---- surroundings ---- */

/* Where a program of that name is, by a PATH; folders that are not absolute do not count.
 * RT_NOT_FOUND. */
RT_CHECKED rt_status rt_process_find(const char *name, const char *path, rt_buf *out);

#endif
