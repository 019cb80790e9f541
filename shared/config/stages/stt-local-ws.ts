/** Options of `stt_local_ws`, a streaming recogniser on this machine or network (spec 03, Options tables). */
import { z } from 'zod';
import { SAMPLE_RATES } from '../../audio/resampler.ts';
import { camelKeys } from '../camel.ts';
import type { CamelKeys } from '../camel.ts';
import type { KeyPath, ProblemList } from '../problem.ts';
import { readEndpoint } from './endpoint.ts';

export const sttLocalWsKeys = z.strictObject({
  base_url: z.string().default('ws://127.0.0.1:6006').meta({
    description: 'Address of the server, ws://host[:port] or wss://host[:port], without a path.',
  }),
  path: z
    .string()
    .max(1024)
    .regex(/^\/(?!\/)[^\s#]*$/, 'must start with one / and hold neither spaces nor #')
    .default('/')
    .meta({ description: 'Path of the WebSocket on that server.' }),
  sample_rate: z
    .literal([...SAMPLE_RATES])
    .default(16_000)
    .meta({
      description: 'Rate the model of the server was trained for; the audio is resampled to it.',
      unit: 'Hz',
    }),
  finalize_timeout_ms: z.int().min(100).max(10_000).default(1500).meta({
    description: 'Longest wait for the last words after the end of a turn.',
  }),
  finalize_padding_ms: z.int().min(0).max(5000).default(300).meta({
    description:
      'Silence sent before the end of an utterance is announced; 0 for a server that pads by itself.',
  }),
});

export type SttLocalWsOptions = CamelKeys<z.output<typeof sttLocalWsKeys>>;

/** Applies the rules between keys and gives the options in the form that the adapter takes. */
export function resolveSttLocalWs(
  keys: Partial<z.output<typeof sttLocalWsKeys>>,
  site: { readonly at: KeyPath; readonly problems: ProblemList; readonly hasKey: boolean },
): { readonly baseUrl?: string } {
  if (keys.base_url === undefined) return {};
  const at = [...site.at, 'base_url'];
  const endpoint = readEndpoint(keys.base_url, { family: 'ws', path: 'none', plain: 'any-host' });
  if (!endpoint.ok) {
    site.problems.error(at, endpoint.error);
    return {};
  }
  const { isEncrypted, isLoopback, text } = endpoint.value;
  if (site.hasKey && !isEncrypted && !isLoopback) {
    site.problems.error(
      at,
      'must be a wss:// address or lead to a loopback host, because stt.api_key_env is set',
    );
  }
  return { baseUrl: text };
}

export const sttLocalWsOptions = (
  keys: z.output<typeof sttLocalWsKeys>,
  baseUrl: string,
): SttLocalWsOptions => ({ ...camelKeys(keys), baseUrl });
