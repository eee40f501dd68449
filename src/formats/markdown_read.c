/* SPDX-License-Identifier: MIT
 *
 * Reading Markdown: the plain form line by line; the lossless one from comment to comment, in a
 * text that is kept in memory as a whole. */
#include "formats/formats.h"
#include "formats/markdown_impl.h"

/* ---- headings and lines ---- */

typedef struct usual_name {
	const char *name;
	const char *role; /* NULL: the role as written */
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

rt_str
rt_markdown_trim(rt_str text)
{
	size_t at = 0, from = 0;
	rt_str line;

	while (rt_scan_line(text, &at, &line)) {
		if (rt_str_trim(line).size > 0)
			break;
		from = at < text.size ? at : text.size;
	}
	text = rt_str_at(text.ptr == NULL ? "" : text.ptr + from, text.size - from);
	while (text.size > 0) {
		size_t start = text.size;

		while (start > 0 && text.ptr[start - 1] != '\n')
			start--;
		if (rt_str_trim(rt_str_at(text.ptr + start, text.size - start)).size > 0)
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

static bool
is_decoration(char c)
{
	return is_space(c) || c == '*' || c == '_' || c == '#';
}

rt_str
rt_markdown_clean_role(rt_str role)
{
	while (role.size > 0 && is_decoration(role.ptr[0]))
		role = rt_str_at(role.ptr + 1, role.size - 1);
	while (role.size > 0 &&
	       (is_decoration(role.ptr[role.size - 1]) || role.ptr[role.size - 1] == ':'))
		role.size--;
	return role;
}

/* The parts after the role, each preceded by a dot. */
static bool
read_parts(rt_str text, rt_heading *out)
{
	rt_str dot = RT_STR(MARKDOWN_DOT);

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

	text = rt_markdown_clean_role(text);
	open = rt_str_find(text, RT_STR(" ("), 0);
	if (open != SIZE_MAX && text.ptr[text.size - 1] == ')') {
		if (!rt_build_moment_str(rt_str_at(text.ptr + open + 2, text.size - open - 3),
					 false, &out->ts))
			return false;
		out->has_ts = true;
		text = rt_markdown_clean_role(rt_str_at(text.ptr, open));
	}
	if (text.size > 5 && rt_str_is(rt_str_at(text.ptr + text.size - 5, 5), " said"))
		text = rt_markdown_clean_role(rt_str_at(text.ptr, text.size - 5));
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
	dot = level == 2 ? rt_str_find(text, RT_STR(" " MARKDOWN_DOT), 0) : SIZE_MAX;
	if (dot == SIZE_MAX)
		return read_usual(text, out);
	out->role = rt_markdown_clean_role(rt_str_at(text.ptr, dot));
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

/* ---- the reader ---- */

typedef struct reader {
	rt_reader r;
	rt_buf *mended;      /* the last text, repaired */
	bool was_mended;     /* and the repair was reported */
	rt_outline *outline; /* the current discussion */
	int64_t tip;
	/* plain: the current entry or preamble */
	rt_heading heading; /* of the entry, except its role */
	rt_buf *role;
	rt_buf *text; /* its lines, each with its line end */
	bool in_entry, in_preamble;
	bool titled; /* the place for a title is past */
	rt_str take_name;
	bool any; /* a part was seen that only a conversation has */
	/* lossless */
	rt_str in;
	rt_items nodes; /* int64_t by number; -1: missing */
} reader;

/* Text as UTF-8. */
static rt_str
mend(reader *c, rt_str text)
{
	if (rt_utf8_valid_size(text) == text.size)
		return text;
	if (!c->was_mended)
		rt_report_add(c->r.report, RT_REMARK_REPAIRED, 0,
			      "bytes that are not UTF-8 were replaced with U+FFFD");
	c->was_mended = true;
	rt_buf_clear(c->mended);
	rt_utf8_repair(c->mended, text);
	return rt_scope_str(&c->r.b.s, c->mended);
}

/* ---- plain ---- */

static void
begin_plain(reader *c)
{
	c->outline = rt_build_discussion(&c->r.b);
	c->in_preamble = true;
	c->in_entry = c->titled = false;
	c->take_name = rt_str_at(NULL, 0);
	c->tip = -1;
	rt_buf_clear(c->text);
}

static void
end_entry(reader *c, rt_str text)
{
	rt_build *b = &c->r.b;
	rt_node node = {
		.has_ts = c->heading.has_ts, .ts = c->heading.ts, .muted = c->heading.muted};

	if (c->take_name.size == 0 && rt_reader_is_long(&c->r)) {
		c->outline = rt_reader_piece(&c->r);
		c->tip = -1;
	}
	node.parent = c->tip;
	node.role = rt_scope_str(&b->s, c->role);
	if (c->heading.purged && text.size == 0)
		node.body_format = RT_BODY_PURGED;
	rt_build_body_open(b, text, false);
	c->tip = (int64_t)rt_build_node(b, &node);
}

/* The current entry or preamble is complete. */
static void
end_part(reader *c)
{
	rt_str text = rt_markdown_trim(rt_scope_str(&c->r.b.s, c->text));

	if (c->in_preamble && text.size > 0 && c->outline != NULL)
		rt_build_field_string(&c->r.b, RT_STR(MARKDOWN_PREAMBLE), text);
	if (c->in_entry)
		end_entry(c, text);
	c->in_entry = c->in_preamble = false;
	rt_buf_clear(c->text);
}

static void
end_plain(reader *c)
{
	rt_build *b = &c->r.b;
	rt_scope s;
	int64_t *path;
	size_t count;

	end_part(c);
	if (c->outline == NULL || !rt_ok(&b->s))
		return;
	c->outline->has_head = true;
	c->outline->head = c->tip;
	c->outline = NULL;
	if (c->take_name.size == 0)
		return;
	count = rt_build_node_count(b);
	rt_scope_init(&s, b->alloc);
	path = rt_scope_array(&s, count, sizeof(*path));
	for (size_t i = 0; path != NULL && i < count; i++)
		path[i] = (int64_t)i;
	(void)rt_scope_note(&b->s, s.status);
	rt_build_take(b, c->take_name, rt_str_at(NULL, 0), path, count);
	rt_scope_deinit(&s);
}

/* One line of a name, copied. */
static rt_str
name_of(reader *c, rt_str text)
{
	rt_build *b = &c->r.b;

	rt_buf_clear(b->scratch);
	rt_markdown_add_line(b->scratch, text);
	return rt_build_copy(b, rt_scope_str(&b->s, b->scratch));
}

/* Is this line, before anything else, a title, the name of the take, or blank? */
static bool
read_names(reader *c, rt_str line)
{
	rt_str plain = rt_str_trim(line);

	if (!c->in_preamble || c->text->size > 0)
		return false;
	if (plain.size == 0)
		return true;
	if (!c->titled && rt_str_starts(plain, RT_STR("# "))) {
		c->titled = true;
		c->outline->name = name_of(c, rt_str_at(plain.ptr + 2, plain.size - 2));
		return true;
	}
	c->titled = true;
	if (c->take_name.size > 0 || plain.size <= 8 || !rt_str_starts(plain, RT_STR("*Take: ")) ||
	    plain.ptr[plain.size - 1] != '*')
		return false;
	c->take_name = name_of(c, rt_str_at(plain.ptr + 7, plain.size - 8));
	return c->take_name.size > 0;
}

static void
add_text_line(reader *c, rt_str line)
{
	if (line.size > 0 && line.ptr[0] == '\\' && rt_markdown_needs_escape(line, c->in_preamble))
		line = rt_str_at(line.ptr + 1, line.size - 1);
	rt_buf_add_str(c->text, line);
	rt_buf_add_byte(c->text, '\n');
}

static rt_str
without_return(rt_str line)
{
	if (line.size > 0 && line.ptr[line.size - 1] == '\r')
		line.size--;
	return line;
}

static void
read_plain(reader *c)
{
	rt_str line;
	rt_heading heading;

	begin_plain(c);
	while (rt_reader_ok(&c->r) && rt_walk_line(&c->r.w, SIZE_MAX, &line) == RT_WALK_WHOLE) {
		rt_str bare;

		line = mend(c, line);
		bare = without_return(line);
		if (rt_str_is(bare, MARKDOWN_BREAK)) {
			/* the first one opens the discussion that is open already */
			if (!c->in_preamble || c->titled || c->text->size > 0 || c->any) {
				end_plain(c);
				rt_reader_next(&c->r);
				begin_plain(c);
			}
			c->any = true;
		} else if (rt_markdown_heading(bare, &heading)) {
			c->any = true;
			end_part(c);
			c->heading = heading;
			rt_buf_clear(c->role);
			rt_buf_add_str(c->role, heading.role);
			c->in_entry = true;
			if (heading.rest.size > 0)
				add_text_line(c, heading.rest);
		} else if (!read_names(c, bare)) {
			add_text_line(c, line);
		}
	}
	end_plain(c);
	if (!c->any)
		rt_reader_refuse(
			&c->r, 0,
			"no conversation: no heading names a speaker, such as \"## User\"");
}

/* ---- lossless ---- */

static void
remark(reader *c, rt_remark_level level, size_t at, const char *what)
{
	rt_reader_remark(&c->r, level, c->in.ptr + (at < c->in.size ? at : c->in.size), "%s", what);
}

/* Is this line a comment of Retake's? Its JSON. */
static bool
is_comment(rt_str line, rt_str *out_json)
{
	size_t open = strlen(MARKDOWN_OPEN), close = strlen(MARKDOWN_CLOSE);

	line = without_return(line);
	if (line.size < open + close + 2 || !rt_str_starts(line, RT_STR(MARKDOWN_OPEN)) ||
	    memcmp(line.ptr + line.size - close, MARKDOWN_CLOSE, close) != 0)
		return false;
	*out_json = rt_str_at(line.ptr + open, line.size - open - close);
	return out_json->ptr[0] == '{' && out_json->ptr[out_json->size - 1] == '}';
}

/* Position of the next comment's line at or after at, which begins a line; the size of
 * the input when there is none. */
static size_t
next_comment(rt_str in, size_t at)
{
	rt_str line, json;

	for (size_t start = at; rt_scan_line(in, &at, &line); start = at)
		if (is_comment(line, &json))
			return start;
	return in.size;
}

/* Does the content of an entry, whose comment ends at `at`, have as many bytes as the comment
 * says? */
static bool
has_size(rt_str in, size_t at, uint64_t bytes, rt_str *out, size_t *out_next)
{
	rt_str line, json;
	size_t after;

	if (!rt_scan_line(in, &at, &line) || !rt_scan_line(in, &at, &line) || line.size > 0 ||
	    at > in.size || bytes > in.size - at)
		return false;
	*out = rt_str_at(in.ptr + at, (size_t)bytes);
	at += (size_t)bytes;
	if (in.size - at < 2 || in.ptr[at] != '\n' || in.ptr[at + 1] != '\n')
		return false;
	*out_next = after = at + 2;
	return after == in.size || (rt_scan_line(in, &after, &line) && is_comment(line, &json));
}

/* The content of an entry, whose comment ends at `at`: as many bytes as the comment counts, if
 * an entry ends there; else (the file was edited) everything up to the next comment, without
 * the heading and the blank lines around it. Sets *out_next to where the next comment is. */
static rt_str
content_at(reader *c, size_t at, uint64_t bytes, size_t *out_next)
{
	rt_str line, text;
	size_t start = 0;

	if (has_size(c->in, at, bytes, &text, out_next))
		return text;
	*out_next = next_comment(c->in, at);
	text = rt_markdown_trim(rt_str_at(c->in.ptr + at, *out_next - at));
	if (rt_scan_line(text, &start, &line) && line.size > 0 && line.ptr[0] == '#') {
		if (start > text.size)
			start = text.size;
		text = rt_markdown_trim(rt_str_at(text.ptr + start, text.size - start));
	}
	remark(c, RT_REMARK_NOTE, at,
	       "an entry was edited in the file; its text is used unchanged");
	return text;
}

static void
read_entry(reader *c, yyjson_val *object, size_t where, rt_str text)
{
	rt_build *b = &c->r.b;
	yyjson_val *content = rt_json_get(object, "content");
	uint64_t number = c->nodes.count;
	rt_node node = {.parent = c->tip};
	int64_t *numbered;

	if (yyjson_is_arr(content))
		rt_build_body_open_value(b, content);
	else
		rt_build_body_open(b, text, false);
	rt_extras_read(b, rt_json_get(object, "entry"), &node);
	(void)rt_json_u64(rt_json_get(object, "n"), &number);
	if (number >= c->in.size) { /* an entry is longer than a byte */
		remark(c, RT_REMARK_SKIPPED, where, "skipped an entry number that is not a number");
		return;
	}
	while (c->nodes.count <= number) {
		numbered = rt_items_push(&b->s, &c->nodes, sizeof(*numbered));
		if (numbered == NULL)
			return;
		*numbered = -1;
	}
	numbered = (int64_t *)c->nodes.items + number;
	if (*numbered >= 0)
		remark(c, RT_REMARK_SKIPPED, where,
		       "skipped a second entry with the same number");
	else
		*numbered = c->tip = (int64_t)rt_build_node(b, &node);
}

/* The current discussion is complete: apply its comment. */
static void
end_discussion(reader *c, rt_json_doc *doc)
{
	yyjson_val *object = doc == NULL ? NULL : rt_json_root(doc);
	uint64_t own = 0;

	if (object == NULL || !rt_ok(&c->r.b.s))
		return;
	(void)rt_json_u64(rt_json_get(object, "own"), &own);
	if (own > c->nodes.count)
		own = c->nodes.count;
	rt_extras_read_discussion(&c->r, rt_json_get(object, "discussion"), c->nodes.items,
				  c->nodes.count, (size_t)own, c->outline);
}

static void
read_lossless(reader *c)
{
	rt_build *b = &c->r.b;
	rt_json_doc *discussion = NULL;
	size_t at = next_comment(c->in, 0);
	rt_str line, json;

	while (at < c->in.size && rt_ok(&b->s)) {
		size_t where = at;
		uint64_t bytes = 0;
		yyjson_val *object;

		(void)rt_scan_line(c->in, &at, &line);
		if (at > c->in.size)
			at = c->in.size;
		object = is_comment(line, &json) ? rt_build_parse(b, json, NULL, NULL) : NULL;
		if (discussion != NULL && yyjson_is_obj(rt_json_get(object, "entry")) &&
		    !yyjson_is_obj(rt_json_get(object, "discussion"))) {
			(void)rt_json_u64(rt_json_get(object, "bytes"), &bytes);
			line = content_at(c, at, bytes, &at);
			read_entry(c, object, where, line);
			continue;
		}
		if (object == NULL) {
			remark(c, RT_REMARK_SKIPPED, where,
			       "a comment by Retake is malformed; skipped its entry");
		} else if (yyjson_is_obj(rt_json_get(object, "discussion"))) {
			end_discussion(c, discussion);
			rt_reader_next(&c->r);
			rt_json_free(discussion);
			discussion = b->doc; /* taken over */
			b->doc = NULL;
			c->outline = rt_build_discussion(b);
			c->nodes.count = 0;
			c->tip = -1;
		}
		at = next_comment(c->in, at);
	}
	end_discussion(c, discussion);
	rt_json_free(discussion);
}

static rt_status
markdown_to(const rt_alloc *alloc, const rt_input *in, const rt_reader_to *to, rt_report *report,
	    rt_error *err)
{
	reader c = {.was_mended = false};
	rt_walk *w = &c.r.w;

	rt_reader_init(&c.r, alloc, in, to, report);
	c.mended = rt_scope_buf(&c.r.b.s);
	c.role = rt_scope_buf(&c.r.b.s);
	c.text = rt_scope_buf(&c.r.b.s);
	rt_walk_unmark(w);
	if (rt_str_is(rt_walk_ahead(w, strlen(MARKDOWN_OPEN)), MARKDOWN_OPEN)) {
		c.in = mend(&c, rt_walk_ahead(w, SIZE_MAX));
		rt_reader_hold(&c.r, c.in, 1);
		read_lossless(&c);
	} else {
		read_plain(&c);
	}
	return rt_reader_end(&c.r, err);
}
RT_READER_FUNCTIONS(markdown, markdown_to)

static int
markdown_sniff(rt_str head)
{
	size_t at = 0, own = 0, users = 0, models = 0, others = 0;
	rt_heading heading;
	rt_str line;

	head = rt_scan_unmark(head);
	if (rt_str_starts(head, RT_STR("<!-- retake:")))
		return 95;
	while (rt_scan_line(head, &at, &line)) {
		if (!rt_markdown_heading(line, &heading)) {
			own += rt_str_starts(line, RT_STR("*Take: "));
			others += rt_str_starts(line, RT_STR("## ")) ||
				  rt_str_starts(line, RT_STR("### "));
			continue;
		}
		own += heading.has_ts;
		users += rt_str_eq_nocase(heading.role, RT_STR("user"));
		models += rt_str_eq_nocase(heading.role, RT_STR("ai")) ||
			  rt_str_eq_nocase(heading.role, RT_STR("assistant"));
	}
	/* Notes have such headings, too: "## Model", "## User". In a transcript both occur repeatedly, or
	 * there are no others. */
	if (own > 0)
		return 50;
	if (users == 0 || models == 0)
		return 0;
	return (users > 1 && models > 1) || others == 0 ? 50 : 0;
}

const rt_format rt_format_markdown = {
	.name = "markdown",
	.extension = ".md",
	.about = "readable Markdown with a heading for every entry",
	.media_type = "text/markdown; charset=utf-8",
	.sniff = markdown_sniff,
	.read = markdown_read,
	.stream = markdown_stream,
	.write = rt_markdown_write,
	.whole_if_lossless = true,
};
