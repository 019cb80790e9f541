/**
 * Which models the service runs, decided once at the start, before any process is there. A model that was named and
 * is not there refuses the start; it is never silently replaced.
 */
import type { Log } from '../runtime/log.ts';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { fail, ok, type Result } from '../base/result.ts';
import type { ServerSettings } from '../config/server/server.ts';
import { smartTurnFile } from './model-registry.ts';
import { reasonOfFile } from './named-files.ts';

type Env = Readonly<Record<string, string | undefined>>;

export interface TurnModelChoice {
  /** Absent: turns end by silence. */
  readonly path?: string;
  /** What an operator may want to know of it. */
  readonly hint?: string;
}

/** The folder of models: `SVC_MODELS_DIR`, else the user's folder for application data (XDG Base Directory). */
export function modelsFolder(modelsDir: string | undefined, env: Env): string {
  if (modelsDir !== undefined) return resolve(modelsDir);
  const data = env['XDG_DATA_HOME'];
  // A relative path in this variable counts as unset, as its specification wants.
  const base = data?.startsWith('/') === true ? data : join(env['HOME'] ?? homedir(), '.local', 'share');
  return join(base, 'voice-agent-service', 'models');
}

/** Names of inputs and outputs stand in a model's file as they are. */
const smartTurn = { name: 'a Smart Turn v3 model', signs: ['input_features', 'logits'] };
const sileroVad = {
  name: 'a Silero VAD model, v5 or v6',
  signs: ['stateN', 'stft.forward_basis_buffer', 'encoder.3.reparam_conv.weight', 'decoder.rnn.weight_ih'],
};

function problemOf(path: string, { name, signs }: typeof smartTurn): string | undefined {
  try {
    if (!statSync(path).isFile()) return 'must name a file';
    const bytes = readFileSync(path);
    return signs.every((sign) => bytes.includes(sign)) ? undefined : `must name ${name} (ONNX)`;
  } catch (error) {
    if (error instanceof Error && 'code' in error) return 'must name a file that can be read';
    throw error;
  }
}

/** Why the model of SVC_VAD_MODEL cannot be used; without it no call is heard. */
export function whyNoVadModel({ vadModel }: Pick<ServerSettings, 'vadModel'>): string | undefined {
  const problem = vadModel === undefined ? undefined : problemOf(vadModel, sileroVad);
  return problem && `SVC_VAD_MODEL ${problem}`;
}

/** Why nobody can tell what is at this path; undefined when it is there, and when it is not. */
function whyHidden(path: string): string | undefined {
  try {
    statSync(path, { throwIfNoEntry: false });
    return undefined;
  } catch (error) {
    return reasonOfFile(error);
  }
}

/** The error names the variable or the key. */
export function chooseTurnModel(
  settings: Pick<ServerSettings, 'smartTurnModel' | 'modelsDir'>,
  options: { readonly env: Env; readonly smartTurn: 'auto' | 'on' | 'off' },
): Result<TurnModelChoice, string> {
  const { smartTurnModel, modelsDir } = settings;
  const named = smartTurnModel === 'off' ? undefined : smartTurnModel;
  if (named !== undefined) {
    const problem = problemOf(named, smartTurn);
    if (problem !== undefined) return fail(`SVC_SMART_TURN_MODEL ${problem}, or be off`);
  }
  if (options.smartTurn === 'off') return ok({});
  if (smartTurnModel === 'off') {
    return options.smartTurn === 'on'
      ? fail('turn.smart_turn is "on" in the agent file, but SVC_SMART_TURN_MODEL is off')
      : ok({});
  }
  if (named !== undefined) return ok({ path: resolve(named) });
  const found = join(modelsFolder(modelsDir, options.env), smartTurnFile);
  // Without a variable it is the home of a user, who need not be the one that runs the service.
  const hidden = modelsDir === undefined ? undefined : whyHidden(found);
  if (hidden !== undefined) return fail(`SVC_MODELS_DIR must name a folder that can be read: ${hidden}`);
  if (existsSync(found)) {
    const problem = problemOf(found, smartTurn);
    return problem === undefined
      ? ok({ path: found })
      : fail(`SVC_MODELS_DIR: ${smartTurnFile} in it ${problem}`);
  }
  const advice =
    '`svc-supervisor models pull smart-turn` fetches a turn model, or SVC_SMART_TURN_MODEL names one';
  return options.smartTurn === 'on'
    ? fail(`turn.smart_turn is "on" in the agent file, but there is no turn model: ${advice}`)
    : ok({ hint: `turns end by silence alone: ${advice}` });
}

/**
 * The turn model did not load in inference. A start is refused; a service that runs goes on without: its callers miss less than in a
 * loop of restarts.
 */
export function turnModelFailed(
  log: Log,
  { isStarting, refuse }: { readonly isStarting: boolean; readonly refuse: (problem: string) => void },
): void {
  if (!isStarting) {
    log.error('the turn model does not load any more: turns end by silence until the next start');
    return;
  }
  const problem = 'the turn model does not load: SVC_SMART_TURN_MODEL must name another, or be off';
  log.fatal(problem);
  refuse(problem);
}
