/* SPDX-License-Identifier: MIT
 *
 * Reader: the frame of every reader. It has an input (formats_walk.h), a builder (formats_build.h),
 * and a receiver for the outlines.
 *
 * Most programs write records of JSON: a conversation or an event each, as the items of an array,
 * as lines, or one object. Such a reader is one function for a record and this one:
 *
 *     static rt_status
 *     talk_to(alloc, in, to, report, err)
 *     {
 *             rt_reader r;
 *             yyjson_val *talk;
 *
 *             rt_reader_init(&r, alloc, in, to, report);
 *             while ((talk = rt_reader_record(&r)) != NULL) {
 *                     read_talk(&r, talk);             rt_build_discussion, rt_build_node …
 *                     rt_reader_next(&r);              the discussion is complete
 *             }
 *             if (rt_reader_count(&r) == 0)
 *                     rt_reader_refuse(&r, 0, "no record is a talk");
 *             return rt_reader_end(&r, err);
 *     }
 *     RT_READER_FUNCTIONS(talk, talk_to)               for .read and .stream of the rt_format
 *
 * with rt_sniff_members for .sniff. In read_talk: rt_json_each and rt_json_text get at members,
 * rt_member_read fills nodes by a table, rt_build_body_field keeps unknown members, rt_link_all
 * finds parents by id, rt_reader_skipped reports unreadable parts. See formats_example_test.c.
 * Readers of other shapes use r.w directly.
 *
 * Discussions are passed on in batches, after which the builder starts again, so memory is bounded
 * by one batch and one record. A discussion longer than a batch that has only one take can be
 * passed on in pieces: if rt_reader_is_long, call rt_reader_piece. A receiver that wants the whole
 * file gets one batch at the end.
 *
 * A failure of any part stays in r.b.s; after it nothing more is built or passed on. */
#ifndef RT_FORMATS_READER_H
#define RT_FORMATS_READER_H

#include "formats/formats_build.h"
#include "formats/formats_walk.h"

enum { RT_READER_BATCH_BYTES = 1 << 20, RT_READER_BATCH_DISCUSSIONS = 1000 };

/* The receiver. */
typedef struct rt_reader_to {
	rt_outlines_fn fn; /* or NULL: all in one */
	void *ctx;
	rt_outlines *whole; /* there, then */
} rt_reader_to;

typedef struct rt_reader {
	rt_build b;
	rt_walk w;
	rt_line_reader lines;  /* of the text in memory; see rt_reader_hold */
	rt_walk_level records; /* the array of rt_reader_record */
	rt_str record;         /* the text of the current one */
	const char *wrapper;   /* set by the reader: the records may be the items of this member of
				* one object */
	size_t repaired;       /* places in it with invalid Unicode */
	bool is_cut;           /* the input ended within it, or it is not JSON */
	uint64_t cut_at;       /* the end of an input that ends within a record; 0: it does not */
	rt_report *report;
	rt_reader_to to;
	size_t begun;          /* discussions that earlier batches began */
	size_t empty;          /* conversations without entries, which were left out */
	bool in_piece;         /* the first outline continues one of them */
	rt_buf *name, *source; /* of that one */
	size_t active;         /* index of the active discussion in the whole file */
	bool has_active;       /* set by the reader as soon as known */
} rt_reader;

void rt_reader_init(rt_reader *r, const rt_alloc *alloc, const rt_input *in, const rt_reader_to *to,
		    rt_report *report);
/* Passes on the rest and frees everything; returns the first failure. */
RT_CHECKED rt_status rt_reader_end(rt_reader *r, rt_error *err);
/* False: a part has failed, possibly the input. */
bool rt_reader_ok(rt_reader *r);
/* Fail: the input is not of this format, because of the byte at this position. */
void rt_reader_refuse(rt_reader *r, uint64_t at, const char *format, ...) RT_PRINTF(3, 4);

/* The next record of the input: an item of the top-level array, a value on one line, or a single
 * value over several lines. Valid until the next call of rt_build_parse; remarks refer to it.
 * Invalid JSON is skipped with a remark; one remark says that the input ends within a record. NULL: no more, or the reader has failed. */
yyjson_val *rt_reader_record(rt_reader *r);
/* Are all of these words members of the first record, as far as the beginning of an input has
 * it? */
bool rt_sniff_members(rt_str head, const char *words);

/* Discussions begun so far, in the whole file. */
size_t rt_reader_count(const rt_reader *r);
/* Has no conversation been read, not even an empty one? */
bool rt_reader_has_none(const rt_reader *r);
/* Are outlines passed on in batches? */
bool rt_reader_is_batched(const rt_reader *r);
/* Is the current discussion as long as a batch? The ends of pieces depend on nothing else. Never
 * true if everything must be one batch. */
bool rt_reader_is_long(const rt_reader *r);
/* A discussion is complete. */
void rt_reader_next(rt_reader *r);
/* It is complete and has no entries: it is left out, and the report counts it. */
void rt_reader_leave_out(rt_reader *r);
/* Pass on the current part of the discussion; returns the outline that continues it, or NULL. Its
 * nodes are numbered from 0 again. */
rt_outline *rt_reader_piece(rt_reader *r);

/* Remarks will be about this text, which begins on that line of the input. */
void rt_reader_hold(rt_reader *r, rt_str text, uint64_t line);
/* Add a remark about a place in that text. */
void rt_reader_remark(rt_reader *r, rt_remark_level level, const char *where, const char *format,
		      ...) RT_PRINTF(4, 5);

/* A remark about the current record. */
#define rt_reader_skipped(r, ...) \
	rt_reader_remark((r), RT_REMARK_SKIPPED, (r)->record.ptr, __VA_ARGS__)

/* The functions name_read and name_stream of an rt_format, by one function
 * rt_status read_to(alloc, const rt_input *, const rt_reader_to *, report, err). */
#define RT_READER_FUNCTIONS(name, read_to) \
	static rt_status name##_read(const rt_alloc *alloc, rt_str input, rt_outlines *out, \
				     rt_report *report, rt_error *err) \
	{ \
		rt_input in = rt_input_of(&input); \
		rt_reader_to to = {.whole = out}; \
\
		return read_to(alloc, &in, &to, report, err); \
	} \
	static rt_status name##_stream(const rt_alloc *alloc, const rt_input *in, \
				       rt_outlines_fn fn, void *ctx, rt_report *report, \
				       rt_error *err) \
	{ \
		rt_reader_to to = {.fn = fn, .ctx = ctx}; \
\
		return read_to(alloc, in, &to, report, err); \
	}

#endif
