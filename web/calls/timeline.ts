/**
 * One call as a picture on one time line: both sides as blocks of speech or as a waveform, tools, operators, faults and interruptions. The
 * picture holds nothing that does not stand as text on the page too.
 */
import { byId } from '../elements.ts';
import { formatLength } from '../figures.ts';
import type { CallRecord, Waveform } from './wire.ts';

const svgNs = 'http://www.w3.org/2000/svg';
const width = 2_000;
const voiceHeight = 56;
const rowHeight = 18;
/** Shorter things are drawn so wide that they can be seen. */
const leastWidth = 4;

interface Lane {
  readonly name: string;
  readonly height: number;
}

/** Time between two marks of the scale, of those that are easily read. */
const steps = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1_800, 3_600].map((seconds) => seconds * 1000);
const mostTicks = 8;

export class Timeline {
  readonly #names = byId('lane-names', HTMLDivElement);
  readonly #wide = byId('lane-wide', HTMLDivElement);
  readonly #scroll = byId('lane-scroll', HTMLDivElement);
  readonly #zoom = byId('zoom', HTMLSelectElement);
  readonly #seek: (ms: number) => void;
  #ms = 1;
  #head: SVGLineElement | undefined;
  #svg: SVGSVGElement | undefined;

  constructor(seek: (ms: number) => void) {
    this.#seek = seek;
    this.#zoom.addEventListener('change', () => this.#scale());
  }

  show(record: CallRecord): void {
    this.#ms = Math.max(1, record.duration_ms);
    this.#zoom.value = '1';
    const lanes: Lane[] = [
      { name: 'Caller', height: voiceHeight },
      { name: 'Agent', height: voiceHeight },
    ];
    if (record.tools.length > 0) lanes.push({ name: 'Tools', height: rowHeight });
    if (record.operators.length > 0) lanes.push({ name: 'Operators', height: rowHeight });
    const height = lanes.reduce((sum, lane) => sum + lane.height, 0);
    this.#names.replaceChildren(...lanes.map(nameOf));
    const svg = svgElement('svg', {
      viewBox: `0 0 ${width} ${height}`,
      preserveAspectRatio: 'none',
      role: 'img',
    });
    svg.setAttribute('aria-label', 'Who spoke when; the text below says the same.');
    svg.style.height = `${height}px`;
    let top = 0;
    for (const { name, height: tall } of lanes) {
      this.#draw(svg, record, name, top, tall);
      top += tall;
      svg.append(svgElement('line', { class: 'lane-line', x1: 0, x2: width, y1: top, y2: top }));
    }
    this.#marks(svg, record);
    this.#head = svgElement('line', { class: 'is-head', x1: 0, x2: 0, y1: 0, y2: height });
    svg.append(this.#head);
    svg.addEventListener('click', ({ clientX }) => {
      const { left, width: wide } = svg.getBoundingClientRect();
      this.#seek(((clientX - left) / wide) * this.#ms);
    });
    this.#svg = svg;
    this.#wide.classList.remove('has-wave');
    this.#scale();
  }

  /** The sound of both sides, over the blocks. */
  wave(levels: Waveform): void {
    this.#wide.classList.add('has-wave');
    for (const [index, side] of (['caller', 'agent'] as const).entries()) {
      const middle = voiceHeight * (index + 0.5);
      this.#svg?.prepend(
        svgElement('polygon', { class: `of-${side}`, points: outline(levels[index] ?? [], middle) }),
      );
    }
  }

  /** The place that is heard. */
  at(ms: number): void {
    const x = String(this.#x(ms));
    this.#head?.setAttribute('x1', x);
    this.#head?.setAttribute('x2', x);
    const { clientWidth, scrollWidth, scrollLeft } = this.#scroll;
    if (scrollWidth <= clientWidth) return;
    const place = (ms / this.#ms) * scrollWidth;
    if (place < scrollLeft || place > scrollLeft + clientWidth)
      this.#scroll.scrollLeft = place - clientWidth / 4;
  }

  #x(ms: number): number {
    return Math.min(width, Math.max(0, (ms / this.#ms) * width));
  }

  #draw(svg: SVGSVGElement, record: CallRecord, name: string, top: number, height: number): void {
    const add = (kind: string, from: number, to: number, title: string): void => {
      svg.append(this.#block({ kind, from, to, title, top: top + 3, height: height - 6 }));
    };
    switch (name) {
      case 'Tools':
        for (const { at_ms: at, duration_ms: ms, name: tool, outcome } of record.tools)
          add(outcome === 'ok' ? 'of-tool' : 'of-tool is-bad', at, at + ms, `${tool}: ${outcome}`);
        return;
      case 'Operators':
        for (const { at_ms: at, until_ms: until, role, name: who } of record.operators)
          add(
            role === 'listen' ? 'of-operator is-block' : 'of-operator',
            at,
            until ?? (role === 'whisper' ? at : this.#ms),
            `${who ?? 'operator'}: ${role}`,
          );
        return;
      default:
        for (const { role, text, start_ms: from, end_ms: to } of record.transcript)
          if ((role === 'caller') === (name === 'Caller')) add(`of-${role} is-block`, from, to, text);
    }
  }

  #block({ kind, from, to, title, top, height }: Block): SVGRectElement {
    const x = this.#x(from);
    const wide = Math.max(leastWidth, this.#x(to) - x);
    const rect = svgElement('rect', { class: kind, x, y: top, width: wide, height, rx: 2 });
    const words = svgElement('title', {});
    words.textContent = `${formatLength(from)} ${title}`;
    rect.append(words);
    return rect;
  }

  /** What cuts through the lanes: interruptions and faults. */
  #marks(svg: SVGSVGElement, { transcript, faults }: CallRecord): void {
    for (const { role, interrupted, end_ms: at } of transcript) {
      if (role !== 'agent' || interrupted !== true) continue;
      const x = this.#x(at);
      svg.append(svgElement('line', { class: 'is-cut', x1: x, x2: x, y1: 0, y2: voiceHeight * 2 }));
    }
    for (const { at_ms: at, stage, what } of faults)
      svg.append(
        this.#block({
          kind: 'of-fault',
          from: at,
          to: at,
          title: `${stage}: ${what}`,
          top: 0,
          height: 8,
        }),
      );
  }

  #scale(): void {
    const zoom = Number(this.#zoom.value);
    this.#wide.style.setProperty('--zoom', String(zoom));
    const step = steps.find((one) => this.#ms / one <= mostTicks * zoom) ?? this.#ms;
    const ticks: HTMLElement[] = [];
    // The last one needs room for its words.
    for (let at = 0; at + step / 3 < this.#ms; at += step) {
      const tick = document.createElement('span');
      tick.className = 'lane-tick';
      tick.setAttribute('aria-hidden', 'true');
      tick.textContent = formatLength(at);
      tick.style.left = `${(at / this.#ms) * 100}%`;
      ticks.push(tick);
    }
    this.#wide.replaceChildren(...(this.#svg === undefined ? [] : [this.#svg]), ...ticks);
  }
}

interface Block {
  readonly kind: string;
  readonly from: number;
  readonly to: number;
  readonly title: string;
  readonly top: number;
  readonly height: number;
}

function nameOf({ name, height }: Lane): HTMLElement {
  const label = document.createElement('span');
  label.textContent = name;
  label.style.setProperty('--height', `${height}px`);
  return label;
}

const loudest = 255;

function outline(levels: ArrayLike<number>, middle: number): string {
  const upper: string[] = [];
  const lower: string[] = [];
  for (let at = 0; at < levels.length; at += 1) {
    const x = ((at * width) / levels.length).toFixed(1);
    const level = Math.max(0.5, ((levels[at] ?? 0) / loudest) * (voiceHeight / 2 - 3));
    upper.push(`${x},${(middle - level).toFixed(1)}`);
    lower.push(`${x},${(middle + level).toFixed(1)}`);
  }
  return [...upper, ...lower.toReversed()].join(' ');
}

function svgElement<K extends keyof SVGElementTagNameMap>(
  name: K,
  attributes: Readonly<Record<string, string | number>>,
): SVGElementTagNameMap[K] {
  const element = document.createElementNS(svgNs, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, String(value));
  return element;
}
