/** Figures of an earlier run in a file: a later one says what has changed by more than a tenth. A busy machine changes them as well, so nothing fails by it. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import type { ProcessFinding } from '../run.ts';

/** By name; comparable between machines as far as figures of a benchmark are. */
export type KeptFigures = Readonly<Record<string, number>>;

const noticedShare = 0.1;

export interface KeptRun {
  readonly processes: readonly ProcessFinding[];
  readonly calls: number;
  /** Of one core, for each call of a mere echo. */
  readonly echoCpuOfCall: number;
}

export function figuresOf({ processes, calls, echoCpuOfCall }: KeptRun): KeptFigures {
  const own = processes.filter(({ name }) => name !== 'providers' && name !== 'load');
  const sum = (pick: (one: ProcessFinding) => number): number =>
    own.reduce((total, one) => total + pick(one), 0);
  const round = (value: number, digits: number): number => Number(value.toFixed(digits));
  return {
    [`${calls} calls: times the CPU of an echo`]: round(
      sum(({ cpuShare }) => cpuShare) / calls / echoCpuOfCall,
      1,
    ),
    [`${calls} calls: wake-ups a second`]: round(
      sum(({ wakeRate }) => wakeRate),
      0,
    ),
    [`${calls} calls: PSS of the service in MB`]: round(sum(({ loaded }) => loaded.pssBytes) / 1_048_576, 0),
  };
}

/** One line for each figure that differs by more than a tenth from what was kept. */
export function changesOf(kept: KeptFigures, found: KeptFigures): string[] {
  return Object.entries(found).flatMap(([name, value]) => {
    const before = kept[name];
    if (before === undefined || Math.abs(value - before) <= noticedShare * before) return [];
    return [`  ${name}: ${value}, and ${before} when it was noted: a change of more than a tenth`];
  });
}

export function compareWithKept(file: string, found: KeptFigures): string {
  const kept = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as KeptFigures) : {};
  const changes = changesOf(kept, found);
  return changes.length > 0 ? changes.join('\n') : '  no figure has changed by more than a tenth';
}

/** Figures of other numbers of calls stay. */
export function keepFigures(file: string, found: KeptFigures): void {
  const kept = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as KeptFigures) : {};
  writeFileSync(file, `${JSON.stringify({ ...kept, ...found }, null, 2)}\n`);
}
