/** How much a tool server may say at a time: reading it takes time that all calls of a worker share. */

/** Bytes of one message, the list of tools included; the result that is kept of it is smaller still. */
export const mostMessageBytes = 262_144;

/** Codes of errors that stand in for an answer, so that its request ends at once and people learn why: one over that bound. */
export const tooLarge = -32_099;
/** One whose stream ended before it. */
export const cutOff = -32_098;

const standIn = (id: number, code: number, message: string): string =>
  JSON.stringify({ jsonrpc: '2.0', id, error: { code, message } });

export const largeAnswer = (id: number): string => standIn(id, tooLarge, 'the answer is too large');
export const lostAnswer = (id: number): string => standIn(id, cutOff, 'the stream ended before the answer');
