/**
 * The command `docs-mcp`: the documentation as a server of the Model Context Protocol on standard input and output, in a file of its own: a
 * service loads nothing of it. It ends with its input.
 */
import '../../../shared/runtime/stack.ts';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readBytes, readText } from '../../../shared/installation/named-files.ts';
import { documentationTools } from './documentation-tools.ts';
import { readDocumentation } from './pages.ts';

export async function serveDocumentation(home: string, version: string): Promise<void> {
  const sources = {
    documentation: readDocumentation(home),
    schema: readFileSync(join(home, 'docs/reference/agent-file.schema.json'), 'utf8'),
    env: process.env,
    readFile: readText,
    readBytes,
  };
  const served = new McpServer(
    { name: 'voice-agent-service-docs', version },
    { capabilities: { tools: {} } },
  );
  const { server } = served;
  server.setRequestHandler(ListToolsRequestSchema, () => ({
    tools: Object.entries(documentationTools).map(([name, { description, properties, required }]) => ({
      name,
      description,
      inputSchema: { type: 'object' as const, properties: { ...properties }, required: [...required] },
      annotations: { readOnlyHint: true },
    })),
  }));
  server.setRequestHandler(CallToolRequestSchema, async ({ params: { name, arguments: given = {} } }) => {
    const tool = Object.hasOwn(documentationTools, name) ? documentationTools[name] : undefined;
    const { text, isError } = (await tool?.answer(given, sources)) ?? {
      text: 'there is no such tool',
      isError: true,
    };
    return { content: [{ type: 'text', text }], ...(isError && { isError }) };
  });
  process.stdin.on('end', () => process.exit(0));
  await served.connect(new StdioServerTransport());
}
