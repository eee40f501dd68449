/* SPDX-License-Identifier: MIT
 *
 * Replies in flight: their side rows, and what becomes of rows whose process is gone. */
#include "chat/inflight.h"

#include "base/encode.h"
#include "codec/content.h"
#include "ops/hook_call.h"

static rt_status
nomem(rt_error *err)
{
	return rt_fail(err, RT_NOMEM, "out of memory while a reply arrived");
}

static rt_status
was_taken(rt_inflight *f, rt_error *err)
{
	f->taken = true;
	return rt_fail(err, RT_CONFLICT,
		       "another process has taken what had arrived of the reply for left behind, "
		       "and kept it or given it up; what came later is not kept");
}

/* What keeps the reply, which is finished. */
static void
add_finished(const rt_inflight *f, const rt_reply *reply, bool partial, rt_buf *buf)
{
	rt_buf_add_c(buf, "{\"op\":\"entry.reply\"");
	rt_hook_call_add_member(buf, "discussion", rt_str_of(f->discussion));
	rt_hook_call_add_member(buf, "take", rt_str_of(f->take));
	if (f->into[0] != '\0') { /* behind what that says when it is kept: it may be edited yet */
		rt_hook_call_add_member(buf, "into", rt_str_of(f->into));
		rt_buf_add_c(buf, ",\"join\":true");
	} else if (f->after[0] != '\0') {
		rt_hook_call_add_member(buf, "after", rt_str_of(f->after));
	} else {
		rt_buf_add_c(buf, ",\"after\":null");
	}
	if (f->fork)
		rt_buf_add_c(buf, ",\"fork\":true");
	if (f->role.size > 0)
		rt_hook_call_add_member(buf, "role", f->role);
	rt_json_add_key(buf, "content");
	rt_reply_add_content(reply, buf);
	rt_reply_add_fields(reply, buf);
	if (reply->model.size == 0)
		rt_hook_call_add_member(buf, "model", f->model);
	/* the provider is a kind, of which there may be several */
	if (f->service.size > 0 && reply->provider != NULL &&
	    (f->into[0] != '\0' || !rt_str_is(f->service, reply->provider)))
		rt_hook_call_add_member(buf, "service", f->service);
	if (partial)
		rt_buf_add_c(buf, ",\"partial\":true");
	rt_hook_call_add_member(buf, "flight", rt_str_of(f->name));
	rt_buf_add_byte(buf, '}');
}

/* What keeps the reply as it is now. One that is still growing is finished in a copy:
 * half of a call's arguments is no JSON, and half of a character no text. */
static rt_status
add_request(const rt_inflight *f, bool partial, rt_buf *buf, rt_error *err)
{
	rt_reply copy;
	rt_status st = RT_OK;

	if (f->reply->finished) {
		add_finished(f, f->reply, partial, buf);
		return RT_OK;
	}
	rt_reply_copy(f->reply, &copy);
	rt_reply_finish(&copy);
	if (copy.status == RT_OK)
		add_finished(f, &copy, partial, buf);
	else
		st = rt_fail(err, copy.status, "a reply could not be written down");
	rt_reply_deinit(&copy);
	return st;
}

/* Put the row into the store. Once it had something of the reply, whoever finds it may have
 * kept that as an entry; written anew it would be kept again. */
static rt_status
put_row(rt_inflight *f, rt_str row, rt_error *err)
{
	rt_store *store = f->engine->store;
	rt_buf old;
	rt_status st;

	if (f->written_size == 0)
		return store->ops->write(
			store, rt_rows_named(RT_STORE_SIDE, f->engine->project, rt_str_of(f->name)),
			row, err);
	if (f->taken)
		return was_taken(f, err);
	st = store->ops->begin(store, err);
	if (st != RT_OK)
		return st;
	rt_buf_init(&old, f->engine->alloc, RT_BUF_UNLIMITED);
	st = rt_store_get(store,
			  rt_rows_named(RT_STORE_SIDE, f->engine->project, rt_str_of(f->name)),
			  &old, NULL, err);
	rt_buf_deinit(&old);
	if (st == RT_NOT_FOUND)
		st = was_taken(f, err);
	if (st == RT_OK)
		st = store->ops->write(
			store, rt_rows_named(RT_STORE_SIDE, f->engine->project, rt_str_of(f->name)),
			row, err);
	if (st == RT_OK)
		st = store->ops->commit(store, err);
	if (st != RT_OK)
		store->ops->cancel(store);
	return st;
}

static rt_status
write_row(rt_inflight *f, rt_error *err)
{
	rt_engine *engine = f->engine;
	rt_buf row;
	rt_status st;

	f->written_us = engine->env->now_us(engine->env->ctx);
	rt_buf_init(&row, engine->alloc, RT_BUF_UNLIMITED);
	rt_buf_add_c(&row, "{\"v\":1");
	rt_hook_call_add_member(&row, "owner", f->owner);
	rt_json_add_key(&row, "started");
	rt_buf_add_i64(&row, f->started_us);
	rt_json_add_key(&row, "written");
	rt_buf_add_i64(&row, f->written_us);
	rt_json_add_key(&row, "request");
	st = add_request(f, true, &row, err);
	rt_buf_add_byte(&row, '}');
	if (st == RT_OK && row.status != RT_OK)
		st = nomem(err);
	if (st == RT_OK)
		st = put_row(f, rt_buf_str(&row), err);
	rt_buf_deinit(&row);
	if (st == RT_OK)
		f->written_size = f->reply->size;
	return st;
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
	rt_engine *engine = f->engine;

	return engine->store->ops->write(
		engine->store, rt_rows_named(RT_STORE_SIDE, engine->project, rt_str_of(f->name)),
		rt_str_at(NULL, 0), err);
}

/* Is the row there? */
static rt_status
find_row(const rt_inflight *f, bool *out, rt_error *err)
{
	rt_buf row;
	rt_status st;

	rt_buf_init(&row, f->engine->alloc, RT_BUF_UNLIMITED);
	st = rt_store_get(f->engine->store,
			  rt_rows_named(RT_STORE_SIDE, f->engine->project, rt_str_of(f->name)),
			  &row, NULL, err);
	rt_buf_deinit(&row);
	*out = st == RT_OK;
	return st == RT_NOT_FOUND ? RT_OK : st;
}

static rt_status keep(rt_inflight *f, bool partial, rt_result *result);

rt_status
rt_inflight_keep(rt_inflight *f, bool partial, rt_result *result)
{
	bool there = false;
	rt_error err;
	rt_status st = keep(f, partial, result);

	/* is it the place that is gone, or the row? */
	if (st != RT_NOT_FOUND || find_row(f, &there, &err) != RT_OK || there)
		return st;
	rt_result_deinit(result);
	if (f->written_size == 0) { /* there was nothing in it to be kept */
		st = write_row(f, &err);
		if (st == RT_OK)
			return keep(f, partial, result);
	} else {
		st = was_taken(f, &err);
	}
	memset(result, 0, sizeof(*result));
	result->status = st;
	result->error = err;
	return st;
}

static rt_status
keep(rt_inflight *f, bool partial, rt_result *result)
{
	rt_json_doc *doc = NULL;
	yyjson_val *root;
	rt_buf request;
	rt_error err;
	rt_status st;

	memset(result, 0, sizeof(*result));
	rt_buf_init(&request, f->engine->alloc, RT_BUF_UNLIMITED);
	st = add_request(f, partial, &request, &err);
	if (st == RT_OK && request.status != RT_OK)
		st = nomem(&err);
	if (st == RT_OK)
		st = rt_json_read(f->engine->alloc, rt_buf_str(&request), &doc, &err);
	if (st == RT_OK) {
		root = rt_json_root(doc);
		st = rt_apply_unhooked_json(f->engine, f->act, &root, 1, false, rt_str_at(NULL, 0),
					    rt_str_at(NULL, 0), result);
	} else {
		result->status = st;
		result->error = err;
	}
	rt_json_free(doc);
	rt_buf_deinit(&request);
	return st;
}

/* ---- rows of others ---- */

typedef struct left {
	const rt_alloc *alloc;
	rt_buf names; /* each ended by a NUL */
	rt_buf values;
	size_t *ends; /* of the values */
	size_t count, room;
	bool nomem;
} left;

static bool
gather(void *ctx, const rt_store_row *row)
{
	left *l = ctx;

	if (!rt_str_starts(row->name, RT_STR(RT_INFLIGHT_PREFIX)))
		return true;
	if (l->count == l->room) {
		size_t room = l->room == 0 ? 8 : l->room * 2;
		size_t *more = rt_resize(l->alloc, l->ends, room * sizeof(*more));

		if (more == NULL) {
			l->nomem = true;
			return false;
		}
		l->ends = more;
		l->room = room;
	}
	rt_buf_add_str(&l->names, row->name);
	rt_buf_add_byte(&l->names, '\0');
	rt_buf_add_str(&l->values, row->data);
	l->ends[l->count++] = l->values.size;
	return true;
}

static rt_status
gather_all(rt_engine *engine, left *l, rt_error *err)
{
	rt_status st;

	memset(l, 0, sizeof(*l));
	l->alloc = engine->alloc;
	rt_buf_init(&l->names, engine->alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&l->values, engine->alloc, RT_BUF_UNLIMITED);
	st = engine->store->ops->read(engine->store, rt_rows_all(RT_STORE_SIDE, engine->project),
				      gather, l, err);
	if (st == RT_OK && (l->nomem || l->names.status != RT_OK || l->values.status != RT_OK))
		st = nomem(err);
	return st;
}

static void
left_deinit(left *l)
{
	rt_buf_deinit(&l->names);
	rt_buf_deinit(&l->values);
	rt_free(l->alloc, l->ends);
}

/* Take a row apart; false: it is not one of ours. */
static bool
view_of(rt_json_doc *doc, rt_str name, rt_inflight_view *v)
{
	yyjson_val *root = rt_json_root(doc), *request = rt_json_get(root, "request");

	memset(v, 0, sizeof(*v));
	v->name = name;
	v->owner = rt_json_str(rt_json_get(root, "owner"));
	v->discussion = rt_json_str(rt_json_get(request, "discussion"));
	v->take = rt_json_str(rt_json_get(request, "take"));
	v->after = rt_json_str(rt_json_get(request, "after"));
	v->into = rt_json_str(rt_json_get(request, "into"));
	v->model = rt_json_str(rt_json_get(request, "model"));
	return rt_json_i64(rt_json_get(root, "started"), &v->started_us) &&
	       rt_json_i64(rt_json_get(root, "written"), &v->written_us) && yyjson_is_obj(request);
}

/* Has the request anything to keep: a content, or thinking that came before one? */
static bool
has_content(yyjson_val *request)
{
	yyjson_val *content = rt_json_get(request, "content");

	return yyjson_get_len(content) > 0 || rt_json_get(request, "thinking_segments") != NULL;
}

static rt_status
keep_one(rt_engine *engine, const rt_inflight_view *v, yyjson_val *request, size_t *kept,
	 rt_error *err)
{
	rt_result result;
	rt_status st;

	if (!has_content(request)) /* nothing to keep */
		return engine->store->ops->write(
			engine->store, rt_rows_named(RT_STORE_SIDE, engine->project, v->name),
			rt_str_at(NULL, 0), err);
	st = rt_engine_apply_json(engine, &request, 1, false, rt_str_at(NULL, 0), rt_str_at(NULL, 0),
			     &result);
	if (st == RT_OK)
		++*kept;
	else if (err != NULL)
		*err = result.error;
	rt_result_deinit(&result);
	return st;
}

/* Is what it answers or continues still there? What cannot be said counts as there. */
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
	rt_status st = rt_resolve_place(value, v->discussion, v->take, &place, NULL);

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

/* Is it the row that cannot be kept, and not the store that cannot be written now? */
static bool
is_of_row(rt_status st)
{
	return st == RT_USAGE || st == RT_LIMIT || st == RT_REFUSED || st == RT_CONFLICT ||
	       st == RT_AMBIGUOUS || st == RT_NOT_FOUND;
}

rt_status
rt_engine_keep_left(rt_engine *engine, rt_owner_lives_fn lives, void *ctx, size_t *out_kept,
		    rt_error *err)
{
	const char *name;
	size_t i, kept = 0, from = 0;
	left l;
	rt_status st;

	if (out_kept != NULL)
		*out_kept = 0;
	if (engine->read_only)
		return RT_OK;
	st = gather_all(engine, &l, err);
	name = l.names.ptr;
	for (i = 0; st == RT_OK && i < l.count; i++) {
		rt_str bytes = rt_str_at(l.values.ptr + from, l.ends[i] - from);
		rt_json_doc *doc = NULL;
		rt_inflight_view v;

		from = l.ends[i];
		st = rt_json_read(engine->alloc, bytes, &doc, err);
		if (st == RT_OK && view_of(doc, rt_str_of(name), &v) && !lives(ctx, v.owner, v.written_us))
			st = keep_one(engine, &v, rt_json_get(rt_json_root(doc), "request"), &kept,
				      err);
		if (is_of_row(st))
			st = RT_OK; /* it stays; the others do not wait for it */
		rt_json_free(doc);
		name += strlen(name) + 1;
	}
	left_deinit(&l);
	if (out_kept != NULL)
		*out_kept = kept;
	return st;
}

/* The request that keeps a stranded reply behind nothing, in a take of its own. raw: the row
 * as it is becomes its text. */
static void
add_rescue(rt_buf *out, const rt_project *value, const rt_inflight_view *v, yyjson_val *request,
	   rt_str raw)
{
	static const char *const not[] = {"op",   "after", "into",    "join",       "fork",
					  "take", "flight", "partial", "discussion", "id",
					  "by_hand"};
	yyjson_val *key, *item;
	rt_place place;
	size_t i, max, n;

	rt_buf_add_c(out, "{\"op\":\"entry.reply\",\"after\":null,\"fork\":true,\"partial\":true");
	rt_hook_call_add_member(out, "flight", v->name);
	if (v->discussion.size > 0 &&
	    rt_resolve_place(value, v->discussion, rt_str_at("", 0), &place, NULL) == RT_OK)
		rt_hook_call_add_member(out, "discussion", v->discussion);
	if (raw.size > 0) {
		rt_hook_call_add_member(out, "content", raw);
	} else {
		yyjson_obj_foreach(request, i, max, key, item)
		{
			for (n = 0; n < sizeof(not) / sizeof(not[0]); n++)
				if (rt_str_is(rt_json_str(key), not[n]))
					break;
			if (n < sizeof(not) / sizeof(not[0]))
				continue;
			rt_json_add_comma(out);
			rt_json_add_value(out, key);
			rt_buf_add_byte(out, ':');
			rt_json_add_value(out, item);
		}
	}
	rt_buf_add_byte(out, '}');
}

static rt_status
rescue_one(rt_engine *engine, const rt_inflight_view *v, yyjson_val *request, rt_str raw,
	   rt_rescued_fn fn, void *ctx, rt_error *err)
{
	const rt_project *value = rt_engine_value(engine);
	rt_result result;
	rt_buf json;
	rt_status st;

	memset(&result, 0, sizeof(result));
	rt_buf_init(&json, engine->alloc, RT_BUF_UNLIMITED);
	add_rescue(&json, value, v, request, raw);
	rt_object_unref(value);
	if (json.status != RT_OK) {
		st = nomem(err);
	} else {
		st = rt_engine_apply_text(engine, rt_buf_str(&json), rt_str_at(NULL, 0),
					  rt_str_at(NULL, 0), &result);
		if (st != RT_OK && err != NULL)
			*err = result.error;
	}
	if (st == RT_OK && fn != NULL) {
		rt_rescued told = {v->discussion, rt_str_of(result.take), rt_str_of(result.entry),
				   raw.size > 0 ? raw.size : v->text.size};

		fn(ctx, &told);
	}
	rt_result_deinit(&result);
	rt_buf_deinit(&json);
	return st;
}

rt_status
rt_engine_rescue(rt_engine *engine, rt_owner_lives_fn lives, void *lives_ctx, rt_rescued_fn fn,
		 void *ctx, rt_error *err)
{
	const char *name;
	size_t i, from = 0;
	left l;
	rt_status st = rt_engine_keep_left(engine, lives, lives_ctx, NULL, err);

	if (st != RT_OK)
		return st;
	st = gather_all(engine, &l, err);
	name = l.names.ptr;
	for (i = 0; st == RT_OK && i < l.count; i++) {
		rt_str bytes = rt_str_at(l.values.ptr + from, l.ends[i] - from);
		rt_json_doc *doc = NULL;
		rt_inflight_view v;
		rt_buf text;
		bool good;

		from = l.ends[i];
		rt_buf_init(&text, engine->alloc, RT_BUF_UNLIMITED);
		st = rt_json_read(engine->alloc, bytes, &doc, err);
		good = st == RT_OK && view_of(doc, rt_str_of(name), &v);
		if (is_of_row(st))
			st = RT_OK;
		if (!good) {
			memset(&v, 0, sizeof(v));
			v.name = rt_str_of(name);
		}
		if (st == RT_OK && !(good && lives(lives_ctx, v.owner, v.written_us))) {
			yyjson_val *request =
				good ? rt_json_get(rt_json_root(doc), "request") : NULL;

			rt_content_add_text(&text, rt_content_of(rt_json_get(request, "content")));
			v.text = rt_buf_str(&text);
			st = good ? rescue_one(engine, &v, request, rt_str_at("", 0), fn, ctx, err)
				  : RT_USAGE;
			if (is_of_row(st))
				st = rescue_one(engine, &v, NULL, bytes, fn, ctx, err);
			if (is_of_row(st))
				st = RT_OK; /* fsck still says so */
		}
		rt_buf_deinit(&text);
		rt_json_free(doc);
		name += strlen(name) + 1;
	}
	left_deinit(&l);
	return st;
}

rt_status
rt_engine_inflight(rt_engine *engine, rt_inflight_fn fn, void *ctx, rt_error *err)
{
	const rt_project *value = rt_engine_value(engine);
	const char *name;
	size_t i, from = 0;
	bool go_on = true;
	left l;
	rt_status st = gather_all(engine, &l, err);

	name = l.names.ptr;
	for (i = 0; st == RT_OK && go_on && i < l.count; i++) {
		rt_str bytes = rt_str_at(l.values.ptr + from, l.ends[i] - from);
		rt_json_doc *doc = NULL;
		rt_inflight_view v;
		rt_buf text;

		from = l.ends[i];
		st = rt_json_read(engine->alloc, bytes, &doc, err);
		if (st == RT_OK && view_of(doc, rt_str_of(name), &v)) {
			yyjson_val *request = rt_json_get(rt_json_root(doc), "request");

			rt_buf_init(&text, engine->alloc, RT_BUF_UNLIMITED);
			rt_content_add_text(&text, rt_content_of(rt_json_get(request, "content")));
			v.text = rt_buf_str(&text);
			v.is_stranded = !has_place(value, &v);
			if (text.status != RT_OK)
				st = nomem(err);
			else
				go_on = fn(ctx, &v);
			rt_buf_deinit(&text);
		} else if (st == RT_OK || is_of_row(st)) {
			memset(&v, 0, sizeof(v));
			v.name = rt_str_of(name);
			v.is_broken = v.is_stranded = true;
			st = RT_OK;
			go_on = fn(ctx, &v);
		}
		rt_json_free(doc);
		name += strlen(name) + 1;
	}
	left_deinit(&l);
	rt_object_unref(value);
	return st;
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
				       "side row %.*s is no reply any more; retake repair puts what "
				       "it says into a take of its own",
				       RT_STR_ARG(v->name));
	if (v->is_stranded)
		return rt_finding_give(c->fn, c->ctx, "note", "reply-stranded",
				       "%zu bytes of a reply lie aside, for what it answers is gone; "
				       "when that is back they are kept there, else retake repair "
				       "puts them into a take of their own",
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
