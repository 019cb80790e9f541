/**
 * The calls that a TCP connection can name by its first packet, a STUN request: who knows the password of a call's ICE session belongs to
 * the call (RFC 8445, 7.3; RFC 6544).
 *
 * Invariant: a call is known from its answer to its end, under the names of its last two answers, because a client that makes another
 * connection still has the one before.
 */
import { hasIntegrity, readStun, stunAttribute, stunType } from '../../../shared/webrtc/stun.ts';

interface Named {
  readonly call: number;
  readonly pwd: string;
}

const mostNames = 2;

export class CallNames {
  readonly #byUfrag = new Map<string, Named>();
  readonly #ufrags = new Map<number, string[]>();

  get size(): number {
    return this.#byUfrag.size;
  }

  /** Remembers what the answer of a call says of its ICE session. */
  add(call: number, answer: string): void {
    const ufrag = /^a=ice-ufrag:(\S+)\r?$/m.exec(answer)?.[1];
    const pwd = /^a=ice-pwd:(\S+)\r?$/m.exec(answer)?.[1];
    if (ufrag === undefined || pwd === undefined) return;
    const ufrags = [...(this.#ufrags.get(call) ?? []), ufrag];
    for (const old of ufrags.splice(0, ufrags.length - mostNames)) this.#byUfrag.delete(old);
    this.#ufrags.set(call, ufrags);
    this.#byUfrag.set(ufrag, { call, pwd });
  }

  forget(call: number): void {
    for (const ufrag of this.#ufrags.get(call) ?? []) this.#byUfrag.delete(ufrag);
    this.#ufrags.delete(call);
  }

  /** The call that a packet names and proves to know; undefined for any other. */
  judge(packet: Buffer): number | undefined {
    const message = readStun(packet);
    if (message?.type !== stunType.bindingRequest) return undefined;
    const username = message.attributes.get(stunAttribute.username);
    if (username === undefined || username.length > 513) return undefined;
    const named = this.#byUfrag.get(username.toString('utf8').split(':')[0] ?? '');
    return named !== undefined && hasIntegrity(message, named.pwd) ? named.call : undefined;
  }
}
