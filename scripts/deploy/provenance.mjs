// Where a package comes from: an in-toto statement with SLSA's predicate, unsigned. Every build of the same commit gives the same bytes, so that it
// can be checked without believing anybody; sign the file with what your organisation signs with.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';

const sha256 = (file) => createHash('sha256').update(readFileSync(file)).digest('hex');

/** `commit`: what was built; `files`: what came of it; `epoch`: the seconds that stand in them. */
export function provenance(root, { commit, files, epoch }) {
  return {
    _type: 'https://in-toto.io/Statement/v1',
    subject: files.map((file) => ({ name: basename(file), digest: { sha256: sha256(file) } })),
    predicateType: 'https://slsa.dev/provenance/v1',
    predicate: {
      buildDefinition: {
        buildType: 'urn:voice-agent-service:npm-run-deb',
        externalParameters: { command: 'npm run deb', architecture: process.arch },
        internalParameters: { node: process.version, SOURCE_DATE_EPOCH: epoch },
        resolvedDependencies: [
          { name: 'source', digest: { gitCommit: commit } },
          { name: 'package-lock.json', digest: { sha256: sha256(join(root, 'package-lock.json')) } },
        ],
      },
      runDetails: { builder: { id: 'urn:voice-agent-service:by-hand' } },
    },
  };
}
