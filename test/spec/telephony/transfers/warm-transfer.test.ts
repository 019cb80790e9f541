/** Each step of a warm transfer (docs/telephony.md, Warm transfers) on the pure machine, and what carriers tell late, early or never. */
import { describe, expect, it } from 'vitest';
import {
  acceptS,
  newSaga,
  ringS,
  stepSaga,
  type Saga,
  type SagaEvent,
  type SagaAction,
  type StepOutcome,
} from '../../../../supervisor/telephony/saga.ts';

const ok: StepOutcome = { kind: 'ok' };
const refused: StepOutcome = { kind: 'refused', code: 'rejected' };
const unknown: StepOutcome = { kind: 'unknown' };
const leg = 'leg-1';

/** One transfer, and the actions that nobody has looked at yet. */
class Transfer {
  readonly saga: Saga;
  #actions: SagaAction[];
  now = 0;

  constructor({ mayReturn = true }: { readonly mayReturn?: boolean } = {}) {
    const { saga, actions } = newSaga(
      {
        ...{ handle: 'h-1', carrier: 'carrier_a', callId: 'CA1', commandId: 'c-1' },
        ...{ summary: 'An invoice.', language: 'en', mayReturn },
      },
      0,
    );
    this.saga = saga;
    this.#actions = actions;
  }

  /** The actions since the last look. */
  get ordered(): string[] {
    return this.#actions
      .splice(0)
      .map((action) => (action.type === 'tell' ? `tell ${JSON.stringify(action.outcome)}` : action.type));
  }

  look(): void {
    this.#actions = [];
  }

  take(event: SagaEvent): string | undefined {
    const { actions, refusal } = stepSaga(this.saga, event, this.now);
    this.#actions.push(...actions);
    return refusal;
  }

  answered(outcome: StepOutcome): this {
    this.take({ type: 'step.done', step: this.saga.steps, outcome });
    return this;
  }

  facts(...types: ('leg.answered' | 'leg.machine' | 'leg.ended' | 'leg.joined')[]): this {
    for (const type of types) this.take({ type, leg });
    return this;
  }

  gone(): this {
    this.take({ type: 'caller.gone' });
    return this;
  }
}

const parked = (given = {}): Transfer => new Transfer(given).answered(ok);
const rung = (given = {}): Transfer => parked(given).answered({ kind: 'ok', id: leg });
const answered = (given = {}): Transfer => rung(given).facts('leg.answered');
function joining(): Transfer {
  const transfer = answered();
  transfer.take({ type: 'complete' });
  return transfer;
}
/** The actions that came before are seen. */
function fresh(transfer: Transfer): Transfer {
  transfer.look();
  return transfer;
}

describe('Warm transfer', () => {
  it('1 caller parked: nothing rings before the caller is on hold', () => {
    const transfer = new Transfer();
    expect(transfer.ordered).toEqual(['park']);
    expect(transfer.answered(ok).ordered).toEqual(['ring']);
  });

  it('2 agent leg dialled: it rings, and whoever asked is told that it was initiated', () => {
    const transfer = fresh(parked()).answered({ kind: 'ok', id: leg });
    expect([transfer.saga.phase, transfer.ordered]).toEqual(['rung', ['tell {"kind":"ok"}']]);
  });

  it('3 joined: complete_warm behind an answer by a person, and not before', () => {
    const transfer = fresh(rung());
    expect(transfer.take({ type: 'complete' })).toBe('not_answered');
    transfer.facts('leg.answered');
    expect(transfer.take({ type: 'complete' })).toBeUndefined();
    expect(transfer.ordered).toEqual(['join']);
    expect(transfer.answered(ok).saga.phase).toBe('joined');
  });

  it('3 joined: over once the destination has heard the summary and is in the conference', () => {
    const transfer = fresh(joining()).answered({ kind: 'ok', meets: true });
    expect([transfer.saga.phase, transfer.ordered]).toEqual(['meeting', []]);
    transfer.take({ type: 'leg.joined', leg: 'CA1' });
    expect(transfer.saga.phase).toBe('meeting');
    expect(transfer.facts('leg.joined').saga.phase).toBe('joined');
  });

  it('3 joined: a destination that hangs up over the summary brings the caller back', () => {
    const transfer = fresh(joining().answered({ kind: 'ok', meets: true })).facts('leg.ended');
    expect([transfer.saga.phase, transfer.ordered]).toEqual(['returning', ['put_back']]);
    const early = fresh(joining()).facts('leg.ended');
    expect(early.ordered).toEqual([]);
    expect(early.answered({ kind: 'ok', meets: true }).ordered).toEqual(['put_back']);
  });

  it('3 joined: where nobody tells whether the two have met an operator decides', () => {
    const transfer = fresh(joining().answered({ kind: 'ok', meets: true }));
    transfer.now = 90_000;
    transfer.take({ type: 'time.passed' });
    expect([transfer.saga.phase, transfer.ordered]).toEqual(['unsure', []]);
    expect(transfer.facts('leg.joined').saga.phase).toBe('joined');
  });

  it.each([
    ['no answer or declined', 'leg.ended', ['put_back']],
    ['voicemail', 'leg.machine', ['hang_up']],
  ] as const)('abort, %s', (_, type, actions) => {
    expect(fresh(rung()).facts(type).ordered).toEqual(actions);
  });

  it('abort, abort_warm: the leg is ended, then the caller is put back', () => {
    const transfer = fresh(answered());
    expect(transfer.take({ type: 'abort' })).toBeUndefined();
    expect(transfer.ordered).toEqual(['hang_up']);
    expect(transfer.answered(ok).ordered).toEqual(['put_back']);
    expect(transfer.answered(ok).saga.phase).toBe('back');
  });

  it('abort: left parked when there is no stream to resume', () => {
    const transfer = fresh(rung({ mayReturn: false })).facts('leg.ended');
    expect([transfer.saga.phase, transfer.ordered]).toEqual(['parked', []]);
  });

  it('step 2 fails definitively: the caller is put back, and whoever asked is told that nothing was made', () => {
    const transfer = fresh(parked()).answered(refused);
    const told = { kind: 'refused', code: 'rejected', left: { where: 'returning' } };
    expect(transfer.ordered).toEqual([`tell ${JSON.stringify(told)}`, 'put_back']);
  });

  it('step 2 fails definitively with no stream to resume: whoever asked is told that the caller is parked, and the handle', () => {
    const transfer = fresh(parked({ mayReturn: false })).answered(refused);
    const told = { kind: 'refused', code: 'rejected', left: { where: 'parked', handle: 'h-1' } };
    expect([transfer.saga.phase, transfer.ordered]).toEqual(['parked', [`tell ${JSON.stringify(told)}`]]);
  });

  it('step 2 outcome unknown: the caller is not resumed, and the recovery handle is told', () => {
    const transfer = fresh(parked()).answered(unknown);
    expect([transfer.saga.phase, transfer.ordered]).toEqual([
      'parked',
      ['tell {"kind":"unknown","handle":"h-1"}'],
    ]);
    expect(transfer.take({ type: 'abort' })).toBeUndefined();
    expect(transfer.ordered).toEqual(['put_back']);
  });

  it('step 1 failed, its outcome unknown: the same, and nothing rings', () => {
    const transfer = fresh(new Transfer()).answered(unknown);
    expect([transfer.saga.phase, transfer.ordered]).toEqual([
      'parked',
      ['tell {"kind":"unknown","handle":"h-1"}'],
    ]);
  });

  it('step 1 failed definitively: the caller has never left the bot', () => {
    const transfer = fresh(new Transfer()).answered(refused);
    expect([transfer.saga.phase, transfer.ordered]).toEqual([
      'refused',
      ['tell {"kind":"refused","code":"rejected"}'],
    ]);
  });

  it('accept window: 120 s from the answer, then the leg is ended and the caller put back', () => {
    const transfer = fresh(rung());
    transfer.now = ringS * 1000;
    transfer.facts('leg.answered');
    transfer.now += acceptS * 1000 - 1;
    transfer.take({ type: 'time.passed' });
    expect([acceptS, transfer.ordered]).toEqual([120, []]);
    transfer.now += 1;
    transfer.take({ type: 'time.passed' });
    expect(transfer.ordered).toEqual(['hang_up']);
  });
});

describe('what is told out of order', () => {
  it('an answer by a person, before that to the request, counts', () => {
    const transfer = fresh(parked()).facts('leg.answered');
    expect([transfer.saga.phase, transfer.ordered]).toEqual(['answered', ['tell {"kind":"ok"}']]);
    transfer.take({ type: 'complete' });
    transfer.take({ type: 'step.done', step: 2, outcome: { kind: 'ok', id: leg } });
    expect([transfer.saga.phase, transfer.ordered]).toEqual(['joining', ['join']]);
  });

  it('a caller who hangs up while it is dialled: the leg is ended as soon as it has a name', () => {
    const late = fresh(parked()).gone();
    expect([late.saga.phase, late.ordered]).toEqual([
      'leaving',
      ['tell {"kind":"refused","code":"rejected"}'],
    ]);
    expect(late.answered({ kind: 'ok', id: leg }).ordered).toEqual(['hang_up']);
    expect(late.saga.phase).toBe('gone');
    expect(fresh(parked().gone()).facts('leg.answered').ordered).toEqual(['hang_up']);
    expect(fresh(parked()).gone().answered(refused).saga.phase).toBe('gone');
  });

  it('a leg that is over is not taken for a new one when its answer is told again', () => {
    const transfer = fresh(joining()).facts('leg.ended', 'leg.answered');
    expect(transfer.answered({ kind: 'ok', meets: true }).ordered).toEqual(['put_back']);
  });

  it('a caller who hangs up ends the leg, at whichever step', () => {
    for (const transfer of [rung(), answered(), joining(), joining().answered({ kind: 'ok', meets: true })])
      expect([fresh(transfer).gone().ordered, transfer.saga.phase]).toEqual([['hang_up'], 'gone']);
  });
});
