/* SPDX-License-Identifier: MIT
 *
 * Every operation that makes a step: undone, redone, reverted and the revert undone, compared by
 * the canonical bytes of the project; and its revert with each allocation failing. */
#include "base/failing_testing.h"
#include "contract_testing.h"
#include "core/op_testing.h"

typedef struct sample {
	const char *request;
	const char *before; /* another request that comes first; or NULL */
} sample;

/* Operations without a row here get a request with their required fields (core/op_testing.h). */
static const sample samples[] = {
	{.request = "{'op':'entry.append','content':'x'}"},
	{.request = "{'op':'entry.insert','after':'aa','content':'x'}"},
	{.request = "{'op':'entry.reply','after':'cc','content':'x'}"},
	{.request = "{'op':'entry.edit','entry':'aa','content':'x','everywhere':true}"},
	{.request = "{'op':'entry.delete','from':'aa','to':'cc'}"},
	{.request = "{'op':'entry.move','entry':'aa','after':'cc'}"},
	{.request = "{'op':'entry.fail','entry':'cc','failure':{'code':'c','detail':'d'}}"},
	{.request = "{'op':'take.switch','take':'side'}"},
	{.request = "{'op':'take.rename','take':'side','name':'z'}"},
	{.request = "{'op':'take.delete','take':'side'}"},
	{.request = "{'op':'take.promote','take':'side','name':'apart'}"},
	{.request = "{'op':'take.graft','from':'side','entries':['ss'],'after':'aa'}"},
	{.request = "{'op':'role.remove','role':'Tool'}",
	 .before = "{'op':'role.add','role':'Tool'}"},
	{.request = "{'op':'prompt.notify'}",
	 .before = "{'op':'prompt.update','text':'p'}"},
	{.request = "{'op':'files.set','which':'files','items':['b.c']}"},
	{.request = "{'op':'track.toggle'}",
	 .before = "{'op':'track.set','track':'t'}"},
	{.request = "{'op':'preset.load','name':'q'}"},
	{.request = "{'op':'preset.delete','name':'q'}"},
	{.request = "{'op':'discussion.switch','discussion':'other'}"},
	{.request = "{'op':'discussion.rename','discussion':'main','name':'n'}"},
	{.request = "{'op':'discussion.delete','discussion':'main'}"},
};

enum { SAMPLES = sizeof(samples) / sizeof(samples[0]) };

/* Not steps, or operations on the history itself. */
static const char *const others[] = {"entry.view", "undo", "redo", "jump", "revert", "purge"};

typedef struct world {
	fixture f;
	failing memory;
	rt_alloc alloc;
} world;

static void
open_world(world *w)
{
	static const char *const requests[] = {
		"{'op':'take.branch','at':'bb','name':'side'}",
		"{'op':'entry.append','id':'ss','content':'aside'}",
		"{'op':'take.switch','take':'main'}",
		"{'op':'preset.save','name':'q'}",
		"{'op':'files.set','which':'files','items':['a.c']}",
		"{'op':'label.set','entry':'bb','label':'here'}",
		"{'op':'discussion.new','name':'other'}",
		"{'op':'discussion.switch','discussion':'main'}",
	};
	rt_engine_options o = {.by = RT_STR("test"), .create = true};
	fixture *f = &w->f;

	memset(w, 0, sizeof(*w));
	atomic_store(&w->memory.left, -1);
	w->alloc = (rt_alloc){failing_resize, failing_release, &w->memory};
	f->env = (rt_env){now_us, random_bytes, f};
	f->chance = 7;
	o.alloc = &w->alloc;
	o.env = &f->env;
	rt_buf_init(&f->out, rt_alloc_libc(), RT_BUF_UNLIMITED);
	assert_int_equal(rt_store_memory_open(rt_alloc_libc(), &f->env, &f->store, NULL), RT_OK);
	assert_int_equal(rt_engine_open(&o, f->store, &f->engine, NULL), RT_OK);
	three(f);
	for (size_t i = 0; i < sizeof(requests) / sizeof(requests[0]); i++)
		DONE(requests[i]);
}

static void
close_world(world *w)
{
	rt_result_deinit(&w->f.result);
	rt_engine_close(w->f.engine);
	w->f.store->ops->close(w->f.store);
	rt_buf_deinit(&w->f.out);
	assert_int_equal(atomic_load(&w->memory.live), 0);
}

static void
same(fixture *f, const char *wanted, const char *op, const char *when)
{
	char *now = canonical(f);

	if (strcmp(now, wanted) != 0)
		fail_msg("%s, %s: %s\nnot: %s", op, when, now, wanted);
	free(now);
}

/* A step, and its revert; afterwards the fixture is in the state right after the step. */
static void
check_ways(world *w, const sample *one, char **out_after, uint64_t *out_seq)
{
	fixture *f = &w->f;
	char *before, *after, *reverted, line[80];

	if (one->before != NULL)
		DONE(one->before);
	before = canonical(f);
	DONE(one->request);
	*out_seq = f->result.seq;
	after = canonical(f);
	assert_string_not_equal(before, after);
	DONE("{'op':'undo'}");
	same(f, before, one->request, "undone");
	DONE("{'op':'redo'}");
	same(f, after, one->request, "redone");
	snprintf(line, sizeof(line), "{'op':'revert','seq':%llu}", (unsigned long long)*out_seq);
	DONE(line);
	same(f, before, one->request, "reverted");
	reverted = canonical(f);
	DONE("{'op':'undo'}");
	same(f, after, one->request, "revert undone");
	DONE("{'op':'redo'}");
	same(f, reverted, one->request, "revert redone");
	DONE("{'op':'undo'}");
	free(before);
	free(reverted);
	*out_after = after;
}

/* A revert that fails with RT_NOMEM changes nothing, and can be repeated. */
static void
check_memory(world *w, const sample *one, const char *after, uint64_t seq)
{
	fixture *f = &w->f;
	char line[80];
	rt_status st;

	for (long n = 0;; n++) {
		snprintf(line, sizeof(line), "{\"op\":\"revert\",\"seq\":%llu}",
			 (unsigned long long)seq);
		atomic_store(&w->memory.failed, false);
		atomic_store(&w->memory.left, n);
		st = run_raw(f, rt_str_of(line));
		atomic_store(&w->memory.left, -1);
		if (st == RT_OK)
			return;
		if (st != RT_NOMEM || !atomic_load(&w->memory.failed))
			fail_msg("%s, allocation %ld: %s", one->request, n, f->result.error.text);
		same(f, after, one->request, "out of memory");
	}
}

static void
test_one(void **state)
{
	const sample *one = *state;
	uint64_t seq;
	char *after;
	world w;

	open_world(&w);
	check_ways(&w, one, &after, &seq);
	check_memory(&w, one, after, seq);
	free(after);
	close_world(&w);
}

/* Is it the operation of this request? */
static bool
is_of(const char *request, const rt_op *op)
{
	char begin[60];

	snprintf(begin, sizeof(begin), "{'op':'%s'", op->name);
	return strncmp(request, begin, strlen(begin)) == 0;
}

static bool
has_sample(const rt_op *op)
{
	bool found = false;

	for (size_t i = 0; i < SAMPLES; i++)
		found = found || is_of(samples[i].request, op);
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		found = found || strcmp(others[i], op->name) == 0;
	return found;
}

int
main(void)
{
	static sample own[RT_OP_COUNT];
	struct CMUnitTest tests[SAMPLES + RT_OP_COUNT];
	rt_buf texts[RT_OP_COUNT];
	size_t count = 0, own_count = 0;

	for (; count < SAMPLES; count++)
		tests[count] = (struct CMUnitTest){.name = samples[count].request,
						   .test_func = test_one,
						   .initial_state = (void *)(uintptr_t)&samples[count]};
	for (size_t i = 0; i < RT_OP_COUNT; i++) {
		rt_buf *text = &texts[own_count];

		if (has_sample(&rt_ops[i]))
			continue;
		rt_buf_init(text, rt_alloc_libc(), RT_BUF_UNLIMITED);
		rt_buf_add_f(text, "{\"op\":\"%s\"%s", rt_ops[i].name,
			     (rt_ops[i].fields[0].flags & RT_FIELD_REQUIRED) != 0 ? "," : "");
		rt_op_add_required(text, &rt_ops[i], ":1", NULL);
		rt_buf_add_c(text, "}");
		own[own_count] = (sample){.request = text->ptr};
		tests[count++] = (struct CMUnitTest){.name = text->ptr,
						     .test_func = test_one,
						     .initial_state = &own[own_count++]};
	}
	int failed = _cmocka_run_group_tests("revert", tests, count, NULL, NULL);
	while (own_count > 0)
		rt_buf_deinit(&texts[--own_count]);
	return failed;
}
