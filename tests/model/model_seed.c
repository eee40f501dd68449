/* SPDX-License-Identifier: MIT
 *
 * Model run: generates lines from a seed, and minimises failing runs. */
#include "model_run_impl.h"

typedef struct line_list {
	rt_str *lines;
	size_t count;
	FILE *trace;
} line_list;

static void
list_add(line_list *list, rt_str line)
{
	if ((list->count & (list->count - 1)) == 0)
		list->lines = realloc(list->lines,
				      (list->count == 0 ? 1 : list->count * 2) * sizeof(rt_str));
	list->lines[list->count].ptr = malloc(line.size + 1);
	memcpy((char *)(uintptr_t)list->lines[list->count].ptr, line.ptr, line.size);
	list->lines[list->count++].size = line.size;
	if (list->trace != NULL) {
		fprintf(list->trace, "%.*s\n", RT_STR_ARG(line));
		fflush(list->trace);
	}
}

static void
list_free(line_list *list)
{
	size_t i;

	for (i = 0; i < list->count; i++)
		free((void *)(uintptr_t)list->lines[i].ptr);
	free(list->lines);
	if (list->trace != NULL)
		fclose(list->trace);
}

static bool
is_json(rt_str line)
{
	rt_json_doc *doc = NULL;
	bool ok = rt_json_read(rt_alloc_libc(), line, &doc, NULL) == RT_OK;

	/* the generated name of an extracted discussion is unknown after a crash */
	ok = ok && (!rt_str_is(rt_json_str(rt_json_get(rt_json_root(doc), "op")),
			       "discussion.extract") ||
		    rt_json_get(rt_json_root(doc), "name") != NULL);
	rt_json_free(doc);
	return ok;
}

/* Several requests in one line. They are generated for the state before the first of them. */
static void
make_group(random_ops *ops, const model *m, const char *what, int64_t at, unsigned count, rt_buf *out)
{
	rt_buf one;
	unsigned i;

	rt_buf_init(&one, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_buf_add_f(out, "{\"run\":\"%s\",\"at\":%lld,\"ops\":[", what, (long long)at);
	ops->cautious = true;
	ops->grafted = false;
	if (random_below(ops, 4) == 0)
		random_ops_one_kind(ops);
	for (i = 0; i < count; i++) {
		rt_buf_clear(&one);
		random_ops_make(ops, m, &one);
		if (!is_json(rt_buf_str(&one)))
			continue;
		rt_json_add_comma(out);
		rt_buf_add_str(out, rt_buf_str(&one));
	}
	ops->cautious = false;
	random_ops_any_kind(ops);
	rt_buf_add_c(out, "]}");
	rt_buf_deinit(&one);
}

static void
make_line(const model_run_options *o, random_ops *ops, const model *m, rt_buf *out)
{
	rt_buf_clear(out);
	if (o->restart_every > 0 && random_below(ops, (unsigned)o->restart_every) == 0) {
		rt_buf_add_c(out, "{\"run\":\"restart\"}");
	} else if (o->crash_every > 0 && o->dir != NULL &&
		   random_below(ops, (unsigned)o->crash_every) == 0) {
		int64_t at = 1 + (int64_t)random_below(ops, 60);

		if (random_below(ops, 2) == 0)
			at = -1 - (int64_t)random_below(ops, 8000);
		make_group(ops, m, "crash", at, 1 + random_below(ops, 12), out);
	} else if (o->group_every > 0 && random_below(ops, (unsigned)o->group_every) == 0) {
		make_group(ops, m, random_below(ops, 2) ? "atomic" : "batch", 0,
			   1 + random_below(ops, 5), out);
	} else {
		random_ops_make(ops, m, out);
	}
}

bool
model_run_seed(const model_run_options *options, model_run_stats *stats)
{
	run r;
	line_list list = {NULL, 0, NULL};
	random_ops ops;
	size_t i, looked = 0, every = options->check_every > 0 ? options->check_every : 1;
	bool ok;
	rt_buf line;
	char first[80];

	if (options->trace != NULL)
		list.trace = fopen(options->trace, "w");
	rt_buf_init(&line, rt_alloc_libc(), RT_BUF_UNLIMITED);
	random_ops_init(&ops, options->seed);
	snprintf(first, sizeof(first), "{\"run\":\"seed\",\"seed\":%llu}",
		 (unsigned long long)options->seed);
	list_add(&list, rt_str_of(first));
	ok = run_begin(&r, options, stats);
	for (i = 0; i < options->ops && ok; i++) {
		make_line(options, &ops, &r.model, &line);
		if (i + 1 == options->ops) {
			rt_buf_clear(&line);
			rt_buf_add_c(&line, "{\"run\":\"undo all\"}");
		}
		list_add(&list, rt_buf_str(&line));
		ok = run_line(&r, rt_buf_str(&line));
		if (ok && i - looked >= every) {
			looked = i;
			ok = look(&r);
		}
	}
	ok = run_end(&r, ok);
	if (!ok && options->known != NULL && options->known(r.why)) {
		ok = true;
	} else if (!ok) {
		printf("seed %llu, request %zu:\n%.*s\n%s\n", (unsigned long long)options->seed, i,
		       RT_STR_ARG(rt_buf_str(&line)), r.why);
		fflush(stdout);
		if (options->reproducer != NULL)
			model_run_shrink(options, list.lines, list.count);
	}
	rt_buf_deinit(&line);
	list_free(&list);
	return ok;
}

/* ---- shrinking ---- */

/* 0: they agree, 2: the process crashed, otherwise the kind of disagreement. */
static int
try_lines(const model_run_options *options, const rt_str *lines, size_t count)
{
	int status = 0, verdict = 2;
	pid_t child;

	fflush(NULL);
	child = fork();
	if (child == 0) {
		model_run_options mine = *options;
		model_run_stats stats = {0};

		mine.quiet = true;
		mine.check_every = 1;
		if (freopen("/dev/null", "w", stderr) == NULL)
			_exit(2);
		alarm(60);
		mine.kind = &verdict;
		_exit(model_run_lines(&mine, lines, count, &stats) ? 0 : verdict);
	}
	if (child < 0 || waitpid(child, &status, 0) < 0)
		return 0;
	return WIFEXITED(status) && (WEXITSTATUS(status) == 0 || WEXITSTATUS(status) >= 10)
		       ? WEXITSTATUS(status)
		       : 2;
}

void
model_run_shrink(const model_run_options *options, const rt_str *lines, size_t count)
{
	rt_str *mine = malloc((count + 1) * sizeof(*mine)), *less = malloc((count + 1) * sizeof(*less));
	int verdict = try_lines(options, lines, count);
	size_t n = count, size, at, i;
	char *dull = malloc((count + 1) * 64);
	unsigned budget = 4000;
	FILE *file;

	memcpy(mine, lines, count * sizeof(*mine));
	for (size = n / 2; verdict != 0 && size > 0; size = size > 1 || budget == 0 ? size / 2 : 0) {
		bool dropped = false;

		for (at = 1; at < n && budget > 0;) { /* the first line is the seed */
			size_t end = at + size < n ? at + size : n;

			memcpy(less, mine, at * sizeof(*mine));
			memcpy(less + at, mine + end, (n - end) * sizeof(*mine));
			budget--;
			if (try_lines(options, less, n - (end - at)) == verdict) {
				memcpy(mine, less, (n - (end - at)) * sizeof(*mine));
				n -= end - at;
				dropped = true;
			} else {
				at = end;
			}
		}
		if (dropped && size == 1)
			size = 2; /* repeat */
	}
	/* Numbers that later lines refer to must stay the same: replaces lines by trivial ones. */
	for (at = 1; at < n && verdict != 0 && budget > 0; at++) {
		rt_str old = mine[at];

		if (rt_str_starts(old, RT_STR("{\"op\":\"setting.set\",\"key\":\"-\"")))
			continue;
		snprintf(dull + at * 64, 64, "{\"op\":\"setting.set\",\"key\":\"-\",\"value\":%zu}", at);
		mine[at] = rt_str_of(dull + at * 64);
		budget--;
		if (try_lines(options, mine, n) != verdict)
			mine[at] = old;
	}
	file = fopen(options->reproducer, "w");
	if (file != NULL) {
		for (i = 0; i < n; i++)
			fprintf(file, "%.*s\n", RT_STR_ARG(mine[i]));
		fclose(file);
	}
	printf("%s: %zu lines of %zu%s\n", options->reproducer, n, count,
	       verdict == 0 ? " (it does not fail again)" : verdict == 2 ? " (the process dies)" : "");
	for (i = 0; i < n && n < 60; i++)
		if (!rt_str_starts(mine[i], RT_STR("{\"op\":\"setting.set\",\"key\":\"-\"")))
			printf("  %zu: %.*s\n", i, 
			       (int)(mine[i].size < 400 ? mine[i].size : 400), mine[i].ptr);
	if (verdict >= 10) {
		model_run_options loud = *options;
		model_run_stats stats = {0};

		loud.check_every = 1;
		loud.quiet = false;
		model_run_lines(&loud, mine, n, &stats);
	}
	fflush(stdout);
	free(mine);
	free(less);
	free(dull);
}
