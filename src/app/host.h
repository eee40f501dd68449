/* SPDX-License-Identifier: MIT
 *
 * Host: the machine: clock, randomness, environment, directories, signals, other programs. */
#ifndef RT_APP_HOST_H
#define RT_APP_HOST_H

#include "base/env.h"
#include "base/text.h"

/* $HOME, else that of the user's account; NULL: none. */
const char *rt_host_home(void);
/* Appends $XDG_DATA_HOME/retake, else ~/.local/share/retake. RT_NOT_FOUND: no home. */
RT_CHECKED rt_status rt_host_data_dir(rt_buf *out, rt_error *err);
/* The same with $XDG_CONFIG_HOME, else ~/.config, and $XDG_STATE_HOME, else ~/.local/state. */
RT_CHECKED rt_status rt_host_config_dir(rt_buf *out, rt_error *err);
RT_CHECKED rt_status rt_host_state_dir(rt_buf *out, rt_error *err);
/* Zeroes all bytes of an allocation of the C library. */
void rt_host_memory_wipe(void *ptr);
/* Appends the identity of this process: its number, start time, machine, and PID namespace
 * ("4711 812345 desk 4026531836"). */
void rt_host_add_owner(rt_buf *out);
/* Is the process of that identity alive? written_us: when it last wrote something, which decides
 * for a process on another machine or in another PID namespace (a container). An
 * rt_owner_lives_fn (chat/send.h); ctx: unused. */
bool rt_host_owner_lives(void *ctx, rt_str owner, int64_t written_us);
/* Is standard input a file or a pipe, rather than a terminal? */
bool rt_host_has_input(void);
/* Does input, or its end, arrive on standard input within that time? */
bool rt_host_input_comes(int ms);
/* Is the descriptor readable within that time? An interrupt ends the wait, also one since the last
 * check of rt_host_interrupted. */
bool rt_host_wait(int fd, int ms);
/* Does a server listen on this port of the loopback? Waits for 200 ms at most. */
bool rt_host_listens(unsigned port);
/* Appends the directory for temporary files. */
void rt_host_temp_dir(rt_buf *out);
/* The local day of a time, in days since 1970. */
int64_t rt_host_local_day(int64_t at_us);
/* Local time for display: "2026-11-21 20:35" (or with the seconds). */
void rt_host_add_local_time(rt_buf *out, int64_t at_us, bool seconds);
/* The same, short, relative to now: "20:35" today, "11/2 20:35" this year, else "25/11/2 20:35".
 * Month before day. */
void rt_host_add_short_time(rt_buf *out, int64_t at_us, int64_t now_us);

/* Is the locale's encoding UTF-8, by its variables? */
bool rt_host_is_utf8(void);
/* Are standard input and standard error terminals, so that the user can be asked? */
bool rt_host_can_ask(void);
/* A line from standard input, without its end; false: none. */
bool rt_host_ask(char *line, size_t room);

/* Does the program of a shell command exist? */
bool rt_host_has_program(const char *command);
/* $VISUAL, $EDITOR, or an installed one; NULL: none. */
const char *rt_host_editor(void);
/* Runs the editor on a file and waits. RT_INTERRUPTED, RT_IO (it failed). */
RT_CHECKED rt_status rt_host_edit(const char *path, rt_error *err);

/* Disables core files of this program and of those it starts: they would contain keys. On Linux
 * also hides its memory and environment from all but root. */
void rt_host_no_core(void);
/* Interrupts end the program at once with status 130, except while they are held: then they are
 * only counted. The temporary file, if one is registered, is removed. */
void rt_host_signals(void);
void rt_host_hold(bool hold); /* nests */
bool rt_host_interrupted(void);
/* Interrupts since rt_host_again; at most 100 are counted. */
int rt_host_interrupts(void);
void rt_host_again(void); /* forgets them */
/* path must stay valid; NULL: none. */
void rt_host_temporary(const char *path);

#endif
