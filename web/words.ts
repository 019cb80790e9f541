/**
 * Every sentence that the page says about the state of a call.
 *
 * Invariant: each outcome that is a problem names what happened and what to do about it, in plain words. It must not hold
 * markup, and never repeats an address or a token.
 */
import type { CallPhase, MicrophoneProblem, Outcome } from './call-machine.ts';
import type { Turn } from './turn-view.ts';

export interface Problem {
  readonly title: string;
  readonly advice: string;
}

/** The state of the call in one or two words; `data-state` in the style sheet carries the same names. */
export type ShownState = 'idle' | 'connecting' | Turn | 'ending' | 'ended';

export const STATE_WORDS: Readonly<Record<ShownState, string>> = {
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

/** Instead of the words for `ended` when there never was a call. */
export const NOT_CONNECTED = 'Not connected';

const HINTS: Readonly<Record<ShownState, string>> = {
  idle: 'Your microphone will be used.',
  connecting: 'Reaching the agent.',
  listening: 'Say something whenever you like.',
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
    advice: 'Browsers lend it only to pages on localhost or behind https. Open the page at one of those.',
  },
  failed: {
    title: 'The audio could not be started',
    advice: 'Reload the page and call again. A current version of Chrome, Edge, Firefox or Safari is needed.',
  },
};

export function shownState(phase: CallPhase, turn: Turn): ShownState {
  switch (phase.name) {
    case 'idle':
    case 'ending':
    case 'ended':
      return phase.name;
    case 'preparing':
    case 'connecting':
    case 'starting':
      return 'connecting';
    case 'open':
      return turn;
  }
}

export function hintFor(phase: CallPhase, shown: ShownState): string {
  if (phase.name === 'preparing') return 'Waiting for your microphone.';
  if (phase.name !== 'ended') return HINTS[shown];
  if (phase.outcome.kind === 'hung-up') return 'You hung up.';
  if (phase.outcome.kind === 'agent-ended') return 'The agent hung up.';
  return '';
}

/** Undefined when the call ended as calls do. */
export function problemOf(outcome: Outcome): Problem | undefined {
  switch (outcome.kind) {
    case 'hung-up':
    case 'agent-ended':
      return undefined;
    case 'shutdown':
      return {
        title: 'The service is shutting down',
        advice: 'It ended the call. Call again when it is back, usually after a minute.',
      };
    case 'microphone':
      return MICROPHONE[outcome.problem];
    case 'not-configured':
      return {
        title: 'The page does not know whom to call',
        advice: 'Its server gave no address. Check that the demo is still running, and reload the page.',
      };
    case 'unreachable':
      // A browser hides the HTTP status of a refused upgrade, so the page cannot know which of the two it was.
      return {
        title: 'The server is busy or not running',
        advice: 'Wait a few seconds and call again. If it stays so, check that the service was started.',
      };
    case 'busy':
      return {
        title: 'The server is busy',
        advice: 'It takes no more calls at the moment. Wait a few seconds and call again.',
      };
    case 'silent-server':
      return {
        title: 'The server did not answer',
        advice: 'It took the connection but did not start the call. Check its log, then call again.',
      };
    case 'connection-lost':
      return {
        title: 'The connection was lost',
        advice: 'The network or the service broke off. Check both and call again.',
      };
    case 'fault':
      return { title: 'The call ended with an error', advice: faultWords(outcome.code, outcome.message) };
  }
}

function faultWords(code: string, message: string): string {
  const said = [message, code === '' ? '' : `(${code})`].filter((part) => part !== '').join(' ');
  return said === '' ? 'The server gave no reason. Call again.' : `The server said: ${said}. Call again.`;
}
