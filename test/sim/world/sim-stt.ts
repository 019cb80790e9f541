/**
 * Simulated STT: it writes down exactly the words of the audio it was given, in guesses and finals. It keeps the contract of
 * its stage unless the plan says that it breaks it, and remembers what the turn really held.
 */
import type { CallEvent } from '../../../worker/core/events.ts';
import type { SimWorld } from './sim-world.ts';

const prerollMs = 600;

interface Word {
  readonly at: number;
  readonly word: string;
}

type SttText = Extract<CallEvent, { type: 'stt.partial' | 'stt.final' }>;

export class SimStt {
  readonly #world: SimWorld;
  #session = 0;
  #lastAt = 0;
  #listening = false;
  #deaf = false;
  /** Everything that the microphone heard, and how much of it was given to STT. */
  readonly #heard: Word[] = [];
  #given = 0;
  /** Words of this session that no final holds yet. */
  #open: string[] = [];
  /** Words given to STT since it was asked to listen afresh. */
  turnWords: Word[] = [];
  /** Breaches of the contract in this turn. */
  #faults = 0;
  #reopened = 0;
  #freshAt = 0;
  /** What was said before is with a worker that is gone. */
  #keptFrom = 0;

  constructor(world: SimWorld) {
    this.#world = world;
  }

  /** What STT says of this turn must be exactly what was given. */
  get exact(): boolean {
    const { now } = this.#world.time;
    if (this.#faults === 0) return true;
    return this.#faults === 1 && this.#reopened <= 1 && now - this.#freshAt < 12_000;
  }

  /** The microphone hears a word. */
  hear(word: string): void {
    this.#heard.push({ at: this.#world.time.now, word });
    if (!this.#listening) return;
    this.#take();
    const { prng, faults, stt } = this.#world.plan;
    if (prng.chance(faults.sttFails / 3)) this.#fail(100);
    else if (prng.chance(0.1)) this.#final(200, false);
    else if (stt.guesses && prng.chance(0.7)) this.#guess(150);
    if (stt.endpoints) this.#endpoint(this.#heard.length);
  }

  listen(fresh: boolean): void {
    const { time, plan } = this.#world;
    if (fresh) {
      this.turnWords = [];
      this.#faults = 0;
      this.#reopened = 0;
      this.#freshAt = time.now;
    }
    if (this.#listening) return;
    this.#listening = true;
    if (!this.#deaf && plan.prng.chance(plan.faults.sttIsDeaf)) {
      this.#deaf = true;
      this.#faults += 1;
    }
    const from = this.#heard.findIndex(({ at }) => at >= time.now - prerollMs);
    this.#given = Math.max(this.#given, from === -1 ? this.#heard.length : from);
    this.#take();
  }

  finalize(): void {
    this.#listening = false;
    const { plan } = this.#world;
    if (this.#deaf || plan.prng.chance(plan.faults.sttStalls)) {
      this.#faults += 2;
      return;
    }
    if (plan.prng.chance(plan.faults.sttFails)) {
      this.#fail(plan.stt.finalizeMs);
      return;
    }
    this.#final(plan.stt.finalizeMs, false);
    this.#deliver(0, { type: 'stt.finalized', position: undefined });
  }

  reopen(): void {
    this.#reopened += 1;
    this.#session += 1;
    this.#open = [];
    this.#deaf = false;
    // A session that was asked to listen goes on as the new one.
  }

  /** Another worker: nobody listens any more, and nothing that was said is known. */
  lose(): void {
    this.reopen();
    if (this.#world.time.now - this.#freshAt > 12_000) this.#faults += 2;
    this.#listening = false;
  }

  /** The turn could not be given to the new worker. */
  forgetTurn(): void {
    this.#faults += 2;
    this.#keptFrom = this.#world.time.now;
  }

  replay(): void {
    const from = Math.max(this.#keptFrom, this.#world.time.now - this.#world.plan.settings.limits.replayMs);
    this.#open = this.turnWords.filter(({ at }) => at >= from).map(({ word }) => word);
    this.#given = this.#heard.length;
    if (this.#open.length > 0 && this.#world.plan.stt.guesses) this.#guess(200);
  }

  #take(): void {
    const words = this.#heard.slice(this.#given);
    this.#given = this.#heard.length;
    this.turnWords.push(...words);
    this.#open.push(...words.map(({ word }) => word));
  }

  /** A pause that STT takes for the end of what is said. */
  #endpoint(count: number): void {
    const session = this.#session;
    this.#world.time.after(420, () => {
      if (session === this.#session && this.#listening && this.#heard.length === count) this.#final(30, true);
    });
  }

  #fail(delayMs: number): void {
    this.#faults += 1;
    this.#deliver(delayMs, { type: 'stt.failed' });
  }

  #guess(delayMs: number): void {
    this.#deliver(delayMs, this.#text('stt.partial', this.#open.join(' '), false));
  }

  #final(delayMs: number, speechFinal: boolean): void {
    const words = this.#open.join(' ');
    this.#open = [];
    if (words === '') {
      this.#lastAt = Math.max(this.#lastAt, this.#world.time.now + delayMs);
      return;
    }
    const text = this.#world.plan.stt.punctuates ? `${words}.` : words;
    this.#deliver(delayMs, this.#text('stt.final', text, speechFinal));
  }

  #text(type: SttText['type'], text: string, speechFinal: boolean): SttText {
    return { type, text, speechFinal, position: undefined };
  }

  /** Events of a session arrive in order, and none after it was replaced. */
  #deliver(delayMs: number, event: CallEvent): void {
    const { time } = this.#world;
    const session = this.#session;
    if (this.#deaf) return;
    this.#lastAt = Math.max(this.#lastAt, time.now + delayMs);
    time.after(this.#lastAt - time.now, () => {
      if (session !== this.#session) return;
      const placed = 'position' in event;
      this.#world.tell(placed ? { ...event, position: this.#world.position } : event);
    });
  }
}
