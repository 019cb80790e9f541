/** A call that has something otherwise than its agent, whoever says so, and in whichever worker. */
import { describe, expect, it } from 'vitest';
import type { Overrides } from '../../../shared/agents/overrides.ts';
import { CallRecords, callRecordBytes } from '../../../shared/protocol/call-record.ts';
import { CallJournal, readJournal } from '../../../worker/call/journal.ts';
import { fakeSettings } from '../../support/fakes/fake-call.ts';
import { newWorld, type OneCallOptions } from './one-call.ts';

type Vary = NonNullable<OneCallOptions['vary']>;

const settled = (): Promise<void> =>
  new Promise((resolve) => {
    setImmediate(resolve);
  });

/** An agent whose calls may have another greeting, and nothing else; it counts the calls that have. */
function newAgent() {
  const now = { held: 0 };
  const world = newWorld();
  const vary: Vary = (given) => {
    now.held += 1;
    const { 'agent.greeting': greeting, ...others } = given;
    const isGood = typeof greeting === 'string';
    return {
      settings: { ...fakeSettings(), ...(isGood && { greeting }) },
      applied: isGood ? { 'agent.greeting': greeting } : {},
      problems: Object.keys(others).map((name) => `overrides.${name} is not allowed by the agent file`),
      release: () => (now.held -= 1),
    };
  };
  return { world, now, vary };
}

const asJson = (given: unknown): Record<string, string> => ({ 'session.overrides': JSON.stringify(given) });

function newJournal() {
  const records = new CallRecords([new ArrayBuffer(callRecordBytes({ slots: 1 }))], { slots: 1 });
  const record = records.record(0);
  const journal = new CallJournal(record, { offer: 7, toMachineMs: 0 });
  journal.opened();
  return { record, journal };
}

describe('what a call has otherwise', () => {
  it('may be signed, or said by who has it made', () => {
    const { world, vary } = newAgent();
    const call = world.newCall({ vary, metadata: asJson({ 'agent.greeting': 'Signed.' }) });
    expect(call.tts().asked[0]).toBe('speak 1 Signed.');
  });

  it('may be said by the server before calls, whose word is the newer one', async () => {
    const { world, vary } = newAgent();
    const answer = { variables: {}, overrides: { 'agent.greeting': 'From the server.' }, problems: [] };
    const call = world.newCall({
      vary,
      metadata: asJson({ 'agent.greeting': 'Signed.' }),
      lookUp: () => Promise.resolve({ kind: 'answered', answer }),
    });
    await settled();
    expect(call.tts().asked[0]).toBe('speak 1 From the server.');
  });

  it('may be said by the agent process, which is told what the call does without', async () => {
    const { world, vary } = newAgent();
    const refused: string[] = [];
    const overrides = { 'agent.greeting': 'From the process.', 'llm.model': 'large' };
    const call = world.newCall({ vary, prepare: () => ({ overrides }), refused });
    await settled();
    expect(call.tts().asked[0]).toBe('speak 1 From the process.');
    expect(refused).toEqual(['overrides.llm.model is not allowed by the agent file']);
  });

  it.each(['[]', '7', 'null', '"agent.greeting"'])('is nothing where it is no object: %s', (text) => {
    const { world, vary, now } = newAgent();
    const call = world.newCall({ vary, metadata: { 'session.overrides': text } });
    expect([call.transport.told, now.held]).toEqual([['accept'], 0]);
  });

  it('is nothing where the agent file allows nothing', async () => {
    const refused: string[] = [];
    const call = newWorld().newCall({ prepare: () => ({ overrides: { 'agent.greeting': 'No.' } }), refused });
    await settled();
    expect([call.transport.told, refused]).toEqual([
      ['accept'],
      ['overrides are not allowed by the agent file'],
    ]);
  });

  it('holds on with another agent of the tenant, as far as that one allows it', async () => {
    const { world, vary } = newAgent();
    const answer = { variables: {}, agent: 'other', problems: [] };
    const call = world.newCall({
      metadata: asJson({ 'agent.greeting': 'Signed.' }),
      lookUp: () => Promise.resolve({ kind: 'answered', answer }),
      others: { other: {} },
      vary,
    });
    await settled();
    expect(call.tts().asked[0]).toBe('speak 1 Signed.');
  });

  it('stays in another worker, and is given back at the end of the call', async () => {
    const { world, vary, now } = newAgent();
    const { record, journal } = newJournal();
    const answer = {
      variables: { name: 'Ada' },
      overrides: { 'agent.greeting': 'Hi {{call.name}}.' },
      problems: [],
    };
    const lookUp = () => Promise.resolve({ kind: 'answered', answer } as const);
    const call = world.newCall({ vary, journal, lookUp });
    await settled();
    const { call: saved } = readJournal(record.read(), { toMachineMs: 0 });
    expect(saved?.setup).toMatchObject({ variables: { name: 'Ada' }, overrides: answer.overrides });
    call.enter(() => call.runner.ended('hangup'));
    expect(now.held).toBe(0);
    const seen: Overrides[] = [];
    const next = newAgent();
    const again: Vary = (given) => {
      seen.push(given);
      return next.vary(given);
    };
    const taken = next.world.newCall({ begin: false, vary: again });
    const playout = { context: 0, sentSamples: 0 };
    taken.enter(() => taken.runner.resume({ call: saved!, playout, turnAudio: [], silentMs: 0 }));
    expect([seen, next.now.held]).toEqual([[answer.overrides], 1]);
    taken.enter(() => taken.runner.ended('hangup'));
    expect(next.now.held).toBe(0);
  });
});
