/* SPDX-License-Identifier: MIT
 *
 * From bytes to a session: lines to records, records to entries, entries to a tree with
 * labels and a name. */
#include "formats/pi_session.h"

#include "formats/pi_impl.h"

/* A file being read. */
typedef struct load {
	rt_pi_session *session;
	rt_scope *s; /* the session's */
	rt_pi_reader reader;
	rt_report *report;
	size_t line_max;
	uint64_t number;  /* of the line, from 1 */
	uint64_t dropped; /* lines that were too long */
	size_t records;   /* what pi counts: the header, entries, later headers, odd values */
} load;

/* ---- lines ---- */

static void
add_junk(load *l, rt_str line)
{
	rt_pi_junk *junk = rt_vec_push(l->s, &l->session->junk_list, sizeof(*junk));

	if (junk != NULL)
		*junk = (rt_pi_junk){l->number - l->dropped, line};
}

static void
add_entry(load *l, const rt_pi_entry *entry)
{
	rt_pi_entry *e = rt_vec_push(l->s, &l->session->entry_list, sizeof(*e));

	if (e == NULL)
		return;
	*e = *entry;
	e->number = l->number;
	e->record = (uint32_t)l->records++;
	e->parent = -1;
	if (l->session->entry_list.count >= UINT32_MAX - 1)
		(void)rt_scope_fail(l->s, RT_LIMIT, "a session of more than 2^32 - 2 entries");
}

static void
read_header(load *l, const rt_pi_record *record, rt_str line, size_t at)
{
	rt_pi_session *s = l->session;

	if (record->what != RT_PI_LINE_OBJECT || !record->is_header ||
	    record->entry.id.ptr == NULL) {
		(void)RT_TRY(l->s, rt_fail_at(&l->s->error, RT_USAGE, at,
					      "Session file is not a valid pi session"));
		l->s->error.line = l->number;
		return;
	}
	s->has_header = true;
	s->header = line;
	s->id = record->entry.id;
	s->cwd = record->cwd;
	s->parent_session = record->parent_session;
	s->timestamp = record->timestamp;
	s->version = record->version;
	l->records = 1;
}

static void
skipped(const load *l, const char *what)
{
	rt_report_add(l->report, RT_REMARK_SKIPPED, l->number, "%s", what);
}

/* at: where the line begins; is_ended: it has its \n. */
static void
read_line(load *l, rt_str line, size_t at, bool is_ended)
{
	rt_pi_record record;

	if (!rt_pi_reader_read(&l->reader, line, &record))
		return;
	if (!l->session->has_header &&
	    (record.what == RT_PI_LINE_OBJECT || record.what == RT_PI_LINE_VALUE)) {
		read_header(l, &record, line, at);
		return;
	}
	switch (record.what) {
	case RT_PI_LINE_OBJECT:
		if (!record.is_header) {
			add_entry(l, &record.entry);
			return;
		}
		l->records++;
		skipped(l, "a second header; ignored");
		break;
	case RT_PI_LINE_VALUE: l->records++; /* fall through */
	case RT_PI_LINE_FALSY: skipped(l, "JSON, but not a record; passed over"); break;
	case RT_PI_LINE_BAD:
		skipped(l,
			is_ended ? "not JSON; passed over" : "the last line is torn; passed over");
		break;
	case RT_PI_LINE_TOO_DEEP:
		rt_report_add(l->report, RT_REMARK_SKIPPED, l->number,
			      "nested more than %d levels deep; passed over",
			      (int)RT_JSON_DEPTH_MAX);
		break;
	case RT_PI_LINE_BLANK: break;
	}
	add_junk(l, line);
}

static void
read_lines(load *l, rt_str file)
{
	rt_pi_session *s = l->session;
	rt_pi_record none = {.what = RT_PI_LINE_BLANK};

	for (size_t at = 0; at < file.size && rt_ok(l->s) && rt_ok(&s->texts);) {
		const char *nl = memchr(file.ptr + at, '\n', file.size - at);
		size_t end = nl == NULL ? file.size : (size_t)(nl - file.ptr);

		l->number++;
		if (end - at > l->line_max) {
			l->dropped++;
			rt_report_add(l->report, RT_REMARK_SKIPPED, l->number,
				      "longer than %zu bytes; passed over", l->line_max);
		} else {
			read_line(l, rt_str_at(file.ptr + at, end - at), at, nl != NULL);
		}
		s->is_ended = nl != NULL;
		at = nl == NULL ? end : end + 1;
	}
	if (rt_scope_note(l->s, s->texts.status) == RT_OK && !s->has_header && file.size > 0)
		read_header(l, &none, file, 0);
	s->entries = s->entry_list.items;
	s->entry_count = s->entry_list.count;
	s->junk = s->junk_list.items;
	s->junk_count = s->junk_list.count;
	s->leaf = (int64_t)s->entry_count - 1;
}

/* ---- the tree ---- */

static void
link_entries(load *l)
{
	rt_pi_session *s = l->session;
	rt_pi_link *links;
	rt_scope scratch;

	rt_scope_init(&scratch, s->alloc);
	links = rt_scope_array(&scratch, s->entry_count, sizeof(*links));
	for (size_t i = 0; i < s->entry_count && rt_ok(l->s) && links != NULL; i++) {
		rt_pi_entry *e = &s->entries[i];

		links[i] = (rt_pi_link){.id = e->id, .parent_id = e->parent_id, .line = e->number};
		if (e->id.ptr == NULL) {
			rt_report_add(l->report, RT_REMARK_NOTE, e->number,
				      "an entry without an id");
			continue;
		}
		e->is_duplicate = rt_index_put(l->s, &s->ids, e->id, i) >= 0;
		if (e->is_duplicate)
			rt_report_add(l->report, RT_REMARK_REPAIRED, e->number,
				      "id %.*s was there before; it means this entry from now on",
				      (int)rt_utf8_cut(e->id, 40), e->id.ptr);
	}
	if (rt_ok(l->s) && links != NULL)
		rt_pi_link_all(&scratch, &s->ids, links, s->entry_count, l->report);
	for (size_t i = 0; i < s->entry_count && rt_ok(&scratch); i++) {
		s->entries[i].parent = links[i].parent;
		s->entries[i].is_cut = links[i].is_cut;
	}
	(void)rt_scope_note(l->s, rt_scope_end(&scratch, NULL));
}

/* ---- labels and the name ---- */

/* The last label entry for a target decides; an empty or missing label clears. */
static void
collect_labels(load *l)
{
	rt_pi_session *s = l->session;
	rt_vec labels = {.items = NULL};
	rt_pi_label *all;
	rt_index targets = {.slots = NULL};
	rt_scope scratch;
	size_t kept = 0;

	rt_scope_init(&scratch, s->alloc);
	for (size_t i = 0; i < s->entry_count && rt_ok(&scratch); i++) {
		const rt_pi_entry *e = &s->entries[i];
		rt_pi_label label = {e->target, e->text, i}, *to = NULL;
		int64_t before;

		if (e->kind != RT_PI_LABEL || e->target.ptr == NULL)
			continue;
		before = rt_index_get(&targets, e->target);
		if (before >= 0) {
			to = (rt_pi_label *)labels.items + before;
			if (to->text.size == 0 && e->text.size > 0)
				to = NULL; /* set from nothing: goes to the end */
		}
		if (to == NULL) {
			to = rt_vec_push(&scratch, &labels, sizeof(*to));
			(void)rt_index_put(&scratch, &targets, e->target, labels.count - 1);
		}
		if (to != NULL)
			*to = label;
	}
	all = labels.items;
	s->labels = rt_scope_array(&s->texts, labels.count, sizeof(*s->labels));
	for (size_t i = 0; i < labels.count && s->labels != NULL; i++) {
		int64_t at = rt_index_get(&s->ids, all[i].target);

		if (all[i].text.size == 0)
			continue;
		if (at >= 0)
			s->entries[at].label = all[i].text;
		s->labels[kept++] = all[i];
	}
	s->label_count = kept;
	(void)rt_scope_note(l->s, rt_scope_end(&scratch, NULL));
}

static void
find_name(rt_pi_session *s)
{
	for (size_t i = s->entry_count; i-- > 0;)
		if (s->entries[i].kind == RT_PI_SESSION_INFO) {
			s->name = rt_pi_trim(s->entries[i].text);
			return;
		}
}

/* ---- the session ---- */

rt_status
rt_pi_session_read(const rt_alloc *alloc, rt_str file, const rt_pi_options *options,
		   rt_pi_session *out, rt_report *report, rt_error *err)
{
	rt_pi_session *s = out;
	load l = {.session = s, .s = &s->s, .report = report, .line_max = RT_PI_LINE_MAX};
	rt_status st;

	*s = (rt_pi_session){.alloc = alloc, .is_ended = true, .version = RT_PI_VERSION};
	rt_scope_init(&s->s, alloc);
	rt_scope_init(&s->texts, alloc);
	rt_pi_reader_init(&l.reader, &s->texts);
	if (options != NULL && options->line_max > 0)
		l.line_max = options->line_max;
	read_lines(&l, file);
	if (rt_ok(l.s) && s->version < RT_PI_VERSION) {
		rt_pi_migrate(s, &l.reader, options == NULL ? NULL : options->env, l.records);
		rt_report_add(report, RT_REMARK_NOTE, 0, "migrated from version %d to %d",
			      s->version, (int)RT_PI_VERSION);
	}
	link_entries(&l);
	collect_labels(&l);
	find_name(s);
	rt_pi_reader_deinit(&l.reader);
	st = rt_scope_note(&s->s, s->texts.status);
	if (st == RT_OK)
		return st;
	if (err != NULL)
		*err = s->s.error;
	rt_pi_session_deinit(s);
	return st == RT_NOMEM ? rt_fail(err, st, "out of memory while reading a session") : st;
}

void
rt_pi_session_deinit(rt_pi_session *session)
{
	rt_scope_deinit(&session->s);
	rt_scope_deinit(&session->texts);
	memset(session, 0, sizeof(*session));
}

int64_t
rt_pi_session_find(const rt_pi_session *session, rt_str id)
{
	return rt_index_get(&session->ids, id);
}

void
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
	for (size_t i = 0; i < session->label_count; i++)
		RT_ASSERT(session->labels[i].text.size > 0);
}
