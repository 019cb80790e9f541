/** Cut-offs over latency: the service with other silences than its own, and what each of them makes of natural pauses. */
import type { CoreRow, Replayed, ServiceRows } from './replay.ts';
import { print, share } from './print.ts';
import { toleranceMs } from './table.ts';

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

/** Of natural pauses, those in which the turn was ended, and when a turn that was over was ended, in the mean. */
export function curveTable(replayed: readonly Replayed[]): string {
  const turns = replayed.filter(({ scenario }) => scenario.group.startsWith('natural'));
  const names = [...new Set(turns.flatMap(({ deciders }) => deciders.map(({ name }) => name)))];
  const groups = [...new Set(turns.map(({ scenario }) => scenario.group))].sort();
  const lines = groups.flatMap((group) =>
    names.map((name) => {
      let [cut, of] = [0, 0];
      const latencies: number[] = [];
      for (const { scenario, deciders } of turns) {
        const decider = deciders.find((one) => one.name === name);
        if (scenario.group !== group || decider === undefined) continue;
        of += 1;
        if (decider.endsMs.some((atMs) => atMs < scenario.endMs - toleranceMs)) cut += 1;
        const end = decider.endsMs.find((atMs) => atMs >= scenario.endMs - toleranceMs);
        if (end !== undefined) latencies.push(end - scenario.endMs);
      }
      const mean = latencies.reduce((sum, ms) => sum + ms, 0) / Math.max(1, latencies.length);
      return [group, name, share(cut, of), `${Math.round(mean)} ms`];
    }),
  );
  const ours = print(['pauses', 'decided by', 'cut off', 'decision, mean'], lines);
  return `\n${ours}\n\n${print(['eot-bench, English', 'cut off', 'latency at cut-offs of'], published)}`;
}
