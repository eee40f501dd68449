/* SPDX-License-Identifier: MIT
 *
 * Reading the canonical form. The file is walked down to its discussions, and held one by
 * one; their entries are parsed alone; takes share the nodes of equal entries
 * (formats_share.h). */
#include "formats/canonical_impl.h"
#include "formats/formats_feed.h"
#include "formats/formats_share.h"

typedef struct reader {
	rt_build b;
	rt_walk w;
	rt_feed feed;
	rt_lines lines;      /* of the text in hand */
	rt_report *report;
	rt_share share;
	bool reads_shared;   /* the shorter form */
	int64_t *numbered;   /* by number: the node of an entry that was written out; -1: it was
				passed over */
	size_t numbered_count, numbered_room;
	size_t shared_count; /* entries said by number so far */
	yyjson_val *edited;  /* for each discussion the numbers of edited entries, or NULL */
} reader;

static void
remark(reader *r, rt_remark_level level, rt_str where, const char *what)
{
	rt_report_add(r->report, level, rt_scan_lines_of(&r->lines, where.ptr), "%s", what);
}

/* A flag; anything but true and false is remarked upon. */
static bool
flag(reader *r, rt_str where, yyjson_val *entry, const char *name)
{
	yyjson_val *value = rt_json_get(entry, name);

	if (value != NULL && !yyjson_is_bool(value))
		rt_report_add(r->report, RT_REMARK_REPAIRED, rt_scan_lines_of(&r->lines, where.ptr),
			      "%s is neither true nor false; left out", name);
	return yyjson_is_true(value);
}

static rt_str
name_of(reader *r, rt_str where, yyjson_val *entry, const char *name)
{
	yyjson_val *value = rt_json_get(entry, name);

	if (value != NULL && !yyjson_is_str(value) && !rt_json_is_number(value))
		rt_report_add(r->report, RT_REMARK_REPAIRED, rt_scan_lines_of(&r->lines, where.ptr),
			      "%s is not a text; left out", name);
	return rt_json_str(value);
}

static bool
is_purged(yyjson_val *entry)
{
	yyjson_val *content = rt_json_get(entry, "content"), *key, *value;
	size_t i, max, further = 0;

	yyjson_obj_foreach(entry, i, max, key, value)
	{
		further += !rt_canonical_is_one_of(rt_json_str(key), rt_canonical_entry_names);
	}
	return further == 1 && yyjson_is_true(rt_json_get(entry, "purged")) &&
	       (content == NULL || (yyjson_is_str(content) && yyjson_get_len(content) == 0));
}

/* The body of an entry, built; what cannot be taken as it is becomes a further field. */
static void
read_body(reader *r, rt_str raw, yyjson_val *entry, const rt_node *node, size_t repaired,
	  rt_buf *array)
{
	yyjson_val *content = rt_json_get(entry, "content"), *ts = rt_json_get(entry, "ts");
	yyjson_val *key, *value;
	size_t i, max;

	if (yyjson_is_arr(content)) {
		rt_json_add_value(array, content);
		rt_build_body_open(&r->b, rt_buf_str(array), true);
	} else {
		rt_build_body_open(&r->b,
				   yyjson_is_str(content) ? rt_json_str(content)
							  : rt_str_at(NULL, 0),
				   false);
	}
	yyjson_obj_foreach(entry, i, max, key, value)
	{
		if (!rt_canonical_is_one_of(rt_json_str(key), rt_canonical_entry_names))
			rt_json_add_value(rt_build_body_field(&r->b, rt_json_str(key)), value);
	}
	if (content != NULL && !yyjson_is_arr(content) && !yyjson_is_str(content)) {
		remark(r, RT_REMARK_REPAIRED, raw,
		       "content that is neither text nor a list is kept as content_raw");
		rt_json_add_value(rt_build_body_field(&r->b, RT_STR(RT_BUILD_BAD_CONTENT)),
				  content);
	}
	if (ts != NULL && !node->has_ts) {
		remark(r, RT_REMARK_REPAIRED, raw, "a time that is none is kept as ts_text");
		rt_json_add_value(rt_build_body_field(&r->b, RT_STR(RT_BUILD_BAD_TS)), ts);
	}
	if (repaired > 0) {
		remark(r, RT_REMARK_REPAIRED, raw, "text that is not Unicode got U+FFFD");
		rt_build_body_raw(&r->b, raw);
	}
	if (array->status != RT_OK)
		r->b.status = array->status;
}

static void
read_entry(reader *r, rt_str raw)
{
	rt_json_doc *doc = NULL;
	yyjson_val *entry;
	rt_buf array;
	rt_node node;
	size_t repaired = 0;
	rt_error fault;
	rt_status st = rt_json_read_repairing(r->b.alloc, raw, &doc, &repaired, &fault);

	if (st == RT_NOMEM)
		r->b.status = st;
	if (st != RT_OK) {
		rt_report_add(r->report, RT_REMARK_SKIPPED, rt_scan_lines_of(&r->lines, raw.ptr),
			      "an entry is passed over: %.150s", fault.text);
		return;
	}
	entry = rt_json_root(doc);
	if (!yyjson_is_obj(entry)) {
		remark(r, RT_REMARK_SKIPPED, raw, "an entry that is not an object is passed over");
		rt_json_free(doc);
		return;
	}
	memset(&node, 0, sizeof(node));
	node.id = name_of(r, raw, entry, "id");
	node.role = name_of(r, raw, entry, "role");
	node.kind = name_of(r, raw, entry, "kind");
	if (rt_str_is(node.kind, "message"))
		node.kind = rt_str_at(NULL, 0);
	node.muted = flag(r, raw, entry, "muted");
	node.collapsed = flag(r, raw, entry, "collapsed");
	node.read_mode = flag(r, raw, entry, "read_mode");
	node.has_ts = rt_build_moment(rt_json_get(entry, "ts"), &node.ts);
	if (is_purged(entry))
		node.body_format = RT_BODY_PURGED;
	rt_buf_init(&array, r->b.alloc, RT_BUF_UNLIMITED);
	read_body(r, raw, entry, &node, repaired, &array);
	if (!rt_share_add(&r->share, &node))
		remark(r, RT_REMARK_REPAIRED, raw,
		       "an id stands twice in one take; the second entry gets a new one");
	rt_buf_deinit(&array);
	rt_json_free(doc);
}

/* Number the entry that was read last: the end of the take if it was added there. */
static void
number_entry(reader *r, size_t path_count)
{
	size_t room = r->numbered_room == 0 ? 64 : r->numbered_room * 2;
	int64_t *more;

	if (!r->reads_shared || r->b.status != RT_OK)
		return;
	if (r->numbered_count == r->numbered_room) {
		more = rt_resize(r->b.alloc, r->numbered, room * sizeof(*more));
		if (more == NULL) {
			r->b.status = RT_NOMEM;
			return;
		}
		r->numbered = more;
		r->numbered_room = room;
	}
	r->numbered[r->numbered_count++] =
		r->share.path_count > path_count ? r->share.path[path_count] : -1;
}

/* [FIRST,COUNT] */
static void
read_shared(reader *r, rt_str raw)
{
	rt_json_doc *doc = NULL;
	yyjson_val *list;
	uint64_t first = 0, count = 0, i;
	rt_status st = rt_json_read(r->b.alloc, raw, &doc, NULL);
	bool ok, is_twice = false;

	if (st == RT_NOMEM)
		r->b.status = st;
	list = st == RT_OK ? rt_json_root(doc) : NULL;
	ok = yyjson_arr_size(list) == 2 && rt_json_u64(yyjson_arr_get(list, 0), &first) &&
	     rt_json_u64(yyjson_arr_get(list, 1), &count) && first <= r->numbered_count &&
	     count <= r->numbered_count - first;
	rt_json_free(doc);
	if (!ok || count > RT_CANONICAL_SHARED_MAX - r->shared_count) {
		remark(r, RT_REMARK_SKIPPED, raw,
		       ok ? "entries are passed over: too many of them are said by number"
			  : "numbers of entries that are not there are passed over");
		return;
	}
	r->shared_count += (size_t)count;
	for (i = first; i < first + count && r->b.status == RT_OK; i++)
		if (r->numbered[i] >= 0 && !rt_share_again(&r->share, r->numbered[i]))
			is_twice = true;
	if (is_twice)
		remark(r, RT_REMARK_REPAIRED, raw,
		       "entries stand twice in one take; they are kept once");
}

static void
read_take(reader *r, rt_str raw)
{
	rt_members m, entries;
	rt_str key, value, name = {NULL, 0}, commit = {NULL, 0}, list = {NULL, 0};

	if (!rt_members_open(&m, raw) || m.close != '}') {
		remark(r, RT_REMARK_SKIPPED, raw, "a take that is not an object is passed over");
		return;
	}
	rt_share_take(&r->share);
	while (rt_members_next(&m, &key, &value)) {
		if (rt_scan_key_is(key, "name"))
			(void)rt_build_text(&r->b, value, &name);
		else if (rt_scan_key_is(key, "git_commit"))
			(void)rt_build_text(&r->b, value, &commit);
		else if (rt_scan_key_is(key, "entries"))
			list = value;
		else
			remark(r, RT_REMARK_NOTE, key, "a take has a further field; it is not kept");
	}
	if (m.bad)
		remark(r, RT_REMARK_SKIPPED, rt_str_at(m.in.ptr + m.at, 0),
		       "a take is malformed; the rest of it is passed over");
	if (list.size > 0 && rt_members_open(&entries, list) && entries.close == ']') {
		while (r->b.status == RT_OK && rt_members_next(&entries, &key, &value)) {
			size_t path_count = r->share.path_count;

			if (r->reads_shared && value.ptr[0] == '[') {
				read_shared(r, value);
				continue;
			}
			read_entry(r, value);
			number_entry(r, path_count);
		}
		if (entries.bad)
			remark(r, RT_REMARK_SKIPPED, rt_str_at(entries.in.ptr + entries.at, 0),
			       "the entries of a take end early: malformed JSON");
	}
	rt_build_take(&r->b, name, commit, r->share.path, r->share.path_count);
}

static void
read_labels(reader *r, rt_str raw)
{
	rt_members m;
	rt_str key, value, id, label;

	if (!rt_members_open(&m, raw))
		return;
	while (rt_members_next(&m, &key, &value)) {
		if (!rt_build_text(&r->b, key, &id) || !rt_build_text(&r->b, value, &label))
			continue;
		if (!rt_share_label(&r->share, id, label))
			remark(r, RT_REMARK_NOTE, key, "a label names an entry that is not there");
	}
}

/* A member that becomes a field, prefix and key before it. */
static void
read_field(reader *r, bool of_project, const char *prefix, rt_str key, rt_str value)
{
	rt_str name, json;

	if (rt_build_text(&r->b, key, &name) && rt_build_json(&r->b, value, true, &json))
		rt_build_field_in(&r->b, of_project, prefix, name, json);
	else if (r->b.status == RT_OK)
		remark(r, RT_REMARK_SKIPPED, value, "a field that is not JSON is passed over");
}

static bool
is_object(rt_str value)
{
	return value.size > 0 && value.ptr[0] == '{';
}

/* The members of an object as fields, each with prefix; names stands for fields that go
 * without it. */
static void
read_fields(reader *r, bool of_project, const char *prefix, const char *const *bare, rt_str raw)
{
	rt_members m;
	rt_str key, value;

	if (!rt_members_open(&m, raw))
		return;
	while (rt_members_next(&m, &key, &value)) {
		rt_str inner = rt_str_at(key.ptr + 1, key.size - 2);

		read_field(r, of_project, rt_canonical_is_one_of(inner, bare) ? "" : prefix, key, value);
	}
	if (m.bad)
		remark(r, RT_REMARK_SKIPPED, rt_str_at(m.in.ptr + m.at, 0),
		       "an object is malformed; the rest of it is passed over");
}

static void
read_prompt(reader *r, rt_str raw)
{
	rt_members m;
	rt_str key, value;

	if (!rt_members_open(&m, raw))
		return;
	while (rt_members_next(&m, &key, &value)) {
		if (rt_scan_key_is(key, "text"))
			read_field(r, false, "", RT_STR("\"prompt\""), value);
		else if (rt_scan_key_is(key, "edited"))
			read_field(r, false, "", RT_STR("\"prompt_edited\""), value);
		else
			read_field(r, false, "prompt.", key, value);
	}
}

/* What must be looked at when everything else of a discussion has been seen. */
typedef struct late {
	rt_str active, head, labels;
	bool has_head;
} late;

static void
read_late(reader *r, const late *l, rt_outline *outline)
{
	const rt_outline_take *takes = r->b.takes.items, *take = NULL;
	rt_str active, head;
	size_t i, at;

	read_labels(r, l->labels);
	outline->has_head = true;
	if (r->b.takes.count == 0)
		return;
	if (rt_build_text(&r->b, l->active, &active))
		for (i = 0; i < r->b.takes.count; i++)
			if (rt_str_eq(takes[i].name, active)) {
				outline->active_take = i;
				break;
			}
	take = &takes[outline->active_take];
	outline->head = take->node_count > 0 ? take->nodes[take->node_count - 1] : -1;
	if (rt_str_is(l->head, "null"))
		outline->head = -1;
	else if (rt_build_text(&r->b, l->head, &head)) {
		for (at = 0; at < take->node_count; at++)
			if (rt_str_eq(rt_build_nodes(&r->b)[take->nodes[at]].id, head))
				break;
		if (at < take->node_count)
			outline->head = take->nodes[at];
		else
			remark(r, RT_REMARK_REPAIRED, l->head,
			       "the head is not in the active take; put at its tip");
	}
}

/* The entries of the discussion under way that are marked beside the data. */
static void
mark_edited(reader *r)
{
	yyjson_val *list = yyjson_arr_get(r->edited, rt_feed_count(&r->feed) - 1), *item;
	uint64_t number;
	size_t i, max;

	yyjson_arr_foreach(list, i, max, item)
	{
		if (rt_json_u64(item, &number) && number < r->numbered_count &&
		    r->numbered[number] >= 0)
			rt_build_nodes(&r->b)[r->numbered[number]].edited = true;
	}
}

static void
read_discussion(reader *r, rt_str raw)
{
	static const char *const file_names[] = {"files", "context_files", "screenshots", NULL};
	static const char *const none[] = {NULL};
	rt_outline *outline;
	rt_members m, takes;
	rt_str key, value;
	late l;

	if (!rt_members_open(&m, raw) || m.close != '}') {
		remark(r, RT_REMARK_SKIPPED, raw,
		       "a discussion that is not an object is passed over");
		return;
	}
	memset(&l, 0, sizeof(l));
	rt_share_discussion(&r->share);
	r->numbered_count = 0;
	outline = rt_build_discussion(&r->b);
	if (outline == NULL)
		return;
	while (r->b.status == RT_OK && rt_members_next(&m, &key, &value)) {
		if (rt_scan_key_is(key, "name") && value.ptr[0] == '"') {
			(void)rt_build_text(&r->b, value, &outline->name);
		} else if (rt_scan_key_is(key, "active") && value.ptr[0] == '"') {
			l.active = value;
		} else if (rt_scan_key_is(key, "head") &&
			   (value.ptr[0] == '"' || rt_str_is(value, "null"))) {
			l.head = value;
		} else if (rt_scan_key_is(key, "labels") && is_object(value)) {
			l.labels = value;
		} else if (rt_scan_key_is(key, "prompt") && is_object(value)) {
			read_prompt(r, value);
		} else if (rt_scan_key_is(key, "settings") && is_object(value)) {
			read_fields(r, false, "setting.", none, value);
		} else if (rt_scan_key_is(key, "files") && is_object(value)) {
			read_fields(r, false, "files.", file_names, value);
		} else if (rt_scan_key_is(key, "takes") && value.ptr[0] == '[') {
			if (rt_members_open(&takes, value))
				while (r->b.status == RT_OK &&
				       rt_members_next(&takes, &key, &value))
					read_take(r, value);
			if (takes.bad)
				remark(r, RT_REMARK_SKIPPED,
				       rt_str_at(takes.in.ptr + takes.at, 0),
				       "the takes of a discussion end early: malformed JSON");
		} else {
			read_field(r, false, "", key, value);
		}
	}
	if (m.bad)
		remark(r, RT_REMARK_SKIPPED, rt_str_at(m.in.ptr + m.at, 0),
		       "a discussion is malformed; the rest of it is passed over");
	if (r->b.status == RT_OK)
		read_late(r, &l, outline);
	if (r->b.status == RT_OK)
		mark_edited(r);
}

/* The member that the walk is at, held in memory. False: the input ends within it. */
static bool
take_member(reader *r, rt_walk_level *level, rt_str *out_value)
{
	uint64_t line = rt_walk_here(&r->w).line;

	if (rt_walk_value(&r->w, level, SIZE_MAX, out_value) != RT_WALK_WHOLE)
		return false;
	rt_scan_lines_init(&r->lines, *out_value, line);
	return true;
}

/* The list of discussions that the walk is at. */
static void
read_discussions(reader *r, rt_str active)
{
	rt_walk_level level;
	rt_str key, value;

	if (rt_walk_open(&r->w, &level))
		while (r->b.status == RT_OK && rt_walk_next(&r->w, &level, &key)) {
			size_t before = rt_feed_count(&r->feed);

			if (!take_member(r, &level, &value))
				break;
			read_discussion(r, value);
			if (rt_feed_count(&r->feed) > before && !r->feed.has_active &&
			    active.size > 0 && rt_str_eq(rt_build_name(&r->b), active)) {
				r->feed.has_active = true;
				r->feed.active = before;
			}
			rt_feed_next(&r->feed);
		}
	if (level.bad && r->w.status == RT_OK)
		rt_report_add(r->report, RT_REMARK_SKIPPED, level.fault.line,
			      "the discussions end early: malformed JSON");
}

/* All but the discussions, which the walk has to return to. */
static rt_status
read_project(reader *r, rt_walk_mark *out_list, bool *out_has_list, rt_buf *active, rt_error *err)
{
	static const char *const none[] = {NULL};
	rt_walk_level level;
	rt_walk_mark start = rt_walk_here(&r->w), end;
	rt_str key, value, name;

	if (!rt_walk_open(&r->w, &level) || level.close != '}')
		return r->w.status != RT_OK
			       ? rt_walk_fail(&r->w, err)
			       : rt_fail_at(err, RT_USAGE, start.offset,
					    "not a canonical export: it does not begin with {");
	while (r->b.status == RT_OK && rt_walk_next(&r->w, &level, &key)) {
		int first = rt_walk_peek(&r->w);

		if (rt_scan_key_is(key, "discussions") && first == '[') {
			*out_list = rt_walk_here(&r->w);
			*out_has_list = true;
			(void)rt_walk_skip(&r->w, &level);
		} else if (!take_member(r, &level, &value)) {
			break;
		} else if (rt_scan_key_is(key, "active") && first == '"') {
			rt_buf_clear(active);
			if (rt_build_text(&r->b, value, &name))
				rt_buf_add_str(active, name);
			if (active->status != RT_OK)
				r->b.status = active->status;
		} else if (rt_scan_key_is(key, "settings") && first == '{') {
			read_fields(r, true, "setting.", none, value);
		} else if (rt_scan_key_is(key, "roles")) {
			read_field(r, true, "", key, value);
		} else {
			read_field(r, true, "extra.", key, value);
		}
	}
	if (r->b.status != RT_OK || r->w.status != RT_OK)
		return rt_feed_status(&r->feed, &r->w, err);
	if (level.bad)
		return rt_fail_at(err, RT_USAGE, level.fault.offset,
				  "not a canonical export: malformed JSON at byte %zu",
				  (size_t)level.fault.offset);
	if (rt_walk_blank(&r->w)) {
		end = rt_walk_here(&r->w);
		return rt_fail_at(err, RT_USAGE, end.offset,
				  "not a canonical export: something follows it at byte %zu",
				  (size_t)end.offset);
	}
	if (!*out_has_list)
		return rt_fail_at(err, RT_USAGE, 0,
				  "not a canonical export: it has no list of discussions");
	return RT_OK;
}

rt_status
rt_canonical_read_to(const rt_alloc *alloc, const rt_input *in, bool reads_shared,
		     yyjson_val *edited, const rt_feed_to *to, rt_report *report, rt_error *err)
{
	reader r;
	rt_walk_mark list = {0, 1};
	bool has_list = false;
	rt_buf active;
	rt_status st;

	memset(&r, 0, sizeof(r));
	rt_build_init(&r.b, alloc, report);
	rt_share_init(&r.share, &r.b, false);
	rt_walk_init(&r.w, alloc, in);
	rt_feed_init(&r.feed, &r.b, to);
	rt_buf_init(&active, alloc, RT_BUF_UNLIMITED);
	r.report = report;
	r.reads_shared = reads_shared;
	r.edited = edited;
	rt_walk_unmark(&r.w);
	st = read_project(&r, &list, &has_list, &active, err);
	if (st == RT_OK) {
		rt_walk_seek(&r.w, list);
		read_discussions(&r, rt_buf_str(&active));
		st = rt_feed_end(&r.feed, &r.w, err);
	}
	rt_free(alloc, r.numbered);
	rt_buf_deinit(&active);
	rt_feed_deinit(&r.feed);
	rt_walk_deinit(&r.w);
	rt_share_deinit(&r.share);
	rt_build_deinit(&r.b);
	return st;
}

rt_status
rt_canonical_read(const rt_alloc *alloc, rt_str input, rt_outlines *out, rt_report *report,
		  rt_error *err)
{
	rt_input in = rt_input_of(&input);
	rt_feed_to to = {.whole = out};

	return rt_canonical_read_to(alloc, &in, false, NULL, &to, report, err);
}

rt_status
rt_canonical_stream(const rt_alloc *alloc, const rt_input *in, rt_outlines_fn fn, void *ctx,
		    rt_report *report, rt_error *err)
{
	rt_feed_to to = {.fn = fn, .ctx = ctx};

	return rt_canonical_read_to(alloc, in, false, NULL, &to, report, err);
}
