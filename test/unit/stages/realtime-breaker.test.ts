/** What calls of a speaking model share: its breaker, by which a vendor that is down costs each call no time. */
import { expect, it } from 'vitest';
import { breakerInts } from '../../../shared/protocol/breakers.ts';
import { RetryBudgets } from '../../../worker/stages/failover/retry-budget.ts';
import { newCall, sound, user } from '../../support/core/realtime-call.ts';
import { newVirtualClock } from '../../support/core/virtual-clock.ts';

type Call = ReturnType<typeof newCall>;

/** Calls that share a vendor, and know of it what the others have found. */
function newFleet() {
  const shared = { breakers: new Int32Array(breakerInts), clock: newVirtualClock() };
  return {
    clock: shared.clock,
    call: (options: Parameters<typeof newCall>[0] = {}): Call => newCall({ ...shared, ...options }),
  };
}

/** The session dies as soon as it is opened, and so does the next. */
function lose(call: Call): void {
  call.model.last.say({ type: 'error', error: { kind: 'disconnected' } });
  if (!call.model.last.isClosed) call.model.last.say({ type: 'error', error: { kind: 'disconnected' } });
}

/** Calls enough to find the vendor broken. */
function breakVendor(fleet: ReturnType<typeof newFleet>): void {
  for (let count = 0; count < 2; count += 1) lose(fleet.call());
}

const answered = (call: Call): string[] =>
  call.said.flatMap((event) => (event.type === 'text' ? [event.text] : []));

it('a call that begins while the vendor is down asks the stages beside it at once', () => {
  const fleet = newFleet();
  breakVendor(fleet);
  const call = fleet.call({ isReady: false });
  expect(call.model.sessions).toHaveLength(0);
  call.start(call.says('what time is it'));
  expect(call.llm.rounds).toHaveLength(1);
  expect(call.failures).toEqual(['left alone']);
});

it('a running call whose session is silent is answered at once where others have found the vendor broken', () => {
  const fleet = newFleet();
  const call = fleet.call();
  breakVendor(fleet);
  call.start(call.says('what time is it'));
  expect(call.llm.rounds).toHaveLength(1);
  expect(call.model.last.told).toEqual(['begin', 'audio 7']);
  expect(call.model.last.isClosed).toBe(true);
});

it('silence of some calls is what the others find out by', () => {
  const fleet = newFleet();
  const silent = Array.from({ length: 5 }, () => fleet.call());
  const other = fleet.call();
  for (const call of silent) call.start(call.says('what time is it'));
  fleet.clock.advance(5_100);
  expect(silent.map(({ llm }) => llm.rounds.length)).toEqual([1, 1, 1, 1, 1]);
  other.start(other.says('what time is it'));
  expect(other.llm.rounds).toHaveLength(1);
});

it('one call tries the vendor again, and when it answers all do', () => {
  const fleet = newFleet();
  const [first, second] = [fleet.call(), fleet.call()];
  breakVendor(fleet);
  fleet.clock.advance(2_100);
  first.start(first.says('what time is it'));
  second.start(second.says('what time is it'));
  expect([first, second].map(({ llm }) => llm.rounds.length)).toEqual([0, 1]);
  first.model.last.say({ type: 'text', answer: 1, item: 'a', text: 'It is noon.' });
  expect(answered(first)).toEqual(['It is noon.']);
  second.llm.rounds[0]?.say({ type: 'done', finish: 'stop', usage: undefined });
  second.start(user('what time is it'), second.says('and tomorrow'));
  expect(second.llm.rounds).toHaveLength(1);
  expect(second.model.last.told).toContain('respond 1');
});

it('a try that nobody waits for any more is free for another call', () => {
  const fleet = newFleet();
  const [first, second] = [fleet.call(), fleet.call()];
  breakVendor(fleet);
  fleet.clock.advance(2_100);
  first.start(first.says('what time is it')).cancel();
  second.start(second.says('what time is it'));
  expect(second.llm.rounds).toHaveLength(0);
});

it('a call whose session is cut while the vendor is down has another one when it works again', () => {
  const fleet = newFleet();
  const call = fleet.call();
  breakVendor(fleet);
  call.model.last.say({ type: 'error', error: { kind: 'disconnected' } });
  expect(call.model.sessions).toHaveLength(1);
  const question = call.says('what time is it');
  call.start(question);
  call.llm.rounds[0]?.say({ type: 'text', text: 'It is noon.' });
  call.llm.rounds[0]?.say({ type: 'done', finish: 'stop', usage: undefined });
  fleet.clock.advance(2_100);
  call.start(question, { role: 'assistant', text: 'It is noon.' }, call.says('and tomorrow', 9));
  expect(call.model.sessions).toHaveLength(2);
  expect(call.model.last.seed.history.map(({ text }) => text)).toEqual(['what time is it', 'It is noon.']);
  expect(call.model.last.told).toEqual(['begin', 'audio 9', 'end', 'respond 1']);
});

it('where nobody else can answer, the vendor is asked all the same', () => {
  const fleet = newFleet();
  breakVendor(fleet);
  const call = fleet.call({ isAlone: true });
  call.start(call.says('what time is it'));
  expect(call.model.last.told).toContain('respond 1');
});

it('a budget that is spent opens no more sessions, until one is needed', () => {
  const none = { tokens: 0, perSecond: 0 };
  const call = newCall({ budgets: new RetryBudgets({ call: none, process: none }) });
  call.model.last.say({ type: 'error', error: { kind: 'disconnected' } });
  expect(call.model.sessions).toHaveLength(1);
  call.start(call.says('what time is it'));
  expect(call.model.sessions).toHaveLength(2);
  expect(call.model.last.told).toEqual(['begin', 'audio 7', 'end', 'respond 1']);
});

it('with words of the vendor, STT hears for as long as the model is gone', () => {
  const fleet = newFleet();
  const call = fleet.call({ words: 'vendor' });
  breakVendor(fleet);
  call.model.last.say({ type: 'error', error: { kind: 'disconnected' } });
  call.ears.audio(sound(7));
  call.ears.finalize();
  const [stt] = call.stt.sessions;
  expect(stt?.asked).toEqual(['audio 7 x80', 'finalize']);
  stt?.say({ type: 'transcript', text: 'hello', isFinal: true, speechFinal: true, fromFinalize: true });
  stt?.say({ type: 'finalized' });
  call.start(user('hello'));
  expect(call.llm.rounds).toHaveLength(1);
  call.llm.rounds[0]?.say({ type: 'done', finish: 'stop', usage: undefined });
  fleet.clock.advance(2_100);
  call.start(user('hello'), user('are you there'));
  call.model.ready();
  call.ears.audio(sound(8));
  expect(call.stt.sessions).toHaveLength(1);
  expect(call.model.last.told.slice(-2)).toEqual(['begin', 'audio 8']);
});
