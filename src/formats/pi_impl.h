/* SPDX-License-Identifier: MIT
 *
 * Session files of the pi coding agent: read like pi does, and written.
 *
 *   {"type":"session","version":3,"id":"…","timestamp":"…","cwd":"…"}            header
 *   {"type":"message","id":"1a…","parentId":null,"timestamp":"…","message":{…}}  entries
 *   {"type":"label","id":"2b…","parentId":"1a…","timestamp":"…","targetId":"1a…","label":"x"}
 *
 * One JSON object a line, a line ends with \n and nothing else. The entries are a tree by
 * parentId; the last line is the current position (the leaf), whatever its type.
 * Older versions are migrated in memory: 1 has no ids (a chain), 2 calls a role
 * "hookMessage" that is "custom" now.
 *
 *   pi_record.c    one line; changes that leave its other bytes alone; ids
 *   pi_read.c      a file as a session, migrated; a session as an outline
 *   pi_stream.c    a large file as an outline in pieces
 *   pi_rows.c      an outline as the records to write
 *   pi_compose.c   records for entries that were made or edited in Retake
 *   pi_write.c     the file */
#ifndef RT_FORMATS_PI_IMPL_H
#define RT_FORMATS_PI_IMPL_H

#include "base/env.h"
#include "base/moment.h"
#include "formats/formats_build.h"
#include "formats/formats_writer.h"

enum {
	RT_PI_VERSION = 3,                 /* what we migrate to */
	RT_PI_LINE_MAX = 256 * 1024 * 1024 /* bytes; longer lines are skipped */
};

typedef enum rt_pi_type {
	RT_PI_OTHER, /* kept in the chain, without a meaning */
	RT_PI_MESSAGE,
	RT_PI_THINKING_LEVEL_CHANGE,
	RT_PI_MODEL_CHANGE,
	RT_PI_USAGE,
	RT_PI_COMPACTION,
	RT_PI_BRANCH_SUMMARY,
	RT_PI_CUSTOM,
	RT_PI_CUSTOM_MESSAGE,
	RT_PI_CONTEXT_EDIT,
	RT_PI_LABEL,
	RT_PI_SESSION_INFO
} rt_pi_type;

/* The source of an entry's time. */
typedef enum rt_pi_ts { RT_PI_TS_NONE, RT_PI_TS_ENTRY, RT_PI_TS_MESSAGE } rt_pi_ts;

/* Views point into the file or into the session. A view with ptr NULL means that the member is
 * missing, null, or not a string. */
typedef struct rt_pi_entry {
	rt_str line; /* the record as JSON text: its line without the \n, or migrated */
	rt_str id;
	rt_str parent_id;   /* as written */
	int64_t parent;     /* index of the parent; -1: a root. Repaired: every walk up ends */
	rt_str type;        /* as written */
	rt_str role;        /* of a message */
	rt_str target;      /* label, context edit: targetId; compaction: firstKeptEntryId */
	rt_str text;        /* label, session name, thinking level, or the model's provider */
	rt_str model;       /* of a model change or an assistant's message */
	rt_str label;       /* the label on this entry; ptr NULL: none */
	rt_str retake_role; /* role in Retake, if it differs ("retake" member, pi_write.c) */
	rt_str retake_kind; /* likewise */
	rt_moment ts;
	uint64_t number; /* 1-based line of the file */
	uint32_t record; /* 0-based among what pi counts as records; the header is 0 */
	rt_pi_type kind;
	rt_pi_ts ts_from;
	bool speaks;       /* has a message, or a summary that is not empty */
	bool is_duplicate; /* an earlier entry has the same id; the id then refers to the last of
			    * them */
	bool muted, collapsed, read_mode; /* "retake" member */
} rt_pi_entry;

/* ---- one line (pi_record.c) ---- */

typedef enum rt_pi_line {
	RT_PI_LINE_OBJECT,
	RT_PI_LINE_BLANK,
	RT_PI_LINE_FALSY,   /* null, false, 0, "": pi skips it */
	RT_PI_LINE_VALUE,   /* another value that is not an object: pi treats it as an entry */
	RT_PI_LINE_BAD,     /* not JSON */
	RT_PI_LINE_TOO_DEEP /* nested more than RT_JSON_DEPTH_MAX levels */
} rt_pi_line;

typedef struct rt_pi_record {
	rt_pi_line what;
	yyjson_val *object; /* the parsed line; lives until the next one is read */
	rt_pi_entry entry;  /* without parent, label, number, record */
	int version;        /* of a header */
	bool is_header;     /* type "session" */
} rt_pi_record;

/* Reads one line at a time. One thread at a time. */
typedef struct rt_pi_reader {
	rt_scope *texts;  /* for the record's texts; failures */
	rt_json_doc *doc; /* of the last line */
} rt_pi_reader;

void rt_pi_reader_deinit(rt_pi_reader *reader);
/* True: read, whatever it is. False: out of memory, or the scope has failed before. */
bool rt_pi_reader_read(rt_pi_reader *reader, rt_str line, rt_pi_record *out);

/* Without JavaScript's white space at both ends. */
rt_str rt_pi_trim(rt_str s);
/* Milliseconds since 1970, rounded down. */
int64_t rt_pi_ms(rt_moment at);

/* The change of a member: another value, or (ptr NULL) it is removed. */
typedef struct rt_pi_change {
	const char *key;
	rt_str json;
	const char *after; /* if it is new: after this member; NULL: at the end */
} rt_pi_change;

/* Write object's text with the changes and no other byte touched; of repeated keys the last one
 * counts, as in JavaScript. A missing member is added, unless it is to be removed.
 *
 * text     what object was parsed from, white space around it allowed
 * RT_CORRUPT: text is not that object's. */
RT_CHECKED rt_status rt_pi_patch(rt_buf *out, rt_str text, yyjson_val *object,
				 const rt_pi_change *changes, size_t count);
/* The text of a member's value; ptr NULL: none. */
rt_str rt_pi_member(rt_str text, yyjson_val *object, const char *key);
/* An id as JSON, null if ptr is NULL; in a buffer of the scope. */
rt_str rt_pi_quote(rt_scope *s, rt_str id);

/* A source of ids: random if env is given, else a fixed sequence from a seed. */
typedef struct rt_pi_fresh {
	const rt_env *env;
	uint64_t state;
} rt_pi_fresh;

void rt_pi_fresh_init(rt_pi_fresh *fresh, const rt_env *env, rt_str seed);
/* An id that is not in ids: eight hexadecimal digits, or after a hundred failures a whole
 * UUID. */
rt_str rt_pi_fresh_id(rt_pi_fresh *fresh, const rt_index *ids, rt_scope *texts);

/* ---- sessions (pi_read.c) ---- */

/* A line that is neither the header nor an entry. */
typedef struct rt_pi_junk {
	uint64_t number; /* 1-based, not counting lines that were too long */
	rt_str line;     /* without the \n */
} rt_pi_junk;

/* The file is a view that the session borrows: of its lines only the few members above are
 * copied, and a line is parsed once. Lines on which pi fails are repaired and reported: lines that
 * are JSON but not an object are skipped, cycles of parents are cut at the entry met first. Nothing
 * recurses over the length or depth of a session. Immutable after reading. */
typedef struct rt_pi_session {
	const rt_alloc *alloc;
	rt_scope s;     /* lists; the first failure while reading */
	rt_scope texts; /* every view that is not in the file */
	rt_items entry_list, junk_list;
	rt_str header; /* its line, without the \n */
	rt_str id;
	int version;          /* of the file; entries are of version 3 or unchanged */
	rt_pi_entry *entries; /* in file order */
	size_t entry_count;
	int64_t leaf; /* index of the last entry; -1: none */
	rt_str name;  /* trimmed; empty: none */
	rt_pi_junk *junk;
	size_t junk_count;
	bool has_header; /* false: the file is empty, which pi takes for a new session */
	bool is_ended;   /* the last line has its \n (or there are no lines) */
	rt_index ids;    /* id: index of the last entry that has it */
} rt_pi_session;

typedef struct rt_pi_options {
	/* Randomness for the ids of version 1 entries; the clock is not used. NULL: they are
	 * derived from the header, so that reading a file twice gives the same ids. */
	const rt_env *env;
	size_t line_max; /* 0: RT_PI_LINE_MAX */
} rt_pi_options;

/* Read a whole file.
 *
 * file       borrowed; must outlive the session
 * out        must not be moved while it is in use
 * options    may be NULL
 * report     may be NULL; gets remarks about skipped, repaired or migrated parts
 *
 * RT_USAGE:  "Session file is not a valid pi session", with the position.
 * RT_LIMIT:  more than 2^32 - 2 entries.
 * Cost:      O(size) time; memory by entries, and one line's parse. */
RT_CHECKED rt_status rt_pi_session_read(const rt_alloc *alloc, rt_str file,
					const rt_pi_options *options, rt_pi_session *out,
					rt_report *report, rt_error *err);
void rt_pi_session_deinit(rt_pi_session *session);
/* Write the header as it is after migration. */
void rt_pi_migrate_header(rt_buf *out, rt_pi_reader *reader, rt_str header);

/* Why a line is not an entry; NULL: it is blank. */
const char *rt_pi_line_reason(const rt_pi_record *record, bool is_ended);
/* Everything but the bytes of the body. */
void rt_pi_fill_node(const rt_pi_entry *e, rt_node *node);
/* A line as JSON: see pi_read.c. */
void rt_pi_add_line(rt_buf *buf, rt_str line);
/* rt_format_pi.stream (pi_stream.c). */
rt_status rt_pi_stream(const rt_alloc *alloc, const rt_input *in, rt_outlines_fn fn, void *ctx, rt_report *report,
		       rt_error *err);

/* ---- rows (pi_rows.c) ---- */

/* The records of a file that is to be written, before they are text. Most rows have a line, the
 * record as it was read, and are written by copying it. The others are found by simulating a
 * reader, which finds parents by id (of equal ids the last one counts): an id or a parentId is
 * changed only if the reader would find another parent than that of the outline. So an unchanged
 * file is written unchanged, however unusual it is; only then it keeps its cycles, in which pi
 * itself would loop.
 *
 * Where takes share a node below different ones (an entry before it was deleted in one of
 * them), pi's tree cannot: the take gets a copy of the rest with new ids. */
typedef struct rt_pi_row {
	rt_str id;        /* as it will be written */
	rt_str parent_id; /* as it will be written; ptr NULL: null */
	int64_t parent;   /* the row that is its parent */
	size_t node;      /* in the outline */
	rt_pi_entry raw;  /* its line's; raw.line.ptr NULL: to be composed */
	rt_moment ts;     /* set when it is written: the node's, or its parent's */
	bool is_copy;     /* for another take */
	bool is_verbatim; /* the line was read from a file, and is used unchanged */
	bool needs_id;    /* the line's own id is used already, or means another row */
	bool changes_parent;
} rt_pi_row;

typedef struct rt_pi_rows {
	rt_writer *w; /* of the export */
	rt_scope *s;  /* its scope: lines and ids made here */
	rt_pi_reader reader;
	rt_outline outline; /* the one to write, with parents repaired in a copy of the nodes */
	rt_items list;      /* rt_pi_row, before they are in order */
	rt_index copies;    /* hash of node and parent: row */
	rt_pi_row *items;   /* in the order in which to write them */
	size_t count;
	rt_index ids; /* id: row */
	int64_t head; /* row; -1: before the first */
	rt_buf *scratch;
} rt_pi_rows;

/* whole: all nodes, else the active take. Failures (RT_CORRUPT for an invalid body) are in w's
 * scope. rows->reader has to be deinitialised. */
void rt_pi_rows_init(rt_pi_rows *rows, rt_writer *w, const rt_outline *outline, bool whole);
const rt_node *rt_pi_rows_node(const rt_pi_rows *rows, int64_t row);

/* ---- composing records (pi_compose.c) ---- */

/* The role of the entry in Retake: a message's, or "custom"; empty for entries without one. */
rt_str rt_pi_entry_role(const rt_pi_entry *e);
/* The kind of the entry in Retake, according to its record: its type, or "unknown"; "message" for a
 * message. */
rt_str rt_pi_entry_kind(const rt_pi_entry *e);
/* Can a record of this role represent an entry whose role is now role? */
bool rt_pi_role_fits(const rt_pi_entry *e, rt_str role);

/* The record inside the edited body of w ("pi", codec/body.h) with the new content in place, in the
 * scope of the entry; ptr NULL: it contains none. */
rt_str rt_pi_compose_again(rt_writer *w);

/* Write the members id, parentId and timestamp. */
void rt_pi_put_ids(rt_buf *out, rt_str id, rt_str parent_id, rt_moment ts);

/* A new record for an entry of Retake's own. */
typedef struct rt_pi_composed {
	const rt_node *node;
	const rt_body *body;
	rt_str id, parent_id; /* parent_id.ptr NULL: null */
	rt_str kept_id;       /* compaction: id of the first entry kept; empty: none */
	bool is_inner_range;  /* compaction: of a range that pi cannot express */
	rt_moment ts;
} rt_pi_composed;
/* body is that of w. */
void rt_pi_compose(rt_writer *w, const rt_pi_composed *entry);
/* The kind of the composed record for a reader: RT_PI_LABEL with its target and text,
 * RT_PI_SESSION_INFO with its text, else RT_PI_OTHER. Views into the body. */
rt_pi_type rt_pi_composed_type(const rt_pi_composed *entry, rt_str *out_target, rt_str *out_text);

/* The "retake" member: properties that a record of this role and kind cannot express, as a JSON
 * object, or nothing. body may be NULL; those of its fields are added that the record lacks. */
void rt_pi_compose_retake(rt_buf *out, const rt_node *node, rt_str record_role, rt_str record_kind,
			  const rt_body *body);

/* rt_format_pi.write (pi_write.c). */
rt_status rt_pi_write(const rt_alloc *alloc, const rt_outlines *in,
		      const rt_export_options *options, rt_buf *out, rt_error *err);

#endif
