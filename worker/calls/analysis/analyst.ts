/** Asks the LLM of an agent file about calls that are over. */
import { assert } from '../../../shared/base/assert.ts';
import { present } from '../../../shared/base/present.ts';
import { fail, ok, type Result } from '../../../shared/base/result.ts';
import type { AnalysisDefinition } from '../../../shared/calls/analysis/agent-file.ts';
import { analyse, type AskAnalyst } from '../../../shared/calls/analysis/analyse.ts';
import type { AnalystLlm, AnalystOutcome, AnalystSetup } from '../../../shared/calls/messages.ts';
import { llmDefaults } from '../../../shared/config/stages/stage-keys.ts';
import type { CallRecord } from '../../../shared/calls/record.ts';
import type { Clock } from '../../../shared/runtime/clock.ts';
import type { Log } from '../../../shared/runtime/log.ts';
import { readAgent } from '../../host/agent.ts';
import { llmStage } from '../../host/definition.ts';
import { askLlm, type LlmAnswer } from '../../stages/ask-llm.ts';
import { newFailureLog } from '../../stages/failure-log.ts';
import { openLlm, ownStageServices } from '../../stages/registry.ts';
import type { LlmStage } from '../../stages/stage.ts';

export class Analyst {
  readonly #definition: AnalysisDefinition;
  readonly #llm: LlmStage;
  readonly #named: AnalystLlm;
  readonly #clock: Clock;

  private constructor(
    definition: AnalysisDefinition,
    { llm, named, clock }: { llm: LlmStage; named: AnalystLlm; clock: Clock },
  ) {
    this.#definition = definition;
    this.#llm = llm;
    this.#named = named;
    this.#clock = clock;
  }

  static async open(
    setup: AnalystSetup,
    { clock, log }: { readonly clock: Clock; readonly log: Log },
  ): Promise<Analyst> {
    const { definition, packages } = await readAgent(setup);
    const analysis = definition.afterCall?.analysis;
    assert(analysis !== undefined, 'only agents with an analysis have analysts');
    const chosen = analysis.llm === undefined ? definition.llm : { ...llmDefaults, ...analysis.llm };
    assert(chosen !== undefined, 'a file without [llm] whose analysis has none either is refused');
    const failures = newFailureLog(clock, log);
    const llm = await openLlm(llmStage(chosen, definition.reach), packages, {
      ...ownStageServices(),
      failed: (failure) => failures.note(failure),
    });
    const model: unknown = Reflect.get(chosen.options, 'model');
    const named = { provider: chosen.provider, model: typeof model === 'string' ? model : undefined };
    return new Analyst(analysis, { llm, clock, named });
  }

  async analyse(record: Pick<CallRecord, 'transcript'>): Promise<AnalystOutcome> {
    const analysed = await analyse(record, this.#definition, this.#ask);
    return analysed.ok
      ? ok({ ...analysed.value, ...this.#named })
      : fail({ ...analysed.error, ...this.#named });
  }

  readonly #ask: AskAnalyst = async (messages) => {
    const controller = new AbortController();
    const timer = this.#clock.after(this.#definition.timeoutMs, () => controller.abort());
    const request = { messages: [...messages], tools: [] };
    const asked = await askLlm(this.#llm, request, { clock: this.#clock, signal: controller.signal });
    timer.cancel();
    return controller.signal.aborted ? { ok: false, error: 'timeout' } : answered(asked);
  };
}

function answered(asked: Result<LlmAnswer, string>): Awaited<ReturnType<AskAnalyst>> {
  if (!asked.ok) return asked;
  const { text, usage } = asked.value;
  const counted = usage && {
    input_tokens: usage.inputTokens,
    cached_tokens: usage.cachedTokens,
    output_tokens: usage.outputTokens,
  };
  return ok(present({ text, usage: counted }));
}
