/* SPDX-License-Identifier: MIT
 *
 * Reading OpenAI chat messages. A file is walked through record by record; a record is a
 * conversation or a message, and is kept as text. Each message is parsed separately, so only broken
 * ones are skipped.
 *
 * A record longer than RECORD_MAX is kept without its list of messages, which is read from the file
 * one by one. A conversation of many messages is passed on in pieces, unless it has more than one
 * take. */
#include "formats/formats.h"
#include "formats/openai_impl.h"

enum {
	RECORD_MAX = 4 << 20,
	WHOLE_MAX = 256 << 10 /* a record up to this size is passed on in one piece */
};

typedef struct reader {
	rt_reader r;
	rt_build *b;         /* of r */
	rt_outline *outline; /* the current conversation */
	bool in_pieces;      /* it may be passed on in pieces */
	rt_outline *loose;   /* messages, one a line, without a conversation */
	int64_t loose_tip;
	rt_buf *record;   /* one without its messages */
	rt_walk_mark far; /* where those are */
	bool has_far;
	rt_items numbered; /* int64_t: node of each message of a lossless conversation */
} reader;

static void
skipped(reader *c, const char *where, const char *what)
{
	rt_reader_remark(&c->r, RT_REMARK_SKIPPED, where, "%s", what);
}

static void
skipped_line(reader *c, uint64_t line, const char *what)
{
	rt_report_add(c->r.report, RT_REMARK_SKIPPED, line, "%s", what);
}

/* ---- messages ---- */

static rt_buf *
further_field(rt_build *b, rt_str key)
{
	if (!rt_is_word(key, "role content " OPENAI_OURS) &&
	    !rt_str_starts(key, RT_STR(OPENAI_PREFIX)))
		return rt_build_body_field(b, key);
	rt_buf_clear(b->scratch);
	rt_buf_add_c(b->scratch, OPENAI_PREFIX);
	rt_buf_add_str(b->scratch, key);
	return rt_build_body_field(b, rt_scope_str(&b->s, b->scratch));
}

/* Null as the content of a message with calls is the usual thing and needs no mark; other odd
 * contents are kept as a further field. */
static bool
is_odd(yyjson_val *content, yyjson_val *message)
{
	bool has_calls = rt_json_get(message, "tool_calls") != NULL ||
			 rt_json_get(message, "function_call") != NULL;

	if (content == NULL || yyjson_is_arr(content))
		return false;
	if (yyjson_is_str(content))
		return yyjson_get_len(content) == 0 && has_calls;
	return !(yyjson_is_null(content) && has_calls);
}

/* The further fields of a message of another program. Its timestamp is also the entry's time. */
static void
read_foreign(reader *c, rt_str raw, yyjson_val *message, size_t repaired, rt_node *node)
{
	yyjson_val *content = rt_json_get(message, "content");
	yyjson_val *role = rt_json_get(message, "role");

	if (yyjson_is_str(role))
		node->role = rt_json_str(role);
	node->has_ts = rt_build_moment(rt_json_get(message, "timestamp"), &node->ts);
	for (rt_json_iter m = rt_json_each(message); rt_json_next(&m);)
		if (!rt_str_is(m.key, "content") &&
		    !(rt_str_is(m.key, "role") && yyjson_is_str(m.value)))
			rt_json_add_value(further_field(c->b, m.key), m.value);
	if (is_odd(content, message))
		rt_json_add_value(rt_build_body_field(c->b, RT_STR(RT_BUILD_BAD_CONTENT)), content);
	if (repaired > 0) {
		rt_reader_remark(&c->r, RT_REMARK_REPAIRED, raw.ptr,
				 "invalid Unicode was replaced with U+FFFD");
		rt_build_body_raw(c->b, raw);
	}
}

/* The node of a message; -1: skipped, or failed. */
static int64_t
read_message(reader *c, rt_str raw, int64_t parent)
{
	rt_node node = {.parent = parent};
	rt_error fault;
	size_t repaired = 0;
	yyjson_val *message = rt_build_parse(c->b, raw, &repaired, &fault), *extras;
	int64_t at;

	if (message == NULL) {
		rt_reader_remark(&c->r, RT_REMARK_SKIPPED, raw.ptr,
				 "skipped a message: %.150s", fault.text);
		return -1;
	}
	if (!yyjson_is_obj(message)) {
		skipped(c, raw.ptr, "skipped a message that is not an object");
		return -1;
	}
	rt_build_body_open_value(c->b, rt_json_get(message, "content"));
	extras = rt_json_get(message, "retake");
	if (yyjson_is_obj(extras))
		rt_extras_read(c->b, extras, &node);
	else
		read_foreign(c, raw, message, repaired, &node);
	at = (int64_t)rt_build_node(c->b, &node);
	return rt_ok(&c->b->s) ? at : -1;
}

/* One of the messages of a conversation; false: failed. */
static bool
add_message(reader *c, rt_str raw, int64_t *parent)
{
	int64_t node, *number;

	if (c->in_pieces && rt_reader_is_long(&c->r)) {
		c->outline = rt_reader_piece(&c->r);
		*parent = -1;
	}
	if (!rt_ok(&c->b->s))
		return false;
	node = read_message(c, raw, *parent);
	if (!c->in_pieces) {
		number = rt_items_push(&c->b->s, &c->numbered, sizeof(*number));
		if (number != NULL)
			*number = node;
	}
	if (node >= 0)
		*parent = node;
	return rt_ok(&c->b->s);
}

static const char early[] = "the messages end early: malformed JSON";

/* The messages of an array, one after the other; gives the last one's node, or parent. */
static int64_t
read_messages(reader *c, rt_str raw, int64_t parent)
{
	rt_members m;
	rt_str key, value;

	if (!rt_members_open(&m, raw))
		return parent;
	while (rt_ok(&c->b->s) && rt_members_next(&m, &key, &value) &&
	       add_message(c, value, &parent))
		;
	if (m.bad)
		skipped(c, m.in.ptr + m.at, early);
	return parent;
}

/* The same if they are not in memory. The walk returns to where it was. */
static int64_t
read_far_messages(reader *c, int64_t parent)
{
	rt_walk *w = &c->r.w;
	rt_walk_mark after = rt_walk_here(w), start;
	rt_line_reader lines = c->r.lines;
	rt_walk_level level;
	rt_str key, value;

	rt_walk_seek(w, c->far);
	if (rt_walk_open(w, &level))
		while (rt_reader_ok(&c->r) && rt_walk_next(w, &level, &key)) {
			start = rt_walk_here(w);
			if (rt_walk_value(w, &level, SIZE_MAX, &value) != RT_WALK_WHOLE)
				break;
			rt_reader_hold(&c->r, value, start.line);
			if (!add_message(c, value, &parent))
				break;
		}
	if (level.bad && w->status == RT_OK)
		skipped_line(c, level.fault.line, early);
	rt_walk_seek(w, after);
	c->r.lines = lines;
	return parent;
}

/* ---- conversations ---- */

/* The parts of a conversation that have a meaning, as text. */
typedef struct parts {
	rt_str messages, preferred, other, choices, extras, more;
} parts;

static const struct {
	const char *name;
	char first;
	size_t offset; /* in parts */
} part_rows[] = {
	{"messages", '[', offsetof(parts, messages)},
	{"preferred_output", '[', offsetof(parts, preferred)},
	{"non_preferred_output", '[', offsetof(parts, other)},
	{"choices", '[', offsetof(parts, choices)},
	{"retake", '{', offsetof(parts, extras)},
	{"retake_more", '[', offsetof(parts, more)},
};

/* Is this member one of the parts? It is kept, then. */
static bool
is_part(parts *p, rt_str key, rt_str value)
{
	for (size_t i = 0; i < sizeof(part_rows) / sizeof(*part_rows); i++)
		if (value.ptr[0] == part_rows[i].first && rt_scan_key_is(key, part_rows[i].name)) {
			*(rt_str *)((char *)p + part_rows[i].offset) = value;
			return true;
		}
	if (!rt_scan_key_is(key, "input") || value.ptr[0] != '[' ||
	    (p->messages.size > 0 && p->messages.ptr != value.ptr))
		return false;
	p->messages = value;
	return true;
}

/* A member of the conversation that becomes a field of the discussion. */
static void
read_field(reader *c, rt_str key, rt_str value)
{
	char first = value.ptr[0];
	rt_str name, json;

	if (!rt_build_text(c->b, key, &name) || !rt_build_json(c->b, value, false, &json))
		skipped(c, key.ptr, "skipped a field that is not JSON");
	else if (rt_is_word(name, OPENAI_SETTINGS) &&
		 (first == '-' || (first >= '0' && first <= '9')))
		rt_build_field_in(c->b, false, "setting.", name, json);
	else
		rt_build_field_in(c->b, false, OPENAI_PREFIX, name, json);
}

/* Find the parts of a conversation; with fields the other members become fields of the
 * current discussion. descend: look into body and input too, one level. */
static void
find_parts(reader *c, rt_str raw, bool fields, bool descend, parts *p)
{
	rt_members m;
	rt_str key, value;

	if (!rt_members_open(&m, raw) || m.close != '}')
		return;
	m.known = p->messages;
	while (rt_ok(&c->b->s) && rt_members_next(&m, &key, &value)) {
		if (is_part(p, key, value))
			continue;
		if (descend && value.ptr[0] == '{' &&
		    (rt_scan_key_is(key, "body") || rt_scan_key_is(key, "input")))
			find_parts(c, value, fields, false, p);
		else if (fields)
			read_field(c, key, value);
	}
	if (m.bad && fields)
		skipped(c, m.in.ptr + m.at,
			"a conversation is malformed; the rest of it is skipped");
}

static void
read_choices(reader *c, rt_str raw, int64_t parent)
{
	rt_members m, choice;
	rt_str key, value;
	bool is_first = true;

	if (!rt_members_open(&m, raw))
		return;
	while (rt_ok(&c->b->s) && rt_members_next(&m, &key, &value)) {
		if (!rt_members_open(&choice, value) || choice.close != '}')
			continue;
		while (rt_ok(&c->b->s) && rt_members_next(&choice, &key, &value)) {
			int64_t node = rt_scan_key_is(key, "message")
					       ? read_message(c, value, parent)
					       : -1;

			if (node >= 0 && is_first) {
				c->outline->head = node;
				is_first = false;
			}
		}
	}
}

static void
read_extras(reader *c, const parts *p)
{
	size_t own = c->numbered.count;
	rt_json_doc *doc = NULL;
	rt_status st = rt_json_read_repairing(c->b->alloc, p->extras, &doc, NULL, NULL);

	if (st == RT_NOMEM)
		(void)rt_scope_nomem(&c->b->s);
	else if (st != RT_OK)
		skipped(c, p->extras.ptr,
			"the data of Retake for a conversation is malformed; skipped");
	if (st != RT_OK)
		return;
	if (p->more.size > 0)
		(void)read_messages(c, p->more, -1);
	rt_extras_read_discussion(&c->r, rt_json_root(doc), c->numbered.items, c->numbered.count,
				  own, c->outline);
	rt_json_free(doc);
}

/* The other members of a conversation: its title, and fields of other programs. */
static void
read_further(reader *c, rt_str raw, bool descend, parts *p)
{
	rt_members m;
	rt_str key, value, title;

	if (raw.ptr[0] != '{')
		return;
	find_parts(c, raw, true, descend, p);
	if (rt_members_open(&m, raw)) {
		m.known = p->messages;
		while (rt_members_next(&m, &key, &value))
			if (rt_scan_key_is(key, "title") && rt_build_text(c->b, value, &title))
				c->outline->name = title;
	}
}

/* False: raw is not a conversation. */
static bool
read_conversation(reader *c, rt_str raw)
{
	int64_t tip;
	parts p = {.messages = {NULL, 0}};
	bool descend = false;

	c->numbered.count = 0;
	if (raw.ptr[0] == '[') {
		p.messages = raw;
	} else {
		find_parts(c, raw, false, false, &p);
		descend = p.messages.size == 0 && p.choices.size == 0;
		if (descend)
			find_parts(c, raw, false, true, &p);
		if (p.messages.size == 0 && p.choices.size == 0 && p.preferred.size == 0)
			return false;
	}
	c->loose = NULL;
	c->outline = rt_build_discussion(c->b);
	if (c->outline == NULL)
		return true;
	c->in_pieces = rt_reader_is_batched(&c->r) && (c->has_far || raw.size > WHOLE_MAX) &&
		       p.choices.size == 0 && p.preferred.size == 0 && p.other.size == 0 &&
		       p.extras.size == 0;
	if (c->in_pieces) /* all of them need the name */
		read_further(c, raw, descend, &p);
	tip = c->has_far ? read_far_messages(c, -1) : read_messages(c, p.messages, -1);
	if (!rt_ok(&c->b->s))
		return true;
	c->outline->has_head = !c->in_pieces || rt_build_node_count(c->b) > 0;
	c->outline->head = tip;
	if (p.extras.size > 0) {
		read_extras(c, &p);
		return true;
	}
	if (p.choices.size > 0)
		read_choices(c, p.choices, tip);
	if (p.preferred.size > 0)
		c->outline->head = read_messages(c, p.preferred, tip);
	if (p.other.size > 0)
		(void)read_messages(c, p.other, tip);
	if (!c->in_pieces)
		read_further(c, raw, descend, &p);
	return true;
}

/* ---- records ---- */

/* A message or a conversation? The first member that only one of them has decides. */
static bool
is_message(rt_str raw)
{
	rt_members m;
	rt_str key, value;
	char first;

	if (!rt_members_open(&m, raw) || m.close != '}')
		return false;
	while (rt_members_peek(&m, &key, &first)) {
		if (rt_scan_key_is(key, "role"))
			return true;
		if (rt_scan_key_is(key, "messages") && first == '[')
			return false;
		if (!rt_members_next(&m, &key, &value))
			break;
	}
	return false;
}

/* A message without a conversation continues the discussion of the one before it. */
static void
read_loose(reader *c, rt_str raw)
{
	int64_t node;

	if (c->loose == NULL) {
		c->loose = rt_build_discussion(c->b);
		c->loose_tip = -1;
	} else if (rt_reader_is_long(&c->r)) {
		c->loose = rt_reader_piece(&c->r);
		c->loose_tip = -1;
	}
	if (c->loose == NULL)
		return;
	node = read_message(c, raw, c->loose_tip);
	if (node >= 0)
		c->loose_tip = node;
	c->loose->has_head = c->loose_tip >= 0 || !c->r.in_piece;
	c->loose->head = c->loose_tip;
}

/* One record of a file of many. False: not a record. */
static bool
read_record(reader *c, rt_str raw)
{
	bool is_one = true;

	if (raw.ptr[0] != '{' && raw.ptr[0] != '[')
		return false;
	if (!c->has_far && is_message(raw)) {
		read_loose(c, raw);
		return true;
	}
	is_one = read_conversation(c, raw);
	c->in_pieces = c->has_far = false;
	if (c->loose == NULL)
		rt_reader_next(&c->r);
	return is_one;
}

/* The record that the walk is at is too long for memory: copy it without its messages, with as
 * many line ends. */
static bool
cut_record(reader *c, rt_walk_level *in, rt_str *out_raw)
{
	rt_walk *w = &c->r.w;
	rt_walk_mark start = rt_walk_here(w), at;
	uint64_t line = start.line; /* of the copy's end */
	rt_walk_level level;
	rt_str key, value;

	rt_buf_clear(c->record);
	c->far = start;
	if (rt_walk_peek(w) == '[') {
		c->has_far = rt_walk_skip(w, in);
		*out_raw = RT_STR("[]");
		return c->has_far;
	}
	rt_buf_add_byte(c->record, '{');
	if (rt_walk_open(w, &level))
		while (rt_walk_next(w, &level, &key)) {
			bool is_list = rt_scan_key_is(key, "messages") && rt_walk_peek(w) == '[';

			rt_json_add_comma(c->record);
			rt_buf_add_str(c->record, key);
			rt_buf_add_byte(c->record, ':');
			at = rt_walk_here(w);
			for (; line < at.line; line++)
				rt_buf_add_byte(c->record, '\n');
			value = RT_STR("[]");
			if (is_list ? !rt_walk_skip(w, &level)
				    : rt_walk_value(w, &level, SIZE_MAX, &value) != RT_WALK_WHOLE)
				break;
			rt_buf_add_str(c->record, value);
			if (is_list) {
				c->far = at;
				c->has_far = true;
			} else {
				line = rt_walk_here(w).line;
			}
		}
	if (!level.bad) /* otherwise the copy is as malformed as the original */
		rt_buf_add_byte(c->record, '}');
	*out_raw = rt_scope_str(&c->b->s, c->record);
	if (!rt_reader_ok(&c->r))
		return false;
	rt_walk_seek(w, start);
	return rt_walk_skip(w, in);
}

/* The text of the record at the position of the walk. False: it is not one JSON value. */
static bool
hold_record(reader *c, rt_walk_level *in, rt_str *out_raw)
{
	rt_walk *w = &c->r.w;
	uint64_t line = rt_walk_here(w).line;
	rt_walked walked;

	*out_raw = RT_STR("");
	c->has_far = false;
	walked = rt_walk_value(w, in, RECORD_MAX, out_raw);
	if (walked == RT_WALK_LONG && (rt_walk_peek(w) == '{' || rt_walk_peek(w) == '['))
		walked = cut_record(c, in, out_raw) ? RT_WALK_WHOLE : RT_WALK_CUT;
	else if (walked == RT_WALK_LONG)
		walked = rt_walk_value(w, in, SIZE_MAX, out_raw);
	rt_reader_hold(&c->r, *out_raw, line);
	return walked == RT_WALK_WHOLE;
}

/* ---- files ---- */

/* A line that is too long for memory. False: it is not one JSON value. */
static bool
read_long_line(reader *c, bool *out_is_record)
{
	rt_walk *w = &c->r.w;
	rt_walk_mark start, end;
	rt_str raw;

	(void)rt_walk_blank(w);
	start = rt_walk_here(w);
	if (!rt_walk_skip(w, NULL))
		return false;
	end = rt_walk_here(w);
	if (end.line != start.line || (rt_walk_blank(w) && rt_walk_here(w).line == end.line))
		return false;
	rt_walk_seek(w, start);
	if (!hold_record(c, NULL, &raw))
		return false;
	*out_is_record = read_record(c, raw);
	return true;
}

static void
read_lines(reader *c)
{
	rt_walk *w = &c->r.w;
	rt_str line;

	while (rt_reader_ok(&c->r)) {
		rt_walk_mark start = rt_walk_here(w);
		rt_walked walked = rt_walk_line(w, RECORD_MAX, &line);
		bool is_json, is_record = false;

		if (walked == RT_WALK_CUT)
			break;
		if (walked == RT_WALK_LONG) {
			is_json = read_long_line(c, &is_record);
			if (!is_json)
				rt_walk_seek(w, start);
			rt_walk_skip_line(w);
		} else {
			line = rt_str_trim(line);
			if (line.size == 0)
				continue;
			rt_reader_hold(&c->r, line, start.line);
			c->has_far = false;
			is_json = rt_scan_value(line, 0) == line.size;
			is_record = is_json && read_record(c, line);
		}
		if (!is_json)
			skipped_line(c, start.line,
				     "skipped a line that is not one JSON value");
		else if (!is_record)
			skipped_line(c, start.line, "skipped a line without messages");
	}
}

/* Is the array that the walk is at one of messages? Its first object decides; an empty one is.
 * *out_first is that object, empty where there is none. The walk is somewhere in the array
 * then. */
static bool
is_conversation(reader *c, rt_str *out_first)
{
	rt_walk_level level;
	rt_str key;
	bool any = false;

	*out_first = rt_str_at(NULL, 0);
	if (rt_walk_open(&c->r.w, &level))
		while (rt_walk_next(&c->r.w, &level, &key)) {
			int first = rt_walk_peek(&c->r.w);

			any = true;
			if (first != '{' && first != '[')
				(void)rt_walk_skip(&c->r.w, &level);
			else if (hold_record(c, &level, out_first) && out_first->size > 0)
				return !c->has_far && is_message(*out_first);
			else
				*out_first = rt_str_at(NULL, 0);
		}
	return !any && !level.bad;
}

/* An array: of messages, or of conversations. False: neither. */
static bool
read_array(reader *c)
{
	rt_walk *w = &c->r.w;
	rt_walk_mark start = rt_walk_here(w), at;
	rt_walk_level level;
	rt_str key, value, first;
	bool any = false, is_one = is_conversation(c, &first);

	rt_walk_seek(w, start);
	if (is_one) {
		/* it need not end, so its text is not requested */
		c->far = start;
		c->has_far = true;
		return read_record(c, RT_STR("[]"));
	}
	if (first.size == 0 || !rt_walk_open(w, &level))
		return false;
	while (rt_reader_ok(&c->r) && rt_walk_next(w, &level, &key)) {
		at = rt_walk_here(w);
		if (!hold_record(c, &level, &value))
			break;
		if (read_record(c, value))
			any = true;
		else
			skipped_line(c, at.line, "skipped a record without messages");
	}
	if (any && level.bad && w->status == RT_OK)
		skipped_line(c, level.fault.line, "the conversations end early: malformed JSON");
	return any;
}

static void
refuse(reader *c, rt_walk_mark at, const char *why)
{
	rt_reader_refuse(&c->r, at.offset, "not OpenAI messages: %s (byte %zu)", why,
			 (size_t)at.offset);
}

/* Is it an array of nothing? The walk is at its beginning again. */
static bool
is_empty(reader *c, rt_walk_mark start)
{
	rt_walk_level level;
	rt_str key;
	bool is_open = rt_walk_open(&c->r.w, &level);
	bool any = is_open && rt_walk_next(&c->r.w, &level, &key);

	rt_walk_seek(&c->r.w, start);
	return is_open && !any && !level.bad;
}

static void
read_file(reader *c)
{
	rt_walk *w = &c->r.w;
	bool has_start, has_end, more;
	rt_walk_mark start;
	rt_str raw;
	int first;

	rt_walk_unmark(w);
	has_start = rt_walk_blank(w);
	start = rt_walk_here(w);
	first = rt_walk_peek(w);
	if (first != '[' && first != '{') {
		refuse(c, start,
		       has_start ? "it begins with neither [ nor {" : "the file is empty");
		return;
	}
	has_end = rt_walk_skip(w, NULL);
	more = !has_end || rt_walk_blank(w);
	rt_walk_seek(w, start);
	if (first == '[' && (!more || !has_end)) {
		if (is_empty(c, start))
			rt_reader_refuse(&c->r, start.offset, "the file contains no conversation: its list is empty");
		else if (!read_array(c))
			refuse(c, start, "no record of this array has messages");
	} else if (!more) {
		if (!hold_record(c, NULL, &raw) || !read_record(c, raw))
			refuse(c, start, "this object has no messages");
	} else {
		read_lines(c);
		if (rt_reader_count(&c->r) == 0)
			refuse(c, start, "no line has messages");
	}
}

static rt_status
openai_to(const rt_alloc *alloc, const rt_input *in, const rt_reader_to *to, rt_report *report,
	  rt_error *err)
{
	reader c = {.b = &c.r.b};

	rt_reader_init(&c.r, alloc, in, to, report);
	c.record = rt_scope_buf(&c.b->s);
	read_file(&c);
	return rt_reader_end(&c.r, err);
}
RT_READER_FUNCTIONS(openai, openai_to)

/* ---- recognising a file ---- */

/* The name in a raw key, which has quotes. */
static rt_str
bare(rt_str key)
{
	return key.size < 2 ? rt_str_at("", 0) : rt_str_at(key.ptr + 1, key.size - 2);
}

/* From the beginning of a message: does it have a role, and a content? */
static int
sniff_message(rt_str head)
{
	rt_members m;
	rt_str key, value;
	bool has_role = false, has_content = false;

	if (!rt_members_open(&m, head) || m.close != '}')
		return 0;
	while (rt_members_next(&m, &key, &value)) {
		/* of other programs that also have a "role" */
		if (rt_is_word(bare(key), "message text parentId parent_id parent children replies "
					  "childrenIds sessionID uuid message_id"))
			return 0;
		has_role = has_role || (rt_scan_key_is(key, "role") && value.ptr[0] == '"');
		has_content = has_content ||
			      rt_is_word(bare(key), "content tool_calls function_call "
						    "refusal audio");
	}
	if (!m.bad)
		return has_role && has_content ? 85 : 0;
	/* the head ends inside the content, or before it */
	return has_role ? 85 : has_content || rt_scan_key_is(key, "content") ? 50 : 0;
}

static rt_str
rest(const rt_members *m)
{
	return rt_str_at(m->in.ptr + m->at, m->in.size - m->at);
}

static int
sniff_messages(rt_str head)
{
	rt_members m;
	rt_str key, value;

	if (!rt_members_open(&m, head) || m.close != ']')
		return 0;
	if (rt_members_next(&m, &key, &value))
		return sniff_message(value);
	return m.bad ? sniff_message(rest(&m)) : 20;
}

static int
sniff_conversation(rt_str head)
{
	rt_members m, n;
	rt_str key, value;
	int inner = 0;

	if (!rt_members_open(&m, head) || m.close != '}')
		return 0;
	while (rt_members_next(&m, &key, &value)) {
		if (rt_scan_key_is(key, "messages"))
			return sniff_messages(value);
		if (rt_scan_key_is(key, "preferred_output") || rt_scan_key_is(key, "choices"))
			return 60;
		if ((!rt_scan_key_is(key, "body") && !rt_scan_key_is(key, "input")) ||
		    value.ptr[0] != '{')
			continue;
		if (rt_members_open(&n, value))
			while (inner == 0 && rt_members_next(&n, &key, &value))
				if (rt_scan_key_is(key, "messages"))
					inner = sniff_messages(value);
		return inner;
	}
	return rt_scan_key_is(key, "messages") ? sniff_messages(rest(&m)) : 0;
}

static int
openai_sniff(rt_str head)
{
	rt_members m;
	rt_str key, value;
	int sure;

	head = rt_scan_unmark(head);
	sure = sniff_conversation(head);
	if (sure > 0)
		return sure;
	sure = sniff_messages(head);
	if (sure > 0)
		return sure;
	if (rt_members_open(&m, head) && m.close == ']')
		return rt_members_next(&m, &key, &value) ? sniff_conversation(value)
							 : sniff_conversation(rest(&m));
	sure = sniff_message(head);
	return sure > 0 ? 40 : 0; /* messages, one a line */
}

const rt_format rt_format_openai = {
	.name = "openai",
	.extension = ".jsonl",
	.about = "OpenAI chat messages: an array, request bodies, fine-tuning files (JSONL)",
	.media_type = "application/x-ndjson",
	.sniff = openai_sniff,
	.read = openai_read,
	.stream = openai_stream,
	.write = rt_openai_write,
	.whole_if_lossless = true,
};
