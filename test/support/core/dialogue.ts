/** A conversation by name, as the chapters of `test/golden` hold them. */
import type { Script } from './script.ts';
import type { ScriptOptions } from './script-settings.ts';

/** A dialogue has a name that says what holds, and a play that throws where it does not. */
export interface Dialogue {
  readonly name: string;
  readonly play: (begin: (options?: Omit<ScriptOptions, 'core'>) => Script) => void;
}

export const dialogue = (name: string, play: Dialogue['play']): Dialogue => ({ name, play });
