/** What goes out of a SIP call: a packet every 20 ms whatever the engine does, with timestamps that keep to the clock. */
import { describe, expect, it } from 'vitest';
import { KeyReader } from '../../../worker/media/rtp/keys.ts';
import { readRtp, type RtpPacket } from '../../../worker/media/rtp/rtp.ts';
import { RtpOut } from '../../../worker/sip/rtp-out.ts';
import { sipCodecRate, type SipCodec, type SipMedia } from '../../../shared/sip/calls.ts';

const media = (codec: SipCodec): SipMedia => ({
  codec,
  payloadType: 0,
  sends: true,
  receives: true,
  dtmfType: 101,
});

function out({ codec = 'PCMU', isOpen = true }: { codec?: SipCodec; isOpen?: boolean } = {}): {
  rtp: RtpOut;
  sent: RtpPacket[];
} {
  const sent: RtpPacket[] = [];
  const rtp = new RtpOut(media(codec), {
    send: (packet) => sent.push(readRtp(Buffer.from(packet))!),
    ...{ random: () => 1_000, saved: undefined, now: 0, rate: sipCodecRate(codec) },
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

  it('says what comes while it presses keys behind them, and all of it', () => {
    const { rtp, sent } = out();
    rtp.press('5');
    expect(rtp.waitingMs).toBe(340);
    for (let now = 0; now < 400; now += 20) {
      rtp.frame(speech, now);
      expect(rtp.waitingMs).toBe(340);
    }
    for (let now = 400; now < 1_000; now += 20) rtp.tick(now);
    const said = sent.findIndex(({ payload, payloadType }) => payloadType === 0 && payload[0] !== 0xff);
    expect(said).toBeGreaterThan(sent.findLastIndex(({ payloadType }) => payloadType === 101));
    expect(sent.slice(said).filter(({ payload }) => payload[0] !== 0xff)).toHaveLength(20);
  });

  it('presses keys in the place of audio, each an event of one time that ends three times', () => {
    const { rtp, sent } = out();
    for (let now = 0; now < 200; now += 20) rtp.frame(speech, now);
    expect(rtp.press('5wd')).toBe(true);
    for (let now = 200; now < 2_000; now += 20) rtp.frame(speech, now);
    const events = sent.filter(({ payloadType }) => payloadType === 101);
    const reader = new KeyReader();
    expect(events.map((packet) => reader.take(packet, 8_000)).filter((key) => key !== undefined)).toEqual([
      '5',
      'D',
    ]);
    expect(events.filter(({ marker }) => marker).length).toBe(2);
    const [first] = events;
    const five = events.filter(({ timestamp }) => timestamp === first!.timestamp);
    expect(five.map(({ payload }) => Buffer.from(payload).readUInt16BE(2))).toEqual([
      ...Array.from({ length: 12 }, (_, frame) => (frame + 1) * 160),
      1_920,
      1_920,
    ]);
    expect(five.map(({ payload }) => payload[1]! >> 7)).toEqual([...Array<number>(11).fill(0), 1, 1, 1]);
    // Half a second and the gap between the two, and the numbers go on through all of it.
    const between = events.at(-1)!.timestamp - first!.timestamp;
    expect(between).toBe((240 + 100 + 500) * 8);
    expect(sent.every(({ sequence }, i) => i === 0 || sequence === sent[i - 1]!.sequence + 1)).toBe(true);
    const audio = sent.filter(({ payloadType }) => payloadType === 0);
    expect(audio.at(-1)!.timestamp - audio[0]!.timestamp).toBe(99 * 160);
  });

  it('presses no keys for a peer that knows none, and not without end', () => {
    const { rtp } = out();
    expect(rtp.press('1'.repeat(64))).toBe(true);
    expect(rtp.press('1')).toBe(false);
    const { rtp: other } = out();
    const { dtmfType: _none, ...plain } = media('PCMU');
    for (const one of [plain, { ...media('PCMU'), sends: false }, { ...media('PCMU'), dtmfClock: 16_000 }]) {
      other.agreed(one);
      expect(other.press('1')).toBe(false);
    }
  });
});
