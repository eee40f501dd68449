/* SPDX-License-Identifier: MIT
 *
 * Host: what the program asks of the machine: clock, randomness, environment, folders,
 * signals, other programs. Everything else in this folder is handed the answers. */
#ifndef RT_APP_HOST_H
#define RT_APP_HOST_H

#include "base/env.h"
#include "base/text.h"

/* The system's clock and random numbers. */
const rt_env *rt_host_env(void);

/* Appends $XDG_DATA_HOME/retake, else ~/.local/share/retake. RT_NOT_FOUND: no home. */
RT_CHECKED rt_status rt_host_data_dir(rt_buf *out, rt_error *err);
/* The same with $XDG_CONFIG_HOME, else ~/.config, and $XDG_STATE_HOME, else ~/.local/state. */
RT_CHECKED rt_status rt_host_config_dir(rt_buf *out, rt_error *err);
/* Zeroes all bytes of an allocation of the C library. */
void rt_host_memory_wipe(void *ptr);
RT_CHECKED rt_status rt_host_state_dir(rt_buf *out, rt_error *err);
/* Appends what this process is known by to others: number, time of its start, machine, and
 * the space of process numbers that its own is one of ("4711 812345 desk 4026531836"). */
void rt_host_add_owner(rt_buf *out);
/* Is the process that was known so still there? written_us: when it last said something;
 * of another machine, or of another space of process numbers (a container), that is all there is to
 * go by. */
bool rt_host_owner_lives(rt_str owner, int64_t written_us);
/* Can standard input be read without waiting for a person: is it a file or a pipe? */
bool rt_host_has_input(void);
/* Does something of standard input, or its end, come within that time? */
bool rt_host_input_comes(int ms);
/* Does something listen there, on this machine? Waits for 200 ms at most. */
bool rt_host_listens(unsigned port);
/* Appends the folder for files that nobody keeps. */
void rt_host_temp_dir(rt_buf *out);
/* Local time for people: "2026-11-21 20:35" (or with the seconds). */
void rt_host_add_local_time(rt_buf *out, int64_t at_us, bool seconds);
/* The same in short, as seen from now: "20:35" today, "11/2 20:35" this year, else "25/11/2 20:35".
 * Month before day. */
void rt_host_add_short_time(rt_buf *out, int64_t at_us, int64_t now_us);

/* Do the locale's variables say UTF-8? */
bool rt_host_is_utf8(void);
/* Is there a person to ask: are standard input and standard error terminals? */
bool rt_host_can_ask(void);
/* A line from standard input, without its end; false: none. */
bool rt_host_ask(char *line, size_t room);

/* Can the first word of a shell command be run? */
bool rt_host_has_program(const char *command);
/* $VISUAL, $EDITOR, or one that is there; NULL: none. */
const char *rt_host_editor(void);
/* Run the person's editor on a file and wait. RT_INTERRUPTED, RT_IO (it failed). */
RT_CHECKED rt_status rt_host_edit(const char *path, rt_error *err);

/* The commit that a git work tree around the working folder is at, found by reading .git,
 * without running anything; NULL: none. ctx is an rt_host_git. */
typedef struct rt_host_git {
	char commit[72];
} rt_host_git;
const char *rt_host_git_commit(void *ctx);

/* No core file of this program, nor of what it starts: it would hold the keys that it was
 * given, and those in its environment. On Linux nobody else but root can look into its
 * memory and its environment then, either. */
void rt_host_no_core(void);
/* Interrupts end the program at once with status 130, except while held: then they are
 * only noted. What is registered as temporary is removed on the way out. */
void rt_host_signals(void);
void rt_host_hold(bool hold); /* nests */
bool rt_host_interrupted(void);
/* How many of them have come since rt_host_again; it stops counting at 100. */
int rt_host_interrupts(void);
void rt_host_again(void); /* as if there had been none */
/* path must stay where it is; NULL: none. */
void rt_host_temporary(const char *path);

#endif
