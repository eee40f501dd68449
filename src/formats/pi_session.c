/* SPDX-License-Identifier: MIT
 *
 * From bytes to a session: lines to records, records to entries, entries to a tree with
 * labels and a name. */
#include "formats/pi_session.h"

#include "formats/pi_impl.h"

enum { ENTRIES_FIRST = 64, JUNK_FIRST = 8 };

/* A read under way. */
typedef struct load {
	const rt_alloc *alloc;
	rt_pi_session *session;
	rt_pi_reader reader;
	rt_report *report;
	rt_error *err;
	size_t line_max;
	size_t entry_room, junk_room;
	uint64_t number;  /* of the line, from 1 */
	uint64_t dropped; /* lines that were too long */
	size_t records;   /* what pi counts: the header, entries, later headers, odd values */
} load;

/* Room for one more item; items may move. */
static bool
make_room(const rt_alloc *alloc, void **items, size_t count, size_t *room, size_t first,
	  size_t size)
{
	size_t more = *room == 0 ? first : *room + *room / 2;
	void *moved;

	if (count < *room)
		return true;
	if (more > SIZE_MAX / size)
		return false;
	moved = rt_resize(alloc, *items, more * size);
	if (moved == NULL)
		return false;
	*items = moved;
	*room = more;
	return true;
}

static rt_status
add_junk(load *l, rt_str line)
{
	rt_pi_session *s = l->session;
	void *items = s->junk;

	if (!make_room(l->alloc, &items, s->junk_count, &l->junk_room, JUNK_FIRST,
		       sizeof(*s->junk)))
		return RT_NOMEM;
	s->junk = items;
	s->junk[s->junk_count++] = (rt_pi_junk){l->number - l->dropped, line};
	return RT_OK;
}

static rt_status
add_entry(load *l, const rt_pi_entry *entry)
{
	rt_pi_session *s = l->session;
	void *items = s->entries;
	rt_pi_entry *e;

	if (s->entry_count >= UINT32_MAX - 1)
		return RT_LIMIT;
	if (!make_room(l->alloc, &items, s->entry_count, &l->entry_room, ENTRIES_FIRST,
		       sizeof(*s->entries)))
		return RT_NOMEM;
	s->entries = items;
	e = &s->entries[s->entry_count++];
	*e = *entry;
	e->number = l->number;
	e->record = (uint32_t)l->records++;
	e->parent = -1;
	return RT_OK;
}

static rt_status
not_a_session(load *l, size_t at)
{
	rt_status st = rt_fail_at(l->err, RT_USAGE, at, "Session file is not a valid pi session");

	if (l->err != NULL)
		l->err->line = l->number;
	return st;
}

static rt_status
take_header(load *l, const rt_pi_record *record, rt_str line, size_t at)
{
	rt_pi_session *s = l->session;

	if (record->what != RT_PI_LINE_OBJECT || !record->is_header || record->entry.id.ptr == NULL)
		return not_a_session(l, at);
	s->has_header = true;
	s->header = line;
	s->id = record->entry.id;
	s->cwd = record->cwd;
	s->parent_session = record->parent_session;
	s->timestamp = record->timestamp;
	s->version = record->version;
	l->records = 1;
	return RT_OK;
}

/* at: where the line begins; ended: it has its \n. */
static rt_status
take_line(load *l, rt_str line, size_t at, bool ended)
{
	rt_pi_record record;
	rt_status st = rt_pi_reader_read(&l->reader, line, &record);

	if (st != RT_OK)
		return st;
	switch (record.what) {
	case RT_PI_LINE_OBJECT:
		if (!l->session->has_header)
			return take_header(l, &record, line, at);
		if (!record.is_header)
			return add_entry(l, &record.entry);
		l->records++;
		rt_report_add(l->report, RT_REMARK_SKIPPED, l->number, "a second header; ignored");
		break;
	case RT_PI_LINE_VALUE:
		if (!l->session->has_header)
			return not_a_session(l, at);
		l->records++;
		rt_report_add(l->report, RT_REMARK_SKIPPED, l->number,
			      "JSON, but not a record; passed over");
		break;
	case RT_PI_LINE_FALSY:
		rt_report_add(l->report, RT_REMARK_SKIPPED, l->number,
			      "JSON, but not a record; passed over");
		break;
	case RT_PI_LINE_BAD:
		rt_report_add(l->report, RT_REMARK_SKIPPED, l->number,
			      ended ? "not JSON; passed over"
				    : "the last line is torn; passed over");
		break;
	case RT_PI_LINE_TOO_DEEP:
		rt_report_add(l->report, RT_REMARK_SKIPPED, l->number,
			      "nested more than %d levels deep; passed over",
			      (int)RT_JSON_DEPTH_MAX);
		break;
	case RT_PI_LINE_BLANK: break;
	}
	return add_junk(l, line);
}

static rt_status
take_lines(load *l, rt_str file)
{
	size_t at = 0;
	rt_status st;

	while (at < file.size) {
		const char *nl = memchr(file.ptr + at, '\n', file.size - at);
		size_t end = nl == NULL ? file.size : (size_t)(nl - file.ptr);

		l->number++;
		if (end - at > l->line_max) {
			l->dropped++;
			rt_report_add(l->report, RT_REMARK_SKIPPED, l->number,
				      "longer than %zu bytes; passed over", l->line_max);
		} else {
			st = take_line(l, rt_str_at(file.ptr + at, end - at), at, nl != NULL);
			if (st != RT_OK)
				return st;
		}
		l->session->is_ended = nl != NULL;
		at = nl == NULL ? end : end + 1;
	}
	if (!l->session->has_header && file.size > 0)
		return not_a_session(l, 0);
	return RT_OK;
}

static rt_status
link_entries(rt_pi_session *s, rt_report *report)
{
	rt_pi_ids ids;
	rt_pi_links links;
	rt_status st = RT_OK;
	size_t i;

	if (s->entry_count == 0)
		return RT_OK;
	rt_pi_ids_init(&ids, s->alloc, &s->entries[0].id, sizeof(*s->entries));
	for (i = 0; i < s->entry_count && st == RT_OK; i++) {
		rt_pi_entry *e = &s->entries[i];
		int64_t before = -1;

		if (e->id.ptr == NULL) {
			rt_report_add(report, RT_REMARK_NOTE, e->number, "an entry without an id");
			continue;
		}
		st = rt_pi_ids_put(&ids, i, &before);
		e->is_duplicate = before >= 0;
		if (before >= 0)
			rt_report_add(report, RT_REMARK_REPAIRED, e->number,
				      "id %.*s was there before; it means this entry from now on",
				      (int)rt_utf8_cut(e->id, 40), e->id.ptr);
	}
	if (st == RT_OK) {
		links = (rt_pi_links){.ids = &s->entries[0].id,
				      .parent_ids = &s->entries[0].parent_id,
				      .parents = &s->entries[0].parent,
				      .cut = &s->entries[0].is_cut,
				      .numbers = &s->entries[0].number,
				      .stride = sizeof(*s->entries),
				      .count = s->entry_count};
		st = rt_pi_link(s->alloc, &ids, &links, report);
	}
	if (st != RT_OK) {
		rt_pi_ids_deinit(&ids);
		return st;
	}
	s->id_slots = ids.slots;
	s->id_room = ids.room;
	return RT_OK;
}

/* The last label entry for a target decides; an empty or missing label clears. */
static rt_status
collect_labels(rt_pi_session *s)
{
	rt_pi_ids targets;
	rt_status st = RT_OK;
	size_t i, count = 0, kept = 0;

	for (i = 0; i < s->entry_count; i++)
		count += s->entries[i].kind == RT_PI_LABEL;
	if (count == 0)
		return RT_OK;
	s->labels = rt_new_array(s->alloc, count, sizeof(*s->labels));
	if (s->labels == NULL)
		return RT_NOMEM;
	rt_pi_ids_init(&targets, s->alloc, &s->labels[0].target, sizeof(*s->labels));
	for (i = 0; i < s->entry_count && st == RT_OK; i++) {
		const rt_pi_entry *e = &s->entries[i];
		rt_pi_label label = {e->target, e->text, i};
		int64_t before;

		if (e->kind != RT_PI_LABEL || e->target.ptr == NULL)
			continue;
		before = rt_pi_ids_get(&targets, e->target);
		if (before >= 0 && (s->labels[before].text.size > 0 || e->text.size == 0)) {
			s->labels[before] = label;
			continue;
		}
		s->labels[kept] = label; /* set from nothing: goes to the end */
		st = rt_pi_ids_put(&targets, kept++, NULL);
	}
	rt_pi_ids_deinit(&targets);
	for (i = 0; i < kept; i++) {
		int64_t at;

		if (s->labels[i].text.size == 0)
			continue;
		at = rt_pi_session_find(s, s->labels[i].target);
		if (at >= 0)
			s->entries[at].label = s->labels[i].text;
		s->labels[s->label_count++] = s->labels[i];
	}
	return st;
}

static void
find_name(rt_pi_session *s)
{
	size_t i;

	for (i = s->entry_count; i-- > 0;)
		if (s->entries[i].kind == RT_PI_SESSION_INFO) {
			s->name = rt_pi_trim(s->entries[i].text);
			return;
		}
}

static rt_status
load_all(load *l, rt_str file, const rt_env *env)
{
	rt_pi_session *s = l->session;
	rt_pi_fresh fresh;
	rt_status st = take_lines(l, file);

	if (st == RT_OK && s->version < RT_PI_VERSION) {
		rt_pi_fresh_init(&fresh, env, s->header);
		st = rt_pi_migrate(s, &l->reader, &fresh, l->records);
		rt_report_add(l->report, RT_REMARK_NOTE, 0, "migrated from version %d to %d",
			      s->version, (int)RT_PI_VERSION);
	}
	if (st == RT_OK)
		st = link_entries(s, l->report);
	if (st == RT_OK)
		st = collect_labels(s);
	if (st != RT_OK)
		return st;
	s->leaf = (int64_t)s->entry_count - 1;
	find_name(s);
	return RT_OK;
}

rt_status
rt_pi_session_read(const rt_alloc *alloc, rt_str file, const rt_pi_options *options,
		   rt_pi_session *out, rt_report *report, rt_error *err)
{
	rt_pi_session session;
	load l;
	rt_status st;

	memset(&session, 0, sizeof(session));
	memset(&l, 0, sizeof(l));
	session.alloc = alloc;
	session.leaf = -1;
	session.is_ended = true;
	session.version = RT_PI_VERSION;
	session.arena = rt_arena_new(alloc);
	if (session.arena == NULL)
		return rt_fail(err, RT_NOMEM, "out of memory while reading a session");
	l.alloc = alloc;
	l.session = &session;
	l.report = report;
	l.err = err;
	l.line_max = options == NULL || options->line_max == 0 ? RT_PI_LINE_MAX : options->line_max;
	rt_pi_reader_init(&l.reader, alloc, session.arena);
	st = load_all(&l, file, options == NULL ? NULL : options->env);
	rt_pi_reader_deinit(&l.reader);
	if (st == RT_OK) {
		*out = session;
		return RT_OK;
	}
	rt_pi_session_deinit(&session);
	if (st == RT_NOMEM)
		return rt_fail(err, st, "out of memory while reading a session");
	if (st == RT_LIMIT)
		return rt_fail(err, st, "a session of more than 2^32 - 2 entries");
	return st;
}

void
rt_pi_session_deinit(rt_pi_session *session)
{
	rt_free(session->alloc, session->entries);
	rt_free(session->alloc, session->junk);
	rt_free(session->alloc, session->labels);
	rt_free(session->alloc, session->id_slots);
	rt_arena_free(session->arena);
	memset(session, 0, sizeof(*session));
}

int64_t
rt_pi_session_find(const rt_pi_session *session, rt_str id)
{
	rt_pi_ids ids;

	if (session->id_room == 0)
		return -1;
	rt_pi_ids_init(&ids, session->alloc, &session->entries[0].id, sizeof(*session->entries));
	ids.slots = session->id_slots;
	ids.room = session->id_room;
	return rt_pi_ids_get(&ids, id);
}

void
rt_pi_session_check(const rt_pi_session *session)
{
	size_t i;

	RT_ASSERT(session->leaf == (int64_t)session->entry_count - 1);
	RT_ASSERT(session->has_header || session->entry_count == 0);
	for (i = 0; i < session->entry_count; i++) {
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
	for (i = 0; i < session->label_count; i++)
		RT_ASSERT(session->labels[i].text.size > 0);
}

rt_status
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
