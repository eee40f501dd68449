/* SPDX-License-Identifier: MIT
 *
 * Reading Markdown, line by line; in the lossless form from comment to comment, in a text that
 * is held as a whole. */
#include "formats/formats_extras.h"
#include "formats/formats_feed.h"
#include "formats/markdown_impl.h"

typedef struct reader {
	rt_build b;
	rt_walk w;
	rt_feed feed;
	rt_report *report;
	rt_buf mended;   /* what was read last, repaired */
	bool was_mended; /* and that was said */
	/* plain: the entry or preamble under way */
	rt_outline *outline;
	rt_heading heading; /* of the entry, but for its role */
	rt_buf role;
	bool in_entry, in_preamble;
	bool titled; /* the place for a title is past */
	rt_str take_name;
	rt_buf text; /* its lines, each with its line end */
	int64_t tip;
	bool any;    /* something that only a conversation has was seen */
	/* lossless */
	rt_str in;
	rt_lines lines;
	int64_t *nodes; /* by number; -1: not there */
	size_t node_room, node_count;
} reader;

/* Text as UTF-8. */
static rt_str
mend(reader *r, rt_str text)
{
	if (rt_utf8_valid_size(text) == text.size)
		return text;
	if (!r->was_mended)
		rt_report_add(r->report, RT_REMARK_REPAIRED, 0,
			      "bytes that are not UTF-8 became U+FFFD");
	r->was_mended = true;
	rt_buf_clear(&r->mended);
	rt_utf8_repair(&r->mended, text);
	if (r->mended.status != RT_OK)
		r->b.status = r->mended.status;
	return rt_buf_str(&r->mended);
}

static void
remark(reader *r, rt_remark_level level, const char *where, const char *what)
{
	rt_report_add(r->report, level, rt_scan_lines_of(&r->lines, where), "%s", what);
}

/* Plain */

static void
begin_plain(reader *r)
{
	r->outline = rt_build_discussion(&r->b);
	r->in_preamble = true;
	r->in_entry = r->titled = false;
	r->take_name = rt_str_at(NULL, 0);
	r->tip = -1;
	rt_buf_clear(&r->text);
}

/* The entry or the preamble under way is complete. */
static void
end_part(reader *r)
{
	rt_str text = rt_markdown_trim(rt_buf_str(&r->text));
	rt_node node;

	if (r->text.status != RT_OK || r->role.status != RT_OK)
		r->b.status = RT_NOMEM;
	if (r->in_preamble && text.size > 0 && r->outline != NULL)
		rt_build_field_string(&r->b, RT_STR(MARKDOWN_PREAMBLE), text);
	if (r->in_entry) {
		if (r->take_name.size == 0 && rt_feed_is_long(&r->feed)) {
			r->outline = rt_feed_piece(&r->feed);
			r->tip = -1;
		}
		memset(&node, 0, sizeof(node));
		node.parent = r->tip;
		node.role = rt_build_copy(&r->b, rt_buf_str(&r->role));
		node.has_ts = r->heading.has_ts;
		node.ts = r->heading.ts;
		node.muted = r->heading.muted;
		if (r->heading.purged && text.size == 0)
			node.body_format = RT_BODY_PURGED;
		rt_build_body_open(&r->b, text, false);
		r->tip = (int64_t)rt_build_node(&r->b, &node);
	}
	r->in_entry = r->in_preamble = false;
	rt_buf_clear(&r->text);
}

static void
end_plain(reader *r)
{
	int64_t *path;
	size_t count, i;

	end_part(r);
	if (r->outline == NULL || r->b.status != RT_OK)
		return;
	r->outline->has_head = true;
	r->outline->head = r->tip;
	if (r->take_name.size > 0) {
		count = rt_build_node_count(&r->b);
		path = rt_new_array(r->b.alloc, count + 1, sizeof(*path));
		if (path == NULL) {
			r->b.status = RT_NOMEM;
			return;
		}
		for (i = 0; i < count; i++)
			path[i] = (int64_t)i;
		rt_build_take(&r->b, r->take_name, rt_str_at(NULL, 0), path, count);
		rt_free(r->b.alloc, path);
	}
	r->outline = NULL;
}

/* One line of a name, copied. */
static rt_str
name_of(reader *r, rt_str text)
{
	rt_buf line;
	rt_str copy;

	rt_buf_init(&line, r->b.alloc, RT_BUF_UNLIMITED);
	rt_markdown_add_line(&line, text);
	if (line.status != RT_OK)
		r->b.status = line.status;
	copy = rt_build_copy(&r->b, rt_buf_str(&line));
	rt_buf_deinit(&line);
	return copy;
}

/* The title and the name of the take, before anything else. */
static bool
read_names(reader *r, rt_str line)
{
	rt_str plain = rt_str_trim(line);

	if (!r->in_preamble || r->text.size > 0 || plain.size == 0)
		return r->in_preamble && r->text.size == 0 && plain.size == 0;
	if (!r->titled && rt_str_starts(plain, RT_STR("# "))) {
		r->titled = true;
		r->outline->name = name_of(r, rt_str_at(plain.ptr + 2, plain.size - 2));
		return true;
	}
	r->titled = true;
	if (r->take_name.size == 0 && plain.size > 8 && rt_str_starts(plain, RT_STR("*Take: ")) &&
	    plain.ptr[plain.size - 1] == '*') {
		r->take_name = name_of(r, rt_str_at(plain.ptr + 7, plain.size - 8));
		return r->take_name.size > 0;
	}
	return false;
}

static void
add_text_line(reader *r, rt_str line)
{
	size_t slashes = 0;
	char first;

	while (slashes < line.size && line.ptr[slashes] == '\\')
		slashes++;
	first = slashes < line.size ? line.ptr[slashes] : ' ';
	if (slashes > 0 && (r->in_preamble ? first == '#' || first == '*' || first == '<'
					   : rt_markdown_needs_escape(line)))
		line = rt_str_at(line.ptr + 1, line.size - 1);
	rt_buf_add_str(&r->text, line);
	rt_buf_add_byte(&r->text, '\n');
}

static void
read_plain(reader *r)
{
	rt_str line, bare;
	rt_heading heading;

	begin_plain(r);
	while (r->b.status == RT_OK && rt_walk_line(&r->w, SIZE_MAX, &line) == RT_WALK_WHOLE) {
		line = mend(r, line);
		bare = line;

		if (bare.size > 0 && bare.ptr[bare.size - 1] == '\r')
			bare.size--;
		if (rt_str_is(bare, MARKDOWN_BREAK)) {
			/* the first one opens what is open already */
			if (!r->in_preamble || r->titled || r->text.size > 0 || r->any) {
				end_plain(r);
				rt_feed_next(&r->feed);
				begin_plain(r);
			}
			r->any = true;
		} else if (rt_markdown_heading(bare, &heading)) {
			r->any = true;
			end_part(r);
			r->heading = heading;
			rt_buf_clear(&r->role);
			rt_buf_add_str(&r->role, heading.role);
			r->in_entry = true;
			if (heading.rest.size > 0)
				add_text_line(r, heading.rest);
		} else if (!read_names(r, bare)) {
			add_text_line(r, line);
		}
	}
	end_plain(r);
}

/* Lossless */

/* Is this line a comment of ours? Its JSON. */
static bool
is_comment(rt_str line, rt_str *out_json)
{
	size_t open = strlen(MARKDOWN_OPEN), close = strlen(MARKDOWN_CLOSE);

	if (line.size > 0 && line.ptr[line.size - 1] == '\r')
		line.size--;
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

	while (at < in.size) {
		size_t start = at;

		if (!rt_markdown_line(in, &at, &line))
			break;
		if (is_comment(line, &json))
			return start;
	}
	return in.size;
}

/* The content of an entry whose comment ends at at: as many bytes as the comment says, if
 * an entry ends there; else (somebody has edited it) all up to the next comment, without
 * the blank lines around it. Sets *out_next to where the next comment is. */
static rt_str
content_at(reader *r, size_t at, uint64_t bytes, size_t *out_next)
{
	rt_str in = r->in, line, json, text;
	size_t start = at, end;

	if (rt_markdown_line(in, &start, &line) && rt_markdown_line(in, &start, &line) &&
	    line.size == 0 && start <= in.size && bytes <= in.size - start) {
		end = start + (size_t)bytes;
		if (in.size - end >= 2 && in.ptr[end] == '\n' && in.ptr[end + 1] == '\n') {
			size_t next = end + 2, after = next;

			if (next == in.size ||
			    (rt_markdown_line(in, &after, &line) && is_comment(line, &json))) {
				*out_next = next;
				return rt_str_at(in.ptr + start, (size_t)bytes);
			}
		}
	}
	*out_next = next_comment(in, at);
	text = rt_markdown_trim(rt_str_at(in.ptr + at, *out_next - at));
	start = 0;
	if (rt_markdown_line(text, &start, &line) && line.size > 0 && line.ptr[0] == '#') {
		if (start > text.size)
			start = text.size;
		text = rt_markdown_trim(rt_str_at(text.ptr + start, text.size - start));
	}
	remark(r, RT_REMARK_NOTE, in.ptr + (at < in.size ? at : in.size),
	       "an entry was edited by hand; its text is taken as it stands");
	return text;
}

static bool
number_node(reader *r, uint64_t number, int64_t node)
{
	size_t room = r->node_room == 0 ? 64 : r->node_room;
	int64_t *more;

	if (number >= r->in.size) /* an entry is longer than a byte */
		return false;
	while (room <= number)
		room *= 2;
	if (room > r->node_room) {
		more = rt_resize(r->b.alloc, r->nodes, room * sizeof(*more));
		if (more == NULL) {
			r->b.status = RT_NOMEM;
			return false;
		}
		r->nodes = more;
		r->node_room = room;
	}
	while (r->node_count <= number)
		r->nodes[r->node_count++] = -1;
	if (r->nodes[number] >= 0)
		return false;
	r->nodes[number] = node;
	return true;
}

static void
read_entry(reader *r, yyjson_val *object, const char *where, rt_str text)
{
	yyjson_val *content = rt_json_get(object, "content");
	uint64_t number = r->node_count;
	rt_node node;
	rt_buf array;

	memset(&node, 0, sizeof(node));
	node.parent = r->tip;
	rt_buf_init(&array, r->b.alloc, RT_BUF_UNLIMITED);
	if (yyjson_is_arr(content))
		rt_json_add_value(&array, content);
	rt_extras_read(&r->b, rt_json_get(object, "entry"),
		       yyjson_is_arr(content) ? rt_buf_str(&array) : text, yyjson_is_arr(content),
		       &node);
	if (array.status != RT_OK)
		r->b.status = array.status;
	node.id = rt_build_copy(&r->b, node.id);
	node.role = rt_build_copy(&r->b, node.role);
	node.kind = rt_build_copy(&r->b, node.kind);
	node.label = rt_build_copy(&r->b, node.label);
	(void)rt_json_u64(rt_json_get(object, "n"), &number);
	if (number < r->in.size && number < r->node_count && r->nodes[number] >= 0)
		remark(r, RT_REMARK_SKIPPED, where, "a second entry of the same number is passed over");
	else if (number >= r->in.size)
		remark(r, RT_REMARK_SKIPPED, where, "an entry's number is no number; passed over");
	else {
		r->tip = (int64_t)rt_build_node(&r->b, &node);
		(void)number_node(r, number, r->tip);
	}
	rt_buf_deinit(&array);
}

/* The discussion under way is complete: what its comment said. */
static void
end_discussion(reader *r, rt_json_doc *doc)
{
	yyjson_val *object, *project = NULL;
	uint64_t own = 0;

	if (doc == NULL || r->b.status != RT_OK)
		return;
	object = rt_json_root(doc);
	(void)rt_json_u64(rt_json_get(object, "own"), &own);
	if (own > r->node_count)
		own = r->node_count;
	rt_extras_read_discussion(&r->b, rt_json_get(object, "discussion"), r->nodes,
				  r->node_count, (size_t)own, r->outline, &project);
	if (project != NULL)
		rt_extras_read_project(&r->b, project, &r->feed.active, &r->feed.has_active);
}

static void
read_lossless(reader *r)
{
	rt_json_doc *discussion = NULL, *doc;
	size_t at = next_comment(r->in, 0);
	rt_str line, json;

	while (at < r->in.size && r->b.status == RT_OK) {
		const char *where = r->in.ptr + at;
		uint64_t bytes = 0;
		rt_status st;

		(void)rt_markdown_line(r->in, &at, &line);
		if (at > r->in.size)
			at = r->in.size;
		doc = NULL;
		st = is_comment(line, &json)
			     ? rt_json_read_repairing(r->b.alloc, json, &doc, NULL, NULL)
			     : RT_USAGE;
		if (st == RT_NOMEM)
			r->b.status = st;
		if (st != RT_OK) {
			remark(r, RT_REMARK_SKIPPED, where,
			       "a comment of Retake's is malformed; its entry is passed over");
			at = next_comment(r->in, at);
		} else if (yyjson_is_obj(rt_json_get(rt_json_root(doc), "discussion"))) {
			end_discussion(r, discussion);
			rt_feed_next(&r->feed);
			rt_json_free(discussion);
			discussion = doc;
			doc = NULL;
			r->outline = rt_build_discussion(&r->b);
			r->node_count = 0;
			r->tip = -1;
			at = next_comment(r->in, at);
		} else if (discussion != NULL &&
			   yyjson_is_obj(rt_json_get(rt_json_root(doc), "entry"))) {
			(void)rt_json_u64(rt_json_get(rt_json_root(doc), "bytes"), &bytes);
			line = content_at(r, at, bytes, &at);
			read_entry(r, rt_json_root(doc), where, line);
		} else {
			at = next_comment(r->in, at);
		}
		rt_json_free(doc);
	}
	end_discussion(r, discussion);
	rt_json_free(discussion);
}

static rt_status
read_to(const rt_alloc *alloc, const rt_input *in, const rt_feed_to *to, rt_report *report,
	rt_error *err)
{
	reader r;
	bool is_lossless;
	rt_status st;

	memset(&r, 0, sizeof(r));
	rt_build_init(&r.b, alloc, report);
	rt_walk_init(&r.w, alloc, in);
	rt_feed_init(&r.feed, &r.b, to);
	rt_buf_init(&r.text, alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&r.mended, alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&r.role, alloc, RT_BUF_UNLIMITED);
	r.report = report;
	rt_walk_unmark(&r.w);
	is_lossless = rt_str_is(rt_walk_ahead(&r.w, strlen(MARKDOWN_OPEN)), MARKDOWN_OPEN);
	if (is_lossless) {
		r.in = mend(&r, rt_walk_ahead(&r.w, SIZE_MAX));
		rt_scan_lines_init(&r.lines, r.in, 1);
		read_lossless(&r);
	} else {
		read_plain(&r);
	}
	st = rt_feed_status(&r.feed, &r.w, err);
	if (st == RT_OK && !r.any && !is_lossless)
		st = rt_fail_at(err, RT_USAGE, 0,
				"no conversation: no heading names a speaker, such as \"## User\"");
	if (st == RT_OK)
		st = rt_feed_end(&r.feed, &r.w, err);
	rt_free(alloc, r.nodes);
	rt_buf_deinit(&r.text);
	rt_buf_deinit(&r.mended);
	rt_buf_deinit(&r.role);
	rt_feed_deinit(&r.feed);
	rt_walk_deinit(&r.w);
	rt_build_deinit(&r.b);
	return st;
}

rt_status
rt_markdown_read(const rt_alloc *alloc, rt_str input, rt_outlines *out, rt_report *report,
		 rt_error *err)
{
	rt_input in = rt_input_of(&input);
	rt_feed_to to = {.whole = out};

	return read_to(alloc, &in, &to, report, err);
}

rt_status
rt_markdown_stream(const rt_alloc *alloc, const rt_input *in, rt_outlines_fn fn, void *ctx,
		   rt_report *report, rt_error *err)
{
	rt_feed_to to = {.fn = fn, .ctx = ctx};

	return read_to(alloc, in, &to, report, err);
}
