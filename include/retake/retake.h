/* SPDX-License-Identifier: MIT
 *
 * libretake: conversations with language models as an editable, undoable value.
 *
 *   retake_store *store;        one file, or memory
 *   retake_project *project;    discussions and settings
 *   retake_apply(project, …)    operations as JSON in, results as JSON out
 *   retake_show(project, …)     and the other views: the current state, or that after any step
 *
 * Common rules are in retake/api.h, an example in docs/library.md. */
#ifndef RETAKE_RETAKE_H
#define RETAKE_RETAKE_H

#include "retake/apply.h"
#include "retake/error.h"
#include "retake/exchange.h"
#include "retake/look.h"
#include "retake/project.h"
#include "retake/store.h"
#include "retake/text.h"
#include "retake/version.h"

#endif
