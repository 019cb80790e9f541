/**
 * The kinds of value that a server variable may hold. A kind knows how to read a text and how to say its rule; the rule
 * never repeats the text.
 */
import { fail, ok, type Result } from '../../base/result.ts';
import { formatHostPort, parseHostPort, type HostPort } from '../../net/address.ts';
import { minSecretBytes } from '../../auth/session-token.ts';
import { utf8Bytes } from '../../protocol/call.ts';
import { Sensitive } from '../sensitive.ts';

/** Facts about the machine that defaults depend on. */
export interface MachineFacts {
  /** Usable processor cores. */
  readonly cores: number;
}

/** A name of our own, or one that OpenTelemetry gives. */
export type Name = `SVC_${string}` | `OTEL_${string}`;

/** One server variable: everything that parsing, messages and the reference page need. */
export interface Variable<T> {
  readonly name: Name;
  /** What it does, in one line. */
  readonly text: string;
  /** What the value looks like, with bounds: `duration from 10ms to 24h`. */
  readonly form: string;
  /** The default as a text for the reference page; `unset` where absence means something of its own. */
  readonly defaultText: string;
  read(text: string): Result<T, string>;
  /** The service cannot start without it. */
  readonly isRequired?: boolean;
  /** Its value is shown nowhere. */
  readonly isSecret?: boolean;
  /** The default; for a required variable what stands in until the start is refused. */
  fallback(facts: MachineFacts): T;
}

const unitMs: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };
const longestDurationMs = 24 * 3_600_000;

function showDuration(durationMs: number): string {
  const unit = ['h', 'm', 's'].find(
    (name) => durationMs >= (unitMs[name] ?? 1) && durationMs % (unitMs[name] ?? 1) === 0,
  );
  return unit === undefined ? `${durationMs}ms` : `${durationMs / (unitMs[unit] ?? 1)}${unit}`;
}

/** A value with a reader of its own. The reader's error is the rule, without the text. */
export function readVariable<T>(
  name: Name,
  text: string,
  kind: {
    readonly form: string;
    readonly defaultText?: string;
    readonly read: (value: string) => Result<T, string>;
    readonly fallback: NoInfer<T>;
    readonly isSecret?: boolean;
  },
): Variable<T> {
  const { form, defaultText = 'unset', read, fallback, isSecret = false } = kind;
  return { name, text, form, defaultText, read, isSecret, fallback: () => fallback };
}

/** Takes the texts that a rule holds for, as they are. */
export const textLike =
  (form: string, isRight: (value: string) => boolean) =>
  (value: string): Result<string, string> =>
    isRight(value) ? ok(value) : fail(`must be ${form}`);

/** A duration in milliseconds, written `500ms`, `30s` or `2m`. */
export function durationVariable(
  name: Name,
  text: string,
  { defaultMs, leastMs }: { readonly defaultMs: number; readonly leastMs: number },
): Variable<number> {
  const form = `duration such as 500ms, 30s or 2m, from ${showDuration(leastMs)} to ${showDuration(longestDurationMs)}`;
  const read = (value: string): Result<number, string> => {
    const [, digits, unit] = /^(\d{1,9})(ms|s|m|h)$/.exec(value) ?? [];
    const durationMs = Number(digits) * (unitMs[unit ?? ''] ?? Number.NaN);
    return durationMs >= leastMs && durationMs <= longestDurationMs
      ? ok(durationMs)
      : fail(`must be a ${form}`);
  };
  return readVariable(name, text, { form, defaultText: showDuration(defaultMs), read, fallback: defaultMs });
}

/** A duration, or `off` for none, which is the default. */
export function optionalDurationVariable(
  name: Name,
  text: string,
  { leastMs }: { readonly leastMs: number },
): Variable<number | undefined> {
  const duration = durationVariable(name, text, { defaultMs: leastMs, leastMs });
  const form = `${duration.form}, or off`;
  const read = (value: string): Result<number | undefined, string> => {
    if (value === 'off') return ok(undefined);
    const found = duration.read(value);
    return found.ok ? found : fail(`must be a ${form}`);
  };
  return readVariable<number | undefined>(name, text, {
    form,
    defaultText: 'off',
    read,
    fallback: undefined,
  });
}

/** An integer. `fallback` may depend on the machine; then `defaultText` says how. */
export function countVariable(
  name: Name,
  text: string,
  range: { readonly least: number; readonly most: number } & (
    | { readonly fallback: number; readonly defaultText?: string }
    | { readonly fallback: (facts: MachineFacts) => number; readonly defaultText: string }
  ),
): Variable<number> {
  const { least, most, fallback } = range;
  const form = `integer from ${least} to ${most}`;
  const read = (value: string): Result<number, string> => {
    const count = /^\d{1,9}$/.test(value) ? Number(value) : Number.NaN;
    return count >= least && count <= most ? ok(count) : fail(`must be an ${form}`);
  };
  const { defaultText = String(fallback) } = range;
  const give = typeof fallback === 'number' ? () => fallback : fallback;
  return { name, text, form, defaultText, read, fallback: give };
}

const bytesOfUnit: Readonly<Record<string, number>> = { '': 1, KiB: 1024, MiB: 1_048_576 };

/** A size in bytes, with an optional KiB or MiB. */
export function sizeVariable(
  name: Name,
  text: string,
  range: { readonly defaultBytes: number; readonly least: number; readonly most: number },
): Variable<number> {
  const { defaultBytes, least, most } = range;
  const form = `size in bytes, or with KiB or MiB, from ${least} to ${most}`;
  const read = (value: string): Result<number, string> => {
    const [, digits, unit] = /^(\d{1,9})(KiB|MiB)?$/.exec(value) ?? [];
    const bytes = Number(digits) * (bytesOfUnit[unit ?? ''] ?? 1);
    return bytes >= least && bytes <= most ? ok(bytes) : fail(`must be a ${form}`);
  };
  return readVariable(name, text, { form, defaultText: String(defaultBytes), read, fallback: defaultBytes });
}

/** On or off. */
export const switchVariable = (name: Name, text: string, isOnByDefault: boolean): Variable<boolean> =>
  readVariable<boolean>(name, text, {
    form: 'switch: 1, on or true; 0, off or false',
    defaultText: isOnByDefault ? 'on' : 'off',
    read: (value) => {
      if (/^(1|on|true)$/i.test(value)) return ok(true);
      return /^(0|off|false)$/i.test(value) ? ok(false) : fail('must be 1, on, true, 0, off or false');
    },
    fallback: isOnByDefault,
  });

const addressForm = (port: number): string => `host:port, [::1]:${port} for IPv6; port 0 takes a free one`;

/** The address of a listener. */
export const addressVariable = (name: Name, text: string, fallback: HostPort): Variable<HostPort> =>
  readVariable(name, text, {
    form: addressForm(8080),
    defaultText: formatHostPort(fallback),
    read: parseHostPort,
    fallback,
  });

/** The address of a listener that there need not be. `port`: the one of the example; `unset`: what there is not without it. */
export const listenerVariable = (
  name: Name,
  text: string,
  { port, unset }: { readonly port: number; readonly unset: string },
): Variable<HostPort | undefined> =>
  readVariable<HostPort | undefined>(name, text, {
    form: addressForm(port),
    defaultText: `unset: ${unset}`,
    read: parseHostPort,
    fallback: undefined,
  });

/** One of a few words. Without a fallback it may be unset, of which `defaultText` says what it means. */
export function choiceVariable<const C extends string, F extends C | undefined>(
  name: Name,
  text: string,
  { of, fallback, defaultText = String(fallback) }: ChoiceKind<C, F>,
): Variable<C | F> {
  const form = `one of ${of.join(', ')}`;
  const read = (value: string): Result<C | F, string> => {
    const chosen = of.find((word) => word === value);
    return chosen === undefined ? fail(`must be ${form}`) : ok(chosen);
  };
  return readVariable<C | F>(name, text, { form, defaultText, read, fallback });
}

interface ChoiceKind<C extends string, F extends C | undefined> {
  readonly of: readonly C[];
  readonly fallback: F;
  readonly defaultText?: string;
}

const pathForm = 'path of a file, at most 4096 characters';

/** Takes a path as it is; whether something is there is asked later. */
export const readPath = textLike(pathForm, (value) => value.length <= 4096 && !value.includes('\0'));

/** The path of a file that the service cannot do without. */
export const requiredPathVariable = (name: Name, text: string): Variable<string> => ({
  ...readVariable(name, text, { form: pathForm, defaultText: 'required', read: readPath, fallback: '' }),
  isRequired: true,
});

export const optionalPathVariable = (name: Name, text: string): Variable<string | undefined> =>
  readVariable<string | undefined>(name, text, { form: pathForm, read: readPath, fallback: undefined });

/** A secret that travels in a header. */
export const secretVariable = (name: Name, text: string): Variable<Sensitive<string> | undefined> =>
  readVariable<Sensitive<string> | undefined>(name, text, {
    form: 'secret: visible ASCII characters without spaces, at most 4096',
    read: (value) =>
      /^[\x21-\x7e]{1,4096}$/.test(value)
        ? ok(new Sensitive(value))
        : fail('must be visible ASCII characters without spaces'),
    isSecret: true,
    fallback: undefined,
  });

/** A secret that signs. The key is the UTF-8 bytes of the text. */
export const signingSecretVariable = (name: Name, text: string): Variable<Sensitive<string> | undefined> =>
  readVariable<Sensitive<string> | undefined>(name, text, {
    form: `secret of at least ${minSecretBytes} bytes`,
    read: (value) => {
      if (utf8Bytes(value) < minSecretBytes) return fail(`must have at least ${minSecretBytes} bytes`);
      return value.length <= 4096 ? ok(new Sensitive(value)) : fail('must have at most 4096 characters');
    },
    isSecret: true,
    fallback: undefined,
  });
