/** The pure machine alone: deadlines, and what holds whatever happens in whichever order. */
import { conversationMessage } from '../../../worker/transports/conversation-message.ts';
import { websocketDialect } from '../../../worker/transports/websocket/dialect.ts';
import { describe, expect, it } from 'vitest';
import { newPrng } from '../../../shared/base/prng.ts';
import { decodeClientMessage } from '../../../shared/protocol/call.ts';
import type { CallErrorCode, WsCallLimits } from '../../../shared/protocol/call.ts';
import { usualCallLimits } from '../../support/call-limits.ts';
import {
  audioFault,
  frameArrived,
  newWsCall,
  nextDeadline,
  resumedWsCall,
  savedWsCall,
} from '../../../worker/transports/socket/call-state.ts';
import type { WsCallState, WsEvent } from '../../../worker/transports/socket/call-state.ts';
import { step } from '../../../worker/transports/socket/call-machine.ts';

function newState(given: Partial<WsCallLimits> = {}): WsCallState {
  return newWsCall({ ...usualCallLimits, ...given, signedMetadata: {}, spareCallId: 'spare', openedAt: 0 });
}

const message = (value: unknown): WsEvent => ({
  type: 'message.received',
  message: decodeClientMessage(JSON.stringify(value)),
});

const start = message({ type: 'start', version: 1, sample_rate: 8000, encoding: 'mulaw' });

function openState(): WsCallState {
  const state = newState();
  step(state, start, 0);
  step(state, { type: 'call.accepted' }, 0);
  return state;
}

const isOver = (state: WsCallState): boolean => ['closing', 'closed'].includes(state.phase.name);

describe('deadlines', () => {
  it('are the start timeout, then pings and the ping timeout', () => {
    const state = newState();
    expect(nextDeadline(state)).toBe(5_000);
    step(state, start, 100);
    expect(nextDeadline(state)).toBe(10_000);
    frameArrived(state, 100);
    expect(step(state, { type: 'time.passed' }, 10_000)).toEqual([{ type: 'ping' }]);
    expect(step(state, { type: 'time.passed' }, 20_000)).toEqual([{ type: 'ping' }]);
    expect(step(state, { type: 'time.passed' }, 30_000)).toEqual([{ type: 'ping' }]);
    expect(nextDeadline(state)).toBe(30_100);
  });

  it('are one ping, not a burst, after the ticker was late', () => {
    const state = openState();
    frameArrived(state, 35_000);
    expect(step(state, { type: 'time.passed' }, 35_000)).toEqual([{ type: 'ping' }]);
    expect(nextDeadline(state)).toBe(45_000);
  });

  it('are the grace of the closing, then nothing', () => {
    const state = openState();
    step(state, { type: 'call.ended', reason: 'ended' }, 500);
    expect(nextDeadline(state)).toBe(2_500);
    expect(step(state, { type: 'time.passed' }, 2_499)).toEqual([]);
    expect(step(state, { type: 'time.passed' }, 2_500)).toEqual([{ type: 'terminate' }]);
    expect(step(state, { type: 'socket.closed' }, 2_501)).toEqual([]);
    expect(nextDeadline(state)).toBeUndefined();
  });

  it('include a backlog that does not move', () => {
    const state = openState();
    step(state, { type: 'output.backlogged', moved: false }, 100);
    step(state, { type: 'output.backlogged', moved: false }, 120);
    expect(nextDeadline(state)).toBe(5_100);
    step(state, { type: 'output.backlogged', moved: true }, 140);
    expect(nextDeadline(state)).toBe(5_140);
    step(state, { type: 'output.drained' }, 160);
    expect(nextDeadline(state)).toBe(10_000);
  });
});

describe('audioFault', () => {
  it('allows odd byte counts in mulaw only', () => {
    expect(audioFault(openState(), 161)).toBeUndefined();
    const state = newState();
    step(state, message({ type: 'start', version: 1, sample_rate: 8000 }), 0);
    expect(audioFault(state, 161)).toBe('bad_audio');
    expect(audioFault(state, 0)).toBeUndefined();
  });

  it('finds nothing wrong after the end', () => {
    const state = openState();
    step(state, { type: 'close.received' }, 0);
    expect(audioFault(state, 1_000_000)).toBeUndefined();
  });
});

describe('whatever happens', () => {
  const codes: readonly CallErrorCode[] = [
    'bad_audio',
    'frame_too_large',
    'audio_before_start',
    'invalid_json',
  ];
  const events = (pick: (codes: readonly CallErrorCode[]) => CallErrorCode): readonly WsEvent[] => [
    start,
    start,
    message({ type: 'start', version: 3 }),
    message({ type: 'dtmf', digit: '1' }),
    message({ type: 'dtmf', digit: 'Z' }),
    message({ type: 'mark', id: 'm' }),
    message({ type: 'stop' }),
    message({ type: 'new' }),
    message({ type: 'new' }),
    message(7),
    { type: 'frame.faulted', code: pick(codes) },
    { type: 'framing.broken' },
    { type: 'close.received' },
    { type: 'socket.closed' },
    { type: 'call.accepted' },
    { type: 'call.accepted' },
    { type: 'call.refused', code: 'server_busy' },
    { type: 'call.ended', reason: 'shutdown' },
    { type: 'call.failed' },
    { type: 'output.cleared', epoch: 1 },
    { type: 'output.marked', id: 'x'.repeat(257) },
    { type: 'output.mismatched' },
    { type: 'output.backlogged', moved: false },
    { type: 'output.drained' },
    { type: 'input.refused', moved: false },
    { type: 'input.overflowed' },
    { type: 'input.drained' },
    { type: 'time.passed' },
  ];

  it('the end is told exactly once and last, with at most one close before it and nothing sent after', () => {
    for (let seed = 0; seed < 3_000; seed += 1) {
      const prng = newPrng(seed);
      const state = newState();
      const seen: string[] = [];
      let now = 0;
      for (let count = 0; count < 40; count += 1) {
        now += prng.below(3_000);
        const event = prng.pick(events((all) => prng.pick(all)));
        seen.push(...step(state, event, now).map((action) => action.type));
      }
      seen.push(...step(state, { type: 'socket.closed' }, now).map((action) => action.type));
      const end = seen.indexOf('notify.ended');
      expect(seen.lastIndexOf('notify.ended'), `seed ${seed}`).toBe(end);
      expect(end, `seed ${seed}`).toBeGreaterThanOrEqual(0);
      expect(seen.slice(end + 1).every((type) => type === 'terminate')).toBe(true);
      expect(seen.filter((type) => type === 'close').length).toBeLessThanOrEqual(1);
      const paused = seen.filter((type) => type === 'reading.pause').length;
      const resumed = seen.filter((type) => type === 'reading.resume').length;
      expect(resumed - paused, `seed ${seed}`).toBe(paused > resumed ? -1 : 0);
      expect(seen.filter((type) => type === 'notify.started').length).toBeLessThanOrEqual(1);
    }
  });

  it('time never stands still: after the deadline was handled, the next one lies ahead', () => {
    for (let seed = 0; seed < 1_000; seed += 1) {
      const prng = newPrng(seed);
      const state = newState();
      let now = 0;
      for (let count = 0; count < 30; count += 1) {
        step(state, prng.pick(events((all) => prng.pick(all))), now);
        if (isOver(state)) break;
        now = Math.max(now, nextDeadline(state)!);
        step(state, { type: 'time.passed' }, now);
        if (!isOver(state)) expect(nextDeadline(state)!, `seed ${seed}`).toBeGreaterThan(now);
      }
    }
  });
});

const dialect = websocketDialect();

describe('a call that another worker served', () => {
  it('may send at once what came while nobody read', () => {
    const saved = newState();
    saved.allowance.credit = 0;
    const { settings } = saved;
    const { kind, json } = savedWsCall(saved, dialect);
    const again = { kind, json: JSON.parse(json) as unknown, shiftMs: 0 };
    expect(resumedWsCall(again, { settings, now: 5_000, dialect: dialect.kind }).allowance).toEqual({
      credit: 250,
      filledAt: 5_000,
    });
  });

  it('is one whose text was written by a transport of this kind and version', () => {
    const { json } = savedWsCall(newState(), dialect);
    const foreign = { kind: 'websocket 1', json: JSON.parse(json) as unknown, shiftMs: 0 };
    expect(() =>
      resumedWsCall(foreign, { settings: newState().settings, now: 0, dialect: dialect.kind }),
    ).toThrow('this dialect and version');
  });

  it('keeps metadata whatever its names are', () => {
    const state = newState();
    const metadata = { startBy: '5', pingAt: '7', $map: '[]' };
    const start = { callId: 'c', sampleRate: 8000, encoding: 'pcm16', metadata, events: [] } as const;
    state.phase = { name: 'open', start, rateReported: false };
    const { kind, json } = savedWsCall(state, dialect);
    const again = resumedWsCall(
      { kind, json: JSON.parse(json) as unknown, shiftMs: 900 },
      { settings: state.settings, now: 0, dialect: dialect.kind },
    );
    expect(again.phase).toEqual(state.phase);
    expect(again.pingAt).toBe(state.pingAt + 900);
  });
});

describe('bot.heard for a client that follows the conversation', () => {
  it('comes in parts, and the last one says what was heard in all and how the answer ended', () => {
    expect(conversationMessage({ type: 'bot.heard', epoch: 1, text: 'The' })).toEqual({
      ...{ type: 'bot.heard', epoch: 1, text: 'The' },
    });
    const end = { how: 'finished', complete: true, heard: 'The end.' } as const;
    expect(conversationMessage({ type: 'bot.heard', epoch: 1, text: ' end.', end })).toEqual({
      ...{ type: 'bot.heard', epoch: 1, text: ' end.' },
      ...{ heard: 'The end.', complete: true, ended: 'finished' },
    });
  });
});
