/** A process that takes calls and sends each frame back, with `ws` as the service does and nothing else: the least that a service of calls costs. */
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { WebSocketServer } from 'ws';
import type { ServerReady } from './echo-floor.ts';

const server = new WebSocketServer({ host: '127.0.0.1', port: 0, perMessageDeflate: false });
server.on('connection', (socket) => {
  socket.on('message', (data: Buffer, isBinary) => {
    if (isBinary) socket.send(data, { binary: true });
    else if (data.includes('"start"')) socket.send(JSON.stringify({ type: 'started' }));
  });
});
await once(server, 'listening');
process.on('disconnect', () => process.exit(0));
const { port } = server.address() as AddressInfo;
process.send?.({ type: 'ready', port } satisfies ServerReady);
