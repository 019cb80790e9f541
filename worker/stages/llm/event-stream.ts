/**
 * One streamed response of an interface whose events are JSON objects: what such streams have in common.
 *
 * Invariant: exactly one `done` or `error`, last. Pure. Thoughts are never emitted; errors carry a status, never a message.
 */
import type { LlmEvent, StageError } from '../stage.ts';
import { isRecord, parseJson, recordOf, type JsonRecord } from '../json.ts';
import { RoundOutput } from './output.ts';
import { errorIn } from './rejection.ts';
import type { RoundStream } from './round.ts';
import { isEndMarker, type SseEvent } from './sse.ts';

export abstract class EventStream implements RoundStream {
  protected readonly output: RoundOutput;

  constructor(emit: (event: LlmEvent) => void) {
    this.output = new RoundOutput(emit);
  }

  get closed(): boolean {
    return this.output.closed;
  }

  get failed(): boolean {
    return this.output.failed;
  }

  get started(): boolean {
    return this.output.started;
  }

  get thinksApart(): boolean {
    return this.output.thinksApart;
  }

  get finished(): boolean {
    return false;
  }

  event(event: SseEvent): void {
    if (this.closed || isEndMarker(event)) return;
    const body = parseJson(event.data);
    if (event.event === 'error') this.failWith(errorIn(body));
    else if (!isRecord(body)) this.fail({ kind: 'protocol', rule: 'an event is a JSON object' });
    else this.take(body);
  }

  whole(text: string): void {
    const body = parseJson(text);
    if (isRecord(body) && recordOf(body['error']) !== undefined) this.failWith(body['error']);
    else this.fail({ kind: 'protocol', rule: 'a response is an event stream' });
  }

  abstract end(): void;

  fail(error: StageError): void {
    this.output.fail(error);
  }

  protected abstract take(body: JsonRecord): void;
  /** Fails with the status of an error that the server told in the stream. */
  protected abstract failWith(error: unknown): void;
}
