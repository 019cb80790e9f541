/** What Telnyx calls its encodings, and how each is heard: mu-law as it is, A-law as mu-law, L16 in the byte order of the network. */
import { muLawOf } from '../../../shared/audio/alaw.ts';

export interface TelnyxFormat {
  readonly name: 'PCMU' | 'PCMA' | 'L16';
  readonly sampleRate: number;
}

/** Rates at which a call of L16 can be held. */
const linearRates: readonly number[] = [8_000, 16_000, 22_050, 24_000, 48_000];

export function formatOf(encoding: unknown, rate: unknown): TelnyxFormat | undefined {
  const sampleRate = Number(rate);
  if ((encoding === 'PCMU' || encoding === 'PCMA') && sampleRate === 8_000)
    return { name: encoding, sampleRate };
  return encoding === 'L16' && linearRates.includes(sampleRate) ? { name: encoding, sampleRate } : undefined;
}

/** Caller audio in the encoding of the call; undefined where samples are not whole. */
export function heardAs(format: TelnyxFormat['name'], payload: Buffer): Buffer | undefined {
  switch (format) {
    case 'PCMU':
      return payload;
    case 'PCMA':
      return muLawOf(payload);
    case 'L16':
      return payload.length % 2 === 0 ? payload.swap16() : undefined;
  }
}
