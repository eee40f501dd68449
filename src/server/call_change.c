/* SPDX-License-Identifier: MIT
 *
 * Changes: executed under their preconditions, answered, and the response stored. */
#include "server/call.h"
#include "app/condition.h"
#include "log/identity.h"
#include "server/access.h"
#include "server/idempotency.h"
#include "server/quota.h"

/* One change. */
typedef struct context {
	rt_call *call;
	const rt_call_change *change;
	rt_str by;
	rt_condition condition; /* If-Match, and the list */
	rt_idempotency idem;
	bool was_known;  /* its key was found in the transaction */
	bool is_kept;    /* the response is in the store */
	char etag[RT_ETAG_ROOM]; /* of the changed object, right after the change; or empty */
} context;

static bool
has_condition(const context *c)
{
	return c->condition.tags.ptr != NULL || c->condition.list != NULL;
}

static bool
has_key(const rt_idempotency *idem)
{
	return idem->row[0] != '\0';
}

/* The operation of a request; NULL: it could not be decoded. */
static const rt_op *
op_of(const context *c, size_t at)
{
	const rt_request *request = &c->change->requests[at];

	return request->invalid == NULL ? &rt_ops[request->op] : NULL;
}

/* The operation of all requests; NULL: they differ. */
static const rt_op *
common_op(const context *c)
{
	for (size_t i = 1; i < c->change->count; i++)
		if (op_of(c, i) != op_of(c, 0))
			return NULL;
	return op_of(c, 0);
}

/* The results as one, for clients that see one change. */
static rt_result
join(const rt_result *results, size_t count)
{
	rt_result one = results[count - 1];

	for (size_t i = count - 1; i-- > 0;) {
		one.unchanged = one.unchanged && results[i].unchanged;
		if (one.entry[0] == '\0')
			memcpy(one.entry, results[i].entry, sizeof(one.entry));
		if (one.take[0] == '\0')
			memcpy(one.take, results[i].take, sizeof(one.take));
		if (one.discussion[0] == '\0')
			memcpy(one.discussion, results[i].discussion, sizeof(one.discussion));
	}
	return one;
}

/* The step of the last request that succeeded; the other results have none. */
static uint64_t
last_seq(const rt_result *results, size_t count)
{
	uint64_t seq = 0;

	for (size_t i = 0; i < count; i++)
		if (results[i].status == RT_OK)
			seq = results[i].seq;
	return seq;
}

/* ---- the answer ---- */

/* Where undo and redo affect the change. */
static void
add_history_path(rt_buf *buf, const context *c, const rt_op *op, const rt_result *result)
{
	rt_str disc = rt_call_param(c->call, "discussion");

	rt_buf_add_c(buf, RT_API_ROOT);
	if (result->undo_disc != 0 &&
	    (disc.size == 0 || (op != NULL && op->id == RT_OP_REVERT))) {
		rt_buf_add_f(buf, "/discussions/d%u", result->undo_disc);
	} else if (disc.size > 0) {
		rt_buf_add_c(buf, "/discussions/");
		rt_route_encode(buf, disc);
	}
}

/* The request that undoes a step of an operation; op NULL: of several. */
static void
put_undo(rt_buf *buf, const context *c, const rt_op *op, const rt_result *result)
{
	unsigned flags = op != NULL ? op->flags : 0;

	if ((flags & RT_OP_NO_UNDO) != 0)
		return;
	rt_json_open(buf, "undo", '{');
	rt_json_put_c(buf, "method", "POST");
	rt_json_add_key(buf, "path");
	rt_buf_add_byte(buf, '"');
	if ((flags & RT_OP_MOVES_HISTORY) != 0) {
		add_history_path(buf, c, op, result);
		rt_buf_add_c(buf, op->id == RT_OP_UNDO ? "/redo\"" : "/undo\"");
		if (result->steps > 1) {
			rt_json_open(buf, "body", '{');
			rt_json_put_u64(buf, "count", result->steps);
			rt_json_close(buf, '}');
		}
	} else if ((flags & RT_OP_REVERTIBLE) != 0) {
		rt_buf_add_f(buf, "%s/history/%llu/revert\"", RT_API_ROOT,
			     (unsigned long long)result->seq);
	} else { /* undoes later steps as well */
		if ((flags & RT_OP_CATALOGUE) != 0)
			rt_buf_add_c(buf, RT_API_ROOT);
		else
			add_history_path(buf, c, op, result);
		rt_buf_add_c(buf, "/undo\"");
		rt_json_put_bool(buf, "while_newest", true);
	}
	rt_json_close(buf, '}');
}

/* "op" of a step: its operation and author, and how to undo it. name: as in the history. */
static void
put_step(rt_buf *buf, const context *c, const rt_op *name, const rt_op *undone,
	 const rt_result *result)
{
	rt_json_open(buf, "op", '{');
	rt_json_put_u64(buf, "seq", result->seq);
	rt_json_put_c(buf, "op", name != NULL ? name->name : RT_STEP_BATCH);
	rt_json_put_str(buf, "by", c->by);
	put_undo(buf, c, undone, result);
	rt_json_close(buf, '}');
}

/* So that members can be added to an object that is complete. */
static void
reopen_object(rt_buf *buf)
{
	if (buf->status == RT_OK && buf->size > 0)
		buf->size--;
}

/* A result with the request that undoes it. */
static void
put_result(rt_buf *buf, const context *c, const rt_op *op, const rt_result *result)
{
	rt_json_add_comma(buf);
	rt_result_add_json(buf, result);
	if (result->status != RT_OK || result->unchanged)
		return;
	reopen_object(buf);
	put_step(buf, c, op, op, result);
	rt_json_close(buf, '}');
}

static void
put_results(rt_buf *buf, const context *c, const rt_result *results)
{
	const rt_call_change *change = c->change;
	const rt_result one = join(results, change->count);
	size_t failed = 0;

	rt_json_open(buf, NULL, '{');
	rt_json_open(buf, "results", '[');
	for (size_t i = 0; i < change->count; i++) {
		failed += results[i].status != RT_OK;
		if (!change->is_atomic) {
			put_result(buf, c, op_of(c, i), &results[i]);
			continue;
		}
		rt_json_add_comma(buf);
		rt_result_add_json(buf, &results[i]);
	}
	rt_json_close(buf, ']');
	rt_json_put_u64(buf, "seq", last_seq(results, change->count));
	if (failed > 0)
		rt_json_put_u64(buf, "failed", failed);
	if (change->is_atomic && one.unchanged)
		rt_json_put_bool(buf, "unchanged", true);
	else if (change->is_atomic)
		put_step(buf, c, common_op(c), NULL, &one);
	rt_json_close(buf, '}');
}

/* The answer is made from the results only, so the stored one equals the sent one. */
static void
put_answer(rt_buf *buf, const context *c, const rt_result *results)
{
	const rt_call_change *change = c->change;

	if (change->count == 1 || change->is_one) {
		const rt_result one = join(results, change->count);

		put_result(buf, c, common_op(c), &one);
	} else {
		put_results(buf, c, results);
	}
	if (change->extra.size == 0)
		return;
	reopen_object(buf);
	rt_json_add_comma(buf);
	rt_buf_add_str(buf, change->extra);
	rt_json_close(buf, '}');
}

/* The path of the created object; empty: none. */
static rt_str
location_of(rt_scope *s, const context *c, const rt_result *results)
{
	rt_result one = join(results, c->change->count);
	rt_str disc = one.discussion[0] != '\0' ? rt_str_of(one.discussion) : c->change->disc;
	rt_str take = one.take[0] != '\0' ? rt_str_of(one.take) : rt_str_at(NULL, 0);
	rt_buf *path = rt_scope_buf(s);

	if (!c->change->is_made || one.unchanged || disc.size == 0)
		return rt_str_at(NULL, 0);
	rt_buf_add_c(path, RT_API_ROOT "/discussions/");
	rt_route_encode(path, disc);
	if (one.discussion[0] != '\0')
		return rt_scope_str(s, path);
	if (one.entry[0] != '\0') {
		rt_buf_add_c(path, "/entries/");
		rt_route_encode(path, rt_str_of(one.entry));
		if (take.size == 0)
			take = c->change->take;
	}
	if (take.size > 0) {
		rt_buf_add_c(path, "?take=");
		rt_route_encode(path, take);
	}
	return rt_scope_str(s, path);
}

static unsigned
status_of(const context *c, const rt_result *results)
{
	return c->change->is_made && !join(results, c->change->count).unchanged ? 201 : 200;
}

/* The tag of the changed object, in the value after the change. Deleted objects have none. */
static void
compute_etag(context *c, const rt_project *now, rt_str entry)
{
	uint64_t epoch = rt_engine_epoch(c->call->open_project->engine);
	const rt_disc *disc = NULL;
	rt_place place;
	rt_slot slot;
	size_t at;
	uint32_t number = 0;
	bool is_found = false;

	if (c->change->disc.size == 0 && entry.size == 0) {
		rt_etag_project(epoch, now, c->etag);
		return;
	}
	if (rt_resolve_place(now, c->change->disc, c->change->take, &place, NULL) != RT_OK ||
	    rt_project_disc(now, place.disc != 0 ? place.disc : now->active, &disc, NULL) != RT_OK)
		return;
	const rt_take *take = rt_disc_take(disc, place.take != 0 ? place.take : disc->active);
	if (entry.size > 0 && take != NULL &&
	    rt_resolve_entry(now, place, entry, false, &number, NULL) == RT_OK &&
	    rt_take_find(now, take, number, &at, &slot, &is_found, NULL) == RT_OK && is_found)
		rt_etag_entry(epoch, now, disc, &slot, c->etag);
	else
		rt_etag_disc(epoch, now, disc, c->etag);
}

/* ---- within the transaction ---- */

/* rt_apply_check_fn. It may run on another thread, while ours waits, and several times, so it does
 * not use the call's scope. */
static rt_status
check(void *ctx, const rt_project *now, rt_error *err)
{
	context *c = ctx;
	rt_scope s;

	rt_scope_init(&s, c->call->request->alloc);
	c->was_known = rt_idempotency_find(&s, &c->idem).state != RT_IDEMPOTENCY_NEW;
	if (c->was_known)
		rt_scope_fail(&s, RT_CONFLICT, "it was sent before");
	RT_TRY(&s, rt_condition_check(&c->condition, now, &s.error));
	return rt_scope_end(&s, err);
}

/* rt_apply_keep_fn; the same. */
static rt_status
keep(void *ctx, rt_store *store, uint64_t project, const rt_project *now, const rt_result *results,
     size_t count, rt_error *err)
{
	context *c = ctx;
	rt_result one = join(results, count);
	rt_scope s;

	(void)store;
	(void)project;
	RT_ASSERT(count == c->change->count); /* one step, or one request */
	c->etag[0] = '\0';
	compute_etag(c, now, rt_str_of(one.entry));
	if (!has_key(&c->idem))
		return RT_OK;
	rt_scope_init(&s, c->call->request->alloc);
	rt_buf *body = rt_scope_buf(&s);
	put_answer(body, c, results);
	rt_idempotency_record record = {.status = status_of(c, results),
					.seq = one.seq,
					.body = rt_scope_str(&s, body),
					.location = location_of(&s, c, results),
					.etag = rt_str_of(c->etag)};
	rt_idempotency_save(&s, &c->idem, &record);
	c->is_kept = rt_ok(&s);
	return rt_scope_end(&s, err);
}

/* ---- preconditions ---- */

/* Answers with the response stored for the key; a new request continues. */
static void
answer_stored(rt_call *call, const rt_idempotency_record *record)
{
	rt_web_answer *answer = call->answer;

	switch (record->state) {
	case RT_IDEMPOTENCY_NEW:
		return;
	case RT_IDEMPOTENCY_OTHER:
		rt_call_problem(
			call, 422, "idempotency-key-reused",
			"This Idempotency-Key was used for another request",
			"use a new key for each request; reuse a key only to retry the same request");
		return;
	case RT_IDEMPOTENCY_BEGUN:
		rt_call_problem(call, 409, "idempotency-key-begun",
				"The same request is still in progress",
				"wait and retry; if this persists, the server was probably restarted: check whether the change was made, then "
				"use a new key");
		return;
	case RT_IDEMPOTENCY_DONE:
		break;
	}
	if (!rt_ok(&call->scope))
		return;
	rt_buf_clear(&answer->body);
	rt_buf_add_str(&answer->body, record->body);
	rt_call_header(call, "Idempotency-Replayed", RT_STR("true"));
	if (record->location.size > 0)
		rt_call_header(call, "Location", record->location);
	if (record->etag.size > 0)
		rt_call_header(call, "ETag", record->etag);
	answer->status = record->status;
	rt_call_stop(call);
}

static rt_idempotency
read_key(rt_scope *s, rt_call *call)
{
	const rt_env *env = rt_project_pool_get_options(call->pool)->env;

	return rt_idempotency_read_key(s, call->request, &call->principal,
				       call->open_project->engine, env->now_us(env->ctx));
}

/* The headers; and whether it was done before, so that hooks are not run twice. */
static void
begin(context *c)
{
	rt_call *call = c->call;
	rt_scope *s = &call->scope;
	size_t repeats = rt_web_header_repeats(call->request, "If-Match");

	c->by = rt_call_actor(call);
	c->condition = (rt_condition){.engine = call->open_project->engine,
				      .disc = c->change->disc,
				      .take = c->change->take,
				      .entry = c->change->entry};
	if (c->change->list != NULL) {
		c->condition.list = c->change->list->take;
		c->condition.list_disc = c->change->list->place.disc;
	}
	if (repeats > 1)
		rt_scope_fail(s, RT_USAGE, "If-Match appears more than once");
	if (repeats == 1) {
		c->condition.tags = rt_web_header(call->request, "If-Match");
		if (c->condition.tags.size == 0)
			rt_scope_fail(s, RT_USAGE, "If-Match is empty");
	} else if (call->needs_match) {
		rt_call_problem(call, 428, "precondition-required",
				"This server requires If-Match with every change",
				"read the object that you want to change and send its ETag");
	}
	c->idem = read_key(s, call);
	if (c->change->count > 1 && !c->change->is_atomic &&
	    (has_key(&c->idem) || c->condition.tags.ptr != NULL))
		rt_scope_fail(
			s, RT_USAGE,
			"If-Match and Idempotency-Key apply to a single step; a batch that is not atomic consists of several");
	rt_idempotency_record record = rt_idempotency_find(s, &c->idem);
	answer_stored(call, &record);
}

/* ---- carrying out ---- */

/* Errors are ignored: a retry then gets the answer of a finished or unfinished request. */
static void
drop_stored(rt_call *call, const rt_idempotency *idem)
{
	rt_scope s;

	rt_scope_init(&s, call->request->alloc);
	rt_idempotency_drop(&s, idem);
	rt_scope_deinit(&s);
}

static void
put_notes(rt_buf *buf, rt_str notes)
{
	if (rt_str_trim(notes).size > 0)
		rt_call_put_lines(buf, "notes", rt_str_trim(notes));
}

/* A batch that was not executed names the request that failed. */
static void
fail(context *c, const rt_result *results, rt_status st)
{
	rt_call *call = c->call;
	rt_scope *s = &call->scope;
	size_t at = rt_results_cause(results, c->change->count);
	rt_buf *extra = rt_scope_buf(s);

	/* A purge that could not overwrite the bytes is done and its answer stored; a retry has to
	 * try again. */
	if (c->is_kept && op_of(c, 0)->id == RT_OP_PURGE)
		drop_stored(call, &c->idem);
	if (c->change->count > 1 && !c->change->is_one && st != RT_CONFLICT)
		rt_json_put_u64(extra, "index", at);
	if (st == RT_DENIED)
		put_notes(extra, rt_buf_str(call->notes));
	call->extra = rt_scope_str(s, extra);
	if (st == RT_CONFLICT)
		rt_call_hint(call, "read it again and send the new ETag");
	if (rt_ok(s)) {
		s->error = results[at].error;
		s->error.status = st;
	}
	rt_scope_note(s, st);
}

static void
succeed(context *c, const rt_result *results)
{
	rt_call *call = c->call;
	rt_scope *s = &call->scope;
	const rt_result one = join(results, c->change->count);
	rt_buf *body = &call->answer->body;
	rt_engine *engine = call->open_project->engine;

	rt_buf_clear(body);
	put_answer(body, c, results);
	if (c->etag[0] == '\0') { /* nothing was changed: the tag is of the current state */
		const rt_project *value = NULL;
		uint64_t seq = last_seq(results, c->change->count);

		if (rt_engine_value_at(engine, seq, &value, NULL) == RT_OK)
			compute_etag(c, value, rt_str_of(one.entry));
		rt_object_unref(value);
	}
	/* Nothing was written, so nothing could be stored with it. */
	if (has_key(&c->idem) && !c->is_kept) {
		rt_scope own;
		rt_idempotency_record record = {.status = status_of(c, results),
						.seq = one.seq,
						.body = rt_buf_str(body),
						.etag = rt_str_of(c->etag)};

		rt_scope_init(&own, s->alloc);
		rt_idempotency_save(&own, &c->idem, &record);
		if (rt_scope_end(&own, NULL) != RT_OK)
			rt_buf_add_c(call->notes, "the response could not be stored for retries\n");
	}
	reopen_object(body);
	put_notes(body, rt_buf_str(call->notes));
	rt_json_close(body, '}');
	if (c->etag[0] != '\0')
		rt_call_header(call, "ETag", rt_str_of(c->etag));
	rt_str location = location_of(s, c, results);
	if (location.size > 0)
		rt_call_header(call, "Location", location);
	call->answer->status = status_of(c, results);
	if (call->open_project->feed != NULL)
		rt_feed_changed(call->open_project->feed);
}

static bool
any_succeeded(const rt_result *results, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (results[i].status == RT_OK)
			return true;
	return false;
}

static void
carry_out(context *c)
{
	const rt_call_change *change = c->change;
	rt_call *call = c->call;
	rt_scope *s = &call->scope;
	rt_apply_context with = rt_open_project_context(call->open_project, c->by, call->notes);
	bool is_batch = change->count > 1 && !change->is_atomic;
	rt_result *results = rt_scope_array(s, change->count, sizeof(*results));

	if (results == NULL)
		return;
	if (has_key(&c->idem) || has_condition(c)) {
		with.check = check;
		with.check_ctx = c;
	}
	if (!is_batch) {
		with.keep = keep;
		with.keep_ctx = c;
	}
	rt_status st = rt_apply(call->open_project->engine, &with, change->requests, change->count,
				change->is_atomic && change->count > 1, change->disc,
				change->names_takes ? rt_str_at(NULL, 0) : change->take, results);
	if (c->was_known) {
		/* Found within a transaction that may have been rolled back afterwards. */
		rt_idempotency_record record = rt_idempotency_find(s, &c->idem);

		if (record.state == RT_IDEMPOTENCY_NEW)
			rt_scope_fail(s, RT_BUSY,
				      "the same request was in progress and failed; try again");
		answer_stored(call, &record);
	} else if (st == RT_OK || (is_batch && any_succeeded(results, change->count))) {
		succeed(c, results);
	} else {
		fail(c, results, st);
	}
	for (size_t i = 0; i < change->count; i++)
		rt_result_deinit(&results[i]);
}

bool
rt_call_apply(rt_call *call, const rt_call_change *change)
{
	context c = {.call = call, .change = change};

	for (size_t i = 0; i < change->count && rt_ok(&call->scope); i++)
		rt_access_check(call, &change->requests[i]);
	if (rt_ok(&call->scope))
		begin(&c);
	/* After a failure there may be no requests. */
	rt_use added = rt_call_use(call, change->requests, rt_ok(&call->scope) ? change->count : 0);
	rt_call_check_quota(call, &added);
	if (rt_ok(&call->scope))
		carry_out(&c);
	rt_call_count_use(call, &added);
	return !c.condition.is_list_outdated;
}

/* ---- other changes ---- */

void
rt_call_replay(rt_call *call)
{
	rt_scope s;

	if (!rt_ok(&call->scope))
		return;
	/* A failure is reported when the change is executed. */
	rt_scope_init(&s, call->request->alloc);
	rt_idempotency idem = read_key(&s, call);
	rt_idempotency_record record = rt_idempotency_find(&s, &idem);
	if (rt_ok(&s))
		answer_stored(call, &record);
	rt_scope_deinit(&s);
}

rt_idempotency *
rt_call_begin(rt_call *call, rt_str disc, rt_str take)
{
	rt_scope *s = &call->scope;
	rt_call_change change = {.is_atomic = true, .disc = disc, .take = take};
	context c = {.call = call, .change = &change};
	rt_idempotency *idem = rt_scope_get(s, sizeof(*idem));

	if (idem == NULL)
		return NULL;
	begin(&c);
	*idem = c.idem;
	if (rt_ok(s) && c.condition.tags.ptr != NULL) {
		const rt_project *value = rt_call_value(call);

		c.idem.row[0] = '\0'; /* was already looked up by begin */
		RT_TRY(s, check(&c, value, &s->error));
	}
	return idem;
}

void
rt_call_reserve(rt_call *call, rt_idempotency *idem)
{
	if (!rt_ok(&call->scope) || !has_key(idem))
		return;
	rt_idempotency_record record = rt_idempotency_reserve(&call->scope, idem);
	answer_stored(call, &record);
}

void
rt_call_keep(rt_call *call, rt_idempotency *idem)
{
	const rt_web_answer *answer = call->answer;
	rt_idempotency_record record = {.status = answer->status != 0 ? answer->status : 200,
					.body = rt_buf_str(&answer->body)};
	rt_scope s;

	if (idem == NULL || !has_key(idem) || call->is_answered)
		return;
	if (!rt_ok(&call->scope) || answer->body.status != RT_OK) {
		if (idem->is_reserved)
			drop_stored(call, idem);
		return;
	}
	for (size_t i = 0; i < answer->header_count; i++)
		if (rt_str_is(answer->headers[i].name, "Location"))
			record.location = answer->headers[i].value;
	rt_scope_init(&s, call->request->alloc);
	rt_str identity = rt_store_set_identity(RT_STORE_ITSELF);
	rt_idempotency_save(&s, idem, &record);
	(void)rt_store_set_identity(identity);
	rt_scope_deinit(&s); /* errors are ignored: a retry then finds an unfinished request */
}
