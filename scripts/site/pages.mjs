// What is on the documentation site: every page of the repository that is for users, and the sections of its menu.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** What is not for users: the search shows it behind what is. */
const notForUsers =
  /^(ARCHITECTURE|CONTRIBUTING|AGENTS|CODE_OF_CONDUCT|CHANGELOG|docs\/(decisions|measurements|architecture|bench|chaos|eval-turns))\b/;

/** A page belongs to the first section with a pattern that fits. */
const sections = [
  [
    'Start',
    /^(README|CHANGELOG|docs\/(quick-start|local|rehearsal|running|coding-agents|beside-others|glossary|stability|roadmap))\.md$/,
  ],
  ['Agents', /^(docs\/(agents|cookbook|providers|tools|variables)\.md|docs\/agent-link\/)/],
  [
    'Clients and transports',
    /^(docs\/(call-protocol|telephony|tokens|webrtc|rtvi|sip|carrier)\b|docs\/clients\/|sdk\/.*README\.md)/,
  ],
  [
    'Operation',
    /^(deploy\/|docs\/(operate|scale|security|recording|replay|observ|trac|log)|docs\/measurements\/)/,
  ],
  ['Reference', /^docs\/reference\//],
  [
    'Inside',
    /^((ARCHITECTURE|CONTRIBUTING|AGENTS|SECURITY|CODE_OF_CONDUCT)\.md|docs\/architecture\/|docs\/(bench|chaos|eval-turns)\.md)/,
  ],
  ['Decisions', /^docs\/decisions\//],
  ['More', /./],
];

const markdownIn = (root, folder) =>
  existsSync(join(root, folder))
    ? readdirSync(join(root, folder), { recursive: true })
        .filter((name) => name.endsWith('.md') && !name.includes('node_modules'))
        .map((name) => `${folder}/${name}`)
    : [];

/** The comment at the head of an agent file, as Markdown: lines that stand in are commands, each a line of its own. */
export const agentNote = (text) =>
  (/^((?:#.*\n)+)/.exec(text)?.[1] ?? '')
    .replace(/^# ?/gm, '')
    .replace(/(?:^ {2,}\S.*\n)+/gm, (commands) => `\n\`\`\`sh\n${commands.replace(/^ {2}/gm, '')}\`\`\`\n\n`)
    .trim();

/** The cookbook is the agent files themselves, each with the comment at its head in front. */
function cookbook(root) {
  const folder = join(root, 'examples/agents');
  const files = readdirSync(folder).filter((name) => /^[^.]+\.toml$/.test(name));
  const recipes = files.toSorted().map((name) => {
    const text = readFileSync(join(folder, name), 'utf8');
    const body = text.replace(/^((?:#.*\n)+)/, '').trim();
    return `## ${name}\n\n${agentNote(text)}\n\n\`\`\`toml\n${body}\n\`\`\`\n`;
  });
  const intro = `# Cookbook\n\n${files.length} whole agent files of \`examples/agents\`. Each passes \`svc-supervisor check\`.\n\n`;
  // Where pages name the folder, the site has this page.
  return { path: 'docs/cookbook.md', folder: 'examples/agents', text: intro + recipes.join('\n') };
}

export function readPages(root) {
  const paths = [
    // In this order in the menu.
    ...[
      'README.md',
      'docs/quick-start.md',
      'CONTRIBUTING.md',
      'AGENTS.md',
      'ARCHITECTURE.md',
      'deploy/README.md',
    ],
    ...['SECURITY.md', 'CODE_OF_CONDUCT.md', 'examples/demo/README.md'],
    ...['sdk/python/README.md', 'sdk/typescript/README.md'],
    ...markdownIn(root, 'docs'),
    ...markdownIn(root, 'deploy/helm'),
    'CHANGELOG.md',
  ].filter((path) => existsSync(join(root, path)));
  const pages = [...new Set(paths)].map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }));
  return [...pages, cookbook(root)].map((page) => ({
    ...page,
    title: /^# (.*)$/m.exec(page.text)?.[1]?.replace(/[`*]/g, '') ?? page.path,
    section: sections.find(([, pattern]) => pattern.test(page.path))[0],
    isGuide: !notForUsers.test(page.path),
    target:
      page.path === 'README.md'
        ? 'index.html'
        : page.path.replace(/\.md$/, '.html').replace(/README\.html$/, 'index.html'),
  }));
}

export const sectionNames = sections.map(([name]) => name);
