/**
 * A coarse judge of speech by loudness alone, for the time in which inference is away. It follows the noise floor, so it
 * must see every frame, also those it is not asked about.
 */

/** A frame this much above the noise floor counts as voice. */
const voiceOverFloorDb = 12;
/** Below this level nothing counts as voice, in dBFS. */
const quietestVoiceDb = -50;
/** The floor falls to a quieter frame at once and rises slowly, in dB a frame. */
const floorRiseDb = 0.1;
/** A floor below this one would change no judgement; it would only take long to rise again after digital silence. */
const lowestFloorDb = quietestVoiceDb - voiceOverFloorDb;

export class EnergyGate {
  #floorDb = lowestFloorDb;

  /** Probability of speech in a frame of PCM16: 0 or 1. */
  judge(frame: Int16Array): number {
    let sum = 0;
    for (let i = 0; i < frame.length; i += 1) {
      const sample = frame[i] ?? 0;
      sum += sample * sample;
    }
    const rms = Math.sqrt(sum / Math.max(1, frame.length)) / 32_768;
    const levelDb = 20 * Math.log10(Math.max(rms, 1e-6));
    const voice = levelDb > Math.max(this.#floorDb + voiceOverFloorDb, quietestVoiceDb);
    this.#floorDb = Math.max(lowestFloorDb, Math.min(this.#floorDb + floorRiseDb, levelDb));
    return voice ? 1 : 0;
  }
}
