/* SPDX-License-Identifier: MIT */
#include "files/glob.h"

/* The POSIX character classes. ASCII only, as in git. */
typedef struct char_class {
	const char *name;
	const char *ranges; /* pairs of first and last */
} char_class;

static const char_class classes[] = {
	{"alnum", "azAZ09"}, {"alpha", "azAZ"},       {"blank", "  \t\t"},
	{"cntrl", "\x01\x1f\x7f\x7f"},                {"digit", "09"},
	{"graph", "!~"},     {"lower", "az"},         {"print", " ~"},
	{"punct", "!/:@[`{~"},                        {"space", "  \t\r"},
	{"upper", "AZ"},     {"xdigit", "09afAF"},
};

static bool
in_ranges(const char *ranges, unsigned char c)
{
	for (; ranges[0] != 0; ranges += 2)
		if (c >= (unsigned char)ranges[0] && c <= (unsigned char)ranges[1])
			return true;
	return false;
}

/* The end of "[:name:]" at `at`, or 0; *out_in: whether c is in it; *out_known: there is such a
 * class. */
static size_t
match_class(rt_str p, size_t at, unsigned char c, bool *out_in, bool *out_known)
{
	size_t end = rt_str_find(p, RT_STR(":]"), at + 2);
	rt_str name;

	if (end == SIZE_MAX)
		return 0;
	name = rt_str_at(p.ptr + at + 2, end - at - 2);
	*out_known = false;
	for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); i++)
		if (rt_str_is(name, classes[i].name)) {
			*out_known = true;
			*out_in = in_ranges(classes[i].ranges, c);
		}
	return end + 2;
}

/* The end of the set in brackets at `at`; 0: it has none, and nothing matches. */
static size_t
match_set(rt_str p, size_t at, unsigned char c, bool *out_matches)
{
	bool negated, in = false, first = true;
	unsigned char low, high;

	at++;
	negated = at < p.size && (p.ptr[at] == '!' || p.ptr[at] == '^');
	at += negated;
	for (; at < p.size && (first || p.ptr[at] != ']'); first = false) {
		if (p.ptr[at] == '[' && at + 1 < p.size && p.ptr[at + 1] == ':') {
			bool in_class = false, known = false;
			size_t end = match_class(p, at, c, &in_class, &known);

			if (end > 0 && !known)
				return 0;
			if (end > 0) {
				in = in || in_class;
				at = end;
				continue;
			}
		}
		at += p.ptr[at] == '\\';
		if (at >= p.size)
			return 0;
		low = high = (unsigned char)p.ptr[at++];
		if (at + 1 < p.size && p.ptr[at] == '-' && p.ptr[at + 1] != ']') {
			at++;
			at += p.ptr[at] == '\\';
			if (at >= p.size)
				return 0;
			high = (unsigned char)p.ptr[at++];
		}
		in = in || (c >= low && c <= high);
	}
	if (at >= p.size)
		return 0;
	*out_matches = in != negated;
	return at + 1;
}

bool
rt_glob_name(rt_str p, rt_str name)
{
	size_t at = 0, i = 0, star = SIZE_MAX, from = 0, next;

	/* Only the last star is ever retried: the matches of those before it may stay. */
	while (i < name.size) {
		bool matches = false;

		next = at + 1;
		if (at < p.size && p.ptr[at] == '*') {
			star = ++at;
			from = i;
			continue;
		}
		if (at < p.size && p.ptr[at] == '?') {
			matches = true;
		} else if (at < p.size && p.ptr[at] == '[') {
			next = match_set(p, at, (unsigned char)name.ptr[i], &matches);
			if (next == 0)
				return false;
		} else if (at < p.size && p.ptr[at] == '\\') {
			matches = at + 1 < p.size && p.ptr[at + 1] == name.ptr[i];
			next = at + 2;
		} else if (at < p.size) {
			matches = p.ptr[at] == name.ptr[i];
		}
		if (matches) {
			at = next;
			i++;
		} else if (star != SIZE_MAX) {
			at = star;
			i = ++from;
		} else {
			return false;
		}
	}
	while (at < p.size && p.ptr[at] == '*')
		at++;
	return at == p.size;
}

bool
rt_glob_is_one(rt_str text)
{
	for (size_t i = 0; i < text.size; i++)
		if (memchr("*?[\\", text.ptr[i], 4) != NULL)
			return true;
	return false;
}

bool
rt_glob_init(rt_glob *glob, rt_str pattern)
{
	rt_str part;

	glob->count = 0;
	while (rt_str_split(&pattern, '/', &part)) {
		if (part.size == 0 || rt_str_is(part, "."))
			continue;
		if (glob->count == RT_GLOB_PARTS_MAX)
			return false;
		glob->parts[glob->count++] = part;
	}
	return true;
}

/* Bit i: parts[i] comes next. Bit count: all parts are used. */
static uint64_t
bit(size_t i)
{
	return (uint64_t)1 << i;
}

static bool
is_any(const rt_glob *glob, size_t i)
{
	return rt_str_is(glob->parts[i], "**");
}

/* ** may stand for no directory; at the end of a pattern it needs a name. */
static uint64_t
skip_any(const rt_glob *glob, uint64_t state)
{
	for (size_t i = 0; i + 1 < glob->count; i++)
		if ((state & bit(i)) != 0 && is_any(glob, i))
			state |= bit(i + 1);
	return state;
}

uint64_t
rt_glob_start(const rt_glob *glob)
{
	return skip_any(glob, bit(0));
}

uint64_t
rt_glob_step(const rt_glob *glob, uint64_t state, rt_str name)
{
	uint64_t after = 0;

	for (size_t i = 0; i < glob->count; i++) {
		if ((state & bit(i)) == 0)
			continue;
		if (is_any(glob, i))
			after |= bit(i) | (i + 1 == glob->count ? bit(i + 1) : 0);
		else if (rt_glob_name(glob->parts[i], name))
			after |= bit(i + 1);
	}
	return skip_any(glob, after);
}

bool
rt_glob_accepts(const rt_glob *glob, uint64_t state)
{
	return (state & bit(glob->count)) != 0;
}

bool
rt_glob_continues(const rt_glob *glob, uint64_t state)
{
	return (state & (bit(glob->count) - 1)) != 0;
}

bool
rt_glob_matches(const rt_glob *glob, rt_str path)
{
	uint64_t state = rt_glob_start(glob);
	rt_str name;

	while (state != 0 && rt_str_split(&path, '/', &name))
		state = rt_glob_step(glob, state, name);
	return path.size == 0 && rt_glob_accepts(glob, state);
}
