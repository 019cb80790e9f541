/**
 * Calls of three hours in virtual time, over the limit of every vendor: no word of the caller is lost, the model answers each question, and the
 * session that is asked holds all that was said and heard.
 */
import { expect, it } from 'vitest';
import type { RealtimeCaps } from '../../worker/stages/realtime/contract.ts';
import { everyNth, tries } from '../support/sampled.ts';
import { SimulatedCall, type VendorLimits } from './realtime-call.ts';

const minute = 60_000;
const hours = 3 * 60 * minute;

const openai: RealtimeCaps = {
  truncates: true,
  removes: true,
  answersTurns: false,
  answersTools: false,
  updates: true,
  cancels: true,
};
const gemini: RealtimeCaps = { ...openai, truncates: false, removes: false, cancels: false };

const vendors: readonly (readonly [string, VendorLimits])[] = [
  ['OpenAI, 60 minutes', { sessionMs: 60 * minute, told: 'ready', hasHandles: false, caps: openai }],
  [
    'OpenAI of before, 15 minutes',
    { sessionMs: 15 * minute, told: 'ready', hasHandles: false, caps: openai },
  ],
  ['Gemini, 10 minutes', { sessionMs: 10 * minute, told: 50_000, hasHandles: true, caps: gemini }],
  ['Gemini without handles', { sessionMs: 10 * minute, told: 50_000, hasHandles: false, caps: gemini }],
  ['Nova Sonic, 8 minutes', { sessionMs: 8 * minute, told: 'ready', hasHandles: false, caps: gemini }],
  ['a server that says nothing', { sessionMs: 5 * minute, told: 'never', hasHandles: false, caps: openai }],
  ['the same, with handles', { sessionMs: 5 * minute, told: 'never', hasHandles: true, caps: gemini }],
];

function talk(seed: number, limits: VendorLimits): SimulatedCall {
  const call = new SimulatedCall(seed, limits);
  while (call.clock.now() < hours) {
    call.speak();
    call.ask();
    call.disturb();
  }
  return call;
}

// A build tries every second vendor.
it.each(everyNth(vendors, 2, 0))('%s: three hours lose no word', (_name, limits) => {
  for (let seed = 1; seed <= tries(5, 1); seed += 1) {
    const call = talk(seed, limits);
    const { history, vendor, fellBack, questions } = call;
    expect(vendor.sessions.length).toBeGreaterThan(hours / limits.sessionMs);
    expect(questions).toBeGreaterThan(300);
    expect(fellBack).toBe(0);
    const said = history.flatMap(({ role, text }) => (role === 'user' ? text.split(' ') : []));
    const last = vendor.sessions.findLast(({ isClosed }) => !isClosed);
    const held = last?.entries.flatMap(({ role, text }) => (role === 'user' ? text.split(' ') : []));
    expect(held).toEqual(said);
    // Where the vendor says when, no session is in use when its limit comes.
    if (limits.told === 'ready') expect(vendor.ended).toBe(0);
    else if (limits.told === 'never') expect(vendor.ended).toBeGreaterThan(10);
    if (limits.hasHandles) expect(vendor.resumed).toBeGreaterThan(5);
  }
});
