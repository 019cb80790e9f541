/** The JSON Schema for editors takes the files that the project shows, and marks what an editor should mark. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { readToml } from '../../../shared/config/toml.ts';
import { goodFile } from './agent-text.ts';

const project = fileURLToPath(new URL('../../..', import.meta.url));
const schema = JSON.parse(
  readFileSync(join(project, 'docs/reference/agent-file.schema.json'), 'utf8'),
) as object;
const validate = new Ajv2020({ strict: false }).compile(schema);

/** Where the schema sees something wrong. */
function marks(text: string): string[] {
  validate(JSON.parse(JSON.stringify(readToml(text).tree)));
  return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message ?? ''}`);
}

const files = readdirSync(join(project, 'examples'), { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.toml') && !/(rehearsal|tenant)[.]toml$/.test(name))
  .map((name) => `examples/${name}`);

describe('the schema for editors', () => {
  it.each([...files, 'docs/agent.example.toml'])('takes %s', (name) => {
    expect(marks(readFileSync(join(project, name), 'utf8'))).toEqual([]);
  });

  it.each([
    ['[[tools]]\nname = "a b"\ndescription = "d"\nhttp = { url = "https://a.example" }', '/tools/0/name'],
    ['[[tools]]\nname = "a"\ndescription = "d"\nhttp = { url = "x", methd = "GET" }', '/tools/0/http'],
    ['[[mcp]]\ncommand = ["x"]', '/mcp/0'],
    ['[telephony]\nsettle_timeout_ms = "8 s"', '/telephony/settle_timeout_ms'],
    ['[telephony.destinations]\ndesk = "0555"', '/telephony/destinations/desk'],
    ['[flow]\nstart = "a"\n[flow.nodes.a]\nprompt = "A"\nmax_turn = 3', '/flow/nodes/a'],
    [
      '[flow]\nstart = "a"\n[flow.nodes.a]\nprompt = "A"\n[[flow.nodes.a.next]]\nto = "b"',
      '/flow/nodes/a/next/0',
    ],
    ['[turn]\nstop_ms = 5', '/turn/stop_ms'],
  ])('marks %j', (section, path) => {
    expect(marks(`${goodFile}\n${section}\n`).map((mark) => mark.split(' ', 1)[0])).toContain(path);
  });
});
