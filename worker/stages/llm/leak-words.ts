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
import { argumentsIn, bracketEnd, callsIn, isCodeName } from './leaked-calls.ts';

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
];

/** Text that begins with a word. */
export const wordAt = (site: Site): Verdict =>
  ruled(site, [...turns, thoughtLineAt, actionAt, channelWordAt, taglessAt, parallelAt, nameAt, codeAt]);

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

/** A call of code that begins a sentence, of whatever tool: `find_order(id="1")`, or what is left of one: `id="1", day="2")`. */
function codeAt(site: Site): Verdict {
  const { text, ended, startsSentence } = site;
  const name = startsSentence ? /^[a-z]\w*(?:\.[a-z]\w*)*/.exec(text)?.[0] : undefined;
  if (name === undefined) return 'no';
  const isOpen = !ended && text.length <= longestTag;
  const behind = text.slice(name.length);
  if (behind === '' || behind === '=') return isOpen ? 'wait' : 'no';
  if (/^=(?:"[^"]*"?|'[^']*'?)\s*$/.test(behind)) return isOpen ? 'wait' : 'no';
  if (/^=(?:"[^"]*"|'[^']*')\s*[,)]/.test(behind)) {
    const end = text.indexOf(')') + 1;
    if (end === 0 && !ended) return isOpen ? 'wait' : 'no';
    return { chars: end === 0 ? text.length : end };
  }
  const isCode = behind.startsWith('(') && isCodeName(name.split('.').at(-1) ?? '');
  return isCode ? functionAt(site, name.length, false) : 'no';
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
    return functionAt(site, open, printed === '' ? isSure : true);
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
