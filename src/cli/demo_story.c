/* SPDX-License-Identifier: MIT
 *
 * A story that forks, as operations: fourteen entries, three takes. */
#include "cli/demo.h"

#define OP(name) "{\"op\":\"" name "\","
#define ADD(role, text) OP("entry.append") "\"role\":\"" role "\",\"content\":\"" text "\"},"

/* clang-format off */
const char rt_cli_demo_story[] = "["
	OP("discussion.new") "\"name\":\"lighthouse\"},"
	OP("discussion.delete") "\"discussion\":\"main\"},"
	ADD("System", "You write a story together with the user. Two sentences a turn, no more.")
	ADD("User", "A lighthouse keeper, one stormy night. Begin.")
	ADD("AI", "In thirty years at Skerry Point nobody had ever knocked at Mara's door. Tonight, at "
		  "ten past three, somebody knocked.")
	OP("label.set") "\"entry\":\"@\",\"label\":\"the-knock\"},"
	ADD("User", "Who is it?")
	ADD("AI", "A boy of nine, dry as paper in the pouring rain. He held out a logbook, and the "
		  "handwriting in it was hers.")
	ADD("User", "What does the logbook say?")
	ADD("AI", "It was tomorrow's page. *Light failed at 3:12*, it said, *and the Halcyon went onto "
		  "the rocks.*")
	ADD("User", "It is 3:11. What does she do?")
	ADD("AI", "She ran for the stairs, all hundred and forty of them. Behind her the boy began, very "
		  "quietly, to count.")

	/* The same knock, another story. */
	OP("take.branch") "\"at\":\"the-knock\",\"name\":\"rescue\"},"
	ADD("User", "No ghosts, please. Make it a rescue.")
	ADD("AI", "Nine sailors stood there, streaming wet. \\\"Your light went out an hour ago,\\\" said "
		  "the captain of the Halcyon, \\\"so we came to see whether you were all right.\\\"")
	ADD("User", "And is she?")

	/* And the boy with the logbook, told for laughs. */
	OP("take.switch") "\"take\":\"lighthouse\"},"
	OP("take.branch") "\"at\":\":5\",\"name\":\"comedy\"},"
	ADD("User", "Make it funny from here on.")
	ADD("AI", "\\\"You have been writing in the wrong column since 1994,\\\" said the boy. \\\"They "
		  "sent me as soon as I could spell.\\\"")

	OP("take.switch") "\"take\":\"lighthouse\"}"
	"]";
/* clang-format on */
