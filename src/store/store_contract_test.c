/* SPDX-License-Identifier: MIT
 *
 * The contract of log/store.h over every kind of store: projects, log and bodies, checkpoints, side
 * rows. Search and purge are in store_contract_purge_test.c, several handles and threads in
 * store_contract_threads_test.c. */
#include "store/store_contract_testing.h"

/* --- projects --- */

static void
test_projects(void **state)
{
	fixture *f = *state;
	uint64_t second = 0, third = 0, found = 0;
	seen s = {0};

	FAILS(RT_NOT_FOUND,
	      rt_store_get(f->store, rt_rows_named(RT_STORE_PROJECTS, 0, RT_STR("second")), NULL,
			   &found, err));
	MUST(OPS(f)->begin(f->store, err));
	MUST(OPS(f)->project_new(f->store, RT_STR("second"), &second, err));
	FAILS(RT_REFUSED, OPS(f)->project_new(f->store, RT_STR("second"), &third, err));
	FAILS(RT_REFUSED, OPS(f)->project_new(f->store, RT_STR("first"), &third, err));
	MUST(rt_store_get(f->store, rt_rows_named(RT_STORE_PROJECTS, 0, RT_STR("second")), NULL,
			  &found, err));
	assert_int_equal(found, second);
	MUST(OPS(f)->commit(f->store, err));
	assert_int_not_equal(second, f->project);
	assert_true(second >= 1);
	assert_true(second <= RT_STORE_PROJECT_MAX);
	MUST(rt_store_get(f->store, rt_rows_named(RT_STORE_PROJECTS, 0, RT_STR("second")), NULL,
			  &found, err));
	assert_int_equal(found, second);
	MUST(OPS(f)->read(f->store, rt_rows_all(RT_STORE_PROJECTS, 0), see_project, &s, err));
	assert_string_equal(s.text, "1=first;2=second;");
	s = (seen){.stop_at = 1};
	MUST(OPS(f)->read(f->store, rt_rows_all(RT_STORE_PROJECTS, 0), see_project, &s, err));
	assert_string_equal(s.text, "1=first;");

	/* After a cancel, both the name and the number are free again. */
	MUST(OPS(f)->begin(f->store, err));
	MUST(OPS(f)->project_new(f->store, RT_STR("third"), &third, err));
	OPS(f)->cancel(f->store);
	FAILS(RT_NOT_FOUND,
	      rt_store_get(f->store, rt_rows_named(RT_STORE_PROJECTS, 0, RT_STR("third")), NULL,
			   &found, err));
	MUST(OPS(f)->begin(f->store, err));
	FAILS(RT_NOT_FOUND,
	      OPS(f)->write(f->store, rt_rows_one(RT_STORE_NODES, third, 1), RT_STR("x"), err));
	FAILS(RT_NOT_FOUND, OPS(f)->append(f->store, 77, 0, NULL, 0, NULL, 0, NULL, err));
	FAILS(RT_NOT_FOUND, OPS(f)->append(f->store, 0, 0, NULL, 0, NULL, 0, NULL, err));
	OPS(f)->cancel(f->store);
	must_be_clean(f);
}

static void
test_project_names(void **state)
{
	/* Any bytes are a name: there is no case folding and no truncation. */
	static const rt_str names[] = {
		{"", 0},   {"a\0b", 3},     {"a", 1},        {"A", 1},
		{"a ", 2}, {"\xff\xfe", 2}, {"\xc3\xa4", 2}, {"a\xcc\x88", 3},
		{"1", 1},  {"0x1", 3},      {"' OR 1", 6},   {"%", 1},
	};
	fixture *f = *state;
	uint64_t made[16], found = 0;

	MUST(OPS(f)->begin(f->store, err));
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		MUST(OPS(f)->project_new(f->store, names[i], &made[i], err));
	MUST(OPS(f)->commit(f->store, err));
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		MUST(rt_store_get(f->store, rt_rows_named(RT_STORE_PROJECTS, 0, names[i]), NULL,
				  &found, err));
		assert_int_equal(found, made[i]);
	}
}

/* --- log and bodies --- */

static void
test_empty(void **state)
{
	fixture *f = *state;
	uint64_t number = 9;
	seen s = {0};
	rt_buf buf;

	rt_buf_init(&buf, rt_alloc_libc(), 100);
	MUST(OPS(f)->head(f->store, RT_STORE_LOG, f->project, &number, err));
	assert_int_equal(number, 0);
	number = 9;
	MUST(OPS(f)->head(f->store, RT_STORE_BODIES, f->project, &number, err));
	assert_int_equal(number, 0);
	number = 9;
	MUST(OPS(f)->head(f->store, RT_STORE_INDEX, f->project, &number, err));
	assert_int_equal(number, 0);
	MUST(OPS(f)->read(f->store, rt_rows_between(RT_STORE_LOG, f->project, 1, 100), see_log, &s,
			  err));
	MUST(OPS(f)->read(f->store, rt_rows_between(RT_STORE_LOG, f->project, 100, 1), see_log, &s,
			  err));
	MUST(OPS(f)->read(f->store, rt_rows_between(RT_STORE_BODIES, f->project, 1, 100), see_body,
			  &s, err));
	MUST(OPS(f)->read(f->store, rt_rows_numbers(RT_STORE_NODES, f->project), see_number, &s,
			  err));
	MUST(OPS(f)->read(f->store, rt_rows_all(RT_STORE_SIDE, f->project), see_side, &s, err));
	MUST(OPS(f)->index_find(f->store, f->project, RT_STR("word"), 0, see_hit,
				&s, err));
	assert_int_equal(s.count, 0);
	FAILS(RT_NOT_FOUND,
	      rt_store_get(f->store, rt_rows_one(RT_STORE_BODIES, f->project, 1), &buf, NULL, err));
	FAILS(RT_NOT_FOUND,
	      rt_store_get(f->store, rt_rows_one(RT_STORE_NODES, f->project, 1), &buf, NULL, err));
	FAILS(RT_NOT_FOUND,
	      rt_store_get(f->store, rt_rows_all(RT_STORE_ROOT, f->project), &buf, &number, err));
	FAILS(RT_NOT_FOUND,
	      rt_store_get(f->store, rt_rows_named(RT_STORE_SIDE, f->project, RT_STR("x")), &buf,
			   NULL, err));
	assert_int_equal(buf.size, 0);
	assert_non_null(f->store->place);
	assert_false(f->store->is_read_only);
	rt_buf_deinit(&buf);
	must_be_clean(f);
}

static void
test_append(void **state)
{
	fixture *f = *state;
	uint64_t head = 0, number = 0, entry = 0;
	rt_store_row rows[3];
	rt_store_row bodies[2];
	seen s = {0};
	rt_buf buf;

	append_one(f, 1);
	append_one(f, 2);
	rows[0] = log_row(3, RT_STR("three"));
	rows[1] = log_row(4, RT_STR(""));
	rows[2] = log_row(5, (rt_str){"a\0b", 3});
	bodies[0] = (rt_store_row){.number = 7, .entry = 0, .data = (rt_str){NULL, 0}};
	bodies[1] = (rt_store_row){.number = RT_STORE_NUMBER_MAX - 1,
				   .entry = UINT64_MAX,
				   .data = (rt_str){"\0x\0", 3}};
	MUST(OPS(f)->begin(f->store, err));
	MUST(OPS(f)->head(f->store, RT_STORE_LOG, f->project, &number, err));
	assert_int_equal(number, 2);
	MUST(OPS(f)->append(f->store, f->project, 2, rows, 3, bodies, 2, &head, err));
	assert_int_equal(head, 5);
	MUST(OPS(f)->head(f->store, RT_STORE_LOG, f->project, &number, err));
	assert_int_equal(number, 5);
	MUST(OPS(f)->commit(f->store, err));
	MUST(OPS(f)->head(f->store, RT_STORE_LOG, f->project, &number, err));
	assert_int_equal(number, 5);
	MUST(OPS(f)->head(f->store, RT_STORE_BODIES, f->project, &number, err));
	assert_int_equal(number, RT_STORE_NUMBER_MAX - 1);

	expect_body(f, 2, "body 2");
	rt_buf_init(&buf, rt_alloc_libc(), 100);
	rt_buf_add_c(&buf, "kept ");
	MUST(rt_store_get(f->store,
			  rt_rows_one(RT_STORE_BODIES, f->project, RT_STORE_NUMBER_MAX - 1), &buf,
			  &entry, err));
	assert_int_equal(entry, UINT64_MAX);
	assert_true(rt_str_eq(rt_buf_str(&buf), (rt_str){"kept \0x\0", 8}));
	rt_buf_clear(&buf);
	MUST(rt_store_get(f->store, rt_rows_one(RT_STORE_BODIES, f->project, 7), &buf, &entry,
			  err));
	assert_int_equal(buf.size, 0);
	assert_int_equal(entry, 0);
	FAILS(RT_NOT_FOUND,
	      rt_store_get(f->store, rt_rows_one(RT_STORE_BODIES, f->project, 6), &buf, NULL, err));
	rt_buf_deinit(&buf);

	MUST(OPS(f)->read(f->store, rt_rows_between(RT_STORE_BODIES, f->project, 2, 7), see_body,
			  &s, err));
	assert_int_equal(s.count, 2);
	assert_int_equal(s.numbers[0], 2);
	assert_int_equal(s.numbers[1], 7);
	must_be_clean(f);
}

static void
test_read_order(void **state)
{
	static const struct {
		uint64_t first, last, count, from;
		int by;
	} cases[] = {
		{1, 9, 9, 1, 1},
		{9, 1, 9, 9, -1},
		{3, 5, 3, 3, 1},
		{5, 3, 3, 5, -1},
		{4, 4, 1, 4, 1},
		{8, 100, 2, 8, 1},
		{100, 8, 2, 9, -1},
		{10, 20, 0, 0, 1},
		{20, 10, 0, 0, -1},
		{0, 2, 2, 1, 1},
		{2, 0, 2, 2, -1},
		{UINT64_MAX, 8, 2, 9, -1},
		{8, UINT64_MAX, 2, 8, 1},
		{0, 0, 0, 0, 1},
		{UINT64_MAX, UINT64_MAX, 0, 0, 1},
		{RT_STORE_NUMBER_MAX, 9, 1, 9, -1},
	};
	fixture *f = *state;
	uint64_t other = 0;
	rt_store_row row = log_row(1, RT_STR("another's"));
	seen s;

	for (uint64_t seq = 1; seq <= 9; seq++)
		append_one(f, seq);
	MUST(OPS(f)->begin(f->store, err));
	MUST(OPS(f)->project_new(f->store, RT_STR("other"), &other, err));
	MUST(OPS(f)->append(f->store, other, 0, &row, 1, NULL, 0, NULL, err));
	MUST(OPS(f)->commit(f->store, err));
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		s = (seen){0};
		MUST(OPS(f)->read(
			f->store,
			rt_rows_between(RT_STORE_LOG, f->project, cases[i].first, cases[i].last),
			see_log, &s, err));
		assert_int_equal(s.count, cases[i].count);
		for (size_t n = 0; n < s.count; n++)
			assert_int_equal(s.numbers[n],
					 (int64_t)cases[i].from + cases[i].by * (int64_t)n);
	}
	s = (seen){.stop_at = 2};
	MUST(OPS(f)->read(f->store, rt_rows_between(RT_STORE_LOG, f->project, 1, 9), see_log, &s,
			  err));
	assert_int_equal(s.count, 2);
	assert_string_equal(s.text, "effect 2");
	s = (seen){0};
	MUST(OPS(f)->read(f->store, rt_rows_between(RT_STORE_BODIES, f->project, 3, UINT64_MAX),
			  see_body, &s, err));
	assert_int_equal(s.count, 7);
	s = (seen){0};
	MUST(OPS(f)->read(f->store, rt_rows_between(RT_STORE_BODIES, f->project, 5, 3), see_body,
			  &s, err));
	assert_int_equal(s.count, 0);
	s = (seen){0};
	MUST(OPS(f)->read(f->store,
			  rt_rows_listed(RT_STORE_BODIES, f->project,
					 (const uint64_t[]){2, 3, 5, 99, UINT64_MAX}, 5),
			  see_body, &s, err));
	assert_int_equal(s.count, 3);
	assert_int_equal(s.numbers[0], 2);
	assert_int_equal(s.numbers[2], 5);
	s = (seen){.stop_at = 2};
	MUST(OPS(f)->read(
		f->store,
		rt_rows_listed(RT_STORE_BODIES, f->project, (const uint64_t[]){2, 5, 6}, 3),
		see_body, &s, err));
	assert_int_equal(s.count, 2);
	s = (seen){0};
	MUST(OPS(f)->read(f->store, rt_rows_listed(RT_STORE_BODIES, f->project, NULL, 0), see_body,
			  &s, err));
	MUST(OPS(f)->read(f->store, rt_rows_listed(RT_STORE_BODIES, 0, (const uint64_t[]){2}, 1),
			  see_body, &s, err));
	assert_int_equal(s.count, 0);
	s = (seen){0};
	MUST(OPS(f)->read(f->store, rt_rows_between(RT_STORE_LOG, other, 0, UINT64_MAX), see_log,
			  &s, err));
	assert_int_equal(s.count, 1);
	assert_string_equal(s.text, "another's");
	must_be_clean(f);
}

static void
test_conflict(void **state)
{
	fixture *f = *state;
	rt_store_row row = log_row(2, RT_STR("two"));
	rt_store_row body = {.number = 2, .entry = 2, .data = RT_STR("two")};
	uint64_t head = 0;
	seen s = {0};

	append_one(f, 1);
	MUST(OPS(f)->begin(f->store, err));
	FAILS(RT_CONFLICT, OPS(f)->append(f->store, f->project, 0, &row, 1, &body, 1, &head, err));
	assert_int_equal(head, 1);
	FAILS(RT_CONFLICT, OPS(f)->append(f->store, f->project, 2, &row, 1, &body, 1, NULL, err));
	/* The begin is still open and contains nothing of it. */
	MUST(OPS(f)->append(f->store, f->project, 1, &row, 1, &body, 1, &head, err));
	assert_int_equal(head, 2);
	/* Numbers of bodies only go up. */
	FAILS(RT_USAGE, OPS(f)->append(f->store, f->project, 2, NULL, 0, &body, 1, &head, err));
	body.number = RT_STORE_NUMBER_MAX + 1;
	FAILS(RT_USAGE, OPS(f)->append(f->store, f->project, 2, NULL, 0, &body, 1, &head, err));
	body.number = 0;
	FAILS(RT_USAGE, OPS(f)->append(f->store, f->project, 2, NULL, 0, &body, 1, &head, err));
	MUST(OPS(f)->commit(f->store, err));
	MUST(OPS(f)->read(f->store, rt_rows_between(RT_STORE_LOG, f->project, 1, 9), see_log, &s,
			  err));
	assert_int_equal(s.count, 2);
	must_be_clean(f);
}

/* The mark, and how often the fox is found, are both this. */
static void
expect_found(fixture *f, uint64_t count)
{
	uint64_t mark;
	seen s = {0};

	MUST(OPS(f)->head(f->store, RT_STORE_INDEX, f->project, &mark, err));
	assert_int_equal(mark, count);
	MUST(OPS(f)->index_find(f->store, f->project, RT_STR("fox"), 0, see_hit, &s,
				err));
	assert_int_equal(s.count, count);
}

/* Many projects compared with the store at once. */
static void
test_watch(void **state)
{
	static const char *const prefixes[] = {"reply/", "run/", NULL};
	fixture *f = *state;
	uint64_t epoch = 0, expected = 0, other = 0;

	if (OPS(f)->watch == NULL)
		skip();
	append_one(f, 1);
	MUST(OPS(f)->begin(f->store, err));
	MUST(OPS(f)->project_new(f->store, RT_STR("other"), &other, err));
	MUST(OPS(f)->commit(f->store, err));
	MUST(OPS(f)->epoch(f->store, &expected, err));
	rt_store_watched list[] = {{f->project, 1, true, true}, {other, 1, false, false}, {other + 1, 0, true, true}};
	MUST(OPS(f)->watch(f->store, list, 3, prefixes, &epoch, err));
	assert_int_equal(epoch, expected);
	assert_true(!list[0].has_changed && list[1].has_changed && !list[2].has_changed);
	assert_true(!list[0].has_side && !list[1].has_side && !list[2].has_side);
	/* Names after, before and with a prefix. */
	MUST(OPS(f)->write(f->store, rt_rows_named(RT_STORE_SIDE, f->project, RT_STR("reply0")), RT_STR("x"), err));
	MUST(OPS(f)->write(f->store, rt_rows_named(RT_STORE_SIDE, f->project, RT_STR("#reply/")), RT_STR("x"), err));
	MUST(OPS(f)->write(f->store, rt_rows_named(RT_STORE_SIDE, other, RT_STR("run/r1")), RT_STR("x"), err));
	append_one(f, 2);
	MUST(OPS(f)->watch(f->store, list, 2, prefixes, &epoch, err));
	assert_true(list[0].has_changed && !list[0].has_side && list[1].has_side);
	MUST(OPS(f)->watch(f->store, list, 2, NULL, &epoch, err));
	assert_true(list[0].has_changed && !list[1].has_side);
	MUST(OPS(f)->epoch_renew(f->store, err));
	MUST(OPS(f)->watch(f->store, NULL, 0, NULL, &epoch, err));
	assert_int_not_equal(epoch, expected);
}

static void
test_cancel(void **state)
{
	fixture *f = *state;
	rt_store_row row = log_row(2, RT_STR("two"));
	rt_store_row body = {.number = 2, .entry = 2, .data = RT_STR("two")};
	seen s;
	uint64_t number = 0;
	rt_buf buf;

	append_one(f, 1);
	MUST(OPS(f)->begin(f->store, err));
	MUST(OPS(f)->write(f->store, rt_rows_one(RT_STORE_NODES, f->project, 5), RT_STR("node"),
			   err));
	MUST(OPS(f)->write(f->store, rt_rows_one(RT_STORE_NODES, f->project, 6), RT_STR("kept"),
			   err));
	MUST(OPS(f)->write(f->store, rt_rows_one(RT_STORE_ROOT, f->project, 1), RT_STR("root"),
			   err));
	MUST(OPS(f)->write(f->store, rt_rows_named(RT_STORE_SIDE, f->project, RT_STR("draft")),
			   RT_STR("old"), err));
	MUST(OPS(f)->index_add(f->store, f->project, 1, 1001, RT_STR("quick brown fox"), err));
	MUST(OPS(f)->commit(f->store, err));

	OPS(f)->cancel(f->store); /* without a begin: nothing */
	MUST(OPS(f)->begin(f->store, err));
	MUST(OPS(f)->append(f->store, f->project, 1, &row, 1, &body, 1, NULL, err));
	MUST(OPS(f)->drop(f->store, rt_rows_one(RT_STORE_NODES, f->project, 5), err));
	MUST(OPS(f)->write(f->store, rt_rows_one(RT_STORE_NODES, f->project, 5), RT_STR("again"),
			   err));
	MUST(OPS(f)->drop(f->store, rt_rows_one(RT_STORE_NODES, f->project, 5), err));
	MUST(OPS(f)->write(f->store, rt_rows_one(RT_STORE_NODES, f->project, 7), RT_STR("new"),
			   err));
	MUST(OPS(f)->drop(f->store, rt_rows_one(RT_STORE_NODES, f->project, 7), err));
	MUST(OPS(f)->write(f->store, rt_rows_one(RT_STORE_NODES, f->project, 7), RT_STR("new"),
			   err));
	MUST(OPS(f)->drop(f->store, rt_rows_all(RT_STORE_ROOT, f->project), err));
	MUST(OPS(f)->write(f->store, rt_rows_named(RT_STORE_SIDE, f->project, RT_STR("draft")),
			   RT_STR("new"), err));
	MUST(OPS(f)->write(f->store, rt_rows_named(RT_STORE_SIDE, f->project, RT_STR("draft")),
			   RT_STR(""), err));
	MUST(OPS(f)->index_add(f->store, f->project, 2, 2, RT_STR("lazy dog"), err));
	MUST(OPS(f)->write(f->store, rt_rows_one(RT_STORE_BODIES, f->project, 1), RT_STR("gone"),
			   err));
	MUST(OPS(f)->write(f->store, rt_rows_one(RT_STORE_LOG, f->project, 1), RT_STR("gone"),
			   err));
	MUST(OPS(f)->drop(f->store, rt_rows_one(RT_STORE_INDEX, f->project, 1), err));
	OPS(f)->cancel(f->store);

	MUST(OPS(f)->head(f->store, RT_STORE_LOG, f->project, &number, err));
	assert_int_equal(number, 1);
	MUST(OPS(f)->head(f->store, RT_STORE_BODIES, f->project, &number, err));
	assert_int_equal(number, 1);
	MUST(OPS(f)->head(f->store, RT_STORE_INDEX, f->project, &number, err));
	assert_int_equal(number, 1);
	expect_body(f, 1, "body 1");
	rt_buf_init(&buf, rt_alloc_libc(), 100);
	MUST(rt_store_get(f->store, rt_rows_one(RT_STORE_NODES, f->project, 5), &buf, NULL, err));
	MUST(rt_store_get(f->store, rt_rows_one(RT_STORE_NODES, f->project, 6), &buf, NULL, err));
	MUST(rt_store_get(f->store, rt_rows_all(RT_STORE_ROOT, f->project), &buf, &number, err));
	assert_int_equal(number, 1);
	MUST(rt_store_get(f->store, rt_rows_named(RT_STORE_SIDE, f->project, RT_STR("draft")), &buf,
			  NULL, err));
	assert_true(rt_str_is(rt_buf_str(&buf), "nodekeptrootold"));
	FAILS(RT_NOT_FOUND,
	      rt_store_get(f->store, rt_rows_one(RT_STORE_NODES, f->project, 7), &buf, NULL, err));
	s = (seen){0};
	MUST(OPS(f)->read(f->store,
			  rt_rows_listed(RT_STORE_NODES, f->project,
					 (const uint64_t[]){5, 6, 7, UINT64_MAX}, 4),
			  see_body, &s, err));
	assert_int_equal(s.count, 2);
	assert_int_equal(s.numbers[0], 5);
	assert_int_equal(s.numbers[1], 6);
	s = (seen){.stop_at = 1};
	MUST(OPS(f)->read(f->store,
			  rt_rows_listed(RT_STORE_NODES, f->project, (const uint64_t[]){5, 6}, 2),
			  see_body, &s, err));
	assert_int_equal(s.count, 1);
	s = (seen){0};
	MUST(OPS(f)->read(f->store, rt_rows_listed(RT_STORE_NODES, 0, (const uint64_t[]){5}, 1),
			  see_body, &s, err));
	assert_int_equal(s.count, 0);
	rt_buf_deinit(&buf);
	s = (seen){0};
	MUST(OPS(f)->index_find(f->store, f->project, RT_STR("fox"), 0, see_hit, &s,
				err));
	assert_int_equal(s.count, 1);
	MUST(OPS(f)->read(f->store, rt_rows_between(RT_STORE_LOG, f->project, 1, 9), see_log, &s,
			  err));
	assert_string_equal(s.text, "effect 1");
	append_one(f, 2);
	must_be_clean(f);

	MUST(OPS(f)->begin(f->store, err));
	MUST(OPS(f)->drop(f->store, rt_rows_all(RT_STORE_INDEX, 0), err));
	OPS(f)->cancel(f->store);
	expect_found(f, 1);
	MUST(OPS(f)->begin(f->store, err));
	MUST(OPS(f)->drop(f->store, rt_rows_all(RT_STORE_INDEX, 0), err));
	MUST(OPS(f)->commit(f->store, err));
	expect_found(f, 0);
	MUST(OPS(f)->begin(f->store, err));
	MUST(OPS(f)->index_add(f->store, f->project, 1, 1001, RT_STR("quick brown fox"), err));
	MUST(OPS(f)->commit(f->store, err));
	expect_found(f, 1);
	must_be_clean(f);
}

/* --- checkpoint and side rows --- */

static void
test_nodes(void **state)
{
	fixture *f = *state;
	uint64_t seq = 0;
	seen s = {0};
	rt_buf buf;

	rt_buf_init(&buf, rt_alloc_libc(), 100);
	append_one(f, 1);
	MUST(OPS(f)->begin(f->store, err));
	MUST(OPS(f)->write(f->store, rt_rows_one(RT_STORE_NODES, f->project, 30), RT_STR("thirty"),
			   err));
	MUST(OPS(f)->write(f->store, rt_rows_one(RT_STORE_NODES, f->project, 1), RT_STR("one"),
			   err));
	MUST(OPS(f)->write(f->store, rt_rows_one(RT_STORE_NODES, f->project, RT_STORE_NUMBER_MAX),
			   RT_STR(""), err));
	MUST(OPS(f)->write(f->store, rt_rows_one(RT_STORE_NODES, f->project, 30),
			   RT_STR("thirty, again"), err));
	FAILS(RT_USAGE, OPS(f)->write(f->store, rt_rows_one(RT_STORE_NODES, f->project, 0),
				      RT_STR("no"), err));
	FAILS(RT_USAGE,
	      OPS(f)->write(f->store,
			    rt_rows_one(RT_STORE_NODES, f->project, RT_STORE_NUMBER_MAX + 1),
			    RT_STR("no"), err));
	MUST(OPS(f)->write(f->store, rt_rows_one(RT_STORE_ROOT, f->project, 1),
			   RT_STR("first root"), err));
	MUST(OPS(f)->drop(f->store, rt_rows_one(RT_STORE_NODES, f->project, 99), err));
	MUST(rt_store_get(f->store, rt_rows_one(RT_STORE_NODES, f->project, 30), &buf, NULL, err));
	MUST(OPS(f)->commit(f->store, err));
	assert_true(rt_str_is(rt_buf_str(&buf), "thirty, again"));
	rt_buf_clear(&buf);
	MUST(OPS(f)->read(f->store, rt_rows_numbers(RT_STORE_NODES, f->project), see_number, &s,
			  err));
	assert_int_equal(s.count, 3);
	assert_int_equal(s.numbers[0], 1);
	assert_int_equal(s.numbers[1], 30);
	assert_int_equal(s.numbers[2], RT_STORE_NUMBER_MAX);
	MUST(rt_store_get(f->store, rt_rows_all(RT_STORE_ROOT, f->project), &buf, &seq, err));
	assert_int_equal(seq, 1);
	assert_true(rt_str_is(rt_buf_str(&buf), "first root"));
	rt_buf_clear(&buf);
	MUST(OPS(f)->begin(f->store, err));
	MUST(OPS(f)->drop(f->store, rt_rows_one(RT_STORE_NODES, f->project, 1), err));
	MUST(OPS(f)->write(f->store, rt_rows_one(RT_STORE_ROOT, f->project, 0), RT_STR("second"),
			   err));
	MUST(OPS(f)->commit(f->store, err));
	FAILS(RT_NOT_FOUND,
	      rt_store_get(f->store, rt_rows_one(RT_STORE_NODES, f->project, 1), &buf, NULL, err));
	MUST(rt_store_get(f->store, rt_rows_all(RT_STORE_ROOT, f->project), &buf, &seq, err));
	assert_int_equal(seq, 0);
	must_be_clean(f);
	MUST(OPS(f)->begin(f->store, err));
	MUST(OPS(f)->drop(f->store, rt_rows_all(RT_STORE_ROOT, f->project), err));
	MUST(OPS(f)->commit(f->store, err));
	s = (seen){0};
	MUST(OPS(f)->read(f->store, rt_rows_numbers(RT_STORE_NODES, f->project), see_number, &s,
			  err));
	assert_int_equal(s.count, 0);
	FAILS(RT_NOT_FOUND,
	      rt_store_get(f->store, rt_rows_all(RT_STORE_ROOT, f->project), &buf, &seq, err));
	rt_buf_deinit(&buf);
	must_be_clean(f);
}

static void
test_side(void **state)
{
	fixture *f = *state;
	seen s = {0};
	rt_buf buf;

	rt_buf_init(&buf, rt_alloc_libc(), 100);
	MUST(OPS(f)->write(f->store, rt_rows_named(RT_STORE_SIDE, f->project, RT_STR("reply")),
			   RT_STR("so far"), err));
	MUST(OPS(f)->write(f->store, rt_rows_named(RT_STORE_SIDE, f->project, RT_STR("draft")),
			   RT_STR("text"), err));
	MUST(OPS(f)->write(f->store, rt_rows_named(RT_STORE_SIDE, f->project, RT_STR("reply")),
			   RT_STR("so far, so"), err));
	MUST(OPS(f)->write(f->store, rt_rows_named(RT_STORE_SIDE, f->project, (rt_str){"a\0", 2}),
			   (rt_str){"\0", 1}, err));
	FAILS(RT_NOT_FOUND, OPS(f)->write(f->store, rt_rows_named(RT_STORE_SIDE, 77, RT_STR("x")),
					  RT_STR("y"), err));
	MUST(rt_store_get(f->store, rt_rows_named(RT_STORE_SIDE, f->project, RT_STR("reply")), &buf,
			  NULL, err));
	MUST(rt_store_get(f->store, rt_rows_named(RT_STORE_SIDE, f->project, (rt_str){"a\0", 2}),
			  &buf, NULL, err));
	assert_true(rt_str_eq(rt_buf_str(&buf), (rt_str){"so far, so\0", 11}));
	MUST(OPS(f)->write(f->store, rt_rows_named(RT_STORE_SIDE, f->project, (rt_str){"a\0", 2}),
			   RT_STR(""), err));
	MUST(OPS(f)->read(f->store, rt_rows_all(RT_STORE_SIDE, f->project), see_side, &s, err));
	assert_string_equal(s.text, "draft=text;reply=so far, so;");
	s = (seen){0};
	MUST(OPS(f)->read(f->store, rt_rows_names(f->project), see_side, &s, err));
	assert_string_equal(s.text, "draft=;reply=;");
	/* Rows of a cache are listed only by their prefix. */
	MUST(OPS(f)->write(f->store, rt_rows_named(RT_STORE_SIDE, f->project, RT_STR("#a1")), RT_STR("1"), err));
	MUST(OPS(f)->write(f->store, rt_rows_named(RT_STORE_SIDE, f->project, RT_STR("#b1")), RT_STR("2"), err));
	s = (seen){0};
	MUST(OPS(f)->read(f->store, rt_rows_all(RT_STORE_SIDE, f->project), see_side, &s, err));
	MUST(OPS(f)->read(f->store, rt_rows_names(f->project), see_side, &s, err));
	assert_string_equal(s.text, "draft=text;reply=so far, so;draft=;reply=;");
	s = (seen){0};
	MUST(OPS(f)->read(f->store, rt_rows_prefixed(f->project, RT_STR("#b")), see_side, &s, err));
	MUST(OPS(f)->read(f->store, rt_rows_prefixed(f->project, RT_STR("#")), see_side, &s, err));
	assert_string_equal(s.text, "#b1=2;#a1=1;#b1=2;");
	MUST(OPS(f)->begin(f->store, err));
	MUST(OPS(f)->write(f->store, rt_rows_named(RT_STORE_SIDE, f->project, RT_STR("reply")),
			   RT_STR(""), err));
	MUST(OPS(f)->write(f->store, rt_rows_named(RT_STORE_SIDE, f->project, RT_STR("never")),
			   RT_STR(""), err));
	FAILS(RT_NOT_FOUND,
	      rt_store_get(f->store, rt_rows_named(RT_STORE_SIDE, f->project, RT_STR("reply")),
			   &buf, NULL, err));
	MUST(OPS(f)->commit(f->store, err));
	s = (seen){0};
	MUST(OPS(f)->read(f->store, rt_rows_all(RT_STORE_SIDE, f->project), see_side, &s, err));
	assert_string_equal(s.text, "draft=text;");
	rt_buf_deinit(&buf);
	must_be_clean(f);
}

int
main(void)
{
	static const contract_test tests[] = {
		{"projects", test_projects},
		{"project_names", test_project_names},
		{"empty", test_empty},
		{"append", test_append},
		{"read_order", test_read_order},
		{"conflict", test_conflict},
		{"watch", test_watch},
		{"cancel", test_cancel},
		{"nodes", test_nodes},
		{"side", test_side},
	};

	return run_contract("store_contract", tests, sizeof(tests) / sizeof(*tests));
}
