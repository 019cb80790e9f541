import { describe, expect, it } from 'vitest';
import { PieceQueue } from '../../../worker/stages/tts/speech-compatible/piece-queue.ts';
import type { Job } from '../../../worker/stages/tts/speech-compatible/piece-queue.ts';
import { PcmStream } from '../../../worker/stages/tts/speech-compatible/wav-stream.ts';
import { tone, wav } from '../../support/fakes/fake-speech.ts';

function decode(chunks: readonly Buffer[], wavOnly: boolean): number[] | string {
  const stream = new PcmStream({ sampleRate: 24_000, wavOnly });
  const samples: number[] = [];
  for (const result of [...chunks.map((chunk) => stream.push(chunk)), stream.end()]) {
    if ('rule' in result) return result.rule;
    samples.push(...result);
  }
  return samples;
}

describe('the audio of a body', () => {
  const bytes = tone(40);
  const expected = Array.from({ length: 40 }, (_, i) => bytes.readInt16LE(i * 2));

  it.each([
    ['raw samples', bytes, false],
    ['a WAV', wav(bytes, { list: true }), true],
    ['a WAV of unknown size', wav(bytes, { dataSize: 0x7fff_ffff }), true],
    ['a WAV where raw samples were asked for', wav(bytes), false],
    ['a WAV of each part', Buffer.concat([wav(bytes.subarray(0, 30)), wav(bytes.subarray(30))]), true],
    [
      'a WAV with something after its data',
      Buffer.concat([wav(bytes), Buffer.from('LIST\x02\0\0\0no')]),
      true,
    ],
  ])('is the same wherever %s is cut', (_name, body, wavOnly) => {
    for (let at = 0; at <= body.length; at += 1) {
      expect(decode([body.subarray(0, at), body.subarray(at)], wavOnly)).toEqual(expected);
    }
    expect(
      decode(
        [...body].map((byte) => Buffer.from([byte])),
        wavOnly,
      ),
    ).toEqual(expected);
  });

  it('drops half a sample at the end', () => {
    expect(decode([bytes, Buffer.from([1])], false)).toEqual(expected);
    expect(decode([Buffer.from('RI')], false)).toEqual([0x4952]);
  });

  it('is an error when a WAV ends within its header, or its header never ends', () => {
    expect(decode([wav(bytes).subarray(0, 30)], true)).toBe('wav header');
    expect(decode([wav(bytes).subarray(0, 30)], false)).toBe('wav header');
    const endless = Buffer.concat([
      Buffer.from('RIFF....WAVE'),
      Buffer.from('LIST\x00\x00\x00\x00'.repeat(9_000)),
    ]);
    expect(decode([endless], true)).toBe('wav header');
    expect(decode([], true)).toEqual([]);
  });

  it('takes the extensible form of PCM', () => {
    const plain = wav(bytes, { tag: 0xfffe });
    const tail = Buffer.alloc(24);
    tail.writeUInt16LE(22, 0);
    tail.writeUInt16LE(1, 8);
    const body = Buffer.concat([plain.subarray(0, 36), tail, plain.subarray(36)]);
    body.writeUInt32LE(40, 16);
    expect(decode([body], true)).toEqual(expected);
  });
});

describe('the waiting text', () => {
  const drain = (queue: PieceQueue): Job[] => {
    const jobs: Job[] = [];
    for (let job = queue.take(); job !== undefined; job = queue.take()) jobs.push(job);
    return jobs;
  };

  it('keeps every character in order, the first piece alone and the others joined up to 300', () => {
    const queue = new PieceQueue();
    const pieces = Array.from({ length: 40 }, (_, i) => `${'x'.repeat(i)} `);
    for (const piece of pieces) queue.speak(1, piece);
    queue.flush(1);
    const jobs = drain(queue);
    const texts = jobs.map((job) => (job.type === 'speak' ? job.text : ''));
    expect(texts.join('')).toBe(pieces.join(''));
    expect(texts[0]).toBe(pieces[0]);
    expect(Math.max(...texts.map((text) => text.length))).toBeLessThanOrEqual(300);
    expect(jobs.at(-1)).toEqual({ type: 'flushed', context: 1 });
    expect(jobs.at(-2)).toMatchObject({ endChars: pieces.join('').length });
  });

  it('does not cut a piece that is long by itself', () => {
    const queue = new PieceQueue();
    queue.speak(1, 'y'.repeat(900));
    expect(queue.take()).toMatchObject({ text: 'y'.repeat(900), endChars: 900 });
  });

  it('of a later context waits for the end of the one before it', () => {
    const queue = new PieceQueue();
    queue.speak(1, 'a');
    queue.speak(2, 'b');
    queue.flush(2);
    expect(drain(queue)).toHaveLength(1);
    queue.flush(1);
    expect(drain(queue).map((job) => [job.type, job.context])).toEqual([
      ['flushed', 1],
      ['speak', 2],
      ['flushed', 2],
    ]);
  });

  it('of a cancelled context is gone, and what comes late too', () => {
    const queue = new PieceQueue();
    queue.speak(1, 'a');
    queue.cancel(1);
    queue.speak(1, 'late');
    queue.flush(1);
    expect(drain(queue)).toEqual([]);
  });
});
