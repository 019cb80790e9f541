/**
 * What the page and its two audio worklets tell each other. Types only.
 *
 * Positions count samples of the one audio clock that both worklets share.
 */
import type { CapturedFrame } from './capture-framer.ts';
import type { PlayoutEvent } from './playout-buffer.ts';

export type CaptureReport = CapturedFrame;

export type PlayoutOrder =
  | { readonly type: 'audio'; readonly samples: Float32Array<ArrayBuffer> }
  | { readonly type: 'mark'; readonly id: string }
  | { readonly type: 'clear' };

/** Sent about every 50 ms; `rms` (0 to 1) covers what was played since the last one. */
export interface PlayoutLevel {
  readonly type: 'level';
  readonly rms: number;
  readonly bufferedMs: number;
  readonly prebufferMs: number;
  readonly lateFrames: number;
}

export type PlayoutReport = PlayoutEvent | PlayoutLevel;
