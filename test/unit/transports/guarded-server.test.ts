/** The HTTP server behind every listener, asked by a socket that speaks HTTP by hand. */
import { once } from 'node:events';
import { connect, type AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { readBody } from '../../../supervisor/http/request-body.ts';
import { newGuardedServer } from '../../../supervisor/listeners/listeners.ts';

it('lets a client send its body that asked first whether it may', async () => {
  const { server } = newGuardedServer((request, response) =>
    readBody(request, 100, (body) => response.end(body)),
  );
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  socket.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n');
  expect(String((await once(socket, 'data'))[0])).toBe('HTTP/1.1 100 Continue\r\n\r\n');
  socket.write('hello');
  expect(String((await once(socket, 'data'))[0])).toMatch(/^HTTP\/1\.1 200 OK[^]*\r\n\r\n/);
});
