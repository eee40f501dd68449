/* SPDX-License-Identifier: MIT
 *
 * Replies in flight: whenever a program dies, the received part is kept by the next one, exactly
 * once. */
#define _GNU_SOURCE

#include "chat/send_testing.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "log/checkpoint.h"
#include "log/folder_testing.h"
#include "formats/formats.h"
#include "llm/builtin.h"
#include "store/store_memory.h"
#include "store/store_sqlite.h"

static int
set_up(void **state)
{
	world *w = test_calloc(1, sizeof(*w));

	world_init(w);
	assert_int_equal(rt_store_memory_open(rt_alloc_libc(), &w->env, &w->store, NULL), RT_OK);
	world_open_engine(w, NULL);
	*state = w;
	return 0;
}

static int
tear_down(void **state)
{
	world_deinit(*state);
	test_free(*state);
	return 0;
}

/* From now on this script is used. */
static void
play(world *w, const char *script)
{
	rt_builtin_options options = {RT_STR("play"), rt_str_of(script), 0, world_wait, w};

	if (w->model != NULL)
		w->model->ops->close(w->model);
	w->model = NULL;
	if (rt_builtin_open(rt_alloc_libc(), &options, &w->model, &w->err) != RT_OK)
		fail_msg("%s", w->err.text);
}

/* ---- remaining parts of replies ---- */

typedef struct snapshot {
	rt_buf name, value;
} snapshot;

static struct {
	snapshot items[64];
	size_t count;
} taken;

static bool
on_row(void *ctx, const rt_store_row *row)
{
	snapshot *last = taken.count > 0 ? &taken.items[taken.count - 1] : NULL;

	(void)ctx;
	if (!rt_str_starts(row->name, RT_STR("reply/")) ||
	    (last != NULL && rt_str_eq(rt_buf_str(&last->value), row->data)))
		return true;
	assert_true(taken.count < 64);
	last = &taken.items[taken.count++];
	rt_buf_init(&last->name, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_buf_init(&last->value, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_buf_add_str(&last->name, row->name);
	rt_buf_add_str(&last->value, row->data);
	return true;
}

static void
take_snapshot(world *w)
{
	assert_int_equal(
		w->store->ops->read(w->store,
				    rt_rows_all(RT_STORE_SIDE, rt_engine_project_number(w->engine)),
				    on_row, NULL, NULL),
		RT_OK);
}

static void
drop_snapshots(void)
{
	for (; taken.count > 0; taken.count--) {
		rt_buf_deinit(&taken.items[taken.count - 1].name);
		rt_buf_deinit(&taken.items[taken.count - 1].value);
	}
}

static void
put_back(world *w, const snapshot *s)
{
	assert_int_equal(w->store->ops->write(w->store,
					      rt_rows_named(RT_STORE_SIDE,
							    rt_engine_project_number(w->engine),
							    rt_buf_str(&s->name)),
					      rt_buf_str(&s->value), NULL),
			 RT_OK);
}

/* Requests for all providers: they are JSON, and each call has its result. */
static void
requests_are_sound(world *w, size_t calls)
{
	static const struct {
		const char *name, *call, *result;
	} p[] = {{"openai", "\"type\":\"function\"", "\"tool_call_id\":"},
		 {"anthropic", "\"type\":\"tool_use\"", "\"type\":\"tool_result\""},
		 {"gemini", "\"functionCall\":", "\"functionResponse\":"},
		 {"ollama", "\"function\":{", "\"role\":\"tool\""}};
	rt_context_options options = {.stream = true};
	size_t i;

	for (i = 0; i < 4; i++) {
		const rt_project *value = rt_engine_value(w->engine);
		rt_json_doc *doc = NULL;

		rt_buf_clear(&w->out);
		assert_int_equal(rt_view_context(w->engine, value, (rt_place){0, 0},
						 rt_provider_named(rt_str_of(p[i].name)), &options,
						 &w->out, NULL),
				 RT_OK);
		rt_object_unref(value);
		assert_int_equal(rt_json_read(rt_alloc_libc(), rt_buf_str(&w->out), &doc, NULL),
				 RT_OK);
		rt_json_free(doc);
		rt_buf_add_byte(&w->out, '\0');
		if (world_count(w->out.ptr, p[i].call) != calls ||
		    world_count(w->out.ptr, p[i].result) != calls)
			fail_msg("%s: not %zu calls and results: %s", p[i].name, calls, w->out.ptr);
	}
}

/* Pieces of a reply, cut at random places; texts has room for them. */
static size_t
make_pieces(uint64_t *chance, say *pieces, char texts[][8], size_t room)
{
	static const char prose[] = "Gr\xC3\xBC\xC3\x9F"
				    "e \xE2\x82\xAC \xF0\x9F\x99\x82 \"quoted\" \\ and\nmore. ";
	static const char arguments[] = "{\"path\":\"\xC3\xA4/\xF0\x9F\x99\x82\",\"n\":[1,2.50]}";
	size_t count = 0, blocks = 1 + next_random(chance) % 4, b;

	for (b = 0; b < blocks; b++) {
		unsigned kind = next_random(chance) % 4;
		const char *text = kind == 2 ? arguments : prose;
		size_t at = 0, end = strlen(text);
		bool first = true;

		if (kind == 0 && next_random(chance) % 4 == 0 && b == 0)
			pieces[count++] = (say){SAY_TEXT, "<thi", 0, NULL, NULL};
		if (kind == 3) {
			pieces[count++] = (say){SAY_REDACTED,
						"{\"type\":\"redacted_thinking\",\"data\":\"x\"}",
						0, NULL, NULL};
			continue;
		}
		if (kind == 2 && next_random(chance) % 3 == 0)
			end -= next_random(chance) % end; /* never complete */
		while (at < end && count + 2 < room) {
			size_t size = 1 + next_random(chance) % 7;

			size = size > end - at ? end - at : size;
			memcpy(texts[count], text + at, size);
			texts[count][size] = '\0';
			pieces[count] = (say){kind == 2   ? SAY_CALL
					      : kind == 1 ? SAY_THINKING
							  : SAY_TEXT,
					      texts[count], (unsigned)b, first ? "c7" : NULL,
					      first ? "look" : NULL};
			first = false;
			at += size;
			count++;
		}
		if (kind == 1 && next_random(chance) % 2 == 0)
			pieces[count++] = (say){SAY_SIGNATURE, "c2ln", 0, NULL, NULL};
	}
	pieces[count++] = (say){SAY_TEXT, "", 0, NULL, NULL}; /* a last wait */
	return count;
}

static void
begin_talk(world *w)
{
	world_add(w, "q0", "User", "Read it");
	world_apply(
		w,
		"{\"op\":\"entry.append\",\"id\":\"a0\",\"role\":\"AI\","
		"\"content\":[{\"type\":\"toolCall\","
		"\"id\":\"c0\",\"name\":\"read\",\"arguments\":{}}]}");
	world_apply(
		w,
		"{\"op\":\"entry.append\",\"id\":\"t0\",\"role\":\"tool\",\"tool_call_id\":\"c0\","
		"\"content\":\"it says so\"}");
	world_add(w, "q1", "User", "And now?");
}

/* As if the program had been killed at the time of the snapshot. */
static void
dies_with(world *w, const snapshot *s)
{
	size_t kept = 0;
	rt_json_doc *doc;
	bool is_something;

	assert_int_equal(rt_json_read(rt_alloc_libc(), rt_buf_str(&s->value), &doc, NULL), RT_OK);
	is_something = yyjson_get_len(rt_json_get(rt_json_get(rt_json_root(doc), "request"),
						  "content")) > 0 ||
		       strstr(s->value.ptr, "thinking_segments") != NULL;
	rt_json_free(doc);
	put_back(w, s);
	assert_int_equal(world_flights(w), 1);
	assert_int_equal(rt_engine_keep_left(w->engine, world_nobody_lives, NULL, &kept, NULL),
			 RT_OK);
	assert_int_equal(kept, is_something ? 1 : 0);
	assert_int_equal(world_flights(w), 0);
	if (kept == 0)
		return;
	world_has(w, ":-1", "\"partial\":true");
	requests_are_sound(w, 1);
	world_apply(w, "{\"op\":\"undo\"}");
	assert_non_null(strstr(world_shown(w), "User: And now?\n"));
	/* the row is gone: it is not kept again */
	assert_int_equal(rt_engine_keep_left(w->engine, world_nobody_lives, NULL, &kept, NULL),
			 RT_OK);
	assert_int_equal(kept, 0);
}

static void
a_crash_at_any_time_keeps_what_had_arrived(void **state)
{
	static char texts[64][8];
	say pieces[64];
	uint64_t chance = 3;
	size_t stream, i, rows = 0;

	for (stream = 0; stream < 50; stream++) {
		const rt_provider *provider = rt_provider_named(
			stream % 2 == 0 ? RT_STR("anthropic") : RT_STR("openai"));
		size_t count = make_pieces(&chance, pieces, texts, 60);
		rt_send_options options = {.how = RT_SEND_ASK};
		world *w;
		sayer s;

		assert_int_equal(set_up(state), 0);
		w = *state;
		begin_talk(w);
		sayer_init(&s, w, provider, pieces, count);
		w->meanwhile = take_snapshot;
		options.with = world_with(w);
		options.with.model = &s.model;
		assert_int_equal(world_send_options(w, options), RT_OK);
		w->meanwhile = NULL;
		assert_int_equal(world_flights(w), 0);
		requests_are_sound(w, 1);
		/* pieces that are in no row yet: one, the beginning of a character, an empty one */
		if (taken.count < count / 2)
			fail_msg("stream %zu: %zu rows for %zu pieces", stream, taken.count, count);
		world_apply(w, "{\"op\":\"undo\"}");
		for (i = 0; i < taken.count; i++, rows++)
			dies_with(w, &taken.items[i]);
		drop_snapshots();
		assert_int_equal(tear_down(state), 0);
	}
	print_message("# %zu rows of 50 streams\n", rows);
}

/* A reply that was being continued when the program ended. */
static void
a_crash_while_a_reply_goes_on(void **state)
{
	world *w = *state;
	size_t kept;

	play(w, "{\"thinking\":\"hm\"}\n{\"text\":\"One, \"}\n{\"cut\":true}");
	assert_int_equal(world_ask(w, "Count"), RT_UPSTREAM);
	play(w,
	     "{\"text\":\"two, \"}\n{\"wait_ms\":500}\n{\"text\":\"three\"}\n{\"wait_ms\":500}\n"
	     "{\"text\":\".\"}");
	w->meanwhile = take_snapshot;
	assert_int_equal(world_again(w, RT_SEND_CONTINUE, ""), RT_OK);
	w->meanwhile = NULL;
	assert_true(taken.count >= 3);
	world_apply(w, "{\"op\":\"undo\"}");
	put_back(w, &taken.items[1]);
	assert_int_equal(rt_engine_keep_left(w->engine, world_nobody_lives, NULL, &kept, NULL),
			 RT_OK);
	assert_int_equal(kept, 1);
	assert_string_equal(world_shown(w), "User: Count\n*AI: One, two, \n");
	world_has(w, ":2", "\"thinking_segments\":[{\"text\":\"hm\"}]");
	world_lacks(w, ":2", "\"stop_reason\":\"cut\"");
	drop_snapshots();
}

static bool
first_lives(void *ctx, rt_str owner, int64_t written_us)
{
	(void)ctx;
	(void)written_us;
	return rt_str_is(owner, "alive");
}

static void
write_side(world *w, const char *name, const char *value)
{
	assert_int_equal(w->store->ops->write(w->store,
					      rt_rows_named(RT_STORE_SIDE,
							    rt_engine_project_number(w->engine),
							    rt_str_of(name)),
					      rt_str_of(value), NULL),
			 RT_OK);
}

#define ROW(owner, request) \
	"{\"v\":1,\"owner\":\"" owner \
	"\",\"started\":1,\"written\":2,\"request\":{\"op\":\"entry.reply\"," request "}}"

static bool
count_stranded(void *ctx, const rt_inflight_view *inflight)
{
	*(size_t *)ctx += inflight->is_stranded;
	return true;
}

static size_t
stranded(world *w)
{
	size_t count = 0;

	assert_int_equal(rt_engine_inflight(w->engine, count_stranded, &count, NULL), RT_OK);
	return count;
}

static void
rows_that_are_left(void **state)
{
	world *w = *state;
	size_t kept;

	world_add(w, "q", "User", "Hi");
	write_side(w, "reply/1",
		   ROW("alive", "\"after\":\"q\",\"content\":\"living\",\"flight\":\"reply/1\""));
	write_side(w, "reply/2",
		   ROW("dead", "\"after\":\"q\",\"content\":\"\",\"flight\":\"reply/2\""));
	write_side(w, "reply/3",
		   ROW("dead", "\"after\":\"gone\",\"content\":\"lost\",\"flight\":\"reply/3\""));
	write_side(w, "reply/4", "no JSON");
	write_side(w, "reply/5",
		   ROW("dead", "\"after\":\"q\",\"content\":7,\"flight\":\"reply/5\""));
	write_side(
		w, "reply/6",
		ROW("dead",
		    "\"after\":\"q\",\"content\":\"kept\",\"flight\":\"reply/6\","
		    "\"partial\":true"));
	write_side(w, "draft/1", "none of ours");
	assert_int_equal(rt_engine_keep_left(w->engine, first_lives, NULL, &kept, NULL), RT_OK);
	assert_int_equal(kept, 1);
	assert_string_equal(world_shown(w), "User: Hi\n*AI: kept\n");
	/* rows of living processes, without a place or unreadable stay; empty ones are deleted */
	assert_int_equal(world_flights(w), 4);
	assert_int_equal(stranded(w), 2);
	assert_int_equal(rt_engine_keep_left(w->engine, first_lives, NULL, &kept, NULL), RT_OK);
	assert_int_equal(kept, 0);
	assert_int_equal(world_flights(w), 4);
	assert_int_equal(rt_engine_keep_left(w->engine, world_nobody_lives, NULL, &kept, NULL),
			 RT_OK);
	assert_int_equal(kept, 1);
	/* once is once */
	assert_int_equal(
		world_try(
			w,
			"{\"op\":\"entry.reply\",\"after\":\"q\",\"content\":\"x\","
			"\"flight\":\"reply/1\"}"),
		RT_NOT_FOUND);
	assert_int_equal(
		world_try(
			w,
			"{\"op\":\"entry.reply\",\"after\":\"q\",\"content\":\"x\","
			"\"flight\":\"draft/1\"}"),
		RT_USAGE);
}

/* ---- replies that have lost their place ---- */

#define SLOW \
	"{\"text\":\"Good \"}\n{\"wait_ms\":1500}\n{\"text\":\"day\"}\n{\"wait_ms\":1500}\n" \
	"{\"text\":\"!\"}\n{\"wait_ms\":1500}\n{\"text\":\"!\"}"

static bool
nobody_but_us_lives(void *ctx, rt_str owner, int64_t written_us)
{
	(void)ctx;
	(void)written_us;
	return owner.size > 0 && !rt_str_is(owner, "dead");
}

static void
told(void *ctx, const rt_rescued *reply)
{
	rt_buf_add_f(ctx, "%.*s:%zu ", RT_STR_ARG(reply->take), reply->size);
}

static bool
find(void *ctx, const rt_finding *finding)
{
	rt_buf_add_f(ctx, "%s %s\n", finding->severity, finding->id);
	return true;
}

/* The ids of what fsck finds. */
static const char *
findings(world *w)
{
	rt_buf_clear(&w->out);
	assert_int_equal(rt_engine_fsck(w->engine, find, &w->out, NULL), RT_OK);
	assert_int_equal(rt_engine_fsck_replies(w->engine, find, &w->out, NULL), RT_OK);
	rt_buf_add_byte(&w->out, '\0');
	return w->out.ptr;
}

static void
undo_the_question(world *w)
{
	if (w->waits == 2)
		world_apply(w, "{\"op\":\"undo\"}");
}

/* The received part of an answer to a deleted entry waits until the entry is restored. */
static void
a_stranded_reply_is_kept_when_its_place_is_back(void **state)
{
	world *w = *state;
	size_t kept;

	play(w, SLOW);
	w->meanwhile = undo_the_question;
	assert_int_equal(world_ask(w, "Hi"), RT_CONFLICT);
	assert_non_null(strstr(w->err.text, "the reply is kept"));
	w->meanwhile = NULL;
	assert_string_equal(world_shown(w), "");
	assert_int_equal(stranded(w), 1);
	assert_string_equal(findings(w), "note reply-stranded\n");
	/* it waits, however often this is tried */
	assert_int_equal(rt_engine_keep_left(w->engine, nobody_but_us_lives, NULL, &kept, NULL),
			 RT_OK);
	assert_int_equal(kept, 0);
	assert_int_equal(stranded(w), 1);
	world_apply(w, "{\"op\":\"redo\"}");
	assert_int_equal(stranded(w), 0);
	assert_int_equal(rt_engine_keep_left(w->engine, nobody_but_us_lives, NULL, &kept, NULL),
			 RT_OK);
	assert_int_equal(kept, 1);
	assert_non_null(strstr(world_shown(w), "User: Hi\n*AI: Good "));
	assert_int_equal(world_flights(w), 0);
	assert_string_equal(findings(w), "");
}

/* Or it gets a new take beside the existing ones. */
static void
a_stranded_reply_is_rescued(void **state)
{
	world *w = *state;
	rt_buf takes;

	rt_buf_init(&takes, rt_alloc_libc(), RT_BUF_UNLIMITED);
	world_add(w, "q", "User", "Stays");
	play(w, SLOW);
	w->meanwhile = undo_the_question;
	assert_int_equal(world_ask(w, "Hi"), RT_CONFLICT);
	w->meanwhile = NULL;
	assert_int_equal(rt_engine_rescue(w->engine, nobody_but_us_lives, NULL, told, &takes, NULL),
			 RT_OK);
	assert_true(rt_str_starts(rt_buf_str(&takes), RT_STR("main_take_1:")));
	assert_true(rt_str_starts(rt_str_of(world_take(w, "main_take_1")), RT_STR("*AI: Good ")));
	assert_string_equal(world_take(w, "main"), "User: Stays\n");
	assert_int_equal(world_flights(w), 0);
	assert_string_equal(findings(w), "");
	/* one step, and once */
	assert_int_equal(rt_engine_rescue(w->engine, nobody_but_us_lives, NULL, told, &takes, NULL),
			 RT_OK);
	world_apply(w, "{\"op\":\"undo\"}");
	assert_string_equal(world_shown(w), "User: Stays\n");
	rt_buf_deinit(&takes);
}

/* Rows of every kind that cannot be kept: none stays forever, and no text is lost. */
static void
whatever_cannot_be_kept_is_rescued(void **state)
{
	world *w = *state;
	rt_buf takes;
	size_t kept;

	rt_buf_init(&takes, rt_alloc_libc(), RT_BUF_UNLIMITED);
	world_add(w, "q", "User", "Hi");
	world_apply(w, "{\"op\":\"take.branch\",\"at\":\"q\",\"name\":\"other\"}");
	world_apply(w, "{\"op\":\"take.switch\",\"take\":\"main\"}");
	world_apply(w, "{\"op\":\"take.delete\",\"take\":\"other\"}");
	write_side(w, "reply/1", "no JSON");
	write_side(w, "reply/2", "[1,2]");
	write_side(w, "reply/3", ROW("dead", "\"after\":\"q\",\"content\":7,\"flight\":\"reply/3\""));
	write_side(w, "reply/4",
		   ROW("dead", "\"discussion\":\"d9\",\"take\":\"t1\",\"after\":\"q\",\"content\":"
			       "\"elsewhere\",\"flight\":\"reply/4\""));
	write_side(w, "reply/5",
		   ROW("dead", "\"discussion\":\"d1\",\"take\":\"t2\",\"after\":\"q\",\"content\":"
			       "\"deleted\",\"model\":\"m\",\"flight\":\"reply/5\""));
	write_side(w, "reply/6",
		   ROW("dead", "\"into\":\"gone\",\"join\":true,\"content\":[{\"type\":\"text\","
			       "\"text\":\"more\"}],\"flight\":\"reply/6\""));
	write_side(w, "reply/7",
		   ROW("dead", "\"after\":\"q\",\"id\":\"q\",\"content\":\"twice\","
			       "\"flight\":\"reply/7\""));
	write_side(w, "reply/8",
		   ROW("alive", "\"after\":\"gone\",\"content\":\"ours\",\"flight\":\"reply/8\""));
	assert_int_equal(rt_engine_keep_left(w->engine, nobody_but_us_lives, NULL, &kept, NULL),
			 RT_OK);
	assert_int_equal(kept, 0);
	assert_int_equal(rt_engine_rescue(w->engine, nobody_but_us_lives, NULL, told, &takes, NULL),
			 RT_OK);
	assert_int_equal(world_flights(w), 1); /* that of a living process */
	assert_string_equal(world_take(w, "main"), "User: Hi\n");
	assert_string_equal(world_take(w, "main_take_1"), "*AI: no JSON\n");
	assert_string_equal(world_take(w, "main_take_2"), "*AI: [1,2]\n");
	assert_non_null(strstr(world_take(w, "main_take_3"), "\"content\":7"));
	assert_string_equal(world_take(w, "main_take_4"), "*AI: elsewhere\n");
	assert_string_equal(world_take(w, "main_take_5"), "*AI: deleted\n");
	assert_string_equal(world_take(w, "main_take_6"),
			    "*AI: [{\"type\":\"text\",\"text\":\"more\"}]\n");
	assert_string_equal(world_take(w, "main_take_7"), "*AI: twice\n");
	rt_buf_deinit(&takes);
}

typedef struct keeper {
	rt_engine *engine;
	pthread_barrier_t *start;
	size_t kept;
	rt_status st;
} keeper;

static void *
keep(void *ctx)
{
	keeper *k = ctx;

	pthread_barrier_wait(k->start);
	k->st = rt_engine_keep_left(k->engine, world_nobody_lives, NULL, &k->kept, NULL);
	return NULL;
}

static void
two_programs_find_the_same_row(void **state)
{
	rt_store_sqlite_options options = {.create = true};
	char path[64], side[80];
	pthread_barrier_t start;
	pthread_t threads[2];
	keeper keepers[2];
	world worlds[2];
	size_t round, i;
	int fd = test_path(path, sizeof(path), "retake-send") ? mkstemp(path) : -1;

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	unlink(path);
	for (i = 0; i < 2; i++) {
		world_init(&worlds[i]);
		worlds[i].chance = 5 + i;
		assert_int_equal(rt_store_sqlite_open(rt_alloc_libc(), &worlds[i].env, path,
						      &options, &worlds[i].store, NULL),
				 RT_OK);
		world_open_engine(&worlds[i], NULL);
	}
	world_add(&worlds[0], "q", "User", "Hi");
	assert_int_equal(rt_engine_refresh(worlds[1].engine, NULL), RT_OK);
	for (round = 0; round < 20; round++) {
		write_side(
			&worlds[0], "reply/1",
			ROW("dead", "\"after\":\"q\",\"content\":\"kept\",\"flight\":\"reply/1\""));
		assert_int_equal(pthread_barrier_init(&start, NULL, 2), 0);
		for (i = 0; i < 2; i++) {
			keepers[i] = (keeper){worlds[i].engine, &start, 0, RT_OK};
			assert_int_equal(pthread_create(&threads[i], NULL, keep, &keepers[i]), 0);
		}
		for (i = 0; i < 2; i++)
			assert_int_equal(pthread_join(threads[i], NULL), 0);
		pthread_barrier_destroy(&start);
		assert_int_equal(keepers[0].st, RT_OK);
		assert_int_equal(keepers[1].st, RT_OK);
		assert_int_equal(keepers[0].kept + keepers[1].kept, 1);
		for (i = 0; i < 2; i++) {
			assert_int_equal(rt_engine_refresh(worlds[i].engine, NULL), RT_OK);
			assert_int_equal(world_count(world_shown(&worlds[i]), "AI: kept\n"),
					 round + 1);
		}
	}
	for (i = 0; i < 2; i++)
		world_deinit(&worlds[i]);
	unlink(path);
	snprintf(side, sizeof(side), "%s-wal", path);
	unlink(side);
	snprintf(side, sizeof(side), "%s-shm", path);
	unlink(side);
}

/* ---- taken over while it arrives ---- */

static void
keep_it_once(world *w)
{
	size_t kept;

	if (w->waits != 12) /* 600 ms: the row contains something */
		return;
	assert_int_equal(rt_engine_keep_left(w->engine, world_nobody_lives, NULL, &kept, NULL),
			 RT_OK);
	assert_int_equal(kept, 1);
}

/* Another process takes the receiver for dead. There is still one entry, nothing in a side row, and
 * the receiver reports the result. */
static void
a_reply_that_is_taken_is_not_kept_twice(void **state)
{
	world *w = *state;
	size_t kept;

	play(w, "{\"text\":\"Good \"}\n{\"wait_ms\":1000}\n{\"text\":\"day\"}\n"
		"{\"wait_ms\":60000}\n{\"text\":\"!\"}");
	w->meanwhile = keep_it_once;
	assert_int_equal(world_ask(w, "Hi"), RT_CONFLICT);
	assert_int_equal(w->result.fate, RT_SEND_TAKEN);
	assert_string_equal(w->result.entry, "");
	assert_non_null(strstr(w->err.text, "another process"));
	assert_true(w->waits < 100); /* it does not wait for the rest: a minute is 1200 waits */
	assert_string_equal(world_shown(w), "User: Hi\n*AI: Good \n");
	assert_int_equal(world_flights(w), 0);
	assert_int_equal(rt_engine_keep_left(w->engine, world_nobody_lives, NULL, &kept, NULL),
			 RT_OK);
	assert_int_equal(kept, 0);
	/* nor if it was not noticed until the end */
	play(w, "{\"text\":\"Good \"}\n{\"wait_ms\":620}");
	assert_int_equal(world_ask(w, "And you?"), RT_CONFLICT);
	assert_int_equal(w->result.fate, RT_SEND_TAKEN);
	assert_string_equal(world_shown(w), "User: Hi\n*AI: Good \nUser: And you?\n*AI: Good \n");
	assert_int_equal(world_flights(w), 0);
}

static void
drop_it_once(world *w)
{
	size_t kept;

	if (w->waits != 2)
		return;
	assert_int_equal(rt_engine_keep_left(w->engine, world_nobody_lives, NULL, &kept, NULL),
			 RT_OK);
	assert_int_equal(kept, 0);
	assert_int_equal(world_flights(w), 0);
}

/* A row without content is given up, and the reply is not affected. */
static void
a_row_that_was_empty_is_made_anew(void **state)
{
	world *w = *state;

	play(w, "{\"wait_ms\":200}\n{\"text\":\"Good day\"}");
	w->meanwhile = drop_it_once;
	assert_int_equal(world_ask(w, "Hi"), RT_OK);
	assert_string_equal(world_shown(w), "User: Hi\nAI: Good day\n");
	assert_int_equal(world_flights(w), 0);
}

/* ---- a store that fails ---- */

static const rt_store_ops *whole;
static rt_store_ops broken;
static size_t side_writes_left;

static rt_status
write_row(rt_store *store, rt_rows row, rt_str data, rt_error *err)
{
	if (row.table == RT_STORE_SIDE && side_writes_left == 0)
		return rt_fail(err, RT_IO, "the disk is gone");
	side_writes_left -= row.table == RT_STORE_SIDE;
	return whole->write(store, row, data, err);
}

/* The end of the side row and the entry are atomic: a reply reported as failed has no entry, and is
 * found in its row later. */
static void
the_side_row_cannot_be_ended(void **state)
{
	world *w = *state;
	size_t kept;

	whole = w->store->ops;
	broken = *whole;
	broken.write = write_row;
	w->store->ops = &broken;
	play(w, "{\"text\":\"Good \"}\n{\"wait_ms\":300}\n{\"text\":\"day\"}");
	side_writes_left = 3; /* the row, the last request, and one renewal of the row */
	assert_int_equal(world_ask(w, "Hi"), RT_IO);
	assert_string_equal(w->result.entry, "");
	assert_int_equal(w->result.fate, RT_SEND_IN_ROW);
	assert_string_equal(world_shown(w), "User: Hi\n");
	side_writes_left = SIZE_MAX;
	assert_int_equal(rt_engine_keep_left(w->engine, world_nobody_lives, NULL, &kept, NULL),
			 RT_OK);
	assert_int_equal(kept, 1);
	assert_string_equal(world_shown(w), "User: Hi\n*AI: Good \n");
	/* the end of it is written if that is possible */
	side_writes_left = 2;
	w->store->ops = whole;
	world_apply(w, "{\"op\":\"undo\"}");
	assert_int_equal(rt_engine_rebuild(w->engine, NULL), RT_OK);
	assert_string_equal(world_shown(w), "User: Hi\n");
}

#define WITH_WORLD(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_crash_at_any_time_keeps_what_had_arrived),
		WITH_WORLD(a_crash_while_a_reply_goes_on),
		WITH_WORLD(rows_that_are_left),
		WITH_WORLD(a_stranded_reply_is_kept_when_its_place_is_back),
		WITH_WORLD(a_stranded_reply_is_rescued),
		WITH_WORLD(whatever_cannot_be_kept_is_rescued),
		cmocka_unit_test(two_programs_find_the_same_row),
		WITH_WORLD(a_reply_that_is_taken_is_not_kept_twice),
		WITH_WORLD(a_row_that_was_empty_is_made_anew),
		WITH_WORLD(the_side_row_cannot_be_ended),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
