/** The tool machine alone: its rules one by one, then thousands of seeded calls with tools that misbehave. */
import { describe, expect, it } from 'vitest';
import { newPrng, type Prng } from '../../../shared/base/prng.ts';
import { resumeTools, takeAtSafePoint } from '../../../worker/core/tools/tools-cut.ts';
import { newToolState } from '../../../worker/core/tools/tools-state.ts';
import type {
  RequestedCall,
  ToolEnd,
  ToolEvent,
  ToolAction,
  ToolRule,
  ToolSettings,
  ToolState,
} from '../../../worker/core/tools/tools-state.ts';
import { nextToolDeadline, stepTools } from '../../../worker/core/tools/tools.ts';

const reading: ToolRule = {
  kind: 'read_only',
  timeoutMs: 5000,
  fillerAfterMs: 700,
  confirm: false,
  repeatable: false,
};
const acting: ToolRule = { ...reading, kind: 'side_effect' };
const rules: Readonly<Record<string, ToolRule>> = {
  look: reading,
  book: acting,
  ring: { ...acting, repeatable: true },
  pay: { ...acting, confirm: true },
};
const settings: ToolSettings = {
  maxRounds: 3,
  fillerAfterMs: 1_500,
  ruleOf: (name) => rules[name],
  validate: (_name, text) =>
    text === 'bad' ? { ok: false, rule: 'must be good' } : { ok: true, canonical: text },
};
const offered = Object.keys(rules);

function newBench(): {
  state: ToolState;
  send: (event: ToolEvent, atMs?: number) => ToolAction[];
  round: (
    calls: readonly RequestedCall[],
    more?: Partial<Extract<ToolEvent, { type: 'round.completed' }>>,
  ) => ToolAction[];
} {
  const state = newToolState('s1');
  let now = 0;
  const send = (event: ToolEvent, atMs = now): ToolAction[] => {
    now = atMs;
    return stepTools(state, event, { settings, now });
  };
  return {
    state,
    send,
    round: (calls, more) =>
      send({
        type: 'round.completed',
        epoch: 1,
        finish: 'tool_calls',
        offered,
        calls,
        ...more,
      }),
  };
}

const call = (name: string, id = 'c1', args = '{}'): RequestedCall => ({ id, name, arguments: args });
const result = (key: number, text = 'fine', attempt = 1): ToolEvent => ({
  type: 'tool.settled',
  key,
  attempt,
  outcome: { kind: 'result', text },
});
const broken = (key: number, transport: boolean, attempt = 1): ToolEvent => ({
  type: 'tool.settled',
  key,
  attempt,
  outcome: { kind: 'failed', message: 'no', transport },
});
const endOf = (name: string, id: string, end: ToolEnd): ToolAction => ({
  type: 'tool.ended',
  call: call(name, id),
  end,
});
const types = (orders: readonly ToolAction[]): string[] => orders.map((order) => order.type);
const texts = (orders: readonly ToolAction[]): string[] =>
  orders.flatMap((order) => ('pairs' in order ? order.pairs.map((pair) => pair.text) : []));

describe('a round of tool calls', () => {
  it('runs its calls at once and goes on when the last has its result', () => {
    const bench = newBench();
    expect(types(bench.round([call('look', 'a'), call('book', 'b')]))).toEqual(['tool.run', 'tool.run']);
    expect(bench.send(result(2))).toEqual([endOf('book', 'b', 'answered')]);
    const orders = bench.send(result(1, 'sunny'));
    expect(orders).toMatchObject([endOf('look', 'a', 'answered'), { type: 'round.next', withTools: true }]);
    expect(texts(orders)).toEqual(['sunny', 'fine']);
  });

  it.each([
    ['unknown_tool', [call('fly')], {}],
    ['unknown_tool', [call('look')], { offered: ['book'] }],
    ['invalid_arguments', [call('look', 'a', 'bad')], {}],
    ['arguments_cut', [call('book')], { finish: 'length' }],
  ] as const)('answers %s without running', (code, calls, more) => {
    const orders = newBench().round(calls, more);
    expect(types(orders)).toEqual(['round.next']);
    expect(texts(orders)[0]).toContain(`"code":"${code}"`);
  });

  it('never runs a call with effects twice for one id in a turn, and does so in a new turn', () => {
    const bench = newBench();
    bench.round([call('ring')]);
    bench.send(result(1));
    expect(texts(bench.round([call('ring')]))[0]).toContain('repeated_call_id');
    expect(types(bench.round([call('ring')], { epoch: 2 }))).toEqual(['tool.run']);
  });

  it('refuses an identical call of a later round once the first succeeded, unless it is repeatable', () => {
    const bench = newBench();
    bench.round([call('book', 'a'), call('book', 'b'), call('ring', 'c')]);
    [1, 2, 3].forEach((key) => bench.send(result(key)));
    const orders = bench.round([call('book', 'd'), call('ring', 'e')]);
    expect(types(orders)).toEqual(['tool.run']);
    expect(texts(bench.send(result(5)))[0]).toContain('already_done');
  });

  it('lets a call run again that failed for certain, and not one whose outcome is unknown', () => {
    const bench = newBench();
    bench.round([call('book', 'a')]);
    bench.send(broken(1, false));
    expect(types(bench.round([call('book', 'b')]))).toEqual(['tool.run']);
    expect(types(bench.send({ type: 'deadline.reached' }, 5000))).toEqual([
      'tool.abandon',
      'tool.ended',
      'round.next',
    ]);
    expect(texts(bench.round([call('book', 'c')]))[0]).toContain('outcome_unknown');
  });

  it('takes an effect whose answer was lost as unknown, unless nothing of it went out', () => {
    const bench = newBench();
    bench.round([call('book', 'a')]);
    const outcome = { kind: 'failed', message: 'no', transport: true, unsent: true } as const;
    bench.send({ type: 'tool.settled', key: 1, attempt: 1, outcome });
    expect(types(bench.round([call('book', 'b')]))).toEqual(['tool.run']);
    expect(texts(bench.send(broken(2, true)))[0]).toContain('outcome_unknown');
    expect(texts(bench.round([call('book', 'c')]))[0]).toContain('outcome_unknown');
  });

  it('tells the model what is known of an effect whose answer was lost', () => {
    const bench = newBench();
    bench.round([call('book', 'a')]);
    const known = 'the caller is parked, and recovery handle h-1 finds them';
    const outcome = { kind: 'failed', message: 'no', transport: true, known } as const;
    const [text] = texts(bench.send({ type: 'tool.settled', key: 1, attempt: 1, outcome }));
    expect(text).toContain(`"outcome_unknown","message":"${known}, so do not repeat it"`);
  });

  it('tries a reading tool once more when nothing answered', () => {
    const bench = newBench();
    bench.round([call('look')]);
    expect(bench.send(broken(1, true))).toEqual([]);
    expect(bench.send({ type: 'deadline.reached' }, 200)).toMatchObject([
      { type: 'tool.run', attempt: 2, timeoutMs: 4800 },
    ]);
    const orders = bench.send(broken(1, true, 2));
    expect(orders[0]).toEqual(endOf('look', 'c1', 'failed'));
    expect(texts(orders)[0]).toContain('tool_failed');
  });

  it('speaks one filler when the tools take long', () => {
    const bench = newBench();
    bench.round([call('look', 'a'), call('look', 'b')]);
    expect(types(bench.send({ type: 'deadline.reached' }, 700))).toEqual(['filler.speak']);
    expect(nextToolDeadline(bench.state)).toBe(5000);
  });

  it('offers no tools after the last round and answers calls all the same', () => {
    const bench = newBench();
    for (const id of ['a', 'b', 'c']) {
      bench.round([call('look', id)]);
      const next = bench.send(result(bench.state.nextKey - 1));
      expect(next.at(-1)).toMatchObject({ type: 'round.next', withTools: id !== 'c' });
    }
    expect(types(bench.round([call('look', 'd')]))).toEqual(['rounds.exhausted']);
  });
});

describe("the caller's word", () => {
  it('is asked for, and the call runs on a yes', () => {
    const bench = newBench();
    expect(types(bench.round([call('pay')]))).toEqual(['caller.ask']);
    bench.send({ type: 'question.heard', key: 1 });
    bench.send({ type: 'epoch.moved', epoch: 2 });
    expect(bench.send({ type: 'caller.answered', verdict: 'yes', epoch: 2 })).toMatchObject([
      { type: 'tool.run', epoch: 2 },
    ]);
    expect(bench.send(result(1)).at(-1)).toMatchObject({ type: 'round.next', epoch: 2 });
  });

  it.each([
    ['no', 'declined'],
    ['unclear', 'not_confirmed'],
  ] as const)('keeps the call from running on %s', (verdict, code) => {
    const bench = newBench();
    bench.round([call('pay')]);
    bench.send({ type: 'question.heard', key: 1 });
    const orders = bench.send({ type: 'caller.answered', verdict, epoch: 2 });
    expect(types(orders)).toEqual(['round.next']);
    expect(texts(orders)[0]).toContain(code);
  });

  it('does not count when the question was not heard', () => {
    const bench = newBench();
    bench.round([call('pay')]);
    bench.send({ type: 'epoch.moved', epoch: 2 });
    expect(bench.send({ type: 'caller.answered', verdict: 'yes', epoch: 2 })).toEqual([]);
    expect(takeAtSafePoint(bench.state).pairs[0]?.text).toContain('not_confirmed');
  });
});

describe('an interruption', () => {
  it('abandons reading, lets effects go on, and brings their outcome at a later safe point', () => {
    const bench = newBench();
    bench.round([call('look', 'a'), call('book', 'b')]);
    expect(bench.send({ type: 'epoch.moved', epoch: 2 })).toEqual([
      { type: 'tool.abandon', key: 1, reason: 'interrupted' },
      endOf('look', 'a', 'abandoned'),
    ]);
    const { pairs } = takeAtSafePoint(bench.state);
    expect(pairs.map((pair) => pair.call.id)).toEqual(['a', 'b']);
    expect(bench.send(result(2, 'booked'))).toEqual([
      endOf('book', 'b', 'answered'),
      { type: 'outcome.late' },
    ]);
    expect(takeAtSafePoint(bench.state).lateOutcomes).toEqual([{ call: call('book', 'b'), text: 'booked' }]);
  });
});

describe('the end of the call and another process', () => {
  it('tells every running tool', () => {
    const bench = newBench();
    bench.round([call('look', 'a'), call('book', 'b')]);
    expect(bench.send({ type: 'call.ended' })).toMatchObject([
      { type: 'tool.abandon', key: 1, reason: 'abandoned' },
      endOf('look', 'a', 'abandoned'),
      { type: 'tool.abandon', key: 2, reason: 'abandoned' },
      endOf('book', 'b', 'abandoned'),
    ]);
  });

  it('resumes from plain data: reads again, and calls an effect unknown', () => {
    const bench = newBench();
    bench.round([call('look', 'a'), call('book', 'b')]);
    const state = structuredClone(bench.state);
    const orders = resumeTools(state, { settings, now: 77 });
    expect(orders).toMatchObject([{ type: 'tool.run', key: 1, attempt: 2 }, endOf('book', 'b', 'failed')]);
    const after = stepTools(state, result(1, 'sunny', 2), { settings, now: 80 });
    expect(texts(after)[1]).toContain('outcome_unknown');
  });
});

/** One to three calls, some of them asked for before. */
function someCalls(prng: Prng, asked: readonly RequestedCall[], newId: () => string): RequestedCall[] {
  return Array.from({ length: 1 + prng.below(3) }, () =>
    asked.length > 0 && prng.chance(0.25)
      ? prng.pick(asked)
      : call(prng.pick([...offered, 'fly']), newId(), prng.pick(['{}', '{"a":1}', 'bad'])),
  );
}

/** One seeded call; the checks keep a model of their own from the events and orders alone. */
function simulate(seed: number): void {
  const prng = newPrng(seed);
  const state = newToolState('s1');
  const ran = new Map<string, number>();
  const running = new Map<number, { attempt: number; kind: string }>();
  const asked: RequestedCall[] = [];
  let [now, epoch, nextId, paired, promised, heardKey, open] = [0, 1, 0, 0, 0, 0, 0];
  const send = (event: ToolEvent): void => {
    for (const order of stepTools(state, event, { settings, now })) {
      if (order.type === 'tool.run') {
        if (order.attempt === 1) open += 1;
        const kind = rules[order.call.name]!.kind;
        running.set(order.key, { attempt: order.attempt, kind });
        if (kind === 'read_only') continue;
        const id = `${order.epoch}/${order.call.id}`;
        ran.set(id, (ran.get(id) ?? 0) + 1);
        expect(ran.get(id), `seed ${seed}: ${id} ran twice`).toBe(1);
      } else if (order.type === 'tool.abandon') running.delete(order.key);
      else if (order.type === 'tool.ended') open -= 1;
      else if (order.type === 'caller.ask') heardKey = order.key;
      else if ('pairs' in order) paired += order.pairs.length;
    }
  };
  for (let turn = 0; turn < 40; turn += 1) {
    now += prng.below(1500);
    const deadline = nextToolDeadline(state);
    if (deadline !== undefined && deadline <= now) send({ type: 'deadline.reached' });
    const pick = prng.below(10);
    if (pick < 3 && state.round === undefined) {
      const calls = someCalls(prng, asked, () => `c${nextId++}`);
      asked.push(...calls);
      promised += calls.length;
      const finish = prng.chance(0.1) ? 'length' : 'tool_calls';
      send({ type: 'round.completed', epoch, finish, offered, calls });
    } else if (pick < 6 && running.size > 0) {
      const key = prng.pick([...running.keys()]);
      const event = prng.chance(0.6)
        ? result(key, 'r', running.get(key)!.attempt)
        : broken(key, prng.chance(0.5), running.get(key)!.attempt);
      running.delete(key);
      send(event);
      if (prng.chance(0.3)) send(event);
    } else if (pick === 6) {
      epoch += 1;
      send({ type: 'epoch.moved', epoch });
      paired += takeAtSafePoint(state).pairs.length;
    } else if (pick === 8) send({ type: 'question.heard', key: heardKey });
    else if (pick === 9)
      send({ type: 'caller.answered', verdict: prng.pick(['yes', 'no', 'unclear'] as const), epoch });
  }
  epoch += 1;
  send({ type: 'epoch.moved', epoch });
  for (let due = nextToolDeadline(state); due !== undefined; due = nextToolDeadline(state)) {
    now = Math.max(now, due);
    send({ type: 'deadline.reached' });
  }
  paired += takeAtSafePoint(state).pairs.length;
  expect(paired, `seed ${seed}: every call has one result`).toBe(promised);
  send({ type: 'call.ended' });
  expect(nextToolDeadline(state)).toBeUndefined();
  expect(open, `seed ${seed}: every call that ran has one end`).toBe(0);
}

describe('tools that hang, fail, answer late, twice and repeat', () => {
  it('break no rule over 2,000 seeds', () => {
    for (let seed = 1; seed <= 2000; seed += 1) simulate(seed);
  });
});
