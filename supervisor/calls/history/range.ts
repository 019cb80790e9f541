/** The part of a recording that a request asks for by `Range` (RFC 9110, 14.1.2). Pure. */

export interface ByteRange {
  readonly from: number;
  /** Behind the last one. Not behind `from`: there is nothing of what was asked for. */
  readonly to: number;
}

/** Undefined where the whole is to be sent: several ranges at once, or a header of another form, count as none. */
export function readRange(header: string | undefined, size: number): ByteRange | undefined {
  const [, first = '', last = ''] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header ?? '') ?? [];
  if (first === '') return last === '' ? undefined : { from: Math.max(0, size - Number(last)), to: size };
  if (last !== '' && Number(last) < Number(first)) return undefined;
  return { from: Number(first), to: last === '' ? size : Math.min(size, Number(last) + 1) };
}
