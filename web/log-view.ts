/** Draws the log of protocol messages. Invariant: it touches only what has changed. */
import { byId, isAtEnd, setText } from './elements.ts';
import type { LogRow, MessageLog } from './message-log.ts';

const ARROWS = { sent: '↑', received: '↓', note: '·' } as const;

export class LogView {
  readonly #list = byId('log', HTMLOListElement);
  readonly #scroll = byId('log-scroll', HTMLElement);
  readonly #empty = byId('log-empty', HTMLElement);
  readonly #count = byId('log-count', HTMLElement);
  readonly #rows = new Map<number, { readonly item: HTMLLIElement; readonly detail: HTMLElement }>();
  #shown: MessageLog | undefined;

  draw(log: MessageLog): void {
    if (log !== this.#shown) {
      this.#shown = log;
      this.#rows.clear();
      this.#list.replaceChildren();
    }
    const follows = isAtEnd(this.#scroll);
    let added = false;
    for (const row of log.rows) {
      const drawn = this.#rows.get(row.id);
      if (drawn === undefined) {
        this.#addRow(row);
        added = true;
      } else setText(drawn.detail, row.detail);
    }
    const oldest = log.rows[0]?.id ?? 0;
    for (const [id, { item }] of this.#rows) {
      if (id >= oldest) break;
      item.remove();
      this.#rows.delete(id);
    }
    this.#empty.hidden = log.rows.length > 0;
    setText(this.#count, log.rows.length === 0 ? '' : `${log.rows.length}`);
    if (added && follows) this.#scroll.scrollTop = this.#scroll.scrollHeight;
  }

  #addRow(row: LogRow): void {
    const item = document.createElement('li');
    item.className = `row row-${row.direction}`;
    if (row.label === 'error' || row.label === 'clear') item.classList.add(`row-${row.label}`);
    const cell = (name: string, text: string): HTMLElement => {
      const span = document.createElement('span');
      span.className = name;
      span.textContent = text;
      item.append(span);
      return span;
    };
    cell('row-time', (row.atMs / 1000).toFixed(2));
    const arrow = cell('row-arrow', ARROWS[row.direction]);
    arrow.setAttribute('role', 'img');
    arrow.setAttribute('aria-label', row.direction);
    cell('row-label', row.label);
    const detail = cell('row-detail', row.detail);
    this.#list.append(item);
    this.#rows.set(row.id, { item, detail });
  }
}
