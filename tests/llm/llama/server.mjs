// SPDX-License-Identifier: MIT
//
// llama.cpp, inside node-llama-cpp, with the part of OpenAI's API that a conversation needs:
//
//   node server.mjs MODULES MODEL LOG
//
// MODULES is a folder with node_modules, MODEL a GGUF file. Every request body is one line in LOG,
// as a JSON string, so that it is preserved byte for byte. Prints "PORT" when it listens on
// 127.0.0.1, and ends when its standard input ends.
//
// If a question contains "slowly", the reply is delayed by 300 ms per token. A reply whose client
// disconnects ends, which is also a line in LOG: null.
import http from "node:http";
import fs from "node:fs";
import {createRequire} from "node:module";
import {pathToFileURL} from "node:url";

const [modules, modelPath, log] = process.argv.slice(2);
const entry = createRequire(modules + "/package.json").resolve("node-llama-cpp");
const {getLlama, LlamaCompletion} = await import(pathToFileURL(entry));
const llama = await getLlama({build: "never", gpu: false, logLevel: "error"});
const model = await llama.loadModel({modelPath});
const context = await model.createContext({contextSize: 4096, threads: 1, sequences: 1});
const pause = (ms) => new Promise((done) => setTimeout(done, ms));
const record = (value) => fs.appendFileSync(log, JSON.stringify(value) + "\n");
let turn = Promise.resolve(); // one sequence, so one reply at a time

function fail(response, status, message) {
	response.writeHead(status, {"content-type": "application/json"});
	response.end(JSON.stringify({error: {message, type: "invalid_request_error", code: status}}));
}

async function complete(request, response, body) {
	const asked = JSON.parse(body);
	const prompt = asked.messages.map((m) => {
		if (typeof m.content !== "string")
			throw new Error("this model reads texts only");
		return `${m.role}: ${m.content}\n`;
	}).join("") + "assistant:";
	const promptTokens = model.tokenize(prompt).length;
	const slow = asked.messages.at(-1).content.includes("slowly");
	if (promptTokens > 4000)
		return fail(response, 400, `the request exceeds the available context size: ${promptTokens}`);

	const gone = new AbortController();
	response.on("close", () => {
		if (!response.writableEnded) {
			record(null);
			gone.abort();
		}
	});
	const tell = (more) => response.write("data: " + JSON.stringify({
		id: "chatcmpl-1", object: "chat.completion.chunk", created: 1, model: "tiny", ...more}) + "\n\n");
	const choice = (delta, reason = null) => tell({choices: [{index: 0, delta, finish_reason: reason}]});
	if (asked.stream) {
		response.writeHead(200, {"content-type": "text/event-stream"});
		choice({role: "assistant", content: ""});
	}
	const sequence = context.getSequence();
	const completion = new LlamaCompletion({contextSequence: sequence});
	const pieces = [];
	let count = 0;
	try {
		const made = await completion.generateCompletionWithMeta(prompt, {
			maxTokens: asked.max_tokens ?? 64, temperature: 0, signal: gone.signal, stopOnAbortSignal: true,
			onToken: (tokens) => { count += tokens.length; },
			onTextChunk: (text) => { pieces.push(text); if (asked.stream && !slow) choice({content: text}); }});
		// llama.cpp itself finishes at once with so few tokens
		for (const text of slow ? pieces : []) {
			if (gone.signal.aborted)
				break;
			choice({content: text});
			await pause(300);
		}
		const reason = made.metadata.stopReason === "maxTokens" ? "length" : "stop";
		const usage = {prompt_tokens: promptTokens, completion_tokens: count};
		usage.total_tokens = usage.prompt_tokens + usage.completion_tokens;
		if (gone.signal.aborted)
			return;
		if (!asked.stream) {
			response.writeHead(200, {"content-type": "application/json"});
			response.end(JSON.stringify({id: "chatcmpl-1", object: "chat.completion", created: 1, model: "tiny", usage,
				choices: [{index: 0, message: {role: "assistant", content: made.response}, finish_reason: reason}]}));
			return;
		}
		choice({}, reason);
		if (asked.stream_options?.include_usage)
			tell({choices: [], usage});
		response.end("data: [DONE]\n\n");
	} finally {
		completion.dispose();
		await sequence.clearHistory();
		sequence.dispose();
	}
}

const server = http.createServer(async (request, response) => {
	let body = "";
	request.setEncoding("utf8");
	for await (const piece of request)
		body += piece;
	if (request.url === "/v1/models") {
		response.writeHead(200, {"content-type": "application/json"});
		response.end(JSON.stringify({object: "list", data: [{id: "tiny", object: "model"}]}));
		return;
	}
	if (request.url !== "/v1/chat/completions")
		return fail(response, 404, "File Not Found");
	record(body);
	turn = turn.then(() => complete(request, response, body))
		.catch((error) => response.headersSent ? response.destroy() : fail(response, 400, error.message));
});
server.listen(0, "127.0.0.1", () => console.log(server.address().port));
process.stdin.on("end", () => process.exit(0)).resume();
