/**
 * One streamed chat completion: server events in, stage events out (docs/providers.md, What is taken of an answer).
 *
 * Invariant: it emits exactly one `done` or `error`, last. Pure: no sockets, no time. It must not emit reasoning, and
 * errors carry the server's status, never its message.
 */
import type { LlmEvent, LlmFinish, LlmUsage, OpaqueReasoning, StageError } from '../../stage.ts';
import { countOf, isRecord, listOf, parseJson, recordOf, textOf, type JsonRecord } from '../../json.ts';
import { ReasoningNotes } from '../reasoning.ts';
import { errorIn, streamRejection } from '../rejection.ts';
import { SaidAgain } from '../said-again.ts';
import { isEndMarker, type SseEvent } from '../sse.ts';
import { ToolCalls } from './tool-calls.ts';

export const CHAT_PROVIDER = 'chat_compatible';

/** Longer thoughts are not kept: `ReasoningNotes` would drop them. */
const mostThoughts = 262_144;

/** What an in-stream error without a usable code counts as: a gateway that lost its upstream. */
const UNKNOWN_ERROR_STATUS = 502;

const FINISHES: Readonly<Record<string, LlmFinish>> = {
  stop: 'stop',
  length: 'length',
  tool_calls: 'tool_calls',
  function_call: 'tool_calls',
  content_filter: 'content_filter',
};

export class ChatStream {
  readonly #emit: (event: LlmEvent) => void;
  readonly #calls: ToolCalls;
  #finish: LlmFinish | undefined;
  #usage: LlmUsage | undefined;
  #isClosed = false;
  #hasFailed = false;
  #hasContent = false;
  #hasThoughts = false;
  /** What some servers want back with the calls that it led to. */
  #thoughts = '';
  readonly #said = new SaidAgain();

  constructor(nextSyntheticId: () => string, emit: (event: LlmEvent) => void) {
    this.#calls = new ToolCalls(nextSyntheticId);
    this.#emit = emit;
  }

  /** `done` or `error` was emitted. */
  get closed(): boolean {
    return this.#isClosed;
  }

  /** `error` was emitted. */
  get failed(): boolean {
    return this.#hasFailed;
  }

  /** Text, reasoning or a tool call has arrived. */
  get started(): boolean {
    return this.#hasContent;
  }

  /** Thoughts have come, apart from the text. */
  get thinksApart(): boolean {
    return this.#hasThoughts;
  }

  /** The server said why it stopped; only usage and the end marker may follow. */
  get finished(): boolean {
    return this.#finish !== undefined;
  }

  event(event: SseEvent): void {
    if (this.#isClosed) return;
    if (isEndMarker(event)) {
      this.#marker();
      return;
    }
    const body = parseJson(event.data);
    if (event.event === 'error') this.#failWith(errorIn(body));
    else if (!isRecord(body)) this.fail({ kind: 'protocol', rule: 'a chunk is a JSON object' });
    else this.#chunk(body);
  }

  /** The body as one JSON object, as servers answer that do not stream. */
  whole(text: string): void {
    const body = parseJson(text);
    if (!isRecord(body)) {
      this.fail({ kind: 'protocol', rule: 'a response is an event stream or a JSON object' });
      return;
    }
    this.#chunk(body);
    if (this.#isClosed) return;
    if (listOf(body['choices']).length === 0) this.fail({ kind: 'protocol', rule: 'a response has choices' });
    else this.#marker();
  }

  /** The response ended: complete when the server had said why it stopped, else cut. */
  end(): void {
    if (this.#isClosed) return;
    if (this.#finish === undefined) this.fail({ kind: 'disconnected' });
    else this.#complete(this.#finish);
  }

  fail(error: StageError): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#hasFailed = true;
    this.#emit({ type: 'error', error });
  }

  #marker(): void {
    if (this.#finish !== undefined) this.#complete(this.#finish);
    else if (this.#calls.count > 0) this.fail({ kind: 'disconnected' });
    else this.#complete('stop');
  }

  #complete(finish: LlmFinish): void {
    // Arguments that the limit or the filter cut must not look like a call to run.
    const kept = finish === 'length' || finish === 'content_filter';
    if (!kept) {
      const broken = this.#calls.end(this.#emit);
      if (broken !== undefined) {
        this.fail({ kind: 'protocol', rule: broken });
        return;
      }
    }
    this.#isClosed = true;
    const ended = kept ? finish : this.#calls.count > 0 ? 'tool_calls' : 'stop';
    const reasoning = this.#reasoning();
    this.#emit({
      type: 'done',
      finish: ended,
      usage: this.#usage,
      ...(reasoning !== undefined && { reasoning }),
    });
  }

  #reasoning(): OpaqueReasoning | undefined {
    const { firstId } = this.#calls;
    if (firstId === undefined || this.#thoughts === '') return undefined;
    const notes = new ReasoningNotes(CHAT_PROVIDER);
    notes.add(this.#thoughts);
    notes.call(firstId);
    return notes.end();
  }

  #chunk(body: JsonRecord): void {
    const error = body['error'] ?? (body['object'] === 'error' ? body : undefined);
    if (error !== undefined && error !== null) {
      this.#failWith(error);
      return;
    }
    this.#usage = usageOf(body) ?? this.#usage;
    const choice = choiceOf(body);
    if (choice === undefined) return;
    const reason = textOf(choice['finish_reason']);
    const where = this.#finish !== undefined ? 'behind' : reason === '' ? 'before' : 'beside';
    this.#delta(recordOf(choice['delta']) ?? recordOf(choice['message']) ?? {}, where);
    if (reason === 'error') this.#failWith(undefined);
    else if (reason !== '') this.#finish ??= FINISHES[reason] ?? 'stop';
  }

  #delta(delta: JsonRecord, where: 'before' | 'beside' | 'behind'): void {
    // A refusal is what the caller is answered.
    const content = contentOf(delta['content']) + textOf(delta['refusal']);
    if (content !== '' && !this.#said.take(content, where)) {
      this.#hasContent = true;
      this.#emit({ type: 'text', text: content });
    }
    // Reasoning shows that the model works; it is never spoken.
    const thoughts = textOf(delta['reasoning_content']);
    if (this.#thoughts.length <= mostThoughts) this.#thoughts += thoughts;
    if (thoughts !== '' || textOf(delta['reasoning']) !== '') {
      this.#hasContent = true;
      this.#hasThoughts = true;
    }
    const legacy = recordOf(delta['function_call']);
    const fragments = legacy === undefined ? listOf(delta['tool_calls']) : [{ index: 0, function: legacy }];
    for (const [position, fragment] of fragments.entries()) {
      this.#hasContent = true;
      const broken = this.#calls.add(fragment, position, this.#emit);
      if (broken === undefined) continue;
      this.fail({ kind: 'protocol', rule: broken });
      return;
    }
  }

  #failWith(error: unknown): void {
    this.fail(streamRejection(statusOf(error), error));
  }
}

/** One answer was asked for; further choices of a chatty server are not spoken. */
function choiceOf(body: JsonRecord): JsonRecord | undefined {
  const choice = recordOf(listOf(body['choices'])[0]);
  const index = choice?.['index'];
  return index === undefined || index === null || index === 0 ? choice : undefined;
}

/** Content is text, or a list of parts of which the text ones are spoken. */
function contentOf(content: unknown): string {
  if (typeof content === 'string') return content;
  const parts = listOf(content).map((part) => recordOf(part) ?? {});
  return parts.map((part) => (part['type'] === 'text' ? textOf(part['text']) : '')).join('');
}

function usageOf(body: JsonRecord): LlmUsage | undefined {
  const usage = recordOf(body['usage']) ?? recordOf(recordOf(body['x_groq'])?.['usage']);
  if (usage === undefined) return undefined;
  return {
    inputTokens: countOf(usage['prompt_tokens']),
    outputTokens: countOf(usage['completion_tokens']),
    cachedTokens: countOf(recordOf(usage['prompt_tokens_details'])?.['cached_tokens']),
  };
}

/** A numeric code of 400 to 599, also as digits, is the status; anything else is a lost upstream. */
function statusOf(error: unknown): number {
  const code = recordOf(error)?.['code'];
  const status = typeof code === 'string' && /^\d{3}$/.test(code) ? Number(code) : code;
  const usable = typeof status === 'number' && Number.isInteger(status) && status >= 400 && status <= 599;
  return usable ? status : UNKNOWN_ERROR_STATUS;
}
