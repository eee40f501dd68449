/* SPDX-License-Identifier: MIT
 *
 * Fsck: is everything as it was written, and does it fit together? Changes nothing.
 *
 *   id                     severity  what it says
 *   store-…                error     the store's own: pages, checksums, gaps (store_*.c)
 *   log-gap                error     a row of the log is missing
 *   log-cut                error     the log ends before a row that was written
 *   log-row-unreadable     error     a row is not a record
 *   log-row-too-new        error     a row needs a newer Retake
 *   log-op-unknown         note      a row's operation is none that we know
 *   log-unreplayable       error     the rows do not lead to a value
 *   history-parent         error     a step follows a row that is no step before it, or one
 *                                    of another document
 *   history-move           error     an undo, redo or jump names a row that is no step before it
 *   history-redo           error     what redo would bring back is no move
 *   history-current        error     a document stands at a row that is no step of it
 *   body-missing           error     a slot names a body that is not there
 *   body-unreadable        error     a body is not what a body is
 *   body-entry-differs     warning   a body belongs to another entry than its slot says
 *   body-size-differs      warning   a slot's size is not its text's
 *   body-orphan            warning   a body of an entry that no row names
 *   body-ahead             warning   bodies beyond the last that the value knows
 *   discussion-unreadable  error     a discussion cannot be loaded
 *   active-missing         error     the active discussion or take is not present
 *   head-missing           error     the head stands on an entry that is not in the take
 *   entry-unfindable       error     an entry of a take cannot be found by its number
 *   entry-repeated         error     an entry is in a take twice
 *   id-duplicate           error     two entries of one discussion have the same id
 *   name-duplicate         warning   two present takes, or discussions, of the same name
 *   field-unreadable       error     a field is not JSON
 *   label-dangling         warning   a label on an entry that the discussion never knew
 *   value-broken           error     another promise of the value is broken
 *   memory-differs         error     the value in use is not the one that the log gives
 *   checkpoint-unreadable  warning   the checkpoint cannot be loaded; the log is used
 *   checkpoint-ahead       warning   the checkpoint speaks of rows that are not there
 *   checkpoint-differs     error     the checkpoint's value is not the one that the log gives
 *   reply-stranded         note      what a reply in flight answers is gone; its text lies aside
 *   reply-unreadable       warning   a reply's side row is none
 *   purge-unfinished       warning   bytes of what was purged may still be in the files
 *   index-ahead            warning   the search index goes further than the bodies
 *   index-lost             warning   a text is not found by its own words (a sample is tried)
 *
 * Bodies and rows are read once, in order; what is kept of each is a dozen bytes. */
#include "log/fsck_impl.h"
#include "chat/send.h"

#include <stdarg.h>
#include <stdio.h> /* vsnprintf */

enum {
	TEXT_MAX = 480,
	INDEX_TRIES = 64,  /* texts that are looked for by their words, */
	INDEX_WORDS = 200  /* and how many of their bytes */
};

void
rt_fsck_say(rt_fsck *f, const char *severity, const char *id, const char *format, ...)
{
	char text[TEXT_MAX];
	rt_finding finding = {id, severity, text};
	va_list ap;
	char *p;

	if (f->stopped)
		return;
	va_start(ap, format);
	(void)vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	text[rt_utf8_valid_size(rt_str_of(text))] = '\0';
	for (p = text; *p != '\0'; p++) /* names may hold anything */
		if ((unsigned char)*p < 0x20 || *p == 0x7F)
			*p = ' ';
	f->stopped = !f->fn(f->ctx, &finding);
}

/* ---- the store ---- */

static bool
store_finding(void *ctx, const char *id, const char *text)
{
	rt_fsck *f = ctx;

	rt_fsck_say(f, "error", id, "%s", text);
	return !f->stopped;
}

/* ---- bodies ---- */

static uint32_t
cut_size(size_t size)
{
	return size > UINT32_MAX ? UINT32_MAX : (uint32_t)size;
}

static bool
look_at_body(void *ctx, const rt_store_row *row)
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
	if (st != RT_OK) {
		if (st == RT_NOMEM) {
			f->nomem = true;
			return false;
		}
		note->state |= RT_BODY_TOLD;
		rt_fsck_say(f, "error", "body-unreadable", "body %llu of entry %llu: %.300s",
			    (unsigned long long)row->number, (unsigned long long)row->entry,
			    err.text);
		return !f->stopped;
	}
	if (body.format != RT_BODY_PURGED) {
		note->state |= RT_BODY_GOOD;
		note->whole = cut_size(row->data.size - 1);
		note->size = cut_size(body.content.size);
		if (body.content_json != NULL) {
			rt_buf text;

			rt_buf_init(&text, f->engine->alloc, RT_BUF_UNLIMITED);
			rt_json_add_value(&text, body.content_json);
			f->nomem = f->nomem || text.status != RT_OK;
			note->size = cut_size(text.size);
			rt_buf_deinit(&text);
		}
	}
	rt_body_deinit(&body);
	return !f->nomem;
}

/* ---- the search index ---- */

typedef struct index_try {
	rt_fsck *f;
	rt_buf words; /* the first words of the text that is looked for */
	uint64_t number;
	bool found;
} index_try;

static bool
is_word(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

/* The plain words of the text's beginning, which every kind of index cuts alike: those
 * between spaces. Empty: it cannot be tried. */
static bool
on_body(void *ctx, const rt_store_row *row)
{
	index_try *t = ctx;
	rt_buf text;
	rt_body body;
	size_t at, end;

	rt_buf_clear(&t->words);
	if (row->entry == 0 || rt_body_read(t->f->engine->alloc, row->data, &body, NULL) != RT_OK)
		return false; /* said already, if it is wrong */
	rt_buf_init(&text, t->f->engine->alloc, RT_BUF_UNLIMITED);
	rt_body_add_text(&text, &body);
	rt_body_deinit(&body);
	for (at = 0; at < text.size && at < INDEX_WORDS; at = end + 1) {
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
	t->f->nomem = t->f->nomem || text.status != RT_OK || t->words.status != RT_OK;
	rt_buf_deinit(&text);
	return false;
}

static bool
on_hit(void *ctx, uint64_t number, uint64_t entry)
{
	index_try *t = ctx;

	(void)entry;
	t->found = number == t->number;
	return !t->found;
}

/* An index whose pages were lost says nothing, it finds nothing. So some of the texts up to
 * the mark are looked for by their own words. */
static rt_status
look_at_index(rt_fsck *f, uint64_t mark, rt_error *err)
{
	const rt_store_ops *ops = f->engine->store->ops;
	index_try t = {.f = f};
	uint64_t by = mark / INDEX_TRIES + 1;
	rt_error why;
	rt_status st = RT_OK;

	rt_buf_init(&t.words, f->engine->alloc, RT_BUF_UNLIMITED);
	for (t.number = 1; st == RT_OK && t.number <= mark; t.number += by) {
		rt_buf_clear(&t.words);
		st = ops->read(f->engine->store,
			       rt_rows_one(RT_STORE_BODIES, f->engine->project, t.number), on_body,
			       &t, err);
		if (st != RT_OK || f->nomem || t.words.size == 0)
			continue;
		t.found = false;
		st = ops->index_find(f->engine->store, f->engine->project, rt_buf_str(&t.words),
				     RT_FIND_ALL_WORDS, on_hit, &t, &why);
		if (st == RT_CORRUPT || (st == RT_OK && !t.found)) {
			rt_fsck_say(f, "warning", "index-lost",
				    "body %llu is not found by its words: the search index is damaged; "
				    "retake repair makes it anew",
				    (unsigned long long)t.number);
			st = RT_OK;
			break;
		}
		if (st != RT_OK && err != NULL)
			*err = why;
	}
	rt_buf_deinit(&t.words);
	if (st == RT_OK && f->nomem)
		st = rt_fail(err, RT_NOMEM, "out of memory");
	return st;
}

static rt_status
look_at_bodies(rt_fsck *f, const rt_project *value, rt_error *err)
{
	const rt_store_ops *ops = f->engine->store->ops;
	uint64_t head, mark, row = 0;
	rt_error why;
	rt_status st = ops->head(f->engine->store, RT_STORE_BODIES, f->engine->project, &head, err);

	if (st == RT_OK && head >= value->next_body)
		st = ops->head(f->engine->store, RT_STORE_LOG, f->engine->project, &row, err);
	if (st != RT_OK)
		return st;
	f->body_count = head + 1 < value->next_body ? head + 1 : value->next_body;
	f->bodies = rt_new_array(f->engine->alloc, (size_t)f->body_count + 1, sizeof(*f->bodies));
	if (f->bodies == NULL)
		return rt_fail(err, RT_NOMEM, "out of memory");
	memset(f->bodies, 0, ((size_t)f->body_count + 1) * sizeof(*f->bodies));
	st = ops->read(f->engine->store, rt_rows_all(RT_STORE_BODIES, f->engine->project),
		       look_at_body, f, &why);
	if (st == RT_CORRUPT) /* the rest is not read */
		rt_fsck_say(f, "error", "body-unreadable", "%.300s", why.text);
	else if (st != RT_OK && err != NULL)
		*err = why;
	f->bodies_cut = st == RT_CORRUPT;
	if (st == RT_CORRUPT)
		st = RT_OK;
	if (st == RT_OK && f->nomem)
		st = rt_fail(err, RT_NOMEM, "out of memory");
	/* They may be of rows that somebody has added since. */
	if (st == RT_OK && head >= value->next_body && row <= value->seq && !f->newer)
		rt_fsck_say(f, "warning", "body-ahead",
			    "there are bodies up to %llu, but the value knows of %llu",
			    (unsigned long long)head, (unsigned long long)value->next_body - 1);
	if (st == RT_OK && rt_engine_scrub_pending(f->engine))
		rt_fsck_say(f, "warning", "purge-unfinished",
			    "bytes of what was purged may still be in the store's files; the next "
			    "change wipes them");
	if (st == RT_OK)
		st = ops->head(f->engine->store, RT_STORE_INDEX, f->engine->project, &mark, err);
	if (st == RT_OK && mark > head) /* as it is after the mark, which follows the bodies */
		st = ops->head(f->engine->store, RT_STORE_BODIES, f->engine->project, &head, err);
	if (st == RT_OK && mark > head)
		rt_fsck_say(f, "warning", "index-ahead",
			    "the search index goes to body %llu, the last one is %llu",
			    (unsigned long long)mark, (unsigned long long)head);
	if (st == RT_OK && !f->bodies_cut)
		st = look_at_index(f, head < mark ? head : mark, err);
	return st;
}

void
rt_fsck_slot(rt_fsck *f, const rt_slot *slot, const char *where)
{
	rt_body_note *note;

	if (slot->body == 0 || slot->body >= f->body_count) {
		rt_fsck_say(f, "error", "body-missing", "entry %u in %s names body %llu, which is "
			    "not there", slot->entry, where, (unsigned long long)slot->body);
		return;
	}
	note = &f->bodies[slot->body];
	note->state |= RT_BODY_NAMED;
	if ((note->state & RT_BODY_TOLD) != 0)
		return;
	if ((note->state & RT_BODY_SEEN) == 0) {
		if (f->bodies_cut)
			return; /* it may be in what was not read */
		note->state |= RT_BODY_TOLD;
		rt_fsck_say(f, "error", "body-missing", "entry %u in %s names body %llu, which is "
			    "not there", slot->entry, where, (unsigned long long)slot->body);
		return;
	}
	if (note->entry != slot->entry) {
		note->state |= RT_BODY_TOLD;
		rt_fsck_say(f, "warning", "body-entry-differs",
			    "entry %u in %s has body %llu, which belongs to entry %u", slot->entry,
			    where, (unsigned long long)slot->body, note->entry);
	} else if ((note->state & RT_BODY_GOOD) != 0 && slot->size != note->size &&
		   slot->size != note->whole) {
		note->state |= RT_BODY_TOLD;
		rt_fsck_say(f, "warning", "body-size-differs",
			    "entry %u in %s says %u bytes, body %llu has %u", slot->entry, where,
			    slot->size, (unsigned long long)slot->body, note->size);
	}
}

/* Only when the whole log was read: a row that was not might name them. */
static void
look_for_orphans(rt_fsck *f)
{
	uint64_t i;

	for (i = 1; i < f->body_count && !f->stopped; i++)
		if ((f->bodies[i].state & (RT_BODY_SEEN | RT_BODY_NAMED)) == RT_BODY_SEEN &&
		    f->bodies[i].entry != 0)
			rt_fsck_say(f, "warning", "body-orphan",
				    "body %llu of entry %u is named by no row of the log",
				    (unsigned long long)i, f->bodies[i].entry);
}

/* ---- values ---- */

typedef struct values {
	const rt_project *now;        /* in use */
	const rt_project *log;        /* NULL: the rows do not lead there */
	const rt_project *checkpoint; /* NULL: there is none that can be used */
} values;

/* The three ways to the same value. Under the engine's lead, since loading tells the engine
 * which checkpoint it has seen; that is put back. */
static rt_status
load_values(rt_fsck *f, values *v, rt_error *err)
{
	rt_engine *engine = f->engine;
	const rt_store_ops *ops = engine->store->ops;
	uint64_t root_seq = engine->root_seq, next_node = engine->next_node, there = 0, head;
	uint64_t newer_seq = engine->newer_seq;
	rt_error newer = engine->newer;
	rt_error why;
	rt_buf root;
	rt_status st = ops->head(engine->store, RT_STORE_LOG, engine->project, &head, err);

	memset(v, 0, sizeof(*v));
	v->now = rt_engine_value(engine);
	if (st != RT_OK)
		return st;
	st = rt_engine_load(engine, false, &v->log, &why);
	f->newer = rt_engine_newer(engine, NULL);
	if (st == RT_NOMEM || st == RT_IO || st == RT_BUSY) {
		if (err != NULL)
			*err = why;
		return st;
	}
	if (st != RT_OK)
		rt_fsck_say(f, "error", "log-unreplayable", "the log does not lead to a value: %.300s",
			    why.text);
	rt_buf_init(&root, engine->alloc, RT_BUF_UNLIMITED);
	st = rt_store_get(engine->store, rt_rows_all(RT_STORE_ROOT, engine->project), &root, &there,
			  &why);
	rt_buf_deinit(&root);
	if (st == RT_OK && there > head)
		st = ops->head(engine->store, RT_STORE_LOG, engine->project, &head, &why);
	if (st == RT_OK && there > head) {
		rt_fsck_say(f, "warning", "checkpoint-ahead",
			    "the checkpoint is of row %llu, the log ends with %llu",
			    (unsigned long long)there, (unsigned long long)head);
	} else if (st == RT_OK) {
		engine->root_seq = 0;
		st = rt_engine_load(engine, true, &v->checkpoint, &why);
		if ((st != RT_OK || engine->root_seq == 0) && !f->newer) {
			rt_fsck_say(f, "warning", "checkpoint-unreadable",
				    "the checkpoint of row %llu cannot be used; the log is: see "
				    "retake help repair", (unsigned long long)there);
			rt_object_unref(v->checkpoint);
			v->checkpoint = NULL;
		}
	} else if (st != RT_NOT_FOUND) {
		rt_fsck_say(f, "warning", "checkpoint-unreadable", "%.300s", why.text);
	}
	engine->root_seq = root_seq;
	engine->next_node = next_node;
	pthread_mutex_lock(&engine->value_lock);
	engine->newer_seq = newer_seq;
	engine->newer = newer;
	pthread_mutex_unlock(&engine->value_lock);
	return RT_OK;
}

/* Somebody may have written in between: bring the older one to the newer one's row. Rows of a
 * newer version may lie between the two; then they stay apart. */
static rt_status
level(rt_fsck *f, const rt_project **a, const rt_project **b, rt_error *err)
{
	const rt_project **older = (*a)->seq < (*b)->seq ? a : b;
	uint64_t to = (*a)->seq < (*b)->seq ? (*b)->seq : (*a)->seq;

	return (*older)->seq == to || f->newer ? RT_OK : rt_engine_catch_up(f->engine, older, to, err);
}

static rt_status
look_at_values(rt_fsck *f, values *v, rt_error *err)
{
	rt_status st = rt_fsck_value(f, v->log != NULL ? v->log : v->now, err);

	if (st == RT_OK && v->log != NULL)
		st = level(f, &v->log, &v->now, err);
	if (st == RT_OK && v->log != NULL && v->log->seq == v->now->seq)
		st = rt_fsck_compare(f, v->log, v->now, "memory-differs", "the value in use", err);
	if (st == RT_OK && v->log != NULL && v->checkpoint != NULL)
		st = level(f, &v->log, &v->checkpoint, err);
	if (st == RT_OK && v->log != NULL && v->checkpoint != NULL &&
	    v->log->seq == v->checkpoint->seq)
		st = rt_fsck_compare(f, v->log, v->checkpoint, "checkpoint-differs",
				     "the checkpoint", err);
	return st;
}

/* ---- replies beside the log ---- */

static bool
look_at_flight(void *ctx, const rt_inflight_view *v)
{
	rt_fsck *f = ctx;

	if (v->is_broken)
		rt_fsck_say(f, "warning", "reply-unreadable",
			    "side row %.*s is no reply any more; retake repair puts what it says into "
			    "a take of its own",
			    RT_STR_ARG(v->name));
	else if (v->is_stranded)
		rt_fsck_say(f, "note", "reply-stranded",
			    "%zu bytes of a reply lie aside, for what it answers is gone; when that is "
			    "back they are kept there, else retake repair puts them into a take of "
			    "their own",
			    v->text.size);
	return !f->stopped;
}

/* Does the log end before a row that was written? */
static rt_status
look_at_end(rt_fsck *f, rt_error *err)
{
	rt_engine *engine = f->engine;
	uint64_t mark, head;
	rt_error why;
	rt_status st = rt_engine_head_mark(engine, &mark, &why);

	if (st == RT_CORRUPT) /* the store's check says so */
		return RT_OK;
	if (st == RT_OK)
		st = engine->store->ops->head(engine->store, RT_STORE_LOG, engine->project, &head,
					      &why);
	if (st != RT_OK) {
		if (err != NULL)
			*err = why;
		return st;
	}
	if (mark > head) {
		f->log_findings++;
		rt_fsck_say(f, "error", "log-cut",
			    "the log ends with row %llu, but row %llu was written",
			    (unsigned long long)head, (unsigned long long)mark);
	}
	return RT_OK;
}

static rt_status
check_project(rt_fsck *f, rt_error *err)
{
	rt_engine *engine = f->engine;
	values v;
	uint64_t head;
	rt_status st;

	rt_engine_lock_writer(engine);
	st = load_values(f, &v, err);
	rt_engine_unlock_writer(engine);
	if (st == RT_OK)
		st = look_at_end(f, err);
	head = v.log != NULL ? v.log->seq : v.now->seq;
	if (f->newer)
		head++; /* the row that is not known: to say so */
	if (st == RT_OK)
		st = look_at_bodies(f, v.log != NULL ? v.log : v.now, err);
	if (st == RT_OK)
		st = rt_fsck_log(f, head, err);
	if (st == RT_OK && f->log_findings == 0)
		look_for_orphans(f);
	if (st == RT_OK)
		st = look_at_values(f, &v, err);
	if (st == RT_OK)
		st = rt_engine_inflight(engine, look_at_flight, f, err);
	if (st == RT_CORRUPT) /* a side row is not what was written: the store's check says so */
		st = RT_OK;
	rt_object_unref(v.now);
	rt_object_unref(v.log);
	rt_object_unref(v.checkpoint);
	rt_free(engine->alloc, f->bodies);
	rt_free(engine->alloc, f->rows);
	return st;
}

rt_status
rt_engine_fsck(rt_engine *engine, rt_fsck_fn fn, void *ctx, rt_error *err)
{
	rt_fsck f = {.engine = engine, .fn = fn, .ctx = ctx};
	rt_status st = engine->store->ops->check(engine->store, store_finding, &f, err);

	return st == RT_OK ? check_project(&f, err) : st;
}

rt_status
rt_engine_fsck_project(rt_engine *engine, rt_fsck_fn fn, void *ctx, rt_error *err)
{
	rt_fsck f = {.engine = engine, .fn = fn, .ctx = ctx};

	return check_project(&f, err);
}
