/* SPDX-License-Identifier: MIT */
#include "files/ignore.h"

#include "files/glob.h"

typedef struct rule {
	rt_str pattern;
	bool has_slash;      /* compared with the path below base; else with the name */
	bool includes;       /* "!" */
	bool directory_only; /* "/" at its end */
} rule;

struct rt_ignore {
	const rt_ignore *parent;
	rt_str base; /* "src" */
	rule *rules;
	size_t count;
	size_t size; /* bytes of this text and of those above */
};

/* Without trailing spaces, of which one after a backslash stays. */
static rt_str
trim_end(rt_str line)
{
	size_t size = 0;

	if (line.size > 0 && line.ptr[line.size - 1] == '\r')
		line.size--;
	for (size_t i = 0; i < line.size; i++) {
		if (line.ptr[i] == '\\' && i + 1 < line.size)
			i++;
		else if (line.ptr[i] == ' ')
			continue;
		size = i + 1;
	}
	line.size = size;
	return line;
}

/* False: the line has no rule. Rules are kept as text: a file may have very many of them. */
static bool
read_rule(rt_str line, rule *out)
{
	rt_glob glob;

	if (line.size > 0 && line.ptr[0] == '#')
		return false;
	line = trim_end(line);
	*out = (rule){0};
	if (line.size > 0 && line.ptr[0] == '!') {
		out->includes = true;
		line = rt_str_skip(line, 1);
	}
	if (line.size > 0 && line.ptr[line.size - 1] == '/') {
		out->directory_only = true;
		line.size--;
	}
	if (line.size == 0)
		return false;
	out->pattern = line;
	out->has_slash = memchr(line.ptr, '/', line.size) != NULL;
	return !out->has_slash || (rt_glob_init(&glob, line) && glob.count > 0);
}

static bool
matches_path(const rule *r, rt_str path)
{
	rt_glob glob;

	return rt_glob_init(&glob, r->pattern) && rt_glob_matches(&glob, path);
}

size_t
rt_ignore_size(const rt_ignore *ignore)
{
	return ignore != NULL ? ignore->size : 0;
}

const rt_ignore *
rt_ignore_read(rt_scope *s, const rt_ignore *parent, rt_str base, rt_str text)
{
	rt_ignore *ignore = rt_scope_get(s, sizeof(*ignore));
	size_t capacity = 0;
	rt_str rest, line;
	rule one;

	if (ignore == NULL)
		return NULL;
	*ignore = (rt_ignore){.parent = parent, .base = rt_scope_copy(s, base),
			      .size = rt_ignore_size(parent) + text.size};
	rest = rt_scope_copy(s, text);
	if (rt_str_starts(rest, RT_STR("\xef\xbb\xbf")))
		rest = rt_str_skip(rest, 3);
	while (rt_ok(s) && rt_str_split(&rest, '\n', &line)) {
		if (!read_rule(line, &one))
			continue;
		ignore->rules = rt_scope_grow(s, ignore->rules, ignore->count, &capacity,
					      sizeof(*ignore->rules));
		if (ignore->rules != NULL)
			ignore->rules[ignore->count++] = one;
	}
	return rt_ok(s) ? ignore : NULL;
}

/* The path below a directory; false: it is not there. */
static bool
below(rt_str path, rt_str base, rt_str *out)
{
	if (base.size == 0) {
		*out = path;
		return true;
	}
	if (!rt_str_starts(path, base) || path.size <= base.size || path.ptr[base.size] != '/')
		return false;
	*out = rt_str_skip(path, base.size + 1);
	return true;
}

bool
rt_ignore_matches(const rt_ignore *ignore, rt_str path, bool is_directory)
{
	size_t at = path.size;
	rt_str name, inner;

	while (at > 0 && path.ptr[at - 1] != '/')
		at--;
	name = rt_str_skip(path, at);
	/* The last rule of the nearest file decides. */
	for (; ignore != NULL; ignore = ignore->parent) {
		if (!below(path, ignore->base, &inner))
			continue;
		for (size_t i = ignore->count; i > 0; i--) {
			const rule *r = &ignore->rules[i - 1];

			if (r->directory_only && !is_directory)
				continue;
			if (r->has_slash ? matches_path(r, inner)
					 : rt_glob_name(r->pattern, name))
				return !r->includes;
		}
	}
	return false;
}
