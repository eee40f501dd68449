/* SPDX-License-Identifier: MIT
 *
 * Directories wait on a list until they are read, each with the state of the glob and the rules of
 * the .gitignore files above it. A link to a directory is followed once, unless its target is
 * walked anyway. A link whose target is excluded is excluded, too. */
#include "files/files_walk.h"

#include <stdlib.h>

#include "files/ignore.h"

enum {
	IGNORE_MAX = 1 << 20,      /* bytes of a .gitignore */
	READ_PER_VISIT = 256,      /* this many bytes read count as a visit */
	COMPARED_PER_VISIT = 16384 /* and so do this many comparisons of a name */
};

typedef struct waiting {
	rt_str path;
	uint64_t state;          /* of the glob */
	const rt_ignore *ignore; /* of the directories above */
} waiting;

typedef struct walking {
	rt_scope *s;
	const rt_file_place *base;
	const rt_glob *glob;
	size_t *visits;
	waiting *dirs; /* a stack */
	size_t dir_count, dir_capacity;
	rt_str *linked; /* directories that were reached by a link */
	size_t linked_count, linked_capacity;
	rt_file_found *found;
	size_t count, capacity;
} walking;

static rt_str
join(rt_scope *s, rt_str path, rt_str name)
{
	size_t slash = path.size > 0, size = path.size + slash + name.size;
	char *to = rt_scope_get(s, size + 1);

	if (to == NULL)
		return (rt_str){NULL, 0};
	if (slash) {
		memcpy(to, path.ptr, path.size);
		to[path.size] = '/';
	}
	memcpy(to + path.size + slash, name.ptr, name.size);
	return rt_str_at(to, size);
}

static void
add_found(walking *w, rt_file_place place, rt_file_fault fault)
{
	w->found = rt_scope_grow(w->s, w->found, w->count, &w->capacity, sizeof(*w->found));
	if (w->found != NULL)
		w->found[w->count++] = (rt_file_found){place, fault};
}

static void
add_fault(walking *w, rt_str path, rt_file_fault fault)
{
	add_found(w, (rt_file_place){.root = w->base->root, .path = path}, fault);
}

static void
add_dir(walking *w, waiting dir)
{
	w->dirs = rt_scope_grow(w->s, w->dirs, w->dir_count, &w->dir_capacity, sizeof(*w->dirs));
	if (w->dirs != NULL)
		w->dirs[w->dir_count++] = dir;
}

static void
spend(walking *w, size_t visits)
{
	*w->visits -= visits < *w->visits ? visits : *w->visits;
}

/* The rules of a directory's .gitignore after those above. One that cannot be read is a fault: it
 * may exclude files that must not be sent. */
static const rt_ignore *
read_ignore(walking *w, rt_str dir, const rt_ignore *above)
{
	rt_str path = join(w->s, dir, RT_STR(".gitignore")), text;
	rt_file_place place;
	rt_file_fault f;

	if (!rt_ok(w->s) ||
	    rt_file_find(w->s, w->base->root, path, &place).kind != RT_FILE_NO_PROBLEM ||
	    place.type != RT_FILE_REGULAR)
		return above;
	f = rt_file_load(w->s, &place, IGNORE_MAX, IGNORE_MAX, &text);
	if (f.kind != RT_FILE_NO_PROBLEM)
		add_fault(w, path, f);
	if (f.kind != RT_FILE_NO_PROBLEM || !rt_ok(w->s))
		return above;
	spend(w, text.size / READ_PER_VISIT);
	return rt_ignore_read(w->s, above, dir, text);
}

/* The rules above a directory, from the root down. */
static const rt_ignore *
rules_above(walking *w, rt_str dir)
{
	const rt_ignore *ignore = NULL;

	for (size_t i = 0; rt_ok(w->s) && dir.size > 0 && i <= dir.size; i++)
		if (i == 0 || (i < dir.size && dir.ptr[i] == '/'))
			ignore = read_ignore(w, rt_str_at(dir.ptr, i), ignore);
	return ignore;
}

/* True if path is dir or below it. */
static bool
is_in(rt_str path, rt_str dir)
{
	return dir.size == 0 ||
	       (rt_str_starts(path, dir) && (path.size == dir.size || path.ptr[dir.size] == '/'));
}

/* Does a link lead to something that the walk would leave out where it is? The directories above
 * the base are not checked: the user has named them. */
static bool
is_excluded(walking *w, const rt_file_place *place)
{
	const rt_ignore *ignore = NULL;
	size_t begin = 0;

	for (size_t end = 0; rt_ok(w->s) && end <= place->path.size; end++) {
		rt_str path = rt_str_at(place->path.ptr, end);
		bool is_whole = end == place->path.size;

		if (end > 0 && !is_whole && path.ptr[end] != '/')
			continue;
		if (!is_in(w->base->path, path) &&
		    (rt_str_is(rt_str_skip(path, begin), ".git") ||
		     rt_ignore_matches(ignore, path,
				       !is_whole || place->type == RT_FILE_DIRECTORY)))
			return true;
		if (!is_whole)
			ignore = read_ignore(w, path, ignore);
		begin = end > 0 ? end + 1 : 0;
	}
	return false;
}

static void
follow_directory(walking *w, const rt_file_place *place, uint64_t state)
{
	/* The directories that a pattern without ** reaches are limited by the pattern itself. */
	bool is_deep = w->glob == NULL;

	for (size_t i = 0; w->glob != NULL && i < w->glob->count; i++)
		is_deep = is_deep || rt_str_is(w->glob->parts[i], "**");
	if (is_deep && is_in(place->path, w->base->path))
		return;
	for (size_t i = 0; is_deep && i < w->linked_count; i++)
		if (is_in(place->path, w->linked[i]))
			return;
	w->linked = rt_scope_grow(w->s, w->linked, w->linked_count, &w->linked_capacity,
				  sizeof(*w->linked));
	if (w->linked == NULL)
		return;
	w->linked[w->linked_count++] = place->path;
	add_dir(w, (waiting){place->path, state, rules_above(w, place->path)});
}

/* A directory entry that the glob accepts, or below which it may accept entries. */
static void
visit(walking *w, const waiting *dir, const rt_ignore *ignore, const rt_file_entry *entry)
{
	uint64_t state = w->glob == NULL ? 1 : rt_glob_step(w->glob, dir->state, entry->name);
	bool accepts = w->glob == NULL || rt_glob_accepts(w->glob, state);
	bool continues = w->glob == NULL || rt_glob_continues(w->glob, state);
	rt_str path;
	rt_file_place place;
	rt_file_fault f;

	if (rt_str_is(entry->name, ".git") || (!accepts && !continues))
		return;
	path = join(w->s, dir->path, entry->name);
	if (!rt_ok(w->s) ||
	    rt_ignore_matches(ignore, path, entry->type == RT_FILE_DIRECTORY))
		return;
	place = (rt_file_place){w->base->root, path, entry->type};
	if (entry->type == RT_FILE_LINK) {
		f = rt_file_find(w->s, w->base->root, path, &place);
		if (f.kind != RT_FILE_NO_PROBLEM) {
			if (accepts)
				add_fault(w, path, f);
			return;
		}
		if (is_excluded(w, &place))
			return;
		if (place.type == RT_FILE_DIRECTORY && continues)
			follow_directory(w, &place, state);
	} else if (entry->type == RT_FILE_DIRECTORY && continues) {
		add_dir(w, (waiting){path, state, ignore});
	}
	if (place.type == RT_FILE_DIRECTORY || !accepts)
		return;
	if (place.type == RT_FILE_REGULAR)
		add_found(w, place, (rt_file_fault){RT_FILE_NO_PROBLEM, 0});
	else
		add_fault(w, path, (rt_file_fault){RT_FILE_SPECIAL, 0});
}

static void
read_dir(walking *w, const waiting *dir)
{
	rt_file_place place = {w->base->root, dir->path, RT_FILE_DIRECTORY};
	const rt_ignore *ignore = read_ignore(w, dir->path, dir->ignore);
	size_t cost = 1 + rt_ignore_size(ignore) / COMPARED_PER_VISIT, count;
	rt_file_entry *entries;
	rt_file_fault f;

	f = rt_file_list(w->s, &place, *w->visits / cost, &entries, &count);
	spend(w, count * cost);
	for (size_t i = 0; rt_ok(w->s) && i < count; i++)
		visit(w, dir, ignore, &entries[i]);
	if (f.kind != RT_FILE_NO_PROBLEM)
		add_fault(w, dir->path, f);
}

static int
by_path(const void *a, const void *b)
{
	const rt_file_found *x = a, *y = b;
	int order = rt_str_cmp(x->place.path, y->place.path);

	return order != 0 ? order : (int)x->fault.kind - (int)y->fault.kind;
}

rt_file_found *
rt_file_walk(rt_scope *s, const rt_file_place *base, const rt_glob *glob, size_t *visits,
	     size_t *out_count)
{
	walking w = {.s = s, .base = base, .glob = glob, .visits = visits};
	size_t kept = 0;

	*out_count = 0;
	add_dir(&w, (waiting){.path = base->path,
			      .state = glob == NULL ? 1 : rt_glob_start(glob),
			      .ignore = rules_above(&w, base->path)});
	while (rt_ok(s) && w.dir_count > 0) {
		waiting dir = w.dirs[--w.dir_count];

		if (*visits == 0) {
			add_fault(&w, base->path, (rt_file_fault){RT_FILE_TOO_MANY, 0});
			break;
		}
		read_dir(&w, &dir);
	}
	if (!rt_ok(s) || w.count == 0)
		return NULL;
	qsort(w.found, w.count, sizeof(*w.found), by_path);
	for (size_t i = 0; i < w.count; i++)
		if (kept == 0 || by_path(&w.found[kept - 1], &w.found[i]) != 0)
			w.found[kept++] = w.found[i];
	*out_count = kept;
	return w.found;
}
