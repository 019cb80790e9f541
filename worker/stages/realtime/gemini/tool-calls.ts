/**
 * Calls of tools of a session and their results. A call is told once, however often and in whatever place the service says it, also behind its
 * result; results of calls that came together go back together, because the model waits for all. Pure.
 */
import { textOf, treeIn, writeJson, type JsonRecord } from '../../json.ts';
import type { ChatMessage, ToolCall } from '../../stage.ts';
import type { WireNames } from '../../wire-names.ts';

type Result = Extract<ChatMessage, { readonly role: 'tool' }>;

interface OpenCall {
  readonly id: string;
  readonly name: string;
  /** What the service calls it; absent where it gave no id, and then wants none back. */
  wireId: string | undefined;
  result?: string;
}

/** Nothing is said again after so many others. */
const mostTold = 256;
const mostInterrupted = 64;

/** What is no object is told as it is, and refused by the schema of the tool: nothing runs with arguments that nobody gave. */
function argumentsOf(given: unknown): string {
  if (given === undefined || given === null) return '{}';
  return typeof given === 'string' ? given : writeJson(given);
}

export class ToolCalls {
  readonly #names: WireNames;
  readonly #newId: () => string;
  readonly #told = new Set<string>();
  /** Calls of this generation by what they ask for: one place of a message may leave out the id that another gives. */
  #asked = new Map<string, OpenCall>();
  /** Calls that wait for results, as they came together. */
  #rounds: OpenCall[][] = [];
  /** Calls that the caller interrupted: that the service no longer wants them it tells later. */
  #interrupted: OpenCall[] = [];

  constructor(names: WireNames, newId: () => string) {
    this.#names = names;
    this.#newId = newId;
  }

  beginGeneration(): void {
    this.#asked = new Map();
  }

  /** The calls of one message that are news. */
  take(calls: readonly JsonRecord[]): readonly ToolCall[] {
    const round: OpenCall[] = [];
    const fresh: ToolCall[] = [];
    for (const call of calls) {
      const wireId = textOf(call['id']) || undefined;
      const name = this.#names.fromWire(textOf(call['name']));
      const args = argumentsOf(call['args']);
      const opened = name === '' ? undefined : this.#open({ wireId, name, args });
      if (opened === undefined) continue;
      round.push(opened);
      fresh.push({ id: opened.id, name, arguments: args });
    }
    if (round.length > 0) this.#rounds.push(round);
    return fresh;
  }

  #open(call: { wireId: string | undefined; name: string; args: string }): OpenCall | undefined {
    const { wireId, name, args } = call;
    if (wireId !== undefined && this.#told.has(wireId)) return undefined;
    const asked = JSON.stringify([name, args]);
    const twin = this.#asked.get(asked);
    if (twin !== undefined && (wireId === undefined || twin.wireId === undefined)) {
      if (wireId !== undefined) this.#remember(wireId);
      twin.wireId ??= wireId;
      return undefined;
    }
    const opened: OpenCall = { id: wireId ?? this.#newId(), name, wireId };
    if (wireId !== undefined) this.#remember(wireId);
    this.#asked.set(asked, opened);
    return opened;
  }

  #remember(wireId: string): void {
    this.#told.add(wireId);
    const [oldest] = this.#told;
    if (this.#told.size > mostTold && oldest !== undefined) this.#told.delete(oldest);
  }

  /** The caller is heard, which ends what the model waits for. A result that it does not want would end the session. */
  interrupt(): void {
    this.#interrupted = [...this.#interrupted, ...this.#rounds.flat()].slice(-mostInterrupted);
    this.#rounds = [];
  }

  /** The service no longer wants results of these; gives those that are known here. */
  cancel(wireIds: readonly string[]): readonly string[] {
    const gone = [...this.#rounds.flat(), ...this.#interrupted].filter(
      ({ wireId }) => wireId !== undefined && wireIds.includes(wireId),
    );
    this.#interrupted = this.#interrupted.filter((call) => !gone.includes(call));
    this.#rounds = this.#rounds.map((round) => round.filter((call) => !gone.includes(call)));
    return gone.map(({ id }) => id);
  }

  /** Takes results; those of calls that nobody waits for come back. */
  answer(results: readonly Result[]): readonly Result[] {
    return results.filter((result) => {
      const call = this.#rounds.flat().find(({ id }) => id === result.callId);
      if (call === undefined) return true;
      call.result = result.text;
      return false;
    });
  }

  /** Responses of the rounds that are complete; with `isLast` of all, because a model without a result is silent for ever. */
  responses(isLast: boolean): readonly JsonRecord[] {
    const isComplete = (round: readonly OpenCall[]): boolean =>
      round.every(({ result }) => result !== undefined) || (isLast && round.length > 0);
    const complete = this.#rounds.filter(isComplete);
    this.#rounds = this.#rounds.filter((round) => !isComplete(round));
    return complete
      .filter((round) => round.length > 0)
      .map((round) => ({
        toolResponse: { functionResponses: round.map((call) => this.#response(call)) },
      }));
  }

  #response({ wireId, name, result }: OpenCall): JsonRecord {
    const output = result === undefined ? undefined : (treeIn(result) ?? result);
    return {
      ...(wireId !== undefined && { id: wireId }),
      name: this.#names.toWire(name),
      response: output === undefined ? { error: 'The tool was not run.' } : { output },
    };
  }
}
