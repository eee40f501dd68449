/* SPDX-License-Identifier: MIT
 *
 * The SQLite store: which damage is found, the epoch of relaxed mode, first pages that are damaged. */
#include "store/store_sqlite_testing.h"

#include "base/sample_testing.h"

/* --- damage --- */

typedef struct reading {
	int rows;
	bool wrong; /* a read returned wrong data without an error */
} reading;

static bool
read_log(void *ctx, const rt_store_row *row)
{
	reading *r = ctx;
	char log[64];

	snprintf(log, sizeof(log), "effect %llu", (unsigned long long)row->number);
	r->rows++;
	if (!rt_str_is(row->data, log) || row->at_us != (int64_t)row->number ||
	    memcmp(row->step, &row->number, sizeof(row->number)) != 0)
		r->wrong = true;
	return true;
}

static bool
read_body(void *ctx, const rt_store_row *row)
{
	reading *r = ctx;
	char text[2048];

	r->rows++;
	if (!rt_str_eq(row->data, body_text(text, sizeof(text), row->number)) ||
	    row->entry != row->number)
		r->wrong = true;
	return true;
}

static bool
see_side(void *ctx, const rt_store_row *row)
{
	reading *r = ctx;

	r->rows++;
	if (!rt_str_is(row->name, "draft") || !rt_str_is(row->data, "unsent"))
		r->wrong = true;
	return true;
}

static bool
see_project(void *ctx, const rt_store_row *row)
{
	reading *r = ctx;

	r->rows++;
	if (row->number != PROJECT || !rt_str_is(row->data, "first"))
		r->wrong = true;
	return true;
}

/* Reads everything. Every result is right, or an error reports that it is not. */
static bool
reads_wrong(rt_store *s, int rows)
{
	reading log = {0}, body = {0}, side = {0}, projects = {0};
	uint64_t seq = 0;
	bool wrong = false;
	rt_buf buf;

	rt_buf_init(&buf, rt_alloc_libc(), 1 << 20);
	if (s->ops->read(s, rt_rows_between(RT_STORE_LOG, PROJECT, 1, 1000), read_log, &log,
			 NULL) == RT_OK)
		wrong = wrong || log.rows != rows;
	if (s->ops->read(s, rt_rows_between(RT_STORE_BODIES, PROJECT, 1, 1000), read_body, &body,
			 NULL) == RT_OK)
		wrong = wrong || body.rows != rows;
	if (s->ops->read(s, rt_rows_all(RT_STORE_SIDE, PROJECT), see_side, &side, NULL) == RT_OK)
		wrong = wrong || side.rows != 1;
	if (s->ops->read(s, rt_rows_all(RT_STORE_PROJECTS, 0), see_project, &projects, NULL) ==
	    RT_OK)
		wrong = wrong || projects.rows != 1;
	if (rt_store_get(s, rt_rows_one(RT_STORE_NODES, PROJECT, 1), &buf, NULL, NULL) == RT_OK)
		wrong = wrong || !rt_str_is(rt_buf_str(&buf), "node one");
	rt_buf_clear(&buf);
	if (rt_store_get(s, rt_rows_all(RT_STORE_ROOT, PROJECT), &buf, &seq, NULL) == RT_OK)
		wrong = wrong || !rt_str_is(rt_buf_str(&buf), "root") || seq != (uint64_t)rows;
	rt_buf_deinit(&buf);
	return wrong || log.wrong || body.wrong || side.wrong || projects.wrong;
}

static void
test_cut(void **state)
{
	fixture *f = *state;
	size_t size = 0, opened = 0, tried = 0;
	unsigned char *bytes;

	fill(f->path, ROWS);
	bytes = bytes_of(f->path, &size);
	for (size_t cut = 1; cut < size; cut += cut < 200         ? 1
						: cut < size - 40 ? 2003
								  : 1,
		    tried++) {
		rt_store *s = NULL;
		rt_error why = {0};
		rt_status st;

		put_bytes(f->path, bytes, cut);
		st = open_as(f->path, WRITE, &s, &why);
		if (st == RT_OK) {
			opened++;
			s->ops->close(s);
		} else {
			assert_int_equal(st, RT_CORRUPT);
		}
		expect_bytes(f->path, bytes, cut);
		assert_false(is_there(f->path, "-journal"));
		REFUSED(f->path, READ, RT_CORRUPT);
		expect_bytes(f->path, bytes, cut);
	}
	assert_true(tried > 250);
	assert_int_equal(opened, 0);
	free(bytes);
}

/* Flip bits all over the file. Each flip is found (by open, by a read or by check) or is harmless;
 * no read returns wrong data. */
static void
test_flips(void **state)
{
	enum { FLIPS = 1500 };
	fixture *f = *state;
	size_t size = 0;
	unsigned char *bytes;
	int refused = 0, found = 0, harmless = 0;
	uint64_t seed = 88172645463325252u;

	fill(f->path, ROWS);
	bytes = bytes_of(f->path, &size);
	for (int i = 0; i < FLIPS; i += (int)test_sample()) {
		rt_store *s = NULL;
		rt_error why = {0};
		rt_status st;
		size_t at;
		int findings = 0;
		unsigned char bit;

		seed ^= seed << 13;
		seed ^= seed >> 7;
		seed ^= seed << 17;
		at = i < 400 ? (size_t)i / 4 : (size_t)(seed % size);
		bit = (unsigned char)(1u << (seed >> 60 & 7));
		bytes[at] ^= bit;
		put_bytes(f->path, bytes, size);
		st = open_as(f->path, READ, &s, &why);
		if (st != RT_OK) {
			assert_true(st == RT_CORRUPT || st == RT_NOT_OURS || st == RT_IO ||
				    st == RT_TOO_NEW);
			refused++;
		} else {
			if (reads_wrong(s, ROWS)) {
				print_message("wrong reading after flipping bit %02x of byte "
					      "%zu\n",
					      bit, at);
				/* Rows missing from the end of a table can only be noticed through
				 * the engine's numbers, but check must report them. */
				findings = 0;
				MUST(s->ops->check(s, first_finding, &findings, err));
				assert_int_not_equal(findings, 0);
			} else {
				MUST(s->ops->check(s, first_finding, &findings, err));
			}
			if (findings > 0)
				found++;
			else
				harmless++;
			s->ops->close(s);
		}
		expect_bytes(f->path, bytes, size);
		bytes[at] ^= bit;
	}
	print_message("flips: %d refused, %d found, %d without effect\n", refused, found, harmless);
	assert_true(refused > 0);
	assert_true(found > 0);
	free(bytes);
}

/* Every row is covered by its sum: a row changed directly in the file is found, by its name, and
 * only that one. */
static void
test_findings(void **state)
{
	static const struct {
		const char *sql, *id;
	} cases[] = {
		{"UPDATE meta SET value = value || '0' WHERE key = 'epoch'", "store-meta-damaged"},
		{"UPDATE project SET name = x'78'", "store-project-damaged"},
		{"UPDATE project SET id = 2", "store-project-damaged"},
		{"DELETE FROM project", "store-project-missing"},
		{"UPDATE log SET data = x'78' WHERE key & 255 = 7", "store-log-damaged"},
		{"UPDATE log SET at = at + 1 WHERE key & 255 = 7", "store-log-damaged"},
		{"UPDATE log SET step = zeroblob(16) WHERE key & 255 = 7", "store-log-damaged"},
		{"DELETE FROM log WHERE key & 255 = 7", "store-log-gap"},
		{"DELETE FROM log WHERE key & 255 = 1", "store-log-gap"},
		{"UPDATE body SET data = x'78' WHERE key & 255 = 7", "store-body-damaged"},
		{"UPDATE body SET entry = 5 WHERE key & 255 = 7", "store-body-damaged"},
		{"UPDATE node SET data = x'78'", "store-node-damaged"},
		{"UPDATE root SET data = x'78'", "store-root-damaged"},
		{"UPDATE root SET seq = 9", "store-root-damaged"},
		{"UPDATE side SET data = x'78'", "store-side-damaged"},
		{"UPDATE side SET name = x'78'", "store-side-damaged"},
		{"UPDATE mark SET number = 0", "store-index-damaged"},
		{"DELETE FROM body WHERE key & 255 = 1", "store-index-orphan"},
		{"DELETE FROM body", "store-index-ahead"},
		{"DELETE FROM log", "store-root-ahead"},
		{"CREATE TABLE extra(x)", "store-schema-changed"},
		{"CREATE INDEX more ON log(at)", "store-schema-changed"},
		{"DELETE FROM found WHERE key & 8388607 < 8388600", "store-index-damaged"},
		{"UPDATE found SET data = zeroblob(length(data))", "store-index-damaged"},
	};
	fixture *f = *state;
	size_t size = 0;
	unsigned char *bytes;

	fill(f->path, 10);
	bytes = bytes_of(f->path, &size);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		extern bool see_wanted(void *ctx, const char *id, const char *text);
		struct {
			const char *id;
			int hits;
		} wanted = {cases[i].id, 0};
		rt_store *s = NULL;
		sqlite3 *db = NULL;

		put_bytes(f->path, bytes, size);
		assert_int_equal(sqlite3_open(f->path, &db), SQLITE_OK);
		assert_int_equal(sqlite3_exec(db, cases[i].sql, NULL, NULL, NULL), SQLITE_OK);
		sqlite3_close(db);
		if (open_as(f->path, WRITE, &s, NULL) != RT_OK) {
			assert_string_equal(cases[i].id, "store-meta-damaged");
			continue;
		}
		MUST(s->ops->check(s, see_wanted, &wanted, err));
		if (wanted.hits == 0)
			print_message("not found: %s\n", cases[i].sql);
		assert_int_not_equal(wanted.hits, 0);
		s->ops->close(s);
	}
	free(bytes);
}

bool see_wanted(void *ctx, const char *id, const char *text);

bool
see_wanted(void *ctx, const char *id, const char *text)
{
	struct {
		const char *id;
		int hits;
	} *wanted = ctx;

	assert_true(strlen(text) > 10);
	if (strcmp(id, wanted->id) == 0)
		wanted->hits++;
	return true;
}

static void
test_damaged_backup(void **state)
{
	fixture *f = *state;
	rt_store *s = NULL;
	sqlite3 *db = NULL;
	rt_error why = {0};
	char copy[160];

	fill(f->path, 10);
	assert_int_equal(sqlite3_open(f->path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, "UPDATE body SET data = x'78' WHERE key & 255 = 7", NULL,
				      NULL, NULL),
			 SQLITE_OK);
	sqlite3_close(db);
	MUST(open_as(f->path, WRITE, &s, err));
	snprintf(copy, sizeof(copy), "%s/copy", f->folder);
	assert_int_equal(s->ops->backup(s, copy, &why), RT_CORRUPT);
	assert_false(is_there(copy, ""));
	s->ops->close(s);
	snprintf(copy, sizeof(copy), "test -z \"$(ls %s | grep copy)\"", f->folder);
	assert_int_equal(system(copy), 0);
}

/* --- relaxed mode and the epoch --- */

static uint64_t
epoch_at(const char *path, const char *boot, bool read_only)
{
	rt_store_sqlite_options options = {.read_only = read_only, .boot = boot};
	rt_store *s = NULL;
	uint64_t epoch = 0;

	MUST(open_as(path, options, &s, err));
	MUST(s->ops->epoch(s, &epoch, err));
	s->ops->close(s);
	return epoch;
}

static void
copy_open_store(fixture *f, const char *to)
{
	char from[200], name[200];

	copy_file(f->path, to);
	snprintf(from, sizeof(from), "%s-wal", f->path);
	snprintf(name, sizeof(name), "%s-wal", to);
	(void)unlink(name);
	copy_file(from, name);
}

static void
test_relaxed_epoch(void **state)
{
	fixture *f = *state;
	rt_store_sqlite_options relaxed = {.relaxed = true, .boot = "one"};
	rt_store *s = NULL, *t = NULL;
	uint64_t first, derived;
	char crashed[160];

	fill(f->path, 3);
	snprintf(crashed, sizeof(crashed), "%s/crashed", f->folder);
	first = epoch_at(f->path, "one", false);

	/* Nothing written, so there is nothing to mark. */
	MUST(open_as(f->path, relaxed, &s, err));
	copy_open_store(f, crashed);
	assert_int_equal(epoch_at(crashed, "two", false), first);

	append(s, 4);
	copy_open_store(f, crashed);
	assert_int_equal(epoch_at(crashed, "one", false), first); /* only the process died */
	copy_open_store(f, crashed);
	derived = epoch_at(crashed, "two", true);
	assert_int_not_equal(derived, first);
	assert_int_equal(epoch_at(crashed, "two", true), derived);
	assert_int_equal(epoch_at(crashed, "two", false), derived);
	assert_int_equal(epoch_at(crashed, "three", false), derived); /* once is enough */

	/* Two of them: the mark stays until the second is closed. */
	MUST(open_as(f->path, relaxed, &t, err));
	append(t, 5);
	t->ops->close(t);
	copy_open_store(f, crashed);
	assert_int_not_equal(epoch_at(crashed, "two", false), first);
	s->ops->close(s);
	assert_int_equal(epoch_at(f->path, "two", false), first);
}

/* An epoch that one handle has read is not used after a change by another handle or by its own
 * writer, and a cancelled change leaves no trace. */
static void
test_epoch_is_of_now(void **state)
{
	fixture *f = *state;
	rt_store_sqlite_options plain = {.create = true};
	rt_store *s = NULL, *t = NULL;
	uint64_t first, second, now;

	MUST(open_as(f->path, plain, &s, err));
	MUST(open_as(f->path, plain, &t, err));
	MUST(s->ops->epoch(s, &first, err));
	MUST(s->ops->epoch(s, &now, err));
	assert_int_equal(now, first);
	MUST(t->ops->epoch_renew(t, err));
	MUST(t->ops->epoch(t, &second, err));
	assert_int_not_equal(second, first);
	MUST(s->ops->epoch(s, &now, err));
	assert_int_equal(now, second);

	MUST(s->ops->epoch_renew(s, err));
	MUST(s->ops->epoch(s, &first, err));
	assert_int_not_equal(first, second);
	MUST(t->ops->epoch(t, &now, err));
	assert_int_equal(now, first);

	MUST(s->ops->begin(s, err));
	MUST(s->ops->epoch_renew(s, err));
	MUST(s->ops->epoch(s, &second, err));
	assert_int_not_equal(second, first);
	MUST(t->ops->epoch(t, &now, err));
	assert_int_equal(now, first);
	s->ops->cancel(s);
	MUST(s->ops->epoch(s, &now, err));
	assert_int_equal(now, first);
	s->ops->close(s);
	t->ops->close(t);
}

/* --- a first page that is damaged --- */

static bool
is_recognised(const char *path)
{
	rt_error why = {0};
	bool ours = false;

	assert_int_equal(rt_store_sqlite_recognise(rt_alloc_libc(), path, &ours, &why), RT_OK);
	return ours;
}

static void
test_recognise(void **state)
{
	static const unsigned char zeros[8192];
	fixture *f = *state;
	rt_store *s = NULL;
	struct stat info;
	off_t at;
	int fd;

	assert_false(is_recognised(f->path)); /* not there */
	assert_false(is_recognised(f->folder));
	assert_false(is_recognised("/dev/zero"));
	fill(f->path, 3);
	assert_true(is_recognised(f->path));
	fd = open(f->path, O_RDWR | O_CLOEXEC);
	assert_true(fd >= 0 && fstat(fd, &info) == 0);
	assert_int_equal(pwrite(fd, zeros, sizeof(zeros), 0), sizeof(zeros));
	assert_int_equal(open_as(f->path, WRITE, &s, NULL), RT_NOT_OURS);
	assert_true(is_recognised(f->path));
	for (at = 0; at < info.st_size; at += (off_t)sizeof(zeros))
		assert_int_equal(pwrite(fd, zeros, sizeof(zeros), at), sizeof(zeros));
	close(fd);
	assert_false(is_recognised(f->path));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_cut),
		TEST(test_flips),
		TEST(test_findings),
		TEST(test_damaged_backup),
		TEST(test_relaxed_epoch),
		TEST(test_epoch_is_of_now),
		TEST(test_recognise),
	};

	return cmocka_run_group_tests_name("store_sqlite_damage", tests, NULL, NULL);
}
