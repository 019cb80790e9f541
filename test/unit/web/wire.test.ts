import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeServerMessage } from '../../../web/client/wire.ts';

describe('the decoder of server messages', () => {
  it.each([
    [
      '{"type":"started","version":1,"call_id":"c","sample_rate":8000,"encoding":"pcm16"}',
      { type: 'started', callId: 'c', sampleRate: 8_000, encoding: 'pcm16' },
    ],
    ['{"type":"clear","epoch":3}', { type: 'clear', epoch: 3 }],
    ['{"type":"mark","id":"m","later":1}', { type: 'mark', id: 'm' }],
    ['{"type":"stop","reason":"shutdown"}', { type: 'stop', reason: 'shutdown' }],
    ['{"type":"stop","reason":"ended"}', { type: 'stop', reason: 'ended' }],
    [
      '{"type":"error","code":"bad_audio","message":"m","fatal":true}',
      { type: 'error', code: 'bad_audio', message: 'm', fatal: true },
    ],
    ['{"type":"news"}', { type: 'unknown', name: 'news' }],
  ])('reads %s', (json, message) => {
    expect(decodeServerMessage(json)).toEqual(message);
  });

  it.each(['', 'null', '[]', '1', '"clear"', '{}', '{"type":1}', '{"type":"clear"'])('refuses %j', (json) => {
    expect(decodeServerMessage(json)).toBeUndefined();
  });

  it('never throws', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json()), (json) => {
        decodeServerMessage(json);
      }),
    );
  });
});
