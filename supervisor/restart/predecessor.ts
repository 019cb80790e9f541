/**
 * The supervisor from which this one takes over (decision 0017): says when this one is prepared, reads what the old one
 * remembers, and gets its listeners, and after that the connections that still reach it. Places that the old one's calls hold are
 * counted here until they are over, or until the old one is gone.
 */
import { Socket as DatagramSocket } from 'node:dgram';
import { Server, Socket } from 'node:net';
import {
  readToSuccessor,
  takeoverVersion,
  type CarriedCall,
  type ToPredecessor,
  type ToSuccessor,
} from '../../shared/protocol/takeover.ts';
import type { OutboundLeft } from '../../shared/telephony/takeover.ts';
import { stopReading } from '../../shared/runtime/reading.ts';
import type { AgentLeft, AgentUse } from '../../shared/agents/takeover.ts';
import type { CallLedger } from '../admission/call-ledger.ts';
import type { Arrived } from '../listeners/listeners.ts';
import type { ListeningFeature, SessionUrls } from './takeover.ts';
import type { TokenLedger } from '../admission/token-ledger.ts';

/** The part of a process that speaks with its parent. */
export interface ParentChannel {
  readonly isOpen: () => boolean;
  /** `sent` is called whether or not the message could go. */
  send(message: ToPredecessor, sent: () => void): void;
  onMessage(take: (message: unknown, handle: unknown) => void): void;
  onGone(gone: () => void): void;
}

/** The channel of this process. */
export const parentChannel: ParentChannel = {
  isOpen: () => process.connected,
  send: (message, sent) => {
    if (process.send === undefined || !process.connected) sent();
    else process.send(message, undefined, undefined, sent);
  },
  onMessage: (take) => void process.on('message', take),
  onGone: (gone) => void process.once('disconnect', gone),
};

export interface PredecessorOptions {
  readonly channel: ParentChannel;
  readonly callLedger: CallLedger;
  readonly tokens: TokenLedger;
  /** Calls can be taken: false once this supervisor is told to stop. */
  readonly isServing: () => boolean;
  /** Opens a listener on the socket that the old one gave; resolves when all of it is in force. Nothing may be accepted before. */
  readonly open: (name: string, given: Server) => Promise<void>;
  readonly sip?: ListeningFeature;
  readonly sessionUrls?: SessionUrls;
  /** The calls that the service makes are this supervisor's. */
  readonly outbound?: (left: OutboundLeft) => void;
  /** What was in force there; absent in a service of one agent. */
  readonly agents?: ((left: readonly AgentLeft[]) => void) | undefined;
  /** How much of the service agents use there; undefined: it is gone. */
  readonly agentUse?: ((use: AgentUse | undefined, how: { readonly counts: boolean }) => void) | undefined;
  /** Binds what the old one did not have. */
  readonly bindRest: () => Promise<void>;
  readonly arrived: (arrived: Arrived) => void;
  /** This process serves. `alone`: the old one died before it had given everything. */
  readonly took: (how: { readonly alone: boolean }) => void;
  /** It cannot take over; the old one goes on. */
  readonly failed: (reason: string) => void;
}

export class Predecessor {
  readonly #options: PredecessorOptions;
  readonly #calls = new Map<number, () => void>();
  readonly #opening: Promise<void>[] = [];
  #isPrepared = false;
  #isTaking = false;
  #hasTaken = false;
  #isGone = false;

  constructor(options: PredecessorOptions) {
    this.#options = options;
    options.channel.onMessage((message, handle) => this.#take(message, handle));
    options.channel.onGone(() => this.#onGone());
    options.sip?.follow((message) => this.#say(message));
    options.sessionUrls?.follow((message) => this.#say(message));
  }

  get hasTaken(): boolean {
    return this.#hasTaken;
  }

  /** The old supervisor has ended. */
  get isGone(): boolean {
    return this.#isGone;
  }

  /** Everything but the listeners is there. */
  prepared(): void {
    this.#isPrepared = true;
    if (this.#options.channel.isOpen())
      this.#say({ type: 'prepared', version: takeoverVersion, takesAgents: true, takesAgentUse: true });
    else this.#onGone();
  }

  /** Why this supervisor cannot serve. */
  tell(problem: string, told: () => void): void {
    this.#options.channel.send({ type: 'failed', problems: [problem] }, told);
  }

  /** This supervisor was told to stop, the first time or once more. */
  stops(): void {
    this.#say({ type: 'stops' });
  }

  hurry(): void {
    this.#say({ type: 'hurry' });
  }

  #say(message: ToPredecessor): void {
    if (!this.#isGone) this.#options.channel.send(message, () => undefined);
  }

  #fail(reason: string): void {
    this.tell(reason, () => this.#options.failed(reason));
  }

  #take(message: unknown, handle: unknown): void {
    const read = readToSuccessor(message);
    if (!read.ok) {
      if (!this.#hasTaken) this.#fail(read.error);
      return;
    }
    if (handle instanceof Server && read.value.type === 'listener') this.#open(read.value.name, handle);
    else if (handle instanceof Socket && read.value.type === 'arrival') this.#onArrival(read.value, handle);
    else if (handle instanceof DatagramSocket) this.#onSocket(handle);
    else this.#learn(read.value);
  }

  #onSocket(socket: DatagramSocket): void {
    const { sip, isServing } = this.#options;
    if (sip === undefined || !isServing()) socket.close();
    else sip.takeSocket(socket);
  }

  #learn(message: ToSuccessor): void {
    // Its calls are over with it, whatever it said of them.
    if (this.#isGone) return;
    const { tokens, callLedger } = this.#options;
    switch (message.type) {
      case 'tokens':
        for (const [sid, endS] of message.used) tokens.carry(sid, endS);
        return;
      case 'token.released':
        tokens.release(message.sid);
        return;
      case 'calls':
        for (const call of message.began) this.#carry(call);
        return;
      case 'call.over':
        this.#calls.get(message.id)?.();
        this.#calls.delete(message.id);
        return;
      case 'requests':
        for (const [agoS, count] of message.counts) callLedger.requested(message.provider, count, { agoS });
        return;
      case 'copy.end':
        this.#say({ type: 'copied' });
        return;
      case 'listeners.end':
        this.#finish();
        return;
      case 'agents':
        this.#options.agents?.(message.rows);
        return;
      case 'agents.use':
        this.#options.agentUse?.(message, { counts: !this.#hasTaken });
        return;
      case 'outbound':
        this.#options.outbound?.(message);
        return;
      case 'listener':
      case 'arrival':
      case 'sip.socket':
        // Its socket was closed on the way.
        return;
      case 'webrtc.begin':
      case 'webrtc.answered':
        this.#options.sessionUrls?.predecessorSaid(message);
        return;
      default:
        this.#options.sip?.predecessorSaid(message);
    }
  }

  /** A call may be told twice: as one that is there, and as one that began. */
  #carry(call: CarriedCall): void {
    if (!this.#calls.has(call.id)) this.#calls.set(call.id, this.#options.callLedger.carry(call));
  }

  /** At once: the socket accepts from the moment on in which it came. */
  #open(name: string, given: Server): void {
    if (!this.#options.isServing()) given.close();
    else if (this.#options.sip?.takeListener(name, given) !== true)
      this.#opening.push(this.#options.open(name, given));
  }

  /** All that the old one gives is here, or it is gone: what is missing is bound. */
  #finish(): void {
    if (this.#isTaking) return;
    this.#isTaking = true;
    const { isServing, bindRest, took } = this.#options;
    if (!isServing()) {
      this.#fail('it was told to stop');
      return;
    }
    const allOpen = Promise.all(this.#opening).then(bindRest);
    allOpen.then(
      () => {
        this.#hasTaken = true;
        this.#say({ type: 'took' });
        took({ alone: this.#isGone });
        if (this.#isGone) this.#forgetPredecessor();
      },
      (error: unknown) => this.#fail(error instanceof Error ? error.message : 'a listener cannot be opened'),
    );
  }

  #onArrival(message: Extract<ToSuccessor, { type: 'arrival' }>, socket: Socket): void {
    stopReading(socket);
    socket.on('error', () => undefined);
    const { listener, method, url, headers, bytes, peer } = message;
    const arrival = { listener, method, head: { url, headers }, peer };
    this.#options.arrived({ arrival, socket, bytes: Buffer.from(bytes, 'base64') });
  }

  #onGone(): void {
    this.#isGone = true;
    if (this.#hasTaken) this.#forgetPredecessor();
    // A service without its old supervisor is still wanted. Before the children are ready it waits for them.
    else if (this.#isPrepared) this.#finish();
  }

  #forgetPredecessor(): void {
    this.#options.sip?.predecessorGone();
    this.#options.sessionUrls?.predecessorGone();
    this.#options.agentUse?.(undefined, { counts: false });
    for (const release of this.#calls.values()) release();
    this.#calls.clear();
  }
}
