/* SPDX-License-Identifier: MIT
 *
 * Fault: a library to preload into a program, so that one of its calls fails.
 *
 * It wraps the C library's memory and file functions and counts the calls of each kind; those
 * after FAULT_AT - 1 of kind FAULT_KIND fail, one of them or all. Only files below FAULT_DIR are
 * affected. Clock and random numbers are the same in every run, so that two runs can be
 * compared. glibc only: the real memory functions are called by their internal names, because
 * looking them up would need memory.
 *
 *   FAULT_KIND    alloc  malloc, calloc, realloc return NULL
 *                 io     writing returns EIO: write, pwrite, ftruncate, fallocate, fsync,
 *                        fdatasync, rename, link, and open for writing
 *                 full   calls that need space return ENOSPC; a write first writes half of it
 *                 read   read and pread return EIO
 *                 intr   read, write, open, fsync return EINTR
 *   FAULT_AT      the first call that fails; 1 is the first, 0: none
 *   FAULT_ONCE    set: only that one; otherwise all from there on
 *   FAULT_DIR     absolute, ends with a slash
 *   FAULT_SEED    a number: seed of the random bytes
 *   FAULT_REPORT  a file: at exit, "kind calls" lines, "hits", and "live": blocks that the
 *                 program itself (not its libraries) allocated and did not free
 *   FAULT_SERVE   "IN,OUT": stop before main and read lines "KIND AT ONCE" from the descriptor
 *                 IN; each forks a child that continues with that fault, its standard
 *                 output and error being the files FAULT_OUT and FAULT_ERR. Its pid is
 *                 written to OUT, and when it has ended, its wait status. So a run
 *                 costs a fork instead of a start of the program
 *   FAULT_TRACE   set: prints to standard error where the failing call was made, and with
 *                 FAULT_REPORT where the live blocks were allocated (return addresses in
 *                 the program, for addr2line)
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <execinfo.h>

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *block, size_t size);
extern void __libc_free(void *block);

enum kind { KIND_ALLOC, KIND_IO, KIND_FULL, KIND_READ, KIND_INTR, KIND_COUNT };
enum { FD_MAX = 1024, LIVE_SLOTS = 1 << 17, TRACE_DEPTH = 24 };

static const char *const kind_names[KIND_COUNT] = {"alloc", "io", "full", "read", "intr"};

static bool armed, once, trace;
static int fault_kind = -1;
static long fault_at;
static const char *dir, *report;
static size_t dir_size;
static uint64_t seed;
static uintptr_t program_from, program_to;
static atomic_long calls[KIND_COUNT];
static atomic_long hits;
static atomic_uchar watched[FD_MAX];     /* file descriptors below dir */
static _Atomic(void *) live[LIVE_SLOTS]; /* blocks of the program, by address; open hashing */
static void *taken_at[LIVE_SLOTS];       /* the return address of the call that took it */
static atomic_long live_count;
static _Thread_local int busy;           /* we are tracing: do not count */

/* ---- which call fails ---- */

static void
say(const char *text)
{
	(void)!syscall(SYS_write, 2, text, strlen(text));
}

static void
say_where(const char *what)
{
	void *frames[TRACE_DEPTH];
	char line[64];
	int i, count;

	busy++;
	snprintf(line, sizeof(line), "fault: %s fails, called from", what);
	say(line);
	count = backtrace(frames, TRACE_DEPTH);
	for (i = 0; i < count; i++) {
		uintptr_t at = (uintptr_t)frames[i];

		if (at < program_from || at >= program_to)
			continue;
		snprintf(line, sizeof(line), " 0x%zx", (size_t)(at - program_from - 1));
		say(line);
	}
	say("\n");
	busy--;
}

/* Counts a call; true: it must fail. */
static bool
fails(enum kind kind, const char *what)
{
	long number;

	if (!armed || busy)
		return false;
	number = atomic_fetch_add(&calls[kind], 1) + 1;
	if ((int)kind != fault_kind || fault_at == 0 || number < fault_at ||
	    (once && number > fault_at))
		return false;
	if (atomic_fetch_add(&hits, 1) == 0 && trace)
		say_where(what);
	return true;
}

/* ---- memory ---- */

static bool
is_program(const void *caller)
{
	return (uintptr_t)caller >= program_from && (uintptr_t)caller < program_to;
}

static size_t
slot_of(const void *block)
{
	return (size_t)(((uintptr_t)block >> 4) * UINT64_C(0x9E3779B97F4A7C15) >> 40) %
	       LIVE_SLOTS;
}

static void
remember(void *block, void *caller)
{
	size_t i, n;

	if (!armed || block == NULL || !is_program(caller))
		return;
	for (i = slot_of(block), n = 0; n < LIVE_SLOTS; i = (i + 1) % LIVE_SLOTS, n++) {
		void *none = NULL;
		void *gone = (void *)1;

		if (atomic_compare_exchange_strong(&live[i], &none, block) ||
		    atomic_compare_exchange_strong(&live[i], &gone, block)) {
			taken_at[i] = caller;
			atomic_fetch_add(&live_count, 1);
			return;
		}
	}
}

static void
forget(const void *block)
{
	size_t i, n;

	if (!armed || block == NULL)
		return;
	for (i = slot_of(block), n = 0; n < LIVE_SLOTS; i = (i + 1) % LIVE_SLOTS, n++) {
		void *there = atomic_load(&live[i]);

		if (there == NULL)
			return;
		if (there == block) {
			atomic_store(&live[i], (void *)1);
			atomic_fetch_sub(&live_count, 1);
			return;
		}
	}
}

void *
malloc(size_t size)
{
	void *block;

	if (fails(KIND_ALLOC, "malloc")) {
		errno = ENOMEM;
		return NULL;
	}
	block = __libc_malloc(size);
	remember(block, __builtin_return_address(0));
	return block;
}

void *
calloc(size_t count, size_t size)
{
	void *block;

	if (fails(KIND_ALLOC, "calloc")) {
		errno = ENOMEM;
		return NULL;
	}
	block = __libc_calloc(count, size);
	remember(block, __builtin_return_address(0));
	return block;
}

void *
realloc(void *old, size_t size)
{
	void *block;

	if (fails(KIND_ALLOC, "realloc")) {
		errno = ENOMEM;
		return NULL;
	}
	forget(old);
	block = __libc_realloc(old, size);
	remember(block != NULL || size == 0 ? block : old, __builtin_return_address(0));
	return block;
}

void
free(void *block)
{
	forget(block);
	__libc_free(block);
}

/* ---- files ---- */

static bool
below(const char *path)
{
	return dir != NULL && path != NULL && strncmp(path, dir, dir_size) == 0;
}

static bool
watches(int fd)
{
	return armed && fd >= 0 && fd < FD_MAX && atomic_load(&watched[fd]);
}

static int
do_open(int at, const char *path, int flags, mode_t mode)
{
	bool writes = (flags & O_ACCMODE) != O_RDONLY;
	int fd;

	if (armed && below(path)) {
		if (fails(KIND_INTR, "open")) {
			errno = EINTR;
			return -1;
		}
		if (writes && fails(KIND_IO, "open")) {
			errno = EIO;
			return -1;
		}
		if ((flags & O_CREAT) && access(path, F_OK) != 0 && fails(KIND_FULL, "open")) {
			errno = ENOSPC;
			return -1;
		}
	}
	fd = (int)syscall(SYS_openat, at, path, flags, mode);
	if (fd >= 0 && fd < FD_MAX)
		atomic_store(&watched[fd], below(path));
	return fd;
}

#define OPEN_LIKE(NAME, ...)                                                                       \
	{                                                                                          \
		mode_t mode = 0;                                                                   \
		va_list ap;                                                                        \
		if (flags & (O_CREAT | O_TMPFILE)) {                                               \
			va_start(ap, flags);                                                       \
			mode = va_arg(ap, mode_t);                                                 \
			va_end(ap);                                                                \
		}                                                                                  \
		return do_open(__VA_ARGS__, flags, mode);                                          \
	}

int open(const char *path, int flags, ...) OPEN_LIKE(open, AT_FDCWD, path)
int open64(const char *path, int flags, ...) OPEN_LIKE(open64, AT_FDCWD, path)
int openat(int at, const char *path, int flags, ...) OPEN_LIKE(openat, at, path)
int openat64(int at, const char *path, int flags, ...) OPEN_LIKE(openat64, at, path)

/* The result of a write of size bytes: size, less, or -1. */
static ssize_t
room(int fd, size_t size)
{
	if (!watches(fd))
		return (ssize_t)size;
	if (fails(KIND_INTR, "write")) {
		errno = EINTR;
		return -1;
	}
	if (fails(KIND_IO, "write")) {
		errno = EIO;
		return -1;
	}
	if (fails(KIND_FULL, "write")) {
		if (atomic_load(&hits) == 1 && !once && size > 1)
			return (ssize_t)(size / 2);
		errno = ENOSPC;
		return -1;
	}
	return (ssize_t)size;
}

ssize_t
write(int fd, const void *bytes, size_t size)
{
	ssize_t some = room(fd, size);

	return some < 0 ? some : (ssize_t)syscall(SYS_write, fd, bytes, (size_t)some);
}

ssize_t
pwrite64(int fd, const void *bytes, size_t size, off64_t at)
{
	ssize_t some = room(fd, size);

	return some < 0 ? some : (ssize_t)syscall(SYS_pwrite64, fd, bytes, (size_t)some, at);
}

ssize_t
pwrite(int fd, const void *bytes, size_t size, off_t at)
{
	return pwrite64(fd, bytes, size, at);
}

static bool
read_fails(int fd)
{
	if (!watches(fd))
		return false;
	if (fails(KIND_INTR, "read")) {
		errno = EINTR;
		return true;
	}
	if (fails(KIND_READ, "read")) {
		errno = EIO;
		return true;
	}
	return false;
}

ssize_t
read(int fd, void *bytes, size_t size)
{
	return read_fails(fd) ? -1 : (ssize_t)syscall(SYS_read, fd, bytes, size);
}

ssize_t
pread64(int fd, void *bytes, size_t size, off64_t at)
{
	return read_fails(fd) ? -1 : (ssize_t)syscall(SYS_pread64, fd, bytes, size, at);
}

ssize_t
pread(int fd, void *bytes, size_t size, off_t at)
{
	return pread64(fd, bytes, size, at);
}

static bool
sync_fails(int fd, const char *what)
{
	if (!watches(fd))
		return false;
	if (fails(KIND_INTR, what)) {
		errno = EINTR;
		return true;
	}
	if (fails(KIND_IO, what)) {
		errno = EIO;
		return true;
	}
	return false;
}

int
fsync(int fd)
{
	return sync_fails(fd, "fsync") ? -1 : (int)syscall(SYS_fsync, fd);
}

int
fdatasync(int fd)
{
	return sync_fails(fd, "fdatasync") ? -1 : (int)syscall(SYS_fdatasync, fd);
}

static int
grow_error(int fd, bool grows, const char *what)
{
	if (!watches(fd))
		return 0;
	if (fails(KIND_IO, what))
		return EIO;
	return grows && fails(KIND_FULL, what) ? ENOSPC : 0;
}

int
ftruncate64(int fd, off64_t size)
{
	off64_t now = watches(fd) ? lseek64(fd, 0, SEEK_END) : 0; /* only used with pread, pwrite */
	int error = grow_error(fd, size > now, "ftruncate");

	if (error != 0) {
		errno = error;
		return -1;
	}
	return (int)syscall(SYS_ftruncate, fd, size);
}

int
ftruncate(int fd, off_t size)
{
	return ftruncate64(fd, size);
}

int
fallocate64(int fd, int mode, off64_t at, off64_t size)
{
	int error = grow_error(fd, true, "fallocate");

	if (error != 0) {
		errno = error;
		return -1;
	}
	return (int)syscall(SYS_fallocate, fd, mode, at, size);
}

int
fallocate(int fd, int mode, off_t at, off_t size)
{
	return fallocate64(fd, mode, at, size);
}

int
posix_fallocate64(int fd, off64_t at, off64_t size)
{
	return fallocate64(fd, 0, at, size) == 0 ? 0 : errno;
}

int
posix_fallocate(int fd, off_t at, off_t size)
{
	return posix_fallocate64(fd, at, size);
}

static bool
name_fails(const char *path, const char *what)
{
	if (!armed || !below(path) || !fails(KIND_IO, what))
		return false;
	errno = EIO;
	return true;
}

int
rename(const char *from, const char *to)
{
	return name_fails(to, "rename") ? -1
					: (int)syscall(SYS_renameat, AT_FDCWD, from, AT_FDCWD, to);
}

int
link(const char *from, const char *to)
{
	return name_fails(to, "link") ? -1
				      : (int)syscall(SYS_linkat, AT_FDCWD, from, AT_FDCWD, to, 0);
}

/* ---- clock and random numbers ---- */

int
clock_gettime(clockid_t clock, struct timespec *out)
{
	if (armed && clock == CLOCK_REALTIME) {
		out->tv_sec = 1795000000;
		out->tv_nsec = 0;
		return 0;
	}
	return (int)syscall(SYS_clock_gettime, clock, out);
}

ssize_t
getrandom(void *out, size_t size, unsigned flags)
{
	unsigned char *bytes = out;
	size_t i;

	(void)flags;
	for (i = 0; i < size; i++) {
		seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
		bytes[i] = (unsigned char)(seed >> 56);
	}
	return (ssize_t)size;
}

/* ---- begin and end ---- */

static int
find_program(struct dl_phdr_info *info, size_t size, void *ctx)
{
	int i;

	(void)size;
	(void)ctx;
	program_from = info->dlpi_addr; /* the first one is the program */
	for (i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *part = &info->dlpi_phdr[i];

		if (part->p_type == PT_LOAD &&
		    info->dlpi_addr + part->p_vaddr + part->p_memsz > program_to)
			program_to = info->dlpi_addr + part->p_vaddr + part->p_memsz;
	}
	return 1;
}

static int
kind_named(const char *name)
{
	int i;

	for (i = 0; name != NULL && i < KIND_COUNT; i++) {
		if (strcmp(name, kind_names[i]) == 0)
			return i;
	}
	return -1;
}

static void
replace_fd(int fd, const char *path)
{
	int file = path == NULL ? -1
				: (int)syscall(SYS_openat, AT_FDCWD, path,
					       O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	if (file < 0 || dup2(file, fd) != fd)
		_exit(127);
	close(file);
}

/* Returns in every child; the process itself exits here, when IN ends. */
static void
serve(const char *control)
{
	int in, out, state, size, once_given;
	char line[64], name[16];
	long at;
	pid_t child;

	if (sscanf(control, "%d,%d", &in, &out) != 2)
		_exit(127);
	for (;;) {
		size = (int)read(in, line, sizeof(line) - 1);
		if (size <= 0)
			_exit(0);
		line[size] = 0;
		if (sscanf(line, "%15s %ld %d", name, &at, &once_given) != 3)
			_exit(127);
		child = fork();
		if (child == 0) {
			close(in);
			close(out);
			replace_fd(1, getenv("FAULT_OUT"));
			replace_fd(2, getenv("FAULT_ERR"));
			fault_kind = kind_named(name);
			fault_at = at;
			once = once_given != 0;
			return;
		}
		size = snprintf(line, sizeof(line), "%d\n", (int)child);
		if (child < 0 || write(out, line, (size_t)size) != size ||
		    waitpid(child, &state, 0) != child)
			_exit(127);
		size = snprintf(line, sizeof(line), "%d\n", state);
		if (write(out, line, (size_t)size) != size)
			_exit(127);
	}
}

__attribute__((constructor)) static void
begin(void)
{
	const char *number = getenv("FAULT_AT"), *control = getenv("FAULT_SERVE");
	void *frames[2];

	fault_kind = kind_named(getenv("FAULT_KIND"));
	fault_at = number != NULL ? atol(number) : 0;
	once = getenv("FAULT_ONCE") != NULL;
	trace = getenv("FAULT_TRACE") != NULL;
	report = getenv("FAULT_REPORT");
	dir = getenv("FAULT_DIR");
	dir_size = dir != NULL ? strlen(dir) : 0;
	seed = getenv("FAULT_SEED") != NULL ? strtoull(getenv("FAULT_SEED"), NULL, 10) : 1;
	unsetenv("LD_PRELOAD"); /* child programs are not affected */
	dl_iterate_phdr(find_program, NULL);
	if (trace)
		(void)backtrace(frames, 2); /* loads what backtrace() needs */
	if (control != NULL)
		serve(control);
	armed = true;
}

__attribute__((destructor)) static void
end(void)
{
	char text[512];
	size_t i;
	int fd, size;

	armed = false;
	if (report == NULL)
		return;
	for (i = 0; trace && i < LIVE_SLOTS; i++) {
		if ((uintptr_t)live[i] <= 1)
			continue;
		size = snprintf(text, sizeof(text), "fault: a block is left that 0x%zx took\n",
				(size_t)((uintptr_t)taken_at[i] - program_from - 1));
		say(text);
	}
	size = snprintf(text, sizeof(text),
			"alloc %ld\nio %ld\nfull %ld\nread %ld\nintr %ld\nhits %ld\nlive %ld\n",
			calls[KIND_ALLOC], calls[KIND_IO], calls[KIND_FULL], calls[KIND_READ],
			calls[KIND_INTR], hits, live_count);
	fd = (int)syscall(SYS_openat, AT_FDCWD, report, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	if (fd < 0)
		return;
	(void)!syscall(SYS_write, fd, text, (size_t)size);
	syscall(SYS_close, fd);
}
