/**
 * What one call writes down so that another worker can take it up (see call-record.ts), and how that worker reads it. Nothing
 * is written once the call is over: its slot may belong to another by then.
 */
import type { Millis } from '../shared/base/units.ts';
import { historyBytes, type CallRecord, type LeftCall } from '../shared/protocol/call-record.ts';
import { decodePlain, decodeState, encodeHistory, encodePlain, encodeState } from './core/snapshot.ts';
import type { CallSettings } from './core/settings.ts';
import type { CallState } from './core/state.ts';
import type { CallStart, CallTransport } from './transports/transport.ts';
import type { ConnectionJournal } from './transports/websocket/listener.ts';

export interface JournalledCall {
  readonly start: CallStart;
  readonly startedAt: Millis;
  readonly turns: number;
  readonly state: CallState;
}

/** Fields of a transport's state that its owner knows anyway. */
const knownToTransport: ReadonlySet<string> = new Set(['settings']);

export class CallJournal implements ConnectionJournal {
  readonly #record: CallRecord;
  /** From this process's clock to the machine's, which all processes share. */
  readonly #toMachineMs: Millis;
  #isOver = false;
  #isWriting = false;
  #savedMessage: unknown;
  #savedMessages = -1;

  constructor(record: CallRecord, options: { offer: number; toMachineMs: Millis }) {
    this.#record = record;
    this.#toMachineMs = options.toMachineMs;
    record.begin(options.offer);
  }

  /** The connection speaks WebSocket from here on. */
  opened(): void {
    this.#record.opened();
  }

  get isWriting(): boolean {
    return this.#isWriting;
  }

  set isWriting(writing: boolean) {
    if (this.#isWriting === writing || this.#isOver) return;
    this.#isWriting = writing;
    this.#record.isWriting = writing;
  }

  keepTail(bytes: Uint8Array, from: number): void {
    if (!this.#isOver) this.#record.keepTail(bytes, from);
  }

  played(context: number, sentSamples: number): void {
    if (!this.#isOver) this.#record.played(context, sentSamples);
  }

  listening(frame: number, generation: number): void {
    if (!this.#isOver) this.#record.listening(frame, generation);
  }

  /** Writes down where the conversation stands. */
  save(transport: CallTransport, call: JournalledCall | undefined): void {
    const connection = transport.save?.();
    if (this.#isOver || connection === undefined) return;
    const text = `${this.#toMachineMs}\n{"transport":${encodePlain(connection, knownToTransport)}`;
    if (call === undefined) {
      this.#record.save(`${text}}`, undefined);
      return;
    }
    const { start, startedAt, turns, state } = call;
    const about = encodePlain({ start, startedAt, turns });
    const { messages } = state.history;
    const isKnown = messages.length === this.#savedMessages && messages.at(-1) === this.#savedMessage;
    this.#record.save(
      `${text},"call":${about},"state":${encodeState(state)}}`,
      isKnown ? undefined : encodeHistory(state.history, historyBytes),
    );
    this.#savedMessages = messages.length;
    this.#savedMessage = messages.at(-1);
  }

  /** The call is over: there is nothing to take up. */
  end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#record.end();
  }
}

export interface TakenUp {
  /** State of the transport, for its own kind. */
  readonly transport: unknown;
  /** Absent when the client had not started its call. */
  readonly call: SavedCall | undefined;
}

/** A call as it was written down; its state needs the settings of the process that goes on with it. */
export interface SavedCall extends Omit<JournalledCall, 'state'> {
  readonly state: (settings: CallSettings) => CallState;
}

/** Reads what another worker wrote. @throws SyntaxError for what is no such text. */
export function readJournal(left: LeftCall, options: { readonly toMachineMs: Millis }): TakenUp {
  const end = left.state.indexOf('\n');
  const shiftMs = Number(left.state.slice(0, end)) - options.toMachineMs;
  const saved = decodePlain(left.state.slice(end + 1), shiftMs) as {
    transport: unknown;
    call?: Omit<JournalledCall, 'state'>;
    state?: unknown;
  };
  if (saved.call === undefined) return { transport: saved.transport, call: undefined };
  const state = (settings: CallSettings): CallState =>
    decodeState({ state: saved.state, history: left.history }, settings);
  return { transport: saved.transport, call: { ...saved.call, state } };
}
