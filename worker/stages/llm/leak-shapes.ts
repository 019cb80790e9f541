/**
 * What leaks of a model's own form into its text, by its shape: tags and tokens in which it thinks, calls tools, reads their results and
 * begins turns, and the words that are left of them where a server took the tokens away. Speech has none of these.
 *
 * Pure. Each rule looks at text that may be the beginning of its shape, and waits while more text may change its mind: the
 * result does not depend on how a stream is cut.
 */
import { isRecord, parseJson } from '../json.ts';
import { wordAt } from './leak-words.ts';
import {
  begun,
  groupAt,
  longestChars,
  longestTag,
  mayBegin,
  ruled,
  type Site,
  type Verdict,
} from './leak.ts';
import {
  areCallsOfCode,
  bracketEnd,
  callsIn,
  isCallShaped,
  isCodeName,
  isNameAlone,
  type OfferedTools,
} from './leaked-calls.ts';

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
    'scratch_pad',
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
  ...['function_response', 'observation', 'system-reminder', 'system_reminder'],
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
  ...['end_of_turn', 'begin_of_text', 'end_of_text', 'endoftext', 'sop', 'eop', 'eom', 'model'],
  ...['end_of_utterance', 'end_of_message'],
];
const turnNames = ['start_of_turn'];

/** Vendors and prompts put these words together with others: `<thought_process>`, `<inner-thought>`, `<longcat_think>`. */
const thoughtTag =
  /(?:^|[_-])(?:think(?:ing)?|thoughts?|reasoning|reflect(?:ion)?s?|scratch_?pad|monologue|rationale|cot)(?:$|[_-])/;
const areThoughts = (kind: string): boolean => thoughtNames.includes(kind) || thoughtTag.test(kind);

const begunAnswer = '[BEGIN FINAL RESPONSE]';
export const endsOfThoughts = [
  ...thoughtNames.map((name) => `</${name}>`),
  '[/THINK]',
  '◁/think▷',
  begunAnswer,
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
      return wordAt(site);
  }
}

// ---- tokens: <|im_end|>, <｜tool▁calls▁begin｜>, <|tool_call> ----

const token = /^<[|｜]([^<>|｜\s](?:[^<>|｜]{0,46}[^<>|｜\s])?)[|｜]?>|^<([a-z_]{1,24})[|｜]>/;
const partOfToken = /^<[|｜](?:[^<>|｜\s][^<>|｜]{0,47})?[|｜]?$/;
const partOfEnd = /^<[a-z_]{0,24}[|｜]?$/;

function tokenAt(site: Site): Verdict {
  const { text } = site;
  const order = /^<<\/?SYS>>/.exec(text);
  if (order !== null) return { chars: order[0].length };
  if (mayBegin(['<<SYS>>', '<</SYS>>'], text) && text !== '<' && !site.ended) return 'wait';
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
  if (/^(?:im_start|start_header_id|turn|begin)$/.test(kind)) return turnAt(site, raw);
  if (/^(?:user|system|assistant|observation)$/.test(kind))
    return { chars: raw.length, ...(!(kind === 'assistant' && site.isFirst) && { until: [] }) };
  if (kind === 'from' || kind === 'recipient') return partyAt(site, raw);
  const isEnd = /end|suffix|^\//.test(kind);
  if (isEnd || /sep|argument/.test(kind))
    return { chars: raw.length, ...(/think|thought/.test(kind) && { endsThoughts: true }) };
  if (/think|thought|^inner/.test(kind)) return { chars: raw.length, until: endsOf(raw, name) };
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
    .replace(/prefix/, 'suffix')
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

const harmonyEnds = ['<|end|>', '<|call|>', '<|return|>', '<|start|>', '<|channel|>', 'assistantfinal'];
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

const isTagName = /^(?:[a-z_][a-z0-9_.-]{0,40})?$/i;
/** What a tag of any name may hold, which may wrap a call: `<x name="y" ...`; `a <b and c` is none. */
const attributes = /^(?:[=(][^<>]*|\s+(?:[\w-]+=(?:"[^"<>]*"?|'[^'<>]*'?|[^\s<>"']*)\s*)*[\w-]*\/?)$/;

function tagAt(site: Site): Verdict {
  const { text, tools } = site;
  const weak = [...weakNames, ...tools.names];
  const names = [...thoughtNames, ...callNames, ...weak, ...resultNames, ...bareNames, ...turnNames];
  // Llama leaves the bracket of the tag out.
  const unclosed = /^<function[=/][\w.-]+[,\s]*(?=[{([])/.exec(text);
  if (unclosed !== null) return { chars: unclosed[0].length, until: ['</function>'], holdsCalls: true };
  if (/^<function\/[\w.-]*[,\s]*$/.test(text) && text.length < longestTag && !site.ended) return 'wait';
  const match = tag.exec(text);
  if (match === null) {
    const [, name, rest = ''] = partOfTag.exec(text) ?? [];
    if (name === undefined || text.length > longestTag) return 'no';
    const kind = kindOfTag(name, tools);
    const isKnown = names.includes(kind) || areThoughts(kind);
    const mayBe = rest === '' ? mayBegin(names, name.toLowerCase()) || isTagName.test(name) : isKnown;
    const isSure = areThoughts(kind) || callNames.includes(kind) || (mayBe && /[=(]/.test(rest));
    if (site.ended) return isSure ? { chars: text.length } : 'no';
    return mayBe || (isTagName.test(name) && attributes.test(rest)) ? 'wait' : 'no';
  }
  const [raw, slash = '', name = '', rest = ''] = match;
  const kind = kindOfTag(name, tools);
  if (/^(?:unused|ctrl)\d+$/.test(kind))
    return { chars: raw.length, ...(kind === 'ctrl94' && { until: ['<ctrl95>'] }) };
  if (!names.includes(kind) && !areThoughts(kind)) return slash === '' ? wrapperAt(site, raw) : 'no';
  const chars = raw.length;
  if (slash !== '') return { chars, ...(areThoughts(kind) && { endsThoughts: true }) };
  if (kind === 'start_of_turn') return turnAt(site, raw);
  if (areThoughts(kind)) return { chars, until: [...endsOfThoughts, closerOf(raw)] };
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
  const bare = name.replace(/^_+|^(?:functions?|default_api|tools?)\./, '');
  if (tools.knows(bare)) return bare;
  const kind = bare.toLowerCase();
  return callTag.test(kind) ? 'tool_call' : kind;
}

/** A tag of any name around JSON, or around nothing: those that are orders to a voice are around words. */
function wrapperAt({ text, ended }: Site, raw: string): Verdict {
  const close = closerOf(raw);
  // Orders to a voice have names without a line below.
  const isCode = raw.includes('_') && isCodeName(close.slice(2, -1));
  if (isCode && raw.endsWith('/>')) return { chars: raw.length };
  const behind = text.slice(raw.length).trimStart();
  if (/^(?:\{\s*"|\[\s*\{\s*")/.test(behind)) return { chars: raw.length, until: [close], holdsCalls: true };
  if (isCode && /^<\w/.test(behind)) return { chars: raw.length, until: [close] };
  if (behind.startsWith(close)) return { chars: text.length - behind.length + close.length };
  const mayBe = /^(?:\{\s*|\[\s*(?:\{\s*)?)?$/.test(behind) || close.startsWith(behind);
  return mayBe && !raw.endsWith('/>') && !ended ? 'wait' : 'no';
}

const closerOf = (raw: string): string => `</${/^<([^\s=(>/]+)/.exec(raw)?.[1] ?? ''}>`;

function signOfCall({ ended, tools }: Site, behind: string): 'yes' | 'no' | 'wait' {
  const next = behind.trimStart();
  if (next === '' || next === '<') return ended ? 'no' : 'wait';
  const [head = '', name = ''] = /^([\w-]+)\s*/.exec(next) ?? [];
  if (head !== '' && head.length === next.length) return ended ? 'no' : 'wait';
  const behindName = next[head.length] ?? '';
  if ((tools.knows(name) && /[{(]/.test(behindName)) || (isCodeName(name) && behindName === '<'))
    return 'yes';
  return /^(?:[{[]|<[\w/])/.test(next) ? 'yes' : 'no';
}

// ---- brackets: [TOOL_CALLS], [{"name":...}], {"name":...} ----

const marker =
  /^\[(\/?)((?:[A-Z]+_)*TOOLS?(?:_[A-Z]+)*|ARGS|CALL_ID|INST|THINK|SYSTEM_PROMPT|think(?:ing)?|thought|reasoning)\]/;
/** What begins or ends an answer, as text. */
const bareMarker = /^\[(?:gMASK|E?BOS|EO[ST]|PAD|UNK|END FINAL RESPONSE)\]/;

function markerAt(site: Site): Verdict {
  const { text } = site;
  const bare = bareMarker.exec(text);
  if (bare !== null) return { chars: bare[0].length };
  if (text.startsWith(begunAnswer)) return { chars: begunAnswer.length, endsThoughts: true };
  const match = marker.exec(text);
  if (match === null)
    return /^\[\/?(?:[A-Z_ ]{0,24}|[a-z]{0,9}|gM?A?S?K?)$/.test(text) && !site.ended ? 'wait' : 'no';
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
  if (behind.startsWith('{'))
    return groupAt(site, (whole) => isCallShaped(parseJson(whole)) || callsIn(whole, tools).length > 0);
  // A form that the model takes for a note on the call: "[Calling tool: get(...)]".
  const note = /^[A-Za-z][\w ]{0,32}:\s*/.exec(behind)?.[0] ?? '';
  if (note === '' && /^[A-Za-z][\w ]{0,32}$/.test(behind)) return site.ended ? 'no' : 'wait';
  const name = /^[\w-]+/.exec(behind.slice(note.length))?.[0] ?? '';
  if (note !== '') {
    if (note.length + name.length === behind.length && !site.ended) return 'wait';
    const named = note.length + name.length;
    if (tools.knows(name) && behind[named] === ']' && /tool|function|call/i.test(note))
      return { chars: text.length - behind.length + named + 1, holdsCalls: true };
    return tools.knows(name) ? groupAt(site, (whole) => callsIn(whole, tools).length > 0) : 'no';
  }
  if (tools.knows(name) && behind[name.length] === ']') return namedAt(site, text.indexOf(']') + 1);
  const isCode = isCodeName(name);
  if (name.length === behind.length && (isCode || mayBegin(tools.names, name)))
    return site.ended ? 'no' : 'wait';
  if (behind[name.length] !== '(') return 'no';
  if (!tools.knows(name)) return isCode ? groupAt(site, (whole) => areCallsOfCode(whole.slice(1, -1))) : 'no';
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
    const { tools, startsSentence } = site;
    if (startsSentence && isNameAlone(value, tools)) return true;
    return isCallShaped(value) || callsIn(whole, tools).length > 0 || tools.take(value);
  });
}

function diamondAt(site: Site): Verdict {
  const [raw, slash] = /^◁(\/?)think▷/.exec(site.text) ?? [];
  if (raw === undefined) return mayBegin(['◁think▷', '◁/think▷'], site.text) && !site.ended ? 'wait' : 'no';
  return slash === ''
    ? { chars: raw.length, until: endsOfThoughts }
    : { chars: raw.length, endsThoughts: true };
}
