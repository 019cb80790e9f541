/**
 * Whole calls in a room where somebody else talks, a television or a second person: from the beginning on, from the middle of an answer on, or
 * while nobody speaks. Each is played with the talker so much below the caller, with noise on the line and without, and with an STT that says
 * nothing of the talker or writes that down as well; and once without any talker, which the others are compared with. Beside them callers who are soft
 * themselves, or become soft: nobody may take them for somebody else.
 */
import { faded, laid, mix, msOf, newNoise, samplesOf, type CallScene, type Scenario } from './scenarios.ts';
import { levelled, talk, type Person } from './speakers.ts';
import { half } from './spoken.ts';
import { wordsOver, type SpokenWord } from './words.ts';

export const belowDb = [12, 15, 20, 25, 30, 35] as const;
const greeting = 'Hello, this is the office of Doctor Miller. How may I help you today?';
const shortAnswer = 'Let me look at that for you. I will tell you in a moment.';
const longAnswer =
  'We are open from eight in the morning until six in the evening, and on Saturdays until noon. The practice is closed on Sundays, and there ' +
  'is somebody on call at the hospital next to the station.';
/** The greeting has been played by then. */
const firstMs = 5_500;
/** From the end of a question to the next one, and to the end of the call. */
const betweenMs = 8_000;
const lastMs = 8_000;
const questionsInCall = 3;
/** From the end of the question to the other talker, in an answer and behind one. */
const intoAnswerMs = 3_500;
const behindAnswerMs = 7_000;
/** From the end of the only question to the end of the call: before the agent asks whether somebody is there. */
const otherMs = 16_000;
/** A talker who begins in silence ends so much later. */
const silenceTalkMs = 4_000;
/** Levels of callers, one after another, in dB below full scale. */
const callersDb = [-20, -27, -36] as const;
const lineDb = -58;
/** Callers with at least this much to say, none of it for longer. */
const longestMs = 7_500;

type Moment = 'from the start' | 'into an answer' | 'into silence';
const moments: readonly Moment[] = ['from the start', 'into an answer', 'into silence'];

export interface Room {
  readonly moment: Moment;
  readonly belowDb: number | undefined;
  readonly hasNoise: boolean;
  /** STT writes the talker's words down. */
  readonly isWritten: boolean;
  /** How loud the caller is where that is the question: from the first question on, or from the second. */
  readonly soft?: 'quiet' | 'moves away';
}

const rooms: readonly Room[] = moments.flatMap((moment) =>
  [false, true].flatMap((hasNoise): Room[] => [
    { moment, hasNoise, belowDb: undefined, isWritten: false },
    ...(moment === 'from the start' ? (['quiet', 'moves away'] as const) : []).map((soft): Room => ({
      moment,
      hasNoise,
      belowDb: undefined,
      isWritten: false,
      soft,
    })),
    ...belowDb.flatMap((db) =>
      [false, true].map((isWritten): Room => ({ moment, hasNoise, belowDb: db, isWritten })),
    ),
  ]),
);

/** A caller with something to say: the level, and the others of the caller's own half, in an order of the caller's own. */
export interface Caller {
  readonly caller: Person;
  readonly db: number;
  readonly others: readonly Person[];
  /** The caller's place among all. */
  readonly place: number;
}

/** All callers, or only the first so many of each half: what they are does not depend on how many they are. */
export function callersAmong(persons: readonly Person[], mostOfHalf: number): Caller[] {
  const found = persons.flatMap((person, place): Caller[] => {
    const clips = person.clips.filter(({ pcm }) => msOf(pcm.length) <= longestMs);
    if (clips.length === 0) return [];
    const own = persons.filter(({ name, isAside }) => isAside === person.isAside && name !== person.name);
    const others = own.flatMap((_, i) => own[(place + i) % own.length] ?? []);
    return [{ caller: { ...person, clips }, db: callersDb[place % callersDb.length] ?? -27, others, place }];
  });
  return [false, true]
    .flatMap((half) => found.filter(({ caller }) => caller.isAside === half).slice(0, mostOfHalf))
    .toSorted((one, other) => one.place - other.place);
}

/** Callers in every room, with talkers of the caller's own half alone. */
export const callsInRooms = (
  persons: readonly Person[],
  agent: Int16Array,
  mostOfHalf = Infinity,
): Scenario[] =>
  callersAmong(persons, mostOfHalf).flatMap(({ caller, db, others, place }) => {
    // A television has many voices, a second person in the room has one.
    const talkers = others.slice(0, place % 2 === 0 ? Infinity : 1);
    return rooms.map((room) => callIn(room, { caller, db, talkers, agent }));
  });

/** Of a caller who is quiet, and by how much somebody becomes softer who moves away. */
const quietDb = -45;
const awayDb = 15;

const callerLevel = ({ soft }: Room, question: number, db: number): number => {
  if (soft === 'quiet') return quietDb;
  return soft === 'moves away' && question > 0 ? db - awayDb : db;
};

export interface Cast {
  readonly caller: Person;
  readonly db: number;
  readonly talkers: readonly Person[];
  readonly agent: Int16Array;
}

export function callIn(room: Room, { caller, db, talkers, agent }: Cast): Scenario {
  const isWhole = room.moment === 'from the start';
  const parts: { atMs: number; pcm: Int16Array }[] = [];
  const words: SpokenWord[] = [];
  const questions: CallScene['questions'][number][] = [];
  for (let at = 0, atMs = firstMs; at < (isWhole ? questionsInCall : 1); at += 1) {
    const clip = caller.clips[at % caller.clips.length];
    if (clip === undefined) break;
    const endMs = atMs + msOf(clip.pcm.length);
    parts.push({ atMs, pcm: levelled(faded(clip.pcm), callerLevel(room, at, db)) });
    words.push(...wordsOver(clip.text, atMs, endMs));
    questions.push({ fromMs: atMs, endMs, text: clip.text });
    atMs = endMs + betweenMs;
  }
  const lastEndMs = questions.at(-1)?.endMs ?? 0;
  const otherFromMs = isWhole
    ? 0
    : lastEndMs + (room.moment === 'into an answer' ? intoAnswerMs : behindAnswerMs);
  const wholeMs = isWhole ? lastEndMs + lastMs : lastEndMs + otherMs;
  const otherToMs = room.moment === 'into silence' ? otherFromMs + silenceTalkMs : wholeMs;
  const pcm = laid(wholeMs, parts);
  if (room.belowDb !== undefined) {
    const other = talk(talkers, { fromMs: otherFromMs, toMs: otherToMs, db: db - room.belowDb });
    for (const part of other.parts) mix(pcm, part.pcm, { at: samplesOf(part.atMs), gain: 1 });
    if (room.isWritten) words.push(...besides(other.words, questions));
  }
  if (room.hasNoise) mix(pcm, lineNoise(pcm.length), { at: 0, gain: 1 });
  return {
    kind: 'call',
    group: groupOf(room, caller),
    clip: caller.name,
    pcm,
    asked: greeting,
    startMs: questions[0]?.fromMs ?? 0,
    endMs: lastEndMs,
    words,
    botText: '',
    botMsPerChar: 0,
    played: agent,
    call: {
      name: [caller.name, room.moment, room.hasNoise].join('|'),
      family: familyOf(room, caller),
      questions,
      answer: room.moment === 'into an answer' ? longAnswer : shortAnswer,
      isPlain: room.belowDb === undefined && room.soft === undefined,
      ...(room.belowDb !== undefined && { other: { fromMs: otherFromMs, belowDb: room.belowDb } }),
    },
  };
}

/** Of two voices a recogniser writes down the louder one. */
const besides = (words: readonly SpokenWord[], questions: CallScene['questions']): SpokenWord[] =>
  words.filter((word) => questions.every(({ fromMs, endMs }) => word.endMs < fromMs || word.fromMs > endMs));

function groupOf({ moment, belowDb: db, hasNoise, isWritten, soft }: Room, { isAside }: Person): string {
  if (soft !== undefined)
    return `caller ${soft}, ${hasNoise ? 'noise' : 'quiet'}, ${half(isAside)}: nobody else`;
  const talker = db === undefined ? 'nobody else' : `-${db} dB${isWritten ? ', written' : ''}`;
  return `talker ${moment}, ${hasNoise ? 'noise' : 'quiet'}, ${half(isAside)}: ${talker}`;
}

const familyOf = ({ moment, belowDb: db, isWritten, soft }: Room, { isAside }: Person): string =>
  soft === undefined
    ? `talker ${moment}${db === undefined ? ', none' : isWritten ? ', written' : ''}, ${half(isAside)}`
    : `caller ${soft}, ${half(isAside)}`;

/** Noise of a telephone line: white, and of a level that is common. */
const lineNoise = newNoise(5, Math.round(32_768 * 10 ** (lineDb / 20) * Math.sqrt(3)));
