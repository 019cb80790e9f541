/**
 * What leaks of a model's own form into its text, by its shape: tags and tokens in which it thinks, calls tools, reads their results and
 * begins turns, and the words that are left of them where a server took the tokens away. Speech has none of these.
 *
 * Pure. Each rule looks at text that may be the beginning of its shape, and waits while more text may change its mind: the
 * result does not depend on how a stream is cut.
 */
import { argumentsIn, bracketEnd, callsIn, isCallShaped, type OfferedTools } from './leaked-calls.ts';
import { isRecord, parseJson } from '../json.ts';

/** `no`: it is speech. `wait`: more text tells. */
export type Verdict = 'no' | 'wait' | Leak;

export interface Leak {
  /** How much is left out at once. */
  readonly chars: number;
  /** Everything up to one of these is left out as well; to the end of the answer where there is none. */
  readonly until?: readonly string[];
  /** It may hold calls, beginning with its own first characters. */
  readonly holdsCalls?: boolean;
  /** The end of thoughts. */
  readonly endsThoughts?: boolean;
}

export interface Site {
  /** From the place in question on. */
  readonly text: string;
  /** No more text comes. */
  readonly ended: boolean;
  /** Nothing was said before. */
  readonly isFirst: boolean;
  readonly startsSentence: boolean;
  readonly tools: OfferedTools;
}

/** Nothing that may be a call is longer, and no more text is held back for one. */
export const longestChars = 16_384;
const longestTag = 240;

const thoughtNames = [
  ...[
    'think',
    'thinking',
    'thought',
    'thoughts',
    'reasoning',
    'reasoning_content',
    'reflection',
    'scratchpad',
  ],
  ...['inner_monologue', 'inner_thoughts', 'chain_of_thought', 'analysis', 'plan', 'planning', 'antthinking'],
  ...['internal', 'internal_thoughts', 'monologue', 'rationale', 'deliberation', 'ponder', 'cot'],
];
const callNames = [
  ...[
    'tool_call',
    'tool_calls',
    'toolcall',
    'toolcalls',
    'function_call',
    'function_calls',
    'tool_use',
    'tool_code',
  ],
  ...['tool_request', 'invoke', 'parameter', 'arg_key', 'arg_value'],
];
/** Words that a tag may also be in speech about code: they need a sign of a call behind them. */
const weakNames = [
  'function',
  'functions',
  'tool',
  'tools',
  'call',
  'calls',
  'action',
  'parameters',
  'arguments',
];
const resultNames = [
  ...[
    'tool_response',
    'tool_responses',
    'tool_result',
    'tool_results',
    'function_result',
    'function_results',
  ],
  ...['function_response', 'observation'],
];
/** Around an answer, or at its ends. */
const bareNames = [
  ...[
    'answer',
    'final_answer',
    'response',
    'final',
    'output',
    'reply',
    'assistant',
    's',
    'eos',
    'bos',
    'pad',
    'unk',
    'eot',
  ],
  ...['end_of_turn', 'begin_of_text', 'end_of_text', 'endoftext'],
];
const turnNames = ['start_of_turn'];

export const endsOfThoughts = [...thoughtNames.map((name) => `</${name}>`), '[/THINK]', '◁/think▷'];

/** What a leak may begin with beside the names of tools; brackets of all kinds are looked at in any case. */
export const leakWords = [
  ...[
    'functions.',
    'function.',
    'default_api.',
    'print(',
    'to=',
    'commentary',
    'analysis',
    'assistant',
    'Assistant',
  ],
  ...['tool_call', 'tool_code', 'function_call', 'functools', 'Action:', 'Thought:', 'final<'],
];

export function leakAt(site: Site): Verdict {
  switch (site.text[0]) {
    case '<':
      return ruled(site, [tokenAt, tagAt]);
    case '[':
      return ruled(site, [markerAt, listAt]);
    case '{':
      return objectAt(site);
    case '◁':
      return diamondAt(site);
    default:
      return ruled(site, [turnWordAt, thoughtLineAt, actionAt, channelWordAt, nameAt]);
  }
}

type Rule = (site: Site) => Verdict;

function ruled(site: Site, rules: readonly Rule[]): Verdict {
  for (const rule of rules) {
    const verdict = rule(site);
    if (verdict !== 'no') return verdict;
  }
  return 'no';
}

/** What has begun and may be a leak: all of it where no more comes. */
const begun = ({ text, ended }: Site, holdsCalls = false): Verdict =>
  ended ? { chars: text.length, holdsCalls } : 'wait';

const mayBegin = (names: readonly string[], text: string): boolean =>
  names.some((name) => name.startsWith(text));

// ---- tokens: <|im_end|>, <｜tool▁calls▁begin｜>, <|tool_call> ----

const token = /^<[|｜]([^<>|｜\s](?:[^<>|｜]{0,46}[^<>|｜\s])?)[|｜]?>|^<([a-z_]{1,24})[|｜]>/;
const partOfToken = /^<[|｜](?:[^<>|｜\s][^<>|｜]{0,47})?[|｜]?$/;
const partOfEnd = /^<[a-z_]{0,24}[|｜]?$/;

function tokenAt(site: Site): Verdict {
  const { text } = site;
  if (/^<0x[0-9A-Fa-f]{2}>/.test(text)) return { chars: '<0x0A>'.length };
  if (/^<0(?:x[0-9A-Fa-f]{0,2})?$/.test(text) && !site.ended) return 'wait';
  const match = token.exec(text);
  if (match === null) {
    if (partOfToken.test(text)) return begun(site);
    return partOfEnd.test(text) && !site.ended ? 'wait' : 'no';
  }
  const [raw, name = '', ending] = match;
  if (ending !== undefined) return { chars: raw.length };
  const kind = name.toLowerCase().replaceAll(/[▁\s]/g, '_');
  if (/^(?:start|channel|constrain)$/.test(kind))
    return raw.endsWith('|>') ? harmonyAt(site) : { chars: raw.length, until: ['<channel|>'] };
  if (/^(?:im_start|start_header_id|turn)$/.test(kind)) return turnAt(site, raw);
  if (/^(?:user|system|assistant|observation)$/.test(kind))
    return { chars: raw.length, ...(!(kind === 'assistant' && site.isFirst) && { until: [] }) };
  if (kind === 'from' || kind === 'recipient') return partyAt(site, raw);
  const isEnd = /end|^\//.test(kind);
  if (isEnd || /sep|argument/.test(kind))
    return { chars: raw.length, ...(/think|thought/.test(kind) && { endsThoughts: true }) };
  if (/think|thought/.test(kind)) return { chars: raw.length, until: endsOf(raw, name) };
  // Cohere's own answer begins so.
  if (/^(?:start|begin)_(?:response|text|answer)$/.test(kind)) return { chars: raw.length };
  if (/response|result|output/.test(kind)) return { chars: raw.length, until: endsOf(raw, name) };
  if (/tool|action|plugin|function_call|python_tag/.test(kind))
    return { chars: raw.length, until: endsOf(raw, name), holdsCalls: true };
  return { chars: raw.length };
}

/** Functionary tells who writes, to whom, and what: to a tool it is a call. */
function partyAt({ text, ended, tools }: Site, raw: string): Verdict {
  const [head, name = ''] = /^\s*([\w.-]*)\s*/.exec(text.slice(raw.length)) ?? [''];
  if (raw.length + head.length === text.length && !ended) return 'wait';
  const chars = raw.length + head.length;
  return tools.knows(name) ? { chars, until: ['<|stop|>', '<|from|>'], holdsCalls: true } : { chars };
}

/** The tokens that may close this one, by the habits of the models. */
function endsOf(raw: string, name: string): readonly string[] {
  const named = raw
    .replace(/begin/, 'end')
    .replace(/start/, 'end')
    .replace(/BEGIN|START/, 'END');
  if (named !== raw) return [named];
  return [
    `<|/${name}|>`,
    `<|end_${name}|>`,
    `<${name}|>`,
    '<|eom_id|>',
    '<|eot_id|>',
    '<|im_end|>',
    '<|end|>',
  ];
}

/** A turn that begins: the model's own, or one that it makes up behind the end of its own. */
function turnAt(site: Site, raw: string): Verdict {
  const behind = site.text.slice(raw.length);
  const [head, role = ''] = /^\s*(\w*)(?:<\|end_header_id\|>|[^\S\n]*\n?)?/.exec(behind) ?? [''];
  if ((head.length === behind.length || /^<[^>]*$/.test(behind.slice(head.length))) && !site.ended)
    return 'wait';
  const isOwn = site.isFirst && /^(?:|assistant|model)$/.test(role);
  return isOwn ? { chars: raw.length + head.length } : { chars: raw.length, until: [] };
}

const harmonyEnds = ['<|end|>', '<|call|>', '<|return|>', '<|start|>', '<|channel|>'];
const message = '<|message|>';

/** The head of a message of gpt-oss: who speaks, on which channel, to whom. */
function harmonyAt(site: Site): Verdict {
  const { text, ended } = site;
  const at = text.slice(0, longestTag).indexOf(message);
  if (at < 0 && text.length < longestTag && !ended) return 'wait';
  const bare = /^(?:<\|\w+\|>\s*(?:\w+(?:\s+to=[\w.:-]+)?)?)+/.exec(text)?.[0] ?? '';
  const head = at < 0 ? bare : text.slice(0, at + message.length);
  if (/<\|start\|>\s*(?:user|system|developer|tool|functions)/.test(head))
    return { chars: head.length, until: harmonyEnds };
  return channelOf(site, head, harmonyEnds);
}

/** What stands on a channel: thoughts, a call, or something that the caller is told. */
function channelOf(site: Site, head: string, until: readonly string[]): Verdict {
  const channel = /analysis|commentary|final/.exec(head.slice(head.lastIndexOf('channel')))?.[0];
  if (/to=/.test(head)) return { chars: head.length, until, holdsCalls: true };
  if (channel === 'analysis') return { chars: head.length, until };
  if (channel !== 'commentary') return { chars: head.length };
  const behind = site.text.slice(head.length).trimStart();
  if (behind === '' && !site.ended) return 'wait';
  return behind.startsWith('{') ? { chars: head.length, until } : { chars: head.length };
}

// ---- tags: <think>, <tool_call>, <function=get>, <invoke name="get"> ----

/** Some models have a name space of their own. */
const space = String.raw`(?:[a-z]{1,10}:|[|｜]DSML[|｜])?`;
const tag = new RegExp(String.raw`^<(\/?)${space}([A-Za-z_][\w.-]*)((?:[=(]|\s)[^<>]*)?\/?>`);
const partOfTag = new RegExp(String.raw`^<\/?${space}([\w.-]*)((?:[=(]|\s)[^<>]*)?\/?$`);

function tagAt(site: Site): Verdict {
  const { text, tools } = site;
  const weak = [...weakNames, ...tools.names];
  const names = [...thoughtNames, ...callNames, ...weak, ...resultNames, ...bareNames, ...turnNames];
  // Llama leaves the bracket of the tag out.
  const unclosed = /^<function=[\w.-]+\s*(?=[{(])/.exec(text);
  if (unclosed !== null) return { chars: unclosed[0].length, until: ['</function>'], holdsCalls: true };
  const match = tag.exec(text);
  if (match === null) {
    const [, name, rest = ''] = partOfTag.exec(text) ?? [];
    if (name === undefined || text.length > longestTag) return 'no';
    const mayBe =
      rest === ''
        ? mayBegin(names, name.toLowerCase()) || /^[a-z_.]{0,24}$/.test(name)
        : names.includes(name);
    const isSure = [...thoughtNames, ...callNames].includes(name) || (mayBe && /[=(]/.test(rest));
    if (site.ended) return isSure ? { chars: text.length } : 'no';
    return mayBe ? 'wait' : 'no';
  }
  const [raw, slash = '', name = '', rest = ''] = match;
  const kind = kindOfTag(name, tools);
  if (!names.includes(kind) && !/^unused\d+$/.test(kind)) return slash === '' ? wrapperAt(site, raw) : 'no';
  const chars = raw.length;
  if (slash !== '') return { chars, ...(thoughtNames.includes(kind) && { endsThoughts: true }) };
  if (kind === 'start_of_turn') return turnAt(site, raw);
  if (thoughtNames.includes(kind)) return { chars, until: [...endsOfThoughts, closerOf(raw)] };
  if (resultNames.includes(kind)) return { chars, until: [closerOf(raw)] };
  if (raw.endsWith('/>')) return { chars, holdsCalls: true };
  if (callNames.includes(kind)) return { chars, until: [closerOf(raw), raw], holdsCalls: true };
  if (!weak.includes(kind)) return { chars };
  const sign = /^[=(]|=/.test(rest) ? 'yes' : signOfCall(site, text.slice(chars));
  if (sign === 'wait') return 'wait';
  // Nobody says the name of a tool as a tag.
  if (sign === 'no' && tools.knows(kind)) return { chars, holdsCalls: true };
  return sign === 'yes' ? { chars, until: [closerOf(raw)], holdsCalls: true } : 'no';
}

const callTag =
  /(?:^|[a-z0-9][_-]?)(?:tool|function)[_-]?calls?$|^(?:use|call|run|invoke|execute)[_-](?:tool|function)$/;

/** What a tag is, whatever a vendor puts in front of its name. */
function kindOfTag(name: string, tools: OfferedTools): string {
  const bare = name.replace(/^(?:functions?|default_api|tools?)\./, '');
  if (tools.knows(bare)) return bare;
  const kind = name.toLowerCase();
  return callTag.test(kind) ? 'tool_call' : kind;
}

/** A tag of any name around JSON, or around nothing: those that are orders to a voice are around words. */
function wrapperAt({ text, ended }: Site, raw: string): Verdict {
  const close = closerOf(raw);
  const behind = text.slice(raw.length).trimStart();
  if (/^(?:\{\s*"|\[\s*\{\s*")/.test(behind)) return { chars: raw.length, until: [close], holdsCalls: true };
  if (behind.startsWith(close)) return { chars: text.length - behind.length + close.length };
  const mayBe = /^(?:\{\s*|\[\s*(?:\{\s*)?)?$/.test(behind) || close.startsWith(behind);
  return mayBe && !raw.endsWith('/>') && !ended ? 'wait' : 'no';
}

const closerOf = (raw: string): string => `</${/^<([^\s=(>/]+)/.exec(raw)?.[1] ?? ''}>`;

function signOfCall({ ended }: Site, behind: string): 'yes' | 'no' | 'wait' {
  const next = behind.trimStart();
  if (next === '' || next === '<') return ended ? 'no' : 'wait';
  return /^(?:[{[]|<[\w/])/.test(next) ? 'yes' : 'no';
}

// ---- brackets: [TOOL_CALLS], [{"name":...}], {"name":...} ----

const marker =
  /^\[(\/?)((?:[A-Z]+_)*TOOLS?(?:_[A-Z]+)*|ARGS|CALL_ID|INST|THINK|SYSTEM_PROMPT|think(?:ing)?|thought|reasoning)\]/;

function markerAt(site: Site): Verdict {
  const { text } = site;
  const match = marker.exec(text);
  if (match === null) return /^\[\/?(?:[A-Z_]{0,24}|[a-z]{0,9})$/.test(text) && !site.ended ? 'wait' : 'no';
  const [raw, slash, name = ''] = match;
  if (slash !== '') return { chars: raw.length, ...(/^th|^reason/i.test(name) && { endsThoughts: true }) };
  if (name === 'TOOL_REQUEST') return { chars: raw.length, until: ['[END_TOOL_REQUEST]'], holdsCalls: true };
  if (name.startsWith('TOOL_CALL') || name === 'ARGS' || name === 'CALL_ID')
    return callBehind(site, raw.length);
  return name.startsWith('END_') ? { chars: raw.length } : { chars: raw.length, until: [`[/${name}]`] };
}

/** What a marker announces: JSON, with or without a name in front of it. */
function callBehind(site: Site, from: number): Verdict {
  const { text } = site;
  const head = /^\s*[\w.-]*(?:\s*\[(?:CALL_ID|ARGS)\]\s*[\w-]*)*\s*/.exec(text.slice(from))?.[0] ?? '';
  const at = from + head.length;
  const isCut = at === text.length || /^\[(?:CALL_ID?|CALL?|CA?|ARGS?|AR?)?$/.test(text.slice(at));
  if (isCut && !site.ended) return text.length > longestChars ? { chars: from } : 'wait';
  if (text[at] !== '{' && text[at] !== '[') return { chars: from };
  const end = bracketEnd(text, at);
  if (end !== undefined) return { chars: end, holdsCalls: true };
  return text.length > longestChars ? { chars: text.length, until: [] } : begun(site, true);
}

function listAt(site: Site): Verdict {
  const { text, tools } = site;
  const behind = text.slice(1).trimStart();
  if (behind === '') return site.ended ? 'no' : 'wait';
  if (behind.startsWith('{')) return groupAt(site, (whole) => isCallShaped(parseJson(whole)));
  // A form that the model takes for a note on the call: "[Calling tool: get(...)]".
  const note = /^[A-Za-z][\w ]{0,32}:\s*/.exec(behind)?.[0] ?? '';
  if (note === '' && /^[A-Za-z][\w ]{0,32}$/.test(behind)) return site.ended ? 'no' : 'wait';
  const name = /^[\w-]+/.exec(behind.slice(note.length))?.[0] ?? '';
  if (note !== '') {
    if (note.length + name.length === behind.length && !site.ended) return 'wait';
    return tools.knows(name) ? groupAt(site, (whole) => callsIn(whole, tools).length > 0) : 'no';
  }
  if (tools.knows(name) && behind[name.length] === ']') return namedAt(site, text.indexOf(']') + 1);
  if (name.length === behind.length && mayBegin(tools.names, name)) return site.ended ? 'no' : 'wait';
  if (!tools.knows(name) || behind[name.length] !== '(') return 'no';
  return groupAt(site, (whole) => !tools.has(name) || callsIn(whole, tools).length > 0);
}

/** The name of a tool in brackets: its arguments may follow. */
function namedAt({ text, ended }: Site, at: number): Verdict {
  const from = at + (text.slice(at).length - text.slice(at).trimStart().length);
  if (from === text.length && !ended) return 'wait';
  const end = text[from] === '{' ? bracketEnd(text, from) : at;
  if (end === undefined) return ended || text.length > longestChars ? { chars: at } : 'wait';
  return { chars: end, holdsCalls: true };
}

const pythonCall = /["'](?:name|function|tool)["']\s*:[^]*["'](?:arguments|parameters)["']\s*:/;

function objectAt(site: Site): Verdict {
  const next = site.text.slice(1).trimStart();
  if (next === '') return site.ended ? 'no' : 'wait';
  if (!/^["']/.test(next)) return 'no';
  return groupAt(site, (whole) => {
    const value = parseJson(whole);
    if (!isRecord(value)) return pythonCall.test(whole);
    return isCallShaped(value) || callsIn(whole, site.tools).length > 0 || site.tools.take(value);
  });
}

/** Everything within the bracket that is open, where it is a call. */
function groupAt(site: Site, isCall: (whole: string) => boolean, from = 0): Verdict {
  const { text, ended } = site;
  const end = bracketEnd(text, from);
  if (end === undefined) return ended || text.length > longestChars ? 'no' : 'wait';
  return isCall(text.slice(from, end)) ? { chars: end, holdsCalls: true } : 'no';
}

function diamondAt(site: Site): Verdict {
  const [raw, slash] = /^◁(\/?)think▷/.exec(site.text) ?? [];
  if (raw === undefined) return mayBegin(['◁think▷', '◁/think▷'], site.text) && !site.ended ? 'wait' : 'no';
  return slash === ''
    ? { chars: raw.length, until: endsOfThoughts }
    : { chars: raw.length, endsThoughts: true };
}

// ---- words: commentary {...}, to=functions.get {...}, get({"x":1}), functions.get:0 ----

const betweens = ['code', 'json', 'to=', '<|constrain|>', '<|message|>'];

/** `Thought: ...`, up to what is done or said for it. */
function thoughtLineAt({ text, isFirst, ended }: Site): Verdict {
  if (!isFirst || !text.startsWith('Thought:')) return 'no';
  const end = /\n[^\S\n]*(?:(?=Action:)|(?:Final )?(?:Answer|Response):\s*)/.exec(text);
  if (end !== null && (end[0].trim() === '' || end.index + end[0].length < text.length || ended))
    return { chars: end.index + end[0].length };
  return ended || text.length > longestChars ? 'no' : 'wait';
}

const wordsBefore =
  /^(?:assistant)?(?:(?:commentary|analysis|tool_calls?|function_calls?|functools)\b\s*(?:to=[\w.:-]*)?|to=[\w.:-]*)/;

/** The channels of gpt-oss where a server took the tokens away. */
function channelWordAt(site: Site): Verdict {
  const { text, isFirst, ended, tools } = site;
  if (/^final<[|｜]message[|｜]>/.test(text)) return { chars: 'final'.length };
  if (mayBegin(['final<|message|>'], text)) return ended ? 'no' : 'wait';
  const code = /^tool_code[^\S\n]*(\n)?/.exec(text);
  if (code !== null && code[1] === undefined && code[0].length === text.length && !ended) return 'wait';
  if (code?.[1] !== undefined) return { chars: code[0].length };
  const glued = /^assistant(final|commentary|analysis)/.exec(text);
  if (glued?.[1] === 'final') return { chars: glued[0].length };
  const until = ['assistantfinal', 'assistantcommentary'];
  if (glued?.[1] === 'analysis') return { chars: glued[0].length, until };
  if (isFirst && text.startsWith('analysis')) {
    if (text === 'analysis' && !ended) return 'wait';
    if (/^analysis[A-Z]/.test(text)) return { chars: 'analysis'.length, until };
  }
  const head = wordsBefore.exec(text)?.[0];
  if (head === undefined) return 'no';
  const to = /to=([\w.:-]*)/.exec(head)?.[1];
  if (to !== undefined && head.length === text.length && !ended) return 'wait';
  if (
    to !== undefined &&
    !/^functions?\b/.test(to) &&
    !tools.names.some((name) => to.split(/[.:]/).includes(name))
  )
    return 'no';
  const isAddressed = to !== undefined;
  // Words in any script may stand between the address and the call.
  const between = isAddressed
    ? /^[^{}\n]{0,64}\n?\s{0,8}/
    : /^\s*:?\s*(?:code|json|<\|constrain\|>|<\|message\|>)*\s*/;
  const at = head.length + (between.exec(text.slice(head.length))?.[0].length ?? 0);
  if (at === text.length && !ended) return text.length > longestTag ? 'no' : 'wait';
  if (text[at] !== '{' && !(text[at] === '[' && !isAddressed)) {
    if (isAddressed) return { chars: head.length };
    if (!ended && mayBegin(betweens, text.slice(at))) return 'wait';
    return /<[|｜]/.test(text.slice(head.length, at + 2)) ? { chars: at } : 'no';
  }
  const end = bracketEnd(text, at);
  if (end === undefined)
    return text.length > longestChars ? { chars: text.length, until: [] } : begun(site, true);
  return isAddressed ? withRemnant(site, end) : { chars: end, holdsCalls: true };
}

/** What is glued to a call that was left in text belongs to it. */
function withRemnant({ text, ended }: Site, end: number): Verdict {
  const remnant = /^[^\s\p{ASCII}]{0,24}/u.exec(text.slice(end))?.[0] ?? '';
  const chars = end + remnant.length;
  return chars === text.length && !ended ? 'wait' : { chars, holdsCalls: true };
}

/** Who speaks, where a server took the tokens around it away. */
function turnWordAt({ text, isFirst, ended }: Site): Verdict {
  const [head, , end] = /^(assistant|Assistant)(?:(\s*\n+|:\s+)|[^\S\n]*:?$)?/.exec(text) ?? [];
  if (head === undefined || !isFirst) return 'no';
  if (end !== undefined && head.length < text.length) return { chars: head.length };
  return head.length === text.length && !ended ? 'wait' : 'no';
}

/** `Action: get` and, in the next line, `Action Input: {...}`. */
function actionAt(site: Site): Verdict {
  const { text, tools, ended } = site;
  if (!text.startsWith('Action:')) return 'no';
  const [head = '', name = ''] = /^Action:[^\S\n]*([\w-]*)[^\S\n]*\n?/.exec(text) ?? [];
  if (head.length === text.length && !ended) return 'wait';
  if (!tools.knows(name)) return 'no';
  const input = /^\s*(?:Action )?Input:\s*/.exec(text.slice(head.length))?.[0] ?? '';
  const at = head.length + input.length;
  const isBegun =
    at === text.length || mayBegin(['Action Input:', 'Input:'], text.slice(head.length).trimStart());
  if (isBegun && !ended) return 'wait';
  return text[at] === '{' ? groupAt(site, (whole) => isRecord(parseJson(whole)), at) : 'no';
}

/** The name of a tool with something behind it that nobody says. */
function nameAt(site: Site): Verdict {
  const { text, tools, ended } = site;
  const [head, printed = '', prefix = '', name = ''] =
    /^(print\(\s*)?((?:functions?|default_api)\.)?([A-Za-z0-9_-]*)(?::\d+)?/.exec(text) ?? [''];
  const isSure = prefix !== '';
  if (head.length === text.length && !ended) return 'wait';
  if (name === '' || !(tools.knows(name) || prefix.startsWith('function'))) return 'no';
  const behind = text.slice(head.length);
  if (printed !== '' || behind.startsWith('(')) {
    const open = printed === '' ? head.length : 'print'.length;
    return functionAt(site, open, printed === '' ? isSure : true);
  }
  if (/^<[|｜]/.test(behind)) return { chars: head.length };
  if (behind === '<' && !ended) return 'wait';
  const gap = /^(?:\s{0,2}(?:[:=]>?|->)?\s{0,2})/.exec(behind)?.[0] ?? '';
  const at = head.length + gap.length;
  if (at >= text.length - 1 && !ended && (at === text.length || text[at] === '{')) return 'wait';
  if (text[at] === '{' && /^\{\s*(?:["}]|$)/.test(text.slice(at))) {
    const end = bracketEnd(text, at);
    if (end === undefined)
      return text.length > longestChars ? 'no' : ended ? (isSure ? begun(site, true) : 'no') : 'wait';
    return isRecord(parseJson(text.slice(at, end))) ? { chars: end, holdsCalls: true } : 'no';
  }
  if (isSure) return { chars: head.length };
  // A name that nobody would say, as a sentence of its own.
  const isAlone = site.startsSentence && /[_-]/.test(name) && /^[^\S\n]*(?:\n|$)/.test(behind);
  if (isAlone && !ended && !behind.includes('\n')) return 'wait';
  return isAlone ? { chars: head.length, holdsCalls: true } : 'no';
}

/** `get(...)`: a call where the brackets hold arguments, and not "(ting)"; without any it is one where it stands alone. */
function functionAt(site: Site, open: number, isSure: boolean): Verdict {
  const { text, ended, tools } = site;
  const inner = text.slice(open + 1);
  const mayBeCall = isSure || /^\s*(?:$|[)}{"']|[A-Za-z_]\w*\s*(?:$|[=:(]))/.test(inner);
  if (!mayBeCall) return 'no';
  const end = bracketEnd(text, open);
  if (end === undefined) return ended || text.length > longestChars ? 'no' : 'wait';
  const held = text.slice(open + 1, end - 1).trim();
  if (held === '' && !isSure) {
    const behind = /^[^\S\n]*(?:(\n)|(?=(\S)))?/.exec(text.slice(end));
    const isAlone = behind?.[1] !== undefined || (behind?.[2] === undefined && ended);
    if (!site.startsSentence || behind?.[2] !== undefined) return 'no';
    return isAlone ? { chars: end, holdsCalls: true } : 'wait';
  }
  const isCall =
    isSure || /^["']/.test(held) || argumentsIn(held) !== undefined || callsIn(held, tools).length > 0;
  return isCall ? { chars: end, holdsCalls: true } : 'no';
}
