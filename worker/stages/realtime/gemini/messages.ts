/** What is said to Gemini Live: the setup of a session, the conversation so far, and what is added to it. Pure. */
import type { ChatMessage, ToolDeclaration } from '../../stage.ts';
import type { WireNames } from '../../wire-names.ts';
import { wholeCharacters, writeJson, type JsonRecord } from '../../json.ts';
import type { RealtimeAccess, RealtimeSeed } from '../contract.ts';
import type { GeminiLiveOptions } from './declaration.ts';
import { wireParameters } from './schema.ts';

export type GeminiSettings = GeminiLiveOptions & RealtimeAccess;

interface WireTurn {
  readonly role: 'user' | 'model';
  readonly parts: readonly { readonly text: string }[];
}

export const activityStart = '{"realtimeInput":{"activityStart":{}}}';
export const activityEnd = '{"realtimeInput":{"activityEnd":{}}}';

/** Models answer what they take for the caller's words. */
export const asNote = (text: string): string => `[Note, not said by the caller: ${text}]`;

export const spokenText = (text: string): string => writeJson({ realtimeInput: { text } });

export const content = (turns: readonly WireTurn[], turnComplete: boolean): string =>
  writeJson({ clientContent: { turns, turnComplete } });

/** Samples of 16 kHz. */
export function audioMessage(pcm: Int16Array): string {
  const bytes = Buffer.from(pcm.buffer, pcm.byteOffset, pcm.byteLength);
  return `{"realtimeInput":{"audio":{"mimeType":"audio/pcm;rate=16000","data":"${bytes.toString('base64')}"}}}`;
}

const textContent = (text: string): JsonRecord => ({ parts: [{ text }] });

function wireTools(
  tools: readonly ToolDeclaration[],
  { behavior }: GeminiSettings,
  names: WireNames,
): JsonRecord[] {
  if (tools.length === 0) return [];
  const functionDeclarations = tools.map(({ name, description, parameters }) => {
    const schema = wireParameters(parameters);
    return {
      name: names.toWire(name),
      description,
      ...(schema !== undefined && { parameters: schema }),
      ...(behavior !== undefined && { behavior }),
    };
  });
  return [{ functionDeclarations }];
}

/** A list, where one is given, replaces all tools, also by none. */
export function contextUpdate(
  { instructions, tools }: Pick<RealtimeSeed, 'instructions' | 'tools'>,
  settings: GeminiSettings,
  names: WireNames,
): string {
  return writeJson({
    contextUpdate: {
      systemInstruction: textContent(instructions),
      tools: { tools: wireTools(tools, settings, names) },
    },
  });
}

export function setupMessage(settings: GeminiSettings, seed: RealtimeSeed, names: WireNames): string {
  const { model, vertex, output, words, language } = settings;
  const isNew = seed.resume === undefined;
  const tools = wireTools(seed.tools, settings, names);
  const instructions = isNew ? seededInstructions(settings, seed) : seed.instructions;
  const transcription = settings.takesLanguage ? { languageCodes: [language] } : {};
  const trigger = settings.contextTokens;
  const setup = {
    model:
      vertex === undefined
        ? `models/${model}`
        : `projects/${vertex.project}/locations/${vertex.location}/publishers/google/models/${model}`,
    generationConfig: generationConfig(settings),
    ...(instructions !== '' && { systemInstruction: textContent(instructions) }),
    ...(tools.length > 0 && { tools }),
    realtimeInputConfig: {
      automaticActivityDetection: { disabled: true },
      activityHandling: 'START_OF_ACTIVITY_INTERRUPTS',
      turnCoverage: 'TURN_INCLUDES_ONLY_ACTIVITY',
    },
    ...(words === 'vendor' && { inputAudioTranscription: transcription }),
    ...(output === 'audio' && { outputAudioTranscription: transcription }),
    sessionResumption: isNew ? {} : { handle: seed.resume },
    contextWindowCompression: {
      ...(trigger !== undefined && { triggerTokens: String(trigger) }),
      slidingWindow: trigger === undefined ? {} : { targetTokens: String(Math.floor(trigger / 2)) },
    },
    ...(isNew &&
      settings.seeding === 'history' &&
      turnsOf(seed.history).length > 0 && { historyConfig: { initialHistoryInClientContent: true } }),
  };
  return writeJson({ setup });
}

function generationConfig({
  output,
  voice,
  temperature,
  maxOutputTokens,
  thinkingLevel,
}: GeminiSettings): JsonRecord {
  const prebuiltVoiceConfig = { voiceName: voice };
  return {
    responseModalities: [output === 'audio' ? 'AUDIO' : 'TEXT'],
    ...(temperature !== undefined && { temperature }),
    ...(maxOutputTokens !== undefined && { maxOutputTokens }),
    ...(thinkingLevel !== undefined && { thinkingConfig: { thinkingLevel: thinkingLevel.toUpperCase() } }),
    ...(voice !== undefined &&
      output === 'audio' && { speechConfig: { voiceConfig: { prebuiltVoiceConfig } } }),
  };
}

/** How much of the conversation models are told again that are known to forget it before their first turn. */
const repeatedChars = 6_000;

function seededInstructions(
  { seeding, language }: GeminiSettings,
  { instructions, history }: RealtimeSeed,
): string {
  const turns = turnsOf(history);
  if (turns.length === 0) return instructions;
  const goesOn = `The call has been under way for a while. Go on with it, do not greet again, and keep to its language (${language}).`;
  const said = turns.map(
    ({ role, parts }) => `${role === 'user' ? 'Caller' : 'You'}: ${parts[0]?.text ?? ''}`,
  );
  const repeated =
    seeding === 'history'
      ? []
      : [`What was said last:\n${wholeCharacters(said.join('\n').slice(-repeatedChars))}`];
  return [instructions, goesOn, ...repeated].filter((part) => part !== '').join('\n\n');
}

/** The conversation of a new session; nothing where there was none. */
export function seedMessage(
  history: readonly ChatMessage[],
  seeding: GeminiSettings['seeding'],
): string | undefined {
  const turns = turnsOf(history);
  if (turns.length === 0) return undefined;
  // The history of a new session does not make the model speak.
  return seeding === 'history' ? content(turns, true) : content(endingWithUser(turns), false);
}

/** The model refuses to wait for a user who has not spoken. */
export const endingWithUser = (turns: readonly WireTurn[]): readonly WireTurn[] =>
  turns.at(-1)?.role === 'user' ? turns : [...turns, textTurn('user', asNote('the call goes on'))];

const textTurn = (role: WireTurn['role'], text: string): WireTurn => ({ role, parts: [{ text }] });

/**
 * Messages as turns that alternate. Calls of tools and their results are told as notes: some models take no others, and all write themselves what
 * they find in their own words.
 */
export function turnsOf(messages: readonly ChatMessage[]): readonly WireTurn[] {
  const turns: WireTurn[] = [];
  const add = (role: WireTurn['role'], given: string): void => {
    if (given.trim() === '') return;
    const text = wholeCharacters(given);
    const last = turns.at(-1);
    if (last?.role === role)
      turns[turns.length - 1] = textTurn(role, `${last.parts[0]?.text ?? ''}\n${text}`);
    else turns.push(textTurn(role, text));
  };
  const open = new Map<string, { readonly name: string; readonly arguments: string }>();
  for (const message of messages) {
    if (message.role === 'tool') {
      const call = open.get(message.callId);
      open.delete(message.callId);
      const asked = call === undefined ? '' : ` with ${call.arguments}`;
      add('user', asNote(`the tool ${message.name} was called${asked}, and its result is ${message.text}`));
      continue;
    }
    if (message.role !== 'assistant') {
      if (message.text.trim() !== '')
        add('user', message.role === 'system' ? asNote(message.text) : message.text);
      continue;
    }
    add('model', message.text);
    for (const call of message.toolCalls ?? []) open.set(call.id, call);
  }
  for (const { name, arguments: asked } of open.values())
    add('user', asNote(`the tool ${name} was called with ${asked}, and its result is not known`));
  return turns;
}

/** Messages in words alone, for models that take no turns within a session. */
export const inWords = (messages: readonly ChatMessage[]): string =>
  turnsOf(messages)
    .map(({ role, parts }) => {
      const text = parts[0]?.text ?? '';
      return role === 'user' ? text : asNote(`you have just said to the caller, word for word: ${text}`);
    })
    .join('\n');
