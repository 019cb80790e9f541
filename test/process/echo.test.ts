/**
 * A client whose loudspeaker leaks into its microphone, over a real socket: the agent is not interrupted by itself, but by its caller.
 * The microphone's frames go out as the agent's come in, so that a busy machine delays both alike.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadFlite, type Flite } from '../../examples/demo/flite.ts';
import { audioFrame, CallClient } from '../../scripts/measure/bench/client/client.ts';
import { newPrng } from '../../shared/base/prng.ts';
import { newResampler } from '../../shared/audio/resampler.ts';
import type { FakeReply } from '../support/fakes/fake-http.ts';
import { speech } from '../support/fakes/fake-speech.ts';
import { TestService } from '../support/process/service.ts';

const greeting = 'Hello there. I can tell you the time, or book a table. What would you like to do today?';
/** The last of the lines that a worker has TTS make ahead of time. */
const lastKnownLine = 'Shall I go ahead with that?';
const frameSamples = 320;
/** The echo comes back 150 ms later, and 12 dB softer. */
const delaySamples = 2_400;
const gain = 0.25;
/** The room answers with ten times as much energy, for 0.4 s. */
const room = newRoom({ samples: 6_400, every: 9, energy: 10 });
/** The caller begins in this frame of the greeting. */
const speaksInFrame = 100;

/** Delays and strengths of the sound that comes by way of the walls, dying down by 60 dB. */
function newRoom({ samples, every, energy }: { samples: number; every: number; energy: number }) {
  const prng = newPrng(12);
  const walls = Array.from({ length: Math.floor(samples / every) }, (_, i) => {
    const delay = 60 + i * every + prng.below(every);
    return { delay, strength: (prng.next() - 0.5) * 10 ** ((-3 * delay) / samples) };
  });
  const sum = walls.reduce((all, { strength }) => all + strength ** 2, 0);
  return walls.map(({ delay, strength }) => ({ delay, strength: strength * Math.sqrt(energy / sum) }));
}

let service: TestService;
let caller: Int16Array;
let greetingSamples: number;

beforeAll(async () => {
  const flite: Flite = await loadFlite();
  caller = flite('Stop that now please', { voice: 'rms', speed: 1 });
  const pcm = newResampler({ from: 16_000, to: 24_000 }).process(flite(greeting, { voice: 'slt', speed: 1 }));
  const spoken = pcm.slice();
  // But for the end: the spaces between the pieces are in none of them.
  greetingSamples = Math.floor((spoken.length * 2) / 3) - 4_800;
  // However the greeting is cut into pieces, each has its share of one recording.
  const speak: FakeReply = (request) => {
    const text = String(request.body['input']);
    const at = greeting.indexOf(text);
    const sampleAt = (char: number): number => Math.floor((char * spoken.length) / greeting.length);
    const piece = at < 0 ? new Int16Array(2_400) : spoken.slice(sampleAt(at), sampleAt(at + text.length));
    speech([Buffer.from(piece.buffer)])(request);
  };
  service = await TestService.launch({ greeting });
  service.providers.tts.script.push(...Array.from({ length: 60 }, () => speak));
  await service.says('ready');
  // In the first call lines are not known yet, and are cut into other pieces.
  await hold({ leaks: false, speaks: false });
  const { tts } = service.providers;
  await tts.until(() => tts.inputs.includes(lastKnownLine));
}, 120_000);

afterAll(async () => {
  await service.stop();
});

interface Held {
  /** Everything that the agent said, sample by sample. */
  readonly received: Int16Array;
  readonly clears: number;
}

/** What comes back of a sample and of those before it. */
function leak(received: readonly number[], at: number, walls: typeof room): number {
  const direct = received[at] ?? 0;
  if (walls.length === 0) return direct * gain;
  let sum = direct;
  for (const { delay, strength } of walls) sum += (received[at - delay] ?? 0) * strength;
  return (sum * gain) / 3.3;
}

/** One call to the end of the greeting, or to the first `clear`. */
function hold({ leaks, speaks }: { leaks: boolean | 'in a room'; speaks: boolean }): Promise<Held> {
  return new Promise((resolve, reject) => {
    const received: number[] = [];
    let clears = 0;
    const microphone = (from: number): Int16Array =>
      Int16Array.from({ length: frameSamples }, (_, i) => {
        const leaked =
          leaks === false ? 0 : leak(received, from + i - delaySamples, leaks === true ? [] : room);
        const said = speaks ? (caller[from + i - speaksInFrame * frameSamples] ?? 0) : 0;
        return Math.round(leaked + said + ((i * 7) % 5) - 2);
      });
    const client = new CallClient(
      { host: '127.0.0.1', port: service.port },
      {
        opened: () =>
          client.sendMessage({ type: 'start', version: 1, sample_rate: 16_000, encoding: 'pcm16' }),
        audio: (payload) => {
          const from = received.length;
          for (let i = 0; i < payload.length; i += 2) received.push(payload.readInt16LE(i));
          client.sendFrame(audioFrame(new Uint8Array(microphone(from).buffer)));
          if (received.length >= greetingSamples) client.sendMessage({ type: 'stop' });
        },
        message: ({ type }) => {
          if (type !== 'clear') return;
          clears += 1;
          client.sendMessage({ type: 'stop' });
        },
        closed: (reason) => {
          if (received.length === 0) reject(new Error(reason));
          else resolve({ received: Int16Array.from(received).subarray(0, greetingSamples), clears });
        },
      },
    );
  });
}

const framesToStt = (): number =>
  service.providers.stt.connections.reduce((sum, { frames }) => sum + frames.length, 0);

describe("the bot's own voice in the caller's microphone", () => {
  it('neither cuts the greeting nor holds it, and STT never hears it', async () => {
    const without = await hold({ leaks: false, speaks: false });
    expect(without.received.length).toBe(greetingSamples);
    const before = framesToStt();
    const held = await hold({ leaks: true, speaks: false });
    expect(held.clears).toBe(0);
    expect(held.received.length).toBe(greetingSamples);
    expect(held.received.findIndex((sample, i) => sample !== without.received[i])).toBe(-1);
    // What holds the output is given to STT.
    expect(framesToStt()).toBe(before);
  });

  it('does not in a room that echoes more than the loudspeaker is heard', async () => {
    const held = await hold({ leaks: 'in a room', speaks: false });
    expect(held.clears).toBe(0);
    expect(held.received.length).toBe(greetingSamples);
  });

  it('hides no caller who speaks into it', async () => {
    service.providers.stt.utterances.push('stop that now please');
    const held = await hold({ leaks: true, speaks: true });
    expect(held.clears).toBe(1);
    expect(held.received.length).toBeGreaterThan(speaksInFrame * frameSamples);
  });
});
