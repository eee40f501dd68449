/* SPDX-License-Identifier: MIT
 *
 * What the files of the pi format share: one line read, ids made, parents found, and records
 * changed without touching the bytes around the change. */
#ifndef RT_FORMATS_PI_IMPL_H
#define RT_FORMATS_PI_IMPL_H

#include "codec/json.h"
#include "formats/pi_session.h"

/* --- one line (pi_record.c) --- */

typedef enum rt_pi_line {
	RT_PI_LINE_OBJECT,
	RT_PI_LINE_BLANK,
	RT_PI_LINE_FALSY,   /* null, false, 0, "": pi skips it */
	RT_PI_LINE_VALUE,   /* another value that is no object: pi takes it for an entry */
	RT_PI_LINE_BAD,     /* not JSON */
	RT_PI_LINE_TOO_DEEP /* nested more than RT_JSON_DEPTH_MAX levels */
} rt_pi_line;

typedef struct rt_pi_record {
	rt_pi_line what;
	yyjson_val *object; /* the parsed line; lives until the next one is read */
	rt_pi_entry entry;  /* without parent, label, number, record */
	rt_str cwd, parent_session, timestamp; /* of a header */
	int version;                           /* of a header */
	bool is_header;                        /* type "session" */
} rt_pi_record;

/* Reads one line at a time. One thread at a time. */
typedef struct rt_pi_reader {
	rt_scope *texts;  /* for the record's texts; failures */
	rt_json_doc *doc; /* of the last line */
} rt_pi_reader;

void rt_pi_reader_init(rt_pi_reader *reader, rt_scope *texts);
void rt_pi_reader_deinit(rt_pi_reader *reader);
/* True: read, whatever it is. False: out of memory, or the scope has failed before. */
bool rt_pi_reader_read(rt_pi_reader *reader, rt_str line, rt_pi_record *out);

/* Without JavaScript's white space at both ends. */
rt_str rt_pi_trim(rt_str s);
/* Milliseconds since 1970, rounded down. */
int64_t rt_pi_ms(rt_moment at);

/* --- ids (pi_link.c) --- */

/* A source of ids: random where env is given, else a fixed sequence from a seed. */
typedef struct rt_pi_fresh {
	const rt_env *env;
	uint64_t state;
} rt_pi_fresh;

void rt_pi_fresh_init(rt_pi_fresh *fresh, const rt_env *env, rt_str seed);
/* An id that is not in ids: eight hexadecimal digits, or after a hundred failures a whole
 * UUID. */
rt_str rt_pi_fresh_id(rt_pi_fresh *fresh, const rt_index *ids, rt_scope *texts);

/* An item among others, as ids say it. */
typedef struct rt_pi_link {
	rt_str id, parent_id;
	uint64_t line;  /* for remarks; 0: none */
	int64_t parent; /* found; -1: none */
	bool is_cut;    /* its parent would have closed a cycle */
} rt_pi_link;

/* Find the parent of every item: -1 for none, unknown or itself; cycles are cut at the item
 * met first. ids has the index of each id. */
void rt_pi_link_all(rt_scope *s, const rt_index *ids, rt_pi_link *links, size_t count,
		    rt_report *report);

/* --- changes (pi_patch.c) --- */

/* What becomes of a member: another value, or (ptr NULL) nothing at all. */
typedef struct rt_pi_change {
	const char *key;
	rt_str json;
	const char *after; /* where it is new: after this member; NULL: at the end */
} rt_pi_change;

/* Write object's text with the changes and no other byte touched; of a repeated key the
 * last one is meant, as in JavaScript. A missing member is added, unless it is to be removed.
 *
 * text     what object was parsed from, white space around it allowed
 * RT_CORRUPT: text is not that object's. */
RT_CHECKED rt_status rt_pi_patch(rt_buf *out, rt_str text, yyjson_val *object,
				 const rt_pi_change *changes, size_t count);
/* The text of a member's value; ptr NULL: there is none. */
rt_str rt_pi_member(rt_str text, yyjson_val *object, const char *key);

/* --- migration (pi_migrate.c) --- */

/* Bring the entries of a file of version 1 or 2 to version 3, before they are linked.
 * record_count is one more than the last entry's record. */
void rt_pi_migrate(rt_pi_session *session, rt_pi_reader *reader, const rt_env *env,
		   size_t record_count);
/* Write the header as it is after migration. */
void rt_pi_migrate_header(rt_buf *out, rt_pi_reader *reader, rt_str header);

#endif
