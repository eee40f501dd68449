/* SPDX-License-Identifier: MIT
 *
 * A transport that several threads use at once, from its first request on. The thread sanitizer
 * checks the shared data, mock_test.sh everything else. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "llm/transport_curl.h"

enum { THREADS = 4, REQUESTS = 5 };

typedef struct asker {
	rt_transport *transport;
	rt_str url;
	size_t refused;
} asker;

static void *
ask_often(void *ctx)
{
	asker *a = ctx;
	rt_http_request request = {.method = "GET", .url = a->url};
	rt_http_answer answer;
	rt_error err;
	int i;

	for (i = 0; i < REQUESTS; i++)
		a->refused += a->transport->ops->send(a->transport, &request, &answer, NULL, NULL,
						      &err) == RT_UPSTREAM &&
			      answer.is_transient && answer.status == 0;
	return NULL;
}

/* A port on which nothing listens, and which others cannot use: a socket that is bound and no
 * more. */
static int
closed_port(unsigned *out_port)
{
	struct sockaddr_in address = {.sin_family = AF_INET};
	socklen_t size = sizeof(address);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &size), 0);
	*out_port = ntohs(address.sin_port);
	return fd;
}

static void
test_threads(void **state)
{
	pthread_t threads[THREADS];
	asker askers[THREADS];
	rt_transport *transport;
	char url[64];
	unsigned port;
	int fd = closed_port(&port), i;

	(void)state;
	snprintf(url, sizeof(url), "http://127.0.0.1:%u/", port);
	assert_int_equal(rt_transport_curl_open(NULL, &transport, NULL), RT_OK);
	for (i = 0; i < THREADS; i++) {
		askers[i] = (asker){transport, rt_str_of(url), 0};
		assert_int_equal(pthread_create(&threads[i], NULL, ask_often, &askers[i]), 0);
	}
	for (i = 0; i < THREADS; i++) {
		assert_int_equal(pthread_join(threads[i], NULL), 0);
		assert_int_equal(askers[i].refused, REQUESTS);
	}
	transport->ops->close(transport);
	close(fd);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
