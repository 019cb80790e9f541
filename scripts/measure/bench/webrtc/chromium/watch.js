/** Tells of every piece of sound that can be heard (128 samples) when it ends, by the clock of the page's sound. */
const audibleDbfs = -50;

class Watch extends AudioWorkletProcessor {
  process([[samples]]) {
    if (samples === undefined) return true;
    const power = samples.reduce((sum, sample) => sum + sample * sample, 0) / samples.length;
    if (10 * Math.log10(power) >= audibleDbfs)
      this.port.postMessage(currentTime + samples.length / sampleRate);
    return true;
  }
}

registerProcessor('watch', Watch);
