/* SPDX-License-Identifier: MIT
 *
 * Keys from environment variables, private files and commands. A command runs without a shell, in a
 * separate process group, with an empty standard input. */
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
#include <unistd.h>

#include "base/clock_host.h"
#include "llm/provider.h"
#include "llm/system_host.h"
#include "llm/url.h"

enum { POLL_MS = 50 };

extern char **environ;

/* Append the key in the output of a source: the first line, trimmed. The two halves of source
 * name it in messages. */
static rt_status
add_key(rt_str output, const char *source, const char *name, rt_buf *out, rt_error *err)
{
	rt_str key = {NULL, 0};

	(void)rt_str_split(&output, '\n', &key);
	key = rt_str_trim(key);
	if (key.size == 0)
		return rt_fail(err, RT_CREDENTIALS, "%s%s has no key in its first line", source,
			       name);
	for (size_t i = 0; i < key.size; i++)
		if (key.ptr[i] < 0x21 || key.ptr[i] > 0x7E)
			return rt_fail(
				err, RT_CREDENTIALS,
				"the first line of %s%s is not a key: it contains a space, a control character or a non-ASCII character",
				source, name);
	rt_buf_add_str(out, key);
	return out->status == RT_OK ? RT_OK : rt_fail(err, out->status, "out of memory");
}

static rt_status
key_from_variable(const char *name, bool required, rt_buf *out, rt_error *err)
{
	rt_str value = rt_str_of(getenv(name));

	if (value.size > 0)
		return add_key(value, "the environment variable ", name, out, err);
	if (!required)
		return RT_OK;
	return rt_fail(err, RT_CREDENTIALS,
		       "the environment variable %s, which should contain the key, is not set", name);
}

/* ---- files ---- */

static rt_status
read_key_file(int fd, const char *path, rt_buf *out, rt_buf *warnings, rt_error *err)
{
	struct stat info;
	char text[4096];
	size_t size = 0;
	ssize_t got = 1;

	if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode))
		return rt_fail(err, RT_CREDENTIALS, "the key file %s is not a file", path);
	if ((info.st_mode & 077) != 0)
		rt_buf_add_f(warnings, "other users can read or change the key file: chmod 600 %s\n",
			     path);
	while (got != 0 && size < sizeof(text)) {
		got = read(fd, text + size, sizeof(text) - size);
		if (got < 0 && errno != EINTR)
			return rt_fail(err, RT_CREDENTIALS, "the key file %s cannot be read", path);
		size += got > 0 ? (size_t)got : 0;
	}
	if (size == sizeof(text) && memchr(text, '\n', size) == NULL)
		return rt_fail(err, RT_CREDENTIALS, "the first line of the key file %s is too long",
			       path);
	return add_key(rt_str_at(text, size), "", path, out, err);
}

/* A leading "~/" is the home folder. */
static rt_status
key_from_file(rt_str name, rt_buf *out, rt_buf *warnings, rt_error *err)
{
	const char *home = getenv("HOME");
	char why[128];
	rt_scope s;

	rt_scope_init(&s, out->alloc);
	rt_buf *path = rt_scope_buf(&s);
	if (rt_str_starts(name, RT_STR("~/")) && home != NULL && *home == '/') {
		rt_buf_add_c(path, home);
		name = rt_str_skip(name, 1);
	}
	rt_buf_add_str(path, name);
	if (rt_scope_str(&s, path).ptr != NULL) {
		int fd = open(path->ptr, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);

		if (fd < 0)
			(void)rt_scope_fail(&s, RT_CREDENTIALS,
					    "the key file %s cannot be read: %s", path->ptr,
					    strerror_r(errno, why, sizeof(why)));
		RT_TRY(&s, read_key_file(fd, path->ptr, out, warnings, &s.error));
		if (fd >= 0)
			(void)close(fd);
	}
	return rt_scope_end(&s, err);
}

/* ---- commands ---- */

static rt_status
start_command(char *const *argv, int out_fd, pid_t *out_pid, rt_error *err)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	sigset_t none, all;
	char why[128];
	int error;

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
	error = posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
	if (error == 0)
		error = posix_spawn_file_actions_adddup2(&actions, out_fd, 1);
	if (error == 0)
		error = posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
	if (error == 0)
		error = posix_spawn_file_actions_addclosefrom_np(&actions, 3);
	if (error == 0)
		error = posix_spawnp(out_pid, argv[0], &actions, &attributes, argv, environ);
	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&actions);
	if (error == 0)
		return RT_OK;
	return rt_fail(err, error == ENOMEM ? RT_NOMEM : RT_CREDENTIALS,
		       "key_cmd: %s cannot be run: %s", argv[0],
		       strerror_r(error, why, sizeof(why)));
}

static rt_status
fail_slow(const char *name, rt_error *err)
{
	return rt_fail(err, RT_CREDENTIALS, "key_cmd: %s took longer than %d s", name,
		       RT_KEY_COMMAND_MS / 1000);
}

/* All output of a command. */
static rt_status
read_output(int fd, int64_t end_ms, rt_stop_fn stop, void *stop_ctx, const char *name,
	    rt_buf *output, rt_error *err)
{
	struct pollfd ready = {.fd = fd, .events = POLLIN};
	char bytes[4096];

	for (;;) {
		if (stop != NULL && stop(stop_ctx))
			return rt_fail(err, RT_INTERRUPTED, "stopped");
		if (rt_clock_ms() >= end_ms)
			return fail_slow(name, err);
		if (poll(&ready, 1, POLL_MS) <= 0)
			continue;
		ssize_t got = read(fd, bytes, sizeof(bytes));
		if (got < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (got <= 0)
			return RT_OK;
		if (output->size + (size_t)got > RT_KEY_OUTPUT_MAX)
			return rt_fail(err, RT_CREDENTIALS, "key_cmd: %s printed more than a key",
				       name);
		rt_buf_add(output, bytes, (size_t)got);
		if (output->status != RT_OK)
			return rt_fail(err, output->status, "out of memory");
	}
}

/* Wait for the command's exit; kill it if st is a failure, or at end_ms. */
static rt_status
wait_for_exit(pid_t pid, rt_status st, int64_t end_ms, const char *name, rt_error *err)
{
	int status = 0;
	pid_t got;

	if (st != RT_OK)
		(void)kill(-pid, SIGKILL);
	while ((got = waitpid(pid, &status, st == RT_OK ? WNOHANG : 0)) != pid) {
		if (got < 0 && errno != EINTR)
			break;
		if (st == RT_OK && rt_clock_ms() >= end_ms) {
			(void)kill(-pid, SIGKILL);
			st = fail_slow(name, err);
		} else if (st == RT_OK) {
			(void)poll(NULL, 0, 5);
		}
	}
	if (st != RT_OK || (got == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0))
		return st;
	if (got == pid && WIFEXITED(status))
		return rt_fail(err, RT_CREDENTIALS,
			       "key_cmd: %s exited with status %d; run it in a terminal to see "
			       "the error",
			       name, WEXITSTATUS(status));
	return rt_fail(err, RT_CREDENTIALS, "key_cmd: %s was terminated by a signal", name);
}

static rt_status
key_from_command(const rt_config_provider *p, rt_stop_fn stop, void *stop_ctx, rt_buf *out,
		 rt_error *err)
{
	int64_t end_ms = rt_clock_ms() + RT_KEY_COMMAND_MS;
	int fds[2] = {-1, -1};
	pid_t pid = 0;
	rt_scope s;

	rt_scope_init(&s, out->alloc);
	char **argv = rt_scope_array(&s, p->key_cmd_count + 1, sizeof(*argv));
	rt_buf *output = rt_scope_buf(&s);
	if (rt_ok(&s) && pipe2(fds, O_CLOEXEC) != 0)
		(void)rt_scope_fail(&s, RT_IO, "cannot create a pipe for key_cmd");
	if (!rt_ok(&s))
		return rt_scope_end(&s, err);
	for (size_t i = 0; i < p->key_cmd_count; i++)
		argv[i] = (char *)(uintptr_t)p->key_cmd[i].ptr; /* posix_spawn's signature */
	RT_TRY(&s, start_command(argv, fds[1], &pid, &s.error));
	(void)close(fds[1]);
	if (rt_ok(&s)) {
		RT_TRY(&s, read_output(fds[0], end_ms, stop, stop_ctx, argv[0], output, &s.error));
		(void)rt_scope_note(&s, wait_for_exit(pid, s.status, end_ms, argv[0], &s.error));
	}
	RT_TRY(&s, add_key(rt_buf_str(output), "", argv[0], out, &s.error));
	(void)close(fds[0]);
	return rt_scope_end(&s, err);
}

/* ---- the key and the url of a provider ---- */

/* Does it have the name of its kind, so that the kind's variables apply to it? */
static bool
has_kind_name(const rt_model_choice *choice)
{
	return rt_str_is(choice->provider_name, choice->provider->name);
}

rt_status
rt_key_find(const rt_model_choice *choice, rt_stop_fn stop, void *stop_ctx, rt_buf *out,
	    rt_buf *warnings, rt_error *err)
{
	const rt_config_provider *p = choice->config;

	if (p != NULL && p->key_env.size > 0)
		return key_from_variable(p->key_env.ptr, true, out, err);
	if (p != NULL && p->key_file.size > 0)
		return key_from_file(p->key_file, out, warnings, err);
	if (p != NULL && p->key_cmd_count > 0)
		return key_from_command(p, stop, stop_ctx, out, err);
	if (choice->provider->key_env == NULL ||
	    (!has_kind_name(choice) && p != NULL && p->url.size > 0))
		return RT_OK;
	return key_from_variable(choice->provider->key_env, false, out, err);
}

/* Adds the content of a variable or a file to list; a key that cannot be read is skipped. */
static void
add_available(rt_scope *s, const rt_model_choice *choice, rt_arena *arena, rt_str *list,
	      size_t *count)
{
	rt_buf *key = rt_scope_buf(s), *warnings = rt_scope_buf(s);
	rt_status st = rt_ok(s) ? rt_key_find(choice, NULL, NULL, key, warnings, NULL) : RT_OK;
	char *copy;

	if (st == RT_NOMEM)
		(void)rt_scope_nomem(s);
	if (!rt_ok(s) || st != RT_OK || key->size == 0)
		return;
	copy = rt_arena_get(arena, key->size);
	if (copy == NULL) {
		(void)rt_scope_nomem(s);
		return;
	}
	memcpy(copy, key->ptr, key->size);
	memset(key->ptr, 0, key->size);
	list[(*count)++] = rt_str_at(copy, key->size);
}

rt_status
rt_keys_at_hand(const rt_config *config, const rt_alloc *alloc, rt_arena *arena, rt_str **out,
		size_t *out_count, rt_error *err)
{
	size_t own = config != NULL ? config->provider_count : 0, kinds = 0, count = 0;
	rt_scope s;
	rt_str *list;

	while (rt_providers[kinds] != NULL)
		kinds++;
	rt_scope_init(&s, alloc);
	list = rt_arena_get(arena, (own + kinds + 1) * sizeof(*list));
	if (list == NULL)
		(void)rt_scope_nomem(&s);
	for (size_t i = 0; i < kinds; i++) {
		rt_model_choice choice = {rt_providers[i], NULL, rt_str_of(rt_providers[i]->name),
					  RT_STR("-")};

		if (rt_providers[i]->key_env != NULL)
			add_available(&s, &choice, arena, list, &count);
	}
	for (size_t i = 0; i < own; i++) {
		const rt_config_provider *p = &config->providers[i];
		rt_model_choice choice = {p->kind, p, p->name, RT_STR("-")};

		if (p->key_cmd_count == 0)
			add_available(&s, &choice, arena, list, &count);
	}
	*out = list;
	*out_count = count;
	return rt_scope_end(&s, err);
}

rt_status
rt_key_url(const rt_model_choice *choice, rt_buf *out, rt_error *err)
{
	const char *name = NULL;
	rt_error why;
	rt_url url;

	if (choice->config != NULL && choice->config->url.size > 0) {
		rt_buf_add_str(out, choice->config->url);
	} else if (has_kind_name(choice) && choice->provider->url_env != NULL) {
		rt_str value = rt_str_trim(rt_str_of(getenv(name = choice->provider->url_env)));

		if (choice->provider->add_url != NULL)
			choice->provider->add_url(value, out);
		else
			rt_buf_add_str(out, value);
	}
	if (out->status != RT_OK)
		return rt_fail(err, out->status, "out of memory");
	if (name != NULL && out->size > 0 && rt_url_read(rt_buf_str(out), &url, &why) != RT_OK)
		return rt_fail(err, RT_USAGE, "the variable %s is invalid: %s", name, why.text);
	return RT_OK;
}

const char *
rt_key_state(rt_scope *s, const rt_model_choice *choice, rt_buf *url)
{
	const rt_provider *kind = choice->provider;
	rt_model_choice any = *choice;
	rt_buf *own = rt_scope_buf(s), *key = rt_scope_buf(s);
	rt_status st;
	bool is_found;

	any.model = RT_STR("-"); /* which of its models does not matter */
	if (kind->url != NULL && rt_key_url(&any, own, NULL) != RT_OK)
		return "invalid URL";
	if (kind->url != NULL)
		rt_url_add_shown(url, own->size > 0 ? rt_buf_str(own) : rt_str_of(kind->url));
	if (choice->config != NULL && choice->config->key_cmd_count > 0)
		return "key from command";
	if (kind->url == NULL)
		return "always available";
	st = rt_key_find(&any, NULL, NULL, key, rt_scope_buf(s), NULL);
	is_found = st == RT_OK && key->size > 0;
	if (key->size > 0)
		memset(key->ptr, 0, key->size);
	if (is_found)
		return "key found";
	return st != RT_OK || (kind->key_env != NULL && kind->key_needed && choice->config == NULL)
		       ? "no key"
		       : "needs no key";
}
