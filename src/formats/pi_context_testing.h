/* SPDX-License-Identifier: MIT
 *
 * For tests: pi's interpretation of a session that we have read, for comparison with pi itself:
 * paths, the tree of its screen, and the context for a model. */
#ifndef RT_FORMATS_PI_CONTEXT_TESTING_H
#define RT_FORMATS_PI_CONTEXT_TESTING_H

#include "codec/json.h"
#include "formats/pi_impl.h"

/* Index of the last entry with this id; -1: none. (For the context at an unknown id pi uses the
 * leaf.) */
static inline int64_t
rt_pi_session_find(const rt_pi_session *session, rt_str id)
{
	return rt_index_get(&session->ids, id);
}

/* Every invariant. */
static inline void
rt_pi_session_check(const rt_pi_session *session)
{
	RT_ASSERT(session->leaf == (int64_t)session->entry_count - 1);
	RT_ASSERT(session->has_header || session->entry_count == 0);
	for (size_t i = 0; i < session->entry_count; i++) {
		const rt_pi_entry *e = &session->entries[i];
		int64_t at = e->parent;
		size_t steps = 0;

		RT_ASSERT(at >= -1);
		RT_ASSERT(at < (int64_t)session->entry_count);
		RT_ASSERT(e->line.size > 0);
		if (e->id.ptr != NULL)
			RT_ASSERT(rt_pi_session_find(session, e->id) >= (int64_t)i);
		if (at >= 0)
			RT_ASSERT(rt_str_eq(session->entries[at].id, e->parent_id));
		if (i % (session->entry_count / 64 + 1) != 0)
			continue; /* walks from some entries only, so that it stays linear */
		while (at >= 0 && steps++ <= session->entry_count)
			at = session->entries[at].parent;
		RT_ASSERT(at == -1);
	}
}

/* The labels in the order of their last setting from nothing; targets need not exist. */
typedef struct rt_pi_label {
	rt_str target;
	rt_str text;  /* empty: cleared */
	size_t entry; /* the label entry that set it */
} rt_pi_label;

/* In the scope's memory. */
static inline const rt_pi_label *
rt_pi_session_labels(rt_scope *s, const rt_pi_session *session, size_t *out_count)
{
	rt_pi_label *all = rt_scope_array(s, session->entry_count, sizeof(*all)), *to;
	size_t count = 0, kept = 0;

	RT_ASSERT(all != NULL);
	for (size_t i = 0; i < session->entry_count; i++) {
		const rt_pi_entry *e = &session->entries[i];

		if (e->kind != RT_PI_LABEL || e->target.ptr == NULL)
			continue;
		for (to = all + count; to > all; to--)
			if (rt_str_eq(to[-1].target, e->target))
				break;
		if (to == all || (to[-1].text.size == 0 && e->text.size > 0))
			to = all + ++count;
		to[-1] = (rt_pi_label){e->target, e->text, i};
	}
	for (size_t i = 0; i < count; i++)
		if (all[i].text.size > 0)
			all[kept++] = all[i];
	*out_count = kept;
	return all;
}

/* ---- paths ---- */

/* Entries from the root to entry at, both included; at -1: none. Free *out_path. */
static inline rt_status
rt_pi_session_path(const rt_alloc *alloc, const rt_pi_session *session, int64_t at,
		   size_t **out_path, size_t *out_count)
{
	size_t count = 0, i;
	int64_t up;
	size_t *path;

	for (up = at; up >= 0; up = session->entries[up].parent)
		count++;
	path = rt_new_array(alloc, count, sizeof(*path));
	if (path == NULL)
		return RT_NOMEM;
	for (up = at, i = count; up >= 0; up = session->entries[up].parent)
		path[--i] = (size_t)up;
	*out_path = path;
	*out_count = count;
	return RT_OK;
}

/* ---- the tree ---- */

/* The children of every entry as runs of one array. children_of(-1) are the roots, always in
 * file order. */
typedef struct rt_pi_tree {
	const rt_alloc *alloc;
	size_t *first;    /* entry_count + 2 items: where the children of entry i - 1 begin */
	size_t *children; /* entry indices */
	size_t count;
} rt_pi_tree;

/* A counting sort by parent keeps file order; runs that are out of order by time are then
 * sorted by it.
 *
 * An entry without a date is equal to every other, so that the order depends on which entries are
 * compared. Short runs are therefore sorted as pi's JavaScript engine does it, by binary insertion
 * after the part that is in order; long ones by merging. */
enum { SHORT_RUN = 63 };

static inline bool
tree_is_later(const rt_pi_session *session, size_t a, size_t b)
{
	const rt_pi_entry *x = &session->entries[a], *y = &session->entries[b];

	/* entries without a timestamp are neither earlier nor later */
	if (x->ts_from != RT_PI_TS_ENTRY || y->ts_from != RT_PI_TS_ENTRY)
		return false;
	return rt_pi_ms(x->ts) > rt_pi_ms(y->ts);
}

static inline void
tree_merge(const rt_pi_session *session, const size_t *from, size_t a, size_t b, size_t end,
	   size_t *to)
{
	size_t left = a, right = b, i;

	for (i = a; i < end; i++) {
		if (left < b && (right >= end || !tree_is_later(session, from[left], from[right])))
			to[i] = from[left++];
		else
			to[i] = from[right++];
	}
}

/* Length of the beginning that is in order; a strictly decreasing one is reversed. */
static inline size_t
tree_make_start(const rt_pi_session *session, size_t *run, size_t count)
{
	bool falls = tree_is_later(session, run[0], run[1]);
	size_t i, end;

	for (end = 2; end < count; end++)
		if (tree_is_later(session, run[end - 1], run[end]) != falls)
			break;
	for (i = 0; falls && i < end / 2; i++) {
		size_t swap = run[i];

		run[i] = run[end - 1 - i];
		run[end - 1 - i] = swap;
	}
	return end;
}

static inline void
tree_insert_rest(const rt_pi_session *session, size_t *run, size_t start, size_t count)
{
	size_t i;

	for (i = start; i < count; i++) {
		size_t pivot = run[i], left = 0, right = i;

		while (left < right) {
			size_t middle = left + (right - left) / 2;

			if (tree_is_later(session, run[middle], pivot))
				right = middle;
			else
				left = middle + 1;
		}
		memmove(run + left + 1, run + left, (i - left) * sizeof(*run));
		run[left] = pivot;
	}
}

/* Stable; spare has room for count. */
static inline void
tree_sort_run(const rt_pi_session *session, size_t *run, size_t count, size_t *spare)
{
	size_t width, i;

	for (i = 1; i < count && !tree_is_later(session, run[i - 1], run[i]); i++)
		;
	if (i >= count)
		return;
	if (count <= SHORT_RUN) {
		tree_insert_rest(session, run, tree_make_start(session, run, count), count);
		return;
	}
	for (width = 1; width < count; width *= 2) {
		for (i = 0; i < count; i += 2 * width) {
			size_t b = i + width < count ? i + width : count;
			size_t end = b + width < count ? b + width : count;

			tree_merge(session, run, i, b, end, spare);
		}
		memcpy(run, spare, count * sizeof(*run));
	}
}

static inline void
rt_pi_tree_deinit(rt_pi_tree *tree)
{
	rt_free(tree->alloc, tree->first);
	rt_free(tree->alloc, tree->children);
	memset(tree, 0, sizeof(*tree));
}

/* by_time: children sorted by their timestamps to a millisecond, ties in file order (what
 * pi shows). Else all in file order (what pi calls getChildren). */
static inline rt_status
rt_pi_tree_init(const rt_alloc *alloc, const rt_pi_session *session, bool by_time, rt_pi_tree *out)
{
	rt_pi_tree tree = {.alloc = alloc, .count = session->entry_count};
	size_t *spare, i;

	tree.first = rt_new_array(alloc, tree.count + 2, sizeof(*tree.first));
	tree.children = rt_new_array(alloc, tree.count, sizeof(*tree.children));
	spare = rt_new_array(alloc, tree.count, sizeof(*spare));
	if (tree.first == NULL || tree.children == NULL || spare == NULL) {
		rt_free(alloc, spare);
		rt_pi_tree_deinit(&tree);
		return RT_NOMEM;
	}
	/* Runs are numbered by parent + 1. Count each at its number plus one, add up: now
	 * first[run] is where it begins; filling moves that to where it ends, which is where the
	 * next one begins. */
	memset(tree.first, 0, (tree.count + 2) * sizeof(*tree.first));
	for (i = 0; i < tree.count; i++)
		tree.first[session->entries[i].parent + 2]++;
	for (i = 1; i < tree.count + 2; i++)
		tree.first[i] += tree.first[i - 1];
	for (i = 0; i < tree.count; i++)
		tree.children[tree.first[session->entries[i].parent + 1]++] = i;
	memmove(tree.first + 1, tree.first, (tree.count + 1) * sizeof(*tree.first));
	tree.first[0] = 0;
	for (i = 0; by_time && i < tree.count; i++)
		tree_sort_run(session, tree.children + tree.first[i + 1],
			      tree.first[i + 2] - tree.first[i + 1], spare);
	rt_free(alloc, spare);
	*out = tree;
	return RT_OK;
}

static inline const size_t *
rt_pi_tree_children(const rt_pi_tree *tree, int64_t of, size_t *out_count)
{
	*out_count = tree->first[of + 2] - tree->first[of + 1];
	return tree->children + tree->first[of + 1];
}

/* ---- the context ---- */

/* The context sent to a model when the conversation is at an entry:
 *
 *   path      root … C … leaf        C: the last compaction on it, if any
 *   selected  C, the entries before C from the first kept one on (system messages left
 *             out), the entries after C; without a C the whole path
 *   edits     the last context edit per target among the selected
 *   items     the selected entries that are sent, with edits applied
 *
 * The settings come from the whole path, also from before the compaction. */
typedef struct rt_pi_item {
	size_t entry;
	int64_t edit;  /* the context_edit in force for it; -1: none */
	bool is_first; /* a compaction is shown only there */
} rt_pi_item;

typedef struct rt_pi_context {
	const rt_alloc *alloc;
	rt_str thinking_level; /* "off" unless changed */
	bool has_model;
	rt_str provider, model; /* ptr NULL: the record does not say */
	rt_pi_item *items;      /* entries that give one message or (a compaction) two */
	size_t item_count;
} rt_pi_context;

static inline void
context_settings(const rt_pi_session *session, const size_t *path, size_t count,
		 rt_pi_context *context)
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

/* Move selected entries to the front of path; returns their count. */
static inline size_t
context_choose(const rt_pi_session *session, size_t *path, size_t count, size_t *selected)
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

/* Does the item have any content, apart from edits? */
static inline bool
context_speaks(const rt_pi_session *session, const rt_pi_item *item)
{
	const rt_pi_entry *e = &session->entries[item->entry];

	return e->speaks && (e->kind != RT_PI_COMPACTION || item->is_first);
}

/* The replacement by an edit of a content; NULL and true: nothing at all. */
static inline bool
context_replacement_of(yyjson_val *edit, yyjson_val **out_content)
{
	yyjson_val *replacement = rt_json_get(edit, "replacement");
	yyjson_val *content = rt_json_get(replacement, "content");

	*out_content = NULL;
	if (yyjson_is_null(replacement))
		return true;
	if (!yyjson_is_str(content) && !yyjson_is_arr(content))
		return false; /* not an edit in pi's form: it has no effect */
	*out_content = content;
	return true;
}

/* edits: for every entry the edit in force + 1, or NULL when there are none at all. */
static inline rt_status
context_collect_edits(const rt_alloc *alloc, const rt_pi_session *session, const size_t *selected,
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

/* Does the edit remove the whole entry? */
static inline rt_status
context_is_omitted(const rt_alloc *alloc, const rt_pi_session *session, int64_t edit, bool *out)
{
	rt_json_doc *doc = NULL;
	yyjson_val *content;
	rt_status st = rt_json_read_repairing(alloc, session->entries[edit].line, &doc, NULL, NULL);

	if (st != RT_OK)
		return st;
	*out = context_replacement_of(rt_json_root(doc), &content) && content == NULL;
	rt_json_free(doc);
	return RT_OK;
}

static inline rt_status
context_fill(const rt_alloc *alloc, const rt_pi_session *session, const size_t *selected,
	     size_t count, const uint32_t *edits, rt_pi_context *context)
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
		if (!context_speaks(session, &item))
			continue;
		if (item.edit >= 0) {
			st = context_is_omitted(alloc, session, item.edit, &omitted);
			if (st != RT_OK)
				return st;
		}
		if (!omitted)
			context->items[context->item_count++] = item;
	}
	return RT_OK;
}

static inline rt_status
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
	context_settings(session, path, count, &context);
	selected = rt_new_array(alloc, count, sizeof(*selected));
	if (selected == NULL) {
		st = RT_NOMEM;
		goto done;
	}
	kept = context_choose(session, path, count, selected);
	st = context_collect_edits(alloc, session, selected, kept, &edits);
	if (st != RT_OK)
		goto done;
	st = context_fill(alloc, session, selected, kept, edits, &context);
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

static inline void
rt_pi_context_deinit(rt_pi_context *context)
{
	rt_free(context->alloc, context->items);
	memset(context, 0, sizeof(*context));
}

static inline void
context_add_timestamp(rt_buf *buf, const rt_pi_entry *e)
{
	rt_json_add_key(buf, "timestamp");
	if (e->ts_from == RT_PI_TS_ENTRY)
		rt_buf_add_i64(buf, rt_pi_ms(e->ts));
	else
		rt_buf_add_c(buf, "null"); /* JavaScript's value of an invalid date */
}

/* key and value, if object has it */
static inline void
context_add_member(rt_buf *buf, yyjson_val *object, const char *key)
{
	yyjson_val *value = rt_json_get(object, key);

	if (value == NULL)
		return;
	rt_json_add_key(buf, key);
	rt_json_add_value(buf, value);
}

/* A content that an edit gave. Only a user's, or an extension's, may be a bare string. */
static inline void
context_add_edited(rt_buf *buf, rt_str role, yyjson_val *content)
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

static inline bool
context_is_editable(rt_str role)
{
	return rt_str_is(role, "user") || rt_str_is(role, "assistant") ||
	       rt_str_is(role, "toolResult") || rt_str_is(role, "custom");
}

/* A message unchanged, except for an edited content and a missing one. */
static inline void
context_add_message(rt_buf *buf, rt_str role, yyjson_val *message, yyjson_val *edited)
{
	yyjson_val *key, *value, *content = rt_json_get(message, "content");
	bool missing = content == NULL || yyjson_is_null(content);
	const char *empty = rt_str_is(role, "user") || rt_str_is(role, "assistant") ||
					    rt_str_is(role, "toolResult")
				    ? "[]"
			    : rt_str_is(role, "system") ? "\"\""
							: NULL;
	size_t i, max;

	if (edited != NULL && !context_is_editable(role))
		edited = NULL;
	rt_buf_add_byte(buf, '{');
	rt_json_foreach(message, i, max, key, value)
	{
		rt_str name = rt_json_str(key);

		if (rt_str_is(name, "content") && (edited != NULL || (missing && empty != NULL)))
			continue;
		rt_json_add_key_str(buf, name);
		rt_json_add_value(buf, value);
	}
	if (edited != NULL) {
		rt_json_add_key(buf, "content");
		context_add_edited(buf, role, edited);
	} else if (missing && empty != NULL) {
		rt_json_add_key(buf, "content");
		rt_buf_add_c(buf, empty);
	}
	rt_buf_add_byte(buf, '}');
}

static inline void
context_add_custom_message(rt_buf *buf, const rt_pi_entry *e, yyjson_val *record,
			   yyjson_val *edited)
{
	yyjson_val *content = rt_json_get(record, "content");

	rt_buf_add_c(buf, "{\"role\":\"custom\"");
	context_add_member(buf, record, "customType");
	rt_json_add_key(buf, "content");
	if (edited != NULL)
		context_add_edited(buf, RT_STR("custom"), edited);
	else if (content == NULL || yyjson_is_null(content))
		rt_buf_add_c(buf, "[]");
	else
		rt_json_add_value(buf, content);
	context_add_member(buf, record, "display");
	context_add_member(buf, record, "details");
	context_add_timestamp(buf, e);
	rt_buf_add_byte(buf, '}');
}

static inline void
context_add_compaction(rt_buf *buf, const rt_pi_entry *e, yyjson_val *record)
{
	yyjson_val *system = rt_json_get(record, "systemMessage");

	if (yyjson_is_obj(system)) {
		rt_json_add_value(buf, system);
		rt_buf_add_byte(buf, ',');
	}
	rt_buf_add_c(buf, "{\"role\":\"compactionSummary\"");
	context_add_member(buf, record, "summary");
	context_add_member(buf, record, "tokensBefore");
	context_add_timestamp(buf, e);
	rt_buf_add_byte(buf, '}');
}

static inline void
context_add_branch_summary(rt_buf *buf, const rt_pi_entry *e, yyjson_val *record)
{
	rt_buf_add_c(buf, "{\"role\":\"branchSummary\"");
	context_add_member(buf, record, "summary");
	context_add_member(buf, record, "fromId");
	context_add_timestamp(buf, e);
	rt_buf_add_byte(buf, '}');
}

static inline rt_status
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
		(void)context_replacement_of(rt_json_root(edit), &edited);
	if (buf->size > 0)
		rt_json_add_comma(buf);
	switch (e->kind) {
	case RT_PI_MESSAGE:
		context_add_message(buf, e->role, rt_json_get(record, "message"), edited);
		break;
	case RT_PI_CUSTOM_MESSAGE: context_add_custom_message(buf, e, record, edited); break;
	case RT_PI_COMPACTION: context_add_compaction(buf, e, record); break;
	case RT_PI_BRANCH_SUMMARY: context_add_branch_summary(buf, e, record); break;
	default: break;
	}
	st = buf->status == RT_OK ? RT_OK : rt_fail(err, buf->status, "a context too large");
done:
	rt_json_free(doc);
	rt_json_free(edit);
	return st;
}

#endif
