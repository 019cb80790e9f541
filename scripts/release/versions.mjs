// Where the version stands. `package.json` has it; these files repeat it.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export const repeating = [
  'package-lock.json',
  'sdk/python/pyproject.toml',
  'deploy/helm/voice-agent-service/Chart.yaml',
  'deploy/helm/voice-agent-service/README.md',
  'deploy/kubernetes/voice-agent.yaml',
  'deploy/README.md',
  'docs/quick-start.md',
  'docs/webrtc.md',
  'test/unit/deploy/chart-everything.yaml',
];

/** A version where it is ours: behind our name, or as the value of `version` in a file of ours. */
const ours =
  /(?<=voice-agent-service(?:[-_:]| --version )|^version(?: = "|: )|^appVersion: |app\.kubernetes\.io\/version: ")\d+\.\d+\.\d+/gm;
const inLock = /(?<="name": "voice-agent-service",\s+"version": ")\d+\.\d+\.\d+/g;

const patternOf = (path) => (path === 'package-lock.json' ? inLock : ours);

/** Every version of ours in a file. */
export const versionsIn = (root, path) =>
  [...readFileSync(join(root, path), 'utf8').matchAll(patternOf(path))].map(([version]) => version);

export function setVersion(root, version) {
  const manifest = join(root, 'package.json');
  writeFileSync(manifest, readFileSync(manifest, 'utf8').replace(/(?<=^ {2}"version": ")[^"]+/m, version));
  for (const path of repeating) {
    const text = readFileSync(join(root, path), 'utf8');
    writeFileSync(join(root, path), text.replaceAll(patternOf(path), version));
  }
}
