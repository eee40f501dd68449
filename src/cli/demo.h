/* SPDX-License-Identifier: MIT
 *
 * Demo: the conversation that comes with Retake. */
#ifndef RT_CLI_DEMO_H
#define RT_CLI_DEMO_H

/* Operations that make it, as an array: the discussion "lighthouse" with three takes. */
extern const char rt_cli_demo_story[];

#endif
