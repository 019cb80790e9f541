/**
 * Loads an agent file: text in, definition and every problem out. Opens nothing and reads no environment of its own;
 * what it needs from outside comes in as arguments. A definition exists exactly when no problem is an error.
 */
import type { z } from 'zod';
import { readAgentLink } from '../agent-link/agent-file.ts';
import { readAnnouncement } from './agent/announcement.ts';
import { readBackground } from './agent/background.ts';
import { checkVariables, checkVariablesOfFile } from './agent/call-variables.ts';
import { readFlow } from './agent/flow.ts';
import { readMcp } from './agent/mcp.ts';
import { unreadableFile, type NamedFiles } from './agent/sound-file.ts';
import { checkSilences, silencesOf } from './agent/silences.ts';
import { readMonitor } from '../monitor/agent-file.ts';
import { readRecording } from '../recording/agent-file.ts';
import { readTelephony } from '../telephony/agent-file.ts';
import { backchannelsOf, builtInTexts, hasBuiltInTexts } from './agent/texts.ts';
import type { BuiltInTexts } from './agent/texts.ts';
import { builtInToolNames, checkToolNames, warnOfUnnamedTools } from './agent/tool-names.ts';
import type { ProvidedTools } from './agent/tool-names.ts';
import { readTools } from './agent/tools.ts';
import { agentFileTables, agentKeys, listTables, longestPrompt, turnKeys } from './agent-file.ts';
import type { AgentDefinition } from './agent-file.ts';
import type { VariableSite } from './agent/secrets.ts';
import { agentLinkOf } from '../agent-link/variables.ts';
import { camelKeys, withoutKeys } from './camel.ts';
import { ProblemList } from './problem.ts';
import type { Problem } from './problem.ts';
import { spokenLanguages } from '../languages/languages.ts';
import { readLlm, readStt, readTts } from './stages/stage-tables.ts';
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

/** The sections in which tools are declared, named and led by a flow. */
function readToolSections(tree: Tree, texts: BuiltInTexts, site: VariableSite) {
  const { problems } = site;
  const taken = new Set(builtInToolNames);
  const link = agentLinkOf(site.env);
  const { allowInsecure, url } = link;
  const hasSessions = (site.env['SVC_SESSION_SECRET'] ?? '') !== '';
  const agentLink = readAgentLink(tree['agent_link'], {
    ...site,
    allowInsecure,
    hasSessions,
    hasUrl: url !== undefined,
  });
  const tools = readTools(tree['tools'], { ...site, taken });
  const mcp = readMcp(tree['mcp'], { ...site, taken });
  const telephony = readTelephony(tree['telephony'], { texts, problems });
  const servers = Array.isArray(tree['mcp']) ? tree['mcp'].length : 0;
  const provided: ProvidedTools = {
    names: taken,
    isOpen: mcp.length < servers || mcp.some((server) => server.tools === undefined),
    mayComeFromAgent: tree['agent_link'] !== undefined || link.url !== undefined,
    hasDestinations: telephony === undefined || telephony.destinations.size > 0,
  };
  const flow = readFlow(tree['flow'], { provided, problems });
  return { provided, tools, mcp, telephony, flow, agentLink };
}

function readDefinition(
  tree: Tree,
  problems: ProblemList,
  options: LoadOptions,
): AgentDefinition | undefined {
  checkSections(tree, problems);
  const { env, requireSecrets, leftOut = leftOutOfBuild } = options;
  const raw = tree['agent'];
  if (raw === undefined) problems.missing(['agent'], 'is a required section');
  const reading: AgentReading =
    raw === undefined
      ? { known: {} }
      : readTable(agentKeys, raw, { at: ['agent'], problems, rules: { hints: homes } });
  if (isTable(raw) && Array.isArray(raw['tools']) && raw['tools'].some(isTable))
    problems.error(['agent', 'tools'], 'has names; what each of the tools is stands in a table [[tools]]');
  const { language } = reading.known;
  const texts = builtInTexts(language ?? '', { several: hearsSeveral(tree['stt']) });
  const { provided, ...sections } = readToolSections(tree, texts, { env, requireSecrets, problems });
  const { tools, mcp, telephony, flow, agentLink } = sections;
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
  const agent = readAgent(reading, raw, site);
  const turn = readTurn(tree, site);
  const background = readBackground(tree['audio'], site);
  const reader = { env, requireSecrets, problems, tree, language, leftOut, packages: options.packages };
  const recording = readRecording(tree['recording'], problems);
  const monitor = readMonitor(tree['monitor'], { lost: texts.operatorLost, problems });
  const [stt, llm, tts] = [readStt(reader), readLlm(reader), readTts(reader)];
  if (agent === undefined || turn === undefined || telephony === undefined) return undefined;
  if (background === undefined || monitor === undefined) return undefined;
  if (stt === undefined || llm === undefined || tts === undefined) return undefined;
  return {
    agent,
    turn,
    ...(background.length > 0 && { background }),
    stt,
    llm,
    tts,
    tools,
    mcp,
    telephony,
    monitor,
    ...(flow !== undefined && { flow }),
    ...(agentLink !== undefined && { agentLink }),
    ...(recording !== undefined && { recording }),
  };
}

/** Reads the text of an agent file (docs/reference/agent-file.md). Never throws on bad text. */
export function loadAgentFile(text: string, options: LoadOptions): LoadedAgent {
  const file = readToml(text);
  const problems = new ProblemList(file.places, file.syntaxProblems.length > 0);
  const definition = file.tree === undefined ? undefined : readDefinition(file.tree, problems, options);
  const all = [...file.syntaxProblems, ...problems.sorted()].toSorted(
    (a, b) => a.line - b.line || a.column - b.column,
  );
  const isRefused = all.some((problem) => problem.severity === 'error');
  return isRefused || definition === undefined ? { problems: all } : { definition, problems: all };
}
