/**
 * What published chat templates and services refuse, in our own words: an oracle for the messages that adapters send. Each judge names
 * the rule that is broken, or nothing.
 */

export interface ChatWire {
  readonly role: string;
  readonly content?: string | null;
  readonly tool_calls?: readonly { id: string; function: { name: string; arguments: string } }[];
  readonly tool_call_id?: string;
}

type Judge = (messages: readonly ChatWire[]) => string | undefined;

const isCalling = ({ tool_calls: calls }: ChatWire): boolean => calls !== undefined && calls.length > 0;
const withoutSystem = (messages: readonly ChatWire[]): readonly ChatWire[] =>
  messages[0]?.role === 'system' ? messages.slice(1) : messages;

/** Behind one system message, user and assistant take turns and the user is first, as far as `counts` says that a message counts. */
function turnsAlternate(messages: readonly ChatWire[], counts: (message: ChatWire) => boolean): boolean {
  return withoutSystem(messages)
    .filter(counts)
    .every(({ role }, at) => role === (at % 2 === 0 ? 'user' : 'assistant'));
}

function isJsonObject(text: string): boolean {
  const value: unknown = JSON.parse(text);
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** All strings of a value. */
function textIn(value: unknown): string {
  if (typeof value === 'string') return value;
  return typeof value === 'object' && value !== null ? Object.entries(value).flat().map(textIn).join() : '';
}

/** Results stand directly behind their calls, in the order of these, one for each. */
function pairingProblem(messages: readonly ChatWire[]): string | undefined {
  const ids = new Set<string>();
  for (const [at, message] of messages.entries()) {
    const calls = message.tool_calls ?? [];
    for (const [n, call] of calls.entries()) {
      if (ids.has(call.id)) return 'an id is given once';
      ids.add(call.id);
      const answer = messages[at + 1 + n];
      if (answer?.role !== 'tool' || answer.tool_call_id !== call.id) return 'results follow in order';
      if (!/^[A-Za-z0-9_-]{1,64}$/.test(call.function.name)) return 'names of tools';
      if (!isJsonObject(call.function.arguments)) return 'arguments are an object';
      if (/[\p{Cs}\0]/u.test(textIn(JSON.parse(call.function.arguments))))
        return 'arguments have whole characters';
    }
    if (message.role === 'tool' && !ids.has(message.tool_call_id ?? '')) return 'a result has a call';
    if (message.role === 'tool' && !['tool', 'assistant'].includes(messages[at - 1]?.role ?? ''))
      return 'a result is behind calls';
    if (
      message.role === 'assistant' &&
      isCalling(message) &&
      messages[at + calls.length + 1]?.role === 'tool'
    )
      return 'as many results as calls';
  }
  return undefined;
}

function contentProblem(messages: readonly ChatWire[]): string | undefined {
  for (const message of messages) {
    if (message.content === null && isCalling(message)) continue;
    if (typeof message.content !== 'string' || message.content.trim() === '') return 'content is never blank';
    if (/[\p{Cs}\0]/u.test(message.content)) return 'content has whole characters';
  }
  return undefined;
}

/** Templates of Mistral (7B v0.3, Nemo, Small 3, Large) and its hosted service, which looks at neighbours as well. */
export const mistral: Judge = (messages) => {
  if (!turnsAlternate(messages, (message) => message.role !== 'tool' && !isCalling(message)))
    return 'user and assistant take turns, calls and results not counted';
  if (messages.slice(1).some(({ role }) => role === 'system')) return 'one system message';
  for (const message of messages) {
    for (const { id } of message.tool_calls ?? [])
      if (!/^[A-Za-z0-9]{9}$/.test(id)) return 'ids have nine letters and digits';
  }
  for (const [at, { role }] of messages.entries())
    if (role === 'user' && messages[at - 1]?.role === 'tool') return 'no user behind a result';
  if (!['user', 'tool'].includes(messages.at(-1)?.role ?? '')) return 'user or tool is last';
  return undefined;
};

/** Templates of Gemma, Llama 2 and the first Mistral, which know no tools: every message counts. */
export const withoutTools: Judge = (messages) => {
  if (messages.some((message) => message.role === 'tool' || isCalling(message))) return undefined;
  return turnsAlternate(messages, () => true) ? undefined : 'user and assistant take turns';
};

/** Templates of Gemma 2 and the first Mistral. */
export const systemless: Judge = (messages) =>
  messages.some(({ role }) => role === 'system') ? 'no system message' : withoutTools(messages);

/** Mistral's own tokenizer for its models of 2023 and 2024. */
export const mistralTokenizer: Judge = (messages) =>
  messages.some((message) => isCalling(message) && message.content !== null)
    ? 'words or calls, not both'
    : mistral(messages);

/** Llama 3, and gpt-oss, which takes the name of every result from the first call. */
export const llama: Judge = (messages) =>
  messages.some(({ tool_calls: calls }) => (calls ?? []).length > 1) ? 'one call in a message' : undefined;

/** Qwen: the only system message is the first, and a user has said something. */
export const qwen: Judge = (messages) => {
  if (messages.slice(1).some(({ role }) => role === 'system')) return 'the system message is first';
  return messages.some(({ role }) => role === 'user') ? undefined : 'a user has spoken';
};

export const everywhere: Judge = (messages) => pairingProblem(messages) ?? contentProblem(messages);

/** The items of a responses interface as the messages that a server makes of them for a template. */
export function chatOfResponses(body: Record<string, unknown>): ChatWire[] {
  const out: ChatWire[] = [];
  if (typeof body['instructions'] === 'string') out.push({ role: 'system', content: body['instructions'] });
  for (const item of body['input'] as Record<string, string>[]) {
    const last = out.at(-1);
    if (item['type'] === 'function_call') {
      const call = {
        id: item['call_id'] ?? '',
        function: { name: item['name'] ?? '', arguments: item['arguments'] ?? '' },
      };
      if (last?.role === 'assistant')
        out[out.length - 1] = { content: null, ...last, tool_calls: [...(last.tool_calls ?? []), call] };
      else out.push({ role: 'assistant', content: null, tool_calls: [call] });
    } else if (item['type'] === 'function_call_output')
      out.push({ role: 'tool', tool_call_id: item['call_id'] ?? '', content: item['output'] ?? '' });
    else out.push({ role: item['role'] ?? '', content: item['content'] ?? '' });
  }
  return out;
}

interface Block {
  readonly type: string;
  readonly text?: string;
  readonly id?: string;
  readonly name?: string;
  readonly input?: unknown;
  readonly tool_use_id?: string;
  readonly content?: string;
}

/** The same of a messages interface. */
export function chatOfMessages(body: Record<string, unknown>): ChatWire[] {
  const messages = body['messages'] as { role: string; content: Block[] }[];
  return messages.flatMap(({ role, content }): ChatWire[] => {
    const text = content.flatMap((block) => (block.type === 'text' ? [block.text ?? ''] : [])).join('\n');
    const uses = content.filter(({ type }) => type === 'tool_use');
    const results = content.flatMap((block): ChatWire[] =>
      block.type === 'tool_result'
        ? [{ role: 'tool', tool_call_id: block.tool_use_id ?? '', content: block.content ?? '' }]
        : [],
    );
    if (results.length > 0) return [...results, ...(text === '' ? [] : [{ role, content: text }])];
    if (uses.length === 0) return [{ role, content: text }];
    const calls = uses.map(({ id = '', name = '', input }) => ({
      id,
      function: { name, arguments: JSON.stringify(input) },
    }));
    return [{ role, content: text === '' ? null : text, tool_calls: calls }];
  });
}

interface Part {
  readonly text?: string;
  readonly functionCall?: { readonly name: string; readonly args: unknown };
  readonly functionResponse?: { readonly name: string; readonly response: unknown };
}

/** The same of a content generation interface, which pairs calls and results by their order. */
export function chatOfGenerate(body: Record<string, unknown>): ChatWire[] {
  const contents = body['contents'] as { role: string; parts: Part[] }[];
  let calls = 0;
  let results = 0;
  return contents.flatMap(({ role, parts }): ChatWire[] => {
    const text = parts.flatMap((part) => part.text ?? []).join('\n');
    const made = parts.flatMap(({ functionCall: call }) =>
      call === undefined
        ? []
        : [{ id: `n${calls++}`, function: { name: call.name, arguments: JSON.stringify(call.args) } }],
    );
    const answers = parts.flatMap(({ functionResponse: answer }): ChatWire[] =>
      answer === undefined
        ? []
        : [{ role: 'tool', tool_call_id: `n${results++}`, content: JSON.stringify(answer.response) }],
    );
    if (answers.length > 0) return [...answers, ...(text === '' ? [] : [{ role, content: text }])];
    const name = role === 'model' ? 'assistant' : role;
    if (made.length === 0) return [{ role: name, content: text }];
    return [{ role: name, content: text === '' ? null : text, tool_calls: made }];
  });
}
