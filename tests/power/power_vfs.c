/* SPDX-License-Identifier: MIT
 *
 * The simulated disk. Two views of everything are kept:
 *
 *             now (result of a read)         the medium (state after a cut)
 *   a file    data                           disk + some of pending, see surviving()
 *   names     entries                        kept + a prefix of name_ops
 *
 * A sync of a file moves its pending writes to `disk`, and with them every change of names up to
 * the file's own creation (file systems journal names in order, and SQLite syncs the directory
 * after it has created a file). A deletion with a sync syncs all names.
 *
 * Locks and shared memory are those of one machine: they work between the connections of a disk,
 * and are gone after a cut. */
#include "power/power_vfs.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sqlite3.h>

enum { POWER_PATH_ROOM = 512, POWER_SHM_LOCKS = SQLITE_SHM_NLOCK };

/* A write or a truncation that is not on the medium yet. */
typedef struct pending {
	bool is_cut; /* truncation to offset */
	sqlite3_int64 offset;
	size_t size;
	unsigned char *bytes;
} pending;

typedef struct image {
	unsigned char *bytes;
	size_t size, room;
} image;

typedef struct inode {
	image data, disk;
	pending *waiting;
	size_t waiting_count, waiting_room;
	int refs; /* names, name operations and open files */
	/* Locks of the database file. */
	int shared;
	const void *reserved, *exclusive; /* owner */
	/* Shared memory of the write-ahead log's index. */
	unsigned char **regions;
	int region_count;
	int mapped; /* number of open files that use it; closing the last one deletes it, as
		     * opening the first one clears it in the unix VFS */
	int shm_shared[POWER_SHM_LOCKS];
	const void *shm_exclusive[POWER_SHM_LOCKS];
} inode;

typedef struct entry {
	char *name;
	inode *node;
} entry;

typedef struct names {
	entry *entries;
	size_t count, room;
} names;

/* node: created with that name; NULL: deleted. */
typedef struct name_op {
	char *name;
	inode *node;
} name_op;

struct power_disk {
	sqlite3_vfs vfs; /* first member: SQLite passes it to us */
	char name[40];
	pthread_mutex_t lock;
	names now, kept;
	name_op *ops;
	size_t op_count, op_room;
	power_fn fn;
	void *ctx;
	power_fault fault;
	uint64_t fault_count;
	bool ignore_syncs, retry_syncs, write_late;
};

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

/* --- memory: running out of it fails the test --- */

static void *
power_grow(void *ptr, size_t count, size_t size)
{
	void *grown = realloc(ptr, count * size + 1);

	if (grown == NULL)
		abort();
	return grown;
}

static char *
power_strdup(const char *text)
{
	size_t size = strlen(text) + 1;

	return memcpy(power_grow(NULL, size, 1), text, size);
}

/* --- images --- */

static void
image_resize(image *im, size_t size)
{
	if (size > im->room) {
		im->room = size * 2;
		im->bytes = power_grow(im->bytes, im->room, 1);
	}
	if (size > im->size)
		memset(im->bytes + im->size, 0, size - im->size);
	im->size = size;
}

static void
image_write(image *im, const void *bytes, size_t size, size_t at)
{
	if (at + size > im->size)
		image_resize(im, at + size);
	if (size > 0)
		memcpy(im->bytes + at, bytes, size);
}

static void
image_copy(image *to, const image *from)
{
	image_resize(to, 0);
	image_write(to, from->bytes, from->size, 0);
}

/* --- files and names --- */

static void
forget_waiting(inode *node)
{
	for (size_t i = 0; i < node->waiting_count; i++)
		free(node->waiting[i].bytes);
	node->waiting_count = 0;
}

static void
inode_unref(inode *node)
{
	if (node == NULL || --node->refs > 0)
		return;
	forget_waiting(node);
	free(node->waiting);
	free(node->data.bytes);
	free(node->disk.bytes);
	for (int i = 0; i < node->region_count; i++)
		free(node->regions[i]);
	free(node->regions);
	free(node);
}

static inode *
inode_new(void)
{
	inode *node = power_grow(NULL, 1, sizeof(*node));

	memset(node, 0, sizeof(*node));
	return node;
}

static entry *
names_find(const names *in, const char *name)
{
	for (size_t i = 0; i < in->count; i++) {
		if (strcmp(in->entries[i].name, name) == 0)
			return &in->entries[i];
	}
	return NULL;
}

static void
names_set(names *in, const char *name, inode *node)
{
	entry *e = names_find(in, name);

	if (node != NULL)
		node->refs++;
	if (e != NULL) {
		inode_unref(e->node);
		e->node = node;
		if (node == NULL) {
			free(e->name);
			*e = in->entries[--in->count];
		}
		return;
	}
	if (node == NULL)
		return;
	if (in->count == in->room) {
		in->room = in->room * 2 + 4;
		in->entries = power_grow(in->entries, in->room, sizeof(*in->entries));
	}
	in->entries[in->count].name = power_strdup(name);
	in->entries[in->count++].node = node;
}

static void
names_deinit(names *in)
{
	while (in->count > 0)
		names_set(in, in->entries[0].name, NULL);
	free(in->entries);
}

static void
change_name(power_disk *disk, const char *name, inode *node)
{
	names_set(&disk->now, name, node);
	if (disk->op_count == disk->op_room) {
		disk->op_room = disk->op_room * 2 + 4;
		disk->ops = power_grow(disk->ops, disk->op_room, sizeof(*disk->ops));
	}
	disk->ops[disk->op_count].name = power_strdup(name);
	disk->ops[disk->op_count++].node = node;
	if (node != NULL)
		node->refs++;
}

/* Writes the first count changes of names to the medium. */
static void
keep_names(power_disk *disk, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		names_set(&disk->kept, disk->ops[i].name, disk->ops[i].node);
		free(disk->ops[i].name);
		inode_unref(disk->ops[i].node);
	}
	disk->op_count -= count;
	if (disk->op_count > 0)
		memmove(disk->ops, disk->ops + count, disk->op_count * sizeof(*disk->ops));
}

static void
sync_inode(power_disk *disk, inode *node)
{
	size_t names_to_keep = 0;

	/* Only pending writes: those of a failed sync stay lost. */
	for (size_t i = 0; i < node->waiting_count; i++) {
		const pending *p = &node->waiting[i];

		if (p->is_cut)
			image_resize(&node->disk, (size_t)p->offset);
		else
			image_write(&node->disk, p->bytes, p->size, (size_t)p->offset);
	}
	forget_waiting(node);
	for (size_t i = 0; i < disk->op_count; i++) {
		if (disk->ops[i].node == node)
			names_to_keep = i + 1;
	}
	keep_names(disk, names_to_keep);
}

static void
wait_for_sync(inode *node, bool is_cut, sqlite3_int64 offset, const void *bytes, size_t size)
{
	pending *p;

	if (node->waiting_count == node->waiting_room) {
		node->waiting_room = node->waiting_room * 2 + 16;
		node->waiting = power_grow(node->waiting, node->waiting_room,
					   sizeof(*node->waiting));
	}
	p = &node->waiting[node->waiting_count++];
	p->is_cut = is_cut;
	p->offset = offset;
	p->size = size;
	p->bytes = size == 0 ? NULL : memcpy(power_grow(NULL, size, 1), bytes, size);
}

/* --- steps and faults --- */

/* Announces a step, with the lock held, which is released in the meantime. Then returns the
 * fault that is due, or SQLITE_OK. */
static int
take_step(power_disk *disk, power_step step, const char *name)
{
	power_fn fn = disk->fn;

	if (fn != NULL && step != POWER_READ && step != POWER_OPEN) {
		pthread_mutex_unlock(&disk->lock);
		fn(disk->ctx, step, name);
		pthread_mutex_lock(&disk->lock);
	}
	if ((disk->fault.steps & (unsigned)step) == 0)
		return SQLITE_OK;
	if (disk->fault.nth > 1) {
		disk->fault.nth--;
		return SQLITE_OK;
	}
	if (!disk->fault.for_ever)
		disk->fault.steps = 0;
	disk->fault_count++;
	return disk->fault.code;
}

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

static uint64_t
power_dice(uint64_t *state)
{
	uint64_t x = *state += 0x9E3779B97F4A7C15u;

	x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
	x = (x ^ x >> 27) * 0x94D049BB133111EBu;
	return x ^ x >> 31;
}

/* Writes one pending write to the medium, each sector or not. */
static void
write_torn(image *im, const pending *p, size_t sector, bool trash, uint64_t *dice)
{
	size_t at = (size_t)p->offset, end = at + p->size;
	size_t trashed = trash ? at / sector + power_dice(dice) % (p->size / sector + 1) : SIZE_MAX;

	while (at < end) {
		size_t next = (at / sector + 1) * sector, size = (next < end ? next : end) - at;
		const unsigned char *bytes = p->bytes + (at - (size_t)p->offset);

		if (at / sector == trashed) {
			unsigned char garbage[4096];

			for (size_t i = 0; i < size; i++)
				garbage[i] = (unsigned char)power_dice(dice);
			image_write(im, garbage, size, at);
		} else if (power_dice(dice) & 1) {
			image_write(im, bytes, size, at);
		}
		at += size;
	}
}

static void
survive_one(image *im, const pending *p, power_kind kind, uint64_t *dice)
{
	if (kind == POWER_DROP || (kind != POWER_KEEP && (power_dice(dice) & 1) == 0))
		return;
	if (p->is_cut)
		image_resize(im, (size_t)p->offset);
	else if (kind == POWER_TORN_512 || kind == POWER_TRASH)
		write_torn(im, p, 512, kind == POWER_TRASH && (power_dice(dice) & 7) == 0, dice);
	else if (kind == POWER_TORN_4096)
		write_torn(im, p, 4096, false, dice);
	else
		image_write(im, p->bytes, p->size, (size_t)p->offset);
}

/* The contents of a file on the medium after the cut. */
static void
surviving(const inode *node, power_kind kind, uint64_t *dice, image *out)
{
	size_t count = node->waiting_count;
	size_t *order = power_grow(NULL, count, sizeof(*order));

	image_copy(out, &node->disk);
	for (size_t i = 0; i < count; i++)
		order[i] = i;
	for (size_t i = count; kind == POWER_REORDER && i > 1; i--) {
		size_t other = power_dice(dice) % i, swap = order[other];

		order[other] = order[i - 1];
		order[i - 1] = swap;
	}
	for (size_t i = 0; i < count; i++)
		survive_one(out, &node->waiting[order[i]], kind, dice);
	free(order);
}

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
