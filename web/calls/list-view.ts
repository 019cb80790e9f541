/** The list of calls: filters, pages one behind the other, and what is found as a table for other programs. */
import { byId, setText } from '../elements.ts';
import { formatLength, formatMs } from '../figures.ts';
import { save } from './save.ts';
import { Refused, type About, type CallRow, type Service } from './wire.ts';
import { csvOf, shortDate, endWord, money, partyOf } from './words.ts';

const pageRows = 50;
/** One export has so many calls at most; older ones come by a time filter. */
const mostExported = 10_000;
const exportRows = 500;

export interface ListEvents {
  readonly failed: (error: unknown) => void;
  readonly listed: () => void;
}

export class ListView {
  readonly #service: Service;
  readonly #events: ListEvents;
  readonly #form = byId('filters', HTMLFormElement);
  readonly #rows = byId('rows', HTMLTableSectionElement);
  readonly #more = byId('more', HTMLButtonElement);
  readonly #csv = byId('csv', HTMLButtonElement);
  readonly #count = byId('count', HTMLSpanElement);
  readonly #agents = byId('agents', HTMLDataListElement);
  #about: About = { ends: {} };
  #next: string | undefined;
  /** Answers to older questions are thrown away. */
  #asked = 0;

  constructor(service: Service, events: ListEvents) {
    this.#service = service;
    this.#events = events;
    this.#form.addEventListener('submit', (event) => {
      event.preventDefault();
      void this.look();
    });
    // The fields are empty behind the event.
    this.#form.addEventListener('reset', () => setTimeout(() => void this.look()));
    this.#form.addEventListener('change', ({ target }) => {
      if (
        target instanceof HTMLSelectElement ||
        (target instanceof HTMLInputElement && target.type !== 'search')
      )
        void this.look();
    });
    this.#more.addEventListener('click', () => void this.#page(this.#next));
    this.#csv.addEventListener('click', () => void this.#export());
  }

  about(about: About): void {
    this.#about = about;
    const { elements } = this.#form;
    const select = elements.namedItem('code');
    if (!(select instanceof HTMLSelectElement) || select.length > 1) return;
    for (const code of Object.keys(about.ends)) select.add(new Option(endWord(code), code));
  }

  async look(): Promise<void> {
    if (this.#form.reportValidity()) await this.#page(undefined);
  }

  async #page(cursor: string | undefined): Promise<void> {
    this.#asked += 1;
    const asked = this.#asked;
    try {
      const { rows, next } = await this.#service.list(this.#query(pageRows, cursor));
      if (asked !== this.#asked) return;
      const before = cursor === undefined ? 0 : this.#rows.rows.length;
      if (before === 0) this.#rows.replaceChildren();
      this.#rows.append(...rows.map((row) => this.#row(row)));
      this.#next = next;
      this.#more.hidden = next === undefined;
      const count = before + rows.length;
      setText(
        this.#count,
        count === 0
          ? 'No call is like that.'
          : `${count} ${count === 1 ? 'call' : 'calls'}${next === undefined ? '' : ', and more'}`,
      );
      this.#know(rows);
      this.#events.listed();
      if (before > 0) this.#rows.rows[before]?.querySelector('a')?.focus();
    } catch (error) {
      if (asked === this.#asked) this.#events.failed(error);
    }
  }

  #query(limit: number, cursor: string | undefined): URLSearchParams {
    const query = new URLSearchParams({ limit: String(limit) });
    for (const [name, value] of new FormData(this.#form)) {
      if (typeof value !== 'string' || value.trim() === '') continue;
      query.set(name, name === 'since' || name === 'before' ? String(dayOf(value, name)) : value.trim());
    }
    if (cursor !== undefined) query.set('cursor', cursor);
    return query;
  }

  #row(row: CallRow): HTMLTableRowElement {
    const line = document.createElement('tr');
    const link = document.createElement('a');
    link.href = `#${encodeURIComponent(row.id)}`;
    link.textContent = shortDate(row.startedAtMs);
    line.insertCell().append(link);
    const isBad = this.#about.ends[row.code]?.isFailure === true;
    for (const [text, bad] of [
      [row.agent, false],
      [partyOf(row), false],
      [formatLength(row.durationMs), false],
      [String(row.turns), false],
      [row.slowestMs === undefined ? '' : formatMs(row.slowestMs), false],
      [row.faults === 0 ? '' : String(row.faults), true],
      [money(row.cost, row.currency), false],
      [endWord(row.code), isBad],
      [row.outcome ?? '', row.outcome === 'failure'],
    ] as const) {
      const cell = line.insertCell();
      cell.textContent = text;
      cell.classList.toggle('is-bad', bad);
      // Where there is no room for all of it.
      cell.title = text;
    }
    return line;
  }

  /** Names of agents to choose from, as they were seen. */
  #know(rows: readonly CallRow[]): void {
    const known = new Set([...this.#agents.options].map(({ value }) => value));
    for (const { agent } of rows)
      if (!known.has(agent)) {
        known.add(agent);
        const option = document.createElement('option');
        option.value = agent;
        this.#agents.append(option);
      }
  }

  async #export(): Promise<void> {
    this.#csv.disabled = true;
    try {
      const rows: CallRow[] = [];
      let cursor: string | undefined;
      do {
        const page = await this.#service.list(this.#query(exportRows, cursor));
        rows.push(...page.rows);
        cursor = page.next;
      } while (cursor !== undefined && rows.length < mostExported);
      save('calls.csv', csvOf(rows), 'text/csv');
      if (cursor !== undefined)
        throw new Refused(`The file has the newest ${rows.length} calls; older ones come with another "To".`);
    } catch (error) {
      this.#events.failed(error);
    } finally {
      this.#csv.disabled = false;
    }
  }
}

/** Milliseconds since 1970 at the beginning of a day here, or at its end. */
function dayOf(value: string, which: 'since' | 'before'): number {
  const [year = 0, month = 1, day = 1] = value.split('-').map(Number);
  return new Date(year, month - 1, which === 'since' ? day : day + 1).getTime();
}
