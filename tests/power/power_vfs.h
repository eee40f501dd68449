/* SPDX-License-Identifier: MIT
 *
 * A simulated disk under SQLite that can lose power.
 *
 * A disk is a VFS in memory. Writes go to a cache first, as in a kernel; a sync moves a file's
 * writes to the medium. power_cut returns a second disk: the state after a power loss at this
 * moment. Synced data is there; of the rest some, all or nothing, in any order, complete or
 * torn, depending on the kind and a seed. The first disk continues undisturbed, so one run of a
 * workload can be cut at every step.
 *
 *   power_disk *disk = power_disk_new();
 *   power_watch(disk, fn, ctx);           fn is called before every step that a cut can
 *                                         come before: write, sync, truncate, create,
 *                                         delete
 *   … open a store with .vfs = power_name(disk), work …
 *   in fn: power_disk *after = power_cut(disk, POWER_TORN_512, seed);
 *          … open the store on power_name(after), verify … power_disk_free(after);
 *
 * A whole engine can be tested in the same way. The disk can also fail the nth read, write or
 * sync (power_fail). Tests include power_vfs.c, because the build needs one file per test.
 *
 * Threads: a disk locks itself; fn runs on the thread of its step, without the lock. */
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

/* The fate of writes that were not synced. */
typedef enum power_kind {
	POWER_KEEP,      /* all survive: only the process was killed */
	POWER_DROP,      /* all are lost */
	POWER_SOME,      /* a random subset survives */
	POWER_REORDER,   /* some, and where they overlap an earlier one may win */
	POWER_TORN_512,  /* some, torn at sectors of 512 bytes: each sector or not */
	POWER_TORN_4096, /* the same with 4,096 bytes */
	POWER_TRASH,     /* as POWER_TORN_512, and one sector of a write is garbage */
	POWER_KINDS
} power_kind;

/* Called before a step. name: the file's; NULL for an unnamed one. */
typedef void (*power_fn)(void *ctx, power_step step, const char *name);

typedef struct power_fault {
	unsigned steps; /* which steps count; 0: no fault */
	uint64_t nth;   /* 1: the next one */
	bool for_ever;  /* and all after it */
	int code;       /* the result for SQLite: SQLITE_IOERR_WRITE, SQLITE_FULL … */
} power_fault;

/* An empty disk. NULL: no memory. */
power_disk *power_disk_new(void);
/* All files on it must have been closed. */
void power_disk_free(power_disk *disk);
/* The name of its VFS, for rt_store_sqlite_options.vfs. */
const char *power_name(const power_disk *disk);

void power_watch(power_disk *disk, power_fn fn, void *ctx); /* NULL: no callback */
/* A failed sync loses its pending writes, although they can still be read, as in kernels. A
 * later sync succeeds. */
void power_set_fault(power_disk *disk, power_fault fault);
/* Number of injected faults. */
uint64_t power_fault_count(const power_disk *disk);
/* A disk that reports syncs as done without doing them. */
void power_ignore_syncs(power_disk *disk, bool ignore);
/* Bugs of a layer between SQLite and the disk, for testing the tests: a failed sync is retried;
 * the last write to a file is delayed until the next call on it. */
void power_retry_syncs(power_disk *disk, bool retry);
void power_write_late(power_disk *disk, bool late);

/* The state after a power loss at this moment; the caller frees it. NULL: no memory. */
power_disk *power_cut(power_disk *disk, power_kind kind, uint64_t seed);

/* The current contents of a file, valid until the next step; NULL: no such file. */
const unsigned char *power_bytes(const power_disk *disk, const char *name, size_t *out_size);
/* Creates a synced file. False: no memory. */
bool power_put(power_disk *disk, const char *name, const void *bytes, size_t size);

#endif
