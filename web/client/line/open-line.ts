/** Connects a call: by WebRTC where that is wanted and gets through, else by WebSocket. */
import { outcomeOfStatus, TokenRefused } from '../door.ts';
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

/** Rejects with {@link TokenRefused} where there is no token, or the service takes no call; and with what a giver of tokens throws. */
export async function openLine(options: VoiceCallOptions, wanted: OpenLineOptions): Promise<OpenedLine> {
  const { whip, url } = options;
  if (whip !== undefined) {
    const token = await tokenOf(options, 'webrtc');
    const line = await PeerLine.open({ ...wanted, url: new URL(whip, location.href).href, token });
    if (line instanceof PeerLine) return { line, kind: 'webrtc', token };
    const isRefused = line.kind === 'refused' && line.status !== 404 && line.status < 500;
    if (isRefused) throw new TokenRefused(outcomeOfStatus(line.status));
    console.info('the service is not reached by WebRTC; the call goes by WebSocket');
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
