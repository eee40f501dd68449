/* SPDX-License-Identifier: MIT
 *
 * Shared by the fuzz targets of all formats: read; if accepted, check the outlines, write them,
 * read the result, write again: the bytes must be equal. A format that is only read is written in the
 * canonical form. */
#ifndef RT_FORMATS_FUZZ_H
#define RT_FORMATS_FUZZ_H

#include <stdio.h>
#include <stdlib.h>

#include "formats/formats.h"
#include "formats/formats_build.h"
#include "formats/formats_writer.h"
#include "formats/walk_testing.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static inline void
fuzz_check_str(rt_str s)
{
	if (rt_utf8_valid_size(s) != s.size)
		abort();
}

static inline void
fuzz_check(const rt_outlines *o)
{
	size_t d, i, t;

	for (d = 0; d < o->count; d++) {
		const rt_outline *x = &o->items[d];

		fuzz_check_str(x->name);
		for (i = 0; i < x->node_count; i++) {
			fuzz_check_str(x->nodes[i].id);
			fuzz_check_str(x->nodes[i].role);
			fuzz_check_str(x->nodes[i].kind);
			fuzz_check_str(x->nodes[i].label);
			fuzz_check_str(x->nodes[i].body);
			RT_ASSERT(x->nodes[i].parent >= -1);
			RT_ASSERT(x->nodes[i].parent < (int64_t)x->node_count);
		}
		for (t = 0; t < x->take_count; t++)
			for (i = 0; i < x->takes[t].node_count; i++) {
				RT_ASSERT(x->takes[t].nodes[i] >= 0);
				RT_ASSERT(x->takes[t].nodes[i] < (int64_t)x->node_count);
			}
		RT_ASSERT(x->head >= -1 && x->head < (int64_t)x->node_count);
		RT_ASSERT(x->take_count == 0 || x->active_take < x->take_count);
		for (i = 0; i < x->field_count; i++)
			fuzz_check_str(x->fields[i].json);
	}
	RT_ASSERT(!o->has_active || o->active < o->count);
}

/* In batches, a few bytes at a time, it has the same number of entries as in one piece. */
typedef struct fuzz_sum {
	size_t discussions, nodes, fields;
	bool goes_on;
} fuzz_sum;

static inline rt_status
fuzz_add(void *ctx, const rt_outlines *batch, rt_error *err)
{
	fuzz_sum *sum = ctx;
	size_t i;

	(void)err;
	fuzz_check(batch);
	sum->fields += batch->field_count;
	for (i = 0; i < batch->count; i++) {
		sum->discussions += !sum->goes_on;
		sum->nodes += batch->items[i].node_count;
		sum->fields += batch->items[i].field_count;
		sum->goes_on = batch->items[i].more;
	}
	return RT_OK;
}

static inline void
fuzz_stream(const rt_format *format, rt_str input, rt_status st, const rt_outlines *whole,
	    const rt_report *report)
{
	walk_source source = {.bytes = input, .step = input.size % 61 + 1};
	rt_input in = walk_input(&source);
	fuzz_sum wanted = {0}, got = {0};
	rt_report again;

	rt_report_init(&again, rt_alloc_libc());
	RT_ASSERT(rt_format_stream(format, rt_alloc_libc(), &in, fuzz_add, &got, &again, NULL) ==
		  st);
	if (st == RT_OK) {
		(void)fuzz_add(&wanted, whole, NULL);
		RT_ASSERT(got.discussions == wanted.discussions);
		RT_ASSERT(got.nodes == wanted.nodes);
		RT_ASSERT(got.fields == wanted.fields);
		RT_ASSERT(again.skipped == report->skipped);
		RT_ASSERT(again.repaired == report->repaired);
	}
	rt_report_deinit(&again);
}

static inline int
fuzz_format(const rt_format *format, const rt_export_options *options, const uint8_t *data,
	    size_t size)
{
	const rt_alloc *alloc = rt_alloc_libc();
	const rt_format *written = format->write != NULL ? format : &rt_format_canonical;
	rt_str input = rt_str_at((const char *)data, size);
	rt_outlines first, second;
	rt_report report;
	rt_buf one, two;
	rt_error err = {.text = ""};
	rt_status st;

	if (format->sniff != NULL)
		(void)format->sniff(input);
	rt_report_init(&report, alloc);
	st = format->read(alloc, input, &first, &report, &err);
	if (st != RT_OK) {
		RT_ASSERT(err.text[0] != '\0');
		fuzz_stream(format, input, st, NULL, NULL);
		rt_report_deinit(&report);
		return 0;
	}
	fuzz_check(&first);
	fuzz_stream(format, input, st, &first, &report);
	rt_buf_init(&one, alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&two, alloc, RT_BUF_UNLIMITED);
	st = written->write(alloc, &first, options, &one, &err);
	if (st == RT_USAGE && first.count > 1) { /* a file of this format holds one conversation */
		first.count = 1;
		rt_buf_clear(&one);
		st = written->write(alloc, &first, options, &one, &err);
	}
	if (st != RT_OK) {
		fprintf(stderr, "write: %s\n", err.text);
		abort();
	}
	fuzz_check_str(rt_buf_str(&one));
	if (first.count == 0) { /* only empty conversations: nothing was written */
		rt_buf_deinit(&one);
		rt_buf_deinit(&two);
		rt_outlines_deinit(&first);
		rt_report_deinit(&report);
		return 0;
	}
	if (written->read(alloc, rt_buf_str(&one), &second, &report, &err) != RT_OK) {
		fprintf(stderr, "read again: %s\n%.*s\n", err.text, RT_STR_ARG(rt_buf_str(&one)));
		abort();
	}
	fuzz_check(&second);
	if (written->write(alloc, &second, options, &two, &err) != RT_OK)
		abort();
	if (!rt_str_eq(rt_buf_str(&one), rt_buf_str(&two))) {
		fprintf(stderr, "--- first\n%.*s\n--- second\n%.*s\n", RT_STR_ARG(rt_buf_str(&one)),
			RT_STR_ARG(rt_buf_str(&two)));
		abort();
	}
	rt_buf_deinit(&one);
	rt_buf_deinit(&two);
	rt_outlines_deinit(&first);
	rt_outlines_deinit(&second);
	rt_report_deinit(&report);
	return 0;
}

#endif
