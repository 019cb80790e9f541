/** Plays the scenarios of `sdk/conformance` against an agent on a real socket; the README there is what this implements. */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { expect } from 'vitest';
import { WebSocket } from 'ws';
import { Observed } from '../support/process/observed.ts';

type Json = Readonly<Record<string, unknown>>;
type Step = Readonly<Record<string, unknown>>;

export interface Scenario {
  readonly name: string;
  readonly row: string;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly steps: readonly Step[];
}

interface Book {
  readonly offers: Readonly<Record<string, Json>>;
  readonly scenarios: readonly Scenario[];
}

export const conformanceToken = 'conformance-token';
const book = JSON.parse(
  readFileSync(new URL('../../sdk/conformance/scenarios.json', import.meta.url), 'utf8'),
) as Book;
export const { scenarios } = book;

const isJson = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

let calls = 0;

/** One scenario on one or several connections. */
class Player extends Observed {
  readonly #scenario: Scenario;
  readonly #url: string;
  readonly #call: string;
  readonly #saved = new Map<string, unknown>();
  #socket: WebSocket | undefined;
  #untaken: Json[] = [];
  #closed: number | undefined;
  #seq = 0;
  #probes = 1_000;

  constructor(port: number, scenario: Scenario) {
    super();
    this.#scenario = scenario;
    this.#url = `ws://127.0.0.1:${port}${scenario.path ?? '/'}`;
    this.#call = `call-${(calls += 1)}-${process.pid}`;
  }

  async play(): Promise<void> {
    const [first] = this.#scenario.steps;
    if (first?.['expect_refused'] !== undefined) return this.#expectRefused(first['expect_refused']);
    await this.#connect();
    for (const step of this.#scenario.steps) await this.#take(step);
    this.#socket?.terminate();
  }

  #open(): WebSocket {
    const headers = this.#scenario.headers ?? { Authorization: `Bearer ${conformanceToken}` };
    return new WebSocket(this.#url, { headers, perMessageDeflate: false });
  }

  async #connect(): Promise<void> {
    const socket = this.#open();
    this.#socket = socket;
    this.#untaken = [];
    this.#seq = 0;
    this.#closed = undefined;
    socket.on('message', (data: Buffer) => {
      this.#untaken.push(JSON.parse(data.toString('utf8')) as Json);
      this.changed();
    });
    socket.on('error', () => this.changed());
    socket.on('close', (code) => {
      if (this.#socket === socket) this.#closed = code;
      this.changed();
    });
    await once(socket, 'open');
  }

  async #expectRefused(status: unknown): Promise<void> {
    const socket = this.#open();
    const given = await new Promise((resolve) => {
      socket.on('unexpected-response', (request, response) => {
        resolve(response.statusCode);
        request.destroy();
      });
      socket.on('open', () => resolve('no refusal'));
      socket.on('error', () => resolve('no answer'));
    });
    expect(given).toBe(status);
  }

  async #take(step: Step): Promise<void> {
    const [[kind, value] = ['', undefined]] = Object.entries(step);
    switch (kind) {
      case 'send': {
        this.#send(value as Json);
        return;
      }
      case 'send_text':
        return this.#socket?.send(String(value));
      case 'send_bytes':
        return this.#socket?.send(Buffer.alloc(Number(value)));
      case 'send_large': {
        this.#sendLarge(Number(value));
        return;
      }
      case 'expect':
        return this.#expect(value as Json);
      case 'absent':
        return this.#absent(value as Json);
      case 'expect_close':
        await this.until(() => this.#closed !== undefined);
        if (value !== null) expect(this.#closed).toBe(value);
        return;
      case 'break':
        this.#socket?.terminate();
        await this.until(() => this.#closed !== undefined);
        return;
      case 'connect':
        return this.#connect();
      case 'repeat': {
        const { times, steps } = value as { times: number; steps: readonly Step[] };
        for (let round = 0; round < times; round += 1) for (const each of steps) await this.#take(each);
        return;
      }
      default:
        throw new Error(`an unknown step: ${kind}`);
    }
  }

  #send(given: Json): void {
    const { $offer, ...fields } = given;
    const offer = typeof $offer === 'string' ? { ...book.offers[$offer], session_id: this.#call } : {};
    this.#seq = typeof fields['seq'] === 'number' ? fields['seq'] : this.#seq + 1;
    const message = { seq: this.#seq, t_ms: 20 * this.#seq, ...offer, ...fields };
    const filled = Object.entries(message).map(([name, value]) => [name, this.#fill(value)]);
    this.#socket?.send(JSON.stringify(Object.fromEntries(filled)));
  }

  #sendLarge(bytes: number): void {
    this.#seq += 1;
    const message = { seq: this.#seq, t_ms: 0, type: 'large', fill: '' };
    message.fill = 'x'.repeat(bytes - JSON.stringify(message).length);
    this.#socket?.send(JSON.stringify(message));
  }

  async #expect(wanted: Json): Promise<void> {
    const find = (): number => this.#untaken.findIndex((message) => this.#matches(wanted, message));
    await this.until(() => find() !== -1 || this.#closed !== undefined);
    const at = find();
    if (at === -1) expect(this.#untaken).toContainEqual(wanted);
    this.#untaken.splice(at, 1);
  }

  async #absent(unwanted: Json): Promise<void> {
    const id = (this.#probes += 1);
    this.#send({
      type: 'tool.call',
      id,
      call_id: 'probe',
      name: 'echo',
      arguments: { text: 'probe' },
      kind: 'read_only',
      epoch: 1,
      idempotency_key: '0'.repeat(16),
      timeout_ms: 5000,
    });
    await this.#expect({ type: 'tool.result', id });
    expect(this.#untaken.filter((message) => this.#matches(unwanted, message))).toEqual([]);
  }

  #fill(value: unknown): unknown {
    return isJson(value) && typeof value['$saved'] === 'string' ? this.#saved.get(value['$saved']) : value;
  }

  #matches(wanted: unknown, value: unknown): boolean {
    if (Array.isArray(wanted))
      return (
        Array.isArray(value) &&
        value.length === wanted.length &&
        wanted.every((each, at) => this.#matches(each, value[at]))
      );
    if (!isJson(wanted)) return wanted === value;
    const [[rule, given] = ['', undefined]] = Object.entries(wanted);
    if (!rule.startsWith('$'))
      return isJson(value) && Object.entries(wanted).every(([name, each]) => this.#fits(each, value, name));
    return this.#obeys(rule, given, value);
  }

  #fits(wanted: unknown, value: Json, name: string): boolean {
    if (isJson(wanted) && wanted['$absent'] === true) return !(name in value);
    return name in value && this.#matches(wanted, value[name]);
  }

  #obeys(rule: string, given: unknown, value: unknown): boolean {
    const items = Array.isArray(value) ? (value as unknown[]) : undefined;
    switch (rule) {
      case '$any':
        return given === 'array' ? items !== undefined : typeof value === given;
      case '$save':
        this.#saved.set(String(given), value);
        return true;
      case '$saved':
        return value === this.#saved.get(String(given));
      case '$not':
        return !this.#matches(given, value);
      case '$set':
        return JSON.stringify(items?.toSorted()) === JSON.stringify((given as unknown[]).toSorted());
      case '$contains':
        return (given as unknown[]).every((item) => items?.some((each) => this.#matches(item, each)));
      default:
        throw new Error(`an unknown rule: ${rule}`);
    }
  }
}

/** Rejects when the agent behind the port does not do what the scenario says. */
export const play = (port: number, scenario: Scenario): Promise<void> => new Player(port, scenario).play();
