/* SPDX-License-Identifier: MIT
 *
 * Changes: asked for with their conditions, answered, and the answer kept. */
#include "server/call.h"
#include "server/idempotency.h"
#include "server/etag.h"

typedef enum verdict {
	GO_ON,
	DONE_BEFORE, /* the same request, answered already */
	OTHER_BEFORE /* another one with this key */
} verdict;

/* One change on its way. */
typedef struct changing {
	rt_call *call;
	const rt_call_change *change;
	rt_str by;
	rt_str if_match; /* ptr NULL: none */
	rt_idempotency idem;
	rt_idempotency_record record;
	verdict verdict;
	bool is_kept;          /* the answer is in the store */
	char etag[RT_ETAG_ROOM]; /* of what was changed, as it was right after; or empty */
} changing;

/* Undo and redo there reach what the change did. */
static void
add_path_start(rt_buf *buf, const changing *c, const rt_op *op, const rt_result *result)
{
	rt_buf_add_c(buf, RT_API_ROOT);
	if (result->undo_disc != 0 &&
	    (rt_call_param(c->call, "discussion").size == 0 ||
	     (op != NULL && op->id == RT_OP_REVERT))) {
		rt_buf_add_f(buf, "/discussions/d%u", result->undo_disc);
	} else if (rt_call_param(c->call, "discussion").size > 0) {
		rt_buf_add_c(buf, "/discussions/");
		rt_route_encode(buf, rt_call_param(c->call, "discussion"));
	}
}

/* Adds the request that undoes a step of an operation; NULL: a step of several. */
static void
add_undo(rt_buf *buf, const changing *c, const rt_op *op, const rt_result *result)
{
	unsigned flags = op != NULL ? op->flags : 0;
	bool is_undo = op != NULL && op->id == RT_OP_UNDO;

	if ((flags & RT_OP_NO_UNDO) != 0)
		return;
	rt_buf_add_c(buf, ",\"undo\":{\"method\":\"POST\",\"path\":\"");
	if ((flags & RT_OP_MOVES_HISTORY) != 0) {
		add_path_start(buf, c, op, result);
		rt_buf_add_c(buf, is_undo ? "/redo\"" : "/undo\"");
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
			add_path_start(buf, c, op, result);
		rt_buf_add_c(buf, "/undo\",\"while_newest\":true");
	}
	rt_buf_add_byte(buf, '}');
}

/* The operation of a request; NULL: it could not be decoded. */
static const rt_op *
op_of(const changing *c, size_t at)
{
	const rt_request *request = &c->change->requests[at];

	return request->invalid == NULL ? &rt_ops[request->op] : NULL;
}

/* The operation that all requests are of; NULL: they differ. */
static const rt_op *
common_op(const changing *c)
{
	for (size_t i = 1; i < c->change->count; i++)
		if (op_of(c, i) != op_of(c, 0))
			return NULL;
	return op_of(c, 0);
}

/* Adds "op" of a step: what it was, by whom, and how to undo it. name: as the history has it. */
static void
add_step(rt_buf *buf, const changing *c, const rt_op *name, const rt_op *undone,
	 const rt_result *result)
{
	rt_json_open(buf, "op", '{');
	rt_json_put_u64(buf, "seq", result->seq);
	rt_json_put_c(buf, "op", name != NULL ? name->name : "batch");
	rt_json_put_str(buf, "by", c->by);
	add_undo(buf, c, undone, result);
	rt_json_close(buf, '}');
}

/* A result with how to undo it. */
static void
add_result(rt_buf *buf, const changing *c, const rt_op *op, const rt_result *result)
{
	rt_result_add_json(buf, result);
	if (result->status != RT_OK || result->unchanged || buf->status != RT_OK)
		return;
	buf->size--;
	add_step(buf, c, op, op, result);
	rt_buf_add_byte(buf, '}');
}

/* Several requests that are one thing to who asked. */
static rt_result
joined(const rt_result *results, size_t count)
{
	rt_result one = results[count - 1];
	size_t i;

	for (i = count - 1; i-- > 0;) {
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

/* Of the last one that was done; the others have none. */
static uint64_t
last_seq(const rt_result *results, size_t count)
{
	uint64_t seq = 0;
	size_t i;

	for (i = 0; i < count; i++)
		if (results[i].status == RT_OK)
			seq = results[i].seq;
	return seq;
}

/* The answer is made from the results alone, so the one that is kept is the one that is sent. */
static void
add_answer(rt_buf *buf, const changing *c, const rt_result *results)
{
	const rt_call_change *change = c->change;
	const rt_result one = joined(results, change->count);
	size_t failed = 0;

	if (change->count == 1 || change->is_one) {
		add_result(buf, c, common_op(c), &one);
		if (buf->status == RT_OK)
			buf->size--;
	} else {
		rt_json_open(buf, NULL, '{');
		rt_json_open(buf, "results", '[');
		for (size_t i = 0; i < change->count; i++) {
			rt_json_add_comma(buf);
			failed += results[i].status != RT_OK;
			if (change->is_atomic)
				rt_result_add_json(buf, &results[i]);
			else
				add_result(buf, c, op_of(c, i), &results[i]);
		}
		rt_json_close(buf, ']');
		rt_json_put_u64(buf, "seq", last_seq(results, change->count));
		if (failed > 0)
			rt_json_put_u64(buf, "failed", failed);
		if (change->is_atomic && one.unchanged)
			rt_json_put_bool(buf, "unchanged", true);
		else if (change->is_atomic)
			add_step(buf, c, common_op(c), NULL, &one);
	}
	rt_buf_add_str(buf, change->extra);
	rt_buf_add_byte(buf, '}');
}

/* Where what was made is found; nothing where nothing was. */
static void
add_location(rt_buf *buf, const changing *c, const rt_result *results)
{
	rt_result one = joined(results, c->change->count);
	rt_str disc = c->change->disc;

	if (!c->change->is_made || one.unchanged)
		return;
	if (one.discussion[0] != '\0')
		disc = rt_str_of(one.discussion);
	if (disc.size == 0)
		return;
	rt_buf_add_c(buf, RT_API_ROOT "/discussions/");
	rt_route_encode(buf, disc);
	if (one.discussion[0] == '\0' && one.entry[0] != '\0') {
		rt_buf_add_c(buf, "/entries/");
		rt_route_encode(buf, rt_str_of(one.entry));
		if (one.take[0] != '\0') {
			rt_buf_add_c(buf, "?take=");
			rt_route_encode(buf, rt_str_of(one.take));
		} else if (c->change->take.size > 0) {
			rt_buf_add_c(buf, "?take=");
			rt_route_encode(buf, c->change->take);
		}
	} else if (one.discussion[0] == '\0' && one.take[0] != '\0') {
		rt_buf_add_c(buf, "?take=");
		rt_route_encode(buf, rt_str_of(one.take));
	}
}

static unsigned
status_of(const changing *c, const rt_result *results)
{
	return c->change->is_made && !joined(results, c->change->count).unchanged ? 201 : 200;
}

/* Within the transaction (rt_apply_check_fn), perhaps on another thread than ours, which
 * waits. */
static rt_status
check(void *ctx, const rt_project *now, rt_error *err)
{
	changing *c = ctx;
	rt_engine *engine = c->call->open_project->engine;
	rt_store *store = rt_engine_store(engine);
	rt_place place = {0, 0};
	uint64_t epoch;
	rt_status st = rt_idempotency_find(&c->idem, store, rt_engine_project_number(engine),
					   &c->record, err);

	c->verdict = GO_ON;
	if (st == RT_OK) {
		c->verdict = c->record.is_other ? OTHER_BEFORE : DONE_BEFORE;
		return rt_fail(err, RT_CONFLICT, "it was asked before");
	}
	if (st != RT_NOT_FOUND)
		return st;
	st = RT_OK;
	if (c->if_match.ptr != NULL) {
		st = store->ops->epoch(store, &epoch, err);
		if (st == RT_OK)
			st = rt_resolve_place(now, c->change->disc, c->change->take, &place, err);
		if (st == RT_OK)
			st = rt_etag_match(c->if_match, epoch, now, place, c->change->entry,
					   c->change->disc.size == 0 && c->change->entry.size == 0,
					   err);
	}
	if (st == RT_OK && c->change->check != NULL)
		st = c->change->check(c->change->check_ctx, now, err);
	return st;
}

/* The tag of what was changed in the value that it made. What cannot be found has none. */
static void
compute_etag(changing *c, const rt_project *now, rt_str entry)
{
	uint64_t epoch = rt_engine_epoch(c->call->open_project->engine);
	const rt_disc *disc = NULL;
	const rt_take *take;
	rt_place place;
	rt_slot slot;
	size_t at;
	uint32_t number = 0;
	bool found = false;

	if (c->change->disc.size == 0 && entry.size == 0) {
		rt_etag_project(epoch, now, c->etag);
		return;
	}
	if (rt_resolve_place(now, c->change->disc, c->change->take, &place, NULL) != RT_OK ||
	    rt_project_disc(now, place.disc != 0 ? place.disc : now->active, &disc, NULL) != RT_OK)
		return;
	take = rt_disc_take(disc, place.take != 0 ? place.take : disc->active);
	if (entry.size > 0 && take != NULL &&
	    rt_resolve_entry(now, place, entry, false, &number, NULL) == RT_OK &&
	    rt_take_find(now, take, number, &at, &slot, &found, NULL) == RT_OK && found)
		rt_etag_entry(epoch, now, disc, &slot, c->etag);
	else
		rt_etag_disc(epoch, now, disc, c->etag);
}

/* Within the transaction, after what was asked (rt_apply_keep_fn). */
static rt_status
keep(void *ctx, rt_store *store, uint64_t project, const rt_project *now, const rt_result *results,
     size_t count, rt_error *err)
{
	changing *c = ctx;
	const rt_alloc *alloc = c->call->request->alloc;
	rt_idempotency_response answer;
	rt_result one;
	rt_buf body, location;
	rt_status st;

	RT_ASSERT(count == c->change->count); /* one step, or one request */
	one = joined(results, count);
	c->etag[0] = '\0'; /* it may be called again */
	compute_etag(c, now, rt_str_of(one.entry));
	if (c->idem.row[0] == '\0')
		return RT_OK;
	rt_buf_init(&body, alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&location, alloc, RT_BUF_UNLIMITED);
	add_answer(&body, c, results);
	add_location(&location, c, results);
	answer = (rt_idempotency_response){.status = status_of(c, results),
					   .seq = one.seq,
					   .body = rt_buf_str(&body),
					   .location = rt_buf_str(&location),
					   .etag = rt_str_of(c->etag)};
	st = body.status != RT_OK || location.status != RT_OK
		     ? rt_fail(err, RT_NOMEM, "out of memory")
		     : rt_idempotency_save(&c->idem, alloc, store, project, &answer, err);
	c->is_kept = st == RT_OK;
	rt_buf_deinit(&body);
	rt_buf_deinit(&location);
	return st;
}

/* Nothing was changed: the state that was found is the one to be tagged. */
static void
etag_unchanged(changing *c, uint64_t seq, rt_str entry)
{
	const rt_project *value = NULL;

	if (rt_engine_value_at(c->call->open_project->engine, seq, &value, NULL) == RT_OK)
		compute_etag(c, value, entry);
	rt_object_unref(value);
}

/* What hooks want people to know, a line each, as a member. */
static void
add_notes_to(rt_buf *buf, rt_str notes)
{
	rt_str rest = rt_str_trim(notes);
	bool is_first = true;

	if (rest.size == 0)
		return;
	rt_buf_add_c(buf, ",\"notes\":[");
	while (rest.size > 0) {
		size_t end = rt_str_find(rest, RT_STR("\n"), 0);
		rt_str line = rt_str_at(rest.ptr, end == SIZE_MAX ? rest.size : end);

		end = end == SIZE_MAX ? rest.size : end + 1;
		rest = rt_str_at(rest.ptr + end, rest.size - end);
		if (!is_first)
			rt_buf_add_byte(buf, ',');
		is_first = false;
		rt_json_add_string(buf, rt_str_at(line.ptr, rt_utf8_valid_size(line)));
	}
	rt_buf_add_byte(buf, ']');
}

static void
add_notes(rt_call *call)
{
	rt_buf *body = &call->answer->body;

	if (call->notes.size == 0 || body->status != RT_OK || body->size == 0)
		return;
	body->size--;
	add_notes_to(body, rt_buf_str(&call->notes));
	rt_buf_add_byte(body, '}');
}

static void
answer_from_record(rt_call *call, const rt_idempotency_record *record)
{
	if (record->is_other) {
		rt_problem_http(call->answer, 422, "idempotency-key-reused",
				"This Idempotency-Key was used for another request",
				"take a new key for each request; only a retry has the old one");
		return;
	}
	if (record->status == 0) {
		rt_problem_http(
			call->answer, 409, "idempotency-key-begun",
			"The same request was begun, and is not answered yet",
			"wait; if it stays so, the server ended meanwhile: look whether it was "
			"done, and take a new key");
		return;
	}
	rt_buf_clear(&call->answer->body);
	rt_buf_add_str(&call->answer->body, rt_buf_str(&record->body));
	rt_web_answer_header(call->answer, call->request, "Idempotency-Replayed", RT_STR("true"));
	if (record->location.size > 0)
		rt_web_answer_header(call->answer, call->request, "Location",
				     rt_buf_str(&record->location));
	if (record->etag.size > 0)
		rt_web_answer_header(call->answer, call->request, "ETag",
				     rt_buf_str(&record->etag));
	rt_call_done(call, record->status);
}

/* A batch that was not done names the request that could not be. */
static void
answer_failure(changing *c, const rt_result *results, rt_status st)
{
	static const char *const stale = "read it again, and send the ETag of what you then see";
	rt_error err;
	size_t i = 0;
	rt_buf extra;

	while (i + 1 < c->change->count && (results[i].status != st ||
				    strncmp(results[i].error.text, "not done, since", 15) == 0))
		i++;
	err = results[i].error;
	err.status = st;
	rt_buf_init(&extra, c->call->request->alloc, RT_BUF_UNLIMITED);
	if (c->change->count > 1 && !c->change->is_one && st != RT_CONFLICT)
		rt_buf_add_f(&extra, ",\"index\":%zu", i);
	if (st == RT_DENIED)
		add_notes_to(&extra, rt_buf_str(&c->call->notes));
	rt_problem_answer(c->call->answer, &err, st == RT_CONFLICT ? stale : NULL,
			  rt_buf_str(&extra));
	rt_buf_deinit(&extra);
}

static void
answer_done(changing *c, const rt_result *results)
{
	rt_call *call = c->call;
	const rt_result one = joined(results, c->change->count);
	rt_store *store = rt_engine_store(call->open_project->engine);
	rt_idempotency_response record;
	rt_buf location;

	rt_buf_clear(&call->answer->body);
	add_answer(&call->answer->body, c, results);
	if (c->etag[0] == '\0')
		etag_unchanged(c, last_seq(results, c->change->count), rt_str_of(one.entry));
	/* Nothing was written, so nothing could be kept with it. */
	if (c->idem.row[0] != '\0' && !c->is_kept) {
		record = (rt_idempotency_response){.status = status_of(c, results),
						   .seq = one.seq,
						   .body = rt_buf_str(&call->answer->body),
						   .etag = rt_str_of(c->etag)};
		if (rt_idempotency_save(&c->idem, call->request->alloc, store,
					rt_engine_project_number(call->open_project->engine),
					&record, NULL) != RT_OK)
			rt_buf_add_c(&call->notes, "the answer could not be kept for a retry\n");
	}
	add_notes(call);
	if (c->etag[0] != '\0')
		rt_call_etag(call, c->etag);
	rt_buf_init(&location, call->request->alloc, RT_BUF_UNLIMITED);
	add_location(&location, c, results);
	if (location.size > 0)
		rt_web_answer_header(call->answer, call->request, "Location",
				     rt_buf_str(&location));
	rt_buf_deinit(&location);
	rt_call_done(call, status_of(c, results));
	if (call->open_project->feed != NULL)
		rt_feed_changed(call->open_project->feed);
}

/* It was found within a transaction, which may have come to nothing after that. */
static void
answer_again(changing *c)
{
	rt_engine *engine = c->call->open_project->engine;
	rt_error err;
	rt_status st;

	memset(&err, 0, sizeof(err));
	st = rt_idempotency_find(&c->idem, rt_engine_store(engine),
				 rt_engine_project_number(engine), &c->record, &err);
	if (st == RT_NOT_FOUND)
		(void)rt_fail(&err, RT_BUSY, "the same request was under way, and failed; try again");
	if (st == RT_OK)
		answer_from_record(c->call, &c->record);
	else
		(void)rt_call_failed(c->call, &err);
}

/* A purge that could not wipe the bytes is done, and its answer kept; a retry has to try anew. */
static void
fail(changing *c, const rt_result *results, rt_status st)
{
	rt_engine *engine = c->call->open_project->engine;

	if (c->is_kept && op_of(c, 0)->id == RT_OP_PURGE)
		(void)!rt_idempotency_drop(&c->idem, rt_engine_store(engine),
					   rt_engine_project_number(engine), NULL);
	answer_failure(c, results, st);
}

static bool
any_done(const rt_result *results, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (results[i].status == RT_OK)
			return true;
	return false;
}

static void
carry_out(changing *c)
{
	const rt_call_change *change = c->change;
	rt_call *call = c->call;
	rt_result *results = rt_arena_get(call->request->arena, c->change->count * sizeof(*results));
	rt_apply_context with = rt_open_project_context(call->open_project, c->by, &call->notes);
	bool is_batch = c->change->count > 1 && !change->is_atomic;
	size_t i;
	rt_status st;

	if (results == NULL) {
		(void)rt_call_nomem(call);
		return;
	}
	memset(results, 0, c->change->count * sizeof(*results));
	if (c->idem.row[0] != '\0' || c->if_match.ptr != NULL || change->check != NULL) {
		with.check = check;
		with.check_ctx = c;
	}
	if (!is_batch) {
		with.keep = keep;
		with.keep_ctx = c;
	}
	st = rt_apply(call->open_project->engine, &with, change->requests, change->count,
			   change->is_atomic && c->change->count > 1, change->disc,
			   change->names_takes ? rt_str_at(NULL, 0) : change->take, results);
	if (c->verdict != GO_ON)
		answer_again(c);
	else if (st == RT_OK || (is_batch && any_done(results, c->change->count)))
		answer_done(c, results);
	else
		fail(c, results, st);
	for (i = 0; i < c->change->count; i++)
		rt_result_deinit(&results[i]);
}

/* The headers; and whether it was asked before, so that hooks are not asked twice. */
static bool
begin(changing *c)
{
	rt_call *call = c->call;
	rt_engine *engine = call->open_project->engine;
	const rt_env *env = rt_project_pool_get_options(call->pool)->env;
	rt_error err;
	rt_status st;

	memset(&err, 0, sizeof(err));
	if (!rt_call_by(call, &c->by))
		return false;
	if (rt_web_header_repeats(call->request, "If-Match") > 1)
		return rt_call_refuse(call, "If-Match is there more than once");
	if (rt_web_header_repeats(call->request, "If-Match") == 1) {
		c->if_match = rt_web_header(call->request, "If-Match");
		if (c->if_match.size == 0)
			return rt_call_refuse(call, "If-Match is empty");
	} else if (call->needs_match) {
		rt_problem_http(call->answer, 428, "precondition-required",
				"This server wants If-Match with every change",
				"read what you want to change, and send its ETag");
		return false;
	}
	st = rt_idempotency_read_key(call->request, &call->principal, env->now_us(env->ctx),
				     &c->idem, &err);
	if (st != RT_OK)
		return rt_call_failed(call, &err);
	if (c->change->count > 1 && !c->change->is_atomic &&
	    (c->idem.row[0] != '\0' || c->if_match.ptr != NULL))
		return rt_call_refuse(
			call, "If-Match and Idempotency-Key are for one step; a batch that is "
			      "not atomic is several");
	st = rt_idempotency_find(&c->idem, rt_engine_store(engine),
				 rt_engine_project_number(engine), &c->record, &err);
	if (st == RT_OK)
		answer_from_record(call, &c->record);
	else if (st != RT_NOT_FOUND)
		return rt_call_failed(call, &err);
	return st != RT_OK;
}

void
rt_call_change_do(rt_call *call, const rt_call_change *change)
{
	changing c = {.call = call, .change = change, .verdict = GO_ON};

	rt_idempotency_record_init(&c.record, call->request->alloc);
	if (begin(&c))
		carry_out(&c);
	rt_idempotency_record_deinit(&c.record);
}

/* ---- other changes ---- */

bool
rt_call_replayed(rt_call *call)
{
	rt_engine *engine = call->open_project->engine;
	const rt_env *env = rt_project_pool_get_options(call->pool)->env;
	rt_idempotency_record record;
	rt_idempotency idem;
	bool is_done;

	rt_idempotency_record_init(&record, call->request->alloc);
	/* What is wrong with the key is said when the change is asked for. */
	is_done = rt_idempotency_read_key(call->request, &call->principal, env->now_us(env->ctx),
					  &idem, NULL) == RT_OK &&
		  rt_idempotency_find(&idem, rt_engine_store(engine),
				      rt_engine_project_number(engine), &record, NULL) == RT_OK;
	if (is_done)
		answer_from_record(call, &record);
	rt_idempotency_record_deinit(&record);
	return is_done;
}

bool
rt_call_begin(rt_call *call, rt_str disc, rt_str take, rt_idempotency **out_idem)
{
	rt_call_change change = {.is_atomic = true, .disc = disc, .take = take};
	changing c = {.call = call, .change = &change, .verdict = GO_ON};
	const rt_project *value = NULL;
	rt_idempotency *idem = rt_arena_get(call->request->arena, sizeof(*idem));
	rt_error err;
	bool go_on;
	rt_status st;

	memset(&err, 0, sizeof(err));
	if (idem == NULL)
		return rt_call_nomem(call);
	rt_idempotency_record_init(&c.record, call->request->alloc);
	go_on = begin(&c);
	*idem = c.idem;
	if (go_on && c.if_match.ptr != NULL) {
		c.idem.row[0] = '\0'; /* has been looked at */
		go_on = rt_call_value(call, &value);
		st = go_on ? check(&c, value, &err) : RT_OK;
		rt_object_unref(value);
		if (st != RT_OK)
			go_on = rt_call_failed(call, &err);
	}
	rt_idempotency_record_deinit(&c.record);
	*out_idem = idem;
	return go_on;
}

bool
rt_call_reserve(rt_call *call, const rt_idempotency *idem)
{
	rt_engine *engine = call->open_project->engine;
	rt_idempotency_record record;
	rt_error err;
	rt_status st;

	if (idem->row[0] == '\0')
		return true;
	memset(&err, 0, sizeof(err));
	rt_idempotency_record_init(&record, call->request->alloc);
	st = rt_idempotency_reserve(idem, rt_engine_store(engine), rt_engine_project_number(engine),
				    &record, &err);
	if (st == RT_CONFLICT)
		answer_from_record(call, &record);
	else if (st != RT_OK)
		(void)rt_call_failed(call, &err);
	rt_idempotency_record_deinit(&record);
	return st == RT_OK;
}

void
rt_call_keep(rt_call *call, const rt_idempotency *idem)
{
	const rt_web_answer *answer = call->answer;
	rt_store *store = rt_engine_store(call->open_project->engine);
	uint64_t project = rt_engine_project_number(call->open_project->engine);
	rt_str location = {NULL, 0};
	rt_idempotency_response record;
	rt_status st;
	size_t i;

	if (idem->row[0] == '\0')
		return;
	for (i = 0; i < answer->header_count; i++)
		if (rt_str_is(answer->headers[i].name, "Location"))
			location = answer->headers[i].value;
	record = (rt_idempotency_response){
		.status = answer->status, .body = rt_buf_str(&answer->body), .location = location};
	if (answer->status < 400)
		st = rt_idempotency_save(idem, call->request->alloc, store, project, &record, NULL);
	else
		st = rt_idempotency_drop(idem, store, project, NULL);
	(void)st; /* the answer stands; a retry is told at worst that it was begun */
}
