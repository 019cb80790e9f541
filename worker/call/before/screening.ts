/**
 * Screening: between the answer of a call that the service made and the conversation, the service listens to who has answered. Words that a
 * person said meanwhile are kept and heard; to a machine the message of the call is said behind its beep, or nothing. The supervisor is
 * told.
 *
 * Invariant: `done` is told once, within a bounded time, whatever is heard and also when nobody answers.
 */
import type { AdmittedStart } from '../admission.ts';
import { FRAME_MS, type Millis } from '../../../shared/base/units.ts';
import {
  carrierNames,
  screeningKey,
  type AnsweredBy,
  type CarrierOutcome,
} from '../../../shared/telephony/call-control.ts';
import { carrierKeys } from '../../../shared/telephony/twilio/protocol.ts';
import type { RunningCall } from '../running-call.ts';
import type { CallServices } from '../services.ts';
import {
  beeplessMs,
  longestGreetingMs,
  longestQuietMs,
  longestVerdictMs,
  wordsAgo,
  type AnswerEvent,
} from '../../media/answer/answer.ts';
import { AnswerEar } from '../../media/answer/ear.ts';
import type { MachineMessage } from '../opening.ts';

/** Without a message the call is over. */
export type Screened =
  | { readonly who: 'person'; readonly spoke: boolean; readonly words: readonly Buffer[] }
  | { readonly who: 'machine'; readonly message: MachineMessage | undefined };

export interface ScreeningOptions {
  readonly services: Pick<
    CallServices,
    'boxes' | 'machineMs' | 'wake' | 'speech' | 'clock' | 'carriers' | 'log'
  >;
  readonly slot: number;
  readonly start: AdmittedStart;
  /** It was found to be a machine by a worker that is gone. */
  readonly message: MachineMessage | undefined;
  readonly bind: <A extends readonly unknown[]>(callback: (...args: A) => void) => (...args: A) => void;
  /** Written down for the worker that goes on with the call. */
  readonly keep: (message: MachineMessage) => void;
  readonly done: (screened: Screened) => void;
}

/** Silence of the line may not be sent at all: then time passes without audio, and somewhat later than in audio. */
const lateMs: Millis = 500;
/** Audio from before a person's first word: it begins softly, and VAD is late. */
const beforeWordsMs: Millis = 500;
/** Audio that is kept, in frames. */
const mostKept = (longestVerdictMs + lateMs) / FRAME_MS;

/** The call that the service made and is to listen to; undefined for any other. */
const screenedCall = ({ metadata }: Pick<AdmittedStart, 'metadata'>): string | undefined =>
  metadata[screeningKey];

/** What a call is for everybody behind its screening. */
function screenedStart(start: AdmittedStart): AdmittedStart {
  const { [screeningKey]: _, ...metadata } = start.metadata;
  return { ...start, metadata };
}

/** Tells the supervisor of a call that the service made. */
function tellAnswered(
  { carriers }: Pick<CallServices, 'carriers'>,
  { metadata, callId: ownId }: Pick<AdmittedStart, 'metadata' | 'callId'>,
  { outbound, by }: { readonly outbound: string; readonly by: AnsweredBy },
  answered: (outcome: CarrierOutcome) => void = () => undefined,
): void {
  const carrier = carrierNames.find((name) => name === metadata[carrierKeys.transport]);
  if (carrier === undefined) {
    answered({ kind: 'refused', code: 'unsupported' });
    return;
  }
  const callId = metadata[carrierKeys.callId] ?? ownId;
  const commandId = `screened-${outbound}-${by}`;
  carriers.ask({ type: 'answered', commandId, carrier, callId, outbound, by }, answered);
}

/** A machine that has heard its message to the end keeps it. */
export function tellLeft(
  services: Pick<CallServices, 'carriers'>,
  { start, state }: Pick<RunningCall, 'start' | 'state'>,
  message: MachineMessage | undefined,
): void {
  const last = state.conversation.history.messages.at(-1);
  if (message === undefined || last?.role !== 'assistant' || last.text !== message.text.trim()) return;
  tellAnswered(services, start, { outbound: message.outbound, by: 'spoken' });
}

export class Screening {
  readonly #options: ScreeningOptions;
  readonly #outbound: string;
  readonly #ear: AnswerEar;
  readonly #beganAt: Millis;
  #audioAt: Millis;
  readonly #kept: Buffer[] = [];
  #message: MachineMessage | undefined;
  /** `machine`: the message is asked for; `listens`: its beep is over. */
  #phase: 'who' | 'machine' | 'over' = 'who';
  #isAsked = false;
  #listens = false;

  /** Undefined for a call that nobody has to listen to. */
  static of(options: ScreeningOptions): Screening | undefined {
    const outbound = screenedCall(options.start);
    return outbound === undefined ? undefined : new Screening(options, outbound);
  }

  private constructor(options: ScreeningOptions, outbound: string) {
    this.#options = options;
    this.#outbound = outbound;
    const { services, slot, start, message } = options;
    const { boxes, machineMs, wake, speech, clock } = services;
    const { encoding, sampleRate, inputRate = sampleRate } = start;
    this.#beganAt = clock.now();
    this.#audioAt = this.#beganAt;
    this.#ear = new AnswerEar({
      boxes,
      slot,
      machineMs,
      wake,
      encoding,
      sampleRate: inputRate,
      threshold: speech.threshold,
      isMachine: message !== undefined,
      told: (event) => this.#take(event),
    });
    services.log.info({ outbound, isMachine: message !== undefined }, 'a call is listened to');
    if (message === undefined) return;
    this.#phase = 'machine';
    this.#message = message;
    options.keep(message);
  }

  /** The call without what it was screened by. */
  get start(): AdmittedStart {
    return screenedStart(this.#options.start);
  }

  audio(bytes: Uint8Array, now: Millis): void {
    if (this.#phase === 'over') return;
    this.#audioAt = now;
    if (this.#phase === 'who') {
      this.#kept.push(Buffer.from(bytes));
      if (this.#kept.length > mostKept) this.#kept.shift();
    }
    this.#ear.audio(bytes, now);
  }

  /** Looks for results of VAD. */
  collect(): void {
    if (this.#phase !== 'over') this.#ear.collect();
  }

  /** A line on which nothing is sent is a silent one. */
  tick(now: Millis): void {
    if (this.#phase === 'over') return;
    const passedMs = now - this.#beganAt - lateMs;
    const { voice, heardMs } = this.#ear.answer;
    if (this.#phase === 'machine') {
      if (passedMs >= longestGreetingMs) this.#take('deaf');
      else if (now - this.#audioAt >= beeplessMs) this.#take('silence');
      return;
    }
    const isQuiet = voice === undefined && heardMs < longestQuietMs && passedMs >= longestQuietMs;
    if (isQuiet || passedMs >= longestVerdictMs) this.#take('unknown');
  }

  cancel(): void {
    this.#phase = 'over';
  }

  #take(event: AnswerEvent): void {
    if (this.#phase === 'over') return;
    this.#options.services.log.info(
      { outbound: this.#outbound, heard: event },
      'who has answered was listened to',
    );
    switch (event) {
      case 'human':
      case 'unknown':
        this.#isPerson();
        return;
      case 'machine':
        this.#phase = 'machine';
        this.#askMessage();
        return;
      case 'beep':
      case 'silence':
        this.#listens = true;
        this.#leave();
        return;
      case 'deaf':
        this.#over({ who: 'machine', message: undefined });
    }
  }

  #isPerson(): void {
    this.#tell('person');
    const { answer } = this.#ear;
    const spoke = answer.voice !== undefined;
    const frames = Math.ceil((wordsAgo(answer) + beforeWordsMs) / FRAME_MS);
    this.#over({ who: 'person', spoke, words: spoke ? this.#kept.slice(-frames) : [] });
  }

  #askMessage(): void {
    this.#isAsked = true;
    this.#tell('machine', (outcome) => {
      this.#isAsked = false;
      const text = outcome.kind === 'ok' ? outcome.message : undefined;
      if (this.#phase !== 'machine') return;
      if (text === undefined) {
        this.#over({ who: 'machine', message: undefined });
        return;
      }
      this.#message = { text, outbound: this.#outbound };
      this.#options.keep(this.#message);
      this.#leave();
    });
  }

  /** Says the message once there is one, and somebody listens. */
  #leave(): void {
    if (!this.#listens || this.#isAsked) return;
    if (this.#message !== undefined) this.#tell('beep');
    this.#over({ who: 'machine', message: this.#message });
  }

  #tell(by: AnsweredBy, answered?: (outcome: CarrierOutcome) => void): void {
    const { services, start, bind } = this.#options;
    const outbound = this.#outbound;
    tellAnswered(services, start, { outbound, by }, answered && bind(answered));
  }

  #over(screened: Screened): void {
    this.#phase = 'over';
    this.#options.done(screened);
  }
}
