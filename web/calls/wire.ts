/** What the service tells of calls that are over, and how it is asked (docs/calls.md). */

/** A call as the list shows it. */
export interface CallRow {
  readonly id: string;
  readonly callId: string;
  readonly agent: string;
  readonly tenant?: string;
  readonly transport: string;
  readonly direction: string;
  readonly from?: string;
  readonly to?: string;
  readonly startedAtMs: number;
  readonly durationMs: number;
  readonly code: string;
  readonly turns: number;
  readonly slowestMs?: number;
  readonly faults: number;
  readonly interruptions: number;
  readonly cost?: number;
  readonly currency?: string;
  readonly outcome?: string;
}

export interface CallPage {
  readonly rows: readonly CallRow[];
  readonly next?: string;
}

export type Side = 'caller' | 'agent' | 'operator';

export interface SaidLine {
  readonly role: Side;
  readonly text: string;
  readonly start_ms: number;
  readonly end_ms: number;
  readonly interrupted?: true;
  readonly incomplete?: true;
}

export const latencyParts = [
  ['end', 'end of turn', 'end_of_turn_ms'],
  ['stt', 'recognition', 'stt_final_ms'],
  ['llm', 'language model', 'llm_ttft_ms'],
  ['tts', 'voice', 'tts_ttfb_ms'],
  ['wire', 'wire', 'wire_ms'],
] as const;

export type Latency = Readonly<Record<(typeof latencyParts)[number][2] | 'response_ms', number>>;

interface At {
  readonly at_ms: number;
}

export interface RecordedTurn extends At {
  readonly epoch: number;
  readonly answered_ms?: number;
  readonly interrupted?: true;
  readonly silence_ms?: number;
  readonly backchannels?: number;
  readonly false_starts?: number;
  readonly faults?: number;
  readonly failovers?: number;
  readonly latency?: Latency;
}

/** The parts of a record that the page shows; the whole is shown as JSON. */
export interface CallRecord {
  readonly id: string;
  readonly call_id: string;
  readonly agent: { readonly name: string; readonly version?: string };
  readonly tenant?: string;
  readonly direction: string;
  readonly transport: string;
  readonly from?: string;
  readonly to?: string;
  readonly started_at: string;
  readonly duration_ms: number;
  readonly end: { readonly code: string; readonly by: string; readonly detail?: string };
  readonly turns: readonly RecordedTurn[];
  readonly transcript: readonly SaidLine[];
  readonly latency: { readonly response_ms?: { readonly p50: number; readonly max: number } };
  readonly interruptions: { readonly by_caller: number };
  readonly faults: readonly (At & {
    readonly stage: string;
    readonly what: string;
    readonly cause?: string;
  })[];
  readonly failovers: readonly (At & { readonly stage: string; readonly to: string })[];
  readonly takeovers: readonly (At & { readonly silent_ms: number })[];
  readonly hand_overs: readonly (At & { readonly agent: string })[];
  readonly tools: readonly (At & {
    readonly name: string;
    readonly duration_ms: number;
    readonly outcome: string;
    readonly detail?: string;
  })[];
  readonly transfers: readonly (At & {
    readonly mode: string;
    readonly destination?: string;
    readonly outcome: string;
  })[];
  readonly dtmf: readonly (At & { readonly keys: number })[];
  readonly operators: readonly (At & {
    readonly until_ms?: number;
    readonly role: string;
    readonly name?: string;
  })[];
  readonly cost?: { readonly currency: string; readonly total: number };
  readonly quality?: { readonly mos: number; readonly lost_percent: number };
  readonly links: { readonly replay?: string };
  readonly analysis?: Readonly<Record<string, unknown>>;
}

export interface OneCall {
  readonly record: CallRecord;
  readonly hasSound: boolean;
}

/** From 0 to 255, caller and what the caller heard. */
export type Waveform = readonly [caller: Uint8Array, agent: Uint8Array];

export interface About {
  /** How calls end, by code. */
  readonly ends: Readonly<Record<string, { readonly text: string; readonly isFailure?: true }>>;
}

/** A refusal in the words of the service. */
export class Refused extends Error {}

export class Service {
  token = '';

  async about(): Promise<About> {
    return (await this.#ask('about')) as About;
  }

  async list(query: URLSearchParams): Promise<CallPage> {
    return (await this.#ask(`list?${query.toString()}`)) as CallPage;
  }

  async call(id: string): Promise<OneCall> {
    return (await this.#ask(`record/${encodeURIComponent(id)}`)) as OneCall;
  }

  async sound(id: string): Promise<Blob> {
    return await (await this.#fetch(`sound/${encodeURIComponent(id)}`)).blob();
  }

  /** How loud each side was; undefined where that is not known. */
  async waveform(id: string): Promise<Waveform | undefined> {
    try {
      const answer = await this.#fetch(`waveform/${encodeURIComponent(id)}`);
      const levels = new Uint8Array(await answer.arrayBuffer());
      const half = levels.length / 2;
      return [levels.subarray(0, half), levels.subarray(half)];
    } catch {
      return undefined;
    }
  }

  async #ask(path: string): Promise<unknown> {
    return JSON.parse(await (await this.#fetch(path)).text(), shownExactly);
  }

  async #fetch(path: string): Promise<Response> {
    let answer: Response;
    try {
      answer = await fetch(`calls/${path}`, { headers: { authorization: `Bearer ${this.token}` } });
    } catch {
      throw new Refused('The service does not answer.');
    }
    if (answer.ok) return answer;
    if (answer.status === 401) throw new Refused('The token is not the right one.');
    const { message } = (await answer.json()) as { readonly message?: string };
    throw new Refused(message === undefined ? 'The service refused that.' : `The service says: ${message}.`);
  }
}

/** A number of an analysis that JavaScript would not write as it was read, as its text: order numbers are longer than a number can be. */
const shownExactly = (_: string, value: unknown, read?: { readonly source?: string }): unknown =>
  typeof value === 'number' && read?.source !== undefined && String(value) !== read.source
    ? read.source
    : value;
