/**
 * What one call writes down so that another worker can take it up (see call-record.ts), and how that worker reads it. Nothing
 * is written once the call is over: its slot may belong to another by then. An entry that another version wrote is refused.
 */
import type { AgentRef } from '../../shared/agents/version.ts';
import type { AdmittedStart } from './admission.ts';
import { flag, list, maybe, number, opaque, record, text, time, versionOf } from '../../shared/base/codec.ts';
import { parseJson } from '../../shared/base/exact-json.ts';
import { present } from '../../shared/base/present.ts';
import type { Millis } from '../../shared/base/units.ts';
import { historyBytes, type CallRecord, type LeftCall } from '../../shared/protocol/call-record.ts';
import type { CallSetup, MachineMessage } from './opening.ts';
import type { LinkTerms, SavedLink } from '../agent-link/link-state.ts';
import { decodeState, encodeHistory, encodeState, savedNode, stateVersion } from '../core/snapshot.ts';
import type { CallSettings } from '../core/settings.ts';
import type { CallState } from '../core/state.ts';
import type { CallTransport, SavedTransport } from '../transports/transport.ts';
import type { ConnectionJournal } from '../transports/socket/connection-journal.ts';

/** What is saved of a call beside its state. */
interface CallHead {
  readonly start: AdmittedStart;
  readonly startedAt: Millis;
  readonly turns: number;
  readonly link: SavedLink | undefined;
}

export interface JournalledCall extends CallHead {
  readonly state: CallState;
}

const headCodec = record<CallHead>({
  start: record<AdmittedStart>({
    callId: text(),
    isOwnId: maybe(flag),
    sampleRate: number,
    inputRate: maybe(number),
    encoding: text(),
    metadata: opaque(),
    sessionId: text(),
    at: number,
    route: maybe(text()),
    recordId: maybe(text()),
  }),
  startedAt: time,
  turns: number,
  link: maybe(record<SavedLink>({ seq: number, nextCall: number, ids: opaque(), isEndedByAgent: flag })),
});

const setupCodec = record<CallSetup & { readonly agent?: AgentRef | undefined }>({
  prompt: maybe(text()),
  greeting: maybe(text()),
  farewell: maybe(text()),
  apology: maybe(text()),
  maxCallMs: maybe(number),
  flow: maybe(opaque()),
  context: maybe(opaque()),
  remoteTools: maybe(opaque()),
  link: maybe(record<LinkTerms>({ resume: flag, events: maybe(list(text())) })),
  model: maybe(text()),
  variables: maybe(opaque()),
  overrides: maybe(opaque()),
  message: maybe(record<MachineMessage>({ text: text(), outbound: text() })),
  agent: maybe(record<AgentRef>({ id: text(), hash: text() })),
  recordId: maybe(text()),
});

interface Entry {
  readonly version: number;
  /** From the clock of the process that wrote to the machine's. */
  readonly toMachineMs: Millis;
  readonly transport: { readonly kind: string; readonly state: unknown };
  readonly head: unknown;
  readonly state: unknown;
}

/** The whole of what is written, whatever the transport's own state looks like. */
const version = (stateVersion ^ versionOf(headCodec) ^ versionOf(setupCodec)) >>> 0;
const entryCodec = record<Entry>({
  version: number,
  toMachineMs: number,
  transport: record<Entry['transport']>({ kind: text(), state: opaque() }),
  head: maybe(opaque()),
  state: maybe(opaque()),
});

export class CallJournal implements ConnectionJournal {
  readonly #record: CallRecord;
  /** From this process's clock to the machine's, which all processes share. */
  readonly #toMachineMs: Millis;
  #isOver = false;
  #isWriting = false;
  #savedChanges = -1;
  #isNamed = false;
  #isWhole = true;

  constructor(record: CallRecord, options: { offer: number; toMachineMs: Millis }) {
    this.#record = record;
    this.#toMachineMs = options.toMachineMs;
    record.begin(options.offer);
  }

  /** The handshake of a new connection was answered; a call that was taken up is written down whole. */
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

  keepTail(bytes: Uint8Array, from: number, earlier: number): void {
    if (!this.#isOver) this.#record.keepTail(bytes, from, earlier);
  }

  handling(bytes: number): void {
    if (!this.#isOver) this.#record.handling(bytes);
  }

  handled(bytes: number): void {
    if (!this.#isOver) this.#record.handled(bytes);
  }

  played(context: number, sentSamples: number): void {
    if (!this.#isOver) this.#record.played(context, sentSamples);
  }

  listening(frame: number, generation: number): void {
    if (!this.#isOver) this.#record.listening(frame, generation);
  }

  /** What the call is made with, and the version of its agent in a service of many. */
  keepSetup(setup: CallSetup, agent?: AgentRef): void {
    if (!this.#isOver && (Object.keys(setup).length > 0 || agent !== undefined))
      this.#record.keepSetup(setupCodec.write({ ...setup, agent }));
  }

  /** Writes down where the conversation stands. */
  save(transport: CallTransport, call: JournalledCall | undefined): void {
    const saved = transport.save?.();
    if (this.#isOver || saved === undefined) return;
    const head = `{"version":${version},"toMachineMs":${this.#toMachineMs},"transport":{"kind":"${saved.kind}","state":${saved.json}}`;
    if (call === undefined) {
      this.#record.save(`${head}}`, undefined);
      return;
    }
    if (!this.#isNamed) this.#record.keepName(call.start.callId);
    this.#isNamed = true;
    const { history } = call.state.conversation;
    const isKnown = history.changes === this.#savedChanges;
    this.#isWhole = this.#record.save(
      `${head},"head":${headCodec.write(call)},"state":${encodeState(call.state)}}`,
      isKnown ? undefined : encodeHistory(history, historyBytes),
    );
    this.#savedChanges = history.changes;
  }

  /** What was written down last is all that another worker needs. */
  get isWhole(): boolean {
    return this.#isWhole;
  }

  /** The call is over: there is nothing to take up. */
  end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#record.end();
  }
}

export interface TakenUp {
  /** The version of its agent; absent where there is one agent, or the call had not started. */
  readonly agent: AgentRef | undefined;
  readonly transport: SavedTransport;
  /** Absent when the client had not started its call. */
  readonly call: SavedCall | undefined;
  /** What the call is made with, as far as that was known. */
  readonly setup: CallSetup;
}

/** A call as it was written down; its state needs the settings of the process that goes on with it. */
export interface SavedCall extends CallHead {
  readonly agent: AgentRef | undefined;
  readonly setup: CallSetup;
  /** Where its flow is; absent: it has none. */
  readonly node: string | undefined;
  readonly state: (settings: CallSettings) => CallState;
}

/** A call as another worker left it. */
export interface ResumedCall {
  readonly call: SavedCall;
  readonly playout: { readonly context: number; readonly sentSamples: number };
  /** Caller audio of the turn that was being heard, 16 kHz; empty when it is not there any more. */
  readonly turnAudio: readonly Int16Array[];
  /** How long nobody has read from the client. */
  readonly silentMs: Millis;
}

/** Reads what another worker wrote. @throws TypeError, or SyntaxError, for what no journal of this version wrote. */
export function readJournal(left: LeftCall, options: { readonly toMachineMs: Millis }): TakenUp {
  const entry = entryCodec.read(parseJson(left.state), 0);
  if (entry.version !== version) throw new TypeError('the saved call is of another version');
  const shiftMs = entry.toMachineMs - options.toMachineMs;
  const { kind, state: connection } = entry.transport;
  const transport = { kind, json: connection, shiftMs };
  const { agent, ...given } = left.setup === '' ? {} : setupCodec.read(parseJson(left.setup), shiftMs);
  const setup = present(given);
  if (entry.head === undefined) return { transport, call: undefined, setup, agent };
  const head = headCodec.read(entry.head, shiftMs);
  const saved = { state: entry.state, history: left.history, shiftMs };
  const state = (settings: CallSettings): CallState => decodeState(saved, settings);
  return { transport, setup, agent, call: { ...head, setup, agent, node: savedNode(saved), state } };
}
