/** The first example of each SDK is one that the demo understands: what its README tells to say calls the example's tool. */
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { reply, type Message } from '../../../examples/demo/replies.ts';

it.each([
  { sdk: 'typescript', tool: /name: '(get_\w+)'/, required: /(\w+): z\.\w+\(\)(?!\.optional)/ },
  { sdk: 'python', tool: /async def (\w+)\(/, required: /async def \w+\((\w+): str\)/ },
])('$sdk', ({ sdk, tool, required }) => {
  const readme = readFileSync(new URL(`../../../sdk/${sdk}/README.md`, import.meta.url), 'utf8');
  const [, beginning = ''] = /## Five minutes(.*?)\n## /s.exec(readme) ?? [];
  const name = tool.exec(beginning)?.[1] ?? '';
  const parameter = required.exec(beginning)?.[1];
  const parameters = parameter === undefined ? [] : [parameter];
  const messages: Message[] = [];
  const calls = [...(/press Call and .*$/s.exec(beginning)?.[0] ?? '').matchAll(/"([^"]+)"/g)].map(
    ([, text = '']) => {
      messages.push({ role: 'user', text, calls: [] });
      const { call, text: answer } = reply({ messages, tools: [{ name, parameters }], now: new Date(0) });
      messages.push({ role: 'assistant', text: answer, calls: [] });
      return call;
    },
  );
  const call = calls.find((made) => made !== undefined);
  expect(call?.name).toBe(name);
  expect(Object.keys(call?.arguments ?? {})).toEqual(parameters);
});
