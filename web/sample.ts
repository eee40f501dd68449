// SPDX-License-Identifier: MIT
//
// Sample: a small conversation in two takes for trying things out, as operations; together they are
// one step.

const MESSAGES = [
	{ role: "User", content: "Which database should a small desktop application use?" },
	{
		role: "AI",
		content: "**SQLite**, almost always.\n\n- one file, no server to install\n- transactions, so a crash loses nothing\n- it is *fast* for one user\n\n```sql\nCREATE TABLE entry (id TEXT PRIMARY KEY, body TEXT NOT NULL);\n```\n\nPostgres earns its keep when several machines write at once.",
	},
	{ role: "User", content: "And when two windows of the same program are open?" },
	{
		role: "AI",
		content: "Still SQLite: turn on WAL mode, and readers never wait for the writer.\n\n| mode | readers | writers |\n|---|---|---|\n| rollback journal | wait while one writes | one |\n| WAL | never wait | one at a time |",
	},
	{ role: "User", content: "Give me the shortest code that opens it that way." },
	{
		role: "AI",
		content: "```python\nimport sqlite3\n\ndb = sqlite3.connect(\"notes.db\")\ndb.execute(\"PRAGMA journal_mode = WAL\")\n```\n\nTry: edit this reply, use **Branch** at the question above it, or delete something and undo it.",
	},
];

const OTHER_QUESTION = "And when several people write at the same time, over a network?";
const OTHER_ANSWER = "Then a server: **Postgres**. This is another take of the same conversation; the first one is still there, in the tab beside it.";

export function sampleOps(name: string): ({ op: string } & Record<string, unknown>)[] {
	return [
		{ op: "discussion.new", name },
		...MESSAGES.map((message) => ({ op: "entry.append", ...message })),
		{ op: "label.set", entry: ":4", label: "two windows" },
		{ op: "take.branch", at: ":2", name: `${name}_take_1` },
		{ op: "entry.append", role: "User", content: OTHER_QUESTION },
		{ op: "entry.append", role: "AI", content: OTHER_ANSWER },
		{ op: "take.switch", take: name },
	];
}
