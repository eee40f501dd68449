/* SPDX-License-Identifier: MIT
 *
 * A request is an easy handle in a multi handle that the caller's thread drives: perform, check
 * stop and the timeouts, wait for the socket, again. Multi handles own the connections; one is
 * kept for the next request.
 *
 * Of libcurl's messages only those about TLS are passed on. All others are made here from its
 * codes, so that they cannot quote a header or a URL. */
#define _GNU_SOURCE

#include "llm/transport_curl.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock_host.h"
#include "base/scope.h"
#include "llm/curl_load.h"
#include "llm/system_host.h"
#include "llm/url.h"

enum { TICK_MS = 20 };

typedef struct curl_transport {
	rt_transport base;
	rt_scope scope;      /* its memory */
	const char *ca_file; /* or NULL */
	pthread_t loading; /* loads libcurl while the caller prepares the first request */
	pthread_mutex_t lock;
	bool is_loading;    /* guarded by the lock, as are the next two */
	CURLM *spare;       /* with its connections, or NULL */
	const rt_curl *lib; /* that spare belongs to */
} curl_transport;

/* One request and its answer. */
typedef struct transfer {
	const rt_http_request *request;
	rt_http_answer *answer;
	rt_http_fn fn;
	void *fn_ctx;
	const rt_curl *lib;
	CURL *easy;
	rt_url url;
	rt_str origin;    /* for messages; NUL-terminated */
	rt_status status; /* the failure with which a callback ended it */
	uint64_t header_bytes, body_bytes;
	bool forbidden;                     /* the host has a link-local address */
	unsigned peer_port;                 /* that the last connection went to; 0: none was made */
	char peer[INET6_ADDRSTRLEN + 16];   /* its address and port */
	int64_t begun_ms, last_ms, tick_ms; /* last: of the last progress */
	curl_off_t uploaded;
	char words[CURL_ERROR_SIZE];
} transfer;

static bool
is_stopped(rt_stop_fn stop, void *ctx)
{
	return stop != NULL && stop(ctx);
}

static unsigned
or_default(unsigned value, unsigned usual)
{
	return value != 0 ? value : usual;
}

/* For messages. */
static unsigned
seconds(unsigned ms)
{
	return ms / 1000 + (ms % 1000 != 0);
}

/* ---- libcurl's callbacks ---- */

/* 169.254/16, fe80::/10, and two that clouds use beside them. */
static bool
is_forbidden(const struct sockaddr *address)
{
	const struct sockaddr_in *four = (const struct sockaddr_in *)(const void *)address;
	const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)(const void *)address;
	static const unsigned char amazon[16] = {0xFD, 0x00, 0x0E, 0xC2, [14] = 0x02, [15] = 0x54};
	uint32_t number;

	if (address->sa_family == AF_INET) {
		number = ntohl(four->sin_addr.s_addr);
	} else if (address->sa_family == AF_INET6) {
		if (IN6_IS_ADDR_LINKLOCAL(&six->sin6_addr) ||
		    memcmp(&six->sin6_addr, amazon, sizeof(amazon)) == 0)
			return true;
		if (!IN6_IS_ADDR_V4MAPPED(&six->sin6_addr))
			return false;
		memcpy(&number, (const unsigned char *)&six->sin6_addr + 12, 4);
		number = ntohl(number);
	} else {
		return false;
	}
	return number >> 16 == 0xA9FE || number == 0x646464C8; /* 100.100.100.200 */
}

static void
note_peer(transfer *t, const struct sockaddr *address)
{
	const struct sockaddr_in *four = (const struct sockaddr_in *)(const void *)address;
	const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)(const void *)address;
	bool is_six = address->sa_family == AF_INET6;
	char name[INET6_ADDRSTRLEN];

	t->peer_port = 0;
	if ((!is_six && address->sa_family != AF_INET) ||
	    inet_ntop(address->sa_family,
		      is_six ? (const void *)&six->sin6_addr : (const void *)&four->sin_addr, name,
		      sizeof(name)) == NULL)
		return;
	t->peer_port = ntohs(is_six ? six->sin6_port : four->sin_port);
	(void)snprintf(t->peer, sizeof(t->peer), is_six ? "[%s]:%u" : "%s:%u", name, t->peer_port);
}

static curl_socket_t
open_socket(void *ctx, curlsocktype purpose, struct curl_sockaddr *address)
{
	transfer *t = ctx;

	if (purpose == CURLSOCKTYPE_IPCXN && is_forbidden(&address->addr)) {
		t->forbidden = true;
		return CURL_SOCKET_BAD;
	}
	note_peer(t, &address->addr);
	return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

static void
read_content_type(rt_http_answer *answer, rt_str value)
{
	size_t end = rt_str_find(value, RT_STR(";"), 0);
	rt_str type = rt_str_trim(end == SIZE_MAX ? value : rt_str_at(value.ptr, end));

	answer->is_stream = rt_str_eq_nocase(type, RT_STR("text/event-stream")) ||
			    rt_str_eq_nocase(type, RT_STR("application/x-ndjson")) ||
			    rt_str_eq_nocase(type, RT_STR("application/jsonl")) ||
			    rt_str_eq_nocase(type, RT_STR("application/stream+json"));
	answer->is_json = rt_str_eq_nocase(type, RT_STR("application/json")) ||
			  (type.size > 5 && rt_str_eq_nocase(rt_str_at(type.ptr + type.size - 5, 5),
							     RT_STR("+json")));
}

static size_t
on_header(char *bytes, size_t one, size_t size, void *ctx)
{
	static const rt_str type = RT_STR_INIT("content-type:");
	transfer *t = ctx;
	rt_str line = rt_str_at(bytes, one * size);

	t->last_ms = rt_clock_ms();
	t->header_bytes += line.size;
	if (t->header_bytes > RT_HTTP_HEADERS_MAX) {
		t->status = RT_LIMIT;
		return 0;
	}
	if (rt_str_starts(line, RT_STR("HTTP/"))) { /* also the answer after a "100 Continue" */
		t->answer->is_stream = false;
		t->answer->is_json = false;
	} else if (line.size > type.size &&
		   rt_str_eq_nocase(rt_str_at(line.ptr, type.size), type)) {
		read_content_type(t->answer, rt_str_skip(line, type.size));
	}
	return line.size;
}

static void
read_status(transfer *t)
{
	long status = 0;
	curl_off_t after = 0;

	(void)t->lib->easy_getinfo(t->easy, CURLINFO_RESPONSE_CODE, &status);
	(void)t->lib->easy_getinfo(t->easy, CURLINFO_RETRY_AFTER, &after);
	t->answer->status = status > 0 ? (unsigned)status : 0;
	t->answer->retry_after_s = after <= 0 ? 0 : after > 1 << 30 ? 1 << 30 : (unsigned)after;
}

static uint64_t
answer_max(const transfer *t)
{
	return t->request->answer_max != 0 ? t->request->answer_max : RT_HTTP_ANSWER_MAX;
}

static size_t
on_body(char *bytes, size_t one, size_t size, void *ctx)
{
	transfer *t = ctx;

	t->last_ms = rt_clock_ms();
	size *= one;
	if (t->answer->status == 0)
		read_status(t);
	t->body_bytes += size;
	if (t->body_bytes > answer_max(t))
		t->status = RT_LIMIT;
	else if (t->fn != NULL && size > 0)
		t->status = t->fn(t->fn_ctx, t->answer, rt_str_at(bytes, size));
	return t->status == RT_OK ? size : 0;
}

/* ---- failures ---- */

/* The address of the proxy that the connection went to; "": there was none, or it cannot be
 * told from the server. libcurl reports this from version 8.7 on; a proxy is recognised by its
 * port here. */
static const char *
proxy_of(const transfer *t)
{
	return t->peer_port != 0 && t->peer_port != t->url.port ? t->peer : "";
}

static rt_status
fail_proxy(transfer *t, long code, rt_error *err)
{
	const char *proxy = proxy_of(t), *blank = proxy[0] == '\0' ? "" : " ";

	t->answer->is_transient = code == 502 || code == 503 || code == 504;
	if (code == 407)
		return rt_fail(err, RT_UPSTREAM,
			       "the proxy%s%s for %s requires a user name and a password (407): add them to the proxy variable, as in "
			       "http://USER:PASSWORD@HOST:PORT",
			       blank, proxy, t->origin.ptr);
	return rt_fail(err, RT_UPSTREAM, "the proxy%s%s refused the connection to %s (%ld)",
		       blank, proxy, t->origin.ptr, code);
}

/* Is the connection open, so that bytes of the request may have reached the server? */
static bool
is_connected(const transfer *t)
{
	curl_off_t connected = 0;

	(void)t->lib->easy_getinfo(t->easy, CURLINFO_PRETRANSFER_TIME_T, &connected);
	return connected > 0;
}

static bool
is_tls_failure(CURLcode code)
{
	switch (code) {
	case CURLE_SSL_CONNECT_ERROR:
	case CURLE_PEER_FAILED_VERIFICATION:
	case CURLE_SSL_ENGINE_NOTFOUND:
	case CURLE_SSL_ENGINE_SETFAILED:
	case CURLE_SSL_CERTPROBLEM:
	case CURLE_SSL_CIPHER:
	case CURLE_SSL_CACERT_BADFILE:
	case CURLE_SSL_ISSUER_ERROR:
	case CURLE_SSL_INVALIDCERTSTATUS: return true;
	default: return false;
	}
}

static rt_status
fail_connect(transfer *t, rt_error *err)
{
	const char *proxy = proxy_of(t), *origin = t->origin.ptr, *why = "none of its addresses responds";
	long number = 0;
	char room[128];

	if (t->forbidden)
		return rt_fail(err, RT_REFUSED,
			       "%s has a link-local address, and no requests are sent to such "
			       "addresses",
			       origin);
	(void)t->lib->easy_getinfo(t->easy, CURLINFO_OS_ERRNO, &number);
	t->answer->is_transient = number == ECONNREFUSED || number == ECONNRESET;
	if (number != 0)
		why = strerror_r((int)number, room, sizeof(room));
	if (number == ECONNREFUSED && proxy[0] == '\0')
		return rt_fail(err, RT_UPSTREAM,
			       "no server is listening on %s (connection refused)", origin);
	if (proxy[0] == '\0')
		return rt_fail(err, RT_UPSTREAM, "cannot connect to %s: %s", origin, why);
	if (number == ECONNREFUSED)
		why = "nothing answers there (connection refused)";
	return rt_fail(err, RT_UPSTREAM, "cannot connect to the proxy %s for %s: %s",
		       proxy, origin, why);
}

/* Failures identified by their code alone: the message before, and after, the name of the
 * server. */
static const struct {
	CURLcode code;
	rt_status status;
	const char *before, *after;
} failures[] = {
	{CURLE_COULDNT_RESOLVE_HOST, RT_UPSTREAM, "cannot resolve the name ",
	 ": check the name and the network connection"},
	{CURLE_COULDNT_RESOLVE_PROXY, RT_UPSTREAM,
	 "cannot resolve the name of the proxy for ", ""},
	{CURLE_BAD_CONTENT_ENCODING, RT_UPSTREAM, "",
	 " sent a response with invalid compression"},
	{CURLE_WEIRD_SERVER_REPLY, RT_UPSTREAM, "", " does not speak HTTP"},
	{CURLE_UNSUPPORTED_PROTOCOL, RT_UPSTREAM, "", " does not speak HTTP"},
	{CURLE_URL_MALFORMAT, RT_REFUSED, "", " is not a valid URL"},
};

/* The message for a code. An answer that has begun was cut off, whatever the code. */
static rt_status
fail_curl(transfer *t, CURLcode code, rt_error *err)
{
	const char *proxy = proxy_of(t), *origin = t->origin.ptr;
	long connect_code = 0;

	(void)t->lib->easy_getinfo(t->easy, CURLINFO_HTTP_CONNECTCODE, &connect_code);
	if (connect_code >= 300)
		return fail_proxy(t, connect_code, err);
	/* libcurl gives the same code for a header line that is too long. */
	if (code == CURLE_OUT_OF_MEMORY && is_connected(t) && t->body_bytes == 0)
		return rt_fail(err, RT_LIMIT,
			       "%s sent a header that is too long (or memory for the response ran out)",
			       origin);
	if (code == CURLE_OUT_OF_MEMORY)
		return rt_fail(err, RT_NOMEM, "out of memory while communicating with %s", origin);
	if (is_tls_failure(code))
		return rt_fail(err, RT_UPSTREAM, "no secure connection to %s: %s", origin,
			       t->words[0] != '\0' ? t->words : t->lib->easy_strerror(code));
	if (code == CURLE_COULDNT_CONNECT)
		return fail_connect(t, err);
	if (code == CURLE_OPERATION_TIMEDOUT)
		return rt_fail(err, RT_UPSTREAM, "%s could not be reached within %u s%s%s", origin,
			       seconds(or_default(t->request->connect_ms, RT_HTTP_CONNECT_MS)),
			       proxy[0] != '\0' ? " by the proxy " : "", proxy);
	for (size_t i = 0; i < sizeof(failures) / sizeof(*failures); i++)
		if (failures[i].code == code)
			return rt_fail(err, failures[i].status, "%s%s%s", failures[i].before,
				       origin, failures[i].after);
	if (t->header_bytes > 0)
		return rt_fail(err, RT_UPSTREAM,
			       "the connection to %s was lost during the response", origin);
	t->answer->is_transient = code == CURLE_GOT_NOTHING || code == CURLE_RECV_ERROR ||
				  code == CURLE_SEND_ERROR;
	if (proxy[0] != '\0')
		return rt_fail(err, RT_UPSTREAM,
			       "the proxy %s for %s closed the connection without a response",
			       proxy, origin);
	return rt_fail(err, RT_UPSTREAM, "%s closed the connection without a response", origin);
}

static rt_status
fail_result(transfer *t, CURLcode code, rt_error *err)
{
	if (t->status == RT_LIMIT && t->header_bytes > RT_HTTP_HEADERS_MAX)
		return rt_fail(err, RT_LIMIT, "%s sent more than %d KiB of headers", t->origin.ptr,
			       (int)(RT_HTTP_HEADERS_MAX >> 10));
	if (t->status == RT_LIMIT && t->body_bytes > answer_max(t))
		return rt_fail(err, RT_LIMIT, "the response from %s is larger than %llu bytes",
			       t->origin.ptr, (unsigned long long)answer_max(t));
	return t->status != RT_OK ? t->status : fail_curl(t, code, err);
}

/* ---- the request ---- */

static void
add_header(rt_scope *s, const rt_curl *lib, struct curl_slist **list, const char *line)
{
	struct curl_slist *more = rt_ok(s) ? lib->slist_append(*list, line) : NULL;

	if (more == NULL)
		(void)rt_scope_nomem(s);
	else
		*list = more;
}

/* Free the list with slist_free_all. */
static struct curl_slist *
make_headers(rt_scope *s, const transfer *t)
{
	struct curl_slist *list = NULL;
	rt_buf *line = rt_scope_buf(s);

	add_header(s, t->lib, &list, "Expect:"); /* none: no round trip before a long body */
	for (size_t i = 0; i < t->request->header_count; i++) {
		const rt_header *header = &t->request->headers[i];

		if (header->name.size == 0 || !rt_header_is_one_line(header->name) ||
		    !rt_header_is_one_line(header->value) ||
		    rt_str_find(header->name, RT_STR(":"), 0) != SIZE_MAX)
			(void)rt_scope_fail(s, RT_REFUSED,
					    "a header has no name, or contains a newline");
		rt_buf_clear(line);
		rt_buf_add_str(line, header->name);
		rt_buf_add_c(line, header->value.size == 0 ? ";" : ": ");
		rt_buf_add_str(line, header->value);
		add_header(s, t->lib, &list, rt_scope_str(s, line).ptr);
	}
	return list;
}

static void
check_option(rt_scope *s, const transfer *t, const char *option, CURLcode code)
{
	if (code == CURLE_OUT_OF_MEMORY)
		(void)rt_scope_nomem(s);
	else if (code == CURLE_UNKNOWN_OPTION)
		(void)rt_scope_fail(s, RT_IO, "libcurl has no option %s: it is too old", option);
	else if (code != CURLE_OK)
		(void)rt_scope_fail(s, RT_IO, "libcurl refuses the option %s: %s", option,
				    t->lib->easy_strerror(code));
}

#define SET(option, value) \
	check_option(s, t, #option, \
		     rt_ok(s) ? t->lib->easy_setopt(t->easy, option, value) : CURLE_OK)

static void
set_options(rt_scope *s, transfer *t, const curl_transport *c, const char *url,
	    struct curl_slist *headers)
{
	const rt_http_request *request = t->request;

	SET(CURLOPT_NOSIGNAL, 1L);
	SET(CURLOPT_PROTOCOLS_STR, "http,https");
	SET(CURLOPT_FOLLOWLOCATION, 0L);
	SET(CURLOPT_DISALLOW_USERNAME_IN_URL, 1L);
	SET(CURLOPT_PATH_AS_IS, 1L);
	SET(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
	SET(CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
	SET(CURLOPT_CONNECTTIMEOUT_MS, (long)or_default(request->connect_ms, RT_HTTP_CONNECT_MS));
	SET(CURLOPT_ACCEPT_ENCODING, "");
	SET(CURLOPT_TCP_KEEPALIVE, 1L);
	SET(CURLOPT_USERAGENT, "retake/" RT_VERSION);
	SET(CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_2TLS);
	/* A slow name server does not delay a stop, from libcurl 7.87 on. */
	(void)t->lib->easy_setopt(t->easy, CURLOPT_QUICK_EXIT, 1L);
	if (rt_url_is_loopback(&t->url))
		SET(CURLOPT_NOPROXY, "*");
	if (c->ca_file != NULL)
		SET(CURLOPT_CAINFO, c->ca_file);
	SET(CURLOPT_URL, url);
	SET(CURLOPT_HTTPHEADER, headers);
	SET(CURLOPT_ERRORBUFFER, t->words);
	SET(CURLOPT_HEADERFUNCTION, on_header);
	SET(CURLOPT_HEADERDATA, t);
	SET(CURLOPT_WRITEFUNCTION, on_body);
	SET(CURLOPT_WRITEDATA, t);
	SET(CURLOPT_OPENSOCKETFUNCTION, open_socket);
	SET(CURLOPT_OPENSOCKETDATA, t);
	if (strcmp(request->method, "GET") == 0) {
		SET(CURLOPT_HTTPGET, 1L);
	} else {
		SET(CURLOPT_POST, 1L);
		SET(CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)request->body.size);
		SET(CURLOPT_POSTFIELDS, request->body.size > 0 ? request->body.ptr : "");
		SET(CURLOPT_CUSTOMREQUEST, request->method);
	}
}

/* ---- the transfer ---- */

static rt_status
check_timeouts(transfer *t, rt_error *err)
{
	const rt_http_request *request = t->request;
	unsigned total = or_default(request->total_ms, RT_HTTP_TOTAL_MS);
	unsigned first = or_default(request->first_byte_ms, RT_HTTP_FIRST_BYTE_MS);
	unsigned idle = or_default(request->idle_ms, RT_HTTP_IDLE_MS);
	int64_t now = rt_clock_ms();
	curl_off_t uploaded = 0;

	(void)t->lib->easy_getinfo(t->easy, CURLINFO_SIZE_UPLOAD_T, &uploaded);
	if ((!t->answer->sent && is_connected(t)) || uploaded != t->uploaded)
		t->last_ms = now;
	t->answer->sent = t->answer->sent || is_connected(t);
	t->uploaded = uploaded;
	if (now - t->begun_ms > total)
		return rt_fail(err, RT_UPSTREAM, "the reply from %s was not complete within %u s",
			       t->origin.ptr, seconds(total));
	if (!t->answer->sent)
		return RT_OK; /* libcurl has the timeout of the connection */
	if (t->header_bytes == 0 && now - t->last_ms > first)
		return rt_fail(err, RT_UPSTREAM, "%s did not respond within %u s", t->origin.ptr,
			       seconds(first));
	if (t->header_bytes > 0 && now - t->last_ms > idle)
		return rt_fail(err, RT_UPSTREAM,
			       "%s sent nothing for %u s during its response",
			       t->origin.ptr, seconds(idle));
	return RT_OK;
}

static void
tick(transfer *t)
{
	int64_t now = rt_clock_ms();

	if (t->request->tick == NULL || now - t->tick_ms < TICK_MS)
		return;
	t->tick_ms = now;
	t->request->tick(t->request->ctx);
}

static rt_status
perform(transfer *t, CURLM *multi, rt_error *err)
{
	CURLMsg *message;
	int running = 1, left;

	while (running > 0) {
		rt_status st;

		if (is_stopped(t->request->stop, t->request->ctx))
			return rt_fail(err, RT_INTERRUPTED, "stopped");
		if (t->lib->multi_perform(multi, &running) != CURLM_OK)
			return rt_fail(err, RT_NOMEM, "out of memory while communicating with %s",
				       t->origin.ptr);
		if (running == 0)
			break;
		tick(t);
		st = check_timeouts(t, err);
		if (st != RT_OK)
			return st;
		(void)t->lib->multi_poll(multi, NULL, 0, RT_HTTP_STOP_MS, NULL);
	}
	while ((message = t->lib->multi_info_read(multi, &left)) != NULL)
		if (message->msg == CURLMSG_DONE && message->easy_handle == t->easy &&
		    (message->data.result != CURLE_OK || t->status != RT_OK))
			return fail_result(t, message->data.result, err);
	return RT_OK;
}

static void
read_location(rt_scope *s, transfer *t)
{
	rt_buf *words = rt_scope_buf(s);
	const char *where = NULL;
	rt_url url;

	(void)t->lib->easy_getinfo(t->easy, CURLINFO_REDIRECT_URL, &where);
	if (where == NULL || rt_url_read(rt_str_of(where), &url, NULL) != RT_OK)
		return;
	rt_url_add_origin(words, &url);
	if (words->status == RT_OK && words->size < sizeof(t->answer->location))
		memcpy(t->answer->location, words->ptr, words->size + 1);
}

/* Puts a multi handle aside, with its connections; returns the previous one. */
static CURLM *
exchange_spare(curl_transport *c, const rt_curl *lib, CURLM *multi)
{
	CURLM *old;

	pthread_mutex_lock(&c->lock);
	old = c->spare;
	c->spare = multi;
	c->lib = lib;
	pthread_mutex_unlock(&c->lock);
	return old;
}

/* A server that closes its connection while TLS writes raises SIGPIPE. */
static bool
block_sigpipe(sigset_t *old)
{
	sigset_t set, pending;

	sigemptyset(&set);
	sigaddset(&set, SIGPIPE);
	sigpending(&pending);
	pthread_sigmask(SIG_BLOCK, &set, old);
	return sigismember(&pending, SIGPIPE) == 1;
}

static void
restore_sigpipe(const sigset_t *old, bool was_pending)
{
	static const struct timespec none = {0, 0};
	sigset_t set, pending;

	sigemptyset(&set);
	sigaddset(&set, SIGPIPE);
	sigpending(&pending);
	if (!was_pending && sigismember(&pending, SIGPIPE) == 1)
		while (sigtimedwait(&set, NULL, &none) < 0 && errno == EINTR)
			;
	pthread_sigmask(SIG_SETMASK, old, NULL);
}

static void
run(rt_scope *s, curl_transport *c, transfer *t, const char *url)
{
	sigset_t old;
	bool was_pending = block_sigpipe(&old);
	struct curl_slist *headers = make_headers(s, t);
	CURLM *multi = exchange_spare(c, t->lib, NULL), *old_spare;

	if (multi == NULL)
		multi = t->lib->multi_init();
	t->easy = t->lib->easy_init();
	if (t->easy == NULL || multi == NULL)
		(void)rt_scope_nomem(s);
	else
		set_options(s, t, c, url, headers);
	if (rt_ok(s) && t->lib->multi_add_handle(multi, t->easy) != CURLM_OK)
		(void)rt_scope_nomem(s);
	if (s->status == RT_NOMEM)
		(void)rt_fail(&s->error, RT_NOMEM, "out of memory while communicating with %s",
			      t->origin.ptr);
	if (rt_ok(s)) {
		rt_scope_note(s, perform(t, multi, &s->error));
		read_status(t);
		read_location(s, t);
		t->answer->sent = t->answer->sent || is_connected(t);
		(void)t->lib->multi_remove_handle(multi, t->easy);
	}
	if (t->easy != NULL)
		t->lib->easy_cleanup(t->easy);
	t->lib->slist_free_all(headers);
	old_spare = exchange_spare(c, t->lib, multi);
	if (old_spare != NULL) /* of another thread's request */
		(void)t->lib->multi_cleanup(old_spare);
	restore_sigpipe(&old, was_pending);
}

/* ---- the transport ---- */

static void *
load(void *unused)
{
	const rt_curl *lib;

	(void)unused;
	(void)(rt_curl_load(&lib, NULL) == RT_OK); /* end_loading checks again and reports it */
	return NULL;
}

/* Signals are for the program's own threads. */
static void
start_loading(curl_transport *c)
{
	sigset_t all, old;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	c->is_loading = pthread_create(&c->loading, NULL, load, NULL) == 0;
	pthread_sigmask(SIG_SETMASK, &old, NULL);
}

static rt_status
end_loading(curl_transport *c, const rt_curl **out, rt_error *err)
{
	rt_status st = rt_curl_load(out, err);

	pthread_mutex_lock(&c->lock);
	if (c->is_loading)
		(void)pthread_join(c->loading, NULL);
	c->is_loading = false;
	pthread_mutex_unlock(&c->lock);
	return st;
}

static rt_status
curl_send(rt_transport *transport, const rt_http_request *request, rt_http_answer *answer,
	  rt_http_fn fn, void *fn_ctx, rt_error *err)
{
	curl_transport *c = (curl_transport *)transport;
	transfer t = {.request = request, .answer = answer, .fn = fn, .fn_ctx = fn_ctx};
	rt_scope s;

	memset(answer, 0, sizeof(*answer));
	if (rt_url_read(request->url, &t.url, err) != RT_OK)
		return RT_REFUSED;
	rt_scope_init(&s, c->scope.alloc);
	RT_TRY(&s, end_loading(c, &t.lib, &s.error));
	t.begun_ms = t.last_ms = t.tick_ms = rt_clock_ms();
	rt_buf *origin = rt_scope_buf(&s);
	rt_url_add_origin(origin, &t.url);
	t.origin = rt_scope_str(&s, origin);
	rt_str url = rt_scope_copy(&s, request->url);
	if (rt_ok(&s))
		run(&s, c, &t, url.ptr);
	else if (s.status == RT_NOMEM)
		(void)rt_fail(&s.error, RT_NOMEM, "out of memory before a request");
	return rt_scope_end(&s, err);
}

static rt_status
curl_wait(rt_transport *transport, unsigned wait_ms, rt_stop_fn stop, void (*tick_fn)(void *ctx),
	  void *ctx)
{
	int64_t end = rt_clock_ms() + wait_ms, left;

	(void)transport;
	for (;;) {
		if (is_stopped(stop, ctx))
			return RT_INTERRUPTED;
		if (tick_fn != NULL)
			tick_fn(ctx);
		left = end - rt_clock_ms();
		if (left <= 0)
			return RT_OK;
		(void)poll(NULL, 0, (int)(left < RT_HTTP_STOP_MS ? left : RT_HTTP_STOP_MS));
	}
}

static void
curl_close(rt_transport *transport)
{
	curl_transport *c = (curl_transport *)transport;
	bool was_pending;
	sigset_t old;

	if (c == NULL)
		return;
	if (c->is_loading)
		(void)pthread_join(c->loading, NULL);
	was_pending = block_sigpipe(&old); /* TLS says good-bye */
	if (c->spare != NULL)
		(void)c->lib->multi_cleanup(c->spare);
	restore_sigpipe(&old, was_pending);
	pthread_mutex_destroy(&c->lock);
	rt_scope s = c->scope;
	rt_scope_deinit(&s);
}

rt_status
rt_transport_curl_open(const rt_transport_curl_options *options, rt_transport **out, rt_error *err)
{
	static const rt_transport_ops ops = {curl_close, curl_send, curl_wait};
	rt_scope s;

	rt_scope_init(&s, options != NULL && options->alloc != NULL ? options->alloc
								     : rt_alloc_libc());
	curl_transport *c = rt_scope_get(&s, sizeof(*c));
	rt_str ca_file = {NULL, 0};
	if (options != NULL && options->ca_file.size > 0)
		ca_file = rt_scope_copy(&s, options->ca_file);
	if (!rt_ok(&s))
		return rt_scope_end(&s, err);
	*c = (curl_transport){.base.ops = &ops, .ca_file = ca_file.ptr, .scope = s};
	(void)pthread_mutex_init(&c->lock, NULL);
	start_loading(c);
	*out = &c->base;
	return RT_OK;
}
