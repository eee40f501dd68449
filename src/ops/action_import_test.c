/* SPDX-License-Identifier: MIT
 *
 * Imports of files: the scan, then the import; and every way in which it fails without a change. */
#include "log/bare_testing.h"

#include "ops/action.h"
#include "formats/formats.h"
#include "store/store_memory.h"

#define LINE "{\"messages\":[{\"role\":\"user\",\"content\":\"x\"},{\"role\":\"user\",\"content\":\"y\"}]}\n"

typedef struct source {
	rt_buf bytes;
	uint64_t fails_at; /* reading this byte fails; 0: none */
	bool stops;        /* stop requested */
} source;

typedef struct fixture {
	bare *b;
	source s;
	rt_input in;
	rt_action_file file;
	rt_action_import_options options;
	rt_apply_context with;
	rt_action_scan looked;
	rt_import_result result;
	rt_error err;
	size_t said, said_all;
} fixture;

static rt_status
read_at(void *ctx, uint64_t offset, char *to, size_t room, size_t *out_size, rt_error *err)
{
	source *s = ctx;
	rt_str bytes = rt_buf_str(&s->bytes);
	rt_input in = rt_input_of(&bytes);

	if (s->fails_at > 0 && offset + room > s->fails_at)
		return rt_fail(err, RT_IO, "the disk failed");
	return in.read_at(in.ctx, offset, to, room, out_size, err);
}

static bool
is_stopped(void *ctx)
{
	const source *s = ctx;

	return s->stops;
}

static void
said(void *ctx, size_t done, size_t all)
{
	fixture *f = ctx;

	assert_true(done > f->said && done <= all);
	f->said = done;
	f->said_all = all;
}

static fixture
begin(void **state, size_t lines)
{
	fixture f = {.b = *state, .file = {.format = &rt_format_openai}};
	size_t i;

	rt_buf_init(&f.s.bytes, rt_alloc_libc(), RT_BUF_UNLIMITED);
	for (i = 0; i < lines; i++)
		rt_buf_add_c(&f.s.bytes, LINE);
	return f;
}

static rt_status
look(fixture *f)
{
	f->in = (rt_input){.ctx = &f->s, .size = f->s.bytes.size, .read_at = read_at};
	f->with.stop = is_stopped;
	f->with.ctx = &f->s;
	rt_action_scan_deinit(&f->looked);
	return rt_action_import_scan(rt_alloc_libc(), &f->with, &f->file, &f->in, &f->options,
				     &f->looked, NULL, &f->err);
}

static rt_status
bring_in(fixture *f)
{
	return rt_action_import(f->b->engine, &f->with, &f->file, &f->in, &f->options, &f->looked,
				&f->result, &f->err);
}

static void
end(fixture *f)
{
	rt_action_scan_deinit(&f->looked);
	rt_buf_deinit(&f->s.bytes);
}

/* Number of present discussions. */
static size_t
count(const fixture *f)
{
	const rt_project *value = rt_engine_value(f->b->engine);
	size_t i, found = 0;

	for (i = 1; i <= rt_project_disc_count(value); i++)
		found += rt_project_cell(value, (uint32_t)i)->present;
	rt_object_unref(value);
	return found;
}

static bool
has_name(const fixture *f, const char *name)
{
	const rt_project *value = rt_engine_value(f->b->engine);
	bool found = false;
	size_t i;

	for (i = 1; i <= rt_project_disc_count(value); i++) {
		const rt_cell *cell = rt_project_cell(value, (uint32_t)i);

		found = found || (cell->present && rt_str_is(rt_cell_name(cell), name));
	}
	rt_object_unref(value);
	return found;
}

static void
the_source_that_is_given(void **state)
{
	fixture f = begin(state, 1);

	f.options.source = RT_STR("cursor:file");
	assert_int_equal(look(&f), RT_OK);
	assert_int_equal(bring_in(&f), RT_OK);
	assert_int_equal(f.result.entries, 2);
	rt_buf_clear(&f.s.bytes);
	rt_buf_add_c(&f.s.bytes, "{\"messages\":[{\"role\":\"user\",\"content\":\"x\"},{\"role\":\"user\","
				 "\"content\":\"y\"},{\"role\":\"user\",\"content\":\"z\"}]}\n");
	assert_int_equal(look(&f), RT_OK);
	assert_int_equal(bring_in(&f), RT_OK);
	assert_int_equal(f.result.discussions, 0);
	assert_int_equal(f.result.entries, 1);
	assert_int_equal(f.result.known, 2);
	assert_int_equal(count(&f), 1);
	end(&f);
}

static void
looked_through_and_imported(void **state)
{
	fixture f = begin(state, 3000);

	f.options.fallback = RT_STR("file");
	f.options.progress = said;
	f.options.progress_ctx = &f;
	assert_int_equal(look(&f), RT_OK);
	assert_int_equal(f.looked.discussions, 3000);
	assert_int_equal(f.looked.entries, 6000);
	assert_true(rt_str_is(rt_text_str(f.looked.name), "file"));
	assert_int_equal(bring_in(&f), RT_OK);
	assert_int_equal(f.result.discussions, 3000);
	assert_int_equal(f.result.entries, 6000);
	assert_int_equal(f.said, 6000);
	assert_int_equal(f.said_all, 6000);
	assert_true(has_name(&f, "file") && has_name(&f, "file_3000"));
	end(&f);
}

/* The name inside the file has precedence over the name of the file, and the requested name over
 * both. */
static void
names(void **state)
{
	fixture f = begin(state, 0);

	rt_buf_add_c(&f.s.bytes,
		     "{\"title\":\"own\",\"messages\":[{\"role\":\"user\",\"content\":\"x\"}]}");
	f.options.fallback = RT_STR("file");
	assert_int_equal(look(&f), RT_OK);
	assert_true(rt_str_is(rt_text_str(f.looked.name), "own"));
	assert_int_equal(bring_in(&f), RT_OK);
	assert_true(has_name(&f, "own"));
	rt_buf_clear(&f.s.bytes);
	rt_buf_add_c(&f.s.bytes,
		     "{\"title\":\"own\",\"messages\":[{\"role\":\"user\",\"content\":\"y\"}]}");
	f.options.name = RT_STR("asked");
	assert_int_equal(look(&f), RT_OK);
	assert_true(rt_str_is(rt_text_str(f.looked.name), "asked"));
	assert_int_equal(bring_in(&f), RT_OK);
	assert_true(has_name(&f, "asked"));
	end(&f);
}

/* A scan alone only counts. */
static void
dry_run(void **state)
{
	fixture f = begin(state, 10);
	size_t before = count(&f);

	f.options.dry_run = true;
	assert_int_equal(look(&f), RT_OK);
	assert_int_equal(bring_in(&f), RT_OK);
	assert_int_equal(f.result.discussions, 10);
	assert_int_equal(count(&f), before);
	end(&f);
}

static void
limits(void **state)
{
	fixture f = begin(state, 2000);

	f.options.discussions_max = 1999;
	assert_int_equal(look(&f), RT_LIMIT);
	assert_non_null(strstr(f.err.text, "more than 1999 discussions"));
	f.options.discussions_max = 2000;
	f.options.entries_max = 3999;
	assert_int_equal(look(&f), RT_LIMIT);
	assert_non_null(strstr(f.err.text, "more than 3999 entries"));
	f.options.entries_max = 4000;
	assert_int_equal(look(&f), RT_OK);
	end(&f);
}

/* One conversation with several answers has to be kept in memory, and this one is too large for
 * that. */
static void
too_large_to_be_held(void **state)
{
	fixture f = begin(state, 0);
	size_t i;

	rt_buf_add_c(&f.s.bytes, "{\"choices\":[],\"messages\":[0");
	for (i = 0; i < 300000; i++)
		rt_buf_add_c(&f.s.bytes, ",{\"role\":\"user\",\"content\":\"x\"}");
	rt_buf_add_c(&f.s.bytes, "]}");
	assert_int_equal(look(&f), RT_LIMIT);
	assert_non_null(strstr(f.err.text, "96 MiB"));
	end(&f);
}

/* One conversation without an id, in pieces, is recognised from its first piece on. */
static void
again_in_pieces(void **state)
{
	fixture f = begin(state, 0);
	uint64_t seq;
	size_t i;

	rt_buf_add_c(&f.s.bytes, "[{\"role\":\"user\",\"content\":\"0\"}");
	for (i = 1; i < 20000; i++)
		rt_buf_add_f(&f.s.bytes, ",{\"role\":\"user\",\"content\":\"%zu\"}", i);
	rt_buf_add_c(&f.s.bytes, "]");
	assert_int_equal(look(&f), RT_OK);
	assert_int_equal(f.looked.hash_count, 1);
	assert_int_equal(bring_in(&f), RT_OK);
	assert_int_equal(f.result.entries, 20000);
	seq = f.result.seq;
	assert_int_equal(bring_in(&f), RT_OK);
	assert_int_equal(f.result.entries, 0);
	assert_int_equal(f.result.known, 20000);
	assert_int_equal(f.result.seq, seq);
	f.options.dry_run = true;
	assert_int_equal(bring_in(&f), RT_OK);
	assert_int_equal(f.result.known, 20000);
	f.options.dry_run = false;
	/* another file than the scanned one */
	f.s.bytes.ptr[f.s.bytes.size - 4] ^= 1;
	assert_int_equal(bring_in(&f), RT_CONFLICT);
	assert_int_equal(look(&f), RT_OK);
	assert_int_equal(bring_in(&f), RT_OK);
	assert_int_equal(f.result.entries, 20000);
	assert_int_equal(count(&f), 2);
	end(&f);
}

/* If anything fails in the second pass, nothing is left of the first batches. */
static void
failing_in_the_middle(void **state)
{
	fixture f = begin(state, 5000);
	size_t before = count(&f);

	assert_int_equal(look(&f), RT_OK);
	f.s.fails_at = f.s.bytes.size / 2;
	assert_int_equal(bring_in(&f), RT_IO);
	assert_string_equal(f.err.text, "the disk failed");
	assert_int_equal(count(&f), before);
	f.s.fails_at = 0;
	f.s.stops = true;
	assert_int_equal(bring_in(&f), RT_INTERRUPTED);
	assert_string_equal(f.err.text, "the import was cancelled; nothing was changed");
	assert_int_equal(count(&f), before);
	assert_int_equal(look(&f), RT_INTERRUPTED);
	f.s.stops = false;
	assert_int_equal(look(&f), RT_OK);
	assert_int_equal(bring_in(&f), RT_OK);
	assert_int_equal(f.result.discussions, 5000);
	end(&f);
}

static int
set_up(void **state)
{
	rt_store *store = NULL;

	assert_int_equal(rt_store_memory_open(rt_alloc_libc(), &env, &store, NULL), RT_OK);
	return bare_set_up(state, store);
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, bare_tear_down)
	const struct CMUnitTest tests[] = {
		TEST(looked_through_and_imported), TEST(the_source_that_is_given), TEST(names), TEST(dry_run), TEST(limits),
		TEST(too_large_to_be_held), TEST(again_in_pieces),
		TEST(failing_in_the_middle),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
