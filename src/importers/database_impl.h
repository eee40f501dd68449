/* SPDX-License-Identifier: MIT
 *
 * Shared by database.c, which opens a database, and database_rows.c, which reads it. */
#ifndef RT_IMPORTERS_DATABASE_IMPL_H
#define RT_IMPORTERS_DATABASE_IMPL_H

#include <sqlite3.h>

#include "importers/database.h"

struct rt_db {
	rt_reader *r;
	const rt_input *in;
	uint64_t size;
	uint64_t shown_size;    /* to SQLite: with pages that are cut off, which are empty */
	sqlite3 *sqlite;
	sqlite3_vfs vfs;
	char name[40];          /* of the vfs */
	rt_status input_status; /* the failure of the input, which SQLite does not pass on */
	rt_error input_error;
	uint64_t rounds;        /* of STEPS steps */
	unsigned indexes;       /* made so far */
	rt_buf *buf;            /* the record */
};

/* Fails the reader unless this is a code of success. */
rt_status rt_db_note(rt_db *db, int code);

#endif
