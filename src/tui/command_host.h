/* SPDX-License-Identifier: MIT
 *
 * Command: a line of the command line, run by this very program in a process of its own, on the
 * store and the place at hand. Nobody can be asked, nothing is coloured, and what it says is
 * taken as text.
 *
 * Threads: rt_command_process_run from any, one for each command; it uses nothing else. */
#ifndef RT_TUI_COMMAND_HOST_H
#define RT_TUI_COMMAND_HOST_H

#include "app/command.h"
#include "hooks/process.h"

struct rt_work;

typedef struct rt_command_process {
	const rt_alloc *alloc;
	rt_buf words;   /* each with a NUL behind it */
	size_t count;
	char **argv;    /* into words; ended by NULL */
	rt_buf where;   /* the flags that say where, as the command itself repeats them in advice */
	char **envp;
	int fd;         /* the program; -1: not open */
	rt_buf out, err;
	rt_process_result result;
} rt_command_process;

void rt_command_process_init(rt_command_process *command, const rt_alloc *alloc);
void rt_command_process_deinit(rt_command_process *command);
/* Words as a shell would see them: blanks part them, quotes and backslashes keep them together,
 * "~/" that begins a word is the home; nothing else means anything. Appended to words with a NUL
 * behind each. RT_USAGE: a quote that does not end. */
RT_CHECKED rt_status rt_command_split(rt_str line, rt_buf *words, size_t *out_count, rt_error *err);
/* Make it ready. A leading "retake" is left out. RT_USAGE, RT_REFUSED: a command that makes no
 * sense in here; err says what to do instead. */
RT_CHECKED rt_status rt_command_process_make(rt_command_process *command,
					     const rt_command *const *commands,
					     struct rt_work *work, rt_str line, rt_error *err);
/* What it said on one of its outputs, as valid text, without those flags: its advice ("retake
 * show") is what one would type in here, too. Appended. */
void rt_command_process_add_said(const rt_command_process *command, rt_str output, rt_buf *text);
/* Until it ends, or stop says so. RT_NOMEM. */
RT_CHECKED rt_status rt_command_process_run(rt_command_process *command, rt_stop_fn stop,
					    void *ctx);

#endif
