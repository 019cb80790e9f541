/**
 * Messages and packets that nobody should send, from a seed: nothing throws, nothing is kept, and nobody who has proved nothing gets
 * many more bytes than were sent in his name. `npm run fuzz:sip` tries 50,000 of each, and every run a sample of them.
 */
import { EventEmitter } from 'node:events';
import type { Socket } from 'node:dgram';
import { describe, expect, it } from 'vitest';
import { newPrng, type Prng } from '../../../shared/base/prng.ts';
import { sipCodecRate, sipCodecs, type SipMedia } from '../../../shared/sip/calls.ts';
import { newGate } from '../../../supervisor/sip/access/gate.ts';
import { step } from '../../../shared/sip/agent/agent.ts';
import { newAgent, type AgentState, type Flow } from '../../../shared/sip/agent/state.ts';
import { parseDatagram } from '../../../shared/sip/message/parse.ts';
import { StreamFrames } from '../../../shared/sip/message/stream.ts';
import { newOpus } from '../../../worker/media/opus/opus.ts';
import { SipCall } from '../../../worker/sip/sip-call.ts';
import { torture } from '../../support/sip/torture.ts';

const rounds = Number(process.env['SVC_FUZZ_ROUNDS'] ?? 2_000);

const pieces = [
  '',
  '\r\n',
  ' ',
  '"',
  '<',
  '>',
  ';',
  ',',
  ':',
  '@',
  '?',
  '%',
  '\0',
  '\xff',
  '\\',
  '=',
  '[',
  ']',
];

/** A message of RFC 4475 with some changes. */
function changed(prng: Prng): Buffer {
  let text = prng.pick(torture).text;
  for (let changes = 1 + prng.below(6); changes > 0; changes -= 1) {
    const at = prng.below(text.length);
    const piece = prng.pick([...pieces, 'x'.repeat(prng.below(300)), text.slice(0, at)]);
    text = text.slice(0, at) + piece + text.slice(at + prng.below(20));
  }
  return Buffer.from(text.slice(0, 40_000), 'latin1');
}

const flow: Flow = {
  ...{ connection: 0, protocol: 'UDP', source: { address: '192.0.2.1', port: 5060 } },
  local: { address: '198.51.100.7', port: 5060 },
};

function agent(gate: AgentState['settings']['gate']): AgentState {
  let last = 0;
  return newAgent({
    gate,
    accountAt: () => undefined,
    rules: { srtp: 'optional', codecs: sipCodecs },
    newToken: () => `t${(last += 1)}`,
    newKey: (bytes) => Buffer.alloc(bytes, 1).toString('base64'),
    newSessionId: () => 7,
    isClosed: () => false,
    mostTransactions: 500,
  });
}

function give(state: AgentState, bytes: Buffer, now: number): number {
  const parsed = parseDatagram(bytes);
  if (!parsed.ok) return 0;
  const { message, fault } = parsed.value;
  const event = { type: 'message.received', message, fault, flow, size: bytes.length } as const;
  return step(state, event, now).reduce((sum, one) => sum + (one.type === 'send' ? one.bytes.length : 0), 0);
}

describe('messages from a seed', () => {
  it('of somebody who has to sign in get few bytes more than they have, and leave nothing', () => {
    const prng = newPrng(23);
    const nobody = { isRegistrar: () => false, isTrunk: () => false };
    const password = { reveal: () => 's3cret' };
    const digest = { user: 'alice', password, realm: 'r' } as never;
    const state = agent(newGate({ allow: [], digest } as never, () => undefined, nobody));
    let surplus = 0;
    for (let round = 0; round < rounds; round += 1) {
      const bytes = changed(prng);
      surplus += Math.max(0, give(state, bytes, round) - bytes.length);
    }
    expect(surplus).toBeLessThan(8 * 1024 + (rounds / 1000) * 2 * 1024 + rounds * 10);
    expect([state.transactions.size, state.calls.size, state.clients.size]).toEqual([0, 0, 0]);
  });

  it('of somebody who may call throw nothing, and everything is forgotten in time', () => {
    const prng = newPrng(24);
    const state = agent({ judge: () => undefined, knows: () => false });
    let now = 0;
    for (let round = 0; round < rounds; round += 1) {
      give(state, changed(prng), now);
      now += 20;
      for (const { id } of state.calls.values()) {
        const what = prng.below(4);
        if (what === 0) step(state, { type: 'call.refused', call: id, status: 503, retryAfterS: 1 }, now);
        if (what === 1)
          step(state, { type: 'call.accepted', call: id, local: { address: '198.51.100.7', port: 9 } }, now);
        if (what === 2) step(state, { type: 'call.hung-up', call: id }, now);
      }
      if (round % 10 === 0) step(state, { type: 'time.passed' }, now);
      expect(state.transactions.size).toBeLessThanOrEqual(501);
    }
    for (const { id } of state.calls.values()) step(state, { type: 'call.hung-up', call: id }, now);
    for (let later = 0; later < 200; later += 1) step(state, { type: 'time.passed' }, (now += 1_000));
    expect([state.transactions.size, state.calls.size, state.clients.size, state.dialogs.size]).toEqual([
      ...[0, 0, 0, 0],
    ]);
    expect(state.merged.size).toBe(0);
  });

  it('on a stream, in pieces of any size, keep no more than one message', () => {
    const prng = newPrng(25);
    let frames = new StreamFrames();
    for (let round = 0; round < rounds; round += 1) {
      const bytes = changed(prng);
      for (let at = 0; at < bytes.length;) {
        const size = 1 + prng.below(1_500);
        if (!frames.take(bytes.subarray(at, at + size)).ok) {
          frames = new StreamFrames();
          break;
        }
        at += size;
      }
      expect(frames.waiting).toBeLessThan(64 * 1024);
    }
  });
});

/** A socket that counts what is sent, by address. */
class Wire extends EventEmitter {
  readonly bytes = new Map<string, number>();
  send(bytes: Buffer, _port: number, address: string, done: () => void): void {
    this.bytes.set(address, (this.bytes.get(address) ?? 0) + bytes.length);
    done();
  }
  close(): void {
    this.removeAllListeners();
  }
}

const key = Buffer.alloc(30, 1).toString('base64');
const shorterKey = Buffer.alloc(28, 1).toString('base64');
const media: Readonly<Record<string, SipMedia>> = {
  'in the clear': { codec: 'PCMU', payloadType: 0, dtmfType: 101, sends: true, receives: true },
  'as G.722': { codec: 'G722', payloadType: 9, dtmfType: 101, sends: true, receives: true },
  'as Opus': { codec: 'opus', payloadType: 9, dtmfType: 101, sends: true, receives: true },
  encrypted: {
    ...{ codec: 'PCMA', payloadType: 8, dtmfType: 101, sends: true, receives: true },
    keys: { suite: 'AES_CM_128_HMAC_SHA1_32', local: key, remote: key },
  },
  'encrypted in another way': {
    ...{ codec: 'PCMU', payloadType: 0, dtmfType: 101, sends: true, receives: true },
    keys: { suite: 'AEAD_AES_128_GCM', local: shorterKey, remote: shorterKey },
  },
};

describe('packets from a seed', () => {
  it.each(Object.entries(media))('%s throw nothing, and strangers get nothing', async (name, agreed) => {
    const prng = newPrng(26);
    const wire = new Wire();
    let [now, heard] = [0, 0];
    const nothing = (): void => undefined;
    const remote = { address: '192.0.2.1', port: 4_000, rtcpPort: 4_001 };
    const call = new SipCall({
      offer: {
        type: 'sip.offer',
        offer: 1,
        callId: 'c',
        media: { ...agreed, remote },
        isOpen: true,
        metadata: {},
      },
      socket: wire as unknown as Socket,
      events: {
        ...{ started: nothing, dtmf: nothing, markPlayed: nothing, typed: nothing, ended: nothing },
        messaged: () => false,
        audio: (bytes) => {
          heard += bytes.length;
          return true;
        },
      },
      line: { accept: nothing, refuse: nothing, hangUp: nothing, over: nothing },
      ...{ now: () => now, unixMs: () => now, random: () => 7 },
      scope: { bind: (work) => work },
      opus: agreed.codec === 'opus' ? await newOpus({ heard: 16_000, spoken: 16_000 }) : undefined,
    });
    call.accept();
    call.opened();
    for (let round = 0; round < rounds; round += 1) {
      const packet = Buffer.from(Array.from({ length: prng.below(200) }, () => prng.below(256)));
      // Most look like RTP, with a sequence and a time that are near.
      if (packet.length > 11 && prng.below(8) > 0) {
        packet[0] = 0x80 | (prng.below(4) === 0 ? prng.below(64) : 0);
        packet[1] = prng.pick([0, 8, 9, 13, 101, 229, 200, 201, 203]);
        packet.writeUInt16BE((round + prng.below(20)) & 0xffff, 2);
        if (prng.below(3) > 0) packet.writeUInt32BE(round * 160, 4);
        if (prng.below(10) > 0) packet.writeUInt32BE(1, 8);
      }
      const isStranger = prng.below(3) === 0;
      wire.emit('message', packet, { address: isStranger ? '203.0.113.9' : '192.0.2.1', port: 4_000 });
      now += prng.below(25);
      if (round % 2 === 0) call.tick(now);
    }
    const toStranger = wire.bytes.get('203.0.113.9') ?? 0;
    if (name.startsWith('encrypted')) expect([toStranger, heard]).toEqual([0, 0]);
    expect(heard / 2 / (sipCodecRate(agreed.codec) / 1000)).toBeLessThan(now + 60_000);
    expect(wire.bytes.get('192.0.2.1')).toBeGreaterThan(0);
  });
});
