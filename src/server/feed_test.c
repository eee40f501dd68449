/* SPDX-License-Identifier: MIT
 *
 * Streams of events: every row once and in order, whichever process writes, and however often the
 * connection is cut. */
#define _XOPEN_SOURCE 700

#include <dirent.h>
#include <time.h>
#include <unistd.h>

#include "log/folder_testing.h"
#include "server/feed_testing.h"

#include "app/host.h"
#include "llm/system_host.h"
#include "ops/action.h"
#include "server/feed_impl.h"
#include "store/store_memory.h"
#include "store/store_sqlite.h"

typedef struct fixture {
	char dir[64], path[80];
	rt_env env;        /* the system's, except for its clock */
	atomic_llong now_us;
	rt_store *store, *other_store;
	rt_engine *engine, *other; /* other: as in another process */
	rt_feed *feed;
	reader r;
} fixture;

static int64_t
now(void *ctx)
{
	return atomic_load(&((fixture *)ctx)->now_us);
}

static void
chance(void *ctx, void *to, size_t size)
{
	(void)ctx;
	rt_system_env()->random(rt_system_env()->ctx, to, size);
}

static void
open_engine(fixture *f, rt_store **store, rt_engine **engine)
{
	rt_store_sqlite_options how = {.create = true, .relaxed = true};
	rt_engine_options options = {.env = &f->env, .create = true};

	assert_int_equal(rt_store_sqlite_open(rt_alloc_libc(), &f->env, f->path, &how, store, NULL),
			 RT_OK);
	assert_int_equal(rt_engine_open(&options, *store, engine, NULL), RT_OK);
}

static int
set_up(void **state)
{
	fixture *f = test_calloc(1, sizeof(*f));

	f->env = (rt_env){now, chance, f};
	atomic_store(&f->now_us, 1700000000000000);
	assert_true(test_folder(f->dir, sizeof(f->dir), "feed"));
	snprintf(f->path, sizeof(f->path), "%s/store", f->dir);
	open_engine(f, &f->store, &f->engine);
	open_engine(f, &f->other_store, &f->other);
	assert_int_equal(rt_feed_new(f->engine, &f->env, &f->feed, NULL), RT_OK);
	reader_init(&f->r, 1);
	*state = f;
	return 0;
}

static int
tear_down(void **state)
{
	fixture *f = *state;
	struct dirent *entry;
	char path[400];
	DIR *dir;

	reader_deinit(&f->r);
	rt_feed_free(f->feed);
	rt_engine_close(f->engine);
	rt_engine_close(f->other);
	f->store->ops->close(f->store);
	f->other_store->ops->close(f->other_store);
	dir = opendir(f->dir);
	while (dir != NULL && (entry = readdir(dir)) != NULL) {
		snprintf(path, sizeof(path), "%s/%s", f->dir, entry->d_name);
		(void)unlink(path);
	}
	closedir(dir);
	(void)rmdir(f->dir);
	test_free(f);
	return 0;
}

static uint64_t
apply(rt_engine *engine, const char *json)
{
	rt_json_doc *doc = NULL;
	yyjson_val *root;
	rt_result result;
	uint64_t seq;

	assert_int_equal(rt_json_read(rt_alloc_libc(), rt_str_of(json), &doc, NULL), RT_OK);
	root = rt_json_root(doc);
	if (rt_apply_json(engine, NULL, &root, 1, false, RT_STR(""), RT_STR(""), &result) != RT_OK)
		fail_msg("%s: %s", json, result.error.text);
	seq = result.seq;
	rt_result_deinit(&result);
	rt_json_free(doc);
	return seq;
}

static uint64_t
add(fixture *f, rt_engine *engine, const char *text)
{
	char json[300];
	uint64_t seq;

	snprintf(json, sizeof(json),
		 "{\"op\":\"entry.append\",\"role\":\"User\",\"content\":\"%s\"}", text);
	seq = apply(engine, json);
	if (engine == f->engine)
		rt_feed_changed(f->feed);
	return seq;
}

/* ---- events of a stream ---- */

static void
test_begins(void **state)
{
	fixture *f = *state;
	char id[64];

	add(f, f->engine, "before");
	reader_open(&f->r, f->feed, 0);
	assert_int_equal(rt_feed_stream_count(f->feed), 1);
	reader_is(&f->r, "hello", "\"project\":\"default\"");
	assert_true(rt_str_starts(rt_buf_str(&f->r.all), RT_STR("retry: 2000\n\n")));
	snprintf(id, sizeof(id), "%016llx.1", (unsigned long long)rt_engine_epoch(f->engine));
	assert_string_equal(f->r.id, id);
	assert_int_equal(data_number(&f->r, "seq"), 1);
	assert_false(reader_now(&f->r));
	add(f, f->engine, "after");
	reader_is(&f->r, "op", "\"op\":\"entry.append\"");
	assert_int_equal(id_seq(f->r.id), 2);
	assert_int_equal(data_number(&f->r, "seq"), 2);
	assert_false(reader_now(&f->r));
	assert_false(f->r.has_ended);
}

static void
test_other_process(void **state)
{
	fixture *f = *state;
	size_t wakes;

	reader_open(&f->r, f->feed, 0);
	reader_is(&f->r, "hello", "");
	assert_false(reader_now(&f->r));
	rt_feed_tick(f->feed, NULL);
	wakes = f->r.wakes;
	rt_feed_tick(f->feed, NULL);
	assert_int_equal(f->r.wakes, wakes); /* nothing has changed */
	add(f, f->other, "from elsewhere");
	rt_feed_tick(f->feed, NULL);
	assert_int_equal(f->r.wakes, wakes + 1);
	reader_is(&f->r, "op", "\"seq\":1");
}

/* A row touches the discussion, or the project's own data, or is left out. */
static void
test_one_discussion(void **state)
{
	fixture *f = *state;
	int i;

	apply(f->engine, "{\"op\":\"discussion.new\",\"name\":\"second\"}");
	reader_open(&f->r, f->feed, 2);
	reader_is(&f->r, "hello", "");
	apply(f->engine, "{\"op\":\"entry.append\",\"discussion\":\"main\",\"role\":\"User\","
			 "\"content\":\"not this\"}");
	apply(f->engine, "{\"op\":\"entry.append\",\"discussion\":\"second\",\"role\":\"User\","
			 "\"content\":\"this\"}");
	apply(f->engine, "{\"op\":\"discussion.rename\",\"discussion\":\"second\","
			 "\"name\":\"other\"}");
	reader_is(&f->r, "op", "entry.append");
	assert_int_equal(id_seq(f->r.id), 3);
	reader_is(&f->r, "op", "discussion.rename");
	assert_int_equal(id_seq(f->r.id), 4);
	/* Many that are left out: the position advances without an event. */
	for (i = 0; i < 1100; i++)
		apply(f->engine, "{\"op\":\"entry.append\",\"discussion\":\"main\","
				 "\"role\":\"User\",\"content\":\"x\"}");
	while (reader_read(&f->r))
		assert_false(reader_parse(&f->r));
	assert_int_equal(id_seq(f->r.last_id), 4 + 1024);
}

static void
test_ids(void **state)
{
	static const char *const bad[] = {
		"1", "x", "0000000000000001", "0000000000000001.", "000000000000001.1",
		"0000000000000001.x", "0000000000000001.-1", "000000000000000g.1",
		"0000000000000001.1 ", "00000000000000001.1", "0000000000000001.1234567890123456",
	};
	fixture *f = *state;
	rt_web_stream *stream = NULL;
	rt_error err;
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(rt_feed_stream(f->feed, rt_str_of(bad[i]), 0, &stream, &err),
				 RT_USAGE);
	assert_int_equal(rt_feed_stream_count(f->feed), 0);
	/* of another history: everything again, from the present state */
	add(f, f->engine, "one");
	snprintf(f->r.last_id, sizeof(f->r.last_id), "%016llx.1",
		 (unsigned long long)rt_engine_epoch(f->engine) ^ 1);
	reader_open(&f->r, f->feed, 0);
	reader_is(&f->r, "hello", "");
	reader_is(&f->r, "reset", "\"seq\":1");
	assert_false(reader_now(&f->r));
	reader_cut(&f->r);
	/* of a row that does not exist */
	snprintf(f->r.last_id, sizeof(f->r.last_id), "%016llx.7",
		 (unsigned long long)rt_engine_epoch(f->engine));
	reader_open(&f->r, f->feed, 0);
	reader_is(&f->r, "hello", "");
	reader_is(&f->r, "reset", "\"seq\":1");
	assert_int_equal(id_seq(f->r.last_id), 1);
	reader_cut(&f->r);
	/* of one that another process has written and sent to its client */
	snprintf(f->r.last_id, sizeof(f->r.last_id), "%016llx.%llu",
		 (unsigned long long)rt_engine_epoch(f->engine),
		 (unsigned long long)add(f, f->other, "two"));
	reader_open(&f->r, f->feed, 0);
	reader_is(&f->r, "hello", "\"seq\":2");
	assert_false(reader_now(&f->r));
	add(f, f->engine, "three");
	reader_is(&f->r, "op", "\"seq\":3");
}

static void
test_other_history(void **state)
{
	fixture *f = *state;
	uint64_t before = rt_engine_epoch(f->engine);
	char id[64];

	reader_open(&f->r, f->feed, 0);
	reader_is(&f->r, "hello", "");
	add(f, f->engine, "one");
	reader_is(&f->r, "op", "");
	assert_false(reader_now(&f->r));
	assert_int_equal(f->other_store->ops->epoch_renew(f->other_store, NULL), RT_OK);
	rt_feed_tick(f->feed, NULL);
	assert_true(rt_engine_epoch(f->engine) != before);
	reader_is(&f->r, "reset", "\"seq\":1");
	snprintf(id, sizeof(id), "%016llx.1", (unsigned long long)rt_engine_epoch(f->engine));
	assert_string_equal(f->r.id, id);
	add(f, f->engine, "two");
	reader_is(&f->r, "op", "\"seq\":2");
}

static void
test_heartbeat(void **state)
{
	fixture *f = *state;
	size_t size;

	reader_open(&f->r, f->feed, 0);
	reader_is(&f->r, "hello", "");
	assert_false(reader_now(&f->r));
	size = f->r.all.size;
	rt_feed_tick(f->feed, NULL);
	atomic_fetch_add(&f->now_us, 14000000);
	rt_feed_tick(f->feed, NULL);
	assert_false(reader_now(&f->r));
	assert_int_equal(f->r.all.size, size);
	atomic_fetch_add(&f->now_us, 1000000);
	rt_feed_tick(f->feed, NULL);
	assert_false(reader_now(&f->r));
	assert_int_equal(f->r.all.size, size + 4);
	assert_memory_equal(f->r.all.ptr + size, ": \n\n", 4);
	/* a row is enough of a heartbeat */
	atomic_fetch_add(&f->now_us, 15000000);
	rt_feed_tick(f->feed, NULL);
	add(f, f->engine, "one");
	reader_is(&f->r, "op", "");
	size = f->r.all.size;
	assert_false(reader_now(&f->r));
	assert_int_equal(f->r.all.size, size);
}

/* A row of a later version: reported once, without a reset. */
static void
test_newer(void **state)
{
	static const char row[] = "{\"v\":99,\"op\":\"future.op\",\"by\":\"x\",\"d\":1}";
	fixture *f = *state;
	rt_store_row log = {.data = rt_str_at(row, sizeof(row) - 1)};
	uint64_t project = rt_engine_project_number(f->engine), head;

	add(f, f->engine, "one");
	reader_open(&f->r, f->feed, 0);
	reader_is(&f->r, "hello", "");
	assert_false(reader_now(&f->r));
	assert_int_equal(f->other_store->ops->begin(f->other_store, NULL), RT_OK);
	assert_int_equal(f->other_store->ops->append(f->other_store, project, 1, &log, 1, NULL, 0,
						     &head, NULL),
			 RT_OK);
	assert_int_equal(f->other_store->ops->commit(f->other_store, NULL), RT_OK);
	rt_feed_tick(f->feed, NULL);
	assert_true(rt_engine_newer(f->engine, NULL));
	reader_is(&f->r, "newer", "\"seq\":2");
	assert_string_equal(f->r.id, "");
	rt_feed_tick(f->feed, NULL);
	assert_false(reader_now(&f->r));
}

/* ---- replies of another process ---- */

static void
flight_row(fixture *f, const char *text, const char *written)
{
	char row[400] = "";

	if (text != NULL)
		snprintf(row, sizeof(row),
			 "{\"v\":1,\"owner\":\"elsewhere\",\"started\":1,\"written\":%s,\"request\":"
			 "{\"op\":\"entry.reply\",\"discussion\":\"d1\",\"take\":\"t1\","
			 "\"after\":null,\"content\":\"%s\",\"model\":\"m/x\",\"partial\":true}}",
			 written, text);
	assert_int_equal(f->other_store->ops->write(
				 f->other_store,
				 rt_rows_named(RT_STORE_SIDE, rt_engine_project_number(f->other),
					       RT_STR("reply/abc")),
				 rt_str_of(row), NULL),
			 RT_OK);
}

static void
test_flights(void **state)
{
	fixture *f = *state;

	reader_open(&f->r, f->feed, 0);
	reader_is(&f->r, "hello", "");
	rt_feed_tick(f->feed, NULL);
	assert_false(reader_now(&f->r));
	flight_row(f, "So f", "5");
	rt_feed_tick(f->feed, NULL);
	assert_false(reader_now(&f->r)); /* not polled yet */
	atomic_fetch_add(&f->now_us, 250000);
	rt_feed_tick(f->feed, NULL);
	reader_is(&f->r, "flight", "{\"flight\":\"reply/abc\",\"discussion\":\"d1\",\"take\":\"t1\","
				   "\"after\":\"\",\"model\":\"m/x\",\"text\":\"So f\"}");
	assert_string_equal(f->r.id, "");
	atomic_fetch_add(&f->now_us, 250000);
	rt_feed_tick(f->feed, NULL);
	assert_false(reader_now(&f->r)); /* as it was */
	flight_row(f, "So far", "6");
	atomic_fetch_add(&f->now_us, 250000);
	rt_feed_tick(f->feed, NULL);
	reader_is(&f->r, "flight", "\"text\":\"So far\"");
	flight_row(f, NULL, NULL);
	atomic_fetch_add(&f->now_us, 250000);
	rt_feed_tick(f->feed, NULL);
	reader_is(&f->r, "flight.ended", "{\"flight\":\"reply/abc\"}");
	assert_false(reader_now(&f->r));
	/* a later stream gets nothing of it */
	reader_cut(&f->r);
	reader_open(&f->r, f->feed, 0);
	reader_is(&f->r, "hello", "");
	assert_false(reader_now(&f->r));
}

/* ---- the end, limits ---- */

static void
test_ends(void **state)
{
	fixture *f = *state;

	reader_open(&f->r, f->feed, 0);
	reader_is(&f->r, "hello", "");
	assert_false(reader_now(&f->r));
	rt_feed_free(f->feed);
	f->feed = NULL;
	assert_int_equal(f->r.wakes, 1);
	assert_false(reader_next(&f->r));
	assert_true(f->r.has_ended);
}

static void
test_limit(void **state)
{
	fixture *f = *state;
	static rt_web_stream *streams[RT_FEED_STREAMS_MAX];
	rt_web_stream *one_more = NULL;
	rt_error err;
	size_t i;

	for (i = 0; i < RT_FEED_STREAMS_MAX; i++)
		assert_int_equal(rt_feed_stream(f->feed, RT_STR(""), 0, &streams[i], NULL), RT_OK);
	assert_int_equal(rt_feed_stream(f->feed, RT_STR(""), 0, &one_more, &err), RT_LIMIT);
	/* none of them was read: none is woken, and none is waited for */
	add(f, f->engine, "one");
	for (i = 0; i < RT_FEED_STREAMS_MAX; i++)
		streams[i]->ops->close(streams[i]);
	assert_int_equal(rt_feed_stream_count(f->feed), 0);
}

/* ---- rows that are kept ---- */

static void
get_row(fixture *f, const rt_project *value, uint64_t epoch, uint64_t seq, rt_feed_row *out)
{
	assert_int_equal(rt_feed_rows_get(&f->feed->rows, f->engine, epoch, value, seq, out, NULL),
			 RT_OK);
	assert_int_equal(out->seq, seq);
}

static void
test_rows_are_shared(void **state)
{
	fixture *f = *state;
	uint64_t epoch = rt_engine_epoch(f->engine);
	const rt_project *value;
	rt_feed_row a, b;
	size_t i, kept = 0, bytes = 0;
	int n;

	for (n = 0; n < 2 * RT_FEED_ROWS; n++)
		add(f, f->engine, "x");
	value = rt_engine_value(f->engine);
	for (i = 1; i <= value->seq; i++) {
		get_row(f, value, epoch, i, &a);
		get_row(f, value, epoch, i, &b);
		/* written once, unless it is far back */
		assert_int_equal(a.text == b.text, i + RT_FEED_ROWS > value->seq);
		assert_true(rt_str_eq(rt_text_str(a.text), rt_text_str(b.text)));
		rt_text_unref(a.text);
		rt_text_unref(b.text);
	}
	for (i = 0; i < RT_FEED_ROWS; i++) {
		kept += f->feed->rows.at[i].text != NULL;
		bytes += rt_text_str(f->feed->rows.at[i].text).size;
	}
	assert_int_equal(kept, RT_FEED_ROWS);
	assert_int_equal(bytes, f->feed->rows.bytes);
	/* another history: none of them counts */
	get_row(f, value, epoch, value->seq, &a);
	get_row(f, value, epoch + 1, value->seq, &b);
	assert_true(a.text != b.text);
	assert_false(rt_str_eq(rt_text_str(a.text), rt_text_str(b.text)));
	assert_int_equal(f->feed->rows.bytes, b.text->size);
	rt_text_unref(a.text);
	rt_text_unref(b.text);
	rt_object_unref(value);
}

/* Long rows: fewer are kept. */
static void
test_rows_have_a_limit(void **state)
{
	enum { AT_ONCE = 100, STEPS = 120 };
	fixture *f = *state;
	uint64_t epoch = rt_engine_epoch(f->engine);
	const rt_project *value;
	rt_feed_row row;
	rt_buf json;
	size_t largest = 0;
	uint64_t i;
	int n, m;

	rt_buf_init(&json, rt_alloc_libc(), RT_BUF_UNLIMITED);
	for (n = 0; n < STEPS; n++) {
		rt_json_doc *doc = NULL;
		yyjson_val *requests[AT_ONCE];
		rt_result results[AT_ONCE];

		rt_buf_clear(&json);
		rt_buf_add_byte(&json, '[');
		for (m = 0; m < AT_ONCE; m++) {
			rt_json_add_comma(&json);
			rt_buf_add_f(&json,
				     "{\"op\":\"entry.append\",\"role\":\"User\",\"content\":\"x\","
				     "\"id\":\"%0120d\"}", n * AT_ONCE + m);
		}
		rt_buf_add_byte(&json, ']');
		assert_int_equal(rt_json_read(rt_alloc_libc(), rt_buf_str(&json), &doc, NULL), RT_OK);
		for (m = 0; m < AT_ONCE; m++)
			requests[m] = yyjson_arr_get(rt_json_root(doc), (size_t)m);
		assert_int_equal(rt_apply_json(f->engine, NULL, requests, AT_ONCE, true, RT_STR(""),
					      RT_STR(""), results),
				 RT_OK);
		for (m = 0; m < AT_ONCE; m++)
			rt_result_deinit(&results[m]);
		rt_json_free(doc);
	}
	value = rt_engine_value(f->engine);
	for (i = 1; i <= value->seq; i++) {
		get_row(f, value, epoch, i, &row);
		if (row.text->size > largest)
			largest = row.text->size;
		rt_text_unref(row.text);
		assert_true(f->feed->rows.bytes <= RT_FEED_ROWS_BYTES);
	}
	assert_true(largest * STEPS > RT_FEED_ROWS_BYTES); /* otherwise this test proves nothing */
	rt_object_unref(value);
	rt_buf_deinit(&json);
}

/* ---- no memory ---- */

/* A stream without memory ends, and a later one continues at its position. */
static void
test_no_memory(void **state)
{
	fixture *f = *state;
	failing a;
	rt_alloc alloc = {failing_resize, failing_release, &a};
	rt_engine_options options = {.alloc = &alloc, .env = &f->env};
	rt_engine *engine = NULL;
	bool whole = false;
	long n, before;

	add(f, f->engine, "one");
	add(f, f->engine, "two");
	atomic_init(&a.left, -1);
	atomic_init(&a.live, 0);
	assert_int_equal(rt_engine_open(&options, f->store, &engine, NULL), RT_OK);
	for (n = 0; !whole; n++) {
		rt_web_stream *stream = NULL;
		rt_feed *feed = NULL;
		bool ended = false;
		char bytes[8192], id[64];
		size_t got = 0, more;

		assert_true(n < 10000);
		before = atomic_load(&a.live);
		snprintf(id, sizeof(id), "%016llx.0", (unsigned long long)rt_engine_epoch(engine));
		atomic_store(&a.left, n);
		if (rt_feed_new(engine, &f->env, &feed, NULL) == RT_OK &&
		    rt_feed_stream(feed, rt_str_of(id), 0, &stream, NULL) == RT_OK) {
			while ((more = stream->ops->read(stream, bytes + got, sizeof(bytes) - got,
							 &ended)) > 0)
				got += more;
			bytes[got] = '\0';
			whole = !ended;
			if (whole)
				assert_non_null(strstr(bytes, "\"seq\":2"));
		}
		atomic_store(&a.left, -1);
		if (stream != NULL)
			stream->ops->close(stream);
		rt_feed_free(feed);
		assert_int_equal(atomic_load(&a.live), before);
	}
	assert_true(n > 5);
	rt_engine_close(engine);
	assert_int_equal(atomic_load(&a.live), 0);
}

/* ---- many writers, many cuts ---- */

enum { CUTS = 200, WRITERS = 3, ROWS = 400 };

typedef struct crowd {
	fixture *f;
	atomic_ullong end; /* number of the last row of all, once it is known; 0: not yet */
	atomic_bool is_over;
} crowd;

typedef struct writer {
	crowd *c;
	rt_engine *engine;
	uint64_t chance;
} writer;

static void *
write_rows(void *ctx)
{
	writer *w = ctx;
	int i;

	for (i = 0; i < ROWS; i++) {
		w->chance = w->chance * 6364136223846793005u + 1442695040888963407u;
		switch (w->chance >> 60 & 3) {
		case 0: add(w->c->f, w->engine, "a text that is somewhat longer than others"); break;
		case 1:
			(void)apply(w->engine, "{\"op\":\"entry.view\",\"all\":true,"
					       "\"collapsed\":true}");
			add(w->c->f, w->engine, "y");
			break;
		case 2: (void)apply(w->engine, "{\"op\":\"undo\"}"); break;
		default: add(w->c->f, w->engine, "x");
		}
		if (w->engine == w->c->f->engine)
			rt_feed_changed(w->c->f->feed);
	}
	return NULL;
}

static void *
beat_on(void *ctx)
{
	crowd *c = ctx;
	struct timespec pause = {0, 3000000};

	while (!atomic_load(&c->is_over)) {
		rt_feed_tick(c->f->feed, NULL);
		(void)nanosleep(&pause, NULL);
	}
	return NULL;
}

/* Reads like a client with a bad connection; every row comes once and in order. */
typedef struct client {
	crowd *c;
	uint64_t seed;
	uint64_t last;   /* the last received row */
	size_t cuts;
} client;

static void
follow(client *c, reader *r, size_t events)
{
	while (events-- > 0 && reader_now(r)) {
		if (strcmp(r->name, "hello") == 0) {
			assert_int_equal(id_seq(r->id), c->last);
			continue;
		}
		assert_string_equal(r->name, "op");
		assert_int_equal(id_seq(r->id), c->last + 1);
		assert_int_equal(data_number(r, "seq"), c->last + 1);
		c->last++;
	}
}

static void *
read_and_cut(void *ctx)
{
	client *c = ctx;
	reader r;

	reader_init(&r, c->seed);
	while (c->cuts < CUTS) {
		r.room_max = 1 + reader_chance(&r, 700);
		snprintf(r.last_id, sizeof(r.last_id), "%016llx.%llu",
			 (unsigned long long)rt_engine_epoch(c->c->f->engine),
			 (unsigned long long)c->last);
		reader_open(&r, c->c->f->feed, 0);
		follow(c, &r, 1 + reader_chance(&r, 12));
		(void)reader_read(&r); /* part of an event that is lost */
		reader_cut(&r);
		c->cuts++;
	}
	/* and the rest at once, after a wake */
	snprintf(r.last_id, sizeof(r.last_id), "%016llx.%llu",
		 (unsigned long long)rt_engine_epoch(c->c->f->engine), (unsigned long long)c->last);
	reader_open(&r, c->c->f->feed, 0);
	while (atomic_load(&c->c->end) == 0 || c->last < atomic_load(&c->c->end)) {
		assert_true(reader_next(&r));
		if (strcmp(r.name, "hello") == 0)
			continue;
		assert_int_equal(id_seq(r.id), c->last + 1);
		c->last++;
	}
	assert_false(reader_now(&r));
	reader_deinit(&r);
	return NULL;
}

static void
test_cuts(void **state)
{
	enum { CLIENTS = 3 };
	fixture *f = *state;
	crowd c = {.f = f};
	writer writers[WRITERS];
	client clients[CLIENTS];
	pthread_t threads[WRITERS], readers[CLIENTS], tick;
	rt_web_stream *never = NULL; /* a stream that is not read delays no others */
	const rt_project *value;
	size_t i;

	for (i = 0; i < 30; i++) /* so that undo has something to do */
		add(f, f->engine, "first");
	assert_int_equal(rt_engine_refresh(f->other, NULL), RT_OK);
	assert_int_equal(rt_feed_stream(f->feed, RT_STR(""), 0, &never, NULL), RT_OK);
	atomic_init(&c.end, 0);
	atomic_init(&c.is_over, false);
	assert_int_equal(pthread_create(&tick, NULL, beat_on, &c), 0);
	for (i = 0; i < WRITERS; i++) {
		writers[i] = (writer){&c, i == 0 ? f->other : f->engine, 77 + i};
		assert_int_equal(pthread_create(&threads[i], NULL, write_rows, &writers[i]), 0);
	}
	for (i = 0; i < CLIENTS; i++) {
		clients[i] = (client){.c = &c, .seed = 5 + i};
		assert_int_equal(pthread_create(&readers[i], NULL, read_and_cut, &clients[i]), 0);
	}
	for (i = 0; i < WRITERS; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(rt_engine_refresh(f->engine, NULL), RT_OK);
	value = rt_engine_value(f->engine);
	atomic_store(&c.end, value->seq + 1);
	assert_int_equal(add(f, f->engine, "the last"), value->seq + 1);
	for (i = 0; i < CLIENTS; i++)
		pthread_join(readers[i], NULL);
	atomic_store(&c.is_over, true);
	pthread_join(tick, NULL);
	for (i = 0; i < CLIENTS; i++)
		assert_int_equal(clients[i].last, value->seq + 1);
	rt_object_unref(value);
	never->ops->close(never);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_begins, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_other_process, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_one_discussion, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_ids, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_other_history, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_heartbeat, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_newer, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_flights, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_ends, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_limit, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_rows_are_shared, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_rows_have_a_limit, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_no_memory, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_cuts, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
