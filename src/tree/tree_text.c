/* SPDX-License-Identifier: MIT
 *
 * The words of a row. Lengths are in UTF-16 units, as pi counts them. */
#include "tree/tree_text.h"

#include <math.h>
#include <stdlib.h> /* strtod */

#include "codec/content.h"
#include "codec/plain.h"
#include "codec/thinking.h"

enum {
	TEXT_UNITS = 200, /* of a message */
	READ_BYTES = 2048, /* of its text, whose Markdown takes space, too */
	ERROR_UNITS = 80,
	COMMAND_UNITS = 50,
	ARGUMENTS_UNITS = 40,
	SUMMARY_BYTES = 8192 /* of a summary, more than a row shows */
};

/* ---- pieces of text ---- */

/* The longest beginning of at most this many UTF-16 units. */
static rt_str
cut_units(rt_str s, size_t units)
{
	size_t i = 0;

	while (i < s.size) {
		unsigned char c = (unsigned char)s.ptr[i];
		size_t size = c < 0x80 ? 1 : c < 0xE0 ? 2 : c < 0xF0 ? 3 : 4;

		if (units < 1 + (size_t)(size == 4) || size > s.size - i)
			break;
		units -= 1 + (size_t)(size == 4);
		i += size;
	}
	return rt_str_at(s.ptr, i);
}

/* Bytes of the white space (as JavaScript has it) at the beginning, or at the end; 0: none. */
static size_t
blank_size(rt_str s, bool at_end)
{
	static const char *const wide[] = {"\xC2\xA0",     "\xE1\x9A\x80", "\xE2\x80\xA8",
					   "\xE2\x80\xA9", "\xE2\x80\xAF", "\xE2\x81\x9F",
					   "\xE3\x80\x80", "\xEF\xBB\xBF"};
	const char *p = at_end && s.size > 0 ? s.ptr + s.size - 1 : s.ptr;

	if (s.size == 0)
		return 0;
	if (*p == ' ' || (*p >= '\t' && *p <= '\r'))
		return 1;
	for (size_t i = 0; i < sizeof(wide) / sizeof(wide[0]); i++) {
		size_t size = strlen(wide[i]);

		if (s.size >= size &&
		    memcmp(s.ptr + (at_end ? s.size - size : 0), wide[i], size) == 0)
			return size;
	}
	p = at_end && s.size >= 3 ? s.ptr + s.size - 3 : s.ptr;
	return s.size >= 3 && memcmp(p, "\xE2\x80", 2) == 0 && (unsigned char)p[2] >= 0x80 &&
			       (unsigned char)p[2] <= 0x8A
		       ? 3 /* U+2000 to U+200A */
		       : 0;
}

static rt_str
trim(rt_str s)
{
	size_t size;

	while ((size = blank_size(s, false)) > 0)
		s = rt_str_at(s.ptr + size, s.size - size);
	while ((size = blank_size(s, true)) > 0)
		s.size -= size;
	return s;
}

/* The text of a block; absent: it has none. */
static rt_str
block_text(yyjson_val *block)
{
	if (!rt_content_is_text(block))
		return (rt_str){0};
	return rt_json_str(yyjson_is_str(block) ? block : rt_json_get(block, "text"));
}

/* The text of the content, at most this many bytes. */
static void
add_text(rt_buf *buf, const rt_body *body, size_t size)
{
	size_t begin = buf->size;

	if (body->content_json == NULL) {
		rt_buf_add(buf, body->content.ptr, rt_utf8_cut(body->content, size));
		return;
	}
	for (rt_json_iter it = rt_json_items(body->content_json);
	     buf->size - begin < size && rt_json_next(&it);) {
		rt_str text = block_text(it.value);

		rt_buf_add(buf, text.ptr, rt_utf8_cut(text, size - (buf->size - begin)));
	}
}

static bool
has_text(const rt_body *body)
{
	if (body->content_json == NULL)
		return trim(body->content).size > 0;
	for (rt_json_iter it = rt_json_items(body->content_json); rt_json_next(&it);)
		if (trim(block_text(it.value)).size > 0)
			return true;
	return false;
}

/* The text added since begin becomes words without the signs of Markdown. */
static void
make_plain(rt_buf *buf, size_t begin, rt_str role)
{
	rt_str text = rt_str_skip(rt_buf_str(buf), begin);
	rt_buf plain;

	rt_buf_init(&plain, buf->alloc, RT_BUF_UNLIMITED);
	rt_plain_add_entry(&plain, role, rt_str_at(text.ptr, rt_utf8_cut(text, READ_BYTES)));
	buf->size = begin;
	rt_buf_add_str(buf, rt_buf_str(&plain));
	if (plain.status != RT_OK)
		buf->status = plain.status;
	rt_buf_deinit(&plain);
}

/* The beginning of a message's text; but for pi's own tree of a model's without its thinking, and
 * without the signs of Markdown. */
static void
add_message_text(rt_buf *buf, const rt_tree_speaker *s)
{
	const rt_body *body = s->body;
	size_t begin = buf->size;

	if (!s->as_pi && body->content_json == NULL && rt_body_thinks(s->role))
		rt_thinking_add_prose(buf, body->content, rt_body_is_cut(body));
	else
		add_text(buf, body, s->as_pi ? TEXT_UNITS * 4 : READ_BYTES);
	if (buf->size > begin && !s->as_pi)
		make_plain(buf, begin, s->role);
	if (buf->size > begin)
		buf->size = begin + cut_units(rt_str_skip(rt_buf_str(buf), begin), TEXT_UNITS).size;
}

/* Trims the text that was added since begin. */
static void
trim_from(rt_buf *buf, size_t begin)
{
	rt_str kept;

	if (buf->size == begin)
		return;
	kept = trim(rt_str_skip(rt_buf_str(buf), begin));
	memmove(buf->ptr + begin, kept.ptr, kept.size);
	buf->size = begin + kept.size;
}

/* ---- records ---- */

/* The record of a pi session that the entry was imported from, or NULL. */
static yyjson_val *
record_of(const rt_body *body)
{
	if (body->format == RT_BODY_PI)
		return body->fields;
	return body->fields != NULL ? rt_json_get(body->fields, "pi") : NULL;
}

/* A member of the record's message, or of the entry itself. */
static yyjson_val *
message_member(const rt_body *body, const char *name)
{
	yyjson_val *record = record_of(body);

	if (record != NULL)
		return rt_json_get(rt_json_get(record, "message"), name);
	return body->fields != NULL ? rt_json_get(body->fields, name) : NULL;
}

static bool
is_message(rt_str kind)
{
	return kind.size == 0 || rt_str_is(kind, "message");
}

rt_tree_kind
rt_tree_kind_of(rt_str role, rt_str kind)
{
	static const struct {
		const char *name;
		rt_tree_kind kind;
	} kinds[] = {
		{"usage", RT_TREE_NEVER},
		{"compaction", RT_TREE_COMPACTION},
		{"branch_summary", RT_TREE_SUMMARY},
		{"custom_message", RT_TREE_CUSTOM},
		{"label", RT_TREE_STATE},
		{"context_edit", RT_TREE_SETTING},
		{"custom", RT_TREE_STATE},
		{"model_change", RT_TREE_SETTING},
		{"thinking_level_change", RT_TREE_SETTING},
		{"session_info", RT_TREE_SETTING},
	};

	if (!is_message(kind)) {
		for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
			if (rt_str_is(kind, kinds[i].name))
				return kinds[i].kind;
		return RT_TREE_OTHER;
	}
	if (rt_str_eq_nocase(role, RT_STR("user")))
		return RT_TREE_USER;
	if (rt_str_is(role, "toolResult") || rt_str_eq_nocase(role, RT_STR("tool")))
		return RT_TREE_TOOL;
	if (rt_str_eq_nocase(role, RT_STR("assistant")) || rt_str_is(role, "AI"))
		return RT_TREE_ASSISTANT;
	return RT_TREE_OTHER;
}

bool
rt_tree_is_silent(const rt_tree_speaker *s)
{
	rt_str stop = rt_json_str(message_member(s->body, "stopReason"));

	if (rt_tree_kind_of(s->role, s->kind) != RT_TREE_ASSISTANT || has_text(s->body))
		return false;
	/* Retake's own are empty while they arrive, or because they were edited so. */
	if (record_of(s->body) == NULL && s->body->content_json == NULL &&
	    rt_body_field(s->body, "tool_calls") == NULL)
		return false;
	return stop.size == 0 || rt_str_is(stop, "stop") || rt_str_is(stop, "toolUse");
}

/* ---- calls of tools ---- */

static void
add_path(rt_buf *buf, const rt_tree_speaker *s, yyjson_val *arguments, const char *otherwise)
{
	rt_str path = rt_json_str(rt_json_get(arguments, "path"));

	if (path.size == 0 && otherwise == NULL)
		path = rt_json_str(rt_json_get(arguments, "file_path"));
	else if (path.size == 0)
		path = rt_str_of(otherwise);
	if (s->home.size > 0 && rt_str_starts(path, s->home)) {
		rt_buf_add_byte(buf, '~');
		path = rt_str_at(path.ptr + s->home.size, path.size - s->home.size);
	}
	rt_buf_add_str(buf, path);
}

/* ":3-12", from an offset and a limit. */
static void
add_range(rt_buf *buf, yyjson_val *arguments)
{
	yyjson_val *offset = rt_json_get(arguments, "offset");
	yyjson_val *limit = rt_json_get(arguments, "limit");
	int64_t start = 1, count;

	if (offset == NULL && limit == NULL)
		return;
	rt_buf_add_byte(buf, ':');
	if (offset != NULL && !rt_json_i64(offset, &start)) {
		rt_buf_add_str(buf, rt_json_str(offset));
		return;
	}
	rt_buf_add_i64(buf, start);
	if (limit != NULL && rt_json_i64(limit, &count) && count < INT64_MAX / 2 &&
	    count > INT64_MIN / 2 && start < INT64_MAX / 2 && start > INT64_MIN / 2 &&
	    start + count - 1 != 0)
		rt_buf_add_f(buf, "-%lld", (long long)(start + count - 1));
}

static void
add_command(rt_buf *buf, rt_str command)
{
	bool more = command.size > COMMAND_UNITS &&
		    cut_units(command, COMMAND_UNITS).size < command.size;

	rt_buf_add_str(buf, cut_units(trim(command), COMMAND_UNITS));
	rt_buf_add_c(buf, more ? "...]" : "]");
}

static void
add_arguments(rt_buf *buf, yyjson_val *arguments)
{
	size_t begin = buf->size, all;

	if (arguments != NULL)
		rt_json_add_value(buf, arguments);
	all = buf->size - begin;
	if (all == 0)
		return;
	buf->size = begin + cut_units(rt_str_skip(rt_buf_str(buf), begin), ARGUMENTS_UNITS).size;
	if (buf->size - begin < all)
		rt_buf_add_c(buf, "...");
}

static void
add_call(rt_buf *buf, const rt_tree_speaker *s)
{
	rt_str name = rt_json_str(rt_json_get(s->call, "name"));
	yyjson_val *arguments = rt_json_get(s->call, "arguments");
	rt_str pattern = rt_json_str(rt_json_get(arguments, "pattern"));

	rt_buf_add_byte(buf, '[');
	rt_buf_add_str(buf, name);
	rt_buf_add_c(buf, ": ");
	if (rt_str_is(name, "bash")) {
		add_command(buf, rt_json_str(rt_json_get(arguments, "command")));
		return;
	}
	if (rt_str_is(name, "read")) {
		add_path(buf, s, arguments, NULL);
		add_range(buf, arguments);
	} else if (rt_str_is(name, "write") || rt_str_is(name, "edit")) {
		add_path(buf, s, arguments, NULL);
	} else if (rt_str_is(name, "grep") || rt_str_is(name, "find")) {
		const char *slash = rt_str_is(name, "grep") ? "/" : "";

		rt_buf_add_c(buf, slash);
		rt_buf_add_str(buf, pattern);
		rt_buf_add_c(buf, slash);
		rt_buf_add_c(buf, " in ");
		add_path(buf, s, arguments, ".");
	} else if (rt_str_is(name, "ls")) {
		add_path(buf, s, arguments, ".");
	} else {
		add_arguments(buf, arguments);
	}
	rt_buf_add_byte(buf, ']');
}

rt_str
rt_tree_call_id(const rt_body *body)
{
	return rt_json_str(message_member(body, "toolCallId"));
}

void
rt_tree_each_call(const rt_body *body, rt_tree_call_fn fn, void *ctx)
{
	for (rt_json_iter it = rt_json_items(body->content_json); rt_json_next(&it);)
		if (rt_str_is(rt_json_str(rt_json_get(it.value, "type")), "toolCall"))
			fn(ctx, rt_json_str(rt_json_get(it.value, "id")), it.value);
}

/* ---- words ---- */

static void
add_named(rt_buf *buf, const char *before, rt_str name)
{
	rt_buf_add_byte(buf, '[');
	rt_buf_add_c(buf, before);
	rt_buf_add_str(buf, name);
	rt_buf_add_byte(buf, ']');
}

/* "[name]: text" */
static void
add_said(rt_buf *buf, rt_str name, const rt_body *body, size_t *out_who)
{
	size_t begin = buf->size;

	add_named(buf, "", name);
	rt_buf_add_c(buf, ": ");
	*out_who = buf->size - begin;
	begin = buf->size;
	add_text(buf, body, SUMMARY_BYTES);
	trim_from(buf, begin);
}

static void
add_compaction(rt_buf *buf, yyjson_val *before)
{
	double tokens = strtod(yyjson_get_raw(before) != NULL ? yyjson_get_raw(before) : "0", NULL);

	rt_buf_add_f(buf, "[compaction: %.0fk tokens]", floor(tokens / 1000 + 0.5));
}

/* Does the record of a context edit remove its target, rather than replace it? */
static bool
is_omission(yyjson_val *record)
{
	yyjson_val *to = rt_json_get(record, "replacement");

	return to == NULL || yyjson_is_null(to);
}

/* Records that are shown as "[prefix: member]", and searched for as "hay member". */
typedef struct named_record {
	const char *kind, *prefix, *hay, *member;
	const char *absent; /* words where the member is missing or empty; NULL: none */
} named_record;

static const named_record named_records[] = {
	{"session_info", "title: ", "title ", "name", "empty"},
	{"model_change", "model: ", "model ", "modelId", NULL},
	{"thinking_level_change", "thinking: ", "thinking ", "thinkingLevel", NULL},
	{"custom", "custom: ", "custom ", "customType", NULL},
	{"label", "label: ", "label ", "label", NULL},
};

static const named_record *
named_record_of(rt_str kind)
{
	for (size_t i = 0; i < sizeof(named_records) / sizeof(named_records[0]); i++)
		if (rt_str_is(kind, named_records[i].kind))
			return &named_records[i];
	return NULL;
}

/* Records of pi other than messages; false: it is none. */
static bool
add_record(rt_buf *buf, const rt_tree_speaker *s, yyjson_val *record, size_t *out_who)
{
	const named_record *named = named_record_of(s->kind);

	if (named != NULL) {
		yyjson_val *value = rt_json_get(record, named->member);
		rt_str text = rt_json_str(value);

		if (text.size == 0 && named->absent != NULL)
			text = rt_str_of(named->absent);
		if (rt_str_is(s->kind, "label") && !yyjson_is_str(value))
			text = RT_STR("(cleared)");
		add_named(buf, named->prefix, text);
	} else if (rt_str_is(s->kind, "custom_message")) {
		add_said(buf, rt_json_str(rt_json_get(record, "customType")), s->body, out_who);
	} else if (rt_str_is(s->kind, "compaction")) {
		add_compaction(buf, rt_json_get(record, "tokensBefore"));
	} else if (rt_str_is(s->kind, "branch_summary")) {
		add_said(buf, RT_STR("branch summary"), s->body, out_who);
	} else if (rt_str_is(s->kind, "context_edit")) {
		add_named(buf, is_omission(record) ? "context omit: " : "context replace: ",
			  rt_json_str(rt_json_get(record, "targetId")));
	} else {
		return false;
	}
	return true;
}

static void
add_speech(rt_buf *buf, const rt_tree_speaker *s, size_t *out_who)
{
	rt_buf brief;
	size_t begin = buf->size;

	rt_buf_add_str(buf, s->role);
	if (s->model.size > 0)
		rt_buf_add_f(buf, " (%.*s)", RT_STR_ARG(s->model));
	rt_buf_add_c(buf, ": ");
	*out_who = buf->size - begin;
	begin = buf->size;
	add_message_text(buf, s);
	trim_from(buf, begin);
	if (buf->size > begin || rt_tree_kind_of(s->role, s->kind) == RT_TREE_USER)
		return;
	if (!s->as_pi && trim(s->body->content).size > 0) {
		rt_buf_add_c(buf, "(thinking)");
		return;
	}
	if (record_of(s->body) != NULL) {
		rt_str error = rt_json_str(message_member(s->body, "errorMessage"));

		if (rt_str_is(rt_json_str(message_member(s->body, "stopReason")), "aborted"))
			rt_buf_add_c(buf, "(aborted)");
		else if (error.size > 0)
			rt_buf_add_str(buf, cut_units(trim(error), ERROR_UNITS));
		else if (s->as_pi)
			rt_buf_add_c(buf, "(no content)");
		if (buf->size > begin)
			return;
	}
	rt_buf_init(&brief, buf->alloc, RT_BUF_UNLIMITED);
	rt_content_add_brief(&brief, rt_body_content(s->body),
			     rt_body_field(s->body, "tool_calls"), NULL);
	rt_buf_add_str(buf, brief.size > 0 ? rt_buf_str(&brief) : RT_STR("(no content)"));
	if (brief.status != RT_OK)
		buf->status = brief.status;
	rt_buf_deinit(&brief);
}

static void
add_pi_message(rt_buf *buf, const rt_tree_speaker *s, rt_str role, size_t *out_who)
{
	size_t begin;

	if (rt_str_is(role, "toolResult")) {
		rt_str tool = rt_json_str(message_member(s->body, "toolName"));

		if (s->call != NULL)
			add_call(buf, s);
		else
			add_named(buf, "", tool.size > 0 ? tool : RT_STR("tool"));
	} else if (rt_str_is(role, "bashExecution")) {
		rt_buf_add_c(buf, "[bash]: ");
		*out_who = 8;
		begin = buf->size;
		rt_buf_add_str(buf, rt_json_str(message_member(s->body, "command")));
		trim_from(buf, begin);
	} else if (rt_tree_kind_of(s->role, s->kind) == RT_TREE_USER ||
		   rt_tree_kind_of(s->role, s->kind) == RT_TREE_ASSISTANT) {
		add_speech(buf, s, out_who);
	} else {
		add_named(buf, "", role);
	}
}

void
rt_tree_add_words(rt_buf *buf, const rt_tree_speaker *s, size_t *out_who)
{
	yyjson_val *record = record_of(s->body);
	rt_str name = rt_body_custom_type(s->body);

	*out_who = 0;
	if (s->body->format == RT_BODY_PURGED) {
		rt_buf_add_str(buf, s->role);
		rt_buf_add_c(buf, ": ");
		*out_who = s->role.size + 2;
		rt_buf_add_c(buf, s->body->lost ? "(lost)" : "(purged)");
		return;
	}
	if (record != NULL) {
		if (add_record(buf, s, record, out_who))
			return;
		if (is_message(s->kind))
			add_pi_message(buf, s, s->role, out_who);
		else if (!s->as_pi)
			add_named(buf, "", s->kind);
		return;
	}
	if (rt_str_is(s->kind, "compaction") && rt_body_field(s->body, "tokens_before") != NULL)
		rt_body_add_title(buf, s->kind, s->body);
	else if (rt_str_is(s->kind, "custom_message"))
		add_said(buf, name.size > 0 ? name : s->role, s->body, out_who);
	else if (!is_message(s->kind))
		add_said(buf,
			 rt_str_is(s->kind, "branch_summary") ? RT_STR("branch summary") : s->kind,
			 s->body, out_who);
	else
		add_speech(buf, s, out_who);
}

/* ---- for searches ---- */

void
rt_tree_add_hay(rt_buf *buf, const rt_tree_speaker *s, size_t *out_text)
{
	yyjson_val *record = record_of(s->body);
	const named_record *named = record != NULL ? named_record_of(s->kind) : NULL;
	size_t begin = buf->size;

	if (named != NULL) {
		rt_buf_add_c(buf, named->hay);
		*out_text = buf->size - begin;
		rt_buf_add_str(buf, cut_units(rt_json_str(rt_json_get(record, named->member)),
					      TEXT_UNITS));
		return;
	}
	if (record != NULL && rt_str_is(s->kind, "custom_message"))
		rt_buf_add_str(buf, rt_json_str(rt_json_get(record, "customType")));
	else if (rt_str_is(s->kind, "branch_summary"))
		rt_buf_add_c(buf, "branch summary");
	else if (record != NULL && rt_str_is(s->kind, "context_edit"))
		rt_buf_add_c(buf, "context edit");
	else if (!is_message(s->kind))
		rt_buf_add_str(buf, s->kind);
	else
		rt_buf_add_str(buf, s->role);
	rt_buf_add_byte(buf, ' ');
	*out_text = buf->size - begin;
	if (record != NULL && rt_str_is(s->kind, "context_edit")) {
		rt_buf_add_c(buf, is_omission(record) ? "omit " : "replace ");
		rt_buf_add_str(buf, rt_json_str(rt_json_get(record, "targetId")));
		return;
	}
	if (record != NULL && rt_str_is(s->kind, "compaction"))
		return;
	add_message_text(buf, s);
	if (rt_str_is(s->role, "bashExecution")) {
		rt_buf_add_byte(buf, ' ');
		rt_buf_add_str(buf, cut_units(rt_json_str(message_member(s->body, "command")),
					      TEXT_UNITS));
	}
}
