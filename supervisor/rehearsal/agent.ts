/**
 * Makes an agent file ready for calls without sound: the LLM and the tools are those of the file, its ears and voice are
 * not opened and may lack their keys. One agent serves any number of calls at a time.
 */
import type { AgentDefinition } from '../../shared/config/agent-file.ts';
import type { Problem } from '../../shared/config/problem.ts';
import type { LlmDefinition } from '../../shared/config/stages/definition.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import { newLog } from '../../shared/runtime/log.ts';
import {
  callSettings,
  speechSettings,
  stageDefinitions,
  toolBook,
  toolSettings,
} from '../../worker/definition.ts';
import { openStages, ownStageServices } from '../../worker/stages/registry.ts';
import type { LlmStage, StageContext } from '../../worker/stages/stage.ts';
import { ToolRegistry } from '../../worker/tools/registry.ts';
import { noCallControl } from '../../worker/tools/tool.ts';
import { loadAgentFileAt } from '../check-command.ts';
import { withStandIns, type StandIns } from './canned-tools.ts';
import type { CoreShellOptions } from './core-shell.ts';
import type { Conversation, ConversationSink } from './conversation.ts';
import { TextCall } from './text-call.ts';

export interface CallWish {
  readonly pace: 'speech' | 'none';
  readonly sink: ConversationSink;
  /** Absent: every tool is run. */
  readonly stand?: StandIns;
}

export interface OpenAgent {
  readonly name: string;
  readonly llm: LlmStage;
  /** The LLM of another table, for callers and judges. */
  openLlm(definition: LlmDefinition): LlmStage;
  /** Connects the servers of tools; done when each has listed its tools, failed or had its time. */
  start(): Promise<void>;
  newCall(wish: CallWish): Conversation;
  close(): Promise<void>;
}

export interface AgentSources {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Text of a file, or `undefined` when it cannot be read. */
  readonly readFile: (path: string) => string | undefined;
  readonly clock: Clock;
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

/** Keys of ears and voice are not needed here; that of the LLM is. */
const isNeeded = ({ path }: Problem): boolean => !/^(stt|tts)\b/.test(path);

/** Reads and opens an agent file. */
export function openAgent(path: string, { env, readFile, clock }: AgentSources): AgentReading {
  const loaded = loadAgentFileAt(path, { env, readFile, requireSecrets: false });
  if (loaded === undefined) return { problems: [unreadable] };
  const strict = loadAgentFileAt(path, { env, readFile, requireSecrets: true });
  const missing = (strict?.problems ?? []).filter(
    (problem) => problem.severity === 'error' && isNeeded(problem),
  );
  const { definition } = loaded;
  if (definition === undefined) return { problems: loaded.problems };
  if (missing.length > 0) return { problems: missing };
  return { agent: readyAgent(definition, clock), problems: loaded.problems };
}

function readyAgent(definition: AgentDefinition, clock: Clock): OpenAgent {
  const opened: { close(): Promise<void> }[] = [];
  const llmOf = (llm: LlmDefinition): LlmStage => {
    const stages = openStages(stageDefinitions({ ...definition, llm }), ownStageServices());
    opened.push(stages.stt, stages.llm, stages.tts);
    return stages.llm;
  };
  const registry = new ToolRegistry(toolSettings(definition), {
    clock,
    log: newLog({ role: 'agent', level: 'silent' }),
  });
  // Nobody listens, so the end of a turn is never in doubt and nothing has to be heard again.
  const settings = callSettings(definition, { turnModel: false, replayMs: 0 });
  const { minSpeechMs, confirmMs, stopMs } = speechSettings(definition);
  const llm = llmOf(definition.llm);
  return {
    name: definition.agent.name,
    llm,
    openLlm: llmOf,
    start: () => registry.start(),
    newCall: ({ pace, sink, stand }) => {
      const openTools = (context: StageContext): ReturnType<CoreShellOptions['openTools']> => {
        const opened = registry.openCall(context, { control: noCallControl });
        const tools = stand === undefined ? opened.tools : withStandIns(opened.tools, stand, context);
        return { tools: { ...opened, tools }, book: toolBook(definition, tools) };
      };
      const voice = { minSpeechMs, confirmMs, stopMs };
      return new TextCall({ settings, openTools, voice, llm, clock, pace, sink });
    },
    close: async () => {
      await Promise.all([registry.close(), ...opened.map((stage) => stage.close())]);
    },
  };
}
