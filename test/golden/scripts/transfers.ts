/** Giving the caller over (docs/telephony.md, Transfers and keys; docs/reference/agent-link.md, `transfer`). */
import assert from 'node:assert/strict';
import { say } from '../../support/core/given.ts';
import { dialogue, type Dialogue } from '../../support/core/dialogue.ts';
import { effectTool, newToolBook } from '../../support/core/tool-book.ts';
import type { Script } from '../../support/core/script.ts';

type Begin = Parameters<Dialogue['play']>[0];

const book = newToolBook({
  tools: { transfer_call: { ...effectTool, repeatable: true, timeoutMs: 50_000 } },
});
const tools = {
  ...book,
  performerOf: (name: string) => (name === 'transfer_call' ? ('core' as const) : book.performerOf(name)),
};
const settings = { tools, transfer: { settleMs: 8_000, warm: true } };
const call = (id: string, more: object = {}) => ({
  name: 'transfer_call',
  id,
  args: { destination: 'billing', ...more },
});

/** The model has said so and called the tool; nothing of the sentence was heard yet. */
const announced = (begin: Begin, id = 't1'): Script => {
  const script = begin({ settings, echoMs: 20 }).opens().callerSays('Billing please.');
  return script.llmWrites('I will connect you.').llmCalls(call(id));
};
/** The carrier has been asked. */
const asked = (begin: Begin): Script => {
  const script = announced(begin).botFinishes();
  assert.equal(script.transfers.length, 1);
  return script;
};
const command = (id: string, mode: 'cold' | 'warm' = 'cold') =>
  ({
    type: 'command.given',
    id,
    command: { type: 'transfer', destination: '+15550100077', mode, summary: '' },
    position: undefined,
  }) as const;

export const transfers: readonly Dialogue[] = [
  dialogue(
    'the carrier is asked when the hand-off sentence was heard to its end, and not before',
    (begin) => {
      const script = announced(begin).botPlays(500);
      assert.equal(script.transfers.length, 0);
      script.botFinishes();
      assert.equal(script.transfers.length, 1);
      const [order] = script.transfers;
      assert.deepEqual([order?.destination, order?.mode, order?.isNumber], ['billing', 'cold', false]);
    },
  ),

  dialogue('lines that wait are heard behind the sentence and before the transfer', (begin) => {
    for (const echoMs of [20, undefined]) {
      const script = begin({ settings, echoMs }).opens().callerSays('Billing please.');
      script
        .tell(say('Your number is 7.', { id: 'a' }))
        .llmWrites('I will connect you.')
        .llmCalls(call('t1'));
      script.botFinishes().botSays('I will connect you. Your number is 7.').ordered('a done');
      script.botPlays(400).later(50);
      assert.equal(script.transfers.length, 0);
      script.botFinishes().later(500);
      assert.equal(script.transfers.length, 1);
    }
  }),

  dialogue('without a sentence it is asked at once', (begin) => {
    const script = begin({ settings }).opens().callerSays('Billing please.').llmCalls(call('t1'));
    assert.equal(script.transfers.length, 1);
  }),

  dialogue(
    'settle timeout: a sentence that never comes to its end is waited for 8 s and no longer',
    (begin) => {
      const script = announced(begin).later(7_999);
      assert.equal(script.transfers.length, 0);
      script.later(1);
      assert.equal(script.transfers.length, 1);
    },
  ),

  dialogue('a caller who speaks first has stopped it, and the model may try again', (begin) => {
    const script = announced(begin)
      .botPlays(400)
      .callerBegins()
      .callerInsists()
      .sttGuesses('No wait please.');
    script.callerStops().silenceEndsTheTurn().sttHears('No wait please.').sttFinalizes();
    script.later(1_000);
    assert.equal(script.transfers.length, 0);
    script.llmCalls(call('t2'));
    assert.equal(script.transfers.length, 1);
  }),

  dialogue('ok: the bot leaves the call, without another round and without a farewell', (begin) => {
    asked(begin).carrierAnswers({ kind: 'ok' }).ends('transferred').rounds(1);
  }),

  dialogue(
    'Rejected, Unavailable, InvalidArgument: the claim is released and the model may try again',
    (begin) => {
      for (const code of ['rejected', 'unavailable', 'invalid_argument'] as const) {
        const script = asked(begin).carrierAnswers({ kind: 'refused', code }).rounds(2).ends(undefined);
        script.llmSees(
          'user: Billing please.',
          'assistant: I will connect you. -> transfer_call#t1',
          't1: !tool_failed',
        );
        script.llmCalls(call('t2'));
        assert.equal(script.transfers.length, 2);
        assert.notEqual(script.transfers[0]?.commandId, script.transfers[1]?.commandId);
      }
    },
  ),

  dialogue('OutcomeUnknown: the claim is kept, and a second call is refused', (begin) => {
    const script = asked(begin).carrierAnswers({ kind: 'unknown' }).rounds(2);
    script.llmSees(
      'user: Billing please.',
      'assistant: I will connect you. -> transfer_call#t1',
      't1: !outcome_unknown',
    );
    script.llmCalls(call('t2')).rounds(3);
    assert.equal(script.transfers.length, 1);
  }),

  dialogue('a carrier that says nothing within its budget leaves an unknown outcome', (begin) => {
    const script = asked(begin).later(40_999).rounds(1);
    script.later(1).rounds(2);
    script.carrierAnswers({ kind: 'ok' }).ends(undefined);
    script.llmCalls(call('t2'));
    assert.equal(script.transfers.length, 1);
  }),

  dialogue('one transfer per call: a second one is refused while one runs', (begin) => {
    const script = asked(begin).tell(command('c2')).ordered('c2 refused already_done');
    assert.equal(script.transfers.length, 1);
  }),

  dialogue('a worker that takes the call up asks again, under the same id', (begin) => {
    const script = asked(begin).workerIsLost();
    assert.equal(script.transfers.length, 2);
    assert.equal(script.transfers[0]?.commandId, script.transfers[1]?.commandId);
    script.carrierAnswers({ kind: 'ok' }).ends('transferred');
  }),

  dialogue('the answer to another command changes nothing', (begin) => {
    const script = asked(begin);
    script.tell({ type: 'carrier.answered', commandId: 'another', outcome: { kind: 'ok' } }).ends(undefined);
    script.carrierAnswers({ kind: 'ok' }).ends('transferred');
  }),

  dialogue(
    'transfer, the command: waits until the bot has finished, and is answered by what the carrier says',
    (begin) => {
      for (const [outcome, answer] of [
        [{ kind: 'ok' }, 'a done'],
        [{ kind: 'refused', code: 'rejected' }, 'a refused transfer_failed'],
        [{ kind: 'unknown' }, 'a refused outcome_unknown'],
      ] as const) {
        const script = begin({ settings, echoMs: 20 }).opens().callerSays('Hm?').llmAnswers('Well then.');
        script.botPlays(100).tell(command('a'));
        assert.equal(script.transfers.length, 0);
        script.botFinishes();
        assert.equal(script.transfers[0]?.isNumber, true);
        script.carrierAnswers(outcome).ordered(answer);
      }
    },
  ),

  dialogue('outcome_unknown: the same command by the same id asks again, and nothing else does', (begin) => {
    const script = begin({ settings }).opens().tell(command('a')).carrierAnswers({ kind: 'unknown' });
    script.ordered('a refused outcome_unknown');
    script.tell(command('b')).ordered('b refused already_done');
    assert.equal(script.transfers.length, 1);
    script.tell(command('a')).carrierAnswers({ kind: 'ok' }).ordered('a done');
    const [first, second] = script.transfers;
    assert.deepEqual(second, { ...first, attempt: 2 });
  }),

  dialogue(
    'transfer, the command: `unsupported` without call control, and for warm where that is not enabled',
    (begin) => {
      begin({ settings: { tools } }).opens().tell(command('a')).ordered('a refused unsupported');
      const cold = begin({ settings: { ...settings, transfer: { settleMs: 8_000, warm: false } } }).opens();
      cold.tell(command('a', 'warm')).ordered('a refused unsupported');
      cold.tell(command('b')).carrierAnswers({ kind: 'ok' }).ordered('b done');
    },
  ),
];
