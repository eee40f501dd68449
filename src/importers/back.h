/* SPDX-License-Identifier: MIT
 *
 * Write-back: writes a conversation as a session of the program that it came from, or of another one.
 *
 * An entry that was imported has its record as the further field of the format (graph.h), and is
 * written from it: rt_back_object copies a record with some members replaced. An entry without a
 * record of the format is written in the format's own shape from its parts:
 *
 *     rt_back_init(&k, alloc, "codex", in, options, out);
 *     while (rt_back_next(&k, write_conversation))
 *             ;
 *     return rt_writer_end(&k.w, err);
 *
 * Such files contain the active take. A conversation is written with a new session id, a hash of
 * everything else in it, so that equal conversations give equal bytes and an edited one never
 * replaces the original; options.session is used instead if it is given. */
#ifndef RT_IMPORTERS_BACK_H
#define RT_IMPORTERS_BACK_H

#include "formats/formats_writer.h"

enum { RT_BACK_ID = 36 /* bytes of a UUID */ };

typedef enum rt_part_kind {
	RT_PART_TEXT,
	RT_PART_THINKING,
	RT_PART_CALL,
	RT_PART_RESULT,
	RT_PART_IMAGE,
	RT_PART_FILE
} rt_part_kind;

/* A piece of an entry, whichever program's block it was. */
typedef struct rt_part {
	rt_part_kind kind;
	rt_str text;       /* of a text, thinking, a result */
	rt_str id, name;   /* of a call; the id of a result's call; the name of a file */
	yyjson_val *value; /* the arguments of a call, an object or NULL; the content of a result, or
			    * NULL: its text */
	bool has_failed;   /* a result */
	rt_str mime, data; /* of an image or a file: base64; */
	rt_str url;        /* or its address */
	yyjson_val *block; /* NULL: the entry is a text */
} rt_part;

/* The speaker of an entry in the other program. */
typedef enum rt_back_speaker { RT_BACK_USER, RT_BACK_MODEL, RT_BACK_SYSTEM } rt_back_speaker;

typedef struct rt_back_entry {
	const rt_node *node;
	const rt_body *body;
	size_t number;     /* in the take, from 0 */
	yyjson_val *raw;   /* its record, or records, of the format; NULL: none */
	rt_back_speaker speaker;
	rt_part *parts;
	size_t count;
} rt_back_entry;

/* A call or a result. */
typedef struct rt_back_item {
	rt_part_kind kind;
	size_t at;      /* rt_back.at of its entry */
	int64_t next;   /* the next one with its id; -1: none */
	rt_part result; /* only a text, has_failed, and in data its blocks as JSON if there are files */
} rt_back_item;

typedef struct rt_back {
	rt_writer w;
	const char *format;
	bool (*mutes)(yyjson_val *raw); /* does the program itself not send this record? NULL: none */
	bool holds_several;
	bool joins_results; /* a call and its result are one item: rt_back_result */
	bool joins_files;   /* with the images and files of the result */
	rt_buf *out;        /* of w */
	rt_str session;     /* to be written */
	rt_str time;        /* of the last entry with one, as JSON; else 1970 */
	int64_t time_us;    /* the same time; 0: none */
	rt_str last_time;   /* of the last entry of the take with one, as JSON; else 1970 */
	int64_t last_us;    /* the same time; 0: none */
	rt_buf *time_text, *text;
	rt_index calls, answers, used; /* ids of calls, of answered calls; ids written */
	rt_items items;   /* rt_back_item: calls and results in the order of the take */
	const rt_outline_take *take;
	size_t at;          /* in the take: the next entry */
	char hash[RT_BACK_ID + 1];
} rt_back;

/* The files of the format hold one conversation, unless holds_several is set afterwards. */
void rt_back_init(rt_back *k, const rt_alloc *alloc, const char *format, const rt_outlines *in,
		  const rt_export_options *options, rt_buf *out);
/* Write the next conversation; false: no more. write is called twice, at first for the hash. */
bool rt_back_next(rt_back *k, void (*write)(rt_back *k));
/* The next entry of the take that the other program knows, valid until the next call. False: no
 * more. Entries that are not sent to models are left out unless they have a record. */
bool rt_back_entry_next(rt_back *k, rt_back_entry *out);
/* Is there another entry in the take? */
bool rt_back_has_more(const rt_back *k);
/* The part that a block is; false: nothing that another program could use. */
bool rt_back_part(rt_part *out, yyjson_val *block);
/* The text of a result; of its blocks the texts, on lines. Images and files are named there, unless
 * they are written beside it (rt_back_result_file). */
rt_str rt_back_result_text(rt_back *k, const rt_part *part, bool without_files);
/* The next image or file among the blocks of a result that has contents or an address; false: none. */
bool rt_back_result_file(rt_json_iter *blocks, rt_part *out);
/* The data: address of an image or file, or its address. */
rt_str rt_back_url(rt_back *k, const rt_part *part);
/* A file as text, for programs without attached files: its name, and its content if that is a text. */
void rt_back_file_text(rt_buf *out, const rt_part *part);
/* The name of the discussion, or the title that an import has shortened. */
rt_str rt_back_title(rt_back *k);
/* A field of the discussion; NULL: none. */
yyjson_val *rt_back_field(rt_back *k, const char *name);
/* The text of an entry's parts of this kind, joined by line ends. */
rt_str rt_back_text(rt_back *k, const rt_back_entry *e, rt_part_kind kind);
/* Is the call answered in this take? Did the call of a result come before? */
bool rt_back_is_answered(const rt_back *k, rt_str call);
bool rt_back_is_known(const rt_back *k, rt_str call);
/* The result of a call of the current entry: its text, has_failed, and with joins_files in value
 * its blocks if there are files. NULL: none, or the format has separate results. */
const rt_part *rt_back_result(rt_back *k, rt_str call);

/* In formats where calls and results are one item: nothing is written of the part; it is a text of the
 * user, also in an entry of the model. */
bool rt_back_is_left_out(const rt_back *k, const rt_back_entry *e, const rt_part *part);
bool rt_back_is_of_user(const rt_back *k, const rt_back_entry *e, const rt_part *part);

/* A walk over the blocks of an entry in the order in which they were read from its record. */
typedef struct rt_back_walk {
	rt_json_iter blocks;
	rt_str text; /* instead of blocks; ptr NULL: none, or passed */
	bool fits;   /* so far every block has the type that its place in the record needs */
} rt_back_walk;

rt_back_walk rt_back_walk_start(const rt_back_entry *e);
/* The next block, which has to be of this type; NULL: it does not fit. */
yyjson_val *rt_back_walk_block(rt_back_walk *w, const char *type);
/* The next text. */
rt_str rt_back_walk_text(rt_back_walk *w);
/* Do all blocks fit, with none left? */
bool rt_back_walk_end(rt_back_walk *w);

/* A UUID made from an entry and a number; the id itself if it is one. Never one that was used in
 * the conversation. */
rt_str rt_back_id(rt_back *k, const rt_back_entry *e, size_t number);
/* wanted, unless it is empty or used; else a new one. */
rt_str rt_back_own_id(rt_back *k, rt_str wanted, const rt_back_entry *e, size_t number);
/* Hexadecimal digits that depend on the same, for ids of other shapes. */
rt_str rt_back_digits(rt_back *k, const rt_back_entry *e, size_t number, size_t count);

/* ---- JSON ---- */

/* A member to be replaced: a JSON value; ptr NULL: it is dropped. */
typedef struct rt_back_member {
	const char *name;
	rt_str json;
	bool always; /* add it if the object has no such member */
} rt_back_member;

/* A copy of the object with these members. */
void rt_back_object(rt_buf *out, yyjson_val *object, const rt_back_member *members, size_t count);
/* A text as JSON, in the scope of the entry. */
rt_str rt_back_json(rt_back *k, rt_str text);
/* A value as JSON; empty: NULL. */
rt_str rt_back_json_value(rt_back *k, yyjson_val *value);
/* JSON that was added to a buffer of that scope. */
rt_str rt_back_json_of(rt_back *k, const rt_buf *buf);

#endif
