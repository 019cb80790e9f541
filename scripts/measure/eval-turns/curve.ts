/** Cut-offs over latency: the service with other silences than its own, and what each of them makes of natural pauses. */
import { newPrng } from '../../../shared/base/prng.ts';
import type { CoreRow, Replayed, ServiceRows } from './replay.ts';
import { print, share } from './print.ts';
import { toleranceMs } from './print.ts';

/** Silences that end a turn, without and with a turn model, beside the defaults. */
const withoutModel = [300, 400, 500, 900, 1_200].map((ms) => `silence_end_ms = ${ms}`);
const withModel = [200, 300, 400, 700].map((ms) => `stop_ms = ${ms}`);
const streamed = 'service, streamed words';
const judged = 'service, streamed words, Smart Turn';

type Service = (hasModel: boolean, turn: string) => { withoutModel: ServiceRows; withModel: ServiceRows };

export function curvePoints(hasModel: boolean, service: Service): ServiceRows[] {
  const point = (rows: ServiceRows, name: string, turn: string): ServiceRows => ({
    ...rows,
    cores: rows.cores.flatMap((row): CoreRow[] =>
      row.name === name ? [{ ...row, name: `${name}, ${turn}` }] : [],
    ),
  });
  return [
    ...withoutModel.map((turn) => point(service(hasModel, turn).withoutModel, streamed, turn)),
    ...(hasModel ? withModel : []).map((turn) => point(service(hasModel, turn).withModel, judged, turn)),
  ];
}

/** As published with the model turn-1 (October 2026) for the English part of LiveKit's eot-bench: other audio and other pauses, so no more than a measure of scale. */
const published = [
  ['LiveKit Turn Detector v1', '9.9 % at 300 ms, 4.5 % at 600 ms', '543 ms at 5 %, 295 ms at 10 %'],
  ['turn-1', '10.6 % at 300 ms, 4.5 % at 600 ms', '553 ms at 5 %, 322 ms at 10 %'],
  ['Deepgram Flux', '12.9 % at 300 ms, 9.9 % at 600 ms', '1151 ms at 5 %, 548 ms at 10 %'],
  ['Smart Turn 3', 'none published on it', '-'],
];

/** A voice that is back is noticed after this time. */
const noticedMs = 100;

/** Ended in the pause that was put in: elsewhere the recording has pauses of its own. */
export const isCutInPause = (
  { pause }: Replayed['scenario'],
  { endsMs }: Replayed['deciders'][number],
): boolean =>
  pause !== undefined && endsMs.some((atMs) => atMs >= pause.fromMs && atMs < pause.toMs + noticedMs);

interface Pauses {
  cut: number;
  of: number;
  latencyMs: number;
  ends: number;
}

/** By recordings, because what is drawn again for the interval are speakers and not pauses. */
function byClip(turns: readonly Replayed[], name: string): Pauses[] {
  const clips = new Map<string, Pauses>();
  for (const { scenario, deciders } of turns) {
    const decider = deciders.find((one) => one.name === name);
    if (decider === undefined) continue;
    const row = clips.get(scenario.clip ?? '') ?? { cut: 0, of: 0, latencyMs: 0, ends: 0 };
    clips.set(scenario.clip ?? '', row);
    row.of += 1;
    if (isCutInPause(scenario, decider)) row.cut += 1;
    const end = decider.endsMs.find((atMs) => atMs >= scenario.endMs - toleranceMs);
    if (end === undefined) continue;
    row.latencyMs += end - scenario.endMs;
    row.ends += 1;
  }
  return [...clips.values()];
}

const total = (rows: readonly Pauses[], of: (row: Pauses) => number): number =>
  rows.reduce((sum, row) => sum + of(row), 0);
const cutShare = (rows: readonly Pauses[]): number =>
  total(rows, ({ cut }) => cut) /
  Math.max(
    1,
    total(rows, ({ of }) => of),
  );

/** In which 95 of 100 shares lie of as many recordings drawn again from these. */
function interval(rows: readonly Pauses[]): string {
  const prng = newPrng(5);
  const shares = Array.from({ length: redraws }, () => cutShare(rows.map(() => prng.pick(rows)))).sort(
    (a, b) => a - b,
  );
  return [0.025, 0.975].map((at) => ((shares[Math.floor(redraws * at)] ?? 0) * 100).toFixed(1)).join(' to ');
}
const redraws = 2_000;

/** Of natural pauses, those in which the turn was ended, and when a turn that was over was ended, in the mean. */
export function curveTable(replayed: readonly Replayed[]): string {
  const turns = replayed.filter(({ scenario }) => scenario.pause !== undefined);
  const names = [...new Set(turns.flatMap(({ deciders }) => deciders.map(({ name }) => name)))];
  const groups = [...new Set(turns.map(({ scenario }) => scenario.group))].sort();
  const lines = groups.flatMap((group) =>
    names.map((name) => {
      const rows = byClip(
        turns.filter(({ scenario }) => scenario.group === group),
        name,
      );
      const [cut, of, ends] = [
        total(rows, (row) => row.cut),
        total(rows, (row) => row.of),
        total(rows, (row) => row.ends),
      ];
      const meanMs = total(rows, ({ latencyMs }) => latencyMs) / Math.max(1, ends);
      return [group, name, share(cut, of), interval(rows), `${Math.round(meanMs)} ms`];
    }),
  );
  const ours = print(['pauses', 'decided by', 'cut off', '95 of 100', 'decision, mean'], lines);
  return `\n${ours}\n\n${print(['eot-bench, English', 'cut off', 'latency at cut-offs of'], published)}`;
}
