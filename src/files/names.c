/* SPDX-License-Identifier: MIT
 *
 * Names of the files that an item of a list may name, for completion. */
#define _POSIX_C_SOURCE 200809L

#include <stdlib.h>
#include <strings.h>

#include "files/files_walk.h"

enum { VISITED_MAX = 20000 }; /* directory entries that are visited for one answer */

typedef struct match {
	rt_str path;
	int rank; /* 0: the name of the file begins with the word, 1: the path does, 2: it contains it */
	size_t depth;
} match;

static size_t
depth_of(rt_str path)
{
	size_t depth = 0;

	for (size_t i = 0; i < path.size; i++)
		depth += path.ptr[i] == '/';
	return depth;
}

static bool
starts_at(rt_str path, size_t at, rt_str word)
{
	return path.size - at >= word.size && strncasecmp(path.ptr + at, word.ptr, word.size) == 0;
}

/* 3: the word is not part of the path. */
static int
rank_of(rt_str path, rt_str word)
{
	size_t name = path.size;

	while (name > 0 && path.ptr[name - 1] != '/')
		name--;
	if (word.size == 0 || starts_at(path, name, word))
		return 0;
	if (starts_at(path, 0, word))
		return 1;
	for (size_t at = 1; at + word.size <= path.size; at++)
		if (starts_at(path, at, word))
			return 2;
	return 3;
}

static bool
is_hidden(rt_str path)
{
	for (size_t i = 0; i < path.size; i++)
		if (path.ptr[i] == '.' && (i == 0 || path.ptr[i - 1] == '/'))
			return true;
	return false;
}

/* Can it be shown and typed? */
static bool
is_plain(rt_str path)
{
	for (size_t i = 0; i < path.size; i++)
		if ((unsigned char)path.ptr[i] < ' ' || path.ptr[i] == 0x7F)
			return false;
	return rt_utf8_valid_size(path) == path.size;
}

static int
compare(const void *a, const void *b)
{
	const match *x = a, *y = b;

	if (x->rank != y->rank)
		return x->rank - y->rank;
	if (x->depth != y->depth)
		return x->depth < y->depth ? -1 : 1;
	return rt_str_cmp(x->path, y->path);
}

rt_file_names
rt_file_names_find(rt_scope *s, const rt_file_options *options, rt_str word, size_t max)
{
	const rt_file_root *roots = rt_file_roots_open(s, options);
	rt_file_names names = {0};
	match *matches = NULL;
	size_t count = 0, capacity = 0, visits = VISITED_MAX;

	for (size_t i = 0; rt_ok(s) && i < options->root_count; i++) {
		rt_file_place top = {&roots[i], rt_str_at("", 0), RT_FILE_DIRECTORY};
		size_t found_count = 0;
		rt_file_found *found = rt_file_walk(s, &top, NULL, &visits, &found_count);

		for (size_t k = 0; rt_ok(s) && k < found_count; k++) {
			rt_str path = found[k].place.path;
			int rank = rank_of(path, word);

			names.is_cut = names.is_cut || found[k].fault.kind == RT_FILE_TOO_MANY;
			if (found[k].fault.kind != RT_FILE_NO_PROBLEM || rank > 2 || !is_plain(path) ||
			    (is_hidden(path) && !is_hidden(word)))
				continue;
			matches = rt_scope_grow(s, matches, count, &capacity, sizeof(*matches));
			if (matches != NULL)
				matches[count++] = (match){path, rank, depth_of(path)};
		}
	}
	if (!rt_ok(s) || count == 0)
		return names;
	qsort(matches, count, sizeof(*matches), compare);
	names.items = rt_scope_array(s, count < max ? count : max, sizeof(*names.items));
	for (size_t i = 0; rt_ok(s) && i < count; i++) {
		if (i > 0 && compare(&matches[i - 1], &matches[i]) == 0)
			continue; /* of another root: the first one is meant */
		if (names.count == max) {
			names.is_cut = true;
			break;
		}
		names.items[names.count++] = matches[i].path;
	}
	return names;
}
