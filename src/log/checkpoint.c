/* SPDX-License-Identifier: MIT
 *
 * The value loaded from the checkpoint and the rows after it, or from all rows; checkpoints
 * written, swept, dropped and rebuilt. */
#include "log/checkpoint.h"

#include "base/hash.h"
#include "base/varint.h"
#include "log/engine_impl.h"
#include "log/history.h"
#include "log/identity.h"
#include "log/rows.h"

/* The value of an empty log: one discussion "main" with one empty take "main" (C16). */
static rt_status
first_value(rt_engine *engine, const rt_project **out, rt_error *err)
{
	const rt_effect effects[] = {
		{.kind = RT_EFFECT_NEW,
		 .sub = 1,
		 .name = RT_STR("main"),
		 .take_name = RT_STR("main")},
		{.kind = RT_EFFECT_SET, .key = RT_STR("active"), .after = RT_STR("1")},
	};
	const rt_project *empty = NULL;
	rt_status st = rt_project_new(engine->alloc, &engine->source, engine->salt, &empty, err);

	if (st != RT_OK)
		return st;
	rt_project_set_loader((rt_project *)(uintptr_t)empty, &rt_state_loader);
	st = rt_effects_apply(empty, effects, 2, false, out, err);
	rt_object_unref(empty);
	return st;
}

/* ---- rows ---- */

enum { RUN = 64 /* rows at a time */ };

typedef struct run {
	rt_scope *scope;
	struct {
		uint64_t seq;
		rt_str data;
	} rows[RUN];
	size_t count;
} run;

static bool
add_row(void *ctx, const rt_store_row *row)
{
	run *r = ctx;

	r->rows[r->count].seq = row->number;
	r->rows[r->count].data = rt_scope_copy(r->scope, row->data);
	r->count++;
	return rt_ok(r->scope) && r->count < RUN;
}

/* The next row. *out_newer: it is of a newer version. */
static void
apply_row(rt_engine *engine, const rt_project **project, uint64_t seq, rt_str data, rt_scope *s,
	  bool *out_newer)
{
	const rt_project *next = NULL;
	rt_record record;

	if (seq != (*project)->seq + 1) {
		rt_scope_fail_advise(s, RT_CORRUPT, "run: retake fsck", "log row %llu is missing",
				     (unsigned long long)(*project)->seq + 1);
		return;
	}
	rt_arena *arena = rt_scope_arena(s);
	RT_TRY(s, rt_record_read(engine->alloc, arena, data, &record, &s->error));
	RT_TRY(s, rt_engine_apply_row(engine, *project, seq, &record, &next, &s->error));
	if (rt_ok(s)) {
		rt_object_unref(*project);
		*project = next;
		engine->unsaved += rt_record_work(&record) + record.move_count * RT_MOVE_WORK;
	} else if (s->status == RT_TOO_NEW) {
		*out_newer = true;
		rt_engine_set_newer(engine, seq, &s->error);
	}
}

rt_status
rt_engine_catch_up(rt_engine *engine, const rt_project **project, uint64_t head, rt_error *err)
{
	bool newer = false;
	rt_scope rows, one;

	rt_scope_init(&rows, engine->alloc);
	rt_scope_init(&one, engine->alloc);
	while (rt_ok(&rows) && rt_ok(&one) && (*project)->seq < head) {
		run r = {.scope = &rows};

		rt_scope_reset(&rows);
		RT_TRY(&rows, rt_engine_read(engine, RT_STORE_LOG, (*project)->seq + 1, head,
					     add_row, &r, &rows.error));
		for (size_t i = 0; rt_ok(&rows) && rt_ok(&one) && (i < r.count || i == 0); i++) {
			rt_scope_reset(&one);
			apply_row(engine, project, i < r.count ? r.rows[i].seq : 0, r.rows[i].data,
				  &one, &newer);
		}
	}
	rt_scope_deinit(&one);
	if (!newer && !rt_ok(&one)) {
		rows.error = one.error;
		rt_scope_note(&rows, one.status);
	}
	/* Data that could not be read before has been read or replaced. */
	if (rt_ok(&rows) && !newer && engine->newer_seq != 0 &&
	    engine->newer_seq <= (*project)->seq)
		rt_engine_set_newer(engine, 0, NULL);
	return rt_scope_end(&rows, err);
}

/* ---- the checkpoint ---- */

rt_status
rt_engine_root(rt_engine *engine, rt_buf *bytes, uint64_t *out_seq, uint64_t *out_next_node,
	       rt_str *out_state, rt_error *err)
{
	rt_status st = rt_store_get(engine->store, rt_rows_all(RT_STORE_ROOT, engine->project),
				    bytes, out_seq, err);

	if (st == RT_OK && bytes->status != RT_OK)
		st = rt_fail(err, bytes->status, "out of memory");
	if (st != RT_OK)
		return st;
	rt_byte_reader reader = rt_byte_reader_of(rt_buf_str(bytes));
	uint64_t next = rt_read_varint(&reader);
	*out_next_node = reader.ok ? next : 0;
	*out_state = rt_str_at((const char *)reader.at, (size_t)(reader.end - reader.at));
	return RT_OK;
}

uint64_t
rt_engine_salt_of(rt_str name)
{
	uint64_t salt = rt_hash(name.ptr, name.size, 0);

	if (rt_str_is(name, "default"))
		return 0;
	return salt != 0 ? salt : 1;
}

static rt_status
load_root(rt_engine *engine, const rt_project **out, rt_error *err)
{
	const rt_project *project = NULL;
	uint64_t seq;
	rt_str state;
	rt_scope s;

	rt_scope_init(&s, engine->alloc);
	RT_TRY(&s, rt_engine_root(engine, rt_scope_buf(&s), &seq, &engine->next_node, &state,
				  &s.error));
	RT_TRY(&s, rt_state_open(engine->alloc, &engine->source, state, &project, &s.error));
	/* records that the mark existed, in case it is lost */
	if (rt_ok(&s) && project->ledger->salt == rt_engine_salt_of(rt_text_str(engine->name)))
		engine->salt = project->ledger->salt;
	if (rt_ok(&s) && project->seq != seq)
		rt_scope_fail(&s, RT_CORRUPT, "the checkpoint contains two different row numbers");
	else if (rt_ok(&s) && project->ledger->salt != engine->salt)
		rt_scope_fail(&s, RT_CORRUPT, "the ids of the checkpoint differ from those of the project");
	if (rt_ok(&s))
		*out = project;
	else
		rt_object_unref(project);
	return rt_scope_end(&s, err);
}

/* The checkpoint and the rows after it. *out NULL: the checkpoint is ahead of the log. */
static rt_status
load_from_root(rt_engine *engine, uint64_t head, const rt_project **out, rt_error *err)
{
	const rt_project *project = NULL;
	rt_status st = load_root(engine, &project, err);

	if (st == RT_OK && project->seq > head) /* others have added rows since, or */
		st = rt_engine_head(engine, RT_STORE_LOG, &head, err);
	if (st == RT_OK && project->seq > head) { /* the log has lost its end */
		engine->root_ahead = project->seq;
		rt_object_unref(project);
		return RT_OK;
	}
	if (st == RT_OK) {
		engine->root_seq = project->seq;
		st = rt_engine_catch_up(engine, &project, head, err);
	}
	if (st == RT_OK)
		*out = project;
	else
		rt_object_unref(project);
	return st;
}

rt_status
rt_engine_load(rt_engine *engine, bool use_checkpoint, const rt_project **out, rt_error *err)
{
	const rt_project *project = NULL;
	uint64_t head;
	rt_status st = rt_engine_head(engine, RT_STORE_LOG, &head, err);

	if (st != RT_OK)
		return st;
	if (engine->newer_seq > head)
		rt_engine_set_newer(engine, 0, NULL);
	engine->root_seq = engine->root_ahead = engine->unsaved = 0;
	if (use_checkpoint) {
		st = load_from_root(engine, head, &project, err);
		if (project != NULL)
			*out = project;
		if (project != NULL || st == RT_NOMEM || st == RT_IO || st == RT_BUSY)
			return st;
	}
	/* No checkpoint, or one that cannot be used: the log has everything. */
	st = first_value(engine, &project, err);
	if (st == RT_OK)
		st = rt_engine_catch_up(engine, &project, head, err);
	if (st == RT_OK)
		*out = project;
	else
		rt_object_unref(project);
	return st;
}

/* ---- a log that lacks rows ---- */

/* Rows until one is missing or cannot be applied. */
static rt_status
catch_up_far(rt_engine *engine, const rt_project **project, uint64_t head, rt_error *err)
{
	rt_error why;
	rt_status st = rt_engine_catch_up(engine, project, head, &why);

	/* A run of rows is read completely or not at all: continue one by one. */
	while (st == RT_CORRUPT && (*project)->seq < head) {
		uint64_t before = (*project)->seq;

		st = rt_engine_catch_up(engine, project, before + 1, &why);
		if (st == RT_CORRUPT && (*project)->seq == before)
			return RT_OK;
		st = st == RT_OK ? RT_CORRUPT : st;
	}
	if (st == RT_CORRUPT)
		return RT_OK;
	if (st != RT_OK && err != NULL)
		*err = why;
	return st;
}

rt_status
rt_engine_load_parts(rt_engine *engine, const rt_project **out_first, const rt_project **out_ahead,
		     rt_error *err)
{
	const rt_project *first = NULL, *ahead = NULL;
	uint64_t head;
	rt_scope s;
	rt_status st;

	rt_scope_init(&s, engine->alloc);
	*out_first = *out_ahead = NULL;
	RT_TRY(&s, rt_engine_head(engine, RT_STORE_LOG, &head, &s.error));
	if (!rt_ok(&s))
		return rt_scope_end(&s, err);
	st = load_root(engine, &ahead, &s.error);
	/* Only if complete: missing parts exist nowhere else. */
	if (st == RT_OK)
		st = rt_project_check(ahead, &s.error);
	if (st == RT_OK)
		st = catch_up_far(engine, &ahead, head, &s.error);
	if (st == RT_CORRUPT || st == RT_NOT_FOUND || st == RT_TOO_NEW) {
		rt_object_unref(ahead);
		ahead = NULL;
		st = RT_OK;
	}
	rt_scope_note(&s, st);
	RT_TRY(&s,
	       first_value(engine, &first, &s.error)); /* with the salt that the root may have */
	RT_TRY(&s, catch_up_far(engine, &first, head, &s.error));
	if (rt_ok(&s)) {
		*out_first = rt_object_ref(first);
		*out_ahead = ahead != NULL && ahead->seq > first->seq ? rt_object_ref(ahead) : NULL;
	}
	rt_object_unref(first);
	rt_object_unref(ahead);
	return rt_scope_end(&s, err);
}

/* ---- sweeping: nodes that the newest checkpoint does not use ---- */

/* A set of node numbers: a bit for each, since they are given out one after the other. */
typedef struct node_set {
	unsigned char *bits;
	uint64_t end; /* numbers below can be in it */
	uint64_t count;
} node_set;

static bool
has_node(const node_set *set, uint64_t number)
{
	return number < set->end && (set->bits[number / 8] >> (number % 8) & 1) != 0;
}

static bool
add_node(void *ctx, uint64_t number)
{
	node_set *set = ctx;

	if (number >= set->end || has_node(set, number))
		return false;
	set->bits[number / 8] |= (unsigned char)(1u << (number % 8));
	set->count++;
	return true;
}

typedef struct dead_nodes {
	node_set live, dead;
} dead_nodes;

static bool
add_dead(void *ctx, const rt_store_row *row)
{
	dead_nodes *nodes = ctx;

	if (!has_node(&nodes->live, row->number))
		(void)add_node(&nodes->dead, row->number);
	return true;
}

/* Drop up to SWEEP_STEP of them in one transaction, from *at on. RT_CONFLICT: the checkpoint is
 * not the one any more that they were counted for. */
static rt_status
sweep_some(rt_engine *engine, const node_set *dead, uint64_t *at)
{
	enum { SWEEP_STEP = 2000 };
	const rt_store_ops *ops = engine->store->ops;
	uint64_t root_seq = 0;
	rt_scope s;

	rt_scope_init(&s, engine->alloc);
	RT_TRY(&s, ops->begin(engine->store, &s.error));
	if (!rt_ok(&s))
		return rt_scope_end(&s, NULL);
	RT_TRY(&s, rt_store_get(engine->store, rt_rows_all(RT_STORE_ROOT, engine->project), NULL,
				&root_seq, &s.error));
	if (rt_ok(&s) && root_seq != engine->root_seq)
		rt_scope_note(&s, RT_CONFLICT);
	for (size_t count = 0; rt_ok(&s) && *at < dead->end && count < SWEEP_STEP; ++*at)
		if (has_node(dead, *at)) {
			RT_TRY(&s, ops->drop(engine->store,
					     rt_rows_one(RT_STORE_NODES, engine->project, *at),
					     &s.error));
			count++;
		}
	rt_store_end(engine->store, &s);
	return rt_scope_end(&s, NULL);
}

/* Inner nodes contain the numbers of the leaves, so leaves are not read. */
static void
sweep(rt_engine *engine, const rt_project *project)
{
	const size_t size = (size_t)(engine->next_node / 8 + 1);
	dead_nodes nodes = {.live.end = engine->next_node, .dead.end = engine->next_node};
	rt_scope s;

	rt_scope_init(&s, engine->alloc);
	nodes.live.bits = rt_scope_get(&s, size);
	nodes.dead.bits = rt_scope_get(&s, size);
	RT_TRY(&s, rt_state_numbers(project, add_node, &nodes.live, &s.error));
	RT_TRY(&s, engine->store->ops->read(engine->store,
					    rt_rows_numbers(RT_STORE_NODES, engine->project),
					    add_dead, &nodes, &s.error));
	for (uint64_t at = 0; rt_ok(&s) && at < nodes.dead.end;)
		RT_TRY(&s, sweep_some(engine, &nodes.dead, &at));
	if (rt_ok(&s)) {
		engine->nodes_written = 0;
		engine->nodes_live = nodes.live.count;
	}
	rt_scope_deinit(&s);
}

/* True when several times as many were written as are in use. For a project that was just opened
 * this is an estimate. */
static bool
sweep_is_due(const rt_engine *engine, const rt_project *project)
{
	uint64_t live = 2 * (uint64_t)rt_project_disc_count(project);

	if (engine->nodes_live > live)
		live = engine->nodes_live;
	return engine->nodes_written > 4 * live + 4096;
}

/* ---- writing ---- */

typedef struct node_writer {
	rt_engine *engine;
	uint64_t next;
	uint64_t written;
} node_writer;

static rt_status
write_node(void *ctx, rt_str bytes, uint64_t *out_number, rt_error *err)
{
	node_writer *w = ctx;
	rt_status st = w->engine->store->ops->write(
		w->engine->store, rt_rows_one(RT_STORE_NODES, w->engine->project, w->next), bytes,
		err);

	if (st == RT_OK) {
		*out_number = w->next++;
		w->written++;
	}
	return st;
}

/* Numbers that are in the store are not used again: another process may still have the old nodes in
 * memory. */
static rt_status
pass_stored_nodes(rt_engine *engine, rt_error *err)
{
	uint64_t highest = 0;
	rt_status st = rt_engine_head(engine, RT_STORE_NODES, &highest, err);

	if (highest >= engine->next_node)
		engine->next_node = highest + 1;
	return st;
}

typedef enum root_found {
	ROOT_OURS,  /* or none: ours continues from the nodes that it shares with the last one */
	ROOT_OTHER, /* another process has written one since, and may have swept away nodes that
		     * the value uses */
	ROOT_GONE   /* the last one was dropped: the value may refer to nodes that no longer
		     * exist */
} root_found;

/* Inside begin. engine->next_node is up to date afterwards. */
static root_found
look_at_root(rt_engine *engine, rt_scope *s)
{
	uint64_t seq = 0, epoch = 0, next = 0;
	rt_str state;
	rt_status st;

	RT_TRY(s, engine->store->ops->epoch(engine->store, &epoch, &s->error));
	rt_buf *root = rt_scope_buf(s);
	if (!rt_ok(s))
		return ROOT_GONE;
	st = rt_engine_root(engine, root, &seq, &next, &state, &s->error);
	if (st != RT_NOT_FOUND)
		rt_scope_note(s, st);
	if (!rt_ok(s) || epoch != engine->value_epoch ||
	    (st == RT_NOT_FOUND && engine->root_seq != 0))
		return ROOT_GONE;
	if (next > engine->next_node)
		engine->next_node = next;
	if (st == RT_OK && seq != engine->root_seq)
		return ROOT_OTHER;
	if (st == RT_NOT_FOUND)
		RT_TRY(s, pass_stored_nodes(engine, &s->error));
	if (engine->next_node == 0)
		engine->next_node = 1;
	return ROOT_OURS;
}

/* Inside begin. *out_pending, where it is not NULL, has to be committed or cancelled. */
static void
write_state(rt_engine *engine, const rt_project *project, node_writer *writer,
	    rt_state_pending **out_pending, rt_scope *s)
{
	rt_buf *state = rt_scope_buf(s), *root = rt_scope_buf(s);

	writer->next = engine->next_node;
	RT_TRY(s, rt_state_store(project, &(rt_seq_writer){write_node, writer}, state, out_pending,
				 &s->error));
	rt_buf_add_varint(root, writer->next);
	rt_buf_add_str(root, rt_scope_str(s, state));
	(void)rt_scope_str(s, root);
	RT_TRY(s, engine->store->ops->write(
			  engine->store, rt_rows_one(RT_STORE_ROOT, engine->project, project->seq),
			  rt_buf_str(root), &s->error));
}

static rt_status
write_checkpoint(rt_engine *engine, const rt_project *project, rt_error *err)
{
	node_writer writer = {.engine = engine};
	rt_state_pending *pending = NULL;
	root_found found;
	rt_scope s;

	rt_scope_init(&s, engine->alloc);
	RT_TRY(&s, engine->store->ops->begin(engine->store, &s.error));
	if (!rt_ok(&s))
		return rt_scope_end(&s, err);
	found = look_at_root(engine, &s);
	if (!rt_ok(&s) || found != ROOT_OURS) {
		const rt_project *theirs = NULL;

		engine->store->ops->cancel(engine->store);
		if (found == ROOT_OTHER)
			RT_TRY(&s, rt_engine_load(engine, true, &theirs, &s.error));
		if (theirs != NULL)
			rt_engine_publish(engine, theirs);
		return rt_scope_end(&s, err);
	}
	write_state(engine, project, &writer, &pending, &s);
	rt_store_end(engine->store, &s);
	if (!rt_ok(&s)) {
		rt_state_cancel(pending);
		return rt_scope_end(&s, err);
	}
	rt_state_commit(pending);
	engine->next_node = writer.next;
	engine->root_seq = project->seq;
	engine->unsaved = 0;
	engine->nodes_written += writer.written;
	if (sweep_is_due(engine, project))
		sweep(engine, project);
	return rt_scope_end(&s, err);
}

void
rt_engine_maybe_checkpoint(rt_engine *engine, unsigned rows)
{
	if (rt_engine_may_write(engine, NULL) != RT_OK)
		return;
	rt_str identity = rt_store_set_identity(RT_STORE_ITSELF);
	const rt_project *project = rt_engine_value(engine);
	if (project->seq > engine->root_seq &&
	    (project->seq - engine->root_seq >= rows || engine->unsaved >= RT_CHECKPOINT_WORK))
		(void)write_checkpoint(engine, project, NULL);
	rt_object_unref(project);
	(void)rt_store_set_identity(identity);
}

rt_status
rt_engine_checkpoint(rt_engine *engine, rt_error *err)
{
	rt_status st = rt_engine_may_write(engine, err);

	if (st != RT_OK)
		return st;
	rt_engine_lock_writer(engine);
	const rt_project *project = rt_engine_value(engine);
	if (project->seq > engine->root_seq)
		st = write_checkpoint(engine, project, err);
	rt_object_unref(project);
	rt_engine_unlock_writer(engine);
	return st;
}

rt_status
rt_engine_settle(rt_engine *engine, uint32_t from, rt_error *err)
{
	const rt_project *project = rt_engine_value(engine), *shed = NULL;
	uint64_t written = engine->nodes_written;
	rt_status st = RT_OK;

	if (project->seq > engine->root_seq)
		st = write_checkpoint(engine, project, err);
	if (engine->nodes_written > written) /* nearly all of them are in use */
		engine->nodes_live += engine->nodes_written - written;
	rt_object_unref(project);
	project = rt_engine_value(engine); /* another process's checkpoint may have been loaded */
	if (st == RT_OK && project->seq == engine->root_seq &&
	    rt_project_shed(project, from, &shed) != RT_OK)
		st = rt_fail(err, RT_NOMEM, "out of memory");
	if (shed != NULL)
		rt_engine_publish(engine, shed);
	rt_object_unref(project);
	return st;
}

/* ---- thrown away ---- */

void
rt_engine_drop_checkpoint(rt_engine *engine, rt_scope *s)
{
	const rt_store_ops *ops = engine->store->ops;

	RT_TRY(s, pass_stored_nodes(engine, &s->error));
	RT_TRY(s, ops->drop(engine->store, rt_rows_all(RT_STORE_ROOT, engine->project), &s->error));
	RT_TRY(s, ops->epoch_renew(engine->store, &s->error));
	RT_TRY(s, ops->epoch(engine->store, &engine->epoch, &s->error));
	if (rt_ok(s))
		engine->root_seq = 0;
}

rt_status
rt_engine_rebuild(rt_engine *engine, rt_error *err)
{
	const rt_project *project = NULL;
	rt_scope s;

	rt_scope_init(&s, engine->alloc);
	RT_TRY(&s, rt_engine_may_write(engine, &s.error));
	if (!rt_ok(&s))
		return rt_scope_end(&s, err);
	rt_engine_lock_writer(engine);
	RT_TRY(&s, rt_engine_load(engine, false, &project, &s.error));
	RT_TRY(&s, rt_engine_may_write(engine, &s.error)); /* which may have found a row */
	RT_TRY(&s, engine->store->ops->begin(engine->store, &s.error));
	rt_engine_drop_checkpoint(engine, &s);
	rt_store_end(engine->store, &s);
	if (rt_ok(&s)) {
		rt_engine_publish(engine, rt_object_ref(project));
		if (project->seq > 0)
			RT_TRY(&s, write_checkpoint(engine, project, &s.error));
	}
	rt_object_unref(project);
	rt_engine_unlock_writer(engine);
	return rt_scope_end(&s, err);
}
