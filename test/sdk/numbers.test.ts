/** Whole numbers of a call reach the handlers of the TypeScript SDK with every digit. */
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { CallHost } from '../../sdk/typescript/src/host.ts';
import { parseJson } from '../../sdk/typescript/src/json.ts';
import { readServiceMessage } from '../../sdk/typescript/src/reading.ts';
import { quietAgent } from './agents.ts';

const digits = '2512292042121000001';

describe('JSON as the SDK reads it', () => {
  it.each([
    [`{"id":${digits},"n":[-9007199254740993,7]}`, { id: digits, n: ['-9007199254740993', 7] }],
    ['9007199254740991', Number.MAX_SAFE_INTEGER],
    ['9007199254740992', '9007199254740992'],
    [
      '[1234567890.1234567890,1e30,-1.2345678901234567E-7]',
      [1234567890.123456789, 1e30, -1.2345678901234567e-7],
    ],
    [`{"${digits}":"${digits}","q":"\\"${digits}\\\\"}`, { [digits]: digits, q: `"${digits}\\` }],
  ])('%s', (text, value) => expect(parseJson(text)).toEqual(value));

  it('has any depth, and nothing that is not JSON', () => {
    expect(parseJson(`${'['.repeat(60_000)}${digits}${']'.repeat(60_000)}`)).toBeInstanceOf(Array);
    expect(() => parseJson(`{"id":${digits}`)).toThrow(SyntaxError);
    expect(readServiceMessage(`{"type":"session.end","seq":${digits},"reason":"hangup"}`).kind).toBe('bad');
  });
});

describe('a tool of the SDK', () => {
  /** What the handler saw, and what the service is told of a call with these arguments, word for word. */
  async function called(parameters: z.ZodObject | Readonly<Record<string, unknown>>, given: string) {
    const { agent } = quietAgent();
    const seen: unknown[] = [];
    agent.tool({ name: 'order', description: 'd', parameters }, (values: unknown) => {
      seen.push(values);
      return values;
    });
    const sent: string[] = [];
    const link = new CallHost({ mostCalls: 1 }).open(
      { send: (text) => void sent.push(text), close: () => undefined },
      { agent: agent.definition, path: '/' },
    );
    const offer = {
      protocol: 'svc.agent',
      versions: [1],
      session_id: 's',
      agent: 'a',
      capabilities: { transfer: false, tools: true },
    };
    link.text(JSON.stringify({ type: 'session.start', seq: 1, t_ms: 0, ...offer }));
    await expect.poll(() => sent.length).toBe(1);
    const call = {
      id: 1,
      call_id: 'c',
      name: 'order',
      kind: 'read_only',
      epoch: 1,
      idempotency_key: 'k',
      timeout_ms: 5000,
    };
    link.text(
      JSON.stringify({ type: 'tool.call', seq: 2, t_ms: 0, ...call, arguments: '?' }).replace('"?"', given),
    );
    await expect.poll(() => sent.length).toBe(2);
    return { seen, sent: sent[1] };
  }

  it('gets whole numbers with every digit, and gives them back', async () => {
    const { seen, sent } = await called({ type: 'object' }, `{"id":${digits},"n":7}`);
    expect(seen).toEqual([{ id: digits, n: 7 }]);
    expect(sent).toContain(`"result":{"id":"${digits}","n":7}`);
  });

  it('may ask for both forms, or tell the model that it takes one', async () => {
    const both = await called(z.object({ id: z.union([z.int(), z.string()]) }), `{"id":${digits}}`);
    expect(both.seen).toEqual([{ id: digits }]);
    const one = await called(z.object({ id: z.number() }), `{"id":${digits}}`);
    expect([one.seen, one.sent?.includes('invalid arguments: id: ')]).toEqual([[], true]);
  });
});
