/**
 * The time between a client's `start` and its call: somebody is asked what the call is to be, which may take seconds. Speech
 * and keys of the caller are kept meanwhile, within bounds. A caller who hangs up ends the waiting.
 */
import type { Overrides } from '../../shared/agents/overrides.ts';
import type { TypedText } from '../../shared/protocol/call.ts';
import { FRAME_MS, type Millis } from '../../shared/base/units.ts';
import type { LinkTerms } from '../agent-link/link-state.ts';
import type { CallSettings } from '../core/settings.ts';
import type { RemoteTool } from '../tools/tool.ts';
import type { CallStart } from '../transports/transport.ts';

/** What is said to an answering machine, instead of a conversation. */
export interface MachineMessage {
  readonly text: string;
  /** The call that the service made. */
  readonly outbound: string;
}

/**
 * What one call is made with instead of what its agent's definition says: plain JSON, which is written down and survives the
 * worker. The definition stands for what it does not name.
 */
export type CallSetup = Partial<
  Pick<CallSettings, 'prompt' | 'greeting' | 'farewell' | 'apology' | 'maxCallMs' | 'flow' | 'context'>
> & {
  /** Tools that the call's agent process brought along. */
  readonly remoteTools?: readonly RemoteTool[];
  /** What was agreed on with that process; absent: the call has none. */
  readonly link?: LinkTerms;
  /** Name of the model that the LLM of the call uses, one that the agent's provider has. */
  readonly model?: string;
  /** What the operator's server said of the call before its first word, by the names of variables. */
  readonly variables?: Readonly<Record<string, string>>;
  /** What the call has otherwise than its agent's file says, as far as it holds; of an agent process, as it was sent. */
  readonly overrides?: Overrides;
  /** An answering machine hears this, and nothing else is said. */
  readonly message?: MachineMessage;
  /** Names the record of the call. */
  readonly recordId?: string;
};

/** Says what a call is to be. */
type PrepareCall = () => CallSetup | Promise<CallSetup>;

/** The part that prepares a call has limits of its own; beyond this one the call starts as the definition says. */
const longestWaitMs: Millis = 10_000;
/** Caller audio that is kept; of more, the newest. */
const mostAudioMs: Millis = 5_000;
const mostDigits = 64;
/** As many as the conversation lets wait. */
const mostTexts = 8;

/** Of audio that was kept, at each tick of 5 ms, as long as VAD keeps up. */
const framesPerTick = 8;
/** More than 10 s at 48 kHz. */
const mostKeptBytes = 1_048_576;

/** What the caller said when nobody could hear it. It is heard a few frames at a time: inference looks at the newest of what it finds. */
export class KeptAudio {
  readonly #frames: Buffer[] = [];
  #bytes = 0;

  get isEmpty(): boolean {
    return this.#frames.length === 0;
  }

  /** No more than this is kept: a client that sends more has to wait. */
  get isFull(): boolean {
    return this.#bytes >= mostKeptBytes;
  }

  add(frames: readonly Buffer[]): void {
    this.#frames.push(...frames);
    for (const { length } of frames) this.#bytes += length;
  }

  /** Gives `take` the oldest frames, as many as are due and as it takes. */
  hear(take: (frame: Buffer) => boolean): void {
    for (let count = 0; count < framesPerTick; count += 1) {
      const [frame] = this.#frames;
      if (frame === undefined || !take(frame)) return;
      this.#frames.shift();
      this.#bytes -= frame.length;
    }
  }
}

export interface CallOpeningOptions {
  readonly start: CallStart;
  readonly now: Millis;
  /** Wraps a callback into the call's scope. */
  readonly bind: <A extends readonly unknown[]>(callback: (...args: A) => void) => (...args: A) => void;
  /** Told once, unless it was cancelled before. `late`: nobody answered in time. */
  readonly opened: (setup: CallSetup, late: boolean) => void;
  /** The part that prepares the call broke; told instead of `opened`. */
  readonly failed: (error: unknown) => void;
}

export class CallOpening {
  readonly #options: CallOpeningOptions;
  #isOver = false;
  readonly digits: string[] = [];
  readonly texts: TypedText[] = [];
  #audio: Buffer[] = [];
  #audioBytes = 0;

  constructor(options: CallOpeningOptions) {
    this.#options = options;
  }

  /** Asks; the answer may come before this returns. */
  ask(prepare: PrepareCall): void {
    const { bind, failed } = this.#options;
    const answer = prepare();
    if (!(answer instanceof Promise)) this.#open(answer, false);
    else
      answer.then(
        bind((setup: CallSetup) => this.#open(setup, false)),
        bind((error: unknown) => {
          if (this.#isOver) return;
          this.cancel();
          failed(error);
        }),
      );
  }

  #open(setup: CallSetup, late: boolean): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#options.opened(setup, late);
  }

  /** Keeps a copy: the bytes belong to the transport. */
  audio(bytes: Uint8Array): void {
    const { encoding, sampleRate, inputRate = sampleRate } = this.#options.start;
    const most = (mostAudioMs / 1000) * inputRate * (encoding === 'pcm16' ? 2 : 1);
    this.#audio.push(Buffer.from(bytes));
    this.#audioBytes += bytes.length;
    while (this.#audioBytes > most) this.#audioBytes -= this.#audio.shift()?.length ?? this.#audioBytes;
  }

  dtmf(digit: string): void {
    if (this.digits.length < mostDigits) this.digits.push(digit);
  }

  typed(typed: TypedText): void {
    if (this.texts.length < mostTexts) this.texts.push(typed);
  }

  /** What was said meanwhile, in frames, and how long it is. */
  takeAudio(): { readonly frames: readonly Buffer[]; readonly ms: Millis } {
    const { encoding, sampleRate, inputRate = sampleRate } = this.#options.start;
    const bytesPerMs = (inputRate * (encoding === 'pcm16' ? 2 : 1)) / 1000;
    const whole = Buffer.concat(this.#audio);
    this.#audio = [];
    const frameBytes = Math.floor((inputRate * FRAME_MS) / 1000) * (encoding === 'pcm16' ? 2 : 1);
    const frames: Buffer[] = [];
    for (let at = 0; at < whole.length; at += frameBytes) frames.push(whole.subarray(at, at + frameBytes));
    return { frames, ms: whole.length / bytesPerMs };
  }

  tick(now: Millis): void {
    if (this.#isOver || now < this.#options.now + longestWaitMs) return;
    this.#open({}, true);
  }

  /** The caller is gone. */
  cancel(): void {
    this.#isOver = true;
  }
}
