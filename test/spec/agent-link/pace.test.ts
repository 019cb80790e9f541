/**
 * How much an agent may send (docs/reference/agent-link.md, An agent that sends much): no more is taken in than lets other calls be on time, in
 * order, and nothing is lost.
 */
import { describe, expect, it } from 'vitest';
import { agentLinkErrors } from '../../../shared/agent-link/errors.ts';
import type { LinkAction } from '../../../worker/agent-link/link-state.ts';
import { commandsOf, kinds, LinkDriver, written } from '../../support/link-driver.ts';

/** What is taken in at once, and in a second. */
const [atOnce, perSecond] = [100, 50];

const ids = (orders: readonly LinkAction[]): string[] => commandsOf(orders).map(({ id }) => id);

/** Says so many lines at one moment. */
function flood(link: LinkDriver, count: number): LinkAction[] {
  const at = link.orders.length;
  for (let number = 1; number <= count; number += 1) link.says({ type: 'say', id: `s${number}`, text: 'a' });
  return link.orders.slice(at);
}

const expected = (from: number, to: number): string[] =>
  Array.from({ length: to - from + 1 }, (_, at) => `agent:s${from + at}`);

describe('An agent that sends much', () => {
  it('is not noticed within its allowance, however long the call is', () => {
    const link = new LinkDriver().accepted();
    for (let second = 1; second <= 60; second += 1) {
      link.at(second * 1_000);
      flood(link, perSecond);
    }
    expect(new Set(kinds(link.orders))).toEqual(new Set(['command', 'ping']));
  });

  it('is read more slowly beyond it, is told so once, and is done in order without loss', () => {
    const link = new LinkDriver().accepted();
    const orders = flood(link, 300);
    expect(ids(orders)).toEqual(expected(1, atOnce));
    expect(orders).toContainEqual({ type: 'read', isOn: false });
    expect(written(orders)).toMatchObject([
      { type: 'error', stage: 'agent_link', message: `too_fast: ${agentLinkErrors.too_fast}` },
    ]);
    expect(kinds(orders).filter((kind) => kind === 'slowed')).toHaveLength(1);
    expect(ids(link.at(1_000))).toEqual(expected(101, 150));
    expect(kinds(link.at(2_000))).not.toContain('read');
    link.at(5_000);
    expect(link.at(5_100)).toContainEqual({ type: 'read', isOn: true });
    expect(ids(link.orders)).toEqual(expected(1, 300));
    const again = flood(link, 400);
    expect(again).toContainEqual({ type: 'read', isOn: false });
    expect(kinds(again)).not.toContain('slowed');
    expect(written(again).filter(({ type }) => type === 'error')).toEqual([]);
  });

  it('is alive as long as what it sent is being done', () => {
    const link = new LinkDriver().accepted();
    flood(link, 3_000);
    for (let now = 20; now < 58_000; now += 20) link.at(now);
    expect(kinds(link.orders)).not.toContain('close');
    for (let now = 58_000; now < 95_000; now += 20) link.at(now);
    expect(kinds(link.orders)).toContain('gone');
  });

  it('has large messages and binary frames counted', () => {
    const large = new LinkDriver().accepted();
    for (let number = 0; number < 30; number += 1) large.says({ type: 'say', text: 'x'.repeat(60_000) });
    expect(kinds(large.orders)).toContain('read');
    const binary = new LinkDriver().accepted();
    for (let number = 0; number < atOnce + 1; number += 1) binary.give({ type: 'binary.received' });
    expect(kinds(binary.orders)).toContain('read');
    expect(
      written(binary.orders).filter(({ message }) => /^binary_frame/.test(String(message))),
    ).toHaveLength(atOnce);
  });

  it('has pings answered, and of too many the newest, after two seconds at most', () => {
    const link = new LinkDriver().accepted();
    const ping = (number: number): LinkAction[] =>
      link.give({ type: 'ping.received', data: Uint8Array.of(number % 256) });
    expect(ping(7)).toEqual([{ type: 'pong', data: Uint8Array.of(7) }]);
    for (let number = 1; number <= 5_000; number += 1) ping(number);
    const pongs = () => link.orders.filter(({ type }) => type === 'pong').length;
    expect(pongs()).toBe(atOnce);
    expect(kinds(link.orders)).toContain('read');
    const later = link.at(2_100);
    expect(later).toContainEqual({ type: 'pong', data: Uint8Array.of(5_000 % 256) });
    expect(later).toContainEqual({ type: 'read', isOn: true });
    expect(pongs()).toBe(atOnce + 1);
  });

  it('has what waited done while its link is away, and none of it when it is gone for good', () => {
    const away = new LinkDriver().accepted({ resume: true });
    flood(away, 150);
    away.give({ type: 'socket.closed', why: 'x' });
    expect(ids(away.at(500))).toEqual(expected(101, 125));
    const gone = new LinkDriver().accepted();
    flood(gone, 150);
    gone.give({ type: 'socket.closed', why: 'x' });
    expect(ids(gone.at(500))).toEqual([]);
  });
});
