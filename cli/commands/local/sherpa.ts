/**
 * The part of `sherpa-onnx-node` that is used here, with types, because the package has none. Users install it themselves, because
 * it has espeak-ng in it (GPL-3.0-or-later). It is native code: it is loaded in an engine process only, and a model that does
 * not fit ends that process.
 */
import { createRequire } from 'node:module';
import type { RecognizerFiles, VoiceFiles } from './messages.ts';

export interface OnlineStream {
  acceptWaveform(wave: { samples: Float32Array; sampleRate: number }): void;
  inputFinished(): void;
}

export interface OnlineRecognizer {
  createStream(): OnlineStream;
  isReady(stream: OnlineStream): boolean;
  decodeStreams(streams: readonly OnlineStream[]): void;
  isEndpoint(stream: OnlineStream): boolean;
  reset(stream: OnlineStream): void;
  getResult(stream: OnlineStream): unknown;
}

interface OfflineTts {
  readonly numSpeakers: number;
  readonly sampleRate: number;
  generate(request: { text: string; sid: number; speed: number }): {
    samples: Float32Array;
    sampleRate: number;
  };
}

export interface Sherpa {
  readonly OnlineRecognizer: new (config: object) => OnlineRecognizer;
  readonly OfflineTts: new (config: object) => OfflineTts;
}

const packageName = 'sherpa-onnx-node';

/** The version that is tested here, by the command for the folder of the service; nothing else is changed by it. */
export const sherpaInstall = `npm install --no-save ${packageName}@1.13.8`;
/** In the folder of an installed package npm would install everything that only developers need. */
export const sherpaBeside = sherpaInstall.replace('--no-save', '-g');

/** Whether the package is installed. */
export function hasSherpa(): boolean {
  try {
    createRequire(import.meta.url).resolve(packageName);
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error) return false;
    throw error;
  }
}

/** Throws when the package or its native part is missing. */
export function loadSherpa(): Sherpa {
  const loaded: unknown = createRequire(import.meta.url)(packageName);
  const has = (name: string): boolean =>
    typeof loaded === 'object' && loaded !== null && typeof Reflect.get(loaded, name) === 'function';
  if (!has('OnlineRecognizer') || !has('OfflineTts'))
    throw new Error(`${packageName} is of another version than this program knows`);
  return loaded as Sherpa;
}

/** Samples a second that streaming recognisers hear. */
export const recognizerRate = 16_000;

export function openRecognizer(
  sherpa: Sherpa,
  files: RecognizerFiles,
  options: { readonly threads: number },
): OnlineRecognizer {
  const model =
    files.kind === 'transducer'
      ? { transducer: { encoder: files.encoder, decoder: files.decoder, joiner: files.joiner } }
      : files.kind === 'nemo-ctc'
        ? { nemoCtc: { model: files.model } }
        : { zipformer2Ctc: { model: files.model } };
  return new sherpa.OnlineRecognizer({
    featConfig: { sampleRate: recognizerRate, featureDim: 80 },
    modelConfig: { ...model, tokens: files.tokens, numThreads: options.threads, provider: 'cpu', debug: 0 },
    decodingMethod: 'greedy_search',
    enableEndpoint: true,
    rule1MinTrailingSilence: 2.4,
    rule2MinTrailingSilence: 1.2,
    rule3MinUtteranceLength: 20,
  });
}

export function openVoice(
  sherpa: Sherpa,
  files: VoiceFiles,
  options: { readonly threads: number },
): OfflineTts {
  const { model, tokens } = files;
  const voice =
    files.kind === 'kokoro'
      ? {
          kokoro: {
            model,
            tokens,
            voices: files.voices,
            dataDir: files.dataDir,
            ...(files.lexicons.length > 0 && { lexicon: files.lexicons.join(',') }),
          },
        }
      : {
          vits: {
            model,
            tokens,
            ...(files.dataDir !== undefined && { dataDir: files.dataDir }),
            ...(files.lexicon !== undefined && { lexicon: files.lexicon }),
          },
        };
  return new sherpa.OfflineTts({
    model: { ...voice, numThreads: options.threads, provider: 'cpu', debug: 0 },
    maxNumSentences: 1,
  });
}
