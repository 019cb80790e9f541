/** How much a tool server may say at a time: reading it takes time that all calls of a worker share. */

/** Bytes of one message, the list of tools included; the result that is kept of it is smaller still. */
export const mostMessageBytes = 262_144;

/** Code of the error that stands in for an answer over that bound, so that its request ends at once and people learn why. */
export const tooLarge = -32_099;

export const largeAnswer = (id: number): string =>
  JSON.stringify({ jsonrpc: '2.0', id, error: { code: tooLarge, message: 'the answer is too large' } });
