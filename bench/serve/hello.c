/* SPDX-License-Identifier: MIT
 *
 * A minimal libmicrohttpd server: the response is always the same. bench/serve.py compares the
 * server with it. hello PORT LOOPS; ends with its standard input. */
#include <microhttpd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static enum MHD_Result
answer(void *ctx, struct MHD_Connection *connection, const char *url, const char *method,
       const char *version, const char *data, size_t *size, void **request)
{
	static const char body[] = "{\"hello\":\"world\"}";
	struct MHD_Response *response;
	enum MHD_Result result;

	(void)ctx, (void)url, (void)method, (void)version, (void)data, (void)size;
	if (*request == NULL) { /* answering before the request is complete would close the
				 * connection */
		*request = (void *)(size_t)body;
		return MHD_YES;
	}
	response = MHD_create_response_from_buffer(sizeof(body) - 1, (void *)(size_t)body,
						   MHD_RESPMEM_PERSISTENT);
	if (response == NULL)
		return MHD_NO;
	(void)MHD_add_response_header(response, "Content-Type", "application/json");
	result = MHD_queue_response(connection, 200, response);
	MHD_destroy_response(response);
	return result;
}

int
main(int argc, char **argv)
{
	unsigned loops = argc > 2 ? (unsigned)atoi(argv[2]) : 1;
	struct MHD_OptionItem pool[] = {{MHD_OPTION_THREAD_POOL_SIZE, (intptr_t)loops, NULL},
					{MHD_OPTION_END, 0, NULL}};
	struct MHD_Daemon *daemon;

	if (loops < 2)
		pool[0].option = MHD_OPTION_END;
	daemon = MHD_start_daemon(MHD_USE_EPOLL_INTERNAL_THREAD, (uint16_t)atoi(argv[1]), NULL, NULL,
				  answer, NULL, MHD_OPTION_ARRAY, pool, MHD_OPTION_END);
	if (daemon == NULL)
		return 1;
	puts("ready");
	fflush(stdout);
	while (getchar() != EOF)
		;
	MHD_stop_daemon(daemon);
	return 0;
}
