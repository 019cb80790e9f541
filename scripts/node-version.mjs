// Ends the command where Node is too old for the service. Imported before everything else, and in words that old versions understand.
// The built supervisor holds it too, two folders below package.json.
import { existsSync, readFileSync } from 'fs';

const manifests = ['../package.json', '../../package.json'].map((path) => new URL(path, import.meta.url));
const manifest = manifests.find((url) => existsSync(url));
// A copy of the built files alone says nothing about Node.
const wanted = manifest === undefined ? '0' : JSON.parse(readFileSync(manifest, 'utf8')).engines.node;
const numbers = (text) => text.replace(/^\D+/, '').split('.').map(Number);
const least = numbers(wanted);
const here = numbers(process.versions.node);

if (here[0] < least[0] || (here[0] === least[0] && here[1] < least[1])) {
  process.stderr.write(
    'This needs Node.js ' +
      least.join('.') +
      ' or later, and this is ' +
      process.versions.node +
      '. Install a newer one (https://nodejs.org) and try again.\n',
  );
  process.exit(1);
}
