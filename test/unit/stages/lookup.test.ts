/** Names of providers: asked once for all calls, and not waited for longer than makes sense. */
import type { LookupAddress } from 'node:dns';
import { describe, expect, it } from 'vitest';
import { connectionError } from '../../../worker/stages/connect.ts';
import { newLookup } from '../../../worker/stages/lookup.ts';
import { newVirtualClock } from '../../support/core/virtual-clock.ts';

const found: LookupAddress[] = [{ address: '192.0.2.1', family: 4 }];

function newSetup() {
  const clock = newVirtualClock();
  const asked: { name: string; answer: (error: Error | null, found?: LookupAddress[]) => void }[] = [];
  const lookup = newLookup({ clock, ask: (name, _options, answer) => asked.push({ name, answer }) });
  const told: string[] = [];
  const find = (name = 'a.example'): void =>
    lookup(name, {}, (error, address) =>
      told.push(error?.code ?? (typeof address === 'string' ? address : 'many')),
    );
  return { clock, asked, told, find, lookup };
}

describe('names', () => {
  it('are asked for once, however many calls want them', () => {
    const { asked, told, find, clock } = newSetup();
    for (let call = 0; call < 256; call += 1) find();
    expect(asked.length).toBe(1);
    asked[0]!.answer(null, found);
    expect(told).toEqual(Array.from({ length: 256 }, () => '192.0.2.1'));
    find();
    clock.advance(0);
    expect([asked.length, told.length, clock.pending]).toEqual([1, 257, 0]);
  });

  it('are given up after two seconds, and the resolver that hangs is not asked again meanwhile', () => {
    const { asked, told, find, clock } = newSetup();
    find();
    clock.advance(1_999);
    find();
    expect(told).toEqual([]);
    clock.advance(1);
    expect(told).toEqual(['EDNSTIMEOUT']);
    clock.advance(1_999);
    expect([asked.length, told.length]).toEqual([1, 2]);
    asked[0]!.answer(null, found);
    find();
    clock.advance(0);
    expect(told.at(-1)).toBe('192.0.2.1');
  });

  it('keep their old address for an hour, when the resolver fails or is slow', () => {
    const { asked, told, find, clock } = newSetup();
    find();
    asked[0]!.answer(null, found);
    clock.advance(30_000);
    find();
    clock.advance(300);
    expect([asked.length, told]).toEqual([2, ['192.0.2.1', '192.0.2.1']]);
    asked[1]!.answer(Object.assign(new Error('no'), { code: 'EAI_AGAIN' }));
    find();
    asked[2]!.answer(Object.assign(new Error('no'), { code: 'EAI_AGAIN' }));
    expect(told.at(-1)).toBe('192.0.2.1');
    clock.advance(3_600_000);
    find();
    asked[3]!.answer(Object.assign(new Error('no'), { code: 'EAI_AGAIN' }));
    expect(told.at(-1)).toBe('EAI_AGAIN');
  });

  it('are kept for 64 hosts', () => {
    const { asked, find } = newSetup();
    for (let host = 0; host < 65; host += 1) {
      find(`h${host}`);
      asked.at(-1)!.answer(null, found);
    }
    find('h64');
    expect(asked.length).toBe(65);
    find('h0');
    expect(asked.length).toBe(66);
  });

  it('that are not answered in time are a timeout, other failures a lost connection', () => {
    expect(connectionError(Object.assign(new Error(), { code: 'EDNSTIMEOUT' }))).toEqual({
      kind: 'timeout',
      what: 'name lookup',
    });
    expect(connectionError(Object.assign(new Error(), { code: 'ECONNREFUSED' }))).toEqual({
      kind: 'disconnected',
    });
  });
});
