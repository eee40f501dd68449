/* SPDX-License-Identifier: MIT
 *
 * Opening and closing, and loading rows that other processes wrote. */
#include "log/engine_impl.h"

#include "log/checkpoint.h"
#include "log/identity.h"

/* ---- nodes of the checkpoint ---- */

static rt_status
node_read(void *ctx, uint64_t number, rt_buf *out, rt_error *err)
{
	rt_engine *engine = ctx;
	rt_status st = rt_store_get(engine->store,
				    rt_rows_one(RT_STORE_NODES, engine->project, number), out, NULL,
				    err);

	if (st != RT_NOT_FOUND)
		return st;
	atomic_store(&engine->node_gone, true); /* another process may have replaced it */
	return rt_fail_advise(err, RT_CORRUPT, "run: retake repair",
			      "node %llu of the checkpoint is missing", (unsigned long long)number);
}

typedef struct node_callback {
	rt_seq_node_fn fn;
	void *to;
} node_callback;

static bool
pass_node(void *ctx, const rt_store_row *row)
{
	node_callback *c = ctx;

	c->fn(c->to, row->number, row->data);
	return true;
}

static rt_status
node_pick(void *ctx, const uint64_t *numbers, size_t count, rt_seq_node_fn fn, void *to,
	  rt_error *err)
{
	rt_engine *engine = ctx;
	node_callback c = {fn, to};

	return engine->store->ops->read(
		engine->store, rt_rows_listed(RT_STORE_NODES, engine->project, numbers, count),
		pass_node, &c, err);
}

/* ---- open and close ---- */

static void
find_project(rt_engine *engine, bool create, rt_scope *s)
{
	const rt_store_ops *ops = engine->store->ops;
	rt_str name = rt_text_str(engine->name);
	rt_status st;

	if (rt_store_is_reserved(name))
		rt_scope_fail(s, RT_USAGE, "the name of a project cannot begin with a control character");
	if (!rt_ok(s))
		return;
	st = rt_store_get(engine->store, rt_rows_named(RT_STORE_PROJECTS, 0, name), NULL,
			  &engine->project, &s->error);
	if (st == RT_NOT_FOUND && (!create || engine->read_only))
		rt_scope_fail(s, st, "no project \"%.*s\" in %s", RT_STR_ARG(name),
			      engine->store->place);
	if (st != RT_NOT_FOUND || !rt_ok(s)) {
		rt_scope_note(s, st);
		return;
	}
	/* There are no roles in it yet. */
	rt_str identity = rt_store_set_identity(RT_STORE_ITSELF);
	if (RT_TRY(s, ops->begin(engine->store, &s->error)) != RT_OK) {
		(void)rt_store_set_identity(identity);
		return;
	}
	st = rt_store_get(engine->store, rt_rows_named(RT_STORE_PROJECTS, 0, name), NULL,
			  &engine->project, &s->error);
	if (st == RT_NOT_FOUND) { /* and no other process has created it meanwhile */
		st = ops->project_new(engine->store, name, &engine->project, &s->error);
		if (st == RT_OK && rt_engine_salt_of(name) != 0)
			st = ops->write(engine->store, rt_engine_side(engine, RT_SALTED_MARK),
					RT_STR("1"), &s->error);
	}
	rt_scope_note(s, st);
	rt_store_end(engine->store, s);
	(void)rt_store_set_identity(identity);
}

/* Are the project's ids salted? A damaged mark exists, too. */
static rt_status
find_salt(rt_engine *engine, rt_error *err)
{
	rt_status st = rt_store_get(engine->store, rt_engine_side(engine, RT_SALTED_MARK), NULL,
				    NULL, err);

	if (st == RT_OK || st == RT_CORRUPT)
		engine->salt = rt_engine_salt_of(rt_text_str(engine->name));
	return st == RT_CORRUPT || st == RT_NOT_FOUND ? RT_OK : st;
}

static void
load_value(rt_engine *engine, rt_scope *s)
{
	rt_status st;

	if (!rt_ok(s))
		return;
	st = rt_engine_load(engine, true, &engine->value, &s->error);
	if (st == RT_CORRUPT && engine->is_lenient) {
		const rt_project *ahead = NULL;

		st = rt_engine_load_parts(engine, &engine->value, &ahead, &s->error);
		rt_object_unref(ahead);
	}
	rt_scope_note(s, st);
	if (!engine->is_lenient)
		RT_TRY(s, rt_engine_check_heads(engine, engine->value, &s->error));
}

rt_status
rt_engine_open(const rt_engine_options *options, rt_store *store, rt_engine **out_engine,
	       rt_error *err)
{
	const rt_alloc *alloc = options->alloc != NULL ? options->alloc : rt_alloc_libc();
	rt_engine *engine = rt_new0(alloc, sizeof(*engine));
	rt_str name = options->project.size > 0 ? options->project : RT_STR("default");
	rt_str by = options->by.size > 0 ? options->by : RT_STR("cli");
	rt_scope s;

	if (engine == NULL)
		return rt_fail(err, RT_NOMEM, "out of memory");
	rt_scope_init(&s, alloc);
	engine->alloc = alloc;
	engine->env = options->env;
	engine->store = store;
	engine->is_lenient = options->lenient;
	engine->read_only = options->read_only || options->lenient || store->is_read_only;
	engine->checkpoint_every = options->checkpoint_every != 0 ? options->checkpoint_every
								  : RT_CHECKPOINT_EVERY;
	engine->git_commit = options->git_commit;
	engine->git_ctx = options->git_ctx;
	engine->purged = options->purged;
	engine->purged_ctx = options->purged_ctx;
	engine->source = (rt_seq_source){.read = node_read, .pick = node_pick, .ctx = engine};
	pthread_mutex_init(&engine->value_lock, NULL);
	pthread_mutex_init(&engine->queue_lock, NULL);
	pthread_cond_init(&engine->queue_moved, NULL);
	engine->by = (rt_text *)(uintptr_t)rt_text_new(alloc, by);
	engine->name = (rt_text *)(uintptr_t)rt_text_new(alloc, name);
	if (options->defaults.size > 0)
		engine->defaults = (rt_text *)(uintptr_t)rt_text_new(alloc, options->defaults);
	if (engine->by == NULL || engine->name == NULL ||
	    (options->defaults.size > 0 && engine->defaults == NULL))
		rt_scope_nomem(&s);
	find_project(engine, options->create, &s);
	RT_TRY(&s, find_salt(engine, &s.error));
	RT_TRY(&s, store->ops->epoch(store, &engine->epoch, &s.error));
	engine->value_epoch = engine->epoch;
	load_value(engine, &s);
	engine->scrub_pending = rt_ok(&s) && !engine->read_only && rt_engine_scrub_pending(engine);
	if (rt_ok(&s))
		*out_engine = engine;
	else
		rt_engine_close(engine);
	return rt_scope_end(&s, err);
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
	rt_text_unref(engine->defaults);
	rt_text_unref(engine->name);
	pthread_cond_destroy(&engine->queue_moved);
	pthread_mutex_destroy(&engine->queue_lock);
	pthread_mutex_destroy(&engine->value_lock);
	rt_free(engine->alloc, engine);
}

/* ---- rows of other processes ---- */

bool
rt_engine_is_deleted(rt_engine *engine)
{
	return atomic_load(&engine->is_deleted);
}

static rt_status
refuse_deleted(rt_engine *engine, rt_error *err)
{
	if (!rt_engine_is_deleted(engine))
		return RT_OK;
	return rt_fail(err, RT_NOT_FOUND, "the project \"%.*s\" was deleted", RT_STR_ARG(rt_text_str(engine->name)));
}

/* After a change of the epoch: is the project still in the store? Whatever the rights of this thread. */
static rt_status
look_for_project(rt_engine *engine, rt_error *err)
{
	rt_str identity = rt_store_set_identity(RT_STORE_ITSELF);
	rt_status st = rt_store_get(engine->store, rt_rows_one(RT_STORE_PROJECTS, 0, engine->project), NULL, NULL, err);

	(void)rt_store_set_identity(identity);
	if (st != RT_NOT_FOUND)
		return st;
	atomic_store(&engine->is_deleted, true);
	return RT_OK;
}

/* As the leader: *project, which is owned, updated from the store. A deleted project becomes an empty
 * one, so that its texts leave the memory. reload: reload it in any
 * case. */
static rt_status
update(rt_engine *engine, const rt_project **project, bool reload, uint64_t *out_head,
       rt_error *err)
{
	const rt_store_ops *ops = engine->store->ops;
	uint64_t epoch;
	rt_status st = rt_engine_head(engine, RT_STORE_LOG, out_head, err);

	if (st == RT_OK)
		st = ops->epoch(engine->store, &epoch, err);
	if (st != RT_OK)
		return st;
	engine->epoch = epoch;
	if (epoch == engine->value_epoch && *out_head < (*project)->seq)
		return rt_engine_lost_end(engine, *project, *out_head, err);
	/* Another history may have the same head number. */
	reload = reload || epoch != engine->value_epoch;
	if (epoch != engine->value_epoch)
		st = look_for_project(engine, err);
	if (st != RT_OK)
		return st;
	if (!reload && *out_head > (*project)->seq) {
		st = rt_engine_catch_up(engine, project, *out_head, err);
		/* a node that another process has replaced meanwhile */
		reload = st == RT_NOT_FOUND || st == RT_CORRUPT;
	}
	if (reload) {
		const rt_project *loaded = NULL;

		st = rt_engine_load(engine, true, &loaded, err);
		if (st == RT_OK) {
			rt_object_unref(*project);
			*project = loaded;
		}
		if (st == RT_OK && !engine->is_lenient)
			st = rt_engine_check_heads(engine, *project, err);
	}
	return st;
}

rt_status
rt_engine_newest(rt_engine *engine, const rt_project **out, rt_error *err)
{
	const rt_project *project = rt_engine_value(engine);
	uint64_t head = 0, bodies, seq = project->seq;
	rt_status st = update(engine, &project, false, &head, err);

	if (st == RT_OK)
		st = refuse_deleted(engine, err);
	if (st == RT_OK && rt_engine_newer(engine, err))
		st = RT_TOO_NEW;
	/* Bodies as well, which costs nothing here: the store knows their head by now. */
	if (st == RT_OK)
		st = rt_engine_head(engine, RT_STORE_BODIES, &bodies, err);
	if (st == RT_OK && (head != seq || engine->epoch != engine->value_epoch ||
			    bodies + 1 != project->next_body))
		st = rt_engine_check_heads(engine, project, err);
	if (st == RT_OK)
		*out = project;
	else
		rt_object_unref(project);
	return st;
}

/* Is there nothing in the store that is not in the value? */
static bool
is_fresh(rt_engine *engine)
{
	const rt_store_ops *ops = engine->store->ops;
	uint64_t head, epoch;

	if (atomic_load(&engine->node_gone) ||
	    rt_engine_head(engine, RT_STORE_LOG, &head, NULL) != RT_OK ||
	    ops->epoch(engine->store, &epoch, NULL) != RT_OK)
		return false;
	pthread_mutex_lock(&engine->value_lock);
	bool fresh = head == engine->value->seq && epoch == engine->value_epoch;
	pthread_mutex_unlock(&engine->value_lock);
	return fresh;
}

/* As the leader; afterwards the thread is no longer the leader. */
static rt_status
refresh(rt_engine *engine, rt_error *err)
{
	const rt_project *project = rt_engine_value(engine);
	bool gone = atomic_exchange(&engine->node_gone, false);
	uint64_t head;
	rt_status st = update(engine, &project, gone, &head, err);

	if (st == RT_OK) {
		rt_engine_publish(engine, project);
		st = refuse_deleted(engine, err);
	} else {
		rt_object_unref(project);
		if (gone)
			atomic_store(&engine->node_gone, true);
	}
	rt_engine_unlock_writer(engine);
	return st;
}

rt_status
rt_engine_refresh(rt_engine *engine, rt_error *err)
{
	if (is_fresh(engine)) /* the usual case; does not wait for a writer's sync */
		return refuse_deleted(engine, err);
	rt_engine_lock_writer(engine);
	return refresh(engine, err);
}

rt_status
rt_engine_refresh_now(rt_engine *engine, rt_error *err)
{
	if (is_fresh(engine))
		return refuse_deleted(engine, err);
	return rt_engine_try_lead(engine) ? refresh(engine, err)
					  : rt_fail(err, RT_BUSY, "another change is in progress");
}
