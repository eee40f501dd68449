/* SPDX-License-Identifier: MIT
 *
 * Opening, values, taking in rows, checkpoints. */
#include "log/engine_impl.h"

#include "base/hash.h"
#include "base/varint.h"

static rt_status
node_read(void *ctx, uint64_t number, rt_buf *out, rt_error *err)
{
	rt_engine *engine = ctx;

	rt_status st = rt_store_get(engine->store,
				    rt_rows_one(RT_STORE_NODES, engine->project, number), out, NULL,
				    err);

	/* another process may have replaced it; the log has everything */
	if (st == RT_NOT_FOUND)
		atomic_store(&engine->node_gone, true);
	return st == RT_NOT_FOUND ? rt_fail(err, RT_CORRUPT,
					    "node %llu of the checkpoint is gone; run: retake repair",
					    (unsigned long long)number)
				  : st;
}

/* Nodes that are being handed on. */
typedef struct node_picking {
	rt_seq_node_fn fn;
	void *to;
} node_picking;

static bool
hand_on(void *ctx, const rt_store_row *row)
{
	node_picking *p = ctx;

	p->fn(p->to, row->number, row->data);
	return true;
}

static rt_status
node_pick(void *ctx, const uint64_t *numbers, size_t count, rt_seq_node_fn fn, void *to,
	  rt_error *err)
{
	rt_engine *engine = ctx;
	node_picking p = {fn, to};

	return engine->store->ops->read(
		engine->store, rt_rows_listed(RT_STORE_NODES, engine->project, numbers, count),
		hand_on, &p, err);
}

/* The value of an empty log: one discussion "main" with one empty take "main" (C16). */
static rt_status
first_value(rt_engine *engine, const rt_project **out, rt_error *err)
{
	const rt_project *empty = NULL;
	rt_effect effects[2];
	rt_status st = rt_project_new(engine->alloc, &engine->source, engine->salt, &empty, err);

	if (st != RT_OK)
		return st;
	rt_project_set_loader((rt_project *)(uintptr_t)empty, &rt_state_loader);
	memset(effects, 0, sizeof(effects));
	effects[0].kind = RT_EFFECT_NEW;
	effects[0].sub = 1;
	effects[0].name = RT_STR("main");
	effects[0].take_name = RT_STR("main");
	effects[1].kind = RT_EFFECT_SET;
	effects[1].key = RT_STR("active");
	effects[1].after = RT_STR("1");
	st = rt_effects_apply(empty, effects, 2, false, out, err);
	rt_object_unref(empty);
	return st;
}

/* ---- rows ---- */

typedef struct row_copy {
	rt_buf data;
	int64_t at_us;
	bool found;
} row_copy;

static bool
copy_row(void *ctx, const rt_store_row *row)
{
	row_copy *copy = ctx;

	rt_buf_add_str(&copy->data, row->data);
	copy->at_us = row->at_us;
	copy->found = true;
	return false;
}

/* It was never written, or it was lost. */
static rt_status
no_row(rt_engine *engine, uint64_t seq, rt_error *err)
{
	uint64_t head;
	rt_status st = engine->store->ops->head(engine->store, RT_STORE_LOG, engine->project, &head,
						err);

	if (st == RT_OK && seq >= 1 && seq <= head)
		st = rt_engine_damaged(engine, err, "log row %llu is missing",
				       (unsigned long long)seq);
	return st != RT_OK ? st
			   : rt_fail(err, RT_NOT_FOUND, "no step %llu; see: retake history",
				     (unsigned long long)seq);
}

rt_status
rt_engine_record(rt_engine *engine, uint64_t seq, rt_arena *arena, rt_record *out,
		 int64_t *out_at_us, rt_error *err)
{
	row_copy copy;
	rt_status st;

	rt_buf_init(&copy.data, engine->alloc, RT_BUF_UNLIMITED);
	copy.found = false;
	st = engine->store->ops->read(engine->store,
				      rt_rows_one(RT_STORE_LOG, engine->project, seq), copy_row,
				      &copy, err);
	if (st == RT_OK && !copy.found)
		st = no_row(engine, seq, err);
	if (st == RT_OK && copy.data.status != RT_OK)
		st = rt_fail(err, copy.data.status, "out of memory");
	if (st == RT_OK)
		st = rt_record_read(engine->alloc, arena, rt_buf_str(&copy.data), out, err);
	if (st == RT_OK && out_at_us != NULL)
		*out_at_us = copy.at_us;
	rt_buf_deinit(&copy.data);
	return st;
}

static bool
see_time(void *ctx, const rt_store_row *row)
{
	row_copy *copy = ctx;

	copy->at_us = row->at_us;
	copy->found = true;
	return false;
}

rt_status
rt_engine_record_time(rt_engine *engine, uint64_t seq, int64_t *out_at_us, rt_error *err)
{
	row_copy copy = {.found = false};
	rt_status st = engine->store->ops->read(engine->store,
						rt_rows_one(RT_STORE_LOG, engine->project, seq),
						see_time, &copy, err);

	if (st == RT_OK && !copy.found)
		st = no_row(engine, seq, err);
	if (st == RT_OK)
		*out_at_us = copy.at_us;
	return st;
}

/* ---- rows of a newer version ---- */

bool
rt_engine_newer(rt_engine *engine, rt_error *out)
{
	bool newer;

	pthread_mutex_lock(&engine->value_lock);
	newer = engine->newer_seq != 0;
	if (newer && out != NULL)
		*out = engine->newer;
	pthread_mutex_unlock(&engine->value_lock);
	return newer;
}

static void
set_newer(rt_engine *engine, uint64_t seq, const rt_error *why)
{
	pthread_mutex_lock(&engine->value_lock);
	engine->newer_seq = seq;
	if (why != NULL)
		rt_fail(&engine->newer, RT_TOO_NEW,
			"the log goes on with row %llu, which this version cannot read: %.300s",
			(unsigned long long)seq, why->text);
	pthread_mutex_unlock(&engine->value_lock);
}

/* The value is that of row seq, or the log ends there: whatever was beyond was replaced. */
static void
clear_newer(rt_engine *engine, uint64_t seq)
{
	if (engine->newer_seq != 0 && engine->newer_seq <= seq)
		set_newer(engine, 0, NULL);
}

rt_status
rt_engine_may_write(rt_engine *engine, rt_error *err)
{
	if (engine->read_only)
		return rt_fail(err, RT_READ_ONLY, "%s is open for reading only",
			       engine->store->place);
	return rt_engine_newer(engine, err) ? RT_TOO_NEW : RT_OK;
}

/* ---- taking rows in ---- */

typedef struct tail {
	rt_engine *engine;
	rt_arena *arena;
	struct {
		uint64_t seq;
		rt_str data;
	} rows[64];
	size_t count;
	uint64_t last;
	bool nomem;
} tail;

static bool
tail_row(void *ctx, const rt_store_row *row)
{
	tail *t = ctx;
	char *copy = rt_arena_get(t->arena, row->data.size + 1);

	if (copy == NULL) {
		t->nomem = true;
		return false;
	}
	memcpy(copy, row->data.ptr, row->data.size);
	t->rows[t->count].seq = row->number;
	t->rows[t->count].data = rt_str_at(copy, row->data.size);
	t->count++;
	return t->count < sizeof(t->rows) / sizeof(t->rows[0]);
}

rt_status
rt_engine_catch_up(rt_engine *engine, const rt_project **project, uint64_t head, rt_error *err)
{
	tail *t;
	rt_arena *scratch = rt_arena_new(engine->alloc);
	bool newer = false;
	rt_error why;
	rt_status st = RT_OK;

	t = rt_new0(engine->alloc, sizeof(*t));
	if (t == NULL || scratch == NULL) {
		rt_free(engine->alloc, t);
		rt_arena_free(scratch);
		return rt_fail(err, RT_NOMEM, "out of memory");
	}
	t->engine = engine;
	t->arena = rt_arena_new(engine->alloc);
	if (t->arena == NULL)
		st = rt_fail(err, RT_NOMEM, "out of memory");
	while (st == RT_OK && !newer && (*project)->seq < head) {
		size_t i;

		t->count = 0;
		rt_arena_reset(t->arena);
		st = engine->store->ops->read(
			engine->store,
			rt_rows_between(RT_STORE_LOG, engine->project, (*project)->seq + 1, head),
			tail_row, t, err);
		if (st == RT_OK && t->nomem)
			st = rt_fail(err, RT_NOMEM, "out of memory");
		if (st == RT_OK && t->count == 0)
			st = rt_fail(err, RT_CORRUPT, "log row %llu is missing; run: retake fsck",
				     (unsigned long long)(*project)->seq + 1);
		for (i = 0; st == RT_OK && !newer && i < t->count; i++) {
			const rt_project *next;
			rt_record record;

			rt_arena_reset(scratch);
			if (t->rows[i].seq != (*project)->seq + 1) {
				st = rt_fail(err, RT_CORRUPT,
					     "log row %llu is missing; run: retake fsck",
					     (unsigned long long)(*project)->seq + 1);
				break;
			}
			st = rt_record_read(engine->alloc, scratch, t->rows[i].data, &record, &why);
			if (st == RT_OK)
				st = rt_engine_apply_row(engine, *project, t->rows[i].seq, &record,
							 &next, &why);
			if (st == RT_OK) {
				rt_object_unref(*project);
				*project = next;
			} else if (st == RT_TOO_NEW) {
				newer = true;
				st = RT_OK;
			} else if (err != NULL) {
				*err = why;
			}
		}
	}
	if (st == RT_OK)
		clear_newer(engine, (*project)->seq);
	if (newer)
		set_newer(engine, (*project)->seq + 1, &why);
	rt_arena_free(t->arena);
	rt_free(engine->alloc, t);
	rt_arena_free(scratch);
	return st;
}

/* ---- loading ---- */

/* Of the ids of a project by this name. "default" has none, so that what people write down
 * of a store with one project stays as it is. */
static uint64_t
salt_of(rt_str name)
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
	rt_buf root;
	uint64_t seq;
	rt_status st;

	rt_buf_init(&root, engine->alloc, RT_BUF_UNLIMITED);
	st = rt_store_get(engine->store, rt_rows_all(RT_STORE_ROOT, engine->project), &root, &seq,
			  err);
	if (st == RT_OK && root.status != RT_OK)
		st = rt_fail(err, root.status, "out of memory");
	if (st == RT_OK) {
		rt_reader reader = rt_reader_of(rt_buf_str(&root));

		engine->next_node = rt_read_varint(&reader);
		st = rt_state_open(engine->alloc, &engine->source,
				   rt_str_at((const char *)reader.at,
					     (size_t)(reader.end - reader.at)),
				   &project, err);
	}
	/* where the mark is gone, this says that it was there */
	if (st == RT_OK && project->ledger->salt == salt_of(rt_text_str(engine->name)))
		engine->salt = project->ledger->salt;
	if (st == RT_OK && project->seq != seq)
		st = rt_fail(err, RT_CORRUPT, "the checkpoint names two numbers");
	else if (st == RT_OK && project->ledger->salt != engine->salt)
		st = rt_fail(err, RT_CORRUPT, "the checkpoint has other ids than the project");
	if (st == RT_OK)
		*out = project;
	else
		rt_object_unref(project);
	rt_buf_deinit(&root);
	return st;
}

rt_status
rt_engine_load(rt_engine *engine, bool use_checkpoint, const rt_project **out, rt_error *err)
{
	const rt_project *project = NULL;
	uint64_t head;
	rt_status st = engine->store->ops->head(engine->store, RT_STORE_LOG, engine->project, &head,
						err);

	if (st != RT_OK)
		return st;
	if (engine->newer_seq > head)
		set_newer(engine, 0, NULL);
	engine->root_seq = engine->root_ahead = 0;
	if (use_checkpoint) {
		st = load_root(engine, &project, err);
		if (st == RT_OK && project->seq > head) /* others have added rows since, or */
			st = engine->store->ops->head(engine->store, RT_STORE_LOG, engine->project,
						      &head, err);
		if (st == RT_OK && project->seq > head) { /* the log has lost its end */
			engine->root_ahead = project->seq;
			rt_object_unref(project);
			project = NULL;
		}
		if (st == RT_OK && project != NULL) {
			engine->root_seq = project->seq;
			st = rt_engine_catch_up(engine, &project, head, err);
			if (st == RT_OK) {
				*out = project;
				return RT_OK;
			}
			rt_object_unref(project);
			project = NULL;
		}
		if (st == RT_NOMEM || st == RT_IO || st == RT_BUSY)
			return st;
	}
	/* No checkpoint, or one that cannot be used: the log has everything. */
	st = first_value(engine, &project, err);
	if (st == RT_OK)
		st = rt_engine_catch_up(engine, &project, head, err);
	if (st != RT_OK) {
		rt_object_unref(project);
		return st;
	}
	*out = project;
	return RT_OK;
}

/* Rows from one to the next until one is missing or cannot be taken in. */
static rt_status
catch_up_far(rt_engine *engine, const rt_project **project, uint64_t head, rt_error *err)
{
	rt_error why;
	rt_status st = rt_engine_catch_up(engine, project, head, &why);

	/* It takes in many rows at once, or none of them. */
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
	rt_error why;
	rt_status st = engine->store->ops->head(engine->store, RT_STORE_LOG, engine->project, &head,
						err);

	*out_first = *out_ahead = NULL;
	if (st != RT_OK)
		return st;
	st = load_root(engine, &ahead, &why);
	/* Only whole: what it does not hold is nowhere else. */
	if (st == RT_OK)
		st = rt_project_check(ahead, &why);
	if (st == RT_OK)
		st = catch_up_far(engine, &ahead, head, &why);
	if (st == RT_CORRUPT || st == RT_NOT_FOUND || st == RT_TOO_NEW) {
		rt_object_unref(ahead);
		ahead = NULL;
		st = RT_OK;
	} else if (st != RT_OK && err != NULL) {
		*err = why;
	}
	if (st == RT_OK)
		st = first_value(engine, &first, err); /* with the salt that the root may have */
	if (st == RT_OK)
		st = catch_up_far(engine, &first, head, err);
	if (st == RT_OK && ahead != NULL && ahead->seq <= first->seq) {
		rt_object_unref(ahead);
		ahead = NULL;
	}
	if (st != RT_OK) {
		rt_object_unref(first);
		rt_object_unref(ahead);
		return st;
	}
	*out_first = first;
	*out_ahead = ahead;
	return RT_OK;
}

/* ---- open and close ---- */

/* Is the project one whose ids are salted? A mark that is damaged is there all the same. */
static rt_status
find_salt(rt_engine *engine, rt_str name, rt_error *err)
{
	rt_buf mark;
	rt_error why;
	rt_status st;

	rt_buf_init(&mark, engine->alloc, RT_BUF_UNLIMITED);
	st = rt_store_get(engine->store,
			  rt_rows_named(RT_STORE_SIDE, engine->project, RT_STR(RT_SALTED_MARK)),
			  &mark, NULL, &why);
	rt_buf_deinit(&mark);
	engine->salt = st == RT_OK || st == RT_CORRUPT ? salt_of(name) : 0;
	if (st == RT_OK || st == RT_CORRUPT || st == RT_NOT_FOUND)
		return RT_OK;
	if (err != NULL)
		*err = why;
	return st;
}

static rt_status
find_project(rt_engine *engine, rt_str name, bool create, rt_error *err)
{
	const rt_store_ops *ops = engine->store->ops;
	rt_status st = rt_store_get(engine->store, rt_rows_named(RT_STORE_PROJECTS, 0, name), NULL,
				    &engine->project, err);

	if (st != RT_NOT_FOUND || !create || engine->read_only)
		return st == RT_NOT_FOUND ? rt_fail(err, st, "no project \"%.*s\" in %s",
						    RT_STR_ARG(name), engine->store->place)
					  : st;
	st = ops->begin(engine->store, err);
	if (st != RT_OK)
		return st;
	st = rt_store_get(engine->store, rt_rows_named(RT_STORE_PROJECTS, 0, name), NULL,
			  &engine->project, err);
	if (st == RT_NOT_FOUND) {
		st = ops->project_new(engine->store, name, &engine->project, err);
		if (st == RT_OK && salt_of(name) != 0)
			st = ops->write(engine->store,
					rt_rows_named(RT_STORE_SIDE, engine->project,
						      RT_STR(RT_SALTED_MARK)),
					RT_STR("1"), err);
	}
	if (st == RT_OK)
		return ops->commit(engine->store, err);
	ops->cancel(engine->store);
	return st;
}

rt_status
rt_engine_open(const rt_engine_options *options, rt_store *store, rt_engine **out_engine,
	       rt_error *err)
{
	const rt_alloc *alloc = options->alloc != NULL ? options->alloc : rt_alloc_libc();
	rt_engine *engine = rt_new0(alloc, sizeof(*engine));
	rt_str name = options->project.size > 0 ? options->project : RT_STR("default");
	rt_status st;

	if (engine == NULL)
		return rt_fail(err, RT_NOMEM, "out of memory");
	engine->alloc = alloc;
	engine->env = options->env;
	engine->store = store;
	engine->is_lenient = options->lenient;
	engine->read_only = options->read_only || options->lenient || store->is_read_only;
	engine->checkpoint_every =
		options->checkpoint_every != 0 ? options->checkpoint_every : RT_CHECKPOINT_EVERY;
	engine->git_commit = options->git_commit;
	engine->git_ctx = options->git_ctx;
	engine->purged = options->purged;
	engine->purged_ctx = options->purged_ctx;
	engine->source.read = node_read;
	engine->source.pick = node_pick;
	engine->source.ctx = engine;
	pthread_mutex_init(&engine->value_lock, NULL);
	pthread_mutex_init(&engine->queue_lock, NULL);
	pthread_cond_init(&engine->queue_moved, NULL);
	engine->by = (rt_text *)(uintptr_t)rt_text_new(alloc, options->by.size > 0 ? options->by
										   : RT_STR("cli"));
	engine->name = (rt_text *)(uintptr_t)rt_text_new(alloc, name);
	st = engine->by != NULL && engine->name != NULL ? RT_OK
							: rt_fail(err, RT_NOMEM, "out of memory");
	if (st == RT_OK)
		st = find_project(engine, name, options->create, err);
	if (st == RT_OK)
		st = find_salt(engine, name, err);
	if (st == RT_OK)
		st = store->ops->epoch(store, &engine->epoch, err);
	engine->value_epoch = engine->epoch;
	if (st == RT_OK)
		st = rt_engine_load(engine, true, &engine->value, err);
	if (st == RT_CORRUPT && engine->is_lenient) {
		const rt_project *ahead = NULL;

		st = rt_engine_load_parts(engine, &engine->value, &ahead, err);
		rt_object_unref(ahead);
	}
	if (st == RT_OK && !engine->is_lenient)
		st = rt_engine_check_heads(engine, engine->value, err);
	engine->scrub_pending = st == RT_OK && !engine->read_only && rt_engine_scrub_pending(engine);
	if (st != RT_OK) {
		rt_engine_close(engine);
		return st;
	}
	*out_engine = engine;
	return RT_OK;
}

void
rt_engine_close(rt_engine *engine)
{
	if (engine == NULL)
		return;
	if (engine->value != NULL)
		rt_engine_maybe_checkpoint(engine, RT_CHECKPOINT_AT_CLOSE);
	rt_object_unref(engine->value);
	rt_engine_forget_gone(engine, 0);
	rt_free(engine->alloc, engine->gone);
	rt_text_unref(engine->by);
	rt_text_unref(engine->name);
	pthread_cond_destroy(&engine->queue_moved);
	pthread_mutex_destroy(&engine->queue_lock);
	pthread_mutex_destroy(&engine->value_lock);
	rt_free(engine->alloc, engine);
}

rt_store *
rt_engine_store(const rt_engine *engine)
{
	return engine->store;
}

uint64_t
rt_engine_epoch(rt_engine *engine)
{
	uint64_t epoch;

	pthread_mutex_lock(&engine->value_lock);
	epoch = engine->value_epoch;
	pthread_mutex_unlock(&engine->value_lock);
	return epoch;
}

uint64_t
rt_engine_project_number(const rt_engine *engine)
{
	return engine->project;
}

const rt_alloc *
rt_engine_alloc(const rt_engine *engine)
{
	return engine->alloc;
}

const rt_project *
rt_engine_value(rt_engine *engine)
{
	const rt_project *value;

	pthread_mutex_lock(&engine->value_lock);
	value = rt_object_ref(engine->value);
	pthread_mutex_unlock(&engine->value_lock);
	return value;
}

void
rt_engine_publish(rt_engine *engine, const rt_project *project)
{
	const rt_project *old;

	pthread_mutex_lock(&engine->value_lock);
	old = engine->value;
	engine->value = project;
	engine->value_epoch = engine->epoch;
	pthread_mutex_unlock(&engine->value_lock);
	rt_object_unref(old);
}

/* Become the leader: nobody else changes the value meanwhile. */
void
rt_engine_lock_writer(rt_engine *engine)
{
	pthread_mutex_lock(&engine->queue_lock);
	while (engine->leading)
		pthread_cond_wait(&engine->queue_moved, &engine->queue_lock);
	engine->leading = true;
	pthread_mutex_unlock(&engine->queue_lock);
}

void
rt_engine_unlock_writer(rt_engine *engine)
{
	pthread_mutex_lock(&engine->queue_lock);
	rt_engine_yield_writer(engine);
	pthread_mutex_unlock(&engine->queue_lock);
}

/* Is there nothing in the store that is not in the value? */
static bool
is_fresh(rt_engine *engine)
{
	const rt_store_ops *ops = engine->store->ops;
	uint64_t head, epoch;
	bool fresh;

	if (atomic_load(&engine->node_gone))
		return false;
	if (ops->head(engine->store, RT_STORE_LOG, engine->project, &head, NULL) != RT_OK ||
	    ops->epoch(engine->store, &epoch, NULL) != RT_OK)
		return false;
	pthread_mutex_lock(&engine->value_lock);
	fresh = head == engine->value->seq && epoch == engine->value_epoch;
	pthread_mutex_unlock(&engine->value_lock);
	return fresh;
}

/* What is new, by the leader, who leads no more then. */
static rt_status
read_new_rows(rt_engine *engine, rt_error *err)
{
	const rt_project *project;
	uint64_t head, epoch;
	bool gone;
	rt_status st;

	st = engine->store->ops->head(engine->store, RT_STORE_LOG, engine->project, &head, err);
	if (st == RT_OK)
		st = engine->store->ops->epoch(engine->store, &epoch, err);
	if (st == RT_OK) {
		project = rt_engine_value(engine);
		engine->epoch = epoch;
		gone = atomic_exchange(&engine->node_gone, false);
		if (head < project->seq && epoch == engine->value_epoch) {
			st = rt_engine_lost_end(engine, project, head, err);
			rt_object_unref(project);
			if (gone)
				atomic_store(&engine->node_gone, true);
		} else if (gone || epoch != engine->value_epoch) {
			rt_object_unref(project);
			st = rt_engine_load(engine, true, &project, err);
			if (st == RT_OK && !engine->is_lenient) {
				st = rt_engine_check_heads(engine, project, err);
				if (st != RT_OK)
					rt_object_unref(project);
			}
			if (st != RT_OK && gone)
				atomic_store(&engine->node_gone, true);
		} else if (head > project->seq) {
			st = rt_engine_catch_up(engine, &project, head, err);
			if (st == RT_NOT_FOUND || st == RT_CORRUPT) {
				/* a node that another process has replaced since */
				rt_object_unref(project);
				st = rt_engine_load(engine, true, &project, err);
			} else if (st != RT_OK) {
				rt_object_unref(project);
			}
		}
		if (st == RT_OK)
			rt_engine_publish(engine, project);
	}
	rt_engine_unlock_writer(engine);
	return st;
}

rt_status
rt_engine_refresh(rt_engine *engine, rt_error *err)
{
	if (is_fresh(engine)) /* as a rule; and nobody waits for a writer's disk to know it */
		return RT_OK;
	rt_engine_lock_writer(engine);
	return read_new_rows(engine, err);
}

rt_status
rt_engine_refresh_now(rt_engine *engine, rt_error *err)
{
	bool leads;

	if (is_fresh(engine))
		return RT_OK;
	pthread_mutex_lock(&engine->queue_lock);
	leads = !engine->leading;
	engine->leading = true;
	pthread_mutex_unlock(&engine->queue_lock);
	return leads ? read_new_rows(engine, err)
		     : rt_fail(err, RT_BUSY, "something is being written");
}

/* ---- checkpoints ---- */

typedef struct node_writer {
	rt_engine *engine;
	uint64_t next;
	uint64_t written;
} node_writer;

static rt_status
node_write(void *ctx, rt_str bytes, uint64_t *out_number, rt_error *err)
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

/* Numbers of nodes: a bit for each, since they are given out one after the other. */
typedef struct marks {
	const rt_alloc *alloc;
	unsigned char *bits;
	uint64_t end;   /* numbers below can be marked */
	uint64_t count; /* marked */
} marks;

static bool
is_marked(const marks *m, uint64_t number)
{
	return number < m->end && (m->bits[number / 8] >> (number % 8) & 1) != 0;
}

static bool
mark(void *ctx, uint64_t number)
{
	marks *m = ctx;

	if (number >= m->end || is_marked(m, number))
		return false;
	m->bits[number / 8] |= (unsigned char)(1u << (number % 8));
	m->count++;
	return true;
}

static bool
marks_init(marks *m, const rt_alloc *alloc, uint64_t end)
{
	*m = (marks){.alloc = alloc, .end = end};
	m->bits = rt_new_array(alloc, (size_t)(end / 8 + 1), 1);
	if (m->bits != NULL)
		memset(m->bits, 0, (size_t)(end / 8 + 1));
	return m->bits != NULL;
}

typedef struct dead_marks {
	const marks *live;
	marks dead;
} dead_marks;

static bool
mark_dead(void *ctx, const rt_store_row *row)
{
	dead_marks *d = ctx;

	if (!is_marked(d->live, row->number))
		(void)mark(&d->dead, row->number);
	return true;
}

/* Drop up to SWEEP_STEP of them in one transaction; *at: where to go on. Only while the
 * checkpoint is still the one that was marked. */
static rt_status
sweep_some(rt_engine *engine, const marks *dead, uint64_t *at)
{
	enum { SWEEP_STEP = 2000 };
	const rt_store_ops *ops = engine->store->ops;
	uint64_t root_seq = 0;
	size_t count = 0;
	rt_buf unused;
	rt_status st = ops->begin(engine->store, NULL);

	if (st != RT_OK)
		return st;
	rt_buf_init(&unused, engine->alloc, RT_BUF_UNLIMITED);
	st = rt_store_get(engine->store, rt_rows_all(RT_STORE_ROOT, engine->project), &unused,
			  &root_seq, NULL);
	rt_buf_deinit(&unused);
	if (st == RT_OK && root_seq != engine->root_seq)
		st = RT_CONFLICT;
	for (; st == RT_OK && *at < dead->end && count < SWEEP_STEP; ++*at)
		if (is_marked(dead, *at)) {
			st = ops->drop(engine->store,
				       rt_rows_one(RT_STORE_NODES, engine->project, *at), NULL);
			count++;
		}
	if (st == RT_OK)
		return ops->commit(engine->store, NULL);
	ops->cancel(engine->store);
	return st;
}

/* Drop the nodes that the newest checkpoint does not use. Inner nodes name the leaves, so
 * leaves are not read. Done when several times as many were written as are alive. */
static void
sweep(rt_engine *engine, const rt_project *project)
{
	marks live;
	dead_marks dead = {.live = &live};
	uint64_t at = 0;
	rt_status st = RT_OK;

	if (!marks_init(&live, engine->alloc, engine->next_node))
		return;
	if (!marks_init(&dead.dead, engine->alloc, engine->next_node))
		st = RT_NOMEM;
	if (st == RT_OK)
		st = rt_state_numbers(project, mark, &live, NULL);
	if (st == RT_OK)
		st = engine->store->ops->read(engine->store,
					      rt_rows_numbers(RT_STORE_NODES, engine->project),
					      mark_dead, &dead, NULL);
	while (st == RT_OK && at < dead.dead.end)
		st = sweep_some(engine, &dead.dead, &at);
	if (st == RT_OK) {
		engine->nodes_written = 0;
		engine->nodes_live = live.count;
	}
	rt_free(engine->alloc, live.bits);
	rt_free(engine->alloc, dead.dead.bits);
}

/* Is it time for that? Of a project that was opened a guess has to do. */
static bool
sweep_is_due(const rt_engine *engine, const rt_project *project)
{
	uint64_t live = 2 * (uint64_t)rt_project_disc_count(project);

	if (engine->nodes_live > live)
		live = engine->nodes_live;
	return engine->nodes_written > 4 * live + 4096;
}

static rt_status
checkpoint(rt_engine *engine, const rt_project *project, rt_error *err)
{
	const rt_store_ops *ops = engine->store->ops;
	node_writer writer = {engine, 0, 0};
	rt_seq_writer w = {node_write, &writer};
	rt_state_pending *pending = NULL;
	uint64_t there = 0, highest = 0, epoch = 0;
	const rt_project *theirs = NULL;
	rt_buf root;
	rt_status st = ops->begin(engine->store, err);

	if (st != RT_OK)
		return st;
	rt_buf_init(&root, engine->alloc, RT_BUF_UNLIMITED);
	st = ops->epoch(engine->store, &epoch, err);
	if (st == RT_OK)
		st = rt_store_get(engine->store, rt_rows_all(RT_STORE_ROOT, engine->project), &root,
				  &there, err);
	if (st != RT_OK && st != RT_NOT_FOUND)
		goto give_up;
	if (epoch != engine->value_epoch || (st == RT_NOT_FOUND && engine->root_seq != 0)) {
		/* what we hold may name nodes that were thrown away: not on top of them */
		st = RT_OK;
		goto give_up;
	}
	if (st == RT_OK) {
		rt_reader reader = rt_reader_of(rt_buf_str(&root));
		uint64_t next = rt_read_varint(&reader);

		if (reader.ok && next > engine->next_node)
			engine->next_node = next;
	}
	rt_buf_clear(&root);
	if (st == RT_OK && there != engine->root_seq) {
		/* Another process has written one since ours, and may have swept away what ours
		 * shared with the value that we hold: ours goes on from theirs, the next time. */
		ops->cancel(engine->store);
		rt_buf_deinit(&root);
		st = rt_engine_load(engine, true, &theirs, err);
		if (st == RT_OK)
			rt_engine_publish(engine, theirs);
		return st;
	}
	if (st == RT_NOT_FOUND) {
		st = ops->head(engine->store, RT_STORE_NODES, engine->project, &highest, err);
		if (highest >= engine->next_node)
			engine->next_node = highest + 1;
	}
	if (engine->next_node == 0)
		engine->next_node = 1;
	writer.next = engine->next_node;
	if (st == RT_OK)
		st = rt_state_store(project, &w, &root, &pending, err);
	if (st == RT_OK) { /* the root record: the next free node number, then the state */
		rt_buf record;

		rt_buf_init(&record, engine->alloc, RT_BUF_UNLIMITED);
		rt_buf_add_varint(&record, writer.next);
		rt_buf_add_str(&record, rt_buf_str(&root));
		st = record.status != RT_OK
			     ? rt_fail(err, record.status, "out of memory")
			     : ops->write(engine->store,
					  rt_rows_one(RT_STORE_ROOT, engine->project, project->seq),
					  rt_buf_str(&record), err);
		rt_buf_deinit(&record);
	}
	if (st == RT_OK)
		st = ops->commit(engine->store, err);
	else
		ops->cancel(engine->store);
	rt_buf_deinit(&root);
	if (st != RT_OK) {
		rt_state_cancel(pending);
		return st;
	}
	rt_state_commit(pending);
	engine->next_node = writer.next;
	engine->root_seq = project->seq;
	engine->nodes_written += writer.written;
	if (sweep_is_due(engine, project))
		sweep(engine, project);
	return RT_OK;
give_up:
	ops->cancel(engine->store);
	rt_buf_deinit(&root);
	return st;
}

void
rt_engine_maybe_checkpoint(rt_engine *engine, unsigned rows)
{
	const rt_project *project;

	if (rt_engine_may_write(engine, NULL) != RT_OK)
		return;
	project = rt_engine_value(engine);
	if (project->seq > engine->root_seq && project->seq - engine->root_seq >= rows)
		(void)checkpoint(engine, project, NULL);
	rt_object_unref(project);
}

rt_status
rt_engine_checkpoint(rt_engine *engine, rt_error *err)
{
	const rt_project *project;
	rt_status st = rt_engine_may_write(engine, err);

	if (st != RT_OK)
		return st;
	rt_engine_lock_writer(engine);
	project = rt_engine_value(engine);
	if (project->seq > engine->root_seq)
		st = checkpoint(engine, project, err);
	rt_object_unref(project);
	rt_engine_unlock_writer(engine);
	return st;
}

rt_status
rt_engine_settle(rt_engine *engine, uint32_t from, rt_error *err)
{
	const rt_project *project, *shed = NULL;
	uint64_t written = engine->nodes_written;
	rt_status st = RT_OK;

	project = rt_engine_value(engine);
	if (project->seq > engine->root_seq)
		st = checkpoint(engine, project, err);
	if (engine->nodes_written > written) /* nearly all of them are in use */
		engine->nodes_live += engine->nodes_written - written;
	rt_object_unref(project);
	project = rt_engine_value(engine); /* it may have loaded another's checkpoint */
	if (st == RT_OK && project->seq == engine->root_seq &&
	    rt_project_shed(project, from, &shed) != RT_OK)
		st = rt_fail(err, RT_NOMEM, "out of memory");
	if (shed != NULL)
		rt_engine_publish(engine, shed);
	rt_object_unref(project);
	return st;
}

rt_status
rt_engine_rebuild(rt_engine *engine, rt_error *err)
{
	const rt_store_ops *ops = engine->store->ops;
	const rt_project *project = NULL;
	rt_status st = rt_engine_may_write(engine, err);

	if (st != RT_OK)
		return st;
	rt_engine_lock_writer(engine);
	st = rt_engine_load(engine, false, &project, err);
	if (st == RT_OK)
		st = rt_engine_may_write(engine, err); /* that may have found a row */
	if (st == RT_OK)
		st = ops->begin(engine->store, err);
	if (st == RT_OK) {
		uint64_t highest = 0;

		/* numbers are not used again: somebody may still hold the old nodes */
		st = ops->head(engine->store, RT_STORE_NODES, engine->project, &highest, err);
		if (highest >= engine->next_node)
			engine->next_node = highest + 1;
		if (st == RT_OK)
			st = ops->drop(engine->store, rt_rows_all(RT_STORE_ROOT, engine->project),
				       err);
		if (st == RT_OK)
			st = ops->epoch_renew(engine->store, err);
		if (st == RT_OK)
			st = ops->epoch(engine->store, &engine->epoch, err);
		if (st == RT_OK)
			st = ops->commit(engine->store, err);
		else
			ops->cancel(engine->store);
	}
	if (st == RT_OK) {
		engine->root_seq = 0;
		rt_engine_publish(engine, rt_object_ref(project));
		if (project->seq > 0)
			st = checkpoint(engine, project, err);
	}
	rt_object_unref(project);
	rt_engine_unlock_writer(engine);
	return st;
}

rt_status
rt_engine_body(rt_engine *engine, uint64_t number, rt_buf *bytes, rt_body *out, rt_error *err)
{
	rt_status st;

	rt_buf_init(bytes, engine->alloc, RT_BUF_UNLIMITED);
	memset(out, 0, sizeof(*out));
	st = rt_store_get(engine->store, rt_rows_one(RT_STORE_BODIES, engine->project, number),
			  bytes, NULL, err);
	if (st == RT_NOT_FOUND)
		st = rt_fail(err, RT_CORRUPT, "body %llu is missing; run: retake fsck",
			     (unsigned long long)number);
	if (st == RT_OK && bytes->status != RT_OK)
		st = rt_fail(err, bytes->status, "out of memory");
	if (st == RT_OK)
		st = rt_body_read(engine->alloc, rt_buf_str(bytes), out, err);
	if (st != RT_OK) { /* nothing is left to be released; who does it anyway does no harm */
		rt_buf_deinit(bytes);
		rt_buf_init(bytes, engine->alloc, RT_BUF_UNLIMITED);
	}
	return st;
}

/* Slots in the order of their bodies, to be matched with bodies as they come. */
typedef struct run_pick {
	const rt_slot *slots;
	unsigned char order[RT_BODY_RUN_MAX]; /* indices of slots, by body */
	size_t count, next;		      /* order[next ..] still wait */
	rt_body_run *out;
} run_pick;

static bool
pick_body(void *ctx, const rt_store_row *row)
{
	run_pick *p = ctx;
	size_t at = p->out->bytes.size;

	rt_buf_add_str(&p->out->bytes, row->data);
	for (; p->next < p->count && p->slots[p->order[p->next]].body == row->number; p->next++) {
		p->out->at[p->order[p->next]] = at;
		p->out->size[p->order[p->next]] = row->data.size;
	}
	return true;
}

rt_status
rt_engine_body_run(rt_engine *engine, const rt_slot *slots, size_t count, rt_body_run *out,
		   rt_error *err)
{
	run_pick pick = {.slots = slots, .count = count, .out = out};
	uint64_t numbers[RT_BODY_RUN_MAX];
	size_t i, k, number_count = 0, room = count * 128;
	rt_status st;

	RT_ASSERT(count <= RT_BODY_RUN_MAX);
	rt_buf_init(&out->bytes, engine->alloc, RT_BUF_UNLIMITED);
	for (i = 0; i < count; i++)
		room += slots[i].size;
	(void)rt_buf_reserve(&out->bytes, room); /* their texts; fields may need more */
	for (i = 0; i < count; i++) { /* nearly in order as a rule */
		for (k = i; k > 0 && slots[pick.order[k - 1]].body > slots[i].body; k--)
			pick.order[k] = pick.order[k - 1];
		pick.order[k] = (unsigned char)i;
	}
	for (i = 0; i < count; i++) {
		uint64_t number = slots[pick.order[i]].body;

		if (number_count == 0 || numbers[number_count - 1] != number)
			numbers[number_count++] = number;
	}
	st = engine->store->ops->read(
		engine->store,
		rt_rows_listed(RT_STORE_BODIES, engine->project, numbers, number_count), pick_body,
		&pick, err);
	if (st == RT_OK && pick.next < count)
		st = rt_fail(err, RT_CORRUPT, "body %llu is missing; run: retake fsck",
			     (unsigned long long)slots[pick.order[pick.next]].body);
	if (st == RT_OK && out->bytes.status != RT_OK)
		st = rt_fail(err, out->bytes.status, "out of memory");
	return st;
}
