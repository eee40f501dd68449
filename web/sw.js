// SPDX-License-Identifier: MIT
//
// Service worker: makes the page installable, and reports that the server cannot be reached. It
// stores nothing: no page, no request, no text of a conversation.
const OFFLINE = `<!doctype html><html lang="en"><meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1"><meta name="color-scheme" content="light dark">
<title>Retake is not running</title><main><h1>Retake is not running</h1>
<p>The page needs the Retake server on this computer, which does not answer. What you typed is kept in this browser.</p>
<p>Start the server, then <a href="">try again</a>.</p></main></html>`;

const offline = () => new Response(OFFLINE, {
	status: 503,
	headers: { "Content-Type": "text/html; charset=utf-8", "Cache-Control": "no-store", "Content-Security-Policy": "default-src 'none'" },
});

addEventListener("install", () => skipWaiting());
addEventListener("activate", (event) => event.waitUntil(registration.navigationPreload?.enable()));
addEventListener("fetch", (event) => {
	if (event.request.mode === "navigate")
		event.respondWith(event.preloadResponse.then((early) => early || fetch(event.request)).catch(offline));
});
