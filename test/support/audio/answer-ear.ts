/**
 * Writes down what the agent said. Two listeners: a recognizer whose grammar is the demo's answers, with every city, number and
 * hour that could have been said instead; and the demo's own recognition server, for answers that a caller might say as well.
 *
 * Invariant: the sound alone decides; nothing here knows which answer a test expects.
 */
import { once } from 'node:events';
import { WebSocket } from 'ws';
import { cities, digitWords, numberWords, weekdays } from '../../../examples/demo/domain.ts';
import { loadRecognizer } from '../../../examples/demo/recognizer.ts';
import { atRate } from '../process/running-demo.ts';

const EAR_RATE = 16_000;

const teens = ['thirteen', 'fourteen', 'fifteen', 'sixteen', 'seventeen', 'eighteen', 'nineteen'];
const ones = digitWords.slice(1);
const tens = ['twenty', 'thirty', 'forty', 'fifty'];
const number = [
  ...numberWords,
  ...teens,
  ...tens,
  ...tens.flatMap((ten) => ones.map((one) => `${ten} ${one}`)),
];

const slots: Readonly<Record<string, readonly string[]>> = {
  city: cities,
  number,
  sky: [
    ...['light rain', 'clear sky', 'clouds', 'sunshine', 'some clouds', 'wind and rain', 'showers'],
    ...['a clear sky', 'fog', 'strong wind'],
  ],
  day: [...weekdays.map((day) => `on ${day}`), 'today', 'tomorrow'],
  hour: numberWords.slice(1),
  minute: ["o'clock", ...digitWords.slice(1).map((digit) => `oh ${digit}`), ...number.slice(10)],
  half: ['a m', 'p m'],
};

const patterns: readonly string[] = [
  '3 hello you can ask me about the time the weather a table or an order',
  '4 in {city} it is {number} degrees with {sky} that is demo data not a real forecast',
  '2 in {city} it will be {number} degrees with {sky} {day} that is demo data not a real forecast',
  '2 thank you for calling goodbye',
  '2 goodbye',
  'for which city for example london paris or new york',
  'for how many people',
  'on which day',
  'at what time',
  'a table for {hour} {day} at {hour} {minute} {half} shall i book it',
  'what is your order number please say it digit by digit',
  'sorry i did not catch that you can ask about the time the weather in a city booking a table or an order',
  'i am only a demo and cannot connect you to a person i can help with the time the weather a table or an order',
  'you are welcome anything else',
  'are you still there',
];

/** The time of day has a grammar of its own, because its little words are drowned among those of all answers. */
const timePatterns: readonly string[] = ['3 it is {hour} {minute} {half}', 'it is {hour} {half}'];

const toFloat = (pcm: Int16Array, rate: number): Float32Array<ArrayBuffer> =>
  Float32Array.from(rate === EAR_RATE ? pcm : atRate(pcm, { from: rate, to: EAR_RATE }), (s) => s / 32_768);

export interface AnswerEar {
  /** The words of an answer, in lower case; `[unclear]` when the sound is none of the demo's answers. */
  transcribe(pcm: Int16Array, rate: number): string;
  /** The same for an answer that tells the time of day. */
  transcribeTime(pcm: Int16Array, rate: number): string;
}

/** Loads the model once; takes about half a second. */
export async function loadAnswerEar(): Promise<AnswerEar> {
  const recognizer = await loadRecognizer({ patterns, slots });
  const times = await loadRecognizer({ patterns: timePatterns, slots });
  const unknown = patterns
    .flatMap((pattern) => pattern.split(' '))
    .filter((word) => /^[a-z']+$/.test(word) && !recognizer.knows(word));
  if (unknown.length > 0) throw new Error(`the dictionary lacks ${unknown.join(', ')}`);
  return {
    transcribe: (pcm, rate) => recognizer.hear(toFloat(pcm, rate)).text,
    transcribeTime: (pcm, rate) => times.hear(toFloat(pcm, rate)).text,
  };
}

/** What the demo's own recognition server makes of the sound. */
export async function heardByDemo(url: string, pcm: Int16Array, rate: number): Promise<string> {
  const socket = new WebSocket(url);
  await once(socket, 'open');
  const samples = toFloat(pcm, rate);
  for (let at = 0; at < samples.length; at += 4096) socket.send(samples.subarray(at, at + 4096));
  const texts: string[] = [];
  const done = new Promise<void>((resolve, reject) => {
    socket.on('close', (code) => reject(new Error(`the recognition server closed the connection (${code})`)));
    socket.on('message', (data: Buffer) => {
      const text = data.toString();
      if (text === 'Done!') resolve();
      else texts.push((JSON.parse(text) as { text: string }).text.trim());
    });
  });
  socket.send('Done');
  try {
    await done;
  } finally {
    socket.terminate();
  }
  return texts.join(' ').trim();
}
