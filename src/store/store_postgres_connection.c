/* SPDX-License-Identifier: MIT
 *
 * Connections of the PostgreSQL store: the address, connecting within a time limit, and the pool. */
#define _POSIX_C_SOURCE 200809L
#include "store/store_postgres_impl.h"

#include <poll.h>
#include <stdio.h> /* snprintf */
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* --- the address --- */

static const char *
option(const PQconninfoOption *options, const char *name)
{
	for (; options->keyword != NULL; options++)
		if (strcmp(options->keyword, name) == 0 && options->val != NULL)
			return options->val;
	return NULL;
}

/* Credentials end as in libpq: at the first "@" before any "/". If there are more of either, a
 * password was written without %XX: only the part after the last "@" is shown. */
void
rt_pg_add_place(rt_buf *out, const char *address)
{
	rt_str rest = rt_str_of(address), host, user = {NULL, 0}, one;
	size_t from = rt_str_find(rest, RT_STR("//"), 0), at, slash;
	bool is_first = true;

	rest = rt_str_skip(rest, from == SIZE_MAX ? rest.size : from + 2);
	at = rt_str_find(rest, RT_STR("@"), 0);
	slash = rt_str_find(rest, RT_STR("/"), 0);
	if (at != SIZE_MAX && at < slash) {
		one = rt_str_at(rest.ptr, at);
		(void)rt_str_split(&one, ':', &user); /* without the password */
	}
	while ((at = rt_str_find(rest, RT_STR("@"), 0)) != SIZE_MAX)
		rest = rt_str_skip(rest, at + 1);
	rt_buf_add_c(out, "postgresql://");
	if (user.size > 0)
		rt_buf_add_f(out, "%.*s@", RT_STR_ARG(user));
	host = rt_str_at(NULL, 0);
	(void)rt_str_split(&rest, '?', &host);
	rt_buf_add_str(out, host);
	while (rt_str_split(&rest, '&', &one)) {
		if (!rt_str_starts(one, RT_STR("host=")) && !rt_str_starts(one, RT_STR("port=")) &&
		    !rt_str_starts(one, RT_STR("dbname=")) && !rt_str_starts(one, RT_STR("user=")))
			continue;
		rt_buf_add_byte(out, is_first ? '?' : '&');
		rt_buf_add_str(out, one);
		is_first = false;
	}
}

/* Was part of an unescaped password parsed as the host or the port? Messages would repeat it. */
static bool
is_misparsed(const PQconninfoOption *options)
{
	const char *host = option(options, "host"), *port = option(options, "port");

	return (host != NULL && strchr(host, '@') != NULL) ||
	       (port != NULL && port[strspn(port, "0123456789,")] != 0);
}

rt_status
rt_pg_parse(rt_pg_store *s, rt_error *err)
{
	char *why = NULL;
	PQconninfoOption *options = s->pq->conninfoParse(s->address, &why);
	const char *timeout;
	rt_status st = RT_OK;
	rt_buf place;

	if (options == NULL || is_misparsed(options)) {
		/* The message of libpq may quote the password. */
		s->pq->freemem(why);
		if (options != NULL)
			s->pq->conninfoFree(options);
		return rt_fail(err, RT_USAGE,
			       "the address of the store is not valid; the form is "
			       "postgresql://USER:PASSWORD@HOST:PORT/DATABASE, with special "
			       "characters as %%XX");
	}
	rt_buf_init(&place, s->alloc, 1000);
	rt_pg_add_place(&place, s->address);
	timeout = option(options, "connect_timeout");
	s->connect_ms = timeout != NULL ? atoi(timeout) * 1000 : 0;
	if (s->connect_ms <= 0)
		s->connect_ms = RT_PG_CONNECT_MS;
	s->pq->conninfoFree(options);
	s->place = place.status == RT_OK ? rt_new(s->alloc, place.size + 1) : NULL;
	if (s->place == NULL)
		st = rt_fail(err, RT_NOMEM, "out of memory");
	else
		memcpy(s->place, place.ptr, place.size + 1);
	rt_buf_deinit(&place);
	return st;
}

/* --- connecting --- */

static void
ignore_notice(void *ctx, const PGresult *result)
{
	(void)ctx;
	(void)result;
}

/* Until it is connected, has failed or the time is over. */
static PostgresPollingStatusType
poll_connection(rt_pg_store *s, PGconn *pg, int64_t until_ms)
{
	PostgresPollingStatusType state = PGRES_POLLING_WRITING;

	while (state == PGRES_POLLING_WRITING || state == PGRES_POLLING_READING) {
		struct pollfd fd = {.fd = s->pq->socket(pg),
				    .events = state == PGRES_POLLING_WRITING ? POLLOUT : POLLIN};
		int64_t left = until_ms - rt_clock_ms();

		if (left <= 0)
			return state;
		if (poll(&fd, 1, (int)left) != 0)
			state = s->pq->connectPoll(pg);
	}
	return state;
}

/* The messages of a server that refuses a connection have no code. */
static rt_status
refused(rt_pg_store *s, PGconn *pg, rt_error *err)
{
	static const char *const passing[] = {
		"the database system is",     "closed the connection", "terminating", "too many",
		"remaining connection slots",
	};
	const char *text = s->pq->errorMessage(pg);
	char line[300];
	size_t size = 0;

	for (; *text != 0 && size + 1 < sizeof(line); text++)
		if (*text != '\n')
			line[size++] = *text == '\t' ? ' ' : *text;
		else if (text[1] != 0)
			line[size++] = ' ';
	line[size] = 0;
	for (size_t i = 0; i < sizeof(passing) / sizeof(passing[0]); i++)
		if (strstr(line, passing[i]) != NULL)
			return rt_fail(err, RT_BUSY,
				       "%s is not accepting connections (%s); try again later",
				       s->place, line);
	if (strstr(line, "database \"") != NULL && strstr(line, "does not exist") != NULL)
		return rt_fail(err, RT_REFUSED,
			       "%s: the database does not exist (%s); create it: createdb "
			       "--encoding=UTF8 NAME",
			       s->place, line);
	if (s->pq->connectionNeedsPassword(pg) || strstr(line, "authentication failed") != NULL ||
	    strstr(line, "pg_hba.conf") != NULL || strstr(line, "role \"") != NULL ||
	    strstr(line, "permission denied") != NULL)
		return rt_fail(err, RT_REFUSED,
			       "%s does not accept this user or password (%s); set them in the address, or the password in ~/.pgpass or "
			       "PGPASSWORD",
			       s->place, line);
	return rt_fail(err, RT_IO, "%s cannot be reached (%s); check that the server is running",
		       s->place, line);
}

static rt_status
connect_once(rt_pg_store *s, rt_pg_conn *c, rt_error *err)
{
	/* The parameters after the address override it; those before it are defaults. */
	const char *const names[] = {"fallback_application_name", "keepalives_idle",
				     "keepalives_interval",       "keepalives_count",
				     "tcp_user_timeout",          "dbname",
				     "client_encoding",           NULL};
	const char *const values[] = {"retake", "20", "5", "4", "60000", s->address, "UTF8", NULL};
	PGconn *pg = s->pq->connectStartParams(names, values, 1);
	PostgresPollingStatusType state = PGRES_POLLING_FAILED;
	rt_status st = RT_OK;

	if (pg == NULL)
		return rt_fail(err, RT_NOMEM, "out of memory");
	if (s->pq->status(pg) != CONNECTION_BAD)
		state = poll_connection(s, pg, rt_clock_ms() + s->connect_ms);
	if (state == PGRES_POLLING_FAILED)
		st = refused(s, pg, err);
	else if (state != PGRES_POLLING_OK)
		st = rt_fail(err, RT_IO,
			     "%s did not answer within %d s; check the host and the port", s->place,
			     (s->connect_ms + 999) / 1000);
	else if (s->pq->setnonblocking(pg, 1) != 0 || s->pq->enterPipelineMode(pg) == 0)
		st = rt_fail(err, RT_NOMEM, "out of memory");
	if (st != RT_OK) {
		s->pq->finish(pg);
		return st;
	}
	(void)s->pq->setNoticeReceiver(pg, ignore_notice, NULL);
	c->pg = pg;
	return RT_OK;
}

/* --- the pool --- */

/* The begin that this thread has opened last. */
static _Thread_local struct {
	const rt_pg_store *store;
	rt_pg_conn *conn;
} own_begin;

void
rt_pg_forget_own(const rt_pg_store *s)
{
	if (own_begin.store == s)
		own_begin.store = NULL;
}

rt_pg_conn *
rt_pg_own(rt_pg_store *s)
{
	rt_pg_conn *own = NULL;

	if (own_begin.store == s)
		return own_begin.conn;
	RT_ASSERT(pthread_mutex_lock(&s->guard) == 0);
	for (int i = 0; i < RT_PG_SLOTS && s->begins > 0 && own == NULL; i++)
		if (s->conns[i].used && s->conns[i].tx.is_open &&
		    pthread_equal(s->conns[i].owner, pthread_self()))
			own = &s->conns[i];
	RT_ASSERT(pthread_mutex_unlock(&s->guard) == 0);
	return own;
}

/* A free slot, if possible with a connection or without one; NULL: none. */
static rt_pg_conn *
find_free(rt_pg_store *s, bool is_connected)
{
	rt_pg_conn *found = NULL;

	for (int i = 0; i < RT_PG_SLOTS; i++)
		if (!s->conns[i].used &&
		    (found == NULL || ((found->pg != NULL) != is_connected && (s->conns[i].pg != NULL) == is_connected)))
			found = &s->conns[i];
	return found;
}

/* With the guard. False: the time is over. */
static bool
wait_free(rt_pg_store *s, int64_t until_ms)
{
	s->waiting++;
	bool in_time = rt_wait_until(&s->guard, &s->free, until_ms);
	s->waiting--;
	return in_time;
}

static rt_status
fail_in_use(const rt_pg_store *s, rt_error *err)
{
	return rt_fail(err, RT_BUSY, "all connections to %s have been in use for %d s; try again", s->place,
		       (s->options.busy_ms + 999) / 1000);
}

rt_status
rt_pg_acquire(rt_pg_store *s, bool write, bool is_assumed, rt_pg_conn **out, rt_error *err)
{
	int64_t until_ms = rt_clock_ms() + s->options.busy_ms;
	rt_pg_conn *c = NULL;
	rt_status st = RT_OK;

	if (s->process != getpid())
		return rt_fail(err, RT_REFUSED,
			       "%s was opened by the process that this one was forked from; open "
			       "it again",
			       s->place);
	RT_ASSERT(pthread_mutex_lock(&s->guard) == 0);
	while (st == RT_OK && c == NULL) {
		c = write && s->begins >= RT_PG_BEGINS_MAX ? NULL : find_free(s, !is_assumed);
		if (c == NULL && !wait_free(s, until_ms))
			st = fail_in_use(s, err);
	}
	if (st == RT_OK) {
		c->used = true;
		c->owner = pthread_self();
		c->tx.is_open = write;
		s->begins += write;
		*out = c;
	}
	RT_ASSERT(pthread_mutex_unlock(&s->guard) == 0);
	if (st == RT_OK && write) {
		own_begin.store = s;
		own_begin.conn = c;
	}
	return st;
}

void
rt_pg_release(rt_pg_store *s, rt_pg_conn *c)
{
	if (own_begin.conn == c)
		own_begin.store = NULL;
	RT_ASSERT(pthread_mutex_lock(&s->guard) == 0);
	s->begins -= c->tx.is_open;
	c->tx.is_open = false;
	c->used = false;
	c->is_counted = c->pg != NULL;
	if (s->waiting > 0)
		RT_ASSERT(pthread_cond_broadcast(&s->free) == 0);
	RT_ASSERT(pthread_mutex_unlock(&s->guard) == 0);
}

/* With the guard: gives the slot a connection that is not in use, or the right to connect. */
static bool
admit(rt_pg_store *s, rt_pg_conn *c)
{
	int connections = 0, writers = 0;
	rt_pg_conn *idle = NULL;

	for (int i = 0; i < RT_PG_SLOTS + RT_PG_GROUPS_MAX; i++) {
		rt_pg_conn *other = &s->conns[i];

		connections += other->is_counted;
		writers += other->is_counted && other->used && other->tx.is_open;
		if (!other->used && other->pg != NULL)
			idle = other;
	}
	if (c->tx.is_open && writers >= RT_PG_WRITERS_MAX)
		return false;
	if (idle == NULL && connections >= RT_PG_CONNECTIONS_MAX)
		return false;
	if (idle != NULL) {
		c->pg = idle->pg;
		c->named = idle->named;
		c->losses = idle->losses;
		idle->pg = NULL;
		idle->named = 0;
		idle->is_counted = false;
	}
	c->is_counted = true;
	return true;
}

static rt_status
wait_admitted(rt_pg_store *s, rt_pg_conn *c, rt_error *err)
{
	int64_t until_ms = rt_clock_ms() + s->options.busy_ms;
	rt_status st = RT_OK;

	RT_ASSERT(pthread_mutex_lock(&s->guard) == 0);
	while (st == RT_OK && !c->is_counted && !admit(s, c))
		if (!wait_free(s, until_ms))
			st = fail_in_use(s, err);
	RT_ASSERT(pthread_mutex_unlock(&s->guard) == 0);
	return st;
}

/* A new connection to a server that has been started again: the others are lost, too. */
static void
check_started(rt_pg_store *s, rt_pg_conn *c)
{
	rt_pg_query q = rt_pg_control_of("SELECT (extract(epoch FROM pg_postmaster_start_time()) * 1000000)::bigint");
	rt_pg_call call = {.store = s, .conn = c};
	PGresult *rows;

	if (!rt_pg_exchange(&call, &q, 1, &rows))
		return;
	uint64_t started = rt_pg_u64(&call, rows, 0, 0);
	rt_pg_clear(&call, rows);
	RT_ASSERT(pthread_mutex_lock(&s->guard) == 0);
	s->losses += s->started != 0 && s->started != started;
	s->started = started;
	RT_ASSERT(pthread_mutex_unlock(&s->guard) == 0);
}

rt_status
rt_pg_connect(rt_pg_store *s, rt_pg_conn *c, rt_error *err)
{
	const struct timespec nap = {0, 50000000};
	int64_t until = rt_clock_ms() + s->options.busy_ms;
	rt_status st = c->pg != NULL ? RT_OK : wait_admitted(s, c, err);

	/* If one has been lost, the others probably are. */
	if (st != RT_OK || (c->pg != NULL && s->pq->status(c->pg) == CONNECTION_OK && c->losses == s->losses))
		return st;
	rt_pg_disconnect(s, c);
	for (;;) {
		st = connect_once(s, c, err);
		s->was_reached = s->was_reached || st == RT_OK;
		if (st == RT_OK)
			check_started(s, c);
		if (st == RT_OK && c->pg == NULL)
			st = rt_fail(err, RT_BUSY, "%s closed a new connection; try again", s->place);
		c->losses = s->losses;
		/* A server that was reached before is probably restarting. */
		if ((st != RT_BUSY && (st != RT_IO || !s->was_reached)) || rt_clock_ms() >= until)
			return st;
		(void)nanosleep(&nap, NULL);
	}
}
