/** The record of a call names the agent that has it and the one that it came to, also where another worker goes on. */
import { describe, expect, it } from 'vitest';
import { headFact, recordOf } from '../../support/calls/records.ts';

describe('a call that was given to another agent', () => {
  it('names both', () => {
    const record = recordOf({ agent: 'clinic/desk-b', insteadOf: 'clinic/desk' });
    expect(record).toMatchObject({ agent: { name: 'clinic/desk-b' }, instead_of: 'clinic/desk' });
    expect(recordOf()).not.toHaveProperty('instead_of');
  });

  it('names both behind a takeover, whose worker knows of the one alone', () => {
    const head = { agent: 'clinic/desk-b', tenant: 'clinic' };
    const record = recordOf({ ...head, insteadOf: 'clinic/desk' }, [headFact({ ...head, at: 5_000 })]);
    expect(record).toMatchObject({ agent: { name: 'clinic/desk-b' }, instead_of: 'clinic/desk' });
  });
});
