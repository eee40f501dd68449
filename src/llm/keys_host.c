/* SPDX-License-Identifier: MIT
 *
 * The environment, private files and commands. A command runs without a shell, in a
 * process group of its own, with nothing on its standard input. */
#define _GNU_SOURCE

#include "llm/keys_host.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "llm/provider.h"
#include "llm/url.h"

enum { POLL_MS = 50 };

extern char **environ;

static int64_t
now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* The key in what a file, a variable or a command said: its first line, trimmed. source:
 * for people. */
static rt_status
take_key(rt_str said, const char *source, rt_buf *out, rt_error *err)
{
	const char *end = said.size == 0 ? NULL : memchr(said.ptr, '\n', said.size);
	rt_str key = rt_str_trim(end == NULL ? said : rt_str_at(said.ptr, (size_t)(end - said.ptr)));
	size_t i;

	if (key.size == 0)
		return rt_fail(err, RT_CREDENTIALS, "%s has no key in its first line", source);
	for (i = 0; i < key.size; i++)
		if ((unsigned char)key.ptr[i] < 0x21 || (unsigned char)key.ptr[i] > 0x7E)
			return rt_fail(err, RT_CREDENTIALS, "what %s has in its first line is no key: "
				       "there is a blank, a control character or a letter beyond "
				       "ASCII in it", source);
	rt_buf_add_str(out, key);
	return out->status == RT_OK ? RT_OK : rt_fail(err, out->status, "out of memory");
}

/* ---- a variable ---- */

static rt_status
from_variable(const char *name, bool required, rt_buf *out, rt_error *err)
{
	const char *value = getenv(name);
	char source[128];
	rt_buf words;
	rt_status st;

	if (value == NULL || *value == '\0')
		return required ? rt_fail(err, RT_CREDENTIALS, "the environment variable %s, which is "
					  "to have the key, is not set", name)
				: RT_OK;
	rt_buf_init(&words, out->alloc, sizeof(source));
	rt_buf_add_f(&words, "the environment variable %s", name);
	st = take_key(rt_str_of(value), words.status == RT_OK ? words.ptr : name, out, err);
	rt_buf_deinit(&words);
	return st;
}

/* ---- a file ---- */

/* "~/" is the home folder. */
static void
add_path(rt_buf *out, rt_str path)
{
	const char *home = getenv("HOME");

	if (rt_str_starts(path, RT_STR("~/")) && home != NULL && *home == '/') {
		rt_buf_add_c(out, home);
		path = rt_str_at(path.ptr + 1, path.size - 1);
	}
	rt_buf_add_str(out, path);
}

static rt_status
read_key_file(const char *path, rt_buf *out, rt_buf *warnings, rt_error *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	rt_status st = RT_OK;
	char room[4096];
	struct stat info;
	size_t size = 0;
	ssize_t got;

	if (fd < 0)
		return rt_fail(err, RT_CREDENTIALS, "the key file %s cannot be read: %s", path,
			       strerror_r(errno, room, sizeof(room)));
	if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
		st = rt_fail(err, RT_CREDENTIALS, "the key file %s is no file", path);
		goto done;
	}
	if ((info.st_mode & 077) != 0)
		rt_buf_add_f(warnings, "others may read or change the key file %s: chmod 600 it\n",
			     path);
	while (size < sizeof(room)) {
		got = read(fd, room + size, sizeof(room) - size);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			st = rt_fail(err, RT_CREDENTIALS, "the key file %s cannot be read", path);
		if (got <= 0)
			break;
		size += (size_t)got;
	}
	if (st == RT_OK && size == sizeof(room) && memchr(room, '\n', size) == NULL)
		st = rt_fail(err, RT_CREDENTIALS, "the first line of the key file %s is too long",
			     path);
	if (st == RT_OK)
		st = take_key(rt_str_at(room, size), path, out, err);
done:
	close(fd);
	return st;
}

static rt_status
from_file(rt_str path, rt_buf *out, rt_buf *warnings, rt_error *err)
{
	rt_buf full;
	rt_status st;

	rt_buf_init(&full, out->alloc, RT_BUF_UNLIMITED);
	add_path(&full, path);
	st = full.status != RT_OK ? rt_fail(err, full.status, "out of memory")
				  : read_key_file(full.ptr, out, warnings, err);
	rt_buf_deinit(&full);
	return st;
}

/* ---- a command ---- */

static rt_status
start(char *const *argv, int out_fd, pid_t *out_pid, rt_error *err)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	sigset_t none, all;
	char room[128];
	int bad;

	if (posix_spawn_file_actions_init(&actions) != 0)
		return rt_fail(err, RT_NOMEM, "out of memory");
	if (posix_spawnattr_init(&attributes) != 0) {
		posix_spawn_file_actions_destroy(&actions);
		return rt_fail(err, RT_NOMEM, "out of memory");
	}
	sigemptyset(&none);
	sigfillset(&all);
	(void)posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK |
						       POSIX_SPAWN_SETSIGDEF);
	(void)posix_spawnattr_setpgroup(&attributes, 0);
	(void)posix_spawnattr_setsigmask(&attributes, &none);
	(void)posix_spawnattr_setsigdefault(&attributes, &all);
	bad = posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
	if (bad == 0)
		bad = posix_spawn_file_actions_adddup2(&actions, out_fd, 1);
	if (bad == 0)
		bad = posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
	if (bad == 0)
		bad = posix_spawn_file_actions_addclosefrom_np(&actions, 3);
	if (bad == 0)
		bad = posix_spawnp(out_pid, argv[0], &actions, &attributes, argv, environ);
	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&actions);
	if (bad == 0)
		return RT_OK;
	return rt_fail(err, bad == ENOMEM ? RT_NOMEM : RT_CREDENTIALS, "key_cmd: %s cannot be run: %s",
		       argv[0], strerror_r(bad, room, sizeof(room)));
}

/* What a command says, until it has said it all. */
static rt_status
listen_to(int fd, int64_t end_ms, rt_stop_fn stop, void *stop_ctx, const char *name, rt_buf *said,
	  rt_error *err)
{
	struct pollfd ready = {.fd = fd, .events = POLLIN};
	char room[4096];
	ssize_t got;

	for (;;) {
		if (stop != NULL && stop(stop_ctx))
			return rt_fail(err, RT_INTERRUPTED, "stopped");
		if (now_ms() >= end_ms)
			return rt_fail(err, RT_CREDENTIALS, "key_cmd: %s took longer than %d s", name,
				       RT_KEY_COMMAND_MS / 1000);
		if (poll(&ready, 1, POLL_MS) <= 0)
			continue;
		got = read(fd, room, sizeof(room));
		if (got < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (got <= 0)
			return RT_OK;
		if (said->size + (size_t)got > RT_KEY_OUTPUT_MAX)
			return rt_fail(err, RT_CREDENTIALS, "key_cmd: %s says more than a key", name);
		rt_buf_add(said, room, (size_t)got);
		if (said->status != RT_OK)
			return rt_fail(err, said->status, "out of memory");
	}
}

/* Wait for its end; killed where st is a failure, or it lives on past the limit. */
static rt_status
finish(pid_t pid, rt_status st, int64_t end_ms, const char *name, rt_error *err)
{
	int status = 0;
	pid_t got;

	if (st != RT_OK)
		(void)kill(-pid, SIGKILL);
	for (;;) {
		got = waitpid(pid, &status, st == RT_OK ? WNOHANG : 0);
		if (got == pid || (got < 0 && errno != EINTR))
			break;
		if (st == RT_OK && now_ms() >= end_ms) {
			(void)kill(-pid, SIGKILL);
			st = rt_fail(err, RT_CREDENTIALS, "key_cmd: %s took longer than %d s", name,
				     RT_KEY_COMMAND_MS / 1000);
		} else if (st == RT_OK) {
			(void)poll(NULL, 0, 5);
		}
	}
	if (st != RT_OK)
		return st;
	if (got == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return RT_OK;
	if (got == pid && WIFEXITED(status))
		return rt_fail(err, RT_CREDENTIALS, "key_cmd: %s ended with status %d; run it by hand "
			       "to see why", name, WEXITSTATUS(status));
	return rt_fail(err, RT_CREDENTIALS, "key_cmd: %s was ended by a signal", name);
}

static rt_status
from_command(const rt_config_provider *p, rt_stop_fn stop, void *stop_ctx, rt_buf *out,
	     rt_error *err)
{
	const rt_alloc *alloc = out->alloc;
	char **argv = rt_new_array(alloc, p->key_cmd_count + 1, sizeof(*argv));
	int64_t end_ms = now_ms() + RT_KEY_COMMAND_MS;
	int fds[2] = {-1, -1};
	rt_status st;
	rt_buf said;
	pid_t pid;
	size_t i;

	rt_buf_init(&said, alloc, RT_BUF_UNLIMITED);
	if (argv == NULL) {
		st = rt_fail(err, RT_NOMEM, "out of memory");
		goto done;
	}
	for (i = 0; i < p->key_cmd_count; i++)
		argv[i] = (char *)(uintptr_t)p->key_cmd[i].ptr; /* posix_spawn wants them so */
	argv[i] = NULL;
	if (pipe2(fds, O_CLOEXEC) != 0) {
		st = rt_fail(err, RT_IO, "no pipe for key_cmd");
		goto done;
	}
	st = start(argv, fds[1], &pid, err);
	close(fds[1]);
	if (st != RT_OK)
		goto done;
	st = listen_to(fds[0], end_ms, stop, stop_ctx, argv[0], &said, err);
	st = finish(pid, st, end_ms, argv[0], err);
	if (st == RT_OK)
		st = take_key(rt_buf_str(&said), argv[0], out, err);
done:
	if (fds[0] >= 0)
		close(fds[0]);
	rt_buf_deinit(&said);
	rt_free(alloc, argv);
	return st;
}

/* ---- which ---- */

/* Does it go by the name of its family, so that the family's variables are meant for it? */
static bool
is_the_family(const rt_model_choice *choice)
{
	return rt_str_is(choice->provider_name, choice->provider->name);
}

rt_status
rt_key_find(const rt_model_choice *choice, rt_stop_fn stop, void *stop_ctx, rt_buf *out,
	    rt_buf *warnings, rt_error *err)
{
	const rt_config_provider *p = choice->config;

	if (p != NULL && p->key_env.size > 0)
		return from_variable(p->key_env.ptr, true, out, err);
	if (p != NULL && p->key_file.size > 0)
		return from_file(p->key_file, out, warnings, err);
	if (p != NULL && p->key_cmd_count > 0)
		return from_command(p, stop, stop_ctx, out, err);
	if (choice->provider->key_env == NULL ||
	    (!is_the_family(choice) && p != NULL && p->url.size > 0))
		return RT_OK;
	return from_variable(choice->provider->key_env, false, out, err);
}

static rt_status
add_at_hand(const rt_model_choice *choice, rt_buf *scratch, rt_arena *arena, rt_str *out,
	    size_t *count, rt_error *err)
{
	rt_buf warnings;
	char *copy;
	rt_status st;

	rt_buf_clear(scratch);
	rt_buf_init(&warnings, scratch->alloc, RT_BUF_UNLIMITED);
	st = rt_key_find(choice, NULL, NULL, scratch, &warnings, NULL);
	rt_buf_deinit(&warnings);
	if (st == RT_NOMEM)
		return rt_fail(err, st, "out of memory");
	if (st != RT_OK || scratch->size == 0)
		return RT_OK;
	copy = rt_arena_get(arena, scratch->size);
	if (copy == NULL)
		return rt_fail(err, RT_NOMEM, "out of memory");
	memcpy(copy, scratch->ptr, scratch->size);
	out[(*count)++] = rt_str_at(copy, scratch->size);
	memset(scratch->ptr, 0, scratch->size);
	return RT_OK;
}

rt_status
rt_keys_at_hand(const rt_config *config, const rt_alloc *alloc, rt_arena *arena, rt_str **out,
		size_t *out_count, rt_error *err)
{
	size_t own = config != NULL ? config->provider_count : 0, families = 0, count = 0, i;
	rt_str *list;
	rt_buf scratch;
	rt_status st = RT_OK;

	while (rt_providers[families] != NULL)
		families++;
	list = rt_arena_get(arena, (own + families + 1) * sizeof(*list));
	if (list == NULL)
		return rt_fail(err, RT_NOMEM, "out of memory");
	rt_buf_init(&scratch, alloc, RT_BUF_UNLIMITED);
	for (i = 0; st == RT_OK && i < families; i++) {
		rt_model_choice choice = {rt_providers[i], NULL, rt_str_of(rt_providers[i]->name),
					  RT_STR("-")};

		if (rt_providers[i]->key_env != NULL)
			st = add_at_hand(&choice, &scratch, arena, list, &count, err);
	}
	for (i = 0; st == RT_OK && i < own; i++) {
		const rt_config_provider *p = &config->providers[i];
		rt_model_choice choice = {p->kind, p, p->name, RT_STR("-")};

		if (p->key_cmd_count == 0)
			st = add_at_hand(&choice, &scratch, arena, list, &count, err);
	}
	rt_buf_deinit(&scratch);
	*out = list;
	*out_count = count;
	return st;
}

rt_status
rt_key_url(const rt_model_choice *choice, rt_buf *out, rt_error *err)
{
	const char *said = NULL, *name = NULL;
	rt_error why;
	rt_url url;

	if (choice->config != NULL && choice->config->url.size > 0) {
		rt_buf_add_str(out, choice->config->url);
	} else if (is_the_family(choice) && strcmp(choice->provider->name, "ollama") == 0) {
		said = getenv(name = "OLLAMA_HOST");
		rt_config_ollama_url(rt_str_of(said), out);
	} else if (is_the_family(choice) && strcmp(choice->provider->name, "openai") == 0) {
		said = getenv(name = "OPENAI_BASE_URL");
		rt_buf_add_str(out, rt_str_trim(rt_str_of(said)));
	}
	if (out->status != RT_OK)
		return rt_fail(err, out->status, "out of memory");
	if (name != NULL && out->size > 0 && rt_url_read(rt_buf_str(out), &url, &why) != RT_OK)
		return rt_fail(err, RT_USAGE, "the variable %s is wrong: %s", name, why.text);
	return RT_OK;
}
