/**
 * How much a call may hold, in bytes of JSON as they are written down for the worker that takes it up. All that is allowed here is saved: the
 * sum of all bounds is below that of the record (shared/protocol/call-record.ts).
 */

/** Calls of tools and their results within one answer, and those that wait for the next one. */
export const mostToolBytes = 192 * 1024;
/** Edits of the conversation that wait; the prompt in force has 64 KiB beside them. */
export const mostEditBytes = 128 * 1024;
/** What the transitions of a flow have collected. */
export const mostFlowBytes = 64 * 1024;
/** What is written in one answer: half an hour of speech, and no model that is in its right mind writes more. */
export const longestAnswerChars = 32_768;

/** What a value takes in the record. */
export const savedBytes = (value: unknown): number => Buffer.byteLength(JSON.stringify(value) ?? '');
