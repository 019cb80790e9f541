/** One call that is over: how it went, its sound and its text on one time line, and its record. */
import { byId, setText } from '../elements.ts';
import { formatLength, formatMs } from '../figures.ts';
import { save } from './save.ts';
import { Timeline } from './timeline.ts';
import {
  latencyParts,
  type About,
  type CallRecord,
  type Latency,
  type OneCall,
  type RecordedTurn,
  type Service,
  Refused,
} from './wire.ts';
import { courseOf, dateTime, endWord, happenedIn, money, partyOf, saidText, sides } from './words.ts';

/** The recording of a call, played by the browser. */
class Sound {
  readonly #service: Service;
  readonly #audio = byId('audio', HTMLAudioElement);
  readonly #state = byId('sound-state', HTMLParagraphElement);
  #url: string | undefined;

  constructor(service: Service) {
    this.#service = service;
    this.#audio.addEventListener('error', () => {
      if (this.#url !== undefined)
        setText(this.#state, 'This browser cannot play the recording. It can be saved below.');
    });
  }

  get audio(): HTMLAudioElement {
    return this.#audio;
  }

  get url(): string | undefined {
    return this.#url;
  }

  close(): void {
    this.#audio.pause();
    this.#audio.hidden = true;
    this.#audio.removeAttribute('src');
    if (this.#url !== undefined) URL.revokeObjectURL(this.#url);
    this.#url = undefined;
    setText(this.#state, 'There is no recording of this call here.');
  }

  /** `isWanted`: the call is still shown. */
  async open(id: string, isWanted: () => boolean): Promise<void> {
    setText(this.#state, 'Loading the recording.');
    let blob: Blob;
    try {
      blob = await this.#service.sound(id);
    } catch (error) {
      if (isWanted())
        setText(this.#state, error instanceof Refused ? error.message : 'The recording broke off.');
      return;
    }
    if (!isWanted()) return;
    this.#url = URL.createObjectURL(blob);
    this.#audio.src = this.#url;
    this.#audio.hidden = false;
    setText(this.#state, '');
  }
}

/** What an LLM made of a call afterwards. Everything is written as text: it says what callers said. */
const isTable = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const written = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

function showAnalysis(analysis: Readonly<Record<string, unknown>> | undefined): void {
  const section = byId('analysis', HTMLElement);
  section.hidden = analysis === undefined;
  if (analysis === undefined) return;
  const { status, reason, summary, outcome, success, labels, data } = analysis;
  const body = byId('analysis-body', HTMLDivElement);
  body.replaceChildren();
  if (status === 'failed') body.append(paragraph(`It could not be made: ${written(reason)}.`));
  if (typeof summary === 'string') body.append(paragraph(summary));
  if (typeof outcome === 'string') body.append(paragraph(`Outcome: ${outcome}.`));
  if (Array.isArray(labels) && labels.length > 0)
    body.append(paragraph(`Labels: ${labels.map(written).join(', ')}.`));
  if (isTable(success))
    body.append(
      list(
        Object.entries(success).map(([name, criterion]) => {
          const { answer, quote } = isTable(criterion) ? criterion : {};
          const because = typeof quote === 'string' && quote !== '' ? `: “${quote}”` : '';
          return [name, `${written(answer)}${because}`];
        }),
      ),
    );
  if (isTable(data)) body.append(list(Object.entries(data).map(([name, value]) => [name, written(value)])));
}

function paragraph(text: string): HTMLParagraphElement {
  const made = document.createElement('p');
  made.textContent = text;
  return made;
}

function list(entries: readonly (readonly [string, string])[]): HTMLDListElement {
  const made = document.createElement('dl');
  for (const [name, value] of entries) {
    const [term, words] = [document.createElement('dt'), document.createElement('dd')];
    term.textContent = name;
    words.textContent = value;
    made.append(term, words);
  }
  return made;
}

export class CallView {
  about: About = { ends: {} };
  readonly #title = byId('call-title', HTMLHeadingElement);
  readonly #facts = byId('facts', HTMLDListElement);
  readonly #said = byId('said', HTMLOListElement);
  readonly #turns = byId('turns', HTMLOListElement);
  readonly #events = byId('events', HTMLTableSectionElement);
  readonly #happened = byId('happened', HTMLElement);
  readonly #place = byId('place', HTMLInputElement);
  readonly #json = byId('json', HTMLPreElement);
  readonly #saveSound = byId('save-sound', HTMLButtonElement);
  readonly #replay = byId('replay', HTMLDivElement);
  readonly #command = byId('replay-command', HTMLElement);
  readonly #copy = byId('replay-copy', HTMLButtonElement);
  readonly #service: Service;
  readonly #sound: Sound;
  readonly #timeline = new Timeline((ms) => this.#seek(ms));
  #record: CallRecord | undefined;

  constructor(service: Service) {
    this.#service = service;
    this.#sound = new Sound(service);
    const { audio } = this.#sound;
    audio.addEventListener('timeupdate', () => this.#show(audio.currentTime * 1000));
    audio.addEventListener('play', () => this.#follow());
    this.#place.addEventListener('input', () => this.#seek(Number(this.#place.value)));
    byId('save-record', HTMLButtonElement).addEventListener('click', () =>
      this.#save('.json', (record) => JSON.stringify(record, undefined, 2), 'application/json'),
    );
    byId('save-text', HTMLButtonElement).addEventListener('click', () =>
      this.#save('.txt', saidText, 'text/plain'),
    );
    this.#saveSound.addEventListener('click', () => {
      const link = document.createElement('a');
      link.href = this.#sound.url ?? '';
      link.download = 'call';
      link.click();
    });
    this.#copy.addEventListener('click', () => void this.#copyCommand());
  }

  show({ record, hasSound }: OneCall): void {
    this.close();
    this.#record = record;
    setText(this.#title, `${record.agent.name}, ${dateTime(Date.parse(record.started_at))}`);
    this.#facts.replaceChildren(...factsOf(record, this.about).flatMap(([name, value]) => pair(name, value)));
    this.#place.max = String(record.duration_ms);
    this.#said.replaceChildren(...record.transcript.map((line) => this.#line(line)));
    if (record.transcript.length === 0) this.#said.append(empty('Nothing was said.'));
    this.#turns.replaceChildren(...rowsOf(record));
    const happened = happenedIn(record);
    this.#happened.hidden = happened.length === 0;
    this.#events.replaceChildren(...happened.map(({ at, what, isBad }) => eventRow(at, what, isBad)));
    showAnalysis(record.analysis);
    this.#json.textContent = JSON.stringify(record, undefined, 2);
    this.#replay.hidden = record.links.replay === undefined;
    setText(this.#command, `svc-supervisor replay ${record.links.replay ?? ''} --agent AGENT.toml`);
    this.#timeline.show(record);
    this.#show(0);
    this.#title.focus();
    if (!hasSound) return;
    void this.#load(record);
    void this.#draw(record);
  }

  close(): void {
    this.#record = undefined;
    this.#saveSound.hidden = true;
    this.#sound.close();
  }

  async #load(record: CallRecord): Promise<void> {
    await this.#sound.open(record.id, () => this.#record === record);
    if (this.#record === record) this.#saveSound.hidden = this.#sound.url === undefined;
  }

  async #draw(record: CallRecord): Promise<void> {
    const levels = await this.#service.waveform(record.id);
    if (this.#record === record && levels !== undefined) this.#timeline.wave(levels);
  }

  /** Goes to a place of the call. */
  #seek(ms: number): void {
    if (this.#sound.url !== undefined) this.#sound.audio.currentTime = ms / 1000;
    this.#show(ms);
  }

  #follow(): void {
    const { audio } = this.#sound;
    if (audio.paused) return;
    this.#show(audio.currentTime * 1000);
    requestAnimationFrame(() => this.#follow());
  }

  #show(ms: number): void {
    this.#place.value = String(ms);
    const words = `${formatLength(ms)} of ${formatLength(Number(this.#place.max))}`;
    if (this.#place.getAttribute('aria-valuetext') !== words)
      this.#place.setAttribute('aria-valuetext', words);
    this.#timeline.at(ms);
    const lines = this.#record?.transcript ?? [];
    const now = lines.findLastIndex(({ start_ms: from }) => from <= ms);
    const before = this.#said.querySelector('[aria-current]');
    const line = this.#said.children.item(now);
    if (before === line || (before === null && now < 0)) return;
    before?.removeAttribute('aria-current');
    if (!(line instanceof HTMLElement) || now < 0) return;
    line.setAttribute('aria-current', 'true');
    const { offsetTop: top, offsetHeight: height } = line;
    const { scrollTop, clientHeight } = this.#said;
    if (top < scrollTop || top + height > scrollTop + clientHeight)
      this.#said.scrollTop = top - clientHeight / 3;
  }

  #line({
    role,
    text,
    start_ms: from,
    interrupted,
    incomplete,
  }: CallRecord['transcript'][number]): HTMLLIElement {
    const item = document.createElement('li');
    item.className = `said-${role}`;
    const time = document.createElement('button');
    time.type = 'button';
    time.textContent = formatLength(from);
    time.setAttribute('aria-label', `Go to ${formatLength(from)}`);
    time.addEventListener('click', () => this.#seek(from));
    const who = span(sides[role]);
    who.className = 'said-who';
    const how =
      interrupted === true ? ' (interrupted)' : incomplete === true ? ' (not heard to its end)' : '';
    item.append(time, who, span(`${text}${how}`));
    return item;
  }

  #save(ending: string, of: (record: CallRecord) => string, type: string): void {
    const record = this.#record;
    if (record !== undefined) save(`call-${record.id}${ending}`, of(record), type);
  }

  async #copyCommand(): Promise<void> {
    try {
      await navigator.clipboard.writeText(this.#command.textContent);
      setText(this.#copy, 'Copied');
    } catch {
      // Pages without https have no clipboard: the command is marked, to be copied by hand.
      getSelection()?.selectAllChildren(this.#command);
    }
  }
}

const span = (text: string): HTMLSpanElement => {
  const made = document.createElement('span');
  made.textContent = text;
  return made;
};

function empty(text: string): HTMLLIElement {
  const item = document.createElement('li');
  item.append(span(text));
  return item;
}

function pair(name: string, value: string): readonly HTMLElement[] {
  const group = document.createElement('div');
  const [term, words] = [document.createElement('dt'), document.createElement('dd')];
  term.textContent = name;
  words.textContent = value;
  group.append(term, words);
  return [group];
}

function eventRow(at: number, what: string, isBad = false): HTMLTableRowElement {
  const row = document.createElement('tr');
  row.insertCell().textContent = formatLength(at);
  const cell = row.insertCell();
  cell.textContent = what;
  cell.classList.toggle('is-bad', isBad);
  return row;
}

/** The tenant, where the name of the agent does not say it. */
const ownerOf = ({ tenant, agent: { name } }: CallRecord): string | undefined =>
  tenant === undefined || name.startsWith(`${tenant}/`) ? undefined : tenant;

function factsOf(record: CallRecord, { ends }: About): readonly (readonly [string, string])[] {
  const { end, latency, cost, quality, agent } = record;
  const answers = latency.response_ms;
  const all: readonly (readonly [string, string | undefined])[] = [
    [
      'Ended',
      `${ends[end.code]?.text ?? endWord(end.code)}${end.detail === undefined ? '' : ` (${end.detail})`}`,
    ],
    ['Length', formatLength(record.duration_ms)],
    ['Caller', partyOf(record)],
    ['Transport', `${record.transport}, ${record.direction}`],
    ['Agent', [ownerOf(record), agent.name, agent.version].filter((part) => part !== undefined).join(' · ')],
    ['Turns', String(record.turns.length)],
    ['Answers', answers && `${formatMs(answers.p50)} in the middle, ${formatMs(answers.max)} at most`],
    ['Interruptions', String(record.interruptions.by_caller)],
    ['Cost', cost && money(cost.total, cost.currency)],
    ['Quality', quality && `MOS ${quality.mos.toFixed(1)}, ${quality.lost_percent} % lost`],
    ['Call', record.call_id],
    ['Record', record.id],
  ];
  return all.flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const]));
}

/** One row for each turn: a bar of the parts that add up to its answer, and what else was in it. */
function rowsOf({ turns }: CallRecord): readonly HTMLLIElement[] {
  if (turns.length === 0) return [empty('There was no turn.')];
  const longest = Math.max(1_000, ...turns.map(({ latency }) => latency?.response_ms ?? 0));
  return turns.map((turn) => {
    const item = document.createElement('li');
    const when = span(formatLength(turn.at_ms));
    when.className = 'turn-at';
    item.append(
      when,
      ...(turn.latency === undefined ? [notMeasured(turn)] : answerOf(turn.latency, longest)),
    );
    const course = span(courseOf(turn));
    course.className = 'turn-course';
    if ((turn.faults ?? 0) > 0) course.classList.add('is-bad');
    if (course.textContent !== '') item.append(course);
    return item;
  });
}

function notMeasured({ answered_ms: answered }: RecordedTurn): HTMLSpanElement {
  const words = span(answered === undefined ? 'no answer' : 'not measured');
  words.className = 'turn-words';
  return words;
}

function answerOf(latency: Latency, longest: number): readonly HTMLElement[] {
  const bar = span('');
  bar.className = 'turn-bar';
  bar.setAttribute('aria-hidden', 'true');
  for (const [name, , key] of latencyParts) {
    const part = span('');
    part.className = `turn-part turn-${name}`;
    part.style.setProperty('--share', String(latency[key] / longest));
    bar.append(part);
  }
  const time = span(formatMs(latency.response_ms));
  time.className = 'turn-time';
  const words = span(latencyParts.map(([, name, key]) => `${name} ${formatMs(latency[key])}`).join(', '));
  words.className = 'only-read';
  bar.title = words.textContent;
  return [bar, time, words];
}
