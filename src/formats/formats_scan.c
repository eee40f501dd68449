/* SPDX-License-Identifier: MIT
 *
 * A string is skipped from quote to quote, a container by counting brackets of both
 * kinds together (a mismatch shows when it is opened), anything else up to the next
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

static bool
ends_scalar(char c)
{
	return is_blank(c) || c == ',' || c == ']' || c == '}';
}

/* Past the rest of a string; false: it does not end here. */
static bool
scan_string(rt_json_scan *s, const char *bytes, size_t *at, size_t size)
{
	while (*at < size) {
		const char *quote;
		size_t end, slashes = 0;

		if (s->is_escaped) {
			s->is_escaped = false;
			(*at)++;
			continue;
		}
		quote = memchr(bytes + *at, '"', size - *at);
		end = quote == NULL ? size : (size_t)(quote - bytes);
		while (slashes < end - *at && bytes[end - 1 - slashes] == '\\')
			slashes++;
		*at = end;
		s->is_escaped = slashes % 2 != 0;
		if (quote != NULL && !s->is_escaped) {
			(*at)++;
			s->in_string = false;
			return true;
		}
	}
	return false;
}

bool
rt_scan_on(rt_json_scan *s, const char *bytes, size_t *at, size_t size)
{
	if (!s->started && *at < size) {
		s->started = true;
		s->is_scalar = bytes[*at] != '"' && bytes[*at] != '{' && bytes[*at] != '[';
	}
	while (s->is_scalar && *at < size) {
		if (ends_scalar(bytes[*at]))
			return true;
		(*at)++;
	}
	while (*at < size) {
		if (s->in_string) {
			if (!scan_string(s, bytes, at, size))
				return false;
			if (s->depth == 0)
				return true;
			continue;
		}
		switch (bytes[(*at)++]) {
		case '"': s->in_string = true; break;
		case '{':
		case '[': s->depth++; break;
		case '}':
		case ']':
			if (--s->depth == 0)
				return true;
			break;
		default: break;
		}
	}
	return false;
}

size_t
rt_scan_value(rt_str in, size_t at)
{
	rt_json_scan s = {0};
	bool ended;

	if (at >= in.size)
		return SIZE_MAX;
	ended = rt_scan_on(&s, in.ptr, &at, in.size);
	return ended || s.is_scalar ? at : SIZE_MAX;
}

size_t
rt_scan_depth(rt_str in)
{
	size_t depth = 0, deepest = 0;

	for (size_t i = 0; i < in.size; i++) {
		switch (in.ptr[i]) {
		case '"':
			for (i++; i < in.size && in.ptr[i] != '"'; i++)
				i += in.ptr[i] == '\\';
			break;
		case '[':
		case '{':
			depth++;
			deepest = depth > deepest ? depth : deepest;
			break;
		case ']':
		case '}': depth -= depth > 0; break;
		default: break;
		}
	}
	return deepest;
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

/* To the value of the next member. */
static bool
next_key(rt_members *m, rt_str *out_key)
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
		end = rt_scan_value(m->in, m->at);
		if (end == SIZE_MAX)
			return members_fail(m);
		*out_key = rt_str_at(m->in.ptr + m->at, end - m->at);
		m->at = rt_scan_blank(m->in, end);
		if (m->at >= m->in.size || m->in.ptr[m->at] != ':')
			return members_fail(m);
		m->at = rt_scan_blank(m->in, m->at + 1);
	}
	return true;
}

bool
rt_members_peek(const rt_members *m, rt_str *out_key, char *out_first)
{
	rt_members copy = *m;

	if (!next_key(&copy, out_key) || copy.at >= copy.in.size)
		return false;
	*out_first = copy.in.ptr[copy.at];
	return true;
}

bool
rt_members_next(rt_members *m, rt_str *out_key, rt_str *out_value)
{
	size_t end;

	if (!next_key(m, out_key))
		return false;
	end = m->known.ptr != NULL && m->known.ptr == m->in.ptr + m->at ? m->at + m->known.size
									: rt_scan_value(m->in, m->at);
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

bool
rt_scan_line(rt_str in, size_t *at, rt_str *out_line)
{
	const char *nl;
	size_t end;

	if (*at >= in.size)
		return false;
	nl = memchr(in.ptr + *at, '\n', in.size - *at);
	end = nl == NULL ? in.size : (size_t)(nl - in.ptr);
	*out_line = rt_str_at(in.ptr + *at, end - *at);
	*at = end + 1;
	return true;
}

rt_str
rt_scan_unmark(rt_str in)
{
	if (rt_str_starts(in, RT_STR("\xEF\xBB\xBF")))
		return rt_str_at(in.ptr + 3, in.size - 3);
	return in;
}

void
rt_scan_lines_init(rt_line_reader *lines, rt_str in, uint64_t first)
{
	lines->in = in;
	lines->at = 0;
	lines->line = lines->first = first;
}

uint64_t
rt_scan_lines_of(rt_line_reader *lines, const char *ptr)
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
