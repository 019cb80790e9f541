/** Reading server variables from an environment that is handed in: all problems at once, never a value in a message. */
import { fail, type Result } from '../../base/result.ts';
import type { HostPort } from '../../net/address.ts';
import type { MachineFacts, Variable } from './variables.ts';

export type Env = Readonly<Record<string, string | undefined>>;

/** A variable that is wrong, and the rule it breaks. Never holds the value. */
export interface ConfigProblem {
  readonly variable: string;
  readonly message: string;
}

/** A listener, and what strangers could do there were it not on a loopback address. */
export interface Exposure {
  readonly variable: { readonly name: string };
  /** Absent: there is no such listener. */
  readonly addr: HostPort | undefined;
  readonly isSafe: boolean;
  /** The variables that would make it safe. */
  readonly need: string;
  readonly risk: string;
}

/** The value of each variable of a group. */
export type Taken<V extends Readonly<Record<string, Variable<unknown>>>> = {
  readonly [K in keyof V]: ReturnType<V[K]['fallback']>;
};

/** Takes variables; a bad one is reported and stands in with its default until the end. */
export class Reader {
  readonly problems: ConfigProblem[] = [];
  readonly #env: Env;
  readonly #facts: MachineFacts;

  constructor(env: Env, facts: MachineFacts) {
    this.#env = env;
    this.#facts = facts;
  }

  take<T>(variable: Variable<T>): T {
    const text = this.#env[variable.name];
    // OpenTelemetry wants its variables read so; of ours an empty one is a slip.
    const isUnset = text === undefined || (text === '' && variable.name.startsWith('OTEL_'));
    if (isUnset) {
      if (variable.isRequired) this.refuse(variable, `must be set: ${variable.form}`);
      return variable.fallback(this.#facts);
    }
    const result = this.#read(variable, text);
    if (result.ok) return result.value;
    this.refuse(variable, result.error);
    return variable.fallback(this.#facts);
  }

  /** The values of a group of variables, by the names that the group has for them. */
  takeAll<V extends Readonly<Record<string, Variable<unknown>>>>(variables: V): Taken<V> {
    const entries = Object.entries(variables).map(([key, variable]) => [key, this.take(variable)]);
    return Object.fromEntries(entries) as Taken<V>;
  }

  refuse(variable: { readonly name: string }, rule: string): void {
    this.problems.push({ variable: variable.name, message: `${variable.name} ${rule}` });
  }

  isSet(variable: { readonly name: string }): boolean {
    return this.#env[variable.name] !== undefined;
  }

  #read<T>(variable: Variable<T>, text: string): Result<T, string> {
    if (text === '') return fail('is set but empty; unset it or give it a value');
    return variable.read(text);
  }
}
