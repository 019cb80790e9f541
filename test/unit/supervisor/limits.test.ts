/** Bounded tables that refuse or forget when they are full, and that each of them is counted. */
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { newSupervisorMetrics } from '../../../shared/runtime/metrics.ts';
import { Hosts } from '../../../supervisor/fleet/hosts.ts';
import { CallsAway } from '../../../supervisor/telephony/away.ts';
import { CommandBook } from '../../../supervisor/telephony/commands.ts';
import { SignalingTakeover } from '../../../supervisor/webrtc/takeover.ts';
import type { Exchange } from '../../../supervisor/webrtc/exchange.ts';
import { newVirtualClock } from '../../support/core/virtual-clock.ts';

/** Counts what was told. */
function counting(): { readonly note: () => void; readonly count: () => number } {
  let count = 0;
  return { note: () => void (count += 1), count: () => count };
}

it('every limit is there from the start, and has a row in the documentation', async () => {
  const page = readFileSync(new URL('../../../docs/observability.md', import.meta.url), 'utf8');
  const rows = [...page.matchAll(/^\| `([a-z_]+)` \| (?:an?|other|during) /gmu)].map(([, name]) => name);
  const { values } = await newSupervisorMetrics().limits.get();
  expect(values.map(({ labels }) => labels.limit)).toEqual(rows);
  expect(new Set(values.map(({ value }) => value))).toEqual(new Set([0]));
});

it('commands to a carrier that are refused', () => {
  const { note, count } = counting();
  const book = new CommandBook({ full: note });
  const told: unknown[] = [];
  for (let id = 0; id < 8_192 + 2; id += 1)
    book.take(
      { id: String(id), attempt: 1 },
      (outcome) => told.push(outcome),
      () => new Promise(() => undefined),
    );
  expect([count(), told]).toEqual([2, Array(2).fill({ kind: 'refused', code: 'unavailable' })]);
});

it('calls that are away and forgotten', () => {
  const { note, count } = counting();
  const away = new CallsAway({ forgotten: note });
  for (let call = 0; call < 4_096; call += 1) away.leaves(String(call));
  expect([count(), away.isAway('0')]).toEqual([0, true]);
  away.leaves('one more');
  expect([count(), away.isAway('0')]).toEqual([1, false]);
});

it('questions that other hosts are not asked', async () => {
  const { note, count } = counting();
  const line = { ask: () => Promise.resolve({ ok: true, value: 1 }), hear: () => undefined };
  const hosts = new Hosts({
    line: line as unknown as ConstructorParameters<typeof Hosts>[0]['line'],
    clock: newVirtualClock(),
    wallClock: { now: () => 0 },
    log: { warn: () => undefined },
  });
  hosts.answerWith(() => undefined, { full: note });
  for (let question = 0; question < 4_096; question += 1) void hosts.ask('another', question);
  expect(count()).toBe(0);
  expect(await hosts.ask('another', 'one more')).toBeUndefined();
  expect(count()).toBe(1);
});

it('requests for a call of the supervisor before this one', async () => {
  const { note, count } = counting();
  const takeover = new SignalingTakeover({ full: note });
  takeover.follow(() => undefined);
  takeover.predecessorSaid({ type: 'webrtc.begin' });
  const answered: number[] = [];
  const exchange: Exchange = {
    method: 'DELETE',
    head: { url: '/whip/x', headers: {} },
    peer: '192.0.2.1',
    text: () => Promise.resolve(''),
    isGone: () => false,
    onGone: () => undefined,
    send: ({ status }) => void answered.push(status),
  };
  for (let request = 0; request < 4_096; request += 1) await takeover.ask(exchange, 'x');
  expect([count(), answered]).toEqual([0, []]);
  await takeover.ask(exchange, 'x');
  expect([count(), answered]).toEqual([1, [503]]);
});
