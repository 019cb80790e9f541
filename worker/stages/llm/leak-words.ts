/**
 * Words that are left of a model's own form in its text, and calls of tools that are written as code: no tag or token begins them. Rules as in
 * `leak-shapes.ts`. Pure.
 */
import { isRecord, parseJson } from '../json.ts';
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
import { argumentsIn, bracketEnd, callsIn, isCodeName, type OfferedTools } from './leaked-calls.ts';

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
  ...['tool_call', 'tool_code', 'function_call', 'functools', 'Action:', 'Thought:', 'final'],
  ...['multi_tool_use', 'call:', 'function=', 'function call<', 'Human:', 'USER:', '### '],
  ...['Agent:', 'Bot:', 'ASSISTANT:'],
  ...['tool:', 'function:', 'name:', 'action:', 'tool_name:', 'function_name:'],
];

/** Text that begins with a word. */
export const wordAt = (site: Site): Verdict =>
  ruled(site, [
    ...turns,
    thoughtLineAt,
    actionAt,
    listedAt,
    channelWordAt,
    taglessAt,
    parallelAt,
    nameAt,
    codeAt,
  ]);

// ---- words: commentary {...}, to=functions.get {...}, get({"x":1}), functions.get:0 ----

const betweens = ['code', 'json', 'to=', '<|constrain|>', '<|message|>'];

/** `Thought: ...`, up to what is done or said for it. */
function thoughtLineAt({ text, startsLine, ended }: Site): Verdict {
  if (!startsLine || !text.startsWith('Thought:')) return 'no';
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
  if (mayBegin(['final<|message|>'], text) && !ended) return 'wait';
  if (isFirst && /^final(?=[A-Z\n])/.test(text)) return { chars: 'final'.length };
  const code = /^tool_code[^\S\n]*(\n)?/.exec(text);
  if (code !== null && code[1] === undefined && code[0].length === text.length && !ended) return 'wait';
  if (code?.[1] !== undefined) return { chars: code[0].length };
  const glued = /^assistant(final|commentary|analysis)/.exec(text);
  if (glued?.[1] === 'final') return { chars: glued[0].length };
  const until = ['assistantfinal', 'assistantcommentary'];
  if (glued?.[1] === 'analysis') return { chars: glued[0].length, until };
  if (isFirst && text.startsWith('analysis')) {
    if (/^analysis[^\S\n]*$/.test(text) && !ended) return 'wait';
    if (/^analysis\s*(?:[A-Z]|\n)/.test(text)) return { chars: 'analysis'.length, until };
  }
  const head = wordsBefore.exec(text)?.[0];
  if (head === undefined) return 'no';
  const to = /to=([\w.:-]*)/.exec(head)?.[1];
  if (to !== undefined && head.length === text.length && !ended) return 'wait';
  if (
    to !== undefined &&
    !/^(?:functions?\b|multi_tool_use)/.test(to) &&
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
  const named = /^(?:assistant|function call)<[|｜]role_sep[|｜]>/.exec(text);
  if (named !== null) return { chars: named[0].length };
  if (mayBegin(roleSeps, text) && text.includes('<') && !ended) return 'wait';
  const [head, , end] =
    /^(assistant|Assistant|(?:Agent|Bot|ASSISTANT)(?=:))(?:(\s*\n+|:\s+)|[^\S\n]*:?$)?/.exec(text) ?? [];
  if (head === undefined || !isFirst) return 'no';
  if (end !== undefined && head.length < text.length) return { chars: head.length };
  return head.length === text.length && !ended ? 'wait' : 'no';
}

const roleSeps = ['assistant<|role_sep|>', 'function call<|role_sep|>'];

/** A turn that the model makes up behind its own: of the caller, or another one of its own. */
function nextTurnAt({ text, isFirst, startsSentence, startsLine, ended }: Site): Verdict {
  const heading = headings.find((one) => text.startsWith(one));
  if (heading !== undefined)
    return { chars: heading.length, ...(!(isFirst && /Assistant|Response/.test(heading)) && { until: [] }) };
  if (mayBegin(headings, text) && !ended) return 'wait';
  if (isFirst) return 'no';
  const isOther = startsSentence && (text.startsWith('USER:') || (startsLine && text.startsWith('Human:')));
  if (isOther) return { chars: text.length, until: [] };
  const again = startsSentence ? /^assistant(\n\n|\n?$)/.exec(text) : null;
  if (again === null) return 'no';
  return again[1] === '\n\n' || ended ? { chars: text.length, until: [] } : 'wait';
}

const headings = ['Human', 'User', 'Instruction', 'Input', 'Assistant', 'Response'].map(
  (name) => `### ${name}:`,
);
const turns = [turnWordAt, nextTurnAt];

/** `Action: get` and, in the next line, `Action Input: {...}`; `Action: get[...]`. */
function actionAt(site: Site): Verdict {
  const { text, tools, ended } = site;
  const [head = '', name = ''] = /^Action:[^\S\n]*([\w.-]*)[^\S\n]*\n?/.exec(text) ?? [];
  if (head === '') return 'no';
  if (head.length === text.length && !ended) return 'wait';
  if (name !== '' && text[head.length] === '[') return groupAt(site, () => true, head.length);
  const input = /^\s*(?:Action )?Input:\s*/.exec(text.slice(head.length))?.[0] ?? '';
  const at = head.length + input.length;
  const isBegun =
    at === text.length || mayBegin(['Action Input:', 'Input:'], text.slice(head.length).trimStart());
  if (isBegun && !ended) return 'wait';
  if (text[at] === '{') {
    const isCall = tools.knows(name) || input !== '';
    return isCall ? groupAt(site, (whole) => isRecord(parseJson(whole)), at) : 'no';
  }
  if (!input.includes('Action') || name === '') return 'no';
  const line = text.indexOf('\n', at);
  return line < 0 ? begun(site) : { chars: line };
}

const listHead = String.raw`(?:(?:tool|function)_calls?:\s*\n\s*(?:-\s+)?)?(?:(?:(?:tool|function)_)?name|tool|function|action):`;
const listed = new RegExp(String.raw`^${listHead}[^\S\n]*["']?[\w.-]+["']?[^\S\n]*\n[^\S\n]*`);
const partOfListed = new RegExp(
  String.raw`^(?:${listHead}[^\S\n]*["']?[\w.-]*["']?[^\S\n]*|(?:tool|function)_calls?(?::\s*(?:-\s*)?[a-z_]*)?)$`,
);
const listedArguments = [
  'arguments:',
  'args:',
  'parameters:',
  'params:',
  'input:',
  'tool_input:',
  'action_input:',
];

/** `tool: get` and, in the next line, `arguments:` with what is on that line or, further in, on the next ones. */
function listedAt(site: Site): Verdict {
  const { text, ended, startsLine, tools } = site;
  const head = startsLine ? listed.exec(text)?.[0] : undefined;
  if (head === undefined)
    return startsLine && partOfListed.test(text) && text.length < longestTag && !ended ? 'wait' : 'no';
  const behind = text.slice(head.length);
  const [, named = '', name = ''] = /(\w+):[^\S\n]*["']?([\w.-]+)["']?[^\S\n]*\n[^\S\n]*$/.exec(head) ?? [];
  if (!/tool|function/.test(named) && !isCodeName(name) && !tools.knows(name)) return 'no';
  const key = listedArguments.find((one) => behind.startsWith(one));
  if (key === undefined) return mayBegin(listedArguments, behind) && !ended ? 'wait' : 'no';
  const value = /\S/.exec(behind.slice(key.length));
  if (value?.[0] === '{') return groupAt(site, () => true, head.length + key.length + value.index);
  const end = /\n(?=\S)/.exec(behind)?.index;
  return end === undefined ? begun(site) : { chars: head.length + end };
}

/** `function=get>{"x":1}</function>`, a tag that has lost its bracket. */
function taglessAt({ text, ended }: Site): Verdict {
  const head = /^function=[\w.-]+\s*>?\s*(?=[{([])/.exec(text)?.[0];
  if (head !== undefined) return { chars: head.length, until: ['</function>'], holdsCalls: true };
  return /^function=[\w.-]*\s*>?\s*$/.test(text) && text.length < longestTag && !ended ? 'wait' : 'no';
}

/** Calls that OpenAI's models put together in one that is not offered. */
function parallelAt({ text, ended }: Site): Verdict {
  const head = /^multi_tool_use(?:\.parallel)?\s*/.exec(text)?.[0];
  if (head === undefined) return 'no';
  const behind = text.slice(head.length);
  if (mayBegin(['.parallel'], behind) && !ended) return text.length > longestTag ? 'no' : 'wait';
  if (!/^[({]/.test(behind)) return { chars: head.length };
  const end = bracketEnd(text, head.length);
  if (end !== undefined) return { chars: end, holdsCalls: true };
  return ended || text.length > longestChars ? { chars: text.length, until: [], holdsCalls: true } : 'wait';
}

/** A call of code, of whatever tool: `find_order(id="1")`, `findOrder {"id":"1"}`, or what is left of one: `id="1", day="2")`. */
function codeAt(site: Site): Verdict {
  const { text, ended } = site;
  const [path, name = ''] = /^(?:[\p{L}_][\p{L}\p{N}_]*[.-])*([\p{L}_][\p{L}\p{N}_]*)/u.exec(text) ?? [];
  if (path === undefined) return 'no';
  const behind = text.slice(path.length);
  if (site.startsSentence && behind.startsWith('=')) return argumentsAt(site, behind);
  const [gap = '', sign = ''] = /^(?::?\s{0,2})([({]?)/.exec(behind) ?? [];
  const at = path.length + gap.length - 1;
  const isCode = isCodeName(name) || path.includes('.');
  if (sign === '') return isCode && gap.length === behind.length && !ended ? 'wait' : 'no';
  const isSpaced = gap !== sign;
  if (isSpaced && !isCodeName(name)) return 'no';
  if (sign === '(') return functionAt(site, at, { name, isCode, isSpaced });
  return isCode && /^\{\s*(?:"|$)/.test(text.slice(at)) ? groupAt(site, () => true, at) : 'no';
}

function argumentsAt({ text, ended }: Site, behind: string): Verdict {
  const isOpen = !ended && text.length <= longestTag;
  if (/^=(?:"[^"]*"?|'[^']*'?)?\s*$/.test(behind)) return isOpen ? 'wait' : 'no';
  if (!/^=(?:"[^"]*"|'[^']*')\s*[,)]/.test(behind)) return 'no';
  const end = text.indexOf(')') + 1;
  if (end === 0 && !ended) return isOpen ? 'wait' : 'no';
  return { chars: end === 0 ? text.length : end };
}

/** The name of a tool with something behind it that nobody says. */
function nameAt(site: Site): Verdict {
  const { text, tools, ended } = site;
  const [head, printed = '', prefix = '', name = ''] =
    /^(print\(\s*)?((?:call:(?:[\w-]+:)?)?(?:(?:functions?|default_api)\.)?)([A-Za-z0-9_-]*)(?::\d+)?/.exec(
      text,
    ) ?? [''];
  const isSure = prefix !== '';
  if (head.length === text.length && !ended) return 'wait';
  const behind = text.slice(head.length);
  const isGemma = prefix.startsWith('call:') && behind.startsWith('{');
  if (isGemma) return groupAt(site, () => true, head.length);
  if (name === '' || !(tools.knows(name) || prefix.endsWith('.') || (printed !== '' && isCodeName(name))))
    return 'no';
  if (printed !== '' || behind.startsWith('(')) {
    const open = printed === '' ? head.length : 'print'.length;
    return functionAt(site, open, { name, isCode: isCodeName(name), isSure: isSure || printed !== '' });
  }
  if (/^<[|｜]/.test(behind)) return { chars: head.length };
  if (behind === '<' && !ended) return 'wait';
  const [gap = '', spaced = ''] =
    /^(\s{0,2}(?:[:=]>?|->|>)?\s{0,2})(?:```(?:json)?\s{0,2})?/.exec(behind) ?? [];
  const at = head.length + gap.length;
  if (/^`{1,3}(?:j|js|jso)?$/.test(behind.slice(spaced.length)) && !ended) return 'wait';
  if (at >= text.length - 1 && !ended && (at === text.length || text[at] === '{')) return 'wait';
  if (text[at] === '{' && /^\{\s*(?:["}]|$)/.test(text.slice(at))) {
    const end = bracketEnd(text, at);
    if (end === undefined)
      return text.length > longestChars ? 'no' : ended ? (isSure ? begun(site, true) : 'no') : 'wait';
    return isRecord(parseJson(text.slice(at, end))) ? { chars: end, holdsCalls: true } : 'no';
  }
  if (isSure) return { chars: head.length };
  // A name that nobody would say, as a sentence of its own.
  const end = /^[.!]?(?=[^\S\n]*(?:\n|$))/.exec(behind)?.[0];
  const isAlone = end !== undefined && site.startsSentence && /[_-]/.test(name);
  if (isAlone && !ended && !behind.includes('\n')) return 'wait';
  return isAlone ? { chars: head.length + end.length, holdsCalls: true } : 'no';
}

interface Written {
  readonly name: string;
  /** Nobody says a name like this. */
  readonly isCode: boolean;
  /** A blank stands in front of the bracket. */
  readonly isSpaced?: boolean;
  /** It is a call, whatever it holds. */
  readonly isSure?: boolean;
}

const mayBeArguments = /^\s*(?:$|[)}{["'“\d-]|(?:[Tt]rue|[Ff]alse|null|None)\b|[A-Za-z_]\w*\s*(?:$|[=:(]))/;

/** `get(...)`: a call where the brackets hold arguments, and not "(ting)"; without any it is one where it stands alone. */
function functionAt(site: Site, open: number, written: Written): Verdict {
  const { text, ended, tools } = site;
  const { name, isCode, isSure = false } = written;
  if (!isSure && !mayBeArguments.test(text.slice(open + 1))) return 'no';
  const closed = bracketEnd(text, open);
  if (closed === undefined && text.length > longestChars) return 'no';
  if (closed === undefined && !ended) return 'wait';
  const end = closed ?? (text.indexOf(')', open) + 1 || text.length);
  const held = text
    .slice(open + 1, end)
    .replace(/\)$/, '')
    .trim();
  if (held === '' && !isSure && !isCode) return emptyAt(site, end);
  const isCall =
    isSure || held === '' || areArguments(held, written) || (tools.knows(name) && isCallOf(held, tools));
  // A call that is not closed may lack the end of a number.
  return isCall ? { chars: end, holdsCalls: closed !== undefined } : 'no';
}

const isCallOf = (held: string, tools: OfferedTools): boolean =>
  /^["']/.test(held) || argumentsIn(held) !== undefined || callsIn(held, tools).length > 0;

/** What only code has between brackets; numbers and single words are said behind a name, as in "f(2)". */
function areArguments(held: string, { name, isCode, isSpaced = false }: Written): boolean {
  if (/^[A-Za-z_]\w*\s*=\s*["'“]|^\{\s*(["'])[^"']*\1\s*:/.test(held)) return true;
  if (!isCode || isSpaced) return false;
  if (/^(?:["'“{[]|[A-Za-z_]\w*\s*[=:])/.test(held)) return true;
  return name.includes('_') && /^(?:-?\d[\d.]*|[Tt]rue|[Ff]alse|null|None)\s*(?:,|$)/.test(held);
}

function emptyAt({ text, startsSentence, ended }: Site, end: number): Verdict {
  const behind = /^[^\S\n]*(?:(\n)|(?=(\S)))?/.exec(text.slice(end));
  if (!startsSentence || behind?.[2] !== undefined) return 'no';
  return behind?.[1] !== undefined || ended ? { chars: end, holdsCalls: true } : 'wait';
}
