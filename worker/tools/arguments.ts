/** Arguments of tool calls as the LLM writes them, with every digit of their numbers. */
import { parseJson } from '../../shared/base/exact-json.ts';
import { isDeeperThan } from '../../shared/base/nesting.ts';
import { fail, ok, type Result } from '../../shared/base/result.ts';
import { isTable } from '../../shared/config/table.ts';

/** Characters of the arguments of one call; a longer text is no question to a tool. */
const longestArguments = 65_536;
const deepestArguments = 64;

/** The arguments of one call, or the rule that they break in words for the LLM. No text at all means none. */
export function readArguments(text: string): Result<Readonly<Record<string, unknown>>, string> {
  if (text.length > longestArguments) return fail('the arguments are too long');
  let value: unknown;
  try {
    value = text === '' ? {} : parseJson(text);
  } catch {
    return fail('the arguments are not valid JSON');
  }
  if (!isTable(value)) return fail('the arguments must be a JSON object');
  return isDeeperThan(value, deepestArguments) ? fail('the arguments are nested too deeply') : ok(value);
}
