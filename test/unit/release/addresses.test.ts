/** Where the repository is: said in one place, written by a command into the others, and looked at before anything is published. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import {
  addressFault,
  homeOf,
  imageOf,
  moved,
  repeatingAddresses,
} from '../../../scripts/release/addresses.mjs';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const home = homeOf(root);
const textOf = (path: string): string => readFileSync(`${root}/${path}`, 'utf8');

describe('the address of the repository', () => {
  it('is the same in every file that names it, and stands in no other', () => {
    const owner = new URL(home).pathname.split('/')[1]!;
    const pattern = `${home}|ghcr\\.io/${owner}/`;
    const naming = execFileSync('git', ['grep', '-liE', pattern], { cwd: root, encoding: 'utf8' }).trim();
    const listed = repeatingAddresses.filter((path) => path !== '.github/CODEOWNERS');
    expect(naming.split('\n').toSorted()).toEqual(listed.toSorted());
    expect(textOf('.github/CODEOWNERS')).toContain(`@${owner}\n`);
    const { homepage, bugs } = JSON.parse(textOf('package.json')) as Record<string, string>;
    expect([homepage, bugs]).toEqual([`${home}#readme`, `${home}/issues`]);
  });

  it.each([
    ['the chart', 'deploy/helm/voice-agent-service/values.yaml', 'repository: <image>\n'],
    ['the manifest', 'deploy/kubernetes/voice-agent.yaml', 'image: <image>:'],
    ['a new project', 'examples/templates/any-project/compose.yaml', ':-<image>:SERVICE_VERSION}'],
    ['one with WebRTC', 'examples/templates/any-project/compose.webrtc.yaml', ':-<image>:SERVICE_VERSION}'],
    ['the workflow', '.github/workflows/release.yml', 'image="ghcr.io/${OWNER,,}/voice-agent-service:'],
  ])('of the image that a release publishes stands in %s', (_, path, words) => {
    expect(textOf(path)).toContain(words.replace('<image>', imageOf(home)));
  });

  it.each([
    ['another owner', 'https://github.com/harbour/voice-agent-service'],
    ['another forge and another name', 'https://git.example.org/Harbour/calls'],
  ])('moves to %s everywhere, and back', (_, to) => {
    for (const path of repeatingAddresses) {
      const text = textOf(path);
      const after = moved(text, home, to);
      expect(after, path).not.toBe(text);
      expect(after, path).not.toContain(home);
      expect(moved(after, to, home).toLowerCase(), path).toBe(text.toLowerCase());
    }
  });

  it('leaves names alone that only begin like it', () => {
    const other = 'https://github.com/a/service-docs @b';
    expect(moved(other, 'https://github.com/a/service', 'https://github.com/b/service')).toBe(other);
  });

  it('keeps packages from being published while it is nobody’s, or stands elsewhere otherwise', () => {
    const [theirs, ours] = ['https://github.com/OWNER/calls', 'https://github.com/harbour/calls'];
    expect(addressFault(theirs, theirs)).toMatch(/set the owner/);
    expect(addressFault(ours, theirs)).toMatch(/release -- links/);
    expect(addressFault(ours, ours)).toBeUndefined();
  });
});
