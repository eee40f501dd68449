/* SPDX-License-Identifier: MIT
 *
 * One request is one easy handle in a multi handle that this thread drives: perform, look
 * at stop and the clocks, wait a moment for the socket, again. Multi handles keep the
 * connections; one is put aside for the next request.
 *
 * libcurl's own words are used for TLS alone; all others are made here from its codes, so
 * that nothing of a header or a URL gets into them. */
#define _GNU_SOURCE

#include "llm/transport_curl.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "llm/curl_load.h"
#include "llm/url.h"

enum { TICK_MS = 20 };

typedef struct curl_transport {
	rt_transport base;
	const rt_alloc *alloc;
	char *ca_file;     /* or NULL */
	pthread_t loading; /* while the caller prepares the first request */
	pthread_mutex_t lock;
	bool is_loading;      /* this and what follows: under the lock */
	CURLM *spare;         /* with its connections, or NULL */
	const rt_curl *lib;   /* that spare is of */
} curl_transport;

/* One request on its way. */
typedef struct transfer {
	const rt_http_request *request;
	rt_http_answer *answer;
	rt_http_fn fn;
	void *fn_ctx;
	const rt_curl *lib;
	CURL *easy;
	rt_status status;      /* why a callback ended it */
	uint64_t header_bytes, body_bytes;
	bool forbidden;        /* the host is at a link-local address */
	unsigned port;         /* of whom a connection was last asked for; 0: of nobody yet */
	int64_t begun_ms, last_ms, tick_ms; /* last: something moved */
	curl_off_t uploaded;
	char origin[RT_URL_HOST_MAX + 32]; /* for people */
	char proxy[RT_URL_HOST_MAX + 32];  /* the same of the proxy on the way; "": there is none */
	char words[CURL_ERROR_SIZE];
} transfer;

static int64_t
now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static bool
is_stopped(rt_stop_fn stop, void *ctx)
{
	return stop != NULL && stop(ctx);
}

static unsigned
or_usual(unsigned said, unsigned usual)
{
	return said != 0 ? said : usual;
}

/* For people. */
static unsigned
seconds(unsigned ms)
{
	return ms / 1000 + (ms % 1000 != 0);
}

/* ---- what libcurl calls ---- */

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

static unsigned
port_of(const struct sockaddr *address)
{
	if (address->sa_family == AF_INET)
		return ntohs(((const struct sockaddr_in *)(const void *)address)->sin_port);
	if (address->sa_family == AF_INET6)
		return ntohs(((const struct sockaddr_in6 *)(const void *)address)->sin6_port);
	return 0;
}

static curl_socket_t
open_socket(void *ctx, curlsocktype purpose, struct curl_sockaddr *address)
{
	transfer *t = ctx;

	if (purpose == CURLSOCKTYPE_IPCXN && is_forbidden(&address->addr)) {
		t->forbidden = true;
		return CURL_SOCKET_BAD;
	}
	t->port = port_of(&address->addr);
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
take_header(char *bytes, size_t one, size_t size, void *ctx)
{
	static const rt_str type = RT_STR_INIT("content-type:");
	transfer *t = ctx;
	rt_str line = rt_str_at(bytes, one * size);

	t->last_ms = now_ms();
	t->header_bytes += line.size;
	if (t->header_bytes > RT_HTTP_HEADERS_MAX) {
		t->status = RT_LIMIT;
		return 0;
	}
	if (rt_str_starts(line, RT_STR("HTTP/"))) { /* another answer, after a "100 Continue" */
		t->answer->is_stream = false;
		t->answer->is_json = false;
	} else if (line.size > type.size &&
		   rt_str_eq_nocase(rt_str_at(line.ptr, type.size), type)) {
		read_content_type(t->answer, rt_str_at(line.ptr + type.size, line.size - type.size));
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

static size_t
take_body(char *bytes, size_t one, size_t size, void *ctx)
{
	transfer *t = ctx;
	uint64_t most = t->request->answer_max;

	t->last_ms = now_ms();
	size *= one;
	if (t->answer->status == 0)
		read_status(t);
	t->body_bytes += size;
	if (t->body_bytes > (most != 0 ? most : RT_HTTP_ANSWER_MAX)) {
		t->status = RT_LIMIT;
		return 0;
	}
	if (t->fn != NULL && size > 0)
		t->status = t->fn(t->fn_ctx, t->answer, rt_str_at(bytes, size));
	return t->status == RT_OK ? size : 0;
}

/* ---- proxies ---- */

static const char *
variable(const char *name)
{
	const char *value = getenv(name);

	return value == NULL || value[0] == '\0' ? NULL : value;
}

/* What libcurl looks at; NULL: no proxy is named for this scheme. */
static const char *
proxy_variable(bool is_tls)
{
	const char *value = variable(is_tls ? "https_proxy" : "http_proxy");

	if (value == NULL && is_tls)
		value = variable("HTTPS_PROXY");
	if (value == NULL)
		value = variable("all_proxy");
	return value != NULL ? value : variable("ALL_PROXY");
}

/* HOST:PORT in "scheme://user:password@HOST:PORT/". */
static rt_str
proxy_place(rt_str value)
{
	size_t at = rt_str_find(value, RT_STR("://"), 0), i;

	if (at != SIZE_MAX)
		value = rt_str_at(value.ptr + at + 3, value.size - at - 3);
	for (i = value.size; i-- > 0;)
		if (value.ptr[i] == '@') {
			value = rt_str_at(value.ptr + i + 1, value.size - i - 1);
			break;
		}
	for (i = 0; i < value.size; i++)
		if ((unsigned char)value.ptr[i] <= ' ' || value.ptr[i] >= 0x7F ||
		    strchr("/?#", value.ptr[i]) != NULL)
			value.size = i;
	return value;
}

/* The number behind the last colon; 0: there is none. */
static unsigned
place_port(rt_str place)
{
	unsigned port = 0, tens = 1;
	size_t i = place.size;

	for (; i > 0 && place.ptr[i - 1] >= '0' && place.ptr[i - 1] <= '9' && tens <= 10000; tens *= 10)
		port += (unsigned)(place.ptr[--i] - '0') * tens;
	return i > 0 && place.ptr[i - 1] == ':' ? port : 0;
}

/* Which proxy the connection went to, without its user: libcurl does not say before version
 * 8.7. It did where the port is the proxy's; where that is the server's too, nobody may be
 * named who needs none. */
static void
find_proxy(transfer *t)
{
	const char *value;
	unsigned port;
	rt_str place;
	rt_url url;

	if (rt_url_read(t->request->url, &url, NULL) != RT_OK || rt_url_is_loopback(&url))
		return;
	value = proxy_variable(url.is_tls);
	if (value == NULL || t->port == 0)
		return;
	place = proxy_place(rt_str_of(value));
	port = place_port(place);
	if (port == 0)
		port = rt_str_starts(rt_str_of(value), RT_STR("https:")) ? 443 : 1080;
	if (port != t->port || place.size >= sizeof(t->proxy) || place.size == 0 ||
	    (port == url.port && (variable("no_proxy") != NULL || variable("NO_PROXY") != NULL)))
		return;
	memcpy(t->proxy, place.ptr, place.size);
	t->proxy[place.size] = '\0';
}

/* A proxy that does not lead on. */
static rt_status
fail_proxy(transfer *t, long code, rt_error *err)
{
	const char *blank = t->proxy[0] == '\0' ? "" : " ";

	t->answer->is_transient = code == 502 || code == 503 || code == 504;
	if (code == 407)
		return rt_fail(err, RT_UPSTREAM, "the proxy%s%s on the way to %s wants a user and a "
			       "password (407), which stand in the variable that names it: "
			       "http://USER:PASSWORD@HOST:PORT", blank, t->proxy, t->origin);
	return rt_fail(err, RT_UPSTREAM, "the proxy%s%s does not lead to %s: it answers with %ld",
		       blank, t->proxy, t->origin, code);
}

/* ---- what goes wrong ---- */

/* Is the way to the server open, so that bytes of the request may have got there? */
static bool
is_connected(const transfer *t)
{
	curl_off_t connected = 0;

	(void)t->lib->easy_getinfo(t->easy, CURLINFO_PRETRANSFER_TIME_T, &connected);
	return connected > 0;
}

static bool
is_tls_trouble(CURLcode code)
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
	long number = 0;
	char room[128];

	if (t->forbidden)
		return rt_fail(err, RT_REFUSED, "%s is at a link-local address, and no request is "
			       "sent there", t->origin);
	(void)t->lib->easy_getinfo(t->easy, CURLINFO_OS_ERRNO, &number);
	t->answer->is_transient = number == ECONNREFUSED || number == ECONNRESET;
	if (t->proxy[0] != '\0')
		return rt_fail(err, RT_UPSTREAM, "cannot connect to the proxy %s on the way to %s: %s",
			       t->proxy, t->origin,
			       number == ECONNREFUSED ? "nothing answers there (connection refused)"
			       : number == 0 ? "no address of it answers"
					     : strerror_r((int)number, room, sizeof(room)));
	if (number == ECONNREFUSED)
		return rt_fail(err, RT_UPSTREAM, "nothing answers at %s (connection refused)",
			       t->origin);
	return rt_fail(err, RT_UPSTREAM, "cannot connect to %s: %s", t->origin,
		       number == 0 ? "no address of it answers"
				   : strerror_r((int)number, room, sizeof(room)));
}

/* Words for a code; an answer that had begun is cut, whatever the code. */
static rt_status
fail_curl(transfer *t, CURLcode code, rt_error *err)
{
	long connect_code = 0;

	find_proxy(t);
	(void)t->lib->easy_getinfo(t->easy, CURLINFO_HTTP_CONNECTCODE, &connect_code);
	if (connect_code >= 300)
		return fail_proxy(t, connect_code, err);
	/* A line that is too long for libcurl looks the same. */
	if (code == CURLE_OUT_OF_MEMORY && is_connected(t) && t->body_bytes == 0)
		return rt_fail(err, RT_LIMIT, "%s sends a header that is too long (or there is no "
			       "memory for its answer)", t->origin);
	if (code == CURLE_OUT_OF_MEMORY)
		return rt_fail(err, RT_NOMEM, "out of memory while talking to %s", t->origin);
	if (is_tls_trouble(code))
		return rt_fail(err, RT_UPSTREAM, "no safe connection to %s: %s", t->origin,
			       t->words[0] != '\0' ? t->words : t->lib->easy_strerror(code));
	switch (code) {
	case CURLE_COULDNT_RESOLVE_HOST:
		return rt_fail(err, RT_UPSTREAM, "no address is known for %s: is the name right, "
			       "is there a network?", t->origin);
	case CURLE_COULDNT_RESOLVE_PROXY:
		return rt_fail(err, RT_UPSTREAM, "no address is known for the proxy on the way to %s",
			       t->origin);
	case CURLE_COULDNT_CONNECT: return fail_connect(t, err);
	case CURLE_OPERATION_TIMEDOUT:
		return rt_fail(err, RT_UPSTREAM, "%s could not be reached within %u s%s%s", t->origin,
			       seconds(or_usual(t->request->connect_ms, RT_HTTP_CONNECT_MS)),
			       t->proxy[0] != '\0' ? " by the proxy " : "", t->proxy);
	case CURLE_BAD_CONTENT_ENCODING:
		return rt_fail(err, RT_UPSTREAM, "%s sent an answer whose compression is broken",
			       t->origin);
	case CURLE_WEIRD_SERVER_REPLY:
	case CURLE_UNSUPPORTED_PROTOCOL:
		return rt_fail(err, RT_UPSTREAM, "%s does not speak HTTP", t->origin);
	case CURLE_URL_MALFORMAT:
		return rt_fail(err, RT_REFUSED, "%s: not a url that a request can go to", t->origin);
	default: break;
	}
	if (t->header_bytes > 0)
		return rt_fail(err, RT_UPSTREAM, "the connection to %s ended in the middle of the "
			       "answer", t->origin);
	t->answer->is_transient = code == CURLE_GOT_NOTHING || code == CURLE_RECV_ERROR ||
				  code == CURLE_SEND_ERROR;
	if (t->proxy[0] != '\0')
		return rt_fail(err, RT_UPSTREAM, "the proxy %s on the way to %s closed the connection "
			       "without an answer", t->proxy, t->origin);
	return rt_fail(err, RT_UPSTREAM, "%s closed the connection without an answer", t->origin);
}

static rt_status
fail_result(transfer *t, CURLcode code, rt_error *err)
{
	uint64_t most = t->request->answer_max;

	if (t->status == RT_LIMIT && t->header_bytes > RT_HTTP_HEADERS_MAX)
		return rt_fail(err, RT_LIMIT, "%s sends more than %d KiB of headers", t->origin,
			       (int)(RT_HTTP_HEADERS_MAX >> 10));
	if (most == 0)
		most = RT_HTTP_ANSWER_MAX;
	if (t->status == RT_LIMIT && t->body_bytes > most)
		return rt_fail(err, RT_LIMIT, "the answer of %s is larger than %llu bytes", t->origin,
			       (unsigned long long)most);
	if (t->status != RT_OK)
		return t->status; /* the callback's */
	return fail_curl(t, code, err);
}

/* ---- the request ---- */

static bool
is_one_line(rt_str s)
{
	size_t i;

	for (i = 0; i < s.size; i++)
		if (s.ptr[i] == '\r' || s.ptr[i] == '\n' || s.ptr[i] == '\0')
			return false;
	return true;
}

static bool
add_line(const rt_curl *lib, struct curl_slist **list, rt_buf *line)
{
	struct curl_slist *more;

	if (line->status != RT_OK)
		return false;
	more = lib->slist_append(*list, line->ptr);
	if (more == NULL)
		return false;
	*list = more;
	return true;
}

static rt_status
make_headers(const curl_transport *c, const transfer *t, struct curl_slist **out, rt_error *err)
{
	const rt_http_request *request = t->request;
	rt_status st = RT_OK;
	rt_buf line;
	size_t i;

	rt_buf_init(&line, c->alloc, RT_BUF_UNLIMITED);
	rt_buf_add_c(&line, "Expect:"); /* none: no round trip before a long body */
	if (!add_line(t->lib, out, &line))
		st = RT_NOMEM;
	for (i = 0; i < request->header_count && st == RT_OK; i++) {
		const rt_header *header = &request->headers[i];

		if (header->name.size == 0 || !is_one_line(header->name) ||
		    !is_one_line(header->value) ||
		    rt_str_find(header->name, RT_STR(":"), 0) != SIZE_MAX) {
			st = rt_fail(err, RT_REFUSED, "a header has no name, or a line end in it");
			break;
		}
		rt_buf_clear(&line);
		rt_buf_add_str(&line, header->name);
		rt_buf_add_c(&line, header->value.size == 0 ? ";" : ": ");
		rt_buf_add_str(&line, header->value);
		if (!add_line(t->lib, out, &line))
			st = RT_NOMEM;
	}
	rt_buf_deinit(&line);
	return st;
}

#define SET(option, value) ok = ok && lib->easy_setopt(easy, option, value) == CURLE_OK

static bool
set_limits(const rt_curl *lib, CURL *easy, const rt_url *url, const rt_http_request *request)
{
	bool ok = true;

	SET(CURLOPT_NOSIGNAL, 1L);
	SET(CURLOPT_PROTOCOLS_STR, "http,https");
	SET(CURLOPT_FOLLOWLOCATION, 0L);
	SET(CURLOPT_DISALLOW_USERNAME_IN_URL, 1L);
	SET(CURLOPT_PATH_AS_IS, 1L);
	SET(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
	SET(CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
	SET(CURLOPT_CONNECTTIMEOUT_MS, (long)or_usual(request->connect_ms, RT_HTTP_CONNECT_MS));
	SET(CURLOPT_ACCEPT_ENCODING, "");
	SET(CURLOPT_TCP_KEEPALIVE, 1L);
	SET(CURLOPT_USERAGENT, "retake/" RT_VERSION);
	SET(CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_2TLS);
	SET(CURLOPT_QUICK_EXIT, 1L); /* a slow name server does not hold up a stop */
	if (rt_url_is_loopback(url))
		SET(CURLOPT_NOPROXY, "*");
	return ok;
}

static bool
set_request(transfer *t, const curl_transport *c, const char *url, struct curl_slist *headers)
{
	const rt_http_request *request = t->request;
	const rt_curl *lib = t->lib;
	CURL *easy = t->easy;
	bool ok = true;

	SET(CURLOPT_URL, url);
	SET(CURLOPT_HTTPHEADER, headers);
	SET(CURLOPT_ERRORBUFFER, t->words);
	SET(CURLOPT_HEADERFUNCTION, take_header);
	SET(CURLOPT_HEADERDATA, t);
	SET(CURLOPT_WRITEFUNCTION, take_body);
	SET(CURLOPT_WRITEDATA, t);
	SET(CURLOPT_OPENSOCKETFUNCTION, open_socket);
	SET(CURLOPT_OPENSOCKETDATA, t);
	if (c->ca_file != NULL)
		SET(CURLOPT_CAINFO, c->ca_file);
	if (strcmp(request->method, "GET") == 0) {
		SET(CURLOPT_HTTPGET, 1L);
	} else {
		SET(CURLOPT_POST, 1L);
		SET(CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)request->body.size);
		SET(CURLOPT_POSTFIELDS, request->body.size > 0 ? request->body.ptr : "");
		SET(CURLOPT_CUSTOMREQUEST, request->method);
	}
	return ok;
}

/* ---- driving it ---- */

static rt_status
check_clocks(transfer *t, rt_error *err)
{
	const rt_http_request *request = t->request;
	unsigned total = or_usual(request->total_ms, RT_HTTP_TOTAL_MS);
	unsigned first = or_usual(request->first_byte_ms, RT_HTTP_FIRST_BYTE_MS);
	unsigned idle = or_usual(request->idle_ms, RT_HTTP_IDLE_MS);
	int64_t now = now_ms();
	curl_off_t uploaded = 0;

	(void)t->lib->easy_getinfo(t->easy, CURLINFO_SIZE_UPLOAD_T, &uploaded);
	if (!t->answer->sent && is_connected(t)) {
		t->answer->sent = true;
		t->last_ms = now;
	}
	if (uploaded != t->uploaded) {
		t->uploaded = uploaded;
		t->last_ms = now;
	}
	if (now - t->begun_ms > total)
		return rt_fail(err, RT_UPSTREAM, "%s has not come to an end within %u s", t->origin,
			       seconds(total));
	if (!t->answer->sent)
		return RT_OK; /* libcurl looks at the clock itself while it connects */
	if (t->header_bytes == 0 && now - t->last_ms > first)
		return rt_fail(err, RT_UPSTREAM, "%s has not answered within %u s", t->origin,
			       seconds(first));
	if (t->header_bytes > 0 && now - t->last_ms > idle)
		return rt_fail(err, RT_UPSTREAM, "%s has sent nothing for %u s in the middle of its "
			       "answer", t->origin, seconds(idle));
	return RT_OK;
}

static void
tick(transfer *t)
{
	int64_t now = now_ms();

	if (t->request->tick == NULL || now - t->tick_ms < TICK_MS)
		return;
	t->tick_ms = now;
	t->request->tick(t->request->ctx);
}

static rt_status
drive(transfer *t, CURLM *multi, rt_error *err)
{
	rt_status st = RT_OK;
	CURLMsg *message;
	int running = 1, left;

	while (st == RT_OK && running > 0) {
		if (is_stopped(t->request->stop, t->request->ctx))
			return rt_fail(err, RT_INTERRUPTED, "stopped");
		if (t->lib->multi_perform(multi, &running) != CURLM_OK)
			return rt_fail(err, RT_NOMEM, "out of memory while talking to %s", t->origin);
		if (running == 0)
			break;
		tick(t);
		st = check_clocks(t, err);
		if (st == RT_OK)
			(void)t->lib->multi_poll(multi, NULL, 0, RT_HTTP_STOP_MS, NULL);
	}
	while (st == RT_OK && (message = t->lib->multi_info_read(multi, &left)) != NULL) {
		if (message->msg != CURLMSG_DONE || message->easy_handle != t->easy)
			continue;
		if (message->data.result != CURLE_OK || t->status != RT_OK)
			st = fail_result(t, message->data.result, err);
	}
	return st;
}

static void
read_location(transfer *t, const rt_alloc *alloc)
{
	const char *where = NULL;
	rt_url url;
	rt_buf words;

	(void)t->lib->easy_getinfo(t->easy, CURLINFO_REDIRECT_URL, &where);
	if (where == NULL || rt_url_read(rt_str_of(where), &url, NULL) != RT_OK)
		return;
	rt_buf_init(&words, alloc, sizeof(t->answer->location) - 1);
	rt_url_add_origin(&words, &url);
	if (words.status == RT_OK)
		memcpy(t->answer->location, words.ptr, words.size + 1);
	rt_buf_deinit(&words);
}

static CURLM *
take_multi(curl_transport *c, const rt_curl *lib)
{
	CURLM *multi;

	pthread_mutex_lock(&c->lock);
	multi = c->spare;
	c->spare = NULL;
	pthread_mutex_unlock(&c->lock);
	return multi != NULL ? multi : lib->multi_init();
}

static void
give_multi(curl_transport *c, const rt_curl *lib, CURLM *multi)
{
	CURLM *old;

	pthread_mutex_lock(&c->lock);
	old = c->spare;
	c->spare = multi;
	c->lib = lib;
	pthread_mutex_unlock(&c->lock);
	if (old != NULL)
		(void)lib->multi_cleanup(old);
}

/* A server that goes away while TLS writes raises SIGPIPE, which nobody here wants. */
static bool
hold_pipe(sigset_t *old)
{
	sigset_t set, pending;

	sigemptyset(&set);
	sigaddset(&set, SIGPIPE);
	sigpending(&pending);
	pthread_sigmask(SIG_BLOCK, &set, old);
	return sigismember(&pending, SIGPIPE) == 1;
}

static void
release_pipe(const sigset_t *old, bool was_pending)
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

static rt_status
run(curl_transport *c, transfer *t, const rt_url *url, const char *url_text, rt_error *err)
{
	const rt_curl *lib = t->lib;
	struct curl_slist *headers = NULL;
	CURLM *multi = NULL;
	bool was_pending, added = false;
	sigset_t old;
	rt_status st;

	was_pending = hold_pipe(&old);
	t->easy = lib->easy_init();
	multi = take_multi(c, lib);
	st = t->easy == NULL || multi == NULL ? RT_NOMEM
					      : make_headers(c, t, &headers, err);
	if (st == RT_OK && (!set_limits(lib, t->easy, url, t->request) ||
			    !set_request(t, c, url_text, headers) ||
			    lib->multi_add_handle(multi, t->easy) != CURLM_OK))
		st = RT_NOMEM;
	else if (st == RT_OK)
		added = true;
	if (st == RT_NOMEM)
		(void)rt_fail(err, st, "out of memory while talking to %s", t->origin);
	if (st == RT_OK) {
		st = drive(t, multi, err);
		read_status(t);
		read_location(t, c->alloc);
		t->answer->sent = t->answer->sent || is_connected(t);
	}
	if (added)
		(void)lib->multi_remove_handle(multi, t->easy);
	if (t->easy != NULL)
		lib->easy_cleanup(t->easy);
	lib->slist_free_all(headers);
	if (multi != NULL)
		give_multi(c, lib, multi);
	release_pipe(&old, was_pending);
	return st;
}

static void *
load(void *unused)
{
	const rt_curl *lib;

	(void)unused;
	(void)(rt_curl_load(&lib, NULL) == RT_OK); /* who needs it asks again, and is told */
	return NULL;
}

/* Signals are for the threads of those who use this. */
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
	rt_buf text, origin;
	rt_url url;
	rt_status st;

	memset(answer, 0, sizeof(*answer));
	st = rt_url_read(request->url, &url, err);
	if (st != RT_OK)
		return RT_REFUSED;
	st = end_loading(c, &t.lib, err);
	if (st != RT_OK)
		return st;
	t.begun_ms = t.last_ms = t.tick_ms = now_ms();
	rt_buf_init(&text, c->alloc, RT_URL_MAX + 1);
	rt_buf_init(&origin, c->alloc, sizeof(t.origin) - 1);
	rt_buf_add_str(&text, request->url);
	rt_url_add_origin(&origin, &url);
	if (text.status != RT_OK || origin.status != RT_OK) {
		st = rt_fail(err, RT_NOMEM, "out of memory before a request");
	} else {
		memcpy(t.origin, origin.ptr, origin.size + 1);
		st = run(c, &t, &url, text.ptr, err);
	}
	rt_buf_deinit(&text);
	rt_buf_deinit(&origin);
	return st;
}

static rt_status
curl_wait(rt_transport *transport, unsigned wait_ms, rt_stop_fn stop, void (*tick_fn)(void *ctx),
	  void *ctx)
{
	int64_t end = now_ms() + wait_ms, left;

	(void)transport;
	for (;;) {
		if (is_stopped(stop, ctx))
			return RT_INTERRUPTED;
		if (tick_fn != NULL)
			tick_fn(ctx);
		left = end - now_ms();
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
	was_pending = hold_pipe(&old); /* TLS says good-bye */
	if (c->spare != NULL)
		(void)c->lib->multi_cleanup(c->spare);
	release_pipe(&old, was_pending);
	pthread_mutex_destroy(&c->lock);
	rt_free(c->alloc, c->ca_file);
	rt_free(c->alloc, c);
}

rt_status
rt_transport_curl_open(const rt_transport_curl_options *options, rt_transport **out,
		       rt_error *err)
{
	static const rt_transport_ops ops = {curl_close, curl_send, curl_wait};
	const rt_alloc *alloc = options != NULL && options->alloc != NULL ? options->alloc
									 : rt_alloc_libc();
	rt_str ca = options != NULL ? options->ca_file : rt_str_at(NULL, 0);
	curl_transport *c;

	c = rt_new0(alloc, sizeof(*c));
	if (c != NULL && ca.size > 0) {
		c->ca_file = rt_new(alloc, ca.size + 1);
		if (c->ca_file == NULL) {
			rt_free(alloc, c);
			c = NULL;
		} else {
			memcpy(c->ca_file, ca.ptr, ca.size);
			c->ca_file[ca.size] = '\0';
		}
	}
	if (c == NULL)
		return rt_fail(err, RT_NOMEM, "out of memory");
	c->base.ops = &ops;
	c->alloc = alloc;
	(void)pthread_mutex_init(&c->lock, NULL);
	start_loading(c);
	*out = &c->base;
	return RT_OK;
}
