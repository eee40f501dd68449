/* SPDX-License-Identifier: MIT
 *
 * Requests of every kind, at random, for tests of views: there are few names and places, so that
 * they often coincide; many requests are refused. */
#ifndef RT_LOG_REQUESTS_TESTING_H
#define RT_LOG_REQUESTS_TESTING_H

#include <stdio.h>

#include "log/engine_testing.h"

static inline unsigned
random_below(uint64_t *chance, unsigned n)
{
	return (unsigned)(next_random(chance) % n);
}

/* The next request; seq: number of rows in the log. */
static inline void
random_request(uint64_t *chance, char *out, size_t size, uint64_t seq)
{
	unsigned a = 1 + random_below(chance, 9), b = 1 + random_below(chance, 9);
	unsigned n = random_below(chance, 1000), past = random_below(chance, (unsigned)seq + 1);

	switch (random_below(chance, 36)) {
	case 0:
	case 1:
	case 2:
	case 3:
	case 4:
		snprintf(out, size, "{\"op\":\"entry.append\",\"content\":\"text %u\"}", n);
		break;
	case 5:
		snprintf(out, size,
			 "{\"op\":\"entry.insert\",\"before\":\":%u\",\"content\":\"text %u\"}", a, n);
		break;
	case 6:
	case 7:
		snprintf(out, size, "{\"op\":\"entry.edit\",\"entry\":\":%u\",\"content\":\"new %u\"}",
			 a, n);
		break;
	case 8:
		snprintf(out, size,
			 "{\"op\":\"entry.edit\",\"entry\":\":%u\",\"content\":\"new %u\","
			 "\"everywhere\":true}",
			 a, n);
		break;
	case 9:
		snprintf(out, size, "{\"op\":\"entry.role\",\"entry\":\":%u\",\"role\":\"R%u\"}", a, b);
		break;
	case 10:
		snprintf(out, size, "{\"op\":\"entry.delete\",\"from\":\":%u\",\"to\":\":%u\"}", a,
			 a + b % 3);
		break;
	case 11:
		snprintf(out, size, "{\"op\":\"entry.move\",\"entry\":\":%u\",\"after\":\":%u\"}", a, b);
		break;
	case 12:
		snprintf(out, size, "{\"op\":\"entry.mute\",\"entry\":\":%u\",\"muted\":%s}", a,
			 b % 2 == 0 ? "true" : "false");
		break;
	case 13:
		snprintf(out, size, "{\"op\":\"entry.view\",\"entry\":\":%u\",\"collapsed\":%s}", a,
			 b % 2 == 0 ? "true" : "false");
		break;
	case 14: snprintf(out, size, "{\"op\":\"entry.split\",\"entry\":\":%u\",\"at\":2}", a); break;
	case 15: snprintf(out, size, "{\"op\":\"entry.merge\",\"entry\":\":%u\"}", a); break;
	case 16:
	case 17: snprintf(out, size, "{\"op\":\"take.branch\",\"at\":\":%u\"}", a); break;
	case 18: snprintf(out, size, "{\"op\":\"take.switch\",\"take\":\"t%u\"}", a); break;
	case 19: snprintf(out, size, "{\"op\":\"take.delete\",\"take\":\"t%u\"}", a); break;
	case 20:
		snprintf(out, size, "{\"op\":\"take.rename\",\"take\":\"t%u\",\"name\":\"n%u\"}", a, n);
		break;
	case 21:
		snprintf(out, size, "{\"op\":\"take.promote\",\"take\":\"t%u\",\"name\":\"p%u\"}", a, n);
		break;
	case 22: snprintf(out, size, "{\"op\":\"discussion.extract\",\"entry\":\":%u\"}", a); break;
	case 23: snprintf(out, size, "{\"op\":\"discussion.new\",\"name\":\"d%u\"}", n); break;
	case 24:
		snprintf(out, size, "{\"op\":\"discussion.switch\",\"discussion\":\"d%u\"}", a);
		break;
	case 25:
		snprintf(out, size, "{\"op\":\"discussion.delete\",\"discussion\":\"d%u\"}", a);
		break;
	case 26:
		snprintf(out, size,
			 "{\"op\":\"take.graft\",\"from\":\"t%u\",\"entries\":[\":1\",\":2\"]}", a);
		break;
	case 27: snprintf(out, size, "{\"op\":\"take.truncate\",\"pairs\":%u}", b); break;
	case 28: snprintf(out, size, "{\"op\":\"head.move\",\"entry\":\":%u\"}", a); break;
	case 29:
		snprintf(out, size, "{\"op\":\"label.set\",\"entry\":\":%u\",\"label\":\"l%u\"}", a, b);
		break;
	case 30:
	case 31: snprintf(out, size, "{\"op\":\"undo\",\"count\":%u}", 1 + a / 3); break;
	case 32: snprintf(out, size, "{\"op\":\"redo\",\"count\":%u}", 1 + a / 3); break;
	case 33: /* mostly in the discussion only: otherwise little would be left of the project */
		snprintf(out, size, "{\"op\":\"jump\",\"to\":%u%s}", past,
			 b % 4 == 0 ? "" : ",\"scope\":\"discussion\"");
		break;
	case 34: snprintf(out, size, "{\"op\":\"revert\",\"seq\":%u}", past); break;
	default:
		if (n < 100)
			snprintf(out, size, "{\"op\":\"project.reset\"}");
		else if (n < 300)
			snprintf(out, size, "{\"op\":\"take.clear\"}");
		else
			snprintf(out, size, "{\"op\":\"prompt.update\",\"text\":\"p%u\"}", n);
	}
}

#endif
