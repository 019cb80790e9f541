/**
 * How turns end, measured: recordings with pauses, noise and echo go through the real inference process, and a table says
 * what each way of deciding made of them. Time is the time of the audio; the replay itself runs faster.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { silencesOf } from '../../../shared/config/agent/silences.ts';
import { turnKeys } from '../../../shared/config/agent-file.ts';
import { loadAgentFile } from '../../../shared/config/load.ts';
import { loadFlite } from '../../../examples/demo/flite.ts';
import { voices as names } from '../../../examples/demo/voices.ts';
import { newPrng } from '../../../shared/base/prng.ts';
import { systemClock } from '../../../shared/runtime/clock.ts';
import { chooseTurnModel } from '../../../shared/installation/turn-model.ts';
import type { CallSettings, ToolBook } from '../../../worker/core/settings.ts';
import { callSettings, speechSettings } from '../../../worker/host/definition.ts';
import type { TurnSettings } from './deciders.ts';
import { earMissing, startRealEar } from '../ear/real-ear.ts';
import { startInference } from './inference.ts';
import { recordingsIn, textsIn, unknownText, type Recording } from './recordings.ts';
import { callsInRooms } from './calls.ts';
import { curvePoints, curveTable } from './curve.ts';
import { evidence, evidenceTable } from './evidence.ts';
import { misheard, misheardCounts, misheardTable } from './misheard.ts';
import { callsInNoise } from './noisy-calls.ts';
import { naturalTurns } from './natural.ts';
import { countsOf, isComparedRow, worseThan, type Counts } from './ratchet.ts';
import { replay, type CoreRow, type ServiceRows } from './replay.ts';
import {
  interruptionScenarios,
  isOneTurn,
  pausesMs,
  speechOf,
  turnScenarios,
  type Scenario,
} from './scenarios.ts';
import { hesitations, longNumbers } from './hesitations.ts';
import { laughterOver, nodsOverBot } from './reactions.ts';
import { digitStrings, listeningOverBot, shortWords, spokenOverBot, type Speaker } from './spoken.ts';
import { personsOf } from './speakers.ts';
import { tables } from './table.ts';

const slots = 64;
/** Rooms' impulse responses lie beside the noises and are shorter. */
const leastNoiseSamples = 32_000;

const sttText = '[stt]\nprovider = "stt_local_ws"\n';
const agentText = `
[agent]
name = "evaluation"
prompt = "Answer."
tools = []
${sttText}[llm]
provider = "chat_compatible"
chat_compatible = { base_url = "http://127.0.0.1:1/v1", model = "none" }
[tts]
provider = "speech_compatible"
speech_compatible = { base_url = "http://127.0.0.1:1/v1", model = "none" }
`;

const say = (text: string): void => void process.stdout.write(`${text}\n`);

/** The defaults of the agent file. */
function defaultSettings(): TurnSettings {
  const turn = turnKeys.parse({});
  return {
    threshold: turn.vad_threshold,
    minSpeechMs: turn.min_speech_ms,
    confirmMs: turn.interrupt.min_speech_ms,
    ...silencesOf({ stop: turn.stop_ms, end: turn.silence_end_ms, most: turn.max_silence_ms }).withoutModel,
    smartTurnThreshold: turn.smart_turn_threshold,
  };
}

const noTools: ToolBook = {
  declarations: () => [],
  ruleOf: () => undefined,
  performerOf: () => undefined,
  validate: () => {
    throw new Error('the evaluation calls no tools');
  },
  answerOf: () => 'unclear',
};

/** The service with the defaults of its agent file: without words, with words, and with a turn model. */
export function service(hasModel: boolean, turn = ''): { withoutModel: ServiceRows; withModel: ServiceRows } {
  const loaded = loadAgentFile(`${agentText}${turn === '' ? '' : `[turn]\n${turn}\n`}`, {
    env: {},
    requireSecrets: false,
    readFile: () => undefined,
    readBytes: () => undefined,
  });
  if (loaded.definition === undefined) throw new Error('the agent of the evaluation is not valid');
  const { definition } = loaded;
  const rows = (turnModel: boolean, coresOf: (settings: CallSettings) => CoreRow[]): ServiceRows => ({
    cores: coresOf({ ...callSettings(definition, { turnModel, replayMs: 0 }), tools: noTools }),
    speech: speechSettings(definition, { turnModel }),
  });
  const withoutModel = rows(false, (settings) => {
    const common = { settings, model: 'none' } as const;
    const patient = { ...settings, turn: { ...settings.turn, speculate: false } };
    return [
      { ...common, name: 'service, words at the end', streams: false },
      { ...common, name: 'service, streamed words', streams: true },
      { ...common, name: 'service, streamed words, not ahead', streams: true, settings: patient },
    ];
  });
  const withModel = rows(true, (settings) => {
    const common = { settings, streams: true } as const;
    const right: CoreRow = { ...common, name: 'service, streamed words, right model', model: 'right' };
    if (!hasModel) return [right];
    return [{ ...common, name: 'service, streamed words, Smart Turn', model: 'asked' }, right];
  });
  return { withoutModel, withModel };
}

function material(folders: readonly string[]): Material {
  const assets = process.env['SVC_TEST_ASSETS'];
  const noiseFolder = assets === undefined ? undefined : join(assets, 'audio', 'noise');
  const speechFolders = assets === undefined ? folders : [join(assets, 'audio', 'speech'), ...folders];
  const texts = textsIn(join(assets ?? '', 'audio', 'manifest.json'));
  const all = speechFolders.flatMap((folder) => recordingsIn(resolve(folder), texts));
  const speech = all.filter(isOneTurn);
  const digits = all.filter(({ name }) => name.startsWith('digit_'));
  const noises =
    noiseFolder === undefined || !existsSync(noiseFolder)
      ? []
      : recordingsIn(noiseFolder).filter(({ pcm }) => pcm.length >= leastNoiseSamples);
  return { speech, others: all.filter((one) => !digits.includes(one)), digits, noises };
}

interface Material {
  readonly speech: Recording[];
  /** The same, with those that are too short or too long for a turn. */
  readonly others: Recording[];
  readonly digits: Recording[];
  readonly noises: Recording[];
}

/** Voices and speakers that nothing is chosen by. */
const asideVoices: readonly string[] = ['awb', 'kal16'];
const isAside = (clip: string): boolean => clip.includes('petewarden');

async function speakers(): Promise<Speaker[]> {
  const flite = await loadFlite();
  return names.flatMap((voice) =>
    [0.85, 1, 1.2].map((speed) => ({
      name: `${voice} ${speed}`,
      isAside: asideVoices.includes(voice),
      say: (text: string) => flite(text, { voice, speed }),
    })),
  );
}

/** The scenarios of the parts that are wanted, or so many of each kind and group. */
async function scenariosOf(
  { speech, others, digits, noises }: Material,
  { only, sample }: { only: ReadonlySet<string>; sample: number },
): Promise<Scenario[]> {
  const wants = (part: string): boolean => only.size === 0 || only.has(part);
  const [bot] = speech;
  const voices = await speakers();
  const noisePcm = noises.map(({ pcm }) => pcm);
  // Calls of others would be made and thrown away: they are long, and many.
  const mostOfHalf = sample === 0 ? Infinity : sample;
  const found = [
    ...(wants('turns') ? turnScenarios(speech, noisePcm) : []),
    ...(wants('natural') ? naturalTurns(speech) : []),
    ...(wants('interruptions') ? interruptionScenarios(speech, noisePcm) : []),
    ...(wants('spoken') && bot !== undefined ? spokenOverBot(voices, bot) : []),
    ...(wants('ducking') && !wants('spoken') && bot !== undefined ? listeningOverBot(voices, bot) : []),
    ...(wants('nods') && bot !== undefined ? nodsOverBot(voices, bot) : []),
    ...(wants('laughter') && bot !== undefined ? laughterOver(bot) : []),
    ...(wants('hesitation') ? hesitations(voices) : []),
    ...(wants('digits') && bot !== undefined ? [...shortWords(digits, bot), ...longNumbers(voices)] : []),
    ...(wants('background') && bot !== undefined
      ? callsInRooms(personsOf(others), speechOf(bot.pcm), mostOfHalf)
      : []),
    // Only where asked for: defaults leave noise where it is, and these are as many calls as all others together.
    ...(only.has('noise') && bot !== undefined
      ? callsInNoise(personsOf(others), noises, { agent: speechOf(bot.pcm), mostOfHalf })
      : []),
    ...(wants('strings') ? digitStrings(digits, isAside) : []),
  ];
  return sample === 0 ? found : drawn(found, sample);
}

/** So many of each kind and group; of whole calls so many callers of each half, as a call is compared with others of its caller. */
function drawn(found: readonly Scenario[], sample: number): Scenario[] {
  const prng = newPrng(3);
  const groups = new Map<string, Scenario[]>();
  for (const one of found) {
    const key = `${one.kind}|${one.group}`;
    groups.set(key, [...(groups.get(key) ?? []), one]);
  }
  return [...groups.values()].flatMap((ones) => {
    if (ones[0]?.call !== undefined) return ones.slice(0, sample);
    for (let at = ones.length - 1; at > 0; at -= 1) {
      const other = prng.below(at + 1);
      const [a, b] = [ones[at], ones[other]];
      if (a !== undefined && b !== undefined) [ones[at], ones[other]] = [b, a];
    }
    return ones.slice(0, sample);
  });
}

/** Rows that a ratchet looks at: whatever else is played is not compared. */
const comparedRows = ({ cores, speech }: ServiceRows): ServiceRows => ({
  speech,
  cores: cores.filter(({ name }) => isComparedRow(name)),
});

/** A model that hears and speaks by itself: it is given whole turns, and all else is the core's. */
function speakingModel(words: 'own' | 'vendor' | 'vendor alone', hasModel: boolean): ServiceRows {
  const table = `[realtime]\nprovider = "openai_realtime"\nwords = "${words === 'own' ? words : 'vendor'}"\nopenai_realtime = { base_url = "ws://127.0.0.1:1", model = "none" }\n`;
  const { definition } = loadAgentFile(
    `${words === 'vendor alone' ? agentText.replace(sttText, '') : agentText}${table}`,
    {
      env: {},
      requireSecrets: false,
      readFile: () => undefined,
      readBytes: () => undefined,
    },
  );
  if (definition === undefined) throw new Error('the speaking agent of the evaluation is not valid');
  const features = { turnModel: hasModel, replayMs: 0 };
  const settings = { ...callSettings(definition, features), tools: noTools };
  const heard = {
    own: 'streamed words',
    vendor: 'late words, STT over the agent',
    'vendor alone': 'its own words over the agent',
  }[words];
  const over = { own: undefined, vendor: 'streamed', 'vendor alone': 'at the end' } as const;
  const name = `speaking model, ${heard}${hasModel ? ', Smart Turn' : ''}`;
  const model = hasModel ? 'asked' : 'none';
  return {
    cores: [
      {
        ...{ name, settings, model, streams: words === 'own' },
        ...{ isLate: words !== 'own', hearsOver: over[words] },
      },
    ],
    speech: speechSettings(definition, features),
  };
}

export async function main(args: readonly string[], root: URL): Promise<number> {
  const { values, positionals } = parseArgs({
    args: [...args],
    options: {
      model: { type: 'string' },
      only: { type: 'string' },
      sample: { type: 'string' },
      curve: { type: 'boolean' },
      realtime: { type: 'boolean' },
      ratchet: { type: 'string' },
      note: { type: 'boolean' },
    },
    allowPositionals: true,
  });
  const found = material(positionals);
  const { speech, noises } = found;
  if (speech.length === 0) return 2;
  const only = new Set((values.only ?? '').split(',').filter((part) => part !== ''));
  if (only.has('words')) return listenTo(found, root, values);
  if (only.has('evidence')) {
    say(evidenceTable(evidence(personsOf(found.others), noises)));
    return 0;
  }
  const isCompared = values.ratchet !== undefined;
  const model = values.model ?? process.env['SVC_SMART_TURN_MODEL'];
  const modelsDir = process.env['SVC_MODELS_DIR'];
  const chosen = chooseTurnModel(
    { ...(model !== undefined && { smartTurnModel: model }), ...(modelsDir !== undefined && { modelsDir }) },
    { env: process.env, smartTurn: isCompared ? 'off' : 'auto' },
  );
  if (!chosen.ok) {
    say(chosen.error);
    return 1;
  }
  const scenarios = await scenariosOf(found, { only, sample: Number(values.sample ?? 0) });
  const seconds = scenarios.reduce((sum, { pcm }) => sum + pcm.length / 16_000, 0);
  say(`${speech.length} recordings, pauses of ${pausesMs.join(', ')} ms, ${noises.length} noises:`);
  say(`${scenarios.length} scenarios, ${Math.round(seconds)} s of audio`);
  if (chosen.value.path === undefined) say('no turn model: its rows are left out');
  const hasModel = chosen.value.path !== undefined;
  const inference = await startInference(root, { slots, turnModel: chosen.value.path });
  const startedAt = systemClock.now();
  const replayed = await replay(scenarios, {
    boxes: inference.boxes,
    ...(!isCompared && { frames: defaultSettings() }),
    services: [
      ...(isCompared ? [comparedRows(service(false).withoutModel)] : Object.values(service(hasModel))),
      ...(values.realtime === true
        ? (['own', 'vendor', 'vendor alone'] as const).flatMap((words) =>
            [false, ...(hasModel ? [true] : [])].map((asked) => speakingModel(words, asked)),
          )
        : []),
      ...(values.curve === true ? curvePoints(hasModel, service) : []),
    ],
    progress: (done) => {
      if (process.stderr.isTTY) process.stderr.write(`\r${done} of ${scenarios.length}`);
    },
  });
  const { cleaned, noisy } = inference.boxes.threadStatus(0);
  if (cleaned + noisy > 0) say(`noise was taken out of ${cleaned} frames, and not of ${noisy}`);
  const status = await inference.stop();
  const tookS = (systemClock.now() - startedAt) / 1000;
  say(`replayed in ${tookS.toFixed(1)} s (${(seconds / tookS).toFixed(0)} times real time)\n`);
  say(tables(replayed));
  if (values.curve === true) say(curveTable(replayed));
  const holds = values.ratchet === undefined || compare(values.ratchet, countsOf(replayed), values.note);
  return status === 0 && holds ? 0 : 1;
}

/** How well a real recogniser hears; it hears nothing but recordings whose words are known. */
async function listenTo(
  { others, noises }: Material,
  root: URL,
  { sample, ratchet, note }: { sample?: string; ratchet?: string; note?: boolean },
): Promise<number> {
  if (earMissing !== undefined) {
    say(earMissing);
    return 1;
  }
  const known = others.filter(({ text }) => text !== unknownText);
  const count = Number(sample ?? 0) || known.length;
  const ear = await startRealEar(root);
  const rows = await misheard({ speech: known.slice(0, count), noises: noises.map(({ pcm }) => pcm) }, ear);
  await ear.stop();
  say(`Whisper tiny, ${Math.min(count, known.length)} recordings\n`);
  say(misheardTable(rows));
  return ratchet === undefined || compare(ratchet, misheardCounts(rows), note) ? 0 : 1;
}

/** Whether nothing is worse than the file says; with `note` it is written instead. */
function compare(file: string, now: Counts, note = false): boolean {
  if (note) {
    writeFileSync(file, `${JSON.stringify(now, undefined, 2)}\n`);
    return true;
  }
  const worse = worseThan(JSON.parse(readFileSync(file, 'utf8')) as Counts, now);
  say(worse.length === 0 ? '\nno row is worse than it was' : `\nworse than before:\n${worse.join('\n')}`);
  return worse.length === 0;
}
