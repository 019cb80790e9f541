/**
 * Opaque reasoning of a round: what a provider wants back unchanged, each piece tied to the tool call that it led to.
 *
 * Invariant: pieces keep their order and come back byte for byte as JSON values. Only a round that calls tools keeps
 * any: the text of other rounds is cut at what the caller heard, and no provider needs theirs. Pure.
 */
import type { OpaqueReasoning } from '../stage.ts';
import { listOf, parseJson, textOf, writeJson, type JsonRecord } from '../json.ts';

const MAX_BYTES = 262_144;

export class ReasoningNotes {
  readonly #provider: string;
  /** Each piece as the JSON text `[callId, piece]`. */
  readonly #pieces: string[] = [];
  #waiting: string[] = [];

  constructor(provider: string) {
    this.#provider = provider;
  }

  /** A piece that belongs to whatever call comes next. */
  add(piece: JsonRecord | string): void {
    this.#waiting.push(writeJson(piece));
  }

  /** A call came; what waited belongs to it. */
  call(callId: string): void {
    for (const piece of this.#waiting) this.#pieces.push(`[${JSON.stringify(callId)},${piece}]`);
    this.#waiting = [];
  }

  /** What the round keeps; nothing when it is over 256 KiB, because a part of it would be refused. */
  end(): OpaqueReasoning | undefined {
    if (this.#pieces.length === 0) return undefined;
    const data = `[${this.#pieces.join(',')}]`;
    return Buffer.byteLength(data) > MAX_BYTES ? undefined : { provider: this.#provider, data };
  }
}

/** The pieces by the id of their call; empty for reasoning of another provider. */
export function reasoningOf(
  reasoning: OpaqueReasoning | undefined,
  provider: string,
): Map<string, unknown[]> {
  const pieces = new Map<string, unknown[]>();
  if (reasoning?.provider !== provider) return pieces;
  for (const entry of listOf(parseJson(reasoning.data))) {
    const [callId, piece] = listOf(entry);
    const id = textOf(callId);
    pieces.set(id, [...(pieces.get(id) ?? []), piece]);
  }
  return pieces;
}
