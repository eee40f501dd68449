/* SPDX-License-Identifier: MIT
 *
 * Model run: drives engine and model, restarts, crashes. */
#define _GNU_SOURCE
#include "model_run_impl.h"

/* ---- the engine's environment ---- */

static void
question(run *r)
{
	if (r->questions_left > 0 && --r->questions_left == 0)
		_exit(9);
}

static int64_t
now_us(void *ctx)
{
	question(ctx);
	return NOW_US;
}

static void
random_bytes(void *ctx, void *to, size_t size)
{
	run *r = ctx;
	size_t i;

	question(r);
	for (i = 0; i < size; i++)
		((unsigned char *)to)[i] = (unsigned char)(random_next(&r->chance) >> 24);
}

static bool
wrong(run *r, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(r->why, sizeof(r->why), format, args);
	va_end(args);
	return false;
}

static bool
open_store(run *r, size_t i)
{
	rt_error err = {0};
	rt_status st;

	if (r->options->dir == NULL) {
		if (i > 0) {
			r->stores[i] = r->stores[0];
			return true;
		}
		if (r->stores[0] != NULL)
			return true;
		st = rt_store_memory_open(rt_alloc_libc(), &r->env, &r->stores[0], &err);
	} else {
		rt_store_options o = {.create = true, .relaxed = r->options->relaxed};

		st = rt_store_open(rt_alloc_libc(), &r->env, r->path, &o, &r->stores[i], &err);
	}
	return st == RT_OK || wrong(r, "the store does not open: %s", err.text);
}

static bool
open_all(run *r)
{
	size_t i;

	r->engine_count = r->options->two_engines ? 2 : 1;
	for (i = 0; i < r->engine_count; i++) {
		rt_engine_options o = {.alloc = rt_alloc_libc(),
				       .env = &r->env,
				       .by = RT_STR("test"),
				       .create = true,
				       .checkpoint_every = 1 + random_below(&r->chance, 40)};
		rt_error err = {0};

		if (!open_store(r, i))
			return false;
		if (rt_engine_open(&o, r->stores[i], &r->engines[i], &err) != RT_OK)
			return wrong(r, "the engine does not open: %s", err.text);
	}
	return true;
}

/* The store in memory is kept open: closing it would delete it. */
static void
close_all(run *r, bool for_good)
{
	size_t i;

	for (i = 0; i < r->engine_count; i++) {
		if (r->engines[i] != NULL)
			rt_engine_close(r->engines[i]);
		r->engines[i] = NULL;
	}
	for (i = 0; i < r->engine_count; i++) {
		if (r->stores[i] != NULL && (r->options->dir != NULL || (for_good && i == 0)))
			r->stores[i]->ops->close(r->stores[i]);
		if (r->options->dir != NULL || for_good)
			r->stores[i] = NULL;
	}
}

static void
remove_files(const char *path)
{
	static const char *const ends[] = {"", "-wal", "-shm", "-journal"};
	char name[600];
	size_t i;

	if (rt_store_file(path) == NULL) {
		if (!test_server_sql("model", "SET client_min_messages = error; DROP SCHEMA IF EXISTS "
					      "retake CASCADE"))
			abort();
		return;
	}
	for (i = 0; i < 4; i++) {
		snprintf(name, sizeof(name), "%s%s", path, ends[i]);
		unlink(name);
	}
}

static rt_engine *
engine_of(run *r)
{
	return r->engines[r->turn % r->engine_count];
}

/* ---- ids that the engine chose ---- */

static bool
id_at(run *r, int doc, int take, size_t position, char *out, size_t room)
{
	rt_window one = {.from = position, .count = 1};
	const rt_project *value = rt_engine_value(engine_of(r));
	rt_json_doc *json = NULL;
	rt_error err = {0};
	rt_buf buf;
	rt_str id = {NULL, 0};
	bool ok;

	rt_buf_init(&buf, rt_alloc_libc(), RT_BUF_UNLIMITED);
	ok = rt_view_show(engine_of(r), value, (rt_place){(uint32_t)doc, (uint32_t)take}, &one, &buf,
			  &err) == RT_OK &&
	     rt_json_read(rt_alloc_libc(), rt_buf_str(&buf), &json, &err) == RT_OK;
	if (ok)
		id = rt_json_str(rt_json_get(
			yyjson_arr_get(rt_json_get(rt_json_root(json), "entries"), 0), "id"));
	snprintf(out, room, "%.*s", RT_STR_ARG(id));
	rt_json_free(json);
	rt_buf_deinit(&buf);
	rt_object_unref(value);
	return id.size > 0 || wrong(r, "show has no entry at %zu of d%d t%d: %s", position, doc, take,
				   err.text);
}

static bool
learn_all(run *r)
{
	int entity, doc, take;
	size_t position;
	char id[140];

	while (model_unknown(&r->model, &entity, &doc, &take, &position)) {
		if (!id_at(r, doc, take, position, id, sizeof(id)))
			return false;
		if (!model_learn(&r->model, entity, rt_str_of(id)))
			return wrong(r, "the new id %s was used before", id);
	}
	return true;
}

/* ---- requests ---- */

static bool
compare(run *r, const rt_result *theirs, const model_result *ours)
{
	if (theirs->status != ours->status && !(ours->loose && theirs->status != RT_OK))
		return wrong(r, "engine: %s (%s), model: %s (%s)", rt_status_word(theirs->status),
			    theirs->status != RT_OK ? theirs->error.text : "",
			    rt_status_word(ours->status), ours->why);
	r->stats->requests++;
	if (ours->status != RT_OK) {
		r->stats->refusals++;
		return true;
	}
	r->stats->changes += !ours->unchanged;
	if (theirs->unchanged != ours->unchanged)
		return wrong(r, "engine: %s, model: %s", theirs->unchanged ? "unchanged" : "changed",
			    ours->unchanged ? "unchanged" : "changed");
	if (theirs->seq != ours->seq || theirs->steps != ours->steps)
		return wrong(r, "engine: seq %llu steps %llu, model: seq %llu steps %llu",
			    (unsigned long long)theirs->seq, (unsigned long long)theirs->steps,
			    (unsigned long long)ours->seq, (unsigned long long)ours->steps);
	/* created just now, or by another request of the same group */
	if (ours->entity >= 0 && !ours->unchanged &&
	    r->model.entities[ours->entity].id.size == 0 &&
	    !model_learn(&r->model, ours->entity, rt_str_of(theirs->entry)))
		return wrong(r, "the new id %s was used before, or is none", theirs->entry);
	if (ours->entity >= 0 && !ours->unchanged &&
	    !rt_str_is(r->model.entities[ours->entity].id, theirs->entry))
		return wrong(r, "entry: engine %s, model %.*s", theirs->entry,
			    RT_STR_ARG(r->model.entities[ours->entity].id));
	if (ours->take.size > 0 && !rt_str_is(ours->take, theirs->take))
		return wrong(r, "take: engine %s, model %.*s", theirs->take, RT_STR_ARG(ours->take));
	if (ours->discussion.size > 0 && !rt_str_is(ours->discussion, theirs->discussion))
		return wrong(r, "discussion: engine %s, model %.*s", theirs->discussion,
			    RT_STR_ARG(ours->discussion));
	if (ours->has_editor != (theirs->editor != NULL) ||
	    !rt_str_eq(ours->editor, rt_text_str(theirs->editor)))
		return wrong(r, "editor: engine %.*s, model %.*s",
			    RT_STR_ARG(rt_text_str(theirs->editor)), RT_STR_ARG(ours->editor));
	return true;
}

/* Checks one document (0: the project) after a jump: its state is the one right after the row,
 * or, if it may have stayed, the one before the jump. Views and purges are the same in all
 * states. */
static bool
look_at_jumped(run *r, int doc, const rt_project *then, const rt_project *before,
	       const rt_project *now, bool may_stay)
{
	const rt_project *values[] = {now, then, before};
	rt_buf texts[3];
	rt_error err = {0};
	size_t i;
	bool ok = true;

	for (i = 0; i < 3; i++) {
		rt_buf_init(&texts[i], rt_alloc_libc(), RT_BUF_UNLIMITED);
		if (canonical_of(engine_of(r), values[i], doc, &texts[i], &err) != RT_OK)
			ok = wrong(r, "the past cannot be accessed: %s", err.text);
	}
	if (ok && !rt_str_eq(rt_buf_str(&texts[0]), rt_buf_str(&texts[1])) &&
	    !(may_stay && rt_str_eq(rt_buf_str(&texts[0]), rt_buf_str(&texts[2]))))
		ok = differ(r, "a document after a jump (model: right after the row)",
			    rt_buf_str(&texts[0]), rt_buf_str(&texts[1]));
	for (i = 0; i < 3; i++)
		rt_buf_deinit(&texts[i]);
	return ok;
}

/* After a jump without a scope the project, the discussion in view and the active one are in
 * their states right after that row. view: 0 if unknown. */
static bool
look_at_jump(run *r, rt_str line, const rt_result *theirs, int view)
{
	rt_json_doc *doc = NULL;
	rt_error err = {0};
	uint64_t to = 0;
	yyjson_val *root;
	const rt_project *then = NULL, *before = NULL, *now;
	int i;
	bool ok = true;

	if (rt_json_read(rt_alloc_libc(), line, &doc, NULL) != RT_OK)
		return true;
	root = rt_json_root(doc);
	if (rt_str_is(rt_json_str(rt_json_get(root, "op")), "jump") &&
	    rt_json_get(root, "scope") == NULL)
		(void)rt_json_u64(rt_json_get(root, "to"), &to);
	if (rt_json_str(rt_json_get(root, "discussion")).size > 0)
		view = 0;
	rt_json_free(doc);
	if (to == 0)
		return true;
	now = rt_engine_value(engine_of(r));
	if (rt_engine_value_at(engine_of(r), to, &then, &err) != RT_OK ||
	    rt_engine_value_at(engine_of(r), theirs->seq - !theirs->unchanged, &before, &err) !=
		    RT_OK)
		ok = wrong(r, "the past cannot be accessed: %s", err.text);
	for (i = 0; ok && i <= (int)rt_project_disc_count(now); i++)
		ok = look_at_jumped(r, i, then, before, now,
				    i != 0 && i != view && i != (int)now->active);
	rt_object_unref(before);
	rt_object_unref(then);
	rt_object_unref(now);
	return ok;
}

static bool
run_request(run *r, rt_str line)
{
	rt_result theirs;
	model_result ours;
	int view = model_project_of(&r->model)->active;
	bool ok;

	memset(&theirs, 0, sizeof(theirs));
	rt_engine_apply_text(engine_of(r), line, RT_STR(""), RT_STR(""), &theirs);
	model_apply(&r->model, line, rt_str_of(theirs.discussion), &ours);
	ok = compare(r, &theirs, &ours) && learn_all(r) &&
	     (theirs.status != RT_OK || look_at_jump(r, line, &theirs, view));
	rt_result_deinit(&theirs);
	r->turn++;
	return ok;
}

enum { GROUP_MAX = 64 };

static size_t
group_lines(yyjson_val *ops, rt_buf *text, rt_str *lines)
{
	size_t ends[GROUP_MAX], i, max, n = 0, from = 0;
	yyjson_val *op;

	yyjson_arr_foreach(ops, i, max, op)
	{
		if (n == GROUP_MAX)
			break;
		rt_json_add_value(text, op);
		ends[n++] = text->size;
		rt_buf_add_byte(text, '\n');
	}
	for (i = 0; i < n; i++) {
		lines[i] = rt_str_at(text->ptr + from, ends[i] - from);
		from = ends[i] + 1;
	}
	return n;
}

static bool
run_group(run *r, yyjson_val *ops, bool atomic)
{
	yyjson_val *requests[GROUP_MAX];
	rt_str lines[GROUP_MAX], chosen[GROUP_MAX] = {{NULL, 0}};
	rt_str entries[GROUP_MAX] = {{NULL, 0}};
	rt_result theirs[GROUP_MAX];
	model_result ours[GROUP_MAX];
	size_t n, i;
	bool ok = true;
	rt_buf text;

	rt_buf_init(&text, rt_alloc_libc(), RT_BUF_UNLIMITED);
	n = group_lines(ops, &text, lines);
	for (i = 0; i < n; i++)
		requests[i] = yyjson_arr_get(ops, i);
	memset(theirs, 0, sizeof(theirs));
	memset(ours, 0, sizeof(ours));
	rt_engine_apply_json(engine_of(r), requests, n, atomic, RT_STR(""), RT_STR(""), theirs);
	for (i = 0; i < n; i++) {
		chosen[i] = rt_str_of(theirs[i].discussion);
		entries[i] = rt_str_of(theirs[i].entry);
	}
	if (atomic)
		model_apply_atomic(&r->model, lines, chosen, entries, n, ours);
	for (i = 0; i < n && ok; i++) {
		if (!atomic)
			model_apply(&r->model, lines[i], chosen[i], &ours[i]);
		ok = compare(r, &theirs[i], &ours[i]);
		if (!ok) {
			char why[sizeof(r->why)];

			memcpy(why, r->why, sizeof(why));
			wrong(r, "request %zu of the group: %.3900s", i, why);
		}
	}
	ok = ok && learn_all(r);
	for (i = 0; i < n; i++)
		rt_result_deinit(&theirs[i]);
	rt_buf_deinit(&text);
	r->turn++;
	return ok;
}

static void
child_dies(int number)
{
	(void)number;
	_exit(9);
}

/* In the process that will be killed: runs the requests, and reports each when it is done. */
static void
crash_child(run *r, const rt_str *lines, size_t count, int64_t at, int to_parent)
{
	struct itimerval when = {{0, 0}, {0, 0}};
	rt_result result;
	size_t i;

	if (!open_all(r))
		_exit(7);
	if (at < 0) {
		signal(SIGALRM, child_dies);
		when.it_value.tv_usec = (suseconds_t)(-at % 1000000);
		setitimer(ITIMER_REAL, &when, NULL);
	} else {
		r->questions_left = (long)at;
	}
	for (i = 0; i < count; i++) {
		memset(&result, 0, sizeof(result));
		rt_engine_apply_text(r->engines[i % r->engine_count], lines[i], RT_STR(""), RT_STR(""),
				     &result);
		if (write(to_parent, "+", 1) != 1)
			_exit(8);
	}
	_exit(9);
}

/* P1, P2: everything acknowledged exists, and at most the one in progress. */
static bool
run_crash(run *r, yyjson_val *ops, int64_t at)
{
	rt_str lines[GROUP_MAX];
	size_t n, acknowledged = 0, i;
	int ends[2], status = 0;
	uint64_t seq;
	pid_t child;
	char sign;
	bool ok = true;
	const rt_project *value;
	rt_buf text;

	if (r->options->dir == NULL)
		return true;
	rt_buf_init(&text, rt_alloc_libc(), RT_BUF_UNLIMITED);
	n = group_lines(ops, &text, lines);
	close_all(r, false);
	fflush(NULL);
	if (pipe(ends) != 0 || (child = fork()) < 0)
		abort();
	if (child == 0) {
		close(ends[0]);
		crash_child(r, lines, n, at, ends[1]);
	}
	close(ends[1]);
	while (read(ends[0], &sign, 1) == 1)
		acknowledged++;
	close(ends[0]);
	waitpid(child, &status, 0);
	r->stats->crashes++;
	random_next(&r->chance);
	r->chance.state ^= 0x5851F42D4C957F2Du; /* otherwise the same random numbers would follow */
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 9) {
		ok = wrong(r, "the process that was to die ended otherwise (%d)", status);
	} else {
		ok = open_all(r);
	}
	if (ok) {
		value = rt_engine_value(engine_of(r));
		seq = value->seq;
		rt_object_unref(value);
		for (i = 0; i < n && ok && (i < acknowledged || r->model.seq < seq); i++) {
			model_result ours;

			model_apply(&r->model, lines[i], RT_STR(""), &ours);
			r->stats->requests++;
			if (i > acknowledged)
				ok = wrong(r, "more than the one under way survived");
		}
		if (ok && r->model.seq != seq)
			ok = wrong(r, "after a crash the last row is %llu, not %llu (%zu acknowledged)",
				  (unsigned long long)seq, (unsigned long long)r->model.seq,
				  acknowledged);
	}
	ok = ok && learn_all(r) && look(r);
	rt_buf_deinit(&text);
	return ok;
}

static bool
restart(run *r)
{
	close_all(r, false);
	r->stats->restarts++;
	return open_all(r) && look(r);
}

/* Number of steps of a request; SIZE_MAX: they disagreed. */
static size_t
steps_of(run *r, const char *line)
{
	rt_result theirs;
	model_result ours;
	size_t steps = SIZE_MAX;

	memset(&theirs, 0, sizeof(theirs));
	rt_engine_apply_text(engine_of(r), rt_str_of(line), RT_STR(""), RT_STR(""), &theirs);
	model_apply(&r->model, rt_str_of(line), RT_STR(""), &ours);
	if (compare(r, &theirs, &ours) && learn_all(r))
		steps = ours.status == RT_OK ? (size_t)ours.steps : 0;
	else if (steps == SIZE_MAX) {
		char why[sizeof(r->why)];

		memcpy(why, r->why, sizeof(why));
		wrong(r, "%s: %.3900s", line, why);
	}
	rt_result_deinit(&theirs);
	return steps;
}

/* Undoes everything: first normally, then document by document, which reaches the rest (C1, C2). The
 * project is then in its initial state. Redoing everything in reverse order gives the same
 * bytes. Not if an undo capacity was ever set: it would apply again in earlier states. */
static bool
undo_all(run *r)
{
	size_t docs = r->model.doc_count;
	size_t *steps = calloc(docs + 1, sizeof(*steps));
	rt_buf before, after;
	char line[200];
	bool ok = true;
	model fresh;

	if (r->model.limited) { /* undo does not reach everything */
		free(steps);
		return look(r);
	}
	rt_buf_init(&before, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_buf_init(&after, rt_alloc_libc(), RT_BUF_UNLIMITED);
	model_canonical(&r->model, &before);
	steps[docs] = steps_of(r, "{\"op\":\"undo\",\"count\":1000000}");
	ok = steps[docs] != SIZE_MAX && look(r);
	/* the project first: then no discussion is named like the id of another */
	for (size_t doc = 0; doc < docs && ok; doc++) {
		if (doc == 0)
			snprintf(line, sizeof(line),
				 "{\"op\":\"undo\",\"count\":1000000,\"scope\":\"project\"}");
		else
			snprintf(line, sizeof(line),
				 "{\"op\":\"undo\",\"count\":1000000,\"scope\":\"discussion\","
				 "\"discussion\":\"d%zu\"}",
				 doc);
		steps[doc] = steps_of(r, line);
		ok = steps[doc] != SIZE_MAX;
	}
	if (ok && look(r)) {
		rt_buf expected;

		rt_buf_init(&expected, rt_alloc_libc(), RT_BUF_UNLIMITED);
		model_init(&fresh, NOW_TEXT, 0);
		model_canonical(&fresh, &expected);
		model_deinit(&fresh);
		model_canonical(&r->model, &after);
		ok = rt_str_eq(rt_buf_str(&after), rt_buf_str(&expected)) ||
		     differ(r, "undo all", rt_buf_str(&after), rt_buf_str(&expected));
		rt_buf_deinit(&expected);
	} else {
		ok = false;
	}
	for (size_t doc = docs; doc-- > 0 && ok;) {
		if (steps[doc] == 0)
			continue;
		if (doc == 0)
			snprintf(line, sizeof(line),
				 "{\"op\":\"redo\",\"count\":%zu,\"scope\":\"project\"}", steps[doc]);
		else
			snprintf(line, sizeof(line),
				 "{\"op\":\"redo\",\"count\":%zu,\"scope\":\"discussion\","
				 "\"discussion\":\"d%zu\"}",
				 steps[doc], doc);
		ok = steps_of(r, line) == steps[doc] || wrong(r, "%s did not bring all back", line);
	}
	if (ok && steps[docs] > 0) {
		snprintf(line, sizeof(line), "{\"op\":\"redo\",\"count\":%zu}", steps[docs]);
		ok = steps_of(r, line) == steps[docs] || wrong(r, "%s did not bring all back", line);
	}
	rt_buf_clear(&after);
	model_canonical(&r->model, &after);
	if (ok)
		ok = look(r) && (rt_str_eq(rt_buf_str(&before), rt_buf_str(&after)) ||
				 differ(r, "redo all", rt_buf_str(&after), rt_buf_str(&before)));
	rt_buf_deinit(&before);
	rt_buf_deinit(&after);
	free(steps);
	return ok;
}

static bool
run_line(run *r, rt_str line)
{
	rt_json_doc *doc = NULL;
	rt_str what = {NULL, 0};
	int64_t at = 0;
	yyjson_val *ops;
	bool ok = true;

	if (rt_json_read(rt_alloc_libc(), line, &doc, NULL) == RT_OK)
		what = rt_json_str(rt_json_get(rt_json_root(doc), "run"));
	if (what.size == 0) {
		rt_json_free(doc);
		return run_request(r, line);
	}
	ops = rt_json_get(rt_json_root(doc), "ops");
	rt_json_i64(rt_json_get(rt_json_root(doc), "at"), &at);
	if (rt_str_is(what, "restart"))
		ok = restart(r);
	else if (rt_str_is(what, "atomic"))
		ok = run_group(r, ops, true);
	else if (rt_str_is(what, "batch"))
		ok = run_group(r, ops, false);
	else if (rt_str_is(what, "crash"))
		ok = run_crash(r, ops, at);
	else if (rt_str_is(what, "undo all"))
		ok = undo_all(r);
	rt_json_free(doc);
	return ok;
}

/* ---- runs ---- */

static bool
run_begin(run *r, const model_run_options *options, model_run_stats *stats)
{
	const rt_project *value;

	memset(r, 0, sizeof(*r));
	r->options = options;
	r->stats = stats;
	r->env = (rt_env){now_us, random_bytes, r};
	random_ops_init(&r->chance, options->seed ^ 0xABCDEF);
	if (options->dir != NULL && rt_store_file(options->dir) == NULL) {
		snprintf(r->path, sizeof(r->path), "%s", options->dir);
		remove_files(r->path);
	} else if (options->dir != NULL) {
		snprintf(r->path, sizeof(r->path), "%s/model-%ld-%llu.db", options->dir, (long)getpid(),
			 (unsigned long long)options->seed);
		remove_files(r->path);
	}
	r->engine_count = 1;
	if (!open_all(r)) {
		model_init(&r->model, NOW_TEXT, 0);
		return false;
	}
	value = rt_engine_value(engine_of(r));
	r->base_seq = value->seq;
	rt_object_unref(value);
	model_init(&r->model, NOW_TEXT, r->base_seq);
	return look(r);
}

static bool
is_error(void *ctx, const rt_finding *finding)
{
	run *r = ctx;

	if (strcmp(finding->severity, "note") == 0)
		return true;
	wrong(r, "fsck: %s %s: %s", finding->severity, finding->id, finding->text);
	return false;
}

static bool
run_end(run *r, bool ok)
{
	rt_error err = {0};

	if (ok && rt_engine_fsck(engine_of(r), is_error, r, &err) != RT_OK)
		ok = wrong(r, "fsck fails: %s", err.text);
	ok = ok && r->why[0] == '\0';
	close_all(r, true);
	model_deinit(&r->model);
	if (r->options->dir != NULL)
		remove_files(r->path);
	return ok;
}

/* The kind of a disagreement: its message without numbers and brackets. */
static int
kind_of(const char *why)
{
	unsigned hash = 5381, depth = 0, n = 0;

	for (; *why != '\0' && n < 60; why++) {
		depth += *why == '(';
		if (depth == 0 && (*why < '0' || *why > '9')) {
			hash = hash * 33 + (unsigned char)*why;
			n++;
		}
		depth -= *why == ')' && depth > 0;
	}
	return 10 + (int)(hash % 200);
}

bool
model_run_lines(const model_run_options *options, const rt_str *lines, size_t count,
		model_run_stats *stats)
{
	run r;
	model_run_options mine = *options;
	size_t i, at = 0;
	bool ok;

	if (count > 0 && rt_str_starts(lines[0], RT_STR("{\"run\":\"seed\""))) {
		rt_json_doc *doc = NULL;

		if (rt_json_read(rt_alloc_libc(), lines[0], &doc, NULL) == RT_OK)
			rt_json_u64(rt_json_get(rt_json_root(doc), "seed"), &mine.seed);
		rt_json_free(doc);
	}
	ok = run_begin(&r, &mine, stats);
	for (i = 0; i < count && ok; i++) {
		at = i;
		ok = run_line(&r, lines[i]);
		if (ok && (i % (options->check_every > 0 ? options->check_every : 1)) == 0)
			ok = look(&r);
	}
	if (ok)
		ok = look(&r);
	ok = run_end(&r, ok);
	if (!ok && options->kind != NULL)
		*options->kind = kind_of(r.why);
	if (!ok && !options->quiet)
		printf("line %zu: %.*s\n%s\n", at + 1, count > 0 ? (int)lines[at].size : 0,
		       count > 0 ? lines[at].ptr : "", r.why);
	return ok;
}
