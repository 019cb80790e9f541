/**
 * The connection of this page to one call. It comes back by itself where a worker was lost, and takes the call over again where it had it and the
 * agent still waits for that.
 */

export type Role = 'listen' | 'whisper' | 'take_over';
export type TakeoverState = 'agent' | 'coming' | 'operator' | 'away';

export interface Heard {
  readonly type: string;
  readonly text?: string;
  readonly final?: boolean;
}

type FromService =
  | { readonly type: 'ready'; readonly role: Role; readonly rate: number; readonly operator_rate: number }
  | { readonly type: 'event'; readonly at: number; readonly event: Heard }
  | {
      readonly type: 'takeover';
      readonly state: TakeoverState;
      readonly yours: boolean;
      readonly by?: string;
    }
  | { readonly type: 'answer'; readonly id?: string; readonly refused?: string }
  | { readonly type: 'lost'; readonly frames: number; readonly events: number }
  | { readonly type: 'ended' };

export interface LineEvents {
  ready(ready: Extract<FromService, { type: 'ready' }>): void;
  heard(event: Heard, atMs: number): void;
  takeover(takeover: Extract<FromService, { type: 'takeover' }>): void;
  answered(refused: string | undefined): void;
  lost(frames: number): void;
  sound(frame: ArrayBuffer): void;
  /** It is gone for good, and why. */
  closed(why: string): void;
  /** It is gone, and comes back. */
  away(): void;
}

const retryMs = 250;
const comeBackMs = 12_000;
const final: Readonly<Record<number, string>> = {
  4404: 'The call is over.',
  4429: 'Others listen to this call already, and there is no room for more.',
  4400: 'This page is older than the service: load it again.',
};

export class MonitorLine {
  readonly #url: string;
  readonly #token: string;
  readonly #events: LineEvents;
  #socket: WebSocket | undefined;
  #lostAt: number | undefined;
  #isClosed = false;
  #wasReady = false;
  #holds = false;
  #mayListen = false;

  constructor(call: string, { token, by, events }: { token: string; by: string; events: LineEvents }) {
    const path = `/live/calls/${encodeURIComponent(call)}/monitor?${new URLSearchParams({ by }).toString()}`;
    this.#url = new URL(path, location.href.replace(/^http/, 'ws')).href;
    this.#token = token;
    this.#events = events;
    this.#connect();
  }

  whisper(text: string): void {
    this.#send({ type: 'whisper', id: 'whisper', text });
  }

  takeOver(): void {
    this.#send({ type: 'take_over', id: 'take_over' });
  }

  handBack(note: string): void {
    this.#send({ type: 'hand_back', id: 'hand_back', note });
  }

  voice(pcm: Int16Array<ArrayBuffer>): void {
    if (this.#holds && this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(pcm);
  }

  close(): void {
    this.#isClosed = true;
    this.#socket?.close();
  }

  #send(message: object): void {
    if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify(message));
  }

  #connect(): void {
    const token = btoa(this.#token).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
    const socket = new WebSocket(this.#url, ['svc-monitor', `svc-monitor-token.${token}`]);
    socket.binaryType = 'arraybuffer';
    socket.onmessage = ({ data }: MessageEvent<ArrayBuffer | string>) => {
      if (this.#isClosed) return;
      if (typeof data === 'string') this.#take(JSON.parse(data) as FromService);
      else if (this.#mayListen) this.#events.sound(data);
    };
    socket.onclose = ({ code }) => this.#gone(code);
    this.#socket = socket;
  }

  #gone(code: number): void {
    if (this.#isClosed) return;
    this.#lostAt ??= performance.now();
    const isLate = performance.now() - this.#lostAt > comeBackMs;
    if (final[code] === undefined && this.#wasReady && !isLate) {
      this.#events.away();
      setTimeout(() => {
        if (!this.#isClosed) this.#connect();
      }, retryMs);
      return;
    }
    this.#isClosed = true;
    this.#events.closed(
      final[code] ??
        (this.#wasReady
          ? 'The connection is lost.'
          : 'The token is not one for listening, or the call is over.'),
    );
  }

  #take(message: FromService): void {
    switch (message.type) {
      case 'ready':
        this.#lostAt = undefined;
        this.#wasReady = true;
        this.#mayListen = true;
        this.#events.ready(message);
        return;
      case 'event':
        this.#events.heard(message.event, message.at);
        return;
      case 'takeover':
        this.#takeover(message);
        return;
      case 'answer':
        if (message.refused !== undefined && (message.id ?? 'take_over') === 'take_over') this.#holds = false;
        this.#events.answered(message.refused);
        return;
      case 'lost':
        this.#events.lost(message.frames);
        return;
      case 'ended':
        return;
    }
  }

  #takeover(message: Extract<FromService, { type: 'takeover' }>): void {
    // A worker that has just taken the call up tells that its operator is away: that is this page.
    if (message.state === 'away' && this.#holds && !message.yours) {
      this.#send({ type: 'take_over', at: 'once' });
      return;
    }
    this.#holds = message.yours && message.state !== 'agent';
    this.#events.takeover(message);
  }
}
