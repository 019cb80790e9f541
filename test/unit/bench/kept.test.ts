/** Figures of the bench that are kept in a file, and what a later run says of them. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import {
  changesOf,
  compareWithKept,
  figuresOf,
  keepFigures,
} from '../../../scripts/measure/bench/report/kept.ts';

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

const memory = { rssBytes: 0, pssBytes: 1_048_576, anonymousBytes: 0 };
const finding = (name: string, cpuShare: number, wakeRate: number) => ({
  ...{ name, cpuShare, wakeRate, waitShare: 0, idleCpuShare: 0 },
  idle: memory,
  loaded: memory,
});

it("are those of the service's processes, beside an echo", () => {
  const processes = [
    finding('worker 0', 0.1, 300),
    finding('inference', 0.05, 50),
    finding('load', 1, 1_000),
  ];
  expect(figuresOf({ processes, calls: 10, echoCpuOfCall: 0.005 })).toEqual({
    '10 calls: times the CPU of an echo': 3,
    '10 calls: wake-ups a second': 350,
    '10 calls: PSS of the service in MB': 2,
  });
});

it('are told where they changed by more than a tenth, up or down', () => {
  const kept = { one: 100, two: 100, three: 100 };
  const changes = changesOf(kept, { one: 110, two: 111, three: 89, four: 5 });
  expect(changes.map((line) => line.trim().split(':')[0])).toEqual(['two', 'three']);
});

it('are written beside those of other numbers of calls', () => {
  const folder = mkdtempSync(join(tmpdir(), 'kept-'));
  folders.push(folder);
  const file = join(folder, 'bench.json');
  expect(compareWithKept(file, { one: 1 })).toContain('no figure has changed');
  keepFigures(file, { one: 1 });
  keepFigures(file, { two: 2 });
  expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({ one: 1, two: 2 });
  expect(compareWithKept(file, { one: 2 })).toContain('one: 2, and 1 when it was noted');
});
