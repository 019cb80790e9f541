/** What the program of a caller and the agent process tell each other beside the conversation, through transports that can carry it. */

/** Something that the program of a caller tells the agent process, beside the conversation. */
export interface MessageToAgent {
  readonly name: string;
  /** Comes back with an answer; empty: none is expected. */
  readonly id: string;
  /** Any JSON. */
  readonly data: unknown;
}

/** What the agent process tells the program of a caller. */
export interface MessageToClient {
  readonly data: unknown;
  /** Id and name of the message that this answers; absent: it answers none. */
  readonly answers?: { readonly id: string; readonly name: string };
}
