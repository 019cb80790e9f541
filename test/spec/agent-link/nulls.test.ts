/** Many a language writes null for a field that is absent: it is absent. */
import { expect, it } from 'vitest';
import { readCommand, readFrame } from '../../../shared/agent-link/decode.ts';
import { readAnswer } from '../../../shared/agent-link/handshake.ts';

const sent = (message: object) => {
  const frame = readFrame(JSON.stringify(message));
  if (!frame.ok) throw new Error(frame.error.code);
  return frame.value;
};

it('in the acceptance of a call, and in its tools', () => {
  const answer = readAnswer(
    sent({
      ...{ type: 'session.accept', version: 1, system_prompt: null, greeting: null, context: null },
      ...{ resume: null, events: null, overrides: null, last_seq: null },
      tools: [
        { name: 'get', description: null, parameters: null, kind: null, timeout_ms: null, confirm: null },
      ],
    }),
    [1],
  );
  const bare = readAnswer(sent({ type: 'session.accept', version: 1, tools: [{ name: 'get' }] }), [1]);
  expect(answer).toEqual(bare);
  expect(answer).toMatchObject({ kind: 'accept', accept: { problems: [] } });
});

it.each([
  [
    { type: 'say', text: 'Hello.' },
    { id: null, interrupt: null, interruptible: null },
  ],
  [{ type: 'end' }, { id: null, farewell: null, reason: null }],
  [
    { type: 'context.update', system_prompt: 'p' },
    { id: null, append: null },
  ],
])('in a command: %o', (message, nulls) => {
  const read = readCommand(sent({ ...message, ...nulls }));
  expect(read).toEqual(readCommand(sent(message)));
  expect(read.kind).toBe('command');
});

it('but where it means something', () => {
  expect(readCommand(sent({ type: 'tools.set', enabled: null }))).toMatchObject({
    command: { enabled: null },
  });
  expect(readCommand(sent({ type: 'say', text: null }))).toMatchObject({ kind: 'fault' });
});
