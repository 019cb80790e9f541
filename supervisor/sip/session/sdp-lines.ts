/**
 * The lines of a session description as every device should have written them. What real ones do otherwise and can mean one thing only is
 * put right here: blanks at the ends of lines and around their parts, line feeds alone, letters of the wrong case. Pure.
 */

/** Lines in their plain form; a line without a type is left out. */
export function sdpLines(text: string): string[] {
  return text.split(/\r\n|\r|\n/).flatMap((raw) => {
    const [, type, value = ''] = /^[\s\0\uFEFF]*([a-z])[ \t]*=(.*)$/i.exec(raw) ?? [];
    return type === undefined ? [] : [plainLine(type.toLowerCase(), tidied(value))];
  });
}

const tidied = (value: string): string => value.replaceAll(/[\s\0]+/g, ' ').trim();

function plainLine(type: string, value: string): string {
  if (type === 'a') return `a=${plainAttribute(value)}`;
  // The family's name, and the lifetime of packets behind an address of a group (RFC 4566, 5.7).
  if (type === 'c') return `c=${value.replace(/^in ip(?=\d)/i, 'IN IP').replace(/\/.*$/, '')}`;
  return `${type}=${value}`;
}

function plainAttribute(value: string): string {
  const colon = value.indexOf(':');
  if (colon < 0) return value.toLowerCase();
  const name = value.slice(0, colon).trimEnd().toLowerCase();
  const rest = value.slice(colon + 1).trimStart();
  return `${name}:${name === 'rtpmap' ? rest.replaceAll(/ ?\/ ?/g, '/') : rest}`;
}

/** What an `m=` line says. */
export interface MediaLine {
  readonly type: string;
  readonly port: number;
  readonly protocol: string;
  readonly payloads: readonly string[];
}

export const mediaLines = (lines: readonly string[]): MediaLine[] =>
  lines
    .filter((line) => line.startsWith('m='))
    .map((line) => {
      const [type = '', port = '', protocol = '', ...payloads] = line.slice(2).split(' ');
      // `4000/2`: two ports for layers of one stream, of which the first is its base.
      return {
        type: type.toLowerCase(),
        port: Number(/^(\d{1,5})(?:\/|$)/.exec(port)?.[1] ?? 0),
        protocol,
        payloads,
      };
    });
