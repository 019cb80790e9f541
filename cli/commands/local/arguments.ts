/** What `svc-supervisor local` is told on its command line. Messages name the option and the rule. */
import { fail, ok, type Result } from '../../../shared/base/result.ts';
import { readArguments } from '../commands.ts';

export interface LocalArguments {
  readonly models: string | undefined;
  readonly host: string;
  readonly sttPort: number;
  readonly ttsPort: number;
  readonly sttModel: string | undefined;
  readonly ttsModel: string | undefined;
  readonly without: 'stt' | 'tts' | undefined;
  readonly threads: number;
  readonly maxStreams: number;
}

class Wrong extends Error {}

function whole(
  text: string | undefined,
  fallback: number,
  rule: { name: string; least: number; most: number },
): number {
  if (text === undefined) return fallback;
  const value = /^\d{1,6}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= rule.least && value <= rule.most) return value;
  throw new Wrong(`${rule.name}: must be a whole number from ${rule.least} to ${rule.most}`);
}

/** Reads the arguments behind `local`. Port 0 is a free one. */
export function parseLocalArguments(
  args: readonly string[],
  facts: { readonly cores: number },
): Result<LocalArguments, string> {
  const parsed = readArguments('local', args);
  if (!parsed.ok) return parsed;
  const { values } = parsed.value;
  try {
    const port = (name: 'stt-port' | 'tts-port', fallback: number): number =>
      whole(values[name], fallback, { name: `--${name}`, least: 0, most: 65_535 });
    const { without } = values;
    if (without !== undefined && without !== 'stt' && without !== 'tts')
      throw new Wrong('--without: must be stt or tts');
    return ok({
      models: values.models,
      host: values.host ?? '127.0.0.1',
      sttPort: port('stt-port', 6006),
      ttsPort: port('tts-port', 8880),
      sttModel: values['stt-model'],
      ttsModel: values['tts-model'],
      without,
      threads: whole(values.threads, Math.min(4, Math.max(1, facts.cores >> 1)), {
        name: '--threads',
        least: 1,
        most: 64,
      }),
      maxStreams: whole(values['max-streams'], 32, { name: '--max-streams', least: 1, most: 1000 }),
    });
  } catch (error) {
    if (error instanceof Wrong) return fail(error.message);
    throw error;
  }
}
