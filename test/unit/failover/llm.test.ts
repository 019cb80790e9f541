import { describe, expect, it } from 'vitest';
import { newFailoverLlm } from '../../../worker/stages/failover/llm.ts';
import type {
  LlmEvent,
  LlmRequest,
  LlmRound,
  LlmSession,
  LlmStage,
  StageError,
} from '../../../worker/stages/stage.ts';
import { newFailoverScope, type Recorded } from '../../support/core/failover.ts';
import { ScriptedLlm } from '../../support/core/scripted-stages.ts';
import { Events, newStageContext } from '../../support/core/stage-context.ts';
import { newVirtualClock, type VirtualClock } from '../../support/core/virtual-clock.ts';

const disconnected: StageError = { kind: 'disconnected' };
const hello: LlmRequest = { messages: [{ role: 'user', text: 'Hello' }], tools: [] };
const done: LlmEvent = { type: 'done', finish: 'stop', usage: undefined };
const failing = (error: StageError): LlmEvent => ({ type: 'error', error });
const text = (said: string): LlmEvent => ({ type: 'text', text: said });

interface Asked {
  readonly clock: VirtualClock;
  readonly primary: ScriptedLlm;
  readonly secondary: ScriptedLlm;
  readonly scope: Recorded;
  readonly stage: LlmStage;
  readonly session: LlmSession;
  readonly events: Events<LlmEvent>;
  readonly round: LlmRound;
  readonly again: (request?: LlmRequest) => { events: Events<LlmEvent>; round: LlmRound };
}

function ask(
  options: { hedgeAfterMs?: number; alone?: boolean; request?: LlmRequest; retries?: boolean } = {},
): Asked {
  const clock = newVirtualClock();
  const [primary, secondary] = [new ScriptedLlm(), new ScriptedLlm()];
  const { hedgeAfterMs, alone = false, retries = true } = options;
  const scope = newFailoverScope('llm', {
    primary: primary.stage,
    ...(!alone && { secondary: secondary.stage }),
    machineMs: () => clock.now() + 1_000,
    retries,
  });
  const stage = newFailoverLlm({ ...scope, ...(hedgeAfterMs !== undefined && { hedgeAfterMs }) });
  const context = newStageContext(clock);
  const session = stage.open(context, { conversation: 'c7', model: 'm9' });
  const again = (request = hello) => {
    const events = new Events<LlmEvent>();
    return { events, round: session.start(request, events.sink) };
  };
  return { clock, primary, secondary, scope, stage, session, again, ...again(options.request) };
}

describe('a model with a secondary', () => {
  it('passes an answer on, and counts what it took', () => {
    const { clock, primary, scope, events } = ask();
    clock.advance(120);
    primary.rounds[0]!.say(text('Hi '));
    primary.rounds[0]!.say(text('there.'));
    const usage = { inputTokens: 30, outputTokens: 4, cachedTokens: 10 };
    primary.rounds[0]!.say({ ...done, usage });
    expect(events.all).toEqual([text('Hi '), text('there.'), { ...done, usage }]);
    expect(scope.notes).toEqual([
      'primary requested',
      'primary first result 120',
      'primary spent 30 input_tokens',
      'primary spent 10 cached_tokens',
      'primary spent 4 output_tokens',
    ]);
    expect(clock.pending).toBe(0);
  });

  it('asks the other when nothing was delivered, and the first once more when that fails too', () => {
    const { clock, primary, secondary, events } = ask();
    primary.rounds[0]!.say(failing(disconnected));
    expect(secondary.rounds).toHaveLength(1);
    secondary.rounds[0]!.say(failing({ kind: 'rejected', status: 503 }));
    clock.advance(149);
    expect([primary.rounds.length, secondary.rounds.length, events.all.length]).toEqual([1, 1, 0]);
    clock.advance(1);
    expect([primary.rounds.length, secondary.rounds.length]).toEqual([1, 2]);
    secondary.rounds[1]!.say(failing(disconnected));
    expect(events.all).toEqual([failing(disconnected)]);
    expect(clock.pending).toBe(0);
  });

  it('does not ask again after a refusal that no repetition changes, nor after a long pause was asked for', () => {
    for (const error of [
      { kind: 'rejected', status: 401 },
      { kind: 'rejected', status: 429, retryAfterMs: 5_000 },
      { kind: 'rejected', status: 429, retryable: false },
    ] as const) {
      const { clock, primary, events } = ask({ alone: true });
      primary.rounds[0]!.say(failing(error));
      clock.advance(10_000);
      expect([primary.rounds.length, events.all]).toEqual([1, [failing(error)]]);
    }
  });

  it('waits as long as the provider asks before it asks again', () => {
    const { clock, primary, events } = ask({ alone: true });
    primary.rounds[0]!.say(failing({ kind: 'rejected', status: 429, retryAfterMs: 700 }));
    clock.advance(699);
    expect(primary.rounds).toHaveLength(1);
    clock.advance(1);
    primary.rounds[1]!.say(text('Yes.'));
    primary.rounds[1]!.say(done);
    expect(events.all).toEqual([text('Yes.'), done]);
  });

  it('asks nobody again without a retry in the budget', () => {
    const { clock, primary, secondary, events } = ask({ retries: false });
    primary.rounds[0]!.say(failing(disconnected));
    clock.advance(5_000);
    expect([primary.rounds.length, secondary.rounds.length]).toEqual([1, 0]);
    expect(events.all).toEqual([failing(disconnected)]);
  });

  it('goes straight to the secondary while the breaker is open, and back with one probe', () => {
    const { clock, primary, secondary, scope, again } = ask();
    primary.rounds[0]!.say(failing({ kind: 'rejected', status: 429, retryAfterMs: 10_000 }));
    secondary.rounds[0]!.say(done);
    again();
    expect([primary.rounds.length, secondary.rounds.length]).toEqual([1, 2]);
    expect(scope.reasons).toEqual(['failed', 'breaker']);
    clock.advance(10_000);
    const probe = again();
    again();
    expect([primary.rounds.length, secondary.rounds.length]).toEqual([2, 3]);
    // An interrupted probe is somebody else's to make.
    probe.round.cancel();
    again();
    expect(primary.rounds).toHaveLength(3);
    primary.rounds[2]!.say(text('Back.'));
    again();
    expect(primary.rounds).toHaveLength(4);
    expect(scope.breakers.of('llm', 'primary').state(clock.now() + 1_000)).toBe('closed');
  });

  it('opens the provider that will be asked with the call, and the other one when it is asked', () => {
    const { primary, secondary, stage, clock } = ask();
    expect([primary.calls.length, secondary.calls.length]).toEqual([1, 0]);
    primary.rounds[0]!.say(failing({ kind: 'rejected', status: 429, retryAfterMs: 10_000 }));
    expect([primary.calls.length, secondary.calls.length]).toEqual([1, 1]);
    stage.open(newStageContext(clock), {});
    expect([primary.calls.length, secondary.calls.length]).toEqual([1, 2]);
  });

  it('opens one session a call with each provider, and closes them with the call', () => {
    const { primary, secondary, again, session } = ask();
    primary.rounds[0]!.say(failing(disconnected));
    secondary.rounds[0]!.say(done);
    const { round } = again();
    expect([primary.calls.length, secondary.calls.length, primary.rounds.length]).toEqual([1, 1, 2]);
    session.close();
    expect([primary.closed, secondary.closed, primary.rounds[1]!.cancelled]).toEqual([1, 1, true]);
    round.cancel();
  });

  it('gives the model that a call names to its own provider alone: another has other names', () => {
    const { primary, secondary } = ask();
    primary.rounds[0]!.say(failing(disconnected));
    expect(primary.calls).toEqual([{ conversation: 'c7', model: 'm9' }]);
    expect(secondary.calls).toEqual([{ conversation: 'c7' }]);
  });

  it('still asks the primary when both breakers are open', () => {
    const { primary, secondary, again } = ask();
    primary.rounds[0]!.say(failing({ kind: 'rejected', status: 429, retryAfterMs: 10_000 }));
    secondary.rounds[0]!.say(failing({ kind: 'rejected', status: 503, retryAfterMs: 10_000 }));
    const { events } = again();
    primary.rounds[1]!.say(text('Here.'));
    expect(events.all).toEqual([text('Here.')]);
  });

  it('takes a round for stalled that was given up after five silent seconds, and not one that was interrupted', () => {
    const impatient = ask();
    impatient.clock.advance(4_999);
    impatient.round.cancel();
    expect(impatient.primary.rounds[0]!.cancelled).toBe(true);
    expect(impatient.scope.notes).toEqual(['primary requested']);
    const patient = ask();
    patient.clock.advance(5_000);
    patient.round.cancel();
    expect(patient.scope.notes).toEqual(['primary requested', 'primary failed stalled']);
    patient.primary.rounds[0]!.say(text('Late.'));
    expect(patient.events.all).toEqual([]);
  });

  it('gives opaque reasoning to the provider that made it alone, even to the other of its kind', () => {
    const { primary, secondary, again, events } = ask();
    primary.rounds[0]!.say(failing(disconnected));
    const reasoning = { provider: 'scripted', data: '[]' };
    secondary.rounds[0]!.say({ type: 'done', finish: 'tool_calls', usage: undefined, reasoning });
    const last = events.all.at(-1)!;
    if (last.type !== 'done') throw new Error('not done');
    const request: LlmRequest = {
      messages: [
        { role: 'user', text: 'Go' },
        { role: 'assistant', text: '', toolCalls: [], reasoning: last.reasoning! },
      ],
      tools: [],
    };
    again(request);
    primary.rounds[1]!.say(failing(disconnected));
    const given = [primary.rounds[1]!, secondary.rounds[1]!].map(({ request: { messages } }) => messages[1]);
    expect(given).toEqual([
      { role: 'assistant', text: '', toolCalls: [] },
      { role: 'assistant', text: '', toolCalls: [], reasoning },
    ]);
  });
});

describe('hedging', () => {
  it('asks the secondary as well when the first is slow; the first that answers wins', () => {
    const { clock, primary, secondary, scope, events } = ask({ hedgeAfterMs: 800 });
    clock.advance(799);
    expect(secondary.rounds).toEqual([]);
    clock.advance(1);
    expect([secondary.rounds.length, primary.rounds[0]!.cancelled]).toEqual([1, false]);
    secondary.rounds[0]!.say(text('Me.'));
    expect(primary.rounds[0]!.cancelled).toBe(true);
    primary.rounds[0]!.say(text('No, me.'));
    secondary.rounds[0]!.say(done);
    expect(events.all).toEqual([text('Me.'), done]);
    expect(scope.reasons).toEqual(['hedge']);
    expect(clock.pending).toBe(0);
  });

  it('leaves a provider alone that is overtaken in turn after turn, not having said a word for two seconds', () => {
    const { clock, primary, secondary, scope, again } = ask({ hedgeAfterMs: 1_500 });
    for (let turn = 0; turn < 3; turn += 1) {
      if (turn > 0) again();
      clock.advance(2_000);
      secondary.rounds[turn]!.say(text('Me.'));
      secondary.rounds[turn]!.say(done);
    }
    expect(scope.notes.filter((note) => note === 'primary failed stalled')).toHaveLength(3);
    again();
    expect([primary.rounds.length, secondary.rounds.length]).toEqual([3, 4]);
  });

  it('lets the first win when it is quicker after all, and asks nobody when it was quick enough', () => {
    const late = ask({ hedgeAfterMs: 800 });
    late.clock.advance(900);
    late.primary.rounds[0]!.say(text('At last.'));
    expect(late.secondary.rounds[0]!.cancelled).toBe(true);
    const quick = ask({ hedgeAfterMs: 800 });
    quick.primary.rounds[0]!.say(text('Quick.'));
    quick.clock.advance(5_000);
    expect(quick.secondary.rounds).toEqual([]);
  });

  it('fails only when both fail', () => {
    const { clock, primary, secondary, events } = ask({ hedgeAfterMs: 100 });
    clock.advance(100);
    primary.rounds[0]!.say(failing({ kind: 'rejected', status: 400 }));
    expect(events.all).toEqual([]);
    secondary.rounds[0]!.say(failing({ kind: 'rejected', status: 400 }));
    expect(events.all).toEqual([failing({ kind: 'rejected', status: 400 })]);
  });

  it('ends with a cancel for both', () => {
    const { clock, primary, secondary, round } = ask({ hedgeAfterMs: 100 });
    clock.advance(100);
    round.cancel();
    expect([primary.rounds[0]!.cancelled, secondary.rounds[0]!.cancelled]).toEqual([true, true]);
    expect(clock.pending).toBe(0);
  });
});
