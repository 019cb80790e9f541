/**
 * Strangers at the ports of media, and offers that point at others: nothing is sent to a client that has not proven to know a call, the call that
 * is there goes on, and descriptors and memory are back afterwards.
 */
import { randomBytes } from 'node:crypto';
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stunAttribute, stunType, writeStun } from '../../../shared/webrtc/stun.ts';
import { childrenOf, descriptorsOf, TestService } from '../../support/process/service.ts';
import { rawOffer } from '../../support/webrtc/raw-offer.ts';
import { WeriftCaller } from '../../support/webrtc/werift-caller.ts';

const packets = 20_000;
/** The kernel keeps so many for a socket; more at once would be lost before anybody had to look at them. */
const burst = 100;
const connections = 300;
const offers = 40;
/** Connections to providers come and go. */
const spareDescriptors = 8;
const growthBytes = 40 * 1024 * 1024;

let service: TestService;
let caller: WeriftCaller;

beforeAll(async () => {
  service = await TestService.start({
    greeting: 'One two three four five six seven. '.repeat(27),
    env: {
      ...{ SVC_WEBRTC_ADDR: '127.0.0.1:0', SVC_WEBRTC_TCP_ADDR: '127.0.0.1:0' },
      ...{ SVC_WEBRTC_OFFERS_PER_MINUTE: 'off', SVC_WEBRTC_MAX_CALLS_PER_IP: '200' },
      SVC_WEBRTC_MAX_HANDSHAKING: '200',
    },
  });
  caller = new WeriftCaller();
  expect((await caller.call(whip())).status).toBe(201);
  await caller.connected();
});

afterAll(async () => {
  await caller.close();
  await service.stop();
});

const whip = (): string => `http://${service.address('webrtc')}/whip`;

const port = (transport: 'udp' | 'tcp'): number =>
  Number(new RegExp(`candidate:\\d+ 1 ${transport} \\d+ \\S+ (\\d+) `).exec(caller.answerSdp)?.[1]);

const descriptors = (): number =>
  [service.pid, ...childrenOf(service.pid)].map(descriptorsOf).reduce((sum, count) => sum + count, 0);

const residentBytes = (): number =>
  childrenOf(service.pid)
    .map((pid) => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024)
    .reduce((sum, bytes) => sum + bytes, 0);

/** The caller is spoken to after what went on before. */
async function goesOn(): Promise<void> {
  const before = caller.packets.length;
  await caller.until(() => caller.packets.length > before + 5);
}

async function stranger(heard: Buffer[]): Promise<Socket> {
  const socket = createSocket('udp4').bind(0, '127.0.0.1');
  await once(socket, 'listening');
  socket.on('message', (packet) => heard.push(packet));
  return socket;
}

const check = (ufrag: string): Buffer =>
  writeStun(stunType.bindingRequest, {
    ...{ transaction: randomBytes(12), key: 'a-password-that-is-not-the-right-one' },
    attributes: [[stunAttribute.username, Buffer.from(`${ufrag}:client`)]],
  });

const callUfrag = (): string => /a=ice-ufrag:(\S+)/.exec(caller.answerSdp)?.[1] ?? '';

const floods: readonly (readonly [string, () => Buffer])[] = [
  ['STUN that names no call', () => check(randomBytes(6).toString('hex'))],
  ['STUN of a live call without its password', () => check(callUfrag())],
  ['DTLS that begins no session', () => Buffer.concat([Buffer.from('16fefd', 'hex'), randomBytes(60)])],
  ['SRTP of nobody', () => Buffer.concat([Buffer.from('806f', 'hex'), randomBytes(60)])],
  ['noise', () => randomBytes(64)],
];

describe('a flood at the UDP port of a live call', () => {
  it.each(floods)('of %s is not answered', async (_, make) => {
    const heard: Buffer[] = [];
    const socket = await stranger(heard);
    const before = descriptors();
    for (let sent = 0; sent < packets / floods.length; sent += burst) {
      for (let at = 0; at < burst; at += 1) socket.send(make(), port('udp'), '127.0.0.1');
      await new Promise((resolve) => setImmediate(resolve));
    }
    await goesOn();
    socket.close();
    expect(heard).toEqual([]);
    expect(descriptors()).toBeLessThanOrEqual(before + spareDescriptors);
  });
});

describe('TCP connections for media that name no call', () => {
  it('are closed without a byte, and leave nothing behind', async () => {
    const before = descriptors();
    const outcomes = Array.from({ length: connections }, (_, index) => {
      const socket = connect(port('tcp'), '127.0.0.1');
      const bytes: Buffer[] = [];
      socket.on('data', (data) => bytes.push(data));
      socket.on('error', () => undefined);
      const request = check(index % 2 === 0 ? callUfrag() : 'nobody');
      const length = Buffer.from([request.length >> 8, request.length & 0xff]);
      socket.write(index % 3 === 0 ? randomBytes(200) : Buffer.concat([length, request]));
      return new Promise<number>((resolve) => socket.once('close', () => resolve(bytes.length)));
    });
    expect(new Set(await Promise.all(outcomes))).toEqual(new Set([0]));
    await goesOn();
    await expect.poll(descriptors).toBeLessThanOrEqual(before + spareDescriptors);
  });
});

describe('offers whose candidates point at others', () => {
  it('send them nothing, by POST or by PATCH, and leave nothing behind', async () => {
    const heard: Buffer[] = [];
    const victim = await stranger(heard);
    const [descriptorsBefore, memoryBefore] = [descriptors(), residentBytes()];
    const line = `a=candidate:1 1 udp 2122260223 127.0.0.1 ${victim.address().port} typ host`;
    const body = rawOffer.replace(/a=candidate:.*/, line);
    for (let made = 0; made < offers; made += 1) {
      const response = await fetch(whip(), {
        method: 'POST',
        headers: { 'Content-Type': 'application/sdp' },
        body,
      });
      expect(response.status).toBe(201);
      const session = new URL(response.headers.get('location') ?? '', whip());
      const fragment = { 'Content-Type': 'application/trickle-ice-sdpfrag' };
      const patch = { method: 'PATCH', headers: fragment, body: `a=mid:0\r\n${line}\r\n` };
      expect((await fetch(session, patch)).status).toBe(204);
      expect((await fetch(session, { method: 'DELETE' })).status).toBe(200);
    }
    await service.readyWhen((ready) => ready['sessions'] === 1);
    await goesOn();
    expect(heard).toEqual([]);
    victim.close();
    await expect
      .poll(descriptors, { timeout: 20_000 })
      .toBeLessThanOrEqual(descriptorsBefore + spareDescriptors);
    expect(residentBytes() - memoryBefore).toBeLessThan(growthBytes);
  });
});
