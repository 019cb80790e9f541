/** Values of the core as JSON and back, the same to the last bit: JSON knows neither infinity nor what is not a number. Pure. */

import { parseJson, writeJson } from '../../shared/base/exact-json.ts';

const numberKey = '$number';

/** @throws TypeError for what JSON cannot say otherwise. */
export function writePlain(value: unknown): string {
  return writeJson(value, (_, inner) =>
    typeof inner === 'number' && !Number.isFinite(inner) ? { [numberKey]: String(inner) } : inner,
  );
}

export function readPlain(text: string): unknown {
  return parseJson(text, (_, inner) => {
    if (typeof inner !== 'object' || inner === null || !(numberKey in inner)) return inner;
    const written: unknown = inner[numberKey];
    return Object.keys(inner).length === 1 && typeof written === 'string' ? Number(written) : inner;
  });
}
