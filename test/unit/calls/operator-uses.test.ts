/** What operators do in a call, as its record has it. */
import { describe, expect, it } from 'vitest';
import type { CallFact } from '../../../shared/calls/facts.ts';
import { CallFold } from '../../../shared/calls/fold.ts';
import type { MonitorUse } from '../../../shared/monitor/messages.ts';
import { OperatorUses } from '../../../worker/calls/operator-uses.ts';

const head: CallFact = {
  ...{ t: 'call', v: 1, at: 0, id: 'r', call: 'c', session: 's', agent: 'a' },
  ...{ direction: 'inbound', transport: 'websocket', token: {}, client: {}, started: 0 },
};

/** The record's operators after what workers were told, and the end of the call. */
function operatorsOf(...workers: readonly ((uses: Uses) => void)[]) {
  const fold = new CallFold();
  fold.take(head);
  for (const told of workers) told(new Uses(fold));
  fold.take({ t: 'end', at: 9_000, code: 'caller_hung_up' });
  return fold.record()?.operators;
}

class Uses {
  readonly #fold: CallFold;
  readonly #uses = new OperatorUses();

  constructor(fold: CallFold) {
    this.#fold = fold;
  }

  used(what: MonitorUse['what'], at: number, connection = 'x', by = ''): this {
    return this.#take(this.#uses.used({ what, role: 'take_over', by, connection }, at), at);
  }

  handedBack(at: number): this {
    return this.#take(this.#uses.handedBack(at), at);
  }

  #take(facts: readonly object[], at: number): this {
    for (const fact of facts) this.#fold.take({ ...fact, at } as CallFact);
    return this;
  }
}

describe('operators in the record of a call', () => {
  it('stand in it with each thing they did, from when to when', () => {
    const operators = operatorsOf((uses) =>
      uses
        .used('listens', 1_000, 'x', 'Maria')
        .used('whispers', 2_000, 'x', 'Maria')
        .used('asks for the call', 2_500, 'x', 'Maria')
        .used('takes over', 3_000, 'x', 'Maria')
        .used('hands back', 4_000, 'x', 'Maria')
        .handedBack(4_000)
        .used('takes over', 5_000, 'x', 'Maria')
        .used('leaves', 6_000, 'x', 'Maria'),
    );
    expect(operators).toEqual([
      { at_ms: 1_000, until_ms: 6_000, role: 'listen', name: 'Maria' },
      { at_ms: 2_000, role: 'whisper', name: 'Maria' },
      { at_ms: 3_000, until_ms: 4_000, role: 'take_over', name: 'Maria' },
      { at_ms: 5_000, until_ms: 6_000, role: 'take_over', name: 'Maria' },
    ]);
  });

  it('are told apart, and one who leaves ends nothing of another', () => {
    const operators = operatorsOf((uses) =>
      uses
        .used('listens', 1)
        .used('listens', 2, 'y')
        .used('takes over', 3, 'y')
        .used('leaves', 4)
        .handedBack(5),
    );
    expect(operators).toEqual([
      { at_ms: 1, until_ms: 4, role: 'listen' },
      { at_ms: 2, role: 'listen' },
      { at_ms: 3, until_ms: 5, role: 'take_over' },
    ]);
  });

  it('have no end where their worker died, and begin again in the next one', () => {
    const operators = operatorsOf(
      (uses) => uses.used('listens', 1).used('takes over', 2),
      (uses) => uses.used('listens', 5, 'y').used('takes over', 6, 'y').used('leaves', 7, 'y'),
    );
    expect(operators).toEqual([
      { at_ms: 1, role: 'listen' },
      { at_ms: 2, role: 'take_over' },
      { at_ms: 5, until_ms: 7, role: 'listen' },
      { at_ms: 6, until_ms: 7, role: 'take_over' },
    ]);
  });
});
