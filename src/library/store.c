/* SPDX-License-Identifier: MIT
 *
 * Stores: opened, listed, copied, checked. */
#include "library/library_impl.h"

#include <stdatomic.h>

#include "codec/json.h"
#include "store/store_open.h"

rt_status
rt_library_store_open(const rt_alloc *alloc, const rt_env *env, const char *path,
		      const retake_store_options *options, retake_store **out_store, rt_error *err)
{
	retake_store_options own;
	rt_store_options how;
	retake_store *store = NULL;
	rt_status st = rt_library_given(path, "path", err);

	if (st == RT_OK)
		st = rt_library_given(out_store, "place for the store", err);
	if (st == RT_OK)
		st = rt_library_options(options, sizeof(own), &own, sizeof(own), "store's options",
					err);
	if (st == RT_OK && *path == '\0')
		st = rt_fail(err, RT_USAGE, "the path is empty");
	if (st != RT_OK)
		return st;
	store = rt_new0(alloc, sizeof(*store));
	if (store == NULL)
		return rt_fail(err, RT_NOMEM, "out of memory");
	how = (rt_store_options){.create = own.create != 0 && own.read_only == 0,
				 .read_only = own.read_only != 0,
				 .relaxed = own.relaxed != 0};
	st = rt_store_open(alloc, env, path, &how, &store->store, err);
	if (st != RT_OK) {
		rt_free(alloc, store);
		return st;
	}
	store->alloc = alloc;
	store->env = env;
	atomic_init(&store->refs, 1);
	*out_store = store;
	return RT_OK;
}

retake_status
retake_store_open(const char *path, const retake_store_options *options, retake_store **out_store,
		  retake_error *error)
{
	rt_error err = {0};
	rt_status st = rt_library_store_open(rt_alloc_libc(), rt_library_env(), path, options,
					     out_store, &err);

	return rt_library_end(st, &err, error);
}

retake_store *
rt_library_store_ref(retake_store *store)
{
	atomic_fetch_add_explicit(&store->refs, 1, memory_order_relaxed);
	return store;
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

	rt_json_add_comma(buf);
	rt_json_add_string(buf, row->data);
	return buf->status == RT_OK;
}

static rt_status
add_names(retake_store *store, rt_buf *buf, rt_error *err)
{
	rt_status st;

	rt_buf_add_byte(buf, '[');
	st = store->store->ops->read(store->store, rt_rows_all(RT_STORE_PROJECTS, 0), add_name, buf,
				     err);
	rt_buf_add_byte(buf, ']');
	return st == RT_OK && buf->status != RT_OK ? rt_fail(err, buf->status, "out of memory")
						   : st;
}

retake_status
retake_store_projects(retake_store *store, retake_text *out_names, retake_error *error)
{
	rt_error err = {0};
	rt_buf buf;
	rt_status st = rt_library_given(store, "store", &err);

	if (st == RT_OK)
		st = rt_library_given(out_names, "place for the text", &err);
	rt_library_buf_init(&buf);
	if (st == RT_OK)
		st = add_names(store, &buf, &err);
	st = rt_library_give(&buf, st, out_names, &err);
	return rt_library_end(st, &err, error);
}

/* ---- care ---- */

retake_status
retake_store_backup(retake_store *store, const char *path, retake_error *error)
{
	rt_error err = {0};
	rt_status st = rt_library_given(store, "store", &err);

	if (st == RT_OK)
		st = rt_library_given(path, "path", &err);
	if (st == RT_OK)
		st = store->store->ops->backup(store->store, path, &err);
	return rt_library_end(st, &err, error);
}

typedef struct findings {
	rt_buf *buf; /* a JSON array, open */
	rt_buf one;  /* the finding that is being added */
	rt_str project;
	bool bad; /* one of them is more than a note */
} findings;

static bool
add_finding(void *ctx, const rt_finding *finding)
{
	rt_str text = rt_str_at(finding->text, rt_utf8_valid_size(rt_str_of(finding->text)));
	findings *f = ctx;

	rt_buf_clear(&f->one);
	rt_buf_add_c(&f->one, "{\"id\":");
	rt_json_add_string(&f->one, rt_str_of(finding->id));
	rt_json_add_key(&f->one, "text");
	rt_json_add_string(&f->one, text);
	/* What is about the whole store comes once for every project. */
	if (rt_str_find(rt_buf_str(f->buf), rt_buf_str(&f->one), 0) != SIZE_MAX)
		return true;
	rt_json_add_key(&f->one, "severity");
	rt_json_add_string(&f->one, rt_str_of(finding->severity));
	if (f->project.size > 0) {
		rt_json_add_key(&f->one, "project");
		rt_json_add_string(&f->one, f->project);
	}
	rt_json_add_comma(f->buf);
	rt_buf_add_str(f->buf, rt_buf_str(&f->one));
	rt_buf_add_byte(f->buf, '}');
	if (f->one.status != RT_OK && f->buf->status == RT_OK)
		f->buf->status = f->one.status;
	f->bad |= strcmp(finding->severity, "note") != 0;
	return f->buf->status == RT_OK;
}

static bool
add_store_finding(void *ctx, const char *id, const char *text)
{
	rt_finding finding = {id, "error", text};

	return add_finding(ctx, &finding);
}

/* Does it say something about the store? Everything else says that we could not look. */
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
	rt_finding cannot = {"project-cannot-open", "error", err->text};
	rt_engine *engine = NULL;
	rt_status st = rt_engine_open(&options, store->store, &engine, err);

	if (st == RT_OK) {
		st = rt_engine_fsck(engine, add_finding, f, err);
		cannot.id = "check-failed";
	}
	rt_engine_close(engine);
	if (!is_finding(st))
		return st;
	(void)add_finding(f, &cannot);
	return RT_OK;
}

static rt_status
check_all(retake_store *store, findings *f, rt_error *err)
{
	rt_json_doc *names = NULL;
	yyjson_val *name;
	size_t i, count;
	rt_buf list;
	rt_status st = store->store->ops->check(store->store, add_store_finding, f, err);

	rt_buf_init(&list, store->alloc, RT_BUF_UNLIMITED);
	if (st == RT_OK || st == RT_CORRUPT)
		st = add_names(store, &list, err);
	if (st == RT_CORRUPT) {
		(void)add_store_finding(f, "store-projects-unreadable", err->text);
		rt_buf_deinit(&list);
		return RT_OK;
	}
	if (st == RT_OK)
		st = rt_json_read(store->alloc, rt_buf_str(&list), &names, err);
	if (st == RT_OK) {
		yyjson_arr_foreach(rt_json_root(names), i, count, name) {
			f->project = rt_json_str(name);
			if (st == RT_OK)
				st = check_project(store, f, err);
		}
	}
	rt_json_free(names);
	rt_buf_deinit(&list);
	return st;
}

retake_status
retake_store_check(retake_store *store, retake_text *out_findings, retake_error *error)
{
	rt_error err = {0};
	rt_buf list, buf;
	findings f = {.buf = &list};
	rt_status st = rt_library_given(store, "store", &err);

	if (st == RT_OK)
		st = rt_library_given(out_findings, "place for the text", &err);
	rt_library_buf_init(&buf);
	rt_library_buf_init(&list);
	rt_library_buf_init(&f.one);
	rt_buf_add_byte(&list, '[');
	if (st == RT_OK)
		st = check_all(store, &f, &err);
	if (st == RT_OK && list.status != RT_OK)
		st = rt_fail(&err, list.status, "out of memory");
	rt_buf_add_f(&buf, "{\"clean\":%s,\"findings\":", f.bad ? "false" : "true");
	rt_buf_add_str(&buf, rt_buf_str(&list));
	rt_buf_add_c(&buf, "]}");
	st = rt_library_give(&buf, st, out_findings, &err);
	rt_buf_deinit(&f.one);
	rt_buf_deinit(&list);
	return rt_library_end(st, &err, error);
}
