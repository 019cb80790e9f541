/**
 * Options tables made from their declarations: whatever is within its bounds is accepted, and one key out of bounds is
 * refused at that key's line and column (docs/reference/agent-file.md).
 */
import fc from 'fast-check';
import { describe, it, expect } from 'vitest';
import { z } from 'zod';
import { loadAgentFile } from '../../../shared/config/load.ts';
import type { LoadedAgent } from '../../../shared/config/load.ts';
import { declarations } from '../../../shared/config/stages/providers.ts';

type StageName = 'stt' | 'llm' | 'tts' | 'realtime';

const keyShape = z.looseObject({
  type: z.string().optional(),
  enum: z.array(z.union([z.string(), z.number()])).optional(),
  minimum: z.number().optional(),
  maximum: z.number().optional(),
  minLength: z.number().optional(),
  maxLength: z.number().optional(),
  maxItems: z.number().optional(),
  pattern: z.string().optional(),
  sample: z.unknown().optional(),
  default: z.unknown().optional(),
});
type KeyShape = z.output<typeof keyShape>;

/** Keys whose values depend on their neighbours; they have tests of their own. */
const tied = [
  ...['base_url', 'url', 'preset', 'dialect', 'router_order', 'router_allow_fallbacks'],
  ...['project', 'location'],
];
const tiedValues = ['effort', 'thinking', 'max_turn_silence_ms', 'min_turn_silence_ms'];

function inside(key: KeyShape): fc.Arbitrary<unknown> {
  if (key.enum !== undefined) return fc.constantFrom(...key.enum);
  const { minimum: min = 0, maximum: max = 0 } = key;
  switch (key.type) {
    case 'integer':
      return fc.oneof(fc.constantFrom(min, max), fc.integer({ min, max }));
    case 'number':
      return fc.oneof(fc.constantFrom(min, max), fc.double({ min, max, noNaN: true }));
    case 'boolean':
      return fc.boolean();
    case 'array':
      return fc.array(fc.stringMatching(/^[a-zş]{1,20}$/), { minLength: 1, maxLength: key.maxItems ?? 1 });
    default:
      if (key.pattern !== undefined) return fc.constant(key.default ?? key.sample);
      return fc.stringMatching(/^[A-Za-z0-9.]{1,30}$/);
  }
}

function outside(key: KeyShape): fc.Arbitrary<unknown> {
  if (key.enum !== undefined) return fc.constant('no such value');
  switch (key.type) {
    case 'integer':
      return fc.constantFrom((key.minimum ?? 0) - 1, (key.maximum ?? 0) + 1, (key.minimum ?? 0) + 0.5);
    case 'number':
      return fc.constantFrom((key.minimum ?? 0) - 0.01, (key.maximum ?? 0) + 0.01);
    case 'boolean':
      return fc.constantFrom('true', 1);
    case 'array':
      return fc.constant(Array.from({ length: (key.maxItems ?? 0) + 1 }, () => 'a'));
    default:
      return fc.constantFrom(1, false);
  }
}

const toml = (value: unknown): string => JSON.stringify(value).replace(/^(-?\d+(\.\d+)?)e/, '$1e');

/** What a table needs that has no default, beside the keys that are drawn. */
const needed: Readonly<Record<string, string>> = {
  chat_compatible: 'base_url = "http://127.0.0.1/v1"\n',
  speech_compatible: 'base_url = "https://a.example/v1"\n',
};

const stages: Readonly<Record<Exclude<StageName, 'realtime'>, string>> = {
  stt: '[stt]\nprovider = "stt_local_ws"',
  llm: '[llm]\nprovider = "llm_generate"\napi_key_env = "KEY"',
  tts: '[tts]\nprovider = "tts_cloud_c"\napi_key_env = "KEY"',
};

function fileOf(stage: StageName, provider: string, table: ReadonlyMap<string, unknown>): string {
  const own = `[${stage}]\nprovider = "${provider}"\napi_key_env = "KEY"${stage === 'tts' ? '\nvoice = "v"' : ''}`;
  const lines = [...table].map(([key, value]) => `${key} = ${toml(value)}`).join('\n');
  const options = `[${stage}.${provider}]\n${needed[provider] ?? ''}${lines}`;
  const others = Object.entries(stages).flatMap(([name, text]) => (name === stage ? [] : [text]));
  return `[agent]\nname = "desk"\nprompt = "Be brief."\n${[...others, own, options].join('\n')}\n`;
}

const load = (text: string): LoadedAgent =>
  loadAgentFile(text, {
    env: { KEY: 'k' },
    readFile: () => undefined,
    readBytes: () => undefined,
    requireSecrets: true,
    leftOut: [],
  });

const rows = Object.entries(declarations).flatMap(([stage, list]) =>
  list.map(({ name: provider, keys }) => {
    const { properties = {} } = z.toJSONSchema(keys, { io: 'input' });
    const shapes = Object.entries(properties)
      .filter(([name]) => !tied.includes(name))
      .map(([name, shape]) => [name, keyShape.parse(shape)] as const);
    return { stage: stage as StageName, provider, shapes };
  }),
);

describe.each(rows)('$stage.$provider', ({ stage, provider, shapes }) => {
  const always = shapes.filter(([name]) => name === 'model').map(([name]) => name);
  const record = fc.record(
    Object.fromEntries(
      shapes.filter(([name]) => !tiedValues.includes(name)).map(([name, shape]) => [name, inside(shape)]),
    ),
    { requiredKeys: always },
  );

  it('accepts every table within its bounds', () => {
    fc.assert(
      fc.property(record, (table) => {
        const { definition, problems } = load(fileOf(stage, provider, new Map(Object.entries(table))));
        expect(problems.filter(({ severity }) => severity === 'error')).toEqual([]);
        expect(definition?.[stage]?.provider).toBe(provider);
      }),
      { numRuns: 40 },
    );
  });

  it('refuses one key out of bounds at its line and column', () => {
    const one = fc
      .constantFrom(...shapes)
      .chain(([name, shape]) => fc.tuple(fc.constant(name), outside(shape), record));
    fc.assert(
      fc.property(one, ([name, value, table]) => {
        const text = fileOf(stage, provider, new Map([...Object.entries(table), [name, value]]));
        const lines = text.split('\n');
        const from = lines.indexOf(`[${stage}.${provider}]`);
        const line = lines.findIndex((found, index) => index > from && found.startsWith(`${name} = `)) + 1;
        const found = load(text).problems.filter(({ severity }) => severity === 'error');
        expect(found).toMatchObject([
          { path: `${stage}.${provider}.${name}`, line, column: `${name} = `.length + 1 },
        ]);
      }),
      { numRuns: 40 },
    );
  });
});
