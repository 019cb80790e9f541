// Where the repository is. `repository` of package.json says it; these files repeat it, and `npm run release -- links` writes it there.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { manifestIn } from '../packages/parts.mjs';

export const repeatingAddresses = [
  'package.json',
  'CHANGELOG.md',
  'RELEASING.md',
  'deploy/README.md',
  'deploy/helm/voice-agent-service/README.md',
  'deploy/helm/voice-agent-service/values.yaml',
  'deploy/kubernetes/voice-agent.yaml',
  'examples/templates/any-project/compose.webrtc.yaml',
  'examples/templates/any-project/compose.yaml',
  'sdk/python/pyproject.toml',
  '.github/CODEOWNERS',
  '.github/ISSUE_TEMPLATE/config.yml',
  'test/unit/deploy/chart-everything.yaml',
];

const ownerOf = (home) => new URL(home).pathname.split('/')[1];

/** The page of the repository. */
export const homeOf = (checkout) => manifestIn(checkout).repository.url.replace(/^git\+|\.git$/g, '');

/** The image that a release publishes, without its version. */
export const imageOf = (home) => `ghcr.io/${ownerOf(home).toLowerCase()}/voice-agent-service`;

/** The page that was written everywhere the last time. */
const writtenHome = (checkout) => manifestIn(checkout).homepage.replace(/#.*$/, '');

/** A text with addresses at `to` that were at `from`: pages, the registry of images, and who reviews. */
export const moved = (text, from, to) =>
  text
    .replaceAll(new RegExp(`${from.replaceAll('.', '\\.')}(?![\\w-])`, 'g'), to)
    .replaceAll(new RegExp(`(?<=ghcr\\.io/)${ownerOf(from)}(?=/)`, 'gi'), ownerOf(to).toLowerCase())
    .replaceAll(`@${ownerOf(from)}`, `@${ownerOf(to)}`);

export function writeAddresses(checkout) {
  const [from, to] = [writtenHome(checkout), homeOf(checkout)];
  for (const name of repeatingAddresses) {
    const path = join(checkout, name);
    writeFileSync(path, moved(readFileSync(path, 'utf8'), from, to));
  }
}

/** What keeps packages from being published, in words; undefined where nothing does. */
export function addressFault(home, written) {
  if (ownerOf(home) === 'OWNER')
    return 'package.json: set the owner in `repository` first, as RELEASING.md says';
  return home === written
    ? undefined
    : 'package.json: run `npm run release -- links`: `repository` has changed';
}

export const faultOf = (checkout) => addressFault(homeOf(checkout), writtenHome(checkout));
