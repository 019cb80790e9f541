/**
 * Whose packets are heard where a client may change its source (RFC 3550, 8.2: a collision; a gateway or a mixer that gives a call to
 * another sender). One source is one line of numbers and timestamps: two of them are never mixed. Pure.
 */

/** So many packets in a row prove another source (RFC 3550, A.1), while the one that is heard is silent. */
const inARow = 2;

export class HeardSource {
  #heard: number | undefined;
  #other: number | undefined;
  #others = 0;

  /** `new`: it is heard from this packet on, in place of the one before. `other`: it is not heard. */
  take(ssrc: number): 'heard' | 'new' | 'other' {
    if (ssrc === this.#heard || this.#heard === undefined) {
      this.#heard = ssrc;
      this.#others = 0;
      return 'heard';
    }
    this.#others = ssrc === this.#other ? this.#others + 1 : 1;
    this.#other = ssrc;
    if (this.#others < inARow) return 'other';
    this.#heard = ssrc;
    this.#others = 0;
    return 'new';
  }
}
