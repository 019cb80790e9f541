/**
 * The line of one call by WebRTC. When its connection breaks, because the network has changed or the service has lost the process
 * that had the call, it makes another one by the URL of the session, and the same conversation goes on.
 *
 * Invariant: `closed` is told once, and nothing after it or after `close`. The call sees one line, whatever carries it.
 */
import type { ClientMessage } from '../wire.ts';
import type { Line, LineAudio, LineListener } from './line.ts';
import { type LinkAnswer, type LinkListener, PeerLink } from './peer-link.ts';

/** For the first connection; a service that is not reached by then is called by WebSocket. */
const CONNECT_MS = 5_000;
const COME_BACK_MS = 2_500;
/** The service keeps a call that has lost its process for half a minute. */
const GIVE_UP_MS = 25_000;
const PAUSE_MS = 250;
/** A call does not wait longer to hear of relays, which few networks need. */
const RELAYS_MS = 1_000;
const ABNORMAL = 1006;

export interface PeerLineOptions {
  /** Where offers are taken. */
  readonly url: string;
  readonly token: string | undefined;
  readonly audio: LineAudio;
  readonly listener: LineListener;
  readonly abandoned: AbortSignal;
}

export class PeerLine implements Line {
  readonly #options: PeerLineOptions;
  #listener: LineListener | undefined;
  #link: PeerLink | undefined;
  #session = '';
  /** Said again on each connection, whose answer the call has had already. */
  #start: string | undefined;
  #isRepeated = false;

  private constructor(options: PeerLineOptions) {
    this.#options = options;
    this.#listener = options.listener;
  }

  /** A line that is open, or why there is none: the status of the refusal, or that the service is not reached this way. */
  static async open(options: PeerLineOptions): Promise<PeerLine | Exclude<LinkAnswer, { kind: 'open' }>> {
    const line = new PeerLine(options);
    const answer = await line.#connect(options.url, CONNECT_MS);
    if (answer.kind === 'unreachable' && answer.session !== undefined) line.#giveUp(answer.session);
    if (answer.kind !== 'open') return answer;
    options.audio.onMicrophone((track) => line.#link?.useMicrophone(track));
    return line;
  }

  /** The service waits for a connection that cannot come. */
  #giveUp(session: string): void {
    const { token } = this.#options;
    const headers = token === undefined ? {} : { Authorization: `Bearer ${token}` };
    fetch(session, { method: 'DELETE', headers }).catch((error: unknown) => {
      console.debug('the service does not hear that the call is given up', error);
    });
  }

  begin(): void {
    this.#listener?.opened();
  }

  send(message: ClientMessage): boolean {
    const json = JSON.stringify(message);
    if (message.type === 'start') this.#start = json;
    return this.#link?.send(json) ?? false;
  }

  /** The connection carries the microphone itself. */
  sendAudio(): boolean {
    return false;
  }

  close(): void {
    this.#listener = undefined;
    this.#options.audio.onMicrophone(undefined);
    this.#link?.close();
  }

  async #connect(url: string, withinMs: number): Promise<LinkAnswer> {
    const { audio, token, abandoned } = this.#options;
    const heard: MediaStream[] = [];
    const told: LinkListener = {
      received: (json) => this.#received(json),
      heard: (stream) => heard.push(stream),
      broken: () => void this.#comeBack(),
      lost: (packets) => this.#listener?.lost(packets),
    };
    const iceServers = await this.#relays();
    const link = new PeerLink(audio.microphone, { listener: told, iceServers });
    const answer = await link.offer(url, { token, withinMs });
    if (answer.kind !== 'open' || this.#listener === undefined || abandoned.aborted) {
      link.close();
      return answer.kind === 'open' ? { kind: 'unreachable' } : answer;
    }
    // Only now: the service takes the end of the connection before this one for the end of the call, as long as it has no other.
    this.#link?.close();
    this.#link = link;
    this.#session = answer.session;
    for (const stream of heard) audio.playStream(stream);
    return answer;
  }

  /** Relays for networks that let the caller reach nothing else; none where the service has none, or does not answer. */
  async #relays(): Promise<RTCIceServer[]> {
    const { url, token } = this.#options;
    try {
      const response = await fetch(`${url}/ice`, {
        headers: token === undefined ? {} : { Authorization: `Bearer ${token}` },
        cache: 'no-store',
        signal: AbortSignal.timeout(RELAYS_MS),
      });
      const { iceServers } = (await response.json()) as { readonly iceServers?: RTCIceServer[] };
      return iceServers ?? [];
    } catch (error) {
      console.debug('the service tells no relays', error);
      return [];
    }
  }

  async #comeBack(): Promise<void> {
    this.#listener?.moving(true);
    for (const since = performance.now(); performance.now() - since < GIVE_UP_MS;) {
      const answer = await this.#connect(this.#session, COME_BACK_MS);
      if (this.#listener === undefined) return;
      if (answer.kind === 'open') {
        this.#goOn();
        return;
      }
      // The call is over, or may not be gone on with.
      if (answer.kind === 'refused' && [401, 403, 404].includes(answer.status)) break;
      await new Promise((resolve) => window.setTimeout(resolve, PAUSE_MS));
    }
    const listener = this.#listener;
    this.close();
    listener?.closed(ABNORMAL);
  }

  #goOn(): void {
    this.#listener?.moving(false);
    if (this.#start === undefined) return;
    this.#isRepeated = true;
    this.#link?.send(this.#start);
  }

  #received(json: string): void {
    if (this.#isRepeated && json.startsWith('{"type":"started"')) {
      this.#isRepeated = false;
      return;
    }
    this.#listener?.received(json);
  }
}
