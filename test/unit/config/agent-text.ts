/** Builds the text of agent files for tests: a good file, and the same file with lines changed. */
import { loadAgentFile } from '../../../shared/config/load.ts';
import type { LoadedAgent, LoadOptions } from '../../../shared/config/load.ts';

export const goodFile = `[agent]
name = "desk"
prompt = "Be brief."

[stt]
provider = "stt_local_ws"
[stt.stt_local_ws]
base_url = "ws://127.0.0.1:6006"

[llm]
provider = "chat_compatible"
[llm.chat_compatible]
base_url = "http://127.0.0.1:11434/v1"
model = "small"

[tts]
provider = "speech_compatible"
voice = "af_heart"
[tts.speech_compatible]
base_url = "http://127.0.0.1:8880/v1"
preset = "local_b"
`;

/** The good file with some texts replaced; a text that is not there is a mistake of the test. */
export function changed(...changes: readonly (readonly [string, string])[]): string {
  let text = goodFile;
  for (const [from, to] of changes) {
    if (!text.includes(from)) throw new Error(`the good file holds no ${from}`);
    text = text.replace(from, to);
  }
  return text;
}

export function load(text: string, options: Partial<LoadOptions> = {}): LoadedAgent {
  return loadAgentFile(text, {
    env: {},
    readFile: () => undefined,
    readBytes: () => undefined,
    requireSecrets: false,
    ...options,
  });
}

/** Messages of errors, in the order of the file. */
export function errorsOf(text: string, options: Partial<LoadOptions> = {}): string[] {
  const { definition, problems } = load(text, options);
  const errors = problems.filter((problem) => problem.severity === 'error').map((problem) => problem.message);
  if ((definition === undefined) !== errors.length > 0)
    throw new Error('a definition must exist exactly without errors');
  return errors;
}
