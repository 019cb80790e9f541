/** What a caller says and does while the agent of the call is being equipped, in order and within bounds; then it is told as if it came now. */
import type { TransportEvents } from '../../transports/transport.ts';

type Hearer = Pick<TransportEvents, 'audio' | 'dtmf' | 'typed'>;

/** More than ten seconds of frames; of more, the first ones. */
const most = 640;

export class EarlyEvents {
  readonly #events: ((call: Hearer) => void)[] = [];

  /** The bytes belong to the transport. */
  audio(bytes: Uint8Array): void {
    const kept = Buffer.from(bytes);
    this.add((call) => void call.audio(kept));
  }

  add(event: (call: Hearer) => void): void {
    if (this.#events.length < most) this.#events.push(event);
  }

  tell(call: Hearer): void {
    for (const event of this.#events.splice(0)) event(call);
  }
}
