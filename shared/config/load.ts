/**
 * Loads an agent file: text in, definition and every problem out. Opens nothing and reads no environment of its own;
 * what it needs from outside comes in as arguments. A definition exists exactly when no problem is an error.
 */
import type { z } from 'zod';
import { readBeforeCall } from '../agents/before-call.ts';
import { readOverrides } from '../agents/overridable.ts';
import type { OverridesDefinition } from '../agents/overrides.ts';
import type { TenantReach } from '../agents/version.ts';
import { readAgentLink } from '../agent-link/agent-file.ts';
import { readAnnouncement } from './agent/announcement.ts';
import { readAudio } from './agent/background.ts';
import { checkVariables, checkVariablesOfFile } from './agent/call-variables.ts';
import { checkNodes } from './agent/check-nodes.ts';
import { readFlow } from './agent/flow.ts';
import { readMcp } from './agent/mcp.ts';
import { unreadableFile, type NamedFiles } from './agent/sound-file.ts';
import { checkSilences, silencesOf } from './agent/silences.ts';
import type { TeamDefinition } from '../agents/team.ts';
import { readRouting } from '../agents/agent-file.ts';
import { readLimits } from '../agents/limits.ts';
import { readAfterCall } from '../calls/agent-file.ts';
import { readPrivacy } from '../calls/privacy/agent-file.ts';
import { readMonitor } from '../monitor/agent-file.ts';
import { canPause, readRecording } from '../recording/agent-file.ts';
import { readTelephony } from '../telephony/agent-file.ts';
import { backchannelsOf, builtInTexts, hasBuiltInTexts } from './agent/texts.ts';
import type { BuiltInTexts } from './agent/texts.ts';
import { builtInToolNames, checkToolNames, warnOfUnnamedTools } from './agent/tool-names.ts';
import type { ProvidedTools } from './agent/tool-names.ts';
import { readTools } from './agent/tools.ts';
import { agentFileTables, agentKeys, listTables, longestPrompt, turnKeys } from './agent-file.ts';
import type { AgentDefinition } from './agent-file.ts';
import type { VariableSite } from './agent/secrets.ts';
import { present } from '../base/present.ts';
import { agentLinkOf } from '../agent-link/variables.ts';
import { camelKeys, withoutKeys } from './camel.ts';
import { ProblemList } from './problem.ts';
import type { Problem } from './problem.ts';
import { spokenLanguages } from '../languages/languages.ts';
import {
  readLlm,
  readLlmOfItsOwn,
  readRealtime,
  readStt,
  readTts,
  type StageReader,
} from './stages/stage-tables.ts';
import { checkRealtimeFits } from './stages/realtime-fits.ts';
import { leftOut as leftOutOfBuild } from './stages/features.ts';
import type { Packages } from './stages/package.ts';
import { isTable, readTable, reportUnknownKey } from './table.ts';
import type { TableReading } from './table.ts';
import { readToml } from './toml.ts';

export interface LoadOptions extends NamedFiles {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Text of a file named in the agent file, relative to it; `undefined` when it cannot be read. */
  readonly readFile: (path: string) => string | undefined;
  /** Whether an unset key variable is an error (the start of the service) or a warning (`check`). */
  readonly requireSecrets: boolean;
  /** Canonical names of the providers to treat as left out; absent means those that this build leaves out. */
  readonly leftOut?: readonly string[];
  /** Reports what breaks rules that come from beside the file. */
  readonly rules?: (tree: Tree, problems: ProblemList) => void;
  /** How far the file reaches; absent: it is the operator's own. */
  readonly reach?: TenantReach;
  /** Calls may come with session tokens; absent: the environment says so. */
  readonly hasSessions?: boolean;
  /** The packages that the file names (`packagesIn`), loaded before; absent: none is there. */
  readonly packages?: Packages;
}

export interface LoadedAgent {
  readonly definition?: AgentDefinition;
  /** In the order of the file. */
  readonly problems: readonly Problem[];
}

type Tree = Readonly<Record<string, unknown>>;
type Section<K extends keyof AgentDefinition> = AgentDefinition[K] | undefined;

const knownSections = Object.keys(agentFileTables).filter((name) => !name.includes('.'));

function checkSections(tree: Tree, problems: ProblemList): void {
  for (const name of Object.keys(tree)) {
    if (!knownSections.includes(name)) reportUnknownKey([name], knownSections, problems);
  }
}

/** What to say of a key that another table has, or of a section that was put into another one. */
const homes: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(agentFileTables)
    .filter(([table]) => !table.includes('.') || /^(?:agent|turn)\./.test(table))
    .reverse() // Of several tables with the key the first one is meant.
    .flatMap(([table, { shape }]) => {
      const header = listTables.includes(table) ? `[[${table}]]` : `[${table}]`;
      const keys = Object.keys(shape).map((key): [string, string] => [
        key,
        `is not a key here; it belongs into ${header}`,
      ]);
      return [...keys, [table, `is not a key here; ${header} is a section of its own`] as const];
    }),
);

interface PromptKeys {
  readonly prompt?: string;
  readonly prompt_file?: string;
}

/** What the reading of `[agent]` and `[turn]` takes from the rest of the file. */
interface AgentSite {
  readonly problems: ProblemList;
  readonly options: LoadOptions;
  readonly texts: BuiltInTexts;
  /** The agent's BCP 47 tag; empty where it has none that is valid. */
  readonly language: string;
  /** Codes of the languages that callers may speak. */
  readonly languages: readonly string[];
  readonly hasFlow: boolean;
  readonly provided: ProvidedTools;
  /** `[[tools]]` as it stands there. */
  readonly declaredTools: unknown;
}

/** The prompt from the one place that gives it. */
function readPrompt(raw: Tree, known: PromptKeys, site: AgentSite): string | undefined {
  const { problems } = site;
  const hasText = raw['prompt'] !== undefined;
  const hasFile = raw['prompt_file'] !== undefined;
  if (site.hasFlow) {
    for (const key of ['prompt', 'prompt_file', 'tools'])
      if (raw[key] !== undefined)
        problems.keyError(['agent', key], 'has no meaning beside [flow], whose nodes have their own');
    return '';
  }
  if (hasText && hasFile)
    problems.keyError(['agent', 'prompt_file'], 'and agent.prompt exclude each other; keep one of them');
  if (!hasText && !hasFile) problems.missing(['agent', 'prompt'], 'or agent.prompt_file is required');
  if (known.prompt !== undefined) checkVariables(known.prompt, ['agent', 'prompt'], problems);
  if (hasText || known.prompt_file === undefined) return known.prompt;
  const at = ['agent', 'prompt_file'];
  const text = site.options.readFile(known.prompt_file);
  if (text === undefined) problems.error(at, unreadableFile(known.prompt_file, site.options));
  else if (text.trim() === '') problems.error(at, 'names a file that is empty');
  else if (text.length > longestPrompt)
    problems.error(at, `names a file of more than ${longestPrompt} characters`);
  else {
    checkVariablesOfFile(text, at, problems);
    return text;
  }
  return undefined;
}

type AgentReading = TableReading<z.output<typeof agentKeys>>;

function readAgent({ value, known }: AgentReading, raw: unknown, site: AgentSite): Section<'agent'> {
  const prompt = isTable(raw) ? readPrompt(raw, known, site) : undefined;
  checkVariables(known.greeting ?? '', ['agent', 'greeting'], site.problems);
  if (!site.hasFlow) {
    checkToolNames(known.tools, ['agent', 'tools'], site);
    warnOfUnnamedTools(site.declaredTools, known.tools, site);
  }
  const announcement = readAnnouncement(known.announcement ?? {}, {
    language: known.language ?? '',
    options: site.options,
    problems: site.problems,
  });
  if (value === undefined || prompt === undefined || announcement === undefined) return undefined;
  const { confirm, outage, ...rest } = withoutKeys(value, ['prompt', 'prompt_file', 'announcement']);
  const { texts } = site;
  const apology = rest.apology ?? texts.apology;
  return {
    ...camelKeys(rest),
    languages: site.languages,
    farewell: rest.farewell ?? texts.farewell,
    apology,
    misheard:
      rest.misheard ?? (hasBuiltInTexts(rest.language) ? texts.misheard : (rest.apology ?? texts.misheard)),
    // English lines would surprise who hears another language.
    lateLines: hasBuiltInTexts(rest.language) ? texts.fillers : [apology],
    fillers: rest.fillers ?? texts.fillers,
    announcement,
    confirm: {
      ask: confirm.ask ?? texts.confirmQuestion,
      yes: confirm.yes ?? texts.yes,
      no: confirm.no ?? texts.no,
    },
    outage: {
      keepS: outage.keep_s,
      hold: outage.hold ?? texts.hold,
      back: outage.back ?? texts.back,
      unheardNote: texts.unheardNote,
    },
    prompt,
  };
}

/** Callers may speak several languages: two providers are told so, each in its own way. */
function hearsSeveral(stt: unknown): boolean {
  if (!isTable(stt)) return false;
  const options = stt['stt_cloud_c'] ?? stt['gladia'];
  return stt['language'] === 'multi' || (isTable(options) && options['code_switching'] === true);
}

/** Tags of the languages that callers may speak: that of the agent, and those that STT is told to hear. */
function heardTags(stt: unknown, language: string): readonly string[] {
  if (hearsSeveral(stt)) return [language, 'multi'];
  const stages = isTable(stt) ? [stt, stt['secondary']] : [];
  const heard = stages.map((stage) => (isTable(stage) ? stage['language'] : undefined));
  return [language, ...heard.filter((tag) => typeof tag === 'string')];
}

function readTurn(tree: Tree, { problems, texts, language }: AgentSite): Section<'turn'> {
  const raw = tree['turn'] ?? {};
  const { value, known } = readTable(turnKeys, raw, { at: ['turn'], problems, rules: { hints: homes } });
  if (isTable(raw)) checkSilences(known, problems);
  if (value === undefined) return undefined;
  const { interrupt, idle, stop_ms, silence_end_ms, max_silence_ms, ...rest } = value;
  const silences = silencesOf({ stop: stop_ms, end: silence_end_ms, most: max_silence_ms });
  const { min_speech_ms: minSpeechMs, sure_speech_ms: given } = interrupt;
  if (given !== undefined && given > minSpeechMs)
    problems.error(['turn', 'interrupt', 'sure_speech_ms'], 'must be at most turn.interrupt.min_speech_ms');
  const backchannels =
    interrupt.backchannels ?? backchannelsOf(language, { several: hearsSeveral(tree['stt']) });
  const sureSpeechMs = given ?? Math.round(minSpeechMs / 2);
  return {
    ...camelKeys(rest),
    silences,
    interrupt: { ...camelKeys(interrupt), backchannels, sureSpeechMs },
    idle: { ...camelKeys(idle), ask: idle.ask ?? texts.idleQuestion },
  };
}

/** `[agent]` as it was read, and the texts of its language. */
interface AgentTable {
  readonly raw: unknown;
  readonly reading: AgentReading;
  readonly texts: BuiltInTexts;
}

function readAgentTable(tree: Tree, problems: ProblemList): AgentTable {
  const raw = tree['agent'];
  if (raw === undefined) problems.missing(['agent'], 'is a required section');
  const reading: AgentReading =
    raw === undefined
      ? { known: {} }
      : readTable(agentKeys, raw, { at: ['agent'], problems, rules: { hints: homes } });
  if (isTable(raw) && Array.isArray(raw['tools']) && raw['tools'].some(isTable))
    problems.error(['agent', 'tools'], 'has names; what each of the tools is stands in a table [[tools]]');
  const { language } = reading.known;
  return { raw, reading, texts: builtInTexts(language ?? '', { several: hearsSeveral(tree['stt']) }) };
}

/** Session tokens are in use, as far as an environment says so. */
export const takesSessions = (env: LoadOptions['env']): boolean => (env['SVC_SESSION_SECRET'] ?? '') !== '';

/** The sections in which tools are declared, named and led by a flow. */
function readToolSections(
  tree: Tree,
  site: VariableSite & {
    readonly hasDestinations: boolean;
    readonly hasSessions: boolean;
    readonly isRecorded: boolean;
    readonly team: TeamDefinition | undefined;
  },
) {
  const { problems, hasDestinations, isRecorded, team } = site;
  const taken = new Set(builtInToolNames);
  const link = agentLinkOf(site.env);
  const { allowInsecure, url } = link;
  const agentLink = readAgentLink(tree['agent_link'], {
    ...site,
    allowInsecure,
    hasUrl: url !== undefined,
  });
  const tools = readTools(tree['tools'], { ...site, taken });
  const mcp = readMcp(tree['mcp'], { ...site, taken });
  const servers = Array.isArray(tree['mcp']) ? tree['mcp'].length : 0;
  const provided: ProvidedTools = {
    names: taken,
    isOpen: mcp.length < servers || mcp.some((server) => server.tools === undefined),
    mayComeFromAgent: tree['agent_link'] !== undefined || link.url !== undefined,
    hasDestinations,
    hasTeam: team !== undefined,
    isRecorded,
  };
  const flow = readFlow(tree['flow'], { provided, problems, team, tree });
  return { provided, tools, mcp, flow, agentLink };
}

/** What the sections that follow the agent's own are read with. */
export interface CallSectionsSite {
  readonly problems: ProblemList;
  readonly options: LoadOptions;
  readonly provided: ProvidedTools;
}

/** What a call may have otherwise than its agent file says, in part (docs/overrides.md). */
export type CallSections = Pick<
  AgentDefinition,
  'agent' | 'turn' | 'stt' | 'llm' | 'tts' | 'realtime' | 'telephony'
>;

/** Reads again the sections of which a call may have something otherwise. The result lacks the parts that are wrong. */
export function readCallSections(tree: Tree, site: CallSectionsSite): Partial<CallSections> {
  const table = readAgentTable(tree, site.problems);
  const telephony = readTelephony(tree['telephony'], { texts: table.texts, problems: site.problems });
  return definedSections(tree, table, { ...site, telephony });
}

function definedSections(
  tree: Tree,
  { raw, reading, texts }: AgentTable,
  { problems, options, provided, telephony }: CallSectionsSite & { readonly telephony: Section<'telephony'> },
): Partial<CallSections> {
  const { language } = reading.known;
  const site: AgentSite = {
    problems,
    options,
    texts,
    language: language ?? '',
    languages: spokenLanguages(heardTags(tree['stt'], language ?? '')),
    hasFlow: tree['flow'] !== undefined,
    provided,
    declaredTools: tree['tools'],
  };
  const [agent, turn] = [readAgent(reading, raw, site), readTurn(tree, site)];
  const reader = stageReader(tree, language, { problems, options });
  const [stt, llm, tts] = [readStt(reader), readLlm(reader), readTts(reader)];
  return present({ agent, turn, stt, llm, tts, realtime: readRealtime(reader), telephony });
}

const stageReader = (
  tree: Tree,
  language: string | undefined,
  { problems, options }: Pick<CallSectionsSite, 'problems' | 'options'>,
): StageReader => {
  const { env, requireSecrets, leftOut = leftOutOfBuild, packages } = options;
  return { env, requireSecrets, problems, tree, language, leftOut, packages };
};

/** The same sections, where none of them is missing: of the three stages any may be where a model hears and speaks by itself. */
export function wholeSections(sections: Partial<CallSections>): CallSections | undefined {
  const { agent, turn, stt, llm, tts, realtime, telephony } = sections;
  if (agent === undefined || turn === undefined || telephony === undefined) return undefined;
  const isWhole = stt !== undefined && llm !== undefined && tts !== undefined;
  if (!isWhole && realtime === undefined) return undefined;
  return { agent, turn, ...present({ stt, llm, tts, realtime }), telephony };
}

function readDefinition(
  tree: Tree,
  problems: ProblemList,
  options: LoadOptions,
): AgentDefinition | undefined {
  checkSections(tree, problems);
  const { env, requireSecrets, hasSessions = takesSessions(env), reach } = options;
  const table = readAgentTable(tree, problems);
  const telephony = readTelephony(tree['telephony'], { texts: table.texts, problems });
  const hasDestinations = telephony === undefined || telephony.destinations.size > 0;
  const secrets = { env, requireSecrets, problems };
  const recording = readRecording(tree['recording'], problems);
  const { provided, ...sections } = readToolSections(tree, {
    ...secrets,
    hasDestinations,
    hasSessions,
    team: table.reading.known.team,
    isRecorded: canPause(recording),
  });
  const { tools, mcp, flow, agentLink } = sections;
  const ofCalls = definedSections(tree, table, { problems, options, provided, telephony });
  const audio = readAudio(tree['audio'], { options, problems });
  const monitor = readMonitor(tree['monitor'], { lost: table.texts.operatorLost, problems });
  const privacy = readPrivacy(tree['privacy'], {
    problems,
    languages: spokenLanguages(heardTags(tree['stt'], table.reading.known.language ?? '')),
  });
  if (privacy !== undefined && recording?.facts === true)
    problems.error(['recording', 'facts'], 'and [privacy] exclude each other: facts are kept word for word');
  if (privacy?.hideFromLlm === true && tree['realtime'] !== undefined)
    problems.error(
      ['privacy', 'hide_from_llm'],
      'and [realtime] exclude each other: the model hears what the caller says',
    );
  if (recording?.facts === true && Object.values(flow?.nodes ?? {}).some(({ record }) => !record))
    problems.error(
      ['recording', 'facts'],
      'and record = false of a node exclude each other: facts are kept word for word',
    );
  const reader = stageReader(tree, table.reading.known.language, { problems, options });
  const afterCall = readAfterCall(tree['after_call'], {
    ...reader,
    readLlm: (raw, at) => readLlmOfItsOwn(raw, at, reader),
  });
  const beforeCall = readBeforeCall(tree['before_call'], secrets);
  const routing = readRouting(tree['routing'], problems);
  const limits = readLimits(tree['limits'], problems);
  const prompt = ofCalls.agent?.prompt;
  const hasOwnNodes = Object.values(flow?.nodes ?? {}).some(({ own }) => own !== undefined);
  const overrides = readOverrides(tree['overrides'], { tree, prompt, provided, problems, hasOwnNodes });
  checkRealtimeFits(tree, ofCalls.realtime, problems);
  const whole = wholeSections(ofCalls);
  if (whole !== undefined && hasOwnNodes) checkOwnOfNodes(tree, overrides, { problems, options, provided });
  if (whole === undefined || audio === undefined) return undefined;
  if (routing === undefined || monitor === undefined) return undefined;
  return {
    ...whole,
    tools,
    mcp,
    routing,
    monitor,
    ...(Object.keys(audio).length > 0 && { audio }),
    ...present({ flow, agentLink, recording, privacy, afterCall, beforeCall, overrides, limits, reach }),
  };
}

/** What nodes have of their own names no file, and keys of providers were checked with the agent. */
function checkOwnOfNodes(
  { flow }: Tree,
  overrides: OverridesDefinition | undefined,
  { problems, options: given, provided }: CallSectionsSite,
): void {
  if (overrides === undefined) return;
  const { tables } = overrides;
  const options = {
    ...given,
    readFile: () => undefined,
    readBytes: () => undefined,
    requireSecrets: false,
  };
  const read = (other: Tree, found: ProblemList) =>
    readCallSections(other, { problems: found, options, provided });
  checkNodes(flow, { tables, problems, read });
}

/** Reads the text of an agent file (docs/reference/agent-file.md). Never throws on bad text. */
export function loadAgentFile(text: string, options: LoadOptions): LoadedAgent {
  const file = readToml(text);
  const problems = new ProblemList(file.places, file.syntaxProblems.length > 0);
  const definition = file.tree === undefined ? undefined : readDefinition(file.tree, problems, options);
  if (file.tree !== undefined) options.rules?.(file.tree, problems);
  const all = [...file.syntaxProblems, ...problems.sorted()].toSorted(
    (a, b) => a.line - b.line || a.column - b.column,
  );
  const isRefused = all.some((problem) => problem.severity === 'error');
  return isRefused || definition === undefined ? { problems: all } : { definition, problems: all };
}
