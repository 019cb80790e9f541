/** From what happens in a call to its record: what one worker writes down, folded. */
import { describe, expect, it } from 'vitest';
import type { CallFact } from '../../../shared/calls/facts.ts';
import { CallFold } from '../../../shared/calls/fold.ts';
import type { CallRecord } from '../../../shared/calls/record.ts';
import type { MonitorUse } from '../../../shared/monitor/messages.ts';
import type { CallOver } from '../../../worker/call/account.ts';
import type { ConversationEvent } from '../../../worker/core/told.ts';
import { CallFacts } from '../../../worker/calls/call-facts.ts';
import { headFact, recordOf } from '../../support/calls/records.ts';

const over: CallOver = { end: 'hangup', engine: 'ended', isMoved: false, isBroken: false };

/** The record of a call that began at 1000. */
function recorded(call: (facts: CallFacts) => void, ending: Partial<CallOver> = {}): CallRecord | undefined {
  const written: CallFact[] = [];
  const facts = new CallFacts({
    startedAt: 1_000,
    redaction: { text: (text) => text.replace('Ada', '[name]'), pressed: () => undefined },
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
