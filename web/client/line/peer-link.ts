/**
 * One WebRTC connection to the service: the microphone, the agent's voice, and the data channel. It is offered once, by a POST, and
 * watched: a service that is there sends something at least every half second, and says when it has lost the process that had the call.
 *
 * Invariant: after `close` nobody is told anything.
 */

/**
 * Waits at a session URL for the word that the call has lost the process that had it. The service knows that at once; a client that
 * is told nothing notices the silence of the line almost a second later.
 */
const WAIT_S = 25;
/** A service that answers sooner does not know how to wait. */
const SOON_MS = 5_000;

async function pollForLoss(
  session: string,
  { token, signal, lost }: { token: string | undefined; signal: AbortSignal; lost: () => void },
): Promise<void> {
  const headers = {
    Prefer: `wait=${WAIT_S}`,
    ...(token !== undefined && { Authorization: `Bearer ${token}` }),
  };
  try {
    for (let askedAt = -SOON_MS; performance.now() - askedAt >= SOON_MS;) {
      askedAt = performance.now();
      const { status } = await fetch(session, { headers, cache: 'no-store', signal });
      if (status === 200) lost();
      if (status !== 204) return;
    }
  } catch (error) {
    if (!signal.aborted)
      console.debug('the service does not tell when the call has to be gone on with', error);
  }
}

export interface LinkListener {
  received(json: string): void;
  heard(stream: MediaStream): void;
  /** Nothing comes any more; told once. */
  broken(): void;
  lost(packets: number): void;
}

/** What the service said to an offer. */
export type LinkAnswer =
  | { readonly kind: 'open'; readonly session: string }
  | { readonly kind: 'refused'; readonly status: number }
  /** No answer, or none that leads to a connection; `session` is to be ended where there is one. */
  | { readonly kind: 'unreachable'; readonly session?: string };

const CHANNEL = 'svc';
const WATCH_MS = 100;
/** The service is quieter than this only when it is gone, or the network is; a call that moved without need loses nothing. */
const SILENT_MS = 800;
/** Candidates of the own host are there at once; the service does not use them, so nobody waits for others. */
const GATHER_MS = 250;

/**
 * The URL of a session, from what the service calls it. The service does not know the folder in which a proxy has it, and leaves that out
 * of the path, so the folder is taken from the URL that was asked.
 */
export function sessionAt(location: string, asked: string): string {
  const { pathname } = new URL(asked);
  for (let at = 0; at >= 0; at = pathname.indexOf('/', at + 1)) {
    const known = pathname.slice(at);
    if (known !== '/' && location.startsWith(known))
      return new URL(pathname.slice(0, at) + location, asked).href;
  }
  return new URL(location, asked).href;
}

export class PeerLink {
  readonly #connection: RTCPeerConnection;
  readonly #channel: RTCDataChannel;
  readonly #sender: RTCRtpSender;
  #listener: LinkListener | undefined;
  readonly #lossPoll = new AbortController();
  #watch: number | undefined;
  #packets = -1;
  #packetsAt = 0;

  constructor(
    microphone: MediaStreamTrack,
    { listener, iceServers }: { readonly listener: LinkListener; readonly iceServers: RTCIceServer[] },
  ) {
    this.#listener = listener;
    const connection = new RTCPeerConnection({ iceServers });
    this.#connection = connection;
    this.#sender = connection.addTransceiver(microphone, { direction: 'sendrecv' }).sender;
    this.#channel = connection.createDataChannel(CHANNEL);
    this.#channel.onmessage = (event: MessageEvent<unknown>) => {
      if (typeof event.data === 'string') this.#listener?.received(event.data);
    };
    connection.ontrack = ({ track }) => this.#listener?.heard(new MediaStream([track]));
  }

  /** Offers the connection at `url` and resolves when it stands, or cannot within `withinMs`. */
  async offer(
    url: string,
    { token, withinMs }: { readonly token: string | undefined; readonly withinMs: number },
  ): Promise<LinkAnswer> {
    const until = performance.now() + withinMs;
    try {
      await this.#connection.setLocalDescription(await this.#connection.createOffer());
      await this.#gathered();
      const response = await fetch(url, {
        method: 'POST',
        headers: {
          'Content-Type': 'application/sdp',
          ...(token !== undefined && { Authorization: `Bearer ${token}` }),
        },
        body: this.#connection.localDescription?.sdp ?? '',
        cache: 'no-store',
        signal: AbortSignal.timeout(withinMs),
      });
      if (response.status !== 201) return { kind: 'refused', status: response.status };
      const session = sessionAt(response.headers.get('Location') ?? '', response.url);
      await this.#connection.setRemoteDescription({ type: 'answer', sdp: await response.text() });
      if (!(await this.#opened(until - performance.now()))) return { kind: 'unreachable', session };
      this.#watchOver(session, token);
      return { kind: 'open', session };
    } catch (error) {
      console.debug('the connection could not be made', error);
      return { kind: 'unreachable' };
    }
  }

  /** False when there is no channel. */
  send(json: string): boolean {
    if (this.#channel.readyState !== 'open') return false;
    this.#channel.send(json);
    return true;
  }

  useMicrophone(track: MediaStreamTrack): void {
    void this.#sender.replaceTrack(track);
  }

  close(): void {
    this.#listener = undefined;
    this.#rest();
    this.#connection.close();
  }

  #gathered(): Promise<void> {
    return new Promise((resolve) => {
      const look = (): void => {
        if (this.#connection.iceGatheringState === 'complete') resolve();
      };
      this.#connection.onicegatheringstatechange = look;
      window.setTimeout(resolve, GATHER_MS);
      look();
    });
  }

  #opened(withinMs: number): Promise<boolean> {
    return new Promise((resolve) => {
      if (this.#channel.readyState === 'open') resolve(true);
      this.#channel.onopen = () => resolve(true);
      this.#channel.onclose = () => resolve(false);
      window.setTimeout(() => resolve(false), withinMs);
    });
  }

  #watchOver(session: string, token: string | undefined): void {
    const { signal } = this.#lossPoll;
    void pollForLoss(session, { token, signal, lost: () => this.#break() });
    this.#packetsAt = performance.now();
    this.#channel.onclose = () => this.#break();
    this.#connection.onconnectionstatechange = () => {
      const { connectionState } = this.#connection;
      if (connectionState === 'failed' || connectionState === 'disconnected') this.#break();
    };
    this.#watch = window.setInterval(() => void this.#look(), WATCH_MS);
  }

  async #look(): Promise<void> {
    for (const report of (await this.#connection.getStats()).values()) {
      const { type, packetsReceived, packetsLost } = report as {
        type: string;
        packetsReceived?: number;
        packetsLost?: number;
      };
      if (type !== 'inbound-rtp' || packetsReceived === undefined) continue;
      this.#listener?.lost(Math.max(0, packetsLost ?? 0));
      if (packetsReceived === this.#packets) continue;
      this.#packets = packetsReceived;
      this.#packetsAt = performance.now();
    }
    if (performance.now() - this.#packetsAt > SILENT_MS) this.#break();
  }

  #rest(): void {
    window.clearInterval(this.#watch);
    this.#lossPoll.abort();
  }

  #break(): void {
    const listener = this.#listener;
    this.#listener = undefined;
    this.#rest();
    listener?.broken();
  }
}
