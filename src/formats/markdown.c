/* SPDX-License-Identifier: MIT
 *
 * Markdown: lines and headings (markdown_impl.h says which), and how to tell a file. */
#include "formats/markdown_impl.h"

#include "formats/formats.h"

typedef struct usual_name {
	const char *name;
	const char *role; /* NULL: the role is what was written */
} usual_name;

static const usual_name usual[] = {
	{"user", NULL},    {"assistant", NULL}, {"ai", NULL},         {"system", NULL},
	{"tool", NULL},    {"developer", NULL}, {"vendor api", NULL}, {"function", NULL},
	{"human", "User"}, {"you", "User"},     {"me", "User"},       {"prompt", "User"},
	{"chatgpt", "AI"}, {"claude", "AI"},    {"gpt", "AI"},        {"gemini", "AI"},
	{"model", "AI"},   {"bot", "AI"},       {"copilot", "AI"},    {"response", "AI"},
};

static const usual_name *
find_usual(rt_str role)
{
	for (size_t i = 0; i < sizeof(usual) / sizeof(*usual); i++)
		if (rt_str_eq_nocase(role, rt_str_of(usual[i].name)))
			return &usual[i];
	return NULL;
}

bool
rt_markdown_is_usual(rt_str role)
{
	const usual_name *name = find_usual(role);

	return name != NULL && name->role == NULL;
}

bool
rt_markdown_line(rt_str in, size_t *at, rt_str *out_line)
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

static bool
is_blank_line(rt_str line)
{
	return rt_str_trim(line).size == 0;
}

rt_str
rt_markdown_trim(rt_str text)
{
	size_t at = 0, from = 0;
	rt_str line;

	while (rt_markdown_line(text, &at, &line)) {
		if (!is_blank_line(line))
			break;
		from = at < text.size ? at : text.size;
	}
	text = rt_str_at(text.ptr == NULL ? "" : text.ptr + from, text.size - from);
	while (text.size > 0) {
		size_t start = text.size;

		while (start > 0 && text.ptr[start - 1] != '\n')
			start--;
		if (!is_blank_line(rt_str_at(text.ptr + start, text.size - start)))
			break;
		text.size = start > 0 ? start - 1 : 0;
	}
	while (text.size > 0 && text.ptr[text.size - 1] == '\r')
		text.size--; /* half of the last line's end */
	return text;
}

static bool
is_space(char c)
{
	return (unsigned char)c <= 0x20 || c == 0x7F;
}

void
rt_markdown_add_line(rt_buf *buf, rt_str text)
{
	size_t i = 0, from;
	bool first = true;

	for (;;) {
		while (i < text.size && is_space(text.ptr[i]))
			i++;
		if (i == text.size)
			return;
		for (from = i; i < text.size && !is_space(text.ptr[i]);)
			i++;
		if (!first)
			rt_buf_add_byte(buf, ' ');
		first = false;
		rt_buf_add(buf, text.ptr + from, i - from);
	}
}

/* A role without its decoration: **bold**, a colon after it, closing hashes. */
static rt_str
clean_role(rt_str role)
{
	for (;;) {
		size_t before = role.size;

		while (role.size > 0 && (is_space(role.ptr[0]) || role.ptr[0] == '*' ||
					 role.ptr[0] == '_' || role.ptr[0] == '#')) {
			role.ptr++;
			role.size--;
		}
		while (role.size > 0) {
			char c = role.ptr[role.size - 1];

			if (!is_space(c) && c != '*' && c != '_' && c != '#' && c != ':')
				break;
			role.size--;
		}
		if (role.size == before)
			return role;
	}
}

void
rt_markdown_add_role(rt_buf *buf, rt_str role)
{
	rt_str dot = RT_STR("\xC2\xB7"), left, plain;
	rt_scope s;
	rt_buf *line, *dashed;
	size_t at;

	rt_scope_init(&s, buf->alloc);
	line = rt_scope_buf(&s);
	dashed = rt_scope_buf(&s);
	rt_markdown_add_line(line, role);
	left = rt_scope_str(&s, line);
	while ((at = rt_str_find(left, dot, 0)) != SIZE_MAX) {
		rt_buf_add(dashed, left.ptr, at);
		rt_buf_add_byte(dashed, '-');
		left = rt_str_at(left.ptr + at + dot.size, left.size - at - dot.size);
	}
	rt_buf_add_str(dashed, left);
	plain = clean_role(rt_scope_str(&s, dashed));
	rt_buf_add_str(buf, plain.size > 0 ? plain : RT_STR("Entry"));
	if (rt_scope_end(&s, NULL) != RT_OK)
		buf->status = RT_NOMEM;
}

/* What follows the role: parts, each with a dot before it. */
static bool
read_parts(rt_str text, rt_heading *out)
{
	rt_str dot = RT_STR("\xC2\xB7");

	while (text.size > 0) {
		size_t end = rt_str_find(text, dot, 0);
		rt_str part = rt_str_trim(rt_str_at(text.ptr, end == SIZE_MAX ? text.size : end));

		if (rt_str_is(part, "muted"))
			out->muted = true;
		else if (rt_str_is(part, "purged"))
			out->purged = true;
		else if (part.size > 0 && rt_build_moment_str(part, false, &out->ts))
			out->has_ts = true;
		else if (part.size > 0)
			return false;
		if (end == SIZE_MAX)
			break;
		text = rt_str_at(text.ptr + end + dot.size, text.size - end - dot.size);
	}
	return true;
}

/* "User", "Assistant (2026-11-21 20:35)", "ChatGPT said:" */
static bool
read_usual(rt_str text, rt_heading *out)
{
	const usual_name *name;
	size_t open;

	text = clean_role(text);
	open = rt_str_find(text, RT_STR(" ("), 0);
	if (open != SIZE_MAX && text.ptr[text.size - 1] == ')') {
		if (!rt_build_moment_str(rt_str_at(text.ptr + open + 2, text.size - open - 3),
					 false, &out->ts))
			return false;
		out->has_ts = true;
		text = clean_role(rt_str_at(text.ptr, open));
	}
	if (text.size > 5 && rt_str_is(rt_str_at(text.ptr + text.size - 5, 5), " said"))
		text = clean_role(rt_str_at(text.ptr, text.size - 5));
	name = find_usual(text);
	if (name == NULL)
		return false;
	out->role = name->role == NULL ? text : rt_str_of(name->role);
	return true;
}

/* "**User:** hello", "**User**: hello" */
static bool
read_bold(rt_str line, rt_heading *out)
{
	size_t end = line.size < 4 ? SIZE_MAX : rt_str_find(line, RT_STR("**"), 2);
	rt_str role;

	if (end == SIZE_MAX || end > 40)
		return false;
	role = rt_str_at(line.ptr + 2, end - 2);
	end += 2;
	if (end < line.size && line.ptr[end] == ':')
		end++;
	else if (role.size == 0 || role.ptr[role.size - 1] != ':')
		return false;
	if (!read_usual(role, out))
		return false;
	out->rest = rt_str_trim(rt_str_at(line.ptr + end, line.size - end));
	return true;
}

bool
rt_markdown_heading(rt_str line, rt_heading *out)
{
	size_t level = 0, dot;
	rt_str text;

	memset(out, 0, sizeof(*out));
	if (rt_str_starts(line, RT_STR("**")))
		return read_bold(line, out);
	while (level < line.size && level < 7 && line.ptr[level] == '#')
		level++;
	if (level == 0 || level > 6 || level == line.size || line.ptr[level] != ' ')
		return false;
	text = rt_str_trim(rt_str_at(line.ptr + level, line.size - level));
	dot = level == 2 ? rt_str_find(text, RT_STR(MARKDOWN_DOT), 0) : SIZE_MAX;
	if (dot == SIZE_MAX)
		return read_usual(text, out);
	out->role = clean_role(rt_str_at(text.ptr, dot));
	return out->role.size > 0 &&
	       read_parts(rt_str_at(text.ptr + dot + 1, text.size - dot - 1), out);
}

bool
rt_markdown_needs_escape(rt_str line, bool in_preamble)
{
	rt_heading heading;

	while (line.size > 0 && line.ptr[0] == '\\')
		line = rt_str_at(line.ptr + 1, line.size - 1);
	if (line.size == 0 || (line.ptr[0] != '#' && line.ptr[0] != '*' && line.ptr[0] != '<'))
		return false;
	return in_preamble || rt_str_starts(line, RT_STR("<!-- retake:")) ||
	       rt_markdown_heading(line, &heading);
}

static int
markdown_sniff(rt_str head)
{
	size_t at = 0;
	int headings = 0;
	rt_heading heading;
	rt_str line;

	head = rt_scan_unmark(head);
	if (rt_str_starts(head, RT_STR("<!-- retake:")))
		return 95;
	while (rt_markdown_line(head, &at, &line))
		headings += rt_markdown_heading(line, &heading);
	return headings > 1 ? 50 : headings > 0 ? 25 : 0;
}

RT_READER_FUNCTIONS(markdown, rt_markdown_read_to)

const rt_format rt_format_markdown = {
	.name = "markdown",
	.extension = ".md",
	.about = "Markdown for people to read: a heading for every entry",
	.sniff = markdown_sniff,
	.read = markdown_read,
	.stream = markdown_stream,
	.write = rt_markdown_write,
};
