/** The server variables that say which speech models run. Part of the list in `server.ts`. */
import { present } from '../../base/present.ts';
import type { Reader } from './environment.ts';
import { fail, ok, type Result } from '../../base/result.ts';
import { isLoopbackHost } from '../../net/loopback.ts';
import { optionalPathVariable, readPath, readVariable } from './variables.ts';

export interface ModelSettings {
  readonly vadModel?: string;
  /** `SVC_SMART_TURN_MODEL`: a path, or `off`; absent: the one in the folder of models, when there is one. */
  readonly smartTurnModel?: string;
  /** `SVC_MODELS_DIR`; absent: the folder for application data of the user. */
  readonly modelsDir?: string;
  /** `SVC_MODEL_INDEX`; absent: nothing is downloaded at a start. */
  readonly modelIndex?: string;
}

const pythonIndex = 'https://pypi.org/simple';
const indexForm = 'https address without user, query and fragment, at most 2048 characters, or off';

function readIndex(value: string): Result<string | undefined, string> {
  if (value === 'off') return ok(undefined);
  if (value.length > 2048 || !URL.canParse(value)) return fail(`must be an ${indexForm}`);
  const { protocol, hostname, username, password, search, hash } = new URL(value);
  const isSafe = protocol === 'https:' || (protocol === 'http:' && isLoopbackHost(hostname));
  return isSafe && username + password + search + hash === '' ? ok(value) : fail(`must be an ${indexForm}`);
}

export const modelVariables = {
  vadModel: optionalPathVariable(
    'SVC_VAD_MODEL',
    'Silero VAD model to use instead of the one that comes with the service.',
  ),
  smartTurnModel: readVariable<string | undefined>(
    'SVC_SMART_TURN_MODEL',
    'Smart Turn v3 model that judges the end of turns; off: turns end by silence.',
    {
      form: 'path of a file, at most 4096 characters, or off',
      defaultText: 'the one in SVC_MODELS_DIR, when there is one',
      read: readPath,
      fallback: undefined,
    },
  ),
  modelsDir: readVariable<string | undefined>(
    'SVC_MODELS_DIR',
    'Folder of models that `svc-supervisor models pull` fetches.',
    {
      form: 'path of a folder, at most 4096 characters',
      defaultText: '$XDG_DATA_HOME/voice-agent-service/models, or ~/.local/share/voice-agent-service/models',
      read: readPath,
      fallback: undefined,
    },
  ),
  modelIndex: readVariable<string | undefined>(
    'SVC_MODEL_INDEX',
    'Python package index that a start without a turn model fetches the pinned one from; off: no start downloads anything.',
    { form: indexForm, defaultText: pythonIndex, read: readIndex, fallback: pythonIndex },
  ),
} as const;

export const takeModels = (reader: Reader): ModelSettings => present(reader.takeAll(modelVariables));
