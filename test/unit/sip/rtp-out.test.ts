/** What goes out of a SIP call: a packet every 20 ms whatever the engine does, with timestamps that keep to the clock. */
import { describe, expect, it } from 'vitest';
import { readRtp, type RtpPacket } from '../../../worker/media/rtp/rtp.ts';
import { RtpOut } from '../../../worker/transports/sip/rtp-out.ts';
import type { SipCodec, SipMedia } from '../../../shared/protocol/sip/calls.ts';

const media = (codec: SipCodec): SipMedia => ({ codec, payloadType: 0, sends: true, receives: true });

function out({ codec = 'PCMU', isOpen = true }: { codec?: SipCodec; isOpen?: boolean } = {}): {
  rtp: RtpOut;
  sent: RtpPacket[];
} {
  const sent: RtpPacket[] = [];
  const rtp = new RtpOut(media(codec), {
    send: (packet) => sent.push(readRtp(Buffer.from(packet))!),
    ...{ random: () => 1_000, saved: undefined, now: 0 },
  });
  if (isOpen) rtp.open(0);
  return { rtp, sent };
}

const speech = new Int16Array(160).fill(1_000);
const steps = (sent: readonly RtpPacket[]): number[] =>
  sent.slice(1).map(({ timestamp }, i) => timestamp - sent[i]!.timestamp);

describe('RTP of this side', () => {
  it('is silence every 20 ms where the engine says nothing', () => {
    const { rtp, sent } = out();
    for (let now = 0; now <= 2_000; now += 20) rtp.tick(now);
    expect(sent.length).toBeGreaterThanOrEqual(98);
    expect(new Set(steps(sent))).toEqual(new Set([160]));
    expect(sent.every(({ payload }) => payload.every((byte) => byte === 0xff))).toBe(true);
  });

  it('marks where speech begins, and adds nothing while it lasts', () => {
    const { rtp, sent } = out();
    for (let now = 0; now < 400; now += 20) rtp.tick(now);
    const before = sent.length;
    for (let now = 405; now < 805; now += 20) {
      rtp.frame(speech, now);
      rtp.tick(now + 15);
    }
    const said = sent.slice(before);
    expect(said.map(({ marker }) => marker).lastIndexOf(true)).toBe(0);
    expect(said).toHaveLength(20);
  });

  it('keeps to the clock over a hundred turns that begin at any moment', () => {
    const { rtp, sent } = out();
    let now = 0;
    for (let turn = 0; turn < 100; turn += 1) {
      const from = now + 500 + ((turn * 7) % 20);
      for (; now < from; now += 20) rtp.tick(now);
      for (let frame = 0; frame < 10; frame += 1) rtp.frame(speech, from + frame * 20 + (turn % 3));
      now = Math.ceil((from + 200) / 20) * 20;
    }
    rtp.tick(now);
    const saidMs = (sent.at(-1)!.timestamp - sent[0]!.timestamp) / 8;
    expect(Math.abs(saidMs - now)).toBeLessThan(100);
    expect(steps(sent).every((step) => step > 0 && step % 160 === 0)).toBe(true);
  });

  it('makes up for a worker that comes late, but not for a long standstill', () => {
    const { rtp, sent } = out();
    rtp.tick(40);
    const before = sent.length;
    rtp.tick(100);
    expect(sent.length - before).toBe(3);
    rtp.tick(10_100);
    expect(sent.length - before).toBeLessThan(10);
    expect(sent.at(-1)!.timestamp - sent[0]!.timestamp).toBeGreaterThan(10_000 * 8 - 800);
  });

  it('waits for the peer to agree, and says all of it then', () => {
    const { rtp, sent } = out({ isOpen: false });
    for (let now = 0; now < 200; now += 20) rtp.frame(speech, now);
    expect(sent).toHaveLength(0);
    rtp.open(200);
    for (let now = 220; now < 460; now += 20) rtp.tick(now);
    expect(sent.filter(({ payload }) => payload[0] !== 0xff)).toHaveLength(10);
  });

  it('counts the clock of G.722 as one of 8 kHz', () => {
    const { rtp, sent } = out({ codec: 'G722' });
    for (let now = 0; now < 200; now += 20) rtp.tick(now);
    expect(new Set(steps(sent))).toEqual(new Set([160]));
    expect(sent.every(({ payload }) => payload.length === 160)).toBe(true);
  });
});
