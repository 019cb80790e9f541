/**
 * Makes an agent file ready for calls without sound: the LLM and the tools are those of the file, its STT and TTS are
 * not opened and may lack their keys. One agent serves any number of calls at a time.
 */
import type { ReadBytes } from '../../shared/config/agent/sound-file.ts';
import type { AgentDefinition } from '../../shared/config/agent-file.ts';
import type { Problem } from '../../shared/config/problem.ts';
import type { Packages } from '../../shared/config/stages/package.ts';
import type { LlmDefinition } from '../../shared/config/stages/definition.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import { withVariables } from '../../worker/call/variables.ts';
import { callSettings, speechSettings, stageDefinitions } from '../../worker/host/definition.ts';
import { FailureLog, shownFailure, type Failure } from '../../worker/stages/failure-log.ts';
import { loadAdapters, openStages, ownStageServices } from '../../worker/stages/registry.ts';
import type { LlmStage } from '../../worker/stages/stage.ts';
import { loadAgentFileAt, packagesOf } from '../commands/check/check-command.ts';
import { AgentTools } from './agent-tools.ts';
import type { StandIns } from './scenarios/canned-tools.ts';
import { ScriptedModel } from './scenarios/scripted-model.ts';
import type { Conversation, ConversationSink } from './conversation.ts';
import { TextCall } from './text-call.ts';

export interface CallWish {
  readonly pace: 'speech' | 'none';
  readonly sink: ConversationSink;
  /** Absent: every tool is run. */
  readonly stand?: StandIns;
  /** Answers instead of the agent's LLM. */
  readonly llm?: LlmStage;
}

export interface OpenAgent {
  readonly name: string;
  readonly llm: LlmStage;
  /** The LLM of another table, for callers and judges. */
  openLlm(definition: LlmDefinition): Promise<LlmStage>;
  /** Whether a stand-in for a tool of this name can stand for anything. */
  mayHaveTool(name: string): boolean;
  newCall(wish: CallWish): Conversation;
  close(): Promise<void>;
}

export interface AgentSources {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Text of a file, or `undefined` when it cannot be read. */
  readonly readFile: (path: string) => string | undefined;
  readonly readBytes: ReadBytes;
  readonly clock: Clock;
  /** Takes what goes wrong with the LLM and with tools on the way, in one line. */
  readonly writeError: (line: string) => void;
}

export interface AgentReading {
  readonly agent?: OpenAgent;
  /** Everything that is wrong with the file; without an agent, at least one is an error. */
  readonly problems: readonly Problem[];
}

const unreadable: Problem = {
  severity: 'error',
  path: '',
  line: 1,
  column: 1,
  message: 'the file cannot be read',
};

const withoutLlm: Problem = {
  severity: 'error',
  path: 'llm',
  line: 1,
  column: 1,
  message: 'llm is a required section here: what is typed is answered by it, never by a model that hears',
};

/** Keys of STT and TTS are not needed here; those of the LLM are, and those of tools that are run. */
const isNeeded = ({ path }: Problem, { realTools, realLlm }: Realness): boolean => {
  const [table = ''] = path.split(/[.[]/);
  return ![
    'stt',
    'tts',
    'realtime',
    ...(realTools ? [] : ['tools', 'mcp']),
    ...(realLlm ? [] : ['llm']),
  ].includes(table);
};

/** The parts of the agent file that are used as they are; the others need no key. */
export interface Realness {
  readonly realTools: boolean;
  readonly realLlm: boolean;
}

/** Reads and opens an agent file. Resolves once its tools are there. */
export async function openAgent(
  path: string,
  { env, readFile, readBytes, clock, writeError }: AgentSources,
  { realTools = true, realLlm = true }: Partial<Realness> = {},
): Promise<AgentReading> {
  const packages = await packagesOf(path, { readFile });
  const sources = { env, readFile, readBytes, packages };
  const loaded = loadAgentFileAt(path, { ...sources, requireSecrets: false });
  if (loaded === undefined) return { problems: [unreadable] };
  const strict = loadAgentFileAt(path, { ...sources, requireSecrets: true });
  const missing = (strict?.problems ?? []).filter(
    (problem) => problem.severity === 'error' && isNeeded(problem, { realTools, realLlm }),
  );
  const { definition } = loaded;
  if (definition === undefined) return { problems: loaded.problems };
  if (missing.length > 0) return { problems: missing };
  if (realLlm && definition.llm === undefined) return { problems: [withoutLlm] };
  const tools = new AgentTools(definition, { clock, realTools, notice: writeError });
  const agent = await readyAgent(definition, { packages, clock, tools, realLlm, writeError });
  await tools.start();
  return { agent, problems: loaded.problems };
}

async function readyAgent(
  definition: AgentDefinition,
  {
    packages,
    clock,
    tools,
    realLlm,
    writeError,
  }: {
    readonly packages: Packages;
    readonly clock: Clock;
    readonly tools: AgentTools;
    readonly realLlm: boolean;
    readonly writeError: (line: string) => void;
  },
): Promise<OpenAgent> {
  const failures = new FailureLog(clock, (failure, times) => writeError(shownFailure(failure, times)));
  const services = { ...ownStageServices(), failed: (failure: Failure): void => failures.note(failure) };
  const opened: { close(): Promise<void> }[] = [tools];
  const llmOf = async (llm: LlmDefinition): Promise<LlmStage> => {
    const definitions = stageDefinitions({ ...definition, llm });
    const stages = openStages(definitions, await loadAdapters(definitions, packages), services);
    opened.push(stages.stt, stages.llm, stages.tts);
    return stages.llm;
  };
  // Words that were typed are certain: no turn model judges them, and no audio is ever heard again.
  const features = { turnModel: false, replayMs: 0 };
  // Nothing comes with a call that has no client: variables become their fallbacks.
  const settings = withVariables(callSettings(definition, features), {});
  const { minSpeechMs, confirmMs, stopMs } = speechSettings(definition, features);
  const llm =
    realLlm && definition.llm !== undefined ? await llmOf(definition.llm) : new ScriptedModel(writeError);
  return {
    name: definition.agent.name,
    llm,
    openLlm: llmOf,
    mayHaveTool: (name) => tools.mayHave(name),
    newCall: ({ pace, sink, stand, llm: scripted }) =>
      new TextCall({
        settings,
        voice: { minSpeechMs, confirmMs, stopMs },
        openTools: tools.opener(stand),
        llm: scripted ?? llm,
        clock,
        pace,
        sink,
      }),
    close: async () => {
      await Promise.all(opened.map((stage) => stage.close()));
    },
  };
}
