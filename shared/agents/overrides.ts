/** `[overrides]` of the agent file: what single calls may have otherwise than the file says (docs/overrides.md). */
import * as z from 'zod';
import type { ProvidedTools } from '../config/agent/tool-names.ts';

/** Of one call. */
export const mostOverrides = 32;

const path = z
  .string()
  .regex(
    /^[a-z_]+(\.[a-z_]+){0,2}(\.\*)?$/,
    'must be the path of a key such as "agent.greeting", or "turn.*"',
  );

export const overridesKeys = z.strictObject({
  allow: z
    .array(path)
    .max(64)
    .default([])
    .meta({
      sample: ['agent.greeting', 'agent.language', 'tts.voice', 'llm.model', 'turn.*'],
      description:
        'Keys that a call may have otherwise: as the server of [before_call], a session token, POST /calls or the agent process says. TABLE.* stands for all of a table, tools for agent.tools; options of the provider stand behind the stage, as in llm.model.',
    }),
});

/** What a call has otherwise, by the path of its key. */
export type Overrides = Readonly<Record<string, unknown>>;

/** Tables of the file as they were read. */
export type Tables = Readonly<Record<string, unknown>>;

/** Key of a call's metadata that holds them as JSON; the server sets it, from what was signed or from who had the call made. */
export const overridesKey = 'session.overrides';

/** What came with a call; undefined where it is no object. */
export function readOverridesText(text: string | undefined): Overrides | undefined {
  if (text === undefined) return {};
  const value: unknown = JSON.parse(text);
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : undefined;
}

export interface OverridesDefinition {
  /** Paths, and tables with `.*` behind them. */
  readonly allow: readonly string[];
  /** What may change stands in these; the prompt is in its place, whatever file held it. */
  readonly tables: Tables;
  /** The tools that the whole file provides. */
  readonly provided: ProvidedTools;
}

/** The one path that has a shorter name. */
const shortNames: Readonly<Record<string, string>> = { tools: 'agent.tools' };
export const fullPath = (name: string): string =>
  Object.hasOwn(shortNames, name) ? (shortNames[name] ?? name) : name;

export const isAllowed = (full: string, allow: readonly string[]): boolean =>
  allow.some((one) => one === full || (one.endsWith('.*') && full.startsWith(one.slice(0, -1))));
