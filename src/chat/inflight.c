/* SPDX-License-Identifier: MIT
 *
 * Replies in flight: their side rows, and the recovery of rows whose process has ended. */
#include "chat/inflight.h"

#include <stdio.h>

#include "base/encode.h"
#include "codec/content.h"

static rt_status
was_taken(rt_inflight *f, rt_error *err)
{
	f->taken = true;
	return rt_fail(err, RT_CONFLICT,
		       "another process considered this reply abandoned and stored or discarded "
		       "the text so far; later text is not stored");
}

static rt_rows
row_of(const rt_engine *engine, rt_str name)
{
	return rt_rows_named(RT_STORE_SIDE, engine->project, name);
}

static rt_status
delete_row(rt_engine *engine, rt_str name, rt_error *err)
{
	return engine->store->ops->write(engine->store, row_of(engine, name), rt_str_at(NULL, 0),
					 err);
}

static void
free_doc(void *doc)
{
	rt_json_free(doc);
}

/* ---- the request that keeps a reply ---- */

static double
counted(size_t tokens)
{
	return tokens == SIZE_MAX ? 0 : (double)tokens;
}

/* "cost":0.0123; nothing where the price or the usage is unknown. */
static void
put_cost(rt_buf *fields, const rt_inflight *f, const rt_usage *usage)
{
	double cached = counted(usage->cache_read), input = counted(usage->input), cost;
	char number[40];

	if (f->price == NULL || (usage->input == SIZE_MAX && usage->output == SIZE_MAX))
		return;
	if (f->cache_apart)
		input += counted(usage->cache_write);
	else
		input = input > cached ? input - cached : 0;
	cost = (input * f->price->input + cached * f->price->cached +
		counted(usage->output) * f->price->output) / 1e6;
	(void)snprintf(number, sizeof(number), "%.6f", cost);
	rt_json_put_raw(fields, "cost", rt_str_of(number));
}

/* "duration_ms": since the request was sent; nothing where the clock was set back. */
static void
put_duration(rt_buf *fields, const rt_inflight *f)
{
	const rt_env *env = f->engine->env;
	int64_t since = env->now_us(env->ctx) - f->started_us;

	if (since >= 0)
		rt_json_put_i64(fields, "duration_ms", since / 1000);
}

/* Everything without a field of the operation is kept with the entry. */
static yyjson_val *
fields_of(rt_scope *scope, const rt_inflight *f, const rt_reply *reply, bool partial)
{
	rt_buf *fields = rt_scope_buf(scope);

	rt_json_open(fields, NULL, '{');
	rt_reply_add_fields(reply, fields);
	if (reply->model.size == 0)
		rt_json_put_str(fields, "model", f->model);
	/* the provider is a kind, of which there may be several */
	if (f->service.size > 0 && reply->provider != NULL &&
	    (f->into[0] != '\0' || !rt_str_is(f->service, reply->provider)))
		rt_json_put_str(fields, "service", f->service);
	put_cost(fields, f, &reply->usage);
	put_duration(fields, f);
	if (partial)
		rt_json_put_bool(fields, "partial", true);
	rt_json_close(fields, '}');
	return rt_json_parse(scope, rt_scope_str(scope, fields));
}

/* A reply that is still growing is finished in a copy: half of a call's arguments is not JSON, and
 * half of a character is not text. */
static const rt_reply *
finished(rt_scope *scope, const rt_inflight *f, rt_reply *copy)
{
	if (f->reply->finished)
		return f->reply;
	rt_reply_copy(f->reply, copy);
	rt_reply_finish(copy);
	if (copy->status != RT_OK)
		rt_scope_fail(scope, copy->status, "%s",
			      copy->status == RT_NOMEM ? "out of memory"
						       : "the text of a reply could not be stored");
	return copy;
}

/* Borrows from the reply, which is finished. */
static rt_request
request_of(rt_scope *scope, const rt_inflight *f, const rt_reply *reply, bool partial)
{
	rt_request r = {.op = RT_OP_ENTRY_REPLY,
			.discussion = rt_str_of(f->place.disc),
			.take = rt_str_of(f->place.take),
			.fork = f->fork ? RT_YES : RT_UNSET,
			.flight = rt_str_of(f->name)};

	if (!rt_ok(scope))
		return r;
	if (f->into[0] != '\0') { /* appended when it is kept: the text may still be edited */
		r.into = rt_str_of(f->into);
		r.join = RT_YES;
	} else {
		r.after = f->after[0] != '\0' ? rt_str_of(f->after) : RT_NULL_STR;
	}
	if (f->role.size > 0)
		r.role = f->role;
	r.content = rt_reply_content(scope, reply);
	r.source = fields_of(scope, f, reply, partial);
	r.prompt = f->prompt;
	return r;
}

/* ---- the side row ---- */

/* Fails the scope with RT_CONFLICT if the row is missing: once it contained a part of the reply,
 * the process that took it may have kept that as an entry, and a new row would be kept again. */
static void
replace_row(rt_scope *scope, rt_inflight *f, rt_str row)
{
	rt_store *store = f->engine->store;
	rt_rows at = row_of(f->engine, rt_str_of(f->name));
	rt_buf *old = rt_scope_buf(scope);

	if (f->taken)
		rt_scope_note(scope, was_taken(f, &scope->error));
	if (RT_TRY(scope, store->ops->begin(store, &scope->error)) != RT_OK)
		return;
	rt_status st = rt_store_get(store, at, old, NULL, &scope->error);
	rt_scope_note(scope, st == RT_NOT_FOUND ? was_taken(f, &scope->error) : st);
	RT_TRY(scope, store->ops->write(store, at, row, &scope->error));
	rt_store_end(store, scope);
}

static rt_status
write_row(rt_inflight *f, rt_error *err)
{
	rt_engine *engine = f->engine;
	rt_store *store = engine->store;
	rt_reply copy;
	rt_scope s;

	f->written_us = engine->env->now_us(engine->env->ctx);
	rt_scope_init(&s, engine->alloc);
	rt_reply_init(&copy, engine->alloc, NULL, NULL);
	rt_buf *row = rt_scope_buf(&s);
	rt_request request = request_of(&s, f, finished(&s, f, &copy), true);
	rt_json_open(row, NULL, '{');
	rt_json_put_u64(row, "v", 1);
	rt_json_put_str(row, "owner", f->owner);
	if (f->run.size > 0)
		rt_json_put_str(row, "run", f->run);
	rt_json_put_i64(row, "started", f->started_us);
	rt_json_put_i64(row, "written", f->written_us);
	rt_json_add_key(row, "request");
	if (rt_ok(&s))
		rt_request_write(row, &request);
	rt_json_close(row, '}');
	rt_str text = rt_scope_str(&s, row);
	if (f->written_size == 0)
		RT_TRY(&s, store->ops->write(store, row_of(engine, rt_str_of(f->name)), text,
					     &s.error));
	else
		replace_row(&s, f, text);
	if (rt_ok(&s))
		f->written_size = f->reply->size;
	rt_reply_deinit(&copy);
	return rt_scope_end(&s, err);
}

rt_status
rt_inflight_begin(rt_inflight *f, rt_error *err)
{
	const rt_env *env = f->engine->env;
	unsigned char random[16];
	size_t at = sizeof(RT_INFLIGHT_PREFIX) - 1;

	env->random(env->ctx, random, sizeof(random));
	memcpy(f->name, RT_INFLIGHT_PREFIX, at);
	rt_hex(random, sizeof(random), f->name + at);
	f->name[at + 2 * sizeof(random)] = '\0';
	f->started_us = env->now_us(env->ctx);
	return write_row(f, err);
}

rt_status
rt_inflight_write(rt_inflight *f, bool now, rt_error *err)
{
	const rt_env *env = f->engine->env;
	int64_t since = env->now_us(env->ctx) - f->written_us;

	if (f->reply->size == f->written_size)
		return RT_OK;
	if (!now && since >= 0 && since < RT_INFLIGHT_EVERY_US)
		return RT_OK;
	return write_row(f, err);
}

rt_status
rt_inflight_strand(rt_inflight *f, rt_error *err)
{
	f->owner = rt_str_at("", 0);
	return write_row(f, err);
}

rt_status
rt_inflight_drop(rt_inflight *f, rt_error *err)
{
	return delete_row(f->engine, rt_str_of(f->name), err);
}

static bool
has_row(const rt_inflight *f)
{
	rt_buf row;

	rt_buf_init(&row, f->engine->alloc, RT_BUF_UNLIMITED);
	rt_status st = rt_store_get(f->engine->store, row_of(f->engine, rt_str_of(f->name)), &row,
				    NULL, NULL);
	rt_buf_deinit(&row);
	return st != RT_NOT_FOUND; /* if it cannot be read, it may exist */
}

static rt_status
keep(rt_inflight *f, bool partial, rt_result *result)
{
	rt_reply copy;
	rt_scope s;

	memset(result, 0, sizeof(*result));
	rt_scope_init(&s, f->engine->alloc);
	rt_reply_init(&copy, f->engine->alloc, NULL, NULL);
	rt_request request = request_of(&s, f, finished(&s, f, &copy), partial);
	rt_apply_context apply = f->apply != NULL ? *f->apply : (rt_apply_context){0};
	apply.is_asked = true;
	if (rt_ok(&s)) {
		rt_scope_note(&s, rt_apply(f->engine, &apply, &request, 1, false, RT_STR(""),
					   RT_STR(""), result));
	} else {
		result->status = s.status;
		result->error = s.error;
	}
	rt_reply_deinit(&copy);
	return rt_scope_end(&s, NULL);
}

rt_status
rt_inflight_keep(rt_inflight *f, bool partial, rt_result *result)
{
	rt_error err;
	rt_status st = keep(f, partial, result);

	/* is the place missing, or the row? */
	if (st != RT_NOT_FOUND || has_row(f))
		return st;
	rt_result_deinit(result);
	if (f->written_size == 0) { /* it contained nothing to keep */
		st = write_row(f, &err);
		if (st == RT_OK)
			return keep(f, partial, result);
	} else {
		st = was_taken(f, &err);
	}
	*result = (rt_result){.status = st, .error = err};
	return st;
}

/* ---- rows of other processes ---- */

typedef struct row {
	struct row *next;
	rt_str name, json;
	yyjson_val *request; /* NULL: the row cannot be decoded */
	rt_inflight_view view; /* of such a row only the name */
} row;

typedef struct rows {
	rt_scope *scope;
	row *first, **end;
} rows;

static bool
gather(void *ctx, const rt_store_row *found)
{
	rows *all = ctx;

	row *r = rt_scope_get(all->scope, sizeof(*r));
	if (r == NULL)
		return false;
	r->name = rt_scope_copy(all->scope, found->name);
	r->json = rt_scope_copy(all->scope, found->data);
	*all->end = r;
	all->end = &r->next;
	return rt_ok(all->scope);
}

static row *
read_rows(rt_scope *scope, rt_engine *engine)
{
	rows all = {.scope = scope, .end = &all.first};
	rt_store *store = engine->store;

	RT_TRY(scope, store->ops->read(store,
				       rt_rows_prefixed(engine->project, RT_STR(RT_INFLIGHT_PREFIX)),
				       gather, &all, &scope->error));
	return all.first;
}

/* Reads a row's JSON into its view, within its own scope. Fails that only if the row is not the
 * cause. */
static void
parse_row(rt_scope *scope, row *r)
{
	rt_inflight_view *v = &r->view;
	rt_json_doc *doc;
	rt_status st = rt_json_read(scope->alloc, r->json, &doc, &scope->error);

	*v = (rt_inflight_view){.name = r->name};
	r->request = NULL;
	if (st == RT_USAGE || st == RT_LIMIT)
		return;
	if (rt_scope_note(scope, st) != RT_OK)
		return;
	rt_scope_defer(scope, free_doc, doc);
	yyjson_val *root = rt_json_root(doc), *request = rt_json_get(root, "request");
	if (!rt_ok(scope) || !yyjson_is_obj(request) ||
	    !rt_json_i64(rt_json_get(root, "started"), &v->started_us) ||
	    !rt_json_i64(rt_json_get(root, "written"), &v->written_us))
		return;
	rt_buf *text = rt_scope_buf(scope);
	rt_content_add_text(text, rt_content_of(rt_json_get(request, "content")));
	r->request = request;
	v->owner = rt_json_str(rt_json_get(root, "owner"));
	v->run = rt_json_str(rt_json_get(root, "run"));
	v->discussion = rt_json_str(rt_json_get(request, "discussion"));
	v->take = rt_json_str(rt_json_get(request, "take"));
	v->after = rt_json_str(rt_json_get(request, "after"));
	v->into = rt_json_str(rt_json_get(request, "into"));
	v->model = rt_json_str(rt_json_get(request, "model"));
	v->text = rt_scope_str(scope, text);
}

/* Does the request have anything to keep: content, or thinking that arrived before it? */
static bool
has_content(yyjson_val *request)
{
	yyjson_val *content = rt_json_get(request, "content");

	return yyjson_get_len(content) > 0 || rt_json_get(request, "thinking_segments") != NULL;
}

/* Is the row itself the problem, and not a store that cannot be written now? */
static bool
is_of_row(rt_status st)
{
	return st == RT_USAGE || st == RT_LIMIT || st == RT_REFUSED || st == RT_CONFLICT ||
	       st == RT_AMBIGUOUS || st == RT_NOT_FOUND;
}

static rt_status
keep_row(rt_engine *engine, const row *r, size_t *kept, rt_error *err)
{
	char disc[RT_ADDRESS_SIZE], take[RT_ADDRESS_SIZE];
	rt_request request;
	rt_result result;
	rt_status st;

	if (!has_content(r->request))
		return delete_row(engine, r->name, err);
	st = rt_request_read(r->request, &request, err);
	if (st != RT_OK)
		return st;
	request.discussion = rt_address_by_id(request.discussion, disc);
	request.take = rt_address_by_id(request.take, take);
	st = rt_engine_apply(engine, &request, 1, false, RT_STR(""), RT_STR(""), &result);
	if (st == RT_OK)
		++*kept;
	else
		*err = result.error;
	rt_result_deinit(&result);
	return st;
}

rt_status
rt_engine_keep_left(rt_engine *engine, rt_owner_lives_fn lives, void *ctx, size_t *out_kept,
		    rt_error *err)
{
	size_t kept = 0;
	rt_scope s;

	if (out_kept != NULL)
		*out_kept = 0;
	if (engine->read_only)
		return RT_OK;
	rt_scope_init(&s, engine->alloc);
	for (row *r = read_rows(&s, engine); r != NULL && rt_ok(&s); r = r->next) {
		rt_scope one;

		rt_scope_init(&one, engine->alloc);
		parse_row(&one, r);
		if (rt_ok(&one) && r->request != NULL &&
		    !lives(ctx, r->view.owner, r->view.written_us))
			RT_TRY(&one, keep_row(engine, r, &kept, &one.error));
		rt_status st = rt_scope_end(&one, &s.error);
		if (!is_of_row(st)) /* such a row stays; the others are processed */
			rt_scope_note(&s, st);
	}
	if (out_kept != NULL)
		*out_kept = kept;
	return rt_scope_end(&s, err);
}

/* The request's members, with "partial" among them. */
static yyjson_val *
partial_fields(rt_scope *scope, yyjson_val *request)
{
	rt_buf *fields = rt_scope_buf(scope);
	yyjson_val *key, *value;
	size_t i, max;

	rt_json_open(fields, NULL, '{');
	rt_json_put_bool(fields, "partial", true);
	rt_json_foreach(request, i, max, key, value)
	{
		if (rt_str_is(rt_json_str(key), "partial"))
			continue;
		rt_json_add_key_str(fields, rt_json_str(key));
		rt_json_add_value(fields, value);
	}
	rt_json_close(fields, '}');
	return rt_json_parse(scope, rt_scope_str(scope, fields));
}

/* Makes an entry of a reply that has lost its place, in a new take. is_raw: the text of the entry
 * is the row itself. */
static rt_status
rescue(rt_engine *engine, const row *r, bool is_raw, rt_rescued_fn fn, void *ctx, rt_error *err)
{
	const rt_project *value;
	rt_request request = {.op = RT_OP_ENTRY_REPLY, .content.text = r->json};
	char disc[RT_ADDRESS_SIZE];
	rt_result result;
	rt_place place;
	rt_status st;
	rt_scope s;

	rt_scope_init(&s, engine->alloc);
	if (!is_raw)
		RT_TRY(&s, rt_request_read(r->request, &request, &s.error));
	request.source = partial_fields(&s, is_raw ? NULL : r->request);
	if (!rt_ok(&s))
		return rt_scope_end(&s, err);
	request.after = RT_NULL_STR;
	request.fork = RT_YES;
	request.flight = r->name;
	request.into = request.id = request.take = request.discussion = (rt_str){0};
	request.join = request.by_hand = RT_UNSET;
	value = rt_engine_value(engine);
	if (r->view.discussion.size > 0 &&
	    rt_resolve_place(value, rt_address_by_id(r->view.discussion, disc), RT_STR(""), &place,
			     NULL) == RT_OK)
		request.discussion = rt_address_by_id(r->view.discussion, disc);
	rt_object_unref(value);
	st = rt_engine_apply(engine, &request, 1, false, RT_STR(""), RT_STR(""), &result);
	if (st != RT_OK)
		*err = result.error;
	if (st == RT_OK && fn != NULL) {
		rt_rescued rescued = {r->view.discussion, rt_str_of(result.take),
				      rt_str_of(result.entry),
				      is_raw ? r->json.size : r->view.text.size};

		fn(ctx, &rescued);
	}
	rt_result_deinit(&result);
	rt_scope_deinit(&s);
	return st;
}

rt_status
rt_engine_rescue(rt_engine *engine, rt_owner_lives_fn lives, void *lives_ctx, rt_rescued_fn fn,
		 void *ctx, rt_error *err)
{
	rt_status st = rt_engine_keep_left(engine, lives, lives_ctx, NULL, err);
	rt_scope s;

	if (st != RT_OK)
		return st;
	rt_scope_init(&s, engine->alloc);
	for (row *r = read_rows(&s, engine); r != NULL && rt_ok(&s); r = r->next) {
		rt_scope one;

		rt_scope_init(&one, engine->alloc);
		parse_row(&one, r);
		if (rt_ok(&one) && (r->request == NULL ||
				    !lives(lives_ctx, r->view.owner, r->view.written_us))) {
			st = r->request == NULL
				     ? RT_USAGE
				     : rescue(engine, r, false, fn, ctx, &one.error);
			if (is_of_row(st))
				st = rescue(engine, r, true, fn, ctx, &one.error);
			if (!is_of_row(st)) /* fsck still reports such a row */
				rt_scope_note(&one, st);
		}
		(void)rt_scope_join(&s, &one);
	}
	return rt_scope_end(&s, err);
}

/* Does the entry that it answers or continues still exist? Assumed if unknown. */
static bool
has_place(const rt_project *value, const rt_inflight_view *v)
{
	rt_str address = v->into.size > 0 ? v->into : v->after;
	const rt_disc *disc;
	const rt_take *take;
	rt_place place;
	uint32_t entry;
	bool found = true;
	size_t at;
	char in_disc[RT_ADDRESS_SIZE], in_take[RT_ADDRESS_SIZE];
	rt_status st = rt_resolve_place(value, rt_address_by_id(v->discussion, in_disc),
					rt_address_by_id(v->take, in_take), &place, NULL);

	if (st == RT_OK)
		st = rt_project_disc(value, place.disc, &disc, NULL);
	if (st == RT_OK) {
		take = rt_disc_take(disc, place.take);
		if (!take->present)
			return false;
		if (address.size > 0)
			st = rt_resolve_entry(value, place, address, true, &entry, NULL);
		if (st == RT_OK && address.size > 0)
			st = rt_take_find(value, take, entry, &at, NULL, &found, NULL);
	}
	return st == RT_OK ? found : st != RT_NOT_FOUND && st != RT_AMBIGUOUS;
}

rt_status
rt_engine_inflight(rt_engine *engine, rt_inflight_fn fn, void *ctx, rt_error *err)
{
	const rt_project *value = rt_engine_value(engine);
	bool go_on = true;
	rt_scope s;

	rt_scope_init(&s, engine->alloc);
	for (row *r = read_rows(&s, engine); r != NULL && go_on && rt_ok(&s); r = r->next) {
		rt_scope one;

		rt_scope_init(&one, engine->alloc);
		parse_row(&one, r);
		r->view.is_broken = r->request == NULL;
		r->view.is_stranded = r->view.is_broken || !has_place(value, &r->view);
		if (rt_ok(&one))
			go_on = fn(ctx, &r->view);
		(void)rt_scope_join(&s, &one);
	}
	rt_object_unref(value);
	return rt_scope_end(&s, err);
}

/* ---- fsck ---- */

typedef struct reply_check {
	rt_fsck_fn fn;
	void *ctx;
} reply_check;

static bool
check_reply(void *ctx, const rt_inflight_view *v)
{
	const reply_check *c = ctx;

	if (v->is_broken)
		return rt_finding_give(c->fn, c->ctx, "warning", "reply-unreadable",
				       "side row %.*s no longer belongs to a reply; retake "
				       "repair moves its text to a new take",
				       RT_STR_ARG(v->name));
	if (v->is_stranded)
		return rt_finding_give(c->fn, c->ctx, "note", "reply-stranded",
				       "%zu bytes of a reply are stored separately because the "
				       "entry it answers was deleted; restore that entry to add "
				       "them after it, or run retake repair to move them to a "
				       "new take",
				       v->text.size);
	return true;
}

rt_status
rt_engine_fsck_replies(rt_engine *engine, rt_fsck_fn fn, void *ctx, rt_error *err)
{
	reply_check c = {fn, ctx};
	rt_status st = rt_engine_inflight(engine, check_reply, &c, err);

	return st == RT_CORRUPT ? RT_OK : st; /* the store's check reports a damaged side row */
}
