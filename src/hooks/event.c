/* SPDX-License-Identifier: MIT
 *
 * The table of events. A name is a noun, a dot, and a time: those with "before" can be denied, all
 * others report past events. */
#include "hooks/event.h"

const char rt_hook_common_members[] =
	"session: project, discussion and take\n"
	"cwd: the working directory\n"
	"via: origin: cli, tui, web, api, proxy, mcp, or hook:NAME for a change by a hook";

const char rt_hook_common_sample[] =
	"\"session\":{\"project\":\"default\",\"discussion\":\"main\",\"take\":\"main\"},"
	"\"cwd\":\"/home/you/work\",\"via\":\"cli\"";

#define ENTRY "{\"id\":\"k3f9\",\"role\":\"User\",\"kind\":\"message\",\"content\":\"Hello\"}"
#define REPLY "{\"id\":\"m2c4\",\"role\":\"AI\",\"kind\":\"message\",\"content\":\"Good day.\"}"
#define ENTRY_SUBJECT "op role kind take discussion"

const rt_hook_event rt_hook_events[] = {
	{"session.open", NULL, 0, "a project was opened", "", "", "project", ""},
	{"session.close", NULL, 0, "a project is about to be closed; this cannot be stopped", "", "",
	 "project", ""},
	{"session.before_switch", "session_before_switch", RT_HOOK_BEFORE,
	 "before another discussion becomes active", "",
	 "target: the discussion to switch to\n"
	 "reason: new, or resume",
	 "project discussion", "\"target\":\"other\",\"reason\":\"resume\""},
	{"session.after_switch", "session_switch", 0,
	 "another discussion became active", "",
	 "previous: the discussion that was active before\n"
	 "reason: new, or resume",
	 "project discussion", "\"previous\":\"main\",\"reason\":\"resume\""},
	{"request.before", NULL, RT_HOOK_BEFORE, "before a request to a model", "body",
	 "provider: type of the provider, such as openai (retake models lists them)\n"
	 "service: name of the provider in the configuration; default: its type\n"
	 "model: the provider's name for the model\n"
	 "reason: reply, summary (compact, compress, go --summary) or replay\n"
	 "body: the request as JSON in the provider's form, without keys",
	 "provider service model reason take discussion",
	 "\"provider\":\"openai\",\"service\":\"local\",\"model\":\"small\","
	 "\"reason\":\"reply\",\"body\":{\"model\":\"small\",\"messages\":"
	 "[{\"role\":\"user\",\"content\":\"Hello\"}]}"},
	{"request.after", NULL, 0, "after the model's server has answered or failed", "",
	 "provider: type of the provider\n"
	 "service: name of the provider in the configuration\n"
	 "model: name of the model\n"
	 "reason: reply, summary or replay\n"
	 "status: ok, or the error\n"
	 "usage: input and output tokens, if known",
	 "provider service model reason take discussion",
	 "\"provider\":\"openai\",\"service\":\"local\",\"model\":\"small\","
	 "\"reason\":\"reply\",\"status\":\"ok\",\"usage\":{\"input\":8,"
	 "\"output\":3}"},
	{"reply.after", NULL, 0, "a reply was added to the conversation", "", "entry: the reply",
	 "provider service model role kind take discussion", "\"entry\":" REPLY},
	{"entry.before_add", NULL, RT_HOOK_BEFORE, "before an entry is added or inserted", "op",
	 "op: the operation with its fields, in the form of retake apply", ENTRY_SUBJECT,
	 "\"op\":{\"op\":\"entry.append\",\"role\":\"User\",\"content\":\"Hello\"}"},
	{"entry.before_edit", NULL, RT_HOOK_BEFORE, "before the content of an entry is changed", "op",
	 "op: the operation with its fields\n"
	 "entry: the current entry",
	 ENTRY_SUBJECT,
	 "\"op\":{\"op\":\"entry.edit\",\"entry\":\"k3f9\",\"content\":\"Hello there\"},\"entry\":" ENTRY},
	{"entry.before_delete", NULL, RT_HOOK_BEFORE, "before entries are deleted", "",
	 "op: the operation with its fields\n"
	 "entry: the current entry; the first one of several\n"
	 "entries: all entries, if several are deleted",
	 ENTRY_SUBJECT, "\"op\":{\"op\":\"entry.delete\",\"entry\":\"k3f9\"},\"entry\":" ENTRY},
	{"entry.before_role", NULL, RT_HOOK_BEFORE, "before the role of an entry is changed", "op",
	 "op: the operation with its fields\n"
	 "entry: the current entry",
	 ENTRY_SUBJECT,
	 "\"op\":{\"op\":\"entry.role\",\"entry\":\"k3f9\",\"role\":\"AI\"},\"entry\":" ENTRY},
	{"entry.after", NULL, 0,
	 "an entry was added, edited, moved, muted or deleted, or its role was changed", "",
	 "op: the operation with its fields\n"
	 "entry: the entry after the change; null if it was deleted\n"
	 "seq: the number of the row in the log",
	 ENTRY_SUBJECT, "\"op\":{\"op\":\"entry.append\"},\"entry\":" ENTRY ",\"seq\":42"},
	{"head.before_move", "session_before_tree", RT_HOOK_BEFORE | RT_HOOK_SUMMARIZES,
	 "before the head moves to another place in the tree", "",
	 "preparation: targetId, oldLeafId, commonAncestorId, entriesToSummarize, "
	 "userWantsSummary\n"
	 "customInstructions: instructions for the summary, or null\n"
	 "model: the model for the summary, PROVIDER/NAME, or null",
	 "take discussion",
	 "\"preparation\":{\"targetId\":\"k3f9\",\"oldLeafId\":\"m2c4\",\"commonAncestorId\":\"k3f9\","
	 "\"entriesToSummarize\":[" REPLY "],\"userWantsSummary\":true},\"customInstructions\":null,"
	 "\"model\":\"local/small\""},
	{"head.after_move", "session_tree", 0, "the head moved to another place", "",
	 "newLeafId: the new place\n"
	 "oldLeafId: the previous place\n"
	 "summaryEntry: the summary of the branch that was left: id, type, parentId, timestamp, fromId, "
	 "summary, details and other fields; absent without a summary\n"
	 "fromHook: whether a hook wrote the summary; absent without a summary",
	 "take discussion",
	 "\"newLeafId\":\"s5d2\",\"oldLeafId\":\"m2c4\",\"summaryEntry\":{\"id\":\"s5d2\","
	 "\"role\":\"System\",\"kind\":\"branch_summary\",\"content\":\"Greeted.\","
	 "\"summary\":\"Greeted.\",\"from_id\":\"m2c4\",\"fromId\":\"m2c4\",\"service\":\"local\","
	 "\"model\":\"small\",\"type\":\"branch_summary\",\"parentId\":\"k3f9\","
	 "\"timestamp\":\"2026-01-01T12:00:00.000Z\"},\"fromHook\":false"},
	{"take.before_create", "session_before_branch", RT_HOOK_BEFORE,
	 "before a take or a discussion is created from an entry", "",
	 "entryId: the last shared entry; null: before the first entry\n"
	 "name: the new name",
	 "take discussion", "\"entryId\":\"k3f9\",\"name\":\"side take\""},
	{"take.created", "session_branch", 0, "a take or a discussion was created from an entry", "",
	 "entryId: the last shared entry; null: before the first entry\n"
	 "name: the new name\n"
	 "previous: the take from which it was created",
	 "take discussion", "\"entryId\":\"k3f9\",\"name\":\"side take\",\"previous\":\"main\""},
	{"compact.before", "session_before_compact", RT_HOOK_BEFORE | RT_HOOK_SUMMARIZES,
	 "before the older part of a take is compacted", "",
	 "preparation: firstKeptEntryId, entriesToSummarize, tokensBefore\n"
	 "reason: manual, or threshold (the setting compact_auto)\n"
	 "previousCompactions: newest first, each in the form of compactionEntry in compact.after\n"
	 "customInstructions: the user's instructions, or null\n"
	 "model: the model for the summary, PROVIDER/NAME, or null",
	 "take discussion",
	 "\"preparation\":{\"firstKeptEntryId\":\"m2c4\",\"entriesToSummarize\":[" ENTRY
	 "],\"tokensBefore\":1200},\"reason\":\"manual\",\"previousCompactions\":[],\"customInstructions\":null,\"model\":"
	 "\"local/small\""},
	{"compact.after", "session_compact", 0, "the older part of a take was compacted", "",
	 "compactionEntry: the entry with the summary: id, type, parentId, timestamp, summary, "
	 "firstKeptEntryId, tokensBefore, details and other fields\n"
	 "fromHook: whether a hook wrote the summary",
	 "take discussion",
	 "\"compactionEntry\":{\"id\":\"c7d1\",\"role\":\"System\","
	 "\"kind\":\"compaction\",\"content\":\"They greeted.\",\"summary\":\"They greeted.\","
	 "\"first_kept\":\"m2c4\",\"firstKeptEntryId\":\"m2c4\",\"tokens_before\":1200,"
	 "\"tokensBefore\":1200,\"service\":\"local\",\"model\":\"small\",\"type\":\"compaction\","
	 "\"parentId\":\"m2c4\",\"timestamp\":\"2026-01-01T12:00:00.000Z\"},\"fromHook\":false"},
	{"undo.after", NULL, 0, "something was undone, by undo, jump or revert", "",
	 "steps: the undone steps\n"
	 "seq: the number of the row in the log",
	 "take discussion", "\"steps\":[41],\"seq\":42"},
	{"redo.after", NULL, 0, "something was redone, by redo or jump", "",
	 "steps: the redone steps\n"
	 "seq: the number of the row in the log",
	 "take discussion", "\"steps\":[41],\"seq\":43"},
	{"proxy.before", NULL, RT_HOOK_BEFORE, "before a request from another program is forwarded",
	 "body",
	 "api: form of the request, such as openai\n"
	 "body: the request as JSON, without keys",
	 "api model",
	 "\"api\":\"openai\",\"body\":{\"model\":\"small\",\"messages\":[{\"role\":\"user\","
	 "\"content\":\"Hello\"}]}"},
	{"proxy.after", NULL, 0, "a request from another program was answered", "",
	 "api: form of the request, such as openai\n"
	 "status: HTTP status of the response\n"
	 "entry: the reply, or null",
	 "api model status", "\"api\":\"openai\",\"status\":200,\"entry\":" REPLY},
	{"export.before", NULL, RT_HOOK_BEFORE, "before an export", "entries",
	 "format: the name of the format\n"
	 "path: path of the file; null: standard output\n"
	 "entries: all entries to export: id, role, kind, content, discussion and other fields",
	 "format take discussion",
	 "\"format\":\"markdown\",\"path\":\"talk.md\",\"entries\":[" ENTRY "," REPLY "]"},
	{"import.before", NULL, RT_HOOK_BEFORE, "before an import", "",
	 "format: the name of the format\n"
	 "path: path of the file; null: standard input\n"
	 "discussion: name of the new discussion; the first one of several\n"
	 "discussions: number of discussions in the file",
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
