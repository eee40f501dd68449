/* SPDX-License-Identifier: MIT
 *
 * Versions 1 and 2 of the session file.
 *
 * 1 to 2: every entry gets an id, and the entry before it as parent; a compaction's
 * "firstKeptEntryIndex" counts records with the header as 0 and becomes
 * "firstKeptEntryId". 2 to 3: the role "hookMessage" becomes "custom". Members are added
 * at the end, as pi does; the file itself is never written. */
#include "formats/pi_impl.h"

/* A migration in progress. */
typedef struct migration {
	rt_pi_session *session;
	rt_pi_reader *reader;
	rt_scope s;         /* scratch */
	rt_index ids;       /* new ids */
	uint32_t *entry_of; /* record number to entry index + 1 */
	size_t record_count;
	rt_buf *line, *inner;
	rt_buf *quoted[3];
} migration;

/* New ids first, so that a compaction may name any of them. */
static void
make_ids(migration *m, const rt_env *env)
{
	rt_pi_session *session = m->session;
	rt_pi_fresh fresh;

	rt_pi_fresh_init(&fresh, env, session->header);
	for (size_t i = 0; i < session->entry_count && rt_ok(&m->s); i++) {
		rt_pi_entry *e = &session->entries[i];

		e->id = rt_pi_fresh_id(&fresh, &m->ids, &session->texts);
		e->parent_id = i == 0 ? rt_str_at(NULL, 0) : session->entries[i - 1].id;
		(void)rt_scope_note(&m->s, session->texts.status);
		(void)rt_index_put(&m->s, &m->ids, e->id, i);
	}
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

static rt_str
quote(migration *m, size_t number, rt_str id)
{
	rt_buf *buf = m->quoted[number];

	rt_buf_clear(buf);
	if (id.ptr == NULL)
		rt_buf_add_c(buf, "null");
	else
		rt_json_add_string(buf, id);
	return rt_scope_str(&m->s, buf);
}

/* Replace the entry's text by the same with the changes. */
static void
change_line(migration *m, rt_pi_entry *e, yyjson_val *object, const rt_pi_change *changes,
	    size_t count)
{
	rt_buf_clear(m->line);
	(void)RT_TRY(&m->s, rt_pi_patch(m->line, e->line, object, changes, count));
	if (rt_ok(&m->s))
		e->line = rt_scope_copy(&m->session->texts, rt_buf_str(m->line));
}

static void
migrate_1(migration *m, rt_pi_entry *e, yyjson_val *object)
{
	yyjson_val *index = rt_json_get(object, "firstKeptEntryIndex");
	rt_pi_change changes[4] = {{"id", quote(m, 0, e->id), NULL},
				   {"parentId", quote(m, 1, e->parent_id), NULL}};
	size_t count = 2;

	if (e->kind == RT_PI_COMPACTION && rt_json_is_number(index)) {
		const rt_pi_entry *first = entry_at(m, index);

		if (first != NULL) {
			e->target = first->id;
			changes[count++] = (rt_pi_change){"firstKeptEntryId",
							  quote(m, 2, first->id), NULL};
		}
		changes[count++] = (rt_pi_change){"firstKeptEntryIndex", {NULL, 0}, NULL};
	}
	change_line(m, e, object, changes, count);
}

static void
migrate_2(migration *m, rt_pi_entry *e, yyjson_val *object)
{
	rt_pi_change role = {"role", RT_STR("\"custom\""), NULL};
	rt_pi_change message = {"message", {NULL, 0}, NULL};

	rt_buf_clear(m->inner);
	(void)RT_TRY(&m->s, rt_pi_patch(m->inner, rt_pi_member(e->line, object, "message"),
					rt_json_get(object, "message"), &role, 1));
	message.json = rt_scope_str(&m->s, m->inner);
	change_line(m, e, object, &message, 1);
	e->role = RT_STR("custom");
}

void
rt_pi_migrate(rt_pi_session *session, rt_pi_reader *reader, const rt_env *env, size_t record_count)
{
	static void (*const steps[])(migration * m, rt_pi_entry * e,
				     yyjson_val * object) = {migrate_1, migrate_2};
	migration m = {.session = session, .reader = reader, .record_count = record_count};
	rt_pi_record record;

	rt_scope_init(&m.s, session->alloc);
	m.line = rt_scope_buf(&m.s);
	m.inner = rt_scope_buf(&m.s);
	for (size_t i = 0; i < 3; i++)
		m.quoted[i] = rt_scope_buf(&m.s);
	m.entry_of = rt_scope_array(&m.s, record_count + 1, sizeof(*m.entry_of));
	for (size_t i = 0; i < session->entry_count && rt_ok(&m.s); i++)
		m.entry_of[session->entries[i].record] = (uint32_t)i + 1;
	if (session->version < 2)
		make_ids(&m, env);
	for (size_t i = 0; i < session->entry_count && rt_ok(&m.s); i++) {
		rt_pi_entry *e = &session->entries[i];
		bool applies[] = {session->version < 2, rt_str_is(e->role, "hookMessage")};

		for (size_t k = 0; k < 2; k++)
			if (applies[k] && rt_ok(&m.s) &&
			    rt_pi_reader_read(reader, e->line, &record))
				steps[k](&m, e, record.object);
	}
	(void)rt_scope_note(&session->s, rt_scope_end(&m.s, NULL));
}

void
rt_pi_migrate_header(rt_buf *out, rt_pi_reader *reader, rt_str header)
{
	rt_pi_change version = {"version", RT_STR("3"), NULL};
	rt_pi_record record;

	if (!rt_pi_reader_read(reader, header, &record))
		return;
	if (record.version >= RT_PI_VERSION)
		rt_buf_add_str(out, header);
	else
		(void)RT_TRY(reader->texts, rt_pi_patch(out, header, record.object, &version, 1));
}
