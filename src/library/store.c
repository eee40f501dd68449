/* SPDX-License-Identifier: MIT
 *
 * Stores: opened, listed, copied, checked. */
#include "library/library_impl.h"

#include <stdatomic.h>

#include "chat/send.h"
#include "codec/json.h"
#include "llm/system_host.h"
#include "log/collect.h"
#include "store/store_open.h"

retake_status
rt_library_store_open(const rt_alloc *alloc, const rt_env *env, const char *path,
		      const retake_store_options *options, retake_store **out_store,
		      retake_error *error)
{
	retake_store_options own;
	rt_store_options how;
	retake_store *store = NULL;
	rt_library_call c;
	rt_scope *s = rt_library_begin(&c, alloc);

	rt_library_require(s, path, "path");
	rt_library_require(s, out_store, "output parameter for the store");
	rt_library_options(s, options, &own, sizeof(own), "store's options");
	if (rt_ok(s) && *path == '\0')
		rt_scope_fail(s, RT_USAGE, "the path is empty");
	if (rt_ok(s)) {
		store = rt_new0(alloc, sizeof(*store));
		if (store == NULL)
			rt_scope_nomem(s);
	}
	if (rt_ok(s))
		how = (rt_store_options){.create = own.create != 0 && own.read_only == 0,
					 .read_only = own.read_only != 0,
					 .relaxed = own.relaxed != 0};
	RT_TRY(s, rt_store_open(alloc, env, path, &how, &store->store, &s->error));
	if (rt_ok(s)) {
		store->alloc = alloc;
		store->env = env;
		atomic_init(&store->refs, 1);
		*out_store = store;
	} else {
		rt_free(alloc, store);
	}
	return rt_library_end(&c, NULL, error);
}

retake_status
retake_store_open(const char *path, const retake_store_options *options, retake_store **out_store,
		  retake_error *error)
{
	return rt_library_store_open(rt_alloc_libc(), rt_system_env(), path, options, out_store,
				     error);
}

void
retake_store_close(retake_store *store)
{
	if (store == NULL || atomic_fetch_sub_explicit(&store->refs, 1, memory_order_acq_rel) > 1)
		return;
	store->store->ops->close(store->store);
	rt_free(store->alloc, store);
}

/* ---- projects ---- */

static bool
add_name(void *ctx, const rt_store_row *row)
{
	rt_buf *buf = ctx;

	if (rt_store_is_reserved(row->data))
		return true;
	rt_json_put_str(buf, NULL, row->data);
	return buf->status == RT_OK;
}

static void
add_names(rt_scope *s, retake_store *store, rt_buf *buf)
{
	rt_json_open(buf, NULL, '[');
	RT_TRY(s, store->store->ops->read(store->store, rt_rows_all(RT_STORE_PROJECTS, 0), add_name,
					  buf, &s->error));
	rt_json_close(buf, ']');
	(void)rt_scope_str(s, buf);
}

retake_status
retake_store_projects(retake_store *store, retake_text *out_names, retake_error *error)
{
	rt_library_call c;
	rt_scope *s = rt_library_begin_store(&c, store);

	rt_library_require(s, out_names, "output parameter for the text");
	add_names(s, store, &c.text);
	return rt_library_end(&c, out_names, error);
}

retake_status
retake_store_backup(retake_store *store, const char *path, retake_error *error)
{
	rt_library_call c;
	rt_scope *s = rt_library_begin_store(&c, store);

	rt_library_require(s, path, "path");
	RT_TRY(s, store->store->ops->backup(store->store, path, &s->error));
	return rt_library_end(&c, NULL, error);
}

/* ---- check ---- */

typedef struct findings {
	rt_buf *all; /* a JSON array, open */
	rt_buf *one; /* the finding being added */
	rt_str project;
	bool bad;    /* one of them is more than a note */
} findings;

static bool
add_finding(void *ctx, const rt_finding *finding)
{
	findings *f = ctx;

	rt_buf_clear(f->one);
	rt_json_open(f->one, NULL, '{');
	rt_json_put_c(f->one, "id", finding->id);
	rt_json_put_c(f->one, "text", finding->text);
	rt_json_put_c(f->one, "severity", finding->severity);
	if (f->project.size > 0)
		rt_json_put_str(f->one, "project", f->project);
	rt_json_close(f->one, '}');
	rt_json_put_raw(f->all, NULL, rt_buf_str(f->one));
	if (f->one->status != RT_OK && f->all->status == RT_OK)
		f->all->status = f->one->status;
	f->bad |= strcmp(finding->severity, "note") != 0;
	return f->all->status == RT_OK;
}

static bool
add_store_finding(void *ctx, const char *id, const char *text)
{
	rt_finding finding = {id, "error", text};

	return add_finding(ctx, &finding);
}

/* True if the status describes the store, false if it could not be examined. */
static bool
is_finding(rt_status status)
{
	return status != RT_OK && status != RT_NOMEM && status != RT_IO && status != RT_FULL &&
	       status != RT_BUSY;
}

static rt_status
check_project(retake_store *store, findings *f, rt_error *err)
{
	rt_engine_options options = {.alloc = store->alloc,
				     .env = store->env,
				     .project = f->project,
				     .by = RT_STR("lib"),
				     .read_only = true};
	rt_finding failed = {"project-cannot-open", "error", err->text};
	rt_engine *engine = NULL;
	rt_status st = rt_engine_open(&options, store->store, &engine, err);

	if (st == RT_OK) {
		st = rt_engine_fsck_project(engine, add_finding, f, err);
		if (st == RT_OK)
			st = rt_engine_fsck_replies(engine, add_finding, f, err);
		if (st == RT_OK)
			st = rt_engine_fsck_files(engine, add_finding, f, err);
		failed.id = "check-failed";
	}
	rt_engine_close(engine);
	if (!is_finding(st))
		return st;
	(void)add_finding(f, &failed);
	return RT_OK;
}

static void
check_all(rt_scope *s, retake_store *store, findings *f)
{
	rt_buf *list = rt_scope_buf(s);
	yyjson_val *root, *name;
	size_t i, count;
	rt_status st;

	st = store->store->ops->check(store->store, add_store_finding, f, &s->error);
	if (st != RT_OK && st != RT_CORRUPT) {
		(void)rt_scope_note(s, st);
		return;
	}
	add_names(s, store, list);
	if (s->status == RT_CORRUPT) {
		(void)add_store_finding(f, "store-projects-unreadable", s->error.text);
		s->status = RT_OK;
		return;
	}
	root = rt_json_parse(s, rt_scope_str(s, list));
	yyjson_arr_foreach(root, i, count, name) {
		f->project = rt_json_str(name);
		RT_TRY(s, check_project(store, f, &s->error));
	}
}

retake_status
retake_store_check(retake_store *store, retake_text *out_findings, retake_error *error)
{
	rt_library_call c;
	rt_scope *s = rt_library_begin_store(&c, store);
	findings f = {.all = rt_scope_buf(s), .one = rt_scope_buf(s)};

	rt_library_require(s, out_findings, "output parameter for the text");
	rt_json_open(f.all, NULL, '[');
	if (rt_ok(s))
		check_all(s, store, &f);
	rt_json_close(f.all, ']');
	rt_json_open(&c.text, NULL, '{');
	rt_json_put_bool(&c.text, "clean", !f.bad);
	rt_json_put_raw(&c.text, "findings", rt_scope_str(s, f.all));
	rt_json_close(&c.text, '}');
	return rt_library_end(&c, out_findings, error);
}
