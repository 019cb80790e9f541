/**
 * One call as the browser sees it: from the button to the last word, as a pure machine (docs/clients/browser.md, How a call ends).
 *
 * Invariant: each phase holds exactly what is valid in it, `ended` follows every call exactly once and says how, and a
 * mark is echoed at most once and never after the `clear` that cut it. It must not touch sockets, audio or the document.
 */
import { type ClientMessage, MAX_TYPED, type ServerMessage, type TypedAnswer } from './wire.ts';

export type MicrophoneProblem = 'refused' | 'missing' | 'in-use' | 'insecure-page' | 'failed';

/** How a call ended. */
export type CallOutcome =
  | { readonly kind: 'hung-up' }
  | { readonly kind: 'agent-ended' }
  /** The service stops. */
  | { readonly kind: 'shutdown' }
  | { readonly kind: 'microphone'; readonly problem: MicrophoneProblem }
  /** The endpoint for tokens gave none. */
  | { readonly kind: 'no-token' }
  /** The token is missing, used or not valid, or this caller may not call. */
  | { readonly kind: 'unauthorised' }
  /** No room for a call now; later there may be. */
  | { readonly kind: 'busy' }
  /** Nobody answers at the address. */
  | { readonly kind: 'down' }
  /** Somebody answers and takes no call, for a reason that the browser hides. */
  | { readonly kind: 'refused' }
  | { readonly kind: 'silent-server' }
  | { readonly kind: 'connection-lost' }
  | { readonly kind: 'fault'; readonly code: string; readonly message: string };

export type CallPhase =
  | { readonly name: 'idle' }
  | { readonly name: 'preparing' }
  | { readonly name: 'connecting'; readonly sampleRate: number }
  /** The connection was refused; why is being asked. */
  | { readonly name: 'asking' }
  | { readonly name: 'starting'; readonly sampleRate: number }
  | { readonly name: 'open'; readonly sampleRate: number; readonly marks: readonly string[] }
  | { readonly name: 'ending' }
  | { readonly name: 'ended'; readonly outcome: CallOutcome };

export type CallEvent =
  | { readonly type: 'call-asked' }
  | { readonly type: 'microphone-ready'; readonly sampleRate: number }
  | { readonly type: 'microphone-failed'; readonly problem: MicrophoneProblem }
  /** There is no token, or a part of the program could not be fetched. */
  | { readonly type: 'preparation-failed'; readonly outcome: CallOutcome }
  | { readonly type: 'socket-opened' }
  | { readonly type: 'socket-closed'; readonly code: number }
  /** Why there was no connection. */
  | { readonly type: 'refusal-known'; readonly outcome: CallOutcome }
  /** What is sent has not left for so long that nobody can be there. */
  | { readonly type: 'network-stuck' }
  | { readonly type: 'message-received'; readonly message: ServerMessage }
  | { readonly type: 'mark-played'; readonly id: string }
  | { readonly type: 'key-pressed'; readonly digit: string }
  | { readonly type: 'text-typed'; readonly text: string; readonly answer: TypedAnswer }
  | { readonly type: 'hang-up-asked' }
  | { readonly type: 'time-ran-out' };

export type CallOrder =
  | { readonly type: 'open-microphone' }
  /** Asks for a token, where one is needed, and connects. */
  | { readonly type: 'open-socket' }
  | { readonly type: 'ask-why' }
  | { readonly type: 'send'; readonly message: ClientMessage }
  | { readonly type: 'play-mark'; readonly id: string }
  | { readonly type: 'clear-playout' }
  /** Arms the one timer of the call; it is armed anew by each of these and disarmed by `undefined`. */
  | { readonly type: 'arm-timer'; readonly afterMs: number | undefined }
  /** Gives back the microphone and the socket; `letPlay` leaves what is buffered to be heard to its end. */
  | { readonly type: 'release'; readonly letPlay: boolean };

export interface CallStep {
  readonly phase: CallPhase;
  readonly orders: readonly CallOrder[];
}

/** For the upgrade and for `started` each; the server's own limit for the latter is 5 s. */
const CONNECT_MS = 10_000;
/** For `stop{ended}` after our `stop`. */
const ENDING_MS = 2_000;
const MAX_PENDING_MARKS = 1_000;
const TRY_AGAIN_LATER = 1013;
const GOING_AWAY = 1001;
const NORMAL = 1000;

const stay = (phase: CallPhase): CallStep => ({ phase, orders: [] });

const end = (outcome: CallOutcome, letPlay = false): CallStep => ({
  phase: { name: 'ended', outcome },
  orders: [
    { type: 'arm-timer', afterMs: undefined },
    { type: 'release', letPlay },
  ],
});

/** What the call becomes by `event`, and what is to be done for it. An event that the phase does not know changes nothing. */
export function stepCall(phase: CallPhase, event: CallEvent): CallStep {
  switch (event.type) {
    case 'call-asked':
      if (phase.name !== 'idle' && phase.name !== 'ended') return stay(phase);
      return { phase: { name: 'preparing' }, orders: [{ type: 'open-microphone' }] };
    case 'microphone-ready':
      if (phase.name !== 'preparing') return stay(phase);
      return {
        phase: { name: 'connecting', sampleRate: event.sampleRate },
        orders: [{ type: 'open-socket' }, { type: 'arm-timer', afterMs: CONNECT_MS }],
      };
    case 'microphone-failed':
      if (phase.name === 'idle' || phase.name === 'ended') return stay(phase);
      return end({ kind: 'microphone', problem: event.problem });
    case 'preparation-failed':
      if (phase.name !== 'preparing' && phase.name !== 'connecting') return stay(phase);
      return end(event.outcome);
    case 'refusal-known':
      return phase.name === 'asking' ? end(event.outcome) : stay(phase);
    case 'network-stuck':
      return phase.name === 'open' ? end({ kind: 'connection-lost' }) : stay(phase);
    case 'socket-opened':
      return phase.name === 'connecting' ? sendStart(phase.sampleRate) : stay(phase);
    case 'socket-closed':
      return socketClosed(phase, event.code);
    case 'message-received':
      return messageReceived(phase, event.message);
    case 'mark-played':
      return markPlayed(phase, event.id);
    case 'key-pressed':
      if (phase.name !== 'open') return stay(phase);
      return { phase, orders: [{ type: 'send', message: { type: 'dtmf', digit: event.digit } }] };
    case 'text-typed': {
      const text = event.text.trim().slice(0, MAX_TYPED);
      const { answer } = event;
      if (phase.name !== 'open' || text === '') return stay(phase);
      return { phase, orders: [{ type: 'send', message: { type: 'text', text, answer } }] };
    }
    case 'hang-up-asked':
      return hangUp(phase);
    case 'time-ran-out':
      return timeRanOut(phase);
  }
}

function sendStart(sampleRate: number): CallStep {
  return {
    phase: { name: 'starting', sampleRate },
    orders: [
      { type: 'send', message: { type: 'start', version: 1, sample_rate: sampleRate, encoding: 'pcm16' } },
      { type: 'arm-timer', afterMs: CONNECT_MS },
    ],
  };
}

function messageReceived(phase: CallPhase, message: ServerMessage): CallStep {
  if (phase.name !== 'starting' && phase.name !== 'open' && phase.name !== 'ending') return stay(phase);
  switch (message.type) {
    case 'started':
      if (phase.name !== 'starting') return stay(phase);
      return {
        phase: { name: 'open', sampleRate: phase.sampleRate, marks: [] },
        orders: [{ type: 'arm-timer', afterMs: undefined }],
      };
    case 'clear':
      if (phase.name !== 'open') return stay(phase);
      return { phase: { ...phase, marks: [] }, orders: [{ type: 'clear-playout' }] };
    case 'mark':
      if (phase.name !== 'open') return stay(phase);
      return {
        phase: { ...phase, marks: [...phase.marks, message.id].slice(-MAX_PENDING_MARKS) },
        orders: [{ type: 'play-mark', id: message.id }],
      };
    case 'stop':
      if (message.reason === 'shutdown') return end({ kind: 'shutdown' });
      return phase.name === 'ending' ? end({ kind: 'hung-up' }) : end({ kind: 'agent-ended' }, true);
    case 'error':
      if (!message.fatal) return stay(phase);
      if (phase.name === 'ending') return end({ kind: 'hung-up' });
      if (message.code === 'server_busy' || message.code === 'overloaded') return end({ kind: 'busy' });
      return end({ kind: 'fault', code: message.code, message: message.message });
    case 'event':
    case 'unknown':
      return stay(phase);
  }
}

function markPlayed(phase: CallPhase, id: string): CallStep {
  if (phase.name !== 'open') return stay(phase);
  const index = phase.marks.indexOf(id);
  // The playout may report a mark while the `clear` that cut it is on its way there.
  if (index < 0) return stay(phase);
  return {
    phase: { ...phase, marks: phase.marks.toSpliced(index, 1) },
    orders: [{ type: 'send', message: { type: 'mark', id } }],
  };
}

function hangUp(phase: CallPhase): CallStep {
  switch (phase.name) {
    case 'preparing':
    case 'connecting':
    case 'asking':
      return end({ kind: 'hung-up' });
    case 'starting':
    case 'open':
      return {
        phase: { name: 'ending' },
        orders: [
          { type: 'send', message: { type: 'stop' } },
          { type: 'clear-playout' },
          { type: 'arm-timer', afterMs: ENDING_MS },
        ],
      };
    case 'idle':
    case 'ending':
    case 'ended':
      return stay(phase);
  }
}

function socketClosed(phase: CallPhase, code: number): CallStep {
  switch (phase.name) {
    case 'connecting':
      return { phase: { name: 'asking' }, orders: [{ type: 'ask-why' }] };
    case 'starting':
    case 'open':
      if (code === TRY_AGAIN_LATER) return end({ kind: 'busy' });
      if (code === GOING_AWAY) return end({ kind: 'shutdown' });
      return code === NORMAL ? end({ kind: 'agent-ended' }, true) : end({ kind: 'connection-lost' });
    case 'ending':
      return end({ kind: 'hung-up' });
    case 'idle':
    case 'preparing':
    case 'asking':
    case 'ended':
      return stay(phase);
  }
}

function timeRanOut(phase: CallPhase): CallStep {
  if (phase.name === 'connecting' || phase.name === 'asking') return end({ kind: 'down' });
  if (phase.name === 'starting') return end({ kind: 'silent-server' });
  return phase.name === 'ending' ? end({ kind: 'hung-up' }) : stay(phase);
}
