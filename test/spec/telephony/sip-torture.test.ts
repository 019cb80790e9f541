/** The messages of RFC 4475, in datagrams and on a stream: each gets the answer that it should, and nothing breaks. */
import { describe, expect, it } from 'vitest';
import { step } from '../../../shared/sip/agent/agent.ts';
import { newAgent, type AgentState, type Flow } from '../../../shared/sip/agent/state.ts';
import { parseDatagram } from '../../../shared/sip/message/parse.ts';
import { StreamFrames } from '../../../shared/sip/message/stream.ts';
import { torture } from '../../support/sip/torture.ts';

const flow: Flow = {
  ...{ connection: 0, protocol: 'UDP', source: { address: '192.0.2.1', port: 5060 } },
  local: { address: '198.51.100.7', port: 5060 },
};

function agent(): AgentState {
  let last = 0;
  return newAgent({
    gate: { judge: () => undefined, knows: () => false },
    accountAt: () => undefined,
    rules: { srtp: 'optional', codecs: ['PCMU', 'PCMA', 'G722'] },
    newToken: () => `t${(last += 1)}`,
    newKey: (bytes) => Buffer.alloc(bytes, 1).toString('base64'),
    newSessionId: () => 7,
    isClosed: () => false,
    mostTransactions: 1_000,
  });
}

/** Status of the last answer: an INVITE gets 100 at once whatever comes of it. */
function answerTo(bytes: Buffer): number | 'none' {
  const parsed = parseDatagram(bytes);
  if (!parsed.ok) return 'none';
  const { message, fault } = parsed.value;
  const event = { type: 'message.received', message, fault, flow, size: Infinity } as const;
  const last = step(agent(), event, 0).findLast((action) => action.type === 'send');
  return last === undefined ? 'none' : Number(last.bytes.toString('latin1', 8, 11));
}

describe('RFC 4475', () => {
  it('is here as a whole', () => {
    const numbers = new Set(torture.map(({ name }) => name.split(' ', 1)[0]));
    expect(numbers.size).toBe(13 + 19 + 1 + 15 + 1);
  });

  it.each(torture)('$name: $answer', ({ text, answer }) => {
    expect(answerTo(Buffer.from(text, 'latin1'))).toBe(answer);
  });

  it.each(torture)('$name on a stream, byte by byte, breaks nothing', ({ text }) => {
    const frames = new StreamFrames();
    const bytes = Buffer.from(text, 'latin1');
    let messages = 0;
    for (let at = 0; at < bytes.length; at += 1) {
      const framed = frames.take(bytes.subarray(at, at + 1));
      // The end of the stream, which closes the connection.
      if (!framed.ok) break;
      messages += framed.value.messages.length;
    }
    expect(messages).toBeLessThanOrEqual(2);
  });
});
