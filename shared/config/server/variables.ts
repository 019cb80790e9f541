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
  /** Whether the service cannot start without it. */
  readonly isRequired: boolean;
  /** Its value is shown nowhere. */
  readonly isSecret?: boolean;
  /** The default; for a required variable what stands in until the start is refused. */
  fallback(facts: MachineFacts): T;
}

const unitMs: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };
const longestDurationMs = 24 * 3_600_000;

export function showDuration(durationMs: number): string {
  const unit = ['h', 'm', 's'].find(
    (name) => durationMs >= (unitMs[name] ?? 1) && durationMs % (unitMs[name] ?? 1) === 0,
  );
  return unit === undefined ? `${durationMs}ms` : `${durationMs / (unitMs[unit] ?? 1)}${unit}`;
}

/** A duration in milliseconds, written `500ms`, `30s` or `2m`. */
export function durationVariable(
  name: Name,
  text: string,
  range: { readonly defaultMs: number; readonly leastMs: number },
): Variable<number> {
  const form = `duration such as 500ms, 30s or 2m, from ${showDuration(range.leastMs)} to ${showDuration(longestDurationMs)}`;
  return {
    name,
    text,
    form,
    defaultText: showDuration(range.defaultMs),
    read: (value) => {
      const [, digits, unit] = /^(\d{1,9})(ms|s|m|h)$/.exec(value) ?? [];
      const durationMs = Number(digits) * (unitMs[unit ?? ''] ?? Number.NaN);
      return durationMs >= range.leastMs && durationMs <= longestDurationMs
        ? ok(durationMs)
        : fail(`must be a ${form}`);
    },
    isRequired: false,
    fallback: () => range.defaultMs,
  };
}

/** An integer. `fallback` may depend on the machine; then `defaultText` says how. */
export function countVariable(
  name: Name,
  text: string,
  range: {
    readonly least: number;
    readonly most: number;
    readonly defaultText: string;
    readonly fallback: (facts: MachineFacts) => number;
  },
): Variable<number> {
  const form = `integer from ${range.least} to ${range.most}`;
  return {
    name,
    text,
    form,
    defaultText: range.defaultText,
    read: (value) => {
      const count = /^\d{1,9}$/.test(value) ? Number(value) : Number.NaN;
      return count >= range.least && count <= range.most ? ok(count) : fail(`must be an ${form}`);
    },
    isRequired: false,
    fallback: range.fallback,
  };
}

const bytesOfUnit: Readonly<Record<string, number>> = { '': 1, KiB: 1024, MiB: 1_048_576 };

/** A size in bytes, with an optional KiB or MiB. */
export function sizeVariable(
  name: Name,
  text: string,
  range: { readonly defaultBytes: number; readonly least: number; readonly most: number },
): Variable<number> {
  const form = `size in bytes, or with KiB or MiB, from ${range.least} to ${range.most}`;
  return {
    name,
    text,
    form,
    defaultText: String(range.defaultBytes),
    read: (value) => {
      const [, digits, unit] = /^(\d{1,9})(KiB|MiB)?$/.exec(value) ?? [];
      const bytes = Number(digits) * (bytesOfUnit[unit ?? ''] ?? 1);
      return bytes >= range.least && bytes <= range.most ? ok(bytes) : fail(`must be a ${form}`);
    },
    isRequired: false,
    fallback: () => range.defaultBytes,
  };
}

/** On or off. */
export function switchVariable(name: Name, text: string, isOnByDefault: boolean): Variable<boolean> {
  const form = 'switch: 1, on or true; 0, off or false';
  return {
    name,
    text,
    form,
    defaultText: isOnByDefault ? 'on' : 'off',
    read: (value) => {
      if (/^(1|on|true)$/i.test(value)) return ok(true);
      return /^(0|off|false)$/i.test(value) ? ok(false) : fail('must be 1, on, true, 0, off or false');
    },
    isRequired: false,
    fallback: () => isOnByDefault,
  };
}

/** The address of a listener. */
export function addressVariable(name: Name, text: string, fallback: HostPort): Variable<HostPort> {
  return {
    name,
    text,
    form: 'host:port, [::1]:8080 for IPv6; port 0 takes a free one',
    defaultText: formatHostPort(fallback),
    read: parseHostPort,
    isRequired: false,
    fallback: () => fallback,
  };
}

/** One of a few words. */
export function choiceVariable<const C extends string>(
  name: Name,
  text: string,
  choice: { readonly of: readonly C[]; readonly fallback: NoInfer<C> },
): Variable<C> {
  return {
    name,
    text,
    form: `one of ${choice.of.join(', ')}`,
    defaultText: choice.fallback,
    read: (value) => {
      const chosen = choice.of.find((word) => word === value);
      return chosen === undefined ? fail(`must be one of ${choice.of.join(', ')}`) : ok(chosen);
    },
    isRequired: false,
    fallback: () => choice.fallback,
  };
}

const pathForm = 'path of a file, at most 4096 characters';

/** Takes a path as it is; whether something is there is asked later. */
export const readPath = (value: string): Result<string, string> =>
  value.length <= 4096 && !value.includes('\0') ? ok(value) : fail(`must be a ${pathForm}`);

/** The path of a file that the service cannot do without. */
export function requiredPathVariable(name: Name, text: string): Variable<string> {
  return {
    name,
    text,
    form: pathForm,
    defaultText: 'required',
    read: readPath,
    isRequired: true,
    fallback: () => '',
  };
}

export function optionalPathVariable(name: Name, text: string): Variable<string | undefined> {
  return {
    name,
    text,
    form: pathForm,
    defaultText: 'unset',
    read: readPath,
    isRequired: false,
    fallback: () => undefined,
  };
}

/** A secret that travels in a header. */
export function secretVariable(name: Name, text: string): Variable<Sensitive<string> | undefined> {
  const form = 'secret: visible ASCII characters without spaces, at most 4096';
  return {
    name,
    text,
    form,
    defaultText: 'unset',
    read: (value) =>
      /^[\x21-\x7e]{1,4096}$/.test(value)
        ? ok(new Sensitive(value))
        : fail('must be visible ASCII characters without spaces'),
    isSecret: true,
    isRequired: false,
    fallback: () => undefined,
  };
}

/** A secret that signs. The key is the UTF-8 bytes of the text. */
export function signingSecretVariable(name: Name, text: string): Variable<Sensitive<string> | undefined> {
  const form = `secret of at least ${minSecretBytes} bytes`;
  return {
    name,
    text,
    form,
    defaultText: 'unset',
    read: (value) => {
      if (utf8Bytes(value) < minSecretBytes) return fail(`must have at least ${minSecretBytes} bytes`);
      return value.length <= 4096 ? ok(new Sensitive(value)) : fail('must have at most 4096 characters');
    },
    isRequired: false,
    isSecret: true,
    fallback: () => undefined,
  };
}

/** A value with a reader of its own. The reader's error is the rule, without the text. */
export function readVariable<T>(
  name: Name,
  text: string,
  kind: {
    readonly form: string;
    readonly defaultText: string;
    readonly read: (value: string) => Result<T, string>;
    readonly fallback: NoInfer<T>;
    readonly isSecret?: boolean;
  },
): Variable<T> {
  const { form, defaultText, read, fallback, isSecret = false } = kind;
  return { name, text, form, defaultText, read, isRequired: false, isSecret, fallback: () => fallback };
}
