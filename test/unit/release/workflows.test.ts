/** The workflows of the forge: what they may do, and whose code they run. `.ci/workflows` looks deeper, where its checkers can be had. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { imageLabels } from '../../../scripts/release/image-labels.mjs';

const root = new URL('../../../', import.meta.url);
const folder = new URL('.github/workflows/', root);
const workflows = readdirSync(folder).map((name) => ({
  name,
  text: readFileSync(new URL(name, folder), 'utf8'),
}));
/** The jobs of a workflow, by their two blanks. */
const jobsOf = (text: string): string[] =>
  (text.split(/^jobs:\n/m)[1] ?? '').split(/^(?= {2}\w+:\n)/m).filter((job) => job.trim() !== '');

describe.each(workflows)('$name', ({ text }) => {
  it('runs code of others by the hash of a commit, with its version beside it', () => {
    const used = text.split('\n').filter((line) => /^\s*(- )?uses:/.test(line));
    expect(used.length).toBeGreaterThan(0);
    expect(used.filter((line) => !/uses: [\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(line))).toEqual([]);
    const images = text.split('\n').filter((line) => /^\s*(container|image): /.test(line));
    expect(images.filter((line) => !/@sha256:[0-9a-f]{64}$/.test(line))).toEqual([]);
  });

  it('may do nothing but what each job asks for, and ends', () => {
    expect(text).toMatch(/^permissions: \{\}$/m);
    const jobs = jobsOf(text);
    expect(jobs.length).toBeGreaterThan(0);
    for (const job of jobs) expect(job).toMatch(/^ {4}timeout-minutes: \d+$[^]*^ {4}permissions:$/m);
    const writing = text.split('\n').filter((line) => /: write\b/.test(line));
    expect(writing.filter((line) => !/: write # \S/.test(line))).toEqual([]);
  });

  it('leaves no token behind, and no cache to be poisoned', () => {
    const count = (pattern: RegExp): number => [...text.matchAll(pattern)].length;
    expect(count(/persist-credentials: false/g)).toBe(count(/actions\/checkout@/g));
    expect(count(/package-manager-cache: false/g)).toBe(count(/actions\/setup-node@/g));
    expect(text).not.toContain('secrets.');
  });

  it('lets git read what somebody else has checked out, in a container', () => {
    for (const job of jobsOf(text).filter((each) => /^ {4}container:/m.test(each)))
      expect(job).toMatch(
        /actions\/checkout@[^]*git config --global --add safe\.directory "\$GITHUB_WORKSPACE"\n[^]*\.ci\//,
      );
  });

  it('runs commands that are there', () => {
    const { scripts } = JSON.parse(readFileSync(new URL('package.json', root), 'utf8')) as {
      scripts: object;
    };
    for (const [, script = ''] of text.matchAll(/npm run (?:--silent )?([\w:-]+)/g))
      expect(Object.keys(scripts)).toContain(script);
    for (const [, path = ''] of text.matchAll(/(?<=\s)((?:\.ci|scripts)\/[\w./-]+)/g))
      expect([path, existsSync(new URL(path, root))]).toEqual([path, true]);
  });
});

it('signs where each thing that is released comes from', () => {
  const release = workflows.find(({ name }) => name === 'release.yml')!.text;
  const signed = [...release.matchAll(/subject-(?:path|name): (.*)/g)].map(([, subject]) => subject);
  expect(signed).toEqual(['${{ steps.image.outputs.name }}', '${{ steps.chart.outputs.name }}', 'assets/*']);
});

describe('an image', () => {
  it('says by labels what it is and where it comes from', () => {
    const labels = Object.fromEntries(
      imageLabels({ commit: 'a'.repeat(40), created: '2026-01-02T03:04:05Z' }),
    );
    const { version } = JSON.parse(readFileSync(new URL('package.json', root), 'utf8')) as {
      version: string;
    };
    const named = (name: string): unknown => labels[`org.opencontainers.image.${name}`];
    expect([named('version'), named('revision'), named('licenses')]).toEqual([
      version,
      'a'.repeat(40),
      'Apache-2.0',
    ]);
    expect(named('source')).toMatch(/^https:\/\/[^ ]+\/voice-agent-service$/);
    expect(Object.values(labels)).not.toContain(undefined);
  });
});
