/**
 * Writes the reference pages, the example agent file and the editor schema out of the declarations. The files in docs/
 * are these texts; a test compares them.
 */
import { builtInToolNames } from '../../shared/config/agent/tool-names.ts';
import { callbackOpenApi } from './callback-openapi.ts';
import { agentLinkPage } from './agent-link-page.ts';
import { callRecordPage } from './call-record-page.ts';
import { errorsPage } from './errors-page.ts';
import { markdownTable } from './markdown-table.ts';
import { listTables } from '../../shared/config/agent-file.ts';
import { agentFileJsonSchema, describeAgentFile } from './describe.ts';
import type { KeyDescription, TableDescription } from './describe.ts';
import { describeServerSettings } from '../../shared/config/server/server.ts';
import type { NamedServers } from '../../shared/config/stages/declaration.ts';
import { declarations, findProvider, providersOf, vendorOf } from '../../shared/config/stages/providers.ts';

export interface GeneratedFile {
  /** Relative to the project. */
  readonly path: string;
  readonly text: string;
}

const stageNames = ['stt', 'llm', 'tts', 'realtime'] as const;

function defaultCell(key: KeyDescription): string {
  if (key.isRequired) return 'required';
  return key.defaultText === undefined ? '' : `\`${key.defaultText}\``;
}

/** A long list of words reads better as code than as a type. */
function valueCell(key: KeyDescription): string {
  const unit = key.unit === undefined ? '' : `, ${key.unit}`;
  const bounds = key.bounds === undefined ? '' : `, ${key.bounds}`;
  return `${key.type}${bounds}${unit}`;
}

const headerOf = ({ name }: TableDescription): string =>
  listTables.includes(name) ? `[[${name}]]` : `[${name}]`;

/** The vendor of a provider's table, for its heading. */
function vendorIn({ name }: TableDescription): string {
  const [stage, provider] = name.split('.');
  const known = stageNames.find((name) => name === stage);
  if (known === undefined || provider === undefined || findProvider(known, provider) === undefined) return '';
  return `${vendorOf(known, provider)}: `;
}

function agentTable(table: TableDescription): string {
  const rows = table.keys.map((key) => [`\`${key.name}\``, valueCell(key), defaultCell(key), key.text]);
  return `## ${vendorIn(table)}\`${headerOf(table)}\`\n\n${markdownTable(['Key', 'Value', 'Default', 'Meaning'], rows)}\n`;
}

function providerTable(): string {
  const rows = stageNames.flatMap((stage) =>
    providersOf(stage).map((row) => [
      vendorOf(stage, row.name),
      `\`[${stage}]\``,
      row.aliases.map((alias) => `\`${alias}\``).join(', '),
      `\`${row.name}\``,
    ]),
  );
  return `## Providers\n\n${markdownTable(['Vendor or interface', 'Stage', 'Provider', 'Also written'], rows)}\n`;
}

const generatedNote = 'Generated from the declarations in `shared/config`; `npm run docs` writes it anew.';

function agentPage(): string {
  const tools = builtInToolNames.map((name) => `\`${name}\``).join(', ');
  return `# The agent file

${generatedNote}

One TOML file describes the agent that serves every call; \`SVC_AGENT_FILE\` names it. \`svc-supervisor check FILE\` reads it
without opening anything and reports every problem with line and column; with \`--require-secrets\` a key variable that is
not set is an error. Keys of providers come from environment variables, never from the file.

\`[agent]\`, \`[stt]\`, \`[llm]\` and \`[tts]\` are required; with \`[realtime]\` a model that hears and speaks by itself stands before the three, each of
which may then be left out ([Speech-to-speech models](../realtime.md)). A stage may have one options table, named after its provider. Tools that need no
declaration: ${tools}; a call has those that its transport can do. An example is in [agent.example.toml](../agent.example.toml); [restaurant.toml](../../examples/agents/restaurant.toml) has
tools and a flow, which [Tools and flows](../tools.md) explains. Editors that know JSON Schema find one in
[agent-file.schema.json](agent-file.schema.json); \`#:schema PATH\` in the first line names it to them.

${describeAgentFile().map(agentTable).join('\n')}
${providerTable()}`;
}

function serverPage(): string {
  const rows = describeServerSettings().map((row) => [
    `\`${row.name}\``,
    row.form,
    row.defaultText,
    row.text,
  ]);
  return `# Server settings

${generatedNote}

Environment variables, read once at start. A bad value refuses the start and names the variable; all bad ones are reported
together. A variable that is set but empty is bad too. An unknown name with this prefix gives a warning;
one of a listener that this build does not have (WebRTC with its relays, SIP, carriers, callback) refuses the start.

The time that a supervisor of processes should allow after SIGTERM is more than \`SVC_DRAIN_TIMEOUT\` +
\`SVC_CANCEL_GRACE\` + \`SVC_ABORT_WAIT\` + 7 s: 43 s by default, 45 s recommended.

${markdownTable(['Variable', 'Value', 'Default', 'Meaning'], rows)}
`;
}

/** A key with an example stands in the file, any other as a comment with a sample or its default. */
function exampleKey(key: KeyDescription): string[] {
  const explanation = `# ${key.text}`;
  if (key.exampleText !== undefined) return [explanation, `${key.name} = ${key.exampleText}`];
  return [explanation, `# ${key.name} = ${key.sampleText ?? key.defaultText ?? ''}`];
}

function exampleFile(): string {
  const shown = describeAgentFile().filter(({ isOfExample }) => isOfExample);
  const tables = shown.flatMap((table) => {
    const keys = table.keys.flatMap(exampleKey);
    return keys.length === 0 ? [] : [[headerOf(table), ...keys].join('\n')];
  });
  return `# An agent file with every key that this version acts on, for one provider of each stage;
# docs/reference/agent-file.md has the others. What is commented out shows the default, or a
# sample where there is none.
# Generated from the declarations in shared/config; \`npm run docs\` writes it anew.

${tables.join('\n\n')}
`;
}

const code = (text: string): string => `\`${text}\``;

const serverRows = (provider: string, servers: NamedServers | undefined): string[][] =>
  Object.entries(servers?.names ?? {}).map(([server, name]) => [
    code(`${provider}.${servers?.key ?? ''}`),
    code(server),
    code(name),
  ]);

/** What choosing between the providers takes, for docs/providers.md. */
export function providerChoices(): string {
  const rows = stageNames.flatMap((stage) =>
    providersOf(stage).map(({ name, aliases, facts }) => {
      const names = `${facts.vendor} (${[...aliases, name].map(code).join(', ')})`;
      return [
        stage,
        names,
        facts.runs,
        facts.price,
        facts.latency,
        facts.languages,
        facts.wordTimes,
        (facts.keyVariable ?? 'none').replaceAll(/[A-Z_]{4,}/g, code),
      ];
    }),
  );
  const head = [
    'Stage',
    'Provider',
    'Runs',
    'Price',
    'Latency',
    'Languages',
    'Word times',
    'Usual key variable',
  ];
  const servers = Object.values(declarations)
    .flat()
    .sort((a, b) => a.name.localeCompare(b.name, 'en'))
    .flatMap(({ name, facts: { servers } }) => serverRows(name, servers));
  return `${markdownTable(head, rows)}\n\n${markdownTable(['Key', 'Server', 'Also written'], servers)}\n`;
}

const choicesBegin = '<!-- providers, written by npm run docs -->\n';
const choicesEnd = '<!-- end -->\n';

/** docs/providers.md with its table as it should be. */
export function withProviderChoices(page: string): string {
  const [before = '', rest = ''] = page.split(choicesBegin);
  const after = rest.split(choicesEnd)[1] ?? '';
  return `${before}${choicesBegin}\n${providerChoices()}\n${choicesEnd}${after}`;
}

/** Decision 0007 with the versions of package.json in its rows, so that a bump needs no edit by hand. */
export const withVersions = (page: string, versions: Readonly<Record<string, string>>): string =>
  page.replace(/^\| `([^`]+)` \| (\d\S*) \|/gm, (row, name: string, version: string) =>
    row.replace(version, versions[name] ?? version),
  );

/** All generated files. */
export function referenceFiles(): GeneratedFile[] {
  return [
    { path: 'docs/reference/agent-file.md', text: agentPage() },
    { path: 'docs/reference/server-settings.md', text: serverPage() },
    { path: 'docs/reference/agent-link.md', text: agentLinkPage() },
    { path: 'docs/reference/errors.md', text: errorsPage() },
    { path: 'docs/reference/call-record.md', text: callRecordPage() },
    { path: 'docs/reference/callback.openapi.json', text: callbackOpenApi() },
    {
      path: 'docs/reference/agent-file.schema.json',
      text: `${JSON.stringify(agentFileJsonSchema(), null, 2)}\n`,
    },
    { path: 'docs/agent.example.toml', text: exampleFile() },
  ];
}
