/* SPDX-License-Identifier: MIT
 *
 * The simulated disk as a VFS of SQLite: the methods of its files and of the disk itself, and the
 * functions for tests. power_disk.h has its contents.
 *
 * Locks and shared memory are those of one machine: they work between the connections of a disk,
 * and are gone after a cut. */
#include "power/power_disk.h"

#include <stdio.h>

enum { POWER_PATH_ROOM = 512 };

typedef struct power_file {
	sqlite3_file base;
	power_disk *disk;
	inode *node;
	char *name; /* NULL: unnamed */
	int level;
	bool mapped;
	unsigned shm_mask_shared, shm_mask_exclusive;
	pending late; /* a delayed write; bytes NULL: none */
} power_file;

/* --- methods of files --- */

static power_file *
power_file_of(sqlite3_file *file)
{
	return (power_file *)file;
}

static power_disk *
enter(sqlite3_file *file)
{
	power_disk *disk = power_file_of(file)->disk;

	pthread_mutex_lock(&disk->lock);
	return disk;
}

static int
leave(power_disk *disk, int rc)
{
	pthread_mutex_unlock(&disk->lock);
	return rc;
}

static void
drop_file_locks(power_file *f)
{
	inode *node = f->node;

	if (f->level >= SQLITE_LOCK_SHARED)
		node->shared--;
	if (node->reserved == f)
		node->reserved = NULL;
	if (node->exclusive == f)
		node->exclusive = NULL;
	f->level = SQLITE_LOCK_NONE;
}

static void
drop_shm_locks(power_file *f)
{
	for (int i = 0; i < POWER_SHM_LOCKS; i++) {
		if (f->shm_mask_shared & 1u << i)
			f->node->shm_shared[i]--;
		if (f->shm_mask_exclusive & 1u << i)
			f->node->shm_exclusive[i] = NULL;
	}
	f->shm_mask_shared = f->shm_mask_exclusive = 0;
}

static void
write_bytes(power_file *f, const void *bytes, size_t size, sqlite3_int64 at)
{
	image_write(&f->node->data, bytes, size, (size_t)at);
	wait_for_sync(f->node, false, at, bytes, size);
}

/* Performs the delayed write. */
static void
write_late(power_file *f)
{
	if (f->late.bytes != NULL)
		write_bytes(f, f->late.bytes, f->late.size, f->late.offset);
	free(f->late.bytes);
	f->late.bytes = NULL;
}

static int
file_close(sqlite3_file *file)
{
	power_file *f = power_file_of(file);
	power_disk *disk = enter(file);

	write_late(f);
	drop_file_locks(f);
	drop_shm_locks(f);
	inode_unref(f->node);
	free(f->name);
	return leave(disk, SQLITE_OK);
}

static int
file_read(sqlite3_file *file, void *to, int size, sqlite3_int64 at)
{
	power_file *f = power_file_of(file);
	power_disk *disk = enter(file);
	const image *im = &f->node->data;
	size_t from = (size_t)at, there;
	int rc;

	write_late(f);
	there = from < im->size ? im->size - from : 0;
	rc = take_step(disk, POWER_READ, f->name);
	if (rc != SQLITE_OK)
		return leave(disk, rc);
	if (there > (size_t)size)
		there = (size_t)size;
	if (there > 0)
		memcpy(to, im->bytes + from, there);
	if (there == (size_t)size)
		return leave(disk, SQLITE_OK);
	memset((unsigned char *)to + there, 0, (size_t)size - there);
	return leave(disk, SQLITE_IOERR_SHORT_READ);
}

static int
file_write(sqlite3_file *file, const void *bytes, int size, sqlite3_int64 at)
{
	power_file *f = power_file_of(file);
	power_disk *disk = enter(file);
	int rc = take_step(disk, POWER_WRITE, f->name);

	write_late(f);
	if (rc != SQLITE_OK) {
		/* Half of it may have been written. */
		write_bytes(f, bytes, (size_t)size / 2, at);
	} else if (disk->write_late) {
		f->late = (pending){.offset = at, .size = (size_t)size};
		f->late.bytes = memcpy(power_grow(NULL, (size_t)size, 1), bytes, (size_t)size);
	} else {
		write_bytes(f, bytes, (size_t)size, at);
	}
	return leave(disk, rc);
}

static int
file_truncate(sqlite3_file *file, sqlite3_int64 size)
{
	power_file *f = power_file_of(file);
	power_disk *disk = enter(file);
	int rc;

	write_late(f);
	rc = take_step(disk, POWER_TRUNCATE, f->name);
	if (rc != SQLITE_OK)
		return leave(disk, rc);
	image_resize(&f->node->data, (size_t)size);
	wait_for_sync(f->node, true, size, NULL, 0);
	return leave(disk, SQLITE_OK);
}

static int
file_sync(sqlite3_file *file, int flags)
{
	power_file *f = power_file_of(file);
	power_disk *disk = enter(file);
	int rc;

	(void)flags;
	write_late(f);
	rc = take_step(disk, POWER_SYNC, f->name);
	if (rc != SQLITE_OK) {
		forget_waiting(f->node); /* can be read, but is not on the medium */
		if (!disk->retry_syncs || take_step(disk, POWER_SYNC, f->name) != SQLITE_OK)
			return leave(disk, rc);
	}
	if (!disk->ignore_syncs)
		sync_inode(disk, f->node);
	return leave(disk, SQLITE_OK);
}

static int
file_size(sqlite3_file *file, sqlite3_int64 *out)
{
	power_disk *disk = enter(file);

	write_late(power_file_of(file));
	*out = (sqlite3_int64)power_file_of(file)->node->data.size;
	return leave(disk, SQLITE_OK);
}

static int
file_lock(sqlite3_file *file, int level)
{
	power_file *f = power_file_of(file);
	power_disk *disk = enter(file);
	inode *node = f->node;

	if (level <= f->level)
		return leave(disk, SQLITE_OK);
	if (node->exclusive != NULL && node->exclusive != f)
		return leave(disk, SQLITE_BUSY);
	if (level >= SQLITE_LOCK_RESERVED && node->reserved != NULL && node->reserved != f)
		return leave(disk, SQLITE_BUSY);
	if (level == SQLITE_LOCK_EXCLUSIVE && node->shared > (f->level >= SQLITE_LOCK_SHARED))
		return leave(disk, SQLITE_BUSY);
	if (f->level < SQLITE_LOCK_SHARED)
		node->shared++;
	if (level >= SQLITE_LOCK_RESERVED)
		node->reserved = f;
	if (level == SQLITE_LOCK_EXCLUSIVE)
		node->exclusive = f;
	f->level = level;
	return leave(disk, SQLITE_OK);
}

static int
file_unlock(sqlite3_file *file, int level)
{
	power_file *f = power_file_of(file);
	power_disk *disk = enter(file);

	if (level < f->level) {
		drop_file_locks(f);
		if (level == SQLITE_LOCK_SHARED) {
			f->node->shared++;
			f->level = level;
		}
	}
	return leave(disk, SQLITE_OK);
}

static int
file_check_lock(sqlite3_file *file, int *out)
{
	power_disk *disk = enter(file);

	*out = power_file_of(file)->node->reserved != NULL;
	return leave(disk, SQLITE_OK);
}

static int
file_control(sqlite3_file *file, int op, void *arg)
{
	(void)file;
	(void)op;
	(void)arg;
	return SQLITE_NOTFOUND;
}

static int
file_sector_size(sqlite3_file *file)
{
	(void)file;
	return 4096;
}

/* As in the unix VFS: a torn write damages nothing outside of it. */
static int
file_device(sqlite3_file *file)
{
	(void)file;
	return SQLITE_IOCAP_POWERSAFE_OVERWRITE;
}

static int
file_shm_map(sqlite3_file *file, int at, int size, int extend, void volatile **out)
{
	inode *node = power_file_of(file)->node;
	power_disk *disk = enter(file);

	*out = NULL;
	if (!power_file_of(file)->mapped)
		node->mapped++;
	power_file_of(file)->mapped = true;
	if (at >= node->region_count && extend) {
		node->regions = power_grow(node->regions, (size_t)at + 1, sizeof(*node->regions));
		while (node->region_count <= at) {
			node->regions[node->region_count] = power_grow(NULL, (size_t)size, 1);
			memset(node->regions[node->region_count++], 0, (size_t)size);
		}
	}
	if (at < node->region_count)
		*out = node->regions[at];
	return leave(disk, SQLITE_OK);
}

static int
file_shm_lock(sqlite3_file *file, int offset, int count, int flags)
{
	power_file *f = power_file_of(file);
	inode *node = f->node;
	power_disk *disk = enter(file);
	unsigned mask = ((1u << count) - 1) << offset;

	if (flags & SQLITE_SHM_UNLOCK) {
		for (int i = offset; i < offset + count; i++) {
			if (f->shm_mask_shared & 1u << i)
				node->shm_shared[i]--;
			if (f->shm_mask_exclusive & 1u << i)
				node->shm_exclusive[i] = NULL;
		}
		f->shm_mask_shared &= ~mask;
		f->shm_mask_exclusive &= ~mask;
		return leave(disk, SQLITE_OK);
	}
	for (int i = offset; i < offset + count; i++) {
		if (node->shm_exclusive[i] != NULL && node->shm_exclusive[i] != f)
			return leave(disk, SQLITE_BUSY);
		if ((flags & SQLITE_SHM_EXCLUSIVE) &&
		    node->shm_shared[i] > (int)(f->shm_mask_shared >> i & 1))
			return leave(disk, SQLITE_BUSY);
	}
	for (int i = offset; i < offset + count; i++) {
		if (flags & SQLITE_SHM_EXCLUSIVE) {
			node->shm_exclusive[i] = f;
			f->shm_mask_exclusive |= 1u << i;
		} else if ((f->shm_mask_shared & 1u << i) == 0) {
			node->shm_shared[i]++;
			f->shm_mask_shared |= 1u << i;
		}
	}
	return leave(disk, SQLITE_OK);
}

static void
file_shm_barrier(sqlite3_file *file)
{
	(void)leave(enter(file), SQLITE_OK);
}

static int
file_shm_unmap(sqlite3_file *file, int gone)
{
	power_file *f = power_file_of(file);
	inode *node = f->node;
	power_disk *disk = enter(file);

	(void)gone;
	drop_shm_locks(f);
	if (f->mapped && --node->mapped == 0) {
		for (int i = 0; i < node->region_count; i++)
			free(node->regions[i]);
		node->region_count = 0;
	}
	f->mapped = false;
	return leave(disk, SQLITE_OK);
}

static const sqlite3_io_methods power_methods = {
	.iVersion = 2,
	.xClose = file_close,
	.xRead = file_read,
	.xWrite = file_write,
	.xTruncate = file_truncate,
	.xSync = file_sync,
	.xFileSize = file_size,
	.xLock = file_lock,
	.xUnlock = file_unlock,
	.xCheckReservedLock = file_check_lock,
	.xFileControl = file_control,
	.xSectorSize = file_sector_size,
	.xDeviceCharacteristics = file_device,
	.xShmMap = file_shm_map,
	.xShmLock = file_shm_lock,
	.xShmBarrier = file_shm_barrier,
	.xShmUnmap = file_shm_unmap,
};

/* --- methods of the disk --- */

static int
disk_open(sqlite3_vfs *vfs, sqlite3_filename name, sqlite3_file *file, int flags, int *out_flags)
{
	power_disk *disk = (power_disk *)vfs;
	power_file *f = power_file_of(file);
	entry *e;
	int rc;

	memset(f, 0, sizeof(*f));
	pthread_mutex_lock(&disk->lock);
	rc = take_step(disk, POWER_OPEN, name);
	if (rc != SQLITE_OK)
		return leave(disk, rc);
	e = name == NULL ? NULL : names_find(&disk->now, name);
	if (e == NULL && name != NULL) {
		if ((flags & SQLITE_OPEN_CREATE) == 0)
			return leave(disk, SQLITE_CANTOPEN);
		rc = take_step(disk, POWER_CREATE, name);
		if (rc != SQLITE_OK)
			return leave(disk, rc);
		change_name(disk, name, inode_new());
		e = names_find(&disk->now, name);
	}
	f->disk = disk;
	f->node = e == NULL ? inode_new() : e->node;
	f->node->refs++;
	f->name = name == NULL ? NULL : power_strdup(name);
	f->base.pMethods = &power_methods;
	if (out_flags != NULL)
		*out_flags = flags;
	return leave(disk, SQLITE_OK);
}

static int
disk_delete(sqlite3_vfs *vfs, const char *name, int sync)
{
	power_disk *disk = (power_disk *)vfs;
	int rc;

	pthread_mutex_lock(&disk->lock);
	if (names_find(&disk->now, name) == NULL)
		return leave(disk, SQLITE_IOERR_DELETE_NOENT);
	rc = take_step(disk, POWER_DELETE, name);
	if (rc != SQLITE_OK)
		return leave(disk, rc);
	change_name(disk, name, NULL);
	if (sync && !disk->ignore_syncs)
		keep_names(disk, disk->op_count);
	return leave(disk, SQLITE_OK);
}

static int
disk_access(sqlite3_vfs *vfs, const char *name, int flags, int *out)
{
	power_disk *disk = (power_disk *)vfs;
	entry *e;

	pthread_mutex_lock(&disk->lock);
	e = names_find(&disk->now, name);
	/* As in the unix VFS: an empty file does not exist. */
	*out = e != NULL && (flags != SQLITE_ACCESS_EXISTS || e->node->data.size > 0);
	return leave(disk, SQLITE_OK);
}

static int
disk_full_path(sqlite3_vfs *vfs, const char *name, int room, char *out)
{
	(void)vfs;
	sqlite3_snprintf(room, out, "%s", name);
	return SQLITE_OK;
}

static int
disk_randomness(sqlite3_vfs *vfs, int size, char *out)
{
	(void)vfs;
	/* Used for salts of the log; the same in every run, and never all zero. */
	for (int i = 0; i < size; i++)
		out[i] = (char)(i * 37 + 11);
	return size;
}

static int
disk_sleep(sqlite3_vfs *vfs, int us)
{
	(void)vfs;
	return us;
}

static int
disk_time(sqlite3_vfs *vfs, double *out)
{
	(void)vfs;
	*out = 2460000.5;
	return SQLITE_OK;
}

static int
disk_last_error(sqlite3_vfs *vfs, int room, char *out)
{
	(void)vfs;
	(void)room;
	(void)out;
	return 0;
}

power_disk *
power_disk_new(void)
{
	power_disk *disk = power_grow(NULL, 1, sizeof(*disk));

	memset(disk, 0, sizeof(*disk));
	if (pthread_mutex_init(&disk->lock, NULL) != 0)
		abort();
	snprintf(disk->name, sizeof(disk->name), "power-%p", (void *)disk);
	disk->vfs = (sqlite3_vfs){
		.iVersion = 1,
		.szOsFile = sizeof(power_file),
		.mxPathname = POWER_PATH_ROOM,
		.zName = disk->name,
		.xOpen = disk_open,
		.xDelete = disk_delete,
		.xAccess = disk_access,
		.xFullPathname = disk_full_path,
		.xRandomness = disk_randomness,
		.xSleep = disk_sleep,
		.xCurrentTime = disk_time,
		.xGetLastError = disk_last_error,
	};
	if (sqlite3_vfs_register(&disk->vfs, 0) != SQLITE_OK)
		abort();
	return disk;
}

void
power_disk_free(power_disk *disk)
{
	if (disk == NULL)
		return;
	sqlite3_vfs_unregister(&disk->vfs);
	keep_names(disk, disk->op_count);
	free(disk->ops);
	names_deinit(&disk->now);
	names_deinit(&disk->kept);
	pthread_mutex_destroy(&disk->lock);
	free(disk);
}

const char *
power_name(const power_disk *disk)
{
	return disk->name;
}

void
power_watch(power_disk *disk, power_fn fn, void *ctx)
{
	disk->fn = fn;
	disk->ctx = ctx;
}

void
power_set_fault(power_disk *disk, power_fault fault)
{
	disk->fault = fault;
}

uint64_t
power_fault_count(const power_disk *disk)
{
	return disk->fault_count;
}

void
power_ignore_syncs(power_disk *disk, bool ignore)
{
	disk->ignore_syncs = ignore;
}

void
power_retry_syncs(power_disk *disk, bool retry)
{
	disk->retry_syncs = retry;
}

void
power_write_late(power_disk *disk, bool late)
{
	disk->write_late = late;
}

const unsigned char *
power_bytes(const power_disk *disk, const char *name, size_t *out_size)
{
	const entry *e = names_find(&disk->now, name);

	if (e == NULL)
		return NULL;
	*out_size = e->node->data.size;
	return e->node->data.bytes;
}

bool
power_put(power_disk *disk, const char *name, const void *bytes, size_t size)
{
	inode *node = inode_new();

	image_write(&node->data, bytes, size, 0);
	image_write(&node->disk, bytes, size, 0);
	names_set(&disk->now, name, node);
	names_set(&disk->kept, name, node);
	return true;
}

/* --- power loss --- */

power_disk *
power_cut(power_disk *disk, power_kind kind, uint64_t seed)
{
	power_disk *after = power_disk_new();
	uint64_t dice = seed * 0x2545F4914F6CDD1Du + (uint64_t)kind;
	names left = {NULL, 0, 0};
	size_t names_kept;

	pthread_mutex_lock(&disk->lock);
	names_kept = kind == POWER_KEEP   ? disk->op_count
		     : kind == POWER_DROP ? 0
					  : power_dice(&dice) % (disk->op_count + 1);
	for (size_t i = 0; i < disk->kept.count; i++)
		names_set(&left, disk->kept.entries[i].name, disk->kept.entries[i].node);
	for (size_t i = 0; i < names_kept; i++)
		names_set(&left, disk->ops[i].name, disk->ops[i].node);
	for (size_t i = 0; i < left.count; i++) {
		image im = {NULL, 0, 0};

		surviving(left.entries[i].node, kind, &dice, &im);
		(void)power_put(after, left.entries[i].name, im.bytes, im.size);
		free(im.bytes);
	}
	names_deinit(&left);
	pthread_mutex_unlock(&disk->lock);
	return after;
}
