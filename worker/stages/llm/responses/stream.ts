/**
 * One streamed response of a responses interface: server events in, stage events out.
 *
 * Invariant: exactly one `done` or `error`, last. Pure. Thoughts are never emitted; errors carry a status, never a
 * message.
 */
import type { LlmEvent, LlmUsage } from '../../stage.ts';
import { countOf, recordOf, recordsOf, textOf, type JsonRecord } from '../../json.ts';
import { EventStream } from '../event-stream.ts';
import type { RunningCall } from '../output.ts';
import { ReasoningNotes } from '../reasoning.ts';
import { streamRejection } from '../rejection.ts';
import { RESPONSES_PROVIDER } from './request.ts';

/** Statuses of the error codes that come without one. */
const STATUSES: Readonly<Record<string, number>> = {
  server_error: 500,
  server_is_overloaded: 503,
  rate_limit_exceeded: 429,
  insufficient_quota: 429,
  invalid_api_key: 401,
};

export class ResponsesStream extends EventStream {
  readonly #notes = new ReasoningNotes(RESPONSES_PROVIDER);
  readonly #calls = new Map<string, RunningCall>();
  readonly #nextSyntheticId: () => string;
  /** Of the part of a message that is under way. */
  #partText = '';

  constructor(nextSyntheticId: () => string, emit: (event: LlmEvent) => void) {
    super(emit);
    this.#nextSyntheticId = nextSyntheticId;
  }

  end(): void {
    this.fail({ kind: 'disconnected' });
  }

  protected take(body: JsonRecord): void {
    const type = textOf(body['type']);
    switch (type) {
      case 'response.output_text.delta':
      case 'response.refusal.delta':
        this.#partText += textOf(body['delta']);
        this.output.text(textOf(body['delta']));
        return;
      case 'response.output_text.done':
      case 'response.refusal.done':
        this.#completeText(textOf(body['text']) || textOf(body['refusal']));
        return;
      case 'response.function_call_arguments.delta': {
        const call = this.#callOf(body);
        if (call !== undefined) this.output.addArguments(call, textOf(body['delta']));
        return;
      }
      case 'response.function_call_arguments.done': {
        const call = this.#callOf(body);
        if (call !== undefined) this.output.completeArguments(call, textOf(body['arguments']));
        return;
      }
      case 'response.reasoning_summary_text.delta':
      case 'response.reasoning_text.delta':
        this.output.thought();
        return;
      case 'response.output_item.added':
        this.#item(body, { isWhole: false });
        return;
      case 'response.output_item.done':
        this.#item(body, { isWhole: true });
        return;
      default:
        this.#last(type, body);
    }
  }

  /** The whole part, for what the deltas left out: all of it, on servers that send none. */
  #completeText(whole: string): void {
    if (whole.startsWith(this.#partText)) this.output.text(whole.slice(this.#partText.length));
    this.#partText = '';
  }

  #item(body: JsonRecord, { isWhole }: { readonly isWhole: boolean }): void {
    const item = recordOf(body['item']) ?? {};
    const type = textOf(item['type']);
    if (type === 'message' && !isWhole) this.output.newBlock();
    else if (type === 'function_call') this.#callItem(item, placeOf(body));
    else if (type === 'reasoning' && isWhole && textOf(item['encrypted_content']) !== '')
      this.#notes.add(item);
  }

  /** Some servers give an item another id when it is done. */
  #callItem(item: JsonRecord, place: string | undefined): void {
    const [callId, itemId] = [textOf(item['call_id']), textOf(item['id'])];
    const names = [itemId, callId].filter((name) => name !== '');
    let call = names.map((name) => this.#calls.get(name)).find((one) => one !== undefined);
    if (call === undefined) {
      const id = callId || this.#nextSyntheticId();
      call = this.output.openCall(id, textOf(item['name']));
      if (call === undefined) return;
      this.#notes.call(id);
    }
    for (const name of place === undefined ? names : [...names, place]) this.#calls.set(name, call);
    this.output.completeArguments(call, textOf(item['arguments']));
  }

  /** The call of a fragment; a call that was never announced breaks the protocol. */
  #callOf(body: JsonRecord): RunningCall | undefined {
    const call = this.#calls.get(textOf(body['item_id'])) ?? this.#calls.get(placeOf(body) ?? '');
    if (call === undefined) this.fail({ kind: 'protocol', rule: 'arguments belong to a tool call' });
    return call;
  }

  /** The answer as a whole, from servers that send nothing before. */
  #missed(response: JsonRecord): void {
    if (this.output.started) return;
    for (const item of recordsOf(response['output'])) {
      if (textOf(item['type']) === 'function_call') this.#callItem(item, undefined);
      for (const part of textOf(item['type']) === 'message' ? recordsOf(item['content']) : [])
        this.output.text(textOf(part['text']) || textOf(part['refusal']));
    }
  }

  #last(type: string, body: JsonRecord): void {
    const response = recordOf(body['response']) ?? {};
    const end = { usage: usageOf(response), reasoning: this.#notes.end() };
    if (type === 'response.completed') {
      this.#missed(response);
      this.output.done('stop', end);
    } else if (type === 'response.incomplete') {
      const reason = textOf(recordOf(response['incomplete_details'])?.['reason']);
      this.output.done(reason === 'content_filter' ? 'content_filter' : 'length', end);
    } else if (type === 'response.failed') this.failWith(response['error']);
    else if (type === 'error' || recordOf(body['error']) !== undefined) this.failWith(body['error'] ?? body);
  }

  protected failWith(error: unknown): void {
    const fields = recordOf(error);
    const code = textOf(fields?.['code']);
    const type = textOf(fields?.['type']);
    const status = STATUSES[code] ?? STATUSES[type] ?? (code === '' && type === '' ? 502 : 400);
    this.fail(streamRejection(status, error));
  }
}

/** Where an item stands among the others. */
const placeOf = ({ output_index: at }: JsonRecord): string | undefined =>
  typeof at === 'number' ? `at ${at}` : undefined;

function usageOf(response: JsonRecord): LlmUsage | undefined {
  const usage = recordOf(response['usage']);
  if (usage === undefined) return undefined;
  return {
    inputTokens: countOf(usage['input_tokens']),
    outputTokens: countOf(usage['output_tokens']),
    cachedTokens: countOf(recordOf(usage['input_tokens_details'])?.['cached_tokens']),
  };
}
