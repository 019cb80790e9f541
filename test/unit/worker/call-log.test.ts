/** What the log says of one call whose provider is down. */
import { describe, expect, it } from 'vitest';
import { newLog } from '../../../shared/runtime/log.ts';
import { newWorkerMetrics } from '../../../shared/runtime/metrics.ts';
import { CallLog } from '../../../worker/call/log.ts';

function newCallLog() {
  const lines: Record<string, unknown>[] = [];
  const to = { write: (line: string) => void lines.push(JSON.parse(line) as Record<string, unknown>) };
  const log = newLog({ role: 'worker 0', level: 'info', to });
  let now = 0;
  const call = new CallLog({
    log,
    metrics: newWorkerMetrics(),
    turns: 0,
    agent: () => 'a',
    route: undefined,
    now: () => now,
  });
  const warnings = (): unknown[] =>
    lines.filter(({ level }) => level === 40).map(({ stage, what, cause, msg }) => [msg, stage, what, cause]);
  return { call, lines, warnings, wait: (ms: number) => void (now += ms) };
}

describe('the log of a call', () => {
  it('has one line for a stage that fails again and again, and how often at the end', () => {
    const { call, lines, warnings, wait } = newCallLog();
    for (let times = 0; times < 11; times += 1) {
      call.stageFailed('llm', 'disconnected');
      call.follow({ type: 'fault.noticed', stage: 'llm', what: 'failed' });
      call.announced();
      wait(5_000);
    }
    expect(warnings()).toEqual([
      ['stage fault', 'llm', 'failed', 'disconnected'],
      ['announcement played', 'tts', undefined, undefined],
    ]);
    call.ended('hangup', { lastedMs: 55_000, energyFrames: 0 });
    expect(lines.at(-1)).toMatchObject({ msg: 'call ended', faults: { 'llm failed': 11, announcement: 11 } });
  });

  it('has one line for a program that asks for the same again and again', () => {
    const { call, lines, warnings } = newCallLog();
    const refused = (command: 'say' | 'edit', code: 'queue_full' | 'empty'): void =>
      call.follow({
        type: 'command.answered',
        id: 'a',
        command,
        outcome: { kind: 'refused', code },
      });
    for (let times = 0; times < 200; times += 1) refused('say', 'queue_full');
    refused('say', 'empty');
    refused('edit', 'queue_full');
    expect(warnings()).toHaveLength(3);
    call.ended('hangup', { lastedMs: 1, energyFrames: 0 });
    expect(lines.at(-1)).toMatchObject({ faults: { 'say queue_full': 200, 'say empty': 1 } });
  });

  it('tells stages and kinds of faults apart', () => {
    const { call, warnings } = newCallLog();
    call.stageFailed('tts', 'rejected 401');
    call.stageFailed('stt', 'disconnected');
    for (const what of ['stalled', 'empty', 'stalled', 'given_up'] as const)
      call.follow({ type: 'fault.noticed', stage: 'tts', what });
    expect(warnings()).toHaveLength(5);
  });

  it('takes a fault behind a quiet minute for news', () => {
    const { call, warnings, wait } = newCallLog();
    call.stageFailed('llm', 'disconnected');
    wait(59_999);
    call.stageFailed('llm', 'disconnected');
    wait(60_000);
    call.stageFailed('llm', 'timeout connect');
    expect(warnings()).toHaveLength(2);
  });

  it('says nothing of faults at the end of a call without any', () => {
    const { call, lines } = newCallLog();
    call.ended('hangup', { lastedMs: 1, energyFrames: 0 });
    expect(lines.at(-1)).not.toHaveProperty('faults');
  });
});
