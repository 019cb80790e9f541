/**
 * One streamed answer of a content generation interface: server events in, stage events out.
 *
 * Invariant: exactly one `done` or `error`, last; the end of the stream after a finish reason is its end marker. Pure.
 * Thoughts are never emitted; errors carry a status, never a message.
 */
import type { LlmEvent, LlmFinish, LlmUsage } from '../../stage.ts';
import { GENERATE_PROVIDER } from './request.ts';
import type { WireNames } from '../../wire-names.ts';
import { countOf, listOf, parseJson, recordOf, textOf, writeJson, type JsonRecord } from '../../json.ts';
import { EventStream } from '../event-stream.ts';
import { SaidAgain } from '../said-again.ts';
import { ReasoningNotes } from '../reasoning.ts';
import { errorIn, streamRejection } from '../rejection.ts';

/** The model failed at its own output; another try may do better. */
const BROKEN = new Set(['MALFORMED_FUNCTION_CALL', 'UNEXPECTED_TOOL_CALL', 'TOO_MANY_TOOL_CALLS', 'OTHER']);
const BROKEN_STATUS = 502;

const FINISHES: Readonly<Record<string, LlmFinish>> = { STOP: 'stop', MAX_TOKENS: 'length' };

export class GenerateStream extends EventStream {
  readonly #notes = new ReasoningNotes(GENERATE_PROVIDER);
  readonly #names: WireNames;
  readonly #nextSyntheticId: () => string;
  #finish: LlmFinish | undefined;
  #usage: LlmUsage | undefined;
  readonly #said = new SaidAgain();
  readonly #made = new Set<string>();

  constructor(
    nextSyntheticId: () => string,
    { names, emit }: { readonly names: WireNames; readonly emit: (event: LlmEvent) => void },
  ) {
    super(emit);
    this.#nextSyntheticId = nextSyntheticId;
    this.#names = names;
  }

  /** Translating gateways are seen to write a reason in front of the first word. */
  override get finished(): boolean {
    return this.#finish !== undefined && this.output.started;
  }

  override whole(text: string): void {
    const body = parseJson(text);
    if (recordOf(errorIn(body))?.['code'] !== undefined) this.failWith(errorIn(body));
    else this.fail({ kind: 'protocol', rule: 'a response is an event stream' });
  }

  end(): void {
    if (this.#finish === undefined) this.fail({ kind: 'disconnected' });
    else this.output.done(this.#finish, { usage: this.#usage, reasoning: this.#notes.end() });
  }

  protected take(body: JsonRecord): void {
    if (recordOf(body['error']) !== undefined) {
      this.failWith(body['error']);
      return;
    }
    this.#usage = usageOf(body) ?? this.#usage;
    const candidate = recordOf(listOf(body['candidates'])[0]);
    if (candidate === undefined) {
      // A prompt that was blocked has a reason and no candidate.
      if (textOf(recordOf(body['promptFeedback'])?.['blockReason']) !== '') this.#finish ??= 'content_filter';
      return;
    }
    const reason = textOf(candidate['finishReason']);
    const place = this.#finish !== undefined ? 'behind' : reason === '' ? 'before' : 'beside';
    for (const part of listOf(recordOf(candidate['content'])?.['parts']))
      this.#part(recordOf(part) ?? {}, place);
    if (BROKEN.has(reason)) this.fail({ kind: 'rejected', status: BROKEN_STATUS });
    else if (reason !== '' && reason !== 'FINISH_REASON_UNSPECIFIED') {
      this.#finish ??= FINISHES[reason] ?? 'content_filter';
    }
  }

  #part(part: JsonRecord, place: 'before' | 'beside' | 'behind'): void {
    const text = textOf(part['text']);
    if (part['thought'] === true) {
      if (text !== '') this.output.thought();
      return;
    }
    if (!this.#said.take(text, place)) this.output.text(text);
    const call = recordOf(part['functionCall']);
    if (call !== undefined) this.#call(call, textOf(part['thoughtSignature']));
  }

  #call(made: JsonRecord, signature: string): void {
    const id = textOf(made['id']) || this.#nextSyntheticId();
    // Translating gateways write them as the text that they were given.
    const given = made['args'];
    const args = writeJson(recordOf(typeof given === 'string' ? parseJson(given) : given) ?? {});
    const name = textOf(made['name']);
    const known = JSON.stringify([textOf(made['id']), name, args]);
    if (this.#finish !== undefined && this.#made.has(known)) return;
    this.#made.add(known);
    const call = this.output.openCall(id, this.#names.fromWire(name));
    if (call === undefined) return;
    if (signature !== '') this.#notes.add(signature);
    this.#notes.call(id);
    this.output.addArguments(call, args);
  }

  protected failWith(error: unknown): void {
    const code = countOf(recordOf(error)?.['code']);
    this.fail(streamRejection(code >= 400 && code <= 599 ? code : BROKEN_STATUS, error));
  }
}

function usageOf(body: JsonRecord): LlmUsage | undefined {
  const usage = recordOf(body['usageMetadata']);
  if (usage === undefined) return undefined;
  return {
    inputTokens: countOf(usage['promptTokenCount']),
    outputTokens: countOf(usage['candidatesTokenCount']) + countOf(usage['thoughtsTokenCount']),
    cachedTokens: countOf(usage['cachedContentTokenCount']),
  };
}
