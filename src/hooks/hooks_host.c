/* SPDX-License-Identifier: MIT
 *
 * The environment of hooks: a list of what they are given, not of what they are not. A key
 * that somebody keeps under a name that nobody has thought of yet stays here, too. */
#define _GNU_SOURCE

#include <stdlib.h>
#include <unistd.h>

#include "hooks/hooks_impl.h"

#define DEPTH "RETAKE_HOOK_DEPTH"
#define USUAL_PATH "/usr/local/bin:/usr/bin:/bin"

/* Names; those that end with * stand for all that begin so. */
static const char *const allowed[] = {"PATH",    "HOME",  "LANG", "LC_*",      "TERM",
				      "TMPDIR",  "XDG_*", "USER", "LOGNAME",   "SHELL",
				      "TZ",      "RETAKE_DB",     "RETAKE_PROJECT"};

static bool
is_allowed(rt_str name)
{
	size_t i;

	for (i = 0; i < sizeof(allowed) / sizeof(allowed[0]); i++) {
		size_t size = strlen(allowed[i]);

		if (allowed[i][size - 1] == '*'
			    ? rt_str_starts(name, rt_str_at(allowed[i], size - 1))
			    : rt_str_is(name, allowed[i]))
			return true;
	}
	return false;
}

static rt_status
add(rt_hooks_all *all, const char *name, size_t name_size, const char *value)
{
	size_t count = all->environment_count;
	const rt_text **items;
	const rt_text *text;
	rt_buf buf;

	rt_buf_init(&buf, all->alloc, RT_BUF_UNLIMITED);
	rt_buf_add(&buf, name, name_size);
	rt_buf_add_byte(&buf, '=');
	rt_buf_add_c(&buf, value);
	text = buf.status == RT_OK ? rt_text_new(all->alloc, rt_buf_str(&buf)) : NULL;
	rt_buf_deinit(&buf);
	items = text == NULL ? NULL
			     : rt_resize(all->alloc, all->environment, (count + 1) * sizeof(*items));
	if (items == NULL) {
		rt_text_unref(text);
		return RT_NOMEM;
	}
	all->environment = items;
	all->environment[all->environment_count++] = text;
	return RT_OK;
}

/* What is no number is taken for too deep: better no hooks than hooks without end. */
static unsigned
read_depth(const char *text)
{
	char *end;
	unsigned long depth = strtoul(text, &end, 10);

	return end == text || *end != 0 || depth > RT_HOOK_DEPTH_MAX ? RT_HOOK_DEPTH_MAX
								     : (unsigned)depth;
}

rt_status
rt_hooks_take_environment(rt_hooks_all *all, const rt_hooks_options *options)
{
	const char *const *from = options->environment != NULL
					  ? options->environment
					  : (const char *const *)environ;
	rt_status st = RT_OK;
	char depth[2];
	size_t i;

	for (; st == RT_OK && from != NULL && *from != NULL; from++) {
		size_t size = strcspn(*from, "=");
		rt_str name = rt_str_at(*from, size);

		if ((*from)[size] == 0)
			continue;
		if (rt_str_is(name, DEPTH))
			all->depth = read_depth(*from + size + 1);
		if (!is_allowed(name) || (rt_str_is(name, "RETAKE_DB") && options->store != NULL) ||
		    (rt_str_is(name, "RETAKE_PROJECT") && options->project != NULL))
			continue;
		if (rt_str_is(name, "PATH")) {
			rt_buf_clear(&all->search);
			rt_buf_add_c(&all->search, *from + size + 1);
		}
		st = add(all, *from, size, *from + size + 1);
	}
	if (st == RT_OK && all->search.ptr == NULL) {
		rt_buf_add_c(&all->search, USUAL_PATH);
		st = add(all, "PATH", 4, USUAL_PATH);
	}
	if (st == RT_OK && options->store != NULL)
		st = add(all, "RETAKE_DB", 9, options->store);
	if (st == RT_OK && options->project != NULL)
		st = add(all, "RETAKE_PROJECT", 14, options->project);
	depth[0] = (char)('0' + (all->depth < 9 ? all->depth + 1 : 9));
	depth[1] = 0;
	if (st == RT_OK)
		st = add(all, DEPTH, sizeof(DEPTH) - 1, depth);
	if (st == RT_OK) {
		all->envp = rt_new_array(all->alloc, all->environment_count + 1, sizeof(*all->envp));
		st = all->envp == NULL ? RT_NOMEM : all->search.status;
	}
	for (i = 0; st == RT_OK && i < all->environment_count; i++)
		all->envp[i] = (char *)(uintptr_t)all->environment[i]->ptr; /* execve writes nothing */
	if (st == RT_OK)
		all->envp[i] = NULL;
	return st;
}
