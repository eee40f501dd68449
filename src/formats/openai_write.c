/* SPDX-License-Identifier: MIT
 *
 * Writing OpenAI chat messages.
 *
 * Roles (C55): user, AI/assistant and system in any case, and what OpenAI knows besides;
 * others become a user's text with the role in front, unless the setting role_map names
 * another role for them. In the lossless form a message's content is never changed so:
 * its role is in "retake". */
#include <stdlib.h> /* qsort */

#include "formats/formats_extras.h"
#include "formats/openai_impl.h"

typedef struct writer {
	const rt_alloc *alloc;
	const rt_outlines *in;
	bool lossless, whole, lines;
	bool is_array;        /* what is being written: an array, each message on a line */
	bool is_training;     /* a line of a fine-tuning file, which may have weights */
	size_t message_count; /* of it, so far */
	rt_buf *out;
	rt_error *err;
	rt_status status;
	rt_buf scratch;       /* a body being taken apart */
	rt_json_doc *role_map; /* of the discussion being written, or NULL */
} writer;

static const char *
known_role(rt_str role)
{
	static const char *const known[] = {"user", "assistant", "system", "developer",
					    "tool", "function",	 NULL};
	size_t i;

	if (rt_str_eq_nocase(role, RT_STR("ai")))
		return "assistant";
	for (i = 0; known[i] != NULL; i++)
		if (rt_str_eq_nocase(role, rt_str_of(known[i])))
			return known[i];
	return NULL;
}

/* The role to write; *out_front is what has to stand in front of the text, or empty. */
static rt_str
role_of(const writer *w, rt_str role, rt_str *out_front)
{
	const char *known = known_role(role);
	yyjson_val *map = w->role_map == NULL ? NULL : rt_json_root(w->role_map), *key, *value;
	size_t i, max;

	*out_front = rt_str_at(NULL, 0);
	if (yyjson_is_obj(map)) {
		yyjson_obj_foreach(map, i, max, key, value)
		{
			if (rt_str_eq_nocase(rt_json_str(key), role) && yyjson_is_str(value))
				return rt_json_str(value);
		}
	}
	if (known != NULL)
		return rt_str_of(known);
	*out_front = role;
	return RT_STR("user");
}

static void
add_role(writer *w, rt_str role)
{
	rt_json_add_key(w->out, "role");
	rt_json_add_string(w->out, role);
}

/* The content with "role: " in front, where there is one to put. */
static void
add_content(writer *w, const rt_body *body, rt_str front)
{
	rt_buf text;

	rt_json_add_key(w->out, "content");
	if (front.size == 0 && !w->lossless && rt_openai_is_foreign(body->content_json)) {
		rt_openai_add_blocks(w->out, body->content_json, front);
		return;
	}
	if (front.size == 0) {
		rt_body_add_content(w->out, body);
		return;
	}
	rt_buf_init(&text, w->alloc, RT_BUF_UNLIMITED);
	rt_buf_add_str(&text, front);
	rt_buf_add_c(&text, ": ");
	if (body->content_json == NULL) {
		rt_buf_add_str(&text, body->content);
		rt_json_add_string(w->out, rt_buf_str(&text));
	} else {
		rt_openai_add_blocks(w->out, body->content_json, rt_buf_str(&text));
	}
	if (text.status != RT_OK)
		w->status = text.status;
	rt_buf_deinit(&text);
}

/* What stood in the place of the content, or NULL. */
static yyjson_val *
odd_content(const rt_body *body)
{
	yyjson_val *odd = rt_body_field(body, RT_BUILD_BAD_CONTENT);

	if (body->content.size > 0 || body->content_json != NULL)
		return NULL;
	if (yyjson_is_arr(odd) || (yyjson_is_str(odd) && yyjson_get_len(odd) > 0))
		return NULL; /* not of our making */
	return odd;
}

/* audio of a reply is {"id","data",…}; a request has the id alone. */
static void
add_audio(writer *w, yyjson_val *audio)
{
	yyjson_val *id = rt_json_get(audio, "id");

	if (!yyjson_is_obj(audio) || id == NULL) {
		rt_json_add_value(w->out, audio);
		return;
	}
	rt_buf_add_c(w->out, "{\"id\":");
	rt_json_add_value(w->out, id);
	rt_buf_add_byte(w->out, '}');
}

/* The further fields under the names that they came by; in the plain form those that the
 * API knows for the role. */
static void
add_further(writer *w, rt_str role, const rt_body *body)
{
	yyjson_val *key, *value;
	size_t i, max, prefix = strlen(OPENAI_PREFIX);

	if (body->format != RT_BODY_JSON)
		return;
	yyjson_obj_foreach(body->fields, i, max, key, value)
	{
		rt_str name = rt_json_str(key);

		if (rt_str_is(name, "content") || rt_str_is(name, "role") ||
		    rt_openai_is_ours(name))
			continue;
		if (rt_str_starts(name, RT_STR(OPENAI_PREFIX))) {
			name = rt_str_at(name.ptr + prefix, name.size - prefix);
			if (w->lossless && rt_str_is(name, "retake"))
				continue; /* the place is taken; it is in there */
		}
		if (!w->lossless && (!rt_openai_is_message_key(role, name) ||
				     (rt_str_is(name, "weight") && !w->is_training)))
			continue;
		rt_json_add_key_str(w->out, name);
		if (!w->lossless && rt_str_is(name, "audio"))
			add_audio(w, value);
		else if (!w->lossless && rt_str_is(name, "tool_calls"))
			rt_openai_add_call_items(w->out, value);
		else
			rt_json_add_value(w->out, value);
	}
}

static bool
has_calls(const rt_body *body)
{
	return rt_body_field(body, "tool_calls") != NULL ||
	       rt_body_field(body, "function_call") != NULL;
}

/* Members role, content and further ones of an entry with body T or J. */
static void
add_members(writer *w, const rt_node *node, const rt_body *body)
{
	rt_str front, role = role_of(w, node->role, &front);
	yyjson_val *odd = odd_content(body);

	if (!w->lossless && rt_str_is(role, "tool") &&
	    !yyjson_is_str(rt_body_field(body, "tool_call_id"))) {
		role = RT_STR("user"); /* the API wants to know of which call it is the result */
		front = node->role;
	}
	if (w->lossless || node->kind.size > 0)
		front = rt_str_at(NULL, 0);
	add_role(w, role);
	if (odd != NULL) {
		rt_json_add_key(w->out, "content");
		rt_json_add_value(w->out, odd);
	} else if (body->content.size == 0 && body->content_json == NULL && has_calls(body) &&
		   (w->lossless || rt_str_is(role, "assistant"))) {
		rt_json_add_key(w->out, "content");
		rt_buf_add_c(w->out, "null");
	} else {
		add_content(w, body, front);
	}
	if (!w->lossless && rt_str_is(role, "assistant") &&
	    rt_body_field(body, "tool_calls") == NULL)
		rt_openai_add_calls(w->out, body->content_json);
	add_further(w, role, body);
}

/* The content of a record of pi's as text. */
static void
add_pi_text(writer *w, const rt_body *body)
{
	rt_buf text;

	rt_buf_init(&text, w->alloc, RT_BUF_UNLIMITED);
	rt_body_add_text(&text, body);
	rt_json_add_key(w->out, "content");
	rt_json_add_string(w->out, rt_buf_str(&text));
	if (text.status != RT_OK)
		w->status = text.status;
	rt_buf_deinit(&text);
}

static bool
has_image(const rt_body *body)
{
	yyjson_val *block;
	size_t i, max;

	yyjson_arr_foreach(body->content_json, i, max, block)
	{
		if (rt_str_is(rt_json_str(rt_json_get(block, "type")), "image"))
			return true;
	}
	return false;
}

static void
add_pi_members(writer *w, const rt_node *node, const rt_body *body)
{
	yyjson_val *message = rt_json_get(body->fields, "message");
	rt_str role = rt_json_str(rt_json_get(message, "role")), front;

	if (rt_str_is(role, "toolResult")) {
		add_role(w, RT_STR("tool"));
		add_pi_text(w, body);
		rt_json_add_key(w->out, "tool_call_id");
		rt_json_add_string(w->out, rt_json_str(rt_json_get(message, "toolCallId")));
		return;
	}
	add_role(w, role_of(w, node->role, &front));
	if (w->lossless || !has_image(body)) {
		add_pi_text(w, body);
	} else {
		rt_json_add_key(w->out, "content");
		rt_openai_add_blocks(w->out, body->content_json, rt_str_at(NULL, 0));
	}
	if (rt_str_is(role, "assistant"))
		rt_openai_add_calls(w->out, body->content_json);
}

/* Does the plain form have this entry? Not what is muted or purged, nor kinds that no model
 * is sent (chat/context_entry.c). */
static bool
is_told(const rt_node *node)
{
	static const char *const silent[] = {
		"custom", "label", "session", "session_info", "model_change",
		"thinking_level_change", "usage", "context_edit", NULL};
	size_t i;

	if (node->muted || rt_node_is_purged(node))
		return false;
	for (i = 0; silent[i] != NULL; i++)
		if (rt_str_is(node->kind, silent[i]))
			return false;
	return true;
}

/* What stands before a message. */
static void
begin_message(void *ctx)
{
	writer *w = ctx;

	if (w->message_count++ > 0)
		rt_buf_add_byte(w->out, ',');
	if (w->is_array)
		rt_buf_add_byte(w->out, '\n');
}

static void
add_message(writer *w, const rt_node *node)
{
	rt_body body;
	rt_status st = rt_node_body(w->alloc, node, &w->scratch, &body, w->err);

	if (st != RT_OK) {
		w->status = st;
		return;
	}
	if (!w->lossless &&
	    rt_openai_add_results(w->out, body.content_json, begin_message, w)) {
		rt_body_deinit(&body);
		return;
	}
	begin_message(w);
	rt_buf_add_byte(w->out, '{');
	if (body.format == RT_BODY_PI)
		add_pi_members(w, node, &body);
	else
		add_members(w, node, &body);
	if (w->lossless) {
		rt_json_add_key(w->out, "retake");
		rt_extras_add(w->out, node, &body);
	}
	rt_buf_add_byte(w->out, '}');
	rt_body_deinit(&body);
}

static int
field_order(const void *a, const void *b)
{
	const rt_outline_field *const *x = a, *const *y = b;

	return rt_str_cmp((*x)->name, (*y)->name);
}

/* Members of a request body beside the messages. */
static void
add_request(writer *w, const rt_outline *o)
{
	size_t i, count = 0, prefix = strlen(OPENAI_PREFIX), setting = strlen("setting.");
	const rt_outline_field **sorted;

	if (o->field_count == 0)
		return;
	sorted = rt_new_array(w->alloc, o->field_count, sizeof(*sorted));
	if (sorted == NULL) {
		w->status = RT_NOMEM;
		return;
	}
	for (i = 0; i < o->field_count; i++)
		sorted[count++] = &o->fields[i];
	qsort(sorted, count, sizeof(*sorted), field_order);
	for (i = 0; i < count; i++) {
		rt_str name = sorted[i]->name;

		if (rt_str_starts(name, RT_STR(OPENAI_PREFIX))) {
			name = rt_str_at(name.ptr + prefix, name.size - prefix);
			if (w->lossless &&
			    (rt_str_is(name, "retake") || rt_str_is(name, "retake_more")))
				continue;
		} else if (rt_str_starts(name, RT_STR("setting.")) &&
			   rt_openai_is_setting(
				   rt_str_at(name.ptr + setting, name.size - setting))) {
			name = rt_str_at(name.ptr + setting, name.size - setting);
		} else {
			continue;
		}
		if (!w->lossless && !rt_openai_is_request_key(name))
			continue;
		rt_json_add_key_str(w->out, name);
		rt_buf_add_str(w->out, sorted[i]->json);
	}
	rt_free(w->alloc, sorted);
}

static bool
is_request(const rt_outline *o)
{
	size_t i;

	for (i = 0; i < o->field_count; i++)
		if (rt_str_starts(o->fields[i].name, RT_STR(OPENAI_PREFIX)))
			return true;
	return false;
}

static void
add_plain(writer *w, const rt_outline *o, const rt_outline_take *take, bool only)
{
	bool array = only && !w->lines && !is_request(o);
	size_t i;

	w->is_array = array;
	w->is_training = !array && rt_outline_field_of(o->fields, o->field_count,
						       OPENAI_PREFIX "model").size == 0;
	w->message_count = 0;
	rt_buf_add_c(w->out, array ? "[" : "{\"messages\":[");
	for (i = 0; take != NULL && i < take->node_count && w->status == RT_OK; i++)
		if (is_told(&o->nodes[take->nodes[i]]))
			add_message(w, &o->nodes[take->nodes[i]]);
	if (array && w->message_count > 0)
		rt_buf_add_byte(w->out, '\n');
	rt_buf_add_byte(w->out, ']');
	if (!array) {
		add_request(w, o);
		rt_buf_add_byte(w->out, '}');
	}
	rt_buf_add_byte(w->out, '\n');
}

static void
add_lossless(writer *w, rt_extras_discussion *d)
{
	const rt_outline *o = d->outline;
	int64_t *numbers = rt_new_array(w->alloc, o->node_count + 1, sizeof(*numbers));
	int64_t *order = rt_new_array(w->alloc, o->node_count + 1, sizeof(*order));
	size_t count, own, i;

	if (numbers == NULL || order == NULL) {
		w->status = RT_NOMEM;
		goto done;
	}
	rt_extras_number(o, d->takes, d->take_count, d->active, w->whole, numbers, order, &own,
			 &count);
	d->numbers = numbers;
	rt_buf_add_c(w->out, "{\"messages\":[");
	w->is_array = false;
	w->message_count = 0;
	for (i = 0; i < own && w->status == RT_OK; i++)
		add_message(w, &o->nodes[order[i]]);
	rt_buf_add_byte(w->out, ']');
	add_request(w, o);
	rt_json_add_key(w->out, "retake");
	rt_extras_add_discussion(w->out, d);
	if (count > own) {
		rt_json_add_key(w->out, "retake_more");
		rt_buf_add_byte(w->out, '[');
		w->message_count = 0;
		for (i = own; i < count && w->status == RT_OK; i++)
			add_message(w, &o->nodes[order[i]]);
		rt_buf_add_byte(w->out, ']');
	}
	rt_buf_add_c(w->out, "}\n");
done:
	rt_free(w->alloc, numbers);
	rt_free(w->alloc, order);
}

static void
add_conversation(writer *w, size_t at)
{
	const rt_outline *o = &w->in->items[at];
	rt_extras_discussion d = {.all = w->in, .outline = o, .whole = w->whole, .is_first = at == 0};
	rt_arena *arena = rt_arena_new(w->alloc);
	rt_str map = rt_outline_field_of(o->fields, o->field_count, "setting.role_map");

	if (map.size == 0)
		map = rt_outline_field_of(w->in->fields, w->in->field_count, "setting.role_map");
	if (arena == NULL)
		w->status = RT_NOMEM;
	else
		w->status = rt_outline_takes_of(w->alloc, arena, o, &d.takes, &d.take_count,
						&d.active, w->err);
	if (map.size > 0 && w->status == RT_OK &&
	    rt_json_read(w->alloc, map, &w->role_map, NULL) == RT_NOMEM)
		w->status = RT_NOMEM;
	if (w->status == RT_OK && w->lossless)
		add_lossless(w, &d);
	else if (w->status == RT_OK)
		add_plain(w, o, d.take_count > 0 ? &d.takes[d.active] : NULL, w->in->count == 1);
	rt_json_free(w->role_map);
	w->role_map = NULL;
	rt_arena_free(arena);
}

rt_status
rt_openai_write(const rt_alloc *alloc, const rt_outlines *in, const rt_export_options *options,
		rt_buf *out, rt_error *err)
{
	writer w = {.alloc = alloc, .in = in, .out = out, .err = err, .status = RT_OK};
	size_t i;

	if (options != NULL) {
		w.lossless = options->lossless;
		w.whole = options->whole;
		w.lines = options->lines;
	}
	rt_buf_init(&w.scratch, alloc, RT_BUF_UNLIMITED);
	if (in->count == 0)
		rt_buf_add_c(out, "[]\n");
	for (i = 0; i < in->count && w.status == RT_OK; i++)
		add_conversation(&w, i);
	rt_buf_deinit(&w.scratch);
	if (w.status == RT_NOMEM || (w.status == RT_OK && out->status != RT_OK))
		return rt_fail(err, w.status == RT_OK ? out->status : w.status,
			       "the export does not fit in memory");
	return w.status;
}
