/** A WebRTC call as a machine, its marks by clock, and its reports. */
import { describe, expect, it } from 'vitest';
import { connectTimeoutMs, mediaTimeoutMs, newPeerCall, step } from '../../../worker/webrtc/call-machine.ts';
import { PlayoutClock } from '../../../worker/webrtc/playout-clock.ts';
import { RtcpReporter } from '../../../worker/media/rtp/rtcp.ts';
import { readRtp, writeRtp } from '../../../worker/webrtc/rtp.ts';

const start = {
  callId: 'c',
  sampleRate: 24_000,
  inputRate: 16_000,
  encoding: 'pcm16',
  metadata: {},
} as const;
const typesOf = (actions: readonly { readonly type: string }[]): string[] => actions.map(({ type }) => type);

describe('a WebRTC call', () => {
  it('begins when it is connected, and is given up when that takes too long', () => {
    const call = newPeerCall(start, { now: 0, isResumed: false });
    expect(typesOf(step(call, { type: 'peer.connected' }, 100))).toEqual([
      'notify.connected',
      'notify.started',
    ]);
    const slow = newPeerCall(start, { now: 0, isResumed: false });
    expect(step(slow, { type: 'time.passed' }, connectTimeoutMs - 1)).toEqual([]);
    expect(typesOf(step(slow, { type: 'time.passed' }, connectTimeoutMs))).toEqual(['close', 'notify.ended']);
  });

  it('ends when nothing of the client comes, and once', () => {
    const call = newPeerCall(start, { now: 0, isResumed: false });
    step(call, { type: 'peer.connected' }, 0);
    step(call, { type: 'call.accepted' }, 0);
    step(call, { type: 'media.arrived' }, 5_000);
    expect(step(call, { type: 'time.passed' }, 5_000 + mediaTimeoutMs - 1)).toEqual([]);
    expect(step(call, { type: 'time.passed' }, 5_000 + mediaTimeoutMs)).toContainEqual({
      type: 'notify.ended',
      reason: 'disconnected',
    });
    expect(step(call, { type: 'signaling.ended' }, 20_000)).toEqual([]);
  });

  it.each([
    ['its client hung up', 'signaling.ended', 'hangup'],
    ['its client closed the connection, and hangs up afterwards', 'peer.left', 'hangup'],
    ['the connection broke', 'peer.closed', 'disconnected'],
  ] as const)('says that %s', (_, type, reason) => {
    const call = newPeerCall(start, { now: 0, isResumed: false });
    step(call, { type: 'peer.connected' }, 0);
    expect(step(call, { type }, 1)).toEqual([{ type: 'close' }, { type: 'notify.ended', reason }]);
    expect(step(call, { type: 'signaling.ended' }, 2)).toEqual([]);
  });

  it('that goes on is not started anew', () => {
    const call = newPeerCall(start, { now: 0, isResumed: true });
    expect(typesOf(step(call, { type: 'peer.connected' }, 0))).toEqual(['notify.connected']);
  });
});

describe('marks by clock', () => {
  it('are played after the way and the buffer, in order, and never once they are cut', () => {
    const clock = new PlayoutClock();
    clock.noteWay({ roundTripMs: 100, jitterMs: 0 });
    clock.sent('a', 0);
    clock.sent('b', 20);
    expect(clock.takePlayed(clock.delayMs - 1)).toBeUndefined();
    expect(clock.takePlayed(clock.delayMs)).toBe('a');
    clock.cleared();
    expect(clock.takePlayed(10_000)).toBeUndefined();
    clock.audioSent(20_000);
    clock.sent('long behind the last audio', 30_000);
    expect(clock.takePlayed(30_000)).toBe('long behind the last audio');
  });
});

describe('reports', () => {
  it('tell each side what was lost and how long the way is', () => {
    const [service, client] = [1, 2].map((ssrc) => new RtcpReporter({ ssrc, clockRate: 48_000 }));
    const unix = 1_700_000_000_000;
    for (let n = 0; n < 100; n += 1) {
      service!.sent({ timestamp: n * 960, bytes: 80 }, n * 20);
      if (n % 10 !== 0) client!.arrived({ ssrc: 1, sequence: n, timestamp: n * 960 }, n * 20 + 30);
    }
    client!.read(service!.report(2_000, unix), 2_030, unix + 30);
    const report = service!.read(client!.report(2_130, unix + 130), 2_160, unix + 160);
    expect(report?.roundTripMs).toBeCloseTo(60, 0);
    expect(report?.lost).toBeCloseTo(0.1, 1);
  });

  it('say how the other side was heard, over its streams and connections', () => {
    const reporter = new RtcpReporter({ ssrc: 1, clockRate: 48_000 });
    expect(reporter.heard).toBeUndefined();
    const hear = (to: RtcpReporter, ssrc: number, lost: number): void => {
      for (let n = 0; n < 100; n += 1)
        if (n === 0 || n > lost) to.arrived({ ssrc, sequence: 65_500 + n, timestamp: n * 960 }, n * 20);
    };
    hear(reporter, 5, 10);
    expect(reporter.heard).toMatchObject({ packets: 90, lost: 10, jitterMs: 0 });
    hear(reporter, 6, 20);
    expect(reporter.heard).toMatchObject({ packets: 170, lost: 30 });
    const next = new RtcpReporter({ ssrc: 1, clockRate: 48_000, earlier: reporter.heard });
    expect(next.heard).toMatchObject({ packets: 170, lost: 30 });
    hear(next, 7, 0);
    expect(next.heard).toMatchObject({ packets: 270, lost: 30 });
  });

  it('that are cut short are nothing', () => {
    const reporter = new RtcpReporter({ ssrc: 1, clockRate: 48_000 });
    const whole = new RtcpReporter({ ssrc: 2, clockRate: 48_000 }).report(0, 0);
    for (let bytes = 0; bytes < whole.length; bytes += 1)
      expect(reporter.read(whole.subarray(0, bytes), 0, 0)).toBeUndefined();
  });
});

describe('RTP', () => {
  it('is read as it is written, and not where it is cut', () => {
    const header = { marker: true, payloadType: 111, sequence: 65_535, timestamp: 2 ** 32 - 1, ssrc: 7 };
    const packet = writeRtp(header, Buffer.from('abc'));
    expect(readRtp(packet)).toEqual({ ...header, payload: Buffer.from('abc') });
    expect(readRtp(packet.subarray(0, 11))).toBeUndefined();
  });
});
