/* SPDX-License-Identifier: MIT
 *
 * What the files of the pi format share: one line taken apart, ids in a table, parents
 * followed, and records changed without touching the bytes around the change. */
#ifndef RT_FORMATS_PI_IMPL_H
#define RT_FORMATS_PI_IMPL_H

#include "codec/json.h"
#include "formats/pi_session.h"

/* --- one line (pi_record.c) --- */

typedef enum rt_pi_line {
	RT_PI_LINE_OBJECT,
	RT_PI_LINE_BLANK,
	RT_PI_LINE_FALSY,   /* null, false, 0, "": pi passes over it */
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

/* Memory that is used again for every line. One thread at a time. */
typedef struct rt_pi_reader {
	const rt_alloc *alloc;
	rt_arena *arena; /* for strings with escapes; borrowed */
	char *text;      /* copy of the line that yyjson unescapes in place */
	size_t text_room;
	char *values; /* what yyjson allocates */
	size_t values_room;
	bool values_used;
	rt_json_doc *repaired; /* the last line, where it needed repair */
	yyjson_alc alc;
} rt_pi_reader;

void rt_pi_reader_init(rt_pi_reader *reader, const rt_alloc *alloc, rt_arena *arena);
void rt_pi_reader_deinit(rt_pi_reader *reader);
/* RT_NOMEM only; everything else is in out->what. */
RT_CHECKED rt_status rt_pi_reader_read(rt_pi_reader *reader, rt_str line, rt_pi_record *out);

/* A copy in the arena; false: no memory. */
bool rt_pi_copy(rt_arena *arena, rt_str s, rt_str *out);
/* Without JavaScript's white space at both ends. */
rt_str rt_pi_trim(rt_str s);
/* Milliseconds since 1970, rounded down. */
int64_t rt_pi_ms(rt_moment at);

/* --- ids (pi_link.c) --- */

/* Keys are rt_str at *base, stride bytes apart; a slot holds an index + 1. */
typedef struct rt_pi_ids {
	const rt_alloc *alloc;
	const char *base;
	size_t stride;
	uint32_t *slots;
	size_t room; /* a power of two; 0: none yet */
	size_t used;
} rt_pi_ids;

void rt_pi_ids_init(rt_pi_ids *ids, const rt_alloc *alloc, const rt_str *base, size_t stride);
void rt_pi_ids_deinit(rt_pi_ids *ids);
/* index now answers to its key; *out_before (may be NULL) gets who did until now, or -1. */
RT_CHECKED rt_status rt_pi_ids_put(rt_pi_ids *ids, size_t index, int64_t *out_before);
int64_t rt_pi_ids_get(const rt_pi_ids *ids, rt_str key);

/* A source of ids: random where env is given, else a fixed sequence from a seed. */
typedef struct rt_pi_fresh {
	const rt_env *env;
	uint64_t state;
} rt_pi_fresh;

enum { RT_PI_ID_SIZE = 8, RT_PI_UUID_SIZE = 36 };

void rt_pi_fresh_init(rt_pi_fresh *fresh, const rt_env *env, rt_str seed);
/* An id that is not in ids: eight hexadecimal digits, or after a hundred failures a whole
 * UUID. to has room for RT_PI_UUID_SIZE bytes; gives the size. */
size_t rt_pi_fresh_id(rt_pi_fresh *fresh, const rt_pi_ids *ids, char *to);

/* Find the parent of every item: -1 for none, unknown or itself; circles are cut at the
 * item met first. The arrays hold count items, stride bytes apart each. */
typedef struct rt_pi_links {
	const rt_str *ids, *parent_ids;
	int64_t *parents;
	bool *cut;               /* set where a circle was cut */
	const uint64_t *numbers; /* lines, for remarks; NULL: none */
	size_t stride;           /* of all arrays */
	size_t count;
} rt_pi_links;
RT_CHECKED rt_status rt_pi_link(const rt_alloc *alloc, const rt_pi_ids *ids,
				const rt_pi_links *links, rt_report *report);

/* --- changes (pi_patch.c) --- */

/* What becomes of a member: another value, or (ptr NULL) nothing at all. */
typedef struct rt_pi_change {
	const char *key;
	rt_str json;
	const char *after; /* where it is not there yet: behind this member; NULL: at the end */
} rt_pi_change;

/* Write object's text with the changes and no other byte touched; of a repeated key the
 * last one is meant, as in JavaScript. A member that is not there is added, unless it is
 * to go.
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
RT_CHECKED rt_status rt_pi_migrate(rt_pi_session *session, rt_pi_reader *reader, rt_pi_fresh *fresh,
				   size_t record_count);
/* The header as it is after migration. */
RT_CHECKED rt_status rt_pi_migrate_header(rt_buf *out, const rt_alloc *alloc, rt_str header);

#endif
