#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""cut.py PORT TO: forwards connections from a port of 127.0.0.1 to another one, or to a Unix socket. While the process is
stopped (SIGSTOP), the network between them is cut: connections remain, and no byte arrives."""
import asyncio
import sys

HOST = "127.0.0.1"


async def forward(reader, writer):
    try:
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
    except OSError:
        pass
    writer.close()


async def accept(reader, writer):
    try:
        to_reader, to_writer = await (asyncio.open_connection(HOST, int(sys.argv[2])) if sys.argv[2].isdigit()
                                      else asyncio.open_unix_connection(sys.argv[2]))
    except OSError:
        writer.close()
        return
    await asyncio.gather(forward(reader, to_writer), forward(to_reader, writer))


async def main():
    server = await asyncio.start_server(accept, HOST, int(sys.argv[1]))
    await server.serve_forever()

asyncio.run(main())
