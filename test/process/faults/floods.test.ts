/**
 * One client sends far more than a caller could: audio faster than real time, frames over the limit, tiny fragments, marks and
 * pings without end. It is slowed or ended, and 20 others keep their voice.
 */
import { afterEach, describe, expect, it } from 'vitest';
import type { CallClient } from '../../../cli/commands/call/caller.ts';
import { TestService } from '../../support/process/service.ts';
import { RawCaller, audioFrame, startFrame, textFrame } from '../raw-caller.ts';

const bystanders = 20;
/** More than a busy machine causes; without an allowance a flood makes holes of four seconds. */
const longestHoleMs = 1_000;
const longGreeting = 'This goes on and on. '.repeat(45);

let service: TestService;

afterEach(async () => {
  await service.stop();
});

/** One message in fragments of a byte. */
function fragments(bytes: number): Buffer {
  const parts: Buffer[] = [];
  for (let at = 0; at < bytes; at += 1) {
    const first = (at === bytes - 1 ? 0x80 : 0) | (at === 0 ? 2 : 0);
    parts.push(Buffer.from([first, 0x81, 0, 0, 0, 0, 0]));
  }
  return Buffer.concat(parts);
}

const repeated = (frame: Buffer, times: number): Buffer =>
  Buffer.concat(Array.from({ length: times }, () => frame));

const floods: Readonly<Record<string, Buffer>> = {
  'audio faster than real time': repeated(audioFrame(640), 100),
  'fragments of one byte': fragments(2_000),
  marks: repeated(textFrame({ type: 'mark', id: 'x' }), 500),
  pings: repeated(Buffer.from([0x89, 0x80, 0, 0, 0, 0]), 2_000),
  'unasked pongs': repeated(Buffer.from([0x8a, 0x80, 0, 0, 0, 0]), 2_000),
  // Every twenty keys are an entry and ask the LLM.
  keys: repeated(textFrame({ type: 'dtmf', digit: '5' }), 500),
  'empty frames': repeated(audioFrame(0), 2_000),
  'frames of one sample': repeated(audioFrame(2), 2_000),
  'fragments of nothing': Buffer.concat([
    Buffer.from([0x02, 0x80, 0, 0, 0, 0]),
    repeated(Buffer.from([0x00, 0x80, 0, 0, 0, 0]), 2_000),
    Buffer.from([0x80, 0x80, 0, 0, 0, 0]),
  ]),
};

/** Keeps the socket full until the caller is gone or enough was heard by all others. */
async function flood(caller: RawCaller, bytes: Buffer, enough: () => boolean): Promise<void> {
  while (!enough() && !caller.gone) {
    if (caller.socket.write(bytes)) await new Promise((resolve) => setImmediate(resolve));
    else
      await Promise.race([
        new Promise((resolve) => caller.socket.once('drain', resolve)),
        caller.until(() => caller.gone || enough()),
      ]);
  }
}

async function talkingCalls(): Promise<CallClient[]> {
  const calls: CallClient[] = [];
  for (let i = 0; i < bystanders; i += 1) calls.push(await service.call({ microphone: false }));
  return calls;
}

describe.each(Object.entries(floods))('a flood of %s', (name, bytes) => {
  it('costs its sender, not the others', async () => {
    service = await TestService.start({ workers: 1, greeting: longGreeting });
    const calls = await talkingCalls();
    const flooder = new RawCaller(service.port, startFrame());
    await flooder.received('started');
    let longestMs = 0;
    const frames = calls.map(() => 0);
    for (const [index, call] of calls.entries()) {
      let last: number | undefined;
      call.on((event) => {
        if (event.type !== 'audio') return;
        if (last !== undefined) longestMs = Math.max(longestMs, event.atMs - last);
        last = event.atMs;
        frames[index] = (frames[index] ?? 0) + 1;
        flooder.changed();
      });
    }
    await flood(flooder, bytes, () => frames.every((count) => count > 100));
    await Promise.all(calls.map((call, index) => call.next(() => frames[index]! > 120)));
    console.log(`${name}: longest hole of the others ${longestMs.toFixed(0)} ms`);
    expect(longestMs).toBeLessThan(longestHoleMs);
    flooder.socket.destroy();
    const ends = await Promise.all(calls.map((call) => call.hangUp()));
    expect(ends.every(({ code }) => code === 1000)).toBe(true);
    await service.readyWhen((body) => body['connections'] === 0);
  });
});

describe('a frame over the limit', () => {
  it('ends its sender', async () => {
    service = await TestService.start({ workers: 1, greeting: longGreeting });
    const flooder = new RawCaller(service.port, startFrame());
    await flooder.received('started');
    const head = Buffer.from([0x82, 0xff, 0, 0, 0, 0, 0x7f, 0xff, 0xff, 0xff, 0, 0, 0, 0]);
    flooder.send(head);
    await flooder.closed();
    expect(flooder.of('error')).toMatchObject([{ code: 'frame_too_large', fatal: true }]);
  });
});
