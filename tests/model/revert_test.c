/* SPDX-License-Identifier: MIT
 *
 * Every operation that makes a step: undone, redone, reverted and the revert undone, compared by
 * the canonical bytes of the project; and its revert with each allocation failing. */
#include "base/failing_testing.h"
#include "contract_testing.h"
#include "core/op.h"

typedef struct sample {
	const char *request;
	const char *before; /* another request that comes first; or NULL */
} sample;

static const sample samples[] = {
	{.request = "{'op':'entry.append','content':'x'}"},
	{.request = "{'op':'entry.insert','after':'aa','content':'x'}"},
	{.request = "{'op':'entry.reply','after':'cc','content':'x'}"},
	{.request = "{'op':'entry.edit','entry':'aa','content':'x','everywhere':true}"},
	{.request = "{'op':'entry.role','entry':'aa','role':'AI'}"},
	{.request = "{'op':'entry.delete','from':'aa','to':'cc'}"},
	{.request = "{'op':'entry.move','entry':'aa','after':'cc'}"},
	{.request = "{'op':'entry.mute','entry':'aa','muted':true}"},
	{.request = "{'op':'entry.fail','entry':'cc','failure':{'code':'c','detail':'d'}}"},
	{.request = "{'op':'entry.split','entry':'aa','at':2}"},
	{.request = "{'op':'entry.merge','entry':'aa'}"},
	{.request = "{'op':'take.branch','at':'bb','name':'new'}"},
	{.request = "{'op':'take.switch','take':'side'}"},
	{.request = "{'op':'take.rename','take':'side','name':'z'}"},
	{.request = "{'op':'take.delete','take':'side'}"},
	{.request = "{'op':'take.promote','take':'side','name':'apart'}"},
	{.request = "{'op':'take.clear'}"},
	{.request = "{'op':'take.truncate','pairs':1}"},
	{.request = "{'op':'take.graft','from':'side','entries':['ss'],'after':'aa'}"},
	{.request = "{'op':'head.move','entry':'bb'}"},
	{.request = "{'op':'label.set','entry':'aa','label':'l'}"},
	{.request = "{'op':'setting.set','key':'model','value':'m/x'}"},
	{.request = "{'op':'role.add','role':'Tool'}"},
	{.request = "{'op':'role.remove','role':'Tool'}",
	 .before = "{'op':'role.add','role':'Tool'}"},
	{.request = "{'op':'prompt.update','text':'p'}"},
	{.request = "{'op':'prompt.notify'}",
	 .before = "{'op':'prompt.update','text':'p'}"},
	{.request = "{'op':'files.set','which':'files','items':['b.c']}"},
	{.request = "{'op':'track.set','track':'t'}"},
	{.request = "{'op':'track.toggle'}",
	 .before = "{'op':'track.set','track':'t'}"},
	{.request = "{'op':'preset.save','name':'n'}"},
	{.request = "{'op':'preset.load','name':'q'}"},
	{.request = "{'op':'preset.delete','name':'q'}"},
	{.request = "{'op':'discussion.new','name':'n'}"},
	{.request = "{'op':'discussion.switch','discussion':'other'}"},
	{.request = "{'op':'discussion.rename','discussion':'main','name':'n'}"},
	{.request = "{'op':'discussion.delete','discussion':'main'}"},
	{.request = "{'op':'discussion.extract','entry':'bb','name':'n'}"},
	{.request = "{'op':'project.reset'}"},
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

static void
test_every_operation_has_a_sample(void **state)
{
	(void)state;
	for (size_t i = 0; i < RT_OP_COUNT; i++) {
		bool found = false;
		char begin[60];

		snprintf(begin, sizeof(begin), "{'op':'%s'", rt_ops[i].name);
		for (size_t k = 0; k < SAMPLES; k++)
			found = found ||
				strncmp(samples[k].request, begin, strlen(begin)) == 0;
		for (size_t k = 0; k < sizeof(others) / sizeof(others[0]); k++)
			found = found || strcmp(others[k], rt_ops[i].name) == 0;
		if (!found)
			fail_msg("there is no sample of %s", rt_ops[i].name);
	}
}

int
main(void)
{
	struct CMUnitTest tests[SAMPLES + 1] = {
		cmocka_unit_test(test_every_operation_has_a_sample),
	};

	for (size_t i = 0; i < SAMPLES; i++)
		tests[i + 1] = (struct CMUnitTest){.name = samples[i].request,
						   .test_func = test_one,
						   .initial_state = (void *)(uintptr_t)&samples[i]};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
