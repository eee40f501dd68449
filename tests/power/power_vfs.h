/* SPDX-License-Identifier: MIT
 *
 * A pretend disk under SQLite that can lose power.
 *
 * A disk is a VFS in memory. Writes go into a cache first, as in a kernel; a sync moves a
 * file's writes to the medium. power_cut gives a second disk: what would be found after
 * power was lost at this moment. What had been synced is there; of the rest some, all or
 * nothing, in any order, whole or torn, as the kind and a seed say. The first disk goes on
 * as if nothing had happened, so one run of a workload can be cut at every step.
 *
 *   power_disk *disk = power_disk_new();
 *   power_watch(disk, fn, ctx);           fn is called before every step that a cut can
 *                                         come before: write, sync, truncate, create,
 *                                         delete
 *   … open a store with .vfs = power_name(disk), work …
 *   in fn: power_disk *after = power_cut(disk, POWER_TORN_512, seed);
 *          … open the store on power_name(after), verify … power_disk_free(after);
 *
 * Whoever wants to drive a whole engine does the same with the engine on top. It can also
 * fail the nth read, write or sync (power_fail). Tests include power_vfs.c, because each
 * test is one file to the build.
 *
 * Threads: a disk locks itself; fn runs on the thread whose step it is, without the lock. */
#ifndef RT_TESTS_POWER_VFS_H
#define RT_TESTS_POWER_VFS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct power_disk power_disk;

/* Steps; as bits in power_fault.steps. */
typedef enum power_step {
	POWER_OPEN = 1,
	POWER_READ = 2,
	POWER_WRITE = 4,
	POWER_SYNC = 8,
	POWER_TRUNCATE = 16,
	POWER_CREATE = 32,
	POWER_DELETE = 64
} power_step;

/* What becomes of writes that were not synced. */
typedef enum power_kind {
	POWER_KEEP,      /* all of them survive: the process died, the machine did not */
	POWER_DROP,      /* none does */
	POWER_SOME,      /* each or not, by chance */
	POWER_REORDER,   /* some, and where they overlap an earlier one may win */
	POWER_TORN_512,  /* some, cut at sectors of 512 bytes: each sector or not */
	POWER_TORN_4096, /* the same with 4,096 */
	POWER_TRASH,     /* as POWER_TORN_512, and one sector of a write is garbage */
	POWER_KINDS
} power_kind;

/* Called before a step is taken. name: the file's; NULL for a nameless one. */
typedef void (*power_fn)(void *ctx, power_step step, const char *name);

typedef struct power_fault {
	unsigned steps; /* which steps count; 0: no fault */
	uint64_t nth;   /* 1: the next one */
	bool for_ever;  /* and all after it */
	int code;       /* what SQLite gets: SQLITE_IOERR_WRITE, SQLITE_FULL … */
} power_fault;

/* An empty disk. NULL: no memory. */
power_disk *power_disk_new(void);
/* All files on it must have been closed. */
void power_disk_free(power_disk *disk);
/* The name of its VFS, for rt_store_sqlite_options.vfs. */
const char *power_name(const power_disk *disk);

void power_watch(power_disk *disk, power_fn fn, void *ctx); /* NULL: nobody */
/* A failed sync loses what it should have written, although it can still be read: that is
 * what kernels do. One that comes after it succeeds. */
void power_set_fault(power_disk *disk, power_fault fault);
/* How many faults have been handed out. */
uint64_t power_fault_count(const power_disk *disk);
/* A disk that says that it has synced and has not. */
void power_ignore_syncs(power_disk *disk, bool ignore);
/* Bugs of a program between SQLite and the disk, for the tests of the tests: a failed sync is
 * tried again; the last write to a file is held back until the next call on it. */
void power_retry_syncs(power_disk *disk, bool retry);
void power_write_late(power_disk *disk, bool late);

/* What would be found after power was lost now; yours to free. NULL: no memory. */
power_disk *power_cut(power_disk *disk, power_kind kind, uint64_t seed);

/* The bytes of a file as they are read now, until the next step; NULL: no such file. */
const unsigned char *power_bytes(const power_disk *disk, const char *name, size_t *out_size);
/* Put a file there, synced. False: no memory. */
bool power_put(power_disk *disk, const char *name, const void *bytes, size_t size);

#endif
