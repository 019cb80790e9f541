/** The simulated client: plays what arrives after its delay, drops on `clear`, echoes marks well, badly or not at all. */
import type { Plan } from '../plan.ts';
import type { Timeline } from './timeline.ts';

interface PlayedFrame {
  readonly endsAt: number;
  readonly audioMs: number;
}

interface WaitingMark {
  readonly id: string;
  readonly playedAt: number;
  forgotten: boolean;
}

export class Client {
  readonly #plan: Plan;
  readonly #time: Timeline;
  readonly #echo: (id: string) => void;
  readonly #frames = new Map<number, PlayedFrame[]>();
  #marks: WaitingMark[] = [];
  #lastEndsAt = 0;

  constructor(plan: Plan, time: Timeline, echo: (id: string) => void) {
    this.#plan = plan;
    this.#time = time;
    this.#echo = echo;
  }

  /** From sending a frame to having played it. */
  get delayMs(): number {
    return this.#plan.client.downMs + this.#plan.client.bufferMs + 20;
  }

  /** A frame that brings the audio of its context up to `audioMs`. */
  frame(context: number, audioMs: number): void {
    this.#lastEndsAt = this.#time.now + this.delayMs;
    const frames = this.#frames.get(context);
    if (frames === undefined) this.#frames.set(context, [{ endsAt: this.#lastEndsAt, audioMs }]);
    else frames.push({ endsAt: this.#lastEndsAt, audioMs });
  }

  /** The audio of `former` goes on in `context`. */
  adopt(context: number, former: number): void {
    this.#frames.set(context, [...(this.#frames.get(former) ?? [])]);
  }

  mark(id: string): void {
    const { kind, upMs } = this.#plan.client;
    if (kind === 'silent' || kind === 'acks') return;
    const { prng } = this.#plan;
    const playedAt = Math.max(this.#time.now + this.#plan.client.downMs, this.#lastEndsAt);
    const mark = { id, playedAt, forgotten: false };
    this.#marks.push(mark);
    const bad = kind === 'bad';
    if (bad && prng.chance(0.15)) return;
    const waitMs = mark.playedAt - this.#time.now + upMs + this.#lateMs();
    this.#time.after(waitMs, () => {
      if (mark.forgotten && !(bad && prng.chance(0.3))) return;
      this.#echo(id);
      if (bad && prng.chance(0.2)) this.#echo(id);
      if (bad && prng.chance(0.1)) this.#echo('m-unknown');
    });
  }

  /** By how much later than it could a mark is echoed. */
  #lateMs(): number {
    const { prng, client } = this.#plan;
    if (client.kind === 'bad') return prng.chance(0.2) ? prng.below(2_000) : 0;
    const { fixedMs, jitterMs } = client.late ?? { fixedMs: 0, jitterMs: 0 };
    return fixedMs + (jitterMs > 0 ? prng.below(jitterMs) : 0);
  }

  /** `clear` was sent now; what is played before it arrives is heard all the same. */
  clear(): void {
    const arrivesAt = this.#time.now + this.#plan.client.downMs;
    for (const frames of this.#frames.values())
      while (frames.length > 0 && frames.at(-1)!.endsAt > arrivesAt) frames.pop();
    for (const mark of this.#marks) if (mark.playedAt > arrivesAt) mark.forgotten = true;
    this.#marks = [];
    this.#lastEndsAt = Math.min(this.#lastEndsAt, arrivesAt);
  }

  /** How much of a context's audio had been played at a time; of all that ever will be for `Infinity`. */
  heardMs(context: number, at: number): number {
    const frames = this.#frames.get(context) ?? [];
    for (let index = frames.length - 1; index >= 0; index -= 1)
      if (frames[index]!.endsAt <= at) return frames[index]!.audioMs;
    return 0;
  }
}
