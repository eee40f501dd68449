/* SPDX-License-Identifier: MIT
 *
 * Reading OpenAI chat messages. A file is walked down to its messages as text; each is
 * parsed alone, so a broken one is passed over alone. */
#include "formats/formats_extras.h"
#include "formats/openai_impl.h"

typedef struct reader {
	rt_build b;
	rt_str input;
	rt_lines lines;
	rt_report *report;
	rt_outline *loose; /* messages that stand one a line without a conversation */
	int64_t loose_tip;
	int64_t *numbered; /* node of each message of a lossless conversation */
	size_t numbered_count, numbered_room;
	size_t active;
	bool has_active;
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

/* The messages of an array, one behind the other; gives the last one's node, or parent. */
static int64_t
read_messages(reader *r, rt_str raw, int64_t parent)
{
	rt_members m;
	rt_str key, value;

	if (!rt_members_open(&m, raw))
		return parent;
	while (r->b.status == RT_OK && rt_members_next(&m, &key, &value)) {
		int64_t node = read_message(r, value, parent);

		if (!number_node(r, node))
			break;
		if (node >= 0)
			parent = node;
	}
	if (m.bad)
		remark(r, RT_REMARK_SKIPPED, m.in.ptr + m.at,
		       "the messages end early: malformed JSON");
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
		rt_extras_read_project(&r->b, project, &r->active, &r->has_active);
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

/* False: raw is no conversation. */
static bool
read_conversation(reader *r, rt_str raw)
{
	rt_outline *outline;
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
	outline = rt_build_discussion(&r->b);
	if (outline == NULL)
		return true;
	tip = read_messages(r, p.messages, -1);
	outline->has_head = true;
	outline->head = tip;
	if (p.extras.size > 0) {
		read_extras(r, &p, outline);
		return true;
	}
	if (p.choices.size > 0)
		read_choices(r, p.choices, tip, outline);
	if (p.preferred.size > 0)
		outline->head = read_messages(r, p.preferred, tip);
	if (p.other.size > 0)
		(void)read_messages(r, p.other, tip);
	if (raw.ptr[0] == '{') {
		look(r, raw, true, descend, &p);
		read_title(r, raw, outline);
	}
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
		if (r->loose == NULL)
			return;
	}
	node = read_message(r, raw, r->loose_tip);
	if (node >= 0)
		r->loose_tip = node;
	r->loose->has_head = true;
	r->loose->head = r->loose_tip;
}

/* One record of a file of many. */
static bool
read_record(reader *r, rt_str raw)
{
	if (raw.ptr[0] != '{' && raw.ptr[0] != '[')
		return false;
	if (!is_message(raw))
		return read_conversation(r, raw);
	read_loose(r, raw);
	return true;
}

static void
read_lines(reader *r, rt_str in)
{
	size_t at = 0;

	while (at < in.size && r->b.status == RT_OK) {
		const char *nl = memchr(in.ptr + at, '\n', in.size - at);
		size_t end = nl == NULL ? in.size : (size_t)(nl - in.ptr);
		rt_str line = rt_str_trim(rt_str_at(in.ptr + at, end - at));

		at = end + 1;
		if (line.size == 0)
			continue;
		if (rt_scan_value(line, 0) != line.size)
			remark(r, RT_REMARK_SKIPPED, line.ptr,
			       "a line that is not one JSON value is passed over");
		else if (!read_record(r, line))
			remark(r, RT_REMARK_SKIPPED, line.ptr,
			       "a line without messages is passed over");
	}
}

/* An array: of messages, or of conversations, as its first object tells. False: neither. */
static bool
read_array(reader *r, rt_str in)
{
	rt_members m;
	rt_str key, value, first = {NULL, 0};
	bool any = false;

	if (rt_members_open(&m, in))
		while (first.size == 0 && rt_members_next(&m, &key, &value)) {
			any = true;
			if (value.ptr[0] == '{' || value.ptr[0] == '[')
				first = value;
		}
	if (first.size == 0 ? !any && !m.bad : is_message(first))
		return read_conversation(r, in);
	any = false;
	if (first.size > 0 && rt_members_open(&m, in))
		while (r->b.status == RT_OK && rt_members_next(&m, &key, &value)) {
			if (read_record(r, value))
				any = true;
			else
				remark(r, RT_REMARK_SKIPPED, value.ptr,
				       "a record without messages is passed over");
		}
	if (any && m.bad)
		remark(r, RT_REMARK_SKIPPED, m.in.ptr + m.at,
		       "the conversations end early: malformed JSON");
	return any;
}

static rt_status
not_this(const reader *r, const char *at, rt_error *err, const char *why)
{
	size_t position = (size_t)(at - r->input.ptr);

	return rt_fail_at(err, RT_USAGE, position, "no OpenAI messages: %s (byte %zu)", why,
			  position);
}

static rt_status
read_file(reader *r, rt_error *err)
{
	rt_str in = rt_scan_unmark(r->input);
	size_t start = rt_scan_blank(in, 0), end;
	bool more;

	if (start == in.size)
		return not_this(r, in.ptr == NULL ? r->input.ptr : in.ptr + start, err,
				"the file is empty");
	in = rt_str_at(in.ptr + start, in.size - start);
	if (in.ptr[0] != '[' && in.ptr[0] != '{')
		return not_this(r, in.ptr, err, "it begins with neither [ nor {");
	end = rt_scan_value(in, 0);
	more = end == SIZE_MAX || rt_scan_blank(in, end) != in.size;
	if (in.ptr[0] == '[' && (!more || end == SIZE_MAX)) {
		if (!read_array(r, in))
			return not_this(r, in.ptr, err, "no record of this array has messages");
		return RT_OK;
	}
	if (!more) {
		if (!read_record(r, rt_str_at(in.ptr, end)))
			return not_this(r, in.ptr, err, "this object has no messages");
		return RT_OK;
	}
	read_lines(r, in);
	if (rt_build_count(&r->b) == 0 && r->b.status == RT_OK)
		return not_this(r, in.ptr, err, "no line has messages");
	return RT_OK;
}

rt_status
rt_openai_read(const rt_alloc *alloc, rt_str input, rt_outlines *out, rt_report *report,
	       rt_error *err)
{
	reader r;
	rt_outlines done;
	rt_status st;

	memset(&r, 0, sizeof(r));
	if (input.ptr == NULL)
		input = RT_STR("");
	rt_build_init(&r.b, alloc, report);
	r.input = input;
	r.report = report;
	rt_scan_lines_init(&r.lines, input);
	st = read_file(&r, err);
	if (r.b.status != RT_OK)
		st = rt_fail(err, r.b.status, "out of memory while importing");
	if (st == RT_OK)
		st = rt_build_finish(&r.b, &done, err);
	if (st == RT_OK) {
		if (r.has_active && r.active < done.count) {
			done.has_active = true;
			done.active = r.active;
		}
		*out = done;
	}
	rt_free(alloc, r.numbered);
	rt_build_deinit(&r.b);
	return st;
}
