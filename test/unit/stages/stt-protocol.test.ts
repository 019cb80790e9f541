import { describe, expect, it } from 'vitest';
import { InputQueue } from '../../../worker/stages/stt/input-queue.ts';
import {
  Transcripts,
  floatBytes,
  parseServerMessage,
} from '../../../worker/stages/stt/sherpa-onnx/protocol.ts';

describe('a message of the recogniser', () => {
  it('is the end marker, a result of either flavour, or nothing', () => {
    expect(parseServerMessage('Done!')).toEqual({ type: 'done' });
    expect(parseServerMessage('{"text":" HI","segment":2,"is_final":true,"is_eof":true}')).toEqual({
      type: 'result',
      text: 'HI',
      segment: 2,
      isFinal: true,
      isEof: true,
    });
    expect(parseServerMessage('{"text": "HI", "segment": 0}')).toMatchObject({
      isFinal: undefined,
      isEof: false,
    });
    for (const bad of ['', 'oops', '[]', 'null', '{"text":1}', '{"text":"a", broken']) {
      expect(parseServerMessage(bad)).toBeUndefined();
    }
  });

  it('may hold no text', () => {
    for (const empty of ['{}', '{"text":null,"segment":null}', '{"status":"loading"}'])
      expect(parseServerMessage(empty)).toMatchObject({ type: 'result', text: undefined });
  });

  it('is read as far as it matters when its numbers are no JSON', () => {
    const message =
      '{ "text": " SAY \\"NO\\"", "ys_probs": [-nan, inf], "segment": 1, "is_final": false, "is_eof": false}';
    expect(parseServerMessage(message)).toEqual({
      type: 'result',
      text: 'SAY "NO"',
      segment: 1,
      isFinal: false,
      isEof: false,
    });
  });
});

describe('the transcripts of a stream', () => {
  const result = (text: string, segment = 0, isFinal?: boolean) =>
    ({ type: 'result', text, segment, isFinal, isEof: false }) as const;

  it('tell a segment once, however often it is final', () => {
    const transcripts = new Transcripts();
    expect(transcripts.result(result('one', 0, true), false)).toHaveLength(1);
    expect(transcripts.result(result('one', 0, true), false)).toEqual([]);
    expect(transcripts.result(result('One.', 0, false), false)).toEqual([]);
    expect(transcripts.result(result('one', 1, true), false)).toHaveLength(1);
    const uncounted = { ...result('two', 0, true), segment: undefined };
    expect(transcripts.result(uncounted, false)).toHaveLength(1);
    expect(transcripts.result(uncounted, false)).toHaveLength(1);
    transcripts.reset();
    expect(transcripts.result(result('one', 1, true), false)).toHaveLength(1);
  });

  it('keep what they have where a result holds no text', () => {
    const transcripts = new Transcripts();
    transcripts.result(result('one', 0, false), false);
    expect(transcripts.result({ ...result('', 0, false), text: undefined }, false)).toEqual([]);
    expect(transcripts.take(true)).toMatchObject([{ text: 'one' }]);
  });

  it('drop repeats and empty texts', () => {
    const transcripts = new Transcripts();
    expect(transcripts.result(result('', 0, false), false)).toEqual([]);
    expect(transcripts.result(result('one', 0, false), false)).toHaveLength(1);
    expect(transcripts.result(result('one', 0, false), false)).toEqual([]);
    expect(transcripts.result(result('', 0, true), false)).toEqual([]);
  });

  it('end the old segment when the number grows in the flavour without finals', () => {
    const transcripts = new Transcripts();
    transcripts.result(result('one'), false);
    expect(transcripts.result(result('two', 1), false)).toMatchObject([
      { text: 'one', isFinal: true, speechFinal: true },
      { text: 'two', isFinal: false },
    ]);
    expect(transcripts.take(true)).toMatchObject([{ text: 'two', fromFinalize: true }]);
    expect(transcripts.take(true)).toEqual([]);
  });
});

describe('what goes to the recogniser', () => {
  it('is float samples, with the full range of a sample', () => {
    const bytes = floatBytes(Int16Array.of(-32_768, 0, 32_767));
    const floats = [0, 4, 8].map((at) => bytes.readFloatLE(at));
    expect(floats).toEqual([-1, 0, 32_767 / 32_768]);
  });

  it('keeps the newest 64 frames and every end of an utterance', () => {
    const queue = new InputQueue();
    queue.push({ type: 'end', dueMs: 5, isEmpty: false });
    let dropped = 0;
    for (let i = 0; i < 70; i += 1) {
      queue.push({ type: 'frame', frame: Int16Array.of(i) });
      if (queue.trim()) dropped += 1;
    }
    expect(dropped).toBe(6);
    expect(queue.shift()).toMatchObject({ type: 'end' });
    expect(queue.shift()).toEqual({ type: 'frame', frame: Int16Array.of(6) });
  });
});
