/* SPDX-License-Identifier: MIT
 *
 * Exchange: conversations in the file formats of other programs, in memory. The formats, and what
 * survives a round trip, are in docs/formats.md. */
#ifndef RETAKE_EXCHANGE_H
#define RETAKE_EXCHANGE_H

#include "retake/look.h"

RETAKE_BEGIN

typedef struct retake_export_options {
	size_t size;  /* sizeof(retake_export_options) */
	int whole;    /* all takes, not only the active one */
	int lossless; /* add what the format cannot express, for an import to restore */
	int lines;    /* one conversation per line, if the format has both forms */
} retake_export_options;

#define RETAKE_EXPORT_OPTIONS_INIT {sizeof(retake_export_options), 0, 0, 0}

/* format: a name in docs/formats.md, such as "canonical". Those that can express it contain the
 * whole project unless place names a discussion or a take. RETAKE_USAGE: unknown format.
 * Cost: proportional to the output. */
RETAKE_CHECKED RETAKE_API retake_status retake_export(retake_project *project,
						      const retake_place *place,
						      const char *format,
						      const retake_export_options *options,
						      retake_text *out_file, retake_error *error);

typedef struct retake_import_options {
	size_t size;        /* sizeof(retake_import_options) */
	const char *format; /* NULL: detected */
	const char *name;   /* of the discussion; NULL: as in the file */
	int dry_run;        /* count only */
} retake_import_options;

#define RETAKE_IMPORT_OPTIONS_INIT {sizeof(retake_import_options), NULL, NULL, 0}

/* Add the new content of a file: new discussions, and additions to discussions imported before. One
 * step per discussion. bytes may be anything; invalid input is rejected with its position
 * (RETAKE_USAGE), never imported partly.
 *
 * out_report receives {"format","discussions","entries","takes","known","settings","repaired",
 * "skipped","noted","empty","remarks":[{"level","line","text"}],"seq","discussion"}: the additions, the
 * number of entries that already existed and of changed project settings, the repairs, and the
 * conversations without entries, which are left out. */
RETAKE_CHECKED RETAKE_API retake_status retake_import(retake_project *project, const char *bytes,
						      size_t size,
						      const retake_import_options *options,
						      retake_text *out_report,
						      retake_error *error);

RETAKE_END

#endif
