/* SPDX-License-Identifier: MIT
 *
 * Format: a file format of conversations, as a pure function between bytes and outlines.
 *
 * An outline is a conversation in a flat form: nodes with the index of their parent, the head,
 * and, where the format knows them, the takes. Importers fill one and the engine compiles
 * it to effects; exporters get one and write bytes. A format does not know about stores, names of
 * takes or undo. A new format is one file and a row in formats/formats.h.
 *
 * On reading, views in an outline point into the input or into its arena; the input must
 * outlive it. Nothing here recurses over the length or depth of a conversation.
 *
 * A file that is larger than memory is read through an rt_input, and its conversations are passed
 * on in batches (rt_format_stream). */
#ifndef RT_OPS_FORMAT_H
#define RT_OPS_FORMAT_H

#include "base/moment.h"
#include "base/scope.h"
#include "base/text.h"

/* One entry, or one revision of an entry: nodes of one discussion with the same id, in
 * different takes, are revisions of the same entry. */
typedef struct rt_node {
	rt_str id;        /* as in the source; empty: the engine makes one */
	int64_t parent;   /* index of the parent node; -1: a root */
	rt_str after;     /* of a node without parent in an outline that continues another one: the id of the earlier
			   * node that it follows; ptr NULL: the last one; empty: none, it is a root */
	rt_str role;      /* "User", "assistant" …; may be empty */
	rt_str kind;      /* "message", "compaction" …; empty means message */
	rt_moment ts;
	bool has_ts;
	bool muted;
	bool collapsed;
	bool read_mode;
	bool edited;      /* its content was edited after it was written (C42); html only */
	char body_format; /* RT_BODY_TEXT, RT_BODY_JSON, RT_BODY_PI (codec/body.h) */
	rt_str body;      /* the bytes after that letter */
	rt_str label;     /* empty: none */
	/* of exports */
	uint32_t entry;     /* its number in the project; 0: none */
	uint32_t alternatives; /* of an export of one take: entries after the same one in other takes; html only */
	rt_str before;      /* its text before it was edited, like body; see writes_before */
	char before_format; /* 0: it was not edited, or that text is unknown */
} rt_node;

typedef struct rt_outline_take {
	rt_str name;
	rt_str git_commit;    /* empty: none */
	const int64_t *nodes; /* node indices from first to tip */
	size_t node_count;
	rt_str files;         /* the lists of files of a take that is not active, as a JSON object
	                       * with "files", "context_files", "screenshots"; ptr NULL: they are
	                       * those of the discussion */
	int64_t updated_us;   /* of exports: its last change; 0: unknown, or not changed since it
	                       * was imported */
} rt_outline_take;

/* A field of a discussion or project: its name, and JSON text. The names are those of the
 * canonical export: "settings" keys as "setting.temperature", "prompt", "prompt_edited",
 * "files", "context_files", "screenshots", "git_commit", "track", "presets", and further names that
 * a format wants to be given back ("pi.header", "toml.extra" …). */
typedef struct rt_outline_field {
	rt_str name;
	rt_str json;
} rt_outline_field;

typedef struct rt_outline {
	rt_str name;       /* of the discussion; may be empty */
	rt_str called;     /* the name that an import should give it instead; empty: its own name.
			    * It does not count when two conversations are compared */
	rt_str source;     /* permanent name of the origin, e.g. "pi:" and its session id; equal
	                      sources are the same conversation, so that importing twice adds
			    * nothing twice; empty: the engine uses a hash of the content, so that
			    * only an identical conversation is known */
	rt_node *nodes;    /* in the source's order; parents may come after children */
	size_t node_count;
	int64_t head;      /* node index; -1: before the first */
	bool has_head;     /* false: the last node */
	rt_outline_take *takes; /* NULL: one take for every leaf, the head's path first */
	size_t take_count;
	size_t active_take;     /* index into takes */
	rt_outline_field *fields;
	size_t field_count;
	bool more; /* the next outline continues the conversation. That one has the
	              same name and source; its nodes with parent -1 follow nodes of this one and
	              of earlier ones, see rt_node */
	/* For exports with rt_engine_export_last_requests: the last request, from the take of this
	 * name; empty: none or unknown */
	rt_str sent_take, sent_markdown, sent_system_prompt;
} rt_outline;

/* Several discussions and what belongs to their project. */
typedef struct rt_outlines {
	rt_outline *items;
	size_t count;
	size_t active;             /* index of the active discussion, where has_active */
	bool has_active;
	rt_outline_field *fields;  /* of the project: "roles", "setting.model" … */
	size_t field_count;
	rt_arena *arena;           /* owns everything that is not in the input */
} rt_outlines;

/* Remarks of a reader: repaired, skipped or just noticed. */
typedef enum rt_remark_level { RT_REMARK_NOTE, RT_REMARK_REPAIRED, RT_REMARK_SKIPPED } rt_remark_level;

typedef struct rt_remark {
	rt_remark_level level;
	uint64_t line; /* 1-based; 0: none */
	char text[200];
} rt_remark;

enum { RT_REPORT_MAX = 200 /* remarks kept; all are counted */ };

typedef struct rt_report {
	const rt_alloc *alloc;
	rt_remark *remarks; /* the first RT_REPORT_MAX */
	size_t remark_count;
	size_t repaired, skipped, noted; /* of all */
	size_t empty;                    /* conversations without entries, which are left out */
} rt_report;

void rt_report_init(rt_report *report, const rt_alloc *alloc);
void rt_report_deinit(rt_report *report);
/* "note", "repaired", "skipped" */
const char *rt_remark_word(rt_remark_level level);
/* Members of an open JSON object: "repaired","skipped","noted","empty". */
void rt_report_put(rt_buf *out, const rt_report *report);
/* And "remarks":[{"level","line","text"}]. */
void rt_report_put_remarks(rt_buf *out, const rt_report *report);
/* report may be NULL. */
void rt_report_add(rt_report *report, rt_remark_level level, uint64_t line, const char *format, ...)
	RT_PRINTF(4, 5);

typedef struct rt_export_options {
	bool whole;       /* all takes; else the active one, if the format supports both */
	bool lossless;    /* add data that the format cannot represent as comments or extra keys, so
			   * that an import restores everything */
	bool lines;       /* one conversation a line, if the format supports both forms */
	rt_str session;   /* id of the session to be written (importers/back.h); empty: made from
			   * its content */
	rt_str directory; /* of a session that names none; empty: unknown */
} rt_export_options;

/* Bytes that can be read more than once: a file, an upload, memory. */
typedef struct rt_input {
	void *ctx;
	uint64_t size; /* as far as known; for progress and limits */
	/* Up to room bytes from offset on; *out_size 0 at the end only. Fails as the host's file
	 * does (RT_IO). */
	rt_status (*read_at)(void *ctx, uint64_t offset, char *to, size_t room, size_t *out_size,
			     rt_error *err);
	bool is_counted; /* only the numbers of discussions and entries are needed, and the remarks: a
			  * reader may leave out bodies and fields */
} rt_input;

/* An input in memory; *bytes is borrowed. */
rt_input rt_input_of(const rt_str *bytes);

enum { RT_INPUT_HEAD = 64 * 1024 /* bytes used to detect a format */ };

/* Bytes from offset on, until room is full or the input ends. */
RT_CHECKED rt_status rt_input_read(const rt_input *in, uint64_t offset, char *to, size_t room,
				   size_t *out_size, rt_error *err);
/* The first RT_INPUT_HEAD bytes into to, less only where the input is shorter. */
RT_CHECKED rt_status rt_input_head(const rt_input *in, char *to, size_t *out_size,
				   rt_error *err);

/* A batch of whole conversations, or, where an outline says `more`, of a part of one; borrowed
 * for the call. Fields of the project and the active discussion come with the batch in which
 * they were read. A failure ends the reading, with this status and error. */
typedef rt_status (*rt_outlines_fn)(void *ctx, const rt_outlines *batch, rt_error *err);

typedef struct rt_format {
	const char *name;       /* "pi", "toml", "markdown", "openai", "canonical", "html" */
	const char *extension;  /* ".jsonl" */
	const char *about;      /* one line for help */
	const char *media_type; /* NULL: text/plain */
	bool holds_one;         /* a file has one discussion; others would be left out */
	bool holds_project;     /* exports contain the whole project unless a part is named */
	bool is_container;      /* such a file may hold no conversations at all (a database, an archive);
				 * in a folder it is then skipped */
	/* How sure is it from the bytes alone (never the name): 0 no … 100 certain. head is
	 * the beginning of the input, at most 64 KiB, all of it if the input is shorter. NULL: only
	 * when the format is named. */
	int (*sniff)(rt_str head);
	/* The same where the beginning does not tell (a database); asked only if no sniff matches.
	 * NULL: it always tells. A failure of the input is 0, a lack of memory fails the scope. */
	int (*examine)(rt_scope *s, rt_str head, const rt_input *in);
	/* NULL: cannot be read. RT_USAGE with position: not this format at all. Single bad records
	 * are reported and skipped, never fatal. */
	rt_status (*read)(const rt_alloc *alloc, rt_str input, rt_outlines *out,
			  rt_report *report, rt_error *err);
	/* The same in batches, with memory for one batch and the largest conversation. NULL: only
	 * as a whole. Call rt_format_stream instead. */
	rt_status (*stream)(const rt_alloc *alloc, const rt_input *in, rt_outlines_fn fn,
			    void *ctx, rt_report *report, rt_error *err);
	size_t whole_max; /* bytes of the largest input that is read as a whole: a larger one, or all where this
			   * is 0, is streamed, or refused where stream is NULL */
	bool writes_sent; /* rt_outline's sent_…: calls of rt_engine_export_last_requests make
			   * sense */
	bool writes_before; /* rt_node's before: calls of rt_engine_export_before make sense */
	bool whole_if_lossless; /* all takes are written only with options.lossless, too */
	/* NULL: cannot be written. */
	rt_status (*write)(const rt_alloc *alloc, const rt_outlines *in,
			   const rt_export_options *options, rt_buf *out, rt_error *err);
} rt_format;

/* Reads an input in batches, also if the format cannot. Views in a batch live as long as the
 * call of fn. RT_LIMIT: larger than the format's whole_max, and it cannot be streamed. */
RT_CHECKED rt_status rt_format_stream(const rt_format *format, const rt_alloc *alloc,
				      const rt_input *in, rt_outlines_fn fn, void *ctx,
				      rt_report *report, rt_error *err);

void rt_outlines_init(rt_outlines *outlines);
void rt_outlines_deinit(rt_outlines *outlines); /* frees the arena */

/* Checks and repairs parents: out of range, self-parents and cycles become roots (cut at the
 * node met first in order), each with a remark. Afterwards every walk up ends. O(n), no
 * recursion. order (may be NULL; node_count items) gets the indices, parents first. */
RT_CHECKED rt_status rt_outline_repair(const rt_alloc *alloc, rt_outline *outline, size_t *order,
				       rt_report *report);

/* All formats, ended by NULL; filled in by formats/formats.c and handed to the engine. */
typedef const rt_format *const *rt_format_list;

#endif
