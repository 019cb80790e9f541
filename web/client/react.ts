/**
 * A call as a hook for React.
 *
 * Invariant: a component has at most one call at a time, and the call ends with the component. Nothing starts by itself: browsers want a click
 * before there is sound.
 */
import { useEffect, useRef, useState } from 'react';
import { CallFailed, VoiceCall } from './index.ts';
import type { CallOutcome, CallState, ConversationLine, VoiceCallOptions } from './index.ts';

/** What a component shows of a call. */
export interface VoiceCallView {
  readonly state: CallState;
  /** What has been said, as far as the service tells. */
  readonly lines: readonly ConversationLine[];
  /** How the last call ended. */
  readonly outcome: CallOutcome | undefined;
  /** The browser wants a click or a key press before there can be sound. */
  readonly needsGesture: boolean;
  readonly muted: boolean;
}

export interface VoiceCallHook extends VoiceCallView {
  /** The call itself, for all that has no field here; undefined before the first one. */
  readonly call: VoiceCall | undefined;
  /** Begins a call, from a click or a key press; does nothing while one runs. How it went is told by `state` and `outcome`. */
  readonly start: () => void;
  readonly hangUp: () => void;
  readonly setMuted: (muted: boolean) => void;
}

const before: VoiceCallView = {
  state: 'idle',
  lines: [],
  outcome: undefined,
  needsGesture: false,
  muted: false,
};

/** Lines change in place; a component compares what it was given. */
const viewOf = (call: VoiceCall, needsGesture: boolean): VoiceCallView => ({
  state: call.state,
  lines: call.conversation.lines.map((line) => ({ ...line })),
  outcome: call.outcome,
  needsGesture: needsGesture && call.state === 'connecting',
  muted: call.muted,
});

/** A call by `options`, which are read when it starts. */
export function useVoiceCall(options: VoiceCallOptions): VoiceCallHook {
  const [view, setView] = useState(before);
  const running = useRef<VoiceCall>(undefined);

  useEffect(() => () => running.current?.hangUp(), []);

  const show = (call: VoiceCall, needsGesture = false): void => {
    if (running.current === call) setView(viewOf(call, needsGesture));
  };
  const start = (): void => {
    if (running.current !== undefined && running.current.state !== 'ended') return;
    const call = new VoiceCall(options);
    running.current = call;
    for (const event of ['state', 'conversation', 'ended'] as const) call.on(event, () => show(call));
    call.on('gesture-needed', () => show(call, true));
    show(call);
    call.start().catch((error: unknown) => {
      // Shown from `outcome`, as the end of any call.
      if (!(error instanceof CallFailed)) throw error;
    });
  };
  const hangUp = (): void => running.current?.hangUp();
  const setMuted = (muted: boolean): void => {
    if (running.current === undefined) return;
    running.current.muted = muted;
    show(running.current);
  };
  return { ...view, call: running.current, start, hangUp, setMuted };
}
