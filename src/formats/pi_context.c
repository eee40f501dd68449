/* SPDX-License-Identifier: MIT
 *
 * What a model is sent when the conversation stands at an entry.
 *
 *   path      root … C … leaf        C: the last compaction on it, if any
 *   selected  C, the entries before C from the first kept one on (system messages left
 *             out), the entries after C; without a C the whole path
 *   edits     the last context edit per target among the selected
 *   items     the selected entries that have something to say, edits applied
 *
 * The settings come from the whole path, also from before the compaction. */
#include "formats/pi_impl.h"

static void
settings(const rt_pi_session *session, const size_t *path, size_t count, rt_pi_context *context)
{
	size_t i;

	for (i = 0; i < count; i++) {
		const rt_pi_entry *e = &session->entries[path[i]];

		if (e->kind == RT_PI_THINKING_LEVEL_CHANGE) {
			context->thinking_level = e->text;
		} else if (e->kind == RT_PI_MODEL_CHANGE ||
			   (e->kind == RT_PI_MESSAGE && rt_str_is(e->role, "assistant"))) {
			context->has_model = true;
			context->provider = e->text;
			context->model = e->model;
		}
	}
}

/* Move what is selected to the front of path; gives its count. */
static size_t
choose(const rt_pi_session *session, size_t *path, size_t count, size_t *selected)
{
	size_t c = count, first, kept = 0, i;
	const rt_pi_entry *compaction;

	while (c > 0 && session->entries[path[c - 1]].kind != RT_PI_COMPACTION)
		c--;
	if (c == 0) {
		memcpy(selected, path, count * sizeof(*path));
		return count;
	}
	c--;
	compaction = &session->entries[path[c]];
	for (first = 0; first < c; first++)
		if (compaction->target.ptr != NULL &&
		    session->entries[path[first]].id.ptr != NULL &&
		    rt_str_eq(session->entries[path[first]].id, compaction->target))
			break;
	selected[kept++] = path[c];
	for (i = first; i < c; i++) {
		const rt_pi_entry *e = &session->entries[path[i]];

		if (e->kind != RT_PI_MESSAGE || !rt_str_is(e->role, "system"))
			selected[kept++] = path[i];
	}
	for (i = c + 1; i < count; i++)
		selected[kept++] = path[i];
	return kept;
}

/* Does the item have anything to say, edits apart? */
static bool
speaks(const rt_pi_session *session, const rt_pi_item *item)
{
	const rt_pi_entry *e = &session->entries[item->entry];

	return e->speaks && (e->kind != RT_PI_COMPACTION || item->is_first);
}

/* What an edit puts in the place of a content; NULL and true: nothing at all. */
static bool
replacement_of(yyjson_val *edit, yyjson_val **out_content)
{
	yyjson_val *replacement = rt_json_get(edit, "replacement");
	yyjson_val *content = rt_json_get(replacement, "content");

	*out_content = NULL;
	if (yyjson_is_null(replacement))
		return true;
	if (!yyjson_is_str(content) && !yyjson_is_arr(content))
		return false; /* not an edit that pi would write: it says nothing */
	*out_content = content;
	return true;
}

/* edits: for every entry the edit in force + 1, or NULL when there are none at all. */
static rt_status
collect_edits(const rt_alloc *alloc, const rt_pi_session *session, const size_t *selected,
	      size_t count, uint32_t **out_edits)
{
	uint32_t *edits = NULL;
	size_t i;

	for (i = 0; i < count; i++) {
		const rt_pi_entry *e = &session->entries[selected[i]];
		int64_t target;

		if (e->kind != RT_PI_CONTEXT_EDIT || e->target.ptr == NULL)
			continue;
		target = rt_pi_session_find(session, e->target);
		if (target < 0)
			continue;
		if (edits == NULL) {
			edits = rt_new_array(alloc, session->entry_count, sizeof(*edits));
			if (edits == NULL)
				return RT_NOMEM;
			memset(edits, 0, session->entry_count * sizeof(*edits));
		}
		edits[target] = (uint32_t)selected[i] + 1;
	}
	*out_edits = edits;
	return RT_OK;
}

/* Does the edit take the whole entry away? */
static rt_status
is_omitted(const rt_alloc *alloc, const rt_pi_session *session, int64_t edit, bool *out)
{
	rt_json_doc *doc = NULL;
	yyjson_val *content;
	rt_status st = rt_json_read_repairing(alloc, session->entries[edit].line, &doc, NULL, NULL);

	if (st != RT_OK)
		return st;
	*out = replacement_of(rt_json_root(doc), &content) && content == NULL;
	rt_json_free(doc);
	return RT_OK;
}

static rt_status
fill(const rt_alloc *alloc, const rt_pi_session *session, const size_t *selected, size_t count,
     const uint32_t *edits, rt_pi_context *context)
{
	size_t i;

	context->items = rt_new_array(alloc, count, sizeof(*context->items));
	if (context->items == NULL)
		return RT_NOMEM;
	for (i = 0; i < count; i++) {
		rt_pi_item item = {selected[i], -1, i == 0};
		bool omitted = false;
		rt_status st;

		if (edits != NULL)
			item.edit = (int64_t)edits[selected[i]] - 1;
		if (!speaks(session, &item))
			continue;
		if (item.edit >= 0) {
			st = is_omitted(alloc, session, item.edit, &omitted);
			if (st != RT_OK)
				return st;
		}
		if (!omitted)
			context->items[context->item_count++] = item;
	}
	return RT_OK;
}

rt_status
rt_pi_context_init(const rt_alloc *alloc, const rt_pi_session *session, int64_t at,
		   rt_pi_context *out)
{
	rt_pi_context context;
	size_t *path = NULL, *selected = NULL, count, kept;
	uint32_t *edits = NULL;
	rt_status st;

	memset(&context, 0, sizeof(context));
	context.alloc = alloc;
	context.thinking_level = RT_STR("off");
	st = rt_pi_session_path(alloc, session, at, &path, &count);
	if (st != RT_OK)
		return st;
	settings(session, path, count, &context);
	selected = rt_new_array(alloc, count, sizeof(*selected));
	if (selected == NULL) {
		st = RT_NOMEM;
		goto done;
	}
	kept = choose(session, path, count, selected);
	st = collect_edits(alloc, session, selected, kept, &edits);
	if (st != RT_OK)
		goto done;
	st = fill(alloc, session, selected, kept, edits, &context);
	if (st != RT_OK)
		goto done;
	*out = context;
	context.items = NULL;
done:
	rt_free(alloc, context.items);
	rt_free(alloc, edits);
	rt_free(alloc, selected);
	rt_free(alloc, path);
	return st;
}

void
rt_pi_context_deinit(rt_pi_context *context)
{
	rt_free(context->alloc, context->items);
	memset(context, 0, sizeof(*context));
}

static void
add_timestamp(rt_buf *buf, const rt_pi_entry *e)
{
	rt_json_add_key(buf, "timestamp");
	if (e->ts_from == RT_PI_TS_ENTRY)
		rt_buf_add_i64(buf, rt_pi_ms(e->ts));
	else
		rt_buf_add_c(buf, "null"); /* what JavaScript makes of a date that is none */
}

/* key and value, if object has it */
static void
add_member(rt_buf *buf, yyjson_val *object, const char *key)
{
	yyjson_val *value = rt_json_get(object, key);

	if (value == NULL)
		return;
	rt_json_add_key(buf, key);
	rt_json_add_value(buf, value);
}

/* A content that an edit gave. Only a user's, or an extension's, may be a bare string. */
static void
add_edited(rt_buf *buf, rt_str role, yyjson_val *content)
{
	if (yyjson_is_str(content) &&
	    (rt_str_is(role, "assistant") || rt_str_is(role, "toolResult"))) {
		rt_buf_add_c(buf, "[{\"type\":\"text\",\"text\":");
		rt_json_add_value(buf, content);
		rt_buf_add_c(buf, "}]");
		return;
	}
	rt_json_add_value(buf, content);
}

static bool
is_editable(rt_str role)
{
	return rt_str_is(role, "user") || rt_str_is(role, "assistant") ||
	       rt_str_is(role, "toolResult") || rt_str_is(role, "custom");
}

/* A message as it is, but for an edited content and one that is missing. */
static void
add_message(rt_buf *buf, rt_str role, yyjson_val *message, yyjson_val *edited)
{
	yyjson_val *key, *value, *content = rt_json_get(message, "content");
	bool missing = content == NULL || yyjson_is_null(content);
	const char *empty = rt_str_is(role, "user") || rt_str_is(role, "assistant") ||
					    rt_str_is(role, "toolResult")
				    ? "[]"
			    : rt_str_is(role, "system") ? "\"\""
							: NULL;
	size_t i, max;

	if (edited != NULL && !is_editable(role))
		edited = NULL;
	rt_buf_add_byte(buf, '{');
	yyjson_obj_foreach(message, i, max, key, value)
	{
		rt_str name = rt_json_str(key);

		if (rt_str_is(name, "content") && (edited != NULL || (missing && empty != NULL)))
			continue;
		rt_json_add_key_str(buf, name);
		rt_json_add_value(buf, value);
	}
	if (edited != NULL) {
		rt_json_add_key(buf, "content");
		add_edited(buf, role, edited);
	} else if (missing && empty != NULL) {
		rt_json_add_key(buf, "content");
		rt_buf_add_c(buf, empty);
	}
	rt_buf_add_byte(buf, '}');
}

static void
add_custom_message(rt_buf *buf, const rt_pi_entry *e, yyjson_val *record, yyjson_val *edited)
{
	yyjson_val *content = rt_json_get(record, "content");

	rt_buf_add_c(buf, "{\"role\":\"custom\"");
	add_member(buf, record, "customType");
	rt_json_add_key(buf, "content");
	if (edited != NULL)
		add_edited(buf, RT_STR("custom"), edited);
	else if (content == NULL || yyjson_is_null(content))
		rt_buf_add_c(buf, "[]");
	else
		rt_json_add_value(buf, content);
	add_member(buf, record, "display");
	add_member(buf, record, "details");
	add_timestamp(buf, e);
	rt_buf_add_byte(buf, '}');
}

static void
add_compaction(rt_buf *buf, const rt_pi_entry *e, yyjson_val *record)
{
	yyjson_val *system = rt_json_get(record, "systemMessage");

	if (yyjson_is_obj(system)) {
		rt_json_add_value(buf, system);
		rt_buf_add_byte(buf, ',');
	}
	rt_buf_add_c(buf, "{\"role\":\"compactionSummary\"");
	add_member(buf, record, "summary");
	add_member(buf, record, "tokensBefore");
	add_timestamp(buf, e);
	rt_buf_add_byte(buf, '}');
}

static void
add_branch_summary(rt_buf *buf, const rt_pi_entry *e, yyjson_val *record)
{
	rt_buf_add_c(buf, "{\"role\":\"branchSummary\"");
	add_member(buf, record, "summary");
	add_member(buf, record, "fromId");
	add_timestamp(buf, e);
	rt_buf_add_byte(buf, '}');
}

rt_status
rt_pi_context_add(rt_buf *buf, const rt_alloc *alloc, const rt_pi_session *session,
		  const rt_pi_item *item, rt_error *err)
{
	const rt_pi_entry *e = &session->entries[item->entry];
	rt_json_doc *doc = NULL, *edit = NULL;
	yyjson_val *record, *edited = NULL;
	rt_status st = rt_json_read_repairing(alloc, e->line, &doc, NULL, err);

	if (st == RT_OK && item->edit >= 0)
		st = rt_json_read_repairing(alloc, session->entries[item->edit].line, &edit, NULL,
					    err);
	if (st != RT_OK)
		goto done;
	record = rt_json_root(doc);
	if (edit != NULL)
		(void)replacement_of(rt_json_root(edit), &edited);
	if (buf->size > 0)
		rt_json_add_comma(buf);
	switch (e->kind) {
	case RT_PI_MESSAGE:
		add_message(buf, e->role, rt_json_get(record, "message"), edited);
		break;
	case RT_PI_CUSTOM_MESSAGE: add_custom_message(buf, e, record, edited); break;
	case RT_PI_COMPACTION: add_compaction(buf, e, record); break;
	case RT_PI_BRANCH_SUMMARY: add_branch_summary(buf, e, record); break;
	default: break;
	}
	st = buf->status == RT_OK ? RT_OK : rt_fail(err, buf->status, "a context too large");
done:
	rt_json_free(doc);
	rt_json_free(edit);
	return st;
}
