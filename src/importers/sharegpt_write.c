/* SPDX-License-Identifier: MIT
 *
 * Writing ShareGPT: the active takes as an array, or one a line. A call of a tool and its result are
 * separate messages; thinking and images have no place in the format. */
#include "importers/back.h"
#include "importers/graph.h"
#include "importers/sharegpt.h"

/* A message. Members of the record that the format does not know follow; raw may be NULL. */
static void
put_message(rt_back *k, const char *from, rt_str value, yyjson_val *raw)
{
	rt_json_open(k->out, NULL, '{');
	rt_json_put_c(k->out, "from", from);
	rt_json_put_str(k->out, "value", value);
	for (rt_json_iter m = rt_json_members(raw); rt_json_next(&m);)
		if (!rt_is_word(m.key, "from role value content"))
			rt_json_put_member(k->out, m.key, m.value);
	rt_json_close(k->out, '}');
}

static rt_str
call_text(rt_back *k, const rt_part *part)
{
	rt_buf *text = rt_scope_buf(&k->w.e);

	rt_json_open(text, NULL, '{');
	rt_json_put_str(text, "name", part->name);
	if (yyjson_is_obj(part->value))
		rt_json_put_value(text, "arguments", part->value);
	else
		rt_json_put_raw(text, "arguments", RT_STR("{}"));
	rt_json_close(text, '}');
	return rt_scope_str(&k->w.e, text);
}

/* Texts from this part on are one message; returns the part after them. */
static size_t
put_texts(rt_back *k, const rt_back_entry *e, size_t from, yyjson_val *raw)
{
	static const char *const names[] = {"human", "gpt", "system"};
	rt_buf *text = rt_scope_buf(&k->w.e);
	size_t i, count = 0;

	for (i = from; i < e->count && e->parts[i].kind != RT_PART_CALL &&
		       e->parts[i].kind != RT_PART_RESULT;
	     i++) {
		const rt_part *part = &e->parts[i];

		if (part->kind == RT_PART_THINKING || part->kind == RT_PART_IMAGE)
			continue;
		if (count++ > 0)
			rt_buf_add_byte(text, '\n');
		if (part->kind == RT_PART_FILE)
			rt_back_file_text(text, part);
		else
			rt_buf_add_str(text, part->text);
	}
	if (count > 0)
		put_message(k, names[e->speaker], rt_scope_str(&k->w.e, text), raw);
	return i;
}

static void
put_entry(rt_back *k, const rt_back_entry *e)
{
	yyjson_val *raw = e->count == 1 && yyjson_is_obj(e->raw) ? e->raw : NULL;

	for (size_t i = 0; i < e->count;) {
		const rt_part *part = &e->parts[i];

		if (part->kind == RT_PART_CALL)
			put_message(k, part->name.size > 0 ? "function_call" : "gpt",
				    call_text(k, part), raw);
		else if (part->kind == RT_PART_RESULT)
			put_message(k, "observation", rt_back_result_text(k, part, false), raw);
		if (part->kind == RT_PART_CALL || part->kind == RT_PART_RESULT)
			i++;
		else
			i = put_texts(k, e, i, raw);
	}
}

/* Further members of the conversation. */
static void
put_fields(rt_back *k)
{
	const rt_outline *o = k->w.outline;
	rt_str prefix = RT_STR("sharegpt.");

	for (size_t i = 0; i < o->field_count; i++)
		if (rt_str_starts(o->fields[i].name, prefix) &&
		    !rt_is_word(o->fields[i].name, "sharegpt.records sharegpt.title")) {
			rt_json_add_key_str(k->out, rt_str_skip(o->fields[i].name, prefix.size));
			rt_buf_add_str(k->out, o->fields[i].json);
		}
}

static void
write_conversation(rt_back *k)
{
	rt_back_entry e;
	bool has_entry;

	if (k->out->size > 0 && k->out->ptr[k->out->size - 1] == '}')
		rt_buf_add_c(k->out, k->w.options.lines ? "\n" : ",\n");
	rt_json_open(k->out, NULL, '{');
	put_fields(k);
	if (k->w.outline->name.size > 0)
		rt_json_put_str(k->out, "title", rt_back_title(k));
	has_entry = rt_back_entry_next(k, &e);
	if (has_entry && e.speaker == RT_BACK_SYSTEM && e.count == 1 && e.raw == NULL &&
	    e.parts[0].kind == RT_PART_TEXT && e.parts[0].text.size > 0) {
		rt_json_put_str(k->out, "system", e.parts[0].text);
		has_entry = rt_back_entry_next(k, &e);
	}
	rt_json_open(k->out, "conversations", '[');
	for (; has_entry; has_entry = rt_back_entry_next(k, &e))
		put_entry(k, &e);
	rt_json_close(k->out, ']');
	rt_json_close(k->out, '}');
}

rt_status
rt_sharegpt_write(const rt_alloc *alloc, const rt_outlines *in, const rt_export_options *options,
		  rt_buf *out, rt_error *err)
{
	rt_back k;

	rt_back_init(&k, alloc, "sharegpt", in, options, out);
	k.holds_several = true;
	if (!k.w.options.lines)
		rt_buf_add_c(out, "[\n");
	while (rt_back_next(&k, write_conversation))
		;
	rt_buf_add_c(out, k.w.options.lines ? "\n" : "\n]\n");
	return rt_writer_end(&k.w, err);
}
