/* SPDX-License-Identifier: MIT
 *
 * Reading the canonical form. The file is walked down to its discussions, which are held one
 * at a time; their entries are parsed alone; takes share the nodes of equal entries
 * (formats_share.h). */
#include "formats/canonical_impl.h"
#include "formats/formats.h"
#include "formats/formats_share.h"

const rt_member rt_canonical_members[RT_CANONICAL_MEMBER_COUNT] = {
	RT_MEMBER(FLAG, collapsed), {"content", RT_MEMBER_CONTENT, 0},
	RT_MEMBER(TEXT, id),        RT_MEMBER(KIND, kind),
	RT_MEMBER(FLAG, muted),     {"purged", RT_MEMBER_PURGED, 0},
	RT_MEMBER(FLAG, read_mode), RT_MEMBER(TEXT_ALWAYS, role),
	RT_MEMBER(TS, ts),
};

bool
rt_canonical_is_further(rt_str name)
{
	const rt_member *member = rt_member_find(rt_canonical_members, RT_CANONICAL_MEMBER_COUNT,
						 name);

	return member == NULL || member->type == RT_MEMBER_PURGED;
}

typedef struct reader {
	rt_reader r;
	rt_share share;
	bool reads_shared;   /* the shorter form */
	rt_items numbered;   /* int64_t: the nodes of written entries; -1: it was skipped */
	size_t shared_count; /* entries referred to by number so far */
	yyjson_val *edited;  /* for each discussion the numbers of edited entries, or NULL */
} reader;

/* Remarks about this file refer to the position of the bad text. */
static void
repaired(reader *c, rt_str where, const char *what)
{
	rt_reader_remark(&c->r, RT_REMARK_REPAIRED, where.ptr, "%s", what);
}

static void
skipped(reader *c, rt_str where, const char *what)
{
	rt_reader_remark(&c->r, RT_REMARK_SKIPPED, where.ptr, "%s", what);
}

/* The next member of m, in a reader that has not failed. A fault is reported as a remark. */
static bool
next_member(reader *c, rt_members *m, rt_str *out_key, rt_str *out_value, const char *fault)
{
	if (rt_ok(&c->r.b.s) && rt_members_next(m, out_key, out_value))
		return true;
	if (m->bad && fault != NULL)
		skipped(c, rt_str_at(m->in.ptr + m->at, 0), fault);
	return false;
}

/* ---- entries ---- */

static bool
is_purged(yyjson_val *entry)
{
	yyjson_val *content = rt_json_get(entry, "content");
	size_t further = 0;

	for (rt_json_iter m = rt_json_each(entry); rt_json_next(&m);)
		further += rt_canonical_is_further(m.key);
	return further == 1 && yyjson_is_true(rt_json_get(entry, "purged")) &&
	       (content == NULL || (yyjson_is_str(content) && yyjson_get_len(content) == 0));
}

/* The body of an entry; what cannot be represented becomes a further field. */
static void
read_body(reader *c, rt_str raw, yyjson_val *entry, const rt_node *node, size_t repairs)
{
	rt_build *b = &c->r.b;
	yyjson_val *content = rt_json_get(entry, "content"), *ts = rt_json_get(entry, "ts");

	rt_build_body_open_value(b, content);
	for (rt_json_iter m = rt_json_each(entry); rt_json_next(&m);)
		if (rt_canonical_is_further(m.key))
			rt_json_add_value(rt_build_body_field(b, m.key), m.value);
	if (content != NULL && !yyjson_is_arr(content) && !yyjson_is_str(content)) {
		repaired(c, raw, "content that is neither text nor a list was kept as content_raw");
		rt_json_add_value(rt_build_body_field(b, RT_STR(RT_BUILD_BAD_CONTENT)), content);
	}
	if (ts != NULL && !node->has_ts) {
		repaired(c, raw, "an invalid time was kept as ts_text");
		rt_json_add_value(rt_build_body_field(b, RT_STR(RT_BUILD_BAD_TS)), ts);
	}
	if (repairs > 0) {
		repaired(c, raw, "text that is not Unicode was replaced with U+FFFD");
		rt_build_body_raw(b, raw);
	}
}

static void
read_entry(reader *c, rt_str raw)
{
	rt_node node = {0};
	rt_error fault;
	size_t repairs = 0;
	yyjson_val *entry = rt_build_parse(&c->r.b, raw, &repairs, &fault);

	if (entry == NULL) {
		rt_reader_remark(&c->r, RT_REMARK_SKIPPED, raw.ptr,
				 "skipped an entry: %.150s", fault.text);
		return;
	}
	if (!yyjson_is_obj(entry)) {
		skipped(c, raw, "skipped an entry that is not an object");
		return;
	}
	for (size_t i = 0; i < RT_CANONICAL_MEMBER_COUNT; i++) {
		const rt_member *member = &rt_canonical_members[i];

		if (!rt_member_read(member, entry, &node) && member->type != RT_MEMBER_TS)
			rt_reader_remark(&c->r, RT_REMARK_REPAIRED, raw.ptr, "%s is %s; left out",
					 member->name,
					 member->type == RT_MEMBER_FLAG ? "neither true nor false"
									: "not a string");
	}
	if (is_purged(entry))
		node.body_format = RT_BODY_PURGED;
	read_body(c, raw, entry, &node, repairs);
	if (!rt_share_add(&c->share, &node))
		repaired(c, raw, "an id occurs twice in one take; the second entry gets a new "
				 "one");
}

/* Number the entry that was read last: the end of the take, if it was added there. */
static void
number_entry(reader *c, size_t count_before)
{
	int64_t *node = c->reads_shared ? rt_items_push(&c->r.b.s, &c->numbered, sizeof(*node))
					: NULL;
	size_t count;
	const int64_t *path = rt_share_path(&c->share, &count);

	if (node != NULL)
		*node = count > count_before ? path[count_before] : -1;
}

/* [FIRST,COUNT] */
static void
read_shared(reader *c, rt_str raw)
{
	rt_build *b = &c->r.b;
	yyjson_val *list = rt_build_parse(b, raw, NULL, NULL);
	const int64_t *numbered = c->numbered.items;
	uint64_t first = 0, count = 0;
	bool is_twice = false;

	if (yyjson_arr_size(list) != 2 || !rt_json_u64(yyjson_arr_get(list, 0), &first) ||
	    !rt_json_u64(yyjson_arr_get(list, 1), &count) || first > c->numbered.count ||
	    count > c->numbered.count - first) {
		skipped(c, raw, "skipped references to entries that do not exist");
		return;
	}
	if (count > RT_CANONICAL_SHARED_MAX - c->shared_count) {
		skipped(c, raw, "skipped entries: too many references by number");
		return;
	}
	c->shared_count += (size_t)count;
	for (uint64_t i = first; i < first + count && rt_ok(&b->s); i++)
		if (numbered[i] >= 0 && !rt_share_again(&c->share, numbered[i]))
			is_twice = true;
	if (is_twice)
		repaired(c, raw, "entries occur twice in one take; they are kept once");
}

/* ---- takes ---- */

static void
read_entries(reader *c, rt_str raw)
{
	rt_members m;
	rt_str key, value;

	if (!rt_members_open(&m, raw) || m.close != ']')
		return;
	while (next_member(c, &m, &key, &value,
			   "the entries of a take end early: malformed JSON")) {
		size_t count;

		(void)rt_share_path(&c->share, &count);
		if (c->reads_shared && value.ptr[0] == '[') {
			read_shared(c, value);
			continue;
		}
		read_entry(c, value);
		number_entry(c, count);
	}
}

static void
read_take(reader *c, rt_str raw)
{
	rt_build *b = &c->r.b;
	rt_members m;
	rt_str key, value, name = {NULL, 0}, commit = {NULL, 0}, list = {NULL, 0},
	       files = {NULL, 0};
	const int64_t *path;
	size_t count;

	if (!rt_members_open(&m, raw) || m.close != '}') {
		skipped(c, raw, "skipped a take that is not an object");
		return;
	}
	rt_share_take(&c->share);
	while (next_member(c, &m, &key, &value,
			   "a take is malformed; the rest of it is skipped")) {
		if (rt_scan_key_is(key, "name"))
			(void)rt_build_text(b, value, &name);
		else if (rt_scan_key_is(key, "git_commit"))
			(void)rt_build_text(b, value, &commit);
		else if (rt_scan_key_is(key, "entries"))
			list = value;
		else if (rt_scan_key_is(key, "files"))
			(void)rt_build_json(b, value, true, &files);
		else
			rt_reader_remark(&c->r, RT_REMARK_NOTE, key.ptr,
					 "a take has an unknown field, which was left out");
	}
	if (list.size > 0)
		read_entries(c, list);
	path = rt_share_path(&c->share, &count);
	rt_build_take(b, name, commit, path, count);
	rt_build_take_files(b, files);
}

static void
read_labels(reader *c, rt_str raw)
{
	rt_build *b = &c->r.b;
	rt_members m;
	rt_str key, value, id, label;

	if (!rt_members_open(&m, raw))
		return;
	while (next_member(c, &m, &key, &value, NULL))
		if (rt_build_text(b, key, &id) && rt_build_text(b, value, &label) &&
		    !rt_share_label(&c->share, id, label))
			rt_reader_remark(&c->r, RT_REMARK_NOTE, key.ptr,
					 "a label refers to an entry that does not exist");
}

/* ---- fields ---- */

/* The field that a member of a discussion is, by its name with that of the object around it. */
static rt_str
field_of(rt_str name)
{
	rt_str files = RT_STR("files.");

	if (rt_str_is(name, "prompt.text"))
		return RT_STR("prompt");
	if (rt_str_is(name, "prompt.edited"))
		return RT_STR("prompt_edited");
	if (rt_str_starts(name, files) && rt_is_word(rt_str_skip(name, files.size), RT_CANONICAL_FILES))
		return rt_str_skip(name, files.size);
	return name;
}

/* A member becomes a field; its name is prefix and key. */
static void
read_field(reader *c, bool of_project, const char *prefix, rt_str key, rt_str value)
{
	rt_build *b = &c->r.b;
	rt_str name, json;

	if (rt_build_text(b, key, &name) && rt_build_json(b, value, true, &json)) {
		rt_buf_clear(b->scratch);
		rt_buf_add_c(b->scratch, prefix);
		rt_buf_add_str(b->scratch, name);
		name = rt_scope_str(&b->s, b->scratch);
		rt_build_field_in(b, of_project, "", of_project ? name : field_of(name), json);
	} else if (rt_ok(&b->s))
		skipped(c, value, "skipped a field that is not JSON");
}

/* The members of an object as fields. */
static void
read_fields(reader *c, bool of_project, const char *prefix, rt_str raw)
{
	rt_members m;
	rt_str key, value;

	if (!rt_members_open(&m, raw))
		return;
	while (next_member(c, &m, &key, &value,
			   "an object is malformed; the rest of it is skipped"))
		read_field(c, of_project, prefix, key, value);
}

/* ---- discussions ---- */

/* Members that depend on the takes. */
typedef struct late {
	rt_str active, head, labels;
} late;

static void
read_late(reader *c, const late *l, rt_outline *outline)
{
	rt_build *b = &c->r.b;
	const rt_outline_take *takes = b->takes.items, *take;
	rt_str active, head;

	read_labels(c, l->labels);
	outline->has_head = true;
	if (b->takes.count == 0)
		return;
	if (rt_build_text(b, l->active, &active))
		for (size_t i = b->takes.count; i-- > 0;)
			if (rt_str_eq(takes[i].name, active))
				outline->active_take = i;
	take = &takes[outline->active_take];
	outline->head = take->node_count > 0 ? take->nodes[take->node_count - 1] : -1;
	if (rt_str_is(l->head, "null")) {
		outline->head = -1;
	} else if (rt_build_text(b, l->head, &head)) {
		size_t at = 0;

		while (at < take->node_count &&
		       !rt_str_eq(rt_build_nodes(b)[take->nodes[at]].id, head))
			at++;
		if (at < take->node_count)
			outline->head = take->nodes[at];
		else
			repaired(c, l->head, "the head is not in the active take; moved to the end of the take");
	}
}

/* Mark the entries of the current discussion that are listed as edited after the data. */
static void
mark_edited(reader *c)
{
	yyjson_val *list = yyjson_arr_get(c->edited, rt_reader_count(&c->r) - 1);
	const int64_t *numbered = c->numbered.items;
	uint64_t number;

	for (rt_json_iter m = rt_json_items(list); rt_json_next(&m);)
		if (rt_json_u64(m.value, &number) && number < c->numbered.count &&
		    numbered[number] >= 0)
			rt_build_nodes(&c->r.b)[numbered[number]].edited = true;
}

static void
read_takes(reader *c, rt_str raw)
{
	rt_members m;
	rt_str key, value;

	if (rt_members_open(&m, raw))
		while (next_member(c, &m, &key, &value,
				   "the takes of a discussion end early: malformed JSON"))
			read_take(c, value);
}

static void
read_discussion(reader *c, rt_str raw)
{
	rt_build *b = &c->r.b;
	late l = {.active = {NULL, 0}};
	rt_outline *outline;
	rt_members m;
	rt_str key, value;

	if (!rt_members_open(&m, raw) || m.close != '}') {
		skipped(c, raw, "skipped a discussion that is not an object");
		return;
	}
	rt_share_discussion(&c->share);
	c->numbered.count = 0;
	outline = rt_build_discussion(b);
	while (next_member(c, &m, &key, &value,
			   "a discussion is malformed; the rest of it is skipped")) {
		char first = value.ptr[0];

		if (rt_scan_key_is(key, "name") && first == '"')
			(void)rt_build_text(b, value, &outline->name);
		else if (rt_scan_key_is(key, "active") && first == '"')
			l.active = value;
		else if (rt_scan_key_is(key, "head") && (first == '"' || rt_str_is(value, "null")))
			l.head = value;
		else if (rt_scan_key_is(key, "labels") && first == '{')
			l.labels = value;
		else if (rt_scan_key_is(key, "prompt") && first == '{')
			read_fields(c, false, "prompt.", value);
		else if (rt_scan_key_is(key, "settings") && first == '{')
			read_fields(c, false, "setting.", value);
		else if (rt_scan_key_is(key, "files") && first == '{')
			read_fields(c, false, "files.", value);
		else if (rt_scan_key_is(key, "takes") && first == '[')
			read_takes(c, value);
		else
			read_field(c, false, "", key, value);
	}
	if (!rt_ok(&b->s))
		return;
	read_late(c, &l, outline);
	mark_edited(c);
}

/* ---- the file ---- */

/* The member at the position of the walk, kept in memory. False: the input ends within it. */
static bool
hold_member(reader *c, rt_walk_level *level, rt_str *out_value)
{
	uint64_t line = rt_walk_here(&c->r.w).line;

	if (rt_walk_value(&c->r.w, level, SIZE_MAX, out_value) != RT_WALK_WHOLE)
		return false;
	rt_reader_hold(&c->r, *out_value, line);
	return true;
}

/* The list of discussions that the walk is at. */
static void
read_discussions(reader *c, rt_str active)
{
	rt_reader *r = &c->r;
	rt_walk_level level;
	rt_str key, value;

	if (rt_walk_open(&r->w, &level))
		while (rt_reader_ok(r) && rt_walk_next(&r->w, &level, &key)) {
			size_t before = rt_reader_count(r);

			if (!hold_member(c, &level, &value))
				break;
			read_discussion(c, value);
			if (rt_reader_count(r) > before && !r->has_active && active.size > 0 &&
			    rt_str_eq(rt_build_name(&r->b), active)) {
				r->has_active = true;
				r->active = before;
			}
			rt_reader_next(r);
		}
	if (level.bad && r->w.status == RT_OK)
		rt_report_add(r->report, RT_REMARK_SKIPPED, level.fault.line,
			      "the discussions end early: malformed JSON");
}

/* Everything but the discussions, which the walk has to return to. False: failed. */
static bool
read_project(reader *c, rt_walk_mark *out_list, rt_buf *active)
{
	rt_reader *r = &c->r;
	rt_walk_level level;
	rt_walk_mark start = rt_walk_here(&r->w);
	rt_str key, value, name;
	bool has_list = false;

	if (!rt_walk_open(&r->w, &level) || level.close != '}') {
		rt_reader_refuse(r, start.offset,
				 "not a canonical export: it does not begin with {");
		return false;
	}
	while (rt_reader_ok(r) && rt_walk_next(&r->w, &level, &key)) {
		int first = rt_walk_peek(&r->w);

		if (rt_scan_key_is(key, "discussions") && first == '[') {
			*out_list = rt_walk_here(&r->w);
			has_list = true;
			(void)rt_walk_skip(&r->w, &level);
		} else if (!hold_member(c, &level, &value)) {
			break;
		} else if (rt_scan_key_is(key, "active") && first == '"') {
			rt_buf_clear(active);
			if (rt_build_text(&r->b, value, &name))
				rt_buf_add_str(active, name);
		} else if (rt_scan_key_is(key, "settings") && first == '{') {
			read_fields(c, true, "setting.", value);
		} else if (rt_scan_key_is(key, "roles")) {
			read_field(c, true, "", key, value);
		} else {
			read_field(c, true, "extra.", key, value);
		}
	}
	if (level.bad)
		rt_reader_refuse(r, level.fault.offset,
				 "not a canonical export: malformed JSON at byte %zu",
				 (size_t)level.fault.offset);
	if (rt_reader_ok(r) && rt_walk_blank(&r->w))
		rt_reader_refuse(r, rt_walk_here(&r->w).offset,
				 "not a canonical export: extra text at byte %zu",
				 (size_t)rt_walk_here(&r->w).offset);
	if (!has_list)
		rt_reader_refuse(r, 0, "not a canonical export: it has no list of discussions");
	return rt_reader_ok(r);
}

rt_status
rt_canonical_read_to(const rt_alloc *alloc, const rt_input *in, bool reads_shared,
		     yyjson_val *edited, const rt_reader_to *to, rt_report *report, rt_error *err)
{
	reader c = {.reads_shared = reads_shared, .edited = edited};
	rt_walk_mark list;
	rt_buf *active;

	rt_reader_init(&c.r, alloc, in, to, report);
	c.share.b = &c.r.b;
	active = rt_scope_buf(&c.r.b.s);
	rt_walk_unmark(&c.r.w);
	if (read_project(&c, &list, active)) {
		rt_walk_seek(&c.r.w, list);
		read_discussions(&c, rt_scope_str(&c.r.b.s, active));
	}
	return rt_reader_end(&c.r, err);
}

static int
canonical_sniff(rt_str head)
{
	rt_members m;
	rt_str key, value;

	if (!rt_members_open(&m, rt_scan_unmark(head)) || m.close != '}')
		return 0;
	while (rt_members_next(&m, &key, &value))
		if (rt_scan_key_is(key, "discussions") && value.ptr[0] == '[')
			return 95;
	/* the list is longer than the beginning that we were given */
	return rt_scan_key_is(key, "discussions") && m.at < m.in.size && m.in.ptr[m.at] == '[' ? 95
											       : 0;
}

static rt_status
canonical_to(const rt_alloc *alloc, const rt_input *in, const rt_reader_to *to, rt_report *report,
	     rt_error *err)
{
	return rt_canonical_read_to(alloc, in, false, NULL, to, report, err);
}
RT_READER_FUNCTIONS(canonical, canonical_to)

const rt_format rt_format_canonical = {
	.name = "canonical",
	.extension = ".json",
	.about = "the whole state as JSON with sorted keys; equal states have equal bytes",
	.media_type = "application/json",
	.holds_project = true,
	.sniff = canonical_sniff,
	.read = canonical_read,
	.stream = canonical_stream,
	.write = rt_canonical_write,
};
