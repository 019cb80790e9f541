// What a package offers, read from its declarations by API Extractor: one report for each of its entries, and one file of declarations where
// those of a package come from all over the project.
import extractor from '@microsoft/api-extractor';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { manifestIn, root } from './parts.mjs';

const { Extractor, ExtractorConfig } = extractor;

/** Declarations are judged as a strict project reads them, and nothing is said about their comments. */
function extract(folder, entry, wanted) {
  const silent = { default: { logLevel: 'none' } };
  const compilerOptions = {
    ...{
      target: 'ES2022',
      module: 'NodeNext',
      moduleResolution: 'NodeNext',
      strict: true,
      skipLibCheck: true,
    },
    ...{ lib: ['ES2023', 'DOM'], types: ['node'], typeRoots: [join(root, 'node_modules/@types')] },
  };
  const configObject = {
    projectFolder: folder,
    mainEntryPointFilePath: entry,
    compiler: { overrideTsconfig: { compilerOptions, files: [entry] } },
    apiReport: { enabled: false },
    ...{ docModel: { enabled: false }, dtsRollup: { enabled: false }, tsdocMetadata: { enabled: false } },
    messages: { extractorMessageReporting: silent, tsdocMessageReporting: silent },
    ...wanted,
  };
  const config = ExtractorConfig.prepare({ configObject, packageJsonFullPath: join(folder, 'package.json') });
  const problems = [];
  const messageCallback = (message) => {
    if (message.logLevel === 'error') problems.push(message.text);
    message.handled = true;
  };
  Extractor.invoke(config, { localBuild: true, messageCallback });
  if (problems.length > 0) throw new Error(`declarations of ${entry}: ${problems.join('; ')}`);
}

/** The declarations of an entry and of all that it names, in one file. */
export function rollUp(folder, entry, target) {
  extract(folder, entry, { dtsRollup: { enabled: true, untrimmedFilePath: target } });
}

/** What each entry of a built package offers, by the name of its report: `agent-testing`. */
export function reportsOf(folder) {
  const { name, exports } = manifestIn(folder);
  const work = mkdtempSync(join(tmpdir(), 'api-'));
  mkdirSync(join(work, 'temp'));
  try {
    return Object.entries(exports)
      .filter(([, target]) => target.types !== undefined)
      .map(([path, { types }]) => {
        const report = `${name.replace(/^@[^/]+\//, '')}${path.slice(1)}`
          .replaceAll('/', '-')
          .replace(/\.js$/, '');
        const apiReport = {
          ...{ enabled: true, reportFileName: `${report}.api.md`, includeForgottenExports: true },
          ...{ reportFolder: work, reportTempFolder: join(work, 'temp') },
        };
        extract(folder, join(folder, types), { apiReport });
        const text = readFileSync(join(work, `${report}.api.md`), 'utf8').replaceAll('\r\n', '\n');
        return { report, package: name, text };
      });
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}
