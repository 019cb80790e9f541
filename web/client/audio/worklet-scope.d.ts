/** The part of the AudioWorkletGlobalScope that the worklets use; the DOM library of TypeScript does not declare it. */
declare abstract class AudioWorkletProcessor {
  readonly port: MessagePort;
  abstract process(inputs: Float32Array[][], outputs: Float32Array[][]): boolean;
}

declare function registerProcessor(name: string, processor: new () => AudioWorkletProcessor): void;

/** Hz. */
declare const sampleRate: number;
/** Position of the block's first sample on the audio clock. */
declare const currentFrame: number;
