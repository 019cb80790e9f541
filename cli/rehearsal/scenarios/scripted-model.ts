/**
 * An LLM whose answers stand in the scenario: with it a rehearsal needs neither a key nor a network, and goes the same way every time. Each
 * step of the caller has answers of its own, taken in order, one for each round of the LLM.
 */
import { writeJson } from '../../../shared/base/exact-json.ts';
import type { LlmEvent, LlmRequest, LlmRound, LlmStage, StageContext } from '../../../worker/stages/stage.ts';
import type { ScriptedAnswer } from './scenario.ts';

export class ScriptedModel implements LlmStage {
  readonly provider = 'scripted';
  readonly #fail: (failure: string) => void;
  #step = 0;
  #answers: readonly ScriptedAnswer[] = [];
  #taken = 0;

  /** `fail` takes what an answer lacks, in a sentence. */
  constructor(fail: (failure: string) => void) {
    this.#fail = fail;
  }

  /** The caller begins a step, counted from 1. Answers that the step before it has left will not be said any more. */
  begin(step: number, answers: readonly ScriptedAnswer[]): void {
    this.finish();
    this.#step = step;
    this.#answers = answers;
    this.#taken = 0;
  }

  /** The last step is over. */
  finish(): void {
    const left = this.#answers.length - this.#taken;
    if (left > 0) this.#fail(`step ${this.#step}: the model was not asked for its last ${counted(left)}`);
    this.#answers = [];
    this.#taken = 0;
  }

  open(context: StageContext): { start(request: LlmRequest, sink: Sink): LlmRound; close(): void } {
    let running: LlmRound | undefined;
    return {
      start: (request, sink) => (running = this.#round(request, { context, sink })),
      close: () => running?.cancel(),
    };
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  #round({ tools }: LlmRequest, { context, sink }: { context: StageContext; sink: Sink }): LlmRound {
    const step = this.#step;
    const answer = this.#answers[this.#taken];
    if (answer !== undefined) this.#taken += 1;
    let isOver = false;
    const tell = (): void => {
      isOver = true;
      const problem = this.#problemOf(answer, tools);
      if (problem !== undefined) this.#fail(`step ${step}: ${problem}`);
      for (const event of eventsOf(problem === undefined ? answer : undefined)) sink(event);
    };
    const timer = context.clock.after(0, context.bind(tell));
    return {
      cancel: () => {
        timer.cancel();
        // A round that nobody waited for has said nothing; the next one is asked the same.
        if (!isOver && answer !== undefined && step === this.#step) this.#taken -= 1;
        isOver = true;
      },
    };
  }

  #problemOf(answer: ScriptedAnswer | undefined, tools: LlmRequest['tools']): string | undefined {
    if (answer === undefined)
      return this.#answers.length === 0
        ? 'the model was asked, and the step has no answer'
        : `the model was asked once more than the step has answers (${this.#answers.length})`;
    const { call } = answer;
    if (call === undefined || tools.some(({ name }) => name === call.name)) return undefined;
    const offered = tools.map(({ name }) => name).join(', ');
    return `the model calls ${call.name}, which it is not offered here; it is offered ${offered === '' ? 'no tool' : offered}`;
  }
}

type Sink = (event: LlmEvent) => void;

const counted = (count: number): string => (count === 1 ? 'answer' : `${count} answers`);

function eventsOf(answer: ScriptedAnswer | undefined): LlmEvent[] {
  if (answer === undefined)
    return [{ type: 'error', error: { kind: 'protocol', rule: 'the scenario has no answer' } }];
  const { say, call } = answer;
  return [
    ...(say === undefined ? [] : [{ type: 'text', text: say } as const]),
    ...(call === undefined
      ? []
      : [
          {
            type: 'tool-call',
            index: 0,
            id: 'call_1',
            name: call.name,
            arguments: writeJson(call.arguments),
          } as const,
        ]),
    { type: 'done', finish: call === undefined ? 'stop' : 'tool_calls', usage: undefined },
  ];
}
