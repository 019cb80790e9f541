/**
 * How good a telephone line was, by the E-model (ITU-T G.107) with what a receiver can know: loss, jitter and, where it was measured, delay.
 * Everything else has the model's default value. Pure.
 */

export interface Line {
  readonly lostPercent: number;
  readonly jitterMs: number;
  readonly delayMs: number;
  readonly codec: string;
}

/** Equipment impairment and robustness against loss (G.113, Appendix I), by codec; of others those of G.711 with concealment. */
const codecs: Readonly<Record<string, { readonly ie: number; readonly bpl: number }>> = {
  pcmu: { ie: 0, bpl: 25.1 },
  pcma: { ie: 0, bpl: 25.1 },
  g722: { ie: 13, bpl: 15 },
  opus: { ie: 0, bpl: 30 },
};
const others = { ie: 0, bpl: 25.1 };
/** R of a line without any impairment, all else at its default. */
const bestR = 93.2;
/** A buffer that smooths jitter delays by about twice of it. */
const bufferedJitters = 2;

/** Mean opinion score from 1 to 4.5, with two decimals. */
export function mosOf({ lostPercent, jitterMs, delayMs, codec }: Line): number {
  const { ie, bpl } = codecs[codec.toLowerCase()] ?? others;
  const delay = delayMs + bufferedJitters * jitterMs;
  const delayImpairment = 0.024 * delay + (delay > 177.3 ? 0.11 * (delay - 177.3) : 0);
  const lossImpairment = ie + (95 - ie) * (lostPercent / (lostPercent + bpl));
  const r = Math.min(100, Math.max(0, bestR - delayImpairment - lossImpairment));
  const mos = 1 + 0.035 * r + r * (r - 60) * (100 - r) * 7e-6;
  return Math.round(Math.min(4.5, Math.max(1, mos)) * 100) / 100;
}
