/** What is sent to servers of `openai_realtime`, in the shape of their dialect. Pure. */
import type { Law } from '../../../../shared/audio/law.ts';
import { wholeCharacters } from '../../json.ts';
import type { ChatMessage, ToolDeclaration } from '../../stage.ts';
import type { RealtimeAccess, RealtimeSeed } from '../contract.ts';
import type { RealtimeOpenAiOptions } from './declaration.ts';

export type RealtimeSettings = RealtimeOpenAiOptions & Omit<RealtimeAccess, 'apiKey'>;

type Fields = Readonly<Record<string, unknown>>;

/** What can change within a session. */
interface Briefing {
  readonly instructions: string;
  readonly tools: readonly ToolDeclaration[];
}

const toolOf = ({ name, description, parameters }: ToolDeclaration): Fields => ({
  type: 'function',
  name,
  description,
  parameters,
});

/** The language without its region and script. */
const primarySubtag = (tag: string): string => tag.split(/[-_]/, 1)[0]?.toLowerCase() ?? '';

/** Who writes down what the caller says. Nothing where nobody has to, and where the server decides. */
function transcriptionOf({
  dialect,
  words,
  language,
  transcriptionModel,
}: RealtimeSettings): Fields | undefined {
  const model = transcriptionModel ?? dialect.transcriptionModel;
  const isWanted = words === 'vendor' || dialect.hearsByWords === true;
  return isWanted && model !== undefined ? { model, language: primarySubtag(language) } : undefined;
}

const given = (name: string, value: unknown): Fields => (value === undefined ? {} : { [name]: value });

const flatNames = { mulaw: 'g711_ulaw', alaw: 'g711_alaw' } as const;
const nestedNames = { mulaw: 'audio/pcmu', alaw: 'audio/pcma' } as const;

const flatFormat = (law: Law | undefined): string => (law === undefined ? 'pcm16' : flatNames[law]);
const formatOf = (law: Law | undefined, rate: number): Fields =>
  law === undefined ? { type: 'audio/pcm', rate } : { type: nestedNames[law] };

/** Fields of the shape in which everything stands at the top. */
function flatSession(settings: RealtimeSettings): Fields {
  return {
    modalities: settings.output === 'text' ? ['text'] : ['audio', 'text'],
    input_audio_format: flatFormat(settings.dialect.inputLaw),
    output_audio_format: flatFormat(settings.dialect.outputLaw),
    turn_detection: null,
    ...given('input_audio_transcription', transcriptionOf(settings)),
    ...given('voice', settings.voice),
    ...given('speed', settings.speed),
    ...given('max_response_output_tokens', settings.maxOutputTokens),
  };
}

function nestedSession(settings: RealtimeSettings): Fields {
  const { dialect } = settings;
  const voice = given('voice', settings.voice);
  const turns = { turn_detection: null };
  const isTop = dialect.topLevelVoice === true;
  return {
    type: 'realtime',
    output_modalities: [settings.output],
    audio: {
      input: {
        format: formatOf(dialect.inputLaw, dialect.inputRate),
        ...given('transcription', transcriptionOf(settings)),
        ...(!isTop && turns),
      },
      output: {
        format: formatOf(dialect.outputLaw, dialect.outputRate),
        ...(!isTop && voice),
        ...given('speed', settings.speed),
      },
    },
    ...(isTop && turns),
    ...(isTop && voice),
    ...given('reasoning', settings.reasoningEffort && { effort: settings.reasoningEffort }),
    ...given('max_output_tokens', settings.maxOutputTokens),
  };
}

/** Configures a new session. */
export function sessionOf(settings: RealtimeSettings, briefing: Briefing): Fields {
  const shaped = settings.dialect.shape === 'flat' ? flatSession(settings) : nestedSession(settings);
  return { ...shaped, ...briefed(briefing), tool_choice: 'auto' };
}

/** Changes a session that runs. */
export const changeOf = ({ dialect }: RealtimeSettings, briefing: Briefing): Fields => ({
  ...(dialect.shape === 'nested' && { type: 'realtime' }),
  ...briefed(briefing),
});

const briefed = ({ instructions, tools }: Briefing): Fields => ({ instructions, tools: tools.map(toolOf) });

/**
 * Servers that are given a history as items of text answer in text, and an answer that was spoken cannot be given back to them as one. So
 * the history is told.
 */
const historyHead =
  'The conversation so far. It goes on from here: do not greet again, and keep to its language.';

function linesOf(message: ChatMessage): string[] {
  switch (message.role) {
    case 'user':
      return [`Caller: ${message.text}`];
    case 'system':
      return [`Note: ${message.text}`];
    case 'tool':
      return [resultLine(message)];
    case 'assistant': {
      const calls = (message.toolCalls ?? []).map(
        ({ name, arguments: given }) => `You called ${name} with ${given}`,
      );
      return [...(message.text === '' ? [] : [`You: ${message.text}`]), ...calls];
    }
  }
}

const resultLine = ({ name, text }: Extract<ChatMessage, { role: 'tool' }>): string =>
  `Result of ${name}: ${text}`;

/** The instructions with the history below them; of a history that does not fit, the newest is kept. */
export function withHistory(
  instructions: string,
  history: RealtimeSeed['history'],
  longest: number = Infinity,
): string {
  const lines = history.flatMap(linesOf);
  const head = `${instructions}\n\n${historyHead}`;
  let length = head.length;
  let from = lines.length;
  while (from > 0) {
    length += (lines[from - 1] ?? '').length + 1;
    if (length > longest) break;
    from -= 1;
  }
  const kept = lines.slice(from);
  return kept.length === 0 ? instructions : wholeCharacters([head, ...kept].join('\n'));
}

const text = (role: string, type: string, words: string): Fields => ({
  type: 'message',
  role,
  content: [{ type, text: wholeCharacters(words) }],
});

/** A message as items of the conversation. A call that this session did not make is told in words, and so is its result. */
export function itemsOf(
  message: ChatMessage,
  {
    dialect,
    isKnownCall,
  }: { readonly dialect: RealtimeSettings['dialect']; readonly isKnownCall: (id: string) => boolean },
): Fields[] {
  switch (message.role) {
    case 'user':
    case 'system':
      return [text(message.role, 'input_text', message.text)];
    case 'tool':
      return isKnownCall(message.callId)
        ? [{ type: 'function_call_output', call_id: message.callId, output: wholeCharacters(message.text) }]
        : [text('system', 'input_text', resultLine(message))];
    case 'assistant': {
      const spoken =
        message.text === ''
          ? []
          : [text('assistant', dialect.shape === 'flat' ? 'text' : 'output_text', message.text)];
      const foreign = (message.toolCalls ?? []).filter(({ id }) => !isKnownCall(id));
      const told = linesOf({ role: 'assistant', text: '', toolCalls: foreign });
      return [...spoken, ...told.map((line) => text('system', 'input_text', line))];
    }
  }
}
