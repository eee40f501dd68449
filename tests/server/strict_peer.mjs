// SPDX-License-Identifier: MIT
//
// Node's strict HTTP parser as the peer of wire_test.py: answers each accepted request with 200 and
// what it read, so that two readers of the same bytes can be compared. Prints its port.
import http from "node:http";

const server = http.createServer({ insecureHTTPParser: false, requireHostHeader: true,
                                   keepAliveTimeout: 400, maxHeaderSize: 64 * 1024 },
  (request, response) => {
    const parts = [];
    request.on("data", (part) => parts.push(part));
    request.on("end", () => {
      const body = Buffer.concat(parts).toString("latin1");
      response.setHeader("Content-Type", "application/json");
      response.end(JSON.stringify({ method: request.method, url: request.url, body }));
    });
    request.on("error", () => {});
  });
server.on("clientError", (error, socket) => {
  if (socket.writable)
    socket.end("HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");
});
server.on("upgrade", (request, socket) => {
  socket.end("HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");
});
server.on("connect", (request, socket) => {
  socket.end("HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");
});
server.listen(0, "127.0.0.1", () => console.log(server.address().port));
process.stdin.on("end", () => process.exit(0)).resume();
