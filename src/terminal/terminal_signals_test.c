/* SPDX-License-Identifier: MIT
 *
 * Bytes for a terminal that another program has made non-blocking. */
#define _GNU_SOURCE

#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "terminal/terminal_impl.h"

typedef struct reading {
	int file;
	size_t size;
} reading;

/* Begins when the pipe has been full for a while. */
static void *
read_all(void *ctx)
{
	reading *r = ctx;
	char piece[4096];
	ssize_t got;

	(void)usleep(100000);
	while ((got = read(r->file, piece, sizeof(piece))) > 0)
		r->size += (size_t)got;
	return NULL;
}

static void
output_is_complete(void **state)
{
	enum { SIZE = 1 << 20 };
	char *bytes = calloc(1, SIZE);
	reading r = {0};
	pthread_t thread;
	int ends[2];

	(void)state;
	assert_non_null(bytes);
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	assert_int_equal(fcntl(ends[1], F_SETFL, O_NONBLOCK), 0);
	r.file = ends[0];
	assert_int_equal(pthread_create(&thread, NULL, read_all, &r), 0);
	rt_terminal_write(ends[1], bytes, SIZE);
	assert_int_equal(close(ends[1]), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(r.size, SIZE);
	assert_int_equal(close(ends[0]), 0);
	free(bytes);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(output_is_complete),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
