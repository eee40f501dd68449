/* SPDX-License-Identifier: MIT
 *
 * Command process: a command of the command line, run by this program in a separate process, on the
 * store and the place in view. Store and project are passed in the environment, so its advice
 * ("retake show") does not name them and can be typed here. It can ask no questions and uses no colours; its output is captured
 * as text.
 *
 * Threads: rt_command_process_run from any, one for each command; it uses nothing else. */
#ifndef RT_TUI_COMMAND_HOST_H
#define RT_TUI_COMMAND_HOST_H

#include "app/command.h"
#include "base/scope.h"
#include "hooks/process.h"

struct rt_work;

typedef struct rt_command_process {
	rt_scope scope; /* of argv and envp */
	char **argv, **envp;
	int fd;         /* the program; -1: not open */
	rt_buf out, err;
	rt_process_result result;
} rt_command_process;

void rt_command_process_init(rt_command_process *command, const rt_alloc *alloc);
void rt_command_process_deinit(rt_command_process *command);
/* Split a line as a shell would: blanks separate words, quotes and backslashes keep them together,
 * "~/" at the beginning of a word is the home directory; nothing else is special. Appended to words,
 * each with a NUL. RT_USAGE: an unterminated quote. */
RT_CHECKED rt_status rt_command_split(rt_str line, rt_buf *words, size_t *out_count, rt_error *err);
/* Commands that run until they are stopped, or need a terminal: why they cannot run here. NULL: it
 * can. */
const char *rt_command_why_not_here(const rt_command *command);
/* Prepare it. A leading "retake" is left out, and a text at the end (rt_command.text_word) needs no
 * quotes. RT_USAGE, RT_REFUSED: a command that makes no sense here; err has the alternative. */
RT_CHECKED rt_status rt_command_process_make(rt_command_process *command,
					     const rt_command *const *commands,
					     struct rt_work *work, rt_str line, rt_error *err);
/* Runs until it ends, or stop returns true. RT_NOMEM. */
RT_CHECKED rt_status rt_command_process_run(rt_command_process *command, rt_stop_fn stop,
					    void *ctx);

#endif
