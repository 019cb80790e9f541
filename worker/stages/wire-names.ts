/** Names of tools as Google's interfaces take them, which must not start with a digit or a hyphen, and back. Pure. */

export interface WireNames {
  toWire(name: string): string;
  fromWire(name: string): string;
}

export function wireNames(given: Iterable<string>): WireNames {
  const names = new Set(given);
  const wire = new Map<string, string>();
  const back = new Map<string, string>();
  for (const name of names) {
    if (/^[A-Za-z_]/.test(name)) continue;
    let changed = `_${name}`;
    while (names.has(changed) || back.has(changed)) changed = `_${changed}`;
    wire.set(name, changed);
    back.set(changed, name);
  }
  return { toWire: (name) => wire.get(name) ?? name, fromWire: (name) => back.get(name) ?? name };
}
