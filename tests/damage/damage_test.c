/* SPDX-License-Identifier: MIT
 *
 * Damaged files. A store is created by a script of operations, and copies of its file are kept
 * at several points while it grows. Then every sector (512 bytes) and every half page (4 KiB) of
 * the last version is damaged in turn, in each of three ways:
 *
 *   zero   its bytes are zero
 *   swap   it is swapped with another one
 *   stale  it has the contents of an earlier version
 *
 * A reader of the result gets the written data or an error, never anything else with success; a
 * writer gets an error, or its data is there afterwards in addition to all earlier data. Each refusal
 * is a finding of fsck. Some are repaired: fsck then finds nothing, and every text
 * exists whose row was not damaged.
 *
 * The default is a sample; DAMAGE_FULL=1 tests every place, and larger stores. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hash.h"
#include "log/checkpoint.h"
#include "log/blob.h"
#include "log/collect.h"
#include "log/engine.h"
#include "log/fsck.h"
#include "log/index.h"
#include "log/repair.h"
#include "store/store_sqlite.h"
#include "view/view.h"

enum { VERSIONS = 6, SECTOR = 512, HALF = 4096 };

static int64_t fixed_clock = 1700000000000000;

static int64_t
now_us(void *ctx)
{
	(void)ctx;
	return fixed_clock += 1000000;
}

static uint64_t dice = 3;

static void
random_bytes(void *ctx, void *to, size_t size)
{
	unsigned char *bytes = to;
	size_t i;

	(void)ctx;
	for (i = 0; i < size; i++)
		bytes[i] = (unsigned char)(rt_hash_u64(dice++) >> 40);
}

static const rt_env env = {now_us, random_bytes, NULL};

static char folder[64];
static char path[96];

/* --- files --- */

typedef struct image {
	unsigned char *bytes;
	size_t size;
} image;

static image
image_read(void)
{
	image m = {NULL, 0};
	struct stat info;
	int fd = open(path, O_RDONLY);

	assert_true(fd >= 0 && fstat(fd, &info) == 0);
	m.size = (size_t)info.st_size;
	m.bytes = malloc(m.size);
	assert_true(m.bytes != NULL && read(fd, m.bytes, m.size) == (ssize_t)m.size);
	(void)close(fd);
	return m;
}

static void
image_write(const unsigned char *bytes, size_t size)
{
	static const char *const ends[] = {"-wal", "-shm"};
	char name[128];
	size_t i;
	int fd;

	for (i = 0; i < 2; i++) {
		snprintf(name, sizeof(name), "%s%s", path, ends[i]);
		(void)unlink(name);
	}
	(void)unlink(path);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	assert_true(fd >= 0 && write(fd, bytes, size) == (ssize_t)size);
	(void)close(fd);
}

/* --- a store --- */

typedef struct desk {
	rt_store *store;
	rt_engine *engine;
} desk;

static void
desk_close(desk *d)
{
	rt_engine_close(d->engine);
	if (d->store != NULL)
		d->store->ops->close(d->store);
	memset(d, 0, sizeof(*d));
}

static rt_status
desk_open(desk *d, bool read_only, bool lenient, rt_error *err)
{
	rt_store_sqlite_options options = {
		.create = !read_only, .read_only = read_only, .relaxed = true};
	rt_engine_options engine_options = {
		.env = &env, .create = !read_only, .lenient = lenient, .checkpoint_every = 256};
	rt_status st;

	memset(d, 0, sizeof(*d));
	memset(err, 0, sizeof(*err));
	st = rt_store_sqlite_open(rt_alloc_libc(), &env, path, &options, &d->store, err);
	if (st == RT_OK)
		st = rt_engine_open(&engine_options, d->store, &d->engine, err);
	if (st != RT_OK)
		desk_close(d);
	return st;
}

static rt_status
apply(desk *d, const char *request)
{
	rt_result result;
	rt_status st;

	(void)rt_engine_apply_text(d->engine, rt_str_of(request), rt_str_at(NULL, 0),
				   rt_str_at(NULL, 0), &result);
	st = result.status;
	rt_result_deinit(&result);
	return st;
}

/* Operation n of the script: two of three add an entry. */
static void
operation(int n, char *to, size_t size)
{
	switch (n % 30) {
	case 4: snprintf(to, size, "{\"op\":\"entry.edit\",\"entry\":\":1\",\"content\":\"edit %d.\"}", n); break;
	case 7: snprintf(to, size, "{\"op\":\"label.set\",\"entry\":\":1\",\"label\":\"l%d\"}", n); break;
	case 11: snprintf(to, size, "{\"op\":\"undo\"}"); break;
	case 14: snprintf(to, size, "{\"op\":\"setting.set\",\"key\":\"k\",\"value\":%d}", n); break;
	case 17: snprintf(to, size, "{\"op\":\"entry.mute\",\"entry\":\":1\"}"); break;
	case 22: snprintf(to, size, "{\"op\":\"entry.delete\",\"entry\":\":2\"}"); break;
	case 23: snprintf(to, size, n % 60 == 23 ? "{\"op\":\"take.branch\",\"at\":\":1\"}" : "{\"op\":\"take.switch\",\"take\":\"main\"}"); break;
	case 27: snprintf(to, size, "{\"op\":\"undo\",\"count\":2}"); break;
	case 28: snprintf(to, size, "{\"op\":\"redo\"}"); break;
	default: snprintf(to, size, "{\"op\":\"entry.append\",\"role\":\"User\",\"content\":\"entry %d %*s\"}", n, n * 37 % 300, "x"); break;
	}
}

/* Everything that users see, one view each. */
enum { SHOW, TREE, TAKES, SETTINGS, ATTACHED, HISTORY, VIEWS };

/* The file attached to the first entry. */
static rt_str
attached_file(char sha256[RT_SHA256_HEX_ROOM])
{
	static char text[3000];
	rt_sha256 sha;

	memset(text, 'f', sizeof(text));
	rt_sha256_init(&sha);
	rt_sha256_add(&sha, text, sizeof(text));
	rt_sha256_end_hex(&sha, sha256);
	return rt_str_at(text, sizeof(text));
}

/* Makes the request refer to the file. */
static void
attach(desk *d, char *request, size_t size)
{
	char sha256[RT_SHA256_HEX_ROOM];
	rt_error err;

	if (rt_blob_keep(d->engine, attached_file(sha256), sha256, &err) != RT_OK)
		fail_msg("%s", err.text);
	snprintf(request, size,
		 "{\"op\":\"entry.append\",\"content\":[{\"type\":\"file\",\"name\":\"a\",\"sha256\":"
		 "\"%s\"}]}", sha256);
}

typedef struct seen {
	rt_status status[VIEWS];
	uint64_t hash[VIEWS];
	uint64_t seq;
} seen;

static void
look(rt_engine *engine, seen *out)
{
	const rt_project *project = rt_engine_value(engine);
	char sha256[RT_SHA256_HEX_ROOM];
	rt_place place = {0, 0};
	rt_error err;
	rt_buf buf;
	int i;

	(void)attached_file(sha256);
	memset(out, 0, sizeof(*out));
	out->seq = project->seq;
	rt_buf_init(&buf, rt_alloc_libc(), RT_BUF_UNLIMITED);
	for (i = 0; i < VIEWS; i++) {
		rt_buf_clear(&buf);
		switch (i) {
		case SHOW: out->status[i] = rt_view_show(engine, project, place, NULL, &buf, &err); break;
		case TREE: out->status[i] = rt_view_tree(engine, project, 0, &buf, &err); break;
		case TAKES: out->status[i] = rt_view_takes(engine, project, 0, true, &buf, &err); break;
		case SETTINGS: out->status[i] = rt_view_settings(engine, project, 0, &buf, &err); break;
		case ATTACHED: out->status[i] = rt_blob_read(engine, rt_str_of(sha256), &buf, &err); break;
		default: out->status[i] = rt_view_history(engine, project, 0, 0, 100000, &buf, &err); break;
		}
		out->hash[i] = rt_hash(buf.ptr, buf.size, 0);
		if (rt_str_find(rt_buf_str(&buf), RT_STR("(this text is damaged"), 0) != SIZE_MAX)
			out->status[i] = RT_CORRUPT; /* it does not hide the damage */
	}
	rt_buf_deinit(&buf);
	rt_object_unref(project);
}

typedef struct texts {
	rt_buf all; /* each with a NUL */
	size_t count;
} texts;

typedef struct subject {
	int operations;
	texts texts;            /* all written texts */
	image versions[VERSIONS]; /* the last one is damaged */
	seen right;               /* the views of the undamaged store, */
	seen after;               /* and after one more entry */
} subject;

static const char one_more[] = "{\"op\":\"entry.append\",\"content\":\"one more\"}";

static bool
add_text(void *ctx, const rt_store_row *row)
{
	texts *t = ctx;

	if (row->data.size > 0 && row->data.ptr[0] == 'T') {
		rt_buf_add(&t->all, row->data.ptr + 1, row->data.size - 1);
		rt_buf_add_byte(&t->all, '\0');
		t->count++;
	}
	return true;
}

static void
texts_of(rt_store *store, texts *out)
{
	memset(out, 0, sizeof(*out));
	rt_buf_init(&out->all, rt_alloc_libc(), RT_BUF_UNLIMITED);
	assert_int_equal(
		store->ops->read(store, rt_rows_all(RT_STORE_BODIES, 1), add_text, out, NULL),
		RT_OK);
}

static void
grow(subject *s, int operations)
{
	char request[1024];
	rt_error err;
	desk d;
	int n = 0, v;

	memset(s, 0, sizeof(*s));
	s->operations = operations;
	image_write((const unsigned char *)"", 0);
	(void)unlink(path);
	for (v = 0; v < VERSIONS; v++) {
		/* the later versions are close together */
		int until = v == VERSIONS - 1 ? operations : operations - (operations >> (2 * v)) * 3 / 4;

		if (desk_open(&d, false, false, &err) != RT_OK)
			fail_msg("version %d: %s", v, err.text);
		for (; n < until; n++) {
			operation(n, request, sizeof(request));
			if (n == 0)
				attach(&d, request, sizeof(request));
			(void)apply(&d, request);
		}
		if (v == VERSIONS - 1) /* rows without bodies */
			assert_int_equal(apply(&d, "{\"op\":\"setting.set\",\"key\":\"k\",\"value\":\"end\"}"),
					 RT_OK);
		desk_close(&d);
		s->versions[v] = image_read();
	}
	assert_int_equal(desk_open(&d, true, false, &err), RT_OK);
	look(d.engine, &s->right);
	texts_of(d.store, &s->texts);
	desk_close(&d);
	assert_int_equal(desk_open(&d, false, false, &err), RT_OK);
	assert_int_equal(apply(&d, one_more), RT_OK);
	look(d.engine, &s->after);
	desk_close(&d);
}

static void
subject_end(subject *s)
{
	int v;

	for (v = 0; v < VERSIONS; v++)
		free(s->versions[v].bytes);
	rt_buf_deinit(&s->texts.all);
}

/* --- damage --- */

typedef enum damage_kind { ZERO, SWAP, STALE, KINDS } damage_kind;
static const char *const kind_names[] = {"zero", "swap", "stale"};

typedef struct damage {
	damage_kind kind;
	size_t size, at, other; /* other: swapped with; or the version it is from */
} damage;

/* false: it would change nothing */
static bool
inflict(const subject *s, const damage *x, unsigned char *bytes)
{
	const image *last = &s->versions[VERSIONS - 1];
	const image *old;

	memcpy(bytes, last->bytes, last->size);
	switch (x->kind) {
	case ZERO: memset(bytes + x->at, 0, x->size); break;
	case SWAP:
		memcpy(bytes + x->at, last->bytes + x->other, x->size);
		memcpy(bytes + x->other, last->bytes + x->at, x->size);
		break;
	default:
		old = &s->versions[x->other];
		if (x->at + x->size > old->size)
			return false;
		memcpy(bytes + x->at, old->bytes + x->at, x->size);
	}
	return memcmp(bytes, last->bytes, last->size) != 0;
}

typedef struct tally {
	size_t tried, refused, partly, unharmed, written;
	size_t silent, lost, unnoticed;
	size_t repaired, gone, unrepaired; /* gone: lost texts */
} tally;

static void
complain(const subject *s, const damage *x, const char *what)
{
	print_error("%d operations, %zu bytes at %zu (page %zu), %s %zu: %s\n", s->operations, x->size,
		    x->at, x->at / 8192 + 1, kind_names[x->kind], x->other, what);
}

static bool
count_finding(void *ctx, const rt_finding *f)
{
	*(size_t *)ctx += strcmp(f->severity, "note") != 0;
	return true;
}

static size_t
findings(void)
{
	size_t count = 0;
	rt_error err;
	desk d;

	if (desk_open(&d, true, true, &err) != RT_OK)
		return 1; /* reported */
	if (rt_engine_fsck(d.engine, count_finding, &count, &err) != RT_OK ||
	    rt_engine_fsck_files(d.engine, count_finding, &count, &err) != RT_OK)
		count++;
	desk_close(&d);
	return count;
}

/* Compares the views with the expected ones. */
static bool
differs(const seen *is, const seen *right, int *out_errors)
{
	bool wrong = false;
	int i;

	*out_errors = 0;
	for (i = 0; i < VIEWS; i++) {
		*out_errors += is->status[i] != RT_OK;
		wrong = wrong || (is->status[i] == RT_OK && is->hash[i] != right->hash[i]);
	}
	return wrong;
}

/* --- repair --- */

static bool
has_text(const texts *t, const char *text)
{
	size_t size = strlen(text) + 1;
	const char *at = memmem(t->all.ptr, t->all.size, text, size);

	while (at != NULL && at != t->all.ptr && at[-1] != '\0')
		at = memmem(at + 1, t->all.size - (size_t)(at + 1 - t->all.ptr), text, size);
	return at != NULL;
}

/* Does the damage affect the bytes from .. to? */
static bool
touches(const damage *x, size_t from, size_t to)
{
	return (x->at < to && from < x->at + x->size) ||
	       (x->kind == SWAP && x->other < to && from < x->other + x->size);
}

/* May the text be lost? Only if every copy of its row in the file is damaged. */
static bool
is_hit(const subject *s, const damage *x, const char *text)
{
	enum { ROW_HEAD = 48 };
	const image *last = &s->versions[VERSIONS - 1];
	const unsigned char *at = last->bytes, *end = last->bytes + last->size;
	size_t size = strlen(text);

	while ((at = memmem(at, (size_t)(end - at), text, size)) != NULL) {
		size_t from = (size_t)(at - last->bytes);

		if (!touches(x, from - ROW_HEAD, from + size))
			return false;
		at++;
	}
	return true;
}

static void
ignore_rows(void *ctx, uint64_t first, uint64_t last)
{
	(void)ctx;
	(void)first;
	(void)last;
}

static void
ignore_text(void *ctx, const rt_lost_text *text)
{
	(void)ctx;
	(void)text;
}

/* Like the command, into another file; the store and its engine belong to the caller. */
static rt_status
repair(const char *parts, const char *copy, desk *d, rt_salvaged *got, rt_error *err)
{
	rt_store_sqlite_options look_options = {.read_only = true};
	rt_store_sqlite_options make = {.create = true, .relaxed = true};
	rt_engine_options options = {.env = &env};
	const rt_alloc *alloc = rt_alloc_libc();
	rt_store_salvaged found;
	rt_collected files;
	rt_store *from = NULL;
	size_t lost;
	rt_status st = rt_store_sqlite_salvage(alloc, &env, path, parts, &found, err);

	memset(d, 0, sizeof(*d));
	if (st == RT_OK)
		st = rt_store_sqlite_open(alloc, &env, parts, &look_options, &from, err);
	if (st == RT_OK)
		st = rt_store_sqlite_open(alloc, &env, copy, &make, &d->store, err);
	if (st == RT_OK)
		st = rt_engine_salvage(alloc, &env, from, RT_STR("default"), d->store, got,
				       ignore_rows, NULL, err);
	if (st == RT_OK)
		st = rt_engine_open(&options, d->store, &d->engine, err);
	if (st == RT_OK)
		st = rt_engine_repair(d->engine, ignore_text, NULL, &lost, err);
	if (st == RT_OK)
		st = rt_engine_rebuild(d->engine, err);
	if (st == RT_OK)
		st = rt_engine_collect(d->engine, NULL, NULL, &files, err);
	if (st == RT_OK)
		st = rt_engine_index(d->engine, err);
	if (from != NULL)
		from->ops->close(from);
	return st;
}

static void
drop(const char *name)
{
	static const char *const ends[] = {"", "-wal", "-shm"};
	char full[140];
	size_t i;

	for (i = 0; i < 3; i++) {
		snprintf(full, sizeof(full), "%s%s", name, ends[i]);
		(void)unlink(full);
	}
}

static bool
is_recovered(const char *text)
{
	char parts[110], copy[110];
	rt_salvaged got;
	texts now;
	rt_error err;
	bool found = false;
	desk d;

	snprintf(parts, sizeof(parts), "%s.parts", path);
	snprintf(copy, sizeof(copy), "%s.copy", path);
	if (repair(parts, copy, &d, &got, &err) == RT_OK) {
		texts_of(d.store, &now);
		found = has_text(&now, text);
		rt_buf_deinit(&now.all);
	}
	desk_close(&d);
	drop(parts);
	drop(copy);
	return found;
}

static bool
print_finding(void *ctx, const rt_finding *f)
{
	if (strcmp(f->severity, "note") != 0)
		print_error("%s %s %s\n", f->severity, f->id, f->text);
	return count_finding(ctx, f);
}

/* The damaged store is at path. */
static void
try_repair(const subject *s, const damage *x, tally *t)
{
	char parts[110], copy[110], what[500];
	size_t found = 0;
	rt_salvaged got;
	const char *text;
	texts now;
	rt_error err;
	desk d;

	snprintf(parts, sizeof(parts), "%s.parts", path);
	snprintf(copy, sizeof(copy), "%s.copy", path);
	t->repaired++;
	if (repair(parts, copy, &d, &got, &err) != RT_OK) {
		t->unrepaired++;
		snprintf(what, sizeof(what), "cannot be repaired: %.300s", err.text);
		complain(s, x, what);
	} else {
		if (rt_engine_fsck(d.engine, print_finding, &found, &err) != RT_OK ||
		    rt_engine_fsck_files(d.engine, print_finding, &found, &err) != RT_OK || found > 0) {
			t->unrepaired++;
			complain(s, x, "is not sound after repair");
		}
		texts_of(d.store, &now);
		for (size_t at = 0; at < s->texts.all.size; at += strlen(text) + 1) {
			text = s->texts.all.ptr + at;
			if (has_text(&now, text))
				continue;
			t->gone++;
			if (!is_hit(s, x, text)) {
				t->unrepaired++;
				snprintf(what, sizeof(what), "\"%.40s\" is intact, and lost by repair",
					 text);
				complain(s, x, what);
			}
		}
		rt_buf_deinit(&now.all);
	}
	desk_close(&d);
	drop(parts);
	drop(copy);
}

/* --- the test --- */

static bool
is_full(void)
{
	return getenv("DAMAGE_FULL") != NULL;
}

static void
try(const subject *s, const damage *x, const unsigned char *bytes, tally *t)
{
	size_t size = s->versions[VERSIONS - 1].size;
	int64_t clock = fixed_clock;
	uint64_t rolled = dice;
	int errors = 0;
	rt_error err;
	bool refused;
	seen is;
	desk d;

	t->tried++;
	image_write(bytes, size);
	refused = desk_open(&d, true, false, &err) != RT_OK;
	if (!refused) {
		look(d.engine, &is);
		if (differs(&is, &s->right, &errors)) {
			t->silent++;
			complain(s, x, "a reader sees something else");
		}
		desk_close(&d);
	}
	t->refused += refused;
	t->partly += !refused && errors > 0;
	t->unharmed += !refused && errors == 0;
	if ((refused || errors > 0) && findings() == 0) {
		t->unnoticed++;
		complain(s, x, "fsck finds nothing");
	}
	if (t->tried % (is_full() ? 7 : 3) == 0)
		try_repair(s, x, t);
	if (desk_open(&d, false, false, &err) == RT_OK) {
		rt_status st = apply(&d, one_more);

		desk_close(&d);
		if (st == RT_OK) {
			t->written++;
			if (desk_open(&d, true, false, &err) != RT_OK) {
				/* two places were damaged, and only now both are needed */
				if (!is_recovered("one more")) {
					t->lost++;
					complain(s, x, "what was written is lost");
				}
			} else {
				look(d.engine, &is);
				desk_close(&d);
				if (is.seq != s->after.seq) {
					t->lost++;
					complain(s, x, "what was written is not there");
				}
			}
		}
	}
	fixed_clock = clock;
	dice = rolled;
}

static void
try_all(int operations, size_t size, size_t stride)
{
	subject s;
	unsigned char *bytes;
	size_t count, i;
	tally t;
	int kind;

	grow(&s, operations);
	count = s.versions[VERSIONS - 1].size / size;
	bytes = malloc(s.versions[VERSIONS - 1].size);
	assert_non_null(bytes);
	for (kind = 0; kind < KINDS; kind++) {
		memset(&t, 0, sizeof(t));
		for (i = (size_t)kind % stride; i < count; i += stride) {
			damage x = {(damage_kind)kind, size, i * size, 0};
			size_t v;

			if (x.kind == SWAP) {
				x.other = (i + 1 + rt_hash_u64(i) % (count - 1)) % count * size;
				if (inflict(&s, &x, bytes))
					try(&s, &x, bytes, &t);
				/* and with the same part of another page, which is harder to
				 * detect */
				x.other = (x.at + 8192 * (1 + rt_hash_u64(i) % (count * size / 8192 - 1))) %
					  (count * size);
			}
			if (x.kind != STALE) {
				if (inflict(&s, &x, bytes))
					try(&s, &x, bytes, &t);
				continue;
			}
			for (v = 0; v + 1 < VERSIONS; v++) {
				x.other = v;
				if (inflict(&s, &x, bytes))
					try(&s, &x, bytes, &t);
			}
		}
		print_message("# %d operations, %zu bytes, %s: %zu tried: %zu refused, %zu in part, "
			      "%zu without effect; %zu written to; %zu repaired, %zu texts lost\n",
			      operations, size, kind_names[kind], t.tried, t.refused, t.partly,
			      t.unharmed, t.written, t.repaired, t.gone);
		assert_int_equal(t.silent + t.lost + t.unnoticed + t.unrepaired, 0);
	}
	free(bytes);
	subject_end(&s);
}

static void
damage_is_never_silent(void **state)
{
	static const int all[] = {1, 6, 40, 150, 600, 3000};
	size_t i, stride = is_full() ? 1 : 13;

	(void)state;
	for (i = 0; i < (is_full() ? 6u : 4u); i++) {
		try_all(all[i], SECTOR, stride);
		try_all(all[i], HALF, is_full() ? 1 : 3);
	}
}

static int
set_up(void **state)
{
	const char *tmp = getenv("TMPDIR");

	(void)state;
	snprintf(folder, sizeof(folder), "%.40s/damage-XXXXXX", tmp != NULL ? tmp : "/tmp");
	if (mkdtemp(folder) == NULL)
		return 1;
	snprintf(path, sizeof(path), "%s/store.db", folder);
	return 0;
}

static int
tear_down(void **state)
{
	(void)state;
	image_write((const unsigned char *)"", 0);
	(void)unlink(path);
	return rmdir(folder);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(damage_is_never_silent),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
