/* SPDX-License-Identifier: MIT
 *
 * Reading OpenAI chat messages. A file is walked through record by record; a record is a
 * conversation or a message, and is held as text. Each message is parsed alone, so a broken
 * one is passed over alone.
 *
 * A record longer than RECORD_MAX is held without its list of messages, which is read from
 * the file one by one. A conversation of many messages is handed over in pieces, unless it
 * has more than one take. */
#include "formats/formats_extras.h"
#include "formats/formats_feed.h"
#include "formats/openai_impl.h"

enum {
	RECORD_MAX = 1 << 20,
	WHOLE_MAX = 256 << 10 /* a record up to this size is handed over in one piece */
};

typedef struct reader {
	rt_build b;
	rt_walk w;
	rt_feed feed;
	rt_lines lines;       /* of the text in hand */
	rt_report *report;
	rt_outline *outline;  /* the conversation under way */
	bool in_pieces;       /* it may be handed over in pieces */
	rt_outline *loose;    /* messages that stand one a line without a conversation */
	int64_t loose_tip;
	rt_buf record;        /* one without its messages */
	rt_walk_mark far;     /* where those are */
	bool has_far;
	int64_t *numbered;    /* node of each message of a lossless conversation */
	size_t numbered_count, numbered_room;
} reader;

static void
remark(reader *r, rt_remark_level level, const char *where, const char *what)
{
	rt_report_add(r->report, level, rt_scan_lines_of(&r->lines, where), "%s", what);
}

static rt_buf *
further_field(reader *r, rt_str key)
{
	rt_buf *buf, name;

	if (!rt_openai_is_ours(key) && !rt_str_starts(key, RT_STR(OPENAI_PREFIX)) &&
	    !rt_str_is(key, "role") && !rt_str_is(key, "content"))
		return rt_build_body_field(&r->b, key);
	rt_buf_init(&name, r->b.alloc, RT_BUF_UNLIMITED);
	rt_buf_add_c(&name, OPENAI_PREFIX);
	rt_buf_add_str(&name, key);
	if (name.status != RT_OK)
		r->b.status = name.status;
	buf = rt_build_body_field(&r->b, rt_buf_str(&name));
	rt_buf_deinit(&name);
	return buf;
}

static bool
has_calls(yyjson_val *message)
{
	return rt_json_get(message, "tool_calls") != NULL ||
	       rt_json_get(message, "function_call") != NULL;
}

/* A message of another program. Null as the content of a message with calls is the usual
 * thing and needs no mark; what else is odd about the content is kept beside it. */
static void
read_foreign(reader *r, rt_str raw, yyjson_val *message, size_t repaired, rt_node *node,
	     rt_buf *array)
{
	yyjson_val *content = rt_json_get(message, "content"), *key, *value, *role;
	size_t i, max;

	role = rt_json_get(message, "role");
	if (yyjson_is_str(role))
		node->role = rt_json_str(role);
	if (yyjson_is_arr(content)) {
		rt_json_add_value(array, content);
		rt_build_body_open(&r->b, rt_buf_str(array), true);
	} else {
		rt_build_body_open(&r->b,
				   yyjson_is_str(content) ? rt_json_str(content)
							  : rt_str_at(NULL, 0),
				   false);
	}
	yyjson_obj_foreach(message, i, max, key, value)
	{
		if (rt_str_is(rt_json_str(key), "content") ||
		    (rt_str_is(rt_json_str(key), "role") && yyjson_is_str(value)))
			continue;
		rt_json_add_value(further_field(r, rt_json_str(key)), value);
	}
	if (content != NULL && !yyjson_is_arr(content) &&
	    (yyjson_is_str(content) ? yyjson_get_len(content) == 0 && has_calls(message)
				    : !(yyjson_is_null(content) && has_calls(message))))
		rt_json_add_value(rt_build_body_field(&r->b, RT_STR(RT_BUILD_BAD_CONTENT)),
				  content);
	if (repaired > 0) {
		remark(r, RT_REMARK_REPAIRED, raw.ptr, "text that is not Unicode got U+FFFD");
		rt_build_body_raw(&r->b, raw);
	}
}

/* The node of a message; -1: passed over, or out of memory. */
static int64_t
read_message(reader *r, rt_str raw, int64_t parent)
{
	rt_json_doc *doc = NULL;
	yyjson_val *message, *extras, *content;
	rt_node node;
	rt_buf array;
	rt_error fault;
	size_t repaired = 0;
	int64_t at = -1;
	rt_status st = rt_json_read_repairing(r->b.alloc, raw, &doc, &repaired, &fault);

	if (st == RT_NOMEM)
		r->b.status = st;
	if (st != RT_OK) {
		rt_report_add(r->report, RT_REMARK_SKIPPED, rt_scan_lines_of(&r->lines, raw.ptr),
			      "a message is passed over: %.150s", fault.text);
		return -1;
	}
	message = rt_json_root(doc);
	if (!yyjson_is_obj(message)) {
		remark(r, RT_REMARK_SKIPPED, raw.ptr,
		       "a message that is not an object is passed over");
		rt_json_free(doc);
		return -1;
	}
	memset(&node, 0, sizeof(node));
	node.parent = parent;
	rt_buf_init(&array, r->b.alloc, RT_BUF_UNLIMITED);
	extras = rt_json_get(message, "retake");
	if (yyjson_is_obj(extras)) {
		content = rt_json_get(message, "content");
		if (yyjson_is_arr(content))
			rt_json_add_value(&array, content);
		rt_extras_read(&r->b, extras,
			       yyjson_is_arr(content)	? rt_buf_str(&array)
			       : yyjson_is_str(content) ? rt_json_str(content)
							: rt_str_at(NULL, 0),
			       yyjson_is_arr(content), &node);
	} else {
		read_foreign(r, raw, message, repaired, &node, &array);
	}
	if (array.status != RT_OK)
		r->b.status = array.status;
	node.id = rt_build_copy(&r->b, node.id);
	node.role = rt_build_copy(&r->b, node.role);
	node.kind = rt_build_copy(&r->b, node.kind);
	node.label = rt_build_copy(&r->b, node.label);
	at = (int64_t)rt_build_node(&r->b, &node);
	rt_buf_deinit(&array);
	rt_json_free(doc);
	return r->b.status == RT_OK ? at : -1;
}

static bool
number_node(reader *r, int64_t node)
{
	if (r->numbered_count == r->numbered_room) {
		size_t room = r->numbered_room == 0 ? 64 : r->numbered_room * 2;
		int64_t *more = rt_resize(r->b.alloc, r->numbered, room * sizeof(*more));

		if (more == NULL) {
			r->b.status = RT_NOMEM;
			return false;
		}
		r->numbered = more;
		r->numbered_room = room;
	}
	r->numbered[r->numbered_count++] = node;
	return true;
}

/* One of the messages of a conversation; false: out of memory. */
static bool
add_message(reader *r, rt_str raw, int64_t *parent)
{
	int64_t node;

	if (r->in_pieces && rt_feed_is_long(&r->feed)) {
		r->outline = rt_feed_piece(&r->feed);
		*parent = -1;
	}
	node = r->b.status == RT_OK ? read_message(r, raw, *parent) : -1;
	if (r->b.status != RT_OK || (!r->in_pieces && !number_node(r, node)))
		return false;
	if (node >= 0)
		*parent = node;
	return true;
}

static const char early[] = "the messages end early: malformed JSON";

/* The messages of an array, one after the other; gives the last one's node, or parent. */
static int64_t
read_messages(reader *r, rt_str raw, int64_t parent)
{
	rt_members m;
	rt_str key, value;

	if (!rt_members_open(&m, raw))
		return parent;
	while (r->b.status == RT_OK && rt_members_next(&m, &key, &value))
		if (!add_message(r, value, &parent))
			break;
	if (m.bad)
		remark(r, RT_REMARK_SKIPPED, m.in.ptr + m.at, early);
	return parent;
}

/* The same where they are not held. The walk returns to where it was. */
static int64_t
read_far_messages(reader *r, int64_t parent)
{
	rt_walk_mark after = rt_walk_here(&r->w), start;
	rt_lines lines = r->lines;
	rt_walk_level level;
	rt_str key, value;

	rt_walk_seek(&r->w, r->far);
	if (rt_walk_open(&r->w, &level))
		while (r->b.status == RT_OK && rt_walk_next(&r->w, &level, &key)) {
			start = rt_walk_here(&r->w);
			if (rt_walk_value(&r->w, &level, SIZE_MAX, &value) != RT_WALK_WHOLE)
				break;
			rt_scan_lines_init(&r->lines, value, start.line);
			if (!add_message(r, value, &parent))
				break;
		}
	if (level.bad && r->w.status == RT_OK)
		rt_report_add(r->report, RT_REMARK_SKIPPED, level.fault.line, "%s", early);
	rt_walk_seek(&r->w, after);
	r->lines = lines;
	return parent;
}

/* The parts of a conversation that have a meaning, as text. */
typedef struct parts {
	rt_str messages, preferred, other, choices, extras, more;
	bool bad;
} parts;

/* Look through a conversation; with fields the other members become fields of the
 * discussion under way. descend: look into body and input too, one level. */
static void
look(reader *r, rt_str raw, bool fields, bool descend, parts *p)
{
	rt_members m;
	rt_str key, value, name, json;

	if (!rt_members_open(&m, raw) || m.close != '}')
		return;
	while (r->b.status == RT_OK && rt_members_next(&m, &key, &value)) {
		char first = value.ptr[0];

		if (rt_scan_key_is(key, "messages") && first == '[')
			p->messages = value;
		else if (rt_scan_key_is(key, "preferred_output") && first == '[')
			p->preferred = value;
		else if (rt_scan_key_is(key, "non_preferred_output") && first == '[')
			p->other = value;
		else if (rt_scan_key_is(key, "choices") && first == '[')
			p->choices = value;
		else if (rt_scan_key_is(key, "retake") && first == '{')
			p->extras = value;
		else if (rt_scan_key_is(key, "retake_more") && first == '[')
			p->more = value;
		else if (rt_scan_key_is(key, "input") && first == '[' &&
			 (p->messages.size == 0 || p->messages.ptr == value.ptr))
			p->messages = value;
		else if (descend && first == '{' &&
			 (rt_scan_key_is(key, "body") || rt_scan_key_is(key, "input")))
			look(r, value, fields, false, p);
		else if (!fields)
			continue;
		else if (!rt_build_text(&r->b, key, &name) ||
			 !rt_build_json(&r->b, value, false, &json))
			remark(r, RT_REMARK_SKIPPED, key.ptr,
			       "a field that is not JSON is passed over");
		else if (rt_openai_is_setting(name) && (first == '-' || (first >= '0' && first <= '9')))
			rt_build_field_in(&r->b, false, "setting.", name, json);
		else
			rt_build_field_in(&r->b, false, OPENAI_PREFIX, name, json);
	}
	if (m.bad && fields)
		remark(r, RT_REMARK_SKIPPED, m.in.ptr + m.at,
		       "a conversation is malformed; the rest of it is passed over");
	p->bad = p->bad || m.bad;
}

static void
read_choices(reader *r, rt_str raw, int64_t parent, rt_outline *outline)
{
	rt_members m, choice;
	rt_str key, value, member_key, member;
	bool first = true;

	if (!rt_members_open(&m, raw))
		return;
	while (r->b.status == RT_OK && rt_members_next(&m, &key, &value)) {
		if (!rt_members_open(&choice, value) || choice.close != '}')
			continue;
		while (r->b.status == RT_OK && rt_members_next(&choice, &member_key, &member)) {
			int64_t node;

			if (!rt_scan_key_is(member_key, "message"))
				continue;
			node = read_message(r, member, parent);
			if (node >= 0 && first) {
				outline->head = node;
				first = false;
			}
		}
	}
}

static void
read_extras(reader *r, const parts *p, rt_outline *outline)
{
	rt_json_doc *doc = NULL;
	yyjson_val *project = NULL;
	size_t own = r->numbered_count;
	rt_status st = rt_json_read_repairing(r->b.alloc, p->extras, &doc, NULL, NULL);

	if (st != RT_OK) {
		if (st == RT_NOMEM)
			r->b.status = st;
		else
			remark(r, RT_REMARK_SKIPPED, p->extras.ptr,
			       "what Retake wrote beside a conversation is malformed; passed over");
		return;
	}
	if (p->more.size > 0)
		(void)read_messages(r, p->more, -1);
	rt_extras_read_discussion(&r->b, rt_json_root(doc), r->numbered, r->numbered_count, own,
				  outline, &project);
	if (project != NULL)
		rt_extras_read_project(&r->b, project, &r->feed.active, &r->feed.has_active);
	rt_json_free(doc);
}

static void
read_title(reader *r, rt_str raw, rt_outline *outline)
{
	rt_members m;
	rt_str key, value, title;

	if (rt_members_open(&m, raw))
		while (rt_members_next(&m, &key, &value))
			if (rt_scan_key_is(key, "title") && rt_build_text(&r->b, value, &title))
				outline->name = title;
}

/* What else a conversation says: its title, and fields of other programs. */
static void
read_further(reader *r, rt_str raw, bool descend, parts *p)
{
	if (raw.ptr[0] != '{')
		return;
	look(r, raw, true, descend, p);
	read_title(r, raw, r->outline);
}

/* False: raw is no conversation. */
static bool
read_conversation(reader *r, rt_str raw)
{
	int64_t tip;
	parts p;
	bool descend = false;

	memset(&p, 0, sizeof(p));
	r->numbered_count = 0;
	if (raw.ptr[0] == '[') {
		p.messages = raw;
	} else {
		look(r, raw, false, false, &p);
		descend = p.messages.size == 0 && p.choices.size == 0;
		if (descend)
			look(r, raw, false, true, &p);
		if (p.messages.size == 0 && p.choices.size == 0 && p.preferred.size == 0)
			return false;
	}
	r->loose = NULL;
	r->outline = rt_build_discussion(&r->b);
	if (r->outline == NULL)
		return true;
	r->in_pieces = rt_feed_is_batched(&r->feed) && (r->has_far || raw.size > WHOLE_MAX) &&
		       p.choices.size == 0 && p.preferred.size == 0 && p.other.size == 0 &&
		       p.extras.size == 0;
	if (r->in_pieces) /* all of them need the name */
		read_further(r, raw, descend, &p);
	tip = r->has_far ? read_far_messages(r, -1) : read_messages(r, p.messages, -1);
	if (r->outline == NULL || r->b.status != RT_OK)
		return true;
	r->outline->has_head = !r->in_pieces || rt_build_node_count(&r->b) > 0;
	r->outline->head = tip;
	if (p.extras.size > 0) {
		read_extras(r, &p, r->outline);
		return true;
	}
	if (p.choices.size > 0)
		read_choices(r, p.choices, tip, r->outline);
	if (p.preferred.size > 0)
		r->outline->head = read_messages(r, p.preferred, tip);
	if (p.other.size > 0)
		(void)read_messages(r, p.other, tip);
	if (!r->in_pieces)
		read_further(r, raw, descend, &p);
	r->in_pieces = false;
	return true;
}

/* A message or a conversation? What is known of one of them comes first in it. */
static bool
is_message(rt_str raw)
{
	rt_members m;
	rt_str key, value;

	if (!rt_members_open(&m, raw) || m.close != '}')
		return false;
	while (rt_members_next(&m, &key, &value)) {
		if (rt_scan_key_is(key, "role"))
			return true;
		if (rt_scan_key_is(key, "messages") && value.ptr[0] == '[')
			return false;
	}
	return false;
}

/* A message that stands by itself continues the discussion of the one before it. */
static void
read_loose(reader *r, rt_str raw)
{
	int64_t node;

	if (r->loose == NULL) {
		r->loose = rt_build_discussion(&r->b);
		r->loose_tip = -1;
	} else if (rt_feed_is_long(&r->feed)) {
		r->loose = rt_feed_piece(&r->feed);
		r->loose_tip = -1;
	}
	if (r->loose == NULL)
		return;
	node = read_message(r, raw, r->loose_tip);
	if (node >= 0)
		r->loose_tip = node;
	r->loose->has_head = r->loose_tip >= 0 || !r->feed.in_piece;
	r->loose->head = r->loose_tip;
}

/* One record of a file of many. */
static bool
read_record(reader *r, rt_str raw)
{
	bool is_one = false;

	if (raw.ptr[0] != '{' && raw.ptr[0] != '[')
		return false;
	if (r->has_far || !is_message(raw)) {
		is_one = read_conversation(r, raw);
		r->in_pieces = r->has_far = false;
		if (r->loose == NULL)
			rt_feed_next(&r->feed);
		return is_one;
	}
	read_loose(r, raw);
	return true;
}

/* The record that the walk is at is too long for memory: copy it without its messages. */
static bool
cut_record(reader *r, rt_walk_level *in, rt_str *out_raw)
{
	rt_walk_mark start = rt_walk_here(&r->w), at;
	uint64_t line = start.line; /* of the copy's end: lines are counted in it */
	rt_walk_level level;
	rt_str key, value;

	rt_buf_clear(&r->record);
	r->far = start;
	if (rt_walk_peek(&r->w) == '[') {
		r->has_far = rt_walk_skip(&r->w, in);
		*out_raw = RT_STR("[]");
		return r->has_far;
	}
	rt_buf_add_byte(&r->record, '{');
	if (rt_walk_open(&r->w, &level))
		while (rt_walk_next(&r->w, &level, &key)) {
			bool is_list = rt_scan_key_is(key, "messages") &&
				       rt_walk_peek(&r->w) == '[';

			rt_json_add_comma(&r->record);
			rt_buf_add_str(&r->record, key);
			rt_buf_add_byte(&r->record, ':');
			at = rt_walk_here(&r->w);
			for (; line < at.line; line++)
				rt_buf_add_byte(&r->record, '\n');
			value = RT_STR("[]");
			if (is_list ? !rt_walk_skip(&r->w, &level)
				    : rt_walk_value(&r->w, &level, SIZE_MAX, &value) !=
					      RT_WALK_WHOLE)
				break;
			rt_buf_add_str(&r->record, value);
			if (is_list) {
				r->far = at;
				r->has_far = true;
			} else {
				line = rt_walk_here(&r->w).line;
			}
		}
	if (!level.bad) /* else the copy is as malformed */
		rt_buf_add_byte(&r->record, '}');
	if (r->record.status != RT_OK && r->b.status == RT_OK)
		r->b.status = r->record.status;
	*out_raw = rt_buf_str(&r->record);
	if (r->w.status != RT_OK || r->b.status != RT_OK)
		return false;
	rt_walk_seek(&r->w, start);
	return rt_walk_skip(&r->w, in);
}

/* The text of the record that the walk is at, and whether it is one JSON value. */
static bool
take_record(reader *r, rt_walk_level *in, rt_str *out_raw)
{
	uint64_t line = rt_walk_here(&r->w).line;
	rt_walked walked;

	*out_raw = RT_STR("");
	r->has_far = false;
	walked = rt_walk_value(&r->w, in, RECORD_MAX, out_raw);
	if (walked == RT_WALK_LONG && (rt_walk_peek(&r->w) == '{' || rt_walk_peek(&r->w) == '['))
		walked = cut_record(r, in, out_raw) ? RT_WALK_WHOLE : RT_WALK_CUT;
	else if (walked == RT_WALK_LONG)
		walked = rt_walk_value(&r->w, in, SIZE_MAX, out_raw);
	rt_scan_lines_init(&r->lines, *out_raw, line);
	return walked == RT_WALK_WHOLE;
}

static void
skipped(reader *r, uint64_t line, const char *what)
{
	rt_report_add(r->report, RT_REMARK_SKIPPED, line, "%s", what);
}

/* A line that is too long to be held. False: it is not one JSON value. */
static bool
read_long_line(reader *r, bool *out_is_record)
{
	rt_walk_mark start, end;
	rt_str raw;

	(void)rt_walk_blank(&r->w);
	start = rt_walk_here(&r->w);
	if (!rt_walk_skip(&r->w, NULL))
		return false;
	end = rt_walk_here(&r->w);
	if (end.line != start.line || (rt_walk_blank(&r->w) && rt_walk_here(&r->w).line == end.line))
		return false;
	rt_walk_seek(&r->w, start);
	if (!take_record(r, NULL, &raw))
		return false;
	*out_is_record = read_record(r, raw);
	return true;
}

static void
read_lines(reader *r)
{
	static const char not_json[] = "a line that is not one JSON value is passed over",
			  no_messages[] = "a line without messages is passed over";
	rt_walk_mark start;
	rt_walked walked;
	bool is_record = false;
	rt_str line;

	while (r->b.status == RT_OK) {
		start = rt_walk_here(&r->w);
		walked = rt_walk_line(&r->w, RECORD_MAX, &line);
		if (walked == RT_WALK_CUT)
			break;
		if (walked == RT_WALK_LONG) {
			is_record = false;
			if (!read_long_line(r, &is_record)) {
				skipped(r, start.line, not_json);
				rt_walk_seek(&r->w, start);
			} else if (!is_record) {
				skipped(r, start.line, no_messages);
			}
			rt_walk_skip_line(&r->w);
			continue;
		}
		line = rt_str_trim(line);
		if (line.size == 0)
			continue;
		rt_scan_lines_init(&r->lines, line, start.line);
		r->has_far = false;
		if (rt_scan_value(line, 0) != line.size)
			skipped(r, start.line, not_json);
		else if (!read_record(r, line))
			skipped(r, start.line, no_messages);
	}
}

/* An array: of messages, or of conversations, as its first object tells. False: neither. */
static bool
read_array(reader *r)
{
	static const char no_messages[] = "a record without messages is passed over";
	rt_walk_mark start = rt_walk_here(&r->w), at;
	rt_walk_level level;
	rt_str key, value, first = {NULL, 0};
	bool any = false, is_conversation;
	int c;

	if (rt_walk_open(&r->w, &level))
		while (first.size == 0 && rt_walk_next(&r->w, &level, &key)) {
			any = true;
			c = rt_walk_peek(&r->w);
			if (c != '{' && c != '[')
				(void)rt_walk_skip(&r->w, &level);
			else if (take_record(r, &level, &value))
				first = value;
		}
	is_conversation = first.size == 0 ? !any && !level.bad : !r->has_far && is_message(first);
	rt_walk_seek(&r->w, start);
	if (is_conversation) {
		/* it need not end, so its text is not asked for */
		r->far = start;
		r->has_far = true;
		return read_record(r, RT_STR("[]"));
	}
	any = false;
	if (first.size > 0 && rt_walk_open(&r->w, &level))
		while (r->b.status == RT_OK && rt_walk_next(&r->w, &level, &key)) {
			at = rt_walk_here(&r->w);
			if (!take_record(r, &level, &value))
				break;
			if (read_record(r, value))
				any = true;
			else
				skipped(r, at.line, no_messages);
		}
	if (any && level.bad && r->w.status == RT_OK)
		skipped(r, level.fault.line,
			"the conversations end early: malformed JSON");
	return any;
}

static rt_status
not_this(const reader *r, rt_walk_mark at, rt_error *err, const char *why)
{
	rt_status st = rt_feed_status(&r->feed, &r->w, err);

	if (st != RT_OK)
		return st;
	return rt_fail_at(err, RT_USAGE, at.offset, "no OpenAI messages: %s (byte %zu)", why,
			  (size_t)at.offset);
}

static rt_status
read_file(reader *r, rt_error *err)
{
	bool has_start, has_end, more;
	rt_walk_mark start;
	rt_str raw;
	int c;

	rt_walk_unmark(&r->w);
	has_start = rt_walk_blank(&r->w);
	start = rt_walk_here(&r->w);
	if (!has_start)
		return not_this(r, start, err, "the file is empty");
	c = rt_walk_peek(&r->w);
	if (c != '[' && c != '{')
		return not_this(r, start, err, "it begins with neither [ nor {");
	has_end = rt_walk_skip(&r->w, NULL);
	more = !has_end || rt_walk_blank(&r->w);
	rt_walk_seek(&r->w, start);
	if (c == '[' && (!more || !has_end))
		return read_array(r) ? RT_OK
				     : not_this(r, start, err, "no record of this array has messages");
	if (!more)
		return take_record(r, NULL, &raw) && read_record(r, raw)
			       ? RT_OK
			       : not_this(r, start, err, "this object has no messages");
	read_lines(r);
	if (rt_feed_count(&r->feed) == 0)
		return not_this(r, start, err, "no line has messages");
	return RT_OK;
}

static rt_status
read_all(const rt_alloc *alloc, const rt_input *in, const rt_feed_to *to, rt_report *report,
	 rt_error *err)
{
	reader r;
	rt_status st;

	memset(&r, 0, sizeof(r));
	rt_build_init(&r.b, alloc, report);
	rt_walk_init(&r.w, alloc, in);
	rt_feed_init(&r.feed, &r.b, to);
	rt_buf_init(&r.record, alloc, RT_BUF_UNLIMITED);
	r.report = report;
	st = read_file(&r, err);
	if (st == RT_OK)
		st = rt_feed_end(&r.feed, &r.w, err);
	rt_free(alloc, r.numbered);
	rt_buf_deinit(&r.record);
	rt_feed_deinit(&r.feed);
	rt_walk_deinit(&r.w);
	rt_build_deinit(&r.b);
	return st;
}

rt_status
rt_openai_read(const rt_alloc *alloc, rt_str input, rt_outlines *out, rt_report *report,
	       rt_error *err)
{
	rt_input in = rt_input_of(&input);
	rt_feed_to to = {.whole = out};

	return read_all(alloc, &in, &to, report, err);
}

rt_status
rt_openai_stream(const rt_alloc *alloc, const rt_input *in, rt_outlines_fn fn, void *ctx,
		 rt_report *report, rt_error *err)
{
	rt_feed_to to = {.fn = fn, .ctx = ctx};

	return read_all(alloc, in, &to, report, err);
}
