/**
 * Messages out of a stream of bytes, framed by Content-Length (RFC 3261, 18.3), with the keep-alive of RFC 5626: two empty lines are a
 * ping, which one empty line answers. The kept bytes are bounded; a stream that cannot be framed any more is over. Pure.
 */
import { fail, ok, type Result } from '../../base/result.ts';
import { bodyAt, bodyLength, mostBodyBytes, mostHeadBytes, parseHead, type Parsed } from './parse.ts';

export interface Framed {
  readonly messages: readonly Parsed[];
  /** Pings that are to be answered. */
  readonly pings: number;
}

export class StreamFrames {
  #kept: Buffer = Buffer.alloc(0);

  /** Bytes of a message that is not whole. */
  get waiting(): number {
    return this.#kept.length;
  }

  /** Takes bytes as they come. An error is the end of the stream: where its next message begins is unknown. */
  take(bytes: Buffer): Result<Framed, string> {
    this.#kept = this.#kept.length === 0 ? bytes : Buffer.concat([this.#kept, bytes]);
    const messages: Parsed[] = [];
    let pings = 0;
    for (;;) {
      pings += this.#skipEmptyLines();
      const next = this.#next();
      if (!next.ok) return next;
      if (next.value === undefined) break;
      messages.push(next.value);
    }
    // A message keeps its bytes alive; a rest is copied so that it does not keep those before it.
    this.#kept = Buffer.from(this.#kept);
    return ok({ messages, pings });
  }

  #skipEmptyLines(): number {
    let at = 0;
    while (this.#kept[at] === 13 || this.#kept[at] === 10) at += 1;
    // Half a ping stays until the other half or a message comes.
    if (at < 4 && at === this.#kept.length) return 0;
    this.#kept = this.#kept.subarray(at);
    return Math.floor(at / 4);
  }

  #next(): Result<Parsed | undefined, string> {
    const at = bodyAt(this.#kept);
    if (at < 0) return this.#kept.length > mostHeadBytes ? fail('the head is too long') : ok(undefined);
    if (at > mostHeadBytes) return fail('the head is too long');
    const parsed = parseHead(this.#kept.toString('latin1', 0, at));
    if (!parsed.ok) return parsed;
    const length = bodyLength(parsed.value.message);
    if (!length.ok || length.value === undefined) return fail('Content-Length must frame each message');
    if (length.value > mostBodyBytes) return fail('the body is too long');
    if (this.#kept.length < at + length.value) return ok(undefined);
    const body = Buffer.from(this.#kept.subarray(at, at + length.value));
    this.#kept = this.#kept.subarray(at + length.value);
    return ok({ ...parsed.value, message: { ...parsed.value.message, body } });
  }
}
