/** What `svc-supervisor local` is told on its command line. Messages name the option and the rule. */
import { fail, ok, type Result } from '../../shared/base/result.ts';

export const LOCAL_USAGE = `usage: svc-supervisor local [options]      serve speech to text and text to speech on this machine

  --models DIR       folder with the models' folders (default: the folder of "models pull")
  --host HOST        address to listen on (127.0.0.1)
  --stt-port PORT    recogniser, sherpa-onnx's WebSocket protocol (6006)
  --tts-port PORT    voice, POST /v1/audio/speech, and GET /health (8880)
  --stt-model NAME   folder of the recogniser, where there are several
  --tts-model NAME   folder of the voice, where there are several
  --without stt|tts  serve the other one alone
  --threads N        threads of each engine (half the cores, at most 4)
  --max-streams N    connections to the recogniser at the same time (32)

Needs the package sherpa-onnx-node, which is installed separately (docs/local.md). Models: svc-supervisor models pull zipformer-en, and piper-ljspeech or kokoro-en.`;

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

const names = [
  '--models',
  '--host',
  '--stt-port',
  '--tts-port',
  '--stt-model',
  '--tts-model',
  '--without',
  '--threads',
  '--max-streams',
] as const;
type Name = (typeof names)[number];

const isName = (text: string): text is Name => names.some((name) => name === text);

class Wrong extends Error {}

function whole(
  text: string | undefined,
  fallback: number,
  rule: { name: Name; least: number; most: number },
): number {
  if (text === undefined) return fallback;
  const value = /^\d{1,6}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= rule.least && value <= rule.most) return value;
  throw new Wrong(`${rule.name}: must be a whole number from ${rule.least} to ${rule.most}`);
}

function split(args: readonly string[]): Map<Name, string> {
  const given = new Map<Name, string>();
  for (let at = 0; at < args.length; at += 2) {
    const [name = '', value] = [args[at], args[at + 1]];
    if (!isName(name)) throw new Wrong('unknown argument');
    if (value === undefined || value === '') throw new Wrong(`${name}: needs a value`);
    if (given.has(name)) throw new Wrong(`${name}: must be given once`);
    given.set(name, value);
  }
  return given;
}

/** Reads the arguments behind `local`. Port 0 is a free one. */
export function parseLocalArguments(
  args: readonly string[],
  facts: { readonly cores: number },
): Result<LocalArguments, string> {
  try {
    const given = split(args);
    const port = (name: Name, fallback: number): number =>
      whole(given.get(name), fallback, { name, least: 0, most: 65_535 });
    const without = given.get('--without');
    if (without !== undefined && without !== 'stt' && without !== 'tts')
      throw new Wrong('--without: must be stt or tts');
    return ok({
      models: given.get('--models'),
      host: given.get('--host') ?? '127.0.0.1',
      sttPort: port('--stt-port', 6006),
      ttsPort: port('--tts-port', 8880),
      sttModel: given.get('--stt-model'),
      ttsModel: given.get('--tts-model'),
      without,
      threads: whole(given.get('--threads'), Math.min(4, Math.max(1, facts.cores >> 1)), {
        name: '--threads',
        least: 1,
        most: 64,
      }),
      maxStreams: whole(given.get('--max-streams'), 32, { name: '--max-streams', least: 1, most: 1000 }),
    });
  } catch (error) {
    if (error instanceof Wrong) return fail(error.message);
    throw error;
  }
}
