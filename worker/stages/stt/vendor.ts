/** What sets one streaming recogniser apart from the others, for the session that drives it. */
import type { StageContext } from '../stage.ts';
import type { Connection, SocketHandlers } from './socket.ts';
import type { SttWire } from './wire.ts';

/** What a vendor's session needs beside the call. Rates in Hz. */
export interface SttVendor {
  readonly sampleRate: number;
  /** Length of the frames in which audio is sent. */
  readonly frameMs: number;
  /** The last frame of an utterance is filled up with silence, for servers that refuse short ones. */
  readonly onlyWholeFrames?: boolean;
  readonly keepAliveMs: number;
  readonly finalizeTimeoutMs: number;
  /** How far audio may be ahead of real time, for servers that refuse more. */
  readonly burstMs?: number;
  /** Opens a connection; no handler is called before it returns. */
  dial(context: StageContext, on: SocketHandlers): Connection;
  newWire(): SttWire;
}
