/** The caller's audio on its way in: what VAD and STT get, to the sample. */
import { describe, expect, it } from 'vitest';
import { encodeMulaw, decodeMulaw } from '../../../shared/audio/g711.ts';
import { writeInt16 } from '../../../shared/audio/pcm.ts';
import { SAMPLE_RATES } from '../../../shared/base/units.ts';
import { newResampler } from '../../../shared/audio/resampler.ts';
import { newPrng } from '../../../shared/base/prng.ts';
import { InboundAudio } from '../../../worker/media/in/inbound.ts';
import { VadClient } from '../../../worker/media/vad/vad-client.ts';
import { newMailboxes } from '../../support/audio/mailboxes.ts';

const prerollSamples = 9_600;
const codecs = ['pcm16', 'mulaw'] as const;

function bytesOf(pcm: Int16Array, encoding: 'pcm16' | 'mulaw'): Uint8Array {
  const bytes = new Uint8Array(encoding === 'mulaw' ? pcm.length : pcm.length * 2);
  if (encoding === 'mulaw') encodeMulaw(pcm, bytes);
  else writeInt16(pcm, bytes);
  return bytes;
}

/** Numbered samples, so that every one is recognised. */
const counting = (from: number, count: number): Int16Array =>
  Int16Array.from({ length: count }, (_, i) => from + i);

function newSetup(sampleRate = 16_000, encoding: 'pcm16' | 'mulaw' = 'pcm16') {
  const boxes = newMailboxes({ workers: 1, slotsPerWorker: 1, ringFrames: 1024, threads: 1 });
  const vad = new VadClient({ boxes, slot: 0, machineMs: () => 0, judged: () => undefined });
  const stt: number[] = [];
  const inbound = new InboundAudio({ sampleRate, encoding, vad, toStt: (pcm) => stt.push(...pcm) });
  let now = 0;
  /** Gives audio in pieces of 20 ms in real time. */
  const hear = (pcm: Int16Array): void => {
    const size = sampleRate / 50;
    for (let at = 0; at < pcm.length; at += size) {
      now += 20;
      expect(inbound.push(bytesOf(pcm.subarray(at, at + size), encoding), now)).toBe(true);
    }
  };
  const toVad = (): number[] => {
    const box = boxes.mailbox(0);
    return Array.from({ length: box.produced }, (_, i) => [...box.frame(i)]).flat();
  };
  return { inbound, stt, hear, toVad };
}

describe('the audio before a turn', () => {
  it('reaches STT with exactly the last 600 ms before the order to listen', () => {
    const { inbound, stt, hear } = newSetup();
    hear(counting(0, 20_000));
    expect(stt).toEqual([]);
    inbound.listen();
    expect(stt).toEqual([...counting(20_000 - prerollSamples, prerollSamples)]);
    hear(counting(20_000, 640));
    expect(stt).toEqual([...counting(20_000 - prerollSamples, prerollSamples + 640)]);
  });

  it('is all of the call when the call is younger than that', () => {
    const { inbound, stt, hear } = newSetup();
    hear(counting(0, 3_000));
    inbound.listen();
    inbound.listen();
    expect(stt).toEqual([...counting(0, 3_000)]);
  });

  it('is nothing at the very start', () => {
    const { inbound, stt, hear } = newSetup();
    inbound.listen();
    expect(stt).toEqual([]);
    hear(counting(0, 320));
    expect(stt).toEqual([...counting(0, 320)]);
  });

  it('never reaches STT twice when listening stops and begins again', () => {
    const { inbound, stt, hear } = newSetup();
    hear(counting(0, 12_000));
    inbound.listen();
    hear(counting(12_000, 1_600));
    inbound.stopListening();
    inbound.listen();
    hear(counting(13_600, 320));
    inbound.stopListening();
    hear(counting(13_920, 960));
    inbound.listen();
    expect(stt).toEqual([...counting(12_000 - prerollSamples, 14_880 - 12_000 + prerollSamples)]);
  });

  it('is at most 600 ms after a long pause', () => {
    const { inbound, stt, hear } = newSetup();
    inbound.listen();
    hear(counting(0, 320));
    inbound.stopListening();
    hear(counting(320, 12_320));
    stt.length = 0;
    inbound.listen();
    expect(stt).toEqual([...counting(12_640 - prerollSamples, prerollSamples)]);
  });

  it('is the same however the frames are cut, larger ones than the memory included', () => {
    const { inbound, stt } = newSetup();
    const prng = newPrng(7);
    let at = 0;
    for (let now = 0; at < 25_000; now += 10_000) {
      const count = prng.pick([1, 37, 320, 9_600, 9_601, 12_000]);
      expect(inbound.push(bytesOf(counting(at, count), 'pcm16'), now)).toBe(true);
      at += count;
    }
    inbound.listen();
    expect(stt).toEqual([...Int16Array.from(counting(at - prerollSamples, prerollSamples))]);
  });
});

describe('caller audio at every rate and encoding', () => {
  const calls = SAMPLE_RATES.flatMap((rate) => codecs.map((encoding) => ({ rate, encoding })));

  it.each(calls)('$encoding at $rate Hz reaches VAD and STT alike, at 16 kHz', ({ rate, encoding }) => {
    const { inbound, stt, hear, toVad } = newSetup(rate, encoding);
    const pcm = Int16Array.from({ length: rate / 5 }, (_, i) => 9_000 * Math.sin((i * 2_000) / rate));
    inbound.listen();
    hear(pcm);
    const sent = Int16Array.from(pcm);
    if (encoding === 'mulaw') decodeMulaw(bytesOf(pcm, 'mulaw'), sent);
    const expected = [...newResampler({ from: rate, to: 16_000 }).process(sent)];
    expect(stt).toEqual(expected);
    const whole = toVad();
    expect(whole).toHaveLength(Math.floor(3_200 / 512) * 512);
    expect(whole).toEqual(expected.slice(0, whole.length));
  });

  it('reads bytes at an odd address', () => {
    const { inbound, stt } = newSetup();
    const bytes = bytesOf(counting(500, 320), 'pcm16');
    const odd = new Uint8Array(bytes.length + 1);
    odd.set(bytes, 1);
    inbound.listen();
    expect(inbound.push(odd.subarray(1), 0)).toBe(true);
    expect(stt).toEqual([...counting(500, 320)]);
  });
});

describe('a flood of caller audio', () => {
  const frame = bytesOf(counting(0, 320), 'pcm16');

  it('is taken at no more than twice real time, after a burst of 240 ms', () => {
    const { inbound } = newSetup();
    let taken = 0;
    for (let now = 0; now <= 10_000; now += 1)
      for (let i = 0; i < 5; i += 1) if (inbound.push(frame, now)) taken += 1;
    expect(taken * 20).toBeLessThanOrEqual(240 + 2 * 10_000);
    expect(taken * 20).toBeGreaterThan(240 + 2 * 10_000 - 40);
  });

  it('leaves nothing behind of a frame that was refused', () => {
    const { inbound, stt } = newSetup();
    inbound.listen();
    for (let i = 0; i < 12; i += 1) expect(inbound.push(frame, 0)).toBe(true);
    expect(inbound.push(frame, 0)).toBe(false);
    expect(stt).toHaveLength(12 * 320);
    expect(inbound.push(frame, 10)).toBe(true);
  });

  it('does not save up more than the burst while the line is quiet', () => {
    const { inbound } = newSetup();
    inbound.push(frame, 0);
    let taken = 0;
    while (inbound.push(frame, 60_000)) taken += 1;
    expect(taken).toBe(12);
  });

  it('does not take a frame that would take more than half a second to make up for', () => {
    const { inbound } = newSetup();
    const longest = (240 + 1_000) * 16;
    expect(inbound.push(bytesOf(counting(0, longest + 1), 'pcm16'), 0)).toBe(false);
    expect(inbound.push(bytesOf(counting(0, longest), 'pcm16'), 0)).toBe(true);
  });

  it('takes one frame longer than the whole burst, and then waits for it', () => {
    const { inbound } = newSetup();
    const long = bytesOf(counting(0, 16_000), 'pcm16');
    expect(inbound.push(long, 0)).toBe(true);
    expect(inbound.push(frame, 380)).toBe(false);
    expect(inbound.push(frame, 390)).toBe(true);
  });
});
