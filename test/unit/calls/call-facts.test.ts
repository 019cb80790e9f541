/** From what happens in a call to its record: what one worker writes down, folded. */
import { describe, expect, it } from 'vitest';
import type { CallFact } from '../../../shared/calls/facts.ts';
import { CallFold } from '../../../shared/calls/fold.ts';
import { newPrng } from '../../../shared/base/prng.ts';
import { recordLimits, type CallRecord } from '../../../shared/calls/record.ts';
import type { MonitorUse } from '../../../shared/monitor/messages.ts';
import type { CallOver } from '../../../worker/call/account.ts';
import type { CallAction } from '../../../worker/core/actions.ts';
import type { CallEvent } from '../../../worker/core/events.ts';
import type { ConversationEvent } from '../../../worker/core/told.ts';
import { CallFacts, type Untimed } from '../../../worker/calls/call-facts.ts';
import { headFact, recordOf } from '../../support/calls/records.ts';

const over: CallOver = { end: 'hangup', engine: 'ended', isMoved: false, isBroken: false };

/** The record of a call that began at 1000. */
function recorded(call: (facts: CallFacts) => void, ending: Partial<CallOver> = {}): CallRecord | undefined {
  const written: CallFact[] = [];
  const facts = new CallFacts({
    startedAt: 1_000,
    redaction: {
      begin: () => undefined,
      text: (text) => text.replace('Ada', '[name]'),
      pressed: () => undefined,
    },
    modelOf: () => undefined,
    write: (fact) => void written.push(fact),
    end: (fact) => void written.push(fact),
  });
  call(facts);
  facts.over({ ...over, ...ending }, 61_000);
  const fold = new CallFold();
  for (const fact of [headFact(), ...written]) fold.take(fact);
  return fold.record();
}

const use = (what: MonitorUse['what'], by = 'Ada of the desk'): MonitorUse => ({
  what,
  role: 'take_over',
  by,
  connection: by,
});

function told(facts: CallFacts, event: ConversationEvent, now: number, isUnrecorded = false): void {
  const state = { conversation: { isUnrecorded }, setup: { settings: {} } };
  const fact = { type: 'deadline.reached', position: undefined } as const;
  facts.stepped({ fact, orders: [{ type: 'told', event }], now, state } as never);
}

describe('the record of a call', () => {
  it('has no word of what is said while the recording is paused, and from when to when that was', () => {
    const record = recorded((facts) => {
      told(facts, { type: 'user.text', epoch: 1, text: 'I want to pay.' }, 2_000, true);
      told(facts, { type: 'user.text', epoch: 2, text: 'four one one one' }, 3_000, true);
      told(facts, { type: 'operator.text', text: 'I have it.' }, 4_000, true);
      told(facts, { type: 'user.text', epoch: 3, text: 'the end of it' }, 5_000);
      told(facts, { type: 'user.text', epoch: 4, text: 'Thank you.' }, 6_000);
      told(facts, { type: 'turn.user_started', epoch: 5 }, 7_000, true);
    });
    expect(record?.transcript.map(({ role, text }) => `${role}: ${text}`)).toEqual([
      'caller: I want to pay.',
      'caller: [not recorded]',
      'caller: [not recorded]',
      'caller: Thank you.',
      'operator: [not recorded]',
    ]);
    expect(record?.recording_pauses).toEqual([
      { at_ms: 1_000, until_ms: 4_000 },
      { at_ms: 6_000, until_ms: 60_000 },
    ]);
  });

  it('has who listened, whispered and took over, from when to when, and what an operator said', () => {
    const record = recorded((facts) => {
      facts.monitored(use('listens'), 2_000);
      facts.monitored(use('listens', 'Bo'), 3_000);
      facts.monitored(use('whispers'), 4_000);
      facts.monitored(use('asks for the call'), 5_000);
      facts.monitored(use('takes over'), 6_000);
      told(facts, { type: 'operator.text', text: 'Ada speaks.' }, 7_000);
      told(facts, { type: 'operator.handed_back', epoch: 1, how: 'handed_back' }, 8_000);
      facts.monitored(use('leaves'), 9_000);
    });
    expect(record?.operators).toEqual([
      { at_ms: 1_000, until_ms: 8_000, role: 'listen', name: '[name] of the desk' },
      { at_ms: 2_000, role: 'listen', name: 'Bo' },
      { at_ms: 3_000, role: 'whisper', name: '[name] of the desk' },
      { at_ms: 5_000, until_ms: 7_000, role: 'take_over', name: '[name] of the desk' },
    ]);
    expect(record?.transcript).toEqual([
      { role: 'operator', text: '[name] speaks.', start_ms: 6_000, end_ms: 6_000 },
    ]);
  });

  it.each([
    [{ isMoved: true }, { code: 'continued', by: 'carrier', detail: 'keys' }],
    [
      { isBroken: true, isMoved: true },
      { code: 'fault', by: 'service' },
    ],
    [
      { refusal: 'no_agent', isMoved: true },
      { code: 'refused', by: 'service', detail: 'no_agent' },
    ],
    [{ end: 'disconnected' }, { code: 'connection_lost', by: 'network' }],
  ] as const)('ends as one thing alone where several were so: %j', (ending, end) => {
    expect(recorded(() => undefined, ending as Partial<CallOver>)?.end).toEqual(end);
  });

  it('ends what an operator who just leaves was doing', () => {
    const record = recorded((facts) => {
      facts.monitored(use('listens'), 2_000);
      facts.monitored(use('takes over'), 3_000);
      facts.monitored(use('leaves'), 4_000);
    });
    expect(record?.operators.map(({ role, until_ms }) => [role, until_ms])).toEqual([
      ['listen', 3_000],
      ['take_over', 3_000],
    ]);
  });

  it('has how good the line was, where packets can be lost', () => {
    const line = { packets: 950, lost: 50, jitterMs: 12.34, delayMs: 40, codec: 'pcmu' };
    expect(recorded(() => undefined, { line })?.quality).toMatchObject({
      packets: 950,
      lost_percent: 5,
      jitter_ms: 12.3,
    });
    const { mos = 0 } = recorded(() => undefined, { line })?.quality ?? {};
    expect(mos).toBeGreaterThan(3);
    expect(mos).toBeLessThan(4.2);
    expect(recorded(() => undefined)?.quality).toBeUndefined();
  });

  it('counts the time of a line that was connected, and none of a call that reached nobody', () => {
    const seconds = (head: Parameters<typeof recordOf>[0], code?: 'not_connected'): number | undefined =>
      recordOf(head, [], code && { code }).usage.by_stage.telephone?.seconds;
    expect(seconds({ transport: 'sip' })).toBe(10);
    expect(seconds({ transport: 'carrier_a', direction: 'outbound' }, 'not_connected')).toBeUndefined();
    expect(seconds({ transport: 'webrtc' })).toBeUndefined();
  });

  it('says whether a model has spoken by itself, and whether it was the stages that went on', () => {
    const used = (stage: 'realtime' | 'llm'): CallFact => ({
      t: 'used',
      at: 1,
      stage,
      provider: 'x',
      units: { input_tokens: 1 },
    });
    expect(recordOf().mode).toBe('cascade');
    expect(recordOf({}, [used('llm')]).mode).toBe('cascade');
    expect(recordOf({ realtime: true }, [used('realtime')]).mode).toBe('realtime');
    expect(recordOf({ realtime: true }, [used('llm')]).mode).toBe('cascade');
    expect(recordOf({ realtime: true }, [used('realtime'), used('llm')]).mode).toBe('mixed');
  });
});

describe('a turn of a record', () => {
  const heard = (
    facts: CallFacts,
    fact: CallEvent,
    now: number,
    orders: readonly CallAction[] = [],
  ): void => {
    const state = { conversation: { isUnrecorded: false }, setup: { settings: {} } };
    facts.stepped({ fact, orders, now, state } as never);
  };
  const voice = (facts: CallFacts, from: number, to: number): void => {
    heard(facts, { type: 'speech.started' }, from);
    heard(facts, { type: 'speech.stopped' }, to);
  };
  const counts = ['backchannels', 'false_starts', 'faults', 'failovers'] as const;
  const shown = (record: CallRecord | undefined) =>
    record?.turns.map((turn) => [turn.epoch, turn.silence_ms, ...counts.map((name) => turn[name])]);
  const sumOf = (record: CallRecord | undefined, name: 'silence_ms' | (typeof counts)[number]): number =>
    record?.turns.reduce((sum, turn) => sum + (turn[name] ?? 0), 0) ?? 0;
  const addUp = (record: CallRecord | undefined): void => {
    expect(sumOf(record, 'silence_ms')).toBe(record?.silence.total_ms);
    expect(sumOf(record, 'backchannels')).toBe(record?.backchannels);
    expect(sumOf(record, 'false_starts')).toBe(record?.interruptions.false_starts);
    expect(sumOf(record, 'faults')).toBe(record?.faults.length);
    expect(sumOf(record, 'failovers')).toBe(record?.failovers.length);
  };
  const answered = (facts: CallFacts, epoch: number, from: number, to: number): void => {
    told(facts, { type: 'turn.bot_started', epoch }, from);
    told(facts, { type: 'turn.bot_ended', epoch }, to);
  };
  const fault = { type: 'fault.noticed', stage: 'stt', what: 'failed' } as const;

  it('has the silence until the caller begins the next, and what went wrong in it', () => {
    const record = recorded((facts) => {
      facts.begins({ now: 2_000, state: { conversation: {}, setup: { settings: {} } } } as never);
      answered(facts, 0, 2_500, 4_000);
      told(facts, { type: 'turn.user_started', epoch: 1 }, 5_000);
      voice(facts, 5_000, 6_000);
      // Before the turn has a text: it is of this turn all the same.
      told(facts, fault, 6_100);
      told(facts, { type: 'user.text', epoch: 1, text: 'Hello.' }, 6_500);
      facts.note({ what: 'requested', stage: 'llm', provider: 'a' } as never, 6_500);
      facts.note({ what: 'requested', stage: 'llm', provider: 'b' } as never, 6_600);
      answered(facts, 1, 7_000, 9_000);
      told(facts, { type: 'turn.user_started', epoch: 2 }, 11_000);
      voice(facts, 11_000, 12_000);
      told(facts, { type: 'user.text', epoch: 2, text: 'Bye.' }, 12_500);
    });
    // The call ends at 61 s.
    expect(shown(record)).toEqual([
      [0, 1_500, undefined, undefined, undefined, undefined],
      [1, 3_000, undefined, undefined, 1, 1],
      [2, 49_000, undefined, undefined, undefined, undefined],
    ]);
    addUp(record);
  });

  it('has the nods and the noises that its answer was spoken over, and no voice that became no turn', () => {
    const pause = { type: 'playout.pause' } as CallAction;
    const resume = { type: 'playout.resume' } as CallAction;
    const record = recorded((facts) => {
      facts.begins({ now: 1_000, state: { conversation: {}, setup: { settings: {} } } } as never);
      told(facts, { type: 'turn.user_started', epoch: 1 }, 2_000);
      told(facts, { type: 'user.text', epoch: 1, text: 'Tell me.' }, 3_000);
      told(facts, { type: 'turn.bot_started', epoch: 1 }, 4_000);
      heard(facts, { type: 'speech.started' }, 4_500, [pause]);
      heard(facts, { type: 'stt.partial', text: 'mhm' } as CallEvent, 4_600);
      heard(facts, { type: 'speech.stopped' }, 4_700, [resume]);
      heard(facts, { type: 'speech.started' }, 5_500, [pause]);
      heard(facts, { type: 'speech.stopped' }, 5_700, [resume]);
      told(facts, { type: 'turn.bot_ended', epoch: 1 }, 6_000);
      // A cough that no text comes of.
      told(facts, { type: 'turn.user_started', epoch: 2 }, 7_000);
      voice(facts, 7_000, 7_100);
    });
    expect(shown(record)).toEqual([[1, 3_000 + 1_000 + 53_900, 1, 1, undefined, undefined]]);
    addUp(record);
  });

  it('adds up to the call in any order, over workers, and with an end in the middle of a turn', () => {
    const prng = newPrng(51);
    for (let seed = 0; seed < 300; seed += 1) {
      const facts: CallFact[] = [];
      for (let at = 1; at < 40; at += 1) {
        const epoch = prng.below(6);
        const one = prng.pick<Untimed>([
          { t: 'turn', epoch },
          { t: 'answered', epoch },
          { t: 'tally', silence: prng.below(900), backchannels: prng.below(2), falseStarts: prng.below(2) },
          { t: 'tally', silence: prng.below(900), begins: true },
          { t: 'fault', stage: 'llm', what: 'failed' },
          { t: 'failover', stage: 'tts', to: 'other' },
          { t: 'worker', pid: prng.below(3), since: 'a', parent: { pid: 9, since: 'b' } },
        ]);
        facts.push({ ...one, at });
      }
      const record = recordOf({}, facts);
      if (record.turns.length > 0) addUp(record);
    }
  });

  it('says nothing of more turns than a record holds, and that there were more', () => {
    const facts = Array.from({ length: recordLimits.turns + 1 }, (_, epoch): CallFact[] => [
      { t: 'turn', at: epoch, epoch },
      { t: 'tally', at: epoch, silence: 5, begins: true },
    ]).flat();
    const record = recordOf({}, facts);
    expect(record.truncated).toBe(true);
    expect(record.turns).toHaveLength(recordLimits.turns);
    expect(record.turns.every(({ silence_ms: ms }) => ms === 5)).toBe(true);
  });
});
