/* SPDX-License-Identifier: MIT
 *
 * Handlers use only async-signal-safe functions: read, write, dup2, tcsetattr, sigaction, raise.
 * Faults are handled on a separate stack, in case of a stack overflow. */
#define _GNU_SOURCE

#include "terminal/terminal_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { FAULT_STACK = 64 * 1024, ENDS_MAX = 3, STOP_WAIT_MS = 200, WRITE_WAIT_MS = 2000 };

typedef struct caught {
	int signal;
	unsigned flag; /* 0: a fault */
	struct sigaction old;
} caught;

static caught signals[] = {
	{.signal = SIGWINCH, .flag = RT_TERMINAL_SIGNAL_RESIZE},
	{.signal = SIGCONT, .flag = RT_TERMINAL_SIGNAL_CONTINUED},
	{.signal = SIGTSTP, .flag = RT_TERMINAL_SIGNAL_STOP},
	{.signal = SIGTERM, .flag = RT_TERMINAL_SIGNAL_END},
	{.signal = SIGHUP, .flag = RT_TERMINAL_SIGNAL_END},
	{.signal = SIGINT, .flag = RT_TERMINAL_SIGNAL_END},
	{.signal = SIGQUIT},
	{.signal = SIGSEGV},
	{.signal = SIGBUS},
	{.signal = SIGABRT},
	{.signal = SIGFPE},
	{.signal = SIGILL},
};
enum { SIGNAL_COUNT = sizeof(signals) / sizeof(signals[0]) };

static struct {
	int tty, wake;
	struct termios mode; /* the shell's */
	rt_str restore;
	pid_t owner; /* children between fork and exec must not restore the terminal */
	bool is_armed;
	stack_t old_stack;
	int errors, kept_errors; /* the file that standard error is redirected to, and the original; or -1 */
} guard = {.tty = -1, .wake = -1, .errors = -1, .kept_errors = -1};
static atomic_uint flags;
static atomic_int ends;
static atomic_bool restored; /* or nothing to restore */
static char fault_stack[FAULT_STACK];

void
rt_terminal_write(int file, const char *ptr, size_t size)
{
	size_t at = 0;

	while (at < size) {
		ssize_t put = write(file, ptr + at, size - at);

		/* Another program of the terminal may have made the descriptor non-blocking. */
		if (put < 0 && errno == EAGAIN &&
		    poll(&(struct pollfd){.fd = file, .events = POLLOUT}, 1, WRITE_WAIT_MS) > 0)
			continue;
		if (put <= 0 && errno != EINTR)
			break;
		at += put > 0 ? (size_t)put : 0;
	}
}

/* Messages on standard error while a screen is shown (from the C library about a corrupt heap, or
 * from programs that we run) would garble the screen and vanish with it. */
static void
hold_errors(void)
{
	if (guard.errors >= 0 || isatty(STDERR_FILENO) != 1)
		return;
	guard.errors = memfd_create("retake-errors", MFD_CLOEXEC);
	guard.kept_errors = guard.errors < 0 ? -1 : fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
	if (guard.kept_errors >= 0 && dup2(guard.errors, STDERR_FILENO) >= 0)
		return;
	if (guard.errors >= 0)
		(void)close(guard.errors);
	if (guard.kept_errors >= 0)
		(void)close(guard.kept_errors);
	guard.errors = guard.kept_errors = -1;
}

/* After the shell's screen is restored. */
static void
release_errors(void)
{
	char said[512];
	off_t at = 0;
	ssize_t got;

	if (guard.errors < 0)
		return;
	(void)dup2(guard.kept_errors, STDERR_FILENO);
	while ((got = pread(guard.errors, said, sizeof(said), at)) > 0) {
		rt_terminal_write(STDERR_FILENO, said, (size_t)got);
		at += got;
	}
	(void)close(guard.errors);
	(void)close(guard.kept_errors);
	guard.errors = guard.kept_errors = -1;
}

static void
restore(void)
{
	if (atomic_exchange(&restored, true) || getpid() != guard.owner)
		return;
	rt_terminal_write(guard.tty, guard.restore.ptr, guard.restore.size);
	(void)tcsetattr(guard.tty, TCSANOW, &guard.mode);
	release_errors();
}

/* Restore, then raise the signal with its previous action. */
static void
die_of(int signal_number)
{
	restore();
	for (size_t i = 0; i < SIGNAL_COUNT; i++) {
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

	for (size_t i = 0; i < SIGNAL_COUNT; i++)
		if (signals[i].signal == signal_number)
			atomic_fetch_or(&flags, signals[i].flag);
	if (signal_number == SIGTERM || signal_number == SIGHUP || signal_number == SIGINT) {
		/* Signalled several times without a reaction. */
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

	if (guard.is_armed)
		return;
	for (size_t i = 0; i < SIGNAL_COUNT; i++) {
		memset(&action, 0, sizeof(action));
		sigemptyset(&action.sa_mask);
		action.sa_handler = signals[i].flag == 0 ? on_fault : on_signal;
		action.sa_flags = signals[i].flag == 0 ? SA_ONSTACK | SA_NODEFER : SA_RESTART;
		(void)sigaction(signals[i].signal, NULL, &signals[i].old);
		/* Signals that were ignored (nohup, a shell without job control) stay so. */
		if (signals[i].old.sa_handler == SIG_IGN &&
		    signals[i].flag != RT_TERMINAL_SIGNAL_RESIZE)
			continue;
		(void)sigaction(signals[i].signal, &action, NULL);
	}
	guard.is_armed = true;
	restored = false;
	hold_errors();
}

static void
disarm(void)
{
	if (!guard.is_armed)
		return;
	restored = true;
	release_errors();
	for (size_t i = 0; i < SIGNAL_COUNT; i++)
		(void)sigaction(signals[i].signal, &signals[i].old, NULL);
	guard.is_armed = false;
}

void
rt_terminal_signals_begin(int tty, const struct termios *mode, int wake_fd)
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
rt_terminal_signals_restores(rt_str bytes)
{
	guard.restore = bytes;
}

void
rt_terminal_signals_end(void)
{
	disarm();
	(void)sigaltstack(&guard.old_stack, NULL);
	guard.wake = -1;
	guard.restore = rt_str_at(NULL, 0);
}

void
rt_terminal_signals_leave(void)
{
	disarm();
}

void
rt_terminal_signals_enter(void)
{
	arm();
}

unsigned
rt_terminal_signals_collect(void)
{
	return atomic_exchange(&flags, 0);
}

void
rt_terminal_signals_stop(void)
{
	struct timespec ms = {0, 1000000};
	struct sigaction usual, ours;

	memset(&usual, 0, sizeof(usual));
	sigemptyset(&usual.sa_mask);
	usual.sa_handler = SIG_DFL;
	if (sigaction(SIGTSTP, NULL, &ours) != 0 || ours.sa_handler == SIG_IGN)
		return;
	(void)sigaction(SIGTSTP, &usual, NULL);
	atomic_fetch_and(&flags, ~(unsigned)RT_TERMINAL_SIGNAL_CONTINUED);
	/* The whole job, as the terminal does. The signal may reach another thread first, so this
	 * one waits for it; a job without a shell is not stopped at all. */
	(void)kill(0, SIGTSTP);
	for (int waited = 0; waited < STOP_WAIT_MS; waited++) {
		if (atomic_load(&flags) & RT_TERMINAL_SIGNAL_CONTINUED)
			break;
		(void)nanosleep(&ms, NULL);
	}
	(void)sigaction(SIGTSTP, &ours, NULL);
	atomic_fetch_and(&flags,
			 ~(unsigned)(RT_TERMINAL_SIGNAL_CONTINUED | RT_TERMINAL_SIGNAL_STOP));
}
