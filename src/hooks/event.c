/* SPDX-License-Identifier: MIT
 *
 * The table of events. A name is a noun, a dot, and a time: those with "before" can be denied, all
 * others report what has happened. */
#include "hooks/event.h"

const char rt_hook_common_members[] =
	"session: where: project, discussion, take\n"
	"cwd: the folder that the program works in\n"
	"via: who asks: cli, tui, web, api, proxy, mcp; hook:NAME where a hook does";

const char rt_hook_common_sample[] =
	"\"session\":{\"project\":\"default\",\"discussion\":\"main\",\"take\":\"main\"},"
	"\"cwd\":\"/home/you/work\",\"via\":\"cli\"";

#define ENTRY "{\"id\":\"k3f9\",\"role\":\"User\",\"kind\":\"message\",\"content\":\"Hello\"}"
#define REPLY "{\"id\":\"m2c4\",\"role\":\"AI\",\"kind\":\"message\",\"content\":\"Good day.\"}"
#define ENTRY_SUBJECT "op role kind take discussion"

const rt_hook_event rt_hook_events[] = {
	{"session.open", NULL, 0, "a project was opened", "", "", "project", ""},
	{"session.close", NULL, 0, "a project is about to be closed; nothing can stop that", "", "",
	 "project", ""},
	{"session.before_switch", "session_before_switch", RT_HOOK_BEFORE,
	 "before another discussion becomes the one that is worked on", "",
	 "target: the discussion that is switched to\n"
	 "reason: new, or resume",
	 "project discussion", "\"target\":\"other\",\"reason\":\"resume\""},
	{"session.after_switch", "session_switch", 0,
	 "another discussion is the one that is worked on", "",
	 "previous: the discussion that was left\n"
	 "reason: new, or resume",
	 "project discussion", "\"previous\":\"main\",\"reason\":\"resume\""},
	{"request.before", NULL, RT_HOOK_BEFORE, "before a model is asked", "body",
	 "provider: its kind, such as openai (retake models lists them)\n"
	 "service: what the configuration calls it; without one of its own, its kind\n"
	 "model: its name, as the provider knows it\n"
	 "reason: reply, summary (compact, compress, go --summary) or replay\n"
	 "body: the request as JSON, as the provider wants it; never a key",
	 "provider service model reason take discussion",
	 "\"provider\":\"openai\",\"service\":\"local\",\"model\":\"small\","
	 "\"reason\":\"reply\",\"body\":{\"model\":\"small\",\"messages\":"
	 "[{\"role\":\"user\",\"content\":\"Hello\"}]}"},
	{"request.after", NULL, 0, "the model's server has answered, or failed", "",
	 "provider: its kind\n"
	 "service: what the configuration calls it\n"
	 "model: its name\n"
	 "reason: reply, summary or replay\n"
	 "status: ok, or how it failed\n"
	 "usage: tokens in and out, where they are known",
	 "provider service model reason take discussion",
	 "\"provider\":\"openai\",\"service\":\"local\",\"model\":\"small\","
	 "\"reason\":\"reply\",\"status\":\"ok\",\"usage\":{\"input\":8,"
	 "\"output\":3}"},
	{"reply.after", NULL, 0, "a reply is in the conversation", "", "entry: the reply",
	 "provider service model role kind take discussion", "\"entry\":" REPLY},
	{"entry.before_add", NULL, RT_HOOK_BEFORE, "before an entry is added or inserted", "op",
	 "op: the operation with its fields, as retake apply takes it", ENTRY_SUBJECT,
	 "\"op\":{\"op\":\"entry.append\",\"role\":\"User\",\"content\":\"Hello\"}"},
	{"entry.before_edit", NULL, RT_HOOK_BEFORE, "before an entry gets another content", "op",
	 "op: the operation with its fields\n"
	 "entry: the entry as it is",
	 ENTRY_SUBJECT,
	 "\"op\":{\"op\":\"entry.edit\",\"entry\":\"k3f9\",\"content\":\"Hello there\"},\"entry\":" ENTRY},
	{"entry.before_delete", NULL, RT_HOOK_BEFORE, "before an entry, or several, are deleted", "",
	 "op: the operation with its fields\n"
	 "entry: the entry as it is; of several the first\n"
	 "entries: all of them, where several are deleted",
	 ENTRY_SUBJECT, "\"op\":{\"op\":\"entry.delete\",\"entry\":\"k3f9\"},\"entry\":" ENTRY},
	{"entry.before_role", NULL, RT_HOOK_BEFORE, "before an entry gets another role", "op",
	 "op: the operation with its fields\n"
	 "entry: the entry as it is",
	 ENTRY_SUBJECT,
	 "\"op\":{\"op\":\"entry.role\",\"entry\":\"k3f9\",\"role\":\"AI\"},\"entry\":" ENTRY},
	{"entry.after", NULL, 0,
	 "an entry was added, edited, moved, muted, deleted, or got another role", "",
	 "op: the operation with its fields\n"
	 "entry: the entry as it is now; null when it was deleted\n"
	 "seq: the number of the row in the log",
	 ENTRY_SUBJECT, "\"op\":{\"op\":\"entry.append\"},\"entry\":" ENTRY ",\"seq\":42"},
	{"head.before_move", "session_before_tree", RT_HOOK_BEFORE | RT_HOOK_SUMMARIZES,
	 "before the head goes to another place in the tree", "",
	 "preparation: targetId, oldLeafId, commonAncestorId, entriesToSummarize, "
	 "userWantsSummary\n"
	 "customInstructions: what the summary is to look out for; null: nothing\n"
	 "model: the one that would write the summary, PROVIDER/NAME; null: none",
	 "take discussion",
	 "\"preparation\":{\"targetId\":\"k3f9\",\"oldLeafId\":\"m2c4\",\"commonAncestorId\":\"k3f9\","
	 "\"entriesToSummarize\":[" REPLY "],\"userWantsSummary\":true},\"customInstructions\":null,"
	 "\"model\":\"local/small\""},
	{"head.after_move", "session_tree", 0, "the head has gone to another place", "",
	 "newLeafId: where it is\n"
	 "oldLeafId: where it was\n"
	 "summaryEntry: the summary of what was left: id, type, parentId, timestamp, fromId, summary, "
	 "details and its other fields; not there: there is none\n"
	 "fromHook: whether a hook wrote that; not there: there is none",
	 "take discussion",
	 "\"newLeafId\":\"s5d2\",\"oldLeafId\":\"m2c4\",\"summaryEntry\":{\"id\":\"s5d2\","
	 "\"role\":\"System\",\"kind\":\"branch_summary\",\"content\":\"Greeted.\","
	 "\"summary\":\"Greeted.\",\"from_id\":\"m2c4\",\"fromId\":\"m2c4\",\"service\":\"local\","
	 "\"model\":\"small\",\"type\":\"branch_summary\",\"parentId\":\"k3f9\","
	 "\"timestamp\":\"2026-01-01T12:00:00.000Z\"},\"fromHook\":false"},
	{"take.before_create", "session_before_branch", RT_HOOK_BEFORE,
	 "before a take or a discussion is made from an entry on", "",
	 "entryId: where it leaves the old one; null: before the first entry\n"
	 "name: the new one's name",
	 "take discussion", "\"entryId\":\"k3f9\",\"name\":\"side take\""},
	{"take.created", "session_branch", 0, "a take or a discussion was made from an entry on", "",
	 "entryId: where it leaves the old one; null: before the first entry\n"
	 "name: the new one's name\n"
	 "previous: the take it was made from",
	 "take discussion", "\"entryId\":\"k3f9\",\"name\":\"side take\",\"previous\":\"main\""},
	{"compact.before", "session_before_compact", RT_HOOK_BEFORE | RT_HOOK_SUMMARIZES,
	 "before the older part of a take is summed up", "",
	 "preparation: firstKeptEntryId, entriesToSummarize, tokensBefore\n"
	 "reason: manual, or threshold (the setting compact_auto)\n"
	 "previousCompactions: the newest first, each as compactionEntry in compact.after\n"
	 "customInstructions: what the person asked for; null: nothing\n"
	 "model: the one that would write the summary, PROVIDER/NAME; null: none",
	 "take discussion",
	 "\"preparation\":{\"firstKeptEntryId\":\"m2c4\",\"entriesToSummarize\":[" ENTRY
	 "],\"tokensBefore\":1200},\"reason\":\"manual\",\"previousCompactions\":[],\"customInstructions\":null,\"model\":"
	 "\"local/small\""},
	{"compact.after", "session_compact", 0, "the older part of a take was summed up", "",
	 "compactionEntry: the entry that says so: id, type, parentId, timestamp, summary, "
	 "firstKeptEntryId, tokensBefore, details and its other fields\n"
	 "fromHook: whether a hook wrote it",
	 "take discussion",
	 "\"compactionEntry\":{\"id\":\"c7d1\",\"role\":\"System\","
	 "\"kind\":\"compaction\",\"content\":\"They greeted.\",\"summary\":\"They greeted.\","
	 "\"first_kept\":\"m2c4\",\"firstKeptEntryId\":\"m2c4\",\"tokens_before\":1200,"
	 "\"tokensBefore\":1200,\"service\":\"local\",\"model\":\"small\",\"type\":\"compaction\","
	 "\"parentId\":\"m2c4\",\"timestamp\":\"2026-01-01T12:00:00.000Z\"},\"fromHook\":false"},
	{"undo.after", NULL, 0, "something was undone, by undo, jump or revert", "",
	 "steps: the steps that were taken back\n"
	 "seq: the number of the row in the log",
	 "take discussion", "\"steps\":[41],\"seq\":42"},
	{"redo.after", NULL, 0, "something was redone, by redo or jump", "",
	 "steps: the steps that were brought back\n"
	 "seq: the number of the row in the log",
	 "take discussion", "\"steps\":[41],\"seq\":43"},
	{"proxy.before", NULL, RT_HOOK_BEFORE, "before a request of another program is passed on",
	 "body",
	 "api: openai, anthropic or ollama\n"
	 "body: the request as JSON; never a key",
	 "api model",
	 "\"api\":\"openai\",\"body\":{\"model\":\"small\",\"messages\":[{\"role\":\"user\","
	 "\"content\":\"Hello\"}]}"},
	{"proxy.after", NULL, 0, "a request of another program was answered", "",
	 "api: openai, anthropic or ollama\n"
	 "status: of the answer\n"
	 "entry: the reply; null: there was none",
	 "api model status", "\"api\":\"openai\",\"status\":200,\"entry\":" REPLY},
	{"export.before", NULL, RT_HOOK_BEFORE, "before something is exported", "entries",
	 "format: the name of the format\n"
	 "path: of the file; null: standard output\n"
	 "entries: all that may be written: id, role, kind, content, discussion, further fields",
	 "format take discussion",
	 "\"format\":\"markdown\",\"path\":\"talk.md\",\"entries\":[" ENTRY "," REPLY "]"},
	{"import.before", NULL, RT_HOOK_BEFORE, "before something is imported", "",
	 "format: the name of the format\n"
	 "path: of the file; null: standard input\n"
	 "discussion: what it is going to be called; of several the first\n"
	 "discussions: how many there are in it",
	 "format discussion",
	 "\"format\":\"pi\",\"path\":\"talk.jsonl\",\"discussion\":\"talk\",\"discussions\":1"},
	{NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL},
};

const rt_hook_event *
rt_hook_event_find(rt_str name)
{
	for (const rt_hook_event *event = rt_hook_events; event->name != NULL; event++)
		if (rt_str_is(name, event->name) ||
		    (event->alias != NULL && rt_str_is(name, event->alias)))
			return event;
	return NULL;
}

const char *
rt_hook_event_nearest(rt_str name)
{
	const char *found = NULL;
	size_t best = name.size / 2 + 1; /* anything further away is another word */

	for (const rt_hook_event *event = rt_hook_events; event->name != NULL; event++) {
		const char *const names[] = {event->name, event->alias};

		for (size_t i = 0; i < 2 && names[i] != NULL; i++) {
			size_t distance = rt_str_distance(name, rt_str_of(names[i]));

			if (distance < best) {
				best = distance;
				found = names[i];
			}
		}
	}
	return found;
}

bool
rt_hook_event_replaces(const rt_hook_event *event, rt_str member)
{
	rt_str rest = rt_str_of(event->replaces), name;

	while (rt_str_split(&rest, ' ', &name))
		if (rt_str_eq(member, name))
			return true;
	return false;
}
