/** The models that users fetch. Each is pinned: another version is another row, and other bytes are refused. */

export interface ModelRow {
  /** Name of the file in the folder of models. */
  readonly file: string;
  readonly version: string;
  readonly bytes: number;
  readonly sha256: string;
  readonly licence: string;
  /** Where it comes from, without a slash at the end; a mirror can take its place. */
  readonly source: string;
  /** Path below the source; it names a commit, so that what it leads to does not change. */
  readonly path: string;
  readonly use: string;
}

export const models = {
  'smart-turn': {
    file: 'smart-turn-v3.2-cpu.onnx',
    version: '3.2',
    bytes: 8_679_182,
    sha256: '2bb026316b14a660486a75b1733cd3fbab8c2fd0314dc9af7be49f8cca967e4f',
    licence: 'BSD-2-Clause',
    source: 'https://huggingface.co',
    path: 'pipecat-ai/smart-turn-v3/resolve/f766f81d3cfdf7737ac64aad813d91bbfd56bf93/smart-turn-v3.2-cpu.onnx',
    use: 'judges whether a caller who pauses has finished',
  },
} as const satisfies Readonly<Record<string, ModelRow>>;

export type ModelName = keyof typeof models;
