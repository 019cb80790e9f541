/**
 * Messages between the supervisor and its children, and what it starts them with. A socket travels beside `call.offer`.
 * Audio and load figures do not pass here: they are in shared memory, because a message waits behind every socket
 * that was sent before it and is not acknowledged.
 */
import type {
  CarriedCall,
  CarrierName,
  CarrierOutcome,
  ControlCommand,
  ControlCapabilities,
} from '../telephony/call-control.ts';
import type {
  AgentAsked,
  AgentGranted,
  AgentOfCall,
  AgentsChanged,
  AgentsForWorker,
} from '../agents/messages.ts';
import type { NamedFiles } from '../agents/version.ts';
import type { Millis } from '../base/units.ts';
import type { LogLevel } from '../config/server/server.ts';
import type { WsCallLimits } from './call.ts';
import type { MonitorRole } from '../monitor/messages.ts';
import type { MailboxLayout } from './mailbox.ts';
import type { LiveCall } from './live.ts';
import type { RecordingSetup } from '../recording/layout.ts';
import type { TracingSetup } from '../tracing/setup.ts';
import type { SipFromWorker, SipToWorker } from '../sip/calls.ts';
import type { TurnServer } from '../webrtc/turn-url.ts';

/** Descriptor numbers in a child; 0 to 3 are the standard streams and the message channel. */
export const sharedMemoryFd = 4;
/** Records of calls, which outlive the worker that writes them. */
export const callRecordsFd = 5;
/** In a worker: its end of the bell. In inference: the bell of worker 0, the others follow. */
export const firstBellFd = 6;
/** In a worker whose agent records calls: memory for what is on its way to the disk. */
export const recordingRingsFd = 7;

/** First message to a worker. The agent file travels as text, so that a file changed later does not reach one worker alone. */
export interface WorkerSetup {
  readonly type: 'setup';
  readonly worker: number;
  readonly layout: MailboxLayout;
  readonly logLevel: LogLevel;
  readonly limits: WsCallLimits;
  /** Calls are recorded, so that another worker can take them up. */
  readonly callResume: boolean;
  readonly agentText: string;
  readonly files: NamedFiles;
  /** Present where that is one agent of many: it serves whoever no other one does. */
  readonly agents?: AgentsForWorker;
  /** Certificates in PEM form that are trusted beside the public ones for agents. */
  readonly agentCa: readonly string[];
  /** Operators may look at calls while they run. */
  readonly live: boolean;
  /** Operators may listen to calls while they run. */
  readonly monitored?: boolean;
  /** Present where the agent records calls. */
  readonly recording?: RecordingSetup;
  /** Present where calls are traced. */
  readonly tracing?: TracingSetup;
  /** Folder for the facts of calls, where records of them are kept. */
  readonly callSpool?: string;
  /** What calls of carriers can be made to do. */
  readonly callControl: Partial<Readonly<Record<CarrierName, ControlCapabilities>>>;
  /** Absent: no WebRTC calls. */
  readonly webrtc?: WebrtcSetup;
}

/** First message to the inference process. */
export interface InferenceSetup {
  readonly type: 'setup';
  readonly layout: MailboxLayout;
  readonly logLevel: LogLevel;
  /** Path of a Silero model to use instead of the installed one. */
  readonly vadModel: string | undefined;
  /** Path of the turn model; absent: turns end by silence. */
  readonly turnModel?: string;
}

/** What a worker serves a connection with. */
export type TransportKind = 'websocket' | 'carrier_a' | 'carrier_b' | 'rtvi' | 'webrtc';

/** Where the worker takes media of WebRTC calls, and what it tells clients of it. */
export interface WebrtcSetup {
  /** Port of worker 0; 0: each worker takes a free one. */
  readonly udp: { readonly host: string; readonly port: number };
  /** Workers, the spare among them: as many ports are taken by them. Supervisors of earlier releases send it by this name. */
  readonly seats: number;
  readonly candidateIps: readonly string[];
  /** Present where media may come by TCP, too. */
  readonly tcp?: { readonly host: string; readonly maxFrameBytes: number; readonly queue: number };
  /** Present where each call has a relay; `only`: and no other UDP candidate. */
  readonly relay?: {
    readonly mode: 'on' | 'only';
    readonly timeoutMs: Millis;
    readonly isLogged: boolean;
  };
}

/** An offer of a call whose connection the worker makes itself: no socket travels beside it. */
export interface SignaledOffer {
  /** The client's SDP offer, which the supervisor has read. */
  readonly sdp: string;
  /** Where its request came from. */
  readonly clientIp?: string;
  /** Port of the TCP candidate. */
  readonly tcpPort?: number;
  /** Servers that may give the call a relay, in the order of preference. */
  readonly turnServers?: readonly TurnServer[];
}

/** Why a worker has no answer to an offer. */
export type UnansweredReason = 'bad_offer' | 'failed' | 'no_relay';

/** An accepted connection on its way to a worker. */
export interface CallOffer {
  readonly type: 'call.offer';
  readonly offer: number;
  readonly transport: TransportKind;
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string | string[]>>;
  /** Bytes that followed the request head, base64. */
  readonly head: string;
  /** Metadata that only the server may set (docs/tokens.md, What is enforced where). */
  readonly signedMetadata: Readonly<Record<string, string>>;
  /** Slot whose record says how a worker that is gone left this call. */
  readonly resumeFrom?: number;
  /** The telephone call was here before, and comes back. */
  readonly carried?: CarriedCall;
  /** When the call is hung up (docs/tokens.md, What is enforced where), on the machine's clock; absent: the agent's limit alone counts. */
  readonly endsAtMs?: number;
  /** Present where the call comes by an offer and not with its socket. */
  readonly signaled?: SignaledOffer;
}

/** The connection of an operator who has been let in, on its way to the worker that has the call; its socket travels beside it. */
export interface MonitorOffer {
  readonly type: 'monitor.offer';
  readonly call: string;
  /** Present where the operator may have calls of this tenant alone. */
  readonly tenant?: string;
  readonly role: MonitorRole;
  /** The name that the operator gave; empty: none. */
  readonly by: string;
  readonly method: string;
  readonly url: string;
  /** Without the token. */
  readonly headers: Readonly<Record<string, string | string[]>>;
  /** Bytes that followed the request head, base64. */
  readonly head: string;
}

export type ToWorker =
  | WorkerSetup
  | AgentsChanged
  | AgentGranted
  | CallOffer
  | SipToWorker
  /** All calls that are to be taken up were offered. Stands behind the offers, as messages keep their order. */
  | { readonly type: 'calls.given' }
  /** The client of a signaled call hung up by signaling. */
  | { readonly type: 'call.hangup'; readonly offer: number }
  /** The client of a signaled call has lost its connection and offers another one; `renewal` numbers what it offers. */
  | {
      readonly type: 'call.renew';
      readonly offer: number;
      readonly renewal: number;
      readonly signaled: SignaledOffer;
    }
  /** More addresses of the client of a signaled call. */
  | { readonly type: 'call.candidates'; readonly offer: number; readonly ips: readonly string[] }
  /** A TCP connection that has proven to belong to the call, with what was read of it in base64; the socket travels beside it. */
  | { readonly type: 'call.way'; readonly offer: number; readonly way: number; readonly head: string }
  /** Take no new call; end the ones that are there when told so. */
  | { readonly type: 'drain' }
  /** Say `stop{shutdown}` to every call and exit when they are gone. With `withinMs`, leave is taken of callers first; absent: at once. */
  | { readonly type: 'shutdown'; readonly withinMs?: number }
  | { readonly type: 'metrics.ask'; readonly ask: number }
  | { readonly type: 'live.ask'; readonly ask: number }
  /** An operator ends a call, as an agent would. */
  | { readonly type: 'call.end'; readonly call: string; readonly tenant?: string }
  | MonitorOffer
  | { readonly type: 'control.answer'; readonly commandId: string; readonly outcome: CarrierOutcome };

export type FromWorker =
  | { readonly type: 'ready' }
  | SipFromWorker
  | AgentOfCall
  | AgentAsked
  /** The worker has the socket: unless calls are taken up after a death, the supervisor drops its duplicate. */
  | { readonly type: 'call.taken'; readonly offer: number }
  /** The worker cannot take the call: it belongs to another one. */
  | { readonly type: 'call.declined'; readonly offer: number }
  | { readonly type: 'call.over'; readonly offer: number }
  /** A call wants something of its carrier; `control.answer` answers. */
  | { readonly type: 'control.ask'; readonly command: ControlCommand }
  /** The answer to the offer of a signaled call, beside `call.taken`, or to a `call.renew`, whose number it has. */
  | {
      readonly type: 'call.answered';
      readonly offer: number;
      readonly renewal?: number;
      readonly sdp: string;
    }
  /** A signaled call has no answer, and is over; or a `call.renew` has none, and the call goes on. */
  | {
      readonly type: 'call.unanswered';
      readonly offer: number;
      readonly renewal?: number;
      readonly reason: UnansweredReason;
    }
  /** The call was refused at its start for want of room: its token opens another one. */
  | { readonly type: 'call.busy'; readonly offer: number }
  /** A TCP connection of a signaled call is closed. */
  | { readonly type: 'call.way_closed'; readonly offer: number; readonly way: number }
  /** The connection of a signaled call is established. */
  | { readonly type: 'call.connected'; readonly offer: number }
  /** Something escaped a call: the worker finishes its calls and wants to be replaced. */
  | { readonly type: 'tainted' }
  | { readonly type: 'metrics.answer'; readonly ask: number; readonly metrics: unknown }
  | { readonly type: 'live.answer'; readonly ask: number; readonly calls: readonly LiveCall[] };

export type FromInference =
  | { readonly type: 'ready' }
  /** The turn model does not load; the process ends, and would again. */
  | { readonly type: 'setup.failed'; readonly what: 'turn_model' };
