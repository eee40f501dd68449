/* SPDX-License-Identifier: MIT
 *
 * What a handler does is write, tcsetattr, sigaction and raise, which are safe there. Faults are
 * handled on a stack of their own, since it may be the stack that has run over. */
#define _GNU_SOURCE

#include "tui/glass_impl.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { FAULT_STACK = 64 * 1024, ENDS_MAX = 3, STOP_WAIT_MS = 200 };

typedef struct caught {
	int signal;
	unsigned flag; /* 0: a fault */
	struct sigaction old;
} caught;

static caught signals[] = {
	{.signal = SIGWINCH, .flag = RT_GUARD_RESIZE}, {.signal = SIGCONT, .flag = RT_GUARD_CONTINUED},
	{.signal = SIGTSTP, .flag = RT_GUARD_STOP},    {.signal = SIGTERM, .flag = RT_GUARD_END},
	{.signal = SIGHUP, .flag = RT_GUARD_END},      {.signal = SIGINT, .flag = RT_GUARD_END},
	{.signal = SIGQUIT},                           {.signal = SIGSEGV},
	{.signal = SIGBUS},                            {.signal = SIGABRT},
	{.signal = SIGFPE},                            {.signal = SIGILL},
};
enum { SIGNAL_COUNT = sizeof(signals) / sizeof(signals[0]) };

static struct {
	int tty, wake;
	struct termios mode; /* the shell's */
	rt_str restore;
	pid_t owner; /* a child between fork and exec must not touch the terminal */
	bool is_armed;
	stack_t old_stack;
} guard = {.tty = -1, .wake = -1};
static atomic_uint flags;
static atomic_int ends;
static atomic_bool restored; /* or nothing to restore */
static char fault_stack[FAULT_STACK];

static void
restore(void)
{
	size_t at = 0;

	if (atomic_exchange(&restored, true) || getpid() != guard.owner)
		return;
	while (at < guard.restore.size) {
		ssize_t put = write(guard.tty, guard.restore.ptr + at, guard.restore.size - at);

		if (put <= 0 && errno != EINTR)
			break;
		at += put > 0 ? (size_t)put : 0;
	}
	(void)tcsetattr(guard.tty, TCSANOW, &guard.mode);
}

/* Restore, then let the signal do what it would have done without us. */
static void
die_of(int signal_number)
{
	size_t i;

	restore();
	for (i = 0; i < SIGNAL_COUNT; i++) {
		if (signals[i].signal != signal_number)
			continue;
		if (signals[i].flag != 0)
			signals[i].old.sa_handler = SIG_DFL;
		(void)sigaction(signal_number, &signals[i].old, NULL);
	}
	(void)raise(signal_number);
}

static void
on_fault(int signal_number)
{
	die_of(signal_number);
}

static void
on_signal(int signal_number)
{
	int kept = errno;
	size_t i;

	for (i = 0; i < SIGNAL_COUNT; i++)
		if (signals[i].signal == signal_number)
			atomic_fetch_or(&flags, signals[i].flag);
	if (signal_number == SIGTERM || signal_number == SIGHUP || signal_number == SIGINT) {
		/* Asked several times, and nobody listens. */
		if (atomic_fetch_add(&ends, 1) + 1 >= ENDS_MAX)
			die_of(signal_number);
	}
	if (guard.wake >= 0 && write(guard.wake, "s", 1) < 0)
		errno = kept; /* a full pipe wakes as well */
	errno = kept;
}

static void
on_exit_of_program(void)
{
	if (guard.is_armed)
		restore();
}

static void
arm(void)
{
	struct sigaction action;
	size_t i;

	if (guard.is_armed)
		return;
	for (i = 0; i < SIGNAL_COUNT; i++) {
		memset(&action, 0, sizeof(action));
		sigemptyset(&action.sa_mask);
		action.sa_handler = signals[i].flag == 0 ? on_fault : on_signal;
		action.sa_flags = signals[i].flag == 0 ? SA_ONSTACK | SA_NODEFER : SA_RESTART;
		(void)sigaction(signals[i].signal, NULL, &signals[i].old);
		/* What was to be ignored (nohup, a shell without jobs) is. */
		if (signals[i].old.sa_handler == SIG_IGN && signals[i].flag != RT_GUARD_RESIZE)
			continue;
		(void)sigaction(signals[i].signal, &action, NULL);
	}
	guard.is_armed = true;
	restored = false;
}

static void
disarm(void)
{
	size_t i;

	if (!guard.is_armed)
		return;
	restored = true;
	for (i = 0; i < SIGNAL_COUNT; i++)
		(void)sigaction(signals[i].signal, &signals[i].old, NULL);
	guard.is_armed = false;
}

void
rt_guard_begin(int tty, const struct termios *mode, int wake_fd)
{
	static bool is_registered;
	stack_t stack = {.ss_sp = fault_stack, .ss_size = sizeof(fault_stack)};

	guard.tty = tty;
	guard.wake = wake_fd;
	guard.mode = *mode;
	guard.restore = rt_str_at(NULL, 0);
	guard.owner = getpid();
	atomic_store(&flags, 0);
	atomic_store(&ends, 0);
	(void)sigaltstack(&stack, &guard.old_stack);
	arm();
	if (!is_registered)
		is_registered = atexit(on_exit_of_program) == 0;
}

void
rt_guard_restores(rt_str bytes)
{
	guard.restore = bytes;
}

void
rt_guard_end(void)
{
	disarm();
	(void)sigaltstack(&guard.old_stack, NULL);
	guard.wake = -1;
	guard.restore = rt_str_at(NULL, 0);
}

void
rt_guard_leave(void)
{
	disarm();
}

void
rt_guard_enter(void)
{
	arm();
}

unsigned
rt_guard_take(void)
{
	return atomic_exchange(&flags, 0);
}

void
rt_guard_stop(void)
{
	struct timespec ms = {0, 1000000};
	struct sigaction usual, ours;
	int waited;

	memset(&usual, 0, sizeof(usual));
	sigemptyset(&usual.sa_mask);
	usual.sa_handler = SIG_DFL;
	if (sigaction(SIGTSTP, NULL, &ours) != 0 || ours.sa_handler == SIG_IGN)
		return;
	(void)sigaction(SIGTSTP, &usual, NULL);
	atomic_fetch_and(&flags, ~(unsigned)RT_GUARD_CONTINUED);
	/* The whole job, as the terminal would. It may reach another thread first, so this one
	 * waits for it; a job without a shell around it is not stopped at all. */
	(void)kill(0, SIGTSTP);
	for (waited = 0; waited < STOP_WAIT_MS; waited++) {
		if (atomic_load(&flags) & RT_GUARD_CONTINUED)
			break;
		(void)nanosleep(&ms, NULL);
	}
	(void)sigaction(SIGTSTP, &ours, NULL);
	atomic_fetch_and(&flags, ~(unsigned)(RT_GUARD_CONTINUED | RT_GUARD_STOP));
}
