// The changelog and the version of a release, worked out of what waits in `## Unreleased` and in `.changeset`. Pure.
import { isBreaking } from '../packages/changes.mjs';

const unreleased = '## Unreleased';
const sections = ['Breaking', 'Added', 'Changed', 'Fixed'];

/** The part of the changelog from a heading to the next one of the same depth. */
function partOf(text, heading) {
  const from = text.indexOf(`${heading}\n`);
  if (from < 0) return undefined;
  const next = text.indexOf('\n## ', from + heading.length);
  return { from, to: next < 0 ? text.length : next + 1 };
}

/** Rows of a section, each from its dash to the next row. */
const rowsOf = (text) => text.split(/^(?=- )/m).filter((row) => row.startsWith('- '));

/** The words of a section of a release, without its heading; '' where there are none. */
function sectionIn(text, name) {
  const [, words = ''] = new RegExp(`^### ${name}\\n(.*?)(?=^### |$(?![\\s\\S]))`, 'ms').exec(text) ?? [];
  return words.trim();
}

/** Rows of `### Breaking`, in all releases, that do not tell users what to do. */
export const withoutUpgrade = (changelog) =>
  [...changelog.matchAll(/^### Breaking\n(.*?)(?=^##|$(?![\s\S]))/gms)]
    .flatMap(([, words]) => rowsOf(words))
    .filter((row) => !/\bUpgrade: \S/.test(row));

/** Releases by their headings, newest first, as they are written. */
export const releasesIn = (changelog) =>
  [...changelog.matchAll(/^## (?!Unreleased$)(.+)$/gm)].map(([, heading]) => heading);

/** What the changelog says of a version; throws where it does not know it. */
export function notesOf(changelog, version) {
  const heading = releasesIn(changelog).find((each) => each.startsWith(`[${version}]`));
  const part = heading === undefined ? undefined : partOf(changelog, `## ${heading}`);
  if (part === undefined) throw new Error(`CHANGELOG.md: tells nothing of ${version}`);
  const text = changelog.slice(part.from, part.to).replace(/^## .*\n/, '');
  return text.replaceAll(/^\[\d[^\]]*\]: .*$/gm, '').trim();
}

const rowOf = ({ words, upgrade }) => {
  const text = upgrade === '' ? words : `${words}\nUpgrade: ${upgrade}`;
  return `- ${text.replaceAll(/\n+/g, '\n').replaceAll('\n', '\n  ')}`;
};

const sectionOf = (change) => {
  if (isBreaking(change)) return 'Breaking';
  return Object.values(change.packages).includes('minor') ? 'Added' : 'Fixed';
};

/** Below 1.0 a breaking change raises the second number, as new things do. */
export function nextVersion(current, { isBreaking: breaks, hasNew }) {
  const [major, minor, patch] = current.split('.').map(Number);
  if (breaks && major > 0) return `${major + 1}.0.0`;
  return breaks || hasNew ? `${major}.${minor + 1}.0` : `${major}.${minor}.${patch + 1}`;
}

/** Where the releases can be compared, in their order from the newest on; `home` is the address of the repository. */
function linksOf(changelog, home) {
  const versions = releasesIn(changelog).flatMap((heading) => /^\[([^\]]+)\]/.exec(heading)?.[1] ?? []);
  const lines = versions.map((version, at) => {
    const before = versions[at + 1];
    const path = before === undefined ? `releases/tag/v${version}` : `compare/v${before}...v${version}`;
    return `[${version}]: ${home}/${path}\n`;
  });
  return lines.join('');
}

/** The changelog with links for all releases, whatever the address was before. */
export const withLinks = (changelog, home) =>
  `${changelog.replaceAll(/^\[\d[^\]]*\]: .*\n?/gm, '').trimEnd()}\n\n${linksOf(changelog, home)}`;

/**
 * The next release: its version and the changelog that tells of it. Throws where nothing waits, and where a breaking row does not say what
 * users do.
 */
export function release(changelog, { current, changes, date, home }) {
  const part = partOf(changelog, unreleased);
  if (part === undefined) throw new Error(`CHANGELOG.md: has no ${unreleased}`);
  const waiting = changelog.slice(part.from, part.to);
  const text = Object.fromEntries(
    sections.map((name) => {
      const rows = changes.filter((change) => sectionOf(change) === name).map(rowOf);
      return [name, [sectionIn(waiting, name), ...rows].filter((words) => words !== '').join('\n')];
    }),
  );
  if (sections.every((name) => text[name] === '')) throw new Error('nothing waits for a release');
  const hasNew = text.Added !== '' || text.Changed !== '';
  const version = nextVersion(current, { isBreaking: text.Breaking !== '', hasNew });
  const body = sections.filter((name) => text[name] !== '').map((name) => `### ${name}\n\n${text[name]}\n`);
  const rest = changelog.slice(part.to);
  const notes = `## [${version}] - ${date}\n\n${body.join('\n')}`;
  const written = `${changelog.slice(0, part.from)}${unreleased}\n\n${notes}\n${rest}`;
  const missing = withoutUpgrade(written);
  if (missing.length > 0)
    throw new Error(
      `CHANGELOG.md: a row of Breaking says no "Upgrade: ...": ${missing[0].slice(0, 60).trim()}`,
    );
  return { version, notes, changelog: withLinks(written, home) };
}
