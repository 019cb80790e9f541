/** The command: runs in the mode that was asked for, and prints. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { agentLinks, describeAgentLinks, judgeAgentLinks } from './agent-link.ts';
import { callList, describeCallList, judgeCallList } from './call-list.ts';
import { agents, describeAgents, judgeAgents } from './agents.ts';
import { describeInterruptions, judgeInterruptions } from './report/interruption-report.ts';
import { interruptions } from './interruptions.ts';
import { parseCommand, UsageError, type Command } from './options.ts';
import { stopEverything } from './parties.ts';
import { summariseProfiles } from './report/profile-summary.ts';
import { echoCpuOfCall } from './echo-floor.ts';
import { compare, describe, describeCost, describeFloor, judge } from './report/report.ts';
import type { FloorRow } from './report/statistics.ts';
import { describeOverload, judgeOverload, overload } from './overload.ts';
import { describeRestart, judgeRestart, restart } from './restart.ts';
import { describeSpeed, machineSpeed } from './machine-speed.ts';
import { compareWithKept, figuresOf, keepFigures } from './report/kept.ts';
import { runOnce, type RunResult } from './run.ts';
import { describeSip, judgeSip, sipCalls } from './sip.ts';
import { soak } from './soak.ts';
import { describeWebrtc, judgeWebrtc, webrtcCalls } from './webrtc/calls.ts';
import {
  describeWebrtcInterruptions,
  judgeWebrtcInterruptions,
  webrtcInterruptions,
} from './webrtc/interruptions.ts';
import { describeSoak, judgeSoak } from './report/soak-report.ts';

const steps = [64, 100, 128, 160, 200, 256, 320, 400, 512];

interface Findings<T> {
  readonly result: T;
  readonly rows: readonly FloorRow[];
  readonly text: string;
}

/** True when everything that was promised holds. */
function print<T extends object>({ json }: Command, { result, rows, text }: Findings<T>): boolean {
  const plain = (_key: string, value: unknown): unknown =>
    value instanceof Map ? Object.fromEntries(value) : value;
  process.stdout.write(json ? `${JSON.stringify({ ...result, floor: rows }, plain)}\n` : `${text}\n\n`);
  return rows.every(({ passed }) => passed);
}

async function hold(command: Command, root: URL): Promise<boolean> {
  const { profile, realtime, json } = command;
  if (profile !== undefined) mkdirSync(profile, { recursive: true });
  // The three stages first, under the same load on the same machine.
  const beside = realtime ? await runOnce({ ...command, realtime: false, root }) : undefined;
  const result = await runOnce({ ...command, root });
  const echo = command.floor ? await echoCpuOfCall({ ...command, root }) : undefined;
  const found = echo === undefined ? result : { ...result, echoCpuOfCall: echo };
  const passed = print(command, { result: found, rows: judge(result), text: describe(result) });
  if (echo !== undefined) reportFloor(command, result, echo);
  if (beside !== undefined && !json) process.stdout.write(`${compare(beside, result)}\n`);
  if (profile !== undefined) process.stdout.write(`${summariseProfiles(profile)}\n`);
  return passed;
}

function reportFloor({ calls, kept, note, json }: Command, result: RunResult, echoCpuOfCall: number): void {
  if (!json) process.stdout.write(`${describeFloor(result, echoCpuOfCall)}\n`);
  if (kept === undefined) return;
  const figures = figuresOf({ processes: result.processes, calls, echoCpuOfCall });
  if (!json) process.stdout.write(`${compareWithKept(kept, figures)}\n`);
  if (note) keepFigures(kept, figures);
}

/** The same calls without records of them and with them, and what the records cost. */
async function holdRecorded(command: Command, root: URL): Promise<boolean> {
  const folder = mkdtempSync(join(tmpdir(), 'voice-bench-calls-'));
  try {
    const without = await runOnce({ ...command, root });
    const variables = { SVC_CALLS_DB: join(folder, 'calls.db'), ...command.variables };
    const result = await runOnce({ ...command, variables, root });
    const rows = [...judge(without), ...judge(result)];
    const text = [describe(without), describe(result), describeCost(without, result)].join('\n\n');
    return print(command, { result: { without, with: result }, rows, text });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** A step that fails is tried once more, because a busy machine fails steps too. */
async function findMax(command: Command, root: URL): Promise<boolean> {
  let held = 0;
  for (const calls of steps) {
    const step = { ...command, calls };
    if (!(await hold(step, root)) && !(await hold(step, root))) break;
    held = calls;
  }
  process.stdout.write(`Most calls held within the floor: ${held}\n`);
  return held >= 100;
}

async function perform(command: Command, root: URL): Promise<boolean> {
  const { mode, calls } = command;
  switch (mode.name) {
    case 'hold': {
      let passed = true;
      for (const step of command.steps) {
        const one = { ...command, calls: step };
        passed = (await (command.recorded ? holdRecorded(one, root) : hold(one, root))) && passed;
      }
      return passed;
    }
    case 'calls-list': {
      const result = await callList(mode, (text) => process.stderr.write(text));
      return print(command, { result, rows: judgeCallList(result), text: describeCallList(result) });
    }
    case 'find-max':
      return findMax(command, root);
    case 'overload': {
      const result = await overload({ ...command, root });
      return print(command, { result, rows: judgeOverload(result), text: describeOverload(result) });
    }
    case 'agent-link': {
      const result = await agentLinks(command);
      return print(command, { result, rows: judgeAgentLinks(result), text: describeAgentLinks(result) });
    }
    case 'agents': {
      const result = await agents({ ...command, ...mode, root });
      return print(command, { result, rows: judgeAgents(result), text: describeAgents(result) });
    }
    case 'interruptions': {
      const result = await interruptions({ ...command, ...mode, root });
      return print(command, {
        result,
        rows: judgeInterruptions(result.rows),
        text: describeInterruptions(result),
      });
    }
    case 'restart': {
      const result = await restart({ ...command, root });
      return print(command, { result, rows: judgeRestart(result), text: describeRestart(result) });
    }
    case 'sip': {
      const result = await sipCalls({ ...command, ...mode, root });
      return print(command, { result, rows: judgeSip(result), text: describeSip(result) });
    }
    case 'webrtc': {
      if (command.profile !== undefined) mkdirSync(command.profile, { recursive: true });
      const result = await webrtcCalls({ ...command, ...mode, root }, (text) => process.stderr.write(text));
      const passed = print(command, { result, rows: judgeWebrtc(result), text: describeWebrtc(result) });
      if (command.profile !== undefined) process.stdout.write(`${summariseProfiles(command.profile)}\n`);
      return passed;
    }
    case 'webrtc-interruptions': {
      const result = await webrtcInterruptions({ ...command, ...mode, root });
      const rows = judgeWebrtcInterruptions(result);
      return print(command, { result, rows, text: describeWebrtcInterruptions(result) });
    }
    case 'soak': {
      const { total, warmUp } = mode;
      const options = { ...command, total, warmUp, parallel: calls, root };
      const result = await soak(options, (text) => process.stderr.write(text));
      return print(command, { result, rows: judgeSoak(result), text: describeSoak(result) });
    }
  }
}

/** @param root the project's folder, as a URL that ends in a slash. Resolves with the exit status. */
export async function main(args: readonly string[], root: URL): Promise<number> {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      stopEverything();
      process.exit(1);
    });
  }
  try {
    const command = parseCommand(args);
    if (!command.json) process.stdout.write(`${describeSpeed(await machineSpeed())}\n`);
    return (await perform(command, root)) ? 0 : 1;
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : 'the bench failed'}\n`);
    const isUsage = error instanceof UsageError || (error instanceof TypeError && 'code' in error);
    return isUsage ? 2 : 1;
  }
}
