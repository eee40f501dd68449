/* SPDX-License-Identifier: MIT
 *
 * Facts about a discussion as the store has it after an import, and their comparison with those of
 * expected.json, whose "_conventions" define them:
 *
 *   message        an entry with a role whose kind is a message, hidden or not; of an importer also
 *                  a compaction; of Codex only those that are messages in the file, because its
 *                  calls, results and thoughts are entries, too (see check_items)
 *   nodes          all entries; of Codex messages
 *   leaves         nodes without children
 *   longest_path   number of messages on the longest path
 *   active path    from the head up
 *   last_text80    of the last message there that has text: stripped, 80 code points
 *   last_role      the role of that message; null: none has text
 *
 * Roles are compared by their meaning (rt_graph_role). */
#ifndef RT_TESTS_CONFORMANCE_IMPORT_FACTS_H
#define RT_TESTS_CONFORMANCE_IMPORT_FACTS_H

#include "codec/body.h"
#include "codec/content.h"
#include "conformance.h"
#include "formats/formats.h"
#include "importers/graph.h"

/* A count by name, in order of first occurrence. */
typedef struct tally {
	struct {
		rt_str name;
		uint64_t count;
	} * items;
	size_t size;
} tally;

/* Counts of one discussion, or of a whole file. */
typedef struct facts {
	uint64_t nodes, messages, roots, orphans, leaves, branch_points, longest_path;
	uint64_t active_messages, conversations;
	bool knows_orphans, is_pi;
	tally roles;
	tally types; /* of pi records, the header included */
	rt_str last_role;
	rt_buf last_text;
} facts;

void facts_init(facts *f);
void facts_deinit(facts *f);
/* Adds what totals have. */
void facts_add(facts *to, const facts *from);

void count_name(tally *t, rt_str name, uint64_t by);
/* The kept record of an entry, as the importer of this format names the field; NULL: none. */
yyjson_val *kept_record(const rt_format *format, const rt_body *body);
bool read_body(const rt_node *node, rt_buf *scratch, rt_body *out);
bool is_importer(const rt_format *format);
/* Has the entry text that the conventions count? */
bool is_message(const rt_format *format, const rt_node *node);
/* A field of the discussion as JSON text; empty: none. */
rt_str field_of(const rt_outline *o, const char *name);

void count_outline(const rt_format *format, const rt_outline *o, facts *f, rt_arena *arena);
void check_number(rt_case *c, const char *where, const char *what, yyjson_val *wanted, uint64_t is);
void check_tally(rt_case *c, const char *where, const char *what, yyjson_val *wanted, const tally *is);
void check_counts(rt_case *c, const char *where, yyjson_val *wanted, const facts *f);
void check_conversation(rt_case *c, const char *where, yyjson_val *wanted, const rt_format *format,
			const rt_outline *o, const facts *f);
/* A take for every leaf, the head's first, and no two that look the same. */
void check_takes(rt_case *c, const char *where, const rt_outline *o);

/* The format of the content; NULL: none. */
const rt_format *detect(rt_str file);
/* Written in a format, and if that can be read, read and written again: the same bytes. */
void check_written(rt_case *c, const rt_format *format, const rt_outlines *in);
/* Can they be imported into a store, and exported from it? */
void check_stored(rt_case *c, const rt_outlines *outlines);

/* ---- import_damaged.c ---- */

/* count: of copies, or "+NUMBER" of a mutation. */
void check_damaged(rt_case *c, const rt_format *format, rt_str file, const char *count);

/* ---- import_records.c: Claude Code and Codex ---- */

/* The graph of the records that the entries of Claude Code keep, with the parents that the records
 * name. The facts count it, so it is compared with them: nothing is lost. */
typedef struct records {
	rt_outline outline;
	size_t *entries;  /* of each record: the index of its entry */
	rt_str *replies;  /* its message.id */
	rt_body *bodies;  /* of the entries */
	size_t body_count;
	uint64_t orphans;
} records;

void records_make(records *r, const rt_format *format, const rt_outline *o, rt_arena *arena);
void records_free(records *r);
/* Is the tree that a user sees right, given the records? */
void check_records(rt_case *c, const char *where, const records *r, const rt_outline *o);
/* Are all records of the file kept? */
void check_kept(rt_case *c, const char *where, yyjson_val *wanted, const rt_format *format,
		const rt_outline *o);

#endif
