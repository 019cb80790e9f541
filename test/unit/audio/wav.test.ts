/** WAV files as programs really write them, and as they arrive broken. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { newPrng } from '../../../shared/base/prng.ts';
import { parseWav, WavError, writeWav } from '../../../shared/audio/wav.ts';

function chunk(name: string, body: Buffer, size = body.length): Buffer {
  const head = Buffer.alloc(8);
  head.write(name, 0, 'latin1');
  head.writeUInt32LE(size >>> 0, 4);
  return Buffer.concat([head, body, Buffer.alloc(body.length % 2)]);
}

interface Fmt {
  code?: number;
  channels?: number;
  rate?: number;
  bits?: number;
  extra?: Buffer;
}

function fmt({ code = 1, channels = 1, rate = 8000, bits = 16, extra = Buffer.alloc(0) }: Fmt = {}): Buffer {
  const body = Buffer.alloc(16);
  body.writeUInt16LE(code, 0);
  body.writeUInt16LE(channels, 2);
  body.writeUInt32LE(rate, 4);
  body.writeUInt32LE((rate * channels * bits) / 8, 8);
  body.writeUInt16LE((channels * bits) / 8, 12);
  body.writeUInt16LE(bits, 14);
  return chunk('fmt ', Buffer.concat([body, extra]));
}

function riff(...chunks: Buffer[]): Buffer {
  return chunk('RIFF', Buffer.concat([Buffer.from('WAVE'), ...chunks]));
}

const samples = Int16Array.of(0, 1000, -1000, 32_767, -32_768);
const data = Buffer.from(samples.buffer);

describe('writeWav', () => {
  it('writes what parseWav reads', () => {
    const wav = parseWav(writeWav(samples, 22_050));
    expect(wav).toEqual({ sampleRate: 22_050, pcm: samples, channels: 1 });
  });
});

describe('parseWav', () => {
  it('skips chunks that it does not know, odd ones with their padding', () => {
    const list = chunk('LIST', Buffer.from('INFOISFT7'));
    expect(parseWav(riff(list, fmt(), list, chunk('data', data), list)).pcm).toEqual(samples);
  });

  it('reads to the end where the size of the data is unknown', () => {
    for (const size of [0, 0xffffffff, 0x7fffffff]) {
      expect(parseWav(riff(fmt(), chunk('data', data, size))).pcm).toEqual(samples);
    }
  });

  it('reads files from an unaligned place in memory', () => {
    const file = riff(fmt(), chunk('data', data));
    const shifted = Buffer.concat([Buffer.alloc(1), file]).subarray(1);
    expect(parseWav(shifted).pcm).toEqual(samples);
  });

  it('reads mu-law and float, and saturates what is too loud', () => {
    const mulaw = riff(fmt({ code: 7, bits: 8 }), chunk('data', Buffer.from([0x00, 0x80, 0xff])));
    expect(parseWav(mulaw).pcm).toEqual(Int16Array.of(-32_124, 32_124, 0));
    const floats = Buffer.from(Float32Array.of(0, 0.5, -0.5, 3, -3, Number.NaN).buffer);
    const float = riff(fmt({ code: 3, bits: 32, rate: 48_000 }), chunk('data', floats));
    expect(parseWav(float).pcm).toEqual(Int16Array.of(0, 16_384, -16_384, 32_767, -32_768, 0));
    expect(parseWav(float).sampleRate).toBe(48_000);
  });

  it('averages two channels', () => {
    const stereo = Buffer.from(Int16Array.of(100, 300, -32_768, -32_768, 32_767, -32_767).buffer);
    const wav = parseWav(riff(fmt({ channels: 2 }), chunk('data', stereo)));
    expect(wav.pcm).toEqual(Int16Array.of(200, -32_768, 0));
    expect(wav.channels).toBe(2);
  });

  it('reads the extensible format', () => {
    const extra = Buffer.alloc(24);
    extra.writeUInt16LE(22, 0);
    extra.writeUInt16LE(1, 8);
    expect(parseWav(riff(fmt({ code: 0xfffe, extra }), chunk('data', data))).pcm).toEqual(samples);
  });

  it('leaves out a sample that was cut in two', () => {
    expect(parseWav(riff(fmt(), chunk('data', data)).subarray(0, -1)).pcm).toEqual(samples.slice(0, -1));
  });

  it.each([
    ['an empty file', Buffer.alloc(0), 'not a WAV file'],
    ['another file', Buffer.from('OggS and a lot more of it'), 'not a WAV file'],
    ['no format', riff(chunk('data', data)), 'data chunk: a fmt chunk must come before it'],
    ['nothing at all', riff(), 'fmt chunk: missing'],
    ['no data', riff(fmt()), 'data chunk: missing'],
    ['a short format', riff(chunk('fmt ', Buffer.alloc(14)), chunk('data', data)), 'fmt chunk: must hold'],
    ['a chunk beyond the end', riff(chunk('LIST', Buffer.alloc(4), 4000)), 'chunk size: runs past the end'],
    ['A-law', riff(fmt({ code: 6, bits: 8 }), chunk('data', data)), 'format: must be'],
    ['24 bits', riff(fmt({ bits: 24 }), chunk('data', data)), 'bits per sample: must be'],
    ['six channels', riff(fmt({ channels: 6 }), chunk('data', data)), 'channels: must be'],
    ['no rate', riff(fmt({ rate: 0 }), chunk('data', data)), 'sample rate: must be'],
  ])('says what is wrong with %s', (_, file, message) => {
    expect(() => parseWav(file)).toThrow(message);
    expect(() => parseWav(file)).toThrow(WavError);
  });

  it('either reads a damaged file or throws a WavError', () => {
    const prng = newPrng(11);
    const good = riff(chunk('LIST', Buffer.from('INFO')), fmt(), chunk('data', data));
    let read = 0;
    for (let k = 0; k < 3000; k++) {
      const bad = Buffer.from(good.subarray(0, prng.chance(0.3) ? prng.below(good.length) : good.length));
      if (bad.length > 0) bad[prng.below(bad.length)] = prng.below(256);
      try {
        read += parseWav(bad).pcm.length > 0 ? 1 : 0;
      } catch (error) {
        expect(error).toBeInstanceOf(WavError);
      }
    }
    expect(read).toBeGreaterThan(100);
  });

  const assets = process.env['SVC_TEST_ASSETS'];
  it.skipIf(assets === undefined)('reads every recording of the test assets (needs SVC_TEST_ASSETS)', () => {
    const folder = join(assets ?? '', 'audio/speech');
    const files = readdirSync(folder).filter((name) => name.endsWith('.wav'));
    expect(files.length).toBeGreaterThan(0);
    for (const name of files) {
      const wav = parseWav(readFileSync(join(folder, name)));
      expect(wav.pcm.length / wav.sampleRate, name).toBeGreaterThan(0.3);
    }
  });
});
