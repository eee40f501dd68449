/* SPDX-License-Identifier: MIT
 *
 * Redact: replaces the secrets in outlines, for files to be shared.
 *
 * Every text that a format can write is searched: contents with tool calls and results, raw
 * records, roles, kinds, ids, labels, names of discussions and takes, prompts, settings, files,
 * fields, the last request. A secret (secret.h) becomes "[redacted: api key]"; the text around it
 * stays. Ids and names that were different stay different: a second one gets a number.
 *
 * The result is another conversation: its discussions have no source and no file id, so an import
 * treats them as new, and they have a field
 *
 *   "redacted": {"entries":3,"places":5,"kinds":{"api key":2,"home directory":3}} */
#ifndef RT_FORMATS_REDACT_H
#define RT_FORMATS_REDACT_H

#include "ops/format.h"
#include "formats/secret.h"

enum {
	RT_REDACT_ITEMS_MAX = 2000, /* places that are listed; all are counted */
	RT_REDACT_SHOWN_MAX = 24
};

/* One place, so that the user can decide whether it should be redacted. */
typedef struct rt_redact_item {
	rt_secret_kind kind;
	rt_str discussion, entry; /* as written; empty: of the project; no entry */
	rt_str where;             /* "text", "label", "name", "setting.model" … */
	char shown[RT_REDACT_SHOWN_MAX]; /* its beginning: "sk-a…"; "…" for a short one */
	size_t size;              /* bytes of all of it */
} rt_redact_item;

typedef struct rt_redaction {
	const rt_alloc *alloc;
	size_t entries; /* with secrets, by their ids */
	size_t places;
	size_t kinds[RT_SECRET_KIND_COUNT]; /* places of each */
	rt_redact_item *items; /* views into the outlines' arena */
	size_t item_count, item_room;
} rt_redaction;

void rt_redaction_init(rt_redaction *redaction, const rt_alloc *alloc);
void rt_redaction_deinit(rt_redaction *redaction);

/* Redact io in place; new texts are in its arena. options may be NULL. RT_NOMEM: io may only be
 * deinitialised. O(n). */
RT_CHECKED rt_status rt_redact(const rt_alloc *alloc, rt_outlines *io,
			       const rt_secret_options *options, rt_redaction *out, rt_error *err);

/* "3 entries redacted: 2 api keys, 1 home directory"; "nothing that looks like a secret". */
void rt_redaction_add_words(rt_buf *out, const rt_redaction *redaction);
/* {"entries","places","kinds":{WORD:count},"items":[{"discussion","entry","where","kind",
 * "shown","size"}…],"more":bool} */
void rt_redaction_add_json(rt_buf *out, const rt_redaction *redaction);

#endif
