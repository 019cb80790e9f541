/**
 * Answers of a stage share the shapes of their events: each must be told what a parser would tell of it alone, whatever the
 * others were.
 */
import { describe, expect, it } from 'vitest';
import { newPrng } from '../../../shared/base/prng.ts';
import { EventReader } from '../../../worker/stages/llm/event-reader.ts';
import { KnownShapes } from '../../../worker/stages/llm/known-shapes.ts';
import {
  likeKinds,
  LONG_NUMBERS,
  MOST,
  newChunks,
  newKinds,
  newReading,
  NUMBERS,
  parsed,
  read,
  Recorder,
  TEXTS,
} from '../../support/hostile-events.ts';

const event = (body: unknown): Buffer => Buffer.from(`data: ${JSON.stringify(body)}\n\n`);
const many = (count: number, make: (n: number) => Buffer): Buffer[] =>
  Array.from({ length: count }, (_, n) => make(n));

/** An answer with an id of its own, an opening, deltas and an end. */
const answer = (id: string, deltas = 20): Buffer[] => [
  event({ id, type: 'open', model: 'm', counts: [310, 24] }),
  ...many(deltas, (n) => event({ id, n, delta: { text: ` ${id} says ${n}` } })),
  event({ id, type: 'end', counts: [310, deltas] }),
];
/** Events of which no two are alike. */
const unlike = (count: number, name: string): Buffer[] =>
  many(count, (n) => event({ kind: { [`${name} ${n}`]: n } }));

/** Every string and every run of bytes that can be reached from it, as one text. */
function reachable(root: unknown): string {
  const seen = new Set<unknown>();
  const found: string[] = [];
  const visit = (value: unknown): void => {
    if (typeof value === 'string') found.push(value);
    if (typeof value !== 'object' || value === null || seen.has(value)) return;
    seen.add(value);
    if (ArrayBuffer.isView(value)) {
      found.push(Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('latin1'));
      return;
    }
    for (const [key, member] of Object.entries(value)) {
      found.push(key);
      visit(member);
    }
  };
  visit(root);
  return found.join('\n');
}

describe('answers that share the shapes of their events', () => {
  it('are each told what a parser tells, of 300 times 5 that try to deceive and take turns', () => {
    let [recalled, events] = [0, 0];
    for (let seed = 1; seed <= 300; seed += 1) {
      const prng = newPrng(seed);
      const kinds = newKinds(prng);
      const known = new KnownShapes();
      const answers = Array.from({ length: 5 }, () => newChunks(prng, likeKinds(kinds, prng)));
      const readings = answers.map(() => newReading(known));
      const most = Math.max(...answers.map((chunks) => chunks.length));
      const isAfter = prng.chance(0.3);
      const turns = answers.flatMap((chunks, n) => chunks.map((chunk, at) => ({ chunk, n, at })));
      if (!isAfter) turns.sort((a, b) => a.at * most - b.at * most || a.n - b.n);
      for (const { chunk, n } of turns) readings[n]?.push(chunk);
      for (const [n, { recorder }] of readings.entries()) {
        expect(recorder.found, `seed ${seed}, answer ${n}`).toEqual(parsed(Buffer.concat(answers[n] ?? [])));
        recalled += recorder.recalled;
        events += recorder.found.length;
      }
    }
    expect(recalled).toBeGreaterThan(events / 8);
  });

  it('need no parser for an event that the two answers before had, neither for the first nor for the last', () => {
    const known = new KnownShapes();
    for (const id of ['one', 'two', 'three']) read(answer(id), known);
    const { recorder, push } = newReading(known);
    // Each is another object, so that none of them is taken for one of its own.
    const bodies = new Set<unknown>();
    recorder.object = (body) => bodies.add(body);
    for (const chunk of answer('four')) push(chunk);
    expect(bodies.size).toBe(3);
    expect(read(answer('five'), known).recalled).toBe(19);
  });

  it('are told their own strings and numbers after any others at the same place', () => {
    const literals = [
      ...TEXTS.map((text) => `"${text}"`),
      ...NUMBERS,
      ...LONG_NUMBERS,
      '{}',
      '["a"]',
      'null',
    ];
    const line = (value: string): Buffer => Buffer.from(`data: {"a":${value},"b":[]}\n\n`, 'latin1');
    for (const taught of [
      ['"x"', '"y"'],
      ['1', '2'],
      ['"x"', '"y"', '1', '2'],
    ]) {
      const known = new KnownShapes();
      expect(read([...taught, ...taught].map(line), known).recalled).toBeGreaterThan(0);
      for (const literal of literals) {
        const chunks = [literal, ...taught, literal].map(line);
        expect(read(chunks, known).found).toEqual(parsed(Buffer.concat(chunks)));
      }
    }
  });

  it('are told members in the order in which they come, and what pretends to be the end of another', () => {
    const known = new KnownShapes();
    const one = many(6, (n) => Buffer.from(`data: {"a":"${n}","b":"${n}","n":1}\n\n`));
    expect(read(one, known).recalled).toBe(4);
    const lines = [
      '{"b":"0","a":"1","n":1}',
      '{"a":"0","b":"1","n":12}',
      '{"a":"0","b":"1","n":1,"n":2}',
      '{"a":"0","b":"1","n":1}}',
      '{"a":"0\\",\\"b\\":\\"1","b":"2","n":1}',
      '{"a":"0","a":"9","b":"1","n":1}',
      '{"a":"0","b":"1","n":1,"b":"8"}',
      '{"a":"0","b":"1","n":1} ',
      '{"a":"0","b":"1","n":1',
      '{"a":"0","b":"","n":1}',
    ].map((data) => Buffer.from(`data: ${data}\n\n`));
    for (const chunk of lines) {
      const chunks = [...one.slice(0, 2), chunk, ...one.slice(0, 1)];
      expect(read(chunks, known).found).toEqual(parsed(Buffer.concat(chunks)));
    }
    const mark = Buffer.from('\xef\xbb\xbf', 'latin1');
    for (const marked of [Buffer.concat([mark, ...one]), Buffer.concat([...one, mark, ...one])]) {
      expect(read([marked], known).found).toEqual(parsed(marked));
    }
  });

  it('do not get in the way of one another when one goes on while another is told something', () => {
    const known = new KnownShapes();
    read(answer('one'), known);
    const told: string[] = [];
    const inner = newReading(known);
    const rest = answer('inner');
    const reader = new EventReader(
      {
        event: () => undefined,
        object: (body) => {
          const before = JSON.stringify(body);
          const chunk = rest.shift();
          if (chunk !== undefined) inner.push(chunk);
          told.push(before, JSON.stringify(body));
        },
      },
      { maxEventBytes: MOST, isOver: () => false, known },
    );
    reader.push(Buffer.concat(answer('outer')));
    const expected = parsed(Buffer.concat(answer('outer')));
    expect(told).toEqual(expected.flatMap((body) => [body, body]));
    expect(inner.recorder.found).toEqual(parsed(Buffer.concat(answer('inner'))));
  });

  it('lend again after a stream has thrown', () => {
    const known = new KnownShapes();
    read(answer('one'), known);
    const reader = new EventReader(
      {
        event: () => undefined,
        object: () => {
          throw new Error('the stream broke');
        },
      },
      { maxEventBytes: MOST, isOver: () => false, known },
    );
    for (const chunk of answer('two')) expect(() => reader.push(chunk)).toThrow('the stream broke');
    expect(read(answer('three'), known).recalled).toBeGreaterThanOrEqual(18);
  });

  it('leave nothing behind of what they said, nor whose they were', () => {
    const known = new KnownShapes();
    const said = (id: string): Buffer[] => [
      ...answer(id),
      event({ type: 'call', arguments: { name: `${id} secret`, list: [`${id} hidden`, 7] } }),
    ];
    // An event that came once is remembered by its marks; one that came twice, by what both had in common.
    read(said('alice'), known);
    expect(reachable(known)).not.toMatch(/says|secret|hidden/);
    for (const id of ['bob', 'carol', 'dave']) read(said(id), known);
    expect(reachable(known)).toContain('"delta":{"text":"');
    expect(reachable(known)).not.toMatch(/alice|bob|carol|dave|says|secret|hidden/);
  });

  it('are not hindered for long by answers that are like nothing', () => {
    const known = new KnownShapes();
    for (let n = 0; n < 50; n += 1) read(unlike(100, `answer ${n}`), known);
    const recalled = Array.from({ length: 8 }, (_, n) => read(answer(`answer ${n}`), known).recalled);
    expect(recalled[0]).toBe(0);
    expect(recalled.at(-1)).toBeGreaterThanOrEqual(18);
    // What is in use stays when others come that are of no use.
    read(unlike(100, 'late'), known);
    expect(read(answer('last'), known).recalled).toBeGreaterThanOrEqual(18);
  });

  it('are parsed when they fit nothing for long, and the next one is tried again', () => {
    const known = new KnownShapes();
    for (const id of ['one', 'two']) read(answer(id), known);
    const late = [...unlike(100, 'late'), ...answer('three')];
    expect(read(late, known).recalled).toBe(0);
    expect(read(answer('four'), known).recalled).toBeGreaterThanOrEqual(18);
  });

  it('keep so few shapes that each is soon found', () => {
    const known = new KnownShapes();
    for (let n = 0; n < 200; n += 1) {
      const kind = many(20, (at) => event({ [`kind ${n}`]: at }));
      expect(read(kind, known).recalled).toBeGreaterThan(15);
    }
    expect(reachable(known).match(/kind \d+/g)?.length).toBeLessThan(200);
    expect(reachable(known)).toContain('kind 199');
  });

  it('never get a member that is left out, nor an event in which it is none', () => {
    const known = new KnownShapes(() => ['id', 'n']);
    const line = (id: string, n: string): Buffer =>
      Buffer.from(`data: {"id":${id},"n":${n},"a":"b"}\n\n`, 'latin1');
    read([line('"x"', '1'), line('"y"', '2'), line('"z"', '3')], known);
    const recorder = new Recorder();
    const reader = new EventReader(recorder, { maxEventBytes: MOST, isOver: () => false, known });
    reader.push(line('"secret"', '77'));
    expect(recorder.found).toEqual(['{"id":"","n":0,"a":"b"}']);
    for (const text of TEXTS.flatMap((sign) => [sign, `${'x'.repeat(9)}${sign}${'y'.repeat(9)}`])) {
      const chunk = line(`"${text}"`, '1');
      const isObject = parsed(chunk).at(0)?.startsWith('{') === true;
      const found = read([line('"y"', '2'), chunk], known).found;
      if (isObject && parsed(chunk).length === 1) expect(found.slice(1)).toHaveLength(1);
      if (!isObject) expect(found.slice(1)).toEqual(parsed(chunk));
    }
    for (const number of NUMBERS) {
      const chunk = line('"x"', number);
      const found = read([chunk], known).found[0] ?? '';
      const expected = parsed(chunk)[0] ?? '';
      expect(found.startsWith('{')).toBe(expected.startsWith('{'));
    }
  });
});
