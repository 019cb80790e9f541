/**
 * One streamed message of a messages interface: server events in, stage events out.
 *
 * Invariant: exactly one `done` or `error`, last. Pure. Thoughts are kept for the provider and never emitted; errors
 * carry a status, never a message.
 */
import type { LlmEvent, LlmFinish, LlmUsage } from '../../stage.ts';
import { countOf, recordOf, textOf, writeJson, type JsonRecord } from '../../json.ts';
import { MESSAGES_PROVIDER } from './request.ts';
import { EventStream } from '../event-stream.ts';
import type { RunningCall } from '../output.ts';
import { ReasoningNotes } from '../reasoning.ts';
import { streamRejection } from '../rejection.ts';

/** Statuses of the error types, which come without one in a stream. */
const STATUSES: Readonly<Record<string, number>> = {
  invalid_request_error: 400,
  authentication_error: 401,
  billing_error: 402,
  permission_error: 403,
  not_found_error: 404,
  conflict_error: 409,
  request_too_large: 413,
  rate_limit_error: 429,
  api_error: 500,
  timeout_error: 504,
  overloaded_error: 529,
};
const UNKNOWN_ERROR_STATUS = 502;

const FINISHES: Readonly<Record<string, LlmFinish>> = {
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  refusal: 'content_filter',
};

/** Bound of what is kept of thoughts while they arrive, in characters; more is not sent back. */
const MAX_THOUGHT_CHARS = 262_144;

interface ThinkingBlock {
  readonly kind: 'thinking';
  thinking: string;
  signature: string;
}

/** `other`: of a kind that this version does not know. */
type OpenBlock =
  { readonly kind: 'call'; readonly call: RunningCall } | ThinkingBlock | { readonly kind: 'other' };

export class MessagesStream extends EventStream {
  readonly #notes = new ReasoningNotes(MESSAGES_PROVIDER);
  readonly #blocks = new Map<number, OpenBlock>();
  readonly #nextSyntheticId: () => string;
  #finish: LlmFinish | undefined;
  #usage: JsonRecord = {};
  #thoughtChars = 0;
  #hasCalls = false;

  constructor(nextSyntheticId: () => string, emit: (event: LlmEvent) => void) {
    super(emit);
    this.#nextSyntheticId = nextSyntheticId;
  }

  /** Without a reason the message was not brought to an end by the model. */
  end(): void {
    if (this.#finish === undefined) this.fail({ kind: 'disconnected' });
    else this.output.done(this.#finish, { usage: usageOf(this.#usage), reasoning: this.#reasoning() });
  }

  protected take(body: JsonRecord): void {
    const index = countOf(body['index']);
    switch (textOf(body['type'])) {
      case 'content_block_delta':
        this.#delta(index, recordOf(body['delta']) ?? {});
        return;
      case 'content_block_start':
        this.#begin(index, recordOf(body['content_block']) ?? {});
        return;
      case 'content_block_stop':
        this.#stop(index);
        return;
      case 'message_start':
        this.#usage = {};
        this.#addUsage(recordOf(recordOf(body['message'])?.['usage']) ?? {});
        return;
      case 'message_delta': {
        const reason = textOf(recordOf(body['delta'])?.['stop_reason']);
        if (reason !== '') this.#finish = FINISHES[reason] ?? 'stop';
        this.#addUsage(recordOf(body['usage']) ?? {});
        return;
      }
      case 'message_stop':
        // The server says that it is whole; of a call it has to say so.
        if (!this.#hasCalls) this.#finish ??= 'stop';
        this.end();
        return;
      case 'error':
        this.failWith(body['error']);
        return;
      default:
    }
  }

  #begin(index: number, block: JsonRecord): void {
    const type = textOf(block['type']);
    if (type === 'tool_use') {
      const id = textOf(block['id']) || this.#nextSyntheticId();
      const call = this.output.openCall(id, textOf(block['name']));
      if (call === undefined) return;
      this.#hasCalls = true;
      this.#notes.call(id);
      this.#blocks.set(index, { kind: 'call', call });
      const input = recordOf(block['input']) ?? {};
      if (Object.keys(input).length > 0) this.output.addArguments(call, writeJson(input));
    } else if (type === 'thinking') {
      const [thinking, signature] = [textOf(block['thinking']), textOf(block['signature'])];
      this.#blocks.set(index, { kind: 'thinking', thinking, signature });
    } else if (type === 'redacted_thinking') this.#keep(block, textOf(block['data']).length);
    else if (type === 'text') {
      this.output.newBlock();
      this.output.text(textOf(block['text']));
    } else this.#blocks.set(index, { kind: 'other' });
  }

  #delta(index: number, delta: JsonRecord): void {
    const block = this.#blocks.get(index);
    switch (textOf(delta['type'])) {
      case 'text_delta':
        this.output.text(textOf(delta['text']));
        return;
      case 'input_json_delta':
        if (block?.kind === 'call') this.output.addArguments(block.call, textOf(delta['partial_json']));
        else if (block === undefined)
          this.fail({ kind: 'protocol', rule: 'arguments belong to a tool call' });
        return;
      case 'thinking_delta':
        this.output.thought();
        if (block?.kind === 'thinking') block.thinking += textOf(delta['thinking']);
        return;
      case 'signature_delta':
        if (block?.kind === 'thinking') block.signature += textOf(delta['signature']);
        return;
      default:
    }
  }

  #stop(index: number): void {
    const block = this.#blocks.get(index);
    this.#blocks.delete(index);
    // A block without its signature is refused when it comes back.
    if (block?.kind !== 'thinking' || block.signature === '') return;
    const { thinking, signature } = block;
    this.#keep({ type: 'thinking', thinking, signature }, thinking.length + signature.length);
  }

  #keep(piece: JsonRecord, chars: number): void {
    this.#thoughtChars += chars;
    if (this.#thoughtChars <= MAX_THOUGHT_CHARS) this.#notes.add(piece);
  }

  #reasoning(): ReturnType<ReasoningNotes['end']> {
    return this.#thoughtChars > MAX_THOUGHT_CHARS ? undefined : this.#notes.end();
  }

  /** Counts are totals so far; a field that is absent or null keeps its last one. */
  #addUsage(usage: JsonRecord): void {
    const given = Object.entries(usage).filter(([, value]) => value !== null);
    this.#usage = { ...this.#usage, ...Object.fromEntries(given) };
  }

  protected failWith(error: unknown): void {
    const status = STATUSES[textOf(recordOf(error)?.['type'])] ?? UNKNOWN_ERROR_STATUS;
    this.fail(streamRejection(status, error));
  }
}

function usageOf(usage: JsonRecord): LlmUsage {
  const cachedTokens = countOf(usage['cache_read_input_tokens']);
  const written = countOf(usage['cache_creation_input_tokens']);
  return {
    inputTokens: countOf(usage['input_tokens']) + written + cachedTokens,
    outputTokens: countOf(usage['output_tokens']),
    cachedTokens,
  };
}
