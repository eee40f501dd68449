/* SPDX-License-Identifier: MIT
 *
 * Pi session: what a session file of the pi coding agent says, read as pi reads it.
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
 * The file is a view that the session borrows: of its lines only the few members below are
 * copied, and a line is parsed once. What pi fails on is mended and reported: lines that are
 * JSON but no object are skipped, cycles of parents are cut at the entry met first. Nothing
 * recurses over the length or depth of a session.
 *
 * A session is immutable after reading: call the other functions from any thread. */
#ifndef RT_FORMATS_PI_SESSION_H
#define RT_FORMATS_PI_SESSION_H

#include "base/env.h"
#include "base/moment.h"
#include "formats/formats_list.h"
#include "ops/format.h"

enum {
	RT_PI_VERSION = 3,                 /* what we migrate to */
	RT_PI_LINE_MAX = 256 * 1024 * 1024 /* bytes; longer lines are passed over */
};

typedef enum rt_pi_type {
	RT_PI_OTHER, /* kept in the chain, says nothing */
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

/* Where an entry's moment comes from. */
typedef enum rt_pi_ts { RT_PI_TS_NONE, RT_PI_TS_ENTRY, RT_PI_TS_MESSAGE } rt_pi_ts;

/* Views point into the file or into the session. A view with ptr NULL means that the
 * member is missing, null, or no string. */
typedef struct rt_pi_entry {
	rt_str line; /* the record as JSON text: its line without the \n, or migrated */
	rt_str id;
	rt_str parent_id;   /* as written */
	int64_t parent;     /* index of the parent; -1: a root. Mended: every walk up ends */
	rt_str type;        /* as written */
	rt_str role;        /* of a message */
	rt_str target;      /* label, context edit: targetId; compaction: firstKeptEntryId */
	rt_str text;        /* label, session name, thinking level, or the model's provider */
	rt_str model;       /* of a model change or an assistant's message */
	rt_str label;       /* the label on this entry; ptr NULL: none */
	rt_str retake_role; /* role in Retake, where it differs ("retake" member, pi_write.c) */
	rt_str retake_kind; /* likewise */
	rt_moment ts;
	uint64_t number; /* 1-based line of the file */
	uint32_t record; /* 0-based among what pi counts as records; the header is 0 */
	rt_pi_type kind;
	rt_pi_ts ts_from;
	bool speaks;       /* has a message, or a summary that is not empty */
	bool is_duplicate; /* an earlier entry has the same id; that id means the last of them */
	bool is_cut;       /* its parent would lead in a circle */
	bool muted, collapsed, read_mode; /* "retake" member */
} rt_pi_entry;

/* A line that is neither the header nor an entry. */
typedef struct rt_pi_junk {
	uint64_t number; /* 1-based, not counting lines that were too long */
	rt_str line;     /* without the \n */
} rt_pi_junk;

/* Labels in the order of their last setting from nothing; targets need not exist. */
typedef struct rt_pi_label {
	rt_str target;
	rt_str text;  /* empty: cleared */
	size_t entry; /* the label entry that set it */
} rt_pi_label;

typedef struct rt_pi_session {
	const rt_alloc *alloc;
	rt_scope s;     /* lists; the first failure while reading */
	rt_scope texts; /* every view that is not in the file */
	rt_vec entry_list, junk_list;
	rt_str header; /* its line, without the \n */
	rt_str id;
	rt_str cwd;            /* ptr NULL: none */
	rt_str parent_session; /* path of the file it was forked from; ptr NULL: none */
	rt_str timestamp;
	int version;          /* of the file; entries are of version 3 or as they are */
	rt_pi_entry *entries; /* in file order */
	size_t entry_count;
	int64_t leaf; /* index of the last entry; -1: none */
	rt_str name;  /* trimmed; empty: none */
	rt_pi_junk *junk;
	size_t junk_count;
	rt_pi_label *labels;
	size_t label_count;
	bool has_header; /* false: the file is empty, which pi takes for a new session */
	bool is_ended;   /* the last line has its \n (or there is none) */
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
 * report     may be NULL; gets what was skipped, mended or migrated
 *
 * RT_USAGE:  "Session file is not a valid pi session", with the position.
 * RT_LIMIT:  more than 2^32 - 2 entries.
 * Cost:      O(size) time; memory by entries, and one line's parse. */
RT_CHECKED rt_status rt_pi_session_read(const rt_alloc *alloc, rt_str file,
					const rt_pi_options *options, rt_pi_session *out,
					rt_report *report, rt_error *err);
void rt_pi_session_deinit(rt_pi_session *session);
/* Every invariant; for tests. */
void rt_pi_session_check(const rt_pi_session *session);

/* Index of the last entry with this id; -1: there is none. (Where pi is asked for the
 * context at an unknown id it takes the leaf.) */
int64_t rt_pi_session_find(const rt_pi_session *session, rt_str id);

#endif
