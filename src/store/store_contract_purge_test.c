/* SPDX-License-Identifier: MIT
 *
 * The contract of log/store.h over every kind of store: search, purge, the epoch, large rows. */
#include "store/store_contract_testing.h"

/* --- search --- */

static void
expect_hits(fixture *f, rt_str query, const char *numbers)
{
	char got[256] = "";
	seen s = {0};

	MUST(OPS(f)->index_find(f->store, f->project, query, 0, see_hit, &s, err));
	for (size_t i = 1; i < s.count; i++)
		assert_true(s.numbers[i] < s.numbers[i - 1]); /* newest first */
	for (uint64_t n = 0; n < 10; n++) {
		for (size_t i = 0; i < s.count; i++) {
			if (s.numbers[i] == n)
				snprintf(got + strlen(got), sizeof(got) - strlen(got), "%llu ",
					 (unsigned long long)n);
		}
	}
	if (strcmp(got, numbers) != 0)
		print_message("query \"%.*s\"\n", RT_STR_ARG(query));
	assert_string_equal(got, numbers);
}

static void
test_index(void **state)
{
	fixture *f = *state;
	uint64_t mark = 0, other = 0;
	char *long_query;

	for (uint64_t seq = 1; seq <= 6; seq++)
		append_one(f, seq);
	MUST(OPS(f)->begin(f->store, err));
	MUST(OPS(f)->index_add(f->store, f->project, 1, 11, RT_STR("The quick brown fox"), err));
	MUST(OPS(f)->index_add(f->store, f->project, 2, 12, RT_STR("a fox, quick-witted"), err));
	MUST(OPS(f)->index_add(f->store, f->project, 3, 13, RT_STR(""), err));
	MUST(OPS(f)->index_add(f->store, f->project, 4, 14, (rt_str){"nul\0inside", 10}, err));
	MUST(OPS(f)->index_add(f->store, f->project, 5, 15,
			       RT_STR("Fuchs \xc3\xbc"
				      "ber 42"),
			       err));
	MUST(OPS(f)->project_new(f->store, RT_STR("other"), &other, err));
	MUST(OPS(f)->index_add(f->store, other, 1, 1, RT_STR("another fox"), err));
	FAILS(RT_USAGE, OPS(f)->index_add(f->store, f->project, 0, 1, RT_STR("x"), err));
	MUST(OPS(f)->commit(f->store, err));
	MUST(OPS(f)->head(f->store, RT_STORE_INDEX, f->project, &mark, err));
	assert_int_equal(mark, 5);

	expect_hits(f, RT_STR("fox"), "1 2 ");
	expect_hits(f, RT_STR("FOX quick"), "1 2 ");
	expect_hits(f, RT_STR("fox brown"), "1 ");
	expect_hits(f, RT_STR("quick bro*"), "1 ");
	expect_hits(f, RT_STR("bro quick"), "");
	expect_hits(f, RT_STR("fo*"), "1 2 ");
	expect_hits(f, RT_STR("inside"), "4 ");
	expect_hits(f, RT_STR("42"), "5 ");
	expect_hits(f,
		    RT_STR("\xc3\xbc"
			   "ber"),
		    "5 ");
	/* Scripts without spaces between words: any part of a text. */
	MUST(OPS(f)->begin(f->store, err));
	MUST(OPS(f)->index_add(f->store, f->project, 6, 6, RT_STR("東京の天気 in Tokyo"), err));
	MUST(OPS(f)->commit(f->store, err));
	expect_hits(f, RT_STR("東京"), "6 ");
	expect_hits(f, RT_STR("の天気"), "6 ");
	expect_hits(f, RT_STR("京"), "6 ");
	expect_hits(f, RT_STR("気"), "6 ");
	expect_hits(f, RT_STR("京東"), "");
	expect_hits(f, RT_STR("tokyo 天気"), "6 ");
	/* Any text is a valid query. */
	expect_hits(f, RT_STR(""), "");
	expect_hits(f, RT_STR(" \t\n-*\"()"), "");
	expect_hits(f, RT_STR("\"fox\" AND NOT OR"), "");
	expect_hits(f, RT_STR("fox*"), "1 2 ");
	expect_hits(f, RT_STR("text:fox"), "");
	expect_hits(f, RT_STR("{^fox} (quick"), "1 2 ");
	expect_hits(f, (rt_str){"fox\0quick", 9}, "1 2 ");
	expect_hits(f, RT_STR("\xff\xfe"), "");
	long_query = malloc(200000);
	for (size_t i = 0; i < 200000; i++)
		long_query[i] = i % 4 == 3 ? ' ' : "fox"[i % 4];
	expect_hits(f, rt_str_at(long_query, 200000), "1 2 ");
	free(long_query);

	/* A text again under its number replaces the old one; the mark stays. */
	MUST(OPS(f)->begin(f->store, err));
	MUST(OPS(f)->index_add(f->store, f->project, 2, 12, RT_STR("wolf"), err));
	MUST(OPS(f)->drop(f->store, rt_rows_one(RT_STORE_INDEX, f->project, 1), err));
	MUST(OPS(f)->drop(f->store, rt_rows_one(RT_STORE_INDEX, f->project, 6), err));
	MUST(OPS(f)->commit(f->store, err));
	expect_hits(f, RT_STR("fox"), "");
	expect_hits(f, RT_STR("wolf"), "2 ");
	MUST(OPS(f)->head(f->store, RT_STORE_INDEX, f->project, &mark, err));
	assert_int_equal(mark, 6);
}

typedef struct entries {
	uint64_t number, entry;
} entries;

static bool
see_entry(void *ctx, uint64_t number, uint64_t entry)
{
	entries *e = ctx;

	e->number = number;
	e->entry = entry;
	return false;
}

static void
test_index_entry(void **state)
{
	fixture *f = *state;
	entries e = {0, 0};

	append_one(f, 1);
	MUST(OPS(f)->begin(f->store, err));
	MUST(OPS(f)->index_add(f->store, f->project, 1, 123456789012345, RT_STR("fox fox"), err));
	/* Not committed yet, and seen inside. */
	MUST(OPS(f)->index_find(f->store, f->project, RT_STR("fox"), 0, see_entry, &e,
				err));
	assert_int_equal(e.number, 1);
	assert_int_equal(e.entry, 123456789012345);
	MUST(OPS(f)->commit(f->store, err));
	must_be_clean(f);
}

/* Texts that are added in transactions of different sizes, dropped and replaced. */
enum { MANY = 300 };

typedef struct many {
	fixture *f;
	unsigned versions[MANY + 1]; /* by number; 0: no text */
	unsigned last_version;
} many;

static void
add_version(many *m, uint64_t number)
{
	char text[100];

	m->versions[number] = ++m->last_version;
	snprintf(text, sizeof(text), "all kind%u %uversion", (unsigned)(number % 5), m->versions[number]);
	MUST(OPS(m->f)->index_add(m->f->store, m->f->project, number, number + 1000, rt_str_of(text), err));
}

static void
drop_version(many *m, uint64_t number)
{
	m->versions[number] = 0;
	MUST(OPS(m->f)->drop(m->f->store, rt_rows_one(RT_STORE_INDEX, m->f->project, number), err));
}

/* The hits of a query below a number are the present texts of this kind (5: any). */
static void
expect_kind(many *m, const char *query, unsigned of_kind, uint64_t below)
{
	seen s = {0};
	size_t at = 0;

	MUST(OPS(m->f)->index_find(m->f->store, m->f->project, rt_str_of(query), below, see_hit, &s, err));
	for (uint64_t n = MANY; n > 0; n--) {
		if (m->versions[n] == 0 || (of_kind < 5 && n % 5 != of_kind) || (below > 0 && n >= below))
			continue;
		assert_true(at < s.count);
		assert_int_equal(s.numbers[at++], n);
	}
	assert_int_equal(at, s.count);
}

static void
expect_many(many *m)
{
	char query[100];

	expect_kind(m, "all", 5, 0);
	expect_kind(m, "kind3 all", 3, 0);
	expect_kind(m, "kin* \"all kind1\"", 1, 77);
	for (uint64_t n = 1; n <= MANY; n += 23) {
		seen s = {0};

		snprintf(query, sizeof(query), "%uversion all", m->versions[n]);
		MUST(OPS(m->f)->index_find(m->f->store, m->f->project, rt_str_of(query), 0, see_hit, &s, err));
		assert_int_equal(s.count, m->versions[n] > 0 ? 1 : 0);
	}
}

static void
test_index_many(void **state)
{
	many m = {.f = *state};
	fixture *f = m.f;
	uint64_t dice = 1;

	for (uint64_t seq = 1; seq <= MANY; seq++)
		append_one(f, seq);
	for (uint64_t number = 1, size = 1; number <= MANY; size = size * 5 % 67) {
		MUST(OPS(f)->begin(f->store, err));
		for (uint64_t end = number + size; number < end && number <= MANY; number++)
			add_version(&m, number);
		MUST(OPS(f)->commit(f->store, err));
		if (number % 3 == 0)
			expect_many(&m);
	}
	for (int i = 0; i < 60; i++) {
		MUST(OPS(f)->begin(f->store, err));
		for (int k = i % 4; k >= 0; k--) {
			dice = dice * 6364136223846793005u + 1442695040888963407u;
			if ((dice >> 40) % 3 == 0)
				add_version(&m, (dice >> 33) % MANY + 1);
			else
				drop_version(&m, (dice >> 33) % MANY + 1);
		}
		MUST(OPS(f)->commit(f->store, err));
		if (i % 10 == 9)
			expect_many(&m);
	}
	MUST(OPS(f)->begin(f->store, err));
	for (uint64_t number = MANY; number > 0; number--)
		drop_version(&m, number);
	add_version(&m, 7);
	expect_many(&m); /* before the commit, too */
	MUST(OPS(f)->commit(f->store, err));
	expect_many(&m);
	must_be_clean(f);
}

/* --- purge --- */

static bool
file_holds(const char *path, const char *needle)
{
	size_t room = 1 << 24, size, n = strlen(needle);
	char *bytes = malloc(room);
	FILE *file = fopen(path, "rb");
	bool holds = false;

	if (file != NULL) {
		size = fread(bytes, 1, room, file);
		assert_true(size < room);
		holds = memmem(bytes, size, needle, n) != NULL;
		fclose(file);
	}
	free(bytes);
	return holds;
}

static bool
folder_holds(fixture *f, const char *needle)
{
	static const char *const suffixes[] = {"", "-wal", "-shm"};
	char path[128];
	bool holds = false;

	for (int i = 0; i < 3; i++) {
		snprintf(path, sizeof(path), "%s/a.retake%s", f->folder, suffixes[i]);
		holds = holds || file_holds(path, needle);
	}
	return holds;
}

static void
test_purge(void **state)
{
	static char big[40000];
	fixture *f = *state;
	rt_store_row row = log_row(2, RT_STR("effect with hunter2secret inside"));
	rt_store_row body = {.number = 2, .entry = 22, .data = (rt_str){big, sizeof(big)}};
	seen s = {0};

	for (size_t i = 0; i < sizeof(big); i++)
		big[i] = "hunter2secret "[i % 14];
	append_one(f, 1);
	MUST(OPS(f)->begin(f->store, err));
	MUST(OPS(f)->append(f->store, f->project, 1, &row, 1, &body, 1, NULL, err));
	MUST(OPS(f)->index_add(f->store, f->project, 1, 1001, RT_STR("body one"), err));
	MUST(OPS(f)->index_add(f->store, f->project, 2, 22, RT_STR("hunter2secret word"), err));
	MUST(OPS(f)->write(f->store, rt_rows_named(RT_STORE_SIDE, f->project, RT_STR("draft")),
			   RT_STR("hunter2secret"), err));
	MUST(OPS(f)->write(f->store, rt_rows_one(RT_STORE_NODES, f->project, 9), body.data, err));
	MUST(OPS(f)->commit(f->store, err));
	for (uint64_t seq = 3; seq <= 60; seq++)
		append_one(f, seq);
	if (f->kind->is_file)
		assert_true(folder_holds(f, "hunter2secret"));

	MUST(OPS(f)->begin(f->store, err));
	MUST(OPS(f)->write(f->store, rt_rows_one(RT_STORE_BODIES, f->project, 2), RT_STR("purged"),
			   err));
	MUST(OPS(f)->write(f->store, rt_rows_one(RT_STORE_LOG, f->project, 2), RT_STR("purged too"),
			   err));
	FAILS(RT_NOT_FOUND, OPS(f)->write(f->store, rt_rows_one(RT_STORE_BODIES, f->project, 61),
					  RT_STR(""), err));
	FAILS(RT_NOT_FOUND,
	      OPS(f)->write(f->store, rt_rows_one(RT_STORE_LOG, f->project, 61), RT_STR(""), err));
	MUST(OPS(f)->drop(f->store, rt_rows_one(RT_STORE_INDEX, f->project, 2), err));
	MUST(OPS(f)->write(f->store, rt_rows_named(RT_STORE_SIDE, f->project, RT_STR("draft")),
			   RT_STR(""), err));
	MUST(OPS(f)->drop(f->store, rt_rows_one(RT_STORE_NODES, f->project, 9), err));
	MUST(OPS(f)->commit(f->store, err));
	MUST(OPS(f)->scrub(f->store, err));
	assert_false(folder_holds(f, "hunter2secret"));
	assert_false(folder_holds(f, "hunter2"));

	expect_body(f, 2, "purged");
	MUST(OPS(f)->read(f->store, rt_rows_one(RT_STORE_LOG, f->project, 2), see_log, &s, err));
	assert_string_equal(s.text, "purged too");
	expect_hits(f, RT_STR("hunter2secret"), "");
	expect_hits(f, RT_STR("body"), "1 ");
	append_one(f, 61);
	must_be_clean(f);
	if (f->kind->is_lasting) {
		reopen(f);
		expect_body(f, 2, "purged");
		assert_false(folder_holds(f, "hunter2"));
	}
}

/* --- epoch --- */

static void
test_epoch(void **state)
{
	fixture *f = *state;
	uint64_t first = 0, second = 0, third = 0, now = 0;

	MUST(OPS(f)->epoch(f->store, &first, err));
	assert_int_not_equal(first, 0);
	MUST(OPS(f)->epoch_renew(f->store, err));
	MUST(OPS(f)->epoch(f->store, &second, err));
	assert_int_not_equal(first, second);
	MUST(OPS(f)->begin(f->store, err));
	MUST(OPS(f)->epoch_renew(f->store, err));
	MUST(OPS(f)->epoch(f->store, &third, err));
	assert_int_not_equal(second, third);
	OPS(f)->cancel(f->store);
	MUST(OPS(f)->epoch(f->store, &now, err));
	assert_int_equal(now, second);
	if (f->kind->is_lasting) {
		reopen(f);
		MUST(OPS(f)->epoch(f->store, &now, err));
		assert_int_equal(now, second);
	}
}

/* --- large rows --- */

static void
test_large(void **state)
{
	enum { SIZE = 12345678 };
	fixture *f = *state;
	char *bytes = malloc(SIZE);
	rt_store_row row;
	rt_store_row body;
	rt_buf buf;

	for (size_t i = 0; i < SIZE; i++)
		bytes[i] = (char)(i * 2654435761u >> 13);
	row = log_row(1, rt_str_at(bytes, SIZE / 2));
	body = (rt_store_row){.number = 1, .entry = 1, .data = rt_str_at(bytes, SIZE)};
	MUST(OPS(f)->begin(f->store, err));
	MUST(OPS(f)->append(f->store, f->project, 0, &row, 1, &body, 1, NULL, err));
	MUST(OPS(f)->write(f->store, rt_rows_one(RT_STORE_NODES, f->project, 1), body.data, err));
	MUST(OPS(f)->commit(f->store, err));
	append_one(f, 2);
	rt_buf_init(&buf, rt_alloc_libc(), RT_BUF_UNLIMITED);
	MUST(rt_store_get(f->store, rt_rows_one(RT_STORE_BODIES, f->project, 1), &buf, NULL, err));
	assert_true(rt_str_eq(rt_buf_str(&buf), body.data));
	rt_buf_clear(&buf);
	MUST(rt_store_get(f->store, rt_rows_one(RT_STORE_NODES, f->project, 1), &buf, NULL, err));
	assert_true(rt_str_eq(rt_buf_str(&buf), body.data));
	rt_buf_deinit(&buf);
	/* A buffer that is too small is reported, without other effects. */
	rt_buf_init(&buf, rt_alloc_libc(), 1000);
	FAILS(RT_LIMIT,
	      rt_store_get(f->store, rt_rows_one(RT_STORE_BODIES, f->project, 1), &buf, NULL, err));
	rt_buf_deinit(&buf);
	free(bytes);
	must_be_clean(f);
}

/* --- dropping a project --- */

static bool
see_anything(void *ctx, const rt_store_row *row)
{
	(void)row;
	*(bool *)ctx = true;
	return false;
}

static bool
fail_finding(void *ctx, const char *id, const char *text)
{
	(void)ctx;
	fail_msg("%s: %s", id, text);
	return true;
}

static bool
has_rows(fixture *f, rt_store_table table, uint64_t project)
{
	bool has = false;

	MUST(OPS(f)->read(f->store, rt_rows_all(table, project), see_anything, &has, err));
	return has;
}

/* All tables of the first project have rows. */
static void
fill(fixture *f)
{
	append_one(f, 1);
	append_one(f, 2);
	MUST(OPS(f)->begin(f->store, err));
	MUST(OPS(f)->write(f->store, rt_rows_one(RT_STORE_NODES, f->project, 1), RT_STR("node"), err));
	MUST(OPS(f)->write(f->store, rt_rows_one(RT_STORE_ROOT, f->project, 2), RT_STR("root"), err));
	MUST(OPS(f)->write(f->store, rt_rows_named(RT_STORE_SIDE, f->project, RT_STR("side")), RT_STR("x"), err));
	MUST(OPS(f)->write(f->store, rt_rows_named(RT_STORE_SIDE, f->project, RT_STR("#cache")), RT_STR("x"), err));
	MUST(OPS(f)->index_add(f->store, f->project, 1, 1, RT_STR("quick fox"), err));
	MUST(OPS(f)->commit(f->store, err));
}

static void
test_drop(void **state)
{
	fixture *f = *state;
	rt_store_row row = log_row(1, RT_STR("late"));
	uint64_t second = 0, third = 0, number = 0, epoch = 0, renewed = 0;
	rt_store *other = NULL;
	seen hits = {0};

	fill(f);
	if (f->kind->is_lasting) { /* another program knows the project, and has written to it */
		MUST(((void)err, f->kind->open(f, &other)));
		MUST(other->ops->begin(other, err));
		MUST(other->ops->write(other, rt_rows_named(RT_STORE_SIDE, f->project, RT_STR("other")), RT_STR("x"), err));
		MUST(other->ops->commit(other, err));
	}
	MUST(OPS(f)->begin(f->store, err));
	MUST(OPS(f)->project_new(f->store, RT_STR("second"), &second, err));
	MUST(OPS(f)->commit(f->store, err));
	/* Nothing happens without a commit. */
	MUST(OPS(f)->begin(f->store, err));
	MUST(OPS(f)->project_drop(f->store, f->project, err));
	OPS(f)->cancel(f->store);
	assert_true(has_rows(f, RT_STORE_LOG, f->project));
	MUST(OPS(f)->epoch(f->store, &epoch, err));
	MUST(rt_store_project_delete(f->store, f->project, err));
	MUST(OPS(f)->epoch(f->store, &renewed, err));
	assert_true(epoch != renewed);
	for (int table = RT_STORE_LOG; table <= RT_STORE_SIDE; table++)
		assert_false(has_rows(f, (rt_store_table)table, f->project));
	FAILS(RT_NOT_FOUND, rt_store_get(f->store, rt_rows_named(RT_STORE_SIDE, f->project, RT_STR("#cache")), NULL, NULL, err));
	FAILS(RT_NOT_FOUND, rt_store_get(f->store, rt_rows_named(RT_STORE_PROJECTS, 0, RT_STR("first")), NULL, NULL, err));
	MUST(OPS(f)->index_find(f->store, f->project, RT_STR("fox"), 0, see_hit, &hits, err));
	assert_int_equal(hits.count, 0);
	for (int i = 0; i < (other != NULL ? 2 : 1); i++) {
		rt_store *store = i == 0 ? f->store : other;

		MUST(store->ops->begin(store, err));
		FAILS(RT_NOT_FOUND, store->ops->append(store, f->project, i == 0 ? 0 : 2, &row, 1, NULL, 0, NULL, err));
		store->ops->cancel(store);
		FAILS(RT_NOT_FOUND, store->ops->write(store, rt_rows_named(RT_STORE_SIDE, f->project, RT_STR("late")), RT_STR("x"), err));
		MUST(store->ops->begin(store, err));
		FAILS(RT_NOT_FOUND, store->ops->project_drop(store, f->project, err));
		store->ops->cancel(store);
	}
	/* The number of the last project is not used again, and its name is free. */
	MUST(rt_store_project_delete(f->store, second, err));
	MUST(OPS(f)->begin(f->store, err));
	MUST(OPS(f)->project_new(f->store, RT_STR("second"), &third, err));
	MUST(OPS(f)->commit(f->store, err));
	assert_true(third > second);
	MUST(rt_store_project_delete(f->store, third, err));
	MUST(OPS(f)->begin(f->store, err));
	MUST(OPS(f)->project_new(f->store, RT_STR("first"), &number, err));
	MUST(OPS(f)->commit(f->store, err));
	assert_true(number > third);
	MUST(OPS(f)->check(f->store, fail_finding, NULL, err));
	if (other != NULL)
		other->ops->close(other);
}

int
main(void)
{
	static const contract_test tests[] = {
		{"index", test_index},
		{"index_entry", test_index_entry},
		{"index_many", test_index_many},
		{"purge", test_purge},
		{"epoch", test_epoch},
		{"drop", test_drop},
		{"large", test_large},
	};

	return run_contract("store_contract_purge", tests, sizeof(tests) / sizeof(*tests));
}
