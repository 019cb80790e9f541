/** The stages of an agent, with the lines that it is sure to need. */
import { Redactor } from '../../shared/calls/privacy/redactor.ts';
import type { AgentDefinition } from '../../shared/config/agent-file.ts';
import type { AgentServices, WorkerServices } from '../call/services.ts';
import type { LoadedAgent } from '../host/agent.ts';
import { speechRateOf, stageDefinitions, type knownTexts } from '../host/definition.ts';
import { announcementLine } from '../lines/announcement.ts';
import { withKnownLines } from '../lines/known-lines.ts';
import type { Observation } from '../observe/observation.ts';
import type { FailureLog } from '../stages/failure-log.ts';
import { privateLlm } from '../stages/private-llm.ts';
import type { LlmStage } from '../stages/stage.ts';
import { withPauses } from '../stages/later-tts.ts';
import type { RetryBudgets } from '../stages/failover/retry-budget.ts';
import { identityOf, openStages, withRealtime, type StageServices } from '../stages/registry.ts';

/** What a worker lends to the stages of its agents. */
export interface StageSite extends Pick<WorkerServices, 'clock' | 'machineMs' | 'log' | 'metrics' | 'boxes'> {
  /** Its number. */
  readonly worker: number;
  readonly failures: FailureLog;
  readonly budgets: RetryBudgets;
  /** What the agent goes by in a service of many; absent: its name. */
  readonly id?: string;
  readonly observation: Observation;
}

export interface EquippedStages {
  readonly services: Pick<AgentServices, 'stt' | 'operatorStt' | 'llm' | 'tts'>;
  readonly close: () => Promise<void>;
}

/** The LLM that reads what the agent file lets it read. */
const llmOf = ({ privacy }: AgentDefinition, llm: LlmStage): LlmStage =>
  privacy?.hideFromLlm === true ? privateLlm(llm, new Redactor(privacy)) : llm;

/** @throws Error when a key may not be sent to its address. */
export function equipStages(
  definition: AgentDefinition,
  { adapters, realtime }: Pick<LoadedAgent, 'adapters' | 'realtime'>,
  { texts, site }: { readonly texts: ReturnType<typeof knownTexts>; readonly site: StageSite },
): EquippedStages {
  const { clock, machineMs, log, metrics, boxes, worker, failures, observation } = site;
  const definitions = stageDefinitions(definition);
  const breakers = site.id === undefined ? boxes.breakers : boxes.breakers.byKey;
  const voice = definitions.tts && breakers.of('tts', 'primary', identityOf(definitions.tts.primary));
  const failed: StageServices['failed'] = (failure) => failures.note(failure);
  const shared: StageServices = {
    breakers,
    budgets: site.budgets,
    metrics,
    machineMs,
    requested: (stage, role) => boxes.countRequest(worker, stage, role),
    failed,
    noted: observation.noted,
  };
  const cascade = openStages(definitions, adapters, shared);
  const sampleRate = speechRateOf(definition);
  const stages =
    realtime === undefined
      ? cascade
      : withRealtime(definitions, { model: realtime, stages: cascade, sampleRate }, shared);
  const tts = withKnownLines(withPauses(stages.tts), {
    clock,
    log,
    ...texts,
    announcement: announcementLine(definition.agent.announcement, sampleRate),
    isDown: () => voice?.state(machineMs()) === 'open',
  });
  return {
    services: { ...stages, llm: llmOf(definition, stages.llm), operatorStt: cascade.stt, tts },
    close: async () => {
      await Promise.all([stages.stt.close(), stages.llm.close(), tts.close()]);
    },
  };
}
