/** What a worker has read of a client and not handled when it dies is handled by the next one. */
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { callRecordBytes, CallRecords } from '../../../shared/protocol/call-record.ts';
import { usualCallLimits } from '../../support/call-limits.ts';
import { resumeCallSocket } from '../../../worker/transports/socket/call-socket.ts';
import { CallServer, clientFrame, RawClient, startMessage, textFrame } from './call-server.ts';

const keys = (digits: string): Buffer =>
  Buffer.concat(Array.from(digits, (digit) => textFrame({ type: 'dtmf', digit })));

let server: CallServer | undefined;
afterEach(() => server?.close());

/** The texts that a socket gives which is taken up with this tail. */
async function textsAfter(tail: Buffer, more: Buffer): Promise<string[]> {
  const listener = createServer().listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const client = connect((listener.address() as AddressInfo).port, '127.0.0.1');
  const [socket] = (await once(listener, 'connection')) as [Socket];
  const ws = resumeCallSocket(socket, tail, usualCallLimits);
  const texts: string[] = [];
  const end = new Promise<void>((resolve) => {
    ws.on('message', (data: Buffer, isBinary) => {
      if (!isBinary) texts.push(data.toString());
      if (data.toString().includes('end')) resolve();
    });
  });
  client.write(Buffer.concat([more, textFrame({ type: 'end' })]));
  ws.readPiece(() => undefined);
  await end;
  client.destroy();
  listener.close();
  return texts.slice(0, -1).map((text) => (JSON.parse(text) as { digit: string }).digit);
}

describe('messages that were read and not handled', () => {
  it.each([
    ['before anything of it is written down', false, '3456'],
    ['once it is written down', true, '456'],
  ])(
    'are handled by the next worker, and those that were handled are not: a death %s',
    async (_when, isWritten, expected) => {
      const records = new CallRecords([new ArrayBuffer(callRecordBytes({ slots: 1 }))], { slots: 1 });
      const record = records.record(0);
      record.begin(1);
      record.opened();
      record.save('{}', '');
      let left: Buffer = Buffer.alloc(0);
      server = await new CallServer({
        journal: {
          isWriting: false,
          keepTail: (bytes, from, earlier) => record.keepTail(bytes, from, earlier),
          handling: (bytes) => record.handling(bytes),
          handled: (bytes) => record.handled(bytes),
        },
        // It dies while it handles the third key.
        onKey: (digit) => {
          if (digit !== '3') return;
          if (isWritten) record.save('{}', undefined);
          left = record.read().tail;
        },
      }).listen();
      const client = new RawClient(server.port);
      await client.upgraded;
      const audio = clientFrame(2, Buffer.alloc(640));
      const key5 = textFrame({ type: 'dtmf', digit: '5' });
      client.socket.write(
        Buffer.concat([textFrame(startMessage), keys('12'), audio, keys('34'), key5.subarray(0, 9)]),
      );
      await server.until(() => server?.call.log.includes('dtmf 4') === true);
      const next = await textsAfter(left, Buffer.concat([key5.subarray(9), audio, keys('6')]));
      expect(next.join('')).toBe(expected);
      expect(await textsAfter(record.read().tail, Buffer.concat([key5.subarray(9), audio]))).toEqual(['5']);
      client.socket.destroy();
    },
  );
});
