/* SPDX-License-Identifier: MIT
 *
 * Input WAL: the write-ahead log of an SQLite database that another program has open. The newest
 * transactions of such a database are only in its log (NAME-wal). Readers get the database as it is
 * after the last complete transaction; neither file is changed or locked, and no -shm is made.
 *
 * The format is described in https://www.sqlite.org/walformat.html. One thread at a time. */
#ifndef RT_APP_INPUT_WAL_H
#define RT_APP_INPUT_WAL_H

#include "base/text.h"

typedef struct rt_input_wal rt_input_wal;

/* The log of the database that is open as fd. *out is NULL if it is not a database or its log has no
 * complete transaction. RT_BUSY: an unfinished transaction is in the database itself (NAME-journal). */
RT_CHECKED rt_status rt_input_wal_open(const char *name, int fd, rt_input_wal **out, rt_error *err);
void rt_input_wal_close(rt_input_wal *wal);
/* Bytes of the database with its log. */
uint64_t rt_input_wal_size(const rt_input_wal *wal);
/* Where the bytes at this offset are: *out_fd is -1 for the database itself. *io_room is reduced to
 * the bytes that follow there. */
void rt_input_wal_find(const rt_input_wal *wal, uint64_t offset, size_t *io_room, int *out_fd,
		       uint64_t *out_offset);
/* Has the other program begun the log again? The bytes read so far may then be wrong. */
bool rt_input_wal_is_changed(const rt_input_wal *wal);

#endif
