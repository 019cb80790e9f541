// The list of parts of a deployed tree (SBOM, CycloneDX 1.5): the packages that lie in it and those whose code was built into `dist/`, each with
// its licence and, where the lock file has it, the checksum of the archive that it came in. `npm sbom` knows neither what is built in nor for
// which machine the tree is. The same commit makes the same list.
import { readFileSync } from 'node:fs';
import { join, relative } from 'node:path';

const manifestIn = (folder) => JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));

/** What `THIRD-PARTY-NOTICES.txt` names: a heading for each package, `name version`, and its licence. */
export function builtIn(notices) {
  return notices.split(/^-{80}$/m).flatMap((block) => {
    const [, name, version, license] = /^(\S+) (\d\S*)(?:\nLicence: (.+))?$/m.exec(block.trim()) ?? [];
    return name === undefined ? [] : [{ name, version, license }];
  });
}

/** `sha512-<base64>` of a lock file, as CycloneDX writes it. */
function hashesOf(integrity) {
  const [, base64] = /^sha512-(\S+)$/.exec(integrity ?? '') ?? [];
  if (base64 === undefined) return {};
  return { hashes: [{ alg: 'SHA-512', content: Buffer.from(base64, 'base64').toString('hex') }] };
}

const purlOf = (name, version) => `pkg:npm/${name.replace('@', '%40')}@${version}`;
/** One licence is named by its id; what is more than one is an expression. */
const licencesOf = (license) => {
  if (license === undefined) return {};
  const isExpression = /[ ()]/.test(license);
  return { licenses: [isExpression ? { expression: license } : { license: { id: license } }] };
};

const component = ({ name, version, license, integrity, place }) => ({
  type: 'library',
  'bom-ref': purlOf(name, version),
  name,
  version,
  purl: purlOf(name, version),
  ...licencesOf(license),
  ...hashesOf(integrity),
  properties: [{ name: 'voice-agent-service:place', value: place }],
});

/** `folders`: of the packages that lie in the tree. */
export function partsList(root, folders) {
  const own = manifestIn(root);
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
  const integrityOf = (name, version) =>
    Object.entries(packages).find(
      ([path, entry]) => path.endsWith(`node_modules/${name}`) && entry.version === version,
    )?.[1].integrity;
  const beside = [...folders].map((folder) => {
    const { name, version, license } = manifestIn(folder);
    return { name, version, license, place: relative(root, folder) };
  });
  const within = builtIn(readFileSync(join(root, 'dist/THIRD-PARTY-NOTICES.txt'), 'utf8'));
  const parts = new Map();
  for (const part of [...within.map((one) => ({ ...one, place: 'dist' })), ...beside])
    parts.set(purlOf(part.name, part.version), part);
  const components = [...parts.values()].map((part) =>
    component({ ...part, integrity: integrityOf(part.name, part.version) }),
  );
  components.sort((one, other) => (one.purl < other.purl ? -1 : 1));
  const self = purlOf(own.name, own.version);
  return {
    bomFormat: 'CycloneDX',
    specVersion: '1.5',
    version: 1,
    metadata: {
      component: {
        type: 'application',
        'bom-ref': self,
        name: own.name,
        version: own.version,
        purl: self,
        ...licencesOf(own.license),
      },
    },
    components,
    dependencies: [{ ref: self, dependsOn: components.map(({ purl }) => purl) }],
  };
}
