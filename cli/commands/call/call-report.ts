/**
 * When the terminal caller speaks and hangs up, and what it tells about a call. Pure: facts and times come as arguments,
 * in milliseconds since `started`. Must not read a clock, a file or a socket.
 */
import { FRAME_MS, type Millis } from '../../../shared/base/units.ts';
import { rmsDbfs } from '../../../shared/audio/pcm.ts';
import type { AgentSpan, Span } from './call-playout.ts';

// ---- The course of a call ------------------------------------------------------------------------------------------

export interface CallPace {
  readonly waitGreeting: boolean;
  /** An agent that has not begun to speak by then has no greeting. */
  readonly greetingStartMs: Millis;
  /** Silence after which the greeting is over. */
  readonly greetingQuietMs: Millis;
  /** Silence after which the answer is over. */
  readonly answerQuietMs: Millis;
  /** An answer that has not begun this long after the recording is not waited for any more. */
  readonly noAnswerMs: Millis;
  /** Longest time in the call after the recording. */
  readonly listenMs: Millis;
}

export const defaultPace: CallPace = {
  waitGreeting: true,
  greetingStartMs: 5000,
  greetingQuietMs: 800,
  answerQuietMs: 2500,
  noAnswerMs: 8000,
  listenMs: 60_000,
};

/** What is known at one moment. */
export interface CallFacts {
  /** When the last of the recording went out; undefined before. */
  readonly saidMs: Millis | undefined;
  /** When the caller's last speech in it went out. */
  readonly callerEndMs: Millis | undefined;
  readonly agent: readonly AgentSpan[];
}

export type CallPhase = 'greeting' | 'talking' | 'answer' | 'over';

/** The phase at `nowMs`, given the one before. */
export function nextPhase(
  phase: CallPhase,
  facts: CallFacts,
  at: { nowMs: Millis; pace: CallPace },
): CallPhase {
  const { nowMs, pace } = at;
  const last = facts.agent.at(-1);
  switch (phase) {
    case 'greeting': {
      if (!pace.waitGreeting) return 'talking';
      if (last === undefined) return nowMs >= pace.greetingStartMs ? 'talking' : 'greeting';
      return nowMs - last.endMs >= pace.greetingQuietMs ? 'talking' : 'greeting';
    }
    case 'talking':
      return facts.saidMs === undefined ? 'talking' : 'answer';
    case 'answer': {
      if (facts.saidMs === undefined) return 'answer';
      const sinceMs = nowMs - facts.saidMs;
      if (sinceMs >= pace.listenMs) return 'over';
      const answered = last !== undefined && last.endMs > (facts.callerEndMs ?? facts.saidMs);
      if (!answered) return sinceMs >= pace.noAnswerMs ? 'over' : 'answer';
      return nowMs - last.endMs >= pace.answerQuietMs ? 'over' : 'answer';
    }
    case 'over':
      return 'over';
  }
}

// ---- Speech in the recording ---------------------------------------------------------------------------------------

/** Speech is at most this much quieter than the loudest frame of its recording. */
const SPEECH_RANGE_DB = 30;
const QUIETEST_SPEECH_DBFS = -55;

/** From the first to the last frame of speech in a recording, by energy; undefined when there is none. */
export function speechIn(pcm: Int16Array, sampleRate: number): Span | undefined {
  const length = (sampleRate * FRAME_MS) / 1000;
  const levels: number[] = [];
  for (let at = 0; at < pcm.length; at += length) levels.push(rmsDbfs(pcm.subarray(at, at + length)));
  const loudest = levels.reduce((a, b) => Math.max(a, b), -Infinity);
  const threshold = Math.max(QUIETEST_SPEECH_DBFS, loudest - SPEECH_RANGE_DB);
  const first = levels.findIndex((level) => level >= threshold);
  if (first === -1) return undefined;
  const last = levels.findLastIndex((level) => level >= threshold);
  return { startMs: first * FRAME_MS, endMs: (last + 1) * FRAME_MS };
}

// ---- The report ----------------------------------------------------------------------------------------------------

export interface TimelineEntry {
  readonly atMs: Millis;
  readonly what: string;
}

export interface CallReport {
  readonly callId: string;
  readonly timeline: readonly TimelineEntry[];
  readonly answered: boolean;
  /**
   * From the end of the caller's speech to the arrival of the first answer audio; undefined when the agent gave none, or was
   * speaking already.
   */
  readonly gapMs: Millis | undefined;
  /** The moments at which a `clear` cut off the agent's speech. */
  readonly clears: number;
  readonly marksPlayed: number;
  readonly errors: readonly string[];
  readonly closeCode: number;
  readonly stopReason: 'ended' | 'shutdown' | undefined;
}

export interface CallRecord {
  readonly callId: string;
  /** What happened on the wire, in order. */
  readonly wire: readonly TimelineEntry[];
  readonly agent: readonly AgentSpan[];
  /** When the recording's speech went out. */
  readonly caller: Span | undefined;
  readonly clears: number;
  readonly marksPlayed: number;
  readonly errors: readonly string[];
  readonly closeCode: number;
  readonly stopReason: 'ended' | 'shutdown' | undefined;
  /** When the call ended: nothing is heard after it. */
  readonly endMs: Millis;
}

export function reportOf(record: CallRecord): CallReport {
  const { caller, endMs } = record;
  const agent = record.agent.filter((span) => span.startMs < endMs);
  const timeline = [...record.wire];
  const answer = caller === undefined ? undefined : agent.find((span) => span.arrivedMs >= caller.endMs);
  const gapMs = answer === undefined || caller === undefined ? undefined : answer.arrivedMs - caller.endMs;
  if (caller !== undefined) {
    timeline.push({ atMs: caller.startMs, what: 'caller began to speak' });
    timeline.push({ atMs: caller.endMs, what: 'caller stopped speaking' });
  }
  for (const span of agent) {
    const greeting = caller === undefined || span.startMs < caller.startMs;
    const name = greeting ? 'greeting' : 'bot speech';
    const gap = span === answer && gapMs !== undefined ? `, ${Math.round(gapMs)} ms after the caller` : '';
    timeline.push({ atMs: span.arrivedMs, what: `${span === answer ? 'answer' : name} arrived${gap}` });
    if (span.endMs <= endMs)
      timeline.push({ atMs: span.endMs, what: `${span === answer ? 'answer' : name} ended` });
  }
  return {
    callId: record.callId,
    timeline: timeline.sort((a, b) => a.atMs - b.atMs),
    answered: caller !== undefined && agent.some((span) => span.endMs > caller.endMs),
    gapMs,
    clears: record.clears,
    marksPlayed: record.marksPlayed,
    errors: record.errors,
    closeCode: record.closeCode,
    stopReason: record.stopReason,
  };
}

/** The report for people: a line per event, then what matters. */
export function reportLines(report: CallReport): readonly string[] {
  const lines = report.timeline.map(({ atMs, what }) => `${(atMs / 1000).toFixed(3).padStart(9)} s  ${what}`);
  const answer =
    report.gapMs === undefined
      ? report.answered
        ? 'the bot was speaking when the caller stopped'
        : 'no answer'
      : `answered after ${Math.round(report.gapMs)} ms`;
  return [...lines, `${answer}; ${report.clears} clear, ${report.marksPlayed} marks played`];
}
