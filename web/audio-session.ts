/**
 * The microphone and the loudspeaker of one call.
 *
 * Invariant: one AudioContext carries both directions, so their positions lie on one clock, and its rate is one that the
 * call protocol has, so nothing is resampled here. After `close` no listener is called and the microphone is given back.
 */
import type { CapturedFrame } from './capture-framer.ts';
import type { MicrophoneProblem } from './call-machine.ts';
import { CALL_RATES } from './wire.ts';
import type { CaptureReport, PlayoutOrder, PlayoutReport } from './worklet-messages.ts';

export class AudioProblem extends Error {
  override readonly name = 'AudioProblem';
  readonly problem: MicrophoneProblem;

  constructor(problem: MicrophoneProblem) {
    super(`no audio: ${problem}`);
    this.problem = problem;
  }
}

export interface AudioListener {
  captured(frame: CapturedFrame): void;
  reported(report: PlayoutReport): void;
  /** The microphone went away in the middle of the call. */
  microphoneLost(): void;
}

/** 16 kHz is what the engine listens at; the device's own rate and 48 kHz are for browsers that do not convert. */
const WANTED_RATES: readonly (number | undefined)[] = [16_000, undefined, 48_000];
/** The longest that the end of a goodbye is left to play. */
const LET_PLAY_MS = 3_000;

interface Graph {
  readonly context: AudioContext;
  readonly source: MediaStreamAudioSourceNode;
}

export class AudioSession {
  readonly sampleRate: number;
  readonly #graph: Graph;
  readonly #stream: MediaStream;
  readonly #capture: AudioWorkletNode;
  readonly #playout: AudioWorkletNode;
  #listener: AudioListener | undefined;
  #draining: (() => void) | undefined;

  constructor(graph: Graph, stream: MediaStream, options: { readonly listener: AudioListener }) {
    this.#graph = graph;
    this.#stream = stream;
    this.#listener = options.listener;
    this.sampleRate = graph.context.sampleRate;
    this.#capture = new AudioWorkletNode(graph.context, 'capture', {
      channelCount: 1,
      channelCountMode: 'explicit',
    });
    this.#playout = new AudioWorkletNode(graph.context, 'playout', {
      numberOfInputs: 0,
      outputChannelCount: [1],
    });
    this.#capture.port.onmessage = (event: MessageEvent<CaptureReport>) =>
      this.#listener?.captured(event.data);
    this.#playout.port.onmessage = (event: MessageEvent<PlayoutReport>) => this.#reported(event.data);
    for (const track of stream.getAudioTracks()) track.onended = () => this.#listener?.microphoneLost();
    // The capture node plays silence; it is connected because browsers run only what leads to the output.
    graph.source.connect(this.#capture).connect(graph.context.destination);
    this.#playout.connect(graph.context.destination);
  }

  /** Milliseconds on the audio clock. */
  get nowMs(): number {
    return this.#graph.context.currentTime * 1000;
  }

  play(samples: Float32Array<ArrayBuffer>): void {
    this.#order({ type: 'audio', samples }, [samples.buffer]);
  }

  mark(id: string): void {
    this.#order({ type: 'mark', id });
  }

  clear(): void {
    this.#order({ type: 'clear' });
  }

  /** Gives the microphone back at once; with `letPlay` the loudspeaker goes on until the buffer is empty. */
  async close(letPlay: boolean): Promise<void> {
    this.#listener = undefined;
    for (const track of this.#stream.getTracks()) track.stop();
    this.#graph.source.disconnect();
    if (letPlay) await this.#drained();
    this.#playout.disconnect();
    if (this.#graph.context.state !== 'closed') await this.#graph.context.close();
  }

  #order(order: PlayoutOrder, transfer: Transferable[] = []): void {
    this.#playout.port.postMessage(order, transfer);
  }

  #reported(report: PlayoutReport): void {
    this.#listener?.reported(report);
    if (report.type === 'level' && report.bufferedMs === 0) this.#draining?.();
  }

  #drained(): Promise<void> {
    return new Promise((resolve) => {
      this.#draining = resolve;
      setTimeout(resolve, LET_PLAY_MS);
    });
  }
}

/** Asks for the microphone and starts both worklets. Throws {@link AudioProblem}. */
export async function openAudio(listener: AudioListener): Promise<AudioSession> {
  if (!window.isSecureContext || !('mediaDevices' in navigator)) throw new AudioProblem('insecure-page');
  const stream = await askForMicrophone();
  let graph: Graph | undefined;
  try {
    graph = openGraph(stream);
    const { audioWorklet } = graph.context;
    await audioWorklet.addModule(new URL('capture-worklet.js', import.meta.url));
    await audioWorklet.addModule(new URL('playout-worklet.js', import.meta.url));
    await graph.context.resume();
    return new AudioSession(graph, stream, { listener });
  } catch (error) {
    for (const track of stream.getTracks()) track.stop();
    await graph?.context.close();
    console.error('audio could not be started', error);
    throw new AudioProblem('failed');
  }
}

async function askForMicrophone(): Promise<MediaStream> {
  try {
    return await navigator.mediaDevices.getUserMedia({
      audio: { echoCancellation: true, noiseSuppression: true, autoGainControl: true, channelCount: 1 },
    });
  } catch (error) {
    throw new AudioProblem(problemOfRefusal(error instanceof DOMException ? error.name : ''));
  }
}

function problemOfRefusal(name: string): MicrophoneProblem {
  if (name === 'NotAllowedError' || name === 'SecurityError') return 'refused';
  if (name === 'NotFoundError' || name === 'OverconstrainedError') return 'missing';
  return name === 'NotReadableError' || name === 'AbortError' ? 'in-use' : 'failed';
}

/** The first context whose rate the protocol has and which accepts the microphone (Firefox converts no input). */
function openGraph(stream: MediaStream): Graph {
  let refusal: unknown = new Error('no sample rate of the call protocol is available');
  for (const sampleRate of WANTED_RATES) {
    let context: AudioContext | undefined;
    try {
      context = new AudioContext({
        latencyHint: 'interactive',
        ...(sampleRate === undefined ? {} : { sampleRate }),
      });
      if (CALL_RATES.includes(context.sampleRate))
        return { context, source: context.createMediaStreamSource(stream) };
    } catch (error) {
      refusal = error;
    }
    void context?.close();
  }
  throw refusal;
}
