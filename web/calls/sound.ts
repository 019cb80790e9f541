/** The recording of a call: played by the browser, and drawn as how loud each side was. */
import { byId, setText } from '../elements.ts';
import { Refused, type Service } from './wire.ts';

/** A longer call is played and not drawn: its samples would fill the memory of a small machine. */
const longestDrawnMs = 30 * 60_000;
/** A voice is seen at that. */
const drawnRate = 8_000;
export const peakCount = 2_000;

/** From 0 to 1, caller and what the caller heard. */
export type Peaks = readonly [Float32Array, Float32Array];

export class Sound {
  readonly #service: Service;
  readonly #audio = byId('audio', HTMLAudioElement);
  readonly #state = byId('sound-state', HTMLParagraphElement);
  #url: string | undefined;

  constructor(service: Service) {
    this.#service = service;
    this.#audio.addEventListener('error', () => {
      if (this.#url !== undefined)
        setText(this.#state, 'This browser cannot play the recording. It can be saved below.');
    });
  }

  get audio(): HTMLAudioElement {
    return this.#audio;
  }

  get url(): string | undefined {
    return this.#url;
  }

  close(): void {
    this.#audio.pause();
    this.#audio.hidden = true;
    this.#audio.removeAttribute('src');
    if (this.#url !== undefined) URL.revokeObjectURL(this.#url);
    this.#url = undefined;
    setText(this.#state, 'There is no recording of this call here.');
  }

  /** Resolves with what is drawn; undefined where nothing is. `isWanted`: the call is still shown. */
  async open(id: string, durationMs: number, isWanted: () => boolean): Promise<Peaks | undefined> {
    setText(this.#state, 'Loading the recording.');
    let blob: Blob;
    try {
      blob = await this.#service.sound(id);
    } catch (error) {
      if (isWanted())
        setText(this.#state, error instanceof Refused ? error.message : 'The recording broke off.');
      return undefined;
    }
    if (!isWanted()) return undefined;
    this.#url = URL.createObjectURL(blob);
    this.#audio.src = this.#url;
    this.#audio.hidden = false;
    const isLong = durationMs > longestDrawnMs;
    setText(this.#state, isLong ? 'The call is too long to draw its waveform.' : '');
    return isLong ? undefined : await peaksOf(blob);
  }
}

async function peaksOf(blob: Blob): Promise<Peaks | undefined> {
  try {
    const context = new OfflineAudioContext(2, drawnRate, drawnRate);
    const sound = await context.decodeAudioData(await blob.arrayBuffer());
    const right = Math.min(1, sound.numberOfChannels - 1);
    return [peaks(sound.getChannelData(0)), peaks(sound.getChannelData(right))];
  } catch {
    // It is played by what knows it, or not at all.
    return undefined;
  }
}

function peaks(samples: Float32Array): Float32Array {
  const made = new Float32Array(peakCount);
  for (let at = 0; at < samples.length; at += 1) {
    const bucket = Math.floor((at * peakCount) / samples.length);
    const level = Math.abs(samples[at] ?? 0);
    if (level > (made[bucket] ?? 0)) made[bucket] = level;
  }
  return made;
}
