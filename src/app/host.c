/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE

#include "app/host.h"
#include "base/clock_host.h"
#include "base/scope.h"
#include "hooks/process.h"
#include "llm/system_host.h"

#include <errno.h>
#include <arpa/inet.h>
#include <fcntl.h>
#include <malloc.h>
#include <netinet/in.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PATH_ROOM = 4096 };

const char *
rt_host_home(void)
{
	const char *dir = getenv("HOME");
	const struct passwd *user;

	if (dir != NULL && *dir == '/')
		return dir;
	user = getpwuid(getuid());
	return user != NULL && user->pw_dir != NULL && *user->pw_dir == '/' ? user->pw_dir : NULL;
}

/* $VARIABLE/retake, else ~/USUAL/retake. */
static rt_status
add_dir(const char *variable, const char *usual, const char *what, rt_buf *out, rt_error *err)
{
	const char *dir = getenv(variable);

	if (dir != NULL && *dir == '/') { /* a relative one is to be ignored */
		rt_buf_add_f(out, "%s/retake", dir);
		return out->status;
	}
	dir = rt_host_home();
	if (dir == NULL)
		return rt_fail(err, RT_NOT_FOUND,
			       "no home directory to store %s in (HOME is not set)", what);
	rt_buf_add_f(out, "%s/%s/retake", dir, usual);
	return out->status;
}

rt_status
rt_host_data_dir(rt_buf *out, rt_error *err)
{
	return add_dir("XDG_DATA_HOME", ".local/share", "a store", out, err);
}

rt_status
rt_host_config_dir(rt_buf *out, rt_error *err)
{
	return add_dir("XDG_CONFIG_HOME", ".config", "a configuration", out, err);
}

rt_status
rt_host_state_dir(rt_buf *out, rt_error *err)
{
	return add_dir("XDG_STATE_HOME", ".local/state", "the list of trusted hooks", out, err);
}

/* When a process began, in ticks since the machine did; 0: it does not exist, or the time is not
 * known. Field 22 of /proc/PID/stat; the name before it may hold anything but ends at the last
 * ")". */
static unsigned long long
start_of(long pid)
{
	unsigned long long start = 0;
	char path[64], text[1024], *at;
	ssize_t got;
	int fd, field;

	snprintf(path, sizeof(path), "/proc/%ld/stat", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	got = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (got <= 0)
		return 0;
	text[got] = 0;
	at = strrchr(text, ')');
	for (field = 2; at != NULL && field < 22; field++)
		at = strchr(at + 1, ' ');
	if (at != NULL)
		start = strtoull(at, NULL, 10);
	return start;
}

/* "desk 4026531836": the machine and, where known, the PID namespace. Process numbers can be
 * compared only if both are equal. */
static void
place_name(char name[300])
{
	struct stat space;
	size_t size;

	if (gethostname(name, 256) != 0)
		snprintf(name, 256, "unknown");
	name[255] = 0;
	size = strlen(name);
	if (stat("/proc/self/ns/pid", &space) == 0)
		snprintf(name + size, 300 - size, " %llu", (unsigned long long)space.st_ino);
}

void
rt_host_add_owner(rt_buf *out)
{
	char name[300];

	place_name(name);
	rt_buf_add_f(out, "%ld %llu %s", (long)getpid(), start_of(getpid()), name);
}

bool
rt_host_owner_lives(void *ctx, rt_str owner, int64_t written_us)
{
	enum { ELSEWHERE_S = 15 * 60 };
	char text[400], name[300], *end;
	unsigned long long start;
	long pid;

	(void)ctx;
	if (owner.size == 0 || owner.size >= sizeof(text))
		return false;
	memcpy(text, owner.ptr, owner.size);
	text[owner.size] = 0;
	pid = strtol(text, &end, 10);
	start = strtoull(end, &end, 10);
	place_name(name);
	if (*end != ' ' || strcmp(end + 1, name) != 0)
		return rt_system_env()->now_us(NULL) - written_us < (int64_t)ELSEWHERE_S * 1000000;
	if (pid <= 0 || (kill((pid_t)pid, 0) != 0 && errno == ESRCH))
		return false;
	return start == 0 || start_of(pid) == start; /* otherwise the number was reused */
}

bool
rt_host_has_input(void)
{
	struct stat info;

	return fstat(STDIN_FILENO, &info) == 0 && (S_ISFIFO(info.st_mode) || S_ISREG(info.st_mode));
}

bool
rt_host_input_comes(int ms)
{
	struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};

	return poll(&input, 1, ms) != 0;
}

bool
rt_host_wait(int fd, int ms)
{
	struct pollfd input = {.fd = fd, .events = POLLIN};
	struct timespec limit = {ms / 1000, ms % 1000 * 1000000L};
	sigset_t stops, before;
	bool is_ready;

	sigemptyset(&stops);
	sigaddset(&stops, SIGINT);
	sigaddset(&stops, SIGTERM);
	sigaddset(&stops, SIGHUP);
	(void)pthread_sigmask(SIG_BLOCK, &stops, &before);
	is_ready = !rt_host_interrupted() && ppoll(&input, 1, &limit, &before) > 0;
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	return is_ready;
}

bool
rt_host_listens(unsigned port)
{
	struct sockaddr_in to = {.sin_family = AF_INET,
				 .sin_port = htons((uint16_t)port),
				 .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), bad = 0;
	socklen_t size = sizeof(bad);
	struct pollfd wait = {fd, POLLOUT, 0};
	bool yes;

	if (fd < 0)
		return false;
	yes = connect(fd, (struct sockaddr *)&to, sizeof(to)) == 0 ||
	      (errno == EINPROGRESS && poll(&wait, 1, 200) == 1 &&
	       getsockopt(fd, SOL_SOCKET, SO_ERROR, &bad, &size) == 0 && bad == 0);
	close(fd);
	return yes;
}

void
rt_host_temp_dir(rt_buf *out)
{
	const char *dir = getenv("TMPDIR");

	rt_buf_add_c(out, dir != NULL && *dir == '/' ? dir : "/tmp");
}

static bool
local_time(int64_t at_us, struct tm *out)
{
	time_t when = (time_t)(at_us / 1000000 - (at_us % 1000000 < 0));

	return localtime_r(&when, out) != NULL;
}

int64_t
rt_host_local_day(int64_t at_us)
{
	static const int64_t day_us = INT64_C(86400000000);
	int64_t local_us = at_us + rt_clock_zone_us(at_us);

	return local_us / day_us - (local_us % day_us < 0);
}

void
rt_host_add_local_time(rt_buf *out, int64_t at_us, bool seconds)
{
	struct tm parts;
	char text[64];

	if (local_time(at_us, &parts) &&
	    strftime(text, sizeof(text), seconds ? "%Y-%m-%d %H:%M:%S" : "%Y-%m-%d %H:%M", &parts) >
		    0)
		rt_buf_add_c(out, text);
}

void
rt_host_add_short_time(rt_buf *out, int64_t at_us, int64_t now_us)
{
	struct tm at, now;

	if (!local_time(at_us, &at) || !local_time(now_us, &now))
		return;
	if (at.tm_year != now.tm_year)
		rt_buf_add_f(out, "%02d/", at.tm_year % 100);
	if (at.tm_year != now.tm_year || at.tm_yday != now.tm_yday)
		rt_buf_add_f(out, "%d/%d ", at.tm_mon + 1, at.tm_mday);
	rt_buf_add_f(out, "%02d:%02d", at.tm_hour, at.tm_min);
}

bool
rt_host_is_utf8(void)
{
	static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
	size_t i;

	for (i = 0; i < 3; i++) {
		const char *value = getenv(names[i]);

		if (value != NULL && *value != 0)
			return strcasestr(value, "UTF-8") != NULL ||
			       strcasestr(value, "utf8") != NULL;
	}
	return false;
}

bool
rt_host_can_ask(void)
{
	return isatty(STDIN_FILENO) == 1 && isatty(STDERR_FILENO) == 1;
}

bool
rt_host_ask(char *line, size_t room)
{
	size_t used = 0;

	for (;;) {
		char c;
		ssize_t got = read(STDIN_FILENO, &c, 1);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return false;
		if (c == '\n')
			break;
		if (used + 1 < room)
			line[used++] = c;
	}
	line[used] = 0;
	return true;
}

/* --- other programs --- */

bool
rt_host_has_program(const char *command)
{
	size_t size = strcspn(command, " \t");
	const char *path = getenv("PATH");
	char name[PATH_ROOM];

	if (memchr(command, '/', size) != NULL) {
		snprintf(name, sizeof(name), "%.*s", (int)size, command);
		return rt_process_is_program(name);
	}
	if (path == NULL)
		path = "/usr/local/bin:/usr/bin:/bin";
	while (*path != 0) {
		size_t dir = strcspn(path, ":");

		snprintf(name, sizeof(name), "%.*s/%.*s", dir == 0 ? 1 : (int)dir,
			 dir == 0 ? "." : path, (int)size, command);
		if (rt_process_is_program(name))
			return true;
		path += dir + (path[dir] == ':');
	}
	return false;
}

const char *
rt_host_editor(void)
{
	static const char *const usual[] = {"sensible-editor", "editor", "nano", "vim", "vi", NULL};
	const char *editor = getenv("VISUAL");
	size_t i;

	if (editor == NULL || *editor == 0)
		editor = getenv("EDITOR");
	if (editor != NULL && *editor != 0)
		return editor;
	for (i = 0; usual[i] != NULL; i++)
		if (rt_host_has_program(usual[i]))
			return usual[i];
	return NULL;
}

rt_status
rt_host_edit(const char *path, rt_error *err)
{
	const char *editor = rt_host_editor();
	char script[PATH_ROOM];
	struct sigaction quit;
	int state = 0;
	pid_t child;

	if (editor == NULL)
		return rt_fail(err, RT_NOT_FOUND,
			       "no editor: set VISUAL or EDITOR, or give the text");
	if ((size_t)snprintf(script, sizeof(script), "%s \"$@\"", editor) >= sizeof(script))
		return rt_fail(err, RT_USAGE, "the editor's command is too long");
	rt_host_hold(true); /* Ctrl+C and Ctrl+\ are for the editor while it runs */
	(void)sigaction(SIGQUIT, &(struct sigaction){.sa_handler = SIG_IGN}, &quit);
	child = fork();
	if (child == 0) {
		(void)sigaction(SIGQUIT, &quit, NULL);
		signal(SIGINT, SIG_DFL);
		signal(SIGPIPE, SIG_DFL);
		execl("/bin/sh", "sh", "-c", script, "editor", path, (char *)NULL);
		_exit(127);
	}
	while (child > 0 && waitpid(child, &state, 0) < 0 && errno == EINTR)
		;
	(void)sigaction(SIGQUIT, &quit, NULL);
	rt_host_hold(false);
	if (child < 0)
		return rt_fail(err, RT_IO, "cannot start the editor: %s", strerror(errno));
	if (WIFSIGNALED(state))
		return rt_fail(err, RT_INTERRUPTED, "the editor was terminated by a signal");
	if (WEXITSTATUS(state) != 0)
		return rt_fail(err, RT_IO,
			       "the editor (%s) exited with status %d", editor,
			       WEXITSTATUS(state));
	return RT_OK;
}

/* --- signals: state that a handler has to reach --- */

/* A signal may be delivered to any thread. */
static atomic_int held, interrupted;
static _Atomic(const char *) temporary;

static void
on_interrupt(int signal_number)
{
	const char *path = temporary;

	if (interrupted < 100)
		interrupted++;
	if (held > 0)
		return;
	if (path != NULL)
		(void)unlink(path);
	_exit(signal_number == SIGINT ? 130 : 128 + signal_number);
}

void
rt_host_no_core(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_CORE, &limit) == 0) {
		limit.rlim_cur = 0;
		(void)setrlimit(RLIMIT_CORE, &limit);
	}
#ifdef __linux__
	/* If core dumps are piped to a program ("|…" in core_pattern), the limit is ignored. */
	(void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
#endif
}

void
rt_host_signals(void)
{
	static const int stops[] = {SIGINT, SIGTERM, SIGHUP};
	struct sigaction action, old;
	size_t i;

	memset(&action, 0, sizeof(action));
	action.sa_handler = on_interrupt;
	sigemptyset(&action.sa_mask);
	for (i = 0; i < 3; i++)
		if (sigaction(stops[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
			(void)sigaction(stops[i], &action, NULL);
	action.sa_handler = SIG_IGN;
	(void)sigaction(SIGPIPE, &action, NULL);
}

void
rt_host_hold(bool hold)
{
	held += hold ? 1 : -1;
	RT_ASSERT(held >= 0);
}

void
rt_host_again(void)
{
	interrupted = 0;
}

bool
rt_host_interrupted(void)
{
	return interrupted != 0;
}

int
rt_host_interrupts(void)
{
	return interrupted;
}

void
rt_host_temporary(const char *path)
{
	temporary = path;
}

void
rt_host_memory_wipe(void *ptr)
{
	explicit_bzero(ptr, malloc_usable_size(ptr));
}
