/**
 * Draws where the time of each turn went: one bar a turn, as long as it took from the caller's last word to the first sound, in the parts
 * that the service measured.
 *
 * Invariant: at most `SHOWN` bars, the newest last; each says its figures in words, so that the picture holds nothing that is not text.
 */
import type { TurnMetrics } from './client/index.ts';
import { byId } from './elements.ts';
import { formatMs } from './figures.ts';

const SHOWN = 8;

const PARTS = [
  { name: 'end', words: 'noticing that you were done', of: (turn: TurnMetrics) => turn.endOfTurnMs },
  { name: 'stt', words: 'recognition', of: (turn: TurnMetrics) => turn.sttFinalMs },
  { name: 'llm', words: 'language model', of: (turn: TurnMetrics) => turn.llmTtftMs },
  { name: 'tts', words: 'voice', of: (turn: TurnMetrics) => turn.ttsTtfbMs },
] as const;

export class TurnChart {
  readonly #list = byId('turns', HTMLOListElement);
  readonly #section = byId('turns-section', HTMLElement);
  #turns: TurnMetrics[] = [];

  /** A call begins. */
  clear(): void {
    this.#turns = [];
    this.#draw();
  }

  add(turn: TurnMetrics): void {
    this.#turns = [...this.#turns, turn].slice(-SHOWN);
    this.#draw();
  }

  #draw(): void {
    this.#section.hidden = this.#turns.length === 0;
    const longest = Math.max(1_000, ...this.#turns.map(wholeOf));
    this.#list.replaceChildren(...this.#turns.map((turn) => barOf(turn, longest)));
  }
}

const wholeOf = (turn: TurnMetrics): number =>
  turn.responseMs ?? PARTS.reduce((sum, { of }) => sum + (of(turn) ?? 0), 0);

function barOf(turn: TurnMetrics, longestMs: number): HTMLLIElement {
  const item = document.createElement('li');
  const bar = document.createElement('span');
  bar.className = 'turn-bar';
  bar.setAttribute('aria-hidden', 'true');
  for (const { name, of } of PARTS) {
    const part = document.createElement('span');
    part.className = `turn-part turn-${name}`;
    part.style.setProperty('--share', String((of(turn) ?? 0) / longestMs));
    bar.append(part);
  }
  const time = document.createElement('span');
  time.className = 'turn-time';
  time.textContent = formatMs(wholeOf(turn));
  const words = document.createElement('span');
  words.className = 'only-read';
  words.textContent = PARTS.map((part) => `${part.words} ${formatMs(part.of(turn))}`).join(', ');
  item.title = words.textContent;
  item.append(bar, time, words);
  return item;
}
