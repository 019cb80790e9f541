/**
 * The command `rehearse SCENARIOS.toml AGENT.toml`: plays scenarios against an agent and reports, for people and for build
 * servers (see docs/rehearsal.md).
 */
import { writeFileSync } from 'node:fs';
import { transitionTool } from '../../../shared/config/agent/flow.ts';
import type { Problem } from '../../../shared/config/problem.ts';
import { showProblem } from '../../../shared/config/problem.ts';
import { readArguments, usageError } from '../../commands/commands.ts';
import { whyUnreadable, whyUnwritable } from '../../../shared/installation/named-files.ts';
import { openAgent, type AgentSources, type OpenAgent, type Realness } from '../agent.ts';
import { coloursFor, type Colours } from '../colours.ts';
import { shownCall } from './judge.ts';
import { junitReport } from './junit.ts';
import { printable, shownMs } from '../../commands/printable.ts';
import { runScenario, type ScenarioResult } from './run-scenario.ts';
import { readScenarioFile } from './scenario-file.ts';
import { isScripted, type Scenario, type ScenarioFile } from './scenario.ts';

export interface RehearseOptions extends AgentSources {
  readonly output: { readonly isTTY?: boolean; write(text: string): unknown };
}

interface Wish {
  readonly scenarios: string;
  readonly agent: string;
  readonly only: readonly string[];
  readonly jobs: number;
  readonly junit?: string;
  readonly isVerbose: boolean;
}

const mostJobs = 64;

/** The wish, or what is wrong with the arguments. */
function readWish(args: readonly string[]): Wish | string {
  const parsed = readArguments('rehearse', args);
  if (!parsed.ok) return parsed.error;
  const { values, given } = parsed.value;
  const [scenarios = '', agent = ''] = given;
  const jobs = /^\d{1,3}$/.test(values.jobs ?? '1') ? Number(values.jobs ?? '1') : 0;
  if (jobs < 1 || jobs > mostJobs) return `--jobs must be a whole number from 1 to ${mostJobs}`;
  return {
    scenarios,
    agent,
    only: values.only ?? [],
    jobs,
    ...(values.junit !== undefined && { junit: values.junit }),
    isVerbose: values.verbose === true,
  };
}

/** Returns the exit status: 0 all passed, 1 a scenario failed, 2 nothing was played. */
export async function runRehearse(args: readonly string[], sources: RehearseOptions): Promise<0 | 1 | 2> {
  const { writeError, readFile, env } = sources;
  const refuse = (lines: readonly string[]): 2 => {
    lines.forEach(writeError);
    return 2;
  };
  const wish = readWish(args);
  if (typeof wish === 'string') return refuse([usageError('rehearse', wish)]);
  const obstacle = wish.junit === undefined ? undefined : whyUnwritable(wish.junit);
  if (obstacle !== undefined) return refuse([`--junit: ${wish.junit} cannot be written: ${obstacle}`]);
  const text = readFile(wish.scenarios);
  if (text === undefined)
    return refuse([
      `${wish.scenarios}:1:1: error: the file cannot be read: ${whyUnreadable(wish.scenarios)}`,
    ]);
  const scenarios = readScenarioFile(text, env);
  const reading = await openAgent(wish.agent, sources, realnessOf(scenarios.file));
  const problems = [
    ...errorsOf(wish.scenarios, scenarios.problems),
    ...errorsOf(wish.agent, reading.problems),
  ];
  if (scenarios.file === undefined || reading.agent === undefined) {
    await reading.agent?.close();
    return refuse(problems);
  }
  const chosen = choose(scenarios.file, { only: wish.only, agent: reading.agent });
  if (typeof chosen === 'string') {
    await reading.agent.close();
    return refuse([chosen]);
  }
  try {
    return await rehearse(chosen, { wish, agent: reading.agent, sources });
  } finally {
    await reading.agent.close();
  }
}

/** An LLM is needed where one answers, or where one plays a caller or judges and none is named for that. */
function realnessOf(file: ScenarioFile | undefined): Realness {
  const scenarios = file?.scenarios ?? [];
  const isJudged = scenarios.some(({ expect }) => expect.judge.length > 0) && file?.callerLlm === undefined;
  return {
    realTools: file?.realTools ?? false,
    realLlm: isJudged || scenarios.some((scenario) => !isScripted(scenario)),
  };
}

const errorsOf = (file: string, problems: readonly Problem[]): string[] =>
  problems.filter(({ severity }) => severity === 'error').map((problem) => showProblem(file, problem));

function choose(
  file: ScenarioFile,
  { only, agent }: { readonly only: readonly string[]; readonly agent: OpenAgent },
): ScenarioFile | string {
  for (const scenario of file.scenarios) {
    const tool = toolsNamedIn(scenario).find((name) => !agent.mayHaveTool(name));
    if (tool !== undefined)
      return `scenario ${JSON.stringify(scenario.name)}: the agent has no tool of the name ${tool}`;
  }
  if (only.length === 0) return file;
  const unknown = only.find((name) => !file.scenarios.some((scenario) => scenario.name === name));
  if (unknown !== undefined) return `--only: no scenario is named ${JSON.stringify(unknown)}`;
  return { ...file, scenarios: file.scenarios.filter(({ name }) => only.includes(name)) };
}

/** A name that is misspelt among those that must not be called would never fail. */
function toolsNamedIn({ tools, caller, expect }: Scenario): string[] {
  const steps = caller.kind === 'script' ? caller.steps : [];
  const expected = [expect, ...steps.flatMap((step) => step.expect ?? [])];
  return [
    ...tools.map(({ name }) => name),
    ...expected.flatMap(({ calls, neverCalls }) => [...calls.map(({ name }) => name), ...neverCalls]),
  ].filter((name) => !name.startsWith(transitionTool('')));
}

async function rehearse(
  { scenarios, realTools, callerLlm }: ScenarioFile,
  { wish, agent, sources }: { wish: Wish; agent: OpenAgent; sources: RehearseOptions },
): Promise<0 | 1 | 2> {
  const { clock, output, env, writeError } = sources;
  const colours = coloursFor(output, env);
  const startedAt = clock.now();
  const rehearsal = {
    agent,
    callerLlm: callerLlm === undefined ? agent.llm : await agent.openLlm(callerLlm),
    realTools,
    clock,
  };
  const results = await inOrder(
    scenarios.map((scenario) => () => runScenario(scenario, rehearsal)),
    {
      jobs: wish.jobs,
      done: (result) => {
        for (const line of report(result, colours, wish.isVerbose)) output.write(`${line}\n`);
      },
    },
  );
  const tookMs = clock.now() - startedAt;
  const failed = results.filter(({ failures }) => failures.length > 0).length;
  output.write(`${results.length - failed} passed, ${failed} failed in ${shownMs(tookMs)}\n`);
  if (
    wish.junit !== undefined &&
    !writeReport(wish.junit, junitReport(results, { suite: agent.name, tookMs }))
  ) {
    writeError(`--junit: ${wish.junit} cannot be written`);
    return 2;
  }
  return failed === 0 ? 0 : 1;
}

function writeReport(path: string, text: string): boolean {
  try {
    writeFileSync(path, text);
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error) return false;
    throw error;
  }
}

/** Does some of the work at a time and tells every result in the order of the work, as soon as those before it are there. */
async function inOrder<T>(
  work: readonly (() => Promise<T>)[],
  { jobs, done }: { readonly jobs: number; readonly done: (result: T) => void },
): Promise<T[]> {
  const results = new Map<number, T>();
  let next = 0;
  let told = 0;
  const lane = async (): Promise<void> => {
    for (;;) {
      const index = next;
      const job = work[index];
      if (job === undefined) return;
      next += 1;
      results.set(index, await job());
      for (let result = results.get(told); result !== undefined; result = results.get(told)) {
        told += 1;
        done(result);
      }
    }
  };
  await Promise.all(Array.from({ length: jobs }, lane));
  return [...results].sort(([a], [b]) => a - b).map(([, result]) => result);
}

function report(result: ScenarioResult, colours: Colours, isVerbose: boolean): string[] {
  const { name, failures, tookMs, turns, faults } = result;
  const counted = turns.filter(({ caller }) => caller !== undefined).length;
  const summary = `${printable(name)} (${counted} ${counted === 1 ? 'turn' : 'turns'}, ${shownMs(tookMs)})`;
  const hasFailed = failures.length > 0;
  const head = hasFailed ? `${colours.bad('FAILED')}  ${summary}` : `${colours.good('ok')}      ${summary}`;
  const conversation = [...shownCall(turns), ...faults.map((fault) => `fault ${fault}`)];
  return [
    head,
    ...failures.map((failure) => colours.bad(`        ${printable(failure)}`)),
    ...(hasFailed || isVerbose
      ? conversation.map((line) => colours.aside(`          ${printable(line)}`))
      : []),
  ];
}
