/** What became of whole calls in which somebody else talks, compared with the same calls in which nobody does. */
import type { CallNotes } from './call-world.ts';
import { print, quantile, shareWithin, toleranceMs } from './print.ts';
import type { Replayed } from './replay.ts';
import { msOf, type CallScene, type Scenario } from './scenarios.ts';

/** An answer that comes so much later than without the talker is late. */
const lateMs = 300;
const longestSilenceMs = 3_000;
/** What the agent says where it has understood nothing, by its beginning. */
const misheard = 'Sorry, I did not catch that';

interface Call {
  readonly scenario: Scenario;
  readonly scene: CallScene;
  readonly notes: CallNotes;
}

/** What is counted of a call or of its questions. */
export interface CallFindings {
  /** The greeting was played to its end, and in time. */
  readonly isGreeted: boolean;
  /** For each question, by how much its answer was later than without the talker; undefined: none came, or it was cut. */
  readonly laterMs: readonly (number | undefined)[];
  readonly isCut: boolean;
  /** The longest silence while the agent owed speech. */
  readonly silentMs: number;
  /** What nobody but the talker has said was taken for a turn. */
  readonly answersOther: boolean;
  readonly asksAgain: boolean;
}

const isAnswer = (scene: CallScene, text: string): boolean =>
  scene.answer.startsWith(text.trim().slice(0, 12));

/** For each question, when its answer began that was said to its end or up to the next question. */
function answersOf({ scene, notes, scenario }: Call): (number | undefined)[] {
  const wholeMs = msOf(scenario.pcm.length);
  return scene.questions.map(({ endMs }, at) => {
    const untilMs = scene.questions[at + 1]?.fromMs ?? wholeMs;
    const said = notes.said.filter(
      ({ text, fromMs }) => isAnswer(scene, text) && fromMs >= endMs - toleranceMs && fromMs < untilMs,
    );
    const heard = said.find(({ end, toMs }) => end !== 'cut' || toMs >= untilMs);
    return heard?.fromMs;
  });
}

/** The longest time without a sound of the agent while it owed one: the greeting, or the rest of an answer. */
function longestSilence({ scene, notes, scenario }: Call): number {
  const wholeMs = msOf(scenario.pcm.length);
  const owed = [
    { fromMs: 0, untilMs: scene.questions[0]?.fromMs ?? 0, isOwed: () => true },
    ...scene.questions.map(({ endMs }, at) => ({
      fromMs: endMs,
      untilMs: scene.questions[at + 1]?.fromMs ?? wholeMs,
      isOwed: (text: string) => isAnswer(scene, text),
    })),
  ];
  return Math.max(
    ...owed.map(({ fromMs, untilMs, isOwed }) => {
      const whole = notes.said.find((one) => one.end === 'whole' && one.fromMs >= fromMs && isOwed(one.text));
      const endMs = Math.min(untilMs, whole?.toMs ?? Infinity);
      const sounds = notes.sounds.filter((one) => one.toMs > fromMs && one.fromMs < endMs);
      const edges = [fromMs, ...sounds.flatMap((one) => [one.fromMs, one.toMs]), endMs];
      let longest = 0;
      for (let at = 0; at + 1 < edges.length; at += 2)
        longest = Math.max(longest, (edges[at + 1] ?? 0) - (edges[at] ?? 0));
      return longest;
    }),
  );
}

const bare = (text: string): string[] => text.toLowerCase().split(/\s+/);

function answersOther({ scene, notes }: Call): boolean {
  return notes.turns.some(({ text, atMs }) => {
    const asked = scene.questions.filter(({ fromMs }) => fromMs <= atMs).flatMap((one) => bare(one.text));
    return bare(text).every((word) => !asked.includes(word));
  });
}

export function findingsOf(call: Call, without: Call): CallFindings {
  const [greeting, before] = [call.notes.said[0], without.notes.said[0]];
  const [answers, others] = [answersOf(call), answersOf(without)];
  const { other } = call.scene;
  return {
    isGreeted: greeting?.end === 'whole' && greeting.toMs <= (before?.toMs ?? 0) + lateMs,
    laterMs: answers.flatMap((atMs, at) => {
      const base = others[at];
      // A question that is not answered without the talker either says nothing of the talker.
      if (base === undefined) return [];
      return [atMs === undefined ? undefined : atMs - base];
    }),
    isCut: call.notes.said.some(
      ({ end, toMs }) =>
        end === 'cut' &&
        toMs >= (other?.fromMs ?? 0) &&
        call.scene.questions.every(({ fromMs, endMs }) => toMs < fromMs || toMs > endMs),
    ),
    silentMs: longestSilence(call),
    answersOther: answersOther(call),
    asksAgain: call.notes.said.some(({ text }) => text.startsWith(misheard)),
  };
}

/** Findings by group, each call compared with the one that is the same but for the talker. */
export function callFindings(
  replayed: readonly Replayed[],
  groupOf: (scenario: Scenario) => string,
): Map<string, CallFindings[]> {
  const calls = replayed.flatMap(({ scenario, deciders }) =>
    scenario.call === undefined
      ? []
      : deciders.flatMap(({ notes, name }) =>
          notes === undefined || scenario.call === undefined
            ? []
            : [{ scenario, scene: scenario.call, notes, name }],
        ),
  );
  const without = new Map(
    calls.filter(({ scene }) => scene.isPlain).map((call) => [`${call.name}|${call.scene.name}`, call]),
  );
  const found = new Map<string, CallFindings[]>();
  for (const call of calls) {
    const base = without.get(`${call.name}|${call.scene.name}`);
    if (base === undefined) continue;
    const rows = found.get(groupOf(call.scenario)) ?? [];
    found.set(groupOf(call.scenario), [...rows, findingsOf(call, base)]);
  }
  return found;
}

const isLate = (ms: number | undefined): boolean => ms === undefined || ms > lateMs;

const familyOf = ({ group, call }: Scenario): string => call?.family ?? group;

/** What went wrong of so many, for the ratchet, of all levels together. */
export function callCounts(replayed: readonly Replayed[]): [string, { bad: number; of: number }][] {
  return [...callFindings(replayed, familyOf)].flatMap(
    ([group, found]): [string, { bad: number; of: number }][] => {
      const count = (is: (one: CallFindings) => boolean) => ({
        bad: found.filter(is).length,
        of: found.length,
      });
      const later = found.flatMap(({ laterMs }) => laterMs);
      return [
        [`${group}: no greeting`, count(({ isGreeted }) => !isGreeted)],
        [`${group}: answered late`, { bad: later.filter(isLate).length, of: later.length }],
        [`${group}: cut`, count(({ isCut }) => isCut)],
        [`${group}: silent for 3 s`, count(({ silentMs }) => silentMs > longestSilenceMs)],
        [`${group}: talker answered`, count((one) => one.answersOther || one.asksAgain)],
      ];
    },
  );
}

const titles = [
  ...[
    'calls',
    'greeted',
    'late by 0.3 s or never',
    'later, median',
    'p95',
    'cut',
    'silent for 3 s',
    'longest',
  ],
  ...['talker answered', 'asked again'],
];

export function callsTables(replayed: readonly Replayed[]): string[] {
  const rows = [...callFindings(replayed, ({ group }) => group)].map(([group, found]) => {
    const of = (is: (one: CallFindings) => boolean): string =>
      shareWithin(found.filter(is).length, found.length);
    const later = found.flatMap(({ laterMs }) => laterMs);
    const times = later.map((ms) => ms ?? Infinity);
    return [
      ...[group, of(({ isGreeted }) => isGreeted), shareWithin(later.filter(isLate).length, later.length)],
      ...[quantile(times, 0.5), quantile(times, 0.95), of(({ isCut }) => isCut)],
      of(({ silentMs }) => silentMs > longestSilenceMs),
      quantile(
        found.map(({ silentMs }) => silentMs),
        1,
      ),
      ...[of((one) => one.answersOther), of(({ asksAgain }) => asksAgain)],
    ];
  });
  return rows.length === 0 ? [] : [print(titles, rows)];
}
