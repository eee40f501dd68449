/* SPDX-License-Identifier: MIT
 *
 * Starting a child, moving bytes to and from it, ending it.
 *
 * fork and execve, not posix_spawn: that has no portable way to close what we do not know of,
 * nor to change the folder. Between fork and execve only functions are called that are safe
 * there, and nothing is allocated. */
#define _GNU_SOURCE

#include "hooks/hooks_process_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
	PIECE = 16 << 10,
	SCRIPT_FD = 3,        /* where a script from memory lies in the child */
	REAP_MS = 5000,       /* even KILL takes a while on a disk that does not answer */
	BLIND_TICK_MS = 10    /* where there is no pidfd to wait for */
};

int64_t
rt_process_now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void
nap(int ms)
{
	struct timespec time = {ms / 1000, (long)(ms % 1000) * 1000000};

	(void)nanosleep(&time, NULL);
}

static void
close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/* --- starting --- */

/* A pipe above the numbers that the child is going to use. */
static int
make_pipe(int ends[2])
{
	int low[2], i, failed = 0;

	ends[0] = ends[1] = -1;
	if (pipe2(low, O_CLOEXEC) != 0)
		return errno;
	for (i = 0; i < 2; i++) {
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
do_not_block(int fd)
{
	int flags = fcntl(fd, F_GETFL);

	(void)fcntl(fd, F_SETFL, flags | O_NONBLOCK);
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

/* In the child: never returns. Errors go to the pipe "started", which a successful execve
 * closes. */
static _Noreturn void
become(const rt_process_program *program, int in, int out, int err, int started)
{
	struct sigaction usual;
	sigset_t none;
	int number, failed, report = SCRIPT_FD, fd = -1;
	char name[] = "/proc/self/fd/3";

	(void)setpgid(0, 0);
	memset(&usual, 0, sizeof(usual));
	usual.sa_handler = SIG_DFL;
	for (number = 1; number < NSIG; number++)
		(void)sigaction(number, &usual, NULL); /* KILL and STOP say no, rightly */
	sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
	if (dup2(in, 0) < 0 || dup2(out, 1) < 0 || dup2(err, 2) < 0)
		_exit(127);
	if (program->path == NULL) {
		fd = SCRIPT_FD;
		report = SCRIPT_FD + 1;
		/* An interpreter opens its script by name, so that one has to stay open. */
		if (dup3(program->fd, fd, program->is_script ? 0 : O_CLOEXEC) < 0)
			_exit(127);
	}
	if (dup3(started, report, O_CLOEXEC) < 0)
		_exit(127);
	close_from((unsigned)report + 1);
	if (program->folder != NULL && chdir(program->folder) != 0)
		failed = errno;
	else if (fd < 0) {
		execve(program->path, program->argv, program->envp);
		failed = errno;
	} else {
		execve(name, program->argv, program->envp);
		failed = errno;
	}
	(void)!write(report, &failed, sizeof(failed));
	_exit(127);
}

int
rt_child_start(rt_child *child, const rt_process_program *program, int stdin_fd, bool quiet)
{
	int in[2] = {-1, -1}, out[2] = {-1, -1}, err[2] = {-1, -1}, started[2] = {-1, -1};
	int failed = make_pipe(started), null = -1, program_fd = -1, low;
	rt_process_program high = *program;
	sigset_t all, mask;

	memset(child, 0, sizeof(*child));
	child->watch = child->in = child->out = child->err = child->started = -1;
	if (failed == 0 && program->path == NULL) {
		program_fd = fcntl(program->fd, F_DUPFD_CLOEXEC, RT_PROCESS_FD_MIN);
		failed = program_fd < 0 ? errno : 0;
		high.fd = program_fd;
	}
	if (failed == 0 && quiet) {
		low = open("/dev/null", O_WRONLY | O_CLOEXEC);
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
	if (failed != 0)
		goto done;
	child->start_ms = rt_process_now_ms();
	/* No handler of ours may run in the child before its signals are reset. */
	sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &mask);
	child->pid = fork();
	if (child->pid == 0)
		become(&high, stdin_fd < 0 ? in[0] : stdin_fd, quiet ? null : out[1],
		       quiet ? null : err[1], started[1]);
	failed = child->pid < 0 ? errno : 0;
	(void)pthread_sigmask(SIG_SETMASK, &mask, NULL);
	if (failed != 0) {
		child->pid = 0;
		goto done;
	}
	(void)setpgid(child->pid, child->pid); /* both do it: whoever is first */
#ifdef SYS_pidfd_open
	child->watch = (int)syscall(SYS_pidfd_open, child->pid, 0);
#endif
	child->in = in[1];
	child->out = out[0];
	child->err = err[0];
	child->started = started[0];
	in[1] = out[0] = err[0] = started[0] = -1;
	if (child->in >= 0)
		do_not_block(child->in);
	if (child->out >= 0)
		do_not_block(child->out);
	if (child->err >= 0)
		do_not_block(child->err);
	do_not_block(child->started);
done:
	close_fd(&program_fd);
	close_fd(&null);
	close_fd(&in[0]);
	close_fd(&in[1]);
	close_fd(&out[0]);
	close_fd(&out[1]);
	close_fd(&err[0]);
	close_fd(&err[1]);
	close_fd(&started[0]);
	close_fd(&started[1]);
	return failed;
}

/* --- moving bytes --- */

/* write() that gives EPIPE without a signal, whatever the program does about SIGPIPE. */
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
		close_fd(&child->in); /* it does not want it: that is its right */
		input->size = 0;
		return;
	}
	input->ptr += wrote;
	input->size -= (size_t)wrote;
	if (input->size == 0 && close_input)
		close_fd(&child->in);
}

/* To buf as far as its limit goes; drop: beyond it, the rest is dropped without a word. Returns
 * how much was read. */
static size_t
take_some(int *fd, rt_buf *buf, bool drop)
{
	char piece[PIECE];
	ssize_t got = read(*fd, piece, sizeof(piece));

	if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR))
		close_fd(fd);
	if (got <= 0)
		return 0;
	rt_buf_add(buf, piece,
		   drop && (size_t)got > buf->limit - buf->size ? buf->limit - buf->size : (size_t)got);
	return (size_t)got;
}

int
rt_child_floods(const rt_child *child, const rt_buf *out)
{
	if (out->status == RT_LIMIT)
		return STDOUT_FILENO;
	return child->err_size > RT_PROCESS_OUT_MAX ? STDERR_FILENO : 0;
}

static void
hear_start(rt_child *child)
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
rt_child_look(rt_child *child)
{
	siginfo_t info;

	if (child->over || child->pid == 0)
		return;
	memset(&info, 0, sizeof(info));
	if (waitid(P_PID, (id_t)child->pid, &info, WEXITED | WNOHANG | WNOWAIT) != 0) {
		child->lost = errno == ECHILD;
		child->over = child->lost;
	} else {
		child->over = info.si_pid == child->pid;
	}
	if (child->over)
		close_fd(&child->watch);
}

static void
wait_for(struct pollfd *fds, nfds_t *count, int fd, short events, int *out_index)
{
	*out_index = -1;
	if (fd < 0)
		return;
	*out_index = (int)*count;
	fds[*count].fd = fd;
	fds[*count].events = events;
	fds[*count].revents = 0;
	(*count)++;
}

void
rt_child_step(rt_child *child, rt_str *input, bool close_input, rt_buf *out, rt_buf *err,
	      int wait_ms)
{
	struct pollfd fds[5];
	nfds_t count = 0;
	int in_at, out_at, err_at, started_at, watch_at;

	if (child->in >= 0 && input->size == 0 && close_input)
		close_fd(&child->in);
	wait_for(fds, &count, input->size > 0 ? child->in : -1, POLLOUT, &in_at);
	wait_for(fds, &count, child->out, POLLIN, &out_at);
	wait_for(fds, &count, child->err, POLLIN, &err_at);
	wait_for(fds, &count, child->started, POLLIN, &started_at);
	wait_for(fds, &count, child->watch, POLLIN, &watch_at);
	if (child->watch < 0 && wait_ms > BLIND_TICK_MS)
		wait_ms = BLIND_TICK_MS;
	if (poll(fds, count, wait_ms) > 0) {
		if (in_at >= 0 && fds[in_at].revents != 0)
			send_some(child, input, close_input);
		if (out_at >= 0 && fds[out_at].revents != 0)
			(void)take_some(&child->out, out, false);
		if (err_at >= 0 && fds[err_at].revents != 0)
			child->err_size += take_some(&child->err, err, true);
		if (started_at >= 0 && fds[started_at].revents != 0)
			hear_start(child);
	}
	rt_child_look(child);
}

/* --- ending --- */

static void
signal_group(const rt_child *child, int number)
{
	if (child->lost) /* its numbers may be somebody else's by now */
		return;
	if (kill(-child->pid, number) != 0)
		(void)kill(child->pid, number);
}

static void
wait_over(rt_child *child, int ms)
{
	int64_t until = rt_process_now_ms() + ms;
	struct pollfd watch;

	for (;;) {
		int64_t left = until - rt_process_now_ms();

		rt_child_look(child);
		if (child->over || left <= 0)
			return;
		watch.fd = child->watch;
		watch.events = POLLIN;
		if (child->watch < 0)
			nap(left < BLIND_TICK_MS ? (int)left : BLIND_TICK_MS);
		else
			(void)poll(&watch, 1, (int)left);
	}
}

void
rt_child_end(rt_child *child, bool gently, rt_process_end *end)
{
	siginfo_t info;

	if (child->pid != 0) {
		rt_child_look(child);
		if (gently && !child->over) {
			signal_group(child, SIGTERM);
			signal_group(child, SIGCONT); /* one that stopped itself may hear it, too */
			wait_over(child, RT_PROCESS_GRACE_MS);
		}
		/* Whatever it left behind in its group goes as well. Its number stays ours until
		 * it is reaped, so nobody else can be hit. */
		signal_group(child, SIGKILL);
		wait_over(child, REAP_MS);
		memset(&info, 0, sizeof(info));
		if (!child->lost && child->over)
			while (waitid(P_PID, (id_t)child->pid, &info, WEXITED) != 0 && errno == EINTR)
				;
		if (end->how == RT_PROCESS_EXITED && (child->lost || info.si_pid == 0))
			end->how = RT_PROCESS_LOST;
		else if (end->how == RT_PROCESS_EXITED) {
			end->how = info.si_code == CLD_EXITED ? RT_PROCESS_EXITED
							      : RT_PROCESS_SIGNALLED;
			end->code = info.si_status;
		}
		end->ms = rt_process_now_ms() - child->start_ms;
	}
	close_fd(&child->watch);
	close_fd(&child->in);
	close_fd(&child->out);
	close_fd(&child->err);
	close_fd(&child->started);
	child->pid = 0;
}

/* --- surroundings --- */

rt_status
rt_process_find(const char *name, const char *path, rt_buf *out)
{
	size_t size;

	for (; *path != 0; path += size + (path[size] == ':')) {
		size = strcspn(path, ":");
		if (path[0] != '/') /* "here" is no place for programs */
			continue;
		rt_buf_clear(out);
		rt_buf_add_f(out, "%.*s/%s", (int)size, path, name);
		if (out->status != RT_OK)
			return out->status;
		if (access(out->ptr, X_OK) == 0)
			return RT_OK;
	}
	return RT_NOT_FOUND;
}
