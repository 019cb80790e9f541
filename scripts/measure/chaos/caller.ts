/**
 * One caller: presses keys that say who it is, or speaks, listens to the reply, now and then cuts it with a key, and keeps its
 * own account of it all. It sends a frame every 20 ms and echoes marks when it has played what was before them.
 */
import type { Prng } from '../../../shared/base/prng.ts';
import { CallClient } from '../bench/client/client.ts';
import { Account } from './account.ts';
import { GroupReader, groupsPerWord, sampleRate } from './coded-audio.ts';
import { OwedSilence } from './owed-silence.ts';
import { wordsPerReply } from './providers.ts';

export interface CallerOptions {
  readonly call: number;
  readonly address: { readonly host: string; readonly port: number };
  /** Complete WebSocket frames. */
  readonly clips: readonly (readonly Buffer[])[];
  readonly silence: readonly Buffer[];
  readonly prng: Prng;
  /** By so many words what was heard may be told wrong, where nobody says when each was spoken. */
  readonly slackWords: number;
  /** A frame of a reply that ran undisturbed: how late it was against the frames before it. */
  readonly late: (lateMs: number) => void;
}

const markDelayMs = 15;
const answerTimeoutMs = 10_000;
const frameMs = 20;
/** A reply without a frame for so long is over, or broken. */
const goneQuietMs = 2_500;
/**
 * For so long a caller who was put off waits for the answer before it asks again. A caller who spoke was asked to say it again, and does so soon;
 * keys need no STT, and a caller who pressed them is owed the answer without asking.
 */
const patienceMs = { speech: 2_500, keys: 6_000 };
const cutShare = 0.15;
const pingEveryMs = 250;
const replyGroups = wordsPerReply * groupsPerWord;

type State =
  | { readonly name: 'resting'; readonly until: number }
  | { readonly name: 'speaking'; readonly clip: readonly Buffer[]; at: number }
  | {
      readonly name: 'waiting';
      readonly since: number;
      readonly lastReply: number;
      readonly patienceMs: number;
    }
  | { readonly name: 'listening'; readonly cutAt: number };

export class Caller {
  readonly account: Account;
  readonly #options: CallerOptions;
  readonly #client: CallClient;
  readonly #reader = new GroupReader();
  readonly silence = new OwedSilence();
  #state: State = { name: 'resting', until: Infinity };
  #marks: { readonly id: string; readonly at: number }[] = [];
  #playedAt = 0;
  #soundAt = 0;
  #stretch: { readonly startAt: number; frames: number; lastAt: number } | undefined;
  #silenceAt = 0;
  #entries = 0;
  #recovery: { readonly since: number; readonly token: string; pingAt: number } | undefined;
  started = false;
  /** Why the connection is gone; undefined while it is there. */
  endedBy: string | undefined;
  endedAt = 0;
  turns = 0;
  answered = 0;
  unanswered = 0;
  /** Replies that ended early although nobody cut them. */
  short = 0;
  /** Milliseconds until the service answered again after the last fault; undefined while it has not. */
  recoveredMs: number | undefined;
  /** The longest time without a frame within a reply since the last fault. */
  longestGapMs = 0;

  constructor(options: CallerOptions) {
    this.#options = options;
    this.account = new Account(options.call, options.slackWords);
    this.#client = new CallClient(options.address, {
      opened: () =>
        this.#client.sendMessage({
          type: 'start',
          version: 1,
          sample_rate: sampleRate,
          encoding: 'pcm16',
          call_id: this.id,
        }),
      audio: (payload) => this.#onAudio(payload, performance.now()),
      message: (message) => this.#onMessage(message, performance.now()),
      ponged: (payload) => this.#onPong(payload.toString(), performance.now()),
      closed: (reason) => this.#end(reason),
    });
  }

  get id(): string {
    return `chaos-${this.#options.call}`;
  }

  get isOpen(): boolean {
    return this.started && this.endedBy === undefined;
  }

  /** From now on the service is asked again and again whether it is there. */
  watchRecovery(now: number): void {
    this.recoveredMs = undefined;
    this.longestGapMs = 0;
    this.silence.restart(now);
    this.#recovery = { since: now, token: `r${Math.round(now)}`, pingAt: now };
  }

  setReading(reading: boolean): void {
    this.#client.setReading(reading);
    this.account.setReading(reading);
    this.#stretch = undefined;
  }

  hangUp(): void {
    this.#client.sendMessage({ type: 'stop' });
  }

  destroy(): void {
    this.#client.destroy();
  }

  /** Every 20 ms. */
  tick(now: number): void {
    if (!this.isOpen) return;
    while (this.#marks[0] !== undefined && now >= this.#marks[0].at)
      this.#client.sendMessage({ type: 'mark', id: this.#marks.shift()?.id });
    if (this.#recovery !== undefined && now >= this.#recovery.pingAt) {
      this.#client.ping(this.#recovery.token);
      this.#recovery.pingAt = now + pingEveryMs;
    }
    this.silence.look(now);
    this.#move(now);
    this.#sendFrame(now);
  }

  #sendFrame(now: number): void {
    const { silence } = this.#options;
    const state = this.#state;
    if (state.name !== 'speaking') {
      const frame = silence[this.#silenceAt % silence.length];
      if (frame !== undefined) this.#client.sendFrame(frame);
      this.#silenceAt += 1;
      return;
    }
    const frame = state.clip[state.at];
    if (frame !== undefined) this.#client.sendFrame(frame);
    state.at += 1;
    if (state.at >= state.clip.length) this.#wait(now, patienceMs.speech);
  }

  #move(now: number): void {
    const state = this.#state;
    const { prng, clips } = this.#options;
    if (state.name === 'resting' && now >= state.until) {
      // The first turn has keys, by which the model's fake knows the call.
      if (this.#entries === 0 || prng.chance(0.5)) this.#pressKeys(now);
      else {
        this.turns += 1;
        this.silence.settled(now);
        this.#state = { name: 'speaking', clip: prng.pick(clips), at: 0 };
      }
    } else if (
      state.name === 'waiting' &&
      (now - state.since > answerTimeoutMs || this.#wasPutOff(state, now))
    ) {
      this.unanswered += 1;
      this.silence.settled(now);
      this.#rest(now);
    } else if (state.name === 'listening') this.#listenOn(state.cutAt, now);
  }

  /** Something was said that is no answer, and nothing follows: a caller would say it again. */
  #wasPutOff({ since, patienceMs: quietMs }: State & { name: 'waiting' }, now: number): boolean {
    return this.#soundAt > since && now - this.#soundAt > quietMs;
  }

  #listenOn(cutAt: number, now: number): void {
    const lastAt = this.#stretch?.lastAt ?? now;
    if (now >= cutAt) this.#pressKeys(now);
    else if (this.account.heardGroups >= replyGroups - 2) {
      this.silence.settled(now);
      this.#rest(now + (this.#playedAt - now));
    } else if (now - lastAt > goneQuietMs) {
      this.short += 1;
      this.silence.settled(now);
      this.#rest(now);
    }
  }

  #pressKeys(now: number): void {
    this.turns += 1;
    this.#entries += 1;
    const entry = `${this.#options.call}*${this.#entries}`;
    this.account.keysSent(entry);
    for (const digit of `${entry}#`) this.#client.sendMessage({ type: 'dtmf', digit });
    this.#wait(now, patienceMs.keys);
  }

  #wait(now: number, quietMs: number): void {
    this.#stretch = undefined;
    this.silence.owed(now);
    this.#state = { name: 'waiting', since: now, lastReply: this.account.reply, patienceMs: quietMs };
  }

  #rest(now: number): void {
    this.#stretch = undefined;
    this.#state = { name: 'resting', until: now + 200 + this.#options.prng.below(1_000) };
  }

  #onAudio(payload: Buffer, now: number): void {
    if (this.#reader.read(payload, (group) => this.account.heard(group))) this.account.softened();
    this.#playedAt = Math.max(this.#playedAt, now) + frameMs;
    this.#soundAt = now;
    this.silence.heard(now);
    const state = this.#state;
    if (state.name === 'waiting' && this.account.reply > state.lastReply) {
      this.answered += 1;
      const { prng } = this.#options;
      const cutAt = prng.chance(cutShare) ? now + 300 + prng.below(2_000) : Infinity;
      this.#state = { name: 'listening', cutAt };
      this.#stretch = { startAt: now, frames: 0, lastAt: now };
      return;
    }
    const stretch = this.#stretch;
    if (stretch === undefined) return;
    stretch.frames += 1;
    this.longestGapMs = Math.max(this.longestGapMs, now - stretch.lastAt);
    stretch.lastAt = now;
    this.#options.late(now - (stretch.startAt + stretch.frames * frameMs));
  }

  #onMessage(message: Record<string, unknown>, now: number): void {
    switch (message['type']) {
      case 'started':
        this.started = true;
        this.#rest(now);
        return;
      case 'mark':
        this.#marks.push({ id: String(message['id']), at: Math.max(this.#playedAt, now) + markDelayMs });
        return;
      case 'clear':
        this.#marks = [];
        this.#playedAt = now;
        this.#stretch = undefined;
        this.account.cleared(Number(message['epoch']));
        return;
      case 'error':
      case 'stop':
        this.#end(`${message['type']} ${String(message['message'] ?? message['reason'])}`);
    }
  }

  #onPong(token: string, now: number): void {
    if (this.#recovery === undefined || token !== this.#recovery.token) return;
    this.recoveredMs = now - this.#recovery.since;
    this.#recovery = undefined;
  }

  #end(reason: string): void {
    if (this.endedBy !== undefined) return;
    this.endedBy = reason;
    this.endedAt = performance.now();
    this.silence.settled(this.endedAt);
  }
}
