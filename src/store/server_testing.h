/* SPDX-License-Identifier: MIT
 *
 * A PostgreSQL server of the test program: it is started when the first test needs it, keeps its
 * data in a temporary folder without syncing, and ends with the program. Programs run in the root
 * of the source tree. RETAKE_TEST_POOLER: the folder of a running server, which is used through its
 * pooler (server.sh pool). */
#ifndef RT_STORE_SERVER_TESTING_H
#define RT_STORE_SERVER_TESTING_H

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "log/folder_testing.h"
#include "store/store_postgres.h"

#define TEST_SERVER "tests/postgresql/server.sh"

typedef struct test_server {
	char folder[64];
	pid_t process;
	pid_t owner;   /* the process that started it */
	int state;     /* 0: not started, 1: running, 2: there is none */
	char made[64]; /* the database that was made last */
} test_server;

static inline test_server *
test_server_get(void)
{
	static test_server server;

	return &server;
}

static inline const char *
test_server_pooled(void)
{
	return getenv("RETAKE_TEST_POOLER");
}

static inline void
test_server_stop(void)
{
	test_server *s = test_server_get();

	if (s->state != 1 || s->owner != getpid())
		return;
	(void)kill(s->process, SIGQUIT);
	(void)waitpid(s->process, NULL, 0);
	(void)test_folder_remove(s->folder);
	s->state = 2;
}

/* Runs a program; true: it succeeded. */
static inline bool
test_server_command(const char *const *command)
{
	int state = -1;
	pid_t process = fork();

	if (process == 0) {
		(void)execvp(command[0], (char *const *)(uintptr_t)command);
		_exit(127);
	}
	return process > 0 && waitpid(process, &state, 0) == process && state == 0;
}

/* Starts the server process and waits until it has a socket. */
static inline bool
test_server_run(test_server *s)
{
	char socket[96];

	s->process = fork();
	if (s->process == 0) {
		(void)execl(TEST_SERVER, TEST_SERVER, "run", s->folder, "-c", "fsync=off",
			    (char *)NULL);
		_exit(127);
	}
	(void)snprintf(socket, sizeof(socket), "%s/.s.PGSQL.5432", s->folder);
	for (int i = 0; i < 1000 && access(socket, F_OK) != 0; i++)
		(void)usleep(20000);
	return s->process > 0 && access(socket, F_OK) == 0;
}

/* The folder of its socket; NULL: PostgreSQL is not installed, which is reported. */
static inline const char *
test_server_folder(void)
{
	test_server *s = test_server_get();
	const char *pooled = test_server_pooled();

	if (s->state == 0 && pooled != NULL) {
		(void)snprintf(s->folder, sizeof(s->folder), "%s", pooled);
		s->state = 1;
	}
	if (s->state == 0) {
		s->state = 2;
		s->owner = getpid();
		if (!test_folder(s->folder, sizeof(s->folder), "retake-pg"))
			return NULL;
		if (!test_server_command((const char *[]){TEST_SERVER, "make", s->folder, NULL})) {
			(void)test_folder_remove(s->folder);
			return NULL;
		}
		s->state = test_server_run(s) ? 1 : 2;
		(void)atexit(test_server_stop);
	}
	return s->state == 1 ? s->folder : NULL;
}

/* Runs SQL in a database. */
static inline bool
test_server_sql(const char *database, const char *sql)
{
	return test_server_command((const char *[]){
		"psql", "-q", "-X", "-A", "-t", "-o", "/dev/null", "-v", "ON_ERROR_STOP=1", "-h",
		test_server_folder(), "-U", "retake", "-d", database, "-c", sql, NULL});
}

/* The address of a database with the name of a test's folder, which is created the first time. */
static inline bool
test_server_address(const char *folder, char *address, size_t size)
{
	const char *name = strrchr(folder, '/') + 1, *server = test_server_folder();
	char sql[200];

	if (server == NULL)
		return false;
	if (strcmp(test_server_get()->made, name) != 0) {
		(void)snprintf(sql, sizeof(sql), "CREATE DATABASE \"%s\"", name);
		if (!test_server_sql("postgres", sql))
			return false;
		(void)snprintf(test_server_get()->made, sizeof(test_server_get()->made), "%s",
			       name);
	}
	(void)snprintf(address, size, "postgresql://retake@/%s?host=%s%s", name, server,
		       test_server_pooled() != NULL ? "&port=6432" : "");
	return true;
}

#endif
