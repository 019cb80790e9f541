/** A link without its socket: what the machinery of calls needs of one. */
export interface Connection {
  /** Sends one text frame; does nothing once the link is closed. */
  send(text: string): void;
  /** Closes the link with a code of `closeCodes`. */
  close(code: number, reason: string): void;
}

/** Who is told what arrives on a link. Nothing is told after `closed`. */
export interface ConnectionEvents {
  text(text: string): void;
  binary(): void;
  closed(): void;
}
