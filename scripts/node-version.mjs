// Ends the command where Node is too old for the service. Imported before everything else, and in words that old versions understand.
import { readFileSync } from 'fs';

const wanted = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')).engines.node;
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
