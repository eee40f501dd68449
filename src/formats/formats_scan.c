/* SPDX-License-Identifier: MIT
 *
 * A string is skipped from quote to quote, a container by counting brackets of both
 * kinds together (a mismatch shows when it is walked into), anything else up to the next
 * separator. */
#include "formats/formats_scan.h"

static bool
is_blank(char c)
{
	return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

size_t
rt_scan_blank(rt_str in, size_t at)
{
	while (at < in.size && is_blank(in.ptr[at]))
		at++;
	return at;
}

/* Position behind the string whose opening quote is at at; SIZE_MAX: no end. */
static size_t
string_end(rt_str in, size_t at)
{
	at++;
	for (;;) {
		const char *quote, *p;
		size_t slashes = 0;

		quote = at < in.size ? memchr(in.ptr + at, '"', in.size - at) : NULL;
		if (quote == NULL)
			return SIZE_MAX;
		for (p = quote; p > in.ptr + at && p[-1] == '\\'; p--)
			slashes++;
		at = (size_t)(quote - in.ptr) + 1;
		if (slashes % 2 == 0)
			return at;
	}
}

size_t
rt_scan_value(rt_str in, size_t at)
{
	size_t depth = 0;

	if (at >= in.size)
		return SIZE_MAX;
	if (in.ptr[at] == '"')
		return string_end(in, at);
	if (in.ptr[at] != '{' && in.ptr[at] != '[') {
		while (at < in.size && !is_blank(in.ptr[at]) && in.ptr[at] != ',' &&
		       in.ptr[at] != ']' && in.ptr[at] != '}')
			at++;
		return at;
	}
	while (at < in.size) {
		switch (in.ptr[at]) {
		case '"':
			at = string_end(in, at);
			if (at == SIZE_MAX)
				return SIZE_MAX;
			continue;
		case '{':
		case '[': depth++; break;
		case '}':
		case ']':
			if (--depth == 0)
				return at + 1;
			break;
		default: break;
		}
		at++;
	}
	return SIZE_MAX;
}

bool
rt_members_open(rt_members *m, rt_str value)
{
	size_t at = rt_scan_blank(value, 0);

	memset(m, 0, sizeof(*m));
	m->in = value;
	m->at = at;
	m->bad = at >= value.size || (value.ptr[at] != '[' && value.ptr[at] != '{');
	if (m->bad)
		return false;
	m->close = value.ptr[at] == '[' ? ']' : '}';
	m->at = at + 1;
	return true;
}

static bool
members_fail(rt_members *m)
{
	m->bad = true;
	return false;
}

bool
rt_members_next(rt_members *m, rt_str *out_key, rt_str *out_value)
{
	size_t end;

	*out_key = rt_str_at(NULL, 0);
	if (m->bad || m->close == '\0')
		return false;
	m->at = rt_scan_blank(m->in, m->at);
	if (m->at < m->in.size && m->in.ptr[m->at] == m->close) {
		m->at++;
		m->close = '\0';
		return false;
	}
	if (m->started) {
		if (m->at >= m->in.size || m->in.ptr[m->at] != ',')
			return members_fail(m);
		m->at = rt_scan_blank(m->in, m->at + 1);
	}
	m->started = true;
	if (m->close == '}') {
		if (m->at >= m->in.size || m->in.ptr[m->at] != '"')
			return members_fail(m);
		end = string_end(m->in, m->at);
		if (end == SIZE_MAX)
			return members_fail(m);
		*out_key = rt_str_at(m->in.ptr + m->at, end - m->at);
		m->at = rt_scan_blank(m->in, end);
		if (m->at >= m->in.size || m->in.ptr[m->at] != ':')
			return members_fail(m);
		m->at = rt_scan_blank(m->in, m->at + 1);
	}
	end = rt_scan_value(m->in, m->at);
	if (end == SIZE_MAX || end == m->at)
		return members_fail(m);
	*out_value = rt_str_at(m->in.ptr + m->at, end - m->at);
	m->at = end;
	return true;
}

bool
rt_scan_key_is(rt_str raw_key, const char *name)
{
	size_t size = strlen(name);

	return raw_key.size == size + 2 && memcmp(raw_key.ptr + 1, name, size) == 0;
}

rt_str
rt_scan_unmark(rt_str in)
{
	if (rt_str_starts(in, RT_STR("\xEF\xBB\xBF")))
		return rt_str_at(in.ptr + 3, in.size - 3);
	return in;
}

void
rt_scan_lines_init(rt_lines *lines, rt_str in, uint64_t first)
{
	lines->in = in;
	lines->at = 0;
	lines->line = lines->first = first;
}

uint64_t
rt_scan_lines_of(rt_lines *lines, const char *ptr)
{
	size_t to = (size_t)(ptr - lines->in.ptr);

	if (to < lines->at)
		rt_scan_lines_init(lines, lines->in, lines->first);
	while (lines->at < to) {
		const char *nl = memchr(lines->in.ptr + lines->at, '\n', to - lines->at);

		if (nl == NULL) {
			lines->at = to;
			break;
		}
		lines->at = (size_t)(nl - lines->in.ptr) + 1;
		lines->line++;
	}
	return lines->line;
}
