/** The turns of a call, with what happened in each: every count stands in the turn that ran, so that turns add up to the call. Pure. */
import { recordLimits, type RecordedTurn } from './record.ts';

type Turn = { -readonly [K in keyof RecordedTurn]: RecordedTurn[K] };
export type TurnCount = 'silence_ms' | 'backchannels' | 'false_starts' | 'faults' | 'failovers';
type Counts = { [K in TurnCount]?: number };

const added = (counts: Counts, name: TurnCount, by: number): void => {
  if (by > 0) counts[name] = (counts[name] ?? 0) + by;
};

function addAll(turn: Turn, counts: Counts): void {
  for (const name of Object.keys(counts) as TurnCount[]) added(turn, name, counts[name] ?? 0);
}

export class Turns {
  readonly #turns = new Map<number, Turn>();
  #current: number | undefined;
  /** Of a turn whose number is not known yet. */
  #next: Counts = {};

  /** Says no where a record holds no more turns. */
  set(epoch: number, at: number, more: Partial<RecordedTurn> = {}): boolean {
    const turn = this.#turns.get(epoch) ?? { epoch, at_ms: at };
    if (!this.#turns.has(epoch) && this.#turns.size >= recordLimits.turns) return false;
    this.#turns.set(epoch, { ...turn, ...more });
    return true;
  }

  /** What is counted from here on is of this turn, and so is what was counted since the caller began it. */
  runs(epoch: number): void {
    this.#current = epoch;
    const turn = this.#turns.get(epoch);
    if (turn !== undefined) addAll(turn, this.#next);
    this.#next = {};
  }

  /** The caller begins to speak: the turn before is over. */
  begins(): void {
    this.#current = undefined;
  }

  count(name: TurnCount, by: number): void {
    const counts = this.#current === undefined ? this.#next : this.#turns.get(this.#current);
    if (counts !== undefined) added(counts, name, by);
  }

  /** In their order. A voice that was no turn belongs to the one before it. */
  list(): RecordedTurn[] {
    const turns = [...this.#turns.values()]
      .map((turn) => ({ ...turn }))
      .toSorted((a, b) => a.epoch - b.epoch);
    const last = turns.at(-1);
    if (last !== undefined) addAll(last, this.#next);
    return turns;
  }
}
