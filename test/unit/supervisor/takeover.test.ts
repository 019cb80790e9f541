/** What two supervisors say to each other is read strictly, and only a child of a supervisor may take over. */
import { describe, expect, it } from 'vitest';
import { readTakeover, readToPredecessor, readToSuccessor } from '../../../shared/protocol/takeover.ts';

describe('a process', () => {
  const child = { parentPid: 4711, hasChannel: true, isAlive: () => true };

  it('takes over when the variable names its parent and the channel is there', () => {
    expect(readTakeover('4711', child)).toEqual({ ok: true, value: true });
    expect(readTakeover(undefined, child)).toEqual({ ok: true, value: false });
  });

  it('takes over when the parent that the variable names has died meanwhile', () => {
    const orphan = { ...child, parentPid: 1, isAlive: () => false };
    expect(readTakeover('4711', orphan)).toEqual({ ok: true, value: true });
    expect(readTakeover('4711', { ...orphan, hasChannel: false }).ok).toBe(false);
  });

  it.each([
    ['', child, 'must be a process id'],
    ['0', child, 'must be a process id'],
    ['4711 ', child, 'must be a process id'],
    ['-4711', child, 'must be a process id'],
    ['99999999999', child, 'must be a process id'],
    ['4712', child, 'is set by the service for a restart alone; unset it'],
    ['4711', { ...child, hasChannel: false }, 'is set by the service for a restart alone; unset it'],
  ])('does not start with the variable %j and %j', (value, facts, rule) => {
    expect(readTakeover(value, facts)).toEqual({ ok: false, error: `SVC_TAKES_OVER_FROM ${rule}` });
  });
});

describe('a message', () => {
  it('of a form that is not declared is refused without a word of it', () => {
    const error = 'a message of the hand-over has an unknown form';
    const secret = 'canary-4711';
    for (const message of [
      undefined,
      null,
      secret,
      { type: secret },
      { type: 'tokens', used: [[secret]] },
      { type: 'tokens', used: [['', 1]] },
      { type: 'calls', began: [{ id: 1.5, address: 'x', providers: [] }] },
      { type: 'arrival', method: 'GET', url: '/', headers: { a: 1 }, bytes: '' },
    ])
      expect(readToSuccessor(message)).toEqual({ ok: false, error });
    for (const message of [{}, { type: 'prepared' }, { type: 'failed', problems: secret }])
      expect(readToPredecessor(message)).toEqual({ ok: false, error });
  });
});
