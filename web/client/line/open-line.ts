/** Connects a call: by WebRTC where that is wanted and gets through, else by WebSocket. */
import type { VoiceCallOptions } from '../voice-call-options.ts';
import type { LineKind } from './line-kind.ts';
import type { Line, LineAudio, LineListener } from './line.ts';
import { PeerLine } from './peer-line.ts';
import { SocketLine } from './socket-line.ts';

export interface OpenLineOptions {
  readonly audio: LineAudio;
  readonly listener: LineListener;
  /** Fires when nobody wants the call any more. */
  readonly abandoned: AbortSignal;
}

export interface OpenedLine {
  readonly line: Line;
  readonly kind: LineKind;
  readonly token: string | undefined;
}

/** Rejects with what a giver of tokens throws, and when nobody wants the call any more. */
export async function openLine(options: VoiceCallOptions, wanted: OpenLineOptions): Promise<OpenedLine> {
  const { whip, url } = options;
  // Some browsers are set up without it.
  if (whip !== undefined && 'RTCPeerConnection' in window) {
    const token = await tokenOf(options, 'webrtc');
    const line = await PeerLine.open({ ...wanted, url: new URL(whip, location.href).href, token });
    if (line instanceof PeerLine) return { line, kind: 'webrtc', token };
    wanted.abandoned.throwIfAborted();
    // Refused or not reached: a call by WebSocket goes, or says in its own words why it does not.
    console.info('the service takes no call by WebRTC; this one goes by WebSocket');
  }
  const token = await tokenOf(options, 'websocket');
  return { line: new SocketLine(socketUrl(url), token, wanted.listener), kind: 'websocket', token };
}

async function tokenOf({ token }: VoiceCallOptions, kind: LineKind): Promise<string | undefined> {
  return typeof token === 'function' ? token(kind) : token;
}

/** The address of a call as a WebSocket one. */
export function socketUrl(given: string | URL): string {
  const url = new URL(given, location.href);
  url.protocol = url.protocol.replace(/^http/, 'ws');
  return url.href;
}
