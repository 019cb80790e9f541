/** A look's view of a recording that is being heard: all of it is there, and what counts as heard grows. */
import { lookRate, readFlat, readWide } from '../../../worker/media/echo/samples.ts';

export interface MicrophoneEar {
  readonly read: (into: Float32Array) => number;
  readonly readWide: (into: Float32Array) => void;
}

/** @param heard samples of it that have been heard by now. */
export function earOn(ring: Int16Array, rate: number, heard: () => number): MicrophoneEar {
  const end = (): number => Math.floor((heard() * lookRate) / rate);
  return {
    read: (into) => {
      readFlat({ ring, rate, count: heard() }, end(), into);
      return end();
    },
    readWide: (into) => readWide({ ring, rate, count: heard() }, end(), into),
  };
}
