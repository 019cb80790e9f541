/**
 * The models that users fetch. Each file is pinned: another version is another row, and other bytes are refused. Sizes and
 * hashes are the ones that several independent public projects pin for the same address; docs/decisions/0022 says how they came here.
 */

export interface PinnedFile {
  /** Name below the folder of models; of an archive, the name it has until it is unpacked. */
  readonly file: string;
  readonly bytes: number;
  readonly sha256: string;
  /** Path below the source. */
  readonly path: string;
}

export interface ModelRow {
  readonly version: string;
  readonly licence: string;
  /** Where it comes from, without a slash at the end; a mirror can take its place. */
  readonly source: string;
  readonly files: readonly PinnedFile[];
  /** The one file is an archive of this folder, which lies in the folder of models once it is unpacked. */
  readonly unpacksTo?: string;
  readonly use: string;
}

/** It names a commit, so that what it leads to does not change. */
const zipformer =
  'csukuangfj/sherpa-onnx-streaming-zipformer-en-2023-06-26/resolve/672fbf1b30579d6585301139bb363f42a0ad4a24';
const zipformerVariant = 'epoch-99-avg-1-chunk-16-left-128.int8.onnx';
const voiceArchives = 'k2-fsa/sherpa-onnx/releases/download/tts-models';

export const models = {
  'smart-turn': {
    version: '3.2',
    licence: 'BSD-2-Clause',
    source: 'https://huggingface.co',
    files: [
      {
        file: 'smart-turn-v3.2-cpu.onnx',
        bytes: 8_679_182,
        sha256: '2bb026316b14a660486a75b1733cd3fbab8c2fd0314dc9af7be49f8cca967e4f',
        path: 'pipecat-ai/smart-turn-v3/resolve/f766f81d3cfdf7737ac64aad813d91bbfd56bf93/smart-turn-v3.2-cpu.onnx',
      },
    ],
    use: 'judges whether a caller who pauses has finished',
  },
  'zipformer-en': {
    version: '2023-06-26',
    licence: 'Apache-2.0',
    source: 'https://huggingface.co',
    files: [
      {
        file: `zipformer-en/encoder-${zipformerVariant}`,
        bytes: 71_083_163,
        sha256: '563fde436d16cf7607cf408cd6b30909819d03162652ef389c2450ced3f45ac1',
        path: `${zipformer}/encoder-${zipformerVariant}`,
      },
      {
        file: `zipformer-en/decoder-${zipformerVariant}`,
        bytes: 1_307_236,
        sha256: '98da299f471e38bb4e1a8df579b8cc9122d6039576a77e357b3c60f17dd83b02',
        path: `${zipformer}/decoder-${zipformerVariant}`,
      },
      {
        file: `zipformer-en/joiner-${zipformerVariant}`,
        bytes: 259_335,
        sha256: 'd944208d660d67c8d72cd2acaeac971fa5ceb8c80e76c1968148846fedd6e297',
        path: `${zipformer}/joiner-${zipformerVariant}`,
      },
      {
        file: 'zipformer-en/tokens.txt',
        bytes: 5_048,
        sha256: '49e3c2646595fd907228b3c6787069658f67b17377c60aeb8619c4551b2316fb',
        path: `${zipformer}/tokens.txt`,
      },
    ],
    use: '`local` hears English with it, while it is spoken',
  },
  'piper-ljspeech': {
    version: 'medium-int8',
    licence: 'MIT (voice; its recordings are in the public domain), GPL-3.0-or-later (espeak-ng-data)',
    source: 'https://github.com',
    files: [
      {
        file: 'vits-piper-en_US-ljspeech-medium-int8.tar.bz2',
        bytes: 21_090_429,
        sha256: '24dc3bd77dd48c291e52c297878d3437c9492f245d823d7f6a06c4bbb67f4b6b',
        path: `${voiceArchives}/vits-piper-en_US-ljspeech-medium-int8.tar.bz2`,
      },
    ],
    unpacksTo: 'vits-piper-en_US-ljspeech-medium-int8',
    use: '`local` speaks English with it: quick, one voice',
  },
  'kokoro-en': {
    version: '0.19',
    licence: 'Apache-2.0 (voices), GPL-3.0-or-later (espeak-ng-data)',
    source: 'https://github.com',
    files: [
      {
        file: 'kokoro-en-v0_19.tar.bz2',
        bytes: 319_625_534,
        sha256: '912804855a04745fa77a30be545b3f9a5d15c4d66db00b88cbcd4921df605ac7',
        path: `${voiceArchives}/kokoro-en-v0_19.tar.bz2`,
      },
    ],
    unpacksTo: 'kokoro-en-v0_19',
    use: '`local` speaks English with it: natural, 11 voices, needs a fast machine',
  },
} as const satisfies Readonly<Record<string, ModelRow>>;

/** A file in a wheel, by where its packed bytes lie: a wheel of that name never has other bytes. */
export interface PinnedWheel {
  readonly project: string;
  readonly name: string;
  readonly at: number;
  readonly packedBytes: number;
}

/** The turn model as a package of Python brings it; unpacked it is the file above, byte for byte. */
export const smartTurnWheel: PinnedWheel = {
  project: 'pipecat-ai',
  name: 'pipecat_ai-1.14.0-py3-none-any.whl',
  at: 186_221,
  packedBytes: 7_546_613,
};

/** Name of the turn model's file in the folder of models. */
export const smartTurnFile = models['smart-turn'].files[0].file;

/** Folders in the folder of models, the one that `local` takes first before the others. */
export const recognizerModels: readonly string[] = ['zipformer-en'];
export const voiceModels: readonly string[] = [
  models['kokoro-en'].unpacksTo,
  models['piper-ljspeech'].unpacksTo,
];
