/**
 * The sections of the agent file that every agent has, each key declared once: type, default, bounds and one line of
 * explanation. Parsing, messages, the reference page, the example file and the JSON Schema all come from here. Rules
 * between keys are in load.ts. Units are part of the names of keys.
 */
import * as z from 'zod';
import { agentLinkKeys, agentRouteKeys } from '../agent-link/agent-file.ts';
import type { AgentLinkDefinition } from '../agent-link/agent-file.ts';
import { beforeCallKeys } from '../agents/before-call.ts';
import type { BeforeCallDefinition } from '../agents/before-call.ts';
import { limitKeys, type Limits } from '../agents/limits.ts';
import { overridesKeys } from '../agents/overrides.ts';
import type { OverridesDefinition } from '../agents/overrides.ts';
import { isTimezone } from '../agents/call-time.ts';
import { announcementKeys } from './agent/announcement.ts';
import type { AnnouncementDefinition } from './agent/announcement.ts';
import { audioKeys, backgroundKeys, thinkingKeys } from './agent/background.ts';
import type { AudioDefinition } from './agent/background.ts';
import { flowKeys, flowNextKeys, flowNodeKeys } from './agent/flow.ts';
import type { TenantReach } from '../agents/version.ts';
import type { FlowDefinition } from './agent/flow.ts';
import { mcpKeys } from './agent/mcp.ts';
import type { McpDefinition } from './agent/mcp.ts';
import type { Silences } from './agent/silences.ts';
import type { AfterCallDefinition } from '../calls/agent-file.ts';
import { analysisKeys, analysisLlmKeys } from '../calls/analysis/agent-file.ts';
import { afterCallEndpointKeys, afterCallKeys } from '../calls/webhooks/agent-file.ts';
import { privacyKeys, type PrivacyDefinition } from '../calls/privacy/agent-file.ts';
import { languages } from '../languages/languages.ts';
import { teamKeys } from '../agents/team.ts';
import { routingKeys, routingSplitKeys } from '../agents/agent-file.ts';
import type { RoutingDefinition } from '../agents/routing.ts';
import { monitorKeys } from '../monitor/agent-file.ts';
import type { MonitorDefinition } from '../monitor/agent-file.ts';
import { recordingKeys } from '../recording/agent-file.ts';
import type { RecordingDefinition } from '../recording/agent-file.ts';
import { dtmfKeys, telephonyKeys } from '../telephony/agent-file.ts';
import type { TelephonyDefinition } from '../telephony/agent-file.ts';
import { listedName, toolHttpKeys, toolKeys } from './agent/tools.ts';
import type { ToolDefinition } from './agent/tools.ts';
import { outageKeys, type OutageTexts } from './agent/outage.ts';
import type { CamelKeys } from './camel.ts';
import type { LlmDefinition, RealtimeDefinition, SttDefinition, TtsDefinition } from './stages/definition.ts';
import { declarations } from './stages/providers.ts';
import {
  languageTag,
  llmKeys,
  llmSecondaryKeys,
  realtimeKeys,
  sttKeys,
  sttSecondaryKeys,
  ttsKeys,
  ttsSecondaryKeys,
} from './stages/stage-keys.ts';

/** Longest prompt in characters, from the file or from prompt_file. */
export const longestPrompt = 65_536;

const line = z.string().max(1000);
const words = z.array(z.string().min(1).max(64)).max(64);

const confirmKeys = z.strictObject({
  ask: line.min(1).exactOptional().meta({
    sample: 'Shall I go ahead with that?',
    description: 'Asked before a tool with confirm is run; absent: the text of the language.',
  }),
  yes: words
    .min(1)
    .exactOptional()
    .meta({
      sample: ['yes', 'go ahead'],
      description: 'Words that mean yes, in lower case; absent: those of the language.',
    }),
  no: words
    .min(1)
    .exactOptional()
    .meta({
      sample: ['no', 'stop'],
      description: 'Words that mean no; they win over words that mean yes.',
    }),
});

export const agentKeys = z.strictObject({
  name: z
    .string()
    .regex(/^[A-Za-z0-9_-]{1,64}$/, 'must be 1 to 64 letters, digits, _ or -')
    .meta({
      description: 'Name of the agent in logs and metrics: 1 to 64 letters, digits, _ and -.',
      examples: ['front-desk'],
    }),
  language: languageTag.default('en').meta({
    description: `Language of the call as a BCP 47 tag. Those with words and lines of their own: ${languages.map(({ name }) => name).join(', ')} (docs/languages.md).`,
  }),
  timezone: z
    .string()
    .max(64)
    .refine(isTimezone, 'must be a time zone such as "Europe/Berlin"')
    .default('UTC')
    .meta({ description: 'Time zone of {{call.time}}, as the IANA database names it.' }),
  prompt: z
    .string()
    .min(1)
    .max(longestPrompt)
    .exactOptional()
    .meta({
      description:
        'Instructions for the LLM; variables such as {{metadata.name|a guest}} stand for what came with the call. Exactly one of prompt and prompt_file; neither with [flow], whose nodes have prompts.',
      examples: ['You answer the phone of a small hotel. Keep answers to one or two sentences.'],
    }),
  prompt_file: z.string().min(1).max(1024).exactOptional().meta({
    sample: 'prompt.md',
    description: 'File that holds the prompt, relative to this file.',
  }),
  greeting: line.default('').meta({
    description:
      'Spoken at once when the call opens; variables as in prompt; empty: the caller speaks first.',
    examples: ['Hello, how can I help?'],
  }),
  farewell: line.exactOptional().meta({
    sample: 'Goodbye.',
    description: 'Spoken before the agent ends the call; absent: the text of the language.',
  }),
  apology: line.exactOptional().meta({
    sample: 'Sorry, something went wrong on my side. Could you say that again?',
    description: 'Spoken when an answer failed; absent: the text of the language.',
  }),
  misheard: line.exactOptional().meta({
    sample: 'Sorry, I did not catch that. Could you say it again?',
    description:
      'Spoken when the caller spoke and STT understood no word; absent: the text of the language, or the apology for a language without one.',
  }),
  fillers: z
    .array(line.min(1))
    .max(32)
    .exactOptional()
    .meta({
      sample: ['One moment.', 'Let me check.'],
      description:
        'Spoken while an answer takes long, one after another. Absent: the defaults of the language. Empty: the defaults are used only after two seconds of silence.',
    }),
  tools: z
    .array(listedName)
    .max(64)
    .exactOptional()
    .meta({
      description:
        'Tools the LLM may call; absent: every tool there is. Not with [flow], whose nodes name their tools.',
      examples: [['end_call']],
    }),
  max_call_s: z.int().min(1).max(86_400).default(3600).meta({
    description: 'Longest call; it is ended with the farewell.',
  }),
  pronounce: z
    .record(z.string().min(1).max(64), z.string().max(256))
    .default({})
    .meta({
      sample: { SQL: 'sequel' },
      description: 'Whole words and what the voice says instead of them; transcripts keep the word.',
    }),
  announcement: announcementKeys.prefault({}).meta({
    description:
      'A recording that is played when TTS cannot be heard and no line was made ahead of time; absent: in English one that ships, in other languages a signal without words.',
  }),
  outage: outageKeys.prefault({}).meta({ description: 'What callers get while a provider is down.' }),
  confirm: confirmKeys.prefault({}).meta({ description: 'How the caller is asked before a tool is run.' }),
  team: teamKeys.exactOptional().meta({ description: 'Other agents that a caller can be handed to.' }),
});

const interruptKeys = z.strictObject({
  enabled: z.boolean().default(true).meta({
    description:
      'Whether the caller may interrupt the agent; otherwise words spoken meanwhile are answered afterwards.',
  }),
  min_speech_ms: z.int().min(0).max(10_000).default(300).meta({
    description:
      "How long the caller's voice must last for an interruption; humming counts only after a second.",
  }),
  sure_speech_ms: z.int().min(0).max(10_000).exactOptional().meta({
    sample: 150,
    description:
      'Voice that is surely speech confirms one after this long; absent: half of min_speech_ms. At most min_speech_ms.',
  }),
  min_words: z.int().min(0).max(20).default(1).meta({
    description:
      'Recognised words that confirm an interruption; backchannels such as "mm-hmm" do not count. 0: voice for min_speech_ms confirms one too.',
  }),
  wordless_ms: z.int().min(0).max(10_000).default(1000).meta({
    description:
      'With min_words above 0: voice this long without recognised words also confirms one, unless it is softer than the caller or recognition delivers words as they are spoken; 0: only words do.',
  }),
  backchannels: words.exactOptional().meta({
    sample: ['mm-hmm', 'okay'],
    description: 'Backchannels: words that never interrupt, such as "mm-hmm"; absent: those of the language.',
  }),
  resume_after_ms: z.int().min(0).max(10_000).default(600).meta({
    description: 'An interruption that is not confirmed lets the agent go on after this long.',
  }),
  dtmf: z.boolean().default(true).meta({ description: 'Whether a key press interrupts the agent.' }),
  greeting: z.boolean().default(true).meta({
    description: 'Whether the greeting, with the words of consent before it, may be interrupted.',
  }),
});

const idleKeys = z.strictObject({
  ask_after_s: z.int().min(1).max(3600).default(12).meta({
    description:
      'Silence on both sides before the agent asks whether the caller is there; a minute where the caller has asked for time.',
  }),
  ask: line.min(1).exactOptional().meta({
    sample: 'Are you still there?',
    description: 'The question; absent: the text of the language.',
  }),
  end_after: z.int().min(1).max(100).default(2).meta({
    description: 'The call is ended after this many questions without an answer.',
    unit: 'questions',
  }),
});

export const turnKeys = z.strictObject({
  vad_threshold: z.number().min(0.05).max(0.95).default(0.5).meta({
    description: 'Probability of speech at which speech starts; it ends 0.15 lower.',
  }),
  min_speech_ms: z
    .int()
    .min(0)
    .max(5000)
    .default(120)
    .meta({ description: 'Shorter sounds are not speech.' }),
  stop_ms: z.int().min(32).max(10_000).exactOptional().meta({
    sample: 200,
    description:
      'Silence after speech before the end of the turn is considered; absent: 200, with a turn model 300.',
  }),
  silence_end_ms: z.int().min(32).max(30_000).exactOptional().meta({
    sample: 700,
    description:
      'Silence that ends the turn when neither a turn model nor the words decide; absent: 700, with a turn model 1500.',
  }),
  max_silence_ms: z.int().min(32).max(30_000).exactOptional().meta({
    sample: 2500,
    description:
      'Silence that ends the turn whatever the models say, at least silence_end_ms; absent: 2500, with a turn model 2000.',
  }),
  smart_turn: z.enum(['auto', 'on', 'off']).default('auto').meta({
    description: 'Whether a turn model judges the end of turns; auto: if one is installed.',
  }),
  smart_turn_threshold: z.number().min(0.05).max(0.95).default(0.5).meta({
    description: 'Probability at which the turn model takes the turn as complete.',
  }),
  speculate: z.boolean().default(true).meta({
    description:
      'Whether the LLM may start at a pause, before the end of the turn is certain, and TTS on the beginning of the answer. It delays nothing, and nothing of it is heard before the turn ends. An answer to words that turn out to be incomplete is thrown away, at most twice in a turn.',
  }),
  murmurs: z
    .array(z.string().min(1).max(40))
    .max(8)
    .exactOptional()
    .meta({
      sample: ['Mm-hm.', 'I see.'],
      description:
        'Said in turn, softly, in long turns of the caller, at short pauses behind which the caller goes on, at most every 8 s. Part of no answer and no transcript. Absent or empty: the agent listens in silence.',
    }),
  echo: z.enum(['auto', 'off']).default('auto').meta({
    description:
      "Whether the agent's own voice is recognised when it comes back through the caller's microphone; off: not, for callers whose clients all cancel echo themselves.",
  }),
  interrupt: interruptKeys.prefault({}).meta({ description: 'How the caller interrupts the agent.' }),
  idle: idleKeys.prefault({}).meta({ description: 'What happens when nobody speaks.' }),
});

const tablesOf = (
  stage: string,
  rows: readonly { readonly name: string; readonly keys: z.ZodObject }[],
): Record<string, z.ZodObject> =>
  Object.fromEntries(rows.map(({ name, keys }) => [`${stage}.${name}`, keys]));

/** Declarations of the tables in the order of the file, by dotted name. */
export const agentFileTables: Readonly<Record<string, z.ZodObject>> = {
  agent: agentKeys,
  'agent.announcement': announcementKeys,
  'agent.confirm': confirmKeys,
  'agent.outage': outageKeys,
  'agent.team': teamKeys,
  turn: turnKeys,
  'turn.interrupt': interruptKeys,
  'turn.idle': idleKeys,
  audio: audioKeys,
  'audio.background': backgroundKeys,
  'audio.thinking': thinkingKeys,
  stt: sttKeys,
  ...tablesOf('stt', declarations.stt),
  'stt.secondary': sttSecondaryKeys,
  llm: llmKeys,
  ...tablesOf('llm', declarations.llm),
  'llm.secondary': llmSecondaryKeys,
  tts: ttsKeys,
  ...tablesOf('tts', declarations.tts),
  'tts.secondary': ttsSecondaryKeys,
  realtime: realtimeKeys,
  ...tablesOf('realtime', declarations.realtime),
  tools: toolKeys,
  'tools.http': toolHttpKeys,
  mcp: mcpKeys,
  telephony: telephonyKeys,
  'telephony.dtmf': dtmfKeys,
  flow: flowKeys,
  'flow.nodes.NAME': flowNodeKeys,
  'flow.nodes.NAME.next': flowNextKeys,
  recording: recordingKeys,
  before_call: beforeCallKeys,
  overrides: overridesKeys,
  routing: routingKeys,
  'routing.split': routingSplitKeys,
  limits: limitKeys,
  privacy: privacyKeys,
  after_call: afterCallKeys,
  'after_call.analysis': analysisKeys,
  'after_call.analysis.llm': analysisLlmKeys,
  'after_call.endpoints': afterCallEndpointKeys,
  monitor: monitorKeys,
  agent_link: agentLinkKeys,
  'agent_link.routes': agentRouteKeys,
};

/** Tables that are written once for each entry of a list, with two brackets. */
export const listTables: readonly string[] = [
  ...['tools', 'mcp', 'flow.nodes.NAME.next', 'routing.split', 'after_call.endpoints', 'agent_link.routes'],
];

// ---- The definition that calls run on ------------------------------------------------------------------------------

type AgentKeys = z.output<typeof agentKeys>;
type TurnKeys = z.output<typeof turnKeys>;

/** The same table with some keys that are always there, because a text of the language stands in for them. */
type Given<T, K extends keyof T> = Omit<T, K> & { readonly [P in K]-?: Readonly<Exclude<T[P], undefined>> };

export interface ConfirmTexts {
  readonly ask: string;
  readonly yes: readonly string[];
  readonly no: readonly string[];
}

export type AgentSection = Given<
  Omit<CamelKeys<AgentKeys>, 'prompt' | 'promptFile' | 'announcement' | 'confirm' | 'outage'>,
  'farewell' | 'apology' | 'misheard' | 'fillers'
> & {
  /** Empty in an agent with a flow. */
  readonly prompt: string;
  /** Codes of the languages that callers may speak, the most likely first: what the agent and STT are set to. */
  readonly languages: readonly string[];
  /** What an agent without fillers says while a stage is late. */
  readonly lateLines: readonly string[];
  readonly announcement: AnnouncementDefinition;
  readonly confirm: ConfirmTexts;
  readonly outage: OutageTexts;
};

/** One agent: loaded at start, serves every call (docs/reference/agent-file.md). */
export interface AgentDefinition {
  readonly agent: AgentSection;
  readonly turn: Omit<
    CamelKeys<TurnKeys>,
    'interrupt' | 'idle' | 'stopMs' | 'silenceEndMs' | 'maxSilenceMs'
  > & {
    readonly silences: { readonly withModel: Silences; readonly withoutModel: Silences };
    readonly interrupt: Given<CamelKeys<TurnKeys['interrupt']>, 'backchannels' | 'sureSpeechMs'>;
    readonly idle: Given<CamelKeys<TurnKeys['idle']>, 'ask'>;
  };
  /** Absent: callers hear the voice alone, as it comes. */
  readonly audio?: AudioDefinition;
  /** The three stages; each of them is absent only where a model hears and speaks by itself. */
  readonly stt?: SttDefinition;
  readonly llm?: LlmDefinition;
  readonly tts?: TtsDefinition;
  /** Hears and speaks instead of the three stages, which go on where it fails. Absent: the three alone. */
  readonly realtime?: RealtimeDefinition;
  readonly tools: readonly ToolDefinition[];
  readonly mcp: readonly McpDefinition[];
  readonly telephony: TelephonyDefinition;
  /** Which calls come to it in a service of many agents. */
  readonly routing: RoutingDefinition;
  /** In a service of many agents. */
  readonly limits?: Limits;
  /** Its nodes' prompts and tools take the place of the agent's. */
  readonly flow?: FlowDefinition;
  readonly monitor: MonitorDefinition;
  /** Absent: nothing of calls is kept. */
  readonly recording?: RecordingDefinition;
  /** Absent: nothing is taken out of what is kept and told. */
  readonly privacy?: PrivacyDefinition;
  /** Who is told of calls. */
  readonly afterCall?: AfterCallDefinition;
  /** The server that is asked before each call; absent: nobody is. */
  readonly beforeCall?: BeforeCallDefinition;
  /** How far it reaches where it is a tenant's. */
  readonly reach?: TenantReach;
  /** What single calls may have otherwise; absent: nothing. */
  readonly overrides?: OverridesDefinition;
  /** The processes that hold the application logic of calls. */
  readonly agentLink?: AgentLinkDefinition;
}
