/**
 * Draws a call onto the document.
 *
 * Invariant: it reads the call and writes the document, never the other way round, and touches only what has changed, so
 * that screen readers hear a state once. Styles are set through the object model: the page allows no inline styles.
 */
import type { PageCall } from './call.ts';
import { formatLength, formatMs, meterShare } from './figures.ts';
import type { LogRow } from './message-log.ts';
import { hintFor, NOT_CONNECTED, problemOf, shownState, STATE_WORDS } from './words.ts';

const ARROWS = { sent: '↑', received: '↓', note: '·' } as const;
const ARROW_WORDS = { sent: 'sent', received: 'received', note: 'note' } as const;
/** Share of a meter's height that it falls back by per drawing. */
const METER_FALL = 0.9;

function byId<E extends HTMLElement>(id: string, kind: new () => E): E {
  const element = document.getElementById(id);
  if (!(element instanceof kind)) throw new Error(`the page has no element "${id}" of the right kind`);
  return element;
}

function setText(element: HTMLElement, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}

export class View {
  readonly callButton = byId('call', HTMLButtonElement);
  readonly keys = byId('keys', HTMLElement);
  readonly #stage = byId('stage', HTMLElement);
  readonly #state = byId('state', HTMLElement);
  readonly #hint = byId('hint', HTMLElement);
  readonly #label = byId('call-label', HTMLElement);
  readonly #problem = byId('problem', HTMLElement);
  readonly #problemTitle = byId('problem-title', HTMLElement);
  readonly #problemAdvice = byId('problem-advice', HTMLElement);
  readonly #callerMeter = byId('caller-level', HTMLElement);
  readonly #agentMeter = byId('agent-level', HTMLElement);
  readonly #last = byId('last-time', HTMLElement);
  readonly #median = byId('median-time', HTMLElement);
  readonly #length = byId('length', HTMLElement);
  readonly #log = byId('log', HTMLOListElement);
  readonly #logScroll = byId('log-scroll', HTMLElement);
  readonly #logEmpty = byId('log-empty', HTMLElement);
  readonly #logCount = byId('log-count', HTMLElement);
  readonly #rows = new Map<number, { readonly item: HTMLLIElement; readonly detail: HTMLElement }>();
  #shownCall: PageCall | undefined;
  #callerShare = 0;
  #agentShare = 0;

  showAgent(name: string): void {
    const chip = byId('agent', HTMLElement);
    chip.textContent = name;
    chip.hidden = name === '';
  }

  /** Says whom the page calls when its own address chose that. */
  showTarget(host: string): void {
    const target = byId('target', HTMLElement);
    target.textContent = `Calls go to ${host}, as the address of this page asks.`;
    target.hidden = false;
  }

  draw(call: PageCall): void {
    const { phase } = call;
    const shown = shownState(phase, call.turn);
    if (this.#stage.dataset['state'] !== shown) this.#stage.dataset['state'] = shown;
    const failed = phase.name === 'ended' && call.lengthMs === 0 && problemOf(phase.outcome) !== undefined;
    setText(this.#state, failed ? NOT_CONNECTED : STATE_WORDS[shown]);
    setText(this.#hint, hintFor(phase, shown));
    const calling = phase.name !== 'idle' && phase.name !== 'ended';
    setText(this.#label, calling ? (phase.name === 'open' ? 'Hang up' : 'Cancel') : 'Call');
    this.callButton.classList.toggle('is-calling', calling);
    this.callButton.disabled = phase.name === 'ending';
    this.#drawProblem(call);
    this.#drawLevels(call);
    setText(this.#last, formatMs(call.times.lastMs));
    setText(this.#median, formatMs(call.times.medianMs));
    setText(this.#length, formatLength(call.lengthMs));
    for (const key of this.keys.querySelectorAll('button')) key.disabled = phase.name !== 'open';
    this.#drawLog(call);
  }

  #drawProblem(call: PageCall): void {
    const problem = call.phase.name === 'ended' ? problemOf(call.phase.outcome) : undefined;
    setText(this.#problemTitle, problem?.title ?? '');
    setText(this.#problemAdvice, problem?.advice ?? '');
    this.#problem.hidden = problem === undefined;
  }

  #drawLevels(call: PageCall): void {
    this.#callerShare = Math.max(meterShare(call.callerLevel), this.#callerShare * METER_FALL);
    this.#agentShare = Math.max(meterShare(call.agentLevel), this.#agentShare * METER_FALL);
    this.#callerMeter.style.setProperty('--level', this.#callerShare.toFixed(3));
    this.#agentMeter.style.setProperty('--level', this.#agentShare.toFixed(3));
    const heard = this.#stage.dataset['state'] === 'agent-speaking' ? this.#agentShare : this.#callerShare;
    this.#stage.style.setProperty('--level', heard.toFixed(3));
  }

  #drawLog(call: PageCall): void {
    if (call !== this.#shownCall) {
      this.#shownCall = call;
      this.#rows.clear();
      this.#log.replaceChildren();
    }
    const { rows } = call.log;
    const { scrollTop, clientHeight, scrollHeight } = this.#logScroll;
    const followed = scrollHeight - scrollTop - clientHeight < 24;
    let added = false;
    for (const row of rows) {
      const drawn = this.#rows.get(row.id);
      if (drawn === undefined) {
        this.#addRow(row);
        added = true;
      } else setText(drawn.detail, row.detail);
    }
    const oldest = rows[0]?.id ?? 0;
    for (const [id, { item }] of this.#rows) {
      if (id >= oldest) break;
      item.remove();
      this.#rows.delete(id);
    }
    this.#logEmpty.hidden = rows.length > 0;
    setText(this.#logCount, rows.length === 0 ? '' : `${rows.length}`);
    if (added && followed) this.#logScroll.scrollTop = this.#logScroll.scrollHeight;
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
    arrow.setAttribute('aria-label', ARROW_WORDS[row.direction]);
    cell('row-label', row.label);
    const detail = cell('row-detail', row.detail);
    this.#log.append(item);
    this.#rows.set(row.id, { item, detail });
  }
}
