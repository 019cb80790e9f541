/**
 * The reader that remembers shapes must tell what a parser would tell. A body that is the same object as one before was
 * read by its shape; nothing else shows which way an event took.
 */
import { describe, expect, it } from 'vitest';
import { newPrng } from '../../../shared/base/prng.ts';
import { EventReader } from '../../../worker/stages/llm/event-reader.ts';
import { KnownShapes } from '../../../worker/stages/llm/known-shapes.ts';
import {
  LONG_NUMBERS,
  MOST,
  newChunks,
  NUMBERS,
  parsed,
  read,
  Recorder,
  TEXTS,
} from '../../support/hostile-events.ts';

const event = (body: unknown): Buffer => Buffer.from(`data: ${JSON.stringify(body)}\n\n`);
const delta = (n: number): Buffer => event({ type: 'delta', n, delta: { text: ` word ${n}` } });
const call = (n: number): Buffer => event({ type: 'call', id: 'a', arguments: `"${n}` });
const many = (count: number, make: (n: number) => Buffer): Buffer[] =>
  Array.from({ length: count }, (_, n) => make(n));

describe('a reader that remembers shapes', () => {
  it('tells what a parser tells, of 1,000 streams that try to deceive it', () => {
    let [recalled, events] = [0, 0];
    for (let seed = 1; seed <= 1_000; seed += 1) {
      const chunks = newChunks(newPrng(seed));
      const found = read(chunks);
      expect(found.found, `seed ${seed}`).toEqual(parsed(Buffer.concat(chunks)));
      recalled += found.recalled;
      events += found.found.length;
    }
    // Or the comparison would be one of the parser with itself.
    expect(recalled).toBeGreaterThan(events / 10);
  });
  it('needs a parser for the first few events only, of two kinds that take turns too', () => {
    expect(read(many(50, delta)).recalled).toBeGreaterThanOrEqual(46);
    expect(read(many(100, (n) => (n % 2 === 0 ? delta(n) : call(n)))).recalled).toBeGreaterThanOrEqual(90);
    expect(read([Buffer.concat(many(50, delta))]).recalled).toBeGreaterThanOrEqual(46);
  });

  it('takes up what begins to change late', () => {
    const stamped = (n: number): Buffer => event({ created: n < 20 ? 1 : n, text: `word ${n}` });
    expect(read(many(60, stamped)).recalled).toBeGreaterThanOrEqual(54);
  });

  it('gives up where nothing is like anything before, and costs nothing then', () => {
    const unlike = many(60, (n) => event({ kind: { [`key ${n}`]: n } }));
    expect(read([...unlike, ...many(50, delta)]).recalled).toBe(0);
    expect(read([...unlike.slice(0, 20), ...many(50, delta)]).recalled).toBeGreaterThan(40);
  });

  it('reads every string and number as a parser does, and leaves to it what is none', () => {
    const literals = [...TEXTS.map((text) => `"${text}"`), ...NUMBERS, ...LONG_NUMBERS];
    for (const known of [
      ['"a"', '"b"'],
      ['1', '2'],
    ]) {
      for (const literal of literals) {
        // The fourth event makes a hole of what varies, so the fifth is the first that can be read by it.
        const written = [...known, ...known, literal, ...known];
        const chunks = written.map((value) => Buffer.from(`data: {"a":${value},"b":[]}\n\n`, 'latin1'));
        expect(read(chunks).found).toEqual(parsed(Buffer.concat(chunks)));
      }
    }
    const fractions = many(50, (n) => event({ text: 'a', seconds: n / 8, at: -n }));
    expect(read(fractions).recalled).toBeGreaterThanOrEqual(46);
  });

  it('sees nothing of what came before in place of what has not come yet', () => {
    const frame = (n: number): Buffer => Buffer.from(`: \x01\x01\x01\x01\ndata: {"n":${n},"a":"\x7f"}\n\n`);
    for (let at = 1; at < frame(7).length; at += 1) {
      const chunks = [...many(8, frame), frame(7).subarray(0, at), frame(7).subarray(at), frame(7)];
      const found = read(chunks);
      expect(found.found).toEqual(parsed(Buffer.concat(chunks)));
      expect(found.recalled).toBeGreaterThan(3);
    }
  });

  it('needs no parser for an event that is cut, wherever and however often', () => {
    const [taught, lines] = [many(8, delta), many(40, (n) => (n % 3 === 0 ? call(n) : delta(n)))];
    for (const lineEnd of ['\n', '\r\n']) {
      const ended = (chunks: readonly Buffer[]): Buffer =>
        Buffer.from(Buffer.concat(chunks).toString().replaceAll('\n', lineEnd));
      const whole = ended(lines);
      for (let bytes = 1; bytes < 200; bytes += 1) {
        const known = new KnownShapes();
        read([ended(taught), ended(lines)], known);
        const chunks = Array.from({ length: Math.ceil(whole.length / bytes) }, (_, n) =>
          whole.subarray(n * bytes, (n + 1) * bytes),
        );
        const found = read(chunks, known);
        expect(found.found).toEqual(parsed(whole));
        // A parser sees the end of an event in the first half of its last line end, when the cut is there.
        const least = lineEnd === '\n' ? 38 : bytes < 50 ? 0 : 30;
        expect(found.recalled, `in ${bytes} bytes`).toBeGreaterThanOrEqual(least);
      }
    }
  });

  it('does not take the begin of one event for that of another, nor keep much of a long one', () => {
    const line = (text: string): Buffer => Buffer.from(`data: {"a":"${text}"}\n\n`);
    const [begin, bad, end] = ['data: {"a":"x', '\x01"}\n\n', 'y"}\n\n'].map((part) => Buffer.from(part));
    const long = Buffer.from(`${`data: ${'z'.repeat(900)}\n`.repeat(100)}\n`);
    const pieces = Array.from({ length: 91 }, (_, n) => long.subarray(n * 1_000, (n + 1) * 1_000));
    const chunks = [...['1', '2', '3'].map(line), begin!, bad!, end!, begin!, ...pieces, line('4')];
    const found = read(chunks);
    expect(found.found).toEqual(parsed(Buffer.concat(chunks)));
    expect(found.recalled).toBeGreaterThanOrEqual(1);
  });

  it('says nothing more once nobody listens, within a chunk too', () => {
    const recorder = new Recorder();
    const reader = new EventReader(recorder, {
      maxEventBytes: MOST,
      isOver: () => recorder.found.length === 7,
    });
    expect(reader.push(Buffer.concat(many(20, delta)))).toBe(true);
    expect(recorder.found).toHaveLength(7);
  });

  it('refuses an event over the bound after any number of others', () => {
    const recorder = new Recorder();
    const reader = new EventReader(recorder, { maxEventBytes: 1_000, isOver: () => false });
    expect(reader.push(Buffer.concat(many(20, delta)))).toBe(true);
    expect(reader.push(event({ text: 'x'.repeat(1_000) }))).toBe(false);
    expect(recorder.found).toHaveLength(20);
  });
});
