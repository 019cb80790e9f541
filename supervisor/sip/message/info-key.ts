/**
 * The key that an INFO tells of. There is no standard: `Signal=5` (`application/dtmf-relay`), the key alone (`application/dtmf`), `d=5`
 * (Nortel and others), in whichever of these types, and numbers of RFC 4733 where others write a letter. Pure.
 */
import type { SipRequest } from './message.ts';
import { wordOf } from './fields.ts';

export const infoKeyTypes = [
  'application/dtmf-relay',
  'application/dtmf',
  'audio/telephone-event',
  'application/vnd.nortelnetworks.digits',
] as const;

const names: Readonly<Record<string, string>> = {
  STAR: '*',
  ASTERISK: '*',
  HASH: '#',
  POUND: '#',
  10: '*',
  11: '#',
  12: 'A',
  13: 'B',
  14: 'C',
  15: 'D',
};

/** Empty where nothing is said of a key. Undefined: something is said, and cannot be read. */
export function infoKey(request: SipRequest): string | undefined {
  const type = wordOf(request, 'content-type');
  const isKeys = infoKeyTypes.some((known) => known === type);
  const text = request.body.toString('latin1').replaceAll('\0', '').trim();
  if (text === '' && !isKeys) return '';
  if (type !== undefined && !isKeys) return undefined;
  const [, named] = /^[ \t]*(?:signal|digit|event|d)[ \t]*[=:][ \t]*([^\s;,]+)/im.exec(text) ?? [];
  const [line = ''] = text.split(/[\r\n]/, 1);
  const value = (named ?? line.trimEnd()).replaceAll(/^"|"$/g, '').toUpperCase();
  const key = names[value] ?? value;
  return /^[0-9A-D*#]$/.test(key) ? key : undefined;
}
