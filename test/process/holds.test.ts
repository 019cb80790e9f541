/**
 * Sounds that are no interruption, into the agent's speech: they may hold it, and they take nothing from it. What arrives with the
 * sound is compared with what arrives without it, sample by sample.
 */
import { beforeAll, describe, expect, it } from 'vitest';
import { loadFlite, type Flite } from '../../examples/demo/flite.ts';
import type { CallerEvent } from '../../cli/commands/call/caller.ts';
import { newPrng } from '../../shared/base/prng.ts';
import { answer } from '../support/fakes/fake-chat.ts';
import type { FakeReply } from '../support/fakes/fake-http.ts';
import { samplesOf, speech } from '../support/fakes/fake-speech.ts';
import { noRecordings, recordings } from '../support/audio/recordings.ts';
import { TestService } from '../support/process/service.ts';

const text = 'First there was nothing. Then somebody had an idea. It was good.';
/** Frames of the agent's speech before the caller makes a sound. */
const soundAfterFrames = 25;

let flite: Flite;

beforeAll(async () => {
  flite = await loadFlite();
});

/** A voice of which every stretch is different and no sample is silent; the same for the same text. */
const unlikeItself: FakeReply = (request) => {
  const text = String(request.body['input']);
  const prng = newPrng(text.length);
  const bytes = Buffer.alloc(samplesOf(text) * 2);
  let level = 9_000;
  for (let at = 0; at < bytes.length; at += 2) {
    level = Math.min(14_000, Math.max(6_000, level + prng.below(801) - 400));
    bytes.writeInt16LE(level, at);
  }
  speech([bytes])(request);
};

interface Heard {
  /** What the agent said, without the silences in it. */
  readonly said: Int16Array;
  readonly clears: readonly CallerEvent[];
  /** STT was given a possible interruption. */
  readonly listened: boolean;
}

/** What is heard of one answer into which the caller makes a sound. */
async function hear(service: TestService, sound: Int16Array | undefined): Promise<Heard> {
  const { stt, llm, tts } = service.providers;
  tts.script.length = 0;
  for (let i = 0; i < 10; i += 1) tts.script.push(unlikeItself);
  const events: CallerEvent[] = [];
  const call = await service.call({}, (event) => events.push(event));
  const isAudio = (event: CallerEvent): boolean => event.type === 'audio';
  stt.utterances.push('tell me a story');
  llm.script.push(answer(text));
  void call.say(flite('Please tell me a story about ideas.', { voice: 'slt', speed: 1 }));
  for (let frame = 0; frame < soundAfterFrames; frame += 1) await call.next(isAudio);
  const givenBefore = stt.last.frames.length;
  if (sound !== undefined) void call.say(sound);
  // One mark stands behind each sentence.
  for (let mark = 0; mark < 3; mark += 1) await call.next(({ type }) => type === 'mark-played');
  const given = stt.last.frames.length;
  const all = call.playout.heard(call.nowMs() + 1_000);
  await call.hangUp();
  return {
    said: all.filter((sample) => sample !== 0),
    clears: events.filter(({ type }) => type === 'clear'),
    listened: given > givenBefore,
  };
}

/** By a service of its own. */
async function expectWhole(sounds: readonly Int16Array[]): Promise<readonly Heard[]> {
  const service = await TestService.start();
  try {
    // During the first call the service has its lines made: its own voice may wait for them.
    await hear(service, undefined);
    const whole = await hear(service, undefined);
    const found: Heard[] = [];
    for (const sound of sounds) {
      const heard = await hear(service, sound);
      found.push(heard);
      expect(heard.clears).toEqual([]);
      // Where it gives way the agent fades through nothing: a sample or two of silence are no part of what is compared.
      expect(Math.abs(heard.said.length - whole.said.length)).toBeLessThanOrEqual(mostFaded);
      expect(endOf(heard.said).equals(endOf(whole.said))).toBe(true);
      expect(isSofter(heard.said, whole.said)).toBe(true);
    }
    expect(await service.metric('svc_interruptions_total')).toBe(0);
    return found;
  } finally {
    await service.stop();
  }
}

const mostFaded = 4;

/** The last two seconds: the agent goes on as loud as ever, and has left nothing out. */
const endOf = (said: Int16Array): Buffer => {
  const end = said.slice(-2 * 16_000);
  return Buffer.from(end.buffer, end.byteOffset, end.byteLength);
};

/** Every sample is there, as it was or softer; a few may have faded away. */
function isSofter(said: Int16Array, whole: Int16Array): boolean {
  let at = 0;
  for (const sample of said) {
    let skipped = 0;
    while (at < whole.length && Math.abs(sample) > Math.abs(whole[at] ?? 0) + 1 && skipped < mostFaded) {
      at += 1;
      skipped += 1;
    }
    if (Math.abs(sample) > Math.abs(whole[at] ?? 0) + 1) return false;
    at += 1;
  }
  return true;
}

/** Stretches of a noise as loud as a voice. */
function burst(name: string, { atMs, lengthMs }: { atMs: number; lengthMs: number }): Int16Array {
  const noise = recordings('noise').find((recording) => recording.name === name);
  if (noise === undefined) throw new Error(`there is no recording ${name}`);
  const cut = noise.pcm.slice(atMs * 16, (atMs + lengthMs) * 16);
  const power = cut.reduce((sum, sample) => sum + sample * sample, 0) / cut.length;
  const gain = 3_300 / Math.sqrt(power);
  return cut.map((sample) => Math.max(-32_768, Math.min(32_767, Math.round(sample * gain))));
}

describe.concurrent('a sound into the bot speech that is no interruption', () => {
  it('is a hum, which holds the bot and lets it go on at the sample', async () => {
    const found = await expectWhole(['mm-hmm', 'mm'].map((hum) => flite(hum, { voice: 'slt', speed: 1 })));
    // They were taken for possible interruptions, or this would prove nothing.
    expect(found.map(({ listened }) => listened)).toEqual([true, true]);
  });

  it.skipIf(noRecordings !== undefined)('is a burst of noise, as coughs are', async () => {
    await expectWhole([
      // Shorter than the length that interrupts where loudness has to stand in for the model.
      burst('coffee_shop.wav', { atMs: 1_200, lengthMs: 200 }),
      burst('noise3.wav', { atMs: 4_600, lengthMs: 200 }),
    ]);
  });
});
