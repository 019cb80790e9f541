import { describe, expect, it } from 'vitest';
import {
  type CallEvent,
  type CallOrder,
  type CallPhase,
  type CallOutcome,
  stepCall,
} from '../../../web/client/call-machine.ts';
import type { ServerMessage } from '../../../web/client/wire.ts';
import { problemOf } from '../../../web/words.ts';

function run(events: readonly CallEvent[], from: CallPhase = { name: 'idle' }) {
  let phase = from;
  const orders: CallOrder[] = [];
  for (const event of events) {
    const step = stepCall(phase, event);
    phase = step.phase;
    orders.push(...step.orders);
  }
  return { phase, orders, sent: orders.flatMap((order) => (order.type === 'send' ? [order.message] : [])) };
}

const said = (message: ServerMessage): CallEvent => ({ type: 'message-received', message });
const started = said({ type: 'started', callId: 'c', sampleRate: 16_000, encoding: 'pcm16' });
const toConnecting: CallEvent[] = [{ type: 'call-asked' }, { type: 'microphone-ready', sampleRate: 16_000 }];
const toStarting: CallEvent[] = [...toConnecting, { type: 'socket-opened' }];
const open = run([...toStarting, started]).phase;
const closed = (code: number): CallEvent => ({ type: 'socket-closed', code });
const known = (kind: 'busy' | 'unauthorised'): CallEvent => ({ type: 'refusal-known', outcome: { kind } });
const asking = run([...toConnecting, closed(1006)]).phase;
const mark = (id: string): CallEvent => said({ type: 'mark', id });
const played = (id: string): CallEvent => ({ type: 'mark-played', id });
const fatal = (code: string): CallEvent => said({ type: 'error', code, message: 'why', fatal: true });

describe('the call of the page', () => {
  it('asks for the microphone before it connects, and starts at the rate of the microphone', () => {
    const { phase, orders, sent } = run([...toStarting, started]);
    expect(orders.filter(({ type }) => type.startsWith('open')).map(({ type }) => type)).toEqual([
      'open-microphone',
      'open-socket',
    ]);
    expect(sent).toEqual([{ type: 'start', version: 1, sample_rate: 16_000, encoding: 'pcm16' }]);
    expect(phase).toEqual({ name: 'open', sampleRate: 16_000, marks: [] });
    expect(orders.at(-1)).toEqual({ type: 'arm-timer', afterMs: undefined });
  });

  it('asks why when the upgrade is refused, once', () => {
    expect(run([...toConnecting, closed(1006), closed(1006)]).orders.at(-1)).toEqual({ type: 'ask-why' });
  });

  it('echoes a mark once, when it was played', () => {
    const { sent, orders } = run([mark('a'), mark('b'), played('a'), played('a'), played('b')], open);
    expect(orders.filter(({ type }) => type === 'play-mark')).toHaveLength(2);
    expect(sent).toEqual([
      { type: 'mark', id: 'a' },
      { type: 'mark', id: 'b' },
    ]);
  });

  it('never echoes a mark that was cut, even when the playout reports it late', () => {
    const { sent, orders } = run([mark('a'), said({ type: 'clear', epoch: 2 }), played('a')], open);
    expect(orders).toContainEqual({ type: 'clear-playout' });
    expect(sent).toEqual([]);
  });

  it('keeps the number of pending marks bounded', () => {
    const { phase } = run(
      Array.from({ length: 3_000 }, (_, index) => mark(`m${index}`)),
      open,
    );
    expect(phase.name === 'open' && phase.marks.length).toBe(1_000);
  });

  it('goes on after an error that is not fatal and after a message of an unknown type', () => {
    const notice = said({ type: 'error', code: 'output_rate_mismatch', message: '', fatal: false });
    expect(run([notice, said({ type: 'unknown', name: 'news' })], open).phase).toEqual(open);
  });

  it('sends keys only while the call is open', () => {
    const key: CallEvent = { type: 'key-pressed', digit: '5' };
    expect(run([key], open).sent).toEqual([{ type: 'dtmf', digit: '5' }]);
    expect(run([...toConnecting, key]).sent).toEqual([]);
  });

  it('hangs up with stop, silences the agent at once and waits for the answer', () => {
    const { phase, orders, sent } = run([{ type: 'hang-up-asked' }], open);
    expect(phase.name).toBe('ending');
    expect(sent).toEqual([{ type: 'stop' }]);
    expect(orders).toContainEqual({ type: 'clear-playout' });
  });

  it('can be called again after it ended', () => {
    expect(run([closed(1006), { type: 'call-asked' }], open).phase.name).toBe('preparing');
  });

  const outcomes: [string, CallPhase, CallEvent[], CallOutcome['kind'], boolean][] = [
    [
      'the caller hung up and the server agrees',
      open,
      [{ type: 'hang-up-asked' }, said({ type: 'stop', reason: 'ended' })],
      'hung-up',
      false,
    ],
    [
      'the caller hung up and the server says nothing',
      open,
      [{ type: 'hang-up-asked' }, { type: 'time-ran-out' }],
      'hung-up',
      false,
    ],
    [
      'the caller cancels while connecting',
      run(toConnecting).phase,
      [{ type: 'hang-up-asked' }],
      'hung-up',
      false,
    ],
    ['the agent hangs up', open, [said({ type: 'stop', reason: 'ended' })], 'agent-ended', true],
    ['the server shuts down', open, [said({ type: 'stop', reason: 'shutdown' })], 'shutdown', false],
    ['the socket closes with 1001', open, [closed(1001)], 'shutdown', false],
    ['the socket closes with 1013', open, [closed(1013)], 'busy', false],
    ['the socket breaks', open, [closed(1006)], 'connection-lost', false],
    [
      'the upgrade is refused',
      run(toConnecting).phase,
      [closed(1006), known('unauthorised')],
      'unauthorised',
      false,
    ],
    [
      'the caller cancels while why is asked',
      asking,
      [{ type: 'hang-up-asked' }, known('busy')],
      'hung-up',
      false,
    ],
    ['nobody says why', asking, [{ type: 'time-ran-out' }, known('busy')], 'down', false],
    ['the upgrade is not answered', run(toConnecting).phase, [{ type: 'time-ran-out' }], 'down', false],
    [
      'there is no token',
      run(toConnecting).phase,
      [{ type: 'preparation-failed', outcome: { kind: 'no-token' } }],
      'no-token',
      false,
    ],
    [
      'the worklets cannot be fetched',
      { name: 'preparing' },
      [{ type: 'preparation-failed', outcome: { kind: 'down' } }],
      'down',
      false,
    ],
    ['nothing leaves any more', open, [{ type: 'network-stuck' }], 'connection-lost', false],
    [
      'the server does not answer start',
      run(toStarting).phase,
      [{ type: 'time-ran-out' }],
      'silent-server',
      false,
    ],
    ['the engine takes no calls', run(toStarting).phase, [fatal('server_busy')], 'busy', false],
    ['the engine is overloaded', open, [fatal('overloaded')], 'busy', false],
    ['the server finds a fault', open, [fatal('bad_audio')], 'fault', false],
    [
      'the microphone is refused',
      { name: 'preparing' },
      [{ type: 'microphone-failed', problem: 'refused' }],
      'microphone',
      false,
    ],
    [
      'the microphone is unplugged',
      open,
      [{ type: 'microphone-failed', problem: 'missing' }],
      'microphone',
      false,
    ],
  ];

  it.each(outcomes)('ends once when %s', (_name, from, events, kind, letPlay) => {
    const everything = [...events, closed(1000), closed(1006), started, { type: 'time-ran-out' } as const];
    const { phase, orders } = run(everything, from);
    expect(phase.name === 'ended' && phase.outcome.kind).toBe(kind);
    expect(orders.filter(({ type }) => type === 'release')).toEqual([{ type: 'release', letPlay }]);
    expect(orders.findLast(({ type }) => type === 'arm-timer')).toEqual({
      type: 'arm-timer',
      afterMs: undefined,
    });
    const problem = phase.name === 'ended' ? problemOf(phase.outcome) : undefined;
    expect(problem === undefined).toBe(kind === 'hung-up' || kind === 'agent-ended');
    if (problem !== undefined) expect(problem.advice).toMatch(/[.]$/);
  });
});
