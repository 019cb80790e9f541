// The labels of an image, as arguments of `docker build` with a NUL behind each: node scripts/release/image-labels.mjs
import { execFileSync } from 'node:child_process';
import { pathToFileURL } from 'node:url';
import { manifestIn, root } from '../packages/parts.mjs';

/** By the names of the Open Container Initiative. `created` is the time of the commit, so that the same commit makes the same labels. */
export function imageLabels({ commit, created }) {
  const { name, version, description, license, homepage, repository } = manifestIn(root);
  const labels = {
    ...{ title: name, version, description, licenses: license, revision: commit, created },
    url: homepage,
    source: repository.url.replace(/^git\+|\.git$/g, ''),
    documentation: `${homepage.replace(/#.*$/, '')}/tree/v${version}/docs`,
    'base.name': 'docker.io/library/node:24-bookworm-slim',
  };
  return Object.entries(labels).map(([key, value]) => [`org.opencontainers.image.${key}`, value]);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const log = (format) =>
    execFileSync('git', ['log', '-1', `--format=${format}`], { cwd: root, encoding: 'utf8' }).trim();
  const labels = imageLabels({ commit: log('%H'), created: log('%cI') });
  for (const [name, value] of labels) process.stdout.write(`--label\0${name}=${value}\0`);
}
