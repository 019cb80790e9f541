/**
 * What a listener is to the rest of the supervisor. One file of this folder declares each, `all.ts` lists them; ports, front door,
 * hand-over and restart know a listener by what stands here, and a connection by its listener's name and its transport.
 */
import type { Server as NetServer } from 'node:net';
import type { ServerSettings } from '../../shared/config/server/server.ts';
import type { WallClock } from '../../shared/runtime/clock.ts';
import type { Log } from '../../shared/runtime/log.ts';
import type { Agents } from '../agents/agents.ts';
import type { SignaledCalls } from '../handover/signaled-calls.ts';
import type { HealthOptions } from '../service/health.ts';
import type { Answer } from '../http/refusals.ts';
import type { CallIngress } from './ingress.ts';
import type { Arrival, Decision } from './front-door.ts';
import type { Arrived, OpenListener } from './listeners.ts';
import type { FleetTelephony } from '../telephony/fleet-telephony.ts';
import type { PageTokens } from './page-tokens.ts';
import type { SignalingTakeover } from '../webrtc/takeover.ts';

/** What a listener needs of the supervisor. */
export interface ListenerContext {
  readonly settings: ServerSettings;
  readonly wallClock: WallClock;
  readonly agentName: string;
  /** Absent in a service of one agent. */
  readonly agents?: Agents | undefined;
  /** The page's own endpoint for tokens, where there is one. */
  readonly pageTokens: PageTokens | undefined;
  /** An upgrade has come. */
  readonly arrived: (arrived: Arrived) => void;
  /** How an upgrade with this head would be refused; undefined when it would not. */
  readonly look: (arrival: Arrival) => Answer | undefined;
  /** Why a call of this listener that is still ringing cannot be taken; undefined when it can. A refusal counts as one. */
  readonly closed: (listener: string) => Answer | undefined;
  /** Judges a request for a call that comes by an offer, and takes what it holds. */
  readonly decide: (arrival: Arrival) => Promise<Decision>;
  /** Counts an offer for such a call that runs; the answer when its address has made too many. */
  readonly offered: (arrival: Arrival) => Promise<Answer | undefined>;
  /** What becomes of such a call. */
  readonly signaled: SignaledCalls;
  /** Their session URLs across a restart. */
  readonly takeover: SignalingTakeover;
  readonly log: Log;
  /** What carriers tell of calls goes there. */
  readonly telephony: FleetTelephony;
  readonly health: Pick<
    HealthOptions,
    'unready' | 'counts' | 'renderMetrics' | 'live' | 'monitor' | 'history'
  >;
}

export interface ListenerPlace {
  /** A listening socket that another process gave; absent: the listener binds its address. */
  readonly given: NetServer | undefined;
  /** Another process accepts there now. */
  readonly isLeaving: () => boolean;
}

export interface Listener {
  /** Names it in logs, and towards the supervisor that takes over. */
  readonly name: string;
  /** The variable that says where it is bound, for messages to the operator. */
  readonly variable: string;
  /** Whether the settings ask for it. */
  readonly isWanted: (settings: ServerSettings) => boolean;
  /** Absent where no calls come in. */
  readonly ingress?: (settings: ServerSettings) => CallIngress;
  /** Where calls come in by more than one transport: the other ingresses, by the name that their arrivals give. */
  readonly others?: (settings: ServerSettings) => ReadonlyMap<string, CallIngress>;
  /** Binds it, or has it accept on the socket that was given. Rejects when the address cannot be bound. */
  readonly open: (context: ListenerContext, place: ListenerPlace) => Promise<OpenListener>;
}
