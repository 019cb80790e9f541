/** What an operator hears of a call, and the operator's own voice. Nothing here knows what is said to whom. */
import type { CaptureReport } from '../client/audio/worklet-messages.ts';

/** Sound waits for so long before it is heard, so that an uneven network leaves no holes. */
const aheadS = 0.15;
/** What comes further ahead would be heard late for the rest of the call. */
const mostAheadS = 0.6;

/** Plays PCM16 in stereo: caller left, what the caller hears right. */
export class Loudspeaker {
  readonly #context: AudioContext;
  #nextAt = 0;

  constructor(rate: number) {
    this.#context = new AudioContext({ sampleRate: rate });
    void this.#context.resume();
  }

  play(frame: ArrayBuffer): void {
    const view = new DataView(frame);
    const count = frame.byteLength >> 2;
    if (count === 0) return;
    const buffer = this.#context.createBuffer(2, count, this.#context.sampleRate);
    for (const channel of [0, 1]) {
      const samples = buffer.getChannelData(channel);
      for (let at = 0; at < count; at += 1) samples[at] = view.getInt16(at * 4 + channel * 2, true) / 32_768;
    }
    const now = this.#context.currentTime;
    if (this.#nextAt > now + mostAheadS) return;
    if (this.#nextAt < now) this.#nextAt = now + aheadS;
    const source = this.#context.createBufferSource();
    source.buffer = buffer;
    source.connect(this.#context.destination);
    source.start(this.#nextAt);
    this.#nextAt += buffer.duration;
  }

  close(): void {
    void this.#context.close();
  }
}

/** Gives the operator's voice in frames of PCM16 at `rate`, until it is closed. */
export class Microphone {
  readonly #context: AudioContext;
  readonly #stream: MediaStream;

  private constructor(context: AudioContext, stream: MediaStream) {
    this.#context = context;
    this.#stream = stream;
  }

  /** Rejects where the browser has no microphone for this page. `gone`: it was unplugged, or is allowed no more. */
  static async open(
    rate: number,
    { taken, gone }: { readonly taken: (pcm: Int16Array<ArrayBuffer>) => void; readonly gone: () => void },
  ): Promise<Microphone> {
    const stream = await navigator.mediaDevices.getUserMedia({
      audio: { echoCancellation: true, noiseSuppression: true, autoGainControl: true },
    });
    // Some browsers connect a microphone to a context of its own rate alone.
    let graph = connect(stream, rate);
    graph ??= connect(stream, undefined);
    if (graph === undefined) throw new Error('no audio');
    const { context, source } = graph;
    await context.audioWorklet.addModule('/live/worklets.js');
    const capture = new AudioWorkletNode(context, 'capture', {
      channelCount: 1,
      channelCountMode: 'explicit',
    });
    capture.port.onmessage = ({ data }: MessageEvent<CaptureReport>) =>
      taken(atRate(data.pcm, context.sampleRate, rate));
    source.connect(capture).connect(context.destination);
    // Its source would go on with silence.
    for (const track of stream.getAudioTracks()) track.addEventListener('ended', gone);
    await context.resume();
    return new Microphone(context, stream);
  }

  close(): void {
    for (const track of this.#stream.getTracks()) track.stop();
    void this.#context.close();
  }
}

function connect(
  stream: MediaStream,
  sampleRate: number | undefined,
): { readonly context: AudioContext; readonly source: MediaStreamAudioSourceNode } | undefined {
  const context = new AudioContext(sampleRate === undefined ? {} : { sampleRate });
  try {
    return { context, source: context.createMediaStreamSource(stream) };
  } catch {
    void context.close();
    return undefined;
  }
}

/** The mean of what falls into each sample: speech at a device's rate loses nothing that a telephone would pass. */
function atRate(pcm: Int16Array<ArrayBuffer>, from: number, to: number): Int16Array<ArrayBuffer> {
  if (from === to) return pcm;
  const count = Math.floor((pcm.length * to) / from);
  const made = new Int16Array(count);
  for (let at = 0; at < count; at += 1) {
    const begin = Math.floor((at * from) / to);
    const end = Math.max(begin + 1, Math.floor(((at + 1) * from) / to));
    let sum = 0;
    for (let index = begin; index < end; index += 1) sum += pcm[index] ?? 0;
    made[at] = Math.round(sum / (end - begin));
  }
  return made;
}
