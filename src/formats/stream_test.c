/* SPDX-License-Identifier: MIT
 *
 * Files read in batches: the same conversations as in one piece, in memory that does not grow
 * with the file. */
#include "base/sample_testing.h"
#include "formats/formats_random.h"

#include "base/budget.h"
#include "formats/formats.h"
#include "formats/formats_reader.h"
#include "formats/walk_testing.h"

/* Batches, compared with the outlines of the whole file. */
typedef struct checker {
	const rt_outlines *whole;
	size_t at;        /* the next outline, or the one that is continued */
	size_t from;      /* of its nodes: this many were in earlier pieces */
	bool goes_on;
	size_t batches, pieces, project_fields;
	bool saw_active;
	size_t fails_in;  /* batch, from 1; 0: none */
} checker;

static void
assert_same_str(rt_str a, rt_str b)
{
	if (!rt_str_eq(a, b))
		fail_msg("\"%.*s\", not \"%.*s\"", RT_STR_ARG(a), RT_STR_ARG(b));
}

static int64_t
whole_index(const checker *c, int64_t node)
{
	return node < 0 ? (int64_t)c->from - 1 : node + (int64_t)c->from;
}

static void
check_node(const checker *c, const rt_node *got, const rt_node *wanted)
{
	assert_same_str(got->id, wanted->id);
	assert_same_str(got->role, wanted->role);
	assert_same_str(got->kind, wanted->kind);
	assert_same_str(got->label, wanted->label);
	assert_same_str(got->body, wanted->body);
	assert_int_equal(got->body_format, wanted->body_format);
	assert_int_equal(got->has_ts, wanted->has_ts);
	assert_int_equal(got->ts.us, wanted->ts.us);
	assert_int_equal(got->muted, wanted->muted);
	assert_int_equal(got->collapsed, wanted->collapsed);
	assert_int_equal(got->read_mode, wanted->read_mode);
	if (got->parent >= 0 || c->from > 0)
		assert_int_equal(whole_index(c, got->parent), wanted->parent);
	else
		assert_int_equal(wanted->parent, -1);
}

static void
check_takes(const rt_outline *got, const rt_outline *wanted)
{
	size_t i;

	assert_int_equal(got->take_count, wanted->take_count);
	assert_int_equal(got->active_take, wanted->active_take);
	for (i = 0; i < got->take_count; i++) {
		assert_same_str(got->takes[i].name, wanted->takes[i].name);
		assert_same_str(got->takes[i].git_commit, wanted->takes[i].git_commit);
		assert_int_equal(got->takes[i].node_count, wanted->takes[i].node_count);
		assert_memory_equal(got->takes[i].nodes, wanted->takes[i].nodes,
				    got->takes[i].node_count * sizeof(int64_t));
	}
}

static void
check_outline(checker *c, const rt_outline *got)
{
	const rt_outline *wanted;
	size_t i;

	assert_true(c->at < c->whole->count);
	wanted = &c->whole->items[c->at];
	assert_same_str(got->name, wanted->name);
	assert_same_str(got->source, wanted->source);
	assert_true(c->from + got->node_count <= wanted->node_count);
	for (i = 0; i < got->node_count; i++)
		check_node(c, &got->nodes[i], &wanted->nodes[c->from + i]);
	if (c->goes_on)
		assert_int_equal(got->field_count, 0);
	else
		assert_int_equal(got->field_count, wanted->field_count);
	for (i = 0; i < got->field_count; i++) {
		assert_same_str(got->fields[i].name, wanted->fields[i].name);
		assert_same_str(got->fields[i].json, wanted->fields[i].json);
	}
	c->from += got->node_count;
	c->goes_on = got->more;
	if (got->more) {
		c->pieces++;
		assert_int_equal(got->take_count, 0);
		return;
	}
	assert_int_equal(c->from, wanted->node_count);
	c->from -= got->node_count;
	if (got->has_head || c->from == 0) {
		assert_int_equal(got->has_head, wanted->has_head);
		assert_int_equal(c->from == 0 ? got->head : whole_index(c, got->head), wanted->head);
	}
	check_takes(got, wanted);
	c->from = 0;
	c->at++;
}

static rt_status
check_batch(void *ctx, const rt_outlines *batch, rt_error *err)
{
	checker *c = ctx;
	size_t i;

	c->batches++;
	if (c->batches == c->fails_in)
		return rt_fail(err, RT_FULL, "batch %zu is one too many", c->batches);
	assert_true(batch->count <= RT_READER_BATCH_DISCUSSIONS + 1);
	for (i = 0; i < batch->count; i++) {
		if (batch->has_active && i == batch->active) {
			assert_true(c->whole->has_active);
			assert_int_equal(c->at, c->whole->active);
			c->saw_active = true;
		}
		assert_true(!batch->items[i].more || i + 1 == batch->count);
		check_outline(c, &batch->items[i]);
	}
	c->project_fields += batch->field_count;
	return RT_OK;
}

static void
assert_same_report(const rt_report *a, const rt_report *b)
{
	size_t i;

	assert_int_equal(a->remark_count, b->remark_count);
	assert_int_equal(a->skipped, b->skipped);
	assert_int_equal(a->repaired, b->repaired);
	for (i = 0; i < a->remark_count; i++) {
		assert_int_equal(a->remarks[i].line, b->remarks[i].line);
		assert_string_equal(a->remarks[i].text, b->remarks[i].text);
	}
}

/* Read as a whole and in batches, a few bytes at a time. */
static checker
check_stream(const rt_format *format, rt_str text, size_t step)
{
	walk_source s = {.bytes = text, .step = step};
	rt_input in = walk_input(&s);
	rt_report one, two;
	rt_outlines whole;
	rt_error err = {.text = ""};
	checker c = {.whole = &whole};

	rt_report_init(&one, rt_alloc_libc());
	rt_report_init(&two, rt_alloc_libc());
	if (format->read(rt_alloc_libc(), text, &whole, &one, &err) != RT_OK)
		fail_msg("%s: read: %s", format->name, err.text);
	if (rt_format_stream(format, rt_alloc_libc(), &in, check_batch, &c, &two, &err) != RT_OK)
		fail_msg("%s: stream: %s", format->name, err.text);
	assert_int_equal(c.at, whole.count);
	assert_false(c.goes_on);
	assert_int_equal(c.saw_active, whole.has_active);
	assert_int_equal(c.project_fields, whole.field_count);
	assert_same_report(&one, &two);
	rt_report_deinit(&one);
	rt_report_deinit(&two);
	rt_outlines_deinit(&whole);
	c.whole = NULL;
	return c;
}

/* Every property that a format can express, and all ways to split the bytes. */
static void
test_random(void **state)
{
	static const rt_export_options options[] = {
		{.whole = false}, {.whole = true, .lossless = true}, {.lines = true}};
	size_t seed, i, k;

	(void)state;
	for (seed = 1; seed <= 12; seed += test_sample()) {
		rt_outlines o;

		random_project(rt_alloc_libc(), seed, 3, 8, &o);
		for (i = 1; rt_formats[i] != NULL; i++)
			for (k = 0; k < 3; k++) {
				rt_buf text;

				if (rt_formats[i]->read == NULL || rt_formats[i]->write == NULL)
					continue;
				rt_buf_init(&text, rt_alloc_libc(), RT_BUF_UNLIMITED);
				rt_outlines one = {.items = o.items, .count = 1};
				rt_status st = rt_formats[i]->write(rt_alloc_libc(), &o, &options[k],
								    &text, NULL);

				if (st == RT_USAGE) /* its files hold one conversation */
					st = rt_formats[i]->write(rt_alloc_libc(), &one, &options[k],
								  &text, NULL);
				assert_int_equal(st, RT_OK);
				(void)check_stream(rt_formats[i], rt_buf_str(&text), 1 + seed * 7);
				rt_buf_deinit(&text);
			}
		rt_outlines_deinit(&o);
	}
}

/* A text of head, count times each, tail. */
static rt_buf
repeated(const char *head, const char *each, size_t count, const char *tail)
{
	rt_buf text;
	size_t i;

	rt_buf_init(&text, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_buf_add_c(&text, head);
	for (i = 0; i < count; i++)
		rt_buf_add_f(&text, each, i, i);
	rt_buf_add_c(&text, tail);
	assert_int_equal(text.status, RT_OK);
	return text;
}

#define WORDS "word word word word word word word word word word word word word word word word "
#define MESSAGE "{\"role\":\"user\",\"content\":\"" WORDS WORDS "%zu\"}"

typedef struct sample {
	const rt_format *format;
	const char *head, *each, *tail;
	size_t count;
	bool in_pieces;
} sample;

static const sample samples[] = {
	/* many conversations */
	{&rt_format_openai, "", "{\"messages\":[{\"role\":\"user\",\"content\":\"x%zu\"}]}\n",
	 "{\"broken\n", 5000, false},
	{&rt_format_openai, "[0", ",\n{\"title\":\"t%zu\",\"messages\":[{\"role\":\"user\",\"content\":\"x\"}]}",
	 "]", 5000, false},
	{&rt_format_openai, "[0", ",\n{\"messages\":[{\"role\":\"user\",\"content\":\"x%zu\"}]}",
	 "", 5000, false}, /* cut off */
	{&rt_format_canonical,
	 "{\"active\":\"d4001\",\"discussions\":[null",
	 ",\n{\"name\":\"d%zu\",\"takes\":[{\"entries\":[{\"content\":\"x\",\"id\":\"a%zu\",\"role\":\"User\"}],"
	 "\"name\":\"t\"}]}",
	 "],\"roles\":[\"User\"],\"settings\":{\"model\":\"m\"}}", 5000, false},
	{&rt_format_markdown, "", "<!-- retake:discussion -->\n# Title %zu\n\n## User\n\nhello %zu\n\n## AI\n\nho\n", "", 5000,
	 false},
	/* one conversation of many messages */
	{&rt_format_openai, "", MESSAGE "\n", "", 15000, true},
	{&rt_format_openai, "[" MESSAGE, ",\n" MESSAGE, "]", 15000, true},
	{&rt_format_openai, "[" MESSAGE, ",\n" MESSAGE, "", 15000, true},
	{&rt_format_openai, "{\"model\":\"m\",\n\"messages\":[\n" MESSAGE, ",\n" MESSAGE,
	 "\n],\n\"title\":\"late\",\n\"other\":[1,2]}\n", 15000, true},
	{&rt_format_openai, "{\"messages\":[]}\n{\"model\":\"m\",\"messages\":[" MESSAGE, "," MESSAGE,
	 "]}  \n{\"messages\":[{\"role\":\"user\",\"content\":\"after\"}]}\n", 15000, true},
	{&rt_format_markdown, "# Title\n\nBefore.\n\n", "## User\n\n" WORDS WORDS "%zu\n\n", "", 15000,
	 true},
	/* one that is not a line, so it has to be kept in memory */
	{&rt_format_openai, "{\"messages\":[{\"role\":\"user\",\"content\":\"a\"}",
	 "," MESSAGE, "],\"choices\":[{\"message\":{\"role\":\"assistant\",\"content\":\"b\"}}]}", 15000,
	 false},
	{&rt_format_openai, "{\"messages\":[\n{\"role\":\"user\",\"content\":\"a\"}", ",\n" MESSAGE,
	 "\n],\n\"other\": x, \"third\" 4}", 15000, true}, /* malformed after the messages */
};

static void
test_large(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(samples) / sizeof(*samples); i++) {
		const sample *s = &samples[i];
		rt_buf text = repeated(s->head, s->each, s->count, s->tail);
		checker c = check_stream(s->format, rt_buf_str(&text), 100000);

		if ((c.pieces > 0) != s->in_pieces || (!s->in_pieces && i < 5 && c.batches < 5))
			fail_msg("sample %zu: %zu batches, %zu pieces", i, c.batches, c.pieces);
		rt_buf_deinit(&text);
	}
}

/* An input that repeats one text, of any length. */
typedef struct endless {
	rt_str head, each, tail;
	uint64_t size;
} endless;

static rt_status
endless_read_at(void *ctx, uint64_t offset, char *to, size_t room, size_t *out_size, rt_error *err)
{
	const endless *e = ctx;
	size_t i;

	(void)err;
	for (i = 0; i < room && offset + i < e->size; i++) {
		uint64_t at = offset + i, left = e->size - at;

		if (left <= e->tail.size)
			to[i] = e->tail.ptr[e->tail.size - left];
		else
			to[i] = at < e->head.size ? e->head.ptr[at]
						  : e->each.ptr[(at - e->head.size) %
								e->each.size];
	}
	*out_size = i;
	return RT_OK;
}

static rt_status
count_batch(void *ctx, const rt_outlines *batch, rt_error *err)
{
	size_t *nodes = ctx, i;

	(void)err;
	for (i = 0; i < batch->count; i++)
		*nodes += batch->items[i].node_count;
	return RT_OK;
}

static void
test_memory(void **state)
{
	static const struct {
		const rt_format *format;
		const char *head, *each, *tail;
	} kinds[] = {
		{&rt_format_openai, "", "{\"messages\":[{\"role\":\"user\",\"content\":\"x\"}]}\n", ""},
		{&rt_format_openai, "", "{\"role\":\"user\",\"content\":\"x\"}\n", ""},
		{&rt_format_openai, "[", "{\"messages\":[{\"role\":\"user\",\"content\":\"x\"}]},", "0]"},
		{&rt_format_openai, "[", "{\"role\":\"user\",\"content\":\"x\"},", "0]"},
		{&rt_format_openai, "{\"messages\":[", "{\"role\":\"user\",\"content\":\"x\"},", "0]}"},
		{&rt_format_markdown, "", "<!-- retake:discussion -->\n\n## User\n\nhello\n\n## AI\n\nho\n", ""},
		{&rt_format_markdown, "", "## User\n\nhello\n\n", ""},
	};
	size_t i, round;

	(void)state;
	for (i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		size_t peak[2], nodes[2] = {0, 0};

		for (round = 0; round < 2; round++) {
			endless e = {rt_str_of(kinds[i].head), rt_str_of(kinds[i].each),
				     rt_str_of(kinds[i].tail), 0};
			rt_input in = {.ctx = &e, .read_at = endless_read_at};
			rt_budget budget;
			rt_error err = {.text = ""};

			e.size = e.head.size + (round == 0 ? 20000 : 200000) * (uint64_t)e.each.size + e.tail.size;
			in.size = e.size;
			rt_budget_init(&budget, rt_alloc_libc(), SIZE_MAX);
			if (rt_format_stream(kinds[i].format, &budget.alloc, &in, count_batch,
					     &nodes[round], NULL, &err) != RT_OK)
				fail_msg("kind %zu: %s", i, err.text);
			peak[round] = budget.peak;
			assert_int_equal(budget.held, 0);
		}
		assert_true(nodes[0] >= 20000 && nodes[1] >= 10 * nodes[0]);
		if (peak[1] > peak[0] + peak[0] / 4 || peak[1] > (16 << 20))
			fail_msg("kind %zu: %zu bytes became %zu", i, peak[0], peak[1]);
	}
}

/* The receiver of batches may end the reading, and its error is returned unchanged. */
static void
test_refused(void **state)
{
	rt_buf text = repeated(samples[0].head, samples[0].each, samples[0].count, "");
	rt_str bytes = rt_buf_str(&text);
	rt_input in = rt_input_of(&bytes);
	rt_error err = {.text = ""};
	rt_outlines whole;
	checker c = {.whole = &whole, .fails_in = 3};

	(void)state;
	assert_int_equal(samples[0].format->read(rt_alloc_libc(), bytes, &whole, NULL, NULL), RT_OK);
	assert_int_equal(rt_format_stream(&rt_format_openai, rt_alloc_libc(), &in, check_batch, &c,
					  NULL, &err),
			 RT_FULL);
	assert_string_equal(err.text, "batch 3 is one too many");
	assert_int_equal(c.batches, 3);
	rt_outlines_deinit(&whole);
	rt_buf_deinit(&text);
}

/* The data before a read error of the disk are not a file. */
static void
test_failing_input(void **state)
{
	size_t i, at;

	(void)state;
	for (i = 0; i < 6; i++) {
		rt_buf text = repeated(samples[i].head, samples[i].each, 3, samples[i].tail);

		for (at = 1; at < text.size; at += 3) {
			walk_source s = {.bytes = rt_buf_str(&text), .step = 10, .fails_at = at};
			rt_input in = walk_input(&s);
			rt_error err = {.text = ""};
			size_t nodes = 0;

			assert_int_equal(rt_format_stream(samples[i].format, rt_alloc_libc(), &in,
							  count_batch, &nodes, NULL, &err),
					 RT_IO);
			assert_string_equal(err.text, "the disk failed");
		}
		rt_buf_deinit(&text);
	}
}

/* A format that is read as a whole states how large a file may be, before it reads it. */
static void
test_whole_max(void **state)
{
	size_t i, nodes = 0;

	(void)state;
	for (i = 0; rt_formats[i] != NULL; i++) {
		const rt_format *f = rt_formats[i];
		walk_source s = {.bytes = RT_STR("x"), .step = 1};
		rt_input in = walk_input(&s);
		rt_error err = {.text = ""};

		if (f->stream != NULL)
			continue;
		in.size = f->whole_max + 1;
		assert_int_equal(rt_format_stream(f, rt_alloc_libc(), &in, count_batch, &nodes, NULL,
						  &err),
				 RT_LIMIT);
		assert_true(rt_str_find(rt_str_of(err.text), RT_STR(" MiB"), 0) != SIZE_MAX);
		assert_int_equal(s.read, 0);
	}
}

/* Running out of memory at any point is reported, and nothing leaks. */
static void
test_torture(void **state)
{
	static const size_t which[] = {0, 1, 3, 4, 8, 9};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(which) / sizeof(*which); i++) {
		const sample *s = &samples[which[i]];
		rt_buf text = repeated(s->head, s->each, 20, s->tail);
		rt_str bytes = rt_buf_str(&text);
		rt_status st = RT_NOMEM;
		size_t limit;

		for (limit = 0; st != RT_OK; limit += 512) {
			rt_input in = rt_input_of(&bytes);
			rt_budget budget;
			size_t nodes = 0;

			rt_budget_init(&budget, rt_alloc_libc(), limit);
			st = rt_format_stream(s->format, &budget.alloc, &in, count_batch, &nodes, NULL,
					      NULL);
			assert_int_equal(st, atomic_load(&budget.refused) ? RT_NOMEM : RT_OK);
			assert_int_equal(budget.held, 0);
		}
		rt_buf_deinit(&text);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random),	      cmocka_unit_test(test_large),
		cmocka_unit_test(test_memory),	      cmocka_unit_test(test_refused),
		cmocka_unit_test(test_failing_input), cmocka_unit_test(test_whole_max),
		cmocka_unit_test(test_torture),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
