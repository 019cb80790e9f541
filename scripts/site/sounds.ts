/** Sounds for the page about sound, made by the service's own code: what callers hear, with and without what the page tells of. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fliteSampleRate as rate, loadFlite } from '../../examples/demo/flite.ts';
import { int16View } from '../../shared/audio/pcm.ts';
import { writeWav } from '../../shared/audio/wav.ts';
import type { SoundName } from '../../shared/config/agent/background.ts';
import { Background } from '../../worker/media/background/background.ts';
import { SoundLoop } from '../../worker/media/background/loop.ts';
import { Murmur } from '../../worker/media/out/murmur.ts';
import { OutboundAudio, type OutboundOptions } from '../../worker/media/out/outbound.ts';

const none = new Int16Array(0);
const framesOf = (ms: number): number => ms / 20;

/** A call's way out, with what is heard of it so far. */
class Line {
  readonly #audio: OutboundAudio;
  readonly #heard: Int16Array[] = [];
  #context = 0;

  constructor(options: Partial<OutboundOptions> = {}) {
    this.#audio = new OutboundAudio({ fromRate: rate, toRate: rate, encoding: 'pcm16', ...options });
  }

  /** So much of a line, or all of it. */
  says(pcm: Int16Array, ms = Infinity): this {
    this.#context += 1;
    this.#audio.open(this.#context);
    this.#audio.write(this.#context, pcm);
    this.#audio.finish(this.#context);
    for (let at = 0; at < framesOf(ms) && this.#audio.ready; at += 1) this.#take(this.#audio.takeFrame());
    return this;
  }

  isSilent(ms: number): this {
    for (let at = 0; at < framesOf(ms); at += 1) this.#take(this.#audio.takeBackdrop());
    return this;
  }

  isCut(): this {
    this.#audio.clear({ fades: true });
    return this.isSilent(600);
  }

  get wav(): Uint8Array {
    return writeWav(Int16Array.from(this.#heard.flatMap((pcm) => [...pcm])), rate);
  }

  #take(frame: Buffer): void {
    this.#heard.push(int16View(Uint8Array.from(frame), none).slice());
  }
}

/** Writes them into a folder, by name. */
export async function makeSounds(folder: string): Promise<void> {
  const flite = await loadFlite();
  const agent = flite('One moment. Let me look that up for you.', { voice: 'slt', speed: 1 });
  const other = flite('Good morning. I have taken over.', { voice: 'rms', speed: 1 });
  const quiet = other.map((sample) => Math.round(sample / 4));
  const caller = flite('So I ordered the table, and, then it came without any legs.', {
    voice: 'kal16',
    speed: 1,
  });
  const nod = flite('I see.', { voice: 'slt', speed: 1 });
  const behind = (source: SoundName): Uint8Array => {
    const loop = new SoundLoop({ source, volume: 0.2, when: 'always' });
    const line = new Line({ backdrops: [new Background([loop], rate)] });
    return line.isSilent(600).says(agent).isSilent(2_400).wav;
  };
  const voices = (lufs?: number): Uint8Array =>
    new Line({ lufs }).says(agent).isSilent(300).says(quiet).isSilent(300).says(agent).wav;
  const murmur = new Murmur(rate);
  // The caller is heard as well, as in a recording of both: in a call only the murmur goes out.
  const listening = new Line({ backdrops: [murmur] }).says(caller, 1_200);
  murmur.say(nod, rate);
  const sounds: Readonly<Record<string, Uint8Array>> = {
    office: behind('office'),
    street: behind('street'),
    keyboard: behind('keyboard'),
    'voices-as-they-come': voices(),
    'voices-at-one-level': voices(-20),
    cut: new Line().says(agent, 1_700).isCut().wav,
    murmur: listening.isSilent(800).says(caller.subarray(1.2 * rate)).wav,
  };
  mkdirSync(folder, { recursive: true });
  for (const [name, wav] of Object.entries(sounds)) writeFileSync(join(folder, `${name}.wav`), wav);
}
