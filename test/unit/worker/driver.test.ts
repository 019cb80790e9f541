/** The loop that drives a call's core, with a core that says what it was told. */
import { describe, expect, it } from 'vitest';
import { CallDriver, type DrivenCore, type DriverPorts } from '../../../worker/call/driver.ts';
import type { CallAction } from '../../../worker/core/actions.ts';
import type { CallEvent } from '../../../worker/core/events.ts';
import type { CallState } from '../../../worker/core/state.ts';

/** A fact that can be told from others: the order that comes of it bears its number. */
const fact = (round: number): CallEvent => ({ type: 'llm.text', round, text: '' });
const order = (ask: number): CallAction => ({ type: 'turn.judge', ask });
const numberOf = (one: CallEvent | CallAction): number =>
  one.type === 'llm.text' ? one.round : one.type === 'turn.judge' ? one.ask : 0;
const note: CallAction = { type: 'told', event: { type: 'turn.bot_ended', epoch: 1 } };

/** Each fact gives these orders, by its number; others give none. The driver's steps are written into `log`. */
function driven(orders: Readonly<Record<number, readonly CallAction[]>>, ports: Partial<DriverPorts> = {}) {
  const log: string[] = [];
  let now = 0;
  const core: DrivenCore = {
    step: (_, event) => {
      log.push(`step ${numberOf(event)}`);
      return [...(orders[numberOf(event)] ?? [])];
    },
    nextDeadline: () => 1_000 + log.length,
  };
  const driver: CallDriver = new CallDriver(
    {} as CallState,
    {
      now: () => (now += 10),
      taking: (event) => log.push(`take ${numberOf(event)}`),
      stepped: (event, given, at) => log.push(`${numberOf(event)} gave ${given.length} at ${at}`),
      ...ports,
      perform: (one) => {
        log.push(`perform ${numberOf(one)}`);
        ports.perform?.(one);
      },
    },
    core,
  );
  return { driver, log };
}

describe('the driver of a call', () => {
  it('takes a fact, tells of its orders before any is performed, and performs them in order', () => {
    const { driver, log } = driven({ 1: [order(11), order(12)] });
    expect([driver.deadline, driver.tell(fact(1)), driver.tell(fact(2))]).toEqual([
      undefined,
      'acted',
      'noted',
    ]);
    expect(log).toEqual([
      ...['take 1', 'step 1', '1 gave 2 at 10', 'perform 11', 'perform 12'],
      ...['take 2', 'step 2', '2 gave 0 at 20'],
    ]);
    expect(driver.deadline).toBe(1_000 + log.length);
  });

  it('lets a fact that comes while another is handled wait, until all orders of that one are performed', () => {
    const answers: string[] = [];
    const { driver, log } = driven(
      { 1: [order(11), order(12)], 2: [order(21)] },
      {
        perform: (one) => {
          if (numberOf(one) !== 11) return;
          answers.push(driver.tell(fact(2)), driver.tell(fact(3)));
          expect(log.at(-1)).toBe('perform 11');
        },
      },
    );
    expect(driver.tell(fact(1))).toBe('acted');
    expect(answers).toEqual(['waits', 'waits']);
    expect(log.filter((line) => /step|perform/.test(line))).toEqual([
      ...['step 1', 'perform 11', 'perform 12', 'step 2', 'perform 21', 'step 3'],
    ]);
  });

  it('says that only something was told, unless a fact that waited gave orders', () => {
    const { driver } = driven(
      { 1: [note], 2: [note], 3: [order(31)] },
      {
        taking: (event) => {
          if (numberOf(event) === 2) driver.tell(fact(3));
        },
      },
    );
    expect([driver.tell(fact(1)), driver.tell(fact(2))]).toEqual(['noted', 'acted']);
  });

  it('closed in the middle of orders performs no further one, takes none that waits, and wants no time', () => {
    const { driver, log } = driven(
      { 1: [order(11), order(12)], 2: [order(21)] },
      {
        perform: () => {
          driver.tell(fact(2));
          driver.close();
        },
      },
    );
    driver.tell(fact(4));
    expect(driver.deadline).toBeDefined();
    expect(driver.tell(fact(1))).toBe('acted');
    expect([driver.tell(fact(3)), driver.deadline]).toEqual(['noted', undefined]);
    expect(log.filter((line) => /step|perform/.test(line))).toEqual(['step 4', 'step 1', 'perform 11']);
  });

  it('takes 256 facts that wait and no more, and can be told again afterwards', () => {
    let told = 0;
    const { driver } = driven(
      { 1: [order(11)] },
      {
        perform: () => {
          for (; told < 300; told += 1) driver.tell(fact(2));
        },
      },
    );
    expect(() => driver.tell(fact(1))).toThrow('more facts wait');
    expect(told).toBe(256);
  });

  it('is free again after an order that could not be performed', () => {
    let fails = true;
    const { driver, log } = driven(
      { 1: [order(11)] },
      {
        perform: () => {
          if (fails) throw new Error('broken');
        },
      },
    );
    expect(() => driver.tell(fact(1))).toThrow('broken');
    fails = false;
    expect(driver.tell(fact(1))).toBe('acted');
    expect(log.filter((line) => line.startsWith('perform'))).toHaveLength(2);
  });
});
