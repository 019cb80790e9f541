/** `svc-supervisor replay`: runs the core again over the facts of a recorded call, and shows the first decision that differs. */
import { existsSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { constants, gunzipSync } from 'node:zlib';
import type { CallSettings } from '../../../worker/core/settings.ts';
import { withVariables } from '../../../worker/call/variables.ts';
import { callSettings } from '../../../worker/host/definition.ts';
import type { FactsHead, FactsStep } from '../../../worker/recording/facts.ts';
import {
  NotReplayable,
  replayFacts,
  type ReplayOptions,
  type Difference,
  type Replay,
} from '../../../worker/recording/replay.ts';
import { recordingFiles, recordingFolders } from '../../../shared/recording/layout.ts';
import { sealedEnding, Unreadable, withoutEnding } from '../../../shared/recording/sealed.ts';
import { foldersOfCall } from '../../../shared/installation/kept-recordings.ts';
import { wholeRecordingFile } from '../../../shared/installation/recording-file.ts';
import { keysOfEnvironment } from '../../../shared/installation/recording-keys.ts';
import { loadAgentFileAt } from '../../commands/check/check-command.ts';
import { readArguments, usageError } from '../../commands/commands.ts';
import { printable } from '../../commands/printable.ts';
import { reasonOfFile, whyUnreadable } from '../../../shared/installation/named-files.ts';
import type { AgentSources } from '../agent.ts';

const { facts: factsFile } = recordingFiles;

export interface ReplayRun extends Pick<AgentSources, 'env' | 'readFile' | 'readBytes' | 'writeError'> {
  readonly output: { write(text: string): unknown };
}

/** Gives the status that the process ends with. */
export async function runReplay(args: readonly string[], run: ReplayRun): Promise<number> {
  const parsed = readArguments('replay', args);
  if (!parsed.ok) {
    run.writeError(usageError('replay', parsed.error));
    return 2;
  }
  const { values, given } = parsed.value;
  const path = await factsAt(given[0] ?? '', run.env['SVC_RECORDING_DIR']);
  if (path === undefined) {
    run.writeError(whyNoFacts(given[0] ?? '', run.env['SVC_RECORDING_DIR']));
    return 2;
  }
  const settings = values.agent === undefined ? {} : settingsFrom(values.agent, run);
  if (settings === undefined) return 2;
  const text = await textOf(path, run.env);
  if (typeof text !== 'string') {
    run.writeError(`${path} cannot be replayed: ${text.unreadable}`);
    return 2;
  }
  try {
    const replay = replayFacts(text, settings);
    if (values.json === true) run.output.write(`${JSON.stringify({ path, ...replay })}\n`);
    else for (const line of shownReplay(replay)) run.output.write(`${line}\n`);
    return replay.different === 0 ? 0 : 1;
  } catch (error) {
    if (!(error instanceof NotReplayable)) throw error;
    run.writeError(`${path} cannot be replayed: ${error.message}`);
    return 2;
  }
}

/** The file that is meant, without the ending of one that is encrypted: itself, in a folder, or that of a call among the recordings. */
async function factsAt(given: string, dir: string | undefined): Promise<string | undefined> {
  if (existsSync(given)) return statSync(given).isDirectory() ? factsIn(given) : withoutEnding(given);
  if (dir === undefined || given === '') return undefined;
  return (await foldersOfCall(dir, given)).map(factsIn).find((path) => path !== undefined);
}

function factsIn(folder: string): string | undefined {
  const path = join(folder, factsFile);
  return existsSync(path) || existsSync(`${path}${sealedEnding}`) ? path : undefined;
}

function whyNoFacts(given: string, dir: string | undefined): string {
  const shown = printable(given);
  const when = 'they are recorded with facts = true in [recording], and put together when the call is over';
  if (existsSync(given)) return `${shown} holds no ${factsFile}: ${when}`;
  if (dir === undefined)
    return 'there are no facts: name a file or its folder, or set SVC_RECORDING_DIR and name a call';
  return existsSync(join(dir, recordingFolders.kept))
    ? `there are no facts of a call ${shown} in SVC_RECORDING_DIR: ${when}; of an uploaded call, fetch ${factsFile} and name it`
    : 'there are no recordings in SVC_RECORDING_DIR: it has no folder "kept"';
}

/** What the file holds; of one that breaks off, a copy for example, what is there. */
async function textOf(
  path: string,
  env: ReplayRun['env'],
): Promise<string | { readonly unreadable: string }> {
  const keys = keysOfEnvironment(env);
  if (!keys.ok) return { unreadable: keys.error };
  let bytes: Buffer;
  try {
    bytes = await wholeRecordingFile(dirname(path), basename(path), keys.value);
  } catch (error) {
    return { unreadable: error instanceof Unreadable ? error.message : reasonOfFile(error) };
  }
  try {
    const whole = path.endsWith('.gz') ? gunzipSync(bytes, { finishFlush: constants.Z_SYNC_FLUSH }) : bytes;
    return whole.toString('utf8');
  } catch {
    return { unreadable: 'it is damaged, or was not compressed by gzip' };
  }
}

/** The settings of another agent for the same call; undefined, and said why, for a file with problems. */
function settingsFrom(file: string, run: ReplayRun): Pick<ReplayOptions, 'settings'> | undefined {
  const loaded = loadAgentFileAt(file, { ...run, requireSecrets: false });
  const { definition, problems = [] } = loaded ?? {};
  if (definition === undefined) {
    run.writeError(
      loaded === undefined
        ? `--agent: ${file} cannot be read: ${whyUnreadable(file)}`
        : '--agent: the file has errors',
    );
    for (const { line, column, message } of problems) run.writeError(`${line}:${column}: ${message}`);
    return undefined;
  }
  const settings = (then: Omit<CallSettings, 'tools'>, head: FactsHead): Omit<CallSettings, 'tools'> => {
    // The machine is the one that the call ran on.
    const features = { turnModel: then.turn.model, replayMs: then.limits.replayMs };
    return withVariables(callSettings(definition, features), head.metadata);
  };
  return { settings };
}

/** What came of a replay, in lines for people. */
const longest = 400;

const cut = (text: string): string => (text.length > longest ? `${text.slice(0, longest)} ...` : text);

function shownReplay({ head, steps, different, first, before, isCut }: Replay): string[] {
  const { call, agent } = head;
  const title = `call ${call || 'without an id'} of agent ${agent}: ${steps} steps`;
  const ending = isCut ? ['the file ends in the middle of a line: what came behind it is not known'] : [];
  if (first === undefined) return [`${title}, every order the same`, ...ending];
  return [
    `${title}, ${different} with other orders; the first is ${Math.round(first.step.now - head.startedAt)} ms into the call (line ${first.line})`,
    ...before.map((step) => `    ${shownFact(step, head.startedAt)}`),
    `  > ${shownFact(first.step, head.startedAt)}`,
    ...shownDifference(first),
    ...(different > 1 ? ['what follows answers orders of then, and tells less and less'] : []),
    ...ending,
  ];
}

const shownFact = ({ now, fact, orders }: FactsStep, startedAt: number): string =>
  cut(`${(now - startedAt).toFixed(0).padStart(7)} ms  ${JSON.stringify(fact)}  (${orders.length} orders)`);

/** Orders that are the same stand once; `-` is what was ordered then, `+` what is now. */
function shownDifference({ then, now }: Difference): string[] {
  let same = 0;
  while (same < then.length && same < now.length && then[same] === now[same]) same += 1;
  return [
    ...then.slice(0, same).map((order) => `      ${cut(order)}`),
    ...then.slice(same).map((order) => `    - ${cut(order)}`),
    ...now.slice(same).map((order) => `    + ${cut(order)}`),
  ];
}
