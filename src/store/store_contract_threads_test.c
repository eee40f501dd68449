/* SPDX-License-Identifier: MIT
 *
 * The contract of log/store.h over every kind of store: reopening, two handles, backup, threads, and
 * random transactions against a plain model. */
#include "store/store_contract_testing.h"

/* --- reopening, two handles, backup --- */

static void
test_reopen(void **state)
{
	fixture *f = *state;
	uint64_t head = 0, found = 0;

	if (!f->kind->is_lasting)
		skip();
	for (uint64_t seq = 1; seq <= 300; seq++) {
		append_one(f, seq);
		if (seq % 100 == 0)
			reopen(f);
	}
	MUST(rt_store_get(f->store, rt_rows_named(RT_STORE_PROJECTS, 0, RT_STR("first")), NULL,
			  &found, err));
	assert_int_equal(found, f->project);
	MUST(OPS(f)->head(f->store, RT_STORE_LOG, f->project, &head, err));
	assert_int_equal(head, 300);
	expect_body(f, 150, "body 150");
	must_be_clean(f);

	/* Closed inside a begin: as if cancelled. */
	rt_store_row row = log_row(301, RT_STR("never"));
	MUST(OPS(f)->begin(f->store, err));
	MUST(OPS(f)->append(f->store, f->project, 300, &row, 1, NULL, 0, NULL, err));
	reopen(f);
	MUST(OPS(f)->head(f->store, RT_STORE_LOG, f->project, &head, err));
	assert_int_equal(head, 300);
}

static void
test_two_handles(void **state)
{
	fixture *f = *state;
	fixture g = *f;
	uint64_t head = 0, second = 0;
	seen s = {0};

	if (!f->kind->is_lasting)
		skip();
	MUST(((void)err, f->kind->open(&g, &g.store)));
	append_one(f, 1);
	append_one(&g, 2);
	append_one(f, 3);
	MUST(OPS(&g)->head(g.store, RT_STORE_LOG, g.project, &head, err));
	assert_int_equal(head, 3);
	expect_body(&g, 3, "body 3");

	/* One writes, the other times out with a message; reading continues. */
	rt_store_row row = log_row(4, RT_STR("effect 4"));
	MUST(OPS(f)->begin(f->store, err));
	MUST(OPS(f)->append(f->store, f->project, 3, &row, 1, NULL, 0, NULL, err));
	FAILS(RT_BUSY, OPS(&g)->begin(g.store, err));
	if (OPS(&g)->begin_at != NULL) { /* the wait for the lock is limited there, too */
		rt_store_row body = {.number = 4, .entry = 4, .data = RT_STR("body 4")};
		const rt_str name = RT_STR("mark");

		MUST(OPS(&g)->head(g.store, RT_STORE_LOG, g.project, &head, err));
		MUST(OPS(&g)->begin_at(g.store, g.project, head, NULL, err));
		MUST(OPS(&g)->append(g.store, g.project, head, &row, 1, &body, 1, NULL, err));
		FAILS(RT_BUSY, OPS(&g)->commit(g.store, err));
		OPS(&g)->cancel(g.store);
		FAILS(RT_BUSY, OPS(&g)->begin_at(g.store, g.project, head, &name, err));
	}
	FAILS(RT_BUSY, OPS(&g)->write(g.store, rt_rows_named(RT_STORE_SIDE, g.project, RT_STR("x")),
				      RT_STR("y"), err));
	MUST(OPS(&g)->read(g.store, rt_rows_between(RT_STORE_LOG, g.project, 1, 9), see_log, &s,
			   err));
	assert_int_equal(s.count, 3);
	MUST(OPS(f)->commit(f->store, err));
	MUST(OPS(&g)->begin(g.store, err));
	FAILS(RT_CONFLICT, OPS(&g)->append(g.store, g.project, 3, &row, 1, NULL, 0, &head, err));
	assert_int_equal(head, 4);
	/* Changes of another handle are visible here. */
	OPS(&g)->cancel(g.store);
	MUST(OPS(&g)->begin(g.store, err));
	MUST(OPS(&g)->project_new(g.store, RT_STR("second"), &second, err));
	MUST(OPS(&g)->commit(g.store, err));
	MUST(OPS(f)->begin(f->store, err));
	MUST(OPS(f)->append(f->store, second, 0, NULL, 0, NULL, 0, NULL, err));
	MUST(OPS(f)->commit(f->store, err));
	OPS(&g)->close(g.store);
	append_one(f, 5);
	must_be_clean(f);
}

/* The log from a row on, and a side row; the lock may have read them already. */
static void
expect_ahead(fixture *f, uint64_t first, uint64_t last, const char *side)
{
	rt_buf buf;
	seen s = {0};

	rt_buf_init(&buf, rt_alloc_libc(), RT_BUF_UNLIMITED);
	MUST(OPS(f)->read(f->store, rt_rows_between(RT_STORE_LOG, f->project, first, last), see_log, &s, err));
	assert_int_equal(s.count, last - first + 1);
	assert_int_equal(s.numbers[0], first);
	assert_int_equal(s.numbers[s.count - 1], last);
	rt_status st = rt_store_get(f->store, rt_rows_named(RT_STORE_SIDE, f->project, RT_STR("mark")), &buf, NULL, NULL);
	assert_int_equal(st, side != NULL ? RT_OK : RT_NOT_FOUND);
	assert_true(rt_str_is(rt_buf_str(&buf), side != NULL ? side : ""));
	rt_buf_deinit(&buf);
}

static void
test_locked_begin_reads(void **state)
{
	fixture *f = *state;
	const rt_str name = RT_STR("mark");
	uint64_t heads[] = {0, 1, 100, 199, 200, 300}, head = 0;
	rt_store_row row = log_row(201, RT_STR("effect 201")), body = {.number = 201, .entry = 1, .data = RT_STR("body")};

	if (OPS(f)->begin_at == NULL)
		skip();
	for (uint64_t seq = 1; seq <= 200; seq++) /* more than one page */
		append_one(f, seq);
	for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++) {
		MUST(OPS(f)->begin_at(f->store, f->project, heads[i], &name, err));
		MUST(OPS(f)->head(f->store, RT_STORE_LOG, f->project, &head, err));
		assert_int_equal(head, 200);
		if (heads[i] < head)
			expect_ahead(f, heads[i] + 1, heads[i] + 1, NULL); /* less than was read */
		if (heads[i] < head)
			expect_ahead(f, heads[i] + 1, head, NULL);
		expect_ahead(f, 150, head, NULL);
		MUST(OPS(f)->commit(f->store, err));
	}
	/* What it writes itself is read. */
	MUST(OPS(f)->write(f->store, rt_rows_named(RT_STORE_SIDE, f->project, name), RT_STR("a"), err));
	MUST(OPS(f)->begin_at(f->store, f->project, 190, &name, err));
	MUST(OPS(f)->append(f->store, f->project, 200, &row, 1, &body, 1, &head, err));
	MUST(OPS(f)->write(f->store, rt_rows_named(RT_STORE_SIDE, f->project, name), RT_STR("b"), err));
	expect_ahead(f, 191, 201, "b");
	MUST(OPS(f)->commit(f->store, err));
	/* The rows that were read with a lock are not used by another begin or for another project. */
	MUST(OPS(f)->begin_at(f->store, f->project, 190, &name, err));
	OPS(f)->cancel(f->store);
	MUST(OPS(f)->write(f->store, rt_rows_named(RT_STORE_SIDE, f->project, name), rt_str_at(NULL, 0), err));
	MUST(OPS(f)->begin(f->store, err));
	expect_ahead(f, 191, 201, NULL);
	OPS(f)->cancel(f->store);
	MUST(OPS(f)->begin_at(f->store, f->project + 1, 190, &name, err));
	expect_ahead(f, 191, 201, NULL);
	OPS(f)->cancel(f->store);
	must_be_clean(f);
}

static void
test_backup(void **state)
{
	fixture *f = *state;
	fixture copy = *f;
	rt_store_sqlite_options options = {.busy_ms = 1000};
	char path[128];
	struct stat info;
	uint64_t head = 0, here = 0, there = 0;

	if (!f->kind->is_file) {
		FAILS(RT_REFUSED, OPS(f)->backup(f->store, "/tmp/never", err));
		return;
	}
	for (uint64_t seq = 1; seq <= 50; seq++)
		append_one(f, seq);
	snprintf(path, sizeof(path), "%s/copy", f->folder);
	MUST(OPS(f)->backup(f->store, path, err));
	FAILS(RT_REFUSED, OPS(f)->backup(f->store, path, err));
	FAILS(RT_REFUSED, OPS(f)->backup(f->store, f->folder, err));
	assert_int_equal(stat(path, &info), 0);
	assert_int_equal(info.st_mode & 0777, 0600);
	append_one(f, 51);
	MUST(rt_store_sqlite_open(rt_alloc_libc(), &env, path, &options, &copy.store, err));
	MUST(OPS(&copy)->head(copy.store, RT_STORE_LOG, f->project, &head, err));
	assert_int_equal(head, 50);
	expect_body(&copy, 50, "body 50");
	must_be_clean(&copy);
	MUST(OPS(f)->epoch(f->store, &here, err));
	MUST(OPS(&copy)->epoch(copy.store, &there, err));
	assert_int_equal(here, there);
	OPS(&copy)->close(copy.store);
	/* Nothing else remains. */
	snprintf(path, sizeof(path), "ls %s | grep -v '^copy$' | grep -c copy > /dev/null",
		 f->folder);
	assert_int_not_equal(system(path), 0);
	snprintf(path, sizeof(path), "%s/no/such/folder", f->folder);
	FAILS(RT_IO, OPS(f)->backup(f->store, path, err));
}

/* --- threads --- */

typedef struct crowd {
	fixture *f;
	_Atomic bool stop;
	_Atomic int reads;
} crowd;

enum { THREAD_APPENDS = 60, WRITERS = 3, READERS = 3 };

static void *
write_some(void *ctx)
{
	crowd *c = ctx;
	fixture *f = c->f;

	for (int i = 0; i < THREAD_APPENDS; i++) {
		rt_store_row row;
		rt_store_row body;
		uint64_t head = 0;
		char text[64];

		MUST(OPS(f)->begin(f->store, err));
		MUST(OPS(f)->head(f->store, RT_STORE_LOG, f->project, &head, err));
		row = log_row(head + 1, text_of(text, sizeof(text), "body %llu", head + 1));
		body = (rt_store_row){.number = head + 1, .entry = 0, .data = row.data};
		MUST(OPS(f)->append(f->store, f->project, head, &row, 1, &body, 1, NULL, err));
		MUST(OPS(f)->write(f->store, rt_rows_one(RT_STORE_NODES, f->project, 1), row.data,
				   err));
		if (i % 5 == 4)
			OPS(f)->cancel(f->store);
		else
			MUST(OPS(f)->commit(f->store, err));
		if (i % 10 == 0)
			MUST(OPS(f)->write(
				f->store, rt_rows_named(RT_STORE_SIDE, f->project, RT_STR("draft")),
				row.data, err));
	}
	return NULL;
}

static void *
read_some(void *ctx)
{
	crowd *c = ctx;
	fixture *f = c->f;
	uint64_t last = 0;
	seen *s = malloc(sizeof(*s));
	rt_buf buf;

	rt_buf_init(&buf, rt_alloc_libc(), 1000);
	while (!c->stop) {
		uint64_t head = 0;
		char text[64];

		MUST(OPS(f)->head(f->store, RT_STORE_LOG, f->project, &head, err));
		assert_true(head >= last);
		last = head;
		if (head == 0)
			continue;
		/* Every state that is read is committed, complete and readable. */
		rt_buf_clear(&buf);
		MUST(rt_store_get(f->store, rt_rows_one(RT_STORE_BODIES, f->project, head), &buf,
				  NULL, err));
		assert_true(rt_str_eq(rt_buf_str(&buf),
				      text_of(text, sizeof(text), "body %llu", head)));
		memset(s, 0, sizeof(*s));
		MUST(OPS(f)->read(f->store, rt_rows_between(RT_STORE_LOG, f->project, 1, head),
				  see_log, s, err));
		assert_int_equal(s->count, head);
		c->reads++;
	}
	rt_buf_deinit(&buf);
	free(s);
	return NULL;
}

static void
test_threads(void **state)
{
	crowd c = {.f = *state};
	pthread_t writers[WRITERS], readers[READERS];
	uint64_t head = 0;

	for (int i = 0; i < READERS; i++)
		assert_int_equal(pthread_create(&readers[i], NULL, read_some, &c), 0);
	for (int i = 0; i < WRITERS; i++)
		assert_int_equal(pthread_create(&writers[i], NULL, write_some, &c), 0);
	for (int i = 0; i < WRITERS; i++)
		assert_int_equal(pthread_join(writers[i], NULL), 0);
	c.stop = true;
	for (int i = 0; i < READERS; i++)
		assert_int_equal(pthread_join(readers[i], NULL), 0);
	MUST(OPS(c.f)->head(c.f->store, RT_STORE_LOG, c.f->project, &head, err));
	assert_int_equal(head, WRITERS * THREAD_APPENDS * 4 / 5);
	must_be_clean(c.f);
}

/* A reader does not wait for an open begin, and sees none of its changes. */
static void *
read_beside(void *ctx)
{
	crowd *c = ctx;
	fixture *f = c->f;
	uint64_t head = 9;
	seen s = {0};

	MUST(OPS(f)->head(f->store, RT_STORE_LOG, f->project, &head, err));
	assert_int_equal(head, 1);
	MUST(OPS(f)->read(f->store, rt_rows_between(RT_STORE_LOG, f->project, 1, 9), see_log, &s,
			  err));
	assert_int_equal(s.count, 1);
	expect_body(f, 1, "body 1");
	MUST(OPS(f)->read(f->store, rt_rows_numbers(RT_STORE_NODES, f->project), see_number, &s,
			  err));
	assert_int_equal(s.count, 1);
	c->reads++;
	return NULL;
}

static void
test_reader_beside_begin(void **state)
{
	crowd c = {.f = *state};
	fixture *f = c.f;
	rt_store_row row = log_row(2, RT_STR("effect 2"));
	pthread_t reader;
	seen s = {0};

	append_one(f, 1);
	MUST(OPS(f)->begin(f->store, err));
	MUST(OPS(f)->append(f->store, f->project, 1, &row, 1, NULL, 0, NULL, err));
	MUST(OPS(f)->write(f->store, rt_rows_one(RT_STORE_NODES, f->project, 4), RT_STR("n"), err));
	MUST(OPS(f)->write(f->store, rt_rows_one(RT_STORE_BODIES, f->project, 1), RT_STR("changed"),
			   err));
	assert_int_equal(pthread_create(&reader, NULL, read_beside, &c), 0);
	assert_int_equal(pthread_join(reader, NULL), 0);
	assert_int_equal(c.reads, 1);
	MUST(OPS(f)->read(f->store, rt_rows_between(RT_STORE_LOG, f->project, 1, 9), see_log, &s,
			  err));
	assert_int_equal(s.count, 2);
	expect_body(f, 1, "changed");
	MUST(OPS(f)->commit(f->store, err));
}

/* --- against a plain model --- */

enum { MODEL_STEPS = 400, MODEL_NODES = 12 };

typedef struct model {
	uint64_t log_count, body_count;
	int bodies[MODEL_STEPS * 3]; /* the number in body i's text */
	int nodes[MODEL_NODES];      /* 0: none */
	int side;
} model;

static uint64_t
next_random(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

static void
model_write(fixture *f, model *m, uint64_t *seed, int step)
{
	char text[64];
	rt_str data = text_of(text, sizeof(text), "text %llu", (uint64_t)step);

	switch (next_random(seed) % 6) {
	case 0:
	case 1: {
		rt_store_row row = log_row(m->log_count + 1, data);
		rt_store_row body = {.number = m->body_count + 1, .entry = 0, .data = data};

		MUST(OPS(f)->append(f->store, f->project, m->log_count, &row, 1, &body, 1, NULL,
				    err));
		m->log_count++;
		m->bodies[m->body_count++] = step;
		break;
	}
	case 2: {
		uint64_t node = next_random(seed) % MODEL_NODES;

		MUST(OPS(f)->write(f->store, rt_rows_one(RT_STORE_NODES, f->project, node + 1),
				   data, err));
		m->nodes[node] = step;
		break;
	}
	case 3: {
		uint64_t node = next_random(seed) % MODEL_NODES;

		MUST(OPS(f)->drop(f->store, rt_rows_one(RT_STORE_NODES, f->project, node + 1),
				  err));
		m->nodes[node] = 0;
		break;
	}
	case 4:
		MUST(OPS(f)->write(f->store,
				   rt_rows_named(RT_STORE_SIDE, f->project, RT_STR("side")),
				   step % 3 == 0 ? RT_STR("") : data, err));
		m->side = step % 3 == 0 ? 0 : step;
		break;
	default:
		if (m->body_count > 0) {
			uint64_t body = next_random(seed) % m->body_count;

			MUST(OPS(f)->write(f->store,
					   rt_rows_one(RT_STORE_BODIES, f->project, body + 1), data,
					   err));
			m->bodies[body] = step;
		}
	}
}

static void
model_compare(fixture *f, const model *m)
{
	char text[64];
	uint64_t number = 0;
	rt_buf buf;

	rt_buf_init(&buf, rt_alloc_libc(), 1000);
	MUST(OPS(f)->head(f->store, RT_STORE_LOG, f->project, &number, err));
	assert_int_equal(number, m->log_count);
	MUST(OPS(f)->head(f->store, RT_STORE_BODIES, f->project, &number, err));
	assert_int_equal(number, m->body_count);
	for (uint64_t i = 0; i < m->body_count; i++)
		expect_body(f, i + 1,
			    text_of(text, sizeof(text), "text %llu", (uint64_t)m->bodies[i]).ptr);
	for (uint64_t i = 0; i < MODEL_NODES; i++) {
		rt_buf_clear(&buf);
		if (m->nodes[i] == 0) {
			FAILS(RT_NOT_FOUND,
			      rt_store_get(f->store, rt_rows_one(RT_STORE_NODES, f->project, i + 1),
					   &buf, NULL, err));
			continue;
		}
		MUST(rt_store_get(f->store, rt_rows_one(RT_STORE_NODES, f->project, i + 1), &buf,
				  NULL, err));
		assert_true(rt_str_eq(rt_buf_str(&buf), text_of(text, sizeof(text), "text %llu",
								(uint64_t)m->nodes[i])));
	}
	rt_buf_deinit(&buf);
}

static void
test_model(void **state)
{
	fixture *f = *state;
	uint64_t seed = (uint64_t)time(NULL) * 2654435761u | 1, first = seed;
	model *kept = calloc(1, sizeof(*kept)), *now = calloc(1, sizeof(*now));

	print_message("seed %llu\n", (unsigned long long)first);
	for (int step = 1; step < MODEL_STEPS;) {
		uint64_t writes = next_random(&seed) % 8;

		*now = *kept;
		MUST(OPS(f)->begin(f->store, err));
		for (uint64_t i = 0; i <= writes; i++)
			model_write(f, now, &seed, step++);
		if (next_random(&seed) % 4 == 0) {
			OPS(f)->cancel(f->store);
		} else {
			MUST(OPS(f)->commit(f->store, err));
			*kept = *now;
		}
		if (next_random(&seed) % 4 == 0)
			model_compare(f, kept);
		if (f->kind->is_lasting && next_random(&seed) % 16 == 0)
			reopen(f);
	}
	model_compare(f, kept);
	must_be_clean(f);
	free(kept);
	free(now);
}

int
main(void)
{
	static const contract_test tests[] = {
		{"reopen", test_reopen},
		{"two_handles", test_two_handles},
		{"locked_begin_reads", test_locked_begin_reads},
		{"backup", test_backup},
		{"threads", test_threads},
		{"reader_beside_begin", test_reader_beside_begin},
		{"model", test_model},
	};

	return run_contract("store_contract_threads", tests, sizeof(tests) / sizeof(*tests));
}
