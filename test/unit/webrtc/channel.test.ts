/** The data channel of a WebRTC call, and a call that moves to another connection. */
import { describe, expect, it } from 'vitest';
import { mediaTimeoutMs, newPeerCall, step } from '../../../worker/webrtc/call-machine.ts';
import { Channel, startedMessage } from '../../../worker/webrtc/channel.ts';

const start = {
  callId: 'c',
  sampleRate: 24_000,
  inputRate: 16_000,
  encoding: 'pcm16',
  metadata: {},
} as const;
const says = (message: object): string => JSON.stringify(message);
const started = { type: 'start', version: 1, sample_rate: 48_000, events: ['bot.text'] };

describe('the data channel', () => {
  it('tells nothing before start, and then what was asked for, beginning with what came before', () => {
    const channel = new Channel(0);
    const text = { type: 'bot.text', epoch: 1, text: 'hello' } as const;
    expect(channel.told(text)).toBeUndefined();
    channel.told({ type: 'turn.user_started', epoch: 1 });
    expect(channel.hear(says(started), 0)).toEqual({ type: 'start' });
    expect(channel.takeEarly().map((one) => JSON.parse(one) as unknown)).toEqual([text]);
    expect(channel.takeEarly()).toEqual([]);
    expect(JSON.parse(channel.told(text) ?? '')).toEqual(text);
    expect(channel.told({ type: 'turn.user_started', epoch: 1 })).toBeUndefined();
    channel.reset();
    expect([channel.told(text), channel.isStarted]).toEqual([undefined, false]);
    channel.hear(says(started), 0);
    expect(channel.takeEarly()).toEqual([]);
    expect(JSON.parse(startedMessage(start))).toEqual({
      ...{ type: 'started', version: 1, call_id: 'c', sample_rate: 24_000, encoding: 'pcm16' },
    });
  });

  it('takes keys, text and the end, and answers what breaks a rule without an end', () => {
    const channel = new Channel(0);
    expect(channel.hear(says({ type: 'dtmf', digit: 'a' }), 0)).toEqual({ type: 'dtmf', digit: 'A' });
    expect(channel.hear(says({ type: 'text', text: 'hi' }), 0)).toEqual({
      type: 'typed',
      typed: { text: 'hi', answer: 'speech' },
    });
    expect(channel.hear(says({ type: 'stop' }), 0)).toEqual({ type: 'stop' });
    expect(channel.hear(says({ type: 'mark', id: 'x' }), 0)).toEqual({ type: 'nothing' });
    const faults = ['{', '[]', says({ type: 'other' }), says({ type: 'dtmf', digit: 'x' })];
    faults.push(says({ ...started, version: 2 }), says({ ...started, sample_rate: 1 }));
    const codes = faults.map((fault) => {
      const request = channel.hear(fault, 0);
      const answer = JSON.parse(request.type === 'answer' ? request.json : '{}') as Record<string, unknown>;
      expect(answer['fatal']).toBe(false);
      return answer['code'];
    });
    expect(codes).toEqual([
      ...['invalid_json', 'invalid_json', 'unknown_message', 'invalid_message'],
      ...['unsupported_version', 'unsupported_sample_rate'],
    ]);
  });

  it('drops a flood, and what is longer than a message may be', () => {
    const channel = new Channel(0);
    expect(channel.hear(says({ type: 'text', text: 'x'.repeat(20_000) }), 0)).toEqual({ type: 'nothing' });
    for (let n = 0; n < 1_000; n += 1) channel.hear(says({ type: 'dtmf', digit: '1' }), 0);
    expect(channel.hear(says({ type: 'dtmf', digit: '1' }), 0)).toEqual({ type: 'nothing' });
    expect(channel.hear(says({ type: 'dtmf', digit: '1' }), 1_000)).toEqual({ type: 'dtmf', digit: '1' });
  });
});

describe('a call whose client offers another connection', () => {
  const open = () => {
    const call = newPeerCall(start, { now: 0, isResumed: false });
    step(call, { type: 'peer.connected' }, 0);
    step(call, { type: 'call.accepted' }, 0);
    return call;
  };

  it('does not end with the one before it', () => {
    const call = open();
    step(call, { type: 'peer.awaited' }, 1_000);
    expect(step(call, { type: 'peer.closed' }, 1_100)).toEqual([]);
    expect(step(call, { type: 'peer.left' }, 1_150)).toEqual([]);
    expect(step(call, { type: 'peer.moved' }, 7_000)).toEqual([]);
    expect(step(call, { type: 'time.passed' }, 7_000 + mediaTimeoutMs - 1)).toEqual([]);
    expect(step(call, { type: 'peer.closed' }, 15_000)).toContainEqual({
      ...{ type: 'notify.ended', reason: 'disconnected' },
    });
  });

  it('ends as it would where nothing comes of it', () => {
    const call = open();
    step(call, { type: 'peer.awaited' }, 1_000);
    expect(step(call, { type: 'time.passed' }, mediaTimeoutMs)).not.toEqual([]);
    const other = open();
    step(other, { type: 'peer.awaited' }, 0);
    step(other, { type: 'peer.missed' }, 1);
    expect(step(other, { type: 'peer.closed' }, 2)).not.toEqual([]);
  });
});
