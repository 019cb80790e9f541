/** Instructions to Twilio (TwiML), as text. Every value is escaped where it is put in. */
import { languagesOfA, spokenLanguage } from '../spoken-language.ts';

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
};

// Other control characters are no XML at all.
const escaped = (text: string): string =>
  text.replaceAll(/[\p{Cc}]/gu, '').replaceAll(/[&<>"']/g, (char) => entities[char] ?? '');

const attributes = (values: Readonly<Record<string, string | undefined>>): string =>
  Object.entries(values)
    .map(([name, value]) => (value === undefined ? '' : ` ${name}="${escaped(value)}"`))
    .join('');

/** A whole answer: what the carrier does, in order. */
export const response = (...verbs: readonly string[]): string =>
  `<?xml version="1.0" encoding="UTF-8"?>\n<Response>${verbs.join('')}</Response>\n`;

/** A call that is not answered: the caller hears that it is busy, and nobody pays. */
export const rejectBusy = `<Reject${attributes({ reason: 'busy' })}/>`;

/** Connects the call to a media stream, which gets the parameters. */
export function connectStream(
  url: string,
  parameters: Readonly<Record<string, string | undefined>> = {},
): string {
  const given = Object.entries(parameters)
    .map(([name, value]) => (value === undefined ? '' : `<Parameter${attributes({ name, value })}/>`))
    .join('');
  return `<Connect><Stream${attributes({ url })}>${given}</Stream></Connect>`;
}

/** Rings a number and connects it when somebody answers. */
export function dialNumber(
  to: string,
  given: {
    readonly callerId: string | undefined;
    /** Asked what comes next when the dialling is over; absent: nothing. */
    readonly action?: string | undefined;
    readonly timeoutS: number;
  },
): string {
  const { callerId, action, timeoutS } = given;
  const options = attributes({ callerId, action, answerOnBridge: 'true', timeout: String(timeoutS) });
  return `<Dial${options}><Number>${escaped(to)}</Number></Dial>`;
}

export const playDigits = (digits: string): string => `<Play${attributes({ digits })}/>`;

/** A conference: the party that does not start it waits there; it is over when one of the two leaves. */
export function dialConference(
  name: string,
  given: {
    readonly starts: boolean;
    readonly action?: string;
    /** Told who has come into it. */
    readonly joinsTo?: string;
  },
): string {
  const { starts, action, joinsTo } = given;
  const options = attributes({
    startConferenceOnEnter: String(starts),
    endConferenceOnExit: 'true',
    beep: 'false',
    ...(joinsTo !== undefined && { statusCallback: joinsTo, statusCallbackEvent: 'join' }),
  });
  return `<Dial${attributes({ action })}><Conference${options}>${escaped(name)}</Conference></Dial>`;
}

/** Lines and tabs are space between words here. A language that the carrier does not speak is read in its own default. */
export const say = (text: string, language: string): string =>
  `<Say${attributes({ language: spokenLanguage(language, languagesOfA) })}>${escaped(text.replaceAll(/\s+/g, ' '))}</Say>`;

/** Silence, at whose end the call is over. */
export const pause = (seconds: number): string => `<Pause${attributes({ length: String(seconds) })}/>`;
