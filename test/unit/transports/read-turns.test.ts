/** Calls that are taken up together: first all of them go on, then what their clients sent meanwhile is read in turns. */
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { usualCallLimits } from '../../support/call-limits.ts';
import { resumeCallSocket, type CallSocket } from '../../../worker/transports/socket/call-socket.ts';
import { ReadTurns } from '../../../worker/transports/socket/read-turns.ts';
import { newVirtualClock } from '../../support/core/virtual-clock.ts';
import { clientFrame } from './call-server.ts';

function newWorld() {
  const clock = newVirtualClock();
  const soon: (() => void)[] = [];
  const turns = new ReadTurns({ clock, soon: (callback) => soon.push(callback) });
  const read: string[] = [];
  /** A socket with so many pieces. */
  const socket = (name: string, pieces: number) => ({
    readPiece: (held: () => void): void => {
      read.push(name);
      pieces -= 1;
      if (pieces > 0) held();
    },
  });
  /** Lets one turn of the event loop pass; what was read in it. */
  const loop = (): string => {
    read.length = 0;
    for (const callback of soon.splice(0)) callback();
    return read.join('');
  };
  return { clock, turns, socket, loop };
}

describe('reading in turns', () => {
  it('reads nothing until all calls have come', () => {
    const { turns, socket, loop } = newWorld();
    turns.add(socket('a', 1), 5_000);
    expect(loop()).toBe('');
    turns.add(socket('b', 1), 5_000);
    expect(loop()).toBe('');
    turns.begin();
    expect([loop(), loop(), loop()]).toEqual(['a', 'b', '']);
  });

  it('reads a piece of each before the second piece of any', () => {
    const { turns, socket, loop } = newWorld();
    for (const [name, pieces] of [
      ['a', 3],
      ['b', 1],
      ['c', 2],
    ] as const)
      turns.add(socket(name, pieces), 5_000);
    turns.begin();
    expect([loop(), loop(), loop(), loop(), loop(), loop(), loop()].join('')).toBe('abcaca');
  });

  it('reads several at once where little can be there', () => {
    const { turns, socket, loop } = newWorld();
    for (const name of 'abcdefg') turns.add(socket(name, 1), 500);
    turns.begin();
    expect([loop(), loop(), loop()]).toEqual(['abcd', 'efg', '']);
  });

  it('begins after a second where nobody says that all have come', () => {
    const { turns, socket, loop, clock } = newWorld();
    turns.add(socket('a', 2), 5_000);
    clock.advance(999);
    turns.add(socket('b', 1), 5_000);
    expect(loop()).toBe('');
    clock.advance(1);
    expect([loop(), loop(), loop(), loop()]).toEqual(['a', 'b', 'a', '']);
  });

  it('holds again for calls of the next death', () => {
    const { turns, socket, loop } = newWorld();
    turns.add(socket('a', 2), 5_000);
    turns.begin();
    expect(loop()).toBe('a');
    turns.add(socket('b', 1), 5_000);
    expect(loop()).toBe('');
    turns.begin();
    expect([loop(), loop()].join('')).toBe('ab');
  });
});

/** A call that is taken up in the instant in which its socket comes, and whose client has sent these frames by then. */
async function takenUp(
  frames: readonly Buffer[],
): Promise<{ ws: CallSocket; socket: Socket; close: () => void }> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const taken = new Promise<{ ws: CallSocket; socket: Socket }>((resolve) => {
    server.once('connection', (socket: Socket) => {
      resolve({ ws: resumeCallSocket(socket, Buffer.alloc(0), usualCallLimits), socket });
    });
  });
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  const bytes = frames.map((frame) => clientFrame(2, frame));
  await new Promise<void>((resolve) => client.write(Buffer.concat(bytes), () => resolve()));
  const { ws, socket } = await taken;
  return {
    ws,
    socket,
    close: () => {
      client.destroy();
      socket.destroy();
      server.close();
    },
  };
}

describe('a socket whose reading is held', () => {
  it('gives what was sent in pieces, once and in order', async () => {
    const sent = Array.from({ length: 400 }, (_, index) => Buffer.alloc(640, index));
    const { ws, socket, close } = await takenUp(sent);
    const heard: Buffer[] = [];
    const all = new Promise<void>((resolve) => {
      ws.on('message', (data: Buffer) => {
        heard.push(data);
        if (heard.length === sent.length) resolve();
      });
    });
    for (let i = 0; i < 5; i += 1) await new Promise(setImmediate);
    // Not even into a buffer of this process: another one may have to take the call up again.
    expect([heard.length, socket.bytesRead]).toEqual([0, 0]);
    /** How much was there each time reading was held. */
    const pieces: number[] = [];
    const readOn = (): void =>
      ws.readPiece(() => {
        pieces.push(heard.length);
        const { bytesRead } = socket;
        setImmediate(() => {
          expect(socket.bytesRead).toBe(bytesRead);
          readOn();
        });
      });
    readOn();
    await all;
    expect(Buffer.concat(heard).equals(Buffer.concat(sent))).toBe(true);
    expect(pieces.length).toBeGreaterThanOrEqual(2);
    expect(pieces[0]).toBeLessThanOrEqual(101);
    close();
  });
});
