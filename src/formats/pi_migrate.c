/* SPDX-License-Identifier: MIT
 *
 * Versions 1 and 2 of the session file.
 *
 * 1 to 2: every entry gets an id, and the entry before it as parent; a compaction's
 * "firstKeptEntryIndex" counts records with the header as 0 and becomes
 * "firstKeptEntryId". 2 to 3: the role "hookMessage" becomes "custom". Members are added
 * at the end, as pi does; the file itself is never written. */
#include "formats/pi_impl.h"

/* A migration under way. */
typedef struct migration {
	rt_pi_session *session;
	rt_pi_reader *reader;
	uint32_t *entry_of; /* record number to entry index + 1 */
	size_t record_count;
	rt_buf line;
} migration;

/* Fresh ids first, so that a compaction may name any of them. */
static rt_status
give_ids(rt_pi_session *s, rt_pi_fresh *fresh)
{
	rt_pi_ids ids;
	rt_status st = RT_OK;
	size_t i;

	if (s->entry_count == 0)
		return RT_OK;
	for (i = 0; i < s->entry_count; i++)
		s->entries[i].id = rt_str_at(NULL, 0);
	rt_pi_ids_init(&ids, s->alloc, &s->entries[0].id, sizeof(*s->entries));
	for (i = 0; i < s->entry_count && st == RT_OK; i++) {
		rt_pi_entry *e = &s->entries[i];
		char id[RT_PI_UUID_SIZE];
		size_t size = rt_pi_fresh_id(fresh, &ids, id);

		if (!rt_pi_copy(s->arena, rt_str_at(id, size), &e->id))
			st = RT_NOMEM;
		else
			st = rt_pi_ids_put(&ids, i, NULL);
		e->parent_id = i == 0 ? rt_str_at(NULL, 0) : s->entries[i - 1].id;
	}
	rt_pi_ids_deinit(&ids);
	return st;
}

/* The entry that a compaction's index names; NULL: the header, or nothing. */
static const rt_pi_entry *
entry_at(const migration *m, yyjson_val *index)
{
	uint64_t record;

	if (!rt_json_u64(index, &record) || record >= m->record_count || m->entry_of[record] == 0)
		return NULL;
	return &m->session->entries[m->entry_of[record] - 1];
}

static void
quote(rt_buf *buf, rt_str s, rt_str *out)
{
	size_t from = buf->size;

	if (s.ptr == NULL)
		rt_buf_add_c(buf, "null");
	else
		rt_json_add_string(buf, s);
	*out = rt_str_at(buf->ptr == NULL ? NULL : buf->ptr + from, buf->size - from);
}

/* Give the entry its new text: m->line, into the session's arena. */
static rt_status
keep_line(migration *m, rt_pi_entry *e)
{
	if (m->line.status != RT_OK)
		return m->line.status;
	return rt_pi_copy(m->session->arena, rt_buf_str(&m->line), &e->line) ? RT_OK : RT_NOMEM;
}

static rt_status
migrate_1(migration *m, rt_pi_entry *e, yyjson_val *object)
{
	rt_pi_change changes[4];
	size_t count = 0;
	rt_buf quoted;
	rt_str id, parent_id, kept = {NULL, 0};
	rt_status st;
	yyjson_val *index = rt_json_get(object, "firstKeptEntryIndex");

	rt_buf_init(&quoted, m->session->alloc, RT_BUF_UNLIMITED);
	if (rt_buf_reserve(&quoted, 256) == NULL) /* three ids at most: nothing moves */
		return RT_NOMEM;
	quote(&quoted, e->id, &id);
	quote(&quoted, e->parent_id, &parent_id);
	changes[count++] = (rt_pi_change){"id", id, NULL};
	changes[count++] = (rt_pi_change){"parentId", parent_id, NULL};
	if (e->kind == RT_PI_COMPACTION && rt_json_is_number(index)) {
		const rt_pi_entry *first = entry_at(m, index);

		if (first != NULL) {
			e->target = first->id;
			quote(&quoted, first->id, &kept);
			changes[count++] = (rt_pi_change){"firstKeptEntryId", kept, NULL};
		}
		changes[count++] = (rt_pi_change){"firstKeptEntryIndex", {NULL, 0}, NULL};
	}
	rt_buf_clear(&m->line);
	st = quoted.status;
	if (st == RT_OK)
		st = rt_pi_patch(&m->line, e->line, object, changes, count);
	rt_buf_deinit(&quoted);
	return st == RT_OK ? keep_line(m, e) : st;
}

static rt_status
migrate_2(migration *m, rt_pi_entry *e, yyjson_val *object)
{
	rt_pi_change role = {"role", RT_STR("\"custom\""), NULL};
	rt_pi_change message = {"message", {NULL, 0}, NULL};
	rt_str text = rt_pi_member(e->line, object, "message");
	rt_buf inner;
	rt_status st;

	rt_buf_init(&inner, m->session->alloc, RT_BUF_UNLIMITED);
	st = rt_pi_patch(&inner, text, rt_json_get(object, "message"), &role, 1);
	rt_buf_clear(&m->line);
	message.json = rt_buf_str(&inner);
	if (st == RT_OK)
		st = rt_pi_patch(&m->line, e->line, object, &message, 1);
	if (st == RT_OK)
		st = keep_line(m, e);
	rt_buf_deinit(&inner);
	e->role = RT_STR("custom");
	return st;
}

static rt_status
migrate_entry(migration *m, rt_pi_entry *e)
{
	bool from_1 = m->session->version < 2, rename = rt_str_is(e->role, "hookMessage");
	rt_pi_record record;
	rt_status st = RT_OK;

	if (from_1) {
		st = rt_pi_reader_read(m->reader, e->line, &record);
		if (st == RT_OK)
			st = migrate_1(m, e, record.object);
	}
	if (rename && st == RT_OK) {
		st = rt_pi_reader_read(m->reader, e->line, &record);
		if (st == RT_OK)
			st = migrate_2(m, e, record.object);
	}
	return st;
}

rt_status
rt_pi_migrate(rt_pi_session *session, rt_pi_reader *reader, rt_pi_fresh *fresh, size_t record_count)
{
	migration m = {.session = session, .reader = reader, .record_count = record_count};
	rt_status st = RT_OK;
	size_t i;

	m.entry_of = rt_new_array(session->alloc, record_count + 1, sizeof(*m.entry_of));
	if (m.entry_of == NULL)
		return RT_NOMEM;
	memset(m.entry_of, 0, (record_count + 1) * sizeof(*m.entry_of));
	for (i = 0; i < session->entry_count; i++)
		m.entry_of[session->entries[i].record] = (uint32_t)i + 1;
	rt_buf_init(&m.line, session->alloc, RT_BUF_UNLIMITED);
	if (session->version < 2)
		st = give_ids(session, fresh);
	for (i = 0; i < session->entry_count && st == RT_OK; i++)
		st = migrate_entry(&m, &session->entries[i]);
	rt_buf_deinit(&m.line);
	rt_free(session->alloc, m.entry_of);
	return st;
}

rt_status
rt_pi_migrate_header(rt_buf *out, const rt_alloc *alloc, rt_str header)
{
	rt_pi_change version = {"version", RT_STR("3"), NULL};
	rt_arena *arena = rt_arena_new(alloc);
	rt_pi_reader reader;
	rt_pi_record record;
	rt_status st;

	if (arena == NULL)
		return RT_NOMEM;
	rt_pi_reader_init(&reader, alloc, arena);
	st = rt_pi_reader_read(&reader, header, &record);
	if (st == RT_OK && record.what != RT_PI_LINE_OBJECT)
		st = RT_CORRUPT;
	if (st == RT_OK && record.is_header && record.version >= RT_PI_VERSION) {
		rt_buf_add_str(out, header);
		st = out->status;
	} else if (st == RT_OK) {
		st = rt_pi_patch(out, header, record.object, &version, 1);
	}
	rt_pi_reader_deinit(&reader);
	rt_arena_free(arena);
	return st;
}
