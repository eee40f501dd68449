/* SPDX-License-Identifier: MIT
 *
 * Internals of fsck, shared by its files:
 *
 *   fsck.c         the list of findings, the order of the checks, the store, bodies and index
 *   fsck_log.c     rows of the log: each by itself, against each other and the bodies
 *   fsck_value.c   values: their invariants, and comparisons of values
 *
 * All checks stop after a failure (rt_fsck.scope) or when fn has stopped them. */
#ifndef RT_LOG_FSCK_IMPL_H
#define RT_LOG_FSCK_IMPL_H

#include "log/engine_impl.h"
#include "log/fsck.h"

/* Result of checking a body. */
enum {
	RT_BODY_SEEN = 1 << 0,
	RT_BODY_GOOD = 1 << 1,    /* readable, and not purged */
	RT_BODY_NAMED = 1 << 2,   /* by a slot of the log */
	RT_BODY_REPORTED = 1 << 3 /* one finding about a body is enough */
};

typedef struct rt_body_note {
	uint32_t entry;
	uint32_t size;  /* of the content, as a slot has it */
	uint32_t whole; /* of all of it, with the data of an import */
	uint8_t state;
} rt_body_note;

/* Result of checking a log row. */
typedef enum rt_row_kind { RT_ROW_NONE, RT_ROW_STEP, RT_ROW_MOVE, RT_ROW_OTHER } rt_row_kind;

typedef struct rt_row_note {
	uint8_t kind;
	bool many;      /* a step of several documents */
	uint32_t about; /* a step's document; how many moves a move has */
} rt_row_note;

typedef struct rt_fsck {
	rt_engine *engine;
	rt_scope scope;
	rt_fsck_fn fn;
	void *ctx;
	bool stopped;    /* by fn */
	bool bodies_cut; /* not all of them could be read */
	bool newer;      /* the log continues with rows of a newer version */
	size_t log_findings;
	rt_body_note *bodies; /* by number; in the scope */
	uint64_t body_count;  /* numbers below it are in bodies */
	rt_row_note *rows;    /* by number; in the scope */
	uint64_t row_count;
} rt_fsck;

static inline bool
rt_fsck_goes_on(const rt_fsck *f)
{
	return !f->stopped && rt_ok(&f->scope);
}

/* Give a finding. */
void rt_fsck_report(rt_fsck *f, const char *severity, const char *id, const char *format, ...)
	RT_PRINTF(4, 5);
/* A slot and the body that it names. where is for messages. */
void rt_fsck_slot(rt_fsck *f, const rt_slot *slot, const char *where);

/* Rows 1 .. head. Fills f->rows. */
void rt_fsck_log(rt_fsck *f, uint64_t head);

/* Checks everything about one value. */
void rt_fsck_value(rt_fsck *f, const rt_project *value);
/* Report where two values of the same row differ (the first difference of each discussion); what
 * names the second. A node of b that cannot be loaded is a finding too. */
void rt_fsck_compare(rt_fsck *f, const rt_project *a, const rt_project *b, const char *id,
		     const char *what);

#endif
