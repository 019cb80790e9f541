/** Says what a run found, and whether it keeps the project's floor. */
import { availableParallelism, cpus } from 'node:os';
import type { RunResult } from '../run.ts';
import { complaintText } from '../started.ts';
import { histogramOf, type FloorRow, type Samples, type Summary } from './statistics.ts';

const floorCalls = 100;
const floorCores = 2;
const floorLatenessMs = 20;
const floorWriteMs = 1;
/** A turn in a thousand may go astray: speech is judged by a model. */
const floorAnswered = 0.99;

const cleanedFrames = 'svc_inference_frames{state="cleaned"}';
const noisyFrames = 'svc_inference_frames{state="noise_left"}';

/** From here on, in cores, a failure says as much about the machine as about the service. */
const quietCores = 0.1;

export const ms = (value: number): string => (Number.isFinite(value) ? value.toFixed(1) : '-');
const percent = (share: number): string => `${(share * 100).toFixed(1)} %`;
const megabytes = (bytes: number): string => (bytes / 1_048_576).toFixed(1);

/** The rules of the floor, for the number of calls that was asked for. */
export function judge(result: RunResult): FloorRow[] {
  const { load, options, metrics } = result;
  const { answers = 0, unanswered = 0, short = 0, excuses = 0 } = load.counts;
  const answered = answers + unanswered === 0 ? 0 : (answers - excuses) / (answers + unanswered);
  const serviceUnderruns = metrics.get('svc_underruns_total') ?? 0;
  return [
    {
      rule: 'every call asked for is held to the end',
      found: `${load.open} of ${options.calls}`,
      passed: load.open === options.calls && load.failures.length === 0,
    },
    {
      rule: `frame lateness at the client, p99, at most ${floorLatenessMs} ms`,
      found: `${ms(load.lateness.p99Ms)} ms`,
      passed: load.lateness.p99Ms <= floorLatenessMs,
    },
    {
      rule: 'no under-run, at the client or by the service',
      found: `${load.underruns} and ${serviceUnderruns}`,
      passed: load.underruns === 0 && serviceUnderruns === 0,
    },
    {
      rule: `turns answered, at least ${percent(floorAnswered)}, all of them whole`,
      found: `${percent(answered)}, ${excuses} excuses, ${short} broken off`,
      passed: answered >= floorAnswered && short === 0,
    },
    ...noiseRows(result),
    ...linkRows(metrics),
  ];
}

/** The callers of a benchmark are in quiet rooms: left to the service, the noise model hears none of them. */
function noiseRows({ options, metrics }: RunResult): FloorRow[] {
  if (options.noise !== 'auto') return [];
  const heard = (metrics.get(cleanedFrames) ?? 0) + (metrics.get(noisyFrames) ?? 0);
  return [
    { rule: 'no frame of a clean call for the noise model', found: `${heard} frames`, passed: heard === 0 },
  ];
}

/** What a link adds to an event on its way to the agent process; nothing without links. The bounds of the histogram judge. */
function linkRows(metrics: Samples): FloorRow[] {
  const { count, p99Ms } = histogramOf(metrics, 'svc_agent_write_seconds');
  if (count === 0) return [];
  return [
    {
      rule: `agent link: event to socket, p99, at most ${floorWriteMs} ms`,
      found: `at most ${p99Ms} ms (${count} events)`,
      passed: p99Ms <= floorWriteMs,
    },
  ];
}

/** True when the run says something about the floor: enough calls. */
export const testsFloor = ({ options }: RunResult): boolean => options.calls >= floorCalls;

export function table(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows.map(
    (row) =>
      `  ${row.map((cell, at) => (at === 0 ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0))).join('  ')}`,
  );
}

export function times(name: string, { p50Ms, p99Ms, maxMs, count }: Summary): string[] {
  return [name, ms(p50Ms), ms(p99Ms), ms(maxMs), String(count)];
}

function processLines({ processes, options }: RunResult): string[] {
  const { calls } = options;
  const service = processes.filter(({ name }) => name !== 'providers' && name !== 'load');
  const grown = ({ idle, loaded }: RunResult['processes'][number]): number => loaded.pssBytes - idle.pssBytes;
  const row = (name: string, found: readonly RunResult['processes'][number][]): string[] => {
    const cpu = found.reduce((sum, { cpuShare }) => sum + cpuShare, 0);
    const total = (pick: (one: (typeof found)[number]) => number): number =>
      found.reduce((sum, one) => sum + pick(one), 0);
    return [
      name,
      percent(cpu),
      ((cpu * 1000) / calls).toFixed(2),
      (total(({ idleCpuShare }) => idleCpuShare) * 1000).toFixed(1),
      total(({ wakeRate }) => wakeRate).toFixed(0),
      percent(total(({ waitShare }) => waitShare)),
      megabytes(total(({ loaded }) => loaded.rssBytes)),
      megabytes(total(({ loaded }) => loaded.pssBytes)),
      (total(grown) / calls / 1024).toFixed(0),
    ];
  };
  return table([
    [
      'process',
      'CPU of a core',
      'ms CPU per call-second',
      'ms CPU a second without calls',
      'wake-ups a second',
      'waited for a core',
      'RSS MB',
      'PSS MB',
      'PSS KB per call',
    ],
    ...processes.map((one) => row(one.name, [one])),
    row('the service', service),
  ]);
}

const serviceCpu = ({ processes }: RunResult): number =>
  processes
    .filter(({ name }) => name !== 'providers' && name !== 'load')
    .reduce((sum, { cpuShare }) => sum + cpuShare, 0);

/** A table of the cost of a call beside that of a call whose frames are only sent back. */
export function describeFloor(result: RunResult, echoCpuOfCall: number): string {
  const own = serviceCpu(result) / result.options.calls;
  const perSecond = (cpu: number): string => (cpu * 1000).toFixed(2);
  return table([
    ['ms CPU per call-second', 'the service', 'an echo by ws', 'times the floor'],
    [
      `${result.options.calls} calls`,
      perSecond(own),
      perSecond(echoCpuOfCall),
      (own / echoCpuOfCall).toFixed(1),
    ],
  ]).join('\n');
}

/** A model that speaks by itself, beside the three stages under the same load. */
export function compare(stages: RunResult, model: RunResult): string {
  const row = (name: string, of: (result: RunResult) => string): string[] => [name, of(stages), of(model)];
  return table([
    ['', 'three stages', 'speaking model'],
    row('ms CPU per call-second', (one) => ((serviceCpu(one) * 1000) / one.options.calls).toFixed(2)),
    row('frame lateness p99, ms', ({ load }) => ms(load.lateness.p99Ms)),
    row('frame lateness max, ms', ({ load }) => ms(load.lateness.maxMs)),
    row('end of speech to first audio p50, ms', ({ load }) => ms(load.response.p50Ms)),
    row('end of speech to first audio p99, ms', ({ load }) => ms(load.response.p99Ms)),
    row('turns answered', ({ load }) => String(load.counts['answers'])),
    row('of them broken off', ({ load }) => String(load.counts['short'])),
  ])
    .concat(incidentLines(stages))
    .join('\n');
}

/** What the second run costs beside the first one, by process. */
export function describeCost(without: RunResult, result: RunResult): string {
  const cpuOf = ({ processes }: RunResult, name: string): number =>
    processes.find((one) => one.name === name)?.cpuShare ?? 0;
  const names = result.processes
    .map(({ name }) => name)
    .filter((name) => name !== 'providers' && name !== 'load');
  const sum = (run: RunResult): number => names.reduce((total, name) => total + cpuOf(run, name), 0);
  const row = (name: string, [before, after]: readonly [number, number]): string[] => [
    ...[name, percent(before), percent(after), percent(after - before)],
    (((after - before) * 1000) / result.options.calls).toFixed(2),
  ];
  return table([
    ['records of calls, CPU of a core', 'without', 'with', 'more', 'ms more per call-second'],
    ...names.map((name) => row(name, [cpuOf(without, name), cpuOf(result, name)])),
    row('the service', [sum(without), sum(result)]),
  ]).join('\n');
}

function partLines({ metrics }: RunResult): string[] {
  const parts = ['end_of_turn', 'stt_final', 'llm_first', 'tts_first', 'wire'];
  const rows = parts.map((part) => {
    const { meanMs, p50Ms, p99Ms, count } = histogramOf(metrics, 'svc_turn_part_seconds', `part="${part}"`);
    return [part, ms(meanMs), ms(p50Ms), ms(p99Ms), String(count)];
  });
  return table([['part of a turn (by the service), ms', 'mean', 'p50 <=', 'p99 <=', 'turns'], ...rows]);
}

function serviceLines({ metrics }: RunResult): string[] {
  const lateness = histogramOf(metrics, 'svc_frame_lateness_seconds');
  const value = (name: string): number => metrics.get(name) ?? 0;
  return [
    `  svc_frame_lateness: mean ${ms(lateness.meanMs)} ms, p50 <= ${ms(lateness.p50Ms)}, p99 <= ${ms(lateness.p99Ms)} (${lateness.count} frames)`,
    `  svc_underruns ${value('svc_underruns_total')}, interruptions ${value('svc_interruptions_total')}, ` +
      `frames judged by energy ${value('svc_vad_energy_frames_total')}, ` +
      `judged by the model ${value('svc_inference_frames{state="judged"}')}, ` +
      `too quiet for it ${value('svc_inference_frames{state="quiet"}')}, ` +
      `left out ${value('svc_inference_frames{state="left_out"}')}, ` +
      `without their noise ${value(cleanedFrames)}, with it although it was to be taken out ${value(noisyFrames)}`,
  ];
}

/** From an event of a linked call to the socket, and to the command of its agent that reacts to it, there and back. */
function linkLines({ metrics }: RunResult): string[] {
  const { count, meanMs, p50Ms, p99Ms } = histogramOf(metrics, 'svc_agent_hop_seconds');
  if (count === 0) return [];
  const write = histogramOf(metrics, 'svc_agent_write_seconds');
  return [
    `  agent link, event to socket: mean ${write.meanMs.toFixed(3)} ms, p50 <= ${write.p50Ms} ms, p99 <= ${write.p99Ms} ms (${write.count} events)`,
    `  agent link, event to reaction and back: mean ${meanMs.toFixed(2)} ms, p50 <= ${ms(p50Ms)}, p99 <= ${ms(p99Ms)} (${count} turns)`,
  ];
}

/** Moments in which clients ran dry, so that one stall of the machine is told from many small ones. */
function stallLines({ load }: RunResult): string[] {
  if (load.stalls.length === 0) return [];
  const moments = load.stalls.map(
    ({ atMs, calls, worstMs }) => `${(atMs / 1000).toFixed(1)} s: ${calls} x up to ${worstMs.toFixed(0)} ms`,
  );
  return [`  clients ran dry at ${moments.join('; ')}`, ''];
}

/** Prints each incident with its caller. */
const incidentLines = ({ load }: RunResult): string[] =>
  load.incidents.map(
    ({ what, caller, atMs, story }) =>
      `  ${(atMs / 1000).toFixed(1)} s, caller ${caller}: ${what}; before: ${story}`,
  );

export function describe(result: RunResult): string {
  const { load, options, providers, windowMs } = result;
  const { counts } = load;
  const { connections, requests, brokenOff } = providers.traffic;
  const refusals = Object.entries(result.refusals).map(([reason, count]) => `refused as ${reason}: ${count}`);
  const failures = [...new Set([...load.failures, ...refusals])].join('; ');
  const rows = judge(result);
  const passed = rows.every((row) => row.passed);
  const verdict = passed ? 'PASS' : 'FAIL';
  return [
    `${options.calls} calls, ${options.format.sampleRate} Hz ${options.format.encoding}, workers ${options.workers}, ` +
      `${(options.variables['SVC_SMART_TURN_MODEL'] ?? 'off') === 'off' ? 'no turn model' : 'with a turn model'}, ` +
      `${(windowMs / 1000).toFixed(0)} s; ${result.voices}`,
    `${cpus()[0]?.model ?? 'unknown CPU'}, ${availableParallelism()} cores, Node ${process.version}; load average before ` +
      `${result.loadAverageBefore.toFixed(2)}, meanwhile other processes used ${result.foreignCores.toFixed(2)} cores, ` +
      `the host took ${result.stolenCores.toFixed(2)}`,
    '',
    `  calls: ${options.calls} asked, ${load.open} held, ${load.failures.length} failed${failures === '' ? '' : ` (${failures})`}`,
    `  ${Object.entries(counts)
      .map(([name, count]) => `${name} ${count}`)
      .join(', ')}`,
    '',
    ...processLines(result),
    '',
    ...table([
      ['as the clients saw it, ms', 'p50', 'p99', 'max', 'count'],
      times('frame lateness', load.lateness),
      times('gap between frames', load.gaps),
      times('end of speech to first audio', load.response),
      times('decision to first audio, by the service', result.decision),
      times('enough speech to interrupt, to clear', load.clear),
      times("the load process's own ticker, late", load.ticker),
      times('providers late on their own pace', providers.overMs),
    ]),
    '',
    `  LLM and TTS had ${requests} requests, ${brokenOff} of them broken off, and ${connections} new connections`,
    ...incidentLines(result),
    ...stallLines(result),
    ...partLines(result),
    ...serviceLines(result),
    ...linkLines(result),
    ...complaintText(result.complaints),
    '',
    ...table([
      [`floor: ${floorCalls} calls on ${floorCores} cores`, 'found', ''],
      ...rows.map((row) => [row.rule, row.found, row.passed ? 'PASS' : 'FAIL']),
    ]),
    ...(result.foreignCores + result.stolenCores > quietCores && !passed
      ? ['  The machine was busy with other things meanwhile; repeat on a quiet one.']
      : []),
    testsFloor(result) ? `  ${verdict}` : `  ${verdict}, with fewer calls than the floor asks for`,
  ].join('\n');
}
