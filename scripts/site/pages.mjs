// What is on the documentation site: every page of the repository that is for users, and the sections of its menu.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { errorPages } from './error-pages.mjs';

/** A page belongs to the first section with a pattern that fits. Pages that are not for users are folded away together. */
const sections = [
  [
    'Start',
    /^(README|CHANGELOG|examples\/demo\/README|docs\/(quick-start|local|rehearsal|running|coding-agents|beside-others|glossary|stability|roadmap|try))\.md$/,
  ],
  [
    'Agents',
    /^(docs\/(agents|audio|before-call|overrides|cookbook|providers|realtime[a-z-]*|tools|variables|languages)\.md|docs\/agent-link\/)/,
  ],
  [
    'Clients and transports',
    /^(docs\/(call-protocol|telephony|tokens|webrtc|rtvi|sip|carrier)\b|docs\/clients\/|sdk\/.*README\.md)/,
  ],
  [
    'Operation',
    /^(deploy\/|SECURITY\.md|docs\/(operate|scale|security|calls|webhooks|privacy|monitoring|recording|replay|observ|trac|log))/,
  ],
  ['Reference', /^docs\/reference\//],
  ['Measurements', /^docs\/(measurements\/|(bench|chaos|eval-turns)\.md)/, 'inside'],
  ['Decisions', /^docs\/decisions\//, 'inside'],
  [
    'Contributing',
    /^((ARCHITECTURE|CONTRIBUTING|RELEASING|AGENTS|CODE_OF_CONDUCT)\.md|docs\/architecture\/)/,
    'inside',
  ],
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

function sectionOf({ path }) {
  const found = sections.find(([, pattern]) => pattern.test(path));
  if (found === undefined) throw new Error(`${path}: belongs to no section of scripts/site/pages.mjs`);
  return found;
}

/** The page whose rows have pages of their own, which neither the menu nor a list names. */
export const errorsPath = 'docs/reference/errors.md';

export function readPages(root) {
  const paths = [
    // In this order in the menu.
    'README.md',
    ...[
      'quick-start',
      'try',
      'rehearsal',
      'local',
      'running',
      'coding-agents',
      'beside-others',
      'stability',
    ].map((name) => `docs/${name}.md`),
    ...[
      'CONTRIBUTING.md',
      'RELEASING.md',
      'AGENTS.md',
      'ARCHITECTURE.md',
      'deploy/README.md',
      'SECURITY.md',
      'CODE_OF_CONDUCT.md',
    ],
    ...['examples/demo/README.md', 'sdk/python/README.md', 'sdk/typescript/README.md'],
    ...markdownIn(root, 'docs'),
    ...markdownIn(root, 'deploy/helm'),
    'CHANGELOG.md',
  ].filter((path) => existsSync(join(root, path)));
  const pages = [...new Set(paths)].map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }));
  const errors = pages.find(({ path }) => path === errorsPath);
  const { pages: ofErrors, ofRow } = errorPages(errors.text);
  errors.ofRow = ofRow;
  return [...pages, cookbook(root), ...ofErrors].map((page) => ({
    ...page,
    /** Whether the page holds a call of its own. */
    hasCall: page.text.includes('<voice-agent-call'),
    title: /^# (.*)$/m.exec(page.text)?.[1]?.replace(/[`*]/g, '') ?? page.path,
    section: sectionOf(page)[0],
    isGuide: page.path !== 'CHANGELOG.md' && sectionOf(page)[2] === undefined,
    target:
      page.path === 'README.md'
        ? 'index.html'
        : page.path.replace(/\.md$/, '.html').replace(/README\.html$/, 'index.html'),
  }));
}

export const sectionNames = sections.map(([name]) => name);

/** Sections for those who work on the project. */
export const insideSections = sections.filter(([, , place]) => place === 'inside').map(([name]) => name);
