/** What a call cost by the operator's table. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { readPrices, withCost, type PriceTable } from '../../../shared/calls/prices.ts';
import type { UsedUnits } from '../../../shared/calls/facts.ts';
import type { CallCost, UsageStage } from '../../../shared/calls/record.ts';
import { recordOf } from '../../support/calls/records.ts';

const head = 'currency = "USD"\nas_of = "2026-11-28"\nsource = "the page of prices"\n';

function tableOf(rows: string): PriceTable {
  const read = readPrices(`${head}${rows}`);
  if (!read.ok) throw new Error(read.error);
  return read.value;
}

const costOf = (
  rows: string,
  used: readonly [stage: UsageStage, provider: string, units: UsedUnits, model?: string][],
  transport = 'websocket',
): CallCost | undefined =>
  withCost(
    recordOf(
      { transport },
      used.map(([stage, provider, units, model]) => ({
        t: 'used',
        at: 1,
        stage,
        provider,
        units,
        ...(model !== undefined && { model }),
      })),
      { at: 90_000 },
    ),
    tableOf(rows),
  ).cost;

const llm =
  '[[price]]\nstage = "llm"\nprovider = "p"\nper_million = { input_tokens = 2, cached_tokens = 0.5, output_tokens = 8 }\n';

it('has a sample that is a price table', () => {
  const read = readPrices(readFileSync('docs/prices.example.toml', 'utf8'));
  if (!read.ok) throw new Error(read.error);
  expect(read.value).toMatchObject({
    currency: 'USD',
    source: expect.stringContaining('https://') as string,
  });
});

describe('the cost of a call', () => {
  it('counts what was cached by its own price, and not twice', () => {
    const cost = costOf(llm, [['llm', 'p', { input_tokens: 1000, cached_tokens: 400, output_tokens: 100 }]]);
    expect(cost).toMatchObject({ total: 0.0022, by_stage: { llm: 0.0022 }, unpriced: [] });
  });

  it('counts what was cached as input where it has no price', () => {
    const rows =
      '[[price]]\nstage = "llm"\nprovider = "p"\nper_million = { input_tokens = 2, output_tokens = 8 }\n';
    expect(costOf(rows, [['llm', 'p', { input_tokens: 1000, cached_tokens: 400 }]])?.total).toBe(0.002);
  });

  it('prefers the row of the model', () => {
    const rows = `${llm}[[price]]\nstage = "llm"\nprovider = "p"\nmodel = "m"\nper_million = { input_tokens = 10 }\n`;
    expect(costOf(rows, [['llm', 'p', { input_tokens: 1000 }, 'm']])?.total).toBe(0.01);
    expect(costOf(rows, [['llm', 'p', { input_tokens: 1000 }, 'other']])?.total).toBe(0.002);
  });

  it('names what has no price, and guesses nothing', () => {
    const cost = costOf(llm, [
      ['llm', 'p', { output_tokens: 1000 }],
      ['stt', 'q', { seconds: 60 }],
      ['llm', 'other', { input_tokens: 5 }, 'm'],
    ]);
    expect(cost).toMatchObject({ total: 0.008, unpriced: ['stt q seconds', 'llm other m input_tokens'] });
  });

  it('takes one of the units that a voice can be charged by', () => {
    const rows = '[[price]]\nstage = "tts"\nprovider = "v"\nper_million = { characters = 15 }\n';
    const cost = costOf(rows, [['tts', 'v', { characters: 1000, seconds: 60 }]]);
    expect(cost).toMatchObject({ total: 0.015, unpriced: [] });
  });

  it('counts the minutes of a telephone line by direction', () => {
    const rows =
      '[[price]]\nstage = "telephone"\nprovider = "carrier_a"\ndirection = "inbound"\nper_minute = 0.01\n[[price]]\nstage = "telephone"\nprovider = "carrier_a"\ndirection = "outbound"\nper_minute = 0.02\n';
    expect(costOf(rows, [], 'carrier_a')).toMatchObject({ total: 0.015, by_stage: { telephone: 0.015 } });
    expect(costOf(rows, [])?.total).toBe(0);
  });

  it('counts tokens of realtime models by modality', () => {
    const rows =
      '[[price]]\nstage = "realtime"\nprovider = "r"\nper_million = { text_input_tokens = 4, text_cached_tokens = 0.4, audio_input_tokens = 32, audio_cached_tokens = 0.4, text_output_tokens = 16, audio_output_tokens = 64 }\n';
    const units = {
      input_tokens: 3000,
      cached_tokens: 1000,
      text_input_tokens: 1000,
      text_cached_tokens: 500,
      audio_input_tokens: 2000,
      audio_cached_tokens: 500,
      output_tokens: 600,
      text_output_tokens: 100,
      audio_output_tokens: 500,
    };
    const wanted = (500 * 4 + 500 * 0.4 + 1500 * 32 + 500 * 0.4 + 100 * 16 + 500 * 64) / 1e6;
    expect(costOf(rows, [['realtime', 'r', units]])).toMatchObject({ total: wanted, unpriced: [] });
  });

  it.each([
    ['currency = "USD"', 'as_of'],
    [head.replace('USD', 'dollars') + 'price = []', 'currency'],
    [`${head}[[price]]\nstage = "stt"\nprovider = "p"\nper_minute = -1`, 'per_minute'],
    [`${head}[[price]]\nstage = "sst"\nprovider = "p"`, 'stage'],
    [`${head}[[price]]\nstage = "stt"\nprovider = "p"\nper_hour = 1`, 'per_hour'],
    [`${head}[[price`, 'line'],
  ])('refuses a table by key and rule: %j', (text, named) => {
    const read = readPrices(text);
    expect(read.ok ? 'ok' : read.error).toContain(named);
  });
});
