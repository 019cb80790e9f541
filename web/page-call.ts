/**
 * One call of the page with everything that the page shows of it.
 *
 * Invariant: it only listens to the call; what was shown last stays until the next call begins. It must not touch the document.
 */
import {
  CallFailed,
  type CallOutcome,
  VoiceCall,
  type VoiceCallOptions,
  type WireNote,
} from './client/index.ts';
import { MessageLog } from './message-log.ts';
import { LineWatch } from './line-watch.ts';
import type { Circumstances, LineQuality } from './words.ts';

const MAX_RECEIVED_TYPES = 500;

export class PageCall {
  readonly voice: VoiceCall;
  readonly log = new MessageLog();
  /** Types of the messages received, oldest first, bounded. */
  readonly received: string[] = [];
  readonly #beganAt = performance.now();
  #openedAt: number | undefined;
  #endedAt: number | undefined;
  #needsGesture = false;
  #isNetworkSlow = false;
  #isMoving = false;
  readonly #watch = new LineWatch();

  constructor(options: VoiceCallOptions) {
    this.voice = new VoiceCall(options);
    this.voice.on('wire', (note) => this.#write(note));
    this.voice.on('gesture-needed', () => (this.#needsGesture = true));
    this.voice.on('network', ({ slow, moving }) => {
      this.#isNetworkSlow = slow;
      this.#isMoving = moving;
    });
    this.voice.on('interrupted', () => this.log.cutAudio('received'));
    this.voice.on('ended', () => (this.#endedAt = performance.now()));
  }

  start(): void {
    this.voice.start().then(
      () => (this.#openedAt = performance.now()),
      (error: unknown) => {
        // Shown from `outcome`, as the end of any call.
        if (!(error instanceof CallFailed)) throw error;
      },
    );
  }

  get outcome(): CallOutcome | undefined {
    return this.voice.outcome;
  }

  /** Between the button and the end. */
  get isRunning(): boolean {
    return this.voice.state !== 'idle' && this.voice.state !== 'ended';
  }

  get isOpen(): boolean {
    return this.#openedAt !== undefined && this.#endedAt === undefined && this.voice.state !== 'ending';
  }

  /** The agent has spoken, and the service has told nothing of the conversation. */
  get isWithoutTranscript(): boolean {
    return this.received.includes('mark') && !this.received.some(isEvent);
  }

  get quality(): LineQuality {
    if (!this.isOpen) return 'unknown';
    if (this.#isNetworkSlow || this.#isMoving) return 'poor';
    return this.#watch.judge(this.voice.lateFrames, performance.now());
  }

  /** How long the call has been open or was, in ms. */
  get lengthMs(): number {
    return this.#openedAt === undefined ? 0 : (this.#endedAt ?? performance.now()) - this.#openedAt;
  }

  get circumstances(): Circumstances {
    const isAsking = this.voice.state === 'connecting' && this.voice.sampleRate === undefined;
    return {
      isAsking,
      needsGesture: this.#needsGesture && isAsking,
      isMuted: this.voice.muted,
      isNetworkSlow: this.#isNetworkSlow,
      isMoving: this.#isMoving,
      outcome: this.outcome,
    };
  }

  #write(note: WireNote): void {
    const atMs = performance.now() - this.#beganAt;
    if ('note' in note) this.log.add('note', atMs, { label: 'page', detail: note.note });
    else if ('audioMs' in note) this.log.audio(note.direction, atMs, note.audioMs);
    else if (note.direction === 'sent') {
      const { type, ...fields } = note.message;
      this.log.add('sent', atMs, { label: type, detail: detailOf(fields) });
    } else {
      const { type, ...fields } = note.message.type === 'event' ? note.message.event : note.message;
      const label = 'name' in fields ? fields.name : type;
      this.received.push(label);
      if (this.received.length > MAX_RECEIVED_TYPES) this.received.shift();
      this.log.add('received', atMs, { label, detail: 'name' in fields ? 'ignored' : detailOf(fields) });
    }
  }
}

const isEvent = (type: string): boolean => type.includes('.');

const detailOf = (fields: object): string =>
  Object.entries(fields)
    .map(([name, value]) => `${name} ${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(', ');
