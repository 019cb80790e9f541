/**
 * SIP messages as they are worked with (RFC 3261, 7): names of headers in lower case and in their long form, values unfolded and
 * otherwise as they came, so that what has to be sent back is sent back byte for byte. Text is latin1 throughout for the same reason. Pure.
 */

export interface SipHeader {
  /** Lower case, long form. */
  readonly name: string;
  readonly value: string;
}

interface Common {
  readonly headers: readonly SipHeader[];
  readonly body: Buffer;
}

export interface SipRequest extends Common {
  readonly kind: 'request';
  readonly method: string;
  readonly uri: string;
}

export interface SipResponse extends Common {
  readonly kind: 'response';
  readonly status: number;
  readonly reason: string;
}

export type SipMessage = SipRequest | SipResponse;

/** The first value of a header. */
export const headerOf = (message: Common, name: string): string | undefined =>
  message.headers.find((header) => header.name === name)?.value;

/** All values of a header that is a list: several lines, or commas within one. */
export const listOf = (message: Common, name: string): readonly string[] =>
  message.headers.filter((header) => header.name === name).flatMap(({ value }) => splitList(value));

/** Whether an option tag or a word stands in a list, whatever its case. */
export const lists = (message: Common, name: string, word: string): boolean =>
  listOf(message, name).some((value) => value.toLowerCase() === word);

/** Cuts at a separator that stands outside quotes and angle brackets. */
function cutOutside(text: string, separator: ',' | ';'): string[] {
  const parts: string[] = [];
  let from = 0;
  let isQuoted = false;
  let isBracketed = false;
  for (let i = 0; i < text.length; i += 1) {
    const char = text[i];
    if (isQuoted) {
      if (char === '\\') i += 1;
      else if (char === '"') isQuoted = false;
    } else if (char === '"' && !isBracketed) isQuoted = true;
    else if (char === '<') isBracketed = true;
    else if (char === '>') isBracketed = false;
    else if (char === separator && !isBracketed) {
      parts.push(text.slice(from, i).trim());
      from = i + 1;
    }
  }
  parts.push(text.slice(from).trim());
  return parts;
}

const splitList = (value: string): string[] => cutOutside(value, ',').filter((part) => part !== '');

/** The parts between semicolons. */
export const splitParams = (value: string): string[] => cutOutside(value, ';');

/** Whether every quoted string and angle bracket is closed. */
export function isBalanced(value: string): boolean {
  let isQuoted = false;
  let isBracketed = false;
  for (let i = 0; i < value.length; i += 1) {
    const char = value[i];
    if (isQuoted) {
      if (char === '\\') i += 1;
      else if (char === '"') isQuoted = false;
    } else if (char === '"' && !isBracketed) isQuoted = true;
    else if (char === '<') {
      if (isBracketed) return false;
      isBracketed = true;
    } else if (char === '>') {
      if (!isBracketed) return false;
      isBracketed = false;
    }
  }
  return !isQuoted && !isBracketed;
}
