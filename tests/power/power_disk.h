/* SPDX-License-Identifier: MIT
 *
 * The contents of a simulated disk, for power_vfs.c: files, names, syncs, faults, and what a power
 * loss leaves of them. Two views of everything are kept:
 *
 *             now (result of a read)         the medium (state after a cut)
 *   a file    data                           disk + some of pending, see surviving()
 *   names     entries                        kept + a prefix of name_ops
 *
 * A sync of a file moves its pending writes to `disk`, and with them every change of names up to
 * the file's own creation (file systems journal names in order, and SQLite syncs the directory
 * after it has created a file). A deletion with a sync syncs all names. */
#ifndef RT_TESTS_POWER_DISK_H
#define RT_TESTS_POWER_DISK_H

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sqlite3.h>

#include "power/power_vfs.h"

enum { POWER_SHM_LOCKS = SQLITE_SHM_NLOCK };

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

#endif
