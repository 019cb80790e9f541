/**
 * Whose words the transcriptions of a server are: a turn is committed, the server names the item, and its words come any time later, even behind
 * the answer. An item is told once. Pure.
 */
import type { RealtimeEvent } from '../contract.ts';
import { keepNewest } from './items.ts';

const mostTurns = 32;

interface Turn {
  readonly turn: number;
  text: string;
  isFinal: boolean;
}

export class CallerWords {
  /** Turns that were committed and that the server has not named, in order. */
  #committed: number[] = [];
  readonly #turns = new Map<string, Turn>();

  committed(turn: number): void {
    this.#committed.push(turn);
    if (this.#committed.length > mostTurns) this.#committed.shift();
  }

  named(item: string): void {
    if (this.#turns.has(item)) return;
    const turn = this.#committed.shift();
    if (turn === undefined || item === '') return;
    this.#turns.set(item, { turn, text: '', isFinal: false });
    keepNewest(this.#turns, mostTurns);
  }

  /** The server would not take the turn: nobody said anything in it. */
  refused(): RealtimeEvent[] {
    const turn = this.#committed.shift();
    return turn === undefined ? [] : [{ type: 'user-text', turn, text: '', final: true }];
  }

  piece(item: string, delta: string): RealtimeEvent[] {
    const known = this.#of(item);
    return known === undefined ? [] : this.soFar(item, known.text + delta);
  }

  soFar(item: string, text: string): RealtimeEvent[] {
    const known = this.#of(item);
    if (known === undefined || known.isFinal || text === known.text) return [];
    known.text = text;
    return [{ type: 'user-text', turn: known.turn, text: text.trim(), final: false }];
  }

  /** Words for an item that the server has not named belong to the turn without a name, where there is one such turn. */
  #of(item: string): Turn | undefined {
    if (this.#committed.length === 1) this.named(item);
    return this.#turns.get(item);
  }

  /** @param text absent: what was told so far is all there is. */
  whole(item: string, text?: string): RealtimeEvent[] {
    const known = this.#of(item);
    if (known === undefined || known.isFinal) return [];
    known.isFinal = true;
    return [{ type: 'user-text', turn: known.turn, text: (text ?? known.text).trim(), final: true }];
  }
}
