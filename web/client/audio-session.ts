/**
 * The microphone and the loudspeaker of one call.
 *
 * Invariant: one AudioContext carries both directions, so their positions lie on one clock, and its rate is one that the
 * call protocol has, so nothing is resampled here. After `close` no listener is called and the microphone is given back.
 */
import type { CapturedFrame } from './audio/capture-framer.ts';
import { StreamVoice } from './audio/stream-voice.ts';
import type { MicrophoneProblem } from './call-machine.ts';
import type { LineAudio } from './line/line.ts';
import { CALL_RATES } from './wire.ts';
import type { CaptureReport, PlayoutOrder, PlayoutReport } from './audio/worklet-messages.ts';

export class AudioProblem extends Error {
  override readonly name = 'AudioProblem';
  readonly problem: MicrophoneProblem;

  constructor(problem: MicrophoneProblem) {
    super(`no audio: ${problem}`);
    this.problem = problem;
  }
}

/** Nobody answers where the worklets are to be had. */
export class WorkletsOutOfReach extends Error {
  override readonly name = 'WorkletsOutOfReach';
}

export interface AudioListener {
  captured(frame: CapturedFrame): void;
  reported(report: PlayoutReport): void;
  /** The microphone went away in the middle of the call. */
  microphoneLost(): void;
  /** The browser lets no page sound before somebody has touched it; the next touch or key press starts the audio. */
  gestureNeeded(): void;
}

export interface AudioOptions {
  /** Device ids as `enumerateDevices` gives them; absent, or no longer there: those of the system. */
  readonly microphone: string | undefined;
  readonly speaker: string | undefined;
  /** Address of the module with both worklets. */
  readonly workletUrl: string | URL;
  /** The line brings its own voice at any rate: the rate of the device is best then. */
  readonly isWide: boolean;
  /** Fires when nobody wants the audio any more. */
  readonly abandoned: AbortSignal;
}

/** 16 kHz is what the engine listens at; the device's own rate and 48 kHz are for browsers that do not convert. */
const WANTED_RATES: readonly (number | undefined)[] = [16_000, undefined, 48_000];
const WIDE_RATES: readonly (number | undefined)[] = [48_000, undefined, 16_000];
/** A browser that wants a gesture first leaves the audio suspended; any other starts it sooner than this. */
const STARTS_WITHIN_MS = 500;
/** A click or a key here is that gesture: what is late then is the device, as headphones by radio are. */
const STARTS_AFTER_GESTURE_MS = 3_000;
const GESTURES = ['pointerup', 'keydown'] as const;
/** The longest that the end of a goodbye is left to play. */
const LET_PLAY_MS = 3_000;

interface Graph {
  readonly context: AudioContext;
  readonly source: MediaStreamAudioSourceNode;
}

/** Chromium alone can send a context elsewhere than to the loudspeaker of the system. */
interface SinkContext {
  setSinkId(id: string): Promise<void>;
}

const canChooseSink = (context: object): context is SinkContext => 'setSinkId' in context;

export class AudioSession implements LineAudio {
  readonly sampleRate: number;
  readonly #context: AudioContext;
  #source: MediaStreamAudioSourceNode;
  #stream: MediaStream;
  readonly #capture: AudioWorkletNode;
  readonly #playout: AudioWorkletNode;
  readonly #loudness: GainNode;
  #listener: AudioListener | undefined;
  #draining: (() => void) | undefined;
  #isMuted = false;
  #changed: ((track: MediaStreamTrack) => void) | undefined;
  #voice: StreamVoice | undefined;

  constructor(graph: Graph, stream: MediaStream, options: { readonly listener: AudioListener }) {
    this.#context = graph.context;
    this.#source = graph.source;
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
    this.#watch(stream);
    // A telephone call or another program may take the audio away for a while.
    graph.context.onstatechange = () => {
      if (this.#listener !== undefined && graph.context.state !== 'running') void graph.context.resume();
    };
    // The capture node plays silence; it is connected because browsers run only what leads to the output.
    graph.source.connect(this.#capture).connect(graph.context.destination);
    this.#loudness = graph.context.createGain();
    this.#playout.connect(this.#loudness).connect(graph.context.destination);
  }

  get microphone(): MediaStreamTrack {
    const [track] = this.#stream.getAudioTracks();
    if (track === undefined) throw new AudioProblem('missing');
    return track;
  }

  onMicrophone(changed: ((track: MediaStreamTrack) => void) | undefined): void {
    this.#changed = changed;
  }

  /** Plays the agent's voice from a stream instead of frames; the one before it is not heard any more. */
  playStream(stream: MediaStream): void {
    this.#voice?.close();
    this.#voice = new StreamVoice(stream, {
      context: this.#context,
      output: this.#loudness,
      reported: (report) => this.#listener?.reported(report),
    });
  }

  /** Milliseconds on the audio clock. */
  get nowMs(): number {
    return this.#context.currentTime * 1000;
  }

  play(samples: Float32Array<ArrayBuffer>): void {
    this.#order({ type: 'audio', samples }, [samples.buffer]);
  }

  mark(id: string): void {
    this.#order({ type: 'mark', id });
  }

  clear(): void {
    this.#order({ type: 'clear' });
    this.#voice?.cut();
  }

  /** 0 to 1; anything else is taken for the nearest of them. */
  setVolume(volume: number): void {
    this.#loudness.gain.value = Math.min(1, Math.max(0, volume));
  }

  /** Gives the microphone back at once; with `letPlay` the loudspeaker goes on until the buffer is empty. */
  async close(letPlay: boolean): Promise<void> {
    this.#listener = undefined;
    stopTracks(this.#stream);
    this.#source.disconnect();
    if (letPlay && this.#voice === undefined) await this.#drained();
    this.#voice?.close();
    this.#playout.disconnect();
    if (this.#context.state !== 'closed') await this.#context.close();
  }

  /** A microphone that is muted sends silence, so that the call's time goes on. */
  mute(isMuted: boolean): void {
    this.#isMuted = isMuted;
    for (const track of this.#stream.getAudioTracks()) track.enabled = !isMuted;
  }

  /** Goes on with another microphone. Throws {@link AudioProblem} and keeps the present one when that is not to be had. */
  async useMicrophone(deviceId: string | undefined): Promise<void> {
    const stream = await askForMicrophone(deviceId === undefined ? undefined : { exact: deviceId });
    if (this.#listener === undefined) {
      stopTracks(stream);
      return;
    }
    const source = this.#context.createMediaStreamSource(stream);
    this.#source.disconnect();
    stopTracks(this.#stream);
    this.#source = source;
    this.#stream = stream;
    this.#watch(stream);
    this.mute(this.#isMuted);
    source.connect(this.#capture);
    this.#changed?.(this.microphone);
  }

  /** False where the browser leaves the choice to the system. */
  async useSpeaker(deviceId: string | undefined): Promise<boolean> {
    return chooseSink(this.#context, deviceId);
  }

  #watch(stream: MediaStream): void {
    for (const track of stream.getAudioTracks())
      track.onended = () => {
        if (stream === this.#stream && this.#listener !== undefined) void this.#findMicrophone();
      };
  }

  /** The microphone is gone: goes on with the system's. */
  async #findMicrophone(): Promise<void> {
    try {
      await this.useMicrophone(undefined);
    } catch (error) {
      console.warn('no other microphone was found', error);
      this.#listener?.microphoneLost();
    }
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

/** Asks for the microphone and starts both worklets. Throws {@link AudioProblem} or {@link WorkletsOutOfReach}. */
export async function openAudio(listener: AudioListener, options: AudioOptions): Promise<AudioSession> {
  if (!window.isSecureContext || !('mediaDevices' in navigator)) throw new AudioProblem('insecure-page');
  // Devices that were chosen once may be unplugged today.
  const stream = await askForMicrophone(options.microphone);
  let graph: Graph | undefined;
  try {
    graph = openGraph(stream, options.isWide ? WIDE_RATES : WANTED_RATES);
    await addWorklets(graph.context, options.workletUrl);
    await running(graph.context, { listener, abandoned: options.abandoned });
    await chooseSink(graph.context, options.speaker).catch((error: unknown) => {
      console.warn('the speaker that was chosen is not to be had', error);
    });
    return new AudioSession(graph, stream, { listener });
  } catch (error) {
    stopTracks(stream);
    await graph?.context.close();
    if (error instanceof WorkletsOutOfReach || options.abandoned.aborted) throw error;
    console.error('audio could not be started', error);
    throw new AudioProblem('failed');
  }
}

async function addWorklets(context: AudioContext, url: string | URL): Promise<void> {
  try {
    await context.audioWorklet.addModule(url);
  } catch (error) {
    if (new URL(url, location.href).protocol === 'blob:')
      throw new Error(
        'the policy of this page has to allow `script-src blob:`, or the address of `worklets.js` be given',
        {
          cause: error,
        },
      );
    // The browser says alike of a script that is not there and of a server that is not.
    await fetch(url, { cache: 'no-store' }).catch(() => {
      throw new WorkletsOutOfReach();
    });
    throw error;
  }
}

/** Resolves when the context runs, if need be after a gesture of the user; rejects when nobody wants it any more. */
async function running(context: AudioContext, { listener, abandoned }: Waiting): Promise<void> {
  const over = new AbortController();
  const hasTouched = 'userActivation' in navigator && navigator.userActivation.hasBeenActive;
  const patienceMs = hasTouched ? STARTS_AFTER_GESTURE_MS : STARTS_WITHIN_MS;
  const hint = setTimeout(() => listener.gestureNeeded(), patienceMs);
  try {
    await new Promise<void>((resolve, reject) => {
      // A browser that wants a gesture leaves this pending or rejects it; the next gesture tries again.
      const resume = (): void => void context.resume().then(resolve, () => undefined);
      for (const gesture of GESTURES) document.addEventListener(gesture, resume, { signal: over.signal });
      abandoned.addEventListener('abort', () => reject(new AudioProblem('failed')), { signal: over.signal });
      resume();
    });
  } finally {
    clearTimeout(hint);
    over.abort();
  }
}

interface Waiting {
  readonly listener: AudioListener;
  readonly abandoned: AbortSignal;
}

async function chooseSink(context: AudioContext, deviceId: string | undefined): Promise<boolean> {
  if (deviceId === undefined || !canChooseSink(context)) return deviceId === undefined;
  await context.setSinkId(deviceId);
  return true;
}

function stopTracks(stream: MediaStream): void {
  for (const track of stream.getTracks()) track.stop();
}

async function askForMicrophone(deviceId: ConstrainDOMString | undefined): Promise<MediaStream> {
  try {
    return await navigator.mediaDevices.getUserMedia({
      audio: {
        echoCancellation: true,
        noiseSuppression: true,
        autoGainControl: true,
        channelCount: 1,
        ...(deviceId !== undefined && { deviceId }),
      },
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
function openGraph(stream: MediaStream, rates: readonly (number | undefined)[]): Graph {
  let refusal: unknown = new Error('no sample rate of the call protocol is available');
  for (const sampleRate of rates) {
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
