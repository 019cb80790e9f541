/**
 * Plays one scenario against an agent: the caller does its steps, each once the agent is quiet or in the middle of what it
 * says; then what happened is compared with what was expected. A scenario always comes to an end within its time.
 */
import type { Clock } from '../../../shared/runtime/clock.ts';
import type { Millis } from '../../../shared/base/units.ts';
import type { LlmStage } from '../../../worker/stages/stage.ts';
import type { OpenAgent } from '../agent.ts';
import type { Conversation } from '../conversation.ts';
import { checkScenario } from './expectations.ts';
import { judge } from './judge.ts';
import { nextLine } from './llm-caller.ts';
import { isScripted, type CallerStep, type Scenario } from './scenario.ts';
import { ScriptedModel } from './scripted-model.ts';
import { Transcript, type TurnRecord } from '../transcript.ts';

export interface ScenarioResult {
  readonly name: string;
  /** One sentence each; empty: passed. */
  readonly failures: readonly string[];
  readonly tookMs: Millis;
  readonly turns: readonly TurnRecord[];
  /** Stages that failed, whether the scenario passed or not. */
  readonly faults: readonly string[];
}

export interface Rehearsal {
  readonly agent: OpenAgent;
  /** Plays callers and judges. */
  readonly callerLlm: LlmStage;
  readonly realTools: boolean;
  readonly clock: Clock;
}

interface Playing {
  readonly call: Conversation;
  readonly transcript: Transcript;
  readonly rehearsal: Rehearsal;
  readonly signal: AbortSignal;
  readonly failures: string[];
  /** Absent: the agent's own LLM answers. */
  readonly model?: ScriptedModel;
}

export async function runScenario(scenario: Scenario, rehearsal: Rehearsal): Promise<ScenarioResult> {
  const { clock, agent, realTools } = rehearsal;
  const startedAt = clock.now();
  const transcript = new Transcript();
  const controller = new AbortController();
  const failures: string[] = [];
  const model = isScripted(scenario) ? new ScriptedModel((failure) => failures.push(failure)) : undefined;
  const call = agent.newCall({
    pace: 'none',
    sink: (event) => transcript.take(event),
    ...(model && { llm: model }),
    stand: { tools: scenario.tools, realTools, missing: (name) => failures.push(missingTool(name)) },
  });
  const timer = clock.after(scenario.timeoutMs, () => {
    failures.push(`the scenario was not over after ${scenario.timeoutMs / 1000} s`);
    controller.abort();
    call.close();
  });
  const playing: Playing = {
    call,
    transcript,
    rehearsal,
    signal: controller.signal,
    failures,
    ...(model && { model }),
  };
  try {
    const stepTurns = await play(scenario, playing);
    if (!controller.signal.aborted) {
      failures.push(...checkScenario(scenario, transcript, stepTurns));
      await judgeAll(scenario, playing);
    }
  } finally {
    timer.cancel();
    call.close();
  }
  const { turns, faults } = transcript;
  return { name: scenario.name, failures, tookMs: clock.now() - startedAt, turns, faults };
}

const missingTool = (name: string): string =>
  `${name} was called, has no stand-in in the scenario, and real_tools is false`;

/** Resolves with the number of the turn that each step of a script began. */
async function play(scenario: Scenario, playing: Playing): Promise<number[]> {
  const { call } = playing;
  const { caller } = scenario;
  const stepTurns: number[] = [];
  if (caller.kind === 'llm') {
    await playPersona(caller, playing);
  } else {
    for (const [index, step] of caller.steps.entries()) {
      await call.run(
        step.afterWords === undefined ? { until: 'quiet' } : { until: 'words', count: step.afterWords },
      );
      if (call.isOver) {
        if (step.does !== 'hang-up' && !playing.signal.aborted)
          playing.failures.push(`the call was over before step ${index + 1} of the caller`);
        break;
      }
      playing.model?.begin(index + 1, step.model ?? []);
      await takeStep(step, call);
      stepTurns.push(playing.transcript.turns.length - 1);
    }
  }
  await call.run({ until: 'quiet' });
  playing.model?.finish();
  call.hangUp();
  return stepTurns;
}

async function takeStep(step: CallerStep, call: Conversation): Promise<void> {
  if (step.does === 'say') call.say(step.text);
  else if (step.does === 'press') call.press(step.keys);
  else if (step.does === 'wait') await call.run({ until: 'time', ms: step.ms });
  else call.hangUp();
}

async function playPersona(
  caller: Extract<Scenario['caller'], { kind: 'llm' }>,
  { call, transcript, rehearsal, signal, failures }: Playing,
): Promise<void> {
  const { callerLlm, clock } = rehearsal;
  for (let turn = 0; turn < caller.maxTurns; turn += 1) {
    await call.run({ until: 'quiet' });
    if (call.isOver) return;
    const next = await nextLine(callerLlm, { persona: caller, turns: transcript.turns }, { clock, signal });
    if (!next.ok) {
      if (!signal.aborted) failures.push(`the LLM that plays the caller failed: ${next.error}`);
      return;
    }
    if (next.value.text !== '') call.say(next.value.text);
    if (next.value.hangsUp) return;
  }
}

async function judgeAll(
  { expect }: Scenario,
  { transcript, rehearsal, signal, failures }: Playing,
): Promise<void> {
  const { callerLlm, clock } = rehearsal;
  for (const statement of expect.judge) {
    const verdict = await judge(callerLlm, { statement, turns: transcript.turns }, { clock, signal });
    if (signal.aborted) return;
    if (!verdict.ok) failures.push(`the LLM that judges failed on "${statement}": ${verdict.error}`);
    else if (!verdict.value.holds)
      failures.push(`judged as not true: "${statement}" (${verdict.value.reason.trim()})`);
  }
}
