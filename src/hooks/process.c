/* SPDX-License-Identifier: MIT
 *
 * fork and execve instead of posix_spawn, which has no portable way to close unknown descriptors or
 * to change the folder. Between the two only async-signal-safe functions are called, and nothing is
 * allocated. */
#define _GNU_SOURCE

#include "hooks/process_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
	PIECE = 16 << 10,
	SCRIPT_FD = 3,     /* of a script executed from memory, in the child */
	REAP_MS = 5000,    /* KILL may be delayed by a disk that does not respond */
	POLL_TICK_MS = 10  /* without a pidfd to wait for */
};

static void
close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/* ---- starting ---- */

/* A pipe with descriptors above those that the child uses. */
static int
make_pipe(int ends[2])
{
	int low[2], failed = 0;

	ends[0] = ends[1] = -1;
	if (pipe2(low, O_CLOEXEC) != 0)
		return errno;
	for (int i = 0; i < 2; i++) {
		ends[i] = fcntl(low[i], F_DUPFD_CLOEXEC, RT_PROCESS_FD_MIN);
		if (ends[i] < 0)
			failed = errno;
		close(low[i]);
	}
	if (failed != 0) {
		close_fd(&ends[0]);
		close_fd(&ends[1]);
	}
	return failed;
}

static void
set_nonblocking(int fd)
{
	if (fd >= 0)
		(void)fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
}

static void
close_from(unsigned first)
{
	struct rlimit limit;
	rlim_t fd, last = 65536;

#ifdef SYS_close_range
	if (syscall(SYS_close_range, first, ~0u, 0) == 0)
		return;
#endif
	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < last)
		last = limit.rlim_cur;
	for (fd = first; fd < last; fd++)
		close((int)fd);
}

/* Runs in the child. Errors go to the pipe "started", which a successful execve closes. */
static _Noreturn void
run_child(const rt_process_program *program, int in, int out, int err, int started)
{
	struct sigaction standard = {.sa_handler = SIG_DFL};
	sigset_t none;
	int failed, report = SCRIPT_FD, fd = -1;
	char name[] = "/proc/self/fd/3";

	(void)setpgid(0, 0);
	for (int number = 1; number < NSIG; number++)
		(void)sigaction(number, &standard, NULL); /* rightly fails for KILL and STOP */
	sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
	if (dup2(in, 0) < 0 || dup2(out, 1) < 0 || dup2(err, 2) < 0)
		_exit(127);
	if (program->path == NULL) {
		fd = SCRIPT_FD;
		report = SCRIPT_FD + 1;
		/* An interpreter opens its script by name, so the descriptor has to stay open. */
		if (dup3(program->fd, fd, program->is_script ? 0 : O_CLOEXEC) < 0)
			_exit(127);
	}
	if (dup3(started, report, O_CLOEXEC) < 0)
		_exit(127);
	close_from((unsigned)report + 1);
	if (program->folder == NULL || chdir(program->folder) == 0)
		execve(fd < 0 ? program->path : name, program->argv, program->envp);
	failed = errno;
	(void)!write(report, &failed, sizeof(failed));
	_exit(127);
}

int
rt_child_start(rt_child *child, const rt_process_program *program, int stdin_fd, bool quiet)
{
	int in[2] = {-1, -1}, out[2] = {-1, -1}, err[2] = {-1, -1}, started[2] = {-1, -1};
	int *const all[] = {&in[0],  &in[1],  &out[0],     &out[1],
			    &err[0], &err[1], &started[0], &started[1]};
	int failed = make_pipe(started), null = -1, program_fd = -1;
	rt_process_program copy = *program;
	sigset_t every, mask;

	*child = (rt_child){.pidfd = -1, .in = -1, .out = -1, .err = -1, .started = -1};
	if (failed == 0 && program->path == NULL) {
		program_fd = fcntl(program->fd, F_DUPFD_CLOEXEC, RT_PROCESS_FD_MIN);
		failed = program_fd < 0 ? errno : 0;
		copy.fd = program_fd;
	}
	if (failed == 0 && quiet) {
		int low = open("/dev/null", O_WRONLY | O_CLOEXEC);

		null = low < 0 ? -1 : fcntl(low, F_DUPFD_CLOEXEC, RT_PROCESS_FD_MIN);
		failed = null < 0 ? errno : 0;
		close_fd(&low);
	}
	if (failed == 0 && stdin_fd < 0)
		failed = make_pipe(in);
	if (failed == 0 && !quiet)
		failed = make_pipe(out);
	if (failed == 0 && !quiet)
		failed = make_pipe(err);
	if (failed == 0) {
		child->start_ms = rt_clock_ms();
		/* None of our signal handlers may run in the child before its signals are reset. */
		sigfillset(&every);
		(void)pthread_sigmask(SIG_SETMASK, &every, &mask);
		child->pid = fork();
		if (child->pid == 0)
			run_child(&copy, stdin_fd < 0 ? in[0] : stdin_fd, quiet ? null : out[1],
				  quiet ? null : err[1], started[1]);
		failed = child->pid < 0 ? errno : 0;
		(void)pthread_sigmask(SIG_SETMASK, &mask, NULL);
	}
	if (failed != 0) {
		child->pid = 0;
	} else {
		(void)setpgid(child->pid, child->pid); /* in both processes, because either may run
							* first */
#ifdef SYS_pidfd_open
		child->pidfd = (int)syscall(SYS_pidfd_open, child->pid, 0);
#endif
		child->in = in[1];
		child->out = out[0];
		child->err = err[0];
		child->started = started[0];
		in[1] = out[0] = err[0] = started[0] = -1;
		set_nonblocking(child->in);
		set_nonblocking(child->out);
		set_nonblocking(child->err);
		set_nonblocking(child->started);
	}
	close_fd(&program_fd);
	close_fd(&null);
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		close_fd(all[i]);
	return failed;
}

/* ---- moving bytes ---- */

/* write() that returns EPIPE without a signal, whatever the disposition of SIGPIPE. */
static ssize_t
write_quietly(int fd, const char *ptr, size_t size)
{
	static const struct timespec at_once = {0, 0};
	sigset_t pipe, before, pending;
	bool was_pending;
	ssize_t wrote;
	int failed;

	sigemptyset(&pipe);
	sigaddset(&pipe, SIGPIPE);
	sigemptyset(&pending);
	(void)sigpending(&pending);
	was_pending = sigismember(&pending, SIGPIPE) == 1;
	(void)pthread_sigmask(SIG_BLOCK, &pipe, &before);
	wrote = write(fd, ptr, size);
	failed = errno;
	if (wrote < 0 && failed == EPIPE && !was_pending)
		while (sigtimedwait(&pipe, NULL, &at_once) < 0 && errno == EINTR)
			;
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	errno = failed;
	return wrote;
}

static void
send_some(rt_child *child, rt_str *input, bool close_input)
{
	ssize_t wrote = 0;

	if (input->size > 0)
		wrote = write_quietly(child->in, input->ptr, input->size);
	if (wrote < 0) {
		if (errno == EAGAIN || errno == EINTR)
			return;
		close_fd(&child->in); /* it need not read its input */
		input->size = 0;
		return;
	}
	input->ptr += wrote;
	input->size -= (size_t)wrote;
	if (input->size == 0 && close_input)
		close_fd(&child->in);
}

/* Append to buf; truncate: silently discard what exceeds its limit. Returns the bytes read. */
static size_t
read_some(int *fd, rt_buf *buf, bool truncate)
{
	char piece[PIECE];
	ssize_t got = read(*fd, piece, sizeof(piece));

	if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR))
		close_fd(fd);
	if (got <= 0)
		return 0;
	if (truncate && (size_t)got > buf->limit - buf->size)
		rt_buf_add(buf, piece, buf->limit - buf->size);
	else
		rt_buf_add(buf, piece, (size_t)got);
	return (size_t)got;
}

int
rt_child_flooded(const rt_child *child, const rt_buf *out)
{
	if (out->status == RT_LIMIT)
		return STDOUT_FILENO;
	return child->err_size > RT_PROCESS_OUT_MAX ? STDERR_FILENO : 0;
}

static void
read_exec_error(rt_child *child)
{
	int code = 0;
	ssize_t got = read(child->started, &code, sizeof(code));

	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (got == (ssize_t)sizeof(code))
		child->exec_errno = code;
	close_fd(&child->started);
}

void
rt_child_check(rt_child *child)
{
	siginfo_t info = {0};

	if (child->over || child->pid == 0)
		return;
	if (waitid(P_PID, (id_t)child->pid, &info, WEXITED | WNOHANG | WNOWAIT) != 0) {
		child->lost = errno == ECHILD;
		child->over = child->lost;
	} else {
		child->over = info.si_pid == child->pid;
	}
	if (child->over)
		close_fd(&child->pidfd);
}

void
rt_child_step(rt_child *child, rt_str *input, bool close_input, rt_buf *out, rt_buf *err,
	      int wait_ms)
{
	enum { IN, OUT, ERR, STARTED, PIDFD, COUNT };

	if (child->in >= 0 && input->size == 0 && close_input)
		close_fd(&child->in);
	if (child->pidfd < 0 && wait_ms > POLL_TICK_MS)
		wait_ms = POLL_TICK_MS;
	/* poll() ignores negative descriptors. */
	struct pollfd fds[COUNT] = {
		[IN] = {.fd = input->size > 0 ? child->in : -1, .events = POLLOUT},
		[OUT] = {.fd = child->out, .events = POLLIN},
		[ERR] = {.fd = child->err, .events = POLLIN},
		[STARTED] = {.fd = child->started, .events = POLLIN},
		[PIDFD] = {.fd = child->pidfd, .events = POLLIN},
	};
	if (poll(fds, COUNT, wait_ms) > 0) {
		if (fds[IN].revents != 0)
			send_some(child, input, close_input);
		if (fds[OUT].revents != 0)
			(void)read_some(&child->out, out, false);
		if (fds[ERR].revents != 0)
			child->err_size += read_some(&child->err, err, true);
		if (fds[STARTED].revents != 0)
			read_exec_error(child);
	}
	rt_child_check(child);
}

/* ---- ending ---- */

static void
signal_group(const rt_child *child, int number)
{
	if (child->lost) /* its numbers may have been reused */
		return;
	if (kill(-child->pid, number) != 0)
		(void)kill(child->pid, number);
}

static void
wait_for_end(rt_child *child, int ms)
{
	int64_t until = rt_clock_ms() + ms;

	for (;;) {
		struct pollfd end = {.fd = child->pidfd, .events = POLLIN};
		int64_t left = until - rt_clock_ms();

		rt_child_check(child);
		if (child->over || left <= 0)
			return;
		if (child->pidfd < 0 && left > POLL_TICK_MS)
			left = POLL_TICK_MS;
		(void)poll(&end, 1, (int)left); /* without a pidfd: just sleeps */
	}
}

void
rt_child_end(rt_child *child, bool gently, rt_process_result *result)
{
	siginfo_t info = {0};

	if (child->pid != 0) {
		rt_child_check(child);
		if (gently && !child->over) {
			signal_group(child, SIGTERM);
			signal_group(child, SIGCONT); /* in case it has stopped itself */
			wait_for_end(child, RT_PROCESS_GRACE_MS);
		}
		/* Also ends remaining processes of its group. Until it is reaped its number cannot
		 * be reused, so no other process is hit. */
		signal_group(child, SIGKILL);
		wait_for_end(child, REAP_MS);
		if (!child->lost && child->over)
			while (waitid(P_PID, (id_t)child->pid, &info, WEXITED) != 0 &&
			       errno == EINTR)
				;
		if (result->outcome == RT_PROCESS_EXITED && (child->lost || info.si_pid == 0)) {
			result->outcome = RT_PROCESS_LOST;
		} else if (result->outcome == RT_PROCESS_EXITED) {
			result->outcome = info.si_code == CLD_EXITED ? RT_PROCESS_EXITED
								     : RT_PROCESS_SIGNALLED;
			result->code = info.si_status;
		}
		result->ms = rt_clock_ms() - child->start_ms;
	}
	close_fd(&child->pidfd);
	close_fd(&child->in);
	close_fd(&child->out);
	close_fd(&child->err);
	close_fd(&child->started);
	child->pid = 0;
}

bool
rt_process_is_program(const char *path)
{
	struct stat info;

	return stat(path, &info) == 0 && S_ISREG(info.st_mode) && access(path, X_OK) == 0;
}

rt_status
rt_process_find(const char *name, const char *path, rt_buf *out)
{
	size_t size;

	for (; *path != 0; path += size + (path[size] == ':')) {
		size = strcspn(path, ":");
		if (path[0] != '/') /* never run from the working folder */
			continue;
		rt_buf_clear(out);
		rt_buf_add_f(out, "%.*s/%s", (int)size, path, name);
		if (out->status != RT_OK)
			return out->status;
		if (rt_process_is_program(out->ptr))
			return RT_OK;
	}
	return RT_NOT_FOUND;
}
