/* SPDX-License-Identifier: MIT
 *
 * The checks in their order, and those of the store, the bodies and the search index.
 *
 *   id                     severity  meaning
 *   store-…                error     the store's own: pages, checksums, gaps (store_*.c)
 *   log-gap                error     a row of the log is missing
 *   log-cut                error     the log ends before a row that was written
 *   log-row-unreadable     error     a row is not a record
 *   log-row-too-new        error     a row needs a newer Retake
 *   log-op-unknown         note      a row's operation is unknown
 *   log-unreplayable       error     the rows do not lead to a value
 *   history-parent         error     a step follows a row that is not an earlier step, or
 *                                    that is one of another document
 *   history-move           error     an undo, redo or jump names a row that is not an earlier step
 *   history-redo           error     the redo pointer names a row that is not a move
 *   history-current        error     a document's current step is not one of its steps
 *   body-missing           error     a slot names a body that does not exist
 *   body-unreadable        error     a body cannot be decoded
 *   body-entry-differs     warning   a body belongs to another entry than its slot says
 *   body-size-differs      warning   a slot's size is not its text's
 *   body-orphan            warning   a body of an entry that no row names
 *   body-ahead             warning   bodies beyond the last that the value knows
 *   discussion-unreadable  error     a discussion cannot be loaded
 *   active-missing         error     the active discussion or take is not present
 *   head-missing           error     the head is an entry that is not in the take
 *   entry-unfindable       error     an entry of a take cannot be found by its number
 *   entry-repeated         error     an entry is in a take twice
 *   id-duplicate           error     two entries of one discussion have the same id
 *   name-duplicate         warning   two present takes, or discussions, of the same name
 *   field-unreadable       error     a field is not JSON
 *   label-dangling         warning   a label on an entry that the discussion never knew
 *   value-broken           error     another invariant of the value is broken
 *   memory-differs         error     the state in memory differs from that of the log
 *   checkpoint-unreadable  warning   the checkpoint cannot be loaded; the log is used
 *   checkpoint-ahead       warning   the checkpoint is of a row that does not exist
 *   checkpoint-differs     error     the checkpoint's value differs from that of the log
 *   purge-unfinished       warning   purged bytes may still be in the files
 *   index-ahead            warning   the search index goes further than the bodies
 *   index-lost             warning   a text is not found by its own words (a sample is tried)
 *
 * Bodies and rows are read once, in order; a dozen bytes are kept of each. */
#include "log/fsck.h"

#include <stdarg.h>
#include <stdio.h> /* vsnprintf */

#include "log/checkpoint.h"
#include "log/fsck_impl.h"

enum {
	TEXT_MAX = 480,
	INDEX_TRIES = 64, /* texts that are searched by their words, */
	INDEX_WORDS = 200 /* and how many of their bytes */
};

static bool
give(rt_fsck_fn fn, void *ctx, const char *severity, const char *id, const char *format, va_list ap)
{
	char text[TEXT_MAX];

	(void)vsnprintf(text, sizeof(text), format, ap);
	text[rt_utf8_valid_size(rt_str_of(text))] = '\0';
	for (char *p = text; *p != '\0'; p++) /* names may contain any bytes */
		if ((unsigned char)*p < 0x20 || *p == 0x7F)
			*p = ' ';
	return fn(ctx, &(rt_finding){id, severity, text});
}

bool
rt_finding_give(rt_fsck_fn fn, void *ctx, const char *severity, const char *id, const char *format,
		...)
{
	va_list ap;

	va_start(ap, format);
	bool goes_on = give(fn, ctx, severity, id, format, ap);
	va_end(ap);
	return goes_on;
}

void
rt_fsck_report(rt_fsck *f, const char *severity, const char *id, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	f->stopped = f->stopped || !give(f->fn, f->ctx, severity, id, format, ap);
	va_end(ap);
}

static bool
store_finding(void *ctx, const char *id, const char *text)
{
	rt_fsck *f = ctx;

	rt_fsck_report(f, "error", id, "%s", text);
	return !f->stopped;
}

/* ---- bodies ---- */

static uint32_t
cut_size(size_t size)
{
	return size > UINT32_MAX ? UINT32_MAX : (uint32_t)size;
}

static void
note_sizes(rt_fsck *f, rt_body_note *note, const rt_body *body, rt_str data)
{
	note->state |= RT_BODY_GOOD;
	note->whole = cut_size(data.size - 1);
	note->size = cut_size(body->content.size);
	if (body->content_json != NULL) {
		rt_buf text;

		rt_buf_init(&text, f->engine->alloc, RT_BUF_UNLIMITED);
		rt_json_add_value(&text, body->content_json);
		rt_scope_note(&f->scope, text.status);
		note->size = cut_size(text.size);
		rt_buf_deinit(&text);
	}
}

static bool
check_body(void *ctx, const rt_store_row *row)
{
	rt_fsck *f = ctx;
	rt_body_note *note;
	rt_body body;
	rt_error err;
	rt_status st;

	if (row->number >= f->body_count)
		return true;
	note = &f->bodies[row->number];
	note->entry = row->entry > UINT32_MAX ? UINT32_MAX : (uint32_t)row->entry;
	note->state = RT_BODY_SEEN;
	st = rt_body_read(f->engine->alloc, row->data, &body, &err);
	if (st == RT_NOMEM) {
		rt_scope_nomem(&f->scope);
	} else if (st != RT_OK) {
		note->state |= RT_BODY_REPORTED;
		rt_fsck_report(f, "error", "body-unreadable", "body %llu of entry %llu: %.300s",
			       (unsigned long long)row->number, (unsigned long long)row->entry,
			       err.text);
	} else {
		if (body.format != RT_BODY_PURGED)
			note_sizes(f, note, &body, row->data);
		rt_body_deinit(&body);
	}
	return rt_fsck_goes_on(f);
}

/* ---- the search index ---- */

typedef struct index_try {
	rt_fsck *f;
	rt_buf words; /* the first words of the text that is searched for */
	uint64_t number;
	bool found;
} index_try;

static bool
is_word(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

/* The plain words of the text's beginning, which every kind of index separates alike: those between
 * spaces. Without any, the text cannot be checked. */
static bool
read_words(void *ctx, const rt_store_row *row)
{
	index_try *t = ctx;
	rt_buf text;
	rt_body body;

	if (row->entry == 0 || rt_body_read(t->f->engine->alloc, row->data, &body, NULL) != RT_OK)
		return false; /* reported already, if it is wrong */
	rt_buf_init(&text, t->f->engine->alloc, RT_BUF_UNLIMITED);
	rt_body_add_searched(&text, &body);
	rt_body_deinit(&body);
	for (size_t at = 0, end; at < text.size && at < INDEX_WORDS; at = end + 1) {
		end = at;
		while (end < text.size && is_word(text.ptr[end]))
			end++;
		if (end > at && (end == text.size || text.ptr[end] == ' ')) {
			rt_buf_add(&t->words, text.ptr + at, end - at);
			rt_buf_add_byte(&t->words, ' ');
		}
		while (end < text.size && text.ptr[end] != ' ')
			end++;
	}
	rt_scope_note(&t->f->scope, text.status);
	rt_scope_note(&t->f->scope, t->words.status);
	rt_buf_deinit(&text);
	return false;
}

static bool
is_hit(void *ctx, uint64_t number, uint64_t entry)
{
	index_try *t = ctx;

	(void)entry;
	t->found = number == t->number;
	return !t->found;
}

/* An index whose pages were lost reports no error, it just finds nothing. So some of the texts up
 * to the mark are searched by their own words. */
static void
try_index(rt_fsck *f, uint64_t mark)
{
	const rt_store_ops *ops = f->engine->store->ops;
	rt_scope *s = &f->scope;
	index_try t = {.f = f, .found = true};
	uint64_t step = mark / INDEX_TRIES + 1;

	rt_buf_init(&t.words, f->engine->alloc, RT_BUF_UNLIMITED);
	for (t.number = 1; rt_ok(s) && t.found && t.number <= mark; t.number += step) {
		rt_status st;

		rt_buf_clear(&t.words);
		RT_TRY(s, rt_engine_read(f->engine, RT_STORE_BODIES, t.number, t.number, read_words,
					 &t, &s->error));
		if (!rt_ok(s) || t.words.size == 0)
			continue;
		t.found = false;
		st = ops->index_find(f->engine->store, f->engine->project, rt_buf_str(&t.words),
				     0, is_hit, &t, &s->error);
		if (st != RT_CORRUPT)
			rt_scope_note(s, st);
		if (rt_ok(s) && !t.found)
			rt_fsck_report(f, "warning", "index-lost",
				       "body %llu is not found by its words: the search index "
				       "is damaged; retake repair rebuilds it",
				       (unsigned long long)t.number);
	}
	rt_buf_deinit(&t.words);
}

static void
check_bodies(rt_fsck *f, const rt_project *value)
{
	rt_scope *s = &f->scope;
	uint64_t head = 0, mark = 0, row = 0;
	rt_status st;

	RT_TRY(s, rt_engine_head(f->engine, RT_STORE_BODIES, &head, &s->error));
	if (head >= value->next_body)
		RT_TRY(s, rt_engine_head(f->engine, RT_STORE_LOG, &row, &s->error));
	f->body_count = head + 1 < value->next_body ? head + 1 : value->next_body;
	f->bodies = rt_scope_array(s, (size_t)f->body_count + 1, sizeof(*f->bodies));
	if (!rt_ok(s))
		return;
	st = rt_engine_read(f->engine, RT_STORE_BODIES, 1, RT_STORE_NUMBER_MAX, check_body, f,
			    &s->error);
	f->bodies_cut = st == RT_CORRUPT; /* the rest is not read */
	if (f->bodies_cut)
		rt_fsck_report(f, "error", "body-unreadable", "%.300s", s->error.text);
	else
		rt_scope_note(s, st);
	if (!rt_ok(s))
		return;
	/* They may belong to rows that another process has added since. */
	if (head >= value->next_body && row <= value->seq && !f->newer)
		rt_fsck_report(f, "warning", "body-ahead",
			       "there are bodies up to %llu, but the state has bodies up to %llu",
			       (unsigned long long)head, (unsigned long long)value->next_body - 1);
	if (rt_engine_scrub_pending(f->engine))
		rt_fsck_report(
			f, "warning", "purge-unfinished",
			"bytes of purged texts may still be in the store's files; the next "
			"change overwrites them");
	RT_TRY(s, rt_engine_head(f->engine, RT_STORE_INDEX, &mark, &s->error));
	if (mark > head) /* read after the mark, which follows the bodies */
		RT_TRY(s, rt_engine_head(f->engine, RT_STORE_BODIES, &head, &s->error));
	if (rt_ok(s) && mark > head)
		rt_fsck_report(f, "warning", "index-ahead",
			       "the search index ends at body %llu, but the last body is %llu",
			       (unsigned long long)mark, (unsigned long long)head);
	if (!f->bodies_cut)
		try_index(f, head < mark ? head : mark);
}

static void
report_missing(rt_fsck *f, const rt_slot *slot, const char *where)
{
	rt_fsck_report(f, "error", "body-missing",
		       "entry %u in %s refers to body %llu, which does not exist", slot->entry, where,
		       (unsigned long long)slot->body);
}

void
rt_fsck_slot(rt_fsck *f, const rt_slot *slot, const char *where)
{
	rt_body_note *note;
	uint8_t before;

	if (slot->body == 0 || slot->body >= f->body_count) {
		report_missing(f, slot, where);
		return;
	}
	note = &f->bodies[slot->body];
	before = note->state;
	note->state |= RT_BODY_NAMED;
	if ((before & RT_BODY_REPORTED) != 0)
		return;
	if ((before & RT_BODY_SEEN) == 0) {
		if (f->bodies_cut)
			return; /* it may be in the unread part */
		note->state |= RT_BODY_REPORTED;
		report_missing(f, slot, where);
	} else if (note->entry != slot->entry) {
		note->state |= RT_BODY_REPORTED;
		rt_fsck_report(f, "warning", "body-entry-differs",
			       "entry %u in %s has body %llu, which belongs to entry %u",
			       slot->entry, where, (unsigned long long)slot->body, note->entry);
	} else if ((before & RT_BODY_GOOD) != 0 && slot->size != note->size &&
		   slot->size != note->whole) {
		note->state |= RT_BODY_REPORTED;
		rt_fsck_report(f, "warning", "body-size-differs",
			       "entry %u in %s has %u bytes, but body %llu has %u", slot->entry, where,
			       slot->size, (unsigned long long)slot->body, note->size);
	}
}

/* Only if the whole log was read: a row that was not read might name them. */
static void
find_orphans(rt_fsck *f)
{
	for (uint64_t i = 1; i < f->body_count && rt_fsck_goes_on(f); i++)
		if ((f->bodies[i].state & (RT_BODY_SEEN | RT_BODY_NAMED)) == RT_BODY_SEEN &&
		    f->bodies[i].entry != 0)
			rt_fsck_report(f, "warning", "body-orphan",
				       "no row of the log refers to body %llu of entry %u",
				       (unsigned long long)i, f->bodies[i].entry);
}

/* ---- values ---- */

typedef struct values {
	const rt_project *now;        /* in use */
	const rt_project *log;        /* NULL: the rows do not lead there */
	const rt_project *checkpoint; /* NULL: none is usable */
} values;

static void
load_checkpoint(rt_fsck *f, uint64_t head, values *v)
{
	rt_engine *engine = f->engine;
	uint64_t seq = 0, next;
	rt_error why;
	rt_buf root;
	rt_str state;
	rt_status st;

	rt_buf_init(&root, engine->alloc, RT_BUF_UNLIMITED);
	st = rt_engine_root(engine, &root, &seq, &next, &state, &why);
	rt_buf_deinit(&root);
	if (st == RT_OK && seq > head)
		st = rt_engine_head(engine, RT_STORE_LOG, &head, &why);
	if (st == RT_OK && seq > head) {
		rt_fsck_report(f, "warning", "checkpoint-ahead",
			       "the checkpoint is at row %llu, but the log ends with row %llu",
			       (unsigned long long)seq, (unsigned long long)head);
	} else if (st == RT_OK) {
		engine->root_seq = 0;
		st = rt_engine_load(engine, true, &v->checkpoint, &why);
		if ((st == RT_OK && engine->root_seq != 0) || f->newer)
			return;
		rt_fsck_report(f, "warning", "checkpoint-unreadable",
			       "the checkpoint of row %llu cannot be used; the log is used instead. See: retake help repair",
			       (unsigned long long)seq);
		rt_object_unref(v->checkpoint);
		v->checkpoint = NULL;
	} else if (st == RT_NOMEM) {
		rt_scope_nomem(&f->scope);
	} else if (st != RT_NOT_FOUND) {
		rt_fsck_report(f, "warning", "checkpoint-unreadable", "%.300s", why.text);
	}
}

/* The three ways to the same value. As the leader, because loading records in the engine which
 * checkpoint was read; this is restored. */
static void
load_values(rt_fsck *f, values *v)
{
	rt_engine *engine = f->engine;
	rt_scope *s = &f->scope;
	uint64_t root_seq = engine->root_seq, next_node = engine->next_node, head = 0;
	uint64_t newer_seq = engine->newer_seq;
	rt_error newer = engine->newer;
	rt_status st;

	v->now = rt_engine_value(engine);
	RT_TRY(s, rt_engine_head(engine, RT_STORE_LOG, &head, &s->error));
	if (!rt_ok(s))
		return;
	st = rt_engine_load(engine, false, &v->log, &s->error);
	f->newer = rt_engine_newer(engine, NULL);
	if (st == RT_NOMEM || st == RT_IO || st == RT_BUSY) {
		rt_scope_note(s, st);
		return;
	}
	if (st != RT_OK)
		rt_fsck_report(f, "error", "log-unreplayable",
			       "the log does not produce a valid state: %.300s", s->error.text);
	load_checkpoint(f, head, v);
	engine->root_seq = root_seq;
	engine->next_node = next_node;
	pthread_mutex_lock(&engine->value_lock);
	engine->newer_seq = newer_seq;
	engine->newer = newer;
	pthread_mutex_unlock(&engine->value_lock);
}

/* Compare a value with the log's. There may have been writes in between: the older one is brought
 * to the newer one's row first. If rows of a newer version are in between, they are not
 * compared. */
static void
compare_with_log(rt_fsck *f, values *v, const rt_project **other, const char *id, const char *what)
{
	const rt_project **older = v->log->seq < (*other)->seq ? &v->log : other;
	uint64_t seq = older == other ? v->log->seq : (*other)->seq;

	if ((*older)->seq < seq && !f->newer)
		RT_TRY(&f->scope, rt_engine_catch_up(f->engine, older, seq, &f->scope.error));
	if (rt_ok(&f->scope) && v->log->seq == (*other)->seq)
		rt_fsck_compare(f, v->log, *other, id, what);
}

static void
check_values(rt_fsck *f, values *v)
{
	if (!rt_ok(&f->scope))
		return;
	rt_fsck_value(f, v->log != NULL ? v->log : v->now);
	if (rt_ok(&f->scope) && v->log != NULL)
		compare_with_log(f, v, &v->now, "memory-differs", "the state in memory");
	if (rt_ok(&f->scope) && v->log != NULL && v->checkpoint != NULL)
		compare_with_log(f, v, &v->checkpoint, "checkpoint-differs", "the checkpoint");
}

/* Does the log end before a row that was written? */
static void
check_end(rt_fsck *f)
{
	rt_engine *engine = f->engine;
	rt_scope *s = &f->scope;
	uint64_t mark = 0, head = 0;
	rt_status st;

	if (!rt_ok(s))
		return;
	st = rt_engine_head_mark(engine, &mark, &s->error);
	if (st == RT_CORRUPT) /* the store's check reports it */
		return;
	rt_scope_note(s, st);
	RT_TRY(s, rt_engine_head(engine, RT_STORE_LOG, &head, &s->error));
	if (!rt_ok(s) || mark <= head)
		return;
	f->log_findings++;
	rt_fsck_report(f, "error", "log-cut",
		       "the log ends with row %llu, but row %llu was written",
		       (unsigned long long)head, (unsigned long long)mark);
}

static rt_status
check_project(rt_fsck *f, rt_error *err)
{
	values v = {0};

	rt_engine_lock_writer(f->engine);
	load_values(f, &v);
	rt_engine_unlock_writer(f->engine);
	check_end(f);
	if (rt_ok(&f->scope)) {
		const rt_project *value = v.log != NULL ? v.log : v.now;

		check_bodies(f, value);
		/* with the unknown row, to report it */
		rt_fsck_log(f, value->seq + (f->newer ? 1 : 0));
	}
	if (f->log_findings == 0)
		find_orphans(f);
	check_values(f, &v);
	rt_object_unref(v.now);
	rt_object_unref(v.log);
	rt_object_unref(v.checkpoint);
	if (f->scope.status == RT_CORRUPT) /* a row does not match its checksum: the store's check
					    * reports it */
		f->scope.status = RT_OK;
	return rt_scope_end(&f->scope, err);
}

rt_status
rt_engine_fsck(rt_engine *engine, rt_fsck_fn fn, void *ctx, rt_error *err)
{
	rt_fsck f = {.engine = engine, .fn = fn, .ctx = ctx};
	rt_status st = engine->store->ops->check(engine->store, store_finding, &f, err);

	rt_scope_init(&f.scope, engine->alloc);
	return st == RT_OK ? check_project(&f, err) : st;
}

rt_status
rt_engine_fsck_project(rt_engine *engine, rt_fsck_fn fn, void *ctx, rt_error *err)
{
	rt_fsck f = {.engine = engine, .fn = fn, .ctx = ctx};

	rt_scope_init(&f.scope, engine->alloc);
	return check_project(&f, err);
}
