/** How much a tool server may say at a time: reading it takes time that all calls of a worker share. */

/** Bytes of one message, the list of tools included; the result that is kept of it is smaller still. */
export const mostMessageBytes = 262_144;
