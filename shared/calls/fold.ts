/**
 * Makes the record of a call of its facts. Facts that come twice count once: turns by their epoch, tools by their id; sums are only ever
 * written once. Pure.
 */
import { present } from '../base/present.ts';
import { callEnds, type CallEndCode, type EndedBy } from './ends.ts';
import type { CallFact, FactOf } from './facts.ts';
import {
  CALL_RECORD_VERSION,
  latencyParts,
  recordLimits,
  type CallRecord,
  type RecordedLine,
  type RecordedTurn,
  type Spread,
} from './record.ts';
import { Turns } from './turns.ts';
import { UsageSum, type Used } from './usage.ts';

/**
 * How good a telephone line was, by the E-model (ITU-T G.107) with what a receiver can know: loss, jitter and, where it was measured, delay.
 * Everything else has the model's default value.
 */
interface Line {
  readonly lostPercent: number;
  readonly jitterMs: number;
  readonly delayMs: number;
  readonly codec: string;
}

/** Equipment impairment and robustness against loss (G.113, Appendix I), by codec; of others those of G.711 with concealment. */
const codecs: Readonly<Record<string, { readonly ie: number; readonly bpl: number }>> = {
  pcmu: { ie: 0, bpl: 25.1 },
  pcma: { ie: 0, bpl: 25.1 },
  g722: { ie: 13, bpl: 15 },
  opus: { ie: 0, bpl: 30 },
};
const others = { ie: 0, bpl: 25.1 };
/** R of a line without any impairment, all else at its default. */
const bestR = 93.2;
/** A buffer that smooths jitter delays by about twice of it. */
const bufferedJitters = 2;

/** Mean opinion score from 1 to 4.5, with two decimals. */
function mosOf({ lostPercent, jitterMs, delayMs, codec }: Line): number {
  const { ie, bpl } = codecs[codec.toLowerCase()] ?? others;
  const delay = delayMs + bufferedJitters * jitterMs;
  const delayImpairment = 0.024 * delay + (delay > 177.3 ? 0.11 * (delay - 177.3) : 0);
  const lossImpairment = ie + (95 - ie) * (lostPercent / (lostPercent + bpl));
  const r = Math.min(100, Math.max(0, bestR - delayImpairment - lossImpairment));
  const mos = 1 + 0.035 * r + r * (r - 60) * (100 - r) * 7e-6;
  return Math.round(Math.min(4.5, Math.max(1, mos)) * 100) / 100;
}

export interface Ending {
  readonly code: CallEndCode;
  readonly by?: EndedBy | undefined;
  readonly detail?: string | undefined;
  readonly at: number;
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };
type Lists = Pick<CallRecord, 'faults' | 'failovers' | 'takeovers' | 'hand_overs'>;

const bounded = <T>(list: T[], item: T, most: number = recordLimits.entries): boolean => {
  if (list.length >= most) return false;
  list.push(item);
  return true;
};

/** Takes facts in the order in which they were written. */
export class CallFold {
  #head: FactOf<'call'> | undefined;
  #end: FactOf<'end'> | undefined;
  #lastAt = 0;
  #worker: FactOf<'worker'> | undefined;
  #openedMs: number | undefined;
  readonly #turns = new Turns();
  readonly #lines = new Map<string, RecordedLine>();
  readonly #tools = new Map<string, FactOf<'tool'>>();
  readonly #transfers = new Map<string, CallRecord['transfers'][number]>();
  readonly #operators = new Map<string, FactOf<'operator'>>();
  readonly #lists: Lists = { faults: [], failovers: [], takeovers: [], hand_overs: [] };
  readonly #pauses: Mutable<CallRecord['recording_pauses'][number]>[] = [];
  #isPaused = false;
  readonly #dtmf: CallRecord['dtmf'] = [];
  readonly #sums = { caller: 0, agent: 0, silence: 0, longest: 0, falseStarts: 0, backchannels: 0 };
  readonly #usage = new UsageSum();
  #quality: FactOf<'quality'> | undefined;
  #isTruncated = false;
  /** Number of the newest line of the worker that has the call. */
  #lastLine = -1;

  /** Who has the call, as far as that is written down. */
  get worker(): FactOf<'worker'> | undefined {
    return this.#worker;
  }

  /** The conversation has begun, or the call is over: it stays with its agent. */
  get isSettled(): boolean {
    return this.#openedMs !== undefined || this.isEnded;
  }

  get head(): FactOf<'call'> | undefined {
    return this.#head;
  }

  get isEnded(): boolean {
    return this.#end !== undefined;
  }

  /** When the last thing was written down, from the call's beginning. */
  get lastAt(): number {
    return this.#lastAt;
  }

  take(fact: CallFact): void {
    if (this.#end !== undefined || this.#isKnown(fact)) return;
    this.#lastAt = Math.max(this.#lastAt, fact.at);
    switch (fact.t) {
      case 'call':
        // A worker that hands the call to another agent before it opens writes it again, and so does a worker that takes it up.
        this.#head = {
          ...fact,
          started: this.#head?.started ?? fact.started,
          ...present({ insteadOf: fact.insteadOf ?? this.#head?.insteadOf }),
        };
        return;
      case 'worker':
        this.#tookUp(fact);
        return;
      case 'open':
        this.#openedMs ??= fact.at;
        return;
      case 'end':
        this.#end = fact;
        return;
      case 'left_out':
        this.#isTruncated = true;
        return;
      case 'quality':
        this.#quality = fact;
        return;
      case 'used':
        this.#usage.add(fact);
        return;
      case 'tally':
        this.#tally(fact);
        return;
      default:
        this.#happened(fact);
    }
  }

  /** Undefined where nothing is known of the call. `ending`: how it ended, where nobody wrote that down. */
  record(ending?: Ending): CallRecord | undefined {
    const head = this.#head;
    const end = this.#end ?? ending;
    if (head === undefined || end === undefined) return undefined;
    const { code, at, by = callEnds[code].by, detail } = end;
    const isoAt = (ms: number): string => new Date(head.started + ms).toISOString();
    const usage = this.#usage.usage(telephoneOf(head, code === 'not_connected' ? 0 : at));
    const turns = this.#turns.list();
    return present({
      version: CALL_RECORD_VERSION,
      id: head.id,
      call_id: head.call,
      session_id: head.session,
      agent: present({ name: head.agent, version: head.version }),
      instead_of: head.insteadOf,
      tenant: head.tenant,
      route: head.route,
      direction: head.direction,
      transport: head.transport,
      mode: modeOf(head, usage),
      from: head.from,
      to: head.to,
      carrier_call_id: head.carrierCall,
      metadata: { token: head.token, client: head.client },
      started_at: isoAt(0),
      ended_at: isoAt(at),
      duration_ms: at,
      opened_ms: this.#openedMs,
      end: present({ code, by, detail }),
      turns,
      transcript: [...this.#lines.values()].toSorted((a, b) => a.start_ms - b.start_ms),
      latency: spreads(turns),
      interruptions: {
        by_caller: turns.filter(({ interrupted }) => interrupted === true).length,
        false_starts: this.#sums.falseStarts,
      },
      backchannels: this.#sums.backchannels,
      speech: { caller_ms: this.#sums.caller, agent_ms: this.#sums.agent },
      silence: { total_ms: this.#sums.silence, longest_ms: this.#sums.longest },
      ...this.#happenings(at),
      usage,
      links: linksOf(head),
      quality: this.#quality && qualityOf(this.#quality),
      truncated: this.#isTruncated ? (true as const) : undefined,
    });
  }

  #happenings(
    end: number,
  ): Pick<CallRecord, keyof Lists | 'recording_pauses' | 'tools' | 'transfers' | 'dtmf' | 'operators'> {
    const running = this.#isPaused ? this.#pauses.length - 1 : -1;
    return {
      ...this.#lists,
      recording_pauses: this.#pauses.map((pause, index) =>
        index === running ? { ...pause, until_ms: end } : pause,
      ),
      tools: [...this.#tools.values()].map(({ at: at_ms, ms: duration_ms, id, name, outcome, detail: why }) =>
        present({ at_ms, id, name, duration_ms, outcome, detail: why }),
      ),
      transfers: [...this.#transfers.values()],
      dtmf: this.#dtmf,
      operators: [...this.#operators.values()].map(({ at: at_ms, until, role, name }) =>
        present({ at_ms, until_ms: until, role, name }),
      ),
    };
  }

  /** A batch that the disk took a part of is written again from its beginning. */
  #isKnown(fact: CallFact): boolean {
    if (fact.t === 'worker' && !this.#isOwner(fact)) this.#lastLine = -1;
    const isKnown = fact.n !== undefined && fact.n <= this.#lastLine;
    this.#lastLine = Math.max(this.#lastLine, fact.n ?? -1);
    return isKnown;
  }

  #isOwner({ pid, since }: FactOf<'worker'>): boolean {
    return this.#worker?.pid === pid && this.#worker.since === since;
  }

  #tookUp(fact: FactOf<'worker'>): void {
    if (this.#worker !== undefined && !this.#isOwner(fact))
      this.#kept(bounded(this.#lists.takeovers, { at_ms: fact.at, silent_ms: fact.silent ?? 0 }));
    this.#worker = fact;
  }

  #tally(fact: FactOf<'tally'>): void {
    const { keys = 0, longest = 0, caller = 0, agent = 0, silence = 0 } = fact;
    const { falseStarts = 0, backchannels = 0 } = fact;
    this.#sums.caller += caller;
    this.#sums.agent += agent;
    this.#sums.silence += silence;
    this.#sums.longest = Math.max(this.#sums.longest, longest);
    this.#sums.falseStarts += falseStarts;
    this.#sums.backchannels += backchannels;
    this.#turns.count('silence_ms', silence);
    this.#turns.count('backchannels', backchannels);
    this.#turns.count('false_starts', falseStarts);
    if (fact.begins === true) this.#turns.begins();
    if (keys > 0) this.#kept(bounded(this.#dtmf, { at_ms: fact.at, keys }));
  }

  /** A worker that takes the call up says again that it is paused. */
  #paused({ on, at }: FactOf<'paused'>): void {
    const last = this.#pauses.at(-1);
    if (!on && this.#isPaused && last !== undefined) last.until_ms = at;
    if (on && !this.#isPaused) this.#kept(bounded(this.#pauses, { at_ms: at, until_ms: at }));
    this.#isPaused = on;
  }

  #happened(
    fact: Exclude<
      CallFact,
      { t: 'call' | 'worker' | 'open' | 'end' | 'left_out' | 'quality' | 'used' | 'tally' }
    >,
  ): void {
    const at_ms = fact.at;
    switch (fact.t) {
      case 'turn':
        this.#turn(fact.epoch, at_ms);
        this.#turns.runs(fact.epoch);
        return;
      case 'answered':
        this.#turn(fact.epoch, at_ms, { answered_ms: at_ms });
        this.#turns.runs(fact.epoch);
        return;
      case 'cut':
        this.#turn(fact.epoch, at_ms, { interrupted: true });
        return;
      case 'times':
        this.#turn(fact.epoch, at_ms, timesOf(fact));
        return;
      case 'said':
        this.#line(`${fact.role} ${fact.epoch} ${fact.from}`, { role: fact.role, ...textOf(fact) });
        return;
      case 'heard':
        this.#line(`agent ${fact.epoch}`, {
          role: 'agent',
          ...textOf(fact),
          ...(fact.how === 'interrupted' && { interrupted: true }),
          ...(!fact.complete && { incomplete: true }),
        });
        return;
      case 'fault': {
        const { stage, what, cause } = fact;
        this.#turns.count('faults', 1);
        this.#kept(bounded(this.#lists.faults, present({ at_ms, stage, what, cause })));
        return;
      }
      case 'failover':
        this.#turns.count('failovers', 1);
        this.#kept(bounded(this.#lists.failovers, { at_ms, stage: fact.stage, to: fact.to }));
        return;
      case 'paused':
        this.#paused(fact);
        return;
      case 'handed':
        this.#kept(bounded(this.#lists.hand_overs, { at_ms, agent: fact.agent }));
        return;
      case 'tool':
        this.#keep(this.#tools, fact.key, fact);
        return;
      case 'transfer': {
        const { id, mode, destination } = fact;
        this.#keep(this.#transfers, id, present({ at_ms, mode, destination, outcome: 'pending' as const }));
        return;
      }
      case 'transferred': {
        const { id, outcome, code } = fact;
        const asked = this.#transfers.get(id) ?? { at_ms, mode: 'cold' as const };
        this.#keep(this.#transfers, id, { ...asked, ...present({ outcome, code }) });
        return;
      }
      case 'operator':
        this.#keep(this.#operators, fact.id, { ...fact, at: this.#operators.get(fact.id)?.at ?? fact.at });
        return;
    }
  }

  #turn(epoch: number, at: number, more: Partial<RecordedTurn> = {}): void {
    this.#kept(this.#turns.set(epoch, at, more));
  }

  #line(key: string, line: RecordedLine): void {
    if (line.text === '') return;
    if (!this.#lines.has(key) && this.#lines.size >= recordLimits.transcript) this.#isTruncated = true;
    else this.#lines.set(key, line);
  }

  #keep<T>(found: Map<string, T>, key: string, fact: T): void {
    if (!found.has(key) && found.size >= recordLimits.entries) this.#isTruncated = true;
    else found.set(key, fact);
  }

  #kept(isKept: boolean): void {
    if (!isKept) this.#isTruncated = true;
  }
}

const telephones: readonly string[] = ['carrier_a', 'carrier_b', 'sip'];
const isTelephone = (transport: string): boolean => telephones.includes(transport);

/** A realtime model that failed left the call to the three stages. */
const modeOf = (
  { realtime }: FactOf<'call'>,
  { by_stage: used }: CallRecord['usage'],
): CallRecord['mode'] => {
  if (realtime === undefined) return 'cascade';
  if (used.llm === undefined) return 'realtime';
  return used.realtime === undefined ? 'cascade' : 'mixed';
};

/** Time of a line that a carrier bills. */
const telephoneOf = ({ transport }: FactOf<'call'>, ms: number): readonly Used[] =>
  isTelephone(transport) && ms > 0
    ? [{ stage: 'telephone', provider: transport, units: { seconds: ms / 1000 } }]
    : [];

const linksOf = ({ recording, transcript, facts, trace }: FactOf<'call'>): CallRecord['links'] =>
  present({
    recording,
    transcript: transcript === true ? recording : undefined,
    replay: facts === true ? recording : undefined,
    trace_id: trace,
  });

const textOf = (fact: {
  readonly from: number;
  readonly at: number;
  readonly text: string;
}): Pick<RecordedLine, 'text' | 'start_ms' | 'end_ms'> => ({
  text: fact.text.slice(0, recordLimits.textChars),
  start_ms: Math.min(fact.from, fact.at),
  end_ms: fact.at,
});

function timesOf({ ms, filled }: FactOf<'times'>): Partial<RecordedTurn> {
  const [end_of_turn_ms, stt_final_ms, llm_ttft_ms, tts_ttfb_ms, wire_ms] = ms;
  return {
    latency: {
      end_of_turn_ms,
      stt_final_ms,
      llm_ttft_ms,
      tts_ttfb_ms,
      wire_ms,
      response_ms: ms.reduce((sum, part) => sum + part, 0),
    },
    ...(filled === true && { filled }),
  };
}

function spreads(turns: readonly RecordedTurn[]): CallRecord['latency'] {
  const measured = turns.flatMap(({ latency }) => (latency === undefined ? [] : [latency]));
  if (measured.length === 0) return {};
  return Object.fromEntries(
    latencyParts.map((part) => [part, spreadOf(measured.map((times) => times[part]))]),
  );
}

function spreadOf(values: readonly number[]): Spread {
  const sorted = values.toSorted((a, b) => a - b);
  const num = sorted.length;
  const at = (part: number): number => sorted[Math.max(0, Math.ceil(part * num) - 1)] ?? 0;
  return { p50: at(0.5), p90: at(0.9), p95: at(0.95), p99: at(0.99), min: at(0), max: at(1), num };
}

function qualityOf({ packets, lost, jitter, codec, delay }: FactOf<'quality'>): CallRecord['quality'] {
  const expected = packets + lost;
  const lostPercent = expected === 0 ? 0 : (lost * 100) / expected;
  return {
    packets,
    lost_percent: Math.round(lostPercent * 100) / 100,
    jitter_ms: Math.round(jitter * 10) / 10,
    mos: mosOf({ lostPercent, jitterMs: jitter, codec, delayMs: delay ?? 0 }),
  };
}
