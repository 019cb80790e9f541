/** What the log and the metrics say of one conversation, read from the stream of what the core tells. It decides nothing. */
import type { Millis } from '../../shared/base/units.ts';
import type { Log } from '../../shared/runtime/log.ts';
import type { WorkerMetrics } from '../../shared/runtime/metrics.ts';
import type { EndCause } from '../core/course.ts';
import type { ConversationEvent, FaultKind, FaultStage, TurnTimes } from '../core/told.ts';
import type { TransportEnd } from '../transports/transport.ts';

export class CallLog {
  readonly #log: Log;
  readonly #metrics: WorkerMetrics;
  readonly #agent: () => string;
  readonly #route: string;
  readonly #turnLog = new TurnLog();
  readonly #repeated = new RepeatedLines();
  readonly #now: () => Millis;
  /** Turns that were answered, in whichever worker. */
  turns: number;
  /** Why the service ends the call, once it does. */
  cause: EndCause | 'ended' | 'shutdown' | 'transferred' | 'keys' | undefined;

  constructor(options: {
    readonly log: Log;
    readonly metrics: WorkerMetrics;
    readonly turns: number;
    /** What metrics call its agent. */
    readonly agent: () => string;
    readonly route: string | undefined;
    readonly now: () => Millis;
  }) {
    this.#log = options.log;
    this.#metrics = options.metrics;
    this.#agent = options.agent;
    this.#route = options.route ?? '';
    this.turns = options.turns;
    this.#now = options.now;
  }

  /** The session of a stage has ended with this. The core tells what comes of it for the caller. */
  stageFailed(stage: FaultStage, cause: string): void {
    this.#fault(stage, 'failed', { cause });
  }

  /** The caller hears the recording of the last resort. */
  announced(): void {
    if (this.#repeated.isNews('announcement', this.#now()))
      this.#log.warn({ stage: 'tts' }, 'announcement played');
  }

  follow(event: ConversationEvent): void {
    switch (event.type) {
      case 'tools.answered':
        this.#log.debug({ tools: event.pairs.map(({ call: { name } }) => name) }, 'tools have answered');
        return;
      case 'node.entered':
        this.#log.debug({ node: event.node }, 'flow has moved');
        return;
      case 'agent.changed':
        this.#log.info({ to: event.agent }, 'another agent has the call');
        return;
      case 'command.answered':
        if (event.outcome.kind === 'refused') this.#refused(event.command, event.outcome.code);
        return;
      case 'operator.took_over':
        this.#log.info('an operator speaks in place of the agent');
        return;
      case 'operator.handed_back':
        this.#log.info({ how: event.how }, 'the agent speaks again');
        return;
      case 'timer.fired':
        this.#log.trace({ timer: event.timer }, 'woken');
        return;
      case 'turn.measured':
        this.turns += 1;
        this.#turnLog.add(event.times);
        observeTurn(this.#metrics.turnPart, event.times);
        this.#log.debug({ ...event.times }, 'turn answered');
        return;
      case 'fault.noticed':
        this.#metrics.stageFaults.inc({ stage: event.stage, what: event.what });
        // Its session has told of it, with the cause.
        if (event.what !== 'failed') this.#fault(event.stage, event.what);
        return;
      case 'rule.broken':
        this.#metrics.coreRulesBroken.inc();
        if (this.#repeated.isNews(event.rule, this.#now()))
          this.#log.error({ rule: event.rule }, 'a rule of the call core is broken; please report it');
        return;
      default:
    }
  }

  /** A program may ask for the same again and again. */
  #refused(command: string, code: string): void {
    if (this.#repeated.isNews(`${command} ${code}`, this.#now()))
      this.#log.warn({ command, code }, 'command refused');
  }

  #fault(stage: FaultStage, what: FaultKind, cause: { readonly cause?: string } = {}): void {
    if (this.#repeated.isNews(`${stage} ${what}`, this.#now()))
      this.#log.warn({ stage, what, ...cause }, 'stage fault');
  }

  /** The call is over after `lastedMs`; so many of its frames were judged by their energy. */
  ended(end: TransportEnd, { lastedMs, energyFrames }: { lastedMs: Millis; energyFrames: number }): void {
    this.#metrics.callsEnded.inc({ end });
    this.#metrics.routeCalls.inc({ agent: this.#agent(), route: this.#route, end });
    this.#metrics.energyFrames.inc(energyFrames);
    const seconds = Math.round(lastedMs / 100) / 10;
    this.#log.info(
      {
        end,
        ...(end === 'engine' && { cause: this.cause }),
        seconds,
        turns: this.turns,
        ...this.#turnLog.summary(),
        energyFrames,
        ...this.#repeated.summary(),
      },
      'call ended',
    );
  }
}

/**
 * Warnings of one call that an outage would write again and again: the first one is a line, those behind it are counted, and after a
 * minute without one it is news again. The line at the end of the call has what each came to.
 */
const quietForMs = 60_000;

interface Line {
  readonly lastAt: Millis;
  readonly times: number;
}

class RepeatedLines {
  /** By what is told, which is a closed vocabulary. */
  readonly #lines = new Map<string, Line>();

  /** Whether a line is to be written; `kind`: what makes two lines the same. */
  isNews(kind: string, now: Millis): boolean {
    const line = this.#lines.get(kind);
    this.#lines.set(kind, { lastAt: now, times: (line?.times ?? 0) + 1 });
    return line === undefined || now - line.lastAt >= quietForMs;
  }

  /** How often each came; nothing for a call without any. */
  summary(): { readonly faults?: Readonly<Record<string, number>> } {
    if (this.#lines.size === 0) return {};
    return { faults: Object.fromEntries([...this.#lines].map(([kind, { times }]) => [kind, times])) };
  }
}

/**
 * Where the time of a call's answers went, for the line in the log at its end. It keeps the newest turns only, so that a call
 * of any length costs the same memory.
 */
const mostTurns = 256;
const parts = ['responseMs', 'endOfTurnMs', 'sttFinalMs', 'llmTtftMs', 'ttsTtfbMs', 'wireMs'] as const;

/** Brings the parts of one turn into their histogram, in seconds. */
function observeTurn(histogram: WorkerMetrics['turnPart'], times: TurnTimes): void {
  histogram.observe({ part: 'end_of_turn' }, times.endOfTurnMs / 1000);
  histogram.observe({ part: 'stt_final' }, times.sttFinalMs / 1000);
  histogram.observe({ part: 'llm_first' }, times.llmTtftMs / 1000);
  histogram.observe({ part: 'tts_first' }, times.ttsTtfbMs / 1000);
  histogram.observe({ part: 'wire' }, times.wireMs / 1000);
}

interface Figures {
  readonly median: Millis;
  readonly max: Millis;
}

class TurnLog {
  readonly #turns: TurnTimes[] = [];

  add(times: TurnTimes): void {
    this.#turns.push(times);
    if (this.#turns.length > mostTurns) this.#turns.shift();
  }

  /** Median and longest of each part in whole milliseconds; nothing for a call without an answered turn. */
  summary(): { readonly turnMs?: Readonly<Record<string, Figures>> } {
    if (this.#turns.length === 0) return {};
    const turnMs = Object.fromEntries(
      parts.map((part) => {
        const sorted = this.#turns.map((times) => times[part]).sort((a, b) => a - b);
        const median = sorted[Math.floor(sorted.length / 2)] ?? 0;
        return [
          part.slice(0, -'Ms'.length),
          { median: Math.round(median), max: Math.round(sorted.at(-1) ?? 0) },
        ];
      }),
    );
    return { turnMs };
  }
}
