// `npm run deb -- FOLDER`: makes a Debian package of the deployed tree with the systemd unit, a tarball of the same tree, the list of its
// parts and where it comes from. The same
// commit makes the same bytes: every time in them is the commit's. Needs `dpkg-deb`.
import { execFileSync } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ensureInstalled } from '../install.mjs';
import { answerHelp } from '../process/help.mjs';
import { provenance } from './provenance.mjs';

answerHelp(`usage: npm run deb -- FOLDER
  Makes a Debian package and a tarball of the deployed tree, the list of its parts and where it comes from, in FOLDER. Needs dpkg-deb.`);
const [folder, ...more] = process.argv.slice(2);
if (folder === undefined || more.length > 0) {
  process.stderr.write('npm run deb -- FOLDER: give one folder for the package and the tarball.\n');
  process.exit(1);
}
await ensureInstalled({ dev: false });

const root = fileURLToPath(new URL('../..', import.meta.url));
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const architecture = process.arch === 'x64' ? 'amd64' : process.arch;
const name = 'voice-agent-service';
const home = `usr/lib/${name}`;
const conffiles = ['etc/voice-agent/agent.toml', 'etc/voice-agent/environment'];

const run = (command, ...args) =>
  execFileSync(command, args, { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] });

/** Seconds of the last commit, or what a build service says. */
const epoch = process.env.SOURCE_DATE_EPOCH ?? run('git', 'log', '-1', '--format=%ct').toString().trim();

/** The unit looks where packages put programs. */
const unitText = () =>
  readFileSync(join(root, 'deploy/systemd/voice-agent.service'), 'utf8')
    .replace(
      /^# Runs the service[\s\S]*?(?=\[Unit\])/,
      '# Runs the service on one machine; a reverse proxy beside it terminates TLS.\n',
    )
    .replaceAll(`/opt/${name}/`, `/${home}/`);

function writeFileIn(stage, path, text, mode = 0o644) {
  mkdirSync(join(stage, path, '..'), { recursive: true });
  writeFileSync(join(stage, path), text, { mode });
}

/** Everything where the package puts it. */
function stageFiles(tree, stage) {
  const deb = (file) => readFileSync(join(root, 'deploy/debian', file), 'utf8');
  cpSync(tree, join(stage, home), { recursive: true });
  // Where Debian's users look for it. The licences of what is built in go with the copyright.
  const doc = `usr/share/doc/${name}`;
  mkdirSync(join(stage, doc), { recursive: true });
  renameSync(join(stage, home, 'docs'), join(stage, doc, 'docs'));
  renameSync(join(stage, home, 'examples'), join(stage, doc, 'examples'));
  renameSync(join(stage, home, 'LICENSE'), join(stage, doc, 'copyright'));
  renameSync(join(stage, home, 'sbom.cdx.json'), join(stage, doc, 'sbom.cdx.json'));
  writeFileIn(stage, `usr/lib/systemd/system/voice-agent.service`, unitText());
  mkdirSync(join(stage, 'usr/bin'), { recursive: true });
  symlinkSync(`../lib/${name}/scripts/svc-supervisor.mjs`, join(stage, 'usr/bin/svc-supervisor'));
  writeFileIn(stage, conffiles[0], deb('agent.toml'));
  writeFileIn(stage, conffiles[1], deb('environment'), 0o600);
  run('find', stage, '-type', 'd', '-exec', 'chmod', '755', '{}', '+');
  run('find', join(stage, home), '-type', 'f', '-exec', 'chmod', '644', '{}', '+');
  run('chmod', '755', join(stage, home, 'scripts/svc-supervisor.mjs'));
  const kib = run('du', '-sk', stage).toString().split('\t')[0];
  const control = deb('control')
    .replace('@VERSION@', version)
    .replace('@ARCHITECTURE@', architecture)
    .replace('@KIB@', kib);
  writeFileIn(stage, 'DEBIAN/control', control);
  writeFileIn(stage, 'DEBIAN/conffiles', conffiles.map((path) => `/${path}\n`).join(''));
  for (const script of ['postinst', 'prerm', 'postrm'])
    writeFileIn(stage, `DEBIAN/${script}`, deb(script), 0o755);
}

function archive(tree, target) {
  const file = join(target, `${name}-${version}-linux-${process.arch}.tar.gz`);
  const folder = `${name}-${version}`;
  const fixed = ['--sort=name', `--mtime=@${epoch}`, '--owner=0', '--group=0', '--numeric-owner'];
  run('tar', ...fixed, '--transform', `s,^\\.,${folder},`, '-C', tree, '-I', 'gzip -n9', '-cf', file, '.');
  return file;
}

const target = resolve(folder);
mkdirSync(target, { recursive: true });
const work = mkdtempSync(join(tmpdir(), 'svc-deb-'));
try {
  const tree = join(work, 'tree');
  const stage = join(work, 'stage');
  run(process.execPath, join(root, 'scripts/deploy-tree.mjs'), tree);
  cpSync(join(root, 'deploy/systemd/voice-agent.service'), join(tree, 'voice-agent.service'));
  const tarball = archive(tree, target);
  rmSync(join(tree, 'voice-agent.service'));
  mkdirSync(stage);
  stageFiles(tree, stage);
  const deb = join(target, `${name}_${version}_${architecture}.deb`);
  const env = { ...process.env, SOURCE_DATE_EPOCH: epoch };
  execFileSync('dpkg-deb', ['--root-owner-group', '-Zxz', '--build', stage, deb], {
    env,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const list = join(target, 'sbom.cdx.json');
  cpSync(join(tree, 'sbom.cdx.json'), list);
  const commit = run('git', 'rev-parse', 'HEAD').toString().trim();
  const statement = provenance(root, { commit, epoch, files: [deb, tarball, list] });
  writeFileSync(join(target, 'provenance.json'), `${JSON.stringify(statement, undefined, 2)}\n`);
  for (const file of [deb, tarball]) console.log(`${(statSync(file).size / 1e6).toFixed(1)} MB  ${file}`);
} finally {
  rmSync(work, { recursive: true, force: true });
}
