/**
 * Provider servers that answer every call in a way of its own, and can be told to fail: a recogniser that hears one sentence in
 * everything, a model whose reply follows from the context alone, a voice that speaks coded audio.
 */
import { createHash } from 'node:crypto';
import {
  chatChunks,
  providerTables,
  ScriptedProviders,
  type Ports,
  type Reply,
  type Stage,
} from '../scripted-providers.ts';
import { modelTable, ScriptedModel, type SpokenPiece } from '../scripted-model.ts';
import type { ChatMessage } from './account.ts';
import { speechFor, wordText } from './coded-audio.ts';

/** What may be at fault: a stage, or the model that speaks by itself. */
export type ChaosStage = Stage | 'model';

export interface ChaosPorts extends Ports {
  readonly model: number;
}

/** `limit` answers 429, which only the model does. */
export type ProviderFault = 'stall' | 'reset' | 'garbage' | 'limit';

export interface ChaosProvidersOptions {
  /** A request to the model, before it is answered. */
  readonly asked: (call: number, messages: readonly ChatMessage[], how: { readonly isHeld: boolean }) => void;
}

const pace = {
  sttFinalMs: 60,
  llmFirstMs: 120,
  llmDeltaMs: 15,
  ttsFirstMs: 100,
  ttsChunkEveryMs: 50,
  modelWordMs: 40,
};
/** Four times as fast as it is played. */
const ttsChunkBytes = 24 * 200 * 2;
const heardText = 'please go on';
/** A partial result for every so many messages of audio. */
const partialEvery = 8;
const sentenceWords = [4, 7, 6];
export const wordsPerReply = sentenceWords.reduce((sum, words) => sum + words, 0);

export class ChaosProviders {
  readonly #options: ChaosProvidersOptions;
  readonly #faults = new Map<ChaosStage, ProviderFault>();
  readonly #servers: ScriptedProviders;
  readonly #model: ScriptedModel;
  /** By context: a request that is sent again gets the same reply. */
  readonly #replies = new Map<string, number>();
  readonly #lastReply = new Map<number, number>();

  constructor(options: ChaosProvidersOptions) {
    this.#options = options;
    this.#servers = new ScriptedProviders({
      stt: {
        text: heardText,
        finalMs: pace.sttFinalMs,
        partial: (messages) => (messages % partialEvery === 0 ? heardText : undefined),
        sends: (message) => this.#spoiled(message),
      },
      llm: (body) => this.#chat(body['messages'] as readonly ChatMessage[]),
      tts: (body) => this.#speak(String(body['input'])),
      isCut: (stage) => this.#faults.get(stage) === 'reset',
    });
    this.#model = new ScriptedModel({
      heardText,
      wordsMs: pace.sttFinalMs,
      firstMs: pace.llmFirstMs + pace.ttsFirstMs,
      everyMs: pace.modelWordMs,
      reply: (messages) => this.#say(messages),
      isCut: () => this.#faults.get('model') === 'reset',
    });
  }

  /** With the port of the speaking model. */
  async start(): Promise<ChaosPorts> {
    return { ...(await this.#servers.start()), model: await this.#model.start() };
  }

  close(): void {
    this.#servers.close();
    this.#model.close();
  }

  /** From now on the servers of a stage misbehave; `undefined` heals them. */
  setFault(stage: ChaosStage, fault: ProviderFault | undefined): void {
    if (fault === undefined) this.#faults.delete(stage);
    else this.#faults.set(stage, fault);
    if (fault !== 'reset') return;
    if (stage === 'model') this.#model.cut();
    else this.#servers.cut(stage);
  }

  /** What a recogniser that may misbehave sends. */
  #spoiled(message: string): string | undefined {
    const fault = this.#faults.get('stt');
    if (fault === 'stall' || (fault !== undefined && message === 'Done!')) return undefined;
    return fault === 'garbage' ? '}{' : message;
  }

  #chat(messages: readonly ChatMessage[]): Reply | undefined {
    const call = callIn(messages);
    this.#options.asked(call, messages, { isHeld: false });
    const fault = this.#faults.get('llm');
    if (fault === 'stall') return undefined;
    if (fault === 'limit') {
      const error = { message: 'Rate limit reached', type: 'requests', code: 'rate_limit_exceeded' };
      return { status: 429, type: 'application/json', chunks: [JSON.stringify({ error })] };
    }
    return {
      type: 'text/event-stream; charset=utf-8',
      chunks: fault === 'garbage' ? ['data: }{\n\n'] : chatChunks(this.#reply(call, messages)),
      firstMs: pace.llmFirstMs,
      everyMs: pace.llmDeltaMs,
    };
  }

  /** What the speaking model says, a word in each piece. */
  #say(messages: readonly ChatMessage[]): readonly SpokenPiece[] | undefined {
    const call = callIn(messages);
    this.#options.asked(call, messages, { isHeld: true });
    if (this.#faults.get('model') === 'stall') return undefined;
    return this.#reply(call, messages).map((text) => ({ text, sound: speechFor(text) }));
  }

  #reply(call: number, messages: readonly ChatMessage[]): string[] {
    const key = `${call} ${createHash('sha1').update(JSON.stringify(messages)).digest('base64')}`;
    let reply = this.#replies.get(key);
    if (reply === undefined) {
      reply = (this.#lastReply.get(call) ?? 0) + 1;
      this.#lastReply.set(call, reply);
      this.#replies.set(key, reply);
    }
    const ends = new Set(
      sentenceWords.map((_, at) => sentenceWords.slice(0, at + 1).reduce((a, b) => a + b)),
    );
    const words = Array.from(
      { length: wordsPerReply },
      (_, word) => `${wordText(call, reply, word)}${ends.has(word + 1) ? '. ' : ' '}`,
    );
    return words;
  }

  #speak(text: string): Reply | undefined {
    const fault = this.#faults.get('tts');
    if (fault === 'stall') return undefined;
    if (fault === 'garbage') return { type: 'application/json', chunks: ['}{'] };
    const audio = speechFor(text);
    const chunks = Array.from({ length: Math.ceil(audio.length / ttsChunkBytes) }, (_, at) =>
      audio.subarray(at * ttsChunkBytes, (at + 1) * ttsChunkBytes),
    );
    return { type: 'audio/pcm', chunks, firstMs: pace.ttsFirstMs, everyMs: pace.ttsChunkEveryMs };
  }
}

function callIn(messages: readonly ChatMessage[]): number {
  const told = messages.find(({ content }) => content.includes('keys: '))?.content ?? '';
  return Number(/keys: (\d+)\*/.exec(told)?.[1] ?? 0);
}

export const agentFile = (
  ports: ChaosPorts,
  { realtime = false }: { readonly realtime?: boolean },
): string => `
[agent]
name = "chaos"
language = "en"
prompt = "You are in trouble."
${providerTables(ports, 'chaos')}${realtime ? modelTable(ports.model, 'own') : ''}`;
