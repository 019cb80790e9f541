/**
 * Every sentence that the page says about the state of a call.
 *
 * Invariant: each outcome that is a problem names what happened and what to do about it, in plain words. It must not hold
 * markup, and never repeats an address or a token.
 */
import type { CallOutcome, MicrophoneProblem } from './client/call-machine.ts';
import type { CallState } from './client/call-state.ts';
import type { LineKind } from './client/line/line-kind.ts';

export interface Problem {
  readonly title: string;
  readonly advice: string;
}

/** The state of the call in one or two words; `data-state` in the style sheet carries the names of the states. */
export const STATE_WORDS: Readonly<Record<CallState, string>> = {
  idle: 'Ready to call',
  connecting: 'Connecting',
  listening: 'Listening',
  'caller-speaking': 'You are speaking',
  thinking: 'Thinking',
  'agent-speaking': 'Agent is speaking',
  interrupted: 'Interrupted',
  ending: 'Hanging up',
  ended: 'Call ended',
};

/** How well the line carries sound; nothing is known where there is no call. */
export type LineQuality = 'unknown' | 'good' | 'fair' | 'poor';

export const QUALITY_WORDS: Readonly<Record<LineQuality, string>> = {
  unknown: '–',
  good: 'Good',
  fair: 'Fair',
  poor: 'Poor',
};

/** Instead of the words for `ended` when there never was a call. */
export const NOT_CONNECTED = 'Not connected';

const HINTS: Readonly<Record<CallState, string>> = {
  idle: 'Your microphone will be used.',
  connecting: 'Connecting to the agent.',
  listening: 'Speak at any time.',
  'caller-speaking': 'The agent listens until you pause.',
  thinking: 'The answer is on its way.',
  'agent-speaking': 'Just start talking to interrupt.',
  interrupted: 'The agent stopped. Go on.',
  ending: 'One moment.',
  ended: '',
};

const MICROPHONE: Readonly<Record<MicrophoneProblem, Problem>> = {
  refused: {
    title: 'The microphone was refused',
    advice: 'Allow the microphone for this page, usually at the icon beside the address, and call again.',
  },
  missing: {
    title: 'No microphone was found',
    advice: 'Connect a microphone or a headset, check that the system sees it, and call again.',
  },
  'in-use': {
    title: 'The microphone cannot be read',
    advice:
      'Another program may be using it. Close that program, or reconnect the microphone, and call again.',
  },
  'insecure-page': {
    title: 'This page may not use a microphone',
    advice:
      'Browsers allow the microphone only over HTTPS or on localhost. Open the page at such an address.',
  },
  failed: {
    title: 'The audio could not be started',
    advice: 'Reload the page and call again. A current version of Chrome, Edge, Firefox or Safari is needed.',
  },
};

const PROBLEMS = {
  shutdown: {
    title: 'The service is shutting down',
    advice: 'It ended the call. Call again when it is back, usually after a minute.',
  },
  'no-token': {
    title: 'The call could not be authorised',
    advice: 'The server could not authorise this call. Try again in a minute.',
  },
  unauthorised: {
    title: 'You are not allowed to call',
    advice: 'Your permission is missing or has expired. Sign in again, or ask the operator of this service.',
  },
  busy: {
    title: 'The service is busy',
    advice: 'It accepts no more calls at the moment. Wait a few seconds and call again.',
  },
  down: {
    title: 'The service cannot be reached',
    advice: 'It is not running, or your network is down. Check both and call again.',
  },
  refused: {
    title: 'The call was not accepted',
    advice: 'The service gave no reason. Call again; if this repeats, look at its log.',
  },
  'silent-server': {
    title: 'The service did not answer',
    advice: 'It accepted the connection but did not start the call. Check its log, then call again.',
  },
  'connection-lost': {
    title: 'The connection was lost',
    advice: 'The network or the service failed. Check both and call again.',
  },
} as const;

export interface Circumstances {
  /** The browser has not given the microphone yet. */
  readonly isAsking: boolean;
  readonly needsGesture: boolean;
  readonly isMuted: boolean;
  readonly isNetworkSlow: boolean;
  /** The connection is gone, and another one is being made. */
  readonly isMoving: boolean;
  readonly outcome: CallOutcome | undefined;
}

/** One sentence below the state: the most urgent thing to know. */
export function hintFor(state: CallState, now: Circumstances): string {
  if (state === 'ended') {
    if (now.outcome?.kind === 'hung-up') return 'You hung up.';
    return now.outcome?.kind === 'agent-ended' ? 'The agent hung up.' : '';
  }
  if (now.needsGesture)
    return 'Click anywhere, or press a key, to start the sound. It needs a speaker or headphones.';
  if (now.isAsking) return 'Waiting for your microphone.';
  if (now.isMoving) return 'The connection broke. Connecting again.';
  if (now.isNetworkSlow) return 'Your network is slow: the agent may not hear you.';
  if (now.isMuted && state !== 'idle' && state !== 'connecting') return 'Your microphone is muted.';
  return HINTS[state];
}

/** Undefined when the call ended as calls do. */
export function problemOf(outcome: CallOutcome): Problem | undefined {
  switch (outcome.kind) {
    case 'hung-up':
    case 'agent-ended':
      return undefined;
    case 'microphone':
      return MICROPHONE[outcome.problem];
    case 'fault':
      return { title: 'The call ended with an error', advice: faultWords(outcome.code, outcome.message) };
    case 'shutdown':
    case 'no-token':
    case 'unauthorised':
    case 'busy':
    case 'down':
    case 'refused':
    case 'silent-server':
    case 'connection-lost':
      return PROBLEMS[outcome.kind];
  }
}

function faultWords(code: string, message: string): string {
  const said = [message, code === '' ? '' : `(${code})`].filter((part) => part !== '').join(' ');
  return said === '' ? 'The server gave no reason. Call again.' : `The server said: ${said}. Call again.`;
}

export const CONVERSATION_WORDS = {
  empty: 'What you and the agent say appears here.',
  untold: 'This service sends no transcript of its calls.',
} as const;

/** What a call goes by, as the page shows it. */
export const LINE_WORDS: Readonly<Record<LineKind, string>> = { webrtc: 'WebRTC', websocket: 'WebSocket' };

/** The agent's name from its file, as a title: `pizza-line` becomes `Pizza line`. */
export function shownName(name: string): string {
  const words = name.replace(/[_-]+/g, ' ').trim();
  return words === '' ? 'Voice agent' : `${words.charAt(0).toUpperCase()}${words.slice(1)}`;
}
