/* SPDX-License-Identifier: MIT
 *
 * libpq, the client library of PostgreSQL, loaded when a store on a server is opened: most commands
 * never need it. The functions have libpq's own types and documentation.
 *
 * Threads: any. */
#ifndef RT_STORE_PQ_LOAD_H
#define RT_STORE_PQ_LOAD_H

#include <libpq-fe.h>

#include "base/status.h"

#define RT_PQ_FUNCTIONS(X) \
	X(isthreadsafe) \
	X(conninfoParse) \
	X(conninfoFree) \
	X(freemem) \
	X(connectStartParams) \
	X(connectPoll) \
	X(finish) \
	X(status) \
	X(socket) \
	X(errorMessage) \
	X(connectionNeedsPassword) \
	X(serverVersion) \
	X(parameterStatus) \
	X(transactionStatus) \
	X(backendPID) \
	X(getCancel) \
	X(cancel) \
	X(freeCancel) \
	X(setnonblocking) \
	X(flush) \
	X(consumeInput) \
	X(isBusy) \
	X(getResult) \
	X(enterPipelineMode) \
	X(exitPipelineMode) \
	X(pipelineSync) \
	X(sendQuery) \
	X(sendQueryParams) \
	X(sendPrepare) \
	X(sendQueryPrepared) \
	X(resultStatus) \
	X(resultErrorField) \
	X(clear) \
	X(ntuples) \
	X(getisnull) \
	X(getlength) \
	X(getvalue) \
	X(setNoticeReceiver)

typedef struct rt_pq {
#define RT_PQ_MEMBER(name) __typeof__(&PQ##name) name;
	RT_PQ_FUNCTIONS(RT_PQ_MEMBER)
#undef RT_PQ_MEMBER
} rt_pq;

/* Loads it the first time; it stays until the program ends. RT_IO: it is not installed or lacks a
 * function; later calls return the same. */
RT_CHECKED rt_status rt_pq_load(const rt_pq **out, rt_error *err);

#endif
