/**
 * A service of many agents beside one of one: how much longer it takes to start, what the agents cost in memory, how soon a changed file is in force
 * while calls run, and whether the calls notice.
 */
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { briefCall } from './client/knock.ts';
import type { LoadResult } from './load.ts';
import { agentPath, openCalls, watchCalls, withParties, type Parties } from './parties.ts';
import { memoryUse, serviceProcesses } from './processes.ts';
import { ms, table, times } from './report/report.ts';
import { Distribution, type FloorRow, type Summary } from './report/statistics.ts';
import type { RunOptions } from './run.ts';
import { complaintText } from './started.ts';

export interface AgentsOptions extends RunOptions {
  readonly agents: number;
}

interface Stand {
  readonly readyMs: number;
  /** Bytes of heaps and stacks, by process. */
  readonly memory: ReadonlyMap<string, number>;
}

export interface AgentsResult {
  readonly agents: number;
  readonly calls: number;
  readonly one: Stand;
  readonly many: Stand;
  /** From the renaming of a file until new calls get it. */
  readonly change: Summary;
  readonly firstCall: Summary;
  readonly laterCall: Summary;
  readonly load: LoadResult;
  readonly complaints: readonly string[];
}

/** Fewer than the lines of one sentence that the log has room for. */
const changes = 20;
const called = 20;
/** Garbage of the start is collected by then, as far as it will be. */
const calmMs = 5_000;
const changeLimitMs = 10_000;
const changed = 'an agent was changed: new calls get this version';

const limits = { startMs: 2_000, kilobytes: 60, changeMs: 1_000, latenessMs: 20 } as const;

export async function agents(options: AgentsOptions): Promise<AgentsResult> {
  const one = await withParties(partiesOf(options, 1), standOf);
  return await withParties(partiesOf(options, options.agents), async (parties) => {
    const many = await standOf(parties);
    const firstCall = await callEach(options, parties);
    const laterCall = await callEach(options, parties);
    await openCalls(parties, options);
    const change = new Distribution();
    const load = await watchCalls(parties, async () => {
      for (let time = 0; time < changes; time += 1) change.add(await changeOne(options, parties, time));
    });
    const { calls, agents: count } = options;
    const { complaints } = parties.service;
    const found = { firstCall, laterCall, change: change.summary(), load, complaints };
    return { agents: count, calls, one, many, ...found };
  });
}

const partiesOf = ({ root, workers, calls, variables }: AgentsOptions, count: number) => ({
  root,
  workers,
  agents: count,
  env: { SVC_MAX_SESSIONS: String(Math.max(512, calls * 2)), ...variables },
});

async function standOf({ service, readyMs }: Parties): Promise<Stand> {
  await sleep(calmMs);
  const processes = [...serviceProcesses(service.pid)].filter(([name]) => name !== 'inference');
  return {
    readyMs,
    memory: new Map(processes.map(([name, pid]) => [name, memoryUse(pid).anonymousBytes])),
  };
}

/** A short call of each of some agents, one after the other. */
async function callEach({ format, agents: count }: AgentsOptions, { service }: Parties): Promise<Summary> {
  const started = new Distribution();
  for (let at = 0; at < Math.min(called, count); at += 1) {
    const metadata = { agent: `agent-${at}` };
    const start = { sample_rate: format.sampleRate, encoding: format.encoding, metadata };
    const { startedMs, outcome } = await briefCall(service.address, start);
    if (Number.isNaN(startedMs)) throw new Error(`a call of an agent did not begin: ${outcome}`);
    started.add(startedMs);
  }
  return started.summary();
}

async function changeOne({ agents: count }: AgentsOptions, parties: Parties, time: number): Promise<number> {
  const path = agentPath(parties.folder, (time * 7) % count);
  const text = readFileSync(path, 'utf8');
  const inForce = parties.service.says(changed, changeLimitMs);
  writeFileSync(`${path}.new`, `${text}# change ${time}\n`);
  const from = performance.now();
  renameSync(`${path}.new`, path);
  await inForce;
  return performance.now() - from;
}

const kilobytesEach = ({ agents: count, one, many }: AgentsResult): ReadonlyMap<string, number> =>
  new Map(
    [...many.memory].map(([name, bytes]) => [
      name,
      (bytes - (one.memory.get(name) ?? 0)) / 1024 / Math.max(1, count - 1),
    ]),
  );

export function judgeAgents(result: AgentsResult): FloorRow[] {
  const { one, many, change, load, calls } = result;
  const longerMs = many.readyMs - one.readyMs;
  const most = Math.max(...kilobytesEach(result).values());
  return [
    {
      rule: `a start takes at most ${limits.startMs / 1000} s longer than with one agent`,
      found: `${ms(one.readyMs)} ms, and ${ms(longerMs)} ms longer`,
      passed: longerMs <= limits.startMs,
    },
    {
      rule: `memory of each agent and process, at most ${limits.kilobytes} KB`,
      found: `${most.toFixed(1)} KB`,
      passed: most <= limits.kilobytes,
    },
    {
      rule: `a changed file is in force, p99, after at most ${limits.changeMs} ms`,
      found: `${ms(change.p99Ms)} ms`,
      passed: change.p99Ms <= limits.changeMs,
    },
    {
      rule: `frame lateness meanwhile, p99, at most ${limits.latenessMs} ms`,
      found: `${ms(load.lateness.p99Ms)} ms`,
      passed: load.lateness.p99Ms <= limits.latenessMs,
    },
    {
      rule: 'no running call is dropped',
      found: `${load.open} of ${calls}`,
      passed: load.open === calls && load.failures.length === 0,
    },
  ];
}

export function describeAgents(result: AgentsResult): string {
  const { agents: count, calls, change, firstCall, laterCall, load } = result;
  const rows = judgeAgents(result);
  return [
    `${count} agents of 6 KB, of which ${changes} change while ${calls} calls run`,
    '',
    ...table([
      ['ms', 'p50', 'p99', 'max', 'count'],
      times('a changed file is in force after', change),
      times('the first call of an agent began after', firstCall),
      times('its second call began after', laterCall),
      times('frame lateness meanwhile', load.lateness),
      times("the load process's own ticker, late", load.ticker),
    ]),
    `  memory of each agent: ${[...kilobytesEach(result)].map(([name, size]) => `${name} ${size.toFixed(1)} KB`).join(', ')}`,
    ...complaintText(result.complaints),
    '',
    ...table([
      ['many agents', 'found', ''],
      ...rows.map((row) => [row.rule, row.found, row.passed ? 'PASS' : 'FAIL']),
    ]),
    rows.every(({ passed }) => passed) ? '  PASS' : '  FAIL',
  ].join('\n');
}
