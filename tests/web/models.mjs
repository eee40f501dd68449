// SPDX-License-Identifier: MIT
//
// Model servers in the style of Ollama for tests: each gives a scripted reply to a question, piece
// by piece.
import { createServer } from "node:http";

/** reply: called for each question with the request and functions to answer it:
 *
 *   body          the request
 *   say(content)  sends a piece of the reply
 *   think(text)   sends a piece of thinking
 *   end(content)  sends the last piece, and ends
 *   gone(act)     calls act when the client has disconnected */
export async function modelServer(model, reply) {
	const server = createServer(async (request, response) => {
		let text = "";
		for await (const piece of request)
			text += piece;
		if (!request.url.endsWith("/api/chat"))
			return response.writeHead(404).end();
		const line = (message, more = { done: false }) => response.write(JSON.stringify({ model, message: { role: "assistant", content: "", ...message }, ...more }) + "\n");
		response.writeHead(200, { "Content-Type": "application/x-ndjson" });
		await reply({
			body: JSON.parse(text),
			say: (content) => line({ content }),
			think: (thinking) => line({ thinking }),
			end: (content = "") => {
				line({ content }, { done: true, done_reason: "stop" });
				response.end();
			},
			gone: (act) => response.on("close", act),
		});
	});
	await new Promise((done) => server.listen(0, "127.0.0.1", done));
	server.unref();
	return { host: `http://127.0.0.1:${server.address().port}` };
}

/** A model that starts a reply and never ends it. again: a text that it repeats. */
export function endlessModel(begin, { thought, again, every_ms } = {}) {
	return modelServer("slow", ({ say, think, gone }) => {
		if (thought)
			think(thought);
		say(begin);
		if (!again)
			return;
		const timer = setInterval(() => say(again), every_ms);
		gone(() => clearInterval(timer));
	});
}
