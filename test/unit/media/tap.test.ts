/** Both directions on one line of samples: through stalls, catching up, a barge-in, and listeners that come and go. */
import { describe, expect, it } from 'vitest';
import { InboundAudio } from '../../../worker/media/in/inbound.ts';
import { OutboundAudio } from '../../../worker/media/out/outbound.ts';
import { Playout, type PlayoutSink } from '../../../worker/media/out/playout.ts';
import { AudioTap } from '../../../worker/media/tap.ts';
import { VadClient } from '../../../worker/media/vad/vad-client.ts';
import { newMailboxes } from '../../support/audio/mailboxes.ts';

const rate = 8_000;
const perMs = rate / 1000;
const frameMs = 20;
const frameSamples = frameMs * perMs;

interface Piece {
  readonly at: number;
  readonly pcm: readonly number[];
}

/** A recorder's two tracks. */
class Tracks {
  readonly heard: Piece[] = [];
  readonly sent: Piece[] = [];
  readonly listener = {
    heard: (pcm: Int16Array, at: number) => void this.heard.push({ at, pcm: [...pcm] }),
    sent: (pcm: Int16Array, at: number) => void this.sent.push({ at, pcm: [...pcm] }),
  };
}

/** Samples of a track between two times; what nobody said is 0. */
function between(pieces: readonly Piece[], fromMs: number, toMs: number): number[] {
  const track = new Array<number>((toMs - fromMs) * perMs).fill(0);
  for (const { at, pcm } of pieces)
    for (const [i, sample] of pcm.entries()) {
      const place = at + i - fromMs * perMs;
      if (place >= 0 && place < track.length) track[place] = sample;
    }
  return track;
}

const runsOf = (track: readonly number[]): [number, number][] => {
  const runs: [number, number][] = [];
  for (const sample of track) {
    const last = runs.at(-1);
    if (last?.[0] === sample) last[1] += 1 / perMs;
    else runs.push([sample, 1 / perMs]);
  }
  return runs.map(([sample, ms]) => [sample, Math.round(ms)]);
};

function newCall(beganAt = 0) {
  let now = beganAt;
  const tap = new AudioTap(rate);
  const boxes = newMailboxes({ workers: 1, slotsPerWorker: 1, ringFrames: 1024, threads: 1 });
  const vad = new VadClient({ boxes, slot: 0, machineMs: () => 0, judged: () => undefined });
  const inbound = new InboundAudio({
    sampleRate: rate,
    encoding: 'pcm16',
    vad,
    toStt: () => undefined,
    decoded: (pcm) => tap.heard(pcm, now),
  });
  const outbound = new OutboundAudio({
    fromRate: rate,
    toRate: rate,
    encoding: 'mulaw',
    taken: (pcm) => tap.sent(pcm, now),
  });
  const nothing = (): void => undefined;
  const sink: PlayoutSink = {
    stretchBegins: () => tap.pausedSending(),
    sendFrame: nothing,
    sendBackdrop: nothing,
    sendMark: nothing,
    started: nothing,
    drained: nothing,
    late: nothing,
    held: nothing,
    underrun: nothing,
    starved: nothing,
    fed: nothing,
  };
  const gridBefore = (time: number): number => Math.floor(time / frameMs) * frameMs;
  const playout = new Playout(outbound, { sink, gridBefore });
  return {
    tap,
    /** Time passes; every 20 ms the caller has said `caller`, and the ticker sends what is due. */
    pass: (ms: number, caller?: number): void => {
      for (const end = now + ms; now < end;) {
        now += frameMs;
        if (caller !== undefined)
          inbound.push(new Uint8Array(new Int16Array(frameSamples).fill(caller).buffer), now);
        playout.advance(now);
      }
    },
    /** The same, but nothing arrives and nothing is sent: the network or the process stands still. */
    stall: (ms: number): void => void (now += ms),
    push: (caller: number): boolean =>
      inbound.push(new Uint8Array(new Int16Array(frameSamples).fill(caller).buffer), now),
    say: (context: number, sample: number, ms: number): void => {
      outbound.open(context);
      outbound.write(context, new Int16Array(ms * perMs).fill(sample));
      outbound.finish(context);
      playout.interrupt();
      playout.advance(now);
    },
    clear: (): void => {
      outbound.clear();
      playout.interrupt();
    },
    now: () => now,
  };
}

describe('the tap of a call', () => {
  it('puts what was heard and what was sent at the same time at the same place', () => {
    const call = newCall(5_000);
    const tracks = new Tracks();
    call.tap.listen(tracks.listener, call.now());
    call.pass(200, 1);
    call.say(1, 9, 300);
    call.pass(300, 2);
    call.pass(200, 3);
    expect(runsOf(between(tracks.heard, 0, 700))).toEqual([
      [1, 200],
      [2, 300],
      [3, 200],
    ]);
    expect(runsOf(between(tracks.sent, 0, 700))).toEqual([
      [0, 200],
      [9, 300],
      [0, 200],
    ]);
  });

  it('has nothing of what a barge-in dropped, and the next answer where it was said', () => {
    const call = newCall();
    const tracks = new Tracks();
    call.tap.listen(tracks.listener, 0);
    call.say(1, 9, 5_000);
    call.pass(400, 1);
    call.clear();
    call.pass(60, 2);
    call.say(2, 8, 100);
    call.pass(240, 3);
    // At 400 ms the frame of that tick was on the wire already.
    expect(runsOf(between(tracks.sent, 0, 700))).toEqual([
      [9, 420],
      [0, 40],
      [8, 100],
      [0, 140],
    ]);
    expect(runsOf(between(tracks.heard, 0, 700))).toEqual([
      [1, 400],
      [2, 60],
      [3, 240],
    ]);
  });

  it('keeps frames together that are late and made up for', () => {
    const call = newCall();
    const tracks = new Tracks();
    call.tap.listen(tracks.listener, 0);
    call.say(1, 9, 600);
    call.pass(100);
    call.stall(80);
    call.pass(600);
    expect(runsOf(between(tracks.sent, 0, 700))).toEqual([
      [9, 600],
      [0, 100],
    ]);
  });

  it('puts frames where the client heard them when the process stood still for long', () => {
    const call = newCall();
    const tracks = new Tracks();
    call.tap.listen(tracks.listener, 0);
    call.say(1, 9, 400);
    call.pass(100);
    call.stall(1_000);
    call.pass(500);
    expect(runsOf(between(tracks.sent, 0, 1_600))).toEqual([
      [9, 120],
      [0, 1_000],
      [9, 280],
      [0, 200],
    ]);
  });

  it('loses no place to a network that stands still, and has silence where a client sent none', () => {
    const call = newCall();
    const tracks = new Tracks();
    call.tap.listen(tracks.listener, 0);
    call.pass(100, 1);
    call.stall(200);
    for (let frame = 0; frame < 10; frame += 1) expect(call.push(2)).toBe(true);
    call.pass(100, 3);
    call.stall(3_000);
    call.pass(100, 4);
    expect(runsOf(between(tracks.heard, 0, 3_500))).toEqual([
      [1, 100],
      [2, 200],
      [3, 100],
      [0, 3_000],
      [4, 100],
    ]);
  });

  it('puts what was kept back by a long stall, and comes at once, where it was said', () => {
    const call = newCall();
    const tracks = new Tracks();
    call.tap.listen(tracks.listener, 0);
    call.pass(100, 1);
    call.stall(3_000);
    // The call takes it faster than it was said, until it has caught up.
    let waiting = 140;
    for (;;) {
      while (waiting > 0 && call.push(2)) waiting -= 1;
      if (waiting === 0) break;
      call.stall(frameMs);
      waiting += 1;
    }
    const caughtUp = call.now();
    call.pass(100, 3);
    const runs = runsOf(between(tracks.heard, 0, caughtUp + 100));
    expect(runs.map(([sample]) => sample)).toEqual([1, 0, 2, 3]);
    const [, , [, backlogMs] = [0, 0]] = runs;
    expect(Math.abs(backlogMs - (caughtUp - 300))).toBeLessThanOrEqual(frameMs);
  });

  it('has what was said before the listener came, and came only then, as far as it is told', () => {
    const call = newCall(5_000);
    const tracks = new Tracks();
    const close = call.tap.listen(tracks.listener, call.now(), 200);
    for (let frame = 0; frame < 12; frame += 1) expect(call.push(2)).toBe(true);
    close();
    expect(runsOf(between(tracks.heard, -300, 300))).toEqual([
      [0, 100],
      [2, 240],
      [0, 260],
    ]);
  });

  it('keeps all that was said before the call, and is back in time with the next silence', () => {
    const call = newCall(5_000);
    const tracks = new Tracks();
    call.tap.listen(tracks.listener, call.now());
    for (let frame = 0; frame < 10; frame += 1) expect(call.push(2_000)).toBe(true);
    call.pass(100, 3_000);
    call.pass(400, 1);
    call.pass(100, 4_000);
    expect(runsOf(between(tracks.heard, 0, 620))).toEqual([
      [2_000, 200],
      [3_000, 100],
      [1, 220],
      [4_000, 100],
    ]);
  });

  it('begins at 0 with each listener, and tells nothing to one that has gone', () => {
    const call = newCall();
    const [first, second] = [new Tracks(), new Tracks()];
    call.pass(100, 1);
    const close = call.tap.listen(first.listener, call.now());
    call.pass(100, 2);
    close();
    call.pass(100, 3);
    call.tap.listen(second.listener, call.now());
    close();
    call.pass(100, 4);
    expect(runsOf(between(first.heard, 0, 100))).toEqual([[2, 100]]);
    expect(first.heard).toHaveLength(5);
    expect(runsOf(between(second.heard, 0, 100))).toEqual([[4, 100]]);
  });

  it('has several listeners, each with a line of its own', () => {
    const call = newCall();
    const [first, second] = [new Tracks(), new Tracks()];
    call.tap.listen(first.listener, call.now());
    call.pass(100, 1);
    const close = call.tap.listen(second.listener, call.now());
    call.pass(100, 2);
    close();
    call.pass(100, 3);
    expect(runsOf(between(second.heard, 0, 100))).toEqual([[2, 100]]);
    expect(runsOf(between(first.heard, 0, 240))).toEqual([
      [1, 100],
      [2, 100],
      [3, 40],
    ]);
  });
});
